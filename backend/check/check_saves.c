/* Proof 9: a checkpoint that is written while the next step runs holds the state between the two.
 *
 * Saves begin when the last call of a step has ended, so after every update of that step. They run
 * in order on a stream of their own while the calls of the next step run, and an instruction can
 * say how many of them must be over before it begins. So it remains to be proved that
 *   9a  each state that a step reads as the step before left it has a save, or equals one that has,
 *       and no state, nor those that equal it, have two
 *   9b  an instruction that writes into the memory of a state, in any program, begins after the
 *       state's save is over: itself, what is before it on its stream, or what its edges lead to
 *       waits for that
 *   9c  all ranks together write each element once, and none more than the plan says
 *   9d  a copy holds each save that is made from it in a place of its own, and nothing else
 * A place in a copy is reused only by the same save of the next checkpoint, which begins when this
 * checkpoint has been written. The order in which ranks share out elements is that of
 * ir/graph/shards.h, which has one formula for both programs; it is added up here over every rank.
 */
#include "check.h"

#include <stdlib.h>

typedef struct Shared { /* a layout by which ranks write each element once */
    Layout layout;
    int64_t most; /* elements that one of them writes */
} Shared;

typedef struct SavesCheck {
    Check *c;
    uint32_t *save_of;    /* by state: its save + 1; 0 = none */
    uint32_t *by_address; /* states that are saved, those of each role by address */
    uint32_t *first;  /* by role: where its states begin; those of the last one end at [roles] */
    uint32_t *waited; /* by instruction: how many saves are over when it begins */
    bool *written;    /* by state: by the calls of a step so far */
    bool *carried;    /* by state: a step reads what the step before has left in it */
    Shared *shared;
    uint32_t n_shared;
} SavesCheck;

static const char *name_of(const Check *c, uint32_t state) {
    return plan_string(c->p, c->p->states[state].name);
}

/* States that the host writes before each call, and those that an update makes from another state
 * (4q), need no save. */
static bool is_made_again(const PlanState *st) {
    return st->role == STATE_STEP || st->role == STATE_STAGING || st->role == STATE_COPY ||
           st->role == STATE_KEPT;
}

/* Marks what calls read of a step before the step has written it: the step before has made it. */
static void find_carried(SavesCheck *s) {
    const Check *c = s->c;
    const Plan *p = c->p;
    for (uint32_t k = 0; k < p->n_calls; k++) {
        const PlanCall *call = &p->calls[k];
        const PlanProgram *pr = &p->programs[call->program];
        if (call->kind != PLAN_STEP) continue;
        for (uint64_t i = pr->first_instr; i < check_end(pr); i++) {
            int64_t state = p->instrs[i].attr.index;
            if (p->instrs[i].op == OP_state && !s->written[state])
                s->carried[state] = !is_made_again(&p->states[state]);
        }
        for (uint64_t i = pr->first_instr; i < check_end(pr); i++) {
            int64_t state = p->instrs[i].attr.index;
            if (p->instrs[i].op == OP_set_state)
                s->written[state] |= check_entry_state(c, check_in(c, i, 0)) != state;
        }
    }
}

/* Several stages can have equal copies of a state (4s): then a save of one of them is enough. */
static bool is_saved_as(const SavesCheck *s, uint32_t state) {
    const Plan *p = s->c->p;
    const PlanState *own = &p->states[state];
    bool saved = false;
    if (own->group < 0) return false;
    for (uint32_t i = 0; i < p->n_states && !saved; i++)
        saved = s->save_of[i] && p->states[i].role == own->role && p->states[i].group >= 0 &&
                plan_shared_group(p, &p->groups[p->states[i].group]) ==
                    plan_shared_group(p, &p->groups[own->group]);
    return saved;
}

static void check_each_once(SavesCheck *s) {
    Check *c = s->c;
    const Plan *p = c->p;
    for (uint32_t k = 0; k < p->n_saves; k++) {
        uint32_t *save = &s->save_of[p->saves[k].state];
        if (*save)
            check_fail(c, "9a", NO_INSTR, "saves %u and %u both write state %s", *save - 1, k,
                       name_of(c, p->saves[k].state));
        if (plan_is_copy(p, &p->states[p->saves[k].state]))
            check_fail(c, "9a", NO_INSTR, "save %u writes state %s, which another stage writes", k,
                       name_of(c, p->saves[k].state));
        *save = k + 1;
    }
    for (uint32_t i = 0; i < p->n_states; i++)
        if (s->carried[i] && !s->save_of[i] && !is_saved_as(s, i))
            check_fail(c, "9a", NO_INSTR, "no save writes state %s", name_of(c, i));
    c->result->saves = p->n_saves;
}

