/* divide: a program of a pipeline becomes one for each stage, and a value that crosses becomes a
 * message.
 *
 * In: a graph of level comm whose programs are about the whole model, in the order of computation,
 * each op with its stage. Out: of `first`, `micro` and `eval` a program for each stage's forward
 * and, except in `eval`, for its backward; the last stage has both in one. Of `update` one for each
 * role, with the updates of all its stages. Without an axis pp nothing changes.
 *
 * The pieces of a program are a chain: forward of the stages, then backward the other way. Where an
 * op reads what another piece makes, it gets there in one of these ways:
 *   - a state, a copy of weights, a view of a value that its stage has, a value that a state keeps
 *     between micro-batches, and values computed from the batch and constants alone are made again
 *     where they are read;
 *   - between forward and backward of a stage a value is a state, kept for each micro-batch;
 *   - from a stage to the next, or before, by `send` right after it is made, and `receive` at the
 *     beginning of the program that wants it; over several stages each passes it on;
 *   - a token orders ops of one program alone: otherwise it is left out.
 * So a value crosses each border once, however many read it.
 *
 * A sum over stages, of losses, metrics and the norm, is on all roles. One that has no part in a
 * sum adds zeros; a sum of which it has one part is that part.
 */
#include <string.h>

#include "passes.h"
#include "pipeline.h"

/* The program of a stage, or, of the update, of a role. */
typedef struct Piece {
    int32_t stage;
    StagePart part;
    OpList head, body, tail; /* receives and states; ops; what is kept */
    ValueId *here;           /* by old value: what it is in this piece, or NO_VALUE */
} Piece;

/* A message: sent after an op. */
typedef struct Sent {
    OpId after, send;
} Sent;

typedef struct Divide {
    Graph *g;
    uint32_t stages, n_values; /* n_values: of the graph as it was */
    Program old;
    const Op *old_op; /* the ops as they were */
    Piece *piece;     /* forward of each stage, then backward from the one before the last */
    uint32_t n;
    uint32_t *home; /* by old op: its piece */
    int32_t *held;  /* by old value: the state that keeps it between micro-batches, or NO_INDEX */
    /* by old value: made of the batch and of constants alone; weights, or a copy of them */
    bool *of_batch, *of_weights;
    ValueId *instead; /* by old value: on the role at hand, what stays where its state is */
    VEC(Sent) sent;
    Builder b;
    uint32_t *boxes, *kept; /* by piece: messages that it sends, values that it keeps so far */
} Divide;

static bool is_held(StateRole role) { return role == STATE_GATHERED || role == STATE_LARGEST; }

/* Of an old value. */
static const Op *maker(const Divide *d, ValueId v) { return &d->old_op[d->g->values.at[v].def]; }

/* ---- ops of pieces ---- */

/* A copy of an op on other operands, in a list of the piece; its results are those of the piece. */
static void copy_op(Divide *d, Piece *piece, OpList *list, int32_t stage, const Op *old,
                    const ValueId *in) {
    OpId id = graph_copy_op(d->g, old, in);
    d->g->ops.at[id].stage = (int16_t)stage;
    for (uint32_t j = 0; j < old->n_out; j++) piece->here[old->out + j] = d->g->ops.at[id].out + j;
    vec_push(d->g->scratch, list, id);
}

/* An op of the piece that is in no list yet. */
static OpId new_op(Divide *d, const Piece *piece, const Op *like, OpKind kind, const Attrs *a,
                   uint32_t n_in, const ValueId *in, const Type *given) {
    builder_like(&d->b, like);
    d->b.phase = piece->part == STAGE_BACKWARD ? PHASE_BACKWARD : PHASE_FORWARD;
    d->b.stage = (int16_t)piece->stage;
    return op_emit_apart(&d->b, kind, a, n_in, in, given);
}

