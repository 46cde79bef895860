/* Tensors in files: safetensors (read and written), and the element types of files.
 *
 * A .safetensors file: u64 length of the header, the header (JSON: name -> dtype, shape,
 * data_offsets from the header's end), the data. Everything is checked before use: an invalid file
 * gives EXIT_CORRUPT.
 *
 * Both programs use it. Functions that can fail return 0 or an exit code of util.h after writing a
 * message to `error` (ERROR_BYTES). Of the compiler it includes only plan.h, for the names of
 * parameters.
 */
#ifndef FSDPC_TENSORS_H
#define FSDPC_TENSORS_H

#include <limits.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "plan.h"
#include "util.h"

typedef enum FileType {
    FT_F64,
    FT_F32,
    FT_F16,
    FT_BF16,
    FT_I64,
    FT_I32,
    FT_I16,
    FT_I8,
    FT_U64,
    FT_U32,
    FT_U16,
    FT_U8,
    FT_BOOL,
    FT_COUNT
} FileType;
enum { FILE_MAX_RANK = 8 };

/* mapped.c: files that are read through a mapping: opened once, checked to be regular files, and
 * watched for truncation while in use. */
typedef struct MappedFile {
    const char *path;
    const uint8_t *bytes; /* NULL when it is empty */
    size_t size;
    dev_t device; /* with inode: identifies the file, whatever the path names later */
    ino_t inode;
} MappedFile;
/* kind: "", "data file ", ..; used in the message if the file cannot be opened
 * (EXIT_ENVIRONMENT). */
int mapped_open(MappedFile *f, const char *path, const char *kind, char *error);
void mapped_close(MappedFile *f);
/* Only parts of it will be read: turns off read-ahead. */
void mapped_in_parts(const MappedFile *f);
/* These bytes of a mapping will be read soon: the system may begin to read them. */
void mapped_expect(const uint8_t *from, uint64_t bytes);
/* They were read and need not stay in this process's memory. */
void mapped_release(const uint8_t *from, uint64_t bytes);
/* Whether the opened file is shorter now: missing bytes may have been read as zeros. */
bool mapped_shorter(const MappedFile *f);
/* Writes the message for a file that could not be read to its end: EXIT_CORRUPT. */
int mapped_lost(const MappedFile *f, char *error);
void mapped_watch(void);
/* `read` may only read memory and write to its operand. Returns false if a mapped file was
 * truncated or cannot be read: the results of `read` are then incomplete. */
bool mapped_read(void (*read)(void *), void *user);

/* elements.c */
extern const char *const file_type_name[FT_COUNT]; /* in headers: "F32" */
uint32_t file_type_bytes(FileType t);
bool file_type_float(FileType t);
/* n elements at `from`, any alignment, little-endian, as floats / doubles / integers. */
void load_floats(const void *from, FileType t, int64_t n, float *to);
double load_real(const void *from, FileType t);
int64_t load_integer(const void *from, FileType t); /* integer types only */
void load_integers(const void *from, FileType t, int64_t n, int64_t *to);
bool load_words(const void *from, FileType t, int64_t n, int32_t *to); /* false: not this type */
void store_floats(void *to, int dtype, const float *from, int64_t n);  /* DT_F32, BF16, F16, F64 */
void store_elements(void *to, FileType type, const float *from, int64_t n); /* real types */
FileType file_type_of(int dtype); /* FT_COUNT when there is none */

/* safetensors.c: reading one file */
typedef struct TensorFile TensorFile;
typedef struct Tensor {
    const char *name;
    const TensorFile *file;
    FileType type; /* FT_COUNT: unknown */
    int32_t rank;
    int64_t dim[FILE_MAX_RANK], elements;
    const uint8_t *data; /* in the mapped file */
    uint64_t bytes;
} Tensor;
struct TensorFile {
    MappedFile map;
    Tensor *tensor; /* in the order of their data */
    uint32_t n;
    Arena *arena;
};
int tensors_open(TensorFile *f, const char *path, char *error);
void tensors_close(TensorFile *f);

/* tensor_set.c: the files of --load: a file, the index of several, or a folder with either. */
typedef struct TensorSet {
    const char *path;   /* as the user gave it */
    const char *folder; /* tensor_set_folder of it */
    TensorFile *file;
    uint32_t n_file, n;
    const Tensor **tensor; /* of all files, by name */
    Arena *arena;
} TensorSet;
/* The folder that the path means, with a slash at its end; NULL: a file alone. */
const char *tensor_set_folder(Arena *a, const char *path);
int tensor_set_open(TensorSet *s, const char *path, char *error);
void tensor_set_close(TensorSet *s);
const Tensor *tensor_set_find(const TensorSet *s, const char *name, uint32_t *row); /* or NULL */

