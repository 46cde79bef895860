/* The cuts of an op that is made of others: by column PARTS, or by the steps of a formula.
 *
 * Its values are its operands, its results and what exists only inside it. A cut begins as one cut
 * of one step and spreads: whoever reads or makes a value that is cut must have a cut that matches,
 * which says how its other values are cut; whoever reads a partial value must be linear in it.
 * Where two steps want different things of a value, nothing is found. Values that nothing reaches
 * are whole.
 */
#include "cut_column.h"
#include "parts.h"

#include <string.h>

enum { MOST_VALUES = 64, STEP_VALUES = 8, NO_VALUE = 255 };
_Static_assert((int)FORMULA_OPERANDS + FORMULA_STEPS <= MOST_VALUES, "values of a formula");
_Static_assert((int)PART_OPERANDS + PART_RESULTS <= STEP_VALUES + 1, "values of a part");

typedef struct CutStep {
    OpKind kind;
    Attrs attr;
    bool
        aligned; /* a function of single numbers: operands broadcast, whatever its op's signature */
    uint8_t n_in, n_out, value[STEP_VALUES + 1];
    Type type[STEP_VALUES + 1];
    CutOp op;
    uint32_t n_cuts;
    Cut *cuts;
} CutStep;

typedef struct CutSteps {
    uint32_t n, n_values;
    bool is_formula;
    bool one_shape; /* of a formula without moves: axes of all values count from the last one */
    CutStep *step;
    Type type[MOST_VALUES];
    uint8_t result[FORMULA_RESULTS]; /* the value of each result */
} CutSteps;

/* ---- the steps of an op */

static CutStep *add_step(CutSteps *all, OpKind kind, const Attrs *attr) {
    CutStep *step = &all->step[all->n++];
    *step = (CutStep){.kind = kind, .attr = *attr};
    return step;
}

static void finish_step(const CutSteps *all, CutStep *step) {
    uint32_t n = (uint32_t)step->n_in + step->n_out;
    for (uint32_t v = 0; v < n; v++) step->type[v] = all->type[step->value[v]];
    step->op = (CutOp){.kind = step->kind,
                       .attr = &step->attr,
                       .n_in = step->n_in,
                       .n_out = step->n_out,
                       .in = step->type,
                       .out = step->type + step->n_in};
}

static bool steps_of_formula(const CutOp *op, CutSteps *all) {
    for (uint32_t i = 0; i < op->n_in; i++) all->type[i] = op->in[i];
    if (op->n_in > FORMULA_OPERANDS ||
        !formula_whole_types(op->n_in, op->n_step, op->step, all->type))
        return false;
    all->n_values = op->n_in + op->n_step;
    all->is_formula = true;
    all->one_shape = !formula_moves(op->n_step, op->step);
    for (uint32_t k = 0; k < op->n_step; k++) {
        const FormulaStep *from = &op->step[k];
        Attrs attr;
        OpKind kind = (OpKind)formula_step_op(from, &attr);
        CutStep *step = add_step(all, kind, &attr);
        step->aligned = !scalar_move(from->function) && scalar_row(from->function) == ROW_NONE;
        step->n_in = (uint8_t)scalar_arity(from->function);
        step->n_out = 1;
        memcpy(step->value, from->arg, step->n_in);
        step->value[step->n_in] = (uint8_t)(op->n_in + k);
        if (from->result) all->result[from->result - 1] = (uint8_t)(op->n_in + k);
        finish_step(all, step);
    }
    return true;
}

/* Gives the values that exist only between parts their types. */
static bool infer_inner(CutSteps *all, CutStep *step, const bool *inner) {
    BoundSignature b;
    for (uint32_t i = 0; i < step->n_in; i++) step->type[i] = all->type[step->value[i]];
    if (!signature_bind(&b, step->kind, step->n_in, step->type, 0, NULL)) return false;
    for (uint32_t j = 0; j < step->n_out; j++) {
        uint8_t v = step->value[step->n_in + j];
        if (inner[v]) all->type[v] = signature_infer(&b, j);
        if (all->type[v].dtype == DT_NONE) return false;
    }
    return true;
}

