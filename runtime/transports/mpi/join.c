/* How the processes of a run meet and part, and the TransportModule that fsdp-run opens. */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "interface.h"
#include "machine.h"
#include "world.h"

/* On a busy machine MPI's start takes long; a rank that is stopped is not waited for. */
enum { PATIENCE = 4 };

/* MPI's own start and end wait without checking anything; a thread watches them. */
typedef struct StartWatch {
    const World *world;
    const char *what;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool on;
} StartWatch;

/* A stopped process that our launcher started too: its rank (or -1) and number, or 0. */
static int32_t find_stopped(int32_t *rank) {
    DIR *d = opendir("/proc");
    struct dirent *e;
    int32_t pid = 0;
    while (d && !pid && (e = readdir(d))) {
        static const char name[] = "OMPI_COMM_WORLD_RANK=";
        int number = atoi(e->d_name);
        char path[64], line[8192];
        MachineProcess p;
        bool ours = number > 0 && machine_process(number, &p) && p.parent == getppid();
        if (!ours || (p.state != 'T' && p.state != 't')) continue;
        pid = number;
        snprintf(path, sizeof path, "/proc/%d/environ", number);
        const char *at = memmem(line, machine_file(path, line, sizeof line), name, sizeof name - 1);
        *rank = at ? atoi(at + sizeof name - 1) : -1;
    }
    if (d) closedir(d);
    return pid;
}

static void too_long(const StartWatch *c, int32_t rank, int32_t pid, int32_t seconds) {
    const JoinOptions *o = &c->world->options;
    char who[96] = "a rank is missing";
    if (pid) snprintf(who, sizeof who, "rank %d (process %d) is stopped (SIGSTOP)", rank, pid);
    if (!o->may_speak || o->may_speak())
        fprintf(stderr,
                "error: rank %d: %s took longer than %d s: %s\n"
                "help: start the run again; FSDP_TIMEOUT=SECONDS waits longer\n",
                o->rank, c->what, seconds, who);
    if (o->local_ranks < o->ranks) launcher_end_later(c->world->launcher);
    _exit(EXIT_RANK);
}

static void look_at_time(const StartWatch *c, int32_t seconds) {
    int32_t rank = -1, pid = 0, limit = c->world->timeout;
    if (seconds < limit) return;
    pid = find_stopped(&rank);
    if (pid || seconds >= PATIENCE * limit) too_long(c, rank, pid, seconds);
}

