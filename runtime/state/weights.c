/* Start weights: each rank computes or reads exactly the elements of its shards. Element e of a
 * whole parameter has an initial value that depends only on (seed, key of the parameter, e), so the
 * weights depend neither on the mesh nor on units or layout. Element e of group g belongs to the
 * ranks whose number over the group's axes is e / shard; ir/graph/shards.h says which element of a
 * parameter that is, also where ranks have parts of it. Padding stays zero, as the arena was; so
 * does padding of parts (TensorCut), since its gradient is always zero, and no optimizer moves a
 * zero that has such a gradient, with weight decay or without. In: the plan and --load or a
 * checkpoint. Out: the shards in the arena, filled.
 */
#include <stdlib.h>
#include <string.h>

#include "op.h"
#include "random.h"
#include "saving.h"

enum { PIECE = 1 << 16, MAX_WORKERS = 64 }; /* PIECE: elements at a time */

/* normal(mean, std): Philox block e / 4 gives four words, two pairs (u, v); Box-Muller turns each
 * into mean + std * sqrt(-2 ln u) * cos(2 pi v) and the same with sin, in double, rounded once
 * (normal.c). */
void initial_values(const Plan *p, const PlanParam *q, int64_t first, int64_t n, void *to) {
    const char *name = plan_string(p, q->key);
    uint64_t hash = hash_bytes(name, strlen(name), p->settings->seed);
    uint32_t key[2] = {(uint32_t)hash, (uint32_t)(hash >> 32)};
    uint32_t width = dtype_bytes(q->type.dtype);
    float value[4096];
    for (int64_t done = 0; done < n; done += (int64_t)ARRAY_LEN(value)) {
        int64_t count = MIN(n - done, (int64_t)ARRAY_LEN(value));
        if (q->init == INIT_NORMAL)
            normal_values(key, first + done, count, q->init_mean, q->init_std, value);
        for (int64_t i = 0; q->init != INIT_NORMAL && i < count; i++)
            value[i] = q->init == INIT_ONES ? 1.0f : 0.0f;
        store_floats((char *)to + (uint64_t)done * width, q->type.dtype, value, count);
    }
}

/* One of the threads that share the pieces: it takes every `workers`th. */
typedef struct FillWorker {
    Rank *rank;
    int32_t index, workers, code;
    int64_t piece;
    void *host;            /* where the arena cannot be written directly */
    pthread_mutex_t *copy; /* then held while a piece goes into it, or the rank's error */
    pthread_t thread;
} FillWorker;

typedef struct WeightPiece { /* of a tensor of the --load files */
    const TensorMatch *match;
    int64_t first, n;
    int dtype;
    void *to;
} WeightPiece;

static void read_piece(void *user) {
    const WeightPiece *p = user;
    tensor_elements(p->match, p->first, p->n, p->dtype, p->to);
}

static int fill_piece(FillWorker *w, uint32_t param, int64_t first, int64_t n, char *to) {
    Rank *r = w->rank;
    const Run *run = r->run;
    const PlanParam *q = &run->plan->params[param];
    char *place = w->host ? w->host : to;
    TensorPart part = plan_part(run->plan, q, r->rank);
    for (int64_t done = 0, count; done < n; done += count) {
        count = MIN(tensor_run(&part, first + done), n - done);
        WeightPiece piece = {.match = &run->inputs.match[param],
                             .first = tensor_element(&part, first + done),
                             .n = count,
                             .dtype = q->type.dtype,
                             .to = place + done * dtype_bytes(q->type.dtype)};
        if (tensor_pads(&part, first + done))
            memset(piece.to, 0, (uint64_t)count * dtype_bytes(q->type.dtype));
        else if (!run->inputs.weights)
            initial_values(run->plan, q, piece.first, count, piece.to);
        else if (!mapped_read(read_piece, &piece))
            return EXIT_CORRUPT; /* weights_start says why */
    }
    if (!w->host) return 0;
    pthread_mutex_lock(w->copy);
    int code = rank_copy_in(r, to, w->host, (uint64_t)(n * dtype_bytes(q->type.dtype)));
    pthread_mutex_unlock(w->copy);
    return code;
}

