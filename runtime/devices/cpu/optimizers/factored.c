/* Adafactor: factored_sums, factored_means, factored_rms, adafactor, as in torch.optim.Adafactor.
 *
 * A matrix has a second moment for each row and each column instead of one for each element; of a
 * flat shard a rank holds some rows, some of them in part. So a rank sums the squares of its part
 * of every row and column, an all_reduce adds the parts of all ranks, and every rank keeps the
 * means of all of them. The sums are integers, multiples of 2^-94 of a power of two that bounds
 * every one of them (SCALE_SQUARES): they do not depend on the order of additions, so neither on
 * threads nor on where shards begin. Layouts are those of FactorShape (type.h); what has fewer than
 * two axes is a matrix of rows of one element without columns.
 *
 *   factored_sums    of each row, each column, and |p|^2
 *   factored_means   m += (1 - beta2) (mean - m), and the mean over rows
 *   factored_rms     the sum of squares of u = g / sqrt(row column / mean over rows)
 *   adafactor        p -= lr' max(eps2, rms(p)) / max(1, rms(u) / limit) u
 *
 * Parameters are at hand one after the other, in the order of the group; one that is cut along
 * another axis than the first in pieces, which threads share. Of a parameter that ranks along an
 * axis of the mesh share out, shards are those of a rank's part; rows and columns are those of all
 * of it.
 */
#include <math.h>

#include "exact.h"
#include "kernel.h"
#include "scalars.h"

/* The part of a piece of a parameter that this rank answers for. */
typedef struct FactoredPart {
    const PlanParam *param;
    Type whole; /* of all ranks together, and .. */
    FactorShape shape;
    FactorShape own; /* .. of the part that this rank has: */
    TensorPart part;
    int64_t at;             /* place of its element 0 in the operands, may be negative */
    int64_t from, to;       /* elements of it, as this rank has it */
    int64_t numbers, words; /* where its own begin in m and in sums */
    uint32_t row;           /* in the group */
    int64_t piece;          /* which one it is of those that this rank holds */
    WorkRange held;         /* elements of the piece */
    bool alone;             /* there is no other */
} FactoredPart;

typedef struct FactoredShard {
    const Launch *l;
    const PlanGroup *group;
    WorkRange mine; /* of the operands */
    const double *scale;
    float gradient_scale, clip_value;
} FactoredShard;

/* all: every element that is held, not only those that no other rank counts. */
static FactoredShard open_factored(const Launch *l, int64_t n, bool all) {
    FactoredShard f = {l, group_of(l), {0, n}, l->call->in[2], .clip_value = 0};
    f.gradient_scale = (float)f.scale[SCALE_GRADIENT];
    f.clip_value = (float)l->call->attr->clip_value;
    if (!all)
        rank_own_part(l->call->rank, f.group, mesh_sample_axes(&l->call->rank->mesh), n,
                      &f.mine.from, &f.mine.to);
    return f;
}

/* The next parameter after that of *part, beginning with a zeroed one. */
static bool next_param(const FactoredShard *f, FactoredPart *part) {
    const Plan *plan = f->l->call->rank->plan;
    if (part->param) {
        part->row++;
        part->numbers += factor_numbers(&part->whole);
        part->words += factor_words(&part->whole);
    }
    if (part->row >= f->group->n_param) return false;
    const PlanGroupParam *place = plan->group_params + f->group->first_param + part->row;
    part->param = &plan->params[place->param];
    part->whole = plan_whole_type(plan, part->param);
    part->shape = factor_shape(&part->whole);
    part->own = factor_shape(&part->param->type);
    part->part = plan_part(plan, part->param, f->l->call->rank->rank);
    return true;
}

/* Its piece number part->piece, if this rank holds that many. */
static bool take_piece(const FactoredShard *f, FactoredPart *part) {
    const RankInfo *rank = f->l->call->rank;
    Layout layout = plan_layout(f->group);
    LayoutPlace place = plan_place(rank->plan, (uint64_t)f->group->first_param + part->row);
    int64_t number = rank_number(rank, f->group);
    LayoutPiece held = layout_piece(&layout, &place, number, part->piece);
    if (!held.count) return false;
    part->held = (WorkRange){held.first, held.first + held.count};
    part->alone = held.count == layout_held(&layout, &place, number).n;
    part->at = held.at - held.first;
    part->from = MAX(f->mine.from - part->at, part->held.from);
    part->to = MIN(f->mine.to - part->at, part->held.to);
    return true;
}

