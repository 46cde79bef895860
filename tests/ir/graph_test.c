/* Graphs as text and in memory: printing, parsing and printing again is the identity for every op
 * and every field; parsing keeps everything that printing shows; time is proportional to size; and
 * graph-9, the verifier's rule that text cannot violate. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ir.h"
#include "signature.h"
#include "test.h"
#include "text.h"

typedef struct Fixture {
    Arena *arena;
    DiagSet set, other;
    Buf messages;
} Fixture;

static void write_buffer(void *context, const char *text, size_t n) { buf_write(context, text, n); }

static int set_up(void **state) {
    Fixture *f = calloc(1, sizeof *f);
    f->arena = arena_new();
    diag_init(&f->set, f->arena);
    diag_init(&f->other, f->arena);
    f->set.write = f->other.write = write_buffer;
    f->set.write_context = f->other.write_context = &f->messages;
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    Fixture *f = *state;
    buf_free(&f->messages);
    arena_free(f->arena);
    free(f);
    return 0;
}

static char *print(Fixture *f, const Graph *g) {
    Buf out = {0};
    graph_print(g, &out);
    char *text = arena_strndup(f->arena, out.at, out.n);
    buf_free(&out);
    return text;
}

static Graph *parse(Fixture *f, const char *text) {
    Graph *g = graph_parse(f->arena, &f->other, "text", text, strlen(text));
    if (!g) fail_msg("%.*s", (int)f->messages.n, f->messages.at);
    return g;
}

/* ---- a graph with something in every field ---- */

static int64_t next_number(int64_t *seed) { return *seed += 7; }

static Type any_type(int64_t n) {
    int64_t dim[MAX_RANK] = {2, 3, 1, 5, 1, 7};
    int dtype = DT_F32 + (int)(n % (DT_TOKEN - DT_F32 + 1));
    return type_of(dtype, dtype == DT_TOKEN ? 0 : (int)(n % (MAX_RANK + 1)), dim);
}

static Attrs any_attrs(OpKind kind, int64_t *seed) {
    Attrs a = {0};
    for (int i = 0; i < ATTR_COUNT; i++) {
        const TextField *f = &attr_fields[i];
        if (!(op_info[kind].attrs >> i & 1)) continue;
        double real = (double)next_number(seed) / 3.0;
        int64_t whole = (next_number(seed) % 2 ? -1 : 1) * next_number(seed) * 1000003;
        if (f->kind == TEXT_BOOL) whole = next_number(seed) % 2;
        if (f->kind == TEXT_WORD) whole = next_number(seed) % f->words->n;
        if (f->kind == TEXT_AXES) whole = next_number(seed) % 4;
        if (f->kind == TEXT_REAL)
            memcpy((char *)&a + f->offset, &real, sizeof real);
        else
            text_field_set(f, &a, whole);
    }
    return a;
}

static Span any_span(int64_t *seed) {
    return (Span){(uint32_t)(next_number(seed) % 3), (uint32_t)next_number(seed),
                  (uint32_t)next_number(seed), (uint32_t)next_number(seed), UINT32_MAX - 1};
}

static void add_values(Graph *g, Op *op, uint32_t n, int64_t *seed) {
    op->out = g->values.n;
    op->n_out = n;
    for (uint32_t j = 0; j < n; j++) {
        Value v = {.type = any_type(next_number(seed)), .def = g->ops.n, .result = j};
        bool sched = g->level == LEVEL_SCHED && v.type.dtype != DT_TOKEN;
        v.address = sched ? (uint64_t)next_number(seed) : NO_ADDRESS;
        if (sched && j) v.slots = mesh_all_axes(&g->policy.mesh);
        graph_add_value(g, &v);
    }
}

