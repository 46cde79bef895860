/* The reader's types: do an instruction's operands and results fit its op?
 *
 * Kernels take sizes from types and trust them, so a plan with a product of [4, 8] by [9, 2] must
 * not reach one. Most is in the op's signature; what a signature cannot say is said here for the
 * plan's tables, once an op that has a rule. What neither says is free: any float dtype, since
 * kernels work on every mix of floats. tests/ir/signatures.py reads the signatures a second
 * time.
 */
#include <stdio.h>
#include <stdlib.h>

#include "plan_reader.h"
#include "plan_work.h"
#include "signature.h"

typedef struct Instr {
    const Plan *p;
    const PlanInstr *in;
    uint32_t n_in, n_out;
    const Type *x, *y; /* of operands and results */
} Instr;

typedef const char *Rule(const Instr *s);

#define WANT(c, text)                                                                              \
    do {                                                                                           \
        if (!(c)) return text;                                                                     \
    } while (0)

static bool same_type(const Type *a, const Type *b) {
    return a->dtype == b->dtype && type_same_dims(a, b);
}
static bool is_vector(const Type *t, int64_t n) { return t->rank == 1 && t->dim[0] == n; }

static const char *const misfit = "types of operands and results do not fit together";
#define FITS(c) ((c) ? NULL : misfit)

/* ---- where values come from, layout */

static const char *rule_state(const Instr *s) {
    return FITS(same_type(&s->y[0], &s->p->states[s->in->attr.index].type));
}
static const char *rule_set_state(const Instr *s) {
    return FITS(same_type(&s->x[0], &s->p->states[s->in->attr.index].type));
}
static const char *message_fits(const Instr *s, const Type *t) {
    const PlanState *box = &s->p->states[s->in->attr.index];
    return FITS(box->role == STATE_OUTBOX && type_bytes(t) <= box->type.dim[1]);
}
static const char *rule_send(const Instr *s) { return message_fits(s, &s->x[0]); }
static const char *rule_receive(const Instr *s) { return message_fits(s, &s->y[0]); }
static const char *rule_field(const Instr *s) {
    const PlanField *f = &s->p->fields[s->in->attr.index];
    uint64_t slot = (uint64_t)s->x[0].dim[1];
    WANT(f->staging <= slot && (uint64_t)type_bytes(&f->type) <= slot - f->staging,
         "the field lies outside the staging slot");
    return FITS(same_type(&s->y[0], &f->type));
}
static const char *rule_reshape(const Instr *s) {
    const Type *x = &s->x[0], *y = &s->y[0];
    WANT(type_elements(x) == type_elements(y), misfit);
    return FITS(x->pitch == y->pitch && (!x->pitch || last_dim(x) == last_dim(y)));
}

