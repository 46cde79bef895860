/* --predict: writes what train.predict says of each sample of data.val, in their order.
 *
 * In: the calls of an evaluation over all samples. Out: a .npy file whose first axis is that of the
 * samples, f4, or i4 for integers. After a batch, the ranks' predictions are gathered in buckets,
 * as weights are for --save, and rank 0 puts each rank's samples where the file has them. The last
 * batch begins again with the first samples where it has more than are left; what it says of those
 * is dropped. The file appears under its name when it is complete, or not at all.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data.h"
#include "run.h"

enum { BUCKET_BYTES = 4 << 20, HEADER_BYTES = 256 };

struct Predictor {
    Rank *rank;
    const PlanState *state;
    uint32_t role;     /* of the ranks that have it */
    int64_t samples;   /* of the file */
    int64_t share;     /* ... of a batch that ranks read which differ in samples */
    int64_t width;     /* elements of a sample */
    char *bucket;      /* device memory: the elements of all ranks */
    int64_t most;      /* of a rank in a bucket */
    int64_t places;    /* ranks in it */
    char *host, *file; /* rank 0: the bucket, where it is not host memory; what is written */
    int fd;            /* rank 0: the file while it is written, -1: none */
    char *target, *name;
};

static const PlanState *prediction_of(const Plan *p) {
    return plan_find_state(p, STATE_PREDICTION, -1);
}

int prediction_check(const Run *run) {
    const Plan *p = run->plan;
    if (plan_find_state(p, STATE_CACHE, -1))
        return say_error(EXIT_USER,
                         "the plan has train.cache: it can train and --generate, and neither "
                         "evaluate nor --predict\n"
                         "help: compile with -s train.cache=false");
    if (!run->options->predict || prediction_of(p)) return 0;
    return say_error(
        EXIT_USER, "--predict: the plan does not say what to predict\n"
                   "help: compile with -s 'train.predict=softmax(model(x))', or another tensor of "
                   "the model");
}

/* ---- the file */

static int file_error(Predictor *q, const char *path) {
    return fail_with(q->rank->error, EXIT_ENVIRONMENT, "--predict: cannot write %.300s: %s", path,
                     strerror(errno));
}

static bool is_whole(const Predictor *q) { return q->state->type.dtype == DT_I32; }

/* Format version 1: magic, version, length, a Python dictionary, blanks up to a newline. */
static void write_header(const Predictor *q, char out[HEADER_BYTES]) {
    const Type *t = &q->state->type;
    Buf text = {0};
    memset(out, ' ', HEADER_BYTES);
    buf_printf(&text, "\x93NUMPY\x01%c%c%c", 0, (HEADER_BYTES - 10) & 255,
               (HEADER_BYTES - 10) >> 8);
    buf_printf(&text, "{'descr': '%s', 'fortran_order': False, 'shape': (%lld,",
               is_whole(q) ? "<i4" : "<f4", (long long)q->samples);
    for (int i = 1; i < t->rank; i++)
        buf_printf(&text, "%s%lld", i > 1 ? ", " : " ", (long long)t->dim[i]);
    buf_printf(&text, "), }");
    CHECK(text.n < HEADER_BYTES);
    memcpy(out, text.at, text.n);
    out[HEADER_BYTES - 1] = '\n';
    buf_free(&text);
}

static int write_at(Predictor *q, const char *bytes, uint64_t n, uint64_t at) {
    errno = file_put(q->fd, at, bytes, n);
    return errno ? file_error(q, q->name) : 0;
}

/* Reserves the space of the whole file, so that a disk that is full says so now. */
static int open_file(Predictor *q) {
    Target t;
    char header[HEADER_BYTES];
    unsigned long long number;
    uint64_t bytes = HEADER_BYTES + (uint64_t)q->samples * (uint64_t)q->width * sizeof(float);
    int code = target_find(&t, q->rank->run->options->predict, q->rank->error);
    if (code) return code;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        return file_error(q, t.file);
    q->target = arena_strdup(q->rank->memory, t.file); /* a link stays one */
    q->name = arena_printf(q->rank->memory, "%s.part-%llu", q->target, number);
    q->fd = part_create(q->name);
    if (q->fd < 0) return file_error(q, q->name);
    writer_remember(q->name);
    errno = posix_fallocate(q->fd, 0, (off_t)bytes);
    if (errno) return file_error(q, t.path);
    write_header(q, header);
    return write_at(q, header, sizeof header, 0);
}

/* ---- a rank's part */

/* The ranks that set the state: of a pipeline those of one stage. */
static uint32_t role_of_prediction(const Plan *p, const PlanState *s) {
    for (uint64_t k = 0; k < p->n_programs; k++)
        for (uint64_t i = 0; i < p->programs[k].n_instr; i++) {
            const PlanInstr *in = &p->instrs[p->programs[k].first_instr + i];
            if (in->op == OP_set_state && &p->states[in->attr.index] == s)
                return plan_stage_role(p, p->programs[k].stage);
        }
    return 0;
}

