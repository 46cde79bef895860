/* Removing or changing steps in simplify.h keeps the bits of every value, for all signs of zeros
 * and infinities.
 */
#include <string.h>

#include "simplify.h"
#include "test.h"

enum { OPERANDS = 4 };
#define STEP(kind, is, ...)                                                                        \
    { .function = SCALAR_##kind, .dtype = DT_F32, .arg = {__VA_ARGS__}, .result = is }
#define MINUS(x)                                                                                   \
    { .function = SCALAR_scale, .dtype = DT_F32, .arg = {x}, .number = -1 }

static float value_of(const FormulaStep *s, const float *v) {
    float x = v[s->arg[0]], y = v[s->arg[1]], r = 0;
    if (s->function == SCALAR_constant || s->function == SCALAR_scale) y = (float)s->number;
    if (s->function == SCALAR_constant) r = y;
    if (s->function == SCALAR_mul || s->function == SCALAR_scale) r = x * y;
    if (s->function == SCALAR_add) r = x + y;
    if (s->function == SCALAR_sub) r = x - y;
    return s->pad == PLUS_ZERO ? r + 0.0f : r;
}

static void evaluate(uint32_t n, const FormulaStep *step, const float *x, float *result) {
    float v[FORMULA_VALUES];
    memcpy(v, x, OPERANDS * sizeof *x);
    for (uint32_t k = 0; k < n; k++) {
        v[OPERANDS + k] = value_of(&step[k], v);
        if (step[k].result) result[step[k].result - 1] = v[OPERANDS + k];
    }
}

/* Compares both for all operands of these numbers; returns how many steps are left. */
static uint32_t simplified(uint32_t n, const FormulaStep *step) {
    static const float numbers[] = {0.0f, -0.0f, 1.0f, -3.5f, 0x1p-140f, __builtin_inff()};
    enum { MANY = sizeof numbers / sizeof *numbers };
    FormulaStep out[FORMULA_VALUES];
    uint32_t left = simplify_steps(OPERANDS, n, step, out);
    for (int i = 0; i < MANY * MANY * MANY * MANY; i++) {
        float x[OPERANDS], a[2] = {0}, b[2] = {0};
        for (int k = 0, rest = i; k < OPERANDS; k++, rest /= MANY) x[k] = numbers[rest % MANY];
        evaluate(n, step, x, a);
        evaluate(left, out, x, b);
        for (int k = 0; k < 2; k++)
            if (a[k] == a[k] || b[k] == b[k]) assert_memory_equal(&a[k], &b[k], sizeof *a);
    }
    return left;
}

TEST(a_sum_of_a_negative_is_a_difference) {
    const FormulaStep product[] = {MINUS(0), STEP(mul, 0, 4, 1), STEP(mul, 0, 2, 3),
                                   STEP(add, 1, 5, 6)};
    const FormulaStep read_twice[] = {MINUS(0), STEP(mul, 2, 4, 1), STEP(sub, 1, 2, 5)};
    const FormulaStep both[] = {MINUS(0), MINUS(1), STEP(add, 1, 4, 5), STEP(sub, 2, 4, 5)};
    assert_int_equal(simplified(4, product), 3);
    assert_int_equal(simplified(3, read_twice), 3);
    assert_int_equal(simplified(4, both), 3);
}

TEST(a_sum_with_zero_keeps_its_sign) {
    const FormulaStep after[] = {STEP(mul, 0, 0, 1), STEP(mul, 0, 2, 3), STEP(add, 0, 4, 5),
                                 STEP(constant, 0, 0), STEP(add, 1, 6, 7)};
    const FormulaStep before[] = {STEP(mul, 0, 2, 3), STEP(mul, 0, 0, 1), STEP(constant, 0, 0),
                                  STEP(add, 0, 5, 6), STEP(sub, 1, 7, 4)};
    const FormulaStep alone[] = {STEP(constant, 0, 0), STEP(add, 0, 0, 4), STEP(sub, 1, 1, 5)};
    assert_int_equal(simplified(5, after), 3);
    assert_int_equal(simplified(5, before), 3);
    assert_int_equal(simplified(3, alone), 3);
}

RUN_TESTS(NULL, NULL)
