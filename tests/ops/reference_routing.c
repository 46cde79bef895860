/* Forwards of softmax, experts, their balance and means over the batch; see reference.h. E experts,
 * K choices of each token, D and O widths. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops/reference_run.h"

static void softmax_of(const double *x, int64_t n, double *y) {
    double top = x[0], sum = 0;
    for (int64_t i = 1; i < n; i++) top = fmax(top, x[i]);
    for (int64_t i = 0; i < n; i++) sum += y[i] = exp(x[i] - top);
    for (int64_t i = 0; i < n; i++) y[i] /= sum;
}

void run_softmax(Run *r, const Op *op) {
    int64_t D = last_dim(type_at(r, op->in[0]));
    for (int64_t i = 0; i < elements(r, op->in[0]); i += D)
        softmax_of(in(r, op, 0) + i, D, out(r, op, 0) + i);
}

void run_topk(Run *r, const Op *op) {
    int64_t E = last_dim(type_at(r, op->in[0])), K = op->attr->count;
    for (int64_t row = 0; row < elements(r, op->in[0]) / E; row++) {
        const double *x = in(r, op, 0) + row * E;
        for (int64_t e = 0; e < E; e++) {
            int64_t larger = 0;
            for (int64_t i = 0; i < E; i++) larger += x[i] > x[e] || (x[i] == x[e] && i < e);
            if (larger >= K) continue;
            out(r, op, 0)[row * K + larger] = x[e];
            out(r, op, 1)[row * K + larger] = (double)e;
        }
    }
}

/* Row by row: the choices of expert 0 in their order, then those of expert 1, .. */
void run_route(Run *r, const Op *op) {
    int64_t n = elements(r, op->in[0]), row = 0;
    for (int64_t e = 0; e < op->attr->count; e++) {
        for (int64_t c = 0; c < n; c++) {
            if ((int64_t)in(r, op, 0)[c] != e) continue;
            out(r, op, 0)[row] = (double)c;
            out(r, op, 1)[c] = (double)row++;
        }
        out(r, op, 2)[e + 1] = (double)row;
    }
}

void run_dispatch(Run *r, const Op *op) {
    int64_t D = last_dim(type_at(r, op->in[0])), K = last_dim(type_at(r, op->in[2]));
    for (int64_t i = 0; i < elements(r, op->out); i++)
        out(r, op, 0)[i] = in(r, op, 0)[(int64_t)in(r, op, 1)[i / D] / K * D + i % D];
}

void run_combine(Run *r, const Op *op) {
    int64_t D = last_dim(type_at(r, op->in[0])), K = last_dim(type_at(r, op->in[1]));
    for (int64_t i = 0; i < elements(r, op->out); i++) {
        double sum = 0;
        for (int64_t c = i / D * K; c < (i / D + 1) * K; c++)
            sum += in(r, op, 1)[c] * in(r, op, 0)[(int64_t)in(r, op, 3)[c] * D + i % D];
        out(r, op, 0)[i] = sum;
    }
}

void run_experts_linear(Run *r, const Op *op) {
    const Type *w = type_at(r, op->in[2]);
    int64_t O = w->dim[0], D = w->dim[1];
    for (uint32_t e = 0; e < op->n_in - 2; e++)
        for (int64_t row = (int64_t)in(r, op, 1)[e]; row < (int64_t)in(r, op, 1)[e + 1]; row++)
            for (int64_t o = 0; o < O; o++) {
                double sum = 0;
                for (int64_t d = 0; d < D; d++)
                    sum += in(r, op, 0)[row * D + d] * in(r, op, e + 2)[o * D + d];
                out(r, op, 0)[row * O + o] = sum;
            }
}

void run_balance(Run *r, const Op *op) {
    int64_t E = last_dim(type_at(r, op->in[0])), tokens = elements(r, op->in[0]) / E;
    double *stats = out(r, op, 0), *p = calloc((size_t)E, sizeof *p);
    memset(stats, 0, sizeof(double) * (size_t)balance_words(E));
    for (int64_t i = 0; i < elements(r, op->in[1]); i++) stats[(int64_t)in(r, op, 1)[i]]++;
    for (int64_t t = 0; t < tokens; t++) {
        softmax_of(in(r, op, 0) + t * E, E, p);
        for (int64_t e = 0; e < E; e++) stats[E + e] += p[e];
    }
    stats[2 * E] = (double)tokens;
    for (int64_t i = 0; i < elements(r, op->in[2]); i++)
        stats[2 * E + 1] += (int64_t)in(r, op, 2)[i] != op->attr->ignore;
    free(p);
}

void run_balance_loss(Run *r, const Op *op) {
    const double *stats = in(r, op, 1);
    int64_t E = (elements(r, op->in[1]) - 2) / 2;
    double sum = 0, tokens = stats[2 * E];
    for (int64_t e = 0; e < E; e++) sum += stats[e] / tokens * stats[E + e] / tokens;
    out(r, op, 0)[0] = in(r, op, 0)[0] + op->attr->alpha * (double)E * sum * stats[2 * E + 1];
}

void run_average(Run *r, const Op *op) {
    double *stats = out(r, op, 0);
    memset(stats, 0, sizeof(double) * AVERAGE_WORDS);
    for (int64_t i = 0; i < elements(r, op->in[0]); i++) stats[0] += in(r, op, 0)[i];
    stats[EXACT_COUNT] = (double)elements(r, op->in[0]);
    for (int64_t i = 0; i < elements(r, op->in[1]); i++)
        stats[AVERAGE_TARGETS] += (int64_t)in(r, op, 1)[i] != op->attr->ignore;
}

void run_average_loss(Run *r, const Op *op) {
    const double *stats = in(r, op, 1);
    out(r, op, 0)[0] =
        in(r, op, 0)[0] + op->attr->alpha * stats[0] / stats[EXACT_COUNT] * stats[AVERAGE_TARGETS];
}
