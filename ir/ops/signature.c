/* Parses the signatures of ops.def once, when the program starts.
 *
 * A signature that violates the form of signature.h is a bug of this build: it aborts before main,
 * so every test fails.
 */
#include "signature.h"

#include <string.h>

#include "util.h"

static Signature signatures[OP_COUNT];

typedef struct SignatureScan {
    OpKind kind;
    const char *at;
    Signature *s;
} SignatureScan;

static _Noreturn void broken(const SignatureScan *c, const char *what) {
    BUG("the signature of %s: %s at \"%s\"", op_info[c->kind].name, what, c->at);
}

static void need_text(SignatureScan *c, const char *text) {
    if (!text_take(&c->at, text)) broken(c, text);
}

static bool is_small(char ch) { return ch >= 'a' && ch <= 'z'; }
static bool is_capital(char ch) { return ch >= 'A' && ch <= 'Z'; }
static bool is_digit(char ch) { return ch >= '0' && ch <= '9'; }

static void copy_word(SignatureScan *c, char *to, size_t room, const char *from, size_t n) {
    if (!n || n >= room) broken(c, "a word of that length");
    memcpy(to, from, n);
    to[n] = 0;
}

/* The index of `letter` among the n letters so far; adds a new one. */
static uint8_t letter_of(SignatureScan *c, char letter, char *letters, uint8_t *n, int most) {
    for (uint8_t i = 0; i < *n; i++)
        if (letters[i] == letter) return i;
    if (*n == most) broken(c, "too many letters");
    letters[*n] = letter;
    return (*n)++;
}

static uint8_t size_of(SignatureScan *c, char letter) {
    return letter_of(c, letter, c->s->size, &c->s->n_sizes, MOST_SIZES);
}
static uint8_t sequence_of(SignatureScan *c, char letter) {
    return letter_of(c, letter, c->s->sequence, &c->s->n_sequences, MOST_SEQUENCES);
}

static void scan_axis(SignatureScan *c, Slot *slot) {
    if (slot->n_axes == MOST_AXES) broken(c, "too many axes");
    SlotAxis *axis = &slot->axis[slot->n_axes++];
    char letter = *c->at;
    if (text_take(&c->at, "...")) {
        *axis = (SlotAxis){.kind = AXIS_SEQUENCE, .which = sequence_of(c, '.')};
    } else if (text_take(&c->at, "_")) {
        axis->kind = AXIS_ANY;
    } else if (is_digit(letter)) {
        axis->kind = AXIS_NUMBER;
        for (; is_digit(*c->at); c->at++)
            axis->number = (uint16_t)(axis->number * 10 + (*c->at - '0'));
    } else if (is_small(letter) || is_capital(letter)) {
        c->at++;
        if (text_take(&c->at, "*"))
            *axis = (SlotAxis){.kind = AXIS_SEQUENCE, .which = sequence_of(c, letter)};
        else
            *axis = (SlotAxis){.kind = AXIS_SIZE, .which = size_of(c, letter)};
    } else {
        broken(c, "no axis");
    }
    slot->n_sequences += axis->kind == AXIS_SEQUENCE;
    if (slot->n_sequences > 2) broken(c, "three sequences");
}

static void scan_axes(SignatureScan *c, Slot *slot) {
    const char *start = c->at;
    need_text(c, "[");
    slot->any_shape = false;
    do scan_axis(c, slot);
    while (text_take(&c->at, ", "));
    copy_word(c, slot->axes, sizeof slot->axes - 1, start, (size_t)(c->at - start));
    strcat(slot->axes, "]");
    slot->pitched = text_take(&c->at, ":");
    need_text(c, "]");
}

static void scan_dtype(SignatureScan *c, Slot *slot) {
    static const struct {
        const char *name;
        uint8_t dtype;
        uint16_t n; /* entries of the only axis; 0: the word says nothing of axes */
    } words[] = {{"exact", DT_I64, EXACT_WORDS}, {"step", DT_F64, STEP_SLOTS},
                 {"scale", DT_F64, SCALE_SLOTS}, {"float", WANT_FLOAT, 0},
                 {"any", WANT_ANY, 0},           {"grad", WANT_GRAD, 0}};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (!text_take(&c->at, words[i].name)) continue;
        slot->dtype = words[i].dtype;
        if (!words[i].n) return;
        slot->any_shape = false;
        slot->n_axes = 1;
        slot->axis[0] = (SlotAxis){.kind = AXIS_NUMBER, .number = words[i].n};
        return;
    }
    if (is_capital(*c->at)) {
        c->at++;
        slot->dtype = WANT_SAME;
        return;
    }
    char name[8];
    size_t n = 0;
    while (is_small(c->at[n]) || is_digit(c->at[n])) n++;
    copy_word(c, name, sizeof name, c->at, n);
    slot->dtype = (uint8_t)dtype_by_name(name);
    if (slot->dtype == DT_NONE) broken(c, "no dtype");
    if (slot->dtype == DT_TOKEN) slot->any_shape = false;
    c->at += n;
    if (!text_take(&c->at, "(")) return;
    slot->below = (int8_t)size_of(c, *c->at++);
    need_text(c, ")");
}