static void add_op(Graph *g, Program *p, OpKind kind, int64_t *seed) {
    const Signature *info = op_signature(kind);
    Attrs attr = any_attrs(kind, seed);
    Op op = {.kind = kind,
             .n_in = info->in_max == MANY ? 3 : info->in_max,
             .attr = graph_attrs(g, kind, &attr),
             .path = kind % 3 ? "h.0.attn" : "",
             .span = any_span(seed),
             .unit = (int32_t)(next_number(seed) % 5) - 1,
             .phase = (uint8_t)(next_number(seed) % PHASE_COUNT)};
    if (op.n_in) op.in = arena_array(g->arena, ValueId, op.n_in);
    for (uint32_t i = 0; i < op.n_in; i++)
        op.in[i] = (ValueId)(next_number(seed) % (int64_t)g->values.n);
    if (g->level == LEVEL_SCHED) {
        op.stream = (uint8_t)(next_number(seed) % STREAM_KINDS);
        op.n_edge = g->ops.n ? (uint32_t)(next_number(seed) % 3) : 0;
        op.edge = arena_array(g->arena, OpId, 3);
        for (uint32_t i = 0; i < op.n_edge; i++)
            op.edge[i] = (OpId)(next_number(seed) % (int64_t)g->ops.n);
    }
    add_values(g, &op, info->out_max == MANY ? 2 : info->out_max, seed);
    vec_push(g->arena, &p->ops, g->ops.n);
    graph_add_op(g, &op);
}

static StringList strings(Arena *a, const char *first, const char *second) {
    StringList list = {0};
    vec_push(a, &list.at, first);
    vec_push(a, &list.at, second);
    return list;
}

/* Every field of Policy differs from the default of graph_new. */
static void fill_policy(Graph *g, UnitPolicy unit, int64_t *seed) {
    Arena *a = g->arena;
    g->policy = (Policy){.mesh = {2, {{AXIS_pp, 3}, {AXIS_dp, 4}}},
                         .strategy = STRATEGY_GRADS,
                         .unit = unit,
                         .unit_span = {1, 2, 3, 4, 5},
                         .reshard = false,
                         .reshard_root = true,
                         .accumulate_local = true,
                         .prefetch_forward = 5,
                         .prefetch_backward = 6,
                         .prefetch_post = true,
                         .inflight = 7,
                         .align = 8,
                         .micro_batches = 9,
                         .batch = 10,
                         .compute_dtype = DT_BF16,
                         .reduce_dtype = DT_BF16,
                         .optimizer = OPTIMIZER_ADAMW,
                         .beta1 = 0.1,
                         .beta2 = 1.0 / 3.0,
                         .eps = 1e-300,
                         .weight_decay = 0.01,
                         .momentum = 0.7,
                         .nesterov = true,
                         .clip = 1e22,
                         .clip_value = 5e-324,
                         .on_nan = ON_NAN_CONTINUE,
                         .loss_exponent = -next_number(seed)};
    if (unit != UNIT_ROOT) g->policy.recompute.classes = strings(a, "Block", "odd \"");
    if (unit != UNIT_CLASS) g->policy.recompute.ops = strings(a, "gelu", "layer_norm");
    if (unit == UNIT_SIZE) g->policy.recompute.keep = strings(a, "linear", "attention");
    const PathPolicy again = {
        .kind = PATH_RECOMPUTE, .glob = "h.*.\"odd\"", .span = {1, 2, 3, 2, 5}};
    const PathPolicy kept = {.kind = PATH_RESHARD, .glob = "h.0", .reshard = RESHARD_NEVER};
    if (unit != UNIT_ROOT) vec_push(a, &g->policy.by_path, again);
    if (unit == UNIT_SIZE) vec_push(a, &g->policy.by_path, kept);
    if (unit == UNIT_CLASS) g->policy.unit_classes = strings(a, "Block", "Attention, \"odd\"");
    if (unit == UNIT_SIZE) {
        g->policy.unit_size = 1000000;
        g->policy.unit_leaf = strings(a, "Leaf", "");
    }
    if (unit != UNIT_MANUAL) return;
    StringList one = strings(a, "h.0", "h.1"), none = {0};
    vec_push(a, &g->policy.unit_manual, one);
    vec_push(a, &g->policy.unit_manual, none);
}

