/* The table optimizers.def, and lookups in it. */
#include "optimizers.h"

#define NO_STATES NULL
#define STATE(role, name) [STATE_##role] = name,
const OptimizerInfo optimizer_info[OPTIMIZER_KINDS] = {
#define OPTIMIZER(id, name, doc, example, ...)                                                     \
    [OPTIMIZER_##id] = {.kind = OPTIMIZER_##id, __VA_ARGS__},
#define UPDATE(op, states) .update = {OP_##op, {states}},
#define MOMENTUM(op, states) .momentum = {OP_##op, {states}},
#define MATRIX(op, states) .matrix = {OP_##op, {states}},
#define DECOUPLED() .decoupled = true,
#include "optimizers.def"
};

static const char *const names[] = {
#define OPTIMIZER(id, name, doc, example, ...) #name,
#include "optimizers.def"
};
static const char *const meanings[] = {
#define OPTIMIZER(id, name, doc, example, ...) doc,
#include "optimizers.def"
};
const Words words_OptimizerKind = {names, meanings, OPTIMIZER_KINDS};

OpKind optimizer_update(OptimizerKind kind, bool matrix, bool momentum) {
    const OptimizerInfo *o = &optimizer_info[kind];
    if (matrix && o->matrix.op != OP_param) return o->matrix.op;
    return momentum && o->momentum.op != OP_param ? o->momentum.op : o->update.op;
}

bool optimizer_may_update(OptimizerKind kind, bool matrix, OpKind op) {
    return op == optimizer_update(kind, matrix, false) ||
           op == optimizer_update(kind, matrix, true);
}

const char *optimizer_state(OptimizerKind kind, bool matrix, StateRole role) {
    const OptimizerInfo *o = &optimizer_info[kind];
    if (matrix && o->matrix.op != OP_param) return o->matrix.state[role];
    return o->update.state[role] ? o->update.state[role] : o->momentum.state[role];
}
