/* Configuration files of other systems: what its files share. No other file includes this. */
#ifndef FSDPC_IMPORT_H
#define FSDPC_IMPORT_H

#include "model.h"

typedef struct ImportRow {
    ImportFormat format;
    const char *key, *when, *values;
    enum { IMPORT_SETS, IMPORT_MICRO, IMPORT_PART, IMPORT_IDLE, IMPORT_REFUSES } action;
    const char *text;
} ImportRow;
extern const ImportRow import_table[];
extern const uint32_t n_import_rows;

/* import_read.c: reads the file into `out`, keys with their sections joined by dots. false after an
 * error. */
bool import_read(Model *m, ImportFormat format, const char *path, Import *out);

#endif
