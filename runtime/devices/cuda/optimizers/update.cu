/* The optimizer step: grad_norm, step_scale, sgd, sgd_momentum, adam (also AdamW), lion, adan.
 * Arithmetic and order are those of runtime/devices/cpu/optimizers/update.c; the scalars that a
 * step changes are computed by each thread in f64 from the states scale and step, so that a
 * captured launch stays right.
 *
 * A flat group has a table of its parameters' starts in device memory; a thread looks up the
 * parameter of its eight once. Only an eight that reaches into the next parameter is walked through
 * one by one. The grid has a few blocks per multiprocessor, so that the scalars, which take
 * divisions in f64, are computed once for many eights.
 */
#include "integer_sum.h"
#include "largest.h"

#define SCALAR_FUNCTION DEVICE
#include "scalars.h"

enum {
    UPDATE_THREADS = 256,
    UPDATE_BLOCKS = MULTIPROCESSORS * 8,
    NORM_NUMBERS = 16,
    NORM_BLOCKS = MULTIPROCESSORS * 4 /* as many as run at once, so that a warp's window lasts */
};

/* The dtype of an operand in that form: known to the compiler, if the form says it. */
template <int form> DEVICE int dtype_with(int dtype) {
    return form == FORM_F32 ? DT_F32 : form == FORM_BF16 ? DT_BF16 : dtype;
}

/* ---- grad_norm */

/* A warp's numbers lie together: eights of its lanes side by side, NORM_NUMBERS / EIGHT times.
 * Whole warps stay together; past the end they have zeros. */
template <int form>
DEVICE void norm_numbers(float *x, const void *g, int dtype, int64_t first, int64_t to) {
    constexpr int PIECES = NORM_NUMBERS / EIGHT;
    Eight v[PIECES];
    int64_t at = first + threadIdx.x % WARP * EIGHT;
    if (to - first >= NORM_NUMBERS * WARP) {
        Loaded<form> loaded[PIECES];
#pragma unroll
        for (int k = 0; k < PIECES; k++)
            loaded[k] = fetch8<form>(g, dtype, at + k * WARP * EIGHT, EIGHT);
#pragma unroll
        for (int k = 0; k < PIECES; k++) v[k] = numbers(loaded[k]);
    } else {
#pragma unroll
        for (int k = 0; k < PIECES; k++) {
            int64_t i = at + k * WARP * EIGHT;
            v[k] = load8(g, dtype_with<form>(dtype), i < to ? i : to, i < to ? to - i : 0);
        }
    }
#pragma unroll
    for (int k = 0; k < PIECES; k++) EACH(j) x[k * EIGHT + j] = v[k].x[j];
}

/* Calls add(x) for each NORM_NUMBERS numbers of a lane. */
template <int form, class Add>
DEVICE void each_norm_numbers(const void *g, int dtype, int64_t from, int64_t to, Add add) {
    int64_t step = (int64_t)gridDim.x * blockDim.x * NORM_NUMBERS;
    int64_t warp = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x / WARP * WARP) * NORM_NUMBERS;
    for (int64_t first = from + warp; first < to; first += step) {
        float x[NORM_NUMBERS];
        norm_numbers<form>(x, g, dtype, first, to);
        add(x);
    }
}

__global__ void __launch_bounds__(UPDATE_THREADS)
    largest_number(int32_t *result, const void *g, int dtype, int64_t from, int64_t to) {
    begin_kernel();
    int64_t first = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * EIGHT;
    raise_to_largest(result, g, dtype, from + first, to, (int64_t)gridDim.x * blockDim.x * EIGHT);
}

