/* How a GPU is shared between NCCL's kernels and the products that overlap them: transport nccl
 * (runtime/transports/nccl) limits its communicators, device cuda (runtime/devices/cuda) tells
 * cuBLASLt what is left.
 *
 * SHARE(purpose of a communicator, multiprocessors that its kernels take at most, policy of NCCL)
 */
#ifndef FSDPC_SM_BUDGET_H
#define FSDPC_SM_BUDGET_H

#include <stdio.h>
#include <stdlib.h>

#include "transport.h"

/* ZERO: by copy engines, where NCCL can (all-gathers between GPUs of one NVLink domain from a
 * symmetric window); DEFAULT: as NCCL likes. */
#define SHARES                                                                                     \
    SHARE(COMM_GATHER, 16, ZERO)                                                                   \
    SHARE(COMM_REDUCE, 16, DEFAULT)

typedef enum SharePolicy { SHARE_DEFAULT, SHARE_ZERO } SharePolicy;
typedef struct Share {
    int32_t multiprocessors; /* 0: no limit */
    SharePolicy policy;
} Share;

enum { MOST_SHARED = 64 };

/* The shares of the purposes, or FSDP_NCCL_CTAS=N for all of them; 0: NCCL and cuBLASLt decide. */
static inline int sm_budget_read(Share out[COMM_PURPOSES], char *error) {
    const char *text = getenv("FSDP_NCCL_CTAS");
    char *end = NULL;
    long n = text ? strtol(text, &end, 10) : 0;
    if (text && (end == text || *end || n < 0 || n > MOST_SHARED)) {
        snprintf(error, ERROR_BYTES,
                 "FSDP_NCCL_CTAS=%.100s: choose a number of multiprocessors from 1 to %d, 0 for no "
                 "limit, or leave it unset",
                 text, MOST_SHARED);
        return EXIT_ENVIRONMENT;
    }
    for (int i = 0; i < COMM_PURPOSES; i++) out[i] = (Share){0, SHARE_DEFAULT};
#define SHARE(purpose, count, wanted) out[purpose] = (Share){count, SHARE_##wanted};
    SHARES
#undef SHARE
    for (int i = 0; text && i < COMM_PURPOSES; i++) {
        out[i].multiprocessors = (int32_t)n;
        if (n == 0) out[i].policy = SHARE_DEFAULT;
    }
    return 0;
}

#endif
