/* Muon: muon_momentum and muon, as in torch.optim.Muon, but in f32.
 *
 * muon_momentum: m += (1 - momentum) (g - m); u = m, or with Nesterov's momentum one step further.
 *
 * muon: X = u / max(|u|, 1e-7), then `steps` times X = (a I + b G + c G G) X with G = X X^T, which
 * brings the singular values of X close to 1; then p -= lr' X, with decoupled decay.
 *
 * A rank makes its own part of u and leaves 0 elsewhere; the sum over ranks (pass comm) is all of
 * it, also of a matrix that ranks along an axis of the mesh share out. muon makes each matrix
 * orthogonal that has an element in this rank's shard, so ranks share the products except for
 * matrices that lie in several shards. X is laid out like u, [R, C]; with R > C the same is done
 * from the right, G = X^T X, so that G is the smaller of the two.
 */
#include "muon.h"
#include "exact.h"
#include "kernel.h"

/* ---- muon_momentum */

/* torch.lerp: from a to b by `weight`. */
VECTOR_INLINE V16 lerp(V16 a, V16 b, float weight) {
    return weight < 0.5f ? a + weight * (b - a) : b - (b - a) * (1.0f - weight);
}

typedef struct Momentum {
    Operand m, g;
    Result to;
    float *u; /* of element 0 of the operands, if it were of the matrix */
    float gradient_scale, clip_value, momentum;
    bool nesterov;
} Momentum;

/* Elements [from, to) of the operands; u is written for those of `mine`. */
static void move_momentum(const Momentum *s, int64_t from, int64_t to, WorkRange mine) {
    for (int64_t i = from; i < to; i += LANES) {
        V16 g = v_clipped(v_get(s->g.at, s->g.dtype, i, to - i) * s->gradient_scale, s->clip_value);
        V16 m = lerp(v_get(s->m.at, s->m.dtype, i, to - i), g, 1.0f - s->momentum);
        V16 u = s->nesterov ? lerp(g, m, s->momentum) : m;
        v_put(s->to.at, s->to.dtype, i, to - i, m);
        for (int64_t k = MAX(i, mine.from); k < MIN(MIN(i + LANES, to), mine.to); k++)
            s->u[k] = u[k - i] + 0.0f; /* 0, never -0, as a sum over ranks has it */
    }
}

/* This thread's share of the part. s->u: of the matrix. */
static void move_runs(const Momentum *s, const MuonPart *q, WorkRange mine) {
    WorkRange r = my_range(q->n, 1024);
    for (int64_t i = r.from, n; i < r.to; i += n) {
        Momentum own = *s;
        n = MIN(muon_run(&q->of, i), r.to - i);
        if (muon_pads(&q->of, i)) continue;
        own.u += muon_element(&q->of, i) - (q->at + i);
        move_momentum(&own, q->at + i, q->at + i + n, mine);
    }
}

/* (m, g, scale) -> m, u */
KERNEL(muon_momentum) {
    Operand m = input(l, 0);
    Result u = output(l, 1);
    const PlanGroup *group = group_of(l);
    const double *scale = l->call->in[2];
    const Attrs *attr = l->call->attr;
    memset(u.at, 0, (size_t)u.n * sizeof(float));
    launch_keep(l, 0, 0); /* padding too */
    if (scale[SCALE_APPLY] == 0.0) return 0;
    WorkRange mine = {0, m.n};
    if (group && group->split)
        rank_own_part(l->call->rank, group, mesh_sample_axes(&l->call->rank->mesh), m.n, &mine.from,
                      &mine.to);
    MuonPart q = {0};
    for (uint32_t k = 0; muon_next_part(l->call, group, k, m.n, &q); k++) {
        if (q.n <= 0) continue;
        Momentum s = {m,
                      input(l, 1),
                      output(l, 0),
                      (float *)u.at + q.in_u,
                      (float)scale[SCALE_GRADIENT],
                      (float)attr->clip_value,
                      (float)attr->momentum,
                      attr->nesterov};
#pragma omp parallel num_threads(threads_for(l, q.n))
        move_runs(&s, &q, mine);
    }
    return 0;
}

/* ---- muon */

typedef struct Matrix {
    const float *u;
    int64_t rows, columns, least;
    float *x, *next;    /* [rows, columns] */
    float *gram, *poly; /* [least, least] */
} Matrix;

