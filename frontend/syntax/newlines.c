/* Line ends and brackets, between the lexer and the parser.
 *
 * In: raw tokens, with every line end, in any order of brackets. Out: tokens whose brackets balance
 * and where NL appears only at the end of a statement: after a token that can end one, outside
 * ( ) and [ ], and always before `}` and the end of the file.
 *
 * A bracket that was probably not meant to stay open is closed here, with an error that points at
 * it: an open `(` before a brace, `;` or a keyword that starts a statement; an open `{` before
 * `module` or a similar keyword in the first column, or at the end of the file. The parser then
 * sees balanced input and goes on, so one missing bracket is one error.
 *
 * After a syntax error the parser drops tokens up to the next NL. Blocks that open meanwhile are
 * skipped here with everything in them, so that NL is the end of the statement in error and not of
 * some line inside its block.
 */
#include "lexer.h"

#include <string.h>

static OpenBracket *innermost_bracket(Parser *p) {
    return p->open.n ? &p->open.at[p->open.n - 1] : NULL;
}

static bool in_parentheses(Parser *p) { return p->open.n && innermost_bracket(p)->kind != '{'; }

static uint32_t open_braces(const Parser *p) {
    return p->open.n ? p->open.at[p->open.n - 1].braces : 0;
}

/* Each bracket keeps what is asked about all open ones, so that no token has to look at all of
 * them. */
static void open_bracket(Parser *p, char kind, Span at) {
    OpenBracket b = {.kind = kind, .span = at, .braces = open_braces(p) + (kind == '{')};
    if (in_parentheses(p)) {
        b.round = innermost_bracket(p)->round;
        b.square = innermost_bracket(p)->square;
    }
    if (kind == '(') b.round = p->open.n + 1;
    if (kind == '[') b.square = p->open.n + 1;
    vec_push(p->arena, &p->open, b);
}

static char closing_bracket(char open) { return open == '(' ? ')' : open == '[' ? ']' : '}'; }

/* Queues tokens so that the first of them comes out first. */
static void queue_tokens(Parser *p, const int *tokens, uint32_t n) {
    for (uint32_t i = n; i > 0; i--) vec_push(p->arena, &p->pending, tokens[i - 1]);
}

/* Is it in the list, which 0 ends? */
static bool is_among(int token, const int *list) {
    while (*list && *list != token) list++;
    return *list;
}

static bool starts_statement(int token) {
    static const int starts[] = {MODULE, CONFIG, PRESET, USE, TIE, REQUIRE, FOR,
                                 RETURN, IF,     ELSE,   '{', '}', ';',     0};
    return is_among(token, starts);
}

static bool starts_item(int token) {
    return is_among(token, (const int[]){MODULE, CONFIG, PRESET, USE, MODEL, 0});
}

static const char *token_name(int token) {
    switch (token) {
    case MODULE: return "`module`";
    case CONFIG: return "`config`";
    case PRESET: return "`preset`";
    case USE: return "`use`";
    case MODEL: return "`model`";
    case '{': return "this `{`";
    case '}': return "this `}`";
    case ';': return "this `;`";
    case 0: return "the end of the file";
    default: return "the statement that starts here";
    }
}

/* Silent while recovering: the statement has its error already. */
static void report_unclosed(Parser *p, const OpenBracket *b, Span before, int token) {
    bool comprehension = token == FOR && before.line == b->span.line; /* [f(x) for x in h] */
    if (comprehension) p->bad_line = before.line;
    if (p->recovering) return;
    Diag d = parser_error(p, E_brackets, b->span, "`%c` is not closed", b->kind);
    diag_note(&d, before, "`%c` is missing before %s", closing_bracket(b->kind), token_name(token));
    if (comprehension)
        diag_help(&d, "write out the elements of a list; a loop is a statement: for layer in h { x "
                      "= layer(x) }");
    parser_emit(p, &d);
}

/* Closes brackets that must not stay open before `token`: the closing brackets are queued, and the
 * token is processed again after them. Returns false if nothing had to be closed. */
