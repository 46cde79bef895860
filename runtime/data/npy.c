/* Reads the header of a .npy file (format versions 1, 2 and 3): magic, version, length, and a
 * Python dictionary literal with `descr`, `fortran_order` and `shape` in any order. In: the mapped
 * bytes. Out: type, shape and the offset of the data, which is as long as the shape says.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"

static int report_corrupt_array(const char *path, char *error, const char *what) {
    return fail_with(error, EXIT_CORRUPT, "%s: not a readable NumPy array: %s", path, what);
}

static const struct {
    const char *name;
    FileType type;
} descriptions[] = {{"<f8", FT_F64}, {"<f4", FT_F32}, {"<f2", FT_F16}, {"<i8", FT_I64},
                    {"<i4", FT_I32}, {"<i2", FT_I16}, {"|i1", FT_I8},  {"<u8", FT_U64},
                    {"<u4", FT_U32}, {"<u2", FT_U16}, {"|u1", FT_U8},  {"|b1", FT_BOOL}};

const char *npy_type_name(FileType type) {
    for (size_t i = 0; i < ARRAY_LEN(descriptions); i++)
        if (descriptions[i].type == type) return descriptions[i].name + 1;
    return "?";
}

/* What follows `'key':` and blanks in the dictionary, or NULL. */
static const char *find_entry(const char *text, const char *key) {
    size_t n = strlen(key);
    for (const char *at = text; (at = strstr(at, key));) {
        bool quoted = at > text && (at[-1] == '\'' || at[-1] == '"') && at[n] == at[-1];
        at += n;
        if (!quoted) continue;
        for (at++; *at == ' ';) at++;
        if (*at != ':') continue;
        for (at++; *at == ' ';) at++;
        return at;
    }
    return NULL;
}

static const char *read_shape(const char *at, NpyHeader *h) {
    if (!at || *at++ != '(') return "`shape` is missing";
    for (h->rank = 0;;) {
        while (*at == ' ' || *at == ',') at++;
        if (*at == ')') return NULL;
        if (!isdigit((unsigned char)*at)) return "`shape` is not a tuple of sizes";
        if (h->rank == FILE_MAX_RANK) return "it has more than 8 axes";
        char *end;
        unsigned long long size = strtoull(at, &end, 10);
        if (size > INT64_MAX / 8) return "an axis is too long";
        h->dim[h->rank++] = (int64_t)size;
        at = end;
    }
}

static const char *read_dictionary(const char *text, NpyHeader *h) {
    const char *at = find_entry(text, "descr");
    if (!at) return "`descr` is missing";
    h->type = FT_COUNT;
    for (size_t i = 0; i < ARRAY_LEN(descriptions); i++)
        if ((*at == '\'' || *at == '"') && !strncmp(at + 1, descriptions[i].name, 3) &&
            at[4] == *at)
            h->type = descriptions[i].type;
    if (h->type == FT_COUNT)
        return "its element type is not one of little-endian f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 bool";
    at = find_entry(text, "fortran_order");
    if (!at) return "`fortran_order` is missing";
    if (strncmp(at, "False", 5)) return "it is in Fortran order (save numpy.ascontiguousarray(a))";
    return read_shape(find_entry(text, "shape"), h);
}

int npy_read_header(const char *path, const uint8_t *bytes, size_t size, NpyHeader *h,
                    char *error) {
    if (size < 10 || memcmp(bytes, "\x93NUMPY", 6))
        return report_corrupt_array(path, error, "it does not begin with NumPy's signature");
    if (bytes[6] < 1 || bytes[6] > 3)
        return report_corrupt_array(path, error, "unknown format version");
    size_t start = bytes[6] == 1 ? 10 : 12, length = bytes[8] | (size_t)bytes[9] << 8;
    if (bytes[6] > 1 && size >= 12) length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (size < start || length > size - start || length > (size_t)1 << 20)
        return report_corrupt_array(path, error, "the header is longer than the file or 1 MiB");
    char *text = strndup((const char *)bytes + start, length);
    if (!text) return fail_with(error, EXIT_ENVIRONMENT, "no memory for the header of %s", path);
    *h = (NpyHeader){.data = start + length};
    const char *fault = read_dictionary(text, h);
    free(text);
    if (fault) return report_corrupt_array(path, error, fault);
    uint64_t need = file_type_bytes(h->type);
    for (int i = 0; i < h->rank; i++)
        if (__builtin_mul_overflow(need, (uint64_t)h->dim[i], &need))
            return report_corrupt_array(path, error, "the shape is too large");
    if (need != size - h->data) {
        char what[128];
        snprintf(what, sizeof what, "the shape needs %llu bytes of data, the file has %llu",
                 (unsigned long long)need, (unsigned long long)(size - h->data));
        return report_corrupt_array(path, error, what);
    }
    return 0;
}
