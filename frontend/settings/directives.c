/* The directives of sections train and shard: `"path.glob" = value`.
 *
 * train: a parameter takes the first directive whose glob matches one of its paths. `frozen` means
 * the same as the attribute @frozen; a group gives its parameters a learning rate and a weight
 * decay of their own, which the schedule scales like the optimizer's, and says whether Muon moves
 * them. @no_decay holds inside a group too.
 *
 * shard: `replicate` holds for every parameter that it matches, as replicate_below does for small
 * ones, and so does whole(tp); of several gather(..), or split(..), the first that matches counts.
 * `unit`, `join` and `recompute` are about modules, as is reshard(..); they go into the policy, for
 * the passes wrap and recompute. A path can have recompute or reshard(..) and another directive
 * besides.
 */
#include <string.h>

#include "evaluate.h"
#include "residency.h"
#include "rules.h"

/* Directives as if they were keys, so that their values are evaluated and checked like those of
 * keys. */
static const KeyInfo directive_keys[] = {
    {.section = "train", .key = "\"path.glob\"", .kinds = K_WORD | K_CALL},
    {.section = "shard", .key = "\"path.glob\"", .kinds = K_WORD | K_CALL},
};

static const KeyInfo *directive_key(const Directive *d) {
    return &directive_keys[strcmp(d->section, directive_keys[0].section) ? 1 : 0];
}

/* The word before the arguments. */
static const char *word_of_value(const Node *value) {
    const Node *callee = value->kind == NODE_CALL ? value->kids[0] : value;
    return callee->kind == NODE_REF ? callee->text : "";
}

/* Are both about the same path and of the same kind? In section train all are; in section shard
 * those about units are, and those with the same word. */
static bool is_said_twice(const Directive *old, const char *section, const Node *e) {
    const char *then = word_of_value(old->expression), *now = word_of_value(e->kids[0]);
    if (strcmp(old->glob, e->text) || strcmp(old->section, section)) return false;
    bool units = (!strcmp(then, "unit") || !strcmp(then, "join")) &&
                 (!strcmp(now, "unit") || !strcmp(now, "join"));
    return !strcmp(section, directive_keys[0].section) || units || !strcmp(then, now);
}

void directives_add(Model *m, const char *section, const Node *e) {
    Directive d = {
        .section = section, .glob = e->text, .span = e->text_span, .expression = e->kids[0]};
    uint32_t at = 0, kept = 0;
    for (uint32_t i = 0; i < m->directives.n; i++) {
        const Directive *old = &m->directives.at[i];
        bool same_file = old->span.file == d.span.file, twice = is_said_twice(old, section, e);
        if (twice && same_file) {
            duplicate_error(m, "path", e->text, e->text_span, old->span);
            return;
        }
        at += same_file;
        if (!twice) m->directives.at[kept++] = *old;
    }
    m->directives.n = kept;
    vec_push(m->arena, &m->directives, d);
    for (uint32_t i = kept; i > at; i--) m->directives.at[i] = m->directives.at[i - 1];
    m->directives.at[at] = d;
}

static void wrong_value(Model *m, const Directive *of, const ExprValue *v) {
    const char *names[16];
    size_t n = 0;
    bool train = directive_key(of) == &directive_keys[0];
    call_names(key_group(directive_key(of)), names, &n, ARRAY_LEN(names));
    diag_report(m->ds, E_value_word, v->span,
                (v->kind == VALUE_WORD || v->kind == VALUE_CALL)
                    ? known_names(m->arena, v->text, names, n)
                    : NULL,
                "the value of a path in section %s must be %s", of->section,
                train ? "`frozen` or a group(..)"
                      : "`unit`, join(\"..\"), `recompute`, reshard(..), gather(..), "
                        "split(..), whole(tp) or `replicate`");
}

