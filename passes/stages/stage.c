/* stage: which stage of the pipeline computes what.
 *
 * In: a graph of level train, with the types that ranks compute with. Out: Op.stage and
 * Param.stage, all 0 without an axis pp. Values still go from op to op as if nothing were between
 * them; pass divide makes messages of the values that cross.
 *
 * Forward is a row of layers: runs of ops of one unit, the outermost one below the root, in the
 * order of computation. What the root computes goes with the layer before it, at the beginning with
 * the first; but a sum for a term of the loss, such as that of a router's balance, goes with what
 * it is about, so that only its few numbers cross. The row is cut into as many pieces as there are
 * stages, so that the longest takes as little time as possible: an op takes the longer of FLOP /
 * 1e11 and bytes / 1e10, its backward included. Such a cut costs stages * layers^2. Or section
 * shard lists the units of each stage.
 *
 * Backward goes the other way: an op is of the layer of the forward op that it belongs to. That is
 * at the same place in the same module; if a module is used several times, it is the last use that
 * is not after the layers its gradients come from, or, for an op that is computed again, the first
 * use that is not before its operands. An op that is computed again never runs after its readers,
 * and so is of no stage before theirs. Parameters are where they are read (passes/stages/ties.c).
 */
#include <string.h>

#include "passes.h"
#include "units.h"

typedef struct Layer {
    int32_t unit;
    double seconds;
    int32_t stage;
} Layer;

/* The forward ops of one place in one module: one for each use of that. */
typedef struct Origin {
    const char *path;
    Span span;
    VEC(uint32_t) layers; /* ascending */
} Origin;

typedef struct Stages {
    Graph *g;
    UnitMap map;
    ModulePaths paths;
    VEC(Layer) layers;
    uint32_t *layer; /* by op */
    Origin *origin;  /* hash table */
    uint32_t mask;
} Stages;

/* ---- layers ---- */

/* The outermost unit around the op below the root; NO_INDEX: there is none. */
static int32_t layer_unit(Stages *s, const Op *op) {
    const Graph *g = s->g;
    int32_t module = module_of_path(&s->paths, op->path);
    int32_t unit = module == NO_INDEX ? NO_INDEX : s->map.innermost[module];
    for (int32_t at = unit; at != NO_INDEX && !g->units.at[at].is_root;) {
        unit = at;
        at = unit_around(g, &s->map, g->units.at[at].modules.at[0]);
    }
    return unit != NO_INDEX && g->units.at[unit].is_root ? NO_INDEX : unit;
}

/* Does the op make the sums of which a term of the loss and its gradient are made? */
static bool sums_term(const Op *op) { return op_info[op->kind].partial == PARTIAL_TOGETHER; }

static OpId maker_of(const Graph *g, const Op *op, uint32_t k) {
    return g->values.at[op->in[k]].def;
}

static double seconds_of(const Graph *g, const Op *op) {
    Type few[FEW_TYPES];
    const Type *in = op_types(g, op, few), *out = in + op->n_in;
    int n_in = (int)op->n_in, n_out = (int)op->n_out;
    double flops = op_flops(op->kind, op->attr, n_in, in, n_out, out);
    double bytes = (double)op_bytes(op->kind, op->attr, n_in, in, n_out, out);
    return MAX(flops / 1e11, bytes / 1e10);
}

static uint32_t origin_row(const Stages *s, const Op *op) {
    uint64_t h = hash_bytes(&op->span, sizeof op->span, hash_bytes(op->path, strlen(op->path), 0));
    uint32_t k = (uint32_t)(h >> 32) & s->mask;
    for (; s->origin[k].path; k = (k + 1) & s->mask)
        if (!strcmp(s->origin[k].path, op->path) &&
            !memcmp(&s->origin[k].span, &op->span, sizeof op->span))
            break;
    return k;
}

