/* What a plan says in words: its strings, the name of an instruction, and why it is refused. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "plan_reader.h"

_Noreturn void plan_fail(Reading *r, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(r->message, r->message_size, format, args);
    va_end(args);
    longjmp(r->end, 1);
}

const char *plan_string(const Plan *p, PlanString s) { return p->strings + s; }

const char *plan_saved_name(const Plan *p, const PlanParam *q) {
    return plan_string(p, *plan_string(p, q->checkpoint) ? q->checkpoint : q->key);
}

void plan_instr_text(const Plan *p, uint64_t instr, char *out, size_t size) {
    if (instr >= p->n_instrs) {
        snprintf(out, size, "instruction %llu", (Llu)instr);
        return;
    }
    const PlanInstr *in = &p->instrs[instr];
    const char *path = plan_string(p, in->path);
    int n = snprintf(out, size, "%s%s", path, *path ? " " : "");
    if (n < 0 || (size_t)n >= size) return;
    if (in->file)
        snprintf(out + n, size - (size_t)n, "%s:%u:%u: %s #%llu",
                 plan_string(p, p->files[in->file].base), in->line, in->col, op_info[in->op].name,
                 (Llu)instr);
    else
        snprintf(out + n, size - (size_t)n, "%s #%llu", op_info[in->op].name, (Llu)instr);
}

Attrs plan_node_attrs(const Plan *p, const PlanNode *n) {
    Attrs a = {0};
    const uint64_t *word = &p->node_words[n->first_word];
    for (uint32_t bit = 0; bit < ATTR_COUNT; bit++)
        if (op_info[n->op].attrs >> bit & 1)
            memcpy((char *)&a + bit * sizeof *word, word++, sizeof *word);
    return a;
}
