/* A row of the table `formula` in text (levels.md). */
#include <stdlib.h>

#include "parse.h"

/* x0, t1, y2: the number after the letter. */
static bool parse_lettered(GraphParser *p, char letter, uint32_t most, uint32_t *out) {
    char word[NAME_SIZE];
    if (!parse_word(p, "a name of a value", word)) return false;
    char *rest;
    unsigned long n = strtoul(word + 1, &rest, 10);
    if (word[0] != letter || !parse_is_digit(word[1]) || *rest || n >= most)
        return parse_fail_token(p, "unexpected `%s`", word);
    *out = (uint32_t)n;
    return true;
}

/* f32 add(x0, t1) -> y0 */
static bool parse_step(GraphParser *p, const Formula *f, FormulaStep *s) {
    char word[NAME_SIZE];
    int dtype;
    uint32_t n;
    if (!parse_dtype(p, &dtype) || !parse_word(p, "a function", word)) return false;
    *s = (FormulaStep){.function = (uint16_t)scalar_by_name(word), .dtype = (uint8_t)dtype};
    if (s->function == SCALAR_COUNT) return parse_fail_token(p, "unknown function `%s`", word);
    if (!parse_expect(p, '(')) return false;
    int arity = scalar_arity(s->function);
    for (int a = 0; a < arity; a++) {
        if (a && !parse_expect(p, ',')) return false;
        bool own = parse_peek(p) == 't'; /* a step's */
        if (!parse_lettered(p, own ? 't' : 'x', own ? f->n_step : f->n_in, &n)) return false;
        s->arg[a] = (uint8_t)(own ? f->n_in + n : n);
    }
    bool number = scalar_has_number(s->function);
    if (number && ((arity && !parse_expect(p, ',')) || !parse_real(p, &s->number))) return false;
    for (int i = 0; i < scalar_move(s->function); i++)
        if (!parse_expect(p, ',') || !parse_u32(p, formula_word(s, i))) return false;
    if (!parse_expect(p, ')')) return false;
    if (!parse_accept(p, '-')) return true;
    if (!parse_expect(p, '>') || !parse_lettered(p, 'y', FORMULA_RESULTS, &n)) return false;
    s->result = (uint8_t)(n + 1);
    return true;
}

bool parse_formula(GraphParser *p) {
    Formula f = {0};
    if (!parse_row(p, p->g->formulas.n) || !parse_expect_word(p, "operands") ||
        !parse_u32(p, &f.n_in))
        return false;
    if (f.n_in > FORMULA_OPERANDS)
        return parse_fail_token(p, "at most %d operands", FORMULA_OPERANDS);
    if (!parse_expect(p, ':')) return false;
    do {
        if (f.n_step == FORMULA_STEPS) return parse_fail(p, "at most %d steps", FORMULA_STEPS);
        FormulaStep *s = &f.step[f.n_step];
        if (!parse_step(p, &f, s)) return false;
        f.n_out = MAX(f.n_out, s->result);
        f.n_step++;
    } while (parse_accept(p, ';'));
    vec_push(p->g->arena, &p->g->formulas, f);
    return true;
}
