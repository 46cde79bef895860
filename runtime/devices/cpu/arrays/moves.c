/* transpose, slice, concat: elements move to other places, and float ones may change their dtype.
 *
 * transpose: if the last axis stays last, whole rows move. Otherwise x's last axis and y's are
 * walked in squares of TILE x TILE, so that both are read and written in parts of cache lines. The
 * other axes are iterated one by one.
 */
#include "moves.h"
#include "kernel.h"
#include "vector.h"

enum { TILE = 16 };

/* n contiguous elements. */
static void move_run(void *to, int to_dtype, int64_t to_at, const void *from, int dtype,
                     int64_t from_at, int64_t n) {
    if (dtype == to_dtype) {
        int64_t size = dtype_bytes(dtype);
        memcpy(bytes_at(to, to_at * size), bytes_at(from, from_at * size), (size_t)(n * size));
        return;
    }
    for (int64_t i = 0; i < n; i += LANES)
        v_put(to, to_dtype, to_at + i, n - i, v_get(from, dtype, from_at + i, n - i));
}

static void move_one(void *to, int to_dtype, int64_t to_at, const void *from, int dtype,
                     int64_t from_at) {
    if (dtype != to_dtype) {
        element_store(to, to_dtype, to_at, element_load(from, dtype, from_at));
        return;
    }
    switch (dtype_bytes(dtype)) {
    case 8: ((int64_t *)to)[to_at] = ((const int64_t *)from)[from_at]; break;
    case 4: ((int32_t *)to)[to_at] = ((const int32_t *)from)[from_at]; break;
    case 2: ((int16_t *)to)[to_at] = ((const int16_t *)from)[from_at]; break;
    default: ((int8_t *)to)[to_at] = ((const int8_t *)from)[from_at]; break;
    }
}

/* The plane of axis `side`, along which x lies side by side, and the last axis. */
static void turn_plane(const Axes *a, Operand x, Result y, int64_t x_at, int64_t y_at) {
    int64_t rows = a->dim[a->side], columns = a->dim[a->n - 1], step = a->step[a->n - 1];
    for (int64_t i0 = 0; i0 < rows; i0 += TILE)
        for (int64_t j0 = 0; j0 < columns; j0 += TILE)
            for (int64_t i = i0; i < MIN(i0 + TILE, rows); i++)
                for (int64_t j = j0; j < MIN(j0 + TILE, columns); j++)
                    move_one(y.at, y.dtype, y_at + i * a->stride[a->side] + j, x.at, x.dtype,
                             x_at + i + j * step);
}

static int permute_axes(const Launch *l, bool back) {
    Operand x = input(l, 0);
    Result y = output(l, 0);
    Axes a = axes_between(x.type, y.type, l->call->attr->order, back);
    int64_t plane = a.dim[a.n - 1] * (a.side >= 0 ? a.dim[a.side] : 1);
#pragma omp parallel num_threads(threads_for(l, y.n))
    EACH_OWN(k, y.n / plane) {
        int64_t x_at, y_at;
        find_place(&a, k, &x_at, &y_at);
        if (a.side < 0)
            move_run(y.at, y.dtype, y_at, x.at, x.dtype, x_at, plane);
        else
            turn_plane(&a, x, y, x_at, y_at);
    }
    return 0;
}

KERNEL(transpose) { return permute_axes(l, false); }
KERNEL(transpose_grad) { return permute_axes(l, true); }

/* ---- parts of an axis */

static int take_part(const Launch *l, AxisPart p) {
    Operand x = input(l, 0);
    Result y = output(l, 0);
#pragma omp parallel num_threads(threads_for(l, y.n))
    EACH_OWN(i, p.rows) {
        int64_t size = dtype_bytes(y.dtype), end = i * p.width + p.kept;
        int64_t from = i * p.pitch + (i % 2 ? p.second : p.start);
        move_run(y.at, y.dtype, i * p.width, x.at, x.dtype, from, p.kept);
        memset(bytes_at(y.at, end * size), 0, (size_t)((p.width - p.kept) * size));
    }
    return 0;
}

/* Zero besides the part. */
static int put_part(const Launch *l, AxisPart p) {
    Operand dy = input(l, 0);
    Result dx = output(l, 0);
    int64_t size = dtype_bytes(dx.dtype);
#pragma omp parallel num_threads(threads_for(l, dx.n))
    EACH_OWN(i, p.rows) {
        memset(bytes_at(dx.at, i * p.pitch * size), 0, (size_t)(p.pitch * size));
        move_run(dx.at, dx.dtype, i * p.pitch + p.start, dy.at, dy.dtype, i * p.width, p.kept);
    }
    return 0;
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
#pragma omp parallel num_threads(threads_for(l, x.n))
        EACH_OWN(i, p.rows)
        move_run(y.at, y.dtype, i * p.pitch + p.start, x.at, x.dtype, i * p.width, p.width);
    }
    return 0;
}
