/* A folder of checkpoints: which steps are in it, and how steps are added and removed.
 *
 * A step is written in step-N.part-RUN and renamed to step-N once all of it is on the disk: a name
 * without a suffix is a complete checkpoint. A step to be removed is renamed first, so that no
 * incomplete checkpoint ever has that name. One run at a time holds the lock (lock.c); it removes
 * what a run that died has left.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint.h"

#define PART ".part-"
#define GONE ".gone-"

static int file_error(const char *what, const char *path, char *error) {
    return fail_with(error, EXIT_ENVIRONMENT, "cannot %s %.300s: %s", what, path, strerror(errno));
}

static bool has_file(const char *folder, const char *name) {
    char path[CK_PATH];
    return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path &&
           !access(path, F_OK);
}

/* Whether the path is a step, or completes to one. */
static bool is_step(const char *path) {
    char meant[CK_PATH];
    return has_file(path, "manifest.json") || ck_complete_path(path, meant);
}

bool ck_holds_checkpoint(const char *path) {
    uint32_t n = 0;
    if (is_step(path)) return true;
    free(ck_steps(path, &n));
    return n;
}

bool ck_is_checkpoint(const char *path) {
    bool weights =
        has_file(path, "model.safetensors") || has_file(path, "model.safetensors.index.json");
    return is_step(path) || (!weights && ck_holds_checkpoint(path));
}

static int by_step(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

int64_t *ck_steps(const char *folder, uint32_t *n) {
    DIR *d = opendir(folder);
    int64_t *step = NULL, x;
    *n = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        if (!ck_is_step(e->d_name, &x)) continue;
        int64_t *more = realloc(step, (*n + 1) * sizeof *step);
        if (!more) break;
        step = more;
        step[(*n)++] = x;
    }
    if (d) closedir(d);
    if (*n) qsort(step, *n, sizeof *step, by_step);
    return step;
}

static const char *last_part(const char *path, size_t *n) {
    *n = strlen(path);
    while (*n && path[*n - 1] == '/') --*n;
    const char *slash = memrchr(path, '/', *n);
    const char *name = slash ? slash + 1 : path;
    *n -= (size_t)(name - path);
    return name;
}

bool ck_complete_path(const char *path, char out[CK_PATH]) {
    char name[32];
    size_t n;
    int64_t step;
    const char *last = last_part(path, &n);
    snprintf(name, sizeof name, "%.*s", (int)MIN(n, sizeof name - 1), last);
    if (strlen(path) + 64 >= CK_PATH || !access(path, F_OK) || !ck_step_number(name, &step))
        return false;
    ck_step_name(name, step);
    snprintf(out, CK_PATH, "%.*s%s", (int)(last - path), path, name);
    return !access(out, F_OK);
}

void ck_step_parent(const char *step, char out[CK_PATH]) {
    size_t n;
    const char *last = last_part(step, &n);
    size_t before = (size_t)(last - step);
    bool dots = n <= 2 && !strncmp(last, "..", n);
    while (before > 1 && step[before - 1] == '/') before--;
    if (dots)
        snprintf(out, CK_PATH, "%.4000s/..", step);
    else
        snprintf(out, CK_PATH, "%.*s", before ? (int)before : 1, before ? step : ".");
}

void ck_folder_of(const char *path, char out[CK_PATH]) {
    size_t n;
    uint32_t steps;
    int64_t step;
    char name[32];
    const char *last = last_part(path, &n);
    snprintf(name, sizeof name, "%.*s", (int)MIN(n, sizeof name - 1), last);
    free(ck_steps(path, &steps));
    if (is_step(path) || (!steps && ck_step_number(name, &step)))
        ck_step_parent(path, out);
    else
        snprintf(out, CK_PATH, "%s", path);
}

int ck_resolve_step(const char *path, char out[CK_PATH], char *error) {
    char manifest[CK_PATH], name[32] = "";
    size_t n;
    int64_t step;
    const char *last = last_part(path, &n);
    bool fits = strlen(path) + 64 < CK_PATH;
    if (ck_complete_path(path, out)) return 0;
    snprintf(name, sizeof name, "%.*s", (int)MIN(n, sizeof name - 1), last);
    snprintf(manifest, sizeof manifest, "%s/manifest.json", path);
    bool is_step = ck_is_step(name, &step) || !access(manifest, F_OK);
    if (fits && is_step && !access(path, F_OK)) {
        snprintf(out, CK_PATH, "%.*s", (int)(last - path + (ptrdiff_t)n), path);
        return 0;
    }
    uint32_t steps;
    int64_t *list = fits ? ck_steps(path, &steps) : NULL;
    if (list) {
        ck_step_name(name, list[steps - 1]);
        snprintf(out, CK_PATH, "%.*s/%s", (int)(last - path + (ptrdiff_t)n), path, name);
    } else if (access(path, F_OK)) {
        file_error("read", path, error);
    } else {
        snprintf(error, ERROR_BYTES, "%.300s contains no checkpoint", path);
    }
    free(list);
    return list ? 0 : EXIT_ENVIRONMENT;
}

int64_t ck_good_before(const char *step_folder) {
    char folder[CK_PATH], path[CK_PATH + 40], name[32], error[ERROR_BYTES];
    size_t n;
    const char *last = last_part(step_folder, &n);
    int64_t before, good = -1;
    snprintf(name, sizeof name, "%.*s", (int)MIN(n, sizeof name - 1), last);
    if (!ck_is_step(name, &before)) return -1;
    ck_step_parent(step_folder, folder);
    uint32_t steps;
    int64_t *list = ck_steps(folder, &steps);
    while (steps-- > 0 && good < 0) {
        if (list[steps] >= before) continue;
        Checkpoint *k;
        ck_step_name(name, list[steps]);
        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (checkpoint_open(&k, path, error)) continue;
        if (!checkpoint_verify(k, error)) good = list[steps];
        checkpoint_close(k);
    }
    free(list);
    return good;
}

