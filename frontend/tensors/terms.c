/* Means and sums over the batch, and aux(..), which adds them to the loss.
 *
 * No rank has the whole batch, so such a number is not a tensor but a sum of parts, each a factor
 * times a mean over everything or the balance of a router, whose statistics add up over ranks.
 * Operations that keep this form are allowed: factors, sums and differences. A product of two
 * means, or a mean that meets samples again, would need communication in the middle of the model.
 *
 * The terms of aux are emitted after the loss, because their gradients need the number of targets;
 * all statistics are then one collective.
 */
#include <math.h>
#include <string.h>

#include "operations.h"

static ExprValue refuse_term(Scope *s, Span at, const char *help, const char *problem) {
    Diag d = method_error(s, E_arguments, at, "%s", problem);
    diag_help(&d, "%s", help);
    method_emit(s, &d);
    return value_error(at);
}

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
        return refuse_term(c->s, c->at, "choices are the indices that `topk` returns",
                           "`load_balance` takes scores [.., n] and choices [.., k]");
    TermPart part = {OP_balance, tensor_value(c->s, scores, c->at), choices->tensor, 1.0};
    return term_of_one(c->s, c->at, part);
}

/* The number of elements in the whole batch, where this rank and micro-batch has n. */
static double in_whole_batch(const Elaboration *e, int64_t n) {
    const RunSettings *s = e->settings;
    return (double)n * ((double)MAX(s->batch, s->local_batch) / (double)s->local_batch);
}

ExprValue term_of_samples(Scope *s, const char *name, Span at, const ExprValue *x) {
    Elaboration *e = s->elaboration;
    ExprValue from = *x;
    ValueId in = tensor_value(s, &from, at);
    set_op_place(s, at);
    if (!type_is_float(&x->type)) in = emit_value(&e->build, OP_to_float, NULL, 1, &in, NULL);
    bool sum = !strcmp(name, "sum");
    TermPart part = {OP_average, in, NO_VALUE,
                     sum ? in_whole_batch(e, type_elements(&x->type)) : 1.0};
    return term_of_one(s, at, part);
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

static ExprValue join_terms(Scope *s, Span at, const ExprValue *l, const ExprValue *r) {
    ExprValue out = *l;
    out.span = at;
    out.n_parts = l->n_parts + r->n_parts;
    out.parts = arena_array(s->model->arena, TermPart, out.n_parts + 1);
    memcpy(out.parts, l->parts, l->n_parts * sizeof *l->parts);
    memcpy(out.parts + l->n_parts, r->parts, r->n_parts * sizeof *r->parts);
    return out;
}

ExprValue term_binary(Scope *s, const Node *e, const ExprValue *l, const ExprValue *r) {
    const char *op = e->text;
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
        ExprValue right = minus ? scaled_term(s, e->span, r, -1) : *r;
        return join_terms(s, e->span, l, &right);
    }
    const char *problem = arena_printf(s->model->arena,
                                       "`%s` cannot combine a mean or sum over the batch, of which "
                                       "each rank has only a part, with %s",
                                       op, both ? "another mean or sum" : value_kind_name(other));
    return refuse_term(s, e->span,
                       "compute first and take the mean last: mean(x * x), not mean(x) * x; means "
                       "over the batch can be added, and multiplied by numbers",
                       problem);
}

/* ---- aux */

static const char *const mean_example = "take its mean over all axes: aux(mean(x), weight = 0.01)";

/* A tensor of one element that is equal on all ranks, so its mean over ranks is itself. */
static ExprValue term_of_tensor(const BuiltinCall *c, const ExprValue *v) {
    Elaboration *e = c->s->elaboration;
    ExprValue from = *v;
    ValueId x = tensor_value(c->s, &from, c->at);
    if (!value_has_samples(e, x) && type_elements(&v->type) == 1 && type_is_float(&v->type))
        return term_of_one(c->s, v->span, (TermPart){OP_average, x, NO_VALUE, 1.0});
    return refuse_term(c->s, v->span, mean_example,
                       arena_printf(c->s->model->arena,
                                    "`aux` takes one number for the whole batch, not %s",
                                    value_shape(c->s->model->arena, v)));
}

