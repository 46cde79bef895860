/* Which checkpoints a run makes and which one it goes on from: the command line's word, then the
 * model file's.
 */
#include <stdio.h>

#include "checkpoint.h"
#include "run.h"
#include "state.h"

/* --resume-or-start also says where checkpoints go. */
static const char *folder_of_start(const Run *run) {
    char folder[CK_PATH];
    if (!run->options->or_start) return NULL;
    ck_folder_of(run->options->resume, folder);
    return arena_strdup(run->memory, folder);
}

CheckpointOptions checkpoint_options(const Run *run) {
    enum { KEPT = 2 };
    CheckpointOptions c = run->options->checkpoint;
    const PlanSettings *s = run->plan->settings;
    const char *folder = plan_string(run->plan, s->checkpoint);
    bool planned = *folder;
    if (!c.folder) c.folder = folder_of_start(run);
    if (!c.folder && planned) c.folder = folder;
    if (c.every < 0) c.every = s->checkpoint_every;
    if (c.keep < 0) c.keep = planned ? s->keep : KEPT;
    if (c.keep_every < 0) c.keep_every = s->keep_every;
    c.keep_best |= s->keep_best;
    if (c.form < 0) c.form = (int32_t)s->form;
    c.max_file = run->options->save.max_file;
    return c;
}

/* Options for checkpoints that are not made. */
static int check_checkpoint_options(const CheckpointOptions *c) {
    const char *other = c->every >= 0        ? "--checkpoint-every"
                        : c->keep >= 0       ? "--keep"
                        : c->keep_every >= 0 ? "--keep-every"
                        : c->keep_best       ? "--keep-best"
                        : c->form >= 0       ? "--checkpoint-form"
                                             : NULL;
    if (!other) return 0;
    return say_error(EXIT_USER,
                     "%s needs --checkpoint FOLDER, or checkpoint.path in the model file", other);
}

/* --max-file, where there is nothing to cut. */
static int check_max_file(const Run *run) {
    const RunOptions *o = run->options;
    const CheckpointOptions *c = &run->checkpoint;
    if (!o->cuts_files || o->save.folder || (c->folder && c->form == CHECKPOINT_FULL)) return 0;
    if (o->save.path)
        return say_error(EXIT_USER, "--max-file needs a folder to save to: --save %s/",
                         o->save.path);
    return say_error(EXIT_USER,
                     "--max-file needs --save FOLDER/, or checkpoints of --checkpoint-form full");
}

/* A step that was done before the checkpoint. Of a run that was started again, with the same
 * command or by --restarts, an earlier attempt has written it. */
static int check_dump_step(const Run *run) {
    int64_t step = run->options->dump_step, first = run->steps.first;
    if (step < 0 || step >= first || attempt_is_restart() || run->options->or_start) return 0;
    return say_error(EXIT_USER,
                     "--dump-grads %lld: the run continues from step %lld\n"
                     "help: name a step from %lld on, or resume from an earlier checkpoint",
                     (long long)step, (long long)first, (long long)first);
}

int checkpoints_open(Run *run) {
    char error[ERROR_BYTES];
    const RunOptions *o = run->options;
    int code = o->resume ? resume_open(run) : 0;
    if (!code) code = check_dump_step(run);
    if (code) return code;
    if (o->eval_only || o->generates) run->checkpoint.folder = NULL;
    code = check_max_file(run);
    if (code) return code;
    if (!run->checkpoint.folder) return check_checkpoint_options(&o->checkpoint);
    code = saver_open(run, error);
    return code ? say_error(code, "%s", error) : 0;
}
