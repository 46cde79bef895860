/* MemoryBlocks: which values share memory, and when each block's memory is taken.
 *
 * Values form sets by a union-find that keeps offsets: the address of a value is that of its parent
 * plus a shift. What must share is joined first: views with what they show, operands of a pack with
 * the pack, results with the operand that they replace, set_state's operand with the state. A set
 * that holds a state's value is pinned to its address. Then, in issue order, a result takes the
 * memory of an operand where the op allows it, the operand's whole block ends there and the
 * result's begins there.
 *
 * A gather is in place if its operand is a cast (or quantize) on its stream or a fetch, and nothing
 * else reads it: that op writes into this rank's slot of the gathered value. The block of the
 * result begins with that op.
 *
 * Where one value would have to be in two places (one gradient for two parameters, an operand that
 * is read after the op that replaces it), memory_copies has put a copy before the op, so a
 * contradiction here is a bug.
 */
#include <string.h>

#include "memory.h"
#include "residency.h"

typedef struct Build {
    MemoryBlocks *b;
    Spans spans;
} Build;

static int64_t value_bytes(const MemoryBlocks *b, ValueId v) {
    return type_bytes(&b->g->values.at[v].type);
}

static uint32_t find_root(const MemoryBlocks *b, ValueId v, int64_t *offset) {
    uint32_t row = b->g->values.at[v].row, root = row;
    int64_t sum = 0;
    for (; b->parent[root] != root; root = b->parent[root]) sum += b->shift[root];
    *offset = sum;
    for (int64_t rest = sum; b->parent[row] != row;) { /* the path becomes one step */
        uint32_t next = b->parent[row];
        int64_t step = b->shift[row];
        b->parent[row] = root;
        b->shift[row] = rest;
        rest -= step;
        row = next;
    }
    return root;
}

uint32_t memory_find(const MemoryBlocks *b, ValueId v, int64_t *offset) {
    uint32_t root = find_root(b, v, offset);
    *offset -= b->low[root];
    return root;
}

/* States that value w lies `delta` bytes after value v. false: they have other places already. */
static bool join_roots(MemoryBlocks *b, ValueId v, ValueId w, int64_t delta) {
    int64_t at_v, at_w;
    uint32_t r = find_root(b, v, &at_v), s = find_root(b, w, &at_w);
    int64_t shift = at_v + delta - at_w; /* of root s after root r */
    if (r == s) return shift == 0;
    if (b->pin[r] != NO_ADDRESS && b->pin[s] != NO_ADDRESS &&
        b->pin[r] + (uint64_t)shift != b->pin[s])
        return false;
    if (b->pin[r] == NO_ADDRESS && b->pin[s] != NO_ADDRESS) b->pin[r] = b->pin[s] - (uint64_t)shift;
    b->parent[s] = r;
    b->shift[s] = shift;
    b->low[r] = MIN(b->low[r], shift + b->low[s]);
    b->high[r] = MAX(b->high[r], shift + b->high[s]);
    b->start[r] = MIN(b->start[r], b->start[s]);
    b->end[r] = MAX(b->end[r], b->end[s]);
    b->first[r] = MIN(b->first[r], b->first[s]);
    b->last[r] = MAX(b->last[r], b->last[s]);
    return true;
}

static bool pin(MemoryBlocks *b, ValueId v, uint64_t address) {
    int64_t offset;
    uint32_t r = find_root(b, v, &offset);
    uint64_t root_address = address - (uint64_t)offset;
    if (b->pin[r] != NO_ADDRESS) return b->pin[r] == root_address;
    b->pin[r] = root_address;
    return true;
}

static void touch_root(Build *u, ValueId v, uint32_t i) {
    MemoryBlocks *b = u->b;
    int64_t offset;
    uint32_t r = find_root(b, v, &offset);
    b->start[r] = MIN(b->start[r], u->spans.from[i]);
    b->end[r] = MAX(b->end[r], u->spans.to[i]);
    b->first[r] = MIN(b->first[r], i);
    b->last[r] = MAX(b->last[r], i);
}

static int64_t pack_offset(const Graph *g, const Op *op, uint32_t k) {
    const Group *group = &g->groups.at[op->attr->group];
    return group->params.at[k].offset * dtype_bytes(g->values.at[op->out].type.dtype);
}

