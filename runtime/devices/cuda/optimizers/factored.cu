/* Adafactor: factored_sums, factored_means, factored_rms, adafactor. For what they compute, and why
 * the sums do not depend on an order, see runtime/devices/cpu/optimizers/factored.c.
 *
 * Elements are those of a rank's part of a parameter; rows and columns are those of all of it.
 *
 * `across` blocks work on each parameter of the group, whose shape and places are in the table of
 * segments. They share it; of one that is cut along another axis than the first each takes some of
 * its pieces.
 */
#include "exact.h"
#include "scalars.h"

enum { THREADS = 256, MOST_BLOCKS = 132 * 4, HIGH_BITS = 62 };

struct FactoredShard {
    const SegmentStart *segment; /* of the group's first parameter */
    const double *scale, *step;
    int64_t start;    /* where a flat parameter at offset 0 would be: this much before element 0 */
    int64_t number;   /* of the shard, .. */
    int64_t shards;   /* .. of so many */
    int64_t from, to; /* elements of the operands that this rank answers for */
    unsigned across;  /* blocks a parameter */
    float clip_value, eps;
    Operand w, g;
};

DEVICE unsigned param_row(const FactoredShard &f) { return blockIdx.x / f.across; }
DEVICE int64_t block_of(const FactoredShard &f) { return blockIdx.x % f.across; }

/* A part of the block's parameter: elements [from, to) of it, element 0 at `at`. */
struct FactoredPart {
    const SegmentStart *s;
    int64_t at, from, to;
    /* The block is number `block` of those that share it. */
    int64_t block, blocks;
    int64_t piece, step, pieces; /* the next one is piece + step; how many there are */
};

/* Where it is in chunks, piece j is chunk j * shards + number. */
DEVICE void take_piece(const FactoredShard &f, FactoredPart &p) {
    int64_t chunk = p.s->chunk, first = (p.piece * f.shards + f.number) * chunk;
    int64_t end = chunk && first + chunk < p.s->elements ? first + chunk : p.s->elements;
    p.at = p.s->offset - f.start + p.piece * chunk - first;
    p.from = f.from - p.at > first ? f.from - p.at : first;
    p.to = f.to - p.at < end ? f.to - p.at : end;
}

/* The first part of the block's; then the next one, as long as there is one. */
DEVICE FactoredPart part_of(const FactoredShard &f) {
    FactoredPart p;
    p.s = f.segment + param_row(f);
    int64_t chunks = p.s->chunk ? (p.s->elements - 1) / p.s->chunk + 1 : 1;
    p.pieces = p.s->chunk ? (chunks - f.number + f.shards - 1) / f.shards : 1;
    bool several = p.pieces > 1;
    p.block = several ? 0 : block_of(f);
    p.blocks = several ? 1 : f.across;
    p.piece = several ? block_of(f) : 0;
    p.step = several ? f.across : 1;
    take_piece(f, p);
    return p;
}
DEVICE bool is_part(const FactoredPart &p) { return p.piece < p.pieces; }
DEVICE void next_part(const FactoredShard &f, FactoredPart &p) {
    p.piece += p.step;
    take_piece(f, p);
}

/* Where an element of the part is in the whole parameter, and in its run of the part. */
struct WholePlace {
    int64_t row, column, in;
};

DEVICE int64_t row_length(const SegmentStart &s) { return s.shape.columns ? s.shape.columns : 1; }
DEVICE WholePlace place_of(const SegmentStart &s, int64_t e) {
    int64_t at = tensor_element(&s.part, e), row = at / row_length(s);
    return {row, at - row * row_length(s), e % s.part.run};
}
DEVICE bool pads(const SegmentStart &s, const WholePlace &w) { return w.in >= s.part.kept; }
DEVICE void move_place(const SegmentStart &s, WholePlace &w, int64_t rows, int64_t columns) {
    w.row += rows;
    w.column += columns;
    bool ends = w.column >= row_length(s);
    w.column -= ends ? row_length(s) : 0;
    w.row += ends ? 1 : 0;
}
/* To the next element. There is no division in it: eight of them would not stay in registers. */
DEVICE void next_place(const SegmentStart &s, WholePlace &w) {
    bool ends = ++w.in == s.part.run;
    move_place(s, w, 0, 1);
    w.in = ends ? 0 : w.in;
    move_place(s, w, ends ? s.skipped_rows : 0, ends ? s.skipped_columns : 0);
}

