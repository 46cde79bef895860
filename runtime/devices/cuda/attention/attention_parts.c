/* Attention through cuDNN: the library, the plans of a form, and their runs.
 *
 * Backward takes scratch in proportion to T * S for each head: where the workspace holds less than
 * all of them, the call is cut into equal parts, of whole batch entries or else of heads of one.
 * The library and its handle are the process's. Without cuDNN's header there is never a plan.
 */
#include <stdio.h>
#include <stdlib.h>

#include "attention_choice.h"

#ifdef HAVE_CUDNN

static struct {
    bool tried, ready;
    char why[ERROR_BYTES]; /* tried and not ready: the reason */
    Cudnn cudnn;
    cudnnHandle_t handle;
} library;

uint64_t parts_version(char *why, bool tell) {
    if (!library.tried) {
        library.tried = true;
        bool found = !cudnn_library_open(&library.cudnn, library.why);
        cudnnStatus_t s = found ? library.cudnn.create(&library.handle) : CUDNN_STATUS_SUCCESS;
        library.ready = found && !s;
        if (s) {
            fail_with(library.why, 1, "cuDNN failed to start: %s", library.cudnn.error_string(s));
            if (tell) fprintf(stderr, "attention: using fsdp-run's kernels: %s\n", library.why);
        }
    }
    if (library.ready) return library.cudnn.version();
    return (uint64_t)fail_with(why, 0, "%s", library.why);
}

void parts_close(void) {
    if (library.ready) library.cudnn.destroy(library.handle);
    library.tried = library.ready = false;
}

/* ---- parts */

/* Does the part fit, and do all parts begin at multiples of 16 bytes? lse and delta are the
 * operands that may not: the others have a width that is a multiple of 8. */
static bool part_fits(const AttentionForm *whole, const AttentionForm *part, uint64_t room) {
    bool all = part->b == whole->b && part->heads == whole->heads;
    return attention_scratch(part) <= room && (all || part->b * part->heads * part->t % 4 == 0);
}

/* Cuts the form into as few equal parts as fit into the room; false when one head is too much. */
static bool part_of(const AttentionForm *whole, uint64_t room, AttentionForm *part) {
    int64_t group = whole->heads / whole->key_heads;
    *part = *whole;
    for (int64_t pieces = 1; pieces <= whole->b; pieces++) {
        part->b = whole->b / pieces;
        if (whole->b % pieces == 0 && part_fits(whole, part, room)) return true;
    }
    for (int64_t pieces = 2; pieces <= whole->key_heads; pieces++) {
        part->key_heads = whole->key_heads / pieces;
        part->heads = part->key_heads * group;
        if (whole->key_heads % pieces == 0 && part_fits(whole, part, room)) return true;
    }
    return false;
}

bool parts_plan(AttentionChoice *c, int only, char *why) {
    AttentionForm part;
    if (!part_of(&c->form, c->room, &part))
        return fail_with(why, 0, "the workspace is too small for any equal part of the call");
    c->batches = part.b;
    c->heads = part.heads;
    c->plans = calloc(1, sizeof *c->plans);
    if (!c->plans ||
        attention_plans(c->plans, &library.cudnn, library.handle, NULL, &part, c->room, only, why))
        return false;
    c->n_plans = c->plans->n;
    for (int i = 0; i < c->n_plans; i++) c->number[i] = c->plans->plan[i].config;
    return true;
}

void parts_forget(AttentionChoice *c) {
    if (c->plans) attention_plans_end(c->plans);
    free(c->plans);
    c->plans = NULL;
    c->n_plans = 0;
}

/* ---- running */

static void *at_head(const Heads *x, int64_t batch, int64_t head, int64_t h) {
    return x->at ? x->at + 2 * (batch * x->batch + head * h) : NULL;
}

static int run_part(const AttentionChoice *c, int which, const Attention *a, int64_t batch,
                    int64_t head, void *scratch, char *why) {
    int64_t key_head = head / (a->heads / a->key_heads);
    int64_t row = (batch * a->heads + head) * a->t;
    void *operand[UID_COUNT] = {
        [UID_Q] = at_head(&a->q, batch, head, a->h),
        [UID_K] = at_head(&a->k, batch, key_head, a->h),
        [UID_V] = at_head(&a->v, batch, key_head, a->h),
        [UID_O] = at_head(&a->o, batch, head, a->h),
        [UID_LSE] = a->lse + row,
        [UID_D_O] = at_head(&a->d_o, batch, head, a->h),
        [UID_D_Q] = at_head(&a->d_q, batch, head, a->h),
        [UID_D_K] = at_head(&a->d_k, batch, key_head, a->h),
        [UID_D_V] = at_head(&a->d_v, batch, key_head, a->h),
        [UID_SUMS] = a->delta ? a->delta + row : NULL,
    };
    return attention_plan_run(c->plans, which, operand, scratch, why);
}

int parts_run(const AttentionChoice *c, int which, const Launch *l, const Attention *a, char *why) {
    uintptr_t behind = (uintptr_t)l->call->workspace;
    if (a->backward) behind += attention_delta_bytes(a);
    void *scratch = (void *)align_up(behind, SCRATCH_ALIGN);
    launch_other(l);
    cudnnStatus_t s = library.cudnn.set_stream(library.handle, l->stream);
    if (s) return fail_with(why, 1, "a stream: %s", library.cudnn.error_string(s));
    for (int64_t batch = 0; batch < a->b; batch += c->batches)
        for (int64_t head = 0; head < a->heads; head += c->heads)
            if (run_part(c, which, a, batch, head, scratch, why)) return 1;
    return 0;
}

#else

uint64_t parts_version(char *why, bool tell) {
    (void)tell;
    return (uint64_t)fail_with(why, 0, "this build lacks cuDNN");
}
void parts_close(void) {}
bool parts_plan(AttentionChoice *c, int only, char *why) {
    (void)c, (void)only;
    return parts_version(why, false) != 0;
}
void parts_forget(AttentionChoice *c) { (void)c; }
int parts_run(const AttentionChoice *c, int which, const Launch *l, const Attention *a, char *why) {
    (void)c, (void)which, (void)l, (void)a;
    return parts_version(why, false) == 0;
}
#endif
