/* Reads arbitrary bytes as the text of a graph: parses, verifies and prints it; the printed text
 * must parse to the same text again. */
#include <string.h>

#include "ir.h"

static void ignore(void *context, const char *text, size_t n) {
    (void)context, (void)text, (void)n;
}

static Graph *parse(Arena *arena, DiagSet *ds, const char *text, size_t n) {
    diag_init(ds, arena);
    ds->write = ignore;
    Graph *g = graph_parse(arena, ds, "fuzz", text, n);
    CHECK((g != NULL) == (ds->errors == 0));
    return g;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    Arena *arena = arena_new();
    char *text = arena_alloc(arena, n + 1);
    if (n) memcpy(text, bytes, n);
    DiagSet ds, again;
    Graph *g = parse(arena, &ds, text, n);
    if (g) {
        graph_verify(g);
        Buf first = {0}, second = {0};
        graph_print(g, &first);
        Graph *copy = parse(arena, &again, first.at, first.n);
        CHECK(copy != NULL);
        graph_print(copy, &second);
        CHECK(first.n == second.n && !memcmp(first.at, second.at, first.n));
        buf_free(&first);
        buf_free(&second);
    }
    arena_free(arena);
    return 0;
}
