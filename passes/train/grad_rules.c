/* Gradients by the texts in column GRAD of ops.def:
 *
 *   b = sum_leading(dy); w = linear_grad_weight; x = linear_grad_input
 *
 * Steps, each of which passes on gradients by the operands before its `=`: the results of an op; of
 * op slice, which each part of a concat gets a piece from; or dy itself. A step none of whose
 * operands wants a gradient is left out. `-`: backward reaches these operands, exact accumulators
 * or statistics, but they have no gradient. A name before `=` that is not an operand's names a
 * value that later steps read. Weights come first, the input last: see grad.c on the order.
 *
 * What an op reads are names: of operands and results of the forward op, or `d` and the name of a
 * result for the gradient that arrives there (dy: of the first one, whatever its name). Without
 * brackets it reads what its own signature names; an optional operand is left out if there is no
 * such value. `step` is the state with the loss scale, if seeds are multiplied by one. A number is
 * attribute alpha; other attributes are those of the forward op, and the exponent of the seed, with
 * which backward starts at a loss: a power of two near 1 / targets. The rest of the mean is applied
 * once, in the update.
 */
#include <stdlib.h>
#include <string.h>

#include "grad.h"
#include "signature.h"

static const char *const texts[OP_COUNT] = {
#define OP(id, ...) [OP_##id] = __VA_ARGS__,
#define GRAD(text) text
#include "ops.def"
};

bool grad_flows_back(OpKind op) { return *texts[op] != 0; }

bool grad_reaches(OpKind op, uint32_t j) {
    const Signature *own = op_signature(op);
    for (const char *at = texts[op]; *at; at += strcspn(at, ";"), at += *at ? 2 : 0) do {
            int k = signature_find(own, text_take_name(&at).at);
            if (k >= 0 && (own->in[k].many ? j >= (uint32_t)k : j == (uint32_t)k)) return true;
        } while (text_take(&at, ", "));
    return false;
}

typedef struct GradStep {
    Grad *c;
    const Op *op;
    const ValueId *dy; /* by result of op */
    const char *at;    /* what is left of the text */
    TextName made;     /* a name that the text gives to .. */
    ValueId value;     /* .. this value */
    uint32_t n_to, n_in;
    uint32_t *to; /* operands of op that get gradients */
    ValueId *in;  /* what the gradient op reads */
    Attrs attrs;
} GradStep;

static const Type *type_of_value(const Grad *c, ValueId v) { return &c->g->values.at[v].type; }

/* ---- what an op reads ---- */

/* The state whose loss scale seeds are multiplied by. */
static ValueId step_state(Grad *c) {
    const Graph *g = c->g;
    const Program *p = &g->programs.at[c->b.program];
    int32_t step = graph_find_state(g, "step");
    CHECK(step != NO_INDEX);
    for (uint32_t i = 0; i < p->ops.n; i++) {
        const Op *op = &g->ops.at[p->ops.at[i]];
        if (op->kind == OP_state && op->attr->index == step) return op->out;
    }
    return emit_state(&c->b, step);
}

/* Gradients of all results from `first` on that have the name; zeros where none arrived. */
static void read_gradients(GradStep *s, int first) {
    const Op *op = s->op;
    uint32_t end = op_signature(op->kind)->out[first].many ? op->n_out : (uint32_t)first + 1;
    for (uint32_t j = (uint32_t)first; j < end; j++) {
        Type t = *type_of_value(s->c, op->out + j);
        bool missing = s->dy[j] == NO_VALUE;
        s->in[s->n_in++] =
            missing ? emit_value(&s->c->b, OP_fill, &(Attrs){0}, 0, NULL, &t) : s->dy[j];
    }
}

/* false: there is no value of that name. */
static bool read_value(GradStep *s, const char *name) {
    const Op *op = s->op;
    const Signature *own = op_signature(op->kind);
    int operand = signature_find(own, name), result = signature_find_result(own, name);
    int of = *name == 'd' ? signature_find_result(own, name + 1) : -1;
    if (of < 0 && !strcmp(name, "dy")) of = 0;
    if (*s->made.at && !strcmp(name, s->made.at)) {
        s->in[s->n_in++] = s->value;
    } else if (operand >= 0) {
        uint32_t k = (uint32_t)operand, end = own->in[k].many ? op->n_in : MIN(op->n_in, k + 1);
        if (k >= end) return false;
        while (k < end) s->in[s->n_in++] = op->in[k++];
    } else if (result >= 0) {
        s->in[s->n_in++] = op->out + (uint32_t)result;
    } else if (of >= 0) {
        read_gradients(s, of);
    } else if (!strcmp(name, "step") && s->c->g->policy.loss_scale > 0) {
        s->in[s->n_in++] = step_state(s->c);
    } else {
        return false;
    }
    return true;
}

