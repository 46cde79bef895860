/* References of rope, attention with its gradients, and relative biases in f64, from the
 * definitions in ops.def. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/references.h"
#include "util.h"

/* ---- rope: element k of a head turns with its partner */

static double turns_a_position(const Attrs *a, int64_t i, int64_t dims) {
    double speed = pow(a->base, -2.0 * (double)i / (double)dims);
    double wave = 2 * M_PI / speed, original = (double)a->original;
    if (!a->original || wave > original / a->low) return speed / a->factor;
    if (wave < original / a->high) return speed;
    double share = (original / wave - a->low) / (a->high - a->low);
    return (1 - share) * speed / a->factor + share * speed;
}
static void turn(const Case *c, double *const *in, double *y, double direction) {
    const double *x = in[0];
    int64_t h = last(&c->in[0].type), dims = c->attr.dims ? c->attr.dims : h, half = dims / 2;
    int64_t heads = c->in[0].type.dim[2], positions = c->in[0].type.dim[1];
    EACH(k, in_n(c, 0)) {
        int64_t e = k % h, t = k / h / heads % positions;
        bool first = c->attr.interleaved ? e % 2 == 0 : e < half;
        int64_t i = c->attr.interleaved ? e / 2 : e % half;
        int64_t partner = (first ? 1 : -1) * (c->attr.interleaved ? 1 : half);
        double at = c->n_in > 1 ? in[1][k / h / heads] : (double)t;
        double angle = direction * at * turns_a_position(&c->attr, i, dims);
        y[k] = x[k];
        if (e < dims) y[k] = x[k] * cos(angle) + (first ? -1 : 1) * x[k + partner] * sin(angle);
    }
}
REF(rope) { turn(c, in, out[0], 1); }
REF(rope_grad) { turn(c, in, out[0], -1); }

/* ---- attention; sizes are read from q (or qkv) and k */

