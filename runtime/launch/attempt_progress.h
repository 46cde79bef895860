/* How far a run came, for the process that has its ranks started by mpirun (spawn.c) and the one
 * that starts it again when a rank is lost (restarts.c); and what ranks need to know of that. */
#ifndef FSDPC_COURSE_H
#define FSDPC_COURSE_H

#include "runtime.h"

#define RUN_ATTEMPT "FSDP_RUN_ATTEMPT" /* how often the run was started before; for all ranks */

typedef enum CourseStage { COURSE_STARTS, COURSE_MET, COURSE_CALLED_OFF } CourseStage;
struct Course {            /* a page of memory that they have in common */
    _Atomic int32_t stage; /* decided once: met by rank 0, or called off by who started it */
    _Atomic int32_t ended; /* 1 + the exit code of all ranks, when they come to an orderly end */
    _Atomic int32_t begun;
    _Atomic int64_t done; /* steps */
};

/* Makes the page, and the variable by which the run finds it. */
Course *course_share(void);
/* The run's part; run->course is NULL where nobody watches. */
void course_find(Run *run);
/* Rank 0: all ranks have met, and can be interrupted. False: the run was called off before. */
bool course_meet(const Run *run);
/* An interrupt before that, when there is nothing to save. False: the ranks have met. */
bool course_call_off(const Run *run);
void course_note(const Run *run, int64_t done); /* rank 0, after so many steps */
/* Rank 0: all ranks came to the end, with that code; and whether they did. */
void course_end(const Run *run, int code);
bool course_ended(const Run *run, int *code);
/* Its ranks have met, now or in an attempt before this one: what starts them works. */
bool course_met(const Run *run);
/* A run that was started again goes on from its newest checkpoint, if it made one. */
void course_resume(const Run *run, Options *o);

#endif
