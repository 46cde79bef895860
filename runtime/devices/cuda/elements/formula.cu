/* Formulas: the kernels of elementwise ops that broadcast, and of fused ones.
 *
 * A thread computes eight neighbours. Their values lie in shared memory, a room for each operand
 * and for each step that is still read, so that memory is read and written once whatever the number
 * of steps. All threads of a launch take the same steps: the branch to a step's function costs
 * little compared with the eights that it computes.
 *
 * Where it moves parts, its pieces (pieces.h) are computed in its place: an eight of each piece,
 * from windows of the operands to places in the results.
 *
 * In place works: an eight is stored after all that it needs was loaded, and an operand that shares
 * memory with a result has its shape.
 *
 * Where a formula has rows, a block has a row at a time, and walks over it once for each number
 * that it reduces (in f64, as the ops do, but in the order of the block's threads), and once more
 * for the results. Each walk computes again what it needs of the steps before it; narrow values lie
 * in shared memory, computed by the first thread. Narrow results are stored after the last walk.
 */
#include "pieces.h"
#include "scalar_math.h"
#include "walks.h"

enum { MOST_THREADS = 256, SHARED_BYTES = 48 * 1024 };
enum { WALKS = FORMULA_STEPS + 1, VALUES = FORMULA_OPERANDS + FORMULA_STEPS };

struct Source {
    const void *at;
    int dtype;
    Spread spread;
};
struct FormulaTarget {
    void *at;
    int dtype;
};
template <int operands, int results, int steps> struct Steps {
    int n_in, n_step;
    int64_t n;
    Source in[operands];
    FormulaTarget out[results];
    FormulaStep step[steps];
    bool reads[steps]; /* has operands */
    FormulaRooms rooms;
};
struct Task : Steps<FORMULA_OPERANDS, FORMULA_RESULTS, FORMULA_STEPS> {
    /* of rows */
    int64_t width;
    uint64_t narrow;                /* values that are one number a row */
    uint64_t wanted[WALKS];         /* by walk: the wide values that it needs */
    uint8_t walk_of[WALKS];         /* by walk: the step that it reduces for */
    uint8_t counted[FORMULA_STEPS]; /* of extreme_grad: the dtype that its operands are equal in */
    int n_walk;                     /* without that for the results */
};

/* Of a formula with moves. Row r of a piece of a result begins r * pitch elements behind `at`. */
struct PieceTask : Steps<PIECE_WINDOWS, PIECE_STORES, PIECE_STEPS> {
    int64_t run, pitch[PIECE_STORES];
};

/* Number j of this thread's value in a room. */
DEVICE float &room_at(float *shared, int room, int j) {
    return shared[(room * EIGHT + j) * (int)blockDim.x + (int)threadIdx.x];
}

DEVICE Eight load_source(const Source &x, int64_t at, int64_t n) {
    const Spread &s = x.spread;
    int64_t inner = s.size[s.n - 1], stride = s.stride[s.n - 1];
    Eight r = {};
    if (s.n == 1 && stride == 1) return load8(x.at, x.dtype, at, n);
    if (stride <= 1 && (inner % EIGHT == 0 || (s.n == 1 && stride == 0))) { /* in one run */
        int64_t from = walk_place(&s, at);
        if (stride == 1) return load8(x.at, x.dtype, from, n);
        float same = element_load(x.at, x.dtype, from);
        EACH(j) r.x[j] = same;
        return r;
    }
    EACH(j) if (j < n) r.x[j] = element_load(x.at, x.dtype, walk_place(&s, at + j));
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
#define ROW(op, arity, kind) case SCALAR_##op:
#define MOVE(name, op, arity, words) case SCALAR_##name:
#include "scalar.def"
    case SCALAR_COUNT: break;
    }
    EACH(j) r.x[j] = as_stored(r.x[j], step.dtype);
    return r;
}

