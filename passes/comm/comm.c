/* comm: the collectives, and one program for each kind of micro-batch.
 *
 * In: a graph of level shard as pass shard leaves it: parameters one by one, and one `gradient` for
 * each trainable group. Out: each program with the flat parameters and their views, and with the
 * unshard, reshard, pack, reduce_scatter, all_reduce and free that lead from one border of the
 * residency table to the next, in the order of computation; pass schedule moves gathers forward
 * from there. With M > 1 micro-batches `train` becomes `first`, `micro` (M > 2) and `last`.
 * comm_parts.c decides what is gathered from when to when, comm_emit.c writes the programs.
 *
 * Counts per step, with U units that own something: full M(2U - 1) gathers (one more with
 * reshard_root, one fewer for each unit whose backward reads no weight; with hold only U - 1 in
 * each micro-batch after the first), M*U reductions, U with accumulate = local, more where a unit
 * reduces in two dtypes; grads M*U gathers, with hold U; none no gather, as many all_reduces as
 * full has reductions. With replicas each reduce_scatter is followed by an all_reduce of the shard,
 * with all_reduce = last once a step. One more all_reduce for loss and norm, with Muon one for each
 * split group of matrices. One rank: none of these.
 *
 * With reshard = K each rank retains its part of a gathered unit when the unit is resharded in
 * forward, and later gathers of the unit are made of these parts, in groups of K ranks. In a
 * pipeline a stage whose backward is a call of its own keeps them from its first forward to its
 * last backward.
 *
 * Where parameters are read in another dtype than the master's, the shard that is gathered is a
 * cast of the master's. With cast = update it is a state of its own, which the update sets right
 * after the master and all programs read; else each gather makes it.
 *
 * With one rank or strategy none the flat parameter is the state itself, or its copy. Without a
 * copy each parameter is cast before what reads it first.
 *
 * What is gathered in f8e4m3 or i8 is quantized by the largest weight of each parameter or block:
 * one all_reduce of all of them when a step begins, kept for its further micro-batches, and one in
 * an evaluation.
 */
#include <string.h>

#include "comm.h"

static bool prefetch_is_possible(const Graph *g) {
    const Policy *p = &g->policy;
    long long units = prefetch_units(p), inflight = p->inflight;
    if (prefetch_has_room(p)) return true;
    Diag d = diag_at(g->diags, E_prefetch_room, p->prefetch_span,
                     "prefetch = %lld needs inflight >= %lld", units - 1, units);
    if (p->inflight_span.file)
        diag_note(&d, p->inflight_span, "inflight is %lld", inflight);
    else if (p->prefetch_span.file)
        diag_help(&d, "inflight is %lld by default", inflight);
    diag_emit(&d);
    return false;
}

static bool policy_is_possible(const Graph *g) {
    const Policy *p = &g->policy;
    bool ok = true;
    for (int a = 0; a < p->mesh.n; a++) {
        AxisRole role = p->mesh.axis[a].role;
        int64_t size = p->mesh.axis[a].size;
        AxisSet served = mesh_sample_axes(&p->mesh) | mesh_parameter_axes(&p->mesh) |
                         mesh_cut_axes(&p->mesh) | mesh_stage_axes(&p->mesh);
        if (size == 1 || served >> a & 1) continue;
        diag_report(g->diags, E_mesh, p->unit_span, NULL,
                    "mesh axis %s = %lld (%s) is not supported yet", axis_name(role),
                    (long long)size, axis_meaning(role));
        ok = false;
    }
    return ok && prefetch_is_possible(g);
}

/* ---- states ---- */

static int32_t add_state(Comm *c, StateRole role, const char *word, uint32_t k, Residence where) {
    Graph *g = c->g;
    int dtype = resident_dtype(resident_of(role), &g->groups.at[k]);
    int64_t elements = g->groups.at[k].layout.padded / mesh_extent(&g->policy.mesh, where.split);
    int32_t row = group_add_state(g, role, word, k, type_of(dtype, 1, &elements));
    g->states.at[row].split = where.split;
    g->states.at[row].partial = where.partial;
    if (role == STATE_GRADIENT)
        g->states.at[row].partial |= g->groups.at[k].partial & mesh_stage_axes(&g->policy.mesh);
    return row;
}