/* Each of n parts is t without axis `axis`, which has n entries. */
static const char *check_parts(const Type *part, uint32_t n, const Type *t, int64_t axis) {
    WANT(axis < t->rank && t->dim[axis] == n, misfit);
    for (uint32_t k = 0; k < n; k++) {
        WANT(part[k].rank == t->rank - 1, misfit);
        for (int i = 0; i < part[k].rank; i++)
            WANT(part[k].dim[i] == t->dim[i < axis ? i : i + 1], misfit);
        WANT(part[k].dtype == t->dtype || (type_is_float(&part[k]) && type_is_float(t)), misfit);
    }
    return NULL;
}
static const char *rule_split(const Instr *s) {
    return check_parts(s->y, s->n_out, &s->x[0], s->in->attr.axis);
}
static const char *rule_stack(const Instr *s) {
    return check_parts(s->x, s->n_in, &s->y[0], s->in->attr.axis);
}
static const char *rule_transpose(const Instr *s) {
    const Type *x = &s->x[0], *y = &s->y[0];
    int axis[MAX_RANK];
    WANT(x->rank == y->rank && axes_of_order(s->in->attr.order, x->rank, axis), misfit);
    WANT(x->dtype == y->dtype || (type_is_float(x) && type_is_float(y)), misfit);
    for (int i = 0; i < x->rank; i++)
        WANT(s->in->op == OP_transpose ? y->dim[i] == x->dim[axis[i]]
                                       : x->dim[i] == y->dim[axis[i]],
             misfit);
    return NULL;
}
/* part is `count` entries of an axis of whole, from `start` on. */
static const char *check_slice(const Type *part, const Type *whole, const Attrs *a) {
    WANT(part->rank == whole->rank && a->axis < part->rank, misfit);
    WANT(part->dtype == whole->dtype || (type_is_float(part) && type_is_float(whole)), misfit);
    WANT(part->dim[a->axis] == a->count && a->count <= whole->dim[a->axis] &&
             a->start <= whole->dim[a->axis] - a->count,
         misfit);
    for (int i = 0; i < part->rank; i++)
        WANT(i == a->axis || part->dim[i] == whole->dim[i], misfit);
    return NULL;
}
static const char *rule_slice(const Instr *s) {
    return check_slice(&s->y[0], &s->x[0], &s->in->attr);
}
static const char *rule_slice_grad(const Instr *s) {
    return check_slice(&s->x[0], &s->y[0], &s->in->attr);
}
static const char *rule_concat(const Instr *s) {
    Attrs a = {.axis = s->in->attr.axis};
    WANT(a.axis < s->y[0].rank, misfit);
    for (uint32_t k = 0; k < s->n_in; k++) {
        WANT(a.axis < s->x[k].rank, misfit);
        a.count = s->x[k].dim[a.axis];
        const char *fault = check_slice(&s->x[k], &s->y[0], &a);
        if (fault) return fault;
        a.start += a.count;
    }
    return FITS(a.start == s->y[0].dim[a.axis]);
}
static const char *rule_view(const Instr *s) {
    int64_t bytes = type_bytes(&s->x[0]), need = type_bytes(&s->y[0]), at = s->in->attr.offset;
    return FITS(need <= bytes && at <= bytes - need && at % dtype_bytes(s->y[0].dtype) == 0);
}

static const char *rule_copy_out(const Instr *s) {
    const PlanGroup *g = NULL;
    uint64_t k = plan_find_place(s->p, (uint64_t)s->in->attr.index, &g);
    WANT(k < s->p->n_group_params && s->p->group_params[k].chunk,
         "its parameter is not in chunks in any group");
    return FITS(is_vector(&s->x[0], g->padded) && s->x[0].dtype == s->y[0].dtype &&
                type_same_dims(&s->y[0], &s->p->params[s->in->attr.index].type));
}

/* ---- elementwise */

static const char *rule_broadcast(const Instr *s) {
    Type y = s->x[0];
    for (uint32_t k = 1; k < s->n_in; k++) WANT(type_broadcast(&y, &s->x[k]), misfit);
    return FITS(type_same_dims(&y, &s->y[0]));
}
static const char *rule_fused(const Instr *s) {
    const PlanFormula *f = &s->p->formulas[s->in->attr.index];
    const FormulaStep *step = &s->p->steps[f->first_step];
    Type value[FORMULA_OPERANDS + FORMULA_STEPS];
    WANT(f->n_in == s->n_in && f->n_out == s->n_out,
         "its operands or results do not match its formula");
    for (uint32_t i = 0; i < s->n_in; i++) value[i] = s->x[i];
    const char *fault = formula_types(f->n_in, f->n_step, step, value);
    WANT(!fault, fault);
    for (uint32_t k = 0; k < f->n_step; k++) {
        if (!step[k].result) continue;
        const Type *y = &s->y[step[k].result - 1], *want = &value[f->n_in + k];
        WANT(y->dtype == want->dtype && type_same_dims(y, want), misfit);
    }
    return NULL;
}
static bool spreads(const Type *narrow, const Type *wide) {
    Type t = *wide;
    return type_broadcast(&t, narrow) && type_same_dims(&t, wide);
}
static const char *rule_sum(const Instr *s) { return FITS(spreads(&s->y[0], &s->x[0])); }
static bool is_along(const Type *wide, const Type *narrow) {
    Along a;
    return type_along(wide, narrow, &a);
}
static const char *rule_along(const Instr *s) { return FITS(is_along(&s->x[0], &s->y[0])); }
static const char *rule_along_grad(const Instr *s) { return FITS(is_along(&s->y[0], &s->x[0])); }
static const char *rule_extreme_grad(const Instr *s) { return FITS(is_along(&s->x[1], &s->x[2])); }
static const char *rule_expand(const Instr *s) { return FITS(spreads(&s->x[0], &s->y[0])); }

