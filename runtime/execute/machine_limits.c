/* The limits of this machine: the rate of products and of memory, by the device's own kernels.
 *
 * Products are square and double in width from trial to trial until one takes LONG seconds; the
 * fastest counts. Memory is read and written by `scale`, on twice as many bytes in each trial,
 * until one takes LONG seconds; only the last trial counts, since what fits a cache is faster. A
 * trial for which there is no memory is left out. Ranks that share the machine do not compute
 * meanwhile, so no rank reaches the limit of memory while several run; an op may exceed that limit
 * if a cache still holds an operand.
 */

#include "prepared.h"

enum { NARROWEST = 256, WIDEST = 8192, RUNS = 3, OPERANDS = 3, ALIGN = 256 };
static const double LONG = 0.02;
static const int64_t FEWEST_BYTES = INT64_C(1) << 26, MOST_BYTES = INT64_C(1) << 30;

/* Operands, then the result, of one size. */
typedef struct Limit {
    Rank *rank;
    OpKind op;
    Attrs attr;
    Type type;
    int n_in;
    double flops, bytes; /* of a run, as plans count them */
} Limit;

/* Numbers from 0.5 to 1 of either sign: zeros take less power, and so less time. */
static int fill_operand(const Limit *l, void *to, int64_t bytes) {
    const Device *d = l->rank->run->device;
    static uint32_t pattern[1 << 16];
    char error[ERROR_BYTES];
    uint32_t random = 1;
    for (size_t i = 0; i < ARRAY_LEN(pattern); i++) {
        random = random * UINT32_C(1664525) + UINT32_C(1013904223);
        uint32_t f32 = UINT32_C(0x3f000000) | (random & UINT32_C(0x807fffff));
        uint32_t half = l->type.dtype == DT_BF16 ? f32 >> 16 : 0x3800 | (random >> 16 & 0x83ff);
        pattern[i] = l->type.dtype == DT_F32 ? f32 : half * UINT32_C(0x00010001);
    }
    int code = 0;
    for (int64_t done = 0; done < bytes && !code; done += (int64_t)sizeof pattern)
        code = d->copy_in(l->rank->context, STREAM_COMPUTE, (char *)to + done, pattern,
                          (uint64_t)MIN(bytes - done, (int64_t)sizeof pattern), error);
    return code ? code : d->synchronize(l->rank->context, error);
}

/* Seconds of the fastest run; 0: no memory, or the device has no such kernel. */
static double time_limit(Limit *l) {
    const Device *d = l->rank->run->device;
    char error[ERROR_BYTES];
    void *memory, *at[OPERANDS];
    Type types[OPERANDS];
    const Type *type[OPERANDS];
    for (int i = 0; i < OPERANDS; i++) types[i] = l->type, type[i] = &types[i];
    int64_t bytes = align_up((uint64_t)type_bytes(&l->type), ALIGN);
    int64_t scratch = op_workspace(l->op, d->kind, &l->attr, l->n_in, types, 1, &types[l->n_in]);
    l->flops = op_flops(l->op, &l->attr, l->n_in, types, 1, &types[l->n_in]);
    l->bytes = (double)op_bytes(l->op, &l->attr, l->n_in, types, 1, &types[l->n_in]);
    uint64_t room = (uint64_t)(bytes * (l->n_in + 1) + scratch);
    if (d->arena_alloc(l->rank->context, room, &memory, error)) return 0;
    for (int i = 0; i <= l->n_in; i++) at[i] = (char *)memory + bytes * i;
    KernelCall call = {.rank = &l->rank->info,
                       .op = l->op,
                       .attr = &l->attr,
                       .n_in = (uint32_t)l->n_in,
                       .n_out = 1,
                       .in = (const void *const *)at,
                       .out = at + l->n_in,
                       .in_type = type,
                       .out_type = type + l->n_in,
                       .workspace = (char *)memory + bytes * (l->n_in + 1),
                       .workspace_bytes = (uint64_t)scratch};
    double best = 0;
    int code = 0;
    for (int i = 0; i < l->n_in && !code; i++) code = fill_operand(l, at[i], bytes);
    for (int i = 0; i <= RUNS && !code; i++) {
        double begun = monotonic_seconds();
        code = d->launch(l->rank->context, STREAM_COMPUTE, &call, error);
        if (!code) code = d->synchronize(l->rank->context, error);
        double seconds = monotonic_seconds() - begun;
        if (i && (best == 0 || seconds < best)) best = seconds; /* the first touches memory */
    }
    d->arena_free(l->rank->context, memory);
    return code ? 0 : best;
}

static double product_rate(Rank *r, int dtype) {
    double rate = 0, seconds = 0;
    for (int64_t n = NARROWEST; n <= WIDEST && seconds < LONG; n *= 2) {
        Limit l = {.rank = r, .op = OP_linear, .n_in = 2};
        l.type = (Type){.dtype = (uint8_t)dtype, .rank = 2, .dim = {n, n}};
        seconds = time_limit(&l);
        if (seconds == 0) break;
        rate = MAX(rate, l.flops / seconds);
    }
    return rate;
}

static double memory_rate(Rank *r) {
    double rate = 0, seconds = 0;
    for (int64_t bytes = FEWEST_BYTES; bytes <= MOST_BYTES && seconds < LONG; bytes *= 2) {
        Limit l = {.rank = r, .op = OP_scale, .attr = {.alpha = 0.5}, .n_in = 1};
        l.type = (Type){.dtype = DT_F32, .rank = 1, .dim = {bytes / 4}};
        seconds = time_limit(&l);
        if (seconds == 0) break;
        rate = l.bytes / seconds;
    }
    return rate;
}

/* The dtype in which an instruction multiplies. */
static int product_dtype(const KernelCall *call) {
    for (uint32_t i = 0; i < call->n_in; i++)
        if (dtype_is_float(call->in_type[i]->dtype)) return call->in_type[i]->dtype;
    return DT_F32;
}

static bool multiplies(const PlanInstr *in) {
    int class = op_info[in->op].cost_class;
    return class == CLASS_PRODUCT || class == CLASS_ATTENTION;
}

void limits_measure(Rank *r, MachineLimits *out) {
    const Plan *p = r->run->plan;
    *out = (MachineLimits){.memory = 0};
    rank_writes(r, true); /* no instruction begins meanwhile */
    for (uint64_t k = 0; k < p->n_instrs; k++) {
        if (!multiplies(&p->instrs[k])) continue;
        int dtype = product_dtype(&r->executor->prepared[k].kernel);
        if (out->product[dtype] == 0) out->product[dtype] = product_rate(r, dtype);
    }
    out->memory = memory_rate(r);
    rank_writes(r, false);
}

double limits_seconds(const MachineLimits *l, const PlanInstr *in, const KernelCall *call) {
    const OpInfo *info = &op_info[in->op];
    if (!info->launched || info->cost_class == CLASS_COPY || l->memory == 0) return 0;
    double rate = multiplies(in) ? l->product[product_dtype(call)] : 0;
    return MAX((double)in->bytes / l->memory, rate > 0 ? (double)in->flops / rate : 0);
}
