/* The rounding error that an output element may have, in f64.
 *
 * A result in f32 is as good as its order of summation: two correct kernels differ by a small
 * multiple of the unit in the last place of the sum of the terms' absolute values, however small
 * the sum itself is. This file computes that sum for every element of every op. For a sum of
 * products it is the reference itself over absolute inputs; norms, attention and loss have a
 * formula each, in which the error that an exponent carries into its result counts as a term.
 */
#include "gpu/terms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/references.h"
#include "op.h"
#include "util.h"

/* The reference of a sum, over absolute inputs. */
static void of_absolutes(const Trial *t, Reference reference, double *const *out) {
    const Case *c = t->c;
    double *in[MAX_CASE_OPERANDS] = {0};
    for (int i = 0; i < c->n_in; i++) {
        in[i] = malloc(sizeof(double) * (size_t)in_n(c, i));
        EACH(k, in_n(c, i)) in[i][k] = fabs(t->in[i][k]);
    }
    reference(c, in, out);
    for (int i = 0; i < c->n_in; i++) free(in[i]);
}

/* x, w and the bias (or NULL), y and the statistics: the mean, where there is one, and rstd. */
static void of_rows(const Trial *t, const double *x, int w, int first_y, double *const *out) {
    const Case *c = t->c;
    int64_t d = last(&c->in[0].type), n = in_n(c, 0);
    int last_out = c->n_out - 1;
    const double *rstd = t->want[last_out];
    const double *mean = last_out - first_y > 1 ? t->want[first_y + 1] : NULL;
    const double *bias = c->n_in > w + 1 ? t->in[w + 1] : NULL;
    EACH(i, n) {
        double centre = mean ? fabs(mean[i / d]) : 0;
        out[first_y][i] = (fabs(x[i]) + centre) * rstd[i / d] * fabs(t->in[w][i % d]) +
                          (bias ? fabs(bias[i % d]) : 0);
    }
    EACH(r, n / d) {
        double sum = 0;
        EACH(i, d) sum += fabs(x[r * d + i]) / (double)d;
        out[last_out][r] = rstd[r] * (1 + sum * rstd[r]);
        if (mean) out[first_y + 1][r] = sum;
    }
}

static void of_norm(const Trial *t, double *const *out) { of_rows(t, t->in[0], 1, 0, out); }

static void of_add_norm(const Trial *t, double *const *out) {
    EACH(i, in_n(t->c, 0)) out[0][i] = fabs(t->in[0][i]) + fabs(t->in[1][i]);
    of_rows(t, t->want[0], 2, 1, out);
}

/* Gradients of layer_norm (else: of rms_norm) read the mean before rstd; a residual comes last. */
static bool has_mean(const Case *c) {
    return c->op == OP_layer_norm_grad || c->op == OP_layer_norm_grad_input ||
           c->op == OP_layer_norm_grad_weight;
}

static void of_norm_grad_input(const Trial *t, double *const *out) {
    const Case *c = t->c;
    int64_t d = last(&c->in[1].type);
    EACH(r, in_n(c, 1) / d) {
        const double *dy = t->in[0] + r * d, *x = t->in[1] + r * d, *w = t->in[2];
        double mean = has_mean(c) ? fabs(t->in[3][r]) : 0, rstd = t->in[has_mean(c) ? 4 : 3][r];
        double g = 0, gx = 0;
        EACH(i, d) {
            g += fabs(dy[i] * w[i]) / (double)d;
            gx += fabs(dy[i] * w[i]) * (fabs(x[i]) + mean) * rstd / (double)d;
        }
        EACH(i, d)
        out[0][r * d + i] =
            rstd * (fabs(dy[i] * w[i]) + (has_mean(c) ? g : 0) + (fabs(x[i]) + mean) * rstd * gx);
    }
}

/* first: of the statistics among the operands. */
static void of_norm_weight(const Trial *t, int first, double *out) {
    const Case *c = t->c;
    int64_t d = last(&c->in[1].type);
    const double *rstd = t->in[first + has_mean(c)];
    memset(out, 0, sizeof(double) * (size_t)d);
    EACH(i, in_n(c, 1)) {
        double mean = has_mean(c) ? fabs(t->in[first][i / d]) : 0;
        out[i % d] += fabs(t->in[0][i]) * (fabs(t->in[1][i]) + mean) * rstd[i / d];
    }
}

