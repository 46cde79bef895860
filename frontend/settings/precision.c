/* Dtypes and factors of the gradient: train.precision, train.loss_scale, shard.gather and
 * shard.scale.
 *
 * In: checked settings, the strategy and the number of ranks. Out: the dtypes of computation,
 * reduction and gathers in the policy, the loss scale, the factor of the mean gradient, and the
 * exponent that backward starts from. Every factor that values are multiplied by before the update
 * is a power of two, so that it rounds nothing.
 */
#include <math.h>
#include <string.h>

#include "residency.h"
#include "rules.h"

static bool is_power_of_two(double x) {
    int exponent;
    return x > 0 && frexp(x, &exponent) == 0.5;
}

/* The loss scale of the setting `name`: start, growth, backoff and interval, which is 0 for a
 * constant scale. All are powers of two, so that multiplying by them rounds nothing. */
static void read_loss_scale(Model *m, Policy *p, const KeyValue *s, const char *name) {
    const ExprValue *v = &s->value;
    double x[4] = {65536, 2, 0.5, 2000};
    bool right = v->kind != VALUE_LIST || v->n_items == 4;
    if (value_is_number(v)) x[0] = value_number(v), x[1] = x[2] = 1, x[3] = 0;
    for (uint32_t i = 0; v->kind == VALUE_LIST && right && i < 4; i++) {
        right = value_is_number(v->items[i].value) && !v->items[i].name;
        if (right) x[i] = value_number(v->items[i].value);
    }
    if (!right)
        setting_error(m, s, "%s must be (start, growth, backoff, interval), or a number", name);
    else if (!is_power_of_two(x[0]) || x[0] < 1 || x[0] > MOST_LOSS_SCALE)
        setting_error(m, s, "%s must start at a power of two from 1 to 2^60, not at %g", name,
                      x[0]);
    else if (x[3] && (!is_power_of_two(x[1]) || x[1] < 2 || x[1] > MOST_LOSS_SCALE))
        setting_error(m, s, "%s must grow by a power of two, at least 2, not by %g", name, x[1]);
    else if (x[3] && (!is_power_of_two(x[2]) || x[2] > 0.5))
        setting_error(m, s, "%s must back off by 0.5, 0.25, .., not by %g", name, x[2]);
    else if (x[3] < (v->kind == VALUE_LIST) || x[3] > (double)MOST_COUNT || x[3] != floor(x[3]))
        setting_error(m, s,
                      "the interval of %s must be a whole number of steps, at least 1, not %g",
                      name, x[3]);
    p->loss_scale = x[0];
    if (!x[3]) return;
    p->loss_growth = x[1];
    p->loss_backoff = x[2];
    p->loss_interval = (int64_t)x[3];
}

/* f16(scale = ..) and loss_scale mean the same; only loss_scale has all numbers of a dynamic
 * scale. One of them is enough; both can be given if they agree. */
static void resolve_loss_scale(Model *m, Policy *p) {
    const KeyValue *s = model_setting(m, "train", "loss_scale");
    const KeyValue *precision = model_setting(m, "train", "precision");
    const ExprValue *scale = NULL;
    if (precision->value.kind == VALUE_CALL) scale = call_argument(&precision->value, "scale");
    if (s->value.kind == VALUE_ERROR) return;
    if (!scale || scale->kind == VALUE_NONE) {
        read_loss_scale(m, p, s, "loss_scale");
        return;
    }
    bool moves = !value_is_number(scale), agree = moves == !value_is_number(&s->value);
    if (!moves && agree) agree = value_number(scale) == value_number(&s->value);
    if (s->value.kind != VALUE_NONE && !agree) {
        Arena *a = m->arena;
        Diag d = diag_at(m->ds, E_contradiction, scale->span, "scale = %s, but loss_scale = %s",
                         value_text(a, scale), value_text(a, &s->value));
        diag_note(&d, s->value.span.file ? s->value.span : s->span, "loss_scale is given here");
        diag_help(&d, "remove one of them; -s train.loss_scale=none removes loss_scale");
        diag_emit(&d);
    } else if (moves) {
        read_loss_scale(m, p, s, "loss_scale");
    } else {
        KeyValue own = *precision;
        own.value = *scale;
        read_loss_scale(m, p, &own, "scale");
    }
}

static void resolve_dtypes(Model *m, Policy *p) {
    const ExprValue *v = &model_setting(m, "train", "precision")->value;
    const KeyValue *scale = model_setting(m, "train", "loss_scale");
    bool named = v->kind == VALUE_WORD || v->kind == VALUE_CALL;
    p->compute_dtype = named ? MAX(word_find(&words_DType, v->text), DT_F32) : DT_F32;
    p->reduce_dtype = DT_F32;
    if (named)
        p->reduce_dtype = MAX(word_find(&words_DType, call_argument(v, "reduce")->text), DT_F32);
    if (p->compute_dtype == DT_F16) {
        resolve_loss_scale(m, p);
    } else if (scale->value.kind != VALUE_NONE && scale->value.kind != VALUE_ERROR) {
        Policy unused = *p;
        read_loss_scale(m, &unused, scale, "loss_scale");
        warn_idle(
            m, "train", "loss_scale",
            arena_printf(m->arena, "precision = %s", word_of(&words_DType, p->compute_dtype)));
    }
}

static void resolve_gather(Model *m, Policy *p) {
    const ExprValue *v = &model_setting(m, "shard", "gather")->value;
    if (v->kind != VALUE_WORD) return;
    p->gather = MAX(word_find(&words_DType, v->text), DT_NONE);
    if (!strategy_gathers(p->strategy)) warn_idle(m, "shard", "gather", strategy_text(m, p));
}

/* Reductions sum terms that were divided by the global number of targets, so the sum is the
 * mean. */
static void resolve_gain(Model *m, Policy *p, int64_t ranks) {
    const KeyValue *s = model_setting(m, "shard", "scale");
    const ExprValue *v = &s->value;
    if (v->kind != VALUE_WORD && v->kind != VALUE_CALL) return;
    if (!strcmp(v->text, "sum")) p->gain = (double)ranks;
    if (!strcmp(v->text, "divide")) p->gain = (double)ranks / value_number(call_argument(v, "by"));
    if (p->gain > LARGEST_NUMBER)
        setting_error(m, s, "scale can multiply a mean gradient by at most %g, not by %g",
                      LARGEST_NUMBER, p->gain);
}

void precision_resolve(Model *m, Policy *p, const RunSettings *s) {
    resolve_dtypes(m, p);
    resolve_gather(m, p);
    resolve_gain(m, p, s->ranks);
}

/* The divisor of the terms of a sum over ranks, near the square root of their number, so that
 * f16 neither overflows in the sum nor loses small terms before it. */
static int64_t division_before(int64_t ranks) {
    int64_t factor = 1;
    while (ranks % factor == 0 && ranks / factor > factor) factor *= 2;
    return factor;
}

int64_t precision_seed(const Policy *p, double targets, int64_t ranks) {
    if (p->loss_scale > 0) targets /= (double)ranks;
    if (p->reduce_dtype == DT_F16) targets *= (double)division_before(ranks);
    return -(int64_t)lround(log2(targets));
}
