/* Finds the tensor of each parameter in the --load files: by the checkpoint name, or, for a tied
 * parameter, by the name of one of its aliases. If the files hold several of its names, all must
 * have the same values, which is checked when the values are read (weights.c). A plan may have
 * several tables of names; the first one that matches counts. If none does, errors refer to the one
 * under which most parameters are found: every tensor that is missing, has another shape, or is
 * unexpected. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tensors.h"

/* A table of names of the plan, tried on the files. Table 0 always exists: by default it holds the
 * parameters' paths.
 */
typedef struct Naming {
    const Plan *p;
    const TensorSet *s;
    uint64_t table;
    TensorMatch *match; /* [params] */
    bool *used;         /* [tensors of s] */
    uint64_t found, wrong;
    const char **missing; /* [params + joined tensors] names that are missing */
    uint32_t n_missing;
    uint32_t *missing_row; /* the parameter, or the first of a joined tensor's */
    const char **extra;    /* [tensors of s] */
    uint32_t n_extra;
    PartMatch *room; /* [parts of the plan] */
    uint32_t *first; /* [params] index of the parameter's first part */
} Naming;

static const char *name_at(const Naming *n, PlanString first, uint64_t row, uint32_t *flags) {
    const Plan *p = n->p;
    if (n->table == 0) return plan_string(p, first);
    const PlanOtherName *other =
        &p->other_names[(n->table - 1) * (p->n_params + p->n_aliases) + row];
    *flags = other->flags;
    return plan_string(p, other->checkpoint);
}

static const char *param_name(const Naming *n, const PlanParam *q, uint32_t *flags) {
    *flags = q->flags;
    return name_at(n, q->checkpoint, (uint64_t)(q - n->p->params), flags);
}

static const char *alias_name(const Naming *n, uint64_t alias) {
    uint32_t flags; /* the frontend requires the flags of the parameter */
    return name_at(n, n->p->aliases[alias].checkpoint, n->p->n_params + alias, &flags);
}

static bool shape_fits(int rank, const int64_t *dim, const Tensor *t, bool transposed) {
    if (t->rank != rank) return false;
    for (int i = 0; i < t->rank; i++)
        if (t->dim[i] != dim[transposed ? t->rank - 1 - i : i]) return false;
    return true;
}

static void dims_text(char out[128], int rank, const int64_t *dim, bool reversed) {
    size_t at = (size_t)snprintf(out, 128, "[");
    for (int i = 0; i < rank && at < 100; i++)
        at += (size_t)snprintf(out + at, 128 - at, "%s%lld", i ? ", " : "",
                               (long long)dim[reversed ? rank - 1 - i : i]);
    snprintf(out + at, 128 - at, "]");
}

/* Reports why the tensor does not have that shape; false if it does. */
static bool report_shape(int rank, const int64_t *dim, const Tensor *t, bool transposed,
                         Buf *report) {
    if (t->type == FT_COUNT || !file_type_float(t->type)) {
        buf_printf(report, "wrong type: %s (%s): weights are F32, F16, BF16 or F64\n", t->name,
                   t->file->map.path);
        return true;
    }
    if (shape_fits(rank, dim, t, transposed)) return false;
    char have[128], want[128];
    dims_text(have, t->rank, t->dim, false);
    dims_text(want, rank, dim, transposed);
    buf_printf(report, "wrong shape: %s is %s, the model needs %s%s\n", t->name, have, want,
               transposed ? " (stored transposed)" : "");
    return true;
}

static void add_missing(Naming *n, const char *name, uint32_t row) {
    n->missing_row[n->n_missing] = row;
    n->missing[n->n_missing++] = name;
}

/* Matches a parameter. The other tensors that hold a tied parameter are appended to the list
 * `same`, behind those of earlier parameters. */