/* ---- routing */

static const char *rule_topk(const Instr *s) {
    int64_t count = s->in->attr.count;
    return FITS(last_dim(&s->y[0]) == count && count <= last_dim(&s->x[0]));
}
static const char *rule_route(const Instr *s) {
    int64_t count = s->in->attr.count, choices = type_elements(&s->x[0]);
    WANT(count >= 1 && count <= MOST_EXPERTS, "there are too many experts");
    return FITS(choices <= INT32_MAX && s->y[0].dim[0] == choices && s->y[2].dim[0] == count + 1);
}
/* The axis R of the signature holds a row for each choice. */
static const char *rule_routed(const Instr *s) {
    const Signature *signature = op_signature((OpKind)s->in->op);
    int place = signature_find(signature, "place"), p = signature_find(signature, "p");
    int64_t choices = type_elements(&s->x[place >= 0 ? place : p]);
    int order = signature_find(signature, "order"), y = signature_find(signature, "y");
    int rows = order >= 0 ? order : y >= 0 ? y : signature_find(signature, "dy");
    return FITS(s->x[rows].dim[0] == choices);
}
static const char *rule_experts(const Instr *s) {
    return FITS(s->x[1].dim[0] == (int64_t)s->n_in - 1 && s->n_in - 2 <= MOST_EXPERTS);
}
static const char *rule_experts_weights(const Instr *s) {
    return FITS(s->x[2].dim[0] == (int64_t)s->n_out + 1 && s->n_out <= MOST_EXPERTS);
}
static const char *rule_balance(const Instr *s) {
    bool counts = s->in->op == OP_balance;
    const Type *stats = counts ? &s->y[0] : &s->x[1];
    if (counts && s->x[2].dtype != DT_I32 && !type_is_float(&s->x[2])) return FITS(false);
    return FITS(stats->dim[0] == balance_words(last_dim(&s->x[0])));
}
static const char *rule_average(const Instr *s) {
    bool counts = s->in->op == OP_average, adds = s->in->op == OP_average_loss;
    const Type *stats = counts ? &s->y[0] : adds ? &s->x[1] : &s->x[0];
    if (counts && s->x[1].dtype != DT_I32 && !type_is_float(&s->x[1])) return FITS(false);
    if (counts) return FITS(stats->dim[0] == average_words(s->n_in > 2, s->in->attr.count));
    return FITS(are_average_words(stats->dim[0]));
}
static const char *rule_counted(const Instr *s) {
    return FITS(s->x[0].dtype == DT_I32 || type_is_float(&s->x[0]));
}
static const char *rule_loss_term(const Instr *s) {
    return FITS(s->n_in < 2 || are_loss_statistics(s->x[1].dim[0]));
}

/* ---- attention, update */

