/* The set of source files, the making of diagnostics, and the JSON form.
 *
 * JSON: one object a line. Without a place file is null and the numbers are 0. end_col is one past
 * the last byte, as in Span. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diag.h"
#include "json_text.h"

const DiagInfo *diag_find(const char *code) {
    for (int i = 0; i < DIAG_COUNT; i++)
        if (!strcmp(diag_info[i].code, code)) return &diag_info[i];
    return NULL;
}

int diag_exit_code(const DiagSet *ds) {
    return ds->ends_with[EXIT_USER]          ? EXIT_USER
           : ds->ends_with[EXIT_CORRUPT]     ? EXIT_CORRUPT
           : ds->ends_with[EXIT_ENVIRONMENT] ? EXIT_ENVIRONMENT
                                             : EXIT_DONE;
}

static void write_stderr(void *context, const char *text, size_t n) {
    (void)context;
    fwrite(text, 1, n, stderr);
    fflush(stderr);
}

void diag_init(DiagSet *ds, Arena *a) {
    *ds = (DiagSet){.arena = a, .write = write_stderr};
    SourceFile none = {.name = "", .base = "", .text = ""};
    vec_push(a, &ds->files, none);
}

void diag_fork(DiagSet *ds, const DiagSet *from, Arena *a) {
    *ds = *from;
    ds->arena = a;
    ds->errors = ds->warnings = ds->raised = 0;
    memset(ds->ends_with, 0, sizeof ds->ends_with);
    ds->holding = false;
    memset(&ds->held, 0, sizeof ds->held);
    vec_copy(a, &ds->files);
}

static void write_buffer(void *context, const char *text, size_t n) { buf_write(context, text, n); }

void diag_capture(DiagSet *ds, Buf *out) {
    ds->write = write_buffer;
    ds->write_context = out;
}

uint32_t diag_add_file(DiagSet *ds, const char *name, const char *text, size_t size) {
    SourceFile file = {.name = arena_strdup(ds->arena, name), .text = text, .size = size};
    const char *slash = strrchr(file.name, '/');
    file.base = slash ? slash + 1 : file.name;
    file.hash = hash_bytes(text, size, 0);
    vec_push(ds->arena, &ds->files, file);
    return ds->files.n - 1;
}

Diag diag_vat(DiagSet *ds, DiagCode code, Span at, const char *format, va_list args) {
    return (Diag){
        .set = ds, .code = code, .span = at, .message = arena_vprintf(ds->arena, format, args)};
}

Diag diag_at(DiagSet *ds, DiagCode code, Span at, const char *format, ...) {
    va_list args;
    va_start(args, format);
    Diag d = diag_vat(ds, code, at, format, args);
    va_end(args);
    return d;
}

bool diag_report(DiagSet *ds, DiagCode code, Span at, const char *help, const char *format, ...) {
    va_list args;
    va_start(args, format);
    Diag d = diag_vat(ds, code, at, format, args);
    va_end(args);
    d.help = help;
    diag_emit(&d);
    return false;
}

void diag_more(Diag *d, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *more = arena_vprintf(d->set->arena, format, args);
    va_end(args);
    d->message = arena_printf(d->set->arena, "%s%s", d->message, more);
}

void diag_note(Diag *d, Span at, const char *format, ...) {
    int i = d->n_notes++;
    if (i >= (int)ARRAY_LEN(d->notes)) return;
    va_list args;
    va_start(args, format);
    d->notes[i] = (DiagNote){at, arena_vprintf(d->set->arena, format, args)};
    va_end(args);
}

void diag_help(Diag *d, const char *format, ...) {
    va_list args;
    va_start(args, format);
    d->help = arena_vprintf(d->set->arena, format, args);
    va_end(args);
}

static json_t *json_text(const char *text) { return text ? json_word(text) : json_null(); }

static void json_put_span(const DiagSet *ds, json_t *object, Span at) {
    if (at.file >= ds->files.n) at = (Span){0};
    json_put(object, "file", at.file ? json_text(ds->files.at[at.file].name) : json_null());
    json_put(object, "line", json_integer(at.file ? at.line : 0));
    json_put(object, "col", json_integer(at.file ? at.col : 0));
    json_put(object, "end_line", json_integer(at.file ? at.end_line : 0));
    json_put(object, "end_col", json_integer(at.file ? at.end_col : 0));
}

/* What a code is under the set's choices. */
static DiagSeverity diag_severity(const DiagSet *ds, DiagCode code) {
    DiagSeverity s = diag_info[code].severity;
    bool raised = ds->as_error[code] || (ds->all_as_errors && s == DIAG_WARNING);
    return raised ? DIAG_ERROR : s;
}

