/* Where the processes of a run meet over TCP: the host of rank 0, a port, and an identity that all
 * ranks of the run share and no other run has.
 *
 * Host: MASTER_ADDR; without it this machine when all ranks are on it, else under Slurm the first
 * host of the step, where rank 0 is; Open MPI and PMI do not say. Port: FSDP_NCCL_PORT, else
 * MASTER_PORT + 1 (torchrun's own store holds MASTER_PORT), else one derived from the job's
 * identity. The identity comes from the launcher's name of the job; ranks started by hand have
 * none.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch.h"

/* Below the ports that Linux gives to outgoing connections. */
enum { FIRST_PORT = 20000, PORTS = 10000, MOST_PORT = 65535 };

static const char *variable_text(const char *name) {
    const char *text = getenv(name);
    return text && *text ? text : NULL;
}

/* -1 with the message when the variable is set and is not a port. 0: not set. */
static int32_t port_of(const char *name, char *error) {
    const char *text = variable_text(name);
    int64_t x;
    if (!text) return 0;
    if (whole_number(text, 1, MOST_PORT, &x)) return (int32_t)x;
    return fail_with(error, -1,
                     "%s=%.64s in the environment is not a port (1 to %d)\n"
                     "help: set it to a port that is free on rank 0's host, the same for all ranks",
                     name, text, MOST_PORT);
}

static bool add_variable(uint64_t *h, const char *name) {
    const char *text = variable_text(name);
    if (text) *h = hash_bytes(text, strlen(text), *h + 1);
    return text != NULL;
}

/* 0: nothing in the environment tells runs apart. */
static uint64_t job_identity(const LaunchContext *l) {
    uint64_t h = 0;
    if (launch_is_spawned(l)) {
        add_variable(&h, SPAWN_RUN);
    } else if (!strcmp(l->launcher, "torchrun")) {
        if (add_variable(&h, "TORCHELASTIC_RUN_ID")) add_variable(&h, "TORCHELASTIC_RESTART_COUNT");
    } else if (!strcmp(l->launcher, "Open MPI")) {
        if (!add_variable(&h, "PMIX_NAMESPACE")) add_variable(&h, "OMPI_MCA_ess_base_jobid");
    } else if (!strcmp(l->launcher, "Slurm")) {
        if (add_variable(&h, "SLURM_JOB_ID")) add_variable(&h, "SLURM_STEP_ID");
    } else {
        add_variable(&h, "PMI_JOBID");
    }
    return h;
}

/* The first host of a list such as "n[01-04,07],login2" or "rack[1-2]n[3,5]". */
static bool first_host(const char *list, char *out, size_t size) {
    size_t n = 0;
    for (const char *p = list; *p && *p != ',' && n + 1 < size;) {
        if (*p != '[') {
            out[n++] = *p++;
            continue;
        }
        for (p++; *p && !strchr(",-]", *p) && n + 1 < size;) out[n++] = *p++;
        while (*p && *p != ']') p++;
        if (*p) p++;
    }
    out[n] = 0;
    return n > 0;
}

static bool all_local(const LaunchContext *l) {
    if (l->knows_locals) return l->local_ranks == l->ranks;
    const char *nodes = variable_text("SLURM_STEP_NUM_NODES");
    return !strcmp(l->launcher, "Slurm") && nodes && !strcmp(nodes, "1");
}

static int find_address(const LaunchContext *l, const char **out, char *error) {
    static char host[256];
    *out = variable_text("MASTER_ADDR");
    if (*out) return 0;
    const char *list = variable_text("SLURM_STEP_NODELIST");
    bool torchrun = !strcmp(l->launcher, "torchrun"), slurm = !strcmp(l->launcher, "Slurm");
    if (!torchrun && all_local(l)) {
        *out = "127.0.0.1";
        return 0;
    }
    if (slurm && !list) list = variable_text("SLURM_JOB_NODELIST");
    if (slurm && list && first_host(list, host, sizeof host)) {
        *out = host;
        return 0;
    }
    if (torchrun)
        return fail_with(
            error, EXIT_USER,
            "RANK is set, but MASTER_ADDR is not\n"
            "help: torchrun sets both; by hand, MASTER_ADDR is the host of rank 0, the same "
            "for all ranks");
    return fail_with(
        error, EXIT_USER,
        "%s does not say which host rank 0 is on, and the ranks are on several hosts\n"
        "help: set MASTER_ADDR to that host for all ranks: mpirun -x MASTER_ADDR=HOST ...",
        l->launcher);
}

/* Of a launcher that gives ranks their numbers, but not this variable. */
static int fail_unset(const LaunchContext *l, const char *variable, const char *help, char *error) {
    return fail_with(error, EXIT_USER, "%s says rank %d of %d, but %s is not set\nhelp: %s",
                     l->launcher, l->rank, l->ranks, variable, help);
}

static int find_port(const LaunchContext *l, uint64_t identity, int32_t *out, char *error) {
    int32_t own = port_of("FSDP_NCCL_PORT", error);
    int32_t master = own ? own : port_of("MASTER_PORT", error);
    if (master < 0) return EXIT_USER;
    *out = own ? own : master + 1;
    if (own || (master && master < MOST_PORT)) return 0;
    if (master)
        return fail_with(error, EXIT_USER,
                         "MASTER_PORT=%d leaves no port after it for the ranks to meet\n"
                         "help: set FSDP_NCCL_PORT to a free port for all ranks",
                         master);
    if (!identity)
        return fail_unset(l, "MASTER_PORT",
                          "set MASTER_PORT (or FSDP_NCCL_PORT) to a port that is free on rank 0's "
                          "host, the same for all ranks",
                          error);
    *out = FIRST_PORT + (int32_t)(identity % PORTS);
    return 0;
}

static int check_local(const LaunchContext *l, char *error) {
    if (l->knows_local || l->ranks == 1) return 0;
    return fail_unset(
        l, "LOCAL_RANK",
        "LOCAL_RANK is the number of this process on its host, from 0; it chooses the GPU", error);
}

int launch_address(const LaunchContext *l, JoinOptions *o, char *error) {
    if (l->ranks == 1) return 0;
    int code = check_local(l, error);
    if (code) return code;
    o->identity = job_identity(l);
    code = find_address(l, &o->address, error);
    if (!code) code = find_port(l, o->identity, &o->port, error);
    const char *listener = variable_text(SPAWN_LISTENER);
    if (launch_is_spawned(l) && listener) o->listener = atoi(listener);
    return code;
}
