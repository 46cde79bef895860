/* Where a run takes place: its hosts, its device and its transport, and whether these go together.
 * What does not is said before any rank waits for another.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "local.h"
#include "run.h"

/* --hosts, or those of them that are left. */
int hosts_open(Run *run) {
    char error[ERROR_BYTES];
    const char *left = getenv(SPAWN_HOSTS), *text = run->options->hosts;
    if (!text) return 0;
    if (launch_is_of_processes(&run->launch)) {
        fprintf(stderr,
                "error: --hosts: %s started this rank and starts the others\nhelp: leave out "
                "--hosts, which is for runs that fsdp-run starts itself\n",
                run->launch.launcher);
        return EXIT_USER;
    }
    int code = hosts_read(left ? left : text, run->launch.ranks, &run->launch.hosts, error);
    return code ? report_error(code, error) : 0;
}

int device_choose(Run *run) {
    char error[ERROR_BYTES], reason[ERROR_BYTES] = "";
    const char *name = run->options->device;
    int code = 0;
    if (!strcmp(name, "auto")) {
        run->device = device_load("cuda", reason, &code);
        name = "cpu";
        if (!run->device && !run->options->quiet)
            fprintf(stderr, "note: %s; using device cpu\n", reason);
    }
    if (!run->device) run->device = device_load(name, error, &code);
    return run->device ? 0 : report_error(code, error);
}

static int missing_transport(const Run *run, const char *name) {
    static const char *const others[] = {"mpi", "nccl", "tcp"};
    const Launch *l = &run->launch;
    char known[64] = "local";
    for (size_t i = 0, n = 5; i < ARRAY_LEN(others); i++)
        if (transport_known(others[i]))
            n += (size_t)snprintf(known + n, sizeof known - n, " and %s", others[i]);
    fprintf(stderr, "error: transport %s is not in this build of fsdp-run, which has %s\n", name,
            known);
    if (!run->options->transport)
        fprintf(stderr, "note: %s and device %s need transport %s\n", l->launcher,
                run->device->name, name);
    fprintf(stderr,
            "help: --transport local runs all ranks as threads of one process: fsdp-run -n %d\n",
            l->ranks);
    if (transport_known("mpi"))
        fprintf(stderr, "help: --transport mpi -n %d starts a process for each rank\n", l->ranks);
    return EXIT_ENVIRONMENT;
}

/* What does not go together, said before any rank waits for another. */
static int check_transport(const Run *run, const char *name, bool many) {
    const Launch *l = &run->launch;
    bool cpu = run->device->kind == DEVICE_CPU;
    if (strcmp(name, "local") && !transport_known(name)) return missing_transport(run, name);
    if (!strcmp(name, "nccl") && cpu) {
        fprintf(stderr,
                "error: transport nccl works with device cuda, not %s\n"
                "help: use --device cuda; on CPUs --transport mpi or local\n",
                run->device->name);
        return EXIT_USER;
    }
    if (!strcmp(name, "tcp") && !cpu) {
        fprintf(stderr,
                "error: transport tcp works with device cpu, not %s\n"
                "help: use --transport nccl on GPUs\n",
                run->device->name);
        return EXIT_USER;
    }
    if (!strcmp(name, "mpi") && (getenv("FSDP_SECRET") || getenv("FSDP_SECRET_FILE"))) {
        fprintf(stderr, "error: FSDP_SECRET has no effect with transport mpi: Open MPI connects "
                        "the ranks and does not check it\n"
                        "help: env -u FSDP_SECRET -u FSDP_SECRET_FILE fsdp-run ... starts without "
                        "a secret\n");
        return EXIT_USER;
    }
    if (many && !strcmp(name, "local")) {
        fprintf(
            stderr,
            "error: transport local keeps all ranks in one process, but %s started %d processes\n"
            "help: start fsdp-run -n %d once, without a launcher\n",
            l->launcher, l->ranks, l->ranks);
        return EXIT_USER;
    }
    return 0;
}

int transport_open(Run *run) {
    Launch *l = &run->launch;
    const char *name = transport_choice(run->options, l);
    int code = check_transport(run, name, launch_is_of_processes(l) && l->ranks > 1);
    if (code) return code;
    if (!strcmp(name, "local")) {
        run->transport = &transport_local;
        run->transport_shared = local_world_new(run->plan, l->ranks, l->timeout);
        return 0;
    }
    code = processes_join(l, name, run->test.hosts, &run->end.told_to_end);
    if (code) return code;
    run->transport = l->module->transport;
    run->transport_shared = l->world;
    return 0;
}
