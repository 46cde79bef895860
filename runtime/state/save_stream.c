/* Stream `save` of a rank: a thread that writes the plan's saves to files while the rank's own
 * thread continues with the next step.
 *
 * It does one job at a time. To write the rank's files, it first copies the state that the plan
 * says to copy, then reads the rest out of the arena, without copying it where that is host memory,
 * in the order of the plan's saves, and counts the finished ones. An instruction that waits for a
 * number of saves (PlanInstr.saves) is held back until that many have finished. When a job ends,
 * even with an error, nothing is held back any longer.
 *
 * Everything is allocated before the first step: the buffers through which files are written, and
 * the copy; where the arena is not host memory, in memory to which the device copies at full speed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "saving.h"

/* ---- memory */

static int take_buffer(Rank *r, uint64_t bytes, HostBuffer *out) {
    const Device *d = r->run->device;
    out->bytes = bytes;
    if (d->host_alloc) {
        int code = d->host_alloc(r->context, bytes + CK_ALIGN, &out->taken, r->error);
        if (code) return code;
    } else {
        out->taken = ck_buffer(bytes);
        if (out->taken) ck_buffer_fills(out->taken, bytes);
        if (out->taken) memset(out->taken, 0, bytes); /* the first step that is saved finds it */
    }
    out->at = out->taken ? (char *)align_up((uintptr_t)out->taken, CK_ALIGN) : NULL;
    if (out->at) return 0;
    return fail_with(r->error, EXIT_ENVIRONMENT, "no memory for %llu bytes of checkpoint buffers",
                     (unsigned long long)bytes);
}

static void release_buffer(Rank *r, HostBuffer *buffer) {
    if (r->run->device->host_free && buffer->taken)
        r->run->device->host_free(r->context, buffer->taken);
    else
        ck_buffer_free(buffer->taken, buffer->bytes);
}

static int read_arena(const Rank *r, void *to, const void *from, uint64_t bytes, char *error) {
    const Device *d = r->run->device;
    if (d->read && !rank_in_host(r, from)) return d->read(r->context, to, from, bytes, error);
    memcpy(to, from, bytes);
    return 0;
}

/* ---- saves */

/* Where the rank has its elements from `first` on. */
static const char *shard_of(const SaveStream *s, uint32_t vector, int64_t first) {
    const CkContents *c = &s->contents->c;
    const CkVector *v = &c->vector[vector];
    int64_t begin = ck_shard_first(c, vector, s->rank->rank);
    return (const char *)rank_at(s->rank, s->contents->state[vector]->address) +
           (uint64_t)(first - begin) * dtype_bytes((int)v->dtype);
}

static int check_stopped(const SaveStream *s, char *error) {
    if (!atomic_load(&s->stops)) return 0;
    return fail_with(error, EXIT_RANK, "the run ended before the checkpoint was written");
}

static const PlanSave *save_of(const SaveStream *s, uint32_t vector) {
    return &s->rank->run->plan->saves[s->row[vector]];
}

static char *copy_of(const SaveStream *s, uint32_t vector, int64_t first) {
    const CkContents *c = &s->contents->c;
    int64_t begin = ck_range(c, vector, s->rank->rank).first;
    return s->copy.at + save_of(s, vector)->at +
           (uint64_t)(first - begin) * dtype_bytes((int)c->vector[vector].dtype);
}

static int fetch_state(void *user, uint32_t vector, int64_t first, int64_t n, void *to,
                       char *error) {
    const SaveStream *s = user;
    uint64_t bytes = (uint64_t)n * dtype_bytes((int)s->contents->c.vector[vector].dtype);
    int code = check_stopped(s, error);
    if (code) return code;
    if (!save_of(s, vector)->copied)
        return read_arena(s->rank, to, shard_of(s, vector, first), bytes, error);
    memcpy(to, copy_of(s, vector, first), bytes);
    return 0;
}

static const char *look_at_state(void *user, uint32_t vector, int64_t first) {
    const SaveStream *s = user;
    if (atomic_load(&s->stops)) return NULL;
    if (save_of(s, vector)->copied) return copy_of(s, vector, first);
    const char *at = shard_of(s, vector, first);
    return !s->rank->run->device->read || rank_in_host(s->rank, at) ? at : NULL;
}

