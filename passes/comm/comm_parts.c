/* The first half of comm: a program taken apart, and when each unit is gathered.
 *
 * Items are the ops that compute; parameters, what reshapes them, master shards and `gradient` are
 * only read. Consecutive items of one unit and phase are a segment. The segments in which some item
 * reads a unit's parameters are its uses; consecutive uses share a gather
 *   - if the unit is the root, within a phase, and across the two phases unless reshard_root;
 *   - if nothing is resharded after forward (strategies grads and none, reshard = false), in train;
 *   - if all ranks hold all of it and cast = auto: forward's casts serve backward, except for the
 *     unit that backward reads last, when all gradients are there and memory is fullest;
 *   - if the unit was joined by hand from several modules, within a phase: it is gathered when the
 *     first of them runs and resharded after the last, as if they were one;
 *   - in backward, from the ops of forward that it repeats to their gradients;
 *   - if only modules inside the unit run between them (an outer block around inner ones);
 *   - if at most `prefetch` other units run between them, since the next gather would be issued
 *     before the reshard is over; a unit that runs in several parts counts once.
 * Otherwise the unit is resharded and gathered again. A phase that does not read a unit's
 * parameters does not gather it.
 *
 * Time: one walk over the ops, then one over uses and one over gathers; a sort of the gathers.
 */
#include <stdlib.h>

#include "comm.h"

typedef struct UnitUse {
    uint32_t segment, first, last;
    bool recomputed; /* its readers include ops of forward that backward repeats */
} UnitUse;

typedef VEC(UnitUse) UnitUses;

/* ---- taking apart ---- */

/* The bucket of another group of the unit that is reduced in the same dtype, or a new one. */
static Bucket *bucket_of(const Comm *c, SegmentedProgram *parts, uint32_t group) {
    const Graph *g = c->g;
    const Group *q = &g->groups.at[group];
    const Unit *u = &g->units.at[q->unit];
    int32_t k = NO_INDEX;
    for (uint32_t j = 0; j < u->groups.n && k == NO_INDEX; j++)
        if (g->groups.at[u->groups.at[j]].reduce_dtype == q->reduce_dtype &&
            g->groups.at[u->groups.at[j]].layout.split == q->layout.split)
            k = parts->bucket[u->groups.at[j]];
    if (k == NO_INDEX) {
        Bucket b = {.unit = q->unit};
        k = (int32_t)parts->buckets.n;
        vec_push(g->scratch, &parts->buckets, b);
    }
    parts->bucket[group] = k;
    return &parts->buckets.at[k];
}

static void note_gradient(const Comm *c, SegmentedProgram *parts, const Op *op) {
    Reduction r = {.group = (uint32_t)op->attr->group, .gradient = op->in, .reduced = op->out};
    vec_push(c->g->scratch, &bucket_of(c, parts, r.group)->of, r);
}

/* Sorts an op into the parts. True if it is an item. */
static bool is_computation(const Comm *c, SegmentedProgram *parts, const Op *op) {
    const Graph *g = c->g;
    switch (op->kind) {
    case OP_state:
        if (g->states.at[op->attr->index].role != STATE_PARAM) return true;
        parts->shard[op->out] = g->states.at[op->attr->index].group;
        return false;
    case OP_param: parts->view[op->out] = (int32_t)op->attr->index; return false;
    case OP_reshape: /* of a parameter: it shows the gathered memory, as the parameter does */
        parts->view[op->out] = parts->view[op->in[0]];
        return parts->view[op->out] == NO_INDEX;
    case OP_gradient: note_gradient(c, parts, op); return false;
    default: return true;
    }
}

static void add_item(const Comm *c, SegmentedProgram *parts, OpId id) {
    const Op *op = &c->g->ops.at[id];
    uint32_t n = parts->segments.n;
    Segment *last = n ? &parts->segments.at[n - 1] : NULL;
    if (!last || last->unit != op->unit || last->phase != op->phase) {
        Segment s = {.unit = op->unit, .phase = op->phase, .first = parts->items.n};
        vec_push(c->g->scratch, &parts->segments, s);
    }
    vec_push(c->g->scratch, &parts->items, id);
    parts->segments.at[parts->segments.n - 1].end = parts->items.n;
}

static int compare_groups(const void *a, const void *b) {
    const Reduction *x = a, *y = b;
    return x->group < y->group ? -1 : x->group > y->group;
}

