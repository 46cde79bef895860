/* Reads arbitrary bytes as a configuration file of Accelerate and as one of DeepSpeed, with its
 * rows and settings. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "frontend.h"

static void ignore(void *context, const char *text, size_t n) {
    (void)context, (void)text, (void)n;
}

static void import(const char *path, ImportFormat format) {
    static const char model[] = "shard { }\n";
    Arena *arena = arena_new();
    DiagSet ds;
    diag_init(&ds, arena);
    ds.write = ignore;
    CompileOptions options = {0};
    options.import[format] = path;
    Frontend *f = frontend_open_text(&ds, "fuzz.fsd", model, strlen(model), &options);
    CHECK((f->exit_code == EXIT_DONE) == (ds.errors == 0));
    Buf config = {0};
    if (f->exit_code == EXIT_DONE) frontend_print_config(f, true, &config);
    buf_free(&config);
    arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    static char path[32];
    static int file = -1;
    if (file < 0) { /* in memory: nothing is left behind */
        file = memfd_create("import", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    }
    CHECK(file >= 0 && ftruncate(file, 0) == 0 && pwrite(file, bytes, n, 0) == (ssize_t)n);
    for (int f = 0; f < IMPORT_FORMATS; f++) import(path, (ImportFormat)f);
    return 0;
}
