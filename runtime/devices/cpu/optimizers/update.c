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
#include "largest.h"
#include "scalars.h"

/* Adds |x|^power of elements [from, to); 0: 2. */
static void add_powers(ExactSum *sum, Operand x, int64_t from, int64_t to, int64_t power) {
    if (power != 1 && power != 3) {
        exact_add_squares(sum, x.at, x.dtype, from, to);
        return;
    }
    for (int64_t i = from; i < to; i += LANES) {
        V16 v = v_get(x.at, x.dtype, i, to - i);
        if (power == 3)
            exact_push_cubes(sum, v);
        else
            exact_push(sum, v_abs(v), false);
    }
}

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
    memset(out.at, 0, EXACT_WORDS * sizeof(int64_t));
#pragma omp parallel num_threads(threads_for(l, mine.to - mine.from))
    {
        ExactSum sum = {0};
        WorkRange r = my_range(mine.to - mine.from, 512);
        add_powers(&sum, g, mine.from + r.from, mine.from + r.to, power);
        exact_finish(&sum, out.at);
    }
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

enum { MOST_TENSORS = 5 }; /* that an op updates: the parameter and its moments */

typedef struct UpdateCall {
    Operand p, m, v, d, last, g; /* m, v, d and last where the optimizer has them */
    Result to[MOST_TENSORS];     /* p, m, v, d, last */
    Result copy;                 /* of p in another dtype; at NULL: none */
    float gradient_scale, clip_value;
    float lr, momentum, beta1, beta1_rest, beta2, beta2_rest, eps, step_size, root_bias2_inverse;
    float beta3, beta3_rest, diff_size, root_bias3_inverse;
    double exact_lr, exact_step_size, exact_diff_size;
    bool first_step, first_update, nesterov, decoupled;
} UpdateCall;

/* Updates elements [from, to) under this weight decay. */
typedef void (*Segment)(const UpdateCall *u, double decay, int64_t from, int64_t to);

VECTOR_INLINE V16 gradient_at(const UpdateCall *u, int64_t at, int64_t n) {
    return v_clipped(v_get(u->g.at, u->g.dtype, at, n) * u->gradient_scale, u->clip_value);
}

static void sgd_segment(const UpdateCall *u, double decay, int64_t from, int64_t to) {
    for (int64_t i = from; i < to; i += LANES) {
        int64_t n = to - i;
        V16 p = v_get(u->p.at, u->p.dtype, i, n);
        V16 g = gradient_at(u, i, n) + (float)decay * p;
        v_put(u->to[0].at, u->to[0].dtype, i, n, p - u->lr * g);
    }
}

static void momentum_segment(const UpdateCall *u, double decay, int64_t from, int64_t to) {
    for (int64_t i = from; i < to; i += LANES) {
        int64_t n = to - i;
        V16 p = v_get(u->p.at, u->p.dtype, i, n);
        V16 g = gradient_at(u, i, n) + (float)decay * p, buffer = g;
        if (!u->first_step) buffer = u->momentum * v_get(u->m.at, u->m.dtype, i, n) + g;
        V16 step = u->nesterov ? g + u->momentum * buffer : buffer;
        v_put(u->to[0].at, u->to[0].dtype, i, n, p - u->lr * step);
        v_put(u->to[1].at, u->to[1].dtype, i, n, buffer);
    }
}

static void adam_segment(const UpdateCall *u, double decay, int64_t from, int64_t to) {
    float keep = u->decoupled ? (float)(1.0 - u->exact_lr * decay) : 1.0f;
    float coupled = u->decoupled ? 0.0f : (float)decay;
    for (int64_t i = from; i < to; i += LANES) {
        int64_t n = to - i;
        V16 p = v_get(u->p.at, u->p.dtype, i, n);
        V16 g = gradient_at(u, i, n) + coupled * p;
        V16 m = v_get(u->m.at, u->m.dtype, i, n);
        V16 v = v_get(u->v.at, u->v.dtype, i, n);
        m = m + u->beta1_rest * (g - m);
        v = v * u->beta2 + u->beta2_rest * g * g;
        V16 denominator = v_sqrt(v) * u->root_bias2_inverse + u->eps;
        p = p * keep - u->step_size * m / denominator;
        v_put(u->to[0].at, u->to[0].dtype, i, n, p);
        v_put(u->to[1].at, u->to[1].dtype, i, n, m);
        v_put(u->to[2].at, u->to[2].dtype, i, n, v);
    }
}

