/* Proves before step 0 that no rank reads or writes a shared gather's memory at the wrong time.
 *
 * In: a plan that its checker accepts, and which gathers are shared (shared_gather.c). Out: whether
 * sharing is safe, or what breaks it. The file follows each program from its first instruction on,
 * as every rank runs it, with a list of the shared results that are there. For each it knows
 * whether ranks have met since its last read.
 *
 *   - A result is shared as a whole gather is, over the axes of that; views of it are where it is.
 *     Nothing else is shared.
 *   - What reads it comes after the gather, and before anything is written over it.
 *   - What is written over it comes after a meeting of all ranks of the gather, which comes after
 *     the last read: a rank may be that much ahead of another, and the memory is that of one rank.
 *   - So does the end of the program, since the next one may write anywhere. No state is left in
 *     it.
 *
 * It shares no code with the search that it checks, which looks for one meeting for each gather.
 */
#include <stdio.h>

#include "op.h"
#include "prepared.h"

typedef struct SharedResult { /* a result of a shared gather that is there */
    uint32_t value;
    AxisSet axes;
    uint64_t from, to;
    bool met; /* its ranks, since its last read */
} SharedResult;

typedef struct SharedProof {
    const Plan *p;
    const SharedGather *shared;
    uint32_t *source; /* by value: what it is a view of, or itself */
    SharedResult *there;
    uint32_t n;
    char *why;
    size_t room;
} SharedProof;

static bool refuse(SharedProof *f, uint32_t instr, const char *what) {
    char text[256];
    plan_instr_text(f->p, instr, text, sizeof text);
    snprintf(f->why, f->room, "%s %s", text, what);
    return false;
}

static bool is_nothing(const Plan *p, uint32_t value) {
    return p->values[value].type.dtype == DT_TOKEN;
}

static void meet(SharedProof *f, AxisSet axes) {
    for (uint32_t i = 0; i < f->n; i++) f->there[i].met |= !(f->there[i].axes & ~axes);
}

static bool follow_reads(SharedProof *f, uint32_t k) {
    const PlanInstr *in = &f->p->instrs[k];
    for (uint32_t j = 0; j < in->n_in; j++) {
        uint32_t v = f->source[f->p->operands[in->first_in + j]], i = 0;
        if (!f->shared->value[v]) continue;
        while (i < f->n && f->there[i].value != v) i++;
        if (i == f->n) return refuse(f, k, "reads a shared gather that is not there");
        if (in->op == OP_set_state) return refuse(f, k, "keeps a shared gather");
        f->there[i].met = false;
    }
    return true;
}

static bool follow_writes(SharedProof *f, uint32_t k) {
    const PlanInstr *in = &f->p->instrs[k];
    for (uint32_t v = in->first_out; v < in->first_out + in->n_out; v++) {
        uint64_t from = f->p->values[v].address, to = from + plan_room(f->p, &f->p->values[v]);
        if (is_nothing(f->p, v) || f->source[v] != v) continue;
        for (uint32_t i = f->n; i-- > 0;) {
            if (from >= f->there[i].to || f->there[i].from >= to) continue;
            if (!f->there[i].met)
                return refuse(f, k, "overwrites a shared gather that another rank may still read");
            f->there[i] = f->there[--f->n];
        }
    }
    return true;
}

/* The results of instruction k: shared as they must be, and there from now on. */
static bool follow_results(SharedProof *f, uint32_t k) {
    const PlanInstr *in = &f->p->instrs[k];
    bool view = op_info[in->op].alias == ALIAS_VIEW;
    AxisSet first = 0;
    for (uint32_t v = in->first_out; v < in->first_out + in->n_out; v++) {
        AxisSet axes = f->shared->value[v];
        if (view && axes != f->shared->value[f->source[v]])
            return refuse(f, k, "is not shared like the value that it views");
        if (is_nothing(f->p, v) || view) continue;
        if (axes && (in->op != OP_unshard || axes != (AxisSet)in->attr.axes))
            return refuse(f, k, "is shared, but not by a gather over the same axes");
        if (v > in->first_out && axes != first) return refuse(f, k, "is shared in part");
        first = axes;
        uint64_t from = f->p->values[v].address;
        if (axes)
            f->there[f->n++] =
                (SharedResult){v, axes, from, from + plan_room(f->p, &f->p->values[v]), false};
    }
    return true;
}

static void name_sources(SharedProof *f, const PlanInstr *in) {
    bool view = op_info[in->op].alias == ALIAS_VIEW;
    for (uint32_t v = in->first_out; v < in->first_out + in->n_out; v++)
        f->source[v] = view ? f->source[f->p->operands[in->first_in]] : v;
}

static bool follow_instr(SharedProof *f, uint32_t k) {
    const PlanInstr *in = &f->p->instrs[k];
    name_sources(f, in);
    meet(f, f->shared->meets[k]);
    if (op_info[in->op].effect == EFFECT_COMM) meet(f, (AxisSet)in->attr.axes);
    return follow_reads(f, k) && follow_writes(f, k) && follow_results(f, k);
}

bool shared_gather_is_safe(const Plan *p, const SharedGather *shared, char *why, size_t room) {
    Arena *a = arena_new();
    SharedProof f = {.p = p, .shared = shared, .why = why, .room = room};
    f.source = arena_array(a, uint32_t, p->n_values + 1);
    f.there = arena_array(a, SharedResult, p->n_values + 1);
    bool safe = true;
    for (uint64_t i = 0; i < p->n_programs && safe; i++) {
        const PlanProgram *q = &p->programs[i];
        f.n = 0;
        for (uint32_t k = 0; k < q->n_instr && safe; k++)
            safe = follow_instr(&f, q->first_instr + k);
        for (uint32_t k = 0; k < f.n && safe; k++)
            if (!f.there[k].met)
                safe = refuse(&f, q->first_instr + q->n_instr - 1,
                              "ends a program while another rank may still read a shared gather");
    }
    arena_free(a);
    return safe;
}
