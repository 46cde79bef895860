/* The collectives of transport `mpi`.
 *
 * Within a host: as in `local`, but in memory that processes share. Each communicator (axes,
 * purpose, group) has a ring of meetings; a member records where its operands are in its arena,
 * increments `arrived`, and reads its neighbours' arenas in place. The counters of a meeting only
 * grow, each round by the number of members on this host; a rank returns when all of them have
 * left.
 *
 * Between hosts: every member exchanges with every member of other hosts directly, in pieces, by
 * non-blocking sends and receives; a piece of a sum lands in a bounce buffer, and once the pieces
 * of all members have arrived they are added in rank order together with the neighbours' memory. So
 * the order of a sum does not depend on which hosts the ranks are on.
 *
 * Everything is allocated at open. What it does not do: send a shard to a host once and share it
 * there (each rank of the host receives it).
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "world.h"

enum { RING = 4, SPINS = 400, PIECE_BYTES = 16 << 20, BOUNCE_BYTES = 8 << 20, TAG_ROUND = 1024 };

typedef struct BufferPlace { /* of one buffer, as offsets in the member's arena */
    uint64_t in, out;
} BufferPlace;

typedef enum Stage { ARRIVED, REDUCED, LEFT, STAGES } Stage;

typedef struct HostVisit { /* what a member brings to a meeting */
    uint64_t value, shape;
    _Atomic uint64_t reached; /* sequence * STAGES + stage + 1, to find who is missing */
    int32_t kind, pad;
} HostVisit;

typedef struct HostMeeting {
    _Atomic uint32_t count[STAGES];
    uint32_t pad;
} HostMeeting; /* followed by Visit[size], Place[size][max_buffers] */

struct TransportContext {
    TransportOptions o;
    World *world;
    uint32_t max_buffers;
    uint64_t *channel;  /* [axes + 1][COMM_KINDS][ranks]: offset in `meetings` */
    Shared *meetings;   /* [locals]; everyone uses those of process 0 */
    Shared *arena;      /* [locals] */
    Messages *messages; /* NULL: the plan has no stages */
    struct Scratch {
        const void **from;    /* [ranks] */
        MPI_Request *request; /* [2 * ranks] */
        int32_t *peer;        /* [2 * ranks] rank at the other end of each request */
        uint64_t *value;      /* [ranks] */
        char *bounce;         /* [ranks][bounce_bytes] of the other hosts' */
    } scratch[COMM_KINDS];    /* one thread per purpose */
    uint64_t bounce_bytes;
};

typedef struct HostSeat { /* a rank's place in a collective under way */
    TransportContext *c;
    HostMeeting *m;
    MeshGroup group;
    uint32_t target, here; /* of each counter; members on this host */
    Wait wait;
} HostSeat;

/* ---- meetings */

static uint64_t meeting_bytes(const TransportContext *c, int32_t size) {
    return align_up(sizeof(HostMeeting) + (uint64_t)size * sizeof(HostVisit) +
                        (uint64_t)size * c->max_buffers * sizeof(BufferPlace),
                    64);
}

static HostVisit *visit_of(const HostSeat *s, int32_t k) {
    return (HostVisit *)(void *)(s->m + 1) + k;
}

static BufferPlace *place_of(const HostSeat *s, int32_t k, uint32_t buffer) {
    BufferPlace *first = (BufferPlace *)(void *)visit_of(s, s->group.size);
    return first + (uint64_t)k * s->c->max_buffers + buffer;
}

static int32_t local_of(const HostSeat *s, int32_t k) {
    return s->c->world->process[mesh_member(&s->group, k)].local;
}

static uint64_t *channel_of(const TransportContext *c, uint32_t row, int32_t base) {
    return &c->channel[(uint64_t)row * (uint64_t)c->world->ranks + (uint64_t)base];
}

static int32_t who_is_missing(const HostSeat *s, uint64_t reached) {
    for (int32_t k = 0; k < s->group.size; k++)
        if (local_of(s, k) >= 0 && atomic_load(&visit_of(s, k)->reached) < reached)
            return mesh_member(&s->group, k);
    return -1;
}

