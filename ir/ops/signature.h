/* Signatures of ops: what operands an op takes and what results it gives, as data.
 *
 * The column SIGNATURE of ops.def holds one text for each op:
 *
 *   x[..., D] w[O, D] b[O]? -> y[..., O:]
 *
 * Operands, an arrow, results. Each is `name`, then, where it is needed,
 *   :dtype     a dtype, or float (f32, bf16 or f16: what an operand without one must be), any
 *              (anything but a token), a capital letter (any, the same for all that have it), grad
 *              (float; of a result that no operand binds f32, until pass precision chooses), i32(V)
 *              (i32, of numbers from 0 to V - 1), or exact, step, scale: the types of exact
 *              accumulators and of those two states. A result without one has the dtype of operand
 *              0, or any float dtype once pass precision has chosen.
 *   [axes]     axes by name, the same size wherever a letter stands; a number is that size; `_` any
 *              size. `...` is any number of axes, the same ones in the whole signature; so is a
 *              letter with a star. No brackets: any shape. A colon after the last axis: its rows
 *              may have a pitch.
 *   ?          the operand may be left out (the last ones), or the last result: a rule says when
 *   *          any number of them, at least one; of several such operands the dtype tells which is
 *              which, and the second may be missing
 * A result that has an operand's name has its type, if that operand is there.
 *
 * What a signature cannot say is in the rules that column RULE names.
 */
#ifndef FSDPC_SIGNATURE_H
#define FSDPC_SIGNATURE_H

#include "op.h"

enum { MOST_SLOTS = 8, MOST_AXES = 6, MOST_SIZES = 8, MOST_SEQUENCES = 3, MANY = 0xffff };
/* What a slot says of its dtype; values below DT_COUNT are that dtype. */
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
    int8_t below; /* its numbers are below that size, or -1 */
    bool optional, many, any_shape, pitched;
    uint8_t n_axes, n_sequences;
    int8_t same_as; /* of a result: the operand of the same name, or -1 */
    SlotAxis axis[MOST_AXES];
} Slot;

typedef struct Signature {
    uint16_t in_min, in_max, out_min, out_max; /* MANY = any number */
    uint8_t n_in, n_out;                       /* slots */
    uint8_t n_sizes, n_sequences;
    char size[MOST_SIZES], sequence[MOST_SEQUENCES]; /* their letters; `...` is '.' */
    Slot in[MOST_SLOTS], out[MOST_SLOTS];
} Signature;

/* The signature of the op, parsed when the program starts. */
const Signature *op_signature(OpKind kind);
/* The slot of operand i of n. in: their types. */
const Slot *signature_operand(const Signature *s, uint32_t n, const Type *in, uint32_t i);
const Slot *signature_result(const Signature *s, uint32_t j);
/* Operand of that name, -1 when there is none. */
/* How many of the first results are operands of the same places in a new version: of an update the
 * weights and their moments. */
uint32_t signature_updated(const Signature *s);
int signature_find(const Signature *s, const char *name);
int signature_find_result(const Signature *s, const char *name);

/* A signature with the sizes that types give it. */
typedef struct BoundSignature {
    const Signature *s;
    const Type *in;
    uint32_t n_in;
    int64_t size[MOST_SIZES];      /* 0 = not bound */
    uint8_t size_from[MOST_SIZES]; /* the operand that said it, n_in + j for result j */
    struct {
        const int64_t *dim; /* NULL = not bound */
        uint8_t n, from;
    } sequence[MOST_SEQUENCES];
    uint8_t same, same_from; /* the dtype of the capital letter */
    const Type *out;         /* those that were bound too */
    char fault[560];         /* what does not fit, for users */
} BoundSignature;

/* Do the operands fit the signature? `out`: results whose types are given, or NULL. */
bool signature_bind(BoundSignature *b, OpKind kind, uint32_t n_in, const Type *in, uint32_t n_out,
                    const Type *out);
/* Result j, after signature_bind; dtype DT_NONE where a rule has to say it, rank MAX_RANK + 1 where
 * it would have too many axes. */
Type signature_infer(const BoundSignature *b, uint32_t j);
/* May pass precision, or whoever states the type, choose a float dtype for this result? */
bool signature_dtype_is_free(const Signature *s, uint32_t n_in, uint32_t j);
/* Do operands and results fit the signature, and each other? */
bool signature_fits(BoundSignature *b, OpKind kind, uint32_t n_in, const Type *in, uint32_t n_out,
                    const Type *out);
/* The operand, and its axis, that axis k of result j comes from; operand -1 when it is from none.
 * rank: of the result. The operands fit. */
typedef struct AxisOrigin {
    int operand, axis;
} AxisOrigin;
AxisOrigin op_axis_origin(OpKind kind, uint32_t n_in, const Type *in, uint32_t j, int rank, int k);
/* Operand i holds numbers from 0 to this - 1; 0 = its numbers are no indices. */
int64_t op_index_limit(OpKind kind, uint32_t n_in, const Type *in, uint32_t i);

#endif
