/* Messages between the stages of a pipeline.
 *
 * Within a host a receiver copies from the outbox in the sender's arena; two counters of each
 * outbox, in memory that the processes share, say how many messages were sent and taken. Between
 * hosts the outbox is what MPI_Isend reads: its place is free again when that request is over. A
 * tag for each outbox keeps the messages of one apart from those of another; MPI keeps those of one
 * in order.
 *
 * A rank that waits tells for whom, as in a collective, so that a rank that is lost is found
 * through others that only wait (world.c).
 */
#include <stdlib.h>

#include "world.h"

enum { SPINS = 400, PIECE_BYTES = 1 << 30 };

typedef struct HostOutbox {
    _Atomic uint32_t sent, taken;
} HostOutbox;

struct Messages {
    TransportOptions o;
    World *world;
    const Shared *arena;  /* [locals] */
    Shared *shared;       /* [locals]; the outboxes are with the first one: [ranks][states] */
    MPI_Request *request; /* [states][places][pieces]: to other hosts, under way */
    uint64_t places;      /* of the largest outbox */
    uint32_t pieces;      /* of the largest message */
};

static HostOutbox *outbox_of(const Messages *x, int32_t rank, uint32_t box) {
    HostOutbox *first = (HostOutbox *)(void *)x->shared[0].at;
    return first + (uint64_t)rank * x->o.plan->n_states + box;
}

static MPI_Request *requests_of(const Messages *x, uint32_t box, uint64_t place) {
    return x->request + (box * x->places + place) * x->pieces;
}

/* ---- within a host */

static bool is_near(const Messages *x, const StageMessage *m) {
    return x->world->process[m->peer].local >= 0;
}

static int wait_for(Messages *x, const StageMessage *m, _Atomic uint32_t *word, uint32_t target,
                    char *error) {
    Wait wait = {.world = x->world, .message = m};
    if (counter_spin(word, target, x->world->spin ? SPINS : 0)) return 0;
    for (uint32_t seen; !counter_reached(word, target, &seen);) {
        if (!counter_sleep(word, seen, FUTEX_WAIT)) continue;
        int code = world_slice(&wait, m->peer, error);
        if (code) return code;
    }
    world_waits_no_more(&wait);
    return 0;
}

static int copy_value(Messages *x, const StageMessage *m, void *to, const void *from, char *error) {
    return x->o.device->copy(x->o.context, m->stream, to, from, m->bytes, error);
}

static int send_near(Messages *x, const StageMessage *m, char *error) {
    HostOutbox *box = outbox_of(x, x->o.rank, m->box);
    uint32_t taken = (uint32_t)(m->sequence - m->places + 1);
    int code = m->sequence < m->places ? 0 : wait_for(x, m, &box->taken, taken, error);
    if (!code) code = copy_value(x, m, m->slot, m->value, error);
    if (!code) counter_add(&box->sent, (uint32_t)m->sequence + 1, FUTEX_WAKE);
    return code;
}

static int receive_near(Messages *x, const StageMessage *m, char *error) {
    HostOutbox *box = outbox_of(x, m->peer, m->box);
    int code = wait_for(x, m, &box->sent, (uint32_t)m->sequence + 1, error);
    if (code) return code;
    const PlanState *state = &x->o.plan->states[m->box];
    const char *from = x->arena[x->world->process[m->peer].local].at + state->address +
                       message_place(m) * (uint64_t)state->type.dim[1];
    code = copy_value(x, m, m->value, from, error);
    if (!code) counter_add(&box->taken, (uint32_t)m->sequence + 1, FUTEX_WAKE);
    return code;
}

/* ---- between hosts */

/* Its communicator has messages of tag 0 besides: the end of the run. */
static int tag_of(const StageMessage *m) { return 1 + (int)m->box; }

static int piece_bytes(const StageMessage *m, uint32_t k) {
    uint64_t from = (uint64_t)k * PIECE_BYTES;
    return from < m->bytes ? (int)MIN(PIECE_BYTES, m->bytes - from) : 0;
}

