/* Proof 4: every contribution (micro-batch, rank, parameter) enters the update of each shard that
 * owns it exactly once, and every trainable parameter is updated exactly once a step.
 *
 * Values are followed symbolically through one program: a gradient is "the contributions kept in
 * the group's state when the program started" (entry, 0 or 1 times) plus "this call's contribution"
 * (current, 0 or 1 times), summed over some of the mesh's axes. The loss is followed in the same
 * way, the norm as a list of groups. Over the calls of a step the states' contents are counts of
 * calls; a program that runs `times` times changes them linearly, so it is followed once.
 * Statistics of routing are read as sums over all samples of the step.
 *
 * Where an op adds to what the group's state keeps of one parameter, that part is followed from the
 * view of the state to the pack, which holds as many contributions as its parts do.
 *
 * Faults:
 *   4a  a contribution is lost, or read before anything was stored; a step makes another number of
 *       calls than it has micro-batches, or an evaluation more than one for a batch
 *   4b  a contribution is counted twice, or parts of different kinds are added
 *   4c  summed twice over an axis, or not over all axes along which contributions differ, or these
 *       do not follow from the sizes of a batch and of the mesh
 *   4d  a group is not updated exactly once a step, or a frozen one is
 *   4e  an update or a state takes something else than its group's values
 *   4f  a pack is of a group that does not learn, or not in the dtype of its gradient
 *   4g  the norm does not hold every trainable group exactly once, or the loss not every call
 *   4h  what the host reads is written by no call, or nothing evaluates
 *   4q  a copy that is kept of a shard is not what the update makes of that
 *   4o  programs, roles or the evaluation have different losses
 *   4r  weights are quantized, or dequantized, by something else than their own largest ones over
 *       all ranks, as the step began
 *   4s  stages that read a parameter do not all add up their gradients of it, or do not update it
 *       alike
 *   4t  keys or values that a call keeps are not those that the next call of the program reads
 */
#include "check_gradients.h"

#include <string.h>

/* By op; NULL: by its role, an update, what prepares one, or a term. */
static void (*const follow_op[OP_COUNT])(GradientCheck *, uint64_t) = {
    [OP_state] = follow_state,
    [OP_view] = follow_view,
    [OP_set_state] = follow_set_state,
    [OP_fetch] = follow_copy,
    [OP_evict] = follow_copy,
    [OP_metric_add] = follow_sum,
    [OP_accumulate] = follow_sum,
    [OP_pack] = follow_pack,
    [OP_copy_in] = follow_pack,
    [OP_reduce_scatter] = follow_reduction,
    [OP_all_reduce] = follow_reduction,
    [OP_retain] = follow_retained,
    [OP_grad_norm] = follow_norm,
    [OP_step_scale] = follow_scale,
    [OP_balance] = follow_stats,
    [OP_average] = follow_stats,
    [OP_balance_loss] = follow_loss_term,
    [OP_balance_grad] = follow_stats_reader,
    [OP_average_loss] = follow_loss_term,
    [OP_average_grad] = follow_stats_reader,
    [OP_loss_term] = follow_told_term,
    [OP_amax] = follow_amax,
    [OP_quantize] = follow_quantized,
    [OP_dequantize] = follow_quantized,
};

static void follow_instr(GradientCheck *s, uint64_t i) {
    const PlanInstr *in = &s->c->p->instrs[i];
    if (in->attr.earlier)
        follow_earlier(s, i);
    else if (follow_op[in->op])
        follow_op[in->op](s, i);
    else if (op_info[in->op].role == ROLE_STEP)
        follow_derived(s, i);
    else if (check_is_update(in->op))
        follow_update(s, i);
    else
        follow_term(s, i);
}

static void follow_program(GradientCheck *s, const PlanProgram *pr, int64_t times) {
    const Plan *p = s->c->p;
    s->times = times;
    memset(s->sym, 0, (p->n_values + 1) * sizeof *s->sym);
    memset(s->listed, 0, (p->n_groups + 1) * sizeof *s->listed);
    memcpy(s->before, s->content, (p->n_states + 1) * sizeof *s->content);
    for (uint64_t i = pr->first_instr; i < check_end(pr); i++) follow_instr(s, i);
}

