/* --profile FILE: the time of each instruction of a plan, as a trace and as a table.
 *
 * A device whose launches return when their work is done (cpu) is timed by the host's clock; other
 * devices put a stamp on the instruction's stream before and after it, which are read when the call
 * is done. Waits for other streams come before the first stamp; the wait for other ranks inside a
 * collective counts as the collective's.
 *
 * The table adds up all calls of a program but the first, which touches memory for the first time:
 * by op, by unit and by stream, with the share of the machine's limits that they reach
 * (machine_limits.c; not for collectives and copies between device and host). It also says how long
 * each stage of a pipeline was idle, that is, waiting for other stages (in messages or in sums over
 * stages) while nothing else was under way. The trace has the latest calls of each rank (LATEST,
 * fewer in a large plan) in Chrome's format, which Perfetto opens: a process per rank, a thread per
 * stream. Each process of a run writes a file: rank 0 FILE, rank N FILE.N. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op.h"
#include "prepared.h"

enum { LATEST = 32, EVENTS = 1 << 18 };

typedef struct TimeSpan {
    double begin, end; /* seconds of the host's monotonic clock; begin 0: it was not issued */
} TimeSpan;

typedef struct LatestCall {
    uint32_t program;
    TimeSpan *span; /* by instruction of the program */
} LatestCall;

typedef struct InstrTotal {
    uint64_t n;
    double seconds;
} InstrTotal;

/* The begin or the end of a span. */
typedef struct SpanEnd {
    double time;
    int32_t busy, waits; /* spans that begin less those that end */
} SpanEnd;

/* Of the rank that took longest for it; without the first call of each program. */
typedef struct StageTotal {
    uint64_t calls, nanoseconds, idle;
    bool agreed;
} StageTotal;

struct Profile {
    Rank *rank;
    InstrTotal *total;      /* by instruction */
    uint64_t *calls;        /* by program */
    double *seconds, *idle; /* by program: of its calls, and of these waiting for other stages */
    SpanEnd *end;           /* [2 for each instruction of a program] */
    StageTotal *stage;
    LatestCall *latest;
    uint64_t n_latest, n_calls; /* places in `latest`, calls so far: the last ones are there */
    MachineLimits limits;       /* for the table, which rank 0 of the process prints */
    double begun;               /* the call under way */
    uint32_t base;              /* its first instruction with stamps, where the device has stamps */
};

int profile_open(Rank *r, Profile **out, char *error) {
    const Plan *plan = r->run->plan;
    if (!r->run->options->profile) return 0;
    if (r->run->test.mode == TEST_STREAMS)
        return fail_with(
            error, EXIT_USER,
            "--profile and FSDP_TEST_STREAMS exclude each other\nhelp: leave out one of them");
    Arena *a = r->memory;
    Profile *p = *out = arena_new_of(a, Profile);
    uint64_t most = 1;
    for (uint64_t i = 0; i < plan->n_programs; i++)
        most = MAX(most, (uint64_t)plan->programs[i].n_instr);
    *p = (Profile){.rank = r, .n_latest = MIN(MAX(EVENTS / most, 1), LATEST)};
    p->total = arena_array(a, InstrTotal, plan->n_instrs + 1);
    p->calls = arena_array(a, uint64_t, plan->n_programs + 1);
    p->seconds = arena_array(a, double, plan->n_programs + 1);
    p->idle = arena_array(a, double, plan->n_programs + 1);
    p->end = arena_array(a, SpanEnd, 2 * most);
    p->stage = arena_array(a, StageTotal, plan->n_programs + 1); /* no more than programs */
    p->latest = arena_array(a, LatestCall, p->n_latest);
    for (uint64_t i = 0; i < p->n_latest; i++) p->latest[i].span = arena_array(a, TimeSpan, most);
    if (r == &r->run->rank[0] && !r->run->trial) limits_measure(r, &p->limits);
    return 0;
}

/* ---- during a call */

static LatestCall *current_call(const Profile *p) { return &p->latest[p->n_calls % p->n_latest]; }

static TimeSpan *span_of(const Profile *p, uint32_t instr) {
    const LatestCall *c = current_call(p);
    return &c->span[instr - p->rank->run->plan->programs[c->program].first_instr];
}

void profile_begin(Profile *p, uint32_t program) {
    LatestCall *c = current_call(p);
    c->program = program;
    memset(c->span, 0, p->rank->run->plan->programs[program].n_instr * sizeof *c->span);
    p->base = UINT32_MAX;
    p->begun = monotonic_seconds();
}

