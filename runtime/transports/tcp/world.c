/* The functions of world.h, which the two transports call: each passes its request to the thread of
 * service.c and waits for the answer or for the end of the run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "link.h"

/* How long a rank waits at most .. */
enum {
    SEEN_SLICES = 20,   /* until the others have confirmed that they know of the end */
    REASON_SLICES = 12, /* for news that explain why a collective failed */
    CLOSE_SLICES = 20,  /* until the others have closed their connections */
    WORD_SLICES = 10    /* while the other ranks of its host look whether it speaks for the host */
};

/* Waits until something changes, at most one slice. The caller holds the lock. */
static void wait_slice(World *w) {
    struct timespec until = clock_after(CLOCK_MONOTONIC, SLICE_MS * 1000000);
    pthread_cond_timedwait(&w->changed, &w->lock, &until);
}

static int64_t now_slices(void) { return monotonic_ms() / SLICE_MS; }

static int run_has_ended(const World *w, char *error) {
    return fail_with(error, EXIT_RANK, "%.500s", w->ending.text);
}

static bool all_closed(const World *w) {
    for (int32_t r = 1; r < w->ranks; r++)
        if (link_is_open(&w->link[r])) return false;
    return true;
}

int32_t tcp_local_ranks(const TransportWorld *w) { return w->locals; }

/* ---- host collectives */

static int call_chief(World *w, HostCall *c, const void *payload, void *result,
                      uint32_t result_bytes, const char *label, char *error) {
    snprintf(c->label, sizeof c->label, "%s", label ? label : "a decision");
    pthread_mutex_lock(&w->lock);
    w->result = result;
    w->result_bytes = result_bytes;
    w->result_there = false;
    w->calling = true;
    if (!w->over && w->rank == 0)
        calls_take(w, 0, c, payload);
    else if (!w->over)
        link_send(&w->link[0], CALL, c, sizeof *c, payload, c->bytes);
    world_wake(w);
    while (!w->over && !w->result_there) wait_slice(w);
    w->calling = false;
    int code = w->result_there ? 0 : run_has_ended(w, error);
    pthread_mutex_unlock(&w->lock);
    return code;
}

static HostCall whole_world(const World *w, CallKind kind) {
    return (HostCall){.kind = kind, .group = mesh_line(0, 1, w->ranks, w->rank)};
}

int tcp_agree(TransportWorld *w, const MeshGroup *group, uint64_t mine, uint64_t *out,
              const char *label, char *error) {
    uint64_t none;
    HostCall c = {.kind = CALL_AGREE, .group = *group, .value = mine};
    return call_chief(w, &c, NULL, out ? out : &none, sizeof none, label, error);
}

int tcp_share(TransportWorld *w, int32_t root, void *bytes, size_t n, const char *label,
              char *error) {
    if (n > SHARE_LIMIT || root < 0 || root >= w->ranks)
        return fail_with(
            error, EXIT_CORRUPT,
            "%s: cannot broadcast %zu bytes from rank %d (at most %d bytes, from an existing rank)",
            label, n, root, (int)SHARE_LIMIT);
    HostCall c = whole_world(w, CALL_SHARE);
    c.root = root;
    c.value = n;
    c.bytes = w->rank == root ? (uint32_t)n : 0;
    return call_chief(w, &c, bytes, bytes, (uint32_t)n, label, error);
}

int tcp_gather(TransportWorld *w, const MeshGroup *group, const void *bytes, size_t n, void *out,
               const char *label, char *error) {
    HostCall c = {.kind = CALL_GATHER, .group = *group, .value = n, .bytes = (uint32_t)n};
    return call_chief(w, &c, bytes, out, (uint32_t)(n * (size_t)group->size), label, error);
}

/* If the reports differ or one has failed, every rank ends because of it. None may leave before the
 * others have the reports too, or these would report a lost rank instead. So there is a second
 * round, which ends when all have them, and the chief stays until the others have closed their
 * connections. */
