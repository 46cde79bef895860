/* Proof 2: two values whose addresses overlap are never live at the same time in happens-before
 * order. A sweep over addresses (check_sweep.c) finds who has an address after whom, in issue
 * order; where value v comes after u, every access of u must happen before v's writer, or be that
 * writer itself where its op may work in place. Only neighbours in time need comparing: v's writer
 * is one of v's accesses, so the order is transitive.
 *
 * Faults:
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
 *       other instruction reads or writes host memory; states of the host's own are on the device
 *   2i  a result lies in slots of kept activations, but is not one that its program's stage keeps
 *
 * A value in a slot counts as the memory of all slots, so one proof holds for every rank; its
 * gather leaves this rank's slot as it is. Padding of a pack is written by the pack, so its whole
 * range counts from there on. All instructions of a program share one workspace, which holds
 * nothing between them.
 */
#include "check.h"

/* The holders of memory in a program, in the order in which they come: the states as the program
 * finds them, results that have memory of their own in issue order, the states as it leaves them.
 */
typedef struct Sweep {
    Check *c;
    const PlanProgram *program;
    CheckRange *range;        /* by holder */
    uint32_t *holds;          /* by holder: the value, unless it is a state */
    uint32_t n, n_ends;       /* holders; the first state as the program leaves it */
    uint32_t *first_of_state; /* by state: first `state` instruction of the program + 1; 0 = none */
    uint32_t *next_of_state;  /* by instruction, relative to the program: the next one + 1 */
    uint32_t *set;            /* by state: its set_state + 1; 0 = none */
    uint64_t user[DEVICE_KINDS][MAX_STREAMS]; /* last one that uses the workspace, + 1; 0 = none */
    uint64_t instr;                           /* the writer of the value that holds memory now */
    uint32_t result, value;
    uint32_t faulty; /* the holder of the fault that was found, n = none: the first one counts */
} Sweep;

static int64_t pack_offset(const Check *c, uint64_t i, uint32_t k) {
    const PlanGroup *g = &c->p->groups[c->p->instrs[i].attr.group];
    uint32_t v = check_out(c, i, 0);
    return c->p->group_params[g->first_param + k].offset *
           check_element_bytes(c->p->values[v].type.dtype);
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
        return check_note(
            c, "2a", s->instr,
            "value %u overwrites value %u, whose writer, instruction %llu, may not have finished",
            s->value, u, (Llu)def);
    for (uint64_t k = c->first_use[u]; k < c->first_use[u + 1]; k++) {
        uint64_t user = c->use[k];
        if (user == s->instr || !check_accesses(c, user, entry) ||
            check_before(c, user, s->instr) || !touches(s, user, u))
            continue;
        return check_note(c, "2a", s->instr,
                          "value %u overwrites value %u, which instruction %llu may still read",
                          s->value, u, (Llu)user);
    }
    if (!reads_in_place(s, u))
        return check_note(c, "2a", s->instr,
                          "result value %u lies over operand value %u, and the op cannot work in "
                          "place there",
                          s->value, u);
    return 0;
}

/* The host writes these between calls and, for the staging slots, during one. */
static bool is_of_host(const PlanState *st) {
    return st->role == STATE_STEP || st->role == STATE_STAGING;
}

/* A value is written over the state as the program found it. */
static int check_state_dead(Sweep *s, uint32_t state) {
    if (is_of_host(&s->c->p->states[state]))
        return check_note(s->c, "2b", s->instr,
                          "value %u lies over state %s, which the host writes", s->value,
                          plan_string(s->c->p, s->c->p->states[state].name));
    if (s->first_of_state[state] == 0) return 0; /* never read here; the end decides (2e) */
    for (uint32_t i = s->first_of_state[state]; i;
         i = s->next_of_state[i - 1 - s->program->first_instr]) {
        int status = check_dead(s, check_out(s->c, i - 1, 0));
        if (status) return status;
    }
    return 0;
}

