/* The optimizer step: grad_norm, step_scale, sgd, sgd_momentum, adam (also AdamW),
 * lion, adan.
 *
 * Every update reads parameter, moments and gradient once and writes parameter and moments once.
 * The arithmetic is PyTorch's, in f32; scalars are computed in f64 and rounded once. The gradient
 * is first multiplied by scale[SCALE_GRADIENT], then clipped by value. When scale[SCALE_APPLY] is 0
 * nothing changes. A copy of the parameter in another dtype is rounded from what is stored.
 *
 * A flat group is updated in segments, one for each parameter that this rank's shard touches, since
 * learning rate and decay may be the parameter's own. Padding has zero gradients and stays zero.
 */
#include "exact.h"
#include "kernel.h"
#include "scalar_math.h"
#include "scalars.h"

#define NUMBER V16
#define PLUS(a, b) ((a) + (b))
#include "updates.h"

static void find_largest(const Launch *l, Operand g, WorkRange mine, int32_t *largest) {
    *largest = 0;
#pragma omp parallel num_threads(threads_for(l, mine.to - mine.from))
    {
        WorkRange r = my_range(mine.to - mine.from, 512);
        int32_t own = largest_in(g, (WorkRange){mine.from + r.from, mine.from + r.to});
#pragma omp critical(largest_gradient)
        *largest = MAX(*largest, own);
    }
}

KERNEL(grad_norm) {
    Operand g = input(l, 0);
    Result out = output(l, 0);
    const PlanGroup *group = group_of(l);
    int64_t power = l->call->attr->clip_norm;
    WorkRange mine = {0, g.n};
    const RankInfo *rank = l->call->rank;
    if (group) rank_own_part(rank, group, rank_norm_axes(rank), g.n, &mine.from, &mine.to);
    if (power == NORM_INF) {
        find_largest(l, g, mine, out.at);
        return 0;
    }
    exact_of(l, g, mine, power, out.at);
    return 0;
}

/* (loss, norm, step) -> scale */
KERNEL(step_scale) {
    Result out = output(l, 0);
    scale_step(out.at, out.n, l->call->in[0], l->call->in[1], l->call->in[2],
               step_factors(l->call->attr));
    return 0;
}

/* ---- updates */

typedef struct UpdateCall {
    Operand from[MOST_TENSORS], g; /* the parameter and its moments */
    Result to[MOST_TENSORS], copy; /* copy: of the parameter in another dtype, if it is wanted */
    uint32_t tensors;
    UpdateAttrs attrs;
    UpdateScalars scalars;
} UpdateCall;

/* Updates elements [from, to) at this rate. */
typedef void (*Segment)(const UpdateCall *u, const ParameterRate *r, int64_t from, int64_t to);

VECTOR_INLINE void update_segment(const UpdateCall *u, const ParameterRate *r, int64_t from,
                                  int64_t to, int rule, int tensors) {
    const UpdateAttrs a = u->attrs;
    const UpdateScalars s = u->scalars;
    bool couples = rule != RULE_lion && rule != RULE_adan;
    for (int64_t i = from; i < to; i += LANES) {
        V16 x[MOST_TENSORS];
#pragma GCC unroll 5
        for (int k = 0; k < tensors; k++) x[k] = v_get(u->from[k].at, u->from[k].dtype, i, to - i);
        V16 g = v_clipped(v_get(u->g.at, u->g.dtype, i, to - i) * s.gradient, a.clip_value);
        if (couples) g = g + r->decay * x[0];
        update_number(rule, &a, &s, r, g, &x[0], &x[1], &x[2], &x[3], &x[4]);
#pragma GCC unroll 5
        for (int k = 0; k < tensors; k++) v_put(u->to[k].at, u->to[k].dtype, i, to - i, x[k]);
    }
}

/* What is in `to` now, in the copy's dtype. */
static void copy_numbers(const UpdateCall *u, int64_t from, int64_t to) {
    for (int64_t i = from; i < to; i += LANES)
        v_put(u->copy.at, u->copy.dtype, i, to - i, v_get(u->to[0].at, u->to[0].dtype, i, to - i));
}

/* At a learning rate `factor` times that of the step. A copy is made block by block, while the
 * block is in the cache. */
static void update_block(const UpdateCall *u, Segment segment, double factor, double decay,
                         int64_t from, int64_t to) {
    enum { BLOCK = 2048 };
    ParameterRate rate = parameter_rate(&u->attrs, &u->scalars, factor, decay);
    if (!u->copy.at) {
        segment(u, &rate, from, to);
        return;
    }
    for (int64_t at = from; at < to; at += BLOCK) {
        int64_t end = MIN(at + BLOCK, to);
        segment(u, &rate, at, end);
        copy_numbers(u, at, end);
    }
}

static void keep_values(const Launch *l, const UpdateCall *u) {
    for (uint32_t i = 0; i < u->tensors; i++) launch_keep(l, i, i);
    if (u->copy.at) copy_numbers(u, 0, u->to[0].n);
}

/* This thread's part of a flat group: each parameter at its own rate. */
static void update_group(const Launch *l, const PlanGroup *group, const UpdateCall *u,
                         Segment segment, WorkRange mine) {
    const Plan *plan = l->call->rank->plan;
    for (uint32_t k = 0; k < group->n_param; k++) {
        const PlanParam *param = &plan->params[plan->group_params[group->first_param + k].param];
        WorkRange part = part_of_shard(l, group, k);
        int64_t from = MAX(part.from, mine.from), to = MIN(part.to, mine.to);
        if (from < to)
            update_block(u, segment, plan_lr_factor(param),
                         plan_decay(param, l->call->attr->weight_decay), from, to);
    }
}

static int run_update(const Launch *l, int rule, uint32_t tensors, Segment segment) {
    const double *scale = l->call->in[tensors + 1], *step = l->call->in[tensors + 2];
    const PlanGroup *group = group_of(l);
    UpdateCall u = {.g = input(l, tensors), .tensors = tensors};
    for (uint32_t i = 0; i < tensors; i++) u.from[i] = input(l, i), u.to[i] = output(l, i);
    if (l->call->attr->copy != DT_NONE) u.copy = output(l, tensors);
    if (scale[SCALE_APPLY] == 0.0) {
        keep_values(l, &u);
        return 0;
    }
    u.attrs = update_attrs(l->call->attr, rule);
    u.scalars = update_scalars(&u.attrs, scale, step);
#pragma omp parallel num_threads(threads_for(l, u.g.n))
    {
        WorkRange mine = my_range(u.g.n, 1024);
        if (group)
            update_group(l, group, &u, segment, mine);
        else
            update_block(&u, segment, 1.0, u.attrs.weight_decay, mine.from, mine.to);
    }
    return 0;
}

#define UPDATE(op, tensors)                                                                        \
    static void op##_segment(const UpdateCall *u, const ParameterRate *r, int64_t from,            \
                             int64_t to) {                                                         \
        update_segment(u, r, from, to, RULE_##op, tensors);                                        \
    }                                                                                              \
    KERNEL(op) { return run_update(l, RULE_##op, tensors, op##_segment); }
UPDATES
