/* The private header of this room; the public one is world.h. The "world" is the set of processes,
 * one per rank, that make up a run.
 *
 *   join*.c     the ranks find each other when the run starts: join_chief.c is rank 0's part,
 *               join_other.c that of the others, who find rank 0 by search.c
 *   secret.c    the two ends of a connection prove that they know the run's secret
 *   link.c      messages between two processes
 *   socket.c    addresses and sockets
 *   members.c   how a rank identifies itself, its name in messages, sending to all
 *   service.c   the thread that receives messages and answers them
 *   ends.c      what happens when a rank fails or is lost, and when the run ends
 *   calls.c     host collectives
 *   parcels.c   messages between the stages of a pipeline
 *   watch.c     which ranks hold up a collective
 *   world.c     the functions of world.h
 *
 * Rank 0 is the chief: it carries out host collectives and decides when and why the run ends. The
 * deputy decides in its place when the chief is lost or stopped. It is the first rank on another
 * host, or rank 1 if all ranks are on one host. Every rank has a connection to both.
 *
 * Messages are structs in the byte order of the machine; the magic number reveals a different one.
 * Everything received is checked against a limit before memory is taken for it.
 */
#ifndef FSDPC_TCP_LINK_H
#define FSDPC_TCP_LINK_H

#include <pthread.h>
#include <sys/socket.h>

#include "missing.h"
#include "world.h"

enum {
    PROTOCOL = 4,
    HOST_NAME = 64,
    END_TEXT = 1024,
    CALL_LABEL = 128,
    SHARE_LIMIT = TCP_GATHER_BYTES,
    RANKS_LIMIT = 1 << 16,
    STRANGERS = 32,
    SECRET_NUMBER = 32, /* bytes of a random number, and of a hash */
    SECRET_MOST = 4096,
    SLICE_MS = 50,
    SLICES_A_SECOND = 20
};
#define MESSAGE_MAGIC 0x31504446u

typedef enum MessageKind {
    HELLO = 1, /* to the chief, later to the deputy: who I am */
    NOTED,     /* the answer: you are one of us */
    REFUSED,   /* the answer: no, and why; or the meeting failed */
    WELCOME,   /* all ranks have met: who they are */
    BEAT,      /* I am alive */
    CALL,      /* a host collective, to the chief */
    RESULT,    /* and its answer */
    FAILED,    /* my part of the run failed, to chief and deputy */
    OVER,      /* the run is over: who says why */
    SEEN,      /* I know (after OVER, RESULT) */
    ASK,       /* where do you wait? */
    STATE,     /* here; a Stand */
    STUCK,     /* the same, unasked: I have waited too long */
    BYE,       /* I come to the orderly end */
    GONE,      /* all did: close */
    CHALLENGE, /* the answer to HELLO where a secret is shared: prove that you know it, as I do */
    PROOF,     /* here it is */
    FETCH,     /* a piece of a message between stages, to its sender, by way of the chief */
    PARCEL,    /* and the piece, the same way back */
    MESSAGE_KINDS
} MessageKind;

typedef struct MessageHead {
    uint32_t magic;
    uint16_t protocol, kind;
    uint32_t bytes, pad; /* bytes after the head */
} MessageHead;

typedef struct Hello {
    uint64_t identity, boot; /* of the run; of the machine */
    int32_t rank, ranks, pid, local_rank;
    uint32_t port;   /* where the rank would listen as deputy */
    uint32_t secret; /* has it one? */
    unsigned char number[SECRET_NUMBER];
    char host[HOST_NAME];
} Hello;

typedef struct Challenge {
    unsigned char number[SECRET_NUMBER], proof[SECRET_NUMBER];
} Challenge;

typedef struct Secret {
    unsigned char key[SECRET_MOST];
    int bytes; /* 0: none */
} Secret;

typedef struct RankProcess { /* one of all ranks */
    int32_t pid, local_rank, host_index, pad;
    char host[HOST_NAME];
} RankProcess;

typedef struct Welcome { /* followed by Process[ranks] */
    int32_t deputy;
    socklen_t length; /* of the deputy's address; 0: unknown */
    struct sockaddr_storage address;
} Welcome;

typedef struct Beat { /* of RankState */
    uint64_t beats, call;
    uint32_t writing, pad;
} Beat;

typedef struct Stand { /* where a rank is, and since when */
    RankState state;
    int32_t slices, pad;
} Stand;

typedef enum CallKind { CALL_COMPARE, CALL_SHARE, CALL_AGREE, CALL_GATHER } CallKind;
typedef struct HostCall { /* followed by `bytes` of payload from those who give some */
    int32_t kind, root;
    MeshGroup group; /* index: of who sends it */
    uint32_t bytes;
    uint64_t value;
    char label[CALL_LABEL];
} HostCall;

