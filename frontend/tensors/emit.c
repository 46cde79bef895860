/* Emitting the ops of a method: values become operands, types are inferred, and shapes that do not
 * fit are reported in the names of the model. Also here: which values hold samples, and whether an
 * op would mix them.
 */
#include <string.h>

#include "infer.h"
#include "operations.h"

ExprValue tensor_of(Elaboration *e, ValueId id, Span at) {
    const Value *v = &e->graph->values.at[id];
    bool loss = op_info[e->graph->ops.at[v->def].kind].term != TERM_NONE;
    return (ExprValue){
        .kind = loss ? VALUE_LOSS : VALUE_TENSOR, .span = at, .tensor = id, .type = v->type};
}

void set_op_place(Scope *s, Span at) {
    const InstanceArray *experts = s->elaboration->applied.experts;
    s->elaboration->build.path = experts ? experts->path : s->path ? s->path : "";
    uint32_t frame;
    s->elaboration->build.span = user_place(s->elaboration, at, &frame);
}

ParamSlot *param_counterpart(const Instance *from, const Instance *to, const ParamSlot *p) {
    for (uint32_t i = 0; i < from->fields.n; i++) {
        const InstanceField *f = &from->fields.at[i], *g = &to->fields.at[i];
        ParamSlot *found = NULL;
        if (f->kind == FIELD_PARAM && f->param == p) return g->param;
        if (f->kind == FIELD_MODULE) found = param_counterpart(f->module, g->module, p);
        for (uint32_t k = 0; f->kind == FIELD_ARRAY && !found && k < f->array->n; k++)
            found = param_counterpart(f->array->at[k], g->array->at[k], p);
        if (found) return found;
    }
    return NULL;
}

bool is_expert_param(const Elaboration *e, const ExprValue *v) {
    const InstanceArray *experts = e->applied.experts;
    return experts && v->kind == VALUE_PARAM &&
           param_counterpart(experts->at[0], experts->at[0], v->param) != NULL;
}

ValueId tensor_value(Scope *s, ExprValue *v, Span at) {
    Elaboration *e = s->elaboration;
    if (v->kind == VALUE_TENSOR) return v->tensor;
    if (is_expert_param(e, v))
        method_report(s, E_shape, at, NULL,
                      "a parameter of an expert can only be the weight or bias of `linear`");
    ParamSlot *p = param_owner(v->param);
    if (e->param_value[p->row] == NO_VALUE) {
        Attrs a = {.index = p->row};
        set_op_place(s, at);
        e->param_value[p->row] = emit_value(&e->build, OP_param, &a, 0, NULL, NULL);
    }
    v->kind = VALUE_TENSOR;
    return v->tensor = e->param_value[p->row];
}

ExprValue emit_op(Scope *s, OpKind kind, const Attrs *attr, const char *name, Span at,
                  ExprValue *operands, uint32_t n, const Type *given) {
    Elaboration *e = s->elaboration;
    Arena *arena = s->model->arena;
    Type *types = arena_array(arena, Type, n + 1);
    ValueId *ids = arena_array(arena, ValueId, n + 1);
    for (uint32_t i = 0; i < n; i++) types[i] = operands[i].type;
    uint32_t n_out = op_results_max(kind, attr, n, types);
    Type *results = arena_array(arena, Type, n_out + 1);
    if (given) results[0] = *given;
    const char *problem =
        op_infer(e->graph, kind, attr, n, types, &n_out, results, s->model->arena);
    if (problem) {
        Buf shapes = {0};
        for (uint32_t i = 0; i < n; i++)
            buf_printf(&shapes, "%s%s",
                       !i           ? ""
                       : i + 1 == n ? " and "
                                    : ", ",
                       value_shape(s->model->arena, &operands[i]));
        const char *suffix = n > 1 ? sizes_suffix(s, value_shape(s->model->arena, &operands[0]),
                                                  value_shape(s->model->arena, &operands[1]))
                                   : "";
        return method_fail(s, E_shape, at, problem, "`%s` cannot take %s%s", name,
                           buf_text(arena, &shapes), suffix);
    }
    for (uint32_t i = 0; i < n; i++) ids[i] = tensor_value(s, &operands[i], at);
    set_op_place(s, at);
    OpId id = op_emit(&e->build, kind, attr, n, ids, given);
    return tensor_of(e, e->graph->ops.at[id].out, at);
}

ExprValue emit_like(Scope *s, OpKind kind, Span at, ExprValue x, const ExprValue *like) {
    Elaboration *e = s->elaboration;
    const Type *given = op_info[kind].given ? &like->type : NULL;
    ValueId in = tensor_value(s, &x, at);
    set_op_place(s, at);
    ExprValue v = tensor_of(e, emit_value(&e->build, kind, NULL, 1, &in, given), at);
    memcpy(v.dims, like->dims, sizeof v.dims);
    return v;
}

