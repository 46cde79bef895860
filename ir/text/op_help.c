/* Ops for people who read graphs: what the tables ops.def and attrs.def say of them, as text. */
#include <math.h>
#include <string.h>

#include "text.h"

static void put_attribute(const TextField *f, Buf *out) {
    char least[40], most[40];
    buf_printf(out, "  %-14s", f->name);
    switch (f->kind) {
    case TEXT_BOOL: buf_printf(out, "false or true"); break;
    case TEXT_WORD:
        for (int i = 0; i < f->words->n; i++)
            buf_printf(out, "%s%s", i ? ", " : "", f->words->at[i]);
        break;
    case TEXT_AXES: buf_printf(out, "a set of mesh axes"); break;
    case TEXT_INT:
    case TEXT_REAL:
        buf_printf(out, "%s", f->kind == TEXT_INT ? "integer" : "real");
        if (f->rows != ROWS_NONE)
            buf_printf(out, ", -1 = none");
        else if (f->least == 0 && f->most == BELOW_ONE)
            buf_printf(out, " from 0 to below 1");
        else if (f->most == INFINITY || f->most == (double)MOST_COUNT)
            buf_printf(out, f->least == 0 ? ", at least 0" : "");
        else
            buf_printf(out, " from %s to %s", double_text(f->least, least),
                       double_text(f->most, most));
    }
    buf_printf(out, ": %s\n", f->line);
}

static void put_page(OpKind op, Buf *out) {
    const OpInfo *o = &op_info[op];
    buf_printf(out, "%s: %s\n\n  %s\n\nlevels:", o->name, o->help, o->signature);
    for (int level = 0; level < LEVEL_COUNT; level++)
        if (o->levels >> level & 1) buf_printf(out, " %s", word_of(&words_OpLevel, level));
    buf_printf(out, "\n%s", o->attrs ? "attributes:\n" : "");
    for (int i = 0; i < ATTR_COUNT; i++)
        if (o->attrs >> i & 1) put_attribute(&attr_fields[i], out);
}

bool op_help(const char *topic, Buf *out) {
    if (!strncmp(topic, "op.", 3) && op_by_name(topic + 3) < OP_COUNT) {
        put_page((OpKind)op_by_name(topic + 3), out);
        return true;
    }
    if (strcmp(topic, "ops")) return false;
    for (int op = 0; op < OP_COUNT; op++)
        buf_printf(out, "%-24s %s\n", op_info[op].name, op_info[op].signature);
    buf_printf(out, "\n`fsdpc help op.NAME` says more of one\n");
    return true;
}
