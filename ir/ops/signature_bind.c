/* Matches types with a signature: unification of axes.
 *
 * In: the types of an op's operands, and of its results if they are known. Each slot is walked
 * once: a letter that is still unbound takes the size that it meets, and later occurrences must
 * have the same size; `...` and letters with a star bind runs of axes in the same way. A slot with
 * two runs is matched after all others, when the second run is known. Out: the sizes, from which
 * the types of results follow, or a message that names operands and axes.
 */
#include <stdio.h>
#include <string.h>

#include "signature.h"

#define FAIL(...)                                                                                  \
    do {                                                                                           \
        if (!b->silent) snprintf(b->fault, sizeof b->fault, __VA_ARGS__);                          \
        return false;                                                                              \
    } while (0)

typedef struct FaultText {
    char at[TYPE_TEXT];
} FaultText;

static FaultText text_of(const Type *t) {
    FaultText text;
    type_format(t, text.at, sizeof text.at);
    return text;
}

const Slot *signature_result(const Signature *s, uint32_t j) {
    return &s->out[j < s->n_out ? j : s->n_out - 1u];
}

/* A token must be present where one is required, and only there. */
static bool right_class(const Slot *slot, const Type *t) {
    return (slot->dtype == DT_TOKEN) == (t->dtype == DT_TOKEN);
}

const Slot *signature_operand(const Signature *s, uint32_t n, const Type *in, uint32_t i) {
    uint32_t k = i < s->n_in ? i : s->n_in - 1u;
    if (s->in_max != MANY || n == 0) return &s->in[k];
    for (k = 0; !s->in[k].many && k < i;) k++;
    while (k + 1u < s->n_in && !right_class(&s->in[k], &in[i])) k++;
    return &s->in[k];
}

/* Number `who` among operands and results: its slot, type and name. */
static const Slot *slot_of(const BoundSignature *b, uint32_t who) {
    return who < b->n_in ? signature_operand(b->s, b->n_in, b->in, who)
                         : signature_result(b->s, who - b->n_in);
}

static const Type *type_at(const BoundSignature *b, uint32_t who) {
    return who < b->n_in ? &b->in[who] : &b->out[who - b->n_in];
}

typedef struct SlotName {
    char at[24];
} SlotName;

static SlotName name_of(const BoundSignature *b, uint32_t who) {
    SlotName text;
    const Slot *slot = slot_of(b, who);
    if (slot->many)
        snprintf(text.at, sizeof text.at, "%s %u", who < b->n_in ? "operand" : "result",
                 who < b->n_in ? who : who - b->n_in);
    else
        snprintf(text.at, sizeof text.at, "%s", slot->name);
    return text;
}

/* ---- dtypes */

static const char *wanted_dtype(const BoundSignature *b, const Slot *slot) {
    switch (slot->dtype) {
    case WANT_FLOAT:
    case WANT_GRAD: return "f32, bf16 or f16";
    case WANT_ANY: return "numbers";
    case WANT_SAME: return b->same ? dtype_name(b->same) : "numbers";
    case WANT_DEFAULT:
        return b->n_in && !type_is_float(&b->in[0]) ? dtype_name(b->in[0].dtype)
                                                    : "f32, bf16 or f16";
    default: return dtype_name(slot->dtype);
    }
}

static bool bind_dtype(BoundSignature *b, const Slot *slot, const Type *t, uint32_t who) {
    bool fits = t->dtype == slot->dtype;
    switch (slot->dtype) {
    case WANT_FLOAT:
    case WANT_GRAD: fits = type_is_float(t); break;
    case WANT_ANY: fits = t->dtype != DT_NONE && t->dtype != DT_TOKEN; break;
    case WANT_SAME:
        fits = t->dtype != DT_NONE && t->dtype != DT_TOKEN && (!b->same || b->same == t->dtype);
        if (!b->same) b->same = t->dtype;
        break;
    case WANT_DEFAULT:
        fits = b->n_in && !type_is_float(&b->in[0]) ? t->dtype == b->in[0].dtype : type_is_float(t);
        break;
    default: break;
    }
    if (!fits)
        FAIL("%s must be %s, not %s", name_of(b, who).at, wanted_dtype(b, slot), text_of(t).at);
    if (t->pitch && !slot->pitched)
        FAIL("%s must be dense, not %s", name_of(b, who).at, text_of(t).at);
    return true;
}

