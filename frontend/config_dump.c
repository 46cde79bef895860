/* `dump --stage=config`: every final value and where it came from.
 *
 * In: a Model whose config and settings are evaluated. Out: text with one line for each value, or
 * one JSON object; config names, sections, and the keys of imported files with what became of them.
 * Values that nobody gave and that have no default are left out.
 */
#include <string.h>

#include "frontend.h"
#include "json_text.h"
#include "model.h"

/* The text of a setting: an expression as written, a value as it was understood. */
static const char *setting_text(Model *m, const KeyValue *s) {
    if (s->key->kinds & K_EXPRESSION) {
        if (!s->expression) return NULL;
        return node_text(m->arena, s->expression);
    }
    if (!s->expression && !s->key->default_text && s->value.kind == VALUE_NONE) return NULL;
    return value_text(m->arena, &s->value);
}

const char *frontend_setting(const Frontend *f, const char *key) {
    size_t section = strcspn(key, ".");
    const char *name = arena_strndup(f->arena, key, section);
    const char *text = setting_text(f->model, model_setting(f->model, name, key + section + 1));
    return text ? text : "none";
}

static void print_line(Buf *out, const char *name, const char *value, const char *from,
                       const char *doc) {
    buf_printf(out, "  %-16s = %-24s # %s%s%s\n", name, value, from, doc ? "; " : "",
               doc ? doc : "");
}

/* After the last key of a section. */
static bool directives_follow(const Model *m, uint32_t i) {
    return i + 1 == m->settings.n ||
           strcmp(m->settings.at[i].key->section, m->settings.at[i + 1].key->section) != 0;
}

static void print_directives(Model *m, const char *section, Buf *out) {
    for (uint32_t i = 0; i < m->directives.n; i++) {
        const Directive *d = &m->directives.at[i];
        if (strcmp(d->section, section)) continue;
        print_line(out, arena_printf(m->arena, "\"%s\"", d->glob),
                   node_text(m->arena, d->expression), model_place(m, d->span), NULL);
    }
}

void frontend_print_names(const Frontend *f, Buf *out) {
    Model *m = f->model;
    if (m->config.n) buf_printf(out, "config\n");
    for (uint32_t i = 0; i < m->config.n; i++) {
        const ConfigEntry *c = &m->config.at[i];
        print_line(out, c->name, value_text(m->arena, &c->value), c->from, c->doc);
    }
}

static void print_text(Model *m, Buf *out) {
    const char *section = "";
    for (uint32_t i = 0; i < m->settings.n; i++) {
        const KeyValue *s = &m->settings.at[i];
        const char *text = setting_text(m, s);
        if (text && strcmp(section, s->key->section)) buf_printf(out, "%s\n", s->key->section);
        if (text) section = s->key->section;
        if (text) print_line(out, s->key->key, text, s->from, NULL);
        if (directives_follow(m, i)) print_directives(m, s->key->section, out);
    }
}

static void print_imports(Model *m, Buf *out) {
    for (uint32_t i = 0; i < m->imports.n; i++) {
        buf_printf(out, "%s\n", m->imports.at[i].path);
        for (uint32_t k = 0; k < m->imports.at[i].entries.n; k++) {
            const ImportEntry *e = &m->imports.at[i].entries.at[k];
            buf_printf(out, "  %s = %s\n    %s%s\n", e->key, e->text,
                       e->idle ? "has no effect: " : "", e->became);
        }
    }
}

static json_t *value_json(Model *m, const ExprValue *v) {
    switch (v->kind) {
    case VALUE_NONE: return json_null();
    case VALUE_BOOL: return json_boolean(v->boolean);
    case VALUE_INT: return json_integer(v->integer);
    case VALUE_REAL: return json_real(v->real);
    case VALUE_TEXT: return json_string(v->text);
    default: return json_string(value_text(m->arena, v));
    }
}

static void add_json(json_t *object, const char *name, json_t *value, const char *from,
                     const char *doc) {
    json_t *entry = json_object();
    json_object_set_new(entry, "value", value);
    json_object_set_new(entry, "from", json_string(from));
    if (doc) json_object_set_new(entry, "doc", json_string(doc));
    json_object_set_new(object, name, entry);
}

static void print_json(Model *m, Buf *out) {
    json_t *all = json_object(), *config = json_object();
    for (uint32_t i = 0; i < m->config.n; i++) {
        const ConfigEntry *c = &m->config.at[i];
        add_json(config, c->name, value_json(m, &c->value), c->from, c->doc);
    }
    json_object_set_new(all, "config", config);
    for (uint32_t i = 0; i < m->settings.n; i++) {
        const KeyValue *s = &m->settings.at[i];
        const char *text = setting_text(m, s);
        if (!text) continue;
        json_t *section = json_object_get(all, s->key->section);
        if (!section) {
            section = json_object();
            json_object_set_new(all, s->key->section, section);
        }
        json_t *value = s->key->kinds & K_EXPRESSION ? json_string(text) : value_json(m, &s->value);
        add_json(section, s->key->key, value, s->from, NULL);
    }
    for (uint32_t i = 0; i < m->directives.n; i++) {
        const Directive *d = &m->directives.at[i];
        add_json(json_object_get(all, d->section), d->glob,
                 json_string(node_text(m->arena, d->expression)), model_place(m, d->span), NULL);
    }
    for (uint32_t i = 0; i < m->imports.n; i++) {
        json_t *keys = json_object();
        for (uint32_t k = 0; k < m->imports.at[i].entries.n; k++) {
            const ImportEntry *e = &m->imports.at[i].entries.at[k];
            json_object_set_new(
                keys, e->key,
                json_pack("{s:s, s:s}", "value", e->text, e->idle ? "idle" : "became", e->became));
        }
        json_object_set_new(all, m->imports.at[i].path, keys);
    }
    json_write(all, JSON_COMPACT | JSON_REAL_PRECISION(17), out);
}

void frontend_print_config(const Frontend *f, bool json, Buf *out) {
    if (json) {
        print_json(f->model, out);
        return;
    }
    frontend_print_names(f, out);
    print_text(f->model, out);
    print_imports(f->model, out);
}
