/* Muon: muon_momentum and muon, as runtime/devices/cpu/optimizers/muon.c describes them.
 * The products are cuBLASLt's; like all that is launched they run whatever the step's scale says,
 * and only the last kernel asks whether the step counts.
 *
 * A product of f32 matrices is three of bf16: with x = high + low, both bf16, a b = low high + high
 * low + high high, added up in f32. Five steps of 768 x 768 random numbers are then 3e-5 from those
 * in f64 (norm of the difference by that of the result); with f32 products they are 2e-6, with TF32
 * 2e-3, with bf16 alone 1e-2, too far for losses as on the CPU. A GPU multiplies bf16 about 15
 * times as fast as f32. Where rows or columns are not multiples of 8, the product is one of f32.
 */
#include "exact.h"
#include "muon.h"

extern "C" {
#include "products.h"
}

enum { THREADS = 256, MOST_BLOCKS = 132 * 8 };

static unsigned some_blocks(int64_t n) {
    return MIN(blocks_for(n, THREADS * EIGHT), (unsigned)MOST_BLOCKS);
}

/* Are n elements from number i on, eight at most, one after the other in the matrix? */
DEVICE bool is_run(const MuonElements &of, int64_t i, int64_t n) {
    return !muon_pads(&of, i) && muon_run(&of, i) >= (n < EIGHT ? n : EIGHT);
}

/* ---- muon_momentum */

struct Momentum {
    Result out;
    Operand m, g;
    float *u; /* of the matrix */
    const double *scale;
    MuonElements of;
    int64_t first, to; /* elements of the operands */
    int64_t from, end; /* of these, u is written for [from, end) */
    float clip_value, momentum;
    bool nesterov;
};

/* torch.lerp */
DEVICE float lerp(float a, float b, float weight) {
    return weight < 0.5f ? a + weight * (b - a) : b - (b - a) * (1.0f - weight);
}

__global__ void __launch_bounds__(THREADS) move_momentum(Momentum s) {
    begin_kernel();
    bool applies = s.scale[SCALE_APPLY] != 0.0;
    float factor = (float)s.scale[SCALE_GRADIENT];
    EACH_EIGHT(e, s.to - s.first) {
        int64_t at = s.first + e, n = s.to - at;
        int64_t element = muon_element(&s.of, e);
        bool run = is_run(s.of, e, n);
        Eight m = load8(s.m, at, n), g = load8(s.g, at, n);
        EACH(j) {
            float x = clipped(g.x[j] * factor, s.clip_value);
            if (applies) m.x[j] = lerp(m.x[j], x, 1.0f - s.momentum);
            float u = s.nesterov ? lerp(x, m.x[j], s.momentum) : m.x[j];
            bool mine = j < n && at + j >= s.from && at + j < s.end;
            if (mine && applies && (run || !muon_pads(&s.of, e + j)))
                s.u[run ? element + j : muon_element(&s.of, e + j)] = u + 0.0f;
        }
        store8(s.out, at, n, m);
    }
}

/* (m, g, scale) -> m, u */
KERNEL(muon_momentum) {
    Operand m = input(l, 0);
    Result u = output(l, 1);
    const PlanGroup *group = group_of(l);
    int64_t from = 0, end = m.n;
    if (group && group->split)
        rank_own_part(l->call->rank, group, mesh_sample_axes(&l->call->rank->mesh), m.n, &from,
                      &end);
    const Attrs *a = l->call->attr;
    int code = launch_set(l, u.at, 0, u.n * 4);
    if (!code) code = launch_keep(l, 0, 0); /* padding too */
    MuonPart q = {};
    for (uint32_t k = 0; !code && muon_next_part(l->call, group, k, m.n, &q); k++) {
        if (q.n <= 0) continue;
        Momentum s = {output(l, 0),
                      m,
                      input(l, 1),
                      (float *)u.at + q.in_u,
                      (const double *)l->call->in[2],
                      q.of,
                      q.at,
                      q.at + q.n,
                      from,
                      end,
                      (float)a->clip_value,
                      (float)a->momentum,
                      a->nesterov != 0};
        code = LAUNCH(l, move_momentum, some_blocks(s.to - s.first), THREADS, 0, s);
    }
    return code;
}

/* ---- muon */

__global__ void __launch_bounds__(THREADS) square_sum(int64_t *result, const float *u, int64_t n) {
    begin_kernel();
    __shared__ int64_t words[EXACT_WORDS];
    begin_words(words);
    EACH_EIGHT_OF_WARPS(i, 0, n, blockIdx.x, gridDim.x)
    exact_add<EIGHT>(words, load8(u, DT_F32, i, n - i).x, true);
    end_words(result, words);
}