typedef struct Ending {
    int32_t speaker, code; /* speaker: the rank that reports why, -1: one that has done so */
    char text[END_TEXT];
} Ending;

/* A piece of a message between stages; a PARCEL has its bytes behind this. */
typedef struct Parcel {
    int32_t from, to; /* ranks */
    uint32_t box, bytes;
    uint64_t sequence, at, whole; /* of the message: its number; where the piece begins; bytes */
} Parcel;
typedef struct PostedMessage {
    const char *at;
    uint64_t bytes;
} PostedMessage;
typedef struct ParcelBox { /* an outbox of this rank */
    uint64_t sent, taken;  /* messages */
    uint64_t places;
    PostedMessage *message; /* [places] */
    bool asked;             /* for a piece of a message that is still to be sent */
    Parcel wanted;
} ParcelBox;

typedef struct Bytes {
    char *at;
    uint32_t first, n, capacity; /* bytes [first, n) are present */
} Bytes;

typedef struct Link {
    int fd; /* -1: none */
    bool connecting, noted;
    bool proved;      /* who listens there knows the secret */
    bool unseen, bye; /* must still send SEEN; has sent BYE */
    uint32_t limit;   /* bytes of a message that may come */
    Bytes in, out;
    int32_t silent, quiet; /* slices since something came, since the last BEAT went */
    uint64_t call;         /* in that BEAT */
} Link;

typedef struct Message {
    int kind;
    uint32_t bytes;
    const char *at;
} Message;

typedef struct Stranger { /* what one said that has been asked for a proof */
    bool asked;
    Hello hello;
    Challenge challenge;
} Stranger;

typedef struct PendingCall { /* the chief's: what a rank brought */
    bool there;
    int32_t slices;
    HostCall call;
    char *payload; /* [call.bytes] or NULL */
} PendingCall;

typedef struct Watch { /* the chief's, except for sign: one look at all ranks */
    bool on;
    int32_t slices, reporter;
    RankState reported;
    bool *there;  /* [ranks] */
    Stand *stand; /* [ranks] */
    struct Sign { /* of work, as far as beats told it; [ranks] */
        uint64_t beats, call;
        int32_t still; /* slices since the last one */
        bool writing;
    } * sign;
} Watch;

struct TransportWorld {
    JoinOptions options;
    char address[256];
    int32_t rank, ranks, deputy, locals; /* deputy: -1 when there is one rank */
    RankProcess *process;                /* [ranks] */
    Link *link;                          /* [ranks]; of most ranks only those of chief and deputy */
    Link stranger_link[STRANGERS];       /* who have not said hello, or not proved it */
    Stranger stranger[STRANGERS];
    Secret secret;
    Hello greeting;        /* as this rank sent it last */
    int listener, wake;    /* sockets that others connect to; eventfd or -1 */
    struct pollfd *polled; /* [ranks + STRANGERS + 2] */
    struct sockaddr_storage deputy_address;
    socklen_t deputy_length;

    pthread_t thread;
    bool running;
    pthread_mutex_t lock; /* over all that follows */
    pthread_cond_t changed;
    const Plan *plan; /* while the world is watched */
    bool stopping, leaving, gone;
    bool over, told, spoken;
    int32_t over_slices, leaving_slices;
    int word; /* -1, or a socket whose name says that this process speaks for its host */
    Ending ending;
    Ending held; /* a failure that another cause may still explain; code 0: none */
    int32_t held_slices;
    int32_t lost, lost_slices; /* a rank that is gone, and how long it stays unreported; 0: none */
    PendingCall *pending;      /* [ranks], the chief's */
    char *answer;              /* [ranks] StartReport or SHARE_LIMIT, the chief's */
    void *result;              /* of this rank's call under way */
    uint32_t result_bytes;
    bool calling, result_there;
    ParcelBox *box; /* [boxes] */
    uint32_t boxes;
    Parcel fetched; /* the piece that this rank waits for */
    char *piece;    /* where it goes; NULL: for none */
    Watch look;
    RankState own; /* as of this round of the thread */
    bool watched;
    uint64_t stuck_finished;
    int32_t stuck_slices; /* since a collective finished, or the first was issued */

    pthread_mutex_t events_lock; /* held around calls of `events`; never inside `lock` */
    WorldEvents events;
    bool has_events;
};
typedef struct TransportWorld World;

/* link.c: nothing here waits. Functions that return int: -1 when the other end is lost. */
void link_open(Link *l, int fd, uint32_t limit);
void link_close(Link *l);
bool link_is_open(const Link *l);
bool link_has_output(const Link *l);
void link_send(Link *l, MessageKind kind, const void *part, uint32_t bytes, const void *more,
               uint32_t more_bytes);