/* Until all members of this host have counted `stage` of collective `sequence` up to target. */
static int wait_for(HostSeat *s, Stage stage, uint64_t sequence, uint32_t target, char *error) {
    _Atomic uint32_t *word = &s->m->count[stage];
    if (counter_spin(word, target, s->c->world->spin ? SPINS : 0)) return 0;
    for (uint32_t seen; !counter_reached(word, target, &seen);) {
        if (!counter_sleep(word, seen, FUTEX_WAIT)) continue;
        int code = world_slice(&s->wait, who_is_missing(s, sequence * STAGES + stage + 1), error);
        if (code) return code;
    }
    world_waits_no_more(&s->wait);
    return 0;
}

static void count_up(HostSeat *s, Stage stage) {
    const Collective *call = s->wait.call;
    atomic_store(&visit_of(s, s->group.index)->reached, call->sequence * STAGES + stage + 1);
    counter_add(&s->m->count[stage], s->target, FUTEX_WAKE);
}

/* Neighbours read operands in the shared arena; nothing else can be shown to them. */
static bool offset_of(const TransportContext *c, const void *at, uint64_t *offset) {
    const Shared *own = &c->arena[c->world->local];
    *offset = (uint64_t)((uintptr_t)at - (uintptr_t)own->at);
    return own->at && *offset < own->bytes;
}

static int write_places(HostSeat *s, char *error) {
    const Collective *call = s->wait.call;
    for (uint32_t i = 0; i < call->n; i++) {
        BufferPlace *place = place_of(s, s->group.index, i);
        if (call->buffer[i].elements == 0) continue;
        if (!offset_of(s->c, call->buffer[i].in, &place->in) ||
            (!call->shared && !offset_of(s->c, call->buffer[i].out, &place->out)))
            return fail_with(error, EXIT_CORRUPT,
                             "%s: an operand of a collective lies outside the arena",
                             collective_label(call));
    }
    return 0;
}

static int report_disagreement(const HostSeat *s, int32_t k, char *error) {
    collective_differs(s->wait.call, s->wait.kind, s->c->o.rank,
                       (CollectiveKind)visit_of(s, k)->kind, mesh_member(&s->group, k), error);
    return EXIT_RANK;
}

static int enter_meeting(TransportContext *c, const Collective *call, CollectiveKind kind,
                         uint64_t value, HostSeat *s, char *error) {
    MeshGroup group = comm_group(c->o.plan, c->world->ranks, call->axes, c->o.rank);
    char *at = c->meetings[0].at + *channel_of(c, comm_row(call->axes, call->purpose), group.base) +
               call->sequence % RING * meeting_bytes(c, group.size);
    *s = (HostSeat){.c = c, .m = (HostMeeting *)(void *)at, .group = group};
    s->wait = (Wait){.world = c->world, .call = call, .kind = kind};
    world_tells_call(c->world, c->o.pulse);
    for (int32_t k = 0; k < group.size; k++) s->here += local_of(s, k) >= 0;
    uint32_t round = (uint32_t)(call->sequence / RING);
    s->target = (round + 1) * s->here;
    if (call->n > c->max_buffers)
        return fail_with(error, EXIT_CORRUPT, "a collective with %u buffers", call->n);
    int code = 0;
    if (atomic_load(&c->world->board->notice.state)) code = world_slice(&s->wait, -1, error);
    if (!code && round > 0) code = wait_for(s, LEFT, call->sequence - RING, round * s->here, error);
    if (!code) code = write_places(s, error);
    if (code) return code;
    HostVisit *mine = visit_of(s, group.index);
    mine->kind = (int32_t)kind;
    mine->value = value;
    mine->shape = collective_shape(call);
    count_up(s, ARRIVED);
    code = wait_for(s, ARRIVED, call->sequence, s->target, error);
    for (int32_t k = 0; k < group.size && !code; k++)
        if (local_of(s, k) >= 0 &&
            (visit_of(s, k)->kind != (int32_t)kind || visit_of(s, k)->shape != mine->shape))
            code = report_disagreement(s, k, error);
    return code;
}

