/* The table builtins.def as data: what takes arguments, and which. */
#ifndef FSDPC_BUILTINS_H
#define FSDPC_BUILTINS_H

#include "ir.h"

enum {
    K_INT = 1,
    K_REAL = 2, /* integers too */
    K_BOOL = 4,
    K_TEXT = 8,
    K_WORD = 16,
    K_CALL = 32,
    K_LIST = 64, /* lists and tuples */
    K_BYTES = 128,
    K_NONE = 256,
    K_EXPRESSION = 512, /* kept for the elaboration */
    K_OFF = 1024,       /* `none` switches it off, and off is the default */
    K_TENSOR = 2048,    /* a parameter too */
    K_MANY = 4096,      /* all arguments without a name from here on, at least one */
    K_NAMED = 8192,     /* all other arguments, each under a name of its own, at least one */
    K_OPS = 16384,      /* besides: names of ops stand for themselves */
    K_TERM = 32768      /* a number of the whole batch */
};

/* Numbers further from zero are taken for mistakes; a plan holds none of them. */
#define LARGEST_NUMBER 1e30

/* What a value may be. */
typedef struct ValueType {
    int kinds;
    int items;          /* of a list: kinds of its elements */
    uint32_t count;     /* of a list: how many; 0 = any number */
    const char *listed; /* the words that K_WORD takes, blanks between; NULL: any word, or .. */
    const Words *words; /* .. those of an enum */
    double least, most; /* of numbers, and of the elements of a list */
    bool above, below;  /* the least, the most is excluded itself */
} ValueType;

typedef enum Support { HERE, DEFAULT_ONLY, LATER } Support;

typedef enum CallGroup {
#define GROUP(group, topic, keys, doc) GROUP_##group,
#define CALL(group, name, support, op, doc, example)
#define ARG(group, callee, name, type, standard, range, support, doc)
#include "builtins.def"
#undef GROUP
#undef CALL
    GROUP_COUNT
} CallGroup;

/* CALL_FUNCTION_relu, .. */
typedef enum CallId {
#define GROUP(group, topic, keys, doc)
#define CALL(group, name, support, op, doc, example) CALL_##group##_##name,
#include "builtins.def"
#undef GROUP
#undef CALL
#undef ARG
    CALL_COUNT
} CallId;

typedef struct GroupInfo {
    const char *topic, *keys, *doc;
} GroupInfo;

typedef struct ArgumentInfo {
    CallId call;
    const char *name;
    ValueType type;
    const char *standard; /* NULL: must be given */
    Support support;
    const char *doc;
} ArgumentInfo;

typedef struct CallInfo {
    CallGroup group;
    const char *name;
    Support support;
    OpKind op; /* OP_COUNT: none, or not one alone */
    const char *doc, *example;
} CallInfo;

extern const GroupInfo group_table[GROUP_COUNT];
extern const CallInfo call_table[CALL_COUNT];
extern const ArgumentInfo argument_table[];
extern const int n_arguments;

/* builtins.c */
const CallInfo *call_find(CallGroup group, const char *name); /* NULL: none */
/* Its arguments stand one after the other; *n is how many. */
const ArgumentInfo *call_arguments(const CallInfo *c, uint32_t *n);
/* Fills names from *n on, up to max, with those of the calls of a group that this version has. */
void call_names(CallGroup group, const char **names, size_t *n, size_t max);
/* "attention(q: tensor, .., causal: bool = false)" */
const char *call_signature(Arena *a, const CallInfo *c);
const char *value_type_text(Arena *a, const ValueType *t); /* "tanh | erf", "real" */
const char *type_sentence(Arena *a, const ValueType *t);   /* "an integer or none" */
const char *kinds_text(Arena *a, int kinds);               /* the same of kinds alone */
/* The i-th of the words that the type lists, or NULL behind the last. */
const char *type_word(Arena *a, const ValueType *t, int i);
int type_word_find(const ValueType *t, const char *word); /* -1: not listed */
bool word_of_any_argument(const char *word);

#endif
