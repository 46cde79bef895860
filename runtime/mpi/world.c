/* The processes of a run: how they meet, how they notice that one is gone, how they end.
 *
 * Everything that waits does so in slices of 50 ms. After each slice it checks whether a process
 * gave notice (the board of this host, the alarm message of another host), whether a process of
 * this host has ended without one (pidfd), whether the launcher is gone, and whether the time is
 * up. Time is counted in slices, so a run that is stopped as a whole and continued misses nothing.
 *
 * What it does not see: a process of another host that is gone and whose host gave no notice; the
 * time limit ends that wait.
 */
#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "machine.h"
#include "world.h"

enum { BOARD_MAGIC = 0x46534450, NOTICE_SECONDS = 2, SPINS = 200, LOOK_SLICES = 10 };
/* A rank that waits for another waiting rank must not report first: seconds past the limit after
 * which it reports that a rank of another host, and that a living neighbour, is missing. */
enum { FAR_GRACE = 1, NEAR_GRACE = 2, FAR_CONTROL_TIMES = 9 };

const char *const kind_name[] = {"all_gather", "reduce_scatter", "all_reduce",
                                 "broadcast",  "barrier",        "agreement"};

int world_mpi_error(World *w, int mpi_code, const char *what, char *error) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int n = 0;
    MPI_Error_string(mpi_code, text, &n);
    snprintf(error, ERROR_BYTES, "%.280s: MPI says: %.200s", what, text);
    (void)w;
    return EXIT_RANK;
}

static void describe(const World *w, int32_t rank, char *out, size_t size) {
    if (w->process && *w->process[rank].host)
        snprintf(out, size, "rank %d (process %d on %s)", rank, w->process[rank].pid,
                 w->process[rank].host);
    else
        snprintf(out, size, "rank %d", rank);
}

/* ---- notices */

static bool remote_exists(const World *w) { return w->locals < w->ranks; }

static void listen_for_alarm(World *w) {
    MPI_Irecv(&w->incoming, sizeof w->incoming, MPI_BYTE, MPI_ANY_SOURCE, 0, w->alarm,
              &w->alarm_request);
}

static void send_alarm(World *w) {
    for (int32_t r = 0; r < w->ranks; r++) {
        w->alarm_sent[r] = MPI_REQUEST_NULL;
        if (w->process[r].local < 0)
            MPI_Isend(&w->outgoing, sizeof w->outgoing, MPI_BYTE, r, 0, w->alarm,
                      &w->alarm_sent[r]);
    }
    struct timespec pause = {.tv_nsec = 1000 * 1000};
    for (int i = 0, done = 0; i < NOTICE_SECONDS * 1000 && !done; i++) {
        if (MPI_Testall(w->ranks, w->alarm_sent, &done, MPI_STATUSES_IGNORE)) return;
        if (!done) nanosleep(&pause, NULL);
    }
}

static bool put_notice(World *w, int32_t rank, int code, const char *text) {
    uint32_t none = 0;
    Notice *n = &w->board->notice;
    if (!atomic_compare_exchange_strong(&n->state, &none, 1)) return false;
    n->rank = rank;
    n->code = code;
    snprintf(n->text, sizeof n->text, "%s", text);
    atomic_store(&n->state, 2);
    return true;
}

bool world_fail(World *w, int32_t rank, int code, const char *text) {
    if (!put_notice(w, rank, code, text)) return false;
    if (remote_exists(w)) {
        w->outgoing.rank = rank;
        w->outgoing.code = code;
        snprintf(w->outgoing.text, sizeof w->outgoing.text, "%s", text);
        send_alarm(w);
    }
    return true;
}

static bool fail(World *w, int32_t rank, int *code, const char *text) {
    /* A process that is still writing the first notice will not take long. */
    struct timespec pause = {.tv_nsec = 1000 * 1000};
    bool first = world_fail(w, rank, *code, text);
    for (int i = 0; i < 1000 && atomic_load(&w->board->notice.state) == 1; i++)
        nanosleep(&pause, NULL);
    *code = run_end_code(w->board->notice.code);
    if (remote_exists(w) && w->local == 0) launcher_end_later(w->launcher);
    return first;
}

