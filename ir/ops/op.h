/* Ops, as the compiler, plans and the runtime share them.
 *
 * Nothing here refers to a graph. The tables are ops.def (one row per op), attrs.def (one row per
 * attribute) and words.h (enums with words).
 */
#ifndef FSDPC_OP_H
#define FSDPC_OP_H

#include "type.h"

/* masks of column LEVELS */
enum {
    L_MODEL = 1 << LEVEL_MODEL,
    L_TRAIN = 1 << LEVEL_TRAIN,
    L_SHARD = 1 << LEVEL_SHARD,
    L_COMM = 1 << LEVEL_COMM,
    L_SCHED = 1 << LEVEL_SCHED,
    L_PLANNED = L_COMM | L_SCHED,
    L_GRADED = L_TRAIN | L_SHARD | L_PLANNED,
    L_ALL = L_MODEL | L_GRADED
};

typedef enum OpEffect {
    EFFECT_PURE,   /* reads its inputs, writes its outputs, nothing else */
    EFFECT_COMM,   /* a collective: every rank of the group must issue it */
    EFFECT_MEMORY, /* declares where a value lives or ends; is not reordered */
    EFFECT_MESSAGE /* from the ranks of a stage to those of another, which take it in order */
} OpEffect;

/* How results may share memory with operands. */
typedef enum OpAlias {
    ALIAS_NONE,
    ALIAS_VIEW, /* output 0 is input 0's memory at byte attr.offset; no data moves */
    ALIAS_PACK, /* inputs live inside output 0, at their group's offsets; see op pack */
    ALIAS_MAY,  /* output 0 may take the memory of one input of the mask if that ends here and has
                   the same axes, except leading ones of size 1, and elements of the same size;
                   the kernel is correct either way */
    ALIAS_EACH, /* as ALIAS_MAY for every output, each with a different input */
    ALIAS_MUST, /* output j is input j's memory, for each j of the mask that exists */
    ALIAS_ACC   /* if the last optional input is there, output 0 must be its memory */
} OpAlias;

/* The purpose of an op. An evaluation contains only ops of ROLE_FORWARD. */
typedef enum OpRole {
    ROLE_FORWARD,  /* the model, and what moves its parameters */
    ROLE_BACKWARD, /* gradients, their sums and their way to the update */
    ROLE_STEP,     /* once a step, around the update */
    ROLE_UPDATE    /* (p, moments.., g, scale, step) -> p, moments..: changes a parameter */
} OpRole;

/* Ops whose result is a sum over targets, an exact accumulator. */
typedef enum OpTerm { TERM_NONE, TERM_LOSS, TERM_METRIC } OpTerm;

/* Ops with a result that ranks add up: see column PARTIAL. */
typedef enum OpPartial { PARTIAL_NONE, PARTIAL_TOGETHER, PARTIAL_ALONE } OpPartial;

/* The table that an attribute indexes; ROWS_OF_OP: it depends on the op. */
typedef enum OpRows {
    ROWS_NONE,
    ROWS_PARAMS,
    ROWS_STATES,
    ROWS_FIELDS,
    ROWS_UNITS,
    ROWS_GROUPS,
    ROWS_FORMULAS,
    ROWS_OF_OP
} OpRows;

/* Masks of column ATTRS: enumerators of 64 bits, which GCC and Clang have. */
__extension__ enum {
#define ATTR(field, name, ...) A_##field = (uint64_t)1 << ATTR_BIT_##field,
#include "attrs.def"
    A_none = 0
};

typedef enum OpKind {
#define OP(id, ...) OP_##id,
#include "ops.def"
    OP_COUNT
} OpKind;

/* Masks of column ALIAS. */
#define OPERAND(k) (1u << (k))
#define EVERY_OPERAND UINT32_MAX
enum { ALL_RESULTS = 255, MOST_KEPT = 5 };

/* Row of the table, for code that loops over ops; the columns are described in op_columns.h.
 * Operands and results are in op_signature (signature.h). */
