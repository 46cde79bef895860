/* Fields of the batch: the source's, by name, and which ids one may hold. Those follow from the
 * instructions that consume it: operands that are indices (i32(V) in the op's signature) take
 * [0, V), and the ignored value if the op has one.
 */
#include <string.h>

#include "data.h"
#include "signature.h"

const PlanSourceField *dataset_field(const Dataset *d, const char *name) {
    for (uint32_t i = 0; i < d->source->n_field; i++) {
        const PlanSourceField *f = &d->plan->source_fields[d->source->first_field + i];
        if (!strcmp(plan_string(d->plan, f->name), name)) return f;
    }
    return NULL;
}

int dataset_lacks_field(const Dataset *d, const char *name, char *error) {
    return fail_with(error, EXIT_CORRUPT, "the plan's batch field %s is not a field of data.%s",
                     name, d->name);
}

/* The field that a value is a copy or view of, or -1. Views do not change elements. */
static int64_t field_of(const Plan *p, uint32_t value) {
    for (;;) {
        const PlanInstr *def = &p->instrs[p->values[value].def];
        if (def->op == OP_field) return def->attr.index;
        if (def->op != OP_reshape && def->op != OP_view) return -1;
        value = p->operands[def->first_in];
    }
}

static void narrow_range(FieldRange *r, int64_t below, bool ignored, int64_t ignore) {
    bool first = r->below == 0;
    /* The ignored value is allowed only where every consumer ignores it. */
    r->ignored = ignored && (first || (r->ignored && r->ignore == ignore));
    r->ignore = ignore;
    r->below = first ? below : MIN(r->below, below);
}

/* What operand i of the instruction may hold, as an index; 0: anything. */
static int64_t limit_of(const Plan *p, const PlanInstr *in, uint32_t i) {
    Type types[MOST_SLOTS];
    const Signature *s = op_signature((OpKind)in->op);
    /* What earlier micro-batches left of a gradient is a rank's part, without a placement. */
    uint32_t n = in->n_in - (in->attr.earlier && in->n_in);
    if (i >= s->n_in || s->in[i].below < 0 || n > MOST_SLOTS) return 0;
    for (uint32_t k = 0; k < n; k++) {
        const PlanValue *v = &p->values[p->operands[in->first_in + k]];
        const Placement *placed = plan_placement(p, v);
        types[k] = v->type;
        for (int d = 0; placed && d < MAX_RANK; d++) /* ids are of the whole table */
            if (placed->cut[d]) types[k].dim[d] = placed->size[d];
    }
    return op_index_limit((OpKind)in->op, n, types, i);
}

void field_ranges(const Plan *p, FieldRange *range) {
    for (uint64_t i = 0; i < p->n_fields; i++) range[i] = (FieldRange){0};
    for (uint64_t k = 0; k < p->n_instrs; k++) {
        const PlanInstr *in = &p->instrs[k];
        for (uint32_t i = 0; i < in->n_in; i++) {
            int64_t below = limit_of(p, in, i);
            int64_t field = below ? field_of(p, p->operands[in->first_in + i]) : -1;
            if (field < 0 || (uint64_t)field >= p->n_fields) continue;
            bool ignores = op_info[in->op].attrs & A_ignore;
            narrow_range(&range[field], below, ignores, ignores ? in->attr.ignore : 0);
        }
    }
}
