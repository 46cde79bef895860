/* Checkpoints: folders of .safetensors files and a manifest, from which a run goes on to the bit.
 *
 *   CK/lock                                    held by the run that writes here
 *   CK/step-00000400/manifest.json             what is in it: layout, settings, hashes
 *   CK/step-00000400/rank-00003-of-00008.safetensors, .head.safetensors, .tail.safetensors, ..
 * or, of form `full` (full.c):
 *   CK/step-00000400/model.safetensors, optimizer.safetensors
 *
 * The state is a list of vectors, each one laid over the ranks as ir/graph/shards.h says, and each
 * with tensors at places in it. Ranks that hold the same shard write a part of it each, so every
 * element is written once, and what a rank writes of a vector is one range. Where that range cuts
 * a tensor, the whole rows of it are in the main file, and what is left of the first and the last
 * row in .head and .tail (.head2, .tail2 for further axes): each piece is a box, as other readers
 * of safetensors know them, with its place in DCP_SHARDING_INFO of the header. A tensor that is cut
 * along another axis than the first has its columns, or the like, there.
 *
 * Of form `full` the files have whole tensors. What a rank would have written to a file of its own,
 * its stream, is then spread over them: each rank writes its bytes to their places, and nobody
 * gathers anything.
 *
 * Where a piece lies is a formula of the manifest's numbers; nothing is searched for. Each file, or
 * stream, is hashed in blocks of 8 MiB, so that a part of it can be read and verified. The manifest
 * has a hash of its own.
 *
 * Functions that can fail return 0 or an exit code of util.h after writing one line to `error`
 * (CK_ERROR_BYTES).
 *
 * Depends on the small headers of ir/ and on plan.h: fsdpc and fsdp-run both use it.
 */
#ifndef FSDPC_CHECKPOINT_H
#define FSDPC_CHECKPOINT_H

#include <sys/uio.h>

#include "plan.h"
#include "shards.h"
#include "stored.h"
#include "type.h"
#include "util.h"

enum { CK_ERROR_BYTES = 512, CK_VERSION = 5, CK_BLOCK = 8 << 20, CK_ALIGN = 4096 };
/* Of a stream: less than a buffer takes, in which its extents begin at places of their own. */
enum { CK_STREAM_BLOCK = 7 << 20 };
enum { CK_MOST_FULL_FILES = 120 }; /* files of form full, which every rank opens */
#define CK_MOST_FILE 5000000000u   /* bytes of tensors in a file of form full, if nobody says */
enum { CK_MOST_KEPT = 24 };        /* blocks */
enum { CK_CLASSES = 2 * MAX_RANK - 1 }; /* files of a rank at most: main, head, tail, head2, .. */

/* ---- what is in a checkpoint */

/* A part of a weight in a tensor of --save that is not the whole of one. */
typedef struct CkPart {
    const char *tensor; /* what --save calls that */
    int32_t rank;
    int64_t dim[MAX_RANK], elements;
    StoredPart part; /* param: not used */
} CkPart;

/* A part of a tensor, or all of it, in a tensor of a whole file. */
typedef struct CkPlaced {
    uint32_t entry;
    StoredPart part; /* param: not used */
} CkPlaced;

typedef struct CkTensor {
    const char *name;     /* of the parameter; of a moment: optimizer.state.NAME.exp_avg */
    const char *saved_as; /* what --save calls it; "" where that is no tensor of --save */
    uint32_t saved_at;    /* ... and after how many others it comes there, about: they ascend */
    bool transposed;      /* ... and stores with its axes in reverse order */
    int32_t rank;
    int64_t dim[MAX_RANK], elements;
    int64_t offset, chunk; /* in its vector, elements; see LayoutPlace */
    uint32_t vector;
    CkPart *part; /* [n_part], of one that --save has in parts; saved_as is "" then */
    uint32_t n_part;
    uint32_t full_file; /* of form full: the file that it is in, .. */
    CkPlaced *placed;   /* .. [n_placed] and where; by ascending elements, all of them */
    uint32_t n_placed;
} CkTensor;

