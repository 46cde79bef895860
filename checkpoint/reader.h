/* What the files of the reader of checkpoints share. Nobody else includes this. */
#ifndef FSDPC_READER_H
#define FSDPC_READER_H

#include "checkpoint.h"

enum { GRAIN = 32 << 10, GRAINS = CK_BLOCK / GRAIN, GRAIN_ROOM = GRAIN + 2 * CK_ALIGN };
typedef enum BlockState { EMPTY, COMING, READ, VERIFIED } BlockState;

typedef struct CachedBlock {
    uint32_t file;
    uint64_t number, bytes, used; /* used: when */
    uint8_t *at;                  /* CK_BLOCK bytes, aligned to CK_ALIGN; NULL: not yet taken */
    BlockState state;             /* of the block in it */
    bool spent;                   /* its last byte was used */
} CachedBlock;

typedef struct Grains { /* of a block of a file that was verified and has no buffer any more */
    uint64_t number;    /* of the block, or NO_BLOCK */
    uint64_t hash[GRAINS];
    uint64_t here; /* the one in `at`; GRAINS: none */
    uint8_t *at;   /* GRAIN_ROOM bytes */
} Grains;

typedef struct RankFiles { /* by a rank */
    Arena *arena;          /* NULL: not yet computed */
    CkPiece *piece;
    uint32_t n;
    uint32_t *file;   /* [classes] its files */
    CkStream *stream; /* [classes] of form full */
} RankFiles;

struct Checkpoint {
    Arena *arena;
    char folder[CK_PATH];
    CkContents c;
    RankFiles *rank;                /* [ranks] */
    int32_t *owner[1 << MESH_AXES]; /* by split: [shards * copies] the rank that wrote a part */
    CachedBlock block[CK_MOST_KEPT];
    int kept;
    Grains **grains; /* [n_file] or NULL */
    uint64_t clock;
    CachedBlock *last;        /* the one used last, or NULL */
    OpenFullFile near, ahead; /* of form full: what this thread reads, and the second one */
    CkWorker *beside;
    CachedBlock *coming; /* which it reads; NULL: nothing */
    bool arrived;        /* it was read */
    bool no_thread;      /* there is no second thread */
    uint64_t n_piece;    /* of all ranks that were computed */
};

/* Bytes of a file, or of a stream. `to` is aligned to CK_ALIGN, with room for two pages more than
 * these, or for CK_BLOCK. */
typedef struct FileRange {
    uint32_t file;
    uint64_t from, bytes;
} FileRange;

/* read_files.c: bytes of the files, not yet verified. */
/* Writes the message that says what is wrong with a file, and in which tensor; EXIT_CORRUPT. */
int reader_corrupt(const Checkpoint *k, const char *file, const CkTensor *t, char *error,
                   const char *what);
/* Bytes of a file, or of a stream of form full, through `file` then. */
int reader_read_bytes(const Checkpoint *k, const FileRange *r, const CkTensor *t,
                      OpenFullFile *file, uint8_t *to, char *error);
const CkStream *reader_stream(const Checkpoint *k, const CkFile *f);

/* read_blocks.c: verified blocks. */
/* Waits for the block that is read ahead. */
void reader_wait_ahead(Checkpoint *k);
/* The verified block, in one of the buffers. */
int reader_load(Checkpoint *k, uint32_t file, uint64_t number, const CkTensor *t, CachedBlock **out,
                char *error);
/* Bytes of a file's data; its header is verified with its first block. */
int reader_read_data(Checkpoint *k, uint32_t file, const CkTensor *t, uint64_t from, uint64_t bytes,
                     char *to, char *error);

#endif
