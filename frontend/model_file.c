/* Reading a model: the file, the files it uses, the prelude, the preset and the `-s` options.
 *
 * In: a path and the command line. Out: the declarations of all files in one Model: config names,
 * modules, settings of sections, names rules, requirements, the root class. Nothing is evaluated.
 *
 * Files that are used come before the file that uses them, so the user's file has the last word;
 * then the preset, then files of other systems, then `-s` from left to right. Within one file it is
 * an error to give a name twice.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elaborate.h"
#include "program_files.h"
#include "settings.h"
#include "weights.h"

enum { MAX_FILES = 200 };

/* `key = value else value` is for config hf only. */
static void refuse_else(Model *m, const Node *set) {
    if (set->kind != NODE_SET || set->n < 2) return;
    diag_report(m->ds, E_misplaced_entry, set->kids[1]->span,
                "it says what Transformers takes if a config.json lacks the key",
                "`else` is allowed in config hf only");
}

static void add_config(Model *m, const Node *set) {
    refuse_else(m, set);
    ConfigEntry *old = model_config(m, set->text);
    if (old && old->span.file == set->span.file) {
        duplicate_error(m, "config name", set->text, set->text_span, old->span);
        return;
    }
    ConfigEntry c = {.name = set->text,
                     .doc = set->label,
                     .expression = set->kids[0],
                     .span = set->text_span,
                     .from = model_place(m, set->text_span)};
    if (old)
        *old = c;
    else
        vec_push(m->arena, &m->config, c);
}

/* A list of parameters, or of names left of `=`, where `_` takes what nothing needs. */
static void check_names(Model *m, const char *what, const Node *list) {
    for (uint32_t i = 0; i < list->n; i++) {
        const Node *name = list->kids[i];
        for (uint32_t k = 0; k < i && strcmp(name->text, "_"); k++) {
            if (strcmp(name->text, list->kids[k]->text)) continue;
            duplicate_error(m, what, name->text, name->span, list->kids[k]->span);
            break;
        }
    }
}

static void check_block(Model *m, const Node *block) {
    for (uint32_t i = 0; block && i < block->n; i++) {
        const Node *statement = block->kids[i];
        if (statement->kind == NODE_LET) check_names(m, "name", statement->kids[0]);
        if (statement->kind == NODE_FOR) check_block(m, statement->kids[1]);
        if (statement->kind == NODE_IF) check_block(m, statement->kids[1]);
        if (statement->kind == NODE_IF) check_block(m, statement->kids[2]);
        if (statement->kind != NODE_RETURN || i + 1 == block->n) continue;
        Diag d = diag_at(m->ds, W_unreachable, block->kids[i + 1]->span,
                         "this never runs, because the method has returned");
        diag_note(&d, statement->span, "it returns here");
        diag_emit(&d);
        return;
    }
}

static void refuse_methods(Model *m, const Node *members) {
    for (uint32_t i = 0; i < members->n; i++) {
        const Node *member = members->kids[i];
        for (uint32_t k = 1; member->kind == NODE_MEMBER_IF && k < member->n; k++)
            refuse_methods(m, member->kids[k]);
        if (member->kind != NODE_METHOD) continue;
        diag_report(m->ds, E_misplaced_entry, member->span, "move the `if` into the method",
                    "method `%s` cannot be declared under `if`", member->text);
    }
}

/* Methods must be declared once and outside of conditions, and must not have unreachable
 * statements. */
static void check_methods(Model *m, const Node *members) {
    for (uint32_t i = 0; i < members->n; i++) {
        const Node *method = members->kids[i];
        for (uint32_t k = 1; method->kind == NODE_MEMBER_IF && k < method->n; k++)
            refuse_methods(m, method->kids[k]);
        if (method->kind != NODE_METHOD) continue;
        check_names(m, "parameter", method->kids[0]);
        if (method->kids[1]->kind == NODE_BLOCK) check_block(m, method->kids[1]);
        for (uint32_t k = 0; k < i; k++)
            if (members->kids[k]->kind == NODE_METHOD &&
                !strcmp(members->kids[k]->text, method->text)) {
                duplicate_error(m, "method", method->text, method->span, members->kids[k]->span);
                break;
            }
    }
}

