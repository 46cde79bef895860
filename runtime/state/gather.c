/* Writes full parameters, gathered from shards, to .safetensors files (checkpoint/weights.c).
 *
 * Rank 0 writes the files. Group by group, the shards are gathered in buckets, over the axes that
 * split the group, those that cut its parameters, and stages: each rank gives the same elements of
 * its shard, and the bucket lies in the arena's transient part, which is free between calls. Rank 0
 * puts the bucket where the files have it. No rank ever holds more than a bucket of other ranks'
 * elements. All ranks walk the same groups, so they issue the same collectives without asking each
 * other; they only agree on whether the file could be created and closed.
 */
#include <stdio.h>
#include <string.h>

#include "checkpoint.h"
#include "state.h"

enum { BUCKET_BYTES = 4 << 20 };

typedef struct WeightGather {
    Rank *rank;
    float *const *gradients; /* [groups] that are written; NULL: the weights are */
    CkWeights out;           /* rank 0 writes it */
    uint32_t *weight;        /* [groups] the first tensor of the group's weights */
    char *bucket;            /* device memory */
    uint64_t bucket_bytes;
    void *host; /* rank 0, where the arena is not host memory */
    Arena *arena;
    int32_t *holder; /* [ranks] of the group: by place in a bucket, a rank that holds it */
    int64_t places;
} WeightGather;

static int source_dtype(const WeightGather *g, const PlanGroup *q) {
    return g->gradients ? DT_F32 : (int)q->master_dtype;
}

static bool is_written(const Plan *p, const PlanGroup *g, bool trainable_only) {
    return (!trainable_only || g->flags & GROUP_TRAINABLE) && plan_shared_group(p, g) == g;
}

/* The tensors of the files. weight: [groups], as in WeightGather, or NULL. */
static int plan_weights(const Plan *p, bool trainable_only, const SaveForm *form, CkWeights *out,
                        uint32_t *weight, Arena *a, char *error) {
    CkContents c = {0};
    const PlanState **state = arena_array(a, const PlanState *, p->n_states + 1);
    ck_plan_states(&c, p, a, state);
    bool *left_out = arena_array(a, bool, c.n_tensor + 1);
    for (uint32_t v = 0; v < c.n_vector; v++) {
        const CkVector *q = &c.vector[v];
        int32_t group = state[v]->group;
        if (q->role == STATE_PARAM && weight) weight[group] = q->first;
        memset(left_out + q->first, !is_written(p, &p->groups[group], trainable_only), q->n);
    }
    const char *twice;
    int code = ck_weights_plan(out, &c, left_out, form, a, &twice, error);
    if (code || !twice) return code;
    return fail_with(
        error, EXIT_USER,
        "two parameters would be saved as %.200s\nhelp: change the `names` table of %.200s", twice,
        plan_string(p, p->settings->model));
}

static AxisSet axes_of(const WeightGather *g, const PlanGroup *q) {
    return plan_gather_axes(g->rank->run->plan, q);
}

static void find_holders(WeightGather *g, const PlanGroup *q) {
    const Mesh *mesh = &g->rank->info.mesh;
    AxisSet axes = axes_of(g, q);
    g->places = mesh_extent(mesh, axes);
    for (int32_t r = 0; r < mesh_ranks(mesh); r++) g->holder[mesh_index(mesh, r, axes)] = r;
}

/* In a pipeline, those of one stage do. */
static bool has_group(const WeightGather *g, const PlanGroup *q, int32_t rank) {
    const Plan *p = g->rank->run->plan;
    const PlanState *s = plan_find_state(p, STATE_PARAM, (int32_t)(q - p->groups));
    return plan_has_state(p, s, plan_role_of(p, rank));
}

/* Rank 0: what a bucket has of a parameter: elements [at, at + n) of every shard. */
static int put_param(WeightGather *g, const PlanGroup *q, uint32_t k, int64_t at, int64_t n,
                     const char *bucket) {
    const Plan *p = g->rank->run->plan;
    const Mesh *mesh = &g->rank->info.mesh;
    LayoutPlace place = plan_place(p, (uint64_t)q->first_param + k);
    uint32_t param = p->group_params[q->first_param + k].param;
    uint32_t tensor = g->weight[q - p->groups] + k;
    Layout layout = plan_layout(q);
    int dtype = source_dtype(g, q), code = 0;
    for (int64_t number = 0; number < g->places; number++) {
        if (!has_group(g, q, g->holder[number])) continue;
        int64_t shard = layout_number(&layout, mesh, g->holder[number]);
        TensorPart part = plan_part(p, &p->params[param], g->holder[number]);
        LayoutHeld held = layout_held(&layout, &place, shard);
        int64_t first = MAX(held.at, at), end = MIN(held.at + held.n, at + n);
        for (int64_t run; first < end && !code; first += run) {
            int64_t e = layout_element_of(&layout, &place, shard * layout.shard + first);
            run = MIN(layout_run(&layout, &place, e), tensor_run(&part, e));
            run = MIN(run, end - first);
            if (tensor_pads(&part, e)) continue;
            code = ck_weights_put(&g->out, tensor, file_type_of(dtype), tensor_element(&part, e),
                                  run, bucket + (number * n + first - at) * dtype_bytes(dtype),
                                  g->rank->error);
        }
    }
    return code;
}

/* Where the rank has its shard of a group: in its arena, gradients in host memory. */
static const char *shard_of(const WeightGather *g, uint32_t group) {
    if (g->gradients) return (const char *)g->gradients[group];
    const PlanState *s = plan_find_state(g->rank->run->plan, STATE_PARAM, (int32_t)group);
    return rank_at(g->rank, s->address);
}

