/* The largest tensors at the peak: states, and values that hold memory at the instruction with the
 * most live bytes. A value inside memory that another one holds is not counted again. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"

typedef struct Holder {
    uint64_t at, bytes;
    PeakTensor row;
} Holder;

typedef struct Holders {
    VEC(Holder) list;
} Holders;

/* "h.3.mlp.act" as h.*.mlp.act: a part of a path that is a number is a star. */
static const char *without_numbers(const char *name, Arena *a) {
    char *out = arena_strdup(a, name), *to = out;
    for (const char *at = name; *at;) {
        size_t digits = strspn(at, "0123456789");
        bool part = digits && (at == name || at[-1] == '.') &&
                    !(isalnum((unsigned char)at[digits]) || at[digits] == '_');
        size_t n = part || !digits ? MAX(digits, (size_t)1) : digits;
        if (part)
            *to++ = '*';
        else
            for (size_t k = 0; k < n; k++) *to++ = at[k];
        at += n;
    }
    *to = 0;
    return out;
}

static void add_holder(Holders *h, Arena *a, uint64_t at, uint64_t bytes, Category category,
                       PeakTensor row) {
    row.name = without_numbers(row.name, a);
    row.category = category_info[category].key;
    row.kind = category_info[category].words;
    row.count = 1;
    row.bytes = bytes;
    Holder one = {at, bytes, row};
    if (bytes) vec_push(a, &h->list, one);
}

static void add_values(Holders *h, const View *v, uint64_t instr) {
    const Plan *p = v->p;
    for (uint64_t k = 0; k < p->n_values; k++) {
        const PlanValue *value = &p->values[k];
        const PlanInstr *def = &p->instrs[value->def];
        bool held = v->lives.category[k] < CATEGORY_COUNT && v->lives.first[k] <= instr &&
                    v->lives.last[k] >= instr;
        if (!held) continue;
        PeakTensor row = {.name = v->name[k], .line = def->line};
        if (def->line) row.file = plan_string(p, p->files[def->file].base);
        add_holder(h, v->a, value->address, plan_room(p, value), (Category)v->lives.category[k],
                   row);
    }
}

/* By address; of those that begin together, the largest first. */
static int by_place(const void *a, const void *b) {
    const Holder *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

static void drop_covered(Holders *h) {
    uint64_t end = 0;
    uint32_t n = 0;
    qsort(h->list.at, h->list.n, sizeof *h->list.at, by_place);
    for (uint32_t i = 0; i < h->list.n; i++) {
        Holder one = h->list.at[i];
        if (one.at + one.bytes <= end) continue;
        end = one.at + one.bytes;
        h->list.at[n++] = one;
    }
    h->list.n = n;
}

static int by_row(const void *a, const void *b) {
    const PeakTensor *x = &((const Holder *)a)->row, *y = &((const Holder *)b)->row;
    int order = strcmp(x->category, y->category);
    if (!order) order = strcmp(x->name, y->name);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

static int by_bytes(const void *a, const void *b) {
    const Holder *x = a, *y = b;
    if (x->row.bytes != y->row.bytes) return x->row.bytes < y->row.bytes ? 1 : -1;
    return by_row(a, b);
}

static void join_rows(Holders *h) {
    uint32_t n = 0;
    qsort(h->list.at, h->list.n, sizeof *h->list.at, by_row);
    for (uint32_t i = 0; i < h->list.n; i++) {
        Holder *last = n ? &h->list.at[n - 1] : NULL, *one = &h->list.at[i];
        if (last && !by_row(last, one)) {
            last->row.count++;
            last->row.bytes += one->row.bytes;
        } else {
            h->list.at[n++] = *one;
        }
    }
    h->list.n = n;
    qsort(h->list.at, h->list.n, sizeof *h->list.at, by_bytes);
}

uint32_t peak_tensors(const Plan *p, Arena *a, PeakTensor *out, uint32_t max) {
    View v = {.p = p, .a = a};
    Holders h = {{0}};
    if (!p->n_instrs) return 0;
    v.lives = lives_of(p, a);
    view_names(&v);
    for (uint64_t i = 0; i < p->n_states; i++) {
        const PlanState *s = &p->states[i];
        PeakTensor row = {.name = arena_strdup(a, plan_string(p, s->name))};
        if (!address_is_host(s->address))
            add_holder(&h, a, s->address, (uint64_t)type_bytes(&s->type),
                       lives_state((StateRole)s->role), row);
    }
    add_values(&h, &v, lives_peak(p));
    drop_covered(&h);
    join_rows(&h);
    uint32_t n = MIN(h.list.n, max);
    for (uint32_t i = 0; i < n; i++) {
        out[i] = h.list.at[i].row;
        if (out[i].file) out[i].file = arena_strdup(a, out[i].file);
    }
    return n;
}
