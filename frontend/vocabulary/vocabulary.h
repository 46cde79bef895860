/* The vocabulary table of vocabulary.def as data. */
#ifndef FSDPC_VOCABULARY_H
#define FSDPC_VOCABULARY_H

#include "builtins.h"

#define NO_LEAST (-LARGEST_NUMBER)

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

extern const SectionInfo section_table[];
extern const KeyInfo key_table[];
extern const ValueInfo value_table[];
extern const int n_sections, n_keys, n_values;

/* vocabulary.c */
const KeyInfo *key_find(const char *section, const char *key);
bool section_known(const char *section);
const ValueInfo *value_find(const KeyInfo *k, const char *name);
/* Is the name a word of the key, whatever else has it? */
bool value_known(const KeyInfo *k, const char *name);
/* The group whose calls the key takes; GROUP_COUNT: none. */
CallGroup key_group(const KeyInfo *k);
const CallInfo *key_call(const KeyInfo *k, const char *name); /* NULL: none */
/* Names for did-you-mean, in the arena of the caller: fills names, returns how many. */
size_t section_names(const char **names, size_t max);
size_t key_names(const char *section, const char **names, size_t max);
/* Words and calls of this version that the key takes. */
size_t value_names(const KeyInfo *k, const char **names, size_t max);
/* The key of the section that takes a call with an argument of this name, and that call: the key's
 * default, if that is one. NULL: none does. */
const KeyInfo *argument_key(const char *section, const char *name, const CallInfo **call);

#endif
