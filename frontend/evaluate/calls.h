/* Calls of methods, functions and arrays of experts: what the files of room evaluate share,
 * which call one another. Private to the room. */
#ifndef FSDPC_CALLS_H
#define FSDPC_CALLS_H

#include "evaluate.h"
#include "tensors.h"

/* What arguments are bound to: a module or a method. */
typedef struct Binding {
    const char *what; /* "module Linear" */
    Span declared;
    const Node *params;
    Span at; /* the call */
} Binding;

/* method.c: binds arguments by position and name to params; defaults are evaluated in `inner`.
 * false after reported errors. */
bool bind_parameters(Scope *outer, Scope *inner, const Binding *b, const Arguments *args,
                     Local **out, uint32_t *n_out);
ExprValue call_method(Scope *s, Instance *m, const Node *method, const Arguments *args, Span at);
/* Runs a block; true when it returned a value. */
bool run_block(Scope *s, const Node *block, ExprValue *result);

/* evaluate.c */
/* callee: its arguments can be words that it knows; or NULL. */
Arguments evaluate_arguments(Scope *s, const Node *args, const CallInfo *callee);
/* The first name of a.b.c, if nothing has that name and it is not a word of the section; or NULL.
 * Then a.b.c is reported when it is evaluated. */
const Node *unknown_owner(const Scope *s, const Node *e);

/* call.c */
ExprValue evaluate_call(Scope *s, const Node *e);
/* For a module that is called by the name of its class. */
void suggest_field(Diag *d, const char *module);

/* index.c: x[...]. */
ExprValue tensor_index(Scope *s, const Node *e, ExprValue x);

#endif
