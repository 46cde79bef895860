/* The instructions of a plan on one rank: prepared once, issued again and again.
 *
 * A prepared instruction is what a device or a transport takes: addresses become pointers into the
 * arena, operands become the arrays of a kernel's call, collectives get their number on their
 * communicator within one call. Issuing it makes one launch on its stream, one collective or one
 * message between stages, numbered after those of earlier calls; the caller takes care of its
 * edges.
 *
 * In: a rank and an instruction's row. Out: 0, or an exit code and an error text that names the
 * instruction.
 *
 * Instructions that only say where a value lives or ends (state, view, reshard, free, ...) issue
 * nothing.
 */
#include <stdio.h>
#include <string.h>

#include "op.h"
#include "prepared.h"

static bool is_message(const PlanInstr *in) { return op_info[in->op].effect == EFFECT_MESSAGE; }
static bool moves_data(const PlanInstr *in) { return op_info[in->op].effect == EFFECT_COMM; }

/* Its communicator's row in issued and in_call. */
static uint32_t row_of(const PlanInstr *in) {
    return comm_row((AxisSet)in->attr.axes, (int32_t)in->attr.comm);
}

bool instruction_touches(const Plan *p, uint32_t instr, uint32_t operand, bool output) {
    const PlanInstr *in = &p->instrs[instr];
    uint32_t v = output ? in->first_out + operand : p->operands[in->first_in + operand];
    if (p->values[v].type.dtype == DT_TOKEN) return false;
    return instruction_is_issued(in);
}

/* Does the value lie in slots of kept activations? */
static bool is_kept(const Rank *r, uint32_t value) {
    const PlanRole *role = rank_role(r);
    uint64_t at = r->run->plan->values[value].address;
    return role->kept_slots && at >= role->kept_at && at - role->kept_at < role->kept_bytes;
}

void *instruction_value(const Rank *r, uint32_t value) {
    const Plan *p = r->run->plan;
    uint64_t at = plan_address(p, &p->values[value], r->info.rank);
    char *shared = shared_arena(r, value);
    if (is_kept(r, value)) at += r->executor->kept_shift;
    return shared ? shared + at : rank_at(r, at);
}

/* The pointer in `place`, to so many bytes behind the value's first, is set before each call, if
 * the value is in a slot. */
static void note_kept(Rank *r, uint32_t value, int64_t behind, void *place) {
    if (!is_kept(r, value)) return;
    Executor *e = r->executor;
    vec_push(r->memory, &e->kept,
             ((KeptPointer){place, (char *)instruction_value(r, value) + behind}));
}

void instructions_use_slot(Rank *r, uint32_t program, uint32_t slot) {
    Executor *e = r->executor;
    e->kept_shift = slot * rank_role(r)->kept_bytes;
    for (uint32_t k = e->first_kept[program]; k < e->first_kept[program + 1]; k++) {
        void *at = e->kept.at[k].first + e->kept_shift;
        memcpy(e->kept.at[k].place, &at, sizeof at);
    }
}

/* What messages call an instruction; kept. */
static const char *label_of(const Rank *r, uint32_t k) {
    char text[256];
    plan_instr_text(r->run->plan, k, text, sizeof text);
    return arena_strdup(r->memory, text);
}

/* A buffer for each run of each operand that is not a token. A reshard's token may follow an
 * unshard's shards. */
static void prepare_collective(Rank *r, Executor *e, uint32_t k, CommBuffer **buffer,
                               uint64_t *ordinal) {
    const Plan *p = r->run->plan;
    const PlanInstr *in = &p->instrs[k];
    Prepared *q = &e->prepared[k];
    int64_t runs = comm_runs(p, in);
    uint32_t n = 0;
    for (uint32_t i = 0; i < in->n_in && i < in->n_out; i++) {
        uint32_t from = p->operands[in->first_in + i], to = in->first_out + i;
        if (p->values[from].type.dtype == DT_TOKEN) break;
        int64_t read = type_elements(&p->values[from].type) / runs;
        int64_t written = type_elements(&p->values[to].type) / runs;
        int64_t width = (int64_t)dtype_bytes(p->values[from].type.dtype);
        for (int64_t run = 0; run < runs; run++) {
            note_kept(r, from, run * read * width, &(*buffer)[n].in);
            note_kept(r, to, run * written * width, &(*buffer)[n].out);
            (*buffer)[n++] =
                (CommBuffer){.in = (const char *)instruction_value(r, from) + run * read * width,
                             .out = (char *)instruction_value(r, to) + run * written * width,
                             .elements = MIN(read, written),
                             .dtype = p->values[from].type.dtype,
                             .backwards = comm_is_backwards(p, in, run)};
        }
    }
    q->collective = (Collective){.kind = plan_collective_kind(in),
                                 .axes = (AxisSet)in->attr.axes,
                                 .purpose = (int32_t)in->attr.comm,
                                 .stream = in->stream,
                                 .shared = n && shared_arena(r, in->first_out),
                                 .n = n,
                                 .buffer = *buffer,
                                 .label = label_of(r, k)};
    q->ordinal = ordinal[row_of(in)]++;
    *buffer += n;
}

