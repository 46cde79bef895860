/* fsdpc plot: draws logs of fsdp-run as a picture. A log has one JSON object per line; steps and
 * evaluations are used, other events ignored. Nothing is written before every log has been read.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "driver.h"

enum { MOST_POINTS = 1500 };

typedef struct CurvePoint {
    double step, value; /* value NAN: not finite in the log; the curve has a gap */
} CurvePoint;

typedef VEC(CurvePoint) CurvePoints;

/* The contents of one log, in ascending order of steps. */
typedef struct Curve {
    const char *name; /* the log's file */
    CurvePoints loss, rate, eval;
    uint32_t each; /* steps that one point of loss and rate averages */
} Curve;

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
    return report_line(&l, "%s: this log has no steps", name);
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

/* ---- the picture: SVG of plain shapes and text, no scripts, no embedded fonts ----
 *
 * A panel has a frame in pixels, and steps and values at its edges; both axes have round numbers.
 * The panel of the loss shows the training loss as lines and the evaluation loss as circles; on
 * request a panel of the learning rate follows below. A legend is above. */

enum { WIDTH = 900, LEFT = 72, RIGHT = 876, LEGEND_ROW = 22, LOSS_HEIGHT = 400, RATE_HEIGHT = 110 };

/* Colours that are distinguishable with red-green colour blindness (Okabe and Ito). */
static const char *const colors[MOST_CURVES] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                "#e69f00", "#56b4e9", "#000000", "#7f7f7f"};

typedef struct Axis {
    double first, last, step; /* round numbers */
    int decimals;
} Axis;

typedef struct Panel {
    double top, bottom; /* pixels */
    Axis x, y;
} Panel;

/* About `ticks` round steps that cover low to high. */
static Axis axis_of(double low, double high, int ticks) {
    if (!(low < high)) {
        double around = low == 0 ? 1 : fabs(low) / 10;
        low -= around, high += around;
    }
    double rough = (high - low) / ticks, unit = pow(10, floor(log10(rough)));
    double step = rough <= unit       ? unit
                  : rough <= 2 * unit ? 2 * unit
                  : rough <= 5 * unit ? 5 * unit
                                      : 10 * unit;
    Axis a = {floor(low / step + 1e-9) * step, ceil(high / step - 1e-9) * step, step, 0};
    for (double s = step; a.decimals < 12 && fabs(s - round(s)) > 1e-6 * s; s *= 10) a.decimals++;
    return a;
}

static double x_of(const Panel *p, double step) {
    return LEFT + (step - p->x.first) / (p->x.last - p->x.first) * (RIGHT - LEFT);
}

static double y_of(const Panel *p, double value) {
    return p->bottom - (value - p->y.first) / (p->y.last - p->y.first) * (p->bottom - p->top);
}

/* Text from outside, escaped for XML. */
static void put_escaped(Buf *out, const char *text) {
    Buf clean = {0};
    diag_clean(&clean, text, strlen(text));
    for (size_t i = 0; i < clean.n; i++) {
        char c = clean.at[i];
        if (c == '<' || c == '>' || c == '&')
            buf_printf(out, "&#%d;", c);
        else
            buf_write(out, &c, 1);
    }
    buf_free(&clean);
}

/* ---- axes ---- */

static void put_number(Buf *out, double value, const Axis *a) {
    if (a->decimals > 3)
        buf_printf(out, "%.3g", value);
    else
        buf_printf(out, "%.*f", a->decimals, value);
}

static int ticks_of(const Axis *a) { return (int)lround((a->last - a->first) / a->step); }

static double tick(const Axis *a, int i) {
    double value = a->first + i * a->step;
    return fabs(value) < a->step / 2 ? 0 : value;
}

