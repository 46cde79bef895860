/* A graph as canonical text (levels.md): the same graph gives the same bytes.
 *
 * Ops and values are numbered in the order of the programs, source files in the order of their
 * table, only those that a span names. Everything that differs from graph to graph is printed; what
 * belongs to a later level is left out.
 */
#include <string.h>

#include "text.h"

typedef struct GraphPrinter {
    const Graph *g;
    Buf *out;
    Arena *arena;    /* for the three maps */
    uint32_t *value; /* number of each value, NO_VALUE when no program defines it */
    uint32_t *op;
    uint32_t *file; /* number of each source file, 0 when no span names it */
} GraphPrinter;

static void put_text(GraphPrinter *p, const char *text) { buf_write(p->out, text, strlen(text)); }

/* What is put has the text `lead` before it. */
static void put_words(GraphPrinter *p, const char *lead, const char *text) {
    put_text(p, lead);
    put_text(p, text);
}

static void put_uint(GraphPrinter *p, const char *lead, uint64_t x) {
    char digits[20];
    size_t at = sizeof digits;
    do digits[--at] = (char)('0' + x % 10);
    while (x /= 10);
    put_text(p, lead);
    buf_write(p->out, digits + at, sizeof digits - at);
}

static void put_int(GraphPrinter *p, const char *lead, int64_t x) {
    put_text(p, lead);
    put_uint(p, x < 0 ? "-" : "", x < 0 ? 0 - (uint64_t)x : (uint64_t)x);
}

static void put_real(GraphPrinter *p, const char *lead, double x) {
    char text[40];
    put_words(p, lead, double_text(x, text));
}

/* In quotes; control characters, quotes, backslashes and bytes of no UTF-8 as \xNN. */
static void put_string(GraphPrinter *p, const char *lead, const char *s) {
    put_words(p, lead, "\"");
    for (size_t n = strlen(s), length; n; s += length, n -= length) {
        uint32_t c = utf8_next(s, n, &length);
        bool bad = c == UTF8_BAD && length == 1;
        if (bad || c < 0x20 || c == 0x7f || c == '"' || c == '\\')
            buf_printf(p->out, "\\x%02x", (unsigned char)*s);
        else
            buf_write(p->out, s, length);
    }
    put_text(p, "\"");
}

/* A name: bare where it can be, `-` when empty. */
static void put_name(GraphPrinter *p, const char *lead, const char *s) {
    if (*s && !text_is_word(s))
        put_string(p, lead, s);
    else
        put_words(p, lead, *s ? s : "-");
}

static void put_type(GraphPrinter *p, const char *lead, const Type *t) {
    put_text(p, lead);
    type_print(t, p->out);
}

static void put_axes(GraphPrinter *p, const char *lead, AxisSet axes) {
    put_text(p, lead);
    text_axes_print(&p->g->policy.mesh, axes, p->out);
}

/* ` 1:30:3-30:9`, or nothing. */
static void put_span(GraphPrinter *p, Span at) {
    if (!at.file || at.file >= p->g->diags->files.n) return;
    put_uint(p, " ", p->file[at.file]);
    put_uint(p, ":", at.line);
    put_uint(p, ":", at.col);
    put_uint(p, "-", at.end_line);
    put_uint(p, ":", at.end_col);
}

static void put_labelled(GraphPrinter *p, const char *label, int64_t x) {
    put_words(p, " ", label);
    put_int(p, " ", x);
}

/* ---- numbering ---- */

static void note_span(GraphPrinter *p, Span at) {
    if (at.file && at.file < p->g->diags->files.n) p->file[at.file] = 1;
}

static void note_lists(GraphPrinter *p, const PathLists *lists) {
    for (uint32_t i = 0; i < lists->at.n; i++) note_span(p, lists->at.at[i].span);
}