/* The gradients of elements e .. e + 7 that the update uses; 0 past `to`. */
DEVICE Eight gradients_at(const FactoredShard &f, const FactoredPart &p, int64_t e) {
    Eight x = load8(f.g, p.at + e, p.to - e);
    float factor = (float)f.scale[SCALE_GRADIENT];
    EACH(j) x.x[j] = clipped(x.x[j] * factor, f.clip_value);
    return x;
}

/* ---- factored_sums */

DEVICE void add_two(int64_t *words, int64_t high, int64_t low) {
    if (high) add_word(&words[0], high);
    if (low) add_word(&words[1], low);
}

DEVICE void sum_squares(const FactoredShard &f, const FactoredPart &p, int64_t e, double unit,
                        int64_t *rows) {
    const FactorShape &s = p.s->shape;
    int64_t *columns = rows + 2 * s.matrices * s.rows, high = 0, low = 0;
    WholePlace w = place_of(*p.s, e);
    Eight x = gradients_at(f, p, e);
    EACH(j) {
        bool counts = e + j < p.to && !pads(*p.s, w);
        double square = counts ? (double)x.x[j] * (double)x.x[j] * unit : 0.0;
        int64_t above = (int64_t)square, row = w.row;
        int64_t below = (int64_t)((square - (double)above) * 4294967296.0);
        high += above;
        low += below;
        if (s.columns) add_two(columns + 2 * (row / s.rows * s.columns + w.column), above, below);
        next_place(*p.s, w);
        if (w.row == row) continue;
        add_two(rows + 2 * row, high, low);
        high = low = 0;
    }
    add_two(rows + 2 * w.row, high, low);
}

__global__ void __launch_bounds__(THREADS) sum_parts(FactoredShard f, int64_t *sums) {
    begin_kernel();
    __shared__ int64_t words[EXACT_WORDS];
    FactoredPart p = part_of(f);
    begin_words(words);
    double norm = f.scale[SCALE_NORM];
    bool squares = norm > 0.0 && norm < 1e300;
    double unit = squares ? power_of_two(HIGH_BITS - top_exponent(f.scale)) : 0.0;
    int64_t *own = sums + p.s->words;
    for (; is_part(p); next_part(f, p)) {
        EACH_EIGHT_OF_WARPS(e, p.from, p.to, p.block, p.blocks) {
            if (squares && e < p.to) sum_squares(f, p, e, unit, own);
            exact_add<EIGHT>(words, load8(f.w, p.at + e, p.to - e).x, true);
        }
    }
    int64_t *total = own + 2 * p.s->shape.matrices * (p.s->shape.rows + p.s->shape.columns);
    end_words(total, words);
}

/* ---- factored_means */

__global__ void __launch_bounds__(THREADS)
    move_means(FactoredShard f, float *m, const float *old, const int64_t *sums) {
    begin_kernel();
    const SegmentStart *s = f.segment + param_row(f);
    int64_t rows = s->shape.matrices * s->shape.rows;
    int64_t n = rows + s->shape.matrices * s->shape.columns;
    bool apply = f.scale[SCALE_APPLY] != 0.0, finite = f.scale[SCALE_FINITE] != 0.0;
    double unit = power_of_two(top_exponent(f.scale) - HIGH_BITS);
    float weight = (float)f.step[STEP_FACTORED];
    for (int64_t i = block_of(f) * THREADS + threadIdx.x; i < n; i += (int64_t)f.across * THREADS) {
        float from = old[s->numbers + i];
        if (apply) {
            const int64_t *words = sums + s->words + 2 * i;
            int64_t count = i >= rows ? s->shape.rows : s->shape.columns ? s->shape.columns : 1;
            double sum = ((double)words[0] + (double)words[1] / 4294967296.0) * unit;
            float mean = finite ? (float)(sum / (double)count) : __uint_as_float(0x7fc00000u);
            from = weight < 0.5f ? from + weight * (mean - from)
                                 : mean - (mean - from) * (1.0f - weight);
        }
        m[s->numbers + i] = from;
    }
}

