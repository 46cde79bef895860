/* Functions on tensors that a method can call: each checks its arguments and makes one op. */
#include <math.h>
#include <string.h>

#include "elaborate.h"

enum { MAX_BUILTIN_ARGUMENTS = 8 };

/* An argument list sorted by the builtin's parameters. */
typedef struct Given {
    Scope *s;
    const Node *call;
    const char *name;
    ConstValue at[MAX_BUILTIN_ARGUMENTS];
    bool given[MAX_BUILTIN_ARGUMENTS];
} Given;

typedef struct Builtin {
    const char *name;
    const char *params; /* "x weight bias?": ? = may be left out */
    ConstValue (*run)(Given *g);
} Builtin;

static ConstValue fail(Given *g) { return value_error(g->call->span); }

static ConstValue complain(Given *g, Span at, const char *what, const ConstValue *v) {
    Diag d = method_error(g->s, E_arguments, at, "`%s` needs %s here, this is %s", g->name, what,
                          value_kind_name(v));
    method_emit(g->s, &d);
    return fail(g);
}

static bool tensor_at(Given *g, int i) {
    if (value_is_tensor(&g->at[i])) return true;
    complain(g, g->at[i].span, "a tensor", &g->at[i]);
    return false;
}

static bool has(const Given *g, int i) { return g->given[i] && g->at[i].kind != VALUE_NONE; }

static bool number_at(Given *g, int i, double standard, double *out) {
    *out = standard;
    if (!has(g, i)) return true;
    if (value_is_number(&g->at[i])) {
        *out = value_number(&g->at[i]);
        return true;
    }
    complain(g, g->at[i].span, "a number", &g->at[i]);
    return false;
}

/* What keeps a variance away from zero. */
static bool epsilon_at(Given *g, int i, double standard, double *out) {
    if (!number_at(g, i, standard, out)) return false;
    if (*out >= 0) return true;
    Diag d = method_error(g->s, E_arguments, g->at[i].span, "eps of `%s` is at least 0, this is %g",
                          g->name, *out);
    method_emit(g->s, &d);
    return false;
}

static bool truth_at(Given *g, int i, bool *out) {
    *out = false;
    if (!has(g, i)) return true;
    *out = g->at[i].boolean;
    if (g->at[i].kind == VALUE_BOOL) return true;
    complain(g, g->at[i].span, "true or false", &g->at[i]);
    return false;
}

static bool integer_at(Given *g, int i, int64_t standard, int64_t *out) {
    *out = standard;
    if (!has(g, i) || value_integral(&g->at[i], out)) return true;
    complain(g, g->at[i].span, "an integer", &g->at[i]);
    return false;
}

static ConstValue result(Given *g, OpId op, uint32_t j) {
    Elaboration *e = g->s->elaboration;
    return tensor_of(e, e->graph->ops.at[op].out + j, g->call->span);
}

static bool make(Given *g, OpKind kind, const Attrs *a, uint32_t n, OpId *op) {
    for (uint32_t i = 0; i < n; i++)
        if (!tensor_at(g, (int)i)) return false;
    return emit_op(g->s, kind, a, g->name, g->call->span, g->at, n, op);
}

/* Same shape as argument 0. */
static ConstValue unary(Given *g, OpKind kind, const Attrs *a, uint32_t n) {
    OpId op;
    if (!make(g, kind, a, n, &op)) return fail(g);
    ConstValue v = result(g, op, 0);
    memcpy(v.dims, g->at[0].dims, sizeof v.dims);
    return v;
}

static ConstValue run_linear(Given *g) {
    Attrs a = {0};
    OpId op;
    if (!make(g, OP_linear, &a, has(g, 2) ? 3 : 2, &op)) return fail(g);
    ConstValue v = result(g, op, 0);
    memcpy(v.dims, g->at[0].dims, sizeof v.dims);
    v.dims[v.type.rank - 1] = g->at[1].dims[0];
    return v;
}

static ConstValue run_gather(Given *g) {
    Attrs a = {0};
    OpId op;
    if (!make(g, OP_embedding, &a, 2, &op)) return fail(g);
    ConstValue v = result(g, op, 0);
    memcpy(v.dims, g->at[1].dims, sizeof v.dims);
    v.dims[v.type.rank - 1] = g->at[0].dims[1];
    const Graph *graph = g->s->elaboration->graph;
    const Op *ids = &graph->ops.at[graph->values.at[g->at[1].tensor].def];
    if (ids->kind == OP_iota && g->at[1].type.dim[0] > g->at[0].type.dim[0]) {
        const char *rows = g->at[0].dims[0] ? g->at[0].dims[0] : "";
        const char *positions = g->at[1].dims[0] ? g->at[1].dims[0] : "";
        Diag d = method_error(
            g->s, E_shape, g->call->span, "a table %s has no rows for all of iota %s%s",
            value_shape(g->s->model->arena, &g->at[0]), value_shape(g->s->model->arena, &g->at[1]),
            names_suffix(g->s, rows, positions));
        diag_help(&d, "%lld rows, positions 0 to %lld", (long long)g->at[0].type.dim[0],
                  (long long)g->at[1].type.dim[0] - 1);
        method_emit(g->s, &d);
        return fail(g);
    }
    return v;
}

