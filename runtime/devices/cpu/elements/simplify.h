/* Simplifies a formula to fewer steps with the same bits.
 *
 * Adding a negated value, or a product with a negated factor, becomes a subtraction; subtracting
 * one becomes an addition. x + 0, which the gradient of a slice has and which only turns -0 into 0,
 * moves behind the sum that reads it: (x + 0) + y becomes (x + y) + 0. Behind a sum of two products
 * it needs no step: the step of the sum is marked PLUS_ZERO.
 */
#ifndef FSDPC_CPU_SIMPLIFY_H
#define FSDPC_CPU_SIMPLIFY_H

#include "formula.h"

/* The value of field `pad` of a step to whose result 0 is added. */
enum { PLUS_ZERO = 1 };

/* A formula on its way, and how often each of its values is read. */
typedef struct Simplified {
    uint32_t n_in, n;
    FormulaStep *step;
    uint32_t reads[FORMULA_VALUES];
} Simplified;

static inline void count_reads(Simplified *f) {
    for (uint32_t v = 0; v < f->n_in + f->n; v++) f->reads[v] = 0;
    for (uint32_t k = f->n; k-- > 0;)
        for (int i = 0;
             (f->reads[f->n_in + k] || f->step[k].result) && i < scalar_arity(f->step[k].function);
             i++)
            f->reads[f->step[k].arg[i]]++;
}

static inline bool is_sum(const FormulaStep *s) {
    return s->function == SCALAR_add || s->function == SCALAR_sub;
}

/* The step that makes value v, or NULL; inner_step: only if v is not a result and is read once. */
static inline FormulaStep *step_of(const Simplified *f, uint8_t v) {
    return v < f->n_in ? NULL : &f->step[v - f->n_in];
}
static inline FormulaStep *inner_step(const Simplified *f, uint8_t v) {
    FormulaStep *of = step_of(f, v);
    return of && f->reads[v] == 1 && !of->result ? of : NULL;
}

/* The value of which v is the negative, or NO_VALUE. */
enum { NO_VALUE = 255 };
static inline uint8_t negated_value(const Simplified *f, uint8_t v) {
    const FormulaStep *of = step_of(f, v);
    bool is = of && of->function == SCALAR_scale && of->number == -1.0 && of->dtype == DT_F32;
    return is ? of->arg[0] : NO_VALUE;
}

/* If an argument of a sum or difference is a negated value, or a product with a negated factor,
 * puts the value without the sign in its place. */
static inline bool take_sign(const Simplified *f, uint8_t *arg) {
    FormulaStep *of = inner_step(f, *arg);
    bool product = of && of->function == SCALAR_mul;
    uint8_t *const places[] = {arg, product ? &of->arg[0] : arg, product ? &of->arg[1] : arg};
    for (int i = 0; i < 3; i++) {
        uint8_t value = negated_value(f, *places[i]);
        if (value == NO_VALUE) continue;
        *places[i] = value;
        return true;
    }
    return false;
}

/* Turns a sum of a negated argument into a difference, and a difference into a sum. */
static inline void take_signs(const Simplified *f, FormulaStep *s) {
    bool sum = s->function == SCALAR_add;
    if (!is_sum(s)) return;
    if (take_sign(f, &s->arg[1])) {
        s->function = sum ? SCALAR_sub : SCALAR_add;
    } else if (sum && take_sign(f, &s->arg[0])) {
        uint8_t positive = s->arg[1];
        s->arg[1] = s->arg[0];
        s->arg[0] = positive;
        s->function = SCALAR_sub;
    }
}

/* Does a step add the constant 0, not -0, in f32? */
static inline bool adds_zero(const Simplified *f, const FormulaStep *s) {
    const FormulaStep *of = s->function == SCALAR_add ? step_of(f, s->arg[1]) : NULL;
    return of && s->dtype == DT_F32 && of->function == SCALAR_constant && of->number == 0.0 &&
           !__builtin_signbit(of->number);
}

/* (x + 0) + y is (x + y) + 0, with all signs of zeros, and so is (x + 0) - y. */
static inline void take_zero_out(const Simplified *f, FormulaStep *s) {
    FormulaStep *inner = s->dtype == DT_F32 && is_sum(s) ? inner_step(f, s->arg[0]) : NULL;
    if (!inner || !adds_zero(f, inner) || s->arg[1] >= f->n_in + (inner - f->step)) return;
    uint8_t zero = inner->arg[1];
    inner->function = s->function;
    inner->arg[1] = s->arg[1];
    s->function = SCALAR_add;
    s->arg[1] = zero;
}

/* If step k adds 0 to a sum or difference of two products, marks that step instead. */
static inline void fold_zero(const Simplified *f, uint32_t k) {
    FormulaStep *s = &f->step[k], *of = adds_zero(f, s) ? inner_step(f, s->arg[0]) : NULL;
    uint8_t sum = s->arg[0];
    if (!of || !is_sum(of) || of->dtype != DT_F32 || of->pad) return;
    for (int i = 0; i < 2; i++) {
        const FormulaStep *product = inner_step(f, of->arg[i]);
        if (!product || product->function != SCALAR_mul) return;
    }
    of->pad = PLUS_ZERO;
    of->result = s->result;
    s->result = 0;
    for (uint32_t j = k + 1; j < f->n; j++)
        for (int i = 0; i < scalar_arity(f->step[j].function); i++)
            if (f->step[j].arg[i] == f->n_in + k) f->step[j].arg[i] = sum;
}

/* Removes steps that nothing reads, and renumbers the others. */
static inline void drop_unread(Simplified *f) {
    uint8_t place[FORMULA_VALUES];
    uint32_t n = 0;
    for (uint32_t k = 0; k < f->n; k++) {
        FormulaStep s = f->step[k];
        if (!f->reads[f->n_in + k] && !s.result) continue;
        for (int i = 0; i < scalar_arity(s.function); i++)
            if (s.arg[i] >= f->n_in) s.arg[i] = (uint8_t)(f->n_in + place[s.arg[i] - f->n_in]);
        place[k] = (uint8_t)n;
        f->step[n++] = s;
    }
    f->n = n;
}

/* Writes the simplified steps to `out`. Returns how many there are. */
static inline uint32_t simplify_steps(uint32_t n_in, uint32_t n_step, const FormulaStep *step,
                                      FormulaStep *out) {
    Simplified f = {.n_in = n_in, .n = n_step, .step = out};
    for (uint32_t k = 0; k < n_step; k++) out[k] = step[k];
    count_reads(&f);
    for (uint32_t k = 0; k < n_step; k++) take_signs(&f, &out[k]);
    count_reads(&f);
    for (uint32_t k = 0; k < n_step; k++) take_zero_out(&f, &out[k]);
    count_reads(&f);
    for (uint32_t k = 0; k < n_step; k++) fold_zero(&f, k);
    count_reads(&f);
    drop_unread(&f);
    return f.n;
}

#endif
