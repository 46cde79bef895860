/* Reads a .safetensors file. It is mapped, and the whole header is checked before anything uses it:
 * lengths, JSON, dtypes, shapes against byte ranges. The ranges must cover the data exactly,
 * without overlap or gap, so a file that was truncated, concatenated or edited is rejected. */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "tensors.h"

static int corrupt(const TensorFile *f, char *error, const char *what, const char *tensor) {
    if (tensor)
        return fail_with(error, EXIT_CORRUPT, "%s: tensor %.200s: %s", f->map.path, tensor, what);
    return fail_with(error, EXIT_CORRUPT, "%s: not a safetensors file: %s", f->map.path, what);
}

static const char *read_shape(json_t *shape, Tensor *t) {
    if (!json_is_array(shape) || json_array_size(shape) > FILE_MAX_RANK)
        return "`shape` is not a list of at most 8 sizes";
    t->rank = (int32_t)json_array_size(shape);
    t->elements = 1;
    for (int32_t i = 0; i < t->rank; i++) {
        json_t *d = json_array_get(shape, (size_t)i);
        if (!json_is_integer(d) || json_integer_value(d) < 0) return "a size is not a number >= 0";
        t->dim[i] = json_integer_value(d);
        if (__builtin_mul_overflow(t->elements, t->dim[i], &t->elements) ||
            t->elements > INT64_MAX / 8)
            return "the shape is too large";
    }
    return NULL;
}

/* Returns what is wrong with the entry, or NULL. */
static const char *read_tensor(const TensorFile *f, uint64_t data, json_t *entry, Tensor *t) {
    if (!json_is_object(entry)) return "its entry is not an object";
    const char *type = json_string_value(json_object_get(entry, "dtype"));
    if (!type) return "it has no dtype";
    t->type = FT_COUNT;
    for (int k = 0; k < FT_COUNT; k++)
        if (!strcmp(type, file_type_name[k])) t->type = (FileType)k;
    const char *fault = read_shape(json_object_get(entry, "shape"), t);
    if (fault) return fault;
    json_t *range = json_object_get(entry, "data_offsets");
    json_t *from = json_array_get(range, 0), *to = json_array_get(range, 1);
    if (json_array_size(range) != 2 || !json_is_integer(from) || !json_is_integer(to))
        return "`data_offsets` is not a pair of numbers";
    int64_t begin = json_integer_value(from), end = json_integer_value(to);
    if (begin < 0 || end < begin || (uint64_t)end > f->map.size - data)
        return "its data lie outside the file";
    t->data = f->map.bytes + data + begin;
    t->bytes = (uint64_t)(end - begin);
    t->file = f;
    /* An unknown dtype is an error only if the tensor is needed: see tensors_match. */
    if (t->type != FT_COUNT && end - begin != t->elements * (int64_t)file_type_bytes(t->type))
        return "the length of its data does not match its shape and dtype";
    return NULL;
}

static int by_place(const void *a, const void *b) {
    const Tensor *x = a, *y = b;
    if (x->data != y->data) return x->data < y->data ? -1 : 1;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? -1 : 1; /* empty ones first */
    return strcmp(x->name, y->name);
}

static int check_ranges(TensorFile *f, const uint8_t *data, char *error) {
    qsort(f->tensor, f->n, sizeof *f->tensor, by_place);
    const uint8_t *end = data;
    for (uint32_t i = 0; i < f->n; i++) {
        const Tensor *t = &f->tensor[i];
        if (t->data < end)
            return corrupt(f, error, "its data overlap those of another tensor", t->name);
        if (t->data > end)
            return corrupt(f, error, "bytes before its data belong to no tensor", t->name);
        end += t->bytes;
    }
    if (end == f->map.bytes + f->map.size) return 0;
    return corrupt(f, error, "bytes at its end belong to no tensor", NULL);
}

static int read_header(TensorFile *f, char *error) {
    uint64_t length;
    memcpy(&length, f->map.bytes, sizeof length);
    if (length > f->map.size - 8 || length > (uint64_t)100 << 20)
        return corrupt(f, error, "the header is longer than the file or 100 MiB", NULL);
    json_error_t fault;
    json_t *root =
        json_loadb((const char *)f->map.bytes + 8, length, JSON_REJECT_DUPLICATES, &fault);
    if (!root || !json_is_object(root)) {
        json_decref(root);
        return corrupt(f, error, root ? "the header is not an object" : fault.text, NULL);
    }
    f->arena = arena_new();
    f->tensor = arena_array(f->arena, Tensor, json_object_size(root) + 1);
    const char *key;
    json_t *entry;
    int code = 0;
    json_object_foreach(root, key, entry) {
        if (!strcmp(key, "__metadata__")) continue;
        Tensor *t = &f->tensor[f->n++];
        t->name = arena_strdup(f->arena, key);
        const char *what = read_tensor(f, 8 + length, entry, t);
        if (what) {
            code = corrupt(f, error, what, t->name);
            break;
        }
    }
    json_decref(root);
    return code ? code : check_ranges(f, f->map.bytes + 8 + length, error);
}

int tensors_open(TensorFile *f, const char *path, char *error) {
    *f = (TensorFile){0};
    int code = mapped_open(&f->map, path, "", error);
    if (!code && f->map.size < 8) code = corrupt(f, error, "shorter than 8 bytes", NULL);
    if (!code) code = read_header(f, error);
    if (!code) mapped_in_parts(&f->map);
    if (code) tensors_close(f);
    return code;
}

void tensors_close(TensorFile *f) {
    mapped_close(&f->map);
    arena_free(f->arena);
    *f = (TensorFile){0};
}
