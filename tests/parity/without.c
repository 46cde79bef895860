/* fsdpc compile with some passes left out: `without PASS,... MODEL PLAN [-n RANKS] [-s
 * path=value]...`
 *
 * Runs of plans made with and without a pass show what it must not change.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emit.h"
#include "passes.h"

static bool is_named(const char *list, const char *name) {
    size_t n = strlen(name);
    for (const char *at = list; (at = strstr(at, name)); at += n)
        if ((at == list || at[-1] == ',') && (at[n] == ',' || !at[n])) return true;
    return false;
}

int main(int argc, char **argv) {
    if (argc < 4) return EXIT_USER;
    Arena *arena = arena_new();
    DiagSet diags;
    diag_init(&diags, arena);
    const char **set = arena_array(arena, const char *, argc);
    CompileOptions options = {.set = set, .to_plan = true};
    for (int i = 4; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "-n") == 0)
            options.ranks = atoi(argv[i + 1]);
        else
            set[options.n_set++] = argv[i + 1];
    }
    Frontend *f = frontend_open(&diags, argv[2], &options);
    if (f->exit_code || !frontend_elaborate(f)) return EXIT_USER;
    for (int i = 0; i < n_passes; i++)
        if (!is_named(argv[1], pass_table[i].name) &&
            !pipeline_run_pass(f->graph, &pass_table[i], NULL))
            return EXIT_USER;
    Buf bytes = {0};
    plan_emit(f, "without", "", &bytes);
    if (write_file_atomic(argv[3], bytes.at, bytes.n))
        fail_environment("cannot write %s: %s", argv[3], strerror(errno));
    buf_free(&bytes);
    arena_free(arena);
    return EXIT_DONE;
}
