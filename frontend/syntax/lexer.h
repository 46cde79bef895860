/* The flex scanner, and the layer for line ends and brackets between it and the parser. Private to
 * the room. */
#ifndef FSDPC_LEXER_H
#define FSDPC_LEXER_H

#include "fsd.tab.h"
#include "parser.h"
#include "vocabulary.h"

/* fsd.l */
void *lexer_open(Parser *p, const char *text, size_t size);
void lexer_close(void *scanner);
int lexer_raw(FSD_STYPE *value, Span *at, void *scanner); /* 0 at the end */
Parser *lexer_parser(void *scanner);
const char *lexer_text(void *scanner); /* bytes of the last raw token */

/* syntax.c */
int word_token(const char *text); /* of a keyword; of other words ID */

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
