/* Proofs 5 and 7.
 *
 * check-5: all ranks issue the same collectives on each communicator in the same order. Ranks of
 * one role run the same program, so it remains to show:
 *
 *   5a  roles make the same calls, with the same sequence of collectives on each communicator
 *   5b  collectives of one communicator are ordered by happens-before, however streams run
 *   5c  gathers use the gather communicator, reductions the other; axes are of the mesh
 *   5d  element counts fit the number of ranks on the axes
 *
 * check-7: streams, edges and matched collectives of all ranks together have no cycle. For each
 * call of a step the programs of all roles become one graph in which the k-th collective of a
 * communicator is one node (it ends on no rank before it began on all); ranks of a role are alike,
 * so one of each will do. Arcs: order on a stream, edges, order on a communicator.
 *
 *   7a  an edge points to a later instruction, or to its own stream
 *   7b  a cycle
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

/* One graph over the programs that the roles run in the same call. */
typedef struct Union {
    Check *c;
    uint32_t n_programs, n_nodes;
    const PlanProgram **program;
    uint32_t *first;               /* by program: its first node */
    uint32_t n_comms, comm[COMMS]; /* numbers of the communicators in use, from 1 */
    uint32_t *same;  /* by node: its representative, itself unless it is a matched collective */
    uint32_t *waits; /* by node: arcs into it */
    uint32_t *start, *arc; /* arcs out of a node: arc[start[n] .. start[n + 1]) */
    uint64_t n_arcs;
} Union;

static uint64_t node_instr(const Union *u, uint32_t node) {
    uint32_t r = u->n_programs - 1;
    while (node < u->first[r]) r--;
    return u->program[r]->first_instr + (uint64_t)(node - u->first[r]);
}

/* Calls visit for every arc. from and to are representatives: matched collectives share one
 * (u->same). */
static void each_arc(Union *u, void (*visit)(Union *, uint32_t from, uint32_t to)) {
    const Plan *p = u->c->p;
    for (uint32_t r = 0; r < u->n_programs; r++) {
        const PlanProgram *pr = u->program[r];
        uint32_t last[MAX_STREAMS], last_comm[COMMS + 1];
        memset(last, 0xff, sizeof last);
        memset(last_comm, 0xff, (u->n_comms + 1) * sizeof *last_comm);
        for (uint32_t k = 0; k < pr->n_instr; k++) {
            uint64_t i = pr->first_instr + (uint64_t)k;
            const PlanInstr *in = &p->instrs[i];
            uint32_t node = u->same[u->first[r] + k];
            if (last[in->stream] != UINT32_MAX) visit(u, last[in->stream], node);
            last[in->stream] = node;
            if (check_is_collective(u->c, i)) {
                uint32_t *before = &last_comm[u->comm[comm_of(in)]];
                if (*before != UINT32_MAX) visit(u, *before, node);
                *before = node;
            }
            for (uint32_t e = 0; e < in->n_edge; e++) {
                uint32_t from = p->edges[in->first_edge + e];
                visit(u, u->same[u->first[r] + (from - pr->first_instr)], node);
            }
        }
    }
}

static void count_arc(Union *u, uint32_t from, uint32_t to) {
    u->start[from + 1]++;
    u->waits[to]++;
    u->n_arcs++;
}

static void store_arc(Union *u, uint32_t from, uint32_t to) { u->arc[u->start[from]++] = to; }

static void number_communicators(Union *u) {
    for (uint32_t r = 0; r < u->n_programs; r++)
        for (uint32_t k = 0; k < u->program[r]->n_instr; k++) {
            uint64_t i = u->program[r]->first_instr + (uint64_t)k;
            if (!check_is_collective(u->c, i)) continue;
            uint32_t *number = &u->comm[comm_of(&u->c->p->instrs[i])];
            if (!*number) *number = ++u->n_comms;
        }
}

/* The k-th collective of a communicator is one node in all programs. */
static void match_collectives(Union *u, Arena *a) {
    const Plan *p = u->c->p;
    number_communicators(u);
    uint32_t *node_of =
        arena_alloc(a, ((size_t)(u->n_comms + 1) * (u->n_nodes + 1)) * sizeof *node_of);
    for (uint32_t r = 0; r < u->n_programs; r++) {
        uint32_t sequence[COMMS + 1] = {0};
        for (uint32_t k = 0; k < u->program[r]->n_instr; k++) {
            uint64_t i = u->program[r]->first_instr + (uint64_t)k;
            uint32_t node = u->first[r] + k;
            u->same[node] = node;
            if (!check_is_collective(u->c, i)) continue;
            uint32_t comm = u->comm[comm_of(&p->instrs[i])];
            uint32_t *first = &node_of[(size_t)comm * (u->n_nodes + 1) + sequence[comm]++];
            if (*first)
                u->same[node] = *first - 1;
            else
                *first = node + 1;
        }
    }
}

