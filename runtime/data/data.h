/* Data: files that are mapped, checked at start, and read sample by sample into a batch.
 *
 * A Dataset is one source of the plan ("train" or "val") opened. Reading allocates nothing and many
 * threads may read at once. Ids are checked when they are read: one that its consumer (an
 * embedding, a loss) cannot take gives EXIT_CORRUPT with file and byte offset.
 */
#ifndef FSDPC_DATA_H
#define FSDPC_DATA_H

#include "device.h"
#include "plan.h"
#include "tensors.h"

typedef struct DataOption DataOption;

/* What the consumers of a field allow, from the plan's instructions. */
typedef struct FieldRange {
    int64_t below; /* values are in [0, below), 0 = unlimited */
    bool ignored;  /* ... or this one */
    int64_t ignore;
} FieldRange;

typedef struct DataFile {
    MappedFile map;
    uint64_t first_byte;  /* of the first element */
    int64_t tokens;       /* tokens, text: elements */
    int64_t first_sample; /* number of this file's first sample in the dataset */
    FileType type;
} DataFile;

enum { CORRUPTED_FIELDS = 4 };

typedef struct Dataset {
    const Plan *plan;
    const PlanSource *source;
    const char *name;
    DataFile *file;
    uint32_t n_file;
    int64_t samples;
    int64_t length;     /* tokens a sample, 0 for npy */
    FieldRange *range;  /* [plan fields] */
    uint32_t *of_field; /* npy: file of each plan field; tokens: 0 inputs, 1 targets */
    uint32_t *width;    /* [plan fields] elements a sample */
    int64_t corrupted[CORRUPTED_FIELDS]; /* corruption.c: the plan's fields, or -1 */
    Arena *arena;
} Dataset;

/* A sample of a dataset: its number, and which time it is read, which decides what mlm and
 * span_corruption draw. */
typedef struct SampleAt {
    int64_t k, epoch;
} SampleAt;

/* A sample that is being made of its tokens, in order. */
typedef struct Corrupted {
    const Dataset *d;
    int64_t draw, taken, kept, noise, span, source, labels;
    bool inside;                   /* a span */
    int32_t *to[CORRUPTED_FIELDS]; /* rows of the fields, or NULL */
} Corrupted;

/* dataset.c. options: the --data of the command line. */
int dataset_open(const Plan *p, const char *name, const DataOption *option, uint32_t n_option,
                 Dataset **out, char *error);
void dataset_close(Dataset *d);
/* n samples as rows `row` and on of every field in the slot. */
int dataset_read(const Dataset *d, const SampleAt *at, int64_t n, int64_t row, uint8_t *slot,
                 char *error);
int data_options_check(const Plan *p, const DataOption *option, uint32_t n_option, char *error);
/* What messages call it: its first file, or that it is made up. */
const char *dataset_place(const Dataset *d);
/* synthetic.c: samples that are made up. */
int synthetic_open(Dataset *d, char *error);
void synthetic_read(const Dataset *d, SampleAt at, int64_t row, uint8_t *slot);
/* corruption.c: mlm and span_corruption; d->range and d->width are there. */
int corrupted_open(Dataset *d, char *error);
void corrupted_begin(Corrupted *c, const Dataset *d, SampleAt at, int64_t row, uint8_t *slot);
void corrupted_take(Corrupted *c, int32_t token); /* more than there are: ignored */
/* field_range.c */
void field_ranges(const Plan *p, FieldRange *range);

/* npy.c: the header of a NumPy array. */
typedef struct NpyHeader {
    FileType type;
    int32_t rank;
    int64_t dim[FILE_MAX_RANK];
    uint64_t data; /* offset of the first element */
} NpyHeader;
const char *npy_type_name(FileType type); /* as in a header, f4 */
int npy_read_header(const char *path, const uint8_t *bytes, size_t size, NpyHeader *h, char *error);

/* order.c: a permutation of [0, n), keyed by (seed, epoch), computed element by element. */
int64_t shuffled(int64_t index, int64_t n, uint64_t seed, uint64_t epoch);

#endif
