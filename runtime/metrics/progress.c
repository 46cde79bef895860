/* Progress on stderr. The bar takes the part of the terminal's width that the line of numbers
 * leaves, so that it never wraps. In: the numbers of steps and evaluations. Their totals are kept
 * for the summary.
 */
#include "progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "data.h"
#include "plan_work.h"

enum { MOST_BAR = 30, LEAST_BAR = 8, DEFAULT_COLUMNS = 80, TEXT_BYTES = 400 };

/* Seconds between two changes of the bar, between two lines. */
static const double BAR_PAUSE = 0.1, LINE_PAUSE = 2.0;

/* Ids in a sample of the plan's data: 1 where a sample has no ids. Of arrays, only a field
 * that the model takes as ids counts: pixels are integers too. */
static int64_t sample_tokens(const Plan *p) {
    if (p->settings->length > 0) return p->settings->length;
    int64_t most = 1;
    FieldRange *range = calloc(p->n_fields + 1, sizeof *range);
    if (!range) fail_environment("no memory for the fields of the data");
    field_ranges(p, range);
    for (uint64_t i = 0; i < plan_batch_fields(p); i++) {
        const Type *t = &p->fields[i].type;
        if (range[i].below && t->dim[0] > 0) most = MAX(most, type_elements(t) / t->dim[0]);
    }
    free(range);
    return most;
}

int64_t tokens_per_step(const Plan *p) {
    return multiply_saturated(p->settings->batch, sample_tokens(p));
}

/* FLOP/s of all devices, by --peak-flops; 0: not known. Ranks share a machine's processors, and
 * those of one process a GPU. */
static double machine_flops(const RunFacts *run) {
    const LaunchContext *l = run->launch;
    int32_t of_process = l->module ? 1 : l->ranks;
    int32_t sharing = run->device->kind == DEVICE_CPU ? l->local_ranks : of_process;
    double peak = run->options->peak_flops;
    if (sharing < 1 || l->ranks % sharing) return 0; /* machines differ */
    return peak * (l->ranks / sharing);
}

/* Does stderr understand what moves the cursor? */
static bool is_terminal(void) {
    const char *kind = getenv("TERM");
    return isatty(STDERR_FILENO) && kind && *kind && strcmp(kind, "dumb");
}

void progress_open(Progress *p, const RunFacts *run) {
    *p = (Progress){.run = run, .terminal = is_terminal()};
    p->loss = NAN;
    p->tokens = tokens_per_step(run->plan);
    p->work = plan_model_flops(run->plan);
    p->rate_unit = sample_tokens(run->plan) > 1 ? "tokens/s" : "samples/s";
}

void progress_start(Progress *p) {
    p->shown = monotonic_seconds();
    p->peak = machine_flops(p->run);
}

double progress_rate(const Progress *p, double per_step) {
    return p->seconds > 0 ? (double)p->steps * per_step / p->seconds : 0;
}

static int terminal_columns(void) {
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || !size.ws_col ? DEFAULT_COLUMNS : size.ws_col;
}

__attribute__((format(printf, 2, 3))) static void append_text(char *text, const char *format, ...) {
    size_t n = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + n, TEXT_BYTES - n, format, args);
    va_end(args);
}

/* The line of numbers: `sure` is always shown, `more` where there is room. */
static void show_bar(Progress *p, int64_t done, const char *sure, const char *more) {
    int64_t steps = p->run->steps->end;
    int wide = terminal_columns() - 1, sure_n = (int)strlen(sure), more_n = (int)strlen(more);
    if (sure_n + more_n > wide) more_n = 0;
    int bar = MIN(wide - sure_n - more_n - 3, (int)MOST_BAR);
    fputs("\r", stderr);
    if (bar >= LEAST_BAR) {
        int filled = (int)((double)done / (double)steps * bar);
        fputc('[', stderr);
        for (int i = 0; i < bar; i++) fputc(i < filled ? '=' : i == filled ? '>' : ' ', stderr);
        fputs("] ", stderr);
    }
    fprintf(stderr, "%.*s%.*s\033[K", wide, sure, more_n, more);
    atomic_store_explicit(&p->bar, true, memory_order_relaxed);
}

static void show_progress(Progress *p, int64_t done) {
    char sure[TEXT_BYTES] = "", more[TEXT_BYTES] = "";
    int64_t steps = p->run->steps->end;
    append_text(sure, "%s%" PRId64 "/%" PRId64 "  loss %.4f", p->terminal ? "" : "step ", done,
                steps, p->loss);
    for (int i = 0; p->terminal && i < p->n_metric; i++)
        append_text(more, "  eval %.40s %.4f", p->metric[i], p->value[i]);
    if (p->skipped) append_text(sure, "  %" PRId64 " skipped", p->skipped);
    append_text(sure, "  %.0f %s", progress_rate(p, (double)p->tokens), p->rate_unit);
    if (p->peak > 0 && p->work > 0)
        append_text(sure, "  MFU %.1f %%", 100 * progress_rate(p, p->work) / p->peak);
    int64_t left = (int64_t)((double)(steps - done) * p->seconds / (double)MAX(p->steps, 1));
    if (!p->terminal) {
        fprintf(stderr, "%s\n", sure);
    } else {
        append_text(sure, "  %" PRId64 ":%02" PRId64 " left", left / 60, left % 60);
        show_bar(p, done, sure, more);
    }
    p->shown = monotonic_seconds();
}

void progress_step(Progress *p, const StepNumbers *n) {
    p->steps++;
    p->skipped += n->skipped;
    p->seconds += n->seconds;
    p->loss = n->loss;
    history_add(&p->history, n->loss);
    bool last = n->step + 1 == p->run->steps->end;
    if (!p->run->options->quiet &&
        (monotonic_seconds() - p->shown >= (p->terminal ? BAR_PAUSE : LINE_PAUSE) || last))
        show_progress(p, n->step + 1);
}

void progress_evaluation(Progress *p, int64_t step, int n, const char *const *name,
                         const double *value) {
    p->n_metric = MIN(n, (int)SHOWN_METRICS);
    memcpy(p->metric, name, (size_t)p->n_metric * sizeof *name);
    memcpy(p->value, value, (size_t)p->n_metric * sizeof *value);
    if (p->run->options->quiet) return;
    if (p->terminal && !p->run->options->eval_only) {
        show_progress(p, step);
        return;
    }
    if (p->run->options->eval_only)
        fprintf(stderr, "evaluation");
    else
        fprintf(stderr, "step %" PRId64 "/%" PRId64 "  evaluation", step, p->run->steps->end);
    for (int i = 0; i < n; i++) fprintf(stderr, "  %s %.4f", name[i], value[i]);
    fprintf(stderr, "\n");
}

void progress_end_bar(Progress *p) {
    if (atomic_load_explicit(&p->bar, memory_order_relaxed)) fprintf(stderr, "\n");
}
