/* fsdpc plot: draws logs of fsdp-run as a picture. A log has one JSON object per line; steps and
 * evaluations are used, other events ignored. Nothing is written before every log has been read.
 */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "driver.h"
#include "loss_plot.h"

typedef struct LogLine {
    DiagSet *ds;
    Span span; /* the whole line */
    const char *event;
    json_t *object;
} LogLine;

static bool report_line(LogLine *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool report_line(LogLine *l, const char *format, ...) {
    va_list args;
    va_start(args, format);
    Diag d = diag_vat(l->ds, E_log, l->span, format, args);
    va_end(args);
    diag_help(&d, "a log is written by `fsdp-run --log FILE`");
    diag_emit(&d);
    return false;
}

/* The number under a key. null stands for a number that is not finite and gives NAN. */
static bool take_number(LogLine *l, const char *key, double *out) {
    json_t *value = json_object_get(l->object, key);
    if (!value) return report_line(l, "event `%s` has no `%s`", l->event, key);
    if (!json_is_number(value) && !json_is_null(value))
        return report_line(l, "`%s` of event `%s` is not a number", key, l->event);
    *out = json_is_null(value) ? NAN : json_number_value(value);
    return true;
}

static bool take_point(LogLine *l, const char *key, CurvePoints *points) {
    CurvePoint p;
    if (!take_number(l, "step", &p.step) || !take_number(l, key, &p.value)) return false;
    if (!(p.step >= 0)) return report_line(l, "a step is a number from 0 on");
    double last = points->n ? points->at[points->n - 1].step : -1;
    if (p.step <= last) return report_line(l, "step %.0f comes after step %.0f", p.step, last);
    vec_push(l->ds->arena, points, p);
    return true;
}

static bool take_event(LogLine *l, Curve *c) {
    if (!json_is_object(l->object)) return report_line(l, "this line is not a JSON object");
    l->event = json_string_value(json_object_get(l->object, "event"));
    if (!l->event) return report_line(l, "this line has no `event`");
    if (!strcmp(l->event, "step"))
        return take_point(l, "loss", &c->loss) && take_point(l, "lr", &c->rate);
    return strcmp(l->event, "eval") || take_point(l, "loss", &c->eval);
}

static bool take_line(LogLine *l, Curve *c, const char *text, size_t n) {
    json_error_t error;
    l->object = json_loadb(text, n, 0, &error);
    if (!l->object) return report_line(l, "this line is not JSON: %s", error.text);
    bool good = take_event(l, c);
    json_decref(l->object);
    return good;
}

/* The contents of one log; false after a reported error (E0511). An incomplete last line, which a
 * run may be writing, is ignored. */
static bool curve_read(DiagSet *ds, Curve *c, const char *name, const char *text, size_t size) {
    LogLine l = {.ds = ds, .span = {.file = diag_add_file(ds, name, text, size), .col = 1}};
    *c = (Curve){.name = name, .each = 1};
    for (const char *at = text, *end; (end = memchr(at, '\n', (size_t)(text + size - at)));
         at = end + 1) {
        l.span.line = ++l.span.end_line;
        l.span.end_col = (uint32_t)(end - at) + 1;
        if (!take_line(&l, c, at, (size_t)(end - at))) return false;
    }
    if (c->loss.n || c->eval.n) return true;
    l.span = (Span){0};
    return report_line(&l, "%s: no step is in this log", name);
}

/* Replaces every `each` points by their mean, without those that are not finite. */
static void average_points(CurvePoints *p, uint32_t each) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n; i += each) {
        uint32_t last = MIN(i + each, p->n), finite = 0;
        CurvePoint sum = {0, 0};
        for (uint32_t k = i; k < last; k++) {
            sum.step += p->at[k].step;
            if (isfinite(p->at[k].value)) sum.value += p->at[k].value, finite++;
        }
        p->at[n++] = (CurvePoint){sum.step / (last - i), finite ? sum.value / finite : NAN};
    }
    p->n = n;
}

/* Reduces loss and rate to at most MOST_POINTS points, means of `each` steps. */
static void curve_thin(Curve *c) {
    c->each = MAX(1u, (c->loss.n + MOST_POINTS - 1) / MOST_POINTS);
    if (c->each == 1) return;
    average_points(&c->loss, c->each);
    average_points(&c->rate, c->each);
}

int driver_plot(Driver *d) {
    const Options *o = &d->options;
    Curve curves[MOST_CURVES];
    Buf out = {0};
    if (!o->output)
        return driver_mistake(d, E_missing_argument, "`-o -` writes the picture to standard output",
                              "`fsdpc plot` needs -o FILE for the picture");
    for (uint32_t i = 0; i < o->files.n; i++) {
        const char *file = o->files.at[i];
        if (driver_same_file(file, o->output))
            return driver_mistake(d, E_option_value, NULL, "the picture would replace the log %s",
                                  file);
        size_t size;
        const char *text = driver_read(d, file, &size);
        if (!curve_read(&d->diags, &curves[i], file, text, size)) return diag_exit_code(&d->diags);
        curve_thin(&curves[i]);
    }
    curve_svg(curves, o->files.n, o->given & BIT(RATE), &out);
    driver_write(o->output, out.at, out.n);
    buf_free(&out);
    return EXIT_DONE;
}
