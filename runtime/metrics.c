/* What a run tells: the log (--log, one JSON object a line), progress on stderr (a bar on a
 * terminal, a line every few seconds elsewhere), the summary on stdout.
 *
 * JSON is written by jansson; inside a step its memory comes from a pool that is empty again after
 * each line, and the line is built in a buffer of fixed size.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "runtime.h"

enum { POOL_BYTES = 64 << 10, LINE_BYTES = 16 << 10, BAR_WIDTH = 30 };

/* Seconds between two changes of the bar, between two lines. */
static const double BAR_PAUSE = 0.1, LINE_PAUSE = 2.0;

struct Metrics {
    Run *run;
    FILE *log;
    bool terminal, quiet;
    atomic_bool bar; /* is on the terminal; also asked when rank 0 does not end. Orders nothing. */
    double begun, shown, shown_eval; /* when the run began; when progress was last shown */
    double seconds;                  /* in steps */
    int64_t steps;
    double loss, eval_loss, best_eval;
    bool evaluated;
    uint64_t arena_bytes;
    int64_t tokens;
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

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int64_t tokens_per_step(const Plan *p) {
    const PlanSettings *s = p->settings;
    if (s->length > 0) return product(s->batch, s->length);
    int64_t most = 1; /* npy: the longest row of ids */
    for (uint64_t i = 0; i < p->n_fields; i++) {
        const Type *t = &p->fields[i].type;
        bool ids = t->dtype == DT_I32 || t->dtype == DT_I64 || t->dtype == DT_U8;
        if (ids && t->dim[0] > 0) most = MAX(most, type_elements(t) / t->dim[0]);
    }
    return product(s->batch, most);
}

int metrics_open(Run *run, char *error) {
    Metrics *m = run->metrics = calloc(1, sizeof *m);
    if (!m) {
        snprintf(error, ERROR_BYTES, "no memory");
        return EXIT_ENVIRONMENT;
    }
    json_set_alloc_funcs(pool_malloc, pool_free);
    json_object_seed(1);
    m->run = run;
    m->quiet = run->options->quiet;
    m->terminal = isatty(STDERR_FILENO);
    m->loss = m->eval_loss = m->best_eval = NAN;
    m->tokens = tokens_per_step(run->plan);
    if (!run->options->log || run->launch.rank != 0) return 0;
    m->log = fopen(run->options->log, "we");
    if (!m->log) {
        snprintf(error, ERROR_BYTES, "cannot write %s: %s", run->options->log, strerror(errno));
        return EXIT_ENVIRONMENT;
    }
    setvbuf(m->log, m->buffer, _IOFBF, sizeof m->buffer);
    return 0;
}

void metrics_close(Metrics *m) {
    if (!m) return;
    if (m->log) fclose(m->log);
    free(m);
}

static json_t *number(double x) { return isfinite(x) ? json_real(x) : json_null(); }

static json_t *event(const char *name) {
    pool_on = true;
    json_t *o = json_object();
    json_object_set_new(o, "event", json_string(name));
    return o;
}

/* Writes the object as a line and gives its memory back. */
static int write_line(Metrics *m, json_t *o, char *error) {
    size_t n = json_dumpb(o, m->line, LINE_BYTES - 1, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(o);
    pool_on = false;
    pool_used = 0;
    if (n >= LINE_BYTES) { /* names come from the plan, and may be of any length */
        snprintf(error, ERROR_BYTES, "%s: a line of %zu bytes: the metrics' names are too long",
                 m->run->options->log, n);
        return EXIT_CORRUPT;
    }
    m->line[n++] = '\n';
    if (fwrite(m->line, 1, n, m->log) == n && fflush(m->log) == 0) return 0;
    snprintf(error, ERROR_BYTES, "cannot write %s: %s", m->run->options->log, strerror(errno));
    return EXIT_ENVIRONMENT;
}

int metrics_start(Metrics *m, uint64_t arena_bytes, char *error) {
    const Plan *p = m->run->plan;
    m->begun = m->shown = now();
    m->arena_bytes = arena_bytes;
    if (!m->log) return 0;
    char fingerprint[32];
    snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, p->header->fingerprint);
    json_t *o = event("start");
    json_object_set_new(o, "plan", json_string(fingerprint));
    json_object_set_new(o, "ranks", json_integer(m->run->launch.ranks));
    json_object_set_new(o, "device", json_string(m->run->device->name));
    json_object_set_new(o, "transport", json_string(m->run->transport->name));
    json_object_set_new(o, "parameters", json_integer(p->settings->parameters));
    json_object_set_new(
        o, "predicted_peak_bytes",
        json_integer((json_int_t)p->settings->workspace_bytes[m->run->device->kind]));
    json_object_set_new(o, "arena_bytes", json_integer((json_int_t)arena_bytes));
    return write_line(m, o, error);
}

static void show_progress(Metrics *m, const StepNumbers *n, double at) {
    int64_t steps = m->run->steps, done = n->step + 1;
    double rate = m->seconds > 0 ? (double)(m->steps * m->tokens) / m->seconds : 0;
    char eval[48] = "";
    if (m->evaluated) snprintf(eval, sizeof eval, "  eval loss %.4f", m->eval_loss);
    if (!m->terminal) {
        fprintf(stderr, "step %" PRId64 "/%" PRId64 "  loss %.4f%s  %.0f tokens/s\n", done, steps,
                n->loss, eval, rate);
        m->shown = at;
        return;
    }
    char bar[BAR_WIDTH + 1];
    int filled = (int)(done * BAR_WIDTH / steps);
    memset(bar, ' ', BAR_WIDTH);
    memset(bar, '=', (size_t)filled);
    if (filled < BAR_WIDTH) bar[filled] = '>';
    bar[BAR_WIDTH] = 0;
    int64_t left = (int64_t)((double)(steps - done) * m->seconds / (double)m->steps);
    fprintf(stderr,
            "\r[%s] %" PRId64 "/%" PRId64 "  loss %.4f%s  %.0f tokens/s  %" PRId64 ":%02" PRId64
            " left \033[K",
            bar, done, steps, n->loss, eval, rate, left / 60, left % 60);
    atomic_store_explicit(&m->bar, true, memory_order_relaxed);
    m->shown = at;
}

int metrics_step(Metrics *m, const StepNumbers *n, char *error) {
    m->steps++;
    m->seconds += n->seconds;
    m->loss = n->loss;
    double at = now();
    double pause = m->terminal ? BAR_PAUSE : LINE_PAUSE;
    bool last = n->step + 1 == m->run->steps;
    if (!m->quiet && (at - m->shown >= pause || last)) show_progress(m, n, at);
    if (!m->log) return 0;
    json_t *o = event("step");
    json_object_set_new(o, "step", json_integer(n->step));
    json_object_set_new(o, "loss", number(n->loss));
    json_object_set_new(o, "grad_norm", number(n->norm));
    json_object_set_new(o, "lr", number(n->lr));
    json_object_set_new(o, "samples", json_integer(m->run->plan->settings->batch));
    json_object_set_new(o, "tokens", json_integer(m->tokens));
    json_object_set_new(o, "step_ms", number(n->seconds * 1e3));
    json_object_set_new(o, "tokens_per_s", number((double)m->tokens / n->seconds));
    return write_line(m, o, error);
}

int metrics_eval(Metrics *m, int64_t step, int n, const char *const *name, const double *value,
                 char *error) {
    for (int i = 0; i < n; i++)
        if (!strcmp(name[i], "loss")) {
            m->eval_loss = value[i];
            m->evaluated = true;
            if (!(m->best_eval <= value[i])) m->best_eval = value[i];
        }
    double at = now();
    if (!m->quiet && !m->terminal && (at - m->shown_eval >= LINE_PAUSE || step == m->run->steps)) {
        m->shown_eval = at;
        fprintf(stderr, "step %" PRId64 "/%" PRId64 "  evaluation", step, m->run->steps);
        for (int i = 0; i < n; i++) fprintf(stderr, "  %s %.4f", name[i], value[i]);
        fprintf(stderr, "\n");
    }
    if (!m->log) return 0;
    json_t *o = event("eval");
    json_object_set_new(o, "step", json_integer(step));
    for (int i = 0; i < n; i++) json_object_set_new(o, name[i], number(value[i]));
    return write_line(m, o, error);
}

/* Of the device's memory, what this process took beside arenas; 0 if not known. */
static uint64_t beside_arenas(const Run *run) {
    const Device *d = run->device;
    if (!d->used_bytes || !run->rank || !run->rank[0].context) return 0;
    uint64_t used = d->used_bytes(run->rank[0].context), arenas = 0;
    for (int32_t i = 0; i < run->n_rank; i++) arenas += run->rank[i].arena_bytes;
    return used > arenas ? used - arenas : 0;
}

int metrics_end(Metrics *m, int64_t steps, char *error) {
    if (!m->log) return 0;
    json_t *o = event("end");
    json_object_set_new(o, "steps", json_integer(steps));
    json_object_set_new(o, "seconds", number(now() - m->begun));
    uint64_t beside = beside_arenas(m->run);
    if (beside) json_object_set_new(o, "device_bytes", json_integer((json_int_t)beside));
    return write_line(m, o, error);
}

void metrics_end_bar(Metrics *m) {
    if (atomic_load_explicit(&m->bar, memory_order_relaxed)) fprintf(stderr, "\n");
}

void metrics_summary(Metrics *m, uint64_t high_water) {
    const PlanSettings *s = m->run->plan->settings;
    uint64_t predicted = s->workspace_bytes[m->run->device->kind];
    if (high_water)
        fprintf(stderr,
                "memory check: observed high-water mark %" PRIu64 ", predicted %" PRIu64 " bytes\n",
                high_water, s->arena_bytes);
    if (m->quiet) return;
    char best[32] = "-", loss[32] = "-", rate[32] = "-";
    if (m->evaluated) snprintf(best, sizeof best, "%.6g", m->best_eval);
    if (m->steps) snprintf(loss, sizeof loss, "%.6g", m->loss);
    if (m->seconds > 0)
        snprintf(rate, sizeof rate, "%.0f", (double)(m->steps * m->tokens) / m->seconds);
    printf("steps           %" PRId64
           "\nlast loss       %s\nbest eval loss  %s\ntokens/s        %s\n"
           "arena bytes     %" PRIu64 " predicted, %" PRIu64 " allocated a rank\n",
           m->steps, loss, best, rate, predicted, m->arena_bytes);
    uint64_t beside = beside_arenas(m->run);
    if (beside)
        printf("device bytes    %" PRIu64 " for context and libraries beside the arena%s\n", beside,
               m->run->n_rank == 1 ? "" : "s");
    const Run *run = m->run;
    if (run->transport->library_bytes)
        printf("%s bytes      %" PRIu64 " of them\n", run->transport->name,
               run->transport->library_bytes(run->rank[0].transport));
}
