/* Sums over rows (sum_leading) and over ranks (the reductions of collectives).
 */
#include "columns.h"

template <int form> struct Rows {
    const void *at;
    int dtype;
    int64_t pitch;
    DEVICE Eight eight(int64_t row, int64_t column, int64_t n) const {
        return numbers(fetch8<form>(at, dtype, row * pitch + column, n));
    }
};
/* What follows the columns of a row with a pitch may be read as columns too: nobody stores them. */
static int64_t pitch_of(const Operand &x, Result out) {
    return x.type->pitch ? type_pitch(x.type) : out.n;
}
template <int form>
static int sum_rows(const Launch *l, const Operand &x, Result out, const Operand *acc) {
    Rows<form> rows = {x.at, x.dtype, pitch_of(x, out)};
    return sum_columns(l, rows, x.n / out.n, out, acc);
}

/* (x [R, suffix], acc [suffix]?) -> [suffix] */
KERNEL(sum_leading) {
    Operand x = input(l, 0);
    Result out = output(l, 0);
    bool accumulate = l->call->n_in > 1;
    if (!is_real(x.dtype) || !is_real(out.dtype) || out.n < 1 || x.n % out.n != 0 ||
        (accumulate && input(l, 1).n != out.n) || (x.type->pitch && out.n != last_dim(x.type)))
        return bad_operands(l);
    Operand acc = {};
    if (accumulate) acc = input(l, 1);
    const Operand *onto = accumulate ? &acc : NULL;
    switch (form_with(FORM_NONE, x.at, x.dtype, pitch_of(x, out))) {
    case FORM_BF16: return sum_rows<FORM_BF16>(l, x, out, onto);
    case FORM_F32: return sum_rows<FORM_F32>(l, x, out, onto);
    default: return sum_rows<FORM_ANY>(l, x, out, onto);
    }
}

/* ---- to[i] = (from[0][i] + from[1][i]) + .. in f32, i64 or f64; `to` may be one of them */

struct Arrays {
    const void *at[REDUCE_AT_ONCE];
    int n;
};
__global__ void sum_reals(void *to, int dtype, Arrays from, int64_t n) {
    EACH_EIGHT(at, n) {
        Eight sum = load8(from.at[0], dtype, at, n - at);
        for (int k = 1; k < from.n; k++) {
            Eight v = load8(from.at[k], dtype, at, n - at);
            EACH(j) sum.x[j] += v.x[j];
        }
        store8(to, dtype, at, n - at, sum);
    }
}
__global__ void sum_words(void *to, int dtype, Arrays from, int64_t n) {
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * blockDim.x) {
        uint64_t words = 0;
        double reals = 0.0;
        for (int k = 0; k < from.n; k++) {
            words += ((const uint64_t *)from.at[k])[i];
            double x = ((const double *)from.at[k])[i];
            reals = k ? reals + x : x;
        }
        if (dtype == DT_I64)
            ((uint64_t *)to)[i] = words;
        else
            ((double *)to)[i] = reals;
    }
}
/* More arrays than one launch takes cannot be cut into several without rounding in between: the
 * device refuses them. */
CUDA_C cudaError_t cuda_sum_arrays(cudaStream_t stream, int dtype, void *to,
                                   const void *const *from, int n_from, int64_t elements) {
    if (n_from < 1 || n_from > REDUCE_AT_ONCE) return cudaErrorInvalidValue;
    if (elements == 0) return cudaSuccess;
    Arrays arrays = {};
    arrays.n = n_from;
    for (int k = 0; k < n_from; k++) arrays.at[k] = from[k];
    Launch l = {};
    l.stream = stream;
    int code;
    if (is_real(dtype))
        code = LAUNCH(&l, sum_reals, blocks_for(elements, 256 * EIGHT), 256, 0, to, dtype, arrays,
                      elements);
    else
        code =
            LAUNCH(&l, sum_words, blocks_for(elements, 256), 256, 0, to, dtype, arrays, elements);
    return code ? cudaErrorLaunchFailure : cudaSuccess;
}
