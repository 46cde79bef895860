/* fsdpc convert of weights: makes a checkpoint of a plan, at step 0, from a .safetensors file or a
 * folder of Hugging Face's layout. Moments are zero, as at the start of a run, and the checkpoint
 * holds no settings that a run must share: any run with the plan's model and optimizer can start
 * from it.
 *
 * Files are mapped and read a piece at a time. What a file says about a tensor is checked first,
 * and the tensors of a tied parameter must be equal.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver_files.h"

enum { PIECE = 1 << 20 }; /* elements */

typedef struct Import {
    const Plan *plan;
    const TensorSet *set;
    TensorMatch *match; /* [params] */
    CkContents c;
    uint32_t *param; /* [c.n_tensor] */
    char *error;
} Import;

/* ---- reading a piece; fails if the file was truncated */

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
        for (int64_t at = 0; at < elements && m->n_same; at += PIECE) {
            Piece p = {.match = m, .first = at, .n = MIN(elements - at, (int64_t)PIECE)};
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
        run = ck_run_length(&im->c, t, first + done, MIN(n - done, (int64_t)PIECE));
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

/* ---- the checkpoint */

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

int convert_in(const Plan *plan, const TensorSet *set, const char *folder, CkContents *out,
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
