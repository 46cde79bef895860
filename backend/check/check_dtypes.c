/* Proof 8, dtypes: every value has the dtype that the model's precision gives it.
 *
 * Kernels read and round floats of any dtype, so the reader does not restrict most of them. The
 * facts say in which dtypes the model computes, adds up gradients and gathers parameters; from
 * these and the plan's own ops a dtype follows for each result, including the parts of fused ops
 * and the steps of formulas.
 *
 * - A parameter is read as the facts say, and so is its group. Its gradient, the operand of a pack,
 *   is in the group's reduce dtype. So is a value to which an op adds its result in place, and each
 *   operand of a sum of gradients that only such sums read; of several dtypes the widest counts.
 * - A product with a weight that is kept in f32 is f32, and so is everything computed only from
 *   such products, statistics and such weights. Such a weight stays one if its elements only move,
 *   and so does a gradient: values made only for it have its dtype.
 * - An op that only moves data keeps the dtype of its operand. All else is in the compute dtype.
 *
 * Fault:
 *   8e  a value, a parameter or the sum of its gradient has another dtype
 */

#include "check.h"
#include "signature.h"

typedef struct Known { /* of a value of a Part */
    uint8_t wanted;    /* if it is a parameter's gradient or a term of one; else DT_NONE */
    uint8_t summed;    /* the widest dtype of the sums that read it */
    uint8_t moved;     /* of the gradient that it becomes after its elements have moved */
    bool gradient;     /* depends on a result of an op of backward */
    bool bound;        /* has the dtype of the value that it shows or moves */
    bool kept;         /* f32 whatever the compute dtype is */
    bool weight;       /* moved elements of parameters that are always read in f32 */
    uint32_t readers;  /* number of operands that it is */
    uint32_t sums;     /* ... of sums on the way to a parameter's gradient */
} Known;

typedef struct Dtypes {
    Check *c;
    Known *of;
} Dtypes;

static const Slot *result_slot(uint16_t op, uint32_t j) {
    return signature_result(op_signature((OpKind)op), j);
}

/* ---- parameters */

/* The dtype in which the model asks for the parameter to be gathered, or DT_NONE. */
static uint32_t gather_dtype_of(const PlanSettings *s, const PlanParam *q) {
    if (q->flags & PARAM_WHOLE) return DT_NONE;
    if (q->gather_dtype != DT_NONE) return q->gather_dtype;
    bool not_meant = dtype_is_quantized((int)s->gather_dtype) && q->type.rank < 2;
    return q->flags & PARAM_F32 || not_meant ? DT_NONE : s->gather_dtype;
}

static void check_param(Check *c, const PlanGroup *g, const PlanParam *q) {
    const PlanSettings *s = c->p->settings;
    bool f32 = q->flags & PARAM_F32;
    uint32_t gather = gather_dtype_of(s, q), sum = f32 ? DT_F32 : s->reduce_dtype;
    uint32_t read = f32 ? DT_F32 : s->compute_dtype;
    bool quantized = dtype_is_quantized((int)gather);
    if (gather != DT_NONE && !quantized) read = gather;
    uint32_t wire = quantized ? gather : read;
    const struct {
        uint32_t got, want;
        const char *what;
    } all[] = {{g->compute_dtype, read, "read"},
               {g->wire_dtype, wire, "gathered"},
               {g->flags & GROUP_TRAINABLE ? g->reduce_dtype : sum, sum, "reduced"}};
    for (size_t k = 0; k < ARRAY_LEN(all); k++)
        if (all[k].got != all[k].want)
            check_fail(c, "8e", NO_INSTR, "%s is %s in %s; the model says %s",
                       plan_string(c->p, q->name), all[k].what, dtype_name((int)all[k].got),
                       dtype_name((int)all[k].want));
}

static void check_groups(Check *c) {
    const Plan *p = c->p;
    for (uint64_t k = 0; k < p->n_groups; k++) {
        const PlanGroup *g = &p->groups[k];
        for (uint32_t i = 0; i < g->n_param; i++) {
            check_param(c, g, &p->params[p->group_params[g->first_param + i].param]);
        }
    }
}

/* ---- readers of each value */

static void note_part(Dtypes *d, const Part *part) {
    bool gradient = op_info[part->op].role == ROLE_BACKWARD;
    for (uint32_t k = 0; k < part->n_in; k++) {
        uint32_t v = check_part_in(part, k);
        d->of[v].readers++;
        gradient |= d->of[v].gradient;
    }
    for (uint32_t j = 0; j < part->n_out; j++) {
        uint32_t v = check_part_out(part, j);
        d->of[v].gradient = gradient;
        d->of[v].bound = result_slot(part->op, j)->dtype == WANT_SAME;
    }
}

/* ---- gradients of parameters, from the last instruction back */

