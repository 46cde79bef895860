/* The checks that several rules of shape*.c make: of an operand's type, of a row of a table. */
#include "shape.h"

const char *infer_text(Infer *s, const Type *t) { return type_text(s->arena, t); }

const char *infer_floats(Infer *s, uint32_t i, const Type *t) {
    if (type_is_float(&s->in[i]) && type_same_dims(&s->in[i], t)) return NULL;
    return arena_printf(s->arena, "operand %u %s does not have the shape of %s", i,
                        infer_text(s, &s->in[i]), infer_text(s, t));
}

Type infer_vector(int dtype, int64_t n) { return type_of(dtype, 1, &n); }

const char *infer_sent(Infer *s, uint32_t i, const Type *t) {
    if (dtype_is_sent(s->in[i].dtype) && type_equal(&s->in[i], t)) return NULL;
    return arena_printf(s->arena, "operand %u is %s, not %s of floats", i, infer_text(s, &s->in[i]),
                        infer_text(s, t));
}

const char *infer_row(Infer *s, const char *table, int64_t row, uint32_t n) {
    if (row >= 0 && row < (int64_t)n) return NULL;
    return arena_printf(s->arena, "row %lld is outside the table of %s, which has %u rows",
                        (long long)row, table, n);
}

const char *shape_row(Infer *s) { return infer_row(s, "parameters", s->a->index, s->g->params.n); }
