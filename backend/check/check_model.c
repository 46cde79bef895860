/* Proof 8: the plan computes the model.
 *
 * The plan contains the graph that the frontend made (nodes). Each of its values gets a number as
 * in check_terms.c, and so does each value of the plan (Check.of_model). A cast counts unless it
 * casts a parameter: rounding in between makes another value. Proof 4 has found the value with
 * which the sum of each loss and metric begins; here its number must be that of the value to which
 * the model sets the state. So operands, attributes, parameters, fields, masks and seeds are those
 * of the model, in training and in evaluation, and by proof 4 so are the gradients.
 *
 * Faults:
 *   8a  a loss or metric is computed differently from the model
 *   8b  the model has a loss or metric that the plan does not compute, or the plan has an
 *       additional one; or a step computes what the model assigns to the evaluation, or the other
 *       way round
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "text.h"

typedef struct ModelMeaning {
    Check *c;
    uint64_t *model; /* by value of the model */
    uint32_t *maker; /* by value of the model: its node */
} ModelMeaning;

/* ---- the model */

static Type node_type(const Plan *p, const PlanNode *n) {
    Type t = {.dtype = DT_F32, .rank = (uint8_t)n->rank};
    const uint64_t *size = &p->node_words[n->first_word + n->n_word - n->rank];
    memcpy(t.dim, size, n->rank * sizeof *size);
    return t;
}

static void number_node(ModelMeaning *m, uint32_t i) {
    const Plan *p = m->c->p;
    const PlanNode *n = &p->nodes[i];
    Attrs a = plan_node_attrs(p, n);
    Type t = node_type(p, n);
    uint64_t *in = m->c->terms;
    for (uint32_t k = 0; k < n->n_in; k++) in[k] = m->model[p->node_operands[n->first_in + k]];
    for (uint32_t k = 0; k < n->n_out; k++) {
        m->maker[n->first_out + k] = i;
        m->model[n->first_out + k] = n->op == OP_param
                                         ? check_param_term(m->c, (uint32_t)a.index)
                                         : check_term(m->c, n->op, &a, k, &t, n->n_in, in);
    }
}

/* ---- describing a difference */

static void put_node_name(const Plan *p, const PlanNode *n, Buf *out) {
    const char *path = plan_string(p, n->path);
    if (n->op == OP_param)
        buf_printf(out, "%s", plan_string(p, p->params[p->node_words[n->first_word]].name));
    else if (n->op == OP_field)
        buf_printf(out, "%s", plan_string(p, p->fields[p->node_words[n->first_word]].name));
    else
        buf_printf(out, "%s%s%s", path, *path ? "." : "", op_info[n->op].name);
}

static void put_node(const ModelMeaning *m, const PlanNode *n, Buf *out) {
    const Plan *p = m->c->p;
    Attrs a = plan_node_attrs(p, n);
    buf_printf(out, "%s(", op_info[n->op].name);
    for (uint32_t k = 0; k < n->n_in; k++) {
        if (k) buf_printf(out, ", ");
        put_node_name(p, &p->nodes[m->maker[p->node_operands[n->first_in + k]]], out);
    }
    buf_printf(out, ")");
    text_attrs_print(n->op, &a, &m->c->mesh, out);
}

/* The first node with that number, or NULL. */
static const PlanNode *node_of(const ModelMeaning *m, const PlanModelProgram *q, uint64_t number) {
    const Plan *p = m->c->p;
    for (uint32_t i = q->first_node; i < q->first_node + q->n_node; i++)
        for (uint32_t k = 0; k < p->nodes[i].n_out; k++)
            if (m->model[p->nodes[i].first_out + k] == number) return &p->nodes[i];
    return NULL;
}

