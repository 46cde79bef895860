/* train.cache: the program eval computes one position of each sample, and keeps keys and values.
 *
 * In: the program train. Out: the program eval, derived from it, up to the logits of the loss. It
 * reads inputs[:, 0], the tokens at a position, and inputs[0, 1], the position; state "predict"
 * gets the logits. No model is known here: a position of a value is what a rank has that shares out
 * positions with as many others as there are (cut.h), so an op can compute one position if it could
 * compute a part. Beyond that:
 *
 *   iota(T)                  the position
 *   rope                     with the position
 *   a parameter over T       the row of the position
 *   keys, values             of all positions: a state that the call adds its own to
 *   attention                causal and window become a mask of the keys that the position sees;
 *                            a mask or documents add to it, of a bias there is the position's row
 *   dispatch .. combine      the rows of the position: experts take what they get
 *   dropout                  what it drops nothing of
 *
 * What mixes positions in another way, such as a mean over them, is an error: such a model has to
 * compute its whole text for each token. The program's meaning is what the checker compares a plan
 * with; tests compare its logits with those of the whole program.
 */
#include <string.h>

#include "cut.h"
#include "elaborate.h"
#include "signature.h"

typedef struct Decode {
    Elaboration *e;
    int64_t length;
    bool *needed;    /* by value of program train: the logits are made of it */
    bool *of_tokens; /* .. it is made of the tokens */
    ValueId *became; /* the same in program eval */
    ValueId *whole;  /* .. of all positions, where it is not of tokens; NO_VALUE: not there yet */
    Place *place;    /* PLACE_CUT: of its positions there is one */
    ValueId inputs, position, number, numbers; /* numbers: of all positions */
    ValueId here;                              /* [T, 1, 1]: 1 at the position */
    ValueId seen;   /* [T]: whether the position sees that one, in this window; */
    ValueId mask;   /* the same, i32[B, T] */
    int64_t window; /* -1: none yet */
    uint32_t kept;
} Decode;

static const Type *type_now(const Decode *d, ValueId v) { return &d->e->graph->values.at[v].type; }

static ValueId emit(Decode *d, OpKind kind, Attrs a, uint32_t n, const ValueId *in,
                    const Type *given) {
    return emit_value(&d->e->build, kind, &a, n, in, given);
}

static ValueId emit_reshaped(Decode *d, ValueId v, int rank, const int64_t *dim) {
    Type t = type_of(type_now(d, v)->dtype, rank, dim);
    return emit(d, OP_reshape, (Attrs){0}, 1, &v, &t);
}

static ValueId emit_both(Decode *d, OpKind kind, ValueId a, ValueId b) {
    return emit(d, kind, (Attrs){0}, 2, (ValueId[]){a, b}, NULL);
}

static bool refuse(Decode *d, const Op *op, const char *why) {
    return diag_report(d->e->model->ds, E_cache, op->span,
                       "leave train.cache out: --generate then computes the whole text for each "
                       "token",
                       "train.cache: %s %s", op_info[op->kind].name, why);
}

static bool is_at(const Decode *d, ValueId v, int dim, int64_t outer) {
    const Place *p = &d->place[v];
    return p->kind == PLACE_CUT && p->dim == dim && p->outer == outer;
}

static void became_part(Decode *d, ValueId old, ValueId now, int dim) {
    d->became[old] = now;
    d->place[old] = (Place){.kind = PLACE_CUT, .dim = (uint8_t)dim, .outer = 1};
}

/* ---- what the program begins with */

static void begin_position(Decode *d) {
    Attrs first = {.axis = 0, .start = 0, .count = 1}, second = {.axis = 1, .start = 1, .count = 1};
    ValueId row = emit(d, OP_slice, first, 1, &d->inputs, NULL);
    row = emit(d, OP_slice, second, 1, &row, NULL);
    d->position = emit_reshaped(d, row, 1, (int64_t[]){1});
    d->number = emit(d, OP_to_float, (Attrs){0}, 1, &d->position, NULL);
    Type all = type_of(DT_I32, 1, &d->length);
    ValueId places = emit(d, OP_iota, (Attrs){0}, 0, NULL, &all);
    d->numbers = emit(d, OP_to_float, (Attrs){0}, 1, &places, NULL);
    ValueId here = emit_both(d, OP_equal, d->numbers, d->number);
    d->here = emit_reshaped(d, here, 3, (int64_t[]){d->length, 1, 1});
}

