/* Entries of a names table whose tensors are not whole parameters.
 *
 *   "h.*.q.weight" = "h.*.qkv.weight"[0 : H * hd]        a range of its first axis
 *   "h.*.e.*.up"   = "h.*.experts.up"[*, F : 2 * F]      one of the experts that it stacks
 *   "h.*.q.weight" = "h.*.qkv.weight" as [(H, 3, hd), D][:, 0]     one axis seen as three
 *   "h.*.qk"       = ["h.*.q.weight", "h.*.k.weight"]    several tensors, one after another
 *
 * In: the entries, and the parameters that they name. Out: the tensors, in the order of their first
 * parameters, and the parts of parameters that are in them (stored.h).
 *
 * An entry sees a tensor as axes. Along each it takes one index (an integer, or `*`: what the
 * pattern's next `*` matched), a range, or all; the axes that are left are those of the parameter,
 * which can merge several into one. Without `as` the sizes of a tensor follow from its parameters.
 * All entries together must cover it, each number once, because a save writes all of it.
 */
#include <stdlib.h>
#include <string.h>

#include "evaluate.h"
#include "weights.h"

/* ---- lookups ---- */

int count_stars(const char *text) {
    int n = 0;
    for (; *text; text++) n += *text == '*';
    return n;
}

NamesRule *names_rule(const NamesTable *t, const char *path) {
    for (uint32_t i = 0; i < t->rules.n; i++)
        if (glob_match(t->rules.at[i].pattern, path, NULL, NULL, 0)) return &t->rules.at[i];
    return NULL;
}

const char *fill_stars(Arena *a, const char *name, const char *const *captures, int n, int *used) {
    Buf out = {0};
    for (const char *c = name; *c;) {
        size_t plain = strcspn(c, "*");
        buf_write(&out, c, plain);
        c += plain;
        if (!*c) break;
        if (*used == n) {
            buf_free(&out);
            return NULL;
        }
        buf_write(&out, captures[*used], strlen(captures[*used]));
        ++*used;
        c++;
    }
    return buf_text(a, &out);
}

/* ---- entries ---- */

/* An axis of a tensor as an entry sees it. size and count: 0 while unknown. */
typedef struct TakenAxis {
    int64_t size, from, count;
    bool dropped; /* only one index of it is taken */
    int file;     /* which axis of the file it is a part of */
} TakenAxis;

/* The part of one tensor that an entry takes for a parameter. */
typedef struct TakenPart {
    const char *name;
    const Param *param;
    Span span;
    uint32_t row, tensor; /* of the parameters; of the tensors */
    int64_t first, rows;  /* of the parameter's first axis; rows 0: not known yet */
    bool transposed, viewed;
    int rank;
    TakenAxis axis[MAX_RANK];
} TakenPart;

typedef struct EntryReader {
    Elaboration *e;
    NamesTable *table;
    NamesRule *rule;
    const Param *param;
    const char **captures;
    int n_captures, used;
    VEC(TakenPart) taken;
    VEC(Span) reported; /* one error per entry is enough */
} EntryReader;

#define REFUSE(r, at, help, ...)                                                                   \
    diag_report((r)->e->model->ds, E_names_table, at, help, __VA_ARGS__)

static Arena *arena_of(const EntryReader *r) { return r->e->model->arena; }

/* ---- reading an entry */

static const Node *name_node(const Node *e) {
    if (e->kind == NODE_INDEX) e = e->kids[0];
    if (e->kind == NODE_AS) e = e->kids[0];
    return e;
}

bool is_parts_entry(const Node *value) {
    if (value->kind != NODE_LIST)
        return value->kind != NODE_STRING && name_node(value)->kind == NODE_STRING;
    for (uint32_t i = 0; i < value->n; i++)
        if (name_node(value->kids[i])->kind != NODE_STRING) return false;
    return value->n > 0;
}

static bool read_integer(EntryReader *r, const Node *e, int64_t least, int64_t *out) {
    Scope s = {.model = r->e->model};
    ExprValue v = evaluate(&s, e);
    if (v.kind == VALUE_ERROR) return false;
    *out = v.integer;
    if (v.kind == VALUE_INT && v.integer >= least && v.integer <= MOST_ELEMENTS) return true;
    return REFUSE(r, e->span, NULL,
                  least ? "the size of an axis must be a positive integer"
                        : "an index must be an integer from 0 on");
}

static bool is_star(const Node *e) { return e->kind == NODE_REF && !strcmp(e->text, "*"); }