static int leave_meeting(HostSeat *s, char *error) {
    /* Every counter advances once per round, even where no slices were summed. */
    if (s->wait.kind != ALL_REDUCE) count_up(s, REDUCED);
    count_up(s, LEFT);
    return wait_for(s, LEFT, s->wait.call->sequence, s->target, error);
}

/* ---- memory of members */

static bool is_remote(const HostSeat *s, int32_t k) { return local_of(s, k) < 0; }
static bool any_remote(const HostSeat *s) { return s->here < (uint32_t)s->group.size; }

static const char *peer_in(const HostSeat *s, int32_t k, uint32_t i) {
    if (k == s->group.index) return s->wait.call->buffer[i].in;
    return s->c->arena[local_of(s, k)].at + place_of(s, k, i)->in;
}

static const char *peer_out(const HostSeat *s, int32_t k, uint32_t i) {
    return s->c->arena[local_of(s, k)].at + place_of(s, k, i)->out;
}

static int copy_bytes(const HostSeat *s, void *to, const void *from, uint64_t bytes, char *error) {
    if (to == from || bytes == 0) return 0;
    return s->c->o.device->copy(s->c->o.context, s->wait.call->stream, to, from, bytes, error);
}

/* ---- exchange with other hosts */

typedef struct Flow { /* bytes [first, last) that go to and come from a member */
    const char *send;
    char *receive;
    uint64_t sends, receives;
} Flow;
/* The whole traffic between this rank and member k; nothing where both counts are 0. */
typedef Flow (*FlowOf)(const HostSeat *s, int32_t k, uint32_t i);

static int tag_of(const Collective *call) {
    return (int)comm_row(call->axes, 0) * TAG_ROUND + (int)(call->sequence % TAG_ROUND);
}

static int post_transfer(const HostSeat *s, const Flow *f, int32_t rank, uint64_t from,
                         uint64_t piece, int *n) {
    struct Scratch *x = &s->c->scratch[s->wait.call->purpose];
    MPI_Comm comm = s->c->world->comm[s->wait.call->purpose];
    int failed = 0, tag = tag_of(s->wait.call);
    if (f->receives > from) {
        x->peer[*n] = rank;
        failed = MPI_Irecv(f->receive + from, (int)MIN(piece, f->receives - from), MPI_BYTE, rank,
                           tag, comm, &x->request[(*n)++]);
    }
    if (!failed && f->sends > from) {
        x->peer[*n] = rank;
        failed = MPI_Isend(f->send + from, (int)MIN(piece, f->sends - from), MPI_BYTE, rank, tag,
                           comm, &x->request[(*n)++]);
    }
    return failed;
}

static int exchange_pieces(HostSeat *s, uint32_t i, FlowOf flow_of, char *error) {
    struct Scratch *x = &s->c->scratch[s->wait.call->purpose];
    for (uint64_t from = 0;; from += PIECE_BYTES) {
        int n = 0, failed = 0;
        for (int32_t k = 0; k < s->group.size && !failed; k++) {
            if (!is_remote(s, k)) continue;
            Flow f = flow_of(s, k, i);
            failed = post_transfer(s, &f, mesh_member(&s->group, k), from, PIECE_BYTES, &n);
        }
        if (failed) return world_mpi_error(failed, collective_kind_name[s->wait.kind], error);
        if (n == 0) return 0;
        int code = world_finish(&s->wait, n, x->request, x->peer, error);
        if (code) return code;
    }
}

static uint64_t width_of(const CommBuffer *b) { return dtype_bytes(b->dtype); }

/* Elements [first, first + n) of every member's `in`, added in rank order into `to`. Member k of
 * another host gets from us what it sums: elements [slice * k, ..) of `length`. */