/* ---- axes */

static bool bind_size(BoundSignature *b, uint8_t which, int64_t size, uint32_t who) {
    if (!b->size[which]) {
        b->size[which] = size;
        b->size_from[which] = (uint8_t)who;
        return true;
    }
    if (b->size[which] == size) return true;
    uint32_t from = b->size_from[which];
    FAIL("%s %s has %c = %lld, %s %s has %c = %lld", name_of(b, who).at,
         text_of(type_at(b, who)).at, b->s->size[which], (long long)size, name_of(b, from).at,
         text_of(type_at(b, from)).at, b->s->size[which], (long long)b->size[which]);
}

static bool bind_sequence(BoundSignature *b, uint8_t which, const int64_t *dim, int n,
                          uint32_t who) {
    if (!b->sequence[which].dim) {
        b->sequence[which].dim = dim;
        b->sequence[which].n = (uint8_t)n;
        b->sequence[which].from = (uint8_t)who;
        return true;
    }
    if (b->sequence[which].n == n && !memcmp(b->sequence[which].dim, dim, sizeof *dim * (size_t)n))
        return true;
    uint32_t from = b->sequence[which].from;
    const char *what = "do not have the same leading axes";
    if (slot_of(b, who)->n_axes == 1 && slot_of(b, from)->n_axes == 1)
        what = "do not have the same shape";
    else if (b->s->sequence[which] != '.')
        what = "do not have the same last axes";
    FAIL("%s %s and %s %s %s", name_of(b, who).at, text_of(type_at(b, who)).at, name_of(b, from).at,
         text_of(type_at(b, from)).at, what);
}

/* The number of axes that each run of a slot takes in a type of that rank; false if there are too
 * few. A single run takes the remaining axes; of two runs the second is known. */
static bool run_lengths(const BoundSignature *b, const Slot *slot, int rank, int *first,
                        int *second) {
    int left = rank - (slot->n_axes - slot->n_sequences);
    *second = 0;
    if (slot->n_sequences == 2)
        for (int k = 0; k < slot->n_axes; k++)
            if (slot->axis[k].kind == AXIS_SEQUENCE) *second = b->sequence[slot->axis[k].which].n;
    *first = left - *second;
    return slot->n_sequences ? *first >= 0 : left == 0;
}

static bool bind_axes(BoundSignature *b, const Slot *slot, const Type *t, uint32_t who) {
    int length[2], run = 0, at = 0;
    if (slot->any_shape) return true;
    if (!run_lengths(b, slot, t->rank, &length[0], &length[1])) {
        if (slot->n_sequences < 2)
            FAIL("%s must be %s%s, not %s", name_of(b, who).at,
                 slot->dtype < DT_COUNT ? dtype_name(slot->dtype) : "", slot->axes, text_of(t).at);
        uint32_t from = b->sequence[slot->axis[slot->n_axes - 1].which].from;
        FAIL("the axes of %s %s are not the last axes of %s %s", name_of(b, from).at,
             text_of(type_at(b, from)).at, name_of(b, who).at, text_of(t).at);
    }
    for (int k = 0; k < slot->n_axes; k++) {
        const SlotAxis *axis = &slot->axis[k];
        if (axis->kind == AXIS_SEQUENCE) {
            if (!bind_sequence(b, axis->which, &t->dim[at], length[run], who)) {
                if (run == 0 || who >= b->n_in) return false;
                uint32_t from = b->sequence[axis->which].from;
                FAIL("the axes of %s %s are not the last axes of %s %s", name_of(b, from).at,
                     text_of(type_at(b, from)).at, name_of(b, who).at, text_of(t).at);
            }
            at += length[run++];
            continue;
        }
        if (axis->kind == AXIS_SIZE && !bind_size(b, axis->which, t->dim[at], who)) return false;
        if (axis->kind == AXIS_NUMBER && t->dim[at] != axis->number)
            FAIL("%s must be %s%s, not %s", name_of(b, who).at,
                 slot->dtype < DT_COUNT ? dtype_name(slot->dtype) : "", slot->axes, text_of(t).at);
        at++;
    }
    return true;
}

/* ---- whole signatures */