static void fill_tables(Graph *g, int64_t *seed) {
    Arena *a = g->arena;
    Module root = {"", "GPT", NO_INDEX, {1, 1, 1, 1, 2}},
           odd = {"h\n\"\\\x01\xff\u00e9", "", 0, {0}};
    vec_push(a, &g->modules, root);
    vec_push(a, &g->modules, odd);
    for (int i = 0; i < 3; i++) {
        Param p = {.name = {arena_printf(a, "w%d", i), i, any_span(seed)},
                   .key = i ? "tied" : "w0",
                   .checkpoint = i == 1 ? "transformer.w" : NULL,
                   .checkpoint_transposed = i == 1,
                   .type = type_of(DT_F32, 2, (int64_t[]){3, 4}),
                   .compute_dtype = DT_BF16,
                   .reduce_dtype = i ? DT_F32 : DT_BF16,
                   .init = (InitKind)i,
                   .init_mean = i == INIT_NORMAL ? -0.5 : 0,
                   .init_std = i == INIT_NORMAL ? 0.02 : 0,
                   .no_decay = i == 0,
                   .frozen = i == 1,
                   .keep_f32 = i == 2};
        ParamName alias = {arena_printf(a, "alias%d", i), 1, any_span(seed)};
        if (i) vec_push(a, &p.aliases, alias);
        vec_push(a, &g->params, p);
    }
    for (int role = 0; role < STATE_ROLES; role++) {
        int32_t row = graph_add_state(g, (StateRole)role, arena_printf(a, "state %d", role),
                                      any_type(role), role % 2 - 1);
        if (g->level == LEVEL_SCHED) g->states.at[row].address = (uint64_t)role * 256;
        if (role % 2) g->states.at[row].split = g->states.at[row].partial = (AxisSet)role / 2 % 2;
    }
    Field field = {"inputs", type_of(DT_I32, 2, (int64_t[]){4, 32}), 64, NO_INDEX};
    vec_push(a, &g->fields, field);
    for (int i = 0; i < 2; i++) {
        Unit u = {.name = i ? "" : "h.0+h.1",
                  .class_name = i ? "GPT" : "a b",
                  .below = next_number(seed),
                  .owned = -1,
                  .is_root = i == 1};
        for (int32_t k = 0; k <= i; k++) vec_push(a, &u.modules, k);
        for (int32_t k = 0; k < i * 2; k++) vec_push(a, &u.groups, k);
        vec_push(a, &g->units, u);
        Group q = {.unit = i,
                   .trainable = i == 0,
                   .master_dtype = DT_F32,
                   .compute_dtype = DT_BF16,
                   .wire_dtype = DT_BF16,
                   .reduce_dtype = DT_F32,
                   .layout = {i == 1, 12, 16, 4}};
        GroupParam at = {i, 12345678901 * i, i};
        vec_push(a, &q.params, at);
        vec_push(a, &q.params, at);
        vec_push(a, &g->groups, q);
    }
}

static Graph *build(Fixture *f, OpLevel level, UnitPolicy unit) {
    if (f->set.files.n == 1) {
        diag_add_file(&f->set, "/some/where/gpt2.fsd", "model", 5);
        diag_add_file(&f->set, "std \"x\".fsd", "", 0);
    }
    Graph *g = graph_new(f->arena, &f->set);
    int64_t seed = level * 1000;
    g->level = level;
    fill_policy(g, unit, &seed);
    fill_tables(g, &seed);
    if (level == LEVEL_SCHED) {
        RoleMemory role = {.persistent_bytes = 1 << 20,
                           .arena_bytes = (uint64_t)1 << 40,
                           .workspace_bytes = {[DEVICE_CPU] = 3, [DEVICE_CUDA] = 4}};
        vec_push(g->arena, &g->roles, role);
    }
    for (int kind = 0; kind < PROGRAM_KINDS; kind++) {
        uint32_t row = graph_add_program(g, (ProgramKind)kind);
        Program *p = &g->programs.at[row];
        if (level == LEVEL_SCHED) p->peak = (uint64_t)kind * 1000;
        for (int i = 0; i < 3; i++) add_op(g, p, OP_state, &seed);
        for (int op = kind; op < OP_COUNT; op++) add_op(g, p, (OpKind)op, &seed);
    }
    return g;
}