static void find_layers(Stages *s, const Program *p) {
    Graph *g = s->g;
    while (s->mask < 2 * p->ops.n) s->mask = 2 * s->mask + 1;
    s->origin = arena_array(g->scratch, Origin, s->mask + 1);
    for (uint32_t i = 0; i < p->ops.n; i++) {
        const Op *op = &g->ops.at[p->ops.at[i]];
        if (op->phase != PHASE_FORWARD) continue;
        int32_t unit = layer_unit(s, op);
        uint32_t n = s->layers.n;
        if (!n)
            vec_push(g->scratch, &s->layers, ((Layer){.unit = unit}));
        else if (unit != NO_INDEX && s->layers.at[n - 1].unit == NO_INDEX && n == 1)
            s->layers.at[0].unit = unit;
        else if (unit != NO_INDEX && s->layers.at[n - 1].unit != unit)
            vec_push(g->scratch, &s->layers, ((Layer){.unit = unit}));
        uint32_t layer = sums_term(op) ? s->layer[maker_of(g, op, 0)] : s->layers.n - 1;
        s->layer[p->ops.at[i]] = layer;
        s->layers.at[layer].seconds += seconds_of(g, op);
        Origin *at = &s->origin[origin_row(s, op)];
        at->path = op->path;
        at->span = op->span;
        if (!at->layers.n || at->layers.at[at->layers.n - 1] != layer)
            vec_push(g->scratch, &at->layers, layer);
    }
}

/* The layer of an op of backward: those of its operands are known. */
static uint32_t layer_of_backward(const Stages *s, const Op *op) {
    const Origin *at = &s->origin[origin_row(s, op)];
    uint32_t low = 0, high = s->layers.n - 1, best = UINT32_MAX;
    bool of_term = false;
    for (uint32_t k = 0; k < op->n_in; k++) {
        OpId def = maker_of(s->g, op, k);
        const Op *maker = &s->g->ops.at[def];
        low = MAX(low, s->layer[def]);
        of_term |= sums_term(maker);
        if (maker->phase == PHASE_BACKWARD && !maker->recomputed) high = MIN(high, s->layer[def]);
    }
    for (uint32_t k = 0; at->path && k < at->layers.n && !of_term; k++) {
        uint32_t layer = at->layers.at[k];
        if (op->recomputed ? layer >= low && best == UINT32_MAX : layer <= high) best = layer;
    }
    return best != UINT32_MAX ? best : op->recomputed || of_term ? low : high;
}

static void find_backward(Stages *s, const Program *p) {
    for (uint32_t i = 0; i < p->ops.n; i++) {
        const Op *op = &s->g->ops.at[p->ops.at[i]];
        if (op->phase != PHASE_BACKWARD) continue;
        uint32_t layer = s->layer[p->ops.at[i]] = layer_of_backward(s, op);
        s->layers.at[layer].seconds += seconds_of(s->g, op);
    }
}

/* ---- the cut ---- */

/* longest[s][n]: the longest of s + 1 pieces of the first n layers, at best; from[s][n]: where the
 * last of them begins. */
static void cut_layers(Stages *s, uint32_t stages) {
    Arena *a = s->g->scratch;
    uint32_t n = s->layers.n;
    double *upto = arena_array(a, double, n + 1);
    double *longest = arena_array(a, double, (size_t)stages *(n + 1));
    uint32_t *from = arena_array(a, uint32_t, (size_t)stages * (n + 1));
    for (uint32_t i = 0; i < n; i++) upto[i + 1] = upto[i] + s->layers.at[i].seconds;
    for (uint32_t i = 1; i <= n; i++) longest[i] = upto[i];
    for (uint32_t k = 1; k < stages; k++) {
        double *now = longest + (size_t)k * (n + 1), *before = now - (n + 1);
        for (uint32_t end = k + 1; end <= n; end++) {
            now[end] = -1;
            for (uint32_t at = end - 1; at >= k; at--) {
                double last = upto[end] - upto[at], both = MAX(before[at], last);
                if (now[end] >= 0 && last > now[end]) break; /* longer pieces take longer */
                if (now[end] >= 0 && both >= now[end]) continue;
                now[end] = both;
                from[(size_t)k * (n + 1) + end] = at;
            }
        }
    }
    uint32_t end = n;
    for (uint32_t k = stages; k-- > 0;) {
        uint32_t at = k ? from[(size_t)k * (n + 1) + end] : 0;
        for (uint32_t i = at; i < end; i++) s->layers.at[i].stage = (int32_t)k;
        end = at;
    }
}

/* ---- lists ---- */

/* A path of a stage's list names a module. */
typedef struct ListedStage {
    Stages *s;
    const Program *train;
    Span span;
    int32_t stage;
    bool good;
} ListedStage;

