/* The op table and the words of the enums, for every room that prints or reads them. */
#include <string.h>

#include "op.h"

/* KERNEL(word) is the word as text, and "" for `executor`: NOT_LAUNCHED_executor puts "" in second
 * place, any other NOT_LAUNCHED_word is one unknown name in first place. */
#define NOT_LAUNCHED_executor 0, ""
#define SECOND(first, second, ...) second
#define EXPANDED_SECOND(...) SECOND(__VA_ARGS__)
#define KERNEL(word) EXPANDED_SECOND(NOT_LAUNCHED_##word, #word, 0)

#define OP(id, text, in_low, in_high, out_low, out_high, level_mask, effect_kind, attr_mask,       \
           shape, grad, flops, bytes, shard_kind, alias_kind, mask, precision_kind, ws_cpu,        \
           ws_cuda, kernel_word)                                                                   \
    [OP_##id] = {.name = text,                                                                     \
                 .in_min = in_low,                                                                 \
                 .in_max = in_high,                                                                \
                 .out_min = out_low,                                                               \
                 .out_max = out_high,                                                              \
                 .levels = level_mask,                                                             \
                 .effect = effect_kind,                                                            \
                 .shard = shard_kind,                                                              \
                 .alias = alias_kind,                                                              \
                 .precision = precision_kind,                                                      \
                 .alias_mask = (uint32_t)(mask),                                                   \
                 .attrs = (uint32_t)(attr_mask),                                                   \
                 .kernel = KERNEL(kernel_word)},
const OpInfo op_info[OP_COUNT] = {
#include "ops.def"
};
#undef OP

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

/* Products whose wide side is a row (logits and their gradient), and the loss between them. */
OpPitched op_pitched(OpKind op) {
    switch (op) {
    case OP_reshape: return (OpPitched){1, 1};
    case OP_linear: return (OpPitched){0, 1};
    case OP_linear_grad_input:
    case OP_linear_grad_weight:
    case OP_linear_grad_weight_bias:
    case OP_cross_entropy: return (OpPitched){1, 0};
    case OP_cross_entropy_grad:
    case OP_cross_entropy_both: return (OpPitched){1, 1};
    default: return (OpPitched){0, 0};
    }
}

const char *phase_name(int phase) { return word_of(&words_Phase, phase); }

const char *stream_name(int stream) { return word_of(&words_StreamKind, stream); }
