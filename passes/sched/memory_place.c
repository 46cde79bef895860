/* Places blocks: sizes and spans of time in, offsets out, as little height as possible.
 *
 * MemoryBlocks are placed one after the other, the largest first, each into the lowest gap between
 * the ones that overlap it in time. Large blocks pack without waste, small ones fill the gaps.
 * Which of several blocks of one size comes first matters little but not nothing, so a few orders
 * are tried: the longest-lived or the earliest first, and the same with the blocks that are live at
 * the worst time before all others; then by size times life instead of size. The lowest result is
 * kept; one that is within 1/2000 of the bound, the bytes live at the worst time, ends the search.
 *
 * MemoryBlocks that have their places already are there before all others.
 *
 * A tree over time holds what is where. Each node knows the addresses that blocks take over all of
 * its time (`whole`) and at any time in it (`any`), each as runs: sorted ranges, joined where they
 * touch. A block is in the log n nodes that its span is made of; the gap for a block is looked for
 * in the `any` of these nodes and in the `whole` of the nodes above, log n sets of runs.
 * MemoryBlocks that live at one time lie side by side, so that a set has few runs however many
 * blocks are in it.
 *
 * Time: only positions at which a block starts count, since of two blocks that overlap one starts
 * while the other lives.
 */
#include <stdlib.h>
#include <string.h>

#include "memory.h"

/* ---- runs of addresses ---- */

typedef struct AddressRun {
    uint64_t from, to;
} AddressRun;

typedef VEC(AddressRun) AddressRuns;