/* Joins what op must have in one place. false: operand *bad would have to be in two. */
static bool join_musts(MemoryBlocks *b, const Op *op, uint32_t *bad) {
    const Graph *g = b->g;
    *bad = 0;
    if (op->kind == OP_state) return pin(b, op->out, g->states.at[op->attr->index].address);
    if (op->kind == OP_set_state) return pin(b, op->in[0], g->states.at[op->attr->index].address);
    if (op_info[op->kind].alias == ALIAS_PACK)
        for (uint32_t k = 0; k < op->n_in; k++) {
            *bad = k;
            if (!join_roots(b, op->out, op->in[k], pack_offset(g, op, k))) return false;
        }
    for (uint32_t j = 0; j < op->n_out; j++) {
        int k = op_alias_must(op, j);
        if (k < 0) continue;
        *bad = (uint32_t)k;
        if (!join_roots(b, op->in[k], op->out + j, op->kind == OP_view ? op->attr->offset : 0))
            return false;
    }
    return true;
}

/* Operands that the op finds in the slots of its results. */
static void join_slots(Build *u, const Op *op, const uint32_t *readers) {
    MemoryBlocks *b = u->b;
    const Graph *g = b->g;
    for (uint32_t k = 0; op->kind == OP_unshard && k < op->n_in && k < op->n_out; k++) {
        const Value *v = &g->values.at[op->in[k]];
        const Op *def = &g->ops.at[v->def];
        bool made = (def->kind == OP_cast || def->kind == OP_quantize) && def->stream == op->stream;
        bool own = readers[v->row] == 1 && (made || def->kind == OP_fetch);
        if (own) join_roots(b, op->out + k, op->in[k], 0);
    }
}

static void join_all_slots(Build *u, Arena *scratch) {
    const Graph *g = u->b->g;
    const Program *p = u->b->p;
    uint32_t *readers = arena_array(scratch, uint32_t, u->b->n + 1);
    for (uint32_t i = 0; i < p->ops.n; i++) {
        const Op *op = &g->ops.at[p->ops.at[i]];
        for (uint32_t k = 0; k < op->n_in; k++) readers[g->values.at[op->in[k]].row]++;
    }
    for (uint32_t i = 0; i < p->ops.n; i++) join_slots(u, &g->ops.at[p->ops.at[i]], readers);
}

static bool is_token(const MemoryBlocks *b, ValueId v) {
    return b->g->values.at[v].type.dtype == DT_TOKEN;
}

static void touch_all(Build *u) {
    const MemoryBlocks *b = u->b;
    for (uint32_t i = 0; i < b->p->ops.n; i++) {
        const Op *op = &b->g->ops.at[b->p->ops.at[i]];
        if (op_info[op->kind].alias == ALIAS_VIEW || op->kind == OP_state) continue;
        for (uint32_t k = 0; k < op->n_in; k++)
            if (!is_token(b, op->in[k])) touch_root(u, op->in[k], i);
        for (uint32_t k = 0; k < op->n_out; k++)
            if (!is_token(b, op->out + k)) touch_root(u, op->out + k, i);
    }
}

/* Is operand k in the op's mask? */
static bool may_reuse(const Op *op, uint32_t k) {
    uint32_t mask = op_info[op->kind].alias_mask;
    return k < 32 ? mask >> k & 1 : mask == EVERY_OPERAND;
}

/* Do they have the same axes, except leading ones of size 1? */
static bool same_axes(const Type *a, const Type *b) {
    int rank = MAX(a->rank, b->rank);
    for (int i = 0; i < rank; i++) {
        int k = i - (rank - a->rank), j = i - (rank - b->rank);
        if ((k < 0 ? 1 : a->dim[k]) != (j < 0 ? 1 : b->dim[j])) return false;
    }
    return true;
}

/* Does each element of the result depend only on the element in its place in the operand, or on the
 * row of that? Equal numbers of elements are not enough: each element of a result [B, T, 1] may
 * depend on a whole row of an operand [B, 1, T]. They are enough if a formula moves parts
 * (pieces.h, may_share). */
