/* `fsdp-run -n N` where each rank is a process: starts them, stays as their parent, passes
 * interrupts on, and turns their exit codes into one.
 *
 * Transport mpi: through mpirun, which gives the ranks what MPI needs to meet, on this machine or
 * those of --hosts. It gets a process group of its own, so that Ctrl-C reaches only fsdp-run:
 * mpirun itself would kill the ranks inside a step. Until the ranks have met there is nothing to
 * save, and mpirun might lose signals for them: then an interrupt ends it.
 *
 * Other transports: N copies of this program, with the variables of a launcher. They meet at a
 * socket that is opened here and that rank 0 inherits, so no other program can take the port in
 * between. The first Ctrl-C reaches them as SIGTERM, and SIGUSR1 is passed on; both end them after
 * the step, and each rank blocks them until it can handle them. A second one ends them at once.
 *
 * The ranks themselves print why the run ends, the first one for all; this file reports only ranks
 * that could not. When one has failed, the others have some seconds to notice it, then they are
 * killed. When this process is killed, the kernel kills the ranks.
 *
 * mpirun of Open MPI 4 may wait for ever for a lock of its own when it is about to end, and lets
 * ranks wait in MPI_Finalize while a stranger is connected to its port and silent. So it is killed
 * when none of its children has lived for a while, or some time after the ranks came to their end.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launch.h"
#include "machine.h"

/* Time limits: of the others after one failed, when nobody has printed why and when somebody has;
 * of all after a second interrupt; of mpirun after its last child ended, and after the end of the
 * ranks. */
enum {
    SILENT_MS = 3000,
    TOLD_MS = 5000,
    INTERRUPT_MS = 2000,
    CHILDLESS_MS = 20000,
    ENDED_MS = 10000,
    WAIT_MS = 200
};

typedef struct Child {
    pid_t pid;
    int status;
    bool stopped, ended;
} Child;

typedef struct Family {
    Arena *arena;
    bool mpirun;                 /* one child, which has the ranks */
    int32_t n, alive, first_bad; /* first_bad: child that failed first, or -1 */
    Child *child;
    int interrupts;
    /* When the first failed; when the second interrupt came, or one that ends the start; or 0. */
    int64_t bad_ms, interrupt_ms;
    bool noticed;             /* SIGUSR1 came */
    bool called_off;          /* an interrupt came before the ranks met */
    bool had_children, hangs; /* mpirun: it has started something; it waits for itself */
    int64_t parent_ms;        /* when it had a living child, as far as we saw */
    int64_t ended_ms;         /* when its ranks came to their end; or 0 */
} Family;

static pid_t speaker(void) { return atomic_load(&attempt_page->speaker); }

/* ---- signals: all that concern us are waited for, so nothing happens in a handler */

sigset_t processes_awaited_signals(void) {
    sigset_t set = signal_set((const int[]){SIGINT, SIGTERM, SIGUSR1, SIGCHLD, SIGTSTP, 0});
    if (!processes_ignore(SIGHUP)) sigaddset(&set, SIGHUP);
    return set;
}

static void send_all(const Family *f, int signal_number) {
    for (int32_t i = 0; i < f->n; i++)
        if (f->child[i].pid > 0 && !f->child[i].ended) kill(f->child[i].pid, signal_number);
}

/* Before the ranks met: mpirun is told once, since a second signal may crash it. */
static bool call_off(Family *f) {
    if (!f->mpirun || !attempt_call_off()) return false;
    if (!f->called_off) send_all(f, SIGTERM);
    if (!f->called_off) f->interrupt_ms = monotonic_ms();
    f->called_off = true;
    return true;
}

static void interrupt_children(Family *f) {
    if (call_off(f)) return;
    /* mpirun hands SIGUSR1 to all ranks: they end after the step. */
    send_all(f, f->mpirun && !f->interrupts ? SIGUSR1 : SIGTERM);
    if (++f->interrupts == 2) f->interrupt_ms = monotonic_ms();
}

/* Never ends the ranks at once, however often it comes. */
static void notify_children(Family *f) {
    if (call_off(f)) return;
    f->noticed = true;
    send_all(f, SIGUSR1);
}

/* Ctrl-Z stops the whole run, `fg` lets it go on. */
static void stop_together(const Family *f) {
    if (!f->mpirun) send_all(f, SIGSTOP);
    raise(SIGSTOP);
    if (!f->mpirun) send_all(f, SIGCONT);
}

/* ---- the children */

