/* LayerNorm and RMSNorm backward. R rows of width D; statistics f32[R]. The formulas are those of
 * runtime/devices/cpu/norms/norm.c.
 *
 * The separate gradient ops: a block owns a row, in registers up to a width of NARROW, otherwise
 * read twice; sums over rows as in columns.h.
 *
 * layer_norm_grad and rms_norm_grad: the rows are cut into at most 528 parts, as many as their
 * number and width decide. A block owns a part; `lanes` rows of it are worked on at a time,
 * each by threads that have one eight of its columns (above a width of SUMMED: one row by threads
 * that have two or four). What the rows add to dw and db stays in registers to the end of the part;
 * dy, x and the residual are read once, and the next rows are on their way while the block sums up
 * the ones that it has (LOADS_AHEAD). The lanes' sums are added in order and left in the workspace,
 * f32[parts, 2 D]; add_parts adds the parts. One by one, dw, db and dx: rows wider
 * than IN_REGISTERS (in f32, and of layer_norm: half of that), and those above SUMMED of mixed
 * dtypes or odd width.
 */
#include "columns.h"

/* Parts: at most four blocks for each of 132 multiprocessors, and no more than fit into the
 * registers at the same time, so that none waits for another to end. */
enum { SUMMED = 2048, MOST_BLOCKS = 4, THREADS_THERE = 800, PART_THREADS = 256 };

struct Slope {
    Operand dy, x, w, residual; /* residual.at == NULL: none */
    Result dx;
    const float *means, *rstds; /* means is NULL for rms_norm */
    int64_t width;
};

template <int form> DEVICE float slope_with(const Slope &s, float slope, float residual) {
    int dtype = form == FORM_ANY ? s.dx.dtype : form == FORM_F32 ? DT_F32 : DT_BF16;
    return s.residual.at ? residual + as_stored(slope, dtype) : slope;
}

template <int form> __global__ void __launch_bounds__(MAX_THREADS) slope_narrow(Slope s) {
    begin_kernel();
    __shared__ float scratch[WARP];
    int64_t row = blockIdx.x, i = (int64_t)threadIdx.x * EIGHT, at = row * s.width + i;
    int64_t n = s.width - i;
    float mean = s.means ? s.means[row] : 0.0f, rstd = s.rstds[row], sum_g = 0.0f, sum_gx = 0.0f;
    Eight g = {}, hat = {};
    if (n > 0) {
        Loaded<form> dy = fetch8<form>(s.dy, at, n);
        Loaded<form> x = fetch8<form>(s.x, at, n);
        Eight w = numbers(fetch8<form>(s.w, i, n));
        g = numbers(dy);
        hat = numbers(x);
        EACH(j) {
            g.x[j] *= w.x[j]; /* zeros past the end of the row */
            hat.x[j] = (hat.x[j] - mean) * rstd;
            sum_g += g.x[j];
            sum_gx += g.x[j] * hat.x[j];
        }
    }
    float mean_g = s.means ? block_sum(sum_g, scratch) / (float)s.width : 0.0f;
    float mean_gx = block_sum(sum_gx, scratch) / (float)s.width;
    if (n <= 0) return;
    EACH(j) hat.x[j] = rstd * (g.x[j] - mean_g - hat.x[j] * mean_gx);
    put8<form>(s.dx, at, n, hat);
}

__global__ void __launch_bounds__(MAX_THREADS) slope_wide(Slope s) {
    begin_kernel();
    __shared__ float scratch[WARP];
    int64_t row = blockIdx.x, start = row * s.width, width = s.width;
    float mean = s.means ? s.means[row] : 0.0f, rstd = s.rstds[row], sum_g = 0.0f, sum_gx = 0.0f;
    EACH_EIGHT_OF_ROW(i, width) {
        Eight d = load8(s.dy, start + i, width - i);
        Eight v = load8(s.x, start + i, width - i);
        Eight u = load8(s.w, i, width - i);
        EACH(j) {
            float g = d.x[j] * u.x[j];
            sum_g += g;
            sum_gx += g * ((v.x[j] - mean) * rstd);
        }
    }
    float mean_g = s.means ? block_sum(sum_g, scratch) / (float)width : 0.0f;
    float mean_gx = block_sum(sum_gx, scratch) / (float)width;
    EACH_EIGHT_OF_ROW(i, width) {
        Eight d = load8(s.dy, start + i, width - i);
        Eight v = load8(s.x, start + i, width - i);
        Eight u = load8(s.w, i, width - i), r = {};
        if (s.residual.at) r = load8(s.residual, start + i, width - i);
        EACH(j) {
            float slope = rstd * (d.x[j] * u.x[j] - mean_g - (v.x[j] - mean) * rstd * mean_gx);
            v.x[j] = slope_with<FORM_ANY>(s, slope, r.x[j]);
        }
        store8(s.dx, start + i, width - i, v);
    }
}

