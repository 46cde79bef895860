/* The seconds of an instruction alone on the machine, by the class of its op. */

#include <string.h>

#include "plan_work.h"
#include "step.h"

/* ---- layers repeat: instructions with equal keys take as long */

enum { COST_ENTRIES = 4096 };
typedef struct CostKey { /* no padding: it is compared as bytes */
    uint64_t types, flops, bytes;
    int64_t window;
    uint32_t op, role, axes, causal, in_place, overlaps;
} CostKey;

typedef struct CostEntry {
    CostKey key;
    bool used;
    Cost cost;
} CostEntry;

Costs costs_of(const Plan *p, const Machine *m, Arena *a) {
    Costs c = {.plan = p, .machine = m, .mesh = plan_mesh(p), .arena = a, .complete = true};
    c.types = arena_array(a, Type, plan_most_types(p) + 1);
    c.entry = arena_array(a, CostEntry, COST_ENTRIES);
    return c;
}

static Cost kernel_cost(Costs *c, const PlanInstr *in) {
    OpKind op = (OpKind)in->op;
    OpProducts p = plan_products(c->plan, in, c->types, false);
    if (op == OP_linear_cross_entropy || op == OP_linear_cross_entropy_both)
        return cost_chunks(c, in);
    switch ((OpClass)op_info[op].cost_class) {
    case CLASS_PRODUCT: return cost_product(c, op, &p, c->types);
    case CLASS_ATTENTION: return cost_attention(c, op, &p, c->types);
    case CLASS_COPY: return cost_copy(c, in, (double)in->bytes / 2);
    case CLASS_ELEMENTS:
    case CLASS_ROWS:
    case CLASS_SCATTERED:
    case CLASS_UPDATE: return cost_moved(c, op, (double)in->bytes, (double)in->flops);
    case OP_CLASSES: break;
    }
    BUG("%s has no class", op_info[op].name);
}

static Cost new_cost(Costs *c, const PlanInstr *in, uint32_t role) {
    if (op_info[in->op].effect == EFFECT_COMM) return cost_collective(c, in, role);
    if (in->op == OP_send) /* into the outbox */
        return cost_moved(c, OP_send, 2 * (double)type_bytes(c->types), 0);
    if (!op_info[in->op].launched) return (Cost){.occupies = OCCUPIES_NOTHING};
    return kernel_cost(c, in);
}

static CostKey key_of(const Costs *c, const PlanInstr *in, uint32_t role) {
    CostKey key = {.op = in->op,
                   .role = role,
                   .axes = (uint32_t)in->attr.axes,
                   .flops = in->flops,
                   .bytes = in->bytes,
                   .window = in->attr.window,
                   .causal = in->attr.causal != 0,
                   .in_place = cost_in_place(c->plan, in),
                   .overlaps = c->overlaps};
    key.types = hash_bytes(c->types, (in->n_in + in->n_out) * sizeof *c->types, 0);
    return key;
}

uint64_t cost_key(Costs *c, const PlanInstr *in, uint32_t role) {
    plan_types(c->plan, in, c->types);
    CostKey key = key_of(c, in, role);
    return hash_bytes(&key, sizeof key, 0);
}

Cost cost_anew(Costs *c, const PlanInstr *in, uint32_t role) {
    plan_types(c->plan, in, c->types);
    return new_cost(c, in, role);
}

Cost cost_of(Costs *c, const PlanInstr *in, uint32_t role) {
    plan_types(c->plan, in, c->types);
    CostKey key = key_of(c, in, role);
    CostEntry *e = &c->entry[hash_bytes(&key, sizeof key, 0) % COST_ENTRIES];
    if (e->used && !memcmp(&e->key, &key, sizeof key)) return e->cost;
    *e = (CostEntry){key, true, new_cost(c, in, role)};
    return e->cost;
}