/* Fills, at `to`, this worker's share of the piece of a parameter that a shard holds. */
static int fill_held(FillWorker *w, uint32_t param, const LayoutPiece *held, char *to) {
    Rank *r = w->rank;
    uint32_t width = dtype_bytes(r->run->plan->params[param].type.dtype);
    for (int64_t done = 0; done < held->count; done += PIECE) {
        int64_t n = MIN(held->count - done, (int64_t)PIECE);
        if (w->piece++ % w->workers != w->index) continue;
        rank_beat(r);
        int code = fill_piece(w, param, held->first + done, n, to + (uint64_t)done * width);
        if (code) return code;
    }
    return 0;
}

/* This worker's part of a parameter; k: its row of the group parameters. */
static int fill_param(FillWorker *w, const PlanGroup *g, uint64_t k, char *shard) {
    const Run *run = w->rank->run;
    uint32_t param = run->plan->group_params[k].param;
    uint32_t width = dtype_bytes((int)g->master_dtype);
    Layout layout = plan_layout(g);
    LayoutPlace place = plan_place(run->plan, k);
    int64_t number = rank_number(&w->rank->info, g);
    int64_t all = layout_held(&layout, &place, number).n;
    const TensorMatch *m = run->inputs.weights ? &run->inputs.match[param] : NULL;
    TensorPart part = plan_part(run->plan, &run->plan->params[param], w->rank->rank);
    Type type = plan_whole_type(run->plan, &run->plan->params[param]);
    int64_t whole = type_elements(&type);
    LayoutPiece held;
    int code = 0;
    for (int64_t j = 0; !code && (held = layout_piece(&layout, &place, number, j)).count; j++) {
        bool alone = held.count == all; /* else more of it comes later, up to its end */
        if (m && w->index == 0 && j == 0) {
            int64_t from = tensor_element(&part, held.first);
            int64_t last = alone ? held.first + all - 1 : place.n - 1;
            int64_t end = MIN(tensor_element(&part, last) + 1, whole);
            if (from < end) tensor_expect(m, from, end - from);
        }
        code = fill_held(w, param, &held, shard + (uint64_t)held.at * width);
    }
    if (m && !code && all && tensor_scattered(m)) tensor_release(m);
    return code;
}

static int fill_group(FillWorker *w, uint32_t group, char *shard) {
    const PlanGroup *g = &w->rank->run->plan->groups[group];
    int code = 0;
    for (uint32_t i = 0; i < g->n_param && !code; i++)
        code = fill_param(w, g, (uint64_t)g->first_param + i, shard);
    return code;
}

static void *fill_worker_part(void *context) {
    FillWorker *w = context;
    const Plan *p = w->rank->run->plan;
    for (uint64_t g = 0; g < p->n_groups && !w->code; g++) {
        const PlanState *s = plan_find_state(p, STATE_PARAM, (int32_t)g);
        if (s && rank_has_state(w->rank, s))
            w->code = fill_group(w, (uint32_t)g, rank_at(w->rank, s->address));
    }
    return NULL;
}

/* ---- tied parameters that the files have several times */

typedef struct Comparison {
    const TensorMatch *match;
    int64_t first, n;
    const Tensor *unlike;
} Comparison;

static void compare_piece(void *user) {
    Comparison *c = user;
    c->unlike = tensor_unlike(c->match, c->first, c->n);
}

/* Elements [first, end) of the rank's part. */
static int compare_param(const Run *run, int32_t rank, const PlanParam *q, const TensorMatch *m,
                         int64_t first, int64_t end, char *error) {
    TensorPart part = plan_part(run->plan, q, rank);
    for (int64_t at = first, n; at < end; at += n) {
        n = MIN(MIN(end - at, tensor_run(&part, at)), (int64_t)PIECE);
        if (tensor_pads(&part, at)) continue;
        Comparison c = {.match = m, .first = tensor_element(&part, at), .n = n};
        if (!mapped_read(compare_piece, &c)) return mapped_lost(&m->tensor->file->map, error);
        if (!c.unlike) continue;
        return fail_with(
            error, EXIT_CORRUPT,
            "%.150s: tensors %.100s and %.100s differ, but they are one tied parameter "
            "(%.100s)",
            run->inputs.weights->path, m->tensor->name, c.unlike->name,
            plan_string(run->plan, q->name));
    }
    return 0;
}

