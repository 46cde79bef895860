/* Headers of files: what readers of safetensors find in front of the data. In the files of a rank
 * each tensor is a box of a whole tensor, with its place in DCP_SHARDING_INFO; in files of form
 * full tensors are whole.
 */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "checkpoint.h"

const char *ck_header_type(uint32_t dtype) {
    switch ((DType)dtype) {
    case DT_F32: return "F32";
    case DT_BF16: return "BF16";
    case DT_F16: return "F16";
    case DT_F64: return "F64";
    case DT_I32: return "I32";
    case DT_I64: return "I64";
    case DT_U8: return "U8";
    case DT_NONE:
    case DT_F8E4M3: /* only sent */
    case DT_I8:
    case DT_TOKEN:
    case DT_COUNT: break;
    }
    return NULL;
}

static json_t *json_integers(const int64_t *x, int n) {
    json_t *list = json_array();
    for (int i = 0; i < n; i++) json_array_append_new(list, json_integer(x[i]));
    return list;
}

/* The object as text, with its length in front, padded with spaces so that the data begin at a
 * multiple of CK_ALIGN. Frees the object. */
static char *header_of(json_t *root, Arena *a, uint64_t *bytes) {
    size_t need = json_dumpb(root, NULL, 0, JSON_COMPACT);
    *bytes = align_up(need + 8, CK_ALIGN);
    char *header = arena_alloc(a, *bytes);
    uint64_t length = *bytes - 8;
    memcpy(header, &length, sizeof length);
    json_dumpb(root, header + 8, need, JSON_COMPACT);
    memset(header + 8 + need, ' ', length - need);
    json_decref(root);
    return header;
}

static json_t *tensor_entry(uint32_t dtype, int32_t rank, const int64_t *shape, uint64_t at,
                            uint64_t bytes) {
    const char *type = ck_header_type(dtype);
    CHECK(type);
    return json_pack("{s:s, s:o, s:[I, I]}", "dtype", type, "shape", json_integers(shape, rank),
                     "data_offsets", (json_int_t)at, (json_int_t)(at + bytes));
}

char *ck_header(const CkContents *c, const CkPiece *piece, uint32_t n, int32_t class, Arena *a,
                uint64_t *bytes) {
    json_t *root = json_object(), *places = json_object(), *meta = json_object();
    json_object_set_new(root, "__metadata__", meta);
    for (uint32_t i = 0; i < n; i++) {
        const CkPiece *p = &piece[i];
        const CkTensor *t = &c->tensor[p->tensor];
        if (p->class != class) continue;
        json_object_set_new(places, t->name,
                            json_pack("{s:o}", "saved_offsets", json_integers(p->low, t->rank)));
        json_object_set_new(
            root, t->name,
            tensor_entry(c->vector[t->vector].dtype, t->rank, p->extent, p->at, p->bytes));
    }
    char *text = json_dumps(places, JSON_COMPACT);
    json_object_set_new(meta, "format", json_string("pt"));
    json_object_set_new(meta, "DCP_SHARDING_INFO", json_string(text ? text : ""));
    free(text);
    json_decref(places);
    return header_of(root, a, bytes);
}

char *ck_full_file_header(const CkContents *c, const CkFullFile *w, Arena *a, uint64_t *bytes) {
    json_t *root = json_object();
    json_object_set_new(root, "__metadata__", json_pack("{s:s}", "format", "pt"));
    for (uint32_t i = w->first; i < w->first + w->n; i++) {
        const CkEntry *y = &c->entry[i];
        uint64_t size = (uint64_t)y->elements * dtype_bytes((int)y->dtype);
        json_object_set_new(root, y->name, tensor_entry(y->dtype, y->rank, y->dim, y->at, size));
    }
    return header_of(root, a, bytes);
}
