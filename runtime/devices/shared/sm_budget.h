/* How a GPU is shared between NCCL's kernels and the products that overlap them: transport nccl
 * (runtime/transports/nccl) limits its communicators, device cuda (runtime/devices/cuda) tells
 * cuBLASLt what is left.
 */
#ifndef FSDPC_SM_BUDGET_H
#define FSDPC_SM_BUDGET_H

#include <stdio.h>
#include <stdlib.h>

#include "transport.h"

/* NCCL's policy: SHARE_ZERO: by copy engines, where NCCL can (all-gathers between GPUs of one
 * NVLink domain from a symmetric window); SHARE_DEFAULT: as NCCL likes. */
typedef enum SharePolicy { SHARE_DEFAULT, SHARE_ZERO } SharePolicy;
typedef struct Share {
    int32_t multiprocessors; /* that a communicator's kernels take at most; 0: no limit */
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
    static const Share shares[COMM_PURPOSES] = {
        [COMM_GATHER] = {16, SHARE_ZERO}, [COMM_REDUCE] = {16, SHARE_DEFAULT}};
    for (int i = 0; i < COMM_PURPOSES; i++) {
        out[i] = shares[i];
        if (text) out[i].multiprocessors = (int32_t)n;
        if (text && n == 0) out[i].policy = SHARE_DEFAULT;
    }
    return 0;
}

#endif
