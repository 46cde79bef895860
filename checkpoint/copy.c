/* Copies a state to new files: for another number of ranks, or in the layout of a plan.
 *
 * Each file of the new checkpoint is written from its first byte to its last; its contents are read
 * from the old files through the blocks that the reader keeps. Memory is limited to those blocks,
 * one block being written, and the manifest: it does not grow with the size of the model.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "checkpoint.h"

/* ---- layouts */

/* Cuts each tensor into chunks of whole rows, even one that was cut along another axis: any number
 * of ranks can share rows. */
static Layout cut_by_rows(const CkContents *c, const CkVector *v, AxisSet split, CkTensor *tensor) {
    int64_t end = 0;
    for (uint32_t i = v->first; i < v->first + v->n; i++) {
        CkTensor *t = &tensor[i];
        t->offset = end;
        t->chunk = layout_chunk(&c->mesh, split, t->rank ? t->dim[0] : 1, t->elements);
        end += t->chunk;
    }
    return layout_by_chunks(&c->mesh, split, end);
}

/* Makes it whole: its place keeps the grain and the order that its part had. */
static void join_parts(CkTensor *t) {
    t->offset *= ck_parts(t);
    t->cut = (TensorCut){0};
    t->parts = 0;
}

void ck_even_layout(CkContents *c, int64_t ranks, Arena *a) {
    CkVector *vector = arena_array(a, CkVector, c->n_vector + 1);
    CkTensor *tensor = arena_array(a, CkTensor, c->n_tensor + 1);
    memcpy(tensor, c->tensor, c->n_tensor * sizeof *tensor);
    c->mesh = (Mesh){.n = 1};
    c->mesh.axis[0] = (MeshAxis){AXIS_dp, ranks};
    for (uint32_t i = 0; i < c->n_vector; i++) {
        const CkVector *v = &c->vector[i];
        const CkTensor *last;
        for (uint32_t k = v->first; k < v->first + v->n; k++) join_parts(&tensor[k]);
        last = v->n ? &tensor[v->first + v->n - 1] : NULL;
        int64_t end = last ? last->offset + last->elements : v->layout.unpadded;
        bool aligned = v->layout.unpadded == v->layout.padded;
        AxisSet split = v->role == STATE_FACTORS ? 0 : mesh_all_axes(&c->mesh);
        vector[i] = *v;
        vector[i].layout = last && last->chunk ? cut_by_rows(c, v, split, tensor)
                                               : layout_of(&c->mesh, split, end, aligned && split);
    }
    c->vector = vector;
    c->tensor = tensor;
}

/* ---- matching tensors */

static int by_name(const void *a, const void *b) {
    return strcmp((*(const CkTensor *const *)a)->name, (*(const CkTensor *const *)b)->name);
}

static const CkTensor **sort_by_name(const CkContents *c, Arena *a) {
    const CkTensor **list = arena_array(a, const CkTensor *, c->n_tensor + 1);
    for (uint32_t i = 0; i < c->n_tensor; i++) list[i] = &c->tensor[i];
    qsort(list, c->n_tensor, sizeof *list, by_name);
    return list;
}

static const CkTensor *find_tensor(const CkTensor **list, uint32_t n, const CkTensor *like) {
    const CkTensor **found = bsearch(&like, list, n, sizeof *list, by_name);
    return found ? *found : NULL;
}

void ck_shape_text(const CkContents *c, const CkTensor *t, char out[TYPE_TEXT]) {
    Type type = {.dtype = (uint8_t)c->vector[t->vector].dtype, .rank = (uint8_t)t->rank};
    memcpy(type.dim, t->dim, sizeof type.dim);
    type_format(&type, out, TYPE_TEXT);
}

void ck_each_pair(const CkContents *old, const CkContents *new, CkPairVisit visit, void *user) {
    Arena *a = arena_new();
    const CkTensor **x = sort_by_name(old, a), **y = sort_by_name(new, a);
    for (uint32_t i = 0; i < new->n_tensor; i++)
        visit(user, find_tensor(x, old->n_tensor, &new->tensor[i]), &new->tensor[i]);
    for (uint32_t i = 0; i < old->n_tensor; i++)
        if (!find_tensor(y, new->n_tensor, &old->tensor[i])) visit(user, &old->tensor[i], NULL);
    arena_free(a);
}

enum { TOLD = 3 };

typedef struct Pairs {
    const CkContents *old, *new;
    uint32_t *row;
    char *error;
    size_t said;
    uint32_t faults;
} Pairs;

static void tell_difference(Pairs *p, const char *name, const char *then, const char *now) {
    if (p->faults++ >= TOLD || p->said >= ERROR_BYTES) return;
    int n =
        snprintf(p->error + p->said, ERROR_BYTES - p->said, "\n  %.60s: %s%.40s%s, %.40s%s", name,
                 *then ? "" : "not in the checkpoint", then, *then ? " in the checkpoint" : "",
                 *now ? now : "not in the plan", *now ? " in the plan" : "");
    p->said += n > 0 ? (size_t)n : 0;
}

