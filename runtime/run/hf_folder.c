/* The folder of --load in Hugging Face's layout, besides its tensors: config.json must describe the
 * plan's model, and the tokenizer must have no ids that the model lacks.
 *
 * Shapes do not tell models apart that differ in rope_theta, an activation or a number of heads, so
 * each key of config.json is compared with the plan's `config hf`. --accept accepts differences by
 * their keys; a note and the log name them.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "hf_config.h"
#include "run.h"

static int refuse_config(const Run *run, const char *file, const Buf *report) {
    fprintf(stderr, "error: %s describes another model than the plan:\n", file);
    for (const char *line = report->at; *line;) {
        size_t n = strcspn(line, "\n");
        fprintf(stderr, "  %.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
    fprintf(stderr,
            "help: `fsdpc compile --hf %s` compiles the model of the folder; `--accept KEY` "
            "accepts one of these differences\n",
            run->options->load);
    return EXIT_CORRUPT;
}

/* Keeps the differences for the log, and says them. */
static void note_accepted(Run *run, const char *file, Buf *accepted) {
    if (!accepted->n) return;
    run->inputs.accepted = buf_text(run->memory, accepted);
    if (!run->options->quiet)
        fprintf(stderr, "note: %s differs from the plan as accepted:\n%s", file,
                run->inputs.accepted);
}

static int compare_config(Run *run, const char *file, HfConfig *c) {
    char error[ERROR_BYTES];
    const Plan *p = run->plan;
    const char *here = plan_string(p, p->settings->hf_config);
    if (!*here) return 0;
    int code = hf_config_read(c, file, run->inputs.weights->arena, error);
    if (code) return say_error(code, "%s", error);
    Buf accepted = {0}, report = {0};
    code = hf_config_compare(c, here, plan_string(p, p->settings->hf_facts), run->options->accept,
                             &accepted, &report);
    if (code)
        code = refuse_config(run, file, &report);
    else
        note_accepted(run, file, &accepted);
    buf_free(&accepted);
    buf_free(&report);
    hf_config_close(c);
    return code;
}

/* ---- the tokenizer ---- */

static json_int_t largest_id(const json_t *root) {
    json_t *vocabulary = json_object_get(json_object_get(root, "model"), "vocab"), *entry;
    json_int_t largest = (json_int_t)json_array_size(vocabulary) - 1;
    const char *key;
    size_t i;
    json_object_foreach(vocabulary, key, entry) largest = MAX(largest, json_integer_value(entry));
    json_array_foreach(json_object_get(root, "added_tokens"), i, entry) largest =
        MAX(largest, json_integer_value(json_object_get(entry, "id")));
    return largest;
}

/* Tables of embeddings are often padded, so a smaller tokenizer is right. */
static int check_tokenizer(const Run *run, const char *file) {
    char error[ERROR_BYTES];
    HfConfig plan;
    const char *here = plan_string(run->plan, run->plan->settings->hf_config);
    if (!*here || access(file, F_OK)) return 0;
    int code = hf_config_parse(&plan, "config.json", here, strlen(here), run->inputs.weights->arena,
                               error);
    if (code) return say_error(code, "%s", error);
    const HfEntry *size = hf_config_find(&plan, "vocab_size");
    json_int_t ids = size ? json_integer_value(size->value) : 0;
    json_error_t fault;
    json_t *root = ids > 0 ? json_load_file(file, JSON_ALLOW_NUL, &fault) : NULL;
    if (ids > 0 && !root && !run->options->quiet)
        fprintf(stderr, "note: %s was not compared with the vocabulary: line %d: %s\n", file,
                fault.line, fault.text);
    json_int_t largest = root ? largest_id(root) : -1;
    json_decref(root);
    hf_config_close(&plan);
    if (largest < ids || hf_accepts(run->options->accept, "tokenizer.json")) return 0;
    return say_error(EXIT_CORRUPT,
                     "%s has ids up to %lld, and the model's vocabulary has %lld ids\n"
                     "help: tokenizer and model do not belong together; `--accept tokenizer.json` "
                     "accepts it",
                     file, (long long)largest, (long long)ids);
}

int hf_folder_check(Run *run) {
    Arena *a = run->inputs.weights->arena;
    HfConfig config;
    const char *folder = run->inputs.weights->folder;
    if (!folder) return 0;
    const char *file = arena_printf(a, "%s" CONFIG_FILE, folder);
    int code = access(file, F_OK) ? 0 : compare_config(run, file, &config);
    return code ? code : check_tokenizer(run, arena_printf(a, "%stokenizer.json", folder));
}
