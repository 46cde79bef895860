/* References of softmax, routing, experts, their balance and means over the batch in f64, from the
 * definitions in ops.def: E experts, K choices of each token, R rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/references.h"
#include "signature.h"
#include "util.h"

static void softmax(const double *x, int64_t n, double *y) {
    double top = x[0], sum = 0;
    EACH(i, n) top = fmax(top, x[i]);
    EACH(i, n) sum += y[i] = exp(x[i] - top);
    EACH(i, n) y[i] /= sum;
}

REF(softmax) {
    int64_t d = last(&c->out[0]);
    EACH(r, out_n(c, 0) / d) softmax(in[0] + r * d, d, out[0] + r * d);
}
REF(softmax_grad) {
    int64_t d = last(&c->out[0]);
    EACH(i, out_n(c, 0)) {
        double sum = 0;
        EACH(k, d) sum += in[0][i / d * d + k] * in[1][i / d * d + k];
        out[0][i] = in[1][i] * (in[0][i] - sum);
    }
}

REF(topk) {
    int64_t e = last(&c->in[0].type), k = c->attr.count;
    EACH(i, in_n(c, 0)) {
        const double *row = in[0] + i / e * e;
        int64_t before = 0;
        EACH(j, e) before += row[j] > in[0][i] || (row[j] == in[0][i] && j < i % e);
        if (before >= k) continue;
        out[0][i / e * k + before] = in[0][i];
        out[1][i / e * k + before] = (double)(i % e);
    }
}
REF(topk_grad) {
    int64_t e = last(&c->out[0]), k = last(&c->in[0].type);
    EACH(i, out_n(c, 0)) out[0][i] = 0;
    EACH(i, in_n(c, 0)) out[0][i / k * e + (int64_t)in[1][i]] = in[0][i];
}

/* Choices sorted by expert: any of the results may be NULL. */
static void sort_choices(const double *expert, int64_t n, int64_t experts, double *order,
                         double *place, double *starts) {
    int64_t row = 0;
    EACH(e, experts) {
        if (starts) starts[e] = (double)row;
        EACH(i, n) {
            if ((int64_t)expert[i] != e) continue;
            if (order) order[row] = (double)i;
            if (place) place[i] = (double)row;
            row++;
        }
    }
    if (starts) starts[experts] = (double)row;
}
REF(route) { sort_choices(in[0], in_n(c, 0), c->attr.count, out[0], out[1], out[2]); }

/* Fills operands named order, place and starts alike, for choices that are spread unevenly and
 * leave one expert, if there are three, without a row. */
void derive_routing(const Case *c, double *const *in, double *const *out) {
    (void)out;
    const Signature *s = op_signature(c->op);
    int order = signature_find(s, "order"), place = signature_find(s, "place");
    int starts = signature_find(s, "starts");
    int64_t n = starts >= 0 ? c->in[0].type.dim[0] : order >= 0 ? in_n(c, order) : in_n(c, place);
    int64_t experts = starts >= 0 ? in_n(c, starts) - 1 : 5;
    double *expert = calloc((size_t)n, sizeof *expert);
    EACH(i, n) {
        int64_t e = (i * i + i / 3) % 7 % experts;
        expert[i] = (double)(e == 2 ? 0 : e);
    }
    sort_choices(expert, n, experts, order >= 0 ? in[order] : NULL, place >= 0 ? in[place] : NULL,
                 starts >= 0 ? in[starts] : NULL);
    free(expert);
}

REF(dispatch) {
    int64_t d = last(&c->out[0]), k = last(&c->in[2].type);
    EACH(i, out_n(c, 0)) out[0][i] = in[0][(int64_t)in[1][i / d] / k * d + i % d];
}
REF(dispatch_grad) {
    int64_t d = last(&c->out[0]), k = last(&c->in[1].type);
    EACH(i, out_n(c, 0)) {
        out[0][i] = 0;
        EACH(j, k) out[0][i] += in[0][(int64_t)in[1][i / d * k + j] * d + i % d];
    }
}
REF(combine) {
    int64_t d = last(&c->out[0]), k = last(&c->in[1].type);
    EACH(i, out_n(c, 0)) {
        out[0][i] = 0;
        EACH(j, k) {
            int64_t choice = i / d * k + j;
            out[0][i] += in[1][choice] * in[0][(int64_t)in[3][choice] * d + i % d];
        }
    }
}
REF(combine_grad_rows) {
    int64_t d = last(&c->out[0]), k = last(&c->in[1].type);
    EACH(i, out_n(c, 0)) {
        int64_t choice = (int64_t)in[2][i / d];
        out[0][i] = in[1][choice] * in[0][choice / k * d + i % d];
    }
}
REF(combine_grad_weights) {
    int64_t d = last(&c->in[0].type), k = last(&c->out[0]);
    EACH(i, out_n(c, 0)) {
        out[0][i] = 0;
        EACH(j, d) out[0][i] += in[0][i / k * d + j] * in[1][(int64_t)in[2][i] * d + j];
    }
}