static void add_module(Model *m, const Node *node, bool prelude) {
    ModuleDecl *old = model_module(m, node->text);
    check_names(m, "parameter", node->kids[0]);
    check_methods(m, node->kids[1]);
    ModuleDecl d = {node->text, node, prelude, false};
    if (!old) {
        vec_push(m->arena, &m->modules, d);
    } else if (old->prelude) {
        *old = d;
    } else if (!prelude) {
        duplicate_error(m, "module", node->text, node->span, old->node->span);
    }
}

/* `key { a = 1; b = 2 }` in a section is `key = (a = 1, b = 2)`. */
static const Node *nested_value(Model *m, const Node *section) {
    Node *tuple = node_new(m->arena, NODE_TUPLE, section->span, NULL);
    for (uint32_t i = 0; i < section->n; i++) {
        const Node *e = section->kids[i];
        if (e->kind != NODE_SET && e->kind != NODE_SECTION) {
            diag_report(m->ds, E_misplaced_entry, e->span, NULL,
                        "only `key = value` is allowed here");
            continue;
        }
        refuse_else(m, e);
        Node *named = node_new(m->arena, NODE_NAMED, e->span, e->text);
        named->text_span = e->text_span;
        node_add(m->arena, named, e->kind == NODE_SET ? e->kids[0] : (Node *)nested_value(m, e));
        node_add(m->arena, tuple, named);
    }
    return tuple;
}

/* An entry "path.glob" = value: a setting for the parameters or modules that match
 * (settings/directives.c). */
static void add_directive(Model *m, const char *section, const Node *e) {
    if (!strcmp(section, "train") || !strcmp(section, "shard")) {
        directives_add(m, section, e);
        return;
    }
    diag_report(m->ds, E_misplaced_entry, e->span, NULL,
                "section %s takes no \"path\" = value entries; only train, shard and names do",
                section);
}

static void add_section(Model *m, const Node *section) {
    if (!strcmp(section->text, "names")) {
        names_add(m, section);
        return;
    }
    if (!strcmp(section->text, "config")) {
        hf_config_add(m, section);
        return;
    }
    if (!section_known(section->text)) {
        const char *names[16] = {"names", "config", "module"};
        size_t n = 3 + section_names(names + 3, 13);
        Diag d = diag_at(m->ds, E_unknown_section, section->span, "there is no section `%s`",
                         section->text);
        const char *near = nearest_name(section->text, names, n);
        suggest_nearest(&d, section->text, names, n);
        diag_emit(&d);
        for (int i = 0; near && i < n_keys; i++)
            if (!strcmp(key_table[i].section, near))
                model_setting(m, near, key_table[i].key)->misspelt = true;
        return;
    }
    if (section->label)
        diag_report(m->ds, E_misplaced_entry, section->span, NULL, "section %s takes no name",
                    section->text);
    for (uint32_t i = 0; i < section->n; i++) {
        const Node *e = section->kids[i];
        Requirement r = {e->n ? e->kids[0] : NULL, e->label};
        refuse_else(m, e);
        if (e->kind == NODE_REQUIRE)
            vec_push(m->arena, &m->requirements, r);
        else if (e->kind == NODE_SET_PATH)
            add_directive(m, section->text, e);
        else
            model_set_key(m, section->text, e->text, e->text_span,
                          e->kind == NODE_SET ? e->kids[0] : nested_value(m, e),
                          model_place(m, e->text_span), false);
    }
}

static bool load_file(Model *m, const char *path, Span used_at);

/* One file has one name, however it is reached. */
static const char *real_path(Model *m, const char *path) {
    char *real = realpath(path, NULL);
    const char *kept = real ? arena_strdup(m->arena, real) : path;
    free(real);
    return kept;
}

static void load_used(Model *m, const Node *use, const char *user_path) {
    if (!strcmp(use->text, "std.fsd")) return;
    const char *slash = strrchr(user_path, '/');
    const char *path =
        use->text[0] == '/' || !slash
            ? use->text
            : arena_printf(m->arena, "%.*s/%s", (int)(slash - user_path), user_path, use->text);
    if (access(path, F_OK)) path = shared_file(m->arena, use->text);
    const char *identity = real_path(m, path);
    for (uint32_t i = 0; i < m->units.n; i++)
        if (!strcmp(real_path(m, m->units.at[i].path), identity)) return;
    load_file(m, path, use->text_span);
}

