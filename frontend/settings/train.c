/* Section train: how long, which optimizer, which schedule; and the order of the data, which the
 * steps decide about. Loss and metrics are expressions, which elaborate.c evaluates.
 */
#include "rules.h"

static void resolve_optimizer(Model *m, Policy *p, RunSettings *s) {
    const KeyValue *setting = model_setting(m, "train", "optimizer");
    const ExprValue *o = &setting->value;
    if (o->kind != VALUE_CALL) return;
    s->lr = value_number(call_argument(o, "lr"));
    p->weight_decay = value_number(call_argument(o, "weight_decay"));
    p->optimizer = (OptimizerKind)enum_of(o, &words_OptimizerKind);
    if (p->optimizer == OPTIMIZER_SGD) {
        p->momentum = value_number(call_argument(o, "momentum"));
        p->nesterov = call_argument(o, "nesterov")->boolean;
        if (p->nesterov && p->momentum == 0)
            setting_error(m, setting, "nesterov needs a momentum above 0");
        return;
    }
    if (p->optimizer == OPTIMIZER_ADAFACTOR) {
        const ExprValue *eps = call_argument(o, "eps");
        p->eps = value_number(eps->items[0].value);
        p->eps2 = value_number(eps->items[1].value);
        p->limit = value_number(call_argument(o, "d"));
        s->beta2_decay = value_number(call_argument(o, "beta2_decay"));
        return;
    }
    m->adamw_lr_factor = 1;
    if (p->optimizer == OPTIMIZER_MUON) {
        const ExprValue *adamw = call_argument(o, "adamw_lr");
        p->momentum = value_number(call_argument(o, "momentum"));
        p->nesterov = call_argument(o, "nesterov")->boolean;
        p->steps = call_argument(o, "ns_steps")->integer;
        p->rate = (MuonRate)enum_of(call_argument(o, "adjust_lr"), &words_MuonRate);
        if (adamw->kind != VALUE_NONE && s->lr > 0)
            m->adamw_lr_factor = own_lr_factor(m, adamw, s->lr);
        else if (adamw->kind != VALUE_NONE && value_number(adamw) > 0)
            setting_error(m, setting, "adamw_lr needs an lr above 0");
    }
    if (p->optimizer != OPTIMIZER_LION) p->eps = value_number(call_argument(o, "eps"));
    const ExprValue *betas = call_argument(o, "betas");
    p->beta1 = value_number(betas->items[0].value);
    p->beta2 = value_number(betas->items[1].value);
}

static void report_too_long(Model *m, const KeyValue *schedule, const char *what, int64_t steps) {
    Diag d = diag_at(m->ds, E_contradiction, schedule->value.span, "%s longer than steps = %lld",
                     what, (long long)steps);
    const KeyValue *length = model_setting(m, "train", "steps");
    if (length->expression) diag_note(&d, length->value.span, "the steps are given here");
    diag_help(&d, "change train.schedule too, or switch it off with -s train.schedule=constant");
    diag_emit(&d);
}

static void resolve_schedule(Model *m, RunSettings *s) {
    const KeyValue *setting = model_setting(m, "train", "schedule");
    const ExprValue *v = &setting->value;
    if (v->kind != VALUE_CALL) return;
    s->schedule = (ScheduleKind)enum_of(v, &words_ScheduleKind);
    s->warmup = value_number(call_argument(v, "warmup"));
    const ExprValue *final = value_item(v, "final"), *decay = value_item(v, "decay");
    s->final = final ? value_number(final) : 1;
    s->decay = decay ? value_number(decay) : 0;
    if (!s->steps || s->schedule == SCHEDULE_CONSTANT) return;
    if (s->warmup > (double)s->steps)
        report_too_long(m, setting, arena_printf(m->arena, "warmup = %g is", s->warmup), s->steps);
    else if (s->warmup + s->decay > (double)s->steps)
        report_too_long(
            m, setting,
            arena_printf(m->arena, "warmup = %g and decay = %g are", s->warmup, s->decay),
            s->steps);
}

/* If both steps and epochs are given, the one from the later file or option counts, and the
 * other becomes none. */
static void choose_length(Model *m, KeyValue *steps, KeyValue *epochs) {
    if (steps->value.kind != VALUE_INT || epochs->value.kind != VALUE_INT) return;
    bool by_steps = steps->order > epochs->order;
    KeyValue *idle = by_steps ? epochs : steps;
    idle->value = value_none(idle->value.span);
    idle->from = by_steps ? "steps is given later" : "epochs is given later";
    if (steps->span.file != epochs->span.file) return;
    const KeyValue *later = by_steps ? steps : epochs;
    Diag d = diag_at(m->ds, E_contradiction, later->span, "steps and epochs are both given");
    diag_note(&d, idle->span, "%s is given here", idle->key->key);
    diag_help(&d, "both set how long to train: remove one of them");
    diag_emit(&d);
}

static void resolve_length(Model *m, RunSettings *s) {
    KeyValue *steps = model_setting(m, "train", "steps");
    KeyValue *epochs = model_setting(m, "train", "epochs");
    choose_length(m, steps, epochs);
    s->steps = setting_count(m, "train", "steps");
    s->epochs = setting_count(m, "train", "epochs");
    if (!m->options->to_plan || steps->value.kind == VALUE_INT || s->epochs) return;
    if (steps->value.kind == VALUE_ERROR || epochs->value.kind == VALUE_ERROR) return;
    Diag d = diag_at(m->ds, E_missing_setting, (Span){0}, "train.steps or train.epochs is needed");
    diag_help(&d, "set how long to train, for example -s train.steps=100");
    diag_emit(&d);
}

static void resolve_norm(Model *m, Policy *p) {
    int64_t norm = setting_integer(m, "train", "clip_norm");
    if (norm > MOST_NORM)
        setting_error(m, model_setting(m, "train", "clip_norm"),
                      "clip_norm must be 1, 2, 3 or inf");
    bool largest = value_is_word(setting_value(m, "train", "clip_norm"), "inf");
    p->clip_norm = largest ? NORM_INF : norm == 2 ? 0 : norm;
}

void resolve_train(Model *m, Policy *p, RunSettings *s) {
    resolve_length(m, s);
    resolve_batch(m, p, s);
    resolve_hold(m, p);
    resolve_optimizer(m, p, s);
    precision_resolve(m, p, s);
    resolve_schedule(m, s);
    const char *const limits[] = {"clip", "clip_value"};
    for (int i = 0; i < 2; i++) {
        const KeyValue *limit = model_setting(m, "train", limits[i]);
        if (value_is_number(&limit->value) && !(value_number(&limit->value) > 0))
            setting_error(m, limit, "%s must be above 0, or none", limits[i]);
    }
    p->clip = setting_number(m, "train", "clip");
    p->clip_value = setting_number(m, "train", "clip_value");
    resolve_norm(m, p);
    s->eval_every = setting_count(m, "train", "eval_every");
    s->eval_steps = setting_count(m, "train", "eval_steps");
    s->seed = (uint64_t)setting_integer(m, "train", "seed");
    p->on_nan = (OnNan)enum_of(setting_value(m, "train", "on_nan"), &words_OnNan);
    if (s->eval_every && !setting_is_given(m, "data", "val"))
        setting_error(m, model_setting(m, "train", "eval_every"),
                      "eval_every needs data.val, which is not given");
    s->length = setting_integer(m, "data", "length");
    s->order = (DataOrder)enum_of(setting_value(m, "data", "order"), &words_DataOrder);
}
