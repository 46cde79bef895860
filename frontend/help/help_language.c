/* The chapters of help about the model file: its syntax (topics.def), the prelude's modules, what
 * takes arguments (builtins.def), attributes, and the keys of each section (vocabulary.def). */
#include "help.h"

#include <stdio.h>
#include <string.h>

#include "syntax.h"

static const char *with_support(Arena *a, const char *doc, Support s) {
    return s == HERE ? doc
                     : arena_printf(a, "%s (%s)", doc,
                                    s == LATER ? "not in this version"
                                               : "only the default in this version");
}

/* ---- syntax ---- */

static void add_topics(HelpBook *b) {
    HelpChapter *c = help_chapter(b, "language", "what a model file consists of");
#define TOPIC(topic, written, line, lines, place, text)                                            \
    help_page(b, c,                                                                                \
              (HelpPage){.name = topic,                                                            \
                         .kind = "the language",                                                   \
                         .form = written,                                                          \
                         .doc = line,                                                              \
                         .more = lines,                                                            \
                         .example = text,                                                          \
                         .where = EXAMPLE_##place});
#include "topics.def"
}

static void add_attributes(HelpBook *b) {
    HelpChapter *c =
        help_chapter(b, "attributes", "marks of parameters, after their initial value");
#define ATTRIBUTE(word, line, text)                                                                \
    help_page(b, c,                                                                                \
              (HelpPage){.name = "@" #word,                                                        \
                         .alias = #word,                                                           \
                         .kind = "attribute",                                                      \
                         .doc = line,                                                              \
                         .more = "On a field of a module it holds for every parameter below.\n",   \
                         .example = text,                                                          \
                         .where = EXAMPLE_MEMBER});
#include "attributes.def"
}

/* ---- the prelude ---- */

/* The comment that ends a module's first line, or an empty text. */
static const char *comment_of(Arena *a, uint32_t line) {
    const char *at = prelude_text;
    for (uint32_t i = 1; i < line; i++) at = strchr(at, '\n') + 1;
    size_t n = strcspn(at, "\n");
    const char *hash = memchr(at, '#', n);
    if (!hash) return "";
    hash += 1 + strspn(hash + 1, " ");
    return arena_strndup(a, hash, (size_t)(at + n - hash));
}

static void add_module(HelpBook *b, HelpChapter *c, const Node *module) {
    Arena *a = b->arena;
    Buf form = {0}, example = {0};
    HelpPage page = {.name = module->text,
                     .kind = "module of the prelude",
                     .doc = comment_of(a, module->span.line),
                     .where = EXAMPLE_MEMBER};
    const Node *params = module->kids[0];
    buf_printf(&form, "%s(", module->text);
    buf_printf(&example, "fc : %s(", module->text);
    for (uint32_t i = 0; i < params->n; i++) {
        const Node *p = params->kids[i];
        const char *default_text = p->value ? node_text(a, p->value) : NULL;
        buf_printf(&form, "%s%s%s%s", i ? ", " : "", p->text, default_text ? " = " : "",
                   default_text ? default_text : "");
        if (!default_text) buf_printf(&example, "%sD", i ? ", " : "");
    }
    buf_printf(&form, ")");
    buf_printf(&example, ")");
    page.form = buf_text(a, &form);
    page.example = buf_text(a, &example);
    help_page(b, c, page);
}

static void add_modules(HelpBook *b) {
    HelpChapter *c = help_chapter(b, "modules", "the prelude: modules that every model file has");
    DiagSet ds;
    diag_init(&ds, b->arena);
    const Node *file = parse_text(&ds, 0, prelude_text, prelude_size, PARSE_FILE, 0);
    CHECK(file);
    for (uint32_t i = 0; i < file->n; i++)
        if (file->kids[i]->kind == NODE_MODULE) add_module(b, c, file->kids[i]);
}

/* ---- calls ---- */

/* Does the example of a function set a key of section train? */
static bool is_of_train(const CallInfo *c) {
    return !strncmp(c->example, "loss = ", 7) || !strncmp(c->example, "metric = ", 9);
}

/* key: of the section, or the section itself. */
static ExampleKind where_in(const char *key) {
    return !strncmp(key, "data", 4)          ? EXAMPLE_DATA
           : !strncmp(key, "train", 5)       ? EXAMPLE_TRAIN
           : !strncmp(key, "checkpoint", 10) ? EXAMPLE_CHECKPOINT
                                             : EXAMPLE_SHARD;
}

static ExampleKind where_of(const CallInfo *c) {
    switch (c->group) {
    case GROUP_FUNCTION: return is_of_train(c) ? EXAMPLE_TRAIN : EXAMPLE_STATEMENT;
    case GROUP_NUMBER: return EXAMPLE_CONFIG;
    case GROUP_INIT: return EXAMPLE_MEMBER;
    default: return where_in(group_table[c->group].keys);
    }
}

static void add_call(HelpBook *b, HelpChapter *chapter, const CallInfo *c) {
    Arena *a = b->arena;
    uint32_t n;
    const ArgumentInfo *arg = call_arguments(c, &n);
    const char *keys = group_table[c->group].keys;
    HelpPage page = {.name = c->name,
                     .kind = *keys                        ? arena_printf(a, "value of %s", keys)
                             : c->group == GROUP_FUNCTION ? "function of tensors"
                             : c->group == GROUP_NUMBER   ? "function of constants"
                                                          : "initial value",
                     .form = c->support == HERE ? call_signature(a, c) : NULL,
                     .doc = with_support(a, c->doc, c->support),
                     .list = "arguments",
                     .example = c->example,
                     .where = c->example ? where_of(c) : EXAMPLE_NONE};
    for (uint32_t i = 0; i < n; i++) {
        HelpRow row = {arg[i].name, value_type_text(a, &arg[i].type), arg[i].default_text,
                       with_support(a, arg[i].doc, arg[i].support)};
        vec_push(a, &page.rows, row);
    }
    help_page(b, chapter, page);
}

static void add_group(HelpBook *b, CallGroup g) {
    HelpChapter *c = help_chapter(b, group_table[g].topic, group_table[g].doc);
    for (int i = 0; i < CALL_COUNT; i++)
        if (call_table[i].group == g) add_call(b, c, &call_table[i]);
}

/* ---- sections ---- */

/* In lines that are short enough for any indent. */
static const char *op_list(Arena *a) {
    const char *names[OP_COUNT];
    size_t n = op_choices(names, OP_COUNT), column = 0;
    Buf out = {0};
    buf_printf(&out, "The ops are (`fsdpc help op.NAME` says what each computes):\n");
    for (size_t i = 0; i < n; i++) {
        bool fits = column + strlen(names[i]) < 92;
        buf_printf(&out, "%s%s", !i ? "" : fits ? " " : "\n", names[i]);
        column = (fits ? column : 0) + strlen(names[i]) + 1;
    }
    return buf_text(a, &out);
}

static void add_key(HelpBook *b, HelpChapter *chapter, const KeyInfo *k) {
    Arena *a = b->arena;
    HelpPage page = {.name = arena_printf(a, "%s.%s", k->section, k->key),
                     .alias = k->key,
                     .kind = arena_printf(a, "key of %s", k->section),
                     .form = arena_printf(a, "%s = %s%s%s", k->key, kinds_text(a, k->kinds),
                                          k->default_text ? "; default " : "",
                                          k->default_text ? k->default_text : ""),
                     .doc = with_support(a, k->doc, k->support),
                     .more = (k->kinds & K_OPS) ? op_list(a) : NULL,
                     .list = "values",
                     .default_text = k->default_text,
                     .example = k->example,
                     .where = k->example ? where_in(k->section) : EXAMPLE_NONE};
    const char *word, *doc;
    for (int i = 0; (word = key_word(k, i, &doc)); i++) {
        HelpRow row = {word, NULL, NULL, doc};
        vec_push(a, &page.rows, row);
    }
    for (int i = 0; i < CALL_COUNT; i++) {
        const CallInfo *c = &call_table[i];
        if (key_group(k) != c->group) continue;
        HelpRow row = {c->name, NULL, NULL, with_support(a, c->doc, c->support)};
        vec_push(a, &page.rows, row);
    }
    help_page(b, chapter, page);
}

static void add_section(HelpBook *b, const SectionInfo *s) {
    HelpChapter *c = help_chapter(b, s->name, s->doc);
    for (int i = 0; i < n_keys; i++)
        if (!strcmp(key_table[i].section, s->name)) add_key(b, c, &key_table[i]);
}

void help_language(HelpBook *b) {
    add_topics(b);
    add_modules(b);
    add_attributes(b);
    add_group(b, GROUP_INIT);
    add_group(b, GROUP_FUNCTION);
    add_group(b, GROUP_NUMBER);
    for (int i = 0; i < n_sections; i++) add_section(b, &section_table[i]);
    add_group(b, GROUP_SOURCE);
    add_group(b, GROUP_OPTIMIZER);
    add_group(b, GROUP_SCHEDULE);
    add_group(b, GROUP_DIRECTIVE);
    add_group(b, GROUP_PRECISION);
    add_group(b, GROUP_UNIT);
    add_group(b, GROUP_SCALE);
    add_group(b, GROUP_PLACEMENT);
}
