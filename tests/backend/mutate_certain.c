/* Faults that the oracle cannot detect, since it does not follow what an op computes: faults inside
 * backward, in constants, in the evaluation, and others that only a proof can find. Each is planted
 * where it certainly does harm, and one proof alone must reject it. */
#include <string.h>

#include "mutate.h"
#include "signature.h"

static bool is_backward(const Edit *e, uint32_t i) {
    return e->instr[i].row.phase == PHASE_BACKWARD && e->instr[i].row.stream == STREAM_COMPUTE &&
           op_info[e->instr[i].row.op].effect == EFFECT_PURE;
}

static void make_constant(Edit *e, uint32_t i, double alpha) {
    EditInstr *in = &e->instr[i];
    in->row.op = OP_fill;
    in->row.attr = (Attrs){.alpha = alpha};
    in->n_in = 0;
}

/* The gradient of a parameter that other ops than products read. */
FAULT(constant_gradient) {
    uint32_t n = 0, chosen = 0;
    if (!pick(e, r, is_pack, &at)) return false;
    const EditInstr *pack = &e->instr[at.instr];
    for (uint32_t k = 0; k < pack->n_in; k++) {
        uint32_t def = edit_def(e, pack->in[k]);
        const EditInstr *in = &e->instr[def];
        if (in->n_out == 1 && in->row.op == OP_sum_leading && in->n_in == 1 &&
            random_below(r, ++n) == 0)
            chosen = def;
    }
    if (n) make_constant(e, chosen, 0.5);
    return n > 0;
}

static bool has_one_result(const Edit *e, uint32_t i) {
    const EditInstr *in = &e->instr[i];
    return is_backward(e, i) && in->n_out == 1 && in->n_in > 0 && !is_pack(e, i) &&
           in->row.op != OP_copy_out && op_info[in->row.op].alias != ALIAS_VIEW &&
           op_info[in->row.op].alias != ALIAS_MUST &&
           signature_result(op_signature((OpKind)in->row.op), 0)->dtype == WANT_DEFAULT &&
           e->value[in->out[0]].type.dtype <= DT_BF16;
}
FAULT(zero_slope) {
    make_constant(e, at.instr, 0);
    return true;
}

static bool is_residual(const Edit *e, uint32_t i) {
    const EditInstr *in = &e->instr[i];
    bool residual = (in->row.op == OP_layer_norm_grad && in->n_in == 6) ||
                    (in->row.op == OP_rms_norm_grad && in->n_in == 5);
    return residual && is_backward(e, i);
}
FAULT(drop_residual) {
    e->instr[at.instr].n_in--;
    return true;
}

static bool is_sum(const Edit *e, uint32_t i) {
    const EditInstr *in = &e->instr[i];
    return is_backward(e, i) && in->row.op == OP_add && edit_same_type(e, in->in[0], in->in[1]);
}
/* The sum stays, of one of its terms taken twice. */
FAULT(drop_branch) {
    EditInstr *in = &e->instr[at.instr];
    uint32_t k = random_below(r, 2);
    in->in[k] = in->in[1 - k];
    return true;
}

static bool adds_up(const Edit *e, uint32_t i) {
    const OpInfo *o = &op_info[e->instr[i].row.op];
    return is_backward(e, i) && o->alias == ALIAS_ACC &&
           e->instr[i].n_in == op_signature((OpKind)e->instr[i].row.op)->in_max;
}
static bool same_place(const PlanInstr *a, const PlanInstr *b) {
    return a->path == b->path && a->file == b->file && a->line == b->line && a->col == b->col;
}
/* A reader of the parameter claims not to be part of forward, and its contribution is gone. */
FAULT(hide_reader) {
    const EditInstr *in = &e->instr[at.instr];
    edit_replace_value(e, in->out[0], in->in[in->n_in - 1]);
    for (uint32_t i = 0; i < e->n_instr; i++) {
        EditInstr *other = &e->instr[i];
        if (same_place(&other->row, &in->row)) other->row.phase = PHASE_BACKWARD;
        for (uint32_t k = other->n_edge; k-- > 0;)
            if (other->edge[k] == at.instr) edit_drop_edge(e, i, k);
    }
    edit_remove(e, at.program, at.at);
    return true;
}