/* Elements [at, at + n) of every rank's shard into the bucket, or where they lie in the arena. What
 * ranks of other stages contribute counts for nothing. */
static int fill_bucket(WeightGather *g, uint32_t group, int64_t at, int64_t n, const char **out) {
    Rank *r = g->rank;
    const PlanGroup *q = &r->run->plan->groups[group];
    AxisSet axes = axes_of(g, q);
    bool has = has_group(g, q, r->rank);
    int dtype = source_dtype(g, q), code = 0;
    uint64_t width = dtype_bytes(dtype), bytes = (uint64_t)n * width;
    char *own = g->bucket + (uint64_t)mesh_index(&r->info.mesh, r->rank, axes) * bytes;
    const char *from = has ? shard_of(g, group) + (uint64_t)at * width : own;
    *out = from;
    if (g->places == 1) return 0;
    *out = g->bucket;
    if (has && (g->gradients || rank_in_host(r, from))) {
        code = rank_copy_in(r, own, from, bytes);
        if (!code) code = rank_synchronize(r, r->error);
        from = own;
    }
    return code ? code : rank_gather(r, axes, from, g->bucket, n, dtype);
}

/* Where rank 0 can read the bytes, or NULL with a code. */
static const char *read_on_host(WeightGather *g, const char *at, uint64_t bytes, int *code) {
    bool host = g->gradients && at != g->bucket;
    if (host || g->rank->run->device->arena_is_host || rank_in_host(g->rank, at)) return at;
    *code = rank_copy_out(g->rank, g->host, at, bytes);
    return *code ? NULL : g->host;
}

static int gather_bucket(WeightGather *g, uint32_t group, int64_t at, int64_t n) {
    const PlanGroup *q = &g->rank->run->plan->groups[group];
    const char *from;
    int code = fill_bucket(g, group, at, n, &from);
    if (code || g->rank->rank) return code;
    uint64_t elements = (uint64_t)(n * g->places);
    from = read_on_host(g, from, elements * dtype_bytes(source_dtype(g, q)), &code);
    rank_writes(g->rank, true); /* into a mapped file: the disk may be slow */
    for (uint32_t k = 0; k < q->n_param && !code; k++) code = put_param(g, q, k, at, n, from);
    rank_writes(g->rank, false);
    return code;
}

static int gather_group(WeightGather *g, uint32_t group) {
    const PlanGroup *q = &g->rank->run->plan->groups[group];
    find_holders(g, q);
    uint64_t width = dtype_bytes(source_dtype(g, q)) * (uint64_t)g->places;
    int64_t step = (int64_t)(g->bucket_bytes / width);
    int code = 0;
    CHECK(step > 0);
    for (int64_t at = 0; at < q->shard && !code; at += step)
        code = gather_bucket(g, group, at, MIN(step, q->shard - at));
    return code;
}

/* Where rank 0 failed all end. Rank 0 says why: the others wait for it to end the run. */
static int agree_on_code(Rank *r, int code) {
    uint64_t worst = 0;
    int failed = rank_agree(r, (uint64_t)code, &worst);
    if (code) return code;
    if (failed || !worst) return failed;
    if (rank_agree(r, 0, &worst)) return EXIT_RANK;
    return fail_with(r->error, EXIT_RANK, "rank 0 could not write a file");
}

static int gather_groups(WeightGather *g) {
    const Plan *p = g->rank->run->plan;
    int code = 0;
    for (uint32_t i = 0; i < p->n_groups && !code; i++)
        if (is_written(p, &p->groups[i], g->gradients != NULL)) code = gather_group(g, i);
    return code;
}

int gather_size(const Plan *p, bool trainable_only, const SaveForm *form, uint64_t *bytes,
                uint64_t *largest, char *error) {
    Arena *a = arena_new();
    CkWeights out;
    int code = plan_weights(p, trainable_only, form, &out, NULL, a, error);
    if (!code) code = ck_weights_size(&out, bytes, largest, error);
    arena_free(a);
    return code;
}

int gather_to_file(Rank *r, float *const *gradients, const SaveForm *form) {
    const Plan *p = r->run->plan;
    WeightGather g = {.rank = r, .gradients = gradients, .arena = arena_new()};
    g.weight = arena_array(g.arena, uint32_t, p->n_groups + 1);
    g.holder = arena_array(g.arena, int32_t, mesh_ranks(&r->info.mesh));
    g.bucket = r->arena + rank_role(r)->persistent_bytes;
    g.bucket_bytes = MIN(run_transient_bytes(r->run), (uint64_t)BUCKET_BYTES);
    if (r->rank == 0) g.host = arena_alloc(g.arena, g.bucket_bytes);
    int code = plan_weights(p, gradients != NULL, form, &g.out, g.weight, g.arena, r->error);
    g.out.maps = true;
    rank_writes(r, true);
    if (!code && r->rank == 0) code = ck_weights_open(&g.out, r->error);
    rank_writes(r, false);
    bool opened = r->rank == 0 && !code;
    code = agree_on_code(r, code);
    if (!code) code = gather_groups(&g);
    if (opened && code) ck_weights_close(&g.out, code, r->error);
    if (!code) {
        rank_writes(r, true);
        if (opened) code = ck_weights_close(&g.out, 0, r->error);
        rank_writes(r, false);
        code = agree_on_code(r, code);
    }
    arena_free(g.arena);
    rank_used_transient(r);
    return code;
}

int save_weights(Rank *r) {
    SaveForm form = r->run->options->save;
    form.config = plan_string(r->run->plan, r->run->plan->settings->hf_config);
    if (r->run->inputs.weights) form.origin = r->run->inputs.weights->folder;
    return gather_to_file(r, NULL, &form);
}