/* Room for what kernels are told of their operands and results. */
typedef struct KernelRoom {
    const void **in;
    void **out;
    const Type **type;
    const Placement **placed; /* NULL: the plan has no placements */
    Type *flat_in, *flat_out; /* of the widest instruction */
} KernelRoom;

static void prepare_kernel(Rank *r, Executor *e, uint32_t k, KernelRoom *room) {
    const Plan *p = r->run->plan;
    const PlanInstr *in = &p->instrs[k];
    KernelCall *c = &e->prepared[k].kernel;
    *c = (KernelCall){.rank = &r->info,
                      .op = (OpKind)in->op,
                      .attr = &in->attr,
                      .n_in = in->n_in,
                      .n_out = in->n_out,
                      .in = room->in,
                      .out = room->out,
                      .workspace = r->workspace};
    c->in_type = room->type;
    c->in_placed = room->placed;
    for (uint32_t i = 0; i < in->n_in; i++) {
        uint32_t v = p->operands[in->first_in + i];
        note_kept(r, v, 0, room->in);
        *room->in++ = instruction_value(r, v);
        *room->type++ = &p->values[v].type;
        room->flat_in[i] = p->values[v].type;
        if (room->placed) *room->placed++ = plan_placement(p, &p->values[v]);
    }
    c->out_type = room->type;
    c->out_placed = room->placed;
    for (uint32_t i = 0; i < in->n_out; i++) {
        uint32_t v = in->first_out + i;
        note_kept(r, v, 0, room->out);
        *room->out++ = instruction_value(r, v);
        *room->type++ = &p->values[v].type;
        room->flat_out[i] = p->values[v].type;
        if (room->placed) *room->placed++ = plan_placement(p, &p->values[v]);
    }
    c->workspace_bytes =
        (uint64_t)op_workspace((OpKind)in->op, r->run->device->kind, &in->attr, (int)in->n_in,
                               room->flat_in, (int)in->n_out, room->flat_out);
    /* Against the end, so that bytes too many land in the guard; kernels want multiples of 64. */
    if (r->run->test.mode == TEST_MEMORY) {
        const PlanRole *role = rank_role(r);
        uint64_t have = role->workspace_bytes[r->run->device->kind] - plan_workspace_at(role);
        c->workspace = (char *)r->workspace + (have - c->workspace_bytes) / 64 * 64;
    }
}

/* From or to the rank of the other stage that has the same place among the ranks of its own. */
static void prepare_message(Rank *r, Executor *e, uint32_t k) {
    const Plan *p = r->run->plan;
    const PlanInstr *in = &p->instrs[k];
    bool sends = in->op == OP_send;
    uint32_t v = sends ? p->operands[in->first_in] : in->first_out;
    const PlanRole *other = &p->roles[plan_stage_role(p, (uint32_t)in->attr.stage)];
    int32_t place = r->rank - (int32_t)rank_role(r)->first_rank;
    StageMessage *m = &e->prepared[k].message;
    *m = (StageMessage){.peer = (int32_t)other->first_rank + place,
                        .box = (uint32_t)in->attr.index,
                        .stream = in->stream,
                        .bytes = (uint64_t)type_bytes(&p->values[v].type),
                        .places = (uint64_t)p->states[in->attr.index].type.dim[0],
                        .value = instruction_value(r, v),
                        .label = label_of(r, k)};
    note_kept(r, v, 0, &m->value);
}

/* Numbers of meetings are those of gathers over the same axes. */
static void prepare_meeting(Rank *r, Executor *e, uint32_t k, uint64_t *ordinal) {
    Prepared *q = &e->prepared[k];
    AxisSet axes = shared_gather_meets(r, k);
    if (!axes) return;
    q->meeting = arena_new_of(r->memory, Collective);
    *q->meeting = (Collective){.kind = BARRIER,
                               .axes = axes,
                               .purpose = COMM_GATHER,
                               .stream = r->run->plan->instrs[k].stream,
                               .label = arena_printf(r->memory, "before %s", label_of(r, k))};
    q->meeting_ordinal = ordinal[comm_row(axes, COMM_GATHER)]++;
}

static uint32_t most_operands(const Plan *p) {
    uint32_t most = 0;
    for (uint64_t k = 0; k < p->n_instrs; k++)
        most = MAX(most, p->instrs[k].n_in + p->instrs[k].n_out);
    return most;
}