static void collect_declarations(Model *m, const Node *file, bool prelude) {
    for (uint32_t i = 0; i < file->n; i++) {
        const Node *item = file->kids[i];
        switch (item->kind) {
        case NODE_MODULE: add_module(m, item, prelude); break;
        case NODE_SECTION: add_section(m, item); break;
        case NODE_MODEL:
            if (m->root_class && m->root_class->span.file == item->span.file)
                duplicate_error(m, "the", "model", item->span, m->root_class->span);
            else
                m->root_class = item->kids[0];
            break;
        case NODE_CONFIG:
            for (uint32_t k = 0; k < item->n; k++) {
                const Node *e = item->kids[k];
                Requirement r = {e->n ? e->kids[0] : NULL, e->label};
                if (e->kind == NODE_SET) {
                    add_config(m, e);
                } else if (e->kind == NODE_REQUIRE) {
                    vec_push(m->arena, &m->requirements, r);
                } else
                    diag_report(m->ds, E_misplaced_entry, e->span, NULL,
                                "only `name = value` and `require` are allowed in config");
            }
            break;
        default: break;
        }
    }
}

static bool add_source(Model *m, const char *path, const char *text, size_t n, bool prelude) {
    SourceUnit u = {.path = path, .prelude = prelude};
    u.file = diag_add_file(m->ds, path, text, n);
    if (!prelude && !m->main_file) m->main_file = u.file;
    uint32_t at = m->units.n;
    vec_push(m->arena, &m->units, u);
    const Node *root = parse_source(m->ds, u.file, PARSE_FILE, 0);
    if (!root) return false;
    m->units.at[at].root = root;
    for (uint32_t i = 0; i < root->n; i++)
        if (root->kids[i]->kind == NODE_USE) load_used(m, root->kids[i], path);
    collect_declarations(m, root, prelude);
    return true;
}

static bool load_file(Model *m, const char *path, Span used_at) {
    size_t n = 0;
    bool room = m->units.n < MAX_FILES;
    char *text = room ? read_file(path, &n) : NULL;
    if (!text) {
        Diag d = room ? diag_at(m->ds, E_cannot_read, used_at, "cannot read %s: %s", path,
                                strerror(errno))
                      : diag_at(m->ds, E_too_many_files, used_at,
                                "a model can have at most %d files", MAX_FILES);
        diag_emit(&d);
        SourceUnit missing = {.path = path};
        vec_push(m->arena, &m->units, missing);
        return false;
    }
    const char *kept = arena_strndup(m->arena, text, n);
    free(text);
    return add_source(m, arena_strdup(m->arena, path), kept, n, false);
}

/* A preset must only set config names that exist, whether it is chosen or not. */
static void check_preset(Model *m, const Node *preset) {
    for (uint32_t i = 0; i < preset->n; i++) {
        const Node *e = preset->kids[i];
        refuse_else(m, e);
        if (e->kind == NODE_SET && model_config(m, e->text)) continue;
        StringList config = {0};
        config_names(m, &config);
        diag_report(m->ds, E_unknown_config, e->text_span,
                    e->text ? known_names(m->arena, e->text, config.at.at, config.at.n) : NULL,
                    "there is no config name `%s`", e->text ? e->text : "?");
    }
}

typedef struct PresetList {
    VEC(const Node *) at;
    StringList names;
} PresetList;

static void add_preset(Model *m, PresetList *all, const Node *preset) {
    check_preset(m, preset);
    for (uint32_t k = 0; k < all->at.n; k++) {
        if (strcmp(all->at.at[k]->text, preset->text)) continue;
        duplicate_error(m, "preset", preset->text, preset->span, all->at.at[k]->span);
        return;
    }
    vec_push(m->arena, &all->at, preset);
    vec_push(m->arena, &all->names.at, preset->text);
}

static void apply_presets(Model *m, const char *name) {
    PresetList all = {0};
    const Node *found = NULL;
    for (uint32_t u = 0; u < m->units.n; u++)
        for (uint32_t i = 0; m->units.at[u].root && i < m->units.at[u].root->n; i++)
            if (m->units.at[u].root->kids[i]->kind == NODE_PRESET)
                add_preset(m, &all, m->units.at[u].root->kids[i]);
    if (!name) return;
    for (uint32_t i = 0; i < all.at.n; i++)
        if (!strcmp(all.at.at[i]->text, name)) found = all.at.at[i];
    if (!found) {
        diag_report(m->ds, E_unknown_preset, (Span){0},
                    all.at.n ? known_names(m->arena, name, all.names.at.at, all.names.at.n) : NULL,
                    "the model has no preset `%s`", name);
        return;
    }
    for (uint32_t i = 0; i < found->n; i++) {
        const Node *e = found->kids[i];
        ConfigEntry *c = e->kind == NODE_SET ? model_config(m, e->text) : NULL;
        if (!c) continue;
        c->expression = e->kids[0];
        c->span = e->text_span;
        c->from = arena_printf(m->arena, "preset \"%s\"", name);
    }
}

