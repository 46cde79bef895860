#include "kernels/cut_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir.h"
#include "kernels/launch.h"
#include "signature.h"

/* ---- values */

static const Type *type_at(const Whole *w, int v) { return &w->t.types[v]; }

/* Memory for a value that kernels of a wrong cut may take for a larger one. */
static void *room(const Whole *w) {
    int64_t most = 4096;
    for (int v = 0; v < w->c.n_in + w->c.n_out; v++) most = MAX(most, type_bytes(type_at(w, v)));
    void *at = calloc(2, (size_t)most);
    CHECK(at != NULL);
    return at;
}

bool cut_backwards;

/* The byte of element i of part r among n. */
static int64_t part_offset(const Type *t, const Place *p, int64_t size, int n, int r, int64_t i) {
    int64_t at[MAX_RANK], bytes = dtype_bytes(t->dtype), offset = 0;
    Type part = place_part(t, p, n);
    for (int k = t->rank; k-- > 0; i /= part.dim[k]) at[k] = i % part.dim[k];
    if (p->kind == PLACE_CUT) {
        int64_t run = size / n * (t->dim[p->dim] / (p->outer * size));
        bool back = cut_backwards && at[p->dim] / run % 2;
        at[p->dim] = at[p->dim] / run * run * n + (back ? n - 1 - r : r) * run + at[p->dim] % run;
    }
    for (int k = 0; k < t->rank; k++)
        offset = offset * (k == t->rank - 1 ? type_pitch(t) : t->dim[k]) + at[k];
    return offset * bytes;
}

/* Copies part r of `whole` to `part`, or back. */
static void copy_part(const Type *t, const Place *p, int64_t size, int n, int r, void *whole,
                      void *part, bool back) {
    Type type = place_part(t, p, n);
    size_t bytes = dtype_bytes(t->dtype);
    for (int64_t i = 0; i < type_elements(&type); i++) {
        char *a = (char *)whole + part_offset(t, p, size, n, r, i);
        char *b = (char *)part + (size_t)place_of(&type, i) * bytes;
        memcpy(back ? a : b, back ? b : a, bytes);
    }
}

/* ---- runs */

/* One execution: types, memory and attributes of its own. */
typedef struct Once {
    const Whole *w;
    Attrs attr;
    Type type[MOST_RUN_VALUES];
    void *at[MOST_RUN_VALUES];
    const Plan *plan;
    Placement placed[MOST_RUN_VALUES];
    bool knows_place; /* kernels are told how values are placed */
    int32_t n, r;     /* then: the ranks, and which one it is */
} Once;

static void once_open(Once *o, const Whole *w) {
    *o = (Once){.w = w, .attr = w->c.attr, .plan = w->c.plan};
    for (int v = 0; v < w->c.n_in + w->c.n_out; v++) {
        o->type[v] = *type_at(w, v);
        o->at[v] = room(w);
        if (v < w->c.n_in) memcpy(o->at[v], w->t.input[v], (size_t)type_bytes(&o->type[v]));
    }
}

static void once_close(Once *o) {
    for (int v = 0; v < MOST_RUN_VALUES; v++) free(o->at[v]);
}

/* False: the kernel refuses its operands. */
static bool once_run(Once *o) {
    const Case *c = &o->w->c;
    Tensor value[MOST_RUN_VALUES];
    for (int v = 0; v < c->n_in + c->n_out; v++) {
        bool told = o->knows_place && placement_is_any(&o->placed[v]);
        value[v] = (Tensor){o->type[v], o->at[v], told ? &o->placed[v] : NULL};
    }
    launch_plan = o->plan;
    launch_mesh = (Mesh){1, {{cut_backwards ? AXIS_zigzag : AXIS_tp, MAX(o->n, 1)}}};
    launch_rank = o->r;
    char error[ERROR_BYTES];
    if (infos[c->op].launched)
        return try_run(c->op, o->attr, c->n_in, value, c->n_out, value + c->n_in, error);
    memcpy(o->at[c->n_in], o->at[0], (size_t)type_bytes(&o->type[0])); /* a view */
    return true;
}

