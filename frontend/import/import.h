/* Settings from the configuration files of other systems.
 *
 * In: the files that options name (--accelerate, --deepspeed). Out: settings of the model, and what
 * became of each key. imports.def has a row for each key: what it becomes, why it has no effect, or
 * why it is refused.
 */
#ifndef FSDPC_IMPORT_H
#define FSDPC_IMPORT_H

#include "model.h"

/* import.c */
void import_all(Model *m);

typedef struct ImportRow {
    ImportFormat format;
    const char *key, *when, *values;
    enum { IMPORT_SETS, IMPORT_MICRO, IMPORT_PART, IMPORT_IDLE, IMPORT_REFUSES } action;
    const char *text;
} ImportRow;

/* import_read.c: reads the file into `out`, keys with their sections joined by dots. false after an
 * error. */
bool import_read(Model *m, ImportFormat format, const char *path, ImportedFile *out);

#endif