/* Sizes, squares or cubes. A cube is rounded to f64, as on the cpu, so it is cut in f64. */
template <int form, int power>
__global__ void __launch_bounds__(UPDATE_THREADS)
    sum_powers(int64_t *result, const void *g, int dtype, int64_t from, int64_t to) {
    begin_kernel();
    __shared__ int64_t words[EXACT_WORDS];
    begin_words(words);
    if constexpr (power == 3) {
        each_norm_numbers<form>(g, dtype, from, to,
                                [&](const float *x) { exact_add_cubes<NORM_NUMBERS>(words, x); });
    } else {
        SumWindow w = {};
        w.top = LEAST_TOP;
        each_norm_numbers<form>(g, dtype, from, to, [&](const float *x) {
            add_numbers<NORM_NUMBERS, power, form == FORM_BF16>(words, w, x);
        });
        put_window<power>(words, w);
    }
    end_words(result, words);
}
template <int form>
static int launch_sum(const Launch *l, int64_t power, unsigned blocks, Operand g, int64_t from,
                      int64_t to) {
    auto sum = power == 1   ? sum_powers<form, 1>
               : power == 3 ? sum_powers<form, 3>
                            : sum_powers<form, 2>;
    return LAUNCH(l, sum, blocks, UPDATE_THREADS, 0, (int64_t *)l->call->out[0], g.at, g.dtype,
                  from, to);
}

KERNEL(grad_norm) {
    Operand g = input(l, 0);
    Result out = output(l, 0);
    const PlanGroup *group = group_of(l);
    int64_t power = l->call->attr->clip_norm; /* 0: 2 */
    int64_t from = 0, to = g.n;
    const RankInfo *rank = l->call->rank;
    if (group) rank_own_part(rank, group, rank_norm_axes(rank), g.n, &from, &to);
    int code = launch_set(l, out.at, 0, type_bytes(out.type));
    if (code || from == to) return code;
    unsigned blocks =
        MIN(blocks_for(to - from, UPDATE_THREADS * NORM_NUMBERS), (unsigned)NORM_BLOCKS);
    if (power == NORM_INF)
        return LAUNCH(l, largest_number, blocks, UPDATE_THREADS, 0, (int32_t *)out.at, g.at,
                      g.dtype, from, to);
    const char *first = (const char *)g.at + from * dtype_bytes(g.dtype);
    int form = form_with(FORM_NONE, first, g.dtype, EIGHT);
    if (form == FORM_BF16) return launch_sum<FORM_BF16>(l, power, blocks, g, from, to);
    if (form == FORM_F32) return launch_sum<FORM_F32>(l, power, blocks, g, from, to);
    return launch_sum<FORM_ANY>(l, power, blocks, g, from, to);
}

/* ---- step_scale: one thread */

__global__ void __launch_bounds__(1)
    scale_of_step(double *scale, int64_t n, const int64_t *loss, const void *norm,
                  const double *step, StepFactors f) {
    begin_kernel();
    scale_step(scale, n, loss, norm, step, f);
}

KERNEL(step_scale) {
    Result out = output(l, 0);
    return LAUNCH(l, scale_of_step, 1, 1, 0, (double *)out.at, out.n,
                  (const int64_t *)l->call->in[0], l->call->in[1], (const double *)l->call->in[2],
                  step_factors(l->call->attr));
}

/* ---- updates */

enum UpdateRule { RULE_SGD, RULE_MOMENTUM, RULE_ADAM, RULE_LION, RULE_ADAN };

enum { MOST_TENSORS = 5 };

/* Tensors that a rule updates: the parameter and its moments. */
template <int rule>
constexpr int TENSORS = rule == RULE_SGD    ? 1
                        : rule == RULE_ADAM ? 3
                        : rule == RULE_ADAN ? (int)MOST_TENSORS
                                            : 2;

struct UpdateCall {
    void *to[MOST_TENSORS], *copy;      /* copy: of the parameter, or NULL */
    const void *from[MOST_TENSORS], *g; /* p, then the moments */
    int dtype[MOST_TENSORS], g_dtype, copy_dtype;
    const double *scale, *step;
    int64_t n, start;            /* start: how far before its offset a segment begins */
    const SegmentStart *segment; /* NULL: one parameter */
    int n_segment;
    double weight_decay, beta1, beta2, beta3;
    float clip_value, momentum, eps;
    bool nesterov, decoupled, divides; /* divides: weights by 1 + lr * decay */
};

