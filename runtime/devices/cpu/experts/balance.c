/* Terms that are added to a loss, made of statistics of the whole batch.
 *
 * The balance of a router: statistics of its choices and probabilities, the term of the loss that
 * they make, and its gradient. N tokens, E experts, K choices; f_e = choices of e / N, P_e = the
 * mean probability of e, over the whole batch. The term is alpha * E * the sum of f_e * P_e; f_e is
 * a constant for its gradient.
 *
 * A mean over the batch: the exact sum of N elements, of all ranks together. The term is alpha *
 * the mean, the gradient alpha / N for each element.
 *
 * Statistics are integers (type.h), so they are the same for any number of threads and ranks. A
 * term counts once for each target, as what it is added to: the loss is divided by targets later.
 */
#include "exact.h"
#include "kernel.h"
#include "scalars.h"
#include "vector_math.h"

/* softmax of a row of E logits; the sum of exponentials is in f64. */
static void probabilities(const Operand *x, int64_t row, float *p) {
    int64_t experts = x->width;
    float top = -__builtin_inff();
    for (int64_t e = 0; e < experts; e++) {
        float v = element_load(x->at, x->dtype, row * experts + e);
        if (v > top) top = v;
    }
    double total = 0.0;
    for (int64_t e = 0; e < experts; e += LANES) {
        V16 v = v_exp(v_get(x->at, x->dtype, row * experts + e, experts - e) - top);
        v_store_part(p, DT_F32, e, MIN(experts - e, (int64_t)LANES), v);
    }
    for (int64_t e = 0; e < experts; e++) total += (double)p[e];
    for (int64_t e = 0; e < experts; e++) p[e] = (float)((double)p[e] / total);
}

static int64_t targets_in(Operand t, int64_t ignore) {
    int64_t n = t.n;
    for (int64_t i = 0; t.dtype == DT_I32 && i < t.n; i++)
        n -= ((const int32_t *)t.at)[i] == ignore;
    return n;
}

/* A probability that is NaN counts as 0: the loss is NaN too. */
static int64_t in_units(float p) {
    return p == p ? (int64_t)((double)p * (double)((int64_t)1 << BALANCE_BITS) + 0.5) : 0;
}

static void add_up(const Operand *x, WorkRange rows, int64_t *stats) {
    float p[MOST_EXPERTS];
    int64_t experts = x->width, sum[MOST_EXPERTS] = {0};
    for (int64_t row = rows.from; row < rows.to; row++) {
        probabilities(x, row, p);
        for (int64_t e = 0; e < experts; e++) sum[e] += in_units(p[e]);
    }
#pragma omp critical(balance)
    for (int64_t e = 0; e < experts; e++) stats[experts + e] += sum[e];
}

KERNEL(balance) {
    Operand x = input(l, 0), index = input(l, 1);
    Result out = output(l, 0);
    int64_t experts = x.width, tokens = x.rows;
    int64_t *stats = out.at;
    const int32_t *chosen = index.at;
    int code = check_indices(l, INDEX_EXPERT, index, false, experts);
    if (code) return code;
    memset(stats, 0, (size_t)out.n * sizeof *stats);
    for (int64_t i = 0; i < index.n; i++) stats[chosen[i]]++;
#pragma omp parallel num_threads(threads_for(l, x.n * 8))
    add_up(&x, my_range(tokens, 1), stats);
    stats[2 * experts] = tokens;
    stats[2 * experts + 1] = targets_in(input(l, 2), l->call->attr->ignore);
    return 0;
}

/* The loss with `rest`; what f32 cannot hold of that goes into further parts. */
static void add_term(const int64_t *loss, int64_t *out, double rest) {
    memmove(out, loss, EXACT_WORDS * sizeof *out);
    ExactSum exact = {0};
    for (int k = 0; k < 3; k++) {
        exact_push_one(&exact, (float)rest);
        rest -= (double)(float)rest;
    }
    exact_finish(&exact, out);
}

/* Its value times alpha; what is not finite stays so. */
static void multiply_words(int64_t *words, double alpha) {
    int64_t zeros[EXACT_WORDS] = {
        [EXACT_COUNT] = words[EXACT_COUNT], [EXACT_NONFINITE] = words[EXACT_NONFINITE]};
    add_term(zeros, words, alpha * exact_value(words));
}

