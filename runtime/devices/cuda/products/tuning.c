/* What tuning.h says. A process opens its ranks one after the other, so nothing here is locked.
 *
 * A file is read as a whole and believed only if its checksum is right; it is written under another
 * name and then renamed, so a reader never sees half of one.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tuning.h"

/* Processes that try candidates of one run, at most: each but the last found a bad one. */
enum { MOST_PROCESSES = 24 };
enum { TUNED_TEXT = 240, FILE_BYTES = 4 << 20, LOCK_SECONDS = 120, LOCK_PAUSE_MS = 100 };
#define FORMAT "fsdp-run products 5\n"
static const char UNDER_WAY[] = "under way";

static char **table; /* lines */
static uint32_t lines;
static int following = -1; /* the log of this process, which tries */

/* The process that runs the plan. */
static struct {
    char path[PATH_MAX], machine[TUNED_MACHINE];
    int lock, processes;
    bool speaks;
    uint64_t role;
} own = {.lock = -1};

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...) {
    char text[ERROR_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (own.speaks) fprintf(stderr, "note: %s\n", text);
}

/* ---- lines */

enum { ANY = -1 };
/* Lines that begin with the word. */
typedef struct Kind {
    const char *word;
    int key, rest; /* words behind it, of the key and after the key */
    uint32_t most;
    const char *excess; /* what a table with more has; NULL: the oldest go */
} Kind;
static const Kind kinds[] = {{"product", TUNED_SHAPE_WORDS, 11, 4096, "it has too many products"},
                             {"attention", 1, 3, 256, "it has too many forms of attention"},
                             {"left", 1, ANY, 256, "it has too many candidates that are left out"},
                             {"tried", 1, 0, 16, NULL}};

static bool begins_with(const char *line, const char *words) {
    size_t n = strlen(words);
    return !strncmp(line, words, n) && strchr(" \n", line[n]); /* or at the end of both */
}

/* Where n words after the first one end, or NULL. */
static const char *words_end(const char *line, int n) {
    const char *at = line + strcspn(line, " \n");
    for (; n > 0; n--) {
        if (*at != ' ' || strchr(" \n", at[1])) return NULL;
        at += 1 + strcspn(at + 1, " \n");
    }
    return at;
}

/* The number of the line of the key, or `lines`. */
static uint32_t line_of(const char *key) {
    uint32_t i = 0;
    while (i < lines && !begins_with(table[i], key)) i++;
    return i;
}

const char *tuning_find(const char *key) {
    uint32_t i = line_of(key);
    if (i == lines) return NULL;
    const char *rest = table[i] + strlen(key);
    return rest + (*rest == ' ');
}

void tuning_forget(const char *key) {
    uint32_t i = line_of(key);
    if (i == lines) return;
    free(table[i]);
    memmove(&table[i], &table[i + 1], (--lines - i) * sizeof *table);
}

static void clear_table(void) {
    while (lines > 0) free(table[--lines]);
    free(table);
    table = NULL;
}

/* Puts the line where that of its key is, or behind the others. */
static const char *put_line(const Kind *kind, const char *key, const char *line) {
    uint32_t i = line_of(key), n = 0;
    for (uint32_t k = 0; k < lines && i == lines; k++) n += begins_with(table[k], kind->word);
    if (n == kind->most && kind->excess) return kind->excess;
    if (n == kind->most) tuning_forget(kind->word);
    char *copy = strndup(line, strcspn(line, "\n"));
    char **grown = realloc(table, (lines + 1) * sizeof *grown);
    if (grown) table = grown;
    if (!copy || !grown) {
        free(copy);
        return "there is no memory for it";
    }
    i = line_of(key);
    if (i < lines)
        free(table[i]);
    else
        lines++;
    table[i] = copy;
    return NULL;
}

/* Does what a line says, with its end or without; why it cannot, or NULL. */
static const char *apply_line(const char *line) {
    char key[TUNED_LINE];
    if (begins_with(line, "fine")) {
        const char *end = words_end(line, 1);
        if (!end) return "it is damaged";
        snprintf(key, sizeof key, "left%.*s", (int)(end - line - 4), line + 4);
        tuning_forget(key);
        return NULL;
    }
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        if (!begins_with(line, kinds[k].word)) continue;
        const char *end = words_end(line, kinds[k].key), *all = end;
        if (kinds[k].rest != ANY) all = words_end(line, kinds[k].key + kinds[k].rest);
        bool whole = all && (kinds[k].rest == ANY || !*all || *all == '\n');
        if (!whole || end - line >= (int)sizeof key) return "it is damaged";
        snprintf(key, sizeof key, "%.*s", (int)(end - line), line);
        return put_line(&kinds[k], key, line);
    }
    return NULL;
}

