/* embedding (w [V, D], ids [R]) -> [R, D], and the gradient of w; pick (x [R, D], ids [R, K]) ->
 * [R, K], and the gradient of x, of which a thread makes an element after the other.
 *
 * The gradient sorts the keys (id << 32 | position), so that the positions of one id are adjacent
 * and in order; a block that finds the first key of an id then adds dy's rows at those positions in
 * order in f32, starting from the accumulator's row. All keys differ, so every sort gives the same
 * order: a bitonic one, in the workspace, of the next power of two of keys (at most 16 bytes an
 * id); stretches of SORTED keys are sorted in shared memory.
 *
 * If ranks share out the rows of w, those of other ranks give zeros, and get no gradient. An id out
 * of range is left in the fault and read as 0.
 */
#include "intrinsics.h"

enum { ROW_THREADS = 128, KEY_THREADS = 256, SORTED = 2048, SORT_THREADS = 512 };

/* n: how many ids there are, for the message. */
DEVICE int64_t checked_id(const int32_t *ids, int64_t position, const DimPart &rows,
                          const Reports &to, int64_t n = 0) {
    return checked_index(to, INDEX_ID, ids[position], position, rows.whole, n);
}

__global__ void __launch_bounds__(ROW_THREADS)
    take_rows(Result y, Operand w, const int32_t *ids, DimPart rows, Reports reports) {
    begin_kernel();
    __shared__ int64_t row;
    if (threadIdx.x == 0) row = checked_id(ids, blockIdx.x, rows, reports, gridDim.x) - rows.from;
    __syncthreads();
    int64_t width = w.width, to = (int64_t)blockIdx.x * width;
    bool own = row >= 0 && row < rows.count;
    for (int64_t i = (int64_t)threadIdx.x * EIGHT; i < width; i += (int64_t)blockDim.x * EIGHT) {
        Eight v = {};
        if (own) v = load8(w, row * width + i, width - i);
        store8(y, to + i, width - i, v);
    }
}

KERNEL(embedding) {
    Operand w = input(l, 0), ids = input(l, 1);
    return LAUNCH(l, take_rows, (unsigned)ids.n, ROW_THREADS, 0, output(l, 0), w,
                  (const int32_t *)ids.at, input_part(l->call, 0, 0), reports_of(l));
}

/* ---- sort */

__global__ void __launch_bounds__(KEY_THREADS)
    make_keys(uint64_t *keys, const int32_t *ids, int64_t n, int64_t padded, DimPart rows,
              Reports reports) {
    begin_kernel();
    EACH_ELEMENT(i, padded)
    keys[i] =
        i < n ? (uint64_t)checked_id(ids, i, rows, reports, n) << 32 | (uint64_t)i : UINT64_MAX;
}

/* The k-th place of the network whose partner is a power of two further on. */
template <class Int> DEVICE Int place_of(Int k, Int distance) {
    return 2 * k - (k & (distance - 1));
}
/* One exchange of the network: i and i ^ distance, ascending where bit `size` of i is clear. */
DEVICE void exchange_keys(uint64_t *keys, int64_t i, int64_t distance, bool ascending) {
    uint64_t a = keys[i], b = keys[i + distance];
    if ((a > b) != ascending) return;
    keys[i] = b;
    keys[i + distance] = a;
}
__global__ void __launch_bounds__(KEY_THREADS)
    exchange_far(uint64_t *keys, int64_t half, int64_t distance, int64_t size) {
    begin_kernel();
    EACH_ELEMENT(k, half) {
        int64_t i = place_of(k, distance);
        exchange_keys(keys, i, distance, (i & size) == 0);
    }
}
/* All exchanges up to a distance of SORTED / 2: those of sizes first .. last. */
__global__ void __launch_bounds__(SORT_THREADS)
    sort_stretch(uint64_t *keys, int64_t n, int64_t first, int64_t last) {
    begin_kernel();
    __shared__ uint64_t near[SORTED];
    int64_t start = (int64_t)blockIdx.x * SORTED;
    int count = n < SORTED ? (int)n : (int)SORTED;
    for (int i = threadIdx.x; i < count; i += SORT_THREADS) near[i] = keys[start + i];
    __syncthreads();
    for (int64_t size = first; size <= last; size *= 2)
        for (int distance = (size < count ? (int)size : count) / 2; distance > 0; distance /= 2) {
            for (int k = threadIdx.x; k < count / 2; k += SORT_THREADS) {
                int i = place_of(k, distance);
                exchange_keys(near, i, distance, ((start + i) & size) == 0);
            }
            __syncthreads();
        }
    for (int i = threadIdx.x; i < count; i += SORT_THREADS) keys[start + i] = near[i];
}

static int sort_keys(const Launch *l, uint64_t *keys, int64_t n) {
    unsigned stretches = (unsigned)((n + SORTED - 1) / SORTED);
    int code = n < 2 ? 0
                     : LAUNCH(l, sort_stretch, stretches, SORT_THREADS, 0, keys, n, (int64_t)2,
                              MIN(n, (int64_t)SORTED));
    for (int64_t size = 2 * SORTED; size <= n && !code; size *= 2) {
        for (int64_t distance = size / 2; distance >= SORTED && !code; distance /= 2)
            code = LAUNCH_EACH(l, exchange_far, n / 2, KEY_THREADS, keys, n / 2, distance, size);
        if (!code) code = LAUNCH(l, sort_stretch, stretches, SORT_THREADS, 0, keys, n, size, size);
    }
    return code;
}

