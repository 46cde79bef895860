/* The log (--log, one JSON object per line), the event file of --tensorboard (event_file.c) and the
 * summary on stdout; progress.c shows on stderr how the run goes. In: the numbers of each step,
 * evaluation and checkpoint. Out: lines.
 *
 * JSON is written by jansson. Inside a step its memory comes from a pool that is empty again after
 * each line, and the line is built in a buffer of fixed size.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "event_file.h"
#include "file_lock.h"
#include "metrics.h"
#include "progress.h"

enum { POOL_BYTES = 64 << 10, LINE_BYTES = 16 << 10 };

struct Metrics {
    RunFacts run;
    FILE *log;
    EventFile events; /* --tensorboard */
    double begun;     /* when the run began */
    Progress progress;
    double best_eval;
    bool goes_on; /* the log, with lines of an earlier run */
    uint64_t arena_bytes;
    int lost; /* code of the first line or event that could not be written */
    char why[ERROR_BYTES];
    char line[LINE_BYTES];
    char buffer[LINE_BYTES * 2];
};

static char pool[POOL_BYTES] __attribute__((aligned(16)));
static size_t pool_used;
static __thread bool pool_on;

static void *pool_malloc(size_t n) {
    size_t rounded = align_up(MAX(n, 1), 16);
    if (!pool_on || rounded > POOL_BYTES - pool_used) return malloc(n);
    void *at = pool + pool_used;
    pool_used += rounded;
    return at;
}

static void pool_free(void *at) {
    if ((char *)at < pool || (char *)at >= pool + POOL_BYTES) free(at);
}

/* Does the line tell of something that a run which goes on from a checkpoint will tell again? */
static bool comes_again(const RunSteps *steps, const char *line, size_t n) {
    json_t *o = json_loadb(line, n, 0, NULL);
    const char *what = json_string_value(json_object_get(o, "event"));
    int64_t step = json_integer_value(json_object_get(o, "step")), first = steps->first;
    bool again = !what || !strcmp(what, "end");
    if (!again && !strcmp(what, "step")) again = step >= first;
    if (!again && !strcmp(what, "eval")) again = step + steps->evaluation_due > first;
    if (!again && !strcmp(what, "checkpoint")) again = step > first;
    json_decref(o);
    return again;
}

/* The bytes of the log that stay: those up to the first line that comes again. -1: it is something
 * else. */
static int64_t kept_bytes(const RunSteps *steps, const char *path) {
    size_t n, at = 0;
    if (!steps->first) return 0;
    char *text = read_file(path, &n);
    if (!text) return 0;
    while (at < n) {
        const char *end = memchr(text + at, '\n', n - at);
        if (!end || comes_again(steps, text + at, (size_t)(end - text) - at)) break;
        at = (size_t)(end - text) + 1;
    }
    bool other = n && !at && memcmp(text, "{\"event\":", MIN(n, (size_t)9));
    free(text);
    return other ? -1 : (int64_t)at;
}

/* `-` is stdout, and the summary then goes to stderr. One run at a time writes to a file: once it
 * is locked it is emptied, or cut off where a run that continues from a checkpoint begins. */