/* The values are operands, results, then what is made in between. */
static bool steps_of_parts(const CutOp *op, CutSteps *all) {
    const OpParts *parts = op_parts(op->kind);
    uint8_t value[PART_INNER + MOST_INNER];
    bool inner[MOST_VALUES] = {false};
    memset(value, NO_VALUE, sizeof value);
    all->n_values = op->n_in + op->n_out;
    for (uint32_t i = 0; i < op->n_in; i++) value[i] = (uint8_t)i, all->type[i] = op->in[i];
    for (uint32_t j = 0; j < op->n_out; j++) {
        value[PART_RESULT + j] = (uint8_t)(op->n_in + j);
        all->type[op->n_in + j] = op->out[j];
    }
    for (uint32_t k = 0; k < parts->n_inner; k++) {
        inner[all->n_values] = true;
        value[PART_INNER + k] = (uint8_t)all->n_values++;
    }
    for (uint32_t k = 0; k < parts->n; k++) {
        const OpPart *part = &parts->part[k];
        CutStep *step = add_step(all, (OpKind)part->op, op->attr);
        for (uint32_t i = 0; i < part->n_in; i++)
            if (value[part->in[i]] != NO_VALUE) step->value[step->n_in++] = value[part->in[i]];
        for (uint32_t j = 0; j < part->n_out; j++)
            step->value[step->n_in + step->n_out++] = value[part->out[j]];
        if (step->n_in < part->n_in && step->n_in < op_signature(step->kind)->in_min) {
            value[part->out[0]] = step->value[0]; /* a sum of one term is that term */
            all->n--;
            continue;
        }
        if (!infer_inner(all, step, inner)) return false;
        finish_step(all, step);
    }
    for (uint32_t j = 0; j < op->n_out; j++) all->result[j] = value[PART_RESULT + j];
    return true;
}

bool cut_is_made_of_steps(const CutOp *op) {
    return op->kind == OP_fused || op_parts(op->kind)->n > 0;
}

static bool find_steps(const CutOp *op, CutSteps *all, Arena *arena) {
    all->n = all->n_values = 0;
    if (op_info[op->kind].scratch)
        return false; /* no part makes it, so nothing says how it is cut */
    if (op->n_in + op->n_out + MOST_INNER > MOST_VALUES || op->n_out > FORMULA_RESULTS)
        return false;
    uint32_t most = op->kind == OP_fused ? op->n_step : op_parts(op->kind)->n;
    all->step = arena_array(arena, CutStep, most + 1);
    return op->kind == OP_fused ? steps_of_formula(op, all) : steps_of_parts(op, all);
}

/* ---- spreading */

typedef struct Spreading {
    const CutSteps *all;
    Arena *arena;
    int64_t size;
    char letter;
    uint8_t pair;
    uint8_t runs; /* of `at` */
    bool at, pads, counts, changed, failed;
    bool known[MOST_VALUES];
    Place place[MOST_VALUES];
} Spreading;

static bool same_place(const Place *a, const Place *b) {
    return a->kind == b->kind && a->dim == b->dim && a->outer == b->outer;
}

static void want(Spreading *s, uint8_t value, const Place *p) {
    if (s->known[value]) {
        s->failed |= !same_place(&s->place[value], p);
        return;
    }
    s->known[value] = s->changed = true;
    s->place[value] = *p;
}

static void want_kind(Spreading *s, uint8_t value, PlaceKind kind) {
    want(s, value, &(Place){.kind = (uint8_t)kind});
}

static uint32_t step_values(const CutStep *step) { return (uint32_t)step->n_in + step->n_out; }

static void want_cut(Spreading *s, const CutStep *step, const Cut *cut) {
    for (uint32_t v = 0; v < step_values(step); v++) want(s, step->value[v], &cut->value[v]);
    if (cut->at) s->runs = s->at ? MIN(s->runs, cut->runs) : cut->runs;
    s->at |= cut->at;
    s->pads &= cut->pads;
    s->counts |= cut->counts;
}

static Cut copy_of_cut(Spreading *s, const CutStep *step, const Cut *cut) {
    Cut copy = *cut;
    copy.value = arena_copy(s->arena, cut->value, sizeof *cut->value * step_values(step));
    return copy;
}

/* The cut of the step that has this one of its values cut in the same way. */
static void spread_cut(Spreading *s, const CutStep *step, uint32_t which) {
    const Place *p = &s->place[step->value[which]];
    for (uint32_t k = 0; k < step->n_cuts; k++) {
        if (step->cuts[k].value[which].kind != PLACE_CUT ||
            step->cuts[k].value[which].dim != p->dim)
            continue;
        Cut cut = copy_of_cut(s, step, &step->cuts[k]);
        if (!cut_match(&cut, step_values(step), which, p, s->size)) continue;
        want_cut(s, step, &cut);
        return;
    }
    s->failed = true;
}

