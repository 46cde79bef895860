/* What the files of pass memory share; pass edges includes it for memory_workspace.
 *
 * In each program pass_memory first has copies inserted (memory_copies). Then memory_defer, and
 * after it memory_hide, look for a better order: they form blocks (memory_blocks, with the spans of
 * memory_spans) and place them (memory_place). In the end values get their addresses.
 *
 * A block is a set of values of one program whose places depend on each other: a value and its
 * views, a pack and its operands, results that work in place. It needs one range of the arena for
 * one span of time. Time is the position in the program's list.
 */
#ifndef FSDPC_MEMORY_H
#define FSDPC_MEMORY_H

#include "ir.h"

enum { MEMORY_ALIGN = 256 };

typedef struct MemoryBlock {
    uint64_t size;        /* bytes, multiple of MEMORY_ALIGN */
    uint32_t start, end;  /* first and last position at which the memory is taken; for values of
                             side streams as far as compute knows */
    uint32_t first, last; /* first and last access in issue order */
    bool fixed;           /* it has its place: the memory of a state that is lent */
    uint64_t offset;      /* result of memory_place */
} MemoryBlock;

/* memory_span.c: who reads what in a program. Rows of ops and values are numbered
 * (graph_number_rows). */
typedef struct MemoryOrder {
    const Graph *g;
    const Program *p;
    ValueId *base;        /* by row: the value that it is a view of */
    uint32_t *first_read; /* by row: the first position that reads it; UINT32_MAX = none */
} MemoryOrder;
MemoryOrder memory_order(const Graph *g, const Program *p, uint32_t n_values, Arena *a);
static inline ValueId memory_base(const MemoryOrder *o, ValueId v) {
    return o->base[o->g->values.at[v].row];
}

/* When the memory that a side stream's op touches is in use. For compute ops both ends are the op's
 * own position. */
typedef struct Spans {
    uint32_t *from, *to; /* by position */
} Spans;
Spans memory_spans(const MemoryOrder *order, uint32_t n_values, Arena *scratch);

/* The blocks of a program. What lies in a state's memory has no entry in `at`; a state that is lent
 * has entries itself. */
typedef VEC(MemoryBlock) BlockList;

typedef struct MemoryBlocks {
    Graph *g;
    Arena *arena;
    const Program *p;
    MemoryOrder order;   /* of the program */
    uint32_t n;          /* values of the program: rows of these tables are those of Value.row */
    uint32_t *parent;    /* by value: a tree a set; roots are their own parent */
    int64_t *shift;      /* by value: bytes from the parent's address */
    int64_t *low, *high; /* by root: extent of the set around the root's address */
    uint64_t *pin;       /* by root: its address, when it lies in a state; else NO_ADDRESS */
    uint32_t *start, *end, *first, *last; /* by root */
    uint32_t *block;                      /* by root: row of at[..]; UINT32_MAX = none */
    BlockList at[2];                      /* those of the device's memory, those of the host's */
    uint64_t base; /* of the device's: its address, before which are states that are not lent */
} MemoryBlocks;

/* memory.c: bytes that the op's kernel may use on that kind of device. */
uint64_t memory_workspace(const Graph *g, const Op *op, DeviceKind device);

/* memory_blocks.c */
/* Builds the blocks, and the times at which states that are lent need their memory, all in
 * `scratch`. */
MemoryBlocks memory_blocks(Graph *g, const Program *p, Arena *scratch);
/* The row of the set of value v, and its offset from the set's lowest byte. */
uint32_t memory_find(const MemoryBlocks *b, ValueId v, int64_t *offset);
/* Puts copies before ops that would need one value in two places; once, before anything. false
 * after an error: copies do not help. */
bool memory_copies(Graph *g, uint32_t program);
/* An op that makes a value of its own with the elements of v, for op `user`; it is in no list yet.
 */
OpId memory_copy(Graph *g, OpId user, ValueId v);

/* By state: does some program of that role of the pipeline lend the state's memory to other values?
 */
bool *memory_lent_states(const Graph *g, uint32_t role, Arena *a);

/* memory_span.c */
/* A pure op of the computation that writes memory of its own and reads no state, which an update
 * might replace meanwhile. */
bool memory_may_move(const MemoryOrder *order, const Op *op);
bool memory_gives_back(const Op *op);
/* Does `later` give back or replace what `op` reads? */
bool memory_takes_operand(const MemoryOrder *order, const Op *later, const Op *op);

/* memory_defer.c: an order of the program with a lower peak, where making what is read late later
 * gives one. The result is its blocks, those of the device in their places, all in `a`. */
MemoryBlocks memory_defer(Graph *g, uint32_t program, Arena *a);

/* memory_hide.c: an order in which reductions of activations run while other work runs, if blocks
 * need no more space then; before: those of the program as it is, in their places. The result is
 * its blocks in their places, in `a` or before's memory. */
MemoryBlocks memory_hide(Graph *g, uint32_t program, MemoryBlocks before, Arena *a);

/* memory_place.c: fills MemoryBlock.offset; the result is the height of all of it. n_time:
 * positions. */
uint64_t memory_place(Arena *a, MemoryBlock *blocks, uint32_t n, uint32_t n_time);
/* The same, with the first height found that is at most `most`; false: none was found. */
bool memory_place_within(Arena *a, MemoryBlock *blocks, uint32_t n, uint32_t n_time, uint64_t most);
/* By position: bytes of the blocks that live then. */
uint64_t *memory_live(Arena *a, const MemoryBlock *blocks, uint32_t n, uint32_t n_time);
/* Bytes of the blocks that live at the worst time, the first position with as many. */
uint64_t memory_bound(Arena *a, const MemoryBlock *blocks, uint32_t n, uint32_t n_time,
                      uint32_t *worst);

#endif