/* The program leaves what `before` has in the memory of the state: is that the state? */
static int check_state_end(Sweep *s, uint32_t state, uint64_t at, uint32_t before) {
    const Plan *p = s->c->p;
    uint32_t final = s->set[state] ? s->c->root[check_in(s->c, s->set[state] - 1, 0)] : 0;
    bool unchanged = !s->set[state] || check_entry_state(s->c, final) == (int64_t)state;
    bool is_state = before < p->n_states;
    /* Backward is the last that reads what forward of its stage has kept: rule 10g. */
    bool used_up = p->states[state].role == STATE_KEPT && s->program->part == STAGE_BACKWARD;
    if (used_up && !s->set[state]) return 0;
    if (unchanged ? before == state : !is_state && s->holds[before] == final) return 0;
    return check_note(
        s->c, "2e", NO_INSTR,
        "state %s: byte %llu of its memory holds another value at the end of a program",
        plan_string(p, p->states[state].name), (Llu)at);
}

static void meet_holder(void *context, uint64_t at, uint32_t before, uint32_t after) {
    Sweep *s = context;
    uint32_t n_states = (uint32_t)s->c->p->n_states;
    int status;
    /* States that share memory are proof 6's to find. */
    if (after >= s->faulty || after < n_states || before >= s->n_ends) return;
    if (after >= s->n_ends) {
        status = check_state_end(s, after - s->n_ends, at, before);
    } else {
        s->value = s->holds[after];
        s->instr = s->c->p->values[s->value].def;
        s->result = s->value - s->c->p->instrs[s->instr].first_out;
        status = before < n_states ? check_state_dead(s, before) : check_dead(s, s->holds[before]);
    }
    if (status) s->faulty = after;
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

static void check_slots(const Sweep *s, uint64_t i) {
    Check *c = s->c;
    const PlanInstr *in = &c->p->instrs[i];
    const OpInfo *o = &op_info[in->op];
    bool writes =
        o->launched && (o->alias == ALIAS_NONE || o->alias == ALIAS_MAY || o->alias == ALIAS_EACH);
    for (uint32_t j = 0; j < in->n_out; j++)
        if (c->p->values[check_out(c, i, j)].slots && !writes)
            check_fail(c, "2g", i, "result %u cannot be written into a slot", j);
    for (uint32_t k = 0; k < in->n_in; k++)
        if (c->p->values[check_in(c, i, k)].slots && !gathers_slots(c, i, k))
            check_fail(c, "2g", i,
                       "operand %u (value %u) is in a slot, and result %u is not its slots", k,
                       check_in(c, i, k), k);
}

/* Memory in which the instruction reads and writes; a state and what is kept in it are anywhere. */
static void check_memories(Check *c, uint64_t i) {
    const Plan *p = c->p;
    const PlanInstr *in = &p->instrs[i];
    bool names = in->op == OP_set_state || in->op == OP_state;
    for (uint32_t k = 0; k < in->n_in + in->n_out && !names; k++) {
        bool result = k >= in->n_in;
        uint32_t v = result ? check_out(c, i, k - in->n_in) : check_in(c, i, k);
        bool host = address_is_host(p->values[v].address);
        bool wanted = result ? in->op == OP_evict : in->op == OP_fetch;
        if (p->values[v].type.dtype == DT_TOKEN || host == wanted) continue;
        check_fail(c, "2h", i, "%s value %u, which is in %s memory", result ? "writes" : "reads", v,
                   host ? "host" : "device");
    }
}

static void check_places(Sweep *s, uint64_t i) {
    Check *c = s->c;
    const Plan *p = c->p;
    const PlanInstr *in = &p->instrs[i];
    const OpInfo *o = &op_info[in->op];
    check_slots(s, i);
    check_memories(c, i);
    if (o->alias == ALIAS_VIEW) {
        const PlanValue *base = &p->values[check_in(c, i, 0)], *v = &p->values[check_out(c, i, 0)];
        uint64_t offset = in->op == OP_view ? (uint64_t)in->attr.offset : 0;
        uint64_t bytes = check_type_bytes(&v->type), whole = check_type_bytes(&base->type);
        if (v->address != base->address + offset || offset > whole || bytes > whole - offset)
            check_fail(c, "2c", i, "the view does not lie inside its operand");
    }
    if (o->alias == ALIAS_PACK)
        for (uint32_t k = 0; k < in->n_in; k++)
            if (p->values[check_in(c, i, k)].address !=
                p->values[check_out(c, i, 0)].address + (uint64_t)pack_offset(c, i, k))
                check_fail(c, "2c", i, "operand %u does not lie at its place in the group", k);
    for (uint32_t k = 0; k < in->n_in; k++)
        for (uint32_t j = 0; j < in->n_out; j++)
            if ((o->alias == ALIAS_MUST || o->alias == ALIAS_ACC) &&
                check_may_overwrite(c, i, k, j) &&
                p->values[check_in(c, i, k)].address != p->values[check_out(c, i, j)].address)
                check_fail(c, "2d", i, "result %u must lie in the memory of operand %u", j, k);
}

/* The users of a workspace before instruction i are over when it starts. Those of its own stream
 * are; of each other stream the last one is enough. */
static void share_workspace(Sweep *s, uint64_t i) {
    Check *c = s->c;
    uint8_t stream = c->p->instrs[i].stream;
    for (int d = 0; d < DEVICE_KINDS; d++) {
        if (!check_workspace(c, i, d)) continue;
        for (int t = 0; t < MAX_STREAMS; t++) {
            uint64_t user = s->user[d][t];
            if (user && t != stream && !check_before(c, user - 1, i))
                check_fail(c, "2f", i,
                           "shares its workspace with instruction %llu of stream %d, which "
                           "may not have finished",
                           (Llu)(user - 1), t);
        }
        s->user[d][stream] = i + 1;
    }
}

static void check_state_value(Check *c, uint64_t i) {
    const PlanState *st = &c->p->states[c->p->instrs[i].attr.index];
    uint32_t v = check_out(c, i, 0);
    if (c->p->values[v].address == st->address && check_bytes(c, v) == check_type_bytes(&st->type))
        return;
    check_fail(c, "2b", i, "the value is not the memory of state %s at byte %llu",
               plan_string(c->p, st->name), (Llu)st->address);
}

static CheckRange range_of(uint64_t at, uint64_t bytes) { return (CheckRange){at, at + bytes}; }

static void hold_states(Sweep *s) {
    const Plan *p = s->c->p;
    uint32_t stage = s->program->stage, role = plan_stage_role(p, stage);
    for (uint32_t k = 0; k < p->n_states; k++) {
        const PlanState *st = &p->states[k];
        bool here =
            plan_has_state(p, st, role) && (st->role != STATE_KEPT || st->stage == stage + 1);
        s->range[s->n++] =
            here ? range_of(st->address, check_type_bytes(&st->type)) : range_of(st->address, 0);
    }
}

/* Slots of kept activations are of one stage and micro-batch at a time, so a program writes nothing
 * there but what its stage keeps, and only if it is about a slot. */
static void check_kept_slots(const Sweep *s, uint64_t i) {
    Check *c = s->c;
    const Plan *p = c->p;
    const PlanRole *role = &p->roles[plan_stage_role(p, s->program->stage)];
    uint64_t begin = role->kept_at, end = begin + role->kept_bytes * role->kept_slots;
    for (uint32_t j = 0; j < p->instrs[i].n_out; j++) {
        uint32_t v = check_out(c, i, j);
        uint64_t at = p->values[v].address, bytes = check_bytes(c, v);
        if (!bytes || at >= end || at + bytes <= begin) continue;
        bool keeps = s->program->part != STAGE_WHOLE && at + bytes <= begin + role->kept_bytes;
        for (uint32_t k = 0, found = 0; keeps && !found; k++) {
            if (k == p->n_states) keeps = false;
            if (!keeps) break;
            const PlanState *st = &p->states[k];
            found = st->role == STATE_KEPT && st->stage == s->program->stage + 1u &&
                    st->address <= at && at + bytes <= st->address + check_type_bytes(&st->type);
        }
        if (!keeps)
            check_fail(c, "2i", i,
                       "value %u lies in slots of kept activations, but stage %u does not keep it",
                       v, s->program->stage);
    }
}

static void hold_results(Sweep *s, uint64_t i) {
    const Plan *p = s->c->p;
    const PlanInstr *in = &p->instrs[i];
    if (in->op == OP_state || op_info[in->op].alias == ALIAS_VIEW) return;
    for (uint32_t j = 0; j < in->n_out; j++) {
        uint32_t v = check_out(s->c, i, j);
        uint64_t bytes = check_bytes(s->c, v);
        if (!bytes) continue;
        s->holds[s->n] = v;
        s->range[s->n++] = range_of(p->values[v].address, bytes);
        s->c->result->values++;
    }
}

/* The set_state of each state in the program: instruction + 1, 0 = none. */
static void find_sets(Sweep *s) {
    const PlanProgram *pr = s->program;
    Check *c = s->c;
    const Plan *p = c->p;
    for (uint64_t i = pr->first_instr; i < check_end(pr); i++) {
        const PlanInstr *in = &p->instrs[i];
        if (in->op != OP_set_state) continue;
        const PlanState *st = &p->states[in->attr.index];
        if (s->set[in->attr.index])
            check_fail(c, "2e", i, "state %s is set twice", plan_string(p, st->name));
        s->set[in->attr.index] = (uint32_t)i + 1;
        uint32_t v = check_in(c, i, 0);
        if (p->values[v].address != st->address || check_bytes(c, v) != check_type_bytes(&st->type))
            check_fail(c, "2e", i, "its operand is not the memory of state %s",
                       plan_string(p, st->name));
    }
}

static void find_states(Sweep *s) {
    const PlanProgram *pr = s->program;
    for (uint64_t i = check_end(pr); i-- > pr->first_instr;) {
        const PlanInstr *in = &s->c->p->instrs[i];
        if (in->op != OP_state) continue;
        s->next_of_state[i - pr->first_instr] = s->first_of_state[in->attr.index];
        s->first_of_state[in->attr.index] = (uint32_t)i + 1;
    }
}

static void sweep_program(Sweep *s) {
    const PlanProgram *pr = s->program;
    find_states(s);
    for (uint64_t i = pr->first_instr; i < check_end(pr); i++) {
        share_workspace(s, i);
        if (s->c->p->instrs[i].op == OP_state)
            check_state_value(s->c, i);
        else
            check_places(s, i);
        if (s->c->stages) check_kept_slots(s, i);
    }
    find_sets(s);
    hold_states(s);
    for (uint64_t i = pr->first_instr; i < check_end(pr); i++) hold_results(s, i);
    s->n_ends = s->n;
    hold_states(s);
    s->faulty = s->n;
    check_sweep(s->range, s->n, s, meet_holder);
    if (s->faulty < s->n) check_stop(s->c);
}

static uint64_t count_results(const Check *c, const PlanProgram *pr) {
    uint64_t n = 0;
    for (uint64_t i = pr->first_instr; i < check_end(pr); i++) n += c->p->instrs[i].n_out;
    return n;
}

void check_overlaps(Check *c, uint32_t program) {
    const Plan *p = c->p;
    Sweep s = {.c = c, .program = &p->programs[program]};
    uint64_t holders = 2 * p->n_states + count_results(c, s.program) + 1;
    Arena *a = c->arena;
    s.range = arena_alloc(a, holders * sizeof *s.range);
    s.holds = arena_alloc(a, holders * sizeof *s.holds);
    s.first_of_state = arena_alloc(a, (p->n_states + 1) * sizeof *s.first_of_state);
    s.next_of_state = arena_alloc(a, ((size_t)s.program->n_instr + 1) * sizeof *s.next_of_state);
    s.set = arena_alloc(a, (p->n_states + 1) * sizeof *s.set);
    sweep_program(&s);
}
