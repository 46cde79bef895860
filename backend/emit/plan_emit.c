/* The emitter: in comes a graph at level sched and its settings, out goes a plan as bytes.
 *
 * Tables are written in the graph's order; values, operands and edges are numbered in issue order,
 * program after program, so the bytes depend only on the graph. Each string is stored once, in
 * order of first use. Predictions (work, live bytes, traffic) are computed here from types.
 */
#include <string.h>

#include "emit.h"
#include "passes.h"
#include "pipeline.h"
#include "plan_work.h"
#include "residency.h"

enum {
#define SECTION(field, type, name) S_##field,
    PLAN_SECTIONS(SECTION)
#undef SECTION
        S_COUNT
};

typedef struct Emit {
    const Frontend *f;
    const Graph *g;
    const RunSettings *s;
    Buf section[S_COUNT]; /* in the order of PLAN_SECTIONS */
    uint32_t *slots;      /* hash table of string offsets, 0 = free */
    uint32_t n_slots, n_strings;
    const char *last_path; /* of the op before, and where it is */
    PlanString last;
    uint32_t *value_number, *instr_number; /* by ValueId, OpId */
    uint32_t n_values, n_instrs;
    uint16_t placed[256];       /* by hash: the row of placements + 1 that was looked for last */
    uint64_t *sent, *role_sent; /* by program; by role, in a step */
    Saves saves;
} Emit;

#define SECTION(field, type, name) typedef type Row_##field;
PLAN_SECTIONS(SECTION)
#undef SECTION

