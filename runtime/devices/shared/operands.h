/* Operands and results of a kernel, as all devices see them. Only the kernel.h of a device includes
 * this, after it has declared launch_error and its Launch, whose `call` says what is computed.
 *
 * Their types fit the op, no dimension is 0, attributes are in range and the workspace is as large
 * as op_workspace says: the plan reader and the executor ensure that. So kernels check only the
 * contents of values (ids, rows of experts) and what types do not say.
 */
#ifndef FSDPC_OPERANDS_H
#define FSDPC_OPERANDS_H

/* The qualifiers of functions that kernels call; kernel.h of device cuda defines its own. */
#ifndef DEVICE
#define DEVICE static inline
#endif

typedef struct Operand {
    const void *at; /* NULL: it is left out */
    int dtype;
    int64_t n, rows, width; /* elements; rows of the last dimension, and elements of one */
    const Type *type;
} Operand;
typedef struct Result {
    void *at;
    int dtype;
    int64_t n, rows, width;
    const Type *type;
} Result;

static inline Operand input(const Launch *l, uint32_t i) {
    Operand none = {0};
    if (i >= l->call->n_in) return none;
    const Type *t = l->call->in_type[i];
    int64_t n = type_elements(t), width = last_dim(t);
    Operand o = {l->call->in[i], t->dtype, n, n / width, width, t};
    return o;
}
static inline Result output(const Launch *l, uint32_t i) {
    const Type *t = l->call->out_type[i];
    int64_t n = type_elements(t), width = last_dim(t);
    Result r = {l->call->out[i], t->dtype, n, n / width, width, t};
    return r;
}
/* Which entries of dimension `dim` of an operand, or of a result, this rank has. */
static inline DimPart call_part(const KernelCall *c, const Placement *p, const Type *t, int dim) {
    return p ? placement_part(p, &c->rank->mesh, c->rank->rank, t, dim) : dim_whole(t->dim[dim]);
}
static inline DimPart input_part(const KernelCall *c, uint32_t i, int dim) {
    return call_part(c, c->in_placed ? c->in_placed[i] : NULL, c->in_type[i], dim);
}
static inline DimPart output_part(const KernelCall *c, uint32_t i, int dim) {
    return call_part(c, c->out_placed ? c->out_placed[i] : NULL, c->out_type[i], dim);
}
static inline bool is_real(int dtype) { return dtype_is_float(dtype); }
static inline int bad_operands(const Launch *l) {
    return launch_error(l, EXIT_CORRUPT, "operand types or sizes do not match");
}

/* The group of attribute `group`; NULL when that is -1. */
static inline const PlanGroup *group_of(const Launch *l) {
    int64_t index = l->call->attr->group;
    return index >= 0 ? &l->call->rank->plan->groups[index] : NULL;
}

/* Runs the kernel of a part, whose only result is result number `result` of the fused op. */
static inline int launch_part(const Launch *l, Kernel kernel, uint32_t n_in, const void *const *in,
                              const Type *const *in_type, uint32_t result) {
    KernelCall call = *l->call;
    call.n_in = n_in;
    call.in = in;
    call.in_type = in_type;
    call.n_out = 1;
    call.out = l->call->out + result;
    call.out_type = l->call->out_type + result;
    call.in_placed = NULL; /* no part of an op is cut where its kernel must know its place */
    if (call.out_placed) call.out_placed += result;
    Launch part = *l;
    part.call = &call;
    return kernel(&part);
}

#endif