static int open_log(Metrics *m, const char *path, char *error) {
    if (!strcmp(path, "-")) {
        m->log = stdout;
        return 0;
    }
    /* Without waiting for a reader of a FIFO: a run does not hang at its start. */
    int fd = open(path, O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
    const char *why = strerror(errno);
    if (fd < 0 && errno == ENXIO) why = "no program reads from it";
    bool ours = fd >= 0 && file_lock(fd) != FILE_BUSY;
    if (fd >= 0 && !ours) why = "another run writes to it";
    struct stat st;
    bool file = ours && !fstat(fd, &st) && S_ISREG(st.st_mode);
    int64_t kept = file ? kept_bytes(m->run.steps, path) : 0;
    bool ready = ours && kept >= 0 && !(file && ftruncate(fd, kept)) &&
                 !(file && lseek(fd, kept, SEEK_SET) < 0) &&
                 !fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    if (ours && !ready) why = kept < 0 ? "it is not a log that can be continued" : strerror(errno);
    m->goes_on = kept > 0;
    if (ready) m->log = fdopen(fd, "w");
    if (m->log) return 0;
    snprintf(error, ERROR_BYTES, "cannot write %s: %s", path, why);
    if (fd >= 0) close(fd);
    return EXIT_ENVIRONMENT;
}

/* Event files count steps that are done, of a step as of an evaluation. The curves of earlier files
 * end behind the step that this run goes on from, or before the first one; those of its weights
 * alone stay. */
static int open_events(Metrics *m, char *error) {
    const RunSteps *s = m->run.steps;
    int64_t step = s->evaluation_only ? -1 : s->first ? s->first + 1 : 0;
    return event_file_open(&m->events, m->run.options->tensorboard, step, error);
}

int metrics_open(const RunFacts *f, Metrics **out, char *error) {
    const RunOptions *o = f->options;
    Metrics *m = *out = calloc(1, sizeof *m);
    if (!m) return fail_with(error, EXIT_ENVIRONMENT, "no memory");
    json_set_alloc_funcs(pool_malloc, pool_free);
    json_object_seed(1);
    m->run = *f;
    m->best_eval = f->steps->first ? f->best_evaluation : NAN;
    progress_open(&m->progress, &m->run);
    if (f->launch->rank != 0) return 0;
    int code = o->log ? open_log(m, o->log, error) : 0;
    if (m->log) setvbuf(m->log, m->buffer, _IOFBF, sizeof m->buffer);
    if (!code && o->tensorboard) code = open_events(m, error);
    return code;
}

void metrics_close(Metrics *m) {
    if (!m) return;
    if (m->log && m->log != stdout) fclose(m->log);
    event_file_close(&m->events);
    free(m);
}

static json_t *json_number(double x) { return isfinite(x) ? json_real(x) : json_null(); }

static json_t *new_event(const char *name) {
    pool_on = true;
    json_t *o = json_object();
    json_object_set_new(o, "event", json_string(name));
    return o;
}

/* The program that read the log from a pipe has ended. That is for it to decide: the run goes on.
 */
static void lose_reader(Metrics *m) {
    const char *path = m->run.options->log;
    progress_end_bar(&m->progress);
    fprintf(stderr,
            "warning: the program that read the log from %s has ended; the run continues without a "
            "log\n",
            strcmp(path, "-") ? path : "standard output");
    __fpurge(m->log);
    if (m->log != stdout) fclose(m->log);
    m->log = NULL;
}

static void free_line(json_t *o) {
    json_decref(o);
    pool_on = false;
    pool_used = 0;
}

/* Writes the object, with the time, as a line and gives its memory back. */
static int write_line(Metrics *m, json_t *o, char *error) {
    json_object_set_new(o, "time", json_real(floor(1e3 * wall_time()) / 1e3));
    size_t n = json_dumpb(o, m->line, LINE_BYTES - 1, JSON_COMPACT | JSON_REAL_PRECISION(17));
    free_line(o);
    if (n >= LINE_BYTES) { /* names come from the plan, and may be of any length */
        return fail_with(error, EXIT_CORRUPT,
                         "%s: a line of %zu bytes: the metrics' names are too long",
                         m->run.options->log, n);
    }
    m->line[n++] = '\n';
    if (fwrite(m->line, 1, n, m->log) == n && fflush(m->log) == 0) return 0;
    if (errno == EPIPE) {
        lose_reader(m);
        return 0;
    }
    return fail_with(error, EXIT_ENVIRONMENT, "cannot write the log %s: %s", m->run.options->log,
                     strerror(errno));
}

static int keep_loss(Metrics *m, int code, const char *error) {
    if (code && !m->lost) {
        m->lost = code;
        snprintf(m->why, sizeof m->why, "%s", error);
    }
    return code;
}

int metrics_lost(const Metrics *m, const char **why) {
    *why = m->why;
    return m->lost;
}

int metrics_start(Metrics *m, uint64_t arena_bytes, char *error) {
    const Plan *p = m->run.plan;
    m->begun = monotonic_seconds();
    progress_start(&m->progress);
    m->arena_bytes = arena_bytes;
    if (!m->log) return 0;
    char fingerprint[32];
    snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, p->header->fingerprint);
    json_t *o = new_event(m->goes_on ? "resume" : "start");
    int64_t first = m->run.steps->first;
    if (first) json_object_set_new(o, "step", json_integer(first));
    json_object_set_new(o, "plan", json_string(fingerprint));
    json_object_set_new(o, "ranks", json_integer(m->run.launch->ranks));
    json_object_set_new(o, "device", json_string(m->run.device->name));
    json_object_set_new(o, "transport", json_string(m->run.transport->name));
    json_object_set_new(o, "parameters", json_integer(p->settings->parameters));
    json_object_set_new(
        o, "predicted_peak_bytes",
        json_integer((json_int_t)p->settings->workspace_bytes[m->run.device->kind]));
    json_object_set_new(o, "arena_bytes", json_integer((json_int_t)arena_bytes));
    if (p->settings->host_bytes)
        json_object_set_new(o, "host_bytes", json_integer((json_int_t)p->settings->host_bytes));
    json_object_set_new(o, "model_flops", json_number(m->progress.work));
    json_object_set_new(o, "check_ms", json_number(m->run.check_ms));
    if (m->run.accepted) json_object_set_new(o, "accepted", json_string(m->run.accepted));
    return write_line(m, o, error);
}