/* ---- waiting */

static void where_text(const Wait *w, char *out, size_t size) {
    const Collective *c = w->call;
    if (!c)
        snprintf(out, size, "the start of the run");
    else
        snprintf(out, size, "%s, %s number %llu of its communicator (axes %#x, purpose %d)",
                 c->label ? c->label : "the run", kind_name[w->kind],
                 (unsigned long long)c->sequence, c->axes, c->purpose);
}

static int ended(World *w, char *error) {
    snprintf(error, ERROR_BYTES, "abandoned: another rank ended the run");
    (void)w;
    return EXIT_RANK;
}

static int lose(Wait *w, int32_t rank, const char *how, const char *help, char *error) {
    World *world = w->world;
    char who[128], where[320];
    describe(world, rank, who, sizeof who);
    where_text(w, where, sizeof where);
    snprintf(error, ERROR_BYTES, "%.90s %.70s; rank %d waited for it in %.180s\nhelp: %.110s", who,
             how, world->rank, where, help);
    return EXIT_RANK;
}

static int find_dead(Wait *w, char *error) {
    World *world = w->world;
    for (int32_t k = 0; k < world->locals && world->alive; k++) {
        struct pollfd p = {.fd = world->alive[k], .events = POLLIN};
        if (k == world->local || p.fd < 0 || poll(&p, 1, 0) <= 0) continue;
        /* It may have given notice just before it ended. */
        if (atomic_load(&world->board->notice.state)) return ended(world, error);
        return lose(w, world->local_rank[k], "was killed or ended without a message",
                    "the kernel's log (dmesg) tells whether memory ran out; start the run again",
                    error);
    }
    return 0;
}

static int time_is_up(Wait *w, int32_t missing, char *error) {
    World *world = w->world;
    char how[128], limit[32];
    bool near = missing >= 0 && world->process && world->process[missing].local >= 0;
    bool stopped = near && machine_stopped(world->process[missing].pid);
    /* A living neighbour may take as long as it needs to write a large checkpoint. */
    if (near && !stopped && w->call && w->call->purpose == COMM_CONTROL) {
        w->slices = 0;
        return 0;
    }
    int32_t grace = missing < 0 || stopped ? 0 : near ? NEAR_GRACE : FAR_GRACE;
    /* So may a rank of another host, as far as this process can tell. */
    if (!near && w->call && w->call->purpose == COMM_CONTROL)
        grace = FAR_CONTROL_TIMES * world->timeout;
    if (w->slices < (world->timeout + grace) * SLICES_A_SECOND) return 0;
    snprintf(limit, sizeof limit, "%d s", w->slices / SLICES_A_SECOND);
    if (missing < 0) {
        char where[320];
        where_text(w, where, sizeof where);
        snprintf(error, ERROR_BYTES,
                 "rank %d: not all ranks came to %s within %s\n"
                 "help: see what the others say; FSDP_TIMEOUT=SECONDS waits longer",
                 world->rank, where, limit);
        return EXIT_RANK;
    }
    if (stopped)
        snprintf(how, sizeof how, "is stopped (SIGSTOP), for %s or longer", limit);
    else
        snprintf(how, sizeof how, "did not answer within %s", limit);
    return lose(w, missing, how,
                stopped ? "start the run again; kill -CONT lets a stopped process go on"
                        : "look at that process and its host; FSDP_TIMEOUT=SECONDS waits longer",
                error);
}

