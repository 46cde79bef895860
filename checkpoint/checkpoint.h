/* Checkpoints: folders of .safetensors files and a manifest, from which a run resumes bit for bit.
 *
 *   CK/lock                                    held by the run that writes here
 *   CK/step-00000400/manifest.json             describes the contents: layout, settings, hashes
 *   CK/step-00000400/rank-00003-of-00008.safetensors, .head.safetensors, .tail.safetensors, ..
 * or, of form `full` (full.c):
 *   CK/step-00000400/model.safetensors, optimizer.safetensors
 *
 * The state is a list of vectors. Each is distributed over the ranks as ir/graph/shards.h defines
 * and contains tensors at fixed places. Ranks that hold the same shard write a part of it each, so
 * every element is written once, and what a rank writes of a vector is one range. If that range
 * cuts a tensor, its whole rows are in the main file, and the rest of the first and the last row is
 * in .head and .tail (.head2, .tail2 for further axes): each piece is a box, which other readers of
 * safetensors understand, with its place in DCP_SHARDING_INFO of the header. If a tensor is cut
 * along an axis other than the first, the same holds for its columns, or the like; and for the
 * parts of a tensor that axes of the mesh cut.
 *
 * In form `full` the files contain whole tensors. The bytes that a rank would write to a file of
 * its own, its stream, are spread over these files: each rank writes its bytes to their places, and
 * no rank gathers anything.
 *
 * The position of a piece is a formula of the manifest's numbers; nothing is searched. Each file,
 * or stream, is hashed in blocks of 8 MiB, so that a part of it can be read and verified. The
 * manifest has a hash of its own.
 *
 * Functions that can fail return 0 or an exit code of util.h after writing one line to `error`
 * (ERROR_BYTES).
 *
 * Includes only the small headers of ir/, plan.h and tensors.h, since both fsdpc and fsdp-run use
 * it.
 */
#ifndef FSDPC_CHECKPOINT_H
#define FSDPC_CHECKPOINT_H

#include <sys/uio.h>

#include "plan.h"
#include "shards.h"
#include "stored.h"
#include "tensors.h"
#include "type.h"
#include "util.h"

enum { CK_VERSION = 8, CK_BLOCK = 8 << 20, CK_ALIGN = 4096 };
/* Size of a stream's block: less than a buffer holds, since extents need room for alignment in
 * it. */
enum { CK_STREAM_BLOCK = 7 << 20 };
enum { CK_MOST_FULL_FILES = 120 };      /* of form full; every rank opens all of them */
#define CK_MOST_FILE 5000000000u        /* default for bytes of tensors in a file of form full */
enum { CK_MOST_RUNS = 64 };             /* of a tensor that is cut, each with files of its own */
enum { CK_MOST_KEPT = 24 };             /* blocks */
enum { CK_CLASSES = 2 * MAX_RANK - 1 }; /* of files of a rank: main, head, tail, head2, .. */

/* ---- what is in a checkpoint */

/* A part of a weight that --save writes into a larger tensor. */
typedef struct CkPart {
    const char *tensor; /* that tensor's name in --save */
    int32_t rank;
    int64_t dim[MAX_RANK], elements;
    StoredPart part; /* param: not used */
} CkPart;

/* A tensor, or a part of it, in a tensor of a file of form full. */
typedef struct CkPlaced {
    uint32_t entry;
    StoredPart part; /* param: not used */
} CkPlaced;

typedef struct CkTensor {
    const char *name;     /* of the parameter; of a moment: optimizer.state.NAME.exp_avg */
    const char *saved_as; /* its name in --save; "" if no single tensor of --save is it */
    uint32_t saved_at;    /* ... its rank in the order of --save, ascending with gaps */
    bool transposed;      /* ... and whether its axes are stored in reverse order */
    int32_t rank;
    int64_t dim[MAX_RANK], elements;
    TensorCut cut;         /* how ranks share it out before their parts are in the vector */
    int64_t parts;         /* .. into that many; 0 without a cut */
    int64_t offset, chunk; /* in its vector, elements of a part; see LayoutPlace */
    uint32_t vector;
    CkPart *part; /* [n_part], if --save stores it in parts; saved_as is then "" */
    uint32_t n_part;
    uint32_t full_file; /* of form full: its file, .. */
    CkPlaced *placed;   /* .. [n_placed] and its places, which cover it in ascending order */
    uint32_t n_placed;
} CkTensor;

