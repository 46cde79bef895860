/* Many settings of one model: what frontend_vary makes anew, and what variants share.
 *
 * In: a Frontend, and options. Out: another Frontend. The declarations of the files are copied as
 * they were read, so that each variant evaluates its own settings, with the checks and messages of
 * frontend_open. The graph is the expensive part, and of the settings only few change it: config,
 * data, loss and metrics, which a variant rarely sets, and the samples of a call, which follow from
 * batch, ranks and accumulate. So the programs are elaborated once for each number of samples, for
 * all variants (a shape), or for each batch if the loss depends on that; a variant forks that graph
 * and applies its policy and what its settings say of parameters.
 *
 * A variant that sets one of the others is elaborated by itself.
 */
#include <string.h>

#include "elaborate.h"
#include "settings.h"

typedef struct ModelShape {
    struct ModelShape *next;
    int64_t local_batch, micro_batches, batch;
    Frontend *f; /* elaborate_programs is done; its settings have not been applied */
} ModelShape;

static void write_nothing(void *context, const char *text, size_t n) {
    (void)context, (void)text, (void)n;
}

/* NULL: such programs cannot be; elaborating the variant says why. */
static Frontend *elaborate_shape(Frontend *base, const RunSettings *own) {
    Frontend *f = arena_new_of(base->arena, Frontend);
    DiagSet *ds = arena_new_of(base->arena, DiagSet);
    diag_fork(ds, base->diags, base->arena);
    ds->write = write_nothing;
    f->diags = ds;
    f->arena = base->arena;
    f->model = model_copy(base->declared, base->arena);
    f->model->ds = ds;
    frontend_resolve(f);
    f->settings.local_batch = own->local_batch;
    f->settings.micro_batches = own->micro_batches;
    f->settings.batch = own->batch;
    Elaboration e = elaboration_of(f);
    f->model->arena = arena_new();
    bool right = f->exit_code == EXIT_DONE && elaborate_programs(&e) && !e.broken;
    arena_free(f->model->arena);
    f->model->arena = base->arena;
    return right ? f : NULL;
}

/* Programs of another batch, or of other numbers of ranks and micro-batches, differ only where the
 * loss depends on these. */
static bool has_shape(const ModelShape *s, const RunSettings *own) {
    bool depends = s->f && s->f->settings.has_loss_of_batch;
    bool same = s->micro_batches == own->micro_batches && s->batch == own->batch;
    return s->local_batch == own->local_batch && (same || !depends);
}

static Frontend *shape_of(Frontend *base, const RunSettings *own) {
    ModelShape *s = base->shapes;
    while (s && !has_shape(s, own)) s = s->next;
    if (!s) {
        s = arena_new_of(base->arena, ModelShape);
        *s = (ModelShape){base->shapes, own->local_batch, own->micro_batches, own->batch,
                          elaborate_shape(base, own)};
        base->shapes = s;
    }
    return s->f;
}

static bool has_config_of(const Model *base, const Model *m) {
    for (uint32_t i = 0; i < m->config.n; i++)
        if (m->config.at[i].expression != base->config.at[i].expression) return false;
    return true;
}

/* Does the variant have no config, data, loss or evaluation of its own? */
static bool has_programs_of(const Model *base, const Model *m) {
    if (!has_config_of(base, m)) return false;
    for (uint32_t i = 0; i < m->settings.n; i++) {
        const KeyInfo *k = m->settings.at[i].key;
        bool of_data = !strcmp(k->section, "data");
        bool of_eval =
            !strcmp(k->section, "train") && (k->kinds & K_EXPRESSION || !strcmp(k->key, "cache"));
        if ((of_data || of_eval) && m->settings.at[i].expression != base->settings.at[i].expression)
            return false;
    }
    return true;
}

/* What the elaboration of the shape found out besides the graph. */
static void take_settings(RunSettings *s, const RunSettings *shape) {
    s->model = shape->model;
    s->train = shape->train;
    s->val = shape->val;
    s->length = shape->length;
    s->parameters = shape->parameters;
    s->targets = shape->targets;
}

static void take_shape(Frontend *f, const Frontend *shape) {
    f->graph = graph_fork(shape->graph, f->arena, f->diags);
    f->graph->policy = f->model->policy;
    f->model->names = shape->model->names;
    take_settings(&f->settings, &shape->settings);
    Elaboration e = {
        .model = f->model, .settings = &f->settings, .kept = f->arena, .graph = f->graph};
    if (elaborate_settings(&e)) f->statement = graph_fork(f->graph, f->arena, f->diags);
}

/* The options of base, but those that a variant has of its own. */
static const CompileOptions *options_of(const Frontend *base, Arena *a,
                                        const CompileOptions *options) {
    CompileOptions *o = arena_new_of(a, CompileOptions);
    *o = *base->declared->options;
    o->set = options->set;
    o->n_set = options->n_set;
    if (options->ranks || options->mesh) {
        o->ranks = options->ranks;
        o->mesh = options->mesh;
    }
    return o;
}

Frontend *frontend_vary(Frontend *base, DiagSet *ds, const CompileOptions *options) {
    Frontend *f = arena_new_of(ds->arena, Frontend);
    CHECK(base->declared && base->exit_code == EXIT_DONE);
    f->diags = ds;
    f->arena = ds->arena;
    f->model = model_copy(base->declared, ds->arena);
    f->model->ds = ds;
    f->model->options = options_of(base, ds->arena, options);
    model_apply_options(f->model);
    if (has_config_of(base->declared, f->model)) {
        f->settings.hf_config = base->settings.hf_config;
        f->settings.hf_facts = base->settings.hf_facts;
    }
    frontend_resolve(f);
    if (f->exit_code != EXIT_DONE) return f;
    bool shared = has_programs_of(base->declared, f->model);
    const Frontend *shape = shared ? shape_of(base, &f->settings) : NULL;
    if (shape)
        take_shape(f, shape);
    else
        frontend_elaborate(f);
    f->exit_code = diag_exit_code(ds);
    return f;
}
