/* What tuning.h says. A process opens its ranks one after the other, so nothing here is locked. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tuning.h"

/* Processes that try candidates of one run, at most: each but the last found a bad one. */
enum { MOST_PROCESSES = 24 };
static const char UNDER_WAY[] = "under way";

static TunedTable tuned;
static int following = -1; /* the log of this process, which tries */

/* The process that runs the plan. */
static struct {
    char path[PATH_MAX], machine[TUNED_MACHINE];
    int lock, processes;
    bool speaks;
    uint64_t role;
} own = {.lock = -1};

static void note(const char *text) {
    if (*text && own.speaks) fprintf(stderr, "note: %s\n", text);
}

/* ---- the log */

/* A line that is lost does no harm: what it says is tried again. */
static void append(int log, const char *text, size_t n) {
    while (n > 0) {
        ssize_t written = write(log, text, n);
        if (written <= 0 && errno != EINTR) return;
        if (written > 0) text += written, n -= (size_t)written;
    }
}

static bool fill_log(int log) {
    size_t n;
    char *text = tuned_print_all(&tuned, &n);
    bool good = text && ftruncate(log, 0) == 0 && lseek(log, 0, SEEK_SET) == 0;
    if (good) append(log, text, n);
    free(text);
    return good;
}

/* Replaces the table by the whole lines of the log; last: the last one, TUNED_LINE bytes. */
static void read_log(int log, char *last) {
    off_t size = lseek(log, 0, SEEK_END);
    char *text = malloc((size_t)MAX(size, (off_t)0) + 1), *end;
    ssize_t n = text ? pread(log, text, (size_t)MAX(size, (off_t)0), 0) : -1;
    *last = 0;
    if (n >= 0) tuned_clear(&tuned);
    if (n >= 0) text[n] = 0;
    for (char *line = text; n >= 0 && (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = 0;
        tuned_apply(&tuned, line);
        snprintf(last, TUNED_LINE, "%s", line);
    }
    free(text);
}

/* ---- the process that runs the plan */

/* Of what the plan gives this process to do, and of settings that change the candidates. */
static uint64_t role_of(const DeviceOptions *o) {
    const Plan *p = o->rank.plan;
    int64_t role = o->process_ranks > 1 ? -1 : (int64_t)plan_role_of(p, o->rank.rank);
    uint64_t h = tuned_hash(TUNED_HASH, &p->header->fingerprint, sizeof p->header->fingerprint);
    static const char *const settings[] = {"FSDP_CUDA_ATTENTION", "FSDP_CUDA_TF32"};
    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        const char *value = getenv(settings[i]);
        if (value) h = tuned_hash(h, value, strlen(value) + 1);
    }
    return tuned_hash(h, &role, sizeof role);
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int open_log(void) {
    int file = memfd_create("trials", MFD_CLOEXEC);
    int log = file < 0 ? -1 : fcntl(file, F_DUPFD, STDERR_FILENO + 1); /* inherited */
    if (file >= 0) close(file);
    return log;
}

void tuning_begin(const DeviceOptions *o, const char *machine, bool anew, int *log) {
    char text[ERROR_BYTES] = "";
    int64_t began = now_ns();
    *log = -1;
    snprintf(own.machine, sizeof own.machine, "%s", machine);
    own.role = role_of(o);
    own.processes = 0;
    own.speaks = o->rank.rank == 0 && !o->quiet;
    tuned_clear(&tuned);
    *own.path = 0;
    if (o->plan_path && *o->plan_path) {
        if (snprintf(own.path, sizeof own.path, "%s.tuned", o->plan_path) >= (int)sizeof own.path)
            *own.path = 0;
        own.lock = tuned_lock(o->plan_path);
        /* With several processes, `again` believes what another of the same run has just found. */
        tuned_read(&tuned, own.path, own.machine, anew ? began : 0, text);
        note(text);
    }
    if (!tuned_was_tried(&tuned, own.role)) *log = open_log();
    if (*log >= 0 && fill_log(*log)) return;
    if (*log >= 0) close(*log);
    *log = -1;
    tuned_unlock(own.lock);
    own.lock = -1;
}

/* What the last line of a process says is left out, with the reason; false: nothing. */
static bool leave_out(const char *last, const char *why) {
    char *at, what[sizeof tuned.left[0].text], text[ERROR_BYTES];
    if (strncmp(last, "left ", 5) != 0) return false;
    uint64_t candidate = strtoull(last + 5, &at, 16);
    snprintf(what, sizeof what, "%s", at + (*at == ' '));
    char *colon = strstr(what, ": ");
    if (!colon) return false;
    bool said = strcmp(colon + 2, UNDER_WAY) != 0;
    if (!why && said) return false;
    if (!why) tuned_take_back(&tuned, candidate);
    if (!why) return false;
    if (!said)
        snprintf(colon + 2, sizeof what - (size_t)(colon + 2 - what),
                 "the process that tried it %.120s", why);
    tuned_add_left(&tuned, candidate, what);
    snprintf(text, sizeof text, "%s; it is left out", what);
    note(text);
    return true;
}

bool tuning_end(int log, bool whole, const char *why) {
    char last[TUNED_LINE], text[ERROR_BYTES] = "";
    read_log(log, last);
    bool left = leave_out(last, why);
    if (left && ++own.processes < MOST_PROCESSES && fill_log(log)) return true;
    if (why) {
        snprintf(text, sizeof text,
                 "not all algorithms were tried: the process that tries them %.200s; first choices "
                 "are used instead, and the next run tries again",
                 why);
        note(text);
    }
    if (whole) tuned_add_tried(&tuned, own.role);
    if (*own.path) tuned_write(&tuned, own.path, own.machine, text);
    if (*own.path) note(text);
    tuned_unlock(own.lock);
    own.lock = -1;
    close(log);
    return false;
}

/* ---- the process that tries */

void tuning_follow(int log) {
    char last[TUNED_LINE];
    if (following >= 0) return; /* another rank of this process came first */
    following = log;
    read_log(log, last);
}
bool tuning_tries(void) { return following >= 0; }

const char *tuning_left(uint64_t candidate) {
    const TunedLeft *row = tuned_find_left(&tuned, candidate);
    return row ? row->text : NULL;
}

static void append_left(uint64_t candidate, const char *what, const char *why) {
    char text[sizeof tuned.left[0].text], line[TUNED_LINE];
    snprintf(text, sizeof text, "%.100s: %.130s", what, why);
    append(following, line, (size_t)tuned_print_left(candidate, text, line));
    if (why != UNDER_WAY) tuned_add_left(&tuned, candidate, text);
}
void tuning_starts(uint64_t candidate, const char *what) {
    append_left(candidate, what, UNDER_WAY);
}

void tuning_ends(uint64_t candidate, const char *what, const char *why) {
    char line[TUNED_LINE];
    if (why)
        append_left(candidate, what, why);
    else
        append(following, line, (size_t)tuned_print_fine(candidate, line));
}

_Noreturn void tuning_lost(uint64_t candidate, const char *what, const char *why) {
    append_left(candidate, what, why);
    _exit(EXIT_ENVIRONMENT);
}

void tuning_keep(const Tuned *row) {
    char line[TUNED_LINE];
    if (tuned_add(&tuned, row)) append(following, line, (size_t)tuned_print(row, line));
}
void tuning_keep_form(const TunedAttention *row) {
    char line[TUNED_LINE];
    if (tuned_add_form(&tuned, row)) append(following, line, (size_t)tuned_print_form(row, line));
}

/* ---- both */

const Tuned *tuning_find(const TunedKey *key) { return tuned_find(&tuned, key); }
const TunedAttention *tuning_find_form(uint64_t form, uint64_t library) {
    return tuned_find_form(&tuned, form, library);
}
void tuning_forget(const TunedKey *key) { tuned_remove(&tuned, key); }

void tuning_lacks(void) {
    char text[ERROR_BYTES];
    if (tuning_tries() || tuned.n_tried == 0) return;
    tuned.n_tried = 0;
    note("the file of tuned choices lacks some that this run needs: it takes the first that the "
         "library offers, and the next run tries the others");
    if (*own.path) tuned_write(&tuned, own.path, own.machine, text);
}
