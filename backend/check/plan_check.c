/* The plan checker: its entry, its clocks and the order of the proofs. check_common.c has what the
 * proofs share.
 *
 * In: a plan that plan_read accepted (every number is in range). Out: 0, or the first fault, named
 * by rule and instruction. The proofs run from the outermost in, because the later ones rely on the
 * earlier:
 *   7, 5     no cycle, so clocks exist; collectives match (check_collectives.c)
 *   1, 2, 3  of each program: reads come after writes, no overlap (check_memory.c), and reads lie
 *            between unshard and reshard (check_order.c has 1 and 3)
 *   10, 4    of each program: values are placed as ops allow (placement/); with the numbers of
 *            values (check_terms.c), gradients are those of the loss (check_backward.c). In a
 *            pipeline stages/check_stages.c first proves the calls (5e, 5f, 7c, 10g) and links the
 *            programs of a kind, which are then proved as one
 *   3, 4     over the calls of a step: what stays gathered (check_order.c); contributions
 *            (check_gradients.c, follow_*.c, stages/follow_shared.c), the evaluation, constants
 *            (check_constants.c)
 *   8        losses and metrics are the model's (check_model.c), and so are tables (check_facts.c)
 *            and dtypes (check_dtypes.c)
 *   6, 9     the high-water mark (check_peak.c); what leaves for a checkpoint while the next
 *            step runs (check_saves.c)
 *
 * Cost: n log n in instructions, once a role; only proof 9 adds up what each rank writes.
 */
#include "check.h"

#include <string.h>

/* Clocks of one program. Rule 7 is proved first; in a run without it (plan_check_rules), an edge
 * that does not point backwards orders nothing. */
static void fill_clocks(Check *c, uint32_t program) {
    const PlanProgram *pr = &c->p->programs[program];
    uint32_t now[MAX_STREAMS][MAX_STREAMS] = {{0}};
    uint32_t issued[MAX_STREAMS] = {0};
    for (uint64_t i = pr->first_instr; i < check_end(pr); i++) {
        const PlanInstr *in = &c->p->instrs[i];
        uint32_t *clock = now[in->stream];
        c->program[i] = program;
        c->position[i] = issued[in->stream]++;
        clock[in->stream] = c->position[i];
        for (uint32_t k = 0; k < in->n_edge; k++) {
            uint32_t e = c->p->edges[in->first_edge + k];
            if (e >= i) continue;
            uint8_t es = c->p->instrs[e].stream;
            for (int s = 0; s < MAX_STREAMS; s++) clock[s] = MAX(clock[s], c->clock[e][s]);
            clock[es] = MAX(clock[es], c->position[e] + 1);
        }
        memcpy(c->clock[i], clock, sizeof now[0]);
    }
}

static void fill_uses(Check *c) {
    const Plan *p = c->p;
    for (uint32_t v = 0; v < p->n_values; v++) c->root[v] = v;
    /* A view's operand may have a higher number only in a plan that rule 1 rejects. */
    for (uint64_t i = 0; i < p->n_instrs; i++) {
        if (op_info[p->instrs[i].op].alias != ALIAS_VIEW) continue;
        c->root[check_out(c, i, 0)] = c->root[check_in(c, i, 0)];
    }
    for (uint64_t i = 0; i < p->n_instrs; i++)
        for (uint32_t k = 0; k < p->instrs[i].n_in; k++) c->first_use[c->root[check_in(c, i, k)]]++;
    /* Where the uses of each value end; they are filled in from there. */
    for (uint32_t v = 0; v < p->n_values; v++) c->first_use[v + 1] += c->first_use[v];
    for (uint64_t i = p->n_instrs; i-- > 0;)
        for (uint32_t k = p->instrs[i].n_in; k-- > 0;)
            c->use[--c->first_use[c->root[check_in(c, i, k)]]] = (uint32_t)i;
}

