/* transport_nccl.so for programs without a GPU: performs the collectives of a plan as host
 * collectives of the world over TCP, for small models. It is used to test launchers, interrupts and
 * the ends of real runs with the world and nothing else of the real transport. Sums are those of
 * the device, in rank order. One thread of each rank issues collectives, as outside test modes.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interface.h"
#include "world.h"

struct TransportContext {
    TransportOptions o;
    TransportWorld *world;
    pthread_mutex_t lock; /* one host collective at a time */
    char *gathered;       /* [ranks][LIMIT] */
    pthread_mutex_t look; /* over what the world's thread reads; held for a moment */
    uint64_t finished, begun;
    Collective now;
    AxisSet axes;
    int32_t purpose;
};

enum { LIMIT = 1 << 19 };

static void state(void *user, RankState *out) {
    TransportContext *c = user;
    pthread_mutex_lock(&c->look);
    *out = (RankState){.finished = c->finished, .waits = c->begun > c->finished};
    out->axes = c->now.axes;
    out->purpose = c->now.purpose;
    out->sequence = c->now.sequence;
    snprintf(out->label, sizeof out->label, "%s", c->now.label ? c->now.label : "the run");
    pthread_mutex_unlock(&c->look);
}

static void ended(void *user) { (void)user; }

static int open_context(const TransportOptions *o, TransportContext **out, char *error) {
    TransportContext *c = calloc(1, sizeof *c);
    if (c) c->gathered = malloc((size_t)o->ranks * LIMIT);
    if (!c || !c->gathered) {
        snprintf(error, ERROR_BYTES, "no memory for the transport");
        return EXIT_ENVIRONMENT;
    }
    c->o = *o;
    c->world = o->shared;
    pthread_mutex_init(&c->lock, NULL);
    pthread_mutex_init(&c->look, NULL);
    WorldEvents events = {.state = state, .ended = ended, .user = c};
    tcp_watch(c->world, &events);
    *out = c;
    return 0;
}

static void close_context(TransportContext *c) {
    tcp_watch(c->world, NULL);
    free(c->gathered);
    free(c);
}

/* Every rank's `bytes` at `from` into gathered[rank]. */
static int gather(TransportContext *c, const Collective *call, const void *from, uint64_t bytes,
                  char *error) {
    int code = 0;
    if (bytes > LIMIT) {
        snprintf(error, ERROR_BYTES, "this transport is for small models");
        return EXIT_ENVIRONMENT;
    }
    for (int32_t r = 0; r < c->o.ranks && !code; r++) {
        char *to = c->gathered + (size_t)r * LIMIT;
        if (r == c->o.rank) memcpy(to, from, bytes);
        code = tcp_share(c->world, r, to, bytes, call->label, error);
    }
    return code;
}

typedef int (*Part)(TransportContext *c, const Collective *call, const CommBuffer *b,
                    uint64_t width, char *error);

static int gather_part(TransportContext *c, const Collective *call, const CommBuffer *b,
                       uint64_t width, char *error) {
    uint64_t bytes = (uint64_t)b->elements * width;
    int code = gather(c, call, b->in, bytes, error);
    for (int32_t r = 0; r < c->o.ranks && !code; r++)
        memcpy((char *)b->out + (size_t)r * bytes, c->gathered + (size_t)r * LIMIT, bytes);
    return code;
}

static int sum(TransportContext *c, const Collective *call, const CommBuffer *b, int64_t first,
               char *error) {
    const void *from[64];
    const Device *d = c->o.device;
    uint64_t width = dtype_bytes(b->dtype);
    if (c->o.ranks > 64) abort();
    for (int32_t r = 0; r < c->o.ranks; r++)
        from[r] = c->gathered + (size_t)r * LIMIT + (uint64_t)first * width;
    return d->reduce(c->o.context, call->stream, b->dtype, b->out, from, c->o.ranks, b->elements,
                     error);
}

static int scatter_part(TransportContext *c, const Collective *call, const CommBuffer *b,
                        uint64_t width, char *error) {
    int code = gather(c, call, b->in, (uint64_t)b->elements * (uint64_t)c->o.ranks * width, error);
    return code ? code : sum(c, call, b, b->elements * c->o.rank, error);
}

static int reduce_part(TransportContext *c, const Collective *call, const CommBuffer *b,
                       uint64_t width, char *error) {
    int code = gather(c, call, b->in, (uint64_t)b->elements * width, error);
    return code ? code : sum(c, call, b, 0, error);
}

static int collect(TransportContext *c, const Collective *call, char *error) {
    static const Part part[] = {
        [ALL_GATHER] = gather_part, [REDUCE_SCATTER] = scatter_part, [ALL_REDUCE] = reduce_part};
    int code = 0;
    pthread_mutex_lock(&c->lock);
    pthread_mutex_lock(&c->look);
    c->now = *call;
    c->begun++;
    pthread_mutex_unlock(&c->look);
    for (uint32_t i = 0; i < call->n && !code; i++)
        code =
            part[call->kind](c, call, &call->buffer[i], dtype_bytes(call->buffer[i].dtype), error);
    pthread_mutex_lock(&c->look);
    c->finished++;
    pthread_mutex_unlock(&c->look);
    pthread_mutex_unlock(&c->lock);
    return code;
}

static int agree(TransportContext *c, const Collective *call, uint64_t mine, uint64_t *out,
                 char *error) {
    MeshGroup group = comm_group(c->o.plan, c->o.ranks, call->axes, c->o.rank);
    pthread_mutex_lock(&c->lock);
    int code = tcp_agree(c->world, &group, mine, out, call->label, error);
    pthread_mutex_unlock(&c->lock);
    return code;
}

static void abort_context(TransportContext *c) { (void)c; }

static const Transport transport = {.name = "nccl",
                                    .open = open_context,
                                    .close = close_context,
                                    .collect = collect,
                                    .agree = agree,
                                    .abort = abort_context};

static const TransportModule module = {.abi = MODULE_INTERFACE,
                                       .transport = &transport,
                                       .join = tcp_join,
                                       .compare = tcp_compare,
                                       .describe = tcp_describe,
                                       .local_ranks = tcp_local_ranks,
                                       .fail = tcp_fail,
                                       .leave = tcp_leave};

__attribute__((visibility("default"))) const TransportModule *fsdp_transport(void);
const TransportModule *fsdp_transport(void) { return &module; }
