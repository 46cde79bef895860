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
    if (launch_is_of_processes(&run->launch))
        return say_error(EXIT_USER,
                         "--hosts: %s started this rank and starts the others\nhelp: leave out "
                         "--hosts, which is for runs that fsdp-run starts itself",
                         run->launch.launcher);
    int code =
        hosts_read(left ? left : text, run->launch.ranks, run->memory, &run->launch.hosts, error);
    return code ? say_error(code, "%s", error) : 0;
}

int device_choose(Run *run) {
    char error[ERROR_BYTES], reason[ERROR_BYTES] = "";
    const char *name = run->options->device;
    int code = 0;
    if (!strcmp(name, "auto")) {
        run->device = device_load(word_of(&words_DeviceKind, DEVICE_CUDA), reason, &code);
        name = word_of(&words_DeviceKind, DEVICE_CPU);
        if (!run->device && !run->options->quiet)
            fprintf(stderr, "note: %s; using device %s\n", reason, name);
    }
    if (!run->device) run->device = device_load(name, error, &code);
    return run->device ? 0 : say_error(code, "%s", error);
}

static int report_missing_transport(const Run *run, const TransportTraits *t) {
    const LaunchContext *l = &run->launch;
    const TransportTraits *threads = transport_of_start(AS_THREADS),
                          *mpi = transport_of_start(BY_MPIRUN);
    fprintf(stderr, "error: transport %s is not in this build of fsdp-run, which has %s", t->name,
            threads->name);
    for (size_t i = 0; i < TRANSPORT_KINDS; i++)
        if (&transports[i] != threads && transport_present(&transports[i]))
            fprintf(stderr, " and %s", transports[i].name);
    fprintf(stderr, "\n");
    if (!run->options->transport)
        fprintf(stderr, "note: %s and device %s need transport %s\n", l->launcher,
                run->device->name, t->name);
    fprintf(stderr,
            "help: --transport %s runs all ranks as threads of one process: fsdp-run -n %d\n",
            threads->name, l->ranks);
    if (transport_present(mpi))
        fprintf(stderr, "help: --transport %s -n %d starts a process for each rank\n", mpi->name,
                l->ranks);
    return EXIT_ENVIRONMENT;
}

/* Refuses what does not go together, before any rank waits for another. */
static int check_transport(const Run *run, const TransportTraits *t, bool many) {
    const LaunchContext *l = &run->launch;
    if (!transport_present(t)) return report_missing_transport(run, t);
    if (!(t->devices >> run->device->kind & 1)) {
        const char *fits =
            word_of(&words_DeviceKind, t->devices >> DEVICE_CPU & 1 ? DEVICE_CPU : DEVICE_CUDA);
        return say_error(EXIT_USER, "transport %s works with device %s, not %s\nhelp: %s", t->name,
                         fits, run->device->name, t->remedy);
    }
    if (t->start == BY_MPIRUN && (getenv("FSDP_SECRET") || getenv("FSDP_SECRET_FILE")))
        return say_error(
            EXIT_USER,
            "FSDP_SECRET has no effect with transport %s: Open MPI connects the ranks "
            "and does not check it\n"
            "help: env -u FSDP_SECRET -u FSDP_SECRET_FILE fsdp-run ... starts without a "
            "secret",
            t->name);
    if (many && t->start == AS_THREADS)
        return say_error(
            EXIT_USER,
            "transport %s keeps all ranks in one process, but %s started %d processes\n"
            "help: start fsdp-run -n %d once, without a launcher",
            t->name, l->launcher, l->ranks, l->ranks);
    return 0;
}

int transport_open(Run *run) {
    LaunchContext *l = &run->launch;
    const TransportTraits *t = transport_choice(run->options, l);
    int code = check_transport(run, t, launch_is_of_processes(l) && l->ranks > 1);
    if (code) return code;
    if (t->start == AS_THREADS) {
        run->transport = &transport_local;
        run->transport_shared = local_world_new(run->plan, l->ranks, l->timeout);
        return 0;
    }
    code = processes_join(l, t, run->test.hosts, &run->end.told_to_end);
    if (code) return code;
    run->transport = l->module->transport;
    run->transport_shared = l->world;
    return 0;
}
