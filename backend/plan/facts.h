/* Facts of a model: what its file says besides the graph, as a list of names and numbers that the
 * emitter takes from the frontend before any pass, and the checker from the plan's tables.
 * facts.def has those of the settings; rows of tables (a parameter, a field, a source) are a fact
 * each, a hash of what the row says. Part of both programs.
 */
#ifndef FSDPC_FACTS_H
#define FSDPC_FACTS_H

#include <string.h>

#include "stored.h"
#include "util.h"

typedef enum FactKind { FACT_WHOLE, FACT_REAL, FACT_TEXT, FACT_ROW, FACT_KINDS } FactKind;

static inline uint64_t fact_real(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline double fact_as_real(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static inline uint64_t fact_text(const char *text) {
    return text ? hash_bytes(text, strlen(text), 0) : hash_bytes("", 0, 0);
}

/* The hash of a row: values in a given order. */
typedef struct FactRow {
    uint64_t hash;
} FactRow;
static inline void fact_word(FactRow *r, uint64_t word) {
    r->hash = hash_bytes(&word, sizeof word, r->hash);
}
static inline void fact_type(FactRow *r, const Type *t) {
    fact_word(r, t->dtype);
    for (int k = 0; k < t->rank; k++) fact_word(r, (uint64_t)t->dim[k]);
}
/* A tensor that is made of n parts. */
static inline void fact_stored(FactRow *r, const char *name, int rank, const int64_t *dim,
                               const StoredPart *part, uint32_t n) {
    fact_word(r, fact_text(name));
    for (int k = 0; k < rank; k++) fact_word(r, (uint64_t)dim[k]);
    for (uint32_t i = 0; i < n; i++) {
        const int64_t words[] = {part[i].param, part[i].rank, part[i].first, part[i].n,
                                 part[i].offset};
        for (size_t k = 0; k < ARRAY_LEN(words); k++) fact_word(r, (uint64_t)words[k]);
        for (int k = 0; k < part[i].rank; k++) {
            fact_word(r, (uint64_t)part[i].dim[k]);
            fact_word(r, (uint64_t)part[i].stride[k]);
        }
    }
}

#endif
