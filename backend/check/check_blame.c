/* Finds the instruction because of which a pack's operand is not the gradient of its parameter.
 *
 * In: a pack's operand whose number is not that of the gradient. Out: one fault. The operand is
 * split into the leaves of its sum, and the gradient into the contributions of its readers. Equal
 * numbers cancel. The rest is paired by position in the model: a leaf in place of a contribution
 * that differs from it has another attribute, reads another operand, or reads a gradient that is
 * itself wrong; in the last case that gradient is split in the same way. Each round moves to an
 * earlier instruction, so the search ends. Only the wording of the message depends on this.
 */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "text.h"

typedef struct Use { /* what a reader of the target should contribute to its gradient */
    Contribution u;
    uint64_t number;
    bool found; /* the sum has it */
} Use;

typedef struct Leaf { /* a term of the sum */
    uint32_t value;
    bool found; /* some reader should contribute it */
} Leaf;

typedef struct Blame {
    Backward *s;
    uint64_t at; /* reads `sum` as the gradient of `target` */
    uint32_t sum;
    int64_t param;   /* the target is a parameter, or -1: */
    uint32_t target; /* a value of a Part */
    uint32_t *times; /* by value of a Part: how often its gradient is part of the target's */
    Use *use;
    Leaf *leaf;
    uint32_t n_use, n_leaf, room;
    bool shared; /* first of two visits */
} Blame;

/* The part that makes a value of a Part, and which of its results that is. */
static uint64_t made_by(const Check *c, uint32_t v, Part *out, uint32_t *result) {
    uint64_t i = check_instr_of(c, v);
    Part part[CHECK_PARTS];
    uint32_t n = check_parts(c, i, part);
    *out = part[0];
    *result = 0;
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t j = 0; j < part[k].n_out; j++)
            if (check_part_out(&part[k], j) == v) {
                *out = part[k];
                *result = j;
            }
    return i;
}

static void note_use(Backward *s, void *context, const Contribution *u) {
    Blame *b = context;
    uint32_t n = b->times[check_part_in(&u->part, u->operand)];
    bool shared = u->form->gradient == OP_COUNT && !check_is_summed(s, u);
    if (shared && b->shared) b->times[check_part_out(&u->part, 0)] += n;
    for (; n > 0 && !shared && !b->shared && b->n_use < b->room; n--)
        b->use[b->n_use++] = (Use){.u = *u, .number = check_contribution(s, u)};
}

static void find_uses(Blame *b) {
    Check *c = b->s->c;
    const PlanProgram *pr = b->s->program;
    memset(b->times, 0, check_room(c) * sizeof *b->times);
    if (b->param < 0) b->times[b->target] = 1;
    b->n_use = 0;
    for (uint64_t i = pr->first_instr; i < check_end(pr); i++) {
        if (b->s->param[i] && b->s->param[i] - 1 == b->param) b->times[check_out(c, i, 0)] = 1;
        if (b->s->param[i]) continue;
        b->shared = true;
        check_contributions(b->s, i, b, note_use);
        b->shared = false;
        check_contributions(b->s, i, b, note_use);
    }
}

/* The leaves of the sum; those from `n_leaf` on remain to be split. */
static void find_leaves(Blame *b) {
    const Check *c = b->s->c;
    uint32_t n = 1;
    b->n_leaf = 0;
    b->leaf[0] = (Leaf){.value = b->sum};
    while (b->n_leaf < n) {
        Part part;
        uint32_t result, v = b->leaf[b->n_leaf].value;
        uint64_t i = made_by(c, v, &part, &result);
        Attrs own = check_part_attrs(c, i, &part), *a = &own;
        bool sum = part.op == OP_add && check_same_shape(check_type(c, check_part_in(&part, 0)),
                                                         check_type(c, check_part_in(&part, 1)));
        bool earlier = part.n_in && check_instr_of(c, check_part_in(&part, 0)) <= i &&
                       check_instr_of(c, check_part_in(&part, part.n_in - 1)) <= i;
        if (part.op == OP_fill && a->alpha == 0) {
            b->leaf[b->n_leaf] = b->leaf[--n];
        } else if (earlier && (sum || check_is_copy(part.op, a))) {
            b->leaf[b->n_leaf].value = check_part_in(&part, 0);
            if (sum && n < b->room) b->leaf[n++] = (Leaf){.value = check_part_in(&part, 1)};
        } else {
            b->n_leaf++;
        }
    }
}

