/* What rules of gradients call: contributions add up to the gradient of a value, and the last one
 * ends it.
 *
 * Ownership. A gradient may be dy itself, a view of it, or a part of a larger gradient. Such a
 * value must be neither added to in place nor moved into a flat gradient (pass shard does that with
 * the operands of set_grad): a parameter's gradient that is not its own is copied first.
 */
#include "grad.h"
#include "passes.h"

bool grad_wanted(const Grad *c, const Op *op, uint32_t j) {
    return j < op->n_in && c->sums[op->in[j]].missing > 0;
}

/* Marks the end of a parameter's gradient. Its path and span are those of the parameter. */
static void finish_param(Grad *c, const Op *param, GradSum *s) {
    Builder at = c->b;
    if (!s->owned) {
        Attrs copy = {.alpha = 1.0};
        s->sum = emit_value(&at, OP_scale, &copy, 1, &s->sum, NULL);
        s->owned = true;
    }
    at.path = param->path;
    at.span = param->span;
    at.unit = param->unit;
    Attrs which = {.index = param->attr->index};
    op_emit(&at, OP_set_grad, &which, 1, &s->sum, NULL);
}

static void contributed(Grad *c, ValueId x) {
    GradSum *s = &c->sums[x];
    CHECK(s->missing > 0);
    if (--s->missing > 0) return;
    Op def = *value_maker(c->g, x);
    if (def.kind == OP_param) finish_param(c, &def, s);
}

static void add_contribution(Grad *c, const Op *op, uint32_t j, ValueId dx, bool owned) {
    GradSum *s = &c->sums[op->in[j]];
    if (s->sum == NO_VALUE) {
        s->sum = dx;
        s->owned = owned;
    } else {
        ValueId both[2] = {s->sum, dx};
        s->sum = emit_value(&c->b, OP_add, &(Attrs){0}, 2, both, NULL);
        s->owned = true;
    }
    contributed(c, op->in[j]);
}

void grad_give(Grad *c, const Op *op, uint32_t j, ValueId dx) {
    add_contribution(c, op, j, dx, true);
}

void grad_share(Grad *c, const Op *op, uint32_t j, ValueId dx) {
    add_contribution(c, op, j, dx, false);
}

void grad_reach(Grad *c, const Op *op, uint32_t j) { contributed(c, op->in[j]); }

void grad_accumulate(Grad *c, const Op *op, uint32_t j, OpKind kind, uint32_t n_in, ValueId *in,
                     const Type *given) {
    GradSum *s = &c->sums[op->in[j]];
    if (s->sum != NO_VALUE && s->owned) {
        in[n_in] = s->sum;
        s->sum = emit_value(&c->b, kind, op->attr, n_in + 1, in, given);
        contributed(c, op->in[j]);
    } else {
        add_contribution(c, op, j, emit_value(&c->b, kind, op->attr, n_in, in, given), true);
    }
}
