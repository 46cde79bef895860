/* The tensors of the files that --save writes, and of form full, and the places of the state's
 * tensors in them.
 *
 * --save may store a weight transposed, join several or split one. Form full has the tensors that
 * --save would write, so that other programs open the folder as a model, and each parameter's
 * moments as tensors of their own.
 *
 * If --save would interleave parameters element by element, so that no rank could write its part in
 * runs of reasonable length, all weights keep the names and shapes of the model file. The same
 * holds for weights whose parts differ in dtype, and for version 4 in place of all that would be
 * transposed or joined. --save itself does all of this.
 */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "checkpoint.h"

enum { MOST_ALONE = 1 << 20 }; /* numbers whose neighbours belong to other parameters */

bool ck_stores_as_in_model(const CkContents *c) {
    for (uint32_t i = 0; i < c->n_tensor; i++) {
        const CkTensor *t = &c->tensor[i];
        if (ck_is_weight(c, t) && (!*t->saved_as || t->transposed)) return false;
    }
    return true;
}

/* ---- parts */

/* The whole tensor as a part, unchanged or with its axes in reverse order. */
static StoredPart whole_part(const CkTensor *t, bool transposed) {
    StoredPart s = {.rank = 1, .n = t->elements, .dim = {t->elements}, .stride = {1}};
    if (!transposed || t->rank < 2) return s;
    s.rank = t->rank;
    int64_t below = 1;
    for (int k = 0; k < t->rank; k++) {
        s.dim[k] = t->dim[k];
        s.stride[k] = below;
        below *= t->dim[k];
    }
    return s;
}

