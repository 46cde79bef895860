/* Memory: what is in host memory is only fetched (shard-9), and at level sched addresses are in
 * bounds and aligned (sched-2). Whether values that share memory may do so, whether something reads
 * what a reshard has ended, and whether peaks and workspaces suffice, is not looked at: plan_check
 * proves it (proofs 2, 3 and 6).
 */
#include "residency.h"
#include "verify.h"

enum { PLACE_ALIGN = 256 };

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

/* ---- addresses ---- */

/* From the last op to the first: what lies inside a pack or is worked on in place there. Each value
 * is of one program, so the table serves all of them. */
static void find_inside(Verify *v) {
    if (!v->inside) v->inside = arena_array(v->arena, bool, v->g->values.n);
    for (uint32_t k = v->program->ops.n; k-- > 0;) {
        const Op *op = verify_op(v, k);
        int alias = op_info[op->kind].alias;
        if (alias == ALIAS_PACK)
            for (uint32_t i = 0; i < op->n_in; i++) v->inside[op->in[i]] = true;
        for (uint32_t j = 0; j < op->n_out; j++) {
            int from = op_alias_must(op, j);
            if (from >= 0 && v->inside[op->out + j]) v->inside[op->in[from]] = true;
        }
        uint32_t n = alias == ALIAS_EACH ? op->n_out : alias == ALIAS_MAY && op->n_out;
        for (uint32_t j = 0; j < n; j++)
            for (uint32_t i = 0; v->inside[op->out + j] && i < op->n_in; i++)
                if (verify_value(v, op->in[i])->address == verify_value(v, op->out + j)->address)
                    v->inside[op->in[i]] = true;
    }
}

static bool lies_in(uint64_t at, uint64_t size, uint64_t grain, uint64_t room) {
    return at != NO_ADDRESS && at % grain == 0 && size <= room && address_offset(at) <= room - size;
}

static void check_place(Verify *v, const Op *op, uint32_t j) {
    ValueId x = op->out + j;
    const Value *value = verify_value(v, x);
    if (value->type.dtype == DT_TOKEN) return;
    bool beside = !v->inside[x] && op_alias_must(op, j) < 0;
    uint64_t at = value->address, size = value_room(v->g, value);
    const RoleMemory *role = &v->g->roles.at[graph_role_of(v->g, v->program->stage)];
    if (!lies_in(at, size, beside ? PLACE_ALIGN : dtype_bytes(value->type.dtype),
                 address_is_host(at) ? role->host_bytes : role->arena_bytes))
        verify_broken(v, RULE_SCHED_2, op, "%%%u of %llu bytes is at %lld", v->value_number[x],
                      (unsigned long long)size, (long long)at);
}

void verify_memory(Verify *v) {
    if (v->g->level < LEVEL_SHARD) return;
    for (uint32_t k = 0; k < v->program->ops.n && v->g->level >= LEVEL_COMM; k++)
        check_host(v, verify_op(v, k));
    if (!v->placed) return;
    find_inside(v);
    for (uint32_t k = 0; k < v->program->ops.n; k++)
        for (uint32_t j = 0; j < verify_op(v, k)->n_out; j++) check_place(v, verify_op(v, k), j);
}

void verify_state_places(Verify *v) {
    const Graph *g = v->g;
    for (uint32_t i = 0; i < g->states.n; i++) {
        const State *s = &g->states.at[i];
        uint64_t size = (uint64_t)type_bytes(&s->type);
        for (uint32_t r = 0; r < g->roles.n; r++) {
            const RoleMemory *role = &g->roles.at[r];
            if (s->stage != NO_INDEX && graph_role_of(g, s->stage) != r) continue;
            if (!lies_in(s->address, size, PLACE_ALIGN,
                         address_is_host(s->address) ? role->host_persistent
                                                     : role->persistent_bytes))
                verify_broken(v, RULE_SCHED_2, NULL, "state \"%s\" of %llu bytes is at %lld",
                              s->name, (unsigned long long)size, (long long)s->address);
        }
    }
}
