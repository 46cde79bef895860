/* What the files of the checkpoint reader share; no other file includes this header. */
#ifndef FSDPC_READER_H
#define FSDPC_READER_H

#include "checkpoint.h"
#include "worker.h"

enum { GRAIN = 32 << 10, GRAINS = CK_BLOCK / GRAIN, GRAIN_ROOM = GRAIN + 2 * CK_ALIGN };
typedef enum BlockState { EMPTY, COMING, READ, VERIFIED } BlockState;

typedef struct CachedBlock {
    uint32_t file;
    uint64_t number, bytes, used; /* used: the time of the last use */
    uint8_t *at;                  /* CK_BLOCK bytes, aligned to CK_ALIGN; NULL: not yet taken */
    BlockState state;             /* of the block in it */
    bool spent;                   /* its last byte was used */
} CachedBlock;

typedef struct Grains { /* of a verified block that has lost its buffer */
    uint64_t number;    /* of the block, or NO_BLOCK */
    uint64_t hash[GRAINS];
    uint64_t here; /* the one in `at`; GRAINS: none */
    uint8_t *at;   /* GRAIN_ROOM bytes */
} Grains;

typedef struct RankFiles { /* written by a rank */
    Arena *arena;          /* NULL: not yet computed */
    CkPiece *piece;
    uint32_t n;
    uint32_t *file;   /* [classes] its files */
    CkStream *stream; /* [classes] of form full */
} RankFiles;

/* Of vectors whose layout has these axes: [parts * shards * copies] the rank that wrote each
 * piece. */
typedef struct OwnerTable {
    Layout layout;
    int32_t *rank;
} OwnerTable;

struct Checkpoint {
    Arena *arena;
    char folder[CK_PATH];
    CkContents c;
    RankFiles *rank;   /* [ranks] */
    OwnerTable *owner; /* [n_vector + 1], up to one without `rank` */
    CachedBlock block[CK_MOST_KEPT];
    int kept;
    Grains **grains; /* [n_file] or NULL */
    uint64_t clock;
    CachedBlock *last;    /* the one used last, or NULL */
    OpenFile near, ahead; /* the file that this thread reads, and the second one's */
    Worker *beside;
    CachedBlock *coming; /* which that thread reads; NULL: none */
    bool arrived;        /* it was read */
    bool no_thread;      /* a second thread could not be started */
    uint64_t n_piece;    /* of all ranks that were computed */
};

/* A range of a file or of a stream. `to` is aligned to CK_ALIGN, with room for two pages more than
 * the range, or for CK_BLOCK. */
typedef struct FileRange {
    uint32_t file;
    uint64_t from, bytes;
} FileRange;

/* read_files.c: bytes of the files, not yet verified. */
/* Writes a message about a damaged file and the affected tensor; returns EXIT_CORRUPT. */
int reader_corrupt(const Checkpoint *k, const char *file, const CkTensor *t, char *error,
                   const char *what);
/* Reads bytes of a file or, in form full, of a stream through `file`. */
int reader_read_bytes(const Checkpoint *k, const FileRange *r, const CkTensor *t, OpenFile *file,
                      uint8_t *to, char *error);
const CkStream *reader_stream(const Checkpoint *k, const CkFile *f);

/* read_blocks.c: verified blocks. */
/* Waits for the block that is read ahead. */
void reader_wait_ahead(Checkpoint *k);
/* Loads the verified block into one of the buffers. */
int reader_load(Checkpoint *k, uint32_t file, uint64_t number, const CkTensor *t, CachedBlock **out,
                char *error);
/* Reads bytes of a file's data; the header is verified with the first block. */
int reader_read_data(Checkpoint *k, uint32_t file, const CkTensor *t, uint64_t from, uint64_t bytes,
                     char *to, char *error);

#endif
