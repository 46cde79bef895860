/* Turns the terms of a loss into an exact sum over targets, which training divides by their number.
 *
 * A loss of one term, such as cross_entropy, is the op that makes its sum. Of several terms one
 * is such an op, if there is one without a factor; the loss begins with its sum and number of
 * targets. Otherwise it begins with zeros, for as many targets as the first term has. Each other
 * term is a mean of its own: its statistics are summed over ranks before backward, all in one
 * collective, and then it is added once for each target. The terms of aux(..) are treated in the
 * same way; they are emitted after the model, because their gradients need the number of targets.
 */
#include <string.h>

#include "operations.h"
#include "signature.h"

/* ---- what the loss begins with */

static void count_operand(const Elaboration *e, LossSum *sum) {
    const Op *op = value_maker(e->graph, sum->value);
    sum->counted = op->in[signature_find(op_signature(op->kind), op_info[op->kind].counted)];
    sum->ignore = op->attr->ignore;
}

/* 1 where x is not that number, else 0. */
static ValueId differs(Elaboration *e, ValueId x, int64_t number) {
    Attrs a = {.alpha = (double)number};
    if (!type_is_float(&e->graph->values.at[x].type))
        x = emit_value(&e->build, OP_to_float, NULL, 1, &x, NULL);
    ValueId in[2] = {x, emit_value(&e->build, OP_constant, &a, 0, NULL, NULL)};
    return emit_value(&e->build, OP_unequal, NULL, 2, in, NULL);
}

/* Zeros for the targets of the term: what a loss counts, weights that are not 0, or all elements.
 */
static LossSum begin_with_zeros(Elaboration *e, const TermPart *first) {
    LossSum sum = {.name = first->name};
    if (op_info[first->op].term == TERM_LOSS) {
        sum.value = first->x;
        count_operand(e, &sum);
    } else if (first->weights != NO_VALUE) {
        ValueId counts = differs(e, first->weights, 0);
        sum.counted = emit_value(&e->build, OP_to_int, NULL, 1, &counts, NULL);
    } else {
        sum.counted = emit_value(&e->build, OP_stop_gradient, NULL, 1, &first->x, NULL);
    }
    Attrs a = {.ignore = sum.ignore};
    sum.value = emit_value(&e->build, OP_count_targets, &a, 1, &sum.counted, NULL);
    return sum;
}

/* ---- a loss that is one of several terms: a mean of the losses of its targets */

/* Makes the op compute the loss of each target instead of the sum of the losses. */
static void make_each(Elaboration *e, Op *op, OpKind kind, const Type *type) {
    op->kind = kind;
    e->graph->values.at[op->out].type = *type;
}

static void each_cross_entropy(Elaboration *e, TermPart *part) {
    Op *op = &e->graph->ops.at[e->graph->values.at[part->x].def];
    ValueId targets = op->in[1];
    int64_t ignore = op->attr->ignore;
    Type type = e->graph->values.at[targets].type;
    type.dtype = DT_F32;
    make_each(e, op, OP_cross_entropy_each, &type);
    part->weights = differs(e, targets, ignore);
}

static void each_mse(Elaboration *e, TermPart *part) {
    Op *op = &e->graph->ops.at[e->graph->values.at[part->x].def];
    Type type = e->graph->values.at[op->in[0]].type;
    make_each(e, op, OP_sub, &type);
    ValueId in[2] = {part->x, part->x};
    part->x = emit_value(&e->build, OP_mul, NULL, 2, in, NULL);
}

/* The part's op made the sum over all targets. Now it makes the loss of each, and the part is their
 * mean. */
static void make_mean_term(Elaboration *e, TermPart *part) {
    if (part->op == OP_cross_entropy) each_cross_entropy(e, part);
    if (part->op == OP_mse) each_mse(e, part);
    CHECK(part->op == OP_cross_entropy || part->op == OP_mse);
    part->op = OP_average;
}

/* The op with which the loss begins comes after those of other terms, right before backward, so
 * that pass fuse_loss can join it with its gradient. */
