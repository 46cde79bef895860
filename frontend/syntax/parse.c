/* Parsing one source: a file, the value of -s, or a default.
 *
 * In: text and where it comes from in the table of files. Out: the tree, or NULL after errors,
 * which were reported. Sets the lexer on the bytes, runs the parser and counts errors; a byte order
 * mark is skipped, a file above 64 MiB refused.
 */
#include <string.h>

#include "lexer.h"

Node *parse_text(DiagSet *ds, uint32_t file, const char *text, size_t size, ParseStart start,
                 size_t offset) {
    Parser p = {.ds = ds,
                .arena = ds->arena,
                .file = file,
                .line = 1,
                .col = (uint32_t)offset + 1,
                .start_token = start == PARSE_FILE ? START_FILE : START_EXPRESSION,
                .again = -1,
                .is_file = start == PARSE_FILE,
                .fresh = true};
    p.last_span = (Span){file, 1, p.col, 1, p.col};
    /* A byte order mark only says that the file is UTF-8, as it must be. */
    if (start == PARSE_FILE && size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) offset = 3;
    void *scanner = lexer_open(&p, text + offset, size - offset);
    int result = fsd_parse(scanner, &p);
    lexer_close(scanner);
    if (result == 2 && !p.abandoned) fail_environment("no memory for parsing the model");
    return result == 0 && p.errors == 0 ? p.root : NULL;
}

Node *parse_source(DiagSet *ds, uint32_t file, ParseStart start, size_t offset) {
    const SourceFile *source = &ds->files.at[file];
    if (source->size > MAX_SOURCE_BYTES) {
        diag_report(ds, E_file_size, (Span){.file = file},
                    "keep data in separate files and name them in section data",
                    "%s is larger than %u MiB, the limit for a model file", source->name,
                    (unsigned)(MAX_SOURCE_BYTES >> 20));
        return NULL;
    }
    return parse_text(ds, file, source->text, source->size, start, offset);
}

bool parse_bytes(DiagSet *ds, const char *name, const void *bytes, size_t n) {
    const char *text = arena_strndup(ds->arena, bytes, n);
    return parse_source(ds, diag_add_file(ds, name, text, n), PARSE_FILE, 0) != NULL;
}

const char prelude_text[] =
#include "prelude.inc"
    ;
const size_t prelude_size = sizeof prelude_text - 1;
