/* See reference.h. Ops whose results are plain arrays have the references of the kernels' tests
 * (tests/kernels); the rest is what a program reads, and losses as plain numbers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/references.h"
#include "ops/reference.h"

/* One evaluation of a program. */
typedef struct Run {
    const Graph *g;
    const ReferenceData *data;
    double **value; /* by value */
    double loss;
} Run;

static const Type *type_at(const Run *r, ValueId v) { return &r->g->values.at[v].type; }
static int64_t elements(const Run *r, ValueId v) { return type_elements(type_at(r, v)); }
static double *in(const Run *r, const Op *op, uint32_t j) { return r->value[op->in[j]]; }
static double *out(const Run *r, const Op *op, uint32_t j) { return r->value[op->out + j]; }

typedef void (*Forward)(Run *r, const Op *op);

static void run_param(Run *r, const Op *op) {
    memcpy(out(r, op, 0), r->data->params[op->attr->index],
           sizeof(double) * (size_t)elements(r, op->out));
}

static void run_field(Run *r, const Op *op) {
    memcpy(out(r, op, 0), r->data->fields[op->attr->index],
           sizeof(double) * (size_t)elements(r, op->out));
}

static void run_nothing(Run *r, const Op *op) { (void)r, (void)op; }

static void run_set_state(Run *r, const Op *op) {
    if (r->g->states.at[op->attr->index].role == STATE_METRIC) r->loss += in(r, op, 0)[0];
}