/* A matrix as the sum of two of bf16; NULL where its products are in f32. */
struct Split {
    uint16_t *high, *low;
};
DEVICE void store_split(const Split &s, int64_t at, int64_t n, const Eight &v) {
    if (!s.high) return;
    Eight low;
    EACH(j) low.x[j] = v.x[j] - as_stored(v.x[j], DT_BF16);
    store8(s.high, DT_BF16, at, n, v);
    store8(s.low, DT_BF16, at, n, low);
}
__global__ void __launch_bounds__(THREADS) split_matrix(Split to, const float *x, int64_t n) {
    begin_kernel();
    EACH_EIGHT(at, n) store_split(to, at, n - at, load8(x, DT_F32, at, n - at));
}

/* x = u / max(|u|, 1e-7) */
__global__ void __launch_bounds__(THREADS)
    normalize(float *x, Split split, const float *u, const int64_t *words, int64_t n) {
    begin_kernel();
    double norm = words[EXACT_NONFINITE] ? __longlong_as_double(0x7ff8000000000000ll)
                                         : sqrt(exact_value(words));
    float over = (float)(norm < MUON_LEAST_NORM ? MUON_LEAST_NORM : norm);
    EACH_EIGHT(at, n) {
        Eight v = load8(u, DT_F32, at, n - at);
        EACH(j) v.x[j] = v.x[j] / over;
        store8(x, DT_F32, at, n - at, v);
        store_split(split, at, n - at, v);
    }
}

/* to = f x + h y; to may be y */
__global__ void __launch_bounds__(THREADS)
    combine_matrices(float *to, Split split, float f, const float *x, float h, const float *y,
                     int64_t n) {
    begin_kernel();
    EACH_EIGHT(at, n) {
        Eight a = load8(x, DT_F32, at, n - at), b = load8(y, DT_F32, at, n - at);
        EACH(j) b.x[j] = f * a.x[j] + h * b.x[j];
        store8(to, DT_F32, at, n - at, b);
        store_split(split, at, n - at, b);
    }
}

/* Elements of the matrix x that are elements [at, end) of the operands. */
struct Moved {
    Result to;
    Operand p;
    const float *x;
    const double *scale, *step;
    MuonElements of;
    int64_t at, end;
    double lr_factor, decay, ratio;
};

__global__ void __launch_bounds__(THREADS) move_matrix(Moved q) {
    begin_kernel();
    if (q.scale[SCALE_APPLY] == 0.0) return;
    double lr = q.step[STEP_LR] * q.lr_factor;
    float keep = (float)(1.0 - lr * q.decay), by = (float)(lr * q.ratio);
    EACH_EIGHT(i, q.end - q.at) {
        int64_t at = q.at + i, n = q.end - at;
        Eight p = load8(q.p, at, n), x;
        if (is_run(q.of, i, n))
            x = load8(q.x, DT_F32, muon_element(&q.of, i), n);
        else
            EACH(j) {
                bool reads = j < n && !muon_pads(&q.of, i + j);
                x.x[j] = reads ? q.x[muon_element(&q.of, i + j)] : 0.0f;
            }
        EACH(j) p.x[j] = p.x[j] * keep - by * x.x[j];
        store8(q.to, at, n, p);
    }
}

struct Factor {
    float *all;
    Split split;
};
struct Matrix {
    int64_t rows, columns, least;
    Factor x, gram, poly; /* [rows, columns]; [least, least], whose splits are one memory */
    float *next;          /* [rows, columns] */
};

static int multiply_matrices(const Launch *l, ProductShape s, const Factor &a, const Factor &b,
                             float *d) {
    const void *const pairs[][2] = {{a.split.low, b.split.high},
                                    {a.split.high, b.split.low},
                                    {a.split.high, b.split.high},
                                    {a.all, b.all}};
    bool split = a.split.high != NULL;
    int code = 0, from = split ? 0 : 3;
    s.dtype = split ? DT_BF16 : DT_F32;
    s.out_dtype = DT_F32;
    for (int k = from; !code && k < (split ? 3 : 4); k++) {
        ProductOperands o = {};
        o.a = pairs[k][0];
        o.b = pairs[k][1];
        o.d = d;
        s.accumulate = k > from;
        if (s.accumulate) o.c = d;
        code = product_run(l, &s, &o, l->call->workspace, PRODUCT_WORKSPACE);
    }
    return code;
}

static ProductShape shape_of(int64_t m, int64_t n, int64_t k, int a_turned, int b_turned,
                             int64_t lda, int64_t ldb, int64_t ldc) {
    ProductShape s = product_shape(m, n, k, a_turned, b_turned);
    s.lda = lda, s.ldb = ldb, s.ldc = ldc;
    return s;
}

