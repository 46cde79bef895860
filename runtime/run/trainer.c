/* The life of a rank: start weights, then the calls of the run in order, then the save. In: an open
 * rank. Out: the exit code, with the message in the rank.
 *
 * Before a call: the batch that the loader read goes into its staging slot, unless the loader put
 * it there; the step state is written, and the loader is asked for the next batch. After the last
 * call of a step: loss, norm and the finite flag are read from the scale state, and all ranks agree
 * whether to stop here. After the last call of an evaluation: the exact accumulators, added over
 * its calls, become means. A checkpoint that is due is made after both.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "state.h"

enum { MAX_METRICS = 64 };

/* What stands between "eval" and the name of a metric. A term that HOST_ADDS to the metric before
 * the last dot is divided by its weights, if there are any (HOST_DIVIDES), or by its count. */
enum { HOST_ADDS = '+', HOST_DIVIDES = '/' };

typedef struct Trainer {
    Rank *rank;
    const Run *run;
    const PlanSettings *settings;
    char *step_state, *staging, *scale; /* in the arena; scale may be NULL */
    uint64_t slot_bytes;
    double step[STEP_SLOTS];
    int n_metric, n_term;
    const char *metric_name[MAX_METRICS]; /* "loss", "loss.cross_entropy", "accuracy" */
    char metric_mark[MAX_METRICS];        /* HOST_ADDS, HOST_DIVIDES, or '.' */
    const char *term_name[MAX_METRICS];   /* "loss.cross_entropy", of a step */
    const char *term_at[MAX_METRICS];
    double term[MAX_METRICS];
    const char *metric_at[MAX_METRICS];
    int64_t metric[MAX_METRICS][EXACT_WORDS], words[EXACT_WORDS];
    LossScale loss_scale;
    double begun;      /* when the step began */
    int64_t done;      /* steps */
    int64_t evaluated; /* steps done at the last evaluation, -1 = none */
    double evaluation; /* its loss */
    bool log_lost;     /* rank 0 can no longer write the log; only rank 0 knows why */
} Trainer;

static int find_states(Trainer *t) {
    const Plan *p = t->run->plan;
    char *arena = t->rank->arena;
    t->step_state = rank_state(t->rank, STATE_STEP);
    t->scale = rank_state(t->rank, STATE_SCALE);
    t->staging = rank_state(t->rank, STATE_STAGING);
    t->slot_bytes = slot_bytes(p);
    for (uint64_t i = 0; i < p->n_states; i++) {
        const char *name = plan_string(p, p->states[i].name);
        if (p->states[i].role != STATE_METRIC) continue;
        bool evaluation = !strncmp(name, "eval", 4), term = !strncmp(name, "loss.", 5);
        if (t->n_metric == MAX_METRICS || t->n_term == MAX_METRICS)
            return fail_with(t->rank->error, EXIT_CORRUPT,
                             "the plan has more than %d metrics or terms", MAX_METRICS - 1);
        if (evaluation) {
            t->metric_mark[t->n_metric] = name[4];
            t->metric_name[t->n_metric] = name + 5;
            t->metric_at[t->n_metric++] = arena + p->states[i].address;
        } else if (term) {
            t->term_name[t->n_term] = name;
            t->term_at[t->n_term++] = arena + p->states[i].address;
        }
    }
    return 0;
}

/* Writes what the host gives to a call. */
static int prepare_call(Trainer *t, const ProgramCall *c, const void *batch) {
    Rank *r = t->rank;
    int code = 0;
    step_state_fill(t->settings, t->run->steps.scheduled, c->step, c->micro, c->position, c->slot,
                    &t->loss_scale, t->step);
    if (t->step_state) code = rank_copy_in(r, t->step_state, t->step, sizeof t->step);
    char *slot = t->staging ? t->staging + (uint64_t)c->slot * t->slot_bytes : NULL;
    if (!code && slot && batch != slot) code = rank_copy_in(r, slot, batch, t->slot_bytes);
    return code;
}