struct Scalars {
    float gradient, beta1, beta1_rest, beta2, beta2_rest, root_bias2_inverse;
    float beta3, beta3_rest, root_bias3_inverse;
    double lr, step_size, diff_size; /* of parameters without a rate of their own */
    bool first_step, first_update;
};

/* What a parameter may have of its own. */
struct ParameterRate {
    float lr, step_size, diff_size;
    float keep, decay; /* factor of a decoupled decay, and what is added to the gradient */
};

DEVICE Scalars scalars_of(const UpdateCall &u) {
    Scalars s = {};
    s.gradient = (float)u.scale[SCALE_GRADIENT];
    s.lr = u.step[STEP_LR];
    s.first_step = u.step[STEP_INDEX] == 0.0;
    s.beta1 = (float)u.beta1;
    s.beta1_rest = (float)(1.0 - u.beta1);
    s.beta2 = (float)u.beta2;
    s.beta2_rest = (float)(1.0 - u.beta2);
    s.step_size = s.lr / u.step[STEP_BIAS1];
    s.root_bias2_inverse = (float)(1.0 / sqrt(u.step[STEP_BIAS2]));
    s.first_update = u.step[STEP_UPDATES] == 0.0;
    s.beta3 = (float)u.beta3;
    s.beta3_rest = (float)(1.0 - u.beta3);
    s.diff_size = s.lr * u.beta2 / u.step[STEP_BIAS2];
    s.root_bias3_inverse = (float)(1.0 / sqrt(u.step[STEP_BIAS3]));
    return s;
}

DEVICE ParameterRate rate_of(const UpdateCall &u, const Scalars &s, double factor, double decay) {
    if (decay == STANDARD_DECAY) decay = u.weight_decay;
    double lr = s.lr * factor;
    float keep = u.divides     ? (float)(1.0 / (1.0 + lr * decay))
                 : u.decoupled ? (float)(1.0 - lr * decay)
                               : 1.0f;
    return {(float)lr, (float)(s.step_size * factor), (float)(s.diff_size * factor), keep,
            u.decoupled || u.divides ? 0.0f : (float)decay};
}

DEVICE ParameterRate segment_rate(const UpdateCall &u, const Scalars &s, int segment) {
    return rate_of(u, s, u.segment[segment].lr_factor, u.segment[segment].weight_decay);
}

template <int rule>
DEVICE void update_one(const UpdateCall &u, const Scalars &s, const ParameterRate &r, float g,
                       float &p, float &m, float &v, float &d, float &last) {
    g = clipped(g * s.gradient, u.clip_value) + r.decay * p;
    if (rule == RULE_SGD) {
        p = p - r.lr * g;
    } else if (rule == RULE_MOMENTUM) {
        m = s.first_step ? g : u.momentum * m + g;
        p = p - r.lr * (u.nesterov ? g + u.momentum * m : m);
    } else if (rule == RULE_LION) {
        /* not contracted, so that the sign is the CPU's */
        float toward = __fadd_rn(s.beta1 * m, s.beta1_rest * g);
        float by = toward > 0.0f ? r.lr : toward < 0.0f ? -r.lr : toward == 0.0f ? 0.0f : toward;
        p = p * r.keep - by;
        m = m * s.beta2 + s.beta2_rest * g;
    } else if (rule == RULE_ADAN) {
        float change = s.first_update ? 0.0f : g + last, ahead = g + s.beta2 * change;
        m = m + s.beta1_rest * (g - m);
        d = d + s.beta2_rest * (change - d);
        v = __fadd_rn(v * s.beta3, s.beta3_rest * ahead * ahead);
        float denominator = sqrtf(v) * s.root_bias3_inverse + u.eps;
        p = (p - (r.step_size * m + r.diff_size * d) / denominator) * r.keep;
        last = -g;
    } else {
        m = m + s.beta1_rest * (g - m);
        /* never contracted: a compiler may choose either product, in each of the forms another */
        v = __fadd_rn(v * s.beta2, s.beta2_rest * g * g);
        float denominator = sqrtf(v) * s.root_bias2_inverse + u.eps;
        p = p * r.keep - r.step_size * m / denominator;
    }
}

