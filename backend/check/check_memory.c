/* Proofs 2 and 6.
 *
 * check-2: two values whose addresses overlap are never live at the same time in happens-before
 * order. The sweep goes over a program's values in issue order and keeps, for every address, who
 * lives there; when value v is written over u, every access of u must happen before v's writer, or
 * be that writer itself where its op may work in place. Only neighbours in time need comparing:
 * v's writer is one of v's accesses, so the order is transitive.
 *   2a  v overwrites u before u's last reader has surely finished
 *   2b  the memory of a state that only the host writes is overwritten, or a `state` op names other
 *       memory than the table
 *   2c  a view, or a pack's operand, lies elsewhere than inside the value that it belongs to
 *   2d  a result that must be in place is elsewhere
 *   2e  at the program's end a state's memory does not hold the state
 *   2f  two instructions that use the workspace of a device need not run one after the other
 *   2g  a value is in a slot that no kernel wrote, or is read by anything but the gather over the
 *       axes of the slots whose result is these slots
 *   2h  a fetch copies what is not in host memory, an evict leaves its result elsewhere, or any
 * other instruction reads or writes host memory; states of the host's own are on the device A value
 * in a slot counts as the memory of all slots, so one proof holds for every rank; its gather leaves
 * this rank's slot as it is. Padding of a pack is written by the pack, so its whole range counts
 * from there on. All instructions of a program share one workspace, which holds nothing between
 * them.
 *
 * check-6: the high-water marks of both arenas, recomputed, equal the predicted peaks.
 *   6a  the plan's arena_bytes: the largest peak of its programs
 *   6b  a program's peak: the end of its highest value, never below the states' region
 *   6c  workspaces: the largest bound of any instruction for that kind of device, after the arena
 *   6d  states: disjoint multiples of PLAN_ALIGN, inside their regions, which the last ones end
 *   6e  the plan's host_bytes: the end of the highest value in host memory
 */
#include "check.h"
#include "interval_map.h"

#include <stdlib.h>

typedef unsigned long long Llu;
#define STATE_MARK 0x80000000u /* occupant = entry version of state (value & ~STATE_MARK) */

typedef struct Sweep {
    Check *c;
    IntervalMap map;
    uint32_t *first_of_state; /* by state: first `state` instruction of the program + 1; 0 = none */
    uint32_t *next_of_state;  /* by instruction, relative to the program: the next one + 1 */
    uint32_t first_instr;
    uint64_t instr; /* the writer of the value being placed */
    uint32_t result, value;
    uint64_t user[DEVICE_KINDS][MAX_STREAMS]; /* last one that uses the workspace, + 1; 0 = none */
} Sweep;

static int64_t pack_offset(const Check *c, uint64_t i, uint32_t k) {
    const PlanGroup *g = &c->p->groups[c->p->instrs[i].attr.group];
    uint32_t v = check_out(c, i, 0);
    return c->p->group_params[g->first_param + k].offset * dtype_bytes(c->p->values[v].type.dtype);
}

/* Does the sweep's writer read root value u in place, legally? */
static bool in_place(const Sweep *s, uint32_t u, uint32_t operand_of_instr) {
    const Check *c = s->c;
    const Plan *p = c->p;
    uint32_t v = check_in(c, s->instr, operand_of_instr);
    if (c->root[v] != u || !check_may_overwrite(c, s->instr, operand_of_instr, s->result))
        return false;
    uint64_t expected = p->values[s->value].address;
    if (op_info[p->instrs[s->instr].op].alias == ALIAS_PACK)
        expected += (uint64_t)pack_offset(c, s->instr, operand_of_instr);
    else if (check_bytes(c, v) != check_bytes(c, s->value))
        return false;
    return p->values[v].address == expected;
}

/* Is operand k of the user in memory of root value u that the sweep's writer writes? Of two views
 * of one value each may be replaced by itself. */