void ck_advise_other_step(const char *step_folder, char *error) {
    int64_t step = ck_good_before(step_folder);
    char name[32];
    size_t n, said = strlen(error);
    const char *last = last_part(step_folder, &n);
    ck_step_name(name, step);
    if (step < 0)
        snprintf(error + said, ERROR_BYTES - said, "\nhelp: no earlier checkpoint is intact");
    else
        snprintf(error + said, ERROR_BYTES - said,
                 "\nhelp: the newest intact checkpoint before it is %.*s%s",
                 (int)MIN(last - step_folder, 100), step_folder, name);
}

/* ---- adding and removing steps */

static int sync_folder(const char *folder, char *error) {
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return file_error("sync", folder, error);
    /* Some file systems cannot sync a folder: their renames are as durable as they get. */
    int code =
        fsync(fd) && errno != EINVAL && errno != ENOTSUP ? file_error("sync", folder, error) : 0;
    close(fd);
    return code;
}

void ck_remove_folder(const char *path) {
    struct stat st;
    if (!lstat(path, &st) && S_ISLNK(st.st_mode)) unlink(path); /* what it names is not ours */
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (fd >= 0 && !d) close(fd);
    for (struct dirent *e; d && (e = readdir(d));)
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..")) unlinkat(fd, e->d_name, 0);
    if (d) closedir(d);
    rmdir(path);
}

/* Whether the name is a step's, such as step-00000400, followed by `end`. */
static bool is_step_with(const char *name, const char *end) {
    char step[32];
    int64_t x;
    const char *dot = strchr(name, '.');
    size_t n = dot ? (size_t)(dot - name) : 0;
    if (!dot || n >= sizeof step) return false;
    memcpy(step, name, n);
    step[n] = 0;
    return ck_is_step(step, &x) && !strncmp(dot, end, strlen(end));
}

/* Removes all of them after syncing their names: a loss of power must not restore the name of an
 * incomplete checkpoint. */
static void remove_all(const char *folder, const char *end) {
    char path[CK_PATH + 300], error[ERROR_BYTES];
    DIR *d = opendir(folder);
    bool synced = false;
    for (struct dirent *e; d && (e = readdir(d));) {
        if (!is_step_with(e->d_name, end)) continue;
        if (!synced && sync_folder(folder, error)) break;
        synced = true;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        ck_remove_folder(path);
    }
    if (d) closedir(d);
}

/* Syncs the parent of the folder; a parent that cannot be opened is ignored. */
static int sync_parent(const char *folder, char *error) {
    char parent[CK_PATH + 4];
    snprintf(parent, sizeof parent, "%s/..", folder);
    return access(parent, R_OK) ? 0 : sync_folder(parent, error);
}

int ck_lock_folder(const char *folder, uint64_t run, CkLock *lock, char *error) {
    if (strlen(folder) + 64 >= CK_PATH) {
        errno = ENAMETOOLONG;
        return file_error("write to", folder, error);
    }
    struct stat st;
    if (is_step(folder))
        return fail_with(
            error, EXIT_USER,
            "cannot write checkpoints to %.300s: it is a checkpoint, which must contain "
            "nothing else\nhelp: name the folder that it is in, or another one",
            folder);
    if (mkdir(folder, 0777) && errno != EEXIST) return file_error("make", folder, error);
    if (stat(folder, &st) || (!S_ISDIR(st.st_mode) && (errno = ENOTDIR)))
        return file_error("write checkpoints to", folder, error);
    int code = ck_take_lock(lock, folder, run, error);
    if (code) return code;
    if (lock->guards) remove_all(folder, PART); /* of a run that died while saving */
    remove_all(folder, GONE);
    return sync_parent(folder, error);
}

void ck_part_path(const char *folder, int64_t step, uint64_t run, char part[CK_PATH]) {
    char name[32];
    ck_step_name(name, step);
    snprintf(part, CK_PATH, "%.4000s/%s" PART "%016" PRIx64, folder, name, run);
}

/* This name need not survive a loss of power: ck_commit_step syncs the final one. */
int ck_begin_step(const CkContents *c, const char *part, char *error) {
    ck_remove_folder(part); /* an earlier attempt of this run */
    int code = mkdir(part, 0777) ? file_error("make", part, error) : 0;
    if (!code && (code = ck_make_full_files(c, part, error))) ck_remove_folder(part);
    return code;
}

int ck_commit_step(const char *folder, const char *part, int64_t step, char *error) {
    char name[32], path[CK_PATH];
    ck_step_name(name, step);
    snprintf(path, sizeof path, "%.4000s/%s", folder, name);
    int code = sync_folder(part, error);
    if (!code && rename(part, path)) code = file_error("make", path, error);
    return code ? code : sync_folder(folder, error);
}

static void leave_step(const char *folder, int64_t step) {
    char name[32], path[CK_PATH], gone[CK_PATH];
    ck_step_name(name, step);
    snprintf(path, sizeof path, "%.4000s/%s", folder, name);
    snprintf(gone, sizeof gone, "%.4000s/%s" GONE "%ld", folder, name, (long)getpid());
    rename(path, gone);
}

void ck_retain_steps(const char *folder, int64_t keep, int64_t keep_every, int64_t best) {
    uint32_t n;
    int64_t *step = ck_steps(folder, &n);
    for (uint32_t i = 0; keep && (int64_t)i + keep < (int64_t)n; i++)
        if (step[i] != best && (!keep_every || step[i] % keep_every)) leave_step(folder, step[i]);
    free(step);
    remove_all(folder, GONE);
}
