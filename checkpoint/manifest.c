/* The manifest: the contents of a checkpoint, as JSON that begins with a hash of everything after
 * it:
 *
 *   {"xxh3":"0123456789abcdef",
 *   "format":"fsdpc checkpoint",...}
 *
 * Hashes and seeds are hexadecimal text, since JSON readers round large numbers. A manifest with a
 * correct hash was written by this program, so it is only checked for what a later format or a bug
 * could bring: sizes and ranges that the code computes with.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "checkpoint.h"

#define FORMAT "fsdpc checkpoint"
#define FIRST_LINE "{\"xxh3\":\"0123456789abcdef\",\n"
enum { FIRST_BYTES = sizeof FIRST_LINE - 1, MOST_RANKS = 1 << 20 };

static void first_line(char out[FIRST_BYTES + 1], uint64_t hash) {
    snprintf(out, FIRST_BYTES + 1, "{\"xxh3\":\"%016" PRIx64 "\",\n", hash);
}

/* ---- writing */

static json_t *json_hex(uint64_t x) {
    char text[20];
    snprintf(text, sizeof text, "%016" PRIx64, x);
    return json_string(text);
}

static json_t *part_entry(const CkPart *p) {
    const StoredPart *s = &p->part;
    return json_pack("{s:s, s:o, s:I, s:I, s:I, s:o, s:o}", "tensor", p->tensor, "shape",
                     tensor_integers(p->dim, p->rank), "first", (json_int_t)s->first, "elements",
                     (json_int_t)s->n, "offset", (json_int_t)s->offset, "dims",
                     tensor_integers(s->dim, s->rank), "strides",
                     tensor_integers(s->stride, s->rank));
}

static json_t *tensor_entry(const CkTensor *t) {
    json_t *shape = tensor_integers(t->dim, t->rank), *parts = json_array();
    for (uint32_t k = 0; k < t->n_part; k++) json_array_append_new(parts, part_entry(&t->part[k]));
    json_t *o = json_pack("{s:s, s:o, s:I}", "name", t->name, "shape", shape, "offset",
                          (json_int_t)t->offset);
    if (t->chunk) json_object_set_new(o, "chunk", json_integer(t->chunk));
    if (t->cut.axes)
        json_object_set_new(o, "cut",
                            json_pack("{s:I, s:I, s:I}", "axis", (json_int_t)t->cut.dim, "runs",
                                      (json_int_t)t->cut.outer, "length", (json_int_t)t->cut.size));
    if (*t->saved_as) json_object_set_new(o, "saved_as", json_string(t->saved_as));
    if (*t->saved_as || t->n_part) json_object_set_new(o, "saved_at", json_integer(t->saved_at));
    if (t->n_part) json_object_set(o, "saved_in", parts);
    json_decref(parts);
    if (t->transposed) json_object_set_new(o, "transposed", json_true());
    return o;
}

static json_t *vector_entry(const CkContents *c, const CkVector *v) {
    json_t *tensors = json_array();
    for (uint32_t i = v->first; i < v->first + v->n; i++)
        json_array_append_new(tensors, tensor_entry(&c->tensor[i]));
    const Layout *l = &v->layout;
    json_t *o =
        json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:o}", "role", word_of(&words_StateRole, v->role),
                  "dtype", word_of(&words_DType, v->dtype), "split", (json_int_t)l->split,
                  "unpadded", (json_int_t)l->unpadded, "padded", (json_int_t)l->padded, "shard",
                  (json_int_t)l->shard, "tensors", tensors);
    if (l->cut) json_object_set_new(o, "cut", json_integer((json_int_t)l->cut));
    if (l->staged) {
        json_object_set_new(o, "staged", json_integer((json_int_t)l->staged));
        json_object_set_new(o, "place", json_integer((json_int_t)l->place));
    }
    return o;
}

static json_t *file_entry(const CkFile *f) {
    json_t *blocks = json_array();
    for (uint64_t k = 0; k < ck_blocks(f); k++)
        json_array_append_new(blocks, json_hex(f->block[k]));
    return json_pack("{s:s, s:I, s:o}", "name", f->name, "size", (json_int_t)f->size, "blocks",
                     blocks);
}

