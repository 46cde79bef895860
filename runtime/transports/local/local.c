/* Transport `local`: N ranks as threads of one process.
 *
 * Each communicator (axes, purpose, group of ranks) is a Channel, a ring of Meetings; collective
 * number q of the channel takes place in meeting q % RING. A meeting has three counters that only
 * grow by `members` a round: arrived (my buffers may be read), reduced (my slice of an all-reduce
 * is ready), left (I have read all that I need). A rank enters round t of a meeting when everybody
 * left round t - 1, and returns from a collective when everybody left this one, so that its buffers
 * are its own again. Because numbers decide who meets whom, threads may come in any order in time.
 *
 * The result of a shared all-gather (shared_gather.c) is one place for all members: each writes its
 * own part there after everybody has arrived, and reads it after everybody has left.
 *
 * On a device whose launches return early, a rank that comes, has summed or leaves brings a mark of
 * its stream, and the others' streams follow it: the meetings order what the ranks issue, the marks
 * order when it runs.
 *
 * Waiting is a short spin, then a futex in slices of 50 ms, so that a rank also wakes when the run
 * was aborted and nobody will ever count the word up. After each slice the waiting rank looks at
 * those that are missing: whether they began another instruction, read or write files, or used CPU
 * time. One that did nothing of this for `timeout` seconds ends the run, and so does one that used
 * BUSY_TIMES as much CPU time in one instruction: none takes that long. Other time is counted in
 * slices that the waiting rank saw, so a process that was suspended and goes on misses nothing.
 *
 * What it does not notice: standstill of all ranks at once on a device whose launches return early.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "local_world.h"

enum { RING = 4 };
typedef enum Moment { ARRIVED, REDUCED, LEFT, MOMENTS } Moment;

typedef struct LocalVisit { /* what a member brings to a meeting */
    const Collective *call;
    CollectiveKind kind;
    uint64_t value, shape;
    void *mark[MOMENTS];
} LocalVisit;

typedef struct LocalMeeting {
    _Atomic uint32_t count[MOMENTS];
    LocalVisit *visit;         /* [members] */
    _Atomic uint64_t *reached; /* [members] sequence * MOMENTS + moment + 1: finds who is missing */
} LocalMeeting;

struct Channel {
    LocalMeeting meeting[RING];
};

static size_t channel_index(const LocalWorld *w, uint32_t row, int32_t base) {
    return (size_t)row * (size_t)w->ranks + (size_t)base;
}

static void *take(const LocalWorld *w, size_t n, size_t size) {
    void *at = calloc(n, size);
    if (!at) fail_environment("no memory for the transport of %d ranks", w->ranks);
    return at;
}

static void open_outboxes(LocalWorld *w) {
    const Plan *p = w->plan;
    size_t n = (size_t)w->ranks * p->n_states;
    w->outbox = take(w, n, sizeof *w->outbox);
    for (size_t k = 0; k < n; k++) {
        const PlanState *box = &p->states[k % p->n_states];
        if (box->role == STATE_OUTBOX)
            w->outbox[k].place = take(w, (size_t)box->type.dim[0], sizeof *w->outbox->place);
    }
}

static Channel *open_channel(const LocalWorld *w, size_t members) {
    Channel *c = take(w, 1, sizeof *c);
    for (int i = 0; i < RING; i++) {
        c->meeting[i].visit = take(w, members, sizeof(LocalVisit));
        c->meeting[i].reached = take(w, members, sizeof(uint64_t));
    }
    return c;
}

LocalWorld *local_world_new(const Plan *p, int32_t ranks, int32_t timeout) {
    LocalWorld *w = take(&(LocalWorld){.ranks = ranks}, 1, sizeof *w);
    w->plan = p;
    w->ranks = ranks;
    w->timeout = timeout;
    pthread_mutex_init(&w->lock, NULL);
    w->rows = comm_rows(p);
    w->spin = sysconf(_SC_NPROCESSORS_ONLN) >= ranks;
    w->channel = take(w, (size_t)w->rows * (size_t)ranks, sizeof *w->channel);
    w->member = take(w, (size_t)ranks, sizeof *w->member);
    if (plan_has_stages(p)) open_outboxes(w);
    for (uint32_t row = 0; row < w->rows; row++)
        for (int32_t rank = 0; rank < ranks; rank++) {
            MeshGroup group = comm_group(p, ranks, comm_row_axes(row), rank);
            if (group.index) continue;
            w->channel[channel_index(w, row, group.base)] = open_channel(w, (size_t)group.size);
        }
    return w;
}

