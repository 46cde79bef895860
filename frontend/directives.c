/* The directives of section train: `"path.glob" = frozen` and `"path.glob" = group(..)`.
 *
 * A parameter takes the first directive whose glob matches one of its paths. `frozen` is what the
 * attribute @frozen is; a group gives its parameters a learning rate and a weight decay of their
 * own, which the schedule scales like the optimizer's. @no_decay holds inside a group too.
 */
#include <string.h>

#include "elaborate.h"

/* As if it were a key, so that its value is evaluated and checked like one. */
static const KeyInfo directive_key = {
    .section = "train", .key = "\"path.glob\"", .kinds = K_WORD | K_CALL};

void directives_add(Model *m, const Node *e) {
    for (uint32_t i = 0; i < m->directives.n; i++)
        if (!strcmp(m->directives.at[i].glob, e->text)) {
            if (m->directives.at[i].span.file == e->span.file)
                model_duplicate(m, "path", e->text, e->text_span, m->directives.at[i].span);
            return;
        }
    Directive d = {.glob = e->text, .span = e->text_span, .expression = e->kids[0]};
    vec_push(m->arena, &m->directives, d);
}

static void wrong_value(Model *m, const ConstValue *v) {
    const char *names[8];
    size_t n = 0;
    call_names(GROUP_DIRECTIVE, names, &n, ARRAY_LEN(names));
    Diag d =
        diag_at(m->ds, E_value_word, v->span, "a path in section train is `frozen` or a group(..)");
    if (v->kind == VALUE_WORD || v->kind == VALUE_CALL) help_nearest(&d, v->text, names, n);
    diag_emit(&d);
}

static void resolve(Model *m, Directive *d, const Policy *p, double lr) {
    Scope scope = {.model = m, .key = &directive_key};
    ConstValue v = evaluate(&scope, d->expression);
    d->wrong = true;
    if (v.kind == VALUE_ERROR) return;
    bool named = v.kind == VALUE_WORD || v.kind == VALUE_CALL;
    const CallInfo *call = named ? key_call(&directive_key, v.text) : NULL;
    if (!call) {
        wrong_value(m, &v);
        return;
    }
    d->wrong = false;
    d->frozen = !strcmp(call->name, "frozen");
    if (d->frozen) return;
    const ConstValue *own_lr = call_argument(&v, "lr"), *decay = call_argument(&v, "weight_decay");
    d->lr_factor = 1;
    d->weight_decay = decay->kind == VALUE_NONE ? p->weight_decay : value_number(decay);
    if (own_lr->kind == VALUE_NONE) return;
    if (lr > 0) {
        d->lr_factor = value_number(own_lr) / lr;
        return;
    }
    Diag e = diag_at(m->ds, E_contradiction, own_lr->span,
                     "a group has a learning rate, and the optimizer's is 0");
    diag_help(&e, "give the optimizer the lr that the other parameters have");
    diag_emit(&e);
}

void directives_resolve(Model *m, const Policy *p, const Settings *s) {
    for (uint32_t i = 0; i < m->directives.n; i++) resolve(m, &m->directives.at[i], p, s->lr);
}

static bool names(const Directive *d, const Param *p) {
    if (glob_match(d->glob, p->name.path, NULL, NULL, 0)) return true;
    for (uint32_t k = 0; k < p->aliases.n; k++)
        if (glob_match(d->glob, p->aliases.at[k].path, NULL, NULL, 0)) return true;
    return false;
}

static void apply(Param *p, Directive *d) {
    d->matched = true;
    if (d->frozen) {
        p->frozen = true;
        return;
    }
    p->grouped = true;
    p->lr_factor = d->lr_factor;
    p->weight_decay = d->weight_decay;
}

static void unmatched(Elaboration *e, const Directive *d) {
    Graph *g = e->graph;
    const char **paths = arena_array(g->arena, const char *, g->params.n + 1);
    bool any = false;
    for (uint32_t k = 0; k < g->params.n; k++) {
        paths[k] = g->params.at[k].name.path;
        any |= names(d, &g->params.at[k]);
    }
    Diag report = diag_at(e->model->ds, E_directive, d->span, "\"%s\" %s", d->glob,
                          any ? "matches only parameters that directives before it match"
                              : "matches no parameter");
    const char *near = any ? NULL : nearest_name(d->glob, paths, g->params.n);
    if (near) diag_help(&report, "did you mean `%s`?", near);
    diag_emit(&report);
}

void directives_apply(Elaboration *e) {
    Model *m = e->model;
    for (uint32_t k = 0; k < e->graph->params.n; k++)
        for (uint32_t i = 0; i < m->directives.n; i++)
            if (names(&m->directives.at[i], &e->graph->params.at[k])) {
                apply(&e->graph->params.at[k], &m->directives.at[i]);
                break;
            }
    for (uint32_t i = 0; i < m->directives.n; i++)
        if (!m->directives.at[i].matched && !m->directives.at[i].wrong)
            unmatched(e, &m->directives.at[i]);
}
