/* Where the tables of ops and values lie.
 *
 * They are the largest that a graph has, and most ops that are ever made die: passes put others in
 * their place. Each table lies in an arena of its own. One that grows moves to another arena; the
 * old one is kept until the pass is over, since the pass may still read there. graph_settle gives
 * it back, and where more than a third of the ops are in no program's list it copies what is left.
 *
 * Attributes are many and most ops have none or few different ones: an op points at them, and equal
 * ones are stored once.
 */
#include <string.h>

#include "ir.h"

typedef struct GraphStore {
    Arena *ops, *values;
    Arena *lists; /* operands and edges, since ops were numbered anew */
    VEC(Arena *) outgrown;
    const Attrs **attrs; /* hash table; capacity is a power of two */
    uint32_t n_attrs, attrs_capacity;
} GraphStore;

static GraphStore *store_of(Graph *g) {
    if (!g->store) g->store = arena_new_of(g->arena, GraphStore);
    return g->store;
}

/* The table in a new arena, with room for `capacity` rows. */
static void *grow_table(Graph *g, Arena **home, const void *at, uint32_t n, uint32_t capacity,
                        size_t row) {
    GraphStore *s = store_of(g);
    Arena *fresh = arena_child(g->arena);
    void *rows = arena_alloc(fresh, capacity * row);
    if (n) memcpy(rows, at, n * row);
    if (*home) vec_push(g->arena, &s->outgrown, *home);
    *home = fresh;
    return rows;
}

/* Empty tables, with room for more than that many ops and values. */
static void begin_tables(Graph *g, uint32_t ops, uint32_t values) {
    GraphStore *s = store_of(g);
    g->ops.n = g->values.n = 0;
    g->ops.capacity = ops + 1;
    g->values.capacity = values + 1;
    g->ops.at = grow_table(g, &s->ops, NULL, 0, g->ops.capacity, sizeof *g->ops.at);
    g->values.at = grow_table(g, &s->values, NULL, 0, g->values.capacity, sizeof *g->values.at);
}

static uint32_t twice_capacity(uint32_t capacity) {
    CHECK(capacity <= UINT32_MAX / 2);
    return MAX(2 * capacity, 64u);
}

OpId graph_add_op(Graph *g, const Op *op) {
    if (g->ops.n == g->ops.capacity) {
        uint32_t capacity = twice_capacity(g->ops.capacity);
        g->ops.at = grow_table(g, &store_of(g)->ops, g->ops.at, g->ops.n, capacity, sizeof *op);
        g->ops.capacity = capacity;
    }
    g->ops.at[g->ops.n] = *op;
    return g->ops.n++;
}

ValueId graph_add_value(Graph *g, const Value *v) {
    if (g->values.n == g->values.capacity) {
        uint32_t capacity = twice_capacity(g->values.capacity);
        g->values.at =
            grow_table(g, &store_of(g)->values, g->values.at, g->values.n, capacity, sizeof *v);
        g->values.capacity = capacity;
    }
    g->values.at[g->values.n] = *v;
    return g->values.n++;
}

/* ---- numbering anew ---- */

GraphNumbers graph_numbers(const Graph *g, Arena *a) {
    GraphNumbers n = {.op = arena_none(a, uint32_t, g->ops.n),
                      .value = arena_none(a, uint32_t, g->values.n)};
    for (uint32_t i = 0; i < g->programs.n; i++)
        for (uint32_t k = 0; k < g->programs.at[i].ops.n; k++) {
            OpId id = g->programs.at[i].ops.at[k];
            n.op[id] = n.ops++;
            for (uint32_t j = 0; j < g->ops.at[id].n_out; j++)
                n.value[g->ops.at[id].out + j] = n.values++;
        }
    return n;
}

static uint32_t *renumber(Arena *a, const uint32_t *numbers, const uint32_t *old, uint32_t n) {
    uint32_t *list = n ? arena_array(a, uint32_t, n) : NULL;
    for (uint32_t i = 0; i < n; i++) list[i] = numbers[old[i]];
    return list;
}

static void copy_op(Graph *to, const Graph *from, const GraphNumbers *n, OpId id, Arena *lists) {
    Op op = from->ops.at[id];
    for (uint32_t j = 0; j < op.n_out; j++) {
        Value v = from->values.at[op.out + j];
        v.def = n->op[id];
        to->values.at[to->values.n++] = v;
    }
    op.in = renumber(lists, n->value, op.in, op.n_in);
    op.edge = renumber(lists, n->op, op.edge, op.n_edge);
    if (op.n_out) op.out = n->value[op.out];
    to->ops.at[to->ops.n++] = op;
}

static void drop_unused(Graph *g) {
    Arena *scratch = arena_new(), *lists = arena_child(g->arena);
    GraphNumbers n = graph_numbers(g, scratch);
    GraphStore *s = store_of(g);
    Graph old = *g;
    begin_tables(g, n.ops + n.ops / 4, n.values + n.values / 4);
    for (uint32_t i = 0; i < g->programs.n; i++) {
        Program *p = &g->programs.at[i];
        for (uint32_t k = 0; k < p->ops.n; k++) {
            copy_op(g, &old, &n, p->ops.at[k], lists);
            p->ops.at[k] = g->ops.n - 1;
        }
    }
    if (s->lists) vec_push(g->arena, &s->outgrown, s->lists);
    s->lists = lists;
    arena_free(scratch);
}

