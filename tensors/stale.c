/* Removes what a killed run left of a save: NAME.part-NUMBER, a file or a folder next to the
 * target, and .part-NUMBER in a folder that existed before. The next run that saves there removes
 * it.
 *
 * A writer holds a lock (flock) on its part from its creation until the part has its final name, so
 * a part that can be locked has no writer. On file systems without locks nothing is removed.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "file_lock.h"
#include "tensors.h"
#include "util.h"

bool part_lock(int fd) {
    struct stat st;
    FileLock got;
    while ((got = file_lock(fd)) == FILE_BUSY)
        usleep(1000); /* another process looks for stale parts */
    return got == FILE_UNLOCKABLE || fstat(fd, &st) || st.st_nlink > 0;
}

int part_create(const char *path) {
    int fd;
    while ((fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) >= 0 && !part_lock(fd))
        close(fd);
    return fd;
}

/* Whether the part has no writer; if so, it is now locked. */
static bool is_stale(int fd, int folder, const char *name) {
    struct stat st, now;
    return !fstat(fd, &st) && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) &&
           file_lock(fd) == FILE_LOCKED && !fstatat(folder, name, &now, AT_SYMLINK_NOFOLLOW) &&
           now.st_dev == st.st_dev && now.st_ino == st.st_ino;
}

static bool remove_part(int folder, const char *name) {
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return false;
    bool stale = is_stale(fd, folder, name);
    if (stale && unlinkat(folder, name, 0)) {
        DIR *d = fdopendir(dup(fd)); /* NULL unless it is a folder */
        for (struct dirent *e; d && (e = readdir(d));)
            if (writer_makes(e->d_name)) unlinkat(fd, e->d_name, 0);
        if (d) closedir(d);
        stale = !unlinkat(folder, name, AT_REMOVEDIR);
    }
    close(fd);
    return stale;
}

static void remove_parts(const char *folder, const char *base, bool quiet) {
    static const char part[] = ".part-";
    size_t n = strlen(base);
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        const char *rest = e->d_name + n;
        if (strncmp(e->d_name, base, n) || strncmp(rest, part, sizeof part - 1)) continue;
        const char *number = rest + sizeof part - 1;
        if (!*number || number[strspn(number, "0123456789")]) continue;
        if (remove_part(dirfd(d), e->d_name) && !quiet)
            fprintf(stderr, "note: removed %s%s, left by a run that was killed\n",
                    strcmp(folder, "./") ? folder : "", e->d_name);
    }
    if (d) closedir(d);
}

void writer_remove_stale(const Target *t, bool quiet) {
    const char *slash = strrchr(t->file, '/');
    remove_parts(t->folder, slash ? slash + 1 : t->file, quiet);
    char inside[PATH_MAX + 2];
    snprintf(inside, sizeof inside, "%s/", t->file);
    if (t->exists && S_ISDIR(t->now.st_mode)) remove_parts(inside, "", quiet);
}