/* The result of a new op as old value v is placed. */
static ValueId placed_as(const Divide *d, OpId id, ValueId v) {
    Graph *g = d->g;
    ValueId out = g->ops.at[id].out;
    g->values.at[out].placement = g->values.at[v].placement;
    return out;
}

/* The state in another piece, under the old value v that it stands for. */
static ValueId read_state(Divide *d, Piece *piece, const Op *like, const Attrs *a, ValueId v) {
    OpId id = new_op(d, piece, like, OP_state, a, 0, NULL, NULL);
    vec_push(d->g->scratch, &piece->head, id);
    return placed_as(d, id, v);
}

/* ---- what crosses ---- */

/* The state of that name, new or of the program before, which keeps the same there. */
static int32_t state_of(Divide *d, StateRole role, const char *name, Type t, int32_t stage) {
    int32_t row = graph_find_state(d->g, name);
    if (row == NO_INDEX) row = graph_add_state(d->g, role, name, t, NO_INDEX);
    State *s = &d->g->states.at[row];
    s->stage = stage;
    if (role == STATE_OUTBOX && s->type.dim[1] < t.dim[1]) s->type = t;
    CHECK(role == STATE_OUTBOX || type_equal(&s->type, &t));
    return row;
}

static ValueId keep_value(Divide *d, uint32_t from, uint32_t to, ValueId v, ValueId there) {
    Graph *g = d->g;
    Piece *a = &d->piece[from], *b = &d->piece[to];
    const char *name;
    int32_t row;
    do { /* a program before has kept another type there */
        name = arena_printf(g->arena, "kept.%d.%u", a->stage, d->kept[from]++);
        row = graph_find_state(g, name);
    } while (row != NO_INDEX && !type_equal(&g->states.at[row].type, &g->values.at[v].type));
    Attrs attr = {.index = state_of(d, STATE_KEPT, name, g->values.at[v].type, a->stage)};
    Op like = *maker(d, v);
    OpId set = new_op(d, a, &like, OP_set_state, &attr, 1, &there, NULL);
    vec_push(g->scratch, &a->tail, set);
    return read_state(d, b, &like, &attr, v);
}

static ValueId send_value(Divide *d, uint32_t from, uint32_t to, ValueId v, ValueId there) {
    Graph *g = d->g;
    Piece *a = &d->piece[from], *b = &d->piece[to];
    int64_t bytes = (int64_t)align_up((uint64_t)type_bytes(&g->values.at[v].type), 256);
    int64_t places = pipeline_outbox(&g->policy, a->stage, b->stage);
    Type box = type_of(DT_U8, 2, (int64_t[]){places, bytes}), t = g->values.at[v].type;
    const char *name =
        arena_printf(g->arena, "outbox.%d.%d.%u", a->stage, b->stage, d->boxes[from]++);
    Attrs attr = {.index = state_of(d, STATE_OUTBOX, name, box, a->stage), .stage = b->stage};
    Op like = *maker(d, v);
    OpId after = g->values.at[there].def;
    OpId send = new_op(d, a, &like, OP_send, &attr, 1, &there, NULL);
    vec_push(g->scratch, &d->sent, ((Sent){after, send}));
    attr.stage = a->stage;
    OpId receive = new_op(d, b, &like, OP_receive, &attr, 0, NULL, &t);
    vec_push(g->scratch, &b->head, receive);
    return placed_as(d, receive, v);
}

static ValueId value_here(Divide *d, uint32_t at, ValueId v);

/* The same op on operands of this piece. */
static ValueId make_again(Divide *d, uint32_t at, ValueId v) {
    Graph *g = d->g;
    Op op = *maker(d, v);
    ValueId *in = arena_array(g->scratch, ValueId, MAX(op.n_in, 1u));
    for (uint32_t k = 0; k < op.n_in; k++) in[k] = value_here(d, at, op.in[k]);
    Piece *piece = &d->piece[at];
    copy_op(d, piece, op.n_in ? &piece->body : &piece->head, piece->stage, &op, in);
    return piece->here[v];
}