/* The loss with the term, which balance_loss or average_loss adds. */
static int put_term(const Launch *l, const int64_t *loss) {
    Operand in = input(l, 1);
    add_term(loss, l->call->out[0],
             loss_of_term(in.at, statistics_form(in.n), l->call->attr->alpha, loss[EXACT_COUNT]));
    return 0;
}

KERNEL(balance_loss) { return put_term(l, l->call->in[0]); }
KERNEL(average_loss) { return put_term(l, l->call->in[0]); }

KERNEL(balance_grad) {
    Operand x = input(l, 0), in = input(l, 1);
    Result out = output(l, 0);
    int64_t experts = x.width;
    const int64_t *stats = in.at;
    double all = (double)stats[2 * experts], targets = (double)stats[2 * experts + 1];
    double factor =
        l->call->attr->alpha * (double)experts / (all * all) *
        __builtin_ldexp(targets * (double)loss_scale(l, 2), (int)l->call->attr->exponent);
#pragma omp parallel num_threads(threads_for(l, x.n * 8))
    {
        float p[MOST_EXPERTS];
        EACH_OWN(row, x.rows) {
            double mean = 0.0;
            probabilities(&x, row, p);
            for (int64_t e = 0; e < experts; e++) mean += (double)p[e] * (double)stats[e];
            for (int64_t e = 0; e < experts; e++)
                element_store(out.at, out.dtype, row * experts + e,
                              (float)(factor * ((double)stats[e] - mean) * (double)p[e]));
        }
    }
    return 0;
}

/* ---- means over the batch */

static void add_elements(const Launch *l, Operand x, int64_t *stats) {
    exact_of(l, x, (WorkRange){0, x.n}, EXACT_SIGNED, stats);
    stats[EXACT_COUNT] = x.n;
}

KERNEL(average) {
    Operand x = input(l, 0);
    Result out = output(l, 0);
    int64_t *stats = out.at;
    Operand targets = input(l, 1), weights = input(l, 2);
    int64_t calls = l->call->attr->count;
    add_elements(l, x, stats);
    if (weights.at) add_elements(l, weights, stats + AVERAGE_WORDS);
    stats[AVERAGE_TARGETS] = targets_in(targets, l->call->attr->ignore);
    if (!calls) return 0;
    if (targets.dtype != DT_I32) stats[AVERAGE_TARGETS] *= calls;
    stats[out.n - 2] = 1;
    stats[out.n - 1] = calls;
    return 0;
}

KERNEL(total) {
    Operand x = input(l, 0);
    Result out = output(l, 0);
    double alpha = l->call->attr->alpha;
    add_elements(l, x, out.at);
    if (alpha != 1.0) multiply_words(out.at, alpha);
    return 0;
}

KERNEL(count_targets) {
    Result out = output(l, 0);
    memset(out.at, 0, EXACT_WORDS * sizeof(int64_t));
    ((int64_t *)out.at)[EXACT_COUNT] = targets_in(input(l, 0), l->call->attr->ignore);
    return 0;
}

KERNEL(loss_term) {
    const int64_t *loss = l->call->in[0];
    int64_t none[EXACT_WORDS] = {[EXACT_COUNT] = loss[EXACT_COUNT]};
    if (l->call->n_in > 1) return put_term(l, none);
    memcpy(l->call->out[0], loss, EXACT_WORDS * sizeof *loss);
    return 0;
}

KERNEL(average_grad) {
    Operand in = input(l, 0);
    Result out = output(l, 0);
    const int64_t *stats = in.at;
    double factor = l->call->attr->alpha * __builtin_ldexp(1.0, (int)l->call->attr->exponent);
    double seed = factor * (double)loss_scale(l, 1), targets = (double)stats[AVERAGE_TARGETS];
    double divisor = divisor_of(stats, statistics_form(in.n));
    V16 slope = v_all(divisor == 0.0 ? 0.0f : (float)(seed / divisor * targets));
    SHARE_VECTORS(l, i, left, out.n)
    v_put(out.at, out.dtype, i, left, slope);
    return 0;
}
