/* Checks that this machine has enough memory for all of its ranks. Each takes an arena, if that is
 * host memory; offloaded state, if that is not in a file; and, if it makes checkpoints, the buffers
 * through which they are written and, with checkpoint.snapshot = copy, a copy of its state.
 *
 * Every process checks before any of them touches a page. The kernel provides pages when they are
 * first touched: each mapping succeeds on its own, and then all of them together make the kernel
 * kill processes.
 */
#include <stdio.h>

#include "checkpoint.h"
#include "launch.h"

static uint64_t multiply_ranks(uint64_t n, int32_t ranks) {
    uint64_t all;
    return __builtin_mul_overflow(n, (uint64_t)ranks, &all) ? UINT64_MAX : all;
}

/* By how much the arenas of smaller stages are smaller. Where some ranks are on other machines, it
 * is not known which of them are here. */
static uint64_t unused_bytes(const Plan *p, int kind) {
    uint64_t unused = 0;
    for (uint64_t i = 0; i < p->n_roles; i++)
        unused += p->roles[i].n_ranks *
                  (p->settings->workspace_bytes[kind] - p->roles[i].workspace_bytes[kind]);
    return unused;
}

HostMemory host_memory_of(const Plan *p, const Device *device, const LaunchContext *l,
                          uint64_t guards, bool saves) {
    const PlanSettings *s = p->settings;
    HostMemory m = {.ranks = l->module ? l->local_ranks : l->ranks};
    if (device->arena_is_host) m.arena = s->workspace_bytes[device->kind] + guards;
    if (!*plan_string(p, s->host_path)) m.offloaded = s->host_bytes;
    if (saves) {
        m.copy = s->copy_bytes;
        m.blocks = (uint64_t)CK_WRITERS * CK_BLOCK;
    }
    if (m.arena && m.ranks == l->ranks) m.unused = unused_bytes(p, device->kind);
    return m;
}

/* By that many ranks. */
static uint64_t bytes_needed(const HostMemory *m, int32_t ranks) {
    uint64_t one, all;
    if (__builtin_add_overflow(m->arena, m->offloaded + m->copy + m->blocks, &one))
        return UINT64_MAX;
    all = multiply_ranks(one, ranks);
    return all - MIN(m->unused, all);
}

const char *host_memory_remedy(const HostMemory *m, uint64_t available) {
    HostMemory direct = *m, filed = *m;
    direct.copy = filed.offloaded = 0;
    if (m->copy && bytes_needed(&direct, m->ranks) <= available)
        return "compile with -s checkpoint.snapshot=direct, which makes no copy";
    if (m->arena && m->offloaded && bytes_needed(&filed, m->ranks) <= available)
        return "set path = \"folder\" in shard.offload to keep offloaded state in a file there";
    return m->arena ? NULL : "offload less with shard.offload, or use more machines";
}

/* A size in a readable unit and in bytes; small ones only in bytes. */
typedef struct AmountText {
    char text[64];
} AmountText;

static AmountText amount_text(uint64_t bytes) {
    static const char *const units[] = {"MiB", "GiB", "TiB", "PiB", "EiB"};
    double x = (double)bytes / (1 << 20);
    size_t unit = 0;
    AmountText out;
    for (; x >= 1024 && unit + 1 < ARRAY_LEN(units); unit++) x /= 1024;
    if (x >= 1)
        snprintf(out.text, sizeof out.text, "%.1f %s (%llu bytes)", x, units[unit],
                 (unsigned long long)bytes);
    else
        snprintf(out.text, sizeof out.text, "%llu bytes", (unsigned long long)bytes);
    return out;
}

int host_memory_check(const HostMemory *m, uint64_t available, char *error) {
    const struct {
        uint64_t bytes;
        const char *before, *after;
    } part[] = {{m->arena, "an arena of ", ""},
                {m->offloaded, "", " of offloaded state"},
                {m->copy, "a copy of ", " for checkpoints"},
                {m->blocks, "", " of buffers for checkpoints"}};
    uint64_t all = bytes_needed(m, m->ranks);
    if (!available || all <= available) return 0;
    char parts[4 * sizeof(AmountText) + 128] = "", total[sizeof(AmountText) + 64] = "";
    size_t n = 0, said = 0;
    for (size_t i = 0; i < ARRAY_LEN(part); i++)
        if (part[i].bytes)
            n += (size_t)snprintf(parts + n, sizeof parts - n, "%s%s%s%s", said++ ? ", " : "",
                                  part[i].before, amount_text(part[i].bytes).text, part[i].after);
    if (m->ranks > 1)
        snprintf(total, sizeof total, ": %s for the %d ranks on this machine",
                 amount_text(all).text, m->ranks);
    else if (said > 1)
        snprintf(total, sizeof total, ": %s together", amount_text(all).text);
    const char *who = m->ranks <= 1 ? "the plan needs"
                      : m->unused   ? "a rank needs up to"
                                    : "each rank needs";
    return fail_with(error, EXIT_ENVIRONMENT, "%s %s%s; %s are available", who, parts, total,
                     amount_text(available).text);
}

bool host_memory_after_loss(const HostMemory *m, int32_t all, uint64_t available, char *text,
                            size_t size) {
    int32_t ranks = (int32_t)MIN(2 * (int64_t)m->ranks, (int64_t)all);
    uint64_t bytes = bytes_needed(m, ranks);
    bool fits = bytes <= available;
    const char *what = m->arena ? fits ? "its ranks also fit" : "its ranks do not fit"
                       : fits   ? "what its ranks keep in host memory also fits"
                                : "what its ranks keep in host memory does not fit";
    snprintf(
        text, size,
        "if a host is lost, %s on this one: %d ranks take %.1f GiB, and %.1f GiB are available",
        what, ranks, (double)bytes / (1 << 30), (double)available / (1 << 30));
    return fits;
}
