/* The contributions of a forward op to the gradients of its operands: the rows of
 * check_backward.def, as numbers of values (check_terms.c). check_backward.c adds them up;
 * check_blame.c asks for them again one by one.
 */
#include "check.h"

enum { EXACT, BROADCAST };
enum { G0 = 0, I0 = 16, O0 = 32, REST0 = 64, FROM0 = 128, UPTO0 = 192, EACH = 255 };
#define G(k) (G0 + (k))
#define I(k) (I0 + (k))
#define O(k) (O0 + (k))
#define REST(k) (REST0 + (k))
#define FROM(k) (FROM0 + (k))
#define UPTO(k) (UPTO0 + (k))
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

void check_index_forms(Backward *s) {
    for (uint32_t k = ARRAY_LEN(forms); k-- > 0;) {
        s->first_form[forms[k].forward] = (uint8_t)k;
        s->n_forms[forms[k].forward]++;
    }
}

/* Is the row, with that operand, about operand k? */
static bool is_about(uint8_t operand, uint32_t k) {
    if (operand == EACH) return true;
    if (operand >= UPTO0) return k < (uint32_t)operand - UPTO0;
    return operand < FROM0 ? operand == k : k >= (uint32_t)operand - FROM0;
}

const GradientForm *check_form(const Backward *s, uint16_t op, uint32_t k) {
    const GradientForm *f = &forms[s->first_form[op]];
    for (uint32_t n = s->n_forms[op]; n > 0; n--, f++)
        if (is_about(f->operand, k)) return f;
    return NULL;
}

bool check_gradient_arg(const Part *part, const GradientForm *f, uint32_t k, uint32_t *value) {
    uint8_t arg = f->arg[0] == EACH ? (uint8_t)G(0) : f->arg[MIN(k, f->n_arg - 1u)];
    if (f->arg[0] == EACH)
        *value = check_part_out(part, k);
    else if (arg >= REST0)
        *value = check_part_in(part, arg - REST0 + k - (f->n_arg - 1u));
    else if (arg >= O0)
        *value = check_part_out(part, arg - O0);
    else
        *value = arg >= I0 ? check_part_in(part, arg - I0) : check_part_out(part, arg - G0);
    return arg < I0;
}

Attrs check_gradient_attrs(const Check *c, const Contribution *u) {
    const GradientForm *f = u->form;
    Attrs a = check_part_attrs(c, u->instr, &u->part);
    for (uint32_t k = 0; f->forward == OP_concat && k <= u->operand; k++) {
        a.start += a.count;
        a.count = check_type(c, check_part_in(&u->part, k))->dim[a.axis];
    }
    a.exponent = c->p->settings->loss_exponent;
    if (u->form->alpha != 0) a.alpha = u->form->alpha;
    return a;
}

uint32_t check_gradient_args(const Part *part, const GradientForm *f) {
    uint8_t last = f->n_arg ? f->arg[f->n_arg - 1] : 0;
    if (last == EACH) return part->n_out;
    return last < REST0 ? f->n_arg : f->n_arg - 1u + part->n_in - (uint32_t)(last - REST0);
}

uint32_t check_gradient_result(const Contribution *u) {
    uint32_t first = 0;
    if (u->form->operand >= FROM0 && u->form->operand < UPTO0)
        first = (uint32_t)(u->form->operand - FROM0);
    return u->form->result == EACH ? u->operand - first : u->form->result;
}

/* The result whose gradient a SHARED row passes on. */
static uint32_t shared_result(const Contribution *u) {
    bool each = u->form->gradient == OP_COUNT && u->form->operand == EACH;
    return check_part_out(&u->part, each ? u->operand : 0);
}

bool check_is_summed(const Backward *s, const Contribution *u) {
    const Type *to = check_type(s->c, check_part_in(&u->part, u->operand));
    return u->form->broadcast && !check_same_shape(to, check_type(s->c, shared_result(u)));
}

uint16_t check_sum_op(const Backward *s, const Contribution *u) {
    const Type *to = check_type(s->c, check_part_in(&u->part, u->operand));
    return type_is_suffix(to, check_type(s->c, check_part_out(&u->part, 0))) ? OP_sum_leading
                                                                             : OP_sum_to;
}

uint64_t check_contribution(const Backward *s, const Contribution *u) {
    Check *c = s->c;
    const GradientForm *f = u->form;
    const Type *to = check_type(c, check_part_in(&u->part, u->operand));
    const Type *from = check_type(c, check_part_out(&u->part, 0));
    bool summed = check_is_summed(s, u);
    uint64_t number = s->gradient[shared_result(u)];
    if (f->gradient != OP_COUNT) {
        Attrs a = check_gradient_attrs(c, u);
        uint32_t n = check_gradient_args(&u->part, f), v;
        for (uint32_t k = 0; k < n; k++)
            c->terms[k] = check_gradient_arg(&u->part, f, k, &v) ? s->gradient[v] : c->number[v];
        number = check_term(c, f->gradient, &a, check_gradient_result(u), summed ? from : to, n,
                            c->terms);
    }
    return summed ? check_term(c, check_sum_op(s, u), &(Attrs){0}, 0, to, 1, &number) : number;
}

/* Whether a gradient arrives at a result of the part. */
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
            u.form = check_form(s, u.part.op, u.operand);
            bool wanted = u.form && s->wanted[check_part_in(&u.part, u.operand)];
            bool passes = wanted && (u.form->gradient != OP_COUNT || s->reached[shared_result(&u)]);
            if (passes || (wanted && check_is_loss(u.part.op))) visit(s, context, &u);
        }
    }
}
