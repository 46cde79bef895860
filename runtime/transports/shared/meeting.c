/* Meetings in shared memory, and the collectives and messages built on them: see meeting.h. */
#include "meeting.h"

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { RING = 4, SPINS = 400, BOUNCE_BYTES = 8 << 20, CACHE_LINE = 64 };

typedef struct BufferPlace { /* of one buffer, from where the member's memory begins */
    uint64_t in, out;
} BufferPlace;

/* What a member brings to a meeting. Its counters are those of the first member. A counter grows by
 * one for each member that comes; distances are small, so it may wrap. */
typedef struct Slot {
    _Atomic uint32_t count[MOMENTS];
    CollectiveKind kind;
    _Atomic uint64_t reached; /* sequence * MOMENTS + moment + 1: finds who is missing */
    uint64_t value, shape;
    void *mark[MOMENTS];
    BufferPlace place[]; /* [most_buffers] */
} Slot;

typedef struct OutboxPlace { /* a message */
    uint64_t at, bytes;      /* from where the sender's memory begins */
    void *filled, *free;     /* marks: of the sender when it has copied, then of the receiver */
} OutboxPlace;

typedef struct Outbox {
    _Atomic uint32_t sent, taken;
    OutboxPlace place[];
} Outbox;

MeetingLayout meeting_layout(const Plan *p, int32_t ranks) {
    uint64_t buffers = 1, places = 0;
    for (uint64_t k = 0; k < p->n_instrs; k++)
        if (plan_is_collective(&p->instrs[k]))
            buffers = MAX(buffers, comm_buffers(p, &p->instrs[k]));
    for (uint64_t k = 0; k < p->n_states; k++)
        if (p->states[k].role == STATE_OUTBOX)
            places = MAX(places, (uint64_t)p->states[k].type.dim[0]);
    MeetingLayout l = {.most_buffers = (uint32_t)buffers};
    l.slot_bytes = align_up(sizeof(Slot) + buffers * sizeof(BufferPlace), CACHE_LINE);
    l.outbox_bytes = align_up(sizeof(Outbox) + places * sizeof(OutboxPlace), CACHE_LINE);
    l.outboxes = comm_rows(p) * (uint64_t)ranks * RING * l.slot_bytes;
    l.bytes = l.outboxes + (places ? (uint64_t)ranks * p->n_states * l.outbox_bytes : 0);
    return l;
}

static Slot *slot_of(const Seat *s, int32_t k, uint64_t sequence) {
    const TransportContext *c = s->c;
    uint64_t ranks = (uint64_t)c->o.ranks, rank = (uint64_t)mesh_member(&s->group, k);
    uint64_t channel = comm_row(s->call->axes, s->call->purpose) * ranks + rank;
    return (Slot *)(void *)(c->at + (channel * RING + sequence % RING) * c->layout.slot_bytes);
}

static Slot *visit_of(const Seat *s, int32_t k) { return slot_of(s, k, s->call->sequence); }

static bool sees(const Seat *s, int32_t k) { return s->c->memory[mesh_member(&s->group, k)].seen; }

static bool sees_all(const Seat *s) { return s->here == (uint32_t)s->group.size; }

/* ---- waiting */

static void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static bool has_reached(_Atomic uint32_t *word, uint32_t target, uint32_t *seen) {
    *seen = atomic_load_explicit(word, memory_order_acquire);
    return (int32_t)(*seen - target) >= 0;
}

/* Sleeps while the counter is `seen`. Has a whole slice passed, and not been cut short by another
 * reason to wake? */
static bool sleep_at(const TransportContext *c, _Atomic uint32_t *word, uint32_t seen) {
    struct timespec limit = {.tv_nsec = SLICE_NS};
    double begun = monotonic_seconds();
    syscall(SYS_futex, word, FUTEX_WAIT | c->ways->futex, seen, &limit, NULL, 0);
    return monotonic_seconds() - begun >= 0.5e-9 * SLICE_NS;
}