DEVICE bool is_reduced(int function) {
    return function == SCALAR_sum || function == SCALAR_sum_to || function == SCALAR_mean ||
           function == SCALAR_max || function == SCALAR_min;
}
/* What a reduction of no elements gives. */
DEVICE double least_of(int function) {
    double infinity = (double)__uint_as_float(0x7f800000u);
    return function == SCALAR_max ? -infinity : function == SCALAR_min ? infinity : 0.0;
}
DEVICE double more_of(double a, double b, bool larger) { return is_more(a, b, larger) ? b : a; }

DEVICE Eight read_room(float *shared, int room) {
    Eight r;
    EACH(j) r.x[j] = room_at(shared, room, j);
    return r;
}

/* Loads an eight of each operand and computes the steps. */
template <class T> DEVICE void compute_eight(const T &task, float *shared, int64_t at, int64_t n) {
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
}

DEVICE void store_result(const Task &task, int result, int64_t at, int64_t n, const Eight &x) {
    const FormulaTarget &to = task.out[result];
    store8(to.at, to.dtype, at, n, x);
}
DEVICE void store_result(const PieceTask &task, int result, int64_t at, int64_t n, const Eight &x) {
    const FormulaTarget &to = task.out[result];
    int64_t run = task.run, pitch = task.pitch[result], row = at / run, column = at - row * run;
    if (run % EIGHT == 0) {
        store8(to.at, to.dtype, row * pitch + column, n, x);
        return;
    }
    EACH(j) {
        if (j < n) element_store(to.at, to.dtype, row * pitch + column, x.x[j]);
        if (++column == run) row++, column = 0;
    }
}

template <class T> __global__ void __launch_bounds__(MOST_THREADS) evaluate_task(T task) {
    begin_kernel();
    DYNAMIC_SHARED(memory);
    float *shared = (float *)memory;
    EACH_EIGHT(at, task.n) {
        int64_t n = task.n - at;
        compute_eight(task, shared, at, n);
        for (int k = 0; k < task.n_step; k++)
            if (task.step[k].result)
                store_result(task, task.step[k].result - 1, at, n,
                             read_room(shared, task.rooms.of[task.n_in + k]));
    }
}

/* ---- rows */

/* Numbers of a row in shared memory: narrow values, and of extreme_grad how many are equal. */
struct RowNumbers {
    float value[VALUES];
    double part[MOST_THREADS];
};

DEVICE Eight all_of(float x) {
    Eight r;
    EACH(j) r.x[j] = x;
    return r;
}

/* Value number v of an eight. */
DEVICE Eight row_value(const Task &task, float *shared, const RowNumbers &row, int v) {
    if (task.narrow >> v & 1) return all_of(row.value[v]);
    return read_room(shared, task.rooms.of[v]);
}

/* A wide step of an eight. */
DEVICE Eight row_step(const Task &task, float *shared, const RowNumbers &row, int k) {
    const FormulaStep &step = task.step[k];
    Eight u = {}, v = {}, w = {}, r;
    if (task.reads[k]) {
        u = row_value(task, shared, row, step.arg[0]);
        v = row_value(task, shared, row, step.arg[1]);
        w = row_value(task, shared, row, step.arg[2]);
    }
    if (step.function == SCALAR_mean_grad) {
        EACH(j) r.x[j] = as_stored(u.x[j] / (float)task.width, step.dtype);
    } else if (step.function == SCALAR_extreme_grad) {
        float count = row.value[task.n_in + k];
        EACH(j) {
            bool same = as_stored(v.x[j], task.counted[k]) == w.x[j];
            r.x[j] = as_stored(same ? u.x[j] / count : 0.0f, step.dtype);
        }
    } else {
        r = apply_step(step, u, v, w);
    }
    return r;
}

