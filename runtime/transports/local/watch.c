/* How a rank that waits tells work from standstill of another, and how a run of threads ends.
 */
#include <stdio.h>
#include <string.h>

#include "local_world.h"

/* CPU time in a slice from which on a thread works: one that only polls or waits uses less. */
enum { WORK_NS = SLICE_NS / 100 };

int local_end_run(LocalWorld *w, char *error) {
    pthread_mutex_lock(&w->lock);
    if (!atomic_load(&w->aborted)) snprintf(w->reason, sizeof w->reason, "%s", error);
    atomic_store(&w->aborted, true);
    if (*w->reason) memcpy(error, w->reason, ERROR_BYTES);
    pthread_mutex_unlock(&w->lock);
    return EXIT_RANK;
}

static int64_t cpu_time(clockid_t clock) {
    struct timespec t;
    if (!clock || clock_gettime(clock, &t)) return 0;
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static bool is_working(const LocalMember *m, Watched *last) {
    static const Pulse none;
    const Pulse *p = atomic_load_explicit(&m->pulse, memory_order_acquire);
    if (!p) p = &none;
    Watched now = {.beats = atomic_load(&p->beats) + atomic_load(&m->collectives),
                   .clock = atomic_load(&p->clock),
                   .seen = true};
    now.cpu_ns = cpu_time(now.clock);
    int64_t used = now.cpu_ns - last->cpu_ns;
    /* Another thread's clock may be seen before its beat; its time is not this instruction's. */
    bool goes_on = !last->seen || now.beats != last->beats || now.clock != last->clock ||
                   atomic_load(&p->writing);
    if (!goes_on && used >= 0 && used < (int64_t)(last->idle + 1) * WORK_NS) return false;
    if (!goes_on) now.busy_ns = last->busy_ns + MAX(used, 0);
    *last = now;
    return true;
}

int32_t local_stood_still(const LocalWorld *w, int32_t rank, Watched *last) {
    const LocalMember *m = &w->member[rank];
    if (is_working(m, last)) {
        int32_t most = w->timeout * BUSY_TIMES;
        return last->busy_ns < (int64_t)most * 1000000000 ? 0 : most;
    }
    int32_t limit = w->timeout + (atomic_load(&m->waiting) ? CHAIN_GRACE : 0);
    return ++last->idle < limit * SLICES_A_SECOND ? 0 : limit;
}

int local_abandoned(LocalWorld *w, const char *what, char *error) {
    pthread_mutex_lock(&w->lock);
    memcpy(error, w->reason, ERROR_BYTES);
    pthread_mutex_unlock(&w->lock);
    if (*error) return EXIT_RANK;
    return fail_with(error, EXIT_RANK, "%s was abandoned: another rank failed", what);
}

void local_last_work(const LocalWorld *w, int32_t rank, char *out, size_t size) {
    const Pulse *p = atomic_load_explicit(&w->member[rank].pulse, memory_order_acquire);
    char at[160] = "none", call[64];
    uint32_t instr = p ? atomic_load(&p->instr) : 0;
    if (instr) plan_instr_text(w->plan, instr - 1, at, sizeof at);
    missing_call_text(w->plan, p ? atomic_load(&p->call) : 0, call, sizeof call);
    snprintf(out, size, "(its last instruction: %.120s)%s", at, call);
}

int local_quit(TransportContext *c, int code) {
    atomic_store(&c->world->aborted, true);
    return code;
}
