/* Warnings about methods that compute values which nothing reads, or that hide a name. They depend
 * on the text only, whether the method is called or not. A name that starts with `_` is meant to be
 * unread.
 *
 * A name in an expression is a read; `x += y` is not a read of x. In a block a value is unread if
 * the name is assigned again before a statement reads it.
 */
#include <string.h>

#include "model.h"

/* add_to: `name += ..` is a read too. */
static bool reads_name(const Node *e, const char *name, bool add_to) {
    if (!e) return false;
    bool reads = e->kind == NODE_REF || (add_to && e->kind == NODE_ADD_TO);
    if (reads && !strcmp(e->text, name)) return true;
    for (uint32_t i = 0; i < e->n; i++)
        if (reads_name(e->kids[i], name, add_to)) return true;
    return reads_name(e->shape, name, add_to) || reads_name(e->value, name, add_to);
}

static bool assigns_name(const Node *statement, const char *name) {
    return statement->kind == NODE_LET && node_named(statement->kids[0], name);
}

static void warn_unread(Model *m, const Node *block, uint32_t i, const Node *name) {
    for (uint32_t k = i + 1; k < block->n; k++) {
        const Node *next = block->kids[k];
        if (reads_name(next, name->text, true)) return;
        if (!assigns_name(next, name->text)) continue;
        Diag d = diag_at(m->ds, W_unread_value, name->span, "nothing reads this value of `%s`",
                         name->text);
        diag_note(&d, next->span, "it is replaced here");
        diag_emit(&d);
        return;
    }
}

/* What a local of this name hides: a field or an argument of the module, or a config name. */
static const Node *hidden_member(const Node *members, const char *name) {
    for (uint32_t i = 0; i < members->n; i++) {
        const Node *member = members->kids[i];
        for (uint32_t k = 1; member->kind == NODE_MEMBER_IF && k < member->n; k++) {
            const Node *below = hidden_member(member->kids[k], name);
            if (below) return below;
        }
        const Node *field = member->kind == NODE_FIELD ? node_named(member->kids[0], name) : NULL;
        if (field) return field;
    }
    return NULL;
}

static void warn_shadowing(Model *m, const Node *module, const char *name, Span at) {
    const Node *field = hidden_member(module->kids[1], name);
    const Node *argument = node_named(module->kids[0], name);
    const ConfigEntry *c = model_config(m, name);
    if (!field && !argument && !c) return;
    Diag d = diag_at(m->ds, W_shadowing, at, "`%s` hides %s of the same name", name,
                     field      ? "a field"
                     : argument ? "an argument of the module"
                                : "a config value");
    diag_note(&d, field ? field->span : argument ? argument->span : c->span, "it is declared here");
    diag_emit(&d);
}

static void warn_local(Model *m, const Node *module, const Node *method, const char *name,
                       Span at) {
    if (name[0] == '_') return;
    warn_shadowing(m, module, name, at);
    if (reads_name(method->kids[1], name, false)) return;
    diag_report(m->ds, W_unused_local, at, "a name that starts with `_` is meant to be unread",
                "nothing reads `%s`", name);
}

static bool assigned_before(const Node *block, uint32_t i, const char *name) {
    while (i-- > 0)
        if (assigns_name(block->kids[i], name)) return true;
    return false;
}

/* A statement that calls a function does nothing, unless the function is aux. */
static void warn_statement(Model *m, const Node *module, const Node *call) {
    const Node *callee = call->kids[0];
    const CallInfo *f = callee->kind == NODE_REF ? call_find(GROUP_FUNCTION, callee->text) : NULL;
    bool own = !f || hidden_member(module->kids[1], callee->text);
    for (uint32_t i = 0; !own && i < module->kids[1]->n; i++) {
        const Node *member = module->kids[1]->kids[i];
        own = member->kind == NODE_METHOD && !strcmp(member->text, callee->text);
    }
    if (own || f == &call_table[CALL_FUNCTION_aux]) return;
    diag_report(m->ds, W_unread_value, call->span,
                arena_printf(m->arena, "a function does not change its arguments: write y = %s(..)",
                             f->name),
                "nothing reads the result of `%s`", f->name);
}

static void lint_block(Model *m, const Node *module, const Node *method, const Node *block) {
    for (uint32_t i = 0; block && i < block->n; i++) {
        const Node *s = block->kids[i];
        if (s->kind == NODE_IF) {
            lint_block(m, module, method, s->kids[1]);
            lint_block(m, module, method, s->kids[2]);
        } else if (s->kind == NODE_FOR) {
            warn_shadowing(m, module, s->text, s->text_span);
            lint_block(m, module, method, s->kids[1]);
        } else if (s->kind == NODE_DO) {
            warn_statement(m, module, s->kids[0]);
        }
        for (uint32_t k = 0; s->kind == NODE_LET && k < s->kids[0]->n; k++) {
            const Node *name = s->kids[0]->kids[k];
            if (reads_name(method->kids[1], name->text, false)) warn_unread(m, block, i, name);
            if (!assigned_before(block, i, name->text))
                warn_local(m, module, method, name->text, name->span);
        }
    }
}

/* An argument of the module that none of its members names. */
static void warn_arguments(Model *m, const Node *module) {
    for (uint32_t i = 0; i < module->kids[0]->n; i++) {
        const Node *argument = module->kids[0]->kids[i];
        if (argument->text[0] == '_' || reads_name(module->kids[1], argument->text, false))
            continue;
        diag_report(m->ds, W_unused_local, argument->span, NULL,
                    "nothing in module %s reads its argument `%s`", module->text, argument->text);
    }
}

static void lint_module(Model *m, const Node *module) {
    const Node *members = module->kids[1];
    warn_arguments(m, module);
    for (uint32_t i = 0; i < members->n; i++)
        if (members->kids[i]->kind == NODE_METHOD && members->kids[i]->kids[1]->kind == NODE_BLOCK)
            lint_block(m, module, members->kids[i], members->kids[i]->kids[1]);
}

void model_lint(Model *m) {
    for (uint32_t i = 0; i < m->modules.n; i++)
        if (!m->modules.at[i].prelude) lint_module(m, m->modules.at[i].node);
}
