/* The words that editors colour, from the tables: keywords of the grammar, functions, modules of
 * the prelude, attributes, and the keys, calls and words of each section, in the order of the
 * tables, each once. What this version does not support is left out. */
#include <string.h>

#include "help.h"
#include "json_text.h"
#include "syntax.h"

static void add_word(json_t *list, const char *word) {
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!strcmp(json_string_value(json_array_get(list, i)), word)) return;
    json_push(list, json_string(word));
}

/* What each keyword does; those that are not listed declare something. */
static void add_keywords(Arena *a, json_t *words) {
    static const char *const kinds[][2] = {{"control", " for in if else return require "},
                                           {"operator", " as and or not "},
                                           {"constant", " true false none "}};
    const char *keyword;
    json_t *declaration = json_packed("[]");
    json_put(words, "declaration", declaration);
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) json_put(words, kinds[k][0], json_array());
    for (size_t i = 0; (keyword = parse_keyword(i)); i++) {
        json_t *list = declaration;
        for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
            if (strstr(kinds[k][1], arena_printf(a, " %s ", keyword)))
                list = json_object_get(words, kinds[k][0]);
        add_word(list, keyword);
    }
}

static json_t *add_calls(json_t *list, CallGroup group) {
    for (int i = 0; i < CALL_COUNT; i++)
        if (call_table[i].group == group && call_table[i].support != LATER)
            add_word(list, call_table[i].name);
    return list;
}

static json_t *prelude_modules(Arena *a) {
    DiagSet ds;
    json_t *list = json_packed("[]");
    diag_init(&ds, a);
    const Node *file = parse_text(&ds, 0, prelude_text, prelude_size, PARSE_FILE, 0);
    CHECK(file);
    for (uint32_t i = 0; i < file->n; i++)
        if (file->kids[i]->kind == NODE_MODULE) add_word(list, file->kids[i]->text);
    return list;
}

static json_t *attributes(void) {
    json_t *list = json_packed("[]");
#define ATTRIBUTE(name, doc, example) add_word(list, #name);
#include "attributes.def"
    return list;
}

static void add_ops(json_t *list) {
    const char *names[OP_COUNT];
    size_t n = op_choices(names, OP_COUNT);
    for (size_t i = 0; i < n; i++) add_word(list, names[i]);
}

/* Keys; what their values are called: optimizers, schedules, sources ..; words that they take. */
static json_t *section_words(Arena *a, const char *section) {
    json_t *keys = json_packed("[]"), *calls = json_packed("[]"), *values = json_packed("[]");
    const char *prefix = arena_printf(a, "%s.", section);
    for (int i = 0; i < n_keys; i++) {
        const KeyInfo *k = &key_table[i];
        const char *word, *doc;
        if (strcmp(k->section, section) != 0) continue;
        if (k->support != LATER) add_word(keys, k->key);
        for (int w = 0; (word = key_word(k, w, &doc)); w++) add_word(values, word);
        if (k->kinds & K_OPS) add_ops(values);
    }
    for (int g = 0; g < GROUP_COUNT; g++)
        if (!strncmp(group_table[g].keys, prefix, strlen(prefix))) add_calls(calls, (CallGroup)g);
    return json_packed("{s:o, s:o, s:o}", "keys", keys, "calls", calls, "values", values);
}

/* [name, words] of each argument that takes words. */
static json_t *argument_words(Arena *a) {
    json_t *list = json_packed("[]");
    for (int i = 0; i < n_arguments; i++) {
        const ArgumentInfo *argument = &argument_table[i];
        const char *word = NULL;
        json_t *words = json_packed("[]");
        for (int k = 0; argument->type.kinds & K_WORD && (word = type_word(a, &argument->type, k));
             k++)
            add_word(words, word);
        if (json_array_size(words))
            json_push(list, json_packed("[s, o]", argument->name, words));
        else
            json_decref(words);
    }
    return list;
}

void help_words(Arena *a, Buf *out) {
    json_t *words = json_packed("{}"), *sections = json_packed("{}");
    add_keywords(a, words);
    json_put(words, "function",
             add_calls(add_calls(json_packed("[]"), GROUP_FUNCTION), GROUP_NUMBER));
    json_put(words, "initial", add_calls(json_packed("[]"), GROUP_INIT));
    json_put(words, "module", prelude_modules(a));
    json_put(words, "attribute", attributes());
    for (int i = 0; i < n_sections; i++)
        json_put(sections, section_table[i].name, section_words(a, section_table[i].name));
    json_put(words, "sections", sections);
    json_put(words, "arguments", argument_words(a));
    json_write(words, JSON_INDENT(2), out);
}
