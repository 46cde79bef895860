/* Traces of fsdp-run --profile: which plan each is of, and what each instruction takes.
 *
 * An instruction's time is the median of its calls on all ranks, without the first call of a run.
 * Of calls that are quicker, steps are not made: the tenth part of them sums up to a tenth less
 * than a step takes. A collective waits for its last rank, so that of a call the shortest time of
 * any rank counts.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"

#define MOST_MICROSECONDS 1e12 /* of an instruction */

typedef struct Event {
    uint32_t instr, run, call;
    int64_t rank;
    double seconds;
    int op;
    uint64_t bytes, flops;
} Event;

typedef VEC(Event) Events;

typedef struct MeasureTrace {
    const char *file;
    Events events;
    MeasureVariant variant;
} Trace;

static bool fault(Measured *m, const char *file, const char *help, const char *message) {
    return diag_report(m->diags, E_trace, (Span){0}, help, "%s%s%s", file, *file ? ": " : "",
                       message);
}

/* ---- one file */

static int64_t number_at(const json_t *object, const char *key) {
    const json_t *j = json_object_get(object, key);
    return json_is_integer(j) ? json_integer_value(j) : -1;
}

/* false: it is not what fsdp-run writes. */
static bool read_event(Measured *m, Trace *t, const json_t *j) {
    const json_t *args = json_object_get(j, "args"), *took = json_object_get(j, "dur");
    const char *name = json_string_value(json_object_get(j, "name"));
    int64_t instr = number_at(args, "instruction"), call = number_at(args, "call");
    int64_t rank = number_at(j, "pid"), bytes = number_at(args, "bytes");
    int64_t flops = number_at(args, "flops");
    if (!name || !json_is_number(took) || MIN(MIN(instr, call), MIN(rank, MIN(bytes, flops))) < 0 ||
        MAX(MAX(instr, call), rank) > INT32_MAX || json_number_value(took) < 0 ||
        json_number_value(took) > MOST_MICROSECONDS)
        return false;
    Event e = {.instr = (uint32_t)instr,
               .call = (uint32_t)call,
               .rank = rank,
               .seconds = json_number_value(took) * 1e-6,
               .op = op_by_name(name),
               .bytes = (uint64_t)bytes,
               .flops = (uint64_t)flops};
    vec_push(m->arena, &t->events, e);
    return true;
}

static bool read_events(Measured *m, Trace *t, const json_t *list) {
    const json_t *item;
    size_t i;
    json_array_foreach(list, i, item) {
        const char *kind = json_string_value(json_object_get(item, "ph"));
        if (kind && !strcmp(kind, "X") && !read_event(m, t, item))
            return fault(
                m, t->file, NULL,
                arena_printf(m->arena, "traceEvents[%zu] is not an instruction of a plan", i));
    }
    if (t->events.n) return true;
    return fault(m, t->file, "fsdp-run --profile FILE writes traces",
                 "the trace has no instructions");
}

bool measure_read_text(Measured *m, const char *file, const char *text, size_t n) {
    json_error_t error;
    Trace *t = arena_new_of(m->arena, Trace);
    t->file = file;
    json_t *all = json_loadb(text, n, 0, &error);
    bool good = all && read_events(m, t, json_object_get(all, "traceEvents"));
    if (!all)
        fault(m, file, "the run may have been interrupted while it wrote the trace",
              arena_printf(m->arena, "not JSON in line %d: %s", error.line, error.text));
    json_decref(all);
    for (uint32_t k = 0; k < t->events.n; k++) m->ranks = MAX(m->ranks, t->events.at[k].rank + 1);
    if (good && m->ranks > MEASURE_RANKS)
        return fault(m, file, NULL,
                     arena_printf(m->arena, "traces of more than %d ranks are not supported",
                                  MEASURE_RANKS));
    if (good) vec_push(m->arena, &m->traces, t);
    return good;
}

/* ---- of which plan */

static bool is_trace_of(const Trace *t, const Plan *p) {
    for (uint32_t i = 0; i < t->events.n; i++) {
        const Event *e = &t->events.at[i];
        if (e->instr >= p->n_instrs) return false;
        const PlanInstr *in = &p->instrs[e->instr];
        if (e->op != in->op || e->bytes != in->bytes || e->flops != in->flops) return false;
    }
    return true;
}

static bool find_variant(Measured *m, Trace *t) {
    for (int v = 0; v < MEASURE_VARIANTS; v++) {
        t->variant = (MeasureVariant)v;
        if (is_trace_of(t, &m->plan[v])) return true;
    }
    return fault(m, t->file,
                 arena_printf(m->arena,
                              "make the plans with this fsdpc: fsdpc machine --plan -n %lld -o "
                              "FOLDER, then fsdp-run --profile TRACE FOLDER/f32.bin",
                              (long long)m->ranks),
                 arena_printf(m->arena, "this is not a trace of a measuring plan for %lld ranks",
                              (long long)m->ranks));
}

