/* Numbers that break kernels first: ties, infinities and nans, sums whose order shows, means far
 * from zero. Expected values follow only from the definitions. Each instruction set is tried.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "floats.h"
#include "kernels/launch.h"
#include "quantized.h"
#include "test.h"

static const Attrs none;

/* Element i of an f32 tensor. */
static float at(Tensor t, int64_t i) { return ((const float *)t.at)[i]; }

TEST(the_first_of_equal_logits_is_the_answer) {
    static const float logits[] = {1, 1, 0, 0, 2, 2, NAN, 5, 0, -INFINITY, -INFINITY, -INFINITY};
    static const int32_t targets[] = {0, 2, 1, 0}; /* right, wrong, a nan is wrong, right */
    Tensor found = words();
    run(OP_accuracy, (Attrs){.ignore = -100, .k = 1}, 2,
        LIST(tensor_of(4, 3, logits), ids_of(4, targets)), 1, &found);
    assert_true(words_value(found) == 2);
    assert_int_equal(((int64_t *)found.at)[EXACT_COUNT], 4);
}

static Tensor one(int64_t count) {
    Tensor t = words();
    int bin = (1 - EXACT_LOWEST_EXPONENT) / EXACT_BIN_BITS;
    int64_t *word = t.at;
    word[bin] = (int64_t)1 << -(EXACT_BIN_BITS * bin + EXACT_LOWEST_EXPONENT);
    word[EXACT_COUNT] = count;
    assert_true(words_value(t) == 1);
    return t;
}

/* PyTorch: max_norm / (norm + 1e-6), at most 1. A norm of 2^-20 shows the 1e-6. */
TEST(clipping_adds_its_epsilon) {
    double norm = 0x1p-20;
    Tensor scale = tensor(DT_F64, 0, SCALE_SLOTS), step = tensor(DT_F64, 0, STEP_SLOTS);
    run(OP_step_scale, (Attrs){.clip = norm, .exponent = 20}, 3, LIST(one(1), one(0), step), 1,
        &scale);
    const double *got = scale.at;
    assert_true(fabs(got[SCALE_NORM] - norm) < 1e-18);
    assert_true(fabs(got[SCALE_GRADIENT] / (norm * (norm / (norm + 1e-6))) - 1) < 1e-12);
}

/* A nan is larger than infinity, which is larger than any number: neither is lost, whatever comes
 * after it. */
TEST(the_largest_gradient_may_be_none) {
    static const float x[][3] = {{-4, 3, 0}, {INFINITY, 1, -2}, {1, -NAN, INFINITY}, {0, -0.0f, 0}};
    static const double norm[] = {4, NAN, NAN, 0}; /* in the log what is not finite is a nan */
    const Attrs inf = {.group = -1, .clip_norm = NORM_INF, .clip = 1};
    for (int k = 0; k < 4; k++) {
        Tensor largest = ids_of(1, (int32_t[]){-1}), scale = tensor(DT_F64, 0, SCALE_SLOTS);
        Tensor step = tensor(DT_F64, 0, STEP_SLOTS), all = ids_of(1, (int32_t[]){-1});
        run(OP_grad_norm, inf, 1, LIST(tensor_of(3, 0, x[k])), 1, &largest);
        run(OP_metric_add, none, 2, LIST(largest, ids_of(1, (int32_t[]){1})), 1, &all);
        run(OP_step_scale, inf, 3, LIST(one(1), all, step), 1, &scale);
        const double *got = scale.at;
        assert_true(got[SCALE_NORM] == norm[k] || (isnan(norm[k]) && isnan(got[SCALE_NORM])) ||
                    (norm[k] == 0 && got[SCALE_NORM] < 1e-44));
        assert_true(got[SCALE_FINITE] == !isnan(norm[k]));
        if (k == 0) assert_true(got[SCALE_GRADIENT] == 1 / (4 + 1e-6));
    }
}

TEST(a_sum_of_exponentials_may_be_infinite) {
    const float inf = INFINITY;
    const float x[][3] = {{inf, 1, inf}, {-inf, -inf, -inf}, {inf, NAN, 0}, {-inf, NAN, -inf}};
    for (int k = 0; k < 4; k++) {
        Tensor sum = tensor(DT_F32, 0, 1);
        run(OP_logsumexp, none, 1, LIST(tensor_of(3, 0, x[k])), 1, &sum);
        float got = *(const float *)sum.at;
        assert_true(k < 2 ? got == x[k][0] : isnan(got));
    }
}

