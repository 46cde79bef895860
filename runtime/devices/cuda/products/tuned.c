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
#define FORMAT "fsdp-run products 4\n"

/* ---- the table */

Tuned *tuned_find(const TunedTable *t, const TunedKey *key) {
    for (uint32_t i = 0; i < t->n; i++)
        if (memcmp(&t->at[i].key, key, sizeof *key) == 0) return &t->at[i];
    return NULL;
}

bool tuned_add(TunedTable *t, const Tuned *row) {
    Tuned *old = tuned_find(t, &row->key);
    if (old) {
        *old = *row;
        return true;
    }
    if (t->n == TUNED_LIMIT) return false;
    Tuned *grown = realloc(t->at, (t->n + 1) * sizeof *grown);
    if (!grown) return false;
    t->at = grown;
    t->at[t->n++] = *row;
    return true;
}

void tuned_remove(TunedTable *t, const TunedKey *key) {
    Tuned *row = tuned_find(t, key);
    if (row) *row = t->at[--t->n];
}

const TunedAttention *tuned_find_form(const TunedTable *t, uint64_t form, uint64_t library) {
    for (uint32_t i = 0; i < t->n_forms; i++)
        if (t->form[i].form == form && t->form[i].library == library) return &t->form[i];
    return NULL;
}

bool tuned_add_form(TunedTable *t, const TunedAttention *row) {
    uint32_t i = 0;
    while (i < t->n_forms && t->form[i].form != row->form) i++;
    if (i == TUNED_FORMS) return false;
    t->form[i] = *row;
    t->n_forms = MAX(t->n_forms, i + 1);
    return true;
}

TunedLeft *tuned_find_left(TunedTable *t, uint64_t candidate) {
    uint32_t i = 0;
    while (i < t->n_left && t->left[i].candidate != candidate) i++;
    return i < t->n_left ? &t->left[i] : NULL;
}

bool tuned_add_left(TunedTable *t, uint64_t candidate, const char *text) {
    TunedLeft *row = tuned_find_left(t, candidate);
    if (!row && t->n_left == TUNED_LEFT) return false;
    if (!row) row = &t->left[t->n_left++];
    row->candidate = candidate;
    snprintf(row->text, sizeof row->text, "%s", text);
    return true;
}

void tuned_take_back(TunedTable *t, uint64_t candidate) {
    TunedLeft *row = tuned_find_left(t, candidate);
    if (row) *row = t->left[--t->n_left];
}

bool tuned_was_tried(const TunedTable *t, uint64_t role) {
    for (uint32_t i = 0; i < t->n_tried; i++)
        if (t->tried[i] == role) return true;
    return false;
}

void tuned_add_tried(TunedTable *t, uint64_t role) {
    if (tuned_was_tried(t, role)) return;
    if (t->n_tried == TUNED_TRIED)
        memmove(t->tried, t->tried + 1, --t->n_tried * sizeof t->tried[0]);
    t->tried[t->n_tried++] = role;
}

void tuned_clear(TunedTable *t) {
    free(t->at);
    t->at = NULL;
    t->n = t->n_forms = t->n_left = t->n_tried = 0;
}

/* ---- lines */

uint64_t tuned_hash(uint64_t h, const void *bytes, size_t n) {
    const unsigned char *at = bytes;
    for (size_t i = 0; i < n; i++) h = (h ^ at[i]) * 0x100000001b3u;
    return h;
}

/* The numbers of a row in the order of its line. */
enum { SIZES = 8, WORDS = 7, ALIGNMENTS = 6 };
static void sizes_of(Tuned *row, int64_t *out[SIZES]) {
    ProductShape *s = &row->key.shape;
    int64_t *const at[SIZES] = {&s->batch, &s->m,   &s->n,   &s->k,
                                &s->lda,   &s->ldb, &s->ldc, &s->ldaux};
    memcpy(out, at, sizeof at);
}
static void words_of(Tuned *row, int32_t *out[WORDS]) {
    ProductShape *s = &row->key.shape;
    int32_t *const at[WORDS] = {&s->a_turned, &s->b_turned,   &s->dtype,        &s->out_dtype,
                                &s->epilogue, &s->accumulate, &row->key.compute};
    memcpy(out, at, sizeof at);
}

int tuned_print(const Tuned *source, char *out) {
    Tuned row = *source;
    int64_t *size[SIZES];
    int32_t *word[WORDS];
    sizes_of(&row, size);
    words_of(&row, word);
    int n = sprintf(out, "product");
    for (int i = 0; i < SIZES; i++) n += sprintf(out + n, " %" PRId64, *size[i]);
    for (int i = 0; i < WORDS; i++) n += sprintf(out + n, " %" PRId32, *word[i]);
    for (int i = 0; i < ALIGNMENTS; i++)
        n += sprintf(out + n, " %" PRIu32, row.key.shape.alignment[i]);
    for (int i = 0; i < TUNED_WORDS; i++) n += sprintf(out + n, " %016" PRIx64, row.algorithm[i]);
    return n + sprintf(out + n, " %" PRId32 " %.2f %.2f\n", row.candidates, row.microseconds,
                       row.apart);
}

