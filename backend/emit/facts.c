/* The facts of a model (facts.h), from the frontend's settings and from the model statement that it
 * made before any pass. The order is that of check_facts.c.
 */
#include "emit.h"
#include "residency.h"
#include "text.h"

typedef struct Facts {
    const Frontend *f;
    const Graph *s;
    FactSink *sink;
} Facts;

static FactSink *facts_named(const Facts *out, const char *name) {
    out->sink->name = name;
    return out->sink;
}

static void settings(const Facts *out) {
    const RunSettings *s = &out->f->settings;
    const Policy *q = &out->s->policy;
#define WHOLE(name, plan, model) fact_whole(facts_named(out, name), (uint64_t)(model));
#define REAL(name, plan, model) fact_real(facts_named(out, name), model);
#define TEXT(name, plan, model) fact_text(facts_named(out, name), model);
#include "facts.def"
    const Mesh mesh = mesh_of_groups(q);
    for (int a = 0; a < mesh.n; a++)
        fact_whole(facts_named(out, axis_name(mesh.axis[a].role)), (uint64_t)mesh.axis[a].size);
}

/* The policies that are also attributes of the update's ops. */
static void constants(const Facts *out) {
    for (uint32_t i = 0; i < n_policy_fields; i++) {
        const TextField *f = &policy_fields[i];
        const Policy *q = &out->s->policy;
        bool is_attribute = false;
        for (int bit = 0; bit < ATTR_COUNT; bit++)
            is_attribute |= !strcmp(attr_fields[bit].name, f->name);
        if (!is_attribute) continue;
        if (f->kind == TEXT_REAL)
            fact_real(facts_named(out, f->name), text_field_real(f, q));
        else
            fact_whole(facts_named(out, f->name), (uint64_t)text_field_get(f, q));
    }
}

/* As plan_emit.c says them once more. */
static uint32_t flags_of(const Param *p) {
    return (p->checkpoint_transposed ? PARAM_TRANSPOSED : 0) |
           (p->checkpoint && !*p->checkpoint ? PARAM_IN_PARTS : 0) |
           (p->no_decay ? PARAM_NO_DECAY : 0) | (p->frozen ? PARAM_FROZEN : 0) |
           (p->grouped ? PARAM_GROUPED : 0) | (p->matrix ? PARAM_MATRIX : 0) |
           (p->keep_f32 ? PARAM_F32 : 0) | (p->replicate ? PARAM_WHOLE : 0);
}

static void param(const Facts *out, const Param *p) {
    FactSink *row = facts_named(out, p->name.path);
    bool transposed; /* the same as for the parameter */
    fact_text(row, p->key);
    fact_text(row, p->checkpoint);
    fact_whole(row, flags_of(p));
    fact_whole(row, p->init);
    fact_real(row, p->init_mean);
    fact_real(row, p->init_std);
    fact_real(row, p->lr_factor);
    fact_real(row, p->weight_decay);
    fact_whole(row, (uint64_t)dtype_if_gathered(&out->s->policy, p->gather));
    fact_type(row, &p->type);
    for (uint32_t k = 0; k < p->aliases.n; k++) {
        const char *path = p->aliases.at[k].path;
        fact_text(row, path);
        fact_text(row, frontend_checkpoint_name(out->f, 0, path, &transposed));
    }
}

static void other_name(const Facts *out, FactSink *row, uint32_t table, const char *path) {
    bool transposed;
    const char *name = frontend_checkpoint_name(out->f, table, path, &transposed);
    fact_text(row, name);
    fact_whole(row, transposed ? PARAM_TRANSPOSED : *name ? 0 : PARAM_IN_PARTS);
}

static void stored(FactSink *row, const FileNames *names) {
    for (uint32_t i = 0; i < names->stored.n; i++) {
        const StoredTensor *t = &names->stored.at[i];
        fact_stored(row, t->name, t->rank, t->dim, &names->parts.at[t->first_part], t->n_part);
    }
}

static void names(const Facts *out, uint32_t table, const FileNames *n) {
    FactSink *row = facts_named(out, n->label);
    fact_whole(row, n->skips.at.n);
    for (uint32_t k = 0; k < n->skips.at.n; k++) fact_text(row, n->skips.at.at[k]);
    for (uint32_t i = 0; table && i < out->s->params.n; i++)
        other_name(out, row, table, out->s->params.at[i].key);
    for (uint32_t i = 0; table && i < out->s->params.n; i++)
        for (uint32_t k = 0; k < out->s->params.at[i].aliases.n; k++)
            other_name(out, row, table, out->s->params.at[i].aliases.at[k].path);
    stored(row, n);
}

static void source(const Facts *out, const char *name, const DataSource *s) {
    if (!s->present) return;
    FactSink *row = facts_named(out, name);
    bool text = s->kind == SOURCE_TEXT;
    fact_whole(row, s->kind);
    fact_text(row, s->path);
    fact_real(row, text ? s->from : 0);
    fact_real(row, text ? s->to : 0);
    const uint64_t words[] = {(uint64_t)s->samples,
                              (uint64_t)s->vocab,
                              s->seed,
                              (uint64_t)s->denoising,
                              (uint64_t)s->raw,
                              (uint64_t)s->noise,
                              (uint64_t)s->spans,
                              (uint64_t)s->mask,
                              (uint64_t)s->end,
                              (uint64_t)s->words,
                              s->draw};
    for (size_t k = 0; k < ARRAY_LEN(words); k++) fact_whole(row, words[k]);
    for (uint32_t k = 0; k < s->fields.n; k++) {
        fact_text(row, s->fields.at[k].name);
        fact_text(row, s->fields.at[k].path);
        fact_whole(row, (uint64_t)s->fields.at[k].classes);
    }
}

/* A loss, metric or prediction of the model. */
static void metric(const Facts *out, const Op *op) {
    if (op->kind != OP_set_state) return;
    const State *s = &out->s->states.at[op->attr->index];
    fact_whole(facts_named(out, s->name), s->role);
}

void facts_of_model(const Frontend *f, FactSink *sink) {
    Facts out = {f, f->statement, sink};
    settings(&out);
    constants(&out);
    for (uint32_t i = 0; i < out.s->params.n; i++) param(&out, &out.s->params.at[i]);
    const FileNames *n;
    for (uint32_t t = 0; (n = frontend_names(f, t)); t++) names(&out, t, n);
    for (uint32_t i = 0; i < out.s->fields.n; i++) {
        FactSink *row = facts_named(&out, out.s->fields.at[i].name);
        fact_whole(row, out.s->fields.at[i].staging);
        fact_type(row, &out.s->fields.at[i].type);
        if (out.s->fields.at[i].of != NO_INDEX) fact_whole(row, (uint64_t)out.s->fields.at[i].of);
    }
    source(&out, "train", &f->settings.train);
    source(&out, "val", &f->settings.val);
    for (uint32_t i = 0; i < out.s->programs.n; i++)
        for (uint32_t k = 0; k < out.s->programs.at[i].ops.n; k++)
            metric(&out, &out.s->ops.at[out.s->programs.at[i].ops.at[k]]);
}
