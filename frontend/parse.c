/* Parsing one source: sets the lexer on the bytes, runs the parser, counts errors. */
#include <string.h>

#include "frontend.h"
#include "layout.h"
#include "lexer.h"

Diag parser_error(Parser *p, const char *code, Span at, const char *format, ...) {
    va_list args;
    Buf text = {0};
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    Diag d = diag_error(p->ds, code, at, "%s", text.at ? text.at : "");
    buf_free(&text);
    return d;
}

void parser_emit(Parser *p, Diag *d) {
    if (p->errors < MAX_SYNTAX_ERRORS) diag_emit(d);
    if (++p->errors == MAX_SYNTAX_ERRORS) {
        Diag last = diag_error(p->ds, "E0107", d->span, "too many syntax errors; giving up here");
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

Node *parse_text(DiagSet *ds, uint32_t file, const char *text, size_t size, ParseStart start,
                 size_t offset) {
    Parser p = {.ds = ds,
                .arena = ds->arena,
                .file = file,
                .line = 1,
                .col = (uint32_t)offset + 1,
                .start_token = start == PARSE_FILE ? START_FILE : START_EXPRESSION,
                .again = -1,
                .fresh = true};
    p.last_span = (Span){file, 1, p.col, 1, p.col};
    void *scanner = lexer_open(&p, text + offset, size - offset);
    int result = fsd_parse(scanner, &p);
    lexer_close(scanner);
    if (result == 2 && !p.abandoned) fail_environment("no memory for parsing the model");
    return result == 0 && p.errors == 0 ? p.root : NULL;
}

Node *parse_source(DiagSet *ds, uint32_t file, ParseStart start, size_t offset) {
    const SourceFile *source = &ds->files.at[file];
    if (source->size > MAX_SOURCE_BYTES) {
        Diag d = diag_error(ds, "E0108", (Span){.file = file},
                            "%s has %zu bytes; a model file has at most %u", source->name,
                            source->size, (unsigned)MAX_SOURCE_BYTES);
        diag_emit(&d);
        return NULL;
    }
    return parse_text(ds, file, source->text, source->size, start, offset);
}

bool frontend_parse_bytes(DiagSet *ds, const char *name, const void *bytes, size_t n) {
    char *text = arena_alloc(ds->arena, n + 1);
    if (n) memcpy(text, bytes, n);
    return parse_source(ds, diag_add_file(ds, name, text, n), PARSE_FILE, 0) != NULL;
}
