/* Products with the ops that passes fuse_gelu and fuse_backward fused into them.
 *
 * A fused kernel runs the kernels of its parts one after the other, with the result of the first
 * where the graph keeps it: in h, or in the result itself. So its bits are those of the unfused
 * ops, roundings to bf16 in between included. A rehearsal runs the products only.
 */
#include "kernel.h"

KERNEL(linear);
KERNEL(gelu);
KERNEL(linear_grad_input);
KERNEL(linear_grad_weight);
KERNEL(sum_leading);
KERNEL(gelu_grad);

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
