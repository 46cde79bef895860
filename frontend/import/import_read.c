/* A configuration file as a list of keys and values: YAML, or JSON, which is a subset; a file that
 * should be JSON must be valid JSON all the same.
 *
 * A key is its path with dots. A list of words is one value, joined by commas. A section without
 * keys, and `null`, is the value "null". Anchors can repeat parts of a file; a limit on keys stops
 * those that grow without end, and the first error ends the reading.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

#include "import.h"

enum { MOST_DEPTH = 16, MOST_KEYS = 10000 };

typedef struct YamlReader {
    Model *m;
    ImportedFile *out;
    uint32_t file;
    yaml_document_t document;
} YamlReader;

static Span span_of(const YamlReader *r, const yaml_node_t *n) {
    return (Span){r->file, (uint32_t)n->start_mark.line + 1, (uint32_t)n->start_mark.column + 1,
                  (uint32_t)n->end_mark.line + 1, (uint32_t)n->end_mark.column + 1};
}

static bool refuse_file(YamlReader *r, Span at, const char *what) {
    return diag_report(r->m->ds, E_import_syntax, at, NULL, "%s", what);
}

/* A scalar's text; a plain null and an empty scalar are "null". */
static const char *scalar_text(YamlReader *r, const yaml_node_t *n) {
    const char *text =
        arena_strndup(r->m->arena, (const char *)n->data.scalar.value, n->data.scalar.length);
    bool plain = n->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    bool null = plain && (!strcmp(text, "~") || !strcasecmp(text, "null"));
    return null || !*text ? "null" : text;
}

static const char *list_text(YamlReader *r, const yaml_node_t *n) {
    Buf text = {0};
    bool simple = true;
    const yaml_node_item_t *at = n->data.sequence.items.start;
    for (; at < n->data.sequence.items.top; at++) {
        const yaml_node_t *item = yaml_document_get_node(&r->document, *at);
        simple &= item && item->type == YAML_SCALAR_NODE;
        if (simple) buf_printf(&text, "%s%s", text.n ? ", " : "", scalar_text(r, item));
    }
    const char *kept = !simple  ? NULL
                       : text.n ? arena_strndup(r->m->arena, text.at, text.n)
                                : "null";
    buf_free(&text);
    return kept;
}

static bool add_entry(YamlReader *r, const char *key, Span at, const char *text) {
    for (uint32_t i = 0; i < r->out->entries.n; i++)
        if (!strcmp(r->out->entries.at[i].key, key)) {
            duplicate_error(r->m, "key", key, at, r->out->entries.at[i].span);
            return false;
        }
    if (r->out->entries.n == MOST_KEYS) return refuse_file(r, at, "the file has too many keys");
    ImportEntry e = {.key = key, .text = text, .span = at};
    vec_push(r->m->arena, &r->out->entries, e);
    return true;
}

static bool read_node(YamlReader *r, const yaml_node_t *n, const char *path, int depth);

static bool read_value(YamlReader *r, const yaml_node_t *key, const yaml_node_t *n,
                       const char *path, int depth) {
    const char *text = NULL;
    if (n->type == YAML_SCALAR_NODE) text = scalar_text(r, n);
    if (n->type == YAML_SEQUENCE_NODE && !(text = list_text(r, n)))
        return refuse_file(r, span_of(r, n), "no key takes a list of sections");
    if (n->type == YAML_MAPPING_NODE && n->data.mapping.pairs.start == n->data.mapping.pairs.top)
        text = "null";
    return text ? add_entry(r, path, span_of(r, key), text) : read_node(r, n, path, depth + 1);
}

static bool read_node(YamlReader *r, const yaml_node_t *n, const char *path, int depth) {
    if (depth > MOST_DEPTH) return refuse_file(r, span_of(r, n), "sections are nested too deeply");
    const yaml_node_pair_t *at = n->data.mapping.pairs.start;
    for (; at < n->data.mapping.pairs.top; at++) {
        const yaml_node_t *key = yaml_document_get_node(&r->document, at->key);
        const yaml_node_t *value = yaml_document_get_node(&r->document, at->value);
        if (!key || !value || key->type != YAML_SCALAR_NODE)
            return refuse_file(r, span_of(r, n), "a key must be a word");
        const char *name = scalar_text(r, key);
        if (*path) name = arena_printf(r->m->arena, "%s.%s", path, name);
        if (!read_value(r, key, value, name, depth)) return false;
    }
    return true;
}

