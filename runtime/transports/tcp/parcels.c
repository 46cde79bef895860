/* Messages between the stages of a pipeline, by way of the chief.
 *
 * A message lies in the outbox of its sender until the receiver asks for it (FETCH), a piece at a
 * time; the sender's thread of service.c answers each with that piece (PARCEL), or when the message
 * is there. So a sender never waits for a receiver, except for a free place in its outbox, and
 * nobody has to keep a message that was not asked for.
 */
#include <string.h>

#include "link.h"

/* The connection that leads to a rank. */
static Link *way_to(World *w, int32_t rank) { return &w->link[w->rank == 0 ? rank : 0]; }

/* Answers what the outbox was asked for, if it has that. */
static bool answer(World *w, ParcelBox *box) {
    const Parcel *p = &box->wanted;
    if (!box->asked || p->sequence >= box->sent) return true;
    const PostedMessage *message = &box->message[p->sequence % box->places];
    if (p->sequence != box->taken || p->whole != message->bytes || p->at > p->whole ||
        p->bytes > p->whole - p->at)
        return false;
    box->asked = false;
    const char *from = message->at + p->at;
    if (p->at + p->bytes == p->whole) box->taken++;
    if (w->rank == 0 && p->to == 0) return parcels_take(w, 0, p, from);
    link_send(way_to(w, p->to), PARCEL, p, sizeof *p, from, p->bytes);
    return true;
}

bool parcels_ask(World *w, int32_t from, const Parcel *p) {
    bool good = p->from >= 0 && p->from < w->ranks && p->to >= 0 && p->to < w->ranks &&
                p->bytes > 0 && p->bytes <= SHARE_LIMIT && from == (w->rank == 0 ? p->to : 0);
    if (!good || w->over) return good;
    if (w->rank == 0 && p->from != 0) {
        link_send(&w->link[p->from], FETCH, p, sizeof *p, NULL, 0);
        return true;
    }
    if (p->from != w->rank || p->box >= w->boxes || w->box[p->box].asked) return false;
    w->box[p->box].wanted = *p;
    w->box[p->box].asked = true;
    return answer(w, &w->box[p->box]);
}

bool parcels_take(World *w, int32_t from, const Parcel *p, const char *bytes) {
    bool known = p->to >= 0 && p->to < w->ranks && from == (w->rank == 0 ? p->from : 0);
    if (!known || w->over) return known;
    if (w->rank == 0 && p->to != 0) {
        link_send(&w->link[p->to], PARCEL, p, sizeof *p, bytes, p->bytes);
        return true;
    }
    if (!w->piece || memcmp(p, &w->fetched, sizeof *p)) return false;
    memcpy(w->piece, bytes, p->bytes);
    w->piece = NULL;
    return true;
}

bool parcels_post(World *w, uint32_t box, const char *slot, uint64_t bytes) {
    ParcelBox *b = &w->box[box];
    b->message[b->sent++ % b->places] = (PostedMessage){slot, bytes};
    return answer(w, b);
}