/* "glob" = unit, "glob" = join("glob"). */
static void add_unit(Model *m, Policy *p, const Directive *d, const ExprValue *join) {
    PathList u = {.span = d->span};
    vec_push(m->arena, &u.paths.at, d->glob);
    if (join) vec_push(m->arena, &u.paths.at, call_argument(join, "path")->text);
    vec_push(m->arena, &p->unit_by_hand.at, u);
}

static void warn_idle_path(Model *m, const Policy *p, const Directive *d, const char *name) {
    diag_report(m->ds, W_no_effect, d->span, NULL, "strategy = %s: %s has no effect",
                word_of(&words_Strategy, p->strategy), name);
}

static void add_path_policy(Model *m, Policy *p, const Directive *d, const char *name,
                            const ExprValue *v) {
    PathPolicy path = {.kind = (PathPolicyKind)word_find(&words_PathPolicyKind, name),
                       .glob = d->glob,
                       .span = d->span};
    if (path.kind == PATH_RESHARD) {
        const ExprValue *after = call_argument(v, "after");
        if (!strategy_reshards(p->strategy)) warn_idle_path(m, p, d, name);
        path.reshard = after->kind != VALUE_BOOL ? RESHARD_PART
                       : after->boolean          ? RESHARD_ALWAYS
                                                 : RESHARD_NEVER;
        if (path.reshard == RESHARD_PART) path.group = after->integer;
    }
    vec_push(m->arena, &p->by_path, path);
}

static void needs_layout(Model *m, const Directive *d) {
    const KeyValue *layout = model_setting(m, "shard", "layout");
    Diag e = diag_at(m->ds, E_contradiction, d->span,
                     "split(dp, axis = %lld) needs layout = param: a flat unit is cut without "
                     "regard to axes",
                     (long long)d->axis);
    if (layout->expression) diag_note(&e, layout->value.span, "the layout is given here");
    diag_help(&e, "write layout = param in section shard");
    diag_emit(&e);
}

/* A directive of section shard. */
static void resolve_placement(Model *m, Directive *d, Policy *p, const char *name,
                              const ExprValue *v) {
    d->replicate = !strcmp(name, "replicate");
    if (!strcmp(name, "gather"))
        d->gather = MAX(word_find(&words_DType, call_argument(v, "dtype")->text), 0);
    d->whole = !strcmp(name, "whole");
    d->split = !strcmp(name, "split");
    if (d->split) d->axis = call_argument(v, "axis")->integer;
    d->of_parameters = d->replicate || d->gather || d->split || d->whole;
    if (word_find(&words_PathPolicyKind, name) >= 0) {
        add_path_policy(m, p, d, name, v);
        return;
    }
    if (!d->of_parameters) {
        add_unit(m, p, d, strcmp(name, "join") ? NULL : v);
        return;
    }
    if (d->whole || strategy_gathers(p->strategy)) {
        d->wrong = d->split && p->layout != LAYOUT_PARAM;
        if (d->wrong) needs_layout(m, d);
        return;
    }
    warn_idle_path(m, p, d, name);
}

/* group(lr = .., weight_decay = .., muon = ..) */
static void resolve_group(Model *m, Directive *d, const Policy *p, double lr, const ExprValue *v) {
    const ExprValue *own_lr = call_argument(v, "lr"), *decay = call_argument(v, "weight_decay");
    const ExprValue *muon = call_argument(v, "muon");
    if (muon->kind == VALUE_BOOL) d->muon = muon->boolean ? MUON_YES : MUON_NO;
    if (muon->kind == VALUE_BOOL && !optimizer_moves_matrices(p->optimizer))
        diag_report(m->ds, W_no_effect, muon->span, NULL, "optimizer = %s: muon has no effect",
                    word_of(&words_OptimizerKind, p->optimizer));
    d->lr_factor = 1;
    d->weight_decay = decay->kind == VALUE_NONE ? p->weight_decay : value_number(decay);
    if (own_lr->kind == VALUE_NONE) return;
    d->own_lr = true;
    if (lr > 0) {
        d->lr_factor = own_lr_factor(m, own_lr, lr);
        return;
    }
    diag_report(m->ds, E_contradiction, own_lr->span,
                "set the optimizer's lr to that of the other parameters",
                "this group has a learning rate, but the optimizer's is 0");
}

