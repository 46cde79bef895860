/* `config hf { key = expression .. }`: the keys of config.json, which is written beside the weights
 * into a folder, as Hugging Face's libraries read it. Expressions are constants of the config, so
 * presets and -s change them too; they are evaluated when the model is compiled, and the plan holds
 * the text.
 *
 * In: the section. Out: a JSON object, keys in the section's order: lists and tuples are arrays,
 * a tuple with names or a nested `key { }` is an object, none is null.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evaluate.h"
#include "settings.h"

void hf_config_add(Model *m, const Node *section) {
    if (strcmp(section->label, "hf") != 0) {
        Diag d = diag_at(m->ds, E_unknown_section, section->text_span,
                         "there is no section `config %s`", section->label);
        diag_help(
            &d,
            "`config hf` holds the keys of config.json, `config` without a name holds constants");
        diag_emit(&d);
        return;
    }
    const Node *old = m->hf_config;
    bool twice = old && old->span.file == section->span.file;
    if (twice) duplicate_error(m, "section", "config hf", section->span, old->span);
    if (!twice) m->hf_config = section;
}

static void put_text(Buf *out, const char *text) {
    json_t *string = json_string(text);
    char *quoted = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
    buf_printf(out, "%s", quoted ? quoted : "\"\"");
    free(quoted);
    json_decref(string);
}

static void put_real(Buf *out, double x) {
    char text[40];
    double_text(x, text);
    buf_printf(out, strpbrk(text, ".e") ? "%s" : "%s.0", text); /* 1 would be read as an integer */
}

static bool put_value(Model *m, const ExprValue *v, Buf *out);

static bool put_items(Model *m, const ExprValue *v, Buf *out) {
    bool named = v->n_items && v->items[0].name, good = true;
    buf_printf(out, named ? "{" : "[");
    for (uint32_t i = 0; i < v->n_items; i++) {
        buf_printf(out, i ? ", " : "");
        if (named) put_text(out, v->items[i].name ? v->items[i].name : "");
        if (named) buf_printf(out, ": ");
        good &= put_value(m, v->items[i].value, out);
    }
    buf_printf(out, named ? "}" : "]");
    return good;
}

static bool put_value(Model *m, const ExprValue *v, Buf *out) {
    switch (v->kind) {
    case VALUE_NONE: buf_printf(out, "null"); return true;
    case VALUE_BOOL: buf_printf(out, v->boolean ? "true" : "false"); return true;
    case VALUE_INT: buf_printf(out, "%lld", (long long)v->integer); return true;
    case VALUE_REAL: put_real(out, v->real); return isfinite(v->real);
    case VALUE_TEXT: put_text(out, v->text); return true;
    case VALUE_LIST: return put_items(m, v, out);
    default: return false;
    }
}

static void put_entries(Model *m, const Node *section, Buf *out, int depth) {
    Scope s = {.model = m};
    buf_printf(out, "{");
    for (uint32_t i = 0; i < section->n; i++) {
        const Node *e = section->kids[i];
        if (e->kind == NODE_REQUIRE) {
            Diag d = diag_at(m->ds, E_misplaced_entry, e->span,
                             "only `key = value` and `key { .. }` are allowed in config hf");
            diag_emit(&d);
            continue;
        }
        for (uint32_t k = 0; k < i; k++)
            if (section->kids[k]->text && !strcmp(section->kids[k]->text, e->text))
                duplicate_error(m, "key", e->text, e->text_span, section->kids[k]->text_span);
        buf_printf(out, "%s\n%*s", i ? "," : "", depth, "");
        put_text(out, e->text);
        buf_printf(out, ": ");
        if (e->kind == NODE_SECTION) {
            put_entries(m, e, out, depth + 2);
            continue;
        }
        ExprValue v = evaluate(&s, e->kids[0]);
        if (v.kind == VALUE_ERROR || put_value(m, &v, out)) continue;
        Diag d = diag_at(m->ds, E_misplaced_entry, e->kids[0]->span,
                         "`%s` is %s, which JSON cannot represent", e->text, value_kind_name(&v));
        diag_emit(&d);
    }
    buf_printf(out, "\n%*s}", depth - 2, "");
}

const char *hf_config_text(Model *m) {
    if (!m->hf_config) return "";
    Buf out = {0};
    put_entries(m, m->hf_config, &out, 2);
    buf_write(&out, "\n", 1);
    const char *text = arena_strndup(m->arena, out.at, out.n);
    buf_free(&out);
    return text;
}