/* The next part after *part, beginning with a zeroed one. */
static bool next_part(const FactoredShard *f, FactoredPart *part) {
    part->piece++;
    while (!part->param || !take_piece(f, part)) {
        if (!next_param(f, part)) return false;
        part->piece = 0;
    }
    return true;
}

/* This thread's share of the part, from 0 on: of one of several pieces all of it, or nothing. */
static WorkRange my_share(const FactoredPart *p, int64_t grain) {
    int64_t n = p->to - p->from;
    if (p->alone) return my_range(n, grain);
    bool mine = p->piece % omp_get_num_threads() == omp_get_thread_num();
    return (WorkRange){0, mine ? n : 0};
}

/* The columns that it adds up of every piece: no other thread does. */
static WorkRange my_columns(const FactoredPart *p) {
    int64_t columns = p->own.columns, width = MIN(p->held.to - p->held.from, columns);
    if (p->alone) return my_range(columns, LANES);
    WorkRange r = my_range(width, LANES);
    int64_t first = p->held.from % columns; /* that of all pieces, or 0: they have whole rows */
    return (WorkRange){first + r.from, first + r.to};
}

static int64_t row_length(const FactorShape *s) { return MAX(s->columns, 1); }

VECTOR_INLINE V16 gradient_at(const FactoredShard *f, const Operand *g, int64_t at, int64_t n) {
    return v_clipped(v_get(g->at, g->dtype, at, n) * f->gradient_scale, f->clip_value);
}

/* ---- factored_sums */

enum { HIGH_BITS = 62 }; /* of top_exponent */

/* n elements of the part from e on, which lie in one row of the whole. */
static void sum_run(const FactoredShard *f, const Operand *g, const FactoredPart *p, int64_t e,
                    int64_t n, double unit, int64_t *rows) {
    const FactorShape *s = &p->shape;
    int64_t at = tensor_element(&p->part, e), r = at / row_length(s), high = 0, low = 0;
    int64_t first = r / MAX(s->rows, 1) * s->columns + at % row_length(s);
    int64_t *column = rows + 2 * (s->matrices * s->rows + first);
    for (int64_t i = 0; i < n; i += LANES) {
        V16 x = gradient_at(f, g, p->at + e + i, n - i);
        for (int64_t j = 0; j < MIN(n - i, LANES); j++) {
            double square = (double)x[j] * (double)x[j] * unit;
            int64_t above = (int64_t)square;
            int64_t below = (int64_t)((square - (double)above) * 0x1p32);
            high += above;
            low += below;
            if (!s->columns) continue;
            column[2 * (i + j)] += above;
            column[2 * (i + j) + 1] += below;
        }
    }
#pragma omp atomic
    rows[2 * r] += high;
#pragma omp atomic
    rows[2 * r + 1] += low;
}

/* Adds up this thread's share of the part's squares: some columns, or, if the part has none, some
 * elements. */
static void sum_part(const FactoredShard *f, const Operand *g, const FactoredPart *p,
                     int64_t *rows) {
    bool matrix = p->shape.columns > 0;
    int64_t length = row_length(&p->own);
    WorkRange columns = matrix ? my_columns(p) : (WorkRange){0, 1};
    WorkRange mine = matrix ? (WorkRange){0, p->to - p->from} : my_share(p, LANES);
    double unit = ldexp(1.0, HIGH_BITS - top_exponent(f->scale));
    for (int64_t r = (p->from + mine.from) / length; r * length < p->from + mine.to; r++) {
        int64_t to = MIN(p->from + mine.to, r * length + columns.to);
        for (int64_t e = MAX(p->from + mine.from, r * length + columns.from), n; e < to; e += n) {
            n = MIN(tensor_run(&p->part, e), to - e);
            if (!tensor_pads(&p->part, e)) sum_run(f, g, p, e, n, unit, rows);
        }
    }
}

/* A thread's exact sum of the parts of one parameter; `words`: of all threads. */
typedef struct OwnSum {
    ExactSum sum;
    int64_t *words;
} OwnSum;

