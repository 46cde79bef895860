/* See reference.h. Letters as in ops.def: B batch, T/S target/source position, H heads, K key-value
 * heads, h head width, D width, O output width, V vocabulary, R rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops/reference_run.h"

typedef void (*Forward)(Run *r, const Op *op);

static void run_param(Run *r, const Op *op) {
    memcpy(out(r, op, 0), r->data->params[op->attr->index],
           sizeof(double) * (size_t)elements(r, op->out));
}

static void run_field(Run *r, const Op *op) {
    memcpy(out(r, op, 0), r->data->fields[op->attr->index],
           sizeof(double) * (size_t)elements(r, op->out));
}

static void run_iota(Run *r, const Op *op) {
    for (int64_t i = 0; i < elements(r, op->out); i++) out(r, op, 0)[i] = (double)i;
}

static void run_nothing(Run *r, const Op *op) { (void)r, (void)op; }

static void run_set_state(Run *r, const Op *op) {
    if (r->g->states.at[op->attr->index].role == STATE_METRIC) r->loss += in(r, op, 0)[0];
}

static void run_reshape(Run *r, const Op *op) {
    memcpy(out(r, op, 0), in(r, op, 0), sizeof(double) * (size_t)elements(r, op->out));
}

/* The axis has n entries, each a block of `inner` elements, `outer` times. */
static void axis_extent(const Type *t, int64_t axis, int64_t *outer, int64_t *inner) {
    *outer = *inner = 1;
    for (int64_t i = 0; i < axis; i++) *outer *= t->dim[i];
    for (int64_t i = axis + 1; i < t->rank; i++) *inner *= t->dim[i];
}

static void run_split(Run *r, const Op *op) {
    int64_t outer, inner;
    axis_extent(type_at(r, op->in[0]), op->attr->axis, &outer, &inner);
    for (int64_t o = 0; o < outer; o++)
        for (int64_t j = 0; j < op->n_out; j++)
            for (int64_t i = 0; i < inner; i++)
                out(r, op, (uint32_t)j)[o * inner + i] =
                    in(r, op, 0)[(o * op->n_out + j) * inner + i];
}

static void run_stack(Run *r, const Op *op) {
    int64_t outer, inner;
    axis_extent(type_at(r, op->out), op->attr->axis, &outer, &inner);
    for (int64_t o = 0; o < outer; o++)
        for (int64_t j = 0; j < op->n_in; j++)
            for (int64_t i = 0; i < inner; i++)
                out(r, op, 0)[(o * op->n_in + j) * inner + i] =
                    in(r, op, (uint32_t)j)[o * inner + i];
}

