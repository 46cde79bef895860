/* The files of --load as one set of tensors: a .safetensors file; several with an index that says
 * which tensor is in which (model.safetensors.index.json); or a folder of Hugging Face's layout,
 * which has one or the other. All files are mapped; none of their data is read here.
 *
 * Index and files must agree: a missing file, a tensor that is not where the index says, or one
 * that the index does not list is a corrupt input, reported with its file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "tensors.h"

static int by_name(const void *a, const void *b) {
    return strcmp((*(const Tensor *const *)a)->name, (*(const Tensor *const *)b)->name);
}

const Tensor *tensor_set_find(const TensorSet *s, const char *name, uint32_t *row) {
    Tensor key = {.name = name};
    const Tensor *wanted = &key;
    const Tensor **found = bsearch(&wanted, s->tensor, s->n, sizeof *s->tensor, by_name);
    if (found) *row = (uint32_t)(found - s->tensor);
    return found ? *found : NULL;
}

static void collect(TensorSet *s) {
    for (uint32_t i = 0; i < s->n_file; i++) s->n += s->file[i].n;
    s->tensor = arena_array(s->arena, const Tensor *, s->n + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_file; i++)
        for (uint32_t k = 0; k < s->file[i].n; k++) s->tensor[n++] = &s->file[i].tensor[k];
    qsort(s->tensor, s->n, sizeof *s->tensor, by_name);
}

/* ---- an index */

typedef struct Index {
    TensorSet *set;
    const char *path, *folder; /* folder: "" or with a slash at its end */
    json_t *map;               /* tensor -> file */
    char *error;
} Index;

static int report_tensor(const Index *x, const char *tensor, const char *file, const char *what) {
    return fail_with(x->error, EXIT_CORRUPT, "%.200s: tensor %.120s, file %.120s: %s", x->path,
                     tensor, file, what);
}

/* Whether the file lies in the index's folder or below it. */
static bool stays_inside(const char *file) {
    if (!*file || *file == '/') return false;
    for (const char *part = file; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (!strncmp(part, "..", 2) && (part[2] == '/' || !part[2])) return false;
    }
    return true;
}

static int open_files(const Index *x) {
    TensorSet *s = x->set;
    const char *name;
    json_t *entry, *known = json_object();
    int code = 0;
    s->file = arena_array(s->arena, TensorFile, json_object_size(x->map) + 1);
    json_object_foreach(x->map, name, entry) {
        const char *file = json_string_value(entry);
        if (!file || !stays_inside(file)) {
            code = report_tensor(x, name, file ? file : "?",
                                 "not the name of a file next to the index");
            break;
        }
        if (json_object_get(known, file)) continue;
        json_object_set_new(known, file, json_true());
        const char *path = arena_printf(s->arena, "%s%s", x->folder, file);
        if (access(path, F_OK) && errno == ENOENT)
            code = report_tensor(x, name, file, "the file is missing");
        else if (!(code = tensors_open(&s->file[s->n_file], path, x->error)))
            s->n_file++;
        if (code) break;
    }
    json_decref(known);
    return code;
}

/* Each tensor of the index must be in its file, and each tensor of the files in the index. */
static int compare_index(const Index *x) {
    TensorSet *s = x->set;
    size_t skip = strlen(x->folder);
    const char *name;
    json_t *entry;
    for (uint32_t i = 0; i < s->n; i++) {
        const char *file = s->tensor[i]->file->map.path + skip;
        const char *said = json_string_value(json_object_get(x->map, s->tensor[i]->name));
        if (!said)
            return report_tensor(x, s->tensor[i]->name, file,
                                 "the index does not name this tensor");
        if (strcmp(said, file))
            return report_tensor(x, s->tensor[i]->name, file, "the index has it in another file");
    }
    json_object_foreach(x->map, name, entry) {
        uint32_t row;
        if (!tensor_set_find(s, name, &row))
            return report_tensor(x, name, json_string_value(entry),
                                 "the tensor is not in the file");
    }
    return 0;
}

static int open_index(TensorSet *s, const char *path, char *error) {
    MappedFile text;
    json_error_t fault;
    int code = mapped_open(&text, path, "", error);
    if (code) return code;
    json_t *root = json_loadb((const char *)text.bytes, text.size, JSON_REJECT_DUPLICATES, &fault);
    mapped_close(&text);
    const char *slash = strrchr(path, '/');
    Index x = {.set = s,
               .path = path,
               .folder = arena_strndup(s->arena, path, slash ? (size_t)(slash - path) + 1 : 0),
               .map = json_object_get(root, "weight_map"),
               .error = error};
    if (json_is_object(x.map)) {
        code = open_files(&x);
        if (!code) collect(s);
        if (!code) code = compare_index(&x);
    } else {
        code = fail_with(error, EXIT_CORRUPT, "%.200s: not an index of safetensors files: %s", path,
                         root ? "it has no `weight_map`" : fault.text);
    }
    json_decref(root);
    return code;
}

/* ---- what the path is */

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

/* The file of a folder to read, chosen as transformers does. */
static const char *file_inside(TensorSet *s, const char *folder) {
    static const char *const known[] = {WEIGHTS_FILE, INDEX_FILE};
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        const char *path =
            arena_printf(s->arena, "%s%s%s", folder, ends_with(folder, "/") ? "" : "/", known[i]);
        if (!access(path, F_OK)) return path;
    }
    return NULL;
}

const char *tensor_set_folder(Arena *a, const char *path) {
    struct stat st;
    if (!stat(path, &st) && S_ISDIR(st.st_mode))
        return ends_with(path, "/") ? path : arena_printf(a, "%s/", path);
    const char *slash = strrchr(path, '/');
    if (!ends_with(path, ".json")) return NULL;
    return slash ? arena_strndup(a, path, (size_t)(slash - path) + 1) : "./";
}

static int open_path(TensorSet *s, const char *path, char *error) {
    struct stat st;
    if (!stat(path, &st) && S_ISDIR(st.st_mode)) {
        const char *file = file_inside(s, path);
        if (!file)
            return fail_with(
                error, EXIT_ENVIRONMENT,
                "cannot load %s: the folder has neither " WEIGHTS_FILE " nor " INDEX_FILE "\n"
                "help: files of several parts need their index, and weights in other formats, "
                "such as pytorch_model.bin, have to be saved as safetensors first",
                path);
        path = file;
    }
    if (ends_with(path, ".json")) return open_index(s, path, error);
    s->file = arena_array(s->arena, TensorFile, 1);
    int code = tensors_open(s->file, path, error);
    if (code) return code;
    s->n_file = 1;
    collect(s);
    return 0;
}

int tensor_set_open(TensorSet *s, const char *path, char *error) {
    *s = (TensorSet){.path = path, .arena = arena_new()};
    s->folder = tensor_set_folder(s->arena, path);
    int code = open_path(s, path, error);
    if (code) tensor_set_close(s);
    return code;
}

void tensor_set_close(TensorSet *s) {
    for (uint32_t i = 0; i < s->n_file; i++) tensors_close(&s->file[i]);
    arena_free(s->arena);
    *s = (TensorSet){0};
}