static void make_states(Comm *c) {
    Graph *g = c->g;
    uint32_t n = g->groups.n;
    c->param_state = arena_array(g->scratch, int32_t, n);
    c->copy_state = arena_none(g->scratch, int32_t, n);
    c->gradient_state = arena_none(g->scratch, int32_t, n);
    c->gathered_state = arena_none(g->scratch, int32_t, n);
    c->largest_state = arena_none(g->scratch, int32_t, n);
    for (uint32_t i = 0; i < g->states.n; i++)
        if (g->states.at[i].role == STATE_PARAM) c->param_state[g->states.at[i].group] = (int32_t)i;
    for (uint32_t k = 0; k < n; k++) {
        Group group = g->groups.at[k];
        Residence gradient = comm_residence(c, RESIDENT_GRADIENT, BORDER_BETWEEN, k);
        Residence gathered = comm_gathered(c, BORDER_BETWEEN, group.unit);
        Residence master = comm_residence(c, RESIDENT_MASTER, BORDER_START, k);
        if (comm_keeps_copy(c, k)) c->copy_state[k] = add_state(c, STATE_COPY, "copy", k, master);
        if (gradient.kept && group.trainable)
            c->gradient_state[k] = add_state(c, STATE_GRADIENT, "grad", k, gradient);
        if (gathered.kept && group.layout.split)
            c->gathered_state[k] = add_state(c, STATE_GATHERED, "gathered", k, gathered);
        bool several = g->policy.micro_batches > 1 || graph_has_stages(g);
        if (dtype_is_quantized(group.wire_dtype) && several)
            /* Weights change once a step: those that its first call finds are those of all. */
            c->largest_state[k] = group_add_state(g, STATE_LARGEST, "largest", k,
                                                  group_state_type(g, STATE_LARGEST, k));
    }
}

static void tell_price(const Comm *c) {
    const Graph *g = c->g;
    int64_t whole = 0, part = 0;
    Residence kept = residence_of(&g->policy, RESIDENT_GRADIENT, BORDER_BETWEEN, SCOPE_UNIT);
    Residence end = residence_of(&g->policy, RESIDENT_GRADIENT, BORDER_UPDATE, SCOPE_UNIT);
    bool chosen = strategy_accumulates(g->policy.strategy);
    if (!chosen || !kept.kept || !(end.split & ~kept.split)) return;
    for (uint32_t k = 0; k < g->groups.n; k++) {
        const Group *group = &g->groups.at[k];
        if (!group->trainable) continue;
        whole += group->layout.padded * dtype_bytes(group->reduce_dtype);
        part += group->layout.shard * dtype_bytes(group->reduce_dtype);
    }
    diag_report(g->diags, W_unsharded_gradients, (Span){0}, NULL,
                "accumulate = local keeps %s of unsharded gradients on every rank; "
                "accumulate = sharded needs %s",
                short_bytes(g->scratch, whole), short_bytes(g->scratch, part));
}

/* ---- what the user could not guess ---- */

static void tell_idle_cast(const Comm *c) {
    const Graph *g = c->g;
    bool quantized = false;
    if (g->policy.cast == CAST_AUTO) return;
    for (uint32_t k = 0; k < g->groups.n; k++) {
        int wire = g->groups.at[k].wire_dtype;
        if (!dtype_is_quantized(wire) && wire != g->groups.at[k].master_dtype) return;
        quantized |= dtype_is_quantized(wire);
    }
    const char *why = quantized
                          ? "parameters are quantized for each gather or read as they are kept"
                          : "parameters are read in the dtype in which they are kept";
    diag_report(g->diags, W_no_effect, (Span){0}, NULL, "%s: cast has no effect", why);
}

/* shard.gather, where no parameter is gathered in it although ranks share parameters out. */
static void tell_idle_gather(const Comm *c) {
    const Graph *g = c->g;
    int asked = g->policy.gather;
    if (asked == DT_NONE || !c->gather) return;
    for (uint32_t k = 0; k < g->groups.n; k++)
        if (g->groups.at[k].layout.split && g->groups.at[k].wire_dtype == asked) return;
    diag_report(g->diags, W_no_effect, (Span){0}, NULL,
                "no sharded parameter is gathered in %s: gather has no effect", dtype_name(asked));
}

static void report_gathers(const Comm *c, DiagCode code, const Buf *names, const char *what) {
    if (!names->n) return;
    diag_report(c->g->diags, code, (Span){0}, NULL, "%s: %s", what, names->at);
}

/* Names a unit in a list that ends in .. when it is long. */
static void list_unit(Buf *names, int *listed, const Unit *u) {
    enum { MOST_NAMES = 4 };
    if ((*listed)++ < MOST_NAMES)
        buf_printf(names, "%s%s", *listed > 1 ? ", " : "", u->is_root ? "the root" : u->name);
    else if (*listed == MOST_NAMES + 1)
        buf_printf(names, ", ..");
}

