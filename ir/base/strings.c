/* Text: strings in an arena, the growing buffer, UTF-8, numbers as text, globs, the nearest
 * name. Nothing here depends on the locale; both programs stay in "C". */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

bool text_take(const char **at, const char *text) {
    size_t n = strlen(text);
    if (strncmp(*at, text, n)) return false;
    *at += n;
    return true;
}

bool word_listed(const char *list, const char *word) {
    for (const char *at = list;; at++) {
        size_t n = strcspn(at, "|");
        bool open = n && at[n - 1] == '*';
        if (!strncmp(at, word, n - open) && (open || !word[n])) return true;
        at += n;
        if (!*at) return false;
    }
}

TextName text_take_name(const char **at) {
    TextName name = {""};
    size_t n = strspn(*at, "abcdefghijklmnopqrstuvwxyz_");
    CHECK(n < sizeof name.at);
    memcpy(name.at, *at, n);
    *at += n;
    return name;
}

char *arena_strndup(Arena *a, const char *s, size_t n) {
    char *copy = arena_alloc(a, n + 1);
    if (n) memcpy(copy, s, n);
    return copy;
}

char *arena_strdup(Arena *a, const char *s) { return arena_strndup(a, s, strlen(s)); }

char *arena_vprintf(Arena *a, const char *format, va_list args) {
    char few[256];
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(few, sizeof few, format, again);
    va_end(again);
    CHECK(n >= 0);
    if ((size_t)n < sizeof few) return arena_strndup(a, few, (size_t)n);
    char *at = arena_alloc(a, (size_t)n + 1);
    vsnprintf(at, (size_t)n + 1, format, args);
    return at;
}

char *arena_printf(Arena *a, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *at = arena_vprintf(a, format, args);
    va_end(args);
    return at;
}

void buf_reserve(Buf *b, size_t n) {
    if (n < b->capacity - b->n) return;
    size_t grown = MAX(b->capacity * 2, b->n + n + 1);
    grown = MAX(grown, 256);
    char *at = realloc(b->at, grown);
    if (!at) fail_environment("out of memory (asked for %zu bytes)", grown);
    b->at = at;
    b->capacity = grown;
    prefer_large_pages(at, grown);
}

void buf_write(Buf *b, const void *bytes, size_t n) {
    buf_reserve(b, n);
    if (n) memcpy(b->at + b->n, bytes, n);
    b->n += n;
}

static void buf_vprintf(Buf *b, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    CHECK(n >= 0);
    buf_reserve(b, (size_t)n);
    vsnprintf(b->at + b->n, (size_t)n + 1, format, args);
    b->n += (size_t)n;
}

void buf_printf(Buf *b, const char *format, ...) {
    va_list args;
    va_start(args, format);
    buf_vprintf(b, format, args);
    va_end(args);
}

char *buf_take(Buf *b) {
    buf_reserve(b, 0);
    char *at = b->at;
    at[b->n] = 0;
    *b = (Buf){0};
    return at;
}

void buf_free(Buf *b) {
    free(b->at);
    *b = (Buf){0};
}

char *buf_text(Arena *a, Buf *b) {
    char *text = arena_strndup(a, b->n ? b->at : "", b->n);
    buf_free(b);
    return text;
}

uint64_t suffix_factor(const char *suffix, size_t n) {
    static const struct {
        const char *text;
        uint64_t factor;
    } table[] = {{"", 1},          {"k", 1000},       {"K", 1000},
                 {"M", 1000000},   {"G", 1000000000}, {"T", 1000000000000},
                 {"Ki", 1u << 10}, {"Mi", 1u << 20},  {"Gi", 1u << 30}};
    if (n && suffix[n - 1] == 'B') n--;
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (strlen(table[i].text) == n && !strncmp(table[i].text, suffix, n))
            return table[i].factor;
    return 0;
}

