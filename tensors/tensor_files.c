/* What a writer adds to the data: which tensors go into which file, each file's header, the index
 * of several files, and config.json.
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

static const char *const type_name[FT_COUNT] = {
    [FT_F64] = "F64", [FT_F32] = "F32", [FT_F16] = "F16", [FT_BF16] = "BF16"};
/* The names of types in config.json. */
static const char *const torch_name[FT_COUNT] = {
    [FT_F64] = "float64", [FT_F32] = "float32", [FT_F16] = "float16", [FT_BF16] = "bfloat16"};

const char *tensor_impossible_name(const TensorPlan *tensor, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        json_t *name = json_string(tensor[i].name);
        json_decref(name);
        if (!name || !strcmp(tensor[i].name, "__metadata__")) return tensor[i].name;
    }
    return NULL;
}

static void measure_tensors(TensorPlan *tensor, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        uint64_t elements = 1;
        for (int k = 0; k < tensor[i].rank; k++) elements *= (uint64_t)tensor[i].dim[k];
        tensor[i].bytes = elements * file_type_bytes(tensor[i].type);
    }
}

/* The number of files; first: [n + 1] the first tensor of each, or NULL. */
static uint32_t split_files(const TensorPlan *tensor, uint32_t n, uint64_t limit, uint32_t *first) {
    uint32_t files = 0;
    uint64_t room = 0;
    for (uint32_t i = 0; i < n || !files; i++) {
        uint64_t bytes = n ? tensor[i].bytes : 0;
        if (!files || bytes > room) {
            if (first) first[files] = i;
            files++;
            room = limit;
        }
        room -= MIN(bytes, room);
    }
    return files;
}

uint32_t tensor_files(TensorPlan *tensor, uint32_t n, uint64_t limit) {
    measure_tensors(tensor, n);
    return split_files(tensor, n, limit, NULL);
}

/* The header's length and text, padded with spaces so that the data start at a multiple of 8.
 * Offsets of the tensors become offsets in the file. */
static char *header_text(TensorPlan *tensor, uint32_t n, size_t *length) {
    json_t *root = json_object();
    json_object_set_new(root, "__metadata__", json_pack("{s:s}", "format", "pt"));
    uint64_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        TensorPlan *t = &tensor[i];
        json_t *shape = json_array();
        for (int k = 0; k < t->rank; k++) json_array_append_new(shape, json_integer(t->dim[k]));
        json_object_set_new(root, t->name,
                            json_pack("{s:s, s:o, s:[I, I]}", "dtype", type_name[t->type], "shape",
                                      shape, "data_offsets", (json_int_t)at,
                                      (json_int_t)(at + t->bytes)));
        t->offset = at;
        at += t->bytes;
    }
    size_t need = json_dumpb(root, NULL, 0, JSON_COMPACT);
    uint64_t padded = align_up(need, 8);
    char *text = malloc(padded + 8);
    if (text) {
        memcpy(text, &padded, sizeof padded);
        json_dumpb(root, text + 8, need, JSON_COMPACT);
        memset(text + 8 + need, ' ', padded - need);
    }
    json_decref(root);
    *length = padded + 8;
    for (uint32_t i = 0; i < n; i++) tensor[i].offset += *length;
    return text;
}

int tensor_pieces(TensorPlan *tensor, uint32_t n, uint64_t limit, TensorPiece **out,
                  uint32_t *n_out) {
    measure_tensors(tensor, n);
    uint32_t *first = calloc(n + 1, sizeof *first);
    uint32_t files = first ? split_files(tensor, n, limit, first) : 0;
    TensorPiece *piece = calloc(files + 1, sizeof *piece);
    bool enough = first && piece;
    *out = piece;
    *n_out = 0;
    for (uint32_t i = 0; enough && i < files; i++) {
        TensorPiece *p = &piece[(*n_out)++];
        uint32_t end = i + 1 < files ? first[i + 1] : n;
        *p = (TensorPiece){.first = first[i], .n = end - first[i], .fd = -1};
        if (files == 1)
            snprintf(p->name, sizeof p->name, WEIGHTS_FILE);
        else
            snprintf(p->name, sizeof p->name, "model-%05u-of-%05u.safetensors", i + 1, files);
        p->header = header_text(&tensor[p->first], p->n, &p->length);
        enough = p->header != NULL;
        p->size = p->length;
        for (uint32_t k = p->first; k < end; k++) p->size += tensor[k].bytes, tensor[k].piece = i;
    }
    free(first);
    return enough ? 0 : EXIT_ENVIRONMENT;
}

char *tensor_index_text(const TensorPlan *tensor, const TensorPiece *piece, uint32_t n_piece) {
    json_t *map = json_object();
    uint64_t total = 0;
    for (uint32_t i = 0; i < n_piece; i++)
        for (uint32_t k = piece[i].first; k < piece[i].first + piece[i].n; k++) {
            json_object_set_new(map, tensor[k].name, json_string(piece[i].name));
            total += tensor[k].bytes;
        }
    json_t *root =
        json_pack("{s:{s:I}, s:o}", "metadata", "total_size", (json_int_t)total, "weight_map", map);
    char *text = json_dumps(root, JSON_INDENT(2));
    json_decref(root);
    return text;
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

bool writer_makes(const char *name) {
    return is_piece(name) || !strcmp(name, WEIGHTS_FILE) || !strcmp(name, INDEX_FILE) ||
           !strcmp(name, CONFIG_FILE);
}
