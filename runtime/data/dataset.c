/* Opens a data source of the plan and reads samples from it.
 *
 * text: every byte is a token, of a part [from, to) of the file. tokens: llm.c shards, globbed and
 * sorted by bytes. npy: an array per field, first axis = sample. A sample of text and tokens is T +
 * 1 neighbouring tokens of one file: inputs are the first T, targets the last T; sample k of a file
 * starts at token k * T. With mlm and span_corruption (denoising.c) T is the number of tokens that
 * such a sample takes.
 */
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "data.h"
#include "op.h"

/* No files: synthetic.c. */
static bool is_generated(const PlanSource *s) {
    return s->kind == SOURCE_SYNTHETIC || s->kind == SOURCE_SYNTHETIC_TOKENS;
}

enum { TOKEN_HEADER = 1024, TOKEN_MAGIC = 20240520 };

/* field: of an array among several, or NULL. */
static int report_missing_file(const Dataset *d, const char *field, const char *what, char *error) {
    return fail_with(error, EXIT_ENVIRONMENT,
                     "%.280s\nhelp: data paths are relative to the working directory; --data "
                     "%.20s%s%.40s=PATH names another file",
                     what, d->name, field ? "." : "", field ? field : "");
}

static int open_file(const Dataset *d, DataFile *f, const char *path, const char *field,
                     char *error) {
    char what[ERROR_BYTES];
    int code = mapped_open(&f->map, path, "data file ", error);
    if (!code || !access(path, F_OK) || errno != ENOENT) return code;
    memcpy(what, error, sizeof what);
    return report_missing_file(d, field, what, error);
}

static int report_corrupt_file(const DataFile *f, char *error, const char *what) {
    return fail_with(error, EXIT_CORRUPT, "%s: %s", f->map.path, what);
}

static int open_text(Dataset *d, char *error) {
    DataFile *f = &d->file[0];
    double from = d->source->from, to = d->source->to;
    uint64_t first = (uint64_t)(from * (double)f->map.size),
             end = (uint64_t)(to * (double)f->map.size);
    if (!(from >= 0) || !(to <= 1) || first > end || end > f->map.size)
        return report_corrupt_file(f, error, "`from` and `to` must satisfy 0 <= from <= to <= 1");
    f->type = FT_U8;
    f->first_byte = first;
    f->tokens = (int64_t)(end - first);
    return 0;
}

static int open_tokens(DataFile *f, char *error) {
    int32_t head[3];
    if (f->map.size < TOKEN_HEADER)
        return report_corrupt_file(f, error, "shorter than a token file's header");
    memcpy(head, f->map.bytes, sizeof head);
    if (head[0] != TOKEN_MAGIC)
        return report_corrupt_file(f, error,
                                   "not a token file (no magic 20240520)\nhelp: "
                                   "fsdpc-tokenize makes token files; text(..) reads text");
    if (head[1] != 1 && head[1] != 2)
        return fail_with(error, EXIT_CORRUPT,
                         "%s: token file version %d; only versions 1 and 2 are supported",
                         f->map.path, head[1]);
    f->type = head[1] == 1 ? FT_U16 : FT_U32;
    f->tokens = head[2];
    f->first_byte = TOKEN_HEADER;
    uint64_t have = (f->map.size - TOKEN_HEADER) / file_type_bytes(f->type);
    if (head[2] < 0 || (uint64_t)head[2] != have ||
        have * file_type_bytes(f->type) != f->map.size - TOKEN_HEADER)
        return fail_with(error, EXIT_CORRUPT,
                         "%s: the header says %d tokens of %u bytes, but %llu bytes follow it",
                         f->map.path, head[2], (unsigned)file_type_bytes(f->type),
                         (unsigned long long)(f->map.size - TOKEN_HEADER));
    return 0;
}

/* Numbers the samples of token files; a file too short for one has none. */
static int count_samples(Dataset *d, char *error) {
    for (uint32_t i = 0; i < d->n_file; i++) {
        d->file[i].first_sample = d->samples;
        d->samples += d->file[i].tokens > 0 ? (d->file[i].tokens - 1) / d->length : 0;
    }
    if (d->samples > 0) return 0;
    return fail_with(
        error, EXIT_CORRUPT,
        "%.300s: no sample: data.%s has fewer than %lld tokens (length + 1) in each file\n"
        "help: use a longer file, or compile with a smaller data.length",
        d->file[0].map.path, d->name, (long long)d->length + 1);
}