static const char *rule_rope(const Instr *s) {
    const Attrs *a = &s->in->attr;
    int64_t dims = a->dims ? a->dims : last_dim(&s->x[0]);
    WANT(a->base >= 1 && a->factor > 0 && (!a->original || a->low < a->high),
         "the base or scaling of its angles is out of range");
    WANT(dims <= last_dim(&s->x[0]) && dims % 2 == 0 && dims <= MOST_TURNED,
         "its pairs do not fit into a head");
    return NULL;
}
static const char *buckets_fit(const Instr *s, const Type *w) {
    const Attrs *a = &s->in->attr;
    int64_t n = w->dim[0] / (a->bidirectional ? 2 : 1);
    WANT(n >= 2 && w->dim[0] <= MOST_BUCKETS && (!a->bidirectional || w->dim[0] % 2 == 0) &&
             a->max_distance > n / 2 && a->max_distance <= INT32_MAX,
         "the rows do not match the buckets of distance");
    return NULL;
}
static const char *rule_relative_bias(const Instr *s) { return buckets_fit(s, &s->x[0]); }
static const char *rule_relative_bias_grad(const Instr *s) { return buckets_fit(s, &s->y[0]); }
static const char *mask_fits(const Instr *s, const Type *q, const Type *mask) {
    bool documents = s->in->attr.documents != 0, pairs = mask->rank == 3;
    WANT((pairs ? !documents : mask->rank == 2) &&
             (mask->dim[1] >= q->dim[1] || !(pairs || documents)),
         "the mask does not match the positions");
    return NULL;
}
static const char *rule_attention(const Instr *s) {
    const Signature *signature = op_signature((OpKind)s->in->op);
    int q = signature_find(signature, "q");
    int64_t width = last_dim(&s->x[0]);
    WANT(width >= 1 && width <= MOST_HEAD, "the width does not match that of a head");
    if (q < 0) return NULL;
    WANT(s->x[q].dim[2] % s->x[q + 1].dim[2] == 0, "heads cannot share keys evenly");
    uint32_t mask = (uint32_t)signature_find(signature, "mask");
    if (mask < s->n_in) return mask_fits(s, &s->x[q], &s->x[mask]);
    WANT(!s->in->attr.documents, "documents have no ids");
    return NULL;
}
static const char *rule_update(const Instr *s) {
    const PlanGroup *g = &s->p->groups[s->in->attr.group];
    if (op_info[s->in->op].attrs & A_copy) {
        int64_t copy = s->in->attr.copy;
        uint32_t states = signature_updated(op_signature((OpKind)s->in->op));
        WANT(s->n_out == states + (copy != DT_NONE) &&
                 (copy == DT_NONE || s->y[states].dtype == copy),
             "it does not have the copy that its attribute says");
    }
    WANT(s->x[0].dtype == g->master_dtype && is_vector(&s->x[0], g->shard),
         "the parameter is not the group's shard");
    return NULL;
}

static const char *rule_metric_add(const Instr *s) {
    const Type *x = s->x;
    WANT(type_is_norm(x, 0) || type_is_norm(x, NORM_INF), "its operands are not accumulators");
    return FITS(x[0].dtype == x[1].dtype && type_same_dims(&x[0], &x[1]));
}
static const char *const other_norm = "the shape of the stored norms does not match p";
static const char *rule_grad_norm(const Instr *s) {
    WANT(type_is_norm(&s->y[0], s->in->attr.clip_norm), other_norm);
    return NULL;
}
static const char *rule_step_scale(const Instr *s) {
    WANT(type_is_norm(&s->x[1], s->in->attr.clip_norm), other_norm);
    return NULL;
}

static Type type_in_group(const Instr *s, uint32_t k) {
    const PlanGroup *g = &s->p->groups[s->in->attr.group];
    return plan_whole_type(s->p, &s->p->params[s->p->group_params[g->first_param + k].param]);
}

/* What u has room for. */
static int64_t muon_numbers(const Instr *s) {
    int64_t n = 0;
    for (uint32_t k = 0; k < s->p->groups[s->in->attr.group].n_param; k++) {
        Type t = type_in_group(s, k);
        n += muon_room(&t);
    }
    return n;
}

