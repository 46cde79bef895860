/* The options of fsdpc as one table: letter, word, argument, doc. `--word=value` and `--word
 * value`, `-lvalue` and `-l value` are equivalent; `--` ends the options. Every command has a mask
 * of the options that it takes; any other option is an error that suggests the nearest name. If an
 * option is given twice, the last value counts; values of -s accumulate.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "program_files.h"
#include "report.h"

const OptionInfo option_table[] = {
    {OPTION_OUTPUT, 'o', "output", "FILE", "write the result to FILE; `-` is standard output",
     "fsdpc compile model.fsd -o plan.bin"},
    {OPTION_RANKS, 'n', "ranks", "N", "total number of ranks; axis dp is N / the other axes",
     "fsdpc compile -n 2 model.fsd -o plan.bin"},
    {OPTION_MESH, 0, "mesh", "A=N,..", "the mesh, outermost axis first: dp=4, or rep=2,dp=4",
     "fsdpc compile --mesh dp=2 model.fsd -o plan.bin"},
    {OPTION_PRESET, 0, "preset", "NAME", "a preset of the model file",
     "fsdpc compile --preset big model.fsd -o plan.bin"},
    {OPTION_ACCELERATE, 0, "accelerate", "FILE", "settings from a YAML file of `accelerate config`",
     "fsdpc compile --accelerate config.yaml model.fsd -o plan.bin"},
    {OPTION_DEEPSPEED, 0, "deepspeed", "FILE", "settings from a JSON file of DeepSpeed",
     "fsdpc compile --deepspeed config.json model.fsd -o plan.bin"},
    {OPTION_HF, 0, "hf", "DIR", "a Hugging Face folder or config.json in place of the model file",
     "fsdpc compile --hf hub/ -o plan.bin"},
    {OPTION_SET, 's', "set", "PATH=EXPR",
     "a config name (L=4), key (train.batch=8) or path (shard.\"h.*\"=unit); repeatable",
     "fsdpc compile -s L=4 -s train.batch=64 -s 'shard.\"h.0\"=reshard(false)' model.fsd -o "
     "plan.bin"},
    {OPTION_STAGE, 0, "stage", "STAGE",
     "plan (default), config, or a level or pass: the graph after it",
     "fsdpc dump --stage=config model.fsd"},
    {OPTION_FORMAT, 0, "format", "FORMAT", "text (default) or json",
     "fsdpc dump --format=json model.fsd"},
    {OPTION_RANK, 0, "rank", "R", "with --format=json: the pieces that rank R holds, or `all`",
     "fsdpc dump --format=json --rank 0 model.fsd"},
    {OPTION_ALL, 0, "all", NULL, "of a plan: fold nothing, neither layers that repeat nor views",
     "fsdpc dump --all plan.bin"},
    {OPTION_ONLY, 0, "only", "PATH", "of a plan: the lines of PATH (h.3, h.*.attn) and below",
     "fsdpc dump --only head model.fsd"},
    {OPTION_RAW, 0, "raw", NULL, "of a plan: everything that is in it, for tools",
     "fsdpc dump --raw plan.bin"},
    {OPTION_PASS, 0, "pass", "NAMES", "passes to run, separated by commas",
     "fsdpc dump --stage=model model.fsd | fsdpc opt --pass=fuse_packed_attention,grad"},
    {OPTION_PRINT_AFTER, 0, "print-after", "PASS", "print the graph after PASS, on stderr",
     "fsdpc compile --print-after=wrap model.fsd -o plan.bin"},
    {OPTION_PRINT_AFTER_ALL, 0, "print-after-all", NULL, "after every pass",
     "fsdpc compile --print-after-all model.fsd -o plan.bin"},
    {OPTION_PRINT_AFTER_CHANGE, 0, "print-after-change", NULL, "after passes that changed it",
     "fsdpc compile --print-after-change model.fsd -o plan.bin"},
    {OPTION_PASS_TIMING, 0, "pass-timing", NULL, "print the time of every pass, on stderr",
     "fsdpc compile --pass-timing model.fsd -o plan.bin"},
    {OPTION_ERROR_FORMAT, 0, "error-format", "FORMAT", "text (default) or json: one object a line",
     "fsdpc compile --error-format=json model.fsd -o plan.bin"},
    {OPTION_QUIET, 'q', "quiet", NULL, "print errors only",
     "fsdpc compile -q model.fsd -o plan.bin"},
    {OPTION_VERBOSE, 'v', "verbose", NULL, "print what was proved, and for how many objects",
     "fsdpc check -v plan.bin"},
    {OPTION_RATE, 0, "lr", NULL, "draw the learning rate too",
     "fsdp-run -q --log run.jsonl plan.bin >/dev/null && fsdpc plot --lr run.jsonl -o run.svg"},
    {OPTION_WARN, 'W', "warn", "NAME",
     "no-NAME silences a warning, error makes all of them errors, error=NAME one; repeatable",
     "fsdpc compile -W error -W no-one-unit model.fsd -o plan.bin"},
    {OPTION_DTYPE, 0, "dtype", "TYPE",
     "numbers of the weights: f32, bf16 or f16; default: as they are",
     "fsdpc convert old -o weights/ --dtype bf16"},
    {OPTION_MAX_FILE, 0, "max-file", "SIZE",
     "with a folder: tensors in one file at most, such as 500MB or 2GiB; default 5GB",
     "fsdpc convert old -o weights/ --max-file 2GB"},
    {OPTION_MEMORY, 0, "memory", "SIZE", "memory of a device, such as 80GiB or 500MB",
     "fsdpc fit --memory 80GiB model.fsd"},
    {OPTION_OUTSIDE, 0, "outside", "SIZE",
     "of --memory, what is not for the plan: the driver's context, libraries, other programs",
     "fsdpc fit --memory 80GiB --outside 3GiB model.fsd"},
    {OPTION_MACHINE, 0, "machine", "FILE",
     "constants of a machine, from which the time of a step follows; see docs/time.md",
     "fsdpc compile --machine h100-80.machine model.fsd -o plan.bin"},
    {OPTION_DEVICE, 0, "device", "KIND",
     "cuda or cpu; without --machine, fit takes cuda, and machine cpu",
     "fsdpc fit --memory 16GiB --device cpu model.fsd"},
    {OPTION_THREADS, 0, "threads", "N",
     "threads of a rank, as for fsdp-run; default: cores / ranks",
     "fsdpc machine --fit f32.json --threads 1 -o here.machine"},
    {OPTION_PLAN, 0, "plan", NULL,
     "write the measuring plans into the folder of -o, and run nothing",
     "fsdpc machine --plan -n 8 -o measure"},
    {OPTION_FIT, 0, "fit", NULL, "the arguments are traces of measuring plans: fit a file to them",
     "fsdpc machine --fit f32.json --threads 1 -o here.machine"},
    {OPTION_HELP, 'h', "help", NULL, "this text", "fsdpc compile --help"},
};
const int n_options = ARRAY_LEN(option_table);

/* ---- words that options take ---- */

