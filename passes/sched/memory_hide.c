/* Hiding: work that does not need a reduction of activations runs during it.
 *
 * In: a program in issue order with its blocks in their places. Out: the same ops in another legal
 * order. Where ranks share out a product's width, its gradient is a sum over them, and the op
 * before it waits for a reduction. Gradients of weights that are made of the same values as the
 * terms of that sum come before it as a rule, and nothing but the end of their unit reads them.
 * They move behind the reduction's issue, so that they run at the same time. The bits of all values
 * are the same.
 *
 * What the moved ops read lives longer, so a program could need more memory. It never does: where
 * more bytes are live than it took before, reductions stay as they were, and if its blocks still
 * need more space, twice as many do, those with the most live bytes first.
 *
 * Time: for each reduction, the ops of its unit; n log n for each of log n tries, of one as a rule.
 */
#include "memory.h"

/* A reduction and what moves behind it. */
typedef struct Hidden {
    uint32_t reduction, first; /* positions: its own, and that of the first op that moves */
    uint64_t live;             /* bytes at the worst time of these positions, if they move */
    bool stays;                /* nothing moves */
} Hidden;

typedef struct Hide {
    Graph *g;
    Program *p;
    MemoryOrder o;   /* of the program as it was */
    uint32_t *term;  /* by position: 1 + the reduction for whose sum it makes a term */
    uint32_t *read;  /* by row: 1 + the reduction whose terms are made of it */
    uint32_t *after; /* by position: 1 + the row in `all` that it moves behind; 0: none */
    VEC(Hidden) all;
    uint32_t n_stay;
    VEC(uint32_t) open; /* terms whose operands have not been seen yet */
} Hide;

static const Op *op_at(const Hide *h, uint32_t i) { return &h->g->ops.at[h->p->ops.at[i]]; }

static uint32_t row_of(const Hide *h, ValueId v) { return h->g->values.at[v].row; }

static bool is_partial(const Hide *h, ValueId v) {
    const Placement *at = h->g->values.at[v].placement;
    return at && at->partial;
}

static bool is_reduction(const Hide *h, const Op *op) {
    bool collective = op_info[op->kind].effect == EFFECT_COMM && op->attr->tag == TAG_ACTIVATION;
    return collective && op->n_in && is_partial(h, op->in[0]);
}

/* Marks what makes the terms of reduction i, and what these are made of. */
static void mark_terms(Hide *h, uint32_t i, Arena *a) {
    vec_push(a, &h->open, i);
    while (h->open.n) {
        const Op *op = op_at(h, h->open.at[--h->open.n]);
        for (uint32_t k = 0; k < op->n_in; k++) {
            uint32_t def = value_maker(h->g, op->in[k])->row;
            if (!is_partial(h, op->in[k])) {
                h->read[row_of(h, memory_base(&h->o, op->in[k]))] = i + 1;
            } else if (h->term[def] != i + 1) {
                h->term[def] = i + 1;
                vec_push(a, &h->open, def);
            }
        }
    }
}

static bool is_sibling(const Hide *h, const Op *op, uint32_t i) {
    for (uint32_t k = 0; k < op->n_in; k++)
        if (h->read[row_of(h, memory_base(&h->o, op->in[k]))] == i + 1) return true;
    return false;
}

/* May op j go behind the later position i? */
static bool may_pass(const Hide *h, uint32_t j, uint32_t i) {
    const Op *op = op_at(h, j);
    const OpInfo *o = &op_info[op->kind];
    if (o->effect != EFFECT_PURE || op_only_names(op) || o->alias == ALIAS_PACK) return false;
    for (uint32_t k = 0; k < op->n_out; k++)
        if (h->o.first_read[row_of(h, op->out + k)] <= i) return false;
    for (uint32_t between = j + 1; between <= i; between++) {
        const Op *passed = op_at(h, between);
        if (passed->kind == OP_set_state || memory_takes_operand(&h->o, passed, op)) return false;
    }
    return true;
}

