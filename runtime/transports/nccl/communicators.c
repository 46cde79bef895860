/* The communicators of a run: one that all ranks have, for collectives outside programs, and one
 * for each set of axes and purpose that a collective of the plan names, and for each outbox of a
 * pipeline's stages.
 *
 * Rank 0 makes NCCL's id of the first one and shares it over the connections that the processes
 * already have (runtime/transports/tcp). NCCL could find its peers by NCCL_COMM_ID instead; then it
 * would listen on a second port of rank 0, and a busy port would be reported late, by NCCL's own
 * message, and on one rank only. The other communicators are split off: ranks of a group have the
 * group's first rank as colour.
 *
 * Purposes have communicators of their own, without shared resources: operations of one
 * communicator run one after the other, and a gather must overlap a reduction. That needs the
 * order in which the host issues them to hold on the device too (NCCL_LAUNCH_ORDER_IMPLICIT), or
 * two ranks may start them in different orders and wait for ever when kernels find no room.
 */
#include <sched.h>
#include <string.h>
#include <time.h>

#include "context.h"

enum { YIELDS = 20, PAUSE_NS = 20 * 1000, OPEN_GRACE = 30 };

/* ---- calls of NCCL */

int nccl_fault(Context *c, const char *what, ncclResult_t result, char *error) {
    char text[ERROR_BYTES];
    int code = nccl_failed(what, result, text);
    int over = guard_check_patiently(c, error);
    if (over) return over;
    memcpy(error, text, sizeof text);
    return code;
}

int nccl_enter(Context *c, char *error) {
    for (;;) {
        int code = guard_check(c, error);
        if (code) return code;
        if (pthread_mutex_trylock(&c->lock)) {
            sched_yield();
            continue;
        }
        /* The guard decides that the run is over before it asks for the lock. */
        code = guard_check(c, error);
        if (!code) return 0;
        pthread_mutex_unlock(&c->lock);
        return code;
    }
}

void nccl_leave(Context *c) { pthread_mutex_unlock(&c->lock); }

int communicator_settle(Context *c, const Communicator *m, const char *what, int32_t limit,
                        char *error) {
    double begun = monotonic_seconds();
    for (int64_t i = 0;; i++) {
        ncclResult_t state = ncclSuccess;
        int code = nccl_enter(c, error);
        if (code) return code;
        ncclResult_t asked = ncclCommGetAsyncError(m->comm, &state);
        nccl_leave(c);
        if (asked != ncclSuccess || !nccl_is_fine(state))
            return nccl_fault(c, what, asked ? asked : state, error);
        if (state == ncclSuccess) return 0;
        if (limit && monotonic_seconds() - begun > limit)
            return fail_with(
                error, EXIT_RANK,
                "%.200s took longer than %d s\n"
                "help: see the messages of the other ranks; FSDP_TIMEOUT=SECONDS waits longer",
                what, limit);
        struct timespec pause = {.tv_nsec = PAUSE_NS};
        if (i < YIELDS)
            sched_yield();
        else
            nanosleep(&pause, NULL);
    }
}

/* ---- which there are */

/* The communicator of an outbox: of the ranks at this rank's place in the stages at its two ends.
 */
static Communicator communicator_of(const Context *c, uint32_t from_stage, uint32_t to_stage) {
    const Plan *p = c->o.plan;
    uint32_t own = plan_role_of(p, c->o.rank);
    bool sends = plan_stage_role(p, from_stage) == own;
    return (Communicator){.purpose = COMM_MESSAGES,
                          .used = sends || plan_stage_role(p, to_stage) == own,
                          .group = {.base = c->o.rank - (int32_t)p->roles[own].first_rank,
                                    .size = 2,
                                    .index = !sends}};
}

static void plan_outboxes(Context *c) {
    const Plan *p = c->o.plan;
    for (uint64_t i = 0; i < p->n_programs; i++) {
        const PlanProgram *at = &p->programs[i];
        for (uint32_t k = at->first_instr; k < at->first_instr + at->n_instr; k++) {
            const PlanInstr *in = &p->instrs[k];
            if (in->op != OP_send) continue;
            c->row[nccl_row(c, in)] = communicator_of(c, at->stage, (uint32_t)in->attr.stage);
        }
    }
}

/* Marks the communicators that collectives of the plan and saves need. Those outside of programs
 * over axes that all ranks are on, as checkpoints have them, borrow the first one. */
void communicators_plan(Context *c) {
    const Plan *p = c->o.plan;
    for (uint32_t r = 0; r < comm_rows(p); r++) {
        Communicator *m = &c->row[r];
        m->axes = comm_row_axes(r);
        m->purpose = (int32_t)(r % COMM_KINDS);
        m->group = comm_group(p, c->o.ranks, m->axes, c->o.rank);
        m->used = m->purpose == COMM_CONTROL && m->axes == AXES_WORLD;
        m->borrowed = m->purpose == COMM_CONTROL && !m->used && m->group.size == c->o.ranks;
    }
    /* --save gathers parameters over these axes. */
    for (uint64_t g = 0; g < p->n_groups; g++) {
        AxisSet axes = plan_gather_axes(p, &p->groups[g]);
        Communicator *m = &c->row[comm_row(axes, COMM_CONTROL)];
        m->used |= axes && !m->borrowed;
    }
    for (uint64_t k = 0; k < p->n_instrs; k++) {
        const PlanInstr *in = &p->instrs[k];
        if (plan_is_collective(in))
            c->row[comm_row((AxisSet)in->attr.axes, (int32_t)in->attr.comm)].used = true;
    }
    plan_outboxes(c);
    c->root = comm_row(AXES_WORLD, COMM_CONTROL);
}

