/* Products of bf16 matrices by oneDNN's matmul: see bf16.c. */
#ifndef FSDPC_CPU_BF16_H
#define FSDPC_CPU_BF16_H

#include <stdbool.h>
#include <stdint.h>

/* c[m,n] = a[m,k] b[k,n] (+ c): a and b bf16 with these strides, c f32 without gaps. A packed b
 * lies in groups of 64 columns, each in pairs along k (bf16_rows.h), k being filled up with zeros
 * to a multiple of 32; a has no gaps then. */
typedef struct Bf16Shape {
    int64_t m, n, k, a_row, a_col, b_row, b_col;
    int64_t accumulate, packed; /* 0 or 1 */
} Bf16Shape;

typedef struct Bf16 Bf16;               /* what a device keeps */
typedef struct Bf16Product Bf16Product; /* what it keeps for a shape */

/* Does this processor multiply bf16, and is oneDNN in this build? */
bool have_bf16(void);
/* NULL: no memory. */
Bf16 *bf16_open(int threads);
void bf16_close(Bf16 *b);
/* Finds or makes it; NULL: the library failed. */
const Bf16Product *bf16_product(Bf16 *b, const Bf16Shape *shape);
/* By the thread with that number, below `threads`. false: the library failed. */
bool bf16_multiply(Bf16 *b, const Bf16Product *p, int thread, const void *x, const void *y,
                   float *c);

#endif
