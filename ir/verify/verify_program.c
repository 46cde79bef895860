/* What whole programs must do: graph-7, model-*, train-*, shard-4, -6, -7, -8, sched-1, -4, -5.
 *
 * Each check is one walk over a program and an array over the table that it counts in. Each op has
 * been checked by itself before: operands exist, rows are rows, types fit.
 */
#include <stdlib.h>

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

static void see_random(Verify *v, SeenOps *seen, const Op *op) {
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
        if (op_info[op->kind].attrs & A_salt) see_random(v, &seen, op);
        if (step) check_step(v, &seen, op);
        if (op->kind == OP_step_scale && g->level <= LEVEL_SHARD) check_loss_is_kept(v, k);
        if (v->program->kind == PROGRAM_EVAL && op_info[op->kind].role != ROLE_FORWARD)
            verify_broken(v, RULE_TRAIN_5, op, "is not allowed in an evaluation");
    }
    check_salts(v, &seen);
    if (!step) return;
    check_grads(v, seen.grads);
}

/* ---- shard-4, -6, -7 ---- */

/* The group whose gathered parameters a value holds, or NO_INDEX when that is not plain. */
static int32_t flat_group(const Verify *v, ValueId id) {
    const Op *def = &v->g->ops.at[verify_value(v, id)->def];
    for (; def->kind == OP_cast || def->kind == OP_quantize || def->kind == OP_fetch;
         def = &v->g->ops.at[verify_value(v, id)->def])
        id = def->in[0];
    if (def->kind == OP_unshard)
        return v->g->units.at[def->attr->unit].groups.at[verify_value(v, id)->result];
    if (def->kind != OP_state) return NO_INDEX;
    const State *s = &v->g->states.at[def->attr->index];
    bool holds = s->role == STATE_PARAM || s->role == STATE_GATHERED || s->role == STATE_COPY;
    return holds ? s->group : NO_INDEX;
}

/* The group of whose gradients the value is what a state keeps, or NO_INDEX. */
static int32_t kept_group(const Verify *v, ValueId id) {
    const Op *def = &v->g->ops.at[verify_value(v, id)->def];
    if (def->kind != OP_state) return NO_INDEX;
    const State *s = &v->g->states.at[def->attr->index];
    return s->role == STATE_GRADIENT ? s->group : NO_INDEX;
}

static void check_view(Verify *v, const Op *op) {
    int32_t row = flat_group(v, op->in[0]);
    if (row == NO_INDEX) row = kept_group(v, op->in[0]);
    if (row == NO_INDEX) return;
    const Group *q = &v->g->groups.at[row];
    const Type *t = &verify_value(v, op->out)->type;
    int64_t at = op->attr->offset / dtype_bytes(t->dtype);
    uint32_t low = 0, high = q->params.n; /* the last parameter that starts at `at` or before */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (q->params.at[middle].offset <= at)
            low = middle;
        else
            high = middle;
    }
    bool fits = q->params.n && q->params.at[low].offset == at;
    LayoutPlace place = fits ? group_place(v->g, q, low) : (LayoutPlace){0};
    if (fits && (fits = layout_is_whole(&place))) {
        Type p = v->g->params.at[q->params.at[low].param].type;
        p.dtype = t->dtype;
        fits = type_equal(&p, t);
    }
    if (!fits)
        verify_broken(v, RULE_SHARD_4, op, "group %d has no parameter %s at element %lld", row,
                      type_text(v->arena, t), (long long)at);
}

static void check_copy_out(Verify *v, const Op *op) {
    int32_t row = flat_group(v, op->in[0]);
    if (row == NO_INDEX) return;
    const Group *q = &v->g->groups.at[row];
    uint32_t k = 0;
    while (k < q->params.n && q->params.at[k].param != (int32_t)op->attr->index) k++;
    bool quantized = op->kind == OP_dequantize;
    if (k == q->params.n || (!quantized && !q->params.at[k].chunk))
        verify_broken(v, RULE_SHARD_4, op, "group %d has no %s parameter %lld", row,
                      quantized ? "quantized" : "chunks of", (long long)op->attr->index);
}

