/* Signs of life between hosts. In a thread of its own, however long its rank computes or writes,
 * the first process of each host keeps telling those of the other hosts whom each rank of its host
 * waits for. Its host's board keeps what it hears, and for how long it has heard nothing. So a rank
 * that waits can tell a host at work from one that is cut off, and a rank that is missing from one
 * that waits for it.
 *
 * With its last message a host says that it is about to leave; the thread ends when all have. A
 * host whose launcher's daemon has ended says that too: mpirun then ends all ranks within a second,
 * and those that do not wait for that host would not know why.
 */
#include <stdio.h>
#include <stdlib.h>

#include "world.h"

enum { APART_SLICES = 5 };
enum { LEAVES = 1, ORPHANED = 2 }; /* what a host says of itself */
/* And of each of its ranks: Sign.waits, and the halves of Sign.call. */
enum { RANK_WORDS = WAITS + 2 };

typedef struct Peer {           /* another host */
    int32_t index, first, size; /* of its first process; its first rank; its ranks */
    MPI_Request in, out;
    int32_t *heard, *said;  /* LEAVES | ORPHANED; then RANK_WORDS of each rank of the sender */
    bool ended, told, deaf; /* its last message came; ours went; MPI cannot reach it any more */
} Peer;

typedef struct Beats {
    World *world;
    Peer *peer;
    int32_t peers;
} Beats;

static bool lives_on(const World *w, int32_t rank, int32_t first) {
    return w->process[rank].first == first;
}

static bool make_peer(const World *w, int32_t index, int32_t first, Peer *p) {
    *p = (Peer){.index = index, .first = first, .in = MPI_REQUEST_NULL, .out = MPI_REQUEST_NULL};
    for (int32_t r = 0; r < w->ranks; r++) p->size += lives_on(w, r, first);
    p->heard = calloc(1 + RANK_WORDS * (size_t)p->size, sizeof *p->heard);
    p->said = calloc(1 + RANK_WORDS * (size_t)w->locals, sizeof *p->said);
    return p->heard && p->said;
}

/* The first processes have the order of their ranks. */
static bool make_peers(Beats *b) {
    const World *w = b->world;
    int32_t index = 0;
    bool enough = (b->peer = calloc((size_t)w->ranks, sizeof *b->peer)) != NULL;
    for (int32_t r = 0; r < w->ranks && enough; r++) {
        if (!lives_on(w, r, r)) continue;
        if (r != w->rank) enough = make_peer(w, index, r, &b->peer[b->peers++]);
        index++;
    }
    return enough;
}

/* Into the memory of one that is out of reach MPI may still write. */
static void free_peers(Beats *b) {
    for (int32_t i = 0; i < b->peers; i++) {
        if (b->peer[i].deaf) continue;
        free(b->peer[i].heard);
        free(b->peer[i].said);
    }
    free(b->peer);
}

static void send_beat(const World *w, Peer *p) {
    int done = 0;
    if (p->deaf || MPI_Test(&p->out, &done, MPI_STATUS_IGNORE)) p->deaf = true;
    if (p->deaf || !done || p->told) return;
    p->told = atomic_load(&w->leaving);
    p->said[0] = (p->told ? LEAVES : 0) | (world_lost_launcher(w) ? ORPHANED : 0);
    for (int32_t k = 0; k < w->locals; k++) {
        const Sign *s = &w->board->sign[w->local_rank[k]];
        uint64_t call = atomic_load(&s->call);
        int32_t *word = &p->said[1 + RANK_WORDS * k];
        for (int i = 0; i < WAITS; i++) word[i] = atomic_load(&s->waits[i]);
        word[WAITS] = (int32_t)(call >> 32);
        word[WAITS + 1] = (int32_t)call;
    }
    if (MPI_Isend(p->said, 1 + RANK_WORDS * w->locals, MPI_INT32_T, p->index, 0, w->first_ones,
                  &p->out))
        p->deaf = true;
}

static bool ask_for_beat(const World *w, Peer *p) {
    return !MPI_Irecv(p->heard, 1 + RANK_WORDS * p->size, MPI_INT32_T, p->index, 0, w->first_ones,
                      &p->in);
}

static void keep_silence(const World *w, const Peer *p, bool heard) {
    for (int32_t r = p->first, k = 1; r < w->ranks; r++) {
        if (!lives_on(w, r, p->first)) continue;
        Sign *s = &w->board->sign[r];
        if (heard) {
            const int32_t *word = &p->heard[k];
            for (int i = 0; i < WAITS; i++) atomic_store(&s->waits[i], word[i]);
            atomic_store(&s->call, (uint64_t)word[WAITS] << 32 | (uint32_t)word[WAITS + 1]);
            k += RANK_WORDS;
        }
        atomic_store(&s->silent, heard ? 0 : atomic_load(&s->silent) + 1);
    }
}

/* The run is over. Rank 0 says so: fsdp-run starts it on mpirun's own host. */
static void report_orphans(const World *w, const Peer *p) {
    char text[NOTICE_TEXT], others[32] = "";
    if (world_lost_launcher(w)) return; /* so mpirun itself has ended */
    if (p->size > 1) snprintf(others, sizeof others, " and %d more", p->size - 1);
    snprintf(
        text, sizeof text,
        "the launcher's daemon on %s, which started rank %d%s, has ended\n"
        "help: the kernel's log (dmesg) there tells whether memory ran out; start the run again",
        w->process[p->first].host, p->first, others);
    if (!world_note(w, p->first, EXIT_RANK, text) || w->rank != 0) return;
    if (!w->options.may_speak || w->options.may_speak()) fprintf(stderr, "error: %s\n", text);
}

/* All that has come; a slice of silence where nothing has. */
static void receive_beats(const World *w, Peer *p) {
    int there = 0;
    bool any = false;
    while (!p->ended && !p->deaf) {
        if (MPI_Test(&p->in, &there, MPI_STATUS_IGNORE)) p->deaf = true;
        if (p->deaf || !there) break;
        any = true;
        keep_silence(w, p, true);
        p->ended = p->heard[0] & LEAVES;
        if (p->heard[0] & ORPHANED) report_orphans(w, p);
        if (!p->ended && !ask_for_beat(w, p)) p->deaf = true;
    }
    if (!any && !p->ended) keep_silence(w, p, false);
}

static bool has_parted(const Peer *p) {
    return p->deaf || (p->ended && p->told && p->out == MPI_REQUEST_NULL);
}

/* False: all have said that they leave. */
static bool exchange_beats(Beats *b, bool speak) {
    bool all = atomic_load(&b->world->leaving);
    speak = speak || all || world_lost_launcher(b->world);
    for (int32_t i = 0; i < b->peers; i++) {
        Peer *p = &b->peer[i];
        if (speak) send_beat(b->world, p);
        receive_beats(b->world, p);
        all = all && has_parted(p);
    }
    return !all;
}

static void *keep_meeting(void *context) {
    Beats b = {.world = context};
    if (make_peers(&b)) {
        for (int32_t i = 0; i < b.peers; i++) b.peer[i].deaf = !ask_for_beat(b.world, &b.peer[i]);
        for (int slice = 0; exchange_beats(&b, slice % APART_SLICES == 0); slice++)
            pause_ms(SLICE_NS / 1000000);
    }
    free_peers(&b);
    return NULL;
}

void beats_begin(World *w) {
    if (w->local == 0) w->beats = !pthread_create(&w->beat_thread, NULL, keep_meeting, w);
}

void beats_end(World *w) {
    if (!w->beats) return;
    atomic_store(&w->leaving, 1);
    pthread_join(w->beat_thread, NULL);
    w->beats = false;
}