static void of_norm_grad_weight(const Trial *t, double *const *out) {
    of_norm_weight(t, 2, out[0]);
}

/* dx, dw and, of layer_norm, db. */
static void of_norm_grad(const Trial *t, double *const *out) {
    const Case *c = t->c;
    int64_t d = last(&c->in[1].type);
    int residual = has_mean(c) ? 5 : 4;
    of_norm_grad_input(t, out);
    of_norm_weight(t, 3, out[1]);
    if (has_mean(c)) memset(out[2], 0, sizeof(double) * (size_t)d);
    EACH(i, in_n(c, 1)) {
        if (has_mean(c)) out[2][i % d] += fabs(t->in[0][i]);
        if (c->n_in > residual) out[0][i] += fabs(t->in[residual][i]);
    }
}

/* ---- attention */

/* Where the vector of q (which 0), k (1) or v (2) begins. */
static int64_t vector_at(const AttentionSizes *z, int which, int64_t b, int64_t t, int64_t head) {
    if (which && !z->packed) head /= z->heads / z->key_heads;
    return attention_place(z, which, b, t, head);
}

/* Probabilities of a row; returns the largest sum of absolute terms of a score that is seen. */
static double row_of_scores(const Trial *t, const AttentionSizes *z, int first, int64_t row,
                            double *p) {
    const double *q = t->in[first], *k = t->in[z->packed ? first : first + 1];
    int64_t at = row % z->t, head = row / z->t % z->heads, b = row / z->t / z->heads;
    double terms = 0;
    attention_probabilities(t->c, first, t->in, row, p);
    EACH(s, z->s) {
        const double *x = q + vector_at(z, 0, b, at, head), *y = k + vector_at(z, 1, b, s, head);
        double absolute = 0;
        EACH(i, z->h) absolute += fabs(x[i] * y[i]);
        if (p[s] > 0) terms = fmax(terms, absolute * fabs(t->c->attr.alpha));
    }
    return terms;
}

static void of_attention(const Trial *t, double *const *out) {
    AttentionSizes z = attention_sizes(t->c, 0);
    const double *v = t->in[z.packed ? 0 : 2];
    double *p = malloc(sizeof *p * (size_t)z.s);
    EACH(row, z.b * z.heads * z.t) {
        int64_t at = row % z.t, head = row / z.t % z.heads, b = row / z.t / z.heads;
        double scores = row_of_scores(t, &z, 0, row, p);
        double *to = out[0] + ((b * z.t + at) * z.heads + head) * z.h;
        EACH(i, z.h) {
            to[i] = 0;
            EACH(s, z.s) to[i] += p[s] * fabs(v[vector_at(&z, 2, b, s, head) + i]) * (1 + scores);
        }
        out[1][row] = 1 + fabs(t->want[1][row]) + scores;
    }
    free(p);
}

static void of_attention_grad(const Trial *t, double *const *out) {
    AttentionSizes z = attention_sizes(t->c, 1);
    const double *q = t->in[1], *k = t->in[z.packed ? 1 : 2], *v = t->in[z.packed ? 1 : 3];
    double *dq = out[0], *dk = out[z.packed ? 0 : 1], *dv = out[z.packed ? 0 : 2];
    for (int j = 0; j < t->c->n_out; j++)
        memset(out[j], 0, sizeof(double) * (size_t)out_n(t->c, j));
    double *p = malloc(2 * sizeof *p * (size_t)z.s), *dp = p + z.s;
    EACH(row, z.b * z.heads * z.t) {
        int64_t at = row % z.t, head = row / z.t % z.heads, b = row / z.t / z.heads;
        const double *d_o = t->in[0] + ((b * z.t + at) * z.heads + head) * z.h;
        int64_t query = vector_at(&z, 0, b, at, head);
        double scores = 1 + row_of_scores(t, &z, 1, row, p), mean = 0;
        EACH(s, z.s) {
            dp[s] = 0;
            EACH(i, z.h) dp[s] += fabs(d_o[i] * v[vector_at(&z, 2, b, s, head) + i]);
            mean += p[s] * dp[s];
        }
        EACH(s, z.s) {
            int64_t key = vector_at(&z, 1, b, s, head), value = vector_at(&z, 2, b, s, head);
            double ds = p[s] * (dp[s] + mean) * fabs(t->c->attr.alpha) * scores;
            EACH(i, z.h) {
                dv[value + i] += p[s] * fabs(d_o[i]) * scores;
                dq[query + i] += ds * fabs(k[key + i]);
                dk[key + i] += ds * fabs(q[query + i]);
            }
        }
    }
    free(p);
}

