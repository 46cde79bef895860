/* Values of expressions while a model is elaborated: constants, words and calls of a section, and
 * tensors, modules and parameters inside a method. */
#ifndef FSDPC_VALUE_H
#define FSDPC_VALUE_H

#include "ast.h"
#include "builtins.h"
#include "ir.h"

typedef enum ValueKind {
    VALUE_ERROR, /* an error was reported; everything made of it stays silent */
    VALUE_NONE,
    VALUE_BOOL,
    VALUE_INT,
    VALUE_BYTES, /* a size written with B */
    VALUE_REAL,
    VALUE_TEXT,
    VALUE_WORD, /* a name that stands for itself: tanh, bf16, Block */
    VALUE_CALL, /* text: name; items: arguments */
    VALUE_LIST, /* items; tuple: written with ( ) */
    VALUE_TENSOR,
    VALUE_PARAM,
    VALUE_LOSS, /* a loss or metric, complete: tensor is its exact accumulator */
    VALUE_TERM, /* a number of the whole batch, for aux: parts */
    VALUE_MODULE,
    VALUE_ARRAY
} ValueKind;

typedef struct ConstValue ConstValue;
struct Instance;
struct InstanceArray;
struct ParamSlot;
struct Routing;

typedef struct ConstItem {
    const char *name; /* NULL: by position */
    ConstValue *value;
} ConstItem;

/* factor * what op makes of x and choices, over the whole batch. */
typedef struct TermPart {
    OpKind op; /* OP_balance, or OP_average without choices */
    ValueId x, choices;
    double factor;
} TermPart;

/* symbol: how an integer reads in names of the config (`4*D`), for shape errors; may be NULL.
 * dims: the same for each axis of a tensor or parameter. */
struct ConstValue {
    ValueKind kind;
    Span span;
    bool boolean, tuple;
    bool of_rank; /* an integer that depends on how many samples a rank has */
    int64_t integer;
    double real;
    const char *text, *symbol;
    ConstItem *items;
    uint32_t n_items;
    ValueId tensor;
    Type type;
    const char *dims[MAX_RANK];
    const struct Routing *routing; /* of rows sorted by expert, for an array of modules */
    struct Instance *module;
    struct InstanceArray *array;
    struct ParamSlot *param;
    TermPart *parts; /* their sum */
    uint32_t n_parts;
};

/* value.c */
ConstValue value_error(Span at);
ConstValue value_none(Span at);
ConstValue value_bool(Span at, bool b);
ConstValue value_int(Span at, int64_t i);
ConstValue value_real(Span at, double r);
ConstValue value_word(Span at, const char *text);
const char *value_kind_name(const ConstValue *v); /* "an integer" */
extern const char loss_help[]; /* what to do with a loss or metric in an expression */
const char *value_text(Arena *a, const ConstValue *v); /* as it could be written in a file */
bool value_is_tensor(const ConstValue *v);             /* or a parameter */
bool value_is_number(const ConstValue *v);
double value_number(const ConstValue *v);
/* Integer of an integral value (int, or real without fraction). */
bool value_integral(const ConstValue *v, int64_t *out);
const ConstValue *value_item(const ConstValue *v, const char *name); /* NULL when absent */
const char *value_shape(Arena *a, const ConstValue *v);              /* [B, T, KV*hd] */

/* arithmetic.c: constants only. Reports overflow, division by zero and wrong kinds. */
ConstValue arithmetic_binary(DiagSet *ds, const Node *e, const ConstValue *left,
                             const ConstValue *right);
ConstValue arithmetic_by_zero(DiagSet *ds, const Node *e); /* the error that its divisor is 0 */
ConstValue arithmetic_negate(DiagSet *ds, const Node *e, const ConstValue *operand);
ConstValue arithmetic_number(DiagSet *ds, const Node *e);
/* A function of group NUMBER; call: its arguments as bind_call made them. */
ConstValue arithmetic_call(DiagSet *ds, CallId function, Span at, const ConstValue *call);

#endif