static ValueId as_numbers(Decode *d, ValueId v) {
    return type_is_float(type_now(d, v)) ? v : emit(d, OP_to_float, (Attrs){0}, 1, &v, NULL);
}

/* v as the whole program has it, of all positions; it is not of tokens. */
static ValueId whole_of(Decode *d, ValueId v) {
    if (d->place[v].kind != PLACE_CUT) return d->became[v];
    if (d->whole[v] != NO_VALUE) return d->whole[v];
    const Graph *g = d->e->graph;
    Op op = *value_maker(g, v);
    Arena *a = g->scratch;
    ValueId *in = arena_array(a, ValueId, op.n_in + 1);
    Type *given = arena_array(a, Type, op.n_out + 1);
    for (uint32_t i = 0; i < op.n_in; i++) in[i] = whole_of(d, op.in[i]);
    for (uint32_t j = 0; j < op.n_out; j++) given[j] = *type_now(d, op.out + j);
    OpId id =
        op_emit(&d->e->build, op.kind, op.attr, op.n_in, in, op_info[op.kind].given ? given : NULL);
    for (uint32_t j = 0; j < op.n_out; j++) d->whole[op.out + j] = d->e->graph->ops.at[id].out + j;
    return d->whole[v];
}

/* ---- attention */

/* What earlier calls kept, [B, T, H, h], with the entries of this position. */
static ValueId keep(Decode *d, ValueId old) {
    Graph *g = d->e->graph;
    const char *name = arena_printf(g->arena, "cache.%u", d->kept++);
    Type all_of = *type_now(d, old);
    ValueId own = as_numbers(d, d->became[old]);
    if (all_of.rank == 2) { /* a number for each key */
        int64_t dim[4] = {all_of.dim[0], d->length, 1, 1}, one[4] = {all_of.dim[0], 1, 1, 1};
        all_of = type_of(DT_F32, 4, dim);
        own = emit_reshaped(d, own, 4, one);
    }
    int32_t state = graph_add_state(g, STATE_CACHE, name, all_of, NO_INDEX);
    ValueId in[3] = {d->here, own, emit_state(&d->e->build, state)};
    ValueId all = emit(d, OP_where, (Attrs){0}, 3, in, NULL);
    emit_set_state(&d->e->build, state, all);
    return all;
}

static ValueId mask_of(Decode *d, ValueId seen, int64_t batch) {
    Type each = type_of(DT_F32, 2, (int64_t[]){batch, d->length});
    seen = emit(d, OP_expand, (Attrs){0}, 1, &seen, &each);
    return emit(d, OP_to_int, (Attrs){0}, 1, &seen, NULL);
}

/* Finds out which the position sees, by causal and window alone. */
static void find_seen(Decode *d, int64_t batch, int64_t window) {
    if (d->window == window) return;
    ValueId seen = emit_both(d, OP_less_equal, d->numbers, d->number);
    if (window) {
        ValueId most = emit(d, OP_constant, (Attrs){.alpha = (double)window}, 0, NULL, NULL);
        ValueId distance = emit_both(d, OP_sub, d->number, d->numbers);
        seen = emit_both(d, OP_mul, seen, emit_both(d, OP_less, distance, most));
    }
    d->window = window;
    d->seen = seen;
    d->mask = mask_of(d, seen, batch);
}

/* The position's entries of x, whose axis `axis` has one for each: [B, T, S] or [H, T, S]. */
static ValueId row_along(Decode *d, ValueId x, int axis) {
    Type t = *type_now(d, x);
    int64_t order = 0, dim[2] = {t.dim[axis], type_elements(&t) / t.dim[axis]};
    for (int k = -1; k < t.rank; k++)
        if (k != axis) order = 10 * order + (k < 0 ? axis : k) + 1;
    x = emit(d, OP_transpose, (Attrs){.order = order}, 1, &x, NULL);
    x = emit_reshaped(d, x, 2, dim);
    x = emit(d, OP_embedding, (Attrs){0}, 2, (ValueId[]){x, d->position}, NULL);
    t.dim[axis] = 1;
    return emit_reshaped(d, x, t.rank, t.dim);
}