/* Operands dy, x, w and result dx, which these ops have in these places; the gradient of w has
 * neither w nor dx. */
static Slope slope_of(const Launch *l, const void *means, const void *rstds) {
    Slope s = {input(l, 0), input(l, 1), input(l, 2)};
    s.dx = output(l, 0);
    s.means = (const float *)means;
    s.rstds = (const float *)rstds;
    s.width = s.x.width;
    return s;
}
static int form_of(const Slope &s) {
    int form = form_with(FORM_NONE, s.dx, s.width);
    for (const Operand &x : {s.dy, s.x, s.w, s.residual}) form = form_with(form, x, s.width);
    return form;
}

static int norm_grad_input(const Launch *l, const void *means, const void *rstds) {
    Slope s = slope_of(l, means, rstds);
    unsigned rows = (unsigned)s.x.rows;
    if (s.width > NARROW) return LAUNCH(l, slope_wide, rows, MAX_THREADS, 0, s);
    return LAUNCH_FORM(l, form_of(s), slope_narrow, rows, row_threads(s.width), 0, s);
}
KERNEL(layer_norm_grad_input) { return norm_grad_input(l, l->call->in[3], l->call->in[4]); }
KERNEL(rms_norm_grad_input) { return norm_grad_input(l, NULL, l->call->in[3]); }

/* ---- weights */

template <int form> struct WeightTerm {
    Operand dy, x;
    const float *mean, *rstd;
    int64_t width;
    DEVICE Eight eight(int64_t row, int64_t column, int64_t n) const {
        int64_t at = row * width + column;
        Loaded<form> first = fetch8<form>(dy, at, n);
        Loaded<form> second = fetch8<form>(x, at, n);
        float m = mean ? mean[row] : 0.0f, s = rstd[row];
        Eight d = numbers(first), v = numbers(second);
        EACH(j) v.x[j] = d.x[j] * ((v.x[j] - m) * s);
        return v;
    }
};

static int sum_weight(const Launch *l, int form, const Slope &s, Result dw) {
    return by_form(form, [&](auto known) {
        WeightTerm<decltype(known)::N> term = {s.dy, s.x, s.means, s.rstds, s.width};
        return sum_columns(l, term, s.x.rows, dw);
    });
}

static int norm_grad_weight(const Launch *l, const void *means, const void *rstds) {
    Slope s = slope_of(l, means, rstds);
    int form = form_with(form_with(FORM_NONE, s.dy, s.width), s.x, s.width);
    return sum_weight(l, form, s, output(l, 0));
}
KERNEL(layer_norm_grad_weight) { return norm_grad_weight(l, l->call->in[2], l->call->in[3]); }
KERNEL(rms_norm_grad_weight) { return norm_grad_weight(l, NULL, l->call->in[2]); }

/* ---- all at once */

/* A part: `each` rows, `lanes` at a time, `threads` threads a row. */
struct RowParts {
    float *partial;
    int64_t rows, each;
    int lanes, threads;
};

/* Are the next rows loaded, and the weights kept, while the block works on these? Otherwise there
 * are no registers for them. */
template <int form, bool centered, int eights>
constexpr bool LOADS_AHEAD = eights == 1 || (eights == 2 && form == FORM_BF16 && !centered);

/* A thread's eights of a row, as they came from memory. */
template <int form, bool centered, int eights> struct Piece {
    Loaded<form> dy[eights], x[eights], residual[eights];
    float mean, rstd;
    DEVICE void load(const Slope &s, int64_t start, int first, int step, int64_t row) {
        bool early = LOADS_AHEAD<form, centered, eights> && s.residual.at;
#pragma unroll
        for (int k = 0; k < eights; k++) {
            int i = first + k * step, n = (int)s.width - i;
            if (n <= 0) continue;
            dy[k] = fetch8<form>(s.dy, start + i, n);
            x[k] = fetch8<form>(s.x, start + i, n);
            if (early) residual[k] = fetch8<form>(s.residual, start + i, n);
        }
        mean = s.means ? s.means[row] : 0.0f;
        rstd = s.rstds[row];
    }
};

