/* Making checkpoints while training: when a step and its evaluation are done, each rank writes what
 * it holds to files of its own, straight out of the arena through one block of memory, and rank 0
 * writes the manifest and gives the folder its name.
 *
 * Ranks agree after each part of it whether all went well, so that a checkpoint is complete or none
 * at all. One that fails costs no training: it is told and the next one is tried when it is due.
 * After three in a row, or where it was the run's last, the run ends with exit code 2.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "prepared.h"
#include "saving.h"

enum { MOST_FAILURES = 3, BOUNCE_BYTES = 1 << 20 };

struct Saver {
    const Run *run;
    Arena *arena;
    Contents contents;
    int lock;     /* rank 0's; -1 = none */
    uint64_t id;  /* of the run: rank 0's, and by agreement all ranks' */
    int64_t best; /* step with the least evaluation loss, -1 = none; rank 0 */
    double best_loss;
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- at the start */

static bool same_folder(const char *a, const char *b) {
    struct stat x, y;
    return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Does the run go on from a checkpoint in the folder that it writes to? */
static bool resumes_here(const Run *run) {
    const char *from = resume_folder(run);
    char parent[CK_PATH + 4];
    return from && snprintf(parent, sizeof parent, "%s/..", from) > 0 &&
           same_folder(parent, run->checkpoint.folder);
}

/* Checkpoints that are there must be those that the run goes on from. */
static int check_others(const Run *run, const char *folder, char *error) {
    uint32_t n;
    int64_t *step = ck_steps(folder, &n), newest = n ? step[n - 1] : -1;
    free(step);
    bool ours = resumes_here(run);
    if (newest < 0 || (ours && newest <= run->first_step)) return 0;
    if (ours)
        snprintf(error, ERROR_BYTES,
                 "--checkpoint %.150s: it has step %lld, which is newer than step %lld that the "
                 "run goes on from\nhelp: move the newer ones away, or name another folder",
                 folder, (long long)newest, (long long)run->first_step);
    else
        snprintf(error, ERROR_BYTES,
                 "--checkpoint %.150s: it has step %lld of another run\n"
                 "help: --resume-or-start %.100s goes on from it; or name another folder",
                 folder, (long long)newest, folder);
    return EXIT_USER;
}

/* For those to be kept and the one that is being written; those that are there have theirs. */
static int check_space(const Saver *s, const char *folder, char *error) {
    struct statvfs disk;
    struct rlimit size;
    uint32_t there;
    free(ck_steps(folder, &there));
    const CkContents *c = &s->contents.c;
    int64_t keep = s->run->checkpoint.keep;
    uint64_t times = (uint64_t)MAX(keep + 1 - (int64_t)there, 1), each = ck_bytes(c), largest = 0;
    for (uint32_t i = 0; i < c->n_file; i++) largest = MAX(largest, c->file[i].size);
    if (!getrlimit(RLIMIT_FSIZE, &size) && size.rlim_cur != RLIM_INFINITY &&
        largest > size.rlim_cur) {
        snprintf(error, ERROR_BYTES,
                 "--checkpoint %.200s: a file of it needs %llu bytes, and the limit on a file's "
                 "size (ulimit -f) is %llu bytes",
                 folder, (unsigned long long)largest, (unsigned long long)size.rlim_cur);
        return EXIT_ENVIRONMENT;
    }
    if (statvfs(folder, &disk)) return 0; /* not known */
    uint64_t room = (uint64_t)disk.f_bavail * disk.f_frsize;
    if (each <= room / times) return 0;
    snprintf(error, ERROR_BYTES,
             "--checkpoint %.200s: %llu checkpoints of %llu bytes are to be there, and %llu bytes "
             "are free on its disk\nhelp: a smaller --keep, or another disk",
             folder, (unsigned long long)times, (unsigned long long)each, (unsigned long long)room);
    return EXIT_ENVIRONMENT;
}

/* The best of those that are there. */
static void find_best(Saver *s, const char *folder) {
    uint32_t n;
    int64_t *step = ck_steps(folder, &n);
    for (uint32_t i = 0; i < n; i++) {
        char name[32], path[CK_PATH], error[ERROR_BYTES];
        Checkpoint *k;
        ck_step_name(name, step[i]);
        snprintf(path, sizeof path, "%.4000s/%s", folder, name);
        if (checkpoint_open(&k, path, error)) continue;
        const CkContents *c = checkpoint_contents(k);
        if (c->has_evaluation && !(s->best_loss <= c->evaluation)) {
            s->best = step[i];
            s->best_loss = c->evaluation;
        }
        checkpoint_close(k);
    }
    free(step);
}

int saver_open(Run *run, char *error) {
    const CheckpointOptions *o = &run->checkpoint;
    Arena *a = arena_new();
    Saver *s = run->saver = arena_new_of(a, Saver);
    *s = (Saver){.run = run, .arena = a, .lock = -1, .best = -1, .best_loss = NAN};
    int code = contents_make(run, a, &s->contents, error);
    if (code || run->launch.rank != 0) return code;
    if (getrandom(&s->id, sizeof s->id, 0) != sizeof s->id) s->id = (uint64_t)getpid();
    s->id = s->id >> 1 | 1;
    code = ck_lock(o->folder, s->id, &s->lock, error);
    if (!code) code = check_others(run, o->folder, error);
    if (!code) code = check_space(s, o->folder, error);
    if (!code && o->keep_best) find_best(s, o->folder);
    return code;
}

void saver_close(Saver *s) {
    if (!s) return;
    if (s->lock >= 0) close(s->lock);
    arena_free(s->arena);
}

/* All ranks know the run's number, which is in the name of the folder that they write to. */
int saver_start(Rank *r) {
    const Saver *s = r->run->saver;
    r->saved_step = resumes_here(r->run) ? r->run->first_step : -1;
    return rank_agree(r, r->rank == 0 ? s->id : 0, &r->save_id);
}

bool saver_due(const Rank *r, int64_t done) {
    const Run *run = r->run;
    return run->saver && run->checkpoint.every > 0 && done % run->checkpoint.every == 0 &&
           done != r->saved_step;
}

/* ---- writing one */

static int fetch(void *user, uint32_t vector, int64_t first, int64_t n, void *to, char *error) {
    Rank *r = user;
    (void)error; /* the rank's own */
    const Contents *m = &r->run->saver->contents;
    const CkVector *v = &m->c.vector[vector];
    uint64_t width = dtype_bytes((int)v->dtype), bytes = (uint64_t)n * width;
    int64_t begin = layout_first(&v->layout, &m->c.mesh, r->rank);
    const char *from = r->arena + m->state[vector]->address + (uint64_t)(first - begin) * width;
    rank_beat(r);
    if (!r->run->device->arena_is_host) return rank_copy_out(r, to, from, bytes);
    memcpy(to, from, bytes);
    return 0;
}

/* Hashes of a rank's blocks, one after the other, from or to the list of files. */
static uint64_t rank_hashes(CkContents *c, int32_t rank, uint64_t *words, bool put) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < c->n_file; i++) {
        CkFile *f = &c->file[i];
        uint64_t blocks = f->rank == rank ? ck_blocks(f->size) : 0;
        if (put)
            memcpy(f->block, words + n, blocks * sizeof *words);
        else if (words)
            memcpy(words + n, f->block, blocks * sizeof *words);
        n += blocks;
    }
    return n;
}