/* Under strategy full a unit is gathered once in forward and once in backward. Says where not. */
static void warn_of_gathers(const Comm *c, const SegmentedProgram *parts) {
    const Graph *g = c->g;
    if (!c->gather) return;
    uint32_t(*count)[PHASE_COUNT] = arena_alloc(g->scratch, g->units.n * sizeof *count);
    for (uint32_t k = 0; k < parts->gathers.n; k++) {
        const UnitGather *at = &parts->gathers.at[k];
        count[at->unit][parts->segments.at[at->home].phase]++;
    }
    Buf once = {0}, again = {0}, kept = {0};
    int n_once = 0, n_again = 0, n_kept = 0;
    for (uint32_t u = 0; u < g->units.n; u++) {
        const Unit *unit = &g->units.at[u];
        bool twice = count[u][PHASE_FORWARD] > 1 || count[u][PHASE_BACKWARD] > 1;
        bool resharded = !residence_is_whole(comm_gathered(c, BORDER_FORWARD, (int32_t)u));
        if (resharded && count[u][PHASE_FORWARD] && !count[u][PHASE_BACKWARD])
            list_unit(&once, &n_once, unit);
        if (twice) list_unit(&again, &n_again, unit);
        if (parts->kept[u]) list_unit(&kept, &n_kept, unit);
    }
    report_gathers(c, W_forward_only, &once,
                   "not gathered for backward, which does not read their parameters");
    report_gathers(c, W_used_again, &again, "used several times, gathered each time");
    report_gathers(c, W_used_again, &kept, "used several times, kept gathered in between");
    buf_free(&once);
    buf_free(&again);
    buf_free(&kept);
}

/* In a pipeline the update is a call of its own, since no stage ends backward as another does. */
static void emit_kinds(Comm *c, const SegmentedProgram *parts) {
    int64_t micro = c->g->policy.micro_batches;
    bool staged = graph_has_stages(c->g);
    if (parts->kind != PROGRAM_TRAIN || (micro == 1 && !staged)) {
        comm_emit(c, parts, parts->kind);
        return;
    }
    comm_emit(c, parts, PROGRAM_FIRST);
    if (micro > (staged ? 1 : 2)) comm_emit(c, parts, PROGRAM_MICRO);
    comm_emit(c, parts, staged ? PROGRAM_UPDATE : PROGRAM_LAST);
}

static Comm comm_of(Graph *g) {
    const Policy *p = &g->policy;
    Comm c = {.g = g, .map = unit_map(g)};
    Residence master = residence_of(p, RESIDENT_MASTER, BORDER_START, SCOPE_UNIT);
    c.gather = residence_transition(master, (Residence){.kept = true}).gather;
    c.place = arena_array(g->scratch, ParamPlace, g->params.n);
    for (uint32_t k = 0; k < g->groups.n; k++)
        for (uint32_t j = 0; j < g->groups.at[k].params.n; j++) {
            const GroupParam *at = &g->groups.at[k].params.at[j];
            LayoutPlace p = group_place(g, &g->groups.at[k], j);
            c.place[at->param] = (ParamPlace){(int32_t)k, at->offset, layout_is_whole(&p)};
        }
    c.around = arena_array(g->scratch, int32_t, g->units.n);
    for (uint32_t u = 0; u < g->units.n; u++)
        c.around[u] = unit_around(g, &c.map, g->units.at[u].modules.at[0]);
    return c;
}

bool pass_comm(Graph *g) {
    if (!g->groups.n || graph_find_state(g, "scale") == NO_INDEX)
        return diag_report(g->diags, E_pass_order, (Span){0}, NULL,
                           "comm needs the graph that optimizer leaves");
    if (!policy_is_possible(g)) return false;
    Comm c = comm_of(g);
    make_states(&c);
    tell_price(&c);
    tell_idle_cast(&c);
    tell_idle_gather(&c);
    uint32_t n = g->programs.n;
    for (uint32_t i = 0; i < n; i++) {
        Program old = g->programs.at[i];
        SegmentedProgram parts = comm_segment(&c, &old);
        if (old.kind == PROGRAM_TRAIN) warn_of_gathers(&c, &parts);
        emit_kinds(&c, &parts);
    }
    uint32_t kept = 0;
    for (uint32_t i = n; i < g->programs.n; i++) g->programs.at[kept++] = g->programs.at[i];
    g->programs.n = kept;
    return true;
}
