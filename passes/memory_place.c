/* Places blocks: sizes and spans of time in, offsets out, as little height as possible.
 *
 * Training has two kinds of long-lived blocks. Saved activations nest: what forward makes first,
 * backward needs last. Gradients and what else backward leaves behind grow like a staircase
 * until the update. Each kind alone packs without waste when its longest-lived blocks are placed
 * first, each on top of what overlaps it in time. So there are two stacks, one growing up from the
 * bottom, one down from the top, and the height is the largest sum of both at any time.
 * Short-lived blocks (work in between, gathered parameters) form chains, which do not nest: they
 * are placed by size into the lowest gap above the long-lived blocks of their stack.
 *
 * A stack is a tree over time that keeps the largest top, so a long block costs log n; a short one
 * looks at the other short ones nearby only. What counts as short and what goes to which stack
 * depends on the program, so a few settings are tried and the lowest result is kept; the first one
 * within half a percent of the bound, the bytes live at the worst time, ends the search.
 */
#include <stdlib.h>
#include <string.h>

#include "memory.h"

/* Largest top over spans of time; a node's own top counts for all of its leaves. */
typedef struct Skyline {
    uint32_t leaves;
    uint64_t *own, *most;
} Skyline;

static Skyline skyline_new(Arena *a, uint32_t n_time) {
    Skyline s = {.leaves = 1};
    while (s.leaves < n_time) s.leaves *= 2;
    s.own = arena_array(a, uint64_t, 2 * (size_t)s.leaves);
    s.most = arena_array(a, uint64_t, 2 * (size_t)s.leaves);
    return s;
}

static void skyline_clear(Skyline *s) {
    memset(s->own, 0, sizeof(uint64_t) * 2 * s->leaves);
    memset(s->most, 0, sizeof(uint64_t) * 2 * s->leaves);
}

static uint64_t most_in(const Skyline *s, uint32_t node, uint32_t low, uint32_t high,
                        uint32_t start, uint32_t end) {
    if (start <= low && high <= end) return s->most[node];
    uint32_t middle = low + (high - low) / 2;
    uint64_t most = s->own[node], low_most = 0, high_most = 0; /* MAX evaluates twice */
    if (start <= middle) low_most = most_in(s, 2 * node, low, middle, start, end);
    if (end > middle) high_most = most_in(s, 2 * node + 1, middle + 1, high, start, end);
    most = MAX(most, low_most);
    return MAX(most, high_most);
}

static void raise_to(Skyline *s, uint32_t node, uint32_t low, uint32_t high, uint32_t start,
                     uint32_t end, uint64_t top) {
    s->most[node] = MAX(s->most[node], top);
    if (start <= low && high <= end) {
        s->own[node] = MAX(s->own[node], top);
        return;
    }
    uint32_t middle = low + (high - low) / 2;
    if (start <= middle) raise_to(s, 2 * node, low, middle, start, end, top);
    if (end > middle) raise_to(s, 2 * node + 1, middle + 1, high, start, end, top);
}

/* Largest sum of two skylines at any time. */
static uint64_t most_of_sum(const Skyline *s, const Skyline *t, uint32_t node, uint64_t above_s,
                            uint64_t above_t) {
    above_s = MAX(above_s, s->own[node]);
    above_t = MAX(above_t, t->own[node]);
    if (node >= s->leaves) return above_s + above_t;
    uint64_t low = most_of_sum(s, t, 2 * node, above_s, above_t);
    uint64_t high = most_of_sum(s, t, 2 * node + 1, above_s, above_t);
    return MAX(low, high);
}

/* One way to do it. */
typedef struct Setting {
    uint32_t longest_short; /* spans of at most so many positions are short */
    bool late_below;        /* long blocks of backward go to the lower stack */
    bool side_below;        /* short blocks of side streams go to the lower stack */
} Setting;

typedef struct Taken {
    uint64_t from, to;
} Taken;

typedef struct Place {
    Arena *arena;
    Block *blocks;
    uint32_t n, n_time;
    Skyline tall[2], all[2]; /* by stack: tops of long blocks; of all blocks */
    uint32_t *by_span, *by_size;
    bool *below;              /* by block: is in the lower stack */
    uint32_t *head[2], *next; /* short blocks by bucket of time; links: entry + 1 */
    uint32_t *entry, n_entry; /* block of a link */
    Taken *taken;             /* scratch */
    uint64_t *best;           /* offsets of the best so far */
    uint64_t bound;           /* bytes live at the worst time */
} Place;

static uint32_t span_of(const Block *b) { return b->end - b->start + 1; }

static void place_long(Place *p, uint32_t i, bool below) {
    Block *b = &p->blocks[i];
    uint32_t last = p->tall[below].leaves - 1;
    p->below[i] = below;
    b->offset = most_in(&p->tall[below], 1, 0, last, b->start, b->end);
    raise_to(&p->tall[below], 1, 0, last, b->start, b->end, b->offset + b->size);
    raise_to(&p->all[below], 1, 0, last, b->start, b->end, b->offset + b->size);
}

static int by_from(const void *a, const void *b) {
    const Taken *x = a, *y = b;
    return x->from != y->from ? (x->from < y->from ? -1 : 1) : (x->to > y->to) - (x->to < y->to);
}

/* Ranges of short blocks in this stack that overlap b in time. */
static uint32_t find_taken(Place *p, const Block *b, bool below, uint32_t width) {
    uint32_t n = 0;
    for (uint32_t k = b->start / width; k <= b->end / width; k++)
        for (uint32_t at = p->head[below][k]; at; at = p->next[at - 1]) {
            const Block *o = &p->blocks[p->entry[at - 1]];
            if (o->end < b->start || o->start > b->end) continue;
            if (k != MAX(b->start, o->start) / width) continue; /* seen in the bucket before */
            p->taken[n++] = (Taken){o->offset, o->offset + o->size};
        }
    qsort(p->taken, n, sizeof *p->taken, by_from);
    return n;
}

