/* Weights to the files of --save: for fsdp-run, which gathers them from shards, and for fsdpc,
 * which reads them from a checkpoint. Elements come in any order, in pieces of any size; each is
 * converted and put wherever the files have it: in a tensor of its weight's shape, transposed, in a
 * tensor that joins several weights, or in one of several that hold the weight.
 *
 * Gathered pieces are short in the files, so they are written through a mapping. fsdpc writes long
 * ones, within little address space, and does without.
 */
#include <stdlib.h>
#include <string.h>

#include "checkpoint.h"

int ck_weights_plan(CkWeights *w, const CkContents *c, const bool *left_out, const SaveForm *form,
                    Arena *a, const char **twice, char *error) {
    *w = (CkWeights){.c = *c, .form = form, .mapped = UINT32_MAX};
    w->c.tensor = arena_array(a, CkTensor, c->n_tensor + 1);
    memcpy(w->c.tensor, c->tensor, c->n_tensor * sizeof *c->tensor);
    const char *odd = ck_saved_entries(&w->c, left_out, form->type, a);
    bool again;
    const char *bad = tensor_bad_name(&w->c.entry->name, sizeof *w->c.entry, w->c.n_entry, &again);
    *twice = again ? bad : NULL;
    if (!odd) return 0;
    return fail_with(error, EXIT_CORRUPT, "the parts of %.100s disagree on its shape", odd);
}

int ck_weights_size(const CkWeights *w, uint64_t *bytes, uint64_t *largest, char *error) {
    uint32_t n = 0;
    Arena *a = arena_new();
    TensorPiece *piece = tensor_layout(w->c.entry, w->c.n_entry, w->form, a, &n);
    *bytes = *largest = 0;
    for (uint32_t i = 0; i < n; i++) {
        *bytes += piece[i].size;
        *largest = MAX(*largest, piece[i].size);
    }
    arena_free(a);
    if (n <= WRITER_FILES) return 0;
    return fail_with(error, EXIT_USER,
                     "%llu bytes in files of at most %llu would be more than %d files\n"
                     "help: use a larger --max-file",
                     (unsigned long long)*bytes, (unsigned long long)w->form->max_file,
                     WRITER_FILES);
}

int ck_weights_open(CkWeights *w, char *error) {
    return writer_open(&w->writer, w->form, w->c.entry, w->c.n_entry, error);
}

/* n elements as the file has them, or NULL if there is no memory. */
static const void *convert_elements(CkWeights *w, FileType have, FileType want, int64_t n,
                                    const char *from) {
    float value[4096];
    uint64_t bytes = (uint64_t)n * file_type_bytes(want);
    if (have == want) return from;
    if (bytes > w->room) {
        free(w->converted);
        w->converted = malloc(bytes);
        w->room = w->converted ? bytes : 0;
    }
    for (int64_t done = 0; done < n && w->converted; done += (int64_t)ARRAY_LEN(value)) {
        int64_t count = MIN(n - done, (int64_t)ARRAY_LEN(value));
        load_floats(from + done * file_type_bytes(have), have, count, value);
        store_elements(w->converted + done * file_type_bytes(want), want, value, count);
    }
    return w->converted;
}

static int map_entry(CkWeights *w, uint32_t entry, char *error) {
    if (w->mapped == entry) return 0;
    writer_unmap(&w->writer);
    w->mapped = entry;
    return writer_map(&w->writer, entry, &w->at, error);
}

int ck_weights_put(CkWeights *w, uint32_t tensor, FileType type, int64_t first, int64_t n,
                   const void *from, char *error) {
    const CkTensor *t = &w->c.tensor[tensor];
    if (type == FT_COUNT) type = file_type_of((int)w->c.vector[t->vector].dtype);
    int code = 0;
    for (uint32_t k = 0; k < t->n_placed && !code; k++) {
        const StoredPart *s = &t->placed[k].part;
        uint32_t entry = t->placed[k].entry;
        FileType want = w->c.entry[entry].type;
        int64_t at = first, count = part_overlap(s, &at, n);
        if (!count) continue;
        const char *piece = (const char *)from + (s->first + at - first) * file_type_bytes(type);
        const void *bytes = convert_elements(w, type, want, count, piece);
        if (!bytes) return fail_with(error, EXIT_ENVIRONMENT, "no memory for the weights");
        if (!w->maps) {
            code = writer_put(&w->writer, entry, s, at, count, bytes, error);
            continue;
        }
        code = map_entry(w, entry, error);
        if (!code) part_store(s, file_type_bytes(want), at, count, bytes, w->at);
    }
    return code;
}

int ck_weights_close(CkWeights *w, int code, char *error) {
    if (code)
        writer_abandon(&w->writer);
    else
        code = writer_commit(&w->writer, error);
    free(w->converted);
    w->converted = NULL;
    return code;
}
