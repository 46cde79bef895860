/* Proof 8, the tables: settings, parameters, names of weights, fields of the batch and sources of
 * data are what the model file says, and so are the constants of the update.
 *
 * The plan carries facts that the frontend stated before any pass (facts.h). Here they are read
 * from the tables that the run uses, and compared one by one, value by value: no hash is involved,
 * so no table can be made to agree by chance or by design.
 *
 * Faults:
 *   8c  a table says something else than the model
 *   8d  an update has another constant than the model's optimizer
 */
#include <stdio.h>

#include "check.h"
#include "facts.h"
#include "text.h"

typedef struct FactReader {
    FactSink sink; /* first */
    Check *c;
    uint64_t next; /* fact */
    bool in_row;   /* of a table: facts of one name; else a setting */
} FactReader;

static bool says_the_same(const Plan *p, const PlanFact *f, FactKind kind, uint64_t value,
                          const char *text) {
    if (f->kind != kind) return false;
    return kind == FACT_TEXT ? !strcmp(plan_string(p, (PlanString)f->value), text)
                             : f->value == value;
}

static void compare(FactSink *sink, FactKind kind, uint64_t value, const char *text) {
    FactReader *r = (FactReader *)sink;
    const Plan *p = r->c->p;
    const char *name = sink->name;
    if (r->next >= p->n_facts) check_fail(r->c, "8c", NO_INSTR, "the model has no %s", name);
    const PlanFact *f = &p->facts[r->next++];
    const char *stated = plan_string(p, f->name);
    if (strcmp(stated, name))
        check_fail(r->c, "8c", NO_INSTR, "the plan has %s where the model has %s", name, stated);
    if (says_the_same(p, f, kind, value, text)) return;
    if (r->in_row || f->kind != kind || kind == FACT_TEXT)
        check_fail(r->c, "8c", NO_INSTR, "%s differs between the plan's tables and the model",
                   name);
    char got[40], want[40];
    if (kind == FACT_REAL)
        check_fail(r->c, "8c", NO_INSTR, "%s is %s in the plan's tables, %s in the model", name,
                   double_text(fact_as_real(value), got),
                   double_text(fact_as_real(f->value), want));
    check_fail(r->c, "8c", NO_INSTR, "%s is %lld in the plan's tables, %lld in the model", name,
               (long long)value, (long long)f->value);
}

static FactSink *setting(FactReader *r, const char *name) {
    r->in_row = false;
    r->sink.name = name;
    return &r->sink;
}

static FactSink *row_named(FactReader *r, PlanString name) {
    r->in_row = true;
    r->sink.name = plan_string(r->c->p, name);
    return &r->sink;
}

static const char *text_of(const FactReader *r, PlanString text) {
    return plan_string(r->c->p, text);
}

/* Which axes of the axis before a pass needed for the heads that there are: proof 10 says whether
 * they are right. */
static bool is_of_axis_before(const PlanAxis *a) {
    const AxisInfo *info = axis_info((AxisRole)a->role);
    return !info->is_written && info->cuts;
}

static void check_settings(FactReader *r) {
    const Plan *p = r->c->p;
    const PlanSettings *t = p->settings;
#define WHOLE(name, plan, model) fact_whole(setting(r, name), (uint64_t)(plan));
#define REAL(name, plan, model) fact_real(setting(r, name), plan);
#define TEXT(name, plan, model) fact_text(setting(r, name), plan);
#include "facts.def"
    for (uint64_t i = 0; i < p->n_axes; i++) {
        if (is_of_axis_before(&p->axes[i])) continue;
        int64_t size = p->axes[i].size;
        if (i + 1 < p->n_axes && is_of_axis_before(&p->axes[i + 1])) size *= p->axes[i + 1].size;
        fact_whole(setting(r, axis_name((AxisRole)p->axes[i].role)), (uint64_t)size);
    }
}

static void check_param(FactReader *r, const PlanParam *q) {
    FactSink *row = row_named(r, q->name);
    fact_text(row, text_of(r, q->key));
    fact_text(row, text_of(r, q->checkpoint));
    fact_whole(row, q->flags);
    fact_whole(row, q->init);
    fact_real(row, q->init_mean);
    fact_real(row, q->init_std);
    fact_real(row, q->lr_factor);
    fact_real(row, q->weight_decay);
    fact_whole(row, q->gather_dtype);
    Type whole = check_whole_param(r->c, q);
    fact_type(row, &whole);
    for (uint32_t k = 0; k < q->n_alias; k++) {
        const PlanAlias *a = &r->c->p->aliases[q->first_alias + k];
        fact_text(row, text_of(r, a->name));
        fact_text(row, text_of(r, a->checkpoint));
    }
}

