/* Parameters that several stages read.
 *
 * In: the train level, each op with its stage. Out: Param.stage, that of its readers; a parameter
 * that several stages read is the first one's, and each of the others has a copy: a parameter of
 * its own, Param.copy_of, which its readers read. Gradients are split in the same way: that of a
 * copy is what its stage contributes. All of them together are the gradient, so it is partial over
 * the stages; comm adds it up before the update, which is then the same everywhere.
 *
 * A sum of contributions is taken apart where it is one: `add`, the ops that add to an operand, and
 * what is done to a sum afterwards (casts, moves between ranks). What a contribution is for does
 * not matter: any split has the same sum.
 */
#include <string.h>

#include "passes.h"
#include "signature.h"

/* A view of a parameter, as the stage reads it. */
typedef struct OwnView {
    ValueId of, own;
    int32_t stage;
} OwnView;

typedef struct Ties {
    Graph *g;
    uint32_t stages, n; /* n: parameters before there are copies */
    /* by parameter and stage: who reads it in any program, in the one at hand; which parameter it
     * is there, and the value of the copy in the program at hand, or NO_VALUE */
    bool *reads, *reads_now;
    int32_t *row;
    ValueId *value;
    VEC(OwnView) views;
    uint32_t program; /* at hand */
    VEC(OpId) ops;    /* of it, anew */
} Ties;

static size_t at(const Ties *t, int64_t param, int32_t stage) {
    return (size_t)param * t->stages + (size_t)stage;
}

/* The row of the parameter that the value is, or is a view of; or NO_INDEX. */
static int64_t param_of(const Graph *g, ValueId v) {
    const Op *def = value_maker(g, v);
    while (op_info[def->kind].alias == ALIAS_VIEW) def = value_maker(g, def->in[0]);
    return def->kind == OP_param ? def->attr->index : NO_INDEX;
}

/* Is the op a view of a parameter? It is where its readers are. */
static bool is_param_view(const Graph *g, const Op *op) {
    return op_info[op->kind].alias == ALIAS_VIEW && param_of(g, op->in[0]) != NO_INDEX;
}

static void find_readers(const Ties *t, const Program *p, bool *reads) {
    const Graph *g = t->g;
    for (uint32_t i = 0; i < p->ops.n; i++) {
        const Op *op = &g->ops.at[p->ops.at[i]];
        for (uint32_t k = 0; k < op->n_in && !is_param_view(g, op); k++) {
            int64_t param = param_of(g, op->in[k]);
            if (param != NO_INDEX) reads[at(t, param, op->stage)] = true;
        }
    }
}

/* ---- copies ---- */

/* The number of the set of stages that read it: that of a parameter before it, or a new one. */
static int32_t number_of_readers(const Ties *t, uint32_t param, int32_t most) {
    for (uint32_t p = 0; p < param; p++)
        if (t->g->params.at[p].readers &&
            !memcmp(&t->reads[at(t, p, 0)], &t->reads[at(t, param, 0)], t->stages))
            return t->g->params.at[p].readers;
    return most + 1;
}

static void add_copies(Ties *t) {
    Graph *g = t->g;
    int32_t most = 0;
    for (uint32_t p = 0; p < t->n; p++) {
        int32_t first = NO_INDEX;
        for (int32_t s = 0; s < (int32_t)t->stages; s++) {
            if (!t->reads[at(t, p, s)]) continue;
            Param *param = &g->params.at[p];
            t->row[at(t, p, s)] = (int32_t)p;
            if (first == NO_INDEX) {
                first = param->stage = s;
                continue;
            }
            if (!param->readers) param->readers = number_of_readers(t, p, most);
            most = MAX(most, param->readers);
            if (!param->frozen) param->partial |= mesh_stage_axes(&g->policy.mesh);
            Param copy = *param;
            copy.stage = s;
            copy.copy_of = (int32_t)p + 1;
            t->row[at(t, p, s)] = (int32_t)g->params.n;
            vec_push(g->arena, &g->params, copy);
        }
    }
}

/* ---- ops anew ---- */

/* The op on other operands, at another stage. Returns its first result. */
static ValueId copy_op(Ties *t, Op op, const ValueId *in, int32_t stage) {
    op.stage = (int16_t)stage;
    OpId id = graph_copy_op(t->g, &op, in);
    vec_push(t->g->scratch, &t->ops, id);
    return t->g->ops.at[id].out;
}