static void prepare_child(pid_t parent, const sigset_t *mask, int dies_by) {
    prctl(PR_SET_PDEATHSIG, dies_by);
    if (getppid() != parent) _exit(EXIT_RANK);
    setpgid(0, 0);
    int nothing = open("/dev/null", O_RDONLY);
    if (nothing >= 0) dup2(nothing, STDIN_FILENO);
    signal(SIGTTOU, SIG_IGN);
    pthread_sigmask(SIG_SETMASK, mask, NULL);
}

static void mpirun_child(char **command, pid_t parent, const sigset_t *mask) {
    sigset_t own = *mask;
    sigdelset(&own, SIGUSR1);
    prepare_child(parent, &own, SIGTERM);
    /* Nor may mpirun end by writing to one that is gone; it gives this signal back to ranks. */
    signal(SIGPIPE, SIG_IGN);
    execvp(command[0], command);
    fprintf(stderr,
            "error: cannot start %s: %s\n"
            "help: transport mpi needs Open MPI's mpirun (Debian: openmpi-bin)\n",
            command[0], strerror(errno));
    attempt_speak();
    _exit(EXIT_ENVIRONMENT);
}

/* Its variables are set already: between fork and exec only what a signal handler may do is done,
 * since a device's driver may have threads here. */
static void rank_child(char **command, int32_t rank, int listener, pid_t parent,
                       const sigset_t *mask) {
    sigset_t own = *mask;
    sigaddset(&own, SIGTERM);
    sigaddset(&own, SIGUSR1);
    prepare_child(parent, &own, SIGKILL);
    if (rank == 0) fcntl(listener, F_SETFD, 0);
    execv(command[0], command);
    fprintf(stderr, "error: cannot start %s as rank %d: %s\n", command[0], rank, strerror(errno));
    attempt_speak();
    _exit(EXIT_ENVIRONMENT);
}

static void note_change(Family *f, pid_t pid, int status) {
    for (int32_t i = 0; i < f->n; i++) {
        if (f->child[i].pid != pid || f->child[i].ended) continue;
        f->child[i].stopped = WIFSTOPPED(status);
        if (WIFSTOPPED(status) || WIFCONTINUED(status)) continue;
        f->child[i].ended = true;
        f->child[i].status = status;
        f->alive--;
        bool good = WIFEXITED(status) &&
                    (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == EXIT_INTERRUPTED);
        if (good || f->first_bad >= 0) continue;
        f->first_bad = i;
        f->bad_ms = monotonic_ms();
    }
}

static bool all_stopped(const Family *f) {
    for (int32_t i = 0; i < f->n; i++)
        if (!f->child[i].ended && !f->child[i].stopped) return false;
    return true;
}

/* Each of its threads may have started some. */
static bool has_living_child(pid_t parent) {
    char pattern[64];
    glob_t found;
    bool lives = false;
    snprintf(pattern, sizeof pattern, "/proc/%d/task/*/children", (int)parent);
    if (glob(pattern, GLOB_NOSORT, NULL, &found)) return false;
    for (size_t i = 0; i < found.gl_pathc && !lives; i++) {
        FILE *f = fopen(found.gl_pathv[i], "re");
        int child;
        while (f && !lives && fscanf(f, "%d", &child) == 1) lives = machine_lives(child);
        if (f) fclose(f);
    }
    globfree(&found);
    return lives;
}

static bool mpirun_hangs(Family *f) {
    int code;
    if (!f->ended_ms && attempt_ended(&code)) f->ended_ms = monotonic_ms();
    if (has_living_child(f->child[0].pid)) {
        f->had_children = true;
        f->parent_ms = monotonic_ms();
    }
    f->hangs = (f->had_children && monotonic_ms() - f->parent_ms >= CHILDLESS_MS) ||
               (f->ended_ms && monotonic_ms() - f->ended_ms >= ENDED_MS);
    return f->hangs;
}

static bool time_is_up(Family *f) {
    if (f->called_off) return monotonic_ms() - f->interrupt_ms >= TOLD_MS;
    if (f->mpirun) return f->alive > 0 && mpirun_hangs(f);
    if (f->bad_ms && speaker() && all_stopped(f)) return true;
    if (f->interrupt_ms && monotonic_ms() - f->interrupt_ms >= INTERRUPT_MS) return true;
    return f->bad_ms && monotonic_ms() - f->bad_ms >= (speaker() ? TOLD_MS : SILENT_MS);
}

