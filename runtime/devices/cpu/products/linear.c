/* linear, linear_grad_input, linear_grad_weight: three forms of one matrix product; matmul and its
 * gradients, which have them with batch axes.
 *
 *   y[R,O]  = x[R,D]  w[O,D]^T + b      dx[R,D] = dy[R,O] w[O,D]      dw[O,D] = dy[R,O]^T x[R,D]
 *
 * Sums are f32. dw is added to the accumulator where there is one. Where all is f32, bias and
 * accumulator are put into the result's place first; the product then adds. Products with bf16 are
 * those of tiles.c: a bf16 result is rounded once, bias and accumulator included. What earlier
 * micro-batches left (attribute `earlier`) is added to the rounded result, piece by piece: the bits
 * of a product and an accumulate. Rows of y and dy may have a pitch (op.h).
 */
#include "head_chunks.h"
#include "tiles.h"
#include "widen.h"

/* Every row of c = bias. */
static void spread_bias(const Launch *l, float *c, int64_t rows, int64_t pitch, Operand bias) {
    SHARE_OUT(l, rows * bias.n, row, rows)
    for (int64_t i = 0; i < bias.n; i += LANES)
        v_put(c, DT_F32, row * pitch + i, bias.n - i, v_get(bias.at, bias.dtype, i, bias.n - i));
}

static int f32_product(const Launch *l, Product p, int64_t batch, Operand bias, Operand acc) {
    bool good = true, earlier = l->call->attr->earlier;
    if (l->cpu->rehearsing) return 0;
    p.accumulate = !earlier && (bias.at || acc.at);
    if (bias.at) spread_bias(l, p.c, p.m, p.c_row, bias);
    if (acc.at && acc.at != p.c) convert_elements(l, p.c, DT_F32, acc.at, acc.dtype, acc.n);
    for (; batch > 0 && good; batch--) {
        good = (earlier ? CPU_NAME(add_product) : CPU_NAME(product))(l->cpu, &p);
        p.a += p.m * p.k, p.b += p.k * p.n, p.c += p.m * p.n;
    }
    return product_result(l, good);
}

static int64_t matrix_rows(const Type *t) { return t->rank > 1 ? t->dim[t->rank - 2] : 1; }

/* Operand 0 times operand 1, each transposed if it is turned; operand 2, if there is one, is a bias
 * or an accumulator. batched: the last two axes are a matrix; otherwise all rows together are one.
 */
static int multiply(const Launch *l, bool turns_a, bool turns_b, bool batched) {
    Operand a = input(l, 0), b = input(l, 1), none = {0}, third = input(l, 2);
    Operand bias = turns_b ? third : none, acc = turns_a ? third : none;
    Result out = output(l, 0);
    int64_t a_rows = batched ? matrix_rows(a.type) : a.rows;
    int64_t b_rows = batched ? matrix_rows(b.type) : b.rows;
    int64_t batch = a.rows / a_rows;
    int64_t m = turns_a ? a.width : a_rows, k = turns_a ? a_rows : a.width;
    Product p = product_of(m, turns_b ? b_rows : b.width, k, a.at, turns_a, b.at, turns_b, out.at);
    *(turns_a ? &p.a_col : &p.a_row) = type_pitch(a.type);
    *(turns_b ? &p.b_col : &p.b_row) = type_pitch(b.type);
    p.c_row = type_pitch(out.type);
    bool f32 = a.dtype == DT_F32 && b.dtype == DT_F32 && out.dtype == DT_F32;
    if (f32) return f32_product(l, p, batch, bias, acc);
    Tiles t = {.m = p.m,
               .n = p.n,
               .k = p.k,
               .batch = batch,
               .a = {a.at, a.dtype, p.a_row, p.a_col, p.m * p.k},
               .b = {b.at, b.dtype, p.b_row, p.b_col, p.k * p.n},
               .c = {out.at, out.dtype, p.c_row, 1, p.m * p.n},
               .rounds_first = l->call->attr->earlier};
    if (bias.at) t.start = (ProductMatrix){bias.at, bias.dtype, 0, 1, 0};
    if (acc.at) t.start = (ProductMatrix){acc.at, acc.dtype, type_pitch(acc.type), 1, 0};
    return CPU_NAME(product_tiles)(l, &t);
}

KERNEL(linear) { return multiply(l, false, true, false); }
KERNEL(linear_grad_input) { return multiply(l, false, false, false); }
KERNEL(linear_grad_weight) { return multiply(l, true, false, false); }

/* With batch axes: y[..,M,N] = a[..,M,K] b[..,K,N], da[M,K] = dy[M,N] b[K,N]^T and
 * db[K,N] = a[M,K]^T dy[M,N]. */
KERNEL(matmul) { return multiply(l, false, false, true); }
KERNEL(matmul_grad_a) { return multiply(l, false, true, true); }
KERNEL(matmul_grad_b) { return multiply(l, true, false, true); }

/* ---- with the ops that passes fuse_gelu and fuse_backward fused into them: the kernels of the
 * parts one after the other, with the result of the first where the graph keeps it, in h, or in the
 * result itself. So the bits are those of the unfused ops, roundings to bf16 in between included. A
 * rehearsal runs the products only. */

KERNEL(gelu);
KERNEL(gelu_grad);
KERNEL(sum_leading);

/* y, h = linear_gelu(x, w, b?) */
KERNEL(linear_gelu) {
    const KernelCall *c = l->call;
    int code = launch_part(l, CPU_NAME(linear), c->n_in, c->in, c->in_type, 1);
    if (code || l->cpu->rehearsing) return code;
    return launch_part(l, CPU_NAME(gelu), 1, (const void *[]){c->out[1]}, c->out_type + 1, 0);
}

/* dh = linear_grad_input_gelu(dy, w, h): the slope is applied in the result's own memory */
KERNEL(linear_grad_input_gelu) {
    const KernelCall *c = l->call;
    int code = launch_part(l, CPU_NAME(linear_grad_input), 2, c->in, c->in_type, 0);
    if (code || l->cpu->rehearsing) return code;
    return launch_part(l, CPU_NAME(gelu_grad), 2, (const void *[]){c->out[0], c->in[2]},
                       (const Type *[]){c->out_type[0], c->in_type[2]}, 0);
}

/* dw, db = linear_grad_weight_bias(dy, x, dw?) */
KERNEL(linear_grad_weight_bias) {
    const KernelCall *c = l->call;
    int code = launch_part(l, CPU_NAME(linear_grad_weight), c->n_in, c->in, c->in_type, 0);
    if (code || l->cpu->rehearsing) return code;
    return launch_part(l, CPU_NAME(sum_leading), 1, c->in, c->in_type, 1);
}

/* ---- with the loss, in chunks */

static int loss_of_chunk(const Launch *l, int64_t first, int64_t rows) {
    return l->cpu->rehearsing ? 0 : CPU_NAME(loss_of_chunk)(l, first, rows);
}

KERNEL(linear_cross_entropy) {
    return run_head(l, &(HeadKernels){.linear = CPU_NAME(linear), .loss = loss_of_chunk});
}
KERNEL(linear_cross_entropy_both) {
    return run_head(l, &(HeadKernels){CPU_NAME(linear), CPU_NAME(linear_grad_input),
                                      CPU_NAME(linear_grad_weight), loss_of_chunk});
}
