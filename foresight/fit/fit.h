/* What fits into the memory of a device: peaks of a model under many settings, each found by
 * compiling it.
 *
 *   Fit fit = {.arena = a, .device = DEVICE_CUDA, .memory = bytes, .node = 8};
 *   fit_model(&fit, f);                      f: compiled to level sched
 *   fit_text(&fit, &out);                    or fit_json
 *
 * Nothing is estimated: a peak is the peak of the plan that `fsdpc compile` makes with the same
 * options. For a plan that was read, only its own peak is reported (fit_plan).
 */
#ifndef FSDPC_FIT_H
#define FSDPC_FIT_H

#include "frontend.h"
#include "report.h"

/* What a compile with some options needs on a rank. */
typedef struct FitTrial {
    bool compiles, fits;
    int warnings;        /* of the settings */
    uint64_t peak, host; /* bytes: on the device; in host memory, for what is offloaded */
    const char *error;   /* if it does not compile: the first message */
} FitTrial;

/* Options besides FILE's own. */
enum { FIT_CHANGES = 9 };
typedef struct FitOptions {
    const char *set[FIT_CHANGES]; /* -s */
    int n;
    const char *mesh; /* --mesh; NULL: FILE's own */
} FitOptions;

/* The answer to "how many": value 0 if there is none that fits. */
typedef struct FitAnswer {
    bool asked; /* the question makes sense for this file */
    int64_t value;
    FitOptions options;
    FitTrial trial;
} FitAnswer;

typedef struct FitSetting {
    const char *set; /* shard.strategy=grads */
    FitTrial trial;
} FitSetting;

typedef struct Fit {
    /* given */
    Arena *arena;
    DeviceKind device;
    uint64_t memory, outside; /* of the device; of that, what others hold */
    int64_t node;             /* ranks of a node, among which tp, cp and pp are tried */
    /* found */
    const char *model;
    bool searched; /* of a model: what follows `tensors` was looked for */
    int64_t ranks;
    FitTrial written; /* FILE as it is */
    const PeakTensor *tensor;
    uint32_t n_tensor; /* of `least` where nothing fits, else of `written` */
    FitAnswer samples, length, least_ranks;
    VEC(FitSetting) settings; /* with one setting changed */
    FitAnswer least;          /* settings changed together until it fits, or as far as peaks fall */
    FitAnswer mesh;           /* where nothing fits: the smallest mesh; value: its ranks */
    /* private */
    Frontend *base;
    Mesh axes; /* FILE's, as it is written */
} Fit;

/* fit.c */
/* The frontend's graph is at level sched; its file and options are those that vary. */
void fit_model(Fit *fit, Frontend *f);
void fit_plan(Fit *fit, const Plan *plan);
/* Whether anything fits on FILE's ranks with FILE's length. */
bool fit_found(const Fit *fit);

/* fit_trial.c */
bool fit_holds(const Fit *fit, uint64_t peak); /* on the device */
/* Compiles with more options. plan: NULL, or where the plan goes if it compiles. */
FitTrial fit_try(Fit *fit, const FitOptions *options, Plan *plan);
/* The same with one -s more. */
FitTrial fit_try_set(Fit *fit, const FitOptions *options, const char *set);

/* fit_mesh.c */
/* The axes that users write, with those that passes cut off put back. */
Mesh fit_written_axes(const Mesh *mesh);
/* Gives the axis a size; adds it if the mesh lacks it. */
void fit_set_axis(Mesh *mesh, AxisRole role, int64_t size);
/* As --mesh reads it. */
const char *fit_mesh_text(const Mesh *mesh, Arena *a);
/* Adds -s train.batch=.. for k samples of a micro-batch on each rank of a mesh. */
void fit_add_batch(const Fit *fit, FitOptions *options, const Mesh *mesh, int64_t k);
/* The smallest mesh within nodes on which one sample of a micro-batch fits with these options. */
FitAnswer fit_smallest_mesh(Fit *fit, const FitOptions *options);

/* fit_search.c */
FitAnswer fit_most_samples(Fit *fit);
FitAnswer fit_most_length(Fit *fit);
FitAnswer fit_least_ranks(Fit *fit);

/* fit_settings.c */
/* Fills fit->settings. */
void fit_each_setting(Fit *fit);
FitAnswer fit_least_peak(Fit *fit);

/* fit_text.c, fit_json.c */
void fit_text(const Fit *fit, Buf *out);
void fit_json(const Fit *fit, Buf *out);

#endif