static int wait_asleep(Seat *s, _Atomic uint32_t *word, uint32_t target, char *error) {
    const MeetingWays *ways = s->c->ways;
    Watched watched[s->c->o.ranks];
    memset(watched, 0, sizeof watched);
    s->watched = watched;
    ways->waits(s, true);
    for (uint32_t seen; !has_reached(word, target, &seen);) {
        int code = sleep_at(s->c, word, seen) ? ways->look(s, error) : 0;
        if (code) return code;
    }
    ways->waits(s, false);
    return 0;
}

/* Awake for a moment, where that costs nobody anything. */
static int wait_until(Seat *s, _Atomic uint32_t *word, uint32_t target, char *error) {
    uint32_t seen;
    for (int i = s->c->spin ? SPINS : 0; i > 0 && !has_reached(word, target, &seen); i--) relax();
    return has_reached(word, target, &seen) ? 0 : wait_asleep(s, word, target, error);
}

/* One more; wakes who sleeps at the counter when all `target` have come. */
static void count(const TransportContext *c, _Atomic uint32_t *word, uint32_t target) {
    if (atomic_fetch_add_explicit(word, 1, memory_order_acq_rel) + 1 == target)
        syscall(SYS_futex, word, FUTEX_WAKE | c->ways->futex, INT32_MAX, NULL, NULL, 0);
}

static bool is_there(const Seat *s, int32_t k) {
    uint64_t reached = s->sequence * MOMENTS + (uint64_t)s->moment + 1;
    return atomic_load(&slot_of(s, k, s->sequence)->reached) >= reached;
}

int32_t meeting_missing(const Seat *s, int32_t after) {
    if (s->message) return after < 0 ? s->message->peer : -1;
    for (int32_t k = 0; k < s->group.size; k++) {
        int32_t rank = mesh_member(&s->group, k);
        if (rank > after && sees(s, k) && !is_there(s, k)) return rank;
    }
    return -1;
}

int32_t meeting_first_there(const Seat *s) {
    int32_t k = 0;
    while (k < s->group.index && !is_there(s, k)) k++;
    return mesh_member(&s->group, k);
}

/* Of each counter of a meeting, when everybody has counted. */
static uint32_t target_of(const Seat *s, uint64_t sequence) {
    return ((uint32_t)(sequence / RING) + 1) * s->here;
}

/* Until all members that this one sees have come to that moment. */
static int wait_for(Seat *s, Moment moment, uint64_t sequence, char *error) {
    s->moment = moment;
    s->sequence = sequence;
    return wait_until(s, &slot_of(s, 0, sequence)->count[moment], target_of(s, sequence), error);
}

static void count_up(const Seat *s, Moment moment) {
    uint64_t sequence = s->call->sequence;
    atomic_store(&visit_of(s, s->group.index)->reached, sequence * MOMENTS + (uint64_t)moment + 1);
    count(s->c, &visit_of(s, 0)->count[moment], target_of(s, sequence));
}

/* ---- meetings */

/* What all members must have in common, as a number. */
static uint64_t shape_of(const Collective *call) {
    uint64_t h = hash_word(0, call->n);
    for (uint32_t i = 0; i < call->n; i++)
        h = hash_word(hash_word(h, (uint64_t)call->buffer[i].elements),
                      (uint64_t)call->buffer[i].dtype);
    return h;
}

/* Others read operands in the memory that they see; nothing else can be shown to them. */
static bool offset_of(const TransportContext *c, const void *at, uint64_t *offset) {
    const SeenMemory *own = &c->memory[c->o.rank];
    *offset = (uint64_t)((uintptr_t)at - own->base);
    return *offset < own->bytes;
}

