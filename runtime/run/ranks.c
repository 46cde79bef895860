/* The ranks of this process: all are opened before any starts, each has a thread, and their end is
 * the end of the run. The first rank that failed says why.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "run.h"

static void *rank_main(void *context) {
    Rank *r = context;
    int code = trainer_run(r);
    if (code) run_fail(r, code);
    return NULL;
}

/* What the transport found when it was opened. */
static void announce_transport(const Run *run) {
    char text[160];
    if (!run_speaks(run) || !run->transport->about) return;
    run->transport->about(run->rank[0].transport, text, sizeof text);
    fprintf(stderr, "%s\n", text);
}

void ranks_number(Run *run) {
    bool one = launch_is_of_processes(&run->launch);
    run->n_rank = one ? 1 : run->launch.ranks;
    run->rank = arena_array(run->memory, Rank, run->n_rank);
    for (int32_t i = 0; i < run->n_rank; i++) {
        Rank *r = &run->rank[i];
        r->run = run;
        r->rank = one ? run->launch.rank : i;
        r->local = one ? run->launch.local_rank : i;
        r->info = (RankInfo){.plan = run->plan,
                             .mesh = plan_mesh(run->plan),
                             .rank = r->rank,
                             .threads = run->threads,
                             .fault = &r->fault};
    }
}

int ranks_open(Run *run) {
    for (int32_t i = 0; i < run->n_rank; i++) {
        Rank *r = &run->rank[i];
        int code = rank_open(r);
        if (code && !run->launch.module) return say_error(code, "%s", r->error);
        if (!code) continue;
        run_fail(r, code);
        return run->end.silent ? run->end.code : say_error(run->end.code, "%s", run->end.text);
    }
    announce_transport(run);
    return 0;
}

/* False: a rank does not end, which the others do not wait for: the run has failed. Waits in
 * slices, so a run that is suspended is not late. */
static bool join_ranks(Run *run, int32_t started) {
    enum { SLICE_NS = 50 * 1000 * 1000, SLICES_A_SECOND = 20 };
    int32_t late = 0;
    for (int32_t i = 0; i < started; i++)
        for (;;) {
            struct timespec until = clock_after(CLOCK_REALTIME, SLICE_NS);
            if (!pthread_timedjoin_np(run->rank[i].thread, NULL, &until)) break;
            pthread_mutex_lock(&run->end.lock);
            int failure = run->end.code;
            pthread_mutex_unlock(&run->end.lock);
            /* Where a rank stopped answering, the time is up already. */
            int32_t limit = failure == EXIT_RANK ? 1 : run->launch.timeout;
            if (failure && ++late >= limit * SLICES_A_SECOND) return false;
        }
    return true;
}

int ranks_run(Run *run) {
    int32_t started = 0;
    while (started < run->n_rank &&
           !pthread_create(&run->rank[started].thread, NULL, rank_main, &run->rank[started]))
        started++;
    if (started < run->n_rank) {
        snprintf(run->rank[started].error, ERROR_BYTES, "cannot start a thread for the rank");
        run_fail(&run->rank[started], EXIT_ENVIRONMENT);
    }
    bool all_ended = join_ranks(run, started);
    metrics_end_bar(run->metrics);
    if (!all_ended) {
        pthread_mutex_lock(&run->end.lock); /* for good: ranks that still run may fail too */
        if (!run->end.silent) say_error(run->end.code, "%s", run->end.text);
        writer_remove_unfinished();
        processes_quit(run->end.code);
    }
    if (run->end.code)
        return run->end.silent ? run->end.code : say_error(run->end.code, "%s", run->end.text);
    if (!run->end.was_interrupted) return 0;
    if (run_speaks(run))
        fprintf(stderr, "interrupted after a whole step%s%s%s%s\n",
                run->options->save.path ? "; the weights are in " : "",
                run->options->save.path ? run->options->save.path : "",
                run->saver ? "; to continue: --resume " : "",
                run->saver ? run->checkpoint.folder : "");
    return EXIT_INTERRUPTED;
}

void ranks_close(Run *run) {
    for (int32_t i = 0; run->rank && i < run->n_rank; i++) rank_close(&run->rank[i]);
}
