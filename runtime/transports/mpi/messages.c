/* Messages between the stages of a pipeline on different hosts (within one: meeting.h). The outbox
 * is what MPI_Isend reads: its place is free again when that request is over. A tag for each outbox
 * keeps the messages of one apart from those of another; MPI keeps those of one in order.
 */
#include <stdlib.h>

#include "world.h"

enum { PIECE_BYTES = 1 << 30 };

static MPI_Request *requests_of(const World *w, uint32_t box, uint64_t place) {
    return w->message + (box * w->places + place) * w->pieces;
}

/* Its communicator has messages of tag 0 besides: the end of the run. */
static int tag_of(const StageMessage *m) { return 1 + (int)m->box; }

static int piece_bytes(const StageMessage *m, uint32_t k) {
    uint64_t from = (uint64_t)k * PIECE_BYTES;
    return from < m->bytes ? (int)MIN(PIECE_BYTES, m->bytes - from) : 0;
}

static int finish(World *w, const StageMessage *m, MPI_Request *request, char *error) {
    Wait wait = {.world = w, .message = m};
    int32_t peer[w->pieces];
    for (uint32_t k = 0; k < w->pieces; k++) peer[k] = m->peer;
    return world_finish(&wait, (int)w->pieces, request, peer, error);
}

int messages_send(TransportContext *c, const StageMessage *m, char *error) {
    World *w = c->o.shared;
    if (c->memory[m->peer].seen) return meeting_send(c, m, error);
    world_tells_call(w, c->o.pulse);
    MPI_Request *request = requests_of(w, m->box, message_place(m));
    int code = finish(w, m, request, error), failed = 0;
    if (!code)
        code = c->o.device->copy(c->o.context, m->stream, m->slot, m->value, m->bytes, error);
    for (uint32_t k = 0; !code && !failed && piece_bytes(m, k); k++)
        failed = MPI_Isend(m->slot + (uint64_t)k * PIECE_BYTES, piece_bytes(m, k), MPI_BYTE,
                           m->peer, tag_of(m), w->alarm, &request[k]);
    return failed ? world_mpi_error(failed, m->label, error) : code;
}

int messages_receive(TransportContext *c, const StageMessage *m, char *error) {
    World *w = c->o.shared;
    if (c->memory[m->peer].seen) return meeting_receive(c, m, error);
    world_tells_call(w, c->o.pulse);
    MPI_Request request[w->pieces];
    int failed = 0;
    for (uint32_t k = 0; k < w->pieces; k++) request[k] = MPI_REQUEST_NULL;
    for (uint32_t k = 0; !failed && piece_bytes(m, k); k++)
        failed = MPI_Irecv((char *)m->value + (uint64_t)k * PIECE_BYTES, piece_bytes(m, k),
                           MPI_BYTE, m->peer, tag_of(m), w->alarm, &request[k]);
    return failed ? world_mpi_error(failed, m->label, error) : finish(w, m, request, error);
}

/* What the receivers have asked for by then: a step ends when all have all of it. */
void messages_finish(World *w) {
    char error[ERROR_BYTES];
    if (!w->message || atomic_load(&w->aborted)) return;
    for (uint32_t box = 0; box < w->plan->n_states; box++)
        for (uint64_t place = 0; place < w->places; place++) {
            StageMessage last = {.peer = -1, .box = box, .label = "the last messages"};
            if (finish(w, &last, requests_of(w, box, place), error)) return;
        }
}

/* The largest size of an outbox along a dimension: its places, or the bytes of each. */
static uint64_t largest_outbox(const Plan *p, int dimension) {
    int64_t most = 1;
    for (uint64_t k = 0; k < p->n_states; k++)
        if (p->states[k].role == STATE_OUTBOX) most = MAX(most, p->states[k].type.dim[dimension]);
    return (uint64_t)most;
}

int messages_open(World *w, char *error) {
    const Plan *p = w->plan;
    if (!plan_has_stages(p)) return 0;
    w->pieces = (uint32_t)((largest_outbox(p, 1) + PIECE_BYTES - 1) / PIECE_BYTES);
    w->places = largest_outbox(p, 0);
    uint64_t n = p->n_states * w->places * w->pieces;
    w->message = calloc(n, sizeof *w->message);
    if (!w->message) return fail_with(error, EXIT_ENVIRONMENT, "out of memory for the transport");
    for (uint64_t k = 0; k < n; k++) w->message[k] = MPI_REQUEST_NULL;
    return 0;
}