AttentionSizes attention_sizes(const Case *c, int first) {
    const Type *q = &c->in[first].type, *k = &c->in[first + 1].type;
    bool packed = c->op == OP_attention_packed || c->op == OP_attention_packed_grad;
    if (packed)
        return (AttentionSizes){q->dim[0], q->dim[1], q->dim[1], q->dim[3],
                                q->dim[3], q->dim[4], 1};
    return (AttentionSizes){q->dim[0], q->dim[1], k->dim[1], q->dim[2], k->dim[2], q->dim[3], 0};
}
int64_t attention_place(const AttentionSizes *z, int which, int64_t b, int64_t t, int64_t head) {
    if (z->packed) return (((b * z->t + t) * 3 + which) * z->heads + head) * z->h;
    if (which == 0) return ((b * z->t + t) * z->heads + head) * z->h;
    return ((b * z->s + t) * z->key_heads + head) * z->h;
}
/* What is added to scores, and which keys are seen; NULL where the op has none. */
typedef struct Extra {
    const double *bias, *mask, *sinks;
    bool each;  /* there is a bias of each sample */
    bool pairs; /* the mask has a number for each of them */
} Extra;
static Extra extra_of(const Case *c, int first, double *const *in) {
    bool packed = c->op == OP_attention_packed || c->op == OP_attention_packed_grad;
    bool each = c->op == OP_attention_biased_each || c->op == OP_attention_biased_each_grad;
    bool biased = each || c->op == OP_attention_biased || c->op == OP_attention_biased_grad;
    bool sunk = c->op == OP_attention_sunk;
    int plain = (packed ? 1 : 3) + biased + sunk + (first ? 3 : 0);
    bool masked = c->n_in > plain;
    return (Extra){.bias = biased ? in[first + 3] : NULL,
                   .mask = masked ? in[c->n_in - 1] : NULL,
                   .sinks = sunk ? in[first + 3] : NULL,
                   .each = each,
                   .pairs = masked && c->in[c->n_in - 1].type.rank == 3};
}
static int64_t bias_place(const AttentionSizes *z, const Extra *e, int64_t b, int64_t head,
                          int64_t t) {
    return (((e->each ? b : 0) * z->heads + head) * z->t + t) * z->s;
}
static bool sees(const Case *c, const AttentionSizes *z, const Extra *e, int64_t b, int64_t t,
                 int64_t s) {
    if (c->attr.causal && s > t) return false;
    if (c->attr.window && llabs(t - s) >= c->attr.window) return false;
    if (!e->mask) return true;
    if (c->attr.documents) return e->mask[b * z->s + t] == e->mask[b * z->s + s];
    return e->mask[e->pairs ? (b * z->t + t) * z->s + s : b * z->s + s] != 0;
}
static double capped(const Case *c, double x) {
    return c->attr.cap > 0 ? c->attr.cap * tanh(x / c->attr.cap) : x;
}
static double slope_of_cap(const Case *c, double x) {
    double part = c->attr.cap > 0 ? tanh(x / c->attr.cap) : 0;
    return 1 - part * part;
}
/* alpha times the product of q of a position and k of another */
static double product(const Case *c, const AttentionSizes *z, const double *q, const double *k) {
    double sum = 0;
    EACH(i, z->h) sum += q[i] * k[i];
    return sum * c->attr.alpha;
}
/* Probabilities of one row; returns lse. */
static double probabilities(const Case *c, const AttentionSizes *z, const Extra *e, const double *q,
                            const double *k, int64_t b, int64_t t, int64_t head, double *p) {
    int64_t key_head = head / (z->heads / z->key_heads);
    double sum = 0, top = e->sinks ? e->sinks[head] : -INFINITY;
    EACH(s, z->s) {
        p[s] = capped(c, product(c, z, q + attention_place(z, 0, b, t, head),
                                 k + attention_place(z, 1, b, s, key_head)));
        if (e->bias) p[s] += e->bias[bias_place(z, e, b, head, t) + s];
        if (!sees(c, z, e, b, t, s)) p[s] = -INFINITY;
        top = fmax(top, p[s]);
    }
    if (top == -INFINITY) {
        EACH(s, z->s) p[s] = 0;
        return 0;
    }
    if (e->sinks) sum = exp(e->sinks[head] - top);
    EACH(s, z->s) sum += exp(p[s] - top);
    EACH(s, z->s) p[s] = exp(p[s] - top) / sum;
    return top + log(sum);
}
void attention_probabilities(const Case *c, int first, double *const *in, int64_t row, double *p) {
    AttentionSizes z = attention_sizes(c, first);
    Extra e = extra_of(c, first, in);
    probabilities(c, &z, &e, in[first], in[z.packed ? first : first + 1], row / z.t / z.heads,
                  row % z.t, row / z.t % z.heads, p);
}
static void attend(const Case *c, int first, double *const *in, double *o, double *lse) {
    AttentionSizes z = attention_sizes(c, first);
    const double *q = in[first], *k = in[z.packed ? first : first + 1];
    const double *v = in[z.packed ? first : first + 2];
    Extra e = extra_of(c, first, in);
    double *p = malloc(sizeof *p * (size_t)z.s);
    EACH(row, z.b * z.heads * z.t) {
        int64_t t = row % z.t, head = row / z.t % z.heads, b = row / z.t / z.heads;
        int64_t key_head = head / (z.heads / z.key_heads);
        lse[row] = probabilities(c, &z, &e, q, k, b, t, head, p);
        double *to = o + ((b * z.t + t) * z.heads + head) * z.h;
        EACH(i, z.h) {
            to[i] = 0;
            EACH(s, z.s) to[i] += p[s] * v[attention_place(&z, 2, b, s, key_head) + i];
        }
    }
    free(p);
}
REF(attention) { attend(c, 0, in, out[0], out[1]); }
/* o and lse are the last two inputs but a mask. */
void derive_attention(const Case *c, double *const *in, double *const *out) {
    (void)out;
    int end = c->n_in - (extra_of(c, 1, in).mask != NULL);
    attend(c, 1, in, in[end - 2], in[end - 1]);
}
REF(attention_grad) {
    AttentionSizes z = attention_sizes(c, 1);
    const double *q = in[1], *k = in[z.packed ? 1 : 2], *v = in[z.packed ? 1 : 3];
    double *dq = out[0], *dk = out[z.packed ? 0 : 1], *dv = out[z.packed ? 0 : 2];
    Extra e = extra_of(c, 1, in);
    double *dbias = e.bias ? out[3] : NULL;
    for (int j = 0; j < c->n_out; j++) memset(out[j], 0, sizeof(double) * (size_t)out_n(c, j));
    double *p = malloc(sizeof *p * (size_t)z.s);
    EACH(row, z.b * z.heads * z.t) {
        int64_t t = row % z.t, head = row / z.t % z.heads, b = row / z.t / z.heads;
        int64_t key_head = head / (z.heads / z.key_heads);
        const double *d_o = in[0] + ((b * z.t + t) * z.heads + head) * z.h;
        int64_t at = attention_place(&z, 0, b, t, head);
        double mean = 0;
        probabilities(c, &z, &e, q, k, b, t, head, p);
        for (int pass = 0; pass < 2; pass++) EACH(s, z.s) {
                int64_t key = attention_place(&z, 1, b, s, key_head),
                        value = attention_place(&z, 2, b, s, key_head);
                double dp = 0;
                EACH(i, z.h) dp += d_o[i] * v[value + i];
                if (pass == 0) mean += p[s] * dp;
                double slope = slope_of_cap(c, product(c, &z, q + at, k + key));
                double ds = p[s] * (dp - mean) * c->attr.alpha * slope;
                if (pass == 1 && dbias)
                    dbias[bias_place(&z, &e, b, head, t) + s] += p[s] * (dp - mean);
                if (pass == 1) EACH(i, z.h) {
                        dv[value + i] += p[s] * d_o[i];
                        dq[at + i] += ds * k[key + i];
                        dk[key + i] += ds * q[at + i];
                    }
            }
    }
    free(p);
}

