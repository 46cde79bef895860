/* What the files of the text's printer share: print.c has the order of a text, print_field.c the
 * fields. For ir/ only. */
#ifndef FSDPC_PRINT_H
#define FSDPC_PRINT_H

#include "text.h"

typedef struct GraphPrinter {
    const Graph *g;
    Buf *out;
    Arena *arena; /* for numbers */
    GraphNumbers numbers;
    uint32_t *file; /* number of each source file, 0 when no span names it */
} GraphPrinter;

/* ---- print_field.c: what is put has the text `lead` before it ---- */

void put_text(GraphPrinter *p, const char *text);
void put_words(GraphPrinter *p, const char *lead, const char *text);
void put_uint(GraphPrinter *p, const char *lead, uint64_t x);
void put_int(GraphPrinter *p, const char *lead, int64_t x);
void put_real(GraphPrinter *p, const char *lead, double x);
/* In quotes; control characters, quotes, backslashes and bytes of no UTF-8 as \xNN. */
void put_string(GraphPrinter *p, const char *lead, const char *s);
/* A name: bare where it can be, `-` when empty. */
void put_name(GraphPrinter *p, const char *lead, const char *s);
void put_type(GraphPrinter *p, const char *lead, const Type *t);
void put_axes(GraphPrinter *p, const char *lead, AxisSet axes);
/* ` 1:30:3-30:9`, or nothing. */
void put_span(GraphPrinter *p, Span at);
void put_address(GraphPrinter *p, uint64_t address);

#endif
