/* Passes: graph in, graph out. Pass NAME is the function pass_NAME in a file NAME.c.
 *
 * A pass assumes a verified graph of its input level and leaves a verified one of its output level.
 * User mistakes that only a pass can see (an unknown unit class, a parameter without gradient) are
 * reported through g->diags; the pass then returns false and the driver stops.
 */
#ifndef FSDPC_PASSES_H
#define FSDPC_PASSES_H

#include "ir.h"

typedef bool (*PassFunction)(Graph *g);

#define PASS(name, in, out, doc) bool pass_##name(Graph *g);
#include "passes.def"
#undef PASS

typedef struct PassInfo {
    const char *name, *doc;
    OpLevel in, out;
    PassFunction run;
} PassInfo;

/* stages/ties.c, for pass stage: gives each stage the parameters that its ops read, and their
 * gradients. */
void place_params(Graph *g);

/* pipeline.c */
extern const PassInfo pass_table[];
extern const int n_passes;
const PassInfo *pass_by_name(const char *name);
/* The pass after which `fsdpc dump --stage=NAME` prints the graph: the pass of that name, else the
 * last one that leaves a graph of the level of that name. NULL: neither. */
const PassInfo *pass_of_stage(const char *name);

typedef struct PipelineOptions {
    const char *print_after; /* name of a pass, or NULL */
    bool print_after_all, print_after_change, timing;
    bool from_text;  /* the graph was written by hand, not made by the passes before */
    bool unverified; /* the verifier does not run: for many compiles of a model verified once */
    void (*print)(void *context, const char *pass, const char *text, size_t n);
    void *print_context;
    const PassInfo *last; /* stop after this pass; NULL: at the end of level `to` */
} PipelineOptions;

/* A library call: it keeps nothing between calls and prints only what the options ask for; messages
 * go to g->diags (diag_capture), memory comes from the graph's arena and goes with it.
 * Runs every pass whose input level is at least the graph's level and whose output level is at most
 * `to`, verifying after each. false after a reported error. */
bool pipeline_run(Graph *g, OpLevel to, const PipelineOptions *options);
/* Runs one pass on a verified graph of its input level and verifies the result; options may be
 * NULL. false after a reported error. */
bool pipeline_run_pass(Graph *g, const PassInfo *pass, const PipelineOptions *options);

#endif