static AxisSet axes_of(const Rank *r) {
    return mesh_sample_axes(&r->info.mesh) | mesh_stage_axes(&r->info.mesh);
}

int predictor_open(Rank *r) {
    const Run *run = r->run;
    Predictor *q = r->predictor = arena_new_of(r->memory, Predictor);
    q->rank = r;
    q->fd = -1;
    q->state = prediction_of(run->plan);
    q->role = role_of_prediction(run->plan, q->state);
    q->samples = run->inputs.val->samples;
    AxisSet samples = mesh_sample_axes(&r->info.mesh);
    q->share = evaluation_round(run->plan, q->role) / mesh_extent(&r->info.mesh, samples);
    q->width = type_elements(&q->state->type) / q->state->type.dim[0];
    q->places = mesh_extent(&r->info.mesh, axes_of(r));
    q->bucket = r->arena + rank_role(r)->persistent_bytes;
    uint64_t bytes = MIN(run_transient_bytes(run), (uint64_t)BUCKET_BYTES);
    q->most = (int64_t)(bytes / dtype_bytes(q->state->type.dtype)) / q->places;
    if (r->rank) return 0;
    q->host = arena_alloc(r->memory, bytes);
    q->file = arena_alloc(r->memory, (uint64_t)q->most * sizeof(float));
    return open_file(q);
}

void predictor_close(Predictor *q) {
    if (!q || q->fd < 0) return;
    writer_remove_unfinished();
    close(q->fd);
}

/* Rank 0: elements [at, at + n) of the samples of one rank, the first of which is `sample`. */
static int put_elements(Predictor *q, const char *from, int64_t sample, int64_t at, int64_t n) {
    int dtype = q->state->type.dtype;
    FileType type = file_type_of(dtype);
    int64_t first = sample * q->width + at;
    n = MIN(n, q->samples * q->width - first);
    if (n <= 0) return 0;
    for (int64_t i = 0; i < n && !is_whole(q); i++)
        ((float *)(void *)q->file)[i] = (float)load_real(from + i * file_type_bytes(type), type);
    return write_at(q, is_whole(q) ? from : q->file, (uint64_t)n * sizeof(float),
                    HEADER_BYTES + (uint64_t)first * sizeof(float));
}

/* Rank 0: a bucket of every rank's elements from `at` on. */
static int put_bucket(Predictor *q, const char *bucket, int64_t position, int64_t at, int64_t n) {
    const Rank *r = q->rank;
    const Plan *p = r->run->plan;
    const Mesh *mesh = &r->info.mesh;
    AxisSet others = mesh_all_axes(mesh) & (AxisSet)~axes_of(r); /* along them ranks are alike */
    int code = 0;
    for (int32_t k = 0; k < mesh_ranks(mesh) && !code; k++) {
        int64_t place = mesh_index(mesh, k, axes_of(r)),
                part = mesh_index(mesh, k, mesh_sample_axes(mesh));
        if (plan_role_of(p, k) != q->role || mesh_index(mesh, k, others)) continue;
        code = put_elements(q, bucket + place * n * dtype_bytes(q->state->type.dtype),
                            position + part * q->share, at, n);
    }
    return code;
}

/* Elements [at, at + n) of every rank. */
static int take_bucket(Predictor *q, int64_t position, int64_t at, int64_t n) {
    Rank *r = q->rank;
    int dtype = q->state->type.dtype, code = 0;
    uint64_t width = dtype_bytes(dtype);
    const char *from = r->arena + q->state->address + (uint64_t)at * width;
    if (q->places > 1) code = rank_gather(r, axes_of(r), from, q->bucket, n, dtype);
    if (q->places > 1) from = q->bucket;
    if (code || r->rank) return code;
    if (!r->run->device->arena_is_host) {
        code = rank_copy_out(r, q->host, from, (uint64_t)(n * q->places) * width);
        from = q->host;
    }
    rank_writes(r, true);
    if (!code) code = put_bucket(q, from, position, at, n);
    rank_writes(r, false);
    return code;
}

int predictor_take(Rank *r, int64_t position) {
    Predictor *q = r->predictor;
    int64_t elements = type_elements(&q->state->type);
    int code = rank_synchronize(r, r->error);
    position -= q->share * mesh_index(&r->info.mesh, r->rank, mesh_sample_axes(&r->info.mesh));
    CHECK(q->most > 0);
    for (int64_t at = 0; at < elements && !code; at += q->most)
        code = take_bucket(q, position, at, MIN(q->most, elements - at));
    rank_used_transient(r);
    return code;
}

int predictor_finish(Rank *r) {
    Predictor *q = r->predictor;
    struct stat st;
    if (r->rank) return 0;
    if (!stat(q->target, &st)) (void)!fchmod(q->fd, st.st_mode & 07777);
    int failed = fsync(q->fd) || rename(q->name, q->target);
    if (failed) return file_error(q, q->target);
    writer_forget_unfinished();
    close(q->fd);
    q->fd = -1;
    return 0;
}