/* The first run that ends at `at` or later. */
static uint32_t run_at(const AddressRuns *r, uint64_t at) {
    uint32_t low = 0, high = r->n;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (r->at[middle].to < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void runs_add(Arena *a, AddressRuns *r, AddressRun run) {
    uint32_t first = run_at(r, run.from), end = first;
    for (; end < r->n && r->at[end].from <= run.to; end++) {
        run.from = MIN(run.from, r->at[end].from);
        run.to = MAX(run.to, r->at[end].to);
    }
    if (end == first) vec_push(a, r, run); /* room for one more */
    uint32_t after = end == first ? r->n - 1 - first : r->n - end;
    memmove(&r->at[first + 1], &r->at[end], after * sizeof run);
    r->at[first] = run;
    r->n = first + 1 + after;
}

/* ---- the tree over time ---- */

typedef struct TimeNode {
    AddressRuns whole, any;
} TimeNode;

/* One set of runs that a search looks at. */
typedef struct SeenRuns {
    const AddressRuns *runs;
    uint32_t next; /* the first run that does not end below the place in question */
} SeenRuns;

enum { MOST_SEEN = 4 * 32 }; /* four nodes a level at most */

typedef struct BlockPlacement {
    Arena *arena; /* of one try */
    MemoryBlock *blocks;
    uint32_t n, n_time;
    uint32_t *start, *end; /* by block: among the positions at which blocks start */
    uint32_t leaves;
    TimeNode *nodes; /* root 1, children of k: 2k and 2k + 1 */
    SeenRuns seen[MOST_SEEN];
    uint32_t n_seen;
    uint64_t bound;      /* bytes live at the worst time */
    uint32_t worst_time; /* the first such time */
} BlockPlacement;

/* A node and its time. */
typedef struct At {
    uint32_t node, low, high;
} At;

static At lower_half(At at) { return (At){2 * at.node, at.low, at.low + (at.high - at.low) / 2}; }

static At upper_half(At at) {
    return (At){2 * at.node + 1, at.low + (at.high - at.low) / 2 + 1, at.high};
}

/* Takes the run of addresses from time start to time end. */
static void take_addresses(BlockPlacement *p, At at, uint32_t start, uint32_t end, AddressRun run) {
    TimeNode *node = &p->nodes[at.node];
    runs_add(p->arena, &node->any, run);
    if (start <= at.low && at.high <= end) {
        runs_add(p->arena, &node->whole, run);
        return;
    }
    At low = lower_half(at), high = upper_half(at);
    if (start <= low.high) take_addresses(p, low, start, end, run);
    if (end >= high.low) take_addresses(p, high, start, end, run);
}

static void add_seen(BlockPlacement *p, const AddressRuns *runs) {
    if (runs->n) p->seen[p->n_seen++] = (SeenRuns){runs, 0};
}

/* Fills p->seen: together these runs are everything taken at any time from start to end. */
static void find_taken(BlockPlacement *p, At at, uint32_t start, uint32_t end) {
    const TimeNode *node = &p->nodes[at.node];
    if (!node->any.n) return;
    if (start <= at.low && at.high <= end) {
        add_seen(p, &node->any);
        return;
    }
    add_seen(p, &node->whole);
    At low = lower_half(at), high = upper_half(at);
    if (start <= low.high) find_taken(p, low, start, end);
    if (end >= high.low) find_taken(p, high, start, end);
}

/* Moves the place up until these runs leave room for the size there. */
static bool make_room(SeenRuns *s, uint64_t size, uint64_t *at) {
    bool moved = false;
    for (; s->next < s->runs->n; s->next++) {
        const AddressRun *run = &s->runs->at[s->next];
        if (run->to <= *at) continue;
        if (run->from >= *at + size) break;
        *at = run->to;
        moved = true;
    }
    return moved;
}

/* The lowest place for this many bytes beside all that was seen. */
static uint64_t lowest_gap(BlockPlacement *p, uint64_t size) {
    uint64_t at = 0;
    /* until all sets in a row leave room */
    for (uint32_t k = 0, room = 0; room < p->n_seen; k = (k + 1) % p->n_seen)
        room = make_room(&p->seen[k], size, &at) ? 1 : room + 1;
    return at;
}

/* ---- orders ---- */

typedef struct PlacementOrder {
    bool worst_first; /* what is live at the worst time before all others */
    bool by_start;    /* of equal sizes the earliest first, else the longest-lived */
    bool by_area;     /* size times life counts instead of size */
} PlacementOrder;

typedef struct Sorting {
    const BlockPlacement *p;
    const PlacementOrder *order;
} Sorting;

static bool lives_at(const MemoryBlock *b, uint32_t time) {
    return b->start <= time && time <= b->end;
}

static int compare_blocks(const void *a, const void *b, void *context) {
    const Sorting *s = context;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const MemoryBlock *x = &s->p->blocks[i], *y = &s->p->blocks[j];
    uint32_t x_span = x->end - x->start, y_span = y->end - y->start;
    bool x_worst = lives_at(x, s->p->worst_time), y_worst = lives_at(y, s->p->worst_time);
    if (s->order->worst_first && x_worst != y_worst) return x_worst ? -1 : 1;
    double x_area = (double)x->size * (x_span + 1.0), y_area = (double)y->size * (y_span + 1.0);
    if (s->order->by_area && x_area != y_area) return x_area > y_area ? -1 : 1;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    if (!s->order->by_start && x_span != y_span) return x_span > y_span ? -1 : 1;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return i < j ? -1 : 1;
}

/* Places all blocks in this order; the result is the height. It ends where that is not below
 * `most`. */
static uint64_t try_order(BlockPlacement *p, const PlacementOrder *order, uint64_t *offset,
                          uint64_t most) {
    uint64_t height = 0;
    p->arena = arena_new();
    p->nodes = arena_array(p->arena, TimeNode, 2 * (size_t)p->leaves);
    uint32_t *queue = arena_array(p->arena, uint32_t, p->n), n = 0;
    At root = {1, 0, p->leaves - 1};
    for (uint32_t i = 0; i < p->n; i++) {
        const MemoryBlock *b = &p->blocks[i];
        offset[i] = b->offset;
        if (b->fixed)
            take_addresses(p, root, p->start[i], p->end[i],
                           (AddressRun){b->offset, b->offset + b->size});
        else
            queue[n++] = i;
    }
    Sorting sorting = {p, order};
    qsort_r(queue, n, sizeof *queue, compare_blocks, &sorting);
    for (uint32_t k = 0; k < n && height < most; k++) {
        uint32_t i = queue[k];
        p->n_seen = 0;
        find_taken(p, root, p->start[i], p->end[i]);
        offset[i] = lowest_gap(p, p->blocks[i].size);
        uint64_t top = offset[i] + p->blocks[i].size;
        take_addresses(p, root, p->start[i], p->end[i], (AddressRun){offset[i], top});
        height = MAX(height, top);
    }
    arena_free(p->arena);
    return height;
}

/* ---- the whole placement ---- */

uint64_t memory_bound(Arena *a, const MemoryBlock *blocks, uint32_t n, uint32_t n_time,
                      uint32_t *worst) {
    uint64_t *change = arena_array(a, uint64_t, n_time + 1), live = 0, most = 0;
    *worst = 0;
    for (uint32_t i = 0; i < n; i++) {
        change[blocks[i].start] += blocks[i].size;
        change[blocks[i].end + 1] -= blocks[i].size;
    }
    for (uint32_t t = 0; t < n_time; t++) {
        live += change[t];
        if (live <= most) continue;
        most = live;
        *worst = t;
    }
    return most;
}

/* Numbers the positions at which blocks start. */
static void find_times(BlockPlacement *p, Arena *a) {
    uint32_t *number = arena_array(a, uint32_t, p->n_time + 1), n = 0; /* starts up to there */
    for (uint32_t i = 0; i < p->n; i++) number[p->blocks[i].start] = 1;
    for (uint32_t t = 0; t < p->n_time; t++) number[t] = n += number[t];
    p->start = arena_array(a, uint32_t, p->n);
    p->end = arena_array(a, uint32_t, p->n);
    for (uint32_t i = 0; i < p->n; i++) {
        p->start[i] = number[p->blocks[i].start] - 1;
        p->end[i] = number[p->blocks[i].end] - 1;
    }
    for (p->leaves = 1; p->leaves < n;) p->leaves *= 2;
}

uint64_t memory_place(Arena *a, MemoryBlock *blocks, uint32_t n, uint32_t n_time) {
    static const PlacementOrder orders[] = {{false, false, false}, {false, true, false},
                                            {true, false, false},  {true, true, false},
                                            {false, false, true},  {true, false, true}};
    if (n == 0) return 0;
    BlockPlacement p = {.blocks = blocks, .n = n, .n_time = n_time};
    p.bound = memory_bound(a, blocks, n, n_time, &p.worst_time);
    find_times(&p, a);
    uint64_t *offset = arena_array(a, uint64_t, n), lowest = UINT64_MAX;
    for (uint32_t k = 0; k < ARRAY_LEN(orders) && lowest > p.bound + p.bound / 2000; k++) {
        uint64_t height = try_order(&p, &orders[k], offset, lowest);
        if (height >= lowest) continue;
        lowest = height;
        for (uint32_t i = 0; i < n; i++) blocks[i].offset = offset[i];
    }
    return lowest;
}
