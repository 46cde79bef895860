/* relative_bias (w [N, H]) -> bias [H, T, S], and its gradient. In a row t of the bias the keys of
 * a bucket are neighbours: a run of equal numbers, and in backward a run that is added up, in f64,
 * t after t. A thread owns rows of the bias, or elements of dw. And the gradient of sinks.
 */
#include "buckets.h"
#include "kernel.h"
#include "vector.h"
#include "vector_math.h"

/* Keys of query t that are in that bucket. */
static WorkRange run_of(const BiasTable *z, int64_t k, int64_t t) {
    int64_t same = position_at(&z->at, t); /* the key at the query's own position */
    WorkRange r = {MAX(same + z->row[k].from, (int64_t)0), MIN(same + z->row[k].to, z->s - 1) + 1};
    return r;
}

KERNEL(relative_bias) {
    Operand w = input(l, 0);
    Result bias = output(l, 0);
    BiasTable z;
    if (!bias_table(l->call->attr, w.type, bias.type, output_part(l->call, 0, 1),
                    output_part(l->call, 0, 2), &z))
        return bad_operands(l);
    SHARE_OUT(l, bias.n, i, z.heads * z.t)
    for (int64_t k = 0; k < z.rows; k++) {
        WorkRange run = run_of(&z, k, i % z.t);
        V16 x = v_all(element_load(w.at, w.dtype, k * z.heads + i / z.t));
        for (int64_t s = run.from; s < run.to; s += LANES)
            v_put(bias.at, bias.dtype, i * z.s + s, run.to - s, x);
    }
    return 0;
}

KERNEL(relative_bias_grad) {
    Operand dbias = input(l, 0);
    Result dw = output(l, 0);
    BiasTable z;
    if (!bias_table(l->call->attr, dw.type, dbias.type, input_part(l->call, 0, 1),
                    input_part(l->call, 0, 2), &z))
        return bad_operands(l);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads_for(l, dbias.n))
    for (int64_t i = 0; i < z.rows * z.heads; i++) {
        double sum = 0.0;
        for (int64_t t = 0; t < z.t; t++) {
            WorkRange run = run_of(&z, i / z.heads, t);
            for (int64_t s = run.from; s < run.to; s++)
                sum +=
                    (double)element_load(dbias.at, dbias.dtype, (i % z.heads * z.t + t) * z.s + s);
        }
        v_put(dw.at, dw.dtype, i, 1, v_all((float)sum));
    }
    return 0;
}

/* The gradient of sinks: a thread owns a head. */
KERNEL(sinks_grad) {
    Operand d_o = input(l, 0), o = input(l, 1), lse = input(l, 2), sinks = input(l, 3);
    Result out = output(l, 0);
    int64_t heads = sinks.n, h = last_dim(o.type), rows = lse.n / heads;
    int64_t positions = last_dim(lse.type);
    const float *level = lse.at;
#pragma omp parallel for num_threads(threads_for(l, o.n))
    for (int64_t head = 0; head < heads; head++) {
        float sink = element_load(sinks.at, sinks.dtype, head);
        double sum = 0;
        for (int64_t row = 0; row < rows; row++) { /* of samples and positions */
            int64_t b = row / positions, t = row % positions;
            V16 part = v_all(0.0f);
            for (int64_t i = 0; i < h; i += LANES)
                part += v_get(d_o.at, d_o.dtype, (row * heads + head) * h + i, h - i) *
                        v_get(o.at, o.dtype, (row * heads + head) * h + i, h - i);
            double share =
                exp_f64((double)sink - (double)level[(b * heads + head) * positions + t]);
            sum -= share * (double)v_sum(part);
        }
        element_store(out.at, out.dtype, head, (float)sum);
    }
    return 0;
}