/* parts.c: numbers of a part of a parameter (stored.h), from `first` of the part on, read from its
 * tensor or written into it, as elements of `width` bytes. */
void part_floats(const StoredPart *s, const Tensor *t, int64_t first, int64_t n, float *to);
void part_store(const StoredPart *s, uint32_t width, int64_t first, int64_t n, const char *from,
                char *to);
/* Turns elements [first, first + n) of the parameter into elements of the part; returns how many of
 * them the part holds. */
int64_t part_overlap(const StoredPart *s, int64_t *first, int64_t n);

/* file_bytes.c. Functions that return int: 0 or errno. */
int file_put(int fd, uint64_t at, const void *bytes, size_t n);
int file_get(int fd, uint64_t at, void *bytes, size_t n);    /* -1: the file ends before */
int file_make(const char *path, const char *text, size_t n); /* a new file, written and synced */
/* Elements [first, first + n) of a part, of `width` bytes, in a file whose tensor begins at byte
 * `base`. part_read returns -1 if the file ends before them. */
int part_write(int fd, uint64_t base, const StoredPart *s, uint32_t width, int64_t first, int64_t n,
               const void *from);
int part_read(int fd, uint64_t base, const StoredPart *s, uint32_t width, int64_t first, int64_t n,
              void *to);

/* match.c: which tensor of a set holds which parameter of the plan. */
typedef struct PartMatch {
    const Tensor *tensor;
    const StoredPart *part;
} PartMatch;
typedef struct TensorMatch {
    const Tensor *tensor;      /* if it is in parts: the tensor of the first one */
    const Tensor *const *same; /* [n_same] tensors under other names of a tied parameter */
    uint32_t n_same;
    bool transposed;
    const PartMatch *part; /* [n_part], or none if the tensor is the parameter */
    uint32_t n_part;
} TensorMatch;
/* match: [n_params]. EXIT_CORRUPT if a tensor is missing, has another shape, or matches no
 * parameter: `report` then lists them all. */
int tensors_match(const Plan *p, const TensorSet *s, TensorMatch *match, Buf *report);
/* Elements [first, first + n) of a parameter, in .fsd layout, to dtype. */
void tensor_elements(const TensorMatch *m, int64_t first, int64_t n, int dtype, void *to);
/* The elements will be read soon; or they were read and their pages may be dropped. */
void tensor_expect(const TensorMatch *m, int64_t first, int64_t n);
void tensor_release(const TensorMatch *m);
/* Whether adjacent elements of the parameter lie far apart in the file. */
bool tensor_scattered(const TensorMatch *m);
/* The first of m->same whose values differ from m->tensor in these elements, or NULL. */
const Tensor *tensor_unlike(const TensorMatch *m, int64_t first, int64_t n);

/* target.c: where an output file will be, with links followed. */
typedef struct Target {
    const char *path;      /* as the user gave it */
    char file[PATH_MAX];   /* the destination of its links */
    char folder[PATH_MAX]; /* of `file`, with a slash at its end */
    bool exists;           /* if so, `now` describes it */
    struct stat now, folder_now;
} Target;
int target_find(Target *t, const char *path, char *error);
/* Checks that a file can be created or replaced there, or, if `folder`, that a folder can be
 * created or filled. */
int target_check(const Target *t, bool folder, char *error);
/* Checks that the disk has room for `bytes`, `largest` of them in the largest file, besides the
 * bytes of other outputs on the same disk. */
int target_room(const Target *t, uint64_t bytes, uint64_t largest, uint64_t others, char *error);
bool target_same(const Target *a, const Target *b);

/* tensor_files.c: tensors to write, and the files that they go into. */
#define WEIGHTS_FILE "model.safetensors" /* Hugging Face's names in a folder */
#define INDEX_FILE "model.safetensors.index.json"
#define CONFIG_FILE "config.json"
enum { WRITER_FILES = 500 }; /* at most */
typedef struct TensorPlan {
    const char *name;
    FileType type;
    int32_t rank;
    int64_t dim[FILE_MAX_RANK];
    bool with_previous; /* must be in the same file as the tensor before it */
    /* tensor_pieces sets these: */
    uint32_t piece;
    uint64_t offset, bytes; /* offset among the data of its file */
} TensorPlan;
typedef struct TensorPiece { /* a file */
    char name[48];           /* in a folder */
    uint32_t first, n;       /* its tensors */
    uint64_t header, size;   /* bytes before the data, and of the file */
} TensorPiece;
/* The first of n names that cannot stand in a header, or is there already (*twice); NULL: none.
 * Names may come from files and need not be UTF-8. The next name is `stride` bytes after one. */
