/* Remedies for common mistakes (hints.def). Private to the frontend. */
#ifndef FSDPC_HINTS_H
#define FSDPC_HINTS_H

#include "util.h"

/* Where the parser met a token that does not fit. */
typedef struct SyntaxPlace {
    const char *token;  /* "`,`", "name", "string" */
    const char *text;   /* of a name or number */
    bool name, word;    /* a name, number or string; a word of the language */
    const char *wanted; /* what could stand there, as hints.def writes it */
    const char *line;   /* n_before bytes of it stand before the token */
    size_t n_before;
} SyntaxPlace;

/* hints.c. NULL where there is nothing to say. */
const char *syntax_hint(const SyntaxPlace *at);
const char *name_hint(const char *name);  /* of an unknown name or function */
const char *field_hint(const char *name); /* of a tensor or parameter */

#endif