static void require_dtype(Dtypes *d, uint32_t v, int dtype) {
    d->of[v].moved = (uint8_t)dtype_wider(d->of[v].moved, dtype);
    if (!d->of[v].bound) d->of[v].wanted = (uint8_t)dtype_wider(d->of[v].wanted, dtype);
}

/* Notes that v is an operand of a sum on the way to a parameter's gradient. */
static void want_for_sum(Dtypes *d, uint32_t v, int dtype) {
    if (!d->of[v].gradient) return;
    d->of[v].summed = (uint8_t)dtype_wider(d->of[v].summed, dtype);
    if (++d->of[v].sums == d->of[v].readers) require_dtype(d, v, d->of[v].summed);
}

/* A copy counts as a sum of one term; a rank's part and a sum over ranks have the dtype of their
 * operands. */
static void want_by_part(Dtypes *d, uint64_t i, const Part *part) {
    bool moves =
        part->op == OP_reshape || part->op == OP_transpose_grad || part->op == OP_slice_grad;
    uint32_t from = moves ? check_part_in(part, 0) : 0;
    int moved = moves ? d->of[check_part_out(part, 0)].moved : DT_NONE;
    if (moved != DT_NONE) require_dtype(d, check_part_out(part, 0), moved);
    if (moves && d->of[from].gradient && d->of[from].readers == 1)
        d->of[from].moved = (uint8_t)dtype_wider(d->of[from].moved, moved);
    bool shares = op_changes_placement((OpKind)part->op);
    for (uint32_t j = 0; shares && j < part->n_out; j++) {
        uint32_t v = check_part_in(part, j);
        if (d->of[v].gradient && d->of[v].readers == 1)
            require_dtype(d, v, d->of[check_part_out(part, j)].moved);
    }
    for (uint32_t j = 0; j < part->n_out; j++) {
        uint32_t v = check_part_out(part, j);
        if (result_slot(part->op, j)->dtype == WANT_GRAD)
            require_dtype(d, v, dtype_wider(d->of[v].moved, (int)d->c->p->settings->reduce_dtype));
    }
    uint32_t sum = part->n_out ? check_part_out(part, 0) : 0;
    bool copy = part->op == OP_scale && check_part_attrs(d->c, i, part).alpha == 1;
    if ((part->op != OP_add && !copy) || d->of[sum].wanted == DT_NONE) return;
    for (uint32_t k = 0; k < part->n_in; k++)
        want_for_sum(d, check_part_in(part, k), d->of[sum].wanted);
}

static void want_by_instr(Dtypes *d, uint64_t i) {
    const Check *c = d->c;
    const PlanInstr *in = &c->p->instrs[i];
    Part part[CHECK_PARTS];
    if (in->op == OP_pack || in->op == OP_copy_in)
        for (uint32_t k = 0; k < in->n_in; k++)
            require_dtype(d, check_in(c, i, k), (int)c->p->groups[in->attr.group].reduce_dtype);
    /* The parts of an op with an accumulator have no separate result for its slot. */
    bool adds =
        op_info[in->op].alias == ALIAS_ACC && in->n_in == op_signature((OpKind)in->op)->in_max;
    if (adds) {
        require_dtype(d, in->first_out, (int)c->p->settings->reduce_dtype);
        require_dtype(d, check_in(c, i, in->n_in - 1), d->of[in->first_out].wanted);
    }
    /* Its first results, which it adds to sums, have the dtypes of these. */
    for (uint32_t k = 0; in->op == OP_accumulate && k < in->n_out; k++)
        require_dtype(d, check_in(c, i, in->n_out + k),
                      c->p->values[check_out(c, i, k)].type.dtype);
    for (uint32_t k = check_parts(c, i, part); k-- > 0;) want_by_part(d, i, &part[k]);
}

/* ---- the dtype of each result, from the first instruction on */

static bool is_kept(const Dtypes *d, uint32_t v) { return d->of[v].kept || d->of[v].weight; }

/* Whether the part computes in f32 because of its operands. */
static bool keeps_f32(const Dtypes *d, const Part *part) {
    bool any = false, product = part->op == OP_matmul || part->op == OP_experts_linear;
    if (part->op == OP_linear && is_kept(d, check_part_in(part, 1))) return true;
    for (uint32_t k = part->op == OP_matmul ? 0 : 2; product && k < part->n_in; k++)
        if (d->of[check_part_in(part, k)].weight) return true;
    for (uint32_t k = 0; k < part->n_in; k++) {
        uint32_t v = check_part_in(part, k);
        if (!type_is_float(check_type(d->c, v))) continue;
        if (!is_kept(d, v)) return false;
        any |= d->of[v].kept;
    }
    return any;
}

/* Whether the part only moves elements of weights that are kept in f32. */
static bool moves_weights(const Dtypes *d, const Part *part) {
    bool joins = part->op == OP_expand || part->op == OP_concat || part->op == OP_stack;
    bool bound = part->n_out && result_slot(part->op, 0)->dtype == WANT_SAME;
    uint32_t n = joins ? part->n_in : bound && part->n_in ? 1 : 0, k = 0;
    while (k < n && d->of[check_part_in(part, k)].weight) k++;
    return n && k == n;
}

