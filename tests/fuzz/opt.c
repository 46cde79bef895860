/* Runs `fsdpc opt` on arbitrary bytes as the text of a graph. The first byte chooses the pass among
 * those of the graph's level, and how many follow. A graph that the verifier accepts, however
 * unlike the results of earlier passes, must end as a graph or in a diagnostic. */
#include <string.h>

#include "ir.h"
#include "passes.h"

static void ignore(void *context, const char *text, size_t n) {
    (void)context, (void)text, (void)n;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    if (n < 2) return 0;
    Arena *arena = arena_new();
    char *text = arena_alloc(arena, n);
    memcpy(text, bytes + 1, n - 1);
    DiagSet ds;
    diag_init(&ds, arena);
    ds.write = ignore;
    PipelineOptions options = {.from_text = true};
    Graph *g = graph_parse(arena, &ds, "fuzz", text, n - 1);
    if (g && !graph_verify(g)) {
        int skip = bytes[0] % 8, most = bytes[0] / 8 % 16 + 1;
        for (int i = 0; i < n_passes && most; i++) {
            if (pass_table[i].in != g->level || skip-- > 0) continue;
            if (!pipeline_run_pass(g, &pass_table[i], &options)) break;
            skip = 0;
            most--;
        }
        CHECK(ds.errors == 0 || most > 0);
    }
    arena_free(arena);
    return 0;
}
