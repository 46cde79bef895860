/* Result types of ops from the types of their operands, or what does not fit, in words for users.
 *
 * An op's signature (ops.def, signature.h) is bound to the operands and gives the results that
 * follow from it. Then comes the rule that its column RULE names, one of the functions shape_<rule>
 * below: it checks what a signature cannot say and writes the results that it left open.
 */
#include <string.h>

#include "formula.h"
#include "ir.h"
#include "signature.h"

typedef struct Infer {
    const Graph *g;
    OpKind kind;
    const Attrs *a;
    uint32_t n_in, n_out;
    const Type *in;
    Type *out;
    uint32_t capacity;
    Arena *arena;
} Infer;

/* A rule: NULL, or the message. */
typedef const char *Rule(Infer *s);

#define TRY(check)                                                                                 \
    do {                                                                                           \
        const char *problem_ = (check);                                                            \
        if (problem_) return problem_;                                                             \
    } while (0)

static const char *text_of(Infer *s, const Type *t) { return type_text(s->arena, t); }

/* Operand i has the shape of t; the dtype is float. */
static const char *want_floats(Infer *s, uint32_t i, const Type *t) {
    if (type_is_float(&s->in[i]) && type_same_dims(&s->in[i], t)) return NULL;
    return arena_printf(s->arena, "operand %u %s does not have the shape of %s", i,
                        text_of(s, &s->in[i]), text_of(s, t));
}

static Type vector(int dtype, int64_t n) { return type_of(dtype, 1, &n); }

/* Operand i is t, of a dtype that parameters are gathered in. */
static const char *want_sent(Infer *s, uint32_t i, const Type *t) {
    if (dtype_is_sent(s->in[i].dtype) && type_equal(&s->in[i], t)) return NULL;
    return arena_printf(s->arena, "operand %u is %s, not %s of floats", i, text_of(s, &s->in[i]),
                        text_of(s, t));
}

/* ---- tables ---- */

static const char *table_row(Infer *s, const char *table, int64_t row, uint32_t n) {
    if (row >= 0 && row < (int64_t)n) return NULL;
    return arena_printf(s->arena, "there is no row %lld in the table of %s, which has %u",
                        (long long)row, table, n);
}

static const char *shape_row(Infer *s) {
    return table_row(s, "parameters", s->a->index, s->g->params.n);
}

static const char *shape_param(Infer *s) {
    TRY(shape_row(s));
    const Param *p = &s->g->params.at[s->a->index];
    s->out[0] = p->type;
    if (s->kind == OP_param) s->out[0].dtype = (uint8_t)p->compute_dtype;
    return NULL;
}

static const char *shape_set_state(Infer *s) {
    return table_row(s, "states", s->a->index, s->g->states.n);
}

static const char *shape_state(Infer *s) {
    TRY(shape_set_state(s));
    s->out[0] = s->g->states.at[s->a->index].type;
    return NULL;
}

static const char *shape_field(Infer *s) {
    TRY(table_row(s, "fields", s->a->index, s->g->fields.n));
    const Field *f = &s->g->fields.at[s->a->index];
    int64_t slot = s->in[0].dim[1];
    if (f->staging > (uint64_t)slot || (uint64_t)type_bytes(&f->type) > (uint64_t)slot - f->staging)
        return arena_printf(s->arena, "field \"%s\" ends after a staging slot of %lld bytes",
                            f->name, (long long)slot);
    s->out[0] = f->type;
    return NULL;
}

/* ---- layout ---- */

static const char *shape_reshape(Infer *s) {
    const Type *x = &s->in[0], *y = &s->out[0];
    if (type_elements(x) != type_elements(y))
        return arena_printf(s->arena, "%s of %lld elements cannot be seen as %s", text_of(s, x),
                            (long long)type_elements(x), text_of(s, y));
    if (x->pitch != y->pitch || (x->pitch && last_dim(x) != last_dim(y)))
        return arena_printf(s->arena, "the rows of %s do not lie as those of %s", text_of(s, x),
                            text_of(s, y));
    return NULL;
}

static const char *shape_split(Infer *s) {
    const Type *x = &s->in[0];
    int64_t axis = s->a->axis;
    if (axis < 0 || axis >= x->rank)
        return arena_printf(s->arena, "%s has no axis %lld", text_of(s, x), (long long)axis);
    if (x->dim[axis] > s->capacity)
        return arena_printf(s->arena, "axis %lld of %s makes too many parts", (long long)axis,
                            text_of(s, x));
    Type part = *x;
    part.rank--;
    for (int i = (int)axis; i < x->rank; i++) part.dim[i] = i + 1 < x->rank ? x->dim[i + 1] : 0;
    s->n_out = (uint32_t)x->dim[axis];
    for (uint32_t j = 0; j < s->n_out; j++) s->out[j] = part;
    return NULL;
}