static bool is_json(YamlReader *r, const char *text, size_t n) {
    json_error_t error;
    json_t *all = json_loadb(text, n, JSON_REJECT_DUPLICATES, &error);
    if (all) {
        json_decref(all);
        return true;
    }
    uint32_t line = (uint32_t)MAX(error.line, 1), column = (uint32_t)MAX(error.column, 1);
    Span at = {r->file, line, column, line, column + 1};
    return refuse_file(r, at, arena_printf(r->m->arena, "this is not valid JSON: %s", error.text));
}

/* The number of `\uxxxx`, or -1. */
static long escaped_unit(const char *at) {
    char digits[5] = "";
    if (at[0] != '\\' || at[1] != 'u') return -1;
    memcpy(digits, at + 2, strnlen(at + 2, 4));
    return strtol(digits, NULL, 16);
}

/* Valid JSON as YAML reads it: a character that JSON writes as two surrogates is one escape. */
static char *without_surrogates(const char *text, size_t *n) {
    Buf out = {0};
    for (const char *at = text, *end = text + *n; at < end;) {
        long high = escaped_unit(at);
        if (high >= 0xd800 && high < 0xdc00) {
            long low = escaped_unit(at + 6);
            buf_printf(&out, "\\U%08lx", 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
            at += 12;
        } else {
            size_t width = *at == '\\' ? 2 : 1;
            buf_write(&out, at, width);
            at += width;
        }
    }
    *n = out.n;
    return buf_take(&out);
}

/* false after an error: the parser can go no further. */
static bool load_document(YamlReader *r, yaml_parser_t *parser) {
    if (yaml_parser_load(parser, &r->document)) return true;
    uint32_t line = (uint32_t)parser->problem_mark.line + 1;
    uint32_t column = (uint32_t)parser->problem_mark.column + 1;
    return refuse_file(r, (Span){r->file, line, column, line, column + 1},
                       arena_printf(r->m->arena, "this is not valid YAML: %s",
                                    parser->problem ? parser->problem : "unreadable"));
}

static bool read_document(YamlReader *r) {
    const yaml_node_t *root = yaml_document_get_root_node(&r->document);
    bool good = root && root->type == YAML_MAPPING_NODE;
    if (good)
        good = read_node(r, root, "", 0);
    else
        refuse_file(r, (Span){r->file, 1, 1, 1, 2}, "the file has no keys");
    yaml_document_delete(&r->document);
    return good;
}

/* Whether the stream ends here. */
static bool is_last(YamlReader *r, yaml_parser_t *parser) {
    if (!load_document(r, parser)) return false;
    const yaml_node_t *root = yaml_document_get_root_node(&r->document);
    if (root)
        diag_report(r->m->ds, E_import_syntax, span_of(r, root), "write all keys into the first",
                    "the file has a second document");
    yaml_document_delete(&r->document);
    return !root;
}

static bool parse_file(YamlReader *r, const char *text, size_t n) {
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) fail_environment("no memory for YAML");
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, n);
    bool good = load_document(r, &parser) && read_document(r) && is_last(r, &parser);
    yaml_parser_delete(&parser);
    return good;
}

bool import_read(Model *m, ImportFormat format, const char *path, ImportedFile *out) {
    size_t n = 0;
    char *text = read_file(path, &n);
    if (!text)
        return diag_report(m->ds, E_cannot_read, (Span){0}, NULL, "cannot read %s: %s", path,
                           strerror(errno));
    const char *kept = arena_strndup(m->arena, text, n);
    free(text);
    YamlReader r = {.m = m, .out = out};
    r.file = diag_add_file(m->ds, arena_strdup(m->arena, path), kept, n);
    if (format != IMPORT_DEEPSPEED) return parse_file(&r, kept, n);
    if (!is_json(&r, kept, n)) return false;
    char *yaml = without_surrogates(kept, &n);
    bool good = parse_file(&r, yaml, n);
    free(yaml);
    return good;
}
