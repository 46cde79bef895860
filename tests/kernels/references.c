/* References in f64, written from the definitions in ops.def. Letters as there. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/references.h"
#include "util.h"

REF(add) { EACH(i, out_n(c, 0)) out[0][i] = in[0][i] + in[1][i % in_n(c, 1)]; }
REF(sub) { EACH(i, out_n(c, 0)) out[0][i] = in[0][i] - in[1][i % in_n(c, 1)]; }
REF(mul) { EACH(i, out_n(c, 0)) out[0][i] = in[0][i] * in[1][i % in_n(c, 1)]; }
REF(scale) { EACH(i, out_n(c, 0)) out[0][i] = in[0][i] * c->attr.alpha; }
REF(copy) { EACH(i, out_n(c, 0)) out[0][i] = in[0][i]; }
REF(relu) { EACH(i, out_n(c, 0)) out[0][i] = fmax(in[0][i], 0); }
REF(relu_grad) { EACH(i, out_n(c, 0)) out[0][i] = in[1][i] > 0 ? in[0][i] : 0; }
REF(iota) {
    (void)in;
    EACH(i, out_n(c, 0)) out[0][i] = (double)i;
}
REF(fill) {
    (void)in;
    EACH(i, out_n(c, 0)) out[0][i] = c->attr.alpha;
}

static double gelu(const Case *c, double x) {
    if (c->attr.approx == GELU_TANH)
        return 0.5 * x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    return 0.5 * x * (1 + erf(x / sqrt(2)));
}
static double gelu_slope(const Case *c, double x) {
    if (c->attr.approx != GELU_TANH)
        return 0.5 * (1 + erf(x / sqrt(2))) + x * exp(-x * x / 2) / sqrt(2 * M_PI);
    double t = tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x));
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * sqrt(2 / M_PI) * (1 + 3 * 0.044715 * x * x);
}
REF(gelu) { EACH(i, out_n(c, 0)) out[0][i] = gelu(c, in[0][i]); }
REF(gelu_grad) { EACH(i, out_n(c, 0)) out[0][i] = in[0][i] * gelu_slope(c, in[1][i]); }
REF(silu) { EACH(i, out_n(c, 0)) out[0][i] = in[0][i] / (1 + exp(-in[0][i])); }
REF(tanh) { EACH(i, out_n(c, 0)) out[0][i] = tanh(in[0][i]); }
REF(tanh_grad) { EACH(i, out_n(c, 0)) out[0][i] = in[0][i] * (1 - in[1][i] * in[1][i]); }
REF(sigmoid) { EACH(i, out_n(c, 0)) out[0][i] = 1 / (1 + exp(-in[0][i])); }
REF(sigmoid_grad) { EACH(i, out_n(c, 0)) out[0][i] = in[0][i] * in[1][i] * (1 - in[1][i]); }
REF(silu_grad) {
    EACH(i, out_n(c, 0)) {
        double x = in[1][i], s = 1 / (1 + exp(-x));
        out[0][i] = in[0][i] * s * (1 + x * (1 - s));
    }
}

/* Blocks of `inner` elements; the axis has n entries. */
static int64_t inner_of(const Type *t, int64_t axis) {
    int64_t n = 1;
    for (int64_t i = axis + 1; i < t->rank; i++) n *= t->dim[i];
    return n;
}
REF(split) {
    int64_t inner = inner_of(&c->in[0].type, c->attr.axis);
    EACH(i, in_n(c, 0)) {
        int64_t block = i / inner;
        out[block % c->n_out][block / c->n_out * inner + i % inner] = in[0][i];
    }
}
REF(stack) {
    int64_t inner = inner_of(&c->out[0], c->attr.axis);
    EACH(i, out_n(c, 0)) {
        int64_t block = i / inner;
        out[0][i] = in[block % c->n_in][block / c->n_in * inner + i % inner];
    }
}
/* The only field is i32, at byte 64 of its slot; step names slot 1. */
REF(field) {
    int64_t slot = in_n(c, 0) / 2;
    EACH(i, out_n(c, 0)) {
        uint8_t bytes[4];
        int32_t x;
        for (int k = 0; k < 4; k++) bytes[k] = (uint8_t)in[0][slot + 64 + 4 * i + k];
        memcpy(&x, bytes, 4);
        out[0][i] = x;
    }
}