static const char *shape_stack(Infer *s) {
    Type t = s->in[0];
    int64_t axis = s->a->axis;
    for (uint32_t i = 1; i < s->n_in; i++)
        if (s->in[i].dtype != t.dtype && !(type_is_float(&s->in[i]) && type_is_float(&t)))
            return arena_printf(s->arena, "operand %u is %s, operand 0 is %s", i,
                                text_of(s, &s->in[i]), text_of(s, &t));
    if (axis < 0 || axis > t.rank || t.rank == MAX_RANK)
        return arena_printf(s->arena, "%s cannot get a new axis %lld", text_of(s, &t),
                            (long long)axis);
    for (int i = t.rank; i > axis; i--) t.dim[i] = t.dim[i - 1];
    t.dim[axis] = s->n_in;
    t.rank++;
    s->out[0] = t;
    return NULL;
}

static const char *shape_transpose(Infer *s) {
    const Type x = s->in[0];
    int axis[MAX_RANK];
    if (!axes_of_order(s->a->order, x.rank, axis))
        return arena_printf(s->arena, "order %lld is none of the axes of %s",
                            (long long)s->a->order, text_of(s, &x));
    Type y = x;
    y.pitch = 0;
    for (int i = 0; i < x.rank; i++)
        if (s->kind == OP_transpose)
            y.dim[i] = x.dim[axis[i]];
        else
            y.dim[axis[i]] = x.dim[i];
    s->out[0] = y;
    return NULL;
}

static const char *shape_slice(Infer *s) {
    Type t = s->in[0];
    int64_t axis = s->a->axis, start = s->a->start, count = s->a->count;
    if (axis < 0 || axis >= t.rank || count < 1 || start < 0 || start > t.dim[axis] - count)
        return arena_printf(s->arena, "axis %lld of %s has no %lld entries from %lld on",
                            (long long)axis, text_of(s, &t), (long long)count, (long long)start);
    t.dim[axis] = count;
    t.pitch = 0;
    s->out[0] = t;
    return NULL;
}

static const char *shape_slice_grad(Infer *s) {
    const Type *dy = &s->in[0], *dx = &s->out[0];
    int64_t axis = s->a->axis, start = s->a->start;
    bool fits = axis < dy->rank && dx->rank == dy->rank && dy->dim[axis] == s->a->count &&
                start <= dx->dim[axis] - dy->dim[axis] && type_is_float(dy) && type_is_float(dx);
    for (int i = 0; fits && i < dy->rank; i++) fits = i == axis || dx->dim[i] == dy->dim[i];
    if (fits) return NULL;
    return arena_printf(s->arena, "%s is no part of %s", text_of(s, dy), text_of(s, dx));
}

/* Would these be alike but for that axis, if axes of size 1 were repeated? */
static bool could_expand(const Type *a, const Type *b, int64_t axis) {
    bool could = a->rank == b->rank;
    for (int i = 0; could && i < a->rank; i++)
        could = i == axis || a->dim[i] == b->dim[i] || a->dim[i] == 1 || b->dim[i] == 1;
    return could;
}

static const char *shape_concat(Infer *s) {
    Type t = s->in[0];
    int64_t axis = s->a->axis;
    if (axis < 0 || axis >= t.rank)
        return arena_printf(s->arena, "%s has no axis %lld", text_of(s, &t), (long long)axis);
    t.dim[axis] = 0;
    for (uint32_t k = 0; k < s->n_in; k++) {
        const Type *x = &s->in[k];
        bool same =
            x->rank == t.rank && (x->dtype == t.dtype || (type_is_float(x) && type_is_float(&t)));
        for (int i = 0; same && i < t.rank; i++) same = i == axis || x->dim[i] == t.dim[i];
        if (!same)
            return arena_printf(s->arena, "%s and %s differ in more than axis %lld%s",
                                text_of(s, &s->in[0]), text_of(s, x), (long long)axis,
                                could_expand(&s->in[0], x, axis)
                                    ? "; expand(x, shape) repeats an axis of size 1"
                                    : "");
        t.dim[axis] += x->dim[axis];
    }
    t.pitch = 0;
    s->out[0] = t;
    return NULL;
}

static const char *shape_view(Infer *s) {
    const Type *x = &s->in[0], *y = &s->out[0];
    int64_t size = type_bytes(x), need = type_bytes(y), at = s->a->offset;
    if (at < 0 || at % dtype_bytes(x->dtype) || need > size || at > size - need)
        return arena_printf(s->arena, "%s at byte %lld is not inside of %s", text_of(s, y),
                            (long long)at, text_of(s, x));
    return NULL;
}