static json_t *mesh_entry(const Mesh *m) {
    json_t *axes = json_array();
    for (int a = 0; a < m->n; a++)
        json_array_append_new(
            axes, json_pack("[I, I]", (json_int_t)m->axis[a].role, (json_int_t)m->axis[a].size));
    return axes;
}

static json_t *json_number(double x) { return isfinite(x) ? json_real(x) : json_null(); }

static json_t *full_file_entry(const TensorPiece *w) {
    return json_pack("{s:s, s:I}", "name", w->name, "size", (json_int_t)w->size);
}

/* Version 1 has no chunks, version 2 only chunks of rows, version 3 no form full, version 4 no
 * transposed or joined tensors, version 5 no tensors in parts (TensorCut), version 6 no padding in
 * them, version 7 no stages. */
static int oldest_reader(const CkContents *c) {
    bool full = c->form == CHECKPOINT_FULL;
    int oldest = full && c->as_saved && !ck_stores_as_in_model(c) ? 5 : full ? 4 : 1;
    for (uint32_t i = 0; i < c->n_vector; i++)
        if (c->vector[i].layout.staged) return 8;
    for (uint32_t i = 0; i < c->n_tensor; i++) {
        const CkTensor *t = &c->tensor[i];
        bool rows = ck_axis(&c->vector[t->vector].layout, t) == 0;
        if (t->cut.axes) oldest = MAX(oldest, t->cut.size % t->parts ? 7 : 6);
        if (t->chunk) oldest = MAX(oldest, rows ? 2 : 3);
    }
    return oldest;
}

static json_t *contents_entry(const CkContents *c) {
    json_t *settings = json_object(), *vectors = json_array(), *files = json_array();
    json_t *scale = NULL, *wholes = json_array();
    for (uint32_t i = 0; i < c->n_setting; i++)
        json_object_set_new(settings, c->setting[i].key, json_string(c->setting[i].value));
    for (uint32_t i = 0; i < c->n_vector; i++)
        json_array_append_new(vectors, vector_entry(c, &c->vector[i]));
    for (uint32_t i = 0; i < c->n_file; i++) json_array_append_new(files, file_entry(&c->file[i]));
    for (uint32_t i = 0; i < c->n_full_file; i++)
        json_array_append_new(wholes, full_file_entry(&c->full_file[i]));
    if (c->loss_scale.scale > 0)
        scale =
            json_pack("{s:f, s:I, s:I}", "scale", c->loss_scale.scale, "good",
                      (json_int_t)c->loss_scale.good, "skipped", (json_int_t)c->loss_scale.skipped);
    json_t *o = json_pack(
        "{s:s, s:i, s:i, s:I, s:I, s:b, s:o, s:o, s:o*, s:o, s:o, s:o, s:o, s:o*, s:o, s:o, s:o}",
        "format", FORMAT, "version", CK_VERSION, "oldest_reader", oldest_reader(c), "step",
        (json_int_t)c->step, "samples", (json_int_t)c->samples, "evaluation_due", c->evaluation_due,
        "evaluation", c->has_evaluation ? json_number(c->evaluation) : json_null(),
        "best_evaluation", json_number(c->best_evaluation), "loss_scale", scale, "run",
        json_hex(c->run), "plan", json_hex(c->plan), "rules", json_hex(c->rules), "settings",
        settings, "config", json_string(c->config), "mesh", mesh_entry(&c->mesh), "vectors",
        vectors, "files", files);
    if (c->form == CHECKPOINT_FULL) {
        json_object_set_new(o, "form", json_string(word_of(&words_CheckpointForm, c->form)));
        json_object_set_new(o, "max_file", json_integer((json_int_t)c->most_file));
        json_object_set(o, "wholes", wholes);
        if (!c->stores_as_in_model) json_object_set_new(o, "turns", json_true());
    }
    if (!scale && c->loss_scale.skipped)
        json_object_set_new(o, "skipped", json_integer((json_int_t)c->loss_scale.skipped));
    json_decref(wholes);
    return o;
}

