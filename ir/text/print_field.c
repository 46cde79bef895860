/* The fields of a record: words, numbers, names, types and places, at the end of a text. */
#include <string.h>

#include "print.h"

void put_text(GraphPrinter *p, const char *text) { buf_write(p->out, text, strlen(text)); }

void put_words(GraphPrinter *p, const char *lead, const char *text) {
    put_text(p, lead);
    put_text(p, text);
}

void put_uint(GraphPrinter *p, const char *lead, uint64_t x) {
    char digits[20];
    size_t at = sizeof digits;
    do digits[--at] = (char)('0' + x % 10);
    while (x /= 10);
    put_text(p, lead);
    buf_write(p->out, digits + at, sizeof digits - at);
}

void put_int(GraphPrinter *p, const char *lead, int64_t x) {
    put_text(p, lead);
    put_uint(p, x < 0 ? "-" : "", x < 0 ? 0 - (uint64_t)x : (uint64_t)x);
}

void put_real(GraphPrinter *p, const char *lead, double x) {
    char text[40];
    put_words(p, lead, double_text(x, text));
}

void put_string(GraphPrinter *p, const char *lead, const char *s) {
    put_words(p, lead, "\"");
    for (size_t n = strlen(s), length; n; s += length, n -= length) {
        uint32_t c = utf8_next(s, n, &length);
        bool bad = c == UTF8_BAD && length == 1;
        if (bad || c < 0x20 || c == 0x7f || c == '"' || c == '\\')
            buf_printf(p->out, "\\x%02x", (unsigned char)*s);
        else
            buf_write(p->out, s, length);
    }
    put_text(p, "\"");
}

void put_name(GraphPrinter *p, const char *lead, const char *s) {
    if (*s && !text_is_word(s))
        put_string(p, lead, s);
    else
        put_words(p, lead, *s ? s : "-");
}

void put_type(GraphPrinter *p, const char *lead, const Type *t) {
    put_text(p, lead);
    type_print(t, p->out);
}

void put_axes(GraphPrinter *p, const char *lead, AxisSet axes) {
    put_text(p, lead);
    text_axes_print(&p->g->policy.mesh, axes, p->out);
}

void put_span(GraphPrinter *p, Span at) {
    if (!at.file || at.file >= p->g->diags->files.n) return;
    put_uint(p, " ", p->file[at.file]);
    put_uint(p, ":", at.line);
    put_uint(p, ":", at.col);
    put_uint(p, "-", at.end_line);
    put_uint(p, ":", at.end_col);
}

void put_address(GraphPrinter *p, uint64_t address) {
    if (address == NO_ADDRESS || p->g->level < LEVEL_SCHED) return;
    put_uint(p, address_is_host(address) ? " @host+" : " @", address_offset(address));
}
