/* recompute: what the modules of some classes computed is computed again in backward.
 *
 * In: a graph of level train, right after grad. Out: the same values. In program train, backward
 * reads nothing that the modules of the policy's classes made on the way: before the first gradient
 * op that reads such a value, the ops that made it stand again, phase backward, marked recomputed,
 * with the same attributes and path. A repeated op computes the same bits (dropout draws by a
 * counter), so nothing but the lives of values changes: what forward made dies in forward.
 *
 * A run is a stretch of forward ops of one instance: the outermost module of a named class and all
 * below it. An instance that is called twice with something between has two runs. Kept from forward
 * are what enters a run and what leaves it (its results, and what these are views of). Losses,
 * metrics, parameters, states and fields are in no run: they are kept, or persistent anyway.
 *
 * Repeated ops read parameters, which a unit has to be gathered for. None is gathered for that
 * alone: an op is repeated only if backward reads a parameter of the same module in any case. (All
 * parameters of a module belong to one unit, tied ones excepted.) Nor is anything kept for
 * repeating alone: an op whose operand is neither there nor repeatable is not repeatable either,
 * and what backward reads of it is kept.
 *
 * 1. Forwards: runs. 2. Backwards: what leaves a run. 3. Forwards: what can be repeated. 4.
 * Backwards: what has to be. 5. The new list, where operands of backward become those of its run.
 *
 * Not here: recomputation by path or by op; runs of one instance right after each other count as
 * one run.
 */
#include <string.h>

#include "passes.h"
#include "units.h"

typedef struct Recompute {
    Graph *g;
    uint32_t program;
    uint32_t *run;     /* by op: its run, 0 = none */
    bool *kept;        /* by value of a run: backward reads it as forward made it */
    bool *needed;      /* by value of a run: something of backward, or repeated, reads it */
    bool *repeated;    /* by op; before step 4: could be */
    bool *read_param;  /* by parameter: gradient ops read it */
    bool *read_module; /* by module: gradient ops read a parameter that only it declares */
    OpId *first;       /* by run: its first op in the list is at this position */
    OpId *end;         /* by run: position after its last op */
    ValueId *became;   /* by value: what stands for it in backward */
    uint32_t runs;     /* runs are 1 .. runs */
} Recompute;

static const Op *op_at(const Recompute *r, uint32_t i) {
    return &r->g->ops.at[r->g->programs.at[r->program].ops.at[i]];
}
static OpId id_at(const Recompute *r, uint32_t i) {
    return r->g->programs.at[r->program].ops.at[i];
}
static uint32_t length(const Recompute *r) { return r->g->programs.at[r->program].ops.n; }

static OpId def_of(const Recompute *r, ValueId v) { return r->g->values.at[v].def; }
static uint32_t run_of(const Recompute *r, ValueId v) { return r->run[def_of(r, v)]; }

/* ---- 1. runs ---- */

/* By module: the outermost module of a named class around it, or NO_INDEX. */
static int32_t *instances(const Graph *g, const bool *named) {
    int32_t *around = arena_array(g->scratch, int32_t, g->modules.n);
    for (uint32_t i = 0; i < g->modules.n; i++) {
        int32_t parent = g->modules.at[i].parent;
        around[i] = parent == NO_INDEX ? NO_INDEX : around[parent];
        if (around[i] == NO_INDEX && named[i]) around[i] = (int32_t)i;
    }
    return around;
}

/* Does the op compute something that can be computed again? */
static bool computes(const Op *op) {
    const OpInfo *info = &op_info[op->kind];
    return op->n_out && info->effect == EFFECT_PURE && info->rows == ROWS_NONE &&
           info->term == TERM_NONE;
}

