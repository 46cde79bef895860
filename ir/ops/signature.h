/* Signatures of ops, as data: the operands that an op takes and the results that it returns.
 *
 * Column SIGNATURE of ops.def holds one text for each op:
 *
 *   x[..., D] w[O, D] b[O]? -> y[..., O:]
 *
 * Operands, an arrow, results. Each is `name`, then, as needed,
 *   :dtype     a dtype; or float (f32, bf16 or f16: the default for operands), any (anything but a
 *              token), a capital letter (any dtype, the same wherever the letter occurs), grad
 * (float; a result whose dtype no operand determines is f32 until pass precision chooses), i32(V)
 *              (i32 with numbers from 0 to V - 1), or exact, step, scale: the types of exact
 *              accumulators and of those two states. A result without one has the dtype of operand
 * 0, or any float dtype once pass precision has chosen. [axes]     axes by name: a letter has the
 * same size wherever it occurs; a number is that size; `_` is any size. `...` is any number of
 * axes, the same ones throughout the signature; so is a letter with a star. No brackets: any shape.
 * A colon after the last axis: the rows may have a pitch. ?          the operand may be left out
 * (only the last ones); so may the last result, as a rule says
 *   *          any number of them, at least one; if two operands have a star, the dtype tells which
 * is which, and the second may be missing A result with the name of an operand has that operand's
 * type, if the operand is present.
 *
 * Column RULE names the rules for what a signature cannot express.
 */
#ifndef FSDPC_SIGNATURE_H
#define FSDPC_SIGNATURE_H

#include "op.h"

enum { MOST_SLOTS = 8, MOST_AXES = 6, MOST_SIZES = 8, MOST_SEQUENCES = 3, MANY = 0xffff };
/* What a slot says about its dtype; values below DT_COUNT are that dtype. */
enum { WANT_FLOAT = DT_COUNT, WANT_ANY, WANT_SAME, WANT_GRAD, WANT_DEFAULT };

typedef enum AxisKind { AXIS_SIZE, AXIS_NUMBER, AXIS_ANY, AXIS_SEQUENCE } AxisKind;
typedef struct SlotAxis {
    uint8_t kind;
    uint8_t which;   /* AXIS_SIZE, AXIS_SEQUENCE: of the signature's letters, sequences */
    uint16_t number; /* AXIS_NUMBER */
} SlotAxis;

/* An operand or a result. */
typedef struct Slot {
    char name[12];
    char axes[24]; /* "[..., D]", for messages and help */
    uint8_t dtype;
    int8_t below; /* the size below which its numbers are, or -1 */
    bool optional, many, any_shape, pitched;
    uint8_t n_axes, n_sequences;
    int8_t same_as; /* of a result: the operand of the same name, or -1 */
    SlotAxis axis[MOST_AXES];
} Slot;

typedef struct Signature {
    uint16_t in_min, in_max, out_min, out_max; /* MANY = any number */
    uint8_t n_in, n_out;                       /* slots */
    uint8_t n_sizes, n_sequences;
    char size[MOST_SIZES], sequence[MOST_SEQUENCES]; /* letters; '.' for `...` */
    Slot in[MOST_SLOTS], out[MOST_SLOTS];
} Signature;

/* The signature of the op, parsed at program start. */
const Signature *op_signature(OpKind kind);
/* The slot of operand i of n. in: their types. */
const Slot *signature_operand(const Signature *s, uint32_t n, const Type *in, uint32_t i);
const Slot *signature_result(const Signature *s, uint32_t j);
/* How many of the first results are new versions of the operands at the same positions: for an
 * update, the weights and their moments. */
uint32_t signature_updated(const Signature *s);
/* Operand, or result, of that name, -1 when there is none. */
int signature_find(const Signature *s, const char *name);
int signature_find_result(const Signature *s, const char *name);
/* The result that column PARTIAL names, -1 when there is none. */
int op_partial_result(OpKind kind);
/* The result that column SCRATCH names, -1 when there is none. */
int op_scratch(OpKind kind);
/* The operand, -1 when there is none, that is a result of column PARTIAL: it has the name of one.
 */
int op_partial_operand(OpKind kind);

/* A signature with the sizes that types give it. */
typedef struct BoundSignature {
    const Signature *s;
    const Type *in;
    uint32_t n_in;
    int64_t size[MOST_SIZES];      /* 0 = not bound */
    uint8_t size_from[MOST_SIZES]; /* the operand that bound it, n_in + j for result j */
    struct {
        const int64_t *dim; /* NULL = not bound */
        uint8_t n, from;
    } sequence[MOST_SEQUENCES];
    uint8_t same, same_from; /* the dtype of the capital letter */
    const Type *out;         /* results that were bound too */
    bool silent;             /* leaves that out: */
    char fault[560];         /* what does not match, for users */
} BoundSignature;

/* Whether the operands match the signature. `out`: results whose types are given, or NULL. */
bool signature_bind(BoundSignature *b, OpKind kind, uint32_t n_in, const Type *in, uint32_t n_out,
                    const Type *out);
/* The type of result j, after signature_bind; dtype DT_NONE if a rule must give it, rank MAX_RANK +
 * 1 if it would have too many axes. */
Type signature_infer(const BoundSignature *b, uint32_t j);
/* Whether pass precision, or whoever states the type, may choose a float dtype for this result. */
bool signature_dtype_is_free(const Signature *s, uint32_t n_in, uint32_t j);
/* Whether operands and results match the signature and each other. */
bool signature_fits(BoundSignature *b, OpKind kind, uint32_t n_in, const Type *in, uint32_t n_out,
                    const Type *out);
/* The same, without a fault's text, which takes longer than all else: for types that are tried. */
bool signature_might_fit(BoundSignature *b, OpKind kind, uint32_t n_in, const Type *in,
                         uint32_t n_out, const Type *out);
/* The operand, and its axis, from which axis k of result j comes; operand -1 if none. rank: of the
 * result. The operands must match. */
typedef struct AxisOrigin {
    int operand, axis;
} AxisOrigin;
AxisOrigin op_axis_origin(OpKind kind, uint32_t n_in, const Type *in, uint32_t j, int rank, int k);
/* The axis of operand `who`, or of result who - n_in, at which that letter or run begins, -1 if it
 * has none. After signature_fits. */
int signature_axis(const BoundSignature *b, uint32_t who, const SlotAxis *axis);
/* Operand i holds numbers from 0 to the returned one - 1; 0: its numbers are not indices. */
int64_t op_index_limit(OpKind kind, uint32_t n_in, const Type *in, uint32_t i);

#endif
