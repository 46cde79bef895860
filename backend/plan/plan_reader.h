/* What the files of the plan reader share. No other file includes it. */
#ifndef FSDPC_PLAN_INSIDE_H
#define FSDPC_PLAN_INSIDE_H

#include <math.h>
#include <setjmp.h>

#include "op.h"
#include "plan.h"

typedef unsigned long long Llu;

/* No number of bytes or elements in a plan is larger than this, so sums of a few never overflow. */
#define PLAN_LARGEST MOST_COUNT

typedef struct Reading {
    Plan *p;
    char *message;
    size_t message_size;
    Arena *scratch; /* until the plan is read */
    jmp_buf end;    /* where plan_fail goes */
} Reading;

/* What files of the reader ask of a table's numbers. */
#define FAIL_IF(c, ...)                                                                            \
    do {                                                                                           \
        if (c) plan_fail(r, __VA_ARGS__);                                                          \
    } while (0)
static inline bool bad_string(const Plan *p, PlanString s) { return s >= p->n_strings; }

/* Whether [first, first + n) is not inside a table of `total` rows. */
static inline bool bad_range(uint64_t first, uint64_t n, uint64_t total) {
    return first > total || n > total - first;
}
static inline bool bad_count(int64_t n, int64_t lowest) { return n < lowest || n > PLAN_LARGEST; }
static inline bool bad_real(double x, double lowest, double highest) {
    return !isfinite(x) || x < lowest || x > highest;
}
static inline bool bad_gather(uint32_t dtype) {
    return dtype != DT_NONE && !dtype_is_sent((int)dtype);
}

/* plan_text.c: writes the message and ends the reading. */
_Noreturn void plan_fail(Reading *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* plan_tables.c: all tables but the programs' contents. */
void plan_read_tables(Reading *r);
/* plan_settings.c: the mesh and the settings. */
void plan_read_settings(Reading *r);
/* plan_names.c: the tables of names that files of weights may use, and tensors in parts. */
void plan_read_names(Reading *r);
/* plan_model.c: what the plan has to compute. */
void plan_read_model(Reading *r);
/* A type with a size of at most PLAN_LARGEST bytes. */
bool plan_type_sane(const Type *t);
/* plan_instrs.c: values, operands, edges, instructions and their attributes. */
void plan_read_instrs(Reading *r);
/* plan_types.c: do operands and results of one instruction have types that the op can work on? */
bool plan_types_fit(const Plan *p, const PlanInstr *in, char *fault, size_t size);

#endif