static bool reads_values(const Edit *e, uint32_t i) {
    uint16_t op = e->instr[i].row.op;
    bool shows = op == OP_view || op == OP_copy_out || op == OP_dequantize;
    return is_backward(e, i) && e->instr[i].n_in > 0 && !shows && !is_pack(e, i) &&
           op != OP_accumulate && op != OP_fill && op != OP_metric_add;
}
static uint32_t result_number(const EditInstr *in, uint32_t v) {
    uint32_t j = 0;
    while (in->out[j] != v) j++;
    return j;
}
/* Is x a norm joined with a sum, and y such a norm alone? */
static bool joins(const EditInstr *x, const EditInstr *y) {
    return (x->row.op == OP_add_layer_norm && y->row.op == OP_layer_norm) ||
           (x->row.op == OP_add_rms_norm && y->row.op == OP_rms_norm);
}
/* Two views of one parameter, from different gathers, are the same value; so is what backward
 * computes again, of a norm that forward has joined with a sum the norm alone. */
static bool same_value(const Edit *e, uint32_t a, uint32_t b) {
    const EditInstr *x = &e->instr[edit_def(e, a)], *y = &e->instr[edit_def(e, b)];
    uint32_t i = result_number(x, a), j = result_number(y, b);
    if (a == b) return true;
    if (x->row.op == OP_view && y->row.op == OP_view)
        return x->row.attr.offset == y->row.attr.offset;
    if (x->row.op == y->row.op && (x->row.op == OP_copy_out || x->row.op == OP_dequantize))
        return x->row.attr.index == y->row.attr.index;
    if (joins(y, x)) return same_value(e, b, a);
    if (joins(x, y)) {
        bool norm = i == j + 1 && same_value(e, x->out[0], y->in[0]);
        for (uint32_t k = 1; norm && k < y->n_in; k++) norm = same_value(e, x->in[k + 1], y->in[k]);
        return norm;
    }
    bool same = i == j && x->row.op == y->row.op && x->n_in == y->n_in && x->n_out == y->n_out &&
                !memcmp(&x->row.attr, &y->row.attr, sizeof(Attrs));
    for (uint32_t k = 0; same && k < x->n_in; k++) same = same_value(e, x->in[k], y->in[k]);
    return same;
}
FAULT(read_another) {
    EditInstr *in = &e->instr[at.instr];
    uint32_t k = random_below(r, in->n_in), n = 0, chosen = 0;
    for (uint32_t i = 0; i < at.at; i++) {
        const EditInstr *other = &e->instr[e->program[at.program].list[i]];
        for (uint32_t j = 0; j < other->n_out; j++)
            if (edit_same_type(e, other->out[j], in->in[k]) &&
                !same_value(e, other->out[j], in->in[k]) && random_below(r, ++n) == 0)
                chosen = other->out[j];
    }
    if (n) in->in[k] = chosen;
    return n > 0;
}

/* Does a formula add or multiply operands k - 1 and k, so that it does not matter which is which?
 */
static bool formula_commutes(const Plan *p, const PlanFormula *f, uint32_t k) {
    for (uint32_t s = 0; s < f->n_step; s++) {
        const FormulaStep *step = &p->steps[f->first_step + s];
        uint32_t reads = 0;
        for (int a = 0; a < scalar_arity(step->function); a++)
            reads += step->arg[a] == k || step->arg[a] == k - 1;
        if (reads && step->function != SCALAR_add && (reads < 2 || step->function != SCALAR_mul))
            return false;
    }
    return true;
}

