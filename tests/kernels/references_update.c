/* References in f64 for the update, flat groups, dropout and the loss in chunks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/references.h"
#include "util.h"

/* Philox4x32-10, one counter at a time. */
static void philox(uint32_t counter[4], uint32_t key0, uint32_t key1) {
    for (int round = 0; round < 10; round++) {
        uint64_t a = 0xD2511F53ull * counter[0], b = 0xCD9E8D57ull * counter[2];
        uint32_t next[4] = {(uint32_t)(b >> 32) ^ counter[1] ^ key0, (uint32_t)b,
                            (uint32_t)(a >> 32) ^ counter[3] ^ key1, (uint32_t)a};
        memcpy(counter, next, sizeof next);
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
}
REF(dropout) {
    const double *step = in[1];
    int64_t sample = in_n(c, 0) / c->in[0].type.dim[0];
    EACH(i, out_n(c, 0)) {
        uint64_t e = (uint64_t)step[STEP_FIRST_SAMPLE] * (uint64_t)sample + (uint64_t)i;
        uint32_t counter[4] = {(uint32_t)(e / 4), (uint32_t)(e / 4 >> 32), (uint32_t)c->attr.salt,
                               (uint32_t)step[STEP_INDEX]};
        philox(counter, (uint32_t)step[STEP_SEED_LOW], (uint32_t)step[STEP_SEED_HIGH]);
        out[0][i] = counter[e % 4] < c->attr.p * 0x1p32 ? 0 : in[0][i] / (1 - c->attr.p);
    }
}

/* The ranks of a case are on one axis, which is the attribute's. */
REF(retain) { EACH(i, out_n(c, 0)) out[0][i] = in[0][c->rank * out_n(c, 0) + i]; }

/* Operands are not in the output here: only the padding is defined. */
REF(pack) {
    const PlanGroup *g = &c->plan->groups[c->attr.group];
    (void)in;
    EACH(i, out_n(c, 0)) {
        bool inside = false;
        EACH(p, g->n_param) {
            int64_t at = c->plan->group_params[g->first_param + p].offset;
            inside |= i >= at && i < at + in_n(c, (int)p);
        }
        out[0][i] = inside ? NAN : 0;
    }
}

/* The element of the parameter that element i of shard `number` is, or -1: in chunks, of which a
 * shard has every other one where there are two shards. */
static int64_t chunk_element(const Case *c, const PlanGroup *g, const PlanGroupParam *at,
                             int64_t number, int64_t i) {
    int64_t n = type_elements(&c->plan->params[at->param].type), shards = g->padded / g->shard;
    for (int64_t k = number, from = at->offset; k * at->chunk < n; k += shards, from += at->chunk)
        if (i >= from && i < from + at->chunk && k * at->chunk + i - from < n)
            return k * at->chunk + i - from;
    return -1;
}
REF(copy_out) {
    const PlanGroup *g = &c->plan->groups[0];
    const PlanGroupParam *at = &c->plan->group_params[g->first_param];
    while (at->param != c->attr.index) at++;
    EACH(i, in_n(c, 0)) {
        int64_t e = chunk_element(c, g, at, i / g->shard, i % g->shard);
        if (e >= 0) out[0][e] = in[0][i];
    }
}
REF(copy_in) {
    const PlanGroup *g = &c->plan->groups[0];
    EACH(i, out_n(c, 0)) {
        out[0][i] = 0;
        EACH(p, g->n_param) {
            const PlanGroupParam *at = &c->plan->group_params[g->first_param + p];
            int64_t e = chunk_element(c, g, at, i / g->shard, i % g->shard);
            if (e >= 0) out[0][i] = in[p][e];
        }
    }
}

/* The sum is compared exactly by the runner; see kernel_test.c. Of what every rank holds whole, a
 * rank answers for its own part. */
REF(grad_norm) {
    memset(out[0], 0, sizeof(double) * (size_t)out_n(c, 0));
    if (c->attr.clip_norm != NORM_INF) return;
    bool whole = c->attr.group >= 0 && !c->plan->groups[c->attr.group].split;
    int64_t n = in_n(c, 0), part = whole ? (n + c->ranks - 1) / c->ranks : n;
    int64_t from = whole ? part * c->rank : 0, to = MIN(from + part, n);
    for (int64_t i = from; i < to; i++) {
        float size = (float)fabs(in[0][i]);
        uint32_t bits;
        memcpy(&bits, &size, sizeof bits);
        out[0][0] = fmax(out[0][0], bits);
    }
}

static double words_value(const double *words) {
    double sum = 0;
    EACH(k, EXACT_BINS)
    sum += ldexp(words[k], (int)k * EXACT_BIN_BITS + EXACT_LOWEST_EXPONENT);
    return sum;
}
/* Of the square of a norm. */
static double exponent_above(double norm) {
    int exponent;
    frexp(norm, &exponent);
    return 2 * exponent + 1;
}
REF(step_scale) {
    double count = in[0][EXACT_COUNT], *s = out[0];
    double seed = ldexp(in[2][STEP_LOSS_SCALE], (int)c->attr.exponent);
    double unclipped = (c->attr.gain > 0 ? c->attr.gain : 1) / (seed * count);
    double lost = in[0][EXACT_NONFINITE], norm = unclipped;
    if (c->attr.clip_norm == NORM_INF) {
        uint32_t bits = (uint32_t)in[1][0];
        float largest;
        memcpy(&largest, &bits, sizeof largest);
        norm *= largest;
    } else {
        double sum = words_value(in[1]);
        norm *= c->attr.clip_norm == 1 ? sum : c->attr.clip_norm == 3 ? cbrt(sum) : sqrt(sum);
        lost += in[1][EXACT_NONFINITE];
    }
    bool finite = lost == 0;
    memset(s, 0, sizeof(double) * SCALE_SLOTS);
    s[SCALE_UNCLIPPED] = s[SCALE_GRADIENT] = unclipped;
    if (c->attr.clip > 0) s[SCALE_GRADIENT] *= fmin(1, c->attr.clip / (norm + 1e-6));
    s[SCALE_APPLY] = finite || c->attr.on_nan == ON_NAN_CONTINUE;
    s[SCALE_LOSS] = words_value(in[0]) / count;
    s[SCALE_NORM] = norm;
    s[SCALE_COUNT] = count;
    s[SCALE_FINITE] = finite;
    if (finite) s[SCALE_SQUARES] = exponent_above(norm * s[SCALE_GRADIENT] / unclipped);
    if (finite && (c->attr.clip_norm == 3 || c->attr.clip_norm == NORM_INF)) s[SCALE_SQUARES] += 32;
}

/* The parameter that element i of this rank's shard belongs to, or NULL. */
static const PlanParam *param_of(const Case *c, int64_t i) {
    if (c->attr.group < 0) return NULL;
    const PlanGroup *g = &c->plan->groups[c->attr.group];
    bool chunks = c->plan->group_params[g->first_param].chunk;
    if (g->split && !chunks) i += g->shard * c->rank;
    const PlanParam *param = NULL;
    EACH(p, g->n_param) {
        const PlanGroupParam *at = &c->plan->group_params[g->first_param + p];
        if (i >= at->offset) param = &c->plan->params[at->param];
    }
    return param;
}
static double decay_of(const Case *c, int64_t i) {
    const PlanParam *p = param_of(c, i);
    if (p && p->flags & PARAM_NO_DECAY) return 0;
    return p && p->flags & PARAM_GROUPED ? p->weight_decay : c->attr.weight_decay;
}
static double lr_of(const Case *c, int64_t i, const double *step) {
    const PlanParam *p = param_of(c, i);
    return step[STEP_LR] * (p && p->flags & PARAM_GROUPED ? p->lr_factor : 1);
}
static double scaled(const Case *c, double g, const double *scale) {
    g *= scale[SCALE_GRADIENT];
    double limit = c->attr.clip_value;
    return limit > 0 ? fmax(-limit, fmin(limit, g)) : g;
}

/* The copy, the last result where there is one, of the parameter as it is now. */
static void copy_parameter(const Case *c, double *const *out) {
    if (c->attr.copy)
        memcpy(out[c->n_out - 1], out[0], sizeof(double) * (size_t)out_n(c, c->n_out - 1));
}

/* true: scale says that nothing changes, and so it was done */
static bool keep(const Case *c, double *const *in, double *const *out, const double *scale) {
    if (scale[SCALE_APPLY] != 0) return false;
    for (int j = 0; j < c->n_out - (c->attr.copy != 0); j++)
        memcpy(out[j], in[j], sizeof(double) * (size_t)out_n(c, j));
    copy_parameter(c, out);
    return true;
}

REF(sgd) {
    const double *scale = in[2], *step = in[3];
    if (keep(c, in, out, scale)) return;
    EACH(i, out_n(c, 0)) {
        double g = scaled(c, in[1][i], scale) + decay_of(c, i) * in[0][i];
        out[0][i] = in[0][i] - lr_of(c, i, step) * g;
    }
    copy_parameter(c, out);
}
REF(sgd_momentum) {
    const double *scale = in[3], *step = in[4];
    if (keep(c, in, out, scale)) return;
    EACH(i, out_n(c, 0)) {
        double g = scaled(c, in[2][i], scale) + decay_of(c, i) * in[0][i];
        double buffer = step[STEP_INDEX] == 0 ? g : c->attr.momentum * in[1][i] + g;
        double d = c->attr.nesterov ? g + c->attr.momentum * buffer : buffer;
        out[0][i] = in[0][i] - lr_of(c, i, step) * d;
        out[1][i] = buffer;
    }
    copy_parameter(c, out);
}
REF(adam) {
    const double *scale = in[4], *step = in[5];
    if (keep(c, in, out, scale)) return;
    EACH(i, out_n(c, 0)) {
        double decay = decay_of(c, i), p = in[0][i], g = scaled(c, in[3][i], scale);
        if (c->attr.decoupled)
            p *= 1 - lr_of(c, i, step) * decay;
        else
            g += decay * p;
        double m = c->attr.beta1 * in[1][i] + (1 - c->attr.beta1) * g;
        double v = c->attr.beta2 * in[2][i] + (1 - c->attr.beta2) * g * g;
        double root = sqrt(v / step[STEP_BIAS2]);
        out[0][i] = p - lr_of(c, i, step) * (m / step[STEP_BIAS1]) / (root + c->attr.eps);
        out[1][i] = m;
        out[2][i] = v;
    }
    copy_parameter(c, out);
}
REF(lion) {
    const double *scale = in[3], *step = in[4];
    if (keep(c, in, out, scale)) return;
    EACH(i, out_n(c, 0)) {
        double g = scaled(c, in[2][i], scale), m = in[1][i];
        double toward = c->attr.beta1 * m + (1 - c->attr.beta1) * g;
        double sign = (toward > 0) - (toward < 0);
        out[0][i] = in[0][i] * (1 - lr_of(c, i, step) * decay_of(c, i)) - lr_of(c, i, step) * sign;
        out[1][i] = c->attr.beta2 * m + (1 - c->attr.beta2) * g;
    }
    copy_parameter(c, out);
}
REF(adan) {
    const double *scale = in[6], *step = in[7];
    double b2 = c->attr.beta2, b3 = c->attr.beta3;
    if (keep(c, in, out, scale)) return;
    EACH(i, out_n(c, 0)) {
        double g = scaled(c, in[5][i], scale), lr = lr_of(c, i, step);
        double change = step[STEP_UPDATES] == 0 ? 0 : g + in[4][i];
        double m = c->attr.beta1 * in[1][i] + (1 - c->attr.beta1) * g;
        double d = b2 * in[3][i] + (1 - b2) * change;
        double v = b3 * in[2][i] + (1 - b3) * (g + b2 * change) * (g + b2 * change);
        double by = m / step[STEP_BIAS1] + b2 * d / step[STEP_BIAS2];
        double root = sqrt(v / step[STEP_BIAS3]) + c->attr.eps;
        out[0][i] = (in[0][i] - lr * by / root) / (1 + lr * decay_of(c, i));
        out[1][i] = m, out[2][i] = v, out[3][i] = d, out[4][i] = -g;
    }
    copy_parameter(c, out);
}

/* ---- Adafactor. Elements of this rank, one after the other: which parameter's, and which. */

typedef struct Element {
    const PlanParam *param; /* NULL: padding */
    FactorShape shape;
    int64_t e, row, column; /* of it; row counts through its matrices, column too */
    int64_t numbers, words; /* where its moments and sums begin */
    int p;                  /* its row in the group */
} Element;

static Element element_of(const Case *c, int64_t i) {
    const PlanGroup *g = &c->plan->groups[c->attr.group];
    bool chunks = c->plan->group_params[g->first_param].chunk;
    if (g->split && !chunks) i += g->shard * c->rank;
    Element x = {0};
    for (uint32_t p = 0; p < g->n_param; p++) {
        const PlanGroupParam *at = &c->plan->group_params[g->first_param + p];
        const PlanParam *param = &c->plan->params[at->param];
        int64_t n = type_elements(&param->type);
        int64_t e = chunks ? chunk_element(c, g, at, c->rank, i) : i - at->offset;
        if (e >= 0 && e < n) {
            x.param = param;
            x.shape = factor_shape(&param->type);
            x.e = e;
            x.row = x.shape.columns ? x.e / x.shape.columns : x.e;
            x.column = x.shape.columns
                           ? x.row / x.shape.rows * x.shape.columns + x.e % x.shape.columns
                           : 0;
            x.p = (int)p;
            return x;
        }
        x.numbers += factor_numbers(&param->type);
        x.words += factor_words(&param->type);
    }
    return x;
}

/* ---- Muon */

/* Where the element's matrix is in u: before it those of the group that come first. */
static int64_t place_in_u(const Case *c, const Element *x) {
    const PlanGroup *g = &c->plan->groups[c->attr.group];
    int64_t at = 0;
    for (int p = 0; p < x->p; p++)
        at +=
            muon_room(&c->plan->params[c->plan->group_params[(int)g->first_param + p].param].type);
    return at;
}

REF(muon_momentum) {
    double mu = c->attr.momentum;
    memset(out[1], 0, sizeof(double) * (size_t)out_n(c, 1));
    memcpy(out[0], in[0], sizeof(double) * (size_t)out_n(c, 0));
    if (in[2][SCALE_APPLY] == 0) return;
    EACH(i, out_n(c, 0)) {
        Element x = element_of(c, i);
        if (!x.param) continue;
        double g = scaled(c, in[1][i], in[2]), m = mu * in[0][i] + (1 - mu) * g;
        out[0][i] = m;
        out[1][place_in_u(c, &x) + x.e] = c->attr.nesterov ? mu * m + (1 - mu) * g : m;
    }
}

enum { LARGEST_MATRIX = 100 };
/* to[r, c] += factor a[r, k] b[k, c]; turned: b[c, k] */
static void add_product(double *to, double factor, const double *a, const double *b, bool turned,
                        int64_t rows, int64_t middle, int64_t columns) {
    EACH(r, rows)
    EACH(c, columns)
    EACH(k, middle)
    to[r * columns + c] +=
        factor * a[r * middle + k] * b[turned ? c * middle + k : k * columns + c];
}

/* x[rows, columns] becomes orthogonal, always from the left. */
static void orthogonal(double *x, int64_t rows, int64_t columns, int64_t steps) {
    double norm = 0, gram[LARGEST_MATRIX], poly[LARGEST_MATRIX], next[LARGEST_MATRIX];
    EACH(i, rows * columns) norm += x[i] * x[i];
    EACH(i, rows * columns) x[i] /= sqrt(norm);
    for (int64_t k = 0; k < steps; k++) {
        memset(gram, 0, sizeof gram);
        add_product(gram, 1, x, x, true, rows, columns, rows);
        EACH(i, rows * rows) poly[i] = -4.7750 * gram[i];
        add_product(poly, 2.0315, gram, gram, false, rows, rows, rows);
        EACH(i, rows * columns) next[i] = 3.4445 * x[i];
        add_product(next, 1, poly, x, false, rows, rows, columns);
        memcpy(x, next, sizeof(double) * (size_t)(rows * columns));
    }
}

REF(muon) {
    EACH(i, out_n(c, 1)) out[1][i] = NAN; /* scratch */
    memcpy(out[0], in[0], sizeof(double) * (size_t)out_n(c, 0));
    if (in[2][SCALE_APPLY] == 0) return;
    EACH(i, out_n(c, 0)) {
        Element e = element_of(c, i);
        if (!e.param) continue;
        const Type *t = &e.param->type;
        double x[LARGEST_MATRIX], rows = (double)t->dim[0], columns = (double)t->dim[1];
        memcpy(x, in[1] + place_in_u(c, &e), sizeof(double) * (size_t)type_elements(t));
        orthogonal(x, t->dim[0], t->dim[1], c->attr.steps);
        double ratio = sqrt(fmax(1, rows / columns)), lr = lr_of(c, i, in[3]);
        if (c->attr.rate == MUON_MATCH_RMS_ADAMW) ratio = 0.2 * sqrt(fmax(rows, columns));
        out[0][i] = in[0][i] * (1 - lr * decay_of(c, i)) - lr * ratio * x[e.e];
    }
}

/* Of a gradient that both ranks hold whole, this rank sums its half. */
static bool is_summed(const Case *c, int64_t i, int64_t n) {
    if (c->plan->groups[c->attr.group].split) return true;
    int64_t part = (n + c->ranks - 1) / c->ranks;
    return i / part == c->rank;
}

static double unit_of(const double *scale) { return ldexp(1, (int)scale[SCALE_SQUARES] - 62); }

/* Low words are rounding; of exact sums the value is compared elsewhere. */
REF(factored_sums) {
    EACH(i, out_n(c, 0)) out[0][i] = NAN;
    const PlanGroup *g = &c->plan->groups[c->attr.group];
    for (uint32_t p = 0, at = 0; p < g->n_param; p++) {
        const Type *t = &c->plan->params[c->plan->group_params[g->first_param + p].param].type;
        for (int64_t k = 0; k < factor_words(t) - EXACT_WORDS; k += 2) out[0][at + k] = 0;
        at += (uint32_t)factor_words(t);
    }
    EACH(i, in_n(c, 1)) {
        Element x = element_of(c, i);
        if (!x.param || !is_summed(c, i, in_n(c, 1))) continue;
        double square = pow(scaled(c, in[1][i], in[2]), 2) / unit_of(in[2]);
        out[0][x.words + 2 * x.row] += square;
        int64_t columns = x.words + 2 * x.shape.matrices * x.shape.rows;
        if (x.shape.columns) out[0][columns + 2 * x.column] += square;
    }
}

/* A sum of squares of `size` in one bin or two. */
static void put_exact(double *words, double size) {
    int bin = 10;
    double unit = ldexp(1, bin * EXACT_BIN_BITS + EXACT_LOWEST_EXPONENT);
    for (int k = 0; k < EXACT_WORDS; k++) words[k] = 0;
    words[bin] = floor(size / unit);
    words[bin - 1] = floor((size / unit - words[bin]) * ldexp(1, EXACT_BIN_BITS));
}

void derive_factored(const Case *c, double *const *in, double *const *out) {
    const PlanGroup *g = &c->plan->groups[c->attr.group];
    double *sums = in[c->op == OP_adafactor ? 5 : 1], *rms = c->op == OP_adafactor ? in[6] : NULL;
    (void)out;
    for (uint32_t p = 0; p < g->n_param; p++) {
        const Type *t = &c->plan->params[c->plan->group_params[g->first_param + p].param].type;
        int64_t n = factor_words(t) - EXACT_WORDS;
        for (int64_t k = 0; k < n; k++) sums[k] = k % 2 ? 123456789 : ldexp(1 + (double)k, 45);
        put_exact(sums + n, (0.1 + p) * (double)type_elements(t));
        if (rms) put_exact(rms + p * EXACT_WORDS, (0.2 + 0.4 * p) * (double)type_elements(t));
        sums += n + EXACT_WORDS;
    }
}

REF(factored_means) {
    const double *scale = in[2], *sums = in[1];
    const PlanGroup *g = &c->plan->groups[c->attr.group];
    double *m = out[0], weight = in[3][STEP_FACTORED];
    memcpy(m, in[0], sizeof(double) * (size_t)out_n(c, 0));
    if (scale[SCALE_APPLY] == 0) return;
    for (uint32_t p = 0; p < g->n_param; p++) {
        const Type *t = &c->plan->params[c->plan->group_params[g->first_param + p].param].type;
        FactorShape s = factor_shape(t);
        int64_t rows = s.matrices * s.rows, n = rows + s.matrices * s.columns;
        for (int64_t k = 0; k < n; k++) {
            double count = k >= rows ? (double)s.rows : s.columns ? (double)s.columns : 1;
            double mean = (sums[2 * k] + ldexp(sums[2 * k + 1], -32)) * unit_of(scale) / count;
            m[k] += weight * (mean - m[k]);
        }
        for (int64_t k = 0; s.columns && k < s.matrices; k++) {
            m[n + k] = 0;
            for (int64_t r = 0; r < s.rows; r++) m[n + k] += m[k * s.rows + r] / (double)s.rows;
        }
        m += factor_numbers(t);
        sums += factor_words(t);
    }
}

static double factored_step(const Case *c, const Element *x, const double *m, double g) {
    const FactorShape *s = &x->shape;
    double eps = c->attr.eps, moment = m[x->numbers + x->row];
    const double *columns = m + x->numbers + s->matrices * s->rows;
    if (s->columns)
        moment *=
            columns[x->column] / fmax(eps, columns[s->matrices * s->columns + x->row / s->rows]);
    return g / sqrt(fmax(moment, eps * eps));
}

/* The words themselves follow from rounding: their value is compared by the updates' replay. */
REF(factored_rms) {
    (void)in;
    EACH(i, out_n(c, 0)) out[0][i] = i % EXACT_WORDS >= EXACT_COUNT ? 0 : NAN;
}

REF(adafactor) {
    const double *scale = in[2], *step = in[3];
    if (keep(c, in, out, scale)) return;
    EACH(i, out_n(c, 0)) {
        Element x = element_of(c, i);
        out[0][i] = in[0][i];
        if (!x.param) continue;
        double n = (double)type_elements(&x.param->type), lr = lr_of(c, i, step);
        const double *square = in[5] + x.words + factor_words(&x.param->type) - EXACT_WORDS;
        double weight = sqrt(words_value(square) / n);
        double size = sqrt(words_value(in[6] + x.p * EXACT_WORDS) / n);
        double alpha = fmax(c->attr.eps2, weight) * fmin(lr, 1 / sqrt(step[STEP_UPDATES] + 1));
        double u = factored_step(c, &x, in[4], scaled(c, in[1][i], scale));
        out[0][i] =
            in[0][i] * (1 - lr * decay_of(c, i)) - alpha / fmax(1, size / c->attr.limit) * u;
    }
}

/* Part `op` of a fused op, as a case of its own. */
static Case part_of_head(const Case *c, OpKind op, const Type *x, const Type *w, const Type *y) {
    Case part = {.op = op, .attr = c->attr, .n_in = 2, .n_out = 1, .out = {*y}};
    part.in[0].type = *x;
    part.in[1].type = *w;
    return part;
}
Type head_logits(const Case *c) {
    Type t = c->in[0].type;
    t.dim[t.rank - 1] = c->in[1].type.dim[0];
    return t;
}
/* What a buffer of so many rows holds when it has held all of them, chunk by chunk. */
void head_chunk(const Case *c, const double *rows, double *chunk) {
    int64_t o = c->in[1].type.dim[0], most = c->out[c->n_out - 1].dim[0], n = in_n(c, 2);
    EACH(r, n) memcpy(chunk + r % most * o, rows + r * o, sizeof(double) * (size_t)o);
}
/* All logits, their loss and the log-sum-exp of their rows. */
static void head_losses(const Case *c, double *const *in, double *y, double *lse, double *loss) {
    const Type logits = head_logits(c);
    Case part = part_of_head(c, OP_linear, &c->in[0].type, &c->in[1].type, &logits);
    ref_linear(&part, in, (double *[]){y});
    part = part_of_head(c, OP_cross_entropy, &logits, &c->in[2].type, &logits);
    ref_cross_entropy(&part, (double *[]){y, in[2]}, (double *[]){loss, lse});
}
REF(linear_cross_entropy) {
    const Type logits = head_logits(c);
    double *y = calloc((size_t)type_elements(&logits), sizeof *y);
    double *lse = calloc((size_t)in_n(c, 2), sizeof *lse);
    head_losses(c, in, y, lse, out[0]);
    head_chunk(c, y, out[1]);
    free(y);
    free(lse);
}
REF(linear_cross_entropy_both) {
    const Type logits = head_logits(c), *x = &c->in[0].type, *w = &c->in[1].type;
    int64_t n = type_elements(&logits), rows = in_n(c, 2);
    double *y = calloc((size_t)n, sizeof *y), *dy = calloc((size_t)n, sizeof *dy);
    double *lse = calloc((size_t)rows, sizeof *lse);
    head_losses(c, in, y, lse, out[2]);
    Case part = part_of_head(c, OP_cross_entropy_grad, &logits, &c->in[2].type, &logits);
    part.in[2] = c->in[c->n_in - 1]; /* it says whether there is a loss scale */
    part.n_in = 3;
    ref_cross_entropy_grad(&part, (double *[]){y, in[2], lse, in[3]}, (double *[]){dy});
    part = part_of_head(c, OP_linear_grad_input, &logits, w, x);
    ref_linear_grad_input(&part, (double *[]){dy, in[1]}, out);
    part = part_of_head(c, OP_linear_grad_weight, &logits, x, w);
    ref_linear_grad_weight(&part, (double *[]){dy, in[0]}, out + 1);
    head_chunk(c, dy, out[3]);
    free(y);
    free(dy);
    free(lse);
}