static void pair_off(Blame *b) {
    for (uint32_t k = 0; k < b->n_use; k++)
        for (uint32_t j = 0; j < b->n_leaf && !b->use[k].found; j++)
            if (!b->leaf[j].found && b->s->c->number[b->leaf[j].value] == b->use[k].number)
                b->leaf[j].found = b->use[k].found = true;
}

static bool same_place(const Check *c, uint64_t a, uint64_t b) {
    const PlanInstr *x = &c->p->instrs[a], *y = &c->p->instrs[b];
    return x->path == y->path && x->file == y->file && x->line == y->line && x->col == y->col &&
           x->end_line == y->end_line && x->end_col == y->end_col;
}

/* The op of the leaf in which a contribution ends. */
static uint16_t last_op(const Backward *s, const Contribution *u) {
    return check_is_summed(s, u) ? check_sum_op(s, u) : u->form->gradient;
}

/* Whether leaf j is in the place of contribution k. A fused op has the place of its first part. */
static bool stands_for(const Blame *b, uint32_t k, uint32_t j) {
    const Check *c = b->s->c;
    Part part;
    uint32_t result;
    uint64_t i = made_by(c, b->leaf[j].value, &part, &result);
    const Contribution *u = &b->use[k].u;
    if (part.op != last_op(b->s, u)) return false;
    if (part.op == u->form->gradient && result != check_gradient_result(u)) return false;
    return same_place(c, i, u->instr) || (part.n_in && check_part_in(&part, 0) >= c->p->n_values &&
                                          check_instr_of(c, check_part_in(&part, 0)) == i);
}

static const char *target_name(const Blame *b, char *room, size_t size) {
    const Plan *p = b->s->c->p;
    if (b->param >= 0)
        snprintf(room, size, "the gradient of %s", plan_string(p, p->params[b->param].name));
    else
        snprintf(room, size, "what it reads as the gradient of value %u", b->target);
    return room;
}

static void blame_leaf(const Blame *b, const Leaf *l) {
    char room[256];
    Part part;
    uint32_t result;
    uint64_t i = made_by(b->s->c, l->value, &part, &result);
    check_fail(
        b->s->c, "4i", b->at,
        "%s includes instruction %llu (%s), which is not the gradient of any op that reads it",
        target_name(b, room, sizeof room), (Llu)i, op_info[part.op].name);
}

static void blame_use(const Blame *b, const Use *u) {
    char room[256];
    check_fail(b->s->c, "4j", b->at,
               "%s lacks the term that comes from its reader, instruction %llu (%s)",
               target_name(b, room, sizeof room), (Llu)u->u.instr, op_info[u->u.part.op].name);
}

/* The first attribute that differs; ATTR_COUNT: none. */
static uint32_t other_attr(uint16_t op, const Attrs *a, const Attrs *b) {
    uint32_t bit = 0;
    while (bit < ATTR_COUNT &&
           !(check_counts(op, bit) && check_attr_word(a, bit) != check_attr_word(b, bit)))
        bit++;
    return bit;
}

static void attr_text(const Check *c, const Attrs *a, uint32_t bit, char *room, size_t size) {
    Buf text = {0};
    if (bit < ATTR_COUNT) text_field_print(&attr_fields[bit], a, &c->mesh, &text);
    snprintf(room, size, "%.*s", (int)text.n, text.n ? text.at : "");
    buf_free(&text);
}

static void blame_attr(const Blame *b, uint64_t i, const Attrs *found, const Use *u,
                       const Attrs *expected, uint32_t bit) {
    const Check *c = b->s->c;
    char room[2][64];
    attr_text(c, found, bit, room[0], sizeof room[0]);
    attr_text(c, expected, bit, room[1], sizeof room[1]);
    check_fail(b->s->c, "4n", i, "has %s, where the gradient of instruction %llu (%s) needs %s",
               room[0], (Llu)u->u.instr, op_info[u->u.part.op].name, room[1]);
}

