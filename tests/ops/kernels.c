/* See kernels.h. Every value has memory of its own, unless an op must write into an operand's
 * memory (ALIAS_MUST, ALIAS_ACC, views) or, under in_place, may. Memory is filled with NaN first,
 * so that an output that a kernel does not write completely is noticed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device_module.h"
#include "ops/kernels.h"

enum { MAX_OPERANDS = 256 };

typedef struct Run {
    Kernels *k;
    const Graph *g;
    const KernelData *data;
    void **memory;     /* by value */
    bool *owned;       /* by value: memory is this value's own */
    uint32_t *readers; /* by value */
} Run;

bool kernels_open(Kernels *k, const char *isa, const char *matmul) {
    char error[ERROR_BYTES] = "";
    memset(k, 0, sizeof *k);
    k->device = device_cpu();
    k->settings.ranks = 1;
    k->plan.settings = &k->settings;
    k->plan.n_settings = 1;
    DeviceOptions options = {.rank = {.plan = &k->plan, .threads = 1}, .plan_path = ""};
    device_choose("FSDP_CPU_ISA", isa);
    device_choose("FSDP_CPU_MATMUL", matmul);
    int code = k->device->open(&options, &k->context, error);
    if (code && !isa && !matmul) fail_environment("%s", error);
    return code == 0;
}

void kernels_close(Kernels *k) { k->device->close(k->context); }