static void put_row(Emit *e, int section, const void *element, size_t size) {
    buf_write(&e->section[section], element, size);
}
#define PUT(e, field, ...)                                                                         \
    do {                                                                                           \
        Row_##field row_ = {__VA_ARGS__}; /* no struct of plan.h has hidden padding */             \
        put_row(e, S_##field, &row_, sizeof row_);                                                 \
    } while (0)

#define ROWS(e, field) ((uint32_t)((e)->section[S_##field].n / sizeof(Row_##field)))

static void strings_grow(Emit *e) {
    uint32_t n = e->n_slots ? e->n_slots * 2 : 1024;
    uint32_t *slots = arena_array(e->g->arena, uint32_t, n);
    for (uint32_t i = 0; i < e->n_slots; i++) {
        if (!e->slots[i]) continue;
        const char *text = e->section[S_strings].at + e->slots[i];
        uint32_t k = (uint32_t)hash_bytes(text, strlen(text), 0) & (n - 1);
        while (slots[k]) k = (k + 1) & (n - 1);
        slots[k] = e->slots[i];
    }
    e->slots = slots;
    e->n_slots = n;
}

static PlanString string(Emit *e, const char *text) {
    if (!text || !*text) return 0;
    if (e->n_strings * 2 >= e->n_slots) strings_grow(e);
    size_t length = strlen(text);
    uint32_t k = (uint32_t)hash_bytes(text, length, 0) & (e->n_slots - 1);
    for (; e->slots[k]; k = (k + 1) & (e->n_slots - 1))
        if (!strcmp(e->section[S_strings].at + e->slots[k], text)) return e->slots[k];
    CHECK(e->section[S_strings].n + length + 1 < UINT32_MAX);
    e->slots[k] = (uint32_t)e->section[S_strings].n;
    e->n_strings++;
    put_row(e, S_strings, text, length + 1);
    return e->slots[k];
}

/* Dimensions past the rank are zero, so that equal types are equal bytes. */
static Type clean_type(const Type *t) {
    Type clean = {.dtype = t->dtype, .rank = t->rank, .pitch = t->pitch};
    for (int i = 0; i < t->rank; i++) clean.dim[i] = t->dim[i];
    return clean;
}

/* Copies that stages have of a parameter are that parameter, in several groups. */
static uint32_t params_of_model(const Graph *g) {
    uint32_t n = 0;
    while (n < g->params.n && !g->params.at[n].copy_of) n++;
    return n;
}

/* Written here and in facts.c: proof 8 compares what the two say. */
static uint32_t param_flags(const Param *p) {
    return (p->checkpoint_transposed ? PARAM_TRANSPOSED : 0) |
           (p->checkpoint && !*p->checkpoint ? PARAM_IN_PARTS : 0) |
           (p->no_decay ? PARAM_NO_DECAY : 0) | (p->frozen ? PARAM_FROZEN : 0) |
           (p->grouped ? PARAM_GROUPED : 0) | (p->matrix ? PARAM_MATRIX : 0) |
           (p->keep_f32 ? PARAM_F32 : 0) | (p->replicate ? PARAM_WHOLE : 0);
}

static void emit_params(Emit *e) {
    for (uint32_t i = 0; i < params_of_model(e->g); i++) {
        const Param *p = &e->g->params.at[i];
        PUT(e, params, .name = string(e, p->name.path), .key = string(e, p->key),
            .checkpoint = string(e, p->checkpoint), .init = (uint32_t)p->init,
            .flags = param_flags(p), .first_alias = ROWS(e, aliases), .n_alias = p->aliases.n,
            .init_mean = p->init_mean,
            .gather_dtype = (uint32_t)dtype_if_gathered(&e->g->policy, p->gather),
            .init_std = p->init_std, .cut = p->cut, .lr_factor = p->lr_factor,
            .weight_decay = p->weight_decay, .type = clean_type(&p->type));
        for (uint32_t k = 0; k < p->aliases.n; k++) {
            bool transposed; /* the frontend requires the same as for the parameter */
            const char *path = p->aliases.at[k].path;
            PUT(e, aliases, .name = string(e, path),
                .checkpoint = string(e, frontend_checkpoint_name(e->f, 0, path, &transposed)));
        }
    }
}

static void emit_other_name(Emit *e, uint32_t table, const char *path) {
    bool transposed;
    const char *name = frontend_checkpoint_name(e->f, table, path, &transposed);
    uint32_t flags = transposed ? PARAM_TRANSPOSED : *name ? 0 : PARAM_IN_PARTS;
    PUT(e, other_names, .checkpoint = string(e, name), .flags = flags);
}

static void emit_stored(Emit *e, uint32_t table, const FileNames *names) {
    for (uint32_t i = 0; i < names->stored.n; i++) {
        const StoredTensor *t = &names->stored.at[i];
        PlanStored stored = {.name = string(e, t->name),
                             .table = table,
                             .first_part = ROWS(e, parts),
                             .n_part = t->n_part,
                             .rank = t->rank};
        memcpy(stored.dim, t->dim, sizeof stored.dim);
        put_row(e, S_stored, &stored, sizeof stored);
        const StoredPart *part = &names->parts.at[t->first_part];
        put_row(e, S_parts, part, t->n_part * sizeof *part);
    }
}

static void emit_names(Emit *e) {
    const FileNames *names;
    for (uint32_t t = 0; (names = frontend_names(e->f, t)); t++) {
        PUT(e, names, .label = string(e, names->label), .first_skip = ROWS(e, skips),
            .n_skip = names->skips.at.n);
        for (uint32_t i = 0; i < names->skips.at.n; i++) {
            PlanString pattern = string(e, names->skips.at.at[i]);
            put_row(e, S_skips, &pattern, sizeof pattern);
        }
        emit_stored(e, t, names);
        if (t == 0) continue; /* the parameters' own names */
        uint32_t n = params_of_model(e->g);
        for (uint32_t i = 0; i < n; i++) emit_other_name(e, t, e->g->params.at[i].key);
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t k = 0; k < e->g->params.at[i].aliases.n; k++)
                emit_other_name(e, t, e->g->params.at[i].aliases.at[k].path);
    }
}