static inline LayoutPlace ck_place(const CkTensor *t) {
    return (LayoutPlace){t->elements, t->offset, t->chunk};
}

typedef struct CkVector {
    uint32_t role, dtype; /* StateRole; DType */
    Layout layout;
    uint32_t first, n; /* its tensors */
} CkVector;

/* Something that a run depends on, as text: "train.batch" = "32". */
typedef struct CkSetting {
    const char *key, *value;
} CkSetting;

typedef struct CkFile { /* of form full: what a rank writes to one, its stream */
    const char *name;
    int32_t rank, class;   /* class: 0 main, 1 head, 2 tail, 3 head2, ..; of form full: which one */
    uint64_t size, header; /* bytes; of them before the data, of form full in that of rank 0 */
    uint64_t hashed;       /* bytes of a block */
    uint64_t *block;       /* hashes, [ck_blocks(file)] */
} CkFile;

typedef struct CkEntry { /* a tensor in a file of form full */
    const char *name;
    uint32_t dtype;
    int32_t rank;
    int64_t dim[MAX_RANK], elements;
    uint64_t at; /* its first byte among the data of its file */
} CkEntry;

typedef struct CkFullFile { /* a file of form full */
    const char *name;
    uint32_t first, n;     /* its tensors: CkContents.entry */
    uint64_t size, header; /* bytes; of them before the data */
} CkFullFile;

typedef struct CkContents {
    int64_t step, samples; /* updates done; samples that they read */
    bool evaluation_due;   /* the evaluation after the last step is still to come */
    bool has_evaluation;   /* `evaluation` is the loss of the one after this step */
    double evaluation, best_evaluation;
    LossScale loss_scale;      /* scale 0: none */
    uint64_t run, plan, rules; /* who wrote it, from which plan */
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
    uint64_t most_file;      /* of form full: bytes of tensors in a file; one may have more alone */
    bool stores_as_in_model; /* .. version 4 wrote it: no tensor is transposed or joined with others
                              */
    /* .. filled by ck_files: */
    bool as_saved;         /* weights are called, and lie in files, as --save has them */
    CkFullFile *full_file; /* weights, then states of the optimizer */
    CkEntry *entry;        /* in the order of the files */
    uint32_t n_full_file, n_entry;
} CkContents;

/* states.c: what a checkpoint of the plan holds, without its step, run and settings. state: room
 * for plan->n_states, or NULL: where each vector is in the arena. */
void ck_plan_states(CkContents *c, const Plan *p, Arena *a, const PlanState **state);

/* layout.c: where everything is. */
/* What the rank writes of the vector. */
LayoutRange ck_range(const CkContents *c, uint32_t vector, int32_t rank);
typedef struct CkPiece { /* a box of a tensor in a file: contiguous there and in its vector */
    uint32_t tensor;
    int32_t class;
    int64_t element, n;    /* elements [element, element + n) of the vector */
    int64_t first;         /* the first one's number in the tensor */
    uint64_t at, bytes;    /* in the file, from the start of its data */
    int64_t low[MAX_RANK]; /* corner of the box, and its extent */
    int64_t extent[MAX_RANK];
} CkPiece;
/* The boxes of elements [first, first + n) of a tensor in ascending order; at most CK_CLASSES. `at`
 * and `element` are not set. */
uint32_t ck_boxes(const CkTensor *t, int64_t first, int64_t n, CkPiece *out);
/* How many files a rank writes at most. */
static inline int32_t ck_classes(const CkContents *c) {
    return c->form == CHECKPOINT_FULL ? (int32_t)c->n_full_file : CK_CLASSES;
}
/* All pieces that the rank writes, by tensor and element of the vector. */
CkPiece *ck_pieces(const CkContents *c, int32_t rank, Arena *a, uint32_t *n);
/* The list of all files with their sizes and room for hashes. 0, or EXIT_USER where a name cannot
 * stand in a header. */
