/* Names tables: what the parameters are called in a file of weights.
 *
 *   names hf      { "*" = "transformer.*" }                         one table, with a label
 *   names hf_base { "h.*.w" = "h.*.w^T"; "h.*.bias" = skip }        another way to name them
 *
 * A rule maps paths of parameters to names: the first pattern that matches counts, each `*` of the
 * replacement is what the pattern's `*` matched, in order, and ^T says that the tensor is stored
 * transposed. A parameter without a rule keeps its path. A rule can also name a part of a tensor,
 * or several tensors (stored.c). `= skip` names tensors of the file that no parameter needs, such
 * as buffers. The first table of the user's file gives the names that are saved; a file to load can
 * follow any of them.
 */
#include <stdlib.h>
#include <string.h>

#include "weights.h"

/* ---- reading ---- */

static const char *label_of(const Node *section) { return section->label ? section->label : ""; }

static void rule_error(Model *m, const Node *e) {
    diag_report(m->ds, E_misplaced_entry, e->span,
                "for example \"*\" = \"transformer.*\", or \"up\" = \"gate_up\"[F : 2 * F]",
                "a names table holds \"pattern\" = \"name\" and \"pattern\" = skip");
}

static bool is_repeated(Model *m, const NamesTable *t, const Node *e) {
    for (uint32_t i = 0; i < t->rules.n; i++)
        if (!strcmp(t->rules.at[i].pattern, e->text)) {
            duplicate_error(m, "pattern", e->text, e->text_span, t->rules.at[i].span);
            return true;
        }
    return false;
}

static void add_rule(Model *m, NamesTable *t, const Node *e, const char *name) {
    size_t n = strlen(name);
    bool transposed = n > 2 && !strcmp(name + n - 2, "^T");
    NamesRule rule = {.pattern = e->text,
                      .replacement = arena_strndup(m->arena, name, n - (transposed ? 2 : 0)),
                      .transposed = transposed,
                      .span = e->span};
    if (is_repeated(m, t, e)) return;
    int stars = count_stars(rule.pattern), used = count_stars(rule.replacement);
    if (used > stars) {
        diag_report(m->ds, E_misplaced_entry, e->span, NULL,
                    "\"%s\" has %d `*`, but its pattern \"%s\" has only %d", rule.replacement, used,
                    rule.pattern, stars);
        return;
    }
    vec_push(m->arena, &t->rules, rule);
}

static void add_parts(Model *m, NamesTable *t, const Node *e) {
    NamesRule rule = {.pattern = e->text, .parts = e->kids[0], .span = e->span};
    if (!is_repeated(m, t, e)) vec_push(m->arena, &t->rules, rule);
}

static void add_entry(Model *m, NamesTable *t, const Node *e) {
    const Node *value = e->n ? e->kids[0] : NULL;
    if (e->kind == NODE_SET_PATH && value->kind == NODE_STRING)
        add_rule(m, t, e, value->text);
    else if (e->kind == NODE_SET_PATH && value->kind == NODE_REF && !strcmp(value->text, "skip"))
        vec_push(m->arena, &t->file.skips.at, e->text);
    else if (e->kind == NODE_SET_PATH && is_parts_entry(value))
        add_parts(m, t, e);
    else
        rule_error(m, e);
}

/* Tables of a file come before those of the files that it uses, and replace those with the same
 * label. */
void names_add(Model *m, const Node *section) {
    NamesTable t = {.file = {.label = label_of(section)}, .span = section->span};
    uint32_t at = 0, n = 0;
    for (uint32_t i = 0; i < section->n; i++) add_entry(m, &t, section->kids[i]);
    for (uint32_t i = 0; i < m->names.n; i++) {
        const NamesTable *old = &m->names.at[i];
        bool same_label = !strcmp(old->file.label, t.file.label);
        bool same_file = old->span.file == t.span.file;
        if (same_label && same_file) {
            duplicate_error(m, "names table", t.file.label, t.span, old->span);
            return;
        }
        at += same_file;
        if (!same_label) m->names.at[n++] = *old;
    }
    m->names.n = n;
    vec_push(m->arena, &m->names, t);
    for (uint32_t i = m->names.n - 1; i > at; i--) m->names.at[i] = m->names.at[i - 1];
    m->names.at[at] = t;
}

/* ---- applying ---- */

static const char *rename_path(Arena *a, const NamesRule *rule, const char *path) {
    int stars = count_stars(rule->pattern), used = 0;
    if (rule->parts) return "";
    const char **captures = arena_array(a, const char *, (size_t)stars + 1);
    glob_match(rule->pattern, path, a, captures, stars);
    return fill_stars(a, rule->replacement, captures, stars, &used);
}

const char *names_of_path(const Model *m, uint32_t table, const char *path, bool *transposed) {
    const NamesRule *rule = table < m->names.n ? names_rule(&m->names.at[table], path) : NULL;
    *transposed = rule && rule->transposed;
    return rule ? rename_path(m->arena, rule, path) : path;
}

