/* How long a side stream's op keeps the memory that it touches, in positions of the program's list.
 *
 * A gather or a reduction runs at no fixed time: it can begin as soon as the last compute op that
 * its stream waited for is done, and it has surely ended at the first compute op that waits for it.
 * So its memory is taken from after the former to before the latter. Memory placed by these spans
 * can be reused without any edge beyond those that data, tokens and the order of gathers already
 * give.
 *
 * Going forward, `from` is the latest compute op that happens before; going backward, `to` is the
 * earliest compute op that happens after. A gather or a fetch happens after the compute ops that
 * are issued before it, a reshard or free after all readers of its operands: pass edges makes it
 * so.
 */
#include "memory.h"

typedef struct Walk {
    const Graph *g;
    const Program *p;
    const MemoryOrder *o;
    uint32_t (*reader)[STREAM_KINDS]; /* by base value: last reader of each stream, plus 1 */
    Spans spans;
} Walk;

static const Op *op_at(const Walk *w, uint32_t i) { return &w->g->ops.at[w->p->ops.at[i]]; }

/* The last readers of the value that v is a view of. */
static uint32_t *readers_of(const Walk *w, ValueId v) {
    return w->reader[w->g->values.at[memory_base(w->o, v)].row];
}

/* The latest compute op that the op waits for, plus 1; at least `from`. */
static uint32_t latest_before(const Walk *w, const Op *op, uint32_t from) {
    for (uint32_t k = 0; k < op->n_in; k++) {
        const Op *def = value_maker(w->g, op->in[k]);
        if (def->kind == OP_state) continue;
        from = MAX(from, def->stream == STREAM_COMPUTE ? def->row + 1 : w->spans.from[def->row]);
    }
    return from;
}

static void go_forward(Walk *w) {
    uint32_t stream_from[STREAM_KINDS] = {0}, worked = 0;
    for (uint32_t i = 0; i < w->p->ops.n; i++) {
        const Op *op = op_at(w, i);
        for (uint32_t k = 0; k < op->n_in && op_info[op->kind].alias != ALIAS_VIEW; k++)
            readers_of(w, op->in[k])[op->stream] = i + 1;
        w->spans.from[i] = i;
        if (op->stream == STREAM_COMPUTE) {
            if (!op_only_names(op)) worked = i + 1;
            continue;
        }
        uint32_t from = stream_from[op->stream];
        if (stream_runs_ahead(op->stream)) from = worked;
        w->spans.from[i] = stream_from[op->stream] = latest_before(w, op, from);
    }
}

static void go_backward(Walk *w) {
    uint32_t n = w->p->ops.n, stream_to[STREAM_KINDS];
    for (int s = 0; s < STREAM_KINDS; s++) stream_to[s] = n - 1;
    for (uint32_t i = 0; i < n; i++) w->spans.to[i] = n - 1;
    for (uint32_t i = n; i-- > 0;) {
        const Op *op = op_at(w, i);
        bool compute = op->stream == STREAM_COMPUTE;
        if (compute)
            w->spans.to[i] = i;
        else
            w->spans.to[i] = stream_to[op->stream] = MIN(w->spans.to[i], stream_to[op->stream]);
        /* what op i waits for has ended before i, or before the compute op that waits for i */
        uint32_t done = compute ? (i ? i - 1 : 0) : w->spans.to[i];
        for (uint32_t k = 0; k < op->n_in; k++) {
            uint32_t d = value_maker(w->g, op->in[k])->row;
            if (op_at(w, d)->stream != STREAM_COMPUTE) w->spans.to[d] = MIN(w->spans.to[d], done);
            if (op->kind != OP_reshard && op->kind != OP_free) continue;
            for (int s = STREAM_COMPUTE + 1; s < STREAM_KINDS; s++) {
                uint32_t reader = readers_of(w, op->in[k])[s];
                if (reader && reader - 1 < i)
                    w->spans.to[reader - 1] = MIN(w->spans.to[reader - 1], done);
            }
        }
    }
}

Spans memory_spans(const MemoryOrder *order, uint32_t n_values, Arena *a) {
    Walk w = {.g = order->g, .p = order->p, .o = order};
    w.reader = arena_alloc(a, sizeof *w.reader * (n_values + 1));
    w.spans.from = arena_array(a, uint32_t, w.p->ops.n + 1);
    w.spans.to = arena_array(a, uint32_t, w.p->ops.n + 1);
    go_forward(&w);
    if (w.p->ops.n) go_backward(&w);
    return w.spans;
}

/* ---- what stands between an op and another place in its program's list ---- */

static uint32_t order_row(const MemoryOrder *o, ValueId v) { return o->g->values.at[v].row; }

MemoryOrder memory_order(const Graph *g, const Program *p, uint32_t n_values, Arena *a) {
    MemoryOrder o = {g, p, arena_array(a, ValueId, n_values + 1),
                     arena_array(a, uint32_t, n_values + 1)};
    for (uint32_t v = 0; v < n_values; v++) o.first_read[v] = UINT32_MAX;
    for (uint32_t i = 0; i < p->ops.n; i++) {
        const Op *op = &g->ops.at[p->ops.at[i]];
        bool view = op_info[op->kind].alias == ALIAS_VIEW;
        for (uint32_t k = 0; k < op->n_in; k++)
            o.first_read[order_row(&o, op->in[k])] = MIN(o.first_read[order_row(&o, op->in[k])], i);
        for (uint32_t k = 0; k < op->n_out; k++)
            o.base[order_row(&o, op->out + k)] = view ? memory_base(&o, op->in[0]) : op->out + k;
    }
    return o;
}

bool memory_gives_back(const Op *op) { return op->kind == OP_reshard || op->kind == OP_free; }

bool memory_may_move(const MemoryOrder *order, const Op *op) {
    const OpInfo *o = &op_info[op->kind];
    bool pure = o->effect == EFFECT_PURE && op->stream == STREAM_COMPUTE;
    if (!pure || op_only_names(op) || o->alias == ALIAS_PACK) return false;
    for (uint32_t j = 0; j < op->n_out; j++)
        if (op_alias_must(op, j) >= 0) return false;
    for (uint32_t k = 0; k < op->n_in; k++)
        if (value_maker(order->g, memory_base(order, op->in[k]))->kind == OP_state) return false;
    return true;
}

bool memory_takes_operand(const MemoryOrder *order, const Op *later, const Op *op) {
    const OpInfo *o = &op_info[later->kind];
    if (o->alias == ALIAS_VIEW) return false;
    for (uint32_t k = 0; k < later->n_in; k++) {
        bool taken = memory_gives_back(later) || o->alias == ALIAS_PACK;
        for (uint32_t j = 0; j < later->n_out; j++) taken |= op_alias_must(later, j) == (int)k;
        for (uint32_t j = 0; j < op->n_in && taken; j++)
            if (memory_base(order, later->in[k]) == memory_base(order, op->in[j])) return true;
    }
    return false;
}
