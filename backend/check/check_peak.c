/* Proof 6: the high-water marks of both arenas, recomputed, equal the predicted peaks.
 *
 *   6a  the plan's arena_bytes: the largest peak of its programs
 *   6b  a program's peak: the end of its highest value, never below the states' region
 *   6c  workspaces: the largest bound of any instruction for that kind of device, after the arena
 *   6d  states: disjoint, inside their regions, which the last ones end
 *   6e  the plan's host_bytes: the end of the highest value in host memory
 */
#include <stdlib.h>

#include "check.h"
#include "plan_work.h"

uint64_t check_workspace(const Check *c, uint64_t i, int device) {
    return plan_scratch(c->p, &c->p->instrs[i], device, c->types);
}

/* What fetch and evict move. All else is read, written or reset on the device. */
static bool may_leave_device(const PlanState *st) {
    bool saved = state_is_saved(st->role) && st->role != STATE_FACTORS;
    return saved || st->role == STATE_GRADIENT || st->role == STATE_COPY;
}

static int by_address(const void *a, const void *b, void *states) {
    const PlanState *state = states;
    uint64_t x = state[*(const uint32_t *)a].address, y = state[*(const uint32_t *)b].address;
    return (x > y) - (x < y);
}

/* Of those of the role, does it count where the states of `stage` are looked at? Each stage of a
 * role has slots for itself. */
static bool is_beside(const Plan *p, const PlanState *st, uint32_t stage) {
    return plan_has_state(p, st, plan_stage_role(p, stage)) &&
           (st->role != STATE_KEPT || st->stage == stage + 1);
}

/* Of states in the order of their addresses each begins where the one before it has ended. */
static void check_disjoint(Check *c, uint32_t stage) {
    const Plan *p = c->p;
    const PlanRole *role = &p->roles[plan_stage_role(p, stage)];
    uint32_t *order = arena_array(c->arena, uint32_t, p->n_states + 1), n = 0;
    uint64_t slots = role->kept_at + role->kept_bytes * role->kept_slots;
    for (uint32_t k = 0; k < p->n_states; k++)
        if (is_beside(p, &p->states[k], stage)) order[n++] = k;
    qsort_r(order, n, sizeof *order, by_address, (void *)p->states);
    for (uint32_t k = 0; k < n; k++) {
        const PlanState *a = k ? &p->states[order[k - 1]] : NULL, *b = &p->states[order[k]];
        uint64_t end = b->address + check_type_bytes(&b->type);
        bool inside = b->role != STATE_KEPT ||
                      (b->address >= role->kept_at && end <= role->kept_at + role->kept_bytes);
        bool outside = b->role == STATE_KEPT || end <= role->kept_at || b->address >= slots;
        if ((a && a->address + check_type_bytes(&a->type) > b->address) || !inside || !outside)
            check_fail(c, "6d", NO_INSTR, "state %s overlaps another state",
                       plan_string(p, b->name));
    }
}

static void check_state_region(Check *c, uint32_t role) {
    const Plan *p = c->p;
    const PlanRole *r = &p->roles[role];
    uint64_t end[2] = {0}; /* of the device's memory, of the host's */
    if (r->kept_slots) end[0] = r->kept_at + r->kept_bytes * r->kept_slots;
    for (uint32_t k = 0; k < p->n_states; k++) {
        const PlanState *st = &p->states[k];
        if (!plan_has_state(p, st, role)) continue;
        uint64_t to = st->address + check_type_bytes(&st->type);
        uint64_t *last = &end[address_is_host(st->address)];
        *last = MAX(*last, align_up(address_offset(to), PLAN_ALIGN));
        if (!may_leave_device(st) && address_is_host(st->address))
            check_fail(c, "2h", NO_INSTR, "state %s is not in device memory",
                       plan_string(p, st->name));
    }
    uint64_t said[2] = {r->persistent_bytes, r->host_persistent};
    for (int k = 0; k < 2; k++)
        if (end[k] != said[k])
            check_fail(c, "6d", NO_INSTR, "states of the %s end at %llu, the plan says %llu",
                       k ? "host" : "device", (Llu)end[k], (Llu)said[k]);
}

static void check_states(Check *c) {
    const Plan *p = c->p;
    for (uint32_t s = 0, n = plan_stages(p); s < n; s++) check_disjoint(c, s);
    for (uint32_t r = 0; r < p->n_roles; r++) check_state_region(c, r);
}

