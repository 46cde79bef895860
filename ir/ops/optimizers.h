/* The table optimizers.def as data: what compiler, plan and checkpoints know of an optimizer. */
#ifndef FSDPC_OPTIMIZERS_H
#define FSDPC_OPTIMIZERS_H

#include "op.h"

/* In the order of the rows; words_OptimizerKind (words.h) has their names. */
typedef enum OptimizerKind {
#define OPTIMIZER(id, name, doc, example, ...) OPTIMIZER_##id,
#include "optimizers.def"
    OPTIMIZER_KINDS
} OptimizerKind;

/* The op that updates a parameter, and the names in checkpoints of its states, by role. */
typedef struct OptimizerUpdate {
    OpKind op; /* OP_param, which updates nothing: there is none */
    const char *state[STATE_ROLES];
} OptimizerUpdate;

typedef struct OptimizerInfo {
    OptimizerKind kind;
    OptimizerUpdate update, momentum, matrix; /* see optimizers.def */
    bool decoupled;
} OptimizerInfo;

extern const OptimizerInfo optimizer_info[OPTIMIZER_KINDS];

/* Does it treat matrices of hidden layers in a way of their own? */
static inline bool optimizer_moves_matrices(uint32_t kind) {
    return optimizer_info[kind].matrix.op != OP_param;
}
/* The update of a parameter; matrix: of a hidden layer; momentum: that hyperparameter is not 0. */
OpKind optimizer_update(OptimizerKind kind, bool matrix, bool momentum);
/* May the op be the update of such a parameter? */
bool optimizer_may_update(OptimizerKind kind, bool matrix, OpKind op);
/* The name in checkpoints of the state of that role; NULL: the optimizer has none. */
const char *optimizer_state(OptimizerKind kind, bool matrix, StateRole role);

#endif
