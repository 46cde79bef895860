/* Finds out who started this process, and as which rank of how many. `-n` comes first, then the
 * environment of torchrun, Open MPI, Slurm and PMI, in this order. If nobody did, the plan's ranks
 * are threads of this process.
 *
 * RANK and WORLD_SIZE may also be set by hand, or by fsdp-run itself (spawn.c). address.c says
 * where ranks that find each other over TCP meet.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch.h"

enum { TORCHRUN, OPEN_MPI };
/* batch: a job that starts something else has only one of the two variables (a batch script of
 * Slurm is task 0 of no step; its SLURM_NTASKS is what srun would start). Elsewhere one without the
 * other is left over, or forgotten. */
static const struct {
    const char *name, *rank, *ranks, *local_rank, *local_ranks;
    bool batch;
} launchers[] = {
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", false},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE", false},
    {"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", NULL, true},
    {"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", false},
};

static bool number_of(const char *variable, int32_t *out, char *error, int *code) {
    const char *text = variable ? getenv(variable) : NULL;
    int64_t x;
    if (!text) return false;
    if (!whole_number(text, 0, INT32_MAX, &x)) {
        *code = fail_with(error, EXIT_USER,
                          "%s=%.64s in the environment is not a rank or a count\n"
                          "help: set it to a whole number, or hide it: env -u %s fsdp-run ...",
                          variable, text, variable);
        return false;
    }
    *out = (int32_t)x;
    return true;
}

static int one_without_other(size_t i, bool rank, char *error) {
    const char *set = rank ? launchers[i].rank : launchers[i].ranks;
    return fail_with(
        error, EXIT_USER,
        "%s is set, but %s is not\n"
        "help: %s sets both; if it is left over, hide it: env -u %s fsdp-run ...; -n RANKS "
        "starts without a launcher",
        set, rank ? launchers[i].ranks : launchers[i].rank, launchers[i].name, set);
}

/* Reads one launcher's variables. *found: they name a rank; else *l is unchanged. alone: is one of
 * the variables without the other a mistake? */
static int ask_launcher(size_t i, bool alone, LaunchContext *l, bool *found, char *error) {
    int code = 0;
    int32_t its_rank, its_ranks;
    bool rank = number_of(launchers[i].rank, &its_rank, error, &code);
    bool ranks = number_of(launchers[i].ranks, &its_ranks, error, &code);
    if (code) return code;
    if (rank != ranks && alone && !launchers[i].batch) return one_without_other(i, rank, error);
    *found = rank && ranks;
    if (!*found) return 0;
    l->rank = its_rank;
    l->ranks = its_ranks;
    l->launcher = i == TORCHRUN && getenv(SPAWN_RUN) ? "fsdp-run" : launchers[i].name;
    l->local_rank = l->rank;
    l->local_ranks = l->ranks;
    l->knows_local = number_of(launchers[i].local_rank, &l->local_rank, error, &code);
    if (!l->knows_local && !code)
        l->knows_local = number_of("LOCAL_RANK", &l->local_rank, error, &code);
    l->knows_locals = number_of(launchers[i].local_ranks, &l->local_ranks, error, &code);
    if (code) return code;
    if (l->rank >= l->ranks || l->local_rank >= l->local_ranks) {
        bool local = l->rank < l->ranks;
        return fail_with(
            error, EXIT_USER,
            "%s says %srank %d of %d\n"
            "help: ranks are numbered from 0; check %s and %s",
            l->launcher, local ? "local " : "", local ? l->local_rank : l->rank,
            local ? l->local_ranks : l->ranks, local ? launchers[i].local_rank : launchers[i].rank,
            local && launchers[i].local_ranks ? launchers[i].local_ranks : launchers[i].ranks);
    }
    return 0;
}

static int two_launchers(const LaunchContext *a, const LaunchContext *b, char *error) {
    return fail_with(
        error, EXIT_USER,
        "two launchers at once: %s says rank %d of %d, %s says rank %d of %d\n"
        "help: start fsdp-run with one of them; env -u VARIABLE hides a variable that is left "
        "over",
        a->launcher, a->rank, a->ranks, b->launcher, b->rank, b->ranks);
}

static int from_environment(LaunchContext *l, char *error) {
    bool found = false;
    for (size_t i = 0; i < ARRAY_LEN(launchers) && !found; i++) {
        int code = ask_launcher(i, true, l, &found, error);
        if (code) return code;
    }
    /* Slurm's and PMI's variables also stand in the environment of a batch job that starts
     * something else; the other two only around what they started. */
    LaunchContext mpi = {.launcher = ""};
    bool too = false;
    if (!found || strcmp(l->launcher, launchers[TORCHRUN].name)) return 0;
    int code = ask_launcher(OPEN_MPI, false, &mpi, &too, error);
    if (code || !too || mpi.ranks == 1) return code;
    return mpi.rank == l->rank && mpi.ranks == l->ranks ? 0 : two_launchers(l, &mpi, error);
}

/* -n makes all ranks itself, so it cannot stand inside of something that already started several.
 */
static int check_alone(int32_t ranks, char *error) {
    for (size_t i = 0; i < ARRAY_LEN(launchers); i++) {
        LaunchContext l = {.launcher = ""};
        bool found = false;
        if (i == TORCHRUN && !getenv("TORCHELASTIC_RUN_ID")) continue;
        int code = ask_launcher(i, false, &l, &found, error);
        if (code) return code;
        if (!found || l.ranks == 1) continue;
        return fail_with(error, EXIT_USER,
                         "two launchers at once: -n %d, and %s, which started %d processes\n"
                         "help: leave out -n, and let %s start one process per rank of the plan",
                         ranks, l.launcher, l.ranks, l.launcher);
    }
    return 0;
}

bool launch_is_spawned(const LaunchContext *l) { return !strcmp(l->launcher, "fsdp-run"); }

bool launch_says_address(const LaunchContext *l) {
    return launch_is_spawned(l) || !strcmp(l->launcher, launchers[TORCHRUN].name);
}

bool launch_is_of_processes(const LaunchContext *l) {
    return *l->launcher && strcmp(l->launcher, "-n");
}

int launch_detect(int32_t n, int32_t plan_ranks, LaunchContext *l, char *error) {
    *l = (LaunchContext){.launcher = "", .ranks = plan_ranks, .local_ranks = plan_ranks};
    if (n) {
        l->launcher = "-n";
        l->ranks = l->local_ranks = n;
        return check_alone(n, error);
    }
    return from_environment(l, error);
}