static const char *layer_name(const Stages *s, uint32_t layer) {
    return s->g->units.at[s->layers.at[layer].unit].name;
}

static bool is_inside(const Graph *g, int32_t module, int32_t of) {
    while (module > of) module = g->modules.at[module].parent;
    return module == of;
}

/* Is a module of the layer's unit inside the module? */
static bool has_layer(const Stages *s, int32_t module, uint32_t layer) {
    const Unit *u = &s->g->units.at[s->layers.at[layer].unit];
    bool any = false;
    for (uint32_t k = 0; k < u->modules.n; k++) any |= is_inside(s->g, u->modules.at[k], module);
    return any;
}

static void list_module(void *user, int32_t module) {
    ListedStage *l = user;
    Stages *s = l->s;
    for (uint32_t i = 0; i < s->layers.n && l->good; i++) {
        Layer *layer = &s->layers.at[i];
        if (!has_layer(s, module, i)) continue;
        if (layer->stage != NO_INDEX && layer->stage != l->stage)
            l->good = diag_report(s->g->diags, E_stages, l->span, "put a unit into one stage only",
                                  "stages %d and %d both list %s", layer->stage, l->stage,
                                  layer_name(s, i));
        layer->stage = l->stage;
    }
}

/* What a module without units computes belongs to the stage of the unit before it. */
static void find_module(void *user, int32_t module) {
    ListedStage *l = user;
    Stages *s = l->s;
    for (uint32_t i = 0; i < s->layers.n; i++)
        if (has_layer(s, module, i)) return;
    for (uint32_t i = 0; i < l->train->ops.n && l->good; i++) {
        OpId id = l->train->ops.at[i];
        const Op *op = &s->g->ops.at[id];
        int32_t stage = s->layers.at[s->layer[id]].stage;
        if (op->phase != PHASE_FORWARD || stage == l->stage ||
            !is_inside(s->g, module_of_path(&s->paths, op->path), module))
            continue;
        l->good = diag_report(
            s->g->diags, E_stages, l->span,
            "what no unit computes belongs to the stage of the unit before it: list it there",
            "stage %d lists %s, which is computed with %s in stage %d", l->stage,
            s->g->modules.at[module].path, layer_name(s, s->layer[id]), stage);
    }
}

/* Lists are without gaps, and ascend in the order of computation. */
static bool lists_are_whole(const Stages *s) {
    const PathLists *lists = &s->g->policy.stage_lists;
    for (uint32_t i = 0; i < s->layers.n; i++) {
        int32_t stage = s->layers.at[i].stage;
        if (stage == NO_INDEX)
            return diag_report(s->g->diags, E_stages, lists->at.at[0].span,
                               "put each unit into the list of one stage", "no stage lists %s",
                               layer_name(s, i));
        if (i && s->layers.at[i - 1].stage > stage)
            return diag_report(s->g->diags, E_stages, lists->at.at[stage].span,
                               "list the units in the order in which they are computed",
                               "stage %d lists %s, which is computed after %s of stage %d", stage,
                               layer_name(s, i), layer_name(s, i - 1), s->layers.at[i - 1].stage);
    }
    return true;
}

static bool visit_lists(Stages *s, const Program *train, void (*visit)(void *, int32_t)) {
    const PathLists *lists = &s->g->policy.stage_lists;
    for (uint32_t k = 0; k < lists->at.n; k++) {
        const PathList *list = &lists->at.at[k];
        for (uint32_t j = 0; j < list->paths.at.n; j++) {
            ListedStage l = {s, train, list->span, (int32_t)k, true};
            if (!visit_modules(&s->paths, "stages", l.span, list->paths.at.at[j], visit, &l) ||
                !l.good)
                return false;
        }
    }
    return true;
}

static bool take_lists(Stages *s, const Program *train) {
    for (uint32_t i = 0; i < s->layers.n; i++) s->layers.at[i].stage = NO_INDEX;
    return visit_lists(s, train, list_module) && lists_are_whole(s) &&
           visit_lists(s, train, find_module);
}