int world_slice(Wait *w, int32_t missing, char *error) {
    World *world = w->world;
    if (atomic_load(&world->aborted)) return ended(world, error);
    if (world->board && atomic_load(&world->board->notice.state)) return ended(world, error);
    /* Several threads of a process may wait; one at a time looks and takes the message. */
    if (remote_exists(world) && !atomic_flag_test_and_set(&world->polling)) {
        int there = 0;
        if (world->alarm_request != MPI_REQUEST_NULL &&
            !MPI_Test(&world->alarm_request, &there, MPI_STATUS_IGNORE) && there)
            put_notice(world, world->incoming.rank, world->incoming.code, world->incoming.text);
        atomic_flag_clear(&world->polling);
        if (there) return ended(world, error);
    }
    int code = find_dead(w, error);
    if (code) return code;
    if (getppid() != world->parent) {
        snprintf(error, ERROR_BYTES, "the launcher of rank %d has ended", world->rank);
        return EXIT_RANK;
    }
    int32_t over = ++w->slices - world->timeout * SLICES_A_SECOND;
    return over >= 0 && over % LOOK_SLICES == 0 ? time_is_up(w, missing, error) : 0;
}

/* The peer of a request that is not over. */
static int32_t open_peer(int n, MPI_Request *request, const int32_t *peer) {
    for (int i = 0; i < n && peer; i++) {
        int over = 0;
        if (MPI_Test(&request[i], &over, MPI_STATUS_IGNORE) || !over) return peer[i];
    }
    return -1;
}

/* Waits for MPI requests: busy at first, then with growing pauses. */
int world_finish(Wait *w, int n, MPI_Request *request, const int32_t *peer, char *error) {
    long pause = 0, since = 0;
    for (int i = 0;; i++) {
        int done = 0;
        int failed = MPI_Testall(n, request, &done, MPI_STATUSES_IGNORE);
        if (failed) {
            char where[320];
            where_text(w, where, sizeof where);
            return world_mpi_error(w->world, failed, where, error);
        }
        if (done) return 0;
        if (i < SPINS) continue;
        pause = MIN(pause + 10 * 1000, 1000 * 1000);
        struct timespec t = {.tv_nsec = pause};
        nanosleep(&t, NULL);
        since += pause;
        if (since < SLICE_NS) continue;
        since = 0;
        int code = world_slice(w, open_peer(n, request, peer), error);
        if (code) return code;
    }
}

/* ---- meeting */

/* MPI's own start and end wait without checking anything; a thread watches them. */
typedef struct Clock {
    const JoinOptions *options;
    const char *what;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool on;
} Clock;

/* A stopped process that our launcher started too: its rank (or -1) and number, or 0. */
static int32_t find_stopped(int32_t *rank) {
    DIR *d = opendir("/proc");
    struct dirent *e;
    int32_t pid = 0;
    while (d && !pid && (e = readdir(d))) {
        int number = atoi(e->d_name), parent = 0;
        char path[64], line[8192];
        snprintf(path, sizeof path, "/proc/%d/stat", number);
        FILE *f = number > 0 ? fopen(path, "re") : NULL;
        size_t n = f ? fread(line, 1, sizeof line - 1, f) : 0;
        if (f) fclose(f);
        line[n] = 0;
        const char *behind = strrchr(line, ')');
        bool ours = behind && sscanf(behind + 3, "%d", &parent) == 1 && parent == getppid();
        if (ours && (behind[2] == 'T' || behind[2] == 't')) pid = number;
        if (!pid) continue;
        snprintf(path, sizeof path, "/proc/%d/environ", number);
        f = fopen(path, "re");
        n = f ? fread(line, 1, sizeof line - 1, f) : 0;
        if (f) fclose(f);
        static const char name[] = "OMPI_COMM_WORLD_RANK=";
        const char *at = memmem(line, n, name, sizeof name - 1);
        line[n] = 0;
        *rank = at ? atoi(at + sizeof name - 1) : -1;
    }
    if (d) closedir(d);
    return pid;
}

