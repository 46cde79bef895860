/* Proofs about the stages of a pipeline.
 *
 * A plan with several roles cuts the model along its layers. Programs of a kind (first, micro,
 * eval) are pieces of one program over the whole model, a chain: forward of stage 0, 1, .., the
 * last stage, then backward the other way. An update is one piece for each role. The proofs about
 * what values are (4, 8, 10) look at the pieces of a kind as one program: check_link replaces each
 * value that a piece receives by the one that the piece before it sends, and each kept activation
 * by the one that the forward of its stage keeps. Gathered parameters and largest weights that the
 * first micro-batch leaves in a state are linked in the same way. It remains to show, about pieces
 * and calls:
 *
 *   5e  pieces are a chain; a message has one sender and one receiver, next to each other in it,
 *       and is the same on both sides; a kept activation is set by forward of its stage alone
 *   5f  each stage does forward and backward of each micro-batch once, in the order of
 *       micro-batches, forward first; the update comes last
 *   10g nothing overwrites a slot between forward and backward of the micro-batch that it is for
 *   7c  no call waits for ever for a message, or for space in an outbox
 */
#include <string.h>

#include "check.h"

static bool is_chained(uint32_t kind) {
    return kind == PROGRAM_FIRST || kind == PROGRAM_MICRO || kind == PROGRAM_EVAL;
}

uint32_t check_whole_programs(const Check *c, PlanProgram *whole) {
    const Plan *p = c->p;
    uint32_t n = 0;
    for (uint32_t k = 0; k < p->n_programs; k++) {
        if (!n || whole[n - 1].kind != p->programs[k].kind)
            whole[n++] = p->programs[k];
        else
            whole[n - 1].n_instr += p->programs[k].n_instr;
    }
    return n;
}

/* ---- pieces ---- */

/* Program `first` + k is the k-th piece of its kind. */
static void check_piece(Check *c, uint32_t first, uint32_t k, uint32_t stages) {
    const Plan *p = c->p;
    const PlanProgram *a = &p->programs[first + k];
    bool chained = is_chained(a->kind), both = chained && a->kind != PROGRAM_EVAL;
    uint32_t n = !chained ? (uint32_t)p->n_roles : both ? 2 * stages - 1 : stages;
    uint32_t stage = k < stages ? k : 2 * (stages - 1) - k;
    StagePart part = !both || stage + 1 == stages ? STAGE_WHOLE
                     : k < stages                 ? STAGE_FORWARD
                                                  : STAGE_BACKWARD;
    bool ends = first + k + 1 == p->n_programs || p->programs[first + k + 1].kind != a->kind;
    bool right = chained || a->kind == PROGRAM_UPDATE;
    if (right && k < n && ends == (k + 1 == n) && a->stage == stage && a->part == part) return;
    check_fail(c, "5e", NO_INSTR, "program %u is not piece %u of a program that %u stages share",
               first + k, k, stages);
}

static void check_pieces(Check *c) {
    const Plan *p = c->p;
    uint32_t stages = plan_stages(p), first = 0, kinds = 0;
    for (uint32_t k = 0; k < p->n_programs; k++) {
        if (k && p->programs[k].kind != p->programs[k - 1].kind) first = k;
        if (k == first && kinds >> p->programs[k].kind & 1)
            check_fail(c, "5e", NO_INSTR, "program %u begins a kind that ended before", k);
        kinds |= 1u << p->programs[k].kind;
        check_piece(c, first, k - first, stages);
    }
}

/* ---- links ---- */

typedef struct Links {
    Check *c;
    uint32_t *same;    /* by value: the one that another piece has made, or itself */
    uint64_t *sent;    /* by state: the send of the piece before, + 1 */
    uint64_t *kept;    /* by state: the set_state of the kind at hand, + 1 */
    uint32_t *sent_by; /* by state: the program of the send */
} Links;

static void link_receive(Links *l, uint64_t i, uint32_t program) {
    Check *c = l->c;
    const Plan *p = c->p;
    const PlanInstr *in = &p->instrs[i];
    int64_t box = in->attr.index;
    const PlanProgram *here = &p->programs[program];
    const PlanProgram *from = program ? &p->programs[program - 1] : NULL;
    uint32_t v = check_out(c, i, 0);
    if (!from || !is_chained(here->kind) || from->kind != here->kind || !l->sent[box] ||
        l->sent_by[box] != program - 1)
        check_fail(c, "5e", i, "receives what the piece before it does not send");
    const PlanInstr *send = &p->instrs[l->sent[box] - 1];
    uint32_t w = p->operands[send->first_in];
    const PlanValue *a = &p->values[v], *b = &p->values[w];
    if (memcmp(&a->type, &b->type, sizeof a->type) || a->placed != b->placed)
        check_fail(c, "5e", i, "receives something else than instruction %llu sends",
                   (Llu)(l->sent[box] - 1));
    if (send->attr.stage != here->stage || in->attr.stage != from->stage)
        check_fail(c, "5e", i, "its message is between other stages");
    l->same[v] = l->same[w];
    l->sent[box] = 0;
}

