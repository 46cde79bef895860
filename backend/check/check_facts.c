/* Proof 8, the tables: settings, parameters, names of weights, fields of the batch and sources of
 * data are what the model file says, and so are the constants of the update.
 *
 * The plan carries facts that the frontend stated before any pass (facts.h). Here they are read
 * from the tables that the run uses, and compared one by one.
 *
 *   8c  a table says something else than the model
 *   8d  an update has another constant than the model's optimizer
 */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "facts.h"
#include "text.h"

typedef unsigned long long Llu;

typedef struct Reader {
    Check *c;
    uint64_t next; /* fact */
} Reader;

static int compare(Reader *r, const char *name, uint64_t value) {
    const Plan *p = r->c->p;
    if (r->next >= p->n_facts) return check_fail(r->c, "8c", NO_INSTR, "the model has no %s", name);
    const PlanFact *f = &p->facts[r->next++];
    const char *stated = plan_string(p, f->name);
    if (strcmp(stated, name))
        return check_fail(r->c, "8c", NO_INSTR, "the plan has %s where the model has %s", name,
                          stated);
    if (f->value == value) return 0;
    char got[40], want[40];
    switch ((FactKind)f->kind) {
    case FACT_WHOLE:
        return check_fail(r->c, "8c", NO_INSTR,
                          "%s is %lld in the plan's tables, %lld in the model", name,
                          (long long)value, (long long)f->value);
    case FACT_REAL:
        return check_fail(r->c, "8c", NO_INSTR, "%s is %s in the plan's tables, %s in the model",
                          name, double_text(fact_as_real(value), got),
                          double_text(fact_as_real(f->value), want));
    case FACT_TEXT:
    case FACT_ROW:
    case FACT_KINDS: break;
    }
    return check_fail(r->c, "8c", NO_INSTR, "%s differs between the plan's tables and the model",
                      name);
}

static int check_settings(Reader *r) {
    const Plan *p = r->c->p;
    const PlanSettings *t = p->settings;
    const struct {
        const char *name;
        uint64_t value;
    } facts[] = {
#define WHOLE(name, plan, model) {name, (uint64_t)(plan)},
#define REAL(name, plan, model) {name, fact_real(plan)},
#define TEXT(name, plan, model) {name, fact_text(plan)},
#include "facts.def"
    };
    int status = 0;
    for (size_t i = 0; !status && i < ARRAY_LEN(facts); i++)
        status = compare(r, facts[i].name, facts[i].value);
    for (uint64_t i = 0; !status && i < p->n_axes; i++)
        status = compare(r, axis_name((AxisRole)p->axes[i].role), (uint64_t)p->axes[i].size);
    return status;
}

static int check_param(Reader *r, const PlanParam *q) {
    const Plan *p = r->c->p;
    FactRow row = {0};
    fact_word(&row, fact_text(plan_string(p, q->key)));
    fact_word(&row, fact_text(plan_string(p, q->checkpoint)));
    fact_word(&row, q->flags);
    fact_word(&row, q->init);
    fact_word(&row, fact_real(q->init_mean));
    fact_word(&row, fact_real(q->init_std));
    fact_word(&row, fact_real(q->lr_factor));
    fact_word(&row, fact_real(q->weight_decay));
    fact_word(&row, q->gather_dtype);
    fact_type(&row, &q->type);
    for (uint32_t k = 0; k < q->n_alias; k++) {
        const PlanAlias *a = &p->aliases[q->first_alias + k];
        fact_word(&row, fact_text(plan_string(p, a->name)));
        fact_word(&row, fact_text(plan_string(p, a->checkpoint)));
    }
    return compare(r, plan_string(p, q->name), row.hash);
}

static int check_names(Reader *r, uint32_t table) {
    const Plan *p = r->c->p;
    const PlanNames *n = &p->names[table];
    uint64_t rows = p->n_params + p->n_aliases;
    FactRow row = {0};
    for (uint32_t k = 0; k < n->n_skip; k++)
        fact_word(&row, fact_text(plan_string(p, p->skips[n->first_skip + k])));
    for (uint64_t k = 0; table && k < rows; k++) {
        const PlanOtherName *o = &p->other_names[(table - 1) * rows + k];
        fact_word(&row, fact_text(plan_string(p, o->checkpoint)));
        fact_word(&row, o->flags);
    }
    for (uint64_t k = 0; k < p->n_stored; k++) {
        const PlanStored *t = &p->stored[k];
        if (t->table == table)
            fact_stored(&row, plan_string(p, t->name), t->rank, t->dim, &p->parts[t->first_part],
                        t->n_part);
    }
    return compare(r, plan_string(p, n->label), row.hash);
}