static void too_long(const Clock *c) {
    const JoinOptions *o = c->options;
    char who[96] = "a rank is missing";
    int32_t rank = -1, pid = find_stopped(&rank);
    if (pid) snprintf(who, sizeof who, "rank %d (process %d) is stopped (SIGSTOP)", rank, pid);
    if (!o->may_speak || o->may_speak())
        fprintf(stderr,
                "error: rank %d: %s took longer than %d s: %s\n"
                "help: start the run again; FSDP_TIMEOUT=SECONDS waits longer\n",
                o->rank, c->what, o->timeout, who);
    _exit(EXIT_RANK);
}

/* In slices, so that a run stopped as a whole is not late. */
static void *watch(void *context) {
    Clock *c = context;
    pthread_mutex_lock(&c->lock);
    for (int i = 0; c->on; i++) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += SLICE_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&c->changed, &c->lock, &until);
        if (c->on && i >= c->options->timeout * SLICES_A_SECOND) too_long(c);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

static void clock_on(Clock *c, const JoinOptions *o, const char *what) {
    *c = (Clock){.options = o, .what = what, .on = true};
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    if (pthread_create(&c->thread, NULL, watch, c)) c->on = false;
}

static void clock_off(Clock *c) {
    if (!c->on) return;
    pthread_mutex_lock(&c->lock);
    c->on = false;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    pthread_join(c->thread, NULL);
}

static int check_start(const JoinOptions *o, int provided, char *error) {
    int ranks = 0, rank = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (provided < MPI_THREAD_MULTIPLE) {
        snprintf(error, ERROR_BYTES,
                 "this MPI library was built without support for several threads "
                 "(MPI_THREAD_MULTIPLE)");
        return EXIT_ENVIRONMENT;
    }
    if (ranks == o->ranks && rank == o->rank) return 0;
    snprintf(error, ERROR_BYTES,
             "%s says rank %d of %d, MPI says rank %d of %d\n"
             "help: transport mpi needs a launcher that this MPI library knows: mpirun -n %d "
             "fsdp-run ..., or srun --mpi=pmix; fsdp-run --transport mpi -n %d starts them itself",
             o->launcher, o->rank, o->ranks, rank, ranks, o->ranks, o->ranks);
    return EXIT_USER;
}

static int make_communicators(World *w, int32_t test_hosts) {
    int failed = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < COMM_KINDS && !failed; i++)
        failed = MPI_Comm_dup(MPI_COMM_WORLD, &w->comm[i]);
    if (!failed) failed = MPI_Comm_dup(MPI_COMM_WORLD, &w->start);
    if (!failed) failed = MPI_Comm_dup(MPI_COMM_WORLD, &w->alarm);
    MPI_Comm machine;
    if (!failed)
        failed = MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, w->rank, MPI_INFO_NULL,
                                     &machine);
    if (failed) return failed;
    int index = 0, size = 1;
    MPI_Comm_rank(machine, &index);
    MPI_Comm_size(machine, &size);
    int color = test_hosts > 0 ? index * test_hosts / size : 0;
    failed = MPI_Comm_split(machine, color, w->rank, &w->host);
    if (failed) return failed;
    MPI_Comm_rank(w->host, &w->local);
    MPI_Comm_size(w->host, &w->locals);
    return MPI_Comm_free(&machine);
}

static int meet_processes(World *w, char *error) {
    Process own = {.pid = (int32_t)getpid(), .local = w->local};
    gethostname(own.host, sizeof own.host - 1);
    int32_t here[w->locals];
    int failed =
        MPI_Allgather(&own, sizeof own, MPI_BYTE, w->process, sizeof own, MPI_BYTE, w->start);
    if (!failed) failed = MPI_Allgather(&w->rank, 1, MPI_INT32_T, here, 1, MPI_INT32_T, w->host);
    if (failed) return world_mpi_error(w, failed, "the start", error);
    for (int32_t r = 0; r < w->ranks; r++) w->process[r].local = -1;
    for (int32_t k = 0; k < w->locals; k++) {
        w->local_rank[k] = here[k];
        w->process[here[k]].local = k;
        w->alive[k] = -1;
        if (k != w->local) w->alive[k] = (int)syscall(SYS_pidfd_open, w->process[here[k]].pid, 0);
    }
    int code = shared_exchange(w, w->local == 0 ? sizeof(Board) : 0, false, w->boards, error);
    if (code) return code;
    w->board = (Board *)(void *)w->boards[0].at;
    if (w->local == 0) w->board->magic = BOARD_MAGIC;
    if (remote_exists(w)) listen_for_alarm(w);
    return 0;
}

