/* The program calls of a run, in order, as a function of the plan and the number of steps: the step
 * calls of the role, and after step s the evaluation when (s + 1) % eval_every == 0. The trainer
 * and, one call ahead, the loader walk the same list.
 *
 * Rank r of N takes samples [r * B/N, (r + 1) * B/N) of a step, cut into consecutive micro-batches.
 * A run that continues from a checkpoint begins after its steps, with the evaluation after the last
 * of them if that is still to come. With --eval-only there is one evaluation, and no step. An
 * evaluation reads the first eval_steps * B samples, in rounds: a round is what the role's
 * evaluation calls on all ranks read together. */
#include "schedule.h"

static int64_t calls_of(const Plan *p, uint32_t role, uint32_t kind) {
    int64_t n = 0;
    for (uint64_t i = 0; i < p->n_calls; i++)
        if (p->calls[i].role == role && p->calls[i].kind == kind)
            n = MIN(n, INT64_MAX - p->calls[i].times) + p->calls[i].times;
    return n;
}

int64_t multiply_saturated(int64_t a, int64_t b) {
    int64_t n;
    return __builtin_mul_overflow(a, b, &n) ? INT64_MAX : n;
}

int64_t evaluation_samples(const Plan *p) {
    return multiply_saturated(p->settings->eval_steps, p->settings->batch);
}

/* Of a pipeline the calls of a rank's stages are for one batch. */
static int64_t evaluation_batches(const Plan *p, uint32_t role) {
    int64_t calls = calls_of(p, role, PLAN_EVALUATION);
    return plan_has_stages(p) ? MIN(calls, 1) : calls;
}

int64_t evaluation_round(const Plan *p, uint32_t role) {
    Mesh mesh = plan_mesh(p);
    return multiply_saturated(
        multiply_saturated(evaluation_batches(p, role), p->settings->local_batch),
        mesh_extent(&mesh, mesh_sample_axes(&mesh)));
}

static bool evaluates_after(const CallCursor *c, int64_t step) {
    const Plan *p = c->plan;
    const PlanSettings *s = p->settings;
    return c->steps->evaluates && s->eval_every > 0 && (step + 1) % s->eval_every == 0 &&
           evaluation_samples(p) > 0 && calls_of(p, c->role, PLAN_EVALUATION) > 0;
}

void cursor_start(CallCursor *c, const Plan *p, const RunSteps *steps, int32_t rank) {
    Mesh mesh = plan_mesh(p);
    AxisSet axes = mesh_sample_axes(&mesh);
    *c = (CallCursor){.plan = p,
                      .steps = steps,
                      .evaluation = steps->evaluation_only,
                      .part = mesh_index(&mesh, rank, axes),
                      .parts = mesh_extent(&mesh, axes)};
    for (uint64_t i = 0; i < p->n_roles; i++)
        if ((uint32_t)rank - p->roles[i].first_rank < p->roles[i].n_ranks) c->role = (uint32_t)i;
    if (c->evaluation) return;
    c->step = steps->first;
    if (c->step > 0 && steps->evaluation_due && evaluates_after(c, c->step - 1)) {
        c->step--;
        c->evaluation = true;
    }
}

/* The call row at or after c->call that belongs to this role and kind; n_calls when none does. */
static uint32_t row_from(const CallCursor *c, uint32_t from) {
    const Plan *p = c->plan;
    uint32_t kind = c->evaluation ? PLAN_EVALUATION : PLAN_STEP;
    while (from < p->n_calls && (p->calls[from].role != c->role || p->calls[from].kind != kind ||
                                 p->calls[from].times <= 0))
        from++;
    return from;
}

/* Everything after a call that was issued: the next repeat, call, round, evaluation or step. */
static void advance_cursor(CallCursor *c, uint32_t row, bool *ends) {
    const Plan *p = c->plan;
    *ends = false;
    c->micro++;
    c->call = row;
    if (++c->repeat < p->calls[row].times) return;
    c->repeat = 0;
    c->call = row_from(c, row + 1);
    if (c->call < p->n_calls) return;
    c->call = 0;
    c->micro = 0;
    if (c->evaluation) {
        int64_t samples = c->steps->samples ? c->steps->samples : evaluation_samples(p);
        if (++c->round * evaluation_round(p, c->role) < samples) return;
        c->evaluation = false;
        c->step++;
    } else {
        c->evaluation = evaluates_after(c, c->step);
        if (!c->evaluation) c->step++;
    }
    c->round = 0;
    *ends = true;
}

bool cursor_next(CallCursor *c, ProgramCall *out) {
    const Plan *p = c->plan;
    const PlanSettings *s = p->settings;
    if (c->step >= (c->steps->evaluation_only ? 1 : c->steps->end)) return false;
    uint32_t row = row_from(c, c->call);
    if (row >= p->n_calls) return false;
    bool staged = plan_has_stages(p);
    c->call = row;
    if (staged) c->micro = p->calls[row].micro;
    *out = (ProgramCall){.program = p->calls[row].program,
                         .slot_kept = p->calls[row].slot,
                         .batch_ends = !staged || row_from(c, row + 1) >= p->n_calls,
                         .evaluation = c->evaluation,
                         .step = c->step,
                         .micro = c->micro,
                         .samples = s->local_batch,
                         .slot = (int)(c->issued++ % 2)};
    if (c->evaluation) {
        int64_t round = evaluation_round(p, c->role);
        out->position = c->round * round + c->part * (round / c->parts) + c->micro * s->local_batch;
    } else {
        out->position =
            c->step * s->batch + c->part * (s->batch / c->parts) + c->micro * s->local_batch;
    }
    advance_cursor(c, row, &out->ends);
    return true;
}
