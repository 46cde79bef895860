/* Which ids a field of the batch may hold: what the instructions that consume it can take. An
 * embedding takes [0, rows), a loss or accuracy [0, classes) and the ignored value. */
#include "data.h"

/* The field that a value is a copy or view of, or -1. Views do not change elements. */
static int64_t field_of(const Plan *p, uint32_t value) {
    for (;;) {
        const PlanInstr *def = &p->instrs[p->values[value].def];
        if (def->op == OP_field) return def->attr.index;
        if (def->op != OP_reshape && def->op != OP_view) return -1;
        value = p->operands[def->first_in];
    }
}

static void narrow(FieldRange *r, int64_t below, bool ignored, int64_t ignore) {
    bool first = r->below == 0;
    /* The ignored value is allowed only where every consumer ignores it. */
    r->ignored = ignored && (first || (r->ignored && r->ignore == ignore));
    r->ignore = ignore;
    r->below = first ? below : MIN(r->below, below);
}

void field_ranges(const Plan *p, FieldRange *range) {
    for (uint64_t i = 0; i < p->n_fields; i++) range[i] = (FieldRange){0};
    for (uint64_t k = 0; k < p->n_instrs; k++) {
        const PlanInstr *in = &p->instrs[k];
        bool table = in->op == OP_embedding;
        bool loss = in->op == OP_cross_entropy || in->op == OP_cross_entropy_both;
        if (!table && !loss && in->op != OP_accuracy) continue;
        int64_t field = field_of(p, p->operands[in->first_in + 1]);
        if (field < 0 || (uint64_t)field >= p->n_fields) continue;
        const Type *t = &p->values[p->operands[in->first_in]].type;
        int64_t below = table ? t->dim[0] : t->dim[t->rank - 1];
        narrow(&range[field], below, !table, table ? 0 : in->attr.ignore);
    }
}
