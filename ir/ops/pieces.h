/* Formulas that move parts (formula.h), turned into formulas without moves: pieces.c says how. */
#ifndef FSDPC_PIECES_H
#define FSDPC_PIECES_H

#include "formula.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PIECES = 8, PIECE_WINDOWS = 24, PIECE_STEPS = 40, PIECE_STORES = 24 };
enum { FORMULA_ALL = FORMULA_OPERANDS + FORMULA_STEPS };

typedef struct PieceWindow {
    int64_t offset; /* elements */
    Spread spread;
    uint8_t operand;
} PieceWindow;

/* Row r of the piece begins at element offset + r * pitch of the result. */
typedef struct PieceStore {
    int64_t offset, pitch;
    uint8_t result;
} PieceStore;

typedef struct Pieces {
    int64_t rows, run;
    uint32_t n_in, n_step, n_store;
    PieceWindow in[PIECE_WINDOWS];
    FormulaStep step[PIECE_STEPS]; /* `result` is 1 + the index of a store */
    PieceStore store[PIECE_STORES];
} Pieces;

static inline int64_t common_divisor(int64_t a, int64_t b) {
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Fills in the types of the steps of a formula with moves, after those of its operands. false: the
 * operands do not have the right shapes. */
bool moves_types(uint32_t n_in, uint32_t n_step, const FormulaStep *step, Type *value);
/* Cuts a formula with moves, whose values have these types, into pieces. false: that is not
 * possible. */
bool formula_pieces(uint32_t n_in, uint32_t n_step, const FormulaStep *step, const Type *value,
                    Pieces *p);
/* The same from the types of operands and results, which must be those of the formula. */
bool formula_cut(uint32_t n_in, const Type *const *in_type, uint32_t n_step,
                 const FormulaStep *step, const Type *const *out_type, Pieces *p);

#ifdef __cplusplus
}
#endif

#endif