static int bring(const Seat *s, uint64_t value, char *error) {
    const Collective *call = s->call;
    Slot *mine = visit_of(s, s->group.index);
    mine->kind = call->kind;
    mine->value = value;
    mine->shape = shape_of(call);
    for (uint32_t i = 0; i < call->n; i++) {
        BufferPlace *place = &mine->place[i];
        if (call->buffer[i].elements == 0) continue;
        if (!offset_of(s->c, call->buffer[i].in, &place->in) ||
            (!call->shared && !offset_of(s->c, call->buffer[i].out, &place->out)))
            return fail_with(error, EXIT_CORRUPT,
                             "%s: an operand of a collective lies outside the arena",
                             collective_label(call));
    }
    return 0;
}

static int check_members(const Seat *s, char *error) {
    const Slot *mine = visit_of(s, s->group.index);
    for (int32_t k = 0; k < s->group.size; k++) {
        const Slot *its = visit_of(s, k);
        if (!sees(s, k) || (its->kind == mine->kind && its->shape == mine->shape)) continue;
        return fail_with(error, EXIT_RANK,
                         "ranks disagree: %s (%s) on rank %d meets %s on rank %d%s",
                         collective_kind_name(mine->kind), collective_label(s->call), s->c->o.rank,
                         collective_kind_name(its->kind), mesh_member(&s->group, k),
                         its->kind == mine->kind ? " with different sizes" : "");
    }
    return 0;
}

/* Until everybody has come to that moment, and this rank's stream follows everybody's mark. The
 * mark is made again RING meetings later, when everybody has followed it: nobody comes to the next
 * meeting before. */
static int reach(Seat *s, Moment moment, char *error) {
    const Collective *call = s->call;
    const Device *d = s->c->o.device;
    uint32_t slot = (uint32_t)(call->sequence % RING) * COMM_KINDS + (uint32_t)call->purpose;
    void **mark = &visit_of(s, s->group.index)->mark[moment];
    bool marks = d->mark && call->n > 0;
    int code = 0;
    if (marks)
        code =
            d->mark(s->c->o.context, call->stream, slot * MOMENTS + (uint32_t)moment, mark, error);
    if (code) return code;
    /* Every counter advances once a round, even if no shares were summed. */
    if (moment == LEFT && call->kind != ALL_REDUCE) count_up(s, REDUCED);
    count_up(s, moment);
    code = wait_for(s, moment, call->sequence, error);
    if (!code && moment == ARRIVED) code = check_members(s, error);
    for (int32_t k = 0; k < s->group.size && marks && !code; k++)
        if (k != s->group.index)
            code = d->follow(s->c->o.context, call->stream, visit_of(s, k)->mark[moment], error);
    return code;
}

static int enter(Seat *s, TransportContext *c, const Collective *call, uint64_t value,
                 char *error) {
    MeshGroup group = comm_group(c->o.plan, c->o.ranks, call->axes, c->o.rank);
    *s = (Seat){.c = c, .call = call, .group = group};
    for (int32_t k = 0; k < group.size; k++) s->here += sees(s, k);
    int code = c->ways->begin(s, error);
    if (!code && call->n > c->layout.most_buffers)
        code = fail_with(error, EXIT_CORRUPT, "a collective with %u buffers", call->n);
    if (!code && call->sequence >= RING) code = wait_for(s, LEFT, call->sequence - RING, error);
    if (!code) code = bring(s, value, error);
    return code ? code : reach(s, ARRIVED, error);
}

/* Where others would wait for a rank that fails, they are told. */
static int end_with(TransportContext *c, int code, char *error) {
    return code && c->ways->fail ? c->ways->fail(c, code, error) : code;
}

/* ---- collectives */

static uint64_t width_of(const CommBuffer *b) { return dtype_bytes(b->dtype); }

static char *memory_of(const Seat *s, int32_t k, uint64_t at) {
    return (char *)(s->c->memory[mesh_member(&s->group, k)].base + at);
}

static int copy_bytes(const Seat *s, void *to, const void *from, uint64_t bytes, char *error) {
    if (to == from || bytes == 0) return 0;
    return s->c->o.device->copy(s->c->o.context, s->call->stream, to, from, bytes, error);
}

