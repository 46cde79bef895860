/* A plan as a JSON object, `dump --format=json`: parameters, predicted peak, units, layout of flat
 * parameters, collectives of one step.
 *
 * `collectives` lists the events of a step in issue order, [phase, kind, unit, elements of the full
 * side, dtype, ranks of the group], followed by a tag unless the collective carries a parameter or
 * gradient. `order` is the same list with marks [phase, "forward" | "backward", unit] where the
 * computation of a unit other than the root begins. Phases carry the number of the micro-batch. All
 * ranks issue the same events, so there is one list; its groups are those of the requested rank, or
 * of rank 0.
 *
 * Only the output of --rank all grows with the number of ranks. Elsewhere a list with an entry per
 * rank is written out up to SHORT entries, beyond that as a formula: {"first", "count", "step"} for
 * ranks, {"runs": [[ranks, elements]..]} for paddings.
 */
#include <stdlib.h>
#include <string.h>

#include "dump.h"
#include "json_text.h"

enum { SHORT = 32 };

static json_t *name_of(const Plan *p, PlanString s) { return json_word(plan_string(p, s)); }

/* ---- units and layout */

static json_t *units_json(const Plan *p) {
    json_t *all = json_packed("[]");
    for (uint64_t i = 0; i < p->n_units; i++) {
        const PlanUnit *u = &p->units[i];
        json_push(all, json_packed("[o, o, I, I]", name_of(p, u->name), name_of(p, u->class_name),
                                   (json_int_t)u->below, (json_int_t)u->owned));
    }
    return all;
}

static void push_pieces(json_t *all, const Layout *layout, const LayoutPlace *place, uint32_t k,
                        int64_t number) {
    LayoutPiece held;
    for (int64_t j = 0; (held = layout_piece(layout, place, number, j)).count; j++)
        json_push(all, json_packed("[I, I, I, I]", (json_int_t)k, (json_int_t)held.first,
                                   (json_int_t)held.count, (json_int_t)held.at));
}

/* What rank r holds: [parameter, first element, count, offset in the shard]. */
static json_t *pieces_json(const Plan *p, const PlanGroup *g, int64_t r) {
    json_t *all = json_packed("[]");
    Mesh mesh = plan_mesh(p);
    Layout layout = plan_layout(g);
    for (uint32_t k = 0; k < g->n_param; k++) {
        LayoutPlace place = plan_place(p, (uint64_t)g->first_param + k);
        push_pieces(all, &layout, &place, k, layout_number(&layout, &mesh, r));
    }
    return all;
}

/* Padding at the end of each rank's shard, or, with many ranks, how many ranks have how much. The
 * gaps between the chunks of layout = param are not at the end: the pieces show where they are. */
static json_t *padding_json(const Plan *p, const PlanGroup *g, int64_t rank) {
    json_t *all = json_packed("[]");
    Mesh mesh = plan_mesh(p);
    Layout layout = plan_layout(g);
    int64_t ranks = p->settings->ranks, shards = g->padded / g->shard;
    bool list = ranks <= SHORT || rank == JSON_ALL_RANKS;
    for (int64_t r = 0; list && r < ranks; r++)
        json_push(all,
                  json_count((uint64_t)layout_padding(&layout, layout_first(&layout, &mesh, r))));
    for (int64_t k = 0, same; !list && k < shards; k += same) {
        int64_t padding = layout_padding(&layout, k * g->shard);
        same = 1; /* full shards, then at most one partial shard, then empty ones */
        if (padding == 0) same = MAX(g->unpadded / g->shard - k, 1);
        if (padding == g->shard) same = shards - k;
        json_push(
            all, json_packed("[I, I]", (json_int_t)(same * (ranks / shards)), (json_int_t)padding));
    }
    return list ? all : json_packed("{s: o}", "runs", all);
}

