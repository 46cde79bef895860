/* What proof 10 is made of: check_placement.c walks a program and knows ops that say how their
 * values are placed, op_cuts.c finds how any other op's results are. */
#ifndef FSDPC_PLACEMENT_H
#define FSDPC_PLACEMENT_H

#include "check.h"

/* The axis of this level: its name, as a set, and how many ranks it has. */
static inline const char *cut_name(const Check *c) {
    return axis_name(c->mesh.axis[c->level_axis[c->level]].role);
}
static inline AxisSet cut_axis(const Check *c) { return (AxisSet)1 << c->level_axis[c->level]; }
/* May ranks share out a dimension in that many runs? */
static inline bool may_be_runs(const Check *c, int64_t runs) {
    return !(cut_axis(c) & mesh_backward_axes(&c->mesh)) || runs % 2 == 0;
}
static inline int64_t cut_parts(const Check *c) { return c->level_parts[c->level]; }

static inline bool is_whole(const Check *c, uint32_t v) { return c->place[v].kind == PLACE_WHOLE; }

/* Entries of a part of a dimension of one run; the last ones may be padding. */
static inline int64_t share_of(const Check *c, int64_t size) {
    return (size + cut_parts(c) - 1) / cut_parts(c);
}

static inline bool same_place(const Place *a, const Place *b) {
    return a->kind == b->kind &&
           (a->kind != PLACE_CUT || (a->dim == b->dim && a->outer == b->outer));
}

/* ---- op_cuts.c */

/* How the plan says that value v is placed along this level's axis. */
Place placement_told(const Check *c, uint32_t v);
/* Says how it is placed. size: where it is cut, that of the whole dimension. */
void placement_set(Check *c, uint32_t v, const Place *p, int64_t size);
/* Of every result of instruction i: it is whole. */
void placement_set_whole(Check *c, uint64_t i);
/* Places the results of instruction i as the plan says, if a cut of its op makes them so of
 * operands placed as they are, or as its linearity says; check-10a. */
void placement_of_op(Check *c, uint64_t i);

#endif