/* ---- checking ---- */

static void check_matches(Elaboration *e, NamesTable *t) {
    const char **paths = arena_array(e->model->arena, const char *, e->slots.n + 1);
    for (uint32_t k = 0; k < e->slots.n; k++) paths[k] = e->slots.at[k]->path;
    for (uint32_t i = 0; i < t->rules.n; i++) {
        NamesRule *rule = &t->rules.at[i];
        for (uint32_t k = 0; k < e->slots.n && !rule->matched; k++)
            rule->matched = glob_match(rule->pattern, paths[k], NULL, NULL, 0);
        if (rule->matched) continue;
        diag_report(e->model->ds, E_names_table, rule->span,
                    known_names(e->model->arena, rule->pattern, paths, e->slots.n),
                    "\"%s\" matches no parameter", rule->pattern);
    }
}

static void check_name(Elaboration *e, uint32_t table, const Param *p) {
    const NamesRule *rule = names_rule(&e->model->names.at[table], p->key);
    bool transposed;
    if (!rule || rule->parts) return;
    if (*names_of_path(e->model, table, p->key, &transposed)) return;
    diag_report(e->model->ds, E_names_table, rule->span, NULL,
                "this entry gives `%s` an empty name", p->key);
}

/* ^T is for matrices, and all names of a parameter must agree on it. */
static void check_transposed(Elaboration *e, const NamesTable *t, const Param *p) {
    const NamesRule *rule = names_rule(t, p->key);
    bool transposed = rule && rule->transposed;
    if (transposed && p->type.rank != 2)
        diag_report(e->model->ds, E_names_table, rule->span, NULL,
                    "`%s` is stored transposed (^T), but has %d ax%s", p->key, p->type.rank,
                    p->type.rank == 1 ? "is" : "es");
    for (uint32_t k = 0; k < p->aliases.n; k++) {
        const NamesRule *other = names_rule(t, p->aliases.at[k].path);
        if ((other && other->transposed) == transposed) continue;
        diag_report(e->model->ds, E_names_table, transposed ? rule->span : other->span, NULL,
                    "`%s` is the parameter `%s`, but only one of them has ^T",
                    p->aliases.at[k].path, p->key);
    }
}

typedef struct NamedParam {
    const char *name;
    const Param *param;
} NamedParam;

static int by_name(const void *a, const void *b) {
    const NamedParam *p = a, *q = b;
    return strcmp(p->name, q->name);
}

/* The names of all tensors in a table, each with its parameter, or its first one. */
static uint32_t all_names(Elaboration *e, uint32_t table, NamedParam *out) {
    const Graph *g = e->graph;
    uint32_t n = 0;
    const FileNames *t = &e->model->names.at[table].file;
    for (uint32_t i = 0; i < g->params.n; i++) {
        bool transposed;
        const Param *p = &g->params.at[i];
        const char *name = names_of_path(e->model, table, p->key, &transposed);
        if (*name) out[n++] = (NamedParam){name, p};
    }
    for (uint32_t i = 0; i < t->stored.n; i++) {
        const StoredPart *part = &t->parts.at[t->stored.at[i].first_part];
        out[n++] = (NamedParam){t->stored.at[i].name, &g->params.at[part->param]};
    }
    return n;
}

static void check_distinct(Elaboration *e, uint32_t table) {
    uint32_t n = e->model->names.at[table].file.stored.n;
    NamedParam *sorted = arena_array(e->model->arena, NamedParam, e->graph->params.n + n + 1);
    n = all_names(e, table, sorted);
    qsort(sorted, n, sizeof *sorted, by_name);
    for (uint32_t i = 1; i < n; i++) {
        if (strcmp(sorted[i - 1].name, sorted[i].name)) continue;
        diag_report(e->model->ds, E_names_table, e->model->names.at[table].span, NULL,
                    "`%s` and `%s` have the same checkpoint name %s", sorted[i - 1].param->key,
                    sorted[i].param->key, sorted[i].name);
        return;
    }
}

void names_check(Elaboration *e) {
    Graph *g = e->graph;
    for (uint32_t t = 0; t < e->model->names.n; t++) {
        check_matches(e, &e->model->names.at[t]);
        for (uint32_t i = 0; i < g->params.n; i++) {
            check_name(e, t, &g->params.at[i]);
            check_transposed(e, &e->model->names.at[t], &g->params.at[i]);
        }
        make_stored_tensors(e, &e->model->names.at[t]);
        check_distinct(e, t);
    }
    for (uint32_t i = 0; i < g->params.n; i++) {
        Param *p = &g->params.at[i];
        const char *name = names_of_path(e->model, 0, p->key, &p->checkpoint_transposed);
        p->checkpoint = name == p->key ? name : arena_strdup(g->arena, name);
    }
}
