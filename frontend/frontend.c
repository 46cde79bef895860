/* The entry point of the frontend.
 *
 * In: a file or a text, and options. Out: a Frontend whose config and sections are evaluated and
 * whose requirements are checked; later, the names of its parameters in files of weights. Modules
 * and methods follow in elaborate.c.
 */
#include "elaborate.h"
#include "import.h"
#include "settings.h"
#include "weights.h"

/* Do files, settings, or the config up to this entry name it? */
static bool is_used(const Model *m, uint32_t entry) {
    const char *name = m->config.at[entry].name;
    bool used = false;
    for (uint32_t i = 0; i < m->units.n; i++)
        used |= !m->units.at[i].prelude && node_names(m->units.at[i].root, name);
    for (uint32_t i = 0; i < m->settings.n; i++)
        used |= node_names(m->settings.at[i].expression, name);
    for (uint32_t i = 0; i <= entry; i++) used |= node_names(m->config.at[i].expression, name);
    return used;
}

static void warn_unused(Model *m) {
    for (uint32_t i = 0; i < m->config.n; i++)
        if (!is_used(m, i))
            diag_report(m->ds, W_unused_config, m->config.at[i].span, NULL,
                        "config name `%s` is never used", m->config.at[i].name);
}

static bool check_requirements(Model *m) {
    int before = m->ds->errors;
    for (uint32_t i = 0; i < m->requirements.n; i++) {
        const Requirement *r = &m->requirements.at[i];
        Scope s = {.model = m};
        bool holds = false;
        if (!evaluate_truth(&s, r->condition, &holds) || holds) continue;
        diag_report(m->ds, E_requirement, r->condition->span, NULL, "`%s` does not hold%s%s",
                    node_text(m->arena, r->condition), r->message ? ": " : "",
                    r->message ? r->message : "");
    }
    return m->ds->errors == before;
}

void frontend_resolve(Frontend *f) {
    Model *m = f->model;
    for (uint32_t i = 0; i < m->config.n; i++) config_value(m, &m->config.at[i]);
    f->readable = check_requirements(m);
    settings_evaluate(m);
    policy_resolve(m, &m->policy, &f->settings);
    directives_resolve(m, &m->policy, &f->settings);
    if (!f->settings.hf_config) hf_config_texts(m, &f->settings.hf_config, &f->settings.hf_facts);
    f->exit_code = diag_exit_code(m->ds);
}

Frontend *frontend_open_text(DiagSet *ds, const char *path, const char *text, size_t n,
                             const CompileOptions *options) {
    Frontend *f = arena_new_of(ds->arena, Frontend);
    Model *m = arena_new_of(ds->arena, Model);
    f->diags = m->ds = ds;
    f->arena = m->arena = ds->arena;
    f->model = m;
    m->options = options;
    bool read = model_read(m, path, text, n);
    if (read) {
        import_all(m);
        model_apply_options(m);
        f->declared = model_copy(m, m->arena);
    }
    if (read && (!options->to_plan || model_has_root(m))) {
        frontend_resolve(f);
        if (ds->errors == ds->raised) warn_unused(m);
    }
    f->exit_code = diag_exit_code(ds);
    return f;
}

Frontend *frontend_open(DiagSet *ds, const char *path, const CompileOptions *options) {
    return frontend_open_text(ds, path, NULL, 0, options);
}

const char *frontend_file(const Frontend *f, uint32_t i) {
    bool is_file = i < f->model->units.n && !f->model->units.at[i].prelude;
    return is_file ? f->model->units.at[i].path : NULL; /* the prelude is the last unit */
}

/* ---- names tables ---- */

const FileNames *frontend_names(const Frontend *f, uint32_t table) {
    return table < f->model->names.n ? &f->model->names.at[table].file : NULL;
}

const char *frontend_checkpoint_name(const Frontend *f, uint32_t table, const char *path,
                                     bool *transposed) {
    return names_of_path(f->model, table, path, transposed);
}
