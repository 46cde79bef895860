/* fsdpc convert: writes the weights of a checkpoint to files that other programs read, or makes a
 * checkpoint from such files. The first argument decides which: it names a checkpoint or weights.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver_files.h"

/* ---- a checkpoint's weights */

/* "f32[128, 12]" */
static const char *shape_text(Driver *d, const CkContents *c, const CkTensor *t) {
    Type type = {.dtype = (uint8_t)c->vector[t->vector].dtype, .rank = (uint8_t)t->rank};
    char text[TYPE_TEXT];
    memcpy(type.dim, t->dim, sizeof type.dim);
    type_format(&type, text, sizeof text);
    return arena_printf(d->arena, "%s", text);
}

static int another_model(Driver *d, const CkContents *c, const CkTensor *t, const CkContents *plan,
                         const CkTensor *wanted) {
    return driver_mistake(
        d, E_checkpoint, NULL,
        "the plan is for a different model\n  %s: %s in the checkpoint, %s in the plan",
        t ? t->name : wanted->name, t ? shape_text(d, c, t) : "not",
        wanted ? shape_text(d, plan, wanted) : "not");
}

/* Gives the contents the names and the configuration of the plan, which must be of the same
 * model. */
static int rename_as(Driver *d, CkContents *c, const Plan *plan) {
    CkContents wanted = {0};
    ck_plan_states(&wanted, plan, d->arena, NULL);
    CkTensor *tensor = arena_array(d->arena, CkTensor, c->n_tensor + 1);
    memcpy(tensor, c->tensor, c->n_tensor * sizeof *tensor);
    for (uint32_t i = 0; i < c->n_tensor; i++) {
        CkTensor *t = &tensor[i];
        const CkTensor *like = ck_find_tensor(&wanted, t->name);
        if (!ck_is_weight(c, t)) continue;
        if (!like || like->rank != t->rank || memcmp(like->dim, t->dim, sizeof t->dim))
            return another_model(d, c, t, &wanted, like);
        t->saved_as = like->saved_as;
        t->saved_at = like->saved_at;
        t->transposed = like->transposed;
        t->part = like->part;
        t->n_part = like->n_part;
    }
    for (uint32_t i = 0; i < wanted.n_tensor; i++)
        if (ck_is_weight(&wanted, &wanted.tensor[i]) && !ck_find_tensor(c, wanted.tensor[i].name))
            return another_model(d, c, NULL, &wanted, &wanted.tensor[i]);
    c->tensor = tensor;
    c->config = wanted.config;
    return 0;
}

static int write_weights(Driver *d, Checkpoint *from, const CkContents *named,
                         const SaveForm *form) {
    char error[ERROR_BYTES];
    int code = convert_out(from, named, form, error);
    if (code == EXIT_CORRUPT) ck_advise_other_step(checkpoint_folder(from), error);
    return code ? driver_fault(d, code, E_checkpoint, error) : 0;
}

static int to_weights(Driver *d, const char *input) {
    const Options *o = &d->options;
    char *folder = save_folder(o->output);
    SaveForm form = {.path = folder ? folder : o->output,
                     .folder = folder,
                     .type = o->given & OPTION_DTYPE ? o->dtype : FT_COUNT,
                     .max_file = o->given & OPTION_MAX_FILE ? o->max_file : SAVE_MAX_FILE};
    Checkpoint *from;
    CkContents named;
    Plan plan = {0};
    int code = 0;
    if (!folder && o->given & OPTION_MAX_FILE)
        code = driver_mistake(d, E_option_value,
                              arena_printf(d->arena, "-o %s/ makes a folder", o->output),
                              "--max-file goes with a folder");
    if (!code && o->files.n > 1) code = driver_open_plan(d, o->files.at[1], &plan);
    if (!code) code = driver_open_checkpoint(d, input, &from);
    if (!code) {
        named = *checkpoint_contents(from);
        if (o->files.n > 1) code = rename_as(d, &named, &plan);
        if (!code) {
            form.config = named.config;
            checkpoint_keep_blocks(from, CONVERT_BLOCKS);
            code = write_weights(d, from, &named, &form);
        }
        checkpoint_close(from);
    }
    plan_close(&plan);
    free(folder);
    return code;
}

/* ---- weights to a checkpoint */

static int write_checkpoint(Driver *d, const char *input, const Plan *plan) {
    char error[ERROR_BYTES];
    CkContents made;
    TensorSet set;
    Buf report = {0};
    int code = tensor_set_open(&set, input, error);
    if (code) return driver_fault(d, code, E_weights, error);
    code = convert_in(plan, &set, d->options.output, &made, d->arena, &report, error);
    if (report.n)
        driver_mistake(d, E_weights, NULL, "%.*s", (int)report.n - 1, report.at);
    else if (code)
        driver_fault(d, code, E_weights, error);
    else
        driver_say_written(d, &made, d->options.output);
    buf_free(&report);
    tensor_set_close(&set);
    return code;
}

static int to_checkpoint(Driver *d, const char *input) {
    const Options *o = &d->options;
    Plan plan;
    if (o->given & (OPTION_DTYPE | OPTION_MAX_FILE))
        return driver_mistake(d, E_option_value, "the plan determines the types in a checkpoint",
                              "--dtype and --max-file are for files of weights");
    if (o->files.n < 2)
        return driver_mistake(d, E_missing_argument,
                              "fsdpc convert WEIGHTS plan.bin -o FOLDER makes a checkpoint of them",
                              "%s is not a checkpoint; converting weights to one needs a plan",
                              input);
    int code = driver_check_target(d, o->output);
    if (!code) code = driver_open_plan(d, o->files.at[1], &plan);
    if (code) return code;
    code = write_checkpoint(d, input, &plan);
    plan_close(&plan);
    return code;
}

int driver_convert(Driver *d) {
    const Options *o = &d->options;
    const char *input = o->files.at[0];
    if (!o->output)
        return driver_mistake(d, E_missing_argument, NULL,
                              "`fsdpc convert` needs -o FILE or -o FOLDER/");
    if (o->given & OPTIONS_MODEL && o->files.n < 2)
        return driver_mistake(d, E_option_value, "fsdpc convert CK model.fsd -o OUTPUT",
                              "settings of a model go with a model file");
    /* ck/step-7 may stand for ck/step-00000007. Without a plan the input must be a checkpoint. */
    bool checkpoint = o->files.n < 2 ? ck_holds_checkpoint(input) : ck_is_checkpoint(input);
    if (!checkpoint && access(input, F_OK))
        fail_environment("cannot read %s: %s", input, strerror(errno));
    driver_catch_signals();
    return checkpoint ? to_weights(d, input) : to_checkpoint(d, input);
}