static bool formula_fits(const Case *c, const Plan *plan, const Attrs *attr, const Type *types) {
    const PlanFormula *f = &plan->formulas[attr->index];
    const FormulaStep *step = &plan->steps[f->first_step];
    Type value[FORMULA_OPERANDS + FORMULA_STEPS];
    memcpy(value, types, (size_t)c->n_in * sizeof *value);
    bool right = !formula_types(f->n_in, f->n_step, step, value);
    for (uint32_t k = 0; k < f->n_step && right; k++)
        right = !step[k].result ||
                type_same_dims(&value[f->n_in + k], &types[f->n_in + step[k].result - 1u]);
    return right;
}

static bool fits(const Case *c, const Plan *plan, const Attrs *attr, const Type *types) {
    BoundSignature b;
    if (!signature_fits(&b, c->op, (uint32_t)c->n_in, types, (uint32_t)c->n_out, types + c->n_in))
        return false;
    if (c->op == OP_fused) return formula_fits(c, plan, attr, types);
    Graph g = {0};
    Arena *arena = arena_new();
    bool right = !op_check_types(&g, c->op, attr, (uint32_t)c->n_in, types, (uint32_t)c->n_out,
                                 types + c->n_in, arena);
    arena_free(arena);
    return right;
}

bool whole_open(Whole *w) {
    w->t = (Trial){.c = &w->c};
    choose_types(&w->t);
    if (!fits(&w->c, w->c.plan, &w->c.attr, w->t.types)) return false;
    fill_inputs(&w->t);
    w->op = (CutOp){.kind = w->c.op,
                    .attr = &w->c.attr,
                    .n_in = (uint32_t)w->c.n_in,
                    .n_out = (uint32_t)w->c.n_out,
                    .in = w->t.types,
                    .out = w->t.types + w->c.n_in};
    if (w->c.op == OP_fused) {
        const PlanFormula *f = &w->c.plan->formulas[w->c.attr.index];
        w->op.n_step = f->n_step;
        w->op.step = &w->c.plan->steps[f->first_step];
    }
    Once o;
    once_open(&o, w);
    bool ran = once_run(&o);
    for (int j = 0; j < w->c.n_out; j++) {
        w->out[j] = o.at[w->c.n_in + j];
        o.at[w->c.n_in + j] = NULL;
    }
    once_close(&o);
    if (!ran) whole_close(w);
    return ran;
}

void whole_close(Whole *w) {
    for (int j = 0; j < w->c.n_out; j++) free(w->out[j]);
    trial_free(&w->t);
}

/* ---- the part of a rank */

/* A formula's steps as `counts` wants them. */
typedef struct PartPlan {
    Plan plan;
    FormulaStep step[FORMULA_STEPS];
    PlanFormula formula;
} PartPlan;

static void divide_formula(Once *o, PartPlan *own, int n) {
    const PlanFormula *f = &o->plan->formulas[o->attr.index];
    own->plan = *o->plan;
    own->formula = *f;
    for (uint32_t k = 0; k < f->n_step; k++) {
        own->step[k] = o->plan->steps[f->first_step + k];
        FormulaStep *step = &own->step[k];
        if (step->function != SCALAR_slice && step->function != SCALAR_slice_grad) continue;
        step->start /= (uint32_t)n;
        step->count /= (uint32_t)n;
        step->whole /= (uint32_t)n;
    }
    own->formula.first_step = 0;
    own->plan.formulas = &own->formula;
    own->plan.steps = own->step;
    o->attr.index = 0;
    o->plan = &own->plan;
}

/* Of a partial operand rank 0 has a half, the others share the rest: exact in binary. */
static double share(int n, int r) { return r + 1 < n ? ldexp(1, -1 - r) : ldexp(1, 1 - n); }

/* Whether the rows of the last expert end within R. */
static bool rows_exist(const Once *o, const BoundSignature *b) {
    int starts = signature_find(b->s, "starts");
    if (starts < 0) return true;
    const int32_t *row = o->at[starts];
    for (int k = 0; k < b->s->n_sizes; k++)
        if (b->s->size[k] == 'R' && row[o->type[starts].dim[0] - 1] > b->size[k]) return false;
    return true;
}

static bool in_range(const Once *o) {
    const Case *c = &o->w->c;
    BoundSignature b;
    if (!signature_fits(&b, c->op, (uint32_t)c->n_in, o->type, (uint32_t)c->n_out,
                        o->type + c->n_in))
        return false;
    if (o->knows_place) return rows_exist(o, &b); /* ids are of the whole table */
    for (int i = 0; i < c->n_in; i++) {
        int below = signature_operand(b.s, (uint32_t)c->n_in, o->type, (uint32_t)i)->below;
        for (int64_t k = 0; below >= 0 && k < type_elements(&o->type[i]); k++)
            if (((int32_t *)o->at[i])[k] >= b.size[below]) return false;
    }
    return rows_exist(o, &b);
}

