#include "plan_work.h"

void plan_types(const Plan *p, const PlanInstr *in, Type *types) {
    for (uint32_t k = 0; k < in->n_in; k++)
        types[k] = p->values[p->operands[in->first_in + k]].type;
    for (uint32_t k = 0; k < in->n_out; k++)
        types[in->n_in + k] = p->values[in->first_out + k].type;
}

uint64_t plan_scratch(const Plan *p, const PlanInstr *in, int device, Type *types) {
    plan_types(p, in, types);
    return (uint64_t)op_workspace((OpKind)in->op, (DeviceKind)device, &in->attr, (int)in->n_in,
                                  types, (int)in->n_out, types + in->n_in);
}

uint32_t plan_most_types(const Plan *p) {
    uint32_t most = 0;
    for (uint64_t i = 0; i < p->n_instrs; i++)
        most = MAX(most, p->instrs[i].n_in + p->instrs[i].n_out);
    return most;
}

OpProducts plan_products(const Plan *p, const PlanInstr *in, const Type *types, bool mean) {
    OpProducts of = op_products((OpKind)in->op, &in->attr, (int)in->n_in, types, (int)in->n_out,
                                types + in->n_in);
    const Placement *placed = plan_placement(p, &p->values[in->first_out]);
    Mesh mesh = plan_mesh(p);
    if (op_info[in->op].cost_class == CLASS_ATTENTION && placed && placed->cut[1])
        op_take_part(&of, &in->attr, mean || placed->cut[1] & mesh_backward_axes(&mesh));
    return of;
}

static double program_flops(const Plan *p, const PlanProgram *program, Type *types) {
    double flops = 0;
    for (uint32_t i = 0; i < program->n_instr; i++) {
        const PlanInstr *in = &p->instrs[program->first_instr + i];
        if (in->flags & INSTR_RECOMPUTED) continue;
        plan_types(p, in, types);
        OpProducts of = plan_products(p, in, types, true);
        flops += products_flops(&of);
    }
    return flops;
}

double plan_model_flops(const Plan *p) {
    Arena *a = arena_new();
    Type *types = arena_array(a, Type, plan_most_types(p) + 1);
    double *once = arena_array(a, double, p->n_programs + 1), sum = 0;
    for (uint64_t i = 0; i < p->n_programs; i++) once[i] = program_flops(p, &p->programs[i], types);
    for (uint64_t c = 0; c < p->n_calls; c++) {
        const PlanCall *call = &p->calls[c];
        if (call->kind != PLAN_STEP) continue;
        sum += once[call->program] * (double)call->times * p->roles[call->role].n_ranks;
    }
    arena_free(a);
    return sum;
}

uint64_t traffic_sent(OpKind op, int64_t ranks, int n_in, const Type *in, int n_out,
                      const Type *out) {
    uint64_t full = 0, n = (uint64_t)ranks;
    const Type *t = op_gathers(op) ? out : in;
    int count = op_gathers(op) ? n_out : n_in;
    if (op == OP_send) return (uint64_t)type_bytes(in);
    if (op_info[op].effect != EFFECT_COMM || n < 2) return 0;
    for (int i = 0; i < count; i++) full += (uint64_t)type_bytes(&t[i]);
    uint64_t once = full / n * (n - 1) + full % n * (n - 1) / n;
    return op == OP_all_reduce ? 2 * once : once;
}
