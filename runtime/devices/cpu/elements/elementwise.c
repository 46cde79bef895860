/* Elementwise kernels of the most common ops: arithmetic, activations and their gradients, cast,
 * accumulate. formula.c has the kernels of the other elementwise ops.
 *
 * Each kernel is a row of scalar.def, of sixteen lanes; PIECE makes the loop around it. An
 * element's bits depend only on its operands, neither on its place in a shard nor on the number of
 * threads. The result may share memory with an operand of the same element size: a vector is stored
 * after everything that it needs was loaded.
 *
 * Broadcast: b's n_b elements repeat along a. A short b is first repeated in a buffer of whole
 * periods, so that the inner loop is long whatever n_b is.
 */
#include "scalar_math.h"
#include "stream.h"
#include "walks.h"

enum { PATTERN = 2048 };

/* to[at + i] = f(from[at + i], b[i]) for i in 0 .. count */
typedef void (*Piece)(Result to, Operand from, int64_t at, const void *b_at, int b_dtype,
                      int64_t count);

#define PIECE(name, ...)                                                                           \
    __attribute__((unused)) static void name##_piece(                                              \
        Result to, Operand from, int64_t at, const void *b_at, int b_dtype, int64_t count) {       \
        int64_t i = 0;                                                                             \
        for (; i + LANES <= count; i += LANES) {                                                   \
            V16 x = v_load(from.at, from.dtype, at + i), y = v_load(b_at, b_dtype, i);             \
            (void)y;                                                                               \
            v_store(to.at, to.dtype, at + i, __VA_ARGS__);                                         \
        }                                                                                          \
        if (i == count) return;                                                                    \
        V16 x = v_load_part(from.at, from.dtype, at + i, count - i);                               \
        V16 y = v_load_part(b_at, b_dtype, i, count - i);                                          \
        (void)y;                                                                                   \
        v_store_part(to.at, to.dtype, at + i, count - i, __VA_ARGS__);                             \
    }

/* Repeats b in `pattern` as often as whole periods fit; returns the length. */
static int64_t repeat_operand(float *pattern, Operand b) {
    int64_t n = 0;
    for (; n + b.n <= PATTERN; n += b.n)
        for (int64_t i = 0; i < b.n; i++) pattern[n + i] = element_load(b.at, b.dtype, i);
    return n;
}

/* Results that go past the caches: a block of them is made where it stays in the nearest one. */
static void map_past(Piece piece, Result y, Operand x, int64_t at, const void *b_at, int b_dtype,
                     int64_t count) {
    enum { BLOCK = 1024 };
    char block[BLOCK * sizeof(float)] __attribute__((aligned(STREAM_LINE)));
    int64_t x_size = dtype_bytes(x.dtype), y_size = dtype_bytes(y.dtype);
    int64_t b_size = dtype_bytes(b_dtype);
    for (int64_t i = 0; i < count; i += BLOCK) {
        int64_t n = MIN(count - i, (int64_t)BLOCK);
        Operand from = {.at = bytes_at(x.at, (at + i) * x_size), .dtype = x.dtype};
        piece((Result){.at = block, .dtype = y.dtype}, from, 0, bytes_at(b_at, i * b_size), b_dtype,
              n);
        stream_copy(bytes_at(y.at, (at + i) * y_size), block, n * y_size);
    }
}

static int map_with(const Launch *l, Operand b, Piece piece) {
    Operand x = input(l, 0);
    Result y = output(l, 0);
    float pattern[PATTERN];
    int64_t period = b.n;
    if (b.n < y.n && b.n <= PATTERN / 2) {
        period = repeat_operand(pattern, b);
        b.at = pattern;
        b.dtype = DT_F32;
    }
    bool past = is_far(y.n * dtype_bytes(y.dtype)) && y.at != x.at && y.at != b.at;
#pragma omp parallel num_threads(threads_for(l, y.n))
    {
        WorkRange r = my_range(y.n, 64);
        int64_t at = r.from;
        while (at < r.to) {
            int64_t start = at % period, count = MIN(period - start, r.to - at);
            const void *b_at = bytes_at(b.at, start * (b.dtype == DT_F32 ? 4 : 2));
            if (past)
                map_past(piece, y, x, at, b_at, b.dtype, count);
            else
                piece(y, x, at, b_at, b.dtype, count);
            at += count;
        }
        if (past) stream_end();
    }
    return 0;
}

static int map2(const Launch *l, Piece piece) { return map_with(l, input(l, 1), piece); }
static int map1(const Launch *l, Piece piece) { return map_with(l, input(l, 0), piece); }

#define SCALAR(op, arity, ...)
#define SPECIAL(name, op, form, arity, ...) PIECE(name, __VA_ARGS__)
#define number 1.0f /* of scale, which multiplies by an operand of one element instead */
#include "scalar.def"
#undef number
PIECE(cast, x)

#define ARITHMETIC(name)                                                                           \
    KERNEL(name) { return is_plain(l) ? map2(l, name##_piece) : CPU_NAME(step)(l, SCALAR_##name); }
ARITHMETIC(add)
ARITHMETIC(sub)
ARITHMETIC(mul)
KERNEL(accumulate) {
    const KernelCall *c = l->call;
    for (uint32_t j = 0; j < c->n_out; j++)
        launch_part(l, CPU_NAME(add), 2, (const void *[]){c->in[j], c->in[c->n_out + j]},
                    (const Type *[]){c->in_type[j], c->in_type[c->n_out + j]}, j);
    return 0;
}
KERNEL(cast) { return map1(l, cast_piece); }
KERNEL(scale) {
    float alpha = (float)l->call->attr->alpha;
    return map_with(l, (Operand){.at = &alpha, .dtype = DT_F32, .n = 1}, mul_piece);
}
KERNEL(to_float) {
    const int32_t *from = l->call->in[0];
    float *to = l->call->out[0];
    for (int64_t i = 0; i < output(l, 0).n; i++) to[i] = (float)from[i];
    return 0;
}
/* INT32_MIN is not a valid index, so an op that reads it as one refuses it. */
KERNEL(to_int) {
    Operand x = input(l, 0);
    int32_t *to = l->call->out[0];
    for (int64_t i = 0; i < x.n; i += LANES) {
        V16 v = v_get(x.at, x.dtype, i, x.n - i);
        for (int64_t j = 0; j < MIN((int64_t)LANES, x.n - i); j++)
            to[i + j] = v[j] >= -0x1p31f && v[j] < 0x1p31f ? (int32_t)v[j] : INT32_MIN;
    }
    return 0;
}

static bool tanh_form(const Launch *l) { return l->call->attr->approx == GELU_TANH; }
KERNEL(relu) { return map1(l, relu_piece); }
KERNEL(sigmoid) { return map1(l, sigmoid_piece); }
KERNEL(tanh) { return map1(l, tanh_piece); }
KERNEL(silu) { return map1(l, silu_piece); }
KERNEL(gelu) { return map1(l, tanh_form(l) ? gelu_tanh_piece : gelu_erf_piece); }
KERNEL(relu_grad) { return map2(l, relu_grad_piece); }
KERNEL(silu_grad) { return map2(l, silu_grad_piece); }
KERNEL(sigmoid_grad) { return map2(l, sigmoid_grad_piece); }
KERNEL(tanh_grad) { return map2(l, tanh_grad_piece); }
KERNEL(gelu_grad) { return map2(l, tanh_form(l) ? gelu_tanh_grad_piece : gelu_erf_grad_piece); }
