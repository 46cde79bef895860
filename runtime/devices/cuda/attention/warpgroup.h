/* Hopper's products of a warpgroup (wgmma): 128 threads multiply 64 x 16 by 16 x 64 numbers in
 * bf16, in the background, and add to 64 x 64 sums in f32 that lie in their registers. The right
 * operand is in shared memory, the left one there or in registers.
 *
 * Panels. An operand in shared memory is a panel: rows of 64 numbers (128 bytes), one after the
 * other from a multiple of 1024 bytes on, in which the eight pieces of 16 bytes of row r stand at
 * piece ^ (r % 8) ("128-byte swizzle"), so that neither rows nor columns of pieces meet in a bank.
 * What a row is differs: of a panel that is not turned, a row is one of the 64 rows (left) or
 * columns (right) of the product, and 16 of its numbers are added over; of a turned one, a row is
 * one of the 16 that are added over, and has all 64. So the next product of a sum begins 16 numbers
 * further in the first case and 16 rows further in the second.
 *
 * Sums and left operands in registers lie as those of matrix_multiply (intrinsics.h): warp w of the
 * group has rows 16 w .. 16 w + 15, and d[4 j ..] are columns 8 j ...
 *
 * Order: warpgroup_fence in front of the first product whose registers were touched otherwise; what
 * threads wrote to shared memory is seen after shared_for_products and a barrier; sums and operands
 * must not be touched until warpgroup_wait. tests/cuda/emulate_warpgroup.h has the same for the
 * CPU.
 */
#ifndef FSDPC_CUDA_WARPGROUP_H
#define FSDPC_CUDA_WARPGROUP_H

#include "intrinsics.h"

/* Is what is being compiled for a GPU that has them? */
#if defined FSDP_EMULATE || defined __CUDA_ARCH_FEAT_SM90_ALL
#define HAS_WARPGROUPS 1
#else
#define HAS_WARPGROUPS 0
#endif

#ifdef FSDP_EMULATE
#include "emulate_warpgroup.h"
#endif

enum { WARPGROUP = 128, PANEL = 64, PANEL_ALIGN = 1024, SUMS = 32 };

/* Where number `column` of a panel's row is. */
DEVICE int in_panel(int row, int column) {
    return row * PANEL + ((column / 8) ^ (row % 8)) * 8 + column % 8;
}

/* The operand that begins `numbers` behind an address in shared memory. Bits 0 .. 13: the address;
 * 16 .. 29: the step from one 64 to the next (there is none); 32 .. 45: that from eight rows to the
 * next eight, all three in 16 bytes; 62 and 63: the kind of swizzle. Only the lower word is
 * computed while running. */
DEVICE uint64_t panel_operand(uint32_t address, int numbers) {
    const uint32_t eight_rows = 8 * PANEL * 2 / 16, swizzle_128 = 1;
    uint32_t low = ((address & 0x3ffff) >> 4 | eight_rows << 16) + (uint32_t)(numbers * 2 / 16);
    return (uint64_t)(eight_rows | swizzle_128 << 30) << 32 | low;
}

/* The compiler knows nothing of products on their way: these numbers have their values here,
 * neither earlier nor later. After a wait for the sums that it was for; in front of a fence for
 * what a product will use. */
#ifndef FSDP_EMULATE
template <int n> DEVICE void settle(float (&x)[n]) {
#pragma unroll
    for (int i = 0; i < n; i++) asm volatile("" : "+f"(x[i])::"memory");
}
template <int n> DEVICE void settle(uint32_t (&x)[n][4]) {
#pragma unroll
    for (int i = 0; i < 4 * n; i++) asm volatile("" : "+r"(x[i / 4][i % 4])::"memory");
}

DEVICE uint32_t shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
DEVICE void warpgroup_fence(void) { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
DEVICE void warpgroup_commit(void) {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/* All groups of products but the last `pending` are done. */
template <int pending> DEVICE void warpgroup_wait(void) {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}
DEVICE void shared_for_products(void) {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

#define THE_SUMS                                                                                   \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "  \
    "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}"
#define FOUR_SUMS(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define ALL_SUMS                                                                                   \
    FOUR_SUMS(0), FOUR_SUMS(4), FOUR_SUMS(8), FOUR_SUMS(12), FOUR_SUMS(16), FOUR_SUMS(20),         \
        FOUR_SUMS(24), FOUR_SUMS(28)

/* d = left right, or d += left right. */
template <bool left_turned, bool right_turned>
DEVICE void warpgroup_multiply(float *d, uint64_t left, uint64_t right, bool add) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 " THE_SUMS
                 ", %32, %33, p, 1, 1, %35, %36;\n}"
                 : ALL_SUMS
                 : "l"(left), "l"(right), "r"((int)add), "n"(left_turned), "n"(right_turned));
}
/* d += left right, the right operand turned. */
DEVICE void warpgroup_multiply_turned(float *d, const uint32_t left[4], uint64_t right) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 " THE_SUMS
                 ", {%32, %33, %34, %35}, %36, p, 1, 1, 1;\n}"
                 : ALL_SUMS
                 : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "l"(right), "r"(1));
}
#undef THE_SUMS
#undef FOUR_SUMS
#undef ALL_SUMS

/* ---- turns: warps of several blocks that come one after the other, by a number in device memory
 */

/* A warp waits until *turn is `wanted`; what the warp that set it did before is seen. A turn that
 * does not come in some seconds never will: false for lane 0, and for all who wait after that,
 * since *given_up says so, which was 0. */
enum { MOST_POLLS = 1 << 22, POLLS_BETWEEN = 1 << 10 };
DEVICE uint32_t acquire_word(const uint32_t *p) {
    uint32_t x;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
    return x;
}
DEVICE bool turn_wait(const uint32_t *turn, uint32_t wanted, uint32_t *given_up) {
    bool came = true;
    if (threadIdx.x % WARP == 0) {
        for (int polls = 1; acquire_word(turn) != wanted && came; polls++) {
            if (polls == MOST_POLLS) *(volatile uint32_t *)given_up = 1;
            if (polls % POLLS_BETWEEN == 0) came = acquire_word(given_up) == 0;
        }
    }
    __syncwarp();
    return came;
}
/* The warp has done its part: it is the turn of whoever waits for `next`. */
DEVICE void turn_give(uint32_t *turn, uint32_t next) {
    __syncwarp();
    if (threadIdx.x % WARP == 0)
        asm volatile("fence.acq_rel.gpu;\nst.relaxed.gpu.global.u32 [%0], %1;" ::"l"(turn),
                     "r"(next)
                     : "memory");
}
/* to[0 .. 3] += x, without waiting for it. */
DEVICE void add_four(float *to, const float *x) {
    asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(x[0]),
                 "f"(x[1]), "f"(x[2]), "f"(x[3])
                 : "memory");
}
/* What add_four has left there. */
DEVICE void load_four(float *x, const float *from) {
    asm volatile("ld.relaxed.gpu.global.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(x[0]), "=f"(x[1]), "=f"(x[2]), "=f"(x[3])
                 : "l"(from)
                 : "memory");
}
#endif

#endif
