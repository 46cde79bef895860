/* --overlap: do gathers, reductions and copies of offloaded state run during the computation?
 *
 * on and off decide it. auto tries it if that may pay: if ranks are on several machines, and so
 * wait for a link, or if the compute threads leave each rank a core. Elsewhere a thread for
 * communication only takes a core's time from the computation. Either all ranks try or none: after
 * step 0 they agree on that, since cores, --threads and --overlap may differ from rank to rank. A
 * trial runs steps 1 to 8 alternately without and with overlap; then the ranks compare the fastest
 * step of each kind, on the slowest rank, and all keep the faster kind. Step 0, which touches all
 * memory for the first time, does not count. No number depends on it.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "prepared.h"

enum { FIRST_TRIED = 1, TRIED = 8 };

static bool option_is(const Run *run, const char *word) {
    return run->options->overlap && !strcmp(run->options->overlap, word);
}

/* False for a run of one rank, and on a device whose launches return early. */
static bool has_other_streams(const Plan *p) {
    bool others = false;
    for (int s = 0; s < STREAM_KINDS; s++) others |= s != STREAM_COMPUTE && plan_uses_stream(p, s);
    return others;
}

/* A test mode issues the instructions, or looks at them one by one. */
static bool one_thread_issues(const Run *run) {
    return run->transport->one_at_a_time || !run->device->run_concurrently || run->test.mode ||
           !has_other_streams(run->plan);
}

int overlap_check(const Run *run) {
    if (!option_is(run, "on")) return 0;
    if (!run->device->run_concurrently)
        return say_error(EXIT_USER,
                         "--overlap on: device %s always overlaps the plan's streams\nhelp: leave "
                         "out the option, which is for device cpu",
                         run->device->name);
    if (run->transport->one_at_a_time)
        return say_error(EXIT_USER,
                         "--overlap on: transport %s runs one collective at a time\nhelp: use "
                         "--transport mpi or local",
                         run->transport->name);
    if (run->test.mode)
        return say_error(EXIT_USER,
                         "--overlap on and %s exclude each other\nhelp: leave out one of them",
                         test_mode_names[run->test.mode]);
    if (has_other_streams(run->plan)) return 0;
    return say_error(EXIT_USER, "--overlap on: the plan has no gathers, reductions or copies that "
                                "could run during the computation\nhelp: leave out the option: it "
                                "only helps several ranks or offloaded state");
}

/* The ranks of this machine are not all. */
static bool waits_for_links(const Run *run) {
    return run->launch.module &&
           run->launch.module->local_ranks(run->launch.world) < run->launch.ranks;
}

Overlap overlap_start(const Run *run) {
    Overlap o = {.best = {INFINITY, INFINITY}};
    if (one_thread_issues(run) || option_is(run, "off") || !run->options->overlap) return o;
    o.on = option_is(run, "on");
    o.tries = !o.on && (waits_for_links(run) || run->cores > run->threads);
    return o;
}

/* The slowest rank's, in nanoseconds. */
static int slowest_nanoseconds(Rank *r, double seconds, uint64_t *out) {
    return rank_agree(r, (uint64_t)(seconds * 1e9), out);
}

static int decide_overlap(Rank *r, Overlap *o) {
    uint64_t without, with;
    int code = slowest_nanoseconds(r, o->best[false], &without);
    if (!code) code = slowest_nanoseconds(r, o->best[true], &with);
    if (code) return code;
    o->tries = false;
    o->on = with < without;
    if (r->rank || r->run->options->quiet) return 0;
    metrics_end_bar(r->run->metrics);
    fprintf(stderr,
            "--overlap %s from here on: the fastest step took %.4g ms with it, %.4g without\n",
            o->on ? "on" : "off", 1e-6 * (double)with, 1e-6 * (double)without);
    return 0;
}

static int ask_all_ranks(Rank *r, Overlap *o) {
    uint64_t some_do_not = 0;
    int code = rank_agree(r, !o->tries, &some_do_not);
    o->asked = true;
    o->tries = !code && !some_do_not;
    return code;
}

int overlap_step(Rank *r, double seconds) {
    Overlap *o = &r->executor->overlap;
    int code = o->asked ? 0 : ask_all_ranks(r, o);
    if (code || !o->tries) return code;
    if (o->steps >= FIRST_TRIED) o->best[o->on] = fmin(o->best[o->on], seconds);
    if (++o->steps == FIRST_TRIED + TRIED) return decide_overlap(r, o);
    o->on = o->steps > FIRST_TRIED && !o->on;
    return 0;
}
