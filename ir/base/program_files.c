#include "program_files.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool program_file(const char *folder, const char *name, char *out, size_t size) {
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0) return false;
    self[n] = 0;
    char *slash = strrchr(self, '/');
    if (slash) *slash = 0;
    return snprintf(out, size, "%s/%s%s", self, folder, name) < (int)size && !access(out, R_OK);
}

const char *shared_file(Arena *a, const char *path) {
    static const char *const folders[] = {"models/", "machines/"}, *const places[] = {
                                                                       "../share/fsdpc/", "../"};
    char found[PATH_MAX];
    for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
        if (strncmp(path, folders[i], strlen(folders[i])) || !access(path, F_OK)) continue;
        for (size_t k = 0; k < ARRAY_LEN(places); k++)
            if (program_file(places[k], path, found, sizeof found)) return arena_strdup(a, found);
    }
    return path;
}

const char *temporary_folder(Arena *a, const char *name) {
    enum { LETTERS = 6 }; /* that mkdtemp chooses; they must be X before */
    const char *base = getenv("TMPDIR");
    char *path = arena_printf(a, "%s/%s-%*s", base && *base ? base : "/tmp", name, LETTERS, "");
    memset(path + strlen(path) - LETTERS, 'X', LETTERS);
    if (!mkdtemp(path))
        fail_environment(
            "cannot make the folder %s: %s; set TMPDIR to a folder that can be written", path,
            strerror(errno));
    return path;
}

void temporary_folder_remove(const char *path) {
    DIR *folder = opendir(path);
    const struct dirent *file;
    while (folder && (file = readdir(folder)))
        if (strcmp(file->d_name, ".") && strcmp(file->d_name, ".."))
            unlinkat(dirfd(folder), file->d_name, 0);
    if (folder) closedir(folder);
    rmdir(path);
}
