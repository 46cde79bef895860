/* A graph as canonical text (levels.md): the same graph gives the same bytes.
 *
 * Ops and values are numbered in the order of the programs, source files in the order of their
 * table, only those that a span names. Everything that differs from graph to graph is printed; what
 * belongs to a later level is left out.
 */
#include <string.h>

#include "records.h"

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

/* One that is not in policy_fields. */
static void print_special(GraphPrinter *p, const char *name, bool shown) {
    Policy policy = p->g->policy;
    bool known;
    if (!shown) return;
    put_words(p, ", ", name);
    put_text(p, " =");
    text_policy(&(Record){.to = p}, name, &policy, &known);
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
            print_special(p, "unit", true);
            print_special(p, "by_hand", policy->unit_by_hand.at.n);
        }
        if (i + 1 == n_shard_policies) {
            const RecomputePolicy *again = &policy->recompute;
            print_special(p, "recompute", again->classes.at.n + again->ops.at.n + again->keep.at.n);
            print_special(p, "by_path", policy->by_path.n);
            print_special(p, "stage_lists", policy->stage_lists.at.n);
        }
    }
    put_text(p, "\n");
}

/* ---- tables ---- */

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
    put_number(p, '%', p->numbers.value, p->g->values.n, v);
}

static void put_op(GraphPrinter *p, const char *lead, OpId id) {
    put_text(p, lead);
    put_number(p, '#', p->numbers.op, p->g->ops.n, id);
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
    text_attrs_print(op->kind, op->attr, &p->g->policy.mesh, p->out);
    Op tail = *op;
    text_op_tail(&(Record){.to = p}, &tail);
    put_text(p, "\n");
}

static void print_program(GraphPrinter *p, const Program *program) {
    put_words(p, "program ", program_name(program->kind));
    Program head = *program;
    text_program(&(Record){.to = p}, &head);
    put_text(p, "\n");
    for (uint32_t k = 0; k < program->ops.n; k++) print_op(p, program->ops.at[k]);
    put_text(p, "end\n");
}

void graph_print(const Graph *g, Buf *out) {
    GraphPrinter p = {.g = g, .out = out, .arena = arena_new()};
    number_files(&p);
    p.numbers = graph_numbers(g, p.arena);
    buf_printf(out, "graph %s\n", level_name(g->level));
    print_files(&p);
    print_policy(&p);
    print_tables(&p);
    print_formulas(&p);
    for (uint32_t i = 0; g->level >= LEVEL_SCHED && i < graph_roles(g); i++) {
        RoleMemory m = i < g->roles.n ? g->roles.at[i] : (RoleMemory){0};
        put_text(&p, "arena");
        text_memory(&(Record){.to = &p}, &m);
        put_text(&p, "\n");
    }
    for (uint32_t i = 0; i < g->programs.n; i++) print_program(&p, &g->programs.at[i]);
    arena_free(p.arena);
}