static bool is_hit(const Sweep *s, uint64_t user, uint32_t k, uint32_t u) {
    const Check *c = s->c;
    uint32_t v = check_in(c, user, k);
    uint64_t at = c->p->values[v].address, from = c->p->values[s->value].address;
    return c->root[v] == u && at < from + check_bytes(c, s->value) && from < at + check_bytes(c, v);
}

/* Does the user read such memory? */
static bool touches(const Sweep *s, uint64_t user, uint32_t u) {
    for (uint32_t k = 0; k < s->c->p->instrs[user].n_in; k++)
        if (is_hit(s, user, k, u)) return true;
    return false;
}

/* Does the sweep's writer read root value u only where it may work in place? */
static bool reads_in_place(const Sweep *s, uint32_t u) {
    for (uint32_t k = 0; k < s->c->p->instrs[s->instr].n_in; k++)
        if (is_hit(s, s->instr, k, u) && !in_place(s, u, k)) return false;
    return true;
}

/* Every access of root value u happens before the sweep's writer, or is that writer in place. */
static int check_dead(Sweep *s, uint32_t u) {
    Check *c = s->c;
    if (check_all_before(c, u, s->instr)) return 0;
    uint64_t def = c->p->values[u].def;
    bool entry = c->p->instrs[def].op == OP_state;
    if (!entry && !check_before(c, def, s->instr))
        return check_fail(
            c, "2a", s->instr,
            "value %u overwrites value %u, whose writer, instruction %llu, may not have finished",
            s->value, u, (Llu)def);
    for (uint64_t k = c->first_use[u]; k < c->first_use[u + 1]; k++) {
        uint64_t user = c->use[k];
        if (user == s->instr || !check_accesses(c, user, entry) ||
            check_before(c, user, s->instr) || !touches(s, user, u))
            continue;
        return check_fail(c, "2a", s->instr,
                          "value %u overwrites value %u, which instruction %llu may still read",
                          s->value, u, (Llu)user);
    }
    if (!reads_in_place(s, u))
        return check_fail(c, "2a", s->instr,
                          "result value %u lies over operand value %u, and the op cannot work in "
                          "place there",
                          s->value, u);
    return 0;
}

/* The host writes these between calls and, for the staging slots, during one. */
static bool is_of_host(const PlanState *st) {
    return st->role == STATE_STEP || st->role == STATE_STAGING;
}

static int visit_occupant(void *context, uint64_t from, uint64_t to, uint32_t occupant) {
    Sweep *s = context;
    (void)from;
    (void)to;
    if (!(occupant & STATE_MARK)) return check_dead(s, occupant);
    uint32_t state = occupant & ~STATE_MARK;
    if (is_of_host(&s->c->p->states[state]))
        return check_fail(s->c, "2b", s->instr,
                          "value %u lies over state %s, which the host writes", s->value,
                          plan_string(s->c->p, s->c->p->states[state].name));
    if (s->first_of_state[state] == 0) return 0; /* never read here; the end decides (2e) */
    for (uint32_t i = s->first_of_state[state]; i; i = s->next_of_state[i - 1 - s->first_instr]) {
        int status = check_dead(s, check_out(s->c, i - 1, 0));
        if (status) return status;
    }
    return 0;
}

/* Does the instruction gather operand k, from a slot, into these slots? */
static bool gathers_slots(const Check *c, uint64_t i, uint32_t k) {
    const PlanInstr *in = &c->p->instrs[i];
    if (in->op != OP_unshard || k >= in->n_out) return false;
    uint32_t from = check_in(c, i, k), to = check_out(c, i, k);
    const PlanValue *v = &c->p->values[from], *flat = &c->p->values[to];
    return in->attr.axes == v->slots && flat->address == v->address && !flat->slots &&
           check_bytes(c, from) == check_bytes(c, to);
}

