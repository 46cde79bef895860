/* A chief of a world over TCP without any network, for tests: each link leads nowhere and keeps
 * what it is to send. */
#ifndef FSDPC_TEST_CHIEF_H
#define FSDPC_TEST_CHIEF_H

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "link.h"
#include "test.h"

enum { RANKS = 8, TIMEOUT = 3 };

static inline World *chief(void) {
    World *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->ranks = RANKS;
    w->deputy = 1;
    w->options.timeout = TIMEOUT;
    w->process = calloc(RANKS, sizeof *w->process);
    w->link = calloc(RANKS + 1, sizeof *w->link); /* nothing is sent along the last one */
    w->pending = calloc(RANKS, sizeof *w->pending);
    w->answer = malloc(SHARE_LIMIT);
    w->look.there = calloc(RANKS, sizeof *w->look.there);
    w->look.stand = calloc(RANKS, sizeof *w->look.stand);
    w->look.sign = calloc(RANKS, sizeof *w->look.sign);
    for (int32_t r = 0; r <= RANKS; r++) {
        link_open(&w->link[r], r ? dup(STDIN_FILENO) : -1, SHARE_LIMIT);
        w->link[r].noted = r > 0;
        if (r < RANKS) w->process[r].host_index = r; /* none of them is looked at here */
    }
    return w;
}

static inline void chief_free(World *w) {
    assert_false(link_has_output(&w->link[RANKS]));
    for (int32_t r = 0; r <= RANKS; r++) link_close(&w->link[r]);
    for (int32_t r = 0; r < RANKS; r++) free(w->pending[r].payload);
    free(w->look.there);
    free(w->look.stand);
    free(w->look.sign);
    free(w->answer);
    free(w->pending);
    free(w->link);
    free(w->process);
    free(w);
}

/* The message that a rank is to be sent next, if it is of that kind and length; else NULL. */
static inline const void *sent(World *w, int32_t rank, int kind, uint32_t bytes) {
    const Bytes *out = &w->link[rank].out;
    MessageHead head;
    if (out->n - out->first < sizeof head) return NULL;
    memcpy(&head, out->at + out->first, sizeof head);
    if (head.magic != MESSAGE_MAGIC || head.kind != kind || head.bytes != bytes) return NULL;
    return out->n - out->first == sizeof head + bytes ? out->at + out->first + sizeof head : NULL;
}

#endif
