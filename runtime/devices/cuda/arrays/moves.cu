/* transpose, slice, concat: elements go to other places, and float ones may change their dtype.
 *
 * transpose: where the last axis stays last, neighbouring threads take neighbouring elements.
 * Otherwise a block turns a square of x's last axis and y's last axis through shared memory, so
 * that both are read and written in whole lines.
 */
#include "rows.h"

#define MOVES_FUNCTION DEVICE
#include "moves.h"

enum { MOVE_THREADS = 256, TURN = 32 };

DEVICE void move_one(void *to, int to_dtype, int64_t to_at, const void *from, int dtype,
                     int64_t from_at) {
    if (dtype != to_dtype) {
        element_store(to, to_dtype, to_at, element_load(from, dtype, from_at));
        return;
    }
    if (dtype == DT_I64 || dtype == DT_F64)
        ((int64_t *)to)[to_at] = ((const int64_t *)from)[from_at];
    else if (dtype == DT_F32 || dtype == DT_I32)
        ((int32_t *)to)[to_at] = ((const int32_t *)from)[from_at];
    else if (dtype == DT_BF16 || dtype == DT_F16)
        ((uint16_t *)to)[to_at] = ((const uint16_t *)from)[from_at];
    else
        ((uint8_t *)to)[to_at] = ((const uint8_t *)from)[from_at];
}

__global__ void __launch_bounds__(MOVE_THREADS)
    permute_rows(void *y, int y_dtype, Real x, Axes a, int64_t n) {
    begin_kernel();
    int64_t width = a.dim[a.n - 1];
    EACH_ELEMENT(i, n) {
        int64_t x_at, y_at;
        find_place(&a, i / width, &x_at, &y_at);
        move_one(y, y_dtype, y_at + i % width, x.at, x.dtype, x_at + i % width);
    }
}

/* Threads (32, 8). A square holds elements of up to eight bytes. */
__global__ void __launch_bounds__(MOVE_THREADS)
    turn_squares(void *y, int y_dtype, Real x, Axes a, int64_t across, int64_t down) {
    begin_kernel();
    __shared__ int64_t square[TURN][TURN + 1];
    int64_t rows = a.dim[a.side], columns = a.dim[a.n - 1], step = a.step[a.n - 1], x_at, y_at;
    int64_t j0 = blockIdx.x % across * TURN, i0 = blockIdx.x / across % down * TURN;
    find_place(&a, blockIdx.x / across / down, &x_at, &y_at);
    int u = threadIdx.x % TURN, v = threadIdx.x / TURN;
    for (int k = v; k < TURN; k += MOVE_THREADS / TURN)
        if (i0 + u < rows && j0 + k < columns)
            move_one(&square[k][u], x.dtype, 0, x.at, x.dtype, x_at + i0 + u + (j0 + k) * step);
    __syncthreads();
    for (int k = v; k < TURN; k += MOVE_THREADS / TURN)
        if (i0 + k < rows && j0 + u < columns)
            move_one(y, y_dtype, y_at + (i0 + k) * a.stride[a.side] + j0 + u, &square[u][k],
                     x.dtype, 0);
}

static int permute_axes(const Launch *l, bool back) {
    Operand x = input(l, 0);
    Result y = output(l, 0);
    Axes a = axes_between(x.type, y.type, l->call->attr->order, back);
    int last = a.n - 1;
    Real source = real_of(x);
    if (a.side < 0)
        return LAUNCH(l, permute_rows, blocks_for(y.n, MOVE_THREADS), MOVE_THREADS, 0, y.at,
                      y.dtype, source, a, y.n);
    int64_t across = (a.dim[last] + TURN - 1) / TURN, down = (a.dim[a.side] + TURN - 1) / TURN;
    int64_t planes = y.n / (a.dim[last] * a.dim[a.side]);
    if (across * down * planes > INT32_MAX) return bad_operands(l);
    return LAUNCH(l, turn_squares, (unsigned)(across * down * planes), MOVE_THREADS, 0, y.at,
                  y.dtype, source, a, across, down);
}
KERNEL(transpose) { return permute_axes(l, false); }
KERNEL(transpose_grad) { return permute_axes(l, true); }

/* ---- parts of an axis */

/* Runs of `width` from runs from_pitch long into runs to_pitch long; of each second one from
 * another start. */
__global__ void __launch_bounds__(MOVE_THREADS)
    move_runs(void *to, int to_dtype, int64_t to_pitch, int64_t to_start, Real from,
              int64_t from_pitch, int64_t from_start, int64_t second, int64_t width, int64_t n) {
    begin_kernel();
    EACH_ELEMENT(i, n)
    move_one(to, to_dtype, i / width * to_pitch + to_start + i % width, from.at, from.dtype,
             i / width * from_pitch + (i / width % 2 ? second : from_start) + i % width);
}

static int take_part(const Launch *l, AxisPart p) {
    Operand x = input(l, 0);
    Result y = output(l, 0);
    int64_t kept = p.rows * p.kept;
    int code = kept < y.n ? launch_set(l, y.at, 0, y.n * dtype_bytes(y.dtype)) : 0;
    if (code || kept == 0) return code;
    return LAUNCH(l, move_runs, blocks_for(kept, MOVE_THREADS), MOVE_THREADS, 0, y.at, y.dtype,
                  p.width, (int64_t)0, real_of(x), p.pitch, p.start, p.second, p.kept, kept);
}

/* Zero besides the part. */
static int put_part(const Launch *l, AxisPart p) {
    Operand dy = input(l, 0);
    Result dx = output(l, 0);
    int code = launch_set(l, dx.at, 0, dx.n * dtype_bytes(dx.dtype));
    int64_t kept = p.rows * p.kept;
    if (code || kept == 0) return code;
    return LAUNCH(l, move_runs, blocks_for(kept, MOVE_THREADS), MOVE_THREADS, 0, dx.at, dx.dtype,
                  p.pitch, p.start, real_of(dy), p.width, (int64_t)0, (int64_t)0, p.kept, kept);
}

KERNEL(slice) { return take_part(l, slice_of(l->call, output(l, 0).type, input(l, 0).type)); }
KERNEL(slice_grad) { return put_part(l, slice_of(l->call, input(l, 0).type, output(l, 0).type)); }
KERNEL(part) { return take_part(l, own_part_of(l->call, output(l, 0).type, input(l, 0).type)); }

KERNEL(concat) {
    Result y = output(l, 0);
    int64_t axis = l->call->attr->axis, start = 0;
    for (uint32_t k = 0; k < l->call->n_in; k++) {
        Operand x = input(l, k);
        AxisPart p = part_of_axis(x.type, y.type, axis, start);
        start += x.type->dim[axis];
        int code =
            LAUNCH(l, move_runs, blocks_for(x.n, MOVE_THREADS), MOVE_THREADS, 0, y.at, y.dtype,
                   p.pitch, p.start, real_of(x), p.width, (int64_t)0, (int64_t)0, p.width, x.n);
        if (code) return code;
    }
    return 0;
}