int profile_mark(Profile *p, uint32_t instr, bool ends, char *error) {
    const Device *d = p->rank->run->device;
    if (!instruction_is_issued(&p->rank->run->plan->instrs[instr])) return 0;
    TimeSpan *span = span_of(p, instr);
    *(ends ? &span->end : &span->begin) = monotonic_seconds();
    if (!d->stamp) return 0;
    if (p->base == UINT32_MAX) p->base = instr;
    return d->stamp(p->rank->context, p->rank->run->plan->instrs[instr].stream, 2 * instr + ends,
                    error);
}

/* The span by the device's stamps; the call began when its first instruction did. */
static int read_stamps(const Profile *p, uint32_t instr, TimeSpan *span, char *error) {
    const Device *d = p->rank->run->device;
    float begin = 0, end = 0;
    int code = d->between(p->rank->context, 2 * p->base, 2 * instr, &begin, error);
    if (!code) code = d->between(p->rank->context, 2 * instr, 2 * instr + 1, &end, error);
    span->begin = p->begun + 1e-3 * (double)begin;
    span->end = span->begin + 1e-3 * (double)end;
    return code;
}

/* A message, or a sum over stages. */
static bool waits_for_stages(const Plan *p, const PlanInstr *in) {
    Mesh mesh = plan_mesh(p);
    AxisSet stages = mesh_stage_axes(&mesh), axes = (AxisSet)in->attr.axes;
    return op_info[in->op].effect == EFFECT_MESSAGE ||
           (op_info[in->op].effect == EFFECT_COMM && (axes & stages));
}

static int by_end(const void *a, const void *b) {
    const SpanEnd *x = a, *y = b;
    return (x->time > y->time) - (x->time < y->time);
}

/* Of the call that ended: how long it waited for other stages and did nothing else. */
static double idle_seconds(const Profile *p, const LatestCall *c) {
    const Plan *plan = p->rank->run->plan;
    const PlanProgram *q = &plan->programs[c->program];
    uint64_t n = 0;
    for (uint32_t i = 0; i < q->n_instr; i++) {
        const TimeSpan *span = &c->span[i];
        if (span->begin == 0) continue;
        int32_t waits = waits_for_stages(plan, &plan->instrs[q->first_instr + i]);
        p->end[n++] = (SpanEnd){span->begin, !waits, waits};
        p->end[n++] = (SpanEnd){span->end, -!waits, -waits};
    }
    qsort(p->end, n, sizeof *p->end, by_end);
    double idle = 0;
    int32_t busy = 0, waits = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (waits && !busy) idle += p->end[i].time - p->end[i - 1].time;
        busy += p->end[i].busy;
        waits += p->end[i].waits;
    }
    return idle;
}

int profile_end(Profile *p, char *error) {
    const Plan *plan = p->rank->run->plan;
    const LatestCall *c = current_call(p);
    const PlanProgram *q = &plan->programs[c->program];
    bool first = p->calls[c->program]++ == 0, second = p->calls[c->program] == 2;
    int code = p->rank->run->device->stamp ? rank_synchronize(p->rank, error) : 0;
    double ended = monotonic_seconds();
    for (uint32_t i = 0; i < q->n_instr && !code; i++) {
        TimeSpan *span = &c->span[i];
        uint32_t k = q->first_instr + i;
        if (span->begin == 0) continue;
        if (p->base != UINT32_MAX) code = read_stamps(p, k, span, error);
        if (second || first) p->total[k] = (InstrTotal){0};
        p->total[k].n++;
        p->total[k].seconds += span->end - span->begin;
    }
    if (second || first) p->seconds[c->program] = p->idle[c->program] = 0;
    p->seconds[c->program] += ended - p->begun;
    if (!code && plan_has_stages(plan)) p->idle[c->program] += idle_seconds(p, c);
    p->n_calls++;
    return code;
}

/* ---- the trace */

static const char *unit_name(const Plan *p, const PlanInstr *in) {
    const char *name = in->unit < 0 ? "none" : plan_string(p, p->units[in->unit].name);
    return *name ? name : "root";
}

/* false: no memory, or the file cannot be written. */
static bool put_event(FILE *f, json_t *event, bool *more) {
    bool good = event && fputs(*more ? ",\n" : "\n", f) >= 0 &&
                json_dumpf(event, f, JSON_COMPACT | JSON_REAL_PRECISION(15)) == 0;
    json_decref(event);
    *more = true;
    return good;
}