/* n words of one rank, to all: through the arena's transient part, free between calls. */
static int broadcast(Rank *r, int32_t from, uint64_t *words, uint64_t n) {
    AxisSet axes = mesh_all_axes(&r->info.mesh);
    char *bounce = r->arena + r->run->plan->settings->persistent_bytes;
    uint64_t bytes = n * sizeof *words;
    int code = r->rank == from ? rank_copy_in(r, bounce, words, bytes) : 0;
    if (!code) code = rank_synchronize(r, r->error);
    if (code) return code;
    r->control_buffer =
        (CommBuffer){.in = bounce, .out = bounce, .elements = (int64_t)n, .dtype = DT_I64};
    r->control = (Collective){.axes = axes,
                              .purpose = COMM_CONTROL,
                              .sequence = r->control_sequence[axes]++,
                              .root = from,
                              .n = 1,
                              .buffer = &r->control_buffer,
                              .label = "a checkpoint"};
    code = r->run->transport->broadcast(r->transport, &r->control, r->error);
    if (!code) code = rank_synchronize(r, r->error);
    return code || r->rank ? code : rank_copy_out(r, words, bounce, bytes);
}

/* Rank 0 gets the hashes of what other processes wrote. */
static int exchange_hashes(Rank *r) {
    CkContents *c = &r->run->saver->contents.c;
    const PlanSettings *s = r->run->plan->settings;
    if (!r->run->module || r->run->launch.ranks == 1) return 0;
    uint64_t room = MIN(s->arena_bytes - s->persistent_bytes, (uint64_t)BOUNCE_BYTES) / 8;
    CHECK(room > 0);
    int code = 0;
    for (int32_t from = 1; from < r->run->launch.ranks && !code; from++) {
        uint64_t n = rank_hashes(c, from, NULL, false);
        uint64_t *words = calloc(n + 1, sizeof *words);
        if (!words) fail_environment("no memory for the hashes of a checkpoint");
        rank_hashes(c, from, words, false);
        for (uint64_t at = 0; at < n && !code; at += room)
            code = broadcast(r, from, words + at, MIN(room, n - at));
        if (!code && r->rank == 0) rank_hashes(c, from, words, true);
        free(words);
    }
    if (r->executor->memory) memory_check_poison(r->executor->memory);
    return code;
}

