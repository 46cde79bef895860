/* Fills in a family's model file: each key of config.json that `config hf` maps to a name of
 * `config` gives that name its value, in the text of the file; what the file says otherwise stays
 * as it is. Then the model that was made is compared with config.json as --load does
 * (tensors/hf_compare.c), so that a key is used, has no effect, or is refused.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evaluate.h"
#include "families.h"
#include "frontend.h"
#include "settings.h"

/* ---- the model files of models/hf as texts in this program ---- */

typedef struct Family {
    const char *name, *text; /* `model_type`; the model file */
} Family;

static const Family family_table[] = {
#include "families.inc"
};
static const int n_families = ARRAY_LEN(family_table);

typedef struct Filling {
    DiagSet *ds;
    Arena *arena;
    Model *m; /* of the family's file as it is */
    const HfConfig *c;
    const char **value;   /* by row of m->config: text in place of the file's, or NULL */
    const HfEntry **from; /* by the same: the key that says so, or NULL */
    const char **absent;  /* what it would be without the key, or NULL */
    bool failed;
} Filling;

/* ---- values ---- */

static bool is_plain(const char *text) {
    for (; *text; text++)
        if (*text < ' ' || *text == '"' || *text == '\\' || *text > '~') return false;
    return true;
}

static bool put_json(Buf *out, const json_t *value) {
    char real[40];
    switch (json_typeof(value)) {
    case JSON_NULL: buf_printf(out, "none"); return true;
    case JSON_TRUE: buf_printf(out, "true"); return true;
    case JSON_FALSE: buf_printf(out, "false"); return true;
    case JSON_INTEGER: buf_printf(out, "%lld", (long long)json_integer_value(value)); return true;
    case JSON_REAL:
        double_text(json_real_value(value), real);
        buf_printf(out, strpbrk(real, ".e") ? "%s" : "%s.0", real);
        return true;
    case JSON_STRING:
        buf_printf(out, "\"%s\"", json_string_value(value));
        return is_plain(json_string_value(value));
    case JSON_ARRAY:
        buf_printf(out, "[");
        for (size_t i = 0; i < json_array_size(value); i++) {
            buf_printf(out, i ? ", " : "");
            if (!put_json(out, json_array_get(value, i))) return false;
        }
        buf_printf(out, "]");
        return true;
    case JSON_OBJECT: return false;
    }
    return false;
}

/* The kind of value that the name has in the family's file; NULL: this value is of that kind. */
static const char *wanted_kind(const ConfigEntry *name, const json_t *value) {
    switch (name->value.kind) {
    case VALUE_INT: return json_is_integer(value) ? NULL : "an integer";
    case VALUE_REAL: return json_is_number(value) ? NULL : "a number";
    case VALUE_BOOL: return json_is_boolean(value) ? NULL : "true or false";
    case VALUE_TEXT: return json_is_string(value) ? NULL : "a string";
    case VALUE_LIST: return json_is_array(value) ? NULL : "a list";
    default: return json_is_boolean(value) ? "no boolean" : NULL;
    }
}

static void set_name(Filling *f, const HfEntry *h, const ConfigEntry *name) {
    Buf out = {0};
    const char *wanted = wanted_kind(name, h->value);
    json_t *real = NULL;
    if (name->value.kind == VALUE_REAL && json_is_integer(h->value))
        real = json_real((double)json_integer_value(h->value));
    if (wanted || !put_json(&out, real ? real : h->value)) {
        f->failed = true;
        diag_report(f->ds, E_hf_config, (Span){0}, "download config.json again, or mend the key",
                    "%s: %s = %s: the key takes %s", f->c->path, h->given,
                    hf_value_text(f->arena, h->value), wanted ? wanted : "a plain word");
    } else {
        f->value[name - f->m->config.at] = arena_strndup(f->arena, out.at, out.n);
    }
    json_decref(real);
    buf_free(&out);
}

/* ---- keys ---- */

/* Whether null stands for the value after `else`, as None does in Transformers where that value is
 * computed from others. */
static bool null_is_absent(const Node *e) {
    return e->n > 1 && (node_names(e->kids[1], NULL) || e->kids[1]->kind == NODE_NONE);
}

