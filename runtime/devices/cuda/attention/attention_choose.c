/* Who computes attention.
 *
 * FSDP_CUDA_ATTENTION = own: the own kernels, which can do all forms. cudnn: cuDNN wherever it has
 * a plan that fits. onepass: our own backward of one pass (attention_onepass.cu) wherever it fits.
 * auto, and when unset: what is fastest.
 *
 * Before the first step each form of attention in the plan is rehearsed: cuDNN's plans for it are
 * made; the own kernels and each candidate (a plan, the one-pass kernel) run on the same random
 * operands; a candidate is dropped if its results differ by more than rounding explains, are not
 * all written, or have other bits in a second run; CUDA events time the others and the own kernels.
 * Any failure on the way means the own kernels, and a line that says why. Under `auto` this is done
 * by a process of its own (tuning.h); the run only compares what was found the fastest with the own
 * kernels once more. FSDP_CUDA_TUNE=0 times nothing, and auto means the own kernels. A form that
 * was never rehearsed runs on these too, or with `cudnn` on the first plan, with `onepass` on that
 * kernel.
 *
 * Ranks of one process share library, handle and choices, so they compute alike.
 */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attention_choice.h"
#include "op.h"
#include "tuning.h"

enum { WISH_OWN, WISH_ONEPASS, WISH_CUDNN, WISH_AUTO };

enum { MAX_FORMS = 64 };

