/* How ranks meet, from inside: join.c begins, join_chief.c is rank 0's part and join_other.c that
 * of the other ranks, who find rank 0 by search.c. */
#ifndef FSDPC_TCP_JOIN_H
#define FSDPC_TCP_JOIN_H

#include "link.h"

/* Time in slices that this process was awake for, so that a run that is stopped as a whole is not
 * late. */
typedef struct SliceClock {
    int64_t last_ms;
    int32_t slices;
} SliceClock;

/* search.c: the way to rank 0. */
typedef struct Search {
    World *w;
    SliceClock clock;
    int32_t limit; /* slices */
    struct addrinfo *found, *next;
    int failure;   /* errno of the last attempt */
    bool answered; /* something took the connection */
    char *error;
} Search;

void slice_clock_start(SliceClock *c);
void slice_clock_read(SliceClock *c); /* counts the slices that have passed */
Search search_start(World *w, char *error);
void search_pause(Search *s); /* for a slice */
/* Finds the addresses of rank 0's host. */
int search_resolve(Search *s);
/* Tries the next address: a connected socket, or -1. */
int search_connect(Search *s);
/* Waits for a slice at most: is the socket ready? */
bool search_wait_for(Search *s, int fd, short events);
/* Writes why rank 0 was not reached; EXIT_RANK. */
int search_not_reached(const Search *s);

/* join_chief.c */
int join_chief(World *w, char *error);
/* Fills the table of processes: those with the same host name and boot share a host. */
void join_find_hosts(const World *w, const Hello *hello, RankProcess *out);

/* join_other.c */
int join_other(World *w, char *error);

#endif