static int commit(Rank *r, const SaveMoment *m, const char *part) {
    Saver *s = r->run->saver;
    CkContents *c = &s->contents.c;
    c->step = m->step;
    c->samples = product(m->step, r->run->plan->settings->batch);
    c->run = s->id;
    c->evaluation_due = m->evaluation_due;
    c->has_evaluation = m->has_evaluation && isfinite(m->evaluation);
    c->evaluation = m->evaluation;
    c->best_evaluation = metrics_best(r->run->metrics);
    int code = ck_write_manifest(c, part, r->error);
    if (!code) code = ck_commit(r->run->checkpoint.folder, part, m->step, r->error);
    return code;
}

static void retain(Rank *r, const SaveMoment *m) {
    Saver *s = r->run->saver;
    const CheckpointOptions *o = &r->run->checkpoint;
    if (o->keep_best && s->contents.c.has_evaluation && !(s->best_loss <= m->evaluation)) {
        s->best = m->step;
        s->best_loss = m->evaluation;
    }
    ck_retain(o->folder, o->keep, o->keep_every, s->best);
}

/* The worst of all ranks' codes; not 0 where the run itself has ended. */
static int settle(Rank *r, int code, int *worst) {
    uint64_t word = 0;
    int failed = rank_agree(r, (uint64_t)code, &word);
    *worst = (int)word;
    return failed;
}

/* The parts of it, each one begun by all ranks or none. *mine: this rank's code. */
static int write_parts(Rank *r, const SaveMoment *m, int *mine, int *worst) {
    Saver *s = r->run->saver;
    char part[CK_PATH];
    const char *folder = r->run->checkpoint.folder;
    ck_part_path(folder, m->step, r->save_id, part);
    *mine = r->rank == 0 ? ck_begin(folder, part, r->error) : 0;
    int failed = settle(r, *mine, worst);
    if (!failed && !*worst) {
        *mine = ck_write_rank(&s->contents.c, part, r->rank, fetch, r, r->error);
        failed = settle(r, *mine, worst);
    }
    if (!failed && !*worst) failed = exchange_hashes(r);
    if (!failed && !*worst) {
        *mine = r->rank == 0 ? commit(r, m, part) : 0;
        failed = settle(r, *mine, worst);
    }
    if (!failed && *worst && r->rank == 0) ck_remove(part);
    return failed;
}

/* A rank that failed says why; where the run ends for it the others wait for that. */
static int give_up(Rank *r, const SaveMoment *m, int mine, int worst) {
    const char *folder = r->run->checkpoint.folder;
    bool ends = m->last || ++r->save_failures >= MOST_FAILURES;
    if (!ends) {
        if (!mine) return 0;
        metrics_end_bar(r->run->metrics);
        fprintf(stderr, "warning: rank %d: no checkpoint after step %lld: %s; the run goes on\n",
                r->rank, (long long)m->step - 1, r->error);
        return 0;
    }
    if (!mine) {
        uint64_t word;
        int failed = rank_agree(r, 0, &word);
        if (!failed) snprintf(r->error, ERROR_BYTES, "another rank could not write a checkpoint");
        return failed ? failed : EXIT_RANK;
    }
    char why[ERROR_BYTES];
    memcpy(why, r->error, sizeof why);
    snprintf(r->error, ERROR_BYTES, "%.250s\nhelp: %s; the newest checkpoint is in %.150s", why,
             m->last ? "it was the last one of the run" : "it was the third failure in a row",
             folder);
    return worst;
}

int saver_save(Rank *r, SaveMoment *m) {
    double begun = now();
    int mine = 0, worst = 0;
    rank_writes(r, true);
    int code = write_parts(r, m, &mine, &worst);
    if (!code && worst) code = give_up(r, m, mine, worst);
    m->written = !code && !worst;
    if (m->written && r->rank == 0) retain(r, m);
    rank_writes(r, false);
    if (m->written) {
        r->save_failures = 0;
        r->saved_step = m->step;
    }
    m->bytes = ck_bytes(&r->run->saver->contents.c);
    m->seconds = now() - begun;
    return code;
}
