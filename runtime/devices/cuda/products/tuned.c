/* The file of tuned products: tuned.h. A file is read as a whole and believed only if its checksum
 * is right; it is written under another name and then renamed, so a reader never sees half of one.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tuned.h"

enum { FILE_BYTES = 4 << 20, LOCK_SECONDS = 120, LOCK_PAUSE_MS = 100 };
#define FORMAT "fsdp-run products 5\n"

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

/* The number of the line of the key, or t->n. */
static uint32_t line_of(const TunedTable *t, const char *key) {
    uint32_t i = 0;
    while (i < t->n && !begins_with(t->line[i], key)) i++;
    return i;
}

const char *tuned_find(const TunedTable *t, const char *key) {
    uint32_t i = line_of(t, key);
    if (i == t->n) return NULL;
    const char *rest = t->line[i] + strlen(key);
    return rest + (*rest == ' ');
}

void tuned_drop(TunedTable *t, const char *key) {
    uint32_t i = line_of(t, key);
    if (i == t->n) return;
    free(t->line[i]);
    memmove(&t->line[i], &t->line[i + 1], (--t->n - i) * sizeof *t->line);
}

void tuned_clear(TunedTable *t) {
    while (t->n > 0) free(t->line[--t->n]);
    free(t->line);
    t->line = NULL;
}

/* Puts the line where that of its key is, or behind the others. */
static const char *put_line(TunedTable *t, const Kind *kind, const char *key, const char *line) {
    uint32_t i = line_of(t, key), n = 0;
    for (uint32_t k = 0; k < t->n && i == t->n; k++) n += begins_with(t->line[k], kind->word);
    if (n == kind->most && kind->excess) return kind->excess;
    if (n == kind->most) tuned_drop(t, kind->word);
    char *copy = strndup(line, strcspn(line, "\n"));
    char **grown = realloc(t->line, (t->n + 1) * sizeof *grown);
    if (grown) t->line = grown;
    if (!copy || !grown) {
        free(copy);
        return "there is no memory for it";
    }
    i = line_of(t, key);
    if (i < t->n)
        free(t->line[i]);
    else
        t->n++;
    t->line[i] = copy;
    return NULL;
}

const char *tuned_apply(TunedTable *t, const char *line) {
    char key[TUNED_LINE];
    if (begins_with(line, "fine")) {
        const char *end = words_end(line, 1);
        if (!end) return "it is damaged";
        snprintf(key, sizeof key, "left%.*s", (int)(end - line - 4), line + 4);
        tuned_drop(t, key);
        return NULL;
    }
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        if (!begins_with(line, kinds[k].word)) continue;
        const char *end = words_end(line, kinds[k].key), *all = end;
        if (kinds[k].rest != ANY) all = words_end(line, kinds[k].key + kinds[k].rest);
        bool whole = all && (kinds[k].rest == ANY || !*all || *all == '\n');
        if (!whole || end - line >= (int)sizeof key) return "it is damaged";
        snprintf(key, sizeof key, "%.*s", (int)(end - line), line);
        return put_line(t, &kinds[k], key, line);
    }
    return NULL;
}

char *tuned_print(const TunedTable *t, size_t *n) {
    char *text = malloc((size_t)(t->n + 1) * TUNED_LINE);
    *n = 0;
    for (uint32_t i = 0; i < t->n && text; i++)
        *n += (size_t)snprintf(text + *n, TUNED_LINE, "%.*s\n", TUNED_LINE - 2, t->line[i]);
    return text;
}

uint64_t tuned_hash(uint64_t h, const void *bytes, size_t n) {
    const unsigned char *at = bytes;
    for (size_t i = 0; i < n; i++) h = (h ^ at[i]) * 0x100000001b3u;
    return h;
}

/* ---- the file */

/* The whole file, NUL-terminated, to be freed; NULL with or without a note. */
static char *read_if_newer(const char *path, int64_t newer_than, size_t *size, char *note) {
    struct stat about;
    int f = open(path, O_RDONLY | O_CLOEXEC);
    if (f < 0) {
        if (errno != ENOENT) snprintf(note, ERROR_BYTES, "%s: %s", path, strerror(errno));
        return NULL;
    }
    char *text = NULL;
    if (fstat(f, &about) || !S_ISREG(about.st_mode) || about.st_size > FILE_BYTES)
        snprintf(note, ERROR_BYTES, "%s is ignored: it is not a file of tuned products", path);
    else if (about.st_mtim.tv_sec * INT64_C(1000000000) + about.st_mtim.tv_nsec >= newer_than)
        text = malloc((size_t)about.st_size + 1);
    *size = 0;
    while (text && *size < (size_t)about.st_size) {
        ssize_t n = read(f, text + *size, (size_t)about.st_size - *size);
        if (n <= 0) break;
        *size += (size_t)n;
    }
    if (text) text[*size] = 0;
    close(f);
    return text;
}

