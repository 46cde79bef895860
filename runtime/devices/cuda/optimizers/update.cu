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
#include "scalar_math.h"
#include "scalars.h"

#define NUMBER float
#define PLUS(a, b) __fadd_rn(a, b)
#include "updates.h"

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
DEVICE void norm_numbers(float *x, const Operand &g, int64_t first, int64_t to) {
    constexpr int PIECES = NORM_NUMBERS / EIGHT;
    Eight v[PIECES];
    int64_t at = first + threadIdx.x % WARP * EIGHT;
    if (to - first >= NORM_NUMBERS * WARP) {
        Loaded<form> loaded[PIECES];
#pragma unroll
        for (int k = 0; k < PIECES; k++) loaded[k] = fetch8<form>(g, at + k * WARP * EIGHT, EIGHT);
#pragma unroll
        for (int k = 0; k < PIECES; k++) v[k] = numbers(loaded[k]);
    } else {
#pragma unroll
        for (int k = 0; k < PIECES; k++) {
            int64_t i = at + k * WARP * EIGHT;
            v[k] = load8(g.at, dtype_with<form>(g.dtype), i, to - i);
        }
    }
#pragma unroll
    for (int k = 0; k < PIECES; k++) EACH(j) x[k * EIGHT + j] = v[k].x[j];
}

/* Calls add(x) for each NORM_NUMBERS numbers of a lane. */
template <int form, class Add>
DEVICE void each_norm_numbers(const Operand &g, int64_t from, int64_t to, Add add) {
    int64_t step = (int64_t)gridDim.x * blockDim.x * NORM_NUMBERS;
    int64_t warp = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x / WARP * WARP) * NORM_NUMBERS;
    for (int64_t first = from + warp; first < to; first += step) {
        float x[NORM_NUMBERS];
        norm_numbers<form>(x, g, first, to);
        add(x);
    }
}

__global__ void __launch_bounds__(UPDATE_THREADS)
    largest_number(int32_t *result, Operand g, int64_t from, int64_t to) {
    begin_kernel();
    int64_t first = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * EIGHT;
    raise_to_largest(result, g, from + first, to, (int64_t)gridDim.x * blockDim.x * EIGHT);
}

