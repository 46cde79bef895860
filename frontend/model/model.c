/* Lookups in a Model, setting its keys, and the errors that all rooms report about it: a name given
 * twice, a name that does not exist, something that is not supported yet.
 */
#include "model.h"

#include <string.h>

Model *model_copy(const Model *from, Arena *a) {
    Model *m = arena_new_of(a, Model);
    *m = *from;
    m->arena = a;
    vec_copy(a, &m->config);
    vec_copy(a, &m->modules);
    vec_copy(a, &m->settings);
    vec_copy(a, &m->directives);
    vec_copy(a, &m->names);
    for (uint32_t i = 0; i < m->names.n; i++) vec_copy(a, &m->names.at[i].rules);
    memset(&m->defaults, 0, sizeof m->defaults);
    return m;
}

ConfigEntry *model_config(Model *m, const char *name) {
    for (uint32_t i = 0; i < m->config.n; i++)
        if (!strcmp(m->config.at[i].name, name)) return &m->config.at[i];
    return NULL;
}

ModuleDecl *model_module(Model *m, const char *name) {
    for (uint32_t i = 0; i < m->modules.n; i++)
        if (!strcmp(m->modules.at[i].name, name)) return &m->modules.at[i];
    return NULL;
}

KeyValue *model_setting(Model *m, const char *section, const char *key) {
    for (uint32_t i = 0; i < m->settings.n; i++)
        if (!strcmp(m->settings.at[i].key->section, section) &&
            !strcmp(m->settings.at[i].key->key, key))
            return &m->settings.at[i];
    BUG("no setting %s.%s", section, key);
}

const char *import_option(ImportFormat f) {
    static const char *const options[] = {
#define FORMAT(id, option, doc) option,
#include "import_formats.def"
    };
    return options[f];
}

void config_names(const Model *m, StringList *names) {
    for (uint32_t i = 0; i < m->config.n; i++) vec_push(m->arena, &names->at, m->config.at[i].name);
}

bool model_has_root(Model *m) {
    if (m->root_class) return true;
    const SourceUnit *file = &m->units.at[0];
    return diag_report(
        m->ds, E_unknown_module, (Span){0},
        "a model file declares modules and ends with model = Name, data { } and train { }",
        file->root->n ? "%s does not say which module to train" : "%s is empty", file->path);
}

const char *model_place(Model *m, Span at) {
    const char *file = m->ds->files.at[at.file].base;
    return strcmp(file, "-s") ? arena_printf(m->arena, "%s:%u", file, at.line) : file;
}

void duplicate_error(Model *m, const char *what, const char *name, Span at, Span before) {
    Diag d = diag_at(m->ds, E_given_twice, at, "%s `%s` is given twice", what, name);
    diag_note(&d, before, "it is also given here");
    diag_emit(&d);
}

Diag unsupported_error(Model *m, Span at, const char *format, ...) {
    va_list args;
    va_start(args, format);
    Diag d = diag_vat(m->ds, E_lacking, at, format, args);
    va_end(args);
    diag_more(&d, " is not supported yet");
    return d;
}

const char *known_names(Arena *a, const char *word, const char *const *names, size_t n) {
    Buf list = {0};
    for (size_t i = 0; i < n && list.n < 90; i++)
        buf_printf(&list, "%s%s", i ? ", " : "", names[i]);
    const char *more = list.n >= 90 ? ", .." : "", *text = buf_text(a, &list);
    text = *text ? arena_printf(a, "known names: %s%s", text, more) : NULL;
    return nearest_help(a, word, names, n, text);
}

void suggest_nearest(Diag *d, const char *word, const char *const *names, size_t n) {
    const char *help = known_names(d->set->arena, word, names, n);
    if (help) d->help = help;
}

void suggest_supported(Diag *d, const char *const *names, size_t n) {
    Buf list = {0};
    for (size_t i = 0; i < n; i++) buf_printf(&list, "%s%s", i ? ", " : "", names[i]);
    if (n) diag_help(d, "supported: %s", list.at);
    buf_free(&list);
}

static void unknown_key(Model *m, const char *section, const char *key, Span at) {
    const char *names[128];
    const CallInfo *call;
    size_t n = key_names(section, names, ARRAY_LEN(names));
    const KeyInfo *taker = argument_key(section, key, &call);
    const char *near = taker ? NULL : nearest_name(key, names, n);
    diag_report(m->ds, E_unknown_key, at,
                taker ? arena_printf(m->arena, "`%s` is an argument in %s.%s: %s = %s(%s = ..)",
                                     key, section, taker->key, taker->key, call->name, key)
                      : known_names(m->arena, key, names, n),
                "section %s has no key `%s`", section, key);
    if (near) model_setting(m, section, near)->misspelt = true;
}

