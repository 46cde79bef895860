/* --hf: a model file made of the config.json of a Hugging Face folder.
 *
 * The text is made by frontend/families. Here: which file is meant, and that the weights of the
 * folder can be read.
 */
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "driver.h"
#include "families.h"

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

#define TOKENS "train_" /* how the names of token files in a folder begin */

bool driver_hf_weights(Driver *d, const char *folder, const char **other) {
    static const char *const others[] = {".bin",  ".pt", ".pth",     ".pkl",
                                         ".ckpt", ".h5", ".msgpack", ".gguf"};
    bool found = false;
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        found |= ends_with(e->d_name, ".safetensors") || !strcmp(e->d_name, INDEX_FILE);
        for (size_t i = 0; i < ARRAY_LEN(others); i++)
            if (ends_with(e->d_name, others[i]) && strncmp(e->d_name, TOKENS, strlen(TOKENS)) &&
                (!*other || strcmp(e->d_name, *other) < 0))
                *other = arena_strdup(d->arena, e->d_name);
    }
    if (dir) closedir(dir);
    return found;
}

static bool only_pickles(Driver *d, const char *folder) {
    const char *pickle = NULL;
    if (driver_hf_weights(d, folder, &pickle) || !pickle) return false;
    driver_mistake(d, E_hf_family,
                   "save the weights as safetensors first: "
                   "AutoModelForCausalLM.from_pretrained(FOLDER).save_pretrained(NEW); or name "
                   "config.json alone",
                   "%s has weights only in a format that is not read: %s", folder, pickle);
    return true;
}

/* The token files that tools/tokenize.py wrote into the folder, as a pattern; NULL: none. false
 * after a reported error. */
static bool own_tokens(Driver *d, const char *folder, const char **pattern) {
    Buf text = {0};
    glob_t found;
    for (const char *at = folder; *at; at++)
        buf_printf(&text, strchr("\\*?[]", *at) ? "\\%c" : "%c", *at);
    buf_printf(&text, "%s" TOKENS "*.bin", ends_with(folder, "/") ? "" : "/");
    *pattern = buf_text(d->arena, &text);
    if (glob(*pattern, 0, NULL, &found)) {
        *pattern = NULL;
        return true;
    }
    globfree(&found);
    if (!strpbrk(folder, "\"\n")) return true;
    driver_mistake(d, E_option_value, "rename the folder",
                   "%s has token files, which no string of a model file can name", folder);
    return false;
}

const char *driver_hf_text(Driver *d, const char *path, const char **family) {
    char error[ERROR_BYTES];
    HfConfig c;
    const char *file, *tokens = NULL;
    if (hf_is_folder(d->arena, path, &file)) {
        if (only_pickles(d, path) || !own_tokens(d, path, &tokens)) return NULL;
    }
    int code = hf_config_read(&c, file, d->arena, error);
    if (code == EXIT_ENVIRONMENT)
        fail_environment("%s\n"
                         "help: name a Hugging Face folder or its config.json; `hf download NAME "
                         "--local-dir DIR` makes a folder; an adapter has to be merged into its "
                         "model first",
                         error);
    if (code) {
        char *help = strstr(error, "\nhelp: ");
        if (help) *help = 0;
        driver_mistake(d, E_hf_config, help ? help + strlen("\nhelp: ") : NULL, "%s", error);
        return NULL;
    }
    const char *text = family_import(&d->diags, &c, tokens, family);
    hf_config_close(&c);
    return text;
}
