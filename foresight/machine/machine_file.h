/* Machine files: constants of a machine, each with where it comes from.
 *
 *   Machine *m = machine_read(ds, a, "h100.machine");             NULL after reported errors
 *   const MachineConstant *c = machine_need(m, "device.memory_bytes");
 *
 * JSON: {"format": 1, "device": {"memory_bytes": {"value": 85899345920, "from": "data sheet"}}}.
 * What is read is right: known names, finite numbers in range, an origin. A constant may be
 * missing; that is an error for whoever needs it.
 */
#ifndef FSDPC_MACHINE_FILE_H
#define FSDPC_MACHINE_FILE_H

#include "diag.h"
#include "words.h"

enum { MACHINE_FORMAT = 1 };

typedef struct MachinePoint {
    double x, factor;
} MachinePoint;

typedef struct MachineConstant {
    const char *path; /* device.memory_bytes, products.bf16.flops_s, links.8.bytes_s */
    double value;
    const MachinePoint *points; /* of a curve, in the place of a value */
    uint32_t n_points;
    const char *from; /* "data sheet", "assumed", "measured, 32 points, 3.1 %" */
} MachineConstant;

typedef struct Machine {
    DiagSet *diags;
    const char *file;
    DeviceKind kind; /* "kind"; not given: cuda */
    VEC(MachineConstant) constants;
} Machine;

/* A row of machine.def. */
typedef enum GroupKind { GROUP_ONE, GROUP_WORDS, GROUP_OPS, GROUP_LIST } GroupKind;
typedef enum GroupId {
#define GROUP(name, kind, key, doc) GROUP_ID_##name,
#define CONSTANT(group, key, lowest, doc)
#include "machine.def"
#undef GROUP
#undef CONSTANT
    GROUPS
} GroupId;
typedef struct MachineGroup {
    const char *name, *key;
    GroupKind kind;
} MachineGroup;
extern const MachineGroup machine_groups[GROUPS];

/* machine_read.c */
Machine *machine_read(DiagSet *ds, Arena *a, const char *file);
/* The same for a text of n bytes. */
Machine *machine_read_text(DiagSet *ds, Arena *a, const char *file, const char *text, size_t n);
/* Whether a file may have this value there; path: as in MachineConstant. */
bool machine_allows(const char *path, double value);
const MachineConstant *machine_find(const Machine *m, const char *path); /* NULL: it is missing */
/* NULL after reporting that it is missing. */
const MachineConstant *machine_need(const Machine *m, const char *path);
/* The largest key of a group that is a list: ranks of `links`; 0 if it has no element. */
int64_t machine_largest(const Machine *m, const char *group);
/* The keys next to `key` of such a group: the largest up to it, the smallest from it on; 0: none.
 */
void machine_neighbours(const Machine *m, const char *group, int64_t key, int64_t *below,
                        int64_t *above);
/* The factor of a curve at x: before the first and after the last pair that of the pair. */
double machine_factor(const MachineConstant *curve, double x);

#endif
