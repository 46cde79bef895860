/* Proofs 5 and 7.
 *
 * check-5: all ranks issue the same collectives on each communicator in the same order. Ranks of
 * one role run the same program, so it remains to show:
 *
 *   5a  roles make the same calls, with the same sequence of collectives on each communicator
 *   5b  collectives of one communicator are ordered by happens-before, however streams run
 *   5c  gathers use the gather communicator, reductions the other
 *   5d  element counts fit the number of ranks on the axes
 *
 * check-7: streams, edges and matched collectives of all ranks together have no cycle. For each
 * call of a step the programs of all roles run side by side, where an instruction waits for the one
 * before it on its stream and on its communicator and for its edges, and the k-th collectives of a
 * communicator run together (none ends before all have begun). All ranks of a role behave in the
 * same way, so one of each is enough. What never runs is part of a cycle or waits for one.
 *
 *   7a  every edge points to an earlier instruction, on another stream
 *   7b  no instruction waits for itself: there is no cycle
 */
#include "check.h"

#include <string.h>

enum { SETS = 1 << MESH_AXES, COMMS = SETS * COMM_PURPOSES };

static int comm_of(const PlanInstr *in) {
    return (int)((in->attr.axes & (SETS - 1)) * COMM_PURPOSES + (in->attr.comm & 1));
}

/* ---- 7 ---- */

static void check_edges_backwards(Check *c) {
    const Plan *p = c->p;
    for (uint64_t i = 0; i < p->n_instrs; i++)
        for (uint32_t k = 0; k < p->instrs[i].n_edge; k++) {
            uint32_t e = p->edges[p->instrs[i].first_edge + k];
            if (e >= i || p->instrs[e].stream == p->instrs[i].stream)
                check_fail(c, "7a", i, "waits for instruction %u, which is %s", e,
                           e >= i ? "issued later" : "on its own stream");
        }
}

/* The programs that roles run in the same call, each its own (the reader). By instruction: */
typedef struct Together {
    Check *c;
    bool *done;
    uint64_t *on_stream, *on_comm; /* the one before it on its stream, its communicator, + 1 */
    uint64_t *ring; /* of matched collectives, from each to the one before; of others itself */
} Together;

/* The k-th collective of a communicator meets that of each other program. */
static void match_collectives(Together *t, const PlanProgram **program, uint32_t n) {
    typedef VEC(uint64_t) Instrs;
    Instrs met[COMMS] = {{0}};
    for (uint32_t r = 0; r < n; r++) {
        uint64_t last[MAX_STREAMS] = {0}, last_comm[COMMS] = {0};
        uint32_t sequence[COMMS] = {0};
        for (uint64_t i = program[r]->first_instr; i < check_end(program[r]); i++) {
            const PlanInstr *in = &t->c->p->instrs[i];
            t->done[i] = false;
            t->ring[i] = i;
            t->on_stream[i] = last[in->stream];
            last[in->stream] = i + 1;
            if (!check_is_collective(t->c, i)) continue;
            int comm = comm_of(in);
            uint32_t k = sequence[comm]++;
            t->on_comm[i] = last_comm[comm];
            last_comm[comm] = i + 1;
            if (k == met[comm].n) vec_push(t->c->arena, &met[comm], i);
            uint64_t *first = &t->ring[met[comm].at[k]], before = *first;
            *first = i;
            if (before != i) t->ring[i] = before;
        }
    }
}

/* Is everything done that it waits for in its own program? */
static bool is_ready(const Together *t, uint64_t i) {
    const PlanInstr *in = &t->c->p->instrs[i];
    bool ready = (!t->on_stream[i] || t->done[t->on_stream[i] - 1]) &&
                 (!t->on_comm[i] || t->done[t->on_comm[i] - 1]);
    for (uint32_t k = 0; k < in->n_edge; k++) ready &= t->done[t->c->p->edges[in->first_edge + k]];
    return ready;
}

/* Runs the instruction together with those that it meets; false: not yet. */
static bool run_instr(Together *t, uint64_t i) {
    uint64_t m = i;
    do {
        if (!is_ready(t, m)) return false;
        m = t->ring[m];
    } while (m != i);
    for (; !t->done[m]; m = t->ring[m]) t->done[m] = true;
    return true;
}