static void set_over(SaveStream *s, uint32_t n) {
    pthread_mutex_lock(&s->lock);
    atomic_store(&s->over, n);
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

static void note_left(void *user, uint32_t vector) {
    SaveStream *s = user;
    uint32_t over = atomic_load(&s->over), before = over;
    s->left[s->row[vector]] = true;
    while (over < s->n && s->left[over]) over++;
    if (over > before) set_over(s, over);
}

static int copy_state(SaveStream *s, char *error) {
    const CkContents *c = &s->contents->c;
    for (uint32_t k = 0; k < s->n; k++) {
        uint32_t v = s->vector[k];
        if (!save_of(s, v)->copied) continue;
        LayoutRange range = ck_range(c, v, s->rank->rank);
        uint64_t bytes = (uint64_t)(range.end - range.first) * dtype_bytes((int)c->vector[v].dtype);
        int code = check_stopped(s, error);
        if (!code && bytes)
            code = read_arena(s->rank, copy_of(s, v, range.first), shard_of(s, v, range.first),
                              bytes, error);
        if (code) return code;
        note_left(s, v);
    }
    return 0;
}

int save_stream_files(Rank *r, const char *part, char *error) {
    SaveStream *s = r->saves;
    CkSource source = {.fetch = fetch_state,
                       .look = look_at_state,
                       .user = s,
                       .order = s->row,
                       .left = note_left,
                       .buffer = s->buffer.at};
    int code = copy_state(s, error);
    CkContents *c = &r->run->saver->contents.c;
    return code ? code : ck_write_rank(c, part, r->rank, &source, error);
}

/* ---- jobs */

static void run_job(void *user) {
    SaveStream *s = user;
    s->code = s->job(s->rank, s->error);
    set_over(s, s->n);
}

void save_stream_run(Rank *r, SaveJob job) {
    worker_wait(r->saves->thread);
    r->saves->job = job;
    worker_start(r->saves->thread);
}

void save_stream_write(Rank *r, SaveJob job) {
    SaveStream *s = r->saves;
    memset(s->left, 0, s->n * sizeof *s->left);
    s->stalled = 0;
    atomic_store(&s->over, 0);
    save_stream_run(r, job);
}

/* The disk takes as long as it takes. */
int save_stream_end(Rank *r) {
    SaveStream *s = r->saves;
    rank_writes(r, true);
    worker_wait(s->thread);
    rank_writes(r, false);
    if (s->code) memcpy(r->error, s->error, ERROR_BYTES);
    return s->code;
}

static void hold_for_saves(Rank *r, uint32_t n) {
    SaveStream *s = r->saves;
    n = MIN(n, s->n);
    if (atomic_load(&s->over) >= n) return;
    double begun = monotonic_seconds();
    rank_writes(r, true);
    pthread_mutex_lock(&s->lock);
    while (atomic_load(&s->over) < n) pthread_cond_wait(&s->changed, &s->lock);
    s->stalled += monotonic_seconds() - begun;
    pthread_mutex_unlock(&s->lock);
    rank_writes(r, false);
}

/* By what ranks have agreed on, whatever this one has written since. */
static bool program_holds(const Rank *r, uint32_t program) {
    return r->saves->holds[program] && r->checkpoint->phase == SAVE_WRITES && r->checkpoint->holds;
}

/* ---- life */

static void pair_saves(SaveStream *s, Arena *a) {
    const Plan *p = s->rank->run->plan;
    const CkContents *c = &s->contents->c;
    s->row = arena_array(a, uint32_t, c->n_vector + 1);
    s->vector = arena_array(a, uint32_t, p->n_saves + 1);
    s->left = arena_array(a, bool, p->n_saves + 1);
    s->holds = arena_array(a, bool, p->n_programs + 1);
    s->n = (uint32_t)p->n_saves;
    for (uint32_t k = 0; k < s->n; k++)
        for (uint32_t v = 0; v < c->n_vector; v++)
            if (s->contents->state[v] == &p->states[p->saves[k].state]) {
                s->row[v] = k;
                s->vector[k] = v;
            }
    for (uint64_t i = 0; i < p->n_programs; i++)
        for (uint32_t k = 0; k < p->programs[i].n_instr; k++)
            s->holds[i] |= p->instrs[p->programs[i].first_instr + k].saves > 0;
}

/* The rank's own copy: that of its stages. */
static uint64_t copy_bytes(const Rank *r) {
    const Plan *p = r->run->plan;
    uint64_t end = 0;
    for (uint64_t k = 0; k < p->n_saves; k++) {
        const PlanSave *save = &p->saves[k];
        if (save->copied && rank_has_state(r, &p->states[save->state]))
            end = MAX(end, save->at + align_up(save->bytes, PLAN_ALIGN));
    }
    return end;
}

int save_stream_open(Rank *r) {
    Saver *saver = r->run->saver;
    SaveStream *s = r->saves = arena_new_of(r->memory, SaveStream);
    s->rank = r;
    r->gate = (SaveGate){hold_for_saves, program_holds};
    s->contents = &saver->contents;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    pair_saves(s, r->memory);
    atomic_store(&s->over, s->n);
    uint64_t copy = copy_bytes(r);
    int code = take_buffer(r, (uint64_t)CK_WRITERS * CK_BLOCK, &s->buffer);
    if (!code && copy) code = take_buffer(r, copy, &s->copy);
    if (code) return code;
    int number = worker_open(&s->thread, run_job, s, 0);
    return number ? fail_with(r->error, EXIT_ENVIRONMENT,
                              "cannot start a thread for checkpoints: %s", strerror(number))
                  : 0;
}

void save_stream_close(Rank *r) {
    SaveStream *s = r->saves;
    if (!s) return;
    atomic_store(&s->stops, true);
    rank_writes(r, true);
    worker_close(s->thread);
    rank_writes(r, false);
    release_buffer(r, &s->buffer);
    release_buffer(r, &s->copy);
    r->saves = NULL;
    r->gate = (SaveGate){0};
}