static int exchange(const Seat *s, uint32_t i, FlowOf flow_of, char *error) {
    return sees_all(s) ? 0 : s->c->ways->exchange(s, i, flow_of, error);
}

/* The row of this collective's purpose and the rank in from, value and bounce. */
static size_t scratch_row(const Seat *s, int32_t rank) {
    return (size_t)s->call->purpose * (size_t)s->c->o.ranks + (size_t)rank;
}

static Flow gather_flow(const Seat *s, int32_t k, uint32_t i) {
    const CommBuffer *b = &s->call->buffer[i];
    uint64_t bytes = (uint64_t)b->elements * width_of(b);
    uint64_t part = (uint64_t)comm_part(b, k, s->group.size);
    return (Flow){b->in, (char *)b->out + part * bytes, bytes, bytes};
}

static int gather(const Seat *s, uint32_t i, char *error) {
    int code = exchange(s, i, gather_flow, error);
    for (int32_t k = 0; k < s->group.size && !code; k++) {
        Flow f = gather_flow(s, k, i);
        if (sees(s, k) && (!s->call->shared || k == s->group.index))
            code = copy_bytes(s, f.receive, memory_of(s, k, visit_of(s, k)->place[i].in),
                              f.receives, error);
    }
    return code;
}

/* Of `length` elements, member k sums `share`, or fewer at the end: the first one, and how many. */
static int64_t first_summed(const Seat *s, int32_t k, uint32_t i) {
    return MIN(s->share * comm_part(&s->call->buffer[i], k, s->group.size), s->length);
}
static int64_t count_summed(const Seat *s, int32_t k, uint32_t i) {
    return MIN(s->share, s->length - first_summed(s, k, i));
}

/* To a member that is not seen we send our operand of its share of the sum; from it we receive its
 * operand of our share. */
static Flow sum_flow(const Seat *s, int32_t k, uint32_t i) {
    const CommBuffer *b = &s->call->buffer[i];
    int64_t mine = count_summed(s, s->group.index, i), its = count_summed(s, k, i);
    size_t row = scratch_row(s, mesh_member(&s->group, k));
    return (Flow){.send = (const char *)b->in +
                          (uint64_t)(first_summed(s, k, i) + s->done) * width_of(b),
                  .receive = s->c->bounce + row * s->c->bounce_bytes,
                  .sends = (uint64_t)MAX(MIN(s->step, its - s->done), 0) * width_of(b),
                  .receives = (uint64_t)MAX(MIN(s->step, mine - s->done), 0) * width_of(b)};
}

/* This member's share of every member's `in`, added in rank order into `to`. */
static int sum(Seat *s, uint32_t i, char *to, char *error) {
    TransportContext *c = s->c;
    const CommBuffer *b = &s->call->buffer[i];
    const void **from = c->from + scratch_row(s, 0);
    int64_t first = first_summed(s, s->group.index, i), mine = count_summed(s, s->group.index, i);
    s->step = sees_all(s) ? s->share : (int64_t)(c->bounce_bytes / width_of(b));
    for (s->done = 0; s->done < s->share; s->done += s->step) {
        uint64_t at = (uint64_t)(first + s->done) * width_of(b);
        for (int32_t k = 0; k < s->group.size; k++)
            from[k] = sees(s, k) ? memory_of(s, k, visit_of(s, k)->place[i].in + at)
                                 : sum_flow(s, k, i).receive;
        int code = exchange(s, i, sum_flow, error);
        int64_t now = MIN(s->step, mine - s->done);
        if (!code && now > 0)
            code = c->o.device->reduce(c->o.context, s->call->stream, b->dtype,
                                       to + (uint64_t)s->done * width_of(b), from, s->group.size,
                                       now, error);
        if (code) return code;
    }
    return 0;
}