static const char *shape_copy_out(Infer *s) {
    TRY(table_row(s, "parameters", s->a->index, s->g->params.n));
    Type t = s->g->params.at[s->a->index].type;
    t.dtype = s->in[0].dtype;
    if (!type_equal(&t, &s->out[0]))
        return arena_printf(s->arena, "parameter %lld is %s, not %s", (long long)s->a->index,
                            text_of(s, &t), text_of(s, &s->out[0]));
    return NULL;
}

/* ---- elementwise ---- */

/* The result has the dtype of operand 0, if that is a float, until pass precision chooses. */
static const char *shape_broadcast(Infer *s) {
    Type y = s->in[0];
    for (uint32_t i = 1; i < s->n_in; i++)
        if (!type_broadcast(&y, &s->in[i]))
            return arena_printf(s->arena,
                                "%s and %s do not broadcast: axes agree from the last one back, or "
                                "one of them has one entry",
                                text_of(s, &s->in[0]), text_of(s, &s->in[i]));
    y.pitch = 0;
    s->out[0] = y;
    return NULL;
}

static const char *shape_fused(Infer *s) {
    TRY(table_row(s, "formulas", s->a->index, s->g->formulas.n));
    const Formula *f = &s->g->formulas.at[s->a->index];
    if (f->n_in != s->n_in)
        return arena_printf(s->arena, "formula %lld has %u operands, not %u",
                            (long long)s->a->index, f->n_in, s->n_in);
    Type value[FORMULA_OPERANDS + FORMULA_STEPS];
    if (!formula_moves(f->n_step, f->step)) TRY(shape_broadcast(s));
    for (uint32_t i = 0; i < f->n_in; i++) value[i] = s->in[i];
    const char *fault = formula_types(f->n_in, f->n_step, f->step, value);
    if (fault) return arena_printf(s->arena, "formula %lld: %s", (long long)s->a->index, fault);
    for (uint32_t k = 0; k < f->n_step; k++)
        if (f->step[k].result) s->out[f->step[k].result - 1] = value[f->n_in + k];
    s->n_out = f->n_out;
    return NULL;
}

static const char *check_spread(Infer *s, const Type *narrow, const Type *wide) {
    Type t = *wide;
    if (type_broadcast(&t, narrow) && type_same_dims(&t, wide)) return NULL;
    return arena_printf(s->arena, "%s does not broadcast to %s", text_of(s, narrow),
                        text_of(s, wide));
}
static const char *shape_sum(Infer *s) { return check_spread(s, &s->out[0], &s->in[0]); }
static const char *check_along(Infer *s, const Type *wide, const Type *narrow) {
    Along a;
    if (type_along(wide, narrow, &a)) return NULL;
    return arena_printf(s->arena, "%s is not %s with neighbouring axes of one entry",
                        text_of(s, narrow), text_of(s, wide));
}
static const char *shape_along(Infer *s) { return check_along(s, &s->in[0], &s->out[0]); }
static const char *shape_along_grad(Infer *s) { return check_along(s, &s->out[0], &s->in[0]); }
static const char *shape_extreme_grad(Infer *s) { return check_along(s, &s->in[1], &s->in[2]); }
static const char *shape_expand(Infer *s) { return check_spread(s, &s->in[0], &s->out[0]); }

/* ---- attention ---- */

static const char *shape_rope(Infer *s) {
    int64_t head = last_dim(&s->in[0]), dims = s->a->dims ? s->a->dims : head;
    if (!(s->a->base >= 1) || !(s->a->factor > 0))
        return "base must be at least 1 and factor above 0";
    if (s->a->original && !(s->a->low < s->a->high)) return "low must be less than high";
    if (dims > head)
        return arena_printf(s->arena, "a head has %lld elements, %lld cannot turn", (long long)head,
                            (long long)dims);
    if (dims % 2)
        return arena_printf(s->arena,
                            s->a->dims ? "elements turn in pairs, and dims = %lld is odd"
                                       : "elements turn in pairs, and a head has %lld of them",
                            (long long)dims);
    if (dims <= MOST_TURNED) return NULL;
    return arena_printf(s->arena, "at most %d elements of a head can turn, %lld are too many",
                        MOST_TURNED, (long long)dims);
}

/* Operands .. q, k, v ..: heads of q share the heads of k evenly. Or one, qkv. */
static const char *shape_attention(Infer *s) {
    int q = signature_find(op_signature(s->kind), "q");
    int64_t width = last_dim(&s->in[0]);
    if (width < 1 || width > MOST_HEAD)
        return arena_printf(s->arena, "a head of attention is 1 to %d wide, not %lld", MOST_HEAD,
                            (long long)width);
    if (q < 0) return NULL;
    int64_t heads = s->in[q].dim[2], shared = s->in[q + 1].dim[2];
    if (heads % shared == 0) return NULL;
    return arena_printf(s->arena, "%lld heads of q cannot share %lld heads of k evenly",
                        (long long)heads, (long long)shared);
}

