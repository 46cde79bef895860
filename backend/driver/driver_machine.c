/* fsdpc machine: measures this machine by running plans, or does the first or last part of that. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver.h"
#include "measure.h"
#include "program_files.h"

enum { TURNS = 4 };
#define BUSY 1.15
#define MOST_SECONDS 100 /* that turns may begin in */

static const char *plan_path(Driver *d, const char *folder, int variant) {
    return arena_printf(d->arena, "%s/%s.bin", folder, measure_names[variant]);
}

static int write_plans(Driver *d, const char *folder) {
    for (int v = 0; v < MEASURE_VARIANTS; v++) {
        Buf bytes = {0};
        const char *path = plan_path(d, folder, v);
        if (!measure_plan(&d->diags, (MeasureVariant)v, d->options.ranks, &bytes))
            return diag_exit_code(&d->diags);
        if (write_file_atomic(path, bytes.at, bytes.n))
            fail_environment("cannot write %s: %s", path, strerror(errno));
        buf_free(&bytes);
    }
    return EXIT_DONE;
}

/* ---- runs */

typedef struct Runs {
    const char *program, *folder, *threads;
    VEC(const char *) traces;
    VEC(double) steps[MEASURE_VARIANTS]; /* seconds, without --profile */
} Runs;

/* fsdp-run beside this program; else the one that PATH has. */
static const char *find_program(Driver *d) {
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    while (n > 0 && self[n - 1] != '/') n--;
    const char *beside = arena_printf(d->arena, "%.*sfsdp-run", (int)MAX(n, 0), self);
    return n > 0 && !access(beside, X_OK) ? beside : "fsdp-run";
}