static void take_share(Once *o, int i, int n, int r) {
    for (int64_t k = 0; k < type_elements(&o->type[i]); k++) {
        int64_t at = place_of(&o->type[i], k);
        put(o->at[i], o->type[i].dtype, at, get(o->at[i], o->type[i].dtype, at) * share(n, r));
    }
}

/* Whether the places of a cut are inside of the values. */
static bool is_possible(const Whole *w, const Cut *cut, int n) {
    for (int v = 0; v < w->c.n_in + w->c.n_out; v++) {
        const Place *p = &cut->value[v];
        if (p->kind != PLACE_CUT) continue;
        if (p->dim >= type_at(w, v)->rank || p->outer < 1 || cut->size % n ||
            type_at(w, v)->dim[p->dim] % (p->outer * cut->size))
            return false;
    }
    return true;
}

/* False: the part does not fit the op. */
static bool take_part(Once *o, PartPlan *own, const Cut *cut, int n, int r) {
    const Whole *w = o->w;
    for (int v = 0; v < w->c.n_in + w->c.n_out; v++) {
        const Place *p = &cut->value[v];
        o->type[v] = place_part(type_at(w, v), p, n);
        o->placed[v] = (Placement){.partial = p->kind == PLACE_PARTIAL};
        if (p->kind == PLACE_CUT) {
            o->placed[v].cut[p->dim] = 1;
            o->placed[v].outer[p->dim] = p->outer;
            o->placed[v].size[p->dim] = type_at(w, v)->dim[p->dim];
        }
        if (v >= w->c.n_in) continue;
        copy_part(type_at(w, v), p, cut->size, n, r, w->t.input[v], o->at[v], false);
        if (p->kind == PLACE_PARTIAL) take_share(o, v, n, r);
    }
    if (cut->counts) o->attr.start /= n, o->attr.count /= n;
    if (cut->counts && w->c.op == OP_fused) divide_formula(o, own, n);
    return fits(&w->c, o->plan, &o->attr, o->type) && in_range(o);
}

/* ---- sums of partial results */

typedef struct Sums {
    double *f[MAX_CASE_OPERANDS];
    int64_t *words[MAX_CASE_OPERANDS];
} Sums;

static void sums_open(Sums *s, const Whole *w) {
    for (int j = 0; j < w->c.n_out; j++) {
        size_t n = (size_t)type_elements(type_at(w, w->c.n_in + j));
        s->f[j] = calloc(n, sizeof(double));
        s->words[j] = calloc(n, sizeof(int64_t));
        CHECK(s->f[j] && s->words[j]);
    }
}

static void sums_close(Sums *s, const Whole *w) {
    for (int j = 0; j < w->c.n_out; j++) free(s->f[j]), free(s->words[j]);
}

static void sums_add(Sums *s, const Whole *w, int j, const void *from) {
    const Type *t = type_at(w, w->c.n_in + j);
    for (int64_t i = 0; i < type_elements(t); i++)
        if (t->dtype == DT_I64)
            s->words[j][i] += ((const int64_t *)from)[i];
        else
            s->f[j][i] += get(from, t->dtype, place_of(t, i));
}

/* Exact accumulators must be equal, numbers as close to the reference as the kernel. */
static bool sums_agree(const Sums *s, const Whole *w, int j, int n) {
    const Type *t = type_at(w, w->c.n_in + j);
    int64_t elements = type_elements(t);
    double largest = 0;
    if (t->dtype == DT_I64) {
        int64_t *whole = copy_of(w->out[j], type_bytes(t));
        carry_sums(&w->c, whole, elements);
        carry_sums(&w->c, s->words[j], elements);
        bool same = !memcmp(whole, s->words[j], (size_t)type_bytes(t));
        free(whole);
        return same;
    }
    for (int64_t i = 0; i < elements; i++) largest = fmax(largest, fabs(w->t.want[j][i]));
    for (int64_t i = 0; i < elements; i++)
        if (!(fabs(s->f[j][i] - w->t.want[j][i]) <= n * fmax(w->c.tolerance, 1e-7) * largest))
            return false;
    return true;
}

/* ---- a cut */