/* What ranks agree on after a step and an evaluation; the largest word counts. A log that cannot be
 * written any more ends the run after this step, as an interrupt does, so that --save has what was
 * trained. */
enum { GO_ON, STOP, STOP_LOG_LOST };

/* Ranks may see a signal at different times; they stop after the same call. */
static int agree_to_stop(Trainer *t, bool *stop) {
    bool interrupted = atomic_load(&t->run->end.interrupted);
    const char *why;
    bool lost = t->rank->rank == 0 && metrics_lost(t->run->metrics, &why);
    uint64_t mine = lost ? STOP_LOG_LOST : interrupted ? STOP : GO_ON, wanted = GO_ON;
    int code = rank_agree(t->rank, mine, &wanted);
    *stop = wanted != GO_ON;
    t->log_lost = wanted == STOP_LOG_LOST;
    return code;
}

static int not_finite(Rank *r, const Trainer *t, int64_t step, const double *scale) {
    r->agrees = true;
    if (t->loss_scale.scale > 0 && isfinite(scale[SCALE_LOSS]))
        return fail_with(
            r->error, EXIT_TRAINING,
            "step %lld: gradients overflow at a loss scale of %g, which cannot fall further; "
            "the weights are those from before this step\nhelp: train.on_nan = skip leaves "
            "such steps out; train.precision = bf16 has the range of f32",
            (long long)step, t->loss_scale.scale);
    return fail_with(r->error, EXIT_TRAINING,
                     "step %lld: loss %g, gradient norm %g: not finite; the weights are those from "
                     "before this step\nhelp: train.on_nan = skip leaves such steps out",
                     (long long)step, scale[SCALE_LOSS], scale[SCALE_NORM]);
}

/* What becomes of the loss scale. All ranks have the same flag, and so the same scale. Does a step
 * that is not finite need an answer of on_nan? */
static bool follow_scale(Trainer *t, const double *scale) {
    bool finite = scale[SCALE_FINITE] != 0;
    if (t->loss_scale.scale == 0) return !finite;
    bool fell = loss_scale_step(t->settings, &t->loss_scale, finite);
    return !finite && (!fell || !isfinite(scale[SCALE_LOSS]));
}

static int read_terms(Trainer *t) {
    for (int i = 0; i < t->n_term; i++) {
        int code = rank_copy_out(t->rank, t->words, t->term_at[i], sizeof t->words);
        if (code) return code;
        t->term[i] = exact_mean(t->words);
    }
    return 0;
}

/* A step without targets changes nothing, not even the loss scale. */
static void warn_no_targets(const Trainer *t, int64_t step) {
    metrics_end_bar(t->run->metrics);
    fprintf(stderr,
            "warning: step %lld: no target counts, so it has no loss and the weights stay as they "
            "are\n",
            (long long)step);
}

static int finish_step(Trainer *t, const ProgramCall *c, bool *stop) {
    Rank *r = t->rank;
    double scale[SCALE_SLOTS] = {
        [SCALE_LOSS] = NAN, [SCALE_NORM] = NAN, [SCALE_FINITE] = 1, [SCALE_APPLY] = 1};
    int code = t->scale ? rank_copy_out(r, scale, t->scale, sizeof scale) : 0;
    if (!code && r->rank == 0) code = read_terms(t);
    if (code) return code;
    double seconds = monotonic_seconds() - t->begun;
    LossScale before = t->loss_scale;
    bool empty = t->scale && scale[SCALE_FINITE] != 0 && scale[SCALE_COUNT] == 0;
    bool asks = !empty && follow_scale(t, scale), scaled = t->loss_scale.scale > 0;
    bool left_out = scaled || t->settings->on_nan == ON_NAN_SKIP;
    t->loss_scale.skipped += scale[SCALE_APPLY] == 0;
    if (r->rank == 0) {
        StepNumbers n = {.step = c->step,
                         .loss = scale[SCALE_LOSS],
                         .norm = scale[SCALE_NORM],
                         .lr = t->step[STEP_LR],
                         .seconds = seconds,
                         .loss_scale = t->loss_scale.scale,
                         .skipped = empty || (scale[SCALE_FINITE] == 0 && left_out),
                         .n_term = t->n_term,
                         .term_name = t->term_name,
                         .term = t->term};
        rank_writes(r, true);
        if (empty) warn_no_targets(t, c->step);
        metrics_step(t->run->metrics, &n, r->error);
        rank_writes(r, false);
    }
    if (asks && t->settings->on_nan == ON_NAN_STOP) {
        code = not_finite(r, t, c->step, scale);
        t->loss_scale = before; /* of the checkpoint, in which this step is still to be done */
        return code;
    }
    t->done = c->step + 1;
    if (r->rank == 0) attempt_note(t->done);
    code = overlap_step(r, seconds);
    if (!code) code = agree_to_stop(t, stop);
    if (!code && r->dump && c->step == t->run->options->dump_step)
        code = gradient_dump_write(r->dump);
    return code;
}

