/* Shared gathers: the ranks of a group keep gathered parameters in one place instead of a copy
 * each.
 *
 * Ranks that see each other's memory (threads of a process, processes of a host with transport mpi)
 * gather into the arena of the group's first rank, at the address that the plan gives the result on
 * every rank. Each rank writes its own part there, and all read it; so N ranks write N parts, not N
 * times N. In the other arenas the same bytes stay unused meanwhile: arenas have the plan's size
 * either way.
 *
 * It suffices that the plan is right for each rank by itself and that ranks meet in collectives:
 *   - A part is written after all ranks of the group have reached the gather, which they do when
 *     the memory is free for it, and read after all have left it.
 *   - After the last reader of the result, and before anything is written over it, all ranks of the
 *     group meet in another collective of the same program. A rank past that knows that all have
 *     finished reading. It may be the collective that writes over the result: it writes after all
 *     have come. Usually the plan has one, such as the next gather into the same memory. Where it
 *     has none, the ranks meet before the instruction that writes, which pays for all but small
 *     results.
 *
 * A result that is left in a state is not shared, since it outlives the program.
 *
 * This assumes that a rank's instructions end in the order of the plan. So a gather is never shared
 * on a device whose launches return early, where streams have threads of their own (--overlap), and
 * in the test mode that changes the order. What was found is proved before the first step
 * (shared_proof.c).
 */

#include "op.h"
#include "prepared.h"

/* From this many bytes of a result, a meeting takes less time than a copy for each rank. */
enum { MEETING_PAYS = 1 << 20 };
/* In place of an instruction before which ranks must meet: none is needed; none would help. */
enum { NOT_NEEDED = UINT32_MAX - 1, IMPOSSIBLE = UINT32_MAX };

/* ---- which gathers of a plan can be shared */

typedef struct GatherSearch {
    const Plan *p;
    uint32_t *root;       /* by value: what it is a view of, or itself */
    uint32_t *last;       /* by root: the last instruction that reads it */
    bool *kept;           /* by root: a state is left in it */
    AxisSet *meets;       /* by instruction: SharedGather.meets */
    const bool *in_sight; /* by set of axes */
} GatherSearch;

static void find_readers(GatherSearch *f, const PlanProgram *q) {
    const Plan *p = f->p;
    for (uint32_t k = q->first_instr; k < q->first_instr + q->n_instr; k++) {
        const PlanInstr *in = &p->instrs[k];
        const uint32_t *operand = &p->operands[in->first_in];
        bool view = op_info[in->op].alias == ALIAS_VIEW;
        for (uint32_t v = in->first_out; v < in->first_out + in->n_out; v++) {
            f->root[v] = view ? f->root[operand[0]] : v;
            f->last[f->root[v]] = k;
        }
        for (uint32_t i = 0; i < in->n_in && !view; i++) {
            f->last[f->root[operand[i]]] = k;
            f->kept[f->root[operand[i]]] |= in->op == OP_set_state;
        }
    }
}

static bool has_memory(const PlanValue *v) { return v->type.dtype != DT_TOKEN; }

static bool overlap_in_memory(const Plan *p, const PlanValue *a, const PlanValue *b) {
    return a->address < b->address + plan_room(p, b) && b->address < a->address + plan_room(p, a);
}

/* Does the instruction write over value v? */
static bool writes_over(const GatherSearch *f, const PlanInstr *in, uint32_t v) {
    const PlanValue *value = f->p->values;
    for (uint32_t w = in->first_out; w < in->first_out + in->n_out; w++)
        if (f->root[w] != v && has_memory(&value[w]) &&
            overlap_in_memory(f->p, &value[w], &value[v]))
            return true;
    return false;
}

static bool have_all(AxisSet set, AxisSet axes) { return (set & axes) == axes; }

/* Before which instruction the ranks of a gather must meet, so that all have read its result v
 * before it is written over. `end`: of the program. */
static uint32_t meeting_point(const GatherSearch *f, uint32_t gather, uint32_t end, uint32_t v) {
    const PlanInstr *instr = f->p->instrs;
    AxisSet axes = (AxisSet)instr[gather].attr.axes;
    for (uint32_t k = gather + 1; k < end; k++) {
        bool read = k > f->last[v], comm = op_info[instr[k].op].effect == EFFECT_COMM;
        if (read && have_all(f->meets[k], axes)) return NOT_NEEDED;
        if (read && comm && have_all((AxisSet)instr[k].attr.axes, axes)) return NOT_NEEDED;
        if (writes_over(f, &instr[k], v)) return read ? k : IMPOSSIBLE;
    }
    return end - 1 > f->last[v] ? end - 1 : IMPOSSIBLE;
}

/* All results of a gather, or none. */
static bool can_be_shared(const GatherSearch *f, uint32_t gather, uint32_t end) {
    const PlanInstr *in = &f->p->instrs[gather];
    int64_t bytes = 0;
    bool meets = false;
    for (uint32_t v = in->first_out; v < in->first_out + in->n_out; v++) {
        if (!has_memory(&f->p->values[v])) continue;
        uint32_t point = meeting_point(f, gather, end, v);
        if (f->kept[v] || point == IMPOSSIBLE) return false;
        meets |= point != NOT_NEEDED;
        bytes += type_bytes(&f->p->values[v].type);
    }
    return !meets || bytes >= MEETING_PAYS;
}