/* `-s 'shard."path.glob"=value'`: a setting of a path, which comes before those of the files. */
static void set_path(Model *m, const char *section, const char *quoted, Span at,
                     const Node *value) {
    size_t n = strlen(quoted);
    if (n < 3 || quoted[0] != '"' || quoted[n - 1] != '"') {
        diag_report(m->ds, E_set_without_value, at, "for example -s 'shard.\"h.*\"=unit'",
                    "a path must be in double quotes");
        return;
    }
    Node *e = node_new(m->arena, NODE_SET_PATH, at, arena_strndup(m->arena, quoted + 1, n - 2));
    e->text_span = at;
    node_add(m->arena, e, (Node *)value);
    add_directive(m, section, e);
}

/* -s section.key=value, or a path in quotes in place of the key. */
static void set_in_section(Model *m, const char *section, const char *key, Span at,
                           const Node *value) {
    if (section_known(section) && strpbrk(key, "\"*")) {
        set_path(m, section, key, at, value);
    } else if (section_known(section)) {
        model_set_key(m, section, key, at, value, "-s", true);
    } else {
        const char *names[16];
        size_t n = section_names(names, ARRAY_LEN(names));
        diag_report(m->ds, E_unknown_section, at, known_names(m->arena, section, names, n),
                    "there is no section `%s`", section);
    }
}

/* -s name=value */
static void set_config(Model *m, const char *name, Span at, const Node *value) {
    ConfigEntry *c = model_config(m, name);
    if (c) {
        c->expression = value;
        c->span = at;
        c->from = "-s";
        return;
    }
    StringList names = {0};
    config_names(m, &names);
    Diag d = diag_at(m->ds, E_unknown_config, at, "there is no config name `%s`", name);
    const char *section = NULL;
    for (int i = 0; i < n_keys; i++)
        if (!strcmp(key_table[i].key, name)) section = key_table[i].section;
    if (section)
        diag_help(&d, "the key is %s.%s", section, name);
    else
        suggest_nearest(&d, name, names.at.at, names.at.n);
    diag_emit(&d);
}

static void apply_set(Model *m, const char *text) {
    const char *equals = strchr(text, '=');
    uint32_t file = diag_add_file(m->ds, "-s", arena_strdup(m->arena, text), strlen(text));
    uint32_t width = (uint32_t)(equals ? (size_t)(equals - text) : strlen(text));
    Span at = {file, 1, 1, 1, width + 1};
    if (!equals || equals == text) {
        diag_report(m->ds, E_set_without_value, at, "for example -s L=4 or -s train.batch=8",
                    "-s needs name=value");
        return;
    }
    const Node *value = parse_source(m->ds, file, PARSE_EXPRESSION, width + 1);
    if (!value) return;
    char *name = arena_strndup(m->arena, text, width);
    while (width && name[width - 1] == ' ') name[--width] = 0;
    char *dot = strchr(name, '.');
    if (dot) {
        *dot = 0;
        set_in_section(m, name, dot + 1, at, value);
    } else {
        set_config(m, name, at, value);
    }
}

bool model_read(Model *m, const char *path, const char *text, size_t n) {
    for (int i = 0; i < n_keys; i++) {
        KeyValue s = {.key = &key_table[i], .from = "default"};
        vec_push(m->arena, &m->settings, s);
    }
    bool parsed = text ? add_source(m, path, text, n, false) : load_file(m, path, (Span){0});
    for (uint32_t i = 0; i < m->units.n; i++) parsed &= m->units.at[i].root != NULL;
    if (!parsed) return false;
    add_source(m, "std.fsd", prelude_text, prelude_size, true);
    apply_presets(m, m->options->preset);
    return true;
}

void model_apply_options(Model *m) {
    for (int i = 0; i < m->options->n_set; i++) apply_set(m, m->options->set[i]);
}
