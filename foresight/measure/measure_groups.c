/* Which constants the time of an instruction rests on. */
#include "measure.h"
#include "plan_work.h"

/* clang-format off */
static const MeasureStart
    link[] = {{"bytes_s", 5e9, 2e11, true}, {"start_s", 1e-5, 2e-5, true}, {0}};
const MeasureStart
    measure_attention[] = {{"forward_flops_s", 1e10, 2e14, true},
                           {"backward_flops_s", 1e10, 2e14, true},
                           {"fill_keys", 32, 300, false}, {0}},
    measure_product[] = {{"flops_s", 5e10, 5e14, true}, {"start_s", 1e-6, 5e-6, true},
                         {"fill_m", 4, 0, false}, {"fill_n", 8, 0, false},
                         {"fill_k", 16, 200, false}, {0}},
    measure_reduced[] = {{"all_reduce_bytes_s", 2e9, 1e11, true},
                         {"all_reduce_start_s", 2e-5, 4e-5, true}, {0}},
    measure_placed[] = {{"in_place_bytes_s", 5e10, 0, true},
                        {"in_place_start_s", 1e-5, 0, true}, {0}},
    measure_moved[] = {{"bytes_s", 5e9, 2e12, true}, {"cached_bytes_s", 1e10, 0, false},
                       {"flops_s", 5e9, 1e13, false}, {0}};
/* clang-format on */

/* The group of constants of a kernel, and in *start those of them that are fitted. */
static const char *kernel_group(Arena *a, const PlanInstr *in, const MeasureStart **start,
                                Type *type) {
    OpKind op = (OpKind)in->op;
    OpProducts of =
        op_products(op, &in->attr, (int)in->n_in, type, (int)in->n_out, type + in->n_in);
    switch ((OpClass)op_info[op].cost_class) {
    case CLASS_PRODUCT:
        *start = measure_product;
        return arena_printf(a, "products.%s", dtype_name(type->dtype));
    case CLASS_ATTENTION:
        *start = measure_attention;
        return arena_printf(a, "attention.%lld", (long long)of.k);
    case CLASS_COPY: *start = link; return op == OP_fetch ? "copies.fetch" : "copies.evict";
    case CLASS_ELEMENTS:
    case CLASS_ROWS:
    case CLASS_SCATTERED:
    case CLASS_UPDATE: *start = measure_moved; return arena_printf(a, "ops.%s", op_info[op].name);
    case OP_CLASSES: break;
    }
    BUG("%s has no class", op_info[op].name);
}

void measure_group(const Measured *m, MeasurePoint *point, Type *types) {
    const Plan *p = &m->plan[point->variant];
    const PlanInstr *in = &p->instrs[point->instr];
    plan_types(p, in, types);
    if (in->n_in) point->type = dtype_name(types->dtype);
    if (op_info[in->op].launched) point->group = kernel_group(m->arena, in, &point->start, types);
    if (op_info[in->op].effect != EFFECT_COMM || m->ranks < 2) return;
    bool placed = m->kind == DEVICE_CPU && cost_in_place(p, in);
    point->start = in->op == OP_all_reduce ? measure_reduced : placed ? measure_placed : link;
    point->group = arena_printf(m->arena, "links.%lld", (long long)m->ranks);
}
