#include "worker.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct Worker {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void (*job)(void *user);
    void *user;
    bool busy, ends;
};

static void *run_jobs(void *user) {
    Worker *w = user;
    pthread_mutex_lock(&w->lock);
    while (!w->ends || w->busy) {
        if (!w->busy) {
            pthread_cond_wait(&w->changed, &w->lock);
            continue;
        }
        pthread_mutex_unlock(&w->lock);
        w->job(w->user);
        pthread_mutex_lock(&w->lock);
        w->busy = false;
        pthread_cond_signal(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static int start_thread(Worker *w, size_t stack) {
    sigset_t all, before;
    pthread_attr_t attributes;
    int number = pthread_attr_init(&attributes);
    if (number) return number;
    sigfillset(&all);
    sigdelset(&all, SIGBUS); /* of a mapped file that was cut off: for the thread that reads it */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (stack) pthread_attr_setstacksize(&attributes, stack);
    number = pthread_create(&w->thread, &attributes, run_jobs, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return number;
}

int worker_open(Worker **out, void (*job)(void *user), void *user, size_t stack) {
    Worker *w = *out = calloc(1, sizeof *w);
    if (!w) return ENOMEM;
    w->job = job;
    w->user = user;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    int number = start_thread(w, stack);
    if (number) {
        free(w);
        *out = NULL;
    }
    return number;
}

void worker_start(Worker *w) {
    pthread_mutex_lock(&w->lock);
    w->busy = true;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

bool worker_runs(Worker *w) {
    pthread_mutex_lock(&w->lock);
    bool busy = w->busy;
    pthread_mutex_unlock(&w->lock);
    return busy;
}

void worker_wait(Worker *w) {
    pthread_mutex_lock(&w->lock);
    while (w->busy) pthread_cond_wait(&w->changed, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

void worker_close(Worker *w) {
    if (!w) return;
    pthread_mutex_lock(&w->lock);
    w->ends = true;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->changed);
    free(w);
}
