/* Signals: the first Ctrl-C asks for the end after this step, a second one ends the process at
 * once. Each kind of signal counts by itself, since launchers send several kinds once each. SIGUSR1
 * only asks. A SIGTERM to all processes of a run comes twice, the second time from the one that
 * started the ranks: repeats within REPEAT_MS do not count. In: the run, whose `end` the handler
 * marks. Out: the line that acknowledges it.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "run.h"

static Run *signalled;            /* for the handler */
static char acknowledgement[256]; /* what it says at the first signal; "" = nothing */

enum { REPEAT_MS = 1000 };

/* A second signal ends the process without leaving a half-written file. */
static void on_signal(int signal_number) {
    static atomic_bool came[_NSIG];
    static _Atomic int64_t asked_ms;
    bool again = atomic_exchange(&signalled->end.interrupted, 1);
    int number = errno;
    if (!again) (void)!write(STDERR_FILENO, acknowledgement, strlen(acknowledgement));
    errno = number;
    if (signal_number == SIGTERM && !again) atomic_store(&signalled->end.told_to_end, 1);
    if (signal_number == SIGUSR1) return;
    int64_t never = 0; /* the time comes first: the repeat may come to another thread */
    if (signal_number == SIGTERM) atomic_compare_exchange_strong(&asked_ms, &never, monotonic_ms());
    if (!atomic_exchange(&came[signal_number], true)) return;
    if (signal_number == SIGTERM && monotonic_ms() - atomic_load(&asked_ms) < REPEAT_MS) return;
    writer_remove_unfinished();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* What becomes of the run at the first signal. The line of numbers stays above it. */
static void prepare_acknowledgement(const Run *run) {
    const char *save = run->options->save.path;
    bool trains = !run->options->generates && !run->options->eval_only;
    if (!run_speaks(run)) return;
    snprintf(acknowledgement, sizeof acknowledgement,
             "%sinterrupted: finishing this step%s%s%s%s\n", isatty(STDERR_FILENO) ? "\n" : "",
             trains && run->saver ? ", then a checkpoint" : "",
             trains && save ? ", then saving the weights" : "",
             trains && !run->saver && !save
                 ? "; without --checkpoint or --save the training so far is lost"
                 : "",
             "; a second Ctrl-C ends the run at once");
}

void signals_catch(Run *run) {
    signalled = run;
    prepare_acknowledgement(run);
    struct sigaction a = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigaction(SIGINT, &a, NULL);
    sigaction(SIGTERM, &a, NULL);
    /* The terminal is gone; under nohup the run ignores that. */
    if (!processes_ignore(SIGHUP)) sigaction(SIGHUP, &a, NULL);
    /* A log that nobody reads any more is a failed write, not the end of the run; and a text, where
     * other processes would take this one for lost. */
    if (!run->options->generates || run->launch.module) signal(SIGPIPE, SIG_IGN);
    /* What mpirun hands on to every rank, and what schedulers send before they end a job. */
    if (run->launch.module || run->saver) sigaction(SIGUSR1, &a, NULL);
    /* Until now; SIGTERM in ranks that fsdp-run started. */
    sigset_t held = signal_set((const int[]){SIGTERM, SIGUSR1, 0});
    pthread_sigmask(SIG_UNBLOCK, &held, NULL);
    mapped_watch();
}

void signals_hold_notice(void) {
    sigset_t notice = signal_set((const int[]){SIGUSR1, 0});
    pthread_sigmask(SIG_BLOCK, &notice, NULL);
}
