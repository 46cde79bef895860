/* Faults that turn the plan into a correct step of another model: the same in all programs, so that
 * only what the tables say about the model (proof 8) reveals them. */
#include <string.h>

#include "mutate.h"
#include "op.h"
#include "signature.h"

/* An attribute that says how a forward op computes, or ATTR_COUNT. */
static int model_attr(const EditInstr *in) {
    static const int bits[] = {ATTR_BIT_causal, ATTR_BIT_eps, ATTR_BIT_alpha};
    const OpInfo *o = &op_info[in->row.op];
    for (size_t k = 0; k < ARRAY_LEN(bits); k++)
        if (o->role == ROLE_FORWARD && o->levels & L_MODEL && o->launched &&
            o->attrs >> bits[k] & 1)
            return bits[k];
    return ATTR_COUNT;
}
static bool has_model_attr(const Edit *e, uint32_t i) {
    return model_attr(&e->instr[i]) != ATTR_COUNT;
}
/* In forward, backward and evaluation alike: the gradients are right, for another model. */
FAULT(another_model) {
    const EditInstr *in = &e->instr[at.instr];
    int bit = model_attr(in);
    PlanString path = in->row.path;
    for (uint32_t i = 0; i < e->n_instr; i++) {
        EditInstr *other = &e->instr[i];
        if (other->row.path != path || !(op_info[other->row.op].attrs >> bit & 1)) continue;
        Attrs *a = &other->row.attr;
        if (bit == ATTR_BIT_causal) a->causal ^= 1;
        if (bit == ATTR_BIT_eps) a->eps *= 2;
        if (bit == ATTR_BIT_alpha) a->alpha *= 2;
    }
    return true;
}

/* A file of weights would be read into the other one, and saved so. */
FAULT(exchange_names) {
    uint32_t n = (uint32_t)e->base->n_params, a = random_below(r, n);
    for (uint32_t k = 1; k < n; k++) {
        PlanParam *p = &e->param[a], *q = &e->param[(a + k) % n];
        if (memcmp(&p->type, &q->type, sizeof p->type)) continue;
        PlanString key = p->key, name = p->checkpoint;
        p->key = q->key;
        p->checkpoint = q->checkpoint;
        q->key = key;
        q->checkpoint = name;
        return p->checkpoint != q->checkpoint;
    }
    return false;
}

static int64_t find_state(const Edit *e, const char *name) {
    for (uint32_t k = 0; k < e->base->n_states; k++)
        if (!strcmp(plan_string(e->base, e->state[k].name), name)) return k;
    return -1;
}
/* The step leaves its loss where the evaluation's is read, and the evaluation its own there. */
FAULT(exchange_losses) {
    int64_t a = find_state(e, "loss"), b = find_state(e, "eval.loss");
    if (a < 0 || b < 0) return false;
    for (uint32_t i = 0; i < e->n_instr; i++) {
        PlanInstr *in = &e->instr[i].row;
        if (in->op != OP_state && in->op != OP_set_state) continue;
        if (in->attr.index == a || in->attr.index == b) in->attr.index = a + b - in->attr.index;
    }
    uint64_t address = e->state[a].address;
    e->state[a].address = e->state[b].address;
    e->state[b].address = address;
    return true;
}

FAULT(another_rate) {
    double *const rate[] = {&e->settings.lr, &e->settings.final};
    double *x = rate[random_below(r, ARRAY_LEN(rate))];
    *x = *x / 2 + 0.125;
    return true;
}

static bool is_rounded(const Edit *e, uint32_t i) {
    const EditInstr *in = &e->instr[i];
    bool computes = in->row.stream == STREAM_COMPUTE && in->row.op != OP_fused && in->n_out &&
                    op_info[in->row.op].effect == EFFECT_PURE;
    if (!computes || !type_is_float(&e->value[in->out[0]].type)) return false;
    const Slot *slot = signature_result(op_signature((OpKind)in->row.op), 0);
    return slot->dtype == WANT_DEFAULT && slot->same_as < 0;
}
/* A value is rounded in another way, to a dtype for which there is room. */
FAULT(another_dtype) {
    uint8_t *dtype = &e->value[e->instr[at.instr].out[0]].type.dtype;
    *dtype = *dtype == DT_BF16 ? DT_F16 : DT_BF16;
    return true;
}

/* Every norm changes: one that differs from the others breaks proof 4 first. */
FAULT(another_norm) {
    bool any = false;
    for (uint32_t i = 0; i < e->n_instr; i++) {
        PlanInstr *in = &e->instr[i].row;
        if (in->op != OP_grad_norm) continue;
        in->attr.clip_norm ^= 1;
        any = true;
    }
    return any;
}

const Fault model_faults[] = {
    {"compute another model", 8, 3, another_model, .at = has_model_attr},
    {"exchange the names of two parameters", 8, 1, .plant = exchange_names},
    {"exchange the loss with that of the evaluation", 8, 1, .plant = exchange_losses},
    {"train at another rate", 8, 1, .plant = another_rate},
    {"compute in another dtype", 8, 4, another_dtype, .at = is_rounded},
    {"take another norm of the gradient", 8, 1, .plant = another_norm},
};
const uint32_t n_model_faults = ARRAY_LEN(model_faults);