static void emit_units(Emit *e) {
    uint32_t next = 0;
    for (uint32_t i = 0; i < e->g->units.n; i++) {
        const Unit *u = &e->g->units.at[i];
        for (uint32_t k = 0; k < u->groups.n; k++)
            if (u->groups.at[k] != (int32_t)(next + k))
                BUG("group %d of unit %s is not at its place", u->groups.at[k], u->name);
        PUT(e, units, .name = string(e, u->name), .class_name = string(e, u->class_name),
            .first_group = next, .n_group = u->groups.n, .below = u->below, .owned = u->owned);
        next += u->groups.n;
    }
    CHECK(next == e->g->groups.n);
    for (uint32_t i = 0; i < e->g->groups.n; i++) {
        const Group *g = &e->g->groups.at[i];
        PUT(e, groups, .unit = (uint32_t)g->unit,
            .flags = (g->trainable ? GROUP_TRAINABLE : 0) | (g->matrices ? GROUP_MATRICES : 0),
            .split = g->layout.split, .cut = g->cut, .partial = g->partial,
            .first_param = ROWS(e, group_params), .n_param = g->params.n,
            .master_dtype = (uint32_t)g->master_dtype, .compute_dtype = (uint32_t)g->compute_dtype,
            .reduce_dtype = (uint32_t)g->reduce_dtype, .wire_dtype = (uint32_t)g->wire_dtype,
            .unpadded = g->layout.unpadded, .padded = g->layout.padded, .shard = g->layout.shard);
        for (uint32_t k = 0; k < g->params.n; k++)
            PUT(e, group_params, .param = (uint32_t)param_of_model(e->g, g->params.at[k].param),
                .offset = g->params.at[k].offset, .chunk = g->params.at[k].chunk);
    }
}

static void emit_states(Emit *e) {
    for (uint32_t i = 0; i < e->g->states.n; i++) {
        const State *s = &e->g->states.at[i];
        PUT(e, states, .name = string(e, s->name), .role = (uint32_t)s->role, .group = s->group,
            .stage = (uint32_t)(s->stage + 1), .address = s->address, .type = clean_type(&s->type));
    }
    for (uint32_t i = 0; i < e->g->fields.n; i++) {
        const Field *f = &e->g->fields.at[i];
        PUT(e, fields, .name = string(e, f->name), .staging = f->staging,
            .of = (uint32_t)(f->of + 1), .type = clean_type(&f->type));
    }
}

static void emit_formulas(Emit *e) {
    for (uint32_t i = 0; i < e->g->formulas.n; i++) {
        const Formula *f = &e->g->formulas.at[i];
        PUT(e, formulas, .first_step = ROWS(e, steps), .n_step = f->n_step, .n_in = f->n_in,
            .n_out = f->n_out);
        put_row(e, S_steps, f->step, f->n_step * sizeof *f->step);
    }
}

static void emit_source(Emit *e, const char *name, const DataSource *s) {
    if (!s->present) return;
    bool text = s->kind == SOURCE_TEXT;
    PUT(e, sources, .name = string(e, name), .kind = (uint32_t)s->kind, .path = string(e, s->path),
        .first_field = ROWS(e, source_fields), .n_field = s->fields.n, .from = text ? s->from : 0,
        .to = text ? s->to : 0, .samples = s->samples, .vocab = s->vocab, .seed = s->seed,
        .corruption = (uint32_t)s->denoising, .raw = s->raw, .noise = s->noise, .spans = s->spans,
        .mask = s->mask, .end = s->end, .words = s->words, .draw = s->draw);
    for (uint32_t i = 0; i < s->fields.n; i++)
        PUT(e, source_fields, .name = string(e, s->fields.at[i].name),
            .path = string(e, s->fields.at[i].path), .classes = s->fields.at[i].classes);
}

/* PlanValue.placed: the row of an equal placement, or a new one. */
static uint16_t placement_row(Emit *e, const Placement *p) {
    if (!p) return 0;
    uint16_t *known = &e->placed[hash_bytes(p, sizeof *p, 0) % ARRAY_LEN(e->placed)];
    const Placement *rows = (const Placement *)(const void *)e->section[S_placements].at;
    uint32_t n = ROWS(e, placements), row = *known ? *known - 1u : 0;
    if (!*known || memcmp(&rows[row], p, sizeof *p))
        for (row = 0; row < n && memcmp(&rows[row], p, sizeof *p); row++) {
        }
    CHECK(row < UINT16_MAX);
    if (row == n) put_row(e, S_placements, p, sizeof *p);
    return *known = (uint16_t)(row + 1);
}