/* Are operands k - 1 and k the two that the op adds or multiplies? A norm joined with a sum adds
 * its first two. */
/* Are operands k - 1 and k the two that the op adds or multiplies? A norm joined with a sum adds
 * its first two. */
static bool commutes(const Edit *e, const EditInstr *in, uint32_t k) {
    uint16_t op = in->row.op;
    bool norm = op == OP_add_layer_norm || op == OP_add_rms_norm;
    if (op == OP_fused) return formula_commutes(e->base, &e->base->formulas[in->row.attr.index], k);
    return op == OP_add || op == OP_mul || (norm && k == 1);
}

/* Memory and types stay as they are. */
static uint32_t second_operand(const Edit *e, uint32_t i) {
    const EditInstr *in = &e->instr[i];
    if (!reads_values(e, i)) return 0;
    for (uint32_t k = in->n_in - 1; k > 0; k--)
        if (edit_same_type(e, in->in[k], in->in[k - 1]) &&
            !same_value(e, in->in[k], in->in[k - 1]) && !commutes(e, in, k))
            return k;
    return 0;
}
static bool has_second_operand(const Edit *e, uint32_t i) { return second_operand(e, i) > 0; }
FAULT(exchange_operands) {
    uint32_t *in = e->instr[at.instr].in, k = second_operand(e, at.instr), v = in[k];
    in[k] = in[k - 1];
    in[k - 1] = v;
    return true;
}

static const uint32_t free_attrs[] = {ATTR_BIT_causal, ATTR_BIT_window, ATTR_BIT_cap,
                                      ATTR_BIT_approx, ATTR_BIT_alpha,  ATTR_BIT_p,
                                      ATTR_BIT_salt};
static bool has_attr(const Edit *e, uint32_t i) {
    if (!is_backward(e, i) || e->instr[i].row.op == OP_fill) return false;
    for (size_t k = 0; k < ARRAY_LEN(free_attrs); k++)
        if (op_info[e->instr[i].row.op].attrs >> free_attrs[k] & 1) return true;
    return false;
}
FAULT(other_attr) {
    Attrs *a = &e->instr[at.instr].row.attr;
    uint32_t bit;
    do bit = free_attrs[random_below(r, ARRAY_LEN(free_attrs))], r->still = false;
    while (!(op_info[e->instr[at.instr].row.op].attrs >> bit & 1));
    switch (bit) {
    case ATTR_BIT_causal: a->causal = !a->causal; break;
    case ATTR_BIT_window: a->window++; break;
    case ATTR_BIT_cap: a->cap += 0.5; break;
    case ATTR_BIT_approx: a->approx = !a->approx; break;
    case ATTR_BIT_alpha: a->alpha = a->alpha * 2 + 0.25; break;
    case ATTR_BIT_p: a->p = a->p / 2 + 0.01; break;
    default: a->salt++;
    }
    return true;
}

static bool is_update(const Edit *e, uint32_t i) {
    uint16_t op = e->instr[i].row.op;
    return op_info[op].role == ROLE_UPDATE;
}
FAULT(other_update) {
    Attrs *a = &e->instr[at.instr].row.attr;
    if (!(op_info[e->instr[at.instr].row.op].attrs & A_beta1)) {
        uint32_t updates = 0;
        for (uint32_t i = 0; i < e->n_instr; i++) updates += is_update(e, i);
        a->weight_decay += 0.125;
        return updates > 1;
    }
    if (random_below(r, 2))
        a->beta1 = a->beta1 / 2;
    else
        a->beta2 = a->beta2 / 2;
    return true;
}
FAULT(other_on_nan) {
    int64_t *on_nan = &e->instr[at.instr].row.attr.on_nan;
    *on_nan = *on_nan == ON_NAN_STOP ? ON_NAN_CONTINUE : ON_NAN_STOP;
    return true;
}
FAULT(other_gain) {
    e->instr[at.instr].row.attr.gain += 2;
    return true;
}
FAULT(seed_unscaled) {
    if (e->instr[at.instr].n_in < 3) return false;
    e->instr[at.instr].n_in--;
    return true;
}
/* One role clips and decays in another way. */
FAULT(other_role) {
    if (!edit_split_roles(e)) return false;
    bool scale = random_below(r, 2);
    for (uint32_t k = e->n_program / 2; k < e->n_program; k++)
        for (uint32_t i = 0; i < e->program[k].n; i++) {
            PlanInstr *in = &e->instr[e->program[k].list[i]].row;
            if (scale && in->op == OP_step_scale) in->attr.clip += 1;
            if (!scale && is_update(e, e->program[k].list[i])) in->attr.weight_decay += 0.125;
        }
    return true;
}

