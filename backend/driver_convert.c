/* fsdpc convert: a checkpoint's weights as files that other programs read, or the weights in such
 * files as a checkpoint. Which of the two is said by what the first argument names.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver_files.h"

static int to_weights(Driver *d, const char *input) {
    const Options *o = &d->options;
    char error[ERROR_BYTES], *folder = save_folder(o->output);
    SaveForm form = {.path = folder ? folder : o->output,
                     .folder = folder,
                     .type = o->given & OPTION_DTYPE ? o->dtype : FT_COUNT,
                     .max_file = o->given & OPTION_MAX_FILE ? o->max_file : SAVE_MAX_FILE};
    Checkpoint *from;
    int code = 0;
    if (o->files.n > 1)
        code = driver_mistake(d, E_missing_argument,
                              "fsdpc reshard writes all of a checkpoint in the layout of a plan",
                              "%s is a checkpoint: its weights need no plan", input);
    else if (!folder && o->given & OPTION_MAX_FILE)
        code = driver_mistake(d, E_option_value,
                              arena_printf(d->arena, "-o %s/ makes a folder", o->output),
                              "--max-file goes with a folder");
    if (!code) code = driver_open_checkpoint(d, input, &from);
    if (!code) {
        form.config = checkpoint_contents(from)->config;
        checkpoint_keep(from, CONVERT_BLOCKS);
        code = convert_out(from, &form, error);
        if (code == EXIT_CORRUPT) ck_advise(checkpoint_folder(from), error);
        if (code) code = driver_fault(d, code, E_checkpoint, error);
        checkpoint_close(from);
    }
    free(folder);
    return code;
}

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
        return driver_mistake(d, E_option_value, "the plan says of which type a checkpoint is",
                              "--dtype and --max-file are for files of weights");
    if (o->files.n < 2)
        return driver_mistake(d, E_missing_argument,
                              "fsdpc convert WEIGHTS plan.bin -o FOLDER makes a checkpoint of them",
                              "%s is no checkpoint; weights need a plan to become one", input);
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
    if (access(input, F_OK)) fail_environment("cannot read %s: %s", input, strerror(errno));
    driver_catch_signals();
    return ck_is_checkpoint(input) ? to_weights(d, input) : to_checkpoint(d, input);
}