/* ---- routing */

static const char *shape_topk(Infer *s) {
    Type t = s->in[0];
    if (t.rank < 1 || s->a->count < 1 || s->a->count > t.dim[t.rank - 1])
        return arena_printf(s->arena, "a row of %s has %lld numbers, not %lld to choose",
                            text_of(s, &t), (long long)last_dim(&t), (long long)s->a->count);
    t.dim[t.rank - 1] = s->a->count;
    t.pitch = 0;
    s->out[0] = s->out[1] = t;
    s->out[1].dtype = DT_I32;
    return NULL;
}

static const char *shape_route(Infer *s) {
    if (s->a->count < 1 || s->a->count > MOST_EXPERTS)
        return arena_printf(s->arena, "%lld experts; 1 to %d are possible", (long long)s->a->count,
                            MOST_EXPERTS);
    if (type_elements(&s->in[0]) > INT32_MAX)
        return arena_printf(s->arena, "%s holds too many choices", text_of(s, &s->in[0]));
    s->out[0] = vector(DT_I32, type_elements(&s->in[0]));
    s->out[2] = vector(DT_I32, s->a->count + 1);
    return NULL;
}

/* A row of the experts' data for each choice. */
static const char *shape_routed(Infer *s) {
    const Signature *signature = op_signature(s->kind);
    int order = signature_find(signature, "order"), y = signature_find(signature, "y");
    int place = signature_find(signature, "place"), p = signature_find(signature, "p");
    int dy = signature_find(signature, "dy"), choices = place >= 0 ? place : p;
    int rows = order >= 0 ? order : y >= 0 ? y : dy;
    if (s->in[rows].dim[0] == type_elements(&s->in[choices])) return NULL;
    return arena_printf(s->arena, "%s are not the rows of the choices %s", text_of(s, &s->in[rows]),
                        text_of(s, &s->in[choices]));
}

static const char *shape_experts(Infer *s) {
    int64_t experts = s->n_in - 2;
    if (s->in[1].dim[0] == experts + 1 && experts <= MOST_EXPERTS) return NULL;
    return arena_printf(s->arena, "%s does not hold the rows of %lld experts",
                        text_of(s, &s->in[1]), (long long)experts);
}

static const char *shape_experts_weights(Infer *s) {
    const Type *dy = &s->in[0], *x = &s->in[1], *starts = &s->in[2];
    if (starts->dim[0] < 2 || starts->dim[0] > MOST_EXPERTS + 1)
        return arena_printf(s->arena, "%s does not hold the rows of 1 to %d experts",
                            text_of(s, starts), MOST_EXPERTS);
    s->n_out = (uint32_t)(starts->dim[0] - 1);
    for (uint32_t j = 0; j < s->n_out; j++)
        s->out[j] = type_of(DT_F32, 2, (int64_t[]){dy->dim[1], x->dim[1]});
    return NULL;
}

static const char *shape_balance(Infer *s) {
    int64_t experts = last_dim(&s->in[0]), words = balance_words(experts);
    if (s->kind == OP_balance) {
        s->out[0] = vector(DT_I64, words);
        if (s->in[2].dtype == DT_I32 || type_is_float(&s->in[2])) return NULL;
        return arena_printf(s->arena, "targets must be i32 or a float, not %s",
                            text_of(s, &s->in[2]));
    }
    if (s->in[1].dim[0] == words) return NULL;
    return arena_printf(s->arena, "%s are not statistics of %s", text_of(s, &s->in[1]),
                        text_of(s, &s->in[0]));
}

static const char *shape_average(Infer *s) {
    const Type *stats = s->kind == OP_average_loss ? &s->in[1] : &s->in[0];
    if (s->kind == OP_average) {
        s->out[0] = vector(DT_I64, AVERAGE_WORDS);
        if (s->in[1].dtype == DT_I32 || type_is_float(&s->in[1])) return NULL;
        return arena_printf(s->arena, "targets must be i32 or a float, not %s",
                            text_of(s, &s->in[1]));
    }
    if (stats->dim[0] == AVERAGE_WORDS) return NULL;
    return arena_printf(s->arena, "%s are not statistics of a mean", text_of(s, stats));
}