static void lion_segment(const UpdateCall *u, double decay, int64_t from, int64_t to) {
    float keep = (float)(1.0 - u->exact_lr * decay);
    for (int64_t i = from; i < to; i += LANES) {
        int64_t n = to - i;
        V16 p = v_get(u->p.at, u->p.dtype, i, n);
        V16 m = v_get(u->m.at, u->m.dtype, i, n);
        V16 g = gradient_at(u, i, n), toward = u->beta1 * m + u->beta1_rest * g;
        V16 step = v_select(toward > 0.0f, v_all(u->lr), v_all(0.0f));
        step = v_select(toward < 0.0f, v_all(-u->lr), step);
        step = v_select(toward == toward, step, toward); /* not a number stays one */
        v_put(u->to[0].at, u->to[0].dtype, i, n, p * keep - step);
        v_put(u->to[1].at, u->to[1].dtype, i, n, m * u->beta2 + u->beta2_rest * g);
    }
}

static void adan_segment(const UpdateCall *u, double decay, int64_t from, int64_t to) {
    float shrink = (float)(1.0 / (1.0 + u->exact_lr * decay));
    for (int64_t i = from; i < to; i += LANES) {
        int64_t n = to - i;
        V16 p = v_get(u->p.at, u->p.dtype, i, n);
        V16 m = v_get(u->m.at, u->m.dtype, i, n);
        V16 v = v_get(u->v.at, u->v.dtype, i, n);
        V16 d = v_get(u->d.at, u->d.dtype, i, n);
        V16 g = gradient_at(u, i, n), change = v_all(0.0f);
        if (!u->first_update) change = g + v_get(u->last.at, u->last.dtype, i, n);
        V16 ahead = g + u->beta2 * change;
        m = m + u->beta1_rest * (g - m);
        d = d + u->beta2_rest * (change - d);
        v = v * u->beta3 + u->beta3_rest * ahead * ahead;
        V16 denominator = v_sqrt(v) * u->root_bias3_inverse + u->eps;
        p = (p - (u->step_size * m + u->diff_size * d) / denominator) * shrink;
        v_put(u->to[0].at, u->to[0].dtype, i, n, p);
        v_put(u->to[1].at, u->to[1].dtype, i, n, m);
        v_put(u->to[2].at, u->to[2].dtype, i, n, v);
        v_put(u->to[3].at, u->to[3].dtype, i, n, d);
        v_put(u->to[4].at, u->to[4].dtype, i, n, -g);
    }
}

/* What is in `to` now, in the copy's dtype. */
static void copy_numbers(const UpdateCall *u, int64_t from, int64_t to) {
    for (int64_t i = from; i < to; i += LANES)
        v_put(u->copy.at, u->copy.dtype, i, to - i, v_get(u->to[0].at, u->to[0].dtype, i, to - i));
}

/* A copy is made block by block, while the block is in the cache. */
static void update_block(const UpdateCall *u, Segment segment, double decay, int64_t from,
                         int64_t to) {
    enum { BLOCK = 2048 };
    if (!u->copy.at) {
        segment(u, decay, from, to);
        return;
    }
    for (int64_t at = from; at < to; at += BLOCK) {
        int64_t end = MIN(at + BLOCK, to);
        segment(u, decay, at, end);
        copy_numbers(u, at, end);
    }
}

static void keep_values(const Launch *l, const UpdateCall *u, uint32_t moments) {
    for (uint32_t i = 0; i <= moments; i++)
        if (l->call->out[i] != l->call->in[i])
            memmove(l->call->out[i], l->call->in[i], (size_t)type_bytes(l->call->out_type[i]));
    if (u->copy.at) copy_numbers(u, 0, u->p.n);
}

/* The update of a parameter whose learning rate is `factor` times that of the step. */
static UpdateCall at_rate(const UpdateCall *u, double factor) {
    UpdateCall own = *u;
    own.exact_lr *= factor;
    own.lr = (float)own.exact_lr;
    own.step_size = (float)(u->exact_step_size * factor);
    own.diff_size = (float)(u->exact_diff_size * factor);
    return own;
}

