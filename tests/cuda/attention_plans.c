/* Asks the real cuDNN for its plans for attention on an H200 that is not present: attention_plans
 * [-v].
 *
 * The library compiles plans from a description of a device ("deviceless" mode). This shows that it
 * accepts our operation graphs, has engines for them, compiles those for compute capability 9.0,
 * and that the scratch memory they need fits within attention_scratch and within the workspace that
 * ops.def gives the op. Only a GPU can show what the plans compute.
 *
 * Prints what failed, then a line with the number of forms; with -v a line for each form.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attention_cudnn.h"
#include "op.h"
#include "util.h"

#ifndef HAVE_CUDNN
#error "built only where cuDNN is"
#endif

static const char H200[] =
    "{\"cudaDeviceId\": 0, \"deviceVer\": 900, \"driverVer\": 13000, "
    "\"maxGridSize\": [2147483647, 65535, 65535], \"maxBlockSize\": [1024, 1024, 64], "
    "\"regsPerBlock\": 65536, \"multiProcessorCount\": 132, \"warpSize\": 32, "
    "\"maxSharedMemoryPerBlock\": 49152, \"maxSharedMemoryPerBlockOptin\": 232448, "
    "\"reservedSharedMemoryPerBlock\": 1024, \"maxRegistersPerSM\": 65536, \"maxCtasPerSM\": 32, "
    "\"maxThreadsPerBlock\": 1024, \"maxThreadsPerSM\": 2048, \"pciDeviceId\": 0, "
    "\"isTccDriver\": 0, \"supportCoopLaunch\": 1, \"smClockRateKHz\": 1980000, "
    "\"memClockRateKHz\": 3201000, \"l2CacheSize\": 62914560, \"deviceName\": \"NVIDIA H200\", "
    "\"totalGlobalMem\": 150754820096}";

typedef struct Form {
    int64_t b, t, s, heads, key_heads, h;
    bool causal, packed;
} Form;

/* The widths of GPT-2 (64), and of others; lengths that are multiples of no tile; several query
 * heads a key head; more keys than queries. */
static const Form forms[] = {
    {16, 1024, 1024, 12, 12, 64, true, true},
    {2, 200, 200, 3, 3, 80, false, true},
    {2, 257, 257, 4, 2, 128, true, false},
    {3, 33, 65, 4, 1, 96, false, false},
};

static Cudnn cudnn;
static int faults, n_plans;

static Type type_of(int dtype, int rank, int64_t a, int64_t b, int64_t c, int64_t d, int64_t e) {
    return (Type){.dtype = (uint8_t)dtype, .rank = (uint8_t)rank, .dim = {a, b, c, d, e}};
}

/* What ops.def gives the op, less the sums of the rows. */
static int64_t room(const Form *f, bool backward) {
    Type q = type_of(DT_BF16, 4, f->b, f->t, f->heads, f->h, 0);
    Type k = type_of(DT_BF16, 4, f->b, f->s, f->key_heads, f->h, 0);
    Type qkv = type_of(DT_BF16, 5, f->b, f->t, 3, f->heads, f->h);
    Type lse = type_of(DT_F32, 3, f->b, f->heads, f->t, 0, 0);
    Attrs attr = {.alpha = 0.125, .causal = f->causal};
    Type separate[] = {q, q, k, k, q, lse}, packed[] = {q, qkv, q, lse}, out[] = {q, k, k};
    if (!backward) {
        Type made[] = {q, lse};
        return f->packed ? op_workspace(OP_attention_packed, DEVICE_CUDA, &attr, 1, &qkv, 2, made)
                         : op_workspace(OP_attention, DEVICE_CUDA, &attr, 3, separate + 1, 2, made);
    }
    int64_t all =
        f->packed ? op_workspace(OP_attention_packed_grad, DEVICE_CUDA, &attr, 4, packed, 1, &qkv)
                  : op_workspace(OP_attention_grad, DEVICE_CUDA, &attr, 6, separate, 3, out);
    return all - type_elements(&lse) * 4;
}