/* The samples of a batch of an evaluation with --predict. */
static int take_predictions(Trainer *t, const ProgramCall *c, bool *stop) {
    int code = predictor_take(t->rank, c->position);
    if (!code) code = agree_to_stop(t, stop);
    return !code && c->ends && !*stop ? predictor_finish(t->rank) : code;
}

static int find_metric(const Trainer *t, char mark, const char *name, size_t n) {
    for (int i = 0; i < t->n_metric; i++)
        if (t->metric_mark[i] == mark && strlen(t->metric_name[i]) == n &&
            !memcmp(t->metric_name[i], name, n))
            return i;
    return -1;
}

static double term_mean(const Trainer *t, int i) {
    int k = find_metric(t, HOST_DIVIDES, t->metric_name[i], strlen(t->metric_name[i]));
    return exact_term(t->metric[i], k < 0 ? NULL : t->metric[k]);
}

/* The means of the evaluation that the log has: terms of a metric are named after it, unless they
 * have only a number. */
static int evaluated_means(Trainer *t, const char **name, double *value) {
    double mean[MAX_METRICS];
    int n = 0;
    for (int i = 0; i < t->n_metric; i++)
        mean[i] = t->metric_mark[i] == HOST_ADDS ? term_mean(t, i) : exact_mean(t->metric[i]);
    for (int i = 0; i < t->n_metric; i++) {
        const char *dot = strrchr(t->metric_name[i], '.');
        if (t->metric_mark[i] != HOST_ADDS || !dot) continue;
        int of = find_metric(t, '.', t->metric_name[i], (size_t)(dot - t->metric_name[i]));
        if (of >= 0) mean[of] += mean[i];
    }
    for (int i = 0; i < t->n_metric; i++) {
        const char *dot = strrchr(t->metric_name[i], '.');
        if (t->metric_mark[i] == HOST_DIVIDES || (dot && dot[1] >= '0' && dot[1] <= '9')) continue;
        name[n] = t->metric_name[i];
        value[n++] = mean[i];
    }
    return n;
}

static int add_metrics(Trainer *t, const ProgramCall *c, bool *stop) {
    Rank *r = t->rank;
    if (r->predictor) return take_predictions(t, c, stop);
    for (int i = 0; i < t->n_metric; i++) {
        int code = rank_copy_out(r, t->words, t->metric_at[i], sizeof t->words);
        if (code) return code;
        for (int k = 0; k < EXACT_WORDS; k++) t->metric[i][k] += t->words[k];
    }
    if (!c->ends) return 0;
    const char *name[MAX_METRICS];
    double value[MAX_METRICS];
    int n = evaluated_means(t, name, value);
    for (int i = 0; i < n; i++) {
        if (strcmp(name[i], "loss")) continue;
        t->evaluated = c->step + 1;
        t->evaluation = value[i];
    }
    memset(t->metric, 0, sizeof t->metric);
    rank_writes(r, true);
    if (r->rank == 0)
        metrics_eval(t->run->metrics, t->run->options->eval_only ? 0 : c->step + 1, n, name, value,
                     r->error);
    rank_writes(r, false);
    return agree_to_stop(t, stop);
}

