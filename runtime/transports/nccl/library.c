/* Calls of NCCL and CUDA that every file of the transport makes, also in the guard's thread: how
 * much memory is free, what an error means, and aborting all communicators at once.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "context.h"

uint64_t gpu_free_bytes(void) {
    size_t have = 0, total = 0;
    return cudaMemGetInfo(&have, &total) == cudaSuccess ? have : 0;
}

int cuda_result(cudaError_t e, const char *label, char *error) {
    if (!e) return 0;
    return fail_with(error, EXIT_ENVIRONMENT, "%.300s: %s (%s)", label, cudaGetErrorString(e),
                     cudaGetErrorName(e));
}

void count_bytes_since(Context *c, uint64_t before) {
    uint64_t after = before ? gpu_free_bytes() : 0;
    if (before > after) c->bytes += before - after;
}

static const char *help_for(ncclResult_t result, const char *text) {
    static const struct {
        const char *word, *help;
    } helps[] = {
        {"Duplicate GPU", "NCCL needs a GPU for each rank; --transport local runs several on one "
                          "(tests: a NCCL_HOSTID for each process)"},
        {"out of memory", "to leave NCCL more of the GPU's memory, lower train.batch, raise "
                          "train.accumulate or use smaller units"},
        {"socket interface", "NCCL_SOCKET_IFNAME=NAME names the network interface to use"},
        {"shared memory", "NCCL needs space in /dev/shm (docker: --shm-size=1g --ipc=host)"},
        {"driver", "look at nvidia-smi: this NCCL may need a newer driver"},
    };
    for (size_t i = 0; i < ARRAY_LEN(helps); i++)
        if (strcasestr(text, helps[i].word)) return helps[i].help;
    if (result == ncclRemoteError) return "check the other ranks and the network between them";
    return "NCCL_DEBUG=INFO shows what NCCL does";
}

int nccl_failed(const char *what, ncclResult_t result, char *error) {
    char said[256] = "";
    const char *last = ncclGetLastError(NULL);
    for (size_t n = 0; last && *last && n < sizeof said - 1; last++) {
        if (n == 0 && strchr(" \n:", *last)) continue;
        said[n++] = *last == '\n' ? ' ' : *last;
    }
    for (size_t n = strlen(said); n > 0 && said[n - 1] == ' ';) said[--n] = 0;
    snprintf(error, ERROR_BYTES,
             "%.130s: NCCL: %.70s%s%.170s\n"
             "help: %.120s",
             what, ncclGetErrorString(result), *said ? ": " : "", said, help_for(result, said));
    return result == ncclRemoteError ? EXIT_RANK : EXIT_ENVIRONMENT;
}

/* In one group: the flags that end kernels and waits are set for all before any is taken apart,
 * which may wait for the others' parts, and for recordings that still exist. The root is first: it
 * may be about to make one of the others. */
void communicators_abort(Context *c) {
    struct timespec until = clock_after(CLOCK_MONOTONIC, ENTER_SECONDS * INT64_C(1000000000));
    if (pthread_mutex_clocklock(&c->lock, CLOCK_MONOTONIC, &until)) return;
    cudaSetDevice(c->device);
    ncclGroupStart();
    if (c->row[c->root].comm) ncclCommAbort(c->row[c->root].comm);
    for (uint32_t r = 0; r < c->rows; r++) {
        Communicator *m = &c->row[r];
        if (m->comm && r != c->root && !m->borrowed) ncclCommAbort(m->comm);
    }
    ncclGroupEnd();
    for (uint32_t r = 0; r < c->rows; r++) c->row[r].comm = NULL;
    pthread_mutex_unlock(&c->lock);
}