static int check_slots(const Sweep *s, uint64_t i) {
    Check *c = s->c;
    const PlanInstr *in = &c->p->instrs[i];
    const OpInfo *o = &op_info[in->op];
    bool writes =
        o->launched && (o->alias == ALIAS_NONE || o->alias == ALIAS_MAY || o->alias == ALIAS_EACH);
    for (uint32_t j = 0; j < in->n_out; j++)
        if (c->p->values[check_out(c, i, j)].slots && !writes)
            return check_fail(c, "2g", i, "result %u cannot be written into a slot", j);
    for (uint32_t k = 0; k < in->n_in; k++)
        if (c->p->values[check_in(c, i, k)].slots && !gathers_slots(c, i, k))
            return check_fail(c, "2g", i,
                              "operand %u (value %u) is in a slot, and result %u is not its slots",
                              k, check_in(c, i, k), k);
    return 0;
}

/* Memory in which the instruction reads and writes; a state and what is kept in it are anywhere. */
static int check_memories(Check *c, uint64_t i) {
    const Plan *p = c->p;
    const PlanInstr *in = &p->instrs[i];
    bool names = in->op == OP_set_state || in->op == OP_state;
    for (uint32_t k = 0; k < in->n_in + in->n_out && !names; k++) {
        bool result = k >= in->n_in;
        uint32_t v = result ? check_out(c, i, k - in->n_in) : check_in(c, i, k);
        bool host = address_is_host(p->values[v].address);
        bool wanted = result ? in->op == OP_evict : in->op == OP_fetch;
        if (p->values[v].type.dtype == DT_TOKEN || host == wanted) continue;
        return check_fail(c, "2h", i, "%s value %u, which is in %s memory",
                          result ? "writes" : "reads", v, host ? "host" : "device");
    }
    return 0;
}

static int check_places(Sweep *s, uint64_t i) {
    Check *c = s->c;
    const Plan *p = c->p;
    const PlanInstr *in = &p->instrs[i];
    const OpInfo *o = &op_info[in->op];
    int status = check_slots(s, i);
    if (!status) status = check_memories(c, i);
    if (status) return status;
    if (o->alias == ALIAS_VIEW) {
        const PlanValue *base = &p->values[check_in(c, i, 0)], *v = &p->values[check_out(c, i, 0)];
        uint64_t offset = in->op == OP_view ? (uint64_t)in->attr.offset : 0;
        uint64_t bytes = (uint64_t)type_bytes(&v->type), whole = (uint64_t)type_bytes(&base->type);
        if (v->address != base->address + offset || offset > whole || bytes > whole - offset)
            return check_fail(c, "2c", i, "the view does not lie inside its operand");
    }
    if (o->alias == ALIAS_PACK && in->n_in != p->groups[in->attr.group].n_param)
        return check_fail(c, "2c", i, "packs %u operands into group %lld of %u parameters",
                          in->n_in, (long long)in->attr.group, p->groups[in->attr.group].n_param);
    if (o->alias == ALIAS_PACK)
        for (uint32_t k = 0; k < in->n_in; k++)
            if (p->values[check_in(c, i, k)].address !=
                p->values[check_out(c, i, 0)].address + (uint64_t)pack_offset(c, i, k))
                return check_fail(c, "2c", i, "operand %u does not lie at its place in the group",
                                  k);
    for (uint32_t k = 0; k < in->n_in; k++)
        for (uint32_t j = 0; j < in->n_out; j++)
            if ((o->alias == ALIAS_MUST || o->alias == ALIAS_ACC) &&
                check_may_overwrite(c, i, k, j) &&
                p->values[check_in(c, i, k)].address != p->values[check_out(c, i, j)].address)
                return check_fail(c, "2d", i, "result %u must lie in the memory of operand %u", j,
                                  k);
    return 0;
}

/* Bytes of scratch memory that the instruction may use on that kind of device. */
static uint64_t instr_workspace(const Check *c, uint64_t i, int device) {
    const Plan *p = c->p;
    const PlanInstr *in = &p->instrs[i];
    Type *in_type = c->types, *out_type = c->types + in->n_in;
    for (uint32_t k = 0; k < in->n_in; k++) in_type[k] = p->values[check_in(c, i, k)].type;
    for (uint32_t k = 0; k < in->n_out; k++) out_type[k] = p->values[check_out(c, i, k)].type;
    return (uint64_t)op_workspace((OpKind)in->op, (DeviceKind)device, &in->attr, (int)in->n_in,
                                  in_type, (int)in->n_out, out_type);
}