/* A side has n buckets; the first half of them hold one distance each. */
static const char *check_buckets(Infer *s, const Type *w) {
    int64_t n = w->dim[0] / (s->a->bidirectional ? 2 : 1);
    if (n < 2 || w->dim[0] > MOST_BUCKETS || (s->a->bidirectional && w->dim[0] % 2))
        return arena_printf(s->arena, "w has %s number of rows from %d to %d, not %lld",
                            s->a->bidirectional ? "an even" : "a", s->a->bidirectional ? 4 : 2,
                            MOST_BUCKETS, (long long)w->dim[0]);
    if (s->a->max_distance > n / 2 && s->a->max_distance <= INT32_MAX) return NULL;
    return arena_printf(s->arena,
                        "max_distance must be more than %lld, half of the %lld rows for one side",
                        (long long)n / 2, (long long)n);
}

static const char *shape_relative_bias(Infer *s) { return check_buckets(s, &s->in[0]); }
static const char *shape_relative_bias_grad(Infer *s) { return check_buckets(s, &s->out[0]); }

/* ---- shards ---- */

/* Which group the operands belong to is known from pass shard on, and checked there. The last
 * result is there if attribute copy says in which dtype. */
static const char *shape_update(Infer *s) {
    if (s->a->copy == DT_NONE)
        s->n_out--;
    else
        s->out[s->n_out - 1].dtype = (uint8_t)s->a->copy;
    return NULL;
}

/* u has the shape of the parameter, or from pass shard on room for all matrices of the group. */
static const char *direction(Infer *s, Type *u) {
    if (s->a->group == NO_INDEX) {
        TRY(table_row(s, "parameters", s->a->index, s->g->params.n));
        *u = s->g->params.at[s->a->index].type;
        u->dtype = DT_F32;
    } else {
        TRY(table_row(s, "groups", s->a->group, s->g->groups.n));
        const Group *group = &s->g->groups.at[s->a->group];
        int64_t n = 0;
        for (uint32_t i = 0; i < group->params.n; i++)
            n += muon_room(&s->g->params.at[group->params.at[i].param].type);
        *u = type_of(DT_F32, 1, &n);
    }
    return NULL;
}

static const char *shape_muon_momentum(Infer *s) { return direction(s, &s->out[1]); }

static const char *shape_muon(Infer *s) {
    Type u;
    int64_t most = 0;
    TRY(direction(s, &u));
    if (!type_equal(&u, &s->in[1]))
        return arena_printf(s->arena, "u is %s, not %s", text_of(s, &s->in[1]), text_of(s, &u));
    uint32_t n = s->a->group == NO_INDEX ? 1 : s->g->groups.at[s->a->group].params.n;
    for (uint32_t i = 0; i < n; i++) {
        int64_t row =
            s->a->group == NO_INDEX ? s->a->index : s->g->groups.at[s->a->group].params.at[i].param;
        TRY(table_row(s, "parameters", row, s->g->params.n));
        const Type *t = &s->g->params.at[row].type;
        if (t->rank != 2) return arena_printf(s->arena, "%s is no matrix", text_of(s, t));
        most = MAX(most, muon_work(t));
    }
    s->out[1] = type_of(DT_I64, 1, &most);
    return NULL;
}

/* What each parameter that the op is about adds to the lengths of m, sums and rms. */
static const char *factor_lengths(Infer *s, int64_t *numbers, int64_t *words, int64_t *exact) {
    uint32_t n = 1;
    if (s->a->group != NO_INDEX) {
        TRY(table_row(s, "groups", s->a->group, s->g->groups.n));
        n = s->g->groups.at[s->a->group].params.n;
    }
    for (uint32_t i = 0; i < n; i++) {
        int64_t p =
            s->a->group == NO_INDEX ? s->a->index : s->g->groups.at[s->a->group].params.at[i].param;
        TRY(table_row(s, "parameters", p, s->g->params.n));
        *numbers += factor_numbers(&s->g->params.at[p].type);
        *words += factor_words(&s->g->params.at[p].type);
        *exact += EXACT_WORDS;
    }
    return NULL;
}

static const char *shape_factored(Infer *s) {
    int64_t length[3] = {0};
    static const char *const names[] = {"m", "sums", "rms"};
    const Signature *sig = op_signature(s->kind);
    TRY(factor_lengths(s, &length[0], &length[1], &length[2]));
    for (int k = 0; k < 3; k++) {
        int in = signature_find(sig, names[k]), out = signature_find_result(sig, names[k]);
        const Type *t = in >= 0 ? &s->in[in] : out >= 0 ? &s->out[out] : NULL;
        if (t && t->dim[0] != length[k])
            return arena_printf(s->arena, "%s has %lld numbers, not %s", names[k],
                                (long long)length[k], text_of(s, t));
    }
    return NULL;
}

static const char *shape_adafactor(Infer *s) { return shape_factored(s); }