static void match_param(Naming *n, const PlanParam *q, TensorMatch *m, const Tensor **same,
                        Buf *report) {
    *m = (TensorMatch){.same = same};
    uint32_t flags;
    const char *name = param_name(n, q, &flags);
    if (flags & PARAM_IN_PARTS) return; /* match_stored finds it */
    m->transposed = flags & PARAM_TRANSPOSED;
    Type whole = plan_whole_type(n->p, q);
    for (uint32_t k = 0; k <= q->n_alias; k++) {
        uint32_t row;
        const Tensor *t =
            tensor_set_find(n->s, k ? alias_name(n, q->first_alias + (uint64_t)k - 1) : name, &row);
        if (!t || n->used[row]) continue;
        n->used[row] = true;
        n->wrong += report_shape(whole.rank, whole.dim, t, m->transposed, report);
        if (m->tensor)
            same[m->n_same++] = t;
        else
            m->tensor = t;
    }
    n->found += m->tensor != NULL;
    if (!m->tensor) add_missing(n, name, (uint32_t)(q - n->p->params));
}

/* Adds a part to those already found for its parameter. */
static void add_part(TensorMatch *m, PartMatch *room, const Tensor *t, const StoredPart *s) {
    if (!m->n_part) *m = (TensorMatch){.tensor = t, .part = room};
    room[m->n_part++] = (PartMatch){t, s};
}

/* Matches the tensors of the table that hold parts of several parameters, or parts of one. */
static void match_stored(Naming *n, Buf *report) {
    const Plan *p = n->p;
    for (uint64_t i = 0; i < p->n_stored; i++) {
        const PlanStored *stored = &p->stored[i];
        const StoredPart *part = &p->parts[stored->first_part];
        const char *name = plan_string(p, stored->name);
        uint32_t row;
        if (stored->table != n->table) continue;
        const Tensor *t = tensor_set_find(n->s, name, &row);
        if (!t || n->used[row]) {
            add_missing(n, name, part->param);
            continue;
        }
        n->used[row] = true;
        n->found += stored->n_part;
        n->wrong += report_shape(stored->rank, stored->dim, t, false, report);
        for (uint32_t k = 0; k < stored->n_part; k++)
            add_part(&n->match[part[k].param], n->room + n->first[part[k].param], t, &part[k]);
    }
}

/* Reserves room for the parts of each parameter, enough for any table. */
static uint32_t *place_parts(const Plan *p, Arena *a) {
    uint32_t *first = arena_array(a, uint32_t, p->n_params + 1);
    for (uint64_t k = 0; k < p->n_parts; k++) first[p->parts[k].param + 1]++;
    for (uint64_t i = 0; i < p->n_params; i++) first[i + 1] += first[i];
    return first;
}

static bool skipped(const Naming *n, const char *name) {
    const Plan *p = n->p;
    if (n->table >= p->n_names) return false;
    const PlanNames *t = &p->names[n->table];
    for (uint32_t i = 0; i < t->n_skip; i++)
        if (glob_match(plan_string(p, p->skips[t->first_skip + i]), name, NULL, NULL, 0))
            return true;
    return false;
}

static void match_table(Naming *n, const Tensor **same, Buf *report) {
    memset(n->used, 0, n->s->n * sizeof *n->used);
    n->found = n->wrong = n->n_missing = n->n_extra = 0;
    report->n = 0;
    for (uint64_t i = 0; i < n->p->n_params; i++) {
        match_param(n, &n->p->params[i], &n->match[i], same, report);
        same += n->match[i].n_same;
    }
    match_stored(n, report);
    for (uint32_t i = 0; i < n->s->n; i++)
        if (!n->used[i] && !skipped(n, n->s->tensor[i]->name))
            n->extra[n->n_extra++] = n->s->tensor[i]->name;
}

/* A missing and an extra name are often two spellings of one name: such pairs are reported
 * together. */