static void put_axes(Buf *out, const Panel *p, const char *title) {
    for (int i = 0; i <= ticks_of(&p->y); i++) {
        double value = tick(&p->y, i), y = y_of(p, value);
        buf_printf(out,
                   "<path class=\"grid\" d=\"M%d %.2fH%d\"/><text class=\"y\" x=\"%d\" y=\"%.2f\">",
                   LEFT, y, RIGHT, LEFT - 8, y + 4);
        put_number(out, value, &p->y);
        buf_printf(out, "</text>\n");
    }
    for (int i = 0; i <= ticks_of(&p->x); i++) {
        double value = tick(&p->x, i), x = x_of(p, value);
        buf_printf(
            out,
            "<path class=\"grid\" d=\"M%.2f %.2fV%.2f\"/><text class=\"x\" x=\"%.2f\" y=\"%.2f\">",
            x, p->top, p->bottom, x, p->bottom + 18);
        put_number(out, value, &p->x);
        buf_printf(out, "</text>\n");
    }
    buf_printf(out, "<path class=\"axis\" d=\"M%d %.2fV%.2fH%d\"/>\n", LEFT, p->top, p->bottom,
               RIGHT);
    buf_printf(out,
               "<text class=\"title\" transform=\"translate(18 %.2f) rotate(-90)\">%s</text>\n",
               (p->top + p->bottom) / 2, title);
}

/* ---- curves ---- */

/* A line through the points, interrupted where a value is not finite; an isolated point is a
 * dot. */
static void put_line(Buf *out, const Panel *p, const CurvePoints *points, const char *color) {
    for (uint32_t i = 0, n; i < points->n; i += n + !n) {
        for (n = 0; i + n < points->n && isfinite(points->at[i + n].value);) n++;
        const CurvePoint *at = &points->at[i];
        if (n == 1)
            buf_printf(out, "<circle class=\"dot\" cx=\"%.2f\" cy=\"%.2f\" r=\"2\" fill=\"%s\"/>\n",
                       x_of(p, at->step), y_of(p, at->value), color);
        if (n < 2) continue;
        buf_printf(out, "<polyline class=\"line\" stroke=\"%s\" points=\"", color);
        for (uint32_t k = 0; k < n; k++)
            buf_printf(out, "%s%.2f,%.2f", k ? " " : "", x_of(p, at[k].step), y_of(p, at[k].value));
        buf_printf(out, "\"/>\n");
    }
}

static void put_circles(Buf *out, const Panel *p, const CurvePoints *points, const char *color) {
    for (uint32_t i = 0; i < points->n; i++) {
        const CurvePoint *at = &points->at[i];
        if (!isfinite(at->value)) continue;
        buf_printf(out,
                   "<circle class=\"eval\" cx=\"%.2f\" cy=\"%.2f\" r=\"4\" "
                   "stroke=\"%s\"><title>evaluation "
                   "after %.0f steps: %.6g</title></circle>\n",
                   x_of(p, at->step), y_of(p, at->value), color, at->step, at->value);
    }
}

static const CurvePoint *last_finite(const CurvePoints *points) {
    for (uint32_t i = points->n; i > 0; i--)
        if (isfinite(points->at[i - 1].value)) return &points->at[i - 1];
    return NULL;
}

static void put_legend(Buf *out, const Curve *c, uint32_t i) {
    double y = 18 + LEGEND_ROW * (double)i;
    buf_printf(out,
               "<path class=\"line\" stroke=\"%s\" d=\"M%d %.2fh26\"/><text class=\"name\" "
               "x=\"%d\" y=\"%.2f\">",
               colors[i], LEFT, y, LEFT + 34, y + 4);
    put_escaped(out, c->name);
    const CurvePoint *loss = last_finite(&c->loss), *eval = last_finite(&c->eval);
    if (loss) buf_printf(out, ": loss %.4g", loss->value);
    if (c->each > 1) buf_printf(out, " (means of %u steps)", c->each);
    buf_printf(out, "</text>\n");
    if (eval)
        buf_printf(out,
                   "<circle class=\"key\" cx=\"%d\" cy=\"%.2f\" r=\"4\" stroke=\"%s\"/><text "
                   "class=\"last\" "
                   "x=\"%d\" y=\"%.2f\">evaluation %.4g</text>\n",
                   RIGHT - 128, y, colors[i], RIGHT, y + 4, eval->value);
}