static int sum_slice(HostSeat *s, uint32_t i, void *to, int64_t slice, int64_t length,
                     char *error) {
    TransportContext *c = s->c;
    const CommBuffer *b = &s->wait.call->buffer[i];
    struct Scratch *x = &c->scratch[s->wait.call->purpose];
    int64_t step = any_remote(s) ? (int64_t)(c->bounce_bytes / width_of(b)) : slice;
    int64_t first = MIN(slice * comm_part(b, s->group.index, s->group.size), length);
    int64_t mine = MIN(slice, length - first);
    for (int64_t done = 0; done < slice; done += step) {
        int64_t now = MAX(MIN(step, mine - done), 0);
        int n = 0, failed = 0;
        for (int32_t k = 0; k < s->group.size; k++) {
            int32_t rank = mesh_member(&s->group, k);
            const char *from = NULL;
            if (!is_remote(s, k)) {
                from = peer_in(s, k, i) + (uint64_t)(first + done) * width_of(b);
            } else {
                int64_t its = MIN(slice * comm_part(b, k, s->group.size), length);
                int64_t sends = MAX(MIN(step, MIN(slice, length - its) - done), 0);
                char *bounce = x->bounce + (uint64_t)rank * c->bounce_bytes;
                Flow f = {.send = (const char *)b->in + (uint64_t)(its + done) * width_of(b),
                          .receive = bounce,
                          .sends = (uint64_t)sends * width_of(b),
                          .receives = (uint64_t)now * width_of(b)};
                if (!failed) failed = post_transfer(s, &f, rank, 0, UINT64_MAX, &n);
                from = bounce;
            }
            x->from[k] = from;
        }
        if (failed) return world_mpi_error(failed, collective_kind_name[s->wait.kind], error);
        int code = n ? world_finish(&s->wait, n, x->request, x->peer, error) : 0;
        if (!code && now > 0)
            code = c->o.device->reduce(c->o.context, s->wait.call->stream, b->dtype,
                                       (char *)to + (uint64_t)done * width_of(b), x->from,
                                       s->group.size, now, error);
        if (code) return code;
    }
    return 0;
}

/* ---- the collectives */

static Flow gather_flow(const HostSeat *s, int32_t k, uint32_t i) {
    const CommBuffer *b = &s->wait.call->buffer[i];
    uint64_t bytes = (uint64_t)b->elements * width_of(b);
    uint64_t part = (uint64_t)comm_part(b, k, s->group.size);
    return (Flow){b->in, (char *)b->out + part * bytes, bytes, bytes};
}

static int all_gather(TransportContext *c, const Collective *call, char *error) {
    HostSeat s;
    int code = enter_meeting(c, call, ALL_GATHER, 0, &s, error);
    for (uint32_t i = 0; i < call->n && !code; i++) {
        const CommBuffer *b = &call->buffer[i];
        uint64_t bytes = (uint64_t)b->elements * width_of(b);
        if (any_remote(&s)) code = exchange_pieces(&s, i, gather_flow, error);
        for (int32_t k = 0; k < s.group.size && !code; k++)
            if (!is_remote(&s, k) && (!call->shared || k == s.group.index))
                code =
                    copy_bytes(&s, (char *)b->out + (uint64_t)comm_part(b, k, s.group.size) * bytes,
                               peer_in(&s, k, i), bytes, error);
    }
    return code ? code : leave_meeting(&s, error);
}

static int reduce_scatter(TransportContext *c, const Collective *call, char *error) {
    HostSeat s;
    int code = enter_meeting(c, call, REDUCE_SCATTER, 0, &s, error);
    for (uint32_t i = 0; i < call->n && !code; i++) {
        const CommBuffer *b = &call->buffer[i];
        code = sum_slice(&s, i, b->out, b->elements, b->elements * s.group.size, error);
    }
    return code ? code : leave_meeting(&s, error);
}

