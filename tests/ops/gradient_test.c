/* Compares every op's gradient with central differences.
 *
 * Each row of ops.def with a gradient rule has cases (gradient_cases.h). A case is built once for
 * each of its parameters, of which only that one is trainable, and once with all of them trainable.
 * The passes up to pad make the backward; the cpu device's kernels run it, with separate memory for
 * each value and once more in place; and the results are compared, element by element, with central
 * differences of a double-precision forward that shares no code with them (reference.c).
 *
 * The comparison must be sharp: the test demands that a gradient that is 1 % too large, for any one
 * parameter of any one case, fails it. A row without a case fails, too.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops/gradient_cases.h"
#include "test.h"

/* Largest error, as a part of the largest element. f32 kernels stay below TOLERANCE by a factor
 * of more than 20; bf16 values carry 8 bits, a few roundings deep. */
static const double TOLERANCE = 1e-3, TOLERANCE_BF16 = 6e-2;

/* ---- running ---- */

/* One with which no two candidates are as large, and each expert has a row. */
enum { SEED = 6 };

static Kernels kernels;

/* A model of a case with one parameter trainable, or with all; its program is the forward. */
static void build(Model *m, Arena *a, DiagSet *ds, const Case *c, int trainable) {
    *m = (Model){.trainable = trainable, .random = hash_bytes(c->name, strlen(c->name), SEED)};
    diag_init(ds, a);
    m->g = graph_new(a, ds);
    m->g->policy.loss_exponent = LOSS_EXPONENT;
    Module root = {"", "Root", NO_INDEX, {0}};
    vec_push(a, &m->g->modules, root);
    uint32_t program = graph_add_program(m->g, PROGRAM_TRAIN);
    m->b = (Builder){.g = m->g, .program = program, .path = "", .unit = NO_INDEX};
    int32_t step =
        graph_add_state(m->g, STATE_STEP, "step", type_of(DT_F64, DIMS(STEP_SLOTS)), NO_INDEX);
    graph_add_state(m->g, STATE_STAGING, "staging", type_of(DT_U8, DIMS(2, 1 << 16)), NO_INDEX);
    graph_add_state(m->g, STATE_METRIC, "loss", type_of(DT_I64, DIMS(EXACT_WORDS)), NO_INDEX);
    m->step = emit_value(&m->b, OP_state, &(Attrs){.index = step}, 0, NULL, NULL);
    c->build(m);
}

/* The largest error relative to the largest expected element. */
static double error_of(const double *right, const double *found, int64_t n) {
    double error = 0, top = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(found[i])) return INFINITY;
        error = fmax(error, fabs(found[i] - right[i]));
        top = fmax(top, fabs(right[i]));
    }
    return top > 1e-3 ? error / top : INFINITY;
}

/* What pass grad and the kernels say, by parameter; NaN where nothing was said. */
static void computed_gradients(const Model *m, bool in_place, double **gradient) {
    for (uint32_t k = 0; k < m->g->params.n; k++)
        for (int64_t i = 0; i < type_elements(&m->g->params.at[k].type); i++) gradient[k][i] = NAN;
    KernelData data = {m->params, m->fields, in_place, gradient};
    kernels_run(&kernels, m->g, &data);
}

/* Central differences of a case by a parameter. They depend neither on the kernels nor on which
 * parameters are trained, so they are made once. */
static const double *right_gradient(const Model *m, const Case *c, uint32_t k) {
    static double *made[MOST_CASES][MAX_PARAMS];
    double **right = &made[c - cases][k];
    if (*right) return *right;
    int64_t n = type_elements(&m->g->params.at[k].type);
    *right = calloc((size_t)n, sizeof **right);
    assert_non_null(*right);
    ReferenceData data = {(double **)m->params, (double **)m->fields, kernels_dropout, &kernels};
    reference_gradient(m->g, &data, k, *right);
    for (int64_t i = 0; i < n; i++) (*right)[i] = ldexp((*right)[i], LOSS_EXPONENT);
    return *right;
}