static bool lie_alike(const Graph *g, const Op *op, const Type *from, const Type *to) {
    if (from->pitch != to->pitch) return false;
    if (op->kind == OP_fused) {
        const Formula *f = &g->formulas.at[op->attr->index];
        if (formula_moves(f->n_step, f->step)) return type_elements(from) == type_elements(to);
    }
    return same_axes(from, to);
}

/* Does the op find each operand that is in block r where it may write the result? A value and a
 * view of it with other axes are two operands in one block. */
static bool all_lie_alike(Build *u, const Op *op, uint32_t r, const Type *to) {
    const Graph *g = u->b->g;
    for (uint32_t k = 0; k < op->n_in; k++) {
        int64_t at;
        if (find_root(u->b, op->in[k], &at) != r) continue;
        if (!may_reuse(op, k) || !lie_alike(g, op, &g->values.at[op->in[k]].type, to)) return false;
    }
    return true;
}

/* May value `out`, a result of op i, take the memory of operand k? */
static bool can_reuse(Build *u, const Op *op, uint32_t i, uint32_t k, ValueId out) {
    MemoryBlocks *b = u->b;
    int64_t at_in, at_out;
    uint32_t r = find_root(b, op->in[k], &at_in), s = find_root(b, out, &at_out);
    int64_t bytes = value_bytes(b, out);
    if (r == s || value_bytes(b, op->in[k]) != bytes) return false;
    if (!all_lie_alike(u, op, r, &b->g->values.at[out].type)) return false;
    if (b->pin[r] != NO_ADDRESS || b->pin[s] != NO_ADDRESS) return false;
    if (b->high[r] - b->low[r] != bytes || b->high[s] - b->low[s] != bytes) return false;
    return b->end[r] == u->spans.to[i] && b->start[s] == u->spans.from[i];
}

/* Does one of the first j results have the memory of operand k? It counts even if nothing reads it.
 */
static bool is_given(MemoryBlocks *b, const Op *op, uint32_t j, uint32_t k) {
    int64_t at;
    uint32_t root = find_root(b, op->in[k], &at);
    for (uint32_t i = 0; i < j; i++)
        if (find_root(b, op->out + i, &at) == root) return true;
    return false;
}

static void join_reuse(Build *u) {
    MemoryBlocks *b = u->b;
    for (uint32_t i = 0; i < b->p->ops.n; i++) {
        const Op *op = &b->g->ops.at[b->p->ops.at[i]];
        const OpInfo *o = &op_info[op->kind];
        uint32_t n = o->alias == ALIAS_MAY ? 1 : o->alias == ALIAS_EACH ? op->n_out : 0;
        if (op->stream != STREAM_COMPUTE) continue;
        for (uint32_t j = 0; j < n; j++)
            for (uint32_t k = 0; k < op->n_in; k++)
                if (may_reuse(op, k) && !is_given(b, op, j, k) &&
                    can_reuse(u, op, i, k, op->out + j)) {
                    join_roots(b, op->in[k], op->out + j, 0);
                    break;
                }
    }
}

static void number_blocks(MemoryBlocks *b) {
    for (uint32_t i = 0; i < b->p->ops.n; i++) {
        const Op *op = &b->g->ops.at[b->p->ops.at[i]];
        for (uint32_t k = 0; k < op->n_out; k++) {
            int64_t offset;
            uint32_t r = find_root(b, op->out + k, &offset);
            if (is_token(b, op->out + k) || b->pin[r] != NO_ADDRESS || b->block[r] != UINT32_MAX)
                continue;
            if (b->high[r] == b->low[r] || b->first[r] == UINT32_MAX) continue;
            MemoryBlock block = {.size = align_up((uint64_t)(b->high[r] - b->low[r]), MEMORY_ALIGN),
                                 .start = b->start[r],
                                 .end = b->end[r],
                                 .first = b->first[r],
                                 .last = b->last[r]};
            BlockList *at = &b->at[value_is_away(b->g, op->out + k)];
            b->block[r] = at->n;
            vec_push(b->arena, at, block);
        }
    }
}