static json_t *group_json(const Plan *p, const PlanGroup *g, int64_t rank) {
    json_t *o = json_packed("{}"), *params = json_packed("[]"), *offsets = json_packed("[]");
    json_t *chunks = plan_has_chunks(p, g) ? json_packed("[]") : NULL;
    json_t *axes = chunks ? json_packed("[]") : NULL;
    for (uint32_t k = 0; k < g->n_param; k++) {
        const PlanGroupParam *a = &p->group_params[g->first_param + k];
        const PlanParam *param = &p->params[a->param];
        json_t *shape = json_packed("[]");
        Type whole = plan_whole_type(p, param);
        for (int i = 0; i < whole.rank; i++) json_push(shape, json_count((uint64_t)whole.dim[i]));
        json_push(params, json_packed("[o, o, I]", name_of(p, param->name), shape,
                                      (json_int_t)type_elements(&whole)));
        json_push(offsets, json_count((uint64_t)a->offset));
        if (!chunks) continue;
        json_push(chunks, json_count((uint64_t)a->chunk));
        json_push(axes, json_count((uint64_t)plan_axis(p, g, (uint64_t)g->first_param + k)));
    }
    json_put(o, "parameters", params);
    json_put(o, "offsets", offsets);
    if (chunks) json_put(o, "chunks", chunks);
    if (axes) json_put(o, "axes", axes);
    Mesh mesh = plan_mesh(p);
    if (g->cut) json_put(o, "parts", json_count((uint64_t)mesh_extent(&mesh, g->cut)));
    json_put(o, "unpadded", json_count((uint64_t)g->unpadded));
    json_put(o, "padded", json_count((uint64_t)g->padded));
    json_put(o, "shard", json_count((uint64_t)g->shard));
    json_put(o, "shard_padding", padding_json(p, g, rank));
    json_put(o, "master", json_string(dtype_name((int)g->master_dtype)));
    json_put(o, "compute", json_string(dtype_name((int)g->compute_dtype)));
    json_put(o, "gather", json_string(dtype_name((int)g->wire_dtype)));
    json_put(o, "reduce", json_string(dtype_name((int)g->reduce_dtype)));
    json_put(o, "trainable", json_boolean(g->flags & GROUP_TRAINABLE));
    if (rank >= 0) json_put(o, "pieces", pieces_json(p, g, rank));
    if (rank == JSON_ALL_RANKS) {
        json_t *all = json_packed("[]");
        for (int64_t r = 0; r < (int64_t)p->settings->ranks; r++)
            json_push(all, pieces_json(p, g, r));
        json_put(o, "pieces", all);
    }
    return o;
}

/* A unit with one flat parameter prints as that parameter's object; a unit with several prints as
 * {"groups": [..]}. */
static json_t *layout_json(const Plan *p, int64_t rank) {
    json_t *all = json_packed("{}");
    for (uint64_t i = 0; i < p->n_units; i++) {
        const PlanUnit *u = &p->units[i];
        json_t *unit, *key = name_of(p, u->name);
        if (u->n_group == 1) {
            unit = group_json(p, &p->groups[u->first_group], rank);
        } else {
            json_t *groups = json_packed("[]");
            for (uint32_t k = 0; k < u->n_group; k++)
                json_push(groups, group_json(p, &p->groups[u->first_group + k], rank));
            unit = json_packed("{s: o}", "groups", groups);
        }
        json_put(all, json_string_value(key), unit);
        json_decref(key);
    }
    return all;
}

/* ---- collectives */

typedef struct Events {
    const Plan *p;
    json_t *collectives, *order;
    int64_t rank;                  /* whose groups are listed, or JSON_ALL_RANKS */
    json_t *ranks[1 << MESH_AXES]; /* by axes: the same object in each event */
    uint8_t *begun;                /* by unit: its computation has been marked in this phase */
} Events;

static const char *phase_text(const PlanInstr *in, int64_t micro, char out[40]) {
    if (in->phase == PHASE_UPDATE) return "update";
    snprintf(out, 40, "%s %lld", phase_name(in->phase), (long long)micro);
    return out;
}

static json_t *unit_or_null(const Plan *p, int64_t unit) {
    return unit < 0 ? json_null() : name_of(p, p->units[unit].name);
}

static bool is_collective(const PlanInstr *in) { return op_info[in->op].effect == EFFECT_COMM; }

static json_t *ranks_json(const Plan *p, AxisSet axes, int64_t rank) {
    Mesh mesh = plan_mesh(p);
    MeshGroup g = mesh_group(&mesh, axes, MAX(rank, 0));
    if (g.size > SHORT && g.size == g.count[0] && rank != JSON_ALL_RANKS) {
        json_t *o = json_packed("{}");
        json_put(o, "first", json_count((uint64_t)g.base));
        json_put(o, "count", json_count((uint64_t)g.size));
        if (g.step[0] > 1) json_put(o, "step", json_count((uint64_t)g.step[0]));
        return o;
    }
    json_t *all = json_packed("[]");
    for (int32_t k = 0; k < g.size; k++) json_push(all, json_count((uint64_t)mesh_member(&g, k)));
    return all;
}

static json_t *group_ranks(Events *e, AxisSet axes) {
    if (!e->ranks[axes]) e->ranks[axes] = ranks_json(e->p, axes, e->rank);
    return e->ranks[axes];
}

