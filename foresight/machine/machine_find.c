/* Constants by path. */
#include <stdlib.h>
#include <string.h>

#include "machine_file.h"

const MachineConstant *machine_find(const Machine *m, const char *path) {
    for (uint32_t i = 0; i < m->constants.n; i++)
        if (!strcmp(m->constants.at[i].path, path)) return &m->constants.at[i];
    return NULL;
}

const MachineConstant *machine_need(const Machine *m, const char *path) {
    const MachineConstant *c = machine_find(m, path);
    if (c) return c;
    Diag d = diag_at(m->diags, E_machine, (Span){0}, "%s: %s is needed and missing", m->file, path);
    diag_help(&d, "add it: {\"value\": NUMBER, \"from\": \"where it comes from\"}");
    diag_emit(&d);
    return NULL;
}

int64_t machine_largest(const Machine *m, const char *group) {
    int64_t largest = 0;
    size_t n = strlen(group);
    for (uint32_t i = 0; i < m->constants.n; i++) {
        const char *path = m->constants.at[i].path;
        if (strncmp(path, group, n) || path[n] != '.') continue;
        int64_t key = strtoll(path + n + 1, NULL, 10);
        largest = MAX(largest, key);
    }
    return largest;
}