/* Updates an eight, parameter by parameter: the rates of one are computed in one place. */
template <int rule>
DEVICE void update_numbers(const UpdateCall &u, const Scalars &s, int64_t at, Eight *part,
                           const Eight &g) {
    int segment = u.segment ? segment_at(u.segment, u.n_segment, u.start + at) : 0;
    for (int64_t from = 0, end; from < EIGHT; from = end, segment++) {
        bool more = segment + 1 < u.n_segment;
        end = more ? u.segment[segment + 1].offset - u.start - at : EIGHT;
        ParameterRate rate =
            u.segment ? segment_rate(u, s, segment) : rate_of(u, s, 1.0, STANDARD_DECAY);
        EACH(j)
        if (j >= from && j < end)
            update_one<rule>(u, s, rate, g.x[j], part[0].x[j], part[1].x[j], part[2].x[j],
                             part[3].x[j], part[4].x[j]);
    }
}

/* state and of_g: forms of parameter and moments, and of the gradient; the last eight, which may be
 * cut off, is loaded and stored number by number. */
template <int rule, int state, int of_g>
DEVICE void update_eight(const UpdateCall &u, const Scalars &s, int64_t at) {
    int64_t n = u.n - at;
    bool whole = n >= EIGHT;
    Loaded<state> loaded[MOST_TENSORS];
    Loaded<of_g> loaded_g;
    if (whole) {
        loaded_g = fetch8<of_g>(u.g, u.g_dtype, at, n);
#pragma unroll
        for (int k = 0; k < TENSORS<rule>; k++)
            loaded[k] = fetch8<state>(u.from[k], u.dtype[k], at, n);
    } else {
        loaded_g = loaded_from<of_g>(load8(u.g, dtype_with<of_g>(u.g_dtype), at, n));
#pragma unroll
        for (int k = 0; k < TENSORS<rule>; k++)
            loaded[k] = loaded_from<state>(load8(u.from[k], dtype_with<state>(u.dtype[k]), at, n));
    }
    Eight part[MOST_TENSORS] = {}, g = numbers(loaded_g);
#pragma unroll
    for (int k = 0; k < TENSORS<rule>; k++) part[k] = numbers(loaded[k]);
    update_numbers<rule>(u, s, at, part, g);
#pragma unroll
    for (int k = 0; k < TENSORS<rule>; k++) {
        if (whole)
            put8<state>(u.to[k], u.dtype[k], at, n, part[k]);
        else
            store8(u.to[k], dtype_with<state>(u.dtype[k]), at, n, part[k]);
    }
}

/* The copy of an eight of the parameter, which lies at `from`; if state is a form, that of the copy
 * is FORM_BF16. */
template <int state> DEVICE void copy_eight(const UpdateCall &u, const void *from, int64_t at) {
    constexpr int form = state == FORM_ANY ? FORM_ANY : FORM_BF16;
    store8(u.copy, dtype_with<form>(u.copy_dtype), at, u.n - at,
           load8(from, dtype_with<state>(u.dtype[0]), at, u.n - at));
}

/* A step that is not applied. */
template <int rule, int state> DEVICE void keep_all(const UpdateCall &u) {
    EACH_EIGHT(at, u.n) {
#pragma unroll 1
        for (int k = 0; k < TENSORS<rule>; k++) {
            int dtype = dtype_with<state>(u.dtype[k]);
            if (u.to[k] != u.from[k])
                store8(u.to[k], dtype, at, u.n - at, load8(u.from[k], dtype, at, u.n - at));
        }
        if (u.copy) copy_eight<state>(u, u.from[0], at);
    }
}

