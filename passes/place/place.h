/* Inside pass place: its state, and how values get from one placement to another (convert.c). */
#ifndef FSDPC_PLACE_H
#define FSDPC_PLACE_H

#include "cut.h"
#include "repeated.h"
#include "rows.h"

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
