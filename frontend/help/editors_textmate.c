/* A TextMate grammar (JSON), which VS Code, Sublime Text, JetBrains and GitHub read.
 *
 * A rule is {name, match} or a region {begin, end, patterns}. Each section of a model file is a
 * region, in which its keys and words count; elsewhere they are ordinary names.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "help.h"

#define NAME "[A-Za-z_][A-Za-z0-9_]*"

static void set_member(json_t *object, const char *key, json_t *value) {
    if (!value || json_object_set_new(object, key, value)) fail_environment("out of memory");
}

static void append_item(json_t *array, json_t *value) {
    if (!value || json_array_append_new(array, value)) fail_environment("out of memory");
}

static json_t *new_object(void) {
    json_t *object = json_object();
    if (!object) fail_environment("out of memory");
    return object;
}

static json_t *new_array(void) {
    json_t *array = json_array();
    if (!array) fail_environment("out of memory");
    return array;
}

static void add_match(json_t *patterns, const char *scope, const char *regex) {
    json_t *rule = new_object();
    set_member(rule, "name", json_string(scope));
    set_member(rule, "match", json_string(regex));
    append_item(patterns, rule);
}

static void add_include(json_t *patterns, const char *name) {
    json_t *rule = new_object();
    set_member(rule, "include", json_string(name));
    append_item(patterns, rule);
}

/* Scopes of the groups of a regex, "" for none; up to NULL. */
static json_t *captures_of(const char *const *scopes) {
    json_t *all = new_object();
    for (int i = 0; scopes[i]; i++) {
        char number[] = {(char)('1' + i), 0};
        json_t *one = new_object();
        set_member(one, "name", json_string(scopes[i]));
        if (*scopes[i])
            set_member(all, number, one);
        else
            json_decref(one);
    }
    return all;
}

static void add_captured(json_t *patterns, const char *regex, const char *const *scopes) {
    json_t *rule = new_object();
    set_member(rule, "match", json_string(regex));
    set_member(rule, "captures", captures_of(scopes));
    append_item(patterns, rule);
}

static json_t *region_pattern(const char *begin, const char *end, const char *const *scopes,
                              json_t *patterns) {
    json_t *rule = new_object();
    set_member(rule, "begin", json_string(begin));
    if (scopes) set_member(rule, "beginCaptures", captures_of(scopes));
    set_member(rule, "end", json_string(end));
    set_member(rule, "patterns", patterns);
    return rule;
}

static json_t *named_patterns(json_t *patterns) {
    json_t *rule = new_object();
    set_member(rule, "patterns", patterns);
    return rule;
}

static void add_words(Arena *a, json_t *patterns, const char *scope, EditorClass class,
                      const char *before, const char *after) {
    add_match(patterns, scope,
              arena_printf(a, "%s(?:%s)%s", before, editor_words(a, class, "|"), after));
}

static json_t *common_patterns(Arena *a) {
    static const char *const module[] = {"keyword.declaration.fsd", "entity.name.type.module.fsd",
                                         NULL};
    static const char *const method[] = {"entity.name.function.fsd", NULL};
    json_t *p = new_array();
    add_match(p, "comment.line.number-sign.fsd", "#.*$");
    add_match(p, "string.quoted.double.fsd", "\"[^\"\\n]*\"");
    add_match(p, "invalid.illegal.string.fsd", "\"[^\"\\n]*$");
    add_captured(p, "\\b(module)\\s+(" NAME ")", module);
    add_captured(p, "^\\s*(" NAME ")(?=\\([^()]*(?:\\([^()]*\\)[^()]*)*\\)\\s*(?:\\{|=(?!=)))",
                 method);
    add_words(a, p, "storage.modifier.attribute.fsd", EDITOR_ATTRIBUTE, "@", "\\b");
    add_match(p, "storage.type.param.fsd", "\\bparam\\b(?=\\s*\\[)");
    add_match(p, "constant.numeric.fsd",
              "\\b[0-9]+(?:\\.[0-9]+)?(?:[eE][-+]?[0-9]+)?(?:(?:k|M|G|T|Ki|Mi|Gi)?B|k|M|G|T|Ki|Mi|"
              "Gi)?\\b");
    add_words(a, p, "keyword.declaration.fsd", EDITOR_DECLARATION, "\\b", "\\b");
    add_words(a, p, "keyword.control.fsd", EDITOR_CONTROL, "\\b", "\\b");
    add_words(a, p, "keyword.operator.word.fsd", EDITOR_OPERATOR, "\\b", "\\b");
    add_words(a, p, "constant.language.fsd", EDITOR_CONSTANT, "\\b", "\\b");
    add_words(a, p, "support.class.module.fsd", EDITOR_MODULE, "\\b", "\\b");
    add_match(p, "entity.name.type.module.fsd", "(?<=: )[A-Z][A-Za-z0-9_]*\\b");
    add_words(a, p, "support.function.fsd", EDITOR_FUNCTION, "\\b", "\\b(?=\\s*\\()");
    add_words(a, p, "support.constant.initial.fsd", EDITOR_INITIAL, "\\b", "\\b(?!\\s*=)");
    add_match(p, "keyword.operator.fsd", "\\+=|==|!=|<=|>=|//|\\*\\*|[-+*/%<>=^]");
    add_include(p, "#parentheses");
    return named_patterns(p);
}

