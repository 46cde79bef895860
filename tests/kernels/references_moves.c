/* References of transpose, slice, concat, matmul, and of the ops for f8e4m3 and i8, in f64, from
 * the definitions in ops.def. */
#include <math.h>
#include <stdlib.h>

#include "kernels/references.h"
#include "util.h"

static int64_t rows(const Type *t) { return t->dim[t->rank - 2]; }

/* The element of x from which element i of transpose(x) comes. */
static int64_t turned(const Type *x, const Type *y, int64_t order, int64_t i) {
    int axis[MAX_RANK];
    int64_t index[MAX_RANK] = {0}, from = 0;
    CHECK(axes_of_order(order, x->rank, axis));
    for (int k = y->rank; k-- > 0; i /= y->dim[k]) index[axis[k]] = i % y->dim[k];
    for (int k = 0; k < x->rank; k++) from = from * x->dim[k] + index[k];
    return from;
}
REF(transpose) {
    EACH(i, out_n(c, 0)) out[0][i] = in[0][turned(&c->in[0].type, &c->out[0], c->attr.order, i)];
}
REF(transpose_grad) {
    EACH(i, in_n(c, 0)) out[0][turned(&c->out[0], &c->in[0].type, c->attr.order, i)] = in[0][i];
}

/* Where element i of a part lies in the whole. */
static int64_t place(const Type *part, const Type *whole, int64_t axis, int64_t start, int64_t i) {
    int64_t inner = 1, n = part->dim[axis];
    for (int k = (int)axis + 1; k < part->rank; k++) inner *= part->dim[k];
    return (i / inner / n * whole->dim[axis] + start + i / inner % n) * inner + i % inner;
}
REF(slice) {
    EACH(i, out_n(c, 0))
    out[0][i] = in[0][place(&c->out[0], &c->in[0].type, c->attr.axis, c->attr.start, i)];
}
REF(slice_grad) {
    EACH(i, out_n(c, 0)) out[0][i] = 0;
    EACH(i, in_n(c, 0))
    out[0][place(&c->in[0].type, &c->out[0], c->attr.axis, c->attr.start, i)] = in[0][i];
}
/* Element i of a rank's part, in the whole: run by run. */
static int64_t rank_place(const Case *c, const Type *part, int64_t i) {
    int64_t run = part->dim[c->attr.axis] / c->attr.count;
    for (int k = (int)c->attr.axis + 1; k < part->rank; k++) run *= part->dim[k];
    return i / run * run * c->ranks + c->rank * run + i % run;
}
REF(part) { EACH(i, out_n(c, 0)) out[0][i] = in[0][rank_place(c, &c->out[0], i)]; }
REF(concat) {
    int64_t start = 0;
    EACH(k, c->n_in) {
        const Type *x = &c->in[k].type;
        EACH(i, in_n(c, (int)k)) out[0][place(x, &c->out[0], c->attr.axis, start, i)] = in[k][i];
        start += x->dim[c->attr.axis];
    }
}

REF(matmul) {
    int64_t k = last(&c->in[0].type), n = last(&c->out[0]), m = rows(&c->out[0]);
    EACH(i, out_n(c, 0)) {
        out[0][i] = 0;
        EACH(j, k) out[0][i] += in[0][i / n * k + j] * in[1][(i / n / m * k + j) * n + i % n];
    }
}
REF(matmul_grad_a) {
    int64_t n = last(&c->in[0].type), k = last(&c->out[0]), m = rows(&c->out[0]);
    EACH(i, out_n(c, 0)) {
        out[0][i] = 0;
        EACH(j, n) out[0][i] += in[0][i / k * n + j] * in[1][(i / k / m * k + i % k) * n + j];
    }
}
REF(matmul_grad_b) {
    int64_t k = last(&c->in[0].type), m = rows(&c->in[0].type), n = last(&c->out[0]);
    EACH(i, out_n(c, 0)) {
        int64_t batch = i / n / k;
        out[0][i] = 0;
        EACH(j, m)
        out[0][i] += in[0][(batch * m + j) * k + i / n % k] * in[1][(batch * m + j) * n + i % n];
    }
}

/* ---- f8e4m3, i8 */

/* Bits of an f32 number without sign. */
static double bits_of(double x) {
    int exponent = x == 0 ? -127 : ilogb(x);
    return x == 0 ? 0 : (ldexp(x, -exponent) - 1 + (exponent + 127)) * 0x1p23;
}
static double number_of(double bits) {
    int64_t exponent = (int64_t)bits >> 23;
    return bits == 0 ? 0 : ldexp(1 + (bits * 0x1p-23 - (double)exponent), (int)exponent - 127);
}
static float scale_of(const PlanGroup *g, double bits) {
    float size = (float)fmax(number_of(bits), 1e-12);
    return g->wire_dtype == DT_I8 ? 127 / size : 448 / size;
}

