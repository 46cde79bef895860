/* What the files of pass fuse_elementwise share: fuse_elementwise.c walks over a program,
 * fuse_cluster.c says which ops go together and what they are as a formula, fuse_borrow.c what
 * backward computes again. No other file includes this.
 */
#ifndef FSDPC_FUSE_ELEMENTWISE_H
#define FSDPC_FUSE_ELEMENTWISE_H

#include "passes.h"
#include "rewrite.h"

/* Ops that may become one. */
typedef struct Cluster {
    uint32_t n;             /* 0: it became part of another cluster */
    uint32_t place;         /* in the program: of one of its ops */
    uint32_t borrowed;      /* the first ops, which stand in forward too */
    OpId op[FORMULA_STEPS]; /* in the order of the program, constants left out */
} Cluster;

/* The clusters of a program, and what they ask about its ops and values. */
typedef struct Clusters {
    Rewrite r;
    Graph *g;
    uint32_t *first_read,
        *read,          /* read[first_read[v] .. first_read[v + 1]): places of v's readers */
        *walked,        /* by value: how many of these the walk has passed */
        *late,          /* by value: how many of these are not of forward */
        *taken;         /* by value: the first of these that takes its memory */
    bool *early;        /* by value: a cluster may read it that stands before its op that does */
    uint32_t *member;   /* by op: row of clusters + 1 */
    uint8_t *inside;    /* by op: number + 1 in the cluster that is looked at; else 0 */
    uint32_t *borrower; /* by op: row of the cluster that computes it again + 1 */
    VEC(Cluster) clusters;
} Clusters;

/* What a set of ops is as a formula. */
typedef struct Draft {
    Formula formula;
    ValueId in[FORMULA_OPERANDS], out[FORMULA_RESULTS];
    uint8_t step_of[FORMULA_STEPS]; /* by op of the cluster: its first one */
} Draft;

static inline const Op *op_of(const Clusters *m, OpId id) { return &m->g->ops.at[id]; }
static inline const Op *maker(const Clusters *m, ValueId v) {
    return op_of(m, m->g->values.at[v].def);
}
static inline const Type *type_at(const Clusters *m, ValueId v) { return &m->g->values.at[v].type; }

static inline bool has_rows(const Type *shape) {
    return last_dim(shape) >= FORMULA_ROW_LEAST && last_dim(shape) <= FORMULA_ROW_MOST;
}

/* Do values of type x have one number per row of `shape`? */
static inline bool is_row_of(const Type *x, const Type *shape) {
    Type rows = type_of_rows(shape);
    return has_rows(shape) && type_same_dims(x, &rows);
}

/* fuse_cluster.c */
int cluster_function(const Op *op); /* of scalar.def, or SCALAR_COUNT */
bool cluster_holds(const Cluster *c, OpId id);
bool cluster_has_moves(const Clusters *m, const Cluster *c);
/* The shape of the op's cluster, if the op is not narrow in it; that of a cluster. */
const Type *cluster_op_shape(const Clusters *m, const Op *op);
const Type *cluster_shape(const Clusters *m, const Cluster *c);
/* May the op be in a cluster? May the ops of two clusters be in one? */
bool cluster_can_take(const Clusters *m, const Op *op);
bool cluster_is_alike(const Clusters *m, const Cluster *c, const Cluster *d);
/* a and b in the order of the program; false: too many ops. */
bool cluster_merge(const Clusters *m, const Cluster *a, const Cluster *b, Cluster *out);
/* Sets the cluster's place; false: there is none. */
bool cluster_find_place(const Clusters *m, Cluster *c);
/* The cluster as a formula; false: it cannot be one op, or it stays the ops that it is. */
bool cluster_draft(const Clusters *m, const Cluster *c, Draft *d);
bool cluster_is_formula(const Clusters *m, const Cluster *c, Draft *d);

/* fuse_borrow.c: the cluster of backward computes again what it reads of forward and what saves
 * memory. */
void cluster_borrow(Clusters *m, uint32_t cluster);

#endif
