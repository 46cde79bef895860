/* fsdpc convert of a checkpoint: writes its weights to a .safetensors file or a folder of Hugging
 * Face's layout, with the same bytes as `fsdp-run --save`.
 *
 * Tensors are written in the order of --save, a piece at a time. A tensor that is stored transposed
 * is read in panels of whole rows, since a column of a panel is contiguous in the output. A tensor
 * that joins parts of several weights is written through a mapping.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver_files.h"

enum { PANEL = 6 << 20 }; /* elements */

typedef struct Export {
    Checkpoint *from;
    const CkContents *c;
    TensorWriter writer;
    TensorPlan *tensor;
    const CkTensor **source; /* by output tensor; NULL: joined from parts of several */
    uint32_t n;
    const CkTensor **weight; /* [n_weight], in the order of --save */
    uint32_t n_weight;
    char *in, *out; /* PANEL elements */
    char *error;
} Export;

/* ---- what is written */

static int by_place(const void *a, const void *b) {
    const CkTensor *x = *(const CkTensor *const *)a, *y = *(const CkTensor *const *)b;
    return x->saved_at < y->saved_at ? -1 : x->saved_at > y->saved_at;
}

static TensorPlan *add_tensor(Export *e, const CkTensor *s, FileType type) {
    int dtype = (int)e->c->vector[s->vector].dtype;
    TensorPlan *t = &e->tensor[e->n++];
    t->type = type == FT_COUNT ? file_type_of(dtype) : type;
    return t;
}

/* The index of the joined tensor of that name, or n. */
static uint32_t find_parts(const Export *e, const char *name) {
    for (uint32_t i = e->n; i-- > 0;)
        if (!e->source[i] && !strcmp(e->tensor[i].name, name)) return i;
    return e->n;
}

/* Adds a part to a joined tensor, whose type is the widest of its weights' types. */
static void plan_part(Export *e, const CkTensor *s, const CkPart *p, FileType type) {
    uint32_t i = find_parts(e, p->tensor);
    FileType own = file_type_of((int)e->c->vector[s->vector].dtype);
    if (i < e->n) {
        TensorPlan *t = &e->tensor[i];
        if (type == FT_COUNT && file_type_bytes(own) > file_type_bytes(t->type)) t->type = own;
        return;
    }
    TensorPlan *t = add_tensor(e, s, type);
    t->name = p->tensor;
    t->rank = p->rank;
    memcpy(t->dim, p->dim, sizeof p->dim);
}

static void plan_weight(Export *e, const CkTensor *s, FileType type) {
    for (uint32_t k = 0; k < s->n_part; k++) plan_part(e, s, &s->part[k], type);
    if (s->n_part) return;
    e->source[e->n] = s;
    TensorPlan *t = add_tensor(e, s, type);
    t->name = s->saved_as;
    t->rank = s->rank;
    for (int k = 0; k < s->rank; k++) t->dim[k] = s->dim[s->transposed ? s->rank - 1 - k : k];
}

