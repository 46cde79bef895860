/* Test mode FSDP_CHECK=memory: observes what the plan says about memory.
 *
 * From the instructions it derives the last one that touches each value. After it, the bytes of the
 * value that nothing alive covers are filled with 0xff (a NaN in every float type), so that a later
 * read of freed memory shows in the numbers. The contents of a state are alive before, between and
 * after calls; where a program writes the new contents elsewhere than over the old ones, the
 * state's memory is lent, and free like other memory in between. A value's bytes that are no longer
 * 0xff when it ends were written: the highest such byte is the observed high-water mark of the
 * arena. A guard of known bytes lies between arena and workspace, and another after the workspace;
 * kernels get their workspace ending at the guard. Any changed guard byte ends the run.
 *
 * A kernel whose result overlaps an operand runs a second time, with copies of such operands and of
 * the previous contents of the results' memory: it must compute the same bytes. Operands that it
 * must replace are left out, since no kernel has another place for them.
 *
 * Works on devices whose arena is host memory, in issue order. A gather that ranks share
 * (shared_gather.c) lives until they have met after its last reader; it is filled in the arena in
 * which it is, and what other arenas have at its address stays filled.
 */
#include <string.h>

#include "op.h"
#include "prepared.h"
#include "signature.h"
#include "testing.h"

enum { POISON = 0xff, GUARD = 0xa5 };

typedef struct ByteRange {
    uint64_t begin, end;
} ByteRange;

/* What is alive, and the last instruction that touches it. */
typedef struct Life {
    ByteRange range;
    uint32_t last; /* NEVER: it outlives the program */
} Life;

static const uint32_t NEVER = UINT32_MAX;

typedef struct MemoryCheck {
    Rank *rank;
    uint32_t
        *first; /* [instrs + 1] ranges that end after instruction k: first[k] .. first[k + 1] */
    VEC(ByteRange) freed;
    uint32_t *last; /* [values] last instruction that touches the value, or NEVER */
    Life *live;     /* [values + states] while a program is looked at */
    uint32_t n_live;
    uint8_t guard[GUARD_BYTES];
    /* of the instruction that is issued: where it finds operands and results the second time */
    const void **in;
    void **out;
    bool again;
    char *copies; /* space for those of any instruction */
} MemoryCheck;

static ByteRange range_of(const Plan *p, uint32_t v) {
    uint64_t at = p->values[v].address;
    return (ByteRange){at, at + plan_room(p, &p->values[v])};
}

/* Adds the parts of r that no live range from row `from` on covers. */
static void free_rest(MemoryCheck *m, ByteRange r, uint32_t from) {
    for (uint32_t i = from; i < m->n_live && r.begin < r.end; i++) {
        ByteRange o = m->live[i].range;
        if (o.end <= r.begin || o.begin >= r.end) continue;
        if (o.begin > r.begin) free_rest(m, (ByteRange){r.begin, o.begin}, i + 1);
        r.begin = MIN(o.end, r.end);
    }
    if (r.begin < r.end) vec_push(m->rank->memory, &m->freed, r);
}

/* What a state becomes, and what that is made over, is alive for good. */
static void find_last_uses(const Plan *p, uint32_t *last) {
    for (uint64_t v = 0; v < p->n_values; v++) last[v] = p->values[v].def;
    for (uint32_t k = (uint32_t)p->n_instrs; k-- > 0;) {
        const PlanInstr *in = &p->instrs[k];
        const OpInfo *op = &op_info[in->op];
        for (uint32_t i = 0; i < in->n_in; i++) {
            uint32_t v = p->operands[in->first_in + i];
            bool over = op->alias == ALIAS_MUST && i < 32 && op->alias_mask >> i & 1;
            bool stays = over && i < in->n_out && last[in->first_out + i] == NEVER;
            last[v] = in->op == OP_set_state || stays ? NEVER : MAX(last[v], k);
        }
    }
}

/* What the rank keeps between calls of a state, which for kept activations is all slots. */
static ByteRange range_of_state(const Rank *r, const PlanState *s) {
    const PlanRole *role = rank_role(r);
    uint64_t at = s->address;
    if (!rank_has_state(r, s)) return (ByteRange){0, 0};
    if (s->role != STATE_KEPT) return (ByteRange){at, at + (uint64_t)type_bytes(&s->type)};
    return (ByteRange){role->kept_at, role->kept_at + role->kept_bytes * role->kept_slots};
}

/* The states, each until its memory is lent. */
static void begin_with_states(MemoryCheck *m, const PlanProgram *q, uint32_t *old) {
    const Plan *p = m->rank->run->plan;
    m->n_live = (uint32_t)p->n_states;
    for (uint32_t i = 0; i < p->n_states; i++) {
        m->live[i] = (Life){range_of_state(m->rank, &p->states[i]), NEVER};
        old[i] = NEVER;
    }
    for (uint32_t k = q->first_instr; k < q->first_instr + q->n_instr; k++) {
        const PlanInstr *in = &p->instrs[k];
        if (in->op == OP_state) old[in->attr.index] = m->last[in->first_out];
        if (in->op == OP_set_state) m->live[in->attr.index].last = old[in->attr.index];
    }
}

