/* Memory: what a reshard has ended is not read (shard-5), what is in host memory is only fetched
 * (shard-9), and at level sched addresses follow the alias rules (sched-2, sched-3) and nothing
 * reads what an op took over (sched-8).
 *
 * Every value belongs to a root, the value whose memory it is in: a view to what it shows, a
 * result in place to its operand, the operands of a pack to the pack. A root has a version, which
 * grows when an op works in place on it, and an end, the reshard or free that gave it back.
 */
#include <stdlib.h>

#include "residency.h"
#include "verify.h"

enum { PLACE_ALIGN = 256 };

typedef struct Memory {
    Verify *v;
    ValueId *root;              /* by value */
    uint32_t *version;          /* by value: that of the root when it was made */
    uint32_t *current, *ending; /* by root: version now; op that gave it back, or NO_OP */
    ValueId *container;         /* by root: the pack that it lies in, or NO_VALUE */
    bool *inside;               /* by value: may lie at any place in another one */
} Memory;

/* The op that ended the memory of this root, or NO_OP. */
static uint32_t ending_of(const Memory *m, ValueId root) {
    ValueId pack = m->container[root];
    if (m->ending[root] != NO_OP || pack == NO_VALUE) return m->ending[root];
    return m->ending[m->root[pack]];
}

static void read_operands(Memory *m, const Op *op) {
    Verify *v = m->v;
    bool gives_back = op->kind == OP_reshard || op->kind == OP_free; /* reads no bytes */
    for (uint32_t i = 0; i < op->n_in; i++) {
        ValueId x = op->in[i], root = m->root[x];
        if (ending_of(m, root) != NO_OP)
            verify_broken(v, RULE_SHARD_5, op, "reads %%%u after #%u, which ends it",
                          v->value_number[x], ending_of(m, root));
        else if (v->placed && !gives_back && m->version[x] != m->current[root])
            verify_broken(v, RULE_SCHED_8, op, "reads %%%u after its memory was taken over",
                          v->value_number[x]);
    }
}

static void write_results(Memory *m, const Op *op) {
    for (uint32_t j = 0; j < op->n_out; j++) {
        ValueId x = op->out + j;
        int from = op_alias_must(op, j);
        m->root[x] = from < 0 ? x : m->root[op->in[from]];
        if (from >= 0 && op_info[op->kind].alias != ALIAS_VIEW) m->current[m->root[x]]++;
        m->version[x] = m->current[m->root[x]];
    }
    if (op_info[op->kind].alias != ALIAS_PACK) return;
    for (uint32_t i = 0; i < op->n_in; i++) m->container[m->root[op->in[i]]] = op->out;
}

static void walk_ops(Memory *m) {
    Verify *v = m->v;
    for (uint32_t k = 0; k < v->program->ops.n; k++) {
        const Op *op = verify_op(v, k);
        for (uint32_t j = 0; j < op->n_out; j++) {
            ValueId x = op->out + j;
            m->root[x] = x;
            m->current[x] = 0;
            m->ending[x] = NO_OP;
            m->container[x] = NO_VALUE;
        }
        read_operands(m, op);
        write_results(m, op);
        if (op->kind != OP_reshard && op->kind != OP_free) continue;
        for (uint32_t i = 0; i < op->n_in; i++) m->ending[m->root[op->in[i]]] = v->first_number + k;
    }
}

/* ---- addresses ---- */

/* From the last op to the first: what lies inside a pack or is worked on in place there. */
static void find_inside(Memory *m) {
    Verify *v = m->v;
    for (uint32_t k = v->program->ops.n; k-- > 0;) {
        const Op *op = verify_op(v, k);
        int alias = op_info[op->kind].alias;
        if (alias == ALIAS_PACK)
            for (uint32_t i = 0; i < op->n_in; i++) m->inside[op->in[i]] = true;
        for (uint32_t j = 0; j < op->n_out; j++) {
            int from = op_alias_must(op, j);
            if (from >= 0 && m->inside[op->out + j]) m->inside[op->in[from]] = true;
        }
        uint32_t n = alias == ALIAS_EACH ? op->n_out : alias == ALIAS_MAY && op->n_out;
        for (uint32_t j = 0; j < n; j++)
            for (uint32_t i = 0; m->inside[op->out + j] && i < op->n_in; i++)
                if (verify_value(v, op->in[i])->address == verify_value(v, op->out + j)->address)
                    m->inside[op->in[i]] = true;
    }
}

static void check_place(Memory *m, const Op *op, uint32_t j) {
    Verify *v = m->v;
    ValueId x = op->out + j;
    const Value *value = verify_value(v, x);
    if (value->type.dtype == DT_TOKEN) return;
    int from = op_alias_must(op, j);
    uint64_t at = value->address, size = value_room(v->g, value);
    uint64_t grain = m->inside[x] || from >= 0 ? dtype_bytes(value->type.dtype) : PLACE_ALIGN;
    uint64_t room = address_is_host(at) ? v->g->host_bytes : v->g->arena_bytes;
    if (at == NO_ADDRESS || at % grain || size > room || address_offset(at) > room - size)
        verify_broken(v, RULE_SCHED_2, op, "%%%u of %llu bytes is at %lld", v->value_number[x],
                      (unsigned long long)size, (long long)at);
    if (from < 0) return;
    uint64_t wanted = verify_value(v, op->in[from])->address;
    if (op_info[op->kind].alias == ALIAS_VIEW) wanted += (uint64_t)op->attr->offset;
    if (at != wanted)
        verify_broken(v, RULE_SCHED_3, op, "%%%u is at address %lld, not %lld", v->value_number[x],
                      (long long)at, (long long)wanted);
}

