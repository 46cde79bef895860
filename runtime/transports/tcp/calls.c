/* Host collectives, on the chief. It collects one call from each member of a group; when all have
 * arrived and are of the same kind, it sends every member the result. A rank waits for the result
 * before it sends its next call, so there is at most one call per rank: calls are stored by rank
 * and need no sequence numbers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "link.h"

/* The calls of a running step (CALL_AGREE, CALL_GATHER) wait this many times the time-out, because
 * other ranks may be reading a large checkpoint. Nobody waits for a dead rank: losing one ends the
 * run. */
enum { PATIENCE = 10 };

static bool is_group(const World *w, int32_t rank, const HostCall *c) {
    const MeshGroup *g = &c->group;
    if (c->kind < CALL_COMPARE || c->kind > CALL_GATHER || c->bytes > SHARE_LIMIT) return false;
    if (g->base < 0 || g->size < 1 || g->size > w->ranks || g->index < 0 || g->index >= g->size)
        return false;
    int64_t size = 1, last = g->base;
    for (int j = 0; j < MESH_RUNS; j++) {
        if (g->count[j] < 1 || g->step[j] < (g->count[j] > 1) || g->step[j] > w->ranks)
            return false;
        size *= g->count[j];
        last += (int64_t)(g->count[j] - 1) * g->step[j];
        if (size > g->size) return false;
    }
    return size == g->size && last < w->ranks && mesh_member(g, g->index) == rank && c->root >= 0 &&
           c->root < w->ranks;
}

static bool same_group(const MeshGroup *g, const MeshGroup *h) {
    return g->base == h->base && g->size == h->size &&
           !memcmp(g->count, h->count, sizeof g->count) &&
           !memcmp(g->step, h->step, sizeof g->step);
}

static bool same_call(const HostCall *a, const HostCall *b) {
    return a->kind == b->kind && a->root == b->root && same_group(&a->group, &b->group);
}

/* Has the rank called for this group? A rank that waits in another group's call comes later. */
static bool has_come(const PendingCall *p, const MeshGroup *g) {
    return p->there && same_group(&p->call.group, g);
}

static void answer_members(World *w, const HostCall *c, const void *bytes, uint32_t n) {
    for (int32_t k = 0; k < c->group.size; k++) {
        int32_t r = mesh_member(&c->group, k);
        PendingCall *p = &w->pending[r];
        free(p->payload);
        *p = (PendingCall){.there = false};
        if (r != w->rank) {
            link_send(&w->link[r], RESULT, bytes, n, NULL, 0);
        } else if (w->calling && n == w->result_bytes) {
            memcpy(w->result, bytes, n);
            w->result_there = true;
        }
    }
}

static void report_disagreement(World *w, int32_t a, int32_t b) {
    char text[ERROR_BYTES];
    snprintf(text, sizeof text,
             "ranks disagree: rank %d is in %.100s, rank %d in %.100s, or their sizes differ\n"
             "help: use the same plan, options and fsdp-run for all ranks",
             a, w->pending[a].call.label, b, w->pending[b].call.label);
    ends_decide(w, w->rank, EXIT_RANK, text);
}

/* All members are there and agree on what they do. */
static void complete_call(World *w, const HostCall *call) {
    HostCall c = *call;
    uint64_t largest = 0;
    uint32_t n = 0;
    switch ((CallKind)c.kind) {
    case CALL_AGREE:
        for (int32_t k = 0; k < c.group.size; k++)
            largest = MAX(largest, w->pending[mesh_member(&c.group, k)].call.value);
        memcpy(w->answer, &largest, n = sizeof largest);
        break;
    case CALL_SHARE: {
        const PendingCall *root = &w->pending[c.root];
        if (root->call.bytes) memcpy(w->answer, root->payload, root->call.bytes);
        n = root->call.bytes;
        break;
    }
    case CALL_COMPARE:
    case CALL_GATHER:
        for (int32_t r = 0; r < c.group.size; r++, n += c.bytes)
            memcpy(w->answer + n, w->pending[mesh_member(&c.group, r)].payload, c.bytes);
        break;
    }
    answer_members(w, &c, w->answer, n);
}

static bool sizes_agree(const World *w, const HostCall *c, int32_t rank) {
    const HostCall *its = &w->pending[rank].call;
    if (c->kind == CALL_COMPARE)
        return its->bytes == sizeof(StartReport) && c->group.size == w->ranks;
    if (c->kind == CALL_SHARE)
        return c->group.size == w->ranks && its->value == c->value &&
               its->bytes == (rank == c->root ? its->value : 0);
    if (c->kind == CALL_GATHER)
        return its->bytes > 0 && its->bytes == c->bytes &&
               (uint64_t)c->bytes * (uint64_t)c->group.size <= SHARE_LIMIT;
    return its->bytes == 0;
}

