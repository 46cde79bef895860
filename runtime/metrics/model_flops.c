/* How much work of the model is in a step, and how much the machine could do: their ratio over the
 * time of a step is the model FLOPs utilization (MFU).
 *
 * Counted are the matrix products of forward and backward over all ranks and micro-batches (column
 * PRODUCTS of ops.def). Recomputation to save memory is not, so that it does not make a run look
 * busier.
 */
#include "op.h"
#include "progress.h"

static double instr_work(const Plan *p, const PlanInstr *in, Type *types) {
    for (uint32_t k = 0; k < in->n_in; k++)
        types[k] = p->values[p->operands[in->first_in + k]].type;
    Type *out = types + in->n_in;
    for (uint32_t k = 0; k < in->n_out; k++) out[k] = p->values[in->first_out + k].type;
    return (double)op_product_flops((OpKind)in->op, &in->attr, (int)in->n_in, types, (int)in->n_out,
                                    out);
}

double model_flops(const Plan *p) {
    uint32_t most = 0;
    for (uint64_t i = 0; i < p->n_instrs; i++)
        most = MAX(most, p->instrs[i].n_in + p->instrs[i].n_out);
    Arena *a = arena_new();
    Type *types = arena_array(a, Type, most + 1);
    double sum = 0;
    for (uint64_t c = 0; c < p->n_calls; c++) {
        const PlanCall *call = &p->calls[c];
        const PlanProgram *program = &p->programs[call->program];
        double once = 0;
        if (call->kind != PLAN_STEP) continue;
        for (uint32_t i = 0; i < program->n_instr; i++) {
            const PlanInstr *in = &p->instrs[program->first_instr + i];
            if (!(in->flags & INSTR_RECOMPUTED)) once += instr_work(p, in, types);
        }
        sum += once * (double)call->times * p->roles[call->role].n_ranks;
    }
    arena_free(a);
    return sum;
}

/* Ranks share a machine's processors, and those of one process a GPU. */
double machine_flops(const RunFacts *run) {
    const LaunchContext *l = run->launch;
    int32_t of_process = l->module ? 1 : l->ranks;
    int32_t sharing = run->device->kind == DEVICE_CPU ? l->local_ranks : of_process;
    double peak = run->options->peak_flops;
    if (sharing < 1 || l->ranks % sharing) return 0; /* machines differ */
    return peak * (l->ranks / sharing);
}
