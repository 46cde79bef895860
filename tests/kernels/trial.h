/* A case of cases.h with one mixture of f32, bf16 and f16 operands; also used by tests/cuda and
 * tests/gpu. */
#ifndef FSDPC_TESTS_KERNELS_TRIAL_H
#define FSDPC_TESTS_KERNELS_TRIAL_H

#include "kernels/cases.h"

/* 0: all f32, 1: all bf16, 2: every other one; 3: the other ones f16, 4: all f16; 5: as 0, an
 * update that has to be skipped. Where inputs are too wide for f16 it is bf16. */
enum { PATTERNS = 6 };

typedef struct Trial {
    const Case *c;
    int pattern;
    bool skipped;                      /* an update has to leave everything as it is */
    Type types[2 * MAX_CASE_OPERANDS]; /* inputs, then outputs */
    double *in[MAX_CASE_OPERANDS], *want[MAX_CASE_OPERANDS];
    void *input[MAX_CASE_OPERANDS]; /* as the kernel gets them */
} Trial;

/* By op, from ops.def: name, alias rule and kernel. */
extern const OpInfo infos[OP_COUNT];
static inline bool is_attention(int op) { return infos[op].cost_class == CLASS_ATTENTION; }

extern uint64_t random_state;
uint32_t next_random(void);
void put(void *to, int dtype, int64_t i, double x);
double get(const void *from, int dtype, int64_t i);
/* Where element i of a value lies: rows may have a pitch. */
int64_t place_of(const Type *t, int64_t i);
void *copy_of(const void *bytes, int64_t n);

Type *out_type(Trial *t, int j);
/* Which input's memory each output takes in the in-place run `number`, -1: none; false when there
 * is no such run. First each output over each input that its op lets it take, alone; then all
 * outputs that can, each over another input. */
bool sharing(const Trial *t, int number, int *shared);
/* Cases without references: of each elementwise op each operand that its result may take, with
 * others of every shape that broadcasts. As many elements as two threads share. */
const Case *element_cases(int *n);
/* FSDP_KERNELS=norm,rope: cases of these ops alone. */
bool is_wanted(const char *op);
bool has_fill(const Case *c, Fill fill);
/* Carries in every exact sum among the words of a result, so that equal sums have equal words:
 * those below the last are in [-2^27, 2^27). */
void carry_sums(const Case *c, int64_t *words, int64_t n);
void choose_types(Trial *t);
/* What an op adds to or works on in place has the dtype of the output. */
void follow_aliases(Trial *t);
/* A launch of the trial; what its call points to is here, or the caller's. */
typedef struct TrialCall {
    KernelCall call;
    RankInfo rank;
    const Type *types[2 * MAX_CASE_OPERANDS];
} TrialCall;
void trial_call(const Trial *t, const void *const *in, void *const *out, void *scratch,
                int64_t scratch_bytes, int32_t threads, TrialCall *made);
int64_t trial_scratch(const Trial *t, DeviceKind kind); /* bytes */
void fill_inputs(Trial *t);
void trial_free(Trial *t);

#endif