static void link_send(Links *l, uint64_t i, uint32_t program) {
    Check *c = l->c;
    const Plan *p = c->p;
    int64_t box = p->instrs[i].attr.index;
    if (p->states[box].stage != p->programs[program].stage + 1u)
        check_fail(c, "5e", i, "sends by way of another stage's outbox");
    if (l->sent[box])
        check_fail(c, "5e", i, "sends by way of an outbox whose last message nobody takes");
    l->sent[box] = i + 1;
    l->sent_by[box] = program;
}

static void link_kept(Links *l, uint64_t i, uint32_t program, bool set) {
    Check *c = l->c;
    const Plan *p = c->p;
    int64_t index = p->instrs[i].attr.index;
    const PlanProgram *pr = &p->programs[program];
    bool right = pr->part == (set ? STAGE_FORWARD : STAGE_BACKWARD) &&
                 p->states[index].stage == pr->stage + 1u && !l->kept[index] == set;
    if (!right)
        check_fail(c, "5e", i, "%s activation %s, which is not this call's to %s",
                   set ? "keeps" : "reads", plan_string(p, p->states[index].name),
                   set ? "keep" : "read");
    if (set) {
        l->kept[index] = i + 1;
        return;
    }
    uint32_t v = check_out(c, i, 0), w = p->operands[p->instrs[l->kept[index] - 1].first_in];
    if (memcmp(&p->values[v].type, &p->values[w].type, sizeof(Type)) ||
        p->values[v].placed != p->values[w].placed)
        check_fail(c, "5e", i, "differs in type or placement from what forward kept");
    l->same[v] = l->same[w];
}

/* What the forward of the step's first micro-batch leaves in a state is also what its backward
 * finds there; proofs 3 and 4 check what may be set. */
static void link_left(Links *l, uint64_t i, bool set) {
    const Plan *p = l->c->p;
    int64_t index = p->instrs[i].attr.index;
    if (set)
        l->kept[index] = i + 1;
    else if (l->kept[index])
        l->same[check_out(l->c, i, 0)] =
            l->same[p->operands[p->instrs[l->kept[index] - 1].first_in]];
}

static void link_instr(Links *l, uint64_t i, uint32_t program) {
    const Plan *p = l->c->p;
    const PlanInstr *in = &p->instrs[i];
    switch (in->op) {
    case OP_send: link_send(l, i, program); return;
    case OP_receive: link_receive(l, i, program); return;
    case OP_state:
    case OP_set_state:
        switch (p->states[in->attr.index].role) {
        case STATE_KEPT: link_kept(l, i, program, in->op == OP_set_state); return;
        case STATE_GATHERED:
        case STATE_LARGEST: link_left(l, i, in->op == OP_set_state); return;
        default: return;
        }
    default: return;
    }
}

/* Every message of a kind has been received. */
static void check_all_taken(Links *l) {
    for (uint32_t k = 0; k < l->c->p->n_states; k++)
        if (l->sent[k]) check_fail(l->c, "5e", l->sent[k] - 1, "nobody receives what it sends");
}

static void link_programs(Links *l, uint32_t *operands) {
    const Plan *p = l->c->p;
    for (uint32_t v = 0; v < p->n_values; v++) l->same[v] = v;
    for (uint32_t k = 0; k < p->n_programs; k++) {
        const PlanProgram *pr = &p->programs[k];
        bool begins = !k || p->programs[k - 1].kind != pr->kind;
        if (begins) {
            check_all_taken(l);
            memset(l->kept, 0, (p->n_states + 1) * sizeof *l->kept);
        }
        for (uint64_t i = pr->first_instr; i < check_end(pr); i++) link_instr(l, i, k);
    }
    check_all_taken(l);
    for (uint64_t k = 0; k < p->n_operands; k++) operands[k] = l->same[p->operands[k]];
}

