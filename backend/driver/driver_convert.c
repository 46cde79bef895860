/* fsdpc convert: writes the weights of a checkpoint to files that other programs read, or makes a
 * checkpoint from such files. The first argument decides which: it names a checkpoint or weights.
 *
 * The files are a .safetensors file or a folder of Hugging Face's layout, with the same bytes as
 * `fsdp-run --save` (checkpoint/weights.c). A checkpoint is made of a plan, at step 0: moments are
 * zero, as at the start of a run, and it holds no settings that a run must share, so any run with
 * the plan's model and optimizer can start from it.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"

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

/* Weights are read in the order of the checkpoint, a piece at a time. A piece is large because a
 * column of it is contiguous in the output where a weight is stored transposed. */
enum { SAVED_PIECE = 6 << 20 }; /* elements */

static int check_target(const CkWeights *w, char *error) {
    Target target;
    uint64_t bytes, largest;
    int code = ck_weights_size(w, &bytes, &largest, error);
    if (!code) code = target_find(&target, w->form->path, error);
    if (!code) code = target_check(&target, w->form->folder, error);
    return code ? code : target_room(&target, bytes, largest, 0, error);
}

/* buffer: of SAVED_PIECE elements. */
static int write_weight(Checkpoint *from, CkWeights *w, uint32_t tensor, void *buffer,
                        char *error) {
    const CkTensor *t = &w->c.tensor[tensor];
    int code = 0;
    for (int64_t done = 0; done < t->elements && !code; done += SAVED_PIECE) {
        int64_t n = MIN((int64_t)SAVED_PIECE, t->elements - done);
        if (driver_stop) return EXIT_INTERRUPTED;
        code = checkpoint_read(from, tensor, done, n, buffer, error);
        if (!code) code = ck_weights_put(w, tensor, FT_COUNT, done, n, buffer, error);
    }
    return code;
}

static int write_all(Checkpoint *from, CkWeights *w, void *buffer, char *error) {
    int code = ck_weights_open(w, error);
    if (code) return code;
    for (uint32_t i = 0; i < w->c.n_tensor && !code; i++)
        if (w->c.tensor[i].n_placed) code = write_weight(from, w, i, buffer, error);
    return ck_weights_close(w, code, error);
}

/* named: the contents with the names under which to save them. */
static int convert_out(Checkpoint *from, const CkContents *named, const SaveForm *form,
                       char *error) {
    Arena *a = arena_new();
    CkWeights w;
    const char *twice;
    char odd[ERROR_BYTES];
    int code = ck_weights_plan(&w, named, NULL, form, a, &twice, odd);
    if (code) {
        snprintf(error, ERROR_BYTES, "%.300s: %.180s", checkpoint_folder(from), odd);
    } else if (twice) {
        snprintf(error, ERROR_BYTES,
                 "%.300s: two parameters would be saved as %.100s\n"
                 "help: give a plan or model file with another `names` table",
                 checkpoint_folder(from), twice);
        code = EXIT_USER;
    }
    if (!code) code = check_target(&w, error);
    if (!code) code = write_all(from, &w, arena_alloc(a, SAVED_PIECE * sizeof(double)), error);
    arena_free(a);
    return code;
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
                     .type = o->given & BIT(DTYPE) ? o->dtype : FT_COUNT,
                     .max_file = o->given & BIT(MAX_FILE) ? o->max_file : SAVE_MAX_FILE};
    Checkpoint *from;
    CkContents named;
    Plan plan = {0};
    int code = 0;
    if (!folder && o->given & BIT(MAX_FILE))
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

/* Files are mapped and read a piece at a time. What a file says about a tensor is checked first,
 * and the tensors of a tied parameter must be equal. */
enum { READ_PIECE = 1 << 20 }; /* elements */

typedef struct Import {
    const Plan *plan;
    const TensorSet *set;
    TensorMatch *match; /* [params] */
    CkContents c;
    uint32_t *param; /* [c.n_tensor] */
    char *error;
} Import;

/* Reading it fails if the file was truncated. */
typedef struct Piece {
    const TensorMatch *match;
    int64_t first, n;
    int dtype;
    void *to;
    const Tensor *unlike;
} Piece;