/* All lines behind `head`, which is shorter than one: n bytes, to be freed; NULL: no memory. */
static char *print_table(const char *head, size_t *n) {
    char *text = malloc((size_t)(lines + 1) * TUNED_LINE);
    if (text) *n = (size_t)snprintf(text, TUNED_LINE, "%s", head);
    for (uint32_t i = 0; i < lines && text; i++)
        *n += (size_t)snprintf(text + *n, TUNED_LINE, "%.*s\n", TUNED_LINE - 2, table[i]);
    return text;
}

uint64_t tuned_hash(uint64_t h, const void *bytes, size_t n) {
    const unsigned char *at = bytes;
    for (size_t i = 0; i < n; i++) h = (h ^ at[i]) * 0x100000001b3u;
    return h;
}

/* ---- the file */

static int64_t nanoseconds(struct timespec t) { return t.tv_sec * INT64_C(1000000000) + t.tv_nsec; }

/* The whole file, NUL-terminated, to be freed; NULL with or without a note. */
static char *read_if_newer(int64_t newer_than, size_t *size) {
    struct stat about;
    FILE *f = fopen(own.path, "re");
    if (!f) {
        if (errno != ENOENT) note("%s: %s", own.path, strerror(errno));
        return NULL;
    }
    char *text = NULL;
    if (fstat(fileno(f), &about) || !S_ISREG(about.st_mode) || about.st_size > FILE_BYTES)
        note("%s is ignored: it is not a file of tuned products", own.path);
    else if (nanoseconds(about.st_mtim) >= newer_than)
        text = malloc((size_t)about.st_size + 1);
    if (text) *size = fread(text, 1, (size_t)about.st_size, f);
    if (text) text[*size] = 0;
    fclose(f);
    return text;
}

/* Why the text cannot be believed, or NULL. */
static const char *reason_to_ignore(const char *text, size_t size) {
    const char *last = strstr(text, "\nchecksum ");
    if (strncmp(text, FORMAT, strlen(FORMAT)) != 0) return "it was written by another version";
    if (!last || strlen(text) != size) return "it is damaged";
    size_t covered = (size_t)(last + 1 - text);
    char wanted[48];
    snprintf(wanted, sizeof wanted, "checksum %016" PRIx64 "\n",
             tuned_hash(TUNED_HASH, text, covered));
    if (strcmp(last + 1, wanted) != 0) return "it is damaged";
    const char *line = text + strlen(FORMAT);
    size_t n = strlen(own.machine);
    if (strncmp(line, "machine ", 8) != 0) return "it is damaged";
    if (strncmp(line + 8, own.machine, n) != 0 || line[8 + n] != '\n')
        return "it was made for another GPU or another version of its libraries";
    return NULL;
}

/* Adds the file's lines to an empty table, unless it was written earlier than that. */
static void load_table(int64_t newer_than) {
    size_t size;
    char *text = read_if_newer(newer_than, &size);
    if (!text) return;
    const char *why = reason_to_ignore(text, size);
    for (char *line = text; !why && (line = strchr(line, '\n')) && *++line;) why = apply_line(line);
    if (why) clear_table();
    if (why) note("%s is ignored: %s", own.path, why);
    free(text);
}

static bool write_table(FILE *f) {
    char head[TUNED_LINE];
    size_t n;
    snprintf(head, sizeof head, FORMAT "machine %s\n", own.machine);
    char *text = print_table(head, &n);
    bool good = text && fwrite(text, 1, n, f) == n;
    if (good) good = fprintf(f, "checksum %016" PRIx64 "\n", tuned_hash(TUNED_HASH, text, n)) > 0;
    free(text);
    return good;
}

