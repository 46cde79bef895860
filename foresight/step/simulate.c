/* One call of a program: streams issue their instructions in order, each when its edges have ended,
 * as runtime/execute/streams.c does; the call ends with its last instruction.
 *
 * Time goes from event to event. Between two events the same instructions run, each at a speed that
 * depends on what else runs:
 *   - collectives on one medium, links of a node or adapters between nodes, have equal parts of it;
 *   - products on a GPU lose the multiprocessors that collectives take;
 *   - other kernels on a GPU lose the memory bandwidth that collectives take;
 *   - on a CPU all threads have equal parts of the cores: as many threads for the computation as
 *     there are cores, and one for each other stream.
 * With no other stream, and with --overlap off, the time is the sum of all instructions.
 */
#include <math.h>

#include "step.h"

/* A kernel keeps at least this much of the cores or of the memory. */
#define LEAST_SPEED 0.1

typedef struct Lane { /* a stream */
    uint32_t next;    /* instruction */
    bool runs;
    double left; /* seconds at full speed */
    double speed;
} Lane;

typedef struct Call {
    Simulation *s;
    const PlanProgram *program;
    Lane lane[STREAM_KINDS];
    double now;
    CallTime time;
} Call;

static uint32_t last_of(const PlanProgram *q) { return q->first_instr + q->n_instr; }

static bool in_lane(const Call *c, uint32_t instr, int lane) {
    return c->s->one_stream ? lane == 0 : c->s->plan->instrs[instr].stream == lane;
}

static void find_next(Call *c, int lane) {
    uint32_t *next = &c->lane[lane].next;
    while (*next < last_of(c->program) && !in_lane(c, *next, lane)) ++*next;
}

/* Have the instructions ended that it waits for? */
static bool edges_ended(const Call *c, uint32_t instr) {
    const PlanInstr *in = &c->s->plan->instrs[instr];
    for (uint32_t i = 0; i < in->n_edge; i++)
        if (c->s->end[c->s->plan->edges[in->first_edge + i]] < 0) return false;
    return true;
}

/* From when on the host, its message and its saves let it begin. */
static double time_ready(const Call *c, uint32_t instr) {
    const Simulation *s = c->s;
    const PlanInstr *in = &s->plan->instrs[instr];
    double ready = s->issue ? s->issue * (instr - c->program->first_instr + 1) : s->launch;
    if (s->arrive) ready = fmax(ready, s->arrive[instr]);
    if (s->saved && in->saves) ready = fmax(ready, s->saved[in->saves - 1]);
    return ready;
}

static void end_instruction(Call *c, int lane) {
    Lane *l = &c->lane[lane];
    c->s->end[l->next++] = c->now;
    l->runs = false;
    find_next(c, lane);
}

/* Begins whatever can. Returns the time at which the next one can that waits for nothing else. */
static double begin_instructions(Call *c) {
    double until = INFINITY;
    for (bool changed = true; changed;) {
        changed = false;
        until = INFINITY;
        for (int i = 0; i < STREAM_KINDS; i++) {
            Lane *l = &c->lane[i];
            if (l->runs || l->next == last_of(c->program) || !edges_ended(c, l->next)) continue;
            double ready = time_ready(c, l->next);
            if (ready > c->now) {
                until = fmin(until, ready);
                continue;
            }
            l->left = c->s->cost[l->next].seconds;
            l->runs = l->left > 0;
            if (!l->runs) end_instruction(c, i);
            changed = true;
        }
    }
    return until;
}

/* ---- sharing */

typedef struct Running {
    int links, fabrics, others; /* others: than stream compute */
    bool computes;
} Running;

static const Cost *cost_in(const Call *c, int lane) { return &c->s->cost[c->lane[lane].next]; }

