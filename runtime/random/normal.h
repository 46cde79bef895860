/* Normally distributed numbers as a function of a key and a place. */
#ifndef FSDPC_NORMAL_H
#define FSDPC_NORMAL_H

#include <stdbool.h>
#include <stdint.h>

/* Numbers 4 * block and on: mean + std * a number of the standard normal distribution. */
void normal_block(const uint32_t key[2], uint64_t block, double mean, double std, double out[4]);
/* Numbers [first, first + n), rounded to floats: many at a time, with the same bits. */
void normal_values(const uint32_t key[2], int64_t first, int64_t n, double mean, double std,
                   float *out);

#endif
