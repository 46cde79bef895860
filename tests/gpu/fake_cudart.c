/* libcudart as far as watch.c passes it on, without a device: memory is host memory, other calls do
 * nothing. For the test of watch.c. */
#include <stdlib.h>
#include <string.h>

typedef struct Dim3 {
    unsigned x, y, z;
} Dim3;

int cudaMalloc(void **p, size_t n);
int cudaFree(void *p);
int cudaMemGetInfo(size_t *available, size_t *total);
int cudaStreamSynchronize(void *stream);
int cudaEventRecord(void *event, void *stream);
int cudaGraphLaunch(void *graph, void *stream);
int cudaLaunchKernel(const void *f, Dim3 g, Dim3 b, void **a, size_t n, void *stream);
int cudaMemcpyAsync(void *to, const void *from, size_t n, int kind, void *stream);

static size_t allocations;

int cudaMalloc(void **p, size_t n) {
    allocations++;
    *p = malloc(n);
    return *p ? 0 : 2;
}
int cudaFree(void *p) {
    allocations--;
    free(p);
    return 0;
}
int cudaMemGetInfo(size_t *available, size_t *total) {
    *total = 1000;
    *available = 1000 - allocations;
    return 0;
}
int cudaStreamSynchronize(void *stream) { return stream != NULL; }
int cudaEventRecord(void *event, void *stream) { return event || stream; }
int cudaGraphLaunch(void *graph, void *stream) { return graph || stream; }
int cudaLaunchKernel(const void *f, Dim3 g, Dim3 b, void **a, size_t n, void *stream) {
    return f || a || n || stream || g.x + b.x != 2;
}
int cudaMemcpyAsync(void *to, const void *from, size_t n, int kind, void *stream) {
    memcpy(to, from, n);
    return kind > 4 || stream;
}
