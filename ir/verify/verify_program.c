/* What whole programs must do: graph-7, model-*, train-*, shard-8, -9, sched-4, -5. Whether values
 * that share memory may do so, whether something reads what a reshard has ended, and whether peaks
 * and addresses are right, is not looked at: plan_check proves it.
 *
 * Each check is one walk over a program and an array over the table that it counts in. Each op has
 * been checked by itself before: operands exist, rows are rows, types fit.
 */
#include <stdlib.h>

#include "residency.h"
#include "verify.h"

static bool trainable(const Verify *v, uint32_t param) { return !v->g->params.at[param].frozen; }

/* Level train, and the rest of it at level shard until pass shard has run. */
static bool by_parameter(const Verify *v) {
    return v->g->level == LEVEL_TRAIN || (v->g->level == LEVEL_SHARD && !v->grouped);
}

/* ---- which programs there are ---- */

static bool has(const Verify *v, ProgramKind kind) {
    return graph_find_program(v->g, kind) != NO_INDEX;
}

void verify_program_set(Verify *v) {
    bool whole = has(v, PROGRAM_TRAIN), first = has(v, PROGRAM_FIRST);
    bool micro = has(v, PROGRAM_MICRO), last = has(v, PROGRAM_LAST);
    if (v->g->level < LEVEL_SHARD) {
        if (first || micro || last)
            verify_broken(v, RULE_MODEL_1, NULL, "a program of micro-batches at level %s",
                          level_name(v->g->level));
    } else if (graph_has_stages(v->g)) {
        bool update = has(v, PROGRAM_UPDATE);
        if (v->g->level > LEVEL_SHARD && (!first || !update || last || whole))
            verify_broken(v, RULE_SHARD_8, NULL, "a pipeline's programs are first, micro, update");
    } else if (first != last || (micro && !first) || (whole && first)) {
        verify_broken(v, RULE_SHARD_8, NULL, "there %s train%s%s%s", whole ? "is" : "is no",
                      first ? ", first" : "", micro ? ", micro" : "", last ? ", last" : "");
    }
}

/* ---- graph-7, model-* ---- */

/* What a walk over a program has met. */
typedef struct SeenOps {
    uint32_t *sets;         /* by state */
    uint32_t *reads;        /* by parameter: ops param */
    uint32_t *grads;        /* by parameter: set_grad ops */
    VEC(const Op *) random; /* of the forward phase */
    uint8_t phase;
} SeenOps;

static void check_state_set(Verify *v, SeenOps *seen, const Op *op) {
    const State *s = &v->g->states.at[op->attr->index];
    const Type *t = &verify_value(v, op->in[0])->type;
    if (seen->sets[op->attr->index]++)
        verify_broken(v, RULE_GRAPH_7, op, "sets state \"%s\" again", s->name);
    if (!type_equal(t, &s->type))
        verify_broken(v, RULE_GRAPH_7, op,
                      "state \"%s\" has type %s, but is set to a value of type %s", s->name,
                      type_text(v->arena, &s->type), type_text(v->arena, t));
}

static int compare_ops_by_salt(const void *a, const void *b) {
    const Op *const *x = a, *const *y = b;
    if ((*x)->attr->salt != (*y)->attr->salt) return (*x)->attr->salt < (*y)->attr->salt ? -1 : 1;
    return *x < *y ? -1 : *x > *y;
}

static void check_random(Verify *v, SeenOps *seen, const Op *op) {
    if (v->program->kind == PROGRAM_EVAL)
        verify_broken(v, RULE_MODEL_5, op, "draws random numbers in an evaluation");
    if (op->phase == PHASE_FORWARD) vec_push(v->arena, &seen->random, op);
}

/* Backward repeats a forward op's salt; two of the forward phase would draw the same numbers. */
static void check_salts(Verify *v, const SeenOps *seen) {
    const Op **random = seen->random.at;
    uint32_t n = seen->random.n;
    if (n > 1) qsort(random, n, sizeof *random, compare_ops_by_salt);
    for (uint32_t i = 1; i < n; i++)
        if (random[i]->attr->salt == random[i - 1]->attr->salt)
            verify_broken(v, RULE_MODEL_4, random[i], "has salt %lld, like #%u",
                          (long long)random[i]->attr->salt,
                          v->op_number[random[i - 1] - v->g->ops.at]);
}

static void check_param_read(Verify *v, SeenOps *seen, const Op *op) {
    if (seen->reads[op->attr->index]++)
        verify_broken(v, RULE_MODEL_3, op, "reads parameter \"%s\" again",
                      v->g->params.at[op->attr->index].name.path);
}

/* ---- train-* ---- */

