/* Writes full parameters, gathered from shards a piece at a time, to .safetensors files.
 *
 * A tensor of a file is one parameter, or consists of parts of several (stored.h). Rank 0 has the
 * file. The part of a parameter in a shard is one run of the shard, in which pieces of the
 * parameter may follow each other: the rank that owns it broadcasts it into a bounce buffer, a part
 * at a time, which is the arena's transient part (free between calls); rank 0 puts it where the
 * file has it. No rank ever holds more than a bounce buffer of other ranks' elements. All ranks
 * walk the same pieces, so they agree on the collectives without talking about them; they only
 * agree on whether the file could be made, and closed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

enum { BOUNCE_BYTES = 4 << 20 };

/* What a tensor of the file is made of. */
typedef struct FromParams {
    uint32_t param;           /* a whole one */
    const PlanStored *stored; /* or parts; NULL: the parameter */
} FromParams;

typedef struct WeightGather {
    Rank *rank;
    const ShardSource *source;
    const SaveForm *form;
    TensorWriter writer; /* rank 0 */
    TensorPlan *tensor;  /* [n] of the file */
    FromParams *from;    /* [n] what each is made of */
    uint32_t *group;     /* [params] */
    LayoutPlace *place;  /* [params] in the group */
    uint32_t n;
    bool trainable_only;
    char *bounce; /* device memory */
    uint64_t bounce_bytes;
    void *host;  /* rank 0, where the arena is not host memory */
    char *other; /* rank 0: a bounce buffer's elements in another type */
    Arena *arena;
} WeightGather;

static int source_dtype(const WeightGather *g, const PlanGroup *q) {
    return g->source->dtype == DT_NONE ? (int)q->master_dtype : g->source->dtype;
}

/* In which groups parameters are, and where. */
static void find_places(WeightGather *g) {
    const Plan *p = g->rank->run->plan;
    g->group = arena_array(g->arena, uint32_t, p->n_params + 1);
    g->place = arena_array(g->arena, LayoutPlace, p->n_params + 1);
    for (uint64_t k = 0; k < p->n_params; k++) g->group[k] = UINT32_MAX;
    for (uint64_t i = 0; i < p->n_groups; i++)
        for (uint32_t k = 0; k < p->groups[i].n_param; k++) {
            const PlanGroupParam *q = &p->group_params[p->groups[i].first_param + k];
            g->group[q->param] = (uint32_t)i;
            g->place[q->param] = plan_place(p, (uint64_t)p->groups[i].first_param + k);
        }
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

static void add_param(WeightGather *g, uint32_t k) {
    const Plan *p = g->rank->run->plan;
    const PlanParam *q = &p->params[k];
    TensorPlan *t = &g->tensor[g->n];
    g->from[g->n++] = (FromParams){.param = k};
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
        uint32_t param = p->parts[s->first_part + k].param;
        if (!is_written(g, param)) continue;
        FileType type = type_in_file(g, param);
        if (t.type == FT_COUNT || file_type_bytes(type) > file_type_bytes(t.type)) t.type = type;
    }
    if (t.type == FT_COUNT) return;
    g->tensor[g->n] = t;
    g->from[g->n++] = (FromParams){.stored = s};
}