/* Operand and result types of an op, in scratch arrays of the caller. */
static void types_of(const Graph *g, const Op *op, Type *in, Type *out) {
    for (uint32_t k = 0; k < op->n_in; k++) in[k] = g->values.at[op->in[k]].type;
    for (uint32_t k = 0; k < op->n_out; k++) out[k] = g->values.at[op->out + k].type;
}

static void emit_links(Emit *e, const Op *op) {
    for (uint32_t k = 0; k < op->n_in; k++) {
        uint32_t number = e->value_number[op->in[k]];
        CHECK(number != UINT32_MAX);
        put_row(e, S_operands, &number, sizeof number);
    }
    for (uint32_t k = 0; k < op->n_edge; k++)
        put_row(e, S_edges, &e->instr_number[op->edge[k]], sizeof(uint32_t));
    for (uint32_t k = 0; k < op->n_out; k++) {
        const Value *v = &e->g->values.at[op->out + k];
        e->value_number[op->out + k] = e->n_values++;
        PUT(e, values, .def = e->n_instrs, .address = v->type.dtype == DT_TOKEN ? 0 : v->address,
            .slots = (uint16_t)v->slots, .placed = placement_row(e, v->placement),
            .type = clean_type(&v->type));
    }
}

/* The rules of ops.def do not see formulas: these are in a table of the graph. */
static double work_of(const Graph *g, const Op *op, const Type *in, const Type *out) {
    if (op->kind != OP_fused) {
        double flops = op_flops(op->kind, op->attr, (int)op->n_in, in, (int)op->n_out, out);
        const Placement *placed = op->n_out ? g->values.at[op->out].placement : NULL;
        if (op_info[op->kind].cost_class != CLASS_ATTENTION || !placed || !placed->cut[1])
            return flops;
        OpProducts p = op_products(op->kind, op->attr, (int)op->n_in, in, (int)op->n_out, out);
        flops /= MAX(p.pairs, 1); /* of the rank with the most pairs */
        op_take_part(&p, op->attr, placed->cut[1] & mesh_backward_axes(&g->policy.mesh));
        return flops * p.pairs;
    }
    const Formula *f = &g->formulas.at[op->attr->index];
    Type value[FORMULA_OPERANDS + FORMULA_STEPS];
    for (uint32_t i = 0; i < op->n_in; i++) value[i] = in[i];
    CHECK(!formula_types(f->n_in, f->n_step, f->step, value));
    return formula_flops(f->n_in, f->n_step, f->step, value);
}

static uint64_t flops_of(const Graph *g, const Op *op, const Type *in, const Type *out) {
    return (uint64_t)MIN(work_of(g, op, in, out), 0x1p62);
}

/* Most ops have the path of the one before. */
static PlanString path_of(Emit *e, const Op *op) {
    if (op->path != e->last_path) e->last = string(e, op->path);
    e->last_path = op->path;
    return e->last;
}

static void emit_op(Emit *e, uint32_t program, OpId id, uint64_t live) {
    const Graph *g = e->g;
    const Op *op = &g->ops.at[id];
    Type few[32], *in = few, *out = few + 16;
    if (op->n_in > 16 || op->n_out > 16) {
        in = arena_array(g->arena, Type, op->n_in + op->n_out);
        out = in + op->n_in;
    }
    types_of(g, op, in, out);
    int n_in = (int)op->n_in, n_out = (int)op->n_out;
    PUT(e, instrs, .op = (uint16_t)op->kind, .stream = op->stream, .phase = op->phase,
        .first_in = ROWS(e, operands), .n_in = op->n_in, .first_out = e->n_values,
        .n_out = op->n_out, .first_edge = ROWS(e, edges), .n_edge = op->n_edge, .unit = op->unit,
        .path = path_of(e, op), .file = op->span.file, .line = op->span.file ? op->span.line : 0,
        .col = op->span.file ? op->span.col : 0, .end_line = op->span.file ? op->span.end_line : 0,
        .end_col = op->span.file ? op->span.end_col : 0,
        .flags = op->recomputed ? INSTR_RECOMPUTED : 0, .saves = e->saves.hold[id],
        .flops = flops_of(g, op, in, out),
        .bytes = (uint64_t)op_bytes(op->kind, op->attr, n_in, in, n_out, out), .live_bytes = live,
        .attr = *op->attr);
    emit_links(e, op);
    e->sent[program] += traffic_sent(
        op->kind, mesh_extent(&g->policy.mesh, (AxisSet)op->attr->axes), n_in, in, n_out, out);
    e->instr_number[id] = e->n_instrs++;
}

