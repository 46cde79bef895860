/* What was found for products and for attention on a machine, and how candidates get into it.
 *
 * A candidate that goes wrong may end the process or leave a GPU that does nothing more, so the run
 * itself tries none. Before it opens anything, tuning_begin reads the file next to the plan. If the
 * plan's role was not tried on this machine, fsdp-run starts a process of the same command line
 * (runtime/run/trial.c) that has the GPU to itself, except for this one's context. They share a
 * log, a file in memory: the table's lines, behind which the other process notes each candidate
 * before it runs it, and what came of it. When it has ended, tuning_end knows what was under way,
 * leaves that out, with the reason, and has the rest tried by another process. The result is
 * written to the file. What the table lacks all the same takes the library's first choice, or our
 * own kernels, and the next run tries it.
 *
 * The file keeps the fastest candidates, those that are left out, with the reason, and for which
 * roles of which plans everything was tried. It is text: a line that names its format, a line that
 * names GPU and libraries, lines of the table, a checksum. It is right for one machine only, since
 * the library's algorithms are numbers that another version reads otherwise: what does not match is
 * not used. A table's lines:
 *
 *   product SHAPE.. ALGORITHM.. CANDIDATES US APART   product_choice.h
 *   attention FORM LIBRARY PLAN US                    attention_choose.c
 *   left CANDIDATE WHAT: WHY                          it failed when it was tried
 *   tried ROLE                                        of a plan; the newest are kept
 *
 * FORM, CANDIDATE and ROLE are hashes. A line replaces the one of its key: its first word with the
 * shape or the hash. The log of a process that tries candidates has the same lines, and
 * `fine CANDIDATE`, which takes back a `left`.
 */
#ifndef FSDPC_CUDA_TUNING_H
#define FSDPC_CUDA_TUNING_H

#include "products.h"

enum { TUNED_SHAPE_WORDS = 21, TUNED_MACHINE = 320, TUNED_LINE = 1024 };

/* FNV-1a; h: TUNED_HASH, or the hash of the bytes before. */
#define TUNED_HASH UINT64_C(0xcbf29ce484222325)
uint64_t tuned_hash(uint64_t h, const void *bytes, size_t n);

/* trial_begin and trial_end of Device. machine: GPU and libraries; anew: a file of an earlier run
 * is ignored. */
void tuning_begin(const DeviceOptions *options, const char *machine, bool anew, int *log);
bool tuning_end(int log, bool whole, const char *why);

/* In the process that tries, before anything else: its log. */
void tuning_follow(int log);
bool tuning_tries(void);

/* What the table has behind a key; NULL: nothing. Of several lines, the first. */
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
