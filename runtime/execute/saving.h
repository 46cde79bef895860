/* Checkpoints of a run: what is in them (contents.c), making them (saver.c), going on from them
 * (resume.c). The format is the room checkpoint's. */
#ifndef FSDPC_SAVING_H
#define FSDPC_SAVING_H

#include "checkpoint.h"
#include "runtime.h"

/* contents.c */
typedef struct Contents {
    CkContents c;
    const PlanState **state; /* [c.n_vector] where each vector is in the arena */
} Contents;
/* What a checkpoint of this run holds, without its step. */
int contents_make(const Run *run, Arena *a, Contents *out, char *error);
/* saver.c */
struct Saver {
    const Run *run;
    Arena *arena;
    Contents contents;
    CkLock lock;  /* rank 0's */
    uint64_t id;  /* of the run: rank 0's, and by agreement all ranks' */
    int64_t best; /* step with the least evaluation loss, -1 = none; rank 0 */
    double best_loss;
};
typedef enum SavePhase { SAVE_NONE, SAVE_BEGINS, SAVE_WRITES, SAVE_COMMITS } SavePhase;
struct Saving { /* of a rank: the checkpoint under way, or the last one */
    SavePhase phase;
    SaveMoment moment;
    char part[CK_PATH];
    double begun, since, stalled; /* seconds; since: where the rank's own thread began with it */
    double ended;                 /* when it had its name; 0: other ranks than 0, or it has none */
    uint64_t *words;              /* room for the hashes of any rank */
    bool told, said;              /* to the log; why it failed */
};

/* save_stream.c: the thread that writes beside the steps. */
typedef int (*SaveJob)(Rank *r, char *error);
int save_stream_open(Rank *r);
void save_stream_close(Rank *r); /* soon: what it writes is given up */
/* From here on instructions that wait for saves are held back; the job calls save_stream_files. */
void save_stream_write(Rank *r, SaveJob job);
int save_stream_files(Rank *r, const char *part, char *error);
void save_stream_run(Rank *r, SaveJob job); /* another job, for which nothing waits */
bool save_stream_busy(Rank *r);
int save_stream_end(Rank *r); /* waits for the job; its code, or that of the last one */
bool save_stream_stops(const Rank *r);
double save_stream_stalled(const Rank *r); /* seconds that instructions were held back */

/* May the run go on from a checkpoint that had another value? MAY: it is printed. */
typedef enum Change { MUST_BE_SAME, MAY_CHANGE } Change;
Change contents_change(const char *key);

#endif
