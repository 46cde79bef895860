/* Line ends and brackets: the layer between lexer and parser. Private to the frontend. */
#ifndef FSDPC_LAYOUT_H
#define FSDPC_LAYOUT_H

#include "fsd.tab.h"
#include "parser.h"
#include "vocabulary.h"

/* layout.c */
int layout_next(FSD_STYPE *value, Span *at, void *scanner);
/* Reports a syntax error and starts skipping to the end of the statement that it is in. Fills in
 * the line of place. */
void layout_syntax_error(Parser *p, Span at, const char *message, SyntaxPlace *place);
/* Reports that brackets or operators nest too deeply and gives the parse up. */
void layout_too_deep(Parser *p, Span at);
/* The source text of a token on one line. */
const char *layout_token_text(Parser *p, Span at);

#endif
