/* rope, and rope_grad, which turns back: (x [B, T, H, h], positions [B, T] or none) -> the shape of
 * x.
 *
 * A block takes a row (b, t): its first threads compute cosine and sine of the position into shared
 * memory, then all walk over the row's heads, eight pairs (or four, where neighbours are a pair) at
 * a time. Angles and rounding are those of runtime/devices/cpu/attention/rope.c, so both devices
 * give the same bits.
 */
#include "intrinsics.h"

#define ROTARY_TIMES(a, b) __dmul_rn((a), (b))
#define ROTARY_PLUS(a, b) __dadd_rn((a), (b))
#include "rotary.h"

enum { ROPE_THREADS = 256 };

typedef struct Rope {
    Operand x;
    Result y;
    int64_t rows, positions, heads, h, dims;
    Positions at;         /* of the rows of a sample; */
    const int32_t *place; /* or that of each row [B, T] */
    bool interleaved, back;
    double speed[MOST_TURNED / 2];
} Rope;

/* a c - b s */
DEVICE float turned_component(float a, float b, float c, float s) {
    return __fadd_rn(__fmul_rn(a, c), -__fmul_rn(b, s));
}

/* Eight pairs of a head whose elements are `half` apart. */
DEVICE void turn_halves(const Rope &r, int64_t at, int64_t i, const float *c, const float *s) {
    int64_t half = r.dims / 2, n = half - i;
    Eight a = load8(r.x, at + i, n), b = load8(r.x, at + half + i, n), y, z;
    EACH(j) {
        float cosine = j < n ? c[i + j] : 0.0f, sine = j < n ? s[i + j] : 0.0f;
        y.x[j] = turned_component(a.x[j], b.x[j], cosine, sine);
        z.x[j] = turned_component(b.x[j], a.x[j], cosine, -sine);
    }
    store8(r.y, at + i, n, y);
    store8(r.y, at + half + i, n, z);
}

/* Four pairs of neighbours. */
DEVICE void turn_neighbours(const Rope &r, int64_t at, int64_t i, const float *c, const float *s) {
    int64_t n = r.dims - i;
    Eight a = load8(r.x, at + i, n), y;
#pragma unroll
    for (int j = 0; j < EIGHT; j += 2) {
        float cosine = j < n ? c[(i + j) / 2] : 0.0f, sine = j < n ? s[(i + j) / 2] : 0.0f;
        y.x[j] = turned_component(a.x[j], a.x[j + 1], cosine, sine);
        y.x[j + 1] = turned_component(a.x[j + 1], a.x[j], cosine, -sine);
    }
    store8(r.y, at + i, n, y);
}

__global__ void __launch_bounds__(ROPE_THREADS) turn_rows(const Rope r) {
    begin_kernel();
    __shared__ float c[MOST_TURNED / 2], s[MOST_TURNED / 2];
    int64_t half = r.dims / 2, width = r.interleaved ? r.dims : half;
    int64_t chunks = (width + EIGHT - 1) / EIGHT, rest = r.h - r.dims;
    for (int64_t row = blockIdx.x; row < r.rows; row += gridDim.x) {
        double t = (double)(r.place ? r.place[row] : position_of(r.at, row % r.positions));
        for (int64_t i = threadIdx.x; i < half; i += blockDim.x) {
            float sine;
            rotary_point(__dmul_rn(t, r.speed[i]), &c[i], &sine);
            s[i] = r.back ? -sine : sine;
        }
        __syncthreads();
        int64_t first = row * r.heads * r.h;
        for (int64_t k = threadIdx.x; k < r.heads * chunks; k += blockDim.x) {
            int64_t at = first + k / chunks * r.h, i = k % chunks * EIGHT;
            if (r.interleaved)
                turn_neighbours(r, at, i, c, s);
            else
                turn_halves(r, at, i, c, s);
        }
        for (int64_t k = threadIdx.x; k < r.heads * rest; k += blockDim.x) {
            int64_t at = first + k / rest * r.h + r.dims + k % rest;
            element_store(r.y, at, element_load(r.x, at));
        }
        __syncthreads();
    }
}

static int turn_pairs(const Launch *l, bool back) {
    Operand x = input(l, 0);
    const Attrs *a = l->call->attr;
    const int64_t *d = x.type->dim;
    Rope r = {x, output(l, 0), d[0] * d[1], d[1], d[2], d[3]};
    DimPart own = input_part(l->call, 0, 1);
    r.interleaved = a->interleaved != 0;
    r.back = back;
    r.dims = a->dims ? a->dims : r.h;
    r.place = (const int32_t *)input(l, 1).at;
    if (!dim_positions(&own, &r.at)) return bad_operands(l);
    for (int64_t i = 0; i < r.dims / 2; i++) r.speed[i] = rotary_speed(a, i, r.dims / 2);
    return LAUNCH(l, turn_rows, blocks_for(r.rows, 1), ROPE_THREADS, 0, r);
}

KERNEL(rope) { return turn_pairs(l, false); }
KERNEL(rope_grad) { return turn_pairs(l, true); }