/* The piece before it on the way from where the value is made. */
static uint32_t way_from(const Divide *d, uint32_t home, uint32_t at) {
    const Piece *to = &d->piece[at], *from = &d->piece[home];
    bool forward = to->part != STAGE_BACKWARD;
    if (!forward && from->part != STAGE_BACKWARD && from->stage <= to->stage)
        return (uint32_t)to->stage; /* forward of its own stage */
    CHECK(at > 0);
    return at - 1;
}

static ValueId held_here(Divide *d, uint32_t at, ValueId v) {
    Attrs attr = {.index = d->held[v]};
    Op like = *maker(d, v);
    return read_state(d, &d->piece[at], &like, &attr, v);
}

static ValueId value_here(Divide *d, uint32_t at, ValueId v) {
    Piece *to = &d->piece[at];
    if (to->here[v] != NO_VALUE) return to->here[v];
    const Op *def = maker(d, v);
    uint32_t home = d->home[d->g->values.at[v].def];
    bool same_stage = to->stage == d->piece[home].stage;
    bool view = op_info[def->kind].alias == ALIAS_VIEW;
    if (def->kind == OP_state || (view && same_stage) || d->of_weights[v] ||
        (d->of_batch[v] && (!same_stage || def->kind == OP_field || !def->n_in)))
        return make_again(d, at, v);
    if (d->held[v] != NO_INDEX) return to->here[v] = held_here(d, at, v);
    uint32_t from = way_from(d, home, at);
    ValueId there = value_here(d, from, v);
    bool kept = d->piece[from].stage == to->stage;
    return to->here[v] =
               kept ? keep_value(d, from, at, v, there) : send_value(d, from, at, v, there);
}

/* ---- first, micro, eval ---- */

static uint32_t piece_of(const Divide *d, const Op *op) {
    uint32_t stage = (uint32_t)MAX(op->stage, 0);
    return op->phase == PHASE_BACKWARD ? 2 * (d->stages - 1) - stage : stage;
}

/* What states keep between micro-batches. */
static void find_held(Divide *d) {
    const Graph *g = d->g;
    for (uint32_t i = 0; i < d->old.ops.n; i++) {
        const Op *op = &g->ops.at[d->old.ops.at[i]];
        if (op->kind == OP_set_state && is_held(g->states.at[op->attr->index].role))
            d->held[op->in[0]] = (int32_t)op->attr->index;
    }
}

static bool is_of_weights(const Divide *d, const Op *op) {
    StateRole role = op->kind == OP_state ? d->g->states.at[op->attr->index].role : STATE_ROLES;
    bool copies = op->kind == OP_fetch || op->kind == OP_cast || op->kind == OP_quantize ||
                  op_info[op->kind].alias == ALIAS_VIEW;
    for (uint32_t k = 0; k < op->n_in; k++)
        copies &= d->of_weights[op->in[k]] || d->held[op->in[k]] != NO_INDEX;
    return role == STATE_PARAM || role == STATE_COPY || role == STATE_LARGEST || copies;
}

static bool is_of_batch(const Divide *d, const Op *op) {
    if (op->kind == OP_state) {
        StateRole role = d->g->states.at[op->attr->index].role;
        return role == STATE_STEP || role == STATE_STAGING;
    }
    bool pure = op_info[op->kind].effect == EFFECT_PURE;
    for (uint32_t k = 0; k < op->n_in; k++) pure &= d->of_batch[op->in[k]];
    return pure;
}

static void survey_values(Divide *d) {
    find_held(d);
    for (uint32_t i = 0; i < d->old.ops.n; i++) {
        const Op *op = &d->g->ops.at[d->old.ops.at[i]];
        for (uint32_t j = 0; j < op->n_out; j++) {
            d->of_batch[op->out + j] = is_of_batch(d, op);
            d->of_weights[op->out + j] = is_of_weights(d, op);
        }
    }
}