/* In the order of the parameters, or of the first ones that are in them. */
static void plan_tensors(WeightGather *g) {
    const Plan *p = g->rank->run->plan;
    uint64_t most = p->n_params + p->n_stored;
    g->tensor = arena_array(g->arena, TensorPlan, most + 1);
    g->from = arena_array(g->arena, FromParams, most + 1);
    find_places(g);
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

/* Elements [at, at + n) of a group, all of one owner, into every rank's bounce buffer. */
static int broadcast_piece(WeightGather *g, uint32_t group, int32_t owner, int64_t at, int64_t n) {
    Rank *r = g->rank;
    const Plan *p = r->run->plan;
    const PlanGroup *q = &p->groups[group];
    int dtype = source_dtype(g, q);
    uint64_t bytes = (uint64_t)n * dtype_bytes(dtype);
    Layout layout = plan_layout(q);
    bool mine = layout_number(&layout, &r->info.mesh, r->rank) == owner;
    const char *from = g->bounce;
    if (mine) {
        from = (const char *)g->source->shard(g->source->user, group) +
               (uint64_t)layout_at(&layout, at) * dtype_bytes(dtype);
        if (g->source->host || rank_in_host(r, from)) {
            int code = rank_copy_in(r, g->bounce, from, bytes);
            if (!code) code = rank_synchronize(r, r->error);
            if (code) return code;
            from = g->bounce;
        }
    }
    r->control_buffer = (CommBuffer){.in = from, .out = g->bounce, .elements = n, .dtype = dtype};
    r->control = (Collective){.axes = q->split,
                              .purpose = COMM_CONTROL,
                              .sequence = r->control_sequence[q->split]++,
                              .root = owner,
                              .n = 1,
                              .buffer = &r->control_buffer,
                              .label = "a checkpoint"};
    int code = r->run->transport->broadcast(r->transport, &r->control, r->error);
    return code ? code : rank_synchronize(r, r->error);
}

/* Where rank 0 can read n elements, or NULL with a code. */
static const char *read_on_host(WeightGather *g, const void *device, uint64_t bytes, int *code) {
    if (g->rank->run->device->arena_is_host || rank_in_host(g->rank, device)) return device;
    *code = rank_copy_out(g->rank, g->host, device, bytes);
    return *code ? NULL : g->host;
}

/* What of a parameter is gathered, and where it goes. */
typedef struct GatherTarget {
    uint32_t param;
    const StoredPart *part; /* NULL: all of it */
    const TensorPlan *tensor;
    char *to;
    int64_t first, end; /* elements */
} GatherTarget;

/* Rank 0: n elements that follow each other in the group from `at` on, in runs of the parameter. */
static void put_runs(WeightGather *g, const GatherTarget *w, int64_t at, int64_t n,
                     const char *from) {
    const Plan *p = g->rank->run->plan;
    const LayoutPlace *place = &g->place[w->param];
    Layout layout = plan_layout(&p->groups[g->group[w->param]]);
    uint64_t width = file_type_bytes(w->tensor->type);
    for (int64_t done = 0, run; done < n; done += run) {
        int64_t e = layout_element_of(&layout, place, at + done);
        run = MIN(layout_run(&layout, place, e), n - done);
        put_elements(&p->params[w->param], w->part, w->tensor, e, run,
                     from + (uint64_t)done * width, w->to);
    }
}

/* A bounce buffer's elements from `at` of the group on, all of one shard. */
static int gather_piece(WeightGather *g, const GatherTarget *w, int64_t at, int64_t n) {
    Rank *r = g->rank;
    uint32_t group = g->group[w->param];
    const PlanGroup *f = &r->run->plan->groups[group];
    Layout layout = plan_layout(f);
    int dtype = source_dtype(g, f), code = 0;
    const char *from = g->bounce;
    if (!layout.split)
        from = (const char *)g->source->shard(g->source->user, group) +
               (uint64_t)at * dtype_bytes(dtype);
    else
        code = broadcast_piece(g, group, (int32_t)layout_shard_of(&layout, at), at, n);
    if (code || r->rank) return code;
    if (layout.split || !g->source->host)
        from = read_on_host(g, from, (uint64_t)n * dtype_bytes(dtype), &code);
    if (code) return code;
    rank_writes(r, true); /* into a mapped file: the disk may be slow */
    put_runs(g, w, at, n, convert_elements(g, w->tensor, dtype, n, from));
    rank_writes(r, false);
    return 0;
}

/* Shard by shard: what one holds of the parameter is a run of the shard. */
static int gather_param(WeightGather *g, const GatherTarget *w) {
    const PlanGroup *f = &g->rank->run->plan->groups[g->group[w->param]];
    const LayoutPlace *place = &g->place[w->param];
    Layout layout = plan_layout(f);
    int64_t step = (int64_t)(g->bounce_bytes / dtype_bytes(source_dtype(g, f)));
    LayoutShards shards = layout_shards_of(&layout, place, w->first, w->end);
    for (int64_t k = shards.from; k < shards.to; k++) {
        int64_t start = k * layout.shard + layout_held(&layout, place, k).at;
        int64_t at = start + layout_held_before(&layout, place, k, w->first);
        int64_t end = start + layout_held_before(&layout, place, k, w->end);
        for (int64_t n; at < end; at += n) {
            n = MIN(step, end - at);
            int code = gather_piece(g, w, at, n);
            if (code) return code;
        }
    }
    return 0;
}

static int gather_tensor(WeightGather *g, uint32_t tensor, char *to) {
    const FromParams *from = &g->from[tensor];
    const TensorPlan *t = &g->tensor[tensor];
    const Plan *p = g->rank->run->plan;
    GatherTarget w = {.param = from->param, .tensor = t, .to = to};
    if (!from->stored) {
        w.end = type_elements(&p->params[w.param].type);
        return gather_param(g, &w);
    }
    const StoredPart *part = &p->parts[from->stored->first_part];
    int code = 0;
    for (uint32_t k = 0; k < from->stored->n_part && !code; k++) {
        w.param = part[k].param;
        w.part = &part[k];
        w.first = part[k].first;
        w.end = w.first + part[k].n;
        if (is_written(g, w.param)) code = gather_param(g, &w);
    }
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

static int write_tensors(WeightGather *g) {
    for (uint32_t i = 0; i < g->n; i++) {
        void *to = NULL;
        int code = g->rank->rank == 0 ? writer_map(&g->writer, i, &to, g->rank->error) : 0;
        if (!code) code = gather_tensor(g, i, to);
        writer_unmap(&g->writer);
        if (code) return code;
    }
    return 0;
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
    g.bounce = r->arena + s->persistent_bytes;
    g.bounce_bytes = MIN(s->arena_bytes - s->persistent_bytes, (uint64_t)BOUNCE_BYTES) & ~7ull;
    CHECK(g.bounce_bytes > 0);
    if (r->rank == 0) g.host = arena_alloc(g.arena, g.bounce_bytes);
    /* of elements of two bytes, four bytes */
    if (r->rank == 0 && (form->type != FT_COUNT || r->run->plan->n_stored))
        g.other = arena_alloc(g.arena, 2 * g.bounce_bytes);
    rank_writes(r, true);
    int code = r->rank == 0 ? writer_open(&g.writer, form, g.tensor, g.n, r->error) : 0;
    rank_writes(r, false);
    code = agree_on_code(r, code);
    if (!code) code = write_tensors(&g);
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