static void scan_slot(SignatureScan *c, Slot *slot, bool result) {
    size_t n = 0;
    while (is_small(c->at[n]) || c->at[n] == '_') n++;
    copy_word(c, slot->name, sizeof slot->name, c->at, n);
    c->at += n;
    slot->dtype = result ? WANT_DEFAULT : WANT_FLOAT;
    slot->below = slot->same_as = -1;
    slot->any_shape = true;
    if (text_take(&c->at, ":")) scan_dtype(c, slot);
    if (*c->at == '[') scan_axes(c, slot);
    slot->optional = text_take(&c->at, "?");
    slot->many = text_take(&c->at, "*");
    if (*c->at && *c->at != ' ') broken(c, "something left over");
    text_take(&c->at, " ");
}

int signature_find(const Signature *s, const char *name) {
    for (int i = 0; i < s->n_in; i++)
        if (!strcmp(s->in[i].name, name)) return i;
    return -1;
}

int signature_find_result(const Signature *s, const char *name) {
    for (int j = 0; j < s->n_out; j++)
        if (!strcmp(s->out[j].name, name)) return j;
    return -1;
}

int op_partial_result(OpKind kind) {
    const char *name = op_info[kind].summed;
    return name ? signature_find_result(op_signature(kind), name) : -1;
}

int op_scratch(OpKind kind) {
    const char *name = op_info[kind].scratch;
    return name ? signature_find_result(op_signature(kind), name) : -1;
}

int op_partial_operand(OpKind kind) {
    for (int of = 0; of < OP_COUNT; of++) {
        const char *name = op_info[of].summed;
        int operand = name ? signature_find(op_signature(kind), name) : -1;
        if (operand >= 0) return operand;
    }
    return -1;
}

static void count_operands(SignatureScan *c) {
    Signature *s = c->s;
    bool optional = false, many = false;
    for (int i = 0; i < s->n_in; i++) {
        const Slot *slot = &s->in[i];
        if ((optional && !slot->optional) || (many && !slot->many)) broken(c, "the order");
        s->in_min += !slot->optional && !many;
        optional |= slot->optional;
        many |= slot->many;
    }
    s->in_max = many ? MANY : s->n_in;
    bool last = s->n_out && s->out[s->n_out - 1].optional;
    for (int j = 0; j + 1 < s->n_out; j++)
        if (s->out[j].optional) broken(c, "the order");
    s->out_min = (uint16_t)(s->n_out - last);
    s->out_max = s->n_out && s->out[s->n_out - 1].many ? MANY : s->n_out;
}

static void scan_signature(OpKind kind) {
    SignatureScan c = {.kind = kind, .at = op_info[kind].signature, .s = &signatures[kind]};
    Signature *s = c.s;
    while (strncmp(c.at, "->", 2)) {
        if (s->n_in == MOST_SLOTS) broken(&c, "too many operands");
        scan_slot(&c, &s->in[s->n_in++], false);
    }
    need_text(&c, "->");
    text_take(&c.at, " ");
    while (*c.at) {
        if (s->n_out == MOST_SLOTS) broken(&c, "too many results");
        Slot *slot = &s->out[s->n_out++];
        scan_slot(&c, slot, true);
        slot->same_as = (int8_t)signature_find(s, slot->name);
    }
    count_operands(&c);
}

/* Runs before parts.c, which needs the names of operands and results. */
__attribute__((constructor(1000))) static void scan_all(void) {
    for (int kind = 0; kind < OP_COUNT; kind++) scan_signature((OpKind)kind);
}

const Signature *op_signature(OpKind kind) { return &signatures[kind]; }

uint32_t signature_updated(const Signature *s) {
    uint32_t n = 0;
    while (n < s->n_out && s->out[n].same_as == (int8_t)n) n++;
    return n;
}