/* An op of the old list goes to its piece. */
static void take_op(Divide *d, OpId id) {
    Graph *g = d->g;
    Op op = g->ops.at[id];
    uint32_t at = d->home[id], n = 0;
    ValueId *own = arena_array(g->arena, ValueId, MAX(op.n_in, 1u));
    if (op.kind == OP_set_state && d->held[op.in[0]] != NO_INDEX) {
        OpId def = g->values.at[op.in[0]].def; /* kept from where it is made */
        if (g->ops.at[def].kind == OP_state) return;
        at = d->home[def];
    }
    Piece *piece = &d->piece[at];
    for (uint32_t k = 0; k < op.n_in; k++) {
        bool token = g->values.at[op.in[k]].type.dtype == DT_TOKEN;
        if (token && piece->here[op.in[k]] == NO_VALUE) continue;
        own[n++] = value_here(d, at, op.in[k]);
    }
    g->ops.at[id].in = own;
    g->ops.at[id].n_in = n;
    g->ops.at[id].stage = (int16_t)piece->stage;
    for (uint32_t j = 0; j < op.n_out; j++) piece->here[op.out + j] = op.out + j;
    bool ends = op.kind == OP_set_state && is_held(g->states.at[op.attr->index].role);
    vec_push(g->scratch, ends ? &piece->tail : &piece->body, id);
}

/* ---- sums over stages ---- */

/* Is it about all stages, on the ranks of each? */
static bool is_everywhere(const Divide *d, OpId id) { return d->g->ops.at[id].stage == NO_INDEX; }

static ValueId emit_zeros(Divide *d, Piece *piece, const Op *like, ValueId v) {
    Type t = d->g->values.at[v].type;
    OpId id = new_op(d, piece, like, OP_fill, NULL, 0, NULL, &t);
    d->g->ops.at[id].phase = like->phase;
    d->g->ops.at[id].unit = NO_INDEX;
    vec_push(d->g->scratch, &piece->body, id);
    return d->g->ops.at[id].out;
}

/* An op that is on all roles, in one of them. */
static void copy_everywhere(Divide *d, OpId old, Piece *piece) {
    Graph *g = d->g;
    Op op = g->ops.at[old];
    ValueId *in = arena_array(g->scratch, ValueId, MAX(op.n_in, 1u));
    for (uint32_t k = 0; k < op.n_in; k++) {
        in[k] = piece->here[op.in[k]];
        if (in[k] != NO_VALUE) continue;
        const Op *def = maker(d, op.in[k]);
        if (def->kind == OP_state && op.kind != OP_all_reduce) {
            copy_op(d, piece, &piece->head, piece->stage, def, NULL);
            in[k] = piece->here[op.in[k]];
        } else {
            in[k] = emit_zeros(d, piece, &op, op.in[k]);
        }
    }
    copy_op(d, piece, &piece->body, NO_INDEX, &op, in);
}

/* The result of a new op of the update, on the ranks of a role. */
static ValueId update_value(Divide *d, Piece *piece, const Op *like, OpKind kind, const Attrs *a,
                            uint32_t n_in, const ValueId *in) {
    Graph *g = d->g;
    OpId id = new_op(d, piece, like, kind, a, n_in, in, NULL);
    g->ops.at[id].phase = like->phase;
    g->ops.at[id].stage = NO_INDEX;
    vec_push(g->scratch, &piece->body, id);
    return g->ops.at[id].out;
}

/* Each operand is one stage's gradient of a parameter that several read; each result is the sum of
 * all. In a role they become one operand: the gradients of its stages, added up in the first one's
 * memory, or zeros.
 */