uint32_t graph_number_rows(Graph *g, const Program *p) {
    uint32_t values = 0;
    for (uint32_t i = 0; i < p->ops.n; i++) {
        Op *op = &g->ops.at[p->ops.at[i]];
        op->row = i;
        for (uint32_t k = 0; k < op->n_out; k++) g->values.at[op->out + k].row = values++;
    }
    return values;
}

/* ---- copying ---- */

/* Ops and values with their numbers; operands too, since passes write there. */
static void copy_ops(Graph *g, const Graph *from) {
    begin_tables(g, 2 * from->ops.n, 2 * from->values.n); /* passes add as many, if not more */
    for (uint32_t i = 0; i < from->values.n; i++) graph_add_value(g, &from->values.at[i]);
    for (uint32_t i = 0; i < from->ops.n; i++) {
        Op op = from->ops.at[i];
        CHECK(!op.n_edge);
        op.in = arena_copy(g->arena, op.in, op.n_in * sizeof *op.in);
        graph_add_op(g, &op);
    }
}

Graph *graph_fork(const Graph *from, Arena *a, DiagSet *ds) {
    Graph *g = arena_new_of(a, Graph);
    CHECK(from->level <= LEVEL_TRAIN && !from->units.n && !from->groups.n);
    *g = *from;
    g->arena = a;
    g->scratch = arena_child(a);
    g->diags = ds;
    g->store = NULL;
    vec_copy(a, &g->policy.by_path);
    vec_copy(a, &g->modules);
    vec_copy(a, &g->params);
    vec_copy(a, &g->states);
    vec_copy(a, &g->fields);
    vec_copy(a, &g->formulas);
    vec_copy(a, &g->programs);
    for (uint32_t i = 0; i < g->programs.n; i++) vec_copy(a, &g->programs.at[i].ops);
    copy_ops(g, from);
    return g;
}

/* ---- attributes ---- */

/* What of a belongs to the op; the rest is zero. Attribute k is word k of the struct and bit k of
 * the mask in column ATTRS. */
static Attrs attrs_of(OpKind kind, const Attrs *a) {
    Attrs own = {0};
    for (uint64_t rest = op_info[kind].attrs; rest; rest &= rest - 1) {
        size_t at = sizeof(uint64_t) * (size_t)__builtin_ctzll(rest);
        memcpy((char *)&own + at, (const char *)a + at, sizeof(uint64_t));
    }
    return own;
}

Attrs attrs_default(OpKind kind) {
    static const Attrs defaults = {
#define ATTR(field, name, ...) .field = 0 __VA_ARGS__,
#define DEFAULT(value) +(value)
#include "attrs.def"
    };
    return attrs_of(kind, &defaults);
}

static const Attrs **find_attrs(const GraphStore *s, const Attrs *a) {
    uint64_t h = 0, word;
    for (size_t at = 0; at < sizeof *a; at += sizeof word) {
        memcpy(&word, (const char *)a + at, sizeof word);
        if (word) h = hash_word(h + at, word);
    }
    uint32_t mask = s->attrs_capacity - 1, k = (uint32_t)h & mask;
    while (s->attrs[k] && memcmp(s->attrs[k], a, sizeof *a)) k = (k + 1) & mask;
    return &s->attrs[k];
}

static void grow_attrs(Graph *g, GraphStore *s) {
    const Attrs **old = s->attrs;
    uint32_t n = s->attrs_capacity;
    s->attrs_capacity = twice_capacity(n);
    s->attrs = arena_array(g->arena, const Attrs *, s->attrs_capacity);
    for (uint32_t k = 0; k < n; k++)
        if (old[k]) *find_attrs(s, old[k]) = old[k];
}

const Attrs *graph_attrs(Graph *g, OpKind kind, const Attrs *a) {
    static const Attrs none;
    if (!op_info[kind].attrs) return &none;
    GraphStore *s = store_of(g);
    if (2 * s->n_attrs >= s->attrs_capacity) grow_attrs(g, s);
    Attrs own = a ? attrs_of(kind, a) : attrs_default(kind);
    const Attrs **place = find_attrs(s, &own);
    if (!*place) {
        Attrs *kept = arena_new_of(g->arena, Attrs);
        *kept = own;
        *place = kept;
        s->n_attrs++;
    }
    return *place;
}

void graph_settle(Graph *g) {
    GraphStore *s = store_of(g);
    uint32_t live = 0;
    for (uint32_t i = 0; i < g->programs.n; i++) live += g->programs.at[i].ops.n;
    if (live < g->ops.n - g->ops.n / 3) drop_unused(g);
    for (uint32_t i = 0; i < s->outgrown.n; i++) arena_free(s->outgrown.at[i]);
    s->outgrown.n = 0;
    arena_free(g->scratch);
    g->scratch = arena_child(g->arena);
}
