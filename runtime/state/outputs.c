/* Checks what a run is about to write, before it trains: each output can be written at its path,
 * fits on the disk, and is neither a file that the run reads nor another output. In: a Run. Out: 0,
 * or an exit code with the message.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "data.h"
#include "state.h"

typedef struct Output {
    const char *option, *path;
    uint64_t bytes, largest; /* of all files, of one; 0: grows */
    bool folder;
    bool stream; /* is written as it comes: a terminal or a pipe will do */
    Target target;
} Output;

typedef struct Input {
    const char *what, *path;
} Input;

/* Is it the file, or one of those that the output makes in its folder? */
static bool is_file(const Output *o, const char *path) {
    struct stat st;
    if (!o->target.exists) return false;
    if (!o->folder)
        return !stat(path, &st) && st.st_dev == o->target.now.st_dev &&
               st.st_ino == o->target.now.st_ino;
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1,
             slash ? path : ".");
    return writer_makes(slash ? slash + 1 : path) && !stat(folder, &st) &&
           st.st_dev == o->target.now.st_dev && st.st_ino == o->target.now.st_ino;
}

static int check_overwrite(const Output *o, const char *what, const char *path, char *error) {
    if (!is_file(o, path)) return 0;
    return fail_with(error, EXIT_USER, "%s %s would overwrite %s of this run (%s)", o->option,
                     o->path, what, path);
}

static int check_data(const Output *o, const Dataset *d, char *error) {
    int code = 0;
    for (uint32_t i = 0; d && i < d->n_file && !code; i++)
        code = check_overwrite(o, "the data", d->file[i].map.path, error);
    return code;
}

static int check_inputs(const Run *run, const Output *o, char *error) {
    const Plan *p = run->plan;
    int code = check_overwrite(o, "the plan", run->options->plan, error);
    if (!code) code = check_overwrite(o, "the model", plan_string(p, p->settings->model), error);
    if (!code) code = check_data(o, run->inputs.train, error);
    if (!code) code = check_data(o, run->inputs.val, error);
    for (uint32_t i = 0; run->inputs.weights && i < run->inputs.weights->n_file && !code; i++)
        code =
            check_overwrite(o, "the weights to load", run->inputs.weights->file[i].map.path, error);
    return code;
}

/* A log on a terminal or a pipe is read by somebody else, as it comes. */
static bool is_streamed(const Output *o) {
    return o->stream && o->target.exists &&
           (S_ISCHR(o->target.now.st_mode) || S_ISFIFO(o->target.now.st_mode));
}

int outputs_check(const Run *run, char *error) {
    const RunOptions *o = run->options;
    Output output[] = {
        {.option = "--dump-grads", .path = o->dump_path},
        {.option = "--save", .path = o->save.path, .folder = o->save.folder},
        {.option = "--log", .path = o->log && strcmp(o->log, "-") ? o->log : NULL, .stream = true},
        {.option = "--profile", .path = o->profile},
        {.option = "--predict", .path = o->predict}};
    SaveForm gradients = gradients_form(o);
    int code = o->dump_path ? gather_size(run->plan, true, &gradients, &output[0].bytes,
                                          &output[0].largest, error)
                            : 0;
    if (!code && o->save.path)
        code = gather_size(run->plan, false, &o->save, &output[1].bytes, &output[1].largest, error);
    if (code) return code;
    uint64_t before = 0;
    for (size_t i = 0; i < ARRAY_LEN(output); i++) {
        Output *q = &output[i];
        if (!q->path) continue;
        code = target_find(&q->target, q->path, error);
        if (!code && !is_streamed(q)) code = target_check(&q->target, q->folder, error);
        if (!code && !q->stream) writer_remove_stale(&q->target, o->quiet);
        if (!code) code = check_inputs(run, q, error);
        for (size_t k = 0; k < i && !code; k++) {
            if (!output[k].path) continue;
            if (!target_same(&output[k].target, &q->target) && !is_file(q, output[k].path) &&
                !is_file(&output[k], q->path))
                continue;
            code = fail_with(error, EXIT_USER, "%s %s and %s %s are the same file",
                             output[k].option, output[k].path, q->option, q->path);
        }
        bool same_disk = i == 1 && output[0].path &&
                         output[0].target.folder_now.st_dev == q->target.folder_now.st_dev;
        if (!code && q->bytes)
            code = target_room(&q->target, q->bytes, q->largest, same_disk ? before : 0, error);
        if (code) return code;
        before = q->bytes;
    }
    return 0;
}