static void analyse_program(MemoryCheck *m, const PlanProgram *q, uint32_t *old) {
    const Plan *p = m->rank->run->plan;
    begin_with_states(m, q, old);
    for (uint32_t k = q->first_instr; k < q->first_instr + q->n_instr; k++) {
        const PlanInstr *in = &p->instrs[k];
        for (uint32_t v = in->first_out; v < in->first_out + in->n_out; v++)
            if (p->values[v].type.dtype != DT_TOKEN)
                m->live[m->n_live++] = (Life){range_of(p, v), m->last[v]};
        uint32_t all = m->n_live;
        for (uint32_t i = all; i-- > 0;) { /* what ends here goes behind the rest */
            Life life = m->live[i];
            if (life.last != k) continue;
            m->live[i] = m->live[--m->n_live];
            m->live[m->n_live] = life;
        }
        m->first[k] = m->freed.n;
        for (uint32_t i = m->n_live; i < all; i++) free_rest(m, m->live[i].range, 0);
        m->first[k + 1] = m->freed.n;
    }
}

/* ---- results over operands */

/* Must result j of the instruction take the memory of operand k? */
static bool must_replace(const PlanInstr *in, uint32_t k, uint32_t j) {
    const OpInfo *o = &op_info[in->op];
    if (o->alias == ALIAS_MUST) return j == k && (k >= 32 || o->alias_mask >> k & 1);
    return o->alias == ALIAS_ACC && !j && k == op_signature((OpKind)in->op)->in_max - 1u;
}

static bool overlap_in_memory(const void *a, const Type *a_type, const void *b,
                              const Type *b_type) {
    const char *x = a, *y = b;
    return x < y + type_bytes(b_type) && y < x + type_bytes(a_type);
}

/* Lies a result over operand k that need not? */
static bool is_overwritten(const PlanInstr *in, const KernelCall *c, uint32_t k) {
    for (uint32_t j = 0; j < c->n_out; j++)
        if (!must_replace(in, k, j) &&
            overlap_in_memory(c->in[k], c->in_type[k], c->out[j], c->out_type[j]))
            return true;
    return false;
}

/* Bytes that the copies of an instruction take; 0: it has none. */
static uint64_t copied_bytes(const PlanInstr *in, const KernelCall *c) {
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < c->n_in; k++)
        if (is_overwritten(in, c, k)) bytes += align_up((uint64_t)type_bytes(c->in_type[k]), 64);
    for (uint32_t j = 0; bytes && j < c->n_out; j++)
        bytes += align_up((uint64_t)type_bytes(c->out_type[j]), 64);
    return bytes;
}

static void *copy_of(char **room, const void *from, const Type *type) {
    void *to = *room;
    memcpy(to, from, (size_t)type_bytes(type));
    *room += align_up((uint64_t)type_bytes(type), 64);
    return to;
}

static void find_room(MemoryCheck *m) {
    const Plan *p = m->rank->run->plan;
    uint64_t most = 0;
    uint32_t n_in = 0, n_out = 0;
    for (uint32_t k = 0; k < p->n_instrs; k++) {
        if (!op_info[p->instrs[k].op].launched) continue;
        most = MAX(most, copied_bytes(&p->instrs[k], instruction_kernel(m->rank, k)));
        n_in = MAX(n_in, p->instrs[k].n_in);
        n_out = MAX(n_out, p->instrs[k].n_out);
    }
    m->in = arena_array(m->rank->memory, const void *, n_in + 1);
    m->out = arena_array(m->rank->memory, void *, n_out + 1);
    m->copies = arena_array(m->rank->memory, char, most + 64);
    m->copies += (64 - (uintptr_t)m->copies % 64) % 64;
}

static void memory_check_before(void *of, uint32_t k) {
    MemoryCheck *m = of;
    const PlanInstr *in = &m->rank->run->plan->instrs[k];
    const KernelCall *c = instruction_kernel(m->rank, k);
    char *room = m->copies;
    m->again = op_info[in->op].launched && copied_bytes(in, c);
    if (!m->again) return;
    for (uint32_t j = 0; j < c->n_out; j++) m->out[j] = copy_of(&room, c->out[j], c->out_type[j]);
    for (uint32_t i = 0; i < c->n_in; i++) {
        m->in[i] = is_overwritten(in, c, i) ? copy_of(&room, c->in[i], c->in_type[i]) : c->in[i];
        for (uint32_t j = 0; j < c->n_out; j++)
            if (must_replace(in, i, j)) m->in[i] = m->out[j];
    }
}

/* The same instruction once more, where no result lies over an operand. */
static int run_again(MemoryCheck *m, uint32_t k, char *error) {
    const Run *run = m->rank->run;
    KernelCall c = *instruction_kernel(m->rank, k);
    void *const *made = c.out;
    c.in = m->in;
    c.out = m->out;
    int code = run->device->launch(m->rank->context, run->plan->instrs[k].stream, &c, error);
    for (uint32_t j = 0; j < c.n_out && !code; j++) {
        if (!memcmp(made[j], c.out[j], (size_t)type_bytes(c.out_type[j]))) continue;
        char text[256];
        plan_instr_text(run->plan, k, text, sizeof text);
        code = fail_with(
            error, EXIT_RANK,
            "memory check: result %u of %s overlaps an operand and differs from the result at "
            "another address",
            j, text);
    }
    return code;
}