static void number_files(GraphPrinter *p) {
    const Graph *g = p->g;
    p->file = arena_array(p->arena, uint32_t, g->diags->files.n);
    note_span(p, g->policy.unit_span);
    note_span(p, g->policy.recompute.span);
    note_lists(p, &g->policy.unit_by_hand);
    note_lists(p, &g->policy.stage_lists);
    for (uint32_t i = 0; i < g->policy.by_path.n; i++) note_span(p, g->policy.by_path.at[i].span);
    for (uint32_t i = 0; i < g->modules.n; i++) note_span(p, g->modules.at[i].span);
    for (uint32_t i = 0; i < g->params.n; i++) {
        const Param *param = &g->params.at[i];
        note_span(p, param->name.span);
        for (uint32_t k = 0; k < param->aliases.n; k++) note_span(p, param->aliases.at[k].span);
    }
    for (uint32_t i = 0; i < g->programs.n; i++)
        for (uint32_t k = 0; k < g->programs.at[i].ops.n; k++)
            note_span(p, g->ops.at[g->programs.at[i].ops.at[k]].span);
    uint32_t next = 1;
    for (uint32_t i = 1; i < g->diags->files.n; i++)
        if (p->file[i]) p->file[i] = next++;
}

static void number_ops(GraphPrinter *p) {
    const Graph *g = p->g;
    p->value = arena_array(p->arena, uint32_t, g->values.n);
    p->op = arena_array(p->arena, uint32_t, g->ops.n);
    if (g->values.n) memset(p->value, 0xff, g->values.n * sizeof *p->value);
    if (g->ops.n) memset(p->op, 0xff, g->ops.n * sizeof *p->op);
    uint32_t ops = 0, values = 0;
    for (uint32_t i = 0; i < g->programs.n; i++)
        for (uint32_t k = 0; k < g->programs.at[i].ops.n; k++) {
            OpId id = g->programs.at[i].ops.at[k];
            p->op[id] = ops++;
            for (uint32_t j = 0; j < g->ops.at[id].n_out; j++)
                p->value[g->ops.at[id].out + j] = values++;
        }
}

/* ---- header ---- */

static void print_files(GraphPrinter *p) {
    for (uint32_t i = 1; i < p->g->diags->files.n; i++) {
        if (!p->file[i]) continue;
        const SourceFile *f = &p->g->diags->files.at[i];
        buf_printf(p->out, "file %u ", p->file[i]);
        put_string(p, "", f->base);
        buf_printf(p->out, " %016llx\n", (unsigned long long)f->hash);
    }
}

static void print_strings(GraphPrinter *p, const StringList *list) {
    for (uint32_t i = 0; i < list->at.n; i++) {
        put_string(p, i ? ", " : "", list->at.at[i]);
    }
}

/* unit = root | class("A", "B") | size(1000, "Leaf", ..) | manual(["a", "b"], ["c"]), with its
 * place in the source. */
static void print_unit_policy(GraphPrinter *p) {
    const Policy *policy = &p->g->policy;
    put_words(p, ", unit = ", word_of(&words_UnitPolicy, policy->unit));
    if (policy->unit != UNIT_ROOT) put_text(p, "(");
    if (policy->unit == UNIT_CLASS) print_strings(p, &policy->unit_classes);
    if (policy->unit == UNIT_SIZE) {
        put_int(p, "", policy->unit_size);
        if (policy->unit_leaf.at.n) put_text(p, ", ");
        print_strings(p, &policy->unit_leaf);
    }
    for (uint32_t i = 0; policy->unit == UNIT_MANUAL && i < policy->unit_manual.n; i++) {
        put_text(p, i ? ", [" : "[");
        print_strings(p, &policy->unit_manual.at[i]);
        put_text(p, "]");
    }
    if (policy->unit != UNIT_ROOT) put_text(p, ")");
    put_span(p, policy->unit_span);
}

/* by_hand = lists(["a"] 1:2:3-2:5, ["b", "c"] ..); left out where there is none. */
static void print_lists(GraphPrinter *p, const char *name, const PathLists *lists) {
    for (uint32_t i = 0; i < lists->at.n; i++) {
        if (!i) buf_printf(p->out, ", %s = lists(", name);
        put_text(p, i ? ", [" : "[");
        print_strings(p, &lists->at.at[i].paths);
        put_text(p, "]");
        put_span(p, lists->at.at[i].span);
    }
    if (lists->at.n) put_text(p, ")");
}

