/* recompute: parts of forward are computed again in backward, so that their results need no memory
 * in between.
 *
 * In: a graph of level train, right after grad. Out: the same graph, whose program train computes
 * the same numbers, but backward no longer reads what the chosen ops made in
 * forward. Before the first gradient op that reads such a value, copies of the ops that make it are
 * inserted: phase backward, marked recomputed, with the same attributes and path. A copy computes
 * the same bits (dropout draws by a counter), so only lifetimes change: the values of forward die
 * in forward.
 *
 * A run is a stretch of forward ops that belong to one region. There are two kinds of runs:
 *
 *   whole    the ops of a module that the policy names by class or path, and of all modules below
 *            it. They are repeated together, before the first op of backward that reads any of
 *            them. Kept from forward: what the run reads from outside, what is read outside (and
 *            what that is a view of), and the results of the ops that `keep` names.
 *   by kind  ops whose kind the policy names, within one element of an array of modules. Each is
 *            repeated as late as possible, so that few results are alive at a time. Kept from
 *            forward: what losses read, and what chosen ops of other runs read.
 *
 * A module that is called twice, with other ops in between, has two runs. Losses, metrics,
 * parameters, states and fields belong to no run: they are kept or persistent anyway.
 *
 * Recomputation adds no gather: an op that reads a parameter is repeated only if backward reads a
 * parameter of the same module anyway. (All parameters of a module belong to one unit, tied ones
 * excepted.) Nor does it keep further values, except those that `keep` names: an op is repeated
 * only if each of its operands is available in backward, or is itself repeated; otherwise those of
 * its results that backward reads are kept.
 *
 * Five walks over the program: 1. forwards: find the runs. 2. Backwards: find what leaves a run.
 * 3. Forwards: find the ops that can be repeated. 4. Backwards: find those that have to be. 5.
 * Write the new list of ops, in which backward reads the copies.
 *
 * Not handled: runs of one region right after each other count as one run.
 */
#include "recompute.h"

#include <string.h>

#include "passes.h"

/* ---- the classes, paths and ops of the policy, looked up in the model ----
 *
 * Below a module of a named class or path every op is chosen whose kind is not kept. Elsewhere the
 * ops of the chosen kinds are; these belong together within one element of an array of modules (a
 * block of a transformer), so that a chain of them does not lead through the whole model. A view
 * costs nothing and is always chosen.
 *
 * An op that stands for others (column STANDS_FOR) is chosen as the first of them is.
 */
static bool *kinds_of(const Graph *g, const StringList *names) {
    bool *is = arena_array(g->scratch, bool, OP_COUNT);
    for (uint32_t i = 0; i < names->at.n; i++) {
        int op = op_by_name(names->at.at[i]);
        if (op < OP_COUNT) is[op] = true;
    }
    return is;
}

bool choice_read(const Graph *g, RecomputeChoice *c) {
    const RecomputePolicy *p = &g->policy.recompute;
    bool failed = false;
    *c = (RecomputeChoice){.g = g,
                           .paths = index_module_paths(g),
                           .region = arena_array(g->scratch, int32_t, g->modules.n),
                           .element = arena_array(g->scratch, int32_t, g->modules.n),
                           .op = kinds_of(g, &p->ops),
                           .keep = kinds_of(g, &p->keep),
                           .any_op = p->ops.at.n > 0};
    const bool *class = modules_of_classes(g, "recompute", p->span, &p->classes, &failed);
    const int32_t *path = directives_by_path(g, PATH_RECOMPUTE, &failed);
    for (uint32_t i = 0; i < g->modules.n; i++) {
        int32_t parent = g->modules.at[i].parent;
        bool is_element = parent != NO_INDEX && !g->modules.at[parent].class_name[0];
        c->region[i] = parent == NO_INDEX ? NO_INDEX : c->region[parent];
        c->element[i] = parent == NO_INDEX ? NO_INDEX : c->element[parent];
        if (c->region[i] == NO_INDEX && (class[i] || path[i] != NO_INDEX))
            c->region[i] = (int32_t)i;
        if (c->element[i] == NO_INDEX && is_element) c->element[i] = (int32_t)i;
        c->any_region |= c->region[i] != NO_INDEX;
    }
    return !failed;
}

