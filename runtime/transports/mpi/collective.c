/* The collectives of transport `mpi`: within a host its ranks meet in memory (meeting.h). Every
 * member exchanges with every member of other hosts directly, in pieces, by non-blocking sends and
 * receives.
 *
 * Everything is allocated at open. What it does not do: send a shard to a host once and share it
 * there (each rank of the host receives it).
 */
#include <stdlib.h>

#include "world.h"

enum { PIECE_BYTES = 16 << 20, TAG_ROUND = 1024 };

static World *world_of(const TransportContext *c) { return c->o.shared; }
static Wait *wait_of(const Seat *s) {
    return &world_of(s->c)->wait[wait_thread(s->call, s->message)];
}

static int begin(const Seat *s, char *error) {
    World *w = world_of(s->c);
    *wait_of(s) = (Wait){.world = w, .call = s->call, .message = s->message};
    world_tells_call(w, s->c->o.pulse);
    return atomic_load(&w->board->notice.state) ? world_slice(wait_of(s), -1, error) : 0;
}

static void waits(const Seat *s, bool on) {
    if (!on) world_waits_no_more(wait_of(s));
}

static int look(const Seat *s, char *error) {
    return world_slice(wait_of(s), meeting_missing(s, -1), error);
}

static int tag_of(const Collective *call) {
    return (int)comm_row(call->axes, 0) * TAG_ROUND + (int)(call->sequence % TAG_ROUND);
}

/* The piece of a flow that begins with byte `from`; *n: the requests so far. */
static int post_piece(const Seat *s, const Flow *f, int32_t rank, uint64_t from, Scratch *x,
                      int *n) {
    MPI_Comm comm = world_of(s->c)->comm[s->call->purpose];
    int failed = 0, tag = tag_of(s->call);
    if (f->receives > from) {
        x->peer[*n] = rank;
        failed = MPI_Irecv(f->receive + from, (int)MIN(PIECE_BYTES, f->receives - from), MPI_BYTE,
                           rank, tag, comm, &x->request[(*n)++]);
    }
    if (!failed && f->sends > from) {
        x->peer[*n] = rank;
        failed = MPI_Isend(f->send + from, (int)MIN(PIECE_BYTES, f->sends - from), MPI_BYTE, rank,
                           tag, comm, &x->request[(*n)++]);
    }
    return failed;
}

static int exchange(const Seat *s, uint32_t i, FlowOf flow_of, char *error) {
    World *w = world_of(s->c);
    Scratch *x = &w->scratch[s->call->purpose];
    for (uint64_t from = 0;; from += PIECE_BYTES) {
        int n = 0, failed = 0;
        for (int32_t k = 0; k < s->group.size && !failed; k++) {
            int32_t rank = mesh_member(&s->group, k);
            if (w->process[rank].local >= 0) continue;
            Flow f = flow_of(s, k, i);
            failed = post_piece(s, &f, rank, from, x, &n);
        }
        if (failed) return world_mpi_error(failed, collective_kind_name(s->call->kind), error);
        if (n == 0) return 0;
        int code = world_finish(wait_of(s), n, x->request, x->peer, error);
        if (code) return code;
    }
}

/* ---- open and close */

static void close_context(TransportContext *c) {
    if (!c) return;
    World *w = world_of(c);
    for (int i = 0; i < COMM_KINDS; i++) {
        free(w->scratch[i].request);
        free(w->scratch[i].peer);
    }
    free(w->message);
    shared_free(w, w->meetings);
    free(w->meetings);
    free(w->arena);
    meeting_close(c);
}

static bool allocate_buffers(World *w) {
    size_t ranks = (size_t)w->ranks;
    bool enough = true;
    w->meetings = calloc((size_t)w->locals, sizeof *w->meetings);
    w->arena = calloc((size_t)w->locals, sizeof *w->arena);
    for (int i = 0; i < COMM_KINDS; i++) {
        Scratch *x = &w->scratch[i];
        x->request = calloc(2 * ranks, sizeof(MPI_Request));
        x->peer = calloc(2 * ranks, sizeof *x->peer);
        enough = enough && x->request && x->peer;
    }
    return enough && w->meetings && w->arena;
}

static int open_context(const TransportOptions *o, TransportContext **out, char *error) {
    static const MeetingWays ways = {
        .begin = begin, .waits = waits, .look = look, .exchange = exchange};
    World *w = o->shared;
    w->plan = o->plan;
    int code = meeting_open(o, &ways, w->locals, out, error);
    if (code) return code;
    TransportContext *c = *out;
    for (int32_t r = 0; r < w->ranks; r++) c->memory[r].seen = w->process[r].local >= 0;
    if (!allocate_buffers(w))
        return fail_with(error, EXIT_ENVIRONMENT, "out of memory for the transport");
    if (!o->device->arena_is_host)
        return fail_with(error, EXIT_USER, "transport mpi works with device cpu, not %s",
                         o->device->name);
    code = shared_exchange(w, w->local == 0 ? c->layout.bytes : 0, false, w->meetings, error);
    c->at = w->meetings[0].at;
    return code ? code : messages_open(w, error);
}

static int arena_alloc_shared(TransportContext *c, uint64_t bytes, void **out, char *error) {
    World *w = world_of(c);
    int code = shared_exchange(w, bytes, true, w->arena, error);
    if (code) return code;
    for (int32_t k = 0; k < w->locals; k++) {
        SeenMemory *m = &c->memory[w->local_rank[k]];
        m->base = (uintptr_t)w->arena[k].at;
        m->bytes = w->arena[k].bytes;
    }
    *out = w->arena[w->local].at;
    return 0;
}

static void arena_free_shared(TransportContext *c, void *arena) {
    (void)arena;
    messages_finish(world_of(c));
    shared_free(world_of(c), world_of(c)->arena);
}

static char *peer_arena(TransportContext *c, int32_t rank) { return (char *)c->memory[rank].base; }

/* The others learn the reason through TransportModule.fail. */
static void abort_run(TransportContext *c) {
    if (c) atomic_store(&world_of(c)->aborted, true);
}

const Transport transport_mpi = {.name = "mpi",
                                 .open = open_context,
                                 .close = close_context,
                                 .collect = meeting_collect,
                                 .send = messages_send,
                                 .receive = messages_receive,
                                 .agree = meeting_agree,
                                 .abort = abort_run,
                                 .arena_alloc = arena_alloc_shared,
                                 .arena_free = arena_free_shared,
                                 .peer_arena = peer_arena};