/* What the pattern's next `*` matched, which must be the index of a module in its array. */
static bool read_star(EntryReader *r, const Node *e, int64_t *out) {
    const char *text = r->used < r->n_captures ? r->captures[r->used++] : "";
    size_t digits = strspn(text, "0123456789");
    *out = strtoll(text, NULL, 10);
    if (digits && digits < 10 && !text[digits]) return true;
    return REFUSE(
        r, e->span, "the name in quotes uses the first ones, an index those after them", "%s",
        *text ? arena_printf(arena_of(r),
                             "`*` as an index must be a number, but in `%s` it matches `%s`",
                             r->param->key, text)
              : "the pattern has no further `*` for this index");
}

static bool read_index(EntryReader *r, const Node *e, TakenAxis *a) {
    const Node *end = e->kind == NODE_RANGE ? e->kids[1] : NULL;
    int64_t to = a->size;
    if (e->n > 2)
        return REFUSE(r, e->kids[2]->span, "name each row, or take an axis apart with `as`",
                      "ranges of stored tensors have no step");
    if (is_star(e) || e->kind != NODE_RANGE) {
        a->dropped = true;
        a->count = 1;
        return is_star(e) ? read_star(r, e, &a->from) : read_integer(r, e, 0, &a->from);
    }
    if (e->kids[0] && !read_integer(r, e->kids[0], 0, &a->from)) return false;
    if (end && !read_integer(r, end, 0, &to)) return false;
    if ((end || to) && to <= a->from) return REFUSE(r, e->span, NULL, "this range is empty");
    a->count = to ? to - a->from : 0;
    return true;
}

static bool add_axis(EntryReader *r, TakenPart *p, const Node *size, int file) {
    if (size->kind == NODE_NAMED) return REFUSE(r, size->span, NULL, "an axis has only a size");
    if (p->rank == MAX_RANK)
        return REFUSE(r, size->span, NULL, "a tensor can have at most six axes");
    TakenAxis *a = &p->axis[p->rank++];
    a->file = file;
    return read_integer(r, size, 1, &a->size);
}

/* `as [(H, 3, hd), D]`: axes in parentheses are one axis in the file. */
static bool read_shape(EntryReader *r, const Node *shape, TakenPart *p) {
    p->viewed = true;
    for (uint32_t i = 0; i < shape->n; i++) {
        const Node *e = shape->kids[i];
        bool several = e->kind == NODE_TUPLE && e->n > 1;
        for (uint32_t k = 0; k < (several ? e->n : 1); k++)
            if (!add_axis(r, p, several ? e->kids[k] : e, (int)i)) return false;
    }
    return true;
}

/* Keeps products of sizes from overflowing. */
static bool check_size(EntryReader *r, const TakenPart *p) {
    int64_t sizes = 1, counts = 1;
    for (int i = 0; i < p->rank; i++) {
        int64_t size = MAX(p->axis[i].size, 1), count = MAX(p->axis[i].count, 1);
        if (size > MOST_ELEMENTS / sizes || count > MOST_ELEMENTS / counts)
            return REFUSE(r, p->span, NULL, "this tensor is too large");
        sizes *= size;
        counts *= count;
    }
    return true;
}

static bool read_indices(EntryReader *r, const Node *list, TakenPart *p) {
    int rank = r->param->type.rank;
    for (uint32_t i = 0; i < list->n; i++) rank += list->kids[i]->kind != NODE_RANGE;
    if (!p->viewed) p->rank = rank;
    if (p->rank > MAX_RANK || (int)list->n > p->rank)
        return REFUSE(r, list->span, NULL, "there are more indices than axes");
    for (int i = 0; i < p->rank; i++) {
        TakenAxis *a = &p->axis[i];
        if (!p->viewed) a->file = i;
        if (i < (int)list->n && !read_index(r, list->kids[i], a)) return false;
        if (i >= (int)list->n) a->count = a->size;
        if (!a->size || a->from + a->count <= a->size) continue;
        return REFUSE(r, list->kids[i]->span, NULL, "this is past the end of the axis");
    }
    return check_size(r, p);
}