static Running running_now(const Call *c) {
    Running r = {0};
    for (int i = 0; i < STREAM_KINDS; i++) {
        if (!c->lane[i].runs) continue;
        r.links += cost_in(c, i)->occupies == OCCUPIES_LINK;
        r.fabrics += cost_in(c, i)->occupies == OCCUPIES_FABRIC;
        if (i == STREAM_COMPUTE)
            r.computes = cost_computes(cost_in(c, i));
        else
            r.others++;
    }
    return r;
}

static double speed_on_gpu(const Simulation *s, const Cost *cost, const Running *r, double memory) {
    double cores = 1 - s->collective_cores * (r->links + r->fabrics) / s->cores;
    switch (cost->occupies) {
    case OCCUPIES_CORES: return fmax(cores, LEAST_SPEED);
    case OCCUPIES_MEMORY: return fmax(1 - memory, LEAST_SPEED);
    case OCCUPIES_LINK: return 1.0 / r->links;
    case OCCUPIES_FABRIC: return 1.0 / r->fabrics;
    case OCCUPIES_NOTHING:
    case OCCUPIES_FETCH:
    case OCCUPIES_EVICT: return 1;
    }
    return 1;
}

static void set_speeds(Call *c) {
    const Simulation *s = c->s;
    Running r = running_now(c);
    double memory = 0, threads = (r.computes ? s->cores : 0) + r.others;
    for (int i = 0; i < STREAM_KINDS; i++) {
        if (!c->lane[i].runs) continue;
        const Cost *cost = cost_in(c, i);
        memory += cost->memory * speed_on_gpu(s, cost, &r, 0);
    }
    for (int i = 0; i < STREAM_KINDS; i++) {
        if (!c->lane[i].runs) continue;
        c->lane[i].speed = s->machine->kind == DEVICE_CPU
                               ? fmin(1, s->cores / fmax(threads, 1))
                               : speed_on_gpu(s, cost_in(c, i), &r, memory);
    }
}

/* ---- time goes on */

static void note(CallTime *t, const Cost *cost, double seconds) {
    for (int o = 0; o < ORIGINS; o++) t->from[o] += seconds * cost->from[o] / cost->seconds;
}

static void account(Call *c, double seconds) {
    int first = 0;
    while (first < STREAM_KINDS && !c->lane[first].runs) first++;
    if (first == STREAM_KINDS) {
        c->time.waiting += seconds;
        if (!c->s->arrive && !c->s->saved) c->time.from[c->s->launch_origin] += seconds;
        return;
    }
    const Cost *cost = cost_in(c, first);
    *(cost_computes(cost) ? &c->time.computing : &c->time.exposed) += seconds;
    note(&c->time, cost, seconds);
}

static void advance(Call *c, double until) {
    double seconds = until - c->now;
    set_speeds(c);
    for (int i = 0; i < STREAM_KINDS; i++)
        if (c->lane[i].runs) seconds = fmin(seconds, c->lane[i].left / c->lane[i].speed);
    account(c, seconds);
    c->now += seconds;
    for (int i = 0; i < STREAM_KINDS; i++) {
        Lane *l = &c->lane[i];
        if (!l->runs) continue;
        l->left -= seconds * l->speed;
        if (l->left <= 1e-9 * c->s->cost[l->next].seconds) end_instruction(c, i);
    }
}

static bool call_ended(const Call *c) {
    for (int i = 0; i < STREAM_KINDS; i++)
        if (c->lane[i].next < last_of(c->program)) return false;
    return true;
}

CallTime simulate_call(Simulation *s, uint32_t program) {
    Call c = {.s = s, .program = &s->plan->programs[program]};
    for (uint32_t k = c.program->first_instr; k < last_of(c.program); k++) s->end[k] = -1;
    for (int i = 0; i < STREAM_KINDS; i++) {
        c.lane[i].next = c.program->first_instr;
        find_next(&c, i);
    }
    for (;;) {
        double until = begin_instructions(&c);
        if (call_ended(&c)) break;
        advance(&c, until);
        CHECK(isfinite(c.now)); /* proof 7: no stream waits for itself */
    }
    c.time.seconds = c.now;
    return c.time;
}