/* evaluation_due: the one after the last step did not happen. */
static int begin_checkpoint(Trainer *t, bool last, bool evaluation_due) {
    SaveMoment m = {.step = t->done,
                    .last = last,
                    .evaluation_due = evaluation_due,
                    .has_evaluation = t->evaluated == t->done,
                    .evaluation = t->evaluation,
                    .loss_scale = t->loss_scale};
    return saver_begin(t->rank, &m);
}

/* The state when the run ends, where the newest checkpoint is not that. */
static int save_last(Trainer *t, bool evaluation_due) {
    if (!t->run->saver || saver_gave_up(t->rank)) return 0;
    int code = saver_finish(t->rank);
    if (code || saver_gave_up(t->rank) || saver_saved_step(t->rank) == t->done) return code;
    code = begin_checkpoint(t, true, evaluation_due);
    return code ? code : saver_finish(t->rank);
}

/* Runs the step again. more: the loader reads for a call that will not come. */
static int repeat_step(Trainer *t, FiniteWatch *w, int64_t step, bool more) {
    Rank *r = t->rank;
    RunSteps again = t->run->steps;
    CallCursor cursor;
    ProgramCall call = {0};
    const void *batch;
    again.first = step;
    again.evaluation_due = false;
    cursor_start(&cursor, t->run->plan, &again, r->rank);
    int code = more ? loader_wait(r->loader, &batch, r->error) : 0;
    for (w->call = 0; !code && !call.ends && cursor_next(&cursor, &call); w->call++) {
        loader_request(r->loader, &call);
        code = loader_wait(r->loader, &batch, r->error);
        if (!code) code = prepare_call(t, &call, batch);
        if (!code) code = executor_run(r, call.program, call.slot_kept, r->error);
    }
    return code;
}

/* Puts a note, unless it is empty, between what the message says and its help. */
static int add_note(Rank *r, const char *message, const char *note) {
    const char *help = strstr(message, "\nhelp:");
    int n = help ? (int)(help - message) : (int)strlen(message);
    return fail_with(r->error, EXIT_TRAINING, "%.*s%s%s%s", n, message, *note ? "\nnote: " : "",
                     note, help ? help : "");
}

/* Names the sample of the index that a kernel found out of range. */
static int explain_index(const Trainer *t, const ProgramCall *c) {
    Rank *r = t->rank;
    int64_t each = r->fault.n / c->samples;
    char message[ERROR_BYTES], note[80] = "";
    memcpy(message, r->error, sizeof message);
    if (each * c->samples == r->fault.n)
        snprintf(note, sizeof note, "it is of sample %lld of data.%s, from 0",
                 (long long)loader_sample(t->run, c, r->fault.position / each),
                 c->evaluation ? "val" : "train");
    return add_note(r, message, note);
}

/* Says which op of the step was the first that was not finite. A test mode looks at the
 * instructions itself. */
static int explain_not_finite(Trainer *t, int64_t step, bool more) {
    Rank *r = t->rank;
    FiniteWatch w;
    char message[ERROR_BYTES], found[400] = "";
    if (r->hooks.of) return EXIT_TRAINING;
    memcpy(message, r->error, sizeof message);
    gradient_dump_arm(r->dump, -1);
    int code = finite_watch_open(r, &w);
    if (!code) code = repeat_step(t, &w, step, more);
    if (!code) code = finite_watch_agree(&w, found, sizeof found);
    finite_watch_close(&w);
    return code ? code : add_note(r, message, found);
}

