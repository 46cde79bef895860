/* Mutates texts token by token, for the fuzz targets that read model files and graphs: libFuzzer
 * calls LLVMFuzzerCustomMutator instead of changing bytes, so most texts still parse, and the
 * faults are in their meaning.
 *
 * A text is cut into tokens. A mutation replaces a token by one of its kind, from this text or any
 * text seen before (a pool that fills by itself), changes a number, in one place or everywhere, or
 * copies, moves or removes a line, a list in brackets, or an item of one. In graphs a value is
 * replaced by another of its type. One text in 16 is also changed by bytes.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

typedef enum Kind { WORD, NUMBER, STRING, VALUE, SPACE, NEWLINE, PUNCTUATION, KINDS } Kind;

typedef struct Token {
    const char *at;
    size_t n;
    Kind kind;
} Token;

enum { MAX_TOKENS = 1 << 15, POOL = 2048, POOL_BYTES = 96, MAX_MUTATIONS = 4 };

typedef struct Text {
    Token token[MAX_TOKENS];
    size_t n;
} Text;

static Text text;
static struct {
    char at[POOL][POOL_BYTES];
    unsigned char n[POOL];
    size_t used, next;
} pool[KINDS];
static uint32_t state;

static size_t below(size_t n) {
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    return n ? state % n : 0;
}

/* ---- tokens */

static bool in_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

static Token token_at(const char *at, const char *end) {
    const char *c = at + 1;
    Token t = {at, 1, PUNCTUATION};
    if (*at == '\n') {
        t.kind = NEWLINE;
    } else if (*at == ' ' || *at == '\t') {
        t.kind = SPACE;
        while (c < end && (*c == ' ' || *c == '\t')) c++;
    } else if (*at == '"') {
        t.kind = STRING;
        while (c < end && *c != '"' && *c != '\n') c++;
        if (c < end && *c == '"') c++;
    } else if (isdigit((unsigned char)*at)) {
        t.kind = NUMBER;
        while (c < end && (in_word(*c) || ((*c == '-' || *c == '+') && c[-1] == 'e'))) c++;
    } else if ((*at == '%' || *at == '#') && c < end && isdigit((unsigned char)*c)) {
        t.kind = VALUE;
        while (c < end && isdigit((unsigned char)*c)) c++;
    } else if (in_word(*at)) {
        t.kind = WORD;
        while (c < end && in_word(*c)) c++;
    }
    t.n = (size_t)(c - at);
    return t;
}

static void cut(const char *at, size_t n) {
    const char *end = at + n;
    for (text.n = 0; at < end && text.n < MAX_TOKENS; at += text.token[text.n++].n)
        text.token[text.n] = token_at(at, end);
    if (text.n) text.token[text.n - 1].n += (size_t)(end - at); /* a text of too many tokens */
}

static bool same(const Token *a, const Token *b) {
    return a->n == b->n && !memcmp(a->at, b->at, a->n);
}

static bool is(const Token *t, char c) { return t->n == 1 && *t->at == c; }

/* Tokens of the kind go into the pool, old ones make room. */
static void remember(const Token *t) {
    if (t->n > POOL_BYTES || t->kind == SPACE || t->kind == NEWLINE) return;
    for (int tries = 0; tries < 8; tries++) {
        size_t i = below(pool[t->kind].used);
        if (pool[t->kind].used && pool[t->kind].n[i] == t->n &&
            !memcmp(pool[t->kind].at[i], t->at, t->n))
            return;
    }
    size_t i = pool[t->kind].next++ % POOL;
    memcpy(pool[t->kind].at[i], t->at, t->n);
    pool[t->kind].n[i] = (unsigned char)t->n;
    if (pool[t->kind].used < POOL) pool[t->kind].used++;
}

/* ---- where */

/* A token of the kind, any one where kind is KINDS; text.n: there is none. */
static size_t pick(Kind kind) {
    for (int tries = 0; tries < 64 && text.n; tries++) {
        size_t i = below(text.n);
        if (text.token[i].kind == kind ||
            (kind == KINDS && text.token[i].kind != SPACE && text.token[i].kind != NEWLINE))
            return i;
    }
    return text.n;
}

static size_t line_start(size_t i) {
    while (i > 0 && text.token[i - 1].kind != NEWLINE) i--;
    return i;
}

static size_t line_end(size_t i) {
    while (i < text.n && text.token[i].kind != NEWLINE) i++;
    return i < text.n ? i + 1 : i;
}

/* The bracket that closes the one at i; text.n where none does. */
static size_t closing(size_t i) {
    int depth = 0;
    for (; i < text.n; i++) {
        const Token *t = &text.token[i];
        depth += is(t, '(') || is(t, '[') || is(t, '{');
        depth -= is(t, ')') || is(t, ']') || is(t, '}');
        if (depth <= 0) return i;
    }
    return text.n;
}