/* The dtype of result j; DT_NONE: its op, a table or another proof determines it. */
static int dtype_of(const Dtypes *d, const Part *part, uint32_t j, bool keeps) {
    uint32_t v = check_part_out(part, j);
    const Slot *slot = result_slot(part->op, j);
    bool of_model = op_info[part->op].levels & L_TRAIN && op_info[part->op].role != ROLE_UPDATE;
    if (d->of[v].wanted != DT_NONE) return d->of[v].wanted;
    switch (slot->dtype) {
    case WANT_DEFAULT:
        if (slot->same_as >= 0) return DT_NONE;
        return keeps || d->of[v].weight ? DT_F32 : (int)d->c->p->settings->compute_dtype;
    case WANT_SAME: return part->n_in ? check_type(d->c, check_part_in(part, 0))->dtype : DT_NONE;
    case WANT_FLOAT: return of_model ? DT_F32 : DT_NONE;
    case DT_F32: return DT_F32;
    default: return DT_NONE;
    }
}

static void check_result(Dtypes *d, uint64_t i, const Part *part, uint32_t j, bool keeps) {
    Check *c = d->c;
    uint32_t v = check_part_out(part, j);
    const Slot *slot = result_slot(part->op, j);
    d->of[v].weight = moves_weights(d, part);
    bool data = slot->dtype == WANT_SAME && part->n_in && d->of[check_part_in(part, 0)].kept;
    d->of[v].kept = slot->dtype == DT_F32 || slot->dtype == WANT_FLOAT || data ||
                    (slot->dtype == WANT_DEFAULT && keeps);
    const Type *t = check_type(c, v);
    if (v >= c->p->n_values && c->p->instrs[i].op != OP_fused) {
        /* A value that exists only inside a fused op is rounded like its result, or not at all, but
         * logits and their gradient as what they pass through. */
        int scratch = op_scratch((OpKind)c->p->instrs[i].op);
        if (scratch < 0 || !slot->pitched) return;
        t = &c->p->values[check_out(c, i, (uint32_t)scratch)].type;
    }
    int dtype = dtype_of(d, part, j, keeps);
    if (dtype == DT_NONE || !type_is_float(t)) return;
    c->result->dtypes++;
    if (t->dtype == dtype) return;
    const char *why = d->of[v].wanted != DT_NONE         ? "like the other terms of its gradient"
                      : slot->dtype == WANT_SAME         ? "like its operand"
                      : dtype == DT_F32 && d->of[v].kept ? "since its operands are kept in f32"
                                                         : "in which the model computes";
    check_fail(c, "8e", i, "the result of %s%s is %s, not %s, %s", op_info[part->op].name,
               part->step ? ", a step of its formula," : "", dtype_name(t->dtype),
               dtype_name(dtype), why);
}

/* The flat gradient of a group must be in the group's dtype. */
static void check_flat(Check *c, uint64_t i) {
    const PlanInstr *in = &c->p->instrs[i];
    if (in->op != OP_pack && in->op != OP_copy_in) return;
    int got = c->p->values[check_out(c, i, 0)].type.dtype;
    int sum = (int)c->p->groups[in->attr.group].reduce_dtype;
    if (got != sum)
        check_fail(c, "8e", i, "its gradients are packed as %s, but their group sums in %s",
                   dtype_name(got), dtype_name(sum));
}

static void check_instr(Dtypes *d, uint64_t i) {
    Check *c = d->c;
    Part part[CHECK_PARTS];
    int64_t param = check_param_shown(c, i);
    if (param >= 0) {
        d->of[check_out(c, i, 0)].weight = c->p->params[param].flags & PARAM_F32;
        return;
    }
    uint32_t n = check_parts(c, i, part);
    check_flat(c, i);
    for (uint32_t k = 0; k < n; k++) {
        bool keeps = keeps_f32(d, &part[k]);
        for (uint32_t j = 0; j < part[k].n_out; j++) check_result(d, i, &part[k], j, keeps);
    }
}

static void check_values(Dtypes *d) {
    const Plan *p = d->c->p;
    for (uint64_t i = 0; i < p->n_instrs; i++) {
        Part part[CHECK_PARTS];
        uint32_t n = check_parts(d->c, i, part);
        for (uint32_t k = 0; k < n; k++) note_part(d, &part[k]);
    }
    for (uint64_t i = p->n_instrs; i-- > 0;) want_by_instr(d, i);
    for (uint64_t i = 0; i < p->n_instrs; i++) check_instr(d, i);
}

void check_dtypes(Check *c) {
    Dtypes d = {.c = c, .of = arena_alloc(c->arena, check_room(c) * sizeof *d.of)};
    check_groups(c);
    check_values(&d);
}
