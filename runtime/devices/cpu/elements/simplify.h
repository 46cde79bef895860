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

/* The value that argument i of a step is the negative of, or NO_VALUE. */
enum { NO_VALUE = 255 };
static inline uint8_t negated_value(uint32_t n_in, const FormulaStep *all, const FormulaStep *s,
                                    int i) {
    if (s->arg[i] < n_in) return NO_VALUE;
    const FormulaStep *of = &all[s->arg[i] - n_in];
    bool is = of->function == SCALAR_scale && of->number == -1.0 && of->dtype == DT_F32;
    return is ? of->arg[0] : NO_VALUE;
}

/* If argument i of a sum or difference is a negated value, or a product with a negated factor, puts
 * the value without the sign in its place. */
static inline bool take_sign(uint32_t n_in, FormulaStep *all, const uint32_t *reads, FormulaStep *s,
                             int i) {
    uint8_t value = negated_value(n_in, all, s, i);
    if (value != NO_VALUE) {
        s->arg[i] = value;
        return true;
    }
    if (s->arg[i] < n_in || reads[s->arg[i]] != 1) return false;
    FormulaStep *of = &all[s->arg[i] - n_in];
    if (of->function != SCALAR_mul || of->result) return false;
    for (int j = 0; j < 2; j++) {
        value = negated_value(n_in, all, of, j);
        if (value == NO_VALUE) continue;
        of->arg[j] = value;
        return true;
    }
    return false;
}

static inline void count_reads(uint32_t n_in, uint32_t n_step, const FormulaStep *step,
                               uint32_t *reads) {
    for (uint32_t v = 0; v < n_in + n_step; v++) reads[v] = 0;
    for (uint32_t k = n_step; k-- > 0;)
        for (int i = 0; (reads[n_in + k] || step[k].result) && i < scalar_arity(step[k].function);
             i++)
            reads[step[k].arg[i]]++;
}

/* Is value v the constant 0, not -0? */
static inline bool is_zero(uint32_t n_in, const FormulaStep *all, uint8_t v) {
    if (v < n_in || all[v - n_in].function != SCALAR_constant) return false;
    return all[v - n_in].number == 0.0 && !__builtin_signbit(all[v - n_in].number);
}

/* The step of argument i of step s, if that step is x + 0 and only s reads it; else NULL. */
static inline FormulaStep *plus_zero(uint32_t n_in, FormulaStep *all, const uint32_t *reads,
                                     const FormulaStep *s, int i) {
    if (s->arg[i] < n_in || reads[s->arg[i]] != 1) return NULL;
    FormulaStep *of = &all[s->arg[i] - n_in];
    bool is = of->function == SCALAR_add && of->dtype == DT_F32 && !of->result &&
              is_zero(n_in, all, of->arg[1]);
    return is ? of : NULL;
}

/* (x + 0) + y is (x + y) + 0, with all signs of zeros, and so is (x + 0) - y. */
static inline void take_zero_out(uint32_t n_in, FormulaStep *all, const uint32_t *reads,
                                 FormulaStep *s) {
    if (s->dtype != DT_F32 || (s->function != SCALAR_add && s->function != SCALAR_sub)) return;
    FormulaStep *inner = plus_zero(n_in, all, reads, s, 0);
    if (!inner || s->arg[1] >= n_in + (inner - all)) return;
    uint8_t zero = inner->arg[1];
    inner->function = s->function;
    inner->arg[1] = s->arg[1];
    s->function = SCALAR_add;
    s->arg[1] = zero;
}

static inline bool is_product(uint32_t n_in, const FormulaStep *all, const uint32_t *reads,
                              uint8_t v) {
    return v >= n_in && all[v - n_in].function == SCALAR_mul && reads[v] == 1 &&
           !all[v - n_in].result;
}

/* If step k adds 0 to a sum or difference of two products, marks that step instead. */
static inline void fold_zero(uint32_t n_in, uint32_t n_step, FormulaStep *all,
                             const uint32_t *reads, uint32_t k) {
    FormulaStep *s = &all[k];
    uint8_t sum = s->arg[0];
    if (s->function != SCALAR_add || s->dtype != DT_F32 || !is_zero(n_in, all, s->arg[1]) ||
        sum < n_in || reads[sum] != 1)
        return;
    FormulaStep *of = &all[sum - n_in];
    if ((of->function != SCALAR_add && of->function != SCALAR_sub) || of->dtype != DT_F32 ||
        of->result || of->pad || !is_product(n_in, all, reads, of->arg[0]) ||
        !is_product(n_in, all, reads, of->arg[1]))
        return;
    of->pad = PLUS_ZERO;
    of->result = s->result;
    s->result = 0;
    for (uint32_t j = k + 1; j < n_step; j++)
        for (int i = 0; i < scalar_arity(all[j].function); i++)
            if (all[j].arg[i] == n_in + k) all[j].arg[i] = sum;
}

/* Turns a sum of a negated argument into a difference, and a difference into a sum. */
static inline void take_signs(uint32_t n_in, FormulaStep *all, const uint32_t *reads,
                              FormulaStep *s) {
    bool sum = s->function == SCALAR_add;
    if (!sum && s->function != SCALAR_sub) return;
    if (take_sign(n_in, all, reads, s, 1)) {
        s->function = sum ? SCALAR_sub : SCALAR_add;
    } else if (sum && take_sign(n_in, all, reads, s, 0)) {
        uint8_t positive = s->arg[1];
        s->arg[1] = s->arg[0];
        s->arg[0] = positive;
        s->function = SCALAR_sub;
    }
}

/* Removes steps that nothing reads, and renumbers the others. Returns how many are left. */
static inline uint32_t drop_unread(uint32_t n_in, uint32_t n_step, FormulaStep *all,
                                   const uint32_t *reads) {
    uint8_t place[FORMULA_VALUES];
    uint32_t n = 0;
    for (uint32_t k = 0; k < n_step; k++) {
        FormulaStep s = all[k];
        if (!reads[n_in + k] && !s.result) continue;
        for (int i = 0; i < scalar_arity(s.function); i++)
            if (s.arg[i] >= n_in) s.arg[i] = (uint8_t)(n_in + place[s.arg[i] - n_in]);
        place[k] = (uint8_t)n;
        all[n++] = s;
    }
    return n;
}

/* Writes the simplified steps to `out`. Returns how many there are. */
static inline uint32_t simplify_steps(uint32_t n_in, uint32_t n_step, const FormulaStep *step,
                                      FormulaStep *out) {
    uint32_t reads[FORMULA_VALUES];
    for (uint32_t k = 0; k < n_step; k++) out[k] = step[k];
    count_reads(n_in, n_step, out, reads);
    for (uint32_t k = 0; k < n_step; k++) take_signs(n_in, out, reads, &out[k]);
    count_reads(n_in, n_step, out, reads);
    for (uint32_t k = 0; k < n_step; k++) take_zero_out(n_in, out, reads, &out[k]);
    count_reads(n_in, n_step, out, reads);
    for (uint32_t k = 0; k < n_step; k++) fold_zero(n_in, n_step, out, reads, k);
    count_reads(n_in, n_step, out, reads);
    return drop_unread(n_in, n_step, out, reads);
}

#endif
