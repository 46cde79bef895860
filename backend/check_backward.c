/* Proof 4, inside a program: what is packed as the gradient of a parameter is the gradient of the
 * loss by that parameter.
 *
 * In: the numbers of the program's values (check_terms.c). The gradients of check_backward.def are
 * added up from the loss backwards, as numbers: for each op on the way from a trained parameter to
 * the loss, what it contributes to the gradient of each operand. What belongs to forward follows
 * from the data alone: whatever the loss depends on. Then each operand of a pack must have the
 * number that its parameter's gradient has, so nothing is left out of it, counted twice, computed
 * from other operands, or with other attributes than forward has. Whether forward is the model is
 * not asked here, only whether programs agree about it (check_gradients.c).
 *
 *   4i  a gradient takes in something that none of its readers contributes
 *   4j  a gradient lacks what one of its readers contributes
 *   4l  an op of backward reads something else than its forward op does
 *   4n  an op of backward has another attribute than its forward op
 * Which of them it is, and where, check_blame.c finds out for the first pack that is wrong.
 */
#include <stdlib.h>

#include "check.h"

enum { EXACT, BROADCAST };
enum { G0 = 0, I0 = 16, O0 = 32, EACH = 255 };
#define G(k) (G0 + (k))
#define I(k) (I0 + (k))
#define O(k) (O0 + (k))
#define ARGS(...) .n_arg = sizeof((uint8_t[]){__VA_ARGS__}), .arg = {__VA_ARGS__}
#define GRADIENT(forward_op, at, shape, gradient_op, of, factor, ...)                              \
    {.forward = OP_##forward_op,                                                                   \
     .operand = at,                                                                                \
     .broadcast = shape,                                                                           \
     .gradient = OP_##gradient_op,                                                                 \
     .result = of,                                                                                 \
     .alpha = factor,                                                                              \
     ARGS(__VA_ARGS__)},