/* The keys that a mask of the model lets the position see, or documents; [B, T]. */
static bool masked_keys(Decode *d, const Op *op, ValueId mask, ValueId *seen) {
    Type t = *type_now(d, mask);
    bool pairs = t.rank > 2, of_tokens = d->of_tokens[mask];
    int64_t keys[2] = {t.dim[0], d->length};
    if (of_tokens && (pairs || !is_at(d, mask, 1, 1)))
        return refuse(d, op, "has a mask of pairs that depends on the tokens");
    ValueId all = of_tokens ? keep(d, mask) : as_numbers(d, whole_of(d, mask));
    ValueId own = of_tokens ? as_numbers(d, d->became[mask]) : NO_VALUE;
    if (pairs) all = row_along(d, all, 1);
    all = emit_reshaped(d, all, 2, keys);
    if (op->attr->documents) {
        if (!of_tokens) own = row_along(d, all, 1);
        all = emit_both(d, OP_equal, all, own);
    } else {
        ValueId zero = emit(d, OP_constant, (Attrs){0}, 0, NULL, NULL);
        all = emit_both(d, OP_unequal, all, zero);
    }
    *seen = *seen == NO_VALUE ? all : emit_both(d, OP_mul, all, *seen);
    return true;
}

/* What attention takes besides q, k, v and a mask: sinks, or a bias of pairs. */
static bool extra_operand(Decode *d, const Op *op, ValueId *extra) {
    ValueId v = op->in[3];
    int rank = type_now(d, v)->rank;
    if (rank > 1 && d->of_tokens[v]) return refuse(d, op, "has a bias that depends on the tokens");
    *extra = rank > 1 ? row_along(d, whole_of(d, v), rank - 2) : d->became[v];
    return true;
}

static bool is_attention(OpKind k) {
    return k == OP_attention || k == OP_attention_biased || k == OP_attention_biased_each ||
           k == OP_attention_sunk;
}

static bool derive_attention(Decode *d, const Op *op) {
    ValueId in[5] = {d->became[op->in[0]]}, seen = NO_VALUE;
    uint32_t n = 3, plain = op->kind == OP_attention ? 3 : 4;
    Attrs a = *op->attr;
    if (!is_at(d, op->in[0], 1, 1)) return refuse(d, op, "has no query for each position");
    for (int i = 1; i < 3; i++) {
        bool here = is_at(d, op->in[i], 1, 1);
        if (here && !a.causal) return refuse(d, op, "sees later positions");
        if (!here && (d->place[op->in[i]].kind == PLACE_CUT || a.causal || a.window))
            return refuse(d, op, "has keys that are not those of the positions");
        in[i] = here ? keep(d, op->in[i]) : d->became[op->in[i]];
    }
    if (plain > 3 && !extra_operand(d, op, &in[n++])) return false;
    int64_t batch = type_now(d, in[0])->dim[0];
    if (a.causal) find_seen(d, batch, a.window);
    if (a.causal) seen = d->seen;
    if (op->n_in > plain && !masked_keys(d, op, op->in[plain], &seen)) return false;
    if (seen != NO_VALUE) in[n++] = seen == d->seen ? d->mask : mask_of(d, seen, batch);
    a.causal = a.documents = false;
    a.window = 0;
    OpId id = op_emit(&d->e->build, op->kind, &a, n, in, NULL);
    ValueId out = d->e->graph->ops.at[id].out;
    became_part(d, op->out, out, 1);
    became_part(d, op->out + 1, out + 1, 2);
    return true;
}

/* ---- other ops */

/* The position's row of a value that has one for each. */
static ValueId row_of(Decode *d, ValueId v) {
    return emit(d, OP_embedding, (Attrs){0}, 2, (ValueId[]){d->became[v], d->position}, NULL);
}