static float bf16_to_f32(uint16_t x) {
    uint32_t bits = (uint32_t)x << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static uint16_t f32_to_bf16(float f) {
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

static void store(void *to, int dtype, int64_t i, double x) {
    if (dtype == DT_F32)
        ((float *)to)[i] = (float)x;
    else if (dtype == DT_BF16)
        ((uint16_t *)to)[i] = f32_to_bf16((float)x);
    else if (dtype == DT_F64)
        ((double *)to)[i] = x;
    else if (dtype == DT_I32)
        ((int32_t *)to)[i] = (int32_t)x;
    else
        BUG("no doubles in %s", dtype_name(dtype));
}

static double load(const void *from, int dtype, int64_t i) {
    if (dtype == DT_F32) return ((const float *)from)[i];
    if (dtype == DT_BF16) return bf16_to_f32(((const uint16_t *)from)[i]);
    BUG("no doubles in %s", dtype_name(dtype));
}

static void *new_memory(int64_t bytes) {
    void *p = aligned_alloc(64, (size_t)align_up((uint64_t)bytes + 1, 64));
    CHECK(p != NULL);
    return memset(p, 0xff, (size_t)align_up((uint64_t)bytes + 1, 64));
}

static void launch(Kernels *k, const Op *op, const void *const *in, void *const *out,
                   const Type *in_type, const Type *out_type) {
    char error[ERROR_BYTES] = "";
    RankInfo rank = {.plan = &k->plan, .threads = 1};
    const Type *in_types[MAX_OPERANDS], *out_types[MAX_OPERANDS];
    for (uint32_t j = 0; j < op->n_in; j++) in_types[j] = &in_type[j];
    for (uint32_t j = 0; j < op->n_out; j++) out_types[j] = &out_type[j];
    int64_t bytes = op_workspace(op->kind, DEVICE_CPU, op->attr, (int)op->n_in, in_type,
                                 (int)op->n_out, out_type);
    KernelCall call = {.rank = &rank,
                       .op = op->kind,
                       .attr = op->attr,
                       .n_in = op->n_in,
                       .n_out = op->n_out,
                       .in = in,
                       .out = out,
                       .in_type = in_types,
                       .out_type = out_types,
                       .workspace = bytes ? new_memory(bytes) : NULL,
                       .workspace_bytes = (uint64_t)bytes};
    if (k->device->launch(k->context, 0, &call, error) || k->device->synchronize(k->context, error))
        fail_environment("%s: %s", op_info[op->kind].name, error);
    free(call.workspace);
}

void kernels_dropout(void *kernels, const Op *op, int64_t n, double *factor) {
    double step[STEP_SLOTS] = {0};
    Type t[2] = {type_of(DT_F32, 1, &n), type_of(DT_F64, 1, &(int64_t){STEP_SLOTS})};
    float *ones = new_memory(n * 4), *y = new_memory(n * 4);
    for (int64_t i = 0; i < n; i++) ones[i] = 1;
    const void *in[2] = {ones, step};
    void *out[1] = {y};
    launch(kernels, op, in, out, t, t);
    for (int64_t i = 0; i < n; i++) {
        CHECK(y[i] == 0 || fabs(y[i] * (1 - op->attr->p) - 1) < 1e-6);
        factor[i] = y[i] == 0 ? 0 : 1 / (1 - op->attr->p);
    }
    free(ones);
    free(y);
}

/* The operand whose memory result 0 takes, or -1. */
static int shared_operand(const Run *r, const Op *op) {
    int must = op_alias_must(op, 0);
    if (must >= 0 || !r->data->in_place || op_info[op->kind].alias != ALIAS_MAY) return must;
    const Type *to = &r->g->values.at[op->out].type;
    for (uint32_t j = 0; j < op->n_in; j++) {
        const Value *v = &r->g->values.at[op->in[j]];
        OpKind def = r->g->ops.at[v->def].kind;
        if ((op_info[op->kind].alias_mask >> j & 1) && r->readers[op->in[j]] == 1 &&
            def != OP_param && def != OP_state && def != OP_reshape &&
            type_bytes(&v->type) == type_bytes(to))
            return (int)j;
    }
    return -1;
}

static void place_results(Run *r, const Op *op) {
    for (uint32_t j = 0; j < op->n_out; j++) {
        ValueId v = op->out + j;
        int from = j == 0 ? shared_operand(r, op) : op_alias_must(op, j);
        r->owned[v] = from < 0;
        r->memory[v] =
            from < 0 ? new_memory(type_bytes(&r->g->values.at[v].type)) : r->memory[op->in[from]];
    }
}

static void fill_result(const Run *r, const Op *op, const double *x) {
    const Type *t = &r->g->values.at[op->out].type;
    for (int64_t i = 0; i < type_elements(t); i++)
        store(r->memory[op->out], t->dtype, i, x ? x[i] : 0);
}

static void read_gradient(const Run *r, const Op *op) {
    const Type *t = &r->g->values.at[op->in[0]].type;
    for (int64_t i = 0; i < type_elements(t); i++)
        r->data->gradients[op->attr->index][i] = load(r->memory[op->in[0]], t->dtype, i);
}

static void run_op(Run *r, const Op *op) {
    place_results(r, op);
    switch (op->kind) {
    case OP_param: fill_result(r, op, r->data->params[op->attr->index]); return;
    case OP_field: fill_result(r, op, r->data->fields[op->attr->index]); return;
    case OP_state:
        memset(r->memory[op->out], 0, (size_t)type_bytes(&r->g->values.at[op->out].type));
        return;
    case OP_set_grad: read_gradient(r, op); return;
    case OP_set_state:
    case OP_reshape: return;
    default: break;
    }
    const void *in[MAX_OPERANDS];
    void *out[MAX_OPERANDS];
    Type in_type[MAX_OPERANDS], out_type[MAX_OPERANDS];
    for (uint32_t j = 0; j < op->n_in; j++) {
        in[j] = r->memory[op->in[j]];
        in_type[j] = r->g->values.at[op->in[j]].type;
    }
    for (uint32_t j = 0; j < op->n_out; j++) {
        out[j] = r->memory[op->out + j];
        out_type[j] = r->g->values.at[op->out + j].type;
    }
    launch(r->k, op, in, out, in_type, out_type);
}

void kernels_run(Kernels *k, const Graph *g, const KernelData *data) {
    Run r = {k,
             g,
             data,
             calloc(g->values.n, sizeof(void *)),
             calloc(g->values.n, sizeof(bool)),
             calloc(g->values.n, sizeof(uint32_t))};
    const Program *p = &g->programs.at[0];
    for (uint32_t i = 0; i < p->ops.n; i++) {
        const Op *op = &g->ops.at[p->ops.at[i]];
        for (uint32_t j = 0; j < op->n_in; j++) r.readers[op->in[j]]++;
    }
    for (uint32_t i = 0; i < p->ops.n; i++) run_op(&r, &g->ops.at[p->ops.at[i]]);
    for (uint32_t v = 0; v < g->values.n; v++)
        if (r.owned[v]) free(r.memory[v]);
    free(r.memory);
    free(r.owned);
    free(r.readers);
}