/* A program reads another parameter of the same shape, or the other field of the batch. */
static bool in_one_of_two(const Edit *e, uint32_t program) {
    uint32_t like = 0;
    for (uint32_t k = 0; k < e->n_program; k++) like += k != program;
    return like > 0 && e->settings.eval_every > 0;
}
FAULT(evaluate_another) {
    EditPlace other;
    if (!pick_alike(e, r, at, &other)) return false;
    EditInstr *in = &e->instr[at.instr];
    int64_t offset = e->instr[other.instr].row.attr.offset;
    if (e->program[at.program].kind != 1 || in->in[0] != e->instr[other.instr].in[0] ||
        in->row.attr.offset == offset || !in_one_of_two(e, at.program))
        return false;
    edit_shift(e, in->out[0],
               e->value[in->out[0]].address + (uint64_t)(offset - in->row.attr.offset));
    in->row.attr.offset = offset;
    return true;
}
FAULT(evaluate_another_copy) {
    EditPlace other;
    if (!pick_alike(e, r, at, &other)) return false;
    EditInstr *in = &e->instr[at.instr];
    int64_t index = e->instr[other.instr].row.attr.index;
    if (e->program[at.program].kind != 1 || in->row.attr.index == index ||
        in->in[0] != e->instr[other.instr].in[0] || !in_one_of_two(e, at.program))
        return false;
    in->row.attr.index = index;
    return true;
}
FAULT(exchange_fields) {
    EditPlace other;
    if (!pick_alike(e, r, at, &other)) return false;
    int64_t *a = &e->instr[at.instr].row.attr.index, *b = &e->instr[other.instr].row.attr.index;
    int64_t index = *a;
    if (*a == *b || !in_one_of_two(e, at.program)) return false;
    *a = *b;
    *b = index;
    return true;
}

/* In a program that runs several times, what it adds to is summed over the ranks again by each
 * call; each sum alone is of one kind, and the last call does what it should. */
static uint32_t only_user(const Edit *e, uint32_t v, uint16_t op) {
    for (uint32_t i = 0; i < e->n_instr; i++)
        for (uint32_t k = 0; k < e->instr[i].n_in; k++)
            if (e->instr[i].in[k] == v && e->instr[i].row.op == op) return i;
    return UINT32_MAX;
}
static bool reduces_gradient(const Edit *e, uint32_t i) {
    const EditInstr *in = &e->instr[i];
    return in->row.op == OP_all_reduce && in->row.attr.tag == TAG_GRADIENT &&
           is_pack(e, edit_def(e, in->in[0]));
}
FAULT(reduce_again) {
    bool found = false;
    int64_t unit = -1;
    for (uint32_t k = 0; k < e->n_program; k++) {
        EditProgram *p = &e->program[k];
        if (p->kind == PROGRAM_LAST) continue;
        for (uint32_t i = 0; i < p->n; i++) {
            EditInstr *in = &e->instr[p->list[i]];
            if (!reduces_gradient(e, p->list[i]) || (unit >= 0 && in->row.attr.unit != unit))
                continue;
            uint32_t sum = only_user(e, in->out[0], OP_accumulate);
            uint32_t set =
                only_user(e, sum == UINT32_MAX ? in->out[0] : e->instr[sum].out[0], OP_set_state);
            if (set == UINT32_MAX) break;
            unit = in->row.attr.unit;
            if (sum == UINT32_MAX) { /* the first: kept as this rank has it */
                edit_replace_value(e, in->out[0], in->in[0]);
                edit_remove(e, k, i);
                break;
            }
            e->instr[sum].in[1] = in->in[0];
            in->in[0] = e->instr[sum].out[0];
            e->instr[set].in[0] = in->out[0];
            e->value[in->out[0]].address = e->value[e->instr[sum].out[0]].address;
            uint32_t at = edit_place(e, k, sum);
            if (at > i) edit_move(e, k, i, at);
            found = true;
            break;
        }
    }
    for (uint32_t i = 0; i < e->n_instr; i++) e->instr[i].n_edge = 0;
    return found;
}

