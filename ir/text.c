/* The tables behind the text form: which fields Attrs and Policy have, and the words of enums. */
#include <stddef.h>
#include <string.h>

#include "text.h"

#define WORDS(...)                                                                                 \
    { (const char *const[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *) }

#define KIND_INT                                                                                   \
    TEXT_INT, { 0 }
#define KIND_REAL                                                                                  \
    TEXT_REAL, { 0 }
#define KIND_BOOL                                                                                  \
    TEXT_BOOL, { 0 }
#define KIND_GELU TEXT_WORDS, WORDS("erf", "tanh")
#define KIND_ON_NAN TEXT_WORDS, WORDS("stop", "skip", "continue")
#define KIND_COMM TEXT_WORDS, WORDS("gather", "reduce")
#define KIND_TAG TEXT_WORDS, WORDS("parameter", "gradient", "metric")
#define KIND_DTYPE TEXT_WORDS, WORDS("none", "f32", "bf16", "f64", "i32", "i64", "u8", "token")
#define KIND_STRATEGY TEXT_WORDS, WORDS("full", "grads", "none")
#define KIND_OPTIMIZER TEXT_WORDS, WORDS("sgd", "adam", "adamw")

const TextField attr_fields[ATTR_COUNT] = {
#define ATTR(field, name, ctype, kind) {name, offsetof(Attrs, field), sizeof(ctype), KIND_##kind},
#include "attrs.def"
#undef ATTR
};

#define FIELD(field, kind)                                                                         \
    { #field, offsetof(Policy, field), sizeof((Policy){0}.field), KIND_##kind }
const TextField policy_fields[] = {
    FIELD(strategy, STRATEGY),
    FIELD(reshard, BOOL),
    FIELD(reshard_root, BOOL),
    FIELD(accumulate_local, BOOL),
    FIELD(prefetch_forward, INT),
    FIELD(prefetch_backward, INT),
    FIELD(prefetch_post, BOOL),
    FIELD(inflight, INT),
    FIELD(align, INT),
    FIELD(micro_batches, INT),
    FIELD(batch, INT),
    FIELD(compute_dtype, DTYPE),
    FIELD(reduce_dtype, DTYPE),
    FIELD(optimizer, OPTIMIZER),
    FIELD(beta1, REAL),
    FIELD(beta2, REAL),
    FIELD(eps, REAL),
    FIELD(weight_decay, REAL),
    FIELD(momentum, REAL),
    FIELD(nesterov, BOOL),
    FIELD(clip, REAL),
    FIELD(clip_value, REAL),
    FIELD(on_nan, ON_NAN),
    FIELD(loss_exponent, INT),
};
const uint32_t n_policy_fields = ARRAY_LEN(policy_fields);
const uint32_t policy_train_field = 9;

const Words init_words = WORDS("zeros", "ones", "normal");
const Words unit_policy_words = WORDS("root", "class", "size", "manual");

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

bool text_is_word(const char *s) {
    if (!*s || (*s >= '0' && *s <= '9')) return false;
    for (; *s; s++)
        if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') ||
              *s == '_'))
            return false;
    return true;
}