/* What comes now goes to other words: what came so far is added to its own. */
static void begin_sum(OwnSum *s, int64_t *words) {
    if (s->words == words) return;
    if (s->words) exact_finish(&s->sum, s->words);
    *s = (OwnSum){.words = words};
}

static void sum_weights(OwnSum *s, const Operand *w, const FactoredPart *p, WorkRange mine) {
    int64_t at = p->at + p->from;
    exact_add_squares(&s->sum, w->at, w->dtype, at + mine.from, at + mine.to);
}

/* (p, g, scale) -> sums. The scale says whether a gradient is not finite. */
KERNEL(factored_sums) {
    Operand w = input(l, 0), g = input(l, 1);
    Result out = output(l, 0);
    FactoredShard f = open_factored(l, g.n, false);
    memset(out.at, 0, (size_t)out.n * sizeof(int64_t));
    bool squares = f.scale[SCALE_NORM] > 0.0; /* false too where it is not a number */
#pragma omp parallel num_threads(threads_for(l, g.n))
    {
        OwnSum sum = {.words = NULL};
        for (FactoredPart p = {0}; next_part(&f, &p);) {
            if (p.from >= p.to) continue;
            int64_t *own = (int64_t *)out.at + p.words;
            if (squares && isfinite(f.scale[SCALE_NORM])) sum_part(&f, &g, &p, own);
            begin_sum(&sum, own + factor_words(&p.whole) - EXACT_WORDS);
            sum_weights(&sum, &w, &p, my_share(&p, 512));
        }
        begin_sum(&sum, NULL);
    }
    return 0;
}

/* ---- factored_means */

typedef struct Means {
    double unit;  /* of a word */
    float weight; /* 1 - beta2 */
    bool not_finite;
} Means;

/* torch.lerp of a mean towards the sum of two words over `count` squares. */
static float mean_toward(const Means *u, float old, const int64_t *words, int64_t count) {
    if (u->not_finite) return __builtin_nanf("");
    double sum = ((double)words[0] + (double)words[1] * 0x1p-32) * u->unit;
    float mean = (float)(sum / (double)count);
    return u->weight < 0.5f ? old + u->weight * (mean - old)
                            : mean - (mean - old) * (1.0f - u->weight);
}

static void mean_of_matrix(const FactorShape *s, int64_t matrix, float *m) {
    double sum = 0;
    for (int64_t r = 0; r < s->rows; r++) sum += m[matrix * s->rows + r];
    m[s->matrices * (s->rows + s->columns) + matrix] = (float)(sum / (double)s->rows);
}

/* (m, sums, scale, step) -> m */
KERNEL(factored_means) {
    const double *step = l->call->in[3];
    FactoredShard f = open_factored(l, 0, true);
    launch_keep(l, 0, 0);
    if (f.scale[SCALE_APPLY] == 0.0) return 0;
    Means u = {.unit = ldexp(1.0, top_exponent(f.scale) - HIGH_BITS),
               .weight = (float)step[STEP_FACTORED],
               .not_finite = f.scale[SCALE_FINITE] == 0.0};
    for (FactoredPart p = {0}; next_param(&f, &p);) {
        const FactorShape *s = &p.shape;
        float *m = (float *)l->call->out[0] + p.numbers;
        const int64_t *w = (const int64_t *)l->call->in[1] + p.words;
        int64_t rows = s->matrices * s->rows, columns = s->matrices * s->columns;
#pragma omp parallel for num_threads(threads_for(l, rows + columns))
        for (int64_t i = 0; i < rows + columns; i++)
            m[i] = mean_toward(&u, m[i], w + 2 * i, i < rows ? row_length(s) : s->rows);
        if (!s->columns) continue;
#pragma omp parallel for num_threads(threads_for(l, rows))
        for (int64_t i = 0; i < s->matrices; i++) mean_of_matrix(s, i, m);
    }
    return 0;
}

/* ---- factored_rms and adafactor */

/* Steps of n elements of the part from e on, which lie together in one row of the whole (or have no
 * row). */