static const char *rule_muon_momentum(const Instr *s) {
    const PlanGroup *g = &s->p->groups[s->in->attr.group];
    return FITS(is_vector(&s->x[1], g->shard) && is_vector(&s->y[1], muon_numbers(s)));
}

static const char *rule_muon(const Instr *s) {
    const PlanGroup *g = &s->p->groups[s->in->attr.group];
    int64_t most = 0;
    for (uint32_t k = 0; k < g->n_param; k++) {
        Type t = type_in_group(s, k);
        WANT(t.rank == 2, "a parameter of the group is not a matrix");
        most = MAX(most, muon_work(&t));
    }
    WANT(is_vector(&s->x[1], muon_numbers(s)) && is_vector(&s->y[1], most),
         "its operands are not of the group's size");
    return rule_update(s);
}

static const char *rule_factored(const Instr *s) {
    static const char *const names[] = {"means", "sums", "rms"};
    const Signature *sig = op_signature((OpKind)s->in->op);
    int64_t length[3] = {0};
    const PlanGroup *g = &s->p->groups[s->in->attr.group];
    for (uint32_t k = 0; k < g->n_param; k++) {
        Type t = type_in_group(s, k);
        length[0] += factor_numbers(&t);
        length[1] += factor_words(&t);
        length[2] += EXACT_WORDS;
    }
    for (int k = 0; k < 3; k++) {
        int in = signature_find(sig, names[k]), out = signature_find_result(sig, names[k]);
        WANT((in < 0 || is_vector(&s->x[in], length[k])) &&
                 (out < 0 || is_vector(&s->y[out], length[k])),
             "its sums or moments are not those of the group");
    }
    int g_at = signature_find(sig, "g");
    return FITS(g_at < 0 || is_vector(&s->x[g_at], g->shard));
}
static const char *rule_adafactor(const Instr *s) {
    const char *problem = rule_factored(s);
    return problem ? problem : rule_update(s);
}

/* ---- shards */

/* How many of a unit's groups are split and gathered; the others are replicated on every rank. */
static uint32_t split_groups(const Plan *p, const PlanUnit *u) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < u->n_group; k++) n += p->groups[u->first_group + k].split != 0;
    return n;
}
static const char *rule_unshard(const Instr *s) {
    const PlanUnit *u = &s->p->units[s->in->attr.unit];
    Mesh mesh = plan_mesh(s->p);
    int64_t ranks = mesh_extent(&mesh, (AxisSet)s->in->attr.axes);
    WANT(s->n_out == split_groups(s->p, u) && s->n_in >= s->n_out,
         "the number of results or operands differs from the unit's number of groups");
    for (uint32_t k = 0; k < s->n_in; k++) {
        const PlanGroup *g = &s->p->groups[u->first_group + k];
        WANT((s->x[k].dtype == DT_TOKEN) == (k >= s->n_out), misfit);
        if (k >= s->n_out) continue;
        WANT(g->padded % ranks == 0 && is_vector(&s->x[k], g->padded / ranks) &&
                 is_vector(&s->y[k], g->padded) && s->x[k].dtype == s->y[k].dtype &&
                 dtype_is_sent(s->x[k].dtype),
             "an operand is not a shard of the group, or a result is not its flat parameter");
    }
    return NULL;
}
static const char *const no_quantities =
    "operands or results are not a shard of the group or the largest weights of its blocks";