/* ---- loss and update */

static void of_cross_entropy(const Trial *t, double *const *out) {
    const Case *c = t->c;
    int64_t v = last(&c->in[0].type);
    EACH(i, EXACT_WORDS) out[0][i] = 0;
    EACH(r, in_n(c, 1)) {
        double top = 0, target = t->in[1][r];
        EACH(i, v) top = fmax(top, fabs(t->in[0][r * v + i]));
        out[1][r] = fabs(t->want[1][r]) + top;
        if (target != (double)c->attr.ignore)
            out[0][0] += fabs(t->want[1][r]) + fabs(t->in[0][r * v + (int64_t)target]);
    }
}

/* Of a logit of a row with that lse; one: it is the target. */
static double slope_terms(const Case *c, double x, double lse, bool one) {
    double p = exp(x - lse) * (1 + 2 * fabs((double)c->attr.z * lse));
    return p + p * (fabs(x) + fabs(lse)) + one;
}
/* What gradients of a loss are multiplied by: also the loss scale, where the last operand has it.
 */
static double seed_of(const Trial *t) {
    const Case *c = t->c;
    bool scaled = c->in[c->n_in - 1].fill == FILL_STEP;
    return ldexp(scaled ? t->in[c->n_in - 1][STEP_LOSS_SCALE] : 1, (int)c->attr.exponent);
}
/* Of logits, targets and lse, which are operands `first` and after it. */
static void add_slopes(const Trial *t, int first, double *out) {
    const double *x = t->in[first], *target = t->in[first + 1], *lse = t->in[first + 2];
    int64_t v = last(&t->c->in[first].type);
    EACH(i, in_n(t->c, first))
    out[i] = slope_terms(t->c, x[i], lse[i / v], target[i / v] == (double)(i % v));
}
static void of_cross_entropy_grad(const Trial *t, double *const *out) {
    add_slopes(t, 0, out[0]);
    EACH(i, in_n(t->c, 0)) out[0][i] *= seed_of(t);
}
static void of_cross_entropy_each_grad(const Trial *t, double *const *out) {
    int64_t v = last(&t->c->in[1].type);
    add_slopes(t, 1, out[0]);
    EACH(i, in_n(t->c, 1)) out[0][i] *= fabs(t->in[0][i / v]);
}

static void of_cross_entropy_both(const Trial *t, double *const *out) {
    const Case *c = t->c;
    int64_t v = last(&c->in[0].type);
    double *lse = malloc(sizeof *lse * (size_t)in_n(c, 1)), words[EXACT_WORDS];
    ref_cross_entropy(c, t->in, (double *const[]){words, lse});
    EACH(i, EXACT_WORDS) out[1][i] = 0;
    EACH(i, in_n(c, 0)) {
        bool one = t->in[1][i / v] == (double)(i % v);
        out[0][i] = slope_terms(c, t->in[0][i], lse[i / v], one) * seed_of(t);
        if (one) out[1][0] += fabs(lse[i / v]) + fabs(t->in[0][i]);
    }
    free(lse);
}

/* Of the head and its loss in chunks: rounding of a logit is a term of its exponent. */
static void of_chunks(const Trial *t, double *const *out) {
    const Case *c = t->c;
    const Type logits = head_logits(c);
    bool trains = c->op == OP_linear_cross_entropy_both;
    int64_t v = last(&logits), n = type_elements(&logits), d = last(&c->in[0].type);
    double *y = calloc((size_t)n, sizeof *y), *size = calloc((size_t)n, sizeof *size);
    EACH(i, n) EACH(k, d) {
        double term = t->in[0][i / v * d + k] * t->in[1][i % v * d + k];
        y[i] += term;
        size[i] += fabs(term);
    }
    for (int j = 0; j < c->n_out; j++) EACH(i, out_n(c, j)) out[j][i] = 0;
    EACH(r, n / v) {
        double lse = row_lse(y + r * v, v), of_target = 0;
        EACH(i, v) {
            double *s = &size[r * v + i];
            bool one = t->in[2][r] == (double)i;
            if (one) of_target = *s;
            if (!trains) continue;
            *s = slope_terms(c, y[r * v + i], lse, one) + exp(y[r * v + i] - lse) * *s;
            *s *= seed_of(t);
            EACH(k, d) out[0][r * d + k] += *s * fabs(t->in[1][i * d + k]);
            EACH(k, d) out[1][i * d + k] += *s * fabs(t->in[0][r * d + k]);
        }
        if (t->in[2][r] >= 0) out[c->n_out - 2][0] += fabs(lse) + of_target;
    }
    head_chunk(c, size, out[c->n_out - 1]);
    free(y);
    free(size);
}

