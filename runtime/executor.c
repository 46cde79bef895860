/* The executor: one program call on one rank.
 *
 * At start every instruction is made ready once: addresses become pointers into the arena, operands
 * become the arrays that a kernel takes, collectives get their number on their communicator within
 * one call. A call is then a loop over the program's instructions in issue order; stream order and
 * the plan's edges are given to the device as record and wait. The test mode in stream_test.c
 * issues the same instructions from one thread a stream instead.
 *
 * Instructions that only say where a value lives or ends (state, view, reshard, free, ...) issue
 * nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor.h"
#include "runtime.h"

static bool moves_data(const PlanInstr *in) { return op_info[in->op].effect == EFFECT_COMM; }

bool executor_touches(const Plan *p, uint32_t instr, uint32_t operand, bool output) {
    const PlanInstr *in = &p->instrs[instr];
    uint32_t v = output ? in->first_out + operand : p->operands[in->first_in + operand];
    if (p->values[v].type.dtype == DT_TOKEN) return false;
    return op_info[in->op].launched || moves_data(in);
}

static void *address_of(const Rank *r, uint32_t value) {
    return r->arena + r->run->plan->values[value].address;
}

/* One buffer for each operand that is no token. A reshard's token may follow an unshard's shards.
 */
static void prepare_collective(Rank *r, Executor *e, uint32_t k, CommBuffer **buffer,
                               uint64_t *ordinal) {
    const Plan *p = r->run->plan;
    const PlanInstr *in = &p->instrs[k];
    Prepared *q = &e->prepared[k];
    uint32_t n = 0;
    for (uint32_t i = 0; i < in->n_in && i < in->n_out; i++) {
        uint32_t from = p->operands[in->first_in + i], to = in->first_out + i;
        if (p->values[from].type.dtype == DT_TOKEN) break;
        const Type *smaller =
            in->op == OP_reduce_scatter ? &p->values[to].type : &p->values[from].type;
        (*buffer)[n++] = (CommBuffer){.in = address_of(r, from),
                                      .out = address_of(r, to),
                                      .elements = type_elements(smaller),
                                      .dtype = smaller->dtype};
    }
    q->collective = (Collective){.axes = (AxisSet)in->attr.axes,
                                 .purpose = (int32_t)in->attr.comm,
                                 .stream = in->stream,
                                 .n = n,
                                 .buffer = *buffer};
    char label[256];
    plan_instr_text(p, k, label, sizeof label);
    q->collective.label = arena_strdup(e->arena, label);
    q->ordinal = ordinal[row_of(in)]++;
    *buffer += n;
}

/* flat: room for the types of the widest instruction. */
static void prepare_kernel(Rank *r, Executor *e, uint32_t k, const void ***in_at, void ***out_at,
                           const Type ***type_at, Type *flat) {
    const Plan *p = r->run->plan;
    const PlanInstr *in = &p->instrs[k];
    KernelCall *c = &e->prepared[k].kernel;
    *c = (KernelCall){.rank = &r->info,
                      .op = (OpKind)in->op,
                      .attr = &in->attr,
                      .n_in = in->n_in,
                      .n_out = in->n_out,
                      .in = *in_at,
                      .out = *out_at,
                      .workspace = r->workspace};
    Type *flat_in = flat, *flat_out = flat + in->n_in;
    c->in_type = *type_at;
    for (uint32_t i = 0; i < in->n_in; i++) {
        uint32_t v = p->operands[in->first_in + i];
        *(*in_at)++ = address_of(r, v);
        *(*type_at)++ = &p->values[v].type;
        flat_in[i] = p->values[v].type;
    }
    c->out_type = *type_at;
    for (uint32_t i = 0; i < in->n_out; i++) {
        uint32_t v = in->first_out + i;
        *(*out_at)++ = address_of(r, v);
        *(*type_at)++ = &p->values[v].type;
        flat_out[i] = p->values[v].type;
    }
    c->workspace_bytes = (uint64_t)op_workspace((OpKind)in->op, r->run->device->kind, &in->attr,
                                                (int)in->n_in, flat_in, (int)in->n_out, flat_out);
    /* Against the end, so that bytes too many land in the guard; kernels want multiples of 64. */
    if (r->run->test.memory) {
        const PlanSettings *s = p->settings;
        uint64_t have = s->workspace_bytes[r->run->device->kind] - s->workspace_offset;
        c->workspace = (char *)r->workspace + (have - c->workspace_bytes) / 64 * 64;
    }
}

/* Which instructions another stream waits for. */
static void mark_awaited(const Plan *p, Executor *e) {
    for (uint64_t k = 0; k < p->n_instrs; k++)
        for (uint32_t i = 0; i < p->instrs[k].n_edge; i++)
            e->prepared[p->edges[p->instrs[k].first_edge + i]].awaited = true;
}

static uint32_t most_operands(const Plan *p) {
    uint32_t most = 0;
    for (uint64_t k = 0; k < p->n_instrs; k++)
        most = MAX(most, p->instrs[k].n_in + p->instrs[k].n_out);
    return most;
}

/* Lets the device try out the launches to come. */
static int rehearse(Rank *r) {
    const Plan *p = r->run->plan;
    const Device *d = r->run->device;
    if (!d->rehearse) return 0;
    const KernelCall **calls = arena_array(r->executor->arena, const KernelCall *, p->n_instrs + 1);
    uint32_t n = 0;
    for (uint64_t k = 0; k < p->n_instrs; k++)
        if (op_info[p->instrs[k].op].launched) calls[n++] = &r->executor->prepared[k].kernel;
    /* No instruction begins meanwhile, and a rank that has an earlier run's choices is done at
     * once: the others must not be taken for dead. */
    rank_writes(r, true);
    int code = d->rehearse(r->context, calls, n, r->arena, r->arena_bytes, r->error);
    rank_writes(r, false);
    return code;
}

