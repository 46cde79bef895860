/* Arithmetic on constants: 64-bit integers that never wrap, and doubles.
 *
 * `/` always gives a double; `//` and `%` round towards minus infinity; an integer to an integer
 * power of at least 0 stays an integer. A result that does not fit and a division by zero are
 * errors at the operator's expression. Integers keep a symbol, the expression in config names that
 * they came from, which shape errors print.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "value.h"

static ExprValue overflow_error(DiagSet *ds, Span at, const char *what) {
    diag_report(ds, E_overflow, at, NULL, "the result of `%s` does not fit into 64 bits", what);
    return value_error(at);
}

static const char *symbol_of(Arena *a, const ExprValue *v) {
    return v->symbol ? v->symbol : arena_printf(a, "%lld", (long long)v->integer);
}

static const char *join_symbols(DiagSet *ds, const char *op, const ExprValue *l,
                                const ExprValue *r) {
    if (strlen(op) > 2 || !strchr("+-*/%", op[0])) return NULL;
    const char *left = symbol_of(ds->arena, l), *right = symbol_of(ds->arena, r);
    if (strlen(left) + strlen(right) > 60) return NULL;
    bool tight = op[0] != '+' && op[0] != '-';
    if (tight && strpbrk(left, "+-")) left = arena_printf(ds->arena, "(%s)", left);
    if (strpbrk(right, tight ? "+-/%*" : "-")) right = arena_printf(ds->arena, "(%s)", right);
    return arena_printf(ds->arena, "%s%s%s", left, op, right);
}

static bool integer_power(int64_t base, int64_t exponent, int64_t *out) {
    int64_t result = 1;
    if (base == 0 || base == 1 || base == -1) {
        *out = exponent == 0 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : base;
        return true;
    }
    for (int64_t i = 0; i < exponent; i++)
        if (__builtin_mul_overflow(result, base, &result)) return false;
    *out = result;
    return true;
}

static ExprValue on_integers(DiagSet *ds, const Node *e, const ExprValue *l, const ExprValue *r) {
    int64_t a = l->integer, b = r->integer, out = 0;
    const char *op = e->text;
    bool fits = true;
    if (!strcmp(op, "+"))
        fits = !__builtin_add_overflow(a, b, &out);
    else if (!strcmp(op, "-"))
        fits = !__builtin_sub_overflow(a, b, &out);
    else if (!strcmp(op, "*"))
        fits = !__builtin_mul_overflow(a, b, &out);
    else if (!strcmp(op, "**"))
        fits = integer_power(a, b, &out);
    else if (a == INT64_MIN && b == -1)
        fits = op[0] == '%';
    else if (!strcmp(op, "//"))
        out = a / b - (a % b != 0 && (a < 0) != (b < 0));
    else
        out = a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0);
    if (!fits) return overflow_error(ds, e->span, op);
    ExprValue v = value_int(e->span, out);
    v.symbol = join_symbols(ds, op, l, r);
    return v;
}

static ExprValue on_reals(DiagSet *ds, const Node *e, double a, double b) {
    const char *op = e->text;
    double out;
    if (!strcmp(op, "+"))
        out = a + b;
    else if (!strcmp(op, "-"))
        out = a - b;
    else if (!strcmp(op, "*"))
        out = a * b;
    else if (!strcmp(op, "/"))
        out = a / b;
    else if (!strcmp(op, "//"))
        out = floor(a / b);
    else if (!strcmp(op, "%"))
        out = a - floor(a / b) * b;
    else
        out = pow(a, b);
    if (!isfinite(out)) {
        diag_report(ds, E_overflow, e->span, NULL, "the result of `%s` is not a finite number", op);
        return value_error(e->span);
    }
    return value_real(e->span, out);
}

static bool are_equal(const ExprValue *l, const ExprValue *r) {
    if (value_is_number(l) && value_is_number(r))
        return l->kind == VALUE_INT && r->kind == VALUE_INT ? l->integer == r->integer
                                                            : value_number(l) == value_number(r);
    if (l->kind != r->kind) return false;
    switch (l->kind) {
    case VALUE_NONE: return true;
    case VALUE_BOOL: return l->boolean == r->boolean;
    case VALUE_TEXT:
    case VALUE_WORD: return !strcmp(l->text, r->text);
    case VALUE_BYTES: return l->integer == r->integer;
    default: return false;
    }
}

static ExprValue compare_numbers(const Node *e, const ExprValue *l, const ExprValue *r) {
    const char *op = e->text;
    bool below, equal;
    if (l->kind == VALUE_INT && r->kind == VALUE_INT) {
        below = l->integer < r->integer;
        equal = l->integer == r->integer;
    } else {
        below = value_number(l) < value_number(r);
        equal = value_number(l) == value_number(r);
    }
    bool result = !strcmp(op, "<")    ? below
                  : !strcmp(op, "<=") ? below || equal
                  : !strcmp(op, ">")  ? !below && !equal
                                      : !below;
    return value_bool(e->span, result);
}

ExprValue arithmetic_by_zero(DiagSet *ds, const Node *e) {
    Diag d = diag_at(ds, E_division_by_zero, e->span, "division by zero");
    diag_note(&d, e->kids[1]->span, "`%s` is 0", node_text(ds->arena, e->kids[1]));
    diag_emit(&d);
    return value_error(e->span);
}