static int finish(Messages *x, const StageMessage *m, MPI_Request *request, char *error) {
    Wait wait = {.world = x->world, .message = m};
    int32_t peer[x->pieces];
    for (uint32_t k = 0; k < x->pieces; k++) peer[k] = m->peer;
    return world_finish(&wait, (int)x->pieces, request, peer, error);
}

static int send_far(Messages *x, const StageMessage *m, char *error) {
    MPI_Request *request = requests_of(x, m->box, message_place(m));
    int code = finish(x, m, request, error), failed = 0;
    if (!code) code = copy_value(x, m, m->slot, m->value, error);
    for (uint32_t k = 0; !code && !failed && piece_bytes(m, k); k++)
        failed = MPI_Isend(m->slot + (uint64_t)k * PIECE_BYTES, piece_bytes(m, k), MPI_BYTE,
                           m->peer, tag_of(m), x->world->alarm, &request[k]);
    return failed ? world_mpi_error(failed, m->label, error) : code;
}

static int receive_far(Messages *x, const StageMessage *m, char *error) {
    MPI_Request request[x->pieces];
    int failed = 0;
    for (uint32_t k = 0; k < x->pieces; k++) request[k] = MPI_REQUEST_NULL;
    for (uint32_t k = 0; !failed && piece_bytes(m, k); k++)
        failed = MPI_Irecv((char *)m->value + (uint64_t)k * PIECE_BYTES, piece_bytes(m, k),
                           MPI_BYTE, m->peer, tag_of(m), x->world->alarm, &request[k]);
    if (failed) return world_mpi_error(failed, m->label, error);
    return finish(x, m, request, error);
}

/* ---- both */

int messages_send(Messages *x, const StageMessage *m, char *error) {
    world_tells_call(x->world, x->o.pulse);
    return is_near(x, m) ? send_near(x, m, error) : send_far(x, m, error);
}

int messages_receive(Messages *x, const StageMessage *m, char *error) {
    world_tells_call(x->world, x->o.pulse);
    return is_near(x, m) ? receive_near(x, m, error) : receive_far(x, m, error);
}

/* What the receivers have asked for by then: a step ends when all have all of it. */
void messages_finish(Messages *x) {
    char error[ERROR_BYTES];
    if (!x || atomic_load(&x->world->aborted)) return;
    for (uint32_t box = 0; box < x->o.plan->n_states; box++)
        for (uint64_t place = 0; place < x->places; place++) {
            StageMessage last = {.peer = -1, .box = box, .label = "the last messages"};
            if (finish(x, &last, requests_of(x, box, place), error)) return;
        }
}

void messages_close(Messages *x) {
    if (!x) return;
    shared_free(x->world, x->shared);
    free(x->shared);
    free(x->request);
    free(x);
}

/* The larger of what outboxes have along a dimension: places, or bytes of each. */
static uint64_t largest_outbox(const Plan *p, int dimension) {
    int64_t most = 1;
    for (uint64_t k = 0; k < p->n_states; k++)
        if (p->states[k].role == STATE_OUTBOX) most = MAX(most, p->states[k].type.dim[dimension]);
    return (uint64_t)most;
}

int messages_open(const TransportOptions *o, World *w, const Shared *arena, Messages **out,
                  char *error) {
    const Plan *p = o->plan;
    if (!plan_has_stages(p)) return 0;
    Messages *x = *out = calloc(1, sizeof *x);
    if (x) {
        *x = (Messages){.o = *o, .world = w, .arena = arena};
        x->pieces = (uint32_t)((largest_outbox(p, 1) + PIECE_BYTES - 1) / PIECE_BYTES);
        x->places = largest_outbox(p, 0);
        x->shared = calloc((uint64_t)w->locals, sizeof *x->shared);
        x->request = calloc(p->n_states * x->places * x->pieces, sizeof *x->request);
    }
    if (!x || !x->shared || !x->request)
        return fail_with(error, EXIT_ENVIRONMENT, "out of memory for the transport");
    for (uint64_t k = 0; k < p->n_states * x->places * x->pieces; k++)
        x->request[k] = MPI_REQUEST_NULL;
    uint64_t bytes = (uint64_t)w->ranks * p->n_states * sizeof(HostOutbox);
    return shared_exchange(w, w->local == 0 ? bytes : 0, false, x->shared, error);
}
