/* Transport `local`: N ranks as threads of one process, which meet in its memory (meeting.h).
 *
 * A waiting rank also wakes when the run has been aborted, since nobody increments the counter
 * then. After each slice it checks whether the missing ranks have begun another instruction, are
 * reading or writing files, or have used CPU time; of a rank that itself waits, whether any rank
 * has. One that has done none of these for `timeout` seconds ends the run. So does one that has
 * used BUSY_TIMES times as many seconds of CPU time in one instruction, since no instruction takes
 * that long.
 *
 * It does not notice that all ranks stand still at once on a device whose launches return early.
 */
#include "local.h"

#include <linux/futex.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "meeting.h"

/* CHAIN_GRACE: seconds past the limit: a rank that waits for one which itself waits is not to speak
 * first. WORK_NS: CPU time in a slice from which on a thread works: one that only polls or waits
 * uses less. */
enum { CHAIN_GRACE = 2, BUSY_TIMES = 10, WORK_NS = SLICE_NS / 100 };

/* A rank as the others see it. */
typedef struct LocalMember {
    _Atomic(const Pulse *) pulse; /* from its open on, which others need not wait for; released */
    _Atomic uint64_t collectives; /* and messages, that it came to */
    _Atomic uint32_t waiting;     /* its threads that wait for others */
} LocalMember;

struct LocalWorld {
    Arena *memory;
    int32_t timeout;
    _Atomic bool aborted;
    pthread_mutex_t lock;
    char reason[ERROR_BYTES]; /* under the lock: why a collective failed, "" when none did */
    LocalMember *member;      /* [ranks] */
    char *meetings;
};

LocalWorld *local_world_new(const Plan *p, int32_t ranks, int32_t timeout) {
    Arena *a = arena_new();
    LocalWorld *w = arena_new_of(a, LocalWorld);
    w->memory = a;
    w->timeout = timeout;
    pthread_mutex_init(&w->lock, NULL);
    w->meetings = arena_alloc(a, meeting_layout(p, ranks).bytes);
    w->member = arena_array(a, LocalMember, ranks);
    return w;
}

void local_world_free(LocalWorld *w) {
    if (!w) return;
    pthread_mutex_destroy(&w->lock);
    arena_free(w->memory);
}

/* ---- who stands still */

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
                   .all_ns = last->all_ns,
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

/* Of a rank that itself waits: does any rank work, for which it may be waiting? Ranks that wait use
 * some time, too. */
static bool others_work(const Seat *s, Watched *last) {
    const LocalWorld *w = s->c->o.shared;
    int32_t ranks = s->c->o.ranks;
    int64_t now = cpu_time(CLOCK_PROCESS_CPUTIME_ID);
    if (!last->all_ns) last->all_ns = now;
    int64_t used = now - last->all_ns;
    bool works = used >= (int64_t)(last->idle + 1) * (2 * WORK_NS + ranks * (WORK_NS / 20));
    for (int32_t r = 0; r < ranks && !works; r++) {
        const Pulse *p = atomic_load_explicit(&w->member[r].pulse, memory_order_acquire);
        works = p && atomic_load(&p->writing);
    }
    if (works) last->all_ns = now;
    return works;
}

/* A slice of waiting for the rank is over: the seconds for which it has stood still, once those are
 * too many, else 0. */
static int32_t stood_still(const Seat *s, int32_t rank, Watched *last) {
    const LocalWorld *w = s->c->o.shared;
    const LocalMember *m = &w->member[rank];
    if (is_working(m, last)) {
        int32_t most = w->timeout * BUSY_TIMES;
        return last->busy_ns < (int64_t)most * 1000000000 ? 0 : most;
    }
    if (atomic_load(&m->waiting) && others_work(s, last)) last->idle = -1;
    int32_t limit = w->timeout + (atomic_load(&m->waiting) ? CHAIN_GRACE : 0);
    return ++last->idle < limit * SLICES_A_SECOND ? 0 : limit;
}

