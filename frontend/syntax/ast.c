/* Nodes of the syntax tree: making them, walking over them, and printing an expression as canonical
 * source text, `4*D`, which messages quote.
 */
#include <string.h>

#include "syntax.h"

Node *node_new(Arena *a, NodeKind kind, Span span, const char *text) {
    Node *e = arena_new_of(a, Node);
    e->kind = kind;
    e->span = span;
    e->text_span = span;
    e->text = text;
    e->depth = 1;
    return e;
}

Node *node_add(Arena *a, Node *parent, Node *kid) {
    if (parent->n == parent->capacity)
        parent->kids = vec_grow(a, parent->kids, parent->n, &parent->capacity, sizeof(Node *));
    parent->kids[parent->n++] = kid;
    if (kid) {
        parent->depth = MAX(parent->depth, kid->depth + 1);
        if (kid->shape) parent->depth = MAX(parent->depth, kid->shape->depth + 2);
        if (kid->value) parent->depth = MAX(parent->depth, kid->value->depth + 2);
    }
    return parent;
}

Span span_join(Span first, Span last) {
    return (Span){first.file, first.line, first.col, last.end_line, last.end_col};
}

/* How nodes are written: %t is their text, %0 to %2 are kids, if they are there, %* all kids. */
static const char *const forms[] = {
    [NODE_NUMBER] = "%t",       [NODE_REF] = "%t",      [NODE_STRING] = "\"%t\"",
    [NODE_TRUE] = "true",       [NODE_FALSE] = "false", [NODE_NONE] = "none",
    [NODE_NAMED] = "%t = %0",   [NODE_ARGS] = "(%*)",   [NODE_TUPLE] = "(%*)",
    [NODE_SHAPE] = "[%*]",      [NODE_LIST] = "[%*]",   [NODE_CALL] = "%0%1",
    [NODE_INDEX] = "%0%1",      [NODE_RANGE] = "%0:%1", [NODE_MEMBER] = "%0.%t",
    [NODE_AS] = "%0 as %1",     [NODE_NEGATE] = "-%0",  [NODE_NOT] = "not %0",
    [NODE_BINARY] = "%0 %t %1",
};

static void write_expression(Buf *out, const Node *e) {
    const char *form = e->kind < ARRAY_LEN(forms) && forms[e->kind] ? forms[e->kind] : "...";
    if (e->kind == NODE_RANGE && e->n > 2) form = "%0:%1:%2";
    for (const char *c = form; *c; c++) {
        if (*c != '%') {
            buf_printf(out, "%c", *c);
            continue;
        }
        if (*++c == 't') buf_printf(out, "%s", e->text);
        if (*c >= '0' && *c <= '2' && e->kids[*c - '0']) write_expression(out, e->kids[*c - '0']);
        for (uint32_t i = 0; *c == '*' && i < e->n; i++) {
            if (i) buf_printf(out, ", ");
            write_expression(out, e->kids[i]);
        }
    }
}

const char *node_text(Arena *a, const Node *e) {
    Buf out = {0};
    write_expression(&out, e);
    return buf_text(a, &out);
}

const Node *node_named(const Node *list, const char *text) {
    for (uint32_t i = 0; i < list->n; i++)
        if (!strcmp(list->kids[i]->text, text)) return list->kids[i];
    return NULL;
}

bool node_names(const Node *e, const char *name) {
    if (!e) return false;
    if (e->kind == NODE_REF && (!name || !strcmp(e->text, name))) return true;
    for (uint32_t i = 0; i < e->n; i++)
        if (node_names(e->kids[i], name)) return true;
    return node_names(e->shape, name) || node_names(e->value, name);
}