/* Of the tensor, or of a rank's part of it with padding. */
static inline int64_t ck_elements(const CkTensor *t) {
    return t->cut.axes ? tensor_part_size(&t->cut, t->parts, t->elements) : t->elements;
}
static inline LayoutPlace ck_place(const CkTensor *t) {
    return (LayoutPlace){ck_elements(t), t->offset, t->chunk};
}
static inline int64_t ck_parts(const CkTensor *t) { return t->cut.axes ? t->parts : 1; }
/* Which elements of the tensor part `number` has. */
static inline TensorPart ck_part(const CkTensor *t, int64_t number) {
    return tensor_part_number(&t->cut, ck_parts(t), number, t->dim, ck_elements(t));
}
static inline void ck_part_dim(const CkTensor *t, int64_t dim[MAX_RANK]) {
    for (int k = 0; k < t->rank; k++) dim[k] = t->dim[k];
    int64_t *cut = &dim[t->cut.dim];
    if (t->cut.axes) *cut = tensor_part_size(&t->cut, t->parts, *cut);
}
/* The axis along which shards cut it, or its part; see layout_axis. */
static inline int ck_axis(const Layout *l, const CkTensor *t) {
    LayoutPlace place = ck_place(t);
    int64_t dim[MAX_RANK];
    ck_part_dim(t, dim);
    return layout_axis(l, &place, dim, t->rank);
}

/* With layout.cut, ranks along these axes have different parts of each tensor: the elements of the
 * vector are those of all shards of part 0, then those of part 1, .. */
typedef struct CkVector {
    uint32_t role, dtype; /* StateRole; DType */
    Layout layout;
    uint32_t first, n; /* its tensors */
} CkVector;

/* A setting on which a run depends, as text: "train.batch" = "32". */
typedef struct CkSetting {
    const char *key, *value;
} CkSetting;

typedef struct CkFile { /* of form full: a rank's stream to a file */
    const char *name;
    int32_t rank,
        class; /* class: 0 main, 1 head, 2 tail, 3 head2, .., CK_CLASSES more for each next run of
                  tensors that are cut in several; of form full: the file's index */
    uint64_t size, header; /* bytes; those before the data (of form full: in rank 0's stream) */
    uint64_t hashed;       /* bytes per block */
    uint64_t *block;       /* hashes, [ck_blocks(file)] */
} CkFile;

typedef struct CkContents {
    int64_t step, samples; /* updates done, and samples read by them */
    bool evaluation_due;   /* the evaluation after the last step is still to come */
    bool has_evaluation;   /* `evaluation` is the loss after this step */
    double evaluation, best_evaluation;
    LossScale loss_scale;      /* scale 0: none */
    uint64_t run, plan, rules; /* the run that wrote it, and its plan */
    CkSetting *setting;
    uint32_t n_setting;
    const char *config; /* text of config.json, or "" */
    Mesh mesh;
    CkVector *vector;
    CkTensor *tensor; /* in the order of their vectors */
    uint32_t n_vector, n_tensor;
    CkFile *file; /* in the order of ranks and classes; filled by ck_files */
    uint32_t n_file;
    CheckpointForm form;
    uint64_t most_file; /* of form full: bytes of tensors per file; a single tensor may exceed it */
    bool stores_as_in_model; /* .. written by version 4: no tensor is transposed or joined with
                              * others
                              */
    /* .. filled by ck_files: */
    bool as_saved;          /* weights have the names and forms of --save */
    TensorPiece *full_file; /* weights, then states of the optimizer */
    TensorPlan *entry;      /* in the order of the files */
    uint32_t n_full_file, n_entry;
} CkContents;

