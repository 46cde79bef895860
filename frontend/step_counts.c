/* train.accumulate with a loss of several terms: what each term is divided by, for the whole step.
 *
 * In: the program train with the terms of its loss, from which a loss can be evaluated again. Out:
 * the same program; where micro-batches may differ in what a term counts, the term has values of
 * all micro-batches of the step to count, and so its gradient can be that of the mean over the step
 * in each of them. They are made of data alone: of fields that hold the samples of all
 * micro-batches one after the other ("step.targets" beside "targets"). Where all micro-batches
 * count as much, such as tokens of a text, nothing changes.
 *
 * The loss is evaluated a second time, on those fields. Of the ops that this makes, the counted
 * values keep what they need; the others, with the model, are taken back.
 */
#include <string.h>

#include "elaborate.h"

/* What the second evaluation leaves as it was. */
typedef struct Before {
    uint32_t ops, values, listed, fields, routings, aux, per_sample;
    int64_t salt, slot;
    ValueId *params, *read;
    Builder build;
    bool quiet;
    int warnings;
} Before;

static Program *program_of(Elaboration *e) { return &e->graph->programs.at[e->build.program]; }

/* By value: what v is made of, v included. */
static bool *made_of(Elaboration *e, const ValueId *v, uint32_t n) {
    const Graph *g = e->graph;
    const Program *p = program_of(e);
    bool *of = arena_array(e->model->arena, bool, g->values.n);
    for (uint32_t i = 0; i < n; i++) of[v[i]] = true;
    for (uint32_t i = p->ops.n; i-- > 0;) {
        const Op *op = &g->ops.at[p->ops.at[i]];
        bool any = false;
        for (uint32_t j = 0; j < op->n_out; j++) any |= of[op->out + j];
        for (uint32_t j = 0; any && j < op->n_in; j++) of[op->in[j]] = true;
    }
    return of;
}

/* ---- do micro-batches differ? */

/* Does each micro-batch have as many integers that are not that number? */
static bool is_steady(const Elaboration *e, ValueId v, double ignore) {
    const Op *op = value_maker(e->graph, v);
    const RunSettings *s = e->settings;
    const DataSource *d = e->training || !s->val.present ? &s->train : &s->val;
    bool all = true;
    for (; op->kind == OP_reshape || op->kind == OP_slice || op->kind == OP_to_float;
         op = value_maker(e->graph, op->in[0]))
        all &= op->kind != OP_slice;
    if (op->kind != OP_field || d->kind == SOURCE_NPY) return false;
    return d->denoising ? all : ignore < 0;
}

static bool are_weights_steady(Elaboration *e, ValueId w) {
    if (w == NO_VALUE) return true;
    const Op *op = value_maker(e->graph, w);
    const Op *number = op->kind == OP_unequal ? value_maker(e->graph, op->in[1]) : NULL;
    if (number && number->kind == OP_constant) return is_steady(e, op->in[0], number->attr->alpha);
    const bool *of = made_of(e, &w, 1);
    for (uint32_t i = 0; i < e->graph->fields.n; i++)
        if (e->field_value[i] != NO_VALUE && of[e->field_value[i]]) return false;
    return true;
}

/* In an evaluation what aux adds is a mean over each batch. */
bool mark_terms(Elaboration *e, const LossSum *sum) {
    bool floats = type_is_float(&e->graph->values.at[sum->counted].type), any = false;
    bool all = !floats && !is_steady(e, sum->counted, (double)sum->ignore);
    for (uint32_t i = 0; i < e->aux.n; i++) {
        AuxTerm *t = &e->aux.at[i];
        bool mean = t->part.op == OP_average && (e->training || t->told);
        t->of_step = mean && (all || !are_weights_steady(e, t->part.weights));
        any |= t->of_step;
    }
    return any;
}

/* ---- the second evaluation */