static Flow slices_flow(const HostSeat *s, int32_t k, uint32_t i) {
    const CommBuffer *b = &s->wait.call->buffer[i];
    int64_t slice = collective_slice(b, s->group.size),
            mine = MIN(slice * s->group.index, b->elements);
    int64_t its = MIN(slice * k, b->elements);
    return (Flow){.send = (const char *)b->out + (uint64_t)mine * width_of(b),
                  .receive = (char *)b->out + (uint64_t)its * width_of(b),
                  .sends = (uint64_t)MIN(slice, b->elements - mine) * width_of(b),
                  .receives = (uint64_t)MIN(slice, b->elements - its) * width_of(b)};
}

/* Member k sums slice k of every buffer into its own memory; when all slices are summed, every
 * member reads the others'. Slice j is read from member j only, and written elsewhere only after
 * all sums of this host are done and the parts that other hosts need are sent. */
static int all_reduce(TransportContext *c, const Collective *call, char *error) {
    HostSeat s;
    int code = enter_meeting(c, call, ALL_REDUCE, 0, &s, error);
    for (uint32_t i = 0; i < call->n && !code; i++) {
        const CommBuffer *b = &call->buffer[i];
        int64_t slice = collective_slice(b, s.group.size),
                first = MIN(slice * s.group.index, b->elements);
        code = sum_slice(&s, i, (char *)b->out + (uint64_t)first * width_of(b), slice, b->elements,
                         error);
    }
    if (code) return code;
    count_up(&s, REDUCED);
    code = wait_for(&s, REDUCED, call->sequence, s.target, error);
    for (uint32_t i = 0; i < call->n && !code; i++) {
        const CommBuffer *b = &call->buffer[i];
        int64_t slice = collective_slice(b, s.group.size);
        if (any_remote(&s)) code = exchange_pieces(&s, i, slices_flow, error);
        for (int32_t k = 0; k < s.group.size && !code; k++) {
            int64_t first = slice * k, n = MIN(slice, b->elements - first);
            uint64_t at = (uint64_t)first * width_of(b);
            if (k == s.group.index || n <= 0 || is_remote(&s, k)) continue;
            code = copy_bytes(&s, (char *)b->out + at, peer_out(&s, k, i) + at,
                              (uint64_t)n * width_of(b), error);
        }
    }
    return code ? code : leave_meeting(&s, error);
}

static Flow value_flow(const HostSeat *s, int32_t k, uint32_t i) {
    (void)i;
    uint64_t *value = s->c->scratch[s->wait.call->purpose].value;
    return (Flow){(const char *)&value[s->group.index], (char *)&value[k], sizeof *value,
                  sizeof *value};
}

static int agree(TransportContext *c, const Collective *call, uint64_t mine, uint64_t *out,
                 char *error) {
    HostSeat s;
    uint64_t *value = c->scratch[call->purpose].value;
    int code = enter_meeting(c, call, out ? AGREE : BARRIER, mine, &s, error);
    if (code) return code;
    value[s.group.index] = mine;
    if (any_remote(&s)) code = exchange_pieces(&s, 0, value_flow, error);
    if (code) return code;
    if (out) *out = 0;
    for (int32_t k = 0; k < s.group.size && out; k++)
        *out = MAX(*out, is_remote(&s, k) ? value[k] : visit_of(&s, k)->value);
    return leave_meeting(&s, error);
}

/* ---- open and close */

static uint64_t lay_channels(TransportContext *c) {
    uint64_t at = 0;
    for (uint32_t row = 0; row < comm_rows(c->o.plan); row++)
        for (int32_t rank = 0; rank < c->world->ranks; rank++) {
            MeshGroup g = comm_group(c->o.plan, c->world->ranks, comm_row_axes(row), rank);
            if (g.index) continue;
            *channel_of(c, row, g.base) = at;
            at += RING * meeting_bytes(c, g.size);
        }
    return at;
}

static uint32_t most_buffers(const Plan *p) {
    uint64_t most = 1;
    for (uint64_t k = 0; k < p->n_instrs; k++)
        if (plan_is_collective(&p->instrs[k])) most = MAX(most, comm_buffers(p, &p->instrs[k]));
    return (uint32_t)most;
}