static double gelu_of(double x, GeluForm form) {
    if (form == GELU_ERF) return 0.5 * x * (1 + erf(x / sqrt(2.0)));
    return 0.5 * x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

static void run_unary(Run *r, const Op *op) {
    for (int64_t i = 0; i < elements(r, op->out); i++) {
        double x = in(r, op, 0)[i], y = 0;
        if (op->kind == OP_scale) y = x * op->attr->alpha;
        if (op->kind == OP_relu) y = x > 0 ? x : 0;
        if (op->kind == OP_gelu) y = gelu_of(x, (GeluForm)op->attr->approx);
        if (op->kind == OP_tanh) y = tanh(x);
        if (op->kind == OP_sigmoid) y = 1 / (1 + exp(-x));
        if (op->kind == OP_silu) y = x / (1 + exp(-x));
        out(r, op, 0)[i] = y;
    }
}

static void run_dropout(Run *r, const Op *op) {
    int64_t n = elements(r, op->out);
    r->data->dropout(r->data->context, op, n, out(r, op, 0));
    for (int64_t i = 0; i < n; i++) out(r, op, 0)[i] *= in(r, op, 0)[i];
}

static void run_linear(Run *r, const Op *op) {
    const Type *w = type_at(r, op->in[1]);
    int64_t O = w->dim[0], D = w->dim[1], R = elements(r, op->in[0]) / D;
    for (int64_t i = 0; i < R; i++)
        for (int64_t o = 0; o < O; o++) {
            double sum = op->n_in > 2 ? in(r, op, 2)[o] : 0;
            for (int64_t d = 0; d < D; d++)
                sum += in(r, op, 0)[i * D + d] * in(r, op, 1)[o * D + d];
            out(r, op, 0)[i * O + o] = sum;
        }
}

static void run_linear_gelu(Run *r, const Op *op) {
    Op linear = *op;
    linear.out = op->out + 1;
    run_linear(r, &linear);
    for (int64_t i = 0; i < elements(r, op->out); i++)
        out(r, op, 0)[i] = gelu_of(out(r, op, 1)[i], (GeluForm)op->attr->approx);
}

static void run_embedding(Run *r, const Op *op) {
    int64_t D = last_dim(type_at(r, op->in[0])), n = elements(r, op->in[1]);
    for (int64_t i = 0; i < n; i++)
        for (int64_t d = 0; d < D; d++)
            out(r, op, 0)[i * D + d] = in(r, op, 0)[(int64_t)in(r, op, 1)[i] * D + d];
}

static void run_layer_norm(Run *r, const Op *op) {
    int64_t D = last_dim(type_at(r, op->in[0])), R = elements(r, op->in[0]) / D;
    for (int64_t i = 0; i < R; i++) {
        const double *x = in(r, op, 0) + i * D;
        double mean = 0, variance = 0;
        for (int64_t d = 0; d < D; d++) mean += x[d] / (double)D;
        for (int64_t d = 0; d < D; d++) variance += (x[d] - mean) * (x[d] - mean) / (double)D;
        double rstd = 1 / sqrt(variance + op->attr->eps);
        for (int64_t d = 0; d < D; d++)
            out(r, op, 0)[i * D + d] =
                (x[d] - mean) * rstd * in(r, op, 1)[d] + (op->n_in > 2 ? in(r, op, 2)[d] : 0);
        out(r, op, 1)[i] = mean;
        out(r, op, 2)[i] = rstd;
    }
}

static void run_rms_norm(Run *r, const Op *op) {
    int64_t D = last_dim(type_at(r, op->in[0])), R = elements(r, op->in[0]) / D;
    for (int64_t i = 0; i < R; i++) {
        const double *x = in(r, op, 0) + i * D;
        double square = 0;
        for (int64_t d = 0; d < D; d++) square += x[d] * x[d] / (double)D;
        double rstd = 1 / sqrt(square + op->attr->eps);
        for (int64_t d = 0; d < D; d++) out(r, op, 0)[i * D + d] = x[d] * rstd * in(r, op, 1)[d];
        out(r, op, 1)[i] = rstd;
    }
}

static double angle_of(const Attrs *a, int64_t t, int64_t i, int64_t half) {
    double speed = pow(a->base, -(double)i / (double)half);
    double turns = speed * (double)a->original / (2 * M_PI);
    double fast = (turns - a->low) / (a->high - a->low);
    fast = !a->original || fast < 0 ? 0 : fast > 1 ? 1 : fast;
    return (double)t * speed * (fast + (1 - fast) / a->factor);
}

static void run_rope(Run *r, const Op *op) {
    const Type *x = type_at(r, op->in[0]);
    int64_t T = x->dim[1], H = x->dim[2], h = x->dim[3];
    int64_t half = (op->attr->dims ? op->attr->dims : h) / 2;
    for (int64_t row = 0; row < x->dim[0] * T * H; row++) {
        const double *from = in(r, op, 0) + row * h;
        double *to = out(r, op, 0) + row * h;
        memcpy(to, from, sizeof(double) * (size_t)h);
        for (int64_t i = 0; i < half; i++) {
            int64_t a = op->attr->interleaved ? 2 * i : i,
                    b = op->attr->interleaved ? a + 1 : i + half;
            double angle = angle_of(op->attr, row / H % T, i, half);
            to[a] = from[a] * cos(angle) - from[b] * sin(angle);
            to[b] = from[b] * cos(angle) + from[a] * sin(angle);
        }
    }
}

enum { MAX_POSITIONS = 128 };

/* Keys of one row of attention: `stride` apart. bias, mask: of the keys, or NULL. */
typedef struct Keys {
    const double *k, *v, *bias, *mask;
    int64_t n, stride;
} Keys;

/* One row: q [h] against its keys. */
static double attend(const double *q, const Keys *x, double *o, int64_t h, double alpha) {
    double p[MAX_POSITIONS], top = -INFINITY, sum = 0;
    CHECK(x->n <= MAX_POSITIONS);
    for (int64_t i = 0; i < h; i++) o[i] = 0;
    for (int64_t s = 0; s < x->n; s++) {
        p[s] = x->bias ? x->bias[s] : 0;
        for (int64_t i = 0; i < h; i++) p[s] += q[i] * x->k[s * x->stride + i] * alpha;
        if (x->mask && x->mask[s] == 0) p[s] = -INFINITY;
        top = fmax(top, p[s]);
    }
    if (top == -INFINITY) return 0;
    for (int64_t s = 0; s < x->n; s++) sum += p[s] = exp(p[s] - top);
    for (int64_t s = 0; s < x->n; s++)
        for (int64_t i = 0; i < h; i++) o[i] += p[s] / sum * x->v[s * x->stride + i];
    return top + log(sum);
}

static void run_attention(Run *r, const Op *op) {
    const Type *q = type_at(r, op->in[0]), *k = type_at(r, op->in[1]);
    int64_t B = q->dim[0], T = q->dim[1], H = q->dim[2], h = q->dim[3], S = k->dim[1],
            K = k->dim[2];
    uint32_t biased = op->kind == OP_attention_biased;
    for (int64_t b = 0; b < B; b++)
        for (int64_t t = 0; t < T; t++)
            for (int64_t i = 0; i < H; i++) {
                int64_t row = ((b * T + t) * H + i) * h, other = (b * S * K + i / (H / K)) * h;
                Keys x = {in(r, op, 1) + other,
                          in(r, op, 2) + other,
                          biased ? in(r, op, 3) + (i * T + t) * S : NULL,
                          op->n_in > 3 + biased ? in(r, op, 3 + biased) + b * S : NULL,
                          op->attr->causal ? MIN(t + 1, S) : S,
                          K * h};
                out(r, op, 1)[(b * H + i) * T + t] =
                    attend(in(r, op, 0) + row, &x, out(r, op, 0) + row, h, op->attr->alpha);
            }
}

static void run_attention_packed(Run *r, const Op *op) {
    const Type *x = type_at(r, op->in[0]);
    int64_t B = x->dim[0], T = x->dim[1], H = x->dim[3], h = x->dim[4], third = H * h;
    for (int64_t b = 0; b < B; b++)
        for (int64_t t = 0; t < T; t++)
            for (int64_t i = 0; i < H; i++) {
                const double *base = in(r, op, 0) + b * T * 3 * third + i * h;
                Keys x = {base + third, base + 2 * third, NULL, NULL, op->attr->causal ? t + 1 : T,
                          3 * third};
                out(r, op, 1)[(b * H + i) * T + t] =
                    attend(base + t * 3 * third, &x, out(r, op, 0) + ((b * T + t) * H + i) * h, h,
                           op->attr->alpha);
            }
}

static void run_relative_bias(Run *r, const Op *op) {
    const Type *w = type_at(r, op->in[0]), *y = type_at(r, op->out);
    int64_t H = w->dim[1], T = y->dim[1], S = y->dim[2], both = op->attr->bidirectional;
    int64_t n = both ? w->dim[0] / 2 : w->dim[0], half = n / 2;
    for (int64_t i = 0; i < H * T * S; i++) {
        int64_t d = i % S - i / S % T, far = d > 0 ? (both ? d : 0) : -d, row = far;
        double place = log((double)far / (double)half) /
                       log((double)op->attr->max_distance / (double)half) * (double)(n - half);
        if (far >= half) row = MIN(half + (int64_t)(place + 1e-9), n - 1);
        out(r, op, 0)[i] = in(r, op, 0)[(row + (both && d > 0 ? n : 0)) * H + i / S / T];
    }
}

static void run_cross_entropy(Run *r, const Op *op) {
    int64_t V = last_dim(type_at(r, op->in[0])), R = elements(r, op->in[1]);
    double loss = 0;
    for (int64_t i = 0; i < R; i++) {
        const double *x = in(r, op, 0) + i * V;
        double top = x[0], sum = 0;
        for (int64_t v = 1; v < V; v++) top = fmax(top, x[v]);
        for (int64_t v = 0; v < V; v++) sum += exp(x[v] - top);
        int64_t target = (int64_t)in(r, op, 1)[i];
        double lse = top + log(sum);
        if (target != op->attr->ignore) loss += lse - x[target] + op->attr->z * lse * lse;
        out(r, op, 1)[i] = top + log(sum);
    }
    out(r, op, 0)[0] = loss;
}

static void run_mean(Run *r, const Op *op) {
    Along a;
    CHECK(type_along(type_at(r, op->in[0]), type_at(r, op->out), &a));
    int64_t n = a.n, inner = a.inner;
    for (int64_t k = 0; k < elements(r, op->out); k++) {
        double sum = 0;
        for (int64_t i = 0; i < n; i++)
            sum += in(r, op, 0)[(k / inner * n + i) * inner + k % inner];
        out(r, op, 0)[k] = sum / (double)n;
    }
}

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

static double of_three(OpKind kind, double a, double b, double c) {
    switch ((int)kind) {
    case OP_add: return a + b;
    case OP_sub: return a - b;
    case OP_mul: return a * b;
    case OP_div: return a / b;
    case OP_power: return pow(a, b);
    case OP_maximum: return fmax(a, b);
    case OP_minimum: return fmin(a, b);
    case OP_less: return a < b;
    case OP_where: return a != 0 ? b : c;
    case OP_exp: return exp(a);
    case OP_log: return log(a);
    case OP_sqrt: return sqrt(a);
    case OP_rsqrt: return 1 / sqrt(a);
    case OP_abs: return fabs(a);
    case OP_sin: return sin(a);
    case OP_cos: return cos(a);
    default: BUG("no reference for op %d", kind);
    }
}

static void run_map(Run *r, const Op *op) {
    for (int64_t k = 0; k < elements(r, op->out); k++) {
        double x[3] = {0};
        for (uint32_t i = 0; i < op->n_in; i++)
            x[i] = in(r, op, i)[under(type_at(r, op->in[i]), type_at(r, op->out), k)];
        out(r, op, 0)[k] = of_three(op->kind, x[0], x[1], x[2]);
    }
}

static void run_constant(Run *r, const Op *op) { out(r, op, 0)[0] = op->attr->alpha; }

static void run_sum(Run *r, const Op *op) {
    const Type *x = type_at(r, op->in[0]), *y = type_at(r, op->out);
    memset(out(r, op, 0), 0, sizeof(double) * (size_t)elements(r, op->out));
    for (int64_t k = 0; k < elements(r, op->in[0]); k++)
        out(r, op, 0)[under(y, x, k)] += in(r, op, 0)[k];
}

static void run_expand(Run *r, const Op *op) {
    const Type *x = type_at(r, op->in[0]), *y = type_at(r, op->out);
    for (int64_t k = 0; k < elements(r, op->out); k++)
        out(r, op, 0)[k] = in(r, op, 0)[under(x, y, k)];
}

static void run_extreme(Run *r, const Op *op) {
    Along a;
    CHECK(type_along(type_at(r, op->in[0]), type_at(r, op->out), &a));
    int64_t n = a.n, inner = a.inner;
    for (int64_t k = 0; k < elements(r, op->out); k++) {
        double top = op->kind == OP_max ? -INFINITY : INFINITY;
        for (int64_t i = 0; i < n; i++) {
            double x = in(r, op, 0)[(k / inner * n + i) * inner + k % inner];
            top = op->kind == OP_max ? fmax(top, x) : fmin(top, x);
        }
        out(r, op, 0)[k] = top;
    }
}

static void run_mse(Run *r, const Op *op) {
    double loss = 0;
    for (int64_t i = 0; i < elements(r, op->in[0]); i++)
        loss += pow(in(r, op, 0)[i] - in(r, op, 1)[i], 2);
    out(r, op, 0)[0] = loss;
}

static void run_transpose(Run *r, const Op *op) {
    const Type *x = type_at(r, op->in[0]), *y = type_at(r, op->out);
    int axis[MAX_RANK];
    CHECK(axes_of_order(op->attr->order, x->rank, axis));
    for (int64_t i = 0; i < elements(r, op->out); i++) {
        int64_t index[MAX_RANK], rest = i, from = 0;
        for (int k = y->rank; k-- > 0; rest /= y->dim[k]) index[axis[k]] = rest % y->dim[k];
        for (int k = 0; k < x->rank; k++) from = from * x->dim[k] + index[k];
        out(r, op, 0)[i] = in(r, op, 0)[from];
    }
}

/* Entries from `start` on of an axis of `whole` are those of `part`. */
static void run_part(Run *r, ValueId part, ValueId whole, int64_t axis, int64_t start,
                     bool out_of) {
    const Type *p = type_at(r, part), *w = type_at(r, whole);
    int64_t outer, inner, width, n = p->dim[axis];
    axis_extent(p, axis, &outer, &inner);
    width = w->dim[axis];
    for (int64_t i = 0; i < elements(r, part); i++) {
        int64_t at = (i / inner / n * width + start + i / inner % n) * inner + i % inner;
        if (out_of)
            r->value[part][i] = r->value[whole][at];
        else
            r->value[whole][at] = r->value[part][i];
    }
}

static void run_slice(Run *r, const Op *op) {
    run_part(r, op->out, op->in[0], op->attr->axis, op->attr->start, true);
}

static void run_concat(Run *r, const Op *op) {
    int64_t start = 0;
    for (uint32_t j = 0; j < op->n_in; j++) {
        run_part(r, op->in[j], op->out, op->attr->axis, start, false);
        start += type_at(r, op->in[j])->dim[op->attr->axis];
    }
}

static void run_matmul(Run *r, const Op *op) {
    const Type *b = type_at(r, op->in[1]);
    int64_t K = b->dim[b->rank - 2], N = last_dim(b), M = type_at(r, op->in[0])->dim[b->rank - 2];
    for (int64_t i = 0; i < elements(r, op->out); i++) {
        int64_t row = i / N, batch = row / M;
        double sum = 0;
        for (int64_t k = 0; k < K; k++)
            sum += in(r, op, 0)[row * K + k] * in(r, op, 1)[(batch * K + k) * N + i % N];
        out(r, op, 0)[i] = sum;
    }
}

static const Forward forward[OP_COUNT] = {
    [OP_param] = run_param,
    [OP_field] = run_field,
    [OP_iota] = run_iota,
    [OP_state] = run_nothing,
    [OP_set_state] = run_set_state,
    [OP_reshape] = run_reshape,
    [OP_split] = run_split,
    [OP_stack] = run_stack,
    [OP_add] = run_map,
    [OP_sub] = run_map,
    [OP_mul] = run_map,
    [OP_scale] = run_unary,
    [OP_relu] = run_unary,
    [OP_gelu] = run_unary,
    [OP_silu] = run_unary,
    [OP_sigmoid] = run_unary,
    [OP_tanh] = run_unary,
    [OP_dropout] = run_dropout,
    [OP_linear] = run_linear,
    [OP_linear_gelu] = run_linear_gelu,
    [OP_embedding] = run_embedding,
    [OP_layer_norm] = run_layer_norm,
    [OP_rms_norm] = run_rms_norm,
    [OP_rope] = run_rope,
    [OP_transpose] = run_transpose,
    [OP_slice] = run_slice,
    [OP_concat] = run_concat,
    [OP_matmul] = run_matmul,
    [OP_softmax] = run_softmax,
    [OP_topk] = run_topk,
    [OP_route] = run_route,
    [OP_dispatch] = run_dispatch,
    [OP_combine] = run_combine,
    [OP_experts_linear] = run_experts_linear,
    [OP_balance] = run_balance,
    [OP_balance_loss] = run_balance_loss,
    [OP_average] = run_average,
    [OP_average_loss] = run_average_loss,
    [OP_attention] = run_attention,
    [OP_attention_biased] = run_attention,
    [OP_relative_bias] = run_relative_bias,
    [OP_attention_packed] = run_attention_packed,
    [OP_cross_entropy] = run_cross_entropy,
    [OP_mse] = run_mse,
    [OP_mean] = run_mean,
    [OP_div] = run_map,
    [OP_power] = run_map,
    [OP_maximum] = run_map,
    [OP_minimum] = run_map,
    [OP_less] = run_map,
    [OP_where] = run_map,
    [OP_exp] = run_map,
    [OP_log] = run_map,
    [OP_sqrt] = run_map,
    [OP_rsqrt] = run_map,
    [OP_abs] = run_map,
    [OP_sin] = run_map,
    [OP_cos] = run_map,
    [OP_constant] = run_constant,
    [OP_stop_gradient] = run_reshape,
    [OP_sum] = run_sum,
    [OP_expand] = run_expand,
    [OP_max] = run_extreme,
    [OP_min] = run_extreme,
};

bool reference_has(OpKind op) { return forward[op] != NULL; }

static Run start(const Graph *g, const ReferenceData *data) {
    Run r = {.g = g, .data = data, .value = calloc(g->values.n, sizeof(double *))};
    for (uint32_t v = 0; v < g->values.n; v++)
        r.value[v] = calloc((size_t)elements(&r, v) + 1, sizeof(double));
    return r;
}

static void finish(Run *r) {
    for (uint32_t v = 0; v < r->g->values.n; v++) free(r->value[v]);
    free(r->value);
}

static double loss_of(Run *r) {
    const Program *p = &r->g->programs.at[0];
    r->loss = 0;
    for (uint32_t i = 0; i < p->ops.n; i++) {
        const Op *op = &r->g->ops.at[p->ops.at[i]];
        if (op->phase != PHASE_FORWARD) break;
        CHECK(forward[op->kind] != NULL);
        forward[op->kind](r, op);
    }
    return r->loss;
}

double reference_loss(const Graph *g, const ReferenceData *data) {
    Run r = start(g, data);
    double loss = loss_of(&r);
    finish(&r);
    return loss;
}

void reference_gradient(const Graph *g, const ReferenceData *data, uint32_t param, double *out) {
    Run r = start(g, data);
    double *x = data->params[param];
    for (int64_t i = 0; i < type_elements(&g->params.at[param].type); i++) {
        double at = x[i], step = 1e-5;
        x[i] = at + step;
        double above = loss_of(&r);
        x[i] = at - step;
        double below = loss_of(&r);
        x[i] = at;
        out[i] = (above - below) / (2 * step);
    }
    finish(&r);
}