static void run_dropout(Run *r, const Op *op) {
    int64_t n = elements(r, op->out);
    r->data->dropout(r->data->context, op, n, out(r, op, 0));
    for (int64_t i = 0; i < n; i++) out(r, op, 0)[i] *= in(r, op, 0)[i];
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

static void run_mse(Run *r, const Op *op) {
    double loss = 0;
    for (int64_t i = 0; i < elements(r, op->in[0]); i++)
        loss += pow(in(r, op, 0)[i] - in(r, op, 1)[i], 2);
    out(r, op, 0)[0] = loss;
}

static void run_balance_loss(Run *r, const Op *op) {
    const double *stats = in(r, op, 1);
    int64_t E = (elements(r, op->in[1]) - 2) / 2;
    double sum = 0, tokens = stats[2 * E], units = (double)((int64_t)1 << BALANCE_BITS);
    for (int64_t e = 0; e < E; e++) sum += stats[e] / tokens * stats[E + e] / units / tokens;
    out(r, op, 0)[0] = in(r, op, 0)[0] + op->attr->alpha * (double)E * sum * stats[2 * E + 1];
}

static void run_average(Run *r, const Op *op) {
    double *stats = out(r, op, 0);
    memset(stats, 0, sizeof(double) * AVERAGE_WORDS);
    for (int64_t i = 0; i < elements(r, op->in[0]); i++) stats[0] += in(r, op, 0)[i];
    stats[EXACT_COUNT] = (double)elements(r, op->in[0]);
    for (int64_t i = 0; i < elements(r, op->in[1]); i++)
        stats[AVERAGE_TARGETS] += (int64_t)in(r, op, 1)[i] != op->attr->ignore;
}

static void run_average_loss(Run *r, const Op *op) {
    const double *stats = in(r, op, 1);
    out(r, op, 0)[0] =
        in(r, op, 0)[0] + op->attr->alpha * stats[0] / stats[EXACT_COUNT] * stats[AVERAGE_TARGETS];
}

static const Forward own[OP_COUNT] = {
    [OP_param] = run_param,
    [OP_field] = run_field,
    [OP_state] = run_nothing,
    [OP_set_state] = run_set_state,
    [OP_dropout] = run_dropout,
    [OP_balance_loss] = run_balance_loss,
    [OP_average] = run_average,
    [OP_average_loss] = run_average_loss,
    [OP_cross_entropy] = run_cross_entropy,
    [OP_mse] = run_mse,
};

static const Reference references[OP_COUNT] = {
    [OP_iota] = ref_iota,
    [OP_reshape] = ref_copy,
    [OP_split] = ref_split,
    [OP_stack] = ref_stack,
    [OP_add] = ref_map,
    [OP_sub] = ref_map,
    [OP_mul] = ref_map,
    [OP_scale] = ref_scale,
    [OP_relu] = ref_relu,
    [OP_gelu] = ref_gelu,
    [OP_silu] = ref_silu,
    [OP_sigmoid] = ref_sigmoid,
    [OP_tanh] = ref_tanh,
    [OP_linear] = ref_linear,
    [OP_linear_gelu] = ref_linear_gelu,
    [OP_embedding] = ref_embedding,
    [OP_pick] = ref_pick,
    [OP_cumsum] = ref_cumsum,
    [OP_attention_biased_each] = ref_attention,
    [OP_attention_sunk] = ref_attention,
    [OP_layer_norm] = ref_norm,
    [OP_rms_norm] = ref_norm,
    [OP_rope] = ref_rope,
    [OP_transpose] = ref_transpose,
    [OP_slice] = ref_slice,
    [OP_concat] = ref_concat,
    [OP_matmul] = ref_matmul,
    [OP_softmax] = ref_softmax,
    [OP_logsumexp] = ref_logsumexp,
    [OP_cross_entropy_each] = ref_cross_entropy_each,
    [OP_topk] = ref_topk,
    [OP_route] = ref_route,
    [OP_dispatch] = ref_dispatch,
    [OP_combine] = ref_combine,
    [OP_experts_linear] = ref_experts_linear,
    [OP_balance] = ref_balance,
    [OP_attention] = ref_attention,
    [OP_attention_biased] = ref_attention,
    [OP_relative_bias] = ref_relative_bias,
    [OP_attention_packed] = ref_attention,
    [OP_mean] = ref_mean,
    [OP_div] = ref_map,
    [OP_power] = ref_map,
    [OP_maximum] = ref_map,
    [OP_minimum] = ref_map,
    [OP_at_least] = ref_map,
    [OP_at_most] = ref_map,
    [OP_less] = ref_map,
    [OP_where] = ref_map,
    [OP_exp] = ref_map,
    [OP_log] = ref_map,
    [OP_sqrt] = ref_map,
    [OP_rsqrt] = ref_map,
    [OP_abs] = ref_map,
    [OP_floor] = ref_map,
    [OP_widen] = ref_map,
    [OP_ceil] = ref_map,
    [OP_sin] = ref_map,
    [OP_cos] = ref_map,
    [OP_softplus] = ref_map,
    [OP_remainder] = ref_map,
    [OP_constant] = ref_constant,
    [OP_stop_gradient] = ref_copy,
    [OP_sum] = ref_sum_to,
    [OP_expand] = ref_map,
    [OP_max] = ref_extreme,
    [OP_min] = ref_extreme,
};

bool reference_has(OpKind op) { return own[op] || references[op]; }

static void run_reference(Run *r, const Op *op) {
    Case c = {.op = op->kind, .attr = *op->attr, .n_in = (int)op->n_in, .n_out = op->n_out};
    double *from[MAX_CASE_OPERANDS], *to[MAX_CASE_OPERANDS];
    CHECK(references[op->kind] && op->n_in <= MAX_CASE_OPERANDS && op->n_out <= MAX_CASE_OPERANDS);
    for (uint32_t j = 0; j < op->n_in; j++) {
        c.in[j].type = *type_at(r, op->in[j]);
        from[j] = in(r, op, j);
    }
    for (uint32_t j = 0; j < op->n_out; j++) {
        c.out[j] = *type_at(r, op->out + j);
        to[j] = out(r, op, j);
    }
    references[op->kind](&c, from, to);
}

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
        if (own[op->kind])
            own[op->kind](r, op);
        else
            run_reference(r, op);
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