static bool read_part(EntryReader *r, const Node *e, TakenPart *p) {
    static const Node none;
    const Node *name = name_node(e), *index = e->kind == NODE_INDEX ? e->kids[1] : &none;
    const Node *as = e->kind == NODE_INDEX ? e->kids[0] : e;
    size_t n = strlen(name->text);
    *p = (TakenPart){.param = r->param,
                     .span = e->span,
                     .row = (uint32_t)(r->param - r->e->graph->params.at),
                     .transposed = n > 2 && !strcmp(name->text + n - 2, "^T")};
    r->used = 0;
    p->name =
        fill_stars(arena_of(r), arena_strndup(arena_of(r), name->text, n - (p->transposed ? 2 : 0)),
                   r->captures, r->n_captures, &r->used);
    if (!p->name)
        return REFUSE(r, name->span, NULL, "\"%s\" has more `*` than its pattern \"%s\"",
                      name->text, r->rule->pattern);
    if (!*p->name)
        return REFUSE(r, name->span, NULL, "this entry gives `%s` an empty name", r->param->key);
    if (p->transposed && r->param->type.rank != 2)
        return REFUSE(r, name->span, NULL, "`%s` is stored transposed (^T), but is not a matrix",
                      r->param->key);
    if (as->kind == NODE_AS && !read_shape(r, as->kids[1], p)) return false;
    return read_indices(r, index, p);
}

/* ---- axes of the tensor against those of the parameter */

static int64_t row_elements(const Param *p) {
    return p->type.rank ? type_elements(&p->type) / p->type.dim[0] : 1;
}

/* Rows of the parameter that follow from the entry's own numbers; 0: unknown. */
static int64_t rows_said(const TakenPart *p) {
    int64_t n = 1, each = row_elements(p->param);
    int last = p->rank - 1, seen = 0;
    if (p->viewed) {
        for (int i = 0; i < p->rank; i++) n *= p->axis[i].count;
        return n % each ? 0 : n / each;
    }
    for (int i = 0; i < p->rank; i++) {
        const TakenAxis *a = &p->axis[p->transposed ? last - i : i];
        if (!a->dropped && !seen++) return a->count;
    }
    return 0;
}

/* The axes that are left, in the parameter's order, as numbers of p->axis. */
static int left_axes(const TakenPart *p, int *axis) {
    int n = 0, split = 0;
    int64_t columns = 1, all[MAX_RANK];
    for (int i = 0; i < p->rank; i++)
        if (!p->axis[i].dropped) all[n++] = i;
    if (p->transposed && !p->viewed) split = 1;
    while (p->transposed && p->viewed && split < n && columns < p->param->type.dim[1])
        columns *= p->axis[all[split++]].count;
    for (int i = 0; i < n; i++) axis[i] = (int)all[(i + split) % n];
    return n;
}

/* Do these axes match the parameter's, which can merge several into one? */
static bool axes_fit(const TakenPart *p, const int *axis, int n) {
    int i = 0;
    for (int k = 0; k < p->param->type.rank; k++) {
        int64_t want = k ? p->param->type.dim[k] : p->rows, have = 1;
        for (; i < n && have < want; i++) have *= p->axis[axis[i]].count;
        if (have != want) return false;
    }
    while (i < n && p->axis[axis[i]].count == 1) i++;
    return i == n;
}

static const char *taken_text(const EntryReader *r, const TakenPart *p, const int *axis, int n) {
    const char *text = "[";
    for (int i = 0; i < n; i++)
        text = arena_printf(arena_of(r), "%s%s%lld", text, i ? ", " : "",
                            (long long)p->axis[axis[i]].count);
    return arena_printf(arena_of(r), "%s]", text);
}

static bool check_axes_fit(EntryReader *r, TakenPart *p) {
    const Type *t = &p->param->type;
    int axis[MAX_RANK], n = left_axes(p, axis);
    for (int i = 0; i < n && !p->viewed; i++)
        if (!p->axis[axis[i]].count) p->axis[axis[i]].count = i ? t->dim[i] : p->rows;
    if (axes_fit(p, axis, n)) return true;
    const char *want = "[";
    for (int i = 0; i < t->rank; i++)
        want = arena_printf(arena_of(r), "%s%s%lld", want, i ? ", " : "",
                            (long long)(i ? t->dim[i] : p->rows));
    return REFUSE(r, p->span, NULL, "this takes %s%s of %s, but `%s` is %s]",
                  taken_text(r, p, axis, n), p->transposed ? " (transposed)" : "", p->name,
                  p->param->key, want);
}

/* Rows of the parameter for each tensor of a list: those that an entry states, and an equal part
 * of the rest. */
