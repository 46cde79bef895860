/* Names tables: what the parameters are called in a file of weights, or which part of a tensor
 * they are there.
 *
 * In: `names` sections. Out: the name of a parameter's path in a table, and the tensors of the
 * table that are not whole parameters. Patterns that match nothing, names given twice and parts
 * that do not cover their tensor are reported.
 */
#ifndef FSDPC_WEIGHTS_H
#define FSDPC_WEIGHTS_H

#include "model.h"

/* names.c */
void names_add(Model *m, const Node *section); /* reads a `names` section */
/* The name of a path in a table (the path where there is no such table); "" for one that has parts
 * in the table only. */
const char *names_of_path(const Model *m, uint32_t table, const char *path, bool *transposed);
/* Each pattern matches, each parameter has a name of its own in each table; the first table's names
 * go into the graph. */
void names_check(Elaboration *e);

#endif
