/* The table builtins.def as arrays, lookups in it, and the text of its rows for help and messages.
 */
#include "vocabulary.h"

#include <string.h>

const GroupInfo group_table[GROUP_COUNT] = {
#define GROUP(group, topic, keys, doc) {topic, keys, doc},
#include "builtins.def"
};

#define NO_OP_ALONE OP_COUNT
#define RUN(name, op) op
const CallInfo call_table[CALL_COUNT] = {
#define CALL(group, name, support, op, doc, example)                                               \
    {GROUP_##group, #name, support, op, doc, example},
#include "builtins.def"
};

/* Types and ranges of the rows: initialisers of a ValueType. */
#define TENSOR .kinds = K_TENSOR
#define TENSOR_OR_NONE .kinds = K_TENSOR | K_NONE
#define TENSOR_OR_REAL .kinds = K_TENSOR | K_REAL
#define TENSOR_OR_REAL_OR_NONE .kinds = K_TENSOR | K_REAL | K_NONE
#define TENSORS .kinds = K_LIST | K_MANY, .items = K_TENSOR
#define TERM .kinds = K_TERM | K_TENSOR
#define INT_OR_NONE .kinds = K_INT | K_NONE
#define INTS_OR_NONE .kinds = K_INT | K_LIST | K_NONE, .items = K_INT
#define INTS .kinds = K_LIST, .items = K_INT
#define INT .kinds = K_INT
#define REAL .kinds = K_REAL
#define REAL_OR_NONE .kinds = K_REAL | K_NONE
#define REAL_OR(word) .kinds = K_REAL | K_WORD, .listed = word
#define REAL_OR_NONE_OR(word) .kinds = K_REAL | K_WORD | K_NONE, .listed = word
#define REALS .kinds = K_LIST | K_MANY, .items = K_REAL
#define TWO_REALS .kinds = K_LIST, .items = K_REAL, .count = 2
#define THREE_REALS .kinds = K_LIST, .items = K_REAL, .count = 3
#define BOOL .kinds = K_BOOL
#define BOOL_OR_NONE .kinds = K_BOOL | K_NONE
#define BOOL_OR_INT .kinds = K_BOOL | K_INT
#define TEXT .kinds = K_TEXT
#define SOURCE_CALL .kinds = K_CALL
#define NAMES .kinds = K_LIST, .items = K_WORD
#define NAMED_TEXTS .kinds = K_TEXT | K_NAMED
#define NAMED_SHAPES .kinds = K_INT | K_LIST | K_NAMED, .items = K_INT
#define WORD_OF(name) .kinds = K_WORD, .words = &words_##name
#define ONE_OF(names) .kinds = K_WORD, .listed = names
#define ANY .least = -LARGEST_NUMBER, .most = LARGEST_NUMBER
#define AT_LEAST(x) .least = x, .most = LARGEST_NUMBER
#define ABOVE(x) .least = x, .above = true, .most = LARGEST_NUMBER
#define FROM_TO(x, y) .least = x, .most = y
#define FROM_BELOW(x, y) .least = x, .most = y, .below = true

const ArgumentInfo argument_table[] = {
#define ARG(group, callee, name, type, default_text, range, support, doc)                          \
    {CALL_##group##_##callee, #name, {type, range}, default_text, support, doc},
#include "builtins.def"
};
const int n_arguments = ARRAY_LEN(argument_table);

const CallInfo *call_find(CallGroup group, const char *name) {
    for (int i = 0; i < CALL_COUNT; i++)
        if (call_table[i].group == group && !strcmp(call_table[i].name, name))
            return &call_table[i];
    return NULL;
}

/* Rows of a call are adjacent. They are looked up once, because models call the same functions
 * often. */
const ArgumentInfo *call_arguments(const CallInfo *c, uint32_t *n) {
    static int first[CALL_COUNT + 1], count[CALL_COUNT + 1];
    if (!count[CALL_COUNT]) {
        for (int i = n_arguments; i-- > 0;) {
            first[argument_table[i].call] = i;
            count[argument_table[i].call]++;
        }
        count[CALL_COUNT] = 1;
    }
    *n = (uint32_t)count[c - call_table];
    return *n ? &argument_table[first[c - call_table]] : NULL;
}

void call_names(CallGroup group, const char **names, size_t *n, size_t max) {
    for (int i = 0; i < CALL_COUNT && *n < max; i++)
        if (call_table[i].group == group && call_table[i].support == HERE)
            names[(*n)++] = call_table[i].name;
}

/* ---- words of a type ---- */

const char *type_word(Arena *a, const ValueType *t, int i) {
    if (t->words) return i < t->words->n ? t->words->at[i] : NULL;
    const char *at = t->listed ? t->listed : "";
    for (; i > 0 && *at; i--) {
        at += strcspn(at, " ");
        at += *at == ' ';
    }
    return *at ? arena_strndup(a, at, strcspn(at, " ")) : NULL;
}

int type_word_find(const ValueType *t, const char *word) {
    if (t->words) return word_find(t->words, word);
    size_t n = strlen(word);
    const char *at = t->listed ? t->listed : "";
    for (int i = 0; *at; i++) {
        size_t length = strcspn(at, " ");
        if (length == n && !strncmp(at, word, n)) return i;
        at += length + (at[length] == ' ');
    }
    return -1;
}

bool word_of_any_argument(const char *word) {
    for (int i = 0; i < n_arguments; i++)
        if (type_word_find(&argument_table[i].type, word) >= 0) return true;
    return false;
}

/* ---- as text ---- */

static void put_words(Arena *a, const ValueType *t, const char *between, Buf *out) {
    const char *word;
    for (int i = 0; (word = type_word(a, t, i)); i++)
        buf_printf(out, "%s%s", i ? between : "", word);
}

static const char *short_name(int kinds) {
    return kinds & K_TERM     ? "term"
           : kinds & K_TENSOR ? "tensor"
           : kinds & K_REAL   ? "real"
           : kinds & K_INT    ? (kinds & K_BOOL ? "bool or int" : "int")
           : kinds & K_BOOL   ? "bool"
           : kinds & K_TEXT   ? "text"
           : kinds & K_WORD   ? "name"
           : kinds & K_CALL   ? "call"
                              : "value";
}

const char *value_type_text(Arena *a, const ValueType *t) {
    Buf out = {0};
    if (t->kinds & K_LIST) {
        if (t->kinds & K_INT && !(t->kinds & K_NAMED)) buf_printf(&out, "int or ");
        if (!(t->kinds & K_MANY)) buf_printf(&out, "list of ");
        if (t->count) buf_printf(&out, "%u ", t->count);
        buf_printf(&out, "%s%s", short_name(t->items), t->kinds & K_MANY ? ".." : "s");
    } else if ((t->kinds & K_WORD) && !(t->kinds & K_REAL)) {
        put_words(a, t, " | ", &out);
    } else {
        buf_printf(&out, "%s%s", short_name(t->kinds), t->kinds & K_NAMED ? ".." : "");
        if (t->kinds & K_WORD) buf_printf(&out, " | "), put_words(a, t, " | ", &out);
    }
    return buf_text(a, &out);
}

const char *kinds_text(Arena *a, int kinds) {
    static const char *const names[] = {"an integer",
                                        "a number",
                                        "true or false",
                                        "a string",
                                        "a name",
                                        "a call",
                                        "a list",
                                        "bytes",
                                        "none",
                                        "an expression",
                                        "none",
                                        "a tensor",
                                        NULL,
                                        NULL,
                                        NULL,
                                        "a mean or sum over the batch"};
    Buf out = {0};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (names[i] && (kinds & (1 << i))) buf_printf(&out, "%s%s", out.n ? " or " : "", names[i]);
    if (!out.n) buf_printf(&out, "a value");
    return buf_text(a, &out);
}

const char *type_sentence(Arena *a, const ValueType *t) {
    Buf out = {0};
    int rest = t->kinds & ~(K_WORD | K_LIST);
    bool listed = (t->kinds & K_WORD) && (t->words || t->listed);
    if (rest || (!listed && !(t->kinds & K_LIST)))
        buf_printf(&out, "%s", kinds_text(a, listed ? rest : t->kinds & ~K_LIST));
    if (listed) {
        buf_printf(&out, "%s", out.n ? " or " : "");
        put_words(a, t, " or ", &out);
    }
    if (t->kinds & K_LIST) {
        buf_printf(&out, "%s", out.n ? " or a list" : "a list");
        if (t->items) buf_printf(&out, " of ");
        if (t->items && t->count) buf_printf(&out, "%u ", t->count);
        if (t->items) buf_printf(&out, "%s", t->items & (K_REAL | K_INT) ? "numbers" : "names");
    }
    return buf_text(a, &out);
}

const char *call_signature(Arena *a, const CallInfo *c) {
    uint32_t n;
    const ArgumentInfo *arg = call_arguments(c, &n);
    const char *between = "";
    Buf out = {0};
    buf_printf(&out, "%s%s", c->name, n ? "(" : "");
    for (uint32_t i = 0; i < n; i++) {
        const ArgumentInfo *p = &arg[i];
        bool optional = p->default_text && !strcmp(p->default_text, "none");
        if (p->support != HERE) continue;
        buf_printf(&out, "%s%s: %s%s", between, p->name, value_type_text(a, &p->type),
                   optional ? "?" : "");
        between = ", ";
        if (p->default_text && !optional) buf_printf(&out, " = %s", p->default_text);
    }
    buf_printf(&out, "%s", n ? ")" : "");
    return buf_text(a, &out);
}
