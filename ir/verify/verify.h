/* What the files of the verifier share; private to this room. The public function is graph_verify
 * of ir.h (verify.c), which checks graph-1 to -4, -9, -10 and train-6 itself and calls the
 * functions below. */
#ifndef FSDPC_VERIFY_H
#define FSDPC_VERIFY_H

#include "ir.h"

typedef enum Rule {
#define RULE(name, id, claim) RULE_##name,
#include "verify_rules.def"
#undef RULE
    RULE_COUNT
} Rule;

/* A hash table of numbers. 0 marks a free slot, so it counts as present from the start. */
typedef struct NumberSet {
    uint64_t *at;
    uint32_t n, capacity; /* a power of two */
} NumberSet;

typedef struct Verify {
    const Graph *g;
    Arena *arena; /* for this call */
    int broken;
    int reported[RULE_COUNT];
    bool grouped;                       /* pass shard has run: parameters are in groups */
    uint32_t *op_number, *value_number; /* as printed; NO_OP, NO_VALUE when in no program */
    const Program *program;             /* the one that is being checked */
    uint32_t program_row;
    uint32_t first_number; /* of its first op */
    uint32_t *defined;     /* by value: row + 1 of the program that has defined it so far, or
                              NO_SOUND_TYPE */
    OpId *fitting;         /* ops whose attributes and types were found to fit, + 1: a hash table */
    uint32_t fitting_mask;
} Verify;

/* verify_tables.c */
/* Adds a number to the set. false: it was there already. */
bool number_is_new(Arena *a, NumberSet *set, uint64_t number);
/* Reports op (NULL: the graph) breaking the rule, the first few times. */
void verify_broken(Verify *v, Rule rule, const Op *op, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool verify_tables(Verify *v);      /* verify_tables.c; false: go no further */
void verify_host(Verify *v);        /* verify_program.c: shard-9 */
void verify_order(Verify *v);       /* verify_program.c: sched-9; edges are known to be sound */
void verify_training(Verify *v);    /* verify_program.c: graph-7, model-*, train-* */
void verify_streams(Verify *v);     /* verify_program.c: sched-4, -5 */
void verify_program_set(Verify *v); /* verify_program.c: model-1, shard-8 */

static inline const Op *verify_op(const Verify *v, uint32_t k) {
    return &v->g->ops.at[v->program->ops.at[k]];
}
static inline const Value *verify_value(const Verify *v, ValueId id) {
    return &v->g->values.at[id];
}

#endif