void calls_take(World *w, int32_t rank, const HostCall *call, const char *payload) {
    PendingCall *p = &w->pending[rank];
    if (w->over) return;
    if (p->there || !is_group(w, rank, call)) {
        ends_lost(w, rank, LOSS_INVALID);
        return;
    }
    *p = (PendingCall){.there = true, .call = *call};
    if (call->bytes) {
        p->payload = malloc(call->bytes);
        if (!p->payload) {
            ends_decide(w, w->rank, EXIT_ENVIRONMENT, "out of memory for the transport");
            return;
        }
        memcpy(p->payload, payload, call->bytes);
    }
    for (int32_t k = 0; k < call->group.size; k++)
        if (!has_come(&w->pending[mesh_member(&call->group, k)], &call->group)) return;
    int32_t first = mesh_member(&call->group, 0);
    const HostCall *wanted = &w->pending[first].call;
    for (int32_t k = 0; k < call->group.size; k++) {
        int32_t r = mesh_member(&call->group, k);
        if (!same_call(wanted, &w->pending[r].call) || !sizes_agree(w, wanted, r)) {
            report_disagreement(w, first, r == first ? rank : r);
            return;
        }
    }
    complete_call(w, wanted);
}

/* A member that is missing from the call in which `rank` waits: the first that waits nowhere, or
 * else the first that waits in another call. -1: the rank waits nowhere itself. */
static int32_t missing_from(const World *w, int32_t rank) {
    const HostCall *c = &w->pending[rank].call;
    int32_t found = -1;
    if (!w->pending[rank].there) return -1;
    for (int32_t k = 0; k < c->group.size; k++) {
        int32_t r = mesh_member(&c->group, k);
        if (!w->pending[r].there) return r;
        if (found < 0 && !same_call(c, &w->pending[r].call)) found = r;
    }
    return found;
}

static bool is_member(const MeshGroup *g, int32_t rank) {
    for (int32_t k = 0; k < g->size; k++)
        if (mesh_member(g, k) == rank) return true;
    return false;
}

/* The first rank that waits for `rank`. Several may; which of them ran out of time first is chance,
 * and the message should not depend on it. */
static int32_t first_that_waits_for(const World *w, int32_t rank) {
    for (int32_t r = 0; r < w->ranks; r++)
        if (w->pending[r].there && is_member(&w->pending[r].call.group, rank)) return r;
    return -1;
}

static void report_missing(World *w, const HostCall *c, int32_t seconds) {
    char text[ERROR_BYTES];
    RankList names = {.count = 0};
    int32_t there = 0;
    for (int32_t k = 0; k < c->group.size; k++) {
        int32_t r = mesh_member(&c->group, k);
        const PendingCall *p = &w->pending[r];
        if (!p->there) rank_list_add(w, &names, r);
        there += p->there && same_call(c, &p->call);
    }
    rank_list_end(&names);
    snprintf(text, sizeof text,
             "%.200s did not reach %.100s within %d s; %d of %d ranks wait there\n"
             "help: check that process; FSDP_TIMEOUT=SECONDS waits longer",
             names.text, c->label, seconds, there, c->group.size);
    ends_decide(w, w->rank, EXIT_RANK, text);
}

static bool a_missing_rank_writes(const World *w, const HostCall *c) {
    for (int32_t k = 0; k < c->group.size; k++) {
        int32_t r = mesh_member(&c->group, k);
        if (!w->pending[r].there && w->look.sign[r].writing) return true;
    }
    return false;
}

/* `rank` has waited too long. The member that it waits for may itself wait in another call, so this
 * follows the chain to a rank that waits nowhere, unless they wait in a circle. While a missing
 * rank writes, which may take any time, the wait begins anew. */
static void too_late(World *w, int32_t rank) {
    int32_t seconds = w->pending[rank].slices / SLICES_A_SECOND;
    int32_t waits = rank, away = missing_from(w, rank), next = missing_from(w, away);
    for (int32_t i = 0; i < w->ranks && next >= 0; i++) {
        waits = away;
        away = next;
        next = missing_from(w, away);
    }
    if (next >= 0) {
        report_disagreement(w, waits, away);
        return;
    }
    const HostCall *c = &w->pending[first_that_waits_for(w, away)].call;
    if (a_missing_rank_writes(w, c))
        w->pending[rank].slices = 0;
    else
        report_missing(w, c, seconds);
}

void calls_tick(World *w) {
    int32_t limit = w->options.timeout * SLICES_A_SECOND;
    for (int32_t r = 0; r < w->ranks && w->rank == 0 && !w->over; r++) {
        PendingCall *p = &w->pending[r];
        if (!p->there) continue;
        int64_t most = (int64_t)limit * (p->call.kind < CALL_AGREE ? 1 : PATIENCE);
        if (++p->slices >= most) too_late(w, r);
    }
}
