/* The plan checker's inside: what its files share. Nobody else includes this.
 *
 * The checker takes the plan's tables (settings, groups, states, ..) as the statement of what must
 * happen, and the instructions, edges and addresses as what does happen; it proves that the second
 * does the first in every order that streams and edges allow. It uses nothing that a pass kept.
 *
 * Happens-before inside a program = order on a stream + edges. clock[i][s] is the number of
 * instructions of stream s that have finished whenever instruction i starts.
 */
#ifndef FSDPC_CHECK_H
#define FSDPC_CHECK_H

#include "plan.h"

#define NO_INSTR UINT64_MAX

/* Sets of proofs, for plan_check_rules. */
#define CHECK_RULE(n) (1u << (n))
#define CHECK_ALL_RULES 0xfeu

typedef struct Check {
    const Plan *p;
    PlanFault *fault;
    /* by instruction of the whole plan */
    uint32_t (*clock)[MAX_STREAMS];
    uint32_t *position; /* place on its stream, within its program */
    uint32_t *program;  /* its program */
    /* by value of the whole plan */
    uint32_t *root;      /* the value whose memory a view shows; itself otherwise */
    uint64_t *first_use; /* use[first_use[r] .. first_use[r + 1]): instructions that read root r, */
    uint32_t *use;       /* directly or through a view, ascending */
    uint32_t (*last)[MAX_STREAMS]; /* position + 1 of the last access of root r on each stream */
} Check;

/* plan_check.c */
/* Files a fault and returns EXIT_CORRUPT. rule is "1a" for check-1a. */
int check_fail(Check *c, const char *rule, uint64_t instr, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
uint32_t check_in(const Check *c, uint64_t instr, uint32_t k); /* value number of operand k */
uint32_t check_out(const Check *c, uint64_t instr, uint32_t k);
bool check_before(const Check *c, uint64_t a, uint64_t b); /* a happens before b */
uint64_t check_bytes(const Check *c, uint32_t value);
/* Row of the states table whose entry version the value is, or -1. */
int64_t check_entry_state(const Check *c, uint32_t value);
bool check_is_collective(const Check *c, uint64_t instr);
int64_t check_mesh_size(const Check *c, int64_t axis);
/* Does a user of a value touch its memory? A view is only a name (its readers are users
 * themselves), set_state of an entry version writes nothing. */
bool check_accesses(const Check *c, uint64_t user, bool entry);
/* Every access of the root value happens before instr starts. */
bool check_all_before(const Check *c, uint32_t root, uint64_t instr);
/* One or more proofs by themselves, for tests: a set of CHECK_RULE(n). What a proof takes from the
 * ones before it is then not proved, but nothing is read out of bounds. */
int plan_check_rules(const Plan *p, uint32_t rules, PlanFault *fault);

/* check_order.c: rules 1 and 3 of one program */
int check_reads(Check *c, uint32_t program);
int check_unsharded(Check *c, uint32_t program, uint32_t *live_units);
int check_kept(Check *c, uint32_t role); /* rule 3 over the calls of a role */
/* Row of params that the `view` instruction shows, or -1. */
int64_t check_view_param(const Check *c, uint64_t instr);
/* check_memory.c: rule 2 of one program; rule 6 of the plan */
int check_overlaps(Check *c, uint32_t program);
int check_peak(Check *c, uint64_t *peak);
/* check_gradients.c: rule 4 of one role's step */
int check_gradients(Check *c, uint32_t role);
/* check_sources.c: rule 4 of one program: where gradients come from */
int check_sources(Check *c, uint32_t program);
/* check_collectives.c: rules 5 and 7 of the plan */
int check_cycles(Check *c);
int check_collectives(Check *c);

#endif
