/* Names tables: what the parameters are called in a file of weights, or which part of a tensor they
 * are.
 *
 * In: `names` sections. Out: the name of a parameter's path in a table, and the tensors of the
 * table that are not whole parameters. Reported are patterns that match nothing, names given twice,
 * and parts that do not cover their tensor.
 */
#ifndef FSDPC_WEIGHTS_H
#define FSDPC_WEIGHTS_H

#include "model.h"

/* names.c */
void names_add(Model *m, const Node *section); /* reads a `names` section */
/* The name of a path in a table (the path if there is no such table); "" for a parameter that the
 * table stores only as parts. */
const char *names_of_path(const Model *m, uint32_t table, const char *path, bool *transposed);
/* Checks that each pattern matches and that each parameter has a distinct name in each table;
 * stores the first table's names in the graph. */
void names_check(Elaboration *e);

/* stored.c */
NamesRule *names_rule(const NamesTable *t, const char *path); /* that names the path, or NULL */
int count_stars(const char *pattern);
/* The name with each `*` replaced by the next capture, from captures[*used] on; NULL if there
 * are not enough of the n. */
const char *fill_stars(Arena *a, const char *name, const char *const *captures, int n, int *used);
bool is_parts_entry(const Node *value); /* is it a part of a tensor, or several tensors? */
/* The table's tensors that are not whole parameters. */
void make_stored_tensors(Elaboration *e, NamesTable *t);

#endif