static void read_operands(GradStep *s, OpKind kind) {
    const Signature *reads = op_signature(kind);
    s->n_in = 0;
    s->attrs = *s->op->attr;
    s->attrs.exponent = s->c->g->policy.loss_exponent;
    if (!text_take(&s->at, "(")) {
        for (int i = 0; i < reads->n_in; i++)
            if (!read_value(s, reads->in[i].name)) CHECK(reads->in[i].optional);
        return;
    }
    do {
        if (*s->at == '-')
            s->attrs.alpha = strtod(s->at, (char **)&s->at);
        else if (!read_value(s, text_take_name(&s->at).at))
            BUG("the gradient of %s reads an unknown value", op_info[s->op->kind].name);
    } while (text_take(&s->at, ", "));
    CHECK(text_take(&s->at, ")"));
}

/* ---- what it gives ---- */

/* dx has the shape of a result; operand j may be smaller, broadcast over it. */
static void give(GradStep *s, uint32_t j, ValueId dx, bool own) {
    Grad *c = s->c;
    Type to = *type_of_value(c, s->op->in[j]);
    const Type *from = type_of_value(c, dx);
    if (!type_same_dims(&to, from) && type_is_suffix(&to, from)) {
        ValueId in[2] = {dx};
        grad_accumulate(c, s->op, j, OP_sum_leading, 1, in, &to);
    } else if (!type_same_dims(&to, from)) {
        grad_give(c, s->op, j, emit_value(&c->b, OP_sum_to, &(Attrs){0}, 1, &dx, &to));
    } else if (own) {
        grad_give(c, s->op, j, dx);
    } else {
        grad_share(c, s->op, j, dx);
    }
}

/* The piece of dy, joined along an axis, that belongs to each operand. */
static void give_slices(GradStep *s) {
    s->attrs.start = 0;
    for (uint32_t i = 0; i < s->n_to; i++) {
        s->attrs.count = type_of_value(s->c, s->op->in[s->to[i]])->dim[s->attrs.axis];
        if (grad_wanted(s->c, s->op, s->to[i]))
            give(s, s->to[i], emit_value(&s->c->b, OP_slice, &s->attrs, 1, s->in, NULL), false);
        s->attrs.start += s->attrs.count;
    }
}

static void give_results(GradStep *s, OpKind kind) {
    Grad *c = s->c;
    Type type = {0};
    if (s->n_to) type = *type_of_value(c, s->op->in[*s->to]);
    const Type *given = op_info[kind].given ? &type : NULL;
    if (op_info[kind].alias == ALIAS_ACC) {
        grad_accumulate(c, s->op, *s->to, kind, s->n_in, s->in, given);
        return;
    }
    /* A dtype that is bound to that of another value need not be that of a parameter's gradient. */
    bool own = op_signature(kind)->out[0].dtype != WANT_SAME;
    OpId id = op_emit(&c->b, kind, &s->attrs, s->n_in, s->in, given);
    ValueId out = c->g->ops.at[id].out;
    if (!s->n_to) s->value = out;
    for (uint32_t i = 0; i < s->n_to; i++)
        if (grad_wanted(c, s->op, s->to[i])) give(s, s->to[i], out + i, own);
}

/* ---- steps ---- */

/* What stands before `=`. false: operands none of which wants a gradient. */
static bool read_targets(GradStep *s) {
    const Op *op = s->op;
    const Signature *own = op_signature(op->kind);
    bool any = false;
    s->n_to = 0;
    do {
        TextName name = text_take_name(&s->at);
        int k = signature_find(own, name.at);
        uint32_t end = k < 0 ? 0 : own->in[k].many ? op->n_in : MIN(op->n_in, (uint32_t)k + 1);
        for (uint32_t j = (uint32_t)k; j < end; j++) {
            any |= grad_wanted(s->c, op, j);
            s->to[s->n_to++] = j;
        }
        if (k < 0) s->made = name;
        any |= k < 0;
    } while (text_take(&s->at, ", "));
    CHECK(text_take(&s->at, " = "));
    return any;
}

static void run_step(GradStep *s) {
    if (!read_targets(s)) {
        s->at += strcspn(s->at, ";");
    } else if (text_take(&s->at, "-")) {
        for (uint32_t i = 0; i < s->n_to; i++)
            if (grad_wanted(s->c, s->op, s->to[i])) grad_reach(s->c, s->op, s->to[i]);
    } else if (text_take(&s->at, "dy")) {
        give(s, *s->to, s->dy[0], false);
    } else {
        OpKind kind = (OpKind)op_by_name(text_take_name(&s->at).at);
        CHECK(kind < OP_COUNT);
        read_operands(s, kind);
        if (kind == OP_slice)
            give_slices(s);
        else
            give_results(s, kind);
    }
}

void grad_run(Grad *c, const Op *op, const ValueId *dy) {
    GradStep s = {.c = c, .op = op, .dy = dy, .at = texts[op->kind]};
    s.to = arena_array(c->g->scratch, uint32_t, op->n_in);
    s.in = arena_array(c->g->scratch, ValueId, op->n_in + op->n_out + MOST_SLOTS);
    do run_step(&s);
    while (text_take(&s.at, "; "));
    CHECK(!*s.at);
}