static void find_runs(Recompute *r, const bool *named) {
    const Graph *g = r->g;
    const int32_t *around = instances(g, named);
    ModulePaths paths = module_paths(g);
    int32_t last = NO_INDEX;
    r->first = arena_array(g->scratch, OpId, length(r) + 1);
    r->end = arena_array(g->scratch, OpId, length(r) + 1);
    for (uint32_t i = 0; i < length(r); i++) {
        const Op *op = op_at(r, i);
        if (op->phase != PHASE_FORWARD || !computes(op)) continue;
        int32_t module = module_of_path(&paths, op->path);
        int32_t instance = module == NO_INDEX ? NO_INDEX : around[module];
        if (instance != NO_INDEX) {
            if (instance != last) r->first[++r->runs] = i;
            r->run[id_at(r, i)] = r->runs;
            r->end[r->runs] = i + 1;
        }
        last = instance;
    }
}

/* ---- 2. what leaves a run, and what gradient ops read ---- */

static void see_forward_reader(Recompute *r, const Op *op, uint32_t run) {
    for (uint32_t k = 0; k < op->n_in; k++)
        if (run_of(r, op->in[k]) != run) r->kept[op->in[k]] = true;
    if (op_info[op->kind].alias == ALIAS_VIEW && r->kept[op->out]) r->kept[op->in[0]] = true;
}

static void see_gradient_reader(Recompute *r, const Op *op) {
    const Graph *g = r->g;
    for (uint32_t k = 0; k < op->n_in; k++) {
        const Op *def = &g->ops.at[def_of(r, op->in[k])];
        r->needed[op->in[k]] = true;
        if (def->kind != OP_param) continue;
        const Param *p = &g->params.at[def->attr->index];
        r->read_param[def->attr->index] = true;
        if (!p->aliases.n) r->read_module[p->name.module] = true;
    }
}

static void see_readers(Recompute *r) {
    for (uint32_t i = length(r); i-- > 0;) {
        const Op *op = op_at(r, i);
        if (op->phase == PHASE_FORWARD)
            see_forward_reader(r, op, r->run[id_at(r, i)]);
        else
            see_gradient_reader(r, op);
    }
}

/* ---- 3. what can be repeated ---- */

static bool is_gathered(const Recompute *r, int64_t param) {
    const Param *p = &r->g->params.at[param];
    return r->read_param[param] || (!p->aliases.n && r->read_module[p->name.module]);
}

static bool is_there(const Recompute *r, ValueId v, uint32_t run) {
    const Op *def = &r->g->ops.at[def_of(r, v)];
    if (def->kind == OP_param) return is_gathered(r, def->attr->index);
    return run_of(r, v) != run || r->kept[v] || r->repeated[def_of(r, v)];
}

static void find_repeatable(Recompute *r) {
    for (uint32_t i = 0; i < length(r); i++) {
        const Op *op = op_at(r, i);
        uint32_t run = r->run[id_at(r, i)];
        if (!run) continue;
        bool good = true;
        for (uint32_t k = 0; k < op->n_in; k++) good &= is_there(r, op->in[k], run);
        r->repeated[id_at(r, i)] = good;
        for (uint32_t j = 0; j < op->n_out && !good; j++)
            r->kept[op->out + j] |= r->needed[op->out + j];
    }
}

/* ---- 4. what has to be ---- */

static void find_repeated(Recompute *r) {
    for (uint32_t i = length(r); i-- > 0;) {
        const Op *op = op_at(r, i);
        if (!r->run[id_at(r, i)]) continue;
        bool wanted = false;
        for (uint32_t j = 0; j < op->n_out; j++)
            wanted |= r->needed[op->out + j] && !r->kept[op->out + j];
        r->repeated[id_at(r, i)] &= wanted;
        for (uint32_t k = 0; k < op->n_in && wanted; k++) r->needed[op->in[k]] = true;
    }
}

/* ---- 5. the new list ---- */