static int train_steps(Trainer *t) {
    Rank *r = t->rank;
    CallCursor cursor;
    ProgramCall call, next;
    cursor_start(&cursor, t->run->plan, &t->run->steps, r->rank);
    bool more = cursor_next(&cursor, &next), stop = false, evaluation_due = false;
    if (more) loader_request(r->loader, &next);
    t->begun = monotonic_seconds();
    while (more && !stop) {
        call = next;
        const void *batch;
        int code = loader_wait(r->loader, &batch, r->error);
        if (code) return code;
        more = cursor_next(&cursor, &next);
        if (more) loader_request(r->loader, &next);
        code = prepare_call(t, &call, batch);
        if (code) return code;
        gradient_dump_arm(r->dump, call.evaluation ? -1 : call.step);
        if (plan_has_stages(t->run->plan))
            atomic_store(&r->pulse.call, stage_call(call.program, call.micro));
        code = executor_run(r, call.program, call.slot_kept, r->error);
        if (!code && call.evaluation && call.batch_ends) code = add_metrics(t, &call, &stop);
        if (!code && !call.evaluation && call.ends) code = finish_step(t, &call, &stop);
        if (code == EXIT_TRAINING)
            code = r->fault.n ? explain_index(t, &call) : explain_not_finite(t, call.step, more);
        if (!code && !call.evaluation && call.ends) code = saver_poll(r);
        if (code) return code;
        if (saver_gave_up(r)) break;
        evaluation_due = more && next.evaluation && next.step < t->done;
        if (call.ends && !stop && more && !evaluation_due && saver_due(r, t->done))
            code = begin_checkpoint(t, false, false);
        if (code) return code;
        if (saver_gave_up(r)) break;
        if (call.ends) t->begun = monotonic_seconds();
    }
    int code = save_last(t, evaluation_due);
    if (code) return code;
    /* All ranks agreed on it: each process says so with its exit code. */
    if (r == r->run->rank) r->run->end.was_interrupted = stop;
    return 0;
}

static int generate_tokens(Trainer *t) {
    Rank *r = t->rank;
    bool stop;
    int code = generate_text(r->generator, &stop);
    if (r == r->run->rank) r->run->end.was_interrupted = stop;
    return code;
}

/* The weights are those before the step that was not finite: work that need not be lost. */
static int save_after_stop(Trainer *t) {
    Rank *r = t->rank;
    char why[ERROR_BYTES];
    memcpy(why, r->error, sizeof why);
    int code = save_last(t, false);
    if (!code && r->run->options->save.path) code = save_weights(r);
    saver_warn(r);
    if (code) return code;
    memcpy(r->error, why, sizeof why);
    return EXIT_TRAINING;
}

/* A checkpoint that failed does not keep the weights from being saved. */
static int save_at_end(Rank *r) {
    int code = r->run->options->save.path ? save_weights(r) : 0;
    if (code) saver_warn(r);
    return !code && saver_gave_up(r) ? saver_failure(r) : code;
}

/* The run ended early and has saved what it could; rank 0 says why, the others wait for that. */
static int end_without_log(Trainer *t) {
    Rank *r = t->rank;
    uint64_t word;
    const char *save = r->run->options->save.path, *why;
    if (r->rank != 0) {
        int code = rank_agree(r, 0, &word);
        return code ? code : EXIT_RANK;
    }
    int code = metrics_lost(r->run->metrics, &why);
    return fail_with(r->error, code, "%.250s\nhelp: the run ended after step %lld%s%.180s", why,
                     (long long)t->done - 1, save ? "; the weights are in " : "", save ? save : "");
}

int trainer_run(Rank *r) {
    Trainer *t = arena_new_of(r->memory, Trainer);
    *t = (Trainer){.rank = r,
                   .run = r->run,
                   .settings = r->run->plan->settings,
                   .loss_scale = r->run->loss_scale,
                   .done = r->run->steps.first,
                   .evaluated = -1};
    int code = find_states(t);
    if (!code) code = weights_start(r);
    if (!code && r->run->saver) code = saver_start(r);
    rank_writes(r, true);
    if (!code && r->rank == 0) code = metrics_start(r->run->metrics, r->arena_bytes, r->error);
    rank_writes(r, false);
    if (!code) code = r->generator ? generate_tokens(t) : train_steps(t);
    if (!code) code = profile_compare_stages(r);
    if (!code) code = save_at_end(r);
    if (r->agrees) code = save_after_stop(t);
    saver_stop(r);
    if (!code && t->log_lost)
        code = end_without_log(t);
    else if (!code && r->rank == 0)
        code = metrics_end(r->run->metrics, t->done, run_device_bytes(r->run), r->error);
    return code;
}