/* The angle of position 131071 is as right as that of position 1. */
TEST(positions_far_away_turn_exactly) {
    enum { T = 1 << 17, h = 6 };
    float *x = malloc(sizeof(float[T * h]));
    for (int i = 0; i < T * h; i++) x[i] = i % h < h / 2;
    Tensor in = {.type = {.dtype = DT_F32, .rank = 4, .dim = {1, T, 1, h}}, .at = x};
    Tensor y = tensor(DT_F32, T, h);
    y.type = in.type;
    run(OP_rope, (Attrs){.base = 5e5, .factor = 1}, 1, &in, 1, &y);
    for (int t = 0; t < T; t += 89)
        for (int i = 0; i < h / 2; i++) {
            long double angle = t * powl(5e5L, -2.0L * i / h);
            assert_true(fabsl(cosl(angle) - at(y, t * h + i)) < 4e-8L);
            assert_true(fabsl(sinl(angle) - at(y, t * h + h / 2 + i)) < 4e-8L);
        }
    free(x);
}

/* What this call's gradient is added to is of earlier micro-batches: the bits of op and accumulate,
 * also of results that are added in strips. */
TEST(earlier_micro_batches_are_added_to_the_rounded_sum) {
    enum { ROWS = 77 };
    static const int dtypes[][2] = {{DT_F32, DT_F32}, {DT_BF16, DT_F32}, {DT_BF16, DT_BF16}};
    static const int64_t sizes[][2] = {{1100, 605}, {17, 5003}, {5, 3}};
    for (int k = 0; k < 9; k++) {
        int in = dtypes[k % 3][0], out = dtypes[k % 3][1];
        int64_t o = sizes[k / 3][0], d = sizes[k / 3][1];
        Tensor dy = tensor(in, ROWS, o), x = tensor(in, ROWS, d), sum = tensor(out, o, d);
        Tensor dw = tensor(out, o, d), want = tensor(out, o, d), got = tensor(out, o, d);
        run(OP_linear_grad_weight, none, 2, LIST(dy, x), 1, &dw);
        run(OP_accumulate, none, 2, LIST(sum, dw), 1, &want);
        run(OP_linear_grad_weight, (Attrs){.earlier = true}, 3, LIST(dy, x, sum), 1, &got);
        assert_memory_equal(got.at, want.at, (size_t)type_bytes(&want.type));
    }
}

TEST(earlier_rows_are_added_to_the_rounded_sum) {
    for (int k = 0; k < 2; k++) {
        int dtype = k ? DT_BF16 : DT_F32;
        Tensor dy = tensor(dtype, 40, 19), ids = tensor(DT_I32, 40, 0), sum = tensor(dtype, 6, 19);
        Tensor dw = tensor(dtype, 6, 19), want = tensor(dtype, 6, 19), got = tensor(dtype, 6, 19);
        run(OP_embedding_grad, none, 2, LIST(dy, ids), 1, &dw);
        run(OP_accumulate, none, 2, LIST(sum, dw), 1, &want);
        run(OP_embedding_grad, (Attrs){.earlier = true}, 3, LIST(dy, ids, sum), 1, &got);
        assert_memory_equal(got.at, want.at, (size_t)type_bytes(&want.type));
    }
}

/* ((1 + 1e8) - 1e8) + 3 in f32; from the other end it is 1. */
TEST(gradients_of_equal_ids_are_added_in_order) {
    static const int32_t ids[] = {4, 2, 4, 0, 4, 4};
    static const float dy[] = {1, 7, 1e8f, 9, -1e8f, 3};
    Tensor dw = tensor(DT_F32, 5, 1);
    run(OP_embedding_grad, none, 2, LIST(tensor_of(6, 1, dy), ids_of(6, ids)), 1, &dw);
    static const float want[] = {9, 0, 7, 0, 3};
    assert_memory_equal(dw.at, want, sizeof want);
}

enum { N = 1000 };

TEST(dropped_infinities_are_zero) {
    float x[N];
    int zeros = 0, kept = 0;
    for (int i = 0; i < N; i++) x[i] = i % 3 ? INFINITY : NAN;
    Tensor y = tensor(DT_F32, 1, N), step = tensor(DT_F64, 0, STEP_SLOTS);
    run(OP_dropout, (Attrs){.p = 0.5}, 2, LIST(tensor_of(1, N, x), step), 1, &y);
    for (int i = 0; i < N; i++) {
        bool zero = at(y, i) == 0;
        assert_true(zero || (i % 3 ? isinf(at(y, i)) : isnan(at(y, i))));
        zeros += zero;
        kept += !zero;
    }
    assert_true(zeros > N / 3 && kept > N / 3);
}