static const char *shape_accumulate(Infer *s) {
    uint32_t n = s->n_in / 2;
    if (s->n_in % 2) return "it takes as many sums as terms";
    for (uint32_t i = 0; i < n; i++) {
        if (!type_same_dims(&s->in[i], &s->in[n + i]))
            return arena_printf(s->arena, "%s is added to %s", text_of(s, &s->in[n + i]),
                                text_of(s, &s->in[i]));
        s->out[i] = s->in[i];
    }
    s->n_out = n;
    return NULL;
}

static const char *shape_all_reduce(Infer *s) {
    for (uint32_t i = 0; i < s->n_in; i++) {
        bool whole = s->in[i].dtype == DT_I64 || s->in[i].dtype == DT_I32;
        if (!type_is_float(&s->in[i]) && !whole)
            return arena_printf(s->arena, "operand %u is %s, which has no sum over ranks", i,
                                text_of(s, &s->in[i]));
        s->out[i] = s->in[i];
    }
    s->n_out = s->n_in;
    return NULL;
}

static const char *shape_unshard(Infer *s) {
    TRY(table_row(s, "units", s->a->unit, s->g->units.n));
    const Unit *u = &s->g->units.at[s->a->unit];
    uint32_t shards = s->n_in;
    while (shards && s->in[shards - 1].dtype == DT_TOKEN) shards--;
    for (uint32_t i = 0; i < u->groups.n; i++)
        TRY(table_row(s, "groups", u->groups.at[i], s->g->groups.n));
    uint32_t split = unit_split_groups(s->g, (int32_t)s->a->unit);
    int64_t parts = mesh_extent(&s->g->policy.mesh, (AxisSet)s->a->axes);
    if (shards != (split ? split : u->groups.n))
        return arena_printf(s->arena, "unit \"%s\" has %u flat parameters, not %u", u->name,
                            split ? split : u->groups.n, shards);
    for (uint32_t i = 0; i < shards; i++) {
        const Group *group = &s->g->groups.at[u->groups.at[i]];
        Type part = vector(s->in[i].dtype, group->layout.padded / parts);
        TRY(want_sent(s, i, &part));
        s->out[i] = vector(s->in[i].dtype, group->layout.padded);
    }
    s->n_out = shards;
    return NULL;
}

/* Largest weights of a group: one for each block of its parameters. */
static const char *want_largest(Infer *s, const Type *t) {
    TRY(table_row(s, "groups", s->a->group, s->g->groups.n));
    Type want = vector(DT_I32, group_blocks(s->g, &s->g->groups.at[s->a->group]));
    if (type_equal(&want, t)) return NULL;
    return arena_printf(s->arena, "the largest weights of group %lld are %s, not %s",
                        (long long)s->a->group, text_of(s, &want), text_of(s, t));
}

static const char *want_shard(Infer *s, const Type *t, int dtype) {
    Type shard = vector(dtype, s->g->groups.at[s->a->group].layout.shard);
    if (type_equal(&shard, t)) return NULL;
    return arena_printf(s->arena, "a shard of group %lld is %s, not %s", (long long)s->a->group,
                        text_of(s, &shard), text_of(s, t));
}

static const char *shape_amax(Infer *s) {
    TRY(want_largest(s, &s->out[0]));
    return want_shard(s, &s->in[0], s->in[0].dtype);
}

static const char *shape_metric_add(Infer *s) {
    bool sums = type_is_norm(&s->in[0], 0), largest = type_is_norm(&s->in[0], NORM_INF);
    if ((sums || largest) && type_equal(&s->in[0], &s->in[1])) return NULL;
    return arena_printf(s->arena, "%s and %s are not two accumulators", text_of(s, &s->in[0]),
                        text_of(s, &s->in[1]));
}

static const char *shape_grad_norm(Infer *s) {
    s->out[0] = vector(norm_dtype(s->a->clip_norm), norm_length(s->a->clip_norm));
    return NULL;
}

static const char *shape_step_scale(Infer *s) {
    Type want = vector(norm_dtype(s->a->clip_norm), norm_length(s->a->clip_norm));
    if (type_is_norm(&s->in[1], s->a->clip_norm)) return NULL;
    return arena_printf(s->arena, "norm must be %s, not %s", text_of(s, &want),
                        text_of(s, &s->in[1]));
}

static const char *shape_quantize(Infer *s) {
    TRY(want_largest(s, &s->in[1]));
    TRY(want_shard(s, &s->in[0], s->in[0].dtype));
    int wire = s->g->groups.at[s->a->group].wire_dtype;
    if (!dtype_is_quantized(wire))
        return arena_printf(s->arena, "group %lld is gathered in %s", (long long)s->a->group,
                            dtype_name(wire));
    return want_shard(s, &s->out[0], wire);
}