static Before begin_again(Elaboration *e) {
    Graph *g = e->graph;
    Arena *a = e->model->arena;
    int32_t staging = graph_find_state(g, "staging");
    value_has_samples(e, e->step); /* sees all ops so far */
    Before b = {.ops = g->ops.n,
                .values = g->values.n,
                .listed = program_of(e)->ops.n,
                .fields = g->fields.n,
                .routings = e->routings.n,
                .aux = e->aux.n,
                .per_sample = e->per_sample.n,
                .salt = e->next_salt,
                .slot = g->states.at[staging].type.dim[1],
                .build = e->build,
                .quiet = e->model->ds->quiet,
                .warnings = e->model->ds->warnings};
    b.params = arena_copy(a, e->param_value, g->params.n * sizeof *b.params);
    b.read = arena_copy(a, e->field_value, g->fields.n * sizeof *b.read);
    e->model->ds->quiet = true;
    e->root_call.valid = false;
    return b;
}

static void end_again(Elaboration *e, const Before *b) {
    Graph *g = e->graph;
    g->ops.n = b->ops;
    g->values.n = b->values;
    g->fields.n = b->fields;
    program_of(e)->ops.n = e->samples.n_ops = b->listed;
    e->samples.value.n = MIN(e->samples.value.n, b->values);
    e->samples.n_per_sample = MIN(e->samples.n_per_sample, b->per_sample);
    e->per_sample.n = b->per_sample;
    e->routings.n = b->routings;
    e->aux.n = b->aux;
    e->next_salt = b->salt;
    e->build = b->build;
    memcpy(e->param_value, b->params, g->params.n * sizeof *b->params);
    memcpy(e->field_value, b->read, g->fields.n * sizeof *b->read);
    e->model->ds->quiet = b->quiet;
    e->model->ds->warnings = b->warnings;
}

static void set_slot(Elaboration *e, int64_t bytes) {
    Graph *g = e->graph;
    g->states.at[graph_find_state(g, "staging")].type.dim[1] = bytes;
    g->values.at[e->staging].type.dim[1] = bytes;
}

/* Field i, of all micro-batches; its value. */
static ValueId emit_step_field(Elaboration *e, uint32_t i) {
    Graph *g = e->graph;
    Field f = g->fields.at[i];
    f.name = arena_printf(g->arena, "step.%s", f.name);
    f.type.dim[0] *= e->settings->micro_batches;
    f.of = (int32_t)i;
    f.staging = (uint64_t)g->values.at[e->staging].type.dim[1];
    set_slot(e, (int64_t)align_up(f.staging + (uint64_t)type_bytes(&f.type), 64));
    Attrs a = {.index = g->fields.n};
    vec_push(g->arena, &g->fields, f);
    return emit_value(&e->build, OP_field, &a, 2, (ValueId[]){e->staging, e->step}, NULL);
}

static bool refuse_model(Elaboration *e, const Op *op, Span at) {
    return diag_report(
        e->model->ds, E_loss, at,
        "compute the weights from fields of the batch alone, or write accumulate = 1",
        "with accumulate = %lld the divisor of a mean must depend on data alone; this "
        "one depends on %s",
        (long long)e->settings->micro_batches,
        op->kind == OP_param ? e->graph->params.at[op->attr->index].name.path
                             : op_info[op->kind].name);
}

/* A copy of the ops that counted values need, from after those of before. */
typedef struct Kept {
    VEC(Op) ops;
    VEC(Type) types; /* of their results */
} Kept;

static bool keep_needed(Elaboration *e, const Before *b, const ValueId *v, uint32_t n, Span at,
                        Kept *kept) {
    const Graph *g = e->graph;
    const Program *p = program_of(e);
    Arena *a = e->model->arena;
    const bool *of = made_of(e, v, n);
    for (uint32_t i = 0; i < p->ops.n; i++) {
        const Op *op = &g->ops.at[p->ops.at[i]];
        bool any = false;
        for (uint32_t j = 0; j < op->n_out; j++) any |= of[op->out + j];
        if (!any) continue;
        if (op->kind == OP_param || op_info[op->kind].attrs & A_salt)
            return refuse_model(e, op, at);
        if (p->ops.at[i] < b->ops) continue;
        vec_push(a, &kept->ops, *op);
        for (uint32_t j = 0; j < op->n_out; j++)
            vec_push(a, &kept->types, g->values.at[op->out + j].type);
    }
    return true;
}

