/* Parts of parameters: a tensor may hold several parameters, or several tensors may make up one.
 * Copies the numbers in the parameter's order. Runs that are contiguous on both sides are copied at
 * once; along an axis with a stride, elements are copied one by one, and rows of a transposed
 * matrix several at a time.
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

/* ---- storing a transposed matrix: element (row, c) is at c * rows + row */

enum { TOGETHER = 16 }; /* rows, so that a cache line is written at once */
#define TURN(bytes)                                                                                \
    for (int64_t c = 0; c < columns; c++)                                                          \
        for (int64_t r = 0; r < TOGETHER; r++)                                                     \
    memcpy(to + (c * rows + row + r) * (bytes), from + (r * columns + c) * (bytes), bytes)

static void turn_rows(int64_t rows, int64_t columns, uint32_t width, int64_t row, const char *from,
                      char *to) {
    switch (width) {
    case 2: TURN(2); return;
    case 4: TURN(4); return;
    default: TURN(width); return;
    }
}

static void store_rows(const StoredPart *s, uint32_t width, int64_t first, int64_t n,
                       const char *from, char *to) {
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

void part_store(const StoredPart *s, uint32_t width, int64_t first, int64_t n, const char *from,
                char *to) {
    bool turned = s->rank == 2 && s->stride[0] == 1;
    int64_t columns = s->dim[s->rank - 1], whole = TOGETHER * columns;
    int64_t head = turned ? MIN(n, (columns - first % columns) % columns) : n;
    store_rows(s, width, first, head, from, to);
    for (; n - head >= whole; head += whole)
        turn_rows(s->stride[1], columns, width, (first + head) / columns, from + head * width,
                  to + s->offset * width);
    store_rows(s, width, first + head, n - head, from + head * width, to);
}
