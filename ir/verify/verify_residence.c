/* sched-1: gradients on their way from the contribution of a rank to the update.
 *
 * Each value that holds a group's gradient has a residence: over which axes it is split, and over
 * which it is still to be summed. A pack is whole and partial over all axes along which ranks read
 * other samples, and over those that its group names; a reduce_scatter splits what was partial, a
 * retain what was whole, an all_reduce completes it; a state has the residence that its row says
 * when a program starts, and when one ends that is not the step's last. The norm and the update
 * read gradients that are complete and split as the group is. Which strategy that is does not
 * matter.
 */
#include "signature.h"
#include "text.h"
#include "verify.h"

struct Gradient {
    int32_t group; /* + 1; 0: the value is not a gradient */
    AxisSet split, partial;
    bool reduced; /* a collective has taken it */
};
typedef struct Gradient Gradient;

static const char *axes_text(const Verify *v, AxisSet set) {
    Buf text = {0};
    text_axes_print(&v->g->policy.mesh, set, &text);
    const char *copy = arena_strndup(v->arena, text.at, text.n);
    buf_free(&text);
    return copy;
}

static void see_reduction(Verify *v, const Op *op) {
    AxisSet axes = (AxisSet)op->attr->axes;
    int32_t other = 0;  /* a group that it reduces, + 1 */
    bool named = false; /* one of them is of the unit that it names */
    for (uint32_t k = 0; k < op->n_in && k < op->n_out; k++) {
        Gradient g = v->gradient[op->in[k]];
        if (!g.group) continue;
        other = g.group;
        named |= v->g->groups.at[g.group - 1].unit == op->attr->unit;
        if (axes & ~g.partial)
            verify_broken(v, RULE_SCHED_1, op,
                          "reduces the gradient of group %d over %s, but it is partial over %s",
                          g.group - 1, axes_text(v, axes), axes_text(v, g.partial));
        if (g.reduced)
            verify_broken(v, RULE_SCHED_1, op, "reduces the gradient of group %d again",
                          g.group - 1);
        v->gradient[op->in[k]].reduced = true;
        g.partial &= ~axes;
        if (op->kind == OP_reduce_scatter) g.split |= axes;
        v->gradient[op->out + k] = g;
    }
    if (other && !named)
        verify_broken(v, RULE_SCHED_1, op, "reduces the gradient of group %d of another unit",
                      other - 1);
}

/* A rank's part of a gradient that others have whole, too. That of a parameter is not in question
 * here. */
static void see_retained(Verify *v, const Op *op) {
    Gradient g = v->gradient[op->in[0]];
    AxisSet axes = (AxisSet)op->attr->axes;
    if (!g.group) return;
    if (g.group != op->attr->group + 1 || !axes || axes & (g.partial | g.split) ||
        axes & ~v->g->groups.at[g.group - 1].layout.split)
        verify_broken(
            v, RULE_SCHED_1, op,
            "takes a part over %s of the gradient of group %d, which is split over %s and "
            "partial over %s",
            axes_text(v, axes), g.group - 1, axes_text(v, g.split), axes_text(v, g.partial));
    g.split |= axes;
    v->gradient[op->out] = g;
}

static void want_state(Verify *v, const Op *op, ValueId id, int64_t group, AxisSet split,
                       AxisSet partial) {
    const Gradient *g = &v->gradient[id];
    bool same = g->group == group + 1 || (g->group && group >= 0 &&
                                          group_shared(v->g, &v->g->groups.at[g->group - 1]) ==
                                              group_shared(v->g, &v->g->groups.at[group]));
    if (same && g->split == split && g->partial == partial) return;
    if (!same)
        verify_broken(v, RULE_SCHED_1, op, "does not take a gradient of group %lld",
                      (long long)group);
    else
        verify_broken(v, RULE_SCHED_1, op,
                      "needs the gradient of group %lld split over %s and partial over %s, but it "
                      "is split over %s and partial over %s",
                      (long long)group, axes_text(v, split), axes_text(v, partial),
                      axes_text(v, g->split), axes_text(v, g->partial));
}

/* A norm, an update or what prepares it takes the group's gradient as operand k. */
static void want_complete(Verify *v, const Op *op, uint32_t k) {
    if (op->attr->group == NO_INDEX) return; /* shard-6 says so */
    want_state(v, op, op->in[k], op->attr->group, v->g->groups.at[op->attr->group].layout.split, 0);
}

static void see_op(Verify *v, const Op *op) {
    const Graph *g = v->g;
    const State *s =
        op->kind == OP_state || op->kind == OP_set_state ? &g->states.at[op->attr->index] : NULL;
    if (s && s->role != STATE_GRADIENT) return;
    OpRole role = (OpRole)op_info[op->kind].role;
    int gradient = signature_find(op_signature(op->kind), "g");
    if ((role == ROLE_UPDATE || role == ROLE_STEP) && gradient >= 0)
        want_complete(v, op, (uint32_t)gradient);
    switch (op->kind) { /* what else there is has nothing to do with gradients of groups */
    case OP_pack:
    case OP_copy_in:
        v->gradient[op->out] = (Gradient){
            (int32_t)op->attr->group + 1, 0,
            mesh_sample_axes(&g->policy.mesh) | g->groups.at[op->attr->group].partial, false};
        break;
    case OP_state:
        v->gradient[op->out] = (Gradient){s->group + 1, s->split, s->partial, false};
        break;
    case OP_set_state:
        if (v->program->kind != PROGRAM_LAST && v->program->kind != PROGRAM_UPDATE)
            want_state(v, op, op->in[0], s->group, s->split, s->partial);
        break;
    case OP_retain: see_retained(v, op); break;
    case OP_fetch:
    case OP_evict: v->gradient[op->out] = v->gradient[op->in[0]]; break;
    case OP_reduce_scatter:
    case OP_all_reduce: see_reduction(v, op); break;
    case OP_accumulate: {
        Gradient sum = v->gradient[op->in[0]];
        want_state(v, op, op->in[1], sum.group - 1, sum.split, sum.partial);
        v->gradient[op->out] = sum;
        break;
    }
    default: break;
    }
}

bool verify_is_gradient(const Verify *v, ValueId id) {
    return v->gradient && v->gradient[id].group;
}

void verify_residence(Verify *v) {
    if (!v->gradient) v->gradient = arena_array(v->arena, Gradient, v->g->values.n);
    for (uint32_t k = 0; k < v->program->ops.n; k++) see_op(v, verify_op(v, k));
}
