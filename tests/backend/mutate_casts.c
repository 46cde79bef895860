/* Unwanted casts: an operand is rounded before a kernel reads it. A single cast changes the dtype
 * of an operand, a pair of casts only its bits. Both run on the stream of the reader, wait for what
 * it waits for, and have memory of their own behind all other memory.
 */
#include "mutate.h"
#include "op.h"

static int narrower(int dtype) { return dtype == DT_F16 ? DT_BF16 : DT_F16; }

/* An instruction before `before`, on its stream, that casts a value. Returns the result. */
static uint32_t insert_cast(Edit *e, uint32_t program, uint32_t before, uint32_t value, int dtype) {
    uint32_t at = edit_place(e, program, before), cast = e->n_instr++, out = e->n_value++;
    uint64_t top = align_up(e->settings.arena_bytes, PLAN_ALIGN);
    const EditInstr *reader = &e->instr[before];
    EditInstr *in = &e->instr[cast];
    *in = *reader;
    in->row.op = OP_cast;
    in->row.flags = 0;
    in->row.saves = 0;
    in->row.attr = (Attrs){0};
    in->in = arena_array(e->arena, uint32_t, 1);
    in->out = arena_array(e->arena, uint32_t, 1);
    in->edge = NULL;
    in->n_edge = 0;
    for (uint32_t k = 0; k < reader->n_edge; k++) edit_add_edge(e, cast, reader->edge[k]);
    in->in[0] = value;
    in->out[0] = out;
    in->n_in = in->n_out = 1;
    e->value[out] = e->value[value];
    e->value[out].def = cast;
    e->value[out].slots = 0;
    e->value[out].address = top;
    e->value[out].type.dtype = (uint8_t)dtype;
    e->value[out].type.pitch = 0;
    edit_insert(e, program, at, cast);
    edit_repair_peaks(e);
    return out;
}

/* Operand k of the instruction is another value now; what shows it lies where that lies. */
static void read_instead(Edit *e, uint32_t instr, uint32_t k, uint32_t value) {
    EditInstr *in = &e->instr[instr];
    uint32_t cast = edit_def(e, value);
    in->in[k] = value;
    if (in->row.stream != e->instr[cast].row.stream) edit_add_edge(e, instr, cast);
    if (op_info[in->row.op].alias == ALIAS_VIEW)
        edit_shift(e, in->out[0], e->value[value].address + (uint64_t)in->row.attr.offset);
}

static bool can_be_cast(const Edit *e, uint32_t value) {
    const Type *t = &e->value[value].type;
    return type_is_float(t) && dtype_bytes(t->dtype) > 1;
}

/* Does it read the number? Others end the value. */
static bool reads(const EditInstr *in, uint32_t k, uint32_t value) {
    return in->in[k] == value && in->row.op != OP_free && in->row.op != OP_reshard;
}

static uint32_t cast_before(Edit *e, uint32_t program, uint32_t reader, uint32_t value, bool pair) {
    int dtype = e->value[value].type.dtype;
    uint32_t cast = insert_cast(e, program, reader, value, narrower(dtype));
    return pair ? insert_cast(e, program, reader, cast, dtype) : cast;
}

bool edit_cast(Edit *e, uint32_t program, uint32_t reader, uint32_t operand, bool pair) {
    uint32_t value = e->instr[reader].in[operand];
    if (!can_be_cast(e, value) || !reads(&e->instr[reader], operand, value)) return false;
    read_instead(e, reader, operand, cast_before(e, program, reader, value, pair));
    edit_repair_peaks(e);
    return true;
}

bool edit_cast_for_all(Edit *e, uint32_t value, bool pair) {
    uint32_t cast = UINT32_MAX, program = 0, place;
    if (!can_be_cast(e, value)) return false;
    while ((place = edit_place(e, program, edit_def(e, value))) == UINT32_MAX) program++;
    for (uint32_t i = place + 1; i < e->program[program].n; i++) {
        uint32_t instr = e->program[program].list[i];
        for (uint32_t k = 0; k < e->instr[instr].n_in; k++) {
            if (!reads(&e->instr[instr], k, value) || instr == cast) continue;
            if (cast == UINT32_MAX) {
                cast = cast_before(e, program, instr, value, pair);
                i += pair ? 2 : 1;
            }
            read_instead(e, instr, k, cast);
        }
    }
    edit_repair_peaks(e);
    return cast != UINT32_MAX;
}

/* What a value stands for in all programs: a field of the batch, a parameter, or a place in the
 * model. */
static bool stand_for_the_same(const Edit *e, uint32_t a, uint32_t b) {
    const EditInstr *x = &e->instr[edit_def(e, a)], *y = &e->instr[edit_def(e, b)];
    if (x->row.op != y->row.op || a - x->out[0] != b - y->out[0]) return false;
    if (op_info[x->row.op].attrs & A_index) return x->row.attr.index == y->row.attr.index;
    return x->row.path == y->row.path && x->row.file == y->row.file && x->row.line == y->row.line &&
           x->row.col == y->row.col && edit_same_type(e, a, b);
}

bool edit_cast_everywhere(Edit *e, uint32_t value, bool pair) {
    bool any = false;
    for (uint32_t v = 0; v < e->base->n_values; v++)
        if (stand_for_the_same(e, value, v)) any |= edit_cast_for_all(e, v, pair);
    return any;
}

/* ---- faults */

static bool round_results(Edit *e, Random *r, Fits *fits) {
    EditPlace at;
    return pick(e, r, fits, &at) && edit_cast_everywhere(e, e->instr[at.instr].out[0], true);
}

static bool is_field(const Edit *e, uint32_t i) {
    return e->instr[i].row.op == OP_field && can_be_cast(e, e->instr[i].out[0]);
}
FAULT(round_a_field) { return round_results(e, r, is_field); }

static bool is_frozen(const Edit *e, uint32_t i) {
    const PlanInstr *in = &e->instr[i].row;
    bool shows = in->op == OP_view || in->op == OP_copy_out;
    return shows && in->attr.index >= 0 && e->param[in->attr.index].flags & PARAM_FROZEN;
}
FAULT(round_what_is_frozen) { return round_results(e, r, is_frozen); }

static bool is_metric(const Edit *e, uint32_t i) {
    return op_info[e->instr[i].row.op].term == TERM_METRIC;
}
FAULT(round_for_a_metric) { return edit_cast(e, at.program, at.instr, 0, true); }

/* Logits in chunks pass through memory of that dtype. */
FAULT(round_a_chunk) {
    const EditInstr *in = &e->instr[at.instr];
    Type *chunk = &e->value[in->out[in->n_out - 1]].type;
    if (chunk->dtype != DT_F32) return false;
    chunk->dtype = DT_BF16;
    return true;
}

const Fault cast_faults[] = {
    {"round a field of the batch", 8, 3, .plant = round_a_field},
    {"round a frozen parameter", 8, 3, .plant = round_what_is_frozen},
    {"round logits of a chunk", 8, 1, round_a_chunk, .op = OP_linear_cross_entropy_both},
    {"round what a metric reads", 8, 3, round_for_a_metric, .at = is_metric},
};
const uint32_t n_cast_faults = ARRAY_LEN(cast_faults);
