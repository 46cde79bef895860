/* The formula of a `fused` instruction in mathematical notation: gate * sigmoid(gate) + 1.
 *
 * In: the steps (formula.h) and the names of operands and results. Out: the expression of the
 * result, or, if there are several parts, `NAME = expression; ..`. A step that is read once is
 * written in place; one that is read several times, and each result, is a part with a name.
 * Brackets are those that the order of evaluation requires: a + (b + c) rounds differently from a +
 * b + c. A step that is rounded to another dtype than the first result is wrapped in that dtype:
 * bf16(a * b).
 */
#include <string.h>

#include "dump.h"

typedef struct Writer {
    const PlanFormula *f;
    const FormulaStep *step;
    const char *name[FORMULA_OPERANDS + FORMULA_STEPS]; /* NULL: written in place */
    int dtype;
    Buf out;
} Writer;

/* How tightly an expression binds. */
enum { BINDS_COMPARISON = 1, BINDS_SUM, BINDS_PRODUCT, BINDS_SIGN, BINDS_POWER, BINDS_NAME };

/* Functions written between their arguments or before one; the others are {NULL} and print as
 * name(..). */
static const struct {
    const char *sign;
    int binds;
} operators[SCALAR_COUNT] = {
    [SCALAR_add] = {" + ", BINDS_SUM},
    [SCALAR_sub] = {" - ", BINDS_SUM},
    [SCALAR_mul] = {" * ", BINDS_PRODUCT},
    [SCALAR_div] = {" / ", BINDS_PRODUCT},
    [SCALAR_scale] = {" * ", BINDS_PRODUCT},
    [SCALAR_remainder] = {" % ", BINDS_PRODUCT},
    [SCALAR_power] = {" ** ", BINDS_POWER},
    [SCALAR_less] = {" < ", BINDS_COMPARISON},
    [SCALAR_less_equal] = {" <= ", BINDS_COMPARISON},
    [SCALAR_equal] = {" == ", BINDS_COMPARISON},
    [SCALAR_unequal] = {" != ", BINDS_COMPARISON},
};

static void put_value(Writer *w, uint32_t value, int binds);

static void put_number(Writer *w, double x) {
    char text[40];
    buf_printf(&w->out, "%s", double_text(x, text));
}

/* split(x, axis = 3)[1]; slice(x, axis = 3, start = 0, count = 32) */
static void put_move(Writer *w, const FormulaStep *s) {
    int words = scalar_move(s->function);
    if (words) buf_printf(&w->out, ", axis = %u", s->axis);
    if (words > 1 && s->function != SCALAR_split)
        buf_printf(&w->out, ", start = %u, count = %u", s->start, s->count);
    buf_printf(&w->out, ")");
    if (s->function == SCALAR_split) buf_printf(&w->out, "[%u]", s->start);
}

static void put_call(Writer *w, const FormulaStep *s) {
    Attrs a;
    bool move = scalar_move(s->function);
    buf_printf(&w->out, "%s(",
               move ? op_info[formula_step_op(s, &a)].name : scalar_name(s->function));
    for (int k = 0; k < scalar_arity(s->function); k++) {
        if (k) buf_printf(&w->out, ", ");
        put_value(w, s->arg[k], 0);
    }
    put_move(w, s);
}

/* An operand on the same level needs brackets on one side: on the left of a power, on the right of
 * all others. */
static void put_operator(Writer *w, const FormulaStep *s) {
    int binds = operators[s->function].binds, power = s->function == SCALAR_power;
    put_value(w, s->arg[0], binds + power);
    buf_printf(&w->out, "%s", operators[s->function].sign);
    if (s->function == SCALAR_scale)
        put_number(w, s->number);
    else
        put_value(w, s->arg[1], binds + !power);
}

static int step_binds(const Writer *w, const FormulaStep *s) {
    if (s->dtype != w->dtype) return BINDS_NAME;
    if (s->function == SCALAR_scale && s->number == -1) return BINDS_SIGN;
    if (s->function == SCALAR_constant) return s->number < 0 ? BINDS_SIGN : BINDS_NAME;
    return operators[s->function].sign ? operators[s->function].binds : BINDS_NAME;
}

/* The step's expression, even if it has a name. */
static void put_step(Writer *w, const FormulaStep *s, int binds) {
    bool brackets = step_binds(w, s) < binds, other = s->dtype != w->dtype;
    if (other) buf_printf(&w->out, "%s", dtype_name(s->dtype));
    if (brackets || other) buf_printf(&w->out, "(");
    if (s->function == SCALAR_constant) {
        put_number(w, s->number);
    } else if (s->function == SCALAR_expand) {
        put_value(w, s->arg[0], 0);
    } else if (s->function == SCALAR_scale && s->number == -1) {
        buf_printf(&w->out, "-");
        put_value(w, s->arg[0], BINDS_SIGN);
    } else if (operators[s->function].sign) {
        put_operator(w, s);
    } else {
        put_call(w, s);
    }
    if (brackets || other) buf_printf(&w->out, ")");
}

static void put_value(Writer *w, uint32_t value, int binds) {
    if (w->name[value])
        buf_printf(&w->out, "%s", w->name[value]);
    else
        put_step(w, &w->step[value - w->f->n_in], binds);
}

/* Names operands, results, and each step that is read several times: t0, t1. */
static uint32_t give_names(Writer *w, const View *v, const PlanInstr *in, const char *layer) {
    uint32_t reads[FORMULA_OPERANDS + FORMULA_STEPS] = {0}, parts = 0;
    const PlanFormula *f = w->f;
    for (uint32_t k = 0; k < f->n_in; k++)
        w->name[k] = view_short(v->name[v->p->operands[in->first_in + k]], layer, "");
    for (uint32_t k = 0; k < f->n_step; k++)
        for (int a = 0; a < scalar_arity(w->step[k].function); a++) reads[w->step[k].arg[a]]++;
    for (uint32_t k = 0; k < f->n_step; k++) {
        const FormulaStep *s = &w->step[k];
        const char **name = &w->name[f->n_in + k];
        if (s->result)
            *name = view_short(v->name[in->first_out + s->result - 1u], layer, "");
        else if (reads[f->n_in + k] > 1 && s->function != SCALAR_constant)
            *name = arena_printf(v->a, "t%u", k);
        parts += *name != NULL;
    }
    return parts;
}

const char *view_formula(const View *v, const PlanInstr *in, const char *layer) {
    if (in->op != OP_fused) return NULL;
    Writer w = {.f = &v->p->formulas[in->attr.index]};
    if (w.f->n_in != in->n_in || w.f->n_out != in->n_out) return NULL;
    w.step = v->p->steps + w.f->first_step;
    uint32_t parts = give_names(&w, v, in, layer);
    for (uint32_t k = 0; k < w.f->n_step; k++)
        if (w.step[k].result == 1) w.dtype = w.step[k].dtype;
    for (uint32_t k = 0; k < w.f->n_step; k++) {
        const char *name = w.name[w.f->n_in + k];
        if (!name) continue;
        if (w.out.n) buf_printf(&w.out, "; ");
        if (parts > 1) buf_printf(&w.out, "%s = ", name);
        put_step(&w, &w.step[k], 0);
    }
    return buf_text(v->a, &w.out);
}
