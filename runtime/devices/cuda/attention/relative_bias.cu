/* relative_bias (w [N, H]) -> bias [H, T, S], and its gradient; buckets are described in
 * runtime/devices/shared/buckets.h. Forward: a thread a pair (t, s), all heads. Backward: a block
 * an element of dw; in each row t of dbias the keys of its bucket are neighbours, a warp adds them
 * in f64. And the gradient of sinks: a block a head.
 */
#include "buckets.h"
#include "intrinsics.h"

enum { BIAS_THREADS = 256, WARPS = BIAS_THREADS / WARP };

__global__ void __launch_bounds__(BIAS_THREADS)
    bias_of_pairs(const BiasTable z, Result bias, Operand w) {
    begin_kernel();
    EACH_ELEMENT(i, z.t * z.s) {
        int64_t distance = i % z.s - position_of(z.at, i / z.s), k = 0;
        while (k + 1 < z.rows && (distance < z.row[k].from || distance > z.row[k].to)) k++;
        for (int64_t head = 0; head < z.heads; head++)
            element_store(bias, head * z.t * z.s + i, element_load(w, k * z.heads + head));
    }
}

__global__ void __launch_bounds__(BIAS_THREADS)
    sum_of_bucket(const BiasTable z, Result dw, Operand dbias) {
    begin_kernel();
    __shared__ double scratch[WARPS];
    int64_t k = blockIdx.x / z.heads, head = blockIdx.x % z.heads;
    double sum = 0.0;
    for (int64_t t = threadIdx.x / WARP; t < z.t; t += WARPS) {
        int64_t same = position_of(z.at, t); /* the key at the query's own position */
        int64_t from = same + z.row[k].from, to = same + z.row[k].to;
        if (from < 0) from = 0;
        if (to > z.s - 1) to = z.s - 1;
        for (int64_t s = from + threadIdx.x % WARP; s <= to; s += WARP)
            sum += (double)element_load(dbias, (head * z.t + t) * z.s + s);
    }
    sum = block_sum(sum, scratch);
    if (threadIdx.x == 0) element_store(dw, blockIdx.x, (float)sum);
}

KERNEL(relative_bias) {
    Operand w = input(l, 0);
    Result bias = output(l, 0);
    BiasTable z;
    if (!bias_table(l->call->attr, w.type, bias.type, output_part(l->call, 0, 1),
                    output_part(l->call, 0, 2), &z))
        return bad_operands(l);
    return LAUNCH_EACH(l, bias_of_pairs, z.t * z.s, BIAS_THREADS, z, bias, w);
}

KERNEL(relative_bias_grad) {
    Operand dbias = input(l, 0);
    Result dw = output(l, 0);
    BiasTable z;
    if (!bias_table(l->call->attr, dw.type, dbias.type, input_part(l->call, 0, 1),
                    input_part(l->call, 0, 2), &z))
        return bad_operands(l);
    return LAUNCH(l, sum_of_bucket, (unsigned)(z.rows * z.heads), BIAS_THREADS, 0, z, dw, dbias);
}

/* do and o [B, T, H, h], lse [B, H, T] */
__global__ void __launch_bounds__(BIAS_THREADS)
    sums_of_sinks(Result out, Operand d_o, Operand o, const float *lse, Operand sinks, int64_t rows,
                  int64_t positions) {
    begin_kernel();
    __shared__ double scratch[WARPS];
    int64_t head = blockIdx.x, heads = gridDim.x, h = o.width;
    double sum = 0.0, sink = (double)element_load(sinks, head);
    for (int64_t row = threadIdx.x / WARP; row < rows; row += WARPS) {
        int64_t at = (row * heads + head) * h, b = row / positions, t = row % positions;
        float part = 0.0f;
        for (int64_t i = threadIdx.x % WARP; i < h; i += WARP)
            part += element_load(d_o, at + i) * element_load(o, at + i);
        sum -= exp(sink - (double)lse[(b * heads + head) * positions + t]) * (double)part;
    }
    sum = block_sum(sum, scratch);
    if (threadIdx.x == 0) element_store(out, head, (float)sum);
}

KERNEL(sinks_grad) {
    Operand lse = input(l, 2), sinks = input(l, 3);
    return LAUNCH(l, sums_of_sinks, (unsigned)sinks.n, BIAS_THREADS, 0, output(l, 0), input(l, 0),
                  input(l, 1), (const float *)lse.at, sinks, lse.n / sinks.n, lse.width);
}
