/* Transport `local`: N ranks as threads of one process.
 *
 * Each communicator (axis, purpose, group of ranks) is a Channel, a ring of Meetings; collective
 * number q of the channel takes place in meeting q % RING. A meeting has three counters that only
 * grow by `members` a round: arrived (my buffers may be read), reduced (my slice of an all-reduce
 * is ready), left (I have read all that I need). A rank enters round t of a meeting when everybody
 * left round t - 1, and returns from a collective when everybody left this one, so that its buffers
 * are its own again. Because numbers decide who meets whom, threads may come in any order in time.
 *
 * On a device whose launches return early, a rank that comes, has summed or leaves brings a mark of
 * its stream, and the others' streams follow it: the meetings order what the ranks issue, the marks
 * order when it runs.
 *
 * Waiting is a short spin, then a futex with a time limit, so that a rank also wakes when the run
 * was aborted and nobody will ever count the word up.
 */
#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "transport.h"

enum { RING = 4, SPINS = 400, WAIT_NS = 50 * 1000 * 1000, SLICE_ALIGN = 64 };

typedef enum Kind { ALL_GATHER, REDUCE_SCATTER, ALL_REDUCE, BROADCAST, BARRIER, AGREE } Kind;
static const char *const kind_name[] = {"all_gather", "reduce_scatter", "all_reduce",
                                        "broadcast",  "barrier",        "agree"};

typedef enum Moment { ARRIVED, REDUCED, LEFT, MOMENTS } Moment;

typedef struct Visit { /* what a member brings to a meeting */
    const Collective *call;
    Kind kind;
    uint64_t value, shape;
    void *mark[MOMENTS];
} Visit;

typedef struct Meeting {
    _Atomic uint32_t arrived, reduced, left;
    Visit *visit; /* [members] */
} Meeting;

typedef struct Channel {
    Meeting meeting[RING];
} Channel;

struct LocalWorld {
    int32_t ranks, axes;
    bool spin; /* more cores than ranks: waiting a moment awake is cheaper than sleeping */
    _Atomic bool aborted;
    Channel **channel; /* [axes + 1][COMM_KINDS][ranks]; those whose last index is a group's base */
};

struct TransportContext {
    TransportOptions o;
    LocalWorld *world;
    const void **from; /* [COMM_KINDS][ranks], scratch of reductions: one thread a purpose */
};

static size_t channel_index(const LocalWorld *w, int32_t axis, int32_t purpose, int32_t base) {
    return ((size_t)(axis + 1) * COMM_KINDS + (size_t)purpose) * (size_t)w->ranks + (size_t)base;
}

LocalWorld *local_world_new(const Plan *p, int32_t ranks) {
    LocalWorld *w = calloc(1, sizeof *w);
    if (!w) fail_environment("no memory for the transport of %d ranks", ranks);
    w->ranks = ranks;
    w->axes = (int32_t)p->n_axes;
    w->spin = sysconf(_SC_NPROCESSORS_ONLN) >= ranks;
    w->channel = calloc((size_t)(w->axes + 1) * COMM_KINDS * (size_t)ranks, sizeof *w->channel);
    if (!w->channel) fail_environment("no memory for the transport of %d ranks", ranks);
    for (int32_t axis = AXIS_WORLD; axis < w->axes; axis++)
        for (int32_t rank = 0; rank < ranks; rank++) {
            MeshGroup group = mesh_group(p, ranks, axis, rank);
            for (int32_t purpose = 0; group.index == 0 && purpose < COMM_KINDS; purpose++) {
                Channel *c = calloc(1, sizeof *c);
                if (!c) fail_environment("no memory for the transport of %d ranks", ranks);
                for (int i = 0; i < RING; i++) {
                    c->meeting[i].visit = calloc((size_t)group.size, sizeof(Visit));
                    if (!c->meeting[i].visit)
                        fail_environment("no memory for the transport of %d ranks", ranks);
                }
                w->channel[channel_index(w, axis, purpose, group.base)] = c;
            }
        }
    return w;
}

void local_world_free(LocalWorld *w) {
    if (!w) return;
    size_t n = (size_t)(w->axes + 1) * COMM_KINDS * (size_t)w->ranks;
    for (size_t i = 0; i < n; i++) {
        if (!w->channel[i]) continue;
        for (int k = 0; k < RING; k++) free(w->channel[i]->meeting[k].visit);
        free(w->channel[i]);
    }
    free(w->channel);
    free(w);
}