/* Runs the stream from *next on, as far as it gets. Has any instruction run? */
static bool run_stream(Together *t, const PlanProgram *pr, int stream, uint64_t *next) {
    bool any = false;
    for (; *next < check_end(pr); ++*next) {
        if (t->done[*next] || t->c->p->instrs[*next].stream != stream) continue;
        if (!run_instr(t, *next)) break;
        any = true;
    }
    return any;
}

static void check_together(Together *t, const PlanProgram **program, uint32_t n) {
    uint64_t(*next)[STREAM_KINDS] = arena_alloc(t->c->arena, n * sizeof *next), stuck = NO_INSTR;
    uint32_t never = 0;
    match_collectives(t, program, n);
    for (uint32_t r = 0; r < n; r++)
        for (int s = 0; s < STREAM_KINDS; s++) next[r][s] = program[r]->first_instr;
    for (bool any = true; any;) {
        any = false;
        for (uint32_t r = 0; r < n; r++)
            for (int s = 0; s < STREAM_KINDS; s++) any |= run_stream(t, program[r], s, &next[r][s]);
    }
    for (uint32_t r = 0; r < n; r++)
        for (uint64_t i = program[r]->first_instr; i < check_end(program[r]); i++) {
            if (!t->done[i] && stuck == NO_INSTR) stuck = i;
            never += !t->done[i] && t->ring[i] >= i;
        }
    if (never)
        check_fail(t->c, "7b", stuck,
                   "waits for itself: streams, edges and matched collectives form a cycle through "
                   "it (%u instructions never start)",
                   never);
}

/* The k-th call of a kind that role r makes; NULL after the last. */
static const PlanCall *nth_call(const Plan *p, uint32_t role, uint32_t kind, uint32_t k) {
    for (uint32_t i = 0; i < p->n_calls; i++)
        if (p->calls[i].role == role && p->calls[i].kind == kind && k-- == 0) return &p->calls[i];
    return NULL;
}

/* Where edges point backwards, no instruction of one program alone waits for itself. */
void check_cycles(Check *c) {
    const Plan *p = c->p;
    const PlanProgram **program = arena_array(c->arena, const PlanProgram *, p->n_roles + 1);
    Together t = {.c = c,
                  .done = arena_array(c->arena, bool, p->n_instrs + 1),
                  .on_stream = arena_array(c->arena, uint64_t, p->n_instrs + 1),
                  .on_comm = arena_array(c->arena, uint64_t, p->n_instrs + 1),
                  .ring = arena_array(c->arena, uint64_t, p->n_instrs + 1)};
    check_edges_backwards(c);
    for (uint32_t kind = PLAN_STEP; !c->stages && kind <= PLAN_EVALUATION; kind++)
        for (uint32_t k = 0, n = (uint32_t)p->n_roles; n > 1; k++) {
            n = 0;
            for (uint32_t r = 0; r < p->n_roles; r++) {
                const PlanCall *call = nth_call(p, r, kind, k);
                if (call) program[n++] = &p->programs[call->program];
            }
            if (n > 1) check_together(&t, program, n);
        }
}

/* ---- 5 ---- */

static void check_sizes(Check *c, uint64_t i) {
    const Plan *p = c->p;
    const PlanInstr *in = &p->instrs[i];
    CommPurpose purpose = in->op == OP_unshard ? COMM_GATHER : COMM_REDUCE;
    if (in->attr.comm != (int64_t)purpose)
        check_fail(c, "5c", i, "uses the %s communicator",
                   in->attr.comm == COMM_GATHER ? "gather" : "reduce");
    int64_t ranks = check_ranks(c, (AxisSet)in->attr.axes);
    for (uint32_t k = 0; k < in->n_out; k++) {
        const Type *a = &p->values[check_in(c, i, k)].type;
        const Type *b = &p->values[check_out(c, i, k)].type;
        bool gathers = op_gathers((OpKind)in->op), sums = in->op == OP_all_reduce;
        const Type *full = gathers ? b : a, *shard = gathers ? a : b;
        int64_t parts = sums ? 1 : ranks;
        if (full->dtype == shard->dtype && check_elements(full) == parts * check_elements(shard))
            continue;
        if (sums) check_fail(c, "5d", i, "result %u differs from its operand in size", k);
        check_fail(
            c, "5d", i, "pair %u: %lld elements do not match %lld elements for each of %lld ranks",
            k, (long long)check_elements(full), (long long)check_elements(shard), (long long)ranks);
    }
}

