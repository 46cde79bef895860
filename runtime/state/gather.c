/* Writes full parameters, gathered from shards, to .safetensors files.
 *
 * A tensor of a file is one parameter, or consists of parts of several (stored.h). Rank 0 has the
 * file. Group by group, the shards are gathered in buckets: each rank gives the same elements of
 * its shard, and the bucket lies in the arena's transient part, which is free between calls. Rank 0
 * puts the bucket where the files have it. No rank ever holds more than a bucket of other ranks'
 * elements. All ranks walk the same groups, so they agree on the collectives without talking about
 * them; they only agree on whether the file could be made, and closed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

enum { BUCKET_BYTES = 4 << 20 };

/* Elements [first, end) of a parameter, and the tensor that they are in. */
typedef struct GatherTarget {
    uint32_t tensor;
    const StoredPart *part; /* NULL: the tensor is the parameter */
    int64_t first, end;
    struct GatherTarget *next; /* of the same parameter */
} GatherTarget;

typedef struct WeightGather {
    Rank *rank;
    const ShardSource *source;
    const SaveForm *form;
    TensorWriter writer; /* rank 0 */
    TensorPlan *tensor;  /* [n] of the file */
    GatherTarget **to;   /* [params] where their elements go */
    uint32_t *group;     /* [params] */
    uint32_t n;
    bool trainable_only;
    char *bucket; /* device memory */
    uint64_t bucket_bytes;
    void *host;           /* rank 0, where the arena is not host memory */
    char *other;          /* rank 0: a bucket's elements in another type */
    GatherTarget *mapped; /* rank 0: the target whose tensor is at `at` */
    void *at;
    Arena *arena;
} WeightGather;

static int source_dtype(const WeightGather *g, const PlanGroup *q) {
    return g->source->dtype == DT_NONE ? (int)q->master_dtype : g->source->dtype;
}

/* In which groups parameters are. */
static void find_groups(WeightGather *g) {
    const Plan *p = g->rank->run->plan;
    g->group = arena_array(g->arena, uint32_t, p->n_params + 1);
    for (uint64_t k = 0; k < p->n_params; k++) g->group[k] = UINT32_MAX;
    for (uint64_t i = 0; i < p->n_groups; i++)
        for (uint32_t k = 0; k < p->groups[i].n_param; k++)
            g->group[p->group_params[p->groups[i].first_param + k].param] = (uint32_t)i;
}

/* Is the parameter one of those that are written? */
static bool is_written(const WeightGather *g, uint32_t param) {
    if (g->group[param] == UINT32_MAX) return false;
    const PlanGroup *group = &g->rank->run->plan->groups[g->group[param]];
    return !g->trainable_only || group->flags & GROUP_TRAINABLE;
}

static FileType type_in_file(const WeightGather *g, uint32_t param) {
    if (g->form->type != FT_COUNT) return g->form->type;
    return file_type_of(source_dtype(g, &g->rank->run->plan->groups[g->group[param]]));
}

/* Elements of the parameter that the tensor which is planned next holds. */
static void add_target(WeightGather *g, uint32_t param, const StoredPart *part, int64_t first,
                       int64_t n) {
    GatherTarget *t = arena_new_of(g->arena, GatherTarget);
    *t = (GatherTarget){g->n, part, first, first + n, g->to[param]};
    g->to[param] = t;
}

static void add_param(WeightGather *g, uint32_t k) {
    const Plan *p = g->rank->run->plan;
    const PlanParam *q = &p->params[k];
    add_target(g, k, NULL, 0, type_elements(&q->type));
    TensorPlan *t = &g->tensor[g->n++];
    t->name = plan_saved_name(p, q);
    t->type = type_in_file(g, k);
    t->rank = q->type.rank;
    for (int i = 0; i < t->rank; i++)
        t->dim[i] = q->type.dim[q->flags & PARAM_TRANSPOSED ? t->rank - 1 - i : i];
}

/* A tensor that has parts of parameters, if one of them is wanted; numbers of the others are zero.
 */
static void add_stored(WeightGather *g, const PlanStored *s) {
    const Plan *p = g->rank->run->plan;
    TensorPlan t = {.name = plan_string(p, s->name), .type = FT_COUNT, .rank = s->rank};
    memcpy(t.dim, s->dim, sizeof s->dim);
    for (uint32_t k = 0; k < s->n_part; k++) {
        const StoredPart *part = &p->parts[s->first_part + k];
        if (!is_written(g, part->param)) continue;
        add_target(g, part->param, part, part->first, part->n);
        FileType type = type_in_file(g, part->param);
        if (t.type == FT_COUNT || file_type_bytes(type) > file_type_bytes(t.type)) t.type = type;
    }
    if (t.type != FT_COUNT) g->tensor[g->n++] = t;
}