/* Narrow steps from `first` on, up to step `end`. */
DEVICE void narrow_steps(const Task &task, RowNumbers &row, int first, int end) {
    for (int k = first; k < end; k++) {
        const FormulaStep &step = task.step[k];
        if (!(task.narrow >> (task.n_in + k) & 1) || is_reduced(step.function)) continue;
        Eight u = {}, v = {}, w = {};
        if (task.reads[k]) {
            u = all_of(row.value[step.arg[0]]);
            v = all_of(row.value[step.arg[1]]);
            w = all_of(row.value[step.arg[2]]);
        }
        row.value[task.n_in + k] = apply_step(step, u, v, w).x[0];
    }
}

/* What a thread has of the number that step k reduces: n of an eight. */
DEVICE void add_eight(const Task &task, float *shared, const RowNumbers &row, int k, int64_t n,
                      double *sum) {
    const FormulaStep &step = task.step[k];
    bool max = step.function == SCALAR_max, min = step.function == SCALAR_min;
    bool counts = step.function == SCALAR_extreme_grad;
    Eight x = row_value(task, shared, row, step.arg[counts]);
    EACH(j) {
        if (j >= n) break;
        if (counts)
            *sum += as_stored(x.x[j], task.counted[k]) == row.value[step.arg[2]];
        else if (max || min)
            *sum = more_of(*sum, (double)x.x[j], max);
        else
            *sum += (double)x.x[j];
    }
}

/* The number of the row, from those of the threads, in a tree. */
DEVICE void finish_walk(const Task &task, RowNumbers &row, int k) {
    const FormulaStep &step = task.step[k];
    bool max = step.function == SCALAR_max, min = step.function == SCALAR_min;
    for (unsigned half = blockDim.x / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x >= half) continue;
        double a = row.part[threadIdx.x], b = row.part[threadIdx.x + half];
        row.part[threadIdx.x] = max || min ? more_of(a, b, max) : a + b;
    }
    if (threadIdx.x) return;
    double sum = row.part[0];
    if (step.function == SCALAR_mean) sum /= (double)task.width;
    bool counts = step.function == SCALAR_extreme_grad;
    row.value[task.n_in + k] = counts ? (float)sum : as_stored((float)sum, step.dtype);
}

/* The wide values that a walk needs, of an eight from `at` on. */
DEVICE void walk_eight(const Task &task, float *shared, const RowNumbers &row, uint64_t wanted,
                       int64_t at, int64_t n) {
    for (int i = 0; i < task.n_in; i++) {
        if (!(wanted >> i & 1)) continue;
        Eight x = load_source(task.in[i], at, n);
        EACH(j) room_at(shared, task.rooms.of[i], j) = x.x[j];
    }
    for (int k = 0; k < task.n_step; k++) {
        if (!(wanted >> (task.n_in + k) & 1)) continue;
        Eight r = row_step(task, shared, row, k);
        EACH(j) room_at(shared, task.rooms.of[task.n_in + k], j) = r.x[j];
    }
}

DEVICE void store_row(const Task &task, float *shared, const RowNumbers &row, int64_t at,
                      int64_t n) {
    for (int k = 0; k < task.n_step; k++) {
        int v = task.n_in + k;
        if (!task.step[k].result || (task.narrow >> v & 1)) continue;
        store_result(task, task.step[k].result - 1, at, n, read_room(shared, task.rooms.of[v]));
    }
}