static Outcome differs(CutText *why, const Cut *cut, int n, int j, const char *how) {
    snprintf(why->at, sizeof why->at, "axis %c of %lld entries, cut in %d: result %d is not %s",
             cut->letter ? cut->letter : '-', (long long)cut->size, n, j, how);
    return OUTCOME_FALSE;
}

static bool same_part(const Whole *w, int j, const Place *p, int64_t size, int n, int r,
                      const void *part, const Place *of) {
    const Type *t = type_at(w, w->c.n_in + j);
    Type type = place_part(t, p, n);
    char *a = room(w), *b = room(w);
    copy_part(t, p, size, n, r, w->out[j], a, false);
    if (of) /* `part` is a whole value */
        copy_part(t, of, size, n, r, (void *)(uintptr_t)part, b, false);
    else
        memcpy(b, part, (size_t)type_bytes(&type));
    bool same = true;
    size_t bytes = dtype_bytes(t->dtype);
    for (int64_t i = 0; i < type_elements(&type) && same; i++) {
        int64_t at = place_of(&type, i) * (int64_t)bytes;
        same = !memcmp(a + at, b + at, bytes);
    }
    free(a);
    free(b);
    return same;
}

static Outcome try_parts(const Whole *w, const Cut *cut, int n, bool knows_place, CutText *why) {
    Outcome outcome = is_possible(w, cut, n) ? OUTCOME_TRUE : OUTCOME_REFUSED;
    Sums sums;
    sums_open(&sums, w);
    for (int r = 0; r < n && outcome == OUTCOME_TRUE; r++) {
        Once o;
        PartPlan own;
        once_open(&o, w);
        o.knows_place = knows_place;
        o.n = n;
        o.r = r;
        if (!take_part(&o, &own, cut, n, r) || !once_run(&o)) {
            outcome = OUTCOME_REFUSED;
            snprintf(why->at, sizeof why->at, "axis %c of %lld entries: %d parts do not fit the op",
                     cut->letter ? cut->letter : '-', (long long)cut->size, n);
        }
        for (int j = 0; j < w->c.n_out && outcome == OUTCOME_TRUE; j++) {
            const Place *p = &cut->value[w->c.n_in + j];
            if (p->kind == PLACE_PARTIAL)
                sums_add(&sums, w, j, o.at[w->c.n_in + j]);
            else if (!same_part(w, j, p, cut->size, n, r, o.at[w->c.n_in + j], NULL))
                outcome = differs(why, cut, n, j, p->kind == PLACE_CUT ? "cut alike" : "whole");
        }
        once_close(&o);
    }
    for (int j = 0; j < w->c.n_out && outcome == OUTCOME_TRUE; j++)
        if (cut->value[w->c.n_in + j].kind == PLACE_PARTIAL && !sums_agree(&sums, w, j, n))
            outcome = differs(why, cut, n, j, "partial");
    sums_close(&sums, w);
    return outcome;
}

Outcome cut_try(const Whole *w, const Cut *cut, int n, CutText *why) {
    return try_parts(w, cut, n, false, why);
}

Outcome cut_try_placed(const Whole *w, const Cut *cut, int n, CutText *why) {
    return try_parts(w, cut, n, true, why);
}

/* ---- what a kernel that knew its place would do */

/* Whether the op is linear in operand i and others that are cut or partial, all of them. */
static bool is_linear_in_parts(const Whole *w, const Cut *cut, bool *partial) {
    uint32_t n = (uint32_t)w->c.n_in;
    for (uint32_t mask = 1; mask < 1u << n; mask++) {
        bool any_cut = false, right = true;
        for (uint32_t i = 0; i < n; i++) {
            partial[i] = mask >> i & 1;
            any_cut |= partial[i] && cut->value[i].kind == PLACE_CUT;
            right &= !partial[i] || cut->value[i].kind != PLACE_WHOLE;
            right &= partial[i] || cut->value[i].kind != PLACE_PARTIAL;
        }
        if (right && any_cut && op_keeps_partial(&w->op, partial)) return true;
    }
    memset(partial, 0, n * sizeof *partial);
    return false;
}

