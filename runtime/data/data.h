/* Data: files that are mapped, checked at start, and read sample by sample into a batch; samples
 * that are generated; and tokenizers for prompts.
 *
 * A Dataset is one source of the plan ("train" or "val") opened. Reading allocates nothing and many
 * threads may read at once. Ids are checked when they are read: one that its consumer (an
 * embedding, a loss) cannot take gives EXIT_CORRUPT with file and byte offset. Functions that can
 * fail return 0 or an exit code of util.h after writing one line to `error` (ERROR_BYTES).
 *
 * May include: options (--data), random, tensors (mapped files, element types), plan.h.
 */
#ifndef FSDPC_DATA_H
#define FSDPC_DATA_H

#include "options.h"
#include "plan.h"
#include "tensors.h"

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

enum { DENOISING_FIELDS = 4 };

typedef struct Dataset {
    const Plan *plan;
    const PlanSource *source;
    const char *name;
    DataFile *file;
    uint32_t n_file;
    int64_t samples;
    int64_t length;     /* tokens per sample, 0 for npy */
    uint64_t n_field;   /* of one micro-batch: only these are read */
    FieldRange *range;  /* [plan fields] */
    uint32_t *of_field; /* npy: file of each plan field; tokens: 0 inputs, 1 targets */
    uint32_t *width;    /* [plan fields] elements per sample */
    int64_t denoising[DENOISING_FIELDS]; /* denoising.c: the plan's fields, or -1 */
    Arena *arena;
} Dataset;

/* A sample of a dataset: its number, and how many epochs came before, which decides what mlm and
 * span_corruption draw. */
typedef struct SampleAt {
    int64_t k, epoch;
} SampleAt;

/* A sample for denoising that is built from its tokens, in order. */
typedef struct DenoisingSample {
    const Dataset *d;
    int64_t draw, taken, kept, noise, span, source, labels;
    bool inside;                   /* a span */
    int32_t *to[DENOISING_FIELDS]; /* rows of the fields, or NULL */
} DenoisingSample;

/* The header of a NumPy array. */
typedef struct NpyHeader {
    FileType type;
    int32_t rank;
    int64_t dim[FILE_MAX_RANK];
    uint64_t data; /* offset of the first element */
} NpyHeader;

/* Fields of one micro-batch, which come first; the others have some of them for all of a step. */
static inline uint64_t plan_batch_fields(const Plan *p) {
    uint64_t n = 0;
    while (n < p->n_fields && !p->fields[n].of) n++;
    return n;
}

typedef struct Tokenizer Tokenizer;

/* dataset.c. options: the --data of the command line. */
int dataset_open(const Plan *p, const char *name, const DataOption *option, uint32_t n_option,
                 Dataset **out, char *error);
void dataset_close(Dataset *d);
/* Reads n samples into rows `row`, `row` + 1, .. of every field in the slot. */
int dataset_read(const Dataset *d, const SampleAt *at, int64_t n, int64_t row, uint8_t *slot,
                 char *error);
int data_options_check(const Plan *p, const DataOption *option, uint32_t n_option, char *error);
/* What messages call it: its first file, or "synthetic". */
const char *dataset_place(const Dataset *d);

/* synthetic.c: generated samples. */
int synthetic_open(Dataset *d, char *error);
void synthetic_read(const Dataset *d, SampleAt at, int64_t row, uint8_t *slot);

/* denoising.c: mlm and span_corruption; d->range and d->width are set. */
int denoising_open(Dataset *d, char *error);
void denoising_begin(DenoisingSample *c, const Dataset *d, SampleAt at, int64_t row, uint8_t *slot);
void denoising_add(DenoisingSample *c,
                   int32_t token); /* tokens past the sample's end are ignored */

/* field_range.c */
/* The source's field of that name, or NULL; the message for a field of the batch that it lacks. */
const PlanSourceField *dataset_field(const Dataset *d, const char *name);
int dataset_lacks_field(const Dataset *d, const char *name, char *error);
void field_ranges(const Plan *p, FieldRange *range);

/* npy.c */
const char *npy_type_name(FileType type); /* as in a header, f4 */
int npy_read_header(const char *path, const uint8_t *bytes, size_t size, NpyHeader *h, char *error);

/* tokenizer.c: text and token ids by a tokenizer.json. */
int tokenizer_open(Tokenizer **out, const char *path, char *error);
void tokenizer_close(Tokenizer *t);
int64_t tokenizer_ids(const Tokenizer *t); /* all ids are below */
/* The bytes that the id stands for; none where it is unknown. */
const char *tokenizer_bytes(const Tokenizer *t, int64_t id, size_t *n);
/* ids: space for as many as text has bytes. */
int tokenizer_encode(const Tokenizer *t, const char *text, int32_t *ids, int64_t *n, char *error);

#endif
