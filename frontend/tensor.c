/* Tensors in methods: operators, `as`, and the errors about their shapes.
 *
 * Every tensor value carries, for each axis, how its size reads in the names of the model. Shapes
 * are checked as numbers; messages speak in names and then say what the names stand for.
 */
#include <ctype.h>
#include <string.h>

#include "elaborate.h"

ConstValue tensor_of(Elaboration *e, ValueId id, Span at) {
    return (ConstValue){
        .kind = VALUE_TENSOR, .span = at, .tensor = id, .type = e->graph->values.at[id].type};
}

/* ---- ops ---- */

void place_builder(Scope *s, Span at) {
    s->elaboration->build.path = s->path ? s->path : "";
    uint32_t frame;
    s->elaboration->build.span = user_place(s->elaboration, at, &frame);
}

ValueId tensor_value(Scope *s, ConstValue *v, Span at) {
    Elaboration *e = s->elaboration;
    if (v->kind == VALUE_TENSOR) return v->tensor;
    ParamSlot *p = param_owner(v->param);
    if (e->param_value[p->row] == NO_VALUE) {
        Attrs a = {.index = p->row};
        place_builder(s, at);
        e->param_value[p->row] = emit(&e->build, OP_param, &a, 0, NULL, NULL);
    }
    v->kind = VALUE_TENSOR;
    return v->tensor = e->param_value[p->row];
}

bool emit_op(Scope *s, OpKind kind, const Attrs *attr, const char *name, Span at,
             ConstValue *operands, uint32_t n, OpId *out) {
    Elaboration *e = s->elaboration;
    Type types[16] = {0}, results[64];
    ValueId ids[16];
    uint32_t n_out = ARRAY_LEN(results);
    CHECK(n <= ARRAY_LEN(types));
    for (uint32_t i = 0; i < n; i++) types[i] = operands[i].type;
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
        const char *suffix = n > 1 ? names_suffix(s, value_shape(s->model->arena, &operands[0]),
                                                  value_shape(s->model->arena, &operands[1]))
                                   : "";
        Diag d = method_error(s, E_shape, at, "`%s` cannot take %s%s", name, shapes.at, suffix);
        diag_help(&d, "%s", problem);
        buf_free(&shapes);
        method_emit(s, &d);
        return false;
    }
    for (uint32_t i = 0; i < n; i++) ids[i] = tensor_value(s, &operands[i], at);
    place_builder(s, at);
    *out = op_emit(&e->build, kind, attr, n, ids, NULL);
    return true;
}

static ConstValue result_like(Elaboration *e, OpId op, Span at, const ConstValue *like) {
    ConstValue v = tensor_of(e, e->graph->ops.at[op].out, at);
    memcpy(v.dims, like->dims, sizeof v.dims);
    return v;
}

static ConstValue scaled(Scope *s, const Node *e, ConstValue v, double factor) {
    Attrs a = {.alpha = factor};
    OpId op;
    if (!emit_op(s, OP_scale, &a, e->kind == NODE_NEGATE ? "-" : e->text, e->span, &v, 1, &op))
        return value_error(e->span);
    return result_like(s->elaboration, op, e->span, &v);
}

ConstValue tensor_negate(Scope *s, const Node *e, ConstValue v) {
    return s->elaboration ? scaled(s, e, v, -1) : value_error(e->span);
}

static ConstValue lacking(Scope *s, const Node *e, const char *what) {
    Diag d = model_lacks(s->model, e->span, "%s", what);
    method_emit(s, &d);
    return value_error(e->span);
}

static ConstValue with_number(Scope *s, const Node *e, ConstValue l, ConstValue r) {
    bool left_is_tensor = value_is_tensor(&l);
    ConstValue *tensor = left_is_tensor ? &l : &r, *number = left_is_tensor ? &r : &l;
    if (!value_is_number(number)) {
        const Node *other = e->kids[left_is_tensor ? 1 : 0];
        Diag d = method_error(s, E_not_a_number, other->span,
                              "`%s` takes two tensors or a tensor and a number; `%s` is %s",
                              e->text, node_text(s->model->arena, other), value_kind_name(number));
        method_emit(s, &d);
        return value_error(e->span);
    }
    if (refuse_rank_size(s, e->kids[left_is_tensor ? 1 : 0], number)) return value_error(e->span);
    double x = value_number(number);
    if (!strcmp(e->text, "*")) return scaled(s, e, *tensor, x);
    if (!strcmp(e->text, "/") && left_is_tensor) {
        if (x != 0) return scaled(s, e, *tensor, 1 / x);
        Diag d = method_error(s, E_division_by_zero, e->span, "division by zero");
        method_emit(s, &d);
        return value_error(e->span);
    }
    return lacking(s, e,
                   arena_printf(s->model->arena, "`%s` of %s and %s", e->text, value_kind_name(&l),
                                value_kind_name(&r)));
}