void check_link(Check *c, uint32_t *operands) {
    const Plan *p = c->p;
    Links l = {.c = c,
               .same = arena_alloc(c->arena, (p->n_values + 1) * sizeof *l.same),
               .sent = arena_alloc(c->arena, (p->n_states + 1) * sizeof *l.sent),
               .kept = arena_alloc(c->arena, (p->n_states + 1) * sizeof *l.kept),
               .sent_by = arena_alloc(c->arena, (p->n_states + 1) * sizeof *l.sent_by)};
    link_programs(&l, operands);
}

/* ---- calls ---- */

typedef struct Progress {
    Check *c;
    uint32_t stages;
    int64_t *done[2];        /* by stage: micro-batches that forward, that backward has done */
    uint32_t *stage_in_slot; /* by slot of all roles: 1 + the stage whose activations it holds; 0:
                                free */
    int64_t *micro_in_slot;  /* by slot of all roles: their micro-batch */
    uint64_t *first_slot;    /* by role: the number of its first slot */
} Progress;

static void fail_order(Check *c, const PlanCall *a) {
    const PlanProgram *pr = &c->p->programs[a->program];
    check_fail(c, "5f", NO_INSTR,
               "role %u calls program %u (stage %u, %s) for micro-batch %lld out of order", a->role,
               a->program, pr->stage, word_of(&words_StagePart, pr->part), (long long)a->micro);
}

static void follow_slot(Progress *s, const PlanCall *a) {
    Check *c = s->c;
    const PlanProgram *pr = &c->p->programs[a->program];
    uint64_t at = s->first_slot[a->role] + a->slot;
    bool forward = pr->part == STAGE_FORWARD, holds = s->stage_in_slot[at];
    if (pr->part == STAGE_WHOLE) return;
    if (a->slot >= c->p->roles[a->role].kept_slots)
        check_fail(c, "10g", NO_INSTR,
                   "role %u, stage %u, micro-batch %lld: the role has no slot %u", a->role,
                   pr->stage, (long long)a->micro, a->slot);
    if ((forward && holds) ||
        (!forward && (s->stage_in_slot[at] != pr->stage + 1u || s->micro_in_slot[at] != a->micro)))
        check_fail(c, "10g", NO_INSTR,
                   "role %u, stage %u, micro-batch %lld: slot %u holds another micro-batch",
                   a->role, pr->stage, (long long)a->micro, a->slot);
    s->stage_in_slot[at] = forward ? pr->stage + 1u : 0;
    s->micro_in_slot[at] = a->micro;
}

static void follow_call(Progress *s, const PlanCall *a) {
    Check *c = s->c;
    const PlanProgram *pr = &c->p->programs[a->program];
    bool backward = pr->part == STAGE_BACKWARD, first = a->micro == 0;
    int64_t *forward = &s->done[0][pr->stage];
    bool right = a->times == 1 && plan_stage_role(c->p, pr->stage) == a->role &&
                 pr->kind == (first ? PROGRAM_FIRST : PROGRAM_MICRO) &&
                 a->micro < c->p->settings->micro_batches &&
                 s->done[backward][pr->stage] == a->micro && (!backward || *forward > a->micro);
    if (!right) fail_order(c, a);
    s->done[backward][pr->stage]++;
    follow_slot(s, a);
}

/* The role has done all of its stages' work. */
static void check_finished(Progress *s, uint32_t role, bool updated) {
    Check *c = s->c;
    int64_t micro = c->p->settings->micro_batches;
    for (uint32_t stage = role; stage < s->stages; stage += (uint32_t)c->p->n_roles) {
        bool last = stage + 1 == s->stages;
        if (s->done[0][stage] != micro || (!last && s->done[1][stage] != micro) || !updated)
            check_fail(c, "5f", NO_INSTR,
                       "stage %u does %lld forwards and %lld backwards of %lld micro-batches, "
                       "and %s update",
                       stage, (long long)s->done[0][stage], (long long)s->done[last ? 0 : 1][stage],
                       (long long)micro, updated ? "an" : "no");
    }
}

