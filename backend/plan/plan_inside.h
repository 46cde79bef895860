/* What the files of the plan reader share. Nobody else includes this. */
#ifndef FSDPC_PLAN_INSIDE_H
#define FSDPC_PLAN_INSIDE_H

#include "op.h"
#include "plan.h"

typedef unsigned long long Llu;

/* No number of bytes or elements in a plan is larger than this, so sums of a few never overflow. */
#define PLAN_LARGEST MOST_COUNT

typedef struct Reading {
    Plan *p;
    char *message;
    size_t message_size;
} Reading;

/* plan_text.c: writes the message; the result is EXIT_CORRUPT. */
int plan_fail(Reading *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* plan_tables.c: all tables but the programs' contents. 0 or EXIT_CORRUPT. */
int plan_read_tables(Reading *r);
/* plan_model.c: what the plan has to compute. */
int plan_read_model(Reading *r);
/* A type with a size of at most PLAN_LARGEST bytes. */
bool plan_type_sane(const Type *t);
/* plan_instrs.c: values, operands, edges, instructions and their attributes. */
int plan_read_instrs(Reading *r);
/* plan_types.c: do operands and results of one instruction have types that the op can work on? */
bool plan_types_fit(const Plan *p, const PlanInstr *in, char *fault, size_t size);

#endif
