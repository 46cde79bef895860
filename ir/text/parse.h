/* What the files of the text's parser share: parse.c has the records, parse_field.c the fields. For
 * ir/ only. */
#ifndef FSDPC_PARSE_H
#define FSDPC_PARSE_H

#include "text.h"

enum { MOST_ERRORS = 20, NAME_SIZE = 64 };

/* An operand or edge by its number in the text. */
typedef struct Reference {
    uint32_t *slot, number;
    uint32_t line, col;
    bool is_op;
} Reference;

/* Maps numbers in the text to indices of the graph; NO_VALUE if there is none. */
typedef struct TextNumbers {
    VEC(uint32_t) at;
} TextNumbers;

typedef struct GraphParser {
    Graph *g;
    Arena *scratch;
    uint32_t file;
    const char *at, *end, *line_start;
    const char *token; /* where the last word, number or type began */
    uint32_t line;
    bool failed; /* the rest of this line is skipped */
    int errors;
    size_t size;
    Program *program; /* the open one */
    TextNumbers values, ops;
    VEC(uint32_t) files; /* numbers in spans to the set's files */
    VEC(Reference) references;
} GraphParser;

/* ---- parse_field.c ---- */

/* Each says what is wrong, the first time in a line, and returns false: where the cursor is, at the
 * word, number or type that was just read, or there. */
bool parse_fail(GraphParser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool parse_fail_token(GraphParser *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool parse_fail_there(GraphParser *p, uint32_t line, uint32_t col, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The next byte of the line after blanks; '\n' at its end. */
char parse_peek(GraphParser *p);

/* Moves past the byte or the word where it is the next one; expect: else that is a mistake. */
bool parse_accept(GraphParser *p, char c);
bool parse_expect(GraphParser *p, char c);
bool parse_accept_word(GraphParser *p, const char *word);
bool parse_expect_word(GraphParser *p, const char *word);

/* what: with its article, for messages. */
bool parse_word(GraphParser *p, const char *what, char out[NAME_SIZE]);
bool parse_uint(GraphParser *p, uint64_t most, uint64_t *out);
bool parse_u32(GraphParser *p, uint32_t *out);
bool parse_int(GraphParser *p, int64_t *out);
bool parse_i32(GraphParser *p, int32_t *out);
bool parse_real(GraphParser *p, double *out);
bool parse_string(GraphParser *p, const char **out);

/* `-` (nothing), a bare word or a text in quotes. */
bool parse_name(GraphParser *p, const char **out);

/* The word of an enum. */
bool parse_enum(GraphParser *p, const char *what, const Words *words, int *out);
bool parse_dtype(GraphParser *p, int *out);
bool parse_type(GraphParser *p, Type *t);

/* A span if there is one: file:line:col-line:col. */
bool parse_span(GraphParser *p, Span *at);
bool parse_address(GraphParser *p, uint64_t *address);

/* Of a value: with what placement_is_any says it has. */
bool parse_placed_type(GraphParser *p, Type *t, Placement *placement);
/* (rep, dp): axes of the graph's mesh. */
bool parse_axes(GraphParser *p, AxisSet *set);

/* Value of a field; open: a number may stand for a word (attributes, whose range the verifier
 * checks). */
bool parse_field(GraphParser *p, const TextField *f, void *record, bool open);

static inline bool parse_is_digit(char c) { return c >= '0' && c <= '9'; }

/* -1: no digit, as an upper-case letter. */
static inline int parse_hex_digit(char c) {
    if (parse_is_digit(c)) return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* parse_field.c: the number of a row, which must be this one. Rows of tables are numbered from 0.
 */
bool parse_row(GraphParser *p, uint32_t row);
/* parse_field.c: after `formula` its number, operands and steps. */
bool parse_formula(GraphParser *p);

#endif