/* states.c: the contents of a checkpoint of the plan, without its step, run and settings. state:
 * space for plan->n_states, or NULL; by vector, the plan's state. */
void ck_plan_states(CkContents *c, const Plan *p, Arena *a, const PlanState **state);

/* layout.c: the position of everything. */
/* The part of an element of the vector; the first element of a rank's part, and of its shard. */
static inline int64_t ck_number(const CkVector *v, int64_t element) {
    return element / v->layout.padded;
}
static inline int64_t ck_part_first(const CkContents *c, uint32_t vector, int64_t rank) {
    const Layout *l = &c->vector[vector].layout;
    return mesh_index(&c->mesh, rank, l->cut) * l->padded;
}
static inline int64_t ck_shard_first(const CkContents *c, uint32_t vector, int64_t rank) {
    return ck_part_first(c, vector, rank) + layout_first(&c->vector[vector].layout, &c->mesh, rank);
}
/* The part of the tensor in which an element of its vector is, and its number there. */
static inline int64_t ck_in_part(const CkContents *c, const CkTensor *t, int64_t element,
                                 TensorPart *part) {
    const CkVector *v = &c->vector[t->vector];
    LayoutPlace place = ck_place(t);
    *part = ck_part(t, ck_number(v, element));
    return layout_element_of(&v->layout, &place, element % v->layout.padded);
}
/* The element of the tensor that an element of its vector is; whether that is padding of a part. */
static inline int64_t ck_element(const CkContents *c, const CkTensor *t, int64_t element) {
    TensorPart part;
    int64_t e = ck_in_part(c, t, element, &part);
    return tensor_element(&part, e);
}
static inline bool ck_pads(const CkContents *c, const CkTensor *t, int64_t element) {
    TensorPart part;
    int64_t e = ck_in_part(c, t, element, &part);
    return tensor_pads(&part, e);
}
/* The range of the vector that the rank writes. */
LayoutRange ck_range(const CkContents *c, uint32_t vector, int32_t rank);
/* A box of a tensor in a file: contiguous there, and in its vector except for padding. Of each
 * `run` elements of the vector from `start` on the first `kept` are no padding; of these the piece
 * has number `skip` and the n - 1 that follow. */
typedef struct CkPiece {
    uint32_t tensor;
    int32_t class;
    int64_t start, run, kept, skip;
    int64_t n;
    int64_t first;         /* the first element's index in the tensor */
    uint64_t at, bytes;    /* in the file, from the start of its data */
    int64_t low[MAX_RANK]; /* the box: its first corner, and its size */
    int64_t extent[MAX_RANK];
} CkPiece;
/* The element of the vector that is number i of the piece; how many of the piece from that one on
 * are contiguous there; how many come before an element of the vector that is in its range. */
static inline int64_t ck_piece_element(const CkPiece *p, int64_t i) {
    int64_t k = p->skip + i;
    return p->start + k / p->kept * p->run + k % p->kept;
}
static inline int64_t ck_piece_run(const CkPiece *p, int64_t i) {
    return MIN(p->kept - (p->skip + i) % p->kept, p->n - i);
}
static inline int64_t ck_piece_index(const CkPiece *p, int64_t element) {
    int64_t in = element - p->start;
    return in / p->run * p->kept + MIN(in % p->run, p->kept) - p->skip;
}
/* The boxes of elements [first, first + n) of a tensor without a cut, in ascending order; at most
 * CK_CLASSES. `at` and the place in the vector are not set. */