/* Output j is the new value of input j. */
static void of_update(const Trial *t, double *const *out) {
    for (int j = 0; j < t->c->n_out; j++) EACH(i, out_n(t->c, j))
    out[j][i] = fabs(t->in[j][i]) + fabs(t->want[j][i] - t->in[j][i]);
}

static void of_slope(const Trial *t, double *const *out) {
    EACH(i, out_n(t->c, 0)) out[0][i] = fabs(t->in[0][i]) * (1 + fabs(t->in[1][i]));
}

/* gelu and its slope are at most 1.13 times what they are taken of. */
static void of_linear_gelu(const Trial *t, double *const *out) {
    of_absolutes(t, ref_linear, (double *[]){out[1]});
    EACH(i, out_n(t->c, 0)) out[0][i] = out[1][i];
}
static void of_linear_grad_input_gelu(const Trial *t, double *const *out) {
    of_absolutes(t, ref_linear_grad_input, out);
    EACH(i, out_n(t->c, 0)) out[0][i] *= 1 + fabs(t->in[2][i]);
}

/* Where the terms of all elements are of like size: the largest element. */
static void of_largest(const Trial *t, double *const *out) {
    for (int j = 0; j < t->c->n_out; j++) {
        double largest = 0;
        EACH(i, out_n(t->c, j)) largest = fmax(largest, fabs(t->want[j][i]));
        EACH(i, out_n(t->c, j)) out[j][i] = largest;
    }
}

/* What muon leaves in its workspace has no meaning. */
static void of_muon(const Trial *t, double *const *out) {
    of_largest(t, out);
    EACH(i, out_n(t->c, 1)) out[1][i] = INFINITY;
}

/* Both may broadcast: ref_add repeats the second alone. */
static void of_addition(const Trial *t, double *const *out) {
    if (in_n(t->c, 0) != out_n(t->c, 0) || out_n(t->c, 0) % in_n(t->c, 1))
        of_largest(t, out);
    else
        of_absolutes(t, ref_add, out);
}

static void of_argument(const Trial *t, double *const *out) { of_absolutes(t, ref_copy, out); }
static void of_products(const Trial *t, double *const *out) {
    of_absolutes(t, t->c->reference, out);
}

static void of_itself(const Trial *t, double *const *out) {
    for (int j = 0; j < t->c->n_out; j++) EACH(i, out_n(t->c, j)) out[j][i] = fabs(t->want[j][i]);
}

static const Judgement of_scalar[OP_COUNT] = {
#define SCALAR(op, ...) [OP_##op] = {.terms = of_itself},
#define SPECIAL(...)
#include "scalar.def"
};
static const Judgement judgements[OP_COUNT] = {
#define EXACT(op) [OP_##op] = {.terms = of_itself, .exact = true},
#define TERMS(op, rule) [OP_##op] = {.terms = of_##rule},
#define INSIDE(op, rule) [OP_##op] = {.terms = of_##rule, .rounds_inside = true},
#define WORDS(op, rule) [OP_##op] = {.terms = of_##rule, .rounded_words = true},
#include "gpu/terms.def"
};

const Judgement *judgement_of(OpKind op) {
    static const Judgement of_updates = {.terms = of_update};
    const Judgement *j = judgements[op].terms ? &judgements[op] : &of_scalar[op];
    if (!j->terms && op_info[op].role == ROLE_UPDATE) return &of_updates;
    if (!j->terms) BUG("tests/gpu/terms.def has no row for %s", op_info[op].name);
    return j;
}

double words_value(const int64_t *words) {
    double sum = 0;
    EACH(k, EXACT_BINS)
    sum += ldexp((double)words[k], (int)k * EXACT_BIN_BITS + EXACT_LOWEST_EXPONENT);
    return sum;
}
