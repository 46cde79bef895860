/* The executor: one program call on one rank.
 *
 * At the start every instruction is prepared once (instructions.c), and the device may try out the
 * launches to come. A call is then a loop over the program's instructions in issue order; stream
 * order and the plan's edges are given to the device as record and wait. With --overlap streams.c
 * issues the same instructions from one thread per stream instead; a test mode may issue them
 * itself (TestHooks).
 */
#include "op.h"
#include "prepared.h"

/* Which instructions another stream waits for. */
static void mark_awaited(const Plan *p, Executor *e) {
    for (uint64_t k = 0; k < p->n_instrs; k++)
        for (uint32_t i = 0; i < p->instrs[k].n_edge; i++)
            e->prepared[p->edges[p->instrs[k].first_edge + i]].awaited = true;
}

/* Lets the device try out the launches to come. */
static int rehearse_launches(Rank *r) {
    const Plan *p = r->run->plan;
    const Device *d = r->run->device;
    if (!d->rehearse) return 0;
    const KernelCall **calls = arena_array(r->memory, const KernelCall *, p->n_instrs + 1);
    uint32_t n = 0;
    for (uint64_t k = 0; k < p->n_instrs; k++)
        if (op_info[p->instrs[k].op].launched) calls[n++] = &r->executor->prepared[k].kernel;
    /* No instruction begins meanwhile, and a rank that has an earlier run's choices is done at
     * once: the others must not be taken for dead. */
    rank_writes(r, true);
    int code = d->rehearse(r->context, calls, n, r->arena, r->arena_bytes, r->error);
    rank_writes(r, false);
    return code;
}

int executor_open(Rank *r) {
    const Plan *p = r->run->plan;
    Arena *a = r->memory;
    Executor *e = r->executor = arena_new_of(a, Executor);
    e->prepared = arena_array(a, Prepared, p->n_instrs + 1);
    e->issued = arena_array(a, uint64_t, comm_rows(p));
    e->in_call = arena_array(a, uint64_t, p->n_programs * comm_rows(p) + 1);
    e->first_kept = arena_array(a, uint32_t, p->n_programs + 1);
    e->messages = arena_array(a, uint64_t, p->n_states + 1);
    e->overlap = overlap_start(r->run);
    int code = shared_gather_open(r);
    if (code) return code;
    instructions_prepare(r);
    mark_awaited(p, e);
    code = rehearse_launches(r);
    if (!code) code = profile_open(r, &e->profile, r->error);
    if (code || !(e->overlap.on || e->overlap.tries)) return code;
    /* What it needs is allocated here, also where the first calls do without. */
    code = r->run->device->run_concurrently(r->context, true, r->error);
    return code ? code : streams_open(r, NULL, &e->threads, r->error);
}

void executor_close(Rank *r) {
    if (r->executor) streams_close(r->executor->threads);
    r->executor = NULL;
}

static int issue_ordered(Rank *r, uint32_t k, char *error) {
    const Plan *p = r->run->plan;
    const Device *d = r->run->device;
    const PlanInstr *in = &p->instrs[k];
    for (uint32_t i = 0; i < in->n_edge; i++) {
        int code = d->wait(r->context, in->stream, p->edges[in->first_edge + i], error);
        if (code) return code;
    }
    int code = instruction_timed(r, k, error);
    if (!code && r->executor->prepared[k].awaited)
        code = d->record(r->context, in->stream, k, error);
    return code;
}

/* Does each call of the program have the same pointers? Slots of kept activations and places in
 * outboxes change. */
static bool repeats(const Rank *r, uint32_t program) {
    const Plan *p = r->run->plan;
    const Executor *e = r->executor;
    const PlanProgram *q = &p->programs[program];
    bool same = e->first_kept[program + 1] == e->first_kept[program];
    for (uint32_t k = q->first_instr; same && k < q->first_instr + q->n_instr; k++)
        same = !plan_is_message(&p->instrs[k]);
    return same;
}

/* Issues the instructions of a program, or the device's recording of it. A device whose launches
 * return early orders the call after earlier work; its end is not awaited here. If a checkpoint may
 * hold some of them back, they are issued one by one, between two points at which the device has
 * finished everything. */
static int issue_program(Rank *r, uint32_t program, char *error) {
    const PlanProgram *q = &r->run->plan->programs[program];
    const Device *d = r->run->device;
    const TestHooks *hooks = &r->hooks;
    const Transport *t = r->run->transport;
    bool held = d->program_begin && r->gate.holds && r->gate.holds(r, program), replayed = false;
    bool ordered = d->program_begin && !r->tap.before && !hooks->after && !held;
    int code = held ? rank_synchronize(r, error) : 0;
    if (!code && ordered)
        code = d->program_begin(r->context, program, repeats(r, program), &replayed, error);
    if (!code && t->program) t->program(r->transport, program, replayed);
    for (uint32_t k = q->first_instr; k < q->first_instr + q->n_instr && !code && !replayed; k++) {
        if (hooks->before) hooks->before(hooks->of, k);
        code = issue_ordered(r, k, error);
        if (!code && hooks->after) code = hooks->after(hooks->of, k, error);
    }
    if (code) return code;
    return ordered ? d->program_end(r->context, program, error) : rank_synchronize(r, error);
}

/* The same, from one thread a stream. */
static int issue_streams(Rank *r, uint32_t program, char *error) {
    int code = streams_run(r->executor->threads, program, error);
    return code ? code : rank_synchronize(r, error);
}

static int issue_call(Rank *r, uint32_t program, char *error) {
    Executor *e = r->executor;
    if (r->hooks.issue) return r->hooks.issue(r->hooks.of, program, error);
    if (!e->threads) return issue_program(r, program, error);
    bool apart = e->overlap.on && !r->hooks.after;
    int code = r->run->device->run_concurrently(r->context, apart, error);
    if (code) return code;
    return apart ? issue_streams(r, program, error) : issue_program(r, program, error);
}

int executor_run(Rank *r, uint32_t program, uint32_t slot, char *error) {
    const Plan *p = r->run->plan;
    Executor *e = r->executor;
    instructions_use_slot(r, program, slot);
    if (e->profile) profile_begin(e->profile, program);
    int code = issue_call(r, program, error);
    if (!code && e->profile) code = profile_end(e->profile, error);
    if (code) return code;
    uint64_t rows = comm_rows(p);
    for (uint64_t i = 0; i < rows; i++) e->issued[i] += e->in_call[program * rows + i];
    if (r->hooks.call_end) code = r->hooks.call_end(r->hooks.of, program, error);
    return code;
}
