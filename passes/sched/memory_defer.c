/* Deferring: an op whose results are read much later, such as the gradient of a weight, comes after
 * the next reshard or free of its unit where that lowers the peak.
 *
 * In: a program in issue order, without addresses. Out: the same ops in another legal order. Made
 * before its unit is resharded, the gradient of a weight lies beside the gathered weight; made
 * after that, it can have the weight's memory. Where a copy of the weight is read, which no reshard
 * ends, it is made after the last op of its unit before its reader. What it is made of lives longer
 * instead. So one op at a time is tried, the largest first of those whose results are live at the
 * worst time; it stays where it went only if that lowers the bound of the peak, the bytes live at
 * the worst time; and all of them only if the blocks have room in less memory then. An op stays
 * among those of its unit and phase.
 *
 * The memory of a pack begins with the first gradient in it, also where that is a small one such as
 * of a norm beside a head. Small ones that are there before the op that is moved are made outside,
 * and copied (scale by 1) into the pack at its place. The bits of all values are the same.
 *
 * Time: n log n for each op that is tried.
 */
#include "memory.h"

enum {
    MOST_TRIES = 64,
    SMALL = 64 /* what is copied is at most this share of the bytes that move */
};

typedef struct Defer {
    Graph *g;
    Program *p;
    bool *tried; /* by op; not of copies */
    OpId n_tried;
    MemoryBlocks b;
    uint64_t bound; /* bytes of the device live at the worst time, without states */
    uint32_t worst; /* the first position with as many */
} Defer;

/* An op's place, and the op after which it goes. */
typedef struct DeferredOp {
    uint32_t from, after;
} DeferredOp;

static const Op *op_at(const Defer *d, uint32_t i) { return &d->g->ops.at[d->p->ops.at[i]]; }

static uint32_t row_of(const Defer *d, ValueId v) { return d->g->values.at[v].row; }

/* The program as it is now. */
static void survey_program(Defer *d, Arena *a) {
    d->b = memory_blocks(d->g, d->p, a);
    const BlockList *device = &d->b.at[0];
    d->bound = memory_bound(a, device->at, device->n, d->p->ops.n, &d->worst);
}

/* Bytes of the op's results that are in the arena at the worst time. */
static int64_t bytes_at_worst(const Defer *d, const Op *op) {
    int64_t bytes = 0, offset;
    for (uint32_t k = 0; k < op->n_out; k++) {
        uint32_t r = memory_find(&d->b, op->out + k, &offset);
        bool live = d->b.start[r] <= d->worst && d->worst <= d->b.end[r];
        if (live && d->b.block[r] != UINT32_MAX)
            bytes += type_bytes(&d->g->values.at[op->out + k].type);
    }
    return bytes;
}

/* The first reshard or free after the worst time behind which op i may go, else the last op of the
 * computation, since what it reads may end there; 0: there is none. */
static uint32_t place_after(const Defer *d, uint32_t i) {
    const Op *op = op_at(d, i);
    uint32_t read = UINT32_MAX, last = 0;
    for (uint32_t k = 0; k < op->n_out; k++)
        read = MIN(read, d->b.order.first_read[row_of(d, op->out + k)]);
    for (uint32_t j = i + 1; j < d->p->ops.n && j < read; j++) {
        const Op *later = op_at(d, j);
        bool same = later->unit == op->unit && later->phase == op->phase;
        bool computes = later->stream == STREAM_COMPUTE;
        if (memory_takes_operand(&d->b.order, later, op) || (computes && !same)) break;
        if (j > d->worst && memory_gives_back(later)) return j;
        if (j > d->worst && computes && !op_only_names(later)) last = j;
    }
    return last;
}

/* The largest op that has not been tried. false: there is none. */
static bool find_move(const Defer *d, DeferredOp *best) {
    int64_t most = 0;
    for (uint32_t i = 0; i <= d->worst && i < d->p->ops.n; i++) {
        OpId id = d->p->ops.at[i];
        if (id >= d->n_tried || d->tried[id] || !memory_may_move(&d->b.order, op_at(d, i)))
            continue;
        int64_t bytes = bytes_at_worst(d, op_at(d, i));
        uint32_t after = bytes > most ? place_after(d, i) : 0;
        if (!after) continue;
        most = bytes;
        *best = (DeferredOp){i, after};
    }
    return most > 0;
}

/* ---- trying ---- */

/* The program before a move. */
typedef struct Before {
    OpId *list;
    uint32_t n;
    OpId pack;   /* whose operands have changed, or NO_OP */
    ValueId *in; /* what they were */
} Before;

/* The position of the pack in which a result of op i lies; 0: none. */
static uint32_t pack_of(const Defer *d, uint32_t i) {
    int64_t offset;
    uint32_t root = memory_find(&d->b, op_at(d, i)->out, &offset);
    for (uint32_t j = i + 1; j < d->p->ops.n; j++)
        if (op_info[op_at(d, j)->kind].alias == ALIAS_PACK &&
            memory_find(&d->b, op_at(d, j)->out, &offset) == root)
            return j;
    return 0;
}

