/* What tuning.h says. A process opens its ranks one after the other, so nothing here is locked. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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
    char *text = tuned_print(&tuned, &n);
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

/* In key, which has room for it. */
static const char *tried_key(char *key) {
    snprintf(key, sizeof "tried 0123456789abcdef", "tried %016" PRIx64, own.role);
    return key;
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
    if (!tuned_find(&tuned, tried_key(text))) *log = open_log();
    if (*log >= 0 && fill_log(*log)) return;
    if (*log >= 0) close(*log);
    *log = -1;
    tuned_unlock(own.lock);
    own.lock = -1;
}

/* What the last line of a process says is left out, with the reason; false: nothing. */
static bool leave_out(const char *last, const char *why) {
    enum { KEY = sizeof "left 0123456789abcdef" };
    char key[KEY], line[TUNED_LINE], text[ERROR_BYTES];
    const char *what = last + strnlen(last, KEY), *colon = strstr(what, ": ");
    if (strncmp(last, "left ", 5) != 0 || !colon) return false;
    bool said = strcmp(colon + 2, UNDER_WAY) != 0;
    if (!why && said) return false;
    snprintf(key, sizeof key, "%.*s", KEY - 1, last);
    if (!why) tuned_drop(&tuned, key);
    if (!why) return false;
    if (said)
        snprintf(line, sizeof line, "%s", last);
    else
        snprintf(line, sizeof line, "%.*sthe process that tried it %.120s", (int)(colon + 2 - last),
                 last, why);
    tuned_apply(&tuned, line);
    snprintf(text, sizeof text, "%.*s; it is left out", TUNED_TEXT, line + KEY);
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
    if (whole) tuned_apply(&tuned, tried_key(last));
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
    char key[TUNED_LINE];
    snprintf(key, sizeof key, "left %016" PRIx64, candidate);
    return tuned_find(&tuned, key);
}

void tuning_keep(const char *line) {
    if (!tuned_apply(&tuned, line)) append(following, line, strlen(line));
}

static void append_left(uint64_t candidate, const char *what, const char *why) {
    char line[TUNED_LINE];
    int n =
        snprintf(line, sizeof line, "left %016" PRIx64 " %.100s: %.130s\n", candidate, what, why);
    if (why == UNDER_WAY)
        append(following, line, (size_t)n);
    else
        tuning_keep(line);
}
void tuning_starts(uint64_t candidate, const char *what) {
    append_left(candidate, what, UNDER_WAY);
}

void tuning_ends(uint64_t candidate, const char *what, const char *why) {
    char line[TUNED_LINE];
    int n = snprintf(line, sizeof line, "fine %016" PRIx64 "\n", candidate);
    if (why)
        append_left(candidate, what, why);
    else
        append(following, line, (size_t)n);
}

_Noreturn void tuning_lost(uint64_t candidate, const char *what, const char *why) {
    append_left(candidate, what, why);
    _exit(EXIT_ENVIRONMENT);
}

/* ---- both */

const char *tuning_find(const char *key) { return tuned_find(&tuned, key); }
void tuning_forget(const char *key) { tuned_drop(&tuned, key); }

void tuning_lacks(void) {
    char text[ERROR_BYTES];
    if (tuning_tries() || !tuned_find(&tuned, "tried")) return;
    while (tuned_find(&tuned, "tried")) tuned_drop(&tuned, "tried");
    note("the file of tuned choices lacks some that this run needs: it takes the first that the "
         "library offers, and the next run tries the others");
    if (*own.path) tuned_write(&tuned, own.path, own.machine, text);
}