/* The group that the parameter is in, or NULL. */
static const Group *group_of_param(const Graph *g, int64_t param) {
    for (uint32_t k = 0; k < g->groups.n; k++)
        for (uint32_t j = 0; j < g->groups.at[k].params.n; j++)
            if (g->groups.at[k].params.at[j].param == param) return &g->groups.at[k];
    return NULL;
}

static const char *shape_dequantize(Infer *s) {
    TRY(shape_row(s));
    const Group *group = group_of_param(s->g, s->a->index);
    if (!group || s->in[0].dim[0] != group->layout.padded || s->in[0].dtype != group->wire_dtype ||
        s->in[1].dim[0] != group_blocks(s->g, group))
        return arena_printf(s->arena, "%s and %s are not of the group of parameter %lld",
                            text_of(s, &s->in[0]), text_of(s, &s->in[1]), (long long)s->a->index);
    if (type_same_dims(&s->g->params.at[s->a->index].type, &s->out[0])) return NULL;
    return arena_printf(s->arena, "parameter %lld is %s, not %s", (long long)s->a->index,
                        text_of(s, &s->g->params.at[s->a->index].type), text_of(s, &s->out[0]));
}

static const char *shape_retain(Infer *s) {
    TRY(table_row(s, "groups", s->a->group, s->g->groups.n));
    const Group *group = &s->g->groups.at[s->a->group];
    Type flat = vector(s->in[0].dtype, group->layout.padded);
    TRY(want_sent(s, 0, &flat));
    s->out[0] = vector(s->in[0].dtype,
                       group->layout.padded / mesh_extent(&s->g->policy.mesh, (AxisSet)s->a->axes));
    s->n_out = 1;
    return NULL;
}

static const char *shape_reduce_scatter(Infer *s) {
    int64_t ranks = mesh_extent(&s->g->policy.mesh, (AxisSet)s->a->axes);
    for (uint32_t i = 0; i < s->n_in; i++) {
        if (s->in[i].rank != 1 || !type_is_float(&s->in[i]) || s->in[i].dim[0] % ranks)
            return arena_printf(s->arena, "operand %u is %s, which %lld ranks cannot share evenly",
                                i, text_of(s, &s->in[i]), (long long)ranks);
        s->out[i] = vector(s->in[i].dtype, s->in[i].dim[0] / ranks);
    }
    s->n_out = s->n_in;
    return NULL;
}

/* One gradient for each parameter of the group makes a flat one of so many elements. */
static const char *flat_gradient(Infer *s, const Group *group, int64_t elements) {
    if (s->n_in != group->params.n)
        return arena_printf(s->arena, "group %lld has %u parameters, not %u",
                            (long long)s->a->group, group->params.n, s->n_in);
    for (uint32_t i = 0; i < s->n_in; i++) {
        int32_t p = group->params.at[i].param;
        TRY(table_row(s, "parameters", p, s->g->params.n));
        TRY(want_floats(s, i, &s->g->params.at[p].type));
        if (s->in[i].dtype != s->out[0].dtype)
            return arena_printf(s->arena, "%s cannot come from %s", text_of(s, &s->out[0]),
                                text_of(s, &s->in[i]));
    }
    Type flat = vector(s->out[0].dtype, elements);
    if (type_equal(&flat, &s->out[0])) return NULL;
    return arena_printf(s->arena, "the flat gradient of group %lld is %s, not %s",
                        (long long)s->a->group, text_of(s, &flat), text_of(s, &s->out[0]));
}

/* The places inside the flat gradient come from the group; before that pass there is none. */
static const char *shape_pack(Infer *s) {
    TRY(table_row(s, "groups", s->a->group, s->g->groups.n));
    const Group *group = &s->g->groups.at[s->a->group];
    return flat_gradient(s, group, group->layout.padded);
}

static const char *shape_gradient(Infer *s) {
    TRY(table_row(s, "groups", s->a->group, s->g->groups.n));
    const Group *group = &s->g->groups.at[s->a->group];
    return flat_gradient(s, group, group->layout.shard);
}

/* ---- the column ---- */

static const struct {
    OpKind op;
    Rule *rule;
} rules[OP_COUNT] = {
#define OP(id, ...) [OP_##id] = {.op = OP_##id, __VA_ARGS__},
#define RULE(name) .rule = shape_##name
#include "ops.def"
};

uint32_t op_results_max(OpKind kind, const Attrs *a, uint32_t n_in, const Type *in) {
    enum { MOST_PARTS = 1 << 16 };
    uint32_t most = op_signature(kind)->out_max;
    if (most != MANY) return most;
    if (kind == OP_fused) return FORMULA_RESULTS;
    if (kind == OP_experts_linear_grad_weight)
        return n_in > 2 && in[2].rank == 1 && in[2].dim[0] <= MOST_EXPERTS + 1
                   ? (uint32_t)in[2].dim[0]
                   : 0;
    if (kind != OP_split) return n_in;
    bool exists = n_in && a->axis >= 0 && a->axis < in[0].rank;
    return exists && in[0].dim[a->axis] <= MOST_PARTS ? (uint32_t)in[0].dim[a->axis] : 0;
}

