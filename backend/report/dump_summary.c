/* The summary that `fsdpc compile` prints for the plan that it wrote: its size, the memory at the
 * peak by category, and what a rank sends. */
#include "dump.h"

static void put_offloaded(const Plan *plan, Arena *a, Buf *out) {
    uint64_t bytes[CATEGORY_COUNT] = {0};
    const char *path = plan_string(plan, plan->settings->host_path), *between = ": ";
    if (!plan->settings->host_bytes) return;
    lives_in_host(plan, bytes);
    buf_printf(out, "kept in %s%s%s", *path ? "a file in " : "host memory", path,
               plan->settings->host_pageable ? ", not pinned" : "");
    for (int c = 0; c < CATEGORY_COUNT; c++) {
        if (!bytes[c]) continue;
        buf_printf(out, "%s%s %s", between, category_info[c].words, amount_bytes(a, bytes[c]));
        between = ", ";
    }
    buf_printf(out, "\n");
}

enum { MOST_PADDED = 3 };

/* Parameters whose parts end in padding, as `; 50257 of wte (1 row of padding)`. */
static void put_padded(const Plan *plan, const Mesh *mesh, Buf *out) {
    uint32_t n = 0;
    for (uint64_t i = 0; i < plan->n_params; i++) {
        const TensorCut *cut = &plan->params[i].cut;
        int64_t ranks = mesh_extent(mesh, cut->axes), rows;
        if (!cut->axes || cut->size % ranks == 0 || n++ >= MOST_PADDED) continue;
        rows = cut_each(cut->size, ranks) * ranks - cut->size;
        buf_printf(out, "%s %lld of %s (%lld row%s of padding)", n == 1 ? ";" : ",",
                   (long long)cut->size, plan_string(plan, plan->params[i].name), (long long)rows,
                   rows == 1 ? "" : "s");
    }
    if (n > MOST_PADDED) buf_printf(out, " and %u more", n - MOST_PADDED);
}

/* What ranks along axes that cut values share out: along cp positions, along tp parameters, some of
 * which each holds whole. */
static void put_cuts(const Plan *plan, Arena *a, Buf *out) {
    Mesh mesh = plan_mesh(plan);
    AxisSet cuts = mesh_cut_axes(&mesh);
    int64_t cut = 0, whole = 0;
    for (uint64_t i = 0; i < plan->n_params; i++) {
        const PlanParam *q = &plan->params[i];
        int64_t n = tensor_whole_elements(&q->cut, &mesh, type_elements(&q->type));
        *(q->cut.axes ? &cut : &whole) += n;
    }
    for (int axis = 0; axis < mesh.n; axis++) {
        const MeshAxis *own = &mesh.axis[axis], *next = own + 1;
        if (!(cuts >> axis & 1) || !axis_info(own->role)->is_written) continue;
        if (axis_cuts_positions(own->role)) {
            buf_printf(out, "%s = %lld: ranks share out the positions of each sample%s\n",
                       axis_name(own->role), (long long)own->size,
                       axis_is_backwards(own->role)
                           ? ", a piece from the front and one from the back"
                           : "");
            continue;
        }
        bool twin = axis + 1 < mesh.n && next->role == AXIS_twin;
        buf_printf(out, "%s = %lld: ranks share out %s parameters, each holds %s whole",
                   axis_name(own->role), (long long)(own->size * (twin ? next->size : 1)),
                   amount_commas(a, cut), amount_commas(a, whole));
        if (twin)
            buf_printf(out, "; %lld ranks at a time hold the same KV heads", (long long)next->size);
        put_padded(plan, &mesh, out);
        buf_printf(out, "\n");
    }
}

/* What a stage has of the model, and what its ranks need. */
static void put_stage(const Plan *p, uint32_t stage, Arena *a, Buf *out) {
    const PlanRole *role = &p->roles[plan_stage_role(p, stage)];
    Mesh mesh = plan_mesh(p);
    int64_t parameters = 0, unit = -1;
    uint32_t units = 0;
    for (uint64_t i = 0; i < p->n_states; i++) {
        const PlanState *s = &p->states[i];
        if (s->role != STATE_PARAM || s->stage != stage + 1) continue;
        const PlanGroup *g = &p->groups[s->group];
        units += g->unit != unit;
        unit = g->unit;
        for (uint64_t k = g->first_param; k < (uint64_t)g->first_param + g->n_param; k++) {
            const PlanParam *q = &p->params[p->group_params[k].param];
            parameters += tensor_whole_elements(&q->cut, &mesh, type_elements(&q->type));
        }
    }
    buf_printf(out, "  stage %u: %u unit%s, %s parameters; a rank peaks at %s, sends %s a step\n",
               stage, units, units == 1 ? "" : "s", amount_commas(a, parameters),
               amount_bytes(a, role->arena_bytes), amount_bytes(a, role->sent_bytes));
}

/* The share of a step in which a rank of a pipeline has nothing to do if all its stages take as
 * long, backward twice as long as forward: M v + pp - 1 turns, of which pp - 1 are idle. */
static void put_stages(const Plan *p, Arena *a, Buf *out) {
    if (!plan_has_stages(p)) return;
    uint32_t stages = plan_stages(p), roles = (uint32_t)p->n_roles;
    long long turns = p->settings->micro_batches * (stages / roles) + roles - 1;
    buf_printf(out,
               "pp = %u: %u stages; of equal length they are idle for %u of %lld turns, %.0f %%\n",
               roles, stages, roles - 1, turns, 100.0 * (roles - 1) / (double)turns);
    for (uint32_t s = 0; s < stages; s++) put_stage(p, s, a, out);
    const SentBytes *sent = sent_bytes(p, a);
    if (p->settings->micro_batches > 1 && sent->by_op[OP_unshard] > sent->gathered_once)
        buf_printf(out,
                   "gathers send %s per rank and step; %s if units stay gathered for the step "
                   "(hold = true, reshard = false)\n",
                   amount_bytes(a, sent->by_op[OP_unshard]), amount_bytes(a, sent->gathered_once));
}

void dump_summary(const Plan *plan, Arena *a, Buf *out) {
    const PlanSettings *s = plan->settings;
    Lives lives = lives_of(plan, a);
    LivesPart parts[LIVES_PARTS];
    lives_parts(&lives, parts);
    buf_printf(out, "%s: %s parameters, %u rank%s, %llu unit%s\n", plan_string(plan, s->model),
               amount_commas(a, s->parameters), s->ranks, s->ranks == 1 ? "" : "s",
               (Llu)plan->n_units, plan->n_units == 1 ? "" : "s");
    put_cuts(plan, a, out);
    put_stages(plan, a, out);
    buf_printf(out, "per rank: peak");
    for (int k = 0; k < DEVICE_KINDS; k++)
        buf_printf(out, "%s %s on %s (%s workspace)", k ? "," : "",
                   amount_bytes(a, s->workspace_bytes[k]), word_of(&words_DeviceKind, k),
                   amount_bytes(a, s->workspace_bytes[k] - s->arena_bytes));
    buf_printf(out, "; %s\n", sent_text(plan, a));
    for (int i = 0; i < LIVES_PARTS && parts[i].bytes; i++)
        buf_printf(out, "%s%s %s", i ? ", " : "at the peak: ", parts[i].words,
                   amount_bytes(a, parts[i].bytes));
    buf_printf(out, "\n");
    put_offloaded(plan, a, out);
    if (s->checkpoint) buf_printf(out, "checkpoints: %s\n", saves_text(plan, a));
}