static void move_last(Elaboration *e, ValueId value) {
    Program *p = &e->graph->programs.at[e->build.program];
    uint32_t last = p->ops.n - 1, i = last;
    OpId op = e->graph->values.at[value].def;
    value_has_samples(e, value); /* it counts the ops that it has seen */
    while (p->ops.at[i] != op) i--;
    memmove(&p->ops.at[i], &p->ops.at[i + 1], (last - i) * sizeof op);
    p->ops.at[last] = op;
}

/* ---- the terms */

/* The same sum twice is one term. */
static void merge_parts(ExprValue *v) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->n_parts; i++) {
        TermPart *p = &v->parts[i];
        uint32_t k = 0;
        while (k < n && (v->parts[k].op != p->op || v->parts[k].x != p->x ||
                         v->parts[k].choices != p->choices || v->parts[k].weights != p->weights))
            k++;
        if (k < n)
            v->parts[k].factor += p->factor;
        else
            v->parts[n++] = *p;
    }
    v->n_parts = n;
}

LossSum loss_begin(Elaboration *e, const ExprValue *v, ExprValue *rest) {
    LossSum sum = {.value = v->tensor};
    *rest = *v;
    if (v->kind == VALUE_LOSS) {
        rest->n_parts = 0;
        count_operand(e, &sum);
        return sum;
    }
    rest->parts = arena_copy(e->model->arena, v->parts, v->n_parts * sizeof *v->parts);
    merge_parts(rest);
    uint32_t k = 0;
    while (k < rest->n_parts &&
           (op_info[rest->parts[k].op].term != TERM_LOSS || rest->parts[k].factor != 1))
        k++;
    if (k == rest->n_parts) {
        sum = begin_with_zeros(e, &rest->parts[0]);
    } else {
        sum = (LossSum){.value = rest->parts[k].x, .name = rest->parts[k].name};
        count_operand(e, &sum);
        move_last(e, sum.value);
        memmove(&rest->parts[k], &rest->parts[k + 1], (--rest->n_parts - k) * sizeof *rest->parts);
    }
    for (uint32_t i = 0; i < rest->n_parts; i++)
        if (op_info[rest->parts[i].op].term == TERM_LOSS) make_mean_term(e, &rest->parts[i]);
    return sum;
}

void loss_take_rest(Elaboration *e, const ExprValue *rest, Span at) {
    for (uint32_t i = 0; i < rest->n_parts; i++)
        vec_push(e->model->arena, &e->aux,
                 ((AuxTerm){.part = rest->parts[i], .at = at, .told = true}));
}

static ValueId emit_statistics(Elaboration *e, const AuxTerm *t, const LossSum *sum) {
    Attrs a = {.alpha = t->part.factor, .ignore = sum->ignore};
    bool balance = t->part.op == OP_balance, weighted = t->part.weights != NO_VALUE;
    ValueId third = balance ? sum->counted : t->of_step ? t->step_weights : t->part.weights;
    ValueId counted = t->of_step ? sum->step_counted : sum->counted;
    ValueId in[3] = {t->part.x, balance ? t->part.choices : counted, third};
    if (t->of_step) a.count = e->settings->micro_batches;
    e->build.span = t->at;
    return emit_value(&e->build, t->part.op, &a, balance || weighted ? 3 : 2, in, NULL);
}

static bool is_of_elements(const Op *op) { return op->kind == OP_average || op->kind == OP_total; }

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
        if (!is_of_elements(op)) continue;
        uint32_t after = 0;
        for (uint32_t k = 0; k < op->n_in; k++)
            after = MAX(after, place[g->values.at[op->in[k]].def]);
        next[i] = head[after];
        head[after] = i + 1;
    }
    for (uint32_t i = 0; i < p->ops.n; i++) {
        if (i < first || !is_of_elements(&g->ops.at[p->ops.at[i]])) order[n++] = p->ops.at[i];
        for (uint32_t k = head[i]; k; k = next[k - 1]) order[n++] = p->ops.at[k - 1];
    }
    CHECK(n == p->ops.n);
    memcpy(p->ops.at, order, n * sizeof *order);
}

/* ---- states: what the log has, and what the host divides */

/* The name of a state that only the host puts together with the one of that name: eval+loss.NAME
 * is added to eval.loss, after eval/loss.NAME, if there is one, has divided it. */
static const char *name_for_host(const Elaboration *e, const char *state, char mark) {
    char *name = arena_printf(e->model->arena, "%s", state);
    name[strlen("eval")] = mark;
    return name;
}

