/* The header of a NumPy .npy file: dtype and shape.
 *
 * Layout: "\x93NUMPY", version major and minor, length of the header (2 bytes in version 1, 4 in 2
 * and 3, little-endian), then a Python dict in text:
 *   {'descr': '<f4', 'fortran_order': False, 'shape': (1437, 64), }
 * C order and little-endian numbers are accepted: floating-point numbers become f32 fields,
 * integers and booleans i32 fields. Data after the header is not read here.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules.h"

enum { MAX_HEADER = 1 << 16 };

/* The text behind 'key': in the dict, or NULL. */
static const char *dict_value(const char *header, const char *key) {
    const char *at = strstr(header, key);
    if (!at) return NULL;
    at += strlen(key);
    while (*at == ' ' || *at == ':') at++;
    return at;
}

static const char *read_shape(const char *at, Type *out) {
    int rank = 0;
    if (*at++ != '(') return "its shape is not a tuple";
    for (;;) {
        while (*at == ' ' || *at == ',') at++;
        if (*at == ')') break;
        char *end = NULL;
        errno = 0;
        long long n = strtoll(at, &end, 10);
        if (end == at || n < 0 || errno) return "its shape cannot be read";
        if (rank == MAX_RANK) return "it has too many axes";
        out->dim[rank++] = n;
        at = end;
    }
    out->rank = (uint8_t)rank;
    return rank ? NULL : "it has no batch axis";
}

static const char *read_header(const char *header, Type *out, Arena *a) {
    const char *descr = dict_value(header, "'descr'");
    const char *order = dict_value(header, "'fortran_order'");
    const char *shape = dict_value(header, "'shape'");
    if (!descr || !order || !shape) return "its header lacks descr, fortran_order or shape";
    if (strncmp(order, "False", 5)) return "it is in Fortran order; save np.ascontiguousarray(x)";
    static const char *const reals[] = {"<f2", "<f4", "<f8"};
    static const char *const integers[] = {"<i8", "<i4", "<i2", "|i1", "<u8",
                                           "<u4", "<u2", "|u1", "|b1"};
    bool quoted = strlen(descr) >= 5 && descr[0] == '\'' && descr[4] == '\'';
    for (size_t i = 0; quoted && i < ARRAY_LEN(reals); i++)
        if (!strncmp(descr + 1, reals[i], 3)) out->dtype = DT_F32;
    for (size_t i = 0; quoted && i < ARRAY_LEN(integers); i++)
        if (!strncmp(descr + 1, integers[i], 3)) out->dtype = DT_I32;
    if (out->dtype == DT_NONE)
        return arena_printf(
            a,
            "its dtype is %.5s; little-endian f2 f4 f8, i1 to i8, u1 to u8 and bool are supported",
            descr);
    return read_shape(shape, out);
}

const char *npy_header(const char *path, Type *out, Arena *a, bool *missing) {
    unsigned char start[12];
    *out = (Type){0};
    FILE *f = fopen(path, "rb");
    *missing = f == NULL;
    if (!f) return arena_strdup(a, strerror(errno));
    const char *problem = "it is not a NumPy file";
    if (fread(start, 1, 10, f) == 10 && !memcmp(start, "\x93NUMPY", 6)) {
        size_t n = start[8] | (size_t)start[9] << 8;
        if (start[6] >= 2) {
            n = fread(start + 10, 1, 2, f) == 2
                    ? n | (size_t)start[10] << 16 | (size_t)start[11] << 24
                    : MAX_HEADER + 1;
        }
        char *header = arena_alloc(a, MIN(n, MAX_HEADER) + 1);
        problem = n > MAX_HEADER || fread(header, 1, n, f) != n ? "its header is cut short"
                                                                : read_header(header, out, a);
    }
    fclose(f);
    return problem;
}
