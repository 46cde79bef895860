/* Proof 4, inside a program: the gradient of a parameter is the sum of one contribution of each op
 * that reads the parameter on the way to the loss.
 *
 * A backward op has the module path and the place in the source of the forward op that it belongs
 * to. So for a parameter that only ops with a gradient op of their own read (linear, embedding and
 * the norms), the operand of the pack can be taken apart: through in-place sums, additions and
 * copies down to gradient ops, each of which must belong to another reader of that parameter, until
 * none is left. A parameter that something else reads (a product with a mask, say) is left alone:
 * its gradient may come from any op.
 *
 *   4i  a pack's operand takes in a contribution that is not one of its parameter, or takes one
 * twice 4j  a contribution is missing: a reader whose gradient the pack does not hold 4k  a part of
 * a gradient, loss or norm is computed and never read 4l  a backward op reads another parameter
 * than its forward op
 */
#include <stdlib.h>

#include "check.h"

typedef struct Reader {
    uint64_t instr;
    uint32_t next;     /* reader of the same parameter + 1 */
    uint16_t gradient; /* op that makes its contribution */
    bool found;
} Reader;

typedef struct Sources {
    Check *c;
    uint32_t *param; /* by value: the parameter that it shows + 1 */
    uint8_t *on_way; /* by instruction: leads to a loss */
    uint32_t *stack; /* values to be taken apart */
    uint8_t *seen;   /* by value: was on the stack */
    Reader *reader;
    uint32_t n_reader;
    uint32_t *first; /* by parameter: its last reader + 1 */
    uint32_t *open;  /* the first of them that has not been found */
    uint8_t *loose;  /* by parameter: read by an op that has no gradient op of its own */
} Sources;

/* The op that makes the contribution of `op` to the gradient of its operand k; OP_COUNT: several.
 */
static uint16_t gradient_op(uint16_t op, uint32_t k) {
    switch (op) {
    case OP_linear:
    case OP_linear_gelu: return k == 1 ? OP_linear_grad_weight : k == 2 ? OP_sum_leading : OP_COUNT;
    case OP_embedding: return k == 0 ? OP_embedding_grad : OP_COUNT;
    case OP_layer_norm:
        return k == 1 ? OP_layer_norm_grad_weight : k == 2 ? OP_sum_leading : OP_COUNT;
    case OP_add_layer_norm:
        return k == 2 ? OP_layer_norm_grad_weight : k == 3 ? OP_sum_leading : OP_COUNT;
    case OP_rms_norm: return k == 1 ? OP_rms_norm_grad_weight : OP_COUNT;
    default: return OP_COUNT;
    }
}

/* The forward op whose weight the backward op reads again as its operand k. */
static uint16_t forward_op(uint16_t op, uint32_t k) {
    switch (op) {
    case OP_linear_grad_input:
    case OP_linear_grad_input_gelu: return k == 1 ? OP_linear : OP_COUNT;
    case OP_layer_norm_grad:
    case OP_layer_norm_grad_input: return k == 2 ? OP_layer_norm : OP_COUNT;
    case OP_rms_norm_grad_input: return k == 2 ? OP_rms_norm : OP_COUNT;
    default: return OP_COUNT;
    }
}

/* Fused ops stand for the op that their parameters belong to. */
static uint16_t unfused(uint16_t op) {
    if (op == OP_linear_gelu) return OP_linear;
    return op == OP_add_layer_norm ? OP_layer_norm : op;
}

static bool same_place(const Check *c, uint64_t a, uint64_t b) {
    const PlanInstr *x = &c->p->instrs[a], *y = &c->p->instrs[b];
    return x->path == y->path && x->file == y->file && x->line == y->line && x->col == y->col &&
           x->end_line == y->end_line && x->end_col == y->end_col;
}

/* Instructions whose results reach the operands of a cross_entropy. */
static void find_ways(Sources *s, const PlanProgram *pr) {
    const Plan *p = s->c->p;
    for (uint64_t i = pr->first_instr + (uint64_t)pr->n_instr; i-- > pr->first_instr;) {
        if (p->instrs[i].op == OP_cross_entropy || p->instrs[i].op == OP_cross_entropy_both)
            s->on_way[i] = 1;
        for (uint32_t k = 0; s->on_way[i] && k < p->instrs[i].n_in; k++)
            s->on_way[p->values[check_in(s->c, i, k)].def] = 1;
    }
}

