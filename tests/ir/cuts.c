/* `cuts`: of the graph on standard input, the ops that do arithmetic in forward or backward and
 * have no cut (cut.h), a line for each kind: how many there are. A graph in which every op has one
 * prints nothing. `cuts all`: each op that does arithmetic, with its cuts:
 *
 *   linear 1024 . 768 D+ 2304 O        size and letter; + results are partial, @ it must know its
 * place
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cut.h"
#include "ir.h"

enum { MOST_TEXT = 1 << 28, MOST_VALUES = 1 << 12 };

static Type types[MOST_VALUES];

static CutOp cut_op(const Graph *g, const Op *op) {
    CHECK(op->n_in + op->n_out <= MOST_VALUES);
    for (uint32_t i = 0; i < op->n_in; i++) types[i] = g->values.at[op->in[i]].type;
    for (uint32_t j = 0; j < op->n_out; j++) types[op->n_in + j] = g->values.at[op->out + j].type;
    CutOp c = {.kind = op->kind,
               .attr = op->attr,
               .n_in = op->n_in,
               .n_out = op->n_out,
               .in = types,
               .out = types + op->n_in};
    if (op->kind == OP_fused) {
        const Formula *f = &g->formulas.at[op->attr->index];
        c.n_step = f->n_step;
        c.step = f->step;
    }
    return c;
}

static bool has_arithmetic(const CutOp *c) {
    if (op_info[c->kind].role > ROLE_BACKWARD) return false;
    return c->kind == OP_fused ||
           op_flops(c->kind, c->attr, (int)c->n_in, c->in, (int)c->n_out, c->out) > 0;
}

static void print_cuts(const CutOp *c, const Cut *cuts, uint32_t n) {
    printf("%s", op_info[c->kind].name);
    for (uint32_t k = 0; k < n; k++) {
        bool partial = false;
        for (uint32_t j = 0; j < c->n_out; j++)
            partial |= cuts[k].value[c->n_in + j].kind == PLACE_PARTIAL;
        printf(" %lld", (long long)cuts[k].size);
        if (cuts[k].letter) printf(" %c", cuts[k].letter);
        printf("%s%s", partial ? "+" : "", cuts[k].at ? "@" : "");
    }
    printf("\n");
}

int main(int argc, char **argv) {
    Arena *arena = arena_new();
    DiagSet diags;
    diag_init(&diags, arena);
    char *text = malloc(MOST_TEXT);
    CHECK(text != NULL);
    size_t size = fread(text, 1, MOST_TEXT, stdin);
    const Graph *g = graph_parse(arena, &diags, "stdin", text, size);
    if (!g) fail_environment("standard input is not a graph");
    static uint32_t without[OP_COUNT];
    for (uint32_t p = 0; p < g->programs.n; p++)
        for (uint32_t k = 0; k < g->programs.at[p].ops.n; k++) {
            CutOp c = cut_op(g, &g->ops.at[g->programs.at[p].ops.at[k]]);
            Cut cuts[MOST_CUTS];
            if (!has_arithmetic(&c)) continue;
            uint32_t n = op_cuts(&c, cuts, arena);
            without[c.kind] += n == 0;
            if (argc > 1 && !strcmp(argv[1], "all")) print_cuts(&c, cuts, n);
        }
    for (int kind = 0; kind < OP_COUNT; kind++)
        if (without[kind]) printf("%s: %u without a cut\n", op_info[kind].name, without[kind]);
    free(text);
    arena_free(arena);
    return 0;
}