static void follow_role(Progress *s, uint32_t role) {
    Check *c = s->c;
    const Plan *p = c->p;
    bool updated = false;
    uint32_t evaluated = role;
    for (uint64_t k = 0; k < p->n_calls; k++) {
        const PlanCall *a = &p->calls[k];
        const PlanProgram *pr = &p->programs[a->program];
        if (a->role != role) continue;
        if (a->kind == PLAN_EVALUATION) {
            if (pr->kind != PROGRAM_EVAL || pr->stage != evaluated || a->times != 1 || a->micro)
                fail_order(c, a);
            evaluated += (uint32_t)p->n_roles;
        } else if (pr->kind == PROGRAM_UPDATE) {
            if (updated || a->times != 1 || a->micro || pr->stage != role) fail_order(c, a);
            updated = true;
        } else {
            if (updated) fail_order(c, a);
            follow_call(s, a);
        }
    }
    bool evaluates = evaluated > role;
    if (evaluates && evaluated < s->stages)
        check_fail(c, "5f", NO_INSTR, "role %u leaves a stage out of an evaluation", role);
    check_finished(s, role, updated);
}

/* ---- waiting ---- */

typedef struct Flow {
    Check *c;
    uint64_t *next;    /* by role: its next call */
    uint32_t *waiting; /* by state, of an outbox: messages in it */
} Flow;

/* May the call run to its end, and does it then take and leave these messages? */
static bool may_run(const Flow *f, const PlanProgram *pr) {
    const Plan *p = f->c->p;
    for (uint64_t i = pr->first_instr; i < check_end(pr); i++) {
        const PlanInstr *in = &p->instrs[i];
        if (in->op == OP_receive && !f->waiting[in->attr.index]) return false;
        if (in->op == OP_send &&
            f->waiting[in->attr.index] == p->states[in->attr.index].type.dim[0])
            return false;
    }
    return true;
}

static void run_call(Flow *f, const PlanProgram *pr) {
    const Plan *p = f->c->p;
    for (uint64_t i = pr->first_instr; i < check_end(pr); i++) {
        const PlanInstr *in = &p->instrs[i];
        if (in->op == OP_receive) f->waiting[in->attr.index]--;
        if (in->op == OP_send) f->waiting[in->attr.index]++;
    }
}

static bool go_on(Flow *f, uint32_t role, uint32_t kind) {
    const Plan *p = f->c->p;
    uint64_t *k = &f->next[role], before = *k;
    for (; *k < p->n_calls; ++*k) {
        const PlanCall *a = &p->calls[*k];
        if (a->role != role || a->kind != kind) continue;
        if (!may_run(f, &p->programs[a->program])) break;
        run_call(f, &p->programs[a->program]);
    }
    return *k > before;
}

/* Messages stay in order and each has one sender and one receiver, so that one order of the calls
 * that comes to an end shows that every order does. */
static void check_flow(Check *c, uint32_t kind) {
    const Plan *p = c->p;
    Flow f = {c, arena_alloc(c->arena, (p->n_roles + 1) * sizeof *f.next),
              arena_alloc(c->arena, (p->n_states + 1) * sizeof *f.waiting)};
    for (bool any = true; any;) {
        any = false;
        for (uint32_t r = 0; r < p->n_roles; r++) any |= go_on(&f, r, kind);
    }
    for (uint32_t r = 0; r < p->n_roles; r++)
        if (f.next[r] < p->n_calls)
            check_fail(c, "7c", NO_INSTR,
                       "role %u waits for a message for ever in its call of program %u", r,
                       p->calls[f.next[r]].program);
}

void check_calls(Check *c) {
    const Plan *p = c->p;
    Progress s = {.c = c, .stages = plan_stages(p)};
    check_pieces(c);
    uint64_t slots = 0;
    for (uint32_t r = 0; r < p->n_roles; r++) slots += MIN(p->roles[r].kept_slots, p->n_calls) + 1;
    Arena *a = c->arena;
    for (int k = 0; k < 2; k++) s.done[k] = arena_alloc(a, s.stages * sizeof *s.done[k]);
    s.stage_in_slot = arena_alloc(a, slots * sizeof *s.stage_in_slot);
    s.micro_in_slot = arena_alloc(a, slots * sizeof *s.micro_in_slot);
    s.first_slot = arena_alloc(a, (p->n_roles + 1) * sizeof *s.first_slot);
    for (uint32_t r = 0; r < p->n_roles; r++) {
        if (p->roles[r].kept_slots > p->n_calls)
            check_fail(c, "10g", NO_INSTR, "role %u has more slots than calls", r);
        s.first_slot[r + 1] = s.first_slot[r] + MIN(p->roles[r].kept_slots, p->n_calls) + 1;
    }
    for (uint32_t r = 0; r < p->n_roles; r++) follow_role(&s, r);
    for (uint32_t kind = PLAN_STEP; kind <= PLAN_EVALUATION; kind++) check_flow(c, kind);
}
