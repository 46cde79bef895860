/* From the text of a model file to its syntax tree.
 *
 * In: the bytes of a file, or of one expression. Out: a tree of Nodes, or NULL after syntax errors,
 * which the diagnostics set has then. Also here: the prelude, modules in the language itself that
 * every model has.
 *
 * The tree has one node type for everything: a kind, an optional text (a name, a string, the digits
 * of a number, an operator), children in source order and the span of the whole construct. It lives
 * in the arena of the diagnostics set and is never changed after parsing.
 *
 * depth is the height of the subtree. The parser refuses trees higher than AST_MAX_DEPTH, so every
 * walk over a tree may recurse.
 */
#ifndef FSDPC_SYNTAX_H
#define FSDPC_SYNTAX_H

#include "diag.h"

enum { AST_MAX_DEPTH = 400 };

typedef enum NodeKind {
    NODE_FILE,    /* kids: items */
    NODE_USE,     /* text: file name */
    NODE_CONFIG,  /* kids: NODE_SET, NODE_REQUIRE */
    NODE_PRESET,  /* text: name; kids: NODE_SET */
    NODE_MODULE,  /* text: name; kids: NODE_PARAMS, NODE_MEMBERS */
    NODE_MODEL,   /* kids: expression */
    NODE_SECTION, /* text: name; label: text or NULL; kids: NODE_SET, NODE_SET_PATH, NODE_SECTION */
    NODE_SET,     /* text: key; kids: value, of config hf also that of `else`; label: doc */
    NODE_SET_PATH,   /* text: glob; kids: value; label: doc */
    NODE_REQUIRE,    /* kids: condition; label: message */
    NODE_PARAMS,     /* kids: NODE_PARAM */
    NODE_PARAM,      /* text: name; shape and value below */
    NODE_SHAPE,      /* kids: expressions */
    NODE_MEMBERS,    /* kids: members */
    NODE_FIELD,      /* kids: NODE_NAMES, NODE_TYPE, initial value or NULL, NODE_ATTRIBUTES */
    NODE_TIE,        /* kids: alias, owner */
    NODE_MEMBER_IF,  /* kids: condition, NODE_MEMBERS, those of else */
    NODE_METHOD,     /* text: name; kids: NODE_PARAMS, body (NODE_BLOCK or NODE_RETURN) */
    NODE_NAMES,      /* kids: NODE_NAME */
    NODE_NAME,       /* text: name */
    NODE_TYPE,       /* text: class; kids: NODE_ARGS or NULL, NODE_SHAPE or NULL */
    NODE_ATTRIBUTES, /* kids: NODE_ATTRIBUTE */
    NODE_ATTRIBUTE,  /* text: name; kids: NODE_ARGS or NULL */
    NODE_BLOCK,      /* kids: statements */
    NODE_LET,        /* kids: NODE_NAMES, expression */
    NODE_ADD_TO,     /* text: name; kids: expression */
    NODE_RETURN,     /* kids: expression */
    NODE_FOR,        /* text: variable; kids: expression, block */
    NODE_IF,         /* kids: condition, block, block or NULL */
    NODE_DO,         /* kids: NODE_CALL */
    NODE_ARGS,       /* kids: expressions and NODE_NAMED */
    NODE_NAMED,      /* text: keyword; kids: expression */
    NODE_NUMBER,     /* text: as written */
    NODE_STRING,     /* text: without quotes */
    NODE_TRUE,
    NODE_FALSE,
    NODE_NONE,
    NODE_REF,    /* text: name */
    NODE_TUPLE,  /* kids: expressions and NODE_NAMED; a single unnamed one is just parentheses */
    NODE_LIST,   /* kids: expressions */
    NODE_CALL,   /* kids: callee, NODE_ARGS */
    NODE_INDEX,  /* kids: what, NODE_LIST of indices */
    NODE_RANGE,  /* of an index: kids: first or NULL, end or NULL, and a step where it has one */
    NODE_MEMBER, /* text: name; kids: what */
    NODE_AS,     /* kids: what, NODE_SHAPE */
    NODE_NEGATE, /* kids: operand */
    NODE_NOT,    /* kids: operand */
    NODE_BINARY  /* text: operator; kids: left, right */
} NodeKind;

typedef struct Node Node;
struct Node {
    NodeKind kind;
    uint32_t depth;
    Span span;
    Span text_span; /* of the name or key alone, where there is one */
    const char *text;
    const char *label; /* doc string, message or section label */
    Node **kids;
    uint32_t n, capacity;
    Node *shape; /* NODE_PARAM: its pattern, or NULL */
    Node *value; /* NODE_PARAM: its default, or NULL */
};

/* What a parse may start with: a whole file, or one expression (the value of `-s`). */
typedef enum ParseStart { PARSE_FILE, PARSE_EXPRESSION } ParseStart;

/* ast.c */
Node *node_new(Arena *a, NodeKind kind, Span span, const char *text);
Node *node_add(Arena *a, Node *parent, Node *kid); /* kid may be NULL: an absent optional part */
Span span_join(Span first, Span last);
/* Canonical source text of an expression, `4*D`; used in messages. */
const char *node_text(Arena *a, const Node *e);
/* The first of its kids with that text; NULL: there is none. */
const Node *node_named(const Node *list, const char *text);
/* Whether a reference to that name, NULL: to any, is in the tree; in no tree there is none. */
bool node_names(const Node *e, const char *name);

/* parse.c */
/* Parses the text of file (an index into ds->files) from a byte offset on its first line.
 * NULL when there were errors. */
Node *parse_source(DiagSet *ds, uint32_t file, ParseStart start, size_t offset);
/* The same for a text that need not be in the file table; file 0 stands for no place. */
Node *parse_text(DiagSet *ds, uint32_t file, const char *text, size_t size, ParseStart start,
                 size_t offset);
/* Parses any bytes, for tests; true when they are a model file without syntax errors. */
bool parse_bytes(DiagSet *ds, const char *name, const void *bytes, size_t n);

/* syntax.c */
/* The i-th keyword of the language; NULL after the last. */
const char *parse_keyword(size_t i);

/* parse.c */
extern const char prelude_text[]; /* models/std.fsd, NUL-terminated */
extern const size_t prelude_size;

#endif