static bool share_rows(EntryReader *r, TakenPart *place, uint32_t n, Span at) {
    int64_t rows = r->param->type.rank ? r->param->type.dim[0] : 1, rest = rows, first = 0;
    uint32_t silent = 0;
    for (uint32_t i = 0; i < n; i++) {
        place[i].rows = n == 1 ? rows : rows_said(&place[i]);
        rest -= place[i].rows;
        silent += !place[i].rows;
    }
    if (rest < 0 || (silent ? rest % silent || !rest : rest != 0))
        return REFUSE(
            r, at, "use a range to say how many rows a tensor holds, as in \"k.weight\"[0 : 8]",
            "these tensors do not add up to the %lld rows of `%s`", (long long)rows, r->param->key);
    for (uint32_t i = 0; i < n; i++) {
        if (!place[i].rows) place[i].rows = rest / silent;
        place[i].first = first;
        first += place[i].rows;
    }
    return true;
}

static bool read_entry(EntryReader *r) {
    const Node *value = r->rule->parts;
    bool list = value->kind == NODE_LIST;
    uint32_t n = list ? value->n : 1;
    TakenPart *place = arena_array(arena_of(r), TakenPart, n);
    if (r->param->aliases.n)
        return REFUSE(r, r->rule->span, "give it a name of its own",
                      "`%s` is tied, so it cannot be a part of a tensor", r->param->key);
    for (uint32_t i = 0; i < n; i++)
        if (!read_part(r, list ? value->kids[i] : value, &place[i])) return false;
    if (!share_rows(r, place, n, value->span)) return false;
    for (uint32_t i = 0; i < n; i++) {
        if (!check_axes_fit(r, &place[i])) return false;
        vec_push(arena_of(r), &r->taken, place[i]);
    }
    return true;
}

/* ---- the tensors */

/* The axes of a tensor, from all entries that take a part of it. */
static bool join_axes(EntryReader *r, TakenPart *all, const TakenPart *p) {
    bool same = all->rank == p->rank && all->viewed == p->viewed;
    for (int i = 0; same && i < p->rank; i++) {
        TakenAxis *a = &all->axis[i];
        same = a->size == p->axis[i].size || !p->viewed;
        same = same && a->file == p->axis[i].file;
        if (!p->viewed) a->size = MAX(a->size, p->axis[i].from + p->axis[i].count);
    }
    return same || REFUSE(r, p->span, NULL, "`%s` and `%s` give %s different axes", all->param->key,
                          p->param->key, p->name);
}

static bool are_apart(const TakenPart *p, const TakenPart *q) {
    for (int i = 0; i < p->rank; i++) {
        const TakenAxis *a = &p->axis[i], *b = &q->axis[i];
        if (a->from + a->count <= b->from || b->from + b->count <= a->from) return true;
    }
    return false;
}

static bool check_filled(EntryReader *r, const TakenPart *all, const TakenPart *const *p,
                         uint32_t n) {
    int64_t size = 1, taken = 0;
    for (int i = 0; i < all->rank; i++) {
        if (all->axis[i].size > MOST_ELEMENTS / size)
            return REFUSE(r, all->span, NULL, "this tensor is too large");
        size *= all->axis[i].size;
    }
    for (uint32_t i = 0; i < n; i++) {
        taken += p[i]->rows * row_elements(p[i]->param);
        for (uint32_t k = 0; k < i; k++)
            if (!are_apart(p[i], p[k]))
                return REFUSE(r, p[i]->span, NULL, "`%s` and `%s` take the same numbers of %s",
                              p[k]->param->key, p[i]->param->key, all->name);
    }
    return taken == size ||
           REFUSE(r, all->span,
                  "every number of a tensor must belong to one parameter, because a save "
                  "writes all of them",
                  "%lld of the %lld numbers of %s belong to no parameter",
                  (long long)(size - taken), (long long)size, all->name);
}

/* The number of elements between neighbours along an axis. */
static int64_t stride_of(const TakenPart *all, int axis) {
    int64_t stride = 1;
    for (int i = axis + 1; i < all->rank; i++) stride *= all->axis[i].size;
    return stride;
}