/* In the order of the parameters, or of the first ones that are in them. */
static void plan_tensors(WeightGather *g) {
    const Plan *p = g->rank->run->plan;
    uint64_t most = p->n_params + p->n_stored;
    g->tensor = arena_array(g->arena, TensorPlan, most + 1);
    g->to = arena_array(g->arena, GatherTarget *, p->n_params + 1);
    find_groups(g);
    for (uint32_t k = 0, next = 0; k < p->n_params; k++) {
        if (!(p->params[k].flags & PARAM_IN_PARTS)) {
            if (is_written(g, k)) add_param(g, k);
            continue;
        }
        for (; next < p->n_stored && p->stored[next].table == 0; next++) {
            if (p->parts[p->stored[next].first_part].param > k) break;
            add_stored(g, &p->stored[next]);
        }
    }
}

/* Elements as the file has them: of another type where it asks for one. */
static const char *convert_elements(WeightGather *g, const TensorPlan *t, int dtype, int64_t n,
                                    const char *from) {
    FileType type = file_type_of(dtype);
    if (t->type == type) return from;
    enum { CHUNK = 4096 };
    float value[CHUNK];
    for (int64_t done = 0; done < n; done += CHUNK) {
        int64_t count = MIN(n - done, (int64_t)CHUNK);
        load_floats(from + done * file_type_bytes(type), type, count, value);
        store_elements(g->other + done * file_type_bytes(t->type), t->type, value, count);
    }
    return g->other;
}

/* part: of the parameter in the tensor; NULL: the tensor is the parameter. */
static void put_elements(const PlanParam *q, const StoredPart *part, const TensorPlan *t,
                         int64_t first, int64_t n, const char *from, char *to) {
    uint32_t width = file_type_bytes(t->type);
    if (part)
        part_store(part, width, first - part->first, n, from, to);
    else if (q->flags & PARAM_TRANSPOSED && t->rank > 1)
        store_transposed(t->dim, t->rank, width, first, n, from, to);
    else
        memcpy(to + (uint64_t)first * width, from, (uint64_t)n * width);
}

static int map_tensor(WeightGather *g, GatherTarget *w) {
    if (g->mapped && g->mapped->tensor == w->tensor) return 0;
    writer_unmap(&g->writer);
    g->mapped = w;
    return writer_map(&g->writer, w->tensor, &g->at, g->rank->error);
}

/* Rank 0: n elements that follow each other in the group from `at` on, in runs of the parameter. */
static int put_runs(WeightGather *g, GatherTarget *w, uint64_t row, int64_t at, int64_t n,
                    const char *from) {
    const Plan *p = g->rank->run->plan;
    uint32_t param = p->group_params[row].param;
    const PlanGroup *q = &p->groups[g->group[param]];
    const TensorPlan *t = &g->tensor[w->tensor];
    LayoutPlace place = plan_place(p, row);
    Layout layout = plan_layout(q);
    int code = map_tensor(g, w);
    from = convert_elements(g, t, source_dtype(g, q), n, from);
    for (int64_t done = 0, run; done < n && !code; done += run) {
        int64_t e = layout_element_of(&layout, &place, at + done);
        run = MIN(layout_run(&layout, &place, e), n - done);
        put_elements(&p->params[param], w->part, t, e, run,
                     from + (uint64_t)done * file_type_bytes(t->type), g->at);
    }
    return code;
}

/* Rank 0: what a bucket has of a parameter: elements [at, at + n) of every shard. */
static int put_param(WeightGather *g, uint64_t row, int64_t at, int64_t n, const char *bucket) {
    const Plan *p = g->rank->run->plan;
    uint32_t param = p->group_params[row].param;
    const PlanGroup *q = &p->groups[g->group[param]];
    LayoutPlace place = plan_place(p, row);
    Layout layout = plan_layout(q);
    uint64_t width = dtype_bytes(source_dtype(g, q));
    int code = 0;
    for (GatherTarget *w = g->to[param]; w; w = w->next)
        for (int64_t k = 0; k < layout_shards(&layout) && !code; k++) {
            int64_t start = layout_held(&layout, &place, k).at;
            int64_t first = MAX(start + layout_held_before(&layout, &place, k, w->first), at);
            int64_t end = MIN(start + layout_held_before(&layout, &place, k, w->end), at + n);
            if (first < end)
                code = put_runs(g, w, row, k * layout.shard + first, end - first,
                                bucket + (uint64_t)(k * n + first - at) * width);
        }
    return code;
}

/* Elements [at, at + n) of every rank's shard into the bucket, or where they lie in the arena. */
static int fill_bucket(WeightGather *g, uint32_t group, int64_t at, int64_t n, const char **out) {
    Rank *r = g->rank;
    const PlanGroup *q = &r->run->plan->groups[group];
    Layout layout = plan_layout(q);
    int dtype = source_dtype(g, q), code = 0;
    uint64_t width = dtype_bytes(dtype), bytes = (uint64_t)n * width;
    const char *from =
        (const char *)g->source->shard(g->source->user, group) + (uint64_t)at * width;
    *out = from;
    if (layout_shards(&layout) == 1) return 0;
    *out = g->bucket;
    if (g->source->host || rank_in_host(r, from)) {
        char *own = g->bucket + (uint64_t)layout_number(&layout, &r->info.mesh, r->rank) * bytes;
        code = rank_copy_in(r, own, from, bytes);
        if (!code) code = rank_synchronize(r, r->error);
        from = own;
    }
    return code ? code : rank_gather(r, q->split, from, g->bucket, n, dtype);
}