__global__ void __launch_bounds__(MOST_THREADS) evaluate_rows(Task task) {
    begin_kernel();
    DYNAMIC_SHARED(memory);
    RowNumbers &row = *(RowNumbers *)memory;
    float *shared = (float *)(memory + sizeof(RowNumbers));
    for (int64_t r = blockIdx.x; r < task.n / task.width; r += gridDim.x) {
        int64_t start = r * task.width;
        for (int i = (int)threadIdx.x; i < task.n_in; i += (int)blockDim.x)
            if (task.narrow >> i & 1) row.value[i] = load_source(task.in[i], start, 1).x[0];
        __syncthreads();
        for (int w = 0; w <= task.n_walk; w++) {
            int k = w < task.n_walk ? task.walk_of[w] : task.n_step;
            double sum = k < task.n_step ? least_of(task.step[k].function) : 0.0;
            if (threadIdx.x == 0) narrow_steps(task, row, w ? task.walk_of[w - 1] : 0, k);
            __syncthreads();
            for (int64_t i = threadIdx.x * EIGHT; i < task.width; i += blockDim.x * EIGHT) {
                int64_t n = MIN(task.width - i, (int64_t)EIGHT);
                walk_eight(task, shared, row, task.wanted[w], start + i, n);
                if (k == task.n_step) {
                    store_row(task, shared, row, start + i, n);
                    continue;
                }
                add_eight(task, shared, row, k, n, &sum);
            }
            if (k == task.n_step) break;
            row.part[threadIdx.x] = sum;
            finish_walk(task, row, k);
            __syncthreads();
        }
        __syncthreads();
        for (int k = (int)threadIdx.x; k < task.n_step; k += (int)blockDim.x) {
            if (!task.step[k].result || !(task.narrow >> (task.n_in + k) & 1)) continue;
            const FormulaTarget &to = task.out[task.step[k].result - 1];
            element_store(to.at, to.dtype, r, row.value[task.n_in + k]);
        }
        __syncthreads();
    }
}

/* The wide values that value v needs, itself among them. */
static uint64_t values_needed(const Task *task, int v) {
    uint64_t all = (uint64_t)1 << v;
    if (task->narrow >> v & 1) return 0;
    for (int a = 0; v >= task->n_in && a < scalar_arity(task->step[v - task->n_in].function); a++)
        all |= values_needed(task, task->step[v - task->n_in].arg[a]);
    return all;
}

static void plan_walks(Task *task) {
    for (int k = 0; k < task->n_step; k++) {
        bool counts = task->step[k].function == SCALAR_extreme_grad;
        if (scalar_row(task->step[k].function) != ROW_REDUCES && !counts) continue;
        task->walk_of[task->n_walk] = (uint8_t)k;
        task->wanted[task->n_walk++] = values_needed(task, task->step[k].arg[counts]);
    }
    for (int k = 0; k < task->n_step; k++)
        if (task->step[k].result) task->wanted[task->n_walk] |= values_needed(task, task->n_in + k);
}

static int launch_rows(const Launch *l, Task *task) {
    plan_walks(task);
    int threads = MOST_THREADS, each = (int)(task->rooms.n * EIGHT * sizeof(float));
    while (threads > 32 && (threads / 2) * EIGHT >= task->width) threads /= 2;
    while (threads * each > SHARED_BYTES - (int)sizeof(RowNumbers)) threads /= 2;
    return LAUNCH(l, evaluate_rows, blocks_for(task->n / task->width, 1), threads,
                  sizeof(RowNumbers) + (size_t)threads * (size_t)each, *task);
}

/* ---- launches */

/* The shape of a formula, and which values are narrow. */
static Type take_shape(const Launch *l, uint32_t n_step, const FormulaStep *step, Task *task) {
    uint32_t n_in = l->call->n_in;
    Type shape = *output(l, 0).type;
    for (uint32_t i = 0; i < n_in; i++) type_broadcast(&shape, input(l, i).type);
    for (uint32_t i = 0; i < n_in; i++)
        task->narrow |= (uint64_t)type_is_narrow(input(l, i).type, &shape) << i;
    task->narrow = formula_narrow(n_in, n_step, step, task->narrow);
    bool rows = formula_has_rows(n_in, n_step, step, task->narrow);
    if (!rows) task->narrow = 0;
    task->width = rows ? last_dim(&shape) : 0;
    task->n = type_elements(&shape);
    return shape;
}