static int join(const JoinOptions *o, World **out, char *error) {
    World *w = calloc(1, sizeof *w);
    if (!w) {
        snprintf(error, ERROR_BYTES, "no memory for the transport");
        return EXIT_ENVIRONMENT;
    }
    *w = (World){.options = *o,
                 .rank = o->rank,
                 .ranks = o->ranks,
                 .timeout = o->timeout,
                 .parent = getppid(),
                 .launcher = launcher_find()};
    w->alarm_request = MPI_REQUEST_NULL;
    atomic_flag_clear(&w->polling);
    int provided = MPI_THREAD_SINGLE;
    Clock clock;
    clock_on(&clock, o, "the meeting of all ranks");
    int failed = MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    int code =
        failed ? world_mpi_error(w, failed, "MPI_Init", error) : check_start(o, provided, error);
    if (!code && (failed = make_communicators(w, o->test_hosts)))
        code = world_mpi_error(w, failed, "the start", error);
    if (!code) {
        w->local_rank = calloc((size_t)w->locals, sizeof *w->local_rank);
        w->alive = calloc((size_t)w->locals, sizeof *w->alive);
        w->boards = calloc((size_t)w->locals, sizeof *w->boards);
        w->process = calloc((size_t)w->ranks, sizeof *w->process);
        w->alarm_sent = calloc((size_t)w->ranks, sizeof(MPI_Request));
        w->spin = sysconf(_SC_NPROCESSORS_ONLN) >= w->locals;
        if (!w->local_rank || !w->alive || !w->boards || !w->process || !w->alarm_sent) {
            snprintf(error, ERROR_BYTES, "no memory for the transport");
            code = EXIT_ENVIRONMENT;
        }
    }
    if (!code) code = meet_processes(w, error);
    clock_off(&clock);
    *out = w;
    return code;
}

static int compare(World *w, const StartReport *mine, StartReport *all, char *error) {
    MPI_Request request;
    Wait wait = {.world = w, .kind = BARRIER};
    int failed = MPI_Iallgather(mine, sizeof *mine, MPI_BYTE, all, sizeof *mine, MPI_BYTE, w->start,
                                &request);
    if (failed) return world_mpi_error(w, failed, "the start", error);
    return world_finish(&wait, 1, &request, NULL, error);
}

static int32_t local_ranks(const World *w) { return w->locals; }

/* Not orderly: others may be gone, so MPI is not asked; the launcher sees the exit code. */
static void leave(World *w, bool orderly) {
    if (!orderly) return;
    Clock clock;
    clock_on(&clock, &w->options, "the end of the run");
    if (w->alarm_request != MPI_REQUEST_NULL) {
        MPI_Cancel(&w->alarm_request);
        MPI_Wait(&w->alarm_request, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    clock_off(&clock);
    for (int32_t k = 0; k < w->locals; k++)
        if (w->alive[k] >= 0) close(w->alive[k]);
    if (w->launcher >= 0) close(w->launcher);
    shared_free(w, w->boards);
    free(w->boards);
    free(w->local_rank);
    free(w->alive);
    free(w->process);
    free(w->alarm_sent);
    free(w);
}

static const TransportModule module = {.abi = TRANSPORT_ABI,
                                       .transport = &transport_mpi,
                                       .join = join,
                                       .compare = compare,
                                       .describe = describe,
                                       .local_ranks = local_ranks,
                                       .fail = fail,
                                       .leave = leave};

__attribute__((visibility("default"))) const TransportModule *fsdp_transport(void);
const TransportModule *fsdp_transport(void) { return &module; }
