/* config.json of a Hugging Face folder: its keys under one name each.
 *
 * In: the file or its text. Out: entries whose keys are paths (`rope_scaling.factor`) and whose
 * names and values are the standard ones of hf_keys.def, whichever version of Transformers wrote
 * the file. Knows no family: what a key means is said by a model's `config hf` section.
 *
 * Functions that return int return 0 or an exit code after writing a message to `error`
 * (ERROR_BYTES).
 */
#ifndef FSDPC_HF_CONFIG_H
#define FSDPC_HF_CONFIG_H

#include "util.h"

struct json_t;
typedef struct HfEntry {
    const char *key, *given;    /* the standard name, and the one in the file */
    const struct json_t *value; /* no object */
} HfEntry;
typedef struct HfConfig {
    const char *path;
    struct json_t *root;
    VEC(HfEntry) entries; /* without keys that change no numbers in any family */
    Arena *arena;
} HfConfig;

int hf_config_read(HfConfig *c, const char *path, Arena *a, char *error);
/* The same for a text; `path` is its name in messages. */
int hf_config_parse(HfConfig *c, const char *path, const char *text, size_t n, Arena *a,
                    char *error);
void hf_config_close(HfConfig *c);
const HfEntry *hf_config_find(const HfConfig *c, const char *key); /* NULL: it is not there */
const char *hf_standard_name(Arena *a, const char *key);
/* Whether the key changes no numbers, in any family, or shapes of tensors only. */
bool hf_key_idle(const char *key);
/* Whether the key names Python code of the folder. */
bool hf_key_own_code(const char *key);
/* Whether this value leaves off a feature that a model without the key lacks: null, or false. */
bool hf_key_off(const char *key, const struct json_t *value);
/* The value as in the file, at most about 60 characters; "nothing" for NULL. */
const char *hf_value_text(Arena *a, const struct json_t *value);
/* Equal as Transformers reads them: 1 is 1.0, a missing value is null. */
bool hf_values_equal(const struct json_t *a, const struct json_t *b);
/* Whether the path is a folder; its config.json, or the file that the path is. */
bool hf_is_folder(Arena *a, const char *path, const char **file);

/* The text of a config.json that ends with `"torch_dtype": ..}`, with those keys of the file
 * `origin` that change no numbers and that it lacks. Frees the text; the result is malloc'ed. */
char *hf_config_carry(char *text, const char *origin);

/* hf_compare.c: whether a folder's config.json describes the model of a plan.
 *
 * plan: the text that --save would write; facts: for keys that the folder may lack the value that
 * Transformers takes then, and keys without effect (frontend/settings/hf_config.c). Keys of
 * `accept` (NULL, or names with commas between them) may differ; the differences found are appended
 * to `accepted`, one line each. Otherwise EXIT_CORRUPT, with all differences in `report`. */
int hf_config_compare(const HfConfig *folder, const char *plan, const char *facts,
                      const char *accept, Buf *accepted, Buf *report);
bool hf_accepts(const char *accept, const char *key);

#endif