static void resolve_directive(Model *m, Directive *d, Policy *p, double lr) {
    const KeyInfo *key = directive_key(d);
    Scope scope = {.model = m, .key = key};
    ExprValue v = evaluate(&scope, d->expression);
    d->wrong = true;
    if (v.kind == VALUE_ERROR) return;
    bool named = v.kind == VALUE_WORD || v.kind == VALUE_CALL;
    const CallInfo *call = named ? key_call(key, v.text) : NULL;
    if (!call) {
        wrong_value(m, d, &v);
        return;
    }
    if (call->support != HERE) {
        Diag lacks =
            unsupported_error(m, d->span, "the directive \"%s\" = %s", d->glob, call->name);
        diag_emit(&lacks);
        return;
    }
    d->wrong = false;
    if (key == &directive_keys[1]) {
        resolve_placement(m, d, p, call->name, &v);
        return;
    }
    d->of_parameters = true;
    d->frozen = !strcmp(call->name, "frozen");
    if (!d->frozen) resolve_group(m, d, p, lr, &v);
}

void directives_resolve(Model *m, Policy *p, const RunSettings *s) {
    for (uint32_t i = 0; i < m->directives.n; i++)
        resolve_directive(m, &m->directives.at[i], p, s->lr);
}

static bool matches_param(const Directive *d, const Param *p) {
    if (glob_match(d->glob, p->name.path, NULL, NULL, 0)) return true;
    for (uint32_t k = 0; k < p->aliases.n; k++)
        if (glob_match(d->glob, p->aliases.at[k].path, NULL, NULL, 0)) return true;
    return false;
}

static void apply_to_param(Param *p, Directive *d) {
    d->matched = true;
    if (d->frozen) {
        p->frozen = true;
        return;
    }
    p->grouped = true;
    p->lr_factor = d->lr_factor;
    p->weight_decay = d->weight_decay;
}

/* Does a directive that stands before d in its own file name a parameter that d names? */
static bool is_hidden_in_file(Elaboration *e, const Directive *d, const Param *p) {
    for (const Directive *old = e->model->directives.at; old < d; old++)
        if (old->span.file == d->span.file && !strcmp(old->section, d->section) &&
            matches_param(old, p))
            return true;
    return false;
}

/* A used file gives way silently to the file that uses it. */
static void report_unmatched(Elaboration *e, const Directive *d) {
    Graph *g = e->graph;
    const char **paths = arena_array(g->arena, const char *, g->params.n + 1);
    bool any = false, hidden = false;
    for (uint32_t k = 0; k < g->params.n; k++) {
        const Param *p = &g->params.at[k];
        paths[k] = p->name.path;
        any |= matches_param(d, p);
        hidden |= matches_param(d, p) && is_hidden_in_file(e, d, p);
    }
    if (any && !hidden) return;
    Diag report = diag_at(e->model->ds, E_directive, d->span, "\"%s\" %s", d->glob,
                          any ? "matches only parameters that earlier entries already match"
                              : "matches no parameter");
    const char *near = any ? NULL : nearest_path(g->arena, d->glob, paths, g->params.n);
    if (near) diag_help(&report, "did you mean `%s`?", near);
    diag_emit(&report);
}

const Directive *directive_of(const Model *m, const Param *p) {
    for (uint32_t i = 0; i < m->directives.n; i++) {
        const Directive *d = &m->directives.at[i];
        bool of_train = directive_key(d) == &directive_keys[0];
        if (!d->wrong && d->of_parameters && of_train && matches_param(d, p)) return d;
    }
    return NULL;
}