/* The state of a term of the sum in state OF: OF.NAME, or OF.NAME_2 for a second term of that
 * name. */
static const char *term_state(const Elaboration *e, const char *of, const char *name) {
    const char *state = arena_printf(e->model->arena, "%s.%s", of, name);
    for (int k = 2; graph_find_state(e->graph, state) != NO_INDEX ||
                    graph_find_state(e->graph, name_for_host(e, state, '+')) != NO_INDEX;
         k++)
        state = arena_printf(e->model->arena, "%s.%s_%d", of, name, k);
    return state;
}

static void keep_term(Elaboration *e, const char *state, OpKind op, double alpha, uint32_t n,
                      const ValueId *in) {
    int64_t words = EXACT_WORDS;
    Type type = type_of(DT_I64, 1, &words);
    Attrs a = {.alpha = alpha};
    int32_t row = graph_add_state(e->graph, STATE_METRIC, state, type, NO_INDEX);
    ValueId term = emit_value(&e->build, op, &a, n, in, NULL);
    emit_set_state(&e->build, row, term);
}

/* Batches of an evaluation may differ in what the term is divided by: the host adds up its sums
 * and weights, and divides once. */
static bool is_left_to_host(const Elaboration *e, const AuxTerm *t) {
    return !e->training && t->of_step;
}

static void leave_to_host(Elaboration *e, const AuxTerm *t, const char *state) {
    const TermPart *p = &t->part;
    e->build.span = t->at;
    keep_term(e, name_for_host(e, state, '+'), OP_total, p->factor, 1, &p->x);
    if (p->weights != NO_VALUE)
        keep_term(e, name_for_host(e, state, '/'), OP_total, 1, 1, &p->weights);
}

/* Those that the log does not have are numbered. */
static void keep_terms(Elaboration *e, const LossSum *sum, const ValueId *stats, const char *of,
                       bool told) {
    ValueId in[2] = {sum->value};
    if (told && value_maker(e->graph, sum->value)->kind != OP_count_targets)
        keep_term(e, term_state(e, of, sum->name), OP_loss_term, 0, 1, in);
    for (uint32_t i = 0; i < e->aux.n; i++) {
        const AuxTerm *t = &e->aux.at[i];
        bool host = is_left_to_host(e, t);
        const char *name = told ? t->part.name : arena_printf(e->model->arena, "%u", i + 1);
        const char *state = host || told ? term_state(e, of, name) : NULL;
        in[1] = stats[i];
        if (host)
            leave_to_host(e, t, state);
        else if (told)
            keep_term(e, state, OP_loss_term, t->part.factor, 2, in);
    }
}

/* Does train.loss have several terms? Those of aux alone are told as part of the loss. */
static bool are_told(const Elaboration *e, const LossSum *sum) {
    uint32_t n = value_maker(e->graph, sum->value)->kind != OP_count_targets, told = 0;
    for (uint32_t i = 0; i < e->aux.n; i++) told += e->aux.at[i].told;
    return told && n + told > 1;
}

/* Emits all statistics first, so that they are summed over ranks together. */
void loss_add_terms(Elaboration *e, LossSum *sum, const char *of, bool tell) {
    ValueId *stats = arena_array(e->model->arena, ValueId, e->aux.n + 1);
    uint32_t first = e->graph->programs.at[e->build.program].ops.n;
    e->build.path = "";
    for (uint32_t i = 0; i < e->aux.n; i++)
        if (!is_left_to_host(e, &e->aux.at[i])) stats[i] = emit_statistics(e, &e->aux.at[i], sum);
    keep_terms(e, sum, stats, of, tell && are_told(e, sum));
    for (uint32_t i = 0; i < e->aux.n; i++) {
        const AuxTerm *t = &e->aux.at[i];
        if (is_left_to_host(e, t)) continue;
        Attrs a = {.alpha = t->part.factor};
        ValueId in[2] = {sum->value, stats[i]};
        e->build.span = t->at;
        sum->value =
            emit_value(&e->build, t->part.op == OP_balance ? OP_balance_loss : OP_average_loss, &a,
                       2, in, NULL);
    }
    if (e->aux.n) move_averages_up(e, first);
}