static MemoryBlocks empty_blocks(Graph *g, const Program *p, Arena *a) {
    MemoryBlocks b = {.g = g, .arena = a, .p = p, .n = graph_number_rows(g, p)};
    size_t n = b.n + 1;
    b.order = memory_order(g, p, b.n, a);
    b.parent = arena_array(a, uint32_t, n);
    b.shift = arena_array(a, int64_t, n);
    b.low = arena_array(a, int64_t, n);
    b.high = arena_array(a, int64_t, n);
    b.pin = arena_array(a, uint64_t, n);
    b.start = arena_array(a, uint32_t, n);
    b.end = arena_array(a, uint32_t, n);
    b.first = arena_array(a, uint32_t, n);
    b.last = arena_array(a, uint32_t, n);
    b.block = arena_array(a, uint32_t, n);
    for (uint32_t i = 0; i < p->ops.n; i++) {
        const Op *op = &g->ops.at[p->ops.at[i]];
        for (uint32_t k = 0; k < op->n_out; k++) {
            const Value *v = &g->values.at[op->out + k];
            b.parent[v->row] = v->row;
            b.high[v->row] = type_bytes(&v->type);
            b.pin[v->row] = NO_ADDRESS;
            b.start[v->row] = b.first[v->row] = b.block[v->row] = UINT32_MAX;
        }
    }
    return b;
}

/* ---- lent memory ----
 *
 * During a part of a program, a master shard exists only within the gathered parameters: from the
 * gather, which is the last reader of its old value, until its new value is written. Meanwhile its
 * memory is lent to other values.
 *
 * Such states are recognized by their ops: the value that set_state stores was not made in place of
 * the old one. They lie together after all other states, which leaves enough space for a large
 * value, and count as blocks with a fixed place when a program's blocks are placed. If a program
 * only reads a state, or updates it in place, it does not lend the state's memory.
 */

/* Was the value that set_state stores made in place of the state's old value? */
static bool is_in_place(const Graph *g, const Op *set) {
    ValueId v = set->in[0];
    const Op *def = value_maker(g, v);
    for (int k; (k = op_alias_must(def, g->values.at[v].result)) >= 0;) {
        v = def->in[k];
        def = value_maker(g, v);
    }
    return def->kind == OP_state && def->attr->index == set->attr->index;
}

bool *memory_lent_states(const Graph *g, uint32_t role, Arena *a) {
    bool *lent = arena_array(a, bool, g->states.n + 1);
    for (uint32_t i = 0; i < g->programs.n; i++) {
        const Program *p = &g->programs.at[i];
        for (uint32_t k = 0; k < p->ops.n && graph_role_of(g, p->stage) == role; k++) {
            const Op *op = &g->ops.at[p->ops.at[k]];
            if (op->kind != OP_set_state) continue;
            const State *s = &g->states.at[op->attr->index];
            if (resident_of(s->role) == RESIDENT_MASTER &&
                state_place(&g->policy, s) == PLACE_DEVICE && !is_in_place(g, op))
                lent[op->attr->index] = true;
        }
    }
    return lent;
}

/* When a program needs a state's memory for its old value, and for its new one. */
typedef struct MasterLifetime {
    uint32_t end, last;    /* until then for the old one */
    uint32_t start, first; /* from then on for the new one; UINT32_MAX: there is none */
} MasterLifetime;

static void note_lifetime(MemoryBlocks *b, const Op *op, MasterLifetime *lifetime) {
    int64_t offset;
    if (op->kind == OP_state) {
        uint32_t r = memory_find(b, op->out, &offset);
        if (b->first[r] == UINT32_MAX) return;
        lifetime->end = MAX(lifetime->end, b->end[r]);
        lifetime->last = MAX(lifetime->last, b->last[r]);
    } else if (op->kind == OP_set_state) {
        uint32_t r = memory_find(b, op->in[0], &offset);
        lifetime->start = is_in_place(b->g, op) ? 0 : b->start[r];
        lifetime->first = is_in_place(b->g, op) ? 0 : b->first[r];
    }
}

static void add_block(MemoryBlocks *b, const State *s, uint32_t start, uint32_t end, uint32_t first,
                      uint32_t last) {
    MemoryBlock block = {.size = align_up((uint64_t)type_bytes(&s->type), MEMORY_ALIGN),
                         .start = start,
                         .end = end,
                         .first = first,
                         .last = last,
                         .fixed = true,
                         .offset = s->address - b->base};
    vec_push(b->arena, &b->at[0], block);
}