/* Sizes, squares or cubes. A cube is rounded to f64, as on the cpu, so it is cut in f64. */
template <int form, int power>
__global__ void __launch_bounds__(UPDATE_THREADS)
    sum_powers(int64_t *result, Operand g, int64_t from, int64_t to) {
    begin_kernel();
    __shared__ int64_t words[EXACT_WORDS];
    begin_words(words);
    if constexpr (power == 3) {
        each_norm_numbers<form>(g, from, to,
                                [&](const float *x) { exact_add_cubes<NORM_NUMBERS>(words, x); });
    } else {
        SumWindow w = {};
        w.top = LEAST_TOP;
        each_norm_numbers<form>(g, from, to, [&](const float *x) {
            add_numbers<NORM_NUMBERS, power, form == FORM_BF16>(words, w, x);
        });
        put_window<power>(words, w);
    }
    end_words(result, words);
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
        return LAUNCH(l, largest_number, blocks, UPDATE_THREADS, 0, (int32_t *)out.at, g, from, to);
    const char *first = (const char *)g.at + from * dtype_bytes((DType)g.dtype);
    return by_form(form_with(FORM_NONE, first, g.dtype, EIGHT), [&](auto known) {
        constexpr int form = decltype(known)::N;
        auto sum = power == 1   ? sum_powers<form, 1>
                   : power == 3 ? sum_powers<form, 3>
                                : sum_powers<form, 2>;
        return LAUNCH(l, sum, blocks, UPDATE_THREADS, 0, (int64_t *)out.at, g, from, to);
    });
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

#define UPDATE(op, tensors) tensors,
constexpr int tensors_of_rule[] = {UPDATES};
#undef UPDATE
template <int rule> constexpr int TENSORS = tensors_of_rule[rule];

struct UpdateCall {
    Operand from[MOST_TENSORS], g; /* p, then the moments */
    Result to[MOST_TENSORS], copy; /* copy: of the parameter, if it is wanted */
    const double *scale, *step;
    int64_t n, start;            /* start: how far before its offset a segment begins */
    const SegmentStart *segment; /* NULL: one parameter */
    int n_segment;
    UpdateAttrs attrs;
};

DEVICE ParameterRate segment_rate(const UpdateCall &u, const UpdateScalars &s, int segment) {
    double decay = u.segment ? u.segment[segment].weight_decay : STANDARD_DECAY;
    return parameter_rate(&u.attrs, &s, u.segment ? u.segment[segment].lr_factor : 1.0,
                          decay == STANDARD_DECAY ? u.attrs.weight_decay : decay);
}

/* Updates an eight, parameter by parameter: the rates of one are computed in one place. */
template <int rule>
DEVICE void update_numbers(const UpdateCall &u, const UpdateScalars &s, int64_t at, Eight *part,
                           const Eight &g) {
    int segment = u.segment ? segment_at(u.segment, u.n_segment, u.start + at) : 0;
    for (int64_t from = 0, end; from < EIGHT; from = end, segment++) {
        bool more = segment + 1 < u.n_segment;
        end = more ? u.segment[segment + 1].offset - u.start - at : EIGHT;
        ParameterRate rate = segment_rate(u, s, segment);
        EACH(j) {
            if (j < from || j >= end) continue;
            float &p = part[0].x[j];
            float own = clipped(g.x[j] * s.gradient, u.attrs.clip_value) + rate.decay * p;
            update_number(rule, &u.attrs, &s, &rate, own, &p, &part[1].x[j], &part[2].x[j],
                          &part[3].x[j], &part[4].x[j]);
        }
    }
}

/* state and of_g: forms of parameter and moments, and of the gradient; the last eight, which may be
 * cut off, is loaded and stored number by number. */
template <int rule, int state, int of_g>
DEVICE void update_eight(const UpdateCall &u, const UpdateScalars &s, int64_t at) {
    int64_t n = u.n - at;
    bool whole = n >= EIGHT;
    Loaded<state> loaded[MOST_TENSORS];
    Loaded<of_g> loaded_g;
    if (whole) {
        loaded_g = fetch8<of_g>(u.g, at, n);
#pragma unroll
        for (int k = 0; k < TENSORS<rule>; k++) loaded[k] = fetch8<state>(u.from[k], at, n);
    } else {
        loaded_g = loaded_from<of_g>(load8(u.g.at, dtype_with<of_g>(u.g.dtype), at, n));
#pragma unroll
        for (int k = 0; k < TENSORS<rule>; k++)
            loaded[k] =
                loaded_from<state>(load8(u.from[k].at, dtype_with<state>(u.from[k].dtype), at, n));
    }
    Eight part[MOST_TENSORS] = {}, g = numbers(loaded_g);
#pragma unroll
    for (int k = 0; k < TENSORS<rule>; k++) part[k] = numbers(loaded[k]);
    update_numbers<rule>(u, s, at, part, g);
#pragma unroll
    for (int k = 0; k < TENSORS<rule>; k++) {
        if (whole)
            put8<state>(u.to[k], at, n, part[k]);
        else
            store8(u.to[k].at, dtype_with<state>(u.to[k].dtype), at, n, part[k]);
    }
}

/* The copy of an eight of the parameter, which lies at `from`; if state is a form, that of the copy
 * is FORM_BF16. */
template <int state> DEVICE void copy_eight(const UpdateCall &u, const void *from, int64_t at) {
    constexpr int form = state == FORM_ANY ? FORM_ANY : FORM_BF16;
    store8(u.copy.at, dtype_with<form>(u.copy.dtype), at, u.n - at,
           load8(from, dtype_with<state>(u.to[0].dtype), at, u.n - at));
}

/* A step that is not applied. */
template <int rule, int state> DEVICE void keep_all(const UpdateCall &u) {
    EACH_EIGHT(at, u.n) {
#pragma unroll 1
        for (int k = 0; k < TENSORS<rule>; k++) {
            int dtype = dtype_with<state>(u.to[k].dtype);
            if (u.to[k].at != u.from[k].at)
                store8(u.to[k].at, dtype, at, u.n - at, load8(u.from[k].at, dtype, at, u.n - at));
        }
        if (u.copy.at) copy_eight<state>(u, u.from[0].at, at);
    }
}

template <int rule, int state, int of_g>
__global__ void __launch_bounds__(UPDATE_THREADS) update_all(const __grid_constant__ UpdateCall u) {
    begin_kernel();
    if (u.scale[SCALE_APPLY] == 0.0) {
        keep_all<rule, state>(u);
        return;
    }
    UpdateScalars s = update_scalars(&u.attrs, u.scale, u.step);
    EACH_EIGHT(at, u.n) {
        update_eight<rule, state, of_g>(u, s, at);
        /* read back from the cache: kept in registers, the numbers would spill others */
        if (u.copy.at) copy_eight<state>(u, u.to[0].at, at);
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
    const PlanGroup *group = group_of(l);
    UpdateCall u = {};
    u.attrs = update_attrs(a, rule);
    u.n = input(l, 0).n;
    u.g = input(l, TENSORS<rule>);
    u.scale = (const double *)l->call->in[TENSORS<rule> + 1];
    u.step = (const double *)l->call->in[TENSORS<rule> + 2];
    if (group) {
        u.start = rank_start(l->call->rank, group);
        u.segment = l->segment + group->first_param;
        u.n_segment = (int)group->n_param;
    }
    int state = FORM_NONE, of_g = form_with(FORM_NONE, u.g, EIGHT);
    for (uint32_t k = 0; k < (uint32_t)TENSORS<rule>; k++) {
        u.from[k] = input(l, k);
        u.to[k] = output(l, k);
        state = form_with(form_with(state, u.from[k], EIGHT), u.to[k], EIGHT);
    }
    if (a->copy != DT_NONE) {
        u.copy = output(l, TENSORS<rule>);
        if (form_with(FORM_NONE, u.copy, EIGHT) != FORM_BF16) state = FORM_ANY;
    }
    if (state == FORM_F32 && of_g == FORM_F32) return launch_update<rule, FORM_F32, FORM_F32>(l, u);
    if (state == FORM_F32 && of_g == FORM_BF16)
        return launch_update<rule, FORM_F32, FORM_BF16>(l, u);
    return launch_update<rule, FORM_ANY, FORM_ANY>(l, u);
}

#define UPDATE(op, tensors)                                                                        \
    KERNEL(op) { return run_update<RULE_##op>(l); }
UPDATES