/* The end of the highest value of the program in each memory. */
static void raise_marks(const Check *c, const PlanProgram *pr, uint64_t high[2]) {
    const Plan *p = c->p;
    for (uint64_t i = pr->first_instr; i < check_end(pr); i++)
        for (uint32_t j = 0; j < p->instrs[i].n_out; j++) {
            uint32_t v = check_out(c, i, j);
            uint64_t bytes = check_bytes(c, v), at = p->values[v].address;
            uint64_t *mark = &high[address_is_host(at)];
            if (bytes) *mark = MAX(*mark, address_offset(at) + bytes);
        }
}

/* What the programs of the role need. */
static void measure_role(Check *c, uint32_t role, PlanRole *found) {
    const Plan *p = c->p;
    uint64_t workspace[DEVICE_KINDS] = {0};
    const PlanRole *said = &p->roles[role];
    found->host_bytes = said->host_persistent;
    for (uint32_t k = 0; k < p->n_programs; k++) {
        const PlanProgram *pr = &p->programs[k];
        if (plan_stage_role(p, pr->stage) != role) continue;
        uint64_t high[2] = {said->persistent_bytes, found->host_bytes};
        raise_marks(c, pr, high);
        found->host_bytes = high[1];
        for (uint64_t i = pr->first_instr; i < check_end(pr); i++)
            for (int d = 0; d < DEVICE_KINDS; d++)
                workspace[d] = MAX(workspace[d], check_workspace(c, i, d));
        if (high[0] != pr->peak)
            check_fail(c, "6b", NO_INSTR, "program %u reaches byte %llu, the plan says %llu", k,
                       (Llu)high[0], (Llu)pr->peak);
        found->arena_bytes = MAX(found->arena_bytes, high[0]);
    }
    for (int d = 0; d < DEVICE_KINDS; d++)
        found->workspace_bytes[d] = align_up(found->arena_bytes, PLAN_ALIGN) + workspace[d];
}

/* What is said of a role, or of the largest one in the settings. */
static void compare_memory(Check *c, const PlanRole *found, uint64_t arena, uint64_t host,
                           const uint64_t workspace[DEVICE_KINDS]) {
    if (host != found->host_bytes)
        check_fail(c, "6e", NO_INSTR, "host memory is used up to byte %llu, the plan says %llu",
                   (Llu)found->host_bytes, (Llu)host);
    if (arena != found->arena_bytes)
        check_fail(c, "6a", NO_INSTR, "the arena reaches byte %llu, the plan says %llu",
                   (Llu)found->arena_bytes, (Llu)arena);
    for (int d = 0; d < DEVICE_KINDS; d++)
        if (workspace[d] != found->workspace_bytes[d])
            check_fail(c, "6c", NO_INSTR,
                       "on device kind %d workspaces reach byte %llu, the plan says %llu", d,
                       (Llu)found->workspace_bytes[d], (Llu)workspace[d]);
}

void check_peak(Check *c) {
    const Plan *p = c->p;
    PlanRole most = {0};
    check_states(c);
    for (uint32_t r = 0; r < p->n_roles; r++) {
        const PlanRole *said = &p->roles[r];
        PlanRole found = {0};
        measure_role(c, r, &found);
        compare_memory(c, &found, said->arena_bytes, said->host_bytes, said->workspace_bytes);
        most.persistent_bytes = MAX(most.persistent_bytes, said->persistent_bytes);
        most.host_persistent = MAX(most.host_persistent, said->host_persistent);
        most.arena_bytes = MAX(most.arena_bytes, found.arena_bytes);
        most.host_bytes = MAX(most.host_bytes, found.host_bytes);
        for (int d = 0; d < DEVICE_KINDS; d++)
            most.workspace_bytes[d] = MAX(most.workspace_bytes[d], found.workspace_bytes[d]);
    }
    const PlanSettings *s = p->settings;
    if (s->persistent_bytes != most.persistent_bytes || s->host_persistent != most.host_persistent)
        check_fail(c, "6d", NO_INSTR,
                   "states end at %llu, those of the host at %llu, the plan says %llu and "
                   "%llu",
                   (Llu)most.persistent_bytes, (Llu)most.host_persistent, (Llu)s->persistent_bytes,
                   (Llu)s->host_persistent);
    compare_memory(c, &most, s->arena_bytes, s->host_bytes, s->workspace_bytes);
    c->result->peak = most.arena_bytes;
}
