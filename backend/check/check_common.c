/* What the proofs of the checker share: operands and results by number, what comes before what, and
 * how a fault is told. */
#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void file_fault(Check *c, const char *rule, uint64_t instr, const char *format,
                       va_list args) {
    snprintf(c->fault->rule, sizeof c->fault->rule, "check-%s", rule);
    c->fault->instr = instr;
    vsnprintf(c->fault->message, sizeof c->fault->message, format, args);
}

int check_note(Check *c, const char *rule, uint64_t instr, const char *format, ...) {
    va_list args;
    va_start(args, format);
    file_fault(c, rule, instr, format, args);
    va_end(args);
    return EXIT_CORRUPT;
}

_Noreturn void check_stop(Check *c) { longjmp(c->end, 1); }

_Noreturn void check_fail(Check *c, const char *rule, uint64_t instr, const char *format, ...) {
    va_list args;
    va_start(args, format);
    file_fault(c, rule, instr, format, args);
    va_end(args);
    check_stop(c);
}

uint32_t check_in(const Check *c, uint64_t instr, uint32_t k) {
    return c->operands[c->p->instrs[instr].first_in + k];
}

uint32_t check_out(const Check *c, uint64_t instr, uint32_t k) {
    return c->p->instrs[instr].first_out + k;
}

bool check_before(const Check *c, uint64_t a, uint64_t b) {
    return c->program[a] == c->program[b] && c->position[a] < c->clock[b][c->p->instrs[a].stream];
}

int64_t check_elements(const Type *t) {
    int64_t n = 1;
    for (int i = 0; i < t->rank; i++) n *= t->dim[i];
    return n;
}

/* The number in a dtype's name says its bits. */
int64_t check_element_bytes(int dtype) {
    const char *digit = dtype_name(dtype);
    int64_t bits = 0;
    while (*digit && (*digit < '1' || *digit > '9')) digit++;
    for (; *digit >= '0' && *digit <= '9'; digit++) bits = 10 * bits + *digit - '0';
    return bits / 8;
}

uint64_t check_type_bytes(const Type *t) {
    int64_t rows = 1, row = t->pitch ? t->pitch : t->rank ? t->dim[t->rank - 1] : 1;
    for (int i = 0; i + 1 < t->rank; i++) rows *= t->dim[i];
    return (uint64_t)(rows * row * check_element_bytes(t->dtype));
}

int64_t check_ranks(const Check *c, AxisSet set) {
    int64_t n = 1;
    for (int a = 0; a < c->mesh.n; a++)
        if (set >> a & 1) n *= c->mesh.axis[a].size;
    return n;
}

uint64_t check_bytes(const Check *c, uint32_t value) {
    const PlanValue *v = &c->p->values[value];
    return (uint64_t)check_ranks(c, v->slots) * check_type_bytes(&v->type);
}

Type check_whole_param(const Check *c, const PlanParam *param) {
    Type t = param->type;
    const TensorCut *cut = &param->cut;
    if (!cut->axes) return t;
    int64_t ranks = check_ranks(c, cut->axes), part = (cut->size + ranks - 1) / ranks;
    t.dim[cut->dim] = t.dim[cut->dim] / part * cut->size;
    return t;
}

bool check_in_one_piece(const Check *c, const PlanGroupParam *at) {
    return at->chunk == 0 || at->chunk >= check_elements(&c->p->params[at->param].type);
}

int64_t check_entry_state(const Check *c, uint32_t value) {
    const PlanInstr *def = &c->p->instrs[c->p->values[value].def];
    return def->op == OP_state ? def->attr.index : -1;
}

static uint32_t copied_by(const Check *c, uint32_t value, uint16_t op) {
    uint64_t def = c->p->values[value].def;
    return c->p->instrs[def].op == op ? check_in(c, def, 0) : value;
}

/* The shard that was gathered, if a retain takes the value back out of the result of that unshard;
 * otherwise the value itself. */
static uint32_t taken_back(const Check *c, uint32_t value) {
    const PlanInstr *in = &c->p->instrs[c->p->values[value].def];
    if (in->op != OP_retain) return value;
    uint32_t flat = c->operands[in->first_in];
    uint64_t def = c->p->values[flat].def;
    const PlanInstr *from = &c->p->instrs[def];
    if (from->op != OP_unshard || from->attr.axes != in->attr.axes) return value;
    uint32_t k = flat - from->first_out;
    return k < from->n_in ? check_in(c, def, k) : value;
}

uint32_t check_at_home(const Check *c, uint32_t value) {
    return copied_by(c, taken_back(c, value), OP_fetch);
}

uint32_t check_as_made(const Check *c, uint32_t value) { return copied_by(c, value, OP_evict); }

bool check_is_zeros(const Check *c, uint32_t value) {
    const PlanInstr *def = &c->p->instrs[c->p->values[value].def];
    return def->op == OP_fill && def->attr.alpha == 0;
}

bool check_is_loss(uint16_t op) { return op_info[op].term == TERM_LOSS; }

bool check_is_update(uint16_t op) { return op_info[op].role == ROLE_UPDATE; }

bool check_is_collective(const Check *c, uint64_t instr) {
    return op_info[c->p->instrs[instr].op].effect == EFFECT_COMM;
}

bool check_accesses(const Check *c, uint64_t user, bool entry) {
    uint16_t op = c->p->instrs[user].op;
    return op_info[op].alias != ALIAS_VIEW && !(op == OP_set_state && entry);
}

bool check_all_before(const Check *c, uint32_t root, uint64_t instr) {
    if (c->program[c->p->values[root].def] != c->program[instr]) return false;
    for (int s = 0; s < MAX_STREAMS; s++)
        if (c->last[root][s] > c->clock[instr][s]) return false;
    return true;
}