REF(sum_leading) {
    int64_t n = out_n(c, 0);
    EACH(i, n) out[0][i] = c->n_in > 1 ? in[1][i] : 0;
    EACH(i, in_n(c, 0)) out[0][i % n] += in[0][i];
}

REF(linear) {
    int64_t d = last(&c->in[0].type), o = c->in[1].type.dim[0];
    EACH(i, out_n(c, 0)) {
        out[0][i] = c->n_in > 2 ? in[2][i % o] : 0;
        EACH(k, d) out[0][i] += in[0][i / o * d + k] * in[1][i % o * d + k];
    }
}
REF(linear_grad_input) {
    int64_t o = last(&c->in[0].type), d = last(&c->in[1].type);
    EACH(i, out_n(c, 0)) {
        out[0][i] = 0;
        EACH(k, o) out[0][i] += in[0][i / d * o + k] * in[1][k * d + i % d];
    }
}
REF(linear_grad_weight) {
    int64_t o = last(&c->in[0].type), d = last(&c->in[1].type), rows = in_n(c, 0) / o;
    EACH(i, out_n(c, 0)) {
        out[0][i] = c->n_in > 2 ? in[2][i] : 0;
        EACH(r, rows) out[0][i] += in[0][r * o + i / d] * in[1][r * d + i % d];
    }
}

REF(linear_gelu) {
    ref_linear(c, in, (double *[]){out[1]});
    EACH(i, out_n(c, 0)) out[0][i] = gelu(c, out[1][i]);
}
REF(linear_grad_input_gelu) {
    ref_linear_grad_input(c, in, out);
    EACH(i, out_n(c, 0)) out[0][i] *= gelu_slope(c, in[2][i]);
}
REF(linear_grad_weight_bias) {
    int64_t o = last(&c->in[0].type);
    ref_linear_grad_weight(c, in, out);
    EACH(i, o) out[1][i] = 0;
    EACH(i, in_n(c, 0)) out[1][i % o] += in[0][i];
}

REF(accumulate) {
    for (int j = 0; j < c->n_out; j++)
        EACH(i, out_n(c, j)) out[j][i] = in[j][i] + in[c->n_out + j][i];
}

REF(embedding) {
    int64_t d = last(&c->in[0].type);
    EACH(i, out_n(c, 0)) out[0][i] = in[0][(int64_t)in[1][i / d] * d + i % d];
}
REF(embedding_grad) {
    int64_t d = last(&c->out[0]);
    EACH(i, out_n(c, 0)) out[0][i] = c->n_in > 2 ? in[2][i] : 0;
    EACH(i, in_n(c, 0))
    if (in[1][i / d] + 1 != (double)c->attr.padding)
        out[0][(int64_t)in[1][i / d] * d + i % d] += in[0][i];
}
REF(pick) {
    int64_t d = last(&c->in[0].type), k = last(&c->out[0]);
    EACH(i, out_n(c, 0)) out[0][i] = in[0][i / k * d + (int64_t)in[1][i]];
}
REF(pick_grad) {
    int64_t d = last(&c->out[0]), k = last(&c->in[0].type);
    EACH(i, out_n(c, 0)) out[0][i] = 0;
    EACH(i, in_n(c, 0)) out[0][i / k * d + (int64_t)in[1][i]] += in[0][i];
}
REF(cumsum) {
    int64_t d = last(&c->out[0]);
    EACH(i, out_n(c, 0)) out[0][i] = in[0][i] + (i % d ? out[0][i - 1] : 0);
}
REF(cumsum_grad) {
    int64_t d = last(&c->out[0]);
    for (int64_t i = out_n(c, 0); i-- > 0;)
        out[0][i] = in[0][i] + ((i + 1) % d ? out[0][i + 1] : 0);
}

/* ---- norms: layer_norm* or rms_norm* by c->op */