/* to = f x + h y */
static void combine_matrices(const Launch *l, float *to, float f, const float *x, float h,
                             const float *y, int64_t n) {
    SHARE_VECTORS(l, i, left, n)
    v_put(to, DT_F32, i, left, f * v_get(x, DT_F32, i, left) + h * v_get(y, DT_F32, i, left));
}

/* One step of the iteration; X is then in a->x again. */
static bool iterate_once(const Launch *l, Matrix *a) {
    bool wide = a->rows <= a->columns;
    int64_t n = a->least, k = wide ? a->columns : a->rows;
    Product gram = product_of(n, n, k, a->x, !wide, a->x, wide, a->gram);
    Product square = product_of(n, n, n, a->gram, false, a->gram, false, a->poly);
    Product last = product_of(a->rows, a->columns, n, wide ? a->poly : a->x, false,
                              wide ? a->x : a->poly, false, a->next);
    if (!CPU_NAME(product)(l->cpu, &gram) || !CPU_NAME(product)(l->cpu, &square)) return false;
    combine_matrices(l, a->poly, MUON_B, a->gram, MUON_C, a->poly, n * n);
    if (!CPU_NAME(product)(l->cpu, &last)) return false;
    combine_matrices(l, a->next, MUON_A, a->x, 1.0f, a->next, a->rows * a->columns);
    float *x = a->x;
    a->x = a->next;
    a->next = x;
    return true;
}

/* a->x: u made orthogonal; work: muon_work words. */
static int orthogonalize_matrix(const Launch *l, Matrix *a, float *work) {
    int64_t n = a->rows * a->columns;
    a->least = MIN(a->rows, a->columns);
    a->x = work + muon_part(2 * EXACT_WORDS);
    a->next = a->x + muon_part(n);
    a->gram = a->next + muon_part(n);
    a->poly = a->gram + muon_part(a->least * a->least);
    int64_t *words = (int64_t *)(void *)work;
    exact_of(l, (Operand){.at = a->u, .dtype = DT_F32}, (WorkRange){0, n}, 2, words);
    double norm = words[EXACT_NONFINITE] ? __builtin_nan("") : __builtin_sqrt(exact_value(words));
    float over = (float)(norm < MUON_LEAST_NORM ? MUON_LEAST_NORM : norm);
    SHARE_VECTORS(l, i, left, n)
    v_put(a->x, DT_F32, i, left, v_get(a->u, DT_F32, i, left) / over);
    bool good = true;
    for (int64_t k = 0; good && k < l->call->attr->steps; k++) good = iterate_once(l, a);
    return product_result(l, good);
}

static int move_matrix(const Launch *l, const MuonPart *q, const double *step) {
    Operand w = input(l, 0), u = input(l, 1);
    Result out = output(l, 0), work = output(l, 1);
    if (q->n <= 0) return 0;
    const Type *t = &q->type;
    Matrix a = {.u = (const float *)u.at + q->in_u, .rows = t->dim[0], .columns = t->dim[1]};
    int code = orthogonalize_matrix(l, &a, work.at);
    if (code) return code;
    double lr = step[STEP_LR] * q->lr_factor;
    float keep = (float)(1.0 - lr * q->decay);
    float by = (float)(lr * muon_rate(l->call->attr->rate, a.rows, a.columns));
#pragma omp parallel num_threads(threads_for(l, q->n))
    {
        WorkRange r = my_range(q->n, 1024);
        for (int64_t i = r.from, n; i < r.to; i += n) {
            n = MIN(MIN(muon_run(&q->of, i), r.to - i), (int64_t)LANES);
            if (muon_pads(&q->of, i)) continue;
            V16 p = v_get(w.at, w.dtype, q->at + i, n) * keep;
            V16 x = v_get(a.x, DT_F32, muon_element(&q->of, i), n);
            v_put(out.at, out.dtype, q->at + i, n, p - by * x);
        }
    }
    return 0;
}

/* (p, u, scale, step) -> p, work */
KERNEL(muon) {
    const PlanGroup *group = group_of(l);
    launch_keep(l, 0, 0);
    if (((const double *)l->call->in[2])[SCALE_APPLY] == 0.0) return 0;
    MuonPart q = {0};
    int code = 0;
    for (uint32_t k = 0; !code && muon_next_part(l->call, group, k, input(l, 0).n, &q); k++)
        code = move_matrix(l, &q, l->call->in[3]);
    return code;
}
