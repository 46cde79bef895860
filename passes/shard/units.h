/* Units over the tree of modules: which one encloses a module, which one owns a parameter. Shared
 * by the passes wrap, shard and comm.
 */
#ifndef FSDPC_UNITS_H
#define FSDPC_UNITS_H

#include "ir.h"

typedef struct UnitMap {
    int32_t *innermost; /* by module: the innermost unit whose modules enclose it, or NO_INDEX */
    int32_t *entrance;  /* by module: that unit's module above it (or itself), or NO_INDEX */
    int32_t *owner;     /* by parameter: the unit that owns it, or NO_INDEX */
} UnitMap;

/* wrap.c: fills g->units by policy, the root last. false after an error. */
bool find_units(Graph *g);
/* The stage's part of the unit, given the unit's first part; NO_INDEX: the stage has none. */
int32_t unit_at_stage(const Graph *g, int32_t unit, int32_t stage);
/* units.c. From g->units as it stands; n log n in modules and names. */
UnitMap unit_map(const Graph *g);
/* The same of units as they are before stages cut them. */
UnitMap unit_tree(const Graph *g);
/* The unit around the one that encloses module, or NO_INDEX. */
int32_t unit_around(const Graph *g, const UnitMap *m, int32_t module);
/* The ops that follow stand for the whole unit: they have the place of its first module; ops of the
 * update are of no unit. */
void builder_at_unit(Builder *b, int32_t unit, uint8_t phase);
/* Adds a state of the group, named by word and unit: "m.h.0", or "m" for the root unit. The names
 * of a unit's further groups end in ".1", ".2", .. */
int32_t group_add_state(Graph *g, StateRole role, const char *word, uint32_t group, Type t);
/* What a rank holds of the group in this role: a vector, in the role's dtype. */
Type group_state_type(const Graph *g, StateRole role, uint32_t group);
/* By module, whether its class is in the list of key `key`, which stands at `at`. A class that no
 * module has is reported and sets *failed. */
bool *modules_of_classes(const Graph *g, const char *key, Span at, const StringList *classes,
                         bool *failed);
/* By module: the first directive of kind `kind` that names it, a row of policy.by_path; NO_INDEX:
 * none. A path that names no module, or an array of modules, is reported and sets *failed. */
int32_t *directives_by_path(const Graph *g, PathPolicyKind kind, bool *failed);
/* The module's position in post-order, where a module follows its submodules. Modules are numbered
 * in pre-order, so before it come all lower numbers, except the modules around it, and all modules
 * inside it. */
int64_t post_order(const Graph *g, int32_t module);
/* An index of the modules by path. */
typedef struct ModulePaths {
    const Graph *g;
    int32_t *sorted;       /* the modules in the order of their paths */
    const char *last_path; /* what module_of_path was asked last: the pointer, not the text */
    int32_t last;          /* and its answer */
} ModulePaths;
ModulePaths index_module_paths(const Graph *g);
/* Visits each module that a path, which may contain stars, names. false: it names none, or only an
 * array of modules; this has been reported, with `what` the path is for and where it stands. */
bool visit_modules(const ModulePaths *m, const char *what, Span at, const char *path,
                   void (*visit)(void *user, int32_t module), void *user);
/* The module with that path; if there is none, the nearest module above it. */
int32_t module_of_path(ModulePaths *m, const char *path);
/* 1290 -> "1290", 124439808 -> "124M". */
const char *short_count(Arena *a, int64_t n);
const char *short_bytes(Arena *a, int64_t n);

#endif