static void fill_key(Filling *f, const char *key, const Node *e) {
    const HfEntry *h = hf_config_find(f->c, hf_standard_name(f->arena, key));
    ConfigEntry *name = e->kids[0]->kind == NODE_REF ? model_config(f->m, e->kids[0]->text) : NULL;
    bool null = h && json_is_null(h->value), nullable = hf_entry_nullable(f->m, e);
    if (null && !nullable && null_is_absent(e)) h = NULL;
    if (h && null && !nullable && name) {
        f->failed = true;
        diag_report(f->ds, E_hf_config, (Span){0}, "the model needs a value there",
                    "%s: %s is null", f->c->path, h->given);
    } else if (!h && e->n < 2) {
        f->failed = true;
        diag_report(f->ds, E_hf_config, (Span){0},
                    "the model needs a value there; download config.json again",
                    "%s has no key `%s`", f->c->path, key);
    } else if (name) {
        size_t row = (size_t)(name - f->m->config.at);
        if (!h && f->value[row]) return; /* another key says it */
        f->from[row] = h;
        f->absent[row] = e->n > 1 ? node_text(f->arena, e->kids[1]) : NULL;
        f->value[row] = h ? "none" : f->absent[row];
        if (h && !null) set_name(f, h, name);
    }
}

static void fill_keys(Filling *f, const char *prefix, const Node *section) {
    for (uint32_t i = 0; i < section->n; i++) {
        const Node *e = section->kids[i];
        const char *key = arena_printf(f->arena, "%s%s", prefix, e->text);
        if (e->kind == NODE_SECTION)
            fill_keys(f, arena_printf(f->arena, "%s.", key), e);
        else if (!hf_entry_skips(e))
            fill_key(f, key, e);
    }
}

/* ---- the text ---- */

/* Where line and column (from 1) are in the text. */
static size_t offset_of(const char *text, uint32_t line, uint32_t col) {
    const char *at = text;
    for (; line > 1; line--) at = strchr(at, '\n') + 1;
    return (size_t)(at - text) + col - 1;
}

/* The rest of a family's file, with the folder's tokens in place of synthetic ones. */
static void put_rest(Buf *out, const char *text, const char *tokens) {
    static const char synthetic[] = "synthetic_tokens(vocab = vocab)";
    const char *at = tokens ? strstr(text, synthetic) : NULL;
    if (at) {
        const char *note = strstr(text, "# Synthetic tokens");
        CHECK(note && note < at);
        const char *line = strchr(note, '\n') + 1;
        buf_write(out, text, (size_t)(note - text));
        buf_printf(out, "%.*stokens(\"%s\")", (int)(at - line), line, tokens);
        text = at + strlen(synthetic);
    }
    buf_printf(out, "%s", text);
}

/* The first line of the family's file says which model it is by default, which no longer holds. */
static char *filled_text(const Filling *f, const Family *family, const char *tokens) {
    Buf out = {0};
    const char *text = family->text;
    size_t from = (size_t)(strchr(text, '\n') + 1 - text);
    buf_printf(&out, "# Imported from a config.json of model_type \"%s\"\n", family->name);
    for (uint32_t i = 0; i < f->m->config.n; i++) {
        const ConfigEntry *c = &f->m->config.at[i];
        if (!f->value[i]) continue;
        Span at = c->expression->span;
        size_t begin = offset_of(text, at.line, at.col),
               end = offset_of(text, at.end_line, at.end_col);
        CHECK(begin >= from);
        buf_write(&out, text + from, begin - from);
        buf_printf(&out, "%s", f->value[i]);
        size_t space = strspn(text + end, " "), width = end + space - begin;
        size_t left = width > strlen(f->value[i]) ? width - strlen(f->value[i]) : 1;
        if (space > 1)
            buf_printf(&out, "%*s", (int)left, ""); /* what follows stays in its column */
        from = end + (space > 1 ? space : 0);
    }
    put_rest(&out, text + from, tokens);
    return buf_text(f->arena, &out);
}

/* ---- the model ---- */

static const CompileOptions no_options = {0};

/* Whether the model would be right with this text for row i of its config; NULL: the file's. */
static bool right_with(Filling *f, const Family *family, uint32_t i, const char *value) {
    Arena *a = arena_new();
    DiagSet ds;
    Buf messages = {0};
    const char *kept = f->value[i];
    f->value[i] = value;
    const char *text = filled_text(f, family, NULL);
    f->value[i] = kept;
    diag_init(&ds, a);
    diag_capture(&ds, &messages);
    Frontend *made = frontend_open_text(&ds, family->name, text, strlen(text), &no_options);
    bool right = !made->exit_code && frontend_elaborate(made);
    buf_free(&messages);
    arena_free(a);
    return right;
}

/* Whether key and value are to blame: without them the model would be right. */
static bool blames(Filling *f, const Family *family, uint32_t i) {
    if (!f->from[i]) return false;
    return (f->absent[i] && right_with(f, family, i, f->absent[i])) ||
           right_with(f, family, i, NULL);
}

