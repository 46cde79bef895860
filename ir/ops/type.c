/* Types of values: making, comparing, checking and printing them.
 *
 * The lowest layer of ir/: nothing here refers to an op or a graph.
 */
#include <stdio.h>
#include <string.h>

#include "infer.h"
#include "op.h"
#include "util.h"

Type type_of(int dtype, int rank, const int64_t *dim) {
    CHECK(dtype > DT_NONE && dtype < DT_COUNT && rank >= 0 && rank <= MAX_RANK);
    Type t = {.dtype = (uint8_t)dtype, .rank = (uint8_t)rank};
    for (int i = 0; i < rank; i++) t.dim[i] = dim[i];
    return t;
}

bool type_equal(const Type *a, const Type *b) {
    return a->dtype == b->dtype && a->pitch == b->pitch && type_same_dims(a, b);
}

bool type_is_suffix(const Type *b, const Type *a) {
    return b->rank <= a->rank &&
           (!b->rank || !memcmp(b->dim, a->dim + a->rank - b->rank, b->rank * sizeof b->dim[0]));
}

bool type_sound(const Type *t) {
    if (t->dtype <= DT_NONE || t->dtype >= DT_COUNT || t->rank > MAX_RANK) return false;
    if (t->dtype == DT_TOKEN) return t->rank == 0 && t->pitch == 0;
    if (t->pitch && (!t->rank || t->pitch <= last_dim(t))) return false;
    /* 8 bytes per element: the limit is one on elements, whatever their dtype. */
    const uint64_t most = (uint64_t)1 << 50, most_dim = (uint64_t)1 << 48;
    uint64_t bytes = 8;
    for (int i = 0; i < t->rank; i++) {
        uint64_t n = (uint64_t)t->dim[i];
        if (n - 1 >= most_dim - 1) return false;
        if (t->pitch && i + 1 == t->rank) n = t->pitch;
        if (__builtin_mul_overflow(bytes, n, &bytes) || bytes > most) return false;
    }
    return true;
}

void type_format(const Type *t, char *out, size_t size) {
    int n = snprintf(out, size, "%s", dtype_name(t->dtype));
    for (int i = 0; i < t->rank && i < MAX_RANK && n < (int)size; i++)
        n += snprintf(out + n, size - (size_t)n, "%s%lld", i ? ", " : "[", (long long)t->dim[i]);
    if (t->pitch && n < (int)size) n += snprintf(out + n, size - (size_t)n, ":%u", t->pitch);
    if (t->rank && n < (int)size) snprintf(out + n, size - (size_t)n, "]");
}

void type_print(const Type *t, Buf *out) {
    char text[TYPE_TEXT];
    type_format(t, text, sizeof text);
    buf_write(out, text, strlen(text));
}

const char *type_text(Arena *a, const Type *t) {
    char text[TYPE_TEXT];
    type_format(t, text, sizeof text);
    return arena_strdup(a, text);
}
