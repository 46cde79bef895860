/* Lookups in a names table: the rule that names a path, and the replacement of its `*`. */
#include <string.h>

#include "names.h"

int count_stars(const char *text) {
    int n = 0;
    for (; *text; text++) n += *text == '*';
    return n;
}

NamesRule *names_rule(const NamesTable *t, const char *path) {
    for (uint32_t i = 0; i < t->rules.n; i++)
        if (glob_match(t->rules.at[i].pattern, path, NULL, NULL, 0)) return &t->rules.at[i];
    return NULL;
}

const char *fill_stars(Arena *a, const char *name, const char *const *captures, int n, int *used) {
    Buf out = {0};
    for (const char *c = name; *c;) {
        size_t plain = strcspn(c, "*");
        buf_write(&out, c, plain);
        c += plain;
        if (!*c) break;
        if (*used == n) {
            buf_free(&out);
            return NULL;
        }
        buf_write(&out, captures[*used], strlen(captures[*used]));
        ++*used;
        c++;
    }
    const char *filled = arena_strndup(a, out.at ? out.at : "", out.n);
    buf_free(&out);
    return filled;
}
