/* `config hf { key = expression else expression .. }`: the keys of config.json, which is written
 * beside the weights into a folder, as Hugging Face's libraries read it. Expressions are constants
 * of the config, so presets and -s change them too; they are evaluated when the model is compiled,
 * and the plan holds the text. The value after `else` is what Transformers takes if a file lacks
 * the key; `key = skip` is a key without effect on numbers, which is read and not written. The
 * import of a folder (room families) reads the same section the other way round.
 *
 * In: the section. Out: a JSON object, keys in the section's order: lists and tuples are arrays,
 * a tuple with names or a nested `key { }` is an object, none is null; a nested `key { }` leaves
 * out entries that are none, and is null without entries. And a second object, the facts by which
 * --load compares a folder: the values after `else`, and the keys without effect.
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

/* The text of config.json that is being written, and the facts. */
typedef struct HfTexts {
    Model *m;
    Buf out, absent, null, skip;
} HfTexts;

static bool is_name(const Node *e, const char *name) {
    return e->kind == NODE_REF && !strcmp(e->text, name);
}

/* Whether a function gets the name as an argument that may be none: `attention(.., cap = cap)`. */
static bool passes_it_on(const Node *call, const char *name) {
    const CallInfo *function = call_find(GROUP_FUNCTION, call->kids[0]->text);
    uint32_t n = 0;
    const ArgumentInfo *arguments = function ? call_arguments(function, &n) : NULL;
    for (uint32_t i = 0; i < call->kids[1]->n; i++) {
        const Node *given = call->kids[1]->kids[i];
        if (given->kind != NODE_NAMED || !is_name(given->kids[0], name)) continue;
        for (uint32_t k = 0; k < n; k++)
            if (!strcmp(arguments[k].name, given->text) && arguments[k].type.kinds & K_NONE)
                return true;
    }
    return false;
}

/* Whether the tree compares the name with none, or passes it on. */
static bool may_be_none(const Node *e, const char *name) {
    if (!e) return false;
    if (e->kind == NODE_CALL && e->kids[0]->kind == NODE_REF && passes_it_on(e, name)) return true;
    bool equality = e->kind == NODE_BINARY && (!strcmp(e->text, "==") || !strcmp(e->text, "!="));
    for (uint32_t i = 0; i < e->n; i++)
        if ((equality && is_name(e->kids[i], name) && e->kids[1 - i]->kind == NODE_NONE) ||
            may_be_none(e->kids[i], name))
            return true;
    return may_be_none(e->shape, name) || may_be_none(e->value, name);
}

bool hf_entry_nullable(const Model *m, const Node *e) {
    for (uint32_t i = 0; i < m->units.n && e->kids[0]->kind == NODE_REF; i++)
        if (!m->units.at[i].prelude && may_be_none(m->units.at[i].root, e->kids[0]->text))
            return true;
    return false;
}

static void put_comma(Buf *out) { buf_printf(out, out->n ? ", " : ""); }

static void put_absent(HfTexts *t, const char *path, const Node *e) {
    Scope s = {.model = t->m};
    ExprValue v = evaluate(&s, e->kids[1]);
    put_comma(&t->absent);
    put_text(&t->absent, path);
    buf_printf(&t->absent, ": ");
    if (v.kind == VALUE_ERROR || !put_value(t->m, &v, &t->absent)) buf_printf(&t->absent, "null");
}

static bool put_entry(HfTexts *t, const Node *e, bool nested) {
    Scope s = {.model = t->m};
    ExprValue v = evaluate(&s, e->kids[0]);
    if (nested && v.kind == VALUE_NONE) return false;
    put_text(&t->out, e->text);
    buf_printf(&t->out, ": ");
    if (v.kind == VALUE_ERROR || put_value(t->m, &v, &t->out)) return true;
    diag_report(t->m->ds, E_misplaced_entry, e->kids[0]->span, NULL,
                "`%s` is %s, which JSON cannot represent", e->text, value_kind_name(&v));
    return true;
}

/* Whether the entry is a key to write; otherwise it is noted or an error. */
static bool is_written(HfTexts *t, const Node *section, uint32_t i, const char *path) {
    const Node *e = section->kids[i];
    if (e->kind == NODE_REQUIRE)
        return diag_report(t->m->ds, E_misplaced_entry, e->span, NULL,
                           "only `key = value` and `key { .. }` are allowed in config hf");
    for (uint32_t k = 0; k < i; k++)
        if (section->kids[k]->text && !strcmp(section->kids[k]->text, e->text))
            duplicate_error(t->m, "key", e->text, e->text_span, section->kids[k]->text_span);
    if (!hf_entry_skips(e)) return true;
    put_comma(&t->skip);
    put_text(&t->skip, path);
    return false;
}

static void put_facts(HfTexts *t, const char *path, const Node *e) {
    if (e->n > 1) put_absent(t, path, e);
    if (!hf_entry_nullable(t->m, e)) return;
    put_comma(&t->null);
    put_text(&t->null, path);
}

static void put_entries(HfTexts *t, const Node *section, const char *prefix, int depth) {
    Buf *out = &t->out;
    size_t begin = out->n, entries = 0;
    buf_printf(out, "{");
    for (uint32_t i = 0; i < section->n; i++) {
        const Node *e = section->kids[i];
        const char *path = arena_printf(t->m->arena, "%s%s", prefix, e->text ? e->text : "");
        size_t before = out->n;
        bool put = is_written(t, section, i, path);
        if (!put) continue;
        buf_printf(out, "%s\n%*s", entries ? "," : "", depth, "");
        if (e->kind == NODE_SECTION) {
            put_text(out, e->text);
            buf_printf(out, ": ");
            put_entries(t, e, arena_printf(t->m->arena, "%s.", path), depth + 2);
        } else {
            put_facts(t, path, e);
            put = put_entry(t, e, *prefix);
        }
        if (!put) out->n = before;
        entries += put;
    }
    if (*prefix && !entries) {
        out->n = begin;
        buf_printf(out, "null");
    } else {
        buf_printf(out, "\n%*s}", depth - 2, "");
    }
}

bool hf_entry_skips(const Node *e) {
    return e->kind == NODE_SET && e->kids[0]->kind == NODE_REF && !strcmp(e->kids[0]->text, "skip");
}

void hf_config_texts(Model *m, const char **text, const char **facts) {
    *text = *facts = "";
    if (!m->hf_config) return;
    HfTexts t = {.m = m};
    put_entries(&t, m->hf_config, "", 2);
    buf_write(&t.out, "\n", 1);
    *text = buf_text(m->arena, &t.out);
    *facts = arena_printf(m->arena, "{\"absent\": {%s}, \"null\": [%s], \"skip\": [%s]}",
                          buf_text(m->arena, &t.absent), buf_text(m->arena, &t.null),
                          buf_text(m->arena, &t.skip));
}
