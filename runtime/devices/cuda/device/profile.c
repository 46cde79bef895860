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

typedef struct TimedInstr {
    cudaEvent_t begin, end; /* NULL until it is launched */
    uint32_t seen;
    float ms[SAMPLES]; /* the latest ones */
} TimedInstr;

struct GpuProfile {
    const Plan *plan;
    FILE *file;
    const char *path;
    TimedInstr *timed;                   /* by instruction */
    uint32_t *calls;                     /* by program */
    uint64_t first, next, last, current; /* instructions of the program under way */
    uint32_t program;
};

static int write_failed(char *error, const char *path) {
    return fail_with(error, EXIT_ENVIRONMENT, "FSDP_CUDA_PROFILE=%.300s: %s", path,
                     strerror(errno));
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
                      .timed = calloc(plan->n_instrs + 1, sizeof *p->timed),
                      .calls = calloc(plan->n_programs + 1, sizeof *p->calls)};
    p->file = fopen(path, "we");
    *out = p;
    return p->timed && p->calls && p->file ? 0 : write_failed(error, path);
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
    TimedInstr *t = &p->timed[k];
    if (!t->begin) e = cudaEventCreateWithFlags(&t->begin, cudaEventDefault);
    if (!e && !t->end) e = cudaEventCreateWithFlags(&t->end, cudaEventDefault);
    return e ? e : cudaEventRecord(t->begin, stream);
}

cudaError_t profile_after(GpuProfile *p, cudaStream_t stream) {
    uint64_t k = p->current;
    p->current = NOBODY;
    return k == NOBODY ? cudaSuccess : cudaEventRecord(p->timed[k].end, stream);
}

cudaError_t profile_collect(GpuProfile *p) {
    cudaError_t e = cudaDeviceSynchronize();
    bool counts = p->calls[p->program]++ >= WARM_UP;
    for (uint64_t k = p->first; k < p->next && !e && counts; k++) {
        TimedInstr *t = &p->timed[k];
        if (t->end) e = cudaEventElapsedTime(&t->ms[t->seen++ % SAMPLES], t->begin, t->end);
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
    TimedInstr *t = &p->timed[k];
    uint32_t program = 0, n = MIN(t->seen, (uint32_t)SAMPLES);
    while (p->plan->programs[program].first_instr + p->plan->programs[program].n_instr <= k)
        program++;
    qsort(t->ms, n, sizeof t->ms[0], by_size);
    fprintf(
        p->file,
        "%" PRIu64 "\t%" PRIu32 "\t%s\t%d\t%" PRIu32 "\t%.2f\t%.2f\t%" PRIu64 "\t%" PRIu64 "\t%s\n",
        k, program, launch_op_name((int)in->op), in->stream, t->seen, (double)t->ms[n / 2] * 1e3,
        (double)t->ms[0] * 1e3, in->flops, in->bytes, p->plan->strings + in->path);
}

int profile_close(GpuProfile *p, char *error) {
    int code = 0;
    if (!p) return 0;
    if (p->file) {
        fprintf(p->file, "instruction\tprogram\top\tstream\tcalls\tmedian_us\tleast_us\tflops\t"
                         "bytes\tpath\n");
        for (uint64_t k = 0; p->timed && k < p->plan->n_instrs; k++)
            if (p->timed[k].seen) print_instruction(p, k);
        if (ferror(p->file) | fclose(p->file)) code = write_failed(error, p->path);
    }
    for (uint64_t k = 0; p->timed && k < p->plan->n_instrs; k++) {
        if (p->timed[k].begin) cudaEventDestroy(p->timed[k].begin);
        if (p->timed[k].end) cudaEventDestroy(p->timed[k].end);
    }
    free(p->timed);
    free(p->calls);
    free(p);
    return code;
}