static ncclConfig_t default_config(void) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    config.splitShare = 0;
    return config;
}

/* What the communicator's kernels may take of the GPU (sm_budget.h). Policies are known from 2.27
 * on, copy engines from 2.28 on; the library may be older than the header. NCCL_MAX_CTAS and
 * NCCL_CTA_POLICY take precedence in NCCL itself. */
static void limit_config(ncclConfig_t *config, const Context *c, const Communicator *m) {
    if (m->purpose >= COMM_PURPOSES) return;
    const Share *share = &c->share[m->purpose];
    if (share->multiprocessors) config->maxCTAs = share->multiprocessors;
#ifdef NCCL_CTA_POLICY_ZERO
    int version = 0;
    bool has_zero = ncclGetVersion(&version) == ncclSuccess && version >= NCCL_VERSION(2, 28, 0);
    if (share->policy == SHARE_ZERO && has_zero) config->CTAPolicy = NCCL_CTA_POLICY_ZERO;
#endif
}

/* Waits as a step of the opening, so that a rank that does not come is named. */
static int open_step(Context *c, const Communicator *m, const char *what, char *error) {
    atomic_store(&c->log.opening, what);
    int code = communicator_settle(c, m, what, c->timeout + OPEN_GRACE, error);
    atomic_fetch_add(&c->log.opened, 1);
    atomic_store(&c->log.opening, NULL);
    return code;
}

static int open_root(Context *c, char *error) {
    static const char what[] = "NCCL's start";
    Communicator *m = &c->row[c->root];
    ncclUniqueId id;
    ncclConfig_t config = default_config();
    memset(&id, 0, sizeof id);
    ncclResult_t made = c->o.rank == 0 ? ncclGetUniqueId(&id) : ncclSuccess;
    if (made != ncclSuccess) return nccl_fault(c, what, made, error);
    int code = tcp_share(c->world, 0, &id, sizeof id, what, error);
    if (!code) code = nccl_enter(c, error);
    if (code) return code;
    ncclResult_t r = ncclCommInitRankConfig(&m->comm, c->o.ranks, id, c->o.rank, &config);
    nccl_leave(c);
    if (!nccl_is_fine(r)) return nccl_fault(c, what, r, error);
    return open_step(c, m, what, error);
}

static int split_communicator(Context *c, Communicator *m, char *error) {
    static const char what[] = "NCCL's communicators";
    Communicator *root = &c->row[c->root];
    ncclConfig_t config = default_config();
    limit_config(&config, c, m);
    int code = nccl_enter(c, error);
    if (code) return code;
    int colour = m->used ? m->group.base : NCCL_SPLIT_NOCOLOR;
    ncclResult_t r = ncclCommSplit(root->comm, colour, m->group.index, &m->comm, &config);
    nccl_leave(c);
    if (!nccl_is_fine(r)) return nccl_fault(c, what, r, error);
    /* The new one exists once the one that it comes from has settled. */
    code = open_step(c, root, what, error);
    if (code || !m->used) return code;
    if (!m->comm)
        code = fail_with(error, EXIT_ENVIRONMENT, "%s: NCCL returned none for %s of these ranks",
                         what, collective_family(m->purpose));
    return code ? code : open_step(c, m, what, error);
}

int communicators_open(Context *c, char *error) {
    uint64_t before = gpu_free_bytes();
    int code = open_root(c, error);
    for (uint32_t r = 0; r < c->rows && !code; r++) {
        Communicator *m = &c->row[r];
        if (r == c->root) continue;
        if (m->borrowed)
            m->comm = c->row[c->root].comm;
        else if (m->used || m->purpose == COMM_MESSAGES) /* all ranks take part in a split */
            code = split_communicator(c, m, error);
    }
    count_bytes_since(c, before);
    return code;
}

/* All ranks come here, in the same order, after their last collective. */
int communicators_close(Context *c, char *error) {
    static const char what[] = "NCCL's end";
    int code = 0;
    for (uint32_t i = 0; i < c->rows && !code; i++) {
        Communicator *m = &c->row[c->rows - 1 - i];
        if (!m->comm || m->borrowed) continue;
        code = nccl_enter(c, error);
        if (code) break;
        ncclResult_t r = ncclCommFinalize(m->comm);
        nccl_leave(c);
        code = nccl_is_fine(r) ? communicator_settle(c, m, what, c->timeout, error)
                               : nccl_fault(c, what, r, error);
        if (!code) code = nccl_enter(c, error);
        if (code) break;
        r = ncclCommDestroy(m->comm);
        m->comm = NULL;
        nccl_leave(c);
        if (!nccl_is_fine(r)) code = nccl_fault(c, what, r, error);
    }
    return code;
}