#define SHARED(forward_op, at, shape)                                                              \
    {.forward = OP_##forward_op, .operand = at, .broadcast = shape, .gradient = OP_COUNT},
static const GradientForm forms[] = {
#include "check_backward.def"
};

static void index_forms(Backward *s) {
    for (uint32_t k = ARRAY_LEN(forms); k-- > 0;) {
        s->first_form[forms[k].forward] = (uint8_t)k;
        s->n_forms[forms[k].forward]++;
    }
}

/* The contributions of a part to operand k; NULL: none flows there. */
static const GradientForm *form_of(const Backward *s, uint16_t op, uint32_t k) {
    const GradientForm *f = &forms[s->first_form[op]];
    for (uint32_t n = s->n_forms[op]; n > 0; n--, f++)
        if (f->operand == k || f->operand == EACH) return f;
    return NULL;
}

bool check_gradient_arg(const Part *part, const GradientForm *f, uint32_t k, uint32_t *value) {
    uint8_t arg = f->arg[0] == EACH ? (uint8_t)G(0) : f->arg[k];
    if (f->arg[0] == EACH)
        *value = check_part_out(part, k);
    else if (arg >= O0)
        *value = check_part_out(part, arg - O0);
    else
        *value = arg >= I0 ? check_part_in(part, arg - I0) : check_part_out(part, arg - G0);
    return arg < I0;
}

Attrs check_gradient_attrs(const Check *c, uint64_t i, const GradientForm *f) {
    Attrs a = c->p->instrs[i].attr;
    a.exponent = c->p->settings->loss_exponent;
    if (f->alpha != 0) a.alpha = f->alpha;
    return a;
}

uint32_t check_gradient_args(const Part *part, const GradientForm *f) {
    return f->n_arg && f->arg[0] == EACH ? part->n_out : f->n_arg;
}

uint32_t check_gradient_result(const Contribution *u) {
    return u->form->result == EACH ? u->operand : u->form->result;
}

bool check_is_summed(const Backward *s, const Contribution *u) {
    const Type *to = check_type(s->c, check_part_in(&u->part, u->operand));
    return u->form->broadcast &&
           !check_same_shape(to, check_type(s->c, check_part_out(&u->part, 0)));
}

uint64_t check_contribution(const Backward *s, const Contribution *u) {
    Check *c = s->c;
    const GradientForm *f = u->form;
    const Type *to = check_type(c, check_part_in(&u->part, u->operand));
    const Type *from = check_type(c, check_part_out(&u->part, 0));
    bool summed = check_is_summed(s, u);
    uint64_t number = s->gradient[check_part_out(&u->part, 0)];
    if (f->gradient != OP_COUNT) {
        Attrs a = check_gradient_attrs(c, u->instr, f);
        uint32_t n = check_gradient_args(&u->part, f), v;
        for (uint32_t k = 0; k < n; k++)
            c->terms[k] = check_gradient_arg(&u->part, f, k, &v) ? s->gradient[v] : c->number[v];
        number =
            check_term(f->gradient, &a, check_gradient_result(u), summed ? from : to, n, c->terms);
    }
    return summed ? check_term(OP_sum_leading, &(Attrs){0}, 0, to, 1, &number) : number;
}

/* Does a gradient arrive at a result of the part? */
static bool arrives(const Backward *s, const Part *part) {
    for (uint32_t k = 0; k < part->n_out; k++) {
        uint32_t v = check_part_out(part, k);
        if (s->reached[v] && s->wanted[v]) return true;
    }
    return check_is_loss(part->op);
}

void check_contributions(Backward *s, uint64_t i, void *context,
                         void (*visit)(Backward *, void *context, const Contribution *)) {
    Contribution u = {.instr = i};
    Part part[CHECK_PARTS];
    for (uint32_t n = check_parts(s->c, i, part); n-- > 0;) {
        if (!arrives(s, &part[n])) continue;
        u.part = part[n];
        for (u.operand = 0; u.operand < u.part.n_in; u.operand++) {
            u.form = form_of(s, u.part.op, u.operand);
            if (u.form && s->wanted[check_part_in(&u.part, u.operand)]) visit(s, context, &u);
        }
    }
}

static void add_contribution(Backward *s, void *context, const Contribution *u) {
    (void)context;
    uint32_t v = check_part_in(&u->part, u->operand);
    s->c->result->contributions += v < s->c->p->n_values && s->param[s->c->p->values[v].def] > 0;
    s->reached[v] = 1;
    s->gradient[v] += check_contribution(s, u);
}

/* What a trained parameter reaches through ops that have a gradient. */
static void find_wanted(Backward *s, uint64_t i) {
    const Check *c = s->c;
    Part part[CHECK_PARTS];
    if (s->param[i]) {
        s->wanted[check_out(c, i, 0)] = !(c->p->params[s->param[i] - 1].flags & PARAM_FROZEN);
        return;
    }
    uint32_t n = check_parts(c, i, part);
    for (uint32_t k = 0; k < n; k++) {
        bool any = false;
        for (uint32_t j = 0; j < part[k].n_in && s->n_forms[part[k].op]; j++)
            any |= s->wanted[check_part_in(&part[k], j)] && form_of(s, part[k].op, j);
        for (uint32_t j = 0; any && j < part[k].n_out; j++)
            s->wanted[check_part_out(&part[k], j)] = 1;
    }
}

/* Programs are long and results come after operands (rule 1), so two walks do. */
static void add_up(Backward *s, const PlanProgram *pr) {
    const Plan *p = s->c->p;
    uint64_t end = pr->first_instr + (uint64_t)pr->n_instr;
    for (uint64_t i = pr->first_instr; i < end; i++) {
        if (p->instrs[i].op == OP_view) s->param[i] = (uint32_t)(check_view_param(s->c, i) + 1);
        find_wanted(s, i);
    }
    for (uint64_t i = end; i-- > pr->first_instr;) {
        if (s->param[i])
            s->of_param[s->param[i] - 1] += s->gradient[check_out(s->c, i, 0)];
        else
            check_contributions(s, i, NULL, add_contribution);
    }
}

static int check_pack(Backward *s, uint64_t i) {
    const Plan *p = s->c->p;
    const PlanInstr *in = &p->instrs[i];
    const PlanGroup *g = &p->groups[in->attr.group];
    for (uint32_t k = 0; k < MIN(in->n_in, g->n_param); k++) {
        uint32_t param = p->group_params[g->first_param + k].param;
        if (s->c->number[check_in(s->c, i, k)] != s->of_param[param])
            return check_blame(s, i, param, check_in(s->c, i, k));
    }
    return 0;
}

static bool has_backward(const Plan *p, const PlanProgram *pr) {
    for (uint64_t i = pr->first_instr; i < pr->first_instr + (uint64_t)pr->n_instr; i++)
        if (p->instrs[i].op == OP_pack) return true;
    return false;
}

int check_backward(Check *c, uint32_t program) {
    const Plan *p = c->p;
    const PlanProgram *pr = &p->programs[program];
    if (!has_backward(p, pr)) return 0;
    Backward s = {.c = c, .program = pr};
    uint64_t values = p->n_values + p->n_instrs + 1;
    s.param = calloc(p->n_instrs + 1, sizeof *s.param);
    s.wanted = calloc(values, 1);
    s.reached = calloc(values, 1);
    s.gradient = calloc(values, sizeof *s.gradient);
    s.of_param = calloc(p->n_params + 1, sizeof *s.of_param);
    int status = EXIT_ENVIRONMENT;
    if (s.param && s.wanted && s.reached && s.gradient && s.of_param) {
        status = 0;
        c->result->parameters = 0;
        for (uint32_t k = 0; k < p->n_params; k++)
            c->result->parameters += !(p->params[k].flags & PARAM_FROZEN);
        index_forms(&s);
        add_up(&s, pr);
    }
    for (uint64_t i = pr->first_instr; !status && i < pr->first_instr + (uint64_t)pr->n_instr; i++)
        if (p->instrs[i].op == OP_pack) status = check_pack(&s, i);
    free(s.param);
    free(s.wanted);
    free(s.reached);
    free(s.gradient);
    free(s.of_param);
    return status;
}