/* The module whose ops run again together with this one, or NO_INDEX; *whole: all of them do,
 * except for those that are kept. */
static int32_t choice_region(RecomputeChoice *c, const Op *op, bool *whole) {
    int32_t module = module_of_path(&c->paths, op->path);
    *whole = module != NO_INDEX && c->region[module] != NO_INDEX;
    if (*whole) return c->region[module];
    if (module == NO_INDEX || !c->any_op) return NO_INDEX;
    return c->element[module] == NO_INDEX ? 0 : c->element[module];
}

bool choice_has(RecomputeChoice *c, const Op *op) {
    bool whole;
    if (choice_region(c, op, &whole) == NO_INDEX) return false;
    int kind = op_stands_for(op->kind, 0);
    return op_info[op->kind].alias == ALIAS_VIEW || (whole ? !c->keep[kind] : c->op[kind]);
}

/* ---- the pass ---- */

typedef struct OpRun {
    bool whole;    /* the ops are repeated together */
    uint32_t spot; /* if so: the position before which; 0: not yet known */
} OpRun;

typedef struct Recompute {
    Graph *g;
    uint32_t program;
    RecomputeChoice choice;
    VEC(OpRun) runs;   /* from 1 on */
    uint32_t *run;     /* by op: its run, 0 = none */
    bool *chosen;      /* by op of a run */
    bool *kept;        /* by value of a run: backward reads it as forward made it */
    bool *needed;      /* by value of a run: something of backward, or repeated, reads it */
    bool *repeated;    /* by op; before step 4: could be */
    bool *read_param;  /* by parameter: gradient ops read it */
    bool *read_module; /* by module: gradient ops read a parameter that only it declares */
    uint32_t *spot;    /* by repeated op: position before which it is; 0: not yet known */
    ValueId *became;   /* by value: what stands for it in backward */
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

static uint32_t add_run(Recompute *r, bool whole) {
    OpRun run = {.whole = whole};
    vec_push(r->g->scratch, &r->runs, run);
    return r->runs.n - 1;
}

static void find_runs(Recompute *r) {
    int32_t last = NO_INDEX;
    bool was_whole = false, whole;
    add_run(r, false); /* 0: none */
    for (uint32_t i = 0; i < length(r); i++) {
        const Op *op = op_at(r, i);
        if (op->phase != PHASE_FORWARD || !op->n_out || !op_computes(op->kind)) continue;
        int32_t region = choice_region(&r->choice, op, &whole);
        if (region != NO_INDEX) {
            if (region != last || whole != was_whole) add_run(r, whole);
            r->run[id_at(r, i)] = r->runs.n - 1;
            r->chosen[id_at(r, i)] = choice_has(&r->choice, op);
        }
        last = region;
        was_whole = whole;
    }
}

/* ---- 2. what leaves a run, and what gradient ops read ---- */

/* Does a reader in forward keep the value that it reads of that run? */
static bool keeps_value(const Recompute *r, OpId reader, uint32_t run) {
    if (r->run[reader] == run) return false;
    return r->runs.at[run].whole || r->chosen[reader] ||
           op_info[r->g->ops.at[reader].kind].term != TERM_NONE;
}

static void see_forward_reader(Recompute *r, OpId id) {
    const Op *op = &r->g->ops.at[id];
    bool stays = r->runs.at[r->run[id]].whole && !r->chosen[id];
    for (uint32_t j = 0; j < op->n_out; j++) r->kept[op->out + j] |= stays;
    for (uint32_t k = 0; k < op->n_in; k++)
        r->kept[op->in[k]] |= keeps_value(r, id, run_of(r, op->in[k]));
    if (op_info[op->kind].alias == ALIAS_VIEW && r->kept[op->out]) r->kept[op->in[0]] = true;
}

static void note_gradient_reader(Recompute *r, const Op *op) {
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

static void note_readers(Recompute *r) {
    for (uint32_t i = length(r); i-- > 0;) {
        const Op *op = op_at(r, i);
        if (op->phase == PHASE_FORWARD)
            see_forward_reader(r, id_at(r, i));
        else
            note_gradient_reader(r, op);
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
        bool good = r->chosen[id_at(r, i)];
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

static void repeat_op(Recompute *r, OpId id) {
    Graph *g = r->g;
    const Op old = g->ops.at[id]; /* a copy: the tables grow */
    ValueId *in = arena_array(g->scratch, ValueId, old.n_in);
    for (uint32_t k = 0; k < old.n_in; k++) in[k] = r->became[old.in[k]];
    OpId again = graph_copy_op(g, &old, in);
    Op *op = &g->ops.at[again];
    op->phase = PHASE_BACKWARD;
    op->recomputed = true;
    for (uint32_t j = 0; j < old.n_out; j++)
        if (!r->kept[old.out + j]) r->became[old.out + j] = op->out + j;
    vec_push(g->arena, &g->programs.at[r->program].ops, again);
}

static bool is_repeated(const Recompute *r, ValueId v) {
    return r->repeated[def_of(r, v)] && !r->kept[v];
}

/* Position i, or that of the first gradient op of the same forward op: these stay together for the
 * passes that fuse them. */
static uint32_t first_of_origin(const Recompute *r, uint32_t i) {
    uint32_t at = i;
    while (op_at(r, at - 1)->phase != PHASE_FORWARD &&
           op_same_origin(op_at(r, at - 1), op_at(r, i)))
        at--;
    return at;
}

/* The op that makes v, and what it needs of its run, are repeated before position `at`, unless they
 * are before an earlier one. */
static void put_before(Recompute *r, ValueId v, uint32_t at) {
    OpId id = def_of(r, v);
    OpRun *run = &r->runs.at[r->run[id]];
    if (run->whole && !run->spot) run->spot = at;
    if (run->whole || r->spot[id]) return;
    r->spot[id] = at;
    const Op *op = &r->g->ops.at[id];
    for (uint32_t k = 0; k < op->n_in; k++)
        if (is_repeated(r, op->in[k])) put_before(r, op->in[k], at);
}

static void find_spots(Recompute *r) {
    for (uint32_t i = 0; i < length(r); i++) {
        const Op *op = op_at(r, i);
        for (uint32_t k = 0; op->phase != PHASE_FORWARD && k < op->n_in; k++)
            if (is_repeated(r, op->in[k])) put_before(r, op->in[k], first_of_origin(r, i));
    }
}

/* By position: the first of the forward ops that are repeated before it, its position plus 1;
 * `next` leads to the others, in the order of forward. 0: none. */
static uint32_t *chain_spots(const Recompute *r, uint32_t *next) {
    uint32_t *first = arena_array(r->g->scratch, uint32_t, length(r) + 1);
    for (uint32_t i = length(r); i-- > 0;) {
        OpId id = id_at(r, i);
        if (!r->repeated[id]) continue;
        const OpRun *run = &r->runs.at[r->run[id]];
        uint32_t at = run->whole ? run->spot : r->spot[id];
        next[i] = first[at];
        first[at] = i + 1;
    }
    return first;
}

static void write_program(Recompute *r) {
    Graph *g = r->g;
    find_spots(r);
    uint32_t *next = arena_array(g->scratch, uint32_t, length(r) + 1);
    const uint32_t *first = chain_spots(r, next);
    const OpList old = program_take(&g->programs.at[r->program]);
    for (uint32_t i = 0; i < old.n; i++) {
        for (uint32_t k = first[i]; k; k = next[k - 1]) repeat_op(r, old.at[k - 1]);
        Op *op = &g->ops.at[old.at[i]];
        if (op->phase != PHASE_FORWARD)
            for (uint32_t k = 0; k < op->n_in; k++) op->in[k] = r->became[op->in[k]];
        vec_push(g->arena, &g->programs.at[r->program].ops, old.at[i]);
    }
}

/* ---- what the policy asks for in vain ---- */

/* By kind: whether an op that it stands for is in the program, or is repeated. */
static void mark_kinds(const Recompute *r, bool *present, bool *again) {
    for (uint32_t i = 0; i < length(r); i++) {
        const Op *op = op_at(r, i);
        int kind;
        for (int n = 0; (kind = op_stands_for(op->kind, n)) < OP_COUNT; n++) {
            present[kind] |= op->phase == PHASE_FORWARD;
            again[kind] |= op->recomputed;
        }
    }
}

static void warn_of_ops(const Recompute *r, const char *list, const char *name, const char *why) {
    diag_report(r->g->diags, W_no_effect, r->g->policy.recompute.span, NULL,
                "recompute: %s = %s has no effect: %s", list, name, why);
}

/* Does an op of a named class or path run again? Views are no work. */
static bool repeats_modules(const Recompute *r) {
    for (uint32_t i = 0; i < length(r); i++) {
        OpId id = id_at(r, i);
        bool works = op_info[op_at(r, i)->kind].alias != ALIAS_VIEW;
        if (op_at(r, i)->recomputed || !r->repeated[id]) continue;
        if (works && r->runs.at[r->run[id]].whole) return true;
    }
    return false;
}

static void warn_of_idle_modules(const Recompute *r) {
    const Policy *p = &r->g->policy;
    Span at = p->recompute.span;
    if (!r->choice.any_region || repeats_modules(r)) return;
    for (uint32_t i = 0; i < p->by_path.n; i++)
        if (p->by_path.at[i].kind == PATH_RECOMPUTE && !p->recompute.classes.at.n)
            at = p->by_path.at[i].span;
    diag_report(r->g->diags, W_no_effect, at, NULL,
                "recompute has no effect on these modules: all that backward reads of them "
                "is kept anyway");
}

static void warn_of_idle_ops(const Recompute *r) {
    const RecomputePolicy *p = &r->g->policy.recompute;
    bool *present = arena_array(r->g->scratch, bool, OP_COUNT);
    bool *again = arena_array(r->g->scratch, bool, OP_COUNT);
    mark_kinds(r, present, again);
    for (uint32_t i = 0; i < p->ops.at.n; i++) {
        int op = op_by_name(p->ops.at.at[i]);
        if (!present[op])
            warn_of_ops(r, "ops", p->ops.at.at[i], "the model has no such op");
        else if (!again[op])
            warn_of_ops(
                r, "ops", p->ops.at.at[i],
                "backward does not read its results, or lacks the values to recompute them");
    }
    for (uint32_t i = 0; i < p->keep.at.n; i++)
        if (!r->choice.any_region)
            warn_of_ops(r, "keep", p->keep.at.at[i],
                        "it applies to recomputed classes and paths, and none is named");
        else if (!present[op_by_name(p->keep.at.at[i])])
            warn_of_ops(r, "keep", p->keep.at.at[i], "the model has no such op");
}

static Recompute begin_recompute(Graph *g, uint32_t program) {
    Arena *a = g->scratch;
    Recompute r = {.g = g, .program = program};
    r.run = arena_array(a, uint32_t, g->ops.n);
    r.chosen = arena_array(a, bool, g->ops.n);
    r.repeated = arena_array(a, bool, g->ops.n);
    r.spot = arena_array(a, uint32_t, g->ops.n);
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
    if (train == NO_INDEX) return true;
    Recompute r = begin_recompute(g, (uint32_t)train);
    if (!choice_read(g, &r.choice)) return false;
    if (r.choice.any_region || r.choice.any_op) {
        find_runs(&r);
        note_readers(&r);
        find_repeatable(&r);
        find_repeated(&r);
        write_program(&r);
    }
    warn_of_idle_modules(&r);
    warn_of_idle_ops(&r);
    return true;
}
