/* What lexer, newlines and parser share: the keywords, reporting errors up to a limit, and
 * recognizing UTF-8 and characters that do not show.
 */
#include <string.h>

#include "lexer.h"

/* Those that begin a block of a file come first. */
static const struct {
    const char *text;
    int token;
} keywords[] = {{"module", MODULE}, {"config", CONFIG}, {"preset", PRESET},   {"use", USE},
                {"model", MODEL},   {"tie", TIE},       {"require", REQUIRE}, {"for", FOR},
                {"in", IN},         {"if", IF},         {"else", ELSE},       {"return", RETURN},
                {"as", AS},         {"true", TRUE},     {"false", FALSE},     {"none", NONE},
                {"and", AND},       {"or", OR},         {"not", NOT}};

int word_token(const char *text) {
    size_t i = 0;
    while (i < ARRAY_LEN(keywords) && strcmp(keywords[i].text, text)) i++;
    return i < ARRAY_LEN(keywords) ? keywords[i].token : ID;
}

const char *parse_keyword(size_t i) { return i < ARRAY_LEN(keywords) ? keywords[i].text : NULL; }

Diag parser_error(Parser *p, DiagCode code, Span at, const char *format, ...) {
    va_list args;
    va_start(args, format);
    Diag d = diag_vat(p->ds, code, at, format, args);
    va_end(args);
    return d;
}

void parser_emit(Parser *p, Diag *d) {
    if (p->errors < MAX_SYNTAX_ERRORS) diag_emit(d);
    if (++p->errors == MAX_SYNTAX_ERRORS)
        diag_report(p->ds, E_too_many_errors, d->span, NULL,
                    "too many syntax errors; giving up here");
}

bool parser_report(Parser *p, DiagCode code, Span at, const char *help, const char *format, ...) {
    va_list args;
    va_start(args, format);
    Diag d = diag_vat(p->ds, code, at, format, args);
    va_end(args);
    d.help = help;
    parser_emit(p, &d);
    return false;
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

const char *character_name(const char *s, size_t n) {
    static const struct {
        uint32_t code;
        const char *name;
    } names[] = {{0x00a0, "a no-break space (U+00A0)"},
                 {0x00ad, "a soft hyphen (U+00AD)"},
                 {0x2002, "an en space (U+2002)"},
                 {0x2003, "an em space (U+2003)"},
                 {0x2009, "a thin space (U+2009)"},
                 {0x200b, "a zero-width space (U+200B)"},
                 {0x200c, "a zero-width non-joiner (U+200C)"},
                 {0x200d, "a zero-width joiner (U+200D)"},
                 {0x200e, "a left-to-right mark (U+200E)"},
                 {0x200f, "a right-to-left mark (U+200F)"},
                 {0x2028, "a line separator (U+2028)"},
                 {0x2029, "a paragraph separator (U+2029)"},
                 {0x202a, "a left-to-right embedding (U+202A)"},
                 {0x202e, "a right-to-left override (U+202E)"},
                 {0x202f, "a narrow no-break space (U+202F)"},
                 {0x2060, "a word joiner (U+2060)"},
                 {0x3000, "an ideographic space (U+3000)"},
                 {0xfeff, "a byte order mark (U+FEFF)"}};
    size_t length = 0;
    uint32_t code = n ? utf8_next(s, n, &length) : 0;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (names[i].code == code) return names[i].name;
    return NULL;
}