static size_t stage_words(OptionWord *words) {
    size_t n = 0;
    words[n++] = (OptionWord){"config", "each final value and where it came from"};
    for (int i = 0; i < LEVEL_COUNT; i++)
        words[n++] = (OptionWord){level_name((OpLevel)i), "the graph of this level"};
    for (int i = 0; i < n_passes; i++)
        if (strcmp(pass_table[i].name, level_name(pass_table[i].out)))
            words[n++] = (OptionWord){pass_table[i].name, pass_table[i].doc};
    words[n++] = (OptionWord){"plan", "what fsdp-run executes"};
    return n;
}

static size_t warning_words(Arena *a, OptionWord *words, size_t max) {
    size_t n = 0;
    words[n++] = (OptionWord){"error", "every warning is an error"};
    for (int i = 0; i < DIAG_COUNT; i++)
        if (diag_info[i].name && n < max)
            words[n++] =
                (OptionWord){arena_printf(a, "no-%s", diag_info[i].name), diag_info[i].title};
    return n;
}

size_t driver_option_words(Arena *a, const OptionInfo *o, OptionWord *words, size_t max) {
    size_t n = 0;
    CHECK((size_t)n_passes + LEVEL_COUNT + 2 <= max);
    switch (o->bit) {
    case OPTION_STAGE: return stage_words(words);
    case OPTION_PASS:
    case OPTION_PRINT_AFTER:
        for (int i = 0; i < n_passes; i++)
            words[n++] = (OptionWord){pass_table[i].name, pass_table[i].doc};
        return n;
    case OPTION_FORMAT:
    case OPTION_ERROR_FORMAT:
        words[n++] = (OptionWord){"text", "for people"};
        words[n++] = (OptionWord){"json", "for tools"};
        return n;
    case OPTION_WARN: return warning_words(a, words, max);
    case OPTION_DTYPE:
        for (; save_types[n]; n++) words[n] = (OptionWord){save_types[n], "of this type"};
        return n;
    case OPTION_DEVICE:
        for (; n < DEVICE_KINDS; n++)
            words[n] = (OptionWord){word_of(&words_DeviceKind, (int)n), "a kind of device"};
        return n;
    case OPTION_RANK: words[n++] = (OptionWord){"all", "the pieces of every rank"}; return n;
    default: return 0;
    }
}

/* ---- help ---- */