TEST(a_nan_passes_relu) {
    float x[N];
    for (int i = 0; i < N; i++) x[i] = i % 7 == 3 ? NAN : i % 2 ? -2 : 5;
    Tensor y = tensor(DT_F32, 1, N);
    run(OP_relu, none, 1, LIST(tensor_of(1, N, x)), 1, &y);
    for (int i = 0; i < N; i++)
        assert_true(i % 7 == 3 ? isnan(at(y, i)) : at(y, i) == (i % 2 ? 0 : 5));
}

/* -0 and 0 in the same lane of different vectors, and nothing larger. */
TEST(of_equal_zeros_the_first_is_the_extreme) {
    enum { D = 200, FIRST = 5 * 16 + 3, SECOND = 8 * 16 + 3 };
    static const OpKind kinds[] = {OP_max, OP_min};
    for (int k = 0; k < 4; k++) {
        float x[D], zero = k < 2 ? -0.0f : 0.0f;
        for (int i = 0; i < D; i++) x[i] = k % 2 ? 1.0f : -1.0f;
        x[FIRST] = zero;
        x[SECOND] = -zero;
        Tensor y = tensor(DT_F32, 1, 1);
        run(kinds[k % 2], (Attrs){.axis = 1}, 1, LIST(tensor_of(1, D, x)), 1, &y);
        assert_true(at(y, 0) == 0 && !signbit(at(y, 0)) == !signbit(zero));
    }
}

/* Wherever the largest of a long row stands. */
TEST(the_extreme_of_a_long_row_is_found) {
    for (int n = 127; n < 160; n++)
        for (int place = 0; place < n; place++) {
            float x[160];
            for (int i = 0; i < n; i++) x[i] = (float)(-2 - i % 3);
            x[place] = -1;
            Tensor y = tensor(DT_F32, 1, 1);
            run(OP_max, (Attrs){.axis = 1}, 1, LIST(tensor_of(1, n, x)), 1, &y);
            assert_true(at(y, 0) == -1);
        }
}

/* In rows of 35 numbers, wherever the nan stands; rows without one have their largest number. */
TEST(a_nan_is_the_extreme_of_its_row) {
    enum { ROWS = 36, WIDTH = 35 };
    float x[ROWS * WIDTH];
    for (int i = 0; i < ROWS * WIDTH; i++)
        x[i] = i % (WIDTH + 1) ? (float)(i % WIDTH) - 40 : NAN; /* the nan of row r: place r */
    Tensor rows = tensor_of(ROWS, WIDTH, x), y = tensor(DT_F32, ROWS, 1);
    rows.type.rank = y.type.rank = 3;
    rows.type.dim[2] = y.type.dim[2] = 1;
    run(OP_max, none, 1, LIST(rows), 1, &y);
    for (int r = 0; r < ROWS; r++) assert_true(r < WIDTH ? isnan(at(y, r)) : at(y, r) == -6);
}

/* Rows of that dtype in which place r of row r holds `odd`, the others `rest`; the last row has
 * none.
 */
enum { LONG = 330, LONG_ROWS = LONG + 1 };

static Tensor long_rows(int dtype, float odd, float rest) {
    Tensor wide = tensor(DT_F32, LONG_ROWS, LONG), x = tensor(dtype, LONG_ROWS, LONG);
    float *to = wide.at;
    for (int i = 0; i < LONG_ROWS * LONG; i++)
        to[i] = i % (LONG + 1) ? rest : i % 2 ? odd : copysignf(odd, -1);
    run(OP_cast, none, 1, &wide, 1, &x);
    return x;
}

static const int dtypes[] = {DT_F32, DT_BF16, DT_F16};

TEST(a_nan_anywhere_in_its_row_is_the_loss) {
    Tensor ids = tensor(DT_I32, LONG_ROWS, 0), lse = tensor(DT_F32, LONG_ROWS, 0);
    for (size_t k = 0; k < ARRAY_LEN(dtypes); k++) {
        Tensor x = long_rows(dtypes[k], NAN, -3), y = tensor(DT_F32, LONG_ROWS, LONG);
        run(OP_cross_entropy, (Attrs){.ignore = -100}, 2, LIST(x, ids), 2, LIST(words(), lse));
        run(OP_softmax, none, 1, &x, 1, &y);
        for (int r = 0; r < LONG; r++)
            for (int i = 0; i < LONG; i++)
                assert_true(isnan(at(lse, r)) && isnan(at(y, r * LONG + i)));
        assert_true(fabs((double)at(lse, LONG) - (log(LONG) - 3)) < 1e-6);
        assert_true(fabs((double)at(y, LONG * LONG) * LONG - 1) < 1e-6);
    }
}