static void blur_outside(Once *o, const Cut *cut, int n, int r, int i, bool zero) {
    const Type *t = type_at(o->w, i);
    char *kept = room(o->w);
    copy_part(t, &cut->value[i], cut->size, n, r, o->at[i], kept, false);
    for (int64_t k = 0; k < type_elements(t); k++) {
        int64_t at = place_of(t, k);
        double x = get(o->at[i], t->dtype, at);
        if (type_is_float(t)) put(o->at[i], t->dtype, at, zero ? 0 : 0.25 - 0.5 * x);
        if (t->dtype == DT_I32) put(o->at[i], t->dtype, at, x > 0 ? x - 1 : x);
    }
    copy_part(t, &cut->value[i], cut->size, n, r, o->at[i], kept, true);
    free(kept);
}

Outcome cut_try_knowing_place(const Whole *w, const Cut *cut, int n, CutText *why) {
    bool linear[MAX_CASE_OPERANDS] = {false}, sums_exist = false;
    Outcome outcome = OUTCOME_TRUE;
    Sums sums;
    for (int j = 0; j < w->c.n_out; j++)
        sums_exist |= cut->value[w->c.n_in + j].kind == PLACE_PARTIAL;
    if (!is_linear_in_parts(w, cut, linear) && sums_exist)
        return differs(why, cut, n, 0, "partial: the op is linear in nothing that is cut");
    sums_open(&sums, w);
    for (int r = 0; r < n && outcome == OUTCOME_TRUE; r++) {
        Once o;
        once_open(&o, w);
        for (int i = 0; i < w->c.n_in; i++)
            if (cut->value[i].kind == PLACE_CUT)
                blur_outside(&o, cut, n, r, i, sums_exist && linear[i]);
            else if (cut->value[i].kind == PLACE_PARTIAL)
                take_share(&o, i, n, r);
        if (!once_run(&o)) outcome = OUTCOME_REFUSED;
        for (int j = 0; j < w->c.n_out && outcome == OUTCOME_TRUE; j++) {
            const Place *p = &cut->value[w->c.n_in + j];
            if (p->kind == PLACE_PARTIAL)
                sums_add(&sums, w, j, o.at[w->c.n_in + j]);
            else if (!same_part(w, j, p, cut->size, n, r, o.at[w->c.n_in + j], p))
                outcome = differs(why, cut, n, j, "made of its own part");
        }
        once_close(&o);
    }
    for (int j = 0; j < w->c.n_out && outcome == OUTCOME_TRUE; j++)
        if (cut->value[w->c.n_in + j].kind == PLACE_PARTIAL && !sums_agree(&sums, w, j, n))
            outcome = differs(why, cut, n, j, "partial");
    sums_close(&sums, w);
    return outcome;
}

/* ---- linearity */

/* Multiples of 1/64 below 4, so that sums are exact. */
static double coarse(double x) { return nearbyint(fmax(-4, fmin(4, x)) * 64) / 64; }

/* part 0: a + b, 1: a, 2: b, where a is a number of the case and b a random one. */
static void set_term(Once *o, const bool *partial, int part) {
    for (int i = 0; i < o->w->c.n_in; i++) {
        const Type *t = &o->type[i];
        for (int64_t k = 0; partial[i] && k < type_elements(t); k++) {
            double a = coarse(o->w->t.in[i][k]);
            double b = coarse((double)next_random() / 1073741824.0 - 2);
            if (a == nearbyint(a)) b = nearbyint(b); /* so that sums of small numbers may be 0 */
            put(o->at[i], t->dtype, place_of(t, k), part == 0 ? a + b : part == 1 ? a : b);
        }
    }
}

bool is_linear(const Whole *w, const bool *partial) {
    Once o[3];
    bool same = true;
    for (int part = 0; part < 3; part++) {
        random_state = 5;
        once_open(&o[part], w);
        set_term(&o[part], partial, part);
        same &= once_run(&o[part]);
    }
    for (int j = w->c.n_in; j < w->c.n_in + w->c.n_out && same; j++) {
        const Type *t = type_at(w, j);
        double largest = 0;
        same = type_is_float(t);
        for (int pass = 0; pass < 2 && same; pass++)
            for (int64_t i = 0; i < type_elements(t) && same; i++) {
                double x[3];
                for (int part = 0; part < 3; part++)
                    x[part] = get(o[part].at[j], t->dtype, place_of(t, i));
                if (pass == 0) largest = fmax(largest, fabs(x[0]) + fabs(x[1]) + fabs(x[2]));
                if (pass == 1)
                    same = fabs(x[0] - x[1] - x[2]) <= 2 * fmax(w->c.tolerance, 1e-6) * largest;
            }
    }
    for (int part = 0; part < 3; part++) once_close(&o[part]);
    return same;
}
