/* The plan checker: entry, clocks, and the helpers that its proofs share.
 *
 * In: a plan that plan_read accepted (every number is in range). Out: 0, or the first fault, named
 * by rule and instruction. The proofs run from the outermost in, because the later ones lean on the
 * earlier: 7 (no cycle: clocks exist) and 5 (collectives match), then for each program 1 (reads
 * after writes), 2 (no overlap), 3 (between unshard and reshard), then 4 over the calls of a step,
 * then 6 (the high-water mark).
 *
 * Cost: n log n in instructions, once a role; nothing depends on the number of ranks.
 */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int check_fail(Check *c, const char *rule, uint64_t instr, const char *format, ...) {
    snprintf(c->fault->rule, sizeof c->fault->rule, "check-%s", rule);
    c->fault->instr = instr;
    va_list args;
    va_start(args, format);
    vsnprintf(c->fault->message, sizeof c->fault->message, format, args);
    va_end(args);
    return EXIT_CORRUPT;
}

uint32_t check_in(const Check *c, uint64_t instr, uint32_t k) {
    return c->p->operands[c->p->instrs[instr].first_in + k];
}

uint32_t check_out(const Check *c, uint64_t instr, uint32_t k) {
    return c->p->operands[c->p->instrs[instr].first_out + k];
}

bool check_before(const Check *c, uint64_t a, uint64_t b) {
    return c->program[a] == c->program[b] &&
           c->position[a] < c->clock[b][c->p->instrs[a].stream];
}

uint64_t check_bytes(const Check *c, uint32_t value) {
    return (uint64_t)type_bytes(&c->p->values[value].type);
}

int64_t check_entry_state(const Check *c, uint32_t value) {
    const PlanInstr *def = &c->p->instrs[c->p->values[value].def];
    return def->op == OP_state ? def->attr.index : -1;
}

bool check_is_collective(const Check *c, uint64_t instr) {
    return op_info[c->p->instrs[instr].op].effect == EFFECT_COMM;
}

int64_t check_mesh_size(const Check *c, int64_t axis) {
    return axis >= 0 && (uint64_t)axis < c->p->n_axes ? c->p->axes[axis].size : 1;
}

/* Clocks of one program. Every edge points backwards: rule 7 was proved first. */
static void fill_clocks(Check *c, uint32_t program) {
    const PlanProgram *pr = &c->p->programs[program];
    uint32_t now[MAX_STREAMS][MAX_STREAMS] = {{0}};
    uint32_t issued[MAX_STREAMS] = {0};
    for (uint64_t i = pr->first_instr; i < pr->first_instr + pr->n_instr; i++) {
        const PlanInstr *in = &c->p->instrs[i];
        uint32_t *clock = now[in->stream];
        c->program[i] = program;
        c->position[i] = issued[in->stream]++;
        clock[in->stream] = c->position[i];
        for (uint32_t k = 0; k < in->n_edge; k++) {
            uint32_t e = c->p->edges[in->first_edge + k];
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
        for (uint32_t k = 0; k < p->instrs[i].n_in; k++) c->first_use[c->root[check_in(c, i, k)] + 1]++;
    for (uint32_t v = 0; v < p->n_values; v++) c->first_use[v + 1] += c->first_use[v];
    for (uint64_t i = p->n_instrs; i-- > 0;)
        for (uint32_t k = p->instrs[i].n_in; k-- > 0;)
            c->use[--c->first_use[c->root[check_in(c, i, k)] + 1]] = (uint32_t)i;
    /* Each start has moved one row up; move them back. */
    for (uint32_t v = 0; v < p->n_values; v++) c->first_use[v] = c->first_use[v + 1];
    uint64_t total = 0;
    for (uint64_t i = 0; i < p->n_instrs; i++) total += p->instrs[i].n_in;
    c->first_use[p->n_values] = total;
}

static int prove(Check *c, PlanCheckResult *result) {
    int status = check_cycles(c);
    if (status) return status;
    for (uint32_t k = 0; k < c->p->n_programs; k++) fill_clocks(c, k);
    fill_uses(c);
    if ((status = check_collectives(c))) return status;
    for (uint32_t k = 0; k < c->p->n_programs; k++) {
        uint32_t live = 0;
        if ((status = check_reads(c, k))) return status;
        if ((status = check_overlaps(c, k))) return status;
        if ((status = check_unsharded(c, k, &live))) return status;
        if (k < ARRAY_LEN(result->live_units)) result->live_units[k] = live;
    }
    for (uint32_t r = 0; r < c->p->n_roles; r++)
        if ((status = check_gradients(c, r))) return status;
    return check_peak(c, &result->peak);
}

int plan_check_result(const Plan *p, PlanFault *fault, PlanCheckResult *result) {
    Check c = {.p = p, .fault = fault};
    memset(fault, 0, sizeof *fault);
    memset(result, 0, sizeof *result);
    uint64_t operands = p->n_operands + 1, values = p->n_values + 2, instrs = p->n_instrs + 1;
    c.clock = calloc(instrs, sizeof *c.clock);
    c.position = calloc(instrs, sizeof *c.position);
    c.program = calloc(instrs, sizeof *c.program);
    c.root = calloc(values, sizeof *c.root);
    c.first_use = calloc(values, sizeof *c.first_use);
    c.use = calloc(operands, sizeof *c.use);
    int status = EXIT_ENVIRONMENT;
    if (c.clock && c.position && c.program && c.root && c.first_use && c.use) {
        status = prove(&c, result);
    } else {
        check_fail(&c, "0", NO_INSTR, "no memory to check a plan of %llu instructions",
                   (unsigned long long)p->n_instrs);
    }
    free(c.clock);
    free(c.position);
    free(c.program);
    free(c.root);
    free(c.first_use);
    free(c.use);
    return status;
}

int plan_check(const Plan *p, PlanFault *fault) {
    PlanCheckResult result;
    return plan_check_result(p, fault, &result);
}
