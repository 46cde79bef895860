/* Config constants: evaluated on demand, so they may be in any order; checked for cycles,
 * requirements and names that nothing uses. Also opens the frontend. */
#include <string.h>

#include "model.h"

int model_exit_code(const Model *m, int errors) {
    if (!errors) return EXIT_DONE;
    if (errors > m->lacks + m->corrupt) return EXIT_USER;
    return m->corrupt ? EXIT_CORRUPT : EXIT_ENVIRONMENT;
}

Diag model_lacks(Model *m, Span at, const char *format, ...) {
    va_list args;
    Buf text = {0};
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    m->lacks++;
    Diag d = diag_error(m->ds, "E0390", at, "%s is known but not in this version",
                        text.at ? text.at : "");
    buf_free(&text);
    return d;
}

void help_nearest(Diag *d, const char *word, const char *const *names, size_t n) {
    const char *near = nearest_name(word, names, n);
    if (near) {
        diag_help(d, "did you mean `%s`?", near);
        return;
    }
    Buf list = {0};
    for (size_t i = 0; i < n && list.n < 90; i++)
        buf_printf(&list, "%s%s", i ? ", " : "", names[i]);
    if (list.n) diag_help(d, "there is: %s%s", list.at, list.n >= 90 ? ", .." : "");
    buf_free(&list);
}

ConstValue config_value(Model *m, ConfigEntry *c) {
    if (c->state == CONFIG_DONE) return c->value;
    if (c->state == CONFIG_BUSY) {
        Diag d = diag_error(m->ds, "E0205", c->span, "config name `%s` depends on itself", c->name);
        diag_note(&d, c->expression->span, "this needs `%s`", c->name);
        diag_emit(&d);
        c->state = CONFIG_DONE;
        return c->value = value_error(c->span);
    }
    c->state = CONFIG_BUSY;
    Scope s = {.model = m};
    ConstValue v = evaluate(&s, c->expression);
    if (c->state == CONFIG_DONE) return c->value; /* the cycle was reported below */
    v.symbol = c->name;
    c->value = v;
    c->state = CONFIG_DONE;
    return v;
}

typedef struct UsedNames {
    Model *m;
    bool *used;
} UsedNames;

static void note_use(void *context, const Node *e) {
    UsedNames *u = context;
    if (e->kind != NODE_REF) return;
    ConfigEntry *c = model_config(u->m, e->text);
    if (c) u->used[c - u->m->config.at] = true;
}

static void warn_unused(Model *m) {
    UsedNames u = {m, arena_array(m->arena, bool, m->config.n + 1)};
    for (uint32_t i = 0; i < m->units.n; i++)
        if (!m->units.at[i].prelude) node_walk(m->units.at[i].root, note_use, &u);
    for (uint32_t i = 0; i < m->settings.n; i++)
        if (m->settings.at[i].expression) node_walk(m->settings.at[i].expression, note_use, &u);
    for (uint32_t i = 0; i < m->config.n; i++) {
        ConfigEntry *c = &m->config.at[i];
        node_walk(c->expression, note_use, &u);
        if (u.used[i]) continue;
        Diag d = diag_warning(m->ds, "W0301", c->span, "config name `%s` is never used", c->name);
        diag_emit(&d);
    }
}

static void check_requirements(Model *m) {
    for (uint32_t i = 0; i < m->requirements.n; i++) {
        const Requirement *r = &m->requirements.at[i];
        Scope s = {.model = m};
        bool holds = false;
        if (!evaluate_truth(&s, r->condition, &holds) || holds) continue;
        Diag d = diag_error(m->ds, "E0206", r->condition->span, "`%s` does not hold%s%s",
                            node_text(m->arena, r->condition), r->message ? ": " : "",
                            r->message ? r->message : "");
        diag_emit(&d);
    }
}

static Frontend *open_model(DiagSet *ds, const char *path, const char *text, size_t n,
                            const CompileOptions *options) {
    Frontend *f = arena_new_of(ds->arena, Frontend);
    Model *m = arena_new_of(ds->arena, Model);
    f->diags = m->ds = ds;
    f->arena = m->arena = ds->arena;
    f->model = m;
    m->options = options;
    m->errors_before = ds->errors;
    if (model_read(m, path, text, n)) {
        for (uint32_t i = 0; i < m->config.n; i++) config_value(m, &m->config.at[i]);
        check_requirements(m);
        settings_evaluate(m);
        policy_resolve(m, &m->policy, &f->settings);
        if (ds->errors == m->errors_before) warn_unused(m);
    }
    int errors = ds->errors - m->errors_before;
    f->exit_code = model_exit_code(m, errors);
    return f;
}

Frontend *frontend_open(DiagSet *ds, const char *path, const CompileOptions *options) {
    return open_model(ds, path, NULL, 0, options);
}

Frontend *frontend_open_text(DiagSet *ds, const char *name, const char *text, size_t n,
                             const CompileOptions *options) {
    return open_model(ds, name, text, n, options);
}
