/* What may harm a process is tried by another one: a device that knows several ways to do the same
 * (Device.trial_begin) finds out which are right and fast, and a wrong way may end the process,
 * never end itself, or leave a device that does nothing more.
 *
 * When all processes have compared what they found, but before ranks are opened, this process
 * starts itself again with the same command line and TRIAL in the environment. That one opens the
 * ranks of this process, without meeting others, down to the executor, which lets the device try
 * the launches; then it ends. It has the device for itself: this process has no arena yet, only its
 * context. What it finds is in a log, a file in memory; while that does not grow for half of
 * FSDP_TIMEOUT (other machines wait for this one), the process is taken to hang and is killed.
 * After each end by a fault another process tries the rest. Whatever happens, the run goes on.
 */
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "local.h"
#include "run.h"

#define TRIAL "FSDP_RUN_TRIAL" /* the number of the log's file */
enum { POLL_MS = 10 };

/* ---- the process that runs the plan */

static pid_t start_trial(int log, char **argv, char *why) {
    char number[16];
    pid_t child = 0;
    snprintf(number, sizeof number, "%d", log);
    setenv(TRIAL, number, 1);
    int failed = posix_spawn(&child, "/proc/self/exe", NULL, NULL, argv, environ);
    unsetenv(TRIAL);
    if (!failed) return child;
    snprintf(why, ERROR_BYTES, "does not start (%s)", strerror(failed));
    return 0;
}

static int64_t size_of(int log) {
    struct stat about;
    return fstat(log, &about) ? 0 : (int64_t)about.st_size;
}

/* Waits for its end; *why: what went wrong, empty if nothing did. */
static void await_trial(const Run *run, pid_t child, int log, char *why) {
    int32_t seconds = MAX(run->launch.timeout / 2, 1), silent_ms = 0;
    int64_t size = size_of(log);
    int status = 0;
    bool late = false, called_off = false;
    while (waitpid(child, &status, WNOHANG) == 0) {
        int64_t now = size_of(log);
        silent_ms = now == size ? silent_ms + POLL_MS : 0;
        size = now;
        late = silent_ms >= seconds * 1000;
        called_off = atomic_load(&run->end.interrupted) != 0;
        if (late || called_off) kill(child, SIGKILL);
        pause_ms(POLL_MS);
    }
    if (late)
        snprintf(why, ERROR_BYTES, "did nothing for %d s and was killed", seconds);
    else if (WIFSIGNALED(status) && !called_off)
        snprintf(why, ERROR_BYTES, "was ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else if (WIFEXITED(status) && WEXITSTATUS(status))
        snprintf(why, ERROR_BYTES, "ended with exit code %d", WEXITSTATUS(status));
}

void trial_run(Run *run, char **argv) {
    const Device *d = run->device;
    int log = -1;
    char error[ERROR_BYTES];
    DeviceOptions device = rank_device_options(&run->rank[0]);
    /* Who opens ranks finds the same fault, and says so once for all processes. */
    if (!d->trial_begin || d->trial_begin(&device, &log, error)) return;
    for (bool again = log >= 0; again;) {
        char why[ERROR_BYTES] = "";
        pid_t child = start_trial(log, argv, why);
        if (child) await_trial(run, child, log, why);
        bool called_off = atomic_load(&run->end.interrupted) != 0;
        again = d->trial_end(log, !*why && !called_off, *why && !called_off ? why : NULL);
    }
}

/* ---- the process that tries */

bool trial_is_wanted(Run *run) {
    const char *log = getenv(TRIAL);
    if (log) run->trial = atoi(log);
    return run->trial > 0;
}

/* Its run is over when the other process is. */
static void end_with_parent(void) {
    pid_t parent = getppid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) raise(SIGKILL);
}

int trial_here(Run *run) {
    char error[ERROR_BYTES];
    end_with_parent();
    int code = device_choose(run);
    if (code) return code;
    run->transport = &transport_local;
    run->transport_shared = local_world_new(run->plan, run->launch.ranks, run->launch.timeout);
    capacity_count_threads(run);
    ranks_number(run);
    code = capacity_of_device(run, error);
    const char *why = error;
    for (int32_t i = 0; i < run->n_rank && !code; i++) {
        code = rank_open(&run->rank[i]);
        why = run->rank[i].error;
    }
    if (code && run_speaks(run)) fprintf(stderr, "note: algorithms cannot be tried: %s\n", why);
    ranks_close(run);
    local_world_free(run->transport_shared);
    return code;
}
