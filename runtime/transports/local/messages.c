/* Messages between the stages of a pipeline: the receiver copies out of the sender's outbox, which
 * lies in the memory of the same process. Two counters of each outbox say how many messages were
 * sent and taken; its places are used in turn.
 *
 * On a device whose launches return early the counters order what the ranks issue, and marks of
 * their streams order when it runs, as in a meeting.
 */
#include <stdio.h>
#include <string.h>

#include "local_world.h"

static int report_silence(TransportContext *c, const StageMessage *m, int32_t seconds,
                          char *error) {
    char at[240], where[320];
    local_last_work(c->world, m->peer, at, sizeof at);
    missing_place_text(m->label, "", m->sequence, COMM_MESSAGES, where, sizeof where);
    snprintf(error, ERROR_BYTES,
             "rank %d made no progress for %d s %s; rank %d waits for it in %.160s\n"
             "help: FSDP_TIMEOUT=SECONDS waits longer",
             m->peer, seconds, at, c->o.rank, where);
    return local_end_run(c->world, error);
}

static int wait_for_peer(TransportContext *c, const StageMessage *m, _Atomic uint32_t *word,
                         uint32_t target, char *error) {
    LocalWorld *w = c->world;
    Watched watched = {0};
    if (counter_spin(word, target, w->spin ? SPINS : 0)) return 0;
    _Atomic uint32_t *waiting = &w->member[c->o.rank].waiting;
    int32_t seconds;
    int code = 0;
    atomic_fetch_add(waiting, 1);
    for (uint32_t seen; !code && !counter_reached(word, target, &seen);) {
        if (atomic_load(&w->aborted))
            code = local_abandoned(w, m->label, error);
        else if (counter_sleep(word, seen, FUTEX_WAIT_PRIVATE) &&
                 (seconds = local_stood_still(w, m->peer, &watched)))
            code = report_silence(c, m, seconds, error);
    }
    atomic_fetch_sub(waiting, 1);
    return code;
}

static LocalOutbox *outbox_of(const LocalWorld *w, int32_t rank, uint32_t box) {
    return &w->outbox[(size_t)rank * w->plan->n_states + box];
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

int local_send(TransportContext *c, const StageMessage *m, char *error) {
    LocalOutbox *box = outbox_of(c->world, c->o.rank, m->box);
    LocalMessage *place = &box->place[message_place(m)];
    atomic_fetch_add(&c->world->member[c->o.rank].collectives, 1);
    bool again = m->sequence >= m->places;
    uint32_t taken = (uint32_t)(m->sequence - m->places + 1);
    int code = again ? wait_for_peer(c, m, &box->taken, taken, error) : 0;
    void *before = again ? place->free : NULL;
    if (!code) code = copy_message(c, m, m->slot, m->value, before, &place->filled, error);
    if (code) return local_quit(c, code);
    place->at = m->slot;
    place->bytes = m->bytes;
    counter_add(&box->sent, (uint32_t)m->sequence + 1, FUTEX_WAKE_PRIVATE);
    return 0;
}

int local_receive(TransportContext *c, const StageMessage *m, char *error) {
    LocalOutbox *box = outbox_of(c->world, m->peer, m->box);
    LocalMessage *place = &box->place[message_place(m)];
    atomic_fetch_add(&c->world->member[c->o.rank].collectives, 1);
    int code = wait_for_peer(c, m, &box->sent, (uint32_t)m->sequence + 1, error);
    if (!code && place->bytes != m->bytes) {
        snprintf(error, ERROR_BYTES, "%.200s: rank %d sends %llu bytes, not %llu", m->label,
                 m->peer, (unsigned long long)place->bytes, (unsigned long long)m->bytes);
        return local_end_run(c->world, error);
    }
    if (!code) code = copy_message(c, m, m->value, place->at, place->filled, &place->free, error);
    if (code) return local_quit(c, code);
    counter_add(&box->taken, (uint32_t)m->sequence + 1, FUTEX_WAKE_PRIVATE);
    return 0;
}