static void report_names(const Naming *n, Buf *report) {
    enum { MOST_PAIRS = 1 << 18 }; /* compared in less than a second */
    bool compare = (uint64_t)n->n_missing * n->n_extra <= MOST_PAIRS;
    for (uint32_t i = 0; i < n->n_missing; i++) {
        const char *name = plan_string(n->p, n->p->params[n->missing_row[i]].name);
        const char *near = compare ? nearest_name(n->missing[i], n->extra, n->n_extra) : NULL;
        buf_printf(report, "missing: %s", n->missing[i]);
        if (strcmp(name, n->missing[i])) buf_printf(report, " (parameter %s)", name);
        buf_printf(report, near ? "; is it %s?\n" : "\n", near);
    }
    for (uint32_t i = 0; i < n->n_extra; i++) {
        const char *near = compare ? nearest_name(n->extra[i], n->missing, n->n_missing) : NULL;
        buf_printf(report, "not in the model: %s", n->extra[i]);
        buf_printf(report, near ? "; is it %s?\n" : "\n", near);
    }
    if (n->n_extra && !n->n_missing)
        buf_printf(report, "help: a `names` table of the model can skip a tensor: \"%s\" = skip\n",
                   n->extra[0]);
}

static bool naming_fits(const Naming *n) { return !n->wrong && !n->n_missing && !n->n_extra; }

int tensors_match(const Plan *p, const TensorSet *s, TensorMatch *match, Buf *report) {
    Naming n = {.p = p,
                .s = s,
                .match = match,
                .used = arena_array(s->arena, bool, s->n + 1),
                .missing = arena_array(s->arena, const char *, p->n_params + p->n_stored + 1),
                .missing_row = arena_array(s->arena, uint32_t, p->n_params + p->n_stored + 1),
                .extra = arena_array(s->arena, const char *, s->n + 1),
                .room = arena_array(s->arena, PartMatch, p->n_parts + 1),
                .first = place_parts(p, s->arena)};
    const Tensor **same = arena_array(s->arena, const Tensor *, s->n + 1);
    uint64_t tables = MAX(p->n_names, 1), best = 0, most = 0;
    for (; n.table < tables; n.table++) {
        match_table(&n, same, report);
        if (naming_fits(&n)) return 0;
        if (n.found > most) best = n.table, most = n.found;
    }
    n.table = best;
    match_table(&n, same, report);
    Buf wrong = *report;
    *report = (Buf){0};
    buf_printf(report,
               "%s: not the weights of this model: %u missing, %" PRIu64
               " with another shape or type, %u unexpected\n",
               s->path, n.n_missing, n.wrong, n.n_extra);
    buf_write(report, wrong.at ? wrong.at : "", wrong.n);
    buf_free(&wrong);
    report_names(&n, report);
    return EXIT_CORRUPT;
}

/* ---- values */

/* Elements [first, first + n) of a matrix that is stored transposed. They are columns of the stored
 * matrix; it is read row by row, so that adjacent elements are read together. */
static void read_columns(const Tensor *t, int64_t first, int64_t n, float *to) {
    enum { TOGETHER = 128 };
    int64_t rows = t->dim[0], columns = t->dim[1];
    uint32_t width = file_type_bytes(t->type);
    for (int64_t row = 0; row < rows; row++) {
        int64_t column = first / rows + (row < first % rows), at = column * rows + row - first;
        while (at < n) {
            float x[TOGETHER];
            int64_t count = MIN((n - at + rows - 1) / rows, (int64_t)TOGETHER);
            load_floats(t->data + (row * columns + column) * width, t->type, count, x);
            for (int64_t i = 0; i < count; i++, at += rows) to[at] = x[i];
            column += count;
        }
    }
}

static void read_tensor(const Tensor *t, bool transposed, int64_t first, int64_t n, float *to) {
    if (transposed && t->rank == 2)
        read_columns(t, first, n, to);
    else
        load_floats(t->data + first * file_type_bytes(t->type), t->type, n, to);
}

