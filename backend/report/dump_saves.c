/* The cost of saves, from the plan only: their bytes, how they are written, and the work that the
 * next step does before its first instruction that waits for one. How long it waits depends on
 * speeds, which a plan does not have. Of a pipeline, all of it is told of the stages that write
 * most.
 */
#include "dump.h"

/* A second run of a program waits only for what the first run waited for. */
static uint64_t flops_before_wait(const Plan *p, uint32_t role) {
    uint64_t flops = 0;
    for (uint64_t i = 0; i < p->n_calls; i++) {
        const PlanCall *c = &p->calls[i];
        const PlanProgram *q = &p->programs[c->program];
        uint64_t work = 0;
        if (c->kind != PLAN_STEP || c->role != role || c->times <= 0) continue;
        for (uint32_t k = q->first_instr; k < q->first_instr + q->n_instr; k++) {
            if (p->instrs[k].saves) return flops + work;
            work += (uint64_t)p->instrs[k].flops;
        }
        flops += work * (uint64_t)c->times;
    }
    return flops;
}

typedef struct Ways { /* how saves are written */
    uint64_t copied, direct, bytes;
} Ways;

static Ways ways_of(const Plan *p, uint32_t role) {
    Ways w = {0};
    for (uint64_t k = 0; k < p->n_saves; k++) {
        if (!plan_has_state(p, &p->states[p->saves[k].state], role)) continue;
        *(p->saves[k].copied ? &w.copied : &w.direct) += 1;
        w.bytes += p->saves[k].bytes;
    }
    return w;
}

const char *saves_text(const Plan *p, Arena *a) {
    uint32_t role = 0;
    for (uint32_t r = 1; r < p->n_roles; r++)
        if (ways_of(p, r).bytes > ways_of(p, role).bytes) role = r;
    Ways w = ways_of(p, role);
    uint64_t n = w.copied + w.direct;
    char *line = arena_printf(a, "%llu save%s, %s per rank, written during the next step",
                              (unsigned long long)n, n == 1 ? "" : "s", amount_short(a, w.bytes));
    if (w.copied && w.direct)
        line = arena_printf(a, "%s, %llu of them", line, (unsigned long long)w.copied);
    if (p->settings->snapshot == SNAPSHOT_COPY && !w.copied && w.direct)
        line = arena_printf(a, "%s, none of which fit into the copy", line);
    if (w.copied)
        line = arena_printf(a, "%s from a copy of %s in host memory", line,
                            amount_short(a, p->settings->copy_bytes));
    return arena_printf(a, "%s; the step does %s before it waits for one", line,
                        amount_flops(a, flops_before_wait(p, role)));
}