uint32_t ck_boxes(const CkTensor *t, int64_t first, int64_t n, CkPiece *out);
/* The most files that a rank writes. */
int32_t ck_classes(const CkContents *c);
/* All pieces that the rank writes, by tensor and element of the vector. */
CkPiece *ck_pieces(const CkContents *c, int32_t rank, Arena *a, uint32_t *n);
/* The list of all files with their sizes and room for hashes. 0, or EXIT_USER if a name cannot be
 * written in a header. */
int ck_files(CkContents *c, Arena *a, char *error);
/* The same, but stops after more than `most` files. */
int ck_first_files(CkContents *c, uint32_t most, Arena *a, char *error);
/* The header of a file, with its length in front. */
char *ck_header(const CkContents *c, const CkPiece *piece, uint32_t n, int32_t class, Arena *a,
                uint64_t *bytes);
static inline uint64_t ck_blocks(const CkFile *f) { return (f->size + f->hashed - 1) / f->hashed; }
char *ck_full_file_header(const CkContents *c, uint32_t file, Arena *a, uint64_t *bytes);
uint64_t ck_total_bytes(const CkContents *c);  /* of all files and the manifest, roughly */
uint64_t ck_largest_file(const CkContents *c); /* of one file */
uint32_t ck_count_files(const CkContents *c);  /* files of tensors */
const char *ck_setting(const CkContents *c, const char *key); /* or NULL */
const CkTensor *ck_find_tensor(const CkContents *c, const char *name);
static inline bool ck_is_weight(const CkContents *c, const CkTensor *t) {
    return c->vector[t->vector].role == STATE_PARAM;
}
/* The tensor that contains an element of a vector, which must not be padding; *first: its index
 * there. */
const CkTensor *ck_tensor_at(const CkContents *c, uint32_t vector, int64_t element, int64_t *first);
/* How many of the n elements from `element` of the vector on, all of this tensor, are contiguous in
 * it too, or padding too. */
static inline int64_t ck_run_length(const CkContents *c, const CkTensor *t, int64_t element,
                                    int64_t n) {
    LayoutPlace place = ck_place(t);
    TensorPart part;
    int64_t e = ck_in_part(c, t, element, &part);
    if (t->chunk) n = MIN(n, layout_run(&c->vector[t->vector].layout, &place, e));
    return t->cut.axes ? MIN(n, tensor_run(&part, e)) : n;
}

/* ---- form full */

/* entries.c: builds the tensors of the files of form full from the state's tensors in this order,
 * and sets the places of the latter. Returns, by entry, the index in `order` of the last tensor
 * that has a part in it. */
uint32_t *ck_entries(CkContents *c, CkTensor *const *order, Arena *a);
/* The same for --save: entries are of weights only, in the order and forms of --save, with numbers
 * of that type (FT_COUNT: as in the state). left_out: by tensor, not written; a tensor that joins
 * it with others has zeros there. NULL, or the name of a tensor whose parts disagree on its shape.
 */
const char *ck_saved_entries(CkContents *c, const bool *left_out, FileType type, Arena *a);
/* Whether --save would write every weight unchanged. */
bool ck_stores_as_in_model(const CkContents *c);
/* full.c: assigns tensors to files and places. Headers get the length that this version writes;
 * ck_set_size sets the length that a manifest states, or returns false. */
int ck_full_files(CkContents *c, Arena *a, char *error);
/* EXIT_USER if a name cannot stand in a file of tensors, or comes twice (tensor_bad_name). */
int ck_check_names(const char *const *name, size_t stride, uint32_t n, char *error);
bool ck_set_size(TensorPiece *w, uint64_t size);
/* Text files next to the tensors: text k and its name; NULL after the last. malloc'ed. */
char *ck_text(const CkContents *c, uint32_t k, const char **name);
/* Bytes that are contiguous both in the stream and in the file, or whole elements of a part that is
 * transposed in the file. */
