/* Finds where an output file of the run will be. Links are followed, even if they are dangling, so
 * that the file is created or replaced at the link's destination and the link stays a link. Also
 * says what exists there now, and whether a file can be written there. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "tensors.h"

enum { MOST_LINKS = 40 };

static int cannot(const Target *t, char *error, const char *why) {
    return fail_with(error, EXIT_ENVIRONMENT, "cannot write %s: %s", t->path, why);
}

static int no_folder(const Target *t, char *error) {
    if (errno != ENOENT) return cannot(t, error, strerror(errno));
    return fail_with(error, EXIT_ENVIRONMENT, "cannot write %.200s: there is no folder %.200s",
                     t->path, t->folder);
}

/* The length of the folder in `path`, including the slash. */
static size_t folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Replaces t->file, a link, by its destination. */
static bool follow_link(Target *t) {
    char to[PATH_MAX];
    ssize_t n = readlink(t->file, to, sizeof to - 1);
    if (n < 0) return false;
    to[n] = 0;
    size_t keep = *to == '/' ? 0 : folder_length(t->file);
    errno = ENAMETOOLONG;
    if (keep + (size_t)n >= sizeof t->file) return false;
    memcpy(t->file + keep, to, (size_t)n + 1);
    return true;
}

int target_find(Target *t, const char *path, char *error) {
    *t = (Target){.path = path};
    if (strlen(path) >= sizeof t->file) return cannot(t, error, strerror(ENAMETOOLONG));
    strcpy(t->file, path);
    for (int links = 0;; links++) {
        t->exists = !lstat(t->file, &t->now);
        if (!t->exists && errno != ENOENT) return cannot(t, error, strerror(errno));
        if (!t->exists || !S_ISLNK(t->now.st_mode)) break;
        if (links == MOST_LINKS) return cannot(t, error, strerror(ELOOP));
        if (!follow_link(t)) return cannot(t, error, strerror(errno));
    }
    size_t n = folder_length(t->file);
    snprintf(t->folder, sizeof t->folder, "%.*s", n ? (int)n : 2, n ? t->file : "./");
    if (stat(t->folder, &t->folder_now)) return no_folder(t, error);
    return !t->file[n] ? cannot(t, error, "it is a directory") : 0;
}

/* Whether it is the folder of a checkpoint's step, which must contain only what its manifest
 * lists. */
static bool is_step(const char *folder) {
    static const char start[] = "step-";
    char path[PATH_MAX + 16];
    size_t n = strlen(folder);
    while (n && folder[n - 1] == '/') n--;
    const char *name = memrchr(folder, '/', n);
    name = name ? name + 1 : folder;
    snprintf(path, sizeof path, "%s/manifest.json", folder);
    return !strncmp(name, start, sizeof start - 1) && !access(path, F_OK);
}

/* Whether the folder can be created, or filled if it exists. */
static int check_folder(const Target *t, char *error) {
    if (t->exists && !S_ISDIR(t->now.st_mode)) return cannot(t, error, "it is not a folder");
    if (t->exists && access(t->file, W_OK | X_OK)) return cannot(t, error, strerror(errno));
    if (access(t->folder, W_OK | X_OK)) return cannot(t, error, strerror(errno));
    return 0;
}

int target_check(const Target *t, bool folder, char *error) {
    if (is_step(folder ? t->file : t->folder))
        return fail_with(
            error, EXIT_USER,
            "cannot write %s: a checkpoint must contain nothing else\nhelp: name another place",
            t->path);
    if (folder) return check_folder(t, error);
    if (t->exists && S_ISDIR(t->now.st_mode)) return cannot(t, error, "it is a directory");
    if (t->exists && !S_ISREG(t->now.st_mode))
        return fail_with(error, EXIT_USER,
                         "cannot write %s: it is a %s\nhelp: name a file to create or replace",
                         t->path,
                         S_ISFIFO(t->now.st_mode)   ? "FIFO"
                         : S_ISSOCK(t->now.st_mode) ? "socket"
                                                    : "device");
    if (t->exists && access(t->file, W_OK)) return cannot(t, error, strerror(errno));
    if (access(t->folder, W_OK | X_OK)) return cannot(t, error, strerror(errno));
    return 0;
}

int target_room(const Target *t, uint64_t bytes, uint64_t largest, uint64_t others, char *error) {
    struct statvfs disk;
    struct rlimit size;
    if (!getrlimit(RLIMIT_FSIZE, &size) && size.rlim_cur != RLIM_INFINITY &&
        largest > size.rlim_cur)
        return fail_with(
            error, EXIT_ENVIRONMENT,
            "cannot write %s: it needs %llu bytes, and the limit on a file's size (ulimit -f) "
            "is %llu bytes",
            t->path, (unsigned long long)largest, (unsigned long long)size.rlim_cur);
    if (statvfs(t->folder, &disk)) return 0; /* not known */
    uint64_t room = (uint64_t)disk.f_bavail * disk.f_frsize;
    if (bytes <= room && others <= room - bytes) return 0;
    return fail_with(error, EXIT_ENVIRONMENT,
                     "cannot write %s: it needs %llu bytes%s, and %llu are free on its disk\n"
                     "help: an existing file is replaced only when the new one is complete",
                     t->path, (unsigned long long)(bytes + others),
                     others ? " with --dump-grads" : "", (unsigned long long)room);
}

bool target_same(const Target *a, const Target *b) {
    if (a->exists && b->exists)
        return a->now.st_dev == b->now.st_dev && a->now.st_ino == b->now.st_ino;
    return a->exists == b->exists && a->folder_now.st_dev == b->folder_now.st_dev &&
           a->folder_now.st_ino == b->folder_now.st_ino &&
           !strcmp(a->file + folder_length(a->file), b->file + folder_length(b->file));
}

/* ---- how to write weights, as users state it */

const char *const save_types[] = {"f32", "bf16", "f16", NULL};

bool save_type(const char *word, FileType *out) {
    static const FileType type[] = {FT_F32, FT_BF16, FT_F16};
    for (size_t i = 0; save_types[i]; i++)
        if (!strcmp(word, save_types[i])) {
            *out = type[i];
            return true;
        }
    return false;
}

bool save_size(const char *text, uint64_t *out) {
    size_t digits = strspn(text, "0123456789"), length = strlen(text);
    uint64_t n = strtoull(text, NULL, 10);
    if (!digits || digits > 9 || !n || length < digits + 2 || text[length - 1] != 'B') return false;
    uint64_t factor = suffix_factor(text + digits, length - digits);
    return factor && !__builtin_mul_overflow(n, factor, out);
}

char *save_folder(const char *path) {
    struct stat st;
    size_t n = strlen(path);
    if (!n || (path[n - 1] != '/' && (stat(path, &st) || !S_ISDIR(st.st_mode)))) return NULL;
    while (n > 1 && path[n - 1] == '/') n--;
    char *folder = strndup(path, n);
    CHECK(folder);
    return folder;
}