/* Position + 1 of the last access of each root on each stream; MAX for one from another program. */
static void fill_last(Check *c) {
    const Plan *p = c->p;
    for (uint32_t r = 0; r < p->n_values; r++) {
        uint64_t def = p->values[r].def;
        bool entry = p->instrs[def].op == OP_state;
        if (!entry) c->last[r][p->instrs[def].stream] = c->position[def] + 1;
        for (uint64_t k = c->first_use[r]; k < c->first_use[r + 1]; k++) {
            uint64_t i = c->use[k];
            uint32_t *last = &c->last[r][p->instrs[i].stream];
            if (!check_accesses(c, i, entry)) continue;
            *last = c->program[i] == c->program[def] ? MAX(*last, c->position[i] + 1) : UINT32_MAX;
        }
    }
}

/* What one program, or what the pieces of one that stages have, compute. */
static void prove_meaning(Check *c, const PlanProgram *pr, uint32_t rules) {
    if (rules & CHECK_RULE(10)) check_placements(c, pr);
    if (!(rules & CHECK_RULE(4))) return;
    check_number(c, pr);
    check_recomputed(c, pr);
    check_backward(c, pr);
}

/* From here on operands are what other pieces have sent and kept. */
static void prove_together(Check *c, uint32_t rules) {
    const Plan *p = c->p;
    PlanProgram *whole = arena_array(c->arena, PlanProgram, p->n_programs + 1);
    check_calls(c);
    check_link(c, c->linked);
    c->operands = c->linked;
    memset(c->first_use, 0, (p->n_values + 2) * sizeof *c->first_use);
    fill_uses(c);
    uint32_t n = check_whole_programs(c, whole);
    for (uint32_t k = 0; k < n; k++) prove_meaning(c, &whole[k], rules);
}

static void run_proofs(Check *c, uint32_t rules) {
    const Plan *p = c->p;
    /* Proof 8 is about the losses and metrics that proof 4 finds. */
    if (rules & CHECK_RULE(8)) rules |= CHECK_RULE(4);
    if (rules & CHECK_RULE(7)) check_cycles(c);
    for (uint32_t k = 0; k < p->n_programs; k++) fill_clocks(c, k);
    fill_uses(c);
    fill_last(c);
    if (rules & CHECK_RULE(5)) check_collectives(c);
    for (uint32_t k = 0; k < p->n_programs; k++) {
        if (rules & CHECK_RULE(1)) check_reads(c, k);
        if (rules & CHECK_RULE(2)) check_overlaps(c, k);
        if (rules & CHECK_RULE(3)) check_parameters(c, k);
        if (!c->stages) prove_meaning(c, &p->programs[k], rules);
    }
    if (c->stages) prove_together(c, rules);
    if (rules & CHECK_RULE(4)) check_samples(c);
    for (uint32_t r = 0; r < p->n_roles; r++) {
        if (rules & CHECK_RULE(3)) check_kept(c, r);
        if (rules & CHECK_RULE(4) && (!c->stages || !r)) check_gradients(c, r);
    }
    if (rules & CHECK_RULE(4)) check_evaluation(c);
    if (rules & CHECK_RULE(4)) check_constants(c);
    if (rules & CHECK_RULE(8)) check_model(c);
    if (rules & CHECK_RULE(8)) check_facts(c);
    if (rules & CHECK_RULE(8)) check_dtypes(c);
    if (rules & CHECK_RULE(6)) check_peak(c);
    if (rules & CHECK_RULE(9)) check_saves(c);
}

/* false: check_stop has ended the proofs. */
static bool prove(Check *c, uint32_t rules) {
    if (setjmp(c->end)) return false;
    run_proofs(c, rules);
    return true;
}

/* The most operands and results that one instruction has. */
static uint64_t most_types(const Plan *p) {
    uint64_t most = 1;
    for (uint64_t i = 0; i < p->n_instrs; i++)
        most = MAX(most, (uint64_t)p->instrs[i].n_in + p->instrs[i].n_out);
    return most;
}