/* Part `part` of instruction i should be the gradient op of a contribution, and is not. Returns
 * if it reads a gradient that is wrong, which must be examined next. */
static void compare_contribution(Blame *b, const Use *u, uint64_t i, const Part *part) {
    Check *c = b->s->c;
    const GradientForm *f = u->u.form;
    Attrs expected = check_gradient_attrs(c, &u->u), found = check_part_attrs(c, i, part);
    uint32_t bit = other_attr(part->op, &expected, &found), v;
    if (bit < ATTR_COUNT) blame_attr(b, i, &found, u, &expected, bit);
    uint32_t n = MIN(part->n_in, check_gradient_args(&u->u.part, f));
    for (uint32_t k = 0; k < n; k++) {
        if (!check_gradient_arg(&u->u.part, f, k, &v) &&
            c->number[v] != c->number[check_part_in(part, k)])
            check_fail(c, "4l", i,
                       "reads value %u as operand %u, where instruction %llu (%s) has value "
                       "%u",
                       check_part_in(part, k), k, (Llu)u->u.instr, op_info[u->u.part.op].name, v);
    }
    for (uint32_t k = 0; k < n; k++)
        if (check_gradient_arg(&u->u.part, f, k, &v) &&
            b->s->gradient[v] != c->number[check_part_in(part, k)]) {
            *b = (Blame){.s = b->s,
                         .at = i,
                         .sum = check_part_in(part, k),
                         .param = -1,
                         .target = v,
                         .times = b->times,
                         .use = b->use,
                         .leaf = b->leaf,
                         .room = b->room};
            return;
        }
    blame_use(b, u);
}

/* The leaf stands where the contribution of `u` should. Reports how they differ; or returns with
 * the wrong gradient that the leaf is made from in `b`, which must be examined next. */
static void compare_leaf(Blame *b, const Use *u, const Leaf *l) {
    const Check *c = b->s->c;
    Part part;
    uint32_t result, v = l->value;
    uint64_t i = made_by(c, v, &part, &result);
    const GradientForm *f = u->u.form;
    if (check_is_summed(b->s, &u->u)) {
        if (part.op != check_sum_op(b->s, &u->u)) blame_use(b, u);
        v = check_part_in(&part, 0);
        if (f->gradient == OP_COUNT) {
            b->at = i;
            b->sum = v;
            b->param = -1;
            b->target = check_part_out(&u->u.part, 0);
            if (b->s->gradient[b->target] == c->number[v]) blame_use(b, u);
            return;
        }
        i = made_by(c, v, &part, &result);
    }
    if (part.op != f->gradient) blame_use(b, u);
    compare_contribution(b, u, i, &part);
}

/* One round; where it returns, another sum is to be examined. */
static void blame_sum(Blame *b) {
    find_uses(b);
    find_leaves(b);
    pair_off(b);
    for (uint32_t k = 0; k < b->n_use; k++)
        for (uint32_t j = 0; j < b->n_leaf && !b->use[k].found; j++)
            if (!b->leaf[j].found && stands_for(b, k, j)) {
                compare_leaf(b, &b->use[k], &b->leaf[j]);
                return;
            }
    for (uint32_t k = 0; k < b->n_use; k++)
        if (!b->use[k].found) blame_use(b, &b->use[k]);
    for (uint32_t j = 0; j < b->n_leaf; j++)
        if (!b->leaf[j].found) blame_leaf(b, &b->leaf[j]);
    check_fail(b->s->c, "4i", b->at, "value %u is not the sum that the gradient must be", b->sum);
}

void check_blame(Backward *s, uint64_t pack, uint32_t param, uint32_t value) {
    const Plan *p = s->c->p;
    Blame b = {.s = s, .at = pack, .sum = value, .param = param};
    Arena *a = s->c->arena;
    b.room = (uint32_t)p->n_operands + 8;
    b.times = arena_alloc(a, check_room(s->c) * sizeof *b.times);
    b.use = arena_alloc(a, b.room * sizeof *b.use);
    b.leaf = arena_alloc(a, b.room * sizeof *b.leaf);
    for (;;) blame_sum(&b);
}