static int by_first(const void *a, const void *b) {
    const StoredPart *x = &((const CkPlaced *)a)->part, *y = &((const CkPlaced *)b)->part;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Whether any adjacent elements of the part are adjacent in the file. */
static bool has_runs(const StoredPart *s) {
    for (int k = 0; k < s->rank; k++)
        if (s->stride[k] == 1 && s->dim[k] > 1) return true;
    return s->n == 1;
}

/* Whether the parts cover the tensor in order, from the first element to the last. */
static bool is_complete(const CkTensor *t) {
    int64_t end = 0;
    for (uint32_t k = 0; k < t->n_placed && t->placed[k].part.first == end; k++)
        end += t->placed[k].part.n;
    return end == t->elements;
}

/* ---- entries */

typedef struct EntryBuilder {
    CkContents *c;
    Arena *a;
    json_t *joined; /* by name: joined entries */
    uint32_t *last; /* by entry, or NULL */
    int64_t alone;
    const char *odd; /* the name of a joined tensor whose parts disagree on its shape, or NULL */
    bool fits;
} EntryBuilder;

static FileType type_of(const EntryBuilder *m, const CkTensor *t) {
    return file_type_of((int)m->c->vector[t->vector].dtype);
}

static uint32_t add_entry(EntryBuilder *m, const char *name, const CkTensor *t, int32_t rank,
                          const int64_t *dim) {
    TensorPlan *y = &m->c->entry[m->c->n_entry];
    *y = (TensorPlan){.name = name, .type = type_of(m, t), .rank = rank};
    memcpy(y->dim, dim, (size_t)rank * sizeof *dim);
    return m->c->n_entry++;
}

/* Finds or adds the tensor of --save that contains the part; its shape is that of its other parts.
 * Of several dtypes it has the widest, which only --save does. */
static uint32_t joined_entry(EntryBuilder *m, const CkTensor *t, const CkPart *p) {
    json_t *known = json_object_get(m->joined, p->tensor);
    if (!known) {
        uint32_t new = add_entry(m, p->tensor, t, p->rank, p->dim);
        if (json_object_set_new(m->joined, p->tensor, json_integer(new))) m->fits = false;
        return new;
    }
    uint32_t entry = (uint32_t)json_integer_value(known);
    TensorPlan *y = &m->c->entry[entry];
    FileType type = type_of(m, t);
    if (y->rank != p->rank || memcmp(y->dim, p->dim, (size_t)p->rank * sizeof *p->dim) != 0)
        m->odd = p->tensor;
    m->fits &= y->type == type && !m->odd;
    if (file_type_bytes(type) > file_type_bytes(y->type)) y->type = type;
    return entry;
}

static void place_parts(EntryBuilder *m, CkTensor *t) {
    for (uint32_t k = 0; k < t->n_part; k++) {
        const StoredPart *s = &t->part[k].part;
        t->placed[k] = (CkPlaced){joined_entry(m, t, &t->part[k]), *s};
        if (!has_runs(s)) m->alone += s->n;
    }
    qsort(t->placed, t->n_placed, sizeof *t->placed, by_first);
    m->fits &= is_complete(t) && m->alone <= MOST_ALONE;
}

static void place_tensor(EntryBuilder *m, CkTensor *t, bool as_saved) {
    bool saved = as_saved && ck_is_weight(m->c, t), parts = saved && t->n_part;
    bool transposed = saved && t->transposed;
    int64_t dim[MAX_RANK];
    t->n_placed = parts ? t->n_part : 1;
    t->placed = arena_array(m->a, CkPlaced, t->n_placed);
    if (parts) {
        place_parts(m, t);
        return;
    }
    for (int k = 0; k < t->rank; k++) dim[k] = t->dim[transposed ? t->rank - 1 - k : k];
    if (saved && !*t->saved_as) m->fits = false;
    t->placed[0] = (CkPlaced){add_entry(m, saved ? t->saved_as : t->name, t, t->rank, dim),
                              whole_part(t, transposed)};
}

static bool place_all(EntryBuilder *m, CkTensor *const *order, uint32_t n, bool as_saved) {
    m->c->n_entry = 0;
    m->joined = json_object();
    m->fits = true;
    for (uint32_t k = 0; k < n; k++) {
        place_tensor(m, order[k], as_saved);
        for (uint32_t i = 0; i < order[k]->n_placed && m->last; i++)
            m->last[order[k]->placed[i].entry] = k;
    }
    json_decref(m->joined);
    return m->fits;
}

static size_t most_entries(const CkContents *c) {
    size_t most = c->n_tensor + 1;
    for (uint32_t i = 0; i < c->n_tensor; i++) most += c->tensor[i].n_part;
    return most;
}

uint32_t *ck_entries(CkContents *c, CkTensor *const *order, Arena *a) {
    EntryBuilder m = {.c = c, .a = a};
    c->entry = arena_array(a, TensorPlan, most_entries(c));
    m.last = arena_array(a, uint32_t, most_entries(c));
    c->as_saved = (!c->stores_as_in_model || ck_stores_as_in_model(c)) &&
                  place_all(&m, order, c->n_tensor, true);
    if (!c->as_saved) place_all(&m, order, c->n_tensor, false);
    return m.last;
}

/* ---- entries of --save */

static int by_place(const void *a, const void *b) {
    const CkTensor *x = *(const CkTensor *const *)a, *y = *(const CkTensor *const *)b;
    return x->saved_at < y->saved_at ? -1 : x->saved_at > y->saved_at;
}

/* Removes tensors of which nothing is written. */
static void drop_entries(CkContents *c, CkTensor *const *order, uint32_t n, Arena *a) {
    uint32_t *number = arena_array(a, uint32_t, c->n_entry + 1), kept = 0;
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < order[k]->n_placed; i++) number[order[k]->placed[i].entry] = 1;
    for (uint32_t i = 0; i < c->n_entry; i++) {
        if (!number[i]) continue;
        c->entry[kept] = c->entry[i];
        number[i] = kept++;
    }
    c->n_entry = kept;
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < order[k]->n_placed; i++) {
            CkPlaced *p = &order[k]->placed[i];
            p->entry = number[p->entry];
        }
}

const char *ck_saved_entries(CkContents *c, const bool *left_out, FileType type, Arena *a) {
    EntryBuilder m = {.c = c, .a = a};
    CkTensor **order = arena_array(a, CkTensor *, c->n_tensor + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n_tensor; i++) {
        CkTensor *t = &c->tensor[i];
        t->n_placed = 0;
        if (ck_is_weight(c, t) && (*t->saved_as || t->n_part)) order[n++] = t;
    }
    qsort(order, n, sizeof *order, by_place);
    c->entry = arena_array(a, TensorPlan, most_entries(c));
    place_all(&m, order, n, true);
    for (uint32_t k = 0; k < n; k++)
        if (left_out && left_out[order[k] - c->tensor]) order[k]->n_placed = 0;
    drop_entries(c, order, n, a);
    for (uint32_t i = 0; i < c->n_entry && type != FT_COUNT; i++) c->entry[i].type = type;
    return m.odd;
}
