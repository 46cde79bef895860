/* How long a step waits for the saves that overlap it, predicted from the plan and from assumed
 * speeds.
 *
 * When the step's first call begins, the tensors to be copied are copied; then saves are written
 * one after the other. An instruction that waits for saves begins when they are complete; other
 * instructions take as long as their operations do. A save is complete when its bytes are on the
 * disk, or in the copy. Speeds are per rank. The three speeds that reports use are round numbers,
 * and every prediction states them.
 */
#include "dump.h"

/* Per rank of a device: about what its matrix products reach, its share of one disk, its bandwidth
 * to host memory. */
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
    double copied = 0, copies = 0, written = 0;
    for (uint32_t k = 0; k < c->p->n_saves; k++) {
        const PlanSave *q = &c->p->saves[k];
        if (q->copied) copies += (double)q->bytes;
        if (k >= n) continue;
        copied = copies;
        if (!q->copied) written += (double)q->bytes;
    }
    return (written > 0 ? copies : copied) / c->speed->copied + written / c->speed->written;
}

/* A second run of the program waits only for what the first run waited for. */
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

typedef struct Ways { /* how saves are written */
    uint64_t copied, direct;
} Ways;

static Ways ways_of(const Plan *p) {
    Ways w = {0};
    for (uint64_t k = 0; k < p->n_saves; k++) *(p->saves[k].copied ? &w.copied : &w.direct) += 1;
    return w;
}

/* "0.1 TFLOP/s, 1 GB/s written" */
static const char *speed_text(const SaveSpeed *s, Ways w, Arena *a) {
    const char *text = arena_printf(a, "%g TFLOP/s", s->flops / 1e12);
    if (w.copied) text = arena_printf(a, "%s, %g GB/s copied", text, s->copied / 1e9);
    if (w.direct) text = arena_printf(a, "%s, %g GB/s written", text, s->written / 1e9);
    return text;
}

const char *saves_text(const Plan *p, Arena *a) {
    Ways w = ways_of(p);
    char *line = arena_printf(a, "%llu save%s, %s a rank, written during the next step",
                              (unsigned long long)p->n_saves, p->n_saves == 1 ? "" : "s",
                              amount_short(a, saves_bytes(p)));
    if (w.copied && w.direct)
        line = arena_printf(a, "%s, %llu of them", line, (unsigned long long)w.copied);
    if (p->settings->snapshot == SNAPSHOT_COPY && !w.copied && w.direct)
        line = arena_printf(a, "%s, none of which fit into the copy", line);
    if (w.copied)
        line = arena_printf(a, "%s from a copy of %s in host memory", line,
                            amount_short(a, p->settings->copy_bytes));
    line = arena_printf(a, "%s; predicted stall", line);
    for (int d = 0; d < DEVICE_KINDS; d++)
        line =
            arena_printf(a, "%s%s %.2g s on %s (%s)", line, d ? "," : "", saves_stall(p, &usual[d]),
                         word_of(&words_DeviceKind, d), speed_text(&usual[d], w, a));
    return line;
}
