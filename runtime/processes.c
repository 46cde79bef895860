/* Runs with one process a rank: starting them (`--transport mpi -n N`), meeting, comparing what
 * each found at its start, and ending together.
 *
 * Between the meeting and the comparison every rank but 0 keeps what it writes to stderr in a file
 * in memory. When all is well that text is dropped, since rank 0 said the same; else the first rank
 * that failed shows its own. So one message tells the mistake, however many ranks made it.
 *
 * Ranks are started through mpirun, which gives them what MPI needs to meet; fsdp-run stays as its
 * parent, passes interrupts on and turns its exit code into ours. mpirun gets a process group of
 * its own, so that Ctrl-C reaches only fsdp-run: mpirun itself would kill the ranks inside a step.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime.h"

/* Names the file through which ranks tell the process that started mpirun that one of them spoke.
 */
#define SAID "FSDP_RUN_SAID"

/* ---- stderr, held back */

static int held = -1, real_stderr = -1;

static void show_held(void) {
    char text[4096];
    ssize_t n;
    off_t at = 0;
    while (held >= 0 && (n = pread(held, text, sizeof text, at)) > 0) {
        if (write(real_stderr, text, (size_t)n) != n) return;
        at += n;
    }
}

static void release(bool show) {
    if (held < 0) return;
    fflush(stderr);
    if (show) show_held();
    dup2(real_stderr, STDERR_FILENO);
    close(held);
    close(real_stderr);
    held = -1;
}

/* A rank that ends while it is held still says why. */
static void release_at_exit(void) { release(true); }

static void release_at_abort(int signal_number) {
    (void)signal_number;
    show_held();
    signal(SIGABRT, SIG_DFL);
}

static void hold(void) {
    held = memfd_create("stderr", MFD_CLOEXEC);
    real_stderr = held < 0 ? -1 : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (real_stderr < 0) {
        held = -1;
        return;
    }
    fflush(stderr);
    dup2(held, STDERR_FILENO);
    atexit(release_at_exit);
    signal(SIGABRT, release_at_abort);
}

/* Tells the fsdp-run that started mpirun, if one did, that a rank says why the run ends. The first
 * one to tell has the word: lines are appended whole. */
static bool may_speak(void) {
    const char *path = getenv(SAID);
    int fd = path ? open(path, O_RDWR | O_APPEND | O_CLOEXEC) : -1;
    if (fd < 0) return true;
    pid_t mine = getpid(), first = 0;
    bool told = write(fd, &mine, sizeof mine) == (ssize_t)sizeof mine &&
                pread(fd, &first, sizeof first, 0) == (ssize_t)sizeof first;
    close(fd);
    return !told || first == mine;
}

void processes_said(void) { may_speak(); }

/* ---- meeting */

int processes_join(Run *run, const char *transport) {
    char error[ERROR_BYTES];
    run->module = transport_load(transport, error);
    int code = run->module ? 0 : EXIT_ENVIRONMENT;
    JoinOptions o = {.launcher = run->launch.launcher,
                     .rank = run->launch.rank,
                     .ranks = run->launch.ranks,
                     .local_rank = run->launch.local_rank,
                     .local_ranks = run->launch.local_ranks,
                     .timeout = run->timeout,
                     .test_hosts = run->test.hosts,
                     .may_speak = may_speak};
    if (!code) code = run->module->join(&o, &run->world, error);
    if (code) {
        fprintf(stderr, "error: %s\n", error);
        processes_said();
        if (run->module) processes_quit(code);
        return code;
    }
    run->transport = run->module->transport;
    run->transport_shared = run->world;
    run->launch.local_ranks = run->module->local_ranks(run->world);
    if (run->launch.rank != 0) hold();
    return 0;
}

static uint64_t options_fingerprint(const Run *run) {
    const Options *o = run->options;
    int64_t number[] = {run->steps, o->dump_step, o->save != NULL, o->load != NULL, o->threads};
    return hash_bytes(number, sizeof number, 0);
}

static int other_plan(const Run *run, const StartReport *all, int32_t rank) {
    char who[160];
    bool plan = all[rank].plan != all[0].plan;
    run->module->describe(run->world, rank, who, sizeof who);
    if (plan && run->launch.rank == 0)
        fprintf(stderr,
                "error: %s has another plan than rank 0: %016llx, not %016llx\n"
                "help: copy the same %s to every machine\n",
                who, (unsigned long long)all[rank].plan, (unsigned long long)all[0].plan,
                run->options->plan);
    else if (run->launch.rank == 0)
        fprintf(stderr,
                "error: %s was started with other options than rank 0\n"
                "help: --steps, --threads, --load, --save and --dump-grads must be the same\n",
                who);
    return EXIT_RANK;
}

int processes_compare(Run *run, int code) {
    if (!run->module) return code;
    char error[ERROR_BYTES];
    const PlanHeader *h = run->plan->header;
    StartReport mine = {
        .code = code, .plan = h->fingerprint ^ h->checksum, .options = options_fingerprint(run)};
    StartReport *all = calloc((size_t)run->launch.ranks, sizeof *all);
    if (!all) fail_environment("no memory for %d ranks", run->launch.ranks);
    int failed = run->module->compare(run->world, &mine, all, error);
    if (failed) {
        fprintf(stderr, "error: %s\n", error);
        processes_said();
        processes_quit(failed);
    }
    int32_t ranks = run->launch.ranks, speaker = 0, bad = 0;
    while (speaker < ranks && !all[speaker].code) speaker++;
    for (int32_t r = 0; r < ranks; r++) bad += all[r].code != 0;
    if (bad) {
        code = all[speaker].code;
        bool mine_to_say = speaker == run->launch.rank;
        char who[160];
        run->module->describe(run->world, speaker, who, sizeof who);
        if (mine_to_say && bad < ranks)
            fprintf(stderr, "note: this is %s; %d of %d ranks could start\n", who, ranks - bad,
                    ranks);
        release(mine_to_say);
    }
    release(false);
    for (int32_t r = 1; r < ranks && !code; r++)
        if (all[r].plan != all[0].plan || all[r].options != all[0].options)
            code = other_plan(run, all, r);
    free(all);
    if (code) processes_said();
    return code;
}