static void make_shared(const GatherSearch *f, uint32_t gather, uint32_t end, AxisSet *value) {
    const PlanInstr *in = &f->p->instrs[gather];
    for (uint32_t v = in->first_out; v < in->first_out + in->n_out; v++) {
        if (!has_memory(&f->p->values[v])) continue;
        uint32_t point = meeting_point(f, gather, end, v);
        if (point != NOT_NEEDED) f->meets[point] |= (AxisSet)in->attr.axes;
        value[v] = (AxisSet)in->attr.axes;
    }
}

static void mark_shared(const GatherSearch *f, const PlanProgram *q, AxisSet *value) {
    const Plan *p = f->p;
    uint32_t end = q->first_instr + q->n_instr;
    for (uint32_t k = q->first_instr; k < end; k++) {
        const PlanInstr *in = &p->instrs[k];
        bool gathers = in->op == OP_unshard && f->in_sight[in->attr.axes];
        if (gathers && can_be_shared(f, k, end)) make_shared(f, k, end, value);
        for (uint32_t v = in->first_out; v < in->first_out + in->n_out; v++)
            value[v] = value[f->root[v]];
    }
}

SharedGather shared_gather_find(const Plan *p, const bool in_sight[1 << MESH_AXES], Arena *a) {
    AxisSet *value = arena_array(a, AxisSet, p->n_values + 1);
    Arena *scratch = arena_new();
    GatherSearch f = {.p = p, .meets = arena_array(a, AxisSet, p->n_instrs + 1)};
    f.in_sight = in_sight;
    f.root = arena_array(scratch, uint32_t, p->n_values + 1);
    f.last = arena_array(scratch, uint32_t, p->n_values + 1);
    f.kept = arena_array(scratch, bool, p->n_values + 1);
    for (uint64_t i = 0; i < p->n_programs; i++) {
        find_readers(&f, &p->programs[i]);
        mark_shared(&f, &p->programs[i], value);
    }
    arena_free(scratch);
    return (SharedGather){value, f.meets};
}

/* ---- where they are */

/* The arena of the group's first rank; NULL where one of the group is out of sight. */
static char *first_arena(const Rank *r, AxisSet axes) {
    const Run *run = r->run;
    MeshGroup g = comm_group(run->plan, run->launch.ranks, axes, r->rank);
    if (!run->launch.module) return run->rank[g.base].arena; /* opened before this rank */
    for (int32_t k = 0; k < g.size; k++)
        if (!run->transport->peer_arena(r->transport, mesh_member(&g, k))) return NULL;
    return run->transport->peer_arena(r->transport, g.base);
}

static bool is_in_order(const Rank *r) {
    const Run *run = r->run;
    const Overlap *o = &r->executor->overlap;
    return run->test.mode != TEST_STREAMS && !o->on && !o->tries;
}

/* Processes may have different options and see different memory: a gather is shared on all ranks of
 * the run or on none. */
static int agree_on_all(Rank *r, bool *good) {
    uint64_t bad = !*good;
    int code = r->run->launch.module ? rank_agree(r, bad, &bad) : 0;
    *good = !bad;
    return code;
}

int shared_gather_open(Rank *r) {
    const Run *run = r->run;
    Executor *e = r->executor;
    bool possible = is_in_order(r);
    bool gathers[1 << MESH_AXES] = {false}, in_sight[1 << MESH_AXES] = {false}, any = false;
    if (run->launch.ranks < 2 || !run->device->arena_is_host) return 0;
    if (run->launch.module && !run->transport->peer_arena) return 0;
    int code = agree_on_all(r, &possible);
    for (uint64_t k = 0; k < run->plan->n_instrs; k++)
        if (run->plan->instrs[k].op == OP_unshard) gathers[run->plan->instrs[k].attr.axes] = true;
    for (AxisSet axes = 1; axes < (AxisSet)1 << run->plan->n_axes && possible && !code; axes++) {
        if (!gathers[axes]) continue;
        char *arena = first_arena(r, axes);
        bool seen = arena != NULL;
        code = agree_on_all(r, &seen);
        e->shared_arena[axes] = seen ? arena : NULL;
        any |= in_sight[axes] = seen;
    }
    if (code || !any) return code;
    char why[ERROR_BYTES];
    e->shared = shared_gather_find(run->plan, in_sight, r->memory);
    if (!shared_gather_is_safe(run->plan, &e->shared, why, sizeof why)) BUG("%s", why);
    return 0;
}

char *shared_arena(const Rank *r, uint32_t value) {
    const Executor *e = r->executor;
    return e->shared.value ? e->shared_arena[e->shared.value[value]] : NULL;
}

uint32_t shared_gather_release(const Rank *r, uint32_t value, uint32_t last) {
    const SharedGather *shared = &r->executor->shared;
    const Plan *p = r->run->plan;
    AxisSet axes = shared->value ? shared->value[value] : 0;
    uint32_t k = last;
    while (axes && ++k < p->n_instrs) {
        bool comm = op_info[p->instrs[k].op].effect == EFFECT_COMM;
        if (have_all(shared->meets[k], axes)) break;
        if (comm && have_all((AxisSet)p->instrs[k].attr.axes, axes)) break;
    }
    return k;
}

AxisSet shared_gather_meets(const Rank *r, uint32_t instr) {
    const SharedGather *j = &r->executor->shared;
    return j->meets ? j->meets[instr] : 0;
}