/* A pack is one piece of memory in which gradients are where they belong. */
static void check_pack(Verify *v, const Op *op) {
    const Group *q = &v->g->groups.at[op->attr->group];
    bool whole = group_is_whole(v->g, q), chunks = q->params.n && q->params.at[0].chunk;
    if (op->kind == OP_pack ? !whole : !chunks)
        verify_broken(v, RULE_SHARD_4, op, "the parameters of group %lld are %s",
                      (long long)op->attr->group, whole ? "in one piece each" : "in chunks");
}

/* Where a gather's operand has a part of the group: the axes that it is split over. */
static AxisSet operand_axes(const Verify *v, const Op *op, uint32_t k, const Group *group) {
    const Op *def = &v->g->ops.at[verify_value(v, op->in[k])->def];
    return def->kind == OP_retain ? (AxisSet)def->attr->axes : group->layout.split;
}

/* A retained part of a parameter is of the group that its operand is; sched-1 follows gradients. */
static void check_retain(Verify *v, const Op *op) {
    if (verify_is_gradient(v, op->in[0])) return;
    AxisSet axes = (AxisSet)op->attr->axes, split = v->g->groups.at[op->attr->group].layout.split;
    if (flat_group(v, op->in[0]) != op->attr->group || !axes || axes & ~split)
        verify_broken(v, RULE_SHARD_7, op, "is not a part of group %lld over axes that split it",
                      (long long)op->attr->group);
}

/* A gather spans what its operands are split over; sched-1 follows reductions. */
static bool axes_fit(const Verify *v, const Op *op) {
    int64_t axes = op->attr->axes;
    if (op->kind != OP_unshard) return axes >= 0 && axes <= mesh_all_axes(&v->g->policy.mesh);
    const Unit *u = &v->g->units.at[op->attr->unit];
    for (uint32_t k = 0; k < u->groups.n && k < op->n_out; k++)
        if (axes != (int64_t)operand_axes(v, op, k, &v->g->groups.at[u->groups.at[k]]))
            return false;
    return true;
}

static void check_stream(Verify *v, const Op *op, StreamKind stream) {
    if (v->g->level == LEVEL_SCHED && op->stream != stream)
        verify_broken(v, RULE_SCHED_5, op, "is on stream %s", stream_name(op->stream));
}

static void check_collective(Verify *v, const Op *op) {
    bool gather = op->kind == OP_unshard;
    bool tag = gather ? op->attr->tag == TAG_PARAMETER
                      : op->attr->tag == TAG_GRADIENT ||
                            (op->kind == OP_all_reduce && op->attr->tag != TAG_PARAMETER);
    if (op->kind == OP_all_gather_part || op->kind == OP_reduce_scatter_part)
        tag = op->attr->tag == TAG_ACTIVATION;
    AxisSet all = mesh_all_axes(&v->g->policy.mesh);
    if (!axes_fit(v, op) || !tag || op->attr->comm != (gather ? COMM_GATHER : COMM_REDUCE) ||
        (op->attr->unit == NO_INDEX) !=
            (op->attr->tag == TAG_METRIC || op->attr->tag == TAG_ACTIVATION))
        verify_broken(v, RULE_SHARD_7, op,
                      "axes %#llx of %#x, communicator %lld, tag %lld, unit %lld",
                      (unsigned long long)op->attr->axes, all, (long long)op->attr->comm,
                      (long long)op->attr->tag, (long long)op->attr->unit);
    check_stream(v, op, gather ? STREAM_GATHER : STREAM_REDUCE);
}

typedef struct Counts {
    uint32_t packs, keeps, updates;
} Counts;