TEST(numbers_masked_by_infinity_have_no_share) {
    Tensor ids = tensor(DT_I32, LONG_ROWS, 0), lse = tensor(DT_F32, LONG_ROWS, 0);
    for (size_t k = 0; k < ARRAY_LEN(dtypes); k++) {
        Tensor x = long_rows(dtypes[k], 7, -INFINITY), y = tensor(DT_F32, LONG_ROWS, LONG);
        run(OP_cross_entropy, (Attrs){.ignore = -100}, 2, LIST(x, ids), 2, LIST(words(), lse));
        run(OP_softmax, none, 1, &x, 1, &y);
        for (int r = 0; r < LONG; r++) {
            assert_true(fabsf(at(lse, r)) == 7);
            for (int i = 0; i < LONG; i++) assert_true(at(y, r * LONG + i) == (i == r));
        }
        assert_true(isnan(at(lse, LONG)) && isnan(at(y, LONG * LONG)));
    }
}

/* Mean 1000, variance 2^-12: mean of squares less square of the mean has nothing left of it. */
TEST(variance_is_taken_around_the_mean) {
    enum { D = 97 };
    float a[D], b[D], w[D];
    double mean = 0, variance = 0;
    for (int i = 0; i < D; i++) {
        a[i] = 700;
        b[i] = i % 2 ? 300 + 0x1p-6f : 300 - 0x1p-6f;
        w[i] = 1;
        mean += ((double)a[i] + (double)b[i]) / D;
    }
    for (int i = 0; i < D; i++) variance += pow((double)a[i] + (double)b[i] - mean, 2) / D;
    Tensor sum = tensor(DT_F32, 1, D), y[2] = {tensor(DT_F32, 1, D), tensor(DT_F32, 1, D)};
    Tensor m = tensor(DT_F32, 1, 0), rstd[2] = {tensor(DT_F32, 1, 0), tensor(DT_F32, 1, 0)};
    Tensor in[] = {tensor_of(1, D, a), tensor_of(1, D, b), tensor_of(0, D, w)};
    run(OP_add_layer_norm, (Attrs){.eps = 1e-12}, 3, in, 4, LIST(sum, y[0], m, rstd[0]));
    run(OP_layer_norm, (Attrs){.eps = 1e-12}, 2, LIST(sum, in[2]), 3, LIST(y[1], m, rstd[1]));
    for (int k = 0; k < 2; k++) {
        assert_true(fabs((double)at(rstd[k], 0) * sqrt(variance) - 1) < 1e-2);
        for (int i = 0; i < D; i++) assert_true((at(y[k], i) > 0) == (i % 2 == 1));
    }
}

/* Whole numbers, so exact in any order; as deep as several slices of the plain product. */
TEST(deep_products_lose_no_slice) {
    enum { R = 5, O = 35, D = 700 };
    float *x = malloc(sizeof(float[R * D])), *w = malloc(sizeof(float[O * D])), bias[O];
    for (int i = 0; i < R * D; i++) x[i] = (float)(i * 7 % 11 - 5);
    for (int i = 0; i < O * D; i++) w[i] = (float)(i * 5 % 13 - 6);
    for (int o = 0; o < O; o++) bias[o] = (float)(100 * o);
    Tensor y = tensor(DT_F32, R, O);
    Tensor in[] = {tensor_of(R, D, x), tensor_of(O, D, w), tensor_of(0, O, bias)};
    for (int biased = 0; biased < 2; biased++) {
        run(OP_linear, none, 2 + biased, in, 1, &y);
        for (int r = 0; r < R; r++)
            for (int o = 0; o < O; o++) {
                double want = biased ? (double)bias[o] : 0;
                for (int d = 0; d < D; d++) want += (double)x[r * D + d] * (double)w[o * D + d];
                assert_true(at(y, r * O + o) == want);
            }
    }
    free(x);
    free(w);
}