ExprValue arithmetic_binary(DiagSet *ds, const Node *e, const ExprValue *l, const ExprValue *r) {
    const char *op = e->text;
    if (l->kind == VALUE_ERROR || r->kind == VALUE_ERROR) return value_error(e->span);
    bool truth = l->kind == VALUE_BOOL || r->kind == VALUE_BOOL;
    if ((op[0] == '=' || op[0] == '!') && truth && (value_is_number(l) || value_is_number(r))) {
        diag_report(ds, E_not_a_number, e->span,
                    "a boolean cannot be used in arithmetic; use it as it is or with `not`: if "
                    "wide { .. }",
                    "`%s` cannot compare a boolean with a number", op);
        return value_error(e->span);
    }
    if (!strcmp(op, "==")) return value_bool(e->span, are_equal(l, r));
    if (!strcmp(op, "!=")) return value_bool(e->span, !are_equal(l, r));
    if (!value_is_number(l) || !value_is_number(r)) {
        const ExprValue *wrong = value_is_number(l) ? r : l;
        Diag d = diag_at(ds, E_not_a_number, e->span, "`%s` needs numbers, not %s", op,
                         value_kind_name(wrong));
        diag_note(&d, wrong->span, "this is %s", value_kind_name(wrong));
        diag_emit(&d);
        return value_error(e->span);
    }
    if (strchr("<>", op[0])) return compare_numbers(e, l, r);
    bool divides = op[0] == '/' || op[0] == '%';
    if (divides && value_number(r) == 0) return arithmetic_by_zero(ds, e);
    bool integers = l->kind == VALUE_INT && r->kind == VALUE_INT && strcmp(op, "/");
    if (integers && !(!strcmp(op, "**") && r->integer < 0)) return on_integers(ds, e, l, r);
    return on_reals(ds, e, value_number(l), value_number(r));
}

ExprValue arithmetic_negate(DiagSet *ds, const Node *e, const ExprValue *v) {
    if (v->kind == VALUE_REAL) return value_real(e->span, -v->real);
    if (v->kind == VALUE_INT) {
        if (v->integer == INT64_MIN) return overflow_error(ds, e->span, "-");
        return value_int(e->span, -v->integer);
    }
    if (v->kind != VALUE_ERROR)
        diag_report(ds, E_not_a_number, e->span, NULL, "`-` needs a number, not %s",
                    value_kind_name(v));
    return value_error(e->span);
}

ExprValue arithmetic_number(DiagSet *ds, const Node *e) {
    size_t digits = strspn(e->text, "0123456789");
    char *end = NULL;
    double real = strtod(e->text, &end);
    uint64_t factor = suffix_factor(end, strlen(end));
    if (!factor) BUG("number suffix %s", end);
    bool bytes = *end && end[strlen(end) - 1] == 'B';
    bool whole = e->text + digits == end;
    if (whole) {
        uint64_t n = 0;
        for (size_t i = 0; i < digits; i++)
            if (__builtin_mul_overflow(n, 10u, &n) ||
                __builtin_add_overflow(n, (uint64_t)(e->text[i] - '0'), &n))
                return overflow_error(ds, e->span, e->text);
        if (__builtin_mul_overflow(n, factor, &n) || n > INT64_MAX)
            return overflow_error(ds, e->span, e->text);
        ExprValue v = value_int(e->span, (int64_t)n);
        v.symbol = e->text;
        if (bytes) v.kind = VALUE_BYTES;
        return v;
    }
    real *= (double)factor;
    if (!isfinite(real)) return overflow_error(ds, e->span, e->text);
    if ((*end || bytes) && real == floor(real) && real < 0x1p53) {
        ExprValue v = value_int(e->span, (int64_t)real);
        if (bytes) v.kind = VALUE_BYTES;
        return v;
    }
    return value_real(e->span, real);
}

static ExprValue least_or_most(const ExprValue *list, bool most) {
    ExprValue best = *list->items[0].value;
    for (uint32_t i = 1; i < list->n_items; i++) {
        const ExprValue *v = list->items[i].value;
        double x = value_number(v), y = value_number(&best);
        if (most ? x > y : x < y) best = *v;
    }
    return best;
}

ExprValue arithmetic_call(DiagSet *ds, CallId function, Span at, const ExprValue *call) {
    const ExprValue *arg = call->items[0].value;
    double x = value_number(arg), y = 0;
    bool whole = false;
    switch (function) {
    case CALL_NUMBER_min: return least_or_most(arg, false);
    case CALL_NUMBER_max: return least_or_most(arg, true);
    case CALL_NUMBER_sqrt: y = sqrt(x); break;
    case CALL_NUMBER_rsqrt: y = 1 / sqrt(x); break;
    case CALL_NUMBER_exp: y = exp(x); break;
    case CALL_NUMBER_log: y = log(x); break;
    case CALL_NUMBER_abs: y = fabs(x), whole = arg->kind == VALUE_INT; break;
    case CALL_NUMBER_sin: y = sin(x); break;
    case CALL_NUMBER_cos: y = cos(x); break;
    case CALL_NUMBER_tanh: y = tanh(x); break;
    case CALL_NUMBER_floor: y = floor(x), whole = true; break;
    case CALL_NUMBER_ceil: y = ceil(x), whole = true; break;
    case CALL_NUMBER_round: y = nearbyint(x), whole = true; break;
    default: BUG("%s is not a function of constants", call->text);
    }
    if (!isfinite(y)) {
        diag_report(ds, E_overflow, at, NULL, "`%s` of %g is not a finite number", call->text, x);
        return value_error(at);
    }
    return whole && fabs(y) < 0x1p53 ? value_int(at, (int64_t)y) : value_real(at, y);
}