/* What stages do together in a step: first, micro for each further micro-batch, the update. */
static void follow_stages(GradientCheck *s) {
    const Plan *p = s->c->p;
    PlanProgram *whole = arena_array(s->c->arena, PlanProgram, p->n_programs + 1);
    uint32_t n = check_whole_programs(s->c, whole);
    static const ProgramKind step[] = {PROGRAM_FIRST, PROGRAM_MICRO, PROGRAM_UPDATE};
    static const ProgramKind evaluation[] = {PROGRAM_EVAL};
    const ProgramKind *kind = s->evaluation ? evaluation : step;
    size_t n_kinds = s->evaluation ? ARRAY_LEN(evaluation) : ARRAY_LEN(step);
    for (size_t j = 0; j < n_kinds; j++)
        for (uint32_t k = 0; k < n; k++) {
            bool micro = whole[k].kind == PROGRAM_MICRO;
            if (whole[k].kind != kind[j]) continue;
            follow_program(s, &whole[k], micro ? p->settings->micro_batches - 1 : 1);
        }
}

static void follow_calls(GradientCheck *s, uint32_t role, uint32_t kind) {
    const Plan *p = s->c->p;
    s->evaluation = kind == PLAN_EVALUATION;
    memset(s->content, 0, (p->n_states + 1) * sizeof *s->content);
    if (s->c->stages) follow_stages(s);
    for (uint32_t k = 0; !s->c->stages && k < p->n_calls; k++) {
        const PlanCall *call = &p->calls[k];
        if (call->role != role || call->kind != kind) continue;
        follow_program(s, &p->programs[call->program], call->times);
    }
}

/* Every number that the host reads is written by some call, metrics of an evaluation if there is
 * one. */
static void check_reported(GradientCheck *s, uint32_t role) {
    const Plan *p = s->c->p;
    bool evaluates = false;
    for (uint32_t k = 0; k < p->n_calls; k++)
        evaluates |= p->calls[k].role == role && p->calls[k].kind == PLAN_EVALUATION;
    if (!evaluates && p->settings->eval_every)
        check_fail(s->c, "4h", NO_INSTR, "role %u has no calls for an evaluation", role);
    for (uint32_t k = 0; k < p->n_states; k++)
        if (!s->reported[k] &&
            (p->states[k].role == STATE_SCALE || (p->states[k].role == STATE_METRIC && evaluates)))
            check_fail(s->c, "4h", NO_INSTR, "no call writes state %s",
                       plan_string(p, p->states[k].name));
}

/* State PREFIXNAME, or -1. */
static int64_t find_state(const Plan *p, const char *prefix, const char *name) {
    size_t n = strlen(prefix);
    for (uint32_t k = 0; k < p->n_states; k++) {
        const char *own = plan_string(p, p->states[k].name);
        if (!strncmp(own, prefix, n) && !strcmp(own + n, name)) return k;
    }
    return -1;
}

/* What state k holds in an evaluation; 0: no program sets it. */
static uint64_t evaluated(const Check *c, int64_t k) {
    return k < 0 || !c->first_term_of_state[k] ? 0
                                               : c->without_dropout[c->first_term_of_state[k] - 1];
}

/* The sum of the terms eval+NAME.TERM, which the host adds to state eval.NAME. */
static uint64_t terms_of_host(const Check *c, const char *name) {
    const Plan *p = c->p;
    uint64_t sum = 0;
    size_t n = strlen(name);
    for (uint32_t k = 0; k < p->n_states; k++) {
        const char *term = plan_string(p, p->states[k].name);
        if (strncmp(term, "eval+", 5) || strncmp(term + 5, name, n) || term[5 + n] != '.') continue;
        int64_t weights = find_state(p, "eval/", term + 5);
        sum += check_mean_term(c, evaluated(c, k), evaluated(c, weights));
    }
    return sum;
}