/* Is the value, an operand of the pack of m's op, there before that op, and small beside its
 * result? */
static bool is_early(const Defer *d, DeferredOp m, ValueId v) {
    const Graph *g = d->g;
    int64_t moved = type_bytes(&g->values.at[op_at(d, m.from)->out].type);
    uint32_t made = value_maker(g, v)->row;
    bool small = type_bytes(&g->values.at[v].type) <= moved / SMALL;
    return small && made != m.from && made <= m.after && dtype_is_float(g->values.at[v].type.dtype);
}

/* Moves the op. What its pack has of small things by then is copied into the pack later, so that
 * the memory of the pack begins with the op. */
static Before move_op(Defer *d, DeferredOp m, Arena *a) {
    Graph *g = d->g;
    uint32_t n = d->p->ops.n, pack = pack_of(d, m.from);
    Before b = {arena_array(a, OpId, n + 1), n, pack ? d->p->ops.at[pack] : NO_OP, NULL};
    for (uint32_t i = 0; i < n; i++) b.list[i] = d->p->ops.at[i];
    uint32_t n_in = pack ? g->ops.at[b.pack].n_in : 0;
    b.in = arena_array(a, ValueId, n_in + 1);
    bool *copied = arena_array(a, bool, n_in + 1);
    for (uint32_t k = 0; k < n_in; k++) {
        b.in[k] = g->ops.at[b.pack].in[k];
        copied[k] = is_early(d, m, b.in[k]);
    }
    d->p->ops.n = 0;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; i == pack && k < n_in; k++) {
            if (!copied[k]) continue;
            OpId copy = memory_copy(g, b.pack, b.in[k]);
            g->ops.at[b.pack].in[k] = g->ops.at[copy].out;
            vec_push(g->arena, &d->p->ops, copy);
        }
        if (i != m.from) vec_push(g->arena, &d->p->ops, b.list[i]);
        if (i == m.after) vec_push(g->arena, &d->p->ops, b.list[m.from]);
    }
    return b;
}

static void move_back(Defer *d, const Before *b) {
    for (uint32_t i = 0; i < b->n; i++) d->p->ops.at[i] = b->list[i];
    d->p->ops.n = b->n;
    for (uint32_t k = 0; b->pack != NO_OP && k < d->g->ops.at[b->pack].n_in; k++)
        d->g->ops.at[b->pack].in[k] = b->in[k];
}

/* Places the device's blocks; the result is their height. */
static uint64_t place_blocks(Arena *a, BlockList *blocks, uint32_t n_time) {
    return memory_place(a, blocks->at, blocks->n, n_time);
}

/* Is the height less than that of these blocks? Where they need more at one time there is no need
 * to place them. Those that are lent come last and do not count: they may lie above all others. */
static bool is_lower(Arena *a, uint64_t height, BlockList *blocks, uint32_t n_time) {
    uint32_t n = 0, worst;
    while (n < blocks->n && !blocks->at[n].fixed) n++;
    if (height < memory_bound(a, blocks->at, n, n_time, &worst)) return true;
    return height < place_blocks(a, blocks, n_time);
}

/* Tries a move; false: it was no good, all is as before. */
static bool try_move(Defer *d, DeferredOp m, Before *b, Arena **now, Arena *all) {
    const Defer before = *d;
    Arena *moved = arena_child(all);
    d->tried[d->p->ops.at[m.from]] = true;
    *b = move_op(d, m, all);
    survey_program(d, moved);
    bool lower = d->bound < before.bound;
    arena_free(lower ? *now : moved);
    if (lower) {
        *now = moved;
    } else {
        move_back(d, b);
        *d = before;
        graph_number_rows(d->g, d->p);
    }
    return lower;
}

MemoryBlocks memory_defer(Graph *g, uint32_t program, Arena *a) {
    Arena *now = arena_child(a);
    Defer d = {.g = g, .p = &g->programs.at[program], .n_tried = g->ops.n};
    Before done[MOST_TRIES];
    int n = 0;
    DeferredOp m = {0, 0};
    d.tried = arena_array(a, bool, g->ops.n + 1);
    survey_program(&d, now);
    BlockList as_it_was = d.b.at[0];
    uint32_t n_time = d.p->ops.n;
    vec_copy(a, &as_it_was);
    for (int k = 0; k < MOST_TRIES && find_move(&d, &m); k++)
        n += try_move(&d, m, &done[n], &now, a);
    uint64_t height = place_blocks(now, &d.b.at[0], d.p->ops.n);
    if (!n || is_lower(a, height, &as_it_was, n_time)) return d.b;
    while (n > 0) move_back(&d, &done[--n]);
    arena_free(now);
    survey_program(&d, now = arena_child(a));
    place_blocks(now, &d.b.at[0], d.p->ops.n);
    return d.b;
}
