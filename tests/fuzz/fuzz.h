/* The functions that libFuzzer calls, and those that it provides. */
#ifndef FSDPC_FUZZ_H
#define FSDPC_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t n, size_t max, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t na, const uint8_t *b, size_t nb,
                                 uint8_t *out, size_t max, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t n, size_t max);

#endif
