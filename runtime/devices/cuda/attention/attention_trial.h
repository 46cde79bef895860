/* Which candidates compute an attention correctly, and how fast: measured before the first step. */
#ifndef FSDPC_ATTENTION_TRIAL_H
#define FSDPC_ATTENTION_TRIAL_H

#include "attention_parts.h"

/* A call through candidate `which`, issued on the stream. 0, or 1 with the reason. */
typedef int AttentionRun(const AttentionChoice *c, int which, const Launch *l, const Attention *a,
                         char *why);

/* attention_trial.c: runs the own kernels, and by `run` each candidate, on the call's own memory,
 * which it fills with random numbers. good[i]: candidate i computes the same, and the same bits
 * twice. Microseconds of a call; undefined for candidates that are not good. */
typedef struct Trial {
    bool good[CANDIDATES];
    float own, time[CANDIDATES];
    char why_plans[WHY_BYTES], why_onepass[WHY_BYTES]; /* of the last one that was not good */
    uint64_t form; /* hash by which candidates are noted (tuning.h); 0: none is */
} Trial;
void attention_trial(const AttentionChoice *c, AttentionRun *run, const KernelCall *call,
                     const Attention *a, cudaStream_t stream, bool timed, Trial *out);

/* "attention backward [2, 24, 2, 16]" */
enum { ATTENTION_NAME = 112 };
void attention_name(const Attention *a, char *out);

#endif