int tcp_compare(TransportWorld *w, const StartReport *mine, StartReport *all, char *error) {
    HostCall c = whole_world(w, CALL_COMPARE);
    c.bytes = sizeof *mine;
    uint32_t bytes = (uint32_t)((size_t)w->ranks * sizeof *all);
    int code = call_chief(w, &c, mine, all, bytes, "the start of the run", error);
    if (code) return code;
    bool bad = false;
    for (int32_t r = 0; r < w->ranks; r++)
        bad = bad || all[r].code || all[r].plan != all[0].plan || all[r].options != all[0].options;
    if (!bad) return 0;
    MeshGroup group = mesh_line(0, 1, w->ranks, w->rank);
    char late[ERROR_BYTES];
    if (tcp_agree(w, &group, 0, NULL, "the end of the start", late)) return 0;
    pthread_mutex_lock(&w->lock);
    w->gone = true; /* all end now, each by itself */
    int64_t until = now_slices() + SEEN_SLICES;
    bool chief = w->rank == 0;
    while (!(chief ? all_closed(w) : ends_flushed(w)) && now_slices() < until) wait_slice(w);
    pthread_mutex_unlock(&w->lock);
    return 0;
}

/* ---- messages between stages */

int tcp_boxes(TransportWorld *w, const Plan *p, char *error) {
    ParcelBox *box = calloc(p->n_states, sizeof *box);
    bool good = box;
    for (uint64_t k = 0; good && k < p->n_states; k++) {
        if (p->states[k].role != STATE_OUTBOX) continue;
        box[k].places = (uint64_t)p->states[k].type.dim[0];
        box[k].message = calloc(box[k].places, sizeof *box->message);
        good = box[k].message;
    }
    pthread_mutex_lock(&w->lock);
    w->box = box;
    w->boxes = box ? (uint32_t)p->n_states : 0;
    pthread_mutex_unlock(&w->lock);
    if (good) return 0;
    return fail_with(error, EXIT_ENVIRONMENT, "out of memory for the transport");
}

int tcp_post(TransportWorld *w, const StageMessage *m, char *error) {
    ParcelBox *box = &w->box[m->box];
    pthread_mutex_lock(&w->lock);
    while (!w->over && box->taken + box->places <= m->sequence) wait_slice(w);
    int code = w->over ? run_has_ended(w, error) : 0;
    pthread_mutex_unlock(&w->lock);
    if (code) return code;
    memcpy(m->slot, m->value, m->bytes);
    pthread_mutex_lock(&w->lock);
    if (!parcels_post(w, m->box, m->slot, m->bytes))
        code = fail_with(error, EXIT_RANK, "%.200s: rank %d asks for another message", m->label,
                         m->peer);
    world_wake(w);
    pthread_mutex_unlock(&w->lock);
    return code;
}

static int fetch_piece(World *w, const Parcel *p, char *to, char *error) {
    pthread_mutex_lock(&w->lock);
    w->fetched = *p;
    w->piece = to;
    if (!w->over && w->rank == 0)
        parcels_ask(w, 0, p);
    else if (!w->over)
        link_send(&w->link[0], FETCH, p, sizeof *p, NULL, 0);
    world_wake(w);
    while (!w->over && w->piece) wait_slice(w);
    int code = w->piece ? run_has_ended(w, error) : 0;
    w->piece = NULL;
    pthread_mutex_unlock(&w->lock);
    return code;
}

int tcp_fetch(TransportWorld *w, const StageMessage *m, char *error) {
    Parcel p = {
        .from = m->peer, .to = w->rank, .box = m->box, .sequence = m->sequence, .whole = m->bytes};
    int code = 0;
    for (; p.at < p.whole && !code; p.at += p.bytes) {
        p.bytes = (uint32_t)MIN(p.whole - p.at, (uint64_t)SHARE_LIMIT);
        code = fetch_piece(w, &p, (char *)m->value + p.at, error);
    }
    return code;
}

/* ---- ends */

int tcp_ended(TransportWorld *w, char *error) {
    pthread_mutex_lock(&w->lock);
    int code = w->over ? run_has_ended(w, error) : 0;
    pthread_mutex_unlock(&w->lock);
    return code;
}

