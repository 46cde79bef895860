/* What was issued and what has finished: the answer to "where does this rank stand?", at any time,
 * also while recorded programs run that issue nothing through us.
 *
 * Every collective counts up its communicator's counter on the device when it has finished
 * (count.cu). The host counts what it issued: one by one, or, when a recording is replayed, as
 * many as the plan has in that program. The first unfinished collective of a communicator is number
 * `finished`; which instruction that is follows from the calls of programs so far, of which the
 * last RUNS groups of equal ones are kept, and from the order of the collectives in a program.
 * Labels are learned when a program is issued directly, which happens before it is recorded.
 *
 * The device also counts the program calls that it begins: where no collective is due for minutes
 * (many micro-batches are added up before the first reduction) this is the only sign of its work.
 *
 * The world's thread reads while the rank's thread appends. It may see a group that is being
 * overwritten when the host is RUNS groups ahead of the device; then the label is wrong, nothing
 * else.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"

static bool is_logged(const PlanInstr *in) { return plan_is_collective(in) || plan_is_message(in); }

/* Sorts the collectives and messages of each program by communicator. */
static bool list_entries(const Context *c, Log *l, const Plan *p) {
    uint64_t lists = p->n_programs * l->rows, n = 0;
    for (uint64_t k = 0; k < p->n_instrs; k++) n += is_logged(&p->instrs[k]);
    l->first_entry = calloc(lists + 1, sizeof *l->first_entry);
    l->entry = calloc(n + 1, sizeof *l->entry);
    if (!l->first_entry || !l->entry) return false;
    uint32_t at = 0;
    for (uint64_t i = 0; i < p->n_programs; i++) {
        const PlanProgram *q = &p->programs[i];
        for (uint32_t r = 0; r < l->rows; r++) {
            l->first_entry[i * l->rows + r] = at;
            for (uint32_t k = q->first_instr; k < q->first_instr + q->n_instr; k++)
                if (is_logged(&p->instrs[k]) && nccl_row(c, &p->instrs[k]) == r)
                    l->entry[at++].instr = k;
        }
    }
    l->first_entry[lists] = at;
    return true;
}

int log_open(Context *c, char *error) {
    Log *l = &c->log;
    const Plan *p = c->o.plan;
    l->rows = c->rows;
    l->n_programs = (uint32_t)p->n_programs;
    bool enough = list_entries(c, l, p);
    l->issued = calloc(l->rows, sizeof *l->issued);
    for (int i = 0; i < RUNS; i++) {
        l->run[i].first = calloc(l->rows, sizeof *l->run[i].first);
        enough = enough && l->run[i].first;
    }
    if (!enough || !l->issued)
        return fail_with(error, EXIT_ENVIRONMENT, "out of memory for the transport");
    size_t bytes = (l->rows + 1) * sizeof *l->shown;
    cudaError_t e = cudaHostAlloc((void **)&l->shown, bytes, cudaHostAllocMapped);
    if (!e) memset(l->shown, 0, bytes);
    if (!e) e = cudaHostGetDevicePointer((void **)&l->shown_on_device, l->shown, 0);
    if (!e) e = cudaMalloc((void **)&l->count, bytes);
    if (!e) e = cudaMemset(l->count, 0, bytes);
    /* the streams that count do not wait for it by themselves */
    if (!e) e = cudaDeviceSynchronize();
    return cuda_result(e, "transport nccl: counters on the GPU", error);
}

void log_close(Context *c) {
    Log *l = &c->log;
    if (l->count) cudaFree(l->count);
    if (l->shown) cudaFreeHost(l->shown);
    for (int i = 0; i < RUNS; i++) free(l->run[i].first);
    free(l->issued);
    free(l->first_entry);
    free(l->entry);
}

/* How many collectives of a row one call of the program has. */
static uint32_t per_call(const Log *l, uint32_t program, uint32_t row) {
    const uint32_t *first = &l->first_entry[(uint64_t)program * l->rows + row];
    return first[1] - first[0];
}

static LogEntry *entry_of(Log *l, uint32_t program, uint32_t row, uint64_t ordinal) {
    return &l->entry[l->first_entry[(uint64_t)program * l->rows + row] + ordinal];
}

/* On the stream that programs begin on; a recording has it too. A failure here also makes the
 * program's instructions fail, and they report it. */
static void count_begin(Context *c) {
    Log *l = &c->log;
    cudaSetDevice(c->device);
    nccl_count_up(c->o.device->native_stream(c->o.context, STREAM_COMPUTE), &l->count[l->rows],
                  &l->shown_on_device[l->rows]);
}

