/* How a parameter lies in a file whose tensors are not its parameters: a range of a tensor that
 * holds several, or one of several tensors that make it.
 *
 * A part is elements [first, first + n) of a parameter. Element first + i is in the tensor, whose
 * elements are row-major too, at offset + sum(index[k] * stride[k]), where index is the place of i
 * in a row-major array of these dims. A matrix that is stored transposed has its strides in another
 * order; neighbouring axes that are one run are one axis.
 */
#ifndef FSDPC_STORED_H
#define FSDPC_STORED_H

#include "type.h"

typedef struct StoredPart {
    uint32_t param;
    int32_t rank; /* 1 .. MAX_RANK */
    int64_t first, n;
    int64_t offset;
    int64_t dim[MAX_RANK], stride[MAX_RANK];
} StoredPart;

/* Where element first + i of the parameter is in the tensor. */
static inline int64_t stored_place(const StoredPart *s, int64_t i) {
    int64_t at = s->offset;
    for (int k = s->rank - 1; k >= 0; k--) {
        at += i % s->dim[k] * s->stride[k];
        i /= s->dim[k];
    }
    return at;
}

/* Whether it is a part of a tensor and of a parameter with these numbers of elements. Its numbers
 * may be arbitrary; the counts are at most MOST_COUNT. */
static inline bool stored_is_inside(const StoredPart *s, int64_t tensor, int64_t param) {
    int64_t n = 1, last = s->offset;
    if (s->rank < 1 || s->rank > MAX_RANK || s->n < 1 || s->n > param || s->first < 0 ||
        s->first > param - s->n || last < 0 || last >= tensor)
        return false;
    for (int k = 0; k < s->rank; k++) {
        if (s->dim[k] < 1 || s->stride[k] < 1 || s->dim[k] > s->n / n) return false;
        if (s->dim[k] - 1 > (tensor - 1 - last) / s->stride[k]) return false;
        n *= s->dim[k];
        last += (s->dim[k] - 1) * s->stride[k];
    }
    return n == s->n;
}

/* Do elements of the parameter ascend in the tensor? */
static inline bool stored_ascends(const StoredPart *s) {
    for (int k = 1; k < s->rank; k++)
        if (s->stride[k] > s->stride[k - 1]) return false;
    return true;
}

#endif
