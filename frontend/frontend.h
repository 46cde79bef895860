/* The frontend: from a .fsd file and command-line options to a model-level graph.
 *
 *   Frontend *f = frontend_open(ds, "model.fsd", &options);    parse, config, sections
 *   if (frontend_elaborate(f)) use(f->graph, &f->settings);    modules, methods, shapes
 *
 * Both report everything they find through ds. After a failure f->exit_code says how the program
 * ends: EXIT_USER; EXIT_ENVIRONMENT when all errors are about a missing file or something that this
 * version lacks; EXIT_CORRUPT when they include a data file that is not what it claims to be.
 */
#ifndef FSDPC_FRONTEND_H
#define FSDPC_FRONTEND_H

#include "run_settings.h"

typedef struct Frontend {
    DiagSet *diags;
    Arena *arena;
    Graph *graph;           /* after frontend_elaborate */
    const Graph *statement; /* a copy that no pass changes: what the plan has to compute */
    RunSettings settings;
    int exit_code;
    bool readable;       /* declarations and requirements are right, so modules can be elaborated */
    struct Model *model; /* parsed files, config and sections; private */
    struct Model *declared;    /* a copy from before anything was evaluated; private */
    struct ModelShape *shapes; /* of frontend_vary; private */
} Frontend;

/* frontend.c: never NULL; f->exit_code is EXIT_DONE when the config and sections are right. */
Frontend *frontend_open(DiagSet *ds, const char *path, const CompileOptions *options);
/* The same for a text in memory, NUL-terminated, that lives as long as ds. */
Frontend *frontend_open_text(DiagSet *ds, const char *name, const char *text, size_t n,
                             const CompileOptions *options);
/* elaborate.c: fills f->graph and the rest of f->settings. false after reported errors, those of
 * frontend_open included: modules are checked even if the settings are wrong. */
bool frontend_elaborate(Frontend *f);
/* variants.c: the same model with -n, --mesh and -s of its own, after those of base, for which
 * frontend_open has succeeded: nothing is read or parsed again, and where data, config, loss and
 * metrics are those of base, modules are elaborated once for each number of samples in a call. What
 * it adds lives in ds->arena; ds is made by diag_fork of base->diags. On success (exit_code
 * EXIT_DONE) f->graph is at level model. Warnings about the model's files are not repeated. One
 * thread at a time. */
Frontend *frontend_vary(Frontend *base, DiagSet *ds, const CompileOptions *options);
/* frontend.c: the model's names tables, NULL after the last, and a parameter's name through one of
 * them (its path if there is no such table). Table 0 is the one whose names are saved. */
const FileNames *frontend_names(const Frontend *f, uint32_t table);
const char *frontend_checkpoint_name(const Frontend *f, uint32_t table, const char *path,
                                     bool *transposed);
/* frontend.c: the model's files, the main one first, then those that it uses; NULL after the last.
 */
const char *frontend_file(const Frontend *f, uint32_t i);
/* config_dump.c: every final value and where it came from. */
void frontend_print_config(const Frontend *f, bool json, Buf *out);
/* The value of a key ("shard.strategy") as it was understood, "none" if there is none. */
const char *frontend_setting(const Frontend *f, const char *key);
void frontend_print_names(const Frontend *f, Buf *out); /* only the names of config */

#endif