/* Values with one entry per sample are noted after their op is made, and before another op reads
 * them. */
bool value_has_samples(Elaboration *e, ValueId value) {
    const Graph *g = e->graph;
    const Program *p = &g->programs.at[e->build.program];
    if (e->samples.program != e->build.program) e->samples.n_ops = 0;
    e->samples.program = e->build.program;
    while (e->samples.value.n < g->values.n) vec_push(g->arena, &e->samples.value, false);
    bool *has = e->samples.value.at;
    for (; e->samples.n_per_sample < e->per_sample.n; e->samples.n_per_sample++)
        has[e->per_sample.at[e->samples.n_per_sample]] = true;
    for (; e->samples.n_ops < p->ops.n; e->samples.n_ops++) {
        const Op *op = &g->ops.at[p->ops.at[e->samples.n_ops]];
        bool any = op->kind == OP_field;
        for (uint32_t k = 0; k < op->n_in; k++) any |= has[op->in[k]];
        for (uint32_t j = 0; j < op->n_out; j++) has[op->out + j] |= any;
    }
    return has[value];
}

/* The letter of the first axis of a tensor of that rank in the signature; -1: it belongs to a
 * sequence, or a rule decides. */
static int first_letter(const Slot *slot, int rank) {
    int letters = slot->n_axes - slot->n_sequences;
    if (slot->any_shape || (slot->n_sequences && rank > letters)) return -1;
    for (int k = 0; k < slot->n_axes; k++)
        if (slot->axis[k].kind == AXIS_SIZE) return slot->axis[k].which;
    return -1;
}

/* Does an op with that signature combine entries along the first axis of operand i? Not if the
 * result has that axis first too, nor if another operand indexes into it. Axes after a sequence
 * are summed over. */
static bool is_mixed(const Signature *sig, uint32_t n, const Type *in, uint32_t i, int rank) {
    const Slot *slot = signature_operand(sig, n, in, i);
    int letter = first_letter(slot, in[i].rank);
    if (letter < 0) return false;
    for (uint8_t k = 0; k < sig->n_in; k++)
        if (sig->in[k].below == letter) return false;
    return slot->axis[0].kind == AXIS_SEQUENCE ||
           first_letter(signature_result(sig, 0), rank) != letter;
}

/* True after an error: the op would mix samples of the batch. */
static bool refuse_mixed_samples(Scope *s, const char *name, Span at, const Op *op) {
    Elaboration *e = s->elaboration;
    Type few[FEW_TYPES];
    const Type *types = op_types(e->graph, op, few);
    int rank = e->graph->values.at[op->out].type.rank;
    for (uint32_t i = 0; i < op->n_in; i++) {
        if (!is_mixed(op_signature(op->kind), op->n_in, types, i, rank)) continue;
        if (!value_has_samples(e, op->in[i])) continue;
        method_report(
            s, E_arguments, at,
            arena_printf(s->model->arena, "the first axis of %s %s is the batch axis",
                         signature_operand(op_signature(op->kind), op->n_in, types, i)->name,
                         type_text(s->model->arena, &types[i])),
            "`%s` would mix samples, so its result would depend on the number of ranks", name);
        return true;
    }
    return false;
}

ExprValue call_failed(const BuiltinCall *c) { return value_error(c->at); }

ExprValue *call_operand(const BuiltinCall *c, const char *name) {
    return (ExprValue *)call_argument(&c->args, name);
}

ExprValue call_given(const BuiltinCall *c, OpKind kind, const Attrs *a, ExprValue *in, uint32_t n,
                     const Type *given) {
    ExprValue v = emit_op(c->s, kind, a, c->info->name, c->at, in, n, given);
    if (v.kind == VALUE_ERROR) return v;
    const Graph *g = c->s->elaboration->graph;
    Type few[FEW_TYPES];
    const Type *types = op_types(g, value_maker(g, v.tensor), few);
    for (int k = 0; k < v.type.rank; k++) {
        AxisOrigin from = op_axis_origin(kind, n, types, 0, v.type.rank, k);
        if (from.operand >= 0) v.dims[k] = in[from.operand].dims[from.axis];
    }
    return v;
}

ExprValue call_op(const BuiltinCall *c, OpKind kind, const Attrs *a, ExprValue *in, uint32_t n) {
    return call_given(c, kind, a, in, n, NULL);
}

ExprValue call_unmixed(const BuiltinCall *c, ExprValue v) {
    if (v.kind == VALUE_ERROR) return v;
    const Op *op = value_maker(c->s->elaboration->graph, v.tensor);
    return refuse_mixed_samples(c->s, c->info->name, c->at, op) ? call_failed(c) : v;
}

ExprValue call_result(const BuiltinCall *c, const ExprValue *first, uint32_t j) {
    return tensor_of(c->s->elaboration, first->tensor + j, c->at);
}