/* Below, at and above a tie, in each of the intervals between bf16 numbers, infinities and nans. */
TEST(a_vector_rounds_to_bf16_as_one_number_does) {
    static const uint32_t lower[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff};
    enum { N = 65536 * ARRAY_LEN(lower) };
    uint32_t *bits = malloc(N * sizeof *bits);
    assert_non_null(bits);
    for (uint32_t i = 0; i < N; i++)
        bits[i] = i / ARRAY_LEN(lower) << 16 | lower[i % ARRAY_LEN(lower)];
    Tensor x = tensor(DT_F32, 0, N), y = tensor(DT_BF16, 0, N), z = tensor(DT_F32, 0, N);
    memcpy(x.at, bits, N * sizeof *bits);
    run(OP_cast, none, 1, &x, 1, &y);
    run(OP_cast, none, 1, &y, 1, &z);
    for (int i = 0; i < N; i++) {
        uint16_t want = f32_to_bf16(at(x, i)), *got = y.at;
        uint32_t *wide = z.at;
        if (got[i] != want || wide[i] != (uint32_t)want << 16)
            fail_msg("%08x becomes %04x, then %08x", bits[i], got[i], wide[i]);
    }
    free(bits);
}

/* What goes past the caches, in rows that begin within a line of 64 bytes. */
enum { FAR_ROWS = 2883, FAR_WIDTH = 3001, FAR = FAR_ROWS * FAR_WIDTH };

TEST(results_larger_than_caches_are_whole) {
    Tensor x = tensor(DT_BF16, FAR_ROWS, FAR_WIDTH), bias = tensor(DT_F32, 0, FAR_WIDTH);
    Tensor wide = tensor(DT_F32, FAR_ROWS, FAR_WIDTH), y = tensor(DT_F32, FAR_ROWS, FAR_WIDTH);
    run(OP_cast, none, 1, &x, 1, &wide);
    run(OP_add, none, 2, LIST(wide, bias), 1, &y);
    for (int64_t i = 0; i < FAR; i++) {
        float value = bf16_to_f32(((const uint16_t *)x.at)[i]);
        if (at(wide, i) != value || at(y, i) != value + at(bias, i % FAR_WIDTH))
            fail_msg("element %lld", (long long)i);
    }
    free(x.at), free(wide.at), free(y.at);
}

TEST(parameters_larger_than_caches_are_whole) {
    PlanParam param = {.type = {.dtype = DT_F32, .rank = 2, .dim = {FAR_ROWS, FAR_WIDTH}}};
    PlanGroup group = {.wire_dtype = DT_I8, .n_param = 1, .padded = FAR, .shard = FAR};
    Plan plan = {.n_params = 1, .params = &param, .n_groups = 1, .groups = &group};
    group.unpadded = FAR;
    plan.n_group_params = 1;
    plan.group_params = &(PlanGroupParam){0};
    launch_plan = &plan;
    int64_t block = quantized_block(DT_I8, FAR);
    Tensor x = tensor(DT_F32, 0, FAR), largest = tensor(DT_I32, 0, quantized_blocks(DT_I8, FAR));
    Tensor sent = tensor(DT_I8, 0, FAR), y = tensor(DT_F32, FAR_ROWS, FAR_WIDTH);
    run(OP_amax, none, 1, &x, 1, &largest);
    run(OP_quantize, none, 2, LIST(x, largest), 1, &sent);
    run(OP_dequantize, none, 2, LIST(sent, largest), 1, &y);
    for (int64_t i = 0; i < FAR; i++) {
        float scale = quantized_scale(INT8_TOP, ((const int32_t *)largest.at)[i / block]);
        if (at(y, i) != (float)((const int8_t *)sent.at)[i] * (1 / scale) ||
            fabsf(at(y, i) - at(x, i)) > 0.501f / scale)
            fail_msg("element %lld", (long long)i);
    }
    launch_plan = NULL;
    free(x.at), free(sent.at), free(y.at);
}

/* ---- dropout of parts */

enum { SIZE_0 = 4, SIZE_1 = 6, SIZE_2 = 24, RANKS = 6 };

static Tensor shaped(const int64_t *dim) {
    Tensor t = tensor(DT_F32, dim[0], dim[1] * dim[2]);
    t.type.rank = 3;
    memcpy(t.type.dim, dim, 3 * sizeof *dim);
    return t;
}

/* Entry i of a dimension of a rank's part, in the whole one: number `number` of `parts`. */
static int64_t entry_of_part(const Placement *p, int dim, int64_t i, int64_t number,
                             int64_t parts) {
    if (!p->cut[dim]) return i;
    int64_t run = (p->size[dim] / p->outer[dim] + parts - 1) / parts; /* of the part */
    return i / run * run * parts + number * run + i % run;
}

