/* The fields of Attrs and Policy by name, with their ranges: shared by the printers and parsers of
 * graphs, the verifier, and the reader and the dump of plans. */
#ifndef FSDPC_TEXT_H
#define FSDPC_TEXT_H

#include "ir.h"

typedef enum TextKind { TEXT_INT, TEXT_REAL, TEXT_BOOL, TEXT_WORD, TEXT_AXES } TextKind;

/* One scalar field of a struct. Integers of size 1 (bool), 4 (enums) and 8 bytes. */
typedef struct TextField {
    const char *name;
    uint32_t offset, size;
    TextKind kind;
    const Words *words; /* TEXT_WORD */
    double least, most; /* the range, ends included */
    double default_value;
    uint8_t rows;     /* OpRows: the table that the number is a row of */
    bool quiet;       /* not printed where it is 0 */
    const char *line; /* for people */
} TextField;

extern const TextField attr_fields[ATTR_COUNT]; /* of Attrs, by ATTR_BIT_* */
extern const TextField policy_fields[];         /* of Policy, without mesh and unit */
extern const uint32_t n_policy_fields;
extern const uint32_t n_shard_policies; /* they come first, on a line of their own */

int64_t text_field_get(const TextField *f, const void *record); /* all but TEXT_REAL */
void text_field_set(const TextField *f, void *record, int64_t value);
double text_field_real(const TextField *f, const void *record); /* TEXT_REAL */
bool text_field_shown(const TextField *f, const void *record);  /* false: quiet and 0 */
bool text_field_in_range(const TextField *f, const void *record);
/* (rep, dp) */
void text_axes_print(const Mesh *mesh, AxisSet set, Buf *out);
/* `name = value`; the number if no word stands for it. */
void text_field_print(const TextField *f, const void *record, const Mesh *mesh, Buf *out);
/* " {axis = 1, count = 2}": what the op has; nothing if none of it is shown. */
void text_attrs_print(int op, const Attrs *a, const Mesh *mesh, Buf *out);
/* A class name or the like that needs no quotes in text: a letter or _, then digits too. */
bool text_is_word(const char *s);

/* What a parameter's line in text says by a word each, in this order: fields of Param. */
#define PARAM_FLAGS(FLAG) FLAG(no_decay) FLAG(frozen) FLAG(keep_f32) FLAG(replicate) FLAG(uncut)

#endif