/* i32[B, 1] */
static ValueId positions(Decode *d, int64_t batch) {
    Type each = type_of(type_now(d, d->number)->dtype, 2, (int64_t[]){batch, 1});
    ValueId all = emit(d, OP_expand, (Attrs){0}, 1, &d->number, &each);
    return emit(d, OP_to_int, (Attrs){0}, 1, &all, NULL);
}

static bool has_rows(const Decode *d, ValueId v, const Place *p) {
    const Type *t = type_now(d, v);
    return t->rank == 2 && p->dim == 0 && p->outer == 1 && t->dim[0] == d->length &&
           type_is_float(t);
}

/* The input of which v repeats the entries along an axis; NO_VALUE: it does not. */
static ValueId repeated_along(const Decode *d, ValueId v, int dim) {
    const Graph *g = d->e->graph;
    const Op *op = value_maker(g, v);
    if (op->kind != OP_expand || d->place[v].kind == PLACE_CUT) return NO_VALUE;
    const Type *from = type_now(d, op->in[0]);
    int at = dim - (type_now(d, v)->rank - from->rank);
    return at < 0 || from->dim[at] == 1 ? op->in[0] : NO_VALUE;
}

/* The place's part of a value that is the same at all positions. */
static ValueId repeated_part(Decode *d, ValueId v, const Place *p) {
    Type part = place_part(type_now(d, v), p, d->length);
    return emit(d, OP_expand, (Attrs){0}, 1, &d->became[repeated_along(d, v, p->dim)], &part);
}

/* Do the operands lie as the cut says, and is each result a part, or the same at all positions? */
static bool fits(const Decode *d, const Op *op, const Cut *cut) {
    if (cut->merge || cut->counts || (cut->at && op->kind != OP_rope)) return false;
    for (uint32_t i = 0; i < op->n_in; i++) {
        const Place *want = &cut->value[i];
        bool here = d->place[op->in[i]].kind == PLACE_CUT;
        if (want->kind == PLACE_PARTIAL || (want->kind == PLACE_WHOLE && here)) return false;
        if (want->kind == PLACE_CUT && !is_at(d, op->in[i], want->dim, want->outer) &&
            (here || (!has_rows(d, op->in[i], want) &&
                      repeated_along(d, op->in[i], want->dim) == NO_VALUE)))
            return false;
    }
    for (uint32_t j = 0; j < op->n_out; j++)
        if (cut->value[op->n_in + j].kind == PLACE_PARTIAL) return false;
    return true;
}

/* The cut along which the op computes one position. */
static bool find_cut(const Decode *d, const Op *op, const Type *types, Cut *chosen) {
    Arena *a = d->e->graph->scratch;
    Cut *cuts = arena_array(a, Cut, MOST_CUTS);
    uint32_t n = op->n_in + op->n_out;
    CutOp asked = {op->kind, op->attr, op->n_in, op->n_out, types, types + op->n_in, 0, NULL};
    uint32_t n_cuts = op_cuts(&asked, cuts, a);
    for (uint32_t i = 0; i < op->n_in; i++)
        for (uint32_t k = 0; k < n_cuts && d->place[op->in[i]].kind == PLACE_CUT; k++) {
            *chosen = cuts[k];
            chosen->value = arena_array(a, Place, n);
            memcpy(chosen->value, cuts[k].value, n * sizeof *chosen->value);
            if (cut_match(chosen, n, i, &d->place[op->in[i]], d->length) && fits(d, op, chosen))
                return true;
        }
    return false;
}