typedef struct CkExtent {
    uint64_t at;            /* in the file; 0 if it is transposed */
    uint64_t stream, bytes; /* in the stream */
    bool transposed;        /* elements from `first` on of `part`, whose tensor begins at `base` */
    StoredPart part;
    int64_t first;
    uint64_t base;
    uint32_t width;
} CkExtent;
typedef struct CkStream {
    const CkContents *c;
    const CkFile *file;
    const CkPiece *const *piece; /* in it, by place */
    uint32_t n;
} CkStream;
/* The extent that begins at byte `from` of the stream; it ends at `end` or earlier. */
CkExtent ck_extent(const CkStream *s, uint64_t from, uint64_t end);

/* weights.c: the files of --save, written from elements of weights in any order. */
typedef struct CkWeights {
    CkContents c; /* entry: the tensors; tensor: their weights, with their places */
    const SaveForm *form;
    TensorWriter writer;
    bool maps;       /* writes through a mapping of a whole tensor: faster if pieces are small */
    uint32_t mapped; /* that entry; UINT32_MAX: none */
    void *at;
    char *converted; /* elements of another type */
    uint64_t room;   /* bytes there */
} CkWeights;
/* Plans the tensors; left_out: see ck_saved_entries. EXIT_CORRUPT if parts disagree. *twice: a name
 * that two tensors have, or NULL. */
int ck_weights_plan(CkWeights *w, const CkContents *c, const bool *left_out, const SaveForm *form,
                    Arena *a, const char **twice, char *error);
/* The bytes of all files and of the largest; EXIT_USER if they are too many. */
int ck_weights_size(const CkWeights *w, uint64_t *bytes, uint64_t *largest, char *error);
int ck_weights_open(CkWeights *w, char *error);
/* Elements [first, first + n) of c.tensor[tensor], in its vector's type or, if it is not FT_COUNT,
 * in that one. */
int ck_weights_put(CkWeights *w, uint32_t tensor, FileType type, int64_t first, int64_t n,
                   const void *from, char *error);
/* With the code of all before it: gives the files their names, or removes them. */
int ck_weights_close(CkWeights *w, int code, char *error);

/* full_files.c: reads and writes these files. One process creates all files of a folder in their
 * full sizes. */
int ck_make_full_files(const CkContents *c, const char *folder, char *error);
enum { CK_PARTS = 256 };             /* most parts of a block */
enum { CK_LEAST_EXTENT = 64 << 10 }; /* shorter ones go through the file system's cache */
typedef struct OpenFile {
    int fd;                /* -1: closed */
    uint32_t number;       /* which one */
    bool can_pass, passes; /* the cache: whether it is possible; whether it is done now */
    uint64_t offsets;      /* alignment of writes past the cache, powers of 2; .. */
    uint64_t addresses;    /* .. 0: unknown, so everything goes through a buffer */
} OpenFile;
int ck_file_open(OpenFile *f, const char *path, int flags); /* 0 or errno */
void ck_file_close(OpenFile *f);
/* Writes bytes [from, end) of the stream, which are in the parts; 0 or errno. */
int full_file_write(OpenFile *f, const CkStream *s, const struct iovec *part, uint64_t from,
                    uint64_t end);
/* Reads bytes of the stream into a buffer of CK_BLOCK bytes, aligned to CK_ALIGN. Returns 0, or an
 * exit code after writing what is wrong with the file to `what`. */
enum { CK_WHAT = 160 };
int full_file_read(OpenFile *f, const CkStream *s, uint64_t from, uint64_t bytes, uint8_t *to,
                   char what[CK_WHAT]);
/* The same with bytes of the file. */
int ck_file_read(OpenFile *f, uint64_t at, uint64_t bytes, uint8_t *to, char what[CK_WHAT]);

/* ---- buffers: file.c */

/* Memory that files are read into and written from, zeroed; NULL if there is none. */
char *ck_buffer(uint64_t bytes);
void ck_buffer_fills(void *at, uint64_t bytes); /* this much of it is about to be used */
void ck_buffer_free(void *at, uint64_t bytes);
/* Of threads beside a reader or writer: small, because sanitizers have little address space; it
 * also holds the frames of a device's copies. */
