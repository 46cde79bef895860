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

#include "driver_files.h"
#include "families.h"
#include "report.h"

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

#define TOKENS "train_" /* how the names of token files in a folder begin */

/* Whether the folder has safetensors; a file of weights in another format, the first by name. */
static bool driver_hf_weights(Driver *d, const char *folder, const char **other) {
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

/* The token files that tools/tokenize.py wrote into the folder, as a pattern; NULL: none. */
static const char *own_tokens(Driver *d, const char *folder) {
    const char *slash = ends_with(folder, "/") ? "" : "/";
    const char *pattern = arena_printf(d->arena, "%s%s" TOKENS "*.bin", folder, slash);
    glob_t found;
    bool any = !strpbrk(folder, "\"\\*?[") && !glob(pattern, 0, NULL, &found);
    if (any) globfree(&found);
    return any ? pattern : NULL;
}

const char *driver_hf_text(Driver *d, const char *path, const char **family) {
    char error[ERROR_BYTES];
    HfConfig c;
    const char *file, *tokens = NULL;
    if (hf_is_folder(d->arena, path, &file)) {
        if (only_pickles(d, path)) return NULL;
        tokens = own_tokens(d, path);
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

/* ---- fsdpc import ----
 *
 * Before the file is written, the model is compiled, and the folder's tensors are compared with its
 * parameters: names, shapes, shards of an index. */

/* Whether the tensors of the folder are the parameters of the model. */
static int match_weights(Driver *d, const char *folder, const Plan *plan) {
    char error[ERROR_BYTES];
    TensorSet set;
    int code = tensor_set_open(&set, folder, error);
    if (code && !strchr(error, '\n'))
        return driver_mistake(d, E_hf_config, "download the folder again", "%s", error);
    if (code) return driver_fault(d, code, E_hf_config, error);
    TensorMatch *match = arena_array(d->arena, TensorMatch, plan->n_params + 1);
    Buf report = {0};
    code = tensors_match(plan, &set, match, &report);
    if (code)
        driver_mistake(d, E_hf_config, "config.json and the weights are of different models",
                       "%.*s", (int)report.n - 1, report.at);
    buf_free(&report);
    tensor_set_close(&set);
    return code;
}

int driver_import(Driver *d) {
    const char *path = d->options.files.at[0], *output = d->options.output, *family, *pickle = NULL;
    if (!output)
        return driver_mistake(d, E_missing_argument,
                              "`-o -` writes the model file to standard output",
                              "`fsdpc import` needs -o FILE for the model file");
    const char *text = driver_hf_text(d, path, &family);
    if (!text) return diag_exit_code(&d->diags);
    Plan plan;
    d->options.hf = path;
    int code = driver_open_plan(d, path, &plan);
    if (code) return code;
    bool weights = driver_is_folder(path) && driver_hf_weights(d, path, &pickle);
    if (weights) code = match_weights(d, path, &plan);
    if (code) return code;
    driver_write(output, text, strlen(text));
    if (!(d->options.given & OPTION_QUIET))
        fprintf(stderr, "%s: a model of family %s with %s parameters%s%s\n", output, family,
                amount_commas(d->arena, plan.settings->parameters),
                weights ? "; its weights: fsdp-run --load " : "", weights ? path : "");
    plan_close(&plan);
    return EXIT_DONE;
}