static int compare_addresses(const void *a, const void *b, void *context) {
    const PlanState *state = context;
    uint64_t x = state[*(const uint32_t *)a].address, y = state[*(const uint32_t *)b].address;
    return (x > y) - (x < y);
}

/* Lists the saved states of each role by address: a program overwrites only states of its role. */
static void sort_by_address(SavesCheck *s) {
    const Plan *p = s->c->p;
    uint32_t n = 0;
    for (uint32_t r = 0; r < p->n_roles; r++) {
        uint32_t first = s->first[r] = n;
        for (uint32_t i = 0; i < p->n_states; i++)
            if (s->save_of[i] && plan_has_state(p, &p->states[i], r)) s->by_address[n++] = i;
        qsort_r(s->by_address + first, n - first, sizeof *s->by_address, compare_addresses,
                (void *)p->states);
    }
    s->first[p->n_roles] = n;
}

/* The result lies in [from, to) of the arena. */
static void check_result(SavesCheck *s, uint64_t instr, uint32_t value, uint64_t from,
                         uint64_t to) {
    Check *c = s->c;
    const PlanState *state = c->p->states;
    uint32_t role = plan_stage_role(c->p, c->p->programs[c->program[instr]].stage);
    uint32_t low = s->first[role], high = s->first[role + 1], all = high;
    /* the first state that ends after `from` */
    while (low < high) {
        const PlanState *q = &state[s->by_address[(low + high) / 2]];
        if (q->address + check_type_bytes(&q->type) <= from)
            low = (low + high) / 2 + 1;
        else
            high = (low + high) / 2;
    }
    for (; low < all && state[s->by_address[low]].address < to; low++)
        if (s->waited[instr] < s->save_of[s->by_address[low]])
            check_fail(c, "9b", instr,
                       "value %u overwrites state %s, whose save (%u) may still run", value,
                       name_of(c, s->by_address[low]), s->save_of[s->by_address[low]] - 1);
}

static void wait_like(SavesCheck *s, uint64_t instr, uint64_t before) {
    if (before < instr) s->waited[instr] = MAX(s->waited[instr], s->waited[before]);
}

static void check_program(SavesCheck *s, const PlanProgram *pr) {
    const Plan *p = s->c->p;
    uint64_t last[MAX_STREAMS];
    for (int k = 0; k < MAX_STREAMS; k++) last[k] = NO_INSTR;
    for (uint64_t i = pr->first_instr; i < check_end(pr); i++) {
        const PlanInstr *in = &p->instrs[i];
        s->waited[i] = in->saves;
        s->c->result->holds += in->saves > 0;
        wait_like(s, i, last[in->stream]);
        for (uint32_t k = 0; k < in->n_edge; k++) wait_like(s, i, p->edges[in->first_edge + k]);
        last[in->stream] = i;
        bool names = in->op == OP_state || op_info[in->op].alias == ALIAS_VIEW;
        for (uint32_t k = 0; k < in->n_out && !names; k++) {
            const PlanValue *v = &p->values[in->first_out + k];
            if (v->type.dtype == DT_TOKEN) continue;
            check_result(s, i, in->first_out + k, v->address,
                         v->address + check_bytes(s->c, in->first_out + k));
        }
    }
}

static bool same_layout(const Layout *a, const Layout *b) {
    return a->split == b->split && a->cut == b->cut && a->unpadded == b->unpadded &&
           a->padded == b->padded && a->shard == b->shard && a->staged == b->staged &&
           a->place == b->place;
}

/* The axes along which ranks hold the same elements of it. */
static AxisSet copy_axes(const Check *c, const Layout *l) {
    return mesh_all_axes(&c->mesh) & ~l->split & ~l->cut & ~l->staged;
}

/* The ranks' parts of a vector follow each other without a gap, in whatever order of ranks. Ranks
 * along axes that cut its parameters have a vector each; those of other stages write nothing of it.
 * *most: what a rank writes at most. */
static void check_ranks_of(Check *c, uint32_t state, const Layout *l, int64_t *most) {
    int64_t ranks = check_ranks(c, mesh_all_axes(&c->mesh)), elements = 0;
    AxisSet others = copy_axes(c, l);
    int64_t copies = check_ranks(c, others), all = l->unpadded * check_ranks(c, l->cut);
    for (int64_t r = 0; r < ranks; r++) {
        LayoutRange part = layout_written(l, &c->mesh, r);
        int64_t shard = layout_number(l, &c->mesh, r), copy = mesh_index(&c->mesh, r, others);
        int64_t begin = shard * l->shard, end = MIN(begin + l->shard, l->unpadded);
        bool holds = mesh_index(&c->mesh, r, l->staged) == l->place;
        if (!holds && part.first == part.end) continue;
        bool inside = part.first >= MIN(begin, l->unpadded) && part.end <= MAX(end, part.first);
        bool first = copy > 0 || part.first == MIN(begin, l->unpadded);
        bool last = copy + 1 < copies || part.end == MAX(end, part.first);
        if (!holds || !inside || !first || !last)
            check_fail(c, "9c", NO_INSTR,
                       "rank %lld writes elements [%lld, %lld) of state %s, of which it has "
                       "[%lld, %lld)",
                       (long long)r, (long long)part.first, (long long)part.end, name_of(c, state),
                       (long long)begin, holds ? (long long)end : 0);
        *most = MAX(*most, part.end - part.first);
        elements += part.end - part.first;
    }
    if (elements != all)
        check_fail(c, "9c", NO_INSTR, "the ranks write %lld elements of state %s, which has %lld",
                   (long long)elements, name_of(c, state), (long long)all);
}