/* Emits them again; `now` says what became of each value of before and of the second evaluation. */
static void emit_kept(Elaboration *e, const Before *b, const Kept *kept, const Field *fields,
                      ValueId *now) {
    const Type *type = kept->types.at;
    for (uint32_t i = 0; i < kept->ops.n; i++) {
        const Op *op = &kept->ops.at[i];
        ValueId out;
        if (op->kind == OP_field) {
            out = emit_step_field(e, (uint32_t)fields[op->attr->index - b->fields].of);
        } else {
            ValueId *in = arena_array(e->model->arena, ValueId, op->n_in + 1);
            for (uint32_t k = 0; k < op->n_in; k++) in[k] = now[op->in[k]];
            builder_like(&e->build, op);
            OpId id = op_emit(&e->build, op->kind, op->attr, op->n_in, in,
                              op_info[op->kind].given ? type : NULL);
            out = e->graph->ops.at[id].out;
        }
        for (uint32_t j = 0; j < op->n_out; j++) now[op->out + j] = out + j;
        type += op->n_out;
    }
    e->build = b->build;
}

/* Moves the ops from `first` on to where the batch comes in. */
static void move_to_fields(Elaboration *e, uint32_t first) {
    Program *p = program_of(e);
    uint32_t n = p->ops.n - first, at = 0;
    value_has_samples(e, e->step);
    while (e->graph->ops.at[p->ops.at[at]].kind == OP_state ||
           e->graph->ops.at[p->ops.at[at]].kind == OP_field)
        at++;
    OpId *moved = arena_copy(e->model->arena, &p->ops.at[first], n * sizeof *moved);
    memmove(&p->ops.at[at + n], &p->ops.at[at], (first - at) * sizeof *moved);
    memcpy(&p->ops.at[at], moved, n * sizeof *moved);
}

/* ---- the counted values */

/* Those of the second evaluation that the terms of the first need, in their order. */
static uint32_t counted_values(const Elaboration *e, const Before *b, const LossSum *wide,
                               ValueId *v) {
    uint32_t n = 0;
    if (!type_is_float(&e->graph->values.at[wide->counted].type)) v[n++] = wide->counted;
    for (uint32_t i = 0; i < b->aux; i++)
        if (e->aux.at[i].of_step && e->aux.at[i].part.weights != NO_VALUE)
            v[n++] = e->aux.at[b->aux + i].part.weights;
    return n;
}

static void take_values(Elaboration *e, LossSum *sum, const ValueId *v, const ValueId *now) {
    sum->step_counted = sum->counted;
    if (!type_is_float(&e->graph->values.at[sum->counted].type)) sum->step_counted = now[*v++];
    for (uint32_t i = 0; i < e->aux.n; i++)
        if (e->aux.at[i].of_step && e->aux.at[i].part.weights != NO_VALUE)
            e->aux.at[i].step_weights = now[*v++];
}

bool count_step(Elaboration *e, LossSum *sum, bool (*evaluate_loss)(Elaboration *, LossSum *)) {
    Arena *a = e->model->arena;
    bool any = mark_terms(e, sum);
    e->settings->has_loss_of_batch |= any;
    if (!any || e->settings->micro_batches == 1) {
        for (uint32_t i = 0; i < e->aux.n; i++) e->aux.at[i].of_step = false;
        return true;
    }
    LossSum wide;
    Kept kept = {0};
    Before b = begin_again(e);
    for (uint32_t i = 0; i < b.fields; i++)
        if (b.read[i] != NO_VALUE) e->field_value[i] = emit_step_field(e, i);
    bool right = evaluate_loss(e, &wide);
    CHECK(!right || e->aux.n == 2 * b.aux);
    ValueId *v = arena_array(a, ValueId, b.aux + 1);
    uint32_t n = right ? counted_values(e, &b, &wide, v) : 0;
    right = right && keep_needed(e, &b, v, n, b.build.span, &kept);
    ValueId *now = arena_array(a, ValueId, e->graph->values.n);
    for (uint32_t i = 0; i < e->graph->values.n; i++) now[i] = i;
    const Field *fields = arena_copy(a, &e->graph->fields.at[b.fields],
                                     (e->graph->fields.n - b.fields) * sizeof *fields);
    end_again(e, &b);
    set_slot(e, b.slot);
    if (!right) return false;
    emit_kept(e, &b, &kept, fields, now);
    take_values(e, sum, v, now);
    move_to_fields(e, b.listed);
    return true;
}