/* The users of a workspace before instruction i are over when it starts. Those of its own stream
 * are; of each other stream the last one is enough. */
static int share_workspace(Sweep *s, uint64_t i) {
    Check *c = s->c;
    uint8_t stream = c->p->instrs[i].stream;
    for (int d = 0; d < DEVICE_KINDS; d++) {
        if (!instr_workspace(c, i, d)) continue;
        for (int t = 0; t < MAX_STREAMS; t++) {
            uint64_t user = s->user[d][t];
            if (user && t != stream && !check_before(c, user - 1, i))
                return check_fail(c, "2f", i,
                                  "shares its workspace with instruction %llu of stream %d, which "
                                  "may not have finished",
                                  (Llu)(user - 1), t);
        }
        s->user[d][stream] = i + 1;
    }
    return 0;
}

static int place_results(Sweep *s, uint64_t i) {
    Check *c = s->c;
    const Plan *p = c->p;
    const PlanInstr *in = &p->instrs[i];
    if (in->op == OP_state) {
        const PlanState *st = &p->states[in->attr.index];
        uint32_t v = check_out(c, i, 0);
        if (p->values[v].address != st->address ||
            check_bytes(c, v) != (uint64_t)type_bytes(&st->type))
            return check_fail(c, "2b", i, "the value is not the memory of state %s at byte %llu",
                              plan_string(p, st->name), (Llu)st->address);
        return 0;
    }
    int status = check_places(s, i);
    if (status || op_info[in->op].alias == ALIAS_VIEW) return status;
    for (uint32_t j = 0; j < in->n_out; j++) {
        uint32_t v = check_out(c, i, j);
        uint64_t bytes = check_bytes(c, v), at = p->values[v].address;
        if (bytes == 0) continue;
        c->result->values++;
        s->instr = i;
        s->result = j;
        s->value = v;
        status = interval_map_replace(&s->map, at, at + bytes, v, visit_occupant, s);
        if (status) return status;
    }
    return 0;
}

typedef struct StateEnd {
    Check *c;
    uint32_t state;
    uint32_t final_root; /* root value that set_state names; UINT32_MAX = unchanged */
    bool final_is_entry;
} StateEnd;

static int visit_end(void *context, uint64_t from, uint64_t to, uint32_t occupant) {
    StateEnd *e = context;
    bool unchanged = occupant == (STATE_MARK | e->state);
    if (e->final_root == UINT32_MAX || e->final_is_entry) {
        if (unchanged) return 0;
    } else if (occupant == e->final_root) {
        return 0;
    }
    return check_fail(
        e->c, "2e", NO_INSTR,
        "state %s: bytes %llu to %llu of its memory hold another value at the end of a program",
        plan_string(e->c->p, e->c->p->states[e->state].name), (Llu)from, (Llu)to);
}

/* The set_state of each state in the program: instruction + 1, 0 = none. */
static int find_sets(Sweep *s, const PlanProgram *pr, uint32_t *set) {
    Check *c = s->c;
    const Plan *p = c->p;
    for (uint64_t i = pr->first_instr; i < pr->first_instr + (uint64_t)pr->n_instr; i++) {
        const PlanInstr *in = &p->instrs[i];
        if (in->op != OP_set_state) continue;
        const PlanState *st = &p->states[in->attr.index];
        if (set[in->attr.index])
            return check_fail(c, "2e", i, "state %s is set twice", plan_string(p, st->name));
        set[in->attr.index] = (uint32_t)i + 1;
        uint32_t v = check_in(c, i, 0);
        if (p->values[v].address != st->address ||
            check_bytes(c, v) != (uint64_t)type_bytes(&st->type))
            return check_fail(c, "2e", i, "its operand is not the memory of state %s",
                              plan_string(p, st->name));
    }
    return 0;
}

