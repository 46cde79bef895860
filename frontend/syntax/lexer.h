/* The flex scanner as newlines.c and parse.c use it. Private to the room. */
#ifndef FSDPC_LEXER_H
#define FSDPC_LEXER_H

#include "fsd.tab.h"
#include "parser.h"

/* fsd.l */
void *lexer_open(Parser *p, const char *text, size_t size);
void lexer_close(void *scanner);
int lexer_raw(FSD_STYPE *value, Span *at, void *scanner); /* 0 at the end */
Parser *lexer_parser(void *scanner);
const char *lexer_text(void *scanner); /* bytes of the last raw token */

#endif