/* What each sums in an all-reduce; the last ones may have fewer. */
static void divide(Seat *s, uint32_t i) {
    enum { SHARE_ALIGN = 64 };
    uint64_t n = (uint64_t)s->call->buffer[i].elements, size = (uint64_t)s->group.size;
    s->share = (int64_t)align_up((n + size - 1) / size, SHARE_ALIGN);
    s->length = (int64_t)n;
}

static Flow shares_flow(const Seat *s, int32_t k, uint32_t i) {
    const CommBuffer *b = &s->call->buffer[i];
    int32_t own = s->group.index;
    return (Flow){.send = (const char *)b->out + (uint64_t)first_summed(s, own, i) * width_of(b),
                  .receive = (char *)b->out + (uint64_t)first_summed(s, k, i) * width_of(b),
                  .sends = (uint64_t)count_summed(s, own, i) * width_of(b),
                  .receives = (uint64_t)count_summed(s, k, i) * width_of(b)};
}

/* Member k has summed share k of every buffer into its own memory. Share j is read from member j
 * only, and written elsewhere only after all sums that are seen are done and the parts that others
 * need are sent. */
static int spread(Seat *s, uint32_t i, char *error) {
    const CommBuffer *b = &s->call->buffer[i];
    divide(s, i);
    int code = exchange(s, i, shares_flow, error);
    for (int32_t k = 0; k < s->group.size && !code; k++) {
        Flow f = shares_flow(s, k, i);
        uint64_t at = visit_of(s, k)->place[i].out + (uint64_t)(f.receive - (char *)b->out);
        if (k != s->group.index && sees(s, k))
            code = copy_bytes(s, f.receive, memory_of(s, k, at), f.receives, error);
    }
    return code;
}

static int reduce(Seat *s, uint32_t i, char *error) {
    const CommBuffer *b = &s->call->buffer[i];
    if (s->call->kind == REDUCE_SCATTER) {
        s->share = b->elements;
        s->length = b->elements * s->group.size;
        return sum(s, i, b->out, error);
    }
    divide(s, i);
    return sum(s, i, (char *)b->out + (uint64_t)first_summed(s, s->group.index, i) * width_of(b),
               error);
}

int meeting_collect(TransportContext *c, const Collective *call, char *error) {
    Seat s;
    int code = enter(&s, c, call, 0, error);
    for (uint32_t i = 0; i < call->n && !code; i++)
        code = call->kind == ALL_GATHER ? gather(&s, i, error) : reduce(&s, i, error);
    if (!code && call->kind == ALL_REDUCE) {
        code = reach(&s, REDUCED, error);
        for (uint32_t i = 0; i < call->n && !code; i++) code = spread(&s, i, error);
    }
    if (!code) code = reach(&s, LEFT, error);
    return end_with(c, code, error);
}

static Flow value_flow(const Seat *s, int32_t k, uint32_t i) {
    (void)i;
    uint64_t *value = s->c->value + scratch_row(s, 0);
    return (Flow){(const char *)&value[s->group.index], (char *)&value[k], sizeof *value,
                  sizeof *value};
}

int meeting_agree(TransportContext *c, const Collective *call, uint64_t mine, uint64_t *out,
                  char *error) {
    Seat s;
    int code = enter(&s, c, call, mine, error);
    if (!code) {
        uint64_t *value = c->value + scratch_row(&s, 0), most = 0;
        value[s.group.index] = mine;
        code = exchange(&s, 0, value_flow, error);
        for (int32_t k = 0; k < s.group.size && !code; k++)
            most = MAX(most, sees(&s, k) ? visit_of(&s, k)->value : value[k]);
        if (!code && out) *out = most;
    }
    if (!code) code = reach(&s, LEFT, error);
    return end_with(c, code, error);
}

/* ---- messages */

