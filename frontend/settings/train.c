/* Section train: how long, which optimizer, which schedule; and the order of the data, which the
 * steps decide about. Loss and metrics are expressions, which elaborate.c evaluates.
 */
#include <string.h>

#include "rules.h"

/* Which policies an argument of an optimizer sets: a list one after the other. */
static void set_hyperparameter(Policy *p, RunSettings *s, const char *name, const ExprValue *v) {
    const struct {
        const char *name;
        double *to[3];
    } reals[] = {{"lr", {&s->lr}},
                 {"weight_decay", {&p->weight_decay}},
                 {"momentum", {&p->momentum}},
                 {"betas", {&p->beta1, &p->beta2, &p->beta3}},
                 {"beta2_decay", {&s->beta2_decay}},
                 {"eps", {&p->eps, &p->eps2}},
                 {"d", {&p->limit}}};
    for (size_t i = 0; i < ARRAY_LEN(reals); i++) {
        if (strcmp(name, reals[i].name) != 0) continue;
        if (v->kind != VALUE_LIST) *reals[i].to[0] = value_number(v);
        for (uint32_t k = 0; v->kind == VALUE_LIST && k < v->n_items; k++)
            *reals[i].to[k] = value_number(v->items[k].value);
    }
    if (!strcmp(name, "nesterov")) p->nesterov = v->boolean;
    if (!strcmp(name, "ns_steps")) p->steps = v->integer;
    if (!strcmp(name, "adjust_lr")) p->rate = (MuonRate)enum_of(v, &words_MuonRate);
}

/* The learning rate of all parameters other than matrices of hidden layers. */
static void set_adamw_lr(Model *m, const KeyValue *setting, double lr) {
    const ExprValue *adamw = value_item(&setting->value, "adamw_lr");
    m->adamw_lr_factor = 1;
    if (!adamw || adamw->kind == VALUE_NONE) return;
    if (lr > 0)
        m->adamw_lr_factor = own_lr_factor(m, adamw, lr);
    else if (value_number(adamw) > 0)
        setting_error(m, setting, "adamw_lr needs an lr above 0");
}

static void resolve_optimizer(Model *m, Policy *p, RunSettings *s) {
    const KeyValue *setting = model_setting(m, "train", "optimizer");
    const ExprValue *o = &setting->value;
    if (o->kind != VALUE_CALL) return;
    p->optimizer = (OptimizerKind)enum_of(o, &words_OptimizerKind);
    uint32_t n;
    const ArgumentInfo *argument = call_arguments(call_find(GROUP_OPTIMIZER, o->text), &n);
    for (uint32_t i = 0; i < n; i++)
        set_hyperparameter(p, s, argument[i].name, call_argument(o, argument[i].name));
    set_adamw_lr(m, setting, s->lr);
    if (optimizer_info[p->optimizer].momentum.op != OP_param && p->nesterov && p->momentum == 0)
        setting_error(m, setting, "nesterov needs a momentum above 0");
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
    diag_report(m->ds, E_missing_setting, (Span){0},
                "set how long to train, for example -s train.steps=100",
                "train.steps or train.epochs is needed");
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
    int64_t chunks = setting_count(m, "train", "loss_chunks");
    p->loss_chunks = chunks > 1 ? chunks : 0;
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