/* Where rank 0 can read the bytes, or NULL with a code. */
static const char *read_on_host(WeightGather *g, const char *at, uint64_t bytes, int *code) {
    bool host = g->source->host && at != g->bucket;
    if (host || g->rank->run->device->arena_is_host || rank_in_host(g->rank, at)) return at;
    *code = rank_copy_out(g->rank, g->host, at, bytes);
    return *code ? NULL : g->host;
}

static int gather_bucket(WeightGather *g, uint32_t group, int64_t at, int64_t n) {
    const PlanGroup *q = &g->rank->run->plan->groups[group];
    Layout layout = plan_layout(q);
    const char *from;
    int code = fill_bucket(g, group, at, n, &from);
    if (code || g->rank->rank) return code;
    uint64_t elements = (uint64_t)(n * layout_shards(&layout));
    from = read_on_host(g, from, elements * dtype_bytes(source_dtype(g, q)), &code);
    rank_writes(g->rank, true); /* into a mapped file: the disk may be slow */
    for (uint32_t k = 0; k < q->n_param && !code; k++)
        code = put_param(g, (uint64_t)q->first_param + k, at, n, from);
    rank_writes(g->rank, false);
    return code;
}

static int gather_group(WeightGather *g, uint32_t group) {
    const PlanGroup *q = &g->rank->run->plan->groups[group];
    Layout layout = plan_layout(q);
    uint64_t width = dtype_bytes(source_dtype(g, q)) * (uint64_t)layout_shards(&layout);
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
    failed = rank_agree(r, 0, &worst);
    if (!failed) snprintf(r->error, ERROR_BYTES, "rank 0 could not write a file");
    return EXIT_RANK;
}

static int gather_groups(WeightGather *g) {
    const Plan *p = g->rank->run->plan;
    int code = 0;
    for (uint32_t i = 0; i < p->n_groups && !code; i++)
        if (is_written(g, p->group_params[p->groups[i].first_param].param))
            code = gather_group(g, i);
    return code;
}

uint64_t gather_bytes(const Plan *p, bool trainable_only, FileType type) {
    enum { ENTRY_BYTES = 128 }; /* of the header, besides the name */
    uint64_t bytes = 0;
    for (uint64_t i = 0; i < p->n_groups; i++) {
        const PlanGroup *g = &p->groups[i];
        if (trainable_only && !(g->flags & GROUP_TRAINABLE)) continue;
        for (uint32_t k = 0; k < g->n_param; k++) {
            const PlanParam *q = &p->params[p->group_params[g->first_param + k].param];
            uint32_t width =
                type == FT_COUNT ? dtype_bytes((int)g->master_dtype) : file_type_bytes(type);
            bytes += (uint64_t)type_elements(&q->type) * width + ENTRY_BYTES +
                     strlen(plan_saved_name(p, q));
        }
    }
    return bytes;
}

int gather_to_file(Rank *r, const ShardSource *source, const SaveForm *form, bool trainable_only) {
    const PlanSettings *s = r->run->plan->settings;
    WeightGather g = {.rank = r,
                      .source = source,
                      .form = form,
                      .trainable_only = trainable_only,
                      .arena = arena_new()};
    plan_tensors(&g);
    g.bucket = r->arena + s->persistent_bytes;
    g.bucket_bytes = MIN(s->arena_bytes - s->persistent_bytes, (uint64_t)BUCKET_BYTES);
    if (r->rank == 0) g.host = arena_alloc(g.arena, g.bucket_bytes);
    /* of elements of two bytes, four bytes */
    if (r->rank == 0 && (form->type != FT_COUNT || r->run->plan->n_stored))
        g.other = arena_alloc(g.arena, 2 * g.bucket_bytes);
    rank_writes(r, true);
    int code = r->rank == 0 ? writer_open(&g.writer, form, g.tensor, g.n, r->error) : 0;
    rank_writes(r, false);
    code = agree_on_code(r, code);
    if (!code) code = gather_groups(&g);
    if (!code) {
        rank_writes(r, true);
        if (r->rank == 0) code = writer_commit(&g.writer, r->error);
        rank_writes(r, false);
        code = agree_on_code(r, code);
    }
    if (r->rank == 0 && code) writer_abandon(&g.writer);
    arena_free(g.arena);
    rank_used_transient(r);
    return code;
}

static const void *master_shard(void *user, uint32_t group) {
    const Rank *r = user;
    const PlanState *s = plan_find_state(r->run->plan, STATE_PARAM, (int32_t)group);
    return s ? rank_at(r, s->address) : NULL;
}

int save_weights(Rank *r) {
    ShardSource source = {.shard = master_shard, .user = r};
    SaveForm form = r->run->options->save;
    form.config = plan_string(r->run->plan, r->run->plan->settings->hf_config);
    return gather_to_file(r, &source, &form, false);
}