char *ck_manifest_text(const CkContents *c, size_t *bytes) {
    json_t *o = contents_entry(c);
    char *rest = json_dumps(o, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    json_decref(o);
    if (!rest) return NULL;
    size_t n = strlen(rest);
    char *text = malloc(FIRST_BYTES + n + 1);
    if (text) {
        rest[n] = '\n'; /* replaces the NUL; the brace at the start is not hashed */
        first_line(text, hash_bytes(rest + 1, n, 0));
        memcpy(text + FIRST_BYTES, rest + 1, n);
        text[FIRST_BYTES + n] = 0;
        *bytes = FIRST_BYTES + n;
    }
    free(rest);
    return text;
}

/* ---- reading */

typedef struct ManifestReader {
    CkContents *c;
    Arena *a;
    const char *path;
    char *error;
    bool bad;
} ManifestReader;

static int corrupt_manifest(ManifestReader *p, const char *what) {
    return fail_with(p->error, EXIT_CORRUPT, "%.300s: %s", p->path, what);
}

/* Marks the manifest as bad; 0. */
static int32_t refuse(ManifestReader *p) {
    p->bad = true;
    return 0;
}

static int64_t read_integer(ManifestReader *p, const json_t *o, const char *key, int64_t low,
                            int64_t high) {
    json_t *x = json_object_get(o, key);
    int64_t value = json_integer_value(x);
    if (json_is_integer(x) && value >= low && value <= high) return value;
    p->bad = true;
    return low;
}

static const char *read_string(ManifestReader *p, const json_t *o, const char *key) {
    const char *text = json_string_value(json_object_get(o, key));
    if (!text) p->bad = true;
    return arena_strdup(p->a, text ? text : "");
}

static uint64_t hash_of(ManifestReader *p, const json_t *x) {
    const char *text = json_string_value(x);
    if (text && strlen(text) == 16 && strspn(text, "0123456789abcdef") == 16)
        return strtoull(text, NULL, 16);
    return (uint64_t)refuse(p);
}

static uint32_t read_word(ManifestReader *p, const json_t *o, const char *key, const Words *words) {
    int k = word_find(words, read_string(p, o, key));
    if (k < 0) p->bad = true;
    return k < 0 ? 0 : (uint32_t)k;
}

/* Reads a list of positive integers whose product is at most MOST_COUNT; returns its length, or
 * reports `bad`. */
static int32_t read_list(ManifestReader *p, const json_t *list, int64_t *dim, int64_t *product) {
    size_t rank = json_array_size(list);
    *product = 1;
    if (!json_is_array(list) || rank > MAX_RANK) return refuse(p);
    for (size_t k = 0; k < rank; k++) {
        dim[k] = json_integer_value(json_array_get(list, k));
        if (dim[k] < 1 || dim[k] > MOST_COUNT / *product) return refuse(p);
        *product *= dim[k];
    }
    return (int32_t)rank;
}

static void read_part(ManifestReader *p, const json_t *o, CkPart *part, int64_t elements) {
    StoredPart *s = &part->part;
    int64_t product;
    part->tensor = read_string(p, o, "tensor");
    part->rank = read_list(p, json_object_get(o, "shape"), part->dim, &part->elements);
    s->first = read_integer(p, o, "first", 0, MOST_COUNT);
    s->n = read_integer(p, o, "elements", 1, MOST_COUNT);
    s->offset = read_integer(p, o, "offset", 0, MOST_COUNT);
    s->rank = read_list(p, json_object_get(o, "dims"), s->dim, &product);
    const json_t *strides = json_object_get(o, "strides");
    if (json_array_size(strides) != (size_t)s->rank) p->bad = true;
    for (int k = 0; k < s->rank; k++)
        s->stride[k] = json_integer_value(json_array_get(strides, (size_t)k));
    if (!*part->tensor || !stored_is_inside(s, part->elements, elements)) p->bad = true;
}

/* Reads how --save stores a weight. */
static void read_saved(ManifestReader *p, const json_t *o, CkTensor *t) {
    const json_t *parts = json_object_get(o, "saved_in");
    const char *saved = json_string_value(json_object_get(o, "saved_as"));
    size_t n = json_array_size(parts);
    t->saved_as = arena_strdup(p->a, saved ? saved : "");
    if (saved || n) t->saved_at = (uint32_t)read_integer(p, o, "saved_at", 0, UINT32_MAX);
    t->transposed = json_is_true(json_object_get(o, "transposed"));
    t->part = arena_array(p->a, CkPart, n + 1);
    t->n_part = (uint32_t)n;
    for (size_t k = 0; k < n && !p->bad; k++)
        read_part(p, json_array_get(parts, k), &t->part[k], t->elements);
}

static AxisSet read_axes(ManifestReader *p, const json_t *o, const char *key) {
    return (AxisSet)read_integer(p, o, key, 0, mesh_all_axes(&p->c->mesh));
}

/* How axes of the mesh cut the tensor. */
static void read_cut(ManifestReader *p, const json_t *o, AxisSet axes, CkTensor *t) {
    if (!axes) return;
    t->cut.axes = axes;
    t->cut.dim = (int32_t)read_integer(p, o, "axis", 0, t->rank - 1);
    t->cut.outer = read_integer(p, o, "runs", 1, MOST_COUNT);
    t->cut.size = read_integer(p, o, "length", 1, MOST_COUNT);
    t->parts = mesh_extent(&p->c->mesh, axes);
    if (!tensor_cut_is_sound(&t->cut, &p->c->mesh, t->dim, t->rank, true)) p->bad = true;
}

static void read_tensor(ManifestReader *p, const json_t *o, AxisSet cut, CkTensor *t) {
    t->name = read_string(p, o, "name");
    t->saved_as = "";
    t->rank = read_list(p, json_object_get(o, "shape"), t->dim, &t->elements);
    if (p->bad) return;
    read_saved(p, o, t);
    t->offset = read_integer(p, o, "offset", 0, MOST_COUNT);
    t->chunk = json_object_get(o, "chunk") ? read_integer(p, o, "chunk", 1, t->elements) : 0;
    read_cut(p, json_object_get(o, "cut"), cut, t);
}

/* Tensors must be in order in their vector, without overlap; in chunks, which cut them along an
 * axis, also without gaps. */
static bool is_in_place(const CkVector *v, const CkTensor *t, bool chunks, int64_t end) {
    const Layout *l = &v->layout;
    LayoutPlace place = ck_place(t);
    if ((t->chunk != 0) != chunks || t->offset < end) return false;
    if (!chunks) return t->offset <= l->unpadded && place.n <= l->unpadded - t->offset;
    return t->offset == end && t->chunk <= place.n && ck_axis(l, t) >= 0 &&
           layout_end(l, &place) <= l->shard;
}

static void read_vector(ManifestReader *p, const json_t *o, uint32_t index) {
    CkContents *c = p->c;
    CkVector *v = &c->vector[index];
    v->role = read_word(p, o, "role", &words_StateRole);
    v->dtype = read_word(p, o, "dtype", &words_DType);
    v->layout = (Layout){.split = read_axes(p, o, "split"),
                         .cut = json_object_get(o, "cut") ? read_axes(p, o, "cut") : 0,
                         .unpadded = read_integer(p, o, "unpadded", 1, MOST_COUNT),
                         .padded = read_integer(p, o, "padded", 1, MOST_COUNT),
                         .shard = read_integer(p, o, "shard", 1, MOST_COUNT)};
    if (json_object_get(o, "staged")) {
        v->layout.staged = read_axes(p, o, "staged");
        v->layout.place = read_integer(p, o, "place", 0, MOST_RANKS);
    }
    if (p->bad || file_type_of((int)v->dtype) == FT_COUNT || v->layout.cut & v->layout.split ||
        v->layout.padded > MOST_COUNT / mesh_extent(&c->mesh, v->layout.cut) ||
        !layout_is_sound(&v->layout, &c->mesh)) {
        refuse(p);
        return;
    }
    const json_t *list = json_object_get(o, "tensors");
    v->first = c->n_tensor;
    v->n = (uint32_t)json_array_size(list);
    int64_t end = 0;
    for (uint32_t i = 0; i < v->n && !p->bad; i++) {
        CkTensor *t = &c->tensor[c->n_tensor++];
        read_tensor(p, json_array_get(list, i), v->layout.cut, t);
        t->vector = index;
        LayoutPlace place = ck_place(t);
        if (!p->bad && !is_in_place(v, t, c->tensor[v->first].chunk != 0, end)) p->bad = true;
        if (!p->bad) end = layout_end(&v->layout, &place);
    }
    bool chunks = v->n && !p->bad && c->tensor[v->first].chunk;
    if (chunks && (end != v->layout.shard || v->layout.unpadded != v->layout.padded)) p->bad = true;
}

static void read_vectors(ManifestReader *p, const json_t *list) {
    CkContents *c = p->c;
    size_t tensors = 0;
    for (size_t i = 0; i < json_array_size(list); i++)
        tensors += json_array_size(json_object_get(json_array_get(list, i), "tensors"));
    c->n_vector = (uint32_t)json_array_size(list);
    c->vector = arena_array(p->a, CkVector, c->n_vector + 1);
    c->tensor = arena_array(p->a, CkTensor, tensors + 1);
    for (uint32_t i = 0; i < c->n_vector && !p->bad; i++)
        read_vector(p, json_array_get(list, i), i);
}

static void read_mesh(ManifestReader *p, const json_t *list) {
    Mesh *m = &p->c->mesh;
    int64_t ranks = 1;
    if (!json_is_array(list) || json_array_size(list) > MESH_AXES) {
        p->bad = true;
        return;
    }
    for (size_t i = 0; i < json_array_size(list); i++, m->n++) {
        const json_t *axis = json_array_get(list, i);
        int64_t role = json_integer_value(json_array_get(axis, 0));
        int64_t size = json_integer_value(json_array_get(axis, 1));
        if (role < 0 || role >= AXIS_ROLES || size < 1 || size > MOST_RANKS / ranks) {
            p->bad = true;
            return;
        }
        m->axis[i].role = (AxisRole)role;
        m->axis[i].size = size;
        ranks *= size;
    }
}

/* The files of form full must also be those of the layout; their headers may have any length. */
static int read_full_files(ManifestReader *p, const json_t *list) {
    CkContents *c = p->c;
    bool fits = json_array_size(list) == c->n_full_file;
    for (uint32_t k = 0; k < c->n_full_file && fits; k++) {
        const json_t *o = json_array_get(list, k);
        fits = !strcmp(c->full_file[k].name, read_string(p, o, "name")) &&
               ck_set_size(&c->full_file[k], (uint64_t)read_integer(p, o, "size", 0, INT64_MAX));
    }
    return fits ? 0 : corrupt_manifest(p, "its files do not match its layout");
}

/* The number of bytes before the data of a file of this size; UINT64_MAX: the file cannot have that
 * size. */
static uint64_t header_in(const CkContents *c, const CkFile *f, uint64_t size) {
    uint64_t bytes = f->size - f->header;
    bool full = c->form == CHECKPOINT_FULL;
    uint64_t header = !full ? size - bytes : f->rank ? 0 : c->full_file[f->class].header;
    bool fits = full ? size == header + bytes
                     : size >= bytes && header % CK_ALIGN == 0 && header <= f->size + CK_BLOCK;
    return fits ? header : UINT64_MAX;
}

static int read_file_entry(ManifestReader *p, const json_t *o, CkFile *f) {
    const json_t *blocks = json_object_get(o, "blocks");
    uint64_t size = (uint64_t)read_integer(p, o, "size", 0, INT64_MAX), known = ck_blocks(f);
    uint64_t header = header_in(p->c, f, size);
    if (strcmp(f->name, read_string(p, o, "name")) || header == UINT64_MAX)
        return corrupt_manifest(p, "its files are not those of its layout");
    f->header = header;
    f->size = size;
    if (ck_blocks(f) != json_array_size(blocks))
        return corrupt_manifest(p, "its files are not those of its layout");
    if (ck_blocks(f) > known) f->block = arena_array(p->a, uint64_t, ck_blocks(f));
    for (uint64_t k = 0; k < ck_blocks(f); k++) f->block[k] = hash_of(p, json_array_get(blocks, k));
    return 0;
}

/* Reads the list of files, which must be that of the layout, with their hashes. */
static int read_files(ManifestReader *p, const json_t *o) {
    CkContents *c = p->c;
    const json_t *list = json_object_get(o, "files");
    int code = ck_first_files(c, (uint32_t)json_array_size(list), p->a, p->error);
    if (code) return EXIT_CORRUPT;
    if (c->form == CHECKPOINT_FULL && (code = read_full_files(p, json_object_get(o, "wholes"))))
        return code;
    if (json_array_size(list) != c->n_file)
        return corrupt_manifest(p, "its list of files is incomplete");
    for (uint32_t i = 0; i < c->n_file && !code; i++)
        code = read_file_entry(p, json_array_get(list, i), &c->file[i]);
    if (code) return code;
    return p->bad ? corrupt_manifest(p, "it contains an invalid hash") : 0;
}

static double number(const json_t *o, const char *key) {
    const json_t *x = json_object_get(o, key);
    return json_is_number(x) ? json_number_value(x) : (double)NAN;
}

static void read_settings(ManifestReader *p, json_t *o) {
    CkContents *c = p->c;
    const char *key;
    json_t *value;
    c->setting = arena_array(p->a, CkSetting, json_object_size(o) + 1);
    json_object_foreach(o, key, value) {
        const char *text = json_string_value(value);
        if (!text) p->bad = true;
        c->setting[c->n_setting++] =
            (CkSetting){arena_strdup(p->a, key), arena_strdup(p->a, text ? text : "")};
    }
}

/* The skipped steps of a run without a loss scale are an entry of their own, which older
 * checkpoints lack. */
static LossScale read_loss_scale(ManifestReader *p, const json_t *o) {
    const json_t *scale = json_object_get(o, "loss_scale"), *of = scale ? scale : o;
    LossScale x = {0};
    if (scale || json_object_get(of, "skipped"))
        x.skipped = read_integer(p, of, "skipped", 0, p->c->step);
    if (!scale) return x;
    x.scale = number(scale, "scale");
    x.good = read_integer(p, scale, "good", 0, MOST_COUNT);
    if (!(x.scale > 0 && x.scale <= MOST_LOSS_SCALE)) p->bad = true;
    return x;
}

static int read_contents(ManifestReader *p, const json_t *o) {
    CkContents *c = p->c;
    const char *format = json_string_value(json_object_get(o, "format"));
    if (!format || strcmp(format, FORMAT))
        return corrupt_manifest(p, "not the manifest of a checkpoint");
    if (read_integer(p, o, "oldest_reader", 1, INT32_MAX) > CK_VERSION)
        return corrupt_manifest(p,
                                "a newer version of fsdpc wrote it, and this one cannot read it");
    c->step = read_integer(p, o, "step", 0, MOST_COUNT);
    c->samples = read_integer(p, o, "samples", 0, INT64_MAX);
    c->evaluation_due = json_is_true(json_object_get(o, "evaluation_due"));
    c->evaluation = number(o, "evaluation");
    c->has_evaluation = json_is_number(json_object_get(o, "evaluation"));
    c->best_evaluation = number(o, "best_evaluation");
    c->loss_scale = read_loss_scale(p, o);
    c->run = hash_of(p, json_object_get(o, "run"));
    c->plan = hash_of(p, json_object_get(o, "plan"));
    c->rules = hash_of(p, json_object_get(o, "rules"));
    c->config = read_string(p, o, "config");
    if (json_object_get(o, "form")) {
        c->form = (CheckpointForm)read_word(p, o, "form", &words_CheckpointForm);
        c->most_file = (uint64_t)read_integer(p, o, "max_file", 1, INT64_MAX);
        c->stores_as_in_model = !json_is_true(json_object_get(o, "turns"));
    }
    read_settings(p, json_object_get(o, "settings"));
    read_mesh(p, json_object_get(o, "mesh"));
    if (!p->bad) read_vectors(p, json_object_get(o, "vectors"));
    if (p->bad) return corrupt_manifest(p, "it contradicts itself");
    return read_files(p, o);
}

int ck_manifest_parse(CkContents *c, Arena *a, const char *path, const char *text, size_t bytes,
                      char *error) {
    ManifestReader p = {.c = c, .a = a, .path = path, .error = error};
    *c = (CkContents){.config = ""};
    char first[FIRST_BYTES + 1];
    if (bytes >= FIRST_BYTES)
        first_line(first, hash_bytes(text + FIRST_BYTES, bytes - FIRST_BYTES, 0));
    if (bytes < FIRST_BYTES || memcmp(text, first, FIRST_BYTES))
        return corrupt_manifest(&p, "checksum mismatch: the file is damaged");
    json_error_t fault;
    json_t *o = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &fault);
    int code = json_is_object(o) ? read_contents(&p, o) : corrupt_manifest(&p, "not a JSON object");
    json_decref(o);
    return code;
}