REF(sinks_grad) {
    int64_t heads = in_n(c, 3), h = last(&c->in[0].type), t = last(&c->in[2].type);
    EACH(i, heads) out[0][i] = 0;
    EACH(row, in_n(c, 2)) {
        int64_t head = row / t % heads;
        int64_t at = ((row / t / heads * t + row % t) * heads + head) * h;
        double sum = 0;
        EACH(i, h) sum += in[0][at + i] * in[1][at + i];
        out[0][head] -= sum * exp(in[3][head] - in[2][row]);
    }
}

/* T5's own formula; the margin puts distances on an edge into the upper bucket. */
static int64_t bucket_of(const Attrs *a, int64_t rows, int64_t distance) {
    int64_t n = a->bidirectional ? rows / 2 : rows, exact = n / 2;
    int64_t first = a->bidirectional && distance > 0 ? n : 0;
    int64_t far = a->bidirectional ? llabs(distance) : MAX(-distance, (int64_t)0);
    if (far < exact) return first + far;
    double place = log((double)far / (double)exact) / log((double)a->max_distance / (double)exact);
    int64_t large = exact + (int64_t)floor(place * (double)(n - exact) + 1e-9);
    return first + MIN(large, n - 1);
}
REF(relative_bias) {
    int64_t rows = c->in[0].type.dim[0], heads = c->out[0].dim[0], T = c->out[0].dim[1],
            S = c->out[0].dim[2];
    EACH(i, out_n(c, 0))
    out[0][i] = in[0][bucket_of(&c->attr, rows, i % S - i / S % T) * heads + i / S / T];
}
REF(relative_bias_grad) {
    int64_t rows = c->out[0].dim[0], heads = c->out[0].dim[1], T = c->in[0].type.dim[1],
            S = c->in[0].type.dim[2];
    EACH(i, out_n(c, 0)) out[0][i] = 0;
    EACH(i, in_n(c, 0))
    out[0][bucket_of(&c->attr, rows, i % S - i / S % T) * heads + i / S / T] += in[0][i];
}
