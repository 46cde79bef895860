/* What of forward runs again: the classes, paths and ops of the policy, looked up in the model.
 *
 * Below a module of a named class or path every op is chosen whose kind is not kept. Elsewhere the
 * ops of the chosen kinds are; these belong together within one element of an array of modules (a
 * block of a transformer), so that a chain of them does not lead through the whole model. A view
 * costs nothing and is always chosen.
 *
 * An op that stands for others (column STANDS_FOR) is chosen as the first of them is.
 */
#include "recompute.h"

static bool *kinds_of(const Graph *g, const StringList *names) {
    bool *is = arena_array(g->scratch, bool, OP_COUNT);
    for (uint32_t i = 0; i < names->at.n; i++) {
        int op = op_by_name(names->at.at[i]);
        if (op < OP_COUNT) is[op] = true;
    }
    return is;
}

bool choice_read(const Graph *g, RecomputeChoice *c) {
    const RecomputePolicy *p = &g->policy.recompute;
    bool failed = false;
    *c = (RecomputeChoice){.g = g,
                           .paths = module_paths(g),
                           .region = arena_array(g->scratch, int32_t, g->modules.n),
                           .element = arena_array(g->scratch, int32_t, g->modules.n),
                           .op = kinds_of(g, &p->ops),
                           .keep = kinds_of(g, &p->keep),
                           .any_op = p->ops.at.n > 0};
    const bool *class = modules_of_classes(g, "recompute", p->span, &p->classes, &failed);
    const int32_t *path = directives_by_path(g, PATH_RECOMPUTE, &failed);
    for (uint32_t i = 0; i < g->modules.n; i++) {
        int32_t parent = g->modules.at[i].parent;
        bool is_element = parent != NO_INDEX && !g->modules.at[parent].class_name[0];
        c->region[i] = parent == NO_INDEX ? NO_INDEX : c->region[parent];
        c->element[i] = parent == NO_INDEX ? NO_INDEX : c->element[parent];
        if (c->region[i] == NO_INDEX && (class[i] || path[i] != NO_INDEX))
            c->region[i] = (int32_t)i;
        if (c->element[i] == NO_INDEX && is_element) c->element[i] = (int32_t)i;
        c->any_region |= c->region[i] != NO_INDEX;
    }
    return !failed;
}

int32_t choice_region(RecomputeChoice *c, const Op *op, bool *whole) {
    int32_t module = module_of_path(&c->paths, op->path);
    *whole = module != NO_INDEX && c->region[module] != NO_INDEX;
    if (*whole) return c->region[module];
    if (module == NO_INDEX || !c->any_op) return NO_INDEX;
    return c->element[module] == NO_INDEX ? 0 : c->element[module];
}

bool choice_has(RecomputeChoice *c, const Op *op) {
    bool whole;
    if (choice_region(c, op, &whole) == NO_INDEX) return false;
    int kind = op_stands_for(op->kind, 0);
    return op_info[op->kind].alias == ALIAS_VIEW || (whole ? !c->keep[kind] : c->op[kind]);
}
