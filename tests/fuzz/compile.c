/* Compiles arbitrary bytes as a .fsd file: a file without errors becomes a plan that the reader
 * accepts and the checker proves. Files that name other files (use, npy) are skipped. */
#include <string.h>

#include "check.h"
#include "emit.h"
#include "passes.h"

#include "fuzz.h"

static void ignore(void *context, const char *text, size_t n) {
    (void)context, (void)text, (void)n;
}

static bool mentions(const uint8_t *bytes, size_t n, const char *word) {
    return memmem(bytes, n, word, strlen(word)) != NULL;
}

static void check(const Frontend *f) {
    char message[512];
    Buf bytes = {0};
    Plan plan;
    PlanFault fault;
    plan_emit(f, "fsdpc", "fuzz.fsd", &bytes);
    if (plan_read(&plan, bytes.at, bytes.n, message, sizeof message)) BUG("unread: %s", message);
    if (plan_check(&plan, &fault))
        BUG("refused: %s: instruction %llu: %s", fault.rule, (unsigned long long)fault.instr,
            fault.message);
    plan_close(&plan);
    buf_free(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    if (mentions(bytes, n, "use") || mentions(bytes, n, "npy")) return 0;
    Arena *arena = arena_new();
    DiagSet ds;
    diag_init(&ds, arena);
    ds.write = ignore;
    CompileOptions options = {.to_plan = true};
    char *text = arena_alloc(arena, n + 1);
    if (n) memcpy(text, bytes, n);
    Frontend *f = frontend_open_text(&ds, "fuzz.fsd", text, n, &options);
    if (frontend_elaborate(f)) {
        CHECK(!graph_verify(f->graph));
        bool done = pipeline_run(f->graph, LEVEL_SCHED, &(PipelineOptions){0});
        CHECK(done == (ds.errors == 0));
        if (done) check(f);
    }
    arena_free(arena);
    return 0;
}