static bool next_number(const char **at, int base, uint64_t *out) {
    char *end;
    if (**at != ' ') return false;
    errno = 0;
    *out = strtoull(*at + 1, &end, base);
    if (end == *at + 1 || errno) return false;
    *at = end;
    return true;
}

static bool parse_row(const char *line, Tuned *row) {
    memset(row, 0, sizeof *row); /* keys are compared byte by byte */
    int64_t *size[SIZES];
    int32_t *word[WORDS];
    uint64_t x;
    sizes_of(row, size);
    words_of(row, word);
    if (strncmp(line, "product", 7) != 0) return false;
    line += 7;
    for (int i = 0; i < SIZES; i++) {
        if (!next_number(&line, 10, &x) || x > INT64_MAX) return false;
        *size[i] = (int64_t)x;
    }
    for (int i = 0; i < WORDS; i++) {
        if (!next_number(&line, 10, &x) || x > INT32_MAX) return false;
        *word[i] = (int32_t)x;
    }
    for (int i = 0; i < ALIGNMENTS; i++) {
        if (!next_number(&line, 10, &x) || x > UINT32_MAX) return false;
        row->key.shape.alignment[i] = (uint32_t)x;
    }
    for (int i = 0; i < TUNED_WORDS; i++)
        if (!next_number(&line, 16, &row->algorithm[i])) return false;
    if (!next_number(&line, 10, &x) || x > INT32_MAX || *line != ' ') return false;
    row->candidates = (int32_t)x;
    char *end;
    row->microseconds = strtod(line, &end);
    if (*end != ' ') return false;
    row->apart = strtod(end, NULL);
    return true;
}

int tuned_print_form(const TunedAttention *row, char *out) {
    return sprintf(out, "attention %016" PRIx64 " %" PRIu64 " %d %.2f\n", row->form, row->library,
                   row->plan + 1, (double)row->microseconds);
}

static bool parse_form(const char *line, TunedAttention *row) {
    uint64_t plan;
    if (strncmp(line, "attention", 9) != 0) return false;
    line += 9;
    if (!next_number(&line, 16, &row->form) || !next_number(&line, 10, &row->library) ||
        !next_number(&line, 10, &plan) || plan > TUNED_ONEPASS + 1 || *line != ' ')
        return false;
    row->plan = (int32_t)plan - 1;
    row->microseconds = strtof(line, NULL);
    return true;
}

int tuned_print_left(uint64_t candidate, const char *text, char *out) {
    return sprintf(out, "left %016" PRIx64 " %.*s\n", candidate, (int)strcspn(text, "\n"), text);
}
int tuned_print_fine(uint64_t candidate, char *out) {
    return sprintf(out, "fine %016" PRIx64 "\n", candidate);
}

char *tuned_print_all(const TunedTable *t, size_t *n) {
    char *text = malloc((size_t)(t->n + t->n_forms + t->n_left + t->n_tried + 1) * TUNED_LINE);
    *n = 0;
    if (!text) return NULL;
    for (uint32_t i = 0; i < t->n; i++) *n += (size_t)tuned_print(&t->at[i], text + *n);
    for (uint32_t i = 0; i < t->n_forms; i++)
        *n += (size_t)tuned_print_form(&t->form[i], text + *n);
    for (uint32_t i = 0; i < t->n_left; i++)
        *n += (size_t)tuned_print_left(t->left[i].candidate, t->left[i].text, text + *n);
    for (uint32_t i = 0; i < t->n_tried; i++)
        *n += (size_t)sprintf(text + *n, "tried %016" PRIx64 "\n", t->tried[i]);
    return text;
}

/* A line of a hash and perhaps a text. */
static const char *apply_hash(TunedTable *t, const char *line) {
    const char *at = line + strcspn(line, " ");
    char text[TUNED_LINE];
    uint64_t hash;
    if (!next_number(&at, 16, &hash)) return "it is damaged";
    snprintf(text, sizeof text, "%.*s", (int)strcspn(at, "\n"), at);
    if (*line == 't') tuned_add_tried(t, hash);
    if (*line == 'f') tuned_take_back(t, hash);
    if (*line != 'l' || tuned_add_left(t, hash, text + (*text == ' '))) return NULL;
    return "it has too many candidates that are left out";
}

const char *tuned_apply(TunedTable *t, const char *line) {
    Tuned row;
    TunedAttention form;
    if (!strncmp(line, "product ", 8)) {
        if (!parse_row(line, &row)) return "it is damaged";
        return tuned_add(t, &row) ? NULL : "it has too many products";
    }
    if (!strncmp(line, "attention ", 10)) {
        if (!parse_form(line, &form)) return "it is damaged";
        return tuned_add_form(t, &form) ? NULL : "it has too many forms of attention";
    }
    bool hash =
        !strncmp(line, "left ", 5) || !strncmp(line, "fine ", 5) || !strncmp(line, "tried ", 6);
    return hash ? apply_hash(t, line) : NULL;
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
    char *rows = tuned_print_all(t, &n);
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
