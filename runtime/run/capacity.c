/* Does the run fit? The arenas on the device, what the ranks of this machine take together of its
 * memory, stacks of its threads, and its cores.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine.h"
#include "run.h"

static int32_t cores_of_rank(const Run *run) {
    cpu_set_t cores;
    int n = sched_getaffinity(0, sizeof cores, &cores) ? 1 : CPU_COUNT(&cores);
    int32_t ranks = run->launch.local_ranks;
    /* mpirun and srun deal out the cores: then the visible ones belong to this rank. */
    if (!run->launch.module || (long)n * ranks > sysconf(_SC_NPROCESSORS_ONLN)) n /= ranks;
    return MAX(1, n);
}

/* remedy NULL: that of `what`, else a smaller arena. */
static int report_shortage(const Run *run, int code, const char *what, const char *remedy) {
    const char *own = strstr(what, "\nhelp: ");
    if (own && !remedy) {
        fprintf(stderr, "error: %s\n", what);
        return code;
    }
    Arena *a = arena_new();
    if (!remedy) remedy = plan_advice(run->plan, (DeviceKind)run->device->kind, a);
    fprintf(stderr, "error: %s\nhelp: %s\n", what, remedy);
    arena_free(a);
    return code;
}

int capacity_of_device(const Run *run, char *error) {
    const Plan *p = run->plan;
    bool one = launch_is_of_processes(&run->launch);
    uint64_t bytes = one ? plan_rank_role(p, run->launch.rank)->workspace_bytes[run->device->kind]
                         : p->settings->workspace_bytes[run->device->kind];
    DeviceOptions device = {.local_rank = one ? run->launch.local_rank : 0,
                            .process_ranks = one ? 1 : run->launch.ranks};
    return run->device->fits ? run->device->fits(&device, bytes, error) : 0;
}

/* A device that is too small is said before the ranks meet. */
int capacity_check_device(const Run *run) {
    char error[ERROR_BYTES];
    int code = capacity_of_device(run, error);
    return code ? report_shortage(run, code, error, NULL) : 0;
}

/* Checks the memory of this machine before any rank takes some. On several hosts, it also says
 * beforehand what the loss of one would mean. */
int capacity_check_host(const Run *run) {
    char text[ERROR_BYTES];
    const LaunchContext *l = &run->launch;
    uint64_t guards = run->test.mode == TEST_MEMORY ? 2 * GUARD_BYTES : 0;
    HostMemory m = host_memory_of(run->plan, run->device, l, guards, run->saver != NULL);
    uint64_t available = machine_available_bytes("");
    int code = host_memory_check(&m, available, text);
    if (code) return report_shortage(run, code, text, host_memory_remedy(&m, available));
    bool takes = m.arena || m.offloaded || m.copy;
    if (!run_speaks(run) || !run->saver || l->local_ranks == l->ranks || !takes || !available)
        return 0;
    host_memory_after_loss(&m, l->ranks, available, text, sizeof text);
    fprintf(stderr, "note: %s\n", text);
    return 0;
}

void capacity_count_threads(Run *run) {
    run->cores = cores_of_rank(run);
    int32_t threads = run->options->threads ? run->options->threads : run->cores;
    run->threads = MIN(threads, (int32_t)DEVICE_THREADS);
}

/* Of a thread that runs kernels: frames of ours are below 9 KiB, and oneDNN's products fit, too. */
#define LEAST_THREAD_STACK_BYTES (64u << 10)

/* What OpenMP makes of a size: KiB without a letter. What it cannot read, it ignores. */
static bool too_small(const char *size) {
    static const char letters[] = "bkmg";
    char *end;
    errno = 0;
    double bytes = (double)strtoull(size, &end, 10);
    if (end == size || errno) return false;
    end += strspn(end, " \t");
    const char *letter = *end ? strchr(letters, *end | 32) : letters + 1;
    for (const char *k = letters; letter && k < letter; k++) bytes *= 1024;
    return letter && bytes < LEAST_THREAD_STACK_BYTES;
}

/* Threads of OpenMP have stacks of this size; kernels on less would end by a signal. */
int capacity_check_stacks(char *error) {
    static const char *const names[] = {"OMP_STACKSIZE", "GOMP_STACKSIZE"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *size = getenv(names[i]);
        if (!size || !too_small(size)) continue;
        return fail_with(
            error, EXIT_ENVIRONMENT,
            "%s=%.40s: the threads of a run need stacks of at least 64 KiB\nhelp: unset %s",
            names[i], size, names[i]);
    }
    return 0;
}