VECTOR_INLINE V16 step_of(const FactoredShard *f, const Operand *g, const FactoredPart *p,
                          const float *m, float eps, int64_t e, int64_t n) {
    const FactorShape *s = &p->shape;
    V16 moment, lowest = v_all(eps * eps);
    int64_t at = tensor_element(&p->part, e);
    if (s->columns) {
        int64_t r = at / s->columns, matrix = r / s->rows;
        const float *columns = m + s->matrices * s->rows;
        float mean = m[s->matrices * (s->rows + s->columns) + matrix];
        if (mean < eps) mean = eps;
        moment = v_get(columns, DT_F32, matrix * s->columns + at % s->columns, n) * m[r] / mean;
    } else {
        moment = v_get(m, DT_F32, at, n);
    }
    moment = v_select(v_less(moment, lowest), lowest, moment);
    return gradient_at(f, g, p->at + e, n) / v_sqrt(moment);
}

/* Elements from e on that are in one vector and one row, or padding. */
static int64_t elements_together(const FactoredPart *p, int64_t e, int64_t to) {
    int64_t row = p->own.columns ? p->own.columns - e % p->own.columns : to - e;
    return MIN(MIN(row, tensor_run(&p->part, e)), MIN(to - e, LANES));
}

/* (m, g, scale) -> rms: an exact sum for each parameter */
KERNEL(factored_rms) {
    Operand m = input(l, 0), g = input(l, 1);
    Result out = output(l, 0);
    FactoredShard f = open_factored(l, g.n, false);
    float eps = (float)l->call->attr->eps;
    memset(out.at, 0, (size_t)out.n * sizeof(int64_t));
#pragma omp parallel num_threads(threads_for(l, g.n))
    {
        OwnSum sum = {.words = NULL};
        for (FactoredPart p = {0}; next_part(&f, &p);) {
            if (p.from >= p.to) continue;
            WorkRange mine = my_share(&p, 512);
            const float *own = (const float *)m.at + p.numbers;
            begin_sum(&sum, (int64_t *)out.at + p.row * EXACT_WORDS);
            for (int64_t e = p.from + mine.from, n; e < p.from + mine.to; e += n) {
                n = elements_together(&p, e, p.from + mine.to);
                if (tensor_pads(&p.part, e)) continue;
                exact_push(&sum.sum, step_of(&f, &g, &p, own, eps, e, n), true);
            }
        }
        begin_sum(&sum, NULL);
    }
    return 0;
}

static FactoredRate rate_of(const FactoredShard *f, const FactoredPart *p, const double *step,
                            const int64_t *sums, const int64_t *rms) {
    const Attrs *a = f->l->call->attr;
    return factored_rate(step, plan_lr_factor(p->param), plan_decay(p->param, a->weight_decay),
                         a->eps2, a->limit, sums + p->words + factor_words(&p->whole) - EXACT_WORDS,
                         rms + p->row * EXACT_WORDS, type_elements(&p->whole));
}

/* (p, g, scale, step, m, sums, rms) -> p */
KERNEL(adafactor) {
    Operand w = input(l, 0), g = input(l, 1), step = input(l, 3), m = input(l, 4);
    Operand sums = input(l, 5), rms = input(l, 6);
    Result out = output(l, 0);
    FactoredShard f = open_factored(l, g.n, true);
    launch_keep(l, 0, 0);
    if (f.scale[SCALE_APPLY] == 0.0) return 0;
    float eps = (float)l->call->attr->eps;
#pragma omp parallel num_threads(threads_for(l, g.n))
    for (FactoredPart p = {0}; next_part(&f, &p);) {
        if (p.from >= p.to) continue;
        WorkRange mine = my_share(&p, 1024);
        FactoredRate rate = rate_of(&f, &p, step.at, sums.at, rms.at);
        const float *own = (const float *)m.at + p.numbers;
        for (int64_t e = p.from + mine.from, n; e < p.from + mine.to; e += n) {
            n = elements_together(&p, e, p.from + mine.to);
            if (tensor_pads(&p.part, e)) continue;
            V16 u = step_of(&f, &g, &p, own, eps, e, n);
            V16 x = v_get(w.at, w.dtype, p.at + e, n);
            v_put(out.at, out.dtype, p.at + e, n, x * rate.keep - rate.step * u);
        }
    }
    return 0;
}