static bool is_quantized(const PlanGroup *g, const Type *t) {
    return dtype_is_quantized(t->dtype) && t->dtype == g->wire_dtype;
}
static const char *rule_amax(const Instr *s) {
    const PlanGroup *g = &s->p->groups[s->in->attr.group];
    WANT(is_vector(&s->x[0], g->shard) && is_vector(&s->y[0], plan_blocks(s->p, g, g->n_param)),
         no_quantities);
    return NULL;
}
static const char *rule_quantize(const Instr *s) {
    const PlanGroup *g = &s->p->groups[s->in->attr.group];
    WANT(is_vector(&s->x[0], g->shard) && is_vector(&s->y[0], g->shard) &&
             is_vector(&s->x[1], plan_blocks(s->p, g, g->n_param)) && is_quantized(g, &s->y[0]),
         no_quantities);
    return NULL;
}
static const char *rule_dequantize(const Instr *s) {
    const PlanGroup *g = NULL;
    uint64_t row = (uint64_t)s->in->attr.index;
    WANT(plan_find_place(s->p, row, &g) < s->p->n_group_params && is_vector(&s->x[0], g->padded) &&
             is_vector(&s->x[1], plan_blocks(s->p, g, g->n_param)) && is_quantized(g, &s->x[0]) &&
             type_same_dims(&s->y[0], &s->p->params[row].type),
         "the operands are not those of the parameter's group, or the result is not of its shape");
    return NULL;
}
static const char *rule_retain(const Instr *s) {
    const PlanGroup *g = &s->p->groups[s->in->attr.group];
    Mesh mesh = plan_mesh(s->p);
    int64_t ranks = mesh_extent(&mesh, (AxisSet)s->in->attr.axes);
    int64_t n = s->x[0].dim[0];
    WANT(s->x[0].rank == 1 && n % ranks == 0 && g->padded % n == 0 &&
             is_vector(&s->y[0], n / ranks) && dtype_is_sent(s->x[0].dtype),
         "the operand has no shards of the group, or the result is not a part of it");
    return NULL;
}

/* Is each of the group's parameters in one piece? */
static bool is_whole(const Plan *p, const PlanGroup *g) {
    bool whole = true;
    for (uint32_t k = 0; k < g->n_param; k++) {
        LayoutPlace place = plan_place(p, (uint64_t)g->first_param + k);
        whole &= layout_is_whole(&place);
    }
    return whole;
}
static const char *rule_pack(const Instr *s) {
    const PlanGroup *g = &s->p->groups[s->in->attr.group];
    WANT(s->n_in == g->n_param,
         "the number of operands differs from the group's number of parameters");
    WANT(s->in->op == OP_pack ? is_whole(s->p, g) : plan_has_chunks(s->p, g),
         "the layout of the group does not match this op");
    WANT(is_vector(&s->y[0], g->padded), "the result is not the group's flat gradient");
    for (uint32_t k = 0; k < s->n_in; k++) {
        const PlanParam *param = &s->p->params[s->p->group_params[g->first_param + k].param];
        WANT(s->x[k].dtype == s->y[0].dtype && type_same_dims(&s->x[k], &param->type),
             "an operand is not the gradient of its parameter");
    }
    return NULL;
}
/* Is `part` a rank's part of each of `count` runs of dimension `axis` of `whole`? */
static bool is_part(const Instr *s, const Type *part, const Type *whole) {
    const Attrs *a = &s->in->attr;
    Mesh mesh = plan_mesh(s->p);
    int64_t ranks = mesh_extent(&mesh, (AxisSet)a->axes);
    Type all = *part;
    if (a->axis >= whole->rank || a->axis >= part->rank || a->count < 1 || part->pitch ||
        part->dim[a->axis] % a->count ||
        part->dim[a->axis] != placement_share(whole->dim[a->axis], ranks))
        return false;
    bool pads = part->dim[a->axis] * ranks != whole->dim[a->axis];
    all.dim[a->axis] = whole->dim[a->axis];
    return type_same_dims(&all, whole) && !(pads && (a->count > 1 || s->in->op != OP_part));
}
/* What several operands have before that dimension is alike: the transport sends run by run. */
static const char *rule_part(const Instr *s) {
    bool gathers = op_gathers((OpKind)s->in->op);
    WANT(s->n_in == s->n_out && s->n_in > 0, misfit);
    for (uint32_t k = 0; k < s->n_in; k++) {
        const Type *x = &s->x[k], *y = &s->y[k];
        WANT(x->dtype == y->dtype && (gathers ? is_part(s, x, y) : is_part(s, y, x)), misfit);
        for (int i = 0; i < s->in->attr.axis; i++) WANT(x->dim[i] == s->x[0].dim[i], misfit);
    }
    return NULL;
}
static const char *rule_all_gather_part(const Instr *s) { return rule_part(s); }
static const char *rule_reduce_scatter_part(const Instr *s) {
    for (uint32_t k = 0; k < s->n_in; k++) WANT(type_is_float(&s->x[k]), misfit);
    return rule_part(s);
}
static const char *rule_reduce_scatter(const Instr *s) {
    Mesh mesh = plan_mesh(s->p);
    int64_t ranks = mesh_extent(&mesh, (AxisSet)s->in->attr.axes);
    WANT(s->n_in == s->n_out, misfit);
    for (uint32_t k = 0; k < s->n_in; k++)
        WANT(type_is_float(&s->x[k]) && s->x[k].rank == 1 && s->x[k].dim[0] % ranks == 0 &&
                 is_vector(&s->y[k], s->x[k].dim[0] / ranks) && s->x[k].dtype == s->y[k].dtype,
             "a result is not this rank's share of its operand");
    return NULL;
}
static const char *rule_accumulate(const Instr *s) {
    WANT(s->n_in == 2 * s->n_out, misfit);
    for (uint32_t k = 0; k < s->n_out; k++)
        WANT(type_same_dims(&s->x[k], &s->x[s->n_out + k]), misfit);
    return NULL;
}
static const char *rule_all_reduce(const Instr *s) {
    WANT(s->n_in == s->n_out, misfit);
    for (uint32_t k = 0; k < s->n_in; k++)
        WANT(type_is_float(&s->x[k]) || s->x[k].dtype == DT_I64 || s->x[k].dtype == DT_I32, misfit);
    return NULL;
}