static int compare_buckets(const void *a, const void *b) {
    const Bucket *x = a, *y = b;
    if (x->segment != y->segment) return x->segment < y->segment ? -1 : 1;
    return compare_groups(x->of.at, y->of.at);
}

/* segment: by old value, that of the op that makes it. */
static void sort_buckets(const Comm *c, SegmentedProgram *parts, const uint32_t *segment) {
    for (uint32_t k = 0; k < parts->buckets.n; k++) {
        Bucket *b = &parts->buckets.at[k];
        qsort(b->of.at, b->of.n, sizeof(Reduction), compare_groups);
        for (uint32_t i = 0; i < b->of.n; i++)
            for (uint32_t j = 0; j < c->g->groups.at[b->of.at[i].group].params.n; j++)
                b->segment = MAX(b->segment, segment[b->of.at[i].gradient[j]]);
        for (uint32_t i = 0; i < b->of.n; i++) b->of.at[i].segment = b->segment;
    }
    if (parts->buckets.n)
        qsort(parts->buckets.at, parts->buckets.n, sizeof(Bucket), compare_buckets);
}

/* ---- buckets of several units ---- */

/* What a bucket is compared with: elements or bytes of its packs. */
static int64_t bucket_size(const Graph *g, const Bucket *b) {
    int64_t size = 0;
    for (uint32_t k = 0; k < b->of.n; k++) {
        const Group *q = &g->groups.at[b->of.at[k].group];
        size += q->layout.padded * (g->policy.bucket ? 1 : dtype_bytes(q->reduce_dtype));
    }
    return size;
}

static bool goes_together(const Graph *g, const Bucket *a, const Bucket *b) {
    const Group *x = &g->groups.at[a->of.at[0].group], *y = &g->groups.at[b->of.at[0].group];
    return x->reduce_dtype == y->reduce_dtype && x->layout.split == y->layout.split &&
           g->units.at[a->unit].stage == g->units.at[b->unit].stage;
}

/* Puts buckets together, in the order in which they are complete, until each has the size that the
 * policy wants. Its segment and unit become those of the last one. */
static void join_buckets(const Comm *c, SegmentedProgram *parts) {
    const Graph *g = c->g;
    int64_t target = g->policy.bucket ? g->policy.bucket : g->policy.bucket_bytes;
    uint32_t n = 0;
    for (uint32_t k = 0; k < parts->buckets.n; k++) {
        Bucket *b = &parts->buckets.at[k], *open = NULL;
        for (uint32_t j = 0; j < n && !open; j++)
            if (goes_together(g, &parts->buckets.at[j], b) &&
                bucket_size(g, &parts->buckets.at[j]) < target)
                open = &parts->buckets.at[j];
        if (!open) {
            parts->buckets.at[n++] = *b;
            continue;
        }
        for (uint32_t i = 0; i < b->of.n; i++) vec_push(g->scratch, &open->of, b->of.at[i]);
        open->unit = b->unit;
        open->segment = b->segment;
    }
    parts->buckets.n = n;
    if (n) qsort(parts->buckets.at, n, sizeof(Bucket), compare_buckets);
}

static void segment_program(const Comm *c, SegmentedProgram *parts, const Program *p) {
    const Graph *g = c->g;
    uint32_t *segment = arena_array(g->scratch, uint32_t, g->values.n);
    for (uint32_t i = 0; i < p->ops.n; i++) {
        const Op *op = &g->ops.at[p->ops.at[i]];
        if (!is_computation(c, parts, op)) continue;
        add_item(c, parts, p->ops.at[i]);
        for (uint32_t j = 0; j < op->n_out; j++) segment[op->out + j] = parts->segments.n - 1;
    }
    sort_buckets(c, parts, segment);
    if (c->g->policy.bucket || c->g->policy.bucket_bytes) join_buckets(c, parts);
}

/* ---- uses and gathers ---- */

static UnitUses *find_uses(const Comm *c, const SegmentedProgram *parts) {
    const Graph *g = c->g;
    UnitUses *uses = arena_array(g->scratch, UnitUses, g->units.n);
    for (uint32_t s = 0; s < parts->segments.n; s++)
        for (uint32_t i = parts->segments.at[s].first; i < parts->segments.at[s].end; i++) {
            const Op *op = &g->ops.at[parts->items.at[i]];
            for (uint32_t j = 0; j < op->n_in; j++) {
                int32_t p = parts->view[op->in[j]];
                if (p == NO_INDEX) continue;
                UnitUses *of = &uses[c->map.owner[p]];
                if (!of->n || of->at[of->n - 1].segment != s) {
                    UnitUse u = {.segment = s, .first = i};
                    vec_push(g->scratch, of, u);
                }
                of->at[of->n - 1].last = i;
                of->at[of->n - 1].recomputed |= op->recomputed;
            }
        }
    return uses;
}

