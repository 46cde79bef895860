/* A worker: a second thread that runs one job at a time for the thread that opened it. The reader
 * uses it to read the next block ahead, the writer to write blocks in parallel.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "checkpoint.h"

struct CkWorker {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void (*job)(void *user);
    void *user;
    bool busy, ends;
};

static void *run_jobs(void *user) {
    CkWorker *b = user;
    pthread_mutex_lock(&b->lock);
    while (!b->ends || b->busy) {
        if (!b->busy) {
            pthread_cond_wait(&b->changed, &b->lock);
            continue;
        }
        pthread_mutex_unlock(&b->lock);
        b->job(b->user);
        pthread_mutex_lock(&b->lock);
        b->busy = false;
        pthread_cond_signal(&b->changed);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

/* Signals go to other threads. The stack is small because sanitizers have little address space; it
 * also holds the frames of a device's copies. */
static int start_thread(CkWorker *b) {
    enum { STACK = 1 << 20 };
    sigset_t all, before;
    pthread_attr_t attributes;
    int number = pthread_attr_init(&attributes);
    if (number) return number;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_setstacksize(&attributes, STACK);
    number = pthread_create(&b->thread, &attributes, run_jobs, b);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return number;
}

int ck_worker_open(CkWorker **out, void (*job)(void *user), void *user) {
    CkWorker *b = *out = calloc(1, sizeof *b);
    if (!b) return ENOMEM;
    b->job = job;
    b->user = user;
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->changed, NULL);
    int number = start_thread(b);
    if (number) {
        free(b);
        *out = NULL;
    }
    return number;
}

void ck_worker_start(CkWorker *b) {
    pthread_mutex_lock(&b->lock);
    b->busy = true;
    pthread_cond_signal(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

void ck_worker_wait(CkWorker *b) {
    pthread_mutex_lock(&b->lock);
    while (b->busy) pthread_cond_wait(&b->changed, &b->lock);
    pthread_mutex_unlock(&b->lock);
}

void ck_worker_close(CkWorker *b) {
    if (!b) return;
    pthread_mutex_lock(&b->lock);
    b->ends = true;
    pthread_cond_signal(&b->changed);
    pthread_mutex_unlock(&b->lock);
    pthread_join(b->thread, NULL);
    pthread_mutex_destroy(&b->lock);
    pthread_cond_destroy(&b->changed);
    free(b);
}