static void read_piece(void *user) {
    const Piece *p = user;
    tensor_elements(p->match, p->first, p->n, p->dtype, p->to);
}

static void compare_piece(void *user) {
    Piece *p = user;
    p->unlike = tensor_unlike(p->match, p->first, p->n);
}

static int compare_tied(const Import *im) {
    for (uint64_t i = 0; i < im->plan->n_params; i++) {
        const TensorMatch *m = &im->match[i];
        Type whole = plan_whole_type(im->plan, &im->plan->params[i]);
        int64_t elements = type_elements(&whole);
        for (int64_t at = 0; at < elements && m->n_same; at += READ_PIECE) {
            Piece p = {.match = m, .first = at, .n = MIN(elements - at, (int64_t)READ_PIECE)};
            if (!mapped_read(compare_piece, &p))
                return mapped_lost(&m->tensor->file->map, im->error);
            tensor_release(m);
            if (!p.unlike) continue;
            snprintf(im->error, ERROR_BYTES,
                     "%.150s: tensors %.100s and %.100s differ, but they are one tied parameter "
                     "(%.100s)",
                     im->set->path, m->tensor->name, p.unlike->name,
                     plan_string(im->plan, im->plan->params[i].name));
            return EXIT_CORRUPT;
        }
    }
    return 0;
}

static int fetch_elements(void *user, uint32_t vector, int64_t first, int64_t n, void *to,
                          char *error) {
    const Import *im = user;
    const CkVector *v = &im->c.vector[vector];
    uint32_t width = dtype_bytes((int)v->dtype);
    if (driver_stop) return EXIT_INTERRUPTED;
    memset(to, 0, (uint64_t)n * width);
    if (v->role != STATE_PARAM) return 0;
    for (int64_t done = 0, run; done < n; done += run) {
        int64_t from;
        const CkTensor *t = ck_tensor_at(&im->c, vector, first + done, &from);
        const TensorMatch *m = &im->match[im->param[t - im->c.tensor]];
        run = ck_run_length(&im->c, t, first + done, MIN(n - done, (int64_t)READ_PIECE));
        Piece p = {.match = m,
                   .first = from,
                   .n = run,
                   .dtype = (int)v->dtype,
                   .to = (char *)to + (uint64_t)done * width};
        if (!mapped_read(read_piece, &p) || mapped_shorter(&m->tensor->file->map))
            return mapped_lost(&m->tensor->file->map, error);
        tensor_release(m);
    }
    return 0;
}

/* Finds the parameter of each tensor: its position in --save is the parameter's index in the
 * plan. */
static void make_contents(Import *im, Arena *a) {
    const char *name = plan_string(im->plan, im->plan->settings->model);
    ck_plan_states(&im->c, im->plan, a, NULL);
    im->c.run = hash_bytes(name, strlen(name), im->c.plan) >> 1 | 1; /* the same bytes each time */
    im->c.best_evaluation = (double)NAN;
    im->param = arena_array(a, uint32_t, im->c.n_tensor + 1);
    for (uint32_t i = 0; i < im->c.n_tensor; i++) im->param[i] = (uint32_t)im->c.tensor[i].saved_at;
}

/* *out describes the checkpoint. If weights do not match the model, `report` says why and `error`
 * stays empty. */
static int convert_in(const Plan *plan, const TensorSet *set, const char *folder, CkContents *out,
                      Arena *a, Buf *report, char *error) {
    Import im = {.plan = plan, .set = set, .error = error};
    im.match = arena_array(a, TensorMatch, plan->n_params + 1);
    int code = tensors_match(plan, set, im.match, report);
    if (code) return code;
    mapped_watch();
    make_contents(&im, a);
    code = compare_tied(&im);
    if (!code) code = ck_files(&im.c, a, error);
    if (!code) code = ck_write_new(&im.c, folder, fetch_elements, &im, error);
    *out = im.c;
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
    if (o->given & (BIT(DTYPE) | BIT(MAX_FILE)))
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
    int code = driver_check_named(d, o->output);
    if (code) return code;
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