/* This thread's part of a flat group: between parameters' starts, each at its own rate. */
static void update_group(const Launch *l, const PlanGroup *group, const UpdateCall *u,
                         Segment segment, WorkRange mine) {
    const Plan *plan = l->call->rank->plan;
    int64_t start = rank_start(l->call->rank, group);
    const PlanGroupParam *params = plan->group_params + group->first_param;
    int64_t at = mine.from;
    for (uint32_t k = 0; k < group->n_param && at < mine.to; k++) {
        int64_t end = k + 1 < group->n_param ? params[k + 1].offset - start : mine.to;
        end = MIN(end, mine.to);
        if (end <= at) continue;
        const PlanParam *param = &plan->params[params[k].param];
        UpdateCall own = at_rate(u, plan_lr_factor(param));
        update_block(&own, segment, plan_decay(param, l->call->attr->weight_decay), at, end);
        at = end;
    }
}

static int run_update(const Launch *l, uint32_t moments, UpdateCall *u, Segment segment) {
    const Attrs *attr = l->call->attr;
    Operand operands[MOST_TENSORS + 3];
    for (uint32_t i = 0; i < moments + 4; i++) operands[i] = input(l, i);
    u->p = operands[0];
    u->m = operands[moments > 0 ? 1 : 0];
    u->v = operands[moments > 1 ? 2 : 0];
    u->d = operands[moments > 2 ? 3 : 0];
    u->last = operands[moments > 3 ? 4 : 0];
    u->g = operands[moments + 1];
    const PlanGroup *group = group_of(l);
    if (attr->copy != DT_NONE) u->copy = output(l, moments + 1);
    for (uint32_t i = 0; i <= moments; i++) u->to[i] = output(l, i);
    const double *factors = operands[moments + 2].at, *now = operands[moments + 3].at;
    if (factors[SCALE_APPLY] == 0.0) {
        keep_values(l, u, moments);
        return 0;
    }
    u->gradient_scale = (float)factors[SCALE_GRADIENT];
    u->clip_value = (float)attr->clip_value;
    u->exact_lr = now[STEP_LR];
    *u = at_rate(u, 1.0);
    u->first_step = now[STEP_INDEX] == 0.0;
    u->first_update = now[STEP_UPDATES] == 0.0;
#pragma omp parallel num_threads(threads_for(l, u->p.n))
    {
        WorkRange mine = my_range(u->p.n, 1024);
        if (group)
            update_group(l, group, u, segment, mine);
        else
            update_block(u, segment, attr->weight_decay, mine.from, mine.to);
    }
    return 0;
}

KERNEL(sgd) {
    UpdateCall u = {0};
    return run_update(l, 0, &u, sgd_segment);
}

KERNEL(sgd_momentum) {
    UpdateCall u = {.momentum = (float)l->call->attr->momentum,
                    .nesterov = l->call->attr->nesterov != 0};
    return run_update(l, 1, &u, momentum_segment);
}

/* With the shares of running averages. */
static UpdateCall averaging(const Attrs *a) {
    return (UpdateCall){.beta1 = (float)a->beta1,
                        .beta1_rest = (float)(1.0 - a->beta1),
                        .beta2 = (float)a->beta2,
                        .beta2_rest = (float)(1.0 - a->beta2),
                        .beta3 = (float)a->beta3,
                        .beta3_rest = (float)(1.0 - a->beta3),
                        .eps = (float)a->eps,
                        .decoupled = a->decoupled != 0};
}

KERNEL(adam) {
    const double *now = l->call->in[5];
    UpdateCall u = averaging(l->call->attr);
    u.exact_step_size = now[STEP_LR] / now[STEP_BIAS1];
    u.root_bias2_inverse = (float)(1.0 / __builtin_sqrt(now[STEP_BIAS2]));
    return run_update(l, 2, &u, adam_segment);
}

KERNEL(lion) {
    UpdateCall u = averaging(l->call->attr);
    return run_update(l, 1, &u, lion_segment);
}

KERNEL(adan) {
    const double *now = l->call->in[7];
    UpdateCall u = averaging(l->call->attr);
    u.exact_step_size = now[STEP_LR] / now[STEP_BIAS1];
    u.exact_diff_size = now[STEP_LR] * l->call->attr->beta2 / now[STEP_BIAS2];
    u.root_bias3_inverse = (float)(1.0 / __builtin_sqrt(now[STEP_BIAS3]));
    return run_update(l, 4, &u, adan_segment);
}
