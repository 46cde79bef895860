/* The table of tuned choices of this process (tuned.h), and how candidates get into it.
 *
 * A candidate that goes wrong may end the process or leave a GPU that does nothing more, so the run
 * itself tries none. Before it opens anything, tuning_begin reads the file next to the plan. If the
 * plan's role was not tried on this machine, fsdp-run starts a process of the same command line
 * (runtime/run/trial.c) that has the GPU for itself but for this one's context. They share a log, a
 * file in memory: the table's lines, behind which the other process notes each candidate before it
 * runs it, and what came of it. When it has ended, tuning_end knows what was under way, leaves that
 * out, with the reason, and has the rest tried by another process. The result is written to the
 * file. What the table lacks all the same takes the library's first choice, or our own kernels, and
 * the next run tries it.
 */
#ifndef FSDPC_CUDA_TUNING_H
#define FSDPC_CUDA_TUNING_H

#include "tuned.h"

/* trial_begin and trial_end of Device. machine: GPU and libraries; anew: a file of an earlier run
 * is ignored. */
void tuning_begin(const DeviceOptions *options, const char *machine, bool anew, int *log);
bool tuning_end(int log, bool whole, const char *why);

/* In the process that tries, before anything else: its log. */
void tuning_follow(int log);
bool tuning_tries(void);

/* What the table has for a key; NULL: nothing. */
const char *tuning_find(const char *key);
/* What it has is of no use. */
void tuning_forget(const char *key);
/* It lacks something that could have been tried. */
void tuning_lacks(void);

/* Why a candidate is left out, or NULL. */
const char *tuning_left(uint64_t candidate);
/* Before a candidate runs, and when it has run; why: how it failed, or NULL. */
void tuning_starts(uint64_t candidate, const char *what);
void tuning_ends(uint64_t candidate, const char *what, const char *why);
/* The same when the GPU answers with errors only: the process ends. */
_Noreturn void tuning_lost(uint64_t candidate, const char *what, const char *why);
/* A line of the table, with its end. */
void tuning_keep(const char *line);

#endif