void log_program(Context *c, uint32_t program, bool replayed) {
    Log *l = &c->log;
    uint64_t runs = atomic_load(&l->runs);
    if (program >= l->n_programs) return;
    if (!replayed) count_begin(c);
    if (runs == 0 || atomic_load(&l->run[(runs - 1) % RUNS].program) != program) {
        LogRun *run = &l->run[runs % RUNS];
        atomic_store(&run->program, program);
        for (uint32_t r = 0; r < l->rows; r++)
            atomic_store(&run->first[r], atomic_load(&l->issued[r]));
        atomic_store(&l->runs, runs + 1);
    }
    for (uint32_t r = 0; r < l->rows && replayed; r++)
        atomic_fetch_add(&l->issued[r], per_call(l, program, r));
}

int log_issue(Log *l, uint32_t row, const Collective *call, bool *known, char *error) {
    uint64_t number = atomic_load(&l->issued[row]), runs = atomic_load(&l->runs);
    *known = false;
    if (call->purpose == COMM_CONTROL) {
        atomic_store(&l->control, collective_label(call));
        atomic_store(&l->issued[row], number + 1);
        return 0;
    }
    const LogRun *run = &l->run[(runs + RUNS - 1) % RUNS];
    uint32_t program = atomic_load(&run->program);
    uint32_t n = runs ? per_call(l, program, row) : 0;
    if (n == 0 || call->sequence != number)
        return fail_with(
            error, EXIT_CORRUPT, "%.200s: collective number %llu of its communicator, not %llu",
            collective_label(call), (unsigned long long)call->sequence, (unsigned long long)number);
    LogEntry *e = entry_of(l, program, row, (number - atomic_load(&run->first[row])) % n);
    *known = atomic_load(&e->labelled);
    if (!*known) {
        snprintf(e->label, sizeof e->label, "%s", call->label ? call->label : "a collective");
        atomic_store(&e->labelled, true);
    }
    atomic_store(&l->issued[row], number + 1);
    return 0;
}

int log_finish(Context *c, uint32_t row, cudaStream_t stream, const char *label, char *error) {
    cudaError_t e = nccl_count_up(stream, &c->log.count[row], &c->log.shown_on_device[row]);
    if (!e) return 0;
    return fail_with(error, EXIT_ENVIRONMENT, "%.200s: counting on the GPU: %s (%s)", label,
                     cudaGetErrorString(e), cudaGetErrorName(e));
}

typedef struct LogPlace { /* of a collective in what was issued; smaller is earlier */
    uint64_t run, call;
    uint32_t instr;
    const LogEntry *entry;
} LogPlace;

static bool earlier(const LogPlace *a, const LogPlace *b) {
    if (a->run != b->run) return a->run < b->run;
    if (a->call != b->call) return a->call < b->call;
    return a->instr < b->instr;
}

/* Where collective `number` of a communicator stands in the programs' calls. */
static bool find_place(Log *l, uint32_t row, uint64_t number, LogPlace *out) {
    uint64_t runs = atomic_load(&l->runs);
    for (uint64_t i = 0; i < MIN(runs, (uint64_t)RUNS); i++) {
        const LogRun *run = &l->run[(runs - 1 - i) % RUNS];
        uint64_t first = atomic_load(&run->first[row]);
        uint32_t program = atomic_load(&run->program);
        uint32_t n = per_call(l, program, row);
        if (first > number || n == 0) continue;
        LogEntry *e = entry_of(l, program, row, (number - first) % n);
        *out = (LogPlace){runs - 1 - i, (number - first) / n, e->instr, e};
        return true;
    }
    return false;
}

static void tell_opening(const Log *l, const char *what, RankState *out) {
    out->waits = true;
    out->axes = AXES_WORLD;
    out->purpose = COMM_CONTROL;
    out->sequence = out->finished = atomic_load(&l->opened);
    snprintf(out->label, sizeof out->label, "%s", what);
}

void log_state(void *user, RankState *out) {
    Context *c = user;
    Log *l = &c->log;
    *out = (RankState){.axes = AXES_WORLD, .purpose = COMM_CONTROL};
    rank_state_signs(out, c->o.pulse);
    const char *opening = atomic_load(&l->opening);
    if (opening) {
        tell_opening(l, opening, out);
        return;
    }
    LogPlace first = {.run = UINT64_MAX};
    out->finished = atomic_load(&l->opened) + *(volatile uint64_t *)&l->shown[l->rows];
    for (uint32_t r = 0; r < l->rows; r++) {
        uint64_t issued = atomic_load(&l->issued[r]), finished = *(volatile uint64_t *)&l->shown[r];
        out->finished += finished;
        if (finished >= issued) continue;
        LogPlace at = {.run = UINT64_MAX - 1};
        bool found = c->row[r].purpose != COMM_CONTROL && find_place(l, r, finished, &at);
        if (!earlier(&at, &first)) continue;
        first = at;
        out->waits = true;
        out->axes = c->row[r].axes;
        out->purpose = c->row[r].purpose;
        out->sequence = finished;
        const char *control = atomic_load(&l->control);
        const char *label = control && c->row[r].purpose == COMM_CONTROL ? control : "a collective";
        if (found && atomic_load(&at.entry->labelled)) label = at.entry->label;
        snprintf(out->label, sizeof out->label, "%s", label);
    }
}
