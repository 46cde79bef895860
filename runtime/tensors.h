/* Tensors in files: safetensors (read and written), and the element types that files have.
 *
 * A .safetensors file: u64 length of the header, the header (JSON: name -> dtype, shape,
 * data_offsets from the header's end), the data. Everything is checked before use: a file that is
 * not what it claims to be gives EXIT_CORRUPT.
 */
#ifndef FSDPC_TENSORS_H
#define FSDPC_TENSORS_H

#include <limits.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "mapped.h"
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

/* elements.c */
uint32_t file_type_bytes(FileType t);
bool file_type_float(FileType t);
/* n elements at `from`, any alignment, little-endian, as floats / doubles / integers. */
void load_floats(const void *from, FileType t, int64_t n, float *to);
double load_real(const void *from, FileType t);
int64_t load_integer(const void *from, FileType t);                   /* integer types only */
void store_floats(void *to, int dtype, const float *from, int64_t n); /* DT_F32, BF16, F64 */
FileType file_type_of(int dtype); /* FT_COUNT when there is none */
/* Element e of a parameter [d0, .., dk] that is stored transposed, as [dk, .., d0] = dim, is
 * element (ik, .., i0) there: its number. */
int64_t stored_element(const int64_t *dim, int rank, int64_t elements, int64_t e);

/* safetensors.c: reading one file */
typedef struct TensorFile TensorFile;
typedef struct Tensor {
    const char *name;
    const TensorFile *file;
    FileType type; /* FT_COUNT: one that we do not know */
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

/* tensor_set.c: what --load names: a file, the index of several, or a folder with either. */
typedef struct TensorSet {
    const char *path; /* as the user gave it */
    TensorFile *file;
    uint32_t n_file, n;
    const Tensor **tensor; /* of all files, by name */
    Arena *arena;
} TensorSet;
int tensor_set_open(TensorSet *s, const char *path, char *error);
void tensor_set_close(TensorSet *s);
const Tensor *tensor_set_find(const TensorSet *s, const char *name, uint32_t *row); /* or NULL */

/* match.c: which tensor of a set holds which parameter of the plan. */
typedef struct TensorMatch {
    const Tensor *tensor;
    const Tensor *const *same; /* [n_same] further names of a tied parameter: the same values */
    uint32_t n_same;
    bool transposed;
} TensorMatch;
/* match: [n_params]. EXIT_CORRUPT where a tensor is missing, has another shape, or is one that no
 * parameter wants: `report` then lists them all. */
int tensors_match(const Plan *p, const TensorSet *s, TensorMatch *match, Buf *report);
/* Elements [first, first + n) of a parameter, in .fsd layout, to dtype. */
void tensor_elements(const TensorMatch *m, int64_t first, int64_t n, int dtype, void *to);
/* The first of m->same that does not hold the values of m->tensor in these elements, or NULL. */
const Tensor *tensor_unlike(const TensorMatch *m, int64_t first, int64_t n);

/* target.c: where a file that is to be written will be, links followed. */
typedef struct Target {
    const char *path;      /* as the user gave it */
    char file[PATH_MAX];   /* where it leads */
    char folder[PATH_MAX]; /* of `file`, with a slash at its end */
    bool exists;           /* now is what stands there */
    struct stat now, folder_now;
} Target;
int target_find(Target *t, const char *path, char *error);
/* Can a file be made or replaced there? */
int target_check(const Target *t, char *error);
/* Is there room for that many bytes, beside those of other files on the same disk? */
int target_room(const Target *t, uint64_t bytes, uint64_t others, char *error);
bool target_same(const Target *a, const Target *b);

/* tensor_writer.c: a file of known shapes, written tensor by tensor under a temporary name and
 * renamed when complete. */
typedef struct TensorPlan { /* one tensor of the file to be */
    const char *name;
    FileType type;
    int32_t rank;
    int64_t dim[FILE_MAX_RANK];
    uint64_t offset, bytes; /* offset from the start of the file: set by open */
} TensorPlan;
typedef struct TensorWriter {
    Target target;
    char *temporary;
    char *kept; /* another place, where the file is because target cannot be written, or NULL */
    char *why;  /* ... for this reason */
    int fd;
    void *map;
    size_t map_bytes;
    TensorPlan *tensor;
    uint32_t n;
} TensorWriter;
/* Where the path cannot be written the file is made elsewhere: writer_commit fails and says where.
 */
int writer_open(TensorWriter *w, const char *path, TensorPlan *tensor, uint32_t n, char *error);
int writer_map(TensorWriter *w, uint32_t i, void **at, char *error); /* one at a time */
void writer_unmap(TensorWriter *w);
int writer_commit(TensorWriter *w, char *error);
void writer_abandon(TensorWriter *w); /* removes the temporary file */
/* Before the process ends at once: safe in a signal handler, and while another thread writes. A
 * file that is being renamed keeps its new name. */
void writer_remove_unfinished(void);

#endif
