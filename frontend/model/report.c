/* Errors inside modules and methods: where they are in the user's file, which calls led there,
 * and what the names in two shapes stand for. An error in the prelude is reported where the
 * user's file calls it. */
#include <ctype.h>
#include <string.h>

#include "model.h"

Diag method_error(Scope *s, DiagCode code, Span at, const char *format, ...) {
    va_list args;
    va_start(args, format);
    Diag d = diag_vat(s->model->ds, code, at, format, args);
    va_end(args);
    return d;
}

static void report(Scope *s, DiagCode code, Span at, const char *help, const char *format,
                   va_list args) {
    Diag d = diag_vat(s->model->ds, code, at, format, args);
    d.help = help;
    method_emit(s, &d);
}

bool method_report(Scope *s, DiagCode code, Span at, const char *help, const char *format, ...) {
    va_list args;
    va_start(args, format);
    report(s, code, at, help, format, args);
    va_end(args);
    return false;
}

ExprValue method_fail(Scope *s, DiagCode code, Span at, const char *help, const char *format, ...) {
    va_list args;
    va_start(args, format);
    report(s, code, at, help, format, args);
    va_end(args);
    return value_error(at);
}

Span user_place(const Elaboration *e, Span at, uint32_t *frame) {
    uint32_t i = e->frames.n;
    while (i > 0 && e->frames.at[i - 1].prelude) at = e->frames.at[--i].at;
    *frame = i;
    return at;
}

/* An error in a field of a prelude module is the fault of the field that made the module. */
static void point_at_maker(Scope *s, Diag *d) {
    const Instance *m = s->self;
    if (!m || !m->decl->prelude) return;
    diag_note(d, d->span, "in %s", m->decl->name);
    for (; m && m->decl->prelude; m = m->parent) d->span = m->span;
}

bool refuse_rank_size(Scope *s, const Node *e, const ExprValue *v) {
    if (!v->per_rank) return false;
    method_report(s, E_condition, e->span, "it can only be the size of an axis",
                  "`%s` depends on the number of samples of one rank, so the model would "
                  "change with the number of ranks",
                  node_text(s->model->arena, e));
    return true;
}

bool method_emit(Scope *s, Diag *d) {
    Elaboration *e = s->elaboration;
    if (!e) point_at_maker(s, d);
    if (e && e->frames.n) {
        uint32_t frame;
        Span inner = d->span;
        d->span = user_place(e, inner, &frame);
        if (frame < e->frames.n) diag_note(d, inner, "in %s", e->frames.at[frame].method);
        for (uint32_t i = frame; i > 1 && d->n_notes < 4; i--) /* [0] is model(..) in train */
            diag_note(d, e->frames.at[i - 1].at, "in %s, called here", e->frames.at[i - 1].method);
    }
    diag_emit(d);
    return false;
}

bool has_word(const char *text, const char *word) {
    size_t n = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at++) {
        bool starts = at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
        if (starts && !(isalnum((unsigned char)at[n]) || at[n] == '_')) return true;
    }
    return false;
}

static void explain_names(Scope *s, Buf *out, const char *text, const char *other) {
    for (const char *at = text; *at;) {
        size_t n = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
        if (!n || isdigit((unsigned char)*at)) {
            at += n ? n : 1;
            continue;
        }
        const char *word = arena_strndup(s->model->arena, at, n);
        bool repeated = out->at && has_word(out->at, word);
        ConfigEntry *c = model_config(s->model, word);
        const Local *local = scope_local(s, word);
        const ExprValue *argument = s->self ? instance_argument(s->self, word) : NULL;
        if (local) argument = &local->value;
        at += n;
        if (repeated || has_word(other, word)) continue;
        const char *lead = out->n ? ", " : ": ";
        if (c && c->value.kind == VALUE_INT)
            buf_printf(out, "%s%s = %lld (%s%s%u)", lead, word, (long long)c->value.integer,
                       strcmp(c->from, "-s") ? "" : "-s, ", "line ", c->span.line);
        else if (argument && argument->kind == VALUE_INT)
            buf_printf(out, "%s%s = %lld", lead, word, (long long)argument->integer);
    }
}

const char *sizes_suffix(Scope *s, const char *first, const char *second) {
    Buf out = {0};
    explain_names(s, &out, first, second);
    explain_names(s, &out, second, first);
    return buf_text(s->model->arena, &out);
}

bool warns_first(Elaboration *e, const Node *at) {
    for (uint32_t i = 0; i < e->warned.n; i++)
        if (e->warned.at[i] == at) return false;
    vec_push(e->model->arena, &e->warned, at);
    return true;
}