static void check_gradient(Verify *v, const Op *op) {
    const Param *p = &v->g->params.at[op->attr->index];
    Type t = verify_value(v, op->in[0])->type, wanted = p->type;
    if (dtype_is_float(t.dtype)) wanted.dtype = t.dtype;
    if (!type_equal(&t, &wanted))
        verify_broken(v, RULE_TRAIN_2, op, "the gradient of \"%s\" is %s, not %s", p->name.path,
                      type_text(v->arena, &t), type_text(v->arena, &p->type));
}

/* grads are counts by parameter. Before grad has run there are none. */
static void check_grads(Verify *v, const uint32_t *grads) {
    bool any = false;
    for (uint32_t i = 0; i < v->g->params.n; i++) any = any || grads[i];
    for (uint32_t i = 0; any && i < v->g->params.n; i++)
        if (grads[i] != trainable(v, i))
            verify_broken(v, RULE_TRAIN_1, NULL, "the %s parameter \"%s\" has %u set_grad",
                          trainable(v, i) ? "trainable" : "frozen", v->g->params.at[i].name.path,
                          grads[i]);
}

static void check_step(Verify *v, SeenOps *seen, const Op *op) {
    if (op->phase < seen->phase)
        verify_broken(v, RULE_TRAIN_4, op, "has phase %s but follows phase %s",
                      phase_name(op->phase), phase_name(seen->phase));
    seen->phase = op->phase;
    if (op->kind == OP_set_grad) {
        seen->grads[op->attr->index]++;
        check_gradient(v, op);
    }
}

static bool sets_metric(const Verify *v, const Op *op, ValueId value) {
    return op->kind == OP_set_state && op->in[0] == value &&
           v->g->states.at[op->attr->index].role == STATE_METRIC;
}

/* Until comm sums losses over calls and ranks, the update's loss is one that the program keeps. */
static void check_loss_is_kept(Verify *v, uint32_t k) {
    const Op *op = verify_op(v, k);
    uint32_t set = 0;
    while (set < k && !sets_metric(v, verify_op(v, set), op->in[0])) set++;
    if (set == k) verify_broken(v, RULE_TRAIN_7, op, "no metric keeps its loss before it");
}

void verify_training(Verify *v) {
    const Graph *g = v->g;
    bool step = by_parameter(v) && v->program->kind == PROGRAM_TRAIN;
    SeenOps seen = {.sets = arena_array(v->arena, uint32_t, g->states.n),
                    .reads = arena_array(v->arena, uint32_t, g->params.n),
                    .grads = arena_array(v->arena, uint32_t, g->params.n),
                    .phase = PHASE_FORWARD};
    for (uint32_t k = 0; k < v->program->ops.n; k++) {
        const Op *op = verify_op(v, k);
        if (op->kind == OP_set_state) check_state_set(v, &seen, op);
        if (op->kind == OP_param) check_param_read(v, &seen, op);
        if (g->level == LEVEL_MODEL && (op->phase != PHASE_FORWARD || op->unit != NO_INDEX))
            verify_broken(v, RULE_MODEL_2, op, "has phase %s and unit %d", phase_name(op->phase),
                          op->unit);
        if (op_info[op->kind].attrs & A_salt) check_random(v, &seen, op);
        if (step) check_step(v, &seen, op);
        if (op->kind == OP_step_scale && g->level <= LEVEL_SHARD) check_loss_is_kept(v, k);
        if (v->program->kind == PROGRAM_EVAL && op_info[op->kind].role != ROLE_FORWARD)
            verify_broken(v, RULE_TRAIN_5, op, "is not allowed in an evaluation");
    }
    check_salts(v, &seen);
    if (!step) return;
    check_grads(v, seen.grads);
}

/* ---- sched-4, -5 ---- */

static void check_stream(Verify *v, const Op *op, StreamKind stream) {
    if (v->g->level == LEVEL_SCHED && op->stream != stream)
        verify_broken(v, RULE_SCHED_5, op, "is on stream %s", stream_name(op->stream));
}

static void check_edges(Verify *v, const Op *op) {
    uint32_t own = v->op_number[op - v->g->ops.at];
    for (uint32_t i = 0; i < op->n_edge; i++) {
        uint32_t number = op->edge[i] < v->g->ops.n ? v->op_number[op->edge[i]] : NO_OP;
        if (number == NO_OP || number >= own || number < v->first_number)
            verify_broken(v, RULE_SCHED_4, op, "edge %u does not name an earlier op of the program",
                          i);
        else if (v->g->ops.at[op->edge[i]].stream == op->stream)
            verify_broken(v, RULE_SCHED_4, op, "waits for #%u of its own stream", number);
        else if (i && number <= v->op_number[op->edge[i - 1]])
            verify_broken(v, RULE_SCHED_4, op, "waits for #%u after #%u", number,
                          v->op_number[op->edge[i - 1]]);
    }
}

