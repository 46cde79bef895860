/* Nodes of the syntax tree: making them, walking over them, and printing an expression as canonical
 * source text, `4*D`, which messages quote.
 */
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

static void write_list(Buf *out, const Node *e, uint32_t from);

static void write_expression(Buf *out, const Node *e) {
    switch (e->kind) {
    case NODE_NUMBER:
    case NODE_REF: buf_printf(out, "%s", e->text); break;
    case NODE_STRING: buf_printf(out, "\"%s\"", e->text); break;
    case NODE_TRUE: buf_printf(out, "true"); break;
    case NODE_FALSE: buf_printf(out, "false"); break;
    case NODE_NONE: buf_printf(out, "none"); break;
    case NODE_NAMED:
        buf_printf(out, "%s = ", e->text);
        write_expression(out, e->kids[0]);
        break;
    case NODE_ARGS:
    case NODE_TUPLE:
        buf_printf(out, "(");
        write_list(out, e, 0);
        buf_printf(out, ")");
        break;
    case NODE_SHAPE:
    case NODE_LIST:
        buf_printf(out, "[");
        write_list(out, e, 0);
        buf_printf(out, "]");
        break;
    case NODE_CALL:
    case NODE_INDEX:
        write_expression(out, e->kids[0]);
        write_expression(out, e->kids[1]);
        break;
    case NODE_RANGE:
        if (e->kids[0]) write_expression(out, e->kids[0]);
        buf_printf(out, ":");
        if (e->kids[1]) write_expression(out, e->kids[1]);
        if (e->n > 2) buf_printf(out, ":");
        if (e->n > 2) write_expression(out, e->kids[2]);
        break;
    case NODE_MEMBER:
        write_expression(out, e->kids[0]);
        buf_printf(out, ".%s", e->text);
        break;
    case NODE_AS:
        write_expression(out, e->kids[0]);
        buf_printf(out, " as ");
        write_expression(out, e->kids[1]);
        break;
    case NODE_NEGATE:
    case NODE_NOT:
        buf_printf(out, e->kind == NODE_NOT ? "not " : "-");
        write_expression(out, e->kids[0]);
        break;
    case NODE_BINARY:
        write_expression(out, e->kids[0]);
        buf_printf(out, " %s ", e->text);
        write_expression(out, e->kids[1]);
        break;
    default: buf_printf(out, "..."); break;
    }
}

static void write_list(Buf *out, const Node *e, uint32_t from) {
    for (uint32_t i = from; i < e->n; i++) {
        if (i > from) buf_printf(out, ", ");
        write_expression(out, e->kids[i]);
    }
}

const char *node_text(Arena *a, const Node *e) {
    Buf out = {0};
    write_expression(&out, e);
    return buf_text(a, &out);
}

void node_walk(const Node *e, void (*visit)(void *context, const Node *e), void *context) {
    if (!e) return;
    visit(context, e);
    for (uint32_t i = 0; i < e->n; i++) node_walk(e->kids[i], visit, context);
    node_walk(e->shape, visit, context);
    node_walk(e->value, visit, context);
}
