/* What was found for products and for attention on a machine, kept in a file next to the plan: the
 * fastest candidates, those that are left out, with the reason, and for which roles of which plans
 * everything was tried.
 *
 * The file is text: a line that names its format, a line that names GPU and libraries, lines of
 * the table, a checksum. It is right for one machine only, since the library's algorithms are
 * numbers that another version reads otherwise: what does not match is not used. A table's lines:
 *
 *   product SHAPE.. ALGORITHM.. CANDIDATES US APART   product_choice.h
 *   attention FORM LIBRARY PLAN US                    attention_choose.c
 *   left CANDIDATE WHAT: WHY                          it failed when it was tried
 *   tried ROLE                                        of a plan; the newest are kept
 *
 * FORM, CANDIDATE and ROLE are hashes. A line replaces the one of its key: its first word with the
 * shape or the hash. The log of a process that tries candidates (tuning.h) has the same lines, and
 * `fine CANDIDATE`, which takes back a `left`.
 */
#ifndef FSDPC_CUDA_TUNED_H
#define FSDPC_CUDA_TUNED_H

#include "products.h"

enum { TUNED_SHAPE_WORDS = 21, TUNED_MACHINE = 320, TUNED_LINE = 1024, TUNED_TEXT = 240 };

typedef struct TunedTable {
    char **line;
    uint32_t n;
} TunedTable;

/* What follows the key in its line, or NULL; of several lines, the first. */
const char *tuned_find(const TunedTable *t, const char *key);
void tuned_drop(TunedTable *t, const char *key);
void tuned_clear(TunedTable *t);
/* Does what a line says, with its end or without; why it cannot, or NULL. */
const char *tuned_apply(TunedTable *t, const char *line);
/* All lines, n bytes, to be freed; NULL: no memory. */
char *tuned_print(const TunedTable *t, size_t *n);

/* FNV-1a; h: TUNED_HASH, or the hash of what comes before. */
#define TUNED_HASH UINT64_C(0xcbf29ce484222325)
uint64_t tuned_hash(uint64_t h, const void *bytes, size_t n);

/* Adds the file's lines to an empty table. `note` stays empty when it was read or does not exist,
 * else it says why the file is ignored. newer_than: a file that was written earlier does not count
 * either, silently. */
void tuned_read(TunedTable *t, const char *path, const char *machine, int64_t newer_than,
                char *note);
/* Replaces the file; `note` says why it could not. */
void tuned_write(const TunedTable *t, const char *path, const char *machine, char *note);

/* Processes that share a folder take turns: the first measures, the others read. A lock on the
 * plan, or -1 where the folder cannot be written, locks do not exist or one is held too long. */
int tuned_lock(const char *plan_path);
void tuned_unlock(int lock);

#endif
