/* References in f64 for the update, flat groups and dropout. */
#include <math.h>
#include <string.h>

#include "kernels/cases.h"
#include "util.h"

static int64_t in_n(const Case *c, int i) { return type_elements(&c->in[i].type); }
static int64_t out_n(const Case *c, int i) { return type_elements(&c->out[i]); }

#define EACH(i, n) for (int64_t i = 0; i < (n); i++)
#define REF(name) void ref_##name(const Case *c, double *const *in, double *const *out)

/* Philox4x32-10, one counter at a time. */
static void philox(uint32_t counter[4], uint32_t key0, uint32_t key1) {
    for (int round = 0; round < 10; round++) {
        uint64_t a = 0xD2511F53ull * counter[0], b = 0xCD9E8D57ull * counter[2];
        uint32_t next[4] = {(uint32_t)(b >> 32) ^ counter[1] ^ key0, (uint32_t)b,
                            (uint32_t)(a >> 32) ^ counter[3] ^ key1, (uint32_t)a};
        memcpy(counter, next, sizeof next);
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
}
REF(dropout) {
    const double *step = in[1];
    int64_t sample = in_n(c, 0) / c->in[0].type.dim[0];
    EACH(i, out_n(c, 0)) {
        uint64_t e = (uint64_t)step[STEP_FIRST_SAMPLE] * (uint64_t)sample + (uint64_t)i;
        uint32_t counter[4] = {(uint32_t)(e / 4), (uint32_t)(e / 4 >> 32), (uint32_t)c->attr.salt,
                               (uint32_t)step[STEP_INDEX]};
        philox(counter, (uint32_t)step[STEP_SEED_LOW], (uint32_t)step[STEP_SEED_HIGH]);
        out[0][i] = counter[e % 4] < c->attr.p * 0x1p32 ? 0 : in[0][i] / (1 - c->attr.p);
    }
}

/* Operands are not in the output here: only the padding is defined. */
REF(pack) {
    const PlanGroup *g = &c->plan->groups[c->attr.group];
    (void)in;
    EACH(i, out_n(c, 0)) {
        bool inside = false;
        EACH(p, g->n_param) {
            int64_t at = c->plan->group_params[g->first_param + p].offset;
            inside |= i >= at && i < at + in_n(c, (int)p);
        }
        out[0][i] = inside ? NAN : 0;
    }
}

/* The sum is compared exactly by the runner; see kernel_test.c. */
REF(grad_norm) {
    (void)c;
    (void)in;
    memset(out[0], 0, sizeof(double) * EXACT_WORDS);
}

static double words_value(const double *words) {
    double sum = 0;
    EACH(k, EXACT_BINS)
    sum += ldexp(words[k], (int)k * EXACT_BIN_BITS + EXACT_LOWEST_EXPONENT);
    return sum;
}
REF(step_scale) {
    double count = in[0][EXACT_COUNT], *s = out[0];
    double unclipped = 1 / (ldexp(1, (int)c->attr.exponent) * count);
    double norm = sqrt(words_value(in[1])) * unclipped;
    bool finite = in[0][EXACT_NONFINITE] + in[1][EXACT_NONFINITE] == 0;
    memset(s, 0, sizeof(double) * SCALE_SLOTS);
    s[SCALE_UNCLIPPED] = s[SCALE_GRADIENT] = unclipped;
    if (c->attr.clip > 0) s[SCALE_GRADIENT] *= fmin(1, c->attr.clip / (norm + 1e-6));
    s[SCALE_APPLY] = finite || c->attr.on_nan == ON_NAN_CONTINUE;
    s[SCALE_LOSS] = words_value(in[0]) / count;
    s[SCALE_NORM] = norm;
    s[SCALE_COUNT] = count;
    s[SCALE_FINITE] = finite;
}

/* The parameter that element i of this rank's shard belongs to, or NULL. */
static const PlanParam *param_of(const Case *c, int64_t i) {
    if (c->attr.group < 0) return NULL;
    const PlanGroup *g = &c->plan->groups[c->attr.group];
    if (g->split) i += g->shard * c->rank;
    const PlanParam *param = NULL;
    EACH(p, g->n_param) {
        const PlanGroupParam *at = &c->plan->group_params[g->first_param + p];
        if (i >= at->offset) param = &c->plan->params[at->param];
    }
    return param;
}
static double decay_of(const Case *c, int64_t i) {
    const PlanParam *p = param_of(c, i);
    if (p && p->flags & PARAM_NO_DECAY) return 0;
    return p && p->flags & PARAM_GROUPED ? p->weight_decay : c->attr.weight_decay;
}
static double lr_of(const Case *c, int64_t i, const double *step) {
    const PlanParam *p = param_of(c, i);
    return step[STEP_LR] * (p && p->flags & PARAM_GROUPED ? p->lr_factor : 1);
}
static double scaled(const Case *c, double g, const double *scale) {
    g *= scale[SCALE_GRADIENT];
    double limit = c->attr.clip_value;
    return limit > 0 ? fmax(-limit, fmin(limit, g)) : g;
}

/* true: scale says that nothing changes, and so it was done */
static bool keep(const Case *c, double *const *in, double *const *out, const double *scale) {
    if (scale[SCALE_APPLY] != 0) return false;
    for (int j = 0; j < c->n_out; j++) memcpy(out[j], in[j], sizeof(double) * (size_t)out_n(c, j));
    return true;
}

REF(sgd) {
    const double *scale = in[2], *step = in[3];
    if (keep(c, in, out, scale)) return;
    EACH(i, out_n(c, 0)) {
        double g = scaled(c, in[1][i], scale) + decay_of(c, i) * in[0][i];
        out[0][i] = in[0][i] - lr_of(c, i, step) * g;
    }
}
REF(sgd_momentum) {
    const double *scale = in[3], *step = in[4];
    if (keep(c, in, out, scale)) return;
    EACH(i, out_n(c, 0)) {
        double g = scaled(c, in[2][i], scale) + decay_of(c, i) * in[0][i];
        double buffer = step[STEP_INDEX] == 0 ? g : c->attr.momentum * in[1][i] + g;
        double d = c->attr.nesterov ? g + c->attr.momentum * buffer : buffer;
        out[0][i] = in[0][i] - lr_of(c, i, step) * d;
        out[1][i] = buffer;
    }
}
REF(adam) {
    const double *scale = in[4], *step = in[5];
    if (keep(c, in, out, scale)) return;
    EACH(i, out_n(c, 0)) {
        double decay = decay_of(c, i), p = in[0][i], g = scaled(c, in[3][i], scale);
        if (c->attr.decoupled)
            p *= 1 - lr_of(c, i, step) * decay;
        else
            g += decay * p;
        double m = c->attr.beta1 * in[1][i] + (1 - c->attr.beta1) * g;
        double v = c->attr.beta2 * in[2][i] + (1 - c->attr.beta2) * g * g;
        double root = sqrt(v / step[STEP_BIAS2]);
        out[0][i] = p - lr_of(c, i, step) * (m / step[STEP_BIAS1]) / (root + c->attr.eps);
        out[1][i] = m;
        out[2][i] = v;
    }
}
REF(lion) {
    const double *scale = in[3], *step = in[4];
    if (keep(c, in, out, scale)) return;
    EACH(i, out_n(c, 0)) {
        double g = scaled(c, in[2][i], scale), m = in[1][i];
        double toward = c->attr.beta1 * m + (1 - c->attr.beta1) * g;
        double sign = (toward > 0) - (toward < 0);
        out[0][i] = in[0][i] * (1 - lr_of(c, i, step) * decay_of(c, i)) - lr_of(c, i, step) * sign;
        out[1][i] = c->attr.beta2 * m + (1 - c->attr.beta2) * g;
    }
}