static void add_lent(MemoryBlocks *b) {
    const Graph *g = b->g;
    uint32_t role = graph_role_of(g, b->p->stage);
    bool *lent = memory_lent_states(g, role, b->arena);
    MasterLifetime *lifetime = arena_array(b->arena, MasterLifetime, g->states.n + 1);
    b->base = g->roles.at[role].persistent_bytes;
    for (uint32_t s = 0; s < g->states.n; s++) {
        lifetime[s] = (MasterLifetime){.start = UINT32_MAX};
        int32_t stage = g->states.at[s].stage;
        lent[s] &= stage == NO_INDEX || graph_role_of(g, stage) == role;
        if (lent[s]) b->base = MIN(b->base, g->states.at[s].address);
    }
    for (uint32_t i = 0; i < b->p->ops.n; i++) {
        const Op *op = &g->ops.at[b->p->ops.at[i]];
        bool names = op->kind == OP_state || op->kind == OP_set_state;
        if (names && lent[op->attr->index]) note_lifetime(b, op, &lifetime[op->attr->index]);
    }
    for (uint32_t s = 0; s < g->states.n && b->p->ops.n; s++) {
        const State *state = &g->states.at[s];
        const MasterLifetime *at = &lifetime[s];
        uint32_t end = b->p->ops.n - 1;
        if (!lent[s]) continue;
        if (at->start > end || at->start <= at->end + 1) {
            add_block(b, state, 0, end, 0, end);
            continue;
        }
        add_block(b, state, 0, at->end, 0, at->last);
        add_block(b, state, at->start, end, at->first, end);
    }
}

/* ---- the blocks */

MemoryBlocks memory_blocks(Graph *g, const Program *p, Arena *scratch) {
    MemoryBlocks b = empty_blocks(g, p, scratch);
    uint32_t bad;
    Build u = {.b = &b, .spans = memory_spans(&b.order, b.n, scratch)};
    for (uint32_t i = 0; i < p->ops.n; i++) {
        const Op *op = &g->ops.at[p->ops.at[i]];
        if (!join_musts(&b, op, &bad))
            BUG("%s: operand %u of %s has no place that suits all of its users", op->path, bad,
                op_info[op->kind].name);
    }
    join_all_slots(&u, scratch);
    touch_all(&u);
    join_reuse(&u);
    number_blocks(&b);
    add_lent(&b);
    return b;
}

/* ---- copies */

typedef struct Copies {
    MemoryBlocks b;
    uint32_t *last_read;  /* by value (the one that a view shows): last position that reads it */
    uint32_t *state_read; /* by state: last position that reads its entry value */
    VEC(OpId) list;       /* the new program */
} Copies;

static ValueId base_of(const Copies *c, ValueId v) { return memory_base(&c->b.order, v); }

static uint32_t *last_read(const Copies *c, ValueId v) {
    return &c->last_read[c->b.g->values.at[v].row];
}

static void find_reads(Copies *c, const Graph *g, const Program *p) {
    for (uint32_t i = 0; i < p->ops.n; i++) {
        const Op *op = &g->ops.at[p->ops.at[i]];
        for (uint32_t k = 0; k < op->n_in && op_info[op->kind].alias != ALIAS_VIEW; k++) {
            ValueId base = base_of(c, op->in[k]);
            const Op *def = value_maker(g, base);
            *last_read(c, base) = i;
            if (def->kind == OP_state && op->kind != OP_set_state)
                c->state_read[def->attr->index] = i;
        }
    }
}

/* Is operand k of op i replaced although something reads it later, or named twice? */
static bool needs_copy(const Copies *c, const Graph *g, const Op *op, uint32_t i, uint32_t k) {
    const OpInfo *o = &op_info[op->kind];
    ValueId base = base_of(c, op->in[k]);
    if (op->kind == OP_set_state) {
        const Op *def = value_maker(g, base);
        bool own = def->kind == OP_state && def->attr->index == op->attr->index;
        /* the state's old contents are still read when the new ones are written */
        return !own && c->state_read[op->attr->index] > def->row;
    }
    bool replaced = o->alias == ALIAS_PACK;
    for (uint32_t j = 0; j < op->n_out && o->alias != ALIAS_VIEW; j++)
        replaced |= op_alias_must(op, j) == (int)k;
    if (!replaced) return false;
    for (uint32_t j = 0; j < k; j++)
        if (base_of(c, op->in[j]) == base) return true;
    return *last_read(c, base) > i;
}

