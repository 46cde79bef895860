/* Building graphs: the tables, programs, and appending of ops.
 *
 * A graph owns everything through its arena. Nothing is removed from `ops` or `values` while a pass
 * runs, a program's list says what is in use; graph_store.c drops the rest between passes.
 * Attributes that an op does not have are zero in every op that comes from here, so that two ops
 * with the same meaning are equal byte for byte.
 */
#include <string.h>

#include "infer.h"
#include "ir.h"

static Policy policy_default(void) {
    return (Policy){
        .unit = UNIT_ROOT,
#define POLICY(section, field, type, kind, words, default_value, least, most, line)                \
    .field = default_value,
#include "policy.def"
#undef POLICY
    };
}

Graph *graph_new(Arena *a, DiagSet *ds) {
    Graph *g = arena_new_of(a, Graph);
    g->arena = a;
    g->scratch = arena_child(a);
    g->diags = ds;
    g->policy = policy_default();
    return g;
}

uint32_t graph_add_program(Graph *g, ProgramKind kind) {
    Program p = {.kind = kind};
    vec_push(g->arena, &g->programs, p);
    return g->programs.n - 1;
}

int32_t graph_find_program(const Graph *g, ProgramKind kind) {
    for (uint32_t i = 0; i < g->programs.n; i++)
        if (g->programs.at[i].kind == kind) return (int32_t)i;
    return NO_INDEX;
}

int32_t graph_find_state(const Graph *g, const char *name) {
    for (uint32_t i = 0; i < g->states.n; i++)
        if (!strcmp(g->states.at[i].name, name)) return (int32_t)i;
    return NO_INDEX;
}

int32_t graph_add_state(Graph *g, StateRole role, const char *name, Type t, int32_t group) {
    State s = {.role = role,
               .name = arena_strdup(g->arena, name),
               .type = t,
               .group = group,
               .stage = NO_INDEX,
               .address = NO_ADDRESS};
    bool known = group >= 0 && group < (int64_t)g->groups.n;
    bool whole = role == STATE_FACTORS || role == STATE_LARGEST;
    if (known && !whole) s.split = g->groups.at[group].layout.split;
    if (known && graph_has_stages(g)) s.stage = g->units.at[g->groups.at[group].unit].stage;
    vec_push(g->arena, &g->states, s);
    return (int32_t)g->states.n - 1;
}

const char *program_name(ProgramKind k) { return word_of(&words_ProgramKind, k); }

const char *level_name(OpLevel l) { return word_of(&words_OpLevel, l); }

const char *state_role_name(StateRole r) { return word_of(&words_StateRole, r); }

enum { FEW_RESULTS = 8 };

/* Result types of an op that is about to be made, in `out` where there is room for them. */
static Type *emit_types(Builder *b, OpKind kind, const Attrs *a, uint32_t n_in, const ValueId *in,
                        const Type *given, uint32_t *n_out, Type out[FEW_RESULTS]) {
    Graph *g = b->g;
    Type few[8], *types = n_in <= ARRAY_LEN(few) ? few : arena_array(g->scratch, Type, n_in);
    for (uint32_t i = 0; i < n_in; i++) {
        CHECK(in[i] < g->values.n);
        types[i] = g->values.at[in[i]].type;
    }
    CHECK(op_info[kind].given == (given != NULL));
    *n_out = op_results_max(kind, a, n_in, types);
    if (*n_out > FEW_RESULTS) out = arena_array(g->scratch, Type, *n_out);
    if (given) memcpy(out, given, *n_out * sizeof *out);
    const char *problem = op_infer(g, kind, a, n_in, types, n_out, out, g->scratch);
    if (problem) BUG("%s at \"%s\": %s", op_info[kind].name, b->path ? b->path : "", problem);
    return out;
}

OpId op_emit(Builder *b, OpKind kind, const Attrs *a, uint32_t n_in, const ValueId *in,
             const Type *given) {
    Graph *g = b->g;
    CHECK(b->program < g->programs.n && (unsigned)kind < OP_COUNT);
    Op op = {.kind = kind,
             .n_in = n_in,
             .attr = graph_attrs(g, kind, a),
             .path = b->path ? b->path : "",
             .span = b->span,
             .unit = b->unit,
             .stage = b->stage,
             .phase = b->phase,
             .out = g->values.n};
    Type few[FEW_RESULTS] = {0};
    Type *out = emit_types(b, kind, op.attr, n_in, in, given, &op.n_out, few);
    if (n_in) {
        op.in = arena_array(g->arena, ValueId, n_in);
        memcpy(op.in, in, n_in * sizeof *in);
    }
    OpId id = g->ops.n;
    for (uint32_t j = 0; j < op.n_out; j++) {
        Value v = {.type = out[j], .def = id, .result = j, .address = NO_ADDRESS};
        graph_add_value(g, &v);
    }
    graph_add_op(g, &op);
    vec_push(g->arena, &g->programs.at[b->program].ops, id);
    return id;
}

ValueId emit_value(Builder *b, OpKind kind, const Attrs *a, uint32_t n_in, const ValueId *in,
                   const Type *given) {
    OpId id = op_emit(b, kind, a, n_in, in, given); /* may move the table */
    const Op *op = &b->g->ops.at[id];
    CHECK(op->n_out == 1);
    return op->out;
}

OpId op_emit_apart(Builder *b, OpKind kind, const Attrs *a, uint32_t n_in, const ValueId *in,
                   const Type *given) {
    OpId id = op_emit(b, kind, a, n_in, in, given);
    b->g->programs.at[b->program].ops.n--;
    return id;
}

OpId graph_copy_op(Graph *g, const Op *op, const ValueId *in) {
    Op copy = *op; /* the table grows */
    ValueId old = copy.out;
    copy.in = arena_copy(g->arena, in, copy.n_in * sizeof *in);
    copy.out = g->values.n;
    for (uint32_t j = 0; j < copy.n_out; j++) {
        Value v = g->values.at[old + j];
        v.def = g->ops.n;
        graph_add_value(g, &v);
    }
    return graph_add_op(g, &copy);
}

const Type *op_types(const Graph *g, const Op *op, Type few[FEW_TYPES]) {
    uint32_t n = op->n_in + op->n_out;
    Type *types = n <= FEW_TYPES ? few : arena_array(g->scratch, Type, n);
    for (uint32_t k = 0; k < op->n_in; k++) types[k] = g->values.at[op->in[k]].type;
    for (uint32_t k = 0; k < op->n_out; k++) types[op->n_in + k] = g->values.at[op->out + k].type;
    return types;
}

bool op_same_origin(const Op *a, const Op *b) {
    return !strcmp(a->path, b->path) && !memcmp(&a->span, &b->span, sizeof a->span);
}

void builder_like(Builder *b, const Op *op) {
    b->path = op->path;
    b->span = op->span;
    b->phase = op->phase;
    b->unit = op->unit;
    b->stage = op->stage;
}

ValueId emit_state(Builder *b, int32_t state) {
    Attrs a = {.index = state};
    return emit_value(b, OP_state, &a, 0, NULL, NULL);
}

void emit_set_state(Builder *b, int32_t state, ValueId v) {
    Attrs a = {.index = state};
    op_emit(b, OP_set_state, &a, 1, &v, NULL);
}

OpKind update_op(const Policy *p, bool matrix) {
    return optimizer_update(p->optimizer, matrix, p->momentum != 0);
}