static int64_t expert_of(const double *starts, int64_t row) {
    int64_t e = 0;
    while (starts[e + 1] <= (double)row) e++;
    return e;
}
REF(experts_linear) {
    int64_t d = last(&c->in[0].type), o = last(&c->out[0]);
    EACH(i, out_n(c, 0)) {
        const double *w = in[2 + expert_of(in[1], i / o)];
        out[0][i] = 0;
        EACH(k, d) out[0][i] += in[0][i / o * d + k] * w[i % o * d + k];
    }
}
REF(experts_linear_grad_input) {
    int64_t o = last(&c->in[0].type), d = last(&c->out[0]);
    EACH(i, out_n(c, 0)) {
        const double *w = in[2 + expert_of(in[1], i / d)];
        out[0][i] = 0;
        EACH(k, o) out[0][i] += in[0][i / d * o + k] * w[k * d + i % d];
    }
}
REF(experts_linear_grad_weight) {
    int64_t o = last(&c->in[0].type), d = last(&c->in[1].type), rows = c->in[0].type.dim[0];
    EACH(e, c->n_out) EACH(i, o * d) out[e][i] = 0;
    EACH(r, rows) EACH(i, o * d) {
        double *dw = out[expert_of(in[2], r)];
        dw[i] += in[0][r * o + i / d] * in[1][r * d + i % d];
    }
}

static const double units = (double)((int64_t)1 << BALANCE_BITS);

REF(balance) {
    int64_t experts = last(&c->in[0].type), tokens = in_n(c, 0) / experts;
    double p[MOST_EXPERTS];
    memset(out[0], 0, sizeof(double) * (size_t)out_n(c, 0));
    EACH(i, in_n(c, 1)) out[0][(int64_t)in[1][i]]++;
    EACH(r, tokens) {
        softmax(in[0] + r * experts, experts, p);
        EACH(e, experts) out[0][experts + e] += p[e] * units;
    }
    out[0][2 * experts] = (double)tokens;
    EACH(i, in_n(c, 2)) out[0][2 * experts + 1] += in[2][i] != (double)c->attr.ignore;
}
/* Statistics of a batch of which the operands are a part. */
void derive_stats(const Case *c, double *const *in, double *const *out) {
    (void)out;
    int64_t experts = (in_n(c, 1) - 2) / 2;
    EACH(e, experts) {
        in[1][e] = (double)(3 + e * e);
        in[1][experts + e] = floor(units * (double)(5 + 2 * e));
    }
    in[1][2 * experts] = 90;
    in[1][2 * experts + 1] = 77;
}
static double value_of(const double *words) {
    double value = 0;
    EACH(k, EXACT_BINS) value += ldexp(words[k], EXACT_BIN_BITS * (int)k + EXACT_LOWEST_EXPONENT);
    return value;
}
REF(balance_loss) {
    int64_t experts = (in_n(c, 1) - 2) / 2;
    double sum = 0, tokens = in[1][2 * experts];
    EACH(e, experts) sum += in[1][e] / tokens * (in[1][experts + e] / units / tokens);
    memcpy(out[0], in[0], sizeof(double) * EXACT_WORDS);
    out[0][0] = value_of(in[0]) + c->attr.alpha * (double)experts * sum * in[0][EXACT_COUNT];
}
REF(balance_grad) {
    int64_t experts = last(&c->out[0]);
    double p[MOST_EXPERTS], tokens = in[1][2 * experts];
    double scale = c->n_in > 2 ? in[2][STEP_LOSS_SCALE] : 1;
    double factor = ldexp(scale * c->attr.alpha * in[1][2 * experts + 1], (int)c->attr.exponent) *
                    (double)experts / tokens / tokens;
    EACH(i, out_n(c, 0)) {
        double mean = 0;
        softmax(in[0] + i / experts * experts, experts, p);
        EACH(e, experts) mean += p[e] * in[1][e];
        out[0][i] = factor * p[i % experts] * (in[1][i % experts] - mean);
    }
}