static int run_plan(Driver *d, const Runs *r, const char *option, const char *file, int variant) {
    const char *const command[] = {r->program, "-q",        "--threads",
                                   r->threads, "--overlap", "off",
                                   option,     file,        plan_path(d, r->folder, variant),
                                   NULL};
    int status;
    pid_t child = fork();
    if (child < 0) fail_environment("cannot start %s: %s", r->program, strerror(errno));
    if (!child) {
        int nowhere = open("/dev/null", O_WRONLY);
        if (nowhere >= 0) dup2(nowhere, STDOUT_FILENO);
        execvp(command[0], (char *const *)command);
        _exit(127);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_ENVIRONMENT;
    if (code == 127)
        fail_environment("cannot run fsdp-run: it is neither next to fsdpc nor in PATH\n"
                         "help: fsdpc machine --plan writes plans that another fsdp-run can run");
    return code;
}

/* A run with --profile and one without. */
static int run_variant(Driver *d, Runs *r, int variant, int turn) {
    const char *name = arena_printf(d->arena, "%s/%s.%d", r->folder, measure_names[variant], turn);
    const char *trace = arena_printf(d->arena, "%s.json", name);
    const char *log = arena_printf(d->arena, "%s.jsonl", name);
    int code = run_plan(d, r, "--profile", trace, variant);
    if (!code) code = run_plan(d, r, "--log", log, variant);
    if (code) return code;
    vec_push(d->arena, &r->traces, trace);
    size_t n;
    char *text = read_file(log, &n);
    if (!text) fail_environment("cannot read %s: %s", log, strerror(errno));
    double seconds = measure_step_seconds(d->arena, text);
    if (seconds > 0) vec_push(d->arena, &r->steps[variant], seconds);
    free(text);
    return EXIT_DONE;
}

static int run_turns(Driver *d, Runs *r) {
    double began = monotonic_seconds(), now = began, turn = 0;
    for (int i = 0; i < TURNS && now - began + turn < MOST_SECONDS; i++) {
        for (int v = 0; v < MEASURE_VARIANTS; v++) {
            int code = run_variant(d, r, v, i);
            if (code) return code;
        }
        turn = monotonic_seconds() - now;
        now += turn;
    }
    return EXIT_DONE;
}

/* ---- the file */

/* Steps of a plan differ more between turns than on a machine where nothing else runs. */
static bool was_busy(const Runs *r) {
    for (int v = 0; v < MEASURE_VARIANTS; v++) {
        double least = r->steps[v].n ? r->steps[v].at[0] : 0, most = least;
        for (uint32_t i = 0; i < r->steps[v].n; i++) {
            least = MIN(least, r->steps[v].at[i]);
            most = MAX(most, r->steps[v].at[i]);
        }
        if (most > BUSY * least) return true;
    }
    return false;
}

static void say_what_was_measured(Driver *d, const Measured *m, const Runs *r) {
    Buf out = {0};
    buf_printf(&out, "%s: %u shapes, mean error %.1f %%; of %u that were held back %.1f %%\n",
               d->options.output, m->points.n, 100 * m->error, m->n_held, 100 * m->held_error);
    for (int v = 0; v < MEASURE_VARIANTS && r; v++) {
        Step step;
        if (!r->steps[v].n || !step_predict(&m->plan[v], m->machine, d->arena, &step)) continue;
        double measured = measure_median(r->steps[v].at, r->steps[v].n);
        buf_printf(&out, "%-8s a step takes %.0f ms, %.0f ms are predicted (%+.1f %%)\n",
                   measure_names[v], measured * 1e3, step.off.seconds * 1e3,
                   100 * (step.off.seconds / measured - 1));
    }
    if (r && was_busy(r))
        buf_printf(&out,
                   "steps took more than %.0f %% longer in one turn than in another: something "
                   "else ran; measure again\n",
                   100 * (BUSY - 1));
    if (!(d->options.given & BIT(QUIET))) fwrite(out.at, 1, out.n, stderr);
    buf_free(&out);
}

static int fit_traces(Driver *d, const char *const *files, uint32_t n, const Runs *r) {
    const Options *o = &d->options;
    Measured m = {.diags = &d->diags, .arena = d->arena, .kind = DEVICE_CPU};
    Buf out = {0};
    if (o->machine && !(m.base = machine_read(&d->diags, d->arena, o->machine)))
        return diag_exit_code(&d->diags);
    if (m.base) m.kind = m.base->kind;
    if (o->given & BIT(DEVICE)) m.kind = o->device;
    m.cores = (double)o->threads;
    if (!m.cores && !(m.base && machine_find(m.base, "device.cores")))
        return driver_mistake(d, E_missing_argument, "or --machine FILE with device.cores",
                              "--fit needs --threads N, the cores of a rank in these runs");
    if (r)
        m.memory =
            (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / (double)o->ranks;
    if (!measure_read(&m, files, n)) return diag_exit_code(&d->diags);
    if (!driver_keeps_files(d, NULL)) return EXIT_USER;
    measure_fit(&m);
    measure_text(&m, &out);
    driver_write(o->output, out.at, out.n);
    say_what_was_measured(d, &m, r);
    buf_free(&out);
    return EXIT_DONE;
}

/* ---- all of it */

static int measure_here(Driver *d) {
    Options *o = &d->options;
    if (!o->threads) o->threads = MAX(sysconf(_SC_NPROCESSORS_ONLN) / o->ranks, 1);
    Runs r = {.program = find_program(d)};
    r.threads = arena_printf(d->arena, "%lld", (long long)o->threads);
    r.folder = temporary_folder(d->arena, "fsdpc-machine");
    driver_catch_signals();
    int code = write_plans(d, r.folder);
    if (!code) code = run_turns(d, &r);
    if (!code) code = fit_traces(d, r.traces.at, r.traces.n, &r);
    temporary_folder_remove(r.folder);
    return code;
}

int driver_machine(Driver *d) {
    Options *o = &d->options;
    bool plan = o->given & BIT(PLAN), fit = o->given & BIT(FIT);
    if (plan && fit)
        return driver_mistake(d, E_option_value, "first --plan, then runs, then --fit",
                              "--plan and --fit exclude each other");
    if (!o->output)
        return driver_mistake(d, E_missing_argument, plan ? "-o FOLDER" : "-o here.machine",
                              "`fsdpc machine` needs -o for what it writes");
    if (fit != (o->files.n > 0))
        return driver_mistake(d, E_missing_argument, "fsdpc machine --fit TRACE.. -o new.machine",
                              fit ? "--fit needs the traces that fsdp-run --profile wrote"
                                  : "`fsdpc machine` takes files with --fit only");
    if (fit) return fit_traces(d, o->files.at, o->files.n, NULL);
    if (!(o->given & BIT(RANKS)))
        return driver_mistake(d, E_missing_argument, "for example -n 2",
                              "`fsdpc machine` needs -n RANKS, the ranks of this machine");
    if (o->ranks > MEASURE_RANKS)
        return driver_mistake(d, E_option_value, NULL, "-n is at most %d here", MEASURE_RANKS);
    if (!plan && o->device == DEVICE_CUDA && o->given & BIT(DEVICE))
        return driver_mistake(d, E_option_value, "`fsdpc machine --help` says how, in three steps",
                              "GPUs are measured with --plan and --fit");
    if (!plan) return measure_here(d);
    if (mkdir(o->output, 0777) && errno != EEXIST)
        fail_environment("cannot make %s: %s", o->output, strerror(errno));
    return write_plans(d, o->output);
}
