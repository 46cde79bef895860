/* What fsdp-run prints about the run as a whole, after it: the summary and the profile's table.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "run.h"

bool run_speaks(const Run *run) {
    return !run->options->quiet && (!run->launch.module || run->launch.rank == 0);
}

/* The table goes where the summary goes. */
static int write_profile(const Run *run) {
    char error[ERROR_BYTES];
    bool shown = !run->options->quiet && run->rank[0].rank == 0;
    bool log = run->options->log && !strcmp(run->options->log, "-");
    int code = profile_write(run, !shown ? NULL : log ? stderr : stdout, error);
    if (code) attempt_speak();
    return code ? say_error(code, "%s", error) : 0;
}

uint64_t run_device_bytes(const Run *run) {
    const Device *d = run->device;
    if (!d->used_bytes || !run->rank || !run->rank[0].context) return 0;
    uint64_t used = d->used_bytes(run->rank[0].context), arenas = 0;
    for (int32_t i = 0; i < run->n_rank; i++) arenas += run->rank[i].arena_bytes;
    return used > arenas ? used - arenas : 0;
}

static void print_summary(const Run *run) {
    const Transport *t = run->transport;
    EndNumbers n = {.device_bytes = run_device_bytes(run), .arenas = run->n_rank};
    for (int32_t i = 0; i < run->n_rank; i++)
        n.high_water = MAX(n.high_water, run->rank[i].hooks.high_water);
    if (t->library_bytes) n.library_bytes = t->library_bytes(run->rank[0].transport);
    metrics_summary(run->metrics, &n);
}

int run_summarise(const Run *run, int code) {
    bool ended = code == 0 || code == EXIT_INTERRUPTED;
    bool first = run->rank[0].rank == 0;
    if (ended && first && !run->options->generates) print_summary(run);
    int written = ended && run->options->profile ? write_profile(run) : 0;
    /* Once the ranks have parted, a launcher may kill this process for the code of another one. */
    if (ended && first && fflush(stdout) && errno != EPIPE && !code) {
        attempt_speak();
        code = say_error(EXIT_ENVIRONMENT, "cannot write the summary to standard output");
    }
    return code ? code : written;
}
