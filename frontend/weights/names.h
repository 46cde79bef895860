/* What the files of room weights share. Private to the room. */
#ifndef FSDPC_NAMES_H
#define FSDPC_NAMES_H

#include "weights.h"

/* names.c */
NamesRule *names_rule(const NamesTable *t, const char *path); /* that names the path, or NULL */
int count_stars(const char *pattern);
/* The name with each `*` replaced by the next capture, from captures[*used] on; NULL if there
 * are not enough of the n. */
const char *fill_stars(Arena *a, const char *name, const char *const *captures, int n, int *used);

/* stored.c */
bool is_parts_entry(const Node *value); /* is it a part of a tensor, or several tensors? */
/* The table's tensors that are not whole parameters. */
void make_stored_tensors(Elaboration *e, NamesTable *t);

#endif
