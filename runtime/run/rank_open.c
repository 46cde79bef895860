/* Opens a rank, and closes it: its device, its end of the transport, its arena, and then the parts
 * that work on these: the dump of gradients, the executor, test modes, the loader. The main thread
 * opens all ranks before any starts, so that a shortage is reported before anything runs, and
 * closes them after all have ended, since peers read each other's memory. What was opened is closed
 * in reverse, also if a later part failed to open.
 */
#include <stdio.h>
#include <string.h>

#include "run.h"
#include "state.h"
#include "testing.h"

static int open_arena(Rank *r) {
    const PlanRole *role = rank_role(r);
    const Device *d = r->run->device;
    uint64_t bytes = role->workspace_bytes[d->kind];
    uint64_t guards = r->run->test.mode == TEST_MEMORY ? 2 * GUARD_BYTES : 0;
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
        if (!r->run->launch.module)
            snprintf(process, sizeof process, " (%d rank%s in this process)", r->run->n_rank,
                     r->run->n_rank == 1 ? "" : "s");
        snprintf(r->error, ERROR_BYTES,
                 "%.300s%s\n"
                 "help: use a smaller train.batch, a larger train.accumulate, more ranks or "
                 "smaller units",
                 cause, process);
    }
    if (code) return code;
    r->arena = arena;
    r->arena_bytes = bytes;
    r->workspace = r->arena + plan_workspace_at(role) + (guards ? GUARD_BYTES : 0);
    return 0;
}

DeviceOptions rank_device_options(const Rank *r) {
    const Run *run = r->run;
    return (DeviceOptions){.rank = r->info,
                           .local_rank = r->local,
                           .process_ranks = run->n_rank,
                           .plan_path = run->options->plan,
                           .quiet = run->options->quiet,
                           .stamps = run->options->profile != NULL,
                           .trial = run->trial};
}

/* What a run has besides that to which launches are made. */
static int open_rest(Rank *r) {
    int code = testing_open(r);
    return code ? code : loader_open(r, &r->loader);
}

int rank_open(Rank *r) {
    r->memory = arena_new();
    Run *run = r->run;
    DeviceOptions device = rank_device_options(r);
    int code = run->device->open(&device, &r->context, r->error);
    if (code) return code;
    TransportOptions transport = {.plan = run->plan,
                                  .device = run->device,
                                  .context = r->context,
                                  .rank = r->rank,
                                  .ranks = run->launch.ranks,
                                  .shared = run->transport_shared,
                                  .pulse = &r->pulse};
    code = run->transport->open(&transport, &r->transport, r->error);
    if (!code) code = open_arena(r);
    if (!code && !run->trial) code = host_arena_open(r);
    if (!code && !run->trial && run->options->dump_step >= 0)
        code = gradient_dump_open(r, &r->dump);
    if (!code && !run->trial && run->options->generates) generator_open(r);
    if (!code && !run->trial && run->options->predict) code = predictor_open(r);
    if (!code) code = executor_open(r);
    return code || run->trial ? code : open_rest(r);
}

void rank_close(Rank *r) {
    loader_close(r->loader);
    testing_close(r);
    executor_close(r);
    gradient_dump_close(r->dump);
    predictor_close(r->predictor);
    host_arena_close(r);
    const Transport *t = r->run->transport;
    if (r->arena && t->arena_free)
        t->arena_free(r->transport, r->arena);
    else if (r->arena)
        r->run->device->arena_free(r->context, r->arena);
    if (r->transport) t->close(r->transport);
    if (r->context) r->run->device->close(r->context);
    arena_free(r->memory);
}
