/* What a run reads: data and weights, opened and checked before the first step, and the steps and
 * evaluations that they allow.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "checkpoint.h"
#include "data.h"
#include "run.h"
#include "state.h"

/* Steps that the plan's schedule has, and that will run. */
static int count_steps(Run *run) {
    const PlanSettings *s = run->plan->settings;
    run->steps.scheduled = s->steps;
    run->loss_scale = loss_scale_start(s);
    if (!s->steps) {
        int64_t samples;
        if (__builtin_mul_overflow(s->epochs, run->inputs.train->samples, &samples))
            return say_error(
                EXIT_USER, "train.epochs: %" PRId64 " epochs have more samples than can be counted",
                s->epochs);
        /* rounded up: every sample is seen `epochs` times */
        run->steps.scheduled = samples / s->batch + (samples % s->batch != 0);
        if (s->schedule != SCHEDULE_CONSTANT && s->warmup + s->decay > (double)run->steps.scheduled)
            return say_error(EXIT_USER,
                             "train.schedule: warmup%s = %g is longer than the %" PRId64
                             " steps of %" PRId64 " epochs",
                             s->decay > 0 ? " + decay" : "", s->warmup + s->decay,
                             run->steps.scheduled, s->epochs);
    }
    /* positions in the data are counted through all steps, and one evaluation after them */
    if (multiply_saturated(run->steps.scheduled, s->batch) > INT64_MAX / 4 ||
        tokens_per_step(run->plan) == INT64_MAX)
        return say_error(EXIT_USER,
                         "the plan's steps read more samples or tokens than can be counted\n"
                         "help: compile with smaller train.steps, train.batch or data.length");
    run->steps.end = run->options->steps >= 0 ? run->options->steps : run->steps.scheduled;
    if (run->steps.end > run->steps.scheduled)
        return say_error(EXIT_USER,
                         "--steps %" PRId64 ": the plan's schedule has only %" PRId64 " steps\n"
                         "help: compile with -s train.steps=%" PRId64,
                         run->steps.end, run->steps.scheduled, run->steps.end);
    if (run->options->dump_step >= run->steps.end)
        return say_error(EXIT_USER, "--dump-grads %" PRId64 ": the run's steps are 0 to %" PRId64,
                         run->options->dump_step, run->steps.end - 1);
    return 0;
}

/* Legal, and rarely meant. */
static void note_few_samples(const Run *run) {
    const PlanSettings *s = run->plan->settings;
    if (run->options->quiet || run->inputs.train->samples >= s->batch) return;
    fprintf(stderr,
            "note: data.train (%s) has %" PRId64 " sample%s, fewer than the batch of %" PRId64
            ": each step repeats some\n",
            run->inputs.train->file[0].map.path, run->inputs.train->samples,
            run->inputs.train->samples == 1 ? "" : "s", s->batch);
}

/* Does the run come to an evaluation? */
static bool comes_to_evaluation(const Run *run) {
    int64_t every = run->plan->settings->eval_every;
    return run->options->eval_only || (every > 0 && every <= run->steps.end);
}

static int check_evaluation(const Run *run) {
    const PlanSettings *s = run->plan->settings;
    if (!run->inputs.val || !comes_to_evaluation(run)) return 0;
    int64_t need = evaluation_samples(run->plan);
    if (need > INT64_MAX / 4)
        return say_error(EXIT_USER, "train.eval_steps: more samples than can be counted");
    for (uint64_t i = 0; i < run->plan->n_roles; i++) {
        int64_t round = evaluation_round(run->plan, (uint32_t)i);
        if (round && need % round)
            return say_error(EXIT_CORRUPT,
                             "an evaluation reads %" PRId64
                             " samples, which is not divisible by the %" PRId64 " of its calls",
                             need, round);
    }
    if (need <= run->inputs.val->samples) return 0;
    fprintf(stderr,
            "error: evaluation reads eval_steps * batch = %" PRId64
            " samples, but data.val (%s) has only %" PRId64 "\n",
            need, dataset_place(run->inputs.val), run->inputs.val->samples);
    if (run->inputs.val->samples >= s->batch)
        fprintf(stderr, "help: compile with -s train.eval_steps=%" PRId64 "\n",
                run->inputs.val->samples / s->batch);
    else
        fprintf(stderr, "help: compile with a smaller train.batch%s\n",
                run->options->eval_only ? "" : ", or with -s train.eval_every=none");
    return EXIT_USER;
}

static int open_validation(Run *run) {
    char error[ERROR_BYTES];
    const RunOptions *o = run->options;
    int code = dataset_open(run->plan, "val", o->data, o->n_data, &run->inputs.val, error);
    if (code) return say_error(code, "%s", error);
    run->steps.evaluates = run->inputs.val != NULL;
    if (run->inputs.val && o->predict) {
        run->steps.samples = run->inputs.val->samples;
        return 0;
    }
    if (run->inputs.val || !o->eval_only) return check_evaluation(run);
    return say_error(EXIT_USER,
                     "%s: the plan has no data.val\n"
                     "help: compile with -s 'data.val=text(\"file\")', or another source",
                     o->predict ? "--predict" : "--eval-only");
}

static int open_training(Run *run) {
    char error[ERROR_BYTES];
    const RunOptions *o = run->options;
    int code = dataset_open(run->plan, "train", o->data, o->n_data, &run->inputs.train, error);
    if (code) return say_error(code, "%s", error);
    if (!run->inputs.train) return say_error(EXIT_CORRUPT, "the plan names no training data");
    code = count_steps(run);
    if (!code) note_few_samples(run);
    return code;
}

int inputs_open_data(Run *run) {
    char error[ERROR_BYTES];
    const RunOptions *o = run->options;
    int64_t batch = run->plan->settings->local_batch;
    for (uint64_t i = 0; i < plan_batch_fields(run->plan); i++) {
        const Type *t = &run->plan->fields[i].type;
        if (t->rank < 1 || t->dim[0] != batch)
            return say_error(
                EXIT_CORRUPT,
                "a batch field of the plan does not begin with the axis of the local batch");
    }
    int code = o->generates ? generate_check(run, error)
                            : data_options_check(run->plan, o->data, o->n_data, error);
    if (code) return say_error(code, "%s", error);
    if (o->eval_only) code = prediction_check(run);
    if (code || o->generates) return code;
    if (!o->eval_only) code = open_training(run);
    return code || !comes_to_evaluation(run) ? code : open_validation(run);
}

int inputs_open_weights(Run *run, TensorSet *set) {
    char error[ERROR_BYTES];
    if (ck_is_checkpoint(run->options->load)) return resume_weights(run, run->options->load);
    int code = tensor_set_open(set, run->options->load, error);
    if (code) return say_error(code, "%s", error);
    run->inputs.weights = set;
    code = hf_folder_check(run);
    if (code) return code;
    run->inputs.match = arena_array(run->memory, TensorMatch, run->plan->n_params + 1);
    Buf list = {0};
    code = tensors_match(run->plan, set, run->inputs.match, &list);
    if (code) fprintf(stderr, "error: %.*s", (int)list.n, list.at);
    buf_free(&list);
    if (code) return code;
    mapped_watch();
    code = weights_compare(run, error);
    return code ? say_error(code, "%s", error) : 0;
}

void inputs_close(Run *run, TensorSet *set) {
    dataset_close(run->inputs.train);
    dataset_close(run->inputs.val);
    tokenizer_close(run->inputs.tokenizer);
    if (set->arena) tensor_set_close(set);
}