ConstValue tensor_binary(Scope *s, const Node *e, ConstValue l, ConstValue r) {
    OpKind kind = !strcmp(e->text, "+")   ? OP_add
                  : !strcmp(e->text, "-") ? OP_sub
                  : !strcmp(e->text, "*") ? OP_mul
                                          : OP_COUNT;
    OpId op;
    if (!s->elaboration) return lacking(s, e, "arithmetic on parameters outside methods");
    if (strchr("=!<>", e->text[0])) {
        Diag d = method_error(s, E_condition, e->span, "tensors cannot be compared");
        diag_help(&d, "conditions are decided when the model is compiled");
        method_emit(s, &d);
        return value_error(e->span);
    }
    if (!value_is_tensor(&l) || !value_is_tensor(&r)) return with_number(s, e, l, r);
    if (kind == OP_COUNT)
        return lacking(s, e, arena_printf(s->model->arena, "`%s` of two tensors", e->text));
    Attrs a = {0};
    ConstValue operands[2] = {l, r};
    if (r.type.rank > l.type.rank && kind != OP_sub) operands[0] = r, operands[1] = l;
    if (!emit_op(s, kind, &a, e->text, e->span, operands, 2, &op)) return value_error(e->span);
    return result_like(s->elaboration, op, e->span, &operands[0]);
}

/* ---- as ---- */

/* Names that stand for a whole axis on both sides must keep their order: [B, T] as [T, B] would
 * mix samples although the number of elements agrees. */
static bool keeps_order(const ConstValue *from, const ConstValue *to) {
    int last = -1;
    for (int i = 0; i < to->type.rank; i++) {
        const char *name = to->dims[i];
        if (!name || isdigit((unsigned char)*name)) continue;
        for (int k = 0; k < from->type.rank; k++) {
            if (!from->dims[k] || strcmp(from->dims[k], name)) continue;
            if (k < last) return false;
            last = k;
            break;
        }
    }
    return true;
}

ConstValue tensor_as(Scope *s, const Node *e, ConstValue v, const ConstValue *sizes) {
    const Node *shape = e->kids[1];
    ConstValue out = {.kind = VALUE_TENSOR, .span = e->span};
    int64_t dims[MAX_RANK], elements = 1;
    if (v.kind == VALUE_ERROR) return v;
    if (!value_is_tensor(&v) || !s->elaboration) {
        Diag d = method_error(s, E_shape, e->span, "`as` needs a tensor, this is %s",
                              value_kind_name(&v));
        method_emit(s, &d);
        return value_error(e->span);
    }
    for (uint32_t i = 0; i < shape->n && i < MAX_RANK; i++) {
        if (sizes[i].kind == VALUE_ERROR) return sizes[i];
        if (!value_integral(&sizes[i], &dims[i]) || dims[i] < 1 ||
            __builtin_mul_overflow(elements, dims[i], &elements)) {
            Diag d = method_error(s, E_shape, shape->kids[i]->span,
                                  "an axis has a positive size, this is %s",
                                  value_text(s->model->arena, &sizes[i]));
            method_emit(s, &d);
            return value_error(e->span);
        }
        out.dims[i] = sizes[i].symbol;
    }
    if (shape->n < 1 || shape->n > MAX_RANK) {
        Diag d = method_error(s, E_shape, shape->span, "a tensor has 1 to %d axes", MAX_RANK);
        method_emit(s, &d);
        return value_error(e->span);
    }
    out.type = type_of(v.type.dtype, (int)shape->n, dims);
    const char *wanted = node_text(s->model->arena, shape);
    const char *got = value_shape(s->model->arena, &v);
    bool fits = elements == type_elements(&v.type);
    if (!fits || !keeps_order(&v, &out)) {
        Diag d = method_error(s, E_shape, e->span, "`as` cannot make %s from %s%s", wanted, got,
                              fits ? "" : names_suffix(s, wanted, got));
        if (fits)
            diag_help(&d,
                      "`as` regroups axes and leaves every element where it is, so axes keep their "
                      "order; this version has no op that transposes");
        else
            diag_help(&d, "%s has %lld elements, %s has %lld", wanted, (long long)elements, got,
                      (long long)type_elements(&v.type));
        method_emit(s, &d);
        return value_error(e->span);
    }
    Attrs a = {0};
    ValueId in = tensor_value(s, &v, e->span);
    place_builder(s, e->span);
    out.tensor = emit(&s->elaboration->build, OP_reshape, &a, 1, &in, &out.type);
    return out;
}