__global__ void __launch_bounds__(THREADS)
    mean_of_rows(FactoredShard f, float *m, const float *old) {
    begin_kernel();
    __shared__ double scratch[WARP];
    const SegmentStart *s = f.segment + param_row(f);
    if (!s->shape.columns) return;
    for (int64_t matrix = block_of(f); matrix < s->shape.matrices; matrix += f.across) {
        const float *row = m + s->numbers + matrix * s->shape.rows;
        int64_t at = s->numbers + s->shape.matrices * (s->shape.rows + s->shape.columns) + matrix;
        double sum = 0.0;
        for (int64_t r = threadIdx.x; r < s->shape.rows; r += THREADS) sum += row[r];
        sum = block_sum(sum, scratch);
        if (threadIdx.x == 0)
            m[at] = f.scale[SCALE_APPLY] != 0.0 ? (float)(sum / (double)s->shape.rows) : old[at];
        __syncthreads();
    }
}

/* ---- factored_rms and adafactor */

DEVICE Eight steps_of(const FactoredShard &f, const FactoredPart &p, const float *own, int64_t e) {
    const FactorShape &s = p.s->shape;
    Eight x = gradients_at(f, p, e);
    WholePlace w = place_of(*p.s, e);
    const float *columns = own + s.matrices * s.rows, *means = columns + s.matrices * s.columns;
    int64_t matrix = w.row / s.rows, end = (matrix + 1) * s.rows;
    EACH(j) {
        bool padding = e + j >= p.to || pads(*p.s, w);
        float moment = padding ? 0.0f : own[w.row];
        for (; w.row >= end; matrix++) end += s.rows;
        if (s.columns && !padding) {
            float mean = means[matrix] < f.eps ? f.eps : means[matrix];
            moment = columns[matrix * s.columns + w.column] * moment / mean;
        }
        if (moment < f.eps * f.eps) moment = f.eps * f.eps;
        x.x[j] = padding ? 0.0f : x.x[j] / sqrtf(moment);
        next_place(*p.s, w);
    }
    return x;
}

__global__ void __launch_bounds__(THREADS)
    sum_steps(FactoredShard f, const float *m, int64_t *rms) {
    begin_kernel();
    __shared__ int64_t words[EXACT_WORDS];
    FactoredPart p = part_of(f);
    begin_words(words);
    for (; is_part(p); next_part(f, p)) {
        EACH_EIGHT_OF_WARPS(e, p.from, p.to, p.block, p.blocks) {
            Eight u = {};
            if (e < p.to) u = steps_of(f, p, m + p.s->numbers, e);
            exact_add<EIGHT>(words, u.x, true);
        }
    }
    int64_t *total = rms + (int64_t)param_row(f) * EXACT_WORDS;
    end_words(total, words);
}

struct Limits {
    double eps2, limit, weight_decay;
};

