/* Proof 6: the high-water marks of both arenas, recomputed, equal the predicted peaks.
 *
 *   6a  the plan's arena_bytes: the largest peak of its programs
 *   6b  a program's peak: the end of its highest value, never below the states' region
 *   6c  workspaces: the largest bound of any instruction for that kind of device, after the arena
 *   6d  states: disjoint multiples of PLAN_ALIGN, inside their regions, which the last ones end
 *   6e  the plan's host_bytes: the end of the highest value in host memory
 */
#include <stdlib.h>

#include "check.h"

typedef unsigned long long Llu;

/* Bytes of scratch memory that the instruction may use on that kind of device. */
uint64_t check_workspace(const Check *c, uint64_t i, int device) {
    const Plan *p = c->p;
    const PlanInstr *in = &p->instrs[i];
    Type *in_type = c->types, *out_type = c->types + in->n_in;
    for (uint32_t k = 0; k < in->n_in; k++) in_type[k] = p->values[check_in(c, i, k)].type;
    for (uint32_t k = 0; k < in->n_out; k++) out_type[k] = p->values[check_out(c, i, k)].type;
    return (uint64_t)op_workspace((OpKind)in->op, (DeviceKind)device, &in->attr, (int)in->n_in,
                                  in_type, (int)in->n_out, out_type);
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

static int by_address(const void *a, const void *b, void *states) {
    const PlanState *state = states;
    uint64_t x = state[*(const uint32_t *)a].address, y = state[*(const uint32_t *)b].address;
    return (x > y) - (x < y);
}

/* Of states in the order of their addresses each begins where the one before it has ended. */
static int check_disjoint(Check *c) {
    const Plan *p = c->p;
    uint32_t *order = calloc(p->n_states + 1, sizeof *order);
    int status = order ? 0 : EXIT_ENVIRONMENT;
    for (uint32_t k = 0; order && k < p->n_states; k++) order[k] = k;
    if (order) qsort_r(order, p->n_states, sizeof *order, by_address, (void *)p->states);
    for (uint32_t k = 1; !status && k < p->n_states; k++) {
        const PlanState *a = &p->states[order[k - 1]], *b = &p->states[order[k]];
        if (a->address + check_type_bytes(&a->type) > b->address)
            status = check_fail(c, "6d", NO_INSTR, "state %s overlaps another state",
                                plan_string(p, b->name));
    }
    free(order);
    return status;
}

static int check_state_region(Check *c) {
    const Plan *p = c->p;
    uint64_t end[2] = {0}; /* of the device's memory, of the host's */
    for (uint32_t k = 0; k < p->n_states; k++) {
        const PlanState *st = &p->states[k];
        uint64_t to = st->address + check_type_bytes(&st->type);
        uint64_t *last = &end[address_is_host(st->address)];
        *last = MAX(*last, align_up(address_offset(to), PLAN_ALIGN));
        if (st->address % PLAN_ALIGN)
            return check_fail(c, "6d", NO_INSTR, "state %s: address %llu is not a multiple of %d",
                              plan_string(p, st->name), (Llu)st->address, PLAN_ALIGN);
        if (!may_leave_device(st) && address_is_host(st->address))
            return check_fail(c, "2h", NO_INSTR, "state %s is not in device memory",
                              plan_string(p, st->name));
    }
    int status = check_disjoint(c);
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
                workspace[d] = MAX(workspace[d], check_workspace(c, i, d));
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
