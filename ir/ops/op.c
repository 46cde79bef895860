/* The table of ops and its lookups, for all code that prints or reads ops, and the tables of
 * words.h. */
#include <string.h>

#include "op.h"
#include "words.h"

/* Required columns: an op that lacks one, or has it twice, does not compile. */
#define ONCE(id, column, ...) _Static_assert((0 __VA_ARGS__) == 1, #id ": column " column " once");
#define OP(id, ...) ONCE(id, "SIGNATURE", __VA_ARGS__)
#define SIGNATURE(text) +1
#include "ops.def"
#define OP(id, ...) ONCE(id, "LEVELS", __VA_ARGS__)
#define LEVELS(mask) +1
#include "ops.def"
#define OP(id, ...) ONCE(id, "GRAD", __VA_ARGS__)
#define GRAD(text) +1
#include "ops.def"
#define OP(id, ...) ONCE(id, "FLOPS", __VA_ARGS__)
#define FLOPS(rule) +1
#include "ops.def"
#define OP(id, ...) ONCE(id, "RUN_BY", __VA_ARGS__)
#define RUN_BY(who) +1
#include "ops.def"
#define OP(id, ...) ONCE(id, "HELP", __VA_ARGS__)
#define HELP(text) +1
#include "ops.def"

enum { RUN_BY_EXECUTOR, RUN_BY_DEVICE };

const OpInfo op_info[OP_COUNT] = {
#define OP(id, ...) [OP_##id] = {.name = #id, __VA_ARGS__},
#define SIGNATURE(text) .signature = text,
#define LEVELS(mask) .levels = mask,
#define RUN_BY(who) .launched = RUN_BY_##who,
#define HELP(text) .help = text,
#define ATTRS(mask) .attrs = mask,
#define ROWS(table) .rows = ROWS_##table,
#define EFFECT(kind) .effect = EFFECT_##kind,
#define ROLE(kind) .role = ROLE_##kind,
#define RESULTS(who) .given = RESULTS_##who,
#define RESULTS_GIVEN true
#define CARRIES(n) .carries = n,
#define ALIAS(kind, mask) .alias = ALIAS_##kind, .alias_mask = mask,
#define LOSS(operand) .term = TERM_LOSS, .counted = #operand,
#define METRIC(operand) .term = TERM_METRIC, .counted = #operand,
#define PARTIAL(result, how) .partial = PARTIAL_##how, .summed = #result,
#define SCRATCH(result) .scratch = #result,
#define KEEPS(...) .keeps = {__VA_ARGS__},
#define STANDS_FOR(words) .stands = words,
#define CLASS(kind) .cost_class = CLASS_##kind,
#define MERGED(one, all) .part = OP_##one, .merge = OP_##all,
#include "ops.def"
};

const char *dtype_name(int dtype) { return word_of(&words_DType, dtype); }

int dtype_by_name(const char *name) {
    int dtype = word_find(&words_DType, name);
    return dtype < 0 ? DT_NONE : dtype;
}

int op_by_name(const char *name) {
    for (int i = 0; i < OP_COUNT; i++)
        if (!strcmp(op_info[i].name, name)) return i;
    return OP_COUNT;
}

bool op_computes(OpKind op) {
    const OpInfo *o = &op_info[op];
    return o->effect == EFFECT_PURE && o->rows == ROWS_NONE && o->term == TERM_NONE;
}

bool op_is_choice(OpKind op) {
    const OpInfo *o = &op_info[op];
    return op_computes(op) && o->role == ROLE_FORWARD && (o->levels & L_MODEL) && !o->stands &&
           o->alias != ALIAS_VIEW && o->alias != ALIAS_MUST && strncmp(o->signature, "->", 2) != 0;
}

size_t op_choices(const char **names, size_t max) {
    size_t n = 0;
    for (int op = 0; op < OP_COUNT && n < max; op++)
        if (op_is_choice((OpKind)op)) names[n++] = op_info[op].name;
    return n;
}

int op_stands_for(OpKind op, int n) {
    const char *at = op_info[op].stands;
    if (!at) return n ? OP_COUNT : (int)op;
    for (; n && *at; n--) at += strcspn(at, " "), at += *at == ' ';
    for (int i = 0; *at && i < OP_COUNT; i++) {
        size_t length = strlen(op_info[i].name);
        if (!strncmp(at, op_info[i].name, length) && strchr(" ", at[length])) return i;
    }
    return OP_COUNT;
}

const char *phase_name(int phase) { return word_of(&words_Phase, phase); }

const char *stream_name(int stream) { return word_of(&words_StreamKind, stream); }

/* ---- words.h */

#define WORD(constant, word, meaning) word,
#define MEANING(constant, word, meaning) meaning,
#define TABLE(name, count)                                                                         \
    static const char *const text_##name[] = {WORDS_##name(WORD)};                                 \
    static const char *const meaning_##name[] = {WORDS_##name(MEANING)};                           \
    const Words words_##name = {text_##name, meaning_##name, count};
WORD_TABLES(TABLE)

const char *word_of(const Words *w, int64_t value) {
    return value >= 0 && value < w->n ? w->at[value] : "?";
}

int word_find(const Words *w, const char *word) {
    for (int i = 0; i < w->n; i++)
        if (!strcmp(w->at[i], word)) return i;
    return -1;
}