static void read_floats(const TensorMatch *m, const Tensor *t, int64_t first, int64_t n,
                        float *to) {
    if (!m->n_part) read_tensor(t, m->transposed, first, n, to);
    for (uint32_t i = 0; i < m->n_part; i++) {
        const PartMatch *p = &m->part[i];
        int64_t from = first, count = part_overlap(p->part, &from, n);
        if (count) part_floats(p->part, p->tensor, from, count, to + p->part->first + from - first);
    }
}

enum { CHUNK = 1 << 16 };

void tensor_elements(const TensorMatch *m, int64_t first, int64_t n, int dtype, void *to) {
    float value[CHUNK];
    for (int64_t done = 0; done < n; done += CHUNK) {
        int64_t count = MIN(n - done, (int64_t)CHUNK);
        char *at = (char *)to + done * dtype_bytes(dtype);
        float *place = dtype == DT_F32 ? (float *)at : value;
        read_floats(m, m->tensor, first + done, count, place);
        if (place == value) store_floats(at, dtype, value, count);
    }
}

/* Compares bits, so a NaN equals itself. */
static bool equal_elements(const TensorMatch *m, const Tensor *b, int64_t first, int64_t n) {
    const Tensor *a = m->tensor;
    uint32_t width = file_type_bytes(a->type);
    if (a->type == b->type && !m->transposed)
        return !memcmp(a->data + first * width, b->data + first * width, (size_t)n * width);
    float x[CHUNK / 2], y[CHUNK / 2];
    for (int64_t done = 0; done < n; done += CHUNK / 2) {
        int64_t count = MIN(n - done, (int64_t)CHUNK / 2);
        read_floats(m, a, first + done, count, x);
        read_floats(m, b, first + done, count, y);
        if (memcmp(x, y, (size_t)count * sizeof *x) != 0) return false;
    }
    return true;
}

const Tensor *tensor_unlike(const TensorMatch *m, int64_t first, int64_t n) {
    for (uint32_t i = 0; i < m->n_same; i++)
        if (!equal_elements(m, m->same[i], first, n)) return m->same[i];
    return NULL;
}

/* ---- pages of the files */

static void expect_part(const PartMatch *p, int64_t first, int64_t n) {
    const Tensor *t = p->tensor;
    uint32_t width = file_type_bytes(t->type);
    n = part_overlap(p->part, &first, n);
    if (!n) return;
    if (!stored_ascends(p->part)) {
        mapped_expect(t->data, t->bytes);
        return;
    }
    int64_t from = stored_place(p->part, first), last = stored_place(p->part, first + n - 1);
    mapped_expect(t->data + from * width, (uint64_t)(last + 1 - from) * width);
}

/* The elements of a transposed tensor are columns, which touch nearly all of its pages if rows are
 * short. */
void tensor_expect(const TensorMatch *m, int64_t first, int64_t n) {
    const Tensor *t = m->tensor;
    uint32_t width = file_type_bytes(t->type);
    for (uint32_t i = 0; i < m->n_part; i++) expect_part(&m->part[i], first, n);
    if (m->n_part) return;
    if (m->transposed)
        mapped_expect(t->data, t->bytes);
    else
        mapped_expect(t->data + first * width, (uint64_t)n * width);
}

void tensor_release(const TensorMatch *m) {
    mapped_release(m->tensor->data, m->tensor->bytes);
    for (uint32_t i = 0; i < m->n_same; i++) mapped_release(m->same[i]->data, m->same[i]->bytes);
    for (uint32_t i = 1; i < m->n_part; i++)
        mapped_release(m->part[i].tensor->data, m->part[i].tensor->bytes);
}

bool tensor_scattered(const TensorMatch *m) {
    bool scattered = m->transposed;
    for (uint32_t i = 0; i < m->n_part; i++) scattered |= !stored_ascends(m->part[i].part);
    return scattered;
}