/* Sizes in memory bound all work but that of products. */
static const char *check_size(Infer *s) {
    for (uint32_t j = 0; j < s->n_out; j++) {
        const char *name = signature_result(op_signature(s->kind), j)->name;
        if (s->out[j].rank > MAX_RANK)
            return arena_printf(s->arena, "%s would have more than %d axes", name, MAX_RANK);
        if (!type_sound(&s->out[j]))
            return arena_printf(s->arena, "the result %s is too large", text_of(s, &s->out[j]));
    }
    int64_t flops = op_flops(s->kind, s->a, (int)s->n_in, s->in,
                             (int)MIN(s->n_out, (uint32_t)INT32_MAX), s->out);
    if (flops <= MOST_FLOPS) return NULL;
    return arena_printf(s->arena, "%s takes more than %.1e operations", text_of(s, &s->out[0]),
                        (double)MOST_FLOPS);
}

const char *op_infer(const Graph *g, OpKind kind, const Attrs *a, uint32_t n_in, const Type *in,
                     uint32_t *n_out, Type *out, Arena *arena) {
    const Signature *signature = op_signature(kind);
    bool given = op_info[kind].given;
    Infer s = {g, kind, a, n_in, 0, in, out, *n_out, arena};
    BoundSignature b;
    if (given && s.capacity && !type_sound(&out[0]))
        return arena_printf(arena, "the result type %s is impossible", type_text(arena, &out[0]));
    if (!signature_bind(&b, kind, n_in, in, given ? 1 : 0, out))
        return arena_strdup(arena, b.fault);
    CHECK(s.capacity >= op_results_max(kind, a, n_in, in));
    s.n_out = signature->out_max == MANY ? 0 : signature->n_out;
    for (uint32_t j = 0; j < s.n_out && !given; j++) {
        out[j] = signature_infer(&b, j);
        out[j].pitch = 0; /* pass pad states it */
    }
    if (rules[kind].rule) TRY(rules[kind].rule(&s));
    TRY(check_size(&s));
    *n_out = s.n_out;
    return NULL;
}

const char *op_check_types(const Graph *g, OpKind kind, const Attrs *a, uint32_t n_in,
                           const Type *in, uint32_t n_out, const Type *out, Arena *arena) {
    const Signature *signature = op_signature(kind);
    uint32_t n = op_results_max(kind, a, n_in, in);
    if (op_info[kind].given && n_out != n)
        return arena_printf(arena, "has %u result%s, not %u", n, n == 1 ? "" : "s", n_out);
    Type few[8], *wanted = n <= ARRAY_LEN(few) ? few : arena_array(arena, Type, n);
    if (op_info[kind].given) wanted[0] = out[0];
    TRY(op_infer(g, kind, a, n_in, in, &n, wanted, arena));
    if (n_out != n)
        return arena_printf(arena, "has %u result%s, not %u", n, n == 1 ? "" : "s", n_out);
    for (uint32_t j = 0; j < n; j++) {
        const Slot *slot = signature_result(signature, j);
        Type t = wanted[j];
        if (signature_dtype_is_free(signature, n_in, j) && type_is_float(&t) &&
            type_is_float(&out[j]))
            t.dtype = out[j].dtype;
        t.pitch = slot->pitched ? out[j].pitch : 0;
        if (!type_equal(&t, &out[j]))
            return arena_printf(arena, "result %s must be %s, not %s",
                                slot->many ? arena_printf(arena, "%u", j) : slot->name,
                                type_text(arena, &t), type_text(arena, &out[j]));
    }
    return NULL;
}

int op_alias_must(const Op *op, uint32_t j) {
    const OpInfo *o = &op_info[op->kind];
    uint32_t most = op_signature(op->kind)->in_max;
    switch ((OpAlias)o->alias) {
    case ALIAS_VIEW: return j == 0 ? 0 : -1;
    case ALIAS_MUST:
        return j < op->n_in && (j >= 32 ? o->alias_mask == EVERY_OPERAND : (o->alias_mask >> j & 1))
                   ? (int)j
                   : -1;
    case ALIAS_ACC: return j == 0 && op->n_in == most ? (int)most - 1 : -1;
    case ALIAS_NONE:
    case ALIAS_PACK:
    case ALIAS_MAY:
    case ALIAS_EACH: return -1;
    }
    return -1;
}