/* Every part, of ones, is the part of the whole one that its entries are in; what is padding may be
 * anything. */
static void check_dropped_parts(const Placement *p, const Tensor *whole, const Tensor *step) {
    for (launch_rank = 0; launch_rank < RANKS; launch_rank++) {
        const int64_t size[3] = {SIZE_0, SIZE_1, SIZE_2};
        int64_t dim[3], number[3], parts[3], n = 0;
        for (int k = 0; k < 3; k++) {
            parts[k] = mesh_extent(&launch_mesh, p->cut[k]);
            number[k] = mesh_index(&launch_mesh, launch_rank, p->cut[k]);
            dim[k] = (size[k] + parts[k] - 1) / parts[k];
        }
        Tensor x = shaped(dim), y = shaped(dim);
        for (int64_t i = 0; i < type_elements(&x.type); i++) ((float *)x.at)[i] = 1;
        x.placed = y.placed = p;
        run(OP_dropout, (Attrs){.p = 0.5, .salt = 7}, 2, LIST(x, *step), 1, &y);
        for (int64_t i = 0; i < dim[0]; i++)
            for (int64_t j = 0; j < dim[1]; j++)
                for (int64_t k = 0; k < dim[2]; k++, n++) {
                    int64_t a = entry_of_part(p, 0, i, number[0], parts[0]);
                    int64_t b = entry_of_part(p, 1, j, number[1], parts[1]);
                    int64_t c = entry_of_part(p, 2, k, number[2], parts[2]);
                    if (a >= SIZE_0 || b >= SIZE_1 || c >= SIZE_2) continue;
                    if (at(y, n) != at(*whole, (a * SIZE_1 + b) * SIZE_2 + c))
                        fail_msg("rank %d: element %lld", launch_rank, (long long)n);
                }
        free(x.at), free(y.at);
    }
}

/* Along one dimension, several, in runs, over two axes, and in parts with padding. */
TEST(parts_drop_what_the_whole_value_drops) {
    static const Placement placements[] = {
        {.cut = {1}, .outer = {1}, .size = {SIZE_0}},
        {.cut = {0, 2}, .outer = {0, 1}, .size = {0, SIZE_1}},
        {.cut = {0, 0, 3}, .outer = {0, 0, 1}, .size = {0, 0, SIZE_2}},
        {.cut = {0, 0, 2}, .outer = {0, 0, 4}, .size = {0, 0, SIZE_2}},
        {.cut = {0, 1, 2}, .outer = {0, 3, 2}, .size = {0, SIZE_1, SIZE_2}},
        {.cut = {1, 0, 2}, .outer = {2, 0, 1}, .size = {SIZE_0, 0, SIZE_2}},
        {.cut = {0, 3}, .outer = {0, 1}, .size = {0, SIZE_1}},
        {.cut = {2}, .outer = {1}, .size = {SIZE_0}},
    };
    Tensor step = tensor(DT_F64, 0, STEP_SLOTS), whole, x;
    memset(step.at, 0, (size_t)type_bytes(&step.type));
    ((double *)step.at)[STEP_FIRST_SAMPLE] = 3;
    x = shaped((const int64_t[]){SIZE_0, SIZE_1, SIZE_2});
    whole = shaped((const int64_t[]){SIZE_0, SIZE_1, SIZE_2});
    for (int64_t i = 0; i < type_elements(&x.type); i++) ((float *)x.at)[i] = 1;
    run(OP_dropout, (Attrs){.p = 0.5, .salt = 7}, 2, LIST(x, step), 1, &whole);
    launch_mesh = (Mesh){2, {{AXIS_tp, 2}, {AXIS_twin, 3}}};
    for (size_t k = 0; k < ARRAY_LEN(placements); k++)
        check_dropped_parts(&placements[k], &whole, &step);
    launch_mesh = (Mesh){0};
    launch_rank = 0;
    free(step.at), free(whole.at), free(x.at);
}

int main(void) {
    static const char *const isa[] = {"plain", "avx2", "avx512"}, *const product[] = {"plain",
                                                                                      "onednn"};
    int failed = 0;
    for (size_t k = 0; k < ARRAY_LEN(isa) * ARRAY_LEN(product); k++)
        if (launch_open(isa[k / 2], product[k % 2])) failed += run_all(NULL, NULL);
    launch_close();
    return failed;
}