static void check_pack(Memory *m, const Op *op) {
    Verify *v = m->v;
    const Group *q = &v->g->groups.at[op->attr->group];
    const Value *flat = verify_value(v, op->out);
    for (uint32_t i = 0; i < op->n_in; i++) {
        uint64_t wanted =
            flat->address + (uint64_t)q->params.at[i].offset * dtype_bytes(flat->type.dtype);
        uint64_t at = verify_value(v, op->in[i])->address;
        if (at != wanted)
            verify_broken(v, RULE_SCHED_3, op, "%%%u is at address %lld, not %lld",
                          v->value_number[op->in[i]], (long long)at, (long long)wanted);
    }
}

/* Who reads and leaves what in host memory: fetch reads it, evict leaves it there. */
static void check_host(Verify *v, const Op *op) {
    for (uint32_t k = 0; k < op->n_in; k++) {
        bool away = value_is_away(v->g, op->in[k]);
        bool wanted = op->kind == OP_fetch;
        if (op->kind == OP_set_state)
            wanted = state_place(&v->g->policy, &v->g->states.at[op->attr->index]) != PLACE_DEVICE;
        if (away != wanted)
            verify_broken(v, RULE_SHARD_9, op, "reads %%%u, which is in memory of the %s",
                          v->value_number[op->in[k]], away ? "host" : "device");
    }
}

/* What is in a slot is read by the gather whose result has the slots, and by nothing else. */
static void check_slots(Memory *m, const Op *op) {
    Verify *v = m->v;
    for (uint32_t k = 0; k < op->n_in; k++) {
        const Value *x = verify_value(v, op->in[k]);
        if (!x->slots) continue;
        bool gathered = op->kind == OP_unshard && k < op->n_out && op->attr->axes == x->slots;
        const Value *to = gathered ? verify_value(v, op->out + k) : NULL;
        if (to && to->address == x->address && value_room(v->g, x) == value_room(v->g, to) &&
            !to->slots)
            continue;
        verify_broken(v, RULE_SCHED_3, op, "%%%u is in a slot of other memory",
                      v->value_number[op->in[k]]);
    }
}

static void check_state_value(Memory *m, const Op *op) {
    Verify *v = m->v;
    const State *s = &v->g->states.at[op->attr->index];
    ValueId x = op->kind == OP_state ? op->out : op->in[0];
    if (verify_value(v, x)->address != s->address)
        verify_broken(v, RULE_SCHED_3, op, "%%%u is not in the memory of state \"%s\"",
                      v->value_number[x], s->name);
}

void verify_memory(Verify *v) {
    if (v->g->level < LEVEL_SHARD) return;
    Memory m = {.v = v};
    m.root = arena_array(v->arena, ValueId, v->g->values.n);
    m.version = arena_array(v->arena, uint32_t, v->g->values.n);
    m.current = arena_array(v->arena, uint32_t, v->g->values.n);
    m.ending = arena_array(v->arena, uint32_t, v->g->values.n);
    m.container = arena_array(v->arena, ValueId, v->g->values.n);
    walk_ops(&m);
    for (uint32_t k = 0; k < v->program->ops.n && v->g->level >= LEVEL_COMM; k++)
        check_host(v, verify_op(v, k));
    if (!v->placed) return;
    m.inside = arena_array(v->arena, bool, v->g->values.n);
    find_inside(&m);
    for (uint32_t k = 0; k < v->program->ops.n; k++) {
        const Op *op = verify_op(v, k);
        for (uint32_t j = 0; j < op->n_out; j++) check_place(&m, op, j);
        if (op_info[op->kind].alias == ALIAS_PACK) check_pack(&m, op);
        check_slots(&m, op);
        if (op->kind == OP_state || op->kind == OP_set_state) check_state_value(&m, op);
    }
}

/* ---- states ---- */

static int compare_states(const void *a, const void *b) {
    const State *const *x = a, *const *y = b;
    if ((*x)->address != (*y)->address) return (*x)->address < (*y)->address ? -1 : 1;
    return *x < *y ? -1 : *x > *y;
}

void verify_state_places(Verify *v) {
    const Graph *g = v->g;
    const State **by_address = arena_array(v->arena, const State *, g->states.n);
    for (uint32_t i = 0; i < g->states.n; i++) by_address[i] = &g->states.at[i];
    if (g->states.n > 1) qsort(by_address, g->states.n, sizeof *by_address, compare_states);
    uint64_t end = 0;
    for (uint32_t i = 0; i < g->states.n; i++) {
        const State *s = by_address[i];
        uint64_t size = (uint64_t)type_bytes(&s->type);
        uint64_t room = address_is_host(s->address) ? g->host_persistent : g->persistent_bytes;
        bool host = state_place(&g->policy, s) != PLACE_DEVICE;
        if (host != address_is_host(s->address))
            verify_broken(v, RULE_SCHED_2, NULL, "state \"%s\" is not in memory of the %s", s->name,
                          host ? "host" : "device");
        else if (s->address % PLACE_ALIGN || size > room ||
                 address_offset(s->address) > room - size || s->address < end)
            verify_broken(v, RULE_SCHED_2, NULL, "state \"%s\" of %llu bytes is at %lld", s->name,
                          (unsigned long long)size, (long long)s->address);
        else
            end = s->address + size;
    }
    uint64_t peak = g->programs.n ? 0 : g->arena_bytes;
    for (uint32_t i = 0; i < g->programs.n; i++) peak = MAX(peak, g->programs.at[i].peak);
    if (g->persistent_bytes > g->arena_bytes || peak != g->arena_bytes)
        verify_broken(v, RULE_SCHED_6, NULL, "states end at %llu, the largest peak is %llu of %llu",
                      (unsigned long long)g->persistent_bytes, (unsigned long long)peak,
                      (unsigned long long)g->arena_bytes);
}