/* Replaces the file. */
static void save_table(void) {
    char part[PATH_MAX];
    if (!*own.path) return;
    if (snprintf(part, sizeof part, "%s.%ld", own.path, (long)getpid()) >= (int)sizeof part) {
        note("the tuned products were not saved: the plan's path is too long");
        return;
    }
    FILE *f = fopen(part, "we");
    bool good = f && write_table(f);
    if (f) good = fclose(f) == 0 && good;
    if (good) good = rename(part, own.path) == 0;
    if (good) return;
    note("the tuned products were not saved: %.300s: %s", own.path, strerror(errno));
    if (f) unlink(part);
}

/* Processes that share a folder take turns: the first measures, the others read. A lock on the
 * plan, or -1 where the folder cannot be written, locks do not exist or one is held too long. */
static int lock_plan(const char *plan_path) {
    char folder[PATH_MAX];
    if (snprintf(folder, sizeof folder, "%s", plan_path) >= (int)sizeof folder) return -1;
    if (access(dirname(folder), W_OK) != 0) return -1;
    int lock = open(plan_path, O_RDONLY | O_CLOEXEC);
    if (lock < 0) return -1;
    for (int i = 0; i < LOCK_SECONDS * 1000 / LOCK_PAUSE_MS; i++) {
        if (flock(lock, LOCK_EX | LOCK_NB) == 0) return lock;
        if (errno != EWOULDBLOCK && errno != EINTR) break;
        pause_ms(LOCK_PAUSE_MS);
    }
    close(lock);
    return -1;
}

static void unlock_plan(void) {
    if (own.lock >= 0) close(own.lock);
    own.lock = -1;
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
    char *text = print_table("", &n);
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
    if (n >= 0) clear_table();
    if (n >= 0) text[n] = 0;
    for (char *line = text; n >= 0 && (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = 0;
        apply_line(line);
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
    char key[TUNED_LINE];
    int64_t began = nanoseconds(clock_after(CLOCK_REALTIME, 0));
    *log = -1;
    snprintf(own.machine, sizeof own.machine, "%s", machine);
    own.role = role_of(o);
    own.processes = 0;
    own.speaks = o->rank.rank == 0 && !o->quiet;
    clear_table();
    *own.path = 0;
    if (o->plan_path && *o->plan_path) {
        if (snprintf(own.path, sizeof own.path, "%s.tuned", o->plan_path) >= (int)sizeof own.path)
            *own.path = 0;
        own.lock = lock_plan(o->plan_path);
        /* With several processes, `again` believes what another of the same run has just found. */
        load_table(anew ? began : 0);
    }
    if (!tuning_find(tried_key(key))) *log = open_log();
    if (*log >= 0 && fill_log(*log)) return;
    if (*log >= 0) close(*log);
    *log = -1;
    unlock_plan();
}

/* What the last line of a process says is left out, with the reason; false: nothing. */
static bool leave_out(const char *last, const char *why) {
    enum { KEY = sizeof "left 0123456789abcdef" };
    char key[KEY], line[TUNED_LINE];
    const char *what = last + strnlen(last, KEY), *colon = strstr(what, ": ");
    if (strncmp(last, "left ", 5) != 0 || !colon) return false;
    bool said = strcmp(colon + 2, UNDER_WAY) != 0;
    if (!why && !said) {
        snprintf(key, sizeof key, "%.*s", KEY - 1, last);
        tuning_forget(key);
    }
    if (!why) return false;
    if (said)
        snprintf(line, sizeof line, "%s", last);
    else
        snprintf(line, sizeof line, "%.*sthe process that tried it %.120s", (int)(colon + 2 - last),
                 last, why);
    apply_line(line);
    note("%.*s; it is left out", TUNED_TEXT, line + KEY);
    return true;
}

bool tuning_end(int log, bool whole, const char *why) {
    char last[TUNED_LINE];
    read_log(log, last);
    bool left = leave_out(last, why);
    if (left && ++own.processes < MOST_PROCESSES && fill_log(log)) return true;
    if (why)
        note("not all algorithms were tried: the process that tries them %.200s; first choices "
             "are used instead, and the next run tries again",
             why);
    if (whole) apply_line(tried_key(last));
    save_table();
    unlock_plan();
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
    return tuning_find(key);
}

void tuning_keep(const char *line) {
    if (!apply_line(line)) append(following, line, strlen(line));
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

void tuning_lacks(void) {
    if (tuning_tries() || !tuning_find("tried")) return;
    while (tuning_find("tried")) tuning_forget("tried");
    note("the file of tuned choices lacks some that this run needs: it takes the first that the "
         "library offers, and the next run tries the others");
    save_table();
}
