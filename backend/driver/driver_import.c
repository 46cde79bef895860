/* fsdpc import: a Hugging Face folder to a model file.
 *
 * Before the file is written, the model is compiled, and the folder's tensors are compared with its
 * parameters: names, shapes, shards of an index.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "driver.h"
#include "report.h"

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
    for (uint32_t i = 0; i < set.n_file && !code; i++)
        if (!driver_keeps_file(d, set.file[i].map.path)) code = EXIT_USER;
    if (code) {
        tensor_set_close(&set);
        return code;
    }
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
    if (!driver_keeps_files(d, NULL)) return EXIT_USER;
    int code = driver_open_plan(d, path, &plan);
    if (code) return code;
    bool weights = driver_is_folder(path) && driver_hf_weights(d, path, &pickle);
    if (weights) code = match_weights(d, path, &plan);
    if (code) return code;
    driver_write(output, text, strlen(text));
    if (!(d->options.given & BIT(QUIET)))
        fprintf(stderr, "%s: a model of family %s with %s parameters%s%s\n", output, family,
                amount_commas(d->arena, plan.settings->parameters),
                weights ? "; its weights: fsdp-run --load " : "", weights ? path : "");
    plan_close(&plan);
    return EXIT_DONE;
}
