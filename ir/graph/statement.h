/* The statement of a model: a graph of level model, with its policy and tables, as the frontend
 * made them, which no pass touches. The plan carries it, so that the checker can compare what the
 * plan computes with what it has to compute.
 */
#ifndef FSDPC_STATEMENT_H
#define FSDPC_STATEMENT_H

#include "ir.h"

typedef struct StatementNode { /* an op */
    OpKind kind;
    Attrs attr;
    uint32_t n_in, first_in;   /* Statement.in[first_in ..]: its operands */
    uint32_t n_out, first_out; /* its results; values are numbered in the order of the nodes */
    Type type;                 /* of result 0 */
    const char *path, *state;  /* module path; of ops of a state: the state's name */
    StateRole role;            /* of that state */
    Span span;
} StatementNode;

typedef struct StatementProgram {
    ProgramKind kind;
    uint32_t first, n; /* nodes */
} StatementProgram;

typedef struct Statement {
    VEC(StatementNode) nodes;
    VEC(uint32_t) in;
    VEC(StatementProgram) programs;
    uint32_t n_values;
    Policy policy;
    VEC(Param) params;
    VEC(Field) fields;
} Statement;

/* statement.c */
const Statement *statement_of(const Graph *g);

#endif