static int check_state_ends(Sweep *s, const PlanProgram *pr) {
    Check *c = s->c;
    const Plan *p = c->p;
    uint32_t *set = calloc(p->n_states + 1, sizeof *set);
    if (!set) return EXIT_ENVIRONMENT;
    int status = find_sets(s, pr, set);
    for (uint32_t k = 0; !status && k < p->n_states; k++) {
        StateEnd e = {c, k, UINT32_MAX, false};
        if (set[k]) {
            e.final_root = c->root[check_in(c, set[k] - 1, 0)];
            e.final_is_entry = check_entry_state(c, e.final_root) == (int64_t)k;
        }
        const PlanState *st = &p->states[k];
        status = interval_map_walk(&s->map, st->address,
                                   st->address + (uint64_t)type_bytes(&st->type), visit_end, &e);
    }
    free(set);
    return status;
}

static int ignore_occupant(void *context, uint64_t from, uint64_t to, uint32_t occupant) {
    (void)context, (void)from, (void)to, (void)occupant;
    return 0;
}

static int visit_any(void *context, uint64_t from, uint64_t to, uint32_t occupant) {
    (void)context, (void)from, (void)to, (void)occupant;
    return 1;
}

int check_overlaps(Check *c, uint32_t program) {
    const Plan *p = c->p;
    const PlanProgram *pr = &p->programs[program];
    Sweep s = {.c = c, .first_instr = pr->first_instr};
    s.first_of_state = calloc(p->n_states + 1, sizeof *s.first_of_state);
    s.next_of_state = calloc((size_t)pr->n_instr + 1, sizeof *s.next_of_state);
    int status = s.first_of_state && s.next_of_state ? 0 : EXIT_ENVIRONMENT;
    for (uint32_t k = 0; !status && k < p->n_states; k++)
        status =
            interval_map_replace(&s.map, p->states[k].address,
                                 p->states[k].address + (uint64_t)type_bytes(&p->states[k].type),
                                 STATE_MARK | k, ignore_occupant, NULL);
    for (uint64_t i = pr->first_instr + (uint64_t)pr->n_instr; !status && i-- > pr->first_instr;) {
        if (p->instrs[i].op != OP_state) continue;
        s.next_of_state[i - pr->first_instr] = s.first_of_state[p->instrs[i].attr.index];
        s.first_of_state[p->instrs[i].attr.index] = (uint32_t)i + 1;
    }
    for (uint64_t i = pr->first_instr; !status && i < pr->first_instr + (uint64_t)pr->n_instr; i++)
        if (!(status = share_workspace(&s, i))) status = place_results(&s, i);
    if (!status) status = check_state_ends(&s, pr);
    if (status == EXIT_ENVIRONMENT) check_fail(c, "0", NO_INSTR, "no memory for the checker");
    interval_map_free(&s.map);
    free(s.first_of_state);
    free(s.next_of_state);
    return status;
}

/* What fetch and evict move. All else is read, written or reset on the device. */
static bool may_leave_device(const PlanState *st) {
    switch ((StateRole)st->role) {
    case STATE_PARAM:
    case STATE_MOMENT1:
    case STATE_MOMENT2:
    case STATE_MOMENT3:
    case STATE_MOMENT4:
    case STATE_GRADIENT:
    case STATE_COPY: return true;
    case STATE_STEP:
    case STATE_STAGING:
    case STATE_SCALE:
    case STATE_METRIC:
    case STATE_FACTORS:
    case STATE_GATHERED:
    case STATE_LARGEST:
    case STATE_ROLES: break;
    }
    return false;
}

