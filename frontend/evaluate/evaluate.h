/* Evaluation: expressions to values, declarations of modules to instances, methods to ops.
 *
 * In: a Scope and an expression, or the root module's class. Out: an ExprValue; the tree of
 * instances; the rows of the graph for them. A method is run each time it is called, and what
 * tensors it computes room tensors emits as ops. Every error is reported where it is found; its
 * value is VALUE_ERROR from then on.
 */
#ifndef FSDPC_EVALUATE_H
#define FSDPC_EVALUATE_H

#include "model.h"

/* evaluate.c */
ExprValue config_value(Model *m, ConfigEntry *c);
ExprValue evaluate(Scope *s, const Node *e);
bool evaluate_truth(Scope *s, const Node *e, bool *out); /* false after an error */

/* instance.c: the tree of modules. NULL after reported errors. */
Instance *instance_tree(Elaboration *e, const Node *root_class);
/* Its rows of the graph, for modules and parameters. */
void register_tables(Elaboration *e);

#endif
