/* Builds the graphs of gradient_test.c: parameters and fields with their numbers, ops, and a loss
 * that depends on every element. */
#ifndef FSDPC_GRADIENT_MODEL_H
#define FSDPC_GRADIENT_MODEL_H

#include <string.h>

#include "ops/kernels.h"
#include "ops/reference.h"
#include "passes.h"

enum { MAX_PARAMS = 20, MAX_FIELDS = 8, MAX_ELEMENTS = 4096, LOSS_EXPONENT = -2, IGNORED = -100 };

typedef struct Model {
    Graph *g;
    Builder b;
    uint64_t random;
    int trainable; /* parameter that is trained; NO_INDEX = all */
    ValueId step;
    bool used[OP_COUNT];
    double *params[MAX_PARAMS], *fields[MAX_FIELDS];
} Model;

static double uniform(Model *m) {
    m->random = m->random * 6364136223846793005u + 1442695040888963407u;
    return (double)(m->random >> 11) / 9007199254740992.0;
}

/* In the halves of [-2, 2] beyond 0.2, so that relu's kink is out of reach. Rounded to 8 bits:
 * exact in f32 and in bf16, so what the kernels see is what the reference sees. */
static double number(Model *m) {
    double x = floor((0.2 + 1.8 * uniform(m)) * 64) / 64;
    return uniform(m) < 0.5 ? -x : x;
}

/* GRADIENT(op, name) { .. } is a case of the op: it builds the graph in `m`. Its numbers follow
 * from its name. */
typedef struct Case {
    const char *name;
    OpKind op;
    void (*build)(Model *m);
} Case;
enum { MOST_CASES = 192 };
static Case cases[MOST_CASES];
static size_t n_cases;

static inline void add_case(Case c) {
    CHECK(n_cases < MOST_CASES);
    cases[n_cases++] = c;
}

#define GRADIENT(o, name)                                                                          \
    static void case_##name(Model *m);                                                             \
    __attribute__((constructor)) static void add_##name(void) {                                    \
        add_case((Case){#name, OP_##o, case_##name});                                              \
    }                                                                                              \
    static void case_##name(Model *m)

#define DIMS(...)                                                                                  \
    (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]) { __VA_ARGS__ }

static ValueId new_param(Model *m, int rank, const int64_t *dim, bool frozen) {
    Graph *g = m->g;
    Type t = type_of(DT_F32, rank, dim);
    uint32_t k = g->params.n;
    CHECK(k < MAX_PARAMS && type_elements(&t) <= MAX_ELEMENTS);
    Param p = {.type = t, .compute_dtype = DT_F32, .reduce_dtype = DT_F32, .frozen = frozen};
    p.name = (ParamName){arena_printf(g->arena, "p%u", k), 0, {0}};
    p.key = p.checkpoint = p.name.path;
    vec_push(g->arena, &g->params, p);
    m->params[k] = arena_array(g->arena, double, type_elements(&t));
    for (int64_t i = 0; i < type_elements(&t); i++) m->params[k][i] = number(m);
    Attrs which = {.index = k};
    return emit_value(&m->b, OP_param, &which, 0, NULL, NULL);
}

static ValueId input(Model *m, int rank, const int64_t *dim) {
    int k = (int)m->g->params.n;
    return new_param(m, rank, dim, m->trainable != NO_INDEX && m->trainable != k);
}

/* Integers in [0, limit), some of them `ignored`, unless that is 0. */
static ValueId ids(Model *m, int64_t limit, int ignored, int rank, const int64_t *dim) {
    Graph *g = m->g;
    uint32_t k = g->fields.n;
    CHECK(k < MAX_FIELDS);
    Field f = {arena_printf(g->arena, "f%u", k), type_of(DT_I32, rank, dim), 0, NO_INDEX};
    vec_push(g->arena, &g->fields, f);
    int64_t n = type_elements(&f.type);
    m->fields[k] = arena_array(g->arena, double, n);
    for (int64_t i = 0; i < n; i++)
        m->fields[k][i] = ignored && i % 3 == 1 ? ignored : floor(uniform(m) * (double)limit);
    Attrs staging = {.index = graph_find_state(g, "staging")}, which = {.index = k};
    ValueId in[2] = {emit_value(&m->b, OP_state, &staging, 0, NULL, NULL), m->step};
    return emit_value(&m->b, OP_field, &which, 2, in, NULL);
}

static OpId node(Model *m, OpKind kind, Attrs a, uint32_t n, const ValueId *in) {
    m->used[kind] = true;
    return op_emit(&m->b, kind, &a, n, in, NULL);
}

#define OPERANDS(...)                                                                              \
    (uint32_t)(sizeof((ValueId[]){__VA_ARGS__}) / sizeof(ValueId)), (ValueId[]) { __VA_ARGS__ }

static ValueId apply(Model *m, OpKind kind, Attrs a, uint32_t n, const ValueId *in) {
    OpId id = node(m, kind, a, n, in); /* may move the table */
    return m->g->ops.at[id].out;
}

static Type type_of_value(const Model *m, ValueId v) { return m->g->values.at[v].type; }

static ValueId reshape(Model *m, ValueId x, int rank, const int64_t *dim) {
    Type t = type_of(DT_F32, rank, dim);
    m->used[OP_reshape] = true;
    return emit_value(&m->b, OP_reshape, &(Attrs){0}, 1, &x, &t);
}

static void cross_entropy_of(Model *m, ValueId logits, int ignored, Attrs a) {
    Type t = type_of_value(m, logits);
    ValueId targets = ids(m, t.dim[t.rank - 1], ignored, t.rank - 1, t.dim);
    ValueId l = apply(m, OP_cross_entropy, a, OPERANDS(logits, targets));
    Attrs state = {.index = graph_find_state(m->g, "loss")};
    op_emit(&m->b, OP_set_state, &state, 1, &l, NULL);
}

static void cross_entropy(Model *m, ValueId logits, int ignored) {
    cross_entropy_of(m, logits, ignored, (Attrs){.ignore = IGNORED});
}

/* A loss that depends on every element of y in another way. */
static void loss(Model *m, ValueId y) {
    Type t = type_of_value(m, y);
    int64_t n = type_elements(&t);
    CHECK(n > 1);
    ValueId weight = new_param(m, t.rank, t.dim, true);
    y = apply(m, OP_mul, (Attrs){0}, OPERANDS(y, weight));
    cross_entropy(m, reshape(m, y, DIMS(n % 2 || n < 6 ? 1 : 2, n % 2 || n < 6 ? n : n / 2)), 0);
}

#endif