static void close_context(TransportContext *c) {
    if (!c) return;
    for (int i = 0; i < COMM_KINDS; i++) {
        free(c->scratch[i].from);
        free(c->scratch[i].request);
        free(c->scratch[i].peer);
        free(c->scratch[i].value);
        free(c->scratch[i].bounce);
    }
    messages_close(c->messages);
    shared_free(c->world, c->meetings);
    free(c->meetings);
    free(c->arena);
    free(c->channel);
    free(c);
}

static bool allocate_buffers(TransportContext *c) {
    const World *w = c->world;
    uint64_t ranks = (uint64_t)w->ranks, far = w->locals < w->ranks ? ranks : 0;
    bool enough = true;
    c->bounce_bytes = align_up(MAX(BOUNCE_BYTES / ranks, 65536), 4096);
    c->channel = calloc(comm_rows(c->o.plan) * ranks, sizeof *c->channel);
    c->meetings = calloc((uint64_t)w->locals, sizeof *c->meetings);
    c->arena = calloc((uint64_t)w->locals, sizeof *c->arena);
    for (int i = 0; i < COMM_KINDS; i++) {
        struct Scratch *x = &c->scratch[i];
        x->from = calloc(ranks, sizeof *x->from);
        x->request = calloc(2 * ranks, sizeof(MPI_Request));
        x->peer = calloc(2 * ranks, sizeof *x->peer);
        x->value = calloc(ranks, sizeof *x->value);
        x->bounce = malloc(far * c->bounce_bytes + 1);
        enough = enough && x->from && x->request && x->peer && x->value && x->bounce;
    }
    return enough && c->channel && c->meetings && c->arena;
}

static int open_context(const TransportOptions *o, TransportContext **out, char *error) {
    TransportContext *c = calloc(1, sizeof *c);
    if (c) {
        c->o = *o;
        c->world = o->shared;
        c->world->plan = o->plan;
        c->max_buffers = most_buffers(o->plan);
    }
    if (!c || !allocate_buffers(c)) {
        if (c) close_context(c);
        return fail_with(error, EXIT_ENVIRONMENT, "out of memory for the transport");
    }
    *out = c;
    if (!o->device->arena_is_host)
        return fail_with(error, EXIT_USER, "transport mpi works with device cpu, not %s",
                         o->device->name);
    uint64_t bytes = lay_channels(c);
    int code =
        shared_exchange(c->world, c->world->local == 0 ? bytes : 0, false, c->meetings, error);
    return code ? code : messages_open(o, c->world, c->arena, &c->messages, error);
}

static int arena_alloc_shared(TransportContext *c, uint64_t bytes, void **out, char *error) {
    int code = shared_exchange(c->world, bytes, true, c->arena, error);
    if (!code) *out = c->arena[c->world->local].at;
    return code;
}

static void arena_free_shared(TransportContext *c, void *arena) {
    (void)arena;
    messages_finish(c->messages);
    shared_free(c->world, c->arena);
}

static char *peer_arena(TransportContext *c, int32_t rank) {
    int32_t local = c->world->process[rank].local;
    return local < 0 ? NULL : c->arena[local].at;
}

static int send_message(TransportContext *c, const StageMessage *m, char *error) {
    return messages_send(c->messages, m, error);
}

static int receive_message(TransportContext *c, const StageMessage *m, char *error) {
    return messages_receive(c->messages, m, error);
}

/* The others learn the reason through TransportModule.fail. */
static void abort_run(TransportContext *c) {
    if (c) atomic_store(&c->world->aborted, true);
}

const Transport transport_mpi = {.name = "mpi",
                                 .open = open_context,
                                 .close = close_context,
                                 .all_gather = all_gather,
                                 .reduce_scatter = reduce_scatter,
                                 .all_reduce = all_reduce,
                                 .send = send_message,
                                 .receive = receive_message,
                                 .agree = agree,
                                 .abort = abort_run,
                                 .arena_alloc = arena_alloc_shared,
                                 .arena_free = arena_free_shared,
                                 .peer_arena = peer_arena};
