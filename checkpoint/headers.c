/* Headers of a rank's files: what readers of safetensors find in front of the data. Each tensor in
 * them is a box of a whole tensor, with its place in DCP_SHARDING_INFO.
 */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "checkpoint.h"

static json_t *json_integers(const int64_t *x, int n) {
    json_t *list = json_array();
    for (int i = 0; i < n; i++) json_array_append_new(list, json_integer(x[i]));
    return list;
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
        FileType type = file_type_of((int)c->vector[t->vector].dtype);
        json_object_set_new(root, t->name, tensor_json(type, t->rank, p->extent, p->at, p->bytes));
    }
    char *text = json_dumps(places, JSON_COMPACT);
    json_object_set_new(meta, "format", json_string("pt"));
    json_object_set_new(meta, "DCP_SHARDING_INFO", json_string(text ? text : ""));
    free(text);
    json_decref(places);
    return tensor_header_text(root, CK_ALIGN, a, bytes);
}