/* ---- what both kinds of log have; o: the line of --log, NULL: there is none */

static json_t *begin_both(Metrics *m, const char *name, int64_t step) {
    event_begin(&m->events);
    json_t *o = m->log ? new_event(name) : NULL;
    if (o) json_object_set_new(o, "step", json_integer(step));
    return o;
}

static void put_both(Metrics *m, json_t *o, const char *group, const char *name, double x) {
    event_scalar(&m->events, group, name, x);
    if (o) json_object_set_new(o, name, json_number(x));
}

static int write_both(Metrics *m, json_t *o, int64_t step, char *error) {
    int code = event_write(&m->events, step, error);
    if (o && code) free_line(o);
    if (o && !code) code = write_line(m, o, error);
    return keep_loss(m, code, error);
}

int metrics_step(Metrics *m, const StepNumbers *n, char *error) {
    progress_step(&m->progress, n);
    const Progress *p = &m->progress;
    double tokens = (double)p->tokens / n->seconds, work = p->work / n->seconds;
    json_t *o = begin_both(m, "step", n->step);
    put_both(m, o, "train", "loss", n->loss);
    for (int i = 0; i < n->n_term; i++) put_both(m, o, "train", n->term_name[i], n->term[i]);
    put_both(m, o, "train", "grad_norm", n->norm);
    put_both(m, o, "train", "lr", n->lr);
    event_scalar(&m->events, "train", *p->rate_unit == 't' ? "tokens_per_s" : "samples_per_s",
                 tokens);
    if (o) {
        json_object_set_new(o, "samples", json_integer(m->run.plan->settings->batch));
        json_object_set_new(o, "tokens", json_integer(p->tokens));
        json_object_set_new(o, "step_ms", json_number(n->seconds * 1e3));
        json_object_set_new(o, "tokens_per_s", json_number(tokens));
    }
    if (work > 0) put_both(m, o, "train", "model_flops_per_s", work);
    if (work > 0 && p->peak > 0) put_both(m, o, "train", "mfu", work / p->peak);
    if (n->loss_scale > 0) put_both(m, o, "train", "loss_scale", n->loss_scale);
    if (o && n->skipped) json_object_set_new(o, "skipped", json_true());
    return write_both(m, o, n->step + 1, error);
}

int metrics_eval(Metrics *m, int64_t step, int n, const char *const *name, const double *value,
                 char *error) {
    for (int i = 0; i < n; i++)
        if (!strcmp(name[i], "loss") && isfinite(value[i]) && !(m->best_eval <= value[i]))
            m->best_eval = value[i];
    progress_evaluation(&m->progress, step, n, name, value);
    json_t *o = begin_both(m, "eval", step);
    for (int i = 0; i < n; i++) put_both(m, o, "eval", name[i], value[i]);
    return write_both(m, o, step, error);
}

int metrics_checkpoint(Metrics *m, const CheckpointNumbers *n, char *error) {
    if (!m->log) return 0;
    json_t *o = new_event("checkpoint");
    json_object_set_new(o, "step", json_integer(n->step));
    json_object_set_new(o, "bytes", json_integer((json_int_t)n->bytes));
    json_object_set_new(o, "stall_ms", json_number(n->stalled * 1e3));
    json_object_set_new(o, "write_s", json_number(n->seconds));
    if (n->late) json_object_set_new(o, "late", json_true());
    if (!n->written) json_object_set_new(o, "failed", json_true());
    return keep_loss(m, write_line(m, o, error), error);
}