int tcp_reason(TransportWorld *w, char *error) {
    pthread_mutex_lock(&w->lock);
    int64_t until = now_slices() + REASON_SLICES;
    while (!w->over && now_slices() < until) wait_slice(w);
    int code = w->over ? run_has_ended(w, error) : EXIT_RANK;
    pthread_mutex_unlock(&w->lock);
    return code;
}

bool tcp_fail(TransportWorld *w, int32_t rank, int *code, const char *text) {
    pthread_mutex_lock(&w->lock);
    ends_failed(w, w->rank, *code, text);
    world_wake(w);
    /* The thread of service.c decides, if rank 0 and the deputy do not. */
    while (!w->over) wait_slice(w);
    int64_t until = now_slices() + SEEN_SLICES;
    while (!ends_flushed(w) && now_slices() < until) wait_slice(w);
    /* The socket keeps its name until all ranks of this host have looked for it. */
    until = now_slices() + WORD_SLICES;
    while (w->word >= 0 && now_slices() < until) wait_slice(w);
    bool first = w->ending.speaker == w->rank && !w->spoken;
    /* This rank lost another, and its own text is an echo of that. */
    if (first && *code == EXIT_RANK && strncmp(text, w->ending.text, ERROR_BYTES / 2)) {
        ends_speak(w);
        first = false;
    }
    if (first) w->spoken = true;
    *code = run_end_code(w->ending.code);
    pthread_mutex_unlock(&w->lock);
    (void)rank;
    return first;
}

void tcp_watch(TransportWorld *w, const WorldEvents *events) {
    pthread_mutex_lock(&w->lock);
    w->plan = events ? events->plan : NULL;
    pthread_mutex_unlock(&w->lock);
    pthread_mutex_lock(&w->events_lock);
    w->has_events = events != NULL;
    if (events) w->events = *events;
    pthread_mutex_unlock(&w->events_lock);
    world_wake(w);
}

/* ---- leaving */

static void leave_together(World *w) {
    pthread_mutex_lock(&w->lock);
    w->leaving = true;
    if (w->rank != 0) {
        link_send(&w->link[0], BYE, NULL, 0, NULL, 0);
        if (w->deputy != w->rank) link_send(&w->link[w->deputy], BYE, NULL, 0, NULL, 0);
    }
    world_wake(w);
    while (!w->over && !w->gone) wait_slice(w);
    bool lost = w->over && !w->gone;
    /* The chief must not close before the others have received GONE. */
    int64_t until = now_slices() + CLOSE_SLICES;
    while (!lost && w->rank == 0 && !all_closed(w) && now_slices() < until) wait_slice(w);
    until = now_slices() + SEEN_SLICES;
    while (lost && !ends_flushed(w) && now_slices() < until) wait_slice(w);
    if (lost) {
        fflush(stdout);
        if (w->ending.speaker == w->rank) ends_speak(w);
        _exit(EXIT_RANK);
    }
    pthread_mutex_unlock(&w->lock);
}

void world_free(World *w) {
    service_stop(w);
    for (int32_t r = 0; r < w->ranks && w->link; r++) link_close(&w->link[r]);
    for (int i = 0; i < STRANGERS; i++) link_close(&w->stranger_link[i]);
    if (w->listener >= 0) close(w->listener);
    if (w->wake >= 0) close(w->wake);
    if (w->word >= 0) close(w->word);
    for (int32_t r = 0; r < w->ranks && w->pending; r++) free(w->pending[r].payload);
    free(w->pending);
    for (uint32_t k = 0; k < w->boxes; k++) free(w->box[k].message);
    free(w->box);
    free(w->answer);
    free(w->look.there);
    free(w->look.stand);
    free(w->look.sign);
    free(w->process);
    free(w->link);
    free(w->polled);
    free(w);
}

void tcp_leave(TransportWorld *w, bool orderly) {
    if (orderly) leave_together(w);
    world_free(w);
}