void driver_option_help(uint64_t options, Buf *out) {
    for (size_t i = 0; i < ARRAY_LEN(option_table); i++) {
        const OptionInfo *o = &option_table[i];
        if (!(options & o->bit)) continue;
        char word[64], letter[8] = "    ";
        if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
        snprintf(word, sizeof word, "--%s%s%s", o->name, o->argument ? " " : "",
                 o->argument ? o->argument : "");
        buf_printf(out, "  %s%-22s %s\n", letter, word, o->doc);
    }
}

void driver_option_pages(HelpBook *b, HelpChapter *c) {
    for (size_t i = 0; i < ARRAY_LEN(option_table); i++) {
        const OptionInfo *o = &option_table[i];
        char commands[128];
        size_t n = 0;
        for (int k = 0; k < n_commands; k++)
            if ((command_table[k].options | OPTION_HELP) & o->bit)
                n += (size_t)snprintf(commands + n, sizeof commands - n, "%s%s", n ? ", " : "",
                                      command_table[k].name);
        help_page(b, c,
                  (HelpPage){.name = arena_printf(b->arena, "--%s", o->name),
                             .alias = o->letter ? arena_printf(b->arena, "-%c", o->letter) : NULL,
                             .kind = arena_printf(b->arena, "option of fsdpc %s", commands),
                             .form = arena_printf(
                                 b->arena, "%s%c%s--%s%s%s", o->letter ? "-" : "",
                                 o->letter ? o->letter : ' ', o->letter ? ", " : "", o->name,
                                 o->argument ? " " : "", o->argument ? o->argument : ""),
                             .doc = o->doc,
                             .example = o->example,
                             .where = EXAMPLE_SHELL});
    }
}

static bool unknown_option(Driver *d, const char *text, size_t n) {
    const char *names[ARRAY_LEN(option_table)];
    size_t n_names = 0;
    const char *word = arena_strndup(d->arena, text, n);
    const char *bare = word + strspn(word, "-");
    const char *help = arena_printf(d->arena, "fsdpc %s --help lists them", d->command->name);
    for (size_t i = 0; i < ARRAY_LEN(option_table); i++) {
        const OptionInfo *o = &option_table[i];
        if ((d->command->options | OPTION_HELP) & o->bit) names[n_names++] = o->name;
    }
    const char *nearest = strlen(bare) > 1 ? nearest_name(bare, names, n_names) : NULL;
    if (nearest) help = arena_printf(d->arena, "did you mean `--%s`?", nearest);
    driver_mistake(d, E_unknown_option, help, "`fsdpc %s` has no option `%s`", d->command->name,
                   word);
    return false;
}

static bool wrong_value(Driver *d, const OptionInfo *o, const char *value, const char *takes) {
    const char letter[] = {o->letter, 0};
    driver_mistake(d, E_option_value, NULL, "`%s%s` takes %s, not `%s`", o->letter ? "-" : "--",
                   o->letter ? letter : o->name, takes, value);
    return false;
}

static bool whole_number(const char *value, int64_t lowest, int64_t highest, int64_t *out) {
    char *end;
    errno = 0;
    long long n = strtoll(value, &end, 10);
    if (!*value || *end || errno || n < lowest || n > highest) return false;
    *out = n;
    return true;
}

static bool set_stage(Driver *d, const OptionInfo *o, const char *value) {
    OptionWord words[64];
    const char *names[ARRAY_LEN(words)];
    size_t n = driver_option_words(d->arena, o, words, ARRAY_LEN(words));
    Buf list = {0};
    for (size_t i = 0; i < n; i++) {
        names[i] = words[i].word;
        if (!strcmp(names[i], value)) {
            d->options.stage = value;
            return true;
        }
        buf_printf(&list, "%s%s", i ? ", " : "stages: ", names[i]);
    }
    const char *help = nearest_help(d->arena, value, names, n, buf_text(d->arena, &list));
    driver_mistake(d, E_option_value, help, "`--%s`: there is no stage `%s`", o->name, value);
    return false;
}

static bool set_warning(Driver *d, const char *value) {
    OptionWord words[64];
    const char *names[ARRAY_LEN(words)];
    size_t n = warning_words(d->arena, words, ARRAY_LEN(words));
    if (diag_choose(&d->diags, value)) return true;
    for (size_t i = 0; i < n; i++) names[i] = words[i].word;
    const char *help = nearest_help(d->arena, value, names, n, "`fsdpc help warnings` lists them");
    driver_mistake(d, E_option_value, help, "`-W`: there is no warning `%s`", value);
    return false;
}

static bool set_word(Driver *d, const OptionInfo *o, const char *value, bool *json) {
    *json = !strcmp(value, "json");
    return *json || !strcmp(value, "text") || wrong_value(d, o, value, "`text` or `json`");
}