int ck_files(CkContents *c, Arena *a, char *error);
/* The same, given up where they are more than `most`. */
int ck_first_files(CkContents *c, uint32_t most, Arena *a, char *error);
/* headers.c: what they call a dtype; NULL: no file has tensors of it. */
const char *ck_header_type(uint32_t dtype);
/* The header of a file with its length in front. */
char *ck_header(const CkContents *c, const CkPiece *piece, uint32_t n, int32_t class, Arena *a,
                uint64_t *bytes);
static inline uint64_t ck_blocks(const CkFile *f) { return (f->size + f->hashed - 1) / f->hashed; }
char *ck_full_file_header(const CkContents *c, const CkFullFile *w, Arena *a, uint64_t *bytes);
uint64_t ck_total_bytes(const CkContents *c);  /* of all files and the manifest, about */
uint64_t ck_largest_file(const CkContents *c); /* of one file */
uint32_t ck_count_files(const CkContents *c);  /* of files of tensors */
const char *ck_setting(const CkContents *c, const char *key); /* or NULL */
const CkTensor *ck_find_tensor(const CkContents *c, const char *name);
/* The tensor that an element of a vector belongs to, which is no padding, and its element there. */
const CkTensor *ck_tensor_at(const CkContents *c, uint32_t vector, int64_t element, int64_t *first);
/* How many of the tensor's elements from e on, of n that follow it in the vector, follow it in the
 * tensor too. */
static inline int64_t ck_run_length(const CkContents *c, const CkTensor *t, int64_t e, int64_t n) {
    LayoutPlace place = ck_place(t);
    return t->chunk ? MIN(n, layout_run(&c->vector[t->vector].layout, &place, e)) : n;
}

/* ---- form full */

/* entries.c: the tensors of whole files, of those of the state in this order, and where each of
 * these is in them. By entry, the place in `order` of the last tensor that has a part in it. */
uint32_t *ck_entries(CkContents *c, const uint32_t *order, Arena *a);
/* Would --save write every weight as it is? */
bool ck_stores_as_in_model(const CkContents *c);
/* full.c: which file has which tensor, and where. The headers of files are as long as this version
 * writes them; ck_set_size has the one that a manifest says, or returns false. */
int ck_full_files(CkContents *c, Arena *a, char *error);
bool ck_set_size(CkFullFile *w, uint64_t size);
/* Texts beside the files: text k, and its name; NULL after the last. malloc'ed. */
char *ck_text(const CkContents *c, uint32_t k, const char **name);
/* Bytes of a stream that follow each other in the file too, or whole elements of a part that is
 * transposed there. */
typedef struct CkExtent {
    uint64_t at;            /* in the file; 0 where it is transposed */
    uint64_t stream, bytes; /* in the stream */
    bool transposed;        /* elements from `first` on of `part`, whose tensor begins at `base` */
    StoredPart part;
    int64_t first;
    uint64_t base, width;
} CkExtent;
typedef struct CkStream {
    const CkContents *c;
    const CkFile *file;
    const CkPiece *const *piece; /* in it, by place */
    uint32_t n;
} CkStream;
/* From byte `from` of the stream on, at most up to `end`. */
CkExtent ck_extent(const CkStream *s, uint64_t from, uint64_t end);

/* full_files.c: these files. One process makes all of a folder, of their sizes. */
int ck_make_full_files(const CkContents *c, const char *folder, char *error);
enum { CK_PARTS = 256 };             /* of a block, at most */
enum { CK_LEAST_EXTENT = 64 << 10 }; /* that goes past the file system's cache */
typedef struct OpenFullFile {
    int fd;                      /* -1: closed */
    uint32_t number;             /* which one */
    bool can_pass, passes;       /* the cache; does now */
    uint64_t offsets, addresses; /* see Out of write.c */
} OpenFullFile;
int full_file_open(OpenFullFile *f, const char *path, bool reads); /* 0 or errno */
void full_file_close(OpenFullFile *f);
/* Bytes [from, end) of the stream, which lie in the parts; 0 or errno. */
int full_file_write(OpenFullFile *f, const CkStream *s, const struct iovec *part, uint64_t from,
                    uint64_t end);
/* Bytes of the stream to a buffer of CK_BLOCK bytes, aligned to CK_ALIGN. 0, or an exit code after
 * writing what is wrong with the file. */
