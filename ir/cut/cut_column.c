/* Parses the columns CUT and LINEAR of ops.def once, when the program starts, after the signatures,
 * whose letters and names they use.
 *
 * A text that violates the form of cut_column.h is a bug of this build: it aborts before main, so
 * every test fails.
 */
#include "cut_column.h"

#include <string.h>

static const struct {
    OpKind op;
    const char *cut, *linear;
    CutRule *rule;
} texts[OP_COUNT] = {
#define OP(id, ...) [OP_##id] = {.op = OP_##id, __VA_ARGS__},
#define CUT(text) .cut = text,
#define LINEAR(text) .linear = text,
#define CUT_BY(name) .rule = cut_##name,
#include "ops.def"
};

static CutColumn columns[OP_COUNT];

/* A letter, a letter with a star, or `...` of the signature. */
static bool take_axis(const char **at, const Signature *s, SlotAxis *axis) {
    char letter = **at;
    if (text_take(at, "...")) letter = '.';
    if (!letter || letter == ' ') return false;
    if (letter != '.') (*at)++;
    bool run = letter == '.' || text_take(at, "*");
    const char *letters = run ? s->sequence : s->size;
    const char *found = memchr(letters, letter, run ? s->n_sequences : s->n_sizes);
    if (!found) return false;
    *axis =
        (SlotAxis){.kind = run ? AXIS_SEQUENCE : AXIS_SIZE, .which = (uint8_t)(found - letters)};
    return true;
}

static bool slot_has(const Slot *slot, const SlotAxis *axis) {
    for (int k = 0; k < slot->n_axes; k++)
        if (slot->axis[k].kind == axis->kind && slot->axis[k].which == axis->which) return true;
    return false;
}

/* A sum of which no result is a part, or parts of which no value is cut. */
static const char *item_fault(const Signature *s, const CutItem *item) {
    bool cut = false, lacks = false, paired = item->with.kind == AXIS_SIZE;
    for (int i = 0; i < s->n_in; i++) cut |= slot_has(&s->in[i], &item->axis);
    for (int j = 0; j < s->n_out; j++) {
        bool has =
            slot_has(&s->out[j], &item->axis) || (paired && slot_has(&s->out[j], &item->with));
        cut |= has;
        lacks |= !has;
    }
    if (!cut) return "no operand and no result has that letter";
    return item->sum && !lacks ? "every result has the letter, so it is no sum" : NULL;
}

static const char *parse_item(const char **at, const Signature *s, CutColumn *column) {
    if (column->n == MOST_SIZES) return "too many letters";
    CutItem *item = &column->item[column->n++];
    item->letter = **at;
    item->with.kind = AXIS_NUMBER;
    if (!take_axis(at, s, &item->axis)) return "not a letter of the signature";
    if (text_take(at, " with ") && (!take_axis(at, s, &item->with) ||
                                    item->axis.kind != AXIS_SIZE || item->with.kind != AXIS_SIZE))
        return "not two letters of the signature";
    for (uint32_t k = 0; k + 1u < column->n; k++)
        if (column->item[k].axis.kind == item->axis.kind &&
            column->item[k].axis.which == item->axis.which)
            return "a letter twice";
    if (text_take(at, " sum"))
        item->sum = true;
    else if (text_take(at, " over "))
        item->over = true;
    else if (text_take(at, " merge"))
        item->merge = true;
    else if (!text_take(at, " each"))
        return "neither each, sum, over nor merge";
    if (item->over && (item->with.kind != AXIS_NUMBER || !take_axis(at, s, &item->with) ||
                       item->axis.kind != AXIS_SIZE || item->with.kind != AXIS_SIZE))
        return "not two letters of the signature";
    item->at = text_take(at, " at");
    item->runs = text_take(at, " pairs") ? 2 : text_take(at, " runs") ? UINT8_MAX : 1;
    if (item->runs > 1 && !item->at) return "pairs or runs without at";
    item->padded = text_take(at, " padded");
    return item_fault(s, item);
}

/* Adds the operand of that name. */
static const char *parse_operand(const char **at, const Signature *s, uint8_t *mask) {
    char name[sizeof s->in[0].name] = "";
    size_t n = strcspn(*at, " ,");
    if (!n || n >= sizeof name) return "not the name of an operand";
    memcpy(name, *at, n);
    int i = signature_find(s, name);
    if (i < 0 || *mask >> i & 1) return "not the name of an operand, or a name twice";
    if (s->in[i].dtype < DT_COUNT && !dtype_is_float(s->in[i].dtype)) return "no sum of floats";
    *mask |= (uint8_t)(1u << i);
    *at += n;
    return NULL;
}

static const char *parse_linear(const char *at, const Signature *s, CutColumn *column) {
    const char *fault = NULL;
    do {
        if (column->n_linear == MOST_LINEAR) return "too many groups of operands";
        uint8_t *mask = &column->linear[column->n_linear++];
        do fault = parse_operand(&at, s, mask);
        while (!fault && *at == ' ' && at[1] != '/' && *at++);
    } while (!fault && text_take(&at, ", "));
    if (!fault && text_take(&at, " / ")) fault = parse_operand(&at, s, &column->divisor);
    return fault || !*at ? fault : "something left over";
}

const char *cut_column_parse(OpKind kind, const char *cut, const char *linear, CutColumn *column) {
    const Signature *s = op_signature(kind);
    const char *fault = NULL;
    *column = (CutColumn){.rule = texts[kind].rule};
    if (cut) {
        if (column->rule) return "both CUT and CUT_BY";
        do fault = parse_item(&cut, s, column);
        while (!fault && text_take(&cut, ", "));
        if (!fault && *cut) fault = "something left over";
    }
    return fault || !linear ? fault : parse_linear(linear, s, column);
}

/* Runs after signature.c has parsed the signatures. */
__attribute__((constructor)) static void parse_all(void) {
    for (int kind = 0; kind < OP_COUNT; kind++) {
        const char *fault =
            cut_column_parse((OpKind)kind, texts[kind].cut, texts[kind].linear, &columns[kind]);
        if (fault) BUG("the columns CUT and LINEAR of %s: %s", op_info[kind].name, fault);
    }
}

const CutColumn *cut_column(OpKind kind) { return &columns[kind]; }

static bool names(const CutOp *op, uint8_t mask, uint32_t i) {
    const Signature *s = op_signature(op->kind);
    return mask >> (signature_operand(s, op->n_in, op->in, i) - s->in) & 1;
}

bool cut_linear_names(const CutOp *op, const CutColumn *column, uint32_t k, uint32_t i) {
    return names(op, column->linear[k], i);
}

bool cut_divides_by(const CutOp *op, const CutColumn *column, uint32_t i) {
    return names(op, column->divisor, i);
}
