/* Reads arbitrary bytes as a .fsd file: the parser, then the config and the elaboration to a graph.
 * Files that name other files (use, npy) are only parsed. */
#include <string.h>

#include "frontend.h"
#include "syntax.h"

static void ignore(void *context, const char *text, size_t n) {
    (void)context, (void)text, (void)n;
}

static bool mentions(const uint8_t *bytes, size_t n, const char *word) {
    return memmem(bytes, n, word, strlen(word)) != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    Arena *arena = arena_new();
    DiagSet ds;
    diag_init(&ds, arena);
    ds.write = ignore;
    bool right = parse_bytes(&ds, "fuzz.fsd", bytes, n);
    if (right && !mentions(bytes, n, "use") && !mentions(bytes, n, "npy")) {
        CompileOptions options = {.ranks = 2};
        char *text = arena_alloc(arena, n + 1);
        if (n) memcpy(text, bytes, n);
        Frontend *f = frontend_open_text(&ds, "fuzz.fsd", text, n, &options);
        CHECK((f->exit_code == EXIT_DONE) == (ds.errors == 0));
        Buf config = {0};
        frontend_print_config(f, true, &config);
        buf_free(&config);
        if (f->exit_code == EXIT_DONE) CHECK(frontend_elaborate(f) == (ds.errors == 0));
    }
    arena_free(arena);
    return 0;
}