template <int rule, int state, int of_g>
__global__ void __launch_bounds__(UPDATE_THREADS) update_all(const __grid_constant__ UpdateCall u) {
    begin_kernel();
    if (u.scale[SCALE_APPLY] == 0.0) {
        keep_all<rule, state>(u);
        return;
    }
    Scalars s = scalars_of(u);
    EACH_EIGHT(at, u.n) {
        update_eight<rule, state, of_g>(u, s, at);
        /* read back from the cache: kept in registers, the numbers would spill others */
        if (u.copy) copy_eight<state>(u, u.to[0], at);
    }
}

template <int rule, int state, int of_g>
static int launch_update(const Launch *l, const UpdateCall &u) {
    unsigned blocks = MIN(blocks_for(u.n, UPDATE_THREADS * EIGHT), (unsigned)UPDATE_BLOCKS);
    auto update = update_all<rule, state, of_g>;
    return LAUNCH(l, update, blocks, UPDATE_THREADS, 0, u);
}

template <int rule> static int run_update(const Launch *l) {
    const Attrs *a = l->call->attr;
    Operand g = input(l, TENSORS<rule>);
    const PlanGroup *group = group_of(l);
    UpdateCall u = {};
    u.n = input(l, 0).n;
    if (a->copy != DT_NONE) {
        Result copy = output(l, TENSORS<rule>);
        u.copy = copy.at;
        u.copy_dtype = copy.dtype;
    }
    for (uint32_t k = 0; k < (uint32_t)TENSORS<rule>; k++) {
        Operand from = input(l, k);
        Result to = output(l, k);
        u.from[k] = from.at;
        u.to[k] = to.at;
        u.dtype[k] = to.dtype;
    }
    u.g = g.at;
    u.g_dtype = g.dtype;
    u.scale = (const double *)l->call->in[TENSORS<rule> + 1];
    u.step = (const double *)l->call->in[TENSORS<rule> + 2];
    u.weight_decay = a->weight_decay;
    u.beta1 = a->beta1;
    u.beta2 = a->beta2;
    u.beta3 = a->beta3;
    u.clip_value = (float)a->clip_value;
    u.momentum = (float)a->momentum;
    u.eps = (float)a->eps;
    u.nesterov = a->nesterov != 0;
    u.decoupled = rule == RULE_LION || a->decoupled != 0;
    u.divides = rule == RULE_ADAN;
    if (group) {
        u.start = rank_start(l->call->rank, group);
        u.segment = l->segment + group->first_param;
        u.n_segment = (int)group->n_param;
    }
    int state = FORM_NONE, of_g = form_with(FORM_NONE, u.g, u.g_dtype, EIGHT);
    for (int k = 0; k < TENSORS<rule>; k++) {
        state = form_with(state, u.from[k], u.dtype[k], EIGHT);
        state = form_with(state, u.to[k], u.dtype[k], EIGHT);
    }
    if (u.copy && form_with(FORM_NONE, u.copy, u.copy_dtype, EIGHT) != FORM_BF16) state = FORM_ANY;
    if (state == FORM_F32 && of_g == FORM_F32) return launch_update<rule, FORM_F32, FORM_F32>(l, u);
    if (state == FORM_F32 && of_g == FORM_BF16)
        return launch_update<rule, FORM_F32, FORM_BF16>(l, u);
    return launch_update<rule, FORM_ANY, FORM_ANY>(l, u);
}

KERNEL(sgd) { return run_update<RULE_SGD>(l); }
KERNEL(sgd_momentum) { return run_update<RULE_MOMENTUM>(l); }
KERNEL(adam) { return run_update<RULE_ADAM>(l); }
KERNEL(lion) { return run_update<RULE_LION>(l); }
KERNEL(adan) { return run_update<RULE_ADAN>(l); }