/* recompute = class("A", "B") ops("gelu") keep("linear"), those that there are, with its place. */
static void print_recompute(GraphPrinter *p) {
    const RecomputePolicy *r = &p->g->policy.recompute;
    const StringList *const lists[] = {&r->classes, &r->ops, &r->keep};
    static const char *const words[] = {"class", "ops", "keep"};
    bool any = false;
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        if (!lists[i]->at.n) continue;
        put_words(p, any ? " " : ", recompute = ", words[i]);
        put_text(p, "(");
        print_strings(p, lists[i]);
        put_text(p, ")");
        any = true;
    }
    if (any) put_span(p, r->span);
}

/* by_path = list("h.*" recompute 1:2:3-2:5, ..) */
static void print_by_path(GraphPrinter *p) {
    const Policy *policy = &p->g->policy;
    for (uint32_t i = 0; i < policy->by_path.n; i++) {
        const PathPolicy *path = &policy->by_path.at[i];
        put_string(p, i ? ", " : ", by_path = list(", path->glob);
        buf_printf(p->out, " %s", word_of(&words_PathPolicyKind, path->kind));
        if (path->kind == PATH_RESHARD) {
            buf_printf(p->out, " %s", word_of(&words_UnitReshard, path->reshard));
            if (path->reshard == RESHARD_PART) buf_printf(p->out, " %lld", (long long)path->group);
        }
        put_span(p, path->span);
    }
    if (policy->by_path.n) put_text(p, ")");
}

static void print_policy(GraphPrinter *p) {
    const Policy *policy = &p->g->policy;
    put_text(p, "mesh");
    for (int a = 0; a < policy->mesh.n; a++) {
        put_words(p, a ? ", " : " ", axis_name(policy->mesh.axis[a].role));
        put_int(p, " = ", policy->mesh.axis[a].size);
    }
    put_text(p, "\n");
    for (uint32_t i = 0; i < n_policy_fields; i++) {
        bool first = i == 0 || i == n_shard_policies;
        if (first && i) put_text(p, "\n");
        if (text_field_shown(&policy_fields[i], policy)) {
            put_text(p, first ? "policy " : ", ");
            text_field_print(&policy_fields[i], policy, &policy->mesh, p->out);
        }
        if (i == 0) {
            print_unit_policy(p);
            print_lists(p, "by_hand", &policy->unit_by_hand);
        }
        if (i + 1 == n_shard_policies) {
            print_recompute(p);
            print_by_path(p);
            print_lists(p, "stage_lists", &policy->stage_lists);
        }
    }
    put_text(p, "\n");
}

/* ---- tables ---- */

static void print_modules(GraphPrinter *p) {
    for (uint32_t i = 0; i < p->g->modules.n; i++) {
        const Module *m = &p->g->modules.at[i];
        buf_printf(p->out, "module %u ", i);
        put_string(p, "", m->path);
        put_name(p, " ", m->class_name);
        if (m->parent != NO_INDEX) put_labelled(p, "parent", m->parent);
        put_span(p, m->span);
        put_text(p, "\n");
    }
}

static void print_param_name(GraphPrinter *p, const ParamName *name) {
    put_string(p, "", name->path);
    put_labelled(p, "module", name->module);
    put_span(p, name->span);
}

static void print_cut(GraphPrinter *p, const TensorCut *cut) {
    put_axes(p, " cut ", cut->axes);
    put_labelled(p, "dim", cut->dim);
    put_labelled(p, "outer", cut->outer);
    put_labelled(p, "size", cut->size);
}

static void print_axes(GraphPrinter *p, const char *word, AxisSet axes) {
    if (axes) put_axes(p, word, axes);
}