/* ---- the whole ---- */

static void widen(const CurvePoints *points, double *low, double *high, double *last) {
    for (uint32_t i = 0; i < points->n; i++) {
        *last = fmax(*last, points->at[i].step);
        *low = fmin(*low, points->at[i].value);
        *high = fmax(*high, points->at[i].value);
    }
}

static Panel panel(const Curve *c, uint32_t n, bool rate, double top, double height) {
    double low = NAN, high = NAN, last = 0, ignored = NAN;
    for (uint32_t i = 0; i < n; i++) {
        widen(rate ? &c[i].rate : &c[i].loss, &low, &high, &last);
        widen(&c[i].eval, rate ? &ignored : &low, rate ? &ignored : &high, &last);
    }
    if (!isfinite(low)) low = high = 0;
    if (rate) low = fmin(low, 0);
    return (Panel){top, top + height, axis_of(0, fmax(last, 1), 8),
                   axis_of(low, high, rate ? 2 : 7)};
}

static const char style[] =
    "<style>text{font:12px sans-serif;fill:#333}.x{text-anchor:middle}.y,.last{text-anchor:end}"
    ".title{text-anchor:middle;font-size:13px}.grid{stroke:#e6e6e6}.axis{fill:none;stroke:#555}"
    ".line{fill:none;stroke-width:1.4;stroke-linejoin:round}.eval,.key{fill:#fff;stroke-width:2}</"
    "style>\n";

static void curve_svg(const Curve *c, uint32_t n, bool rate, Buf *out) {
    double top = 24 + LEGEND_ROW * (double)n,
           foot = top + LOSS_HEIGHT + (rate ? RATE_HEIGHT + 40 : 0);
    Panel loss = panel(c, n, false, top, LOSS_HEIGHT),
          below = panel(c, n, true, top + LOSS_HEIGHT + 40, RATE_HEIGHT);
    buf_printf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d "
        "%.0f\">\n%s<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
        WIDTH, foot + 50, WIDTH, foot + 50, style);
    for (uint32_t i = 0; i < n; i++) put_legend(out, &c[i], i);
    put_axes(out, &loss, "loss");
    for (uint32_t i = 0; i < n; i++) put_line(out, &loss, &c[i].loss, colors[i]);
    for (uint32_t i = 0; i < n; i++) put_circles(out, &loss, &c[i].eval, colors[i]);
    if (rate) put_axes(out, &below, "learning rate");
    for (uint32_t i = 0; rate && i < n; i++) put_line(out, &below, &c[i].rate, colors[i]);
    buf_printf(out, "<text class=\"title\" x=\"%d\" y=\"%.2f\">step</text>\n</svg>\n",
               (LEFT + RIGHT) / 2, foot + 40);
}

int driver_plot(Driver *d) {
    const Options *o = &d->options;
    Curve curves[MOST_CURVES] = {{0}};
    Buf out = {0};
    if (!o->output)
        return driver_mistake(d, E_missing_argument, "`-o -` writes the picture to standard output",
                              "`fsdpc plot` needs -o FILE for the picture");
    for (uint32_t i = 0; i < o->files.n; i++) {
        const char *file = o->files.at[i];
        size_t size;
        const char *text = driver_read(d, file, &size);
        if (!curve_read(&d->diags, &curves[i], file, text, size)) return diag_exit_code(&d->diags);
        curve_thin(&curves[i]);
    }
    if (!driver_keeps_files(d, NULL)) return EXIT_USER;
    curve_svg(curves, o->files.n, o->given & BIT(RATE), &out);
    driver_write(o->output, out.at, out.n);
    buf_free(&out);
    return EXIT_DONE;
}