static void emit_programs(Emit *e) {
    const Graph *g = e->g;
    e->value_number = arena_array(g->arena, uint32_t, g->values.n + 1);
    e->instr_number = arena_array(g->arena, uint32_t, g->ops.n + 1);
    memset(e->value_number, 0xff, sizeof(uint32_t) * (g->values.n + 1));
    e->sent = arena_array(g->arena, uint64_t, g->programs.n + 1);
    size_t n_ops = 0;
    for (uint32_t i = 0; i < g->programs.n; i++) n_ops += g->programs.at[i].ops.n;
    buf_reserve(&e->section[S_instrs], n_ops * sizeof(PlanInstr));
    buf_reserve(&e->section[S_values], g->values.n * sizeof(PlanValue));
    for (uint32_t i = 0; i < g->programs.n; i++) {
        const Program *p = &g->programs.at[i];
        PUT(e, programs, .kind = (uint32_t)p->kind, .first_instr = e->n_instrs, .n_instr = p->ops.n,
            .part = (uint16_t)p->part, .stage = (uint16_t)p->stage, .peak = p->peak);
        for (uint32_t k = 0; k < p->ops.n; k++) emit_op(e, i, p->ops.at[k], p->live[k]);
    }
}

static uint32_t state_row(const Graph *g, const char *name) {
    for (uint32_t i = 0; i < g->states.n; i++)
        if (!strcmp(g->states.at[i].name, name)) return i;
    BUG("state %s of the model is gone", name);
}

/* In the order of attrs.def, then the sizes of the first result. */
static void emit_words(Emit *e, const Op *op, const Type *type) {
    Attrs a = *op->attr;
    if (op_info[op->kind].rows == ROWS_STATES)
        a.index = state_row(e->g, e->f->statement->states.at[a.index].name);
    uint64_t word[ATTR_COUNT + MAX_RANK], n_word = 0;
    for (uint32_t bit = 0; bit < ATTR_COUNT; bit++)
        if (op_info[op->kind].attrs >> bit & 1)
            memcpy(&word[n_word++], (const char *)&a + bit * sizeof *word, sizeof *word);
    for (int i = 0; i < type->rank; i++) word[n_word++] = (uint64_t)type->dim[i];
    put_row(e, S_node_words, word, n_word * sizeof *word);
}

/* Values are numbered in the order of the nodes. */
static void emit_node(Emit *e, const Op *op, const uint32_t *number, uint32_t first_out) {
    const Graph *s = e->f->statement;
    const Type type = op->n_out ? s->values.at[op->out].type : (Type){0};
    uint32_t first = ROWS(e, node_words), first_in = ROWS(e, node_operands);
    emit_words(e, op, &type);
    for (uint32_t k = 0; k < op->n_in; k++)
        put_row(e, S_node_operands, &number[op->in[k]], sizeof *number);
    PUT(e, nodes, .op = (uint16_t)op->kind, .rank = type.rank, .first_in = first_in,
        .n_in = op->n_in, .first_out = first_out, .n_out = op->n_out, .first_word = first,
        .n_word = ROWS(e, node_words) - first, .path = string(e, op->path), .file = op->span.file,
        .line = op->span.file ? op->span.line : 0);
}

typedef struct PlanFacts {
    FactSink sink; /* first */
    Emit *e;
} PlanFacts;

static void put_fact(FactSink *sink, FactKind kind, uint64_t value, const char *text) {
    Emit *e = ((PlanFacts *)sink)->e;
    PUT(e, facts, .name = string(e, sink->name), .kind = kind,
        .value = kind == FACT_TEXT ? string(e, text) : value);
}