/* all: the axes of its tensor. */
static StoredPart make_part(const TakenPart *p, const TakenPart *all) {
    int64_t each = row_elements(p->param);
    StoredPart s = {.param = p->row, .first = p->first * each, .n = p->rows * each};
    int axis[MAX_RANK], n = left_axes(p, axis);
    for (int i = 0; i < p->rank; i++) s.offset += p->axis[i].from * stride_of(all, i);
    for (int i = 0; i < n; i++) {
        int64_t count = p->axis[axis[i]].count, stride = stride_of(all, axis[i]);
        int last = s.rank - 1;
        if (count == 1) continue;
        bool joins = s.rank && s.stride[last] == count * stride;
        if (!joins) s.dim[s.rank++] = 1;
        s.dim[s.rank - 1] *= count;
        s.stride[s.rank - 1] = stride;
    }
    if (!s.rank) s.dim[s.rank] = s.stride[s.rank] = 1, s.rank = 1;
    return s;
}

static void add_tensor(EntryReader *r, const TakenPart *all, const TakenPart *const *p,
                       uint32_t n) {
    FileNames *t = &r->table->file;
    Arena *kept = r->e->graph->arena;
    StoredTensor out = {
        .name = arena_strdup(kept, all->name), .first_part = t->parts.n, .n_part = n};
    for (int i = 0; i < all->rank; i++) {
        int file = all->axis[i].file;
        if (file == out.rank) out.dim[out.rank++] = 1;
        out.dim[file] *= all->axis[i].size;
    }
    vec_push(kept, &t->stored, out);
    for (uint32_t i = 0; i < n; i++) vec_push(kept, &t->parts, make_part(p[i], all));
}

static int by_tensor(const void *a, const void *b) {
    const TakenPart *p = *(const TakenPart *const *)a, *q = *(const TakenPart *const *)b;
    if (p->tensor != q->tensor) return p->tensor < q->tensor ? -1 : 1;
    return p < q ? -1 : p > q;
}

/* Numbers the tensors by their first places; returns how many they are. */
static uint32_t number_tensors(EntryReader *r) {
    const char **name = arena_array(arena_of(r), const char *, r->taken.n + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->taken.n; i++) {
        TakenPart *p = &r->taken.at[i];
        for (p->tensor = n; p->tensor > 0 && strcmp(name[p->tensor - 1], p->name);) p->tensor--;
        if (p->tensor)
            p->tensor--;
        else
            name[p->tensor = n++] = p->name;
    }
    return n;
}

static void make_tensors(EntryReader *r) {
    const TakenPart **sorted = arena_array(arena_of(r), const TakenPart *, r->taken.n + 1);
    uint32_t tensors = number_tensors(r), end = 0;
    for (uint32_t i = 0; i < r->taken.n; i++) sorted[i] = &r->taken.at[i];
    qsort(sorted, r->taken.n, sizeof *sorted, by_tensor);
    for (uint32_t t = 0; t < tensors; t++) {
        uint32_t first = end;
        TakenPart all = *sorted[first];
        bool good = true;
        for (uint32_t k = 0; k < r->reported.n; k++)
            good = good && memcmp(&r->reported.at[k], &all.span, sizeof all.span) != 0;
        bool reported = !good;
        for (; end < r->taken.n && sorted[end]->tensor == t; end++)
            good = good && join_axes(r, &all, sorted[end]);
        good = good && check_filled(r, &all, sorted + first, end - first);
        if (good)
            add_tensor(r, &all, sorted + first, end - first);
        else if (!reported)
            vec_push(arena_of(r), &r->reported, all.span);
    }
}

/* The entry that makes the parameter a part of a tensor, or NULL. Any name of a tied parameter
 * counts. */
static NamesRule *entry_of(const NamesTable *t, const Param *p) {
    NamesRule *rule = names_rule(t, p->key);
    for (uint32_t k = 0; k < p->aliases.n && !(rule && rule->parts); k++)
        rule = names_rule(t, p->aliases.at[k].path);
    return rule && rule->parts ? rule : NULL;
}

void make_stored_tensors(Elaboration *e, NamesTable *t) {
    EntryReader r = {.e = e, .table = t};
    bool good = true;
    for (uint32_t i = 0; i < e->graph->params.n; i++) {
        r.param = &e->graph->params.at[i];
        r.rule = entry_of(t, r.param);
        if (!r.rule || r.rule->wrong) continue;
        int stars = count_stars(r.rule->pattern);
        r.captures = arena_array(arena_of(&r), const char *, (size_t)stars + 1);
        r.n_captures = stars;
        glob_match(r.rule->pattern, r.param->key, arena_of(&r), r.captures, stars);
        bool read = read_entry(&r);
        r.rule->wrong = !read; /* one error an entry */
        good &= read;
    }
    if (good) make_tensors(&r);
}