static int open_token_source(Dataset *d, const char *path, char *error) {
    const Plan *p = d->plan;
    if (d->source->kind == SOURCE_TEXT) {
        d->file = arena_array(d->arena, DataFile, 1);
        d->file[d->n_file++].map.path = arena_strdup(d->arena, path);
    } else {
        glob_t found = {0};
        /* glob sorts by strcoll, and this program stays in the C locale: by bytes. */
        if (glob(path, 0, NULL, &found) || found.gl_pathc == 0) {
            globfree(&found);
            char what[ERROR_BYTES];
            snprintf(what, sizeof what, "no file matches %.260s (data.%s)", path, d->name);
            return report_missing_file(d, NULL, what, error);
        }
        d->file = arena_array(d->arena, DataFile, found.gl_pathc);
        for (size_t i = 0; i < found.gl_pathc; i++)
            d->file[d->n_file++].map.path = arena_strdup(d->arena, found.gl_pathv[i]);
        globfree(&found);
    }
    d->length = p->settings->length;
    int code = d->source->corruption ? denoising_open(d, error) : 0;
    if (code) return code;
    for (uint32_t i = 0; i < d->n_file; i++) {
        code = open_file(d, &d->file[i], d->file[i].map.path, NULL, error);
        if (!code)
            code = d->source->kind == SOURCE_TEXT ? open_text(d, error)
                                                  : open_tokens(&d->file[i], error);
        if (code) return code;
    }
    for (uint64_t k = 0; k < d->n_field && !d->source->corruption; k++) {
        const char *name = plan_string(p, p->fields[k].name);
        d->of_field[k] = !strcmp(name, "targets");
        if ((d->of_field[k] || !strcmp(name, "inputs")) && d->width[k] == d->length) continue;
        return dataset_lacks_field(d, name, error);
    }
    return count_samples(d, error);
}

/* The lengths of a sample's axes, as NumPy prints a shape. */
static void sample_shape(const int64_t *dim, int rank, char out[TYPE_TEXT]) {
    size_t n = (size_t)snprintf(out, TYPE_TEXT, "[");
    for (int i = 1; i < rank && n < TYPE_TEXT; i++)
        n += (size_t)snprintf(out + n, TYPE_TEXT - n, "%s%lld", i > 1 ? ", " : "",
                              (long long)dim[i]);
    if (n < TYPE_TEXT) snprintf(out + n, TYPE_TEXT - n, "]");
}

static int report_misfit(const char *path, const char *field, const NpyHeader *h, const Type *t,
                         char *error) {
    char is[TYPE_TEXT], wanted[TYPE_TEXT];
    sample_shape(h->dim, h->rank, is);
    sample_shape(t->dim, t->rank, wanted);
    return fail_with(
        error, EXIT_CORRUPT,
        "%.160s: its samples are %s%.80s, but the plan was compiled for samples of %s%.80s "
        "(field %.50s)\nhelp: compile the model with this file, or convert the array",
        path, npy_type_name(h->type), is, dtype_name(t->dtype), wanted, field);
}

static int open_array(Dataset *d, uint64_t field, const char *path, char *error) {
    const Type *t = &d->plan->fields[field].type;
    DataFile *f = &d->file[d->n_file];
    d->of_field[field] = d->n_file++;
    const char *name = plan_string(d->plan, d->plan->fields[field].name);
    int code =
        open_file(d, f, arena_strdup(d->arena, path), d->source->n_field > 1 ? name : NULL, error);
    NpyHeader h;
    if (!code) code = npy_read_header(path, f->map.bytes, f->map.size, &h, error);
    if (code) return code;
    bool fits = h.rank == t->rank;
    for (int i = 1; fits && i < h.rank; i++) fits = h.dim[i] == t->dim[i];
    bool real = t->dtype == DT_F32 || t->dtype == DT_BF16 || t->dtype == DT_F64;
    if (!fits || (file_type_float(h.type) && !real)) return report_misfit(path, name, &h, t, error);
    f->type = h.type;
    f->first_byte = h.data;
    if (field > 0 && h.dim[0] != d->samples)
        return fail_with(error, EXIT_CORRUPT, "%s has %lld samples, but %s has %lld", path,
                         (long long)h.dim[0], d->file[0].map.path, (long long)d->samples);
    d->samples = h.dim[0];
    return d->samples > 0 ? 0 : report_corrupt_file(f, error, "the array has no samples");
}

