/* The largest tensors at the peak: states, and values that hold memory at the instruction with the
 * most live bytes. Where several hold the same byte, it counts for one, as lives_at says. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"

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

static PeakTensor row_of(const View *v, const Holder *h) {
    const Plan *p = v->p;
    PeakTensor row = {.name = "kept activations",
                      .category = category_info[h->category].key,
                      .kind = category_info[h->category].words,
                      .count = 1,
                      .bytes = h->counts};
    if (h->state >= 0) row.name = plan_string(p, p->states[h->state].name);
    if (h->value >= 0) {
        const PlanInstr *def = &p->instrs[p->values[h->value].def];
        row.name = v->name[h->value];
        row.line = def->line;
        if (def->line) row.file = arena_strdup(v->a, plan_string(p, p->files[def->file].base));
    }
    row.name = without_numbers(row.name, v->a);
    return row;
}

static int by_row(const void *a, const void *b) {
    const PeakTensor *x = a, *y = b;
    int order = strcmp(x->category, y->category);
    if (!order) order = strcmp(x->name, y->name);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

static int by_bytes(const void *a, const void *b) {
    const PeakTensor *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
    return by_row(a, b);
}

const PeakTensor *peak_tensors(const Plan *p, Arena *a, uint32_t *n) {
    View v = {.p = p, .a = a};
    *n = 0;
    if (!p->n_instrs) return NULL;
    v.lives = lives_of(p, a);
    view_names(&v);
    Holders h = lives_at(&v.lives, lives_peak(p), a);
    PeakTensor *row = arena_array(a, PeakTensor, h.n + 1);
    uint32_t rows = 0;
    for (uint32_t i = 0; i < h.n; i++)
        if (h.at[i].counts) row[rows++] = row_of(&v, &h.at[i]);
    qsort(row, rows, sizeof *row, by_row);
    for (uint32_t i = 0; i < rows; i++) {
        if (*n && !by_row(&row[*n - 1], &row[i])) {
            row[*n - 1].count++;
            row[*n - 1].bytes += row[i].bytes;
        } else {
            row[(*n)++] = row[i];
        }
    }
    qsort(row, *n, sizeof *row, by_bytes);
    return row;
}
