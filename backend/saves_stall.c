/* How long a step waits for the saves that run beside it, predicted from the plan and from speeds.
 *
 * Saves leave one after the other from the step's first call on; an instruction that waits for them
 * begins when they are over, the others take as long as their operations do. What a save has to get
 * rid of before the state is free is its bytes on the disk, or in the copy. Speeds are those of a
 * rank. The three that reports are made with are round numbers, and said with every prediction.
 */
#include "dump.h"

/* Of a device's rank: what its products reach, about; one disk's share; its way to host memory. */
static const SaveSpeed usual[DEVICE_KINDS] = {
    [DEVICE_CPU] = {.flops = 1e11, .written = 1e9, .copied = 5e9},
    [DEVICE_CUDA] = {.flops = 4e14, .written = 1e9, .copied = 2e10},
};

typedef struct Clock {
    const Plan *p;
    const SaveSpeed *speed;
    double now, stalled;
} Clock;

static double end_of_saves(const Clock *c, uint32_t n) {
    double bytes = 0;
    bool copies = c->p->settings->snapshot == SNAPSHOT_COPY;
    for (uint32_t k = 0; k < n; k++) bytes += (double)c->p->saves[k].bytes;
    return bytes / (copies ? c->speed->copied : c->speed->written);
}

/* A second run of the program waits for nothing that the first one did not wait for. */
static void run_program(Clock *c, const PlanProgram *pr, int64_t times) {
    double work = 0;
    for (uint32_t k = 0; k < pr->n_instr; k++) {
        const PlanInstr *in = &c->p->instrs[pr->first_instr + k];
        double over = in->saves ? end_of_saves(c, in->saves) : 0;
        c->stalled += MAX(over - c->now, 0);
        c->now = MAX(c->now, over) + (double)in->flops / c->speed->flops;
        work += (double)in->flops / c->speed->flops;
    }
    c->now += work * (double)(times - 1);
}

double saves_stall(const Plan *p, const SaveSpeed *speed) {
    Clock c = {.p = p, .speed = speed};
    for (uint64_t i = 0; i < p->n_calls; i++)
        if (p->calls[i].kind == PLAN_STEP && p->calls[i].role == 0 && p->calls[i].times > 0)
            run_program(&c, &p->programs[p->calls[i].program], p->calls[i].times);
    return c.stalled;
}

uint64_t saves_bytes(const Plan *p) {
    uint64_t bytes = 0;
    for (uint64_t k = 0; k < p->n_saves; k++) bytes += p->saves[k].bytes;
    return bytes;
}

/* "0.1 TFLOP/s, 1 GB/s written" */
static const char *speed_text(const SaveSpeed *s, bool copies, Arena *a) {
    return arena_printf(a, "%g TFLOP/s, %g GB/s %s", s->flops / 1e12,
                        (copies ? s->copied : s->written) / 1e9, copies ? "copied" : "written");
}

const char *saves_text(const Plan *p, Arena *a) {
    bool copies = p->settings->snapshot == SNAPSHOT_COPY;
    char *line = arena_printf(a, "%llu save%s, %s a rank, written beside the next step",
                              (unsigned long long)p->n_saves, p->n_saves == 1 ? "" : "s",
                              amount_short(a, saves_bytes(p)));
    if (copies)
        line = arena_printf(a, "%s out of a copy of %s in host memory", line,
                            amount_short(a, p->settings->copy_bytes));
    line = arena_printf(a, "%s; predicted stall", line);
    for (int d = 0; d < DEVICE_KINDS; d++)
        line =
            arena_printf(a, "%s%s %.2g s on %s (%s)", line, d ? "," : "", saves_stall(p, &usual[d]),
                         word_of(&words_DeviceKind, d), speed_text(&usual[d], copies, a));
    return line;
}
