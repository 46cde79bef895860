/* Tells ThreadSanitizer how OpenMP orders threads. tests/tsan.ninja includes this before every
 * file.
 *
 * libgomp is not instrumented, and its threads wait for each other with futexes of its own, so the
 * end of a parallel region and the code behind it would look like a race. Here every call that the
 * compiler makes for a region, a barrier, or a critical or atomic section goes through a function
 * (the linker's --wrap) that reports the order. Races between the threads of a region are detected
 * as usual. `weak`: each file defines the functions, a module has them once.
 */
#if defined(_OPENMP) && defined(__SANITIZE_THREAD__)
void __tsan_acquire(void *at);
void __tsan_release(void *at);
void __real_GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);
void __real_GOMP_barrier(void);
void __real_GOMP_critical_name_start(void **name);
void __real_GOMP_critical_name_end(void **name);
void __real_GOMP_atomic_start(void);
void __real_GOMP_atomic_end(void);

struct tsan_team { /* of a region */
    void (*body)(void *);
    void *data;
};
__attribute__((weak)) __thread struct tsan_team *tsan_team;
__attribute__((weak)) char tsan_atomic;

__attribute__((weak)) void tsan_member(void *context) {
    struct tsan_team *outer = tsan_team;
    __tsan_acquire(context);
    tsan_team = (struct tsan_team *)context;
    tsan_team->body(tsan_team->data);
    tsan_team = outer;
    __tsan_release(context);
}

__attribute__((weak)) void __wrap_GOMP_parallel(void (*body)(void *), void *data, unsigned threads,
                                                unsigned flags) {
    struct tsan_team team = {body, data};
    __tsan_release(&team);
    __real_GOMP_parallel(tsan_member, &team, threads, flags);
    __tsan_acquire(&team);
}

__attribute__((weak)) void __wrap_GOMP_barrier(void) {
    __tsan_release(tsan_team);
    __real_GOMP_barrier();
    __tsan_acquire(tsan_team);
}

__attribute__((weak)) void __wrap_GOMP_critical_name_start(void **name) {
    __real_GOMP_critical_name_start(name);
    __tsan_acquire(name);
}

__attribute__((weak)) void __wrap_GOMP_critical_name_end(void **name) {
    __tsan_release(name);
    __real_GOMP_critical_name_end(name);
}

__attribute__((weak)) void __wrap_GOMP_atomic_start(void) {
    __real_GOMP_atomic_start();
    __tsan_acquire(&tsan_atomic);
}

__attribute__((weak)) void __wrap_GOMP_atomic_end(void) {
    __tsan_release(&tsan_atomic);
    __real_GOMP_atomic_end();
}
#endif