static void emit_statement(Emit *e) {
    const Graph *s = e->f->statement;
    PlanFacts facts = {{.put = put_fact}, e};
    GraphNumbers numbers = graph_numbers(s, e->g->arena);
    uint32_t values = 0;
    facts_of_model(e->f, &facts.sink);
    for (uint32_t i = 0; i < s->programs.n; i++) {
        const Program *p = &s->programs.at[i];
        PUT(e, model_programs, .kind = (uint32_t)p->kind, .first_node = ROWS(e, nodes),
            .n_node = p->ops.n);
        for (uint32_t k = 0; k < p->ops.n; k++) {
            const Op *op = &s->ops.at[p->ops.at[k]];
            emit_node(e, op, numbers.value, values);
            values += op->n_out;
        }
    }
}

/* Appends a call, if there is such a program; adds up what the role sends. */
static void emit_call(Emit *e, PlanCallKind call, int32_t program, int64_t times, int64_t micro,
                      const StageCall *of) {
    if (program == NO_INDEX || times < 1) return;
    uint32_t role = graph_role_of(e->g, e->g->programs.at[program].stage);
    PUT(e, calls, .role = role, .kind = (uint32_t)call, .program = (uint32_t)program,
        .slot = of ? of->slot : 0, .times = times, .micro = micro);
    if (call == PLAN_STEP) e->role_sent[role] += (uint64_t)times * e->sent[program];
}

static int32_t find_piece(const Graph *g, ProgramKind kind, StagePart part, int32_t stage) {
    for (uint32_t i = 0; i < g->programs.n; i++) {
        const Program *p = &g->programs.at[i];
        if (p->kind == kind && p->part == part && p->stage == stage) return (int32_t)i;
    }
    return NO_INDEX;
}

/* A stage's calls, then the update of the role, then its part of an evaluation. */
static void emit_stage_calls(Emit *e, uint32_t role) {
    const Graph *g = e->g;
    uint32_t stages = graph_stages(g);
    StageCalls calls = pipeline_calls(&g->policy, role, g->arena);
    int32_t *row = arena_array(g->arena, int32_t, 2 * STAGE_PARTS * stages);
    for (uint32_t k = 0; k < 2 * STAGE_PARTS * stages; k++)
        row[k] = find_piece(g, k % 2 ? PROGRAM_MICRO : PROGRAM_FIRST,
                            (StagePart)(k / 2 % STAGE_PARTS), (int32_t)(k / 2 / STAGE_PARTS));
    for (uint32_t k = 0; k < calls.n; k++) {
        const StageCall *c = &calls.at[k];
        uint32_t at = ((uint32_t)c->stage * STAGE_PARTS + c->part) * 2 + (c->micro > 0);
        emit_call(e, PLAN_STEP, row[at], 1, c->micro, c);
    }
    emit_call(e, PLAN_STEP, find_piece(g, PROGRAM_UPDATE, STAGE_WHOLE, (int32_t)role), 1, 0, NULL);
    for (uint32_t stage = role; stage < stages; stage += graph_roles(g))
        emit_call(e, PLAN_EVALUATION, find_piece(g, PROGRAM_EVAL, STAGE_WHOLE, (int32_t)stage), 1,
                  0, NULL);
}

/* A step is train, or first, micro (M - 2 times), last; that of a pipeline has its own order. */
static void emit_calls(Emit *e) {
    const Graph *g = e->g;
    int64_t m = g->policy.micro_batches;
    e->role_sent = arena_array(g->arena, uint64_t, graph_roles(g));
    for (uint32_t r = 0; r < graph_roles(g) && graph_has_stages(g); r++) emit_stage_calls(e, r);
    if (!graph_has_stages(g)) {
        emit_call(e, PLAN_STEP, graph_find_program(g, PROGRAM_TRAIN), 1, 0, NULL);
        emit_call(e, PLAN_STEP, graph_find_program(g, PROGRAM_FIRST), 1, 0, NULL);
        emit_call(e, PLAN_STEP, graph_find_program(g, PROGRAM_MICRO), m - 2, 1, NULL);
        emit_call(e, PLAN_STEP, graph_find_program(g, PROGRAM_LAST), 1, m - 1, NULL);
        emit_call(e, PLAN_EVALUATION, graph_find_program(g, PROGRAM_EVAL), 1, 0, NULL);
    }
}