static bool close_unclosed(Parser *p, int token, Span at) {
    VEC(int) closers = {0};
    bool ends_brackets = starts_statement(token) || token == 0;
    bool ends_blocks = token == 0 || (starts_item(token) && at.col == 1);
    if (!(ends_brackets && in_parentheses(p)) && !(ends_blocks && p->open.n)) return false;
    while (ends_brackets && in_parentheses(p)) {
        report_unclosed(p, innermost_bracket(p), at, token);
        vec_push(p->arena, &closers, closing_bracket(innermost_bracket(p)->kind));
        p->open.n--;
    }
    if (token != '{') vec_push(p->arena, &closers, NL);
    if (ends_blocks && p->open.n) {
        report_unclosed(p, innermost_bracket(p), at, token);
        while (p->open.n) {
            if (!p->recovering || open_braces(p) <= p->recover_depth) {
                vec_push(p->arena, &closers, closing_bracket(innermost_bracket(p)->kind));
                vec_push(p->arena, &closers, NL);
            }
            p->open.n--;
        }
        p->recover_depth = 0;
    }
    p->again = token;
    queue_tokens(p, closers.at, closers.n);
    return true;
}

/* `)` or `]`: also closes the inner brackets that were forgotten. False if nothing is open that
 * it could close; then it is reported and dropped. */
static bool close_parenthesis(Parser *p, int token, Span at) {
    const OpenBracket *inner = innermost_bracket(p);
    uint32_t i = !inner ? 0 : token == ')' ? inner->round : inner->square;
    if (i == 0) {
        if (p->recovering || p->bad_line == at.line) return false;
        return parser_report(p, E_brackets, at, NULL, "unmatched `%c`", token);
    }
    VEC(int) closers = {0};
    for (uint32_t k = p->open.n; k > i; k--) {
        vec_push(p->arena, &closers, closing_bracket(p->open.at[k - 1].kind));
        if (p->recovering) continue;
        Diag d = parser_error(p, E_brackets, at, "`%c` is expected before this `%c`",
                              closing_bracket(p->open.at[k - 1].kind), token);
        diag_note(&d, p->open.at[k - 1].span, "`%c` opened here is not closed",
                  p->open.at[k - 1].kind);
        parser_emit(p, &d);
    }
    p->open.n = i - 1;
    vec_push(p->arena, &closers, token);
    queue_tokens(p, closers.at, closers.n);
    return true;
}

/* Remembers the token that the parser gets, which decides about the next line end. */
static int note_delivered(Parser *p, int token) {
    static const int ends[] = {ID, NUM, STR, TRUE, FALSE, NONE, MODEL, ')', ']', '}', 0};
    p->can_end = is_among(token, ends);
    p->fresh = token == NL || token == '{' || token == START_FILE || token == START_EXPRESSION;
    return token;
}

/* While recovering, whether this token belongs to a block of the statement in error. */
static bool is_skipped(Parser *p, int token) {
    if (!p->recovering) return false;
    uint32_t depth = open_braces(p);
    if (token == NL && depth <= p->recover_depth) p->recovering = false;
    return depth > p->recover_depth;
}

/* `}` becomes NL and `}`; one that ends a skipped block becomes nothing, but the line end after
 * it will count. */
static int close_block(Parser *p, Span at) {
    if (!p->open.n) {
        parser_report(p, E_brackets, at, NULL, "unmatched `}`");
        return -1;
    }
    p->open.n--;
    if (p->recovering && open_braces(p) >= p->recover_depth) {
        p->can_end = true;
        p->fresh = false;
        return -1;
    }
    p->recovering = false;
    if (p->fresh) return '}';
    queue_tokens(p, (int[]){NL, '}'}, 2);
    return -1;
}

/* The next raw token after repairs: 0 at the end, -1 if the caller must ask again. */
static int arrange_token(Parser *p, int token, Span at) {
    if (token == NL && in_parentheses(p)) return -1;
    if (close_unclosed(p, token, at)) return -1;
    switch (token) {
    case NL:
    case ';': return p->can_end || (token == ';' && !p->fresh) ? NL : -1;
    case '(':
    case '[':
    case '{': open_bracket(p, (char)token, at); return token;
    case ')':
    case ']': close_parenthesis(p, token, at); return -1;
    case '}': return close_block(p, at);
    case 0:
        if (p->fresh) return 0;
        queue_tokens(p, (int[]){NL, 0}, 2);
        return -1;
    default: return token;
    }
}

