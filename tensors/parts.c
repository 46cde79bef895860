/* Parts of parameters: a tensor may hold several parameters, or several tensors may make up one.
 * Copies the numbers in the parameter's order. Runs that are contiguous on both sides are copied at
 * once; along an axis with a stride, elements are copied one by one.
 */
#include <string.h>

#include "tensors.h"

int64_t part_overlap(const StoredPart *s, int64_t *first, int64_t n) {
    int64_t from = MAX(*first, s->first), end = MIN(*first + n, s->first + s->n);
    *first = from - s->first;
    return MAX(end - from, 0);
}

/* How many elements follow element i of the part along its last axis, including itself. */
static int64_t row_left(const StoredPart *s, int64_t i) {
    int64_t width = s->dim[s->rank - 1];
    return width - i % width;
}

void part_floats(const StoredPart *s, const Tensor *t, int64_t first, int64_t n, float *to) {
    int64_t step = s->stride[s->rank - 1], width = file_type_bytes(t->type);
    while (n > 0) {
        int64_t run = MIN(row_left(s, first), n), at = stored_place(s, first);
        if (step == 1) load_floats(t->data + at * width, t->type, run, to);
        for (int64_t i = 0; step != 1 && i < run; i++)
            to[i] = (float)load_real(t->data + (at + i * step) * width, t->type);
        first += run;
        to += run;
        n -= run;
    }
}

void part_store(const StoredPart *s, uint32_t width, int64_t first, int64_t n, const char *from,
                char *to) {
    int64_t step = s->stride[s->rank - 1];
    while (n > 0) {
        int64_t run = MIN(row_left(s, first), n);
        char *at = to + stored_place(s, first) * width;
        if (step == 1) memcpy(at, from, (size_t)(run * width));
        for (int64_t i = 0; step != 1 && i < run; i++)
            memcpy(at + i * step * width, from + i * width, width);
        first += run;
        from += run * width;
        n -= run;
    }
}