/* Applies the first of section train that matches the parameter, and all of section shard. */
static void apply_directives(Model *m, Param *p) {
    bool trained = false;
    for (uint32_t i = 0; i < m->directives.n; i++) {
        Directive *d = &m->directives.at[i];
        if (d->wrong || !d->of_parameters || d->split || !matches_param(d, p)) continue;
        if (d->replicate) {
            p->replicate = d->matched = true;
        } else if (d->whole) {
            p->uncut = d->matched = true;
        } else if (d->gather) {
            if (p->gather == DT_NONE) p->gather = d->gather, d->matched = true;
        } else if (!trained) {
            trained = true;
            apply_to_param(p, d);
        }
    }
}

/* ---- split(dp, axis = k) */

/* Reports why the parameter cannot be split along the axis, which counts from 0. */
static bool can_split(Elaboration *e, const Directive *d, const Param *p, int64_t axis,
                      const char *whole) {
    const Policy *policy = &e->graph->policy;
    int64_t ranks = mesh_extent(&policy->mesh, split_axes(policy));
    long long said = (long long)d->axis;
    Diag report;
    if (whole) {
        report = diag_at(e->model->ds, E_contradiction, d->span,
                         "split(dp, axis = %lld): %s leaves `%s` whole on every rank", said, whole,
                         p->name.path);
    } else if (axis < 0 || axis >= p->type.rank) {
        report = diag_at(e->model->ds, E_directive, d->span,
                         "split(dp, axis = %lld): `%s` has no such axis", said, p->name.path);
        diag_help(&report, "write a path that matches only parameters with such an axis");
    } else if (axis && p->type.dim[axis] % ranks) {
        report = diag_at(
            e->model->ds, E_contradiction, d->span,
            "split(dp, axis = %lld): %lld is not divisible by the %lld ranks that share it out",
            said, (long long)p->type.dim[axis], (long long)ranks);
        diag_help(&report, "only axis 0 can have any size");
    } else {
        return true;
    }
    diag_note(&report, p->name.span, "`%s` is %s", p->name.path,
              type_text(e->graph->arena, &p->type));
    diag_emit(&report);
    return false;
}

/* Splits by the first such directive that matches the parameter. Each is refused only once. */
static void split_param(Elaboration *e, Param *p, int64_t small) {
    Model *m = e->model;
    for (uint32_t i = 0; i < m->directives.n; i++) {
        Directive *d = &m->directives.at[i];
        if (d->wrong || !d->split || !matches_param(d, p)) continue;
        const char *whole = p->replicate                       ? "replicate"
                            : type_elements(&p->type) <= small ? "replicate_below"
                                                               : NULL;
        int64_t axis = d->axis < 0 ? d->axis + p->type.rank : d->axis;
        d->matched = true;
        d->wrong = !can_split(e, d, p, axis, whole);
        p->split_axis = d->wrong ? 0 : axis;
        return;
    }
}

static bool reads_gathered(const Graph *g, const Directive *d) {
    if (!strategy_gathers(g->policy.strategy)) return true; /* reported before */
    for (uint32_t k = 0; k < g->params.n; k++)
        if (!g->params.at[k].replicate && matches_param(d, &g->params.at[k])) return true;
    return false;
}

void directives_apply(Elaboration *e) {
    Model *m = e->model;
    int64_t small = model_setting(m, "shard", "replicate_below")->value.integer;
    for (uint32_t k = 0; k < e->graph->params.n; k++) {
        Param *p = &e->graph->params.at[k];
        apply_directives(m, p);
        split_param(e, p, small);
        p->replicate |= type_elements(&p->type) <= small;
    }
    for (uint32_t i = 0; i < m->directives.n; i++) {
        const Directive *d = &m->directives.at[i];
        if (d->of_parameters && !d->matched && !d->wrong) report_unmatched(e, d);
        if (d->gather && d->matched && !reads_gathered(e->graph, d))
            diag_report(m->ds, W_no_effect, d->span, NULL,
                        "replicate leaves these parameters whole: gather has no effect");
    }
}