static void place_short(Place *p, uint32_t i, bool below, uint32_t width) {
    Block *b = &p->blocks[i];
    uint32_t last = p->tall[below].leaves - 1;
    uint32_t n = find_taken(p, b, below, width);
    uint64_t at = most_in(&p->tall[below], 1, 0, last, b->start, b->end);
    for (uint32_t k = 0; k < n && p->taken[k].from < at + b->size; k++)
        at = MAX(at, p->taken[k].to);
    p->below[i] = below;
    b->offset = at;
    raise_to(&p->all[below], 1, 0, last, b->start, b->end, at + b->size);
    for (uint32_t k = b->start / width; k <= b->end / width; k++) {
        p->entry[p->n_entry] = i;
        p->next[p->n_entry++] = p->head[below][k];
        p->head[below][k] = p->n_entry;
    }
}

/* Places all blocks; offsets of the upper stack count from the top. The result is the height. */
static uint64_t try_setting(Place *p, const Setting *s) {
    for (int k = 0; k < 2; k++) {
        skyline_clear(&p->tall[k]);
        skyline_clear(&p->all[k]);
        memset(p->head[k], 0, sizeof(uint32_t) * (p->n_time + 1));
    }
    p->n_entry = 0;
    for (uint32_t k = 0; k < p->n; k++) {
        uint32_t i = p->by_span[k];
        if (span_of(&p->blocks[i]) <= s->longest_short) break;
        place_long(p, i, s->late_below && p->blocks[i].late);
    }
    for (uint32_t k = 0; k < p->n; k++) {
        uint32_t i = p->by_size[k];
        if (span_of(&p->blocks[i]) > s->longest_short) continue;
        place_short(p, i, s->side_below && p->blocks[i].side, MAX(s->longest_short, 1));
    }
    return most_of_sum(&p->all[0], &p->all[1], 1, 0, 0);
}

static void keep(Place *p, uint64_t height) {
    for (uint32_t i = 0; i < p->n; i++) {
        const Block *b = &p->blocks[i];
        p->best[i] = p->below[i] ? b->offset : height - b->offset - b->size;
    }
}

static const Block *sorted_blocks; /* what the comparisons below look at; set by sort_blocks */

static int longest_first(const void *a, const void *b) {
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const Block *x = &sorted_blocks[i], *y = &sorted_blocks[j];
    if (span_of(x) != span_of(y)) return span_of(x) > span_of(y) ? -1 : 1;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return i < j ? -1 : 1;
}

static int largest_first(const void *a, const void *b) {
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const Block *x = &sorted_blocks[i], *y = &sorted_blocks[j];
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return i < j ? -1 : 1;
}

static uint32_t *sort_blocks(Place *p, int (*compare)(const void *, const void *)) {
    uint32_t *order = arena_array(p->arena, uint32_t, p->n);
    for (uint32_t i = 0; i < p->n; i++) order[i] = i;
    sorted_blocks = p->blocks;
    qsort(order, p->n, sizeof *order, compare);
    return order;
}

static uint64_t live_bound(Place *p) {
    uint64_t *change = arena_array(p->arena, uint64_t, p->n_time + 1), live = 0, most = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        change[p->blocks[i].start] += p->blocks[i].size;
        change[p->blocks[i].end + 1] -= p->blocks[i].size;
    }
    for (uint32_t t = 0; t < p->n_time; t++) {
        live += change[t];
        most = MAX(most, live);
    }
    return most;
}

static Place place_new(Arena *a, Block *blocks, uint32_t n, uint32_t n_time) {
    Place p = {.arena = a, .blocks = blocks, .n = n, .n_time = n_time};
    for (int k = 0; k < 2; k++) {
        p.tall[k] = skyline_new(a, n_time);
        p.all[k] = skyline_new(a, n_time);
        p.head[k] = arena_array(a, uint32_t, n_time + 1);
    }
    p.by_span = sort_blocks(&p, longest_first);
    p.by_size = sort_blocks(&p, largest_first);
    p.below = arena_array(a, bool, n);
    p.next = arena_array(a, uint32_t, 2 * (size_t)n); /* a short block is in two buckets at most */
    p.entry = arena_array(a, uint32_t, 2 * (size_t)n);
    p.taken = arena_array(a, Taken, n);
    p.best = arena_array(a, uint64_t, n);
    p.bound = live_bound(&p);
    return p;
}

uint64_t memory_place(Arena *a, Block *blocks, uint32_t n, uint32_t n_time) {
    /* a setting with long short blocks is for small programs: each looks at all of its neighbours
     */
    static const uint32_t spans[] = {64, 24, 160, 640, UINT32_MAX};
    enum { MOST_WORK = 1 << 22 };
    if (n == 0) return 0;
    Place p = place_new(a, blocks, n, n_time);
    uint64_t lowest = UINT64_MAX;
    for (uint32_t k = 0; k < 4 * ARRAY_LEN(spans) && lowest > p.bound + p.bound / 200; k++) {
        Setting s = {MIN(spans[k / 4], n_time), !(k & 1), !(k & 2)};
        if (k && (uint64_t)n * MIN(s.longest_short, n) > MOST_WORK) continue;
        uint64_t height = try_setting(&p, &s);
        if (height >= lowest) continue;
        lowest = height;
        keep(&p, height);
    }
    for (uint32_t i = 0; i < n; i++) blocks[i].offset = p.best[i];
    return lowest;
}
