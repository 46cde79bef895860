/* The operands of a call, for race.cu: what the launches until race_call_end may touch. */
#ifndef FSDPC_TESTS_CUDA_RACE_TABLE_H
#define FSDPC_TESTS_CUDA_RACE_TABLE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { RACE_INPUT, RACE_OUTPUT, RACE_WORKSPACE };

void race_call_begin(const char *name);
/* Inputs first. number: -1 where there is only one. */
void race_call_range(const char *name, int number, const void *begin, uint64_t bytes, int how);
void race_call_end(void);

#ifdef __cplusplus
}
#endif
#endif