static bool centered(const Case *c) {
    return c->op == OP_layer_norm || c->op == OP_layer_norm_grad_input ||
           c->op == OP_layer_norm_grad_weight || c->op == OP_add_layer_norm ||
           c->op == OP_layer_norm_grad;
}
static void statistics(const double *x, int64_t d, double eps, bool center, double *mean,
                       double *rstd) {
    double sum = 0, square = 0;
    EACH(i, d) sum += x[i];
    *mean = center ? sum / (double)d : 0;
    EACH(i, d) square += (x[i] - *mean) * (x[i] - *mean);
    *rstd = 1 / sqrt(square / (double)d + eps);
}
REF(norm) {
    int64_t d = last(&c->in[0].type), rows = in_n(c, 0) / d;
    EACH(r, rows) {
        double mean, rstd;
        statistics(in[0] + r * d, d, c->attr.eps, centered(c), &mean, &rstd);
        EACH(i, d)
        out[0][r * d + i] =
            (in[0][r * d + i] - mean) * rstd * in[1][i] + (c->n_in > 2 ? in[2][i] : 0);
        out[c->n_out - 1][r] = rstd;
        if (centered(c)) out[1][r] = mean;
    }
}
REF(add_layer_norm) {
    Case norm = *c;
    double *const from[3] = {out[0], in[2], c->n_in > 3 ? in[3] : NULL};
    norm.n_in = c->n_in - 1;
    norm.n_out = 3;
    EACH(i, in_n(c, 0)) out[0][i] = in[0][i] + in[1][i];
    ref_norm(&norm, from, out + 1);
}
REF(add_rms_norm) {
    Case norm = *c;
    double *const from[2] = {out[0], in[2]};
    norm.n_in = norm.n_out = 2;
    EACH(i, in_n(c, 0)) out[0][i] = in[0][i] + in[1][i];
    ref_norm(&norm, from, out + 1);
}
/* Statistics are the last inputs but a residual: mean (if centered), rstd; x is input 1. */
static int rstd_of(const Case *c) {
    return c->op == OP_layer_norm_grad ? 4 : c->op == OP_rms_norm_grad ? 3 : c->n_in - 1;
}
void derive_statistics(const Case *c, double *const *in, double *const *out) {
    (void)out;
    int64_t d = last(&c->in[1].type), rows = in_n(c, 1) / d;
    EACH(r, rows) {
        double mean, rstd;
        statistics(in[1] + r * d, d, 1e-5, centered(c), &mean, &rstd);
        in[rstd_of(c)][r] = rstd;
        if (centered(c)) in[rstd_of(c) - 1][r] = mean;
    }
}
REF(norm_grad_input) {
    int64_t d = last(&c->in[1].type), rows = in_n(c, 1) / d;
    EACH(r, rows) {
        const double *dy = in[0] + r * d, *x = in[1] + r * d;
        double mean = centered(c) ? in[rstd_of(c) - 1][r] : 0, rstd = in[rstd_of(c)][r];
        double g_mean = 0, gx_mean = 0;
        EACH(i, d) {
            g_mean += dy[i] * in[2][i] / (double)d;
            gx_mean += dy[i] * in[2][i] * (x[i] - mean) * rstd / (double)d;
        }
        if (!centered(c)) g_mean = 0;
        EACH(i, d)
        out[0][r * d + i] = rstd * (dy[i] * in[2][i] - g_mean - (x[i] - mean) * rstd * gx_mean);
    }
}
REF(norm_grad_weight) {
    int64_t d = last(&c->in[1].type);
    EACH(i, d) out[0][i] = 0;
    EACH(i, in_n(c, 1)) {
        double mean = centered(c) ? in[rstd_of(c) - 1][i / d] : 0, rstd = in[rstd_of(c)][i / d];
        out[0][i % d] += in[0][i] * (in[1][i] - mean) * rstd;
    }
}

/* Both norms: dx, dw and (if centered) db. */
REF(norm_grad) {
    int64_t d = last(&c->in[1].type);
    ref_norm_grad_input(c, in, out);
    ref_norm_grad_weight(c, in, out + 1);
    for (int64_t i = 0; c->n_out > 2 && i < d; i++) out[2][i] = 0;
    EACH(i, in_n(c, 0)) {
        if (c->n_out > 2) out[2][i % d] += in[0][i];
        if (c->n_in > rstd_of(c) + 1) out[0][i] += in[rstd_of(c) + 1][i];
    }
}

/* ---- loss */