static size_t pick_open(void) {
    for (int tries = 0; tries < 64; tries++) {
        size_t i = pick(PUNCTUATION);
        if (i < text.n && strchr("([{", *text.token[i].at)) return i;
    }
    return text.n;
}

/* ---- mutations: each changes text.token in place */

static void insert(size_t at, const Token *from, size_t n) {
    if (text.n + n > MAX_TOKENS) return;
    static Token copy[MAX_TOKENS];
    memcpy(copy, from, n * sizeof *from);
    memmove(&text.token[at + n], &text.token[at], (text.n - at) * sizeof *from);
    memcpy(&text.token[at], copy, n * sizeof *from);
    text.n += n;
}

static void cut_out(size_t at, size_t end) {
    if (at > end || end > text.n) return;
    memmove(&text.token[at], &text.token[end], (text.n - end) * sizeof *text.token);
    text.n -= end - at;
}

static void exchange_in_text(void) {
    size_t i = pick(KINDS);
    if (i == text.n) return;
    size_t j = pick(text.token[i].kind);
    if (j == text.n) return;
    Token t = text.token[i];
    text.token[i] = text.token[j];
    if (below(2)) text.token[j] = t;
}

static void from_pool(void) {
    size_t i = pick(KINDS);
    if (i == text.n) return;
    Kind kind = text.token[i].kind;
    if (!pool[kind].used) return;
    size_t j = below(pool[kind].used);
    text.token[i].at = pool[kind].at[j];
    text.token[i].n = pool[kind].n[j];
}

/* A new number in place of this one, sometimes of all that are equal. */
static void number(void) {
    static const char *const special[] = {
        "0",    "1",     "2",          "3",          "5",          "7",
        "8",    "16",    "17",         "64",         "255",        "256",
        "1000", "65536", "2147483647", "2147483648", "4294967296", "9223372036854775807",
        "0.5",  "1e-5",  "1e30",       "1e-300",     "1e308",      "16B",
        "4k"};
    static char made[MAX_MUTATIONS][32];
    static size_t next;
    size_t i = pick(NUMBER);
    if (i == text.n) return;
    Token old = text.token[i], new = old;
    char *to = made[next++ % MAX_MUTATIONS];
    if (below(2)) {
        new.at = special[below(sizeof special / sizeof *special)];
        new.n = strlen(new.at);
    } else {
        long long value = strtoll(old.at, NULL, 10); /* a text ends with 0 */
        static const int steps[] = {-1, 1, -2, 2, 3, 8};
        long long step = steps[below(6)];
        if (value < -(1LL << 60) || value > 1LL << 60) value = 0;
        new.n = (size_t)snprintf(to, sizeof made[0], "%lld",
                                 below(4) ? value + step : value * (step < 0 ? 1 : step));
        new.at = to;
    }
    bool all = below(2);
    for (size_t k = 0; k < text.n; k++)
        if (k == i || (all && text.token[k].kind == NUMBER && same(&text.token[k], &old)))
            text.token[k] = new;
}

/* All of one name become another one. */
static void rename_all(void) {
    size_t i = pick(WORD), j = pick(WORD);
    if (i == text.n || j == text.n) return;
    Token old = text.token[i], new = text.token[j];
    for (size_t k = 0; k < text.n; k++)
        if (same(&text.token[k], &old)) text.token[k] = new;
}

static void line(void) {
    size_t i = pick(KINDS), j = pick(KINDS);
    if (i == text.n || j == text.n) return;
    size_t start = line_start(i), end = line_end(i), to = line_start(j);
    static Token copy[MAX_TOKENS];
    size_t n = end - start, how = below(3);
    memcpy(copy, &text.token[start], n * sizeof *copy);
    if (how != 0) insert(to, copy, n); /* copied or moved */
    if (how == 1 && to <= start) start += n, end += n;
    if (how != 2 && (how == 0 || to <= start || to >= end)) cut_out(start, end);
}

/* What is in brackets, as a whole. */
static void brackets(void) {
    size_t i = pick_open();
    if (i == text.n) return;
    size_t end = closing(i);
    if (end == text.n) return;
    static Token copy[MAX_TOKENS];
    size_t j = pick_open(), how = below(3);
    if (how == 0) {
        cut_out(i + 1, end);
    } else if (how == 1) {
        cut_out(i, end + 1);
    } else if (j < text.n && *text.token[j].at == *text.token[i].at) {
        size_t last = closing(j), n = last - j + 1;
        if (last == text.n) return;
        memcpy(copy, &text.token[j], n * sizeof *copy);
        cut_out(i, end + 1);
        insert(i, copy, n);
    }
}

