/* linear_cross_entropy and linear_cross_entropy_both: on every device these ops run the kernels of
 * their parts, one chunk of rows after the other.
 *
 * A device supplies the kernels of the products and one for the loss. For the rows from `first` on,
 * of `rows` in all, that one does what cross_entropy or cross_entropy_both does, and adds to the
 * sum of the rows before; it clears the sum where first is 0.
 */
#ifndef FSDPC_HEAD_CHUNKS_H
#define FSDPC_HEAD_CHUNKS_H

#include "kernel.h"

typedef struct HeadKernels {
    Kernel linear, grad_input, grad_weight; /* the last two: NULL without gradients */
    int (*loss)(const Launch *l, int64_t first, int64_t rows);
} HeadKernels;

enum { HEAD_X, HEAD_W, HEAD_TARGETS, HEAD_STEP }; /* operands */
enum { HEAD_DX, HEAD_DW, HEAD_LOSS, HEAD_CHUNK }; /* results; without gradients the last two */

/* An operand or result of a part. Logits and their gradient are those of one chunk. */
typedef struct HeadValue {
    const void *at;
    Type type;
} HeadValue;

static inline HeadValue head_value(const void *at, const Type *t) {
    HeadValue v;
    v.at = at;
    v.type = *t;
    return v;
}

/* Rows first .. first + n - 1, one after the other. */
static inline HeadValue head_rows(const void *at, const Type *t, int64_t first, int64_t n) {
    int64_t width = last_dim(t);
    HeadValue v = head_value((const char *)at + first * width * dtype_bytes(t->dtype), t);
    v.type.rank = 2;
    v.type.dim[0] = n;
    v.type.dim[1] = width;
    return v;
}

/* The call of a part, and what it points to. */
typedef struct HeadPart {
    KernelCall call;
    Launch launch;
    const void *in[3];
    void *out[2];
    const Type *in_type[3], *out_type[2];
} HeadPart;

static inline const Launch *head_part(HeadPart *p, const Launch *l, uint32_t n_in,
                                      const HeadValue *const *in, uint32_t n_out,
                                      const HeadValue *const *out) {
    for (uint32_t k = 0; k < n_in; k++) p->in[k] = in[k]->at, p->in_type[k] = &in[k]->type;
    for (uint32_t k = 0; k < n_out; k++)
        p->out[k] = (void *)(uintptr_t)out[k]->at, p->out_type[k] = &out[k]->type;
    p->call = *l->call;
    p->call.n_in = n_in;
    p->call.in = p->in;
    p->call.in_type = p->in_type;
    p->call.n_out = n_out;
    p->call.out = p->out;
    p->call.out_type = p->out_type;
    p->call.in_placed = p->call.out_placed = NULL;
    p->launch = *l;
    p->launch.call = &p->call;
    return &p->launch;
}

/* The gradients of a chunk's rows x and of w, from that of its logits. */
static inline int run_head_gradients(const Launch *l, const HeadKernels *kernels, int64_t first,
                                     const HeadValue *logits, const HeadValue *x,
                                     const HeadValue *w) {
    const KernelCall *c = l->call;
    HeadPart part;
    HeadValue dx = head_rows(c->out[HEAD_DX], c->out_type[HEAD_DX], first, x->type.dim[0]);
    HeadValue dw = head_value(c->out[HEAD_DW], c->out_type[HEAD_DW]);
    const HeadValue *by_input[] = {logits, w}, *by_weight[] = {logits, x, &dw};
    const HeadValue *of_input = &dx, *of_weight = &dw;
    int code = kernels->grad_input(head_part(&part, l, 2, by_input, 1, &of_input));
    if (code) return code;
    return kernels->grad_weight(head_part(&part, l, first ? 3 : 2, by_weight, 1, &of_weight));
}

static inline int run_head_chunk(const Launch *l, const HeadKernels *kernels, int64_t first,
                                 int64_t n) {
    const KernelCall *c = l->call;
    bool trains = c->n_out > HEAD_CHUNK, scaled = c->n_in > HEAD_STEP;
    uint32_t last = c->n_out - 1, step_operand = scaled ? HEAD_STEP : HEAD_TARGETS;
    HeadPart part;
    HeadValue x = head_rows(c->in[HEAD_X], c->in_type[HEAD_X], first, n);
    HeadValue w = head_value(c->in[HEAD_W], c->in_type[HEAD_W]);
    HeadValue targets =
        head_value((const int32_t *)c->in[HEAD_TARGETS] + first, c->in_type[HEAD_TARGETS]);
    HeadValue step = head_value(c->in[step_operand], c->in_type[step_operand]);
    HeadValue logits = head_value(c->out[last], c->out_type[last]);
    HeadValue loss = head_value(c->out[last - 1], c->out_type[last - 1]);
    targets.type.rank = 1;
    targets.type.dim[0] = logits.type.dim[0] = n;
    const HeadValue *by_head[] = {&x, &w}, *by_loss[] = {&logits, &targets, &step};
    const HeadValue *of_head = &logits, *of_loss[] = {&logits, &loss};
    int code = kernels->linear(head_part(&part, l, 2, by_head, 1, &of_head));
    if (code) return code;
    head_part(&part, l, scaled ? 3 : 2, by_loss, trains ? 2 : 1, trains ? of_loss : of_loss + 1);
    code = kernels->loss(&part.launch, first, type_elements(c->in_type[HEAD_TARGETS]));
    return code || !trains ? code : run_head_gradients(l, kernels, first, &logits, &x, &w);
}

static inline int run_head(const Launch *l, const HeadKernels *kernels) {
    const KernelCall *c = l->call;
    int64_t rows = type_elements(c->in_type[HEAD_TARGETS]);
    int64_t most = c->out_type[c->n_out - 1]->dim[0];
    int code = 0;
    for (int64_t first = 0; first < rows && !code; first += most)
        code = run_head_chunk(l, kernels, first, MIN(most, rows - first));
    return code;
}

#endif
