/* How long each instruction takes: profile.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op.h"
#include "profile.h"

enum { SAMPLES = 64, WARM_UP = 2 };
#define NOBODY UINT64_MAX

struct GpuProfile {
    const Plan *plan;
    FILE *file;
    const char *path;
    cudaEvent_t *begin, *end;            /* by instruction; NULL until it is launched */
    float *sample;                       /* [instructions][SAMPLES] milliseconds, the latest ones */
    uint32_t *seen;                      /* by instruction */
    uint32_t *calls;                     /* by program */
    uint64_t first, next, last, current; /* instructions of the program under way */
    uint32_t program;
};

static int write_failed(char *error, const char *path) {
    snprintf(error, ERROR_BYTES, "FSDP_CUDA_PROFILE=%.300s: %s", path, strerror(errno));
    return EXIT_ENVIRONMENT;
}

int profile_open(const RankInfo *rank, GpuProfile **out, char *error) {
    const char *path = getenv("FSDP_CUDA_PROFILE");
    const Plan *plan = rank->plan;
    *out = NULL;
    if (!path || !plan || rank->rank != 0) return 0;
    GpuProfile *p = calloc(1, sizeof *p);
    if (!p) return write_failed(error, path);
    *p = (GpuProfile){.plan = plan,
                      .path = path,
                      .current = NOBODY,
                      .begin = calloc(plan->n_instrs + 1, sizeof *p->begin),
                      .end = calloc(plan->n_instrs + 1, sizeof *p->end),
                      .sample = calloc(plan->n_instrs + 1, SAMPLES * sizeof *p->sample),
                      .seen = calloc(plan->n_instrs + 1, sizeof *p->seen),
                      .calls = calloc(plan->n_programs + 1, sizeof *p->calls)};
    p->file = fopen(path, "we");
    *out = p;
    bool good = p->begin && p->end && p->sample && p->seen && p->calls && p->file;
    return good ? 0 : write_failed(error, path);
}

void profile_program(GpuProfile *p, uint32_t program) {
    const PlanProgram *q = &p->plan->programs[program];
    p->program = program;
    p->first = p->next = q->first_instr;
    p->last = p->first + q->n_instr;
    p->current = NOBODY;
}

cudaError_t profile_before(GpuProfile *p, int op, cudaStream_t stream) {
    uint64_t k = p->next;
    cudaError_t e = cudaSuccess;
    while (k < p->last && p->plan->instrs[k].op != op) k++;
    p->current = k < p->last ? k : NOBODY;
    if (p->current == NOBODY) return e;
    p->next = k + 1;
    if (!p->begin[k]) e = cudaEventCreateWithFlags(&p->begin[k], cudaEventDefault);
    if (!e && !p->end[k]) e = cudaEventCreateWithFlags(&p->end[k], cudaEventDefault);
    return e ? e : cudaEventRecord(p->begin[k], stream);
}

cudaError_t profile_after(GpuProfile *p, cudaStream_t stream) {
    uint64_t k = p->current;
    p->current = NOBODY;
    return k == NOBODY ? cudaSuccess : cudaEventRecord(p->end[k], stream);
}

cudaError_t profile_collect(GpuProfile *p) {
    cudaError_t e = cudaDeviceSynchronize();
    bool counts = p->calls[p->program]++ >= WARM_UP;
    for (uint64_t k = p->first; k < p->next && !e && counts; k++) {
        if (!p->end[k]) continue;
        float ms = 0.0f;
        e = cudaEventElapsedTime(&ms, p->begin[k], p->end[k]);
        p->sample[k * SAMPLES + p->seen[k]++ % SAMPLES] = ms;
    }
    p->first = p->next = p->last;
    return e;
}

static int by_size(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void print_instruction(GpuProfile *p, uint64_t k) {
    const PlanInstr *in = &p->plan->instrs[k];
    uint32_t program = 0, n = MIN(p->seen[k], (uint32_t)SAMPLES);
    while (p->plan->programs[program].first_instr + p->plan->programs[program].n_instr <= k)
        program++;
    float *ms = &p->sample[k * SAMPLES];
    qsort(ms, n, sizeof *ms, by_size);
    fprintf(
        p->file,
        "%" PRIu64 "\t%" PRIu32 "\t%s\t%d\t%" PRIu32 "\t%.2f\t%.2f\t%" PRIu64 "\t%" PRIu64 "\t%s\n",
        k, program, launch_op_name((int)in->op), in->stream, p->seen[k], (double)ms[n / 2] * 1e3,
        (double)ms[0] * 1e3, in->flops, in->bytes, p->plan->strings + in->path);
}

int profile_close(GpuProfile *p, char *error) {
    int code = 0;
    if (!p) return 0;
    if (p->file) {
        fprintf(p->file, "instruction\tprogram\top\tstream\tcalls\tmedian_us\tleast_us\tflops\t"
                         "bytes\tpath\n");
        for (uint64_t k = 0; k < p->plan->n_instrs; k++)
            if (p->seen[k]) print_instruction(p, k);
        if (ferror(p->file) | fclose(p->file)) code = write_failed(error, p->path);
    }
    for (uint64_t k = 0; k < p->plan->n_instrs; k++) {
        if (p->begin && p->begin[k]) cudaEventDestroy(p->begin[k]);
        if (p->end && p->end[k]) cudaEventDestroy(p->end[k]);
    }
    free(p->begin);
    free(p->end);
    free(p->sample);
    free(p->seen);
    free(p->calls);
    free(p);
    return code;
}
