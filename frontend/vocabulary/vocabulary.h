/* The words of the language as tables: sections and their keys (vocabulary.def), functions and
 * their arguments (builtins.def), remedies for common mistakes (hints.def).
 *
 * In: a word of a model file or of a command line. Out: the row that describes it, its text for
 * `fsdpc help`, names for "did you mean", or a hint. Nothing here knows a syntax tree or a value.
 */
#ifndef FSDPC_VOCABULARY_H
#define FSDPC_VOCABULARY_H

#include "ir.h"

/* ---- functions, and what else takes arguments ---- */

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
    K_MANY = 4096,      /* all further arguments without a name, at least one */
    K_NAMED = 8192,     /* all other arguments, each under a name of its own, at least one */
    K_OPS = 16384,      /* besides: names of ops stand for themselves */
    K_TERM = 32768      /* a mean or sum over the batch */
};

/* Numbers further from zero are refused as mistakes, so a plan has none of them. */
#define LARGEST_NUMBER 1e30

/* The values that a key or an argument takes. */
typedef struct ValueType {
    int kinds;
    int items;      /* of a list: kinds of its elements */
    uint32_t count; /* of a list: how many; 0 = any number */
    const char
        *listed; /* the words that K_WORD takes, separated by spaces; NULL: any word, or .. */
    const Words *words; /* .. those of an enum */
    double least, most; /* of numbers, and of the elements of a list */
    bool above, below;  /* least, or most, is itself excluded */
} ValueType;

typedef enum Support { HERE, DEFAULT_ONLY, LATER } Support;

typedef enum CallGroup {
#define GROUP(group, topic, keys, doc) GROUP_##group,
#include "builtins.def"
    GROUP_COUNT
} CallGroup;

/* CALL_FUNCTION_relu, .. */
typedef enum CallId {
#define CALL(group, name, support, op, doc, example) CALL_##group##_##name,
#include "builtins.def"
    CALL_COUNT
} CallId;

typedef struct GroupInfo {
    const char *topic, *keys, *doc;
} GroupInfo;

typedef struct ArgumentInfo {
    CallId call;
    const char *name;
    ValueType type;
    const char *default_text; /* as source text; NULL: the argument must be given */
    Support support;
    const char *doc;
} ArgumentInfo;

typedef struct CallInfo {
    CallGroup group;
    const char *name;
    Support support;
    OpKind op; /* OP_COUNT: no single op */
    const char *doc, *example;
} CallInfo;

extern const GroupInfo group_table[GROUP_COUNT];
extern const CallInfo call_table[CALL_COUNT];
extern const ArgumentInfo argument_table[];
extern const int n_arguments;

/* ---- sections and keys ---- */

#define NO_LEAST (-LARGEST_NUMBER)

typedef struct SectionInfo {
    const char *name, *doc;
} SectionInfo;

typedef struct KeyInfo {
    const char *section, *key;
    int kinds;
    const char *default_text; /* as source text, or NULL */
    double least;
    Support support;
    const char *doc, *example;
} KeyInfo;

extern const SectionInfo section_table[];
extern const KeyInfo key_table[];
extern const int n_sections, n_keys;

/* ---- hints ---- */

/* Where the parser met an unexpected token. */
typedef struct SyntaxPlace {
    const char *token;  /* "`,`", "name", "string" */
    const char *text;   /* of a name or number */
    bool name, word;    /* a name, number or string; a word of the language */
    const char *wanted; /* what could stand there, as hints.def writes it */
    const char *line;   /* n_before bytes of it stand before the token */
    size_t n_before;
} SyntaxPlace;

/* builtins.c */
const CallInfo *call_find(CallGroup group, const char *name); /* NULL: none */
/* Its arguments are adjacent; *n is their number. */
const ArgumentInfo *call_arguments(const CallInfo *c, uint32_t *n);
/* Fills names from *n on, up to max, with the calls of a group that this version supports. */
void call_names(CallGroup group, const char **names, size_t *n, size_t max);
/* "attention(q: tensor, .., causal: bool = false)" */
const char *call_signature(Arena *a, const CallInfo *c);
const char *value_type_text(Arena *a, const ValueType *t); /* "tanh | erf", "real" */
const char *type_sentence(Arena *a, const ValueType *t);   /* "an integer or none" */
const char *kinds_text(Arena *a, int kinds);               /* the same for kinds only */
/* The i-th of the words that the type lists, or NULL after the last. */
const char *type_word(Arena *a, const ValueType *t, int i);
int type_word_find(const ValueType *t, const char *word); /* -1: not listed */
bool word_of_any_argument(const char *word);

/* vocabulary.c */
const KeyInfo *key_find(const char *section, const char *key);
bool section_known(const char *section);
/* The i-th word that the key takes, with its text; NULL after the last. */
const char *key_word(const KeyInfo *k, int i, const char **doc);
const char *value_find(const KeyInfo *k, const char *name); /* its text; NULL: not a word of it */
/* Is the name a word of the key? */
bool value_known(const KeyInfo *k, const char *name);
/* The group whose calls the key takes; GROUP_COUNT: none. */
CallGroup key_group(const KeyInfo *k);
const CallInfo *key_call(const KeyInfo *k, const char *name); /* NULL: none */
/* Names for did-you-mean, in the arena of the caller: fills names, returns how many. */
size_t section_names(const char **names, size_t max);
size_t key_names(const char *section, const char **names, size_t max);
/* Words and calls of this version that the key takes. */
size_t value_names(const KeyInfo *k, const char **names, size_t max);
/* The key of the section that takes a call with an argument of this name, and that call,
 * preferably the key's default; or NULL. */
const KeyInfo *argument_key(const char *section, const char *name, const CallInfo **call);

/* hints.c */
/* The line that contains `at`, with n bytes before it. A file can hold any bytes. */
const char *line_before(const DiagSet *ds, Span at, size_t *n);

/* The rest return NULL if there is no hint. */
const char *syntax_hint(const SyntaxPlace *at);
const char *name_hint(const char *name);  /* of an unknown name or function */
const char *field_hint(const char *name); /* of a tensor or parameter */
/* Of an unknown name, by what precedes it. */
const char *name_hint_after(const DiagSet *ds, Span at, const char *name);
/* Of an argument that the function does not have; name NULL: one argument without a name too
 * many. */
const char *argument_hint(const char *callee, const char *name);

#endif