static ConstValue run_layer_norm(Given *g) {
    Attrs a = {0};
    if (!epsilon_at(g, 3, 1e-5, &a.eps)) return fail(g);
    return unary(g, OP_layer_norm, &a, has(g, 2) ? 3 : 2);
}

static ConstValue run_rms_norm(Given *g) {
    Attrs a = {0};
    if (!epsilon_at(g, 2, 1e-6, &a.eps)) return fail(g);
    return unary(g, OP_rms_norm, &a, 2);
}

static ConstValue run_relu(Given *g) { return unary(g, OP_relu, &(Attrs){0}, 1); }
static ConstValue run_silu(Given *g) { return unary(g, OP_silu, &(Attrs){0}, 1); }

static ConstValue run_gelu(Given *g) {
    Attrs a = {.approx = GELU_ERF};
    if (has(g, 1)) {
        if (g->at[1].kind != VALUE_WORD ||
            (strcmp(g->at[1].text, "tanh") && strcmp(g->at[1].text, "erf")))
            return complain(g, g->at[1].span, "tanh or erf", &g->at[1]);
        a.approx = !strcmp(g->at[1].text, "tanh") ? GELU_TANH : GELU_ERF;
    }
    return unary(g, OP_gelu, &a, 1);
}

static ConstValue run_dropout(Given *g) {
    Attrs a = {0};
    Elaboration *e = g->s->elaboration;
    if (!tensor_at(g, 0) || !number_at(g, 1, 0, &a.p)) return fail(g);
    if (!(a.p >= 0 && a.p < 1)) {
        Diag d =
            method_error(g->s, E_dropout_probability, g->at[1].span,
                         "the probability of dropout is at least 0 and below 1, this is %g", a.p);
        method_emit(g->s, &d);
        return fail(g);
    }
    if (a.p == 0 || !e->training) return g->at[0];
    a.salt = e->next_salt++;
    g->at[1] = tensor_of(e, e->step, g->call->span);
    return unary(g, OP_dropout, &a, 2);
}

static ConstValue run_attention(Given *g) {
    Attrs a = {0};
    bool causal;
    for (int i = 0; i < 3; i++)
        if (!tensor_at(g, i)) return fail(g);
    for (int i = 5; i < 7; i++) {
        if (!has(g, i)) continue;
        Diag d = model_lacks(g->s->model, g->at[i].span, "attention with %s",
                             i == 5 ? "a mask" : "a bias");
        method_emit(g->s, &d);
        return fail(g);
    }
    int64_t head = g->at[0].type.rank ? g->at[0].type.dim[g->at[0].type.rank - 1] : 1;
    if (!truth_at(g, 3, &causal) || !number_at(g, 4, 1 / sqrt((double)head), &a.alpha))
        return fail(g);
    a.causal = causal;
    return unary(g, OP_attention, &a, 3);
}

static ConstValue run_iota(Given *g) {
    int64_t n = 0;
    Elaboration *e = g->s->elaboration;
    if (!integer_at(g, 0, 0, &n)) return fail(g);
    if (n < 1) {
        Diag d = method_error(g->s, E_arguments, g->at[0].span, "`iota` needs a positive length");
        method_emit(g->s, &d);
        return fail(g);
    }
    Type type = type_of(DT_I32, 1, &n);
    place_builder(g->s, g->call->span);
    ConstValue v =
        tensor_of(e, emit(&e->build, OP_iota, &(Attrs){0}, 0, NULL, &type), g->call->span);
    v.dims[0] = g->at[0].symbol;
    return v;
}

static ConstValue run_split(Given *g) {
    Attrs a = {0};
    OpId op;
    if (!tensor_at(g, 0) || !integer_at(g, 1, 0, &a.axis)) return fail(g);
    int rank = g->at[0].type.rank;
    if (a.axis < 0) a.axis += rank;
    if (a.axis < 0 || a.axis >= rank) {
        Diag d = method_error(g->s, E_arguments, g->at[1].span, "%s has axes 0 to %d",
                              value_shape(g->s->model->arena, &g->at[0]), rank - 1);
        method_emit(g->s, &d);
        return fail(g);
    }
    int64_t parts = g->at[0].type.dim[a.axis];
    if (parts > 64) {
        Diag d = method_error(g->s, E_arguments, g->call->span,
                              "`split` would make %lld tensors; at most 64", (long long)parts);
        method_emit(g->s, &d);
        return fail(g);
    }
    if (!make(g, OP_split, &a, 1, &op)) return fail(g);
    Arena *arena = g->s->model->arena;
    ConstValue list = {.kind = VALUE_LIST, .span = g->call->span, .tuple = true};
    list.items = arena_array(arena, ConstItem, parts);
    for (int64_t j = 0; j < parts; j++) {
        ConstValue *part = arena_new_of(arena, ConstValue);
        *part = result(g, op, (uint32_t)j);
        for (int i = 0, k = 0; i < rank; i++)
            if (i != a.axis) part->dims[k++] = g->at[0].dims[i];
        list.items[list.n_items++] = (ConstItem){NULL, part};
    }
    return list;
}