void local_world_free(LocalWorld *w) {
    if (!w) return;
    size_t n = (size_t)w->rows * (size_t)w->ranks;
    for (size_t i = 0; i < n; i++) {
        if (!w->channel[i]) continue;
        for (int k = 0; k < RING; k++) {
            free(w->channel[i]->meeting[k].visit);
            free((void *)w->channel[i]->meeting[k].reached);
        }
        free(w->channel[i]);
    }
    free(w->channel);
    for (size_t k = 0; w->outbox && k < (size_t)w->ranks * w->plan->n_states; k++)
        free(w->outbox[k].place);
    free(w->outbox);
    free(w->member);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

typedef struct LocalSeat { /* a rank's place in a meeting under way */
    TransportContext *c;
    LocalMeeting *m;
    MeshGroup group;
    uint32_t target; /* of each counter, when everybody has counted */
    CollectiveKind kind;
    const Collective *call;
} LocalSeat;

/* ---- waiting */

static int report_abandoned(const LocalSeat *s, char *error) {
    char what[320];
    snprintf(what, sizeof what, "%s of %s", collective_kind_name[s->kind],
             collective_label(s->call));
    return local_abandoned(s->c->world, what, error);
}

static uint64_t reached_at(const LocalSeat *s, Moment moment) {
    return s->call->sequence * MOMENTS + (uint64_t)moment + 1;
}

static bool is_there(const LocalSeat *s, int32_t k, Moment moment) {
    return atomic_load(&s->m->reached[k]) >= reached_at(s, moment);
}

/* The message names the first rank of those that wait here, whichever of them writes it: that is
 * chance. */
static int32_t first_there(const LocalSeat *s, Moment moment) {
    int32_t k = 0;
    while (k < s->group.index && !is_there(s, k, moment)) k++;
    return mesh_member(&s->group, k);
}

static int report_standstill(const LocalSeat *s, int32_t rank, int32_t seconds, Moment moment,
                             char *error) {
    const LocalWorld *w = s->c->world;
    char at[240], where[320];
    local_last_work(w, rank, at, sizeof at);
    collective_place_text(s->call, s->kind, where, sizeof where);
    snprintf(error, ERROR_BYTES,
             "rank %d made no progress for %d s %s; rank %d waits for it to %s %.160s\n"
             "help: FSDP_TIMEOUT=SECONDS waits longer",
             rank, seconds, at, first_there(s, moment), moment == ARRIVED ? "come to" : "finish",
             where);
    return local_end_run(s->c->world, error);
}

/* One slice of waiting is over. */
static int check_missing_ranks(const LocalSeat *s, Moment moment, Watched *watched, char *error) {
    LocalWorld *w = s->c->world;
    for (int32_t k = 0; k < s->group.size; k++) {
        int32_t rank = mesh_member(&s->group, k);
        int32_t seconds = is_there(s, k, moment) ? 0 : local_stood_still(w, rank, &watched[k]);
        if (seconds) return report_standstill(s, rank, seconds, moment, error);
    }
    return 0;
}

static int wait_asleep(const LocalSeat *s, Moment moment, uint32_t target, char *error) {
    _Atomic uint32_t *word = &s->m->count[moment];
    Watched watched[s->group.size];
    memset(watched, 0, sizeof watched);
    for (uint32_t seen; !counter_reached(word, target, &seen);) {
        if (atomic_load(&s->c->world->aborted)) return report_abandoned(s, error);
        if (!counter_sleep(word, seen, FUTEX_WAIT_PRIVATE)) continue;
        int code = check_missing_ranks(s, moment, watched, error);
        if (code) return code;
    }
    return 0;
}

/* Waits until everybody has counted that moment of the meeting up to target. */
static int wait_for(const LocalSeat *s, Moment moment, uint32_t target, char *error) {
    if (counter_spin(&s->m->count[moment], target, s->c->world->spin ? SPINS : 0)) return 0;
    _Atomic uint32_t *waiting = &s->c->world->member[s->c->o.rank].waiting;
    atomic_fetch_add(waiting, 1);
    int code = wait_asleep(s, moment, target, error);
    atomic_fetch_sub(waiting, 1);
    return code;
}

static void count_up(const LocalSeat *s, Moment moment) {
    atomic_store(&s->m->reached[s->group.index], reached_at(s, moment));
    counter_add(&s->m->count[moment], s->target, FUTEX_WAKE_PRIVATE);
}

/* ---- meeting */

/* A mark for a moment of this meeting, before it is counted. It is made again RING meetings later,
 * when everybody has followed it: nobody comes to the next meeting before. */
static int bring_mark(const LocalSeat *s, Moment moment, char *error) {
    const Device *d = s->c->o.device;
    uint32_t slot = (uint32_t)(s->call->sequence % RING) * COMM_KINDS + (uint32_t)s->call->purpose;
    if (!d->mark || s->call->n == 0) return 0;
    return d->mark(s->c->o.context, s->call->stream, slot * MOMENTS + (uint32_t)moment,
                   &s->m->visit[s->group.index].mark[moment], error);
}

/* Until everybody has come to that moment. Every counter advances once a round, also where no
 * slices were summed. */
static int reach(const LocalSeat *s, Moment moment, char *error) {
    int code = bring_mark(s, moment, error);
    if (code) return local_quit(s->c, code);
    if (moment == LEFT && s->kind != ALL_REDUCE) count_up(s, REDUCED);
    count_up(s, moment);
    return wait_for(s, moment, s->target, error);
}

/* After that: this rank's stream follows everybody's mark. */
static int follow_marks(const LocalSeat *s, Moment moment, char *error) {
    const Device *d = s->c->o.device;
    int code = 0;
    for (int32_t k = 0; k < s->group.size && d->mark && s->call->n > 0 && !code; k++)
        if (k != s->group.index)
            code = d->follow(s->c->o.context, s->call->stream, s->m->visit[k].mark[moment], error);
    return code ? local_quit(s->c, code) : 0;
}

static int enter_meeting(TransportContext *c, const Collective *call, CollectiveKind kind,
                         uint64_t value, LocalSeat *seat, char *error) {
    LocalWorld *w = c->world;
    MeshGroup group = comm_group(c->o.plan, w->ranks, call->axes, c->o.rank);
    Channel *channel =
        w->channel[channel_index(w, comm_row(call->axes, call->purpose), group.base)];
    LocalMeeting *m = &channel->meeting[call->sequence % RING];
    uint32_t size = (uint32_t)group.size, round = (uint32_t)(call->sequence / RING);
    *seat = (LocalSeat){
        .c = c, .m = m, .group = group, .target = (round + 1) * size, .kind = kind, .call = call};
    atomic_fetch_add(&w->member[c->o.rank].collectives, 1);
    if (atomic_load(&w->aborted)) return report_abandoned(seat, error);
    int code = wait_for(seat, LEFT, round * size, error);
    if (code) return code;
    LocalVisit mine = {.call = call, .kind = kind, .value = value, .shape = collective_shape(call)};
    m->visit[group.index] = mine;
    code = reach(seat, ARRIVED, error);
    if (code) return code;
    for (int32_t k = 0; k < group.size; k++) {
        if (m->visit[k].kind == kind && m->visit[k].shape == mine.shape) continue;
        collective_differs(call, kind, c->o.rank, m->visit[k].kind, mesh_member(&group, k), error);
        return local_end_run(w, error);
    }
    return follow_marks(seat, ARRIVED, error);
}

static int leave_meeting(const LocalSeat *seat, char *error) {
    int code = reach(seat, LEFT, error);
    return code ? code : follow_marks(seat, LEFT, error);
}

static int local_open(const TransportOptions *o, TransportContext **out, char *error) {
    TransportContext *c = calloc(1, sizeof *c);
    const void **from = calloc((size_t)COMM_KINDS * (size_t)o->ranks, sizeof *from);
    if (!c || !from) {
        free(c);
        free(from);
        return fail_with(error, EXIT_ENVIRONMENT, "no memory for the transport");
    }
    *c = (TransportContext){.o = *o, .world = o->shared, .from = from};
    atomic_store_explicit(&c->world->member[o->rank].pulse, o->pulse, memory_order_release);
    *out = c;
    return 0;
}

static void local_close(TransportContext *c) {
    if (!c) return;
    free(c->from);
    free(c);
}

static const CommBuffer *peer_buffer(const LocalSeat *s, int32_t k, uint32_t i) {
    return &s->m->visit[k].call->buffer[i];
}

static int local_all_gather(TransportContext *c, const Collective *call, char *error) {
    LocalSeat s;
    int code = enter_meeting(c, call, ALL_GATHER, 0, &s, error);
    if (code) return code;
    for (uint32_t i = 0; i < call->n; i++) {
        const CommBuffer *b = &call->buffer[i];
        uint64_t bytes = (uint64_t)b->elements * dtype_bytes(b->dtype);
        for (int32_t k = 0; k < s.group.size; k++) {
            char *to = (char *)b->out + (uint64_t)comm_part(b, k, s.group.size) * bytes;
            const void *from = peer_buffer(&s, k, i)->in;
            if (to == from || bytes == 0 || (call->shared && k != s.group.index)) continue;
            code = c->o.device->copy(c->o.context, call->stream, to, from, bytes, error);
            if (code) return local_quit(c, code);
        }
    }
    return leave_meeting(&s, error);
}

static int sum_elements(TransportContext *c, const LocalSeat *s, uint32_t i, void *to,
                        int64_t first, int64_t elements, char *error) {
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
    LocalSeat s;
    int code = enter_meeting(c, call, REDUCE_SCATTER, 0, &s, error);
    if (code) return code;
    for (uint32_t i = 0; i < call->n; i++) {
        const CommBuffer *b = &call->buffer[i];
        int64_t first = comm_part(b, s.group.index, s.group.size) * b->elements;
        code = sum_elements(c, &s, i, b->out, first, b->elements, error);
        if (code) return local_quit(c, code);
    }
    return leave_meeting(&s, error);
}

/* LocalMember k sums slice k of every buffer into its own memory; when all slices are summed,
 * everybody copies the others'. Nobody reads a slice that its owner may still write: slice j is
 * read only from member j, and written elsewhere only after all sums are done. */
static int local_all_reduce(TransportContext *c, const Collective *call, char *error) {
    LocalSeat s;
    int code = enter_meeting(c, call, ALL_REDUCE, 0, &s, error);
    if (code) return code;
    for (uint32_t i = 0; i < call->n; i++) {
        const CommBuffer *b = &call->buffer[i];
        int64_t slice = collective_slice(b, s.group.size);
        int64_t first = MIN(slice * s.group.index, b->elements);
        char *to = (char *)b->out + (uint64_t)first * dtype_bytes(b->dtype);
        code = sum_elements(c, &s, i, to, first, MIN(slice, b->elements - first), error);
        if (code) return local_quit(c, code);
    }
    code = reach(&s, REDUCED, error);
    if (!code) code = follow_marks(&s, REDUCED, error);
    if (code) return code;
    for (uint32_t i = 0; i < call->n; i++) {
        const CommBuffer *b = &call->buffer[i];
        int64_t slice = collective_slice(b, s.group.size);
        for (int32_t k = 0; k < s.group.size; k++) {
            int64_t first = slice * k, n = MIN(slice, b->elements - first);
            if (k == s.group.index || n <= 0) continue;
            uint64_t at = (uint64_t)first * dtype_bytes(b->dtype);
            code = c->o.device->copy(c->o.context, call->stream, (char *)b->out + at,
                                     (const char *)peer_buffer(&s, k, i)->out + at,
                                     (uint64_t)n * dtype_bytes(b->dtype), error);
            if (code) return local_quit(c, code);
        }
    }
    return leave_meeting(&s, error);
}

static int local_agree(TransportContext *c, const Collective *call, uint64_t mine, uint64_t *out,
                       char *error) {
    LocalSeat s;
    int code = enter_meeting(c, call, out ? AGREE : BARRIER, mine, &s, error);
    if (code) return code;
    if (out) *out = 0;
    for (int32_t k = 0; k < s.group.size && out; k++) *out = MAX(*out, s.m->visit[k].value);
    return leave_meeting(&s, error);
}

static void local_abort(TransportContext *c) { atomic_store(&c->world->aborted, true); }

const Transport transport_local = {.name = "local",
                                   .open = local_open,
                                   .close = local_close,
                                   .all_gather = local_all_gather,
                                   .reduce_scatter = local_reduce_scatter,
                                   .all_reduce = local_all_reduce,
                                   .send = local_send,
                                   .receive = local_receive,
                                   .agree = local_agree,
                                   .abort = local_abort};