double metrics_best(const Metrics *m) { return m->best_eval; }

int metrics_end(Metrics *m, int64_t steps, uint64_t device_bytes, char *error) {
    if (!m->log) return 0;
    json_t *o = new_event("end");
    json_object_set_new(o, "steps", json_integer(steps));
    json_object_set_new(o, "seconds", json_number(monotonic_seconds() - m->begun));
    if (device_bytes)
        json_object_set_new(o, "device_bytes", json_integer((json_int_t)device_bytes));
    return write_line(m, o, error);
}

void metrics_end_bar(Metrics *m) { progress_end_bar(&m->progress); }

static void print_numbers(FILE *to, const Metrics *m) {
    const Progress *p = &m->progress;
    char best[32] = "-", loss[32] = "-", rate[32] = "-";
    if (p->n_metric) snprintf(best, sizeof best, "%.6g", m->best_eval);
    if (p->steps) snprintf(loss, sizeof loss, "%.6g", p->loss);
    if (p->seconds > 0) snprintf(rate, sizeof rate, "%.0f", progress_rate(p, (double)p->tokens));
    if (m->run.options->eval_only) {
        for (int i = 0; i < p->n_metric; i++)
            fprintf(to, "eval %-10.40s %.6g\n", p->metric[i], p->value[i]);
        return;
    }
    fprintf(to, "steps           %" PRId64 "\n", p->steps);
    if (p->skipped)
        fprintf(to, "skipped         %" PRId64 " of them, which were not finite or had no target\n",
                p->skipped);
    char history[HISTORY_BYTES];
    if (history_text(&p->history, history, sizeof history))
        fprintf(to, "loss            %s\n", history);
    fprintf(to, "last loss       %s\nbest eval loss  %s\n", loss, best);
    for (int i = 0; i < p->n_metric; i++)
        if (strcmp(p->metric[i], "loss"))
            fprintf(to, "eval %-10.40s %.6g\n", p->metric[i], p->value[i]);
    fprintf(to, "%-9s       %s\n", p->rate_unit, rate);
    if (p->seconds <= 0 || p->work <= 0) return;
    fprintf(to, "model FLOP/s    %.4g\n", progress_rate(p, p->work));
    if (p->peak > 0)
        fprintf(to, "MFU             %.1f %% of %.4g FLOP/s\n",
                100 * progress_rate(p, p->work) / p->peak, p->peak);
}

void metrics_summary(Metrics *m, const EndNumbers *n) {
    const RunFacts *run = &m->run;
    const PlanSettings *s = run->plan->settings;
    bool log = run->options->log && !strcmp(run->options->log, "-");
    FILE *to = log ? stderr : stdout;
    if (n->high_water)
        fprintf(stderr,
                "memory check: observed high-water mark %" PRIu64 ", predicted %" PRIu64 " bytes\n",
                n->high_water, s->arena_bytes);
    if (run->options->quiet) return;
    print_numbers(to, m);
    bool stages = plan_has_stages(run->plan);
    fprintf(to, "arena bytes     %" PRIu64 " predicted%s, %" PRIu64 " allocated %s\n",
            s->workspace_bytes[run->device->kind], stages ? " for the largest stage" : "",
            m->arena_bytes, stages ? "by rank 0" : "a rank");
    if (s->host_bytes)
        fprintf(to, "host bytes      %" PRIu64 " per rank, offloaded%s%s%s\n", s->host_bytes,
                s->host_path ? " to a file in " : "", plan_string(run->plan, s->host_path),
                s->host_pageable && run->device->host_alloc ? ", not pinned" : "");
    if (n->device_bytes)
        fprintf(to, "device bytes    %" PRIu64 " for context and libraries besides the arena%s\n",
                n->device_bytes, n->arenas == 1 ? "" : "s");
    if (run->transport->library_bytes)
        fprintf(to, "%s bytes      %" PRIu64 " of them\n", run->transport->name, n->library_bytes);
}
