/* Form full: the tensors of its files, and the places of the state's tensors in them.
 *
 * Each parameter's moments are tensors of their own. Weights are the tensors that --save writes: if
 * --save stores one transposed, joins several parameters or splits one, so does the checkpoint. The
 * folder is thus one that other programs open as a model.
 *
 * If --save would interleave parameters element by element, so that no rank could write its part in
 * runs of reasonable length, all weights keep the names and shapes of the model file. The same
 * holds for weights whose parts differ in dtype, and for version 4 in place of all that would be
 * transposed or joined.
 */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "checkpoint.h"

enum { MOST_ALONE = 1 << 20 }; /* numbers whose neighbours belong to other parameters */

static bool is_weight(const CkContents *c, const CkTensor *t) {
    return c->vector[t->vector].role == STATE_PARAM;
}

bool ck_stores_as_in_model(const CkContents *c) {
    for (uint32_t i = 0; i < c->n_tensor; i++) {
        const CkTensor *t = &c->tensor[i];
        if (is_weight(c, t) && (!*t->saved_as || t->transposed)) return false;
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
    uint32_t *last;
    int64_t alone;
    bool fits;
} EntryBuilder;

static uint32_t add_entry(EntryBuilder *m, const char *name, const CkTensor *t, int32_t rank,
                          const int64_t *dim) {
    CkContents *c = m->c;
    CkEntry *y = &c->entry[c->n_entry];
    *y = (CkEntry){.name = name, .dtype = c->vector[t->vector].dtype, .rank = rank, .elements = 1};
    memcpy(y->dim, dim, (size_t)rank * sizeof *dim);
    for (int k = 0; k < rank; k++) y->elements *= dim[k];
    return c->n_entry++;
}

/* Finds or adds the tensor of --save that contains the part; shape and dtype are those of its other
 * parts. */
static uint32_t joined_entry(EntryBuilder *m, const CkTensor *t, const CkPart *p) {
    json_t *known = json_object_get(m->joined, p->tensor);
    if (!known) {
        uint32_t new = add_entry(m, p->tensor, t, p->rank, p->dim);
        if (json_object_set_new(m->joined, p->tensor, json_integer(new))) m->fits = false;
        return new;
    }
    uint32_t entry = (uint32_t)json_integer_value(known);
    const CkEntry *y = &m->c->entry[entry];
    m->fits &= y->dtype == m->c->vector[t->vector].dtype && y->rank == p->rank &&
               !memcmp(y->dim, p->dim, (size_t)p->rank * sizeof *p->dim);
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
    bool saved = as_saved && is_weight(m->c, t), parts = saved && t->n_part;
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

static bool place_all(EntryBuilder *m, const uint32_t *order, bool as_saved) {
    CkContents *c = m->c;
    c->n_entry = 0;
    m->joined = json_object();
    m->fits = true;
    for (uint32_t k = 0; k < c->n_tensor; k++) {
        CkTensor *t = &c->tensor[order[k]];
        place_tensor(m, t, as_saved);
        for (uint32_t i = 0; i < t->n_placed; i++) m->last[t->placed[i].entry] = k;
    }
    json_decref(m->joined);
    return m->fits;
}

uint32_t *ck_entries(CkContents *c, const uint32_t *order, Arena *a) {
    EntryBuilder m = {.c = c, .a = a};
    size_t most = c->n_tensor + 1;
    for (uint32_t i = 0; i < c->n_tensor; i++) most += c->tensor[i].n_part;
    c->entry = arena_array(a, CkEntry, most);
    m.last = arena_array(a, uint32_t, most);
    c->as_saved =
        (!c->stores_as_in_model || ck_stores_as_in_model(c)) && place_all(&m, order, true);
    if (!c->as_saved) place_all(&m, order, false);
    return m.last;
}
