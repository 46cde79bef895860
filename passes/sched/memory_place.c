/* Places blocks: sizes and spans of time in, offsets out, as little height as possible.
 *
 * Blocks are placed one after the other, the largest first, each into the lowest gap between the
 * ones that overlap it in time. Large blocks pack without waste, small ones fill the gaps. Which of
 * several blocks of one size comes first matters little but not nothing, so a few orders are tried:
 * the longest-lived or the earliest first, and the same with the blocks that are live at the worst
 * time before all others; then by size times life instead of size. The lowest result is kept; one
 * that is within 1/2000 of the bound, the bytes live at the worst time, ends the search.
 *
 * Blocks that have their places already come before all others.
 *
 * A tree over time holds what is where. Each node knows the addresses that blocks take over all of
 * its time (`whole`) and at any time in it (`any`), each as runs: sorted ranges, joined where they
 * touch. A block is in the log n nodes that its span is made of; the gap for a block is looked for
 * in the `any` of these nodes and in the `whole` of the nodes above, log n sets of runs. Blocks
 * that live at one time lie side by side, so that a set has few runs however many blocks are in it.
 *
 * Of few blocks, those that have their places are a list instead, which is looked through.
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
    if (end != first + 1 && after) memmove(&r->at[first + 1], &r->at[end], after * sizeof run);
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
    Arena *arena;
    MemoryBlock *blocks;
    uint32_t n, n_free, n_time; /* n_free: those that have no place yet */
    uint32_t *start, *end;      /* by block: among the positions at which blocks start */
    struct ListedBlock
        *listed; /* those that have their places, by address; NULL: the tree has them */
    uint32_t n_listed;
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
    for (uint32_t k = 0, room = 0; room < p->n_seen; k = k + 1 < p->n_seen ? k + 1 : 0)
        room = make_room(&p->seen[k], size, &at) ? 1 : room + 1;
    return at;
}

/* ---- few blocks: a list by address ---- */

enum { MOST_LISTED = 2048 }; /* with more blocks the tree is faster */

typedef struct ListedBlock {
    AddressRun run;
    uint64_t life; /* its end and its start, see lifetime() */
} ListedBlock;

/* Two times in a word, so that a subtraction compares both: bits 31 and 63 of lifetime(x) less
 * query(y) stay where x ends no earlier than y starts, and starts no later than y ends. */
static const uint64_t both = (uint64_t)1 << 63 | 1u << 31, last_time = (1u << 31) - 1;

static uint64_t lifetime(uint32_t start, uint32_t end) {
    return both | (uint64_t)end << 32 | (last_time - start);
}

static uint64_t query(uint32_t start, uint32_t end) {
    return (uint64_t)start << 32 | (last_time - end);
}

static void list_block(BlockPlacement *p, uint32_t i, AddressRun run) {
    uint32_t low = 0, high = p->n_listed;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (p->listed[middle].run.from < run.from)
            low = middle + 1;
        else
            high = middle;
    }
    memmove(&p->listed[low + 1], &p->listed[low], (p->n_listed++ - low) * sizeof *p->listed);
    p->listed[low] = (ListedBlock){run, lifetime(p->start[i], p->end[i])};
}

/* Without branches that depend on what lives when: they would often be predicted wrong. */
static uint64_t lowest_listed_gap(const BlockPlacement *p, uint32_t i) {
    uint64_t at = 0, size = p->blocks[i].size, asked = query(p->start[i], p->end[i]);
    for (const ListedBlock *b = p->listed; b < p->listed + p->n_listed; b++) {
        uint64_t meets = -(uint64_t)(((b->life - asked) & both) == both); /* all bits, or none */
        if ((b->run.from & meets) >= at + size) break;
        at = MAX(at, b->run.to & meets);
    }
    return at;
}

/* ---- either of them ---- */

static void take_block(BlockPlacement *p, uint32_t i, uint64_t offset) {
    AddressRun run = {offset, offset + p->blocks[i].size};
    if (p->listed)
        list_block(p, i, run);
    else
        take_addresses(p, (At){1, 0, p->leaves - 1}, p->start[i], p->end[i], run);
}

static uint64_t find_gap(BlockPlacement *p, uint32_t i) {
    if (p->listed) return lowest_listed_gap(p, i);
    p->n_seen = 0;
    find_taken(p, (At){1, 0, p->leaves - 1}, p->start[i], p->end[i]);
    return lowest_gap(p, p->blocks[i].size);
}

static void forget_blocks(BlockPlacement *p) {
    p->n_listed = 0;
    for (uint32_t k = 0; p->nodes && k < 2 * p->leaves; k++)
        p->nodes[k].whole.n = p->nodes[k].any.n = 0;
}

/* ---- orders ---- */

/* What counts first; of equal blocks the longest-lived come first, or the earliest. */
typedef enum PlacementOrder {
    BY_SIZE,
    BY_SIZE_AND_START,
    BY_AREA,
    PLACEMENT_ORDERS
} PlacementOrder;

typedef struct Sorting {
    const BlockPlacement *p;
    PlacementOrder order;
} Sorting;

static bool lives_at(const MemoryBlock *b, uint32_t time) {
    return b->start <= time && time <= b->end;
}