static bool check_count(BoundSignature *b) {
    const Signature *s = b->s;
    uint32_t least = s->in_min, most = s->in_max, n = b->n_in;
    if (n >= least && (most == MANY || n <= most)) return true;
    const char *more = least == 1 ? "" : "s";
    if (most == least) FAIL("takes %u operand%s, not %u", least, more, n);
    if (most == MANY) FAIL("takes at least %u operand%s, not %u", least, more, n);
    FAIL("takes %u to %u operands, not %u", least, most, n);
}

/* If operands may have any number, those of one kind must be adjacent, and the first kind must be
 * present. */
static bool check_order(BoundSignature *b) {
    const Slot *before = b->s->in;
    for (uint32_t i = 0; b->s->in_max == MANY && i < b->n_in; i++) {
        const Slot *slot = slot_of(b, i), *next = i ? before + 1 : before;
        if (slot < before || slot > next)
            FAIL("operand %u must be %s, not %s", i, before->name, text_of(&b->in[i]).at);
        before = slot;
    }
    return true;
}

static bool bind_one(BoundSignature *b, uint32_t who, bool two_runs) {
    const Slot *slot = slot_of(b, who);
    const Type *t = type_at(b, who);
    if ((slot->n_sequences == 2) != two_runs) return true;
    return bind_dtype(b, slot, t, who) && bind_axes(b, slot, t, who);
}

/* The operand whose type result j must have, or -1. */
static int64_t like_operand(const Signature *s, uint32_t n_in, uint32_t j) {
    const Slot *slot = signature_result(s, j);
    int64_t like = slot->same_as;
    if (like >= 0 && slot->many) like = j;
    return like < n_in ? like : -1;
}

static bool bind_likeness(BoundSignature *b, uint32_t j) {
    int64_t like = like_operand(b->s, b->n_in, j);
    const Type *out = &b->out[j];
    if (like < 0 || (out->dtype == b->in[like].dtype && type_same_dims(out, &b->in[like])))
        return true;
    FAIL("result %s must be %s, not %s", name_of(b, b->n_in + j).at, text_of(&b->in[like]).at,
         text_of(out).at);
}

static bool bind_all(BoundSignature *b, OpKind kind, uint32_t n_in, const Type *in, uint32_t n_out,
                     const Type *out) {
    const Signature *s = op_signature(kind);
    b->s = s;
    b->in = in;
    b->n_in = n_in;
    b->out = out;
    b->same = DT_NONE;
    b->fault[0] = 0;
    memset(b->size, 0, sizeof b->size);
    memset(b->sequence, 0, sizeof b->sequence);
    if (!check_count(b) || !check_order(b)) return false;
    for (uint32_t who = 0; who < n_in + n_out; who++)
        if (!bind_one(b, who, false)) return false;
    for (uint32_t who = 0; who < n_in + n_out; who++)
        if (!bind_one(b, who, true)) return false;
    for (uint32_t j = 0; j < n_out; j++)
        if (!bind_likeness(b, j)) return false;
    return true;
}

bool signature_bind(BoundSignature *b, OpKind kind, uint32_t n_in, const Type *in, uint32_t n_out,
                    const Type *out) {
    b->silent = false;
    return bind_all(b, kind, n_in, in, n_out, out);
}

bool signature_dtype_is_free(const Signature *s, uint32_t n_in, uint32_t j) {
    int dtype = signature_result(s, j)->dtype;
    return like_operand(s, n_in, j) < 0 &&
           (dtype == WANT_DEFAULT || dtype == WANT_GRAD || dtype == WANT_FLOAT);
}

/* A letter or run that no operand binds: a rule gives the type. */
static bool is_known(const BoundSignature *b, const Slot *slot) {
    bool known = !slot->any_shape;
    for (int k = 0; k < slot->n_axes; k++) {
        const SlotAxis *axis = &slot->axis[k];
        known &= axis->kind != AXIS_ANY && (axis->kind != AXIS_SIZE || b->size[axis->which]) &&
                 (axis->kind != AXIS_SEQUENCE || b->sequence[axis->which].dim);
    }
    return known;
}

static uint8_t inferred_dtype(const BoundSignature *b, const Slot *slot) {
    switch (slot->dtype) {
    case WANT_DEFAULT:
    case WANT_FLOAT: return b->n_in ? b->in[0].dtype : DT_NONE;
    case WANT_GRAD: return DT_F32;
    case WANT_SAME: return b->same;
    case WANT_ANY: return DT_NONE;
    default: return slot->dtype;
    }
}