static void take_operands(const Launch *l, Task *task, const Type *shape) {
    for (uint32_t i = 0; i < l->call->n_in; i++) {
        Operand x = input(l, i);
        task->in[i].at = x.at;
        task->in[i].dtype = x.dtype;
        type_spread(x.type, shape, &task->in[i].spread);
    }
    for (uint32_t i = 0; i < l->call->n_out; i++) {
        Result r = output(l, i);
        task->out[i] = {r.at, r.dtype};
    }
}

/* Further arguments of a step are values to read all the same. */
template <class T>
static void take_steps(T *task, uint32_t n_in, uint32_t n_step, const FormulaStep *step) {
    task->n_in = (int)n_in;
    task->n_step = (int)n_step;
    for (uint32_t k = 0; k < n_step; k++) {
        FormulaStep &s = task->step[k] = step[k];
        task->reads[k] = scalar_arity(s.function) > 0;
        for (int a = scalar_arity(s.function); a < FORMULA_ARGS; a++) s.arg[a] = s.arg[0];
    }
}

static void take_counted(const Launch *l, Task *task) {
    for (int k = 0; k < task->n_step; k++) {
        if (task->step[k].function != SCALAR_extreme_grad) continue;
        int top = task->step[k].arg[2], of_step = top - task->n_in;
        int dtype = of_step < 0 ? input(l, (uint32_t)top).dtype : task->step[of_step].dtype;
        task->counted[k] = (uint8_t)dtype;
    }
}

/* As many threads make a block as their rooms allow. */
template <class T> static int launch_task(const Launch *l, const T &task) {
    int threads = MOST_THREADS, each = (int)(task.rooms.n * EIGHT * sizeof(float));
    while (threads * each > SHARED_BYTES) threads /= 2;
    return LAUNCH(l, evaluate_task<T>, blocks_for(task.n, threads * EIGHT), threads,
                  (size_t)threads * (size_t)each, task);
}

static char *moved_address(const void *p, int dtype, int64_t elements) {
    return (char *)p + elements * dtype_bytes((DType)dtype);
}

static void take_pieces(const Launch *l, const Pieces &p, PieceTask *task) {
    task->n = p.rows * p.run;
    task->run = p.run;
    for (uint32_t i = 0; i < p.n_in; i++) {
        Operand x = input(l, p.in[i].operand);
        task->in[i] = {moved_address(x.at, x.dtype, p.in[i].offset), x.dtype, p.in[i].spread};
    }
    for (uint32_t k = 0; k < p.n_store; k++) {
        Result y = output(l, p.store[k].result);
        task->out[k] = {moved_address(y.at, y.dtype, p.store[k].offset), y.dtype};
        task->pitch[k] = p.store[k].pitch;
    }
    take_steps(task, p.n_in, p.n_step, p.step);
    task->rooms = formula_rooms(p.n_in, p.n_step, p.step, 0);
}

static int launch_pieces(const Launch *l, uint32_t n_step, const FormulaStep *step) {
    PieceTask task = {};
    Pieces p;
    if (!formula_cut(l->call->n_in, l->call->in_type, n_step, step, l->call->out_type, &p))
        return bad_operands(l);
    take_pieces(l, p, &task);
    return launch_task(l, task);
}

int cuda_evaluate(const Launch *l, uint32_t n_step, const FormulaStep *step) {
    Task task = {};
    if (formula_moves(n_step, step)) return launch_pieces(l, n_step, step);
    Type shape = take_shape(l, n_step, step, &task);
    take_steps(&task, l->call->n_in, n_step, step);
    take_counted(l, &task);
    take_operands(l, &task, &shape);
    task.rooms = formula_rooms(l->call->n_in, n_step, step, task.narrow);
    return task.width ? launch_rows(l, &task) : launch_task(l, task);
}

int cuda_step(const Launch *l, Scalar function) {
    FormulaStep step = {};
    step.function = (uint16_t)function;
    step.dtype = DT_F32;
    for (int a = 0; a < FORMULA_ARGS; a++) step.arg[a] = (uint8_t)a;
    step.result = 1;
    step.number = l->call->attr->alpha;
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