static inline void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Waits until *word has reached target (counters wrap; distances are small). */
static int wait_for(LocalWorld *w, _Atomic uint32_t *word, uint32_t target) {
    for (int i = w->spin ? SPINS : 0; i > 0; i--) {
        if ((int32_t)(atomic_load_explicit(word, memory_order_acquire) - target) >= 0) return 0;
        relax();
    }
    for (;;) {
        uint32_t seen = atomic_load_explicit(word, memory_order_acquire);
        if ((int32_t)(seen - target) >= 0) return 0;
        if (atomic_load(&w->aborted)) return EXIT_RANK;
        struct timespec limit = {.tv_nsec = WAIT_NS};
        syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, &limit, NULL, 0);
    }
}

static void count_up(_Atomic uint32_t *word, uint32_t target) {
    uint32_t now = atomic_fetch_add_explicit(word, 1, memory_order_acq_rel) + 1;
    if (now == target) syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

typedef struct Seat { /* a rank's place in a meeting under way */
    LocalWorld *world;
    Meeting *m;
    MeshGroup group;
    uint32_t target; /* of each counter, when everybody has counted */
    const Collective *call;
} Seat;

/* What all members of a collective must have in common, as a number: comparing numbers that the
 * meeting holds stays safe when a member that saw the difference first has already left. */
static uint64_t shape_of(const Collective *call) {
    uint64_t h = hash_bytes(&call->root, sizeof call->root, call->n);
    for (uint32_t i = 0; i < call->n; i++) {
        int64_t shape[2] = {call->buffer[i].elements, call->buffer[i].dtype};
        h = hash_bytes(shape, sizeof shape, h);
    }
    return h;
}

static int aborted(char *error, Kind kind, const Collective *call) {
    snprintf(error, ERROR_BYTES, "%s of %s was abandoned: another rank failed", kind_name[kind],
             call->label ? call->label : "the run");
    return EXIT_RANK;
}

/* A mark for a moment of this meeting, before it is counted. It is made again RING meetings later,
 * when everybody has followed it: nobody comes to the next meeting before. */
static int bring_mark(TransportContext *c, const Seat *s, Moment moment, char *error) {
    const Device *d = c->o.device;
    uint32_t slot = (uint32_t)(s->call->sequence % RING) * COMM_KINDS + (uint32_t)s->call->purpose;
    if (!d->mark || s->call->n == 0) return 0;
    return d->mark(c->o.context, s->call->stream, slot * MOMENTS + (uint32_t)moment,
                   &s->m->visit[s->group.index].mark[moment], error);
}
/* When all were counted: this rank's stream comes behind everybody's mark. */
static int follow_marks(TransportContext *c, const Seat *s, Moment moment, char *error) {
    const Device *d = c->o.device;
    int code = 0;
    for (int32_t k = 0; k < s->group.size && d->mark && s->call->n > 0 && !code; k++)
        if (k != s->group.index)
            code = d->follow(c->o.context, s->call->stream, s->m->visit[k].mark[moment], error);
    return code;
}

/* A rank that fails amid a collective takes all others out of it: they wait for its counts. */
static int quit(TransportContext *c, int code) {
    atomic_store(&c->world->aborted, true);
    return code;
}

static int meet(TransportContext *c, const Collective *call, Kind kind, uint64_t value, Seat *seat,
                char *error) {
    LocalWorld *w = c->world;
    MeshGroup group = mesh_group(c->o.plan, w->ranks, call->axis, c->o.rank);
    Channel *channel = w->channel[channel_index(w, call->axis, call->purpose, group.base)];
    Meeting *m = &channel->meeting[call->sequence % RING];
    uint32_t size = (uint32_t)group.size, round = (uint32_t)(call->sequence / RING);
    *seat = (Seat){.world = w, .m = m, .group = group, .target = (round + 1) * size, .call = call};
    if (atomic_load(&w->aborted) || wait_for(w, &m->left, round * size))
        return aborted(error, kind, call);
    Visit mine = {.call = call, .kind = kind, .value = value, .shape = shape_of(call)};
    m->visit[group.index] = mine;
    int code = bring_mark(c, seat, ARRIVED, error);
    if (code) return quit(c, code);
    count_up(&m->arrived, seat->target);
    if (wait_for(w, &m->arrived, seat->target)) return aborted(error, kind, call);
    for (int32_t k = 0; k < group.size; k++) {
        if (m->visit[k].kind == kind && m->visit[k].shape == mine.shape) continue;
        snprintf(error, ERROR_BYTES, "ranks disagree: %s (%s) on rank %d meets %s on rank %d%s",
                 kind_name[kind], call->label ? call->label : "the run", c->o.rank,
                 kind_name[m->visit[k].kind], group.base + k * group.stride,
                 m->visit[k].kind == kind ? " with other sizes" : "");
        atomic_store(&w->aborted, true);
        return EXIT_RANK;
    }
    code = follow_marks(c, seat, ARRIVED, error);
    return code ? quit(c, code) : 0;
}

static int leave(TransportContext *c, Seat *seat, Kind kind, char *error) {
    int code = bring_mark(c, seat, LEFT, error);
    if (code) return quit(c, code);
    /* Every counter advances once a round, also where no slices were summed. */
    if (kind != ALL_REDUCE) count_up(&seat->m->reduced, seat->target);
    count_up(&seat->m->left, seat->target);
    if (wait_for(seat->world, &seat->m->left, seat->target))
        return aborted(error, kind, seat->call);
    code = follow_marks(c, seat, LEFT, error);
    return code ? quit(c, code) : 0;
}

static int local_open(const TransportOptions *o, TransportContext **out, char *error) {
    TransportContext *c = calloc(1, sizeof *c);
    const void **from = calloc((size_t)COMM_KINDS * (size_t)o->ranks, sizeof *from);
    if (!c || !from) {
        free(c);
        free(from);
        snprintf(error, ERROR_BYTES, "no memory for the transport");
        return EXIT_ENVIRONMENT;
    }
    *c = (TransportContext){.o = *o, .world = o->shared, .from = from};
    *out = c;
    return 0;
}

static void local_close(TransportContext *c) {
    if (!c) return;
    free(c->from);
    free(c);
}

static const CommBuffer *peer_buffer(const Seat *s, int32_t k, uint32_t i) {
    return &s->m->visit[k].call->buffer[i];
}

static int local_all_gather(TransportContext *c, const Collective *call, char *error) {
    Seat s;
    int code = meet(c, call, ALL_GATHER, 0, &s, error);
    if (code) return code;
    for (uint32_t i = 0; i < call->n; i++) {
        const CommBuffer *b = &call->buffer[i];
        uint64_t bytes = (uint64_t)b->elements * dtype_bytes(b->dtype);
        for (int32_t k = 0; k < s.group.size; k++) {
            char *to = (char *)b->out + (uint64_t)k * bytes;
            const void *from = peer_buffer(&s, k, i)->in;
            if (to == from || bytes == 0) continue;
            code = c->o.device->copy(c->o.context, call->stream, to, from, bytes, error);
            if (code) return quit(c, code);
        }
    }
    return leave(c, &s, ALL_GATHER, error);
}

static int sum_elements(TransportContext *c, const Seat *s, uint32_t i, void *to, int64_t first,
                        int64_t elements, char *error) {
    if (elements <= 0) return 0;
    const void **from = c->from + (size_t)s->call->purpose * (size_t)c->world->ranks;
    for (int32_t k = 0; k < s->group.size; k++) {
        const CommBuffer *b = peer_buffer(s, k, i);
        from[k] = (const char *)b->in + (uint64_t)first * dtype_bytes(b->dtype);
    }
    return c->o.device->reduce(c->o.context, s->call->stream, s->call->buffer[i].dtype, to, from,
                               s->group.size, elements, error);
}

static int local_reduce_scatter(TransportContext *c, const Collective *call, char *error) {
    Seat s;
    int code = meet(c, call, REDUCE_SCATTER, 0, &s, error);
    if (code) return code;
    for (uint32_t i = 0; i < call->n; i++) {
        const CommBuffer *b = &call->buffer[i];
        code = sum_elements(c, &s, i, b->out, s.group.index * b->elements, b->elements, error);
        if (code) return quit(c, code);
    }
    return leave(c, &s, REDUCE_SCATTER, error);
}

/* Member k sums slice k of every buffer into its own memory; when all slices are summed, everybody
 * copies the others'. Nobody reads a slice that its owner may still write: slice j is read from
 * member j alone, and written elsewhere only after all sums are done. */
static int local_all_reduce(TransportContext *c, const Collective *call, char *error) {
    Seat s;
    int code = meet(c, call, ALL_REDUCE, 0, &s, error);
    if (code) return code;
    for (uint32_t i = 0; i < call->n; i++) {
        const CommBuffer *b = &call->buffer[i];
        int64_t slice = (int64_t)align_up(
            (uint64_t)(b->elements + s.group.size - 1) / (uint64_t)s.group.size, SLICE_ALIGN);
        int64_t first = MIN(slice * s.group.index, b->elements);
        char *to = (char *)b->out + (uint64_t)first * dtype_bytes(b->dtype);
        code = sum_elements(c, &s, i, to, first, MIN(slice, b->elements - first), error);
        if (code) return quit(c, code);
    }
    code = bring_mark(c, &s, REDUCED, error);
    if (code) return quit(c, code);
    count_up(&s.m->reduced, s.target);
    if (wait_for(s.world, &s.m->reduced, s.target)) return aborted(error, ALL_REDUCE, call);
    code = follow_marks(c, &s, REDUCED, error);
    if (code) return quit(c, code);
    for (uint32_t i = 0; i < call->n; i++) {
        const CommBuffer *b = &call->buffer[i];
        int64_t slice = (int64_t)align_up(
            (uint64_t)(b->elements + s.group.size - 1) / (uint64_t)s.group.size, SLICE_ALIGN);
        for (int32_t k = 0; k < s.group.size; k++) {
            int64_t first = slice * k, n = MIN(slice, b->elements - first);
            if (k == s.group.index || n <= 0) continue;
            uint64_t at = (uint64_t)first * dtype_bytes(b->dtype);
            code = c->o.device->copy(c->o.context, call->stream, (char *)b->out + at,
                                     (const char *)peer_buffer(&s, k, i)->out + at,
                                     (uint64_t)n * dtype_bytes(b->dtype), error);
            if (code) return quit(c, code);
        }
    }
    return leave(c, &s, ALL_REDUCE, error);
}

static int local_simple(TransportContext *c, const Collective *call, Kind kind, uint64_t mine,
                        uint64_t *out, char *error) {
    Seat s;
    int code = meet(c, call, kind, mine, &s, error);
    if (code) return code;
    for (uint32_t i = 0; kind == BROADCAST && i < call->n; i++) {
        const CommBuffer *b = &call->buffer[i], *root = peer_buffer(&s, call->root, i);
        uint64_t bytes = (uint64_t)b->elements * dtype_bytes(b->dtype);
        if (b->out == root->in || bytes == 0) continue;
        code = c->o.device->copy(c->o.context, call->stream, b->out, root->in, bytes, error);
        if (code) return quit(c, code);
    }
    if (out) {
        *out = 0;
        for (int32_t k = 0; k < s.group.size; k++) *out = MAX(*out, s.m->visit[k].value);
    }
    return leave(c, &s, kind, error);
}

static int local_broadcast(TransportContext *c, const Collective *call, char *error) {
    return local_simple(c, call, BROADCAST, 0, NULL, error);
}

static int local_barrier(TransportContext *c, const Collective *call, char *error) {
    return local_simple(c, call, BARRIER, 0, NULL, error);
}

static int local_agree(TransportContext *c, const Collective *call, uint64_t mine, uint64_t *out,
                       char *error) {
    return local_simple(c, call, AGREE, mine, out, error);
}

static void local_abort(TransportContext *c) { atomic_store(&c->world->aborted, true); }

const Transport transport_local = {.name = "local",
                                   .open = local_open,
                                   .close = local_close,
                                   .all_gather = local_all_gather,
                                   .reduce_scatter = local_reduce_scatter,
                                   .all_reduce = local_all_reduce,
                                   .broadcast = local_broadcast,
                                   .barrier = local_barrier,
                                   .agree = local_agree,
                                   .abort = local_abort};