/* NAME=PATH of the command line for this file: `train` or `train.x`; data_options_check lets a name
 * stand for one file only. */
static const char *replaced_path(const Dataset *d, const char *field, const DataOption *option,
                                 uint32_t n) {
    const char *path = NULL;
    size_t length = strlen(d->name);
    for (uint32_t i = 0; i < n; i++) {
        if (strncmp(option[i].name, d->name, length)) continue;
        const char *rest = option[i].name + length;
        if (!*rest || (*rest == '.' && field && !strcmp(rest + 1, field))) path = option[i].path;
    }
    return path;
}

static int open_arrays(Dataset *d, const DataOption *option, uint32_t n, char *error) {
    const Plan *p = d->plan;
    d->file = arena_array(d->arena, DataFile, p->n_fields + 1);
    for (uint64_t k = 0; k < d->n_field; k++) {
        const char *name = plan_string(p, p->fields[k].name);
        const PlanSourceField *f = dataset_field(d, name);
        if (!f)
            return fail_with(error, EXIT_USER, "data.%s has no field %s, which the model reads",
                             d->name, name);
        const char *path = replaced_path(d, name, option, n);
        int code = open_array(d, k, path ? path : plan_string(p, f->path), error);
        if (code) return code;
    }
    return 0;
}

int dataset_open(const Plan *p, const char *name, const DataOption *option, uint32_t n_option,
                 Dataset **out, char *error) {
    *out = NULL;
    const PlanSource *source = NULL;
    for (uint64_t i = 0; i < p->n_sources; i++)
        if (!strcmp(plan_string(p, p->sources[i].name), name)) source = &p->sources[i];
    if (!source) return 0;
    Arena *a = arena_new();
    Dataset *d = arena_new_of(a, Dataset);
    *d = (Dataset){.plan = p, .source = source, .name = name, .arena = a};
    d->range = arena_array(a, FieldRange, p->n_fields + 1);
    d->of_field = arena_array(a, uint32_t, p->n_fields + 1);
    d->width = arena_array(a, uint32_t, p->n_fields + 1);
    field_ranges(p, d->range);
    d->n_field = plan_batch_fields(p);
    for (uint64_t k = 0; k < d->n_field; k++)
        d->width[k] =
            (uint32_t)(type_elements(&p->fields[k].type) / MAX(1, p->fields[k].type.dim[0]));
    int code;
    if (is_generated(source)) {
        code = synthetic_open(d, error);
    } else if (source->kind == SOURCE_NPY) {
        code = open_arrays(d, option, n_option, error);
    } else {
        const char *path = replaced_path(d, NULL, option, n_option);
        code = open_token_source(d, path ? path : plan_string(p, source->path), error);
    }
    if (code) {
        dataset_close(d);
        return code;
    }
    *out = d;
    return 0;
}

const char *dataset_place(const Dataset *d) {
    return d->n_file ? d->file[0].map.path : "synthetic";
}

void dataset_close(Dataset *d) {
    if (!d) return;
    for (uint32_t i = 0; i < d->n_file; i++) mapped_close(&d->file[i].map);
    arena_free(d->arena);
}

static int report_bad_id(const DataFile *f, uint64_t offset, int64_t value, int64_t below,
                         const char *field, char *error) {
    return fail_with(error, EXIT_CORRUPT,
                     "%s: byte %llu: %lld in field %s is outside the model's range (0 to %lld)",
                     f->map.path, (unsigned long long)offset, (long long)value, field,
                     (long long)below - 1);
}

/* Loads ids as i32 where that is simple, and says whether consumers can take them all. */
static bool load_good_ids(const FieldRange *range, const uint8_t *from, FileType type, int64_t n,
                          uint8_t *to) {
    enum { BLOCK = 64 };
    int32_t *id = (int32_t *)(void *)to, bad = 0;
    int32_t high = (int32_t)MIN(range->below - 1, (int64_t)INT32_MAX);
    if (!load_words(from, type, n, id)) return false;
    if (!range->below) return true;
    int64_t i = 0;
    for (; n - i >= BLOCK; i += BLOCK)
        for (int k = 0; k < BLOCK; k++) bad |= (id[i + k] < 0) | (id[i + k] > high);
    for (; i < n; i++) bad |= (id[i] < 0) | (id[i] > high);
    return !bad;
}

