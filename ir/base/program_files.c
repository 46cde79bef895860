#include "program_files.h"

#include <limits.h>
#include <stdio.h>
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
