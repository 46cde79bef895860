/* shard.unit and shard.recompute: which modules and ops they name.
 *
 * In: a class, a list of classes, lists of module paths, size(..), or names of ops. Out: the
 * policy's lists. Whether the model has such classes and paths is checked by the passes wrap and
 * recompute, which know the modules.
 */
#include <string.h>

#include "rules.h"

static void add_classes(Model *m, const ExprValue *v, StringList *out) {
    if (v->kind == VALUE_WORD || v->kind == VALUE_TEXT) {
        vec_push(m->arena, &out->at, v->text);
        return;
    }
    for (uint32_t i = 0; v->kind == VALUE_LIST && i < v->n_items; i++)
        if (v->items[i].value->kind == VALUE_WORD)
            vec_push(m->arena, &out->at, v->items[i].value->text);
}

static bool all_of_kind(const ExprValue *v, ValueKind kind) {
    for (uint32_t i = 0; i < v->n_items; i++)
        if (v->items[i].name || v->items[i].value->kind != kind) return false;
    return v->n_items > 0;
}

void resolve_unit(Model *m, Policy *p) {
    const KeyValue *s = model_setting(m, "shard", "unit");
    const ExprValue *v = &s->value;
    p->unit_span = v->span.file ? v->span : s->span;
    p->unit = UNIT_CLASS;
    if (value_is_word(v, "root") || v->kind == VALUE_ERROR) {
        p->unit = UNIT_ROOT;
    } else if (v->kind == VALUE_WORD) {
        add_classes(m, v, &p->unit_classes);
    } else if (v->kind == VALUE_CALL) {
        p->unit = UNIT_SIZE;
        p->unit_size = call_argument(v, "elements")->integer;
        const ExprValue *leaf = call_argument(v, "leaf");
        add_classes(m, leaf, &p->unit_leaf);
    } else if (all_of_kind(v, VALUE_WORD)) {
        add_classes(m, v, &p->unit_classes);
    } else if (all_of_kind(v, VALUE_LIST) && !v->tuple) {
        p->unit = UNIT_MANUAL;
        for (uint32_t i = 0; i < v->n_items; i++) {
            const ExprValue *list = v->items[i].value;
            StringList paths = {0};
            if (!all_of_kind(list, VALUE_TEXT))
                setting_error(m, s, "each unit must be a list of module paths in quotes");
            for (uint32_t k = 0; k < list->n_items; k++)
                if (list->items[k].value->kind == VALUE_TEXT)
                    vec_push(m->arena, &paths.at, list->items[k].value->text);
            vec_push(m->arena, &p->unit_manual, paths);
        }
    } else {
        setting_error(m, s,
                      "a list of units must hold classes, or lists of module paths in quotes");
    }
}

/* The first part of the value that is not a name: an item of a list, or the whole value; NULL if
 * all are names. */
static const ExprValue *first_unnamed(const ExprValue *v) {
    if (v->kind == VALUE_WORD) return NULL;
    if (v->kind != VALUE_LIST || !v->n_items) return v;
    for (uint32_t i = 0; i < v->n_items; i++)
        if (v->items[i].value->kind != VALUE_WORD) return v->items[i].value;
    return NULL;
}

/* Names of ops, one or a list of them. */
static void add_ops(Model *m, const ExprValue *v, StringList *out) {
    const char *known[OP_COUNT];
    size_t n = op_choices(known, OP_COUNT);
    const ExprValue *wrong = first_unnamed(v);
    bool list = v->kind == VALUE_LIST;
    add_classes(m, v, out);
    if (wrong) {
        diag_report(m->ds, E_value_kind, wrong->span,
                    "for example recompute = (ops = [gelu, layer_norm])",
                    "ops must be given by name, not as %s",
                    wrong->kind == VALUE_LIST && !wrong->n_items ? "an empty list"
                                                                 : value_kind_name(wrong));
        return;
    }
    for (uint32_t i = 0; i < out->at.n; i++) {
        int op = op_by_name(out->at.at[i]);
        if (op < OP_COUNT && op_is_choice((OpKind)op)) continue;
        Diag d = diag_at(m->ds, E_value_word, list ? v->items[i].value->span : v->span,
                         "`%s` is not an op that can be recomputed", out->at.at[i]);
        size_t k = 0;
        while (k < n && !strstr(known[k], out->at.at[i])) k++;
        if (k < n)
            diag_help(&d, "did you mean `%s`?", known[k]); /* norm: layer_norm */
        else
            suggest_nearest(&d, out->at.at[i], known, n);
        diag_emit(&d);
    }
}

/* Does an item before this one have the same name? */
static bool is_repeated(Model *m, const ExprValue *list, uint32_t item) {
    const ExprItem *at = list->items;
    for (uint32_t i = 0; i < item; i++) {
        if (!at[i].name || !at[item].name || strcmp(at[i].name, at[item].name)) continue;
        duplicate_error(m, "argument", at[i].name, at[item].value->span, at[i].value->span);
        return true;
    }
    return false;
}

/* Class, [Class, ..] or (Class, .., ops = .., keep = ..) */
void resolve_recompute(Model *m, Policy *p) {
    const KeyValue *s = model_setting(m, "shard", "recompute");
    const ExprValue *v = &s->value;
    RecomputePolicy *r = &p->recompute;
    r->span = v->span.file ? v->span : s->span;
    if (v->kind == VALUE_WORD && value_known(s->key, v->text)) {
        setting_error(m, s, "`%s` is an op: write recompute = (ops = %s)", v->text, v->text);
        return;
    }
    if (v->kind != VALUE_LIST) {
        add_classes(m, v, &r->classes);
        return;
    }
    for (uint32_t i = 0; i < v->n_items; i++) {
        const ExprItem *item = &v->items[i];
        if (is_repeated(m, v, i)) return;
        if (item->name && !strcmp(item->name, "ops"))
            add_ops(m, item->value, &r->ops);
        else if (item->name && !strcmp(item->name, "keep"))
            add_ops(m, item->value, &r->keep);
        else if (!item->name && item->value->kind == VALUE_WORD)
            add_classes(m, item->value, &r->classes);
        else
            setting_error(m, s, "recompute must be a class, or (Class, .., ops = .., keep = ..)");
    }
    if (!v->n_items)
        setting_error(m, s, "recompute must be a class, or (Class, .., ops = .., keep = ..)");
}