/* Stores ids as the field's dtype, up to the first that its consumers cannot take: their number.
 */
static int64_t store_ids(const FieldRange *range, int dtype, const int64_t *from, int64_t n,
                         uint8_t *to) {
    int64_t least = dtype == DT_I64   ? INT64_MIN
                    : dtype == DT_I32 ? INT32_MIN
                                      : 0,
            most = dtype == DT_I64   ? INT64_MAX
                   : dtype == DT_I32 ? INT32_MAX
                                     : UINT8_MAX;
    int64_t low = range->below ? MAX(least, 0) : least;
    int64_t high = range->below ? MIN(most, range->below - 1) : most;
    int64_t other =
        range->ignored && range->ignore >= least && range->ignore <= most ? range->ignore : low;
    int64_t good = 0;
    while (good < n && ((from[good] >= low && from[good] <= high) || from[good] == other)) good++;
    for (int64_t i = 0; dtype == DT_I64 && i < good; i++) memcpy(to + 8 * i, &from[i], 8);
    for (int64_t i = 0; dtype == DT_I32 && i < good; i++)
        memcpy(to + 4 * i, &(int32_t){(int32_t)from[i]}, 4);
    for (int64_t i = 0; dtype == DT_U8 && i < good; i++) to[i] = (uint8_t)from[i];
    return good;
}

/* n elements of the file from byte `offset` on, as the field's dtype: a piece at a time. */
static int read_elements(const Dataset *d, const DataFile *f, uint64_t offset, uint64_t field,
                         int64_t n, uint8_t *to, char *error) {
    enum { PIECE = 1024 };
    const PlanField *q = &d->plan->fields[field];
    const FieldRange *range = &d->range[field];
    uint32_t width = file_type_bytes(f->type), stored = dtype_bytes(q->type.dtype);
    int dtype = q->type.dtype;
    bool real = dtype == DT_F32 || dtype == DT_BF16 || dtype == DT_F64;
    union {
        float real[PIECE];
        int64_t whole[PIECE];
    } piece;
    if (dtype == DT_F32) {
        load_floats(f->map.bytes + offset, f->type, n, (float *)(void *)to);
        return 0;
    }
    if (dtype == DT_I32 && load_good_ids(range, f->map.bytes + offset, f->type, n, to)) return 0;
    for (int64_t done = 0; done < n; done += PIECE) {
        int64_t count = MIN(n - done, (int64_t)PIECE);
        const uint8_t *from = f->map.bytes + offset + (uint64_t)done * width;
        if (real) {
            load_floats(from, f->type, count, piece.real);
            store_floats(to + (uint64_t)done * stored, dtype, piece.real, count);
            continue;
        }
        load_integers(from, f->type, count, piece.whole);
        int64_t good = store_ids(range, dtype, piece.whole, count, to + (uint64_t)done * stored);
        if (good < count)
            return report_bad_id(f, offset + (uint64_t)(done + good) * width, piece.whole[good],
                                 range->below ? range->below : INT32_MAX,
                                 plan_string(d->plan, q->name), error);
    }
    return 0;
}

typedef struct Samples { /* to be read */
    const Dataset *d;
    const DataFile *f; /* the file that is read */
    const SampleAt *at;
    int64_t n, row;
    uint8_t *slot;
    char *error;
    bool shorter; /* the file than it was */
    int code;
} Samples;

