/* The updates of optimizers, for the kernels of all devices: the scalars of a step, what a
 * parameter may have of its own, and what a rule makes of numbers of the parameter, its moments and
 * its gradient. A file that includes this, after scalar_math.h, first defines NUMBER, the type that
 * it computes with, and PLUS, which adds two products without contraction. */
#ifndef FSDPC_UPDATES_H
#define FSDPC_UPDATES_H

#include "kernel.h"

/* UPDATE(op, tensors that it updates: the parameter and its moments) */
#define UPDATES                                                                                    \
    UPDATE(sgd, 1)                                                                                 \
    UPDATE(sgd_momentum, 2)                                                                        \
    UPDATE(adam, 3)                                                                                \
    UPDATE(lion, 2)                                                                                \
    UPDATE(adan, 5)
#define UPDATE(op, tensors) RULE_##op,
enum UpdateRule { UPDATES };
#undef UPDATE
enum { MOST_TENSORS = 5 };

/* What the op says. */
typedef struct UpdateAttrs {
    double weight_decay, beta1, beta2, beta3;
    float clip_value, momentum, eps;
    bool nesterov, decoupled, divides; /* divides: weights by 1 + lr * decay */
} UpdateAttrs;
static inline UpdateAttrs update_attrs(const Attrs *a, int rule) {
    UpdateAttrs u = {a->weight_decay,
                     a->beta1,
                     a->beta2,
                     a->beta3,
                     (float)a->clip_value,
                     (float)a->momentum,
                     (float)a->eps,
                     a->nesterov != 0,
                     rule == RULE_lion || a->decoupled != 0,
                     rule == RULE_adan};
    return u;
}

/* What the step says besides. */
typedef struct UpdateScalars {
    float gradient, beta1, beta1_rest, beta2, beta2_rest, root_bias2_inverse;
    float beta3, beta3_rest, root_bias3_inverse;
    double lr, step_size, diff_size; /* of parameters without a rate of their own */
    bool first_step, first_update;
} UpdateScalars;
DEVICE UpdateScalars update_scalars(const UpdateAttrs *a, const double *scale, const double *step) {
    UpdateScalars s;
    s.gradient = (float)scale[SCALE_GRADIENT];
    s.lr = step[STEP_LR];
    s.first_step = step[STEP_INDEX] == 0.0;
    s.beta1 = (float)a->beta1;
    s.beta1_rest = (float)(1.0 - a->beta1);
    s.beta2 = (float)a->beta2;
    s.beta2_rest = (float)(1.0 - a->beta2);
    s.step_size = s.lr / step[STEP_BIAS1];
    s.root_bias2_inverse = (float)(1.0 / sqrt(step[STEP_BIAS2]));
    s.first_update = step[STEP_UPDATES] == 0.0;
    s.beta3 = (float)a->beta3;
    s.beta3_rest = (float)(1.0 - a->beta3);
    s.diff_size = s.lr * a->beta2 / step[STEP_BIAS2];
    s.root_bias3_inverse = (float)(1.0 / sqrt(step[STEP_BIAS3]));
    return s;
}

/* What a parameter may have of its own. */
typedef struct ParameterRate {
    float lr, step_size, diff_size;
    float keep, decay; /* factor of a decoupled decay, and what is added to the gradient */
} ParameterRate;
DEVICE ParameterRate parameter_rate(const UpdateAttrs *a, const UpdateScalars *s, double factor,
                                    double decay) {
    double lr = s->lr * factor;
    float keep = a->divides     ? (float)(1.0 / (1.0 + lr * decay))
                 : a->decoupled ? (float)(1.0 - lr * decay)
                                : 1.0f;
    ParameterRate r = {(float)lr, (float)(s->step_size * factor), (float)(s->diff_size * factor),
                       keep, a->decoupled || a->divides ? 0.0f : (float)decay};
    return r;
}

/* p, and of m, v, d and last what the rule has, after a step whose gradient is g: scaled, clipped,
 * with what a coupled decay adds. */
DEVICE void update_number(int rule, const UpdateAttrs *a, const UpdateScalars *s,
                          const ParameterRate *r, NUMBER g, NUMBER *p, NUMBER *m, NUMBER *v,
                          NUMBER *d, NUMBER *last) {
    if (rule == RULE_sgd) {
        *p = *p - r->lr * g;
    } else if (rule == RULE_sgd_momentum) {
        *m = s->first_step ? g : a->momentum * *m + g;
        *p = *p - r->lr * (a->nesterov ? g + a->momentum * *m : *m);
    } else if (rule == RULE_lion) {
        /* not contracted, so that all devices get the same sign; a NaN stays one */
        NUMBER toward = PLUS(s->beta1 * *m, s->beta1_rest * g);
        NUMBER by = SELECT(LESS(ALL(0.0f), toward), ALL(r->lr),
                           SELECT(LESS(toward, ALL(0.0f)), ALL(-r->lr),
                                  SELECT(EQUAL(toward, ALL(0.0f)), ALL(0.0f), toward)));
        *p = *p * r->keep - by;
        *m = *m * s->beta2 + s->beta2_rest * g;
    } else if (rule == RULE_adan) {
        NUMBER change = s->first_update ? ALL(0.0f) : g + *last, ahead = g + s->beta2 * change;
        *m = *m + s->beta1_rest * (g - *m);
        *d = *d + s->beta2_rest * (change - *d);
        *v = PLUS(*v * s->beta3, s->beta3_rest * ahead * ahead);
        NUMBER denominator = sqrt_of(*v) * s->root_bias3_inverse + a->eps;
        *p = (*p - (r->step_size * *m + r->diff_size * *d) / denominator) * r->keep;
        *last = -g;
    } else {
        *m = *m + s->beta1_rest * (g - *m);
        /* never contracted: a compiler may choose either product, in each of its copies another */
        *v = PLUS(*v * s->beta2, s->beta2_rest * g * g);
        NUMBER denominator = sqrt_of(*v) * s->root_bias2_inverse + a->eps;
        *p = *p * r->keep - r->step_size * *m / denominator;
    }
}

#endif