static bool set_size(Driver *d, const OptionInfo *o, const char *value, uint64_t *size) {
    return save_size(value, size) || wrong_value(d, o, value, "a size such as 500MB, 5GB or 2GiB");
}

static bool set_option(Driver *d, const OptionInfo *o, const char *value) {
    Options *p = &d->options;
    bool json = false;
    p->given |= o->bit;
    switch (o->bit) {
    case OPTION_OUTPUT: p->output = value; break;
    case OPTION_MESH: p->mesh = value; break;
    case OPTION_PRESET: p->preset = value; break;
    case OPTION_ACCELERATE: p->import[IMPORT_ACCELERATE] = value; break;
    case OPTION_DEEPSPEED: p->import[IMPORT_DEEPSPEED] = value; break;
    case OPTION_HF: p->hf = value; break;
    case OPTION_PASS: p->passes = value; break;
    case OPTION_WARN: return set_warning(d, value);
    case OPTION_SET: vec_push(d->arena, &p->sets, value); break;
    case OPTION_STAGE: return set_stage(d, o, value);
    case OPTION_FORMAT: return set_word(d, o, value, &p->json);
    case OPTION_ERROR_FORMAT:
        if (!set_word(d, o, value, &json)) return false;
        d->diags.format = json ? DIAG_JSON : DIAG_TEXT;
        break;
    case OPTION_RANKS:
        return whole_number(value, 1, 1 << 20, &p->ranks) ||
               wrong_value(d, o, value, "a number of ranks from 1 to 1048576");
    case OPTION_THREADS:
        return whole_number(value, 1, 1 << 16, &p->threads) ||
               wrong_value(d, o, value, "a number of threads from 1 to 65536");
    case OPTION_RANK:
        p->rank = JSON_ALL_RANKS;
        return !strcmp(value, "all") || whole_number(value, 0, 1 << 20, &p->rank) ||
               wrong_value(d, o, value, "the number of a rank from 0 on, or `all`");
    case OPTION_DTYPE:
        return save_type(value, &p->dtype) || wrong_value(d, o, value, "f32, bf16 or f16");
    case OPTION_MAX_FILE: return set_size(d, o, value, &p->max_file);
    case OPTION_MACHINE: p->machine = shared_file(d->arena, value); break;
    case OPTION_MEMORY: return set_size(d, o, value, &p->memory);
    case OPTION_OUTSIDE: return set_size(d, o, value, &p->outside);
    case OPTION_DEVICE:
        p->device = !strcmp(value, "cpu") ? DEVICE_CPU : DEVICE_CUDA;
        return !strcmp(value, word_of(&words_DeviceKind, p->device)) ||
               wrong_value(d, o, value, "`cuda` or `cpu`");
    case OPTION_PRINT_AFTER: p->print_after = value; break;
    case OPTION_ONLY: p->only = value; break;
    default: break;
    }
    return true;
}

/* Finds the row of `word` (n bytes). short_form: a word of one letter means the option with that
 * letter. */
static const OptionInfo *find_option(const Driver *d, const char *word, size_t n, bool short_form) {
    uint64_t legal = d->command->options | OPTION_HELP;
    for (size_t i = 0; i < ARRAY_LEN(option_table); i++) {
        const OptionInfo *o = &option_table[i];
        if (!(legal & o->bit)) continue;
        if (short_form ? o->letter && o->letter == *word
                       : strlen(o->name) == n && !memcmp(o->name, word, n))
            return o;
    }
    return NULL;
}

bool driver_options(Driver *d, int argc, char **argv) {
    bool more = true;
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        if (!more || word[0] != '-' || !word[1]) {
            vec_push(d->arena, &d->options.files, shared_file(d->arena, word));
            continue;
        }
        if (!strcmp(word, "--")) {
            more = false;
            continue;
        }
        bool short_form = word[1] != '-';
        const char *name = word + (short_form ? 1 : 2);
        size_t n = short_form ? 1 : strcspn(name, "=");
        const OptionInfo *o = find_option(d, name, n, short_form);
        if (!o || (short_form && !o->argument && name[1]))
            return unknown_option(d, word, (size_t)(name - word) + (short_form ? strlen(name) : n));
        const char *value = name[n] ? name + n + !short_form : NULL;
        if (value && short_form && *value == '=') value++;
        if (!o->argument && value) {
            driver_mistake(d, E_option_value, NULL, "`--%s` takes no value, but got `%s`", o->name,
                           value);
            return false;
        }
        if (o->argument && !value && i + 1 < argc) value = argv[++i];
        if (o->argument && !value) {
            driver_mistake(d, E_option_value, NULL, "`%s` needs %s after it", word, o->argument);
            return false;
        }
        if (!set_option(d, o, value)) return false;
    }
    return true;
}