/* In slices, so that a run stopped as a whole is not late. */
static void *watch_start(void *context) {
    StartWatch *c = context;
    pthread_mutex_lock(&c->lock);
    for (int i = 0; c->on; i++) {
        struct timespec until = clock_after(CLOCK_REALTIME, SLICE_NS);
        pthread_cond_timedwait(&c->changed, &c->lock, &until);
        if (c->on && i % SLICES_A_SECOND == 0) look_at_time(c, i / SLICES_A_SECOND);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

static void clock_on(StartWatch *c, const World *w, const char *what) {
    *c = (StartWatch){.world = w, .what = what, .on = true};
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    if (pthread_create(&c->thread, NULL, watch_start, c)) c->on = false;
}

static void clock_off(StartWatch *c) {
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
    if (provided < MPI_THREAD_MULTIPLE)
        return fail_with(error, EXIT_ENVIRONMENT,
                         "this MPI library was built without support for several threads "
                         "(MPI_THREAD_MULTIPLE)");
    if (ranks == o->ranks && rank == o->rank) return 0;
    return fail_with(
        error, EXIT_USER,
        "%s says rank %d of %d, MPI says rank %d of %d\n"
        "help: transport mpi needs a launcher that this MPI library knows: mpirun -n %d "
        "fsdp-run ..., or srun --mpi=pmix; fsdp-run --transport mpi -n %d starts them itself",
        o->launcher, o->rank, o->ranks, rank, ranks, o->ranks, o->ranks);
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
    failed =
        MPI_Comm_split(MPI_COMM_WORLD, w->local == 0 ? 0 : MPI_UNDEFINED, w->rank, &w->first_ones);
    if (failed) return failed;
    return MPI_Comm_free(&machine);
}

static int meet_processes(World *w, char *error) {
    MpiProcess own = {.pid = (int32_t)getpid(), .local = w->local};
    gethostname(own.host, sizeof own.host - 1);
    int32_t here[w->locals];
    int failed = MPI_Allgather(&w->rank, 1, MPI_INT32_T, here, 1, MPI_INT32_T, w->host);
    own.first = here[0];
    if (!failed)
        failed =
            MPI_Allgather(&own, sizeof own, MPI_BYTE, w->process, sizeof own, MPI_BYTE, w->start);
    if (failed) return world_mpi_error(failed, "the start", error);
    for (int32_t r = 0; r < w->ranks; r++) w->process[r].local = -1;
    for (int32_t k = 0; k < w->locals; k++) {
        w->local_rank[k] = here[k];
        w->process[here[k]].local = k;
        w->alive[k] = -1;
        if (k != w->local) w->alive[k] = (int)syscall(SYS_pidfd_open, w->process[here[k]].pid, 0);
    }
    uint64_t bytes = sizeof(Board) + (uint64_t)w->ranks * sizeof(Sign);
    int code = shared_exchange(w, w->local == 0 ? bytes : 0, false, w->boards, error);
    if (code) return code;
    w->board = (Board *)(void *)w->boards[0].at;
    if (world_spans_hosts(w)) {
        world_listen(w);
        beats_begin(w);
    }
    return 0;
}

static int mpi_join(const JoinOptions *o, World **out, char *error) {
    World *w = calloc(1, sizeof *w);
    if (!w) return fail_with(error, EXIT_ENVIRONMENT, "out of memory for the transport");
    *w = (World){.options = *o,
                 .rank = o->rank,
                 .ranks = o->ranks,
                 .timeout = o->timeout,
                 .parent = getppid(),
                 .launcher = launcher_find()};
    w->alarm_request = MPI_REQUEST_NULL;
    atomic_flag_clear(&w->polling);
    int provided = MPI_THREAD_SINGLE;
    StartWatch clock;
    clock_on(&clock, w, "the meeting of all ranks");
    int failed = MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    int code =
        failed ? world_mpi_error(failed, "MPI_Init", error) : check_start(o, provided, error);
    if (!code && (failed = make_communicators(w, o->test_hosts)))
        code = world_mpi_error(failed, "the start", error);
    if (!code) {
        w->local_rank = calloc((size_t)w->locals, sizeof *w->local_rank);
        w->alive = calloc((size_t)w->locals, sizeof *w->alive);
        w->boards = calloc((size_t)w->locals, sizeof *w->boards);
        w->process = calloc((size_t)w->ranks, sizeof *w->process);
        w->alarm_sent = calloc((size_t)w->ranks, sizeof(MPI_Request));
        if (!w->local_rank || !w->alive || !w->boards || !w->process || !w->alarm_sent)
            code = fail_with(error, EXIT_ENVIRONMENT, "out of memory for the transport");
    }
    if (!code) code = meet_processes(w, error);
    clock_off(&clock);
    *out = w;
    return code;
}

static int mpi_compare(World *w, const StartReport *mine, StartReport *all, char *error) {
    return world_gather(w, w->start, mine, all, sizeof *mine, error);
}

static int32_t local_ranks(const World *w) { return w->locals; }

/* Not orderly: others may be gone, so MPI is not asked; the launcher sees the exit code. */
static void mpi_leave(World *w, bool orderly) {
    if (!orderly) return;
    StartWatch clock;
    clock_on(&clock, w, "the end of the run");
    beats_end(w);
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

static const TransportModule module = {.abi = MODULE_INTERFACE,
                                       .transport = &transport_mpi,
                                       .join = mpi_join,
                                       .compare = mpi_compare,
                                       .describe = world_describe,
                                       .local_ranks = local_ranks,
                                       .fail = world_end,
                                       .leave = mpi_leave};

/* The library's text goes on with who built it. */
MODULE_ABOUT(out, size) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int n = 0;
    MPI_Get_library_version(text, &n);
    snprintf(out, size, "%.*s", (int)strcspn(text, ",\n"), text);
}

__attribute__((visibility("default"))) const TransportModule *fsdp_transport(void);
const TransportModule *fsdp_transport(void) { return &module; }