/* Until the last child has ended; codes are noted. */
static void attend_children(Family *f) {
    sigset_t set = processes_awaited_signals();
    while (f->alive > 0) {
        struct timespec limit = {.tv_nsec = WAIT_MS * 1000000};
        int got = sigtimedwait(&set, NULL, &limit), status;
        if (got == SIGINT || got == SIGTERM || got == SIGHUP) interrupt_children(f);
        if (got == SIGUSR1) notify_children(f);
        if (got == SIGTSTP) stop_together(f);
        pid_t pid;
        while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0)
            note_change(f, pid, status);
        if (time_is_up(f)) send_all(f, SIGKILL);
    }
}

static FILE *open_children(void) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    return fopen(path, "re");
}

/* Children of a shell that became this program. */
static Arena *earlier_memory;
static VEC(int) earlier;

static bool came_earlier(int pid) {
    for (uint32_t i = 0; i < earlier.n; i++)
        if (earlier.at[i] == pid) return true;
    return false;
}

void processes_adopt_orphans(void) {
    FILE *f = open_children();
    int pid;
    earlier_memory = arena_new();
    while (f && fscanf(f, "%d", &pid) == 1) vec_push(earlier_memory, &earlier, pid);
    if (f) fclose(f);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* Ranks that mpirun or another parent left (it was killed, or did not wait for them) are our
 * children now. */
void processes_end_orphans(void) {
    for (int round = 0; round < 100; round++) {
        FILE *f = open_children();
        int pid, n = 0;
        while (f && fscanf(f, "%d", &pid) == 1) {
            if (came_earlier(pid)) continue;
            if (round > 0) kill(pid, SIGKILL);
            waitpid(pid, NULL, round > 0 ? 0 : WNOHANG);
            n++;
        }
        if (f) fclose(f);
        if (n == 0) return;
        pause_ms(10);
    }
}

/* ---- exit codes */

static bool is_ours(int code) {
    return code <= EXIT_TRAINING || code == EXIT_INTERRUPTED || code == 128 + SIGABRT;
}

enum { MOST_SIGNALS = 64 };

static void say_mpirun_hung(void) {
    fprintf(stderr,
            "error: mpirun hung after its last rank had ended, and no rank said how the run "
            "ended\nhelp: start the run again\n");
}

/* Such as 255, when it cannot reach a host; once that worked, it is one that went away. */
static void say_mpirun_ended(const LaunchContext *l, int code) {
    const char *hosts = l->hosts.n > 1 ? "ssh must reach each of --hosts without a password; " : "";
    if (attempt_met()) {
        fprintf(stderr,
                "error: mpirun ended the run with exit code %d: a host or its ranks are gone, and "
                "no rank said which\n"
                "help: check that the hosts answer, then start the run again\n",
                code);
        return;
    }
    fprintf(stderr,
            "error: mpirun ended with exit code %d, and no rank said why\n"
            "help: %smpirun -n %d fsdp-run ... shows what mpirun says\n",
            code, hosts, l->ranks);
}

/* Whoever asked us to end may have asked mpirun and the ranks, too. */
static bool ends_on_request(int code) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        if (code == 128 + signals[i]) return true;
    return false;
}

/* Our exit code for that of mpirun, which passes a rank's on, or 128 + its signal. */
static int mpirun_code(const Family *f, const LaunchContext *l) {
    int status = f->child[0].status;
    bool killed = WIFSIGNALED(status);
    int code = killed ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    int ended;
    if (f->called_off) return EXIT_INTERRUPTED;
    if (f->hangs && !speaker() && attempt_ended(&ended)) return ended;
    /* Ranks of other hosts speak for themselves; but small codes are mpirun's own, too. */
    if (l->hosts.n > 1 && code > EXIT_ENVIRONMENT && is_ours(code)) return code;
    if (code && code != 128 + SIGABRT && f->interrupts > 1) return EXIT_INTERRUPTED;
    bool asked = f->interrupts || f->noticed;
    if (code && asked && !speaker() && (f->hangs || ends_on_request(code))) return EXIT_INTERRUPTED;
    bool by_signal = code > 128 && code <= 128 + MOST_SIGNALS;
    if (code && !speaker() && code != EXIT_INTERRUPTED && code != 128 + SIGABRT) {
        if (f->hangs)
            say_mpirun_hung();
        else if (by_signal)
            fprintf(stderr, "error: %s was killed (%s)\nhelp: start the run again\n",
                    killed ? "mpirun" : "a rank", strsignal(code - 128));
        else
            say_mpirun_ended(l, code);
        return by_signal || attempt_met() ? EXIT_RANK : EXIT_ENVIRONMENT;
    }
    /* mpirun's own: 9 for a daemon that was killed after its host was cut off, 1 for many things,
     * which working ranks never return. */
    bool own = !is_ours(code) || (code == EXIT_USER && l->hosts.n > 1);
    if (own && attempt_met()) return EXIT_RANK;
    return is_ours(code) ? code : code > 128 ? EXIT_RANK : EXIT_ENVIRONMENT;
}

