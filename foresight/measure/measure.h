/* Constants of a machine by measuring it: plans of measure.fsd are run by fsdp-run --profile, and
 * machine files are fitted to their traces.
 *
 *   measure_plan(ds, MEASURE_F32, ranks, &bytes)         the plan file of a variant
 *   Measured m = {.diags = ds, .arena = a, .kind = DEVICE_CPU, .cores = 1};
 *   if (measure_read(&m, files, n)) measure_fit(&m), measure_text(&m, &out);
 *
 * A point is an instruction of a plan with the seconds that it took. Constants are those with which
 * foresight/step predicts points best, so nothing here knows how a time follows from constants.
 */
#ifndef FSDPC_MEASURE_H
#define FSDPC_MEASURE_H

#include "step.h"

enum { MEASURE_RANKS = 4096, MEASURE_FILES = 1 << 16 };

/* Plans of measure.fsd with other settings: MEASURE(name, settings, about) */
typedef enum MeasureVariant {
#define MEASURE(name, set, doc) MEASURE_##name,
#include "measure.def"
#undef MEASURE
    MEASURE_VARIANTS
} MeasureVariant;
extern const char *const measure_names[MEASURE_VARIANTS];

/* A constant of a group and where its search starts, by kind of device; 0: not a constant there. A
 * list ends with key NULL. */
typedef struct MeasureStart {
    const char *key;
    double cpu, cuda;
    bool needed; /* predictions need it, whether or not points say anything about it */
} MeasureStart;

typedef struct MeasurePoint {
    MeasureVariant variant;
    uint32_t instr;
    double seconds;
    uint64_t key;              /* equal keys take as long */
    const char *type;          /* of its first operand */
    const char *group;         /* of its constants: products.f32; NULL: it takes no time */
    const MeasureStart *start; /* which are these */
    bool held_back;            /* the first fit does not see it */
} MeasurePoint;

typedef struct Measured {
    /* given */
    DiagSet *diags;
    Arena *arena;
    DeviceKind kind;
    const Machine *base; /* constants that are kept where nothing is measured; or NULL */
    double cores;        /* of a rank; 0: those of base, which has them */
    double memory;       /* bytes of a rank; 0: those of base */
    /* measure_read */
    int64_t ranks;
    VEC(struct MeasureTrace *) traces;
    Plan plan[MEASURE_VARIANTS];
    bool seen[MEASURE_VARIANTS]; /* there are traces of it */
    VEC(MeasurePoint) points;
    /* measure_fit */
    Machine *machine;
    bool all;                 /* points that are held back are fitted too */
    double error, held_error; /* mean, of all points and of those held back */
    uint32_t n_held;
} Measured;

/* measure_plan.c: false after reported errors. */
bool measure_plan(DiagSet *ds, MeasureVariant variant, int64_t ranks, Buf *out);
/* measure_read.c: reads traces of all ranks and finds the variant of each. false after reported
 * errors. */
bool measure_read(Measured *m, const char *const *files, uint32_t n);
/* Its parts: adds a trace, whose ranks may be more than those before; opens plans for all ranks;
 * finds the points of the traces. */
bool measure_read_text(Measured *m, const char *file, const char *text, size_t n);
bool measure_open_plans(Measured *m);
bool measure_find_points(Measured *m);
/* measure_fit.c */
void measure_fit(Measured *m);
/* measure_read.c: the median of a log's steps, without the first; 0: it has none. */
double measure_step_seconds(Arena *a, const char *log);
double measure_median(double *at, uint32_t n); /* sorts; n > 0 */
/* measure_text.c: the machine file. */
void measure_text(const Measured *m, Buf *out);

#endif