static void read_copies(Ties *t, OpId id) {
    Graph *g = t->g;
    for (uint32_t s = 0; s < t->stages; s++) {
        Op op = g->ops.at[id];
        size_t place = at(t, op.attr->index, (int32_t)s);
        int32_t row = t->row[place];
        if (!t->reads_now[place]) continue;
        if (row == op.attr->index) {
            g->ops.at[id].stage = (int16_t)s;
            continue;
        }
        Attrs which = *op.attr;
        which.index = row;
        op.attr = graph_attrs(g, OP_param, &which);
        t->value[place] = copy_op(t, op, NULL, (int32_t)s);
    }
}

/* The parameter, or the view of one, as the reader's stage reads it. */
static ValueId own_value(Ties *t, ValueId v, const Op *reader) {
    Graph *g = t->g;
    int32_t stage = reader->stage;
    OpId id = g->values.at[v].def;
    if (g->ops.at[id].kind == OP_param) {
        ValueId own = t->value[at(t, g->ops.at[id].attr->index, stage)];
        return own == NO_VALUE ? v : own;
    }
    for (uint32_t k = 0; k < t->views.n; k++)
        if (t->views.at[k].of == v && t->views.at[k].stage == stage) return t->views.at[k].own;
    ValueId in = own_value(t, g->ops.at[id].in[0], reader);
    Op view_op = g->ops.at[id];
    if (reader->phase == PHASE_BACKWARD) view_op.phase = PHASE_BACKWARD;
    OwnView view = {v, copy_op(t, view_op, &in, stage), stage};
    vec_push(g->scratch, &t->views, view);
    return view.own;
}

/* Operands that are parameters, or views of them, become this stage's. */
static void read_own(Ties *t, const Op *op) {
    for (uint32_t k = 0; k < op->n_in; k++)
        if (param_of(t->g, op->in[k]) != NO_INDEX) op->in[k] = own_value(t, op->in[k], op);
}

/* ---- gradients ---- */

/* The reader that has a contribution which is made at the stage: itself, or the next one before,
 * where values of backward go. */
static int32_t reader_of(const Ties *t, int64_t param, int32_t stage) {
    while (stage >= 0 && !t->reads[at(t, param, stage)]) stage--;
    for (stage = MAX(stage, 0); !t->reads[at(t, param, stage)];) stage++;
    return stage;
}

static bool adds_to_operand(const Op *op) {
    return op_info[op->kind].alias == ALIAS_ACC && op->n_in == op_signature(op->kind)->in_max;
}

/* The contributions of a stage to a sum; NO_VALUE: it has none. */
static ValueId part_of(Ties *t, ValueId v, int64_t param, int32_t stage) {
    Graph *g = t->g;
    const Op op = *value_maker(g, v);
    ValueId in[8] = {0};
    bool sum = op.kind == OP_add &&
               type_equal(&g->values.at[op.in[0]].type, &g->values.at[v].type) &&
               type_equal(&g->values.at[op.in[1]].type, &g->values.at[v].type);
    bool moves = op.kind == OP_cast || op.kind == OP_scale || op_changes_placement(op.kind);
    bool own = reader_of(t, param, op.stage) == stage;
    if (op.phase != PHASE_BACKWARD) return own ? v : NO_VALUE;
    if (sum) {
        in[0] = part_of(t, op.in[0], param, stage);
        in[1] = part_of(t, op.in[1], param, stage);
        if (own && in[0] == op.in[0] && in[1] == op.in[1]) return v;
        if (in[0] == NO_VALUE || in[1] == NO_VALUE) return in[0] == NO_VALUE ? in[1] : in[0];
        return copy_op(t, op, in, stage);
    }
    if (moves && op.n_in == 1 && op.n_out == 1) {
        in[0] = part_of(t, op.in[0], param, stage);
        if (in[0] == NO_VALUE) return NO_VALUE;
        if (own && in[0] == op.in[0]) return v; /* else what it moves is of another stage */
        return copy_op(t, op, in, stage);
    }
    if (adds_to_operand(&op) && op.n_in <= ARRAY_LEN(in)) {
        Op alone = op;
        ValueId before = part_of(t, op.in[op.n_in - 1], param, stage);
        if (!own) return before;
        if (before == op.in[op.n_in - 1]) return v;
        memcpy(in, op.in, op.n_in * sizeof *in);
        in[op.n_in - 1] = before;
        alone.n_in -= before == NO_VALUE;
        return copy_op(t, alone, in, stage);
    }
    return own ? v : NO_VALUE;
}