void processes_quit(int code) {
    release(true);
    fflush(stdout);
    fflush(stderr);
    _exit(code);
}

/* ---- starting */

static volatile sig_atomic_t mpirun_pid, interrupts;

static void pass_on(int signal_number) {
    (void)signal_number;
    /* mpirun hands SIGUSR1 to all ranks: they end behind the step. */
    if (mpirun_pid) kill((pid_t)mpirun_pid, interrupts++ ? SIGTERM : SIGUSR1);
}

static void child(char **command) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    setpgid(0, 0);
    int nothing = open("/dev/null", O_RDONLY);
    if (nothing >= 0) dup2(nothing, STDIN_FILENO);
    /* Before a rank has its handler, an interrupt must not kill it. */
    signal(SIGUSR1, SIG_IGN);
    execvp(command[0], command);
    fprintf(stderr,
            "error: cannot start %s: %s\n"
            "help: transport mpi needs Open MPI's mpirun (Debian: openmpi-bin)\n",
            command[0], strerror(errno));
    processes_said();
    _exit(EXIT_ENVIRONMENT);
}

/* Ranks that mpirun left (it was killed, or did not wait for them) are our children now. */
static void end_orphans(void) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    for (int round = 0; round < 100; round++) {
        FILE *f = fopen(path, "re");
        int pid, n = 0;
        for (; f && fscanf(f, "%d", &pid) == 1; n++) {
            if (round > 0) kill(pid, SIGKILL);
            waitpid(pid, NULL, round > 0 ? 0 : WNOHANG);
        }
        if (f) fclose(f);
        if (n == 0) return;
        usleep(10000);
    }
}

/* Our exit code for that of mpirun, which passes a rank's on, or 128 + its signal. */
static int code_of(int status, bool said, int32_t ranks) {
    bool killed = WIFSIGNALED(status);
    int code = killed ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    bool ours = code <= EXIT_TRAINING || code == EXIT_INTERRUPTED || code == 128 + SIGABRT;
    if (code && !said && code != EXIT_INTERRUPTED && code != 128 + SIGABRT) {
        if (killed || code > 128)
            fprintf(stderr, "error: %s was killed (%s)\nhelp: start the run again\n",
                    killed ? "mpirun" : "a rank", strsignal(code - 128));
        else
            fprintf(stderr,
                    "error: mpirun ended with exit code %d, and no rank said why\n"
                    "help: mpirun -n %d fsdp-run ... shows what mpirun says\n",
                    code, ranks);
        return code > 128 ? EXIT_RANK : EXIT_ENVIRONMENT;
    }
    return ours ? code : code > 128 ? EXIT_RANK : EXIT_ENVIRONMENT;
}

static char **command_line(const Run *run, char **argv) {
    static char ranks[16], self[] = "/proc/self/exe", path[4096];
    static char *const fixed[] = {"mpirun", "-q", "--oversubscribe", "--bind-to", "none", "-n"};
    int n = 0, count = 0;
    while (argv[count]) count++;
    char **out = calloc((size_t)count + ARRAY_LEN(fixed) + 8, sizeof *out);
    if (!out) fail_environment("no memory for the command line");
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++) out[n++] = fixed[i];
    snprintf(ranks, sizeof ranks, "%d", run->launch.ranks);
    out[n++] = ranks;
    if (geteuid() == 0) out[n++] = "--allow-run-as-root";
    ssize_t length = readlink(self, path, sizeof path - 1);
    if (length <= 0) fail_environment("cannot find the file of fsdp-run: %s", strerror(errno));
    path[length] = 0;
    out[n++] = path;
    bool only_files = false;
    for (int i = 1; i < count; i++) {
        only_files |= !strcmp(argv[i], "--");
        if (!only_files && !strcmp(argv[i], "-n")) {
            i++;
            continue;
        }
        if (!only_files && !strncmp(argv[i], "-n", 2)) continue;
        out[n++] = argv[i];
    }
    return out;
}

int processes_start(const Run *run, char **argv, int *code) {
    const char *name = run->options->transport;
    if (!name || strcmp(name, "mpi") || launch_is_of_processes(&run->launch)) return 0;
    if (!transport_known(name)) return 0; /* choose_transport says so */
    char **command = command_line(run, argv);
    fflush(stdout);
    fflush(stderr);
    struct sigaction a = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
    sigaction(SIGINT, &a, NULL);
    sigaction(SIGTERM, &a, NULL);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    int said = memfd_create("said", MFD_CLOEXEC);
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), said);
    setenv(SAID, path, 1);
    /* Open MPI's own traces of crashes would bury what a rank says; SIGSYS is never sent. */
    setenv("OMPI_MCA_opal_signal", "31", 1);
    pid_t pid = fork();
    if (pid == 0) child(command);
    if (pid < 0) fail_environment("cannot start mpirun: %s", strerror(errno));
    mpirun_pid = pid;
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    mpirun_pid = 0;
    end_orphans();
    free(command);
    struct stat s = {.st_size = 0};
    *code = code_of(status, fstat(said, &s) == 0 && s.st_size > 0, run->launch.ranks);
    close(said);
    return 1;
}
