/* Copies a graph of level model into a statement (statement.h), in the graph's arena. */
#include "statement.h"

static void state_node(const Graph *g, Statement *s, const Op *op, uint32_t *number) {
    StatementNode node = {.kind = op->kind,
                          .attr = *op->attr,
                          .n_in = op->n_in,
                          .first_in = s->in.n,
                          .n_out = op->n_out,
                          .first_out = s->n_values,
                          .path = op->path,
                          .span = op->span};
    if (op->n_out) node.type = g->values.at[op->out].type;
    if (op_info[op->kind].rows == ROWS_STATES) {
        const State *of = &g->states.at[op->attr->index];
        node.state = of->name;
        node.role = of->role;
    }
    for (uint32_t k = 0; k < op->n_in; k++) vec_push(g->arena, &s->in, number[op->in[k]]);
    for (uint32_t k = 0; k < op->n_out; k++) number[op->out + k] = s->n_values++;
    vec_push(g->arena, &s->nodes, node);
}

const Statement *statement_of(const Graph *g) {
    Statement *s = arena_new_of(g->arena, Statement);
    uint32_t *number = arena_array(g->arena, uint32_t, g->values.n + 1);
    CHECK(g->level == LEVEL_MODEL);
    s->policy = g->policy;
    for (uint32_t i = 0; i < g->params.n; i++) vec_push(g->arena, &s->params, g->params.at[i]);
    for (uint32_t i = 0; i < g->fields.n; i++) vec_push(g->arena, &s->fields, g->fields.at[i]);
    for (uint32_t i = 0; i < g->programs.n; i++) {
        const Program *p = &g->programs.at[i];
        StatementProgram row = {p->kind, s->nodes.n, p->ops.n};
        vec_push(g->arena, &s->programs, row);
        for (uint32_t k = 0; k < p->ops.n; k++) state_node(g, s, &g->ops.at[p->ops.at[k]], number);
    }
    return s;
}
