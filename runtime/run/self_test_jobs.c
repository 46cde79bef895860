/* Processes of --self-test. What one of them breaks (its GPU's context, itself) is its own: a row
 * fails, and the others are not touched.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "self_test.h"

/* Where plain kernels of the cpu are the reference, they take most of the time. */
enum { LEAST_AT_ONCE = 2, MOST_AT_ONCE = 12, POLL_MS = 5 };

static _Noreturn void become(const Job *j, const char *folder) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0); /* fsdp-run may start processes: they end together */
    int out = open(j->out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (out < 0 || chdir(folder)) _exit(EXIT_ENVIRONMENT);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    for (int i = 0; i < JOB_VARIABLES && j->variable[i][0]; i++)
        setenv(j->variable[i][0], j->variable[i][1], 1);
    execv(j->argv[0], (char *const *)(uintptr_t)j->argv);
    dprintf(out, "%s: %s\n", j->argv[0], strerror(errno));
    _exit(EXIT_ENVIRONMENT);
}

static void start(Job *j, const char *folder) {
    j->begun_ms = monotonic_ms();
    j->pid = fork();
    if (j->pid == 0) become(j, folder);
    if (j->pid < 0) fail_environment("cannot start a process: %s", strerror(errno));
}

/* Is it under way? */
static bool is_running(Job *j, int seconds) {
    if (waitpid(j->pid, &j->status, WNOHANG) == j->pid) j->done = true;
    if (!j->done && !j->late && monotonic_ms() - j->begun_ms > seconds * 1000) {
        j->late = true;
        kill(-j->pid, SIGKILL);
    }
    return !j->done;
}

void jobs_run(Job *job, size_t n, const char *folder, int seconds, void (*ended)(void *context),
              void *context) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN) * 3 / 4;
    size_t limit = (size_t)MAX(LEAST_AT_ONCE, MIN(cores, MOST_AT_ONCE)), running = 0;
    for (size_t next = 0, left = n; left > 0;) {
        for (; next < n && running < limit; running++) start(&job[next++], folder);
        pause_ms(POLL_MS);
        for (size_t i = 0; i < next; i++) {
            if (job[i].done || is_running(&job[i], seconds)) continue;
            running--;
            left--;
            ended(context);
        }
    }
}

bool job_succeeded(const Job *j) {
    return j->done && WIFEXITED(j->status) && WEXITSTATUS(j->status) == 0;
}

char *job_output(const Job *j) {
    Buf text = {0};
    char piece[4096];
    FILE *f = fopen(j->out, "re");
    for (size_t n; f && (n = fread(piece, 1, sizeof piece, f)) > 0;)
        buf_printf(&text, "%.*s", (int)n, piece);
    if (f) fclose(f);
    char *copy = strdup(text.n ? text.at : "");
    buf_free(&text);
    if (!copy) fail_environment("out of memory");
    return copy;
}

void job_end_text(const Job *j, char *out, size_t size) {
    if (j->late)
        snprintf(out, size, "took too long");
    else if (WIFSIGNALED(j->status))
        snprintf(out, size, "ended by signal %d (%s)", WTERMSIG(j->status),
                 strsignal(WTERMSIG(j->status)));
    else
        snprintf(out, size, "exit code %d", WEXITSTATUS(j->status));
}
