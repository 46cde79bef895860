/* large.c */
#ifndef FSDPC_TESTS_GPU_LARGE_H
#define FSDPC_TESTS_GPU_LARGE_H

#include "kernels/cases.h"

extern const Case large_cases[];
extern const int n_large_cases;

#endif