/* Well-formed means: shortest form, no surrogates, at most 10FFFF. */
uint32_t utf8_next(const char *text, size_t n, size_t *length) {
    static const uint32_t lowest[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *s = (const unsigned char *)text;
    size_t want = s[0] < 0x80 ? 1 : s[0] < 0xc0 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    *length = 1;
    if (want == 1) return s[0];
    if (want == 0 || s[0] >= 0xf8 || want > n) return UTF8_BAD;
    uint32_t c = s[0] & (0x7fu >> want);
    for (size_t i = 1; i < want; i++) {
        if ((s[i] & 0xc0) != 0x80) return UTF8_BAD;
        c = c << 6 | (s[i] & 0x3f);
    }
    if (c < lowest[want] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return UTF8_BAD;
    *length = want;
    return c;
}

/* The digits come from the shortest %e that reads back; from 1e-4 up to 1e16 they are written
 * without an exponent ("10", not "1e+01"), which is still exact there: an integer of that size
 * prints all its digits, and below one %f with the same digits is the same number. */
const char *double_text(double x, char out[40]) {
    if (isnan(x)) return strcpy(out, "nan");
    if (isinf(x)) return strcpy(out, x < 0 ? "-inf" : "inf");
    if (x == 0) return strcpy(out, signbit(x) ? "-0" : "0");
    int digits = 1;
    for (; digits <= 17; digits++) {
        snprintf(out, 40, "%.*e", digits - 1, x);
        if (strtod(out, NULL) == x) break;
    }
    int exponent = atoi(strchr(out, 'e') + 1);
    if (exponent >= -4 && exponent < 16)
        snprintf(out, 40, "%.*f", MAX(digits - 1 - exponent, 0), x);
    return out;
}

/* One pass with a single point of return: only the last '*' met so far can still grow, because
 * the earlier ones took the shortest run that lets the text between them match, and a longer run
 * could not help what follows. So the time is at most pattern x text, never exponential, and a
 * capture is final as soon as the next '*' is met. */
bool glob_match(const char *pattern, const char *text, Arena *a, const char **captures, int max) {
    const char *star = NULL, *begin = text, *end = text; /* last '*' and the run it has matched */
    int stars = 0;
    while (*text || *pattern) {
        if (*pattern == '*') {
            if (star && captures && stars <= max)
                captures[stars - 1] = arena_strndup(a, begin, (size_t)(end - begin));
            star = pattern++;
            stars++;
            begin = end = text;
        } else if (*text && *pattern == *text) {
            pattern++;
            text++;
        } else if (star && *end) {
            pattern = star + 1;
            text = ++end;
        } else {
            return false;
        }
    }
    if (star && captures && stars <= max)
        captures[stars - 1] = arena_strndup(a, begin, (size_t)(end - begin));
    return true;
}

enum { LONGEST_WORD = 128 };

/* Capital letters are no mistake. */
static bool same_letter(char a, char b) {
    bool letter = (a | 32) >= 'a' && (a | 32) <= 'z';
    return a == b || (letter && (a | 32) == (b | 32));
}

/* Insertions, deletions, replacements and swaps of neighbours; where the lengths alone rule out
 * limit, limit + 1. length of word is at most LONGEST_WORD. */
static size_t edit_distance(const char *word, size_t length, const char *other, size_t limit) {
    size_t other_length = strlen(other);
    if (length > other_length + limit || other_length > length + limit) return limit + 1;
    size_t rows[3][LONGEST_WORD + 1], *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= length; j++) last[j] = before[j] = j;
    for (size_t i = 1; i <= other_length; i++) {
        row[0] = i;
        for (size_t j = 1; j <= length; j++) {
            size_t change = last[j - 1] + !same_letter(word[j - 1], other[i - 1]);
            row[j] = MIN(change, MIN(last[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && word[j - 1] == other[i - 2] && word[j - 2] == other[i - 1])
                row[j] = MIN(row[j], before[j - 2] + 1);
        }
        size_t *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[length];
}

/* Whether `part` is the word without what precedes its last or follows its first `_`: batch in
 * batch_size.
 */
static bool is_end_of(const char *part, const char *word) {
    size_t n = strlen(part), length = strlen(word);
    if (n < 2 || n >= length) return false;
    bool first = word[n] == '_' && !memcmp(word, part, n);
    return first || (word[length - n - 1] == '_' && !memcmp(word + length - n, part, n));
}

/* The longest that is the start or the end of the word, or else one whose start or end it is. */
static const char *name_in_parts(const char *word, const char *const *candidates, size_t n) {
    const char *best = NULL, *longer = NULL;
    for (size_t i = 0; i < n; i++) {
        if (is_end_of(candidates[i], word) && (!best || strlen(candidates[i]) > strlen(best)))
            best = candidates[i];
        if (!longer && is_end_of(word, candidates[i])) longer = candidates[i];
    }
    return best ? best : longer;
}

const char *nearest_name(const char *word, const char *const *candidates, size_t n) {
    size_t length = strlen(word), limit = MAX((size_t)1, length / 3);
    if (length > LONGEST_WORD) return NULL;
    const char *nearest = NULL, *part = name_in_parts(word, candidates, n);
    if (part) limit = 1; /* what is farther is less alike than that */
    for (size_t i = 0; i < n; i++) {
        size_t d = edit_distance(word, length, candidates[i], limit);
        if (d > limit || d == length) continue;
        nearest = candidates[i];
        if (d == 0) break;
        limit = d - 1; /* the next one has to be better */
    }
    return nearest ? nearest : part;
}

const char *nearest_help(Arena *a, const char *word, const char *const *candidates, size_t n,
                         const char *otherwise) {
    const char *nearest = nearest_name(word, candidates, n);
    return nearest ? arena_printf(a, "did you mean `%s`?", nearest) : otherwise;
}

typedef struct PathParts {
    VEC(const char *) at;
} PathParts;

static void split_path(Arena *a, const char *path, PathParts *parts) {
    for (size_t n; *path; path += n + (path[n] == '.')) {
        n = strcspn(path, ".");
        vec_push(a, &parts->at, arena_strndup(a, path, n));
    }
}

static const char *nearest_part(const char *part, const PathParts *known) {
    if (strchr(part, '*')) return part;
    for (uint32_t i = 0; i < known->at.n; i++)
        if (!strcmp(part, known->at.at[i])) return part;
    return nearest_name(part, known->at.at, known->at.n);
}

const char *nearest_path(Arena *a, const char *glob, const char *const *paths, size_t n) {
    size_t length = strlen(glob);
    if (length && glob[length - 1] == '.') length--;
    const char *below = arena_printf(a, "%.*s.*", (int)length, glob);
    for (size_t i = 0; i < n; i++)
        if (glob_match(below, paths[i], a, NULL, 0)) return below;
    if (!strchr(glob, '*')) return nearest_name(glob, paths, n);
    PathParts known = {0}, parts = {0};
    const char *near = "";
    for (size_t i = 0; i < n; i++) split_path(a, paths[i], &known);
    split_path(a, glob, &parts);
    for (uint32_t i = 0; i < parts.at.n; i++) {
        const char *part = nearest_part(parts.at.at[i], &known);
        if (!part) return NULL;
        near = arena_printf(a, "%s%s%s", near, i ? "." : "", part);
    }
    for (size_t i = 0; i < n; i++)
        if (glob_match(near, paths[i], a, NULL, 0)) return near;
    return NULL;
}

int say_error(int code, const char *format, ...) {
    Buf text = {0};
    va_list args;
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    fprintf(stderr, "error: %s\n", text.n ? text.at : "");
    buf_free(&text);
    return code;
}