static bool derive_op(Decode *d, const Op *op, bool any) {
    uint32_t n_in = op->n_in, n = n_in + op->n_out;
    Arena *a = d->e->graph->scratch;
    Type *types = arena_array(a, Type, n + 1);
    ValueId *in = arena_array(a, ValueId, n_in + 2);
    Cut cut = {.value = arena_array(a, Place, n + 1)};
    for (uint32_t v = 0; v < n; v++)
        types[v] = *type_now(d, v < n_in ? op->in[v] : op->out + (v - n_in));
    if (any && !find_cut(d, op, types, &cut))
        return refuse(d, op, "needs several positions at once");
    for (uint32_t i = 0; i < n_in; i++) {
        const Place *want = &cut.value[i];
        bool row = want->kind == PLACE_CUT && d->place[op->in[i]].kind == PLACE_WHOLE;
        bool same = row && repeated_along(d, op->in[i], want->dim) != NO_VALUE;
        in[i] = same  ? repeated_part(d, op->in[i], want)
                : row ? row_of(d, op->in[i])
                      : d->became[op->in[i]];
    }
    if (any && op->kind == OP_rope && n_in == 1) {
        if (op_signature(op->kind)->in_max < 2) return refuse(d, op, "cannot begin at a position");
        in[n_in++] = positions(d, types[0].dim[0]);
    }
    Type part =
        n > op->n_in ? place_part(&types[op->n_in], &cut.value[op->n_in], d->length) : (Type){0};
    OpId id =
        op_emit(&d->e->build, op->kind, op->attr, n_in, in, op_info[op->kind].given ? &part : NULL);
    ValueId out = d->e->graph->ops.at[id].out;
    for (uint32_t j = 0; j < op->n_out; j++) {
        const Place *at = &cut.value[op->n_in + j];
        part = place_part(&types[op->n_in + j], at, d->length);
        if (!type_equal(&part, type_now(d, out + j)))
            return refuse(d, op, "needs several positions at once");
        d->became[op->out + j] = out + j;
        d->place[op->out + j] = *at;
    }
    return true;
}

/* ---- experts: tokens are sorted by expert, and the rows of a position are those of a part */

static bool is_routed(OpKind k) {
    return k == OP_route || k == OP_dispatch || k == OP_experts_linear || k == OP_combine;
}

static bool derive_routed(Decode *d, const Op *op) {
    const Place rows = {.kind = PLACE_CUT, .dim = 0, .outer = 1};
    ValueId *in = arena_array(d->e->graph->scratch, ValueId, op->n_in);
    for (uint32_t i = 0; i < op->n_in; i++) in[i] = d->became[op->in[i]];
    if (op->kind == OP_experts_linear && d->place[op->in[0]].kind != PLACE_CUT) {
        if (repeated_along(d, op->in[0], 0) == NO_VALUE)
            return refuse(d, op, "takes rows that are not those of a position");
        in[0] = repeated_part(d, op->in[0], &rows);
    }
    OpId id = op_emit(&d->e->build, op->kind, op->attr, op->n_in, in, NULL);
    ValueId out = d->e->graph->ops.at[id].out;
    bool tokens = op->kind == OP_combine;
    became_part(d, op->out, out, tokens ? type_now(d, op->out)->rank - 2 : 0);
    if (op->kind != OP_route) return true;
    became_part(d, op->out + 1, out + 1, type_now(d, op->out + 1)->rank - 2);
    d->became[op->out + 2] = out + 2;
    return true;
}

static bool derive(Decode *d, const Op *op) {
    Elaboration *e = d->e;
    Graph *g = e->graph;
    bool any = false;
    builder_like(&e->build, op);
    for (uint32_t i = 0; i < op->n_in; i++) any |= d->place[op->in[i]].kind == PLACE_CUT;
    if (op->kind == OP_state) {
        d->became[op->out] =
            g->states.at[op->attr->index].role == STATE_STEP ? e->step : e->staging;
        return true;
    }
    if (op->kind == OP_field) {
        if (op->attr->index != 0)
            return refuse(d, op, "reads a field of the batch other than the tokens");
        Attrs first = {.axis = 1, .start = 0, .count = 1};
        became_part(d, op->out, emit(d, OP_slice, first, 1, &d->inputs, NULL), 1);
        return true;
    }
    if (op->kind == OP_iota && type_now(d, op->out)->dim[0] == d->length) {
        became_part(d, op->out, d->position, 0);
        return true;
    }
    if (op->kind == OP_dropout) {
        d->became[op->out] = d->became[op->in[0]];
        d->place[op->out] = d->place[op->in[0]];
        return true;
    }
    if (any && is_attention(op->kind)) return derive_attention(d, op);
    /* rows of ones give a bias to the rows of each expert */
    bool routed = op->kind == OP_experts_linear || (any && is_routed(op->kind));
    return routed ? derive_routed(d, op) : derive_op(d, op, any);
}

