/* What emulate_warpgroup.h reports to race.cu. Without FSDP_RACE these functions are empty. */
#ifndef FSDPC_TESTS_CUDA_RACE_WARPGROUP_H
#define FSDPC_TESTS_CUDA_RACE_WARPGROUP_H

#include <cstddef>

#ifdef FSDP_RACE
/* Read by a product of a warpgroup, which sees what its writer has fenced. */
void race_product_read(const void *p, size_t bytes, const void *at);
void race_proxy_fence();
/* A thread lets others come, in another block too; a warp comes after those that gave it its turn.
 */
void race_turn_given(const void *turn);
void race_turn_taken(const void *turn);
#else
inline void race_product_read(const void *, size_t, const void *) {}
inline void race_proxy_fence() {}
inline void race_turn_given(const void *) {}
inline void race_turn_taken(const void *) {}
#endif

#endif
