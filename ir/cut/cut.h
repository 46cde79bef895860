/* Which axes of an op ranks may share out, and what its results are then.
 *
 * In: an op with the types of its operands and results. Out: its cuts. A cut is one logical axis of
 * the op, such as the heads of attention or the width over which a product sums. If each of n ranks
 * has the n-th part of every operand along that axis, and computes with these parts, then each
 * result is
 *   - cut alike: rank r has part r of the whole result, or
 *   - partial: the results of all ranks add up to the whole one, or
 *   - whole: the same on every rank.
 * A cut says which of these holds for each value, and where the axis lies in it. An axis that no
 * cut mentions must be whole on every rank: what is missing here costs a collective, never a wrong
 * number.
 *
 * A logical axis may share a dimension with others: c_attn of GPT-2 has rows of 3 x heads x width.
 * A place therefore names the dimension and a factor of its size:
 *
 *   dimension = outer * size * inner          size: of the cut; inner: whatever remains
 *
 * The part of a rank consists of `outer` runs of size / n * inner entries. Any factor of a cut is a
 * cut too (cut_narrow), so cuts that neighbouring ops disagree on have a common factor, or none.
 *
 * The facts come from columns of ops.def: CUT for ops whose signature names axes, CUT_BY for others
 * (cut_rules.c). An op that stands for several, by column PARTS or by a formula, has the cuts that
 * all of its parts allow (cut_steps.c). There is neither a graph nor a plan here, so passes and the
 * plan's checker ask the same functions. Types must be the whole ones: of a part that has one entry
 * along an axis nothing could say that this axis is cut.
 *
 * Not handled: parts of different sizes; operands of which a rank has some instead of a part of
 * each (experts); ops of shards, of the update and of the tables, whose operands are flat;
 * statistics over samples, which column PARTIAL describes.
 */
#ifndef FSDPC_CUT_H
#define FSDPC_CUT_H

#include "formula.h"
#include "op.h"
#include "util.h"

enum { MOST_CUTS = 24 };

typedef enum PlaceKind {
    PLACE_WHOLE,  /* the same on every rank */
    PLACE_CUT,    /* each rank has a part along `dim` */
    PLACE_PARTIAL /* a result: this rank's term of a sum. An operand: it is added, so it must count
                   * once: it is partial over the same ranks, too, or left out here and added to
                   * the sum; such are a bias and the gradient that a product adds to */
} PlaceKind;

typedef struct Place {
    uint8_t kind; /* PlaceKind */
    uint8_t dim;
    int64_t outer;
} Place;

/* The two cuts of `H with K` (cut_column.h). */
typedef enum CutPair {
    PAIR_NONE,
    PAIR_OUTSIDE, /* of K, with the entries of H that belong to each of its entries */
    PAIR_INSIDE   /* of those entries of H */
} CutPair;

typedef struct Cut {
    int64_t size; /* at least 2; the number of ranks must divide it, or parts end in padding */
    char letter;  /* of the signature or of a part's, '.' for an axis of `...`; 0: it has none */
    uint8_t pair; /* CutPair */
    bool at;      /* the kernel must know where its part begins, which placements.h says, .. */
    uint8_t runs; /* .. and does so of parts in at most that many runs */
    bool merge;   /* ranks compute op_info.part, and op_info.merge of all its results */
    bool pads;    /* parts may end in padding (placements.h): if all of it in operands is 0, then so
                   * it is in results that are cut, and it adds nothing to the others */
    bool counts;  /* attributes `start` and `count`, also of a formula's steps, count entries of
                   * this axis: a part has the n-th part of them */
    Place *value; /* of the operands, then of the results; at least one of them is cut, if only a
                   * result: a part of the result of `expand` needs no part of the operand */
} Cut;

typedef struct CutOp {
    OpKind kind;
    const Attrs *attr;
    uint32_t n_in, n_out;
    const Type *in, *out;
    uint32_t n_step; /* of the formula of op `fused`, otherwise 0 */
    const FormulaStep *step;
} CutOp;

/* The cuts of an op whose types fit, at most MOST_CUTS; returns their number. Different cuts never
 * share entries: several meshes' axes may take one each. Their places are in the arena. */
uint32_t op_cuts(const CutOp *op, Cut *cuts, Arena *arena);
/* Whether kernels compute the op, with that many operands and results, on parts along this cut. One
 * whose op says `at` must know where its part begins. */
bool cut_has_kernels(const Cut *cut, uint32_t n_values);
/* Whether op_info.part of it computes on parts along this cut what op_info.merge needs. */
bool cut_merges(const Cut *cut, uint32_t n_values);
/* Whether a kernel of the op asks how its operands and results are placed. */
bool op_reads_placements(OpKind op);
/* Whether every result is partial if exactly these operands are partial over the same ranks and the
 * others are whole (column LINEAR). partial: one for each operand, at least one of them true. */
bool op_keeps_partial(const CutOp *op, const bool *partial);

/* The type of a rank's part among n, which divides the size of the cut, or parts may end in padding
 * and an entry of the cut is one of the dimension. A whole or partial value has its own type. */
Type place_part(const Type *t, const Place *p, int64_t n);
/* Makes the cut, which has that many values, the factor `size` of itself with `outer` entries
 * around it. false, and no change: their product does not divide the cut's size. */
bool cut_narrow(Cut *cut, uint32_t n_values, int64_t outer, int64_t size);
/* Narrows a cut so that value `which` is cut as `p`, which may be a factor of its place. false, and
 * no change: it does not contain that. */
bool cut_match(Cut *cut, uint32_t n_values, uint32_t which, const Place *p, int64_t size);

#endif
