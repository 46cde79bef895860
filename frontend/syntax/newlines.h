/* Line ends and brackets: the layer between lexer and parser. Private to the room. */
#ifndef FSDPC_NEWLINES_H
#define FSDPC_NEWLINES_H

#include "fsd.tab.h"
#include "parser.h"
#include "vocabulary.h"

/* newlines.c */
int next_token(FSD_STYPE *value, Span *at, void *scanner);
/* Reports a syntax error and starts skipping to the end of the statement that it is in. Fills in
 * the line of place. */
void report_syntax_error(Parser *p, Span at, const char *message, SyntaxPlace *place);
/* Reports that brackets or operators are nested too deeply, and gives up the parse. */
void report_too_deep(Parser *p, Span at);
/* The source text of a token on one line. */
const char *token_text(Parser *p, Span at);

#endif