/* Elements and dtypes of the full side, which all ranks hold together. */
static json_t *collective_json(Events *e, const PlanInstr *in, int64_t micro) {
    const Plan *p = e->p;
    bool results = op_gathers((OpKind)in->op);
    const char *kind = results                   ? "all_gather"
                       : in->op == OP_all_reduce ? "all_reduce"
                                                 : "reduce_scatter";
    int64_t elements = 0;
    char phase[40], dtypes[64] = "";
    for (uint32_t k = 0; k < (results ? in->n_out : in->n_in); k++) {
        uint32_t v = results ? in->first_out + k : p->operands[in->first_in + k];
        const Type *t = &p->values[v].type;
        elements += type_elements(t);
        const char *name = dtype_name(t->dtype);
        size_t used = strlen(dtypes);
        if (!strstr(dtypes, name))
            snprintf(dtypes + used, sizeof dtypes - used, "%s%s", used ? "+" : "", name);
    }
    json_t *event = json_packed("[s, s, o, I, s, O]", phase_text(in, micro, phase), kind,
                                unit_or_null(p, in->attr.unit), (json_int_t)elements, dtypes,
                                group_ranks(e, (AxisSet)in->attr.axes));
    if (in->attr.tag == TAG_METRIC || in->attr.tag == TAG_MOMENTUM)
        json_push(event, json_string(word_of(&words_CommTag, in->attr.tag)));
    return event;
}

static void mark_computation(Events *e, const PlanInstr *in, int64_t micro) {
    const Plan *p = e->p;
    char phase[40];
    bool computes = op_info[in->op].launched;
    if (in->unit < 0 || in->stream != STREAM_COMPUTE || in->phase == PHASE_UPDATE || !computes)
        return;
    if (!*plan_string(p, p->units[in->unit].name) || e->begun[in->unit] >> in->phase & 1) return;
    e->begun[in->unit] |= (uint8_t)(1 << in->phase);
    json_push(e->order, json_packed("[s, s, o]", phase_text(in, micro, phase),
                                    phase_name(in->phase), name_of(p, p->units[in->unit].name)));
}

static void call_events(Events *e, const PlanCall *call, int64_t micro) {
    const Plan *p = e->p;
    const PlanProgram *program = &p->programs[call->program];
    memset(e->begun, 0, p->n_units + 1);
    for (uint64_t i = program->first_instr; i < (uint64_t)program->first_instr + program->n_instr;
         i++) {
        const PlanInstr *in = &p->instrs[i];
        mark_computation(e, in, micro);
        if (!is_collective(in)) continue;
        json_t *event = collective_json(e, in, micro);
        json_push(e->order, json_incref(event));
        json_push(e->collectives, event);
    }
}

static void put_events(const Plan *p, int64_t rank, json_t *object) {
    Events e = {.p = p,
                .collectives = json_packed("[]"),
                .order = json_packed("[]"),
                .rank = rank,
                .begun = calloc(p->n_units + 1, 1)};
    uint32_t role = plan_role_of(p, rank);
    if (!e.begun) fail_environment("no memory for JSON");
    for (uint64_t i = 0; i < p->n_calls; i++) {
        if (p->calls[i].role != role || p->calls[i].kind != PLAN_STEP) continue;
        for (int64_t k = 0; k < p->calls[i].times; k++)
            call_events(&e, &p->calls[i], p->calls[i].micro + k);
    }
    json_put(object, "collectives", e.collectives);
    json_put(object, "order", e.order);
    for (size_t k = 0; k < ARRAY_LEN(e.ranks); k++) json_decref(e.ranks[k]);
    free(e.begun);
}

static json_t *sent_json(const Plan *p) {
    Arena *a = arena_new();
    const SentBytes *s = sent_bytes(p, a);
    json_t *o = json_packed("{}");
    for (AxisSet axes = 1; axes < 1u << MESH_AXES; axes++)
        if (s->by_axes[axes]) json_put(o, sent_axes_name(p, axes, a), json_count(s->by_axes[axes]));
    arena_free(a);
    return o;
}

void dump_plan_json(const Plan *p, int64_t rank, json_t *predicted, Buf *out) {
    json_t *o = json_packed("{}");
    json_put(o, "model", name_of(p, p->settings->model));
    json_put(o, "ranks", json_count(p->settings->ranks));
    json_put(o, "parameters", json_count((uint64_t)p->settings->parameters));
    json_put(o, "predicted_peak_bytes", dump_peak_json(p));
    if (predicted) json_put(o, "predicted", predicted);
    json_put(o, "sent_bytes", json_count(p->settings->sent_bytes));
    json_put(o, "sent_bytes_by_axes", sent_json(p));
    json_put(o, "units", units_json(p));
    json_put(o, "layout", layout_json(p, rank));
    put_events(p, rank, o);
    json_write(o, JSON_INDENT(1) | JSON_ENSURE_ASCII, out);
}