static int compare_rank(const Run *run, int32_t rank, char *error) {
    const Plan *p = run->plan;
    RankInfo info = {.plan = p, .mesh = plan_mesh(p), .rank = rank};
    int code = 0;
    for (uint64_t i = 0; i < p->n_groups && !code; i++) {
        const PlanGroup *g = &p->groups[i];
        Layout layout = plan_layout(g);
        int64_t number = rank_number(&info, g);
        for (uint32_t k = 0; k < g->n_param && !code; k++) {
            const PlanGroupParam *q = &p->group_params[g->first_param + k];
            const PlanParam *param = &p->params[q->param];
            const TensorMatch *m = &run->inputs.match[q->param];
            LayoutPlace place = plan_place(p, (uint64_t)g->first_param + k);
            LayoutPiece held;
            for (int64_t j = 0;
                 m->n_same && !code && (held = layout_piece(&layout, &place, number, j)).count; j++)
                code =
                    compare_param(run, rank, param, m, held.first, held.first + held.count, error);
        }
    }
    return code;
}

int weights_compare(const Run *run, char *error) {
    if (run->launch.module) return compare_rank(run, run->launch.rank, error);
    int code = 0;
    for (int32_t i = 0; i < run->launch.ranks && !code; i++) code = compare_rank(run, i, error);
    return code;
}

/* ---- the shards */

/* Several threads may have seen it; and what was cut off the last page was read as zeros. */
static int report_lost_file(const TensorSet *s, int code, char *error) {
    for (uint32_t i = 0; s && i < s->n_file; i++)
        if (mapped_shorter(&s->file[i].map)) return mapped_lost(&s->file[i].map, error);
    return code == EXIT_CORRUPT ? mapped_lost(&s->file[0].map, error) : 0;
}

static int fill_shards(Rank *r) {
    FillWorker worker[MAX_WORKERS] = {0};
    int32_t n = MIN(r->info.threads, MAX_WORKERS);
    uint64_t bytes = PIECE * sizeof(double);
    char *host = r->run->device->arena_is_host ? NULL : malloc((uint64_t)n * bytes);
    if (!r->run->device->arena_is_host && !host)
        return fail_with(r->error, EXIT_ENVIRONMENT, "no memory for pieces of the weights");
    pthread_mutex_t copy = PTHREAD_MUTEX_INITIALIZER;
    bool started[MAX_WORKERS] = {false};
    for (int32_t i = n - 1; i >= 0; i--) {
        worker[i].rank = r;
        worker[i].index = i;
        worker[i].workers = n;
        worker[i].host = host ? host + (uint64_t)i * bytes : NULL;
        worker[i].copy = &copy;
        started[i] =
            i > 0 && !pthread_create(&worker[i].thread, NULL, fill_worker_part, &worker[i]);
        if (!started[i]) fill_worker_part(&worker[i]);
    }
    int code = 0;
    for (int32_t i = 0; i < n; i++) {
        if (started[i]) pthread_join(worker[i].thread, NULL);
        if (worker[i].code) code = worker[i].code;
    }
    free(host);
    int lost = report_lost_file(r->run->inputs.weights, code, r->error);
    if (lost) return lost;
    return code ? code : rank_synchronize(r, r->error);
}

/* ---- what is kept of them in the compute dtype */

static int make_copy(Rank *r, const PlanState *copy) {
    static const Attrs none;
    const PlanState *master = plan_find_state(r->run->plan, STATE_PARAM, copy->group);
    const void *from = rank_at(r, master->address);
    void *to = rank_at(r, copy->address);
    const Type *from_type = &master->type, *to_type = &copy->type;
    KernelCall cast = {.rank = &r->info,
                       .op = OP_cast,
                       .attr = &none,
                       .n_in = 1,
                       .n_out = 1,
                       .in = &from,
                       .out = &to,
                       .in_type = &from_type,
                       .out_type = &to_type,
                       .workspace = r->workspace};
    return r->run->device->launch(r->context, STREAM_COMPUTE, &cast, r->error);
}

/* The copies of shards that gathers read are made here before the first step, and by each update
 * after that: no checkpoint has them. */
static int make_copies(Rank *r) {
    const Plan *p = r->run->plan;
    int code = 0;
    for (uint64_t i = 0; i < p->n_states && !code; i++)
        if (p->states[i].role == STATE_COPY && rank_has_state(r, &p->states[i]))
            code = make_copy(r, &p->states[i]);
    return code ? code : rank_synchronize(r, r->error);
}

int weights_start(Rank *r) {
    int code = r->run->resume ? resume_fill(r) : fill_shards(r);
    return code ? code : make_copies(r);
}
