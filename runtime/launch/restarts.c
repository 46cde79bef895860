/* `fsdp-run --restarts K`: a process that trains nothing. It starts the run as its child, with the
 * same command line, and starts it again when a rank was lost, up to K times; the run then
 * continues from the newest checkpoint in the folder that it writes to, or starts over if there is
 * none yet.
 *
 * A failure that would only repeat itself ends the run: the user's mistakes, missing resources,
 * corrupt inputs, a loss that is not finite, our bugs, and a rank that is lost twice in the same
 * way after the same step with no checkpoint in between. So does an interrupt. A launcher that
 * fails where it once worked counts as a lost rank: its host may have disappeared while it started
 * them.
 *
 * If --hosts started the ranks on several machines, those are asked before each restart whether
 * they are still there. Ranks of a lost one double up on the others: same plan, same bits, slower.
 *
 * All ranks of a run end before the next one begins, since it takes their locks on folder and log:
 * ranks whose parent was killed become children of this process, which ends them. It shares a page
 * of memory with rank 0 to know how far the run came (attempt_progress.c), and a variable tells
 * ranks that --restarts is being handled.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checkpoint.h"
#include "launch.h"

/* ---- what cannot be */

static int refuse_restarts(const LaunchContext *l, const RunOptions *o,
                           const CheckpointOptions *c) {
    if (launch_is_of_processes(l))
        return say_error(
            EXIT_USER,
            "--restarts: %s started this rank, and fsdp-run cannot start the others "
            "again\n"
            "help: let %s start the run again, with --resume-or-start FOLDER in place of "
            "--restarts: docs/checkpoints.md shows the commands",
            l->launcher, l->launcher);
    if (!c->folder)
        return say_error(EXIT_USER,
                         "--restarts needs --checkpoint FOLDER, or checkpoint.path in the "
                         "model file: a restart continues from a checkpoint\n"
                         "help: --checkpoint FOLDER --checkpoint-every STEPS");
    if (!o->log || strcmp(o->log, "-")) return 0;
    return say_error(EXIT_USER,
                     "--restarts and --log -: lines of repeated steps cannot be removed from "
                     "standard output\n"
                     "help: --log FILE");
}

/* ---- one attempt */

typedef struct Supervisor {
    const LaunchContext *launch;
    const RunOptions *options;
    const char *folder; /* of checkpoints */
    char **argv;
    Hosts hosts;
    sigset_t before; /* signals that were blocked when the program began */
    pid_t child;     /* 0 = has ended */
    int status;
    bool interrupted;
} Supervisor;

/* In the child. Signals reach it only through its parent, so that none comes twice. */
static _Noreturn void become_run(const Supervisor *k, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(EXIT_RANK);
    setpgid(0, 0);
    signal(SIGTTOU, SIG_IGN);
    pthread_sigmask(SIG_SETMASK, &k->before, NULL);
    execv("/proc/self/exe", k->argv); /* also where its file was replaced meanwhile */
    fprintf(stderr, "error: cannot start %s: %s\n", k->argv[0], strerror(errno));
    _exit(EXIT_ENVIRONMENT);
}

static void start_attempt(Supervisor *k, int32_t attempt) {
    char number[16];
    snprintf(number, sizeof number, "%d", attempt);
    setenv(RUN_ATTEMPT, number, 1);
    *attempt_page = (AttemptProgress){0};
    pid_t parent = getpid();
    fflush(stdout);
    fflush(stderr);
    k->child = fork();
    if (k->child == 0) become_run(k, parent);
    if (k->child < 0) fail_environment("cannot start the run: %s", strerror(errno));
}

static void stop_together(const Supervisor *k) {
    kill(k->child, SIGTSTP);
    raise(SIGSTOP);
    kill(k->child, SIGCONT);
}

static void pass_signal_on(Supervisor *k, int signal_number) {
    if (signal_number == SIGTSTP) {
        stop_together(k);
    } else if (signal_number > 0 && signal_number != SIGCHLD) {
        k->interrupted = true;
        kill(k->child, signal_number);
    }
}

/* Until the child and whatever it left behind have ended. */
static void attend_child(Supervisor *k) {
    sigset_t set = processes_awaited_signals();
    while (k->child > 0) {
        int status;
        pass_signal_on(k, sigwaitinfo(&set, NULL));
        for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
            if (pid != k->child) continue;
            k->child = 0;
            k->status = status;
        }
    }
    processes_end_orphans();
}

static int exit_code(const Supervisor *k) {
    if (WIFEXITED(k->status)) return WEXITSTATUS(k->status);
    if (k->interrupted) return EXIT_INTERRUPTED;
    return WTERMSIG(k->status) == SIGABRT ? 128 + SIGABRT : EXIT_RANK;
}

/* ---- again? */

typedef struct Failure {
    int status;
    bool begun;
    int64_t done, newest; /* steps; newest checkpoint, -1 = none */
    int32_t lost;         /* hosts that it ran without */
} Failure;

static int64_t newest_step(const Supervisor *k) {
    uint32_t n;
    int64_t *step = ck_steps(k->folder, &n), newest = n ? step[n - 1] : -1;
    free(step);
    return newest;
}

static Failure failure_of(const Supervisor *k) {
    return (Failure){.status = k->status,
                     .begun = atomic_load(&attempt_page->begun),
                     .done = atomic_load(&attempt_page->done),
                     .newest = newest_step(k),
                     .lost = hosts_lost(&k->hosts)};
}