static uint64_t scratch_end(const RoleMemory *m, int device) {
    return align_up(m->arena_bytes, PLAN_ALIGN) + m->workspace_bytes[device];
}

uint64_t plan_peak(const Graph *g, DeviceKind device) {
    uint64_t most = 0;
    for (uint32_t r = 0; r < g->roles.n; r++)
        most = MAX(most, scratch_end(&g->roles.at[r], device));
    return most;
}

uint64_t plan_host_peak(const Graph *g) {
    uint64_t most = 0;
    for (uint32_t r = 0; r < g->roles.n; r++) most = MAX(most, g->roles.at[r].host_bytes);
    return most;
}

/* The largest role's. */
static PlanRole emit_roles(Emit *e) {
    const Graph *g = e->g;
    uint32_t n = graph_roles(g), ranks = (uint32_t)mesh_ranks(&g->policy.mesh) / n;
    PlanRole most = {0};
    for (uint32_t r = 0; r < n; r++) {
        const RoleMemory *m = &g->roles.at[r];
        PlanRole role = {.first_rank = r * ranks,
                         .n_ranks = ranks,
                         .persistent_bytes = m->persistent_bytes,
                         .arena_bytes = m->arena_bytes,
                         .host_persistent = m->host_persistent,
                         .host_bytes = m->host_bytes,
                         .kept_at = m->kept_at,
                         .kept_bytes = m->kept_bytes,
                         .kept_slots = m->kept_slots,
                         .sent_bytes = e->role_sent[r]};
        for (int d = 0; d < DEVICE_KINDS; d++) role.workspace_bytes[d] = scratch_end(m, d);
        most.persistent_bytes = MAX(most.persistent_bytes, role.persistent_bytes);
        most.arena_bytes = MAX(most.arena_bytes, role.arena_bytes);
        most.host_persistent = MAX(most.host_persistent, role.host_persistent);
        most.host_bytes = MAX(most.host_bytes, role.host_bytes);
        most.sent_bytes = MAX(most.sent_bytes, role.sent_bytes);
        put_row(e, S_roles, &role, sizeof role);
    }
    return most;
}

static void emit_settings(Emit *e, const char *compiler, const char *command) {
    const RunSettings *s = e->s;
    const Policy *p = &e->g->policy;
    int64_t parameters = 0;
    PlanRole most = emit_roles(e);
    for (uint32_t i = 0; i < params_of_model(e->g); i++)
        parameters += tensor_whole_elements(&e->g->params.at[i].cut, &e->g->policy.mesh,
                                            type_elements(&e->g->params.at[i].type));
    PUT(e, settings, .model = string(e, s->model), .compiler = string(e, compiler),
        .command = string(e, command), .ranks = (uint32_t)mesh_ranks(&p->mesh), .batch = s->batch,
        .micro_batches = s->micro_batches, .local_batch = s->local_batch, .length = s->length,
        .steps = s->steps, .epochs = s->epochs, .eval_every = s->eval_every,
        .eval_steps = s->eval_steps, .seed = s->seed, .order = (uint32_t)s->order,
        .on_nan = (uint32_t)p->on_nan, .optimizer = (uint32_t)p->optimizer,
        .schedule = (uint32_t)s->schedule, .lr = s->lr, .beta1 = p->beta1, .beta2 = p->beta2,
        .beta3 = p->beta3, .warmup = s->warmup, .decay = s->decay, .final = s->final,
        .beta2_decay = s->beta2_decay, .loss_exponent = p->loss_exponent, .gain = p->gain,
        .loss_scale = p->loss_scale, .loss_growth = p->loss_growth, .loss_backoff = p->loss_backoff,
        .loss_interval = p->loss_interval, .persistent_bytes = most.persistent_bytes,
        .arena_bytes = most.arena_bytes, .workspace_offset = align_up(most.arena_bytes, PLAN_ALIGN),
        .workspace_bytes = {plan_peak(e->g, DEVICE_CPU), plan_peak(e->g, DEVICE_CUDA)},
        .sent_bytes = most.sent_bytes, .parameters = parameters,
        .hf_config = string(e, s->hf_config), .hf_facts = string(e, s->hf_facts),
        .checkpoint = string(e, s->checkpoint), .checkpoint_every = s->checkpoint_every,
        .keep = s->keep, .keep_every = s->keep_every, .keep_best = s->keep_best,
        .snapshot = s->snapshot, .form = s->form, .copy_bytes = e->saves.copy_bytes,
        .host_persistent = most.host_persistent, .host_bytes = most.host_bytes,
        .host_path = string(e, most.host_bytes ? s->offload_path : ""),
        .host_pageable = most.host_bytes && s->offload_pageable,
        .compute_dtype = (uint8_t)p->compute_dtype, .reduce_dtype = (uint8_t)p->reduce_dtype,
        .gather_dtype = (uint8_t)dtype_if_gathered(p, p->gather));
    for (int a = 0; a < p->mesh.n; a++)
        PUT(e, axes, .name = string(e, axis_name(p->mesh.axis[a].role)),
            .role = p->mesh.axis[a].role, .size = p->mesh.axis[a].size);
    for (uint32_t i = 0; i < e->g->diags->files.n; i++) {
        const SourceFile *f = &e->g->diags->files.at[i];
        PUT(e, files, .base = string(e, f->base), .hash = i ? f->hash : 0);
    }
}

