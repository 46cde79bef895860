/* Records of a graph's text, described once for printing and parsing. For ir/ only. */
#ifndef FSDPC_RECORDS_H
#define FSDPC_RECORDS_H

#include "parse.h"
#include "print.h"

/* Where a record is going, or coming from: one of them is NULL. */
typedef struct Record {
    GraphPrinter *to;
    GraphParser *from;
    bool tight; /* no blank before what is printed next */
} Record;

/* Each false after a mistake in what is parsed. */
/* What follows `name =`; known: there is such a policy here, the others are policy_fields. */
bool text_policy(Record *r, const char *name, Policy *policy, bool *known);
bool text_memory(Record *r, RoleMemory *m);
/* What follows a program's kind. */
bool text_program(Record *r, Program *program);
/* What follows an op's attributes. */
bool text_op_tail(Record *r, Op *op);

/* Rows of modules, parameters, states, fields, units and groups; known: a line of such a row. */
void print_tables(GraphPrinter *p);
bool parse_table(GraphParser *p, bool *known);

/* The axes of a state that says nothing of its own, until groups are there. */
#define AS_GROUP UINT32_MAX

#endif