static bool has_layers(const Stages *s, uint32_t stages) {
    const Graph *g = s->g;
    if (s->layers.n >= stages) return true;
    return diag_report(
        g->diags, E_stages, g->policy.unit_span,
        "a stage needs at least one unit: use fewer stages, or smaller units (shard.unit)",
        "stages = %u: the model has %u unit%s", stages, s->layers.n, s->layers.n == 1 ? "" : "s");
}

/* ---- ops ---- */

/* Ops of another program compute layers in the same order. */
static void place_forward(Stages *s, const Program *p, bool trains) {
    Graph *g = s->g;
    uint32_t layer = 0;
    for (uint32_t i = 0; i < p->ops.n; i++) {
        Op *op = &g->ops.at[p->ops.at[i]];
        if (op->phase != PHASE_FORWARD) continue;
        if (trains) {
            layer = s->layer[p->ops.at[i]];
        } else {
            int32_t unit = layer_unit(s, op);
            uint32_t next = layer;
            while (unit != NO_INDEX && next < s->layers.n && s->layers.at[next].unit != unit)
                next++;
            if (next < s->layers.n) layer = next;
        }
        op->stage = (int16_t)s->layers.at[layer].stage;
        if (sums_term(op)) op->stage = g->ops.at[maker_of(g, op, 0)].stage;
    }
}

/* By op: is it of backward, and made of nothing but what forward makes? So is what is computed or
 * gathered again. */
static bool *find_repeated(const Graph *g, const Program *p) {
    bool *repeated = arena_array(g->scratch, bool, g->ops.n + 1);
    for (uint32_t i = 0; i < p->ops.n; i++) {
        const Op *op = &g->ops.at[p->ops.at[i]];
        bool only = op->phase == PHASE_BACKWARD;
        for (uint32_t k = 0; k < op->n_in && only && !op->recomputed; k++) {
            OpId maker = maker_of(g, op, k);
            only = g->ops.at[maker].phase == PHASE_FORWARD || repeated[maker];
        }
        repeated[p->ops.at[i]] = only;
    }
    return repeated;
}

/* Can the op of backward be of this stage? What it reads is there by then. */
static bool may_be_of(const Graph *g, const bool *repeated, const Op *op, int16_t stage) {
    bool there = op->phase == PHASE_BACKWARD;
    for (uint32_t k = 0; k < op->n_in && there && !op->recomputed; k++) {
        OpId maker = maker_of(g, op, k);
        const Op *def = &g->ops.at[maker];
        there = def->phase == PHASE_FORWARD || repeated[maker] || def->stage >= stage;
    }
    return there;
}

static void place_backward(Stages *s, const Program *p) {
    Graph *g = s->g;
    const bool *repeated = find_repeated(g, p);
    for (uint32_t i = 0; i < p->ops.n; i++) {
        Op *op = &g->ops.at[p->ops.at[i]];
        if (op->phase == PHASE_BACKWARD)
            op->stage = (int16_t)s->layers.at[s->layer[p->ops.at[i]]].stage;
    }
    for (uint32_t i = p->ops.n; i-- > 0;) {
        const Op *op = &g->ops.at[p->ops.at[i]];
        for (uint32_t k = 0; k < op->n_in; k++) {
            Op *maker = &g->ops.at[maker_of(g, op, k)];
            if (maker->stage < op->stage && may_be_of(g, repeated, maker, op->stage))
                maker->stage = op->stage;
        }
    }
}

bool pass_stage(Graph *g) {
    int32_t train = graph_find_program(g, PROGRAM_TRAIN);
    if (!graph_has_stages(g) || train == NO_INDEX) return true;
    if (!find_units(g)) return false;
    Stages s = {.g = g,
                .map = unit_tree(g),
                .paths = index_module_paths(g),
                .layer = arena_array(g->scratch, uint32_t, g->ops.n + 1),
                .mask = 63};
    const Program *p = &g->programs.at[train];
    find_layers(&s, p);
    find_backward(&s, p);
    bool good = has_layers(&s, graph_stages(g));
    if (good && g->policy.stage_lists.at.n) good = take_lists(&s, p);
    if (good) {
        if (!g->policy.stage_lists.at.n) cut_layers(&s, graph_stages(g));
        for (uint32_t i = 0; i < g->programs.n; i++)
            place_forward(&s, &g->programs.at[i], (int32_t)i == train);
        place_backward(&s, p);
        place_params(g);
    }
    g->units.n = 0;
    return good;
}
