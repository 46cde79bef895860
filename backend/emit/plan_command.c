/* The command that makes a plan again, which the plan carries for messages: the model file and the
 * options, without the number of ranks and the plan's name.
 */
#include <stdio.h>
#include <string.h>

#include "emit.h"

/* Writes a word so that a shell reads it back: in single quotes if necessary. */
static void put_word(Buf *out, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=./,:@%";
    if (*word && !word[strspn(word, plain)]) {
        buf_printf(out, "%s", word);
        return;
    }
    buf_printf(out, "'");
    for (const char *c = word; *c; c++)
        if (*c == '\'')
            buf_printf(out, "'\\''");
        else
            buf_write(out, c, 1);
    buf_printf(out, "'");
}

/* Without the folder: a plan does not depend on where it was compiled. */
static void put_file(Buf *out, const char *path) {
    char name[256];
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') n--;
    const char *slash = memrchr(path, '/', n);
    size_t skip = slash && n > 1 ? (size_t)(slash + 1 - path) : 0;
    snprintf(name, sizeof name, "%.*s", (int)(n - skip), path + skip);
    put_word(out, name);
}

void plan_command(const char *file, const CompileOptions *o, Buf *out) {
    if (o->hf) buf_printf(out, "--hf ");
    put_file(out, file);
    if (o->preset) buf_printf(out, " --preset ");
    if (o->preset) put_word(out, o->preset);
    for (int f = 0; f < IMPORT_FORMATS; f++) {
        if (!o->import[f]) continue;
        buf_printf(out, " --%s ", import_option((ImportFormat)f));
        put_file(out, o->import[f]);
    }
    for (int i = 0; i < o->n_set; i++) {
        buf_printf(out, " -s ");
        put_word(out, o->set[i]);
    }
}
