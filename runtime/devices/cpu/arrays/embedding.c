/* embedding (w [V, D], ids [R]) -> [R, D], and the gradient of w; pick (x [R, D], ids [R, K]) ->
 * [R, K], and the gradient of x.
 *
 * If ranks share out the rows of w, an id whose row another rank has gives zeros and no gradient.
 *
 * The gradient sorts (id, position) pairs stably, so that the positions of one id form a run, in
 * order. Each run is one sum in f32, made by one thread; it starts from the accumulator's row and
 * is rounded once. With attribute `earlier` it starts from 0 instead, is rounded, and is then added
 * to the accumulator's row. Rows that were not read are zero, or the accumulator's. The row of
 * padding (attribute `padding`) is one that was not read. Scratch: two arrays of pairs, 16 bytes an
 * id.
 */
#include "kernel.h"
#include "vector.h"

KERNEL(embedding) {
    Operand w = input(l, 0), ids = input(l, 1);
    Result y = output(l, 0);
    int64_t width = w.width;
    DimPart rows = input_part(l->call, 0, 0);
    int code = check_indices(l, INDEX_ID, ids, true, rows.whole);
    if (code) return code;
    const int32_t *id = ids.at;
    SHARE_OUT(l, y.n, k, ids.n) {
        int64_t row = id[k] - rows.from;
        bool own = row >= 0 && row < rows.count;
        for (int64_t i = 0; i < width; i += LANES)
            v_put(y.at, y.dtype, k * width + i, width - i,
                  own ? v_get(w.at, w.dtype, row * width + i, width - i) : v_all(0.0f));
    }
    return 0;
}

/* Merge sort by id, bottom up; stable because the position is the key's lower half. Returns the
 * array that holds the result. */
static uint64_t *sort_keys(uint64_t *keys, uint64_t *other, int64_t n) {
    for (int64_t run = 1; run < n; run *= 2) {
        for (int64_t first = 0; first < n; first += 2 * run) {
            int64_t a = first, middle = MIN(first + run, n), b = middle,
                    end = MIN(first + 2 * run, n);
            for (int64_t to = first; to < end; to++) {
                bool take_a = b == end || (a < middle && keys[a] <= keys[b]);
                other[to] = take_a ? keys[a++] : keys[b++];
            }
        }
        uint64_t *swap = keys;
        keys = other;
        other = swap;
    }
    return keys;
}

/* The gradient of row `row` of w: the sum of dy's rows at the positions keys[first .. last). */
VECTOR_INLINE void sum_run(Operand dy, Result dw, const uint64_t *keys, int64_t first, int64_t last,
                           int64_t row, const Operand *acc, bool earlier) {
    int64_t width = dw.width;
    for (int64_t i = 0; i < width; i += LANES) {
        int64_t n = width - i;
        V16 start = acc->at ? v_get(acc->at, acc->dtype, row * width + i, n) : v_all(0.0f);
        V16 sum = earlier ? v_all(0.0f) : start;
        for (int64_t k = first; k < last; k++) {
            int64_t position = (int64_t)(keys[k] & 0xffffffffu);
            sum += v_get(dy.at, dy.dtype, position * width + i, n);
        }
        if (earlier) sum = start + v_stored(sum, dw.dtype);
        v_put(dw.at, dw.dtype, row * width + i, n, sum);
    }
}

/* Runs of equal ids that begin in this thread's part of the keys. */
static void sum_runs(const Launch *l, Operand dy, Result dw, DimPart rows, const uint64_t *keys,
                     int64_t n, const Operand *acc) {
    WorkRange r = my_range(n, 1);
    int64_t first = r.from;
    while (first > 0 && first < r.to && keys[first] >> 32 == keys[first - 1] >> 32) first++;
    while (first < r.to) {
        int64_t last = first + 1;
        while (last < n && keys[last] >> 32 == keys[first] >> 32) last++;
        int64_t row = (int64_t)(keys[first] >> 32) - rows.from;
        bool padding = (int64_t)(keys[first] >> 32) + 1 == l->call->attr->padding;
        if (row >= 0 && row < rows.count && !padding)
            sum_run(dy, dw, keys, first, last, row, acc, l->call->attr->earlier);
        first = last;
    }
}

