/* Inside pass place: its state, and how values get from one placement to another (convert.c). */
#ifndef FSDPC_PLACE_H
#define FSDPC_PLACE_H

#include "cut.h"
#include "ir.h"

/* repeated.c: what backward computes or gathers again: the values and ops of forward that it
 * repeats. */
typedef struct Repeated {
    ValueId *value; /* by value: the one of forward that it repeats, or NO_VALUE */
    OpId *op;       /* by op: the one of forward that it repeats, or NO_OP */
} Repeated;

/* In scratch memory of the graph. */
Repeated find_repeated(Graph *g, uint32_t program);

/* convert.c */
/* Rows that stay whole, as the first op that reads such has them. */
typedef struct RowsLeft {
    int64_t sharers; /* of rows: ranks along the axis and those after it */
    int64_t rows;    /* which this number does not divide; 0: none so far */
    const char *of;  /* module path and place of the op */
    Span at;
} RowsLeft;

/* Does a field of the data have as many positions? */
bool rows_are_positions(const Graph *g, int64_t n);
/* Do ranks along an earlier axis share out the value along another dimension, or in several runs
 * that are not dealt backwards? Rows are shared out further along the same dimension. */
bool rows_cut_beside(const Graph *g, ValueId v, int dim);
/* In how many runs do they share it out? */
int64_t rows_runs(const Graph *g, ValueId v, int dim);
void rows_warn_left(const Graph *g, int axis, const RowsLeft *left);

/* How a value is placed along the axis. */
typedef struct ValuePlace {
    Place place;
    int64_t size; /* PLACE_CUT: of the cut */
    bool rows;    /* PLACE_CUT: no parameter wants it */
} ValuePlace;

/* An old value as some op needs it. */
typedef struct Converted {
    ValueId old, value;
    ValuePlace to;
    uint8_t phase;
    uint32_t next; /* of the same old value; 0: none */
} Converted;

typedef struct PlacePass {
    Graph *g;
    Builder b;
    int axis;
    int64_t ranks;
    bool by_position; /* ranks share out the positions of samples */
    int64_t pieces;   /* 2: the axis deals backwards, so runs of a cut dimension are in pairs */
    bool rows;        /* partial sums may become parts of rows */
    RowsLeft left;
    Repeated again; /* what backward computes again */
    /* by old value, whose type stays whole */
    ValuePlace *place;
    ValueId *became;
    ValueId *term;   /* of a sum that is completed: what became of it before; else NO_VALUE */
    uint32_t *first; /* of converted; 0: none */
    uint32_t *terms; /* by old op: bit i: it read operand i as a term of a sum */
    VEC(Converted) converted;
} PlacePass;

/* An op of the old program. */
typedef struct OldOp {
    OpKind kind;
    const Attrs *attr;
    bool recomputed;
    uint32_t n_in, n_out;
    const ValueId *in;
    const ValueId *out;
    Type *type; /* of the operands, then of the results: whole */
} OldOp;

static const ValuePlace whole = {.place.kind = PLACE_WHOLE};

static inline bool same_place(const ValuePlace *a, const ValuePlace *b) {
    if (a->place.kind != b->place.kind) return false;
    return a->place.kind != PLACE_CUT ||
           (a->place.dim == b->place.dim && a->place.outer == b->place.outer);
}

static inline bool is_partial(const PlacePass *p, ValueId old) {
    return p->place[old].place.kind == PLACE_PARTIAL;
}

/* Gives value v, which comes from an old one, that one's placement along earlier axes, and this one
 * along the pass' axis. */
void place_set(PlacePass *p, ValueId v, ValueId old, const ValuePlace *at);
/* Emits the collective, or part, that leads from one placement to another. v: what became of value
 * old. */
ValueId place_move(PlacePass *p, OpKind kind, ValueId old, ValueId v, const ValuePlace *from,
                   const ValuePlace *to);
/* The old value in that placement. A sum is completed once: all readers after that have it as the
 * first one wanted it. */
ValueId place_convert(PlacePass *p, ValueId old, const ValuePlace *to);
/* Operands that the op, cut so, needs whole, and that are gathered alike, travel in one collective.
 * cut = NULL: it needs all of them. */
void place_gather_together(PlacePass *p, const OldOp *op, const Cut *cut);
/* Of what the op needed whole, gradients are sums of terms: if it makes several, each rank gets the
 * sums for its rows of them in one collective. */
void place_scatter_together(PlacePass *p, const OldOp *op, const Cut *cut);

#endif