static AttentionForm form_of(const Form *f, bool backward) {
    AttentionForm a;
    memset(&a, 0, sizeof a);
    Strides query = {f->t * f->heads * f->h, f->heads * f->h};
    Strides key = {f->s * f->key_heads * f->h, f->key_heads * f->h};
    Strides in_qkv = {3 * query.batch, 3 * query.position};
    a.b = f->b;
    a.t = f->t;
    a.s = f->s;
    a.heads = f->heads;
    a.key_heads = f->key_heads;
    a.h = f->h;
    a.q = a.d_q = f->packed ? in_qkv : query;
    a.k = a.v = a.d_k = a.d_v = f->packed ? in_qkv : key;
    a.o = a.d_o = query;
    a.alpha = 0.125f;
    a.causal = f->causal;
    a.backward = backward;
    if (!backward) a.d_q = a.d_k = a.d_v = a.d_o = (Strides){0, 0};
    return a;
}

/* The last plan alone, asked for by its number. */
static void try_one(const AttentionPlans *all, const char *what) {
    const AttentionPlan *last = &all->plan[all->n - 1];
    AttentionPlans one;
    char why[ERROR_BYTES];
    int failed =
        attention_plans(&one, &cudnn, NULL, H200, &all->form, UINT64_MAX >> 1, last->config, why);
    if (failed || one.n != 1 || one.plan[0].engine != last->engine ||
        one.plan[0].scratch != last->scratch || one.plan[0].config != last->config) {
        printf("%s: plan %d is another when it is asked for alone\n", what, last->config);
        faults++;
    }
    attention_plans_end(&one);
}

static void try_form(const Form *f, bool backward, bool speaks) {
    char what[160], why[ERROR_BYTES] = "";
    snprintf(what, sizeof what, "%s %s%s B %lld T %lld S %lld H %lld K %lld h %lld",
             f->packed ? "packed" : "separate", f->causal ? "causal " : "",
             backward ? "backward" : "forward", (long long)f->b, (long long)f->t, (long long)f->s,
             (long long)f->heads, (long long)f->key_heads, (long long)f->h);
    AttentionForm form = form_of(f, backward);
    AttentionPlans plans;
    uint64_t bound = attention_scratch(&form), have = (uint64_t)room(f, backward),
             limit = 256 << 20;
    int failed = attention_plans(&plans, &cudnn, NULL, H200, &form, UINT64_MAX >> 1, -1, why);
    if (failed) printf("%s: %s\n", what, why);
    faults += failed != 0;
    for (int i = 0; i < plans.n; i++) {
        const AttentionPlan *p = &plans.plan[i];
        if (speaks)
            printf("%s: engine %lld, %llu bytes of %llu\n", what, (long long)p->engine,
                   (unsigned long long)p->scratch, (unsigned long long)bound);
        if (p->scratch > bound || (p->scratch > have && have < limit)) {
            printf("%s: engine %lld wants %llu bytes, not at most %llu and %llu\n", what,
                   (long long)p->engine, (unsigned long long)p->scratch, (unsigned long long)bound,
                   (unsigned long long)have);
            faults++;
        }
    }
    n_plans += plans.n;
    if (f == &forms[0] && plans.n > 0) try_one(&plans, what);
    attention_plans_end(&plans);
}

int main(int argc, char **argv) {
    char why[ERROR_BYTES];
    if (cudnn_library_open(&cudnn, why)) fail_environment("%s", why);
    for (size_t i = 0; i < ARRAY_LEN(forms); i++)
        for (int backward = 0; backward < 2; backward++)
            try_form(&forms[i], backward, argc > 1 && strcmp(argv[1], "-v") == 0);
    printf("%d forms forward and backward, %s: %d wrong\n", (int)ARRAY_LEN(forms),
           n_plans >= 2 * (int)ARRAY_LEN(forms) ? "a plan for each" : "forms without a plan",
           faults);
    return faults != 0;
}
