/* What files of tensors have besides the data: which tensors go into which file, each file's
 * header, the index of several files, and config.json. Saves, converted weights and checkpoints of
 * form full all have these.
 *
 * A file takes tensors in their order until the next one would exceed the limit; a tensor larger
 * than the limit gets a file to itself. A single file is named model.safetensors; several are named
 * model-00001-of-00003.safetensors with an index, model.safetensors.index.json, like those of
 * Hugging Face.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "tensors.h"

/* The names of types in config.json. */
static const char *const torch_name[FT_COUNT] = {
    [FT_F64] = "float64", [FT_F32] = "float32", [FT_F16] = "float16", [FT_BF16] = "bfloat16"};

const char *tensor_bad_name(const char *const *name, size_t stride, uint32_t n, bool *twice) {
    json_t *seen = json_object();
    const char *bad = NULL;
    *twice = false;
    for (uint32_t i = 0; i < n && !bad; i++) {
        const char *one = *(const char *const *)(const void *)((const char *)name + i * stride);
        *twice = json_object_get(seen, one) != NULL;
        if (!strcmp(one, "__metadata__") || *twice || json_object_set_new(seen, one, json_true()))
            bad = one;
    }
    json_decref(seen);
    return bad;
}

/* ---- files */

static void measure_tensors(TensorPlan *tensor, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        tensor[i].bytes = file_type_bytes(tensor[i].type);
        for (int k = 0; k < tensor[i].rank; k++) tensor[i].bytes *= (uint64_t)tensor[i].dim[k];
    }
}

uint32_t tensor_pieces(TensorPlan *tensor, uint32_t first, uint32_t end, const char *kind,
                       uint64_t limit, TensorPiece *out) {
    uint32_t n = 0;
    measure_tensors(tensor + first, end - first);
    for (uint32_t i = first, next; i < end || !n; i = next) {
        uint64_t bytes = 0;
        for (next = i; next < end && (next == i || tensor[next].with_previous); next++)
            bytes += tensor[next].bytes;
        if (!n || bytes > limit - MIN(out[n - 1].size, limit)) out[n++] = (TensorPiece){.first = i};
        TensorPiece *p = &out[n - 1];
        for (uint32_t k = i; k < next; k++) {
            tensor[k].piece = n - 1;
            tensor[k].offset = p->size;
            p->size += tensor[k].bytes;
        }
        p->n = next - p->first;
    }
    snprintf(out->name, sizeof out->name, "%s.safetensors", kind);
    for (uint32_t i = 0; i < n && n > 1; i++)
        snprintf(out[i].name, sizeof out[i].name, "%s-%05u-of-%05u.safetensors", kind, i + 1, n);
    return n;
}

/* ---- texts */

json_t *tensor_integers(const int64_t *x, int n) {
    json_t *list = json_array();
    for (int k = 0; k < n; k++) json_array_append_new(list, json_integer(x[k]));
    return list;
}

json_t *tensor_json(FileType type, int32_t rank, const int64_t *dim, uint64_t at, uint64_t bytes) {
    return json_pack("{s:s, s:o, s:[I, I]}", "dtype", file_type_name[type], "shape",
                     tensor_integers(dim, rank), "data_offsets", (json_int_t)at,
                     (json_int_t)(at + bytes));
}

char *tensor_header_text(json_t *root, uint64_t multiple, Arena *a, uint64_t *bytes) {
    size_t need = json_dumpb(root, NULL, 0, JSON_COMPACT);
    *bytes = align_up(need + 8, multiple);
    char *header = arena_alloc(a, *bytes);
    uint64_t length = *bytes - 8;
    memcpy(header, &length, sizeof length);
    json_dumpb(root, header + 8, need, JSON_COMPACT);
    memset(header + 8 + need, ' ', length - need);
    json_decref(root);
    return header;
}

char *tensor_header(const TensorPlan *tensor, const TensorPiece *p, uint64_t multiple, Arena *a,
                    uint64_t *bytes) {
    json_t *root = json_object();
    json_object_set_new(root, "__metadata__", json_pack("{s:s}", "format", "pt"));
    for (const TensorPlan *t = tensor + p->first; t < tensor + p->first + p->n; t++)
        json_object_set_new(root, t->name,
                            tensor_json(t->type, t->rank, t->dim, t->offset, t->bytes));
    return tensor_header_text(root, multiple, a, bytes);
}

char *tensor_index_text(const TensorPlan *tensor, const TensorPiece *piece, uint32_t n_piece,
                        bool sorted) {
    json_t *map = json_object();
    uint64_t total = 0;
    for (uint32_t i = 0; i < n_piece; i++)
        for (uint32_t k = piece[i].first; k < piece[i].first + piece[i].n; k++) {
            json_object_set_new(map, tensor[k].name, json_string(piece[i].name));
            total += tensor[k].bytes;
        }
    json_t *root =
        json_pack("{s:{s:I}, s:o}", "metadata", "total_size", (json_int_t)total, "weight_map", map);
    char *text = json_dumps(root, JSON_INDENT(2) | (sorted ? JSON_SORT_KEYS : 0));
    json_decref(root);
    return text;
}

TensorPiece *tensor_layout(TensorPlan *tensor, uint32_t n, const SaveForm *form, Arena *a,
                           uint32_t *n_piece) {
    TensorPiece *piece = arena_array(a, TensorPiece, n + 1);
    uint64_t limit = form->folder ? form->max_file : UINT64_MAX;
    *n_piece = tensor_pieces(tensor, 0, n, "model", limit, piece);
    for (uint32_t i = 0; i < *n_piece; i++) {
        Arena *scratch = arena_child(a);
        tensor_header(tensor, &piece[i], SAVE_ALIGN, scratch, &piece[i].header);
        piece[i].size += piece[i].header;
        arena_free(scratch);
    }
    return piece;
}

static size_t without_space(const char *text, size_t n) {
    while (n && strchr(" \n", text[n - 1])) n--;
    return n;
}

char *tensor_config_text(const char *config, FileType type) {
    size_t n = without_space(config, strlen(config));
    if (n && config[n - 1] == '}') n = without_space(config, n - 1);
    const char *comma = n && config[n - 1] == '{' ? "" : ",";
    char *text = NULL;
    if (asprintf(&text, "%.*s%s\n  \"torch_dtype\": \"%s\"\n}\n", (int)n, config, comma,
                 torch_name[type]) < 0)
        return NULL;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    bool good = json_is_object(root);
    json_decref(root);
    if (!good) free(text);
    return good ? text : NULL;
}

static bool is_piece(const char *name) {
    unsigned i, n;
    int end = 0;
    return sscanf(name, "model-%5u-of-%5u.safetensors%n", &i, &n, &end) == 2 && end && !name[end];
}

const char *const companion_names[] = {"tokenizer.json",
                                       "tokenizer_config.json",
                                       "special_tokens_map.json",
                                       "added_tokens.json",
                                       "vocab.json",
                                       "vocab.txt",
                                       "merges.txt",
                                       "tokenizer.model",
                                       "spiece.model",
                                       "chat_template.jinja",
                                       "generation_config.json",
                                       "preprocessor_config.json",
                                       NULL};

bool writer_copies(const char *name) {
    for (int i = 0; companion_names[i]; i++)
        if (!strcmp(name, companion_names[i])) return true;
    return false;
}

bool writer_makes(const char *name) {
    return is_piece(name) || writer_copies(name) || !strcmp(name, WEIGHTS_FILE) ||
           !strcmp(name, INDEX_FILE) || !strcmp(name, CONFIG_FILE);
}
