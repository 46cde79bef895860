/* The words that editors colour, from the tables: keywords of the grammar, functions, modules of
 * the prelude, attributes, and the keys, calls and words of each section. What this version does
 * not support is left out. */
#include "help.h"

#include <stdio.h>
#include <string.h>

#include "syntax.h"

typedef struct WordList {
    Arena *arena;
    VEC(const char *) words;
} WordList;

static void add_word(WordList *l, const char *word) {
    for (uint32_t i = 0; i < l->words.n; i++)
        if (!strcmp(l->words.at[i], word)) return;
    vec_push(l->arena, &l->words, word);
}

static const char *join_words(WordList *l, const char *separator) {
    Buf out = {0};
    for (uint32_t i = 0; i < l->words.n; i++)
        buf_printf(&out, "%s%s", i ? separator : "", l->words.at[i]);
    const char *text = arena_strndup(l->arena, out.n ? out.at : "", out.n);
    buf_free(&out);
    return text;
}

/* What each keyword does; those that are not listed declare something. */
static EditorClass keyword_class(const char *word) {
    static const struct {
        EditorClass class;
        const char *words;
    } classes[] = {{EDITOR_CONTROL, " for in if else return require "},
                   {EDITOR_OPERATOR, " as and or not "},
                   {EDITOR_CONSTANT, " true false none "}};
    char padded[64];
    snprintf(padded, sizeof padded, " %s ", word);
    for (size_t i = 0; i < ARRAY_LEN(classes); i++)
        if (strstr(classes[i].words, padded)) return classes[i].class;
    return EDITOR_DECLARATION;
}

static void add_keywords(WordList *l, EditorClass class) {
    const char *keyword;
    for (int i = 0; (keyword = parse_keyword(l->arena, i)); i++)
        if (keyword_class(keyword) == class) add_word(l, keyword);
}

static void add_calls(WordList *l, CallGroup group) {
    for (int i = 0; i < CALL_COUNT; i++)
        if (call_table[i].group == group && call_table[i].support != LATER)
            add_word(l, call_table[i].name);
}

static void add_modules(WordList *l) {
    DiagSet ds;
    diag_init(&ds, l->arena);
    const Node *file = parse_text(&ds, 0, prelude_text, prelude_size, PARSE_FILE, 0);
    CHECK(file);
    for (uint32_t i = 0; i < file->n; i++)
        if (file->kids[i]->kind == NODE_MODULE) add_word(l, file->kids[i]->text);
}

const char *editor_words(Arena *a, EditorClass class, const char *separator) {
    WordList l = {.arena = a};
    switch (class) {
    case EDITOR_DECLARATION:
    case EDITOR_CONTROL:
    case EDITOR_OPERATOR:
    case EDITOR_CONSTANT: add_keywords(&l, class); break;
    case EDITOR_FUNCTION:
        add_calls(&l, GROUP_FUNCTION);
        add_calls(&l, GROUP_NUMBER);
        break;
    case EDITOR_INITIAL: add_calls(&l, GROUP_INIT); break;
    case EDITOR_MODULE: add_modules(&l); break;
    case EDITOR_ATTRIBUTE:
#define ATTRIBUTE(name, doc, example) add_word(&l, #name);
#include "attributes.def"
#undef ATTRIBUTE
        break;
    case EDITOR_CLASSES: BUG("no class of words");
    }
    return join_words(&l, separator);
}

static void add_ops(WordList *l) {
    const char *names[OP_COUNT];
    size_t n = op_choices(names, OP_COUNT);
    for (size_t i = 0; i < n; i++) add_word(l, names[i]);
}

const char *editor_keys(Arena *a, const char *section, const char *separator) {
    WordList l = {.arena = a};
    for (int i = 0; i < n_keys; i++)
        if (!strcmp(key_table[i].section, section) && key_table[i].support != LATER)
            add_word(&l, key_table[i].key);
    return join_words(&l, separator);
}

const char *editor_calls(Arena *a, const char *section, const char *separator) {
    WordList l = {.arena = a};
    const char *prefix = arena_printf(a, "%s.", section);
    for (int g = 0; g < GROUP_COUNT; g++)
        if (!strncmp(group_table[g].keys, prefix, strlen(prefix))) add_calls(&l, (CallGroup)g);
    return join_words(&l, separator);
}

const char *editor_values(Arena *a, const char *section, const char *separator) {
    WordList l = {.arena = a};
    for (int i = 0; i < n_values; i++)
        if (!strcmp(value_table[i].section, section) && value_table[i].support != LATER)
            add_word(&l, value_table[i].name);
    for (int i = 0; i < n_keys; i++)
        if (!strcmp(key_table[i].section, section) && (key_table[i].kinds & K_OPS)) add_ops(&l);
    return join_words(&l, separator);
}

const char *editor_argument_words(Arena *a, const ArgumentInfo *argument, const char *separator) {
    WordList l = {.arena = a};
    const char *word;
    if (!(argument->type.kinds & K_WORD)) return NULL;
    for (int i = 0; (word = type_word(a, &argument->type, i)); i++) add_word(&l, word);
    return l.words.n ? join_words(&l, separator) : NULL;
}
