/* The reader's third step: values, instructions, their operands, results, edges and attributes.
 *
 * Every value is the result of exactly the instruction that it names, and lies inside the arena.
 * Operands are values of the same program; edges name instructions of it. Attributes that an op
 * has are in the range of their kind or table, all others are zero.
 */
#include <string.h>

#include "plan_reader.h"
#include "signature.h"
#include "text.h"

static void read_values(Reading *r) {
    const Plan *p = r->p;
    Mesh mesh = plan_mesh(p);
    for (uint64_t i = 0; i < p->n_values; i++) {
        const PlanValue *v = &p->values[i];
        FAIL_IF(v->def >= p->n_instrs, "value %llu has no defining instruction", (Llu)i);
        const PlanInstr *in = &p->instrs[v->def];
        FAIL_IF(i < in->first_out || i - in->first_out >= in->n_out,
                "value %llu is not a result of instruction %u", (Llu)i, v->def);
        FAIL_IF(!plan_type_sane(&v->type), "value %llu has no type", (Llu)i);
        FAIL_IF(v->placed > p->n_placements, "value %llu has no placement", (Llu)i);
        FAIL_IF(v->placed && !placement_fits(plan_placement(p, v), &mesh, &v->type),
                "value %llu does not have the sizes of a part that its placement says", (Llu)i);
        FAIL_IF(v->slots >> p->n_axes, "value %llu has slots along axes that do not exist", (Llu)i);
        if (v->type.dtype == DT_TOKEN) {
            FAIL_IF(v->address || v->slots, "value %llu is a token with an address", (Llu)i);
            continue;
        }
        uint64_t slots = (uint64_t)mesh_extent(&mesh, v->slots);
        uint64_t at = address_offset(v->address);
        uint64_t arena =
            address_is_host(v->address) ? p->settings->host_bytes : p->settings->arena_bytes;
        FAIL_IF(at > arena || (uint64_t)type_bytes(&v->type) > (arena - at) / slots ||
                    at % dtype_bytes(v->type.dtype),
                "value %llu lies at byte %llu, which is outside the arena or not aligned", (Llu)i,
                (Llu)v->address);
    }
}

/* Attributes that the op has are in their range, the others zero. */
static const char *attr_ranges_fault(const PlanInstr *in) {
    static const Attrs zero;
    for (int i = 0; i < ATTR_COUNT; i++) {
        const TextField *f = &attr_fields[i];
        bool has = op_info[in->op].attrs >> i & 1;
        if (has ? !text_field_in_range(f, &in->attr)
                : memcmp((const char *)&in->attr + f->offset, &zero, f->size) != 0)
            return f->name;
    }
    return NULL;
}

static bool outside(int64_t i, uint64_t n) { return i < 0 || (uint64_t)i >= n; }

/* Attributes that are rows of tables. */
static const char *attr_tables_fault(const Plan *p, const PlanInstr *in) {
    uint64_t mask = op_info[in->op].attrs;
    const Attrs *a = &in->attr;
    if (mask & A_index) {
        int rows = op_info[in->op].rows;
        bool of_param = rows == ROWS_PARAMS && !(mask & A_group); /* else it is of the group */
        if (rows == ROWS_STATES     ? outside(a->index, p->n_states)
            : rows == ROWS_FIELDS   ? outside(a->index, p->n_fields)
            : of_param              ? outside(a->index, p->n_params)
            : rows == ROWS_FORMULAS ? outside(a->index, p->n_formulas)
                                    : a->index != NO_INDEX)
            return "index";
    }
    /* An all_reduce of metrics is of no unit. */
    bool none = a->unit == NO_INDEX && in->op != OP_unshard;
    if ((mask & A_unit) && !none && outside(a->unit, p->n_units)) return "unit";
    if ((mask & A_group) && outside(a->group, p->n_groups)) return "group";
    if ((mask & A_axes) && (a->axes < 1 || a->axes >= 1 << p->n_axes)) return "axes";
    return NULL;
}

/* Rows [first, first + n) of a table; ranges of instructions ascend and stay apart. */
static void read_range(Reading *r, uint64_t i, const char *what, uint64_t first, uint64_t n,
                       uint64_t total, uint64_t *next) {
    FAIL_IF(first < *next || first > total || n > total - first,
            "instruction %llu: the range of its %s is wrong", (Llu)i, what);
    *next = first + n;
}

/* Where the ranges of the next instruction can begin. */
typedef struct Next {
    uint64_t in, out, edge;
} Next;

