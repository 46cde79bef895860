/* Checks the ids that mlm and span_corruption write themselves (marks, masks, random tokens)
 * against those that the model can take from the batch. A plan with larger ids could never run.
 * Ids in files are checked when they are read. */
#include <string.h>

#include "settings.h"
#include "signature.h"

/* The batch field that a value is, directly or reshaped; or NO_INDEX. */
static int32_t field_of(const Graph *g, ValueId value) {
    const Op *def = &g->ops.at[g->values.at[value].def];
    while (def->kind == OP_reshape) def = &g->ops.at[g->values.at[def->in[0]].def];
    return def->kind == OP_field ? (int32_t)def->attr->index : NO_INDEX;
}

/* Lowers *below to the limit of the indices that the op takes from the field. */
static void lower_id_limit(const Graph *g, const Op *op, int32_t field, int64_t *below) {
    const Signature *s = op_signature(op->kind);
    Type types[MOST_SLOTS];
    if (op->n_in > MOST_SLOTS) return;
    for (uint32_t i = 0; i < op->n_in; i++) types[i] = g->values.at[op->in[i]].type;
    for (uint32_t i = 0; i < op->n_in && i < s->n_in; i++) {
        if (s->in[i].below < 0 || field_of(g, op->in[i]) != field) continue;
        int64_t limit = op_index_limit(op->kind, op->n_in, types, i);
        if (limit) *below = MIN(*below, limit);
    }
}

/* Of the fields that the source writes its ids into, the one with the lowest limit, *below, in
 * the model. */
static uint32_t least_field(const Graph *g, Corruption denoising, int64_t *below) {
    uint32_t fields = denoising == CORRUPTION_SPANS ? g->fields.n : 1, least = 0;
    *below = INT64_MAX;
    for (uint32_t k = 0; k < fields; k++) {
        int64_t before = *below;
        for (uint32_t i = 0; i < g->ops.n; i++) lower_id_limit(g, &g->ops.at[i], (int32_t)k, below);
        if (*below < before) least = k;
    }
    return least;
}

static bool check_source(Elaboration *e, const char *key, Corruption denoising) {
    static const struct {
        const char *name;
        int64_t over; /* how far the argument is above its largest id */
    } ids[] = {{"mask", 0}, {"vocab", 1}, {"mark", 0}, {"end", 0}};
    const KeyValue *s = model_setting(e->model, "data", key);
    int64_t below;
    uint32_t field = least_field(e->graph, denoising, &below);
    bool right = true;
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        const ExprValue *v = value_item(&s->value, ids[i].name);
        if (!v || v->kind != VALUE_INT || v->integer - ids[i].over < below) continue;
        diag_report(e->model->ds, E_contradiction, v->span.file ? v->span : s->value.span, NULL,
                    "%s = %lld, but the model takes ids from 0 to %lld in field %s", ids[i].name,
                    (long long)v->integer, (long long)below - 1, e->graph->fields.at[field].name);
        right = false;
    }
    return right;
}

bool check_denoising_ids(Elaboration *e) {
    Corruption train = e->settings->train.denoising;
    Corruption val = e->settings->val.denoising;
    bool right = !train || check_source(e, "train", train);
    return right & (!val || check_source(e, "val", val));
}