static int check_state_region(Check *c) {
    const Plan *p = c->p;
    IntervalMap map = {0};
    uint64_t end[2] = {0}; /* of the device's memory, of the host's */
    int status = 0;
    for (uint32_t k = 0; !status && k < p->n_states; k++) {
        const PlanState *st = &p->states[k];
        uint64_t to = st->address + (uint64_t)type_bytes(&st->type);
        uint64_t *last = &end[address_is_host(st->address)];
        *last = MAX(*last, align_up(address_offset(to), PLAN_ALIGN));
        if (st->address % PLAN_ALIGN)
            status = check_fail(c, "6d", NO_INSTR, "state %s: address %llu is not a multiple of %d",
                                plan_string(p, st->name), (Llu)st->address, PLAN_ALIGN);
        else if (!may_leave_device(st) && address_is_host(st->address))
            status = check_fail(c, "2h", NO_INSTR, "state %s is not in device memory",
                                plan_string(p, st->name));
        else if (interval_map_walk(&map, st->address, to, visit_any, NULL))
            status = check_fail(c, "6d", NO_INSTR, "state %s overlaps another state",
                                plan_string(p, st->name));
        else
            status = interval_map_replace(&map, st->address, to, k, ignore_occupant, NULL);
    }
    interval_map_free(&map);
    if (status) return status;
    uint64_t said[2] = {p->settings->persistent_bytes, p->settings->host_persistent};
    for (int k = 0; k < 2; k++)
        if (end[k] != said[k])
            return check_fail(c, "6d", NO_INSTR, "states of the %s end at %llu, the plan says %llu",
                              k ? "host" : "device", (Llu)end[k], (Llu)said[k]);
    return 0;
}

/* The end of the highest value of the program in each memory. */
static void raise_marks(const Check *c, const PlanProgram *pr, uint64_t high[2]) {
    const Plan *p = c->p;
    for (uint64_t i = pr->first_instr; i < pr->first_instr + (uint64_t)pr->n_instr; i++)
        for (uint32_t j = 0; j < p->instrs[i].n_out; j++) {
            uint32_t v = check_out(c, i, j);
            uint64_t bytes = check_bytes(c, v), at = p->values[v].address;
            uint64_t *mark = &high[address_is_host(at)];
            if (bytes) *mark = MAX(*mark, address_offset(at) + bytes);
        }
}

int check_peak(Check *c) {
    const Plan *p = c->p;
    uint64_t arena = 0, host = p->settings->host_persistent, workspace[DEVICE_KINDS] = {0};
    int status = check_state_region(c);
    if (status) return status;
    for (uint32_t k = 0; k < p->n_programs; k++) {
        const PlanProgram *pr = &p->programs[k];
        uint64_t high[2] = {p->settings->persistent_bytes, host};
        raise_marks(c, pr, high);
        host = high[1];
        for (uint64_t i = pr->first_instr; i < pr->first_instr + (uint64_t)pr->n_instr; i++)
            for (int d = 0; d < DEVICE_KINDS; d++)
                workspace[d] = MAX(workspace[d], instr_workspace(c, i, d));
        if (high[0] != pr->peak)
            return check_fail(c, "6b", NO_INSTR, "program %u reaches byte %llu, the plan says %llu",
                              k, (Llu)high[0], (Llu)pr->peak);
        arena = MAX(arena, high[0]);
    }
    if (host != p->settings->host_bytes)
        return check_fail(c, "6e", NO_INSTR,
                          "host memory is used up to byte %llu, the plan says %llu", (Llu)host,
                          (Llu)p->settings->host_bytes);
    if (arena != p->settings->arena_bytes)
        return check_fail(c, "6a", NO_INSTR, "the arena reaches byte %llu, the plan says %llu",
                          (Llu)arena, (Llu)p->settings->arena_bytes);
    if (p->settings->workspace_offset != align_up(arena, PLAN_ALIGN))
        return check_fail(c, "6c", NO_INSTR,
                          "workspaces begin at %llu, not after the arena at %llu",
                          (Llu)p->settings->workspace_offset, (Llu)align_up(arena, PLAN_ALIGN));
    for (int d = 0; d < DEVICE_KINDS; d++)
        if (p->settings->workspace_bytes[d] != p->settings->workspace_offset + workspace[d])
            return check_fail(c, "6c", NO_INSTR,
                              "on device kind %d workspaces reach byte %llu, the plan says %llu", d,
                              (Llu)(p->settings->workspace_offset + workspace[d]),
                              (Llu)p->settings->workspace_bytes[d]);
    c->result->peak = arena;
    return 0;
}
