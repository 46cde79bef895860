/* Makes checkpoints while training. When a step and its evaluation are done, the stream `save` of
 * each rank (save_stream.c) begins to write the rank's part to files of its own, and the next step
 * begins. After each step the ranks agree on whether all have written; then rank 0 gets all hashes,
 * its stream writes the manifest and renames the folder, and all ranks learn of it after a later
 * step. At the end of the run, and when the next checkpoint is due, they wait for it.
 *
 * After each part of it the ranks agree on whether all went well, so a checkpoint is complete or
 * does not exist. One that fails costs no training: the failure is printed at once, and the next
 * checkpoint is tried when it is due. After three failures in a row, or if the checkpoint was the
 * run's last, the run ends with exit code 2, after --save.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "saving.h"

enum { MOST_FAILURES = 3, BUCKET_BYTES = 1 << 20 };

/* ---- at the start */

static bool same_folder(const char *a, const char *b) {
    struct stat x, y;
    return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Does the run go on from a checkpoint in the folder that it writes to? A link to a checkpoint may
 * be in that folder, or lead there. */
static bool resumes_here(const Run *run) {
    const char *from = resume_folder(run);
    char parent[CK_PATH], behind[CK_PATH + 4];
    if (!from) return false;
    ck_step_parent(from, parent);
    snprintf(behind, sizeof behind, "%s/..", from);
    return same_folder(parent, run->checkpoint.folder) ||
           same_folder(behind, run->checkpoint.folder);
}

/* Checkpoints that are there must be those that the run goes on from. */
static int check_others(const Run *run, const char *folder, char *error) {
    uint32_t n;
    int64_t *step = ck_steps(folder, &n), newest = n ? step[n - 1] : -1;
    free(step);
    bool ours = resumes_here(run);
    if (newest < 0 || (ours && newest <= run->steps.first)) return 0;
    if (ours)
        return fail_with(
            error, EXIT_USER,
            "--checkpoint %.150s: it contains step %lld, which is newer than step %lld, from which "
            "the run continues\nhelp: move the newer checkpoints away, or name another folder",
            folder, (long long)newest, (long long)run->steps.first);
    return fail_with(error, EXIT_USER,
                     "--checkpoint %.150s: it contains step %lld of another run\nhelp: "
                     "--resume-or-start %.100s continues that run; or name another folder",
                     folder, (long long)newest, folder);
}

/* For those to be kept and the one that is being written; those that are there have theirs. */
static int check_space(const Saver *s, const char *folder, char *error) {
    uint32_t there;
    free(ck_steps(folder, &there));
    int64_t times = s->run->checkpoint.keep + 1 - (int64_t)there;
    return ck_check_room(&s->contents.c, folder, (uint64_t)MAX(times, 1), error);
}

/* Files of form full are open in every rank at once: as many as that is, if the system lets us. */
static int check_files(const Saver *s, const char *folder, char *error) {
    enum { OTHERS = 64 };
    const CkContents *c = &s->contents.c;
    struct rlimit open;
    rlim_t ranks = s->run->launch.module ? 1 : (rlim_t)s->run->launch.ranks;
    rlim_t need = c->n_full_file * ranks + OTHERS;
    if (!c->n_full_file || getrlimit(RLIMIT_NOFILE, &open) || open.rlim_cur >= need) return 0;
    struct rlimit more = {MIN(need, open.rlim_max), open.rlim_max};
    if (more.rlim_cur == need && !setrlimit(RLIMIT_NOFILE, &more)) return 0;
    return fail_with(
        error, EXIT_ENVIRONMENT,
        "--checkpoint %.200s: each rank keeps %u files open at once, but a process may open "
        "only %llu (ulimit -n)\nhelp: use a larger --max-file",
        folder, c->n_full_file, (unsigned long long)open.rlim_max);
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
    *s = (Saver){
        .run = run, .arena = a, .lock = {.file = -1, .itself = -1}, .best = -1, .best_loss = NAN};
    int code = run_contents_make(run, a, &s->contents, error);
    if (!code) code = check_files(s, o->folder, error);
    if (code || run->launch.rank != 0) return code;
    if (getrandom(&s->id, sizeof s->id, 0) != sizeof s->id) s->id = (uint64_t)getpid();
    s->id = s->id >> 1 | 1;
    code = ck_lock_folder(o->folder, s->id, &s->lock, error);
    if (!code) code = check_others(run, o->folder, error);
    if (!code) code = check_space(s, o->folder, error);
    if (!code && o->keep_best) find_best(s, o->folder);
    return code;
}

void saver_close(Saver *s) {
    if (!s) return;
    ck_unlock(&s->lock);
    arena_free(s->arena);
}

/* Words [at, at + n) of the hashes of a rank's blocks, one after the other, from or to the list of
 * files; how many words there are in all. */
static uint64_t rank_hashes(CkContents *c, int32_t rank, uint64_t at, uint64_t n, uint64_t *words,
                            bool put) {
    uint64_t all = 0;
    for (uint32_t i = 0; i < c->n_file; i++) {
        CkFile *f = &c->file[i];
        uint64_t blocks = f->rank == rank ? ck_blocks(f) : 0;
        uint64_t first = MAX(at, all), end = MIN(at + n, all + blocks);
        if (first < end) {
            uint64_t *one = words + (first - at), *other = f->block + (first - all);
            memcpy(put ? other : one, put ? one : other, (end - first) * sizeof *words);
        }
        all += blocks;
    }
    return all;
}

static uint64_t most_hashes(CkContents *c, int32_t ranks) {
    uint64_t most = 0;
    for (int32_t k = 0; k < ranks; k++) most = MAX(most, rank_hashes(c, k, 0, 0, NULL, false));
    return most;
}

/* Words of a rank that one all-gather takes. */
static uint64_t words_in_bucket(const Run *run) {
    uint64_t bytes = MIN(run_transient_bytes(run), (uint64_t)BUCKET_BYTES);
    uint64_t words = bytes / sizeof(uint64_t) / (uint64_t)run->launch.ranks;
    CHECK(words > 0);
    return MIN(words, most_hashes(&run->saver->contents.c, run->launch.ranks));
}

/* All ranks know the run's number, which is in the name of the folder that they write to. */
int saver_start(Rank *r) {
    Saver *s = r->run->saver;
    CheckpointInFlight *g = r->checkpoint = arena_new_of(r->memory, CheckpointInFlight);
    uint64_t ranks = r->run->launch.module ? (uint64_t)r->run->launch.ranks : 0;
    uint64_t n = ranks ? words_in_bucket(r->run) * ranks : 0;
    g->words = arena_array(r->memory, uint64_t, n + 1);
    r->checkpoint->saved_step = resumes_here(r->run) ? r->run->steps.first : -1;
    int code = save_stream_open(r);
    return code ? code : rank_agree(r, r->rank == 0 ? s->id : 0, &r->checkpoint->run_id);
}

void saver_stop(Rank *r) {
    save_stream_close(r);
    r->checkpoint = NULL;
}

bool saver_due(const Rank *r, int64_t done) {
    const Run *run = r->run;
    return run->saver && run->checkpoint.every > 0 && done % run->checkpoint.every == 0 &&
           done != r->checkpoint->saved_step;
}

int64_t saver_saved_step(const Rank *r) { return r->checkpoint->saved_step; }

/* ---- writing one */

/* Rank 0 gets the hashes of the data that other processes wrote, in buckets in the arena's
 * transient part, which is free between calls. */
static int exchange_hashes(Rank *r) {
    CkContents *c = &r->run->saver->contents.c;
    int32_t ranks = r->run->launch.ranks;
    if (!r->run->launch.module || ranks == 1) return 0;
    AxisSet axes = mesh_all_axes(&r->info.mesh);
    uint64_t all = most_hashes(c, ranks), step = words_in_bucket(r->run),
             *words = r->checkpoint->words;
    char *bucket = r->arena + rank_role(r)->persistent_bytes;
    int code = 0;
    for (uint64_t at = 0; at < all && !code; at += step) {
        uint64_t n = MIN(step, all - at), bytes = n * sizeof *words;
        char *own = bucket + (uint64_t)mesh_index(&r->info.mesh, r->rank, axes) * bytes;
        rank_hashes(c, r->rank, at, n, words, false);
        code = rank_copy_in(r, own, words, bytes);
        if (!code) code = rank_synchronize(r, r->error);
        if (!code) code = rank_gather(r, axes, own, bucket, (int64_t)n, DT_I64);
        if (!code && r->rank == 0) code = rank_copy_out(r, words, bucket, bytes * (uint64_t)ranks);
        for (int32_t k = 1; k < ranks && r->rank == 0 && !code; k++)
            rank_hashes(c, k, at, n, words + (uint64_t)k * n, true);
    }
    rank_used_transient(r);
    return code;
}

static void retain_checkpoints(Saver *s, const SaveMoment *m) {
    const CheckpointOptions *o = &s->run->checkpoint;
    if (o->keep_best && s->contents.c.has_evaluation && !(s->best_loss <= m->evaluation)) {
        s->best = m->step;
        s->best_loss = m->evaluation;
    }
    ck_retain_steps(o->folder, o->keep, o->keep_every, s->best);
}

static void print_failure(const Rank *r, const char *outcome, const char *error) {
    metrics_end_bar(r->run->metrics);
    fprintf(stderr, "warning: rank %d: the checkpoint of step %lld was not made%s: %s\n", r->rank,
            (long long)r->checkpoint->moment.step, outcome, error);
}

/* On the stream, as soon as it is known, unless the run ends for it. */
static void warn_of_failure(Rank *r, const char *error) {
    const SaveMoment *m = &r->checkpoint->moment;
    if (m->last || r->checkpoint->failures + 1 >= MOST_FAILURES || atomic_load(&r->saves->stops))
        return;
    print_failure(r, " (the run continues)", error);
    r->checkpoint->explained = true;
}

/* A rank's stream: its files. */
static int write_files(Rank *r, char *error) {
    int code = save_stream_files(r, r->checkpoint->part, error);
    if (code) warn_of_failure(r, error);
    return code;
}

/* Rank 0's stream, when all ranks have written: the checkpoint gets its name, older ones go. */
static int commit_checkpoint(Rank *r, char *error) {
    Saver *s = r->run->saver;
    const SaveMoment *m = &r->checkpoint->moment;
    const char *part = r->checkpoint->part;
    int code = ck_write_manifest(&s->contents.c, part, error);
    if (!code) code = ck_keep_lock(&s->lock, error);
    if (!code) code = ck_commit_step(r->run->checkpoint.folder, part, m->step, error);
    r->checkpoint->ended = monotonic_seconds();
    if (!code) retain_checkpoints(s, m);
    if (code) warn_of_failure(r, error);
    return code;
}

/* The moment that the manifest tells of: an evaluation after it must not change it. */
static void describe_moment(Rank *r) {
    Saver *s = r->run->saver;
    CkContents *c = &s->contents.c;
    const SaveMoment *m = &r->checkpoint->moment;
    c->step = m->step;
    c->samples = multiply_saturated(m->step, r->run->plan->settings->batch);
    c->run = s->id;
    c->evaluation_due = m->evaluation_due;
    c->has_evaluation = m->has_evaluation && isfinite(m->evaluation);
    c->evaluation = m->evaluation;
    c->best_evaluation = metrics_best(r->run->metrics);
    c->loss_scale = m->loss_scale;
}

/* A rank that failed says why: now, or when the run ends for it. */
static void report_failure(Rank *r, int mine, int worst) {
    CheckpointInFlight *g = r->checkpoint;
    bool ends = g->moment.last || g->failures + 1 >= MOST_FAILURES;
    if (mine && !ends && !g->explained) warn_of_failure(r, r->error);
    g->failures++;
    if (!ends) return;
    g->gave_up = worst;
    g->failed_here = mine != 0;
    memcpy(g->why, r->error, sizeof g->why);
}

bool saver_gave_up(const Rank *r) { return r->checkpoint && r->checkpoint->gave_up; }

int saver_failure(Rank *r) {
    const CheckpointInFlight *g = r->checkpoint;
    const char *save = r->run->options->save.path;
    if (!g->failed_here) {
        uint64_t word;
        int failed = rank_agree(r, 0, &word);
        if (failed) return failed;
        return fail_with(r->error, EXIT_RANK, "another rank could not write a checkpoint");
    }
    return fail_with(
        r->error, g->gave_up, "%.200s\nhelp: %s; %s %.110s%s%.100s", g->why,
        g->moment.last ? "this was the run's last checkpoint"
                       : "this was the third failure in a row",
        g->saved_step < 0 ? "there is no checkpoint in" : "continue with --resume-or-start",
        r->run->checkpoint.folder, save ? "; the weights are in " : "", save ? save : "");
}

void saver_warn(const Rank *r) {
    if (saver_gave_up(r) && r->checkpoint->failed_here) print_failure(r, "", r->checkpoint->why);
}

/* All ranks know what became of it, by the worst of their codes. */
static void conclude_checkpoint(Rank *r, int mine, int worst) {
    CheckpointInFlight *g = r->checkpoint;
    SaveMoment *m = &g->moment;
    if (worst && r->rank == 0 && g->phase != SAVE_BEGINS) ck_remove_folder(g->part);
    g->phase = SAVE_NONE;
    if (worst) report_failure(r, mine, worst);
    m->numbers.written = !worst;
    if (m->numbers.written) {
        r->checkpoint->failures = 0;
        r->checkpoint->saved_step = m->step;
    }
    m->numbers.bytes = ck_total_bytes(&r->run->saver->contents.c);
    m->numbers.seconds = (g->ended > 0 ? g->ended : monotonic_seconds()) - g->begun;
    m->numbers.stalled = g->stalled + (monotonic_seconds() - g->since) + r->saves->stalled;
    if (r->rank != 0) return;
    rank_writes(r, true);
    metrics_checkpoint(r->run->metrics, &m->numbers, r->error); /* which keeps a failure */
    rank_writes(r, false);
}

/* The ranks' jobs are done: the next part of it begins, or all is over. */
static int continue_checkpoint(Rank *r) {
    CheckpointInFlight *g = r->checkpoint;
    int mine = save_stream_end(r);
    uint64_t worst = 0;
    int failed = rank_agree(r, (uint64_t)mine, &worst);
    if (!failed && !worst && g->phase == SAVE_WRITES) {
        failed = exchange_hashes(r);
        if (failed) return failed;
        g->phase = SAVE_COMMITS;
        if (r->rank == 0) save_stream_run(r, commit_checkpoint);
        return 0;
    }
    if (!failed) conclude_checkpoint(r, mine, (int)worst);
    return failed;
}

static bool is_at_work(const Rank *r) { return r->checkpoint && r->checkpoint->phase != SAVE_NONE; }

int saver_poll(Rank *r) {
    CheckpointInFlight *g = r->checkpoint;
    const SaveStream *s = r->saves;
    enum { WRITES = 1, HOLDS }; /* also holds instructions back */
    uint64_t busy = 0;
    if (!is_at_work(r)) return 0;
    g->since = monotonic_seconds();
    uint64_t mine = worker_runs(s->thread) ? (atomic_load(&s->over) < s->n ? HOLDS : WRITES) : 0;
    int code = rank_agree(r, mine, &busy);
    g->holds = busy == HOLDS;
    if (!code && !busy) code = continue_checkpoint(r);
    g->stalled += monotonic_seconds() - g->since;
    return code;
}

int saver_finish(Rank *r) {
    int code = 0;
    rank_writes(r, true);
    while (!code && is_at_work(r)) {
        r->checkpoint->since = monotonic_seconds();
        code = continue_checkpoint(r);
        r->checkpoint->stalled += monotonic_seconds() - r->checkpoint->since;
    }
    rank_writes(r, false);
    return code;
}

int saver_begin(Rank *r, const SaveMoment *m) {
    CheckpointInFlight *g = r->checkpoint;
    const char *folder = r->run->checkpoint.folder;
    if (is_at_work(r)) g->moment.numbers.late = true;
    int code = saver_finish(r);
    if (code || g->gave_up) return code;
    uint64_t worst = 0;
    double begun = monotonic_seconds();
    g->moment = *m;
    g->moment.numbers = (CheckpointNumbers){.step = m->step};
    g->begun = g->since = begun;
    g->ended = 0;
    g->stalled = 0;
    g->explained = false;
    g->phase = SAVE_BEGINS;
    code = rank_synchronize(r, r->error);
    if (code) return code;
    ck_part_path(folder, m->step, r->checkpoint->run_id, g->part);
    if (r->rank == 0) describe_moment(r);
    int mine = r->rank == 0 ? ck_keep_lock(&r->run->saver->lock, r->error) : 0;
    if (r->rank == 0 && !mine) mine = ck_begin_step(&r->run->saver->contents.c, g->part, r->error);
    code = rank_agree(r, (uint64_t)mine, &worst);
    if (code) return code;
    if (worst) {
        conclude_checkpoint(r, mine, (int)worst);
        return 0;
    }
    g->phase = SAVE_WRITES;
    g->holds = true;
    save_stream_write(r, write_files);
    g->stalled = monotonic_seconds() - begun;
    return 0;
}
