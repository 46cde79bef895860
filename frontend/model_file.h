/* Reading the files of a model; see model_file.c. Private to frontend/ itself. */
#ifndef FSDPC_MODEL_FILE_H
#define FSDPC_MODEL_FILE_H

#include "model.h"

/* Reads the file (or takes its text, NUL-terminated, where that is not NULL), what it uses, and the
 * prelude, and collects their declarations. false when a file could not be read or parsed; other
 * errors are only counted. */
bool model_read(Model *m, const char *path, const char *text, size_t n);
/* Applies -s over what was set before. */
void model_apply_options(Model *m);

#endif
