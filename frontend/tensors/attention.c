/* attention(q, k, v, ..): one op, after its operands are adapted where the language allows more
 * than the op: values of another width than the keys, and a bias that all heads share.
 *
 * B samples, T and S positions, H and K heads, h the width of a head.
 */
#include <math.h>
#include <string.h>

#include "operations.h"

/* x padded with zeros along its last axis, up to this width. */
static ExprValue pad_last_axis(Scope *s, Span at, ExprValue x, int64_t width) {
    int last = x.type.rank - 1;
    ExprValue rest = x;
    rest.type.dim[last] = width - last_dim(&x.type);
    rest.dims[last] = NULL;
    if (rest.type.dim[last] <= 0) return x;
    tensor_value(s, &x, at);
    ExprValue parts[2] = {x, expand_number(s, at, 0, &rest)};
    ExprValue out = emit_op(s, OP_concat, &(Attrs){.axis = last}, "", at, parts, 2, NULL);
    memcpy(out.dims, rest.dims, sizeof out.dims);
    return out;
}

/* A bias of each sample that all heads share, [B, 1, T, S]. */
static ExprValue each_for_each_head(Scope *s, Span at, ExprValue bias, const ExprValue *q) {
    ExprValue to = bias;
    if (to.type.dim[1] != 1 || q->type.dim[2] == 1) return bias;
    to.type.dim[1] = q->type.dim[2];
    to.dims[1] = q->dims[2];
    return emit_like(s, OP_expand, at, bias, &to);
}

/* Expands a bias for all heads, [T, S] or [1, T, S]. */
static ExprValue for_each_head(Scope *s, Span at, ExprValue bias, const ExprValue *q,
                               const ExprValue *k) {
    Type to = bias.type;
    int64_t heads = q->type.dim[2];
    if (to.rank == 4) return each_for_each_head(s, at, bias, q);
    bool missing = to.rank == 2, one = to.rank == 3 && to.dim[0] == 1 && heads > 1;
    bool fits = (missing || one) && to.dim[to.rank - 2] == q->type.dim[1] &&
                last_dim(&to) == k->type.dim[1];
    if (!fits) return bias;
    ExprValue out = {.dims = {q->dims[2], bias.dims[1 - missing], bias.dims[2 - missing]}};
    out.type = type_of(to.dtype, 3, (int64_t[]){heads, to.dim[to.rank - 2], to.dim[to.rank - 1]});
    return emit_like(s, OP_expand, at, bias, &out);
}

/* The first entries of the last axis, as many as v has. */
static ExprValue as_wide_as(const BuiltinCall *c, ExprValue y, const ExprValue *v) {
    if (y.kind == VALUE_ERROR) return y;
    int64_t width = last_dim(&v->type);
    if (last_dim(&y.type) > width)
        y = slice_axis(c->s, c->at, c->info->name, y, y.type.rank - 1, 0, width);
    if (y.kind == VALUE_TENSOR) y.dims[y.type.rank - 1] = v->dims[v->type.rank - 1];
    return y;
}

/* Documents that do not fit: true after an error. */
static bool refuse_documents(const BuiltinCall *c, const ExprValue *q, const ExprValue *k) {
    const char *help = "give positions that nothing may see a document of their own",
               *problem = "`attention` takes mask or documents, not both";
    bool across = q->type.rank == 4 && k->type.rank == 4 && q->type.dim[1] != k->type.dim[1];
    if (across) {
        help = "write mask = seen, integers of shape [B, T, S]";
        problem = "`documents` need keys at the positions of the queries";
    }
    if (!across && !value_is_tensor(call_operand(c, "mask"))) return false;
    method_report(c->s, E_arguments, c->at, help, "%s", problem);
    return true;
}

/* 0: the window leaves nothing out. */
static int64_t window_of(const BuiltinCall *c, const ExprValue *q, const ExprValue *k) {
    const ExprValue *window = call_operand(c, "window");
    int64_t positions = MAX(q->type.dim[1], k->type.dim[1]);
    return window->kind == VALUE_NONE || window->integer >= positions ? 0 : window->integer;
}

/* Operands after k and v: returns their number. */
static uint32_t add_terms(const BuiltinCall *c, ExprValue *in, const ExprValue *q,
                          const ExprValue *k) {
    const ExprValue *bias = call_operand(c, "bias"), *sinks = call_operand(c, "sinks");
    bool documents = value_is_tensor(call_operand(c, "documents"));
    bool heads = q->type.rank == 4 && k->type.rank == 4;
    uint32_t n = 0;
    if (value_is_tensor(sinks)) in[n++] = *sinks;
    if (value_is_tensor(bias)) in[n++] = heads ? for_each_head(c->s, c->at, *bias, q, k) : *bias;
    if (documents || value_is_tensor(call_operand(c, "mask")))
        in[n++] = operand_of_ids(c, documents ? "documents" : "mask");
    return n;
}

/* The op that takes what is given besides q, k, v and a mask; OP_COUNT after an error. */
static OpKind attention_op(const BuiltinCall *c, const ExprValue *q) {
    const ExprValue *bias = call_operand(c, "bias"), *sinks = call_operand(c, "sinks");
    if (!value_is_tensor(bias)) return value_is_tensor(sinks) ? OP_attention_sunk : OP_attention;
    if (value_is_tensor(sinks)) {
        method_report(
            c->s, E_arguments, c->at,
            "a sink is the score of one more key: write it as the last column of the bias, "
            "and add a key and a value of zeros",
            "`attention` takes bias or sinks, not both");
        return OP_COUNT;
    }
    if (bias->type.rank < 4) return OP_attention_biased;
    ExprValue both[2] = {*q, *bias};
    bool unlike = refuse_unlike_samples(c->s, c->info->name, c->at, both, 2);
    return unlike ? OP_COUNT : OP_attention_biased_each;
}

ExprValue run_attention(const BuiltinCall *c) {
    const ExprValue *q = call_operand(c, "q"), *k = call_operand(c, "k"), *v = call_operand(c, "v");
    const ExprValue *scale = call_operand(c, "scale"), *cap = call_operand(c, "cap");
    bool heads = q->type.rank == 4 && k->type.rank == 4 && v->type.rank == 4;
    bool alike = heads && last_dim(&q->type) == last_dim(&k->type);
    OpKind kind = attention_op(c, q);
    int64_t head = q->type.rank ? last_dim(&q->type) : 1;
    int64_t width = alike ? MAX(head, last_dim(&v->type)) : head;
    Attrs a = {.causal = call_operand(c, "causal")->boolean,
               .alpha = scale->kind == VALUE_WORD ? 1 / sqrt((double)head) : value_number(scale),
               .window = heads ? window_of(c, q, k) : 0,
               .cap = cap->kind == VALUE_NONE ? 0 : value_number(cap),
               .documents = value_is_tensor(call_operand(c, "documents"))};
    ExprValue in[5] = {*q, *k, *v};
    if (kind == OP_COUNT) return call_failed(c);
    if (heads && refuse_unlike_samples(c->s, c->info->name, c->at, in, 3)) return call_failed(c);
    if (a.documents && refuse_documents(c, q, k)) return call_failed(c);
    for (int i = 0; alike && i < 3; i++) in[i] = pad_last_axis(c->s, c->at, in[i], width);
    uint32_t n = 3 + add_terms(c, in + 3, q, k);
    if (in[n - 1].kind == VALUE_ERROR) return call_failed(c);
    return as_wide_as(c, call_op(c, kind, &a, in, n), v);
}