/* Many states have the layout of an earlier one and are written in the same way. */
static void check_shares(SavesCheck *s, uint32_t save) {
    Check *c = s->c;
    const PlanSave *q = &c->p->saves[save];
    const PlanState *state = &c->p->states[q->state];
    Layout l = plan_saved_layout(c->p, state);
    int64_t copies = check_ranks(c, copy_axes(c, &l));
    uint32_t k = 0;
    while (k < s->n_shared && !same_layout(&s->shared[k].layout, &l)) k++;
    if (k == s->n_shared) {
        s->shared[k] = (Shared){.layout = l};
        check_ranks_of(c, q->state, &l, &s->shared[k].most);
        s->n_shared++;
    }
    uint64_t width = (uint64_t)check_element_bytes(state->type.dtype);
    uint64_t bytes = (uint64_t)((l.shard + copies - 1) / copies) * width;
    if (q->bytes == bytes && (uint64_t)s->shared[k].most * width <= bytes) return;
    check_fail(c, "9c", NO_INSTR,
               "save %u says that a rank writes %llu bytes of state %s; the layout says %llu", save,
               (Llu)q->bytes, name_of(c, q->state), (Llu)bytes);
}

/* The ranks of a role copy their saves one after the other; *end: the end of the role's copy. */
static void check_copy_of(Check *c, uint32_t role, uint64_t *end) {
    const Plan *p = c->p;
    uint64_t bytes = 0;
    *end = 0;
    for (uint32_t k = 0; k < p->n_saves; k++) {
        bool copied = p->saves[k].copied;
        uint64_t at = p->saves[k].at, expected = copied ? *end : 0;
        if (!plan_has_state(p, &p->states[p->saves[k].state], role)) continue;
        bytes += p->saves[k].bytes;
        if (copied && p->settings->snapshot != SNAPSHOT_COPY)
            check_fail(c, "9d", NO_INSTR, "save %u of state %s has no place in the copy", k,
                       name_of(c, p->saves[k].state));
        if (at != expected)
            check_fail(c, "9d", NO_INSTR,
                       "save %u of state %s starts at byte %llu of the copy, but the "
                       "previous one ends at %llu",
                       k, name_of(c, p->saves[k].state), (Llu)at, (Llu)expected);
        if (copied) *end += align_up(p->saves[k].bytes, PLAN_ALIGN);
    }
    c->result->save_bytes = MAX(c->result->save_bytes, bytes);
}

static void check_copy(Check *c) {
    const Plan *p = c->p;
    uint64_t end = 0, of_role;
    for (uint32_t r = 0; r < p->n_roles; r++) {
        check_copy_of(c, r, &of_role);
        end = MAX(end, of_role);
    }
    if (p->settings->copy_bytes != end)
        check_fail(c, "9d", NO_INSTR,
                   "the copy of the state reaches byte %llu, the plan says "
                   "%llu",
                   (Llu)end, (Llu)p->settings->copy_bytes);
}

void check_saves(Check *c) {
    const Plan *p = c->p;
    SavesCheck s = {.c = c};
    Arena *a = c->arena;
    s.save_of = arena_alloc(a, (p->n_states + 1) * sizeof *s.save_of);
    s.by_address = arena_alloc(a, ((size_t)p->n_roles * p->n_saves + 1) * sizeof *s.by_address);
    s.first = arena_alloc(a, ((size_t)p->n_roles + 1) * sizeof *s.first);
    s.waited = arena_alloc(a, (p->n_instrs + 1) * sizeof *s.waited);
    s.written = arena_alloc(a, (p->n_states + 1) * sizeof *s.written);
    s.carried = arena_alloc(a, (p->n_states + 1) * sizeof *s.carried);
    s.shared = arena_alloc(a, (p->n_saves + 1) * sizeof *s.shared);
    find_carried(&s);
    check_each_once(&s);
    sort_by_address(&s);
    for (uint32_t k = 0; k < p->n_programs; k++) check_program(&s, &p->programs[k]);
    for (uint32_t k = 0; k < p->n_saves; k++) check_shares(&s, k);
    check_copy(c);
}