/* The lanes' sums in order, by the threads of lane 0, into a row of D of the workspace. */
DEVICE void leave_sums(float *to, const RowParts &p, Eight sum, int64_t i, int64_t width) {
    __shared__ float sums[PART_THREADS][EIGHT + 1];
    if (p.lanes > 1) {
        EACH(j) sums[threadIdx.x][j] = sum.x[j];
        __syncthreads();
        for (int k = 1; k < p.lanes && (int)threadIdx.x < p.threads; k++)
            EACH(j) sum.x[j] += sums[threadIdx.x + k * p.threads][j];
        __syncthreads();
    }
    EACH(j) if ((int)threadIdx.x < p.threads && i + j < width) to[i + j] = sum.x[j];
}
/* More than one eight a thread: there is one lane. */
template <int eights>
DEVICE void leave_all(float *to, const RowParts &p, const Eight *sums, int first, int64_t width) {
    if constexpr (eights == 1) {
        leave_sums(to, p, sums[0], first, width);
    } else {
#pragma unroll
        for (int k = 0; k < eights; k++) {
            int i = first + k * p.threads * EIGHT;
            EACH(j) if (i + j < width) to[i + j] = sums[k].x[j];
        }
    }
}

template <int form, bool centered, int eights>
__global__ void __launch_bounds__(eights == 1 ? PART_THREADS : NORM_THREADS,
                                  eights > 1          ? 1
                                  : form == FORM_BF16 ? 3
                                                      : 2) slopes_and_sums(Slope s, RowParts p) {
    begin_kernel();
    __shared__ float scratch[2][2][WARP]; /* written for one row while those before are read */
    constexpr bool ahead = LOADS_AHEAD<form, centered, eights>;
    int lane = (int)threadIdx.x / p.threads, warps = p.threads / WARP, width = (int)s.width;
    int first = (int)threadIdx.x % p.threads * EIGHT, step = p.threads * EIGHT;
    int64_t part = blockIdx.x * p.each;
    int count = (int)(p.each < p.rows - part ? p.each : p.rows - part);
    float share = 1.0f / (float)width;
    Eight dw[eights] = {}, db[centered ? eights : 1] = {};
    Loaded<form> weight[ahead ? eights : 1] = {};
    Piece<form, centered, eights> now = {}, next = {};
    auto weight_of = [&](int k) {
        int i = first + k * step, n = width - i;
        return n > 0 ? fetch8<form>(s.w, i, n) : Loaded<form>{};
    };
    if constexpr (ahead) {
#pragma unroll
        for (int k = 0; k < eights; k++) weight[k] = weight_of(k);
    }
    if (ahead && lane < count) next.load(s, (part + lane) * s.width, first, step, part + lane);
    for (int row = lane, turn = 0; row - lane < count; row += p.lanes, turn ^= 1) {
        int later = row + p.lanes;
        int64_t start = (part + row) * s.width;
        now = next;
        if (!ahead && row < count) now.load(s, start, first, step, part + row);
        if (ahead && later < count)
            next.load(s, (part + later) * s.width, first, step, part + later);
        float sum_g = 0.0f, sum_gx = 0.0f;
#pragma unroll
        for (int k = 0; k < eights; k++) {
            int i = first + k * step, n = width - i;
            bool inside = row < count && n > 0;
            Eight g = numbers(now.dy[k]), hat = numbers(now.x[k]);
            Eight w = numbers(ahead ? weight[k] : weight_of(k));
            EACH(j) {
                float dy = inside ? g.x[j] : 0.0f;
                float x = inside ? (hat.x[j] - now.mean) * now.rstd : 0.0f;
                if (centered) db[k].x[j] += dy;
                dw[k].x[j] += dy * x;
                sum_g += dy * w.x[j];
                sum_gx += dy * w.x[j] * x;
            }
        }
        sum_gx = warp_sum(sum_gx);
        if (centered) sum_g = warp_sum(sum_g);
        if (threadIdx.x % WARP == 0) {
            scratch[turn][0][threadIdx.x / WARP] = sum_g;
            scratch[turn][1][threadIdx.x / WARP] = sum_gx;
        }
        __syncthreads();
        sum_g = sum_gx = 0.0f;
        for (int k = lane * warps; k < (lane + 1) * warps; k++) {
            if (centered) sum_g += scratch[turn][0][k];
            sum_gx += scratch[turn][1][k];
        }
        float mean_g = sum_g * share, mean_gx = sum_gx * share;
#pragma unroll
        for (int k = 0; k < eights; k++) {
            int i = first + k * step, n = width - i;
            if (row >= count || n <= 0) continue;
            if (!ahead && s.residual.at) now.residual[k] = fetch8<form>(s.residual, start + i, n);
            Eight g = numbers(now.dy[k]), hat = numbers(now.x[k]), r = numbers(now.residual[k]);
            Eight w = numbers(ahead ? weight[k] : weight_of(k));
            EACH(j) {
                float x = (hat.x[j] - now.mean) * now.rstd;
                float slope = now.rstd * (g.x[j] * w.x[j] - mean_g - x * mean_gx);
                hat.x[j] = slope_with<form>(s, slope, r.x[j]);
            }
            put8<form>(s.dx, start + i, n, hat);
        }
    }
    float *to = p.partial + (int64_t)blockIdx.x * (centered ? 2 : 1) * s.width;
    leave_all<eights>(to, p, dw, first, s.width);
    if (centered) leave_all<centered ? eights : 1>(to + s.width, p, db, first, s.width);
}