static int child_code(const Child *c) {
    if (WIFSIGNALED(c->status)) return WTERMSIG(c->status) == SIGABRT ? 128 + SIGABRT : EXIT_RANK;
    int code = WEXITSTATUS(c->status);
    return is_ours(code) ? code : EXIT_RANK;
}

static void name_first(const Family *f) {
    int32_t rank = f->first_bad;
    int status = f->child[rank].status;
    fflush(stderr);
    if (WIFSIGNALED(status))
        fprintf(
            stderr,
            "error: rank %d (process %d) was killed (%s)\n"
            "help: the kernel's log (dmesg) tells whether memory ran out; start the run again\n",
            rank, (int)f->child[rank].pid, strsignal(WTERMSIG(status)));
    else
        fprintf(stderr,
                "error: rank %d (process %d) ended with exit code %d and did not say why\n"
                "help: start the run again\n",
                rank, (int)f->child[rank].pid, WEXITSTATUS(status));
}

/* A bug of ours goes before all; else the code of who said why, else of who failed first. */
static int family_code(const Family *f) {
    int code = 0;
    pid_t first = speaker();
    for (int32_t i = 0; i < f->n; i++) {
        int its = child_code(&f->child[i]);
        if (its == 128 + SIGABRT) return its;
        if (its == EXIT_INTERRUPTED && !code) code = its;
    }
    if (f->interrupts > 1 && f->first_bad >= 0) return EXIT_INTERRUPTED;
    if (f->first_bad < 0) return code;
    for (int32_t i = 0; i < f->n; i++)
        if (f->child[i].pid == first && child_code(&f->child[i])) return child_code(&f->child[i]);
    if (!first) name_first(f);
    return child_code(&f->child[f->first_bad]);
}

/* ---- starting */

static bool begins_with(const char *text, const char *with) {
    return !strncmp(text, with, strlen(with));
}

/* Options for the process that starts the ranks. */
static bool not_for_ranks(const char *option) {
    return option && (!strcmp(option, "-n") || !strcmp(option, "--hosts"));
}

typedef struct CommandLine {
    Arena *arena;
    VEC(char *) words; /* with NULL at their end, when it is complete */
} CommandLine;

static void add_word(CommandLine *line, const char *word) {
    vec_push(line->arena, &line->words, (char *)(uintptr_t)word);
}

/* Goes on with this program's own command without such. */
static void add_program(CommandLine *line, char **argv, const char *transport) {
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0) fail_environment("cannot find the file of fsdp-run: %s", strerror(errno));
    add_word(line, arena_strndup(line->arena, path, (size_t)length));
    add_word(line, "--transport"); /* one that the user gave comes later and says the same */
    add_word(line, transport);
    bool only_files = false;
    for (char **at = argv + 1; *at;) {
        int words = 1;
        only_files |= !strcmp(*at, "--");
        bool left_out = !only_files && not_for_ranks(option_of(*at, &words));
        for (; words > 0 && *at; words--, at++)
            if (!left_out) add_word(line, *at);
    }
    add_word(line, NULL);
}

/* Is this variable for ranks on other hosts? Those of the run name things of this one. */
static bool goes_along(const char *variable) {
    return begins_with(variable, RUN_ATTEMPT "=") ||
           (begins_with(variable, "FSDP_") && !begins_with(variable, "FSDP_RUN_"));
}

/* --host, and -x for each variable of ours. */
static void add_hosts(CommandLine *line, const LaunchContext *l) {
    if (!l->hosts.n) return;
    setenv("OMPI_MCA_orte_keep_fqdn_hostnames", "1", 0); /* names as they were given */
    add_word(line, "--host");
    add_word(line, hosts_line(&l->hosts, l->ranks, line->arena));
    for (char **e = environ; *e; e++) {
        if (!goes_along(*e)) continue;
        add_word(line, "-x");
        add_word(line, arena_strndup(line->arena, *e, strcspn(*e, "=")));
    }
}