static bool is_inside(const Comm *c, int32_t unit, int32_t outer) {
    while (unit != NO_INDEX && unit != outer) unit = c->around[unit];
    return unit == outer;
}

static bool only_inner_between(const Comm *c, const SegmentedProgram *parts, int32_t unit,
                               uint32_t from, uint32_t to) {
    for (uint32_t s = from + 1; s < to; s++)
        if (!is_inside(c, parts->segments.at[s].unit, unit)) return false;
    return true;
}

/* Which units a walk has met; a new walk takes the next number. */
typedef struct Met {
    uint32_t *by; /* by unit: the last walk that met it */
    uint32_t walk;
} Met;

/* How many other units besides the root run between segments `from` and `to`. Counting ends when
 * there are more than `most`. */
static int64_t units_between(const Comm *c, const SegmentedProgram *parts, int32_t unit,
                             uint32_t from, uint32_t to, int64_t most, Met *met) {
    int64_t n = 0;
    met->walk++;
    for (uint32_t s = from + 1; s < to && n <= most; s++) {
        int32_t other = parts->segments.at[s].unit;
        if (other == NO_INDEX || other == unit || c->g->units.at[other].is_root) continue;
        n += met->by[other] != met->walk;
        met->by[other] = met->walk;
    }
    return n;
}

/* Is the unit made of parameters that are cast one by one? */
static bool is_cast(const Comm *c, int32_t unit) {
    const Unit *u = &c->g->units.at[unit];
    bool casts = false;
    for (uint32_t j = 0; j < u->groups.n; j++)
        casts |= comm_casts_parameters(c, (uint32_t)u->groups.at[j]);
    return casts && !unit_split_groups(c->g, unit);
}

/* Is what forward reads of the unit's parameters there for backward? */
static bool is_kept(const Comm *c, const SegmentedProgram *parts, int32_t unit) {
    if (is_cast(c, unit) && comm_is_staged(c, unit)) return false;
    if (is_cast(c, unit)) return c->g->policy.cast == CAST_AUTO && unit != parts->read_last;
    return residence_is_whole(comm_gathered(c, BORDER_FORWARD, unit));
}

/* Does the gather that serves use a of the unit serve the next one, b, too? */
static bool is_shared(const Comm *c, const SegmentedProgram *parts, int32_t unit, const UnitUse *a,
                      const UnitUse *b, Met *met) {
    const Unit *u = &c->g->units.at[unit];
    uint8_t phase = parts->segments.at[b->segment].phase;
    bool border = phase != parts->segments.at[a->segment].phase;
    bool kept = is_kept(c, parts, unit);
    if (u->is_root) return !border || kept;
    if (parts->kind == PROGRAM_TRAIN && kept) return true;
    if (border) return false;
    if (a->recomputed || u->modules.n > 1) return true;
    if (only_inner_between(c, parts, unit, a->segment, b->segment)) return true;
    int64_t ahead = prefetch_ahead(&c->g->policy, phase);
    int64_t between = units_between(c, parts, unit, a->segment, b->segment, ahead, met);
    if (between > ahead) return false;
    parts->kept[unit] |= between > 0;
    return true;
}

/* Does the unit stay gathered from forward to backward? Copies last as long then, and the sooner
 * all of them are there the sooner the gathered memory goes. */
static bool is_kept_whole(const Comm *c, const SegmentedProgram *parts, int32_t unit) {
    return parts->kind == PROGRAM_TRAIN &&
           residence_is_whole(comm_gathered(c, BORDER_FORWARD, unit));
}

static int compare_gathers(const void *a, const void *b) {
    const UnitGather *x = a, *y = b;
    if (x->home != y->home) return x->home < y->home ? -1 : 1;
    if (x->first != y->first) return x->first < y->first ? -1 : 1;
    return x->unit < y->unit ? -1 : x->unit > y->unit;
}