static void sum_shared_gradients(Divide *d, OpId old, Piece *piece) {
    Op op = d->g->ops.at[old];
    Attrs a = *op.attr;
    ValueId both[2] = {NO_VALUE, NO_VALUE};
    for (uint32_t k = 0; k < op.n_in; k++) {
        both[1] = piece->here[op.in[k]];
        if (both[1] == NO_VALUE) continue;
        d->instead[op.out + k] = both[0] != NO_VALUE ? both[1] : NO_VALUE;
        both[0] = both[0] == NO_VALUE ? both[1]
                                      : update_value(d, piece, &op, OP_accumulate, NULL, 2, both);
    }
    if (both[0] == NO_VALUE) {
        a.unit = NO_INDEX;
        both[0] = emit_zeros(d, piece, &op, op.in[0]);
    }
    ValueId sum = update_value(d, piece, &op, OP_all_reduce, &a, 1, both);
    for (uint32_t k = 0; k < op.n_in; k++)
        if (piece->here[op.in[k]] != NO_VALUE) piece->here[op.out + k] = sum;
}

/* ---- update ---- */

static bool is_of_role(const Divide *d, const Op *op, uint32_t role) {
    return op->stage == NO_INDEX || graph_role_of(d->g, op->stage) == role;
}

/* A sum of which one part is that of another role is the other part. */
static bool has_one_part(const Op *op, Piece *piece) {
    if (op->kind != OP_metric_add) return false;
    ValueId a = piece->here[op->in[0]], b = piece->here[op->in[1]];
    if (a != NO_VALUE && b != NO_VALUE) return false;
    piece->here[op->out] = a != NO_VALUE ? a : b;
    return true;
}

static void copy_update(Divide *d, OpId id, uint32_t role) {
    Graph *g = d->g;
    Piece *piece = &d->piece[role];
    Op op = g->ops.at[id];
    if (has_one_part(&op, piece)) return;
    if (is_everywhere(d, id) && op.kind == OP_all_reduce && op.attr->tag == TAG_GRADIENT) {
        sum_shared_gradients(d, id, piece);
        return;
    }
    if (is_everywhere(d, id)) {
        copy_everywhere(d, id, piece);
        return;
    }
    if (!is_of_role(d, &op, role) && op.kind != OP_metric_add) return;
    ValueId *in = arena_array(g->scratch, ValueId, MAX(op.n_in, 1u));
    uint32_t n = 0;
    for (uint32_t k = 0; k < op.n_in; k++) {
        ValueId v = op.in[k];
        if (piece->here[v] == NO_VALUE && maker(d, v)->kind == OP_state)
            copy_op(d, piece, &piece->head, piece->stage, maker(d, v), NULL);
        if (piece->here[v] == NO_VALUE) CHECK(g->values.at[v].type.dtype == DT_TOKEN);
        if (piece->here[v] != NO_VALUE) in[n++] = piece->here[v];
    }
    if (op.kind == OP_set_state && d->instead[op.in[0]] != NO_VALUE) {
        in[0] = d->instead[op.in[0]];
        if (value_maker(g, in[0])->kind == OP_state) return; /* it has not changed */
    }
    op.n_in = n;
    copy_op(d, piece, &piece->body, op.stage, &op, in);
}

/* ---- programs ---- */

static void put_sends(Divide *d, Program *p, OpId after) {
    for (uint32_t k = 0; k < d->sent.n; k++)
        if (d->sent.at[k].after == after) vec_push(d->g->arena, &p->ops, d->sent.at[k].send);
}

static void put_list(Divide *d, Program *p, const OpList *list) {
    for (uint32_t k = 0; k < list->n; k++) {
        vec_push(d->g->arena, &p->ops, list->at[k]);
        if (d->sent.n) put_sends(d, p, list->at[k]);
    }
}

static void put_programs(Divide *d) {
    Graph *g = d->g;
    for (uint32_t i = 0; i < d->n; i++) {
        const Piece *piece = &d->piece[i];
        Program p = {.kind = d->old.kind, .part = piece->part, .stage = piece->stage};
        put_list(d, &p, &piece->head);
        put_list(d, &p, &piece->body);
        put_list(d, &p, &piece->tail);
        vec_push(g->arena, &g->programs, p);
    }
}