/* As many calls in all, but the last program runs twice. */
static bool has_gathered(const Edit *e) {
    for (uint32_t k = 0; k < e->base->n_states; k++)
        if (e->state[k].role == STATE_GATHERED) return true;
    return false;
}
static bool last_twice(Edit *e) {
    PlanCall *many = NULL, *last = NULL;
    for (uint32_t k = 0; k < e->n_call; k++) {
        if (e->call[k].kind != PLAN_STEP) continue;
        if (e->call[k].times > 1) many = &e->call[k];
        last = &e->call[k];
    }
    if (!many || many == last) return false;
    many->times--;
    last->times++;
    return true;
}
FAULT(update_in_two_calls) { return last_twice(e); }
FAULT(reshard_in_two_calls) { return has_gathered(e) && last_twice(e); }

FAULT(evaluate_twice) {
    bool any = false;
    for (uint32_t k = 0; k < e->n_call; k++) {
        if (e->call[k].kind != PLAN_EVALUATION) continue;
        e->call[k].times = 2;
        any = true;
    }
    return any;
}

/* Only one rank: nothing but the checker's list knows that the part is not the whole. */
FAULT(part_of_norm) {
    if (e->settings.ranks > 1 || !pick_op(e, r, OP_step_scale, &at)) return false;
    uint32_t *norm = &e->instr[at.instr].in[1];
    const EditInstr *sum = &e->instr[edit_def(e, *norm)];
    if (sum->row.op != OP_metric_add) return false;
    *norm = sum->in[random_below(r, 2)];
    return true;
}

/* The mesh gets an axis of one rank, which one reduction names. */
FAULT(over_another_axis) {
    e->axis[e->n_axis] = e->axis[0];
    e->axis[e->n_axis].size = 1;
    e->instr[at.instr].row.attr.axes = (int64_t)1 << e->n_axis++;
    return e->settings.ranks > 1;
}

/* The other axis of a mesh of two that are as long: every size fits. */
FAULT(retain_over_another_axis) {
    int64_t *axes = &e->instr[at.instr].row.attr.axes;
    if (e->n_axis != 2 || e->axis[0].size != e->axis[1].size) return false;
    *axes = 3 - *axes;
    return true;
}

FAULT(gather_replicas) {
    if (e->n_axis != 2 || e->axis[0].size != e->axis[1].size || !pick_op(e, r, OP_unshard, &at))
        return false;
    e->instr[at.instr].row.attr.axes ^= 3;
    return true;
}

/* A reduction of one unit alone; of a bucket it may have the name of each. */
FAULT(reduce_for_another_unit) {
    if (e->base->n_units < 2) return false;
    EditInstr *in = &e->instr[at.instr];
    in->row.attr.unit = (in->row.attr.unit + 1) % (int64_t)e->base->n_units;
    return in->n_in == 1;
}