enum { CK_WHAT = 160 };
int full_file_read(OpenFullFile *f, const CkStream *s, uint64_t from, uint64_t bytes, uint8_t *to,
                   char what[CK_WHAT]);

/* ---- worker.c */

/* Memory that files are read to and written from, zeroed; NULL: there is none. */
char *ck_buffer(uint64_t bytes);
void ck_buffer_fills(void *at, uint64_t bytes); /* so much of it is about to be used */
void ck_buffer_free(void *at, uint64_t bytes);
/* A thread that does `job` each time it is started. Between ck_worker_start and ck_worker_wait what
 * the job works on is its own. */
typedef struct CkWorker CkWorker;
int ck_worker_open(CkWorker **out, void (*job)(void *user), void *user); /* 0 or errno */
void ck_worker_start(CkWorker *b); /* not while the job is being done */
void ck_worker_wait(CkWorker *b);
void ck_worker_close(CkWorker *b); /* waits for the job; NULL: nothing */

/* ---- writing */

/* Elements [first, first + n) of a vector, all of them in this rank's range, into `to`. */
typedef int (*CkFetch)(void *user, uint32_t vector, int64_t first, int64_t n, void *to,
                       char *error);
/* Where the bytes come from. */
enum { CK_WRITERS = 2 }; /* threads that write, each with a buffer */
typedef struct CkSource {
    CkFetch fetch;
    /* Where elements from `first` on of this rank's range are in memory, which stays as it is until
     * `left`; NULL: they are not. The function may be NULL. */
    const char *(*look)(void *user, uint32_t vector, int64_t first);
    void *user;
    const uint32_t *order; /* by vector: in which order they leave; NULL: as in the files */
    void (*left)(void *user, uint32_t vector); /* it will be read no more; may be NULL */
    void *buffer; /* CK_WRITERS * CK_BLOCK bytes, aligned to CK_ALIGN; NULL: its own */
} CkSource;
/* write.c: the rank's files in `folder`, written, hashed and synced; their hashes go into c->file.
 * The source's functions are called by one thread at a time, the calling one or another. */
int ck_write_rank(CkContents *c, const char *folder, int32_t rank, const CkSource *source,
                  char *error);
/* Without a checkpoint in `folder` yet: the manifest, synced under its name. */
int ck_write_manifest(const CkContents *c, const char *folder, char *error);

/* file.c */
/* Is there something that is no file, such as a FIFO, whose reader waits for ever? */
bool ck_is_special_file(const char *path);
int ck_write_at_start(int fd, const char *text,
                      size_t bytes); /* from the start of a file; 0 or errno */
/* The parts, of which it may change the list, one after the other from byte `from` of a file on; 0
 * or errno. What was cut short goes on through the file system's cache. */
int ck_write_parts(int fd, struct iovec *part, int n, uint64_t from);
int ck_reserve(int fd, uint64_t bytes); /* on the disk, where the file system can; 0 or errno */
/* What offsets and addresses must be multiples of to be written past the cache; as they are where
 * nobody says so. */
void ck_direct_multiples(int fd, uint64_t *offsets, uint64_t *addresses);

/* manifest.c */
char *ck_manifest_text(const CkContents *c, size_t *bytes); /* malloc'ed */
int ck_manifest_parse(CkContents *c, Arena *a, const char *path, const char *text, size_t bytes,
                      char *error);

/* ---- reading */

/* read.c: one step's folder, by one thread. */
typedef struct Checkpoint Checkpoint;
/* EXIT_CORRUPT where the manifest is not what was written; files are looked at when they are read.
 */
int checkpoint_open(Checkpoint **out, const char *folder, char *error);
void checkpoint_close(Checkpoint *k);
const CkContents *checkpoint_contents(const Checkpoint *k);
const char *checkpoint_folder(const Checkpoint *k);
/* Elements [first, first + n) of a tensor. Every block that they lie in is verified before; a fault
 * names file and tensor. */
int checkpoint_read(Checkpoint *k, uint32_t tensor, int64_t first, int64_t n, void *to,
                    char *error);