static void put_part(const ModelMeaning *m, const PlanModelProgram *q, const Part *part,
                     uint64_t instr, Buf *out) {
    const Plan *p = m->c->p;
    Attrs a = check_part_attrs(m->c, instr, part);
    buf_printf(out, "%s(", op_info[part->op].name);
    for (uint32_t k = 0; k < part->n_in; k++) {
        uint32_t v = check_part_in(part, k);
        const PlanNode *n = node_of(m, q, m->c->of_model[v]);
        const PlanInstr *def = &p->instrs[check_instr_of(m->c, v)];
        if (k) buf_printf(out, ", ");
        if (n)
            put_node_name(p, n, out);
        else
            buf_printf(out, "%s.%s", plan_string(p, def->path), op_info[def->op].name);
    }
    buf_printf(out, ")");
    text_attrs_print(part->op, &a, &m->c->mesh, out);
}

static int ascending(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The numbers of the values of a program, ascending. */
static uint64_t *numbers_of(const ModelMeaning *m, uint32_t program, size_t *n) {
    const Plan *p = m->c->p;
    const PlanProgram *pr = &p->programs[program];
    uint64_t *all;
    all = arena_alloc(m->c->arena,
                      ((size_t)pr->n_instr * CHECK_PARTS * 2 + p->n_values) * sizeof *all);
    *n = 0;
    for (uint64_t i = pr->first_instr; i < check_end(pr); i++) {
        Part part[CHECK_PARTS];
        uint32_t parts = check_parts(m->c, i, part);
        for (uint32_t k = 0; k < parts; k++) {
            for (uint32_t j = 0; j < part[k].n_out; j++)
                all[(*n)++] = m->c->of_model[check_part_out(&part[k], j)];
            if (part[k].op != OP_attention_packed) continue;
            check_packed_terms(m->c, &part[k], &all[*n]);
            *n += 3;
        }
    }
    qsort(all, *n, sizeof *all, ascending);
    return all;
}

/* The first node on which node `last` depends and which the plan does not compute. */
static const PlanNode *first_other(const ModelMeaning *m, const PlanModelProgram *q, uint32_t last,
                                   const uint64_t *all, size_t n) {
    const Plan *p = m->c->p;
    bool *needed = arena_array(m->c->arena, bool, q->n_node + 1);
    const PlanNode *other = &p->nodes[last];
    needed[last - q->first_node] = true;
    for (uint32_t i = last + 1; i-- > q->first_node;) {
        const PlanNode *node = &p->nodes[i];
        if (!needed[i - q->first_node]) continue;
        if (node->n_out && !bsearch(&m->model[node->first_out], all, n, sizeof *all, ascending))
            other = node;
        for (uint32_t k = 0; k < node->n_in; k++)
            needed[m->maker[p->node_operands[node->first_in + k]] - q->first_node] = true;
    }
    return other;
}

/* How similar a part is to a node: 0 if it is another op, or one that occurs in the model. */
static int likeness(const ModelMeaning *m, const PlanNode *n, uint64_t instr, const Part *part) {
    const Plan *p = m->c->p;
    const PlanInstr *in = &p->instrs[instr];
    bool packed = part->op == OP_attention_packed && n->op == OP_attention;
    if (part->op != n->op && !packed) return 0;
    int same = 1 + (in->path == n->path) + (in->file == n->file && in->line == n->line);
    for (uint32_t k = 0; k < MIN(n->n_in, part->n_in); k++)
        same +=
            m->c->of_model[check_part_in(part, k)] == m->model[p->node_operands[n->first_in + k]];
    return same;
}

/* The part of the program that most likely stands for the node. */
static uint64_t counterpart(const ModelMeaning *m, const PlanNode *n, uint32_t program,
                            Part *found) {
    const PlanProgram *pr = &m->c->p->programs[program];
    uint64_t at = NO_INSTR;
    int most = 1;
    for (uint64_t i = pr->first_instr; i < check_end(pr); i++) {
        Part part[CHECK_PARTS];
        uint32_t parts = check_parts(m->c, i, part);
        for (uint32_t k = 0; k < parts; k++) {
            int same = likeness(m, n, i, &part[k]);
            if (same <= most) continue;
            most = same;
            *found = part[k];
            at = i;
        }
    }
    return at;
}

static void tell_other(const ModelMeaning *m, const PlanModelProgram *q, const PlanNode *setter,
                       const char *state, uint32_t value) {
    Check *c = m->c;
    const Plan *p = c->p;
    uint32_t program = c->program[p->values[value].def];
    size_t n;
    uint64_t *all = numbers_of(m, program, &n);
    uint32_t last = m->maker[p->node_operands[setter->first_in]];
    const PlanNode *other = first_other(m, q, last, all, n);
    Part part;
    uint64_t at = counterpart(m, other, program, &part);
    Buf want = {0}, got = {0};
    put_node(m, other, &want);
    if (at != NO_INSTR) put_part(m, q, &part, at, &got);
    const char *path = plan_string(p, other->path);
    const char *says = buf_text(c->arena, &want), *where = *path ? path : "the root module";
    if (at == NO_INSTR)
        check_fail(c, "8a", p->values[value].def,
                   "%s: the model says %s in %s, line %u, which nothing computes", state, says,
                   where, other->line);
    check_fail(c, "8a", at, "%s: computes %s; the model says %s in %s, line %u", state,
               buf_text(c->arena, &got), says, where, other->line);
}

/* ---- losses and metrics */

static void check_term_of(ModelMeaning *m, const PlanModelProgram *q, const PlanNode *n,
                          bool *stated) {
    Check *c = m->c;
    const Plan *p = c->p;
    uint64_t row = p->node_words[n->first_word];
    const char *name = plan_string(p, p->states[row].name);
    stated[row] = true;
    if (!c->first_term_of_state[row])
        check_fail(c, "8b", NO_INSTR, "no program computes %s of the model", name);
    uint32_t value = c->first_term_of_state[row] - 1;
    PlanCallKind calls = q->kind == PROGRAM_EVAL ? PLAN_EVALUATION : PLAN_STEP;
    if (c->written[row] != 1u << calls)
        check_fail(c, "8b", p->values[value].def,
                   calls == PLAN_STEP ? "%s belongs to a step, but an evaluation computes it"
                                      : "%s belongs to an evaluation, but a step computes it",
                   name);
    c->result->terms++;
    if (m->c->of_model[value] == m->model[p->node_operands[n->first_in]]) return;
    tell_other(m, q, n, name, value);
}

static void compare_losses(ModelMeaning *m, bool *stated) {
    Check *c = m->c;
    const Plan *p = c->p;
    for (uint64_t k = 0; k < p->n_model_programs; k++) {
        const PlanModelProgram *q = &p->model_programs[k];
        for (uint32_t i = q->first_node; i < q->first_node + q->n_node; i++) {
            if (p->nodes[i].op == OP_set_state)
                check_term_of(m, q, &p->nodes[i], stated);
            else
                number_node(m, i);
        }
    }
    c->result->nodes = p->n_nodes;
    for (uint64_t k = 0; k < p->n_states; k++)
        if (c->first_term_of_state[k] && !stated[k])
            check_fail(c, "8b", p->values[c->first_term_of_state[k] - 1].def, "the model has no %s",
                       plan_string(p, p->states[k].name));
}

static uint64_t model_values(const Plan *p) {
    return p->n_nodes
               ? p->nodes[p->n_nodes - 1].first_out + (uint64_t)p->nodes[p->n_nodes - 1].n_out
               : 0;
}

void check_model(Check *c) {
    const Plan *p = c->p;
    uint64_t values = model_values(p) + 1;
    ModelMeaning m = {.c = c};
    Arena *a = c->arena;
    m.model = arena_alloc(a, values * sizeof *m.model);
    m.maker = arena_alloc(a, values * sizeof *m.maker);
    bool *stated = arena_alloc(a, (p->n_states + 1) * sizeof *stated);
    compare_losses(&m, stated);
}
