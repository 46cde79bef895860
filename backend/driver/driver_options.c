/* The options of fsdpc (driver_options.def). `--word=value` and `--word value`, `-lvalue` and `-l
 * value` are equivalent; `--` ends the options. Every command has a set of the options that it
 * takes; any other option is an error that suggests the nearest name. If an option is given twice,
 * the last value counts; values of -s accumulate.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "program_files.h"
#include "report.h"

const OptionInfo option_table[] = {
#define OPTION(id, letter, name, argument, doc, example)                                           \
    {OPTION_##id, letter, name, argument, doc, example},
#include "driver_options.def"
#undef OPTION
};

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
    switch (o->id) {
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
    for (int i = 0; i < OPTIONS; i++) {
        const OptionInfo *o = &option_table[i];
        if (!option_in(options, o)) continue;
        char word[64], letter[8] = "    ";
        if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
        snprintf(word, sizeof word, "--%s%s%s", o->name, o->argument ? " " : "",
                 o->argument ? o->argument : "");
        buf_printf(out, "  %s%-22s %s\n", letter, word, o->doc);
    }
}

void driver_option_pages(HelpBook *b, HelpChapter *c) {
    for (int i = 0; i < OPTIONS; i++) {
        const OptionInfo *o = &option_table[i];
        char commands[128];
        size_t n = 0;
        for (int k = 0; k < COMMANDS; k++)
            if (option_in(command_table[k].options | BIT(HELP), o))
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
    const char *names[OPTIONS];
    size_t n_names = 0;
    const char *word = arena_strndup(d->arena, text, n);
    const char *bare = word + strspn(word, "-");
    const char *help = arena_printf(d->arena, "fsdpc %s --help lists them", d->command->name);
    for (int i = 0; i < OPTIONS; i++) {
        const OptionInfo *o = &option_table[i];
        if (option_in(d->command->options | BIT(HELP), o)) names[n_names++] = o->name;
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
    p->given |= UINT64_C(1) << o->id;
    switch (o->id) {
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
    uint64_t legal = d->command->options | BIT(HELP);
    for (int i = 0; i < OPTIONS; i++) {
        const OptionInfo *o = &option_table[i];
        if (!option_in(legal, o)) continue;
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