/* Two blocks at a time: for more the compiler would keep registers in memory. */
__global__ void __launch_bounds__(THREADS, 2)
    update_weights(FactoredShard f, Limits a, void *to, const float *m, const int64_t *sums,
                   const int64_t *rms) {
    begin_kernel();
    FactoredPart p = part_of(f);
    if (!is_part(p)) return;
    bool apply = f.scale[SCALE_APPLY] != 0.0;
    const SegmentStart *s = p.s;
    const int64_t *weights =
        sums + s->words + 2 * s->shape.matrices * (s->shape.rows + s->shape.columns);
    FactoredRate r = factored_rate(
        f.step, s->lr_factor, s->weight_decay == STANDARD_DECAY ? a.weight_decay : s->weight_decay,
        a.eps2, a.limit, weights, rms + (int64_t)param_row(f) * EXACT_WORDS, s->whole);
    for (; is_part(p); next_part(f, p)) {
        for (int64_t e = p.from + (p.block * THREADS + threadIdx.x) * EIGHT; e < p.to;
             e += p.blocks * THREADS * EIGHT) {
            Eight w = load8(f.w, p.at + e, p.to - e);
            if (apply) {
                Eight u = steps_of(f, p, m + s->numbers, e);
                EACH(j) w.x[j] = w.x[j] * r.keep - r.step * u.x[j];
            }
            store8(to, f.w.dtype, p.at + e, p.to - e, w);
        }
    }
}

/* ---- the host */

/* The operands have n numbers; all: every one that is held, not only those that no other rank
 * counts. Returns the blocks for the group. */
static unsigned open_factored(const Launch *l, int64_t n, bool all, FactoredShard *f) {
    const PlanGroup *group = group_of(l);
    *f = {};
    f->segment = l->segment + group->first_param;
    f->scale = (const double *)l->call->in[2];
    f->step = (const double *)input(l, 3).at; /* where there is one */
    f->start = rank_start(l->call->rank, group);
    f->number = rank_number(l->call->rank, group);
    Layout layout = plan_layout(group);
    f->shards = layout_shards(&layout);
    f->to = n;
    f->clip_value = (float)l->call->attr->clip_value;
    f->eps = (float)l->call->attr->eps;
    if (!all)
        rank_own_part(l->call->rank, group, mesh_sample_axes(&l->call->rank->mesh), n, &f->from,
                      &f->to);
    f->across = MIN(blocks_for(n, THREADS * EIGHT), (unsigned)MOST_BLOCKS);
    return f->across * group->n_param;
}

KERNEL(factored_sums) {
    Operand g = input(l, 1);
    Result out = output(l, 0);
    FactoredShard f;
    unsigned blocks = open_factored(l, g.n, false, &f);
    f.w = input(l, 0), f.g = g;
    int code = launch_set(l, out.at, 0, out.n * 8);
    return code ? code : LAUNCH(l, sum_parts, blocks, THREADS, 0, f, (int64_t *)out.at);
}

KERNEL(factored_means) {
    const float *old = (const float *)l->call->in[0];
    float *m = (float *)l->call->out[0];
    FactoredShard f;
    unsigned blocks = open_factored(l, input(l, 0).n, true, &f);
    int code =
        LAUNCH(l, move_means, blocks, THREADS, 0, f, m, old, (const int64_t *)l->call->in[1]);
    return code ? code : LAUNCH(l, mean_of_rows, blocks, THREADS, 0, f, m, old);
}

KERNEL(factored_rms) {
    Operand g = input(l, 1);
    Result out = output(l, 0);
    FactoredShard f;
    unsigned blocks = open_factored(l, g.n, false, &f);
    f.g = g;
    int code = launch_set(l, out.at, 0, out.n * 8);
    return code ? code
                : LAUNCH(l, sum_steps, blocks, THREADS, 0, f, (const float *)l->call->in[0],
                         (int64_t *)out.at);
}

KERNEL(adafactor) {
    Operand g = input(l, 1);
    const void *const *in = l->call->in;
    FactoredShard f;
    unsigned blocks = open_factored(l, g.n, true, &f);
    f.w = input(l, 0), f.g = g;
    const Attrs *a = l->call->attr;
    Limits limits = {a->eps2, a->limit, a->weight_decay};
    int code = launch_keep(l, 0, 0); /* padding too */
    return code ? code
                : LAUNCH(l, update_weights, blocks, THREADS, 0, f, limits, l->call->out[0],
                         (const float *)in[4], (const int64_t *)in[5], (const int64_t *)in[6]);
}