static void repeat(Recompute *r, OpId id) {
    Graph *g = r->g;
    Op op = g->ops.at[id]; /* a copy: the tables grow */
    const ValueId *in = op.in;
    ValueId old = op.out;
    op.in = arena_array(g->arena, ValueId, MAX(op.n_in, 1u));
    for (uint32_t k = 0; k < op.n_in; k++) op.in[k] = r->became[in[k]];
    op.out = g->values.n;
    op.phase = PHASE_BACKWARD;
    op.recomputed = true;
    for (uint32_t j = 0; j < op.n_out; j++) {
        Value v = {.type = g->values.at[old + j].type,
                   .def = g->ops.n,
                   .result = j,
                   .address = NO_ADDRESS};
        if (!r->kept[old + j]) r->became[old + j] = g->values.n;
        graph_add_value(g, &v);
    }
    vec_push(g->arena, &g->programs.at[r->program].ops, graph_add_op(g, &op));
}

/* The run whose repeated values the op reads, or 0. */
static uint32_t run_read_by(const Recompute *r, const Op *op) {
    for (uint32_t k = 0; k < op->n_in; k++)
        if (r->repeated[def_of(r, op->in[k])] && !r->kept[op->in[k]]) return run_of(r, op->in[k]);
    return 0;
}

static bool same_origin(const Op *a, const Op *b) {
    return !strcmp(a->path, b->path) && !memcmp(&a->span, &b->span, sizeof a->span);
}

/* By position: the run that is repeated before it, or 0. It comes before all gradient ops of the
 * forward op whose gradient reads it first, so that these stay together for the passes that fuse
 * them. */
static uint32_t *find_places(const Recompute *r) {
    uint32_t *place = arena_array(r->g->scratch, uint32_t, length(r) + 1);
    bool *placed = arena_array(r->g->scratch, bool, r->runs + 1);
    for (uint32_t i = 0; i < length(r); i++) {
        const Op *op = op_at(r, i);
        uint32_t run = op->phase == PHASE_FORWARD ? 0 : run_read_by(r, op), at = i;
        if (!run || placed[run]) continue;
        while (!place[at - 1] && op_at(r, at - 1)->phase != PHASE_FORWARD &&
               same_origin(op_at(r, at - 1), op))
            at--;
        place[at] = run;
        placed[run] = true;
    }
    return place;
}

static void write_program(Recompute *r) {
    Graph *g = r->g;
    const uint32_t *place = find_places(r);
    Program *p = &g->programs.at[r->program];
    const OpId *old = p->ops.at;
    uint32_t n = p->ops.n;
    p->ops.at = NULL;
    p->ops.n = p->ops.capacity = 0;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = r->first[place[i]]; place[i] && k < r->end[place[i]]; k++)
            if (r->repeated[old[k]]) repeat(r, old[k]);
        Op *op = &g->ops.at[old[i]];
        if (op->phase != PHASE_FORWARD)
            for (uint32_t k = 0; k < op->n_in; k++) op->in[k] = r->became[op->in[k]];
        vec_push(g->arena, &g->programs.at[r->program].ops, old[i]);
    }
}

static Recompute begin(Graph *g, uint32_t program) {
    Arena *a = g->scratch;
    Recompute r = {.g = g, .program = program};
    r.run = arena_array(a, uint32_t, g->ops.n);
    r.repeated = arena_array(a, bool, g->ops.n);
    r.kept = arena_array(a, bool, g->values.n);
    r.needed = arena_array(a, bool, g->values.n);
    r.became = arena_array(a, ValueId, g->values.n);
    r.read_param = arena_array(a, bool, g->params.n);
    r.read_module = arena_array(a, bool, g->modules.n);
    for (uint32_t v = 0; v < g->values.n; v++) r.became[v] = v;
    return r;
}

bool pass_recompute(Graph *g) {
    int32_t train = graph_find_program(g, PROGRAM_TRAIN);
    const StringList *classes = &g->policy.recompute;
    if (!classes->at.n || train == NO_INDEX) return true;
    bool failed = false;
    const bool *named =
        modules_of_classes(g, "recompute", g->policy.recompute_span, classes, &failed);
    if (failed) return false;
    Recompute r = begin(g, (uint32_t)train);
    find_runs(&r, named);
    see_readers(&r);
    find_repeatable(&r);
    find_repeated(&r);
    write_program(&r);
    return true;
}