double row_lse(const double *x, int64_t v) {
    double top = -INFINITY, sum = 0;
    EACH(i, v) top = fmax(top, x[i]);
    EACH(i, v) sum += exp(x[i] - top);
    return top + log(sum);
}
/* The loss itself is compared by the runner from lse; see kernel_test.c. */
REF(cross_entropy) {
    int64_t v = last(&c->in[0].type);
    memset(out[0], 0, sizeof(double) * EXACT_WORDS);
    EACH(r, in_n(c, 1)) out[1][r] = row_lse(in[0] + r * v, v);
}
/* Of each run of v / parts logits, rounded up: log-sum-exp and 0, or the target's logit. */
REF(cross_entropy_part) {
    int64_t v = last(&c->in[0].type), rank = c->out[0].rank, n = c->out[0].dim[rank - 2];
    int64_t each = (v + n - 1) / n;
    EACH(i, in_n(c, 1) * n) {
        int64_t r = i / n, from = MIN(i % n * each, v), end = MIN(from + each, v);
        double target = in[1][r];
        out[0][3 * i] = row_lse(in[0] + r * v + from, end - from);
        out[0][3 * i + 1] = 0;
        out[0][3 * i + 2] =
            target >= (double)from && target < (double)end ? in[0][r * v + (int64_t)target] : 0;
    }
}
REF(cross_entropy_merge) {
    int64_t n = c->in[0].type.dim[c->in[0].type.rank - 2];
    memset(out[0], 0, sizeof(double) * EXACT_WORDS);
    EACH(r, in_n(c, 1)) {
        double sum = 0;
        EACH(k, n) sum += exp(in[0][3 * (r * n + k)] + in[0][3 * (r * n + k) + 1]);
        out[1][r] = log(sum);
    }
}
void derive_lse(const Case *c, double *const *in, double *const *out) {
    (void)out;
    int64_t v = last(&c->in[0].type);
    EACH(r, in_n(c, 1)) in[2][r] = row_lse(in[0] + r * v, v);
}
REF(cross_entropy_grad) {
    int64_t v = last(&c->in[0].type);
    EACH(i, in_n(c, 0)) {
        double target = in[1][i / v];
        double share = 1 + 2 * c->attr.z * in[2][i / v];
        double p = exp(in[0][i] - in[2][i / v]) * share - (target == (double)(i % v));
        bool scaled = c->in[c->n_in - 1].fill == FILL_STEP;
        double seed = ldexp(scaled ? in[3][STEP_LOSS_SCALE] : 1, (int)c->attr.exponent);
        out[0][i] = target == (double)c->attr.ignore ? 0 : p * seed;
    }
}
/* 0 for targets that are ignored. */
REF(cross_entropy_each) {
    int64_t v = last(&c->in[0].type);
    EACH(r, in_n(c, 1)) {
        double lse = row_lse(in[0] + r * v, v), target = in[1][r];
        bool counts = target != (double)c->attr.ignore;
        out[0][r] = counts ? lse - in[0][r * v + (int64_t)target] + c->attr.z * lse * lse : 0;
        out[1][r] = lse;
    }
}
void derive_lse_of_second(const Case *c, double *const *in, double *const *out) {
    (void)out;
    int64_t v = last(&c->in[1].type);
    EACH(r, in_n(c, 0)) in[c->n_in - 1][r] = row_lse(in[1] + r * v, v);
}
REF(cross_entropy_each_grad) {
    int64_t v = last(&c->in[1].type);
    EACH(i, in_n(c, 1)) {
        int64_t r = i / v;
        double target = in[2][r], share = 1 + 2 * c->attr.z * in[3][r];
        double p = exp(in[1][i] - in[3][r]) * share - (target == (double)(i % v));
        out[0][i] = target == (double)c->attr.ignore ? 0 : in[0][r] * p;
    }
}
REF(logsumexp) {
    int64_t v = last(&c->in[0].type);
    EACH(r, out_n(c, 0)) out[0][r] = row_lse(in[0] + r * v, v);
}
REF(logsumexp_grad) {
    int64_t v = last(&c->in[1].type);
    EACH(i, out_n(c, 0)) out[0][i] = in[0][i / v] * exp(in[1][i] - in[2][i / v]);
}
REF(cross_entropy_both) {
    double *lse = malloc(sizeof *lse * (size_t)in_n(c, 1));
    double *const loss[2] = {out[1], lse}, *const from[4] = {in[0], in[1], lse, in[2]};
    ref_cross_entropy(c, in, loss);
    ref_cross_entropy_grad(c, from, out);
    free(lse);
}
/* wide as [outer, n, inner], where narrow has [outer, 1, inner] */
static Along along(const Type *wide, const Type *narrow) {
    Along a;
    CHECK(type_along(wide, narrow, &a));
    return a;
}
REF(mse_grad) {
    double seed = ldexp(c->n_in > 2 ? in[2][STEP_LOSS_SCALE] : 1, (int)c->attr.exponent);
    EACH(i, in_n(c, 0)) out[0][i] = seed * 2 * (in[0][i] - in[1][i]);
}
REF(mean) {
    Along a = along(&c->in[0].type, &c->out[0]);
    int64_t n = a.n, inner = a.inner;
    EACH(k, out_n(c, 0)) {
        out[0][k] = 0;
        EACH(t, n) out[0][k] += in[0][(k / inner * n + t) * inner + k % inner] / (double)n;
    }
}
REF(mean_grad) {
    Along a = along(&c->out[0], &c->in[0].type);
    int64_t n = a.n, inner = a.inner;
    EACH(k, out_n(c, 0)) out[0][k] = in[0][k / (n * inner) * inner + k % inner] / (double)n;
}
/* Place in operand i of element k of a result of type y, by NumPy's rule. */
static int64_t under(const Type *x, const Type *y, int64_t k) {
    int64_t at = 0, stride = 1;
    for (int i = 0; i < x->rank; i++) {
        int64_t n = x->dim[x->rank - 1 - i], all = y->dim[y->rank - 1 - i];
        at += (n == 1 ? 0 : k % all) * stride;
        stride *= n;
        k /= all;
    }
    return at;
}
static double grad_of_extreme(double dy, double a, double b) {
    return a > b ? dy : a == b ? dy / 2 : 0;
}
static double of_three(OpKind op, double a, double b, double c) {
    switch ((int)op) {
    case OP_add: return a + b;
    case OP_sub: return a - b;
    case OP_mul: return a * b;
    case OP_div: return a / b;
    case OP_power: return pow(a, b);
    case OP_maximum:
    case OP_at_least: return fmax(a, b);
    case OP_minimum:
    case OP_at_most: return fmin(a, b);
    case OP_less: return a < b;
    case OP_less_equal: return a <= b;
    case OP_equal: return a == b;
    case OP_unequal: return a != b;
    case OP_where: return a != 0 ? b : c;
    case OP_expand:
    case OP_widen: return a;
    case OP_exp: return exp(a);
    case OP_log: return log(a);
    case OP_sqrt: return sqrt(a);
    case OP_rsqrt: return 1 / sqrt(a);
    case OP_abs: return fabs(a);
    case OP_floor: return floor(a);
    case OP_ceil: return ceil(a);
    case OP_sin: return sin(a);
    case OP_cos: return cos(a);
    case OP_softplus: return fmax(a, 0) + log1p(exp(-fabs(a)));
    case OP_softplus_grad: return a / (1 + exp(-b));
    case OP_remainder: return a - floor(a / b) * b;
    case OP_remainder_grad: return -a * (floor(b / c) + 0 * fmod(b, c));
    case OP_keep: return b != 0 ? a : 0;
    case OP_drop: return b != 0 ? 0 : a;
    case OP_div_grad: return -a * b / c;
    case OP_power_grad_base: return c == 0 ? 0 : a * c * pow(b, c - 1);
    case OP_power_grad_exponent: return c == 0 || (b == 0 && c == 1) ? 0 : a * c * log(b);
    case OP_maximum_grad: return grad_of_extreme(a, b, c);
    case OP_beyond_grad: return b > c ? a : 0;
    case OP_sqrt_grad: return a / (2 * b);
    case OP_rsqrt_grad: return -a * b * b * b / 2;
    case OP_abs_grad: return b > 0 ? a : b < 0 ? -a : 0;
    case OP_sin_grad: return a * cos(b);
    case OP_cos_grad: return -a * sin(b);
    default: BUG("no reference for op %d", op);
    }
}
REF(map) {
    EACH(k, out_n(c, 0)) {
        double x[3] = {0};
        EACH(i, c->n_in) x[i] = in[i][under(&c->in[i].type, &c->out[0], k)];
        out[0][k] = of_three(c->op, x[0], x[1], x[2]);
    }
}
/* Of these functions of a formula; the others are ops of their own in cases. */
static double of_step(const FormulaStep *s, double a, double b, double c) {
    Attrs attr;
    int op = formula_step_op(s, &attr);
    switch (op) {
    case OP_scale: return a * attr.alpha;
    case OP_constant: return attr.alpha;
    case OP_silu: return a / (1 + exp(-a));
    case OP_sigmoid_grad: return a * b * (1 - b);
    default: return of_three((OpKind)op, a, b, c);
    }
}
/* A step of a formula: at[v][k] is element k of value v, of the shape of the formula. */
static void of_elements(const FormulaStep *s, double *const *at, double *to, int64_t n) {
    int arity = scalar_arity(s->function);
    EACH(k, n) {
        double x[3] = {0};
        EACH(a, arity) x[a] = at[s->arg[a]][k];
        to[k] = of_step(s, x[0], x[1], x[2]);
    }
}
/* One that works on the rows of D elements; a narrow value is repeated along its row. */
static void of_rows(const FormulaStep *s, double *const *at, double *to, int64_t n, int64_t D) {
    bool max = s->function == SCALAR_max, min = s->function == SCALAR_min;
    EACH(r, n / D) {
        const double *x = at[s->arg[0]] + r * D;
        double number = max || min ? x[0] : 0, equal = 0;
        EACH(i, D) number = max ? fmax(number, x[i]) : min ? fmin(number, x[i]) : number + x[i];
        if (s->function == SCALAR_mean) number /= (double)D;
        if (s->function == SCALAR_mean_grad) number = x[0] / (double)D;
        EACH(i, D) to[r * D + i] = number;
        if (s->function != SCALAR_extreme_grad) continue;
        const double *of = at[s->arg[1]] + r * D, *top = at[s->arg[2]] + r * D;
        EACH(i, D) equal += of[i] == top[i];
        EACH(i, D) to[r * D + i] = of[i] == top[i] ? x[0] / equal : 0;
    }
}
/* A move, between parts and what they are cut from: [outer, all, inner]. */
static void of_move(const FormulaStep *s, const Type *type, double *const *at, double *to,
                    const Type *y) {
    bool takes = s->function == SCALAR_slice || s->function == SCALAR_split, stacks;
    int64_t inner = 1, outer = 1, entry = s->start;
    stacks = s->function == SCALAR_stack || s->function == SCALAR_stack_3;
    const Type *x = &type[s->arg[0]], *cut = takes ? x : y;
    for (int i = 0; i < cut->rank; i++) *(i < (int)s->axis ? &outer : &inner) *= cut->dim[i];
    int64_t all = cut->dim[s->axis];
    inner /= all;
    EACH(k, type_elements(y)) if (!takes) to[k] = 0;
    for (int a = 0; a < scalar_arity(s->function); a++) {
        const Type *part = takes ? y : &type[s->arg[a]];
        int64_t n = stacks || s->function == SCALAR_split ? 1 : part->dim[s->axis];
        EACH(o, outer) EACH(e, n) EACH(i, inner) {
            int64_t whole = (o * all + entry + e) * inner + i, own = (o * n + e) * inner + i;
            *(takes ? &to[own] : &to[whole]) = at[s->arg[a]][takes ? whole : own];
        }
        entry += n;
    }
}
/* A formula with moves: each value has the shape of its op. */
static void of_parts(const Case *c, const FormulaStep *step, uint32_t n_step, double *const *in,
                     double *const *out) {
    double *at[FORMULA_OPERANDS + FORMULA_STEPS];
    Type type[FORMULA_OPERANDS + FORMULA_STEPS];
    EACH(i, c->n_in) type[i] = c->in[i].type;
    CHECK(!formula_types((uint32_t)c->n_in, n_step, step, type));
    EACH(i, c->n_in) at[i] = in[i];
    EACH(j, n_step) {
        const FormulaStep *s = &step[j];
        const Type *y = &type[c->n_in + j];
        double *to = at[c->n_in + j] = calloc((size_t)type_elements(y), sizeof(double));
        if (scalar_move(s->function)) of_move(s, type, at, to, y);
        EACH(k, scalar_move(s->function) ? 0 : type_elements(y)) {
            double x[3] = {0};
            EACH(a, scalar_arity(s->function)) x[a] = at[s->arg[a]][under(&type[s->arg[a]], y, k)];
            to[k] = of_step(s, x[0], x[1], x[2]);
        }
        if (s->result) EACH(k, type_elements(y)) out[s->result - 1][k] = to[k];
    }
    EACH(j, n_step) free(at[c->n_in + j]);
}
REF(fused) {
    const PlanFormula *f = &c->plan->formulas[c->attr.index];
    const FormulaStep *step = c->plan->steps + f->first_step;
    double *at[FORMULA_OPERANDS + FORMULA_STEPS];
    Type shape = c->in[0].type;
    if (formula_moves(f->n_step, step)) {
        of_parts(c, step, f->n_step, in, out);
        return;
    }
    EACH(i, c->n_in) CHECK(type_broadcast(&shape, &c->in[i].type));
    int64_t n = type_elements(&shape), D = last_dim(&shape);
    EACH(v, c->n_in + (int)f->n_step) at[v] = calloc((size_t)n, sizeof(double));
    EACH(i, c->n_in) EACH(k, n) at[i][k] = in[i][under(&c->in[i].type, &shape, k)];
    EACH(j, f->n_step) {
        double *to = at[c->n_in + (int)j];
        if (scalar_row(step[j].function) == ROW_NONE)
            of_elements(&step[j], at, to, n);
        else
            of_rows(&step[j], at, to, n, D);
        if (!step[j].result) continue;
        int64_t out_of = out_n(c, step[j].result - 1);
        EACH(k, out_of) out[step[j].result - 1][k] = to[k * (n / out_of)];
    }
    EACH(v, c->n_in + (int)f->n_step) free(at[v]);
}
REF(constant) {
    (void)in;
    out[0][0] = c->attr.alpha;
}
REF(to_int) { EACH(k, out_n(c, 0)) out[0][k] = trunc(in[0][k]); }
REF(to_float) { EACH(k, out_n(c, 0)) out[0][k] = in[0][k]; }
REF(sum_to) {
    EACH(k, out_n(c, 0)) out[0][k] = 0;
    EACH(k, in_n(c, 0)) out[0][under(&c->out[0], &c->in[0].type, k)] += in[0][k];
}
/* max and min; of a result of extreme_grad the largest, which its operand 2 is. */
static double extreme_along(Along a, const double *x, int64_t k, bool larger) {
    int64_t n = a.n, inner = a.inner, at = k / inner * n * inner + k % inner;
    double top = x[at];
    EACH(i, n) top = larger ? fmax(top, x[at + i * inner]) : fmin(top, x[at + i * inner]);
    return top;
}
REF(extreme) {
    Along a = along(&c->in[0].type, &c->out[0]);
    EACH(k, out_n(c, 0)) out[0][k] = extreme_along(a, in[0], k, c->op == OP_max);
}
void derive_extreme(const Case *c, double *const *in, double *const *out) {
    (void)out;
    Along a = along(&c->in[1].type, &c->in[2].type);
    EACH(k, in_n(c, 2)) in[2][k] = extreme_along(a, in[1], k, true);
}
REF(extreme_grad) {
    Along a = along(&c->in[1].type, &c->in[2].type);
    int64_t n = a.n, inner = a.inner;
    EACH(k, in_n(c, 0)) {
        int64_t at = k / inner * n * inner + k % inner, equal = 0;
        EACH(i, n) equal += in[1][at + i * inner] == in[2][k];
        EACH(i, n)
        out[0][at + i * inner] = in[1][at + i * inner] == in[2][k] ? in[0][k] / (double)equal : 0;
    }
}
REF(accuracy) {
    int64_t v = last(&c->in[0].type), bin = -EXACT_LOWEST_EXPONENT / EXACT_BIN_BITS;
    memset(out[0], 0, sizeof(double) * EXACT_WORDS);
    EACH(r, in_n(c, 1)) {
        const double *x = in[0] + r * v;
        int64_t target = (int64_t)in[1][r], above = 0;
        if (target == c->attr.ignore) continue;
        EACH(i, v) above += x[i] > x[target] || (x[i] == x[target] && i < target);
        out[0][EXACT_COUNT] += 1;
        out[0][bin] += above < c->attr.k ? ldexp(1, 20) : 0;
    }
}
REF(metric_add) {
    bool larger = c->out[0].dtype == DT_I32;
    EACH(i, out_n(c, 0)) out[0][i] = larger ? fmax(in[0][i], in[1][i]) : in[0][i] + in[1][i];
}