static struct {
    pthread_mutex_t lock;
    int users, wish, n;
    AttentionChoice choice[MAX_FORMS];
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* What computes a form in place of a candidate that was asked for, and why. */
static void print_fallback(const Attention *a, const char *used, const char *candidate,
                           const char *why) {
    char name[ATTENTION_NAME];
    attention_name(a, name);
    fprintf(stderr, "%s: using %s instead of %s: %s\n", name, used, candidate, why);
}

/* ---- forms */

static Strides strides_of(const Heads *x) { return (Strides){x->batch, x->position}; }

static AttentionForm form_of(const Attention *a) {
    AttentionForm f;
    memset(&f, 0, sizeof f); /* forms are compared byte by byte */
    f.b = a->b;
    f.t = a->t;
    f.s = a->s;
    f.heads = a->heads;
    f.key_heads = a->key_heads;
    f.h = a->h;
    f.q = strides_of(&a->q);
    f.k = strides_of(&a->k);
    f.v = strides_of(&a->v);
    f.o = strides_of(&a->o);
    f.alpha = a->alpha;
    f.causal = a->causal;
    f.backward = a->backward;
    if (a->backward) {
        f.d_o = strides_of(&a->d_o);
        f.d_q = strides_of(&a->d_q);
        f.d_k = strides_of(&a->d_k);
        f.d_v = strides_of(&a->d_v);
    }
    return f;
}

/* bf16 all through, forward and backward, at addresses and steps that are multiples of 16 bytes. */
static bool is_for_cudnn(const Attention *a) {
    const Heads *x[] = {&a->q, &a->k, &a->v, &a->o, &a->d_o, &a->d_q, &a->d_k, &a->d_v};
    for (int i = 0; i < (a->backward ? 8 : 4); i++)
        if (x[i]->dtype != DT_BF16 || (uintptr_t)x[i]->at % 16 != 0 || x[i]->position % 8 != 0)
            return false;
    return attention_fits_bf16(a) && (uintptr_t)a->lse % 16 == 0 && a->s > 1 && a->t > 1;
}

/* Scratch of a call, wherever its workspace begins. */
static uint64_t room_of(const KernelCall *call, const Attention *a) {
    uint64_t others = SCRATCH_ALIGN + (a->backward ? attention_delta_bytes(a) : 0);
    return call->workspace_bytes > others ? call->workspace_bytes - others : 0;
}

/* ---- choosing */

/* Which candidates are wished for and fit. */
static bool wants_plans(const Attention *a) {
    return shared.wish != WISH_OWN && shared.wish != WISH_ONEPASS && is_for_cudnn(a);
}
static bool wants_onepass(const Launch *l, const Attention *a) {
    return shared.wish != WISH_OWN && shared.wish != WISH_CUDNN && gpu_has_warpgroups(&l->gpu) &&
           attention_fits_onepass(a, l->call->workspace_bytes);
}

static AttentionChoice *find_choice(const AttentionForm *form, uint64_t room) {
    for (int i = 0; i < shared.n; i++)
        if (shared.choice[i].room == room && !memcmp(&shared.choice[i].form, form, sizeof *form))
            return &shared.choice[i];
    return NULL;
}

/* The candidate to use. Near ties go to the own kernels; without times, the first that is good. */
static int fastest_candidate(const Trial *t, bool timed) {
    static const float MARGIN = 0.97f;
    int best = CANDIDATE_OWN;
    for (int i = 0; i < CANDIDATES; i++)
        if (t->good[i] && (best < 0 || (timed && t->time[i] < t->time[best]))) best = i;
    if (best >= 0 && timed && t->time[best] >= MARGIN * t->own) return CANDIDATE_OWN;
    return best;
}

static uint64_t hash_of(const AttentionChoice *c) {
    return tuned_hash(tuned_hash(TUNED_HASH, &c->form, sizeof c->form), &c->room, sizeof c->room);
}

/* How far a form is examined: not at all, whether candidates are right, or also how fast. */
typedef enum Examination { LOOK_NOT, LOOK_RIGHT, LOOK_FAST } Examination;

static bool any_good(const Trial *t, int candidates) {
    bool any = false;
    for (int i = 0; i < candidates; i++) any |= t->good[i];
    return any;
}

/* Who was asked and does not run. */
static void print_failures(const AttentionChoice *c, const Attention *a, const Trial *t,
                           bool plans) {
    if (plans && !any_good(t, MAX_PLANS))
        print_fallback(a, "fsdp-run's kernels", "cuDNN", t->why_plans);
    if (c->onepass && !t->good[CANDIDATE_ONEPASS])
        print_fallback(a, "other kernels", "the one-pass kernel", t->why_onepass);
}

static void keep_choice(const AttentionChoice *c, const Trial *t, uint64_t hash, uint64_t version) {
    bool own = c->which == CANDIDATE_OWN;
    int plan = own ? PLAN_OWN : c->number[c->which];
    float us = !own ? t->time[c->which] : t->own < INFINITY ? t->own : 0; /* 0: not timed */
    char line[TUNED_LINE];
    snprintf(line, sizeof line, "attention %016" PRIx64 " %" PRIu64 " %d %.2f\n", hash, version,
             plan + 1, (double)us);
    tuning_keep(line);
}

/* What keep_choice kept for the form; false: nothing. */
static bool read_choice(uint64_t hash, uint64_t version, int *plan) {
    char key[TUNED_LINE];
    snprintf(key, sizeof key, "attention %016" PRIx64 " %" PRIu64, hash, version);
    const char *text = tuning_find(key);
    *plan = (text ? atoi(text) : 0) - 1;
    return text && *plan >= PLAN_OWN && *plan <= PLAN_ONEPASS;
}

/* Decides on c->which: under `auto` the process that tries among all candidates, the run itself
 * between what that found fastest and the own kernels. */
static void decide_choice(AttentionChoice *c, const Launch *l, const Attention *a,
                          Examination look) {
    Trial t = {.own = 0};
    uint64_t hash = hash_of(c), version = wants_plans(a) ? parts_version(t.why_plans, true) : 0;
    bool plans = version != 0;
    bool timed = look == LOOK_FAST && tuning_tries();
    int plan = PLAN_OWN;
    bool kept = look == LOOK_FAST && read_choice(hash, version, &plan);
    if (look == LOOK_FAST && !kept && !timed && (plans || c->onepass)) tuning_lacks();
    if (kept ? timed || plan == PLAN_OWN : look == LOOK_FAST && !timed) return;
    c->onepass &= !kept || plan == PLAN_ONEPASS;
    plans &= !kept || plan != PLAN_ONEPASS;
    if (plans && !parts_plan(c, kept ? plan : -1, t.why_plans)) parts_forget(c);
    for (int i = 0; i < CANDIDATES; i++) t.good[i] = is_candidate(c, i);
    if (timed) t.form = tuned_hash(hash, &version, sizeof version);
    if (any_good(&t, CANDIDATES) && look != LOOK_NOT) attention_trial(c, l, a, &t);
    cudaGetLastError(); /* a candidate that does not run is reported below, or is not needed */
    print_failures(c, a, &t, plans);
    if (any_good(&t, CANDIDATES)) c->which = fastest_candidate(&t, timed);
    if (timed) keep_choice(c, &t, hash, version);
    if (c->which < 0 || c->which == CANDIDATE_ONEPASS) parts_forget(c);
}

/* The choice for this call, NULL: own kernels. One is made when there is none yet and something
 * says how. */
static const AttentionChoice *choice_for(const Launch *l, const Attention *a, Examination look) {
    char why[ERROR_BYTES];
    bool plans = wants_plans(a), onepass = wants_onepass(l, a);
    if (!plans && !onepass) return NULL;
    AttentionForm form = form_of(a);
    uint64_t room = room_of(l->call, a);
    AttentionChoice *c = find_choice(&form, room);
    bool may = look != LOOK_NOT || shared.wish == WISH_CUDNN || shared.wish == WISH_ONEPASS;
    if (!c && may && shared.n < MAX_FORMS && (onepass || parts_version(why, true))) {
        c = &shared.choice[shared.n++];
        *c = (AttentionChoice){.form = form,
                               .room = room,
                               .onepass = onepass,
                               .number = {[CANDIDATE_ONEPASS] = PLAN_ONEPASS},
                               .which = CANDIDATE_OWN};
        decide_choice(c, l, a, look);
    }
    if (!c || c->which == CANDIDATE_OWN) return NULL;
    return (c->which == CANDIDATE_ONEPASS ? onepass : plans) ? c : NULL;
}

bool attention_rehearse(const Launch *l, bool timed) {
    Attention a;
    bool forced = shared.wish == WISH_CUDNN || shared.wish == WISH_ONEPASS;
    Examination look = forced ? LOOK_RIGHT : timed ? LOOK_FAST : LOOK_NOT;
    if (forced && tuning_tries()) look = LOOK_NOT; /* the run itself does that */
    OpKind op = l->call->op;
    if (op != OP_attention && op != OP_attention_grad && op != OP_attention_packed &&
        op != OP_attention_packed_grad)
        return false;
    if (!attention_of_call(l->call, &a)) return false;
    pthread_mutex_lock(&shared.lock);
    int before = shared.n;
    if (look != LOOK_NOT) choice_for(l, &a, look);
    bool tried = shared.n > before;
    pthread_mutex_unlock(&shared.lock);
    return tried;
}

/* ---- opening */

int attention_open(const GpuKind *gpu, char *error) {
    int wish;
    char why[ERROR_BYTES];
    int code =
        read_setting("FSDP_CUDA_ATTENTION", "own, onepass, cudnn or auto", WISH_AUTO, &wish, error);
    if (code) return code;
    if (wish == WISH_ONEPASS && !gpu_has_warpgroups(gpu))
        return fail_with(
            error, EXIT_ENVIRONMENT,
            "FSDP_CUDA_ATTENTION=onepass: its kernel needs a GPU of compute capability 9.0 "
            "(Hopper), and here kernels run as on %d.%d: choose own, cudnn or auto",
            gpu->code / 10, gpu->code % 10);
    pthread_mutex_lock(&shared.lock);
    if (shared.users++ == 0) shared.wish = wish;
    if (shared.wish == WISH_CUDNN && !parts_version(why, false))
        code = fail_with(error, EXIT_ENVIRONMENT, "FSDP_CUDA_ATTENTION=cudnn: %s", why);
    pthread_mutex_unlock(&shared.lock);
    if (code) attention_close();
    return code;
}

void attention_close(void) {
    pthread_mutex_lock(&shared.lock);
    if (shared.users > 0 && --shared.users == 0) {
        for (int i = 0; i < shared.n; i++) parts_forget(&shared.choice[i]);
        parts_close();
        shared.n = 0;
    }
    pthread_mutex_unlock(&shared.lock);
}

/* ---- the ops */

static int attention_any(const Launch *l) {
    Attention a;
    char why[ERROR_BYTES];
    int code = 0;
    if (!attention_of_call(l->call, &a)) return bad_operands(l);
    pthread_mutex_lock(&shared.lock);
    const AttentionChoice *c = choice_for(l, &a, LOOK_NOT);
    if (c && c->which == CANDIDATE_ONEPASS)
        code = attention_onepass(l, &a);
    else if (c && parts_run(c, c->which, l, &a, why))
        code = launch_error(l, EXIT_ENVIRONMENT, "%s", why);
    pthread_mutex_unlock(&shared.lock);
    return c ? code : attention_own(l, &a);
}

KERNEL(attention) { return attention_any(l); }
KERNEL(attention_biased) { return attention_any(l); }
KERNEL(attention_biased_each) { return attention_any(l); }
KERNEL(attention_sunk) { return attention_any(l); }
KERNEL(attention_packed) { return attention_any(l); }
KERNEL(attention_grad) { return attention_any(l); }
KERNEL(attention_biased_grad) { return attention_any(l); }
KERNEL(attention_biased_each_grad) { return attention_any(l); }
KERNEL(attention_packed_grad) { return attention_any(l); }
