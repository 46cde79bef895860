/* Test mode FSDP_CHECK=memory: what the plan says about memory is observed, not believed.
 *
 * From the instructions alone: the last instruction that touches each value. After it, the bytes
 * of the value that no other live value and no state covers are filled with 0xff (a NaN in every
 * float type), so that a later read of freed memory shows in the numbers. A value's bytes that are
 * no longer 0xff when it ends were written: the highest such byte is the observed high-water mark
 * of the arena. A guard of known bytes lies between arena and workspace, and after the workspace;
 * kernels get their workspace ending at the guard. Any changed guard byte ends the run.
 *
 * Works on devices whose arena is host memory, in issue order.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prepared.h"

enum { POISON = 0xff, GUARD = 0xa5 };

typedef struct Range {
    uint64_t begin, end;
} Range;

struct MemoryCheck {
    Rank *rank;
    Arena *arena;
    uint32_t
        *first; /* [instrs + 1] ranges that end after instruction k: first[k] .. first[k + 1] */
    VEC(Range) freed;
    uint32_t *last; /* [values] last instruction that touches the value */
    uint64_t high_water;
    uint8_t guard[GUARD_BYTES];
};

static Range range_of(const Plan *p, uint32_t v) {
    uint64_t at = p->values[v].address;
    return (Range){at, at + plan_room(p, &p->values[v])};
}

/* Adds what is left of r outside of live values [from, n_live). */
static void free_rest(MemoryCheck *m, Range r, const uint32_t *live, uint32_t from,
                      uint32_t n_live) {
    const Plan *p = m->rank->run->plan;
    for (uint32_t i = from; i < n_live && r.begin < r.end; i++) {
        Range o = range_of(p, live[i]);
        if (o.end <= r.begin || o.begin >= r.end) continue;
        if (o.begin > r.begin) free_rest(m, (Range){r.begin, o.begin}, live, i + 1, n_live);
        r.begin = MIN(o.end, r.end);
    }
    uint64_t memory = address_is_host(r.begin) ? HOST_BASE : 0;
    r.begin = MAX(r.begin, memory + plan_persistent(p, r.begin));
    if (r.begin < r.end) vec_push(m->arena, &m->freed, r);
}

static void find_last_uses(const Plan *p, uint32_t *last) {
    for (uint64_t v = 0; v < p->n_values; v++) last[v] = p->values[v].def;
    for (uint64_t k = 0; k < p->n_instrs; k++)
        for (uint32_t i = 0; i < p->instrs[k].n_in; i++) {
            uint32_t v = p->operands[p->instrs[k].first_in + i];
            last[v] = MAX(last[v], (uint32_t)k);
        }
}

static void analyse_program(MemoryCheck *m, const PlanProgram *q, uint32_t *live) {
    const Plan *p = m->rank->run->plan;
    uint32_t n = 0;
    for (uint32_t k = q->first_instr; k < q->first_instr + q->n_instr; k++) {
        const PlanInstr *in = &p->instrs[k];
        for (uint32_t i = 0; i < in->n_out; i++) {
            uint32_t v = in->first_out + i;
            if (p->values[v].type.dtype != DT_TOKEN) live[n++] = v;
        }
        uint32_t kept = 0, ended = 0;
        uint32_t *end = live + p->n_values; /* the second half of the array */
        for (uint32_t i = 0; i < n; i++) {
            if (m->last[live[i]] == k)
                end[ended++] = live[i];
            else
                live[kept++] = live[i];
        }
        n = kept;
        m->first[k] = m->freed.n;
        for (uint32_t i = 0; i < ended; i++) free_rest(m, range_of(p, end[i]), live, 0, n);
        m->first[k + 1] = m->freed.n;
    }
}

static uint8_t *guard_at(const MemoryCheck *m, int which) {
    const PlanSettings *s = m->rank->run->plan->settings;
    uint64_t workspace = s->workspace_bytes[m->rank->run->device->kind] - s->workspace_offset;
    uint8_t *first = (uint8_t *)m->rank->arena + s->workspace_offset;
    return which ? first + GUARD_BYTES + workspace : first;
}

void memory_check_poison(MemoryCheck *m) {
    const PlanSettings *s = m->rank->run->plan->settings;
    memset(m->rank->arena + s->persistent_bytes, POISON, s->arena_bytes - s->persistent_bytes);
    if (m->rank->host)
        memset(m->rank->host + s->host_persistent, POISON, s->host_bytes - s->host_persistent);
}

int memory_check_open(Rank *r, MemoryCheck **out, char *error) {
    const Plan *p = r->run->plan;
    if (!r->run->device->arena_is_host) {
        snprintf(error, ERROR_BYTES, "FSDP_CHECK=memory needs a device whose memory is the host's");
        return EXIT_ENVIRONMENT;
    }
    Arena *a = arena_new();
    MemoryCheck *m = *out = arena_new_of(a, MemoryCheck);
    *m = (MemoryCheck){.rank = r, .arena = a};
    m->first = arena_array(a, uint32_t, p->n_instrs + 1);
    m->last = arena_array(a, uint32_t, p->n_values + 1);
    find_last_uses(p, m->last);
    uint32_t *live = arena_array(a, uint32_t, 2 * p->n_values + 2);
    for (uint64_t i = 0; i < p->n_programs; i++) analyse_program(m, &p->programs[i], live);
    memset(m->guard, GUARD, GUARD_BYTES);
    for (int i = 0; i < 2; i++) memset(guard_at(m, i), GUARD, GUARD_BYTES);
    memory_check_poison(m);
    m->high_water = p->settings->persistent_bytes;
    return 0;
}

void memory_check_close(MemoryCheck *m) {
    if (m) arena_free(m->arena);
}

static int check_guards(MemoryCheck *m, uint32_t k, char *error) {
    for (int i = 0; i < 2; i++) {
        if (!memcmp(guard_at(m, i), m->guard, GUARD_BYTES)) continue;
        char text[256];
        plan_instr_text(m->rank->run->plan, k, text, sizeof text);
        snprintf(error, ERROR_BYTES, "memory check: %s wrote past the end of the %s", text,
                 i ? "workspace" : "arena");
        return EXIT_RANK;
    }
    return 0;
}

int memory_check_after(MemoryCheck *m, uint32_t k, char *error) {
    for (uint32_t i = m->first[k]; i < m->first[k + 1]; i++) {
        Range f = m->freed.at[i];
        uint8_t *at = (uint8_t *)m->rank->arena;
        uint64_t top = address_is_host(f.begin) ? 0 : f.end;
        while (top > f.begin && top > m->high_water && at[top - 1] == POISON) top--;
        if (top > f.begin) m->high_water = MAX(m->high_water, top);
        memset(rank_at(m->rank, f.begin), POISON, f.end - f.begin);
    }
    return check_guards(m, k, error);
}

/* Nothing but states survives a call. */
int memory_check_call_end(MemoryCheck *m, uint32_t program, char *error) {
    const Plan *p = m->rank->run->plan;
    const PlanProgram *q = &p->programs[program];
    if (m->high_water > p->settings->arena_bytes) {
        snprintf(error, ERROR_BYTES, "memory check: byte %llu was written, the arena has %llu",
                 (unsigned long long)m->high_water, (unsigned long long)p->settings->arena_bytes);
        return EXIT_RANK;
    }
    return q->n_instr ? check_guards(m, q->first_instr + q->n_instr - 1, error) : 0;
}

uint64_t memory_check_high_water(const MemoryCheck *m) { return m->high_water; }
