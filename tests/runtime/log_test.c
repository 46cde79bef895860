/* What a run reports: lines of the log and which of them are kept, event files, the history of the
 * loss.
 */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event_file.h"
#include "metrics.h"
#include "progress.h"
#include "scratch.h"
#include "test.h"

static char error[ERROR_BYTES];

/* ---- the log */

typedef struct Logged {
    PlanSettings settings;
    Plan plan;
    RunOptions options;
    LaunchContext launch;
    RunSteps steps;
    RunFacts run;
    Metrics *metrics;
    char path[100];
} Logged;

static void open_run(Logged *l, int64_t first_step, bool due) {
    *l = (Logged){.settings = {.batch = 2, .length = 3}, .options = {.quiet = true}};
    snprintf(l->path, sizeof l->path, "%s/log", scratch);
    l->plan = (Plan){.settings = &l->settings};
    l->options.log = l->path;
    l->steps = (RunSteps){.end = 9, .first = first_step, .evaluation_due = due};
    l->run = (RunFacts){.plan = &l->plan,
                        .options = &l->options,
                        .launch = &l->launch,
                        .steps = &l->steps,
                        .best_evaluation = 7};
}

/* The file without the times; to be freed. */
static char *lines_of(const char *path) {
    size_t n;
    char *text = read_file(path, &n), *to = text;
    assert_non_null(text);
    for (const char *at = text; at < text + n;) {
        const char *time = strstr(at, ",\"time\":");
        size_t before = (size_t)((time ? time : text + n) - at);
        memmove(to, at, before);
        to += before;
        at += before;
        if (time) at += 8 + strspn(at + 8, "0123456789.");
    }
    *to = 0;
    return text;
}

TEST(what_is_not_finite_is_null) {
    Logged l;
    open_run(&l, 0, false);
    assert_int_equal(metrics_open(&l.run, &l.metrics, error), 0);
    StepNumbers step[] = {
        {.step = 0, .loss = 1.5, .norm = 2, .lr = 0.25, .seconds = 0.5},
        {.step = 1,
         .loss = NAN,
         .norm = INFINITY,
         .lr = 0.25,
         .seconds = 0.5,
         .loss_scale = 8,
         .skipped = true},
        {.step = 2, .loss = -INFINITY, .norm = -NAN, .seconds = 0.5},
    };
    for (int i = 0; i < 3; i++) assert_int_equal(metrics_step(l.metrics, &step[i], error), 0);
    const char *const name[] = {"loss", "mse"};
    assert_true(isnan(metrics_best(l.metrics)));
    assert_int_equal(metrics_eval(l.metrics, 3, 2, name, (double[]){NAN, 4}, error), 0);
    assert_true(isnan(metrics_best(l.metrics)));
    assert_int_equal(metrics_eval(l.metrics, 3, 2, name, (double[]){3, INFINITY}, error), 0);
    assert_int_equal(metrics_eval(l.metrics, 4, 2, name, (double[]){5, 1}, error), 0);
    assert_true(metrics_best(l.metrics) == 3);
    CheckpointNumbers saved = {
        .step = 4, .bytes = 77, .stalled = 0.5, .seconds = 2, .written = true};
    assert_int_equal(metrics_checkpoint(l.metrics, &saved, error), 0);
    saved = (CheckpointNumbers){.step = 5, .late = true};
    assert_int_equal(metrics_checkpoint(l.metrics, &saved, error), 0);
    metrics_close(l.metrics);
    char *text = lines_of(l.path);
    assert_string_equal(
        text,
        "{\"event\":\"step\",\"step\":0,\"loss\":1.5,\"grad_norm\":2.0,\"lr\":0.25,\"samples\":2,"
        "\"tokens\":6,\"step_ms\":500.0,\"tokens_per_s\":12.0}\n"
        "{\"event\":\"step\",\"step\":1,\"loss\":null,\"grad_norm\":null,\"lr\":0.25,"
        "\"samples\":2,\"tokens\":6,\"step_ms\":500.0,\"tokens_per_s\":12.0,\"loss_scale\":8.0,"
        "\"skipped\":true}\n"
        "{\"event\":\"step\",\"step\":2,\"loss\":null,\"grad_norm\":null,\"lr\":0.0,"
        "\"samples\":2,\"tokens\":6,\"step_ms\":500.0,\"tokens_per_s\":12.0}\n"
        "{\"event\":\"eval\",\"step\":3,\"loss\":null,\"mse\":4.0}\n"
        "{\"event\":\"eval\",\"step\":3,\"loss\":3.0,\"mse\":null}\n"
        "{\"event\":\"eval\",\"step\":4,\"loss\":5.0,\"mse\":1.0}\n"
        "{\"event\":\"checkpoint\",\"step\":4,\"bytes\":77,\"stall_ms\":500.0,\"write_s\":2.0}\n"
        "{\"event\":\"checkpoint\",\"step\":5,\"bytes\":0,\"stall_ms\":0.0,\"write_s\":0.0,"
        "\"late\":true,\"failed\":true}\n");
    free(text);
}

