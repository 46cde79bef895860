/* Runs an op as a whole and on the parts of ranks, for cut_test.c. */
#ifndef FSDPC_TESTS_KERNELS_CUT_RUN_H
#define FSDPC_TESTS_KERNELS_CUT_RUN_H

#include "cut.h"
#include "kernels/trial.h"
#include "plan.h"

enum { MOST_RUN_VALUES = 2 * MAX_CASE_OPERANDS };

/* A case with its operands, and the results of the whole op. */
typedef struct Whole {
    Case c;
    Trial t;
    CutOp op;
    void *out[MAX_CASE_OPERANDS];
} Whole;

typedef struct CutText {
    char at[200];
} CutText;

/* Parts of every second run are dealt backwards. */
extern bool cut_backwards;

/* False, with nothing to close: the types do not fit the op. */
bool whole_open(Whole *w);
void whole_close(Whole *w);

/* How the op behaves on parts of n ranks along a cut. */
typedef enum Outcome {
    OUTCOME_TRUE,   /* results are what the cut says */
    OUTCOME_FALSE,  /* they are not */
    OUTCOME_REFUSED /* the parts do not fit the op, or their numbers are out of range */
} Outcome;
/* why: what differs. */
Outcome cut_try(const Whole *w, const Cut *cut, int n, CutText *why);
/* The same; kernels are told how operands and results are placed. */
Outcome cut_try_placed(const Whole *w, const Cut *cut, int n, CutText *why);
/* The same as a kernel would do that knew where its part begins. It is imitated: the whole op runs
 * n times. In run r, what lies outside of part r of an operand is 0 if the op is linear in it,
 * otherwise some other number; part r of a result that is cut must remain as it was, and partial
 * results must add up. */
Outcome cut_try_knowing_place(const Whole *w, const Cut *cut, int n, CutText *why);
/* Whether f(a + b) = f(a) + f(b), within the case's tolerance, in these operands together. */
bool is_linear(const Whole *w, const bool *partial);

/* cut_sizes.c: the case with sizes that 2 and 3 divide: of all axes that the columns CUT and CUT_BY
 * of its op mention, and of letter `also` if that is not 0. */
Case case_with_sizes(const Case *from, char also);
/* Cases of ops whose axes have no letters, and of those that have no kernel. */
extern const Case layout_cases[];
extern const int n_layout_cases;

#endif
