/* The loader: a thread per rank that fills one staging slot while a call reads the other. One
 * request is under way at a time; the trainer asks for call k + 1 when call k starts, and call k -
 * 1, which read the slot of k + 1, is over. If the arena is host memory, the slots are those in the
 * arena; otherwise the trainer copies them there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "random.h"
#include "run.h"
#include "worker.h"

enum { AT_ONCE = 32 }; /* samples that are read together */

struct Loader {
    Rank *rank;
    Worker *thread;
    ProgramCall call; /* asked for */
    int code;
    char error[ERROR_BYTES];
    uint8_t *slot[2];
    int64_t step_in[2]; /* the step of which a slot has the fields of a step; -1: none */
    uint8_t *own;       /* their memory, where they are not in the arena */
};

uint64_t slot_bytes(const Plan *p) {
    const PlanState *staging = plan_find_state(p, STATE_STAGING, -1);
    return staging ? (uint64_t)type_bytes(&staging->type) / 2 : 0;
}

/* The sample at a position in the order of training or evaluation. */
static SampleAt sample_at(const Run *run, bool evaluation, int64_t position) {
    const PlanSettings *s = run->plan->settings;
    const Dataset *d = evaluation ? run->inputs.val : run->inputs.train;
    SampleAt at = {position % d->samples, position / d->samples};
    if (!evaluation && s->order == ORDER_SHUFFLE)
        at.k = shuffled(at.k, d->samples, s->seed, (uint64_t)at.epoch);
    return at;
}

int64_t loader_sample(const Run *run, const ProgramCall *c, int64_t row) {
    return sample_at(run, c->evaluation, c->position + row).k;
}

/* Reads the samples of a call from that position on into the slot's fields. */
static int read_samples(Loader *l, int64_t position) {
    const Run *run = l->rank->run;
    const Dataset *d = l->call.evaluation ? run->inputs.val : run->inputs.train;
    for (int64_t row = 0; row < l->call.samples; row += AT_ONCE) {
        SampleAt at[AT_ONCE];
        int64_t n = MIN(l->call.samples - row, (int64_t)AT_ONCE);
        for (int64_t i = 0; i < n; i++)
            at[i] = sample_at(run, l->call.evaluation, position + row + i);
        int code = dataset_read(d, at, n, row, l->slot[l->call.slot], l->error);
        if (code) return code;
        rank_beat(l->rank);
    }
    return 0;
}

/* The fields that have all micro-batches of the step, which the slot keeps for its further calls.
 */
static int read_step(Loader *l) {
    const Plan *p = l->rank->run->plan;
    uint8_t *slot = l->slot[l->call.slot];
    int64_t first = l->call.position - l->call.micro * l->call.samples;
    if (plan_batch_fields(p) == p->n_fields || l->call.evaluation ||
        l->step_in[l->call.slot] == l->call.step)
        return 0;
    for (int64_t m = 0; m < p->settings->micro_batches; m++) {
        int code = read_samples(l, first + m * l->call.samples);
        if (code) return code;
        for (uint64_t k = plan_batch_fields(p); k < p->n_fields; k++) {
            const PlanField *one = &p->fields[p->fields[k].of - 1];
            size_t bytes = (size_t)type_bytes(&one->type);
            memcpy(slot + p->fields[k].staging + (size_t)m * bytes, slot + one->staging, bytes);
        }
    }
    l->step_in[l->call.slot] = l->call.step;
    return 0;
}

static void read_batch(void *user) {
    Loader *l = user;
    l->code = read_step(l);
    if (!l->code) l->code = read_samples(l, l->call.position);
}

static bool open_slots(Loader *l, Rank *r, uint64_t bytes) {
    uint8_t *at = r->run->device->arena_is_host ? rank_state(r, STATE_STAGING) : NULL;
    if (!at) at = l->own = calloc(2, MAX(bytes, 1));
    l->slot[0] = at;
    l->slot[1] = at ? at + bytes : NULL;
    return at != NULL;
}

int loader_open(Rank *r, Loader **out) {
    Loader *l = *out = arena_new_of(r->memory, Loader);
    uint64_t bytes = slot_bytes(r->run->plan);
    if (!open_slots(l, r, bytes))
        return fail_with(r->error, EXIT_ENVIRONMENT, "no memory for two batches of %llu bytes",
                         (unsigned long long)bytes);
    l->rank = r;
    l->step_in[0] = l->step_in[1] = -1;
    if (worker_open(&l->thread, read_batch, l, 0))
        return fail_with(r->error, EXIT_ENVIRONMENT, "cannot start the data thread");
    return 0;
}

void loader_close(Loader *l) {
    if (!l) return;
    worker_close(l->thread);
    free(l->own);
}

void loader_request(Loader *l, const ProgramCall *c) {
    l->call = *c;
    worker_start(l->thread);
}

int loader_wait(Loader *l, const void **bytes, char *error) {
    worker_wait(l->thread);
    *bytes = l->slot[l->call.slot];
    if (l->code) snprintf(error, ERROR_BYTES, "%s", l->error);
    return l->code;
}
