/* What to write instead, from the rows of hints.def: syntax errors are looked up by the
 * unexpected token, what precedes it on its line and what was expected; names by the name. */
#include <string.h>

#include "vocabulary.h"

#define ANY NULL
#define NAME_HERE "name"
#define WORD_HERE "word"
#define SAME_LINE ""
#define TOO_MANY ""

typedef struct SyntaxHint {
    const char *found, *before, *wanted, *help;
} SyntaxHint;

static const SyntaxHint syntax_hints[] = {
#define HINT(found, before, wanted, help) {found, before, wanted, help},
#include "hints.def"
};

typedef struct NameHint {
    const char *name, *help;
} NameHint;

static const NameHint name_hints[] = {
#define NAME(name, help) {name, help},
#include "hints.def"
};

static const struct {
    const char *token, *name, *help;
} hints_after[] = {
#define AFTER(token, name, help) {token, name, help},
#include "hints.def"
};

static const NameHint field_hints[] = {
#define FIELD(name, help) {name, help},
#include "hints.def"
};

static const struct {
    const char *callee, *name, *help;
} argument_hints[] = {
#define ARGUMENT(callee, name, help) {callee, name, help},
#include "hints.def"
};

const char *line_before(const DiagSet *ds, Span at, size_t *n) {
    const SourceFile *f = &ds->files.at[at.file];
    size_t from = 0;
    for (uint32_t line = 1; line < at.line && from < f->size; from++) line += f->text[from] == '\n';
    *n = MIN((size_t)at.col - 1, f->text ? f->size - from : 0);
    return f->text ? f->text + from : "";
}

static bool is_word(char c) {
    return c == '_' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

/* Whether a token appears in line[0, n) outside of strings: a word where a statement can start,
 * an operator of one character at the end, a longer one anywhere. */
static bool stands_before(const char *line, size_t n, const char *token) {
    size_t length = strlen(token);
    bool word = is_word(token[0]), start = true, quoted = false;
    if (!length) return n > 0 && strspn(line, " \t") < n;
    while (!word && length == 1 && n && line[n - 1] == ' ') n--;
    if (!word && length == 1) return n && line[n - 1] == token[0];
    for (size_t i = 0; i + length <= n; i++) {
        bool here = !quoted && !strncmp(line + i, token, length);
        if (here && (!word || (start && (i + length == n || !is_word(line[i + length])))))
            return true;
        if (line[i] == '"') quoted = !quoted;
        if (line[i] != ' ' && line[i] != '\t')
            start = line[i] == '{' || line[i] == '}' || line[i] == ';';
    }
    return false;
}

static bool found_fits(const SyntaxHint *h, const SyntaxPlace *at) {
    if (!h->found) return true;
    if (!strcmp(h->found, NAME_HERE)) return at->name;
    if (!strcmp(h->found, WORD_HERE)) return at->word;
    return !strcmp(h->found, at->token) || (at->name && !strcmp(h->found, at->text));
}

const char *syntax_hint(const SyntaxPlace *at) {
    for (size_t i = 0; i < ARRAY_LEN(syntax_hints); i++) {
        const SyntaxHint *h = &syntax_hints[i];
        if (!found_fits(h, at) || (h->wanted && !strstr(at->wanted, h->wanted))) continue;
        if (!h->before || stands_before(at->line, at->n_before, h->before)) return h->help;
    }
    return NULL;
}

static const char *find_hint(const NameHint *hints, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++)
        if (!strcmp(hints[i].name, name)) return hints[i].help;
    return NULL;
}

const char *name_hint(const char *name) {
    return find_hint(name_hints, ARRAY_LEN(name_hints), name);
}

const char *name_hint_after(const DiagSet *ds, Span at, const char *name) {
    size_t n;
    const char *line = line_before(ds, at, &n);
    while (n && line[n - 1] == ' ') n--;
    for (size_t i = 0; i < ARRAY_LEN(hints_after); i++) {
        size_t length = strlen(hints_after[i].token);
        if (hints_after[i].name && strcmp(hints_after[i].name, name)) continue;
        if (length <= n && !memcmp(line + n - length, hints_after[i].token, length))
            return hints_after[i].help;
    }
    return NULL;
}

const char *argument_hint(const char *callee, const char *name) {
    for (size_t i = 0; i < ARRAY_LEN(argument_hints); i++)
        if (!strcmp(argument_hints[i].name, name ? name : TOO_MANY) &&
            (!argument_hints[i].callee || !strcmp(argument_hints[i].callee, callee)))
            return argument_hints[i].help;
    return NULL;
}

const char *field_hint(const char *name) {
    return find_hint(field_hints, ARRAY_LEN(field_hints), name);
}