void model_set_key(Model *m, const char *section, const char *key, Span at, const Node *value,
                   const char *from, bool may_replace) {
    const KeyInfo *k = key_find(section, key);
    if (!k) {
        unknown_key(m, section, key, at);
        return;
    }
    KeyValue *s = model_setting(m, section, key);
    if (!may_replace && s->expression && s->span.file == at.file) {
        duplicate_error(m, "key", key, at, s->span);
        return;
    }
    s->expression = value;
    s->span = at;
    s->from = from;
    s->order = ++m->next_order;
}

bool setting_error(Model *m, const KeyValue *s, const char *format, ...) {
    va_list args;
    Span at = s->value.span.file ? s->value.span : s->span;
    va_start(args, format);
    Diag d = diag_vat(m->ds, E_contradiction, at, format, args);
    va_end(args);
    diag_emit(&d);
    return false;
}

/* Warns about a setting that was given and changes nothing, because the user meant something by
 * it. Callers do not warn about a setting that asks for what holds anyway (prefetch = 0). */
void warn_idle(Model *m, const char *section, const char *key, const char *why) {
    const KeyValue *s = model_setting(m, section, key);
    if (!s->expression || s->value.kind == VALUE_ERROR) return;
    Span at = s->value.span.file ? s->value.span : s->span;
    diag_report(m->ds, W_no_effect, at, NULL, "%s: %s has no effect", why, key);
}

double own_lr_factor(Model *m, const ExprValue *own, double lr) {
    double factor = value_number(own) / lr;
    if (factor <= LARGEST_NUMBER) return factor;
    diag_report(m->ds, E_contradiction, own->span, NULL,
                "a learning rate can be at most %g times the optimizer's, %g", LARGEST_NUMBER, lr);
    return 1;
}

/* ---- what names are bound to: locals, fields, methods ---- */

const Local *scope_local(const Scope *s, const char *name) {
    for (uint32_t i = s->locals.n; i > 0; i--)
        if (!strcmp(s->locals.at[i - 1].name, name)) return &s->locals.at[i - 1];
    return NULL;
}

void scope_bind(Scope *s, const char *name, ExprValue v) {
    for (uint32_t i = 0; i < s->locals.n; i++)
        if (!strcmp(s->locals.at[i].name, name)) {
            s->locals.at[i].value = v;
            return;
        }
    Local l = {name, v};
    vec_push(s->model->arena, &s->locals, l);
}

const ExprValue *instance_argument(const Instance *m, const char *name) {
    for (uint32_t i = 0; i < m->arguments.n; i++)
        if (!strcmp(m->arguments.at[i].name, name)) return &m->arguments.at[i].value;
    return NULL;
}

InstanceField *instance_field(Instance *m, const char *name) {
    for (uint32_t i = 0; i < m->fields.n; i++)
        if (!strcmp(m->fields.at[i].name, name)) return &m->fields.at[i];
    return NULL;
}

const Node *instance_method(const Instance *m, const char *name) {
    const Node *members = m->decl->node->kids[1];
    for (uint32_t i = 0; i < members->n; i++)
        if (members->kids[i]->kind == NODE_METHOD && !strcmp(members->kids[i]->text, name))
            return members->kids[i];
    return NULL;
}

void instance_names(const Scope *s, StringList *names) {
    if (!s->self) return;
    Arena *a = s->model->arena;
    for (uint32_t i = 0; i < s->self->fields.n; i++)
        vec_push(a, &names->at, s->self->fields.at[i].name);
    for (uint32_t i = 0; i < s->self->arguments.n; i++)
        vec_push(a, &names->at, s->self->arguments.at[i].name);
}

void method_names(const Scope *s, StringList *names) {
    if (!s->self) return;
    const Node *members = s->self->decl->node->kids[1];
    for (uint32_t i = 0; i < members->n; i++)
        if (members->kids[i]->kind == NODE_METHOD)
            vec_push(s->model->arena, &names->at, members->kids[i]->text);
}

ParamSlot *param_owner(ParamSlot *p) {
    while (p->same_as) p = p->same_as;
    return p;
}

bool scope_knows(const Scope *s, const char *name) {
    if (scope_local(s, name) || model_config(s->model, name)) return true;
    return s->self && (instance_field(s->self, name) || instance_argument(s->self, name));
}
