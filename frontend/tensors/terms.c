/* Means and sums over the batch, of which train.loss consists, and which aux(..) adds to it.
 *
 * No rank has the whole batch, so such a number is not a tensor but a sum of parts, each a factor
 * times a mean over everything or the balance of a router, whose statistics add up over ranks.
 * Operations that keep this form are allowed: factors, sums and differences, and a sum divided by a
 * sum of weights that nothing trains. A product of two means, or a mean that meets samples again,
 * would need communication in the middle of the model.
 */
#include <math.h>
#include <string.h>

#include "operations.h"

static ExprValue term_of_one(Scope *s, Span at, TermPart part) {
    ExprValue v = {.kind = VALUE_TERM, .span = at, .n_parts = 1};
    v.parts = arena_new_of(s->model->arena, TermPart);
    v.parts[0] = part;
    return v;
}

/* ---- what makes them */

ExprValue run_load_balance(const BuiltinCall *c) {
    ExprValue *scores = call_operand(c, "scores"), *choices = call_operand(c, "choices");
    if (choices->type.dtype != DT_I32 || scores->type.rank != choices->type.rank)
        return method_fail(c->s, E_arguments, c->at, "choices are the indices that `topk` returns",
                           "`load_balance` takes scores [.., n] and choices [.., k]");
    return term_of_one(c->s, c->at,
                       (TermPart){.op = OP_balance,
                                  .x = tensor_value(c->s, scores, c->at),
                                  .choices = choices->tensor,
                                  .weights = NO_VALUE,
                                  .factor = 1.0,
                                  .name = c->info->name});
}

static TermPart average_of(ValueId x, double factor, const char *name) {
    return (TermPart){.op = OP_average,
                      .x = x,
                      .choices = NO_VALUE,
                      .weights = NO_VALUE,
                      .factor = factor,
                      .name = name};
}

/* The number of elements in the whole batch, where this rank and micro-batch has n. */
static double in_whole_batch(const Elaboration *e, int64_t n) {
    RunSettings *s = e->settings;
    s->has_loss_of_batch = true;
    return (double)n * ((double)MAX(s->batch, s->local_batch) / (double)s->local_batch);
}

ExprValue term_of_samples(Scope *s, const char *name, Span at, const ExprValue *x) {
    Elaboration *e = s->elaboration;
    ExprValue from = *x;
    ValueId in = tensor_value(s, &from, at);
    set_op_place(s, at);
    if (!type_is_float(&x->type)) in = emit_value(&e->build, OP_to_float, NULL, 1, &in, NULL);
    bool sum = !strcmp(name, "sum");
    double factor = sum ? in_whole_batch(e, type_elements(&x->type)) : 1.0;
    return term_of_one(s, at, average_of(in, factor, name));
}

bool term_of_loss(Scope *s, ExprValue *v) {
    if (v->kind != VALUE_LOSS) return true;
    const Graph *g = s->elaboration->graph;
    OpKind op = value_maker(g, v->tensor)->kind;
    if (op_info[op].term != TERM_LOSS) return false;
    TermPart part = average_of(v->tensor, 1.0, op_info[op].name);
    part.op = op;
    *v = term_of_one(s, v->span, part);
    return true;
}

bool term_of_number(Scope *s, ExprValue *v) {
    if (!value_is_tensor(v)) return v->kind == VALUE_TERM;
    ValueId x = tensor_value(s, v, v->span);
    if (value_has_samples(s->elaboration, x) || type_elements(&v->type) != 1 ||
        !type_is_float(&v->type))
        return false;
    *v = term_of_one(s, v->span, average_of(x, 1.0, "number"));
    return true;
}

/* ---- arithmetic */

static ExprValue scaled_term(Scope *s, Span at, const ExprValue *v, double factor) {
    ExprValue out = *v;
    out.span = at;
    out.parts = arena_array(s->model->arena, TermPart, v->n_parts + 1);
    for (uint32_t i = 0; i < v->n_parts; i++) {
        out.parts[i] = v->parts[i];
        out.parts[i].factor *= factor;
    }
    return out;
}

ExprValue term_negate(Scope *s, const Node *e, const ExprValue *v) {
    return scaled_term(s, e->span, v, -1);
}

ExprValue term_named(Scope *s, const ExprValue *v, const char *name) {
    ExprValue out = scaled_term(s, v->span, v, 1);
    for (uint32_t i = 0; i < out.n_parts; i++) out.parts[i].name = name;
    return out;
}

ExprValue term_sum(Scope *s, Span at, const ExprValue *l, const ExprValue *r) {
    ExprValue out = *l;
    out.span = at;
    out.n_parts = l->n_parts + r->n_parts;
    out.parts = arena_array(s->model->arena, TermPart, out.n_parts + 1);
    memcpy(out.parts, l->parts, l->n_parts * sizeof *l->parts);
    memcpy(out.parts + l->n_parts, r->parts, r->n_parts * sizeof *r->parts);
    return out;
}

/* ---- weighted means */

