/* Proof 4, recomputation: an instruction that is marked as repeated from forward has the number of
 * a value that forward computes, from the same operands with the same attributes (check_terms.c).
 * That its readers are the gradients for which it was made is proved in check_backward.c, which
 * compares numbers and so treats the repeated value as that of forward.
 *
 *   4k  an instruction is marked as a repetition of forward and computes something else
 */
#include <stdlib.h>

#include "check.h"

typedef struct Numbers {
    uint64_t *at; /* hash table; 0 = free */
    uint64_t mask;
} Numbers;

static uint64_t *find_number(const Numbers *n, uint64_t number) {
    uint64_t k = number & n->mask;
    while (n->at[k] && n->at[k] != number) k = (k + 1) & n->mask;
    return &n->at[k];
}

static void put_forward(const Check *c, Numbers *n, uint64_t i) {
    Part part[CHECK_PARTS];
    for (uint32_t k = check_parts(c, i, part); k-- > 0;)
        for (uint32_t j = 0; j < part[k].n_out; j++) {
            uint64_t number = c->number[check_part_out(&part[k], j)];
            *find_number(n, number) = number;
        }
}

static int check_repeated(Check *c, const Numbers *n, uint64_t i) {
    for (uint32_t k = 0; k < c->p->instrs[i].n_out; k++)
        if (*find_number(n, c->number[check_out(c, i, k)]) != c->number[check_out(c, i, k)])
            return check_fail(c, "4k", i, "does not recompute any instruction of forward");
    return 0;
}

int check_recomputed(Check *c, const PlanProgram *pr) {
    const Plan *p = c->p;
    uint64_t end = pr->first_instr + (uint64_t)pr->n_instr, values = 1;
    bool any = false;
    for (uint64_t i = pr->first_instr; i < end; i++) {
        any |= p->instrs[i].flags & INSTR_RECOMPUTED;
        values += p->instrs[i].n_out + 2 * (uint64_t)CHECK_PARTS;
    }
    if (!any) return 0;
    Numbers n = {.mask = 1};
    while (n.mask < values) n.mask = 2 * n.mask + 1;
    n.at = calloc(n.mask + 1, sizeof *n.at);
    if (!n.at) return EXIT_ENVIRONMENT;
    int status = 0;
    for (uint64_t i = pr->first_instr; i < end; i++)
        if (p->instrs[i].phase == PHASE_FORWARD) put_forward(c, &n, i);
    for (uint64_t i = pr->first_instr; !status && i < end; i++)
        if (p->instrs[i].flags & INSTR_RECOMPUTED) status = check_repeated(c, &n, i);
    free(n.at);
    return status;
}
