/* Pinned host memory between the caller's buffers and the GPU: staging.h.
 *
 * Places in the ring are numbers that only grow, modulo its size; a piece does not cross the end.
 * Pieces are freed in the order in which they were taken, each when the event after its copy has
 * happened, or all together when the rank's streams have been waited for. A step ends that way, so
 * events are queried only when the ring is full.
 */
#include <stdlib.h>
#include <string.h>

#include "staging.h"
#include "util.h"

enum { PIECE_BYTES = 1 << 20, ALIGN = 256, OUT_BYTES = 4096, OUTS = 16 };
enum { LEAST_BYTES = 8 << 20, MOST_BYTES = 256 << 20, LEAST_PIECES = 16, MOST_PIECES = 1 << 14 };

typedef struct StagedPiece {
    uint64_t place;
    cudaEvent_t done;
} StagedPiece;

typedef struct StagedOut { /* a copy to the host that waits to be delivered */
    void *to;
    uint32_t at, bytes;
} StagedOut;

struct Staging {
    char *ring, *out; /* pinned */
    uint64_t bytes, place;
    StagedPiece *piece; /* [pieces], `used` of them from `first` on */
    uint32_t pieces, first, used;
    StagedOut pending[OUTS];
    uint32_t n_pending, out_used;
};

/* ---- what a step needs */

static uint64_t calls_a_step(const Plan *p, int32_t rank) {
    uint64_t calls = 0, most = MOST_PIECES;
    for (uint64_t i = 0; i < p->n_calls; i++) {
        const PlanCall *c = &p->calls[i];
        bool mine = (uint32_t)rank - p->roles[c->role].first_rank < p->roles[c->role].n_ranks;
        if (mine && c->kind == PLAN_STEP && c->times > 0)
            calls = MIN(calls + MIN((uint64_t)c->times, most), most);
    }
    return calls;
}

/* A call is given its step state and one of the two halves of the staging state. */
static void size_ring(Staging *s, const Plan *p, int32_t rank) {
    uint64_t bytes = 0, pieces = 0;
    for (uint64_t i = 0; i < p->n_states; i++) {
        uint32_t role = p->states[i].role;
        if (role != STATE_STEP && role != STATE_STAGING) continue;
        uint64_t n = (uint64_t)type_bytes(&p->states[i].type);
        if (role == STATE_STAGING) n /= 2;
        n = MIN(n, (uint64_t)MOST_BYTES);
        pieces += (n + PIECE_BYTES - 1) / PIECE_BYTES;
        bytes += align_up(n, ALIGN);
    }
    uint64_t calls = calls_a_step(p, rank);
    /* one piece more: the ring's end may be too short for the piece that comes to it */
    bytes = calls * bytes + PIECE_BYTES;
    s->bytes = MAX((uint64_t)LEAST_BYTES, MIN(bytes, (uint64_t)MOST_BYTES));
    s->pieces = (uint32_t)MAX((uint64_t)LEAST_PIECES, MIN(calls * pieces, (uint64_t)MOST_PIECES));
}

/* ---- life */

cudaError_t staging_open(const RankInfo *rank, Staging **out) {
    Staging *s = *out = calloc(1, sizeof *s);
    if (!s) return cudaErrorMemoryAllocation;
    s->bytes = LEAST_BYTES;
    s->pieces = LEAST_PIECES;
    if (rank->plan) size_ring(s, rank->plan, rank->rank);
    s->piece = calloc(s->pieces, sizeof *s->piece);
    if (!s->piece) return cudaErrorMemoryAllocation;
    cudaError_t e = cudaHostAlloc((void **)&s->ring, s->bytes, cudaHostAllocDefault);
    if (!e) e = cudaHostAlloc((void **)&s->out, OUT_BYTES, cudaHostAllocDefault);
    for (uint32_t i = 0; i < s->pieces && !e; i++)
        e = cudaEventCreateWithFlags(&s->piece[i].done, cudaEventDisableTiming);
    return e;
}

void staging_close(Staging *s) {
    if (!s) return;
    if (s->ring) cudaFreeHost(s->ring);
    if (s->out) cudaFreeHost(s->out);
    for (uint32_t i = 0; s->piece && i < s->pieces; i++)
        if (s->piece[i].done) cudaEventDestroy(s->piece[i].done);
    free(s->piece);
    free(s);
}

/* ---- in */

/* Room for a piece, which becomes the newest; waits for the oldest ones where they are in the way.
 */
static cudaError_t take_piece(Staging *s, uint64_t bytes, StagedPiece **out) {
    uint64_t at = s->place % s->bytes;
    uint64_t place = at + bytes > s->bytes ? s->place + s->bytes - at : s->place;
    while (s->used &&
           (s->used == s->pieces || place + bytes - s->piece[s->first].place > s->bytes)) {
        cudaError_t e = cudaEventSynchronize(s->piece[s->first].done);
        if (e) return e;
        s->first = (s->first + 1) % s->pieces;
        s->used--;
    }
    *out = &s->piece[(s->first + s->used) % s->pieces];
    (*out)->place = place;
    s->place = place + bytes;
    return cudaSuccess;
}

cudaError_t staging_in(Staging *s, void *to, const void *from, uint64_t bytes,
                       cudaStream_t stream) {
    cudaError_t e = cudaSuccess;
    for (uint64_t at = 0; at < bytes && !e; at += PIECE_BYTES) {
        uint64_t n = MIN(bytes - at, (uint64_t)PIECE_BYTES);
        StagedPiece *piece;
        e = take_piece(s, align_up(n, ALIGN), &piece);
        if (e) return e;
        char *pinned = s->ring + piece->place % s->bytes;
        memcpy(pinned, (const char *)from + at, n);
        e = cudaMemcpyAsync((char *)to + at, pinned, n, cudaMemcpyHostToDevice, stream);
        if (!e) e = cudaEventRecord(piece->done, stream);
        s->used++;
    }
    return e;
}

/* ---- out */

cudaError_t staging_out(Staging *s, void *to, const void *from, uint64_t bytes,
                        cudaStream_t stream) {
    if (bytes > OUT_BYTES - s->out_used || s->n_pending == OUTS)
        return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream);
    StagedOut o = {to, s->out_used, (uint32_t)bytes};
    cudaError_t e = cudaMemcpyAsync(s->out + o.at, from, bytes, cudaMemcpyDeviceToHost, stream);
    if (e) return e;
    s->pending[s->n_pending++] = o;
    s->out_used += (uint32_t)align_up(bytes, 16);
    return cudaSuccess;
}

void staging_settled(Staging *s, bool good) {
    for (uint32_t i = 0; i < s->n_pending && good; i++)
        memcpy(s->pending[i].to, s->out + s->pending[i].at, s->pending[i].bytes);
    s->n_pending = s->out_used = 0;
    if (good) s->used = 0;
}