static void print_params(GraphPrinter *p) {
    for (uint32_t i = 0; i < p->g->params.n; i++) {
        const Param *q = &p->g->params.at[i];
        buf_printf(p->out, "param %u ", i);
        print_param_name(p, &q->name);
        put_type(p, " ", &q->type);
        put_words(p, " ", word_of(&words_InitKind, q->init));
        if (q->init == INIT_NORMAL) {
            put_text(p, "(");
            if (q->init_mean != 0) {
                put_real(p, "", q->init_mean);
                put_text(p, ", ");
            }
            put_real(p, "", q->init_std);
            put_text(p, ")");
        }
        for (uint32_t k = 0; k < q->aliases.n; k++) {
            put_text(p, " alias ");
            print_param_name(p, &q->aliases.at[k]);
        }
        put_string(p, " key ", q->key ? q->key : q->name.path);
        if (q->checkpoint) {
            put_string(p, " checkpoint ", q->checkpoint);
        }
        if (q->checkpoint_transposed) put_text(p, " transposed");
        /* A parameter without a dtype of its own yet has the master's. */
        put_words(p, " compute ", dtype_name(q->compute_dtype ? q->compute_dtype : q->type.dtype));
        put_words(p, " reduce ", dtype_name(q->reduce_dtype ? q->reduce_dtype : q->type.dtype));
#define FLAG(name) put_text(p, q->name ? " " #name : "");
        PARAM_FLAGS(FLAG)
        if (q->split_axis) put_labelled(p, "axis", q->split_axis);
        if (q->cut.axes) print_cut(p, &q->cut);
        print_axes(p, " partial ", q->partial);
        if (q->stage) put_labelled(p, "stage", q->stage);
        if (q->readers) buf_printf(p->out, " readers %d copy %d", q->readers, q->copy_of - 1);
        if (q->matrix) put_text(p, " matrix");
        if (q->gather) buf_printf(p->out, " gather %s", dtype_name(q->gather));
        if (q->grouped) {
            put_real(p, " lr ", q->lr_factor);
            put_real(p, " decay ", q->weight_decay);
        }
        put_text(p, "\n");
    }
}

static void put_address(GraphPrinter *p, uint64_t address) {
    if (address == NO_ADDRESS || p->g->level < LEVEL_SCHED) return;
    put_uint(p, address_is_host(address) ? " @host+" : " @", address_offset(address));
}

/* Where the state is, as far as it is not where its group's shards are. */
static void put_residence(GraphPrinter *p, const State *s) {
    if (s->group < 0 || s->group >= (int64_t)p->g->groups.n) return;
    if (s->split != p->g->groups.at[s->group].layout.split) {
        put_axes(p, " split ", s->split);
    }
    print_axes(p, " partial ", s->partial);
}

static void print_states(GraphPrinter *p) {
    for (uint32_t i = 0; i < p->g->states.n; i++) {
        const State *s = &p->g->states.at[i];
        buf_printf(p->out, "state %u %s ", i, state_role_name(s->role));
        put_string(p, "", s->name);
        put_type(p, " ", &s->type);
        if (s->group != NO_INDEX) put_labelled(p, "group", s->group);
        put_residence(p, s);
        if (s->stage != NO_INDEX) put_labelled(p, "stage", s->stage);
        put_address(p, s->address);
        put_text(p, "\n");
    }
    for (uint32_t i = 0; i < p->g->fields.n; i++) {
        const Field *f = &p->g->fields.at[i];
        buf_printf(p->out, "field %u ", i);
        put_string(p, "", f->name);
        put_type(p, " ", &f->type);
        put_uint(p, " staging ", f->staging);
        put_text(p, f->of == NO_INDEX ? "\n" : arena_printf(p->arena, " of %d\n", f->of));
    }
}

static void print_units(GraphPrinter *p) {
    for (uint32_t i = 0; i < p->g->units.n; i++) {
        const Unit *u = &p->g->units.at[i];
        buf_printf(p->out, "unit %u ", i);
        put_string(p, "", u->name);
        put_name(p, " ", u->class_name);
        put_text(p, " modules");
        for (uint32_t k = 0; k < u->modules.n; k++)
            buf_printf(p->out, "%s %d", k ? "," : "", u->modules.at[k]);
        put_text(p, " groups");
        for (uint32_t k = 0; k < u->groups.n; k++)
            buf_printf(p->out, "%s %d", k ? "," : "", u->groups.at[k]);
        put_labelled(p, "below", u->below);
        put_labelled(p, "owned", u->owned);
        if (u->reshard) buf_printf(p->out, " %s", word_of(&words_UnitReshard, u->reshard));
        if (u->stage) put_labelled(p, "stage", u->stage);
        put_text(p, u->is_root ? " root\n" : "\n");
    }
}

