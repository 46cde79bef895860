/* Reference functions: ref_NAME of a case, with its operands and results as doubles. */
#ifndef FSDPC_TESTS_KERNELS_REFERENCES_H
#define FSDPC_TESTS_KERNELS_REFERENCES_H

#include "kernels/cases.h"

#define EACH(i, n) for (int64_t i = 0; i < (n); i++)
#define REF(name) void ref_##name(const Case *c, double *const *in, double *const *out)

static inline int64_t in_n(const Case *c, int i) { return type_elements(&c->in[i].type); }
static inline int64_t out_n(const Case *c, int i) { return type_elements(&c->out[i]); }
static inline int64_t last(const Type *t) { return t->dim[t->rank - 1]; }

/* The log-sum-exp of v logits. */
double row_lse(const double *x, int64_t v);

/* Of linear_cross_entropy: the type of all logits; the result `chunk`, of all of their rows. */
Type head_logits(const Case *c);
void head_chunk(const Case *c, const double *rows, double *chunk);

/* Of attention, with operands from number `first` on: q, k and v, or all in one. */
typedef struct AttentionSizes {
    int64_t b, t, s, heads, key_heads, h;
    bool packed;
} AttentionSizes;
AttentionSizes attention_sizes(const Case *c, int first);
/* Element of q (which 0), k, v of `head` at position t. */
int64_t attention_place(const AttentionSizes *z, int which, int64_t b, int64_t t, int64_t head);
/* What a row of queries (of a sample's head) gives each key. */
void attention_probabilities(const Case *c, int first, double *const *in, int64_t row, double *p);

#endif