/* The stream of a copy or message is that of its direction. */
static void check_direction(Verify *v, const Op *op) {
    static const struct {
        OpKind op;
        StreamKind stream;
    } rows[] = {{OP_unshard, STREAM_GATHER},
                {OP_fetch, STREAM_FETCH},
                {OP_evict, STREAM_EVICT},
                {OP_send, STREAM_SEND},
                {OP_receive, STREAM_RECEIVE}};
    if (op_info[op->kind].effect == EFFECT_COMM && op->kind != OP_unshard)
        check_stream(v, op, STREAM_REDUCE);
    for (size_t k = 0; k < ARRAY_LEN(rows); k++)
        if (op->kind == rows[k].op) check_stream(v, op, rows[k].stream);
}

/* Who reads and leaves what in host memory: fetch reads it, evict leaves it there. */
static void check_host(Verify *v, const Op *op) {
    for (uint32_t k = 0; k < op->n_in; k++) {
        bool away = value_is_away(v->g, op->in[k]);
        bool wanted = op->kind == OP_fetch;
        if (op->kind == OP_set_state)
            wanted = state_place(&v->g->policy, &v->g->states.at[op->attr->index]) != PLACE_DEVICE;
        if (away != wanted)
            verify_broken(v, RULE_SHARD_9, op, "reads %%%u, which is in memory of the %s",
                          v->value_number[op->in[k]], away ? "host" : "device");
    }
}

void verify_streams(Verify *v) {
    for (uint32_t k = 0; k < v->program->ops.n && v->g->level >= LEVEL_SCHED; k++) {
        check_direction(v, verify_op(v, k));
        check_edges(v, verify_op(v, k));
    }
}

void verify_host(Verify *v) {
    for (uint32_t k = 0; k < v->program->ops.n && v->g->level >= LEVEL_COMM; k++)
        check_host(v, verify_op(v, k));
}

/* ---- sched-9: gathers and fetches run no further ahead than the list says ----
 *
 * In: a program of level sched, its edges ascending (sched-4). Where it has edges at all, pass
 * `edges` has been here, and a gather or fetch must happen after all the work of stream compute
 * that is issued before it. Happens-before is order on a stream and edges: every op has a clock,
 * how many ops of each stream have finished whenever it starts. Data and tokens are not looked at:
 * what they require must be edges, and plan_check proves that. */

typedef uint32_t Clock[STREAM_KINDS];

typedef struct StreamOrder {
    Verify *v;
    Clock *clock; /* by op of the program */
    uint32_t *on; /* by op of the program: its number on its stream, from 1 */
} StreamOrder;

static bool has_edges(const Verify *v) {
    for (uint32_t k = 0; k < v->program->ops.n; k++)
        if (verify_op(v, k)->n_edge) return true;
    return false;
}

/* Fills the clock of op k, whose stream has finished what `before` says. */
static void set_clock(StreamOrder *o, uint32_t k, const Clock before) {
    const Op *op = verify_op(o->v, k);
    uint32_t *clock = o->clock[k];
    for (int s = 0; s < STREAM_KINDS; s++) clock[s] = before[s];
    for (uint32_t i = 0; i < op->n_edge; i++) {
        uint32_t other = o->v->op_number[op->edge[i]] - o->v->first_number;
        for (int s = 0; s < STREAM_KINDS; s++) clock[s] = MAX(clock[s], o->clock[other][s]);
        uint8_t stream = verify_op(o->v, other)->stream;
        clock[stream] = MAX(clock[stream], o->on[other]);
    }
}

void verify_order(Verify *v) {
    if (v->g->level != LEVEL_SCHED || !has_edges(v)) return;
    uint32_t n = v->program->ops.n, count[STREAM_KINDS] = {0}, worked = 0, last = 0;
    StreamOrder o = {v, arena_alloc(v->arena, n * sizeof *o.clock),
                     arena_array(v->arena, uint32_t, n)};
    Clock before[STREAM_KINDS] = {{0}};
    for (uint32_t k = 0; k < n; k++) {
        const Op *op = verify_op(v, k);
        set_clock(&o, k, before[op->stream]);
        if (stream_runs_ahead(op->stream) && o.clock[k][STREAM_COMPUTE] < worked)
            verify_broken(v, RULE_SCHED_9, op, "need not wait for #%u %s", v->first_number + last,
                          op_info[verify_op(v, last)->kind].name);
        for (int s = 0; s < STREAM_KINDS; s++) before[op->stream][s] = o.clock[k][s];
        before[op->stream][op->stream] = o.on[k] = ++count[op->stream];
        if (op->stream != STREAM_COMPUTE || op_only_names(op)) continue;
        worked = o.on[k];
        last = k;
    }
}