static void print_groups(GraphPrinter *p) {
    for (uint32_t i = 0; i < p->g->groups.n; i++) {
        const Group *q = &p->g->groups.at[i];
        buf_printf(p->out, "group %u unit %d %s master %s compute %s reduce %s", i, q->unit,
                   q->matrices    ? "matrices"
                   : q->trainable ? "trainable"
                                  : "frozen",
                   dtype_name(q->master_dtype), dtype_name(q->compute_dtype),
                   dtype_name(q->reduce_dtype));
        if (q->wire_dtype != q->compute_dtype)
            buf_printf(p->out, " wire %s", dtype_name(q->wire_dtype));
        put_text(p, " params");
        for (uint32_t k = 0; k < q->params.n; k++) {
            buf_printf(p->out, "%s %d@%lld", k ? "," : "", q->params.at[k].param,
                       (long long)q->params.at[k].offset);
            if (q->params.at[k].chunk)
                buf_printf(p->out, "/%lld", (long long)q->params.at[k].chunk);
        }
        put_labelled(p, "unpadded", q->layout.unpadded);
        put_labelled(p, "padded", q->layout.padded);
        put_labelled(p, "shard", q->layout.shard);
        print_axes(p, " split ", q->layout.split);
        print_axes(p, " cut ", q->cut);
        print_axes(p, " partial ", q->partial);
        put_text(p, "\n");
    }
}

static void print_formulas(GraphPrinter *p) {
    for (uint32_t i = 0; i < p->g->formulas.n; i++) {
        const Formula *f = &p->g->formulas.at[i];
        buf_printf(p->out, "formula %u operands %u: ", i, f->n_in);
        formula_print(f->n_in, f->n_step, f->step, p->out);
        put_text(p, "\n");
    }
}

/* ---- programs ---- */

/* The number of a value or op: ? if no program defines it. */
static void put_number(GraphPrinter *p, char mark, const uint32_t *numbers, uint32_t n,
                       uint32_t at) {
    buf_write(p->out, &mark, 1);
    if (at < n && numbers[at] != NO_VALUE)
        put_uint(p, "", numbers[at]);
    else
        put_text(p, "?");
}

static void put_value(GraphPrinter *p, const char *lead, ValueId v) {
    put_text(p, lead);
    put_number(p, '%', p->value, p->g->values.n, v);
}

static void put_op(GraphPrinter *p, const char *lead, OpId id) {
    put_text(p, lead);
    put_number(p, '#', p->op, p->g->ops.n, id);
}

static void put_axes_after(GraphPrinter *p, const char *mark, AxisSet set) {
    const Mesh *mesh = &p->g->policy.mesh;
    for (int a = 0; a < mesh->n; a++)
        if (set >> a & 1) buf_printf(p->out, "%s%s", mark, axis_name(mesh->axis[a].role));
}

/* f32[1, 512*tp, 3x384*tp] where ranks along tp share out the second dimension, and each of three
 * runs of the third one; f32[1, 768]+tp where they hold terms of a sum; f32[25129*tp of 50257]
 * where parts have more entries together than the whole dimension. */
static void put_placed_type(GraphPrinter *p, const Type *t, const Placement *placement) {
    if (!placement) {
        put_type(p, ": ", t);
        return;
    }
    put_words(p, ": ", dtype_name(t->dtype));
    for (int i = 0; i < t->rank; i++) {
        int64_t runs = MAX(1, placement->outer[i]);
        put_text(p, i ? ", " : "[");
        if (runs > 1) buf_printf(p->out, "%lldx", (long long)runs);
        put_int(p, "", t->dim[i] / runs);
        put_axes_after(p, "*", placement->cut[i]);
        int64_t room = t->dim[i] * mesh_extent(&p->g->policy.mesh, placement->cut[i]);
        if (placement->cut[i] && placement->size[i] < room)
            buf_printf(p->out, " of %lld", (long long)placement->size[i]);
    }
    if (t->pitch) buf_printf(p->out, ":%u", t->pitch);
    if (t->rank) put_text(p, "]");
    put_axes_after(p, "+", placement->partial);
}

static void print_results(GraphPrinter *p, const Op *op) {
    for (uint32_t j = 0; j < op->n_out; j++) {
        const Value *v = &p->g->values.at[op->out + j];
        put_value(p, j ? ", " : " ", op->out + j);
        put_placed_type(p, &v->type, v->placement);
        put_address(p, v->address);
        if (!v->slots || p->g->level < LEVEL_SCHED) continue;
        put_axes(p, " slot ", v->slots);
    }
    if (op->n_out) put_text(p, " =");
}