/* Why the text cannot be believed, or NULL. */
static const char *reason_to_ignore(const char *text, size_t size, const char *machine) {
    const char *last = strstr(text, "\nchecksum ");
    if (strncmp(text, FORMAT, strlen(FORMAT)) != 0) return "it was written by another version";
    if (!last || strlen(text) != size) return "it is damaged";
    size_t covered = (size_t)(last + 1 - text);
    char wanted[48];
    snprintf(wanted, sizeof wanted, "checksum %016" PRIx64 "\n",
             tuned_hash(TUNED_HASH, text, covered));
    if (strcmp(last + 1, wanted) != 0) return "it is damaged";
    const char *line = text + strlen(FORMAT);
    size_t n = strlen(machine);
    if (strncmp(line, "machine ", 8) != 0) return "it is damaged";
    if (strncmp(line + 8, machine, n) != 0 || line[8 + n] != '\n')
        return "it was made for another GPU or another version of its libraries";
    return NULL;
}

void tuned_read(TunedTable *t, const char *path, const char *machine, int64_t newer_than,
                char *note) {
    size_t size;
    *note = 0;
    char *text = read_if_newer(path, newer_than, &size, note);
    if (!text) return;
    const char *why = reason_to_ignore(text, size, machine);
    for (char *line = text; !why && (line = strchr(line, '\n')) && *++line;)
        why = tuned_apply(t, line);
    if (why) tuned_clear(t);
    if (why) snprintf(note, ERROR_BYTES, "%s is ignored: %s", path, why);
    free(text);
}

static bool write_rows(const TunedTable *t, const char *machine, FILE *f) {
    size_t n, head;
    char *rows = tuned_print(t, &n);
    char *text = rows ? malloc(n + TUNED_LINE) : NULL;
    bool good = text != NULL;
    if (good) {
        head = (size_t)snprintf(text, TUNED_LINE, FORMAT "machine %s\n", machine);
        memcpy(text + head, rows, n);
        n += head;
        good = fwrite(text, 1, n, f) == n;
        good = fprintf(f, "checksum %016" PRIx64 "\n", tuned_hash(TUNED_HASH, text, n)) > 0 && good;
    }
    free(rows);
    free(text);
    return good;
}

void tuned_write(const TunedTable *t, const char *path, const char *machine, char *note) {
    char part[PATH_MAX];
    *note = 0;
    if (snprintf(part, sizeof part, "%s.%ld", path, (long)getpid()) >= (int)sizeof part) {
        snprintf(note, ERROR_BYTES,
                 "the tuned products were not saved: the plan's path is too long");
        return;
    }
    FILE *f = fopen(part, "we");
    bool good = f && write_rows(t, machine, f);
    if (f) good = fclose(f) == 0 && good;
    if (good) good = rename(part, path) == 0;
    if (good) return;
    snprintf(note, ERROR_BYTES, "the tuned products were not saved: %.300s: %s", path,
             strerror(errno));
    if (f) unlink(part);
}

/* ---- turns */

int tuned_lock(const char *plan_path) {
    char folder[PATH_MAX];
    if (snprintf(folder, sizeof folder, "%s", plan_path) >= (int)sizeof folder) return -1;
    if (access(dirname(folder), W_OK) != 0) return -1;
    int lock = open(plan_path, O_RDONLY | O_CLOEXEC);
    if (lock < 0) return -1;
    const struct timespec pause = {.tv_nsec = LOCK_PAUSE_MS * 1000000L};
    for (int i = 0; i < LOCK_SECONDS * 1000 / LOCK_PAUSE_MS; i++) {
        if (flock(lock, LOCK_EX | LOCK_NB) == 0) return lock;
        if (errno != EWOULDBLOCK && errno != EINTR) break;
        nanosleep(&pause, NULL);
    }
    close(lock);
    return -1;
}

void tuned_unlock(int lock) {
    if (lock >= 0) close(lock);
}
