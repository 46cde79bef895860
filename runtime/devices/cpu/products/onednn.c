/* Matrix products through oneDNN's dnnl_sgemm, the call that its versions 2 and 3 share.
 *
 * The result is cut into one rectangle a thread (product.c), which calls the library for its own:
 * one core reaches 150 to 170 GFLOP/s that way, while the library's own threads lose up to half of
 * that at the sizes of a small batch. For f32 its matmul primitive was not faster in any layout,
 * and must be kept for each shape (bf16.c does). The library allocates its packing buffers itself.
 *
 * The library must never open a team of its own: it plans for as many threads as OpenMP promises
 * and computes nonsense if it is granted fewer. Being called inside our region does not keep it
 * from that, since a team of one counts as no region; so each of our threads tells OpenMP to
 * start no others.
 *
 * Where a rectangle ends must not change a bit. That holds for the library's kernels for AVX-512,
 * whose sums over k are the same in whole and in partial blocks. Its kernels for AVX2 add in
 * another order at the edge of a rectangle (version 2.6), so with these the number of threads would
 * show. There, as without oneDNN (HAVE_ONEDNN not set), the device uses product.c, which is no
 * slower on AVX2 (`tests/bench/kernels`, products of one step of GPT-2, two threads of a Zen 3:
 * 1.36 s, the library 1.42 s).
 */
#include "kernel.h"

#ifdef HAVE_ONEDNN

#include <dnnl.h>

bool have_onednn(void) { return true; }

bool onednn_ignores_cuts(void) {
    unsigned isa = dnnl_get_effective_cpu_isa();
    return (isa & dnnl_cpu_isa_avx512_core) == dnnl_cpu_isa_avx512_core;
}

bool onednn_product(const Product *p) {
    if (p->m <= 0 || p->n <= 0) return true;
    /* A vector has both strides 1: the library expects the leading dimension of a matrix. */
    bool a_along = p->a_col == 1 && p->a_row >= p->k;
    bool b_along = !(p->b_col == 1 && p->b_row >= p->n);
    return dnnl_sgemm(a_along ? 'N' : 'T', b_along ? 'T' : 'N', p->m, p->n, p->k, 1.0f, p->a,
                      a_along ? p->a_row : p->a_col, p->b, b_along ? p->b_col : p->b_row,
                      p->accumulate ? 1.0f : 0.0f, p->c, p->c_row) == dnnl_success;
}

#else

bool have_onednn(void) { return false; }
bool onednn_ignores_cuts(void) { return false; }
bool onednn_product(const Product *p) {
    (void)p;
    return false;
}

#endif