/* Finds what can run at the same time as reduction i. */
static void find_siblings(Hide *h, uint32_t i, Arena *a) {
    const Op *reduction = op_at(h, i);
    Hidden hidden = {.reduction = i, .first = i};
    mark_terms(h, i, a);
    for (uint32_t j = i; j-- > 0;) {
        const Op *op = op_at(h, j);
        bool same = op->unit == reduction->unit && op->phase == reduction->phase;
        if (op->stream != STREAM_COMPUTE) continue;
        if (!same) break;
        if (h->after[j] || h->term[j] == i + 1 || !is_sibling(h, op, i) || !may_pass(h, j, i))
            continue;
        h->after[j] = h->all.n + 1;
        hidden.first = j;
    }
    if (hidden.first < i) vec_push(a, &h->all, hidden);
}

static void find_all(Hide *h, uint32_t n_values, Arena *a) {
    uint32_t n = h->p->ops.n;
    h->term = arena_array(a, uint32_t, n + 1);
    h->after = arena_array(a, uint32_t, n + 1);
    h->read = arena_array(a, uint32_t, n_values + 1);
    for (uint32_t i = 0; i < n; i++)
        if (is_reduction(h, op_at(h, i))) find_siblings(h, i, a);
}

/* ---- the other order ---- */

/* Puts the list into the new order, from `old`. */
static void reorder(Hide *h, const OpId *old) {
    uint32_t n = 0, next = 0;
    for (uint32_t i = 0; i < h->p->ops.n; i++) {
        uint32_t row = h->after[i];
        if (!row || h->all.at[row - 1].stays) h->p->ops.at[n++] = old[i];
        if (next == h->all.n || h->all.at[next].reduction != i) continue;
        const Hidden *hidden = &h->all.at[next++];
        for (uint32_t j = hidden->first; j < i && !hidden->stays; j++)
            if (h->after[j] == next) h->p->ops.at[n++] = old[j];
    }
    CHECK(n == h->p->ops.n);
}

/* Returns the bytes that are live at the worst time of all. */
static uint64_t find_live(Hide *h, const MemoryBlocks *b, Arena *a) {
    uint32_t n = h->p->ops.n, worst;
    const uint64_t *live = memory_live(a, b->at[0].at, b->at[0].n, n);
    for (uint32_t k = 0; k < h->all.n; k++) {
        Hidden *hidden = &h->all.at[k];
        hidden->live = 0;
        for (uint32_t i = hidden->first; i <= hidden->reduction; i++)
            hidden->live = MAX(hidden->live, live[i]);
    }
    return memory_bound(a, b->at[0].at, b->at[0].n, n, &worst);
}

/* Bytes that are live at the worst time of those that do not stay. */
static uint64_t most_live(const Hide *h) {
    uint64_t most = 0;
    for (uint32_t k = 0; k < h->all.n; k++)
        if (!h->all.at[k].stays) most = MAX(most, h->all.at[k].live);
    return most;
}

/* Lets all stay for which more than `most` bytes are live, and more, up to `least` of them. */
static void take_back(Hide *h, uint64_t most, uint32_t least) {
    for (h->n_stay = 0; h->n_stay < MIN(least, h->all.n); most = most_live(h) - 1) {
        h->n_stay = 0;
        for (uint32_t k = 0; k < h->all.n; k++)
            h->n_stay += h->all.at[k].stays |= h->all.at[k].live > most;
    }
}

/* What memory_place returned for the blocks. */
static uint64_t height_of(const MemoryBlocks *b) {
    uint64_t height = 0;
    for (uint32_t i = 0; i < b->at[0].n; i++)
        if (!b->at[0].at[i].fixed)
            height = MAX(height, b->at[0].at[i].offset + b->at[0].at[i].size);
    return height;
}

MemoryBlocks memory_hide(Graph *g, uint32_t program, MemoryBlocks before, Arena *a) {
    Hide h = {.g = g, .p = &g->programs.at[program], .o = before.order};
    find_all(&h, before.n, a);
    uint32_t n = h.p->ops.n;
    uint64_t height = height_of(&before);
    OpId *old = arena_array(a, OpId, n + 1);
    for (uint32_t i = 0; i < n; i++) old[i] = h.p->ops.at[i];
    while (h.n_stay < h.all.n) {
        reorder(&h, old);
        MemoryBlocks b = memory_blocks(g, h.p, a);
        bool fits = find_live(&h, &b, a) <= height;
        if (fits && memory_place_within(a, b.at[0].at, b.at[0].n, n, height)) return b;
        take_back(&h, height, MAX(2 * h.n_stay, 1));
    }
    reorder(&h, old);
    graph_number_rows(g, h.p);
    return before;
}
