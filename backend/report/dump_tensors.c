/* The largest tensors at the peak: states, and values that hold memory at the instruction with the
 * most live bytes. Where several hold the same byte, it counts for one, of the category for which
 * lives_at counts it; so the sums by category are those of the peak. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"

typedef struct Holder {
    uint64_t at, bytes;
    uint32_t number;
    Category category;
    PeakTensor row; /* its bytes: those that no other one counts */
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
    Holder one = {at, bytes, 0, category, row};
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

/* Where a holder begins or ends. */
typedef struct HolderBorder {
    uint64_t at;
    uint32_t holder;
    bool begins;
} HolderBorder;

static int by_address(const void *a, const void *b) {
    const HolderBorder *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* Adds or removes a holder; few hold the same byte. */
static void update_active(Arena *a, Holders *active, const HolderBorder *b, const Holder *one) {
    uint32_t k = 0;
    if (b->begins) {
        vec_push(a, &active->list, *one);
        return;
    }
    while (active->list.at[k].number != b->holder) k++;
    active->list.at[k] = active->list.at[--active->list.n];
}

/* Of those that hold a byte the one that counts: the first category, the largest, the first. */
static uint32_t counting(const Holders *active) {
    const Holder *best = active->list.at;
    for (const Holder *h = best; h < active->list.at + active->list.n; h++) {
        bool before = h->category < best->category;
        if (h->category == best->category)
            before = h->bytes != best->bytes ? h->bytes > best->bytes : h->number < best->number;
        if (before) best = h;
    }
    return best->number;
}

/* A sweep over addresses, as that of lives_at. */
static void count_bytes(Holders *h, Arena *a) {
    Holders active = {{0}};
    uint32_t n = 0;
    HolderBorder *border = arena_array(a, HolderBorder, 2 * h->list.n + 1);
    for (uint32_t i = 0; i < h->list.n; i++) {
        Holder *one = &h->list.at[i];
        one->number = i;
        border[n++] = (HolderBorder){one->at, i, true};
        border[n++] = (HolderBorder){one->at + one->bytes, i, false};
    }
    qsort(border, n, sizeof *border, by_address);
    for (uint32_t i = 0; i + 1 < n; i++) {
        update_active(a, &active, &border[i], &h->list.at[border[i].holder]);
        if (active.list.n)
            h->list.at[counting(&active)].row.bytes += border[i + 1].at - border[i].at;
    }
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
        if (!one->row.bytes) continue;
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

const PeakTensor *peak_tensors(const Plan *p, Arena *a, uint32_t *n) {
    View v = {.p = p, .a = a};
    Holders h = {{0}};
    *n = 0;
    if (!p->n_instrs) return NULL;
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
    count_bytes(&h, a);
    join_rows(&h);
    PeakTensor *out = arena_array(a, PeakTensor, h.list.n);
    for (; *n < h.list.n; ++*n) {
        out[*n] = h.list.at[*n].row;
        if (out[*n].file) out[*n].file = arena_strdup(a, out[*n].file);
    }
    return out;
}