static uint8_t *guard_at(const MemoryCheck *m, int which) {
    const PlanRole *role = rank_role(m->rank);
    uint64_t at = plan_workspace_at(role);
    uint64_t workspace = role->workspace_bytes[m->rank->run->device->kind] - at;
    uint8_t *first = (uint8_t *)m->rank->arena + at;
    return which ? first + GUARD_BYTES + workspace : first;
}

static void memory_check_poison(void *of) {
    MemoryCheck *m = of;
    const PlanRole *role = rank_role(m->rank);
    memset(m->rank->arena + role->persistent_bytes, POISON,
           role->arena_bytes - role->persistent_bytes);
    if (m->rank->host)
        memset(m->rank->host + role->host_persistent, POISON,
               role->host_bytes - role->host_persistent);
}

static int check_guards(MemoryCheck *m, uint32_t k, char *error) {
    for (int i = 0; i < 2; i++) {
        if (!memcmp(guard_at(m, i), m->guard, GUARD_BYTES)) continue;
        char text[256];
        plan_instr_text(m->rank->run->plan, k, text, sizeof text);
        return fail_with(error, EXIT_RANK, "memory check: %s wrote past the end of the %s", text,
                         i ? "workspace" : "arena");
    }
    return 0;
}

static bool lies_in_states(const Rank *r, uint64_t address) {
    const PlanRole *role = rank_role(r);
    return address_offset(address) <
           (address_is_host(address) ? role->host_persistent : role->persistent_bytes);
}

/* Memory of a state is filled when a checkpoint has what it held. */
static int memory_check_after(void *of, uint32_t k, char *error) {
    MemoryCheck *m = of;
    int code = m->again ? run_again(m, k, error) : 0;
    if (code) return code;
    for (uint32_t i = m->first[k]; i < m->first[k + 1]; i++) {
        ByteRange f = m->freed.at[i];
        bool of_state = lies_in_states(m->rank, f.begin);
        if (of_state && m->rank->gate.hold) m->rank->gate.hold(m->rank, UINT32_MAX);
        uint8_t *at = (uint8_t *)m->rank->arena;
        uint64_t top = address_is_host(f.begin) ? 0 : f.end;
        uint64_t *high = &m->rank->hooks.high_water;
        while (top > f.begin && top > *high && at[top - 1] == POISON) top--;
        if (top > f.begin) *high = MAX(*high, top);
        memset(rank_at(m->rank, f.begin), POISON, f.end - f.begin);
    }
    return check_guards(m, k, error);
}

/* Nothing but states survives a call. */
static int memory_check_call_end(void *of, uint32_t program, char *error) {
    MemoryCheck *m = of;
    const PlanProgram *q = &m->rank->run->plan->programs[program];
    uint64_t arena = rank_role(m->rank)->arena_bytes, high = m->rank->hooks.high_water;
    if (high > arena)
        return fail_with(error, EXIT_RANK,
                         "memory check: byte %llu was written, but the arena has only %llu",
                         (unsigned long long)high, (unsigned long long)arena);
    return q->n_instr ? check_guards(m, q->first_instr + q->n_instr - 1, error) : 0;
}

int memory_check_open(Rank *r) {
    const Plan *p = r->run->plan;
    if (!r->run->device->arena_is_host)
        return fail_with(r->error, EXIT_ENVIRONMENT,
                         "FSDP_CHECK=memory needs a device that uses host memory");
    Arena *a = r->memory;
    MemoryCheck *m = arena_new_of(a, MemoryCheck);
    *m = (MemoryCheck){.rank = r};
    m->first = arena_array(a, uint32_t, p->n_instrs + 1);
    m->last = arena_array(a, uint32_t, p->n_values + 1);
    find_last_uses(p, m->last);
    for (uint32_t v = 0; v < p->n_values; v++)
        if (m->last[v] != NEVER) m->last[v] = shared_gather_release(r, v, m->last[v]);
    m->live = arena_array(a, Life, p->n_values + p->n_states + 1);
    find_room(m);
    uint32_t *old = arena_array(a, uint32_t, p->n_states + 1);
    for (uint64_t i = 0; i < p->n_programs; i++)
        if (rank_runs(r, &p->programs[i])) analyse_program(m, &p->programs[i], old);
    memset(m->guard, GUARD, GUARD_BYTES);
    for (int i = 0; i < 2; i++) memset(guard_at(m, i), GUARD, GUARD_BYTES);
    memory_check_poison(m);
    r->hooks = (TestHooks){.of = m,
                           .before = memory_check_before,
                           .after = memory_check_after,
                           .call_end = memory_check_call_end,
                           .refill = memory_check_poison,
                           .high_water = rank_role(r)->persistent_bytes};
    return 0;
}