bool is_trained(const Elaboration *e, ValueId value) {
    const Graph *g = e->graph;
    const Program *p = &g->programs.at[e->build.program];
    bool *needed = arena_array(e->model->arena, bool, g->values.n);
    needed[value] = true;
    for (uint32_t i = p->ops.n; i-- > 0;) {
        const Op *op = &g->ops.at[p->ops.at[i]];
        bool any = false;
        for (uint32_t j = 0; j < op->n_out; j++) any |= needed[op->out + j];
        if (!any || op->kind == OP_stop_gradient) continue;
        if (op->kind == OP_param && !g->params.at[op->attr->index].frozen) return true;
        for (uint32_t j = 0; j < op->n_in; j++) needed[op->in[j]] = true;
    }
    return false;
}

static bool is_plain_average(const TermPart *p) {
    return p->op == OP_average && p->weights == NO_VALUE;
}

static ExprValue quotient(Scope *s, const Node *at, const ExprValue *l, const ExprValue *r) {
    const char *const help = "a weighted mean is sum(weight * x) / sum(weight)";
    Elaboration *e = s->elaboration;
    const Graph *g = e->graph;
    bool plain = r->n_parts == 1 && is_plain_average(r->parts) && r->parts->factor != 0;
    for (uint32_t i = 0; i < l->n_parts; i++) plain &= is_plain_average(&l->parts[i]);
    if (!plain)
        return method_fail(s, E_arguments, at->span, help,
                           "only means and sums over the batch can be divided by one of these");
    if (is_trained(e, r->parts->x))
        return method_fail(
            s, E_arguments, at->kids[1]->span,
            "weights are made of data, of frozen parameters, or by stop_gradient(..)",
            "training changes what this sum or mean is divided by");
    ExprValue out = scaled_term(s, at->span, l, 1);
    double n = (double)type_elements(&g->values.at[r->parts->x].type);
    for (uint32_t i = 0; i < out.n_parts; i++) {
        TermPart *p = &out.parts[i];
        double own = (double)type_elements(&g->values.at[p->x].type);
        p->factor = p->factor * n / (r->parts->factor * own);
        p->weights = r->parts->x;
    }
    return out;
}

ExprValue term_binary(Scope *s, const Node *e, const ExprValue *left, const ExprValue *right) {
    const char *op = e->text;
    ExprValue one = *left, other_one = *right, *l = &one, *r = &other_one;
    term_of_number(s, l);
    term_of_number(s, r);
    bool both = l->kind == VALUE_TERM && r->kind == VALUE_TERM;
    const ExprValue *term = l->kind == VALUE_TERM ? l : r, *other = term == l ? r : l;
    bool number = value_is_number(other), plus = !strcmp(op, "+"), minus = !strcmp(op, "-");
    if (number && refuse_rank_size(s, e->kids[term == l ? 1 : 0], other))
        return value_error(e->span);
    if (!strcmp(op, "*") && number) return scaled_term(s, e->span, term, value_number(other));
    if (!strcmp(op, "/") && number && term == l) {
        if (value_number(other) == 0) return arithmetic_by_zero(s->model->ds, e);
        return scaled_term(s, e->span, term, 1 / value_number(other));
    }
    if (both && (plus || minus)) {
        ExprValue added = minus ? scaled_term(s, e->span, r, -1) : *r;
        return term_sum(s, e->span, l, &added);
    }
    if (both && !strcmp(op, "/")) return quotient(s, e, l, r);
    const char *problem = arena_printf(s->model->arena,
                                       "`%s` cannot combine a mean or sum over the batch, of which "
                                       "each rank has only a part, with %s",
                                       op, both ? "another mean or sum" : value_kind_name(other));
    return method_fail(s, E_arguments, e->span,
                       "compute first and take the mean last: mean(x * x), not mean(x) * x; means "
                       "over the batch can be added, and multiplied by numbers",
                       "%s", problem);
}

/* ---- aux */

static const char *const mean_example = "take its mean over all axes: aux(mean(x), weight = 0.01)";

ExprValue run_aux(const BuiltinCall *c) {
    Elaboration *e = c->s->elaboration;
    ExprValue term = *call_operand(c, "term");
    if (!term_of_loss(c->s, &term))
        return method_fail(c->s, E_arguments, term.span, mean_example, "`aux` takes no metric");
    if (!term_of_number(c->s, &term))
        return method_fail(c->s, E_arguments, term.span, mean_example,
                           "`aux` takes one number for the whole batch, not %s",
                           value_shape(c->s->model->arena, &term));
    uint32_t frame;
    for (uint32_t i = 0; i < term.n_parts; i++) {
        AuxTerm t = {.part = term.parts[i], .at = user_place(e, c->at, &frame)};
        t.part.factor *= value_number(call_operand(c, "weight"));
        if (!isfinite(t.part.factor))
            return method_fail(
                c->s, E_arguments, c->at,
                "it is the product of the weight and the numbers that multiply the mean or sum",
                "the factor of this term is infinite");
        vec_push(c->s->model->arena, &e->aux, t);
    }
    return value_none(c->at);
}