/* Names the rank, and the streams on which the plan has instructions. */
static bool name_streams(FILE *f, const Plan *p, int rank, bool *more) {
    char text[32];
    snprintf(text, sizeof text, "rank %d", rank);
    bool good = put_event(f,
                          json_pack("{s:s,s:s,s:i,s:{s:s}}", "ph", "M", "name", "process_name",
                                    "pid", rank, "args", "name", text),
                          more);
    for (int s = 0; s < STREAM_KINDS && good; s++)
        if (plan_uses_stream(p, s))
            good =
                put_event(f,
                          json_pack("{s:s,s:s,s:i,s:i,s:{s:s}}", "ph", "M", "name", "thread_name",
                                    "pid", rank, "tid", s, "args", "name", stream_name(s)),
                          more);
    return good;
}

static bool put_instruction(FILE *f, const Profile *p, uint64_t call, uint32_t k,
                            const TimeSpan *span, bool *more) {
    const Plan *plan = p->rank->run->plan;
    const PlanInstr *in = &plan->instrs[k];
    return put_event(
        f,
        json_pack("{s:s,s:s,s:i,s:i,s:f,s:f,s:{s:I,s:I,s:s,s:s,s:I,s:I,s:I}}", "ph", "X", "name",
                  op_info[in->op].name, "pid", (int)p->rank->rank, "tid", (int)in->stream, "ts",
                  span->begin * 1e6, "dur", (span->end - span->begin) * 1e6, "args", "instruction",
                  (json_int_t)k, "call", (json_int_t)call, "path", plan_string(plan, in->path),
                  "unit", unit_name(plan, in), "line", (json_int_t)in->line, "flops",
                  (json_int_t)in->flops, "bytes", (json_int_t)in->bytes),
        more);
}

static bool trace_rank(FILE *f, const Profile *p, bool *more) {
    const Plan *plan = p->rank->run->plan;
    bool good = name_streams(f, plan, p->rank->rank, more);
    uint64_t first = p->n_calls > p->n_latest ? p->n_calls - p->n_latest : 0;
    for (uint64_t call = first; call < p->n_calls; call++) {
        const LatestCall *c = &p->latest[call % p->n_latest];
        const PlanProgram *q = &plan->programs[c->program];
        for (uint32_t i = 0; i < q->n_instr && good; i++)
            if (c->span[i].begin != 0)
                good = put_instruction(f, p, call, q->first_instr + i, &c->span[i], more);
    }
    return good;
}

/* ---- the table */

typedef struct ProfileRow {
    const char *name;
    uint64_t n;
    double seconds, flops, bytes;
    double least;  /* seconds at the machine's limits */
    bool no_limit; /* of some instruction it is not known */
} ProfileRow;

static int by_time(const void *a, const void *b) {
    const ProfileRow *x = a, *y = b;
    if (x->seconds != y->seconds) return x->seconds < y->seconds ? 1 : -1;
    return strcmp(x->name, y->name);
}

static const char *op_of(const Plan *p, const PlanInstr *in) {
    (void)p;
    return op_info[in->op].name;
}
static const char *stream_of(const Plan *p, const PlanInstr *in) {
    (void)p;
    return stream_name(in->stream);
}

/* One row for all instructions with the same name, the slowest first. row: space for all
 * instructions. */
static uint64_t collect_rows(const Profile *p, const char *(*name)(const Plan *, const PlanInstr *),
                             ProfileRow *row) {
    const Plan *plan = p->rank->run->plan;
    uint64_t n = 0;
    for (uint64_t k = 0; k < plan->n_instrs; k++) {
        const InstrTotal *t = &p->total[k];
        if (!t->n) continue;
        uint64_t i = 0;
        const char *its = name(plan, &plan->instrs[k]);
        while (i < n && strcmp(row[i].name, its) != 0) i++;
        if (i == n) row[n++] = (ProfileRow){.name = its};
        row[i].n += t->n;
        row[i].seconds += t->seconds;
        row[i].flops += (double)plan->instrs[k].flops * (double)t->n;
        row[i].bytes += (double)plan->instrs[k].bytes * (double)t->n;
        const KernelCall *call = &p->rank->executor->prepared[k].kernel;
        double least = limits_seconds(&p->limits, &plan->instrs[k], call);
        row[i].least += least * (double)t->n;
        row[i].no_limit |= least == 0;
    }
    qsort(row, n, sizeof *row, by_time);
    return n;
}

/* In billions per second, or "-" where the plan predicts no work. */
static void format_rate(char *out, size_t size, double n, double seconds) {
    if (n > 0 && seconds > 0)
        snprintf(out, size, "%.2f", n / seconds * 1e-9);
    else
        snprintf(out, size, "-");
}