static bool sums_shard(const Edit *e, uint32_t i) {
    const EditInstr *in = &e->instr[i];
    return in->row.op == OP_all_reduce && in->row.attr.tag == TAG_GRADIENT &&
           e->instr[edit_def(e, in->in[0])].row.op == OP_reduce_scatter;
}
FAULT(leave_out_replicas) {
    EditInstr *in = &e->instr[at.instr];
    uint32_t scatter = edit_def(e, in->in[0]);
    edit_replace_value(e, in->out[0], in->in[0]);
    for (uint32_t i = 0; i < e->n_instr; i++)
        for (uint32_t k = 0; k < e->instr[i].n_edge; k++)
            if (e->instr[i].edge[k] == at.instr) e->instr[i].edge[k] = scatter;
    edit_remove(e, at.program, at.at);
    return true;
}

static bool has_tag(const Edit *e, uint32_t i) {
    return op_info[e->instr[i].row.op].effect == EFFECT_COMM;
}
FAULT(other_tag_in_one_role) {
    if (!edit_split_roles(e) || !pick(e, r, has_tag, &at)) return false;
    int64_t *tag = &e->instr[at.instr].row.attr.tag;
    *tag = (*tag + 1) % TAG_KINDS;
    return true;
}

/* Writes over an operand that ends here, but is smaller than the result. */
static uint32_t smaller_operand(const Edit *e, uint32_t i) {
    const EditInstr *in = &e->instr[i];
    const OpInfo *o = &op_info[in->row.op];
    for (uint32_t k = 0; o->alias == ALIAS_MAY && k < in->n_in; k++)
        if ((o->alias_mask >> k & 1) && edit_bytes(e, in->in[k]) < edit_bytes(e, in->out[0]) &&
            edit_is_loose(e, in->in[k]) && edit_is_loose(e, in->out[0]) &&
            op_info[e->instr[edit_def(e, in->in[k])].row.op].alias == ALIAS_NONE)
            return k;
    return UINT32_MAX;
}
static bool has_smaller_operand(const Edit *e, uint32_t i) {
    return smaller_operand(e, i) != UINT32_MAX;
}
FAULT(over_a_smaller_one) {
    EditInstr *in = &e->instr[at.instr];
    uint64_t end = align_up(e->settings.arena_bytes, PLAN_ALIGN);
    edit_shift(e, in->in[smaller_operand(e, at.instr)], end);
    edit_shift(e, in->out[0], end);
    edit_repair_peaks(e);
    return true;
}

static bool has_workspace(const Edit *e, uint32_t i) {
    const EditInstr *in = &e->instr[i];
    Type x[16], y[16];
    if (in->n_in > ARRAY_LEN(x) || in->n_out > ARRAY_LEN(y) || in->row.stream != STREAM_COMPUTE)
        return false;
    for (uint32_t k = 0; k < in->n_in; k++) x[k] = e->value[in->in[k]].type;
    for (uint32_t k = 0; k < in->n_out; k++) y[k] = e->value[in->out[k]].type;
    return op_workspace(in->row.op, DEVICE_CPU, &in->row.attr, (int)in->n_in, x, (int)in->n_out,
                        y) > 0;
}
/* The first instruction of stream compute from place `at` on, in steps of `step`. */
static uint32_t next_on_compute(const Edit *e, const EditProgram *p, uint32_t at, uint32_t step) {
    while (at < p->n && e->instr[p->list[at]].row.stream != STREAM_COMPUTE) at += step;
    return at;
}
static bool touches_what_it_makes(const Edit *e, uint32_t i, uint32_t other) {
    for (uint32_t k = 0; k < e->instr[other].n_out; k++) {
        uint32_t v = e->instr[other].out[k];
        uint64_t from = e->value[v].address, end = from + edit_room(e, v);
        if (edit_reads(e, i, edit_root(e, v))) return true;
        for (uint32_t j = 0; j < e->instr[i].n_in; j++)
            if (e->value[e->instr[i].in[j]].address < end &&
                e->value[e->instr[i].in[j]].address + edit_room(e, e->instr[i].in[j]) > from)
                return true;
    }
    return false;
}
/* The later of two neighbours that use the workspace goes to another stream, where it waits for
 * what comes before both; what follows waits for it. */