static void check_param(const Model *m, const Case *c, uint32_t k, const double *found,
                        const double *in_place, double tolerance) {
    int64_t n = type_elements(&m->g->params.at[k].type);
    if (m->g->params.at[k].frozen) {
        assert_true(isnan(found[0]));
        return;
    }
    if (memcmp(found, in_place, sizeof(double) * (size_t)n) != 0)
        fail_msg("%s (%s), parameter %u: other bits in place", c->name, op_info[c->op].name, k);
    double wrong[MAX_ELEMENTS];
    const double *right = right_gradient(m, c, k);
    double error = error_of(right, found, n);
    if (!(error < tolerance))
        fail_msg("%s (%s), parameter %u: error %.2g of the largest element", c->name,
                 op_info[c->op].name, k, error);
    for (int64_t i = 0; i < n; i++) wrong[i] = found[i] * 1.01;
    if (tolerance == TOLERANCE && error_of(right, wrong, n) < tolerance)
        fail_msg("%s (%s), parameter %u: a factor of 1.01 is not noticed", c->name,
                 op_info[c->op].name, k);
}

/* Returns the number of parameters of the case that can be trained. */
static int run_case(const Case *c, int trainable, int dtype) {
    Arena *a = arena_new();
    DiagSet ds;
    Model m;
    double *gradient[2][MAX_PARAMS];
    build(&m, a, &ds, c, trainable);
    assert_true(m.used[c->op] || c->op == OP_param);
    ReferenceData data = {m.params, m.fields, kernels_dropout, &kernels};
    double unfused = reference_loss(m.g, &data);
    assert_true(pass_fuse_packed_attention(m.g) && pass_fuse_gelu(m.g));
    assert_true(fabs(reference_loss(m.g, &data) - unfused) < 1e-9);
    assert_true(pass_grad(m.g) && pass_fuse_backward(m.g));
    m.g->policy.compute_dtype = dtype;
    assert_true(pass_precision(m.g));
    assert_true(pass_pad(m.g));
    int n = 0;
    for (int way = 0; way < 2; way++) {
        for (uint32_t k = 0; k < m.g->params.n; k++)
            gradient[way][k] = arena_array(a, double, MAX_ELEMENTS);
        computed_gradients(&m, way == 1, gradient[way]);
    }
    for (uint32_t k = 0; k < m.g->params.n; k++) {
        check_param(&m, c, k, gradient[0][k], gradient[1][k],
                    dtype == DT_F32 ? TOLERANCE : TOLERANCE_BF16);
        n += !m.g->params.at[k].frozen;
    }
    arena_free(a);
    return n;
}

static void all_cases_in_f32(void) {
    for (size_t i = 0; i < n_cases; i++) {
        assert_true(run_case(&cases[i], NO_INDEX, DT_F32) > 0);
        for (int k = 0; k < MAX_PARAMS; k++) {
            Arena *a = arena_new();
            DiagSet ds;
            Model m;
            build(&m, a, &ds, &cases[i], k);
            bool exists = k < (int)m.g->params.n && !m.g->params.at[k].frozen;
            arena_free(a);
            if (exists) assert_int_equal(run_case(&cases[i], k, DT_F32), 1);
        }
    }
}

static void all_cases_in_bf16(void) {
    for (size_t i = 0; i < n_cases; i++) run_case(&cases[i], NO_INDEX, DT_BF16);
}

/* Table rows: those with a gradient rule have a case, and the reference knows them. */
TEST(every_row_has_a_case) {
    static const char *const rule[OP_COUNT] = {
#define OP(id, ...) [OP_##id] = __VA_ARGS__,
#define GRAD(text) text
#include "ops.def"
    };
    for (int op = 0; op < OP_COUNT; op++) {
        if (!*rule[op]) continue;
        bool found = false;
        for (size_t i = 0; i < n_cases; i++) found |= (int)cases[i].op == op;
        if (!found) fail_msg("op %s has a gradient rule and no case", op_info[op].name);
        assert_true(reference_has((OpKind)op));
    }
}

/* The kernels of one choice; where the machine lacks them there is nothing to test. */
typedef struct Choice {
    const char *isa, *matmul;
} Choice;

static const Choice choices[] = {
    {NULL, NULL}, {"plain", "plain"}, {"avx2", "plain"}, {"avx512", "plain"}, {NULL, "onednn"}};

static void each_choice(void (*test)(void)) {
    for (size_t i = 0; i < ARRAY_LEN(choices); i++) {
        if (!kernels_open(&kernels, choices[i].isa, choices[i].matmul)) continue;
        test();
        kernels_close(&kernels);
    }
}

TEST(gradients_agree_with_differences) { each_choice(all_cases_in_f32); }

TEST(bf16_gradients_are_near) { each_choice(all_cases_in_bf16); }

RUN_TESTS(NULL, NULL)
