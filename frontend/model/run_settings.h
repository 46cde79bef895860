/* The input of a compile and its output besides the graph: the options of the command line,
 * where the data comes from, how long and how fast to train, when to save. They are here and not
 * in frontend.h because the rooms below read and write them. */
#ifndef FSDPC_RUN_SETTINGS_H
#define FSDPC_RUN_SETTINGS_H

#include "ir.h"
#include "stored.h"

/* Files of other systems that a model can take settings from. */
typedef enum ImportFormat {
#define FORMAT(id, option, doc) IMPORT_##id,
#include "import_formats.def"
    IMPORT_FORMATS
} ImportFormat;

typedef struct CompileOptions {
    const char *preset;                 /* --preset, or NULL */
    const char *import[IMPORT_FORMATS]; /* --accelerate, --deepspeed: files, or NULL */
    const char *const *set;             /* -s: name=value, in order */
    int n_set;
    const char *hf;   /* the model file was made of this folder or config.json; or NULL */
    int64_t ranks;    /* -n; 0 = not given */
    const char *mesh; /* --mesh dp=4,tp=2; NULL = not given */
    bool to_plan;     /* batch, and steps or epochs, must be given */
} CompileOptions;

typedef struct DataFieldFile {
    const char *name, *path; /* path: npy */
    int64_t classes;         /* synthetic: ids are below; 0 = real numbers */
    Type type;               /* synthetic: of a batch, as dim[0] says */
} DataFieldFile;

typedef struct DataSource {
    bool present;
    SourceKind kind;
    const char *path;          /* text: file; tokens: glob */
    double from, to;           /* text */
    int64_t samples, vocab;    /* synthetic; synthetic tokens */
    uint64_t seed;             /* of both */
    VEC(DataFieldFile) fields; /* npy, synthetic; in the order of Graph.fields */
    Corruption denoising;      /* of tokens; the rest as PlanSource has it */
    int64_t raw, noise, spans, mask, end, words;
    uint64_t draw;
    double rate, mean_span; /* share of noise, tokens of a span */
    Span span;
} DataSource;

/* Whether a sample is the named fields, and not a row of tokens. */
static inline bool source_has_fields(SourceKind kind) {
    return kind == SOURCE_NPY || kind == SOURCE_SYNTHETIC;
}

/* What the plan contains besides the graph and its policy. */
typedef struct RunSettings {
    const char *model; /* base name of the .fsd */
    DataSource train, val;
    int64_t length; /* tokens per sample; 0 for npy */
    DataOrder order;
    int64_t batch, micro_batches, local_batch, ranks;
    bool has_call_samples;  /* a file of DeepSpeed gives the samples of a rank and micro-batch */
    bool has_loss_of_batch; /* the programs depend on the batch and its micro-batches */
    int64_t steps, epochs;  /* one of them is 0 */
    int64_t eval_every;     /* 0 = never */
    int64_t eval_steps;
    uint64_t seed;
    double beta2_decay; /* Adafactor: 1 - beta2 is the number of the step to this power */
    double lr, warmup, decay, final; /* warmup and decay in steps; final is a factor of lr */
    ScheduleKind schedule;
    int64_t parameters;     /* distinct elements */
    int64_t targets;        /* that the loss counts in a call on one rank; 0: not known yet */
    const char *hf_config;  /* text of config.json, or "" */
    const char *hf_facts;   /* JSON: what its keys are if a file lacks them; keys without effect */
    const char *checkpoint; /* folder, or "": then the rest is 0 */
    int64_t checkpoint_every, keep, keep_every; /* 0 = none; of keep: all */
    bool keep_best;
    Snapshot snapshot;
    uint64_t most_copied; /* of snapshot = copy: bytes on a rank; UINT64_MAX: all of the state */
    CheckpointForm form;
    const char *offload_path; /* folder of the file that holds what is offloaded, or "" */
    bool offload_pageable;    /* host memory for it is not pinned */
} RunSettings;

/* The table's tensors that are not whole parameters, and the parts that these are made of: rows of
 * the graph's parameters, which have the name "" in the table. */
typedef struct StoredTensor {
    const char *name;
    int32_t rank;
    int64_t dim[MAX_RANK];
    uint32_t first_part, n_part;
} StoredTensor;

/* One way to name the parameters in files of weights. */
typedef struct FileNames {
    const char *label; /* "" = none */
    StringList skips;  /* patterns of tensors that are not loaded */
    VEC(StoredTensor) stored;
    VEC(StoredPart) parts; /* of these, in their order */
} FileNames;

/* model.c */
const char *import_option(ImportFormat f); /* "accelerate": its option */

#endif
