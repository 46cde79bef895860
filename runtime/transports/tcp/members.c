/* The ranks of a run: how one identifies itself, its name in messages, and sending to all. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "link.h"
#include "machine.h"

static void boot_identity(uint64_t *out) {
    char text[64] = "";
    size_t n = machine_file("/proc/sys/kernel/random/boot_id", text, sizeof text);
    *out = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++) *out = (*out ^ (unsigned char)text[i]) * 0x100000001b3u;
}

void rank_hello(const World *w, uint32_t port, Hello *out) {
    *out = (Hello){.identity = w->options.identity,
                   .rank = w->rank,
                   .ranks = w->ranks,
                   .pid = (int32_t)getpid(),
                   .local_rank = w->options.local_rank,
                   .port = port,
                   .secret = w->secret.bytes > 0};
    if (w->secret.bytes) secret_number(out->number);
    gethostname(out->host, sizeof out->host - 1);
    boot_identity(&out->boot);
}

void tcp_describe(const TransportWorld *w, int32_t rank, char *out, size_t size) {
    bool known = rank >= 0 && rank < w->ranks;
    missing_rank_text(rank, known ? w->process[rank].pid : 0, known ? w->process[rank].host : "",
                      out, size);
}

bool rank_stopped(const World *w, int32_t rank) {
    return w->process[rank].host_index == w->process[w->rank].host_index &&
           machine_stopped(w->process[rank].pid);
}

enum { LISTED = 6 };

void rank_list_add(const World *w, RankList *list, int32_t rank) {
    size_t n = strlen(list->text);
    if (list->count == 0)
        tcp_describe(w, rank, list->text, sizeof list->text);
    else if (list->count < LISTED)
        snprintf(list->text + n, sizeof list->text - n, ", rank %d", rank);
    list->count++;
}

void rank_list_end(RankList *list) {
    size_t n = strlen(list->text);
    if (list->count > LISTED)
        snprintf(list->text + n, sizeof list->text - n, " and %d more", list->count - LISTED);
}

void rank_where(const RankState *s, char *out, size_t size) {
    missing_place_text(*s->label ? s->label : "a collective", "", s->sequence, s->purpose, out,
                       size);
}

void world_wake(World *w) {
    uint64_t one = 1;
    /* A full counter wakes it too. */
    if (write(w->wake, &one, sizeof one) < 0) return;
}

void world_broadcast(World *w, MessageKind kind, const void *part, uint32_t bytes) {
    for (int32_t r = 0; r < w->ranks; r++)
        if (w->link[r].noted) link_send(&w->link[r], kind, part, bytes, NULL, 0);
}