OpId memory_copy(Graph *g, OpId user, ValueId v) {
    Builder b = {.g = g};
    builder_like(&b, &g->ops.at[user]);
    b.stage = 0;
    OpId id = op_emit_apart(&b, OP_scale, &(Attrs){.alpha = 1}, 1, &v, NULL);
    Value *copy = &g->values.at[g->ops.at[id].out];
    copy->type = g->values.at[v].type;
    copy->placement = g->values.at[v].placement;
    return id;
}

/* A graph that was written by hand may ask for what copies cannot give, such as a state's old value
 * after its set_state. */
static bool report_impossible(Graph *g, const Program *p, OpId first_copy, OpId id) {
    const Op *op = &g->ops.at[id];
    uint32_t number = 0;
    for (uint32_t i = 0; i < p->ops.n && p->ops.at[i] != id; i++)
        number += p->ops.at[i] < first_copy;
    return diag_report(g->diags, E_pass_order, op->span,
                       "is a state read after its set_state, or set twice?",
                       "program %s, #%u %s: no place in memory suits all users of an operand",
                       program_name(p->kind), number, op_info[op->kind].name);
}

/* One round over the program; *changed: copies were added. */
static bool put_copies(Graph *g, uint32_t program, OpId first_copy, OpId *last, bool *changed,
                       Arena *a) {
    Program *p = &g->programs.at[program];
    Copies c = {.b = empty_blocks(g, p, a)};
    c.last_read = arena_array(a, uint32_t, c.b.n + 1);
    c.state_read = arena_array(a, uint32_t, g->states.n + 1);
    find_reads(&c, g, p);
    uint32_t bad, n_ops = p->ops.n;
    *changed = false;
    for (uint32_t i = 0; i < n_ops; i++) {
        OpId id = p->ops.at[i];
        const Op *op = &g->ops.at[id];
        bool *copied = NULL;
        for (uint32_t k = 0; k < op->n_in; k++) {
            if (!needs_copy(&c, g, op, i, k)) continue;
            if (!copied) copied = arena_array(a, bool, op->n_in);
            copied[k] = true;
        }
        if (!copied && !join_musts(&c.b, op, &bad)) {
            if (bad >= op->n_in) return report_impossible(g, p, first_copy, id);
            copied = arena_array(a, bool, op->n_in);
            copied[bad] = true;
        }
        for (uint32_t k = 0; copied && k < g->ops.at[id].n_in; k++)
            if (copied[k]) {
                int dtype = g->values.at[g->ops.at[id].in[k]].type.dtype;
                if (!dtype_is_float(dtype)) return report_impossible(g, p, first_copy, id);
                OpId copy = memory_copy(g, id, g->ops.at[id].in[k]);
                vec_push(g->arena, &c.list, copy);
                g->ops.at[id].in[k] = g->ops.at[copy].out;
                *last = id;
                *changed = true;
            }
        vec_push(g->arena, &c.list, id);
    }
    if (!*changed) return true;
    p = &g->programs.at[program];
    p->ops.at = c.list.at;
    p->ops.n = c.list.n;
    p->ops.capacity = c.list.capacity;
    return true;
}

bool memory_copies(Graph *g, uint32_t program) {
    enum { MOST_ROUNDS = 64 }; /* a copy seldom needs another */
    OpId first_copy = g->ops.n, last = 0;
    bool changed = true;
    for (int round = 0; changed && round < MOST_ROUNDS; round++) {
        Arena *scratch = arena_new();
        bool done = put_copies(g, program, first_copy, &last, &changed, scratch);
        arena_free(scratch);
        if (!done) return false;
    }
    return !changed || report_impossible(g, &g->programs.at[program], first_copy, last);
}
