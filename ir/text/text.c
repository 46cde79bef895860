/* The tables of the text form: which fields Attrs and Policy have. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "text.h"

#define ONCE(field, ...) _Static_assert((0 __VA_ARGS__) == 1, #field ": its kind, once");
#define ATTR(field, name, ...) ONCE(field, __VA_ARGS__)
#define INT(least, most) +1
#define REAL(least, most) +1
#define BOOL() +1
#define WORD(words, count) +1
#define AXES() +1
#include "attrs.def"

const TextField attr_fields[ATTR_COUNT] = {
#define ATTR(field, text, ...)                                                                     \
    {.name = text, .offset = offsetof(Attrs, field), .size = sizeof(int64_t), __VA_ARGS__},
#define INT(low, high) .kind = TEXT_INT, .least = low, .most = high,
#define REAL(low, high) .kind = TEXT_REAL, .least = low, .most = high,
#define BOOL() .kind = TEXT_BOOL, .most = 1,
#define WORD(name, count) .kind = TEXT_WORD, .words = &words_##name, .most = count - 1,
#define AXES() .kind = TEXT_AXES, .most = (1 << MESH_AXES) - 1,
#define DEFAULT(value) .default_value = value,
#define TABLE(name) .rows = ROWS_##name,
#define QUIET() .quiet = true,
#define LINE(text) .line = text,
#include "attrs.def"
};

enum { IN_TRAIN, IN_SHARD };

const TextField policy_fields[] = {
#define FIELD(field, type, kind, words, default_value, least, most, quiet, line)                   \
    {#field, offsetof(Policy, field), sizeof(type), TEXT_##kind, words, least,                     \
     most,   default_value,           ROWS_NONE,    quiet,       line},
#define POLICY(section, field, type, kind, words, default_value, least, most, line)                \
    FIELD(field, type, kind, words, default_value, least, most, false, line)
#define QUIET_POLICY(section, field, type, kind, words, default_value, least, most, line)          \
    FIELD(field, type, kind, words, default_value, least, most, true, line)
#include "policy.def"
#undef POLICY
#undef FIELD
};
const uint32_t n_policy_fields = ARRAY_LEN(policy_fields);

const uint32_t n_shard_policies = 0
#define POLICY(section, field, type, kind, words, default_value, least, most, line)                \
    +(IN_##section == IN_SHARD)
#include "policy.def"
#undef POLICY
    ;

bool text_field_shown(const TextField *f, const void *record) {
    static const char zero[sizeof(int64_t)];
    return !f->quiet || memcmp((const char *)record + f->offset, zero, f->size) != 0;
}

int64_t text_field_get(const TextField *f, const void *record) {
    const char *at = (const char *)record + f->offset;
    int64_t wide;
    int32_t narrow;
    bool truth;
    switch (f->size) {
    case sizeof wide: memcpy(&wide, at, sizeof wide); return wide;
    case sizeof narrow: memcpy(&narrow, at, sizeof narrow); return narrow;
    default: memcpy(&truth, at, sizeof truth); return truth;
    }
}

void text_field_set(const TextField *f, void *record, int64_t value) {
    char *at = (char *)record + f->offset;
    int32_t narrow = (int32_t)value;
    bool truth = value != 0;
    switch (f->size) {
    case sizeof value: memcpy(at, &value, sizeof value); break;
    case sizeof narrow: memcpy(at, &narrow, sizeof narrow); break;
    default: memcpy(at, &truth, sizeof truth);
    }
}

double text_field_real(const TextField *f, const void *record) {
    double x;
    memcpy(&x, (const char *)record + f->offset, sizeof x);
    return x;
}

bool text_field_in_range(const TextField *f, const void *record) {
    double x =
        f->kind == TEXT_REAL ? text_field_real(f, record) : (double)text_field_get(f, record);
    return isfinite(x) && x >= f->least && x <= f->most;
}

void text_axes_print(const Mesh *mesh, AxisSet set, Buf *out) {
    const char *between = "";
    buf_printf(out, "(");
    for (int a = 0; a < mesh->n; a++) {
        if (!(set >> a & 1)) continue;
        buf_printf(out, "%s%s", between, axis_name(mesh->axis[a].role));
        between = ", ";
    }
    buf_printf(out, ")");
}

void text_field_print(const TextField *f, const void *record, const Mesh *mesh, Buf *out) {
    buf_printf(out, "%s = ", f->name);
    if (f->kind == TEXT_REAL) {
        char text[40];
        buf_printf(out, "%s", double_text(text_field_real(f, record), text));
        return;
    }
    int64_t x = text_field_get(f, record);
    if (f->kind == TEXT_BOOL && (x == 0 || x == 1))
        buf_printf(out, "%s", x ? "true" : "false");
    else if (f->kind == TEXT_AXES && x >= 0 && x <= mesh_all_axes(mesh))
        text_axes_print(mesh, (AxisSet)x, out);
    else if (f->kind == TEXT_WORD && x >= 0 && x < f->words->n)
        buf_printf(out, "%s", word_of(f->words, x));
    else
        buf_printf(out, "%lld", (long long)x);
}

void text_attrs_print(int op, const Attrs *a, const Mesh *mesh, Buf *out) {
    const char *between = " {";
    for (int i = 0; i < ATTR_COUNT; i++) {
        if (!(op_info[op].attrs >> i & 1) || !text_field_shown(&attr_fields[i], a)) continue;
        buf_printf(out, "%s", between);
        text_field_print(&attr_fields[i], a, mesh, out);
        between = ", ";
    }
    if (*between == ',') buf_printf(out, "}");
}

bool text_is_word(const char *s) {
    if (!*s || (*s >= '0' && *s <= '9')) return false;
    for (; *s; s++)
        if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') ||
              *s == '_'))
            return false;
    return true;
}

/* ---- ops for people who read graphs ---- */

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
