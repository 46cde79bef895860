/* Facts of a model: what its file says besides the graph, as a list of names and values that the
 * emitter takes from the frontend before any pass, and the checker from the plan's tables.
 * facts.def has those of the settings; a row of a table (a parameter, a field, a source) is several
 * facts with the row's name. Values are written out, not hashed: the checker compares the
 * values themselves, so no other values pass for them. Part of both programs.
 */
#ifndef FSDPC_FACTS_H
#define FSDPC_FACTS_H

#include <string.h>

#include "stored.h"
#include "util.h"

/* FACT_TEXT: a value is a PlanString. */
typedef enum FactKind { FACT_WHOLE, FACT_REAL, FACT_TEXT, FACT_KINDS } FactKind;

/* Where facts go: to the plan, or into a comparison with those of the plan. */
typedef struct FactSink FactSink;
struct FactSink {
    void (*put)(FactSink *s, FactKind kind, uint64_t value, const char *text);
    const char *name; /* of the next facts */
};

static inline uint64_t fact_bits(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline double fact_as_real(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline void fact_whole(FactSink *s, uint64_t value) { s->put(s, FACT_WHOLE, value, NULL); }
static inline void fact_real(FactSink *s, double value) {
    s->put(s, FACT_REAL, fact_bits(value), NULL);
}
static inline void fact_text(FactSink *s, const char *text) {
    s->put(s, FACT_TEXT, 0, text ? text : "");
}
static inline void fact_type(FactSink *s, const Type *t) {
    fact_whole(s, t->dtype);
    fact_whole(s, t->rank);
    for (int k = 0; k < t->rank; k++) fact_whole(s, (uint64_t)t->dim[k]);
}
/* A tensor that is made of n parts. */
static inline void fact_stored(FactSink *s, const char *name, int rank, const int64_t *dim,
                               const StoredPart *part, uint32_t n) {
    fact_text(s, name);
    fact_whole(s, (uint64_t)rank);
    for (int k = 0; k < rank; k++) fact_whole(s, (uint64_t)dim[k]);
    fact_whole(s, n);
    for (uint32_t i = 0; i < n; i++) {
        const int64_t words[] = {part[i].param, part[i].rank, part[i].first, part[i].n,
                                 part[i].offset};
        for (size_t k = 0; k < ARRAY_LEN(words); k++) fact_whole(s, (uint64_t)words[k]);
        for (int k = 0; k < part[i].rank; k++) {
            fact_whole(s, (uint64_t)part[i].dim[k]);
            fact_whole(s, (uint64_t)part[i].stride[k]);
        }
    }
}

#endif