/* Ops of earlier levels, which no plan has. */
#define rule_param NULL
#define rule_row NULL
#define rule_gradient NULL

static const struct {
    OpKind op;
    Rule *rule;
} rules[OP_COUNT] = {
#define OP(id, ...) [OP_##id] = {.op = OP_##id, __VA_ARGS__},
#define RULE(name) .rule = rule_##name
#include "ops.def"
};

/* What is wrong, apart from the signature; x and y are there. */
static const char *check_instr(const Instr *s) {
    OpKind op = (OpKind)s->in->op;
    const char *fault = rules[op].rule ? rules[op].rule(s) : NULL;
    if (!fault && op_flops(op, &s->in->attr, (int)s->n_in, s->x, (int)s->n_out, s->y) > MOST_FLOPS)
        return "exceeds the limit of 2^54 FLOPs";
    return fault;
}

bool plan_types_might_fit(const Plan *p, const PlanInstr *in, const Type *types) {
    Instr s = {p, in, in->n_in, in->n_out, types, types + in->n_in};
    BoundSignature b;
    return signature_might_fit(&b, (OpKind)in->op, s.n_in, s.x, s.n_out, s.y) && !check_instr(&s);
}

bool plan_types_fit(const Plan *p, const PlanInstr *in, char *fault, size_t size) {
    Type few[16], *types = few;
    size_t n = (size_t)in->n_in + in->n_out;
    if (n > ARRAY_LEN(few)) types = malloc(n * sizeof *types);
    if (!types) fail_environment("no memory for the types of %zu operands and results", n);
    plan_types(p, in, types);
    BoundSignature b;
    Instr s = {p, in, in->n_in, in->n_out, types, types + in->n_in};
    bool fits = signature_fits(&b, (OpKind)in->op, s.n_in, s.x, s.n_out, s.y);
    const char *text = fits ? check_instr(&s) : b.fault;
    if (text) snprintf(fault, size, "%s", text);
    if (types != few) free(types);
    return !text;
}
