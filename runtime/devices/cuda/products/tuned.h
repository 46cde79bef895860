/* The algorithms that were found fastest for products and for attention on a machine, kept in a
 * file next to the plan.
 *
 * The file is text: a line that names its format, a line that names GPU and libraries, a line per
 * product or form of attention, a checksum. It is right for one machine only, since the library's
 * algorithms are numbers that another version reads otherwise: what does not match is not used.
 *
 * Before something is tried, a row of 0 microseconds says so in the file. If it ends the process,
 * or leaves a GPU that does nothing more, the row stays, and later runs do not try it again.
 */
#ifndef FSDPC_CUDA_TUNED_H
#define FSDPC_CUDA_TUNED_H

#include "products.h"

enum { TUNED_WORDS = 8, TUNED_LIMIT = 4096, TUNED_MACHINE = 320 };

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

typedef struct TunedTable {
    Tuned *at;
    uint32_t n, n_forms;
    TunedAttention form[TUNED_FORMS];
} TunedTable;

const Tuned *tuned_find(const TunedTable *t, const TunedKey *key);
/* False: no memory, or more than TUNED_LIMIT. */
bool tuned_add(TunedTable *t, const Tuned *row);
void tuned_remove(TunedTable *t, const TunedKey *key);
const TunedAttention *tuned_find_form(const TunedTable *t, uint64_t form, uint64_t library);
bool tuned_add_form(TunedTable *t, const TunedAttention *row);
void tuned_remove_form(TunedTable *t, uint64_t form);
void tuned_clear(TunedTable *t);

/* Adds the file's rows. `note` stays empty when it was read or does not exist, else it says why the
 * file is ignored. newer_than: a file that was written earlier does not count either, silently. */
void tuned_read(TunedTable *t, const char *path, const char *machine, int64_t newer_than,
                char *note);
/* Replaces the file; `note` says why it could not. */
void tuned_write(const TunedTable *t, const char *path, const char *machine, char *note);

/* products.c: the table that it reads and writes next to the plan, between products_rehearse and
 * products_rehearsed. products_begin_form: candidates for it are about to be tried. */
const TunedAttention *products_recall_form(uint64_t form, uint64_t library);
void products_begin_form(const Launch *l, uint64_t form, uint64_t library);
void products_keep_form(const TunedAttention *row);
void products_forget_form(uint64_t form);

/* Processes that share a folder take turns: the first measures, the others read. A lock on the
 * plan, or -1 where the folder cannot be written, locks do not exist or one is held too long. */
int tuned_lock(const char *plan_path);
void tuned_unlock(int lock);

#endif
