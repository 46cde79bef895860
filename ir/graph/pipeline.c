/* Orders of micro-batches on the stages of a pipeline: see pipeline.h. */
#include "pipeline.h"

typedef struct CallList {
    const Policy *p;
    Arena *arena;
    int64_t roles, chunks, micro; /* chunks: stages of a role */
    uint32_t role;
    StageCalls calls;
    uint32_t *slot_of; /* by chunk and micro-batch */
    bool *taken;       /* by slot */
} CallList;

static uint32_t take_slot(CallList *l) {
    uint32_t slot = 0;
    while (l->taken[slot]) slot++;
    l->taken[slot] = true;
    l->calls.slots = MAX(l->calls.slots, slot + 1);
    return slot;
}

static void add_call(CallList *l, StagePart part, int64_t chunk, int64_t micro) {
    int64_t stage = l->role + chunk * l->roles;
    bool last = stage + 1 == l->roles * l->chunks;
    if (last && part == STAGE_BACKWARD) return; /* its forward has done that */
    uint32_t *slot = &l->slot_of[chunk * l->micro + micro];
    if (!last && part == STAGE_FORWARD) *slot = take_slot(l);
    if (!last && part == STAGE_BACKWARD) l->taken[*slot] = false;
    l->calls.at[l->calls.n++] =
        (StageCall){last ? STAGE_WHOLE : part, (int32_t)stage, micro, last ? 0 : *slot};
}

/* Forward number k of the role. As many micro-batches as there are roles go through one of its
 * stages before the next of its stages takes them; gpipe sends all of them at once. */
static void add_forward(CallList *l, int64_t k) {
    int64_t together = l->p->pipeline == PIPELINE_INTERLEAVED ? l->roles : l->micro;
    int64_t group = k / (together * l->chunks), within = k % (together * l->chunks);
    add_call(l, STAGE_FORWARD, within / together, group * together + within % together);
}

static void add_backward(CallList *l, int64_t k) {
    int64_t together = l->p->pipeline == PIPELINE_INTERLEAVED ? l->roles : l->micro;
    int64_t group = k / (together * l->chunks), within = k % (together * l->chunks);
    add_call(l, STAGE_BACKWARD, l->chunks - 1 - within / together,
             group * together + within % together);
}

/* Forwards before the first backward. */
static int64_t warm_up(const CallList *l) {
    int64_t after = l->roles - 1 - l->role;
    switch (l->p->pipeline) {
    case PIPELINE_ONE_F_ONE_B: return after;
    case PIPELINE_INTERLEAVED: return 2 * after + (l->chunks - 1) * l->roles;
    case PIPELINE_GPIPE:
    case PIPELINE_KINDS: break;
    }
    return l->micro * l->chunks;
}

/* With two, a rank goes on while its last message waits. Under gpipe, the last stage has turned all
 * micro-batches around before the stage before it takes the first one back. */
int64_t pipeline_outbox(const Policy *p, int32_t from, int32_t to) {
    bool last = MAX(from, to) + 1 == MAX(p->stages, mesh_stages(&p->mesh));
    return p->pipeline == PIPELINE_GPIPE && last ? MAX(p->micro_batches, 2) : 2;
}

StageCalls pipeline_calls(const Policy *p, uint32_t role, Arena *a) {
    int64_t roles = mesh_stages(&p->mesh);
    CallList l = {.p = p,
                  .arena = a,
                  .roles = roles,
                  .chunks = MAX(p->stages, roles) / roles,
                  .micro = p->micro_batches,
                  .role = role};
    int64_t n = l.micro * l.chunks, ahead = MIN(n, warm_up(&l));
    l.calls.at = arena_array(a, StageCall, 2 * n);
    l.slot_of = arena_array(a, uint32_t, n);
    l.taken = arena_array(a, bool, n + 1);
    for (int64_t k = 0; k < ahead; k++) add_forward(&l, k);
    for (int64_t k = ahead; k < n; k++) {
        add_forward(&l, k);
        add_backward(&l, k - ahead);
    }
    for (int64_t k = n - ahead; k < n; k++) add_backward(&l, k);
    return l.calls;
}