/* ---- the program */

/* The operand of the first cross entropy, as generation finds it. */
static ValueId find_logits(const Graph *g, const Program *p, const Op **loss) {
    for (uint32_t k = 0; k < p->ops.n; k++) {
        *loss = &g->ops.at[p->ops.at[k]];
        if ((*loss)->kind == OP_cross_entropy) return (*loss)->in[0];
    }
    return NO_VALUE;
}

static void find_needed(Decode *d, const Program *p, ValueId logits) {
    const Graph *g = d->e->graph;
    for (uint32_t k = 0; k < p->ops.n; k++) {
        const Op *op = &g->ops.at[p->ops.at[k]];
        bool any = op->kind == OP_field;
        for (uint32_t i = 0; i < op->n_in; i++) any |= d->of_tokens[op->in[i]];
        for (uint32_t j = 0; j < op->n_out; j++) d->of_tokens[op->out + j] = any;
    }
    d->needed[logits] = true;
    for (uint32_t k = p->ops.n; k-- > 0;) {
        const Op *op = &g->ops.at[p->ops.at[k]];
        bool any = false;
        for (uint32_t j = 0; j < op->n_out; j++) any |= d->needed[op->out + j];
        uint32_t n = op->kind == OP_dropout ? 1 : op->n_in;
        for (uint32_t i = 0; i < n && any; i++) d->needed[op->in[i]] = true;
    }
}

static bool derive_needed(Decode *d, const Program *p) {
    const Graph *g = d->e->graph;
    for (uint32_t k = 0; k < p->ops.n; k++) {
        Op op = g->ops.at[p->ops.at[k]]; /* tables move as they grow */
        bool any = false;
        for (uint32_t j = 0; j < op.n_out; j++) any |= d->needed[op.out + j];
        if (any && !derive(d, &op)) return false;
    }
    return true;
}

bool decode_program(Elaboration *e) {
    Graph *g = e->graph;
    Program train = g->programs.at[0];
    const Op *loss = NULL;
    ValueId logits = find_logits(g, &train, &loss);
    const Type *inputs = &g->fields.at[0].type;
    Span at = model_setting(e->model, "train", "cache")->value.span;
    const DataSource *data = &e->settings->train;
    if (logits == NO_VALUE || source_has_fields(data->kind) || data->denoising ||
        inputs->dim[1] < 2)
        return diag_report(
            e->model->ds, E_cache, at, "leave train.cache out",
            "train.cache needs what --generate needs: rows of at least two tokens, not "
            "of mlm or span_corruption, and a cross entropy");
    Decode d = {.e = e, .length = inputs->dim[1], .window = -1};
    d.needed = arena_array(g->scratch, bool, g->values.n);
    d.of_tokens = arena_array(g->scratch, bool, g->values.n);
    d.became = arena_array(g->scratch, ValueId, g->values.n);
    d.whole = arena_none(g->scratch, ValueId, g->values.n);
    d.place = arena_array(g->scratch, Place, g->values.n);
    find_needed(&d, &train, logits);
    d.inputs = e->field_value[0];
    begin_position(&d);
    if (!derive_needed(&d, &train)) return false;
    const Place *p = &d.place[logits];
    int rank = type_now(&d, logits)->rank;
    if (p->kind != PLACE_CUT || p->dim != rank - 2) {
        Op of = *value_maker(g, logits);
        return refuse(&d, &of, "does not make logits for each position");
    }
    e->build.span = at;
    e->build.path = "";
    Type t = *type_now(&d, d.became[logits]);
    emit_set_state(&e->build, graph_add_state(g, STATE_PREDICTION, "predict", t, NO_INDEX),
                   d.became[logits]);
    return true;
}
