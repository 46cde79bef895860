/* Transport `tcp`: the collectives of a plan on CPUs, between processes that meet over TCP. It is
 * for launchers that MPI does not know, such as torchrun: a cluster's command can be rehearsed
 * without GPUs.
 *
 * All data goes through rank 0, one piece at a time, as host collectives (calls.c). This is slow,
 * but needs memory for one piece only. The device adds up sums in rank order, so results have the
 * same bits as with transport local. A rank has only one host collective under way, so a collective
 * begins when the one before it is over. A message between stages stays in its sender's outbox
 * until its receiver asks for it.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interface.h"
#include "world.h"

struct TransportContext {
    TransportOptions o;       /* shared: the world */
    char *piece;              /* [members][bytes of a piece] */
    pthread_mutex_t lock;     /* over all that follows, which the world's thread reads */
    uint64_t finished, begun; /* collectives and messages */
    Collective now;           /* what this rank waits in, while begun > finished */
};

/* Called by the world's thread: what this rank is doing. */
static void report_state(void *user, RankState *out) {
    TransportContext *c = user;
    pthread_mutex_lock(&c->lock);
    *out = (RankState){.finished = c->finished,
                       .waits = c->begun > c->finished,
                       .axes = c->now.axes,
                       .purpose = c->now.purpose,
                       .sequence = c->now.sequence};
    snprintf(out->label, sizeof out->label, "%s", collective_label(&c->now));
    pthread_mutex_unlock(&c->lock);
    rank_state_signs(out, c->o.pulse);
}

/* No rank asks for a message before all have outboxes. */
static int open_boxes(TransportContext *c, char *error) {
    MeshGroup all = comm_group(c->o.plan, c->o.ranks, AXES_WORLD, c->o.rank);
    int code = tcp_boxes(c->o.shared, c->o.plan, error);
    return code ? code : tcp_agree(c->o.shared, &all, 0, NULL, "the opening of outboxes", error);
}

static int open_context(const TransportOptions *o, TransportContext **out, char *error) {
    TransportContext *c = calloc(1, sizeof *c);
    if (c) c->piece = malloc(TCP_GATHER_BYTES);
    if (!c || !c->piece) {
        free(c);
        return fail_with(error, EXIT_ENVIRONMENT, "out of memory for the transport");
    }
    c->o = *o;
    pthread_mutex_init(&c->lock, NULL);
    WorldEvents events = {.plan = o->plan, .state = report_state, .user = c};
    tcp_watch(c->o.shared, &events);
    *out = c;
    return plan_has_stages(o->plan) ? open_boxes(c, error) : 0;
}

static void close_context(TransportContext *c) {
    tcp_watch(c->o.shared, NULL);
    pthread_mutex_destroy(&c->lock);
    free(c->piece);
    free(c);
}

/* Notes for report_state that this rank waits in `call`; end_collective notes that it is over. */
static void begin_collective(TransportContext *c, const Collective *call) {
    pthread_mutex_lock(&c->lock);
    c->now = *call;
    c->begun++;
    pthread_mutex_unlock(&c->lock);
}

static void end_collective(TransportContext *c) {
    pthread_mutex_lock(&c->lock);
    c->finished++;
    c->now.label = NULL;
    pthread_mutex_unlock(&c->lock);
}

/* One collective of one buffer, cut into pieces of its elements. */
typedef struct BufferStep {
    TransportContext *c;
    const Collective *call;
    const CommBuffer *buffer;
    MeshGroup group;
    int64_t width, most; /* bytes of an element; elements of a piece */
    char *error;
} BufferStep;

/* n elements of every member from `first` on, into the pieces. */
static int gather_pieces(const BufferStep *s, int64_t first, int64_t n) {
    const char *from = (const char *)s->buffer->in + first * s->width;
    return tcp_gather(s->c->o.shared, &s->group, from, (size_t)(n * s->width), s->c->piece,
                      collective_label(s->call), s->error);
}