/* A stage that reads the parameter and contributes nothing. */
static ValueId no_gradient(Ties *t, const Op *set, int32_t stage) {
    Graph *g = t->g;
    Builder b = {.g = g, .program = t->program};
    builder_like(&b, set);
    b.stage = (int16_t)stage;
    OpId id = op_emit_apart(&b, OP_fill, NULL, 0, NULL, &g->values.at[set->in[0]].type);
    vec_push(g->scratch, &t->ops, id);
    ValueId out = g->ops.at[id].out;
    g->values.at[out].placement = g->values.at[set->in[0]].placement;
    return out;
}

static void set_gradients(Ties *t, OpId id) {
    Graph *g = t->g;
    const Op set = g->ops.at[id];
    int64_t param = set.attr->index;
    for (int32_t s = 0; s < (int32_t)t->stages; s++) {
        if (!t->reads[at(t, param, s)]) continue;
        ValueId part = part_of(t, set.in[0], param, s);
        if (part == NO_VALUE) part = no_gradient(t, &set, s);
        Op own = set;
        Attrs which = *set.attr;
        which.index = t->row[at(t, param, s)];
        own.attr = graph_attrs(g, OP_set_grad, &which);
        copy_op(t, own, &part, s);
    }
}

/* ---- programs ---- */

/* Leaves out sums that nobody reads any more. */
static void drop_unread(Ties *t) {
    Graph *g = t->g;
    uint32_t *readers = arena_array(g->scratch, uint32_t, g->values.n), kept = t->ops.n;
    for (uint32_t i = 0; i < t->ops.n; i++) {
        const Op *op = &g->ops.at[t->ops.at[i]];
        for (uint32_t k = 0; k < op->n_in; k++) readers[op->in[k]]++;
    }
    for (uint32_t i = t->ops.n; i-- > 0;) {
        const Op *op = &g->ops.at[t->ops.at[i]];
        uint32_t n = 0;
        for (uint32_t j = 0; j < op->n_out; j++) n += readers[op->out + j];
        bool pure = op_info[op->kind].effect == EFFECT_PURE || op_changes_placement(op->kind);
        bool unread = !n && op->phase == PHASE_BACKWARD && pure;
        for (uint32_t k = 0; unread && k < op->n_in; k++) readers[op->in[k]]--;
        if (!unread) t->ops.at[--kept] = t->ops.at[i];
    }
    memmove(t->ops.at, t->ops.at + kept, (t->ops.n - kept) * sizeof *t->ops.at);
    t->ops.n -= kept;
}

static void tie_program(Ties *t, uint32_t program) {
    Graph *g = t->g;
    uint32_t n = g->programs.at[program].ops.n;
    const OpId *old = g->programs.at[program].ops.at;
    t->program = program;
    t->ops.n = t->views.n = 0;
    memset(t->reads_now, 0, (size_t)t->n * t->stages);
    find_readers(t, &g->programs.at[program], t->reads_now);
    for (size_t k = 0; k < (size_t)t->n * t->stages; k++) t->value[k] = NO_VALUE;
    for (uint32_t i = 0; i < n; i++) {
        const Op op = g->ops.at[old[i]];
        if (op.kind == OP_set_grad) {
            set_gradients(t, old[i]);
            continue;
        }
        if (is_param_view(g, &op)) continue;
        read_own(t, &op);
        vec_push(g->scratch, &t->ops, old[i]);
        if (op.kind == OP_param) read_copies(t, old[i]);
    }
    if (g->params.n > t->n) drop_unread(t);
    g->programs.at[program].ops.n = 0;
    for (uint32_t i = 0; i < t->ops.n; i++)
        vec_push(g->arena, &g->programs.at[program].ops, t->ops.at[i]);
}

void place_params(Graph *g) {
    Ties t = {.g = g, .stages = graph_stages(g), .n = g->params.n};
    size_t places = (size_t)t.n * t.stages + 1;
    t.reads = arena_array(g->scratch, bool, places);
    t.reads_now = arena_array(g->scratch, bool, places);
    t.row = arena_array(g->scratch, int32_t, places);
    t.value = arena_array(g->scratch, ValueId, places);
    for (uint32_t k = 0; k < g->programs.n; k++) find_readers(&t, &g->programs.at[k], t.reads);
    add_copies(&t);
    for (uint32_t k = 0; k < g->programs.n; k++) tie_program(&t, k);
}