ExprValue run_aux(const BuiltinCall *c) {
    Elaboration *e = c->s->elaboration;
    ExprValue term = *call_operand(c, "term");
    if (value_is_tensor(&term)) term = term_of_tensor(c, &term);
    if (term.kind == VALUE_ERROR) return call_failed(c);
    uint32_t frame;
    for (uint32_t i = 0; i < term.n_parts; i++) {
        AuxTerm t = {term.parts[i], user_place(e, c->at, &frame)};
        t.part.factor *= value_number(call_operand(c, "weight"));
        if (!isfinite(t.part.factor))
            return refuse_term(
                c->s, c->at,
                "it is the product of the weight and the numbers that multiply the mean or sum",
                "the factor of this term is infinite");
        vec_push(c->s->model->arena, &e->aux, t);
    }
    return value_none(c->at);
}

static ValueId emit_statistics(Elaboration *e, const AuxTerm *t, ValueId counted, int64_t ignore) {
    Attrs a = {.alpha = t->part.factor, .ignore = ignore};
    bool balance = t->part.op == OP_balance;
    ValueId in[3] = {t->part.x, balance ? t->part.choices : counted, counted};
    e->build.span = t->at;
    return emit_value(&e->build, t->part.op, &a, balance ? 3 : 2, in, NULL);
}

/* Moves the statistics of means up to their operands, so that these need not be kept for them. */
static void move_averages_up(Elaboration *e, uint32_t first) {
    Graph *g = e->graph;
    Program *p = &g->programs.at[e->build.program];
    uint32_t *place = arena_array(g->scratch, uint32_t, g->ops.n), n = 0;
    uint32_t *next = arena_array(g->scratch, uint32_t, p->ops.n); /* of the same place, plus 1 */
    uint32_t *head = arena_array(g->scratch, uint32_t, p->ops.n);
    OpId *order = arena_array(g->scratch, OpId, p->ops.n);
    for (uint32_t i = 0; i < p->ops.n; i++) place[p->ops.at[i]] = i;
    for (uint32_t i = p->ops.n; i-- > first;) {
        const Op *op = &g->ops.at[p->ops.at[i]];
        if (op->kind != OP_average) continue;
        uint32_t after = 0;
        for (uint32_t k = 0; k < op->n_in; k++)
            after = MAX(after, place[g->values.at[op->in[k]].def]);
        next[i] = head[after];
        head[after] = i + 1;
    }
    for (uint32_t i = 0; i < p->ops.n; i++) {
        if (i < first || g->ops.at[p->ops.at[i]].kind != OP_average) order[n++] = p->ops.at[i];
        for (uint32_t k = head[i]; k; k = next[k - 1]) order[n++] = p->ops.at[k - 1];
    }
    CHECK(n == p->ops.n);
    memcpy(p->ops.at, order, n * sizeof *order);
}

/* Emits all statistics first, so that they are summed over ranks together. */
void add_aux_terms(Elaboration *e, ValueId *loss, ValueId counted, int64_t ignore) {
    ValueId *stats = arena_array(e->model->arena, ValueId, e->aux.n + 1);
    uint32_t first = e->graph->programs.at[e->build.program].ops.n;
    e->build.path = "";
    for (uint32_t i = 0; i < e->aux.n; i++)
        stats[i] = emit_statistics(e, &e->aux.at[i], counted, ignore);
    for (uint32_t i = 0; i < e->aux.n; i++) {
        const AuxTerm *t = &e->aux.at[i];
        Attrs a = {.alpha = t->part.factor};
        ValueId in[2] = {*loss, stats[i]};
        e->build.span = t->at;
        *loss = emit_value(&e->build, t->part.op == OP_balance ? OP_balance_loss : OP_average_loss,
                           &a, 2, in, NULL);
    }
    if (e->aux.n) move_averages_up(e, first);
}