static ConstValue run_cross_entropy(Given *g) {
    Attrs a = {0};
    OpId op;
    if (!integer_at(g, 2, -100, &a.ignore) || !make(g, OP_cross_entropy, &a, 2, &op))
        return fail(g);
    return result(g, op, 0);
}

static ConstValue run_accuracy(Given *g) {
    Attrs a = {0};
    OpId op;
    if (!integer_at(g, 2, -100, &a.ignore) || !make(g, OP_accuracy, &a, 2, &op)) return fail(g);
    return result(g, op, 0);
}

static const Builtin builtins[] = {
    {"linear", "x weight bias?", run_linear},
    {"gather", "table ids", run_gather},
    {"layer_norm", "x weight bias? eps?", run_layer_norm},
    {"rms_norm", "x weight eps?", run_rms_norm},
    {"relu", "x", run_relu},
    {"silu", "x", run_silu},
    {"gelu", "x approx?", run_gelu},
    {"dropout", "x p", run_dropout},
    {"attention", "q k v causal? scale? mask? bias?", run_attention},
    {"iota", "n", run_iota},
    {"split", "x axis", run_split},
    {"cross_entropy", "logits targets ignore?", run_cross_entropy},
    {"accuracy", "logits targets ignore?", run_accuracy},
};

/* Part of the language, but not of this version. */
static const char *const lacking[] = {
    "rope", "relative_bias", "softmax",      "topk", "aux", "combine", "dispatch", "sum",
    "mean", "max",           "load_balance", "min",  "exp", "log",     "sqrt",     "abs"};

size_t builtin_names(const char **names, size_t max) {
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(builtins) && n < max; i++) names[n++] = builtins[i].name;
    for (size_t i = 0; i < ARRAY_LEN(lacking) && n < max; i++) names[n++] = lacking[i];
    return n;
}

/* Splits "x weight bias?" and says which word is which. */
static int parameter_list(Arena *a, const char *params, const char **names, bool *optional) {
    int n = 0;
    for (const char *at = params; *at; n++) {
        size_t length = strcspn(at, " ");
        optional[n] = at[length - 1] == '?';
        names[n] = arena_strndup(a, at, length - optional[n]);
        at += length;
        at += *at == ' ';
    }
    return n;
}

static bool sort_arguments(Given *g, const Builtin *b, const Arguments *args) {
    const char *names[MAX_BUILTIN_ARGUMENTS];
    bool optional[MAX_BUILTIN_ARGUMENTS], right = true;
    int n = parameter_list(g->s->model->arena, b->params, names, optional), position = 0;
    for (uint32_t i = 0; i < args->at.n; i++) {
        const Argument *a = &args->at.at[i];
        int k = a->name ? 0 : position++;
        while (a->name && k < n && strcmp(names[k], a->name)) k++;
        if (k < n && !g->given[k]) {
            g->given[k] = true;
            g->at[k] = a->value;
            continue;
        }
        Diag d =
            k < n ? method_error(g->s, E_arguments, a->node->span, "`%s` is given twice", names[k])
            : a->name ? method_error(g->s, E_arguments, a->node->span,
                                     "`%s` takes no argument `%s`", b->name, a->name)
                      : method_error(g->s, E_arguments, a->node->span,
                                     "`%s` takes %d arguments, this is one more", b->name, n);
        if (a->name) help_nearest(&d, a->name, names, (size_t)n);
        method_emit(g->s, &d);
        right = false;
    }
    for (int k = 0; k < n && right; k++) {
        if (g->given[k] || optional[k]) continue;
        Diag d =
            method_error(g->s, E_arguments, g->call->span, "`%s` needs `%s`", b->name, names[k]);
        method_emit(g->s, &d);
        right = false;
    }
    return right;
}

bool builtin_call(Scope *s, const char *name, const Node *call, const Arguments *args,
                  ConstValue *out) {
    for (size_t i = 0; i < ARRAY_LEN(builtins); i++) {
        if (strcmp(builtins[i].name, name)) continue;
        Given g = {.s = s, .call = call, .name = name};
        *out = sort_arguments(&g, &builtins[i], args) ? builtins[i].run(&g) : fail(&g);
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(lacking); i++) {
        if (strcmp(lacking[i], name)) continue;
        Diag d = model_lacks(s->model, call->span, "the function `%s`", name);
        method_emit(s, &d);
        *out = value_error(call->span);
        return true;
    }
    return false;
}
