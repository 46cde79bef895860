/* --hosts: machines on which fsdp-run starts its ranks, through mpirun, and what becomes of them
 * when one is lost. */
#ifndef FSDPC_HOSTS_H
#define FSDPC_HOSTS_H

#include "runtime.h"

enum { MOST_HOSTS = 1024 };
struct Host {
    char *name;
    int32_t places; /* ranks that it is meant to have */
    bool here;      /* this machine */
    bool known;     /* it has answered before */
    bool lost;      /* it has, and does not now */
};

/* "node1:4,node2:4", of which the first is this machine. EXIT_USER where it is no such list, or has
 * fewer places than ranks. */
int hosts_read(const char *text, int32_t ranks, Hosts *out, char *error);
void hosts_free(Hosts *h);
/* Asks all of them, as mpirun reaches them, and waits for their answers; sets known and lost. */
void hosts_ask(Hosts *h);
int32_t hosts_lost(const Hosts *h);
/* Is there a place for each rank on the hosts that are not lost? */
bool hosts_have_room(const Hosts *h, int32_t ranks);
/* How many ranks run on each: the places of hosts that are not lost, in order; where those are too
 * few, all ranks on these hosts in proportion to their places. The first host always has some. */
void hosts_share(const Hosts *h, int32_t ranks, int32_t *share);
/* What mpirun's --host is told. malloc'ed, or NULL */
char *hosts_line(const Hosts *h, int32_t ranks);

#endif
