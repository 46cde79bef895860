/* The thread that ends waits that nothing else would end.
 *
 * A rank's thread waits for the GPU in calls that know nothing of other processes. When the run is
 * over (the world says so, or NCCL reports that a communicator broke) this thread aborts all
 * communicators: their kernels end, so do the waits, and the rank's thread learns from guard_check
 * that what it waited for is void. NCCL requires that no thread is inside its functions then; no
 * call is long, since communicators do not block, and a thread that holds the lock for longer is
 * stuck in a broken driver.
 *
 * When the GPU does not answer even then, the world ends the process some seconds later; before
 * that, this thread tells the world what the rank's thread cannot.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "context.h"

enum { LOOK_NS = 200 * 1000 * 1000, TELL_SECONDS = 5 };

void guard_ended(void *user) {
    Context *c = user;
    atomic_store(&c->over, true);
    sem_post(&c->wake);
}

int guard_check(Context *c, char *error) {
    if (atomic_load(&c->has_reason)) {
        snprintf(error, ERROR_BYTES, "%s", c->reason);
        return c->reason_code;
    }
    if (!atomic_load(&c->over)) return 0;
    int code = tcp_ended(c->world, error);
    if (code) return code;
    return fail_with(error, EXIT_RANK, "abandoned: this rank has ended the run");
}

int guard_check_patiently(Context *c, char *error) {
    char text[ERROR_BYTES] = "";
    int code = guard_check(c, error);
    if (code) return code;
    tcp_reason(c->world, text);
    return tcp_ended(c->world, error);
}

/* The first error that a communicator reports; EXIT_RANK or EXIT_ENVIRONMENT with the text. */
static int find_broken(Context *c, char *error) {
    int code = 0;
    if (pthread_mutex_trylock(&c->lock)) return 0;
    for (uint32_t r = 0; r < c->rows && !code && !atomic_load(&c->over); r++) {
        const Communicator *m = &c->row[r];
        ncclResult_t state = ncclSuccess;
        if (!m->comm || m->borrowed) continue;
        ncclResult_t asked = ncclCommGetAsyncError(m->comm, &state);
        if (asked == ncclSuccess && nccl_is_fine(state)) continue;
        RankState s;
        log_state(c, &s);
        char what[LABEL + 32];
        snprintf(what, sizeof what, "%s%.250s", s.waits ? "in " : "",
                 s.waits ? s.label : "the run");
        code = nccl_failed(what, asked ? asked : state, error);
    }
    pthread_mutex_unlock(&c->lock);
    return code;
}

static void check_communicators(Context *c) {
    char error[ERROR_BYTES], end[ERROR_BYTES];
    if (!atomic_load(&c->watches)) return;
    int code = find_broken(c, error);
    if (!code || guard_check_patiently(c, end)) return;
    snprintf(c->reason, sizeof c->reason, "%s", error);
    c->reason_code = code;
    atomic_store(&c->has_reason, true);
    atomic_store(&c->over, true);
}

/* The rank's thread would have said so and ended the process. */
static void report_end(Context *c) {
    int code = c->reason_code;
    if (!tcp_fail(c->world, c->o.rank, &code, c->reason)) return;
    if (!c->may_speak || c->may_speak()) fprintf(stderr, "error: %s\n", c->reason);
}

static void *give_up(void *user) {
    communicators_abort(user);
    return NULL;
}

static void *run_guard(void *user) {
    Context *c = user;
    while (!atomic_load(&c->over) && !atomic_load(&c->closed)) {
        struct timespec until = clock_after(CLOCK_MONOTONIC, LOOK_NS);
        sem_clockwait(&c->wake, CLOCK_MONOTONIC, &until);
        if (!atomic_load(&c->over) && !atomic_load(&c->closed)) check_communicators(c);
    }
    if (!atomic_load(&c->over)) return NULL;
    /* Separately: it waits for recordings to go, and they exist until the process ends. */
    pthread_t aborting;
    if (pthread_create(&aborting, NULL, give_up, c) == 0) pthread_detach(aborting);
    for (int i = 0; i < TELL_SECONDS * 10 && !atomic_load(&c->closed); i++) pause_ms(100);
    if (!atomic_load(&c->closed) && atomic_load(&c->has_reason)) report_end(c);
    return NULL;
}

int guard_open(Context *c, char *error) {
    sem_init(&c->wake, 0, 0);
    c->guarded = pthread_create(&c->guard, NULL, run_guard, c) == 0;
    if (c->guarded) return 0;
    return fail_with(error, EXIT_ENVIRONMENT, "transport nccl: cannot start a thread");
}

/* A guard that is aborting keeps what it still needs: the process ends. */
void guard_close(Context *c) {
    atomic_store(&c->closed, true);
    if (!c->guarded || atomic_load(&c->over)) return;
    sem_post(&c->wake);
    pthread_join(c->guard, NULL);
    sem_destroy(&c->wake);
}