static void plan_tensors(Export *e, FileType type, Arena *a) {
    const CkContents *c = e->c;
    uint32_t most = 0;
    e->weight = arena_array(a, const CkTensor *, c->n_tensor + 1);
    for (uint32_t i = 0; i < c->n_tensor; i++) {
        most += MAX(c->tensor[i].n_part, 1);
        if (*c->tensor[i].saved_as || c->tensor[i].n_part) e->weight[e->n_weight++] = &c->tensor[i];
    }
    qsort(e->weight, e->n_weight, sizeof *e->weight, by_place);
    e->tensor = arena_array(a, TensorPlan, most + 1);
    e->source = arena_array(a, const CkTensor *, most + 1);
    for (uint32_t i = 0; i < e->n_weight; i++) plan_weight(e, e->weight[i], type);
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* All parts of a tensor must agree on its shape; the manifest guarantees that they lie inside
 * it. */
static int check_parts(const Export *e) {
    for (uint32_t w = 0; w < e->n_weight; w++)
        for (uint32_t k = 0; k < e->weight[w]->n_part; k++) {
            const CkPart *p = &e->weight[w]->part[k];
            const TensorPlan *t = &e->tensor[find_parts(e, p->tensor)];
            if (t->rank == p->rank && !memcmp(t->dim, p->dim, sizeof p->dim)) continue;
            snprintf(e->error, ERROR_BYTES, "%.300s: the parts of %.100s disagree on its shape",
                     checkpoint_folder(e->from), p->tensor);
            return EXIT_CORRUPT;
        }
    return 0;
}

/* No two weights may have the same name. */
static int check_names(const Export *e, Arena *a) {
    const char **name = arena_array(a, const char *, e->n + 1);
    for (uint32_t i = 0; i < e->n; i++) name[i] = e->tensor[i].name;
    qsort(name, e->n, sizeof *name, by_name);
    for (uint32_t i = 1; i < e->n; i++) {
        if (strcmp(name[i - 1], name[i]) != 0) continue;
        snprintf(e->error, ERROR_BYTES, "%.300s: two parameters would be saved as %.100s",
                 checkpoint_folder(e->from), name[i]);
        return EXIT_USER;
    }
    return 0;
}

static int check_target(Export *e, const SaveForm *form) {
    Target target;
    uint64_t bytes = 0, largest = 0;
    uint32_t files = tensor_files(e->tensor, e->n, form->folder ? form->max_file : UINT64_MAX);
    for (uint32_t i = 0; i < e->n; i++) {
        bytes += e->tensor[i].bytes;
        largest = MAX(largest, e->tensor[i].bytes);
    }
    largest = form->folder ? MAX(largest, MIN(bytes, form->max_file)) : bytes;
    if (files > WRITER_FILES) {
        snprintf(e->error, ERROR_BYTES,
                 "%llu bytes in files of at most %llu would be more than %d files\n"
                 "help: use a larger --max-file",
                 (Llu)bytes, (Llu)form->max_file, WRITER_FILES);
        return EXIT_USER;
    }
    int code = target_find(&target, form->path, e->error);
    if (!code) code = target_check(&target, form->folder, e->error);
    return code ? code : target_room(&target, bytes, largest, 0, e->error);
}

/* ---- writing */

/* Converts n elements of a weight to the file's type, in one of the two buffers. */
static int convert_elements(Export *e, const CkTensor *s, FileType want, int64_t first, int64_t n,
                            const char **at) {
    FileType have = file_type_of((int)e->c->vector[s->vector].dtype);
    int code = checkpoint_read(e->from, (uint32_t)(s - e->c->tensor), first, n, e->in, e->error);
    *at = e->in;
    if (code || have == want) return code;
    float value[4096];
    for (int64_t done = 0; done < n; done += (int64_t)ARRAY_LEN(value)) {
        int64_t count = MIN(n - done, (int64_t)ARRAY_LEN(value));
        load_floats(e->in + done * file_type_bytes(have), have, count, value);
        store_elements(e->out + done * file_type_bytes(want), want, value, count);
    }
    *at = e->out;
    return 0;
}

/* Writes `rows` rows of `columns` elements, from row `first` on, transposed: each column is
 * contiguous in the file. */
static int put_columns(Export *e, uint32_t i, int64_t first, int64_t rows, int64_t columns,
                       const char *from) {
    const TensorPlan *t = &e->tensor[i];
    uint64_t width = file_type_bytes(t->type);
    char *column = (from == e->in ? e->out : e->in);
    int code = 0;
    for (int64_t k = 0; k < columns && !code; k++) {
        for (int64_t row = 0; row < rows; row++)
            memcpy(column + (uint64_t)row * width, from + (uint64_t)(row * columns + k) * width,
                   width);
        int64_t at = stored_element(t->dim, t->rank, e->source[i]->elements, first * columns + k);
        code = writer_put(&e->writer, i, (uint64_t)at * width, column, (uint64_t)rows * width,
                          e->error);
    }
    return code;
}

static int write_tensor(Export *e, uint32_t i) {
    const CkTensor *s = e->source[i];
    bool turned = s->transposed && s->rank > 1;
    uint64_t width = file_type_bytes(e->tensor[i].type);
    int64_t columns = turned ? s->elements / s->dim[0] : 1;
    int64_t step = MAX(PANEL / columns, 1) * columns;
    int code = 0;
    for (int64_t done = 0; done < s->elements && !code; done += step) {
        int64_t n = MIN(step, s->elements - done);
        const char *from;
        code = driver_stop ? EXIT_INTERRUPTED
                           : convert_elements(e, s, e->tensor[i].type, done, n, &from);
        if (code) break;
        if (turned)
            code = put_columns(e, i, done / columns, n / columns, columns, from);
        else
            code = writer_put(&e->writer, i, (uint64_t)done * width, from, (uint64_t)n * width,
                              e->error);
    }
    return code;
}

static int write_part(Export *e, const CkTensor *s, const CkPart *p, FileType type, char *to) {
    const StoredPart *part = &p->part;
    int code = 0;
    for (int64_t done = 0; done < part->n && !code; done += PANEL) {
        int64_t n = MIN((int64_t)PANEL, part->n - done);
        const char *from;
        code = driver_stop ? EXIT_INTERRUPTED
                           : convert_elements(e, s, type, part->first + done, n, &from);
        if (!code) part_store(part, file_type_bytes(type), done, n, from, to);
    }
    return code;
}

static int write_parts(Export *e, uint32_t i) {
    const TensorPlan *t = &e->tensor[i];
    void *to = NULL;
    int code = writer_map(&e->writer, i, &to, e->error);
    for (uint32_t w = 0; w < e->n_weight; w++)
        for (uint32_t k = 0; k < e->weight[w]->n_part && !code; k++)
            if (!strcmp(e->weight[w]->part[k].tensor, t->name))
                code = write_part(e, e->weight[w], &e->weight[w]->part[k], t->type, to);
    writer_unmap(&e->writer);
    return code;
}

static int write_all(Export *e, const SaveForm *form) {
    int code = writer_open(&e->writer, form, e->tensor, e->n, e->error);
    if (code) return code;
    for (uint32_t i = 0; i < e->n && !code; i++)
        code = e->source[i] ? write_tensor(e, i) : write_parts(e, i);
    if (code)
        writer_abandon(&e->writer);
    else
        code = writer_commit(&e->writer, e->error);
    return code;
}

int convert_out(Checkpoint *from, const CkContents *named, const SaveForm *form, char *error) {
    Arena *a = arena_new();
    Export e = {.from = from, .c = named, .error = error};
    plan_tensors(&e, form->type, a);
    int64_t most = PANEL; /* a row may be longer than a panel */
    for (uint32_t i = 0; i < e.n; i++)
        if (e.source[i] && e.source[i]->transposed && e.source[i]->rank > 1)
            most = MAX(most, e.source[i]->elements / e.source[i]->dim[0]);
    e.in = malloc((size_t)most * sizeof(double));
    e.out = malloc((size_t)most * sizeof(double));
    int code = e.in && e.out ? 0 : EXIT_ENVIRONMENT;
    if (code) snprintf(error, ERROR_BYTES, "no memory for the weights");
    if (!code) code = check_parts(&e);
    if (!code) code = check_names(&e, a);
    if (!code) code = check_target(&e, form);
    if (!code) code = write_all(&e, form);
    free(e.in);
    free(e.out);
    arena_free(a);
    return code;
}
