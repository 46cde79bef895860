/* What lexer, layout and parser share: their errors, and whether bytes are UTF-8. */
#include "parser.h"

Diag parser_error(Parser *p, DiagCode code, Span at, const char *format, ...) {
    va_list args;
    va_start(args, format);
    Diag d = diag_vat(p->ds, code, at, format, args);
    va_end(args);
    return d;
}

void parser_emit(Parser *p, Diag *d) {
    if (p->errors < MAX_SYNTAX_ERRORS) diag_emit(d);
    if (++p->errors == MAX_SYNTAX_ERRORS) {
        Diag last =
            diag_at(p->ds, E_too_many_errors, d->span, "too many syntax errors; giving up here");
        diag_emit(&last);
    }
}

bool text_is_utf8(const char *s, size_t n) {
    const unsigned char *at = (const unsigned char *)s, *end = at + n;
    while (at < end) {
        unsigned c = *at++;
        if (c < 0x80) continue;
        int more = c >= 0xf0 && c < 0xf5   ? 3
                   : c >= 0xe0 && c < 0xf0 ? 2
                   : c >= 0xc2 && c < 0xe0 ? 1
                                           : -1;
        if (more < 0 || end - at < more) return false;
        unsigned lowest = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
        unsigned highest = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
        if (*at < lowest || *at > highest) return false;
        for (int i = 0; i < more; i++)
            if ((*at++ & 0xc0) != 0x80) return false;
    }
    return true;
}