static int check_field(Reader *r, const PlanField *f) {
    FactRow row = {0};
    fact_word(&row, f->staging);
    fact_type(&row, &f->type);
    return compare(r, plan_string(r->c->p, f->name), row.hash);
}

static int check_source(Reader *r, const PlanSource *s) {
    const Plan *p = r->c->p;
    FactRow row = {0};
    fact_word(&row, s->kind);
    fact_word(&row, fact_text(plan_string(p, s->path)));
    fact_word(&row, fact_real(s->from));
    fact_word(&row, fact_real(s->to));
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
    for (size_t k = 0; k < ARRAY_LEN(words); k++) fact_word(&row, words[k]);
    for (uint32_t k = 0; k < s->n_field; k++) {
        const PlanSourceField *f = &p->source_fields[s->first_field + k];
        fact_word(&row, fact_text(plan_string(p, f->name)));
        fact_word(&row, fact_text(plan_string(p, f->path)));
        fact_word(&row, (uint64_t)f->classes);
    }
    return compare(r, plan_string(p, s->name), row.hash);
}

static int check_metric(Reader *r, const PlanNode *n) {
    const Plan *p = r->c->p;
    FactRow row = {0};
    if (n->op != OP_set_state) return 0;
    const PlanState *st = &p->states[p->node_words[n->first_word]];
    fact_word(&row, st->role);
    return compare(r, plan_string(p, st->name), row.hash);
}

static uint64_t attr_value(const TextField *f, const Attrs *a) {
    return f->kind == TEXT_REAL ? fact_real(text_field_real(f, a)) : (uint64_t)text_field_get(f, a);
}

/* One constant of the optimizer, in all ops of the update that have an attribute of that name. */
static int check_constant(Reader *r, const TextField *policy) {
    const Plan *p = r->c->p;
    int bit = 0;
    while (bit < ATTR_COUNT && strcmp(attr_fields[bit].name, policy->name)) bit++;
    if (bit == ATTR_COUNT) return 0;
    const PlanFact *f = &p->facts[r->next];
    if (r->next >= p->n_facts || strcmp(plan_string(p, f->name), policy->name))
        return check_fail(r->c, "8d", NO_INSTR, "the model does not state `%s`", policy->name);
    r->next++;
    for (uint64_t i = 0; i < p->n_instrs; i++) {
        const PlanInstr *in = &p->instrs[i];
        uint8_t role = op_info[in->op].role;
        if ((role != ROLE_STEP && role != ROLE_UPDATE) || !(op_info[in->op].attrs >> bit & 1))
            continue;
        if (attr_value(&attr_fields[bit], &in->attr) != f->value)
            return check_fail(r->c, "8d", i,
                              "its attribute `%s` differs from the optimizer of the model",
                              policy->name);
    }
    return 0;
}

int check_facts(Check *c) {
    const Plan *p = c->p;
    Reader r = {.c = c};
    int status = check_settings(&r);
    for (uint32_t i = 0; !status && i < n_policy_fields; i++)
        status = check_constant(&r, &policy_fields[i]);
    for (uint64_t i = 0; !status && i < p->n_params; i++) status = check_param(&r, &p->params[i]);
    for (uint32_t i = 0; !status && i < p->n_names; i++) status = check_names(&r, i);
    for (uint64_t i = 0; !status && i < p->n_fields; i++) status = check_field(&r, &p->fields[i]);
    for (uint64_t i = 0; !status && i < p->n_sources; i++)
        status = check_source(&r, &p->sources[i]);
    for (uint64_t i = 0; !status && i < p->n_nodes; i++) status = check_metric(&r, &p->nodes[i]);
    if (!status && r.next < p->n_facts)
        status = check_fail(c, "8c", NO_INSTR, "the plan's tables have no %s, which the model has",
                            plan_string(p, p->facts[r.next].name));
    c->result->facts = p->n_facts;
    return status;
}