static void check_names(FactReader *r, uint32_t table) {
    const Plan *p = r->c->p;
    const PlanNames *n = &p->names[table];
    uint64_t rows = p->n_params + p->n_aliases;
    FactSink *row = row_named(r, n->label);
    fact_whole(row, n->n_skip);
    for (uint32_t k = 0; k < n->n_skip; k++)
        fact_text(row, text_of(r, p->skips[n->first_skip + k]));
    for (uint64_t k = 0; table && k < rows; k++) {
        const PlanOtherName *o = &p->other_names[(table - 1) * rows + k];
        fact_text(row, text_of(r, o->checkpoint));
        fact_whole(row, o->flags);
    }
    for (uint64_t k = 0; k < p->n_stored; k++) {
        const PlanStored *t = &p->stored[k];
        if (t->table == table)
            fact_stored(row, text_of(r, t->name), t->rank, t->dim, &p->parts[t->first_part],
                        t->n_part);
    }
}

static void check_field(FactReader *r, const PlanField *f) {
    FactSink *row = row_named(r, f->name);
    fact_whole(row, f->staging);
    fact_type(row, &f->type);
    if (f->of) fact_whole(row, f->of - 1);
}

static void check_source(FactReader *r, const PlanSource *s) {
    FactSink *row = row_named(r, s->name);
    fact_whole(row, s->kind);
    fact_text(row, text_of(r, s->path));
    fact_real(row, s->from);
    fact_real(row, s->to);
    const uint64_t words[] = {(uint64_t)s->samples,
                              (uint64_t)s->vocab,
                              s->seed,
                              s->corruption,
                              (uint64_t)s->raw,
                              (uint64_t)s->noise,
                              (uint64_t)s->spans,
                              (uint64_t)s->mask,
                              (uint64_t)s->end,
                              (uint64_t)s->words,
                              s->draw};
    for (size_t k = 0; k < ARRAY_LEN(words); k++) fact_whole(row, words[k]);
    for (uint32_t k = 0; k < s->n_field; k++) {
        const PlanSourceField *f = &r->c->p->source_fields[s->first_field + k];
        fact_text(row, text_of(r, f->name));
        fact_text(row, text_of(r, f->path));
        fact_whole(row, (uint64_t)f->classes);
    }
}

static void check_metric(FactReader *r, const PlanNode *n) {
    const Plan *p = r->c->p;
    if (n->op != OP_set_state) return;
    const PlanState *st = &p->states[p->node_words[n->first_word]];
    fact_whole(row_named(r, st->name), st->role);
}

static uint64_t attr_value(const TextField *f, const Attrs *a) {
    return f->kind == TEXT_REAL ? fact_bits(text_field_real(f, a)) : (uint64_t)text_field_get(f, a);
}

/* One constant of the optimizer, in all ops of the update that have an attribute of that name. */
static void check_constant(FactReader *r, const TextField *policy) {
    const Plan *p = r->c->p;
    int bit = 0;
    while (bit < ATTR_COUNT && strcmp(attr_fields[bit].name, policy->name)) bit++;
    if (bit == ATTR_COUNT) return;
    const PlanFact *f = &p->facts[r->next];
    if (r->next >= p->n_facts || strcmp(plan_string(p, f->name), policy->name))
        check_fail(r->c, "8d", NO_INSTR, "the model does not state `%s`", policy->name);
    r->next++;
    for (uint64_t i = 0; i < p->n_instrs; i++) {
        const PlanInstr *in = &p->instrs[i];
        uint8_t role = op_info[in->op].role;
        if ((role != ROLE_STEP && role != ROLE_UPDATE) || !(op_info[in->op].attrs >> bit & 1))
            continue;
        if (attr_value(&attr_fields[bit], &in->attr) != f->value)
            check_fail(r->c, "8d", i, "its attribute `%s` differs from the optimizer of the model",
                       policy->name);
    }
}

void check_facts(Check *c) {
    const Plan *p = c->p;
    FactReader r = {.sink = {.put = compare}, .c = c};
    check_settings(&r);
    for (uint32_t i = 0; i < n_policy_fields; i++) check_constant(&r, &policy_fields[i]);
    for (uint64_t i = 0; i < p->n_params; i++) check_param(&r, &p->params[i]);
    for (uint32_t i = 0; i < p->n_names; i++) check_names(&r, i);
    for (uint64_t i = 0; i < p->n_fields; i++) check_field(&r, &p->fields[i]);
    for (uint64_t i = 0; i < p->n_sources; i++) check_source(&r, &p->sources[i]);
    for (uint64_t i = 0; i < p->n_nodes; i++) check_metric(&r, &p->nodes[i]);
    if (r.next < p->n_facts)
        check_fail(c, "8c", NO_INSTR, "the plan's tables lack %s, which the model has",
                   plan_string(p, p->facts[r.next].name));
    c->result->facts = p->n_facts;
}