/* One step of the iteration; X is then in a.x again. Counted by columns, X is [columns, rows]. */
static int iterate_once(const Launch *l, Matrix &a) {
    int64_t r = a.rows, c = a.columns, n = a.least;
    bool wide = r <= c;
    ProductShape gram = wide ? shape_of(r, r, c, 1, 0, c, c, r) : shape_of(c, c, r, 0, 1, c, c, c);
    ProductShape last = wide ? shape_of(c, r, r, 0, 0, c, r, c) : shape_of(c, r, c, 0, 0, c, c, c);
    int code = multiply_matrices(l, gram, a.x, a.x, a.gram.all);
    if (!code && a.gram.split.high)
        code = LAUNCH(l, split_matrix, some_blocks(n * n), THREADS, 0, a.gram.split, a.gram.all,
                      n * n);
    if (!code)
        code = multiply_matrices(l, shape_of(n, n, n, 0, 0, n, n, n), a.gram, a.gram, a.poly.all);
    if (!code)
        code = LAUNCH(l, combine_matrices, some_blocks(n * n), THREADS, 0, a.poly.all, a.poly.split,
                      MUON_B, a.gram.all, MUON_C, a.poly.all, n * n);
    if (!code) code = multiply_matrices(l, last, wide ? a.x : a.poly, wide ? a.poly : a.x, a.next);
    if (!code)
        code = LAUNCH(l, combine_matrices, some_blocks(r * c), THREADS, 0, a.next, a.x.split,
                      MUON_A, a.x.all, 1.0f, a.next, r * c);
    float *x = a.x.all;
    a.x.all = a.next;
    a.next = x;
    return code;
}

/* Two halves of n numbers, from the workspace after that of products. */
static Split take_split(ProductScratch *s, int64_t n) {
    uint16_t *high = (uint16_t *)take_floats(s, muon_part(n));
    return {high, high + muon_part(n)};
}
static void take_splits(const Launch *l, Matrix &a) {
    if (a.rows % EIGHT != 0 || a.columns % EIGHT != 0) return;
    ProductScratch s = {(char *)l->call->workspace + PRODUCT_WORKSPACE,
                        l->call->workspace_bytes - PRODUCT_WORKSPACE};
    a.x.split = take_split(&s, a.rows * a.columns);
    a.gram.split = a.poly.split = take_split(&s, a.least * a.least);
}

/* a.x: u made orthogonal; work: muon_work words. */
static int orthogonalize_matrix(const Launch *l, Matrix &a, const float *u, float *work) {
    int64_t n = a.rows * a.columns;
    int64_t *words = (int64_t *)work;
    a.least = MIN(a.rows, a.columns);
    a.x.all = work + muon_part(2 * EXACT_WORDS);
    a.next = a.x.all + muon_part(n);
    a.gram.all = a.next + muon_part(n);
    a.poly.all = a.gram.all + muon_part(a.least * a.least);
    take_splits(l, a);
    int code = launch_set(l, words, 0, EXACT_WORDS * 8);
    if (!code) code = LAUNCH(l, square_sum, some_blocks(n), THREADS, 0, words, u, n);
    if (!code)
        code = LAUNCH(l, normalize, some_blocks(n), THREADS, 0, a.x.all, a.x.split, u, words, n);
    for (int64_t k = 0; !code && k < l->call->attr->steps; k++) code = iterate_once(l, a);
    return code;
}

static int move_part(const Launch *l, const MuonPart &part) {
    const void *const *in = l->call->in;
    if (part.n <= 0) return 0;
    Matrix a = {};
    a.rows = part.type.dim[0];
    a.columns = part.type.dim[1];
    int code =
        orthogonalize_matrix(l, a, (const float *)in[1] + part.in_u, (float *)l->call->out[1]);
    if (code) return code;
    Moved q = {output(l, 0),
               input(l, 0),
               a.x.all,
               (const double *)in[2],
               (const double *)in[3],
               part.of,
               part.at,
               part.at + part.n,
               part.lr_factor,
               part.decay,
               muon_rate(l->call->attr->rate, a.rows, a.columns)};
    return LAUNCH(l, move_matrix, some_blocks(part.n), THREADS, 0, q);
}

/* (p, u, scale, step) -> p, work */
KERNEL(muon) {
    const PlanGroup *group = group_of(l);
    int code = launch_keep(l, 0, 0);
    MuonPart q = {};
    for (uint32_t k = 0; !code && muon_next_part(l->call, group, k, input(l, 0).n, &q); k++)
        code = move_part(l, q);
    return code;
}
