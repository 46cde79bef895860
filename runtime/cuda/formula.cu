/* Formulas: the kernels of elementwise ops that broadcast, and of fused ones.
 *
 * A thread computes eight neighbours. Their values lie in shared memory, a room for each operand
 * and for each step that is still read, so that memory is read and written once whatever the number
 * of steps. All threads of a launch take the same steps: the branch to a step's function costs
 * little beside the eights that it computes. As many threads make a block as the rooms allow.
 *
 * In place works: an eight is stored after all that it needs was loaded, and an operand that shares
 * memory with a result has its shape.
 */
#include "evaluate.h"
#include "scalar_math.h"

enum { MOST_THREADS = 256, SHARED_BYTES = 48 * 1024 };

struct Source {
    const void *at;
    int dtype;
    Spread spread;
};
struct Target {
    void *at;
    int dtype;
};
struct Task {
    int n_in, n_step;
    int64_t n;
    Source in[FORMULA_OPERANDS];
    Target out[FORMULA_RESULTS];
    FormulaStep step[FORMULA_STEPS];
    bool reads[FORMULA_STEPS]; /* has operands */
    FormulaRooms rooms;
};

/* Number j of this thread's value in a room. */
DEVICE float &room_at(float *shared, int room, int j) {
    return shared[(room * EIGHT + j) * (int)blockDim.x + (int)threadIdx.x];
}

DEVICE int64_t source_place(const Spread &s, int64_t i) {
    int64_t from = 0;
    for (int k = s.n - 1; k >= 0; k--) {
        from += i % s.size[k] * s.stride[k];
        i /= s.size[k];
    }
    return from;
}

DEVICE Eight load_source(const Source &x, int64_t at, int64_t n) {
    const Spread &s = x.spread;
    int64_t inner = s.size[s.n - 1], stride = s.stride[s.n - 1];
    Eight r = {};
    if (s.n == 1 && stride == 1) return load8(x.at, x.dtype, at, n);
    if (inner % EIGHT == 0 || (s.n == 1 && stride == 0)) { /* the eight lie in one run */
        int64_t from = source_place(s, at);
        if (stride == 1) return load8(x.at, x.dtype, from, n);
        float same = element_load(x.at, x.dtype, from);
        EACH(j) r.x[j] = same;
        return r;
    }
    EACH(j) if (j < n) r.x[j] = element_load(x.at, x.dtype, source_place(s, at + j));
    return r;
}

#define ARGUMENTS_0
#define ARGUMENTS_1 float x = u.x[j];
#define ARGUMENTS_2 float x = u.x[j], y = v.x[j];
#define ARGUMENTS_3 float x = u.x[j], y = v.x[j], z = w.x[j];
#define FUNCTION(id, arity, ...)                                                                   \
    case SCALAR_##id: {                                                                            \
        EACH(j) { ARGUMENTS_##arity r.x[j] = __VA_ARGS__; }                                        \
        break;                                                                                     \
    }
#define SCALAR(op, arity, ...) FUNCTION(op, arity, __VA_ARGS__)
#define SPECIAL(name, op, form, arity, ...) FUNCTION(name, arity, __VA_ARGS__)

DEVICE Eight apply_step(const FormulaStep &step, const Eight &u, const Eight &v, const Eight &w) {
    float number = (float)step.number;
    Eight r = {};
    switch ((Scalar)step.function) {
#include "scalar.def"
    case SCALAR_COUNT: break;
    }
    EACH(j) r.x[j] = as_stored(r.x[j], step.dtype);
    return r;
}

DEVICE Eight read_room(float *shared, int room) {
    Eight r;
    EACH(j) r.x[j] = room_at(shared, room, j);
    return r;
}

__global__ void __launch_bounds__(MOST_THREADS) evaluate_task(Task task) {
    DYNAMIC_SHARED(memory);
    float *shared = (float *)memory;
    EACH_EIGHT(at, task.n) {
        int64_t n = task.n - at;
        for (int i = 0; i < task.n_in; i++) {
            Eight x = load_source(task.in[i], at, n);
            EACH(j) room_at(shared, task.rooms.of[i], j) = x.x[j];
        }
        for (int k = 0; k < task.n_step; k++) {
            const FormulaStep &step = task.step[k];
            Eight u = {}, v = {}, w = {};
            if (task.reads[k]) {
                u = read_room(shared, task.rooms.of[step.arg[0]]);
                v = read_room(shared, task.rooms.of[step.arg[1]]);
                w = read_room(shared, task.rooms.of[step.arg[2]]);
            }
            Eight r = apply_step(step, u, v, w);
            EACH(j) room_at(shared, task.rooms.of[task.n_in + k], j) = r.x[j];
        }
        for (int k = 0; k < task.n_step; k++)
            if (task.step[k].result) {
                const Target &to = task.out[task.step[k].result - 1];
                Eight r = read_room(shared, task.rooms.of[task.n_in + k]);
                store8(to.at, to.dtype, at, n, r);
            }
    }
}

int cuda_evaluate(const Launch *l, uint32_t n_step, const FormulaStep *step) {
    Result y = output(l, 0);
    Task task = {};
    if (l->call->n_in > FORMULA_OPERANDS || n_step > FORMULA_STEPS ||
        l->call->n_out > FORMULA_RESULTS)
        return bad_operands(l);
    task.n_in = (int)l->call->n_in;
    task.n_step = (int)n_step;
    task.n = y.n;
    for (uint32_t i = 0; i < l->call->n_in; i++) {
        Operand x = input(l, i);
        Source *to = &task.in[i];
        to->at = x.at;
        to->dtype = x.dtype;
        if (!is_real(x.dtype) || !type_spread(x.type, y.type, &to->spread)) return bad_operands(l);
    }
    for (uint32_t j = 0; j < l->call->n_out; j++) {
        Result r = output(l, j);
        if (!is_real(r.dtype) || r.n != y.n) return bad_operands(l);
        task.out[j].at = r.at;
        task.out[j].dtype = r.dtype;
    }
    task.rooms = formula_rooms(l->call->n_in, n_step, step);
    for (uint32_t k = 0; k < n_step; k++) {
        int arity = scalar_arity(step[k].function);
        task.step[k] = step[k];
        task.reads[k] = arity > 0;
        for (int a = arity; a < FORMULA_ARGS; a++) /* rooms to read all the same */
            task.step[k].arg[a] = step[k].arg[0];
    }
    int threads = MOST_THREADS, each = (int)(task.rooms.n * EIGHT * sizeof(float));
    while (threads * each > SHARED_BYTES) threads /= 2;
    return LAUNCH(l, evaluate_task, blocks_for(y.n, threads * EIGHT), threads,
                  (size_t)threads * (size_t)each, task);
}

int cuda_step(const Launch *l, Scalar function) {
    FormulaStep step = {};
    step.function = (uint16_t)function;
    step.dtype = DT_F32;
    for (int a = 0; a < FORMULA_ARGS; a++) step.arg[a] = (uint8_t)a;
    step.result = 1;
    step.number = l->call->attr->alpha;
    if ((int)l->call->n_in != scalar_arity(function)) return bad_operands(l);
    return cuda_evaluate(l, 1, &step);
}

#define SCALAR(op, arity, ...)                                                                     \
    KERNEL(op) { return cuda_step(l, SCALAR_##op); }
#define SPECIAL(name, op, form, arity, ...)
#include "scalar.def"

KERNEL(fused) {
    const Plan *p = l->call->rank->plan;
    const PlanFormula *f = &p->formulas[l->call->attr->index];
    return cuda_evaluate(l, f->n_step, p->steps + f->first_step);
}
