/* Remedies for common mistakes (hints.def). Private to the frontend. */
#ifndef FSDPC_HINTS_H
#define FSDPC_HINTS_H

#include "diag.h"

/* Where the parser met a token that does not fit. */
typedef struct SyntaxPlace {
    const char *token;  /* "`,`", "name", "string" */
    const char *text;   /* of a name or number */
    bool name, word;    /* a name, number or string; a word of the language */
    const char *wanted; /* what could stand there, as hints.def writes it */
    const char *line;   /* n_before bytes of it stand before the token */
    size_t n_before;
} SyntaxPlace;

/* The line on which `at` is: n bytes of it stand before. A file may hold any bytes. */
const char *line_before(const DiagSet *ds, Span at, size_t *n);

/* hints.c. NULL where there is nothing to say. */
const char *syntax_hint(const SyntaxPlace *at);
const char *name_hint(const char *name);  /* of an unknown name or function */
const char *field_hint(const char *name); /* of a tensor or parameter */
/* Of an unknown name by what stands before it. */
const char *name_hint_after(const DiagSet *ds, Span at, const char *name);
/* Of an argument that the function does not have; name NULL: one too many without a name. */
const char *argument_hint(const char *callee, const char *name);

#endif