static void find_cycle(Union *u, Arena *a) {
    uint32_t *queue = arena_alloc(a, ((size_t)u->n_nodes + 1) * sizeof *queue);
    u->arc = arena_alloc(a, (u->n_arcs + 1) * sizeof *u->arc);
    for (uint32_t n = 0; n < u->n_nodes; n++) u->start[n + 1] += u->start[n];
    each_arc(u, store_arc);
    for (uint32_t n = u->n_nodes; n > 0; n--) u->start[n] = u->start[n - 1];
    u->start[0] = 0;
    uint32_t head = 0, tail = 0, nodes = 0;
    for (uint32_t n = 0; n < u->n_nodes; n++) {
        if (u->same[n] != n) continue;
        nodes++;
        if (!u->waits[n]) queue[tail++] = n;
    }
    while (head < tail) {
        uint32_t n = queue[head++];
        for (uint32_t k = u->start[n]; k < u->start[n + 1]; k++)
            if (--u->waits[u->arc[k]] == 0) queue[tail++] = u->arc[k];
    }
    if (tail == nodes) return;
    uint32_t stuck = 0;
    while (u->same[stuck] != stuck || !u->waits[stuck]) stuck++;
    check_fail(u->c, "7b", node_instr(u, stuck),
               "waits for itself: streams, edges and matched collectives form a cycle through "
               "it (%u instructions never start)",
               nodes - tail);
}

static void check_union(Check *c, const PlanProgram **program, uint32_t n) {
    Union u = {.c = c, .n_programs = n, .program = program};
    Arena *a = c->arena;
    u.first = arena_alloc(a, ((size_t)n + 1) * sizeof *u.first);
    for (uint32_t r = 0; r < n; r++) {
        u.first[r] = u.n_nodes;
        u.n_nodes += program[r]->n_instr;
    }
    u.same = arena_alloc(a, ((size_t)u.n_nodes + 1) * sizeof *u.same);
    u.waits = arena_alloc(a, ((size_t)u.n_nodes + 1) * sizeof *u.waits);
    u.start = arena_alloc(a, ((size_t)u.n_nodes + 2) * sizeof *u.start);
    match_collectives(&u, a);
    each_arc(&u, count_arc);
    find_cycle(&u, a);
}

/* The k-th call of a kind that role r makes; NULL after the last. */
static const PlanCall *nth_call(const Plan *p, uint32_t role, uint32_t kind, uint32_t k) {
    for (uint32_t i = 0; i < p->n_calls; i++)
        if (p->calls[i].role == role && p->calls[i].kind == kind && k-- == 0) return &p->calls[i];
    return NULL;
}

void check_cycles(Check *c) {
    const Plan *p = c->p;
    const PlanProgram **program = arena_array(c->arena, const PlanProgram *, p->n_roles + 1);
    for (uint32_t k = 0; c->stages && k < p->n_programs; k++) {
        program[0] = &p->programs[k];
        check_union(c, program, 1);
    }
    for (uint32_t kind = PLAN_STEP; !c->stages && kind <= PLAN_EVALUATION; kind++)
        for (uint32_t k = 0, n = 1; n; k++) {
            n = 0;
            for (uint32_t r = 0; r < p->n_roles; r++) {
                const PlanCall *call = nth_call(p, r, kind, k);
                if (call) program[n++] = &p->programs[call->program];
            }
            check_union(c, program, n);
        }
    check_edges_backwards(c);
}

/* ---- 5 ---- */

