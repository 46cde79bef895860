/* The table imports.def as data, and the reader of the files. Private to the room. */
#ifndef FSDPC_IMPORT_ROWS_H
#define FSDPC_IMPORT_ROWS_H

#include "import.h"

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