/* Statistics of a batch of which the operands are a part: a sum of 90 elements, 77 targets. */
void derive_average(const Case *c, double *const *in, double *const *out) {
    (void)out;
    int of = c->op == OP_average_grad ? 0 : 1;
    double *stats = in[of];
    if (of >= c->n_in) return;
    memset(stats, 0, sizeof *stats * (size_t)in_n(c, of));
    EACH(k, EXACT_BINS) stats[k] = (double)(k - 9) * 12345.0 * (double)(k < 12);
    stats[EXACT_COUNT] = 90;
    stats[AVERAGE_TARGETS] = 77;
    EACH(k, are_weighted_words(in_n(c, of)) ? 12 : 0)
    stats[AVERAGE_WORDS + k] = (double)(k + 3) * 54321.0;
    if (!are_step_words(in_n(c, of))) return;
    stats[in_n(c, of) - 2] = 4;
    stats[in_n(c, of) - 1] = 20;
}
static double divisor_of(const double *stats, int64_t words) {
    double calls = are_step_words(words) ? stats[words - 1] / stats[words - 2] : 1;
    return are_weighted_words(words) ? value_of(stats + AVERAGE_WORDS) : stats[EXACT_COUNT] * calls;
}
/* A term of the whole step is shared out to ranks evenly. */
static double targets_of_rank(const double *loss, const double *stats, int64_t words) {
    return are_step_words(words) ? stats[AVERAGE_TARGETS] / stats[words - 2] : loss[EXACT_COUNT];
}
/* Of small integers: one bin, and what it carries. */
REF(average) {
    enum { BIN = 10 };
    double unit = ldexp(1, EXACT_BIN_BITS * BIN + EXACT_LOWEST_EXPONENT);
    double full = ldexp(1, EXACT_BIN_BITS);
    memset(out[0], 0, sizeof(double) * (size_t)out_n(c, 0));
    for (int k = 0; k < c->n_in; k += 2) {
        double *words = out[0] + (k ? AVERAGE_WORDS : 0);
        EACH(i, in_n(c, k)) words[BIN] += in[k][i] / unit;
        words[BIN + 1] = floor(words[BIN] / full + 0.5);
        words[BIN] -= words[BIN + 1] * full;
        words[EXACT_COUNT] = (double)in_n(c, k);
    }
    EACH(i, in_n(c, 1)) out[0][AVERAGE_TARGETS] += in[1][i] != (double)c->attr.ignore;
    if (!c->attr.count) return;
    if (c->in[1].type.dtype != DT_I32) out[0][AVERAGE_TARGETS] *= (double)c->attr.count;
    out[0][out_n(c, 0) - 2] = 1;
    out[0][out_n(c, 0) - 1] = (double)c->attr.count;
}
REF(total) {
    memset(out[0], 0, sizeof(double) * EXACT_COUNT);
    EACH(i, in_n(c, 0)) out[0][0] += c->attr.alpha * in[0][i];
    out[0][EXACT_COUNT] = (double)in_n(c, 0);
}
REF(average_loss) {
    int64_t words = in_n(c, 1);
    memcpy(out[0], in[0], sizeof(double) * EXACT_WORDS);
    out[0][0] = value_of(in[0]) + c->attr.alpha * value_of(in[1]) / divisor_of(in[1], words) *
                                      targets_of_rank(in[0], in[1], words);
}
REF(loss_term) {
    memcpy(out[0], in[0], sizeof(double) * EXACT_WORDS);
    if (c->n_in < 2) return;
    memset(out[0], 0, sizeof(double) * EXACT_COUNT);
    double mean = value_of(in[1]) / divisor_of(in[1], in_n(c, 1));
    out[0][0] = c->attr.alpha * mean * targets_of_rank(in[0], in[1], in_n(c, 1));
}
REF(count_targets) {
    memset(out[0], 0, sizeof(double) * EXACT_WORDS);
    EACH(i, in_n(c, 0)) out[0][EXACT_COUNT] += in[0][i] != (double)c->attr.ignore;
}
REF(average_grad) {
    double scale = c->n_in > 1 ? in[1][STEP_LOSS_SCALE] : 1;
    double slope = c->attr.alpha / divisor_of(in[0], in_n(c, 0)) * in[0][AVERAGE_TARGETS];
    EACH(i, out_n(c, 0)) out[0][i] = ldexp(scale * slope, (int)c->attr.exponent);
}