static void count_once(Verify *v, const Op *op, const char *what, uint32_t *count) {
    const Group *q = &v->g->groups.at[op->attr->group];
    if (++*count > 1)
        verify_broken(v, RULE_SHARD_6, op, "group %lld is %s again", (long long)op->attr->group,
                      what);
    if (!q->trainable)
        verify_broken(v, RULE_SHARD_6, op, "group %lld is %s, but frozen",
                      (long long)op->attr->group, what);
}

static void count_op(Verify *v, const Op *op, Counts *counts) {
    bool ends_step = v->program->kind == PROGRAM_TRAIN || v->program->kind == PROGRAM_LAST;
    if (op->kind == OP_pack || op->kind == OP_copy_in || op->kind == OP_gradient)
        count_once(v, op, "packed", &counts[op->attr->group].packs);
    if (op->kind == OP_set_state && v->g->states.at[op->attr->index].role == STATE_GRADIENT)
        counts[v->g->states.at[op->attr->index].group].keeps++;
    if (op_info[op->kind].role != ROLE_UPDATE) return;
    if (op->attr->group == NO_INDEX || !ends_step)
        verify_broken(v, RULE_SHARD_6, op, "updates %s",
                      ends_step ? "no group" : "in the middle of a step");
    else
        count_once(v, op, "updated", &counts[op->attr->group].updates);
}

/* ---- sched-1, sched-4 ---- */

/* At level shard: what the step is to reduce. A graph without backward has no gradients. */
static void check_group_gradients(Verify *v, const Counts *counts) {
    bool any = false;
    for (uint32_t i = 0; i < v->g->groups.n; i++) any |= counts[i].packs > 0;
    for (uint32_t i = 0; any && i < v->g->groups.n; i++)
        if (v->g->groups.at[i].trainable && !counts[i].packs)
            verify_broken(v, RULE_SHARD_6, NULL, "group %u has no gradient", i);
}

static void check_updates(Verify *v, const Counts *counts) {
    ProgramKind kind = v->program->kind;
    bool ends_step = kind == PROGRAM_TRAIN || kind == PROGRAM_LAST;
    if (kind == PROGRAM_EVAL) return;
    for (uint32_t i = 0; i < v->g->groups.n; i++) {
        if (!v->g->groups.at[i].trainable) continue;
        if (!ends_step && !counts[i].keeps)
            verify_broken(v, RULE_SCHED_1, NULL, "the gradient of group %u is lost", i);
        if (counts[i].updates != ends_step)
            verify_broken(v, RULE_SCHED_1, NULL, "group %u is updated %u times, not %d", i,
                          counts[i].updates, ends_step);
    }
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
    } rows[] = {{OP_fetch, STREAM_FETCH},
                {OP_evict, STREAM_EVICT},
                {OP_send, STREAM_SEND},
                {OP_receive, STREAM_RECEIVE}};
    for (size_t k = 0; k < ARRAY_LEN(rows); k++)
        if (op->kind == rows[k].op) check_stream(v, op, rows[k].stream);
}

void verify_sharding(Verify *v) {
    if (!v->grouped) return;
    if (v->g->level >= LEVEL_COMM) verify_residence(v);
    Counts *counts = arena_array(v->arena, Counts, v->g->groups.n);
    for (uint32_t k = 0; k < v->program->ops.n; k++) {
        const Op *op = verify_op(v, k);
        if (op->kind == OP_view) check_view(v, op);
        if (op->kind == OP_copy_out || op->kind == OP_dequantize) check_copy_out(v, op);
        if (op->kind == OP_pack || op->kind == OP_copy_in) check_pack(v, op);
        if (op->kind == OP_retain) check_retain(v, op);
        if (op_info[op->kind].effect == EFFECT_COMM) check_collective(v, op);
        check_direction(v, op);
        count_op(v, op, counts);
        if (v->g->level >= LEVEL_SCHED) check_edges(v, op);
    }
    if (v->g->level == LEVEL_SHARD) check_group_gradients(v, counts);
    if (v->g->level >= LEVEL_SCHED) check_updates(v, counts);
}
