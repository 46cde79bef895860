/* Parses column PARTS of ops.def once, when the program starts, after the signatures, whose names
 * it uses.
 *
 * A text that violates the form of parts.h, or uses a name before it is defined, is a bug of this
 * build: it aborts before main, so every test fails.
 */
#include "parts.h"

#include <string.h>

#include "signature.h"
#include "util.h"

static const char *const texts[OP_COUNT] = {
#define OP(id, ...) [OP_##id] = "" __VA_ARGS__,
#define PARTS(text) text
#include "ops.def"
};

static OpParts all[OP_COUNT];

typedef struct PartScan {
    OpKind kind;
    const char *at;
    OpParts *parts;
    TextName inner[MOST_INNER];
    uint32_t made; /* mask of results */
} PartScan;

static _Noreturn void broken(const PartScan *c, const char *what) {
    BUG("the parts of %s: %s at \"%s\"", op_info[c->kind].name, what, c->at);
}

static TextName scan_name(PartScan *c) {
    TextName name = text_take_name(&c->at);
    if (!*name.at) broken(c, "no name");
    return name;
}

static uint8_t find_inner(PartScan *c, const char *name, bool made) {
    for (uint32_t k = 0; k < c->parts->n_inner; k++)
        if (!strcmp(c->inner[k].at, name)) return (uint8_t)(PART_INNER + k);
    if (!made || c->parts->n_inner == MOST_INNER) broken(c, "a name that nothing made");
    strcpy(c->inner[c->parts->n_inner].at, name);
    return (uint8_t)(PART_INNER + c->parts->n_inner++);
}

static uint8_t scan_result(PartScan *c) {
    TextName name = scan_name(c);
    int j = signature_find_result(op_signature(c->kind), name.at);
    if (j < 0) return find_inner(c, name.at, true);
    if (c->made >> j & 1) broken(c, "a result that is made twice");
    c->made |= 1u << j;
    return (uint8_t)(PART_RESULT + j);
}

static uint8_t scan_operand(PartScan *c) {
    const Signature *s = op_signature(c->kind);
    TextName name = scan_name(c);
    int j = signature_find_result(s, name.at), k = signature_find(s, name.at);
    if (k >= 0) return (uint8_t)k;
    if (j < 0) return find_inner(c, name.at, false);
    if (!(c->made >> j & 1)) broken(c, "a result that is not made before");
    return (uint8_t)(PART_RESULT + j);
}

static void scan_part(PartScan *c) {
    OpPart *part = &c->parts->part[c->parts->n++];
    do {
        if (part->n_out == PART_RESULTS) broken(c, "too many results");
        part->out[part->n_out++] = scan_result(c);
    } while (text_take(&c->at, ", "));
    if (!text_take(&c->at, " = ")) broken(c, "no =");
    part->op = (uint16_t)op_by_name(scan_name(c).at);
    if (part->op == OP_COUNT || !text_take(&c->at, "(")) broken(c, "no op");
    do {
        if (part->n_in == PART_OPERANDS) broken(c, "too many operands");
        part->in[part->n_in++] = scan_operand(c);
    } while (text_take(&c->at, ", "));
    if (!text_take(&c->at, ")")) broken(c, "no )");
}

static void scan_parts(OpKind kind) {
    PartScan c = {.kind = kind, .at = texts[kind], .parts = &all[kind]};
    if (!*c.at) return;
    do {
        if (c.parts->n == MOST_PARTS) broken(&c, "too many parts");
        scan_part(&c);
    } while (text_take(&c.at, "; "));
    if (*c.at) broken(&c, "something left over");
    int scratch = op_scratch(kind);
    if (scratch >= 0) c.made |= 1u << scratch;
    if (c.made != (1u << op_signature(kind)->out_max) - 1)
        broken(&c, "a result that nothing makes");
}

__attribute__((constructor)) static void scan_all(void) {
    for (int kind = 0; kind < OP_COUNT; kind++) scan_parts((OpKind)kind);
}

const OpParts *op_parts(OpKind kind) { return &all[kind]; }