static void pair_tensors(void *user, const CkTensor *old, const CkTensor *new) {
    Pairs *p = user;
    char now[TYPE_TEXT] = "", then[TYPE_TEXT] = "";
    if (new) ck_shape_text(p->new, new, now);
    if (old) ck_shape_text(p->old, old, then);
    if (strcmp(now, then) != 0) tell_difference(p, new ? new->name : old->name, then, now);
    if (new) p->row[new - p->new->tensor] = old ? (uint32_t)(old - p->old->tensor) : 0;
}

/* Checks that both lists have the same tensors; row: [new->n_tensor] the index of each in the old
 * list. */
static int find_pairs(const CkContents *old, const CkContents *new, uint32_t *row, char *error) {
    Pairs p = {.old = old, .new = new, .row = row, .error = error};
    p.said = (size_t)snprintf(error, ERROR_BYTES, "the plan is for a different model or optimizer");
    ck_each_pair(old, new, pair_tensors, &p);
    if (p.faults > TOLD && p.said < ERROR_BYTES)
        snprintf(error + p.said, ERROR_BYTES - p.said, "\n  and %u more", p.faults - TOLD);
    return p.faults ? EXIT_CORRUPT : 0;
}

/* ---- copying */

typedef struct Copying {
    Checkpoint *from;
    const CkContents *to;
    const uint32_t *row;
    const volatile int *stop;
} Copying;

static int fetch_elements(void *user, uint32_t vector, int64_t first, int64_t n, void *to,
                          char *error) {
    const Copying *c = user;
    uint64_t width = dtype_bytes((int)c->to->vector[vector].dtype);
    int code = 0;
    for (int64_t done = 0, run; done < n && !code; done += run) {
        int64_t from;
        const CkTensor *t = ck_tensor_at(c->to, vector, first + done, &from);
        run = ck_run_length(c->to, t, first + done, n - done);
        if (*c->stop) return EXIT_INTERRUPTED;
        code = checkpoint_read(c->from, c->row[t - c->to->tensor], from, run,
                               (char *)to + (uint64_t)done * width, error);
    }
    return code;
}

int ck_write_copy(Checkpoint *from, CkContents *to, const char *folder, const volatile int *stop,
                  char *error) {
    uint32_t *row = calloc(to->n_tensor + 1, sizeof *row);
    Copying c = {.from = from, .to = to, .row = row, .stop = stop};
    int code = row ? find_pairs(checkpoint_contents(from), to, row, error) : EXIT_ENVIRONMENT;
    if (!row) snprintf(error, ERROR_BYTES, "no memory for %.200s", folder);
    if (!code) code = ck_write_new(to, folder, fetch_elements, &c, error);
    free(row);
    return code;
}

/* ---- writing a checkpoint in one process */

int ck_check_room(const CkContents *c, const char *folder, uint64_t times, char *error) {
    struct statvfs disk;
    struct rlimit size;
    uint64_t largest = ck_largest_file(c);
    if (!getrlimit(RLIMIT_FSIZE, &size) && size.rlim_cur != RLIM_INFINITY &&
        largest > size.rlim_cur)
        return fail_with(error, EXIT_ENVIRONMENT,
                         "cannot write to %.300s: a file of the checkpoint needs %" PRIu64
                         " bytes, and the limit on a file's size (ulimit -f) is %" PRIu64,
                         folder, largest, (uint64_t)size.rlim_cur);
    if (statvfs(folder, &disk)) return 0; /* not known */
    uint64_t room = (uint64_t)disk.f_bavail * disk.f_frsize, each = ck_total_bytes(c);
    if (each <= room / times) return 0;
    return fail_with(error, EXIT_ENVIRONMENT,
                     "cannot write to %.300s: %" PRIu64 " checkpoint%s of %" PRIu64
                     " bytes must fit, but only %" PRIu64 " bytes are free on its disk%s",
                     folder, times, times == 1 ? "" : "s", each, room,
                     times == 1 ? "" : "\nhelp: use a smaller --keep, or another disk");
}

static int check_new(const CkContents *c, const char *folder, char *error) {
    uint32_t n;
    int64_t *step = ck_steps(folder, &n);
    bool there = false;
    for (uint32_t i = 0; i < n; i++) there |= step[i] == c->step;
    free(step);
    if (!there) return ck_check_room(c, folder, 1, error);
    return fail_with(error, EXIT_USER,
                     "%.300s already has step %" PRId64 "\nhelp: name another folder", folder,
                     c->step);
}

int ck_write_new(CkContents *c, const char *folder, CkFetch fetch_it, void *user, char *error) {
    char part[CK_PATH];
    CkLock lock;
    int code = ck_lock_folder(folder, c->run, &lock, error);
    if (code) return code;
    code = check_new(c, folder, error);
    ck_part_path(folder, c->step, c->run, part);
    if (!code && !(code = ck_begin_step(c, part, error))) {
        int32_t ranks = (int32_t)mesh_ranks(&c->mesh);
        CkSource source = {.fetch = fetch_it, .user = user};
        for (int32_t r = 0; r < ranks && !code; r++)
            code = ck_write_rank(c, part, r, &source, error);
        if (!code) code = ck_write_manifest(c, part, error);
        if (!code) code = ck_keep_lock(&lock, error);
        if (!code) code = ck_commit_step(folder, part, c->step, error);
        if (code) ck_remove_folder(part);
    }
    ck_unlock(&lock);
    return code;
}
