/* The steps of an elaboration; see elaborate.c. Private to frontend/ itself. */
#ifndef FSDPC_ELABORATE_H
#define FSDPC_ELABORATE_H

#include "evaluate.h"
#include "frontend.h"
#include "tensors.h"

/* model_file.c */
/* Reads the file (or takes its text, NUL-terminated, where that is not NULL), what it uses, and the
 * prelude, and collects their declarations. false when a file could not be read or parsed; other
 * errors are only counted. */
bool model_read(Model *m, const char *path, const char *text, size_t n);
/* Applies -s over what was set before. */
void model_apply_options(Model *m);

/* frontend.c: values of config and sections, the policy and the settings of a model that was read.
 */
void frontend_resolve(Frontend *f);
/* elaborate.c */
/* An empty graph with the policy of the sections. */
Elaboration elaboration_of(Frontend *f);
/* The tables and the programs: what settings besides data, loss and samples of a call do not
 * change. false after reported errors. */
bool elaborate_programs(Elaboration *e);
/* What the settings say of parameters, and where backward starts. false after reported errors. */
bool elaborate_settings(Elaboration *e);
/* step_counts.c */
/* Marks terms whose divisor may differ between micro-batches or batches; false: there is none. */
bool mark_terms(Elaboration *e, const LossSum *sum);
/* Gives terms that are divided by what the whole step has the values that count it. evaluate_loss
 * made e->aux and the sum. false after reported errors. */
bool count_step(Elaboration *e, LossSum *sum, bool (*evaluate_loss)(Elaboration *, LossSum *));

/* decode.c */
/* Completes the program eval, of which the fields are there; false after reported errors. */
bool decode_program(Elaboration *e);

#endif