static void note_reader(Sources *s, uint64_t i, uint32_t k, uint32_t param) {
    uint16_t gradient = gradient_op(s->c->p->instrs[i].op, k);
    if (gradient == OP_COUNT) s->loose[param] = 1;
    s->reader[s->n_reader] =
        (Reader){.instr = i, .next = s->first[param], .gradient = gradient, .found = false};
    s->first[param] = s->open[param] = ++s->n_reader;
}

static void find_readers(Sources *s, const PlanProgram *pr) {
    const Plan *p = s->c->p;
    for (uint64_t i = pr->first_instr; i < pr->first_instr + (uint64_t)pr->n_instr; i++) {
        const PlanInstr *in = &p->instrs[i];
        if (in->op == OP_view || in->op == OP_reshape) {
            int64_t param =
                in->op == OP_view ? check_view_param(s->c, i) + 1 : s->param[check_in(s->c, i, 0)];
            s->param[check_out(s->c, i, 0)] = (uint32_t)param;
            continue;
        }
        for (uint32_t k = 0; in->phase == PHASE_FORWARD && s->on_way[i] && k < in->n_in; k++)
            if (s->param[check_in(s->c, i, k)])
                note_reader(s, i, k, s->param[check_in(s->c, i, k)] - 1);
    }
}

/* 4l. */
static int check_reread(Sources *s, uint64_t i) {
    const Plan *p = s->c->p;
    const PlanInstr *in = &p->instrs[i];
    for (uint32_t k = 0; k < in->n_in; k++) {
        uint32_t param = s->param[check_in(s->c, i, k)];
        uint16_t op = forward_op(in->op, k);
        if (!param || op == OP_COUNT) continue;
        uint32_t r = s->first[param - 1];
        while (r && !(unfused(p->instrs[s->reader[r - 1].instr].op) == op &&
                      same_place(s->c, s->reader[r - 1].instr, i)))
            r = s->reader[r - 1].next;
        if (!r)
            return check_fail(s->c, "4l", i,
                              "reads parameter %s, which the %s that it belongs to "
                              "does not",
                              plan_string(p, p->params[param - 1].name), op_info[op].name);
    }
    return 0;
}

static bool is_part(uint16_t op, uint8_t phase, uint32_t result) {
    if (op == OP_layer_norm_grad) return result > 0;
    return op_info[op].precision == PRECISION_REDUCE || op == OP_accumulate ||
           op == OP_metric_add || op == OP_pack || op == OP_reduce_scatter || op == OP_all_reduce ||
           op == OP_grad_norm || (op == OP_add && phase == PHASE_BACKWARD);
}

/* 4k. The end of a value is not a use of it. */
static int check_read(Sources *s, uint64_t i) {
    const Check *c = s->c;
    const PlanInstr *in = &c->p->instrs[i];
    for (uint32_t j = 0; j < in->n_out; j++) {
        if (!is_part(in->op, in->phase, j)) continue;
        uint32_t v = check_out(c, i, j);
        uint64_t use = c->first_use[v];
        while (use < c->first_use[v + 1] && c->p->instrs[c->use[use]].op == OP_free) use++;
        if (c->root[v] == v && use == c->first_use[v + 1])
            return check_fail(s->c, "4k", i, "nothing reads result %u (value %u)", j, v);
    }
    return 0;
}

/* The op whose gradient result k of instruction i is: a fused op makes those of several. */
static uint16_t leaf_of(const Plan *p, uint64_t i, uint32_t k) {
    uint16_t op = p->instrs[i].op;
    if (op == OP_layer_norm_grad && k) return k > 1 ? OP_sum_leading : OP_layer_norm_grad_weight;
    if (op == OP_linear_grad_weight_bias) return k ? OP_sum_leading : OP_linear_grad_weight;
    return op;
}

/* Takes leaf gradient v out of the parameter's readers. Backward visits them in the order of the
 * list, so that the first open one is the one, as a rule. */