/* Of text and tokens: the last file whose first sample is <= k. */
static uint32_t file_of(const Dataset *d, int64_t k) {
    uint32_t low = 0, high = d->n_file;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (d->file[middle].first_sample <= k)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Ids are those that the first field takes. */
static void read_denoising(Samples *s, SampleAt at, int64_t row) {
    const Dataset *d = s->d;
    const DataFile *f = s->f;
    uint64_t field = d->denoising[0] < 0 ? 0 : (uint64_t)d->denoising[0];
    uint32_t width = file_type_bytes(f->type);
    int64_t below = d->range[field].below ? d->range[field].below : (int64_t)INT32_MAX + 1;
    uint64_t first = f->first_byte + (uint64_t)((at.k - f->first_sample) * d->length) * width;
    DenoisingSample c;
    denoising_begin(&c, d, at, row, s->slot);
    for (int64_t i = 0; i < d->length && !s->code; i++) {
        uint64_t offset = first + (uint64_t)i * width;
        int64_t id = load_integer(f->map.bytes + offset, f->type);
        if (id < 0 || id >= below)
            s->code = report_bad_id(f, offset, id, below,
                                    plan_string(d->plan, d->plan->fields[field].name), s->error);
        denoising_add(&c, (int32_t)id);
    }
}

static void read_fields(Samples *s, SampleAt at, int64_t row) {
    const Dataset *d = s->d;
    bool arrays = d->source->kind == SOURCE_NPY;
    for (uint64_t i = 0; i < d->n_field && !s->code; i++) {
        const PlanField *q = &d->plan->fields[i];
        if (arrays) s->f = &d->file[d->of_field[i]];
        int64_t n = d->width[i];
        int64_t element =
            arrays ? at.k * n : (at.k - s->f->first_sample) * d->length + d->of_field[i];
        uint64_t offset = s->f->first_byte + (uint64_t)element * file_type_bytes(s->f->type);
        uint8_t *to =
            s->slot + q->staging + (uint64_t)row * (uint64_t)n * dtype_bytes(q->type.dtype);
        s->code = read_elements(d, s->f, offset, i, n, to, s->error);
    }
}

/* Arrays are all read for each sample; of other files, one is done with when the next one comes. */
static void read_samples(void *user) {
    Samples *s = user;
    bool arrays = s->d->source->kind == SOURCE_NPY;
    for (int64_t i = 0; i < s->n && !s->code; i++) {
        const DataFile *f = arrays ? s->f : &s->d->file[file_of(s->d, s->at[i].k)];
        if (s->f && f != s->f && (s->shorter = mapped_shorter(&s->f->map))) return;
        s->f = f;
        if (s->d->source->corruption)
            read_denoising(s, s->at[i], s->row + i);
        else
            read_fields(s, s->at[i], s->row + i);
    }
}

int dataset_read(const Dataset *d, const SampleAt *at, int64_t n, int64_t row, uint8_t *slot,
                 char *error) {
    if (is_generated(d->source)) {
        for (int64_t i = 0; i < n; i++) synthetic_read(d, at[i], row + i, slot);
        return 0;
    }
    Samples s = {.d = d, .at = at, .n = n, .row = row, .slot = slot, .error = error};
    bool whole = mapped_read(read_samples, &s);
    for (uint32_t i = 0; i < d->n_file && d->source->kind == SOURCE_NPY && whole; i++)
        if (mapped_shorter(&d->file[i].map)) s.f = &d->file[i];
    bool shorter = s.shorter || (s.f && mapped_shorter(&s.f->map));
    return whole && !shorter ? s.code : mapped_lost(&s.f->map, error);
}

/* The names that --data can give: a source, or a field of one. */
static uint32_t data_names(const Plan *p, Arena *a, const char **name) {
    uint32_t n = 0;
    for (uint64_t k = 0; k < p->n_sources; k++) {
        const PlanSource *s = &p->sources[k];
        const char *source = plan_string(p, s->name);
        if (is_generated(s)) continue;
        if (s->kind != SOURCE_NPY || s->n_field == 1) name[n++] = source;
        for (uint32_t f = 0; s->kind == SOURCE_NPY && f < s->n_field; f++)
            name[n++] = arena_printf(a, "%s.%s", source,
                                     plan_string(p, p->source_fields[s->first_field + f].name));
    }
    return n;
}

static int unknown_data(const char *given, const char *const *name, uint32_t n, char *error) {
    Buf list = {0};
    for (uint32_t k = 0; k < n; k++) buf_printf(&list, " %s", name[k]);
    const char *near = nearest_name(given, name, n);
    snprintf(error, ERROR_BYTES, "--data %.100s=...: the plan's data files are:%.300s%s%.80s%s",
             given, n ? list.at : " none", near ? "\nhelp: did you mean `" : "", near ? near : "",
             near ? "`?" : "");
    buf_free(&list);
    return EXIT_USER;
}

int data_options_check(const Plan *p, const DataOption *option, uint32_t n_option, char *error) {
    Arena *a = arena_new();
    const char **name = arena_array(a, const char *, p->n_sources + p->n_source_fields + 1);
    uint32_t n = data_names(p, a, name);
    int code = 0;
    for (uint32_t i = 0; i < n_option && !code; i++) {
        bool known = false;
        for (uint32_t k = 0; k < n; k++) known |= !strcmp(option[i].name, name[k]);
        if (!known) code = unknown_data(option[i].name, name, n, error);
    }
    arena_free(a);
    return code;
}
