/* Ten training steps as the CUDA runtime sees them, for the test of watch.c:
 *
 *     watched LIBCUDART [malloc | wait]
 *
 * The word plants an allocation, or a wait inside a step, in the sixth step. The runtime is loaded
 * as fsdp-run loads a device module: by name, with its symbols visible to no other module. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef struct Dim3 {
    unsigned x, y, z;
} Dim3;
static void *library;

/* Where a module's references lead: to what was loaded first, else to the runtime. */
static void *symbol(const char *name) {
    void *found = dlsym(RTLD_DEFAULT, name);
    return found ? found : dlsym(library, name);
}

int main(int argc, char **argv) {
    if (argc < 2 || !(library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL))) return 2;
    int (*allocate)(void **, size_t), (*release)(void *), (*wait)(void *), (*graph)(void *, void *);
    int (*launch)(const void *, Dim3, Dim3, void **, size_t, void *);
    int (*copy)(void *, const void *, size_t, int, void *);
    *(void **)&allocate = symbol("cudaMalloc");
    *(void **)&release = symbol("cudaFree");
    *(void **)&wait = symbol("cudaStreamSynchronize");
    *(void **)&graph = symbol("cudaGraphLaunch");
    *(void **)&launch = symbol("cudaLaunchKernel");
    *(void **)&copy = symbol("cudaMemcpyAsync");
    const char *plant = argc > 2 ? argv[2] : "";
    void *arena, *planted = NULL;
    char metrics[8];
    int bad = allocate(&arena, 64);
    memset(arena, 0, 64);
    for (int step = 0; step < 10; step++) {
        bad |= copy(arena, "tokens", 6, 1, NULL);
        if (step == 0) bad |= launch(NULL, (Dim3){1, 1, 1}, (Dim3){1, 1, 1}, NULL, 0, NULL);
        if (step > 0) bad |= graph(NULL, NULL);
        if (step == 5 && !strcmp(plant, "malloc")) bad |= allocate(&planted, 8);
        if (step == 5 && !strcmp(plant, "wait")) bad |= wait(NULL);
        bad |= copy(metrics, arena, 4, 2, NULL);
        bad |= wait(NULL);
    }
    bad |= wait(NULL) | release(arena);
    if (planted) bad |= release(planted);
    return bad;
}