static int compare_blocks(const void *a, const void *b, void *context) {
    const Sorting *s = context;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const MemoryBlock *x = &s->p->blocks[i], *y = &s->p->blocks[j];
    uint32_t x_span = x->end - x->start, y_span = y->end - y->start;
    if (s->order == BY_AREA) {
        double x_area = (double)x->size * (x_span + 1.0), y_area = (double)y->size * (y_span + 1.0);
        if (x_area != y_area) return x_area > y_area ? -1 : 1;
    }
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    if (s->order != BY_SIZE_AND_START && x_span != y_span) return x_span > y_span ? -1 : 1;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return i < j ? -1 : 1;
}

/* The blocks that have no place yet, in that order. */
static void sort_blocks(const BlockPlacement *p, PlacementOrder order, uint32_t *queue) {
    Sorting sorting = {p, order};
    for (uint32_t i = 0, n = 0; i < p->n; i++)
        if (!p->blocks[i].fixed) queue[n++] = i;
    qsort_r(queue, p->n_free, sizeof *queue, compare_blocks, &sorting);
}

/* The same, but those that live at the worst time before all others. */
static void put_worst_first(const BlockPlacement *p, uint32_t *queue, uint32_t *rest) {
    uint32_t n = 0, n_rest = 0;
    for (uint32_t k = 0; k < p->n_free; k++)
        if (lives_at(&p->blocks[queue[k]], p->worst_time))
            queue[n++] = queue[k];
        else
            rest[n_rest++] = queue[k];
    if (n_rest) memcpy(queue + n, rest, n_rest * sizeof *queue);
}

/* Places all blocks in this order; the result is the height. It ends where that is not below
 * `most`. */
static uint64_t try_order(BlockPlacement *p, const uint32_t *queue, uint64_t *offset,
                          uint64_t most) {
    uint64_t height = 0;
    forget_blocks(p);
    for (uint32_t i = 0; i < p->n; i++) {
        offset[i] = p->blocks[i].offset;
        if (p->blocks[i].fixed) take_block(p, i, offset[i]);
    }
    for (uint32_t k = 0; k < p->n_free && height < most; k++) {
        uint32_t i = queue[k];
        offset[i] = find_gap(p, i);
        take_block(p, i, offset[i]);
        height = MAX(height, offset[i] + p->blocks[i].size);
    }
    return height;
}

/* ---- the whole placement ---- */

uint64_t *memory_live(Arena *a, const MemoryBlock *blocks, uint32_t n, uint32_t n_time) {
    uint64_t *live = arena_array(a, uint64_t, n_time + 1), sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        live[blocks[i].start] += blocks[i].size;
        live[blocks[i].end + 1] -= blocks[i].size;
    }
    for (uint32_t t = 0; t < n_time; t++) live[t] = sum += live[t];
    return live;
}

uint64_t memory_bound(Arena *a, const MemoryBlock *blocks, uint32_t n, uint32_t n_time,
                      uint32_t *worst) {
    uint64_t *live = memory_live(a, blocks, n, n_time), most = 0;
    *worst = 0;
    for (uint32_t t = 0; t < n_time; t++) {
        if (live[t] <= most) continue;
        most = live[t];
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

/* Tries orders until one gives a height below `below`, half of them, since the caller has others to
 * try; where that is UINT64_MAX, one near the bound. The result is the lowest height that is below
 * it, otherwise `below`, and no block has moved. */
static uint64_t place_blocks(Arena *a, MemoryBlock *blocks, uint32_t n, uint32_t n_time,
                             uint64_t below) {
    static const struct {
        PlacementOrder order;
        bool worst_first;
    } tries[] = {{BY_SIZE, false},          {BY_SIZE_AND_START, false}, {BY_SIZE, true},
                 {BY_SIZE_AND_START, true}, {BY_AREA, false},           {BY_AREA, true}};
    if (n == 0) return 0;
    BlockPlacement p = {.arena = a, .blocks = blocks, .n = n, .n_time = n_time};
    uint32_t *queue[PLACEMENT_ORDERS] = {NULL}, *rest = arena_array(a, uint32_t, n);
    for (uint32_t i = 0; i < n; i++) p.n_free += !blocks[i].fixed;
    p.bound = memory_bound(a, blocks, n, n_time, &p.worst_time);
    find_times(&p, a);
    if (n <= MOST_LISTED)
        p.listed = arena_array(a, ListedBlock, n);
    else
        p.nodes = arena_array(a, TimeNode, 2 * (size_t)p.leaves);
    uint64_t enough = below < UINT64_MAX ? below - 1 : p.bound + p.bound / 2000;
    uint32_t n_tries = ARRAY_LEN(tries) / (below < UINT64_MAX ? 2 : 1);
    uint64_t *offset = arena_array(a, uint64_t, n), lowest = below;
    for (uint32_t k = 0; k < n_tries && lowest > enough; k++) {
        uint32_t **order = &queue[tries[k].order];
        if (tries[k].worst_first) {
            put_worst_first(&p, *order, rest);
        } else {
            *order = arena_array(a, uint32_t, n);
            sort_blocks(&p, tries[k].order, *order);
        }
        uint64_t height = try_order(&p, *order, offset, lowest);
        if (height >= lowest) continue;
        lowest = height;
        for (uint32_t i = 0; i < n; i++) blocks[i].offset = offset[i];
    }
    return lowest;
}

uint64_t memory_place(Arena *a, MemoryBlock *blocks, uint32_t n, uint32_t n_time) {
    return place_blocks(a, blocks, n, n_time, UINT64_MAX);
}

bool memory_place_within(Arena *a, MemoryBlock *blocks, uint32_t n, uint32_t n_time,
                         uint64_t most) {
    return place_blocks(a, blocks, n, n_time, most + 1) <= most;
}