static void read_shape_of_instr(Reading *r, uint64_t i, Next *next) {
    const Plan *p = r->p;
    const PlanInstr *in = &p->instrs[i];
    FAIL_IF(in->op >= OP_COUNT, "instruction %llu: unknown op %u", (Llu)i, in->op);
    const OpInfo *o = &op_info[in->op];
    const Signature *s = op_signature((OpKind)in->op);
    FAIL_IF(!(o->levels & L_SCHED), "instruction %llu: op %s cannot occur in a plan", (Llu)i,
            o->name);
    FAIL_IF(in->n_in < s->in_min || (s->in_max != MANY && in->n_in > s->in_max),
            "instruction %llu: op %s does not have %u operands", (Llu)i, o->name, in->n_in);
    FAIL_IF(in->n_out < s->out_min || (s->out_max != MANY && in->n_out > s->out_max),
            "instruction %llu: op %s does not have %u results", (Llu)i, o->name, in->n_out);
    FAIL_IF(in->stream >= STREAM_KINDS || in->phase >= PHASE_COUNT,
            "instruction %llu: unknown stream or phase", (Llu)i);
    FAIL_IF(in->saves > p->n_saves, "instruction %llu waits for saves that do not exist", (Llu)i);
    FAIL_IF(in->flags > INSTR_RECOMPUTED || (in->flags && in->phase != PHASE_BACKWARD),
            "instruction %llu cannot recompute forward", (Llu)i);
    FAIL_IF(in->unit != NO_INDEX && outside(in->unit, p->n_units), "instruction %llu: unknown unit",
            (Llu)i);
    FAIL_IF(in->path >= p->n_strings, "instruction %llu has no module path", (Llu)i);
    FAIL_IF(in->file >= p->n_files || (in->file && (!in->line || !in->col)),
            "instruction %llu has no position in the source", (Llu)i);
    FAIL_IF(in->flops > (uint64_t)INT64_MAX || in->bytes > (uint64_t)INT64_MAX ||
                in->live_bytes > (uint64_t)INT64_MAX,
            "instruction %llu: a prediction is out of range", (Llu)i);
    read_range(r, i, "operands", in->first_in, in->n_in, p->n_operands, &next->in);
    read_range(r, i, "results", in->first_out, in->n_out, p->n_values, &next->out);
    read_range(r, i, "edges", in->first_edge, in->n_edge, p->n_edges, &next->edge);
}

static void read_links(Reading *r, const PlanProgram *program, uint64_t i) {
    const Plan *p = r->p;
    const PlanInstr *in = &p->instrs[i];
    for (uint32_t k = 0; k < in->n_in; k++) {
        uint32_t v = p->operands[in->first_in + k];
        FAIL_IF(v >= p->n_values || p->values[v].def < program->first_instr ||
                    p->values[v].def - program->first_instr >= program->n_instr,
                "instruction %llu: operand %u is not a value of its program", (Llu)i, k);
    }
    for (uint32_t k = 0; k < in->n_out; k++)
        FAIL_IF(p->values[in->first_out + k].def != i,
                "instruction %llu: result %u belongs to instruction %u", (Llu)i, k,
                p->values[in->first_out + k].def);
    for (uint32_t k = 0; k < in->n_edge; k++) {
        uint32_t e = p->edges[in->first_edge + k];
        FAIL_IF(e < program->first_instr || e - program->first_instr >= program->n_instr,
                "instruction %llu: edge %u does not start at an instruction of its program", (Llu)i,
                k);
    }
}

static void read_instr(Reading *r, uint64_t i) {
    const Plan *p = r->p;
    const PlanInstr *in = &p->instrs[i];
    const char *fault = attr_ranges_fault(in);
    if (!fault) fault = attr_tables_fault(p, in);
    FAIL_IF(fault, "instruction %llu: attribute %s of op %s is out of range", (Llu)i, fault,
            op_info[in->op].name);
    char where[256], text[512];
    if (plan_types_fit(p, in, text, sizeof text)) return;
    plan_instr_text(p, i, where, sizeof where);
    plan_fail(r, "%s: %s", where, text);
}

void plan_read_instrs(Reading *r) {
    const Plan *p = r->p;
    Next next = {0};
    for (uint64_t i = 0; i < p->n_instrs; i++) read_shape_of_instr(r, i, &next);
    read_values(r);
    for (uint64_t k = 0; k < p->n_programs; k++) {
        const PlanProgram *a = &p->programs[k];
        for (uint64_t i = a->first_instr; i < a->first_instr + (uint64_t)a->n_instr; i++)
            read_links(r, a, i);
    }
    for (uint64_t i = 0; i < p->n_instrs; i++) read_instr(r, i);
}