static void find_levels(Check *c) {
    int axes[MESH_AXES];
    c->n_levels = mesh_cut_order(&c->mesh, axes);
    CHECK(c->n_levels <= CHECK_LEVELS);
    for (int k = 0; k < c->n_levels; k++) {
        c->level_axis[k] = axes[c->n_levels - 1 - k];
        c->level_parts[k] = c->mesh.axis[c->level_axis[k]].size;
    }
}

static int check_rules(const Plan *p, uint32_t rules, PlanFault *fault, PlanCheckResult *result) {
    Check c = {
        .p = p, .mesh = plan_mesh(p), .operands = p->operands, .fault = fault, .result = result};
    if (p->n_roles > 1) c.stages = mesh_stage_axes(&c.mesh);
    memset(fault, 0, sizeof *fault);
    memset(result, 0, sizeof *result);
    uint64_t operands = MAX(p->n_operands, p->n_node_operands) + 1, values = p->n_values + 2,
             instrs = p->n_instrs + 1;
    Arena *a = c.arena = arena_new();
    c.clock = arena_alloc(a, instrs * sizeof *c.clock);
    c.cuts = mesh_cut_axes(&c.mesh);
    find_levels(&c);
    c.place = arena_alloc(a, (c.cuts ? values : 1) * sizeof *c.place);
    c.part = arena_alloc(a, (c.cuts ? values : 1) * sizeof *c.part);
    c.whole = arena_alloc(a, (c.cuts ? values : 1) * sizeof *c.whole);
    for (uint64_t v = 0; c.cuts && v < p->n_values; v++) c.whole[v] = p->values[v].type;
    c.scaled = arena_alloc(a, instrs * sizeof *c.scaled);
    c.position = arena_alloc(a, instrs * sizeof *c.position);
    c.program = arena_alloc(a, instrs * sizeof *c.program);
    c.root = arena_alloc(a, values * sizeof *c.root);
    c.first_use = arena_alloc(a, values * sizeof *c.first_use);
    c.last = arena_alloc(a, values * sizeof *c.last);
    c.use = arena_alloc(a, operands * sizeof *c.use);
    c.linked = arena_alloc(a, (c.stages ? operands : 1) * sizeof *c.linked);
    c.types = arena_alloc(a, most_types(p) * sizeof *c.types);
    c.inner = arena_alloc(a, (instrs + 1) * sizeof *c.inner);
    check_index_inner(&c);
    uint64_t inner = check_room(&c) - p->n_values;
    c.inner_type = arena_alloc(a, inner * sizeof *c.inner_type);
    check_type_inner(&c);
    c.number = arena_alloc(a, check_room(&c) * sizeof *c.number);
    c.without_dropout = arena_alloc(a, check_room(&c) * sizeof *c.without_dropout);
    c.of_model = arena_alloc(a, check_room(&c) * sizeof *c.of_model);
    c.of_step = arena_alloc(a, check_room(&c) * sizeof *c.of_step);
    c.terms = arena_alloc(a, (operands + CHECK_PART_IN) * sizeof *c.terms);
    c.first_term_of_state = arena_alloc(a, (p->n_states + 1) * sizeof *c.first_term_of_state);
    c.written = arena_alloc(a, (p->n_states + 1) * sizeof *c.written);
    check_draw_key(&c);
    bool proved = prove(&c, rules);
    arena_free(a);
    return proved ? 0 : EXIT_CORRUPT;
}

int plan_check_rules(const Plan *p, uint32_t rules, PlanFault *fault) {
    PlanCheckResult result;
    return check_rules(p, rules, fault, &result);
}

int plan_check_result(const Plan *p, PlanFault *fault, PlanCheckResult *result) {
    return check_rules(p, CHECK_ALL_RULES, fault, result);
}

int plan_check(const Plan *p, PlanFault *fault) {
    PlanCheckResult result;
    return plan_check_result(p, fault, &result);
}
