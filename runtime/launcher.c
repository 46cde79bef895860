/* Who started us, and as which rank of how many: `-n`, else the environment of torchrun, Open MPI,
 * Slurm or PMI, in this order, else nobody: the plan's ranks as threads of this process. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

static const struct {
    const char *name, *rank, *ranks, *local_rank, *local_ranks, *more_ranks;
} launchers[] = {
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", NULL},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE", NULL},
    {"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", NULL, "SLURM_NTASKS"},
    {"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", NULL},
};

static bool number_of(const char *variable, int32_t *out, char *error, int *code) {
    const char *text = variable ? getenv(variable) : NULL;
    if (!text) return false;
    char *end;
    errno = 0;
    long x = strtol(text, &end, 10);
    if (*text && !*end && !errno && x >= 0 && x <= INT32_MAX) {
        *out = (int32_t)x;
        return true;
    }
    snprintf(error, ERROR_BYTES, "the environment says %s=%.64s, which is no rank or count",
             variable, text);
    *code = EXIT_USER;
    return false;
}

static int from_environment(Launch *l, char *error) {
    for (size_t i = 0; i < ARRAY_LEN(launchers); i++) {
        int code = 0;
        bool rank = number_of(launchers[i].rank, &l->rank, error, &code);
        bool ranks = number_of(launchers[i].ranks, &l->ranks, error, &code);
        if (!ranks && !code) ranks = number_of(launchers[i].more_ranks, &l->ranks, error, &code);
        if (code) return code;
        if (rank != ranks && i == 0) {
            snprintf(error, ERROR_BYTES,
                     "%s is set and %s is not\nhelp: torchrun sets both; -n RANKS starts without a "
                     "launcher",
                     rank ? launchers[i].rank : launchers[i].ranks,
                     rank ? launchers[i].ranks : launchers[i].rank);
            return EXIT_USER;
        }
        if (!rank || !ranks) continue;
        l->launcher = launchers[i].name;
        l->local_rank = l->rank;
        l->local_ranks = l->ranks;
        number_of(launchers[i].local_rank, &l->local_rank, error, &code);
        number_of(launchers[i].local_ranks, &l->local_ranks, error, &code);
        if (code) return code;
        if (l->rank >= l->ranks) {
            snprintf(error, ERROR_BYTES, "%s says rank %d of %d", l->launcher, l->rank, l->ranks);
            return EXIT_USER;
        }
        return 0;
    }
    return 0;
}

int launch_detect(const Options *o, int32_t plan_ranks, Launch *l, char *error) {
    *l = (Launch){.launcher = "", .ranks = plan_ranks, .local_ranks = plan_ranks};
    if (o->ranks) {
        l->launcher = "-n";
        l->ranks = l->local_ranks = o->ranks;
        return 0;
    }
    return from_environment(l, error);
}
