/* fsdpc opt: reads a graph as text, runs passes on it, prints the graph. Passes are tested one by
 * one through this command.
 *
 * The graph is verified before the first pass and after each one. A graph that is invalid at the
 * start is the user's mistake; one that is invalid after a pass shows a bug of the pass. Passes run
 * in the order given, each only on a graph of its input level.
 */
#include <stdio.h>
#include <string.h>

#include "driver.h"

static bool run_pass(Driver *d, Graph *g, const PassInfo *pass) {
    static const PipelineOptions options = {.from_text = true};
    if (pass->in == g->level) return pipeline_run_pass(g, pass, &options);
    driver_mistake(d, E_pass_level, NULL,
                   "pass `%s` reads a graph of level %s; this one is of level %s", pass->name,
                   level_name(pass->in), level_name(g->level));
    return false;
}

/* The passes of --pass, in order; false after a reported error. */
static bool find_passes(Driver *d, const PassInfo **pass, uint32_t *n) {
    char *rest = arena_strdup(d->arena, d->options.passes);
    for (char *name; d->options.passes[0] && (name = strsep(&rest, ","));) {
        pass[*n] = driver_pass(d, name, true);
        if (!pass[(*n)++]) return false;
    }
    return true;
}

int driver_opt(Driver *d) {
    if (!(d->options.given & BIT(PASS)))
        return driver_mistake(d, E_missing_argument,
                              "`--pass=` without names reads and prints the graph",
                              "`fsdpc opt` needs --pass=NAME[,NAME]");
    const PassInfo **pass = arena_array(d->arena, const PassInfo *, strlen(d->options.passes) + 1);
    uint32_t n = 0;
    if (!find_passes(d, pass, &n)) return EXIT_USER;
    const char *file = d->options.files.n ? d->options.files.at[0] : "-";
    size_t size;
    const char *text = driver_read(d, file, &size);
    Graph *g = graph_parse(d->arena, &d->diags, strcmp(file, "-") ? file : "<stdin>", text, size);
    if (!g || graph_verify(g)) return EXIT_USER;
    for (uint32_t i = 0; i < n; i++)
        if (!run_pass(d, g, pass[i])) return EXIT_USER;
    Buf out = {0};
    graph_print(g, &out);
    driver_show(&out);
    return EXIT_DONE;
}
