/* Transport `nccl`: one process per GPU. Opening and closing, what happens on the host only, and
 * the table of the module.
 *
 * At the end recordings are destroyed first, then registrations, the arena, and the communicators:
 * destroying a communicator waits, without limit, for the recordings that hold its operations.
 */
#include <stdio.h>
#include <stdlib.h>

#include "context.h"
#include "interface.h"

/* The options of join, kept for open: a process is in one run. */
static JoinOptions joined;

static int start_nccl(Context *c, char *error) {
    c->rows = comm_rows(c->o.plan);
    int code = messages_open(c, error);
    if (code) return code;
    c->row = calloc(c->rows, sizeof *c->row);
    if (!c->row) return fail_with(error, EXIT_ENVIRONMENT, "out of memory for the transport");
    code = cuda_result(cudaGetDevice(&c->device), "transport nccl", error);
    if (code) return code;
    communicators_plan(c);
    code = sm_budget_read(c->share, error);
    if (!code) code = log_open(c, error);
    if (!code) code = guard_open(c, error);
    if (code) return code;
    WorldEvents events = {.plan = c->o.plan, .state = log_state, .ended = guard_ended, .user = c};
    tcp_watch(c->world, &events);
    return communicators_open(c, error);
}

static int nccl_open(const TransportOptions *o, TransportContext **out, char *error) {
    if (!o->device->native_stream)
        return fail_with(error, EXIT_USER, "transport nccl works with device cuda, not %s",
                         o->device->name);
    Context *c = calloc(1, sizeof *c);
    if (!c) return fail_with(error, EXIT_ENVIRONMENT, "out of memory for the transport");
    c->o = *o;
    c->world = o->shared;
    c->timeout = joined.timeout;
    c->may_speak = joined.may_speak;
    pthread_mutex_init(&c->lock, NULL);
    *out = c; /* also when it fails: its guard may be at work until the process ends */
    return start_nccl(c, error);
}

static void nccl_close(TransportContext *c) {
    char error[ERROR_BYTES];
    if (!c) return;
    /* Others close their connections now; the world notices a rank that is lost meanwhile. */
    atomic_store(&c->watches, false);
    int code = c->o.device->program_forget(c->o.context, error);
    if (!code) code = communicators_close(c, error);
    tcp_watch(c->world, NULL);
    guard_close(c);
    /* The guard of a run that is over uses what it finds until the process ends. */
    if (code || atomic_load(&c->over)) return;
    log_close(c);
    messages_close(c);
    pthread_mutex_destroy(&c->lock);
    free(c->row);
    free(c);
}

static int transport_agree(TransportContext *c, const Collective *call, uint64_t mine,
                           uint64_t *out, char *error) {
    MeshGroup group = comm_group(c->o.plan, c->o.ranks, call->axes, c->o.rank);
    int code = guard_check(c, error);
    if (code) return code;
    return tcp_agree(c->world, &group, mine, out, collective_label(call), error);
}

/* The others learn the reason through TransportModule.fail. */
static void abort_run(TransportContext *c) {
    if (c) guard_ended(c);
}

static int transport_check(TransportContext *c, bool failed, char *error) {
    return failed ? guard_check_patiently(c, error) : guard_check(c, error);
}

static void transport_about(TransportContext *c, char *out, size_t size) {
    static const char *const registrations[] = {
        [REGISTRATION_WINDOW] = "arena offered as a symmetric window",
        [REGISTRATION_BUFFER] = "arena offered as a registered buffer",
        [REGISTRATION_NONE] = "arena not registered",
    };
    int version = 0, made = 0;
    ncclGetVersion(&version);
    for (uint32_t r = 0; r < c->rows; r++) made += c->row[r].comm && !c->row[r].borrowed;
    snprintf(out, size, "NCCL %d.%d.%d: %d communicators, %s", version / 10000, version / 100 % 100,
             version % 100, made, registrations[c->registration]);
}

static uint64_t library_bytes(TransportContext *c) { return c->bytes; }

static const Transport transport_nccl = {.name = "nccl",
                                         .open = nccl_open,
                                         .close = nccl_close,
                                         .collect = nccl_collect,
                                         .send = nccl_send,
                                         .receive = nccl_receive,
                                         .agree = transport_agree,
                                         .abort = abort_run,
                                         .arena_alloc = arena_open,
                                         .arena_free = arena_close,
                                         .check = transport_check,
                                         .program = log_program,
                                         .about = transport_about,
                                         .library_bytes = library_bytes};

static int transport_join(const JoinOptions *options, TransportWorld **out, char *error) {
    joined = *options;
    /* Before there are threads that read the environment. Gathers and reductions have communicators
     * of their own; the order in which the host issues them is the same on all ranks and must be
     * the device's. NCCL_GRAPH_MIXING_SUPPORT stays on: programs are issued directly before they
     * are recorded, so both kinds meet on a communicator; it may hang only with several GPUs in one
     * process. */
    setenv("NCCL_LAUNCH_ORDER_IMPLICIT", "1", 0);
    return tcp_join(options, out, error);
}

TCP_MODULE(&transport_nccl, transport_join)

MODULE_ABOUT(out, size) {
    int version = 0;
    ncclGetVersion(&version);
    snprintf(out, size, "NCCL %d.%d.%d", version / 10000, version / 100 % 100, version % 100);
}