static bool separates(const Token *t) {
    return is(t, ',') || is(t, ';') || is(t, '(') || is(t, '[') || is(t, '{') || is(t, ')') ||
           is(t, ']') || is(t, '}') || t->kind == NEWLINE;
}

/* An item of a list, or a statement: removed, written twice, or wrapped in a call. */
static void item(void) {
    static const Token comma = {",", 1, PUNCTUATION}, open = {"(", 1, PUNCTUATION},
                       close = {")", 1, PUNCTUATION};
    size_t i = pick(KINDS), j = pick(WORD), start = i, end = i;
    if (i == text.n || j == text.n || separates(&text.token[i])) return;
    while (start > 0 && !separates(&text.token[start - 1])) start--;
    while (end < text.n && !separates(&text.token[end]))
        end = strchr("([{", *text.token[end].at) ? closing(end) + 1 : end + 1;
    if (end > text.n) return;
    static Token copy[MAX_TOKENS];
    size_t n = end - start, how = below(3);
    copy[0] = how == 2 ? text.token[j] : comma;
    copy[1] = open;
    memcpy(copy + how, &text.token[start], n * sizeof *copy);
    if (how == 0) {
        cut_out(start, end < text.n && is(&text.token[end], ',') ? end + 1 : end);
    } else if (how == 1) {
        memmove(copy + 1, &text.token[start], n * sizeof *copy);
        insert(end, copy, n + 1);
    } else {
        insert(end, &close, 1);
        insert(start, copy, 2);
    }
}

/* The type after the place of text where value i is defined: tokens [*start, *end). */
static bool type_of(size_t i, size_t *start, size_t *end) {
    for (size_t k = 0; k + 1 < text.n; k++) {
        if (!is(&text.token[k + 1], ':') || !same(&text.token[k], &text.token[i])) continue;
        *start = k + 2;
        for (*end = *start; *end < text.n && !strchr("]\n@=", *text.token[*end].at);) ++*end;
        return *end < text.n;
    }
    return false;
}

/* In a graph: a value instead of another one of its type, where it is read. */
static void value(void) {
    size_t i = pick(VALUE), start, end, a, z;
    if (i == text.n || !type_of(i, &start, &end)) return;
    for (int tries = 0; tries < 32; tries++) {
        size_t j = pick(VALUE);
        if (j == text.n || same(&text.token[i], &text.token[j]) || !type_of(j, &a, &z)) continue;
        if (z - a != end - start) continue;
        size_t k = 0;
        while (k < z - a && same(&text.token[a + k], &text.token[start + k])) k++;
        if (k < z - a) continue;
        text.token[i] = text.token[j];
        return;
    }
}

static void (*const mutations[])(void) = {exchange_in_text, from_pool, number, rename_all, line,
                                          brackets,         item,      value,  value,      number,
                                          from_pool};

static size_t put(uint8_t *out, size_t max) {
    size_t n = 0;
    for (size_t i = 0; i < text.n && n + text.token[i].n <= max; i++) {
        memcpy(out + n, text.token[i].at, text.token[i].n);
        n += text.token[i].n;
    }
    return n;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t n, size_t max, unsigned seed) {
    state = seed * 2654435761u | 1;
    if (below(16) == 0) return LLVMFuzzerMutate(bytes, n, max);
    char *from = malloc(n + 1);
    uint8_t *to = malloc(max);
    if (!from || !to) abort();
    memcpy(from, bytes, n);
    from[n] = 0;
    cut(from, n);
    if (text.n) remember(&text.token[below(text.n)]);
    for (size_t i = 0; i < 8 && text.n; i++) remember(&text.token[below(text.n)]);
    for (size_t i = 0, most = 1 + below(MAX_MUTATIONS); i < most; i++)
        mutations[below(sizeof mutations / sizeof *mutations)]();
    n = put(to, max);
    memcpy(bytes, to, n);
    free(from);
    free(to);
    return n;
}

/* Lines of the second text go into the first: a run of them, at the start of a line. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t na, const uint8_t *b, size_t nb,
                                 uint8_t *out, size_t max, unsigned seed) {
    state = seed * 2654435761u | 1;
    const uint8_t *from = b + below(nb), *into = a + below(na);
    while (from > b && from[-1] != '\n') from--;
    while (into > a && into[-1] != '\n') into--;
    size_t lines = 1 + below(6), n = 0;
    const uint8_t *end = from;
    for (; end < b + nb && lines; end++) lines -= *end == '\n';
    size_t parts[3] = {(size_t)(into - a), (size_t)(end - from), na - (size_t)(into - a)};
    const uint8_t *at[3] = {a, from, into};
    for (int i = 0; i < 3; i++) {
        if (n + parts[i] > max) break;
        memcpy(out + n, at[i], parts[i]);
        n += parts[i];
    }
    return n;
}