static bool same_failure(const Failure *a, const Failure *b) {
    return a->status == b->status && a->begun == b->begun && a->done == b->done &&
           a->newest == b->newest && a->lost == b->lost;
}

/* "after 7 steps" */
static const char *when_text(const Failure *f, char out[64]) {
    if (f->begun)
        snprintf(out, 64, "after %" PRId64 " step%s", f->done, f->done == 1 ? "" : "s");
    else
        snprintf(out, 64, "before its first step");
    return out;
}

static void tell_signal(const Supervisor *k) {
    if (!WIFSIGNALED(k->status)) return; /* the run said why */
    fprintf(stderr,
            "error: the run was killed (%s)\n"
            "help: the kernel's log (dmesg) tells whether memory ran out\n",
            strsignal(WTERMSIG(k->status)));
}

static void tell_restart(const Supervisor *k, const Failure *f, int32_t attempt) {
    char text[64], step[32];
    fprintf(stderr, "restart %d of %d: the run failed %s and ", attempt, k->options->restarts,
            when_text(f, text));
    ck_step_name(step, f->newest);
    if (f->newest < 0)
        fprintf(stderr, "starts over, since there is no checkpoint yet\n");
    else
        fprintf(stderr, "continues from %s/%s\n", k->folder, step);
}

static void tell_end(const Supervisor *k, const Failure *f, bool repeated) {
    char text[64];
    if (repeated)
        fprintf(stderr,
                "error: the run failed twice %s, with no checkpoint in between: a restart would "
                "only fail again\n",
                when_text(f, text));
    else
        fprintf(stderr, "error: the run failed %s, and --restarts %d is used up\n",
                when_text(f, text), k->options->restarts);
    if (f->newest >= 0)
        fprintf(stderr, "help: --resume-or-start %s continues once the cause is gone\n", k->folder);
}

/* The run could not continue from a damaged checkpoint: renames it, so that the next attempt finds
 * the newest whole one, if there is one. */
static bool set_damaged_aside(const Supervisor *k) {
    char path[CK_PATH], aside[CK_PATH + 16], error[ERROR_BYTES];
    Checkpoint *c;
    if (ck_resolve_step(k->folder, path, error)) return false;
    int code = checkpoint_open(&c, path, error);
    if (!code) {
        code = ck_verify(c, error);
        checkpoint_close(c);
    }
    if (code != EXIT_CORRUPT || ck_good_before(path) < 0) return false;
    snprintf(aside, sizeof aside, "%s.damaged", path);
    if (rename(path, aside)) return false;
    fprintf(stderr, "note: renamed %s to %s\n", path, aside);
    return true;
}

/* Asks the hosts whether they are still there. For the next attempt, the ranks of a host that does
 * not answer are placed on the hosts that do. */
static void look_for_hosts(Supervisor *k) {
    hosts_ask(&k->hosts);
    unsetenv(SPAWN_HOSTS);
    if (!hosts_lost(&k->hosts)) return;
    int32_t ranks = k->launch->ranks;
    Arena *a = arena_new();
    const char *line = hosts_line(&k->hosts, ranks, a);
    setenv(SPAWN_HOSTS, line, 1);
    const char *what =
        hosts_have_room(&k->hosts, ranks) ? "the others have room" : "its ranks double up";
    for (int32_t i = 0; i < k->hosts.n; i++)
        if (k->hosts.host[i].lost)
            fprintf(stderr, "note: %s no longer answers; %s: --hosts %s\n", k->hosts.host[i].name,
                    what, line);
    arena_free(a);
}

/* Should the run be started again after this attempt? *last: how the attempt before it failed; it
 * receives how this one did. */
static bool start_again(Supervisor *k, int32_t attempt, Failure *last) {
    int code = exit_code(k);
    if (k->interrupted || (code != EXIT_RANK && code != EXIT_CORRUPT)) return false;
    tell_signal(k);
    if (code == EXIT_CORRUPT && (attempt == 0 || !set_damaged_aside(k))) return false;
    Failure f = failure_of(k);
    bool repeated = attempt > 0 && same_failure(&f, last),
         used_up = attempt == k->options->restarts;
    *last = f;
    if (repeated || used_up)
        tell_end(k, &f, repeated);
    else
        tell_restart(k, &f, attempt + 1);
    if (!repeated && !used_up) look_for_hosts(k);
    return !repeated && !used_up;
}

int restarts_supervise(LaunchContext *l, const RunOptions *o, const CheckpointOptions *c,
                       char **argv, int *code) {
    if (o->restarts <= 0 || getenv(RUN_ATTEMPT)) return 0;
    if ((*code = refuse_restarts(l, o, c))) return 1;
    if (c->every <= 0 && !o->quiet)
        fprintf(stderr, "note: without --checkpoint-every a restart begins at the first step\n");
    Supervisor k = {
        .launch = l, .options = o, .folder = c->folder, .argv = argv, .hosts = l->hosts};
    Failure last = {0};
    sigset_t set = processes_awaited_signals();
    pthread_sigmask(SIG_BLOCK, &set, &k.before);
    processes_adopt_orphans();
    attempt_share();
    hosts_ask(&k.hosts); /* now, while all are up: which of them answer at all */
    int32_t attempt = 0;
    do {
        start_attempt(&k, attempt);
        attend_child(&k);
    } while (start_again(&k, attempt++, &last));
    *code = exit_code(&k);
    return 1;
}
