/* The rules of the verifier, and how a broken one is reported: the first few times of each. */
#include <stdarg.h>

#include "verify.h"

enum { REPORTS_A_RULE = 3 };

const VerifyRule verify_rules[] = {
#define RULE(name, id, claim) {id, claim},
#include "verify_rules.def"
#undef RULE
};
const int n_verify_rules = RULE_COUNT;

void verify_broken(Verify *v, Rule rule, const Op *op, const char *format, ...) {
    v->broken++;
    if (++v->reported[rule] > REPORTS_A_RULE) return;
    Arena *a = v->g->diags->arena;
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(a, format, args);
    va_end(args);
    Span none = {0};
    const char *where = "";
    if (op && v->op_number) {
        where = arena_printf(a, "#%u %s%s%s: ", v->op_number[op - v->g->ops.at],
                             op_info[op->kind].name, *op->path ? " of " : "", op->path);
        if (v->program)
            where = arena_printf(a, "program %s, %s", program_name(v->program->kind), where);
    } else if (v->program) {
        where = arena_printf(a, "program %s: ", program_name(v->program->kind));
    }
    diag_report(v->g->diags, E_graph_rule, op ? op->span : none, verify_rules[rule].claim,
                "%s: %s%s", verify_rules[rule].id, where, text);
}

static void widen(Arena *a, NumberSet *set) {
    NumberSet wider = {.capacity = MAX(2 * set->capacity, 64u)};
    wider.at = arena_array(a, uint64_t, wider.capacity);
    for (uint32_t k = 0; k < set->capacity; k++) number_is_new(a, &wider, set->at[k]);
    *set = wider;
}

bool number_is_new(Arena *a, NumberSet *set, uint64_t number) {
    if (!number) return false;
    if (2 * set->n >= set->capacity) widen(a, set);
    uint32_t mask = set->capacity - 1, k = (uint32_t)(number >> 32) & mask;
    for (; set->at[k]; k = (k + 1) & mask)
        if (set->at[k] == number) return false;
    set->at[k] = number;
    set->n++;
    return true;
}