static void blame_keys(Filling *f, const Family *family) {
    Buf keys = {0};
    for (uint32_t i = 0; i < f->m->config.n; i++)
        if (blames(f, family, i))
            buf_printf(&keys, "%s%s = %s", keys.n ? " with " : "", f->from[i]->given,
                       hf_value_text(f->arena, f->from[i]->value));
    diag_report(
        f->ds, E_hf_key, (Span){0},
        "the errors above say why, in the model file that was made; download config.json again, "
        "or write the model by hand, beginning with the family's file in models/hf",
        "%s: the family `%s` does not support %s", f->c->path, family->name,
        keys.n ? keys.at : "these values together");
    buf_free(&keys);
}

/* Opens the text and compares it with config.json. */
static bool check_text(Filling *f, const Family *family, const char *text) {
    const char *name = arena_printf(f->arena, "%s as %s.fsd", f->c->path, family->name);
    DiagSet ds;
    diag_init(&ds, f->arena);
    ds.format = f->ds->format;
    ds.color = f->ds->color;
    ds.quiet = true;
    Frontend *made = frontend_open_text(&ds, name, text, strlen(text), &no_options);
    if (made->exit_code || !frontend_elaborate(made)) {
        blame_keys(f, family);
        return false;
    }
    Buf accepted = {0}, report = {0};
    int code = hf_config_compare(f->c, made->settings.hf_config, made->settings.hf_facts, NULL,
                                 &accepted, &report);
    for (char *line = report.at; code && line && *line;) {
        size_t n = strcspn(line, "\n");
        diag_report(
            f->ds, E_hf_key, (Span){0},
            "fsdpc would compute another function; write the model by hand, beginning with the "
            "family's file in models/hf",
            "%s: %.*s", f->c->path, (int)n, line);
        line += n + (line[n] == '\n');
    }
    buf_free(&accepted);
    buf_free(&report);
    return !code;
}

/* ---- families ---- */

static const Family *find_family(const HfConfig *c) {
    const HfEntry *e = hf_config_find(c, "model_type");
    const char *type = e ? json_string_value(e->value) : NULL;
    for (int i = 0; i < n_families && type; i++)
        if (!strcmp(type, family_table[i].name)) return &family_table[i];
    return NULL;
}

static void report_unknown_family(DiagSet *ds, const HfConfig *c) {
    const HfEntry *e = hf_config_find(c, "model_type");
    const char *type = e ? json_string_value(e->value) : NULL;
    const char **names = arena_array(c->arena, const char *, n_families);
    Buf list = {0};
    for (int i = 0; i < n_families; i++) {
        names[i] = family_table[i].name;
        buf_printf(&list, "%s%s", i ? ", " : "supported: ", names[i]);
    }
    const char *near = type ? nearest_name(type, names, (size_t)n_families) : NULL;
    const char *help = arena_printf(c->arena, "%s%s%s%s", near ? "is it `" : "", near ? near : "",
                                    near ? "`? " : "", list.at);
    buf_free(&list);
    if (e)
        diag_report(ds, E_hf_family, (Span){0}, help, "%s: model_type = %s is not supported",
                    c->path, hf_value_text(c->arena, e->value));
    else
        diag_report(ds, E_hf_family, (Span){0}, help, "%s has no key `model_type`", c->path);
}

static bool has_own_code(DiagSet *ds, const HfConfig *c) {
    for (uint32_t i = 0; i < c->entries.n; i++) {
        if (!hf_key_own_code(c->entries.at[i].key)) continue;
        diag_report(
            ds, E_hf_family, (Span){0},
            "fsdpc does not run code of a folder: write the model by hand, or use the version of "
            "the folder that Transformers loads without trust_remote_code",
            "%s: %s: the model is defined by Python code in its folder", c->path,
            c->entries.at[i].given);
        return true;
    }
    return false;
}

const char *family_import(DiagSet *ds, const HfConfig *c, const char *tokens, const char **name) {
    const Family *family = find_family(c);
    if (!family && !has_own_code(ds, c)) report_unknown_family(ds, c);
    if (!family) return NULL;
    *name = family->name;
    Frontend *open =
        frontend_open_text(ds, arena_printf(c->arena, "models/hf/%s.fsd", family->name),
                           family->text, strlen(family->text), &no_options);
    if (open->exit_code) BUG("the model file of family %s is wrong", family->name);
    Filling f = {.ds = ds, .arena = c->arena, .m = open->model, .c = c};
    f.value = arena_array(c->arena, const char *, f.m->config.n + 1);
    f.absent = arena_array(c->arena, const char *, f.m->config.n + 1);
    f.from = arena_array(c->arena, const HfEntry *, f.m->config.n + 1);
    fill_keys(&f, "", f.m->hf_config);
    if (f.failed) return NULL;
    const char *text = filled_text(&f, family, tokens);
    return check_text(&f, family, text) ? text : NULL;
}
