/* Matrix products with bf16 operands: see tiles.c; and what only linear.c asks of product.c. */
#ifndef FSDPC_CPU_TILES_H
#define FSDPC_CPU_TILES_H

#include "kernel.h"

/* Element (i, j) of matrix number s is at[s * step + i * row + j * col]. */
typedef struct ProductMatrix {
    const void *at; /* NULL: there is none */
    int dtype;
    int64_t row, col, step;
} ProductMatrix;

/* c[m,n] = start + a[m,k] b[k,n] for each of `batch` matrices; sums in f32, rounded once. No size
 * is zero. Of the strides of a and of b one is 1, and so are start.col and c.col; start may be c.
 */
typedef struct Tiles {
    int64_t m, n, k, batch;
    ProductMatrix a, b, start;
    ProductMatrix c;   /* is written to */
    bool rounds_first; /* the product is rounded before start is added, and the sum again */
} Tiles;

/* In a rehearsal only what the product needs is made. An exit code, after writing the message. */
int CPU_NAME(product_tiles)(const Launch *l, const Tiles *p);

/* c = a b (+ c) of p on the calling thread, by product.c; a and b, f32 or bf16, take the place of
 * p's. buffer: PRODUCT_FLOATS. */
void CPU_NAME(product_panels)(float *buffer, const Product *p, const ProductMatrix *a,
                              const ProductMatrix *b);

/* c += the product, which is rounded to f32 first. false: the library failed. */
bool CPU_NAME(add_product)(const DeviceContext *cpu, const Product *p);

#endif
