/* What the files of room settings share. Private to the room. */
#ifndef FSDPC_RULES_H
#define FSDPC_RULES_H

#include "settings.h"

/* policy.c: what `"glob" = reshard(after)` says of a unit; a K cuts the mesh, if shard.reshard has
 * not. */
UnitReshard policy_reshard(Model *m, Policy *p, Span at, const ExprValue *after);

/* offload.c */
void resolve_offload(Model *m, Policy *p, RunSettings *s);

/* precision.c: train.precision, train.loss_scale, shard.scale and shard.gather; after mesh,
 * strategy and batch. */
void precision_resolve(Model *m, Policy *p, const RunSettings *s);

/* directives.c: the one of section train that holds for the parameter, or NULL. */
const Directive *directive_of(const Model *m, const Param *p);

/* npy.c: dtype and shape of a NumPy file from its header; NULL, or what is wrong with it. */
const char *npy_header(const char *path, Type *out, Arena *a, bool *missing);

#endif