/* The group of LINEAR with which the known operands agree; -1: none, -2: several. */
static int linear_group(const Spreading *s, const CutStep *step) {
    const CutColumn *column = cut_column(step->kind);
    int found = -1;
    for (uint32_t k = 0; k < column->n_linear; k++) {
        bool agrees = true;
        for (uint32_t i = 0; i < step->n_in; i++) {
            uint8_t v = step->value[i];
            PlaceKind kind =
                cut_linear_names(&step->op, column, k, i) ? PLACE_PARTIAL : PLACE_WHOLE;
            agrees &= !s->known[v] || s->place[v].kind == kind;
        }
        if (agrees) found = found == -1 ? (int)k : -2;
    }
    return found;
}

static void spread_partial(Spreading *s, const CutStep *step) {
    const CutColumn *column = cut_column(step->kind);
    int group = linear_group(s, step);
    s->failed |= group == -1;
    if (group < 0) return;
    for (uint32_t i = 0; i < step->n_in; i++)
        want_kind(s, step->value[i],
                  cut_linear_names(&step->op, column, (uint32_t)group, i) ? PLACE_PARTIAL
                                                                          : PLACE_WHOLE);
    for (uint32_t j = 0; j < step->n_out; j++)
        want_kind(s, step->value[step->n_in + j], PLACE_PARTIAL);
}

/* How many of a step's values, from `from` on, are known to be of that kind; *which: the last. */
static uint32_t count_kind(const Spreading *s, const CutStep *step, uint32_t from, uint32_t to,
                           PlaceKind kind, uint32_t *which) {
    uint32_t n = 0;
    for (uint32_t v = from; v < to; v++)
        if (s->known[step->value[v]] && s->place[step->value[v]].kind == kind) n++, *which = v;
    return n;
}

static void spread_step(Spreading *s, const CutStep *step) {
    uint32_t which = 0, all = step_values(step);
    if (count_kind(s, step, 0, all, PLACE_CUT, &which))
        spread_cut(s, step, which);
    else if (count_kind(s, step, 0, all, PLACE_PARTIAL, &which))
        spread_partial(s, step);
    else if (step->n_out &&
             count_kind(s, step, step->n_in, all, PLACE_WHOLE, &which) == step->n_out)
        for (uint32_t i = 0; i < step->n_in; i++) want_kind(s, step->value[i], PLACE_WHOLE);
}

/* Where nothing else follows, the results of one step that reads whole values are whole. */
static bool settle_one(Spreading *s) {
    for (uint32_t k = 0; k < s->all->n; k++) {
        const CutStep *step = &s->all->step[k];
        uint32_t which = 0, all = step_values(step), n = step->n_in;
        if (count_kind(s, step, 0, n, PLACE_WHOLE, &which) < n) continue;
        bool open = false;
        for (uint32_t j = n; j < all; j++) {
            open |= !s->known[step->value[j]];
            if (!s->known[step->value[j]]) want_kind(s, step->value[j], PLACE_WHOLE);
        }
        if (open) return true;
    }
    return false;
}

/* Nothing connects a value with those that are cut, but the kernel of a formula has one shape. */
static bool align_one(Spreading *s) {
    const CutSteps *all = s->all;
    uint32_t from = 0;
    while (!s->known[from] || s->place[from].kind != PLACE_CUT) from++;
    const Place *p = &s->place[from];
    int axis = all->type[from].rank - p->dim;
    for (uint32_t v = 0; v < all->n_values && all->one_shape; v++) {
        const Type *t = &all->type[v];
        if (s->known[v] || axis > t->rank || t->dim[t->rank - axis] != all->type[from].dim[p->dim])
            continue;
        Place own = *p;
        own.dim = (uint8_t)(t->rank - axis);
        want(s, (uint8_t)v, &own);
        return true;
    }
    return false;
}

/* The parts that a formula moves have one shape, too. */
static bool is_apart(const Spreading *s) {
    if (s->all->one_shape || !s->all->is_formula) return false;
    for (uint32_t v = 0; v < s->all->n_values; v++)
        if (!s->known[v] && type_elements(&s->all->type[v]) > 1) return true;
    return false;
}

