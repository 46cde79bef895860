/* grad: reverse mode.
 *
 * In: a graph of level model. Out: level train; program train has its backward after its forward,
 * all of it phase backward, every op with path and span of the forward op that it differentiates,
 * and `set_grad {index}` for each trainable parameter.
 *
 * 1. Forwards: a value needs a gradient if a trainable parameter reaches it through ops that have a
 *    gradient rule. 2. Backwards from the losses: which of those reach a loss, and how many
 *    contributions each will get. Only these exist, so nothing is computed that no trainable
 *    parameter needs, and it is known in advance which contribution is the last. 3. Backwards
 *    again, running the rule of each op on such a path.
 *
 * Order. Ops are visited in the reverse of the forward order, so saved activations die in the
 * reverse order of their birth; a rule makes the gradients of weights before that of its input,
 * which may then take the memory of the activation that the weight's gradient has just read last.
 * Contributions are added as they come, never kept side by side, and `set_grad` comes right after a
 * parameter's last contribution, so its reduction can start there.
 *
 * Not here: second derivatives, gradients of integer values, the mean: a loss (column LOSS of
 * ops.def) is a sum over targets; step_scale does the scaling.
 */
#include "grad.h"
#include "passes.h"

/* Results 0 .. n-1 carry gradients, the others are statistics. */
static uint32_t carriers(const Op *op) {
    uint32_t n = op_info[op->kind].carries;
    return MIN(n ? n : 1, op->n_out);
}

static bool is_loss(const Graph *g, const Op *op) {
    return op->kind == OP_set_state && g->states.at[op->attr->index].role == STATE_METRIC &&
           op_info[value_maker(g, op->in[0])->kind].term == TERM_LOSS;
}

/* By value: does a trainable parameter reach it? */
static bool *trainable_values(const Graph *g, const Program *p) {
    bool *needs = arena_array(g->scratch, bool, g->values.n);
    for (uint32_t i = 0; i < p->ops.n; i++) {
        const Op *op = &g->ops.at[p->ops.at[i]];
        if (op->kind == OP_param) {
            needs[op->out] = !g->params.at[op->attr->index].frozen;
            continue;
        }
        if (!grad_flows_back(op->kind)) continue;
        bool any = false;
        for (uint32_t j = 0; j < op->n_in; j++)
            any |= needs[op->in[j]] && grad_reaches(op->kind, j);
        for (uint32_t j = 0; j < carriers(op); j++) needs[op->out + j] = any;
    }
    return needs;
}

/* Counts the contributions of each value on a path from a trainable parameter to a loss. The result
 * says, by op of the program, whether it lies on such a path. */
static bool *count_contributions(Grad *c, const Program *p) {
    const Graph *g = c->g;
    const bool *needs = trainable_values(g, p);
    bool *reached = arena_array(g->scratch, bool, g->values.n);
    bool *on_way = arena_array(g->scratch, bool, p->ops.n);
    for (uint32_t i = p->ops.n; i-- > 0;) {
        const Op *op = &g->ops.at[p->ops.at[i]];
        if (is_loss(g, op)) reached[op->in[0]] = true;
        if (!grad_flows_back(op->kind)) continue;
        for (uint32_t j = 0; j < carriers(op); j++)
            on_way[i] |= reached[op->out + j] && needs[op->out + j];
        for (uint32_t j = 0; on_way[i] && j < op->n_in; j++) {
            if (!needs[op->in[j]] || !grad_reaches(op->kind, j)) continue;
            reached[op->in[j]] = true;
            c->sums[op->in[j]].missing++;
        }
    }
    return on_way;
}

/* One error for a module's parameters, where the user's file makes the module: a place in the
 * prelude is what all its instances share. `more`: how many of the module's are untrained besides.
 */
