/* The state of one parse, which lexer, newlines and parser share. Private to the room. */
#ifndef FSDPC_PARSER_H
#define FSDPC_PARSER_H

#include "syntax.h"

enum { MAX_SYNTAX_ERRORS = 20, MAX_SOURCE_BYTES = 64 << 20 };

typedef struct OpenBracket {
    char kind; /* '(', '[' or '{' */
    Span span;
    uint32_t braces; /* how many are open with it */
    uint32_t round,
        square; /* 1 + the place of the innermost one of the kind in its block; 0: none */
} OpenBracket;

typedef struct Parser {
    DiagSet *ds;
    Arena *arena;
    uint32_t file;
    uint32_t line, col;     /* of the next byte */
    Span last_span;         /* of the last token that was not a line end */
    const char *last_token; /* its bytes, while it is the lookahead */
    Span pending_span;      /* of the raw token that filled pending */
    VEC(OpenBracket) open;
    VEC(int) pending;       /* tokens to deliver before the next byte, last first */
    int again;              /* a raw token to process again, or -1 */
    int start_token;        /* delivered first, 0 once delivered */
    bool can_end;           /* the last token may end a statement */
    bool is_file;           /* not an expression */
    bool fresh;             /* the last token was a line end or `{`, or there was none */
    bool recovering;        /* skip nested blocks until the statement in error ends */
    uint32_t recover_depth; /* open braces when the error was found */
    uint32_t bad_line;      /* where the last invalid character or number stood, 0 = none */
    bool abandoned;
    int errors;
    Node *root;
} Parser;

/* syntax.c */
Diag parser_error(Parser *p, DiagCode code, Span at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void parser_emit(Parser *p, Diag *d);
/* Both, with help, which is not a format string (NULL: none); always false. */
bool parser_report(Parser *p, DiagCode code, Span at, const char *help, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
bool text_is_utf8(const char *s, size_t n);
/* "a no-break space (U+00A0)" for characters that do not show; else NULL. */
const char *character_name(const char *s, size_t n);

#endif
