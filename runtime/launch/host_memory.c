/* Is there room on this machine for what its ranks take together? Each takes an arena, where that
 * is host memory, what the plan offloads, where that is no file, and where it makes checkpoints the
 * memory through which they leave: blocks, and with checkpoint.snapshot = copy a copy of its state.
 *
 * Every process asks before any of them takes a page. The kernel gives pages when they are first
 * touched: each mapping succeeds by itself where all of them together would make it kill processes.
 */
#include "host_memory.h"

#include "checkpoint.h"
#include "machine.h"

static uint64_t times(uint64_t n, int32_t ranks) {
    uint64_t all;
    return __builtin_mul_overflow(n, (uint64_t)ranks, &all) ? UINT64_MAX : all;
}

HostRoom room_of(const Run *run) {
    const PlanSettings *s = run->plan->settings;
    HostRoom r = {.ranks = run->module ? run->launch.local_ranks : run->launch.ranks};
    if (run->device->arena_is_host)
        r.arena = s->workspace_bytes[run->device->kind] + (run->test.memory ? 2 * GUARD_BYTES : 0);
    if (!*plan_string(run->plan, s->host_path)) r.offloaded = s->host_bytes;
    if (run->saver) {
        r.copy = s->copy_bytes;
        r.blocks = (uint64_t)CK_WRITERS * CK_BLOCK;
    }
    return r;
}

/* Of so many ranks. */
static uint64_t needed(const HostRoom *r, int32_t ranks) {
    uint64_t one;
    if (__builtin_add_overflow(r->arena, r->offloaded + r->copy + r->blocks, &one))
        return UINT64_MAX;
    return times(one, ranks);
}

const char *room_remedy(const HostRoom *r, uint64_t available) {
    HostRoom direct = *r, filed = *r;
    direct.copy = filed.offloaded = 0;
    if (r->copy && needed(&direct, r->ranks) <= available)
        return "compile with -s checkpoint.snapshot=direct, which takes no copy";
    if (r->arena && r->offloaded && needed(&filed, r->ranks) <= available)
        return "path = \"folder\" in shard.offload keeps what is offloaded in a file there";
    return r->arena ? NULL : "shard.offload may name less, more machines share what is offloaded";
}

/* As people compare sizes, and to the byte; small ones to the byte alone. */
typedef struct Amount {
    char text[64];
} Amount;

static Amount amount(uint64_t bytes) {
    static const char *const units[] = {"MiB", "GiB", "TiB", "PiB", "EiB"};
    double x = (double)bytes / (1 << 20);
    size_t unit = 0;
    Amount out;
    for (; x >= 1024 && unit + 1 < ARRAY_LEN(units); unit++) x /= 1024;
    if (x >= 1)
        snprintf(out.text, sizeof out.text, "%.1f %s (%llu bytes)", x, units[unit],
                 (unsigned long long)bytes);
    else
        snprintf(out.text, sizeof out.text, "%llu bytes", (unsigned long long)bytes);
    return out;
}

int room_check(const HostRoom *r, uint64_t available, char *error) {
    uint64_t all = needed(r, r->ranks);
    if (!available || all <= available) return 0;
    char away[128] = "", beside[128] = "", ranks[128] = "";
    if (r->offloaded)
        snprintf(away, sizeof away, ", %s of offloaded state", amount(r->offloaded).text);
    if (r->copy)
        snprintf(beside, sizeof beside, " and a copy of %s for checkpoints", amount(r->copy).text);
    if (r->ranks > 1)
        snprintf(ranks, sizeof ranks, ", %s for the %d ranks on this machine", amount(all).text,
                 r->ranks);
    snprintf(error, ERROR_BYTES, "the plan needs an arena of %s%s%s%s%s; %s are available",
             amount(r->arena).text, r->ranks > 1 ? " a rank" : "", away, beside, ranks,
             amount(available).text);
    return EXIT_ENVIRONMENT;
}

bool room_for_twice(const HostRoom *r, int32_t all, uint64_t available, char *text, size_t size) {
    int32_t ranks = (int32_t)MIN(2 * (int64_t)r->ranks, (int64_t)all);
    uint64_t bytes = needed(r, ranks);
    bool fits = bytes <= available;
    const char *what =
        r->arena ? fits ? "its ranks fit beside those" : "its ranks do not fit beside those"
        : fits   ? "what its ranks keep in host memory fits beside that"
                 : "what its ranks keep in host memory does not fit beside that";
    snprintf(text, size,
             "if a host is lost, %s of this one: %d ranks take %.1f GB, and %.1f GB are available",
             what, ranks, (double)bytes / 1e9, (double)available / 1e9);
    return fits;
}