static void keep_piece(const BufferStep *s, int32_t member, int64_t at, int64_t n) {
    memcpy((char *)s->buffer->out + at * s->width, s->c->piece + member * n * s->width,
           (size_t)(n * s->width));
}

static int sum_pieces(const BufferStep *s, int64_t at, int64_t n) {
    const void *from[s->group.size];
    for (int32_t k = 0; k < s->group.size; k++) from[k] = s->c->piece + k * n * s->width;
    return s->c->o.device->reduce(s->c->o.context, s->call->stream, s->buffer->dtype,
                                  (char *)s->buffer->out + at * s->width, from, s->group.size, n,
                                  s->error);
}

static int gather_step(const BufferStep *s, int64_t at, int64_t n) {
    int code = gather_pieces(s, at, n);
    for (int32_t k = 0; k < s->group.size && !code; k++)
        keep_piece(s, k, comm_part(s->buffer, k, s->group.size) * s->buffer->elements + at, n);
    return code;
}

static int scatter_step(const BufferStep *s, int64_t at, int64_t n) {
    int code = 0;
    for (int32_t k = 0; k < s->group.size && !code; k++) {
        code =
            gather_pieces(s, comm_part(s->buffer, k, s->group.size) * s->buffer->elements + at, n);
        if (!code && k == s->group.index) code = sum_pieces(s, at, n);
    }
    return code;
}

static int reduce_step(const BufferStep *s, int64_t at, int64_t n) {
    int code = gather_pieces(s, at, n);
    return code ? code : sum_pieces(s, at, n);
}

static int collect(TransportContext *c, const Collective *call, char *error) {
    BufferStep s = {.c = c,
                    .call = call,
                    .group = comm_group(c->o.plan, c->o.ranks, call->axes, c->o.rank),
                    .error = error};
    int (*step)(const BufferStep *s, int64_t at, int64_t n) = call->kind == ALL_GATHER ? gather_step
                                                              : call->kind == REDUCE_SCATTER
                                                                  ? scatter_step
                                                                  : reduce_step;
    int code = 0;
    begin_collective(c, call);
    for (uint32_t i = 0; i < call->n; i++) {
        s.buffer = &call->buffer[i];
        s.width = (int64_t)dtype_bytes(s.buffer->dtype);
        s.most = TCP_GATHER_BYTES / s.group.size / s.width;
        for (int64_t at = 0; at < s.buffer->elements && !code; at += s.most)
            code = step(&s, at, MIN(s.most, s.buffer->elements - at));
    }
    end_collective(c);
    return code;
}

/* A message is shown to the world as a collective of its own family. */
static int pass_message(TransportContext *c, const StageMessage *m,
                        int (*pass)(TransportWorld *w, const StageMessage *m, char *error),
                        char *error) {
    Collective shown = {.purpose = COMM_MESSAGES, .sequence = m->sequence, .label = m->label};
    begin_collective(c, &shown);
    int code = pass(c->o.shared, m, error);
    end_collective(c);
    return code;
}

static int send_message(TransportContext *c, const StageMessage *m, char *error) {
    return pass_message(c, m, tcp_post, error);
}

static int receive_message(TransportContext *c, const StageMessage *m, char *error) {
    return pass_message(c, m, tcp_fetch, error);
}

static int transport_agree(TransportContext *c, const Collective *call, uint64_t mine,
                           uint64_t *out, char *error) {
    MeshGroup group = comm_group(c->o.plan, c->o.ranks, call->axes, c->o.rank);
    return tcp_agree(c->o.shared, &group, mine, out, collective_label(call), error);
}

/* Nothing to do: tcp_fail ends every wait. */
static void abort_context(TransportContext *c) { (void)c; }

static const Transport transport = {.name = "tcp",
                                    .one_at_a_time = true,
                                    .open = open_context,
                                    .close = close_context,
                                    .collect = collect,
                                    .send = send_message,
                                    .receive = receive_message,
                                    .agree = transport_agree,
                                    .abort = abort_context};

TCP_MODULE(&transport, tcp_join)