static uint64_t all_buffers(const Plan *p) {
    uint64_t n = 0;
    for (uint64_t k = 0; k < p->n_instrs; k++)
        if (moves_data(&p->instrs[k])) n += comm_buffers(p, &p->instrs[k]);
    return n;
}

void instructions_prepare(Rank *r) {
    const Plan *p = r->run->plan;
    Executor *e = r->executor;
    Arena *a = r->memory;
    uint64_t values = p->n_operands + p->n_values + 1;
    CommBuffer *buffer = arena_array(a, CommBuffer, all_buffers(p) + 1);
    KernelRoom room = {.in = arena_array(a, const void *, p->n_operands + 1),
                       .out = arena_array(a, void *, p->n_values + 1),
                       .type = arena_array(a, const Type *, values),
                       .flat_in = arena_array(a, Type, most_operands(p) + 1),
                       .flat_out = arena_array(a, Type, most_operands(p) + 1)};
    if (p->n_placements) room.placed = arena_array(a, const Placement *, values);
    for (uint64_t i = 0; i < p->n_programs; i++) {
        uint64_t *ordinal = e->in_call + i * comm_rows(p);
        bool mine = rank_runs(r, &p->programs[i]);
        e->first_kept[i + 1] = e->kept.n;
        for (uint32_t j = 0; mine && j < p->programs[i].n_instr; j++) {
            uint32_t k = p->programs[i].first_instr + j;
            prepare_meeting(r, e, k, ordinal);
            if (op_info[p->instrs[k].op].launched)
                prepare_kernel(r, e, k, &room);
            else if (moves_data(&p->instrs[k]))
                prepare_collective(r, e, k, &buffer, ordinal);
            else if (is_message(&p->instrs[k]))
                prepare_message(r, e, k);
        }
        e->first_kept[i + 1] = e->kept.n;
    }
}

const KernelCall *instruction_kernel(const Rank *r, uint32_t instr) {
    return &r->executor->prepared[instr].kernel;
}

static int issue_collective(Rank *r, uint32_t k, char *error) {
    Executor *e = r->executor;
    Prepared *q = &e->prepared[k];
    q->collective.sequence = e->issued[row_of(&r->run->plan->instrs[k])] + q->ordinal;
    return r->run->transport->collect(r->transport, &q->collective, error);
}

static int issue_message(Rank *r, uint32_t k, char *error) {
    const Plan *p = r->run->plan;
    const PlanInstr *in = &p->instrs[k];
    StageMessage *m = &r->executor->prepared[k].message;
    const PlanState *box = &p->states[in->attr.index];
    m->sequence = r->executor->messages[in->attr.index]++;
    if (in->op == OP_receive) return r->run->transport->receive(r->transport, m, error);
    m->slot = (char *)rank_at(r, box->address) + message_place(m) * (uint64_t)box->type.dim[1];
    return r->run->transport->send(r->transport, m, error);
}

static int issue_meeting(Rank *r, uint32_t k, char *error) {
    Prepared *q = &r->executor->prepared[k];
    uint32_t row = comm_row(q->meeting->axes, q->meeting->purpose);
    q->meeting->sequence = r->executor->issued[row] + q->meeting_ordinal;
    return r->run->transport->agree(r->transport, q->meeting, 0, NULL, error);
}

static int issue_instruction(Rank *r, uint32_t k, char *error) {
    Executor *e = r->executor;
    const PlanInstr *in = &r->run->plan->instrs[k];
    if (r->tap.before) {
        int code = r->tap.before(r->tap.of, k, error);
        if (code) return code;
    }
    if (in->saves && r->gate.hold) r->gate.hold(r, in->saves);
    if (e->prepared[k].meeting) {
        int code = issue_meeting(r, k, error);
        if (code) return code;
    }
    if (!instruction_is_issued(in)) return 0;
    rank_beat_at(r, k);
    if (is_message(in)) return issue_message(r, k, error);
    int code = moves_data(in)
                   ? issue_collective(r, k, error)
                   : r->run->device->launch(r->context, in->stream, &e->prepared[k].kernel, error);
    if (!code || moves_data(in)) return code;
    char text[256], cause[ERROR_BYTES];
    plan_instr_text(r->run->plan, k, text, sizeof text);
    snprintf(cause, sizeof cause, "%s", error);
    return fail_with(error, code, "%s: %.200s", text, cause);
}

int instruction_timed(Rank *r, uint32_t k, char *error) {
    Profile *profile = r->executor->profile;
    int code = profile ? profile_mark(profile, k, false, error) : 0;
    if (!code) code = issue_instruction(r, k, error);
    return !code && profile ? profile_mark(profile, k, true, error) : code;
}
