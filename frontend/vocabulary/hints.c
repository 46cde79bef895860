/* What to write instead, from the rows of hints.def: syntax errors are looked up by the
 * unexpected token, what precedes it on its line and what was expected; names by the name. */
#include <string.h>

#include "vocabulary.h"

#define ANY NULL
#define NAME_HERE "name"
#define WORD_HERE "word"
#define SAME_LINE ""
#define TOO_MANY ""

typedef enum HintKind { OF_SYNTAX, OF_NAME, OF_NAME_AFTER, OF_FIELD, OF_ARGUMENT } HintKind;

static const struct Hint {
    HintKind kind;
    const char *before, *found, *wanted, *help; /* before: of an argument its callee */
} hints[] = {
#define HINT(found, before, wanted, help) {OF_SYNTAX, before, found, wanted, help},
#define NAME(names, help) {OF_NAME, ANY, names, ANY, help},
#define AFTER(token, names, help) {OF_NAME_AFTER, token, names, ANY, help},
#define FIELD(names, help) {OF_FIELD, ANY, names, ANY, help},
#define ARGUMENT(callee, names, help) {OF_ARGUMENT, callee, names, ANY, help},
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

static bool found_fits(const struct Hint *h, const SyntaxPlace *at) {
    if (!h->found) return true;
    if (!strcmp(h->found, NAME_HERE)) return at->name;
    if (!strcmp(h->found, WORD_HERE)) return at->word;
    return word_listed(h->found, at->token) || (at->name && word_listed(h->found, at->text));
}

const char *syntax_hint(const SyntaxPlace *at) {
    for (size_t i = 0; i < ARRAY_LEN(hints); i++) {
        const struct Hint *h = &hints[i];
        if (h->kind != OF_SYNTAX || !found_fits(h, at)) continue;
        if (h->wanted && !strstr(at->wanted, h->wanted)) continue;
        if (!h->before || stands_before(at->line, at->n_before, h->before)) return h->help;
    }
    return NULL;
}

static const char *find_hint(HintKind kind, const char *name, const char *callee) {
    for (size_t i = 0; i < ARRAY_LEN(hints); i++)
        if (hints[i].kind == kind && word_listed(hints[i].found, name) &&
            (!hints[i].before || !strcmp(hints[i].before, callee)))
            return hints[i].help;
    return NULL;
}

const char *name_hint(const char *name) { return find_hint(OF_NAME, name, NULL); }
const char *field_hint(const char *name) { return find_hint(OF_FIELD, name, NULL); }
const char *argument_hint(const char *callee, const char *name) {
    return find_hint(OF_ARGUMENT, name ? name : TOO_MANY, callee);
}

const char *name_hint_after(const DiagSet *ds, Span at, const char *name) {
    size_t n;
    const char *line = line_before(ds, at, &n);
    while (n && line[n - 1] == ' ') n--;
    for (size_t i = 0; i < ARRAY_LEN(hints); i++) {
        const struct Hint *h = &hints[i];
        if (h->kind != OF_NAME_AFTER || (h->found && !word_listed(h->found, name))) continue;
        size_t length = strlen(h->before);
        if (length <= n && !memcmp(line + n - length, h->before, length)) return h->help;
    }
    return NULL;
}
