/* Reference functions: ref_NAME of a case, with its operands and results as doubles. */
#ifndef FSDPC_TESTS_KERNELS_REFERENCES_H
#define FSDPC_TESTS_KERNELS_REFERENCES_H

#include "kernels/cases.h"

#define EACH(i, n) for (int64_t i = 0; i < (n); i++)
#define REF(name) void ref_##name(const Case *c, double *const *in, double *const *out)

static inline int64_t in_n(const Case *c, int i) { return type_elements(&c->in[i].type); }
static inline int64_t out_n(const Case *c, int i) { return type_elements(&c->out[i]); }
static inline int64_t last(const Type *t) { return t->dim[t->rank - 1]; }

#endif