static int read_token(Parser *p, FSD_STYPE *value, void *scanner) {
    Span at = {0};
    int token = lexer_raw(value, &at, scanner);
    p->pending_span = token ? at : p->last_span;
    p->last_token = lexer_text(scanner);
    return token;
}

/* Does `=` follow on the same line? */
static bool is_given(Parser *p, Span at) {
    size_t before;
    const char *end = line_before(p->ds, at, &before) + before;
    size_t left = at.end_line == at.line ? at.end_col - at.col : 0;
    while (*end && *end != '\n' && (left || *end == ' ' || *end == '\t')) {
        end++;
        left -= left > 0;
    }
    return *end == '=';
}

/* Takes a misspelt keyword at the start of a block, such as `Module`, for the keyword, after an
 * error, so that the block is still read correctly. */
static int keyword_meant(Parser *p, int token, Span at) {
    enum { BLOCKS = 5 }; /* keywords that begin one */
    const char *names[32] = {"names"};
    size_t n = 1;
    if (token != ID || !p->is_file || !p->fresh || p->open.n || p->recovering) return token;
    const char *text = token_text(p, at);
    if (section_known(text) || !strcmp(text, "names")) return token;
    for (size_t i = 0; i < BLOCKS; i++) names[n++] = parse_keyword(i);
    n += section_names(names + n, ARRAY_LEN(names) - n);
    const char *near = nearest_name(text, names, n);
    if (near && (!strcmp(near, "module") || !strcmp(near, "model")))
        near = is_given(p, at) ? "model" : "module";
    int meant = near ? word_token(near) : ID;
    if (meant != ID)
        parser_report(p, E_unknown_section, at, arena_printf(p->arena, "did you mean `%s`?", near),
                      "there is no section `%s`", text);
    return meant;
}

int next_token(FSD_STYPE *value, Span *at, void *scanner) {
    Parser *p = lexer_parser(scanner);
    if (p->start_token) {
        int token = p->start_token;
        p->start_token = 0;
        at->file = p->file;
        return note_delivered(p, token);
    }
    for (;;) {
        int token;
        if (p->pending.n) {
            token = p->pending.at[--p->pending.n];
            *at = p->pending_span;
        } else {
            token = p->again;
            p->again = -1;
            if (token < 0) token = read_token(p, value, scanner);
            *at = p->pending_span;
            token = arrange_token(p, token, *at);
            if (token < 0) continue;
        }
        if (is_skipped(p, token)) continue;
        token = keyword_meant(p, token, *at);
        if (token == NL || token == 0) {
            /* Point after the last token, on the line that it ends. */
            Span end = p->last_span;
            *at = (Span){end.file, end.end_line, end.end_col, end.end_line, end.end_col + 1};
        } else {
            p->last_span = *at;
        }
        return note_delivered(p, token);
    }
}

void report_syntax_error(Parser *p, Span at, const char *message, SyntaxPlace *place) {
    bool at_line_end = !strcmp(place->token, "end of line");
    OpenBracket *b = innermost_bracket(p);
    /* Errors after an invalid character on its line are consequences. */
    if (p->bad_line != at.line) {
        Diag d = parser_error(p, E_unexpected_token, at, "%s", message);
        place->line = line_before(p->ds, at, &place->n_before);
        const char *hint = syntax_hint(place);
        if (b && b->kind != '{')
            diag_note(&d, b->span, "`%c` opened here is not closed yet", b->kind);
        if (hint) diag_help(&d, "%s", hint);
        parser_emit(p, &d);
    }
    if (at_line_end) return;
    p->recovering = true;
    p->recover_depth = open_braces(p) - !strcmp(place->token, "`{`");
}

void report_too_deep(Parser *p, Span at) {
    parser_report(
        p, E_nesting, at,
        arena_printf(p->arena,
                     "at most %d brackets, blocks or operators can be nested in one another",
                     AST_MAX_DEPTH),
        "this is nested too deeply");
    p->abandoned = true;
}

const char *token_text(Parser *p, Span at) {
    return arena_strndup(p->arena, p->last_token, at.end_col - at.col);
}
