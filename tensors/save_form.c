/* How to write weights, as users state it: a folder or a file, the type of the numbers, the size of
 * the files. */
#include <stdlib.h>
#include <string.h>

#include "tensors.h"

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
    static const struct {
        const char *name;
        uint64_t bytes;
    } unit[] = {{"KB", 1000},     {"MB", 1000000},  {"GB", 1000000000},
                {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};
    size_t digits = strspn(text, "0123456789");
    uint64_t n = strtoull(text, NULL, 10);
    for (size_t i = 0; digits && digits < 10 && n && i < ARRAY_LEN(unit); i++)
        if (!strcmp(text + digits, unit[i].name)) {
            *out = n * unit[i].bytes;
            return true;
        }
    return false;
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
