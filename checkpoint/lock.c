/* The lock of a folder of checkpoints: one run at a time writes there.
 *
 * A run holds two locks (flock): that of the folder itself, and that of the file `lock` in it,
 * which names the holder and is the only one on file systems that cannot lock folders (NFS). If
 * someone removes the file while the run goes on, a second run still meets the folder's lock.
 * ck_keep_lock, which is called before each save and before anything is removed, creates the file
 * again, and fails if another run has it by then.
 *
 * On file systems without locks (Lustre without -o flock) the run warns once and goes on. It then
 * removes no part of a checkpoint, since it may belong to another run.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint.h"
#include "file_lock.h"

#define WHO "process " /* the first word of the file */

static int file_error(const char *what, const char *path, const char *why, char *error) {
    return fail_with(error, EXIT_ENVIRONMENT, "cannot %s %.300s: %s", what, path, why);
}

static void path_of(const CkLock *l, char path[CK_PATH]) {
    snprintf(path, CK_PATH, "%.4000s/lock", l->folder);
}

static int locked_by_other(const CkLock *l, char *error) {
    char path[CK_PATH], who[160] = "";
    path_of(l, path);
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : pread(fd, who, sizeof who - 1, 0);
    if (fd >= 0) close(fd);
    who[n > 0 ? n : 0] = 0;
    who[strcspn(who, "\n")] = 0;
    return fail_with(
        error, EXIT_ENVIRONMENT,
        "another run writes checkpoints to %.200s%s%s\nhelp: name another folder, or end that "
        "run: one run at a time can write to a folder",
        l->folder, *who ? ": " : "", who);
}

/* Whether it is a lock file made by a run: a regular file with a single name, empty or naming a
 * run. */
static bool is_lock(int fd) {
    struct stat st;
    char start[sizeof WHO - 1];
    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_nlink > 1) return false;
    ssize_t n = pread(fd, start, sizeof start, 0);
    return n == 0 || (n == (ssize_t)sizeof start && !memcmp(start, WHO, sizeof start));
}

static int open_file(const char *path, int *out, char *error) {
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    bool other = fd < 0 ? errno == ELOOP : !is_lock(fd);
    if (fd < 0 && !other) return file_error("write", path, strerror(errno), error);
    if (other) {
        if (fd >= 0) close(fd);
        return file_error("lock", path,
                          "no run created this file\nhelp: move it away, or name another folder",
                          error);
    }
    *out = fd;
    return 0;
}

static bool is_at(int fd, const char *path) {
    struct stat mine, there;
    return !fstat(fd, &mine) && !lstat(path, &there) && mine.st_dev == there.st_dev &&
           mine.st_ino == there.st_ino;
}

static int take_file(CkLock *l, char *error) {
    char path[CK_PATH];
    path_of(l, path);
    for (;;) {
        int code = open_file(path, &l->file, error);
        if (code) return code;
        FileLock got = file_lock(l->file);
        if (got == FILE_LOCKED) l->guards = true;
        if (got == FILE_UNLOCKABLE) l->why = errno;
        if (got != FILE_BUSY && is_at(l->file, path)) return 0;
        close(l->file);
        l->file = -1;
        if (got == FILE_BUSY) return locked_by_other(l, error);
    }
}

static int write_holder(const CkLock *l, char *error) {
    char host[64] = "", who[160], path[CK_PATH];
    gethostname(host, sizeof host - 1);
    int n = snprintf(who, sizeof who, WHO "%ld on %s, run %016" PRIx64 "\n", (long)getpid(), host,
                     l->run);
    int number = ftruncate(l->file, 0) ? errno : file_put(l->file, 0, who, (size_t)n);
    path_of(l, path);
    return number ? file_error("write", path, strerror(number), error) : 0;
}

int ck_take_lock(CkLock *l, const char *folder, uint64_t run, char *error) {
    *l = (CkLock){.folder = folder, .run = run, .file = -1};
    l->itself = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    FileLock got = l->itself < 0 ? FILE_UNLOCKABLE : file_lock(l->itself);
    l->guards = got == FILE_LOCKED;
    int code = got == FILE_BUSY ? locked_by_other(l, error) : take_file(l, error);
    if (!code) code = write_holder(l, error);
    if (code) ck_unlock(l);
    if (!code && !l->guards)
        fprintf(stderr,
                "warning: %s: its file system has no locks (%s): nothing keeps a second run from "
                "writing there too, and what a killed run leaves there stays\n",
                folder, strerror(l->why));
    return code;
}

int ck_keep_lock(CkLock *l, char *error) {
    char path[CK_PATH];
    path_of(l, path);
    if (is_at(l->file, path)) return 0;
    close(l->file);
    l->file = -1;
    int code = take_file(l, error);
    return code ? code : write_holder(l, error);
}

void ck_unlock(CkLock *l) {
    if (l->file >= 0) close(l->file);
    if (l->itself >= 0) close(l->itself);
    l->file = l->itself = -1;
}
