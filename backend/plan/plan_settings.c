/* The reader's second step, part one: the mesh and the settings. The tables are in place already;
 * this refuses numbers that are out of range or contradict each other (ranks, micro-batches and
 * samples; sizes of the arenas).
 */
#include "optimizers.h"
#include "plan_reader.h"

static void read_mesh(Reading *r) {
    const Plan *p = r->p;
    int64_t ranks = 1;
    FAIL_IF(p->n_axes > MESH_AXES, "the mesh has %llu axes", (Llu)p->n_axes);
    for (uint64_t i = 0; i < p->n_axes; i++) {
        const PlanAxis *a = &p->axes[i];
        FAIL_IF(bad_string(p, a->name) || a->role >= AXIS_ROLES,
                "mesh axis %llu has an unknown role", (Llu)i);
        FAIL_IF(a->size < 1 || a->size > (1 << 20), "mesh axis %s has size %lld",
                plan_string(p, a->name), (long long)a->size);
        ranks *= a->size;
        FAIL_IF(ranks > (1 << 20), "the mesh has too many ranks");
    }
    FAIL_IF(p->n_settings != 1, "there must be one row of settings, not %llu", (Llu)p->n_settings);
    FAIL_IF(ranks != (int64_t)p->settings->ranks, "the mesh has %lld ranks, the plan says %u",
            (long long)ranks, p->settings->ranks);
}

static void read_batch(Reading *r) {
    const Plan *p = r->p;
    Mesh mesh = plan_mesh(p);
    int64_t parts = mesh_extent(&mesh, mesh_sample_axes(&mesh)); /* of a batch, one per rank */
    const PlanSettings *s = p->settings;
    FAIL_IF(!s->ranks || s->ranks > 1 << 20, "settings: %u ranks", s->ranks);
    FAIL_IF(
        bad_count(s->batch, 1) || bad_count(s->micro_batches, 1) || bad_count(s->local_batch, 1),
        "settings: a step cannot have %lld samples in %lld micro-batches of %lld samples per rank",
        (long long)s->batch, (long long)s->micro_batches, (long long)s->local_batch);
    FAIL_IF(s->micro_batches > s->batch || s->batch % s->micro_batches ||
                s->batch / s->micro_batches % parts ||
                s->batch / s->micro_batches / parts != s->local_batch,
            "settings: %lld ranks times %lld micro-batches of %lld samples is not %lld",
            (long long)parts, (long long)s->micro_batches, (long long)s->local_batch,
            (long long)s->batch);
    FAIL_IF(bad_count(s->length, 0) || bad_count(s->steps, 0) || bad_count(s->epochs, 0) ||
                bad_count(s->eval_every, 0) || bad_count(s->eval_steps, 0),
            "settings: a count is out of range");
}

static void read_checkpoints(Reading *r) {
    const PlanSettings *s = r->p->settings;
    FAIL_IF(bad_count(s->checkpoint_every, 0) || bad_count(s->keep, 0) ||
                bad_count(s->keep_every, 0) || s->keep_best > 1 || s->snapshot >= SNAPSHOTS ||
                s->form >= CHECKPOINT_FORMS || s->copy_bytes > (uint64_t)PLAN_LARGEST,
            "settings: checkpoints every %lld steps, %lld and multiples of %lld kept",
            (long long)s->checkpoint_every, (long long)s->keep, (long long)s->keep_every);
}

static void read_training(Reading *r) {
    const PlanSettings *s = r->p->settings;
    FAIL_IF((s->steps == 0) == (s->epochs == 0), "settings: %lld steps and %lld epochs",
            (long long)s->steps, (long long)s->epochs);
    FAIL_IF(s->order > ORDER_SEQUENTIAL || s->on_nan > ON_NAN_CONTINUE ||
                s->optimizer >= OPTIMIZER_KINDS || s->schedule >= SCHEDULE_KINDS,
            "settings: an unknown order, optimizer, schedule or on_nan");
    FAIL_IF(bad_real(s->lr, 0, 1e30) || bad_real(s->beta1, 0, 1) || bad_real(s->beta2, 0, 1) ||
                bad_real(s->beta3, 0, 1) || bad_real(s->warmup, 0, 1e15) ||
                bad_real(s->decay, 0, 1e15) || bad_real(s->beta2_decay, -1e30, 0) ||
                bad_real(s->final, -1e30, 1e30),
            "settings: the optimizer's numbers are out of range");
    FAIL_IF(s->loss_exponent < -1000 || s->loss_exponent > 1000, "settings: loss exponent %lld",
            (long long)s->loss_exponent);
    FAIL_IF(bad_real(s->gain, 0, 1e30) || bad_real(s->loss_scale, 0, MOST_LOSS_SCALE) ||
                bad_real(s->loss_growth, 0, MOST_LOSS_SCALE) || bad_real(s->loss_backoff, 0, 1) ||
                bad_count(s->loss_interval, 0),
            "settings: gain %g, loss scale %g, %g, %g, %lld", s->gain, s->loss_scale,
            s->loss_growth, s->loss_backoff, (long long)s->loss_interval);
}

static void read_memory(Reading *r) {
    const Plan *p = r->p;
    const PlanSettings *s = p->settings;
    FAIL_IF(s->arena_bytes > (uint64_t)PLAN_LARGEST || s->persistent_bytes > s->arena_bytes ||
                s->workspace_offset != align_up(s->arena_bytes, PLAN_ALIGN),
            "settings: an arena of %llu bytes, %llu persistent, workspace at %llu",
            (Llu)s->arena_bytes, (Llu)s->persistent_bytes, (Llu)s->workspace_offset);
    FAIL_IF(s->host_bytes > (uint64_t)PLAN_LARGEST || s->host_persistent > s->host_bytes ||
                bad_string(p, s->host_path) || s->host_pageable > (s->host_bytes && !s->host_path),
            "settings: %llu bytes of host memory, %llu persistent", (Llu)s->host_bytes,
            (Llu)s->host_persistent);
    for (int d = 0; d < DEVICE_KINDS; d++)
        FAIL_IF(s->workspace_bytes[d] > (uint64_t)PLAN_LARGEST ||
                    s->workspace_bytes[d] < s->workspace_offset,
                "settings: %llu bytes with workspace", (Llu)s->workspace_bytes[d]);
}

void plan_read_settings(Reading *r) {
    const Plan *p = r->p;
    const PlanSettings *s = p->settings;
    read_mesh(r);
    FAIL_IF(bad_string(p, s->model) || bad_string(p, s->compiler) || bad_string(p, s->command) ||
                bad_string(p, s->hf_config) || bad_string(p, s->hf_facts) ||
                bad_string(p, s->checkpoint),
            "settings: a text is outside the strings (model, compiler, command, config.json, its "
            "facts, checkpoint)");
    read_batch(r);
    read_checkpoints(r);
    read_training(r);
    read_memory(r);
    FAIL_IF(!dtype_is_float((int)s->compute_dtype) || !dtype_is_float((int)s->reduce_dtype) ||
                bad_gather(s->gather_dtype),
            "settings: unsupported dtypes %u, %u, %u (to compute, sum and gather in)",
            s->compute_dtype, s->reduce_dtype, s->gather_dtype);
    FAIL_IF(s->pad, "settings: the padding is not zero");
}
