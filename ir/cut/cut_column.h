/* The columns CUT, CUT_BY and LINEAR of ops.def, parsed, and what the files cut*.c share. For these
 * and for tests.
 *
 * CUT("... sum, T each at, H with K each") has an item for each letter of the op's signature along
 * which ranks may share out the op. `...` and letters with a star stand for each of their axes.
 *
 * each      values that have the letter are cut; others are whole
 * sum       the same, but results that lack the letter are partial. Operands that lack it are
 *           whole, unless a group of LINEAR names them together with an operand that is cut:
 *           they are added, so they are partial too
 * merge     ranks compute the op that MERGED names first, on parts of values that have the letter
 * over P    the letter is that of an operand; results have the parts of letter P that are made of
 *           a rank's part of it
 * at        the kernel must know where its part begins: it asks how its operands or results are
 *           placed. It finds a part of one run, `at pairs` of two, `at runs` of any number
 * padded    the kernel leaves out entries that are padding, and writes zeros there (cut.h)
 * H with K  H is a multiple of K, and entry i of H belongs to entry i / (H / K) of K. There are
 *           two cuts: of K, with the entries of H that belong to each of its entries; and of
 *           those entries of H, where values that have only K are whole if they are operands
 *           and partial if they are results
 *
 * LINEAR("x b, w b"): the op is linear in x and b together, and in w and b together. Operands that
 * are left out do not count. LINEAR("a / b"): it divides by b, which may be 0 in padding.
 */
#ifndef FSDPC_CUT_COLUMN_H
#define FSDPC_CUT_COLUMN_H

#include "cut.h"
#include "signature.h"

enum { MOST_LINEAR = 3 };

typedef struct CutItem {
    SlotAxis axis, with; /* AXIS_SIZE or AXIS_SEQUENCE; with: AXIS_NUMBER if there is none */
    char letter;
    bool sum, at, merge, padded;
    uint8_t runs; /* of `at`: the most of them */
    bool over;    /* `with` is the letter after it */
} CutItem;

/* The cuts of an op as they are found. */
typedef struct CutSearch {
    const CutOp *op;
    Cut *cuts;
    uint32_t n;
    Arena *arena;
} CutSearch;

/* A function cut_<rule> of cut_rules.c. */
typedef void CutRule(CutSearch *s);

typedef struct CutColumn {
    uint8_t n, n_linear;
    CutItem item[MOST_SIZES];
    uint8_t linear[MOST_LINEAR]; /* masks of operands by slot */
    uint8_t divisor;             /* the same: by what it divides */
    CutRule *rule;
} CutColumn;

/* Parsed when the program starts. */
const CutColumn *cut_column(OpKind kind);
/* Parses CUT and LINEAR of an op. Returns what violates their form, or NULL. */
const char *cut_column_parse(OpKind kind, const char *cut, const char *linear, CutColumn *column);
/* Whether group k of LINEAR names operand i. */
bool cut_linear_names(const CutOp *op, const CutColumn *column, uint32_t k, uint32_t i);
/* Whether the op divides by operand i. */
bool cut_divides_by(const CutOp *op, const CutColumn *column, uint32_t i);

/* cut_rules.c: a new cut whose values are all whole; NULL if the size is less than 2 or there are
 * too many cuts. */
Cut *cut_add(CutSearch *s, int64_t size);
void cut_put(Cut *cut, uint32_t value, int dim, int64_t outer);

/* cut_rules.c */
CutRule cut_along, cut_beside, cut_broadcast, cut_concat, cut_reshape, cut_slice, cut_split,
    cut_sum, cut_transpose;
/* cut_letters.c: what op_cuts and op_keeps_partial say of an op that is not made of others. rule:
 * in place of the columns CUT and CUT_BY, or NULL. */
void cut_row(CutSearch *s, CutRule *rule);
bool cut_row_keeps_partial(const CutOp *op, const bool *partial);
/* cut_steps.c: of an op that is. */
bool cut_is_made_of_steps(const CutOp *op);
CutRule cut_steps;
bool cut_steps_keep_partial(const CutOp *op, const bool *partial);

#endif