/* A run that goes on at step 5 keeps lines up to the first that comes again. */
TEST(a_log_goes_on_where_the_run_does) {
    static const char start[] = "{\"event\":\"start\"}\n";
    static const struct {
        const char *line;
        bool due, stays;
    } row[] = {
        {"{\"event\":\"step\",\"step\":4}\n", false, true},
        {"{\"event\":\"step\",\"step\":5}\n", false, false},
        {"{\"event\":\"eval\",\"step\":5}\n", false, true},
        {"{\"event\":\"eval\",\"step\":5}\n", true, false},
        {"{\"event\":\"eval\",\"step\":4}\n", true, true},
        {"{\"event\":\"eval\",\"step\":6}\n", false, false},
        {"{\"event\":\"checkpoint\",\"step\":5}\n", false, true},
        {"{\"event\":\"checkpoint\",\"step\":6}\n", false, false},
        {"{\"event\":\"checkpoint\",\"step\":0}\n", false, true},
        {"{\"event\":\"resume\",\"step\":9}\n", false, true},
        {"{\"event\":\"end\",\"steps\":3}\n", false, false},
        {"{\"even\n", false, false},
        {"{\"step\":1}\n", false, false},
        {"{\"event\":\"step\",\"step\":4}", false, false}, /* no line yet */
    };
    for (size_t i = 0; i < ARRAY_LEN(row); i++) {
        Logged l;
        char want[100];
        open_run(&l, 5, row[i].due);
        FILE *f = fopen(l.path, "w");
        assert_non_null(f);
        fprintf(f, "%s%s", start, row[i].line);
        fclose(f);
        assert_int_equal(metrics_open(&l.run, &l.metrics, error), 0);
        assert_true(metrics_best(l.metrics) == 7);
        metrics_close(l.metrics);
        snprintf(want, sizeof want, "%s%s", start, row[i].stays ? row[i].line : "");
        char *text = lines_of(l.path);
        assert_string_equal(text, want);
        free(text);
    }
    static const char *const other[] = {"no log\n", "{\"a\":1}\n", "{\"event\""};
    for (size_t i = 0; i < ARRAY_LEN(other); i++) {
        Logged l;
        open_run(&l, 5, false);
        FILE *f = fopen(l.path, "w");
        fprintf(f, "%s", other[i]);
        fclose(f);
        int code = metrics_open(&l.run, &l.metrics, error);
        metrics_close(l.metrics);
        assert_int_equal(code, i < 2 ? EXIT_ENVIRONMENT : 0);
        if (code) assert_non_null(strstr(error, "it is not a log that can be continued"));
        char *text = lines_of(l.path);
        assert_string_equal(text, i < 2 ? other[i] : "");
        free(text);
        remove(l.path);
    }
}

/* ---- event files */

static char folder[100];

static int is_events(const struct dirent *d) { return strstr(d->d_name, "tfevents") != NULL; }

/* What the newest file of the folder has: of each record its step, and the first number. */
static int newest(int64_t *step, float *number, int most) {
    struct dirent **name;
    char path[400];
    size_t size;
    int n = scandir(folder, &name, is_events, alphasort), found = 0;
    assert_true(n > 0);
    snprintf(path, sizeof path, "%s/%s", folder, name[n - 1]->d_name);
    for (int i = 0; i < n; i++) free(name[i]);
    free(name);
    char *bytes = read_file(path, &size);
    for (size_t at = 0; at < size;) {
        uint64_t length;
        memcpy(&length, bytes + at, 8);
        const char *data = bytes + at + 12;
        at += 16 + length;
        assert_true(at <= size && found < most);
        step[found] = data[9] == 2 << 3 ? data[10] : -1;
        memcpy(&number[found++], data + length - 4, 4);
    }
    free(bytes);
    return found;
}

/* Curves count steps that are done and begin behind the one that the run goes on from; no tag
 * stands for what is not known. */
