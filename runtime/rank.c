/* A rank: its device, its arena, its end of the transport. Opened by the main thread before any
 * rank starts, so that what does not fit is said before anything runs; closed after all have ended,
 * since peers read each other's memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor.h"

void run_fail(Rank *r, int code) {
    Run *run = r->run;
    const Transport *t = run->transport;
    /* The cause of a device's error may be a peer that is gone. */
    if (code == EXIT_ENVIRONMENT && r->transport && t->check &&
        t->check(r->transport, true, r->error))
        code = EXIT_RANK;
    pthread_mutex_lock(&run->lock);
    /* A rank that only reports another one's end is not the cause. */
    if (!run->failure || (run->failure == EXIT_RANK && code != EXIT_RANK)) {
        run->failure = code;
        char who[160];
        snprintf(who, sizeof who, "rank %d", r->rank);
        if (run->module) run->module->describe(run->world, r->rank, who, sizeof who);
        bool others_are_named = code == EXIT_RANK;
        /* every rank sees the same loss */
        if (run->launch.ranks > 1 && code != EXIT_TRAINING && !others_are_named)
            snprintf(run->failure_text, sizeof run->failure_text, "%s: %s", who, r->error);
        else
            snprintf(run->failure_text, sizeof run->failure_text, "%s", r->error);
        if (run->module)
            run->silent = !run->module->fail(run->world, r->rank, &run->failure, run->failure_text);
    }
    pthread_mutex_unlock(&run->lock);
    t->abort(r->transport);
}

const PlanState *plan_find_state(const Plan *p, uint32_t role, int32_t group) {
    for (uint64_t i = 0; i < p->n_states; i++)
        if (p->states[i].role == role && (group < 0 || p->states[i].group == group))
            return &p->states[i];
    return NULL;
}

static int open_arena(Rank *r) {
    const PlanSettings *s = r->run->plan->settings;
    const Device *d = r->run->device;
    uint64_t bytes = s->workspace_bytes[d->kind];
    uint64_t guards = r->run->test.memory ? 2 * GUARD_BYTES : 0;
    void *arena = NULL;
    const Transport *t = r->run->transport;
    int code = t->arena_alloc ? t->arena_alloc(r->transport, bytes + guards, &arena, r->error)
                              : d->arena_alloc(r->context, bytes + guards, &arena, r->error);
    char number[24]; /* a message about room has it (device.h); others get no such help */
    snprintf(number, sizeof number, "%llu", (unsigned long long)(bytes + guards));
    if (code && strstr(r->error, number)) {
        char cause[ERROR_BYTES];
        snprintf(cause, sizeof cause, "%s", r->error);
        char process[48] = "";
        if (!r->run->module)
            snprintf(process, sizeof process, " (%d rank%s in this process)", r->run->n_rank,
                     r->run->n_rank == 1 ? "" : "s");
        snprintf(r->error, ERROR_BYTES,
                 "%.300s%s\n"
                 "help: a smaller train.batch, more train.accumulate, more ranks or smaller units "
                 "need less",
                 cause, process);
    }
    if (code) return code;
    r->arena = arena;
    r->arena_bytes = bytes;
    r->workspace = r->arena + s->workspace_offset + (guards ? GUARD_BYTES : 0);
    return 0;
}

int rank_open(Rank *r) {
    Run *run = r->run;
    const Plan *p = run->plan;
    r->info = (RankInfo){.plan = p, .mesh = plan_mesh(p), .rank = r->rank, .threads = run->threads};
    DeviceOptions device = {.rank = r->info,
                            .local_rank = r->local,
                            .process_ranks = run->n_rank,
                            .plan_path = run->options->plan,
                            .quiet = run->options->quiet};
    int code = run->device->open(&device, &r->context, r->error);
    if (code) return code;
    TransportOptions transport = {.plan = p,
                                  .device = run->device,
                                  .context = r->context,
                                  .rank = r->rank,
                                  .ranks = run->launch.ranks,
                                  .shared = run->transport_shared,
                                  .pulse = &r->pulse};
    code = run->transport->open(&transport, &r->transport, r->error);
    if (!code) code = open_arena(r);
    if (!code && run->options->dump_step >= 0) code = gradient_dump_open(r, &r->dump);
    if (!code) code = executor_open(r);
    if (!code) code = loader_open(r, &r->loader);
    return code;
}

void rank_close(Rank *r) {
    if (!r->run) return; /* one before it failed to open */
    loader_close(r->loader);
    executor_close(r);
    gradient_dump_close(r->dump);
    const Transport *t = r->run->transport;
    if (r->arena && t->arena_free)
        t->arena_free(r->transport, r->arena);
    else if (r->arena)
        r->run->device->arena_free(r->context, r->arena);
    if (r->transport) t->close(r->transport);
    if (r->context) r->run->device->close(r->context);
}

void rank_beat_at(Rank *r, uint32_t instr) {
    clockid_t clock;
    if (!pthread_getcpuclockid(pthread_self(), &clock)) atomic_store(&r->pulse.clock, clock);
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
    r->control = (Collective){.axes = AXES_WORLD,
                              .purpose = COMM_CONTROL,
                              .sequence = r->control_sequence[0]++,
                              .label = "the run's end"};
    return r->run->transport->agree(r->transport, &r->control, mine, out, r->error);
}

int rank_synchronize(Rank *r, char *error) {
    const Transport *t = r->run->transport;
    int code = r->run->device->synchronize(r->context, error);
    return !code && t->check ? t->check(r->transport, false, error) : code;
}

int rank_copy_in(Rank *r, void *to, const void *from, uint64_t bytes) {
    allocations_enter_kernel();
    int code = r->run->device->copy_in(r->context, STREAM_COMPUTE, to, from, bytes, r->error);
    allocations_leave_kernel();
    return code;
}

int rank_copy_out(Rank *r, void *to, const void *from, uint64_t bytes) {
    allocations_enter_kernel();
    int code = r->run->device->copy_out(r->context, STREAM_COMPUTE, to, from, bytes, r->error);
    if (!code) code = rank_synchronize(r, r->error);
    allocations_leave_kernel();
    return code;
}