/* Wide rows. dx comes last, since it may take the memory of dy. db.at == NULL: none. */
static int one_by_one(const Launch *l, const Slope &s, Result dw, Result db) {
    RowTerm<FORM_ANY> term = {s.dy, s.width};
    int code = db.at ? sum_columns(l, term, s.x.rows, db) : 0;
    if (!code) code = sum_weight(l, FORM_ANY, s, dw);
    int threads = MIN(row_threads(s.width), (int)MAX_THREADS);
    return code ? code : LAUNCH(l, slope_wide, (unsigned)s.x.rows, threads, 0, s);
}

/* 0: no kernel that does all at once. */
static int eights_for(int form, bool centered, int64_t width) {
    if (width <= SUMMED) return 1;
    if (form == FORM_ANY) return 0;
    if (width <= 2 * NORM_THREADS * EIGHT) return 2;
    return form == FORM_BF16 && !centered && width <= IN_REGISTERS ? 4 : 0;
}

template <bool centered>
static int launch_parts(const Launch *l, const Slope &s, const RowParts &p, int form, int eights,
                        unsigned parts) {
    bool bf16 = form == FORM_BF16;
    auto kernel = bf16               ? slopes_and_sums<FORM_BF16, centered, 1>
                  : form == FORM_F32 ? slopes_and_sums<FORM_F32, centered, 1>
                                     : slopes_and_sums<FORM_ANY, centered, 1>;
    if (eights == 2)
        kernel =
            bf16 ? slopes_and_sums<FORM_BF16, centered, 2> : slopes_and_sums<FORM_F32, centered, 2>;
    if (eights == 4) kernel = slopes_and_sums<FORM_BF16, false, 4>;
    return LAUNCH(l, kernel, parts, (unsigned)(p.threads * p.lanes), 0, s, p);
}

/* Threads and parts, which depend only on the shape; returns the number of parts. */
static int64_t cut_rows(RowParts *p, int64_t rows, int64_t width, int eights) {
    p->threads = row_threads((width + eights - 1) / eights);
    p->lanes = eights == 1 ? MAX(PART_THREADS / p->threads, 1) : 1;
    p->rows = rows;
    int there = eights > 1 ? NORM_THREADS / MAX(p->threads, NORM_THREADS / 2)
                           : MIN(THREADS_THERE / (p->threads * p->lanes), (int)MOST_BLOCKS);
    int64_t parts = MIN((rows + p->lanes - 1) / p->lanes, (int64_t)(there * MULTIPROCESSORS));
    p->each = parts ? (rows + parts - 1) / parts : 1;
    return parts;
}

/* Operands: dy, x, w, mean (if centered), rstd, residual?; results: dx, dw, db (if centered). */
template <bool centered> static int norm_grad(const Launch *l) {
    const uint32_t end = centered ? 5 : 4;
    Result dw = output(l, 1), db = {};
    Slope s = slope_of(l, centered ? l->call->in[3] : NULL, l->call->in[end - 1]);
    if (centered) db = output(l, 2);
    s.residual = input(l, end);
    int form = form_of(s), eights = eights_for(form, centered, s.width);
    if (eights == 0) return one_by_one(l, s, dw, db);
    RowParts p = {};
    p.partial = (float *)l->call->workspace;
    int64_t parts = cut_rows(&p, s.x.rows, s.width, eights);
    int code = launch_parts<centered>(l, s, p, form, eights, (unsigned)parts);
    return code ? code : launch_add_parts(l, {dw}, {db}, p.partial, parts);
}
KERNEL(layer_norm_grad) { return norm_grad<true>(l); }
KERNEL(rms_norm_grad) { return norm_grad<false>(l); }