TEST(event_files_begin_where_the_run_does) {
    static const int64_t first[] = {0, 1, 5};
    const char *const name[] = {"loss"};
    int64_t step[20];
    float number[20];
    snprintf(folder, sizeof folder, "%s/events/here", scratch);
    for (int i = 0; i < 6; i++) {
        Logged l;
        open_run(&l, first[i / 2], false);
        l.options.log = NULL;
        l.options.tensorboard = folder;
        l.steps.evaluation_only = i % 2;
        int starts = !l.steps.evaluation_only;
        StepNumbers s = {.step = first[i / 2], .loss = 3, .seconds = 1};
        assert_int_equal(metrics_open(&l.run, &l.metrics, error), 0);
        assert_int_equal(metrics_step(l.metrics, &s, error), 0);
        assert_int_equal(metrics_eval(l.metrics, s.step + 1, 1, name, (double[]){7}, error), 0);
        metrics_close(l.metrics);
        assert_int_equal(newest(step, number, 20), 3 + starts);
        assert_int_equal(step[0], -1);
        if (starts) assert_int_equal(step[1], s.step ? s.step + 1 : 0);
        assert_int_equal(step[1 + starts], s.step + 1);
        assert_int_equal(step[2 + starts], s.step + 1);
        assert_true(number[1 + starts] == 6); /* tokens per second, the last number of a step */
        assert_true(number[2 + starts] == 7);
    }
}

/* A name of which one byte more would have no room. */
TEST(a_long_tag_fits_or_is_refused) {
    static char name[EVENT_BYTES + 1];
    static EventFile e;
    memset(name, 'm', EVENT_BYTES);
    snprintf(folder, sizeof folder, "%s/long", scratch);
    assert_int_equal(event_file_open(&e, folder, 0, error), 0);
    for (int fits = 0; fits < 2; fits++) {
        name[EVENT_BYTES - 40 - 5 - fits] = 0;
        event_begin(&e);
        event_scalar(&e, "eval", fits ? name : "a", 1);
        if (!fits) event_scalar(&e, "eval", name, 1);
        assert_int_equal(event_write(&e, 1, error), fits ? 0 : EXIT_CORRUPT);
    }
    assert_non_null(strstr(error, "the metrics' names are too long"));
    event_file_close(&e);
}

/* ---- the course of the loss */

static void check_history(const double *loss, int n, const char *want) {
    History h = {0};
    char text[HISTORY_BYTES];
    for (int i = 0; i < n; i++) history_add(&h, loss[i]);
    bool any = history_text(&h, text, sizeof text);
    assert_true(any == (want != NULL));
    if (any) assert_string_equal(text, want);
}

TEST(a_column_is_the_mean_of_as_many_losses) {
    double loss[200];
    for (int i = 0; i < 200; i++) loss[i] = i / 16 % 2 ? 3 : i % 2 ? 1 : 2;
    setenv("LC_ALL", "C", 1);
    check_history((double[]){3}, 1, NULL);
    check_history((double[]){NAN, NAN, INFINITY}, 3, NULL);
    check_history((double[]){3, 3}, 2, "__  _ 3  # 3");
    check_history((double[]){8, 0, 1, 2, 3, 4, 5, 6, 7, 7.99}, 10, "#_.:-=+*##  _ 0  # 8");
    check_history((double[]){8, NAN, 4, -INFINITY, 0}, 5, "#?=?_  _ 0  # 8");
    check_history(loss, 40, "=_=_=_=_=_=_=_=_################=_=_=_=_  _ 1  # 3");
    check_history(loss, 41, "________########____:  _ 1.5  # 3");
    check_history(loss, 81, "____####____####____#  _ 1.5  # 3");
    check_history(loss, 160, "____####____####____####____####____####  _ 1.5  # 3");
    loss[1] = NAN; /* of the two or four losses of a column the others count */
    check_history(loss, 42, ":_______########_____  _ 1.5  # 3");
    unsetenv("LC_ALL");
    unsetenv("LC_CTYPE");
    unsetenv("LANG");
    check_history((double[]){8, 0}, 2, "#_  _ 0  # 8");
    setenv("LC_ALL", "", 1);
    setenv("LC_CTYPE", "de_DE.utf8", 1);
    setenv("LANG", "C", 1);
    check_history((double[]){8, 0, 1, 2, 3, 4, 5, 6, 7}, 9, "█▁▂▃▄▅▆▇█  ▁ 0  █ 8");
}

RUN_TESTS(scratch_make, scratch_remove)