static void make_pieces(Divide *d) {
    const Graph *g = d->g;
    bool update = d->old.kind == PROGRAM_UPDATE, both = !update && d->old.kind != PROGRAM_EVAL;
    d->n = update ? graph_roles(g) : both ? 2 * d->stages - 1 : d->stages;
    d->piece = arena_array(g->scratch, Piece, d->n);
    for (uint32_t i = 0; i < d->n; i++) {
        Piece *piece = &d->piece[i];
        piece->stage = (int32_t)(i < d->stages ? i : 2 * (d->stages - 1) - i);
        piece->part = i >= d->stages              ? STAGE_BACKWARD
                      : both && i + 1 < d->stages ? STAGE_FORWARD
                                                  : STAGE_WHOLE;
        piece->here = arena_none(g->scratch, ValueId, d->n_values);
    }
}

static void divide_program(Graph *g, uint32_t row) {
    Divide d = {.g = g,
                .stages = graph_stages(g),
                .n_values = g->values.n,
                .old = g->programs.at[row],
                .home = arena_array(g->scratch, uint32_t, g->ops.n + 1),
                .held = arena_none(g->scratch, int32_t, g->values.n + 1),
                .of_batch = arena_array(g->scratch, bool, g->values.n + 1),
                .of_weights = arena_array(g->scratch, bool, g->values.n + 1),
                .instead = arena_none(g->scratch, ValueId, g->values.n + 1),
                .b = {.g = g, .program = row}};
    Op *old = arena_array(g->scratch, Op, g->ops.n + 1);
    memcpy(old, g->ops.at, g->ops.n * sizeof *old);
    d.old_op = old;
    make_pieces(&d);
    d.boxes = arena_array(g->scratch, uint32_t, d.n);
    d.kept = arena_array(g->scratch, uint32_t, d.n);
    survey_values(&d);
    for (uint32_t i = 0; i < d.old.ops.n; i++)
        d.home[d.old.ops.at[i]] = piece_of(&d, &g->ops.at[d.old.ops.at[i]]);
    for (uint32_t i = 0; i < d.old.ops.n; i++) {
        OpId id = d.old.ops.at[i];
        if (d.old.kind == PROGRAM_UPDATE)
            for (uint32_t r = 0; r < d.n; r++) copy_update(&d, id, r);
        else if (is_everywhere(&d, id)) /* at the end of each role's evaluation */
            for (uint32_t r = d.n - graph_roles(g); r < d.n; r++)
                copy_everywhere(&d, id, &d.piece[r]);
        else
            take_op(&d, id);
    }
    put_programs(&d);
}

/* Is the state, if it is an outbox, of a type that there is? Those have at most 2^47 bytes. */
static bool is_possible(const Graph *g, const State *s) {
    if (s->role != STATE_OUTBOX || type_sound(&s->type)) return true;
    return diag_report(g->diags, E_plan_memory, (Span){0},
                       "use a smaller batch, more ranks or smaller units",
                       "a rank would need %.0f TiB for messages that stage %d sends; a plan can "
                       "hold at most 128 TiB",
                       (double)s->type.dim[0] * (double)s->type.dim[1] / 0x1p40, s->stage);
}

bool pass_divide(Graph *g) {
    if (!graph_has_stages(g)) return true;
    uint32_t n = g->programs.n;
    for (uint32_t i = 0; i < n; i++) divide_program(g, i);
    uint32_t kept = 0;
    for (uint32_t i = n; i < g->programs.n; i++) g->programs.at[kept++] = g->programs.at[i];
    g->programs.n = kept;
    bool possible = true;
    for (uint32_t k = 0; k < g->states.n && possible; k++)
        possible = is_possible(g, &g->states.at[k]);
    return possible;
}
