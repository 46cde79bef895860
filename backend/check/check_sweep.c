/* Which of several ranges of addresses follow each other in time, for proof 2.
 *
 * In: ranges of addresses. Range k belongs to holder k; holders are numbered in the order of time.
 * Out: a call of `meet` for each pair of holders, i < k, that have an address in common which no
 * holder between i and k has.
 *
 * The sweep goes over the addresses at which ranges begin and end, in ascending order, and keeps
 * the set of holders of the address that it has reached. Where a range begins its holder meets its
 * neighbours in the set; where one ends its neighbours meet. All ranges that begin or end at an
 * address change the set before anybody meets. Two holders may meet more than once.
 *
 * The set is a tree of words with a bit for each of 64 children, so that neighbours are found in as
 * many steps as the tree is deep: n log n for the sort, then little more than n.
 */
#include <stdlib.h>

#include "check.h"

typedef struct Border { /* of a range */
    uint64_t at;
    uint32_t holder;
} Border;

enum { LEVELS = 6, NONE = -1 }; /* 64^6 holders and more than there are numbers */

typedef struct HolderSet {
    uint64_t *word[LEVELS]; /* bit k of level 0: holder k; of the next one: word k has a bit */
    int levels;
} HolderSet;

static HolderSet set_open(Arena *a, uint64_t n) {
    HolderSet s = {.levels = 0};
    do {
        n = n / 64 + 1;
        s.word[s.levels++] = arena_array(a, uint64_t, n);
    } while (n > 1 && s.levels < LEVELS);
    return s;
}

static bool set_has(const HolderSet *s, uint64_t k) { return s->word[0][k / 64] >> k % 64 & 1; }

static void set_flip(HolderSet *s, uint64_t k) {
    for (int i = 0; i < s->levels; i++, k /= 64) {
        uint64_t *word = &s->word[i][k / 64], bit = (uint64_t)1 << k % 64, old = *word;
        *word = i ? old | bit : old ^ bit;
        if (i && !s->word[i - 1][k]) *word = old & ~bit;
        if (!old == !*word) return;
    }
}

/* The holder of the lowest, or of the highest, number below the bit of that level. */
static int64_t set_descend(const HolderSet *s, int level, uint64_t k, bool highest) {
    while (level-- > 0) {
        uint64_t bits = s->word[level][k];
        k = k * 64 + (uint64_t)(highest ? 63 - __builtin_clzll(bits) : __builtin_ctzll(bits));
    }
    return (int64_t)k;
}

static int64_t set_neighbour(const HolderSet *s, uint64_t k, bool before) {
    for (int i = 0; i < s->levels; i++, k /= 64) {
        uint64_t below = ((uint64_t)1 << k % 64) - 1, above = ~below << 1;
        uint64_t bits = s->word[i][k / 64] & (before ? below : above);
        int bit = !bits ? 0 : before ? 63 - __builtin_clzll(bits) : __builtin_ctzll(bits);
        if (bits) return set_descend(s, i, k / 64 * 64 + (uint64_t)bit, before);
    }
    return NONE;
}

static int by_address(const void *a, const void *b) {
    const Border *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return (x->holder > y->holder) - (x->holder < y->holder);
}

static void meet_neighbours(const HolderSet *s, const Border *border, void *context,
                            CheckMeeting *meet) {
    int64_t before = set_neighbour(s, border->holder, true);
    int64_t after = set_neighbour(s, border->holder, false);
    bool begins = set_has(s, border->holder);
    if (begins && before != NONE) meet(context, border->at, (uint32_t)before, border->holder);
    if (begins && after != NONE) meet(context, border->at, border->holder, (uint32_t)after);
    if (!begins && before != NONE && after != NONE)
        meet(context, border->at, (uint32_t)before, (uint32_t)after);
}

void check_sweep(const CheckRange *range, uint32_t n, void *context, CheckMeeting *meet) {
    Arena *a = arena_new();
    HolderSet s = set_open(a, n);
    size_t borders = 0, end;
    Border *border = arena_array(a, Border, (size_t)n * 2 + 1);
    for (uint32_t k = 0; k < n; k++) {
        if (range[k].from == range[k].to) continue;
        border[borders++] = (Border){range[k].from, k};
        border[borders++] = (Border){range[k].to, k};
    }
    qsort(border, borders, sizeof *border, by_address);
    for (size_t i = 0; i < borders; i = end) {
        for (end = i; end < borders && border[end].at == border[i].at; end++)
            set_flip(&s, border[end].holder);
        for (size_t k = i; k < end; k++) meet_neighbours(&s, &border[k], context, meet);
    }
    arena_free(a);
}
