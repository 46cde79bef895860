/* amax, quantize, dequantize: parameters that are gathered in f8e4m3.
 *
 * A parameter's place in a shard goes up to that of the next one, padding included, which is zero.
 * The largest of a parameter is an integer, so threads and ranks may find it in any order.
 */
#include "float8.h"
#include "kernel.h"
#include "largest.h"
#include "vector.h"

/* The numbers of a shard that belong to parameter k of the group. */
static Range part_of_shard(const Launch *l, const PlanGroup *g, uint32_t k) {
    const PlanGroupParam *at = &l->call->rank->plan->group_params[g->first_param + k];
    int64_t start = rank_start(l->call->rank, g);
    int64_t from = at[0].offset - start, to = k + 1 < g->n_param ? at[1].offset - start : g->shard;
    return (Range){MIN(MAX(from, 0), g->shard), MIN(MAX(to, 0), g->shard)};
}

/* This thread's share of it. */
static Range my_part(const Launch *l, const PlanGroup *g, uint32_t k) {
    Range part = part_of_shard(l, g, k), mine = my_range(part.to - part.from, 64);
    return (Range){part.from + mine.from, part.from + mine.to};
}

KERNEL(amax) {
    Operand x = input(l, 0);
    Result out = output(l, 0);
    bool bad;
    const PlanGroup *g = group_of(l, &bad);
    if (bad || !g || !is_real(x.dtype) || x.n != g->shard || out.dtype != DT_I32 ||
        out.n != g->n_param)
        return bad_operands(l);
    int32_t *largest = out.at;
    memset(largest, 0, (size_t)out.n * sizeof *largest);
#pragma omp parallel num_threads(threads_for(l, x.n))
    for (uint32_t k = 0; k < g->n_param; k++) {
        int32_t mine = largest_in(x, my_part(l, g, k));
#pragma omp critical(amax)
        largest[k] = MAX(largest[k], mine);
    }
    return 0;
}

/* ---- as float8_of and float8_value, sixteen numbers at once */

typedef uint8_t B16 __attribute__((vector_size(16)));

VECTOR_INLINE U16 pick(U16 mask, U16 a, U16 b) { return (mask & a) | (~mask & b); }

VECTOR_INLINE B16 v_quantize(V16 x) {
    U16 bits = v_bits(x), size = bits & 0x7fffffffu, nan = (U16)(size > 0x7f800000u);
    size = pick((U16)(size > FLOAT8_LARGEST), (U16){0} + FLOAT8_LARGEST, size);
    U16 small = v_bits(v_from_bits(size) + float8_number(FLOAT8_ROUNDING)) - FLOAT8_ROUNDING;
    U16 code = (size - FLOAT8_BIAS + 0x7ffffu + (size >> 20 & 1u)) >> 20;
    code = pick((U16)(size < FLOAT8_NORMAL), small, code);
    return __builtin_convertvector(pick(nan, (U16){0} + 0x7fu, code) | (bits >> 24 & 0x80u), B16);
}

VECTOR_INLINE V16 v_dequantize(B16 x) {
    U16 code = __builtin_convertvector(x, U16), size = code & 0x7fu;
    U16 small = v_bits(__builtin_convertvector((I16)size, V16) * 0x1p-9f);
    U16 bits = pick((U16)(size < 8u), small, (size << 20) + FLOAT8_BIAS);
    bits = pick((U16)(size == 0x7fu), (U16){0} + 0x7fc00000u, bits);
    return v_from_bits(bits | (code & 0x80u) << 24);
}

static void quantize_run(uint8_t *to, Operand x, Range r, float scale) {
    for (int64_t i = r.from; i < r.to; i += LANES) {
        B16 code = v_quantize(v_get(x.at, x.dtype, i, r.to - i) * scale);
        memcpy(to + i, &code, (size_t)MIN(r.to - i, (int64_t)LANES));
    }
}

KERNEL(quantize) {
    Operand x = input(l, 0), largest = input(l, 1);
    Result out = output(l, 0);
    bool bad;
    const PlanGroup *g = group_of(l, &bad);
    if (bad || !g || !is_real(x.dtype) || x.n != g->shard || out.n != x.n ||
        out.dtype != DT_F8E4M3 || largest.dtype != DT_I32 || largest.n != g->n_param)
        return bad_operands(l);
#pragma omp parallel num_threads(threads_for(l, x.n))
    for (uint32_t k = 0; k < g->n_param; k++)
        quantize_run(out.at, x, my_part(l, g, k), float8_scale(((const int32_t *)largest.at)[k]));
    return 0;
}

/* ---- back */

static void dequantize_run(Result out, int64_t at, const uint8_t *from, int64_t n, float inverse) {
    for (int64_t i = 0; i < n; i += LANES) {
        B16 code = {0};
        memcpy(&code, from + i, (size_t)MIN(n - i, (int64_t)LANES));
        v_put(out.at, out.dtype, at + i, n - i, v_dequantize(code) * inverse);
    }
}

KERNEL(dequantize) {
    Operand flat = input(l, 0), largest = input(l, 1);
    Result out = output(l, 0);
    const Plan *plan = l->call->rank->plan;
    const PlanGroup *g = NULL;
    uint64_t k = plan_find_place(plan, (uint64_t)l->call->attr->index, &g);
    if (k == plan->n_group_params)
        return launch_error(l, EXIT_CORRUPT, "no parameter %lld", (long long)l->call->attr->index);
    LayoutPlace place = plan_place(plan, k);
    if (flat.dtype != DT_F8E4M3 || flat.n != g->padded || largest.dtype != DT_I32 ||
        largest.n != g->n_param || !is_real(out.dtype) || out.n != place.n)
        return bad_operands(l);
    Layout layout = plan_layout(g);
    float inverse = 1.0f / float8_scale(((const int32_t *)largest.at)[k - g->first_param]);
#pragma omp parallel num_threads(threads_for(l, out.n))
    {
        Range r = my_range(place.n, 64);
        for (int64_t e = r.from, n; e < r.to; e += n) {
            n = MIN(place.chunk ? layout_run(&layout, &place, e) : place.n - e, r.to - e);
            const uint8_t *from = (const uint8_t *)flat.at + layout_element(&layout, &place, e);
            dequantize_run(out, e, from, n, inverse);
        }
    }
    return 0;
}