const char *tensor_bad_name(const char *const *name, size_t stride, uint32_t n, bool *twice);
bool writer_makes(const char *name); /* whether the writer creates files of that name in a folder */
extern const char *const companion_names[]; /* up to NULL: of tokenizers, and for generation */
bool writer_copies(const char *name);       /* one of them */
/* Distributes tensors [first, end) to files with at most `limit` bytes of tensors in each; returns
 * how many. out: space for end - first + 1. `header` remains 0 and is not in `size`. */
uint32_t tensor_pieces(TensorPlan *tensor, uint32_t first, uint32_t end, const char *kind,
                       uint64_t limit, TensorPiece *out);
/* A file's header with its length in front, padded with spaces to a multiple of that many bytes;
 * and one of other JSON (freed here), made of entries of tensors. */
struct json_t;
char *tensor_header(const TensorPlan *tensor, const TensorPiece *p, uint64_t multiple, Arena *a,
                    uint64_t *bytes);
char *tensor_header_text(struct json_t *root, uint64_t multiple, Arena *a, uint64_t *bytes);
struct json_t *tensor_integers(const int64_t *x, int n);
struct json_t *tensor_json(FileType type, int32_t rank, const int64_t *dim, uint64_t at,
                           uint64_t bytes);
char *tensor_index_text(const TensorPlan *tensor, const TensorPiece *piece, uint32_t n_piece,
                        bool sorted);
/* config.json with the type of the numbers; NULL if `config` is not a JSON object. */
char *tensor_config_text(const char *config, FileType type);

/* tensor_writer.c: files of known shapes, written tensor by tensor under a temporary name and
 * renamed when complete. */
typedef struct SaveForm {
    const char *path;
    bool folder;
    FileType type;      /* of all numbers; FT_COUNT = unchanged */
    uint64_t max_file;  /* bytes of tensors in a file of a folder */
    const char *config; /* of config.json in a folder; "" = none */
    const char
        *origin; /* a folder, with a slash at its end, whose companions are copied; or NULL */
} SaveForm;
/* The files of such a save. */
enum { SAVE_ALIGN = 8 }; /* bytes: where their data begin */
TensorPiece *tensor_layout(TensorPlan *tensor, uint32_t n, const SaveForm *form, Arena *a,
                           uint32_t *n_piece);
/* target.c: parses the user's words. */
#define SAVE_MAX_FILE 5000000000u
extern const char *const save_types[]; /* up to NULL */
bool save_type(const char *word, FileType *out);
bool save_size(const char *text, uint64_t *out); /* 500MB, 2GiB */
/* The folder that the path means, which exists or is written with a slash at its end; without the
 * slash, malloc'ed. NULL: the path means a file. */
char *save_folder(const char *path);

typedef struct WriterFile { /* a piece under its temporary name */
    char *path;
    int fd;
} WriterFile;
typedef struct TensorWriter {
    const SaveForm *form;
    Target target;
    char *temporary;           /* folder */
    int lock;                  /* holds the part until it has its final name; 0 = none */
    unsigned long long number; /* at the end of temporary names */
    char *kept;                /* another path, used because target cannot be written, or NULL */
    char *why;                 /* ... for this reason */
    void *map;
    size_t map_bytes;
    TensorPlan *tensor;
    TensorPiece *piece;
    WriterFile *file; /* [n_piece] */
    uint32_t n, n_piece;
} TensorWriter;
/* If the path cannot be written, the files are created elsewhere; writer_commit then fails and says
 * where they are. */
int writer_open(TensorWriter *w, const SaveForm *form, TensorPlan *tensor, uint32_t n, char *error);
int writer_map(TensorWriter *w, uint32_t i, void **at, char *error); /* one at a time */
void writer_unmap(TensorWriter *w);
/* Elements of a part of tensor i, in its type, without a mapping. */
int writer_put(TensorWriter *w, uint32_t i, const StoredPart *s, int64_t first, int64_t n,
               const void *from, char *error);
int writer_commit(TensorWriter *w, char *error);
void writer_abandon(TensorWriter *w); /* removes the temporary files */
/* Called before the process exits at once: safe in a signal handler, and while another thread
 * writes. A file that is being renamed keeps its new name. */
void writer_remove_unfinished(void);
/* The same for a file that is not weights, while there is no writer. */
void writer_remember(char *path);
void writer_forget_unfinished(void);

/* stale.c: removes parts of saves at this path whose writers are dead. */
void writer_remove_stale(const Target *t, bool quiet);
/* Marks a part as in use until the file is closed; false: it was removed. */
bool part_lock(int fd);
int part_create(const char *path); /* a file that is in use; -1 with errno */

#endif