FAULT(share_a_workspace) {
    if (at.at == 0) return false;
    EditProgram *p = &e->program[at.program];
    uint32_t other = next_on_compute(e, p, at.at - 1, UINT32_MAX);
    uint32_t before = other < p->n ? next_on_compute(e, p, other - 1, UINT32_MAX) : p->n;
    uint32_t after = next_on_compute(e, p, at.at + 1, 1);
    if (before >= p->n || after >= p->n || !has_workspace(e, p->list[other]) ||
        touches_what_it_makes(e, at.instr, p->list[other]) ||
        touches_what_it_makes(e, p->list[other], at.instr))
        return false;
    e->instr[at.instr].row.stream = STREAM_REDUCE;
    edit_add_edge(e, at.instr, p->list[before]);
    edit_add_edge(e, p->list[after], at.instr);
    edit_repair_edges(e);
    return true;
}

const Fault certain_faults[] = {
    {"make a gradient a constant", 4, 3, .plant = constant_gradient},
    {"make a slope zero", 4, 6, zero_slope, .at = has_one_result},
    {"drop the residual of a norm's gradient", 4, 3, drop_residual, .at = is_residual},
    {"drop a branch of backward", 4, 4, drop_branch, .at = is_sum},
    {"hide a reader and drop its part", 4, 4, hide_reader, .at = adds_up},
    {"read another value in backward", 4, 10, read_another, .at = reads_values},
    {"exchange two operands in backward", 4, 4, exchange_operands, .at = has_second_operand},
    {"another attribute than forward", 4, 6, other_attr, .at = has_attr},
    {"update with other constants", 4, 2, other_update, .at = is_update},
    {"do something else with what is not finite", 4, 1, other_on_nan, .op = OP_step_scale},
    {"multiply the gradient by another number", 4, 1, other_gain, .op = OP_step_scale},
    {"seed backward without the loss scale", 4, 1, seed_unscaled, .op = OP_cross_entropy_both},
    {"update with other constants in one role", 4, 2, .plant = other_role},
    {"evaluate with another parameter", 4, 20, evaluate_another, .op = OP_view},
    {"evaluate with a copy of another parameter", 4, 20, evaluate_another_copy, .op = OP_copy_out},
    {"exchange two fields of a batch", 4, 2, exchange_fields, .op = OP_field},
    {"reduce again what is reduced", 4, 1, .plant = reduce_again},
    {"update in two calls", 4, 1, .plant = update_in_two_calls},
    {"evaluate twice", 4, 1, .plant = evaluate_twice},
    {"reshard in two calls", 3, 1, .plant = reshard_in_two_calls},
    {"take a part of the norm for it", 4, 1, .plant = part_of_norm},
    {"reduce over another axis", 4, 1, over_another_axis, .op = OP_all_reduce},
    {"gather over the replicas", 3, 2, .plant = gather_replicas},
    {"retain over another axis", 3, 2, retain_over_another_axis, .op = OP_retain},
    {"reduce for another unit", 4, 1, reduce_for_another_unit, .op = OP_reduce_scatter},
    {"no all-reduce of a shard", 4, 4, leave_out_replicas, .at = sums_shard},
    {"another tag in one role", 5, 1, .plant = other_tag_in_one_role},
    {"work in place on a smaller operand", 2, 2, over_a_smaller_one, .at = has_smaller_operand},
    {"use the workspace beside another stream", 2, 8, share_a_workspace, .at = has_workspace},
};
const uint32_t n_certain_faults = ARRAY_LEN(certain_faults);