static Outbox *outbox_of(const TransportContext *c, int32_t rank, uint32_t box) {
    uint64_t k = (uint64_t)rank * c->o.plan->n_states + box;
    return (Outbox *)(void *)(c->at + c->layout.outboxes + k * c->layout.outbox_bytes);
}

/* On a device whose launches return early: after the mark `before`, and before the mark *after. */
static int copy_message(TransportContext *c, const StageMessage *m, void *to, const void *from,
                        void *before, void **after, char *error) {
    const Device *d = c->o.device;
    uint32_t number = device_outbox_mark(m->box, m->sequence);
    int code = before ? d->follow(c->o.context, m->stream, before, error) : 0;
    if (!code) code = d->copy(c->o.context, m->stream, to, from, m->bytes, error);
    if (!code && d->mark) code = d->mark(c->o.context, m->stream, number, after, error);
    return code;
}

int meeting_send(TransportContext *c, const StageMessage *m, char *error) {
    Seat s = {.c = c, .message = m};
    Outbox *box = outbox_of(c, c->o.rank, m->box);
    OutboxPlace *place = &box->place[message_place(m)];
    bool again = m->sequence >= m->places;
    int code = c->ways->begin(&s, error);
    if (!code && again)
        code = wait_until(&s, &box->taken, (uint32_t)(m->sequence - m->places + 1), error);
    void *before = again ? place->free : NULL;
    if (!code) code = copy_message(c, m, m->slot, m->value, before, &place->filled, error);
    if (code) return end_with(c, code, error);
    offset_of(c, m->slot, &place->at);
    place->bytes = m->bytes;
    count(c, &box->sent, (uint32_t)m->sequence + 1);
    return 0;
}

int meeting_receive(TransportContext *c, const StageMessage *m, char *error) {
    Seat s = {.c = c, .message = m};
    Outbox *box = outbox_of(c, m->peer, m->box);
    OutboxPlace *place = &box->place[message_place(m)];
    int code = c->ways->begin(&s, error);
    if (!code) code = wait_until(&s, &box->sent, (uint32_t)m->sequence + 1, error);
    if (!code && place->bytes != m->bytes)
        code = fail_with(error, EXIT_RANK, "%.200s: rank %d sends %llu bytes, not %llu", m->label,
                         m->peer, (unsigned long long)place->bytes, (unsigned long long)m->bytes);
    const char *from = (const char *)(c->memory[m->peer].base + place->at);
    if (!code) code = copy_message(c, m, m->value, from, place->filled, &place->free, error);
    if (code) return end_with(c, code, error);
    count(c, &box->taken, (uint32_t)m->sequence + 1);
    return 0;
}

/* ---- open and close */

void meeting_close(TransportContext *c) {
    if (!c) return;
    free(c->memory);
    free(c->from);
    free(c->value);
    free(c->bounce);
    free(c);
}

int meeting_open(const TransportOptions *o, const MeetingWays *ways, int32_t seen,
                 TransportContext **out, char *error) {
    size_t ranks = (size_t)o->ranks, far = seen < o->ranks ? ranks : 0;
    TransportContext *c = *out = calloc(1, sizeof *c);
    if (c) {
        *c = (TransportContext){.o = *o, .ways = ways, .layout = meeting_layout(o->plan, o->ranks)};
        c->spin = sysconf(_SC_NPROCESSORS_ONLN) >= seen;
        c->bounce_bytes = align_up(MAX(BOUNCE_BYTES / ranks, 65536), 4096);
        c->memory = calloc(ranks, sizeof *c->memory);
        c->from = calloc(COMM_KINDS * ranks, sizeof *c->from);
        c->value = calloc(COMM_KINDS * ranks, sizeof *c->value);
        c->bounce = malloc(COMM_KINDS * far * c->bounce_bytes + 1);
    }
    if (c && c->memory && c->from && c->value && c->bounce) return 0;
    meeting_close(c);
    *out = NULL;
    return fail_with(error, EXIT_ENVIRONMENT, "out of memory for the transport");
}
