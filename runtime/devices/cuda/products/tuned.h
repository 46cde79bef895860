/* What was found for products and for attention on a machine, kept in a file next to the plan: the
 * fastest candidates, those that are left out, with the reason, and for which roles of which plans
 * everything was tried.
 *
 * The file is text: a line that names its format, a line that names GPU and libraries, a line per
 * row, a checksum. It is right for one machine only, since the library's algorithms are numbers
 * that another version reads otherwise: what does not match is not used. The log of a process that
 * tries candidates (tuning.h) has the same lines, and `fine HASH`, which takes back a `left`.
 */
#ifndef FSDPC_CUDA_TUNED_H
#define FSDPC_CUDA_TUNED_H

#include "products.h"

enum { TUNED_WORDS = 8, TUNED_LIMIT = 4096, TUNED_MACHINE = 320, TUNED_LINE = 1024 };

/* Compared byte by byte. */
typedef struct TunedKey {
    ProductShape shape;
    int32_t compute, pad; /* cublasComputeType_t */
} TunedKey;

typedef struct Tuned {
    TunedKey key;
    uint64_t algorithm[TUNED_WORDS];
    double microseconds, apart; /* apart: of a plain product and a kernel instead; 0: not known */
    int32_t candidates;         /* that it was the fastest of */
} Tuned;

/* What computes a form of attention. */
typedef struct TunedAttention {
    uint64_t form, library; /* a hash of the form; cuDNN's version, or 0 */
    int32_t plan;           /* cuDNN's number of it, below TUNED_PLANS, or one of our own */
    float microseconds;
} TunedAttention;
enum { TUNED_FORMS = 256, TUNED_PLANS = 16, TUNED_OWN = -1, TUNED_ONEPASS = TUNED_PLANS };

/* A candidate that failed when it was tried. The text says what it is, a colon and why. */
typedef struct TunedLeft {
    uint64_t candidate; /* tuned_hash of all that tells it from others */
    char text[240];
} TunedLeft;
enum { TUNED_LEFT = 256, TUNED_TRIED = 16 };

typedef struct TunedTable {
    Tuned *at;
    uint32_t n, n_forms, n_left, n_tried;
    TunedAttention form[TUNED_FORMS];
    TunedLeft left[TUNED_LEFT];
    uint64_t tried[TUNED_TRIED]; /* hashes of a plan's role; the newest are kept */
} TunedTable;

Tuned *tuned_find(const TunedTable *t, const TunedKey *key);
/* False: no memory, or more than TUNED_LIMIT. */
bool tuned_add(TunedTable *t, const Tuned *row);
void tuned_remove(TunedTable *t, const TunedKey *key);
const TunedAttention *tuned_find_form(const TunedTable *t, uint64_t form, uint64_t library);
bool tuned_add_form(TunedTable *t, const TunedAttention *row);
TunedLeft *tuned_find_left(TunedTable *t, uint64_t candidate);
bool tuned_add_left(TunedTable *t, uint64_t candidate, const char *text);
void tuned_take_back(TunedTable *t, uint64_t candidate);
bool tuned_was_tried(const TunedTable *t, uint64_t role);
void tuned_add_tried(TunedTable *t, uint64_t role);
void tuned_clear(TunedTable *t);

/* FNV-1a; h: TUNED_HASH, or the hash of what comes before. */
#define TUNED_HASH UINT64_C(0xcbf29ce484222325)
uint64_t tuned_hash(uint64_t h, const void *bytes, size_t n);

/* Lines, with their ends; out: TUNED_LINE bytes. */
int tuned_print(const Tuned *row, char *out);
int tuned_print_form(const TunedAttention *row, char *out);
int tuned_print_left(uint64_t candidate, const char *text, char *out);
int tuned_print_fine(uint64_t candidate, char *out);
/* All of a table, to be freed; NULL: no memory. */
char *tuned_print_all(const TunedTable *t, size_t *n);
/* Does what a line says; why it cannot, or NULL. */
const char *tuned_apply(TunedTable *t, const char *line);

/* Adds the file's rows to an empty table. `note` stays empty when it was read or does not exist,
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