Type signature_infer(const BoundSignature *b, uint32_t j) {
    const Slot *slot = signature_result(b->s, j);
    Type t = {.dtype = DT_NONE};
    if (slot->same_as >= 0 && !slot->many && (uint32_t)slot->same_as < b->n_in)
        return b->in[slot->same_as];
    if (!is_known(b, slot)) return t;
    int rank = 0;
    for (int k = 0; k < slot->n_axes; k++) {
        const SlotAxis *axis = &slot->axis[k];
        int n = axis->kind == AXIS_SEQUENCE ? b->sequence[axis->which].n : 1;
        if (rank + n > MAX_RANK) return (Type){.dtype = DT_F32, .rank = MAX_RANK + 1};
        for (int i = 0; i < n; i++)
            t.dim[rank++] = axis->kind == AXIS_NUMBER ? axis->number
                            : axis->kind == AXIS_SIZE ? b->size[axis->which]
                                                      : b->sequence[axis->which].dim[i];
    }
    t.rank = (uint8_t)rank;
    t.dtype = inferred_dtype(b, slot);
    return t;
}

static bool fits(BoundSignature *b, OpKind kind, uint32_t n_in, const Type *in, uint32_t n_out,
                 const Type *out) {
    const Signature *s = op_signature(kind);
    if (!bind_all(b, kind, n_in, in, n_out, out)) return false;
    if (n_out < s->out_min || (s->out_max != MANY && n_out > s->out_max))
        FAIL("has %u result%s, not %u", s->out_min, s->out_min == 1 ? "" : "s", n_out);
    return true;
}

bool signature_fits(BoundSignature *b, OpKind kind, uint32_t n_in, const Type *in, uint32_t n_out,
                    const Type *out) {
    b->silent = false;
    return fits(b, kind, n_in, in, n_out, out);
}

bool signature_might_fit(BoundSignature *b, OpKind kind, uint32_t n_in, const Type *in,
                         uint32_t n_out, const Type *out) {
    b->silent = true;
    return fits(b, kind, n_in, in, n_out, out);
}

/* ---- where axes come from */

/* The axis of a type of that rank at which run or letter `which` of that kind begins, -1: none. */
static int place_in(const BoundSignature *b, const Slot *slot, int rank, const SlotAxis *wanted) {
    int length[2], run = 0, at = 0;
    if (!run_lengths(b, slot, rank, &length[0], &length[1])) return -1;
    for (int k = 0; k < slot->n_axes; k++) {
        const SlotAxis *axis = &slot->axis[k];
        if (axis->kind == wanted->kind && axis->which == wanted->which) return at;
        at += axis->kind == AXIS_SEQUENCE ? length[run++] : 1;
    }
    return -1;
}

int signature_axis(const BoundSignature *b, uint32_t who, const SlotAxis *axis) {
    return place_in(b, slot_of(b, who), type_at(b, who)->rank, axis);
}

AxisOrigin op_axis_origin(OpKind kind, uint32_t n_in, const Type *in, uint32_t j, int rank, int k) {
    BoundSignature b;
    AxisOrigin none = {-1, -1};
    int length[2], run = 0, at = 0;
    if (!signature_bind(&b, kind, n_in, in, 0, NULL)) return none;
    const Slot *slot = signature_result(b.s, j);
    if (slot->any_shape || !run_lengths(&b, slot, rank, &length[0], &length[1])) return none;
    const SlotAxis *axis = slot->axis;
    for (int n; at <= k && axis < slot->axis + slot->n_axes; axis++, at += n) {
        n = axis->kind == AXIS_SEQUENCE ? length[run++] : 1;
        if (k < at + n) break;
    }
    if (axis == slot->axis + slot->n_axes || axis->kind == AXIS_NUMBER || axis->kind == AXIS_ANY)
        return none;
    for (uint32_t i = 0; i < n_in; i++) {
        int start = place_in(&b, slot_of(&b, i), in[i].rank, axis);
        if (start >= 0) return (AxisOrigin){(int)i, start + k - at};
    }
    return none;
}

int64_t op_index_limit(OpKind kind, uint32_t n_in, const Type *in, uint32_t i) {
    BoundSignature b;
    if (!signature_bind(&b, kind, n_in, in, 0, NULL)) return 0;
    const Slot *slot = slot_of(&b, i);
    return slot->below < 0 ? 0 : b.size[slot->below];
}
