/* The table of diagnostics, diag_codes.def, as data. */
#include <string.h>

#include "diag.h"

const DiagInfo diag_info[DIAG_COUNT] = {
#define DIAG(code, id, severity, exit, title, text)                                                \
    [id] = {#code, DIAG_##severity, EXIT_##exit, NULL, title, text},
#define WARN(code, id, severity, name, title, text)                                                \
    [id] = {#code, DIAG_##severity, EXIT_DONE, name, title, text},
#include "diag_codes.def"
#undef DIAG
};

const DiagInfo *diag_find(const char *code) {
    for (int i = 0; i < DIAG_COUNT; i++)
        if (!strcmp(diag_info[i].code, code)) return &diag_info[i];
    return NULL;
}