static bool same_op(const Op *a, const Op *b) {
    return a->kind == b->kind && a->n_in == b->n_in && a->n_out == b->n_out && a->out == b->out &&
           !memcmp(a->attr, b->attr, sizeof *a->attr) && !strcmp(a->path, b->path) &&
           a->unit == b->unit && a->phase == b->phase && a->stream == b->stream &&
           a->n_edge == b->n_edge && (!a->n_in || !memcmp(a->in, b->in, a->n_in * sizeof *a->in)) &&
           (!a->n_edge || !memcmp(a->edge, b->edge, a->n_edge * sizeof *a->edge));
}

static bool same_value(const Value *a, const Value *b) {
    return type_equal(&a->type, &b->type) && a->def == b->def && a->result == b->result &&
           a->address == b->address && a->slots == b->slots;
}

TEST_WITH(text_is_the_graph, set_up, tear_down) {
    Fixture *f = *state;
    for (int level = 0; level < LEVEL_COUNT; level++)
        for (int unit = UNIT_ROOT; unit <= UNIT_MANUAL; unit++) {
            const Graph *g = build(f, (OpLevel)level, (UnitPolicy)unit);
            const char *text = print(f, g);
            diag_init(&f->other, f->arena);
            f->other.write = write_buffer;
            f->other.write_context = &f->messages;
            const Graph *copy = parse(f, text);
            assert_string_equal(print(f, copy), text);
            assert_int_equal(copy->ops.n, g->ops.n);
            assert_int_equal(copy->values.n, g->values.n);
            for (uint32_t i = 0; i < g->ops.n; i++)
                if (!same_op(&g->ops.at[i], &copy->ops.at[i]))
                    fail_msg("op %u, %s, has changed", i, op_info[g->ops.at[i].kind].name);
            for (uint32_t i = 0; i < g->values.n; i++)
                assert_true(same_value(&g->values.at[i], &copy->values.at[i]));
            assert_true(g->policy.eps == copy->policy.eps);
            assert_int_equal(copy->policy.on_nan, ON_NAN_CONTINUE);
            assert_int_equal(copy->policy.prefetch_backward, 6);
            assert_string_equal(copy->modules.at[1].path, g->modules.at[1].path);
        }
}

/* Each scalar field of Policy is in the text: changing any one changes it. */
TEST_WITH(every_policy_field_is_printed, set_up, tear_down) {
    Fixture *f = *state;
    Graph *g = build(f, LEVEL_MODEL, UNIT_SIZE);
    const char *before = print(f, g);
    Policy kept = g->policy;
#define CHANGES(field, to)                                                                         \
    do {                                                                                           \
        g->policy.field = to;                                                                      \
        assert_string_not_equal(print(f, g), before);                                              \
        g->policy = kept;                                                                          \
    } while (0)
    CHANGES(mesh.n, 1);
    CHANGES(mesh.axis[1].role, AXIS_rep);
    CHANGES(mesh.axis[1].size, 5);
    CHANGES(unit, UNIT_ROOT);
    CHANGES(unit_size, 1);
    CHANGES(unit_leaf.at.n, 1);
    CHANGES(unit_span.col, 17);
#define POLICY(section, field, type, kind, words, default_value, least, most, line)                \
    CHANGES(field, (type)(kept.field == (type)(least) ? (most) : (least)));
#include "policy.def"
#undef POLICY
    assert_string_equal(print(f, g), before);
}

