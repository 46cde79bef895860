/* The cost of saves, from the plan only: their bytes, how they are written, and the work that the
 * next step does before its first instruction that waits for one. How long it waits depends on
 * speeds, which a plan does not have.
 */
#include "dump.h"

/* A second run of a program waits only for what the first run waited for. */
static uint64_t flops_before_wait(const Plan *p) {
    uint64_t flops = 0;
    for (uint64_t i = 0; i < p->n_calls; i++) {
        const PlanCall *c = &p->calls[i];
        const PlanProgram *q = &p->programs[c->program];
        uint64_t work = 0;
        if (c->kind != PLAN_STEP || c->role || c->times <= 0) continue;
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

static Ways ways_of(const Plan *p) {
    Ways w = {0};
    for (uint64_t k = 0; k < p->n_saves; k++) {
        *(p->saves[k].copied ? &w.copied : &w.direct) += 1;
        w.bytes += p->saves[k].bytes;
    }
    return w;
}

const char *saves_text(const Plan *p, Arena *a) {
    Ways w = ways_of(p);
    char *line = arena_printf(a, "%llu save%s, %s per rank, written during the next step",
                              (unsigned long long)p->n_saves, p->n_saves == 1 ? "" : "s",
                              amount_short(a, w.bytes));
    if (w.copied && w.direct)
        line = arena_printf(a, "%s, %llu of them", line, (unsigned long long)w.copied);
    if (p->settings->snapshot == SNAPSHOT_COPY && !w.copied && w.direct)
        line = arena_printf(a, "%s, none of which fit into the copy", line);
    if (w.copied)
        line = arena_printf(a, "%s from a copy of %s in host memory", line,
                            amount_short(a, p->settings->copy_bytes));
    return arena_printf(a, "%s; the step does %s before it waits for one", line,
                        amount_flops(a, flops_before_wait(p)));
}