int link_flush(Link *l);
void link_refuse(Link *l, int code, const char *text); /* sends REFUSED at once */
int link_fill(Link *l); /* 1 when bytes came, 0 when there are none */
/* 1 and the next whole message, valid until link_drop; 0; or -1 when it is not one of ours. */
int link_next(Link *l, Message *m);
void link_drop(Link *l);
/* Text of another process, in a field of that size: ends it, and escapes what a terminal would
 * obey. */
void text_receive(char *text, size_t size);

/* socket.c */
int socket_listen(const char *address, int32_t port, int *out, char *error);
int socket_listen_beside(int fd); /* at that connection's own address, a free port; or -1 */
void socket_options(int fd, int32_t timeout_seconds);
/* Starts to connect: a socket that becomes writable, or -1 with errno. */
int socket_connect(const struct sockaddr *to, socklen_t length);
int socket_error(int fd); /* errno of a finished connect */
uint32_t socket_port(int fd);
/* The address of the other end, with that port and as its own family writes it; 0: unknown. */
socklen_t socket_peer(int fd, uint32_t port, struct sockaddr_storage *out);

/* world.c */
void world_free(World *w);

/* secret.c */
/* Reads the secret from the environment, and loads the library that computes the proofs. */
int secret_open(Secret *out, char *error);
void secret_number(unsigned char out[SECRET_NUMBER]);
/* Handles a message of a process that has not been let in yet. Returns 1 and its hello when it may
 * be let in (if there is a secret, it has proved that it knows it); 0 when it has been asked for
 * the proof; -1 when the caller must refuse it, with the reason in `why` ("": do not tell one). */
int secret_hear(World *w, Link *stranger, const Message *m, Hello *out, char *why);
/* Answers a CHALLENGE. false: its sender does not know the secret. */
bool secret_answer(World *w, Link *l, const Message *m);

/* members.c */
/* What this rank says of itself when it connects. */
void rank_hello(const World *w, uint32_t port, Hello *out);
/* Where a rank waits, as messages say it; tcp_describe says who it is. */
void rank_where(const RankState *s, char *out, size_t size);
bool rank_stopped(const World *w, int32_t rank); /* on this host */
/* Ranks in a message: the first one as described, more by their numbers, many are counted. */
typedef struct RankList {
    int32_t count;
    char text[300];
} RankList;
void rank_list_add(const World *w, RankList *list, int32_t rank);
void rank_list_end(RankList *list);
/* The thread of service.c looks at its world again. */
void world_wake(World *w);
/* To every rank that has greeted. */
void world_broadcast(World *w, MessageKind kind, const void *part, uint32_t bytes);

/* ends.c: all of it under the lock. */
void ends_decide(World *w, int32_t speaker, int32_t code, const char *text);
void ends_alone(World *w, int32_t speaker, int32_t code, const char *text);
void ends_failed(World *w, int32_t rank, int32_t code, const char *text);
void ends_heard(World *w, int32_t from, const Ending *e);
void ends_lost(World *w, int32_t rank, RankLoss loss);
void ends_tick(World *w);
bool ends_flushed(const World *w);
void ends_speak(World *w); /* prints the reason, once, if no process of this launcher has */

/* calls.c: host collectives at the chief, under the lock. */
void calls_take(World *w, int32_t rank, const HostCall *call, const char *payload);
void calls_tick(World *w);

/* watch.c: under the lock. */
void watch_tick(World *w);
void watch_stuck(World *w, int32_t rank, const Stand *s);
void watch_state(World *w, int32_t rank, const Stand *s);
Stand watch_own_stand(const World *w);
void watch_beat(World *w, int32_t rank, const Beat *b);
Beat watch_own_beat(const World *w);

/* parcels.c: messages between stages, under the lock. False: it is not valid. */
bool parcels_ask(World *w, int32_t from, const Parcel *p);
bool parcels_take(World *w, int32_t from, const Parcel *p, const char *bytes);
/* The outbox has one message more. */
bool parcels_post(World *w, uint32_t box, const char *slot, uint64_t bytes);

/* ---- how ranks meet */

/* Time in slices that this process was awake for, so that a run that is stopped as a whole is not
 * late. */
typedef struct SliceClock {
    int64_t last_ms;
    int32_t slices;
} SliceClock;

/* search.c: finding rank 0. */
typedef struct Search {
    World *w;
    SliceClock clock;
    int32_t limit; /* slices */
    struct addrinfo *found, *next;
    int failure;   /* errno of the last attempt */
    bool answered; /* something took the connection */
    char *error;
} Search;

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
int search_fail(const Search *s);

/* join_chief.c */
int join_chief(World *w, char *error);
/* Fills the table of processes: those with the same host name and boot share a host. */
void join_find_hosts(const World *w, const Hello *hello, RankProcess *out);

/* join_other.c */
int join_other(World *w, char *error);

/* ---- */

/* service.c: a thread that polls all connections, reads, answers, beats, counts the time. */
bool service_start(World *w);
void service_stop(World *w);
void stranger_accept(World *w); /* who connects to the listener */

#endif
