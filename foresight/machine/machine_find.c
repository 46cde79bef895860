/* Constants by path. */
#include <math.h>
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
    diag_report(m->diags, E_machine, (Span){0},
                "add it: {\"value\": NUMBER, \"from\": \"where it comes from\"}",
                "%s: %s is needed and missing", m->file, path);
    return NULL;
}

/* The key of a constant of the group; 0: it is of another. */
static int64_t key_of(const MachineConstant *c, const char *group, size_t n) {
    bool of_group = !strncmp(c->path, group, n) && c->path[n] == '.';
    return of_group ? strtoll(c->path + n + 1, NULL, 10) : 0;
}

int64_t machine_largest(const Machine *m, const char *group) {
    int64_t largest, none;
    machine_neighbours(m, group, INT64_MAX, &largest, &none);
    return largest;
}

void machine_neighbours(const Machine *m, const char *group, int64_t key, int64_t *below,
                        int64_t *above) {
    size_t n = strlen(group);
    *below = *above = 0;
    for (uint32_t i = 0; i < m->constants.n; i++) {
        int64_t k = key_of(&m->constants.at[i], group, n);
        if (k && k <= key) *below = MAX(*below, k);
        if (k >= key && (!*above || k < *above)) *above = k;
    }
}

double machine_factor(const MachineConstant *curve, double x) {
    const MachinePoint *p = curve->points, *end = p + curve->n_points;
    if (x <= p->x) return p->factor;
    while (p + 1 < end && p[1].x < x) p++;
    if (p + 1 == end) return p->factor;
    double from = log(fmax(p->x, 1)), share = (log(x) - from) / (log(p[1].x) - from);
    return p->factor + fmin(fmax(share, 0), 1) * (p[1].factor - p->factor);
}