/* The unit whose parameters backward reads last. */
static int32_t read_last(const Comm *c, const SegmentedProgram *parts, const UnitUses *uses) {
    int32_t unit = NO_INDEX;
    uint32_t item = 0;
    for (uint32_t u = 0; u < c->g->units.n; u++) {
        const UnitUse *last = uses[u].n ? &uses[u].at[uses[u].n - 1] : NULL;
        if (!last || parts->segments.at[last->segment].phase != PHASE_BACKWARD) continue;
        if (unit != NO_INDEX && last->last < item) continue;
        unit = (int32_t)u;
        item = last->last;
    }
    return unit;
}

static void find_gathers(const Comm *c, SegmentedProgram *parts) {
    const Graph *g = c->g;
    Met met = {.by = arena_array(g->scratch, uint32_t, g->units.n)};
    UnitUses *uses = find_uses(c, parts);
    parts->read_last = read_last(c, parts, uses);
    for (uint32_t u = 0; u < g->units.n; u++) {
        for (uint32_t k = 0; k < uses[u].n; k++) {
            const UnitUse *use = &uses[u].at[k];
            if (k && is_shared(c, parts, (int32_t)u, use - 1, use, &met)) {
                parts->gathers.at[parts->gathers.n - 1].last = use->last;
                continue;
            }
            UnitGather gather = {.unit = (int32_t)u,
                                 .home = use->segment,
                                 .first = use->first,
                                 .last = use->last,
                                 .opens = !k,
                                 .together = is_kept_whole(c, parts, (int32_t)u)};
            vec_push(g->scratch, &parts->gathers, gather);
        }
        if (uses[u].n) parts->gathers.at[parts->gathers.n - 1].closes = true;
    }
    if (parts->gathers.n)
        qsort(parts->gathers.at, parts->gathers.n, sizeof(UnitGather), compare_gathers);
}

/* The parameter itself, of a reshape of one. */
static ValueId unshaped(const Graph *g, ValueId v) {
    const Op *def = value_maker(g, v);
    while (def->kind == OP_reshape) {
        v = def->in[0];
        def = value_maker(g, v);
    }
    return v;
}

/* Is the parameter read from a copy of its own that serves all of a gather? */
static bool is_copied(const Comm *c, int32_t p) {
    const ParamPlace *place = &c->place[p];
    return !place->whole && !dtype_is_quantized(c->g->groups.at[place->group].wire_dtype);
}

/* Gathers of one unit follow each other, so the current one is enough. */
static void find_done(const Comm *c, SegmentedProgram *parts) {
    const Graph *g = c->g;
    uint32_t *open =
        arena_array(g->scratch, uint32_t, parts->items.n + 1); /* by item: gather + 1 */
    uint32_t *next = arena_array(g->scratch, uint32_t, parts->gathers.n + 1); /* of the same item */
    uint32_t *current = arena_array(g->scratch, uint32_t, g->units.n);
    uint32_t *copied = arena_array(g->scratch, uint32_t, parts->n_values); /* for gather + 1 */
    for (uint32_t k = 0; k < parts->gathers.n; k++) {
        next[k] = open[parts->gathers.at[k].first];
        open[parts->gathers.at[k].first] = k + 1;
    }
    for (uint32_t i = 0; i < parts->items.n; i++) {
        const Op *op = &g->ops.at[parts->items.at[i]];
        for (uint32_t k = open[i]; k; k = next[k - 1]) current[parts->gathers.at[k - 1].unit] = k;
        for (uint32_t j = 0; j < op->n_in; j++) {
            int32_t p = parts->view[op->in[j]];
            if (p == NO_INDEX) continue;
            ValueId param = unshaped(g, op->in[j]);
            uint32_t number = current[c->map.owner[p]];
            UnitGather *gather = &parts->gathers.at[number - 1];
            bool copy = is_copied(c, p);
            if (copy && copied[param] == number) continue;
            copied[param] = number;
            if (copy) vec_push(g->scratch, &gather->copied, param);
            if (!copy || gather->copied.n == 1 || !gather->together) gather->done = i;
        }
    }
}

SegmentedProgram comm_segment(Comm *c, const Program *p) {
    SegmentedProgram parts = {.kind = p->kind,
                              .n_values = c->g->values.n,
                              .kept = arena_array(c->g->scratch, bool, c->g->units.n),
                              .view = arena_none(c->g->scratch, int32_t, c->g->values.n),
                              .shard = arena_none(c->g->scratch, int32_t, c->g->values.n),
                              .bucket = arena_none(c->g->scratch, int32_t, c->g->groups.n)};
    segment_program(c, &parts, p);
    find_gathers(c, &parts);
    find_done(c, &parts);
    return parts;
}