/* State eval.NAME, with terms of the host, holds the same as state NAME, except for dropout. */
void check_evaluation(Check *c) {
    const Plan *p = c->p;
    for (uint32_t k = 0; k < p->n_states; k++) {
        const char *name = plan_string(p, p->states[k].name);
        int64_t step = strncmp(name, "eval.", 5) ? -1 : find_state(p, "", name + 5);
        if (step < 0 || !c->first_term_of_state[k] || !c->first_term_of_state[step]) continue;
        uint32_t a = c->first_term_of_state[k] - 1, b = c->first_term_of_state[step] - 1;
        if (c->without_dropout[a] + terms_of_host(c, name + 5) != c->without_dropout[b])
            check_fail(c, "4o", p->values[a].def,
                       "computes a loss that differs from the one that instruction %u trains",
                       p->values[b].def);
    }
}

static uint64_t count_calls(const Plan *p, uint32_t role, uint32_t kind) {
    uint64_t n = 0;
    for (uint32_t k = 0; k < p->n_calls; k++)
        if (p->calls[k].role == role && p->calls[k].kind == kind) n += (uint64_t)p->calls[k].times;
    return n;
}

/* A micro-batch of the step is cut into as many parts as there are ranks along the axes on which
 * samples differ. An axis of one rank tells no samples apart, nor does one along which ranks share
 * out the work on a sample. */
void check_samples(Check *c) {
    const PlanSettings *t = c->p->settings;
    int64_t parts = t->batch / t->micro_batches / t->local_batch;
    AxisSet several = 0;
    uint32_t found = 0;
    for (int a = 0; a < c->mesh.n; a++) several |= (AxisSet)(c->mesh.axis[a].size > 1) << a;
    several &= ~(c->cuts | c->stages);
    for (AxisSet set = 0; set <= several; set++) {
        if (set & ~several || check_ranks(c, set) != parts) continue;
        c->samples = set;
        found++;
    }
    if (found != 1)
        check_fail(c, "4c", NO_INSTR,
                   "a micro-batch has %lld parts, and %s of the mesh have as many ranks",
                   (long long)parts, found ? "several sets of axes" : "no axes");
}

void check_gradients(Check *c, uint32_t role) {
    const Plan *p = c->p;
    GradientCheck s = {.c = c, .total = count_calls(p, role, PLAN_STEP)};
    uint64_t evaluations = count_calls(p, role, PLAN_EVALUATION);
    if (c->stages) { /* check_calls has counted them */
        s.total = (uint64_t)p->settings->micro_batches;
        evaluations = 1;
    }
    if (s.total != (uint64_t)p->settings->micro_batches)
        check_fail(c, "4a", NO_INSTR, "a step makes %llu calls for %lld micro-batches",
                   (Llu)s.total, (long long)p->settings->micro_batches);
    if (evaluations > 1)
        check_fail(c, "4a", NO_INSTR, "an evaluation makes %llu calls for one batch",
                   (Llu)evaluations);
    Arena *a = c->arena;
    s.sym = arena_alloc(a, (p->n_values + 1) * sizeof *s.sym);
    s.before = arena_alloc(a, (p->n_states + 1) * sizeof *s.before);
    s.content = arena_alloc(a, (p->n_states + 1) * sizeof *s.content);
    s.reported = arena_alloc(a, (p->n_states + 1) * sizeof *s.reported);
    s.updated = arena_alloc(a, (p->n_groups + 1) * sizeof *s.updated);
    s.next = arena_alloc(a, (p->n_groups + 1) * sizeof *s.next);
    s.listed = arena_alloc(a, (p->n_groups + 1) * sizeof *s.listed);
    s.joined = arena_alloc(a, (p->n_groups + 1) * sizeof *s.joined);
    s.shared = arena_alloc(a, (p->n_groups + 1) * sizeof *s.shared);
    s.updater = arena_alloc(a, (p->n_groups + 1) * sizeof *s.updater);
    follow_calls(&s, role, PLAN_STEP);
    for (uint32_t g = 0; g < p->n_groups; g++)
        if (s.updated[g] != (p->groups[g].flags & GROUP_TRAINABLE ? 1u : 0u))
            check_fail(c, "4d", NO_INSTR, "group %u is updated %u times per step", g, s.updated[g]);
    follow_shared_end(&s);
    follow_calls(&s, role, PLAN_EVALUATION);
    check_reported(&s, role);
}
