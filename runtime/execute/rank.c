/* The functions that every file uses through an open rank: move bytes between the arena and the
 * host, wait for the device, agree with the other ranks, show them that it is alive, and fail. In:
 * a rank and what to do. Out: 0, or an exit code with the message in the rank. run/rank_open.c
 * opens and closes it.
 */
#include <stdio.h>
#include <string.h>

#include "prepared.h"

void run_fail(Rank *r, int code) {
    Run *run = r->run;
    const Transport *t = run->transport;
    /* The cause of a device's error may be a peer that is gone. */
    if (code == EXIT_ENVIRONMENT && r->transport && t->check &&
        t->check(r->transport, true, r->error))
        code = EXIT_RANK;
    pthread_mutex_lock(&run->end.lock);
    /* A rank that only reports another rank's end is not the cause. */
    if (!run->end.code || (run->end.code == EXIT_RANK && code != EXIT_RANK)) {
        run->end.code = code;
        char who[160];
        snprintf(who, sizeof who, "rank %d", r->rank);
        if (run->launch.module)
            run->launch.module->describe(run->launch.world, r->rank, who, sizeof who);
        bool others_are_named = code == EXIT_RANK;
        if (run->launch.ranks > 1 && !r->agrees && !others_are_named)
            snprintf(run->end.text, sizeof run->end.text, "%s: %s", who, r->error);
        else
            snprintf(run->end.text, sizeof run->end.text, "%s", r->error);
        if (run->launch.module)
            run->end.silent = !run->launch.module->fail(run->launch.world, r->rank, &run->end.code,
                                                        run->end.text);
    }
    pthread_mutex_unlock(&run->end.lock);
    t->abort(r->transport);
}

const PlanState *plan_find_state(const Plan *p, uint32_t role, int32_t group) {
    for (uint64_t i = 0; i < p->n_states; i++)
        if (p->states[i].role == role && (group < 0 || p->states[i].group == group))
            return &p->states[i];
    return NULL;
}

void *rank_state(const Rank *r, uint32_t role) {
    const PlanState *s = plan_find_state(r->run->plan, role, -1);
    return s ? r->arena + s->address : NULL;
}

/* The clock of the thread that computes: one that issues collectives works little, however long a
 * kernel takes meanwhile. */
void rank_beat_at(Rank *r, uint32_t instr) {
    clockid_t clock;
    bool aside = r->executor->threads && r->run->plan->instrs[instr].stream != STREAM_COMPUTE;
    if (!aside && !pthread_getcpuclockid(pthread_self(), &clock))
        atomic_store(&r->pulse.clock, clock);
    atomic_store_explicit(&r->pulse.instr, instr + 1, memory_order_relaxed);
    rank_beat(r);
}

void rank_writes(Rank *r, bool on) {
    if (on)
        atomic_fetch_add(&r->pulse.writing, 1);
    else
        atomic_fetch_sub(&r->pulse.writing, 1);
    rank_beat(r);
}

int rank_agree(Rank *r, uint64_t mine, uint64_t *out) {
    r->control = (Collective){.kind = AGREE,
                              .axes = AXES_WORLD,
                              .purpose = COMM_CONTROL,
                              .sequence = r->control_sequence[0]++,
                              .label = "the run's end"};
    return r->run->transport->agree(r->transport, &r->control, mine, out, r->error);
}

int rank_gather(Rank *r, AxisSet axes, const void *in, void *out, int64_t n, int dtype) {
    r->control_buffer = (CommBuffer){.in = in, .out = out, .elements = n, .dtype = dtype};
    r->control = (Collective){.kind = ALL_GATHER,
                              .axes = axes,
                              .purpose = COMM_CONTROL,
                              .sequence = r->control_sequence[axes]++,
                              .n = 1,
                              .buffer = &r->control_buffer,
                              .label = "a checkpoint"};
    int code = r->run->transport->collect(r->transport, &r->control, r->error);
    return code ? code : rank_synchronize(r, r->error);
}

int rank_synchronize(Rank *r, char *error) {
    const Transport *t = r->run->transport;
    int code = r->run->device->synchronize(r->context, error);
    return !code && t->check ? t->check(r->transport, false, error) : code;
}

/* Bytes of the host's arena, once the device has done what it was given. */
static int copy_on_host(Rank *r, void *to, const void *from, uint64_t bytes) {
    int code = rank_synchronize(r, r->error);
    if (!code) memcpy(to, from, bytes);
    return code;
}

int rank_copy_in(Rank *r, void *to, const void *from, uint64_t bytes) {
    if (rank_in_host(r, to)) return copy_on_host(r, to, from, bytes);
    return r->run->device->copy_in(r->context, STREAM_COMPUTE, to, from, bytes, r->error);
}

int rank_copy_out(Rank *r, void *to, const void *from, uint64_t bytes) {
    if (rank_in_host(r, from)) return copy_on_host(r, to, from, bytes);
    int code = r->run->device->copy_out(r->context, STREAM_COMPUTE, to, from, bytes, r->error);
    return code ? code : rank_synchronize(r, r->error);
}

uint64_t run_transient_bytes(const Run *run) {
    uint64_t least = UINT64_MAX;
    for (uint64_t i = 0; i < run->plan->n_roles; i++) {
        const PlanRole *r = &run->plan->roles[i];
        least = MIN(least, r->arena_bytes - r->persistent_bytes);
    }
    return least;
}

void rank_used_transient(Rank *r) {
    if (r->hooks.refill) r->hooks.refill(r->hooks.of);
}
