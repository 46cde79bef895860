/* A state that tests write as a checkpoint, and the folder for it: begin and end enclose each
 * test. */
#ifndef FSDPC_TESTS_CHECKPOINT_STATES_H
#define FSDPC_TESTS_CHECKPOINT_STATES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "checkpoint.h"
#include "scratch.h"

static char error[ERROR_BYTES];

static CheckpointForm form; /* of the states that tests make */
static uint64_t most_file;

/* ---- a state: element e of vector v is a number of both */

enum { VECTORS = 4 };
static CkVector vector[VECTORS];
static CkTensor tensor[12];
static CkSetting setting[] = {{"train.batch", "32"}, {"train.seed", "7"}};

static inline float value_of(uint32_t v, int64_t e) { return (float)(v * 1000000 + (uint64_t)e); }

static inline void add_tensor(CkContents *c, const char *name, int rank, const int64_t *dim,
                              int64_t offset) {
    CkTensor *t = &c->tensor[c->n_tensor++];
    *t = (CkTensor){.name = name, .saved_as = "", .rank = rank, .elements = 1, .offset = offset};
    t->vector = c->n_vector - 1;
    for (int i = 0; i < rank; i++) t->elements *= t->dim[i] = dim[i];
    c->vector[t->vector].n++;
}

static inline void add_vector(CkContents *c, AxisSet split, int64_t unpadded) {
    CkVector *v = &c->vector[c->n_vector++];
    *v = (CkVector){.role = STATE_PARAM,
                    .dtype = DT_F32,
                    .layout = layout_of(&c->mesh, split, unpadded, false),
                    .first = c->n_tensor};
}

/* Along an axis, or by rows where that is 0, after the tensors before it. */
static inline void add_chunks(CkContents *c, const char *name, int rank, const int64_t *dim,
                              int axis) {
    CkVector *v = &c->vector[c->n_vector - 1];
    int64_t offset = v->n ? v->layout.shard : 0, below = 1;
    add_tensor(c, name, rank, dim, offset);
    CkTensor *t = &c->tensor[c->n_tensor - 1];
    for (int k = axis + 1; k < rank; k++) below *= dim[k];
    t->chunk = axis ? layout_chunk_along(&c->mesh, v->layout.split, dim[axis], below, t->elements)
                    : layout_chunk(&c->mesh, v->layout.split, dim[0], t->elements);
    LayoutPlace place = ck_place(t);
    v->layout = layout_by_chunks(&c->mesh, v->layout.split, layout_end(&v->layout, &place));
}

/* rep x dp ranks; three split vectors, of them one by rows and columns, and one that all ranks
 * have. */
static inline CkContents state_of(int64_t rep, int64_t dp, Arena *a) {
    CkContents c = {.step = 400,
                    .samples = 12800,
                    .run = 0xabcdef,
                    .setting = setting,
                    .n_setting = 2,
                    .config = "",
                    .best_evaluation = 2.5,
                    .form = form,
                    .most_file = most_file,
                    .vector = vector,
                    .tensor = tensor};
    c.mesh.n = 2;
    c.mesh.axis[0].role = (AxisRole)0;
    c.mesh.axis[0].size = rep;
    c.mesh.axis[1].role = (AxisRole)1;
    c.mesh.axis[1].size = dp;
    AxisSet split = 2;
    add_vector(&c, split, 7 * 5 + 11 + 2 * 3 * 5 + 9);
    add_tensor(&c, "a.weight", 2, (int64_t[]){7, 5}, 0);
    add_tensor(&c, "a.bias", 1, (int64_t[]){11}, 36);
    add_tensor(&c, "b\"\\\xc3\xa9", 3, (int64_t[]){2, 3, 5}, 48);
    add_tensor(&c, "scalar", 0, NULL, 84);
    add_vector(&c, split, 37);
    vector[1].role = STATE_MOMENT1;
    add_tensor(&c, "optimizer.state.a.weight.exp_avg", 2, (int64_t[]){37, 1}, 0);
    add_vector(&c, 0, 13);
    add_tensor(&c, "optimizer.state.a.weight.factors", 1, (int64_t[]){13}, 0);
    add_vector(&c, split, 1);
    add_chunks(&c, "columns", 2, (int64_t[]){3, 30}, 1);
    add_chunks(&c, "rows", 2, (int64_t[]){4, 2}, 0);
    add_chunks(&c, "planes", 3, (int64_t[]){2, 30, 2}, 1);
    assert_int_equal(ck_files(&c, a, error), 0);
    return c;
}

/* Without tensors yet. */
static inline CkContents empty_state(int64_t rep, int64_t dp, Arena *a) {
    CkContents c = state_of(rep, dp, a);
    c.n_vector = c.n_tensor = 0;
    return c;
}

static inline int fetch(void *user, uint32_t v, int64_t first, int64_t n, void *to, char *why) {
    (void)user;
    (void)why;
    for (int64_t i = 0; i < n; i++) {
        float value = value_of(v, first + i); /* a block may end within an element */
        memcpy((char *)to + i * (int64_t)sizeof value, &value, sizeof value);
    }
    return 0;
}

static int (*fetch_from)(void *user, uint32_t v, int64_t first, int64_t n, void *to, char *why);
/* Where states are in memory that stays; NULL: they are fetched. */
static const char *(*look_at)(void *user, uint32_t v, int64_t first);

static inline void write_state(CkContents *c, const char *folder) {
    char part[CK_PATH];
    ck_part_path(folder, c->step, c->run, part);
    assert_int_equal(ck_begin_step(c, part, error), 0);
    for (int32_t r = 0; r < mesh_ranks(&c->mesh); r++)
        assert_int_equal(
            ck_write_rank(c, part, r, &(CkSource){.fetch = fetch_from, .look = look_at}, error), 0);
    assert_int_equal(ck_write_manifest(c, part, error), 0);
    assert_int_equal(ck_commit_step(folder, part, c->step, error), 0);
}

static Arena *paths; /* of the test that runs */

static inline const char *in_folder(const char *name) {
    return arena_printf(paths, "%s/%s", scratch, name);
}

static inline int begin(void **state) {
    (void)state;
    form = CHECKPOINT_SHARDED;
    most_file = 300;
    look_at = NULL;
    fetch_from = fetch;
    paths = arena_new();
    return 0;
}

/* Leaves the folder empty. */
static inline int end(void **state) {
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s/*", scratch);
    arena_free(paths);
    return system(command);
}

static inline Checkpoint *open_step(void) {
    Checkpoint *k;
    assert_int_equal(checkpoint_open(&k, in_folder("step-00000400"), error), 0);
    return k;
}

/* The exit code of reading its manifest into `back`, in `error` what is said. */
static inline int read_manifest(CkContents *c, CkContents *back) {
    size_t n;
    char *text = ck_manifest_text(c, &n);
    int code = ck_manifest_parse(back, paths, "m", text, n, error);
    free(text);
    return code;
}

static inline int64_t oldest_reader_of(CkContents *c) {
    size_t n;
    char *text = ck_manifest_text(c, &n), *at = strstr(text, "\"oldest_reader\":");
    assert_non_null(at);
    int64_t oldest = strtoll(at + strlen("\"oldest_reader\":"), NULL, 10);
    free(text);
    return oldest;
}

/* The exit code of reading all of it, in `error` what is said. */
static inline int read_all(void) {
    Checkpoint *k;
    int code = checkpoint_open(&k, in_folder("step-00000400"), error);
    if (!code) code = checkpoint_verify(k, error);
    checkpoint_close(k);
    return code;
}

#endif
