/* Values of expressions: constants, words and calls in sections; tensors, modules and parameters in
 * methods. A value in error was reported already, and silences everything that uses it.
 */
#ifndef FSDPC_VALUE_H
#define FSDPC_VALUE_H

#include "syntax.h"
#include "vocabulary.h"

typedef enum ValueKind {
    VALUE_ERROR, /* an error was reported; what uses the value stays silent */
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
    VALUE_TERM, /* a mean or sum over the batch: parts */
    VALUE_MODULE,
    VALUE_ARRAY
} ValueKind;

typedef struct ExprValue ExprValue;
struct Instance;
struct InstanceArray;
struct ParamSlot;
struct ExpertRouting;

typedef struct ExprItem {
    const char *name; /* NULL: by position */
    ExprValue *value;
} ExprItem;

/* factor * what op makes of x and choices, over the whole batch. */
typedef struct TermPart {
    OpKind op; /* OP_balance; OP_average without choices; or that of a loss, x being its sum */
    ValueId x, choices;
    ValueId weights; /* of an average, or NO_VALUE: the sum of x by that of these */
    double factor;
    const char *name; /* in the log */
} TermPart;

/* symbol: the text of an integer in config names (`4*D`), for shape errors; can be NULL. dims:
 * the same for each axis of a tensor or parameter. */
struct ExprValue {
    ValueKind kind;
    Span span;
    bool boolean, tuple;
    bool per_rank; /* an integer that depends on how many samples a rank has */
    int64_t integer;
    double real;
    const char *text, *symbol;
    ExprItem *items;
    uint32_t n_items;
    ValueId tensor;
    Type type;
    const char *dims[MAX_RANK];
    const struct ExpertRouting *routing; /* of rows sorted by expert, for an array of modules */
    struct Instance *module;
    struct InstanceArray *array;
    struct ParamSlot *param;
    TermPart *parts; /* their sum */
    uint32_t n_parts;
};

/* value.c */
ExprValue value_error(Span at);
ExprValue value_none(Span at);
ExprValue value_bool(Span at, bool b);
ExprValue value_int(Span at, int64_t i);
ExprValue value_real(Span at, double r);
ExprValue value_word(Span at, const char *text);
/* Adds an item to a list or call, all of whose items were added this way; name NULL: by position.
 */
void value_append(Arena *a, ExprValue *list, const char *name, ExprValue item);
const char *value_kind_name(const ExprValue *v); /* "an integer" */
int value_takers(const ExprValue *v);            /* the K_* of types that take it */
extern const char loss_help[]; /* what to do with a loss or metric in an expression */
const char *value_text(Arena *a, const ExprValue *v); /* as it could be written in a file */
bool value_is_tensor(const ExprValue *v);             /* or a parameter */
bool value_is_number(const ExprValue *v);
double value_number(const ExprValue *v);
/* Integer of an integral value (int, or real without fraction). */
bool value_integral(const ExprValue *v, int64_t *out);
const ExprValue *value_item(const ExprValue *v, const char *name); /* NULL when absent */
const char *value_shape(Arena *a, const ExprValue *v);             /* [B, T, KV*hd] */

/* arithmetic.c: constants only. Reports overflow, division by zero and wrong kinds. */
ExprValue arithmetic_binary(DiagSet *ds, const Node *e, const ExprValue *left,
                            const ExprValue *right);
ExprValue arithmetic_by_zero(DiagSet *ds, const Node *e); /* reports that the divisor is 0 */
ExprValue arithmetic_negate(DiagSet *ds, const Node *e, const ExprValue *operand);
ExprValue arithmetic_number(DiagSet *ds, const Node *e);
/* A function of group NUMBER; call: its arguments as bind_call made them. */
ExprValue arithmetic_call(DiagSet *ds, CallId function, Span at, const ExprValue *call);

#endif
