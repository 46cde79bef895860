/* The fields of a record: words, numbers, names, types and places, from the cursor of a line. */
#include <stdlib.h>
#include <string.h>

#include "parse.h"

static bool fail_at(GraphParser *p, uint32_t line, uint32_t col, const char *format, va_list args) {
    if (p->failed) return false;
    p->failed = true;
    if (++p->errors > MOST_ERRORS) return false;
    Span at = {p->file, line, col, line, col + 1};
    Diag d = diag_vat(p->g->diags, E_graph_text, at, format, args);
    diag_emit(&d);
    return false;
}

bool parse_fail(GraphParser *p, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fail_at(p, p->line, (uint32_t)(p->at - p->line_start) + 1, format, args);
    va_end(args);
    return false;
}

bool parse_fail_token(GraphParser *p, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fail_at(p, p->line, (uint32_t)(p->token - p->line_start) + 1, format, args);
    va_end(args);
    return false;
}

bool parse_fail_there(GraphParser *p, uint32_t line, uint32_t col, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fail_at(p, line, col, format, args);
    va_end(args);
    return false;
}

char parse_peek(GraphParser *p) {
    while (p->at < p->end && *p->at == ' ') p->at++;
    return p->at < p->end ? *p->at : '\n';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool parse_accept(GraphParser *p, char c) {
    if (parse_peek(p) != c || p->at == p->end) return false;
    p->at++;
    return true;
}

bool parse_expect(GraphParser *p, char c) {
    return parse_accept(p, c) || parse_fail(p, "expected `%c`", c);
}

/* A run of letters, digits and _ that starts with a letter, without moving. */
static size_t word_length(GraphParser *p) {
    size_t n = 0;
    if (!is_letter(parse_peek(p))) return 0;
    while (p->at + n < p->end && (is_letter(p->at[n]) || parse_is_digit(p->at[n]))) n++;
    return n;
}

bool parse_accept_word(GraphParser *p, const char *word) {
    size_t n = word_length(p);
    if (n != strlen(word) || memcmp(p->at, word, n)) return false;
    p->at += n;
    return true;
}

bool parse_expect_word(GraphParser *p, const char *word) {
    return parse_accept_word(p, word) || parse_fail(p, "expected `%s`", word);
}

bool parse_word(GraphParser *p, const char *what, char out[NAME_SIZE]) {
    size_t n = word_length(p);
    p->token = p->at;
    if (!n || n >= NAME_SIZE) return parse_fail(p, "expected %s", what);
    memcpy(out, p->at, n);
    out[n] = 0;
    p->at += n;
    return true;
}

bool parse_uint(GraphParser *p, uint64_t most, uint64_t *out) {
    if (!parse_is_digit(parse_peek(p))) return parse_fail(p, "expected a number");
    uint64_t x = 0;
    p->token = p->at;
    for (; p->at < p->end && parse_is_digit(*p->at); p->at++) {
        uint64_t digit = (uint64_t)(*p->at - '0');
        if (x > (most - MIN(digit, most)) / 10 || digit > most)
            return parse_fail_token(p, "the number is larger than %llu", (unsigned long long)most);
        x = x * 10 + digit;
    }
    *out = x;
    return true;
}

bool parse_u32(GraphParser *p, uint32_t *out) {
    uint64_t x;
    if (!parse_uint(p, UINT32_MAX - 1, &x)) return false;
    *out = (uint32_t)x;
    return true;
}

bool parse_int(GraphParser *p, int64_t *out) {
    bool negative = parse_accept(p, '-');
    uint64_t x;
    if (!parse_uint(p, (uint64_t)INT64_MAX + negative, &x)) return false;
    *out = negative ? (int64_t)(0 - x) : (int64_t)x;
    return true;
}

bool parse_i32(GraphParser *p, int32_t *out) {
    int64_t x;
    if (!parse_int(p, &x)) return false;
    if (x < INT32_MIN || x > INT32_MAX)
        return parse_fail_token(p, "the number does not fit into 32 bits");
    *out = (int32_t)x;
    return true;
}

bool parse_real(GraphParser *p, double *out) {
    char text[NAME_SIZE];
    size_t n = 0;
    parse_peek(p);
    while (p->at + n < p->end && n + 1 < sizeof text &&
           (parse_is_digit(p->at[n]) || is_letter(p->at[n]) || strchr("+-.", p->at[n])) && p->at[n])
        n++;
    memcpy(text, p->at, n);
    text[n] = 0;
    char *rest;
    double x = strtod(text, &rest);
    if (!n || *rest) return parse_fail(p, "expected a real number");
    p->at += n;
    *out = x;
    return true;
}

bool parse_string(GraphParser *p, const char **out) {
    if (!parse_accept(p, '"')) return parse_fail(p, "expected a text in quotes");
    Buf text = {0};
    bool good = true;
    for (; p->at < p->end && *p->at != '"' && *p->at != '\n' && good; p->at++) {
        char c = *p->at;
        if (c == '\\') {
            int high = p->end - p->at > 3 && p->at[1] == 'x' ? parse_hex_digit(p->at[2]) : -1;
            int low = high >= 0 ? parse_hex_digit(p->at[3]) : -1;
            good = low >= 0 && high + low > 0;
            c = (char)(high * 16 + low);
            if (good) p->at += 3;
        }
        good = good && c;
        buf_write(&text, &c, 1);
    }
    if (!good)
        parse_fail(p, "`\\` must be followed by xNN, two hexadecimal digits that are not 00");
    else if (!parse_accept(p, '"'))
        good = parse_fail(p, "the text in quotes does not end in this line");
    else
        *out = arena_strndup(p->g->arena, text.n ? text.at : "", text.n);
    buf_free(&text);
    return good;
}

bool parse_name(GraphParser *p, const char **out) {
    *out = "";
    if (parse_accept(p, '-')) return true;
    size_t n = word_length(p);
    if (!n) return parse_string(p, out);
    *out = arena_strndup(p->g->arena, p->at, n);
    p->at += n;
    return true;
}

bool parse_enum(GraphParser *p, const char *what, const Words *words, int *out) {
    char word[NAME_SIZE];
    if (!parse_word(p, what, word)) return false;
    *out = word_find(words, word);
    return *out >= 0 || parse_fail_token(p, "expected %s, not `%s`", what, word);
}

bool parse_dtype(GraphParser *p, int *out) {
    char word[NAME_SIZE];
    if (!parse_word(p, "a dtype", word)) return false;
    *out = dtype_by_name(word);
    return *out != DT_NONE || parse_fail_token(p, "unknown dtype `%s`", word);
}

/* An axis of the graph's mesh by its name. */
static bool parse_axis(GraphParser *p, AxisSet *set) {
    const Mesh *mesh = &p->g->policy.mesh;
    char word[NAME_SIZE];
    if (!parse_word(p, "an axis", word)) return false;
    int a = 0;
    while (a < mesh->n && strcmp(word, axis_name(mesh->axis[a].role))) a++;
    if (a == mesh->n) return parse_fail_token(p, "the mesh has no axis `%s`", word);
    *set |= (AxisSet)1 << a;
    return true;
}

/* 512, 512*tp, 3x384*tp or 25129*tp of 50257. */
static bool parse_dim(GraphParser *p, int64_t *dim, int64_t *outer, int64_t *size, AxisSet *cut) {
    *outer = *size = 0;
    if (!parse_int(p, dim)) return false;
    if (parse_accept(p, 'x')) {
        *outer = *dim;
        if (!parse_int(p, dim)) return false;
        if (*outer < 1 || *dim < 1 || *dim > MOST_COUNT / *outer)
            return parse_fail(p, "runs of a dimension are too many or too long");
        *dim *= *outer;
    }
    while (parse_accept(p, '*'))
        if (!parse_axis(p, cut)) return false;
    if (!*cut) return !*outer || parse_fail(p, "a dimension in runs is not cut");
    int64_t ranks = mesh_extent(&p->g->policy.mesh, *cut);
    *outer = MAX(1, *outer);
    if (*dim > MOST_COUNT / ranks) return parse_fail(p, "a dimension is too large");
    *size = *dim * ranks;
    if (!parse_accept_word(p, "of")) return true;
    if (!parse_int(p, size)) return false;
    return (*outer == 1 && *size > 0 && placement_share(*size, ranks) == *dim) ||
           parse_fail(p, "%lld entries are not shared out in parts of %lld", (long long)*size,
                      (long long)*dim);
}

bool parse_placed_type(GraphParser *p, Type *t, Placement *placement) {
    int dtype;
    *t = (Type){0};
    *placement = (Placement){.partial = 0};
    if (!parse_dtype(p, &dtype)) return false;
    const char *begin = p->token;
    t->dtype = (uint8_t)dtype;
    if (parse_accept(p, '[')) {
        do {
            if (t->rank == MAX_RANK) return parse_fail(p, "a type has at most %d axes", MAX_RANK);
            if (!parse_dim(p, &t->dim[t->rank], &placement->outer[t->rank],
                           &placement->size[t->rank], &placement->cut[t->rank]))
                return false;
            t->rank++;
        } while (parse_accept(p, ','));
        if (parse_accept(p, ':') && !parse_u32(p, &t->pitch)) return false;
        if (!parse_expect(p, ']')) return false;
    }
    while (parse_accept(p, '+'))
        if (!parse_axis(p, &placement->partial)) return false;
    p->token = begin;
    return type_sound(t) ||
           parse_fail_token(p, "no value can have the type %s", type_text(p->g->arena, t));
}

bool parse_type(GraphParser *p, Type *t) {
    Placement placement;
    if (!parse_placed_type(p, t, &placement)) return false;
    return !placement_is_any(&placement) || parse_fail_token(p, "only values have a placement");
}

bool parse_span(GraphParser *p, Span *at) {
    *at = (Span){0};
    if (!parse_is_digit(parse_peek(p))) return true;
    Span s;
    bool good = parse_u32(p, &s.file) && parse_expect(p, ':') && parse_u32(p, &s.line) &&
                parse_expect(p, ':') && parse_u32(p, &s.col) && parse_expect(p, '-') &&
                parse_u32(p, &s.end_line) && parse_expect(p, ':') && parse_u32(p, &s.end_col);
    if (!good) return false;
    if (!s.file || s.file > p->files.n)
        return parse_fail_token(p, "unknown file number %u", s.file);
    s.file = p->files.at[s.file - 1];
    *at = s;
    return true;
}

bool parse_address(GraphParser *p, uint64_t *address) {
    *address = NO_ADDRESS;
    if (!parse_accept(p, '@')) return true;
    bool host = parse_accept_word(p, "host");
    if ((host && !parse_expect(p, '+')) || !parse_uint(p, HOST_BASE - 1, address)) return false;
    *address += host ? HOST_BASE : 0;
    return true;
}

bool parse_axes(GraphParser *p, AxisSet *set) {
    *set = 0;
    if (!parse_expect(p, '(')) return false;
    for (bool first = true; !parse_accept(p, ')'); first = false)
        if ((!first && !parse_expect(p, ',')) || !parse_axis(p, set)) return false;
    return true;
}

bool parse_field(GraphParser *p, const TextField *f, void *record, bool open) {
    if (f->kind == TEXT_REAL) {
        double x;
        if (!parse_real(p, &x)) return false;
        memcpy((char *)record + f->offset, &x, sizeof x);
        return true;
    }
    int64_t x = -1;
    char word[NAME_SIZE] = "";
    if (f->kind == TEXT_AXES && parse_peek(p) == '(') {
        AxisSet axes;
        if (!parse_axes(p, &axes)) return false;
        text_field_set(f, record, axes);
        return true;
    }
    bool number = f->kind == TEXT_INT || (open && !is_letter(parse_peek(p)));
    if (number ? !parse_int(p, &x) : !parse_word(p, "a word", word)) return false;
    if (!number && f->kind == TEXT_BOOL)
        x = !strcmp(word, "true") ? 1 : !strcmp(word, "false") ? 0 : -1;
    if (!number && f->kind == TEXT_WORD) x = word_find(f->words, word);
    if (!number && x < 0) return parse_fail_token(p, "`%s` is not a value of `%s`", word, f->name);
    text_field_set(f, record, x);
    return true;
}

bool parse_row(GraphParser *p, uint32_t row) {
    uint32_t number;
    if (!parse_u32(p, &number)) return false;
    return number == row || parse_fail_token(p, "this is row %u, not %u", row, number);
}

/* ---- formulas ---- */

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