static void add_mpirun(CommandLine *line, const LaunchContext *l) {
    static const char *const always[] = {"mpirun",    "-q",   "--oversubscribe",
                                         "--bind-to", "none", "-n"};
    for (size_t i = 0; i < ARRAY_LEN(always); i++) add_word(line, always[i]);
    add_word(line, arena_printf(line->arena, "%d", l->ranks));
    if (geteuid() == 0) add_word(line, "--allow-run-as-root");
    add_hosts(line, l);
}

static void start_mpirun(Family *f, const LaunchContext *l, char **argv, const char *transport,
                         const sigset_t *mask) {
    CommandLine line = {.arena = f->arena};
    /* Left over from another launcher: -n goes before it. */
    static const char *const others[] = {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"};
    for (size_t i = 0; i < ARRAY_LEN(others); i++) unsetenv(others[i]);
    add_mpirun(&line, l);
    add_program(&line, argv, transport);
    /* Ranks of one machine need no port: memory carries what MPI sends. */
    if (l->hosts.n < 2) setenv("OMPI_MCA_pml", "ob1", 0);
    if (l->hosts.n < 2) setenv("OMPI_MCA_btl", "self,vader", 0);
    /* Open MPI's own traces of crashes would bury what a rank says; SIGSYS is never sent. */
    setenv("OMPI_MCA_opal_signal", "31", 1);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) mpirun_child(line.words.at, parent, mask);
    if (pid < 0) fail_environment("cannot start mpirun: %s", strerror(errno));
    f->child[0].pid = pid;
    f->alive = 1;
}

/* A socket that only this machine reaches, at any free port. */
static int open_listener(int *port) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (void *)&at, length) || listen(fd, SOMAXCONN) ||
        getsockname(fd, (void *)&at, &length))
        fail_environment("cannot open a socket for the ranks to meet: %s", strerror(errno));
    *port = ntohs(at.sin_port);
    return fd;
}

static void set_number(const char *name, int64_t value) {
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)value);
    setenv(name, text, 1);
}

static void start_ranks(Family *f, char **argv, const char *transport, const sigset_t *mask) {
    int port;
    uint64_t identity = 0;
    int listener = open_listener(&port);
    while (!identity)
        if (getrandom(&identity, sizeof identity, 0) < 0) identity = (uint64_t)monotonic_ms();
    setenv(SPAWN_RUN, arena_printf(f->arena, "%016llx", (unsigned long long)identity), 1);
    set_number("WORLD_SIZE", f->n);
    set_number("LOCAL_WORLD_SIZE", f->n);
    setenv("MASTER_ADDR", "127.0.0.1", 1);
    set_number("MASTER_PORT", port);
    set_number("FSDP_NCCL_PORT", port);
    CommandLine line = {.arena = f->arena};
    add_program(&line, argv, transport);
    pid_t parent = getpid();
    set_number(SPAWN_LISTENER, listener); /* for rank 0 */
    for (int32_t i = 0; i < f->n; i++) {
        set_number("RANK", i);
        set_number("LOCAL_RANK", i);
        if (i == 1) unsetenv(SPAWN_LISTENER);
        pid_t pid = fork();
        if (pid == 0) rank_child(line.words.at, i, listener, parent, mask);
        if (pid < 0) {
            int failure = errno;
            send_all(f, SIGKILL);
            fail_environment("cannot start rank %d: %s", i, strerror(failure));
        }
        f->child[i].pid = pid;
        f->alive++;
    }
    close(listener);
}

int processes_start(const LaunchContext *l, const TransportTraits *t, char **argv, int *code) {
    if (t->start == AS_THREADS || launch_is_of_processes(l)) return 0;
    if (!transport_present(t)) return 0; /* transport_open says so */
    Family f = {.mpirun = t->start == BY_MPIRUN, .first_bad = -1};
    if (!f.mpirun && l->ranks == 1) return 0;
    f.arena = arena_new();
    f.n = f.mpirun ? 1 : l->ranks;
    f.child = arena_array(f.arena, Child, f.n);
    fflush(stdout);
    fflush(stderr);
    sigset_t set = processes_awaited_signals(), before;
    pthread_sigmask(SIG_BLOCK, &set, &before);
    processes_adopt_orphans();
    if (!attempt_page) attempt_share();
    if (f.mpirun)
        start_mpirun(&f, l, argv, t->name, &before);
    else
        start_ranks(&f, argv, t->name, &before);
    attend_children(&f);
    processes_end_orphans();
    *code = f.mpirun ? mpirun_code(&f, l) : family_code(&f);
    arena_free(f.arena);
    return 1;
}