bool measure_open_plans(Measured *m) {
    for (int v = 0; v < MEASURE_VARIANTS; v++) {
        char message[ERROR_BYTES];
        Buf bytes = {0};
        if (!measure_plan(m->diags, (MeasureVariant)v, m->ranks, &bytes)) return false;
        void *copy = arena_copy(m->arena, bytes.at, bytes.n);
        if (plan_read(&m->plan[v], copy, bytes.n, message, sizeof message))
            BUG("the measuring plan cannot be read: %s", message);
        buf_free(&bytes);
    }
    return true;
}

/* ---- what instructions take */

static int by_call(const void *a, const void *b) {
    const Event *x = a, *y = b;
    if (x->instr != y->instr) return x->instr < y->instr ? -1 : 1;
    if (x->run != y->run) return x->run < y->run ? -1 : 1;
    if (x->call != y->call) return x->call < y->call ? -1 : 1;
    return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

/* Of the n events of one instruction, in the order of by_call. */
static double instruction_seconds(Measured *m, const PlanInstr *in, const Event *e, uint32_t n) {
    double *seconds = arena_array(m->arena, double, n);
    bool together = op_info[in->op].effect == EFFECT_COMM;
    uint32_t counted = 0, first = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (i && e[i].run != e[i - 1].run) first = i;
        bool later = e[i].call != e[first].call;
        if (later && !(together && e[i].call == e[i - 1].call)) seconds[counted++] = e[i].seconds;
    }
    if (!counted) seconds[counted++] = e[0].seconds; /* one call only */
    return measure_median(seconds, counted);
}

static void add_points(Measured *m, MeasureVariant v, Events *events) {
    qsort(events->at, events->n, sizeof *events->at, by_call);
    for (uint32_t i = 0, n; i < events->n; i += n) {
        uint32_t instr = events->at[i].instr;
        for (n = 1; i + n < events->n && events->at[i + n].instr == instr; n++) continue;
        MeasurePoint point = {.variant = v, .instr = instr};
        point.seconds = instruction_seconds(m, &m->plan[v].instrs[instr], &events->at[i], n);
        vec_push(m->arena, &m->points, point);
    }
}

/* Traces of one run have other ranks; where a rank comes again, another run begins. */
static bool collect_variant(Measured *m, MeasureVariant v) {
    uint32_t *runs = arena_array(m->arena, uint32_t, m->ranks);
    Events all = {0};
    for (uint32_t i = 0; i < m->traces.n; i++) {
        const Trace *trace = m->traces.at[i];
        if (trace->variant != v) continue;
        uint32_t *run = arena_array(m->arena, uint32_t, m->ranks);
        memcpy(run, runs, sizeof *run * (size_t)m->ranks);
        for (uint32_t k = 0; k < trace->events.n; k++) {
            Event e = trace->events.at[k];
            e.run = run[e.rank];
            runs[e.rank] = e.run + 1;
            vec_push(m->arena, &all, e);
        }
    }
    m->seen[v] = all.n > 0;
    for (int64_t r = 0; r < m->ranks && all.n; r++)
        if (!runs[r])
            return fault(m, "", "give all files that the run wrote: TRACE TRACE.1 TRACE.2 ..",
                         arena_printf(m->arena, "no trace of %s.bin has rank %lld of %lld",
                                      measure_names[v], (long long)r, (long long)m->ranks));
    if (all.n) add_points(m, v, &all);
    return true;
}

bool measure_find_points(Measured *m) {
    for (uint32_t i = 0; i < m->traces.n; i++)
        if (!find_variant(m, m->traces.at[i])) return false;
    for (int v = 0; v < MEASURE_VARIANTS; v++)
        if (!collect_variant(m, (MeasureVariant)v)) return false;
    return true;
}

bool measure_read(Measured *m, const char *const *files, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        size_t size;
        char *text = read_file(files[i], &size);
        if (!text) fail_environment("cannot read %s: %s", files[i], strerror(errno));
        bool good = measure_read_text(m, files[i], text, size);
        free(text);
        if (!good) return false;
    }
    return measure_open_plans(m) && measure_find_points(m);
}

/* ---- what steps of a run take, by its log ---- */

static int by_size(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

double measure_median(double *at, uint32_t n) {
    qsort(at, n, sizeof *at, by_size);
    return n % 2 ? at[n / 2] : (at[n / 2 - 1] + at[n / 2]) / 2;
}

/* The first step touches memory for the first time. */
double measure_step_seconds(Arena *a, const char *log) {
    VEC(double) seconds = {0};
    for (const char *end; (end = strchr(log, '\n')); log = end + 1) {
        json_t *j = json_loadb(log, (size_t)(end - log), 0, NULL);
        const json_t *took = json_object_get(j, "step_ms");
        bool later = json_integer_value(json_object_get(j, "step")) > 0;
        if (json_is_number(took) && later) vec_push(a, &seconds, json_number_value(took) / 1e3);
        json_decref(j);
    }
    return seconds.n ? measure_median(seconds.at, seconds.n) : 0;
}