static int report_standstill(const Seat *s, int32_t rank, int32_t seconds, char *error) {
    const LocalWorld *w = s->c->o.shared;
    const Pulse *p = atomic_load_explicit(&w->member[rank].pulse, memory_order_acquire);
    char at[160] = "none", call[64], where[320];
    uint32_t instr = p ? atomic_load(&p->instr) : 0;
    if (instr) plan_instr_text(s->c->o.plan, instr - 1, at, sizeof at);
    missing_call_text(s->c->o.plan, p ? atomic_load(&p->call) : 0, call, sizeof call);
    meeting_place_text(s->call, s->message, where, sizeof where);
    return fail_with(error, EXIT_RANK,
                     "rank %d made no progress for %d s (its last instruction: %.120s)%s; "
                     "rank %d waits for it %s %.160s\n"
                     "help: FSDP_TIMEOUT=SECONDS waits longer",
                     rank, seconds, at, call, s->call ? meeting_first_there(s) : s->c->o.rank,
                     s->message             ? "in"
                     : s->moment == ARRIVED ? "to come to"
                                            : "to finish",
                     where);
}

/* ---- the transport */

/* Another rank has failed: its reason replaces this one (end_run). */
static int check_run(const Seat *s, char *error) {
    const LocalWorld *w = s->c->o.shared;
    if (!atomic_load(&w->aborted)) return 0;
    return fail_with(error, EXIT_RANK, "%s%s%s was abandoned: another rank failed",
                     s->call ? collective_kind_name(s->call->kind) : "", s->call ? " of " : "",
                     s->call ? collective_label(s->call) : s->message->label);
}

static int begin(const Seat *s, char *error) {
    LocalWorld *w = s->c->o.shared;
    atomic_fetch_add(&w->member[s->c->o.rank].collectives, 1);
    return check_run(s, error);
}

static void waits(const Seat *s, bool on) {
    LocalWorld *w = s->c->o.shared;
    atomic_fetch_add(&w->member[s->c->o.rank].waiting, on ? 1 : UINT32_MAX);
}

static int look(const Seat *s, char *error) {
    int code = check_run(s, error);
    for (int32_t r = meeting_missing(s, -1); r >= 0 && !code; r = meeting_missing(s, r)) {
        int32_t seconds = stood_still(s, r, &s->watched[r]);
        if (seconds) code = report_standstill(s, r, seconds, error);
    }
    return code;
}

/* Takes all others out of their waits. Where ranks lost or met each other wrongly, the first text
 * is what every one of them tells. */
static int end_run(TransportContext *c, int code, char *error) {
    LocalWorld *w = c->o.shared;
    pthread_mutex_lock(&w->lock);
    if (code == EXIT_RANK && !atomic_load(&w->aborted))
        snprintf(w->reason, sizeof w->reason, "%s", error);
    atomic_store(&w->aborted, true);
    if (code == EXIT_RANK && *w->reason) memcpy(error, w->reason, ERROR_BYTES);
    pthread_mutex_unlock(&w->lock);
    return code;
}

static int local_open(const TransportOptions *o, TransportContext **out, char *error) {
    static const MeetingWays ways = {
        .futex = FUTEX_PRIVATE_FLAG, .begin = begin, .waits = waits, .look = look, .fail = end_run};
    LocalWorld *w = o->shared;
    int code = meeting_open(o, &ways, o->ranks, out, error);
    if (code) return code;
    (*out)->at = w->meetings;
    for (int32_t r = 0; r < o->ranks; r++)
        (*out)->memory[r] = (SeenMemory){.bytes = UINT64_MAX, .seen = true};
    atomic_store_explicit(&w->member[o->rank].pulse, o->pulse, memory_order_release);
    return 0;
}

static void local_abort(TransportContext *c) {
    LocalWorld *w = c->o.shared;
    atomic_store(&w->aborted, true);
}

const Transport transport_local = {.name = "local",
                                   .open = local_open,
                                   .close = meeting_close,
                                   .collect = meeting_collect,
                                   .send = meeting_send,
                                   .receive = meeting_receive,
                                   .agree = meeting_agree,
                                   .abort = local_abort};
