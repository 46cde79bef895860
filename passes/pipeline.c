/* The pipeline: passes.def in its order, each pass verified, printed on request and timed.
 *
 * In: a verified graph of any level. Out: a verified graph of level `to`, or false after an error
 * that a pass reported. The list has no conditions: a pass that has nothing to do leaves the graph
 * as it is. A graph that breaks a rule after a pass is a mistake of the pass, never the user's, so
 * it ends the process; the rules that it breaks are printed first. If the graph was written by hand
 * (`fsdpc opt`), it is an error like any other.
 */
#include <stdio.h>
#include <string.h>

#include "passes.h"

const PassInfo pass_table[] = {
#define PASS(name, in, out, doc) {#name, doc, in, out, pass_##name},
#include "passes.def"
#undef PASS
};
const int n_passes = ARRAY_LEN(pass_table);

const PassInfo *pass_by_name(const char *name) {
    for (int i = 0; i < n_passes; i++)
        if (strcmp(pass_table[i].name, name) == 0) return &pass_table[i];
    return NULL;
}

const PassInfo *pass_of_stage(const char *name) {
    const PassInfo *last = pass_by_name(name);
    for (int i = n_passes; !last && i-- > 0;)
        if (!strcmp(level_name(pass_table[i].out), name)) last = &pass_table[i];
    return last;
}

/* Prints the graph if the options ask for it. `before` is its text before the pass, used only
 * under print_after_change. */
static void print_after(const Graph *g, const PassInfo *pass, const PipelineOptions *o,
                        const Buf *before) {
    bool named = o->print_after && strcmp(o->print_after, pass->name) == 0;
    if (!named && !o->print_after_all && !o->print_after_change) return;
    Buf text = {0};
    graph_print(g, &text);
    bool changed = text.n != before->n || memcmp(text.at, before->at, text.n) != 0;
    if (named || o->print_after_all || (o->print_after_change && changed))
        o->print(o->print_context, pass->name, text.at, text.n);
    buf_free(&text);
}

/* A graph written by hand need not have what a pass takes for granted of the passes before it. */
static void say_unlike(Graph *g, const PassInfo *pass) {
    const char *before = level_name(pass->in);
    for (int i = 1; i < n_passes; i++)
        if (pass == &pass_table[i]) before = pass_table[i - 1].name;
    diag_report(g->diags, E_graph_rule, (Span){0},
                arena_printf(g->diags->arena,
                             "the passes before `%s` never make such a graph; fsdpc dump "
                             "--stage=%s prints one that they make",
                             pass->name, before),
                "pass `%s` cannot work on this graph: its result breaks the rules above",
                pass->name);
}

bool pipeline_run_pass(Graph *g, const PassInfo *pass, const PipelineOptions *options) {
    static const PipelineOptions quiet;
    const PipelineOptions *o = options ? options : &quiet;
    if (g->level != pass->in)
        BUG("pass %s needs a graph of level %s, this one has level %s", pass->name,
            level_name(pass->in), level_name(g->level));
    Buf before = {0};
    if (o->print_after_change) graph_print(g, &before);
    double start = monotonic_seconds();
    bool done = pass->run(g);
    if (o->timing)
        fprintf(stderr, "%-22s %9.3f ms\n", pass->name, 1e3 * (monotonic_seconds() - start));
    if (done) {
        g->level = pass->out;
        int broken = o->unverified ? 0 : graph_verify(g);
        if (broken && !o->from_text)
            BUG("pass %s broke %d of the verifier's rules", pass->name, broken);
        if (broken) say_unlike(g, pass);
        done = !broken;
        if (done) graph_settle(g);
        if (done) print_after(g, pass, o, &before);
    }
    buf_free(&before);
    return done;
}

bool pipeline_run(Graph *g, OpLevel to, const PipelineOptions *options) {
    OpLevel from = g->level;
    for (int i = 0; i < n_passes; i++) {
        const PassInfo *pass = &pass_table[i];
        if (pass->in < from || pass->out > to) continue;
        if (!pipeline_run_pass(g, pass, options)) return false;
        if (options && options->last == pass) break;
    }
    return true;
}
