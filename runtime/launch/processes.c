/* Runs with one process per rank: they meet, compare what each found at its start, and end
 * together. spawn.c or a launcher starts the processes.
 *
 * Between the meeting and the comparison every rank but 0 keeps its stderr in a file in memory.
 * When all is well that text is dropped, since rank 0 printed the same; else the first rank that
 * failed prints its own. So one message reports the mistake, however many ranks made it. Ranks that
 * spawn.c started hold stderr back from the beginning, rank 0 up to the meeting; with mpirun in
 * between, all of them up to the meeting, where MPI may have something to print.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "launch.h"

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

static void release_stderr(bool show) {
    if (held < 0) return;
    fflush(stderr);
    if (show) show_held();
    dup2(real_stderr, STDERR_FILENO);
    close(held);
    close(real_stderr);
    held = -1;
}

/* Among ranks that one fsdp-run started, the first one to end prints for all. */
static bool early;

/* A rank that ends while it is held still says why. */
static void release_at_exit(void) { release_stderr(!early || attempt_speak()); }

static void release_at_abort(int signal_number) {
    (void)signal_number;
    show_held();
    signal(SIGABRT, SIG_DFL);
}

static void hold_stderr(void) {
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

bool processes_ignore(int signal_number) {
    struct sigaction now;
    return !sigaction(signal_number, NULL, &now) && now.sa_handler == SIG_IGN;
}

void processes_begin(const LaunchContext *l) {
    early = launch_is_spawned(l) || (launch_is_of_processes(l) && attempt_page);
    if (early) hold_stderr();
}

/* mpirun kills ranks when MPI cannot start: what they wrote by then must not be lost. */
static void release_for_mpi(const LaunchContext *l) {
    if (!early || launch_is_spawned(l)) return;
    release_stderr(l->rank == 0);
    early = false;
}

/* ---- meeting */

int processes_join(LaunchContext *l, const TransportTraits *t, int32_t test_hosts,
                   const atomic_int *told_to_end) {
    char error[ERROR_BYTES];
    release_for_mpi(l);
    l->module = transport_load(t->name, error);
    int code = l->module ? 0 : EXIT_ENVIRONMENT;
    JoinOptions o = {.launcher = l->launcher,
                     .rank = l->rank,
                     .ranks = l->ranks,
                     .local_rank = l->local_rank,
                     .local_ranks = l->local_ranks,
                     .timeout = l->timeout,
                     .test_hosts = test_hosts,
                     .may_speak = attempt_speak,
                     .told_to_end = told_to_end};
    if (!code && t->start != BY_MPIRUN) code = launch_address(l, &o, error);
    if (!code) code = l->module->join(&o, &l->world, error);
    if (code) {
        if (attempt_speak()) fprintf(stderr, "error: %s\n", error);
        if (l->module) processes_quit(code);
        return code;
    }
    if (early && l->rank == 0) release_stderr(true);
    l->local_ranks = l->module->local_ranks(l->world);
    if (l->rank != 0 && !early) hold_stderr();
    early = false;
    return 0;
}

static int report_difference(const LaunchContext *l, const StartReport *all, int32_t rank,
                             const char *path) {
    char who[160];
    bool plan = all[rank].plan != all[0].plan;
    l->module->describe(l->world, rank, who, sizeof who);
    if (plan && l->rank == 0)
        fprintf(stderr,
                "error: %s has a different plan than rank 0: %016llx, not %016llx\n"
                "help: copy the same %s to every machine\n",
                who, (unsigned long long)all[rank].plan, (unsigned long long)all[0].plan, path);
    else if (l->rank == 0)
        fprintf(stderr,
                "error: %s was started with different options than rank 0\n"
                "help: --steps, --threads, --load, --save, --dump-grads, --eval-only, --tokens, "
                "--checkpoint, --checkpoint-every and --resume must be the same\n",
                who);
    return EXIT_RANK;
}

int processes_compare(const LaunchContext *l, const StartReport *mine, const char *plan) {
    char error[ERROR_BYTES];
    int code = mine->code;
    StartReport *all = calloc((size_t)l->ranks, sizeof *all);
    if (!all) fail_environment("no memory for %d ranks", l->ranks);
    int failed = l->module->compare(l->world, mine, all, error);
    if (failed) {
        bool first = l->module->fail(l->world, l->rank, &failed, error);
        if (first && attempt_speak()) fprintf(stderr, "error: %s\n", error);
        release_stderr(first);
        processes_quit(failed);
    }
    int32_t ranks = l->ranks, speaker = 0, bad = 0;
    while (speaker < ranks && !all[speaker].code) speaker++;
    for (int32_t r = 0; r < ranks; r++) bad += all[r].code != 0;
    if (bad) {
        code = all[speaker].code;
        bool mine_to_say = speaker == l->rank;
        char who[160];
        l->module->describe(l->world, speaker, who, sizeof who);
        if (mine_to_say && bad < ranks)
            fprintf(stderr, "note: this message is from %s; %d of %d ranks could start\n", who,
                    ranks - bad, ranks);
        release_stderr(mine_to_say);
    }
    release_stderr(false);
    for (int32_t r = 1; r < ranks && !code; r++)
        if (all[r].plan != all[0].plan || all[r].options != all[0].options)
            code = report_difference(l, all, r, plan);
    free(all);
    if (code) attempt_speak();
    return code;
}

void processes_quit(int code) {
    release_at_exit();
    fflush(stdout);
    fflush(stderr);
    _exit(code);
}