/* All files are there, have their sizes, and every block its hash. */
int checkpoint_verify(Checkpoint *k, char *error);
/* Keeps at least so many blocks of CK_BLOCK bytes that were read, at most CK_MOST_KEPT. */
void checkpoint_keep_blocks(Checkpoint *k, int blocks);

/* verify.c: checkpoint_verify, and that headers and manifest say the same. */
int ck_verify(Checkpoint *k, char *error);

/* ---- other layouts of the same state: copy.c */

/* The same kind of layout for another number of ranks, on one axis: each vector cut evenly. */
void ck_even_layout(CkContents *c, int64_t ranks, Arena *a);
/* Writes a new checkpoint into the folder, which holds none of that step, and takes its lock; by
 * one process. EXIT_USER where it has the step. */
int ck_write_new(CkContents *c, const char *folder, CkFetch fetch, void *user, char *error);
/* The same with the values of another one, which must have the same tensors (EXIT_CORRUPT). *stop
 * != 0 ends it with EXIT_INTERRUPTED. */
int ck_write_copy(Checkpoint *from, CkContents *to, const char *folder, const volatile int *stop,
                  char *error);

/* ---- names: names.c */

/* Of steps, such as step-00000400. */
void ck_step_name(char out[32], int64_t step);
bool ck_is_step(const char *name, int64_t *step);
/* The same with any number of zeros, as people write it. */
bool ck_step_number(const char *name, int64_t *step);

enum { CK_PATH = 4096 };

/* ---- one run at a time: lock.c */

typedef struct CkLock {
    const char *folder;
    uint64_t run;
    int file, itself; /* the file `lock`, and the folder; -1: closed */
    bool guards;      /* one of them is locked; else the file system cannot */
    int why;          /* ... for this errno */
} CkLock;
/* EXIT_ENVIRONMENT where another run has it. */
int ck_take_lock(CkLock *l, const char *folder, uint64_t run, char *error);
/* It is still this run's: to be asked before anything in the folder gets its name or goes. */
int ck_keep_lock(CkLock *l, char *error);
void ck_unlock(CkLock *l);

/* ---- folders of checkpoints: folder.c */

/* Is it a checkpoint or a folder of some? */
bool ck_holds_checkpoint(const char *path);
/* The same, and no folder of weights: those are meant where both lie in one folder. */
bool ck_is_checkpoint(const char *path);
/* The committed steps, ascending; NULL with n = 0 where there are none. malloc'ed. */
int64_t *ck_steps(const char *folder, uint32_t *n);
/* The step's folder that `path` means: the path itself, or the newest in it. EXIT_ENVIRONMENT where
 * there is none. */
int ck_resolve_step(const char *path, char out[CK_PATH], char *error);
/* The step's folder that is meant by a path which is not there, since it leaves out zeros of the
 * name (ck/step-400); false where there is none. */
bool ck_complete_path(const char *path, char out[CK_PATH]);
/* The newest step of the same folder before this one that is whole, or -1. Reads all of it. */
int64_t ck_good_before(const char *step_folder);
/* Adds to the message which one that is. */
void ck_advise_other_step(const char *step_folder, char *error);
/* Makes the folder where it is missing, takes its lock (ck_take_lock), removes what a run that died
 * left behind. After a failure too, ck_unlock may be called. */
int ck_lock_folder(const char *folder, uint64_t run, CkLock *lock, char *error);
/* Where the step is made before it is complete. */
void ck_part_path(const char *folder, int64_t step, uint64_t run, char part[CK_PATH]);
/* The folder, and of form full its files. */
int ck_begin_step(const CkContents *c, const char *part, char *error);
int ck_commit_step(const char *folder, const char *part, int64_t step, char *error);
void ck_remove_folder(const char *path); /* a folder of ours with its files */
/* Retention: the newest `keep` (0 = all), multiples of `keep_every` (0 = none) and step `best` (-1
 * = none) stay. */
void ck_retain_steps(const char *folder, int64_t keep, int64_t keep_every, int64_t best);

#endif