KERNEL(embedding_grad) {
    Operand dy = input(l, 0), ids = input(l, 1), acc = input(l, 2);
    Result dw = output(l, 0);
    if (ids.n > INT32_MAX) return bad_operands(l);
    DimPart rows = output_part(l->call, 0, 0);
    int code = check_indices(l, INDEX_ID, ids, true, rows.whole);
    if (code) return code;
    uint64_t *keys = l->call->workspace;
    for (int64_t i = 0; i < ids.n; i++)
        keys[i] = (uint64_t)((const uint32_t *)ids.at)[i] << 32 | (uint64_t)i;
    keys = sort_keys(keys, keys + ids.n, ids.n);
    int64_t size = dtype_bytes(dw.dtype);
#pragma omp parallel num_threads(threads_for(l, dw.n))
    {
        WorkRange r = my_range(dw.n, 64);
        size_t bytes = (size_t)((r.to - r.from) * size);
        if (!acc.at)
            memset(bytes_at(dw.at, r.from * size), 0, bytes);
        else if (acc.at != dw.at)
            memcpy(bytes_at(dw.at, r.from * size), bytes_at(acc.at, r.from * size), bytes);
#pragma omp barrier
        sum_runs(l, dy, dw, rows, keys, ids.n, &acc);
    }
    return 0;
}

/* ---- pick; if ranks share out the elements of a row, each gives those that it has, and zeros */

KERNEL(pick) {
    Operand x = input(l, 0), ids = input(l, 1);
    Result y = output(l, 0);
    DimPart places = input_part(l->call, 0, x.type->rank - 1);
    int code = check_indices(l, INDEX_ID, ids, true, places.whole);
    if (code) return code;
    int64_t width = x.width, count = y.width;
    const int32_t *id = ids.at;
    SHARE_OUT(l, y.n, row, x.rows)
    for (int64_t i = row * count; i < (row + 1) * count; i++) {
        int64_t place = id[i] - places.from;
        bool own = place >= 0 && place < width;
        float value = own ? element_load(x.at, x.dtype, row * width + place) : 0.0f;
        element_store(y.at, y.dtype, i, value);
    }
    return 0;
}

/* One row of dx: for each element, the sum of dy where ids pick it. SUMS elements at a time, so
 * that each is rounded once. */
enum { SUMS = 2048 };
static void sum_picked(Operand dy, Result dx, DimPart places, const int32_t *id, int64_t row) {
    int64_t width = places.count, count = dy.width;
    float sum[SUMS];
    for (int64_t first = 0; first < width; first += SUMS) {
        int64_t n = MIN((int64_t)SUMS, width - first), low = places.from + first;
        memset(sum, 0, sizeof sum);
        for (int64_t k = row * count; k < (row + 1) * count; k++)
            if (id[k] >= low && id[k] < low + n)
                sum[id[k] - low] += element_load(dy.at, dy.dtype, k);
        for (int64_t i = 0; i < n; i += LANES)
            v_put(dx.at, dx.dtype, row * width + first + i, n - i, v_load(sum, DT_F32, i));
    }
}

KERNEL(pick_grad) {
    Operand dy = input(l, 0), ids = input(l, 1);
    Result dx = output(l, 0);
    DimPart places = output_part(l->call, 0, dx.type->rank - 1);
    int code = check_indices(l, INDEX_ID, ids, true, places.whole);
    if (code) return code;
    SHARE_OUT(l, dx.n + dy.n, row, dx.rows)
    sum_picked(dy, dx, places, ids.at, row);
    return 0;
}
