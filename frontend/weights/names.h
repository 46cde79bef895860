/* What the files of room weights share. Private to the room. */
#ifndef FSDPC_NAMES_H
#define FSDPC_NAMES_H

#include "weights.h"

/* names_rules.c */
NamesRule *names_rule(const NamesTable *t, const char *path); /* that names the path, or NULL */
int names_stars(const char *pattern);
/* The name with each `*` replaced by the next capture, from captures[*used] on; NULL if there
 * are not enough of the n. */
const char *names_filled(Arena *a, const char *name, const char *const *captures, int n, int *used);

/* stored.c */
bool stored_is_entry(const Node *value); /* is it a part of a tensor, or several tensors? */
/* The table's tensors that are not whole parameters. */
void stored_make(Elaboration *e, NamesTable *t);

#endif
