/* Shared by the passes that put one op in the place of several. No other file includes this.
 *
 * A pass looks at a program through the tables of a Rewrite, names the groups of ops that become
 * one, and the end of the rewrite makes the new list.
 */
#ifndef FSDPC_REWRITE_H
#define FSDPC_REWRITE_H

#include "ir.h"

enum { MOST_FUSED = 12 };

/* One op instead of several: its place, and what its operands and results were. It takes the place
 * and phase of op `place`, the rest from `source`. */
typedef struct Fused {
    OpKind kind;
    OpId place, source;
    const Attrs *attr; /* NULL: those of `source` */
    uint32_t n_in, n_out;
    ValueId in[MOST_FUSED];  /* values of the old list */
    ValueId out[MOST_FUSED]; /* the same: what each result stands for, type included; NO_VALUE: it
                                is scratch */
    ValueId like;            /* if a result is scratch: the value whose dtype and pitch it gets */
} Fused;

typedef struct Rewrite {
    Graph *g;
    uint32_t program;
    uint32_t *position; /* by op: its place in the program's list */
    uint32_t *readers;  /* by value: how many operands it is */
    uint32_t *reader;   /* by value: position of the last op that reads it */
    bool *gone;         /* by op: a group that was named holds it */
    VEC(Fused) fused;
    uint32_t *instead; /* by op: row of fused that takes its place, plus 1 */
    uint32_t n_values; /* of the old list: their numbers are below it */
    ValueId *became;   /* by value of the old list */
    /* Emits what comes before an op that stays, and may change its operands; NULL: nothing does. */
    void (*before)(void *context, OpId op);
    void *context;
} Rewrite;

static inline OpId rewrite_id(const Rewrite *r, uint32_t position) {
    return r->g->programs.at[r->program].ops.at[position];
}
static inline const Op *rewrite_op(const Rewrite *r, uint32_t position) {
    return &r->g->ops.at[rewrite_id(r, position)];
}

Rewrite rewrite_begin(Graph *g, uint32_t program);
/* Does v exist before position `at`? */
bool rewrite_is_before(const Rewrite *r, ValueId v, uint32_t at);
/* The ops of `group` become f. Its operands must exist at its place, and nothing before it may read
 * what its results stand for. */
void rewrite_fuse(Rewrite *r, const Fused *f, uint32_t n, const OpId *group);
/* The same where f.kind has column PARTS: `part` has an op for each of these; NO_OP: a sum that is
 * left out. Operands and results follow from theirs; an operand that a part has besides comes last.
 * Nothing happens where a name would be two values. */
void rewrite_parts(Rewrite *r, Fused f, const OpId *part);
void rewrite_end(Rewrite *r);
/* Rewrites every program; `visit` gets the positions of its ops, ascending. */
void rewrite_programs(Graph *g, void (*visit)(Rewrite *r, uint32_t position, void *context),
                      void *context);

#endif