static void print_rows(FILE *out, const char *title, const ProfileRow *row, uint64_t n) {
    double all = 0;
    for (uint64_t i = 0; i < n; i++) all += row[i].seconds;
    fprintf(out, "\n%-28s %10s %12s %6s %12s %9s %9s %8s\n", title, "times", "total ms", "share",
            "mean us", "GFLOP/s", "GB/s", "of limit");
    for (uint64_t i = 0; i < n; i++) {
        char flops[24], bytes[24], limit[24] = "-";
        format_rate(flops, sizeof flops, row[i].flops, row[i].seconds);
        format_rate(bytes, sizeof bytes, row[i].bytes, row[i].seconds);
        if (!row[i].no_limit && row[i].seconds > 0)
            snprintf(limit, sizeof limit, "%.1f%%", 100 * row[i].least / row[i].seconds);
        fprintf(out, "%-28s %10" PRIu64 " %12.3f %5.1f%% %12.1f %9s %9s %8s\n", row[i].name,
                row[i].n, row[i].seconds * 1e3, all > 0 ? 100 * row[i].seconds / all : 0,
                row[i].seconds * 1e6 / (double)row[i].n, flops, bytes, limit);
    }
}

/* ---- stages */

int profile_compare_stages(Rank *r) {
    const Plan *plan = r->run->plan;
    Profile *p = r->executor->profile;
    int code = 0;
    if (!p || !plan_has_stages(plan)) return 0;
    for (uint64_t i = 0; i < plan->n_programs; i++) {
        StageTotal *own = &p->stage[plan->programs[i].stage];
        own->calls += p->calls[i] - (p->calls[i] > 1);
        own->nanoseconds += (uint64_t)(1e9 * p->seconds[i]);
        own->idle += (uint64_t)(1e9 * p->idle[i]);
    }
    for (uint64_t i = 0; i < plan->n_programs && !code; i++) {
        StageTotal *most = &p->stage[plan->programs[i].stage];
        if (most->agreed) continue;
        most->agreed = true;
        code = rank_agree(r, most->calls, &most->calls);
        if (!code) code = rank_agree(r, most->nanoseconds, &most->nanoseconds);
        if (!code) code = rank_agree(r, most->idle, &most->idle);
    }
    return code;
}

static void print_stages(const Profile *p, FILE *out) {
    if (!plan_has_stages(p->rank->run->plan)) return;
    fprintf(out, "\n%-28s %10s %12s %6s %12s\n", "stage", "calls", "total ms", "idle", "idle ms");
    for (uint64_t i = 0; i < p->rank->run->plan->n_programs; i++) {
        const StageTotal *s = &p->stage[i];
        if (s->calls)
            fprintf(out, "%-28" PRIu64 " %10" PRIu64 " %12.3f %5.1f%% %12.3f\n", i, s->calls,
                    1e-6 * (double)s->nanoseconds,
                    s->nanoseconds ? 100 * (double)s->idle / (double)s->nanoseconds : 0,
                    1e-6 * (double)s->idle);
    }
}

static void print_limits(const MachineLimits *l, FILE *out) {
    fprintf(out, "limits of this machine, measured before step 0:");
    for (int dtype = 0; dtype < DT_COUNT; dtype++)
        if (l->product[dtype] > 0)
            fprintf(out, " products in %s %.1f GFLOP/s,", dtype_name(dtype),
                    1e-9 * l->product[dtype]);
    fprintf(out, " memory %.1f GB/s\n", 1e-9 * l->memory);
}

static void print_table(const Profile *p, FILE *out) {
    ProfileRow *row = arena_array(p->rank->memory, ProfileRow, p->rank->run->plan->n_instrs + 1);
    fprintf(out, "profile of rank %d, without the first call of each program\n", p->rank->rank);
    print_limits(&p->limits, out);
    print_rows(out, "op", row, collect_rows(p, op_of, row));
    print_rows(out, "unit", row, collect_rows(p, unit_name, row));
    print_rows(out, "stream", row, collect_rows(p, stream_of, row));
    print_stages(p, out);
}

int profile_write(const Run *run, FILE *out, char *error) {
    char path[4096];
    int32_t rank = run->rank[0].rank;
    snprintf(path, sizeof path, rank ? "%s.%d" : "%s", run->options->profile, rank);
    FILE *f = fopen(path, "we");
    bool more = false, good = f && fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[", f) >= 0;
    for (int32_t i = 0; i < run->n_rank && good; i++)
        good = trace_rank(f, run->rank[i].executor->profile, &more);
    good = good && fputs("\n]}\n", f) >= 0;
    if (f && fclose(f)) good = false;
    if (!good)
        return fail_with(error, EXIT_ENVIRONMENT, "--profile %.300s: %s", path, strerror(errno));
    if (out) print_table(run->rank[0].executor->profile, out);
    return 0;
}
