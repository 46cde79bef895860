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
