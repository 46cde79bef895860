/* rope, and rope_grad, which turns back: (x [B, T, H, h], positions [B, T] or none) -> the shape of
 * x.
 *
 * The first `dims` elements of each head turn, the others are copied. With c and s, which have
 * cosine and sine for each of these elements, the sine with the sign of its half, both forms read
 * y = x c + partner s: the partner is dims / 2 away, or the neighbour. A thread owns rows (b, t);
 * positions come one after the other with all their samples, so that a table is made once.
 */
#include "kernel.h"
#include "rotary.h"
#include "vector.h"

typedef struct Rope {
    const void *x;
    void *y;
    int x_dtype, y_dtype;
    int64_t batch, positions, heads, h, dims;
    Positions at;        /* of the rows of a sample; */
    const int32_t *rows; /* or that of each row [B, T] */
    bool interleaved;
    double speed[MOST_TURNED / 2];
} Rope;

/* c, s [dims] of one position; direction -1 turns back. */
static void table_of(const Rope *r, int64_t t, float direction, float *c, float *s) {
    int64_t half = r->dims / 2;
    float cosine[MOST_TURNED / 2], sine[MOST_TURNED / 2];
    for (int64_t i = 0; i < half; i++) rotary_point((double)t * r->speed[i], &cosine[i], &sine[i]);
    for (int64_t i = 0; i < half; i++) {
        int64_t first = r->interleaved ? 2 * i : i, second = r->interleaved ? 2 * i + 1 : i + half;
        c[first] = c[second] = cosine[i];
        s[first] = -direction * sine[i];
        s[second] = direction * sine[i];
    }
}

VECTOR_INLINE void turn_neighbours(const Rope *r, int64_t at, const float *c, const float *s) {
    for (int64_t i = 0; i < r->dims; i += LANES) {
        int64_t n = r->dims - i;
        V16 x = v_get(r->x, r->x_dtype, at + i, n);
        V16 partner =
            __builtin_shuffle(x, (I16){1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14});
        V16 y = x * v_get(c, DT_F32, i, n) + partner * v_get(s, DT_F32, i, n);
        v_put(r->y, r->y_dtype, at + i, n, y);
    }
}

VECTOR_INLINE void turn_halves(const Rope *r, int64_t at, const float *c, const float *s) {
    int64_t half = r->dims / 2;
    for (int64_t i = 0; i < half; i += LANES) {
        int64_t n = half - i;
        V16 a = v_get(r->x, r->x_dtype, at + i, n), b = v_get(r->x, r->x_dtype, at + half + i, n);
        V16 cosine = v_get(c, DT_F32, i, n), sine = v_get(s, DT_F32, half + i, n);
        v_put(r->y, r->y_dtype, at + i, n, a * cosine - b * sine);
        v_put(r->y, r->y_dtype, at + half + i, n, b * cosine + a * sine);
    }
}

static void turn_row(const Rope *r, int64_t row, const float *c, const float *s) {
    for (int64_t head = 0; head < r->heads; head++) {
        int64_t at = (row * r->heads + head) * r->h;
        if (r->interleaved)
            turn_neighbours(r, at, c, s);
        else
            turn_halves(r, at, c, s);
        for (int64_t i = r->dims; i < r->h; i += LANES)
            v_put(r->y, r->y_dtype, at + i, r->h - i, v_get(r->x, r->x_dtype, at + i, r->h - i));
    }
}

static int turn_pairs(const Launch *l, float direction) {
    Operand x = input(l, 0);
    Result y = output(l, 0);
    const Attrs *a = l->call->attr;
    const int64_t *d = x.type->dim;
    Rope r = {x.at, y.at, x.dtype, y.dtype, d[0], d[1], d[2], d[3], .interleaved = a->interleaved};
    DimPart own = input_part(l->call, 0, 1);
    r.dims = a->dims ? a->dims : r.h;
    if (l->call->n_in > 1) r.rows = input(l, 1).at;
    if (!dim_positions(&own, &r.at)) return bad_operands(l);
    for (int64_t i = 0; i < r.dims / 2; i++) r.speed[i] = rotary_speed(a, i, r.dims / 2);
#pragma omp parallel num_threads(threads_for(l, x.n))
    {
        float c[MOST_TURNED], s[MOST_TURNED];
        int64_t last = 0;
        WorkRange mine = my_range(r.batch * r.positions, 1);
        for (int64_t k = mine.from; k < mine.to; k++) {
            int64_t t = k / r.batch, b = k % r.batch;
            int64_t row = b * r.positions + t, at = r.rows ? r.rows[row] : position_at(&r.at, t);
            if (k == mine.from || (r.rows ? at != last : b == 0)) table_of(&r, at, direction, c, s);
            last = at;
            turn_row(&r, row, c, s);
        }
    }
    return 0;
}

KERNEL(rope) { return turn_pairs(l, 1.0f); }
KERNEL(rope_grad) { return turn_pairs(l, -1.0f); }
