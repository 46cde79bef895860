/* Chooses the parameters that Muon updates, after the train program is built; AdamW updates the
 * others.
 *
 * A hidden matrix is a parameter of two axes that only products read, directly, reshaped or
 * transposed. A head is left to AdamW: no further product comes between its own and the loss. So is
 * an embedding: no product reads it, or it is tied to a head. A group of section train can override
 * this.
 */
#include "rules.h"

typedef struct MatrixSearch {
    Graph *g;
    int32_t *param_of; /* by value: the parameter that it is, directly, reshaped or transposed; or
                          NO_INDEX */
    bool *seen;        /* by value: visited on the way back from a loss */
    bool *not_hidden;  /* by parameter: read by something other than a product, or by the head's
                          product */
} MatrixSearch;

static bool is_product(const Graph *g, const Op *op) {
    Type few[FEW_TYPES];
    const Type *types = op_types(g, op, few);
    return op_product_flops(op->kind, op->attr, (int)op->n_in, types, (int)op->n_out,
                            types + op->n_in) > 0;
}

static void note_op_reads(MatrixSearch *m, const Op *op) {
    if (op->kind == OP_param) m->param_of[op->out] = (int32_t)op->attr->index;
    bool views = op->kind == OP_reshape || op->kind == OP_transpose;
    bool product = is_product(m->g, op);
    for (uint32_t k = 0; k < op->n_in; k++) {
        int32_t p = m->param_of[op->in[k]];
        if (p == NO_INDEX) continue;
        if (views)
            m->param_of[op->out] = p;
        else if (!product)
            m->not_hidden[p] = true;
    }
}

/* Walks back from a value of the loss to the last products before it. */
static void find_heads(MatrixSearch *m, ValueId v) {
    VEC(ValueId) open = {0};
    vec_push(m->g->scratch, &open, v);
    while (open.n) {
        v = open.at[--open.n];
        const Op *op = value_maker(m->g, v);
        if (m->seen[v]) continue;
        m->seen[v] = true;
        bool product = is_product(m->g, op);
        for (uint32_t k = 0; k < op->n_in; k++) {
            int32_t p = m->param_of[op->in[k]];
            if (product && p != NO_INDEX)
                m->not_hidden[p] = true;
            else if (!product)
                vec_push(m->g->scratch, &open, op->in[k]);
        }
    }
}

static MatrixSearch find_matrices(Graph *g, const Program *p) {
    MatrixSearch m = {.g = g,
                      .param_of = arena_none(g->scratch, int32_t, g->values.n + 1),
                      .seen = arena_array(g->scratch, bool, g->values.n + 1),
                      .not_hidden = arena_array(g->scratch, bool, g->params.n + 1)};
    for (uint32_t i = 0; i < p->ops.n; i++) note_op_reads(&m, &g->ops.at[p->ops.at[i]]);
    for (uint32_t i = 0; i < p->ops.n; i++) {
        const Op *op = &g->ops.at[p->ops.at[i]];
        if (op_info[op->kind].term == TERM_LOSS) find_heads(&m, op->in[0]);
    }
    return m;
}

static void report_not_a_matrix(Elaboration *e, const Directive *d, const Param *p) {
    diag_report(e->model->ds, E_directive, d->span,
                "match only matrices, or put the others in a group with muon = false before it",
                "Muon updates only matrices, but `%s` is %s", p->name.path,
                type_text(e->graph->arena, &p->type));
}

/* Parameters for AdamW get the lr of the argument adamw_lr, unless their group has an lr of its
 * own. */
static void leave_to_adamw(const Model *m, Param *p, const Directive *d) {
    if (m->adamw_lr_factor == 1 || (d && d->own_lr)) return;
    if (!p->grouped) p->weight_decay = m->policy.weight_decay;
    p->grouped = true;
    p->lr_factor = m->adamw_lr_factor;
}

void choose_muon_params(Elaboration *e) {
    Graph *g = e->graph;
    if (!optimizer_moves_matrices(g->policy.optimizer)) return;
    MatrixSearch m = find_matrices(g, &g->programs.at[graph_find_program(g, PROGRAM_TRAIN)]);
    bool any = false;
    for (uint32_t k = 0; k < g->params.n; k++) {
        Param *p = &g->params.at[k];
        const Directive *d = directive_of(e->model, p);
        if (p->frozen) continue;
        p->matrix = p->type.rank == 2 && !m.not_hidden[k];
        if (d && d->muon != MUON_AS_USUAL) p->matrix = d->muon == MUON_YES;
        any |= p->matrix;
        if (!p->matrix)
            leave_to_adamw(e->model, p, d);
        else if (p->type.rank != 2)
            report_not_a_matrix(e, d, p);
    }
    if (any) return;
    diag_report(e->model->ds, W_no_effect, model_setting(e->model, "train", "optimizer")->span,
                NULL, "Muon updates no parameter: the model has no hidden matrix to train");
}
