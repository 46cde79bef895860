/* Numbers to time products with: uniform in [-1, 1), from a hash of their place. */
#include "intrinsics.h"
#include "products.h"

enum { FILL_THREADS = 256 };

__global__ void __launch_bounds__(FILL_THREADS)
    fill_uniform(void *to, int dtype, int64_t n, uint32_t seed) {
    begin_kernel();
    EACH_EIGHT(at, n) {
        Eight v;
        EACH(j) {
            uint32_t h = (uint32_t)(at + j) * 2654435761u ^ seed;
            h = (h ^ (h >> 16)) * 2246822519u;
            h = (h ^ (h >> 13)) * 3266489917u;
            v.x[j] = (float)(int32_t)(h ^ (h >> 16)) * (1.0f / 2147483648.0f);
        }
        store8(to, dtype, at, n - at, v);
    }
}

CUDA_C cudaError_t cuda_fill_uniform(cudaStream_t stream, int dtype, void *to, int64_t n,
                                     uint32_t seed) {
    if (n < 1) return cudaSuccess;
    Launch l = {};
    l.stream = stream;
    int code = LAUNCH(&l, fill_uniform, blocks_for(n, FILL_THREADS * EIGHT), FILL_THREADS, 0, to,
                      dtype, n, seed);
    return code ? cudaErrorLaunchFailure : cudaSuccess;
}