typedef struct OpInfo {
    const char *name, *signature, *help;
    uint8_t levels, effect, role, rows, alias, term, partial;
    uint8_t carries;          /* results 0 .. carries-1 carry gradients, ALL_RESULTS = every one */
    bool given;               /* the op's maker states the result's type */
    bool launched;            /* by a device's kernel; otherwise the executor handles it */
    uint8_t keeps[MOST_KEPT]; /* the states that it changes: as many as signature_updated says */
    uint32_t alias_mask;
    uint64_t attrs;
    uint16_t part, merge; /* column MERGED; 0: the op has none */
    const char *counted;  /* if it is a loss or metric: the operand whose elements count */
    const char *summed;   /* of a partial sum: that result */
    const char *scratch;  /* the result that is memory for the op itself; NULL: there is none */
    uint8_t cost_class;   /* OpClass, of an op that is launched */
    const char *stands;   /* the ops that it stands for, separated by blanks; NULL: only itself */
} OpInfo;

/* A collective whose results hold what all ranks have of its operands. */
static inline bool op_gathers(OpKind op) { return op == OP_unshard || op == OP_all_gather_part; }
/* Makes its operands' values, differently placed: nothing is computed but sums over ranks. */
static inline bool op_changes_placement(OpKind op) {
    return op == OP_part || op == OP_all_gather_part || op == OP_reduce_scatter_part ||
           op == OP_all_reduce;
}

/* op.c */
extern const OpInfo op_info[OP_COUNT];
const char *dtype_name(int dtype);   /* "f32"; "?" when unknown */
int dtype_by_name(const char *name); /* DT_NONE when unknown */
int op_by_name(const char *name);    /* OP_COUNT when unknown */
/* Whether the op only makes values and keeps no state, so that it can run again. */
bool op_computes(OpKind op);
/* The ops that models can name for recomputation: those that compute something and are not covered
 * by another op's name. */
bool op_is_choice(OpKind op);
size_t op_choices(const char **names, size_t max); /* their names */
/* The op whose name stands for `op`: itself, or the first op of column STANDS_FOR; the next ones of
 * that column follow with n = 1, 2, ..; OP_COUNT: no more. */
int op_stands_for(OpKind op, int n);
const char *phase_name(int phase);   /* word of a Phase */
const char *stream_name(int stream); /* word of a StreamKind */
/* The work of one execution; depends only on types and attributes (rules of ops.def). flops: a
 * multiply and an add count as two. bytes: read plus written. */
double op_flops(OpKind op, const Attrs *a, int n_in, const Type *in, int n_out, const Type *out);
/* The matrix products of an op: `count` of them, each [b, m, k] by [b, k, n], of which only `pairs`
 * (m, n) of each b are computed. No count: it has none. */
typedef struct OpProducts {
    int64_t count, b, m, n, k;
    double pairs;
    int64_t again; /* further ones that repeat work of forward, not counted: scores, in backward */
} OpProducts;
OpProducts op_products(OpKind op, const Attrs *a, int n_in, const Type *in, int n_out,
                       const Type *out);
/* Of attention whose m queries are a rank's part of n positions: pairs become those of the last m
 * of them, which no rank exceeds, or the mean over all ranks. */
void op_take_part(OpProducts *p, const Attrs *a, bool mean);
/* The operations of `count`, which are work of the model when utilization is computed (MFU). */
double op_product_flops(OpKind op, const Attrs *a, int n_in, const Type *in, int n_out,
                        const Type *out);
double products_flops(const OpProducts *p);
int64_t op_bytes(OpKind op, const Attrs *a, int n_in, const Type *in, int n_out, const Type *out);
/* Upper bound in bytes of the scratch memory that the op's kernel may ask for on that device. */
int64_t op_workspace(OpKind op, DeviceKind device, const Attrs *a, int n_in, const Type *in,
                     int n_out, const Type *out);

#endif