static json_t *json_diag(const DiagSet *ds, const char *code, DiagSeverity severity,
                         const char *message, Span at) {
    static const char *const severities[] = {"error", "warning", "note"};
    json_t *object = json_packed("{}");
    json_put(object, "code", json_text(code));
    json_put(object, "severity", json_text(severities[severity]));
    json_put(object, "message", json_text(message));
    json_put_span(ds, object, at);
    return object;
}

static void render_json(const Diag *d, Buf *out) {
    json_t *notes = json_packed("[]");
    json_t *object = json_diag(d->set, diag_info[d->code].code, diag_severity(d->set, d->code),
                               d->message, d->span);
    for (int i = 0; i < MIN(d->n_notes, (int)ARRAY_LEN(d->notes)); i++) {
        json_t *note = json_packed("{s: o}", "message", json_text(d->notes[i].text));
        json_put_span(d->set, note, d->notes[i].span);
        json_push(notes, note);
    }
    json_put(object, "notes", notes);
    json_put(object, "help", json_text(d->help));
    json_write(object, JSON_COMPACT, out);
}

void diag_failure_as_json(const char *text) {
    Buf out = {0}, message = {0};
    const char *help = strstr(text, "\nhelp: ");
    buf_printf(&message, "%.*s", help ? (int)(help - text) : (int)strlen(text), text);
    json_t *object = json_diag(&(DiagSet){0}, NULL, DIAG_ERROR, message.at, (Span){0});
    json_put(object, "notes", json_packed("[]"));
    json_put(object, "help", json_text(help ? help + strlen("\nhelp: ") : NULL));
    json_write(object, JSON_COMPACT, &out);
    fputs(out.at, stderr);
    buf_free(&message);
    buf_free(&out);
}

bool diag_choose(DiagSet *ds, const char *choice) {
    bool silent = !strncmp(choice, "no-", 3), error = !strncmp(choice, "error=", 6);
    const char *name = choice + (silent ? 3 : error ? 6 : 0);
    if (!strcmp(choice, "error")) return ds->all_as_errors = true;
    for (int i = 0; i < DIAG_COUNT; i++) {
        const DiagInfo *info = &diag_info[i];
        if (!info->name || (strcmp(info->name, name) && strcmp(info->code, name))) continue;
        ds->silent[i] = silent;
        if (error) ds->as_error[i] = true;
        return true;
    }
    return false;
}

void diag_emit(Diag *d) {
    DiagSet *ds = d->set;
    const DiagInfo *info = &diag_info[d->code];
    DiagSeverity severity = diag_severity(ds, d->code);
    if (ds->silent[d->code]) return;
    if (severity == DIAG_ERROR) {
        ds->errors++;
        ds->raised += info->severity != DIAG_ERROR;
        ds->ends_with[info->severity == DIAG_ERROR ? info->exit_code : EXIT_USER] = true;
    }
    if (severity == DIAG_WARNING) ds->warnings++;
    if (severity != DIAG_ERROR && ds->quiet) return;
    Buf out = {0};
    if (ds->format == DIAG_JSON)
        render_json(d, &out);
    else
        diag_render_text(d, severity, &out);
    if (ds->holding) {
        HeldDiag held = {d->span, ds->held.n, arena_strndup(ds->arena, out.at, out.n)};
        vec_push(ds->arena, &ds->held, held);
    } else {
        ds->write(ds->write_context, out.at, out.n);
    }
    buf_free(&out);
}

void diag_hold(DiagSet *ds) { ds->holding = true; }

static int by_place(const void *left, const void *right) {
    const HeldDiag *a = left, *b = right;
    uint32_t places[][2] = {{a->at.file - 1, b->at.file - 1}, /* no place is the largest */
                            {a->at.line, b->at.line},
                            {a->at.col, b->at.col},
                            {a->order, b->order}};
    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        if (places[i][0] != places[i][1]) return places[i][0] < places[i][1] ? -1 : 1;
    return 0;
}

void diag_release(DiagSet *ds) {
    ds->holding = false;
    if (ds->held.n) qsort(ds->held.at, ds->held.n, sizeof *ds->held.at, by_place);
    for (uint32_t i = 0; i < ds->held.n; i++)
        if (!i || strcmp(ds->held.at[i].text, ds->held.at[i - 1].text))
            ds->write(ds->write_context, ds->held.at[i].text, strlen(ds->held.at[i].text));
    ds->held.n = 0;
}