static void report_untrained(const Graph *g, const Param *param, const Op *use, uint32_t more) {
    const Module *m = param->name.module > 0 ? &g->modules.at[param->name.module] : NULL;
    Span at = param->name.span;
    bool prelude = m && m->span.file && at.file != m->span.file;
    Diag d = more ? diag_at(g->diags, E_no_gradient, prelude ? m->span : at,
                            "%s and %u more of %s get no gradient; mark them @frozen or use them",
                            param->name.path, more, m ? m->path : "the model")
                  : diag_at(g->diags, E_no_gradient, prelude ? m->span : at,
                            "%s gets no gradient; mark it @frozen or use it", param->name.path);
    if (use && use->span.file)
        diag_note(&d, use->span, "it is used here, but nothing leads from here to the loss");
    diag_emit(&d);
}

/* Every trainable parameter must get a gradient, and there must be one. */
static bool check_params(const Grad *c, const Program *p) {
    const Graph *g = c->g;
    const Op **use = arena_array(g->scratch, const Op *, g->params.n);
    bool *trained = arena_array(g->scratch, bool, g->params.n);
    for (uint32_t i = 0; i < p->ops.n; i++) {
        const Op *op = &g->ops.at[p->ops.at[i]];
        if (op->kind != OP_param) continue;
        use[op->attr->index] = op;
        trained[op->attr->index] |= c->sums[op->out].missing > 0;
    }
    bool good = true, any = false;
    for (uint32_t k = 0; k < g->params.n; k++) {
        if (g->params.at[k].frozen) continue;
        any = true;
        if (trained[k]) continue;
        good = false;
        const Param *param = &g->params.at[k];
        uint32_t before = 0, more = 0;
        for (uint32_t i = 0; i < g->params.n && param->name.module > 0; i++) {
            const Param *other = &g->params.at[i];
            bool too =
                i != k && other->name.module == param->name.module && !other->frozen && !trained[i];
            *(i < k ? &before : &more) += too;
        }
        if (!before) report_untrained(g, param, use[k], more);
    }
    if (any) return good;
    return diag_report(g->diags, E_nothing_to_train,
                       g->modules.n ? g->modules.at[0].span : (Span){0},
                       arena_printf(g->diags->arena, g->params.n ? "every parameter is @frozen"
                                                                 : "the model has no parameters"),
                       "nothing to train");
}

static void differentiate_op(Grad *c, OpId id) {
    Op op = c->g->ops.at[id]; /* a copy: the table grows under the rule */
    ValueId *dy = arena_array(c->g->scratch, ValueId, op.n_out);
    for (uint32_t j = 0; j < op.n_out; j++) {
        CHECK(c->sums[op.out + j].missing == 0);
        dy[j] = c->sums[op.out + j].sum;
    }
    c->b.path = op.path;
    c->b.span = op.span;
    c->b.unit = op.unit;
    grad_run(c, &op, dy);
}

bool pass_grad(Graph *g) {
    int32_t train = graph_find_program(g, PROGRAM_TRAIN);
    if (train == NO_INDEX)
        return diag_report(g->diags, E_pass_order, (Span){0}, NULL, "grad needs a program train");
    Grad c = {.g = g, .n_values = g->values.n};
    c.b = (Builder){.g = g, .program = (uint32_t)train, .phase = PHASE_BACKWARD};
    c.sums = arena_array(g->scratch, GradSum, c.n_values);
    for (uint32_t v = 0; v < c.n_values; v++) c.sums[v].sum = NO_VALUE;
    const bool *on_way = count_contributions(&c, &g->programs.at[train]);
    if (!check_params(&c, &g->programs.at[train])) return false;
    for (uint32_t i = g->programs.at[train].ops.n; i-- > 0;)
        if (on_way[i]) differentiate_op(&c, g->programs.at[train].ops.at[i]);
    for (uint32_t v = 0; v < c.n_values; v++) CHECK(c.sums[v].missing == 0);
    g->level = LEVEL_TRAIN;
    return true;
}
