/* The codes of diagnostics, and the text form of one.
 *
 *   error[E0204]: message            multi-line spans:
 *    --> file:line:col
 *     |                                3 |   y = add(
 *   3 | the line                         |  _____^
 *     |     ^^^^                       4 | |     a,
 *     = help: ...                      5 | | )
 *                                        | |_^
 *
 * The source is shown as it is, but made safe and measurable first: a tab becomes four blanks,
 * everything that cannot be shown becomes U+FFFD, and of a long line only a window around the
 * interesting place is printed. A span may be invalid (past the end of the line or the file, end
 * before start); it is clamped, because a wrong caret is better than no message.
 *
 * Columns: `col` counts bytes from 1 (Span), `at` counts shown columns from 0.
 */
#include <string.h>

#include "diag.h"

const DiagInfo diag_info[DIAG_COUNT] = {
#define DIAG(code, id, severity, exit, title, text)                                                \
    [id] = {#code, DIAG_##severity, EXIT_##exit, NULL, title, text},
#define WARN(code, id, severity, name, title, text)                                                \
    [id] = {#code, DIAG_##severity, EXIT_DONE, name, title, text},
#include "diag_codes.def"
#undef DIAG
};

enum {
    TAB_WIDTH = 4,
    WINDOW = 120,   /* shown columns of a source line */
    LEAD = 30,      /* of these before the place when the line is cut */
    SHOWN_LINES = 6 /* of a multi-line span; the middle of a longer one is left out */
};

#define RED "\033[1;31m"
#define YELLOW "\033[1;33m"
#define BLUE "\033[1;34m"
#define GREEN "\033[1;32m"
#define BOLD "\033[1m"
#define RESET "\033[0m"

typedef struct Renderer {
    Buf *out;
    const DiagSet *set;
    int gutter; /* digits of the largest line number */
} Renderer;

typedef struct SourceLine {
    const char *text;
    size_t n;        /* bytes, without the line's end */
    size_t from, to; /* window, in shown columns */
    size_t width;    /* of the whole line */
} SourceLine;

static void paint(Renderer *r, const char *color) {
    if (r->set->color) buf_printf(r->out, "%s", color);
}

static bool is_unsafe(uint32_t c) {
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

/* Columns that terminals give a character: the broad blocks of Unicode's East Asian Width, and
 * none for combining marks. */
static size_t shown_width(uint32_t c) {
    if ((c >= 0x300 && c <= 0x36f) || (c >= 0x200b && c <= 0x200d) || (c >= 0xfe00 && c <= 0xfe0f))
        return 0;
    bool wide = (c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) ||
                (c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) ||
                (c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
                (c >= 0x1f300 && c <= 0x1faff) || (c >= 0x20000 && c <= 0x3fffd);
    return wide ? 2 : 1;
}

static void put_character(Buf *out, const char *bytes, size_t length, uint32_t c) {
    if (c == UTF8_BAD || is_unsafe(c))
        buf_write(out, "\xef\xbf\xbd", 3);
    else
        buf_write(out, bytes, length);
}

void diag_clean(Buf *out, const char *text, size_t n) {
    for (size_t i = 0, length; i < n; i += length) {
        uint32_t c = utf8_next(text + i, n - i, &length);
        if (c == '\n' || c == '\t')
            buf_write(out, text + i, 1);
        else
            put_character(out, text + i, length, c);
    }
}

/* One of our texts with words of the user in it; further lines start under the first one. */
static void put_text(Renderer *r, const char *text, size_t indent) {
    for (const char *line = text;; line++) {
        size_t n = strcspn(line, "\n");
        diag_clean(r->out, line, n);
        line += n;
        if (!*line) return;
        buf_printf(r->out, "\n%*s", (int)indent, "");
    }
}

static void put_repeated(Renderer *r, char c, size_t n) {
    for (size_t i = 0; i < n; i++) buf_write(r->out, &c, 1);
}

/* Line `number` of the file, or an empty one past the last. */
static SourceLine find_line(const SourceFile *file, uint32_t number) {
    const char *at = file->text, *end = file->text + file->size;
    for (uint32_t i = 1; i < number && at < end; i++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        at = newline ? newline + 1 : end;
    }
    const char *newline = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
    SourceLine line = {.text = at, .n = (size_t)((newline ? newline : end) - at)};
    if (line.n && line.text[line.n - 1] == '\r') line.n--;
    return line;
}

static size_t glyph_width(uint32_t c) { return c == '\t' ? TAB_WIDTH : shown_width(c); }

/* Shown column at which byte column col starts; past the end: the width of the line. */
static size_t shown_column(const SourceLine *line, uint32_t col) {
    size_t at = 0;
    for (size_t i = 0, length; i < line->n && i + 1 < col; i += length) {
        uint32_t c = utf8_next(line->text + i, line->n - i, &length);
        if (i + length + 1 > col) break; /* col is inside this character */
        at += glyph_width(c);
    }
    return at;
}

/* Sets the window so that shown column `focus` is inside. */
static void set_window(SourceLine *line, size_t focus) {
    line->width = shown_column(line, UINT32_MAX);
    line->from = 0;
    line->to = line->width;
    if (line->width <= WINDOW) return;
    line->from = focus > LEAD ? focus - LEAD : 0;
    line->from = MIN(line->from, line->width - WINDOW);
    line->to = line->from + WINDOW;
}

/* The screen column of a shown column of the line; a leading "..." shifts it. */
static size_t on_screen(const SourceLine *line, size_t at) {
    at = MIN(MAX(at, line->from), line->to);
    return at - line->from + (line->from ? 3 : 0);
}

static void put_source(Renderer *r, const SourceLine *line) {
    size_t start = r->out->n, at = 0;
    if (line->from) buf_printf(r->out, "...");
    for (size_t i = 0, length; i < line->n && at < line->to; i += length) {
        uint32_t c = utf8_next(line->text + i, line->n - i, &length);
        size_t width = glyph_width(c), next = at + width;
        if (at >= line->from && next <= line->to && c != '\t')
            put_character(r->out, line->text + i, length, c);
        else /* a tab, or a wide character that the window cuts: the visible part is blank */
            put_repeated(r, ' ', next > line->from ? MIN(next, line->to) - MAX(at, line->from) : 0);
        at = next;
    }
    if (line->to < line->width) buf_printf(r->out, "...");
    while (r->out->n > start && r->out->at[r->out->n - 1] == ' ') r->out->n--;
}

/* "12 | " or, with number 0, "   | ", without the last blank. */
static void put_gutter(Renderer *r, uint32_t number) {
    paint(r, BLUE);
    if (number)
        buf_printf(r->out, "%*u |", r->gutter, number);
    else
        buf_printf(r->out, "%*s |", r->gutter, "");
    paint(r, RESET);
}

static void put_source_row(Renderer *r, uint32_t number, const char *mark, const char *color,
                           const SourceLine *line) {
    put_gutter(r, number);
    if (mark[0] == '|') {
        buf_printf(r->out, " ");
        paint(r, color);
        buf_printf(r->out, "|");
        paint(r, RESET);
        if (line->n) buf_printf(r->out, " ");
    } else if (line->n) {
        buf_printf(r->out, " %s", mark);
    }
    put_source(r, line);
    buf_printf(r->out, "\n");
}

static void show_one_line(Renderer *r, Span at, const char *color) {
    SourceLine line = find_line(&r->set->files.at[at.file], at.line);
    size_t from = shown_column(&line, at.col), to = shown_column(&line, at.end_col);
    set_window(&line, from);
    put_source_row(r, at.line, "", color, &line);
    put_gutter(r, 0);
    put_repeated(r, ' ', 1 + on_screen(&line, from));
    paint(r, color);
    size_t carets = on_screen(&line, to) - on_screen(&line, from);
    put_repeated(r, '^', MAX(carets, 1));
    paint(r, RESET);
    buf_printf(r->out, "\n");
}

static void show_lines(Renderer *r, Span at, const char *color) {
    const SourceFile *file = &r->set->files.at[at.file];
    SourceLine line = find_line(file, at.line);
    size_t from = shown_column(&line, at.col);
    set_window(&line, from);
    put_source_row(r, at.line, "  ", color, &line);
    put_gutter(r, 0);
    buf_printf(r->out, "  ");
    paint(r, color);
    put_repeated(r, '_', 1 + on_screen(&line, from));
    buf_printf(r->out, "^");
    paint(r, RESET);
    buf_printf(r->out, "\n");

    bool cut = at.end_line - at.line + 1 > SHOWN_LINES;
    for (uint32_t number = at.line + 1; number <= at.end_line; number++) {
        if (cut && number == at.line + SHOWN_LINES / 2) {
            paint(r, BLUE);
            buf_printf(r->out, "...\n");
            paint(r, RESET);
            number = at.end_line - 1;
        }
        line = find_line(file, number);
        /* The caret goes under the last byte of the span. */
        bool last = number == at.end_line;
        size_t to = last ? shown_column(&line, at.end_col > 1 ? at.end_col - 1 : 1) : 0;
        set_window(&line, to);
        put_source_row(r, number, "|", color, &line);
        if (!last) continue;
        put_gutter(r, 0);
        buf_printf(r->out, " ");
        paint(r, color);
        buf_printf(r->out, "|");
        put_repeated(r, '_', 1 + on_screen(&line, to));
        buf_printf(r->out, "^");
        paint(r, RESET);
        buf_printf(r->out, "\n");
    }
}

/* Makes a usable span of any input; file 0 if there is none. */
static Span clamp_span(const DiagSet *ds, Span at) {
    if (!at.file || at.file >= ds->files.n || !at.line) return (Span){0};
    const SourceFile *file = &ds->files.at[at.file];
    uint32_t lines = file->text ? 1 : UINT32_MAX;
    for (size_t i = 0; i < file->size; i++) lines += file->text[i] == '\n';
    at.line = MIN(at.line, lines);
    at.end_line = MIN(MAX(at.end_line, at.line), lines);
    at.col = MAX(at.col, 1);
    if (at.end_line > at.line && at.end_col <= 1) {
        /* The last byte is the newline of the previous line. */
        at.end_line--;
        at.end_col = UINT32_MAX;
    }
    if (at.end_line == at.line && at.end_col <= at.col)
        at.end_col = at.col == UINT32_MAX ? at.col : at.col + 1;
    return at;
}

static void show_place(Renderer *r, Span at, const char *color) {
    paint(r, BLUE);
    buf_printf(r->out, "%*s-->", r->gutter, "");
    paint(r, RESET);
    buf_printf(r->out, " ");
    put_text(r, r->set->files.at[at.file].name, 0);
    buf_printf(r->out, ":%u:%u\n", at.line, at.col);
    if (!r->set->files.at[at.file].text) return; /* only its name is known */
    put_gutter(r, 0);
    buf_printf(r->out, "\n");
    if (at.line == at.end_line)
        show_one_line(r, at, color);
    else
        show_lines(r, at, color);
}

static void put_remark(Renderer *r, const char *kind, const char *text) {
    paint(r, BLUE);
    buf_printf(r->out, "%*s =", r->gutter, "");
    paint(r, RESET);
    paint(r, BOLD);
    buf_printf(r->out, " %s:", kind);
    paint(r, RESET);
    buf_printf(r->out, " ");
    put_text(r, text, (size_t)r->gutter + 5 + strlen(kind));
    buf_printf(r->out, "\n");
}

static void put_title(Renderer *r, const char *kind, const char *code, const char *color,
                      const char *text) {
    paint(r, color);
    buf_printf(r->out, "%s", kind);
    if (code) buf_printf(r->out, "[%s]", code);
    paint(r, RESET);
    paint(r, BOLD);
    buf_printf(r->out, ": ");
    put_text(r, text, 2);
    paint(r, RESET);
    buf_printf(r->out, "\n");
}

static int digits(uint32_t x) {
    int n = 1;
    while (x >= 10) {
        x /= 10;
        n++;
    }
    return n;
}

void diag_render_text(const Diag *d, DiagSeverity severity, Buf *out) {
    static const char *const kinds[] = {"error", "warning", "note"};
    static const char *const colors[] = {RED, YELLOW, GREEN};
    const DiagInfo *info = &diag_info[d->code];
    Renderer r = {.out = out, .set = d->set, .gutter = 1};
    Span place = clamp_span(d->set, d->span), places[ARRAY_LEN(d->notes)];
    int n_notes = MIN(d->n_notes, (int)ARRAY_LEN(d->notes));
    r.gutter = MAX(r.gutter, digits(place.end_line));
    for (int i = 0; i < n_notes; i++) {
        places[i] = clamp_span(d->set, d->notes[i].span);
        r.gutter = MAX(r.gutter, digits(places[i].end_line));
    }

    put_title(&r, kinds[severity], info->code, colors[severity], d->message);
    if (place.file) show_place(&r, place, colors[severity]);
    bool remarks = d->help || d->n_notes > n_notes;
    for (int i = 0; i < n_notes; i++) remarks |= !places[i].file;
    if (place.file && remarks) {
        put_gutter(&r, 0);
        buf_printf(out, "\n");
    }
    for (int i = 0; i < n_notes; i++)
        if (!places[i].file) put_remark(&r, "note", d->notes[i].text);
    if (d->help) put_remark(&r, "help", d->help);
    for (int i = 0; i < n_notes; i++) {
        if (!places[i].file) continue;
        put_title(&r, "note", NULL, GREEN, d->notes[i].text);
        show_place(&r, places[i], GREEN);
    }
    if (d->n_notes > n_notes) {
        char *more = NULL;
        Buf text = {0};
        buf_printf(&text, "and %d more notes like these", d->n_notes - n_notes);
        more = buf_take(&text);
        put_remark(&r, "note", more);
        buf_free(&(Buf){.at = more});
    }
    buf_printf(out, "\n");
}