static void print_attrs(GraphPrinter *p, const Op *op) {
    uint64_t mask = op_info[op->kind].attrs;
    const char *between = " {";
    for (int i = 0; i < ATTR_COUNT; i++) {
        const TextField *f = &attr_fields[i];
        if (!(mask >> i & 1) || !text_field_shown(f, op->attr)) continue;
        put_text(p, between);
        text_field_print(f, op->attr, &p->g->policy.mesh, p->out);
        between = ", ";
    }
    if (*between == ',') put_text(p, "}");
}

static void print_op(GraphPrinter *p, OpId id) {
    const Op *op = &p->g->ops.at[id];
    put_op(p, "  ", id);
    if (op->stream != STREAM_COMPUTE) {
        put_words(p, " [", stream_name(op->stream));
        put_text(p, "]");
    }
    for (uint32_t i = 0; i < op->n_edge; i++) {
        put_op(p, i ? ", " : " wait(", op->edge[i]);
    }
    if (op->n_edge) put_text(p, ")");
    print_results(p, op);
    put_words(p, " ", op_info[op->kind].name);
    for (uint32_t i = 0; i < op->n_in; i++) {
        put_value(p, i ? ", " : "(", op->in[i]);
    }
    if (op->n_in) put_text(p, ")");
    print_attrs(p, op);
    put_words(p, " !", phase_name(op->phase));
    if (op->recomputed) put_text(p, " recomputed");
    if (op->unit != NO_INDEX) put_labelled(p, "unit", op->unit);
    if (op->stage) put_labelled(p, "stage", op->stage);
    if (*op->path)
        put_string(p, " ", op->path);
    else
        put_text(p, " -");
    put_span(p, op->span);
    put_text(p, "\n");
}

static void print_program(GraphPrinter *p, const Program *program) {
    put_words(p, "program ", program_name(program->kind));
    if (program->part) buf_printf(p->out, " %s", word_of(&words_StagePart, program->part));
    if (program->stage) put_labelled(p, "stage", program->stage);
    if (p->g->level >= LEVEL_SCHED) {
        put_uint(p, " peak ", program->peak);
    }
    put_text(p, "\n");
    for (uint32_t k = 0; k < program->ops.n; k++) print_op(p, program->ops.at[k]);
    put_text(p, "end\n");
}

static void print_arena(const RoleMemory *m, Buf *out) {
    buf_printf(out, "arena persistent %llu bytes %llu workspace",
               (unsigned long long)m->persistent_bytes, (unsigned long long)m->arena_bytes);
    for (int d = 0; d < DEVICE_KINDS; d++)
        buf_printf(out, " %s %llu", word_of(&words_DeviceKind, d),
                   (unsigned long long)m->workspace_bytes[d]);
    if (m->host_bytes)
        buf_printf(out, " host persistent %llu bytes %llu", (unsigned long long)m->host_persistent,
                   (unsigned long long)m->host_bytes);
    if (m->kept_slots)
        buf_printf(out, " slots %llu of %llu at %llu", (unsigned long long)m->kept_slots,
                   (unsigned long long)m->kept_bytes, (unsigned long long)m->kept_at);
    buf_printf(out, "\n");
}

void graph_print(const Graph *g, Buf *out) {
    GraphPrinter p = {.g = g, .out = out, .arena = arena_new()};
    number_files(&p);
    number_ops(&p);
    buf_printf(out, "graph %s\n", level_name(g->level));
    print_files(&p);
    print_policy(&p);
    print_modules(&p);
    print_params(&p);
    print_states(&p);
    print_units(&p);
    print_groups(&p);
    print_formulas(&p);
    static const RoleMemory none;
    for (uint32_t i = 0; g->level >= LEVEL_SCHED && i < graph_roles(g); i++)
        print_arena(i < g->roles.n ? &g->roles.at[i] : &none, out);
    for (uint32_t i = 0; i < g->programs.n; i++) print_program(&p, &g->programs.at[i]);
    arena_free(p.arena);
}