enum { CK_STACK = 1 << 20 };

/* ---- writing */

/* Copies elements [first, first + n) of a vector, all of them in this rank's range, to `to`. */
typedef int (*CkFetch)(void *user, uint32_t vector, int64_t first, int64_t n, void *to,
                       char *error);
/* The source of the bytes. */
enum { CK_WRITERS = 2 }; /* threads that write, each with a buffer */
typedef struct CkSource {
    CkFetch fetch;
    /* The address of the elements from `first` on of this rank's range, which stay unchanged until
     * `left`; NULL if they are not in memory. The function may be NULL. */
    const char *(*look)(void *user, uint32_t vector, int64_t first);
    void *user;
    const uint32_t *order; /* by vector: the order of writing; NULL: as in the files */
    void (*left)(void *user, uint32_t vector); /* it will not be read again; may be NULL */
    void *buffer; /* CK_WRITERS * CK_BLOCK bytes, aligned to CK_ALIGN; NULL: its own */
} CkSource;
/* write.c: writes, hashes and syncs the rank's files in `folder`; their hashes go into c->file. The
 * source's functions are called by one thread at a time, which need not be the caller's. */
int ck_write_rank(CkContents *c, const char *folder, int32_t rank, const CkSource *source,
                  char *error);
/* Writes and syncs the manifest in `folder`, which has none yet. */
int ck_write_manifest(const CkContents *c, const char *folder, char *error);

/* file.c */
/* Whether the path is something other than a file, such as a FIFO, whose reader would wait for
 * ever. */
bool ck_is_special_file(const char *path);
/* Writes the parts one after the other from byte `from` of a file on; may change the list; 0 or
 * errno. After a short write the rest goes through the file system's cache. */
int ck_write_parts(int fd, struct iovec *part, int n, uint64_t from);
int ck_reserve(int fd, uint64_t bytes); /* on the disk, where the file system can; 0 or errno */

/* manifest.c */
char *ck_manifest_text(const CkContents *c, size_t *bytes); /* malloc'ed */
int ck_manifest_parse(CkContents *c, Arena *a, const char *path, const char *text, size_t bytes,
                      char *error);

/* ---- reading */

/* read.c: reads one step's folder; used by one thread. */
typedef struct Checkpoint Checkpoint;
/* EXIT_CORRUPT if the manifest was changed or damaged; files are checked when they are read.
 */
int checkpoint_open(Checkpoint **out, const char *folder, char *error);
void checkpoint_close(Checkpoint *k);
const CkContents *checkpoint_contents(const Checkpoint *k);
const char *checkpoint_folder(const Checkpoint *k);
/* Reads elements [first, first + n) of a tensor. Every block that contains them is verified first;
 * an error names file and tensor. */
int checkpoint_read(Checkpoint *k, uint32_t tensor, int64_t first, int64_t n, void *to,
                    char *error);
/* Checks that all files exist with their sizes, and that every block has its hash. */
int checkpoint_verify(Checkpoint *k, char *error);
/* Keeps at least this many blocks of CK_BLOCK bytes that were read, at most CK_MOST_KEPT. */
void checkpoint_keep_blocks(Checkpoint *k, int blocks);

/* verify.c: checkpoint_verify, and checks that headers and manifest agree. */
int ck_verify(Checkpoint *k, char *error);

/* ---- other layouts of the same state: copy.c */

/* The same kind of layout for another number of ranks on one axis: each vector is cut evenly. */
void ck_even_layout(CkContents *c, int64_t ranks, Arena *a);
/* Every tensor of two checkpoints, in the order of `new`, then those that only `old` has; NULL:
 * that one has none of the name. */