int executor_open(Rank *r) {
    const Plan *p = r->run->plan;
    Arena *a = arena_new();
    Executor *e = r->executor = arena_new_of(a, Executor);
    e->arena = a;
    e->prepared = arena_array(a, Prepared, p->n_instrs + 1);
    e->issued = arena_array(a, uint64_t, comm_rows(p));
    e->in_call = arena_array(a, uint64_t, p->n_programs * comm_rows(p) + 1);
    const void **in_at = arena_array(a, const void *, p->n_operands + 1);
    void **out_at = arena_array(a, void *, p->n_values + 1);
    const Type **type_at = arena_array(a, const Type *, p->n_operands + p->n_values + 1);
    CommBuffer *buffer = arena_array(a, CommBuffer, p->n_operands + 1);
    Type *flat = arena_array(a, Type, most_operands(p) + 1);
    for (uint64_t i = 0; i < p->n_programs; i++) {
        uint64_t *ordinal = e->in_call + i * comm_rows(p);
        for (uint32_t j = 0; j < p->programs[i].n_instr; j++) {
            uint32_t k = p->programs[i].first_instr + j;
            if (op_info[p->instrs[k].op].launched)
                prepare_kernel(r, e, k, &in_at, &out_at, &type_at, flat);
            else if (moves_data(&p->instrs[k]))
                prepare_collective(r, e, k, &buffer, ordinal);
        }
    }
    mark_awaited(p, e);
    int code = rehearse(r);
    if (!code && r->run->test.memory) code = memory_check_open(r, &e->memory, r->error);
    if (!code && r->run->test.streams) code = stream_test_open(r, &e->streams, r->error);
    return code;
}

void executor_close(Rank *r) {
    Executor *e = r->executor;
    if (!e) return;
    stream_test_close(e->streams);
    memory_check_close(e->memory);
    arena_free(e->arena);
    r->executor = NULL;
}

static int issue_collective(Rank *r, uint32_t k, char *error) {
    Executor *e = r->executor;
    Prepared *q = &e->prepared[k];
    const PlanInstr *in = &r->run->plan->instrs[k];
    q->collective.sequence = e->issued[row_of(in)] + q->ordinal;
    const Transport *t = r->run->transport;
    switch (in->op) {
    case OP_unshard: return t->all_gather(r->transport, &q->collective, error);
    case OP_reduce_scatter: return t->reduce_scatter(r->transport, &q->collective, error);
    case OP_all_reduce: return t->all_reduce(r->transport, &q->collective, error);
    default: BUG("%s: no collective of the transports", op_info[in->op].name);
    }
}

int executor_issue(Rank *r, uint32_t k, char *error) {
    Executor *e = r->executor;
    const PlanInstr *in = &r->run->plan->instrs[k];
    if (r->dump) {
        int code = gradient_dump_before(r->dump, k, error);
        if (code) return code;
    }
    if (!moves_data(in) && !op_info[in->op].launched) return 0;
    rank_beat_at(r, k);
    allocations_enter_kernel();
    int code = moves_data(in)
                   ? issue_collective(r, k, error)
                   : r->run->device->launch(r->context, in->stream, &e->prepared[k].kernel, error);
    allocations_leave_kernel();
    if (!code || moves_data(in)) return code;
    char text[256], cause[ERROR_BYTES];
    plan_instr_text(r->run->plan, k, text, sizeof text);
    snprintf(cause, sizeof cause, "%s", error);
    snprintf(error, ERROR_BYTES, "%s: %.200s", text, cause);
    return code;
}

static int issue_ordered(Rank *r, uint32_t k, char *error) {
    const Plan *p = r->run->plan;
    const Device *d = r->run->device;
    const PlanInstr *in = &p->instrs[k];
    for (uint32_t i = 0; i < in->n_edge; i++) {
        int code = d->wait(r->context, in->stream, p->edges[in->first_edge + i], error);
        if (code) return code;
    }
    int code = executor_issue(r, k, error);
    if (!code && r->executor->prepared[k].awaited)
        code = d->record(r->context, in->stream, k, error);
    return code;
}

/* The instructions of a program, or of a recording that the device has of it. A device whose
 * launches return early orders the call after what it was given before; nobody waits for its end
 * here. */
static int issue_program(Rank *r, uint32_t program, char *error) {
    const PlanProgram *q = &r->run->plan->programs[program];
    const Device *d = r->run->device;
    Executor *e = r->executor;
    const Transport *t = r->run->transport;
    bool ordered = d->program_begin && !r->dump, replayed = false;
    int code = ordered ? d->program_begin(r->context, program, &replayed, error) : 0;
    if (!code && t->program) t->program(r->transport, program, replayed);
    for (uint32_t k = q->first_instr; k < q->first_instr + q->n_instr && !code && !replayed; k++) {
        code = issue_ordered(r, k, error);
        if (!code && e->memory) code = memory_check_after(e->memory, k, error);
    }
    if (code) return code;
    return ordered ? d->program_end(r->context, program, error) : rank_synchronize(r, error);
}

int executor_run(Rank *r, uint32_t program, char *error) {
    const Plan *p = r->run->plan;
    Executor *e = r->executor;
    int code =
        e->streams ? stream_test_run(e->streams, program, error) : issue_program(r, program, error);
    if (code) return code;
    uint64_t rows = comm_rows(p);
    for (uint64_t i = 0; i < rows; i++) e->issued[i] += e->in_call[program * rows + i];
    if (e->memory) code = memory_check_call_end(e->memory, program, error);
    return code;
}