/* Of a parameter of the group: how many elements share a scale, and how many scales come before. */
static int64_t block_of(const PlanGroup *g, int64_t n) { return g->wire_dtype == DT_I8 ? 4096 : n; }
static int64_t blocks_before(const Case *c, const PlanGroup *g, uint32_t k) {
    int64_t before = 0;
    EACH(j, k) {
        int64_t n = plan_place(c->plan, g->first_param + (uint64_t)j).n, block = block_of(g, n);
        before += n / block + (n % block != 0);
    }
    return before;
}

/* The parameter whose place in this rank's shard, up to the next one's, has element i. */
static uint32_t holder(const Case *c, int64_t i) {
    const PlanGroup *g = &c->plan->groups[c->attr.group];
    const PlanGroupParam *at = &c->plan->group_params[g->first_param];
    uint32_t k = 0;
    if (!at->chunk && g->split) i += c->rank * g->shard;
    while (k + 1 < g->n_param && at[k + 1].offset <= i) k++;
    return k;
}
/* By element of this rank's shard its block of the group: padding has the last one of the
 * parameter before it. To be freed. */
static int64_t *blocks_of_shard(const Case *c) {
    const PlanGroup *g = &c->plan->groups[c->attr.group];
    Layout layout = plan_layout(g);
    int64_t *block = calloc((size_t)g->shard, sizeof *block), first = g->split ? c->rank : 0;
    EACH(i, g->shard) block[i] = blocks_before(c, g, holder(c, i) + 1) - 1;
    EACH(k, g->n_param) {
        LayoutPlace place = plan_place(c->plan, g->first_param + (uint64_t)k);
        EACH(e, place.n) {
            int64_t at = layout_element(&layout, &place, e) - first * g->shard;
            if (at >= 0 && at < g->shard)
                block[at] = blocks_before(c, g, (uint32_t)k) + e / block_of(g, place.n);
        }
    }
    return block;
}
REF(amax) {
    int64_t *block = blocks_of_shard(c);
    EACH(k, out_n(c, 0)) out[0][k] = 0;
    EACH(i, in_n(c, 0)) out[0][block[i]] = fmax(out[0][block[i]], bits_of(fabs(in[0][i])));
    free(block);
}
/* Blocks are of different sizes. */
static void spread(const Case *c, double *x) {
    int64_t *block = blocks_of_shard(c);
    EACH(i, in_n(c, 0)) x[i] = ldexp(x[i], (int)block[i] - 3);
    free(block);
}
void derive_largest(const Case *c, double *const *in, double *const *out) {
    (void)out;
    if (c->op == OP_quantize || c->op == OP_amax) spread(c, in[0]);
    if (c->op == OP_quantize) {
        Case amax = *c;
        amax.out[0].dtype = DT_I32;
        amax.out[0].dim[0] = in_n(c, 1);
        ref_amax(&amax, in, (double *const[]){in[1]});
    } else if (c->op != OP_amax) {
        EACH(k, in_n(c, 1)) in[1][k] = bits_of((float)(1.3 * ldexp(1, (int)k * 3 - 9)));
    }
}
static double float8_of(double x) {
    int exponent = x == 0 ? -6 : MAX(ilogb(x), -6);
    double units = nearbyint(ldexp(x, 3 - exponent));
    return fmin(fmax(ldexp(units, exponent - 3), -448), 448);
}
REF(quantize) {
    const PlanGroup *g = &c->plan->groups[c->attr.group];
    int64_t *block = blocks_of_shard(c);
    EACH(i, out_n(c, 0)) {
        float x = (float)in[0][i] * scale_of(g, in[1][block[i]]);
        out[0][i] = g->wire_dtype == DT_I8 ? nearbyint(x) : float8_of(x);
    }
    free(block);
}
REF(dequantize) {
    const PlanGroup *g = NULL;
    uint64_t k = plan_find_place(c->plan, (uint64_t)c->attr.index, &g);
    Layout layout = plan_layout(g);
    LayoutPlace place = plan_place(c->plan, k);
    const double *size = in[1] + blocks_before(c, g, (uint32_t)(k - g->first_param));
    EACH(e, out_n(c, 0)) {
        float inverse = 1 / scale_of(g, size[e / block_of(g, place.n)]);
        out[0][e] = (float)in[0][layout_element(&layout, &place, e)] * inverse;
    }
}