static void write_file_bytes(Emit *e, Buf *out) {
    static const size_t element[S_COUNT] = {
#define SECTION(field, type, name) sizeof(type),
        PLAN_SECTIONS(SECTION)
#undef SECTION
    };
    static const char zeros[16];
    PlanHeader h = {.version = PLAN_VERSION,
                    .oldest_reader = PLAN_VERSION,
                    .n_sections = S_COUNT,
                    .rules = plan_rules()};
    PlanSection table[S_COUNT];
    memset(table, 0, sizeof table);
    memcpy(h.magic, PLAN_MAGIC, sizeof h.magic);
    uint64_t at = align_up(sizeof h + sizeof table, 16);
    for (uint32_t i = 0; i < S_COUNT; i++) {
        table[i] = (PlanSection){i, (uint32_t)element[i], at, e->section[i].n / element[i]};
        at = align_up(at + e->section[i].n, 16);
    }
    h.size = at;
    size_t start = out->n;
    buf_reserve(out, h.size);
    buf_write(out, &h, sizeof h);
    buf_write(out, table, sizeof table);
    for (int i = 0; i < S_COUNT; i++) {
        buf_write(out, zeros, start + table[i].offset - out->n);
        if (e->section[i].n) buf_write(out, e->section[i].at, e->section[i].n);
        buf_free(&e->section[i]);
    }
    buf_write(out, zeros, start + h.size - out->n);
    plan_seal(out->at + start, h.size);
}

void plan_emit(const Frontend *f, const char *compiler, const char *command, Buf *out) {
    const Graph *g = f->graph;
    const RunSettings *s = &f->settings;
    Emit *e = arena_new_of(g->arena, Emit);
    e->f = f;
    e->g = g;
    e->s = s;
    CHECK(g->level == LEVEL_SCHED);
    put_row(e, S_strings, "", 1);
    emit_params(e);
    emit_names(e);
    emit_units(e);
    emit_states(e);
    e->saves = saves_of(g, s->snapshot, s->most_copied);
    put_row(e, S_saves, e->saves.row, e->saves.n * sizeof *e->saves.row);
    emit_formulas(e);
    emit_source(e, "train", &s->train);
    emit_source(e, "val", &s->val);
    emit_statement(e);
    emit_programs(e);
    emit_calls(e);
    emit_settings(e, compiler, command);
    write_file_bytes(e, out);
}

void plan_take(Plan *p, Buf *bytes) {
    char message[ERROR_BYTES];
    if (plan_read(p, bytes->at, bytes->n, message, sizeof message))
        BUG("the emitted plan cannot be read: %s", message);
    p->owned = bytes->at;
}