static void check_program(Check *c, const PlanProgram *pr) {
    uint64_t last[COMMS];
    for (int k = 0; k < COMMS; k++) last[k] = NO_INSTR;
    for (uint64_t i = pr->first_instr; i < check_end(pr); i++) {
        if (!check_is_collective(c, i)) continue;
        check_sizes(c, i);
        c->result->collectives++;
        uint64_t *before = &last[comm_of(&c->p->instrs[i])];
        if (*before != NO_INSTR && !check_before(c, *before, i))
            check_fail(c, "5b", i,
                       "is not ordered after instruction %llu, which uses the same "
                       "communicator",
                       (Llu)*before);
        *before = i;
    }
}

/* Identifies a sum that an all-reduce computes, because ranks must not add up different ones: the
 * op that began the sum (op state if earlier calls began it), the group of that op, and the state
 * that keeps the result. */
typedef struct SumKey {
    int64_t op, group, kept;
} SumKey;

static SumKey sum_key(const Check *c, uint64_t i, uint32_t k) {
    const Plan *p = c->p;
    uint32_t v = check_in(c, i, k), out = check_out(c, i, k);
    const PlanInstr *def = &p->instrs[p->values[v].def];
    for (uint64_t steps = 0; def->op == OP_metric_add && steps < p->n_instrs; steps++) {
        v = c->operands[def->first_in];
        def = &p->instrs[p->values[v].def];
    }
    SumKey m = {.op = def->op, .group = NO_INDEX, .kept = NO_INDEX};
    if (op_info[def->op].attrs & A_group) m.group = def->attr.group;
    for (uint64_t use = c->first_use[out]; use < c->first_use[out + 1]; use++)
        if (p->instrs[c->use[use]].op == OP_set_state) m.kept = p->instrs[c->use[use]].attr.index;
    return m;
}

/* Do results k of the two collectives have the same dtype and size? */
static bool same_result(const Check *c, uint64_t i, uint64_t j, uint32_t k) {
    const Type *s = &c->p->values[check_out(c, i, k)].type;
    const Type *t = &c->p->values[check_out(c, j, k)].type;
    return s->dtype == t->dtype && check_elements(s) == check_elements(t);
}

static bool same_collective(const Check *c, uint64_t i, uint64_t j) {
    const Plan *p = c->p;
    const PlanInstr *x = &p->instrs[i], *y = &p->instrs[j];
    if (x->op != y->op || x->n_out != y->n_out || x->attr.unit != y->attr.unit ||
        x->attr.group != y->attr.group || x->attr.tag != y->attr.tag)
        return false;
    for (uint32_t k = 0; k < x->n_out; k++) {
        SumKey a = sum_key(c, i, k), b = sum_key(c, j, k);
        bool same = a.op == b.op && a.group == b.group && a.kept == b.kept;
        if (!same_result(c, i, j, k) || (x->op == OP_all_reduce && !same)) return false;
    }
    return true;
}

/* The next collective of the program at or after *i; false at the end. */
static bool next_collective(const Check *c, const PlanProgram *pr, uint64_t *i, int comm) {
    while (*i < check_end(pr) &&
           !(check_is_collective(c, *i) && comm_of(&c->p->instrs[*i]) == comm))
        ++*i;
    return *i < check_end(pr);
}

static void compare_programs(Check *c, const PlanProgram *a, const PlanProgram *b) {
    for (int comm = 0; comm < COMMS; comm++) {
        uint64_t i = a->first_instr, j = b->first_instr;
        for (;; i++, j++) {
            bool more = next_collective(c, a, &i, comm), other = next_collective(c, b, &j, comm);
            if (!more && !other) break;
            if (more != other)
                check_fail(c, "5a", more ? i : j,
                           "has no counterpart in the program of another role");
            if (!same_collective(c, i, j))
                check_fail(
                    c, "5a", j,
                    "meets instruction %llu of another role, which is a different collective",
                    (Llu)i);
        }
    }
}