static bool spread(Spreading *s) {
    do {
        do {
            s->changed = false;
            for (uint32_t k = 0; k < s->all->n && !s->failed; k++) spread_step(s, &s->all->step[k]);
        } while (s->changed && !s->failed);
        s->failed |= !s->failed && is_apart(s);
    } while (!s->failed && (align_one(s) || settle_one(s)));
    /* A step whose linearity nothing decided. */
    for (uint32_t k = 0; k < s->all->n && !s->failed; k++) {
        const CutStep *step = &s->all->step[k];
        uint32_t which = 0, known = 0, all = step_values(step);
        for (uint32_t v = 0; v < all; v++) known += s->known[step->value[v]];
        s->failed |= known < all && count_kind(s, step, 0, all, PLACE_PARTIAL, &which);
    }
    return !s->failed;
}

/* ---- the cuts that come out */

/* Whether an earlier cut has one of these places. */
static bool is_found(const CutSearch *search, const Place *value, int64_t size) {
    uint32_t n = search->op->n_in + search->op->n_out;
    for (uint32_t k = 0; k < search->n; k++)
        for (uint32_t v = 0; v < n; v++)
            if (value[v].kind == PLACE_CUT && search->cuts[k].size == size &&
                same_place(&value[v], &search->cuts[k].value[v]))
                return true;
    return false;
}

static void keep_cut(CutSearch *search, const CutSteps *all, const Spreading *s) {
    uint32_t n_in = search->op->n_in, n = n_in + search->op->n_out;
    Place value[MOST_VALUES];
    bool any = false;
    for (uint32_t v = 0; v < n; v++) {
        uint8_t from = v < n_in ? (uint8_t)v : all->result[v - n_in];
        value[v] = s->known[from] ? s->place[from] : (Place){.kind = PLACE_WHOLE};
        any |= value[v].kind == PLACE_CUT;
    }
    if (!any || is_found(search, value, s->size)) return;
    Cut *cut = cut_add(search, s->size);
    if (!cut) return;
    memcpy(cut->value, value, n * sizeof *value);
    cut->letter = s->letter;
    cut->pair = s->pair;
    cut->at = s->at;
    cut->runs = s->runs;
    cut->pads = s->pads;
    cut->counts = s->counts;
}

static void find_step_cuts(CutStep *step, Arena *arena) {
    step->cuts = arena_array(arena, Cut, MOST_CUTS);
    CutSearch s = {.op = &step->op, .cuts = step->cuts, .arena = arena};
    cut_row(&s, step->aligned ? cut_broadcast : NULL);
    for (uint32_t k = 0; k < s.n; k++) /* of a merge no part makes a result of the whole op */
        if (!s.cuts[k].merge) step->cuts[step->n_cuts++] = s.cuts[k];
}

void cut_steps(CutSearch *search) {
    Arena *arena = arena_child(search->arena);
    CutSteps *all = arena_new_of(arena, CutSteps);
    if (find_steps(search->op, all, arena)) {
        for (uint32_t k = 0; k < all->n; k++) find_step_cuts(&all->step[k], arena);
        for (uint32_t k = 0; k < all->n; k++)
            for (uint32_t c = 0; c < all->step[k].n_cuts; c++) {
                const Cut *cut = &all->step[k].cuts[c];
                Spreading s = {.all = all,
                               .arena = arena,
                               .size = cut->size,
                               .letter = cut->letter,
                               .pair = cut->pair,
                               .pads = true};
                want_cut(&s, &all->step[k], cut);
                if (spread(&s)) keep_cut(search, all, &s);
            }
    }
    arena_free(arena);
}

bool cut_steps_keep_partial(const CutOp *op, const bool *partial) {
    Arena *arena = arena_new();
    CutSteps *all = arena_new_of(arena, CutSteps);
    bool is[MOST_VALUES] = {false}, keeps = find_steps(op, all, arena);
    for (uint32_t i = 0; i < op->n_in && keeps; i++) is[i] = partial[i];
    for (uint32_t k = 0; k < all->n && keeps; k++) {
        const CutStep *step = &all->step[k];
        bool own[STEP_VALUES + 1] = {false}, some = false;
        for (uint32_t i = 0; i < step->n_in; i++) some |= own[i] = is[step->value[i]];
        keeps = !some || cut_row_keeps_partial(&step->op, own);
        for (uint32_t j = 0; j < step->n_out; j++) is[step->value[step->n_in + j]] = some;
    }
    for (uint32_t j = 0; j < op->n_out; j++) keeps = keeps && is[all->result[j]];
    arena_free(arena);
    return keeps;
}
