/* What fused ops stand for, as data: column PARTS of ops.def gives, for an op that a pass writes in
 * place of several,
 *
 *   h = linear(x, w, b); y = gelu(h)
 *
 * the ops of the table that it replaces, in the order in which they compute. Names are those of the
 * op's own operands and results, or new ones for values that exist only inside it. Each part has
 * the op's attributes. An operand that an instruction lacks is left out of its part; a sum of one
 * term is that term. No part makes the result of column SCRATCH.
 */
#ifndef FSDPC_PARTS_H
#define FSDPC_PARTS_H

#include "op.h"

enum { MOST_PARTS = 5, PART_OPERANDS = 6, PART_RESULTS = 3, MOST_INNER = 3 };
/* What a name refers to: an operand, or one of these + its number. */
enum { PART_RESULT = 16, PART_INNER = 32 };

typedef struct OpPart {
    uint16_t op;
    uint8_t n_in, n_out;
    uint8_t in[PART_OPERANDS], out[PART_RESULTS];
} OpPart;

typedef struct OpParts {
    uint32_t n, n_inner;
    OpPart part[MOST_PARTS];
} OpParts;

/* Parsed when the program starts; n = 0: the op stands for itself. */
const OpParts *op_parts(OpKind kind);

#endif