/* ---- 5, of a pipeline: roles meet only where sums are over all of them ---- */

static bool is_zeros(const Check *c, uint64_t i, uint32_t k) {
    return check_is_zeros(c, check_in(c, i, k));
}

/* Do role 0 and another role add up the same sums? Of each sum, at most one of the two has terms
 * (the other adds zeros), except in a gradient norm and in gradients (4s). */
static bool same_sums(const Check *c, uint64_t i, uint64_t j) {
    const PlanInstr *x = &c->p->instrs[i], *y = &c->p->instrs[j];
    if (x->op != OP_all_reduce || y->op != x->op || x->n_out != y->n_out ||
        x->attr.axes != y->attr.axes || x->attr.tag != y->attr.tag)
        return false;
    for (uint32_t k = 0; k < x->n_out; k++) {
        SumKey one = sum_key(c, i, k), other = sum_key(c, j, k);
        if (!same_result(c, i, j, k)) return false;
        if (x->attr.tag == TAG_GRADIENT) continue; /* 4s */
        bool none = is_zeros(c, i, k) || is_zeros(c, j, k);
        if (one.kept != other.kept || (!none && one.op != other.op)) return false;
        if (!none && one.op != OP_grad_norm) return false; /* each term is of one stage */
    }
    return true;
}

/* The next collective over stages of the programs of a kind that role r has, at or after (*k, *i).
 */
static bool next_sum(const Check *c, uint32_t kind, uint32_t role, uint32_t *k, uint64_t *i) {
    const Plan *p = c->p;
    for (; *k < p->n_programs; ++*k, *i = 0) {
        const PlanProgram *pr = &p->programs[*k];
        if (pr->kind != kind || plan_stage_role(p, pr->stage) != role) continue;
        *i = MAX(*i, (uint64_t)pr->first_instr);
        for (; *i < check_end(pr); ++*i)
            if (check_is_collective(c, *i) && p->instrs[*i].attr.axes & c->stages) return true;
    }
    return false;
}

static void compare_sums(Check *c, uint32_t kind, uint32_t role) {
    uint32_t k = 0, n = 0;
    uint64_t i = 0, j = 0;
    for (;; i++, j++) {
        bool more = next_sum(c, kind, 0, &k, &i), other = next_sum(c, kind, role, &n, &j);
        if (!more && !other) return;
        if (more != other || !same_sums(c, i, j))
            check_fail(c, "5a", other ? j : i, "meets no sum of role %u that is the same",
                       other ? 0 : role);
    }
}

static void check_sums_of_roles(Check *c) {
    const Plan *p = c->p;
    for (uint64_t i = 0; i < p->n_instrs; i++) {
        uint32_t kind = p->programs[c->program[i]].kind;
        bool over = check_is_collective(c, i) && p->instrs[i].attr.axes & c->stages;
        if (over && kind != PROGRAM_UPDATE && kind != PROGRAM_EVAL)
            check_fail(c, "5a", i, "is over stages, which call this program at other times");
    }
    for (uint32_t r = 1; r < p->n_roles; r++) {
        compare_sums(c, PROGRAM_UPDATE, r);
        compare_sums(c, PROGRAM_EVAL, r);
    }
}

static void check_roles(Check *c) {
    const Plan *p = c->p;
    if (c->stages) check_sums_of_roles(c);
    for (uint32_t r = 1; !c->stages && r < p->n_roles; r++)
        for (uint32_t kind = PLAN_STEP; kind <= PLAN_EVALUATION; kind++)
            for (uint32_t k = 0;; k++) {
                const PlanCall *a = nth_call(p, 0, kind, k), *b = nth_call(p, r, kind, k);
                if (!a && !b) break;
                if (!a || !b || a->times != b->times)
                    check_fail(c, "5a", NO_INSTR, "roles 0 and %u make different calls", r);
                compare_programs(c, &p->programs[a->program], &p->programs[b->program]);
            }
}

void check_collectives(Check *c) {
    check_roles(c);
    for (uint32_t k = 0; k < c->p->n_programs; k++) check_program(c, &c->p->programs[k]);
}