/* ---- size ---- */

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static Graph *build_chain(Fixture *f, uint32_t n) {
    Graph *g = graph_new(f->arena, &f->set);
    g->level = LEVEL_TRAIN;
    Builder b = {.g = g, .program = graph_add_program(g, PROGRAM_TRAIN), .unit = NO_INDEX};
    Type t = type_of(DT_F32, 2, (int64_t[]){4, 8});
    ValueId x = emit_value(&b, OP_fill, &(Attrs){.alpha = 0.5}, 0, NULL, &t), y = x;
    b.path = "h.17.mlp";
    for (uint32_t i = 1; i < n; i++) {
        ValueId z = emit_value(&b, OP_add, NULL, 2, (ValueId[]){x, y}, NULL);
        y = x;
        x = z;
    }
    return g;
}

TEST_WITH(a_hundred_thousand_ops_take_no_time, set_up, tear_down) {
    Fixture *f = *state;
    enum { OPS = 100000 };
    const Graph *g = build_chain(f, OPS);
    double start = seconds();
    char *text = print(f, g);
    const Graph *copy = parse(f, text);
    assert_int_equal(graph_verify(copy), 0);
    double taken = seconds() - start;
    assert_int_equal(copy->ops.n, OPS);
    assert_string_equal(print(f, copy), text);
    print_message("%u ops, %zu bytes: %.3f s\n", (unsigned)OPS, strlen(text), taken);
    assert_true(taken < 20); /* about 0.15 s; anything quadratic takes minutes */
}

/* ---- rules ---- */

TEST_WITH(an_op_stands_in_the_programs_once, set_up, tear_down) {
    Fixture *f = *state;
    Graph *g = build_chain(f, 3);
    assert_int_equal(graph_verify(g), 0);
    vec_push(g->arena, &g->programs.at[0].ops, 1);
    assert_int_equal(graph_verify(g), 1);
    buf_write(&f->messages, "", 1);
    assert_non_null(
        strstr(f->messages.at, "graph-9: #1 add of h.17.mlp: is in the programs twice"));
    g->programs.at[0].ops.n--;
    g->values.at[1].def = 2;
    f->messages.n = 0;
    assert_int_equal(graph_verify(g), 1);
    buf_write(&f->messages, "", 1);
    assert_non_null(strstr(f->messages.at, "graph-9: op 1 does not own its results"));
}

/* It reads: what a pass finds in an op does not depend on whether that was verified. */
TEST_WITH(the_verifier_changes_nothing, set_up, tear_down) {
    Fixture *f = *state;
    const Graph *g = build_chain(f, 20);
    size_t ops = g->ops.n * sizeof *g->ops.at, values = g->values.n * sizeof *g->values.at;
    void *was = malloc(ops + values);
    memcpy(was, g->ops.at, ops);
    memcpy((char *)was + ops, g->values.at, values);
    assert_int_equal(graph_verify(g), 0);
    assert_memory_equal(was, g->ops.at, ops);
    assert_memory_equal((char *)was + ops, g->values.at, values);
    free(was);
}

TEST_WITH(a_result_has_a_type, set_up, tear_down) {
    Fixture *f = *state;
    Graph *g = build_chain(f, 3);
    assert_int_equal(graph_verify(g), 0);
    g->values.at[1].type.dim[0] = -1;
    assert_int_equal(graph_verify(g), 1);
    buf_write(&f->messages, "", 1);
    assert_non_null(strstr(f->messages.at, "graph-9"));
    assert_non_null(strstr(f->messages.at, "result 0 has no type"));
}

/* Rules without a test of their name do not exist; graph-9 is the one above. */
TEST(every_rule_has_a_test) {
    const char *root = getenv("FSDP_ROOT");
    assert_true(n_verify_rules > 20);
    for (int i = 0; root && i < n_verify_rules; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/tests/ir/%s.t", root, verify_rules[i].id);
        if (strcmp(verify_rules[i].id, "graph-9") && access(path, R_OK))
            fail_msg("there is no %s", path);
    }
}

RUN_TESTS(NULL, NULL)