/* ---- sums of runs of equal ids; block: position in the sorted keys, tile of columns
 *
 * A run of a frequent id is long, and its rows lie anywhere: AT_ONCE of them are in flight
 * together, and are then added in order. */

enum { AT_ONCE = 8 };

struct TableGrad {
    Result to;
    Operand dy, acc; /* acc may be left out */
    const uint64_t *keys;
    int64_t n, width, tiles;
    DimPart rows;
    int64_t padding; /* 1 + the id whose row has no gradient */
};

template <int form> __global__ void __launch_bounds__(ROW_THREADS) sum_runs(TableGrad t) {
    begin_kernel();
    int64_t first = blockIdx.x / t.tiles;
    uint64_t id = t.keys[first] >> 32;
    if (first > 0 && t.keys[first - 1] >> 32 == id) return;
    int64_t i = (blockIdx.x % t.tiles * blockDim.x + threadIdx.x) * EIGHT, n = t.width - i;
    if (n <= 0) return;
    int64_t own = (int64_t)id - t.rows.from, row = own * t.width + i;
    if (own < 0 || own >= t.rows.count || (int64_t)id + 1 == t.padding) return;
    Eight sum = {};
    if (t.acc.at) sum = load8(t.acc, row, n);
    bool more = true;
    for (int64_t k = first; more; k += AT_ONCE) {
        uint64_t key[AT_ONCE];
        Loaded<form> v[AT_ONCE] = {};
#pragma unroll
        for (int b = 0; b < AT_ONCE; b++) key[b] = k + b < t.n ? t.keys[k + b] : UINT64_MAX;
#pragma unroll
        for (int b = 0; b < AT_ONCE; b++)
            if (key[b] >> 32 == id)
                v[b] = fetch8<form>(t.dy, (int64_t)(key[b] & 0xffffffffu) * t.width + i, n);
#pragma unroll
        for (int b = 0; b < AT_ONCE; b++) {
            more = key[b] >> 32 == id;
            if (!more) break;
            Eight x = numbers(v[b]);
            EACH(j) sum.x[j] += x.x[j];
        }
    }
    store8(t.to, row, n, sum);
}

KERNEL(embedding_grad) {
    Operand dy = input(l, 0), ids = input(l, 1), acc = input(l, 2);
    Result dw = output(l, 0);
    int64_t padded = 1;
    while (padded < ids.n) padded *= 2;
    if (ids.n > INT32_MAX) return bad_operands(l);
    int code = acc.at ? launch_keep(l, 0, 2) : launch_set(l, dw.at, 0, type_bytes(dw.type));
    if (code) return code;
    uint64_t *keys = (uint64_t *)l->call->workspace;
    DimPart rows = output_part(l->call, 0, 0);
    code = LAUNCH_EACH(l, make_keys, padded, KEY_THREADS, keys, (const int32_t *)ids.at, ids.n,
                       padded, rows, reports_of(l));
    if (!code) code = sort_keys(l, keys, padded);
    if (code) return code;
    int64_t tiles = (dw.width + ROW_THREADS * EIGHT - 1) / (ROW_THREADS * EIGHT);
    TableGrad t = {dw, dy, acc, keys, ids.n, dw.width, tiles, rows, l->call->attr->padding};
    return LAUNCH_FORM(l, form_with(FORM_NONE, dy, dw.width), sum_runs, (unsigned)(ids.n * tiles),
                       ROW_THREADS, 0, t);
}

/* ---- pick; if ranks share out the elements of a row, each gives those that it has, and zeros */

/* x [R, width], y [R, count] at the places that ids [R, count] name. */
struct Picks {
    Operand x;
    Result y;
    const int32_t *ids;
    int64_t width, count;
    DimPart places;
    Reports reports;
};

__global__ void __launch_bounds__(KEY_THREADS) pick_elements(Picks p) {
    begin_kernel();
    EACH_ELEMENT(i, p.y.n) {
        int64_t place = checked_id(p.ids, i, p.places, p.reports, p.y.n) - p.places.from;
        float value = 0.0f;
        if (place >= 0 && place < p.width) value = element_load(p.x, i / p.count * p.width + place);
        element_store(p.y, i, value);
    }
}

/* x is dy, y is dx. */
__global__ void __launch_bounds__(KEY_THREADS) sum_picked(Picks p) {
    begin_kernel();
    EACH_ELEMENT(i, p.y.n) {
        int64_t first = i / p.width * p.count, place = i % p.width + p.places.from;
        float sum = 0.0f;
        for (int64_t k = first; k < first + p.count; k++)
            if (checked_id(p.ids, k, p.places, p.reports) == place) sum += element_load(p.x, k);
        element_store(p.y, i, sum);
    }
}

static Picks picks_of(const Launch *l, int64_t width, DimPart places) {
    Operand ids = input(l, 1);
    return {input(l, 0), output(l, 0), (const int32_t *)ids.at, width, ids.width,
            places,      reports_of(l)};
}

KERNEL(pick) {
    Operand x = input(l, 0);
    return LAUNCH_EACH(l, pick_elements, output(l, 0).n, KEY_THREADS,
                       picks_of(l, x.width, input_part(l->call, 0, x.type->rank - 1)));
}

KERNEL(pick_grad) {
    Result dx = output(l, 0);
    return LAUNCH_EACH(l, sum_picked, dx.n, KEY_THREADS,
                       picks_of(l, dx.width, output_part(l->call, 0, dx.type->rank - 1)));
}