typedef void (*CkPairVisit)(void *user, const CkTensor *old, const CkTensor *new);
void ck_each_pair(const CkContents *old, const CkContents *new, CkPairVisit visit, void *user);
void ck_shape_text(const CkContents *c, const CkTensor *t, char out[TYPE_TEXT]);
/* Can the folder's disk take that many? Unknown is yes. */
int ck_check_room(const CkContents *c, const char *folder, uint64_t times, char *error);
/* Writes a new checkpoint into the folder and takes the folder's lock; called by one process.
 * EXIT_USER if the folder already has that step. */
int ck_write_new(CkContents *c, const char *folder, CkFetch fetch, void *user, char *error);
/* The same with the values of another checkpoint, which must have the same tensors (EXIT_CORRUPT).
 * *stop != 0 ends it with EXIT_INTERRUPTED. */
int ck_write_copy(Checkpoint *from, CkContents *to, const char *folder, const volatile int *stop,
                  char *error);

/* ---- names of steps: file.c */

/* The name of a step, such as step-00000400. */
void ck_step_name(char out[32], int64_t step);
bool ck_is_step(const char *name, int64_t *step);
/* The same, but accepts any number of zeros, as people write it. */
bool ck_step_number(const char *name, int64_t *step);

enum { CK_PATH = 4096 };

/* ---- one run at a time: lock.c */

typedef struct CkLock {
    const char *folder;
    uint64_t run;
    int file, itself; /* the file `lock`, and the folder; -1: closed */
    bool guards;      /* at least one is locked; false if the file system cannot lock */
    int why;          /* ... for this errno */
} CkLock;
/* EXIT_ENVIRONMENT if another run has it. */
int ck_take_lock(CkLock *l, const char *folder, uint64_t run, char *error);
/* Checks that the lock is still this run's: called before anything in the folder is renamed or
 * removed. */
int ck_keep_lock(CkLock *l, char *error);
void ck_unlock(CkLock *l);

/* ---- folders of checkpoints: folder.c */

/* Whether it is a checkpoint or a folder of checkpoints. */
bool ck_holds_checkpoint(const char *path);
/* The same, but false for a folder of weights: if a folder holds both, the weights are meant. */
bool ck_is_checkpoint(const char *path);
/* The committed steps, ascending; NULL with n = 0 if there are none. malloc'ed. */
int64_t *ck_steps(const char *folder, uint32_t *n);
/* The step's folder that `path` means: the path itself, or the newest step in it. EXIT_ENVIRONMENT
 * if there is none. */
int ck_resolve_step(const char *path, char out[CK_PATH], char *error);
/* Completes a path that leaves out zeros of a step's name (ck/step-400); false if there is no such
 * step. */
bool ck_complete_path(const char *path, char out[CK_PATH]);
/* The folder that the step's path has it in: of a link, where the link is. */
void ck_step_parent(const char *step, char out[CK_PATH]);
/* The folder of checkpoints that a path to resume from means: of a step, its parent. */
void ck_folder_of(const char *path, char out[CK_PATH]);
/* The newest intact step of the same folder before this one, or -1. Reads all of it. */
int64_t ck_good_before(const char *step_folder);
/* Adds that step to the message. */
void ck_advise_other_step(const char *step_folder, char *error);
/* Creates the folder if it is missing, takes its lock (ck_take_lock), and removes what a run that
 * died left behind. ck_unlock may be called even after a failure. */
int ck_lock_folder(const char *folder, uint64_t run, CkLock *lock, char *error);
/* The path of a step while it is being written. */
void ck_part_path(const char *folder, int64_t step, uint64_t run, char part[CK_PATH]);
/* Creates the folder and, in form full, its files. */
int ck_begin_step(const CkContents *c, const char *part, char *error);
int ck_commit_step(const char *folder, const char *part, int64_t step, char *error);
void ck_remove_folder(const char *path); /* a folder of ours with its files, or a link to one */
/* Retention: keeps the newest `keep` steps (0 = all), multiples of `keep_every` (0 = none) and step
 * `best` (-1 = none). */
void ck_retain_steps(const char *folder, int64_t keep, int64_t keep_every, int64_t best);

#endif
