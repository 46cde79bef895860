/* The vocabulary table of vocabulary.def as data. */
#ifndef FSDPC_VOCABULARY_H
#define FSDPC_VOCABULARY_H

#include "util.h"

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
    K_OFF = 1024        /* `none` switches it off, and off is the default */
};
#define NO_LEAST (-1e300)

typedef enum Support { HERE, DEFAULT_ONLY, LATER } Support;

typedef struct SectionInfo {
    const char *name, *doc;
} SectionInfo;

typedef struct KeyInfo {
    const char *section, *key;
    int kinds;
    const char *standard; /* default as source text, or NULL */
    double least;
    Support support;
    const char *doc;
} KeyInfo;

typedef struct ValueInfo {
    const char *section, *key, *name;
    Support support;
    const char *doc;
} ValueInfo;

typedef struct ArgumentInfo {
    const char *callee, *name;
    int kinds;
    const char *standard;
    double least;
    Support support;
    const char *doc;
} ArgumentInfo;

extern const SectionInfo section_table[];
extern const KeyInfo key_table[];
extern const ValueInfo value_table[];
extern const ArgumentInfo argument_table[];
extern const int n_sections, n_keys, n_values, n_arguments;

/* vocabulary.c */
const KeyInfo *key_find(const char *section, const char *key);
bool section_known(const char *section);
bool key_has_values(const KeyInfo *k);
const ValueInfo *value_find(const KeyInfo *k, const char *name);
/* Names for did-you-mean, in the arena of the caller: fills names, returns how many. */
size_t section_names(const char **names, size_t max);
size_t key_names(const char *section, const char **names, size_t max);
size_t value_names(const KeyInfo *k, const char **names, size_t max);
size_t argument_names(const char *callee, const char **names, size_t max);
const char *kinds_text(Arena *a, int kinds); /* "an integer or none" */

#endif