/* In parentheses, a name before `=` is an argument, and some arguments take words. */
static json_t *parentheses_pattern(Arena *a) {
    static const char *const worded[] = {"variable.parameter.fsd", "keyword.operator.fsd",
                                         "constant.language.word.fsd", NULL};
    json_t *p = new_array();
    for (int i = 0; i < n_arguments; i++) {
        const char *words = editor_argument_words(a, &argument_table[i], "|");
        if (!words) continue;
        const char *regex =
            arena_printf(a, "\\b(%s)\\s*(=)\\s*(%s)\\b", argument_table[i].name, words);
        bool seen = false;
        for (size_t k = 0; k < json_array_size(p); k++)
            seen |=
                !strcmp(json_string_value(json_object_get(json_array_get(p, k), "match")), regex);
        if (!seen) add_captured(p, regex, worded);
    }
    add_match(p, "variable.parameter.fsd", "\\b" NAME "(?=\\s*=(?!=))");
    add_include(p, "#common");
    return region_pattern("\\(", "\\)", NULL, p);
}

static json_t *section_pattern(Arena *a, const char *name) {
    static const char *const opened[] = {"keyword.section.fsd", "", NULL};
    const char *keys = editor_keys(a, name, "|"), *calls = editor_calls(a, name, "|"),
               *values = editor_values(a, name, "|");
    json_t *p = new_array();
    if (*keys)
        add_match(p, "support.type.property-name.fsd",
                  arena_printf(a, "\\b(?:%s)\\b(?=\\s*=(?!=))", keys));
    if (*calls) add_match(p, "support.function.value.fsd", arena_printf(a, "\\b(?:%s)\\b", calls));
    if (*values)
        add_match(p, "constant.language.word.fsd", arena_printf(a, "\\b(?:%s)\\b", values));
    add_include(p, "#braces");
    add_include(p, "#common");
    return region_pattern(arena_printf(a, "\\b(%s)\\s*(\\{)", name), "\\}", opened, p);
}

void editor_textmate(Arena *a, Buf *out) {
    json_t *grammar = new_object(), *top = new_array(), *repository = new_object(),
           *types = new_array(), *braces = new_array();
    append_item(types, json_string("fsd"));
    set_member(grammar, "name", json_string("fsdpc model"));
    set_member(grammar, "scopeName", json_string("source.fsd"));
    set_member(grammar, "fileTypes", types);
    for (int i = 0; i < n_sections; i++) {
        const char *name = section_table[i].name;
        set_member(repository, name, section_pattern(a, name));
        add_include(top, arena_printf(a, "#%s", name));
    }
    add_include(top, "#common");
    set_member(grammar, "patterns", top);
    add_include(braces, "#braces");
    add_include(braces, "#common");
    set_member(repository, "braces", region_pattern("\\{", "\\}", NULL, braces));
    set_member(repository, "parentheses", parentheses_pattern(a));
    set_member(repository, "common", common_patterns(a));
    set_member(grammar, "repository", repository);
    char *text = json_dumps(grammar, JSON_INDENT(2));
    if (!text) fail_environment("out of memory");
    buf_printf(out, "%s\n", text);
    free(text);
    json_decref(grammar);
}