static int match(Sources *s, uint64_t pack, uint32_t param, uint32_t v) {
    const Plan *p = s->c->p;
    uint64_t i = p->values[v].def;
    uint16_t leaf = leaf_of(p, i, v - check_out(s->c, i, 0));
    for (uint32_t r = s->open[param]; r; r = s->reader[r - 1].next) {
        Reader *at = &s->reader[r - 1];
        if (at->found || at->gradient != leaf || !same_place(s->c, at->instr, i)) continue;
        at->found = true;
        uint32_t *open = &s->open[param];
        while (*open && s->reader[*open - 1].found) *open = s->reader[*open - 1].next;
        return 0;
    }
    return check_fail(s->c, "4i", pack,
                      "the gradient of %s takes in instruction %llu, which belongs "
                      "to no op that reads the parameter",
                      plan_string(p, p->params[param].name), (unsigned long long)i);
}

static int take_apart(Sources *s, uint64_t pack, uint32_t param, uint32_t v) {
    const Plan *p = s->c->p;
    uint32_t n = 0;
    int status = 0;
    s->stack[n++] = v;
    while (!status && n) {
        v = s->stack[--n];
        if (s->seen[v]++)
            return check_fail(s->c, "4i", pack, "value %u enters the gradient of %s twice", v,
                              plan_string(p, p->params[param].name));
        uint64_t i = p->values[v].def;
        const PlanInstr *in = &p->instrs[i];
        const OpInfo *o = &op_info[in->op];
        bool sum = in->op == OP_add, copy = in->op == OP_scale && in->attr.alpha == 1;
        bool grows = o->alias == ALIAS_ACC && in->n_in == o->in_max;
        if (in->op == OP_fill && in->attr.alpha == 0) continue;
        if (!sum && !copy && in->op != OP_reshape) status = match(s, pack, param, v);
        if (grows) s->stack[n++] = check_in(s->c, i, in->n_in - 1u);
        if (sum || copy || in->op == OP_reshape) s->stack[n++] = check_in(s->c, i, 0);
        if (sum) s->stack[n++] = check_in(s->c, i, 1);
    }
    return status;
}

static int check_pack(Sources *s, uint64_t i) {
    const Plan *p = s->c->p;
    const PlanInstr *in = &p->instrs[i];
    const PlanGroup *g = &p->groups[in->attr.group];
    int status = 0;
    for (uint32_t k = 0; !status && k < MIN(in->n_in, g->n_param); k++) {
        uint32_t param = p->group_params[g->first_param + k].param;
        if (s->loose[param]) continue;
        status = take_apart(s, i, param, check_in(s->c, i, k));
        for (uint32_t r = s->open[param]; !status && r; r = s->reader[r - 1].next)
            if (!s->reader[r - 1].found)
                status = check_fail(s->c, "4j", i,
                                    "the gradient of %s lacks what instruction %llu "
                                    "contributes",
                                    plan_string(p, p->params[param].name),
                                    (unsigned long long)s->reader[r - 1].instr);
    }
    return status;
}

static int check_instrs(Sources *s, const PlanProgram *pr) {
    const Plan *p = s->c->p;
    int status = 0;
    find_ways(s, pr);
    find_readers(s, pr);
    for (uint64_t i = pr->first_instr; !status && i < pr->first_instr + (uint64_t)pr->n_instr;
         i++) {
        status = check_read(s, i);
        if (!status && p->instrs[i].phase == PHASE_BACKWARD) status = check_reread(s, i);
        if (!status && p->instrs[i].op == OP_pack) status = check_pack(s, i);
    }
    return status;
}

int check_sources(Check *c, uint32_t program) {
    const Plan *p = c->p;
    Sources s = {.c = c};
    s.param = calloc(p->n_values + 1, sizeof *s.param);
    s.on_way = calloc(p->n_instrs + 1, 1);
    s.stack = calloc(p->n_operands + 2, sizeof *s.stack);
    s.seen = calloc(p->n_values + 1, 1);
    s.reader = calloc(p->n_operands + 1, sizeof *s.reader);
    s.first = calloc(p->n_params + 1, sizeof *s.first);
    s.open = calloc(p->n_params + 1, sizeof *s.open);
    s.loose = calloc(p->n_params + 1, 1);
    int status = EXIT_ENVIRONMENT;
    if (s.param && s.on_way && s.stack && s.seen && s.reader && s.first && s.open && s.loose)
        status = check_instrs(&s, &p->programs[program]);
    free(s.param);
    free(s.on_way);
    free(s.stack);
    free(s.seen);
    free(s.reader);
    free(s.first);
    free(s.open);
    free(s.loose);
    return status;
}