static void check_sizes(Check *c, uint64_t i) {
    const Plan *p = c->p;
    const PlanInstr *in = &p->instrs[i];
    if (in->attr.axes < 1 || in->attr.axes > mesh_all_axes(&c->mesh))
        check_fail(c, "5c", i, "axes %#llx are not axes of the mesh", (Llu)in->attr.axes);
    CommPurpose purpose = in->op == OP_unshard ? COMM_GATHER : COMM_REDUCE;
    if (in->attr.comm != (int64_t)purpose)
        check_fail(c, "5c", i, "uses the %s communicator",
                   in->attr.comm == COMM_GATHER ? "gather" : "reduce");
    int64_t ranks = check_ranks(c, (AxisSet)in->attr.axes);
    if (in->n_in < in->n_out)
        check_fail(c, "5d", i, "has %u results for %u operands", in->n_out, in->n_in);
    for (uint32_t k = 0; k < in->n_out && in->op != OP_all_reduce; k++) {
        const Type *a = &p->values[check_in(c, i, k)].type;
        const Type *b = &p->values[check_out(c, i, k)].type;
        bool gathers = op_gathers((OpKind)in->op);
        const Type *full = gathers ? b : a, *shard = gathers ? a : b;
        if (full->dtype != shard->dtype || check_elements(full) != ranks * check_elements(shard))
            check_fail(c, "5d", i,
                       "pair %u: %lld elements do not match %lld elements for each of %lld ranks",
                       k, (long long)check_elements(full), (long long)check_elements(shard),
                       (long long)ranks);
    }
    for (uint32_t k = 0; k < in->n_out && in->op == OP_all_reduce; k++) {
        const Type *a = &p->values[check_in(c, i, k)].type;
        const Type *b = &p->values[check_out(c, i, k)].type;
        if (a->dtype != b->dtype || check_elements(a) != check_elements(b))
            check_fail(c, "5d", i, "result %u differs from its operand in size", k);
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

/* What tells one sum from another that an all-reduce adds up: the op that began the sum (a state
 * where earlier calls began it), the group that it is about, and the state that keeps the result.
 * Ranks must not add up different sums. */
typedef struct SumIdentity {
    int64_t op, group, kept;
} SumIdentity;

static SumIdentity sum_identity(const Check *c, uint64_t i, uint32_t k) {
    const Plan *p = c->p;
    uint32_t v = check_in(c, i, k), out = check_out(c, i, k);
    const PlanInstr *def = &p->instrs[p->values[v].def];
    for (uint64_t steps = 0; def->op == OP_metric_add && steps < p->n_instrs; steps++) {
        v = c->operands[def->first_in];
        def = &p->instrs[p->values[v].def];
    }
    SumIdentity m = {.op = def->op, .group = NO_INDEX, .kept = NO_INDEX};
    if (op_info[def->op].attrs & A_group) m.group = def->attr.group;
    for (uint64_t use = c->first_use[out]; use < c->first_use[out + 1]; use++)
        if (p->instrs[c->use[use]].op == OP_set_state) m.kept = p->instrs[c->use[use]].attr.index;
    return m;
}

static bool same_sum(const SumIdentity *a, const SumIdentity *b) {
    return a->op == b->op && a->group == b->group && a->kept == b->kept;
}

static bool same_collective(const Check *c, uint64_t i, uint64_t j) {
    const Plan *p = c->p;
    const PlanInstr *x = &p->instrs[i], *y = &p->instrs[j];
    if (x->op != y->op || x->n_out != y->n_out || x->attr.unit != y->attr.unit ||
        x->attr.group != y->attr.group || x->attr.tag != y->attr.tag)
        return false;
    for (uint32_t k = 0; k < x->n_out; k++) {
        const Type *s = &p->values[check_out(c, i, k)].type;
        const Type *t = &p->values[check_out(c, j, k)].type;
        if (s->dtype != t->dtype || check_elements(s) != check_elements(t)) return false;
        if (x->op != OP_all_reduce) continue;
        SumIdentity one = sum_identity(c, i, k), other = sum_identity(c, j, k);
        if (!same_sum(&one, &other)) return false;
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

/* Of each sum of a collective over stages, roles add what they have, and one has some of it. */
static bool same_sums(const Check *c, uint64_t i, uint64_t j) {
    const PlanInstr *x = &c->p->instrs[i], *y = &c->p->instrs[j];
    if (x->op != OP_all_reduce || y->op != x->op || x->n_out != y->n_out ||
        x->attr.axes != y->attr.axes || x->attr.tag != y->attr.tag)
        return false;
    for (uint32_t k = 0; k < x->n_out; k++) {
        SumIdentity one = sum_identity(c, i, k), other = sum_identity(c, j, k);
        const Type *s = &c->p->values[check_out(c, i, k)].type;
        const Type *t = &c->p->values[check_out(c, j, k)].type;
        if (s->dtype != t->dtype || check_elements(s) != check_elements(t)) return false;
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
    uint64_t ranks = 0;
    for (uint32_t r = 0; r < p->n_roles; r++) {
        if (p->roles[r].first_rank != ranks || p->roles[r].n_ranks == 0)
            check_fail(c, "5a", NO_INSTR, "the roles do not cover each rank exactly once");
        ranks += p->roles[r].n_ranks;
    }
    int64_t mesh = check_ranks(c, mesh_all_axes(&c->mesh));
    if (ranks != p->settings->ranks || mesh != (int64_t)ranks)
        check_fail(c, "5a", NO_INSTR, "roles have %llu ranks, the mesh %lld, the plan %u",
                   (Llu)ranks, (long long)mesh, p->settings->ranks);
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
