/* fsdpc completion: a script that completes command lines of fsdpc and fsdp-run.
 *
 * The script has three parts. Two functions are printed from the tables: _fsdpc_kind says what the
 * argument of an option is, _fsdpc_words prints a list of words with their meanings. The logic
 * (completion_core.sh) and the code specific to a shell (completion_bash.sh, completion_zsh.sh) are
 * fixed text. Completing a line does not run fsdpc, except to ask for the config names of the model
 * file on that line.
 */
#include <string.h>

#include "driver.h"

typedef struct Printer {
    Arena *arena;
    Buf out;
    VEC(const char *) seen; /* words of the list that is being printed */
} Printer;

static const char core_text[] =
#include "completion_core.inc"
    ;
static const char bash_text[] =
#include "completion_bash.inc"
    ;
static const char zsh_text[] =
#include "completion_zsh.inc"
    ;

/* ---- lists of words ---- */

/* Writes text as part of a word in single quotes, on one line. */
static void put_quoted(Buf *out, const char *text) {
    for (const char *c = text; *c; c++)
        if (*c == '\'')
            buf_printf(out, "'\\''");
        else
            buf_write(out, *c == '\n' ? " " : c, 1);
}

static void begin_list(Printer *p, const char *name) {
    p->seen.n = 0;
    buf_printf(&p->out, "    '%s') printf '%%s\\n'", name);
}

/* Prints a word unless the list already has it: its first meaning counts. */
static void put_word(Printer *p, const char *word, const char *doc) {
    for (uint32_t i = 0; i < p->seen.n; i++)
        if (!strcmp(p->seen.at[i], word)) return;
    vec_push(p->arena, &p->seen, word);
    buf_printf(&p->out, " \\\n        '");
    put_quoted(&p->out, word);
    buf_printf(&p->out, ":");
    put_quoted(&p->out, doc);
    buf_printf(&p->out, "'");
}

static void end_list(Printer *p) { buf_printf(&p->out, " ;;\n"); }

static void put_commands(Printer *p) {
    begin_list(p, "commands");
    for (int i = 0; i < COMMANDS; i++) put_word(p, command_table[i].name, command_table[i].doc);
    put_word(p, "--help", "all commands");
    put_word(p, "--version", "the version");
    end_list(p);
}

static void put_options(Printer *p, const CommandInfo *command) {
    begin_list(p, arena_printf(p->arena, "options of %s", command->name));
    for (int i = 0; i < OPTIONS; i++) {
        const OptionInfo *o = &option_table[i];
        if (!option_in(command->options | BIT(HELP), o)) continue;
        put_word(p, arena_printf(p->arena, "--%s", o->name), o->doc);
        if (o->letter) put_word(p, arena_printf(p->arena, "-%c", o->letter), o->doc);
    }
    end_list(p);
}

static void put_option_words(Printer *p, const OptionInfo *o) {
    OptionWord words[64];
    size_t n = driver_option_words(p->arena, o, words, ARRAY_LEN(words));
    if (!n) return;
    begin_list(p, arena_printf(p->arena, "fsdpc --%s", o->name));
    for (size_t i = 0; i < n; i++) put_word(p, words[i].word, words[i].doc);
    end_list(p);
}

/* ---- fsdp-run: the form of a row says which arguments it takes ---- */

/* The last word of the form, which names the argument: `FILE`, `a|b`; "" if the option takes none.
 */
static const char *argument_form(const RunOption *o) {
    const char *blank = strrchr(o->form, ' ');
    return o->value && blank ? blank + 1 : "";
}

static bool takes_words(const RunOption *o) {
    const char *form = argument_form(o);
    return form[0] >= 'a' && form[0] <= 'z';
}

static bool takes_file(const RunOption *o) {
    const char *form = argument_form(o);
    static const char *const files[] = {"FILE", "PATH", "DIR", "FOLDER"};
    bool named = false;
    for (size_t i = 0; i < ARRAY_LEN(files); i++) named |= strstr(form, files[i]) != NULL;
    return named;
}

static void put_run_options(Printer *p) {
    begin_list(p, "options of fsdp-run");
    for (int i = 0; i < n_run_options; i++) {
        const RunOption *o = &run_option_table[i];
        put_word(p, o->name, o->doc);
        if (o->form[0] == '-' && o->form[1] != '-')
            put_word(p, arena_strndup(p->arena, o->form, 2), o->doc);
    }
    end_list(p);
}

static void put_run_words(Printer *p, const RunOption *o) {
    if (!takes_words(o)) return;
    begin_list(p, arena_printf(p->arena, "fsdp-run %s", o->name));
    for (const char *at = argument_form(o); *at; at += *at == '|') {
        size_t n = strcspn(at, "|");
        put_word(p, arena_strndup(p->arena, at, n), "");
        at += n;
    }
    end_list(p);
}

/* ---- -s ---- */

static void put_set_names(Printer *p) {
    begin_list(p, "-s");
    for (int i = 0; i < n_keys; i++)
        if (key_table[i].support != LATER)
            put_word(p, arena_printf(p->arena, "%s.%s=", key_table[i].section, key_table[i].key),
                     key_table[i].doc);
    end_list(p);
}

static const char *meaning_of(const KeyInfo *k, const char *name) {
    const char *doc = value_find(k, name);
    const CallInfo *c = key_call(k, name);
    int op = (k->kinds & K_OPS) ? op_by_name(name) : OP_COUNT;
    return doc ? doc : c ? c->doc : op < OP_COUNT ? op_info[op].help : "";
}

static void put_key_words(Printer *p, const KeyInfo *k) {
    const char *names[64 + OP_COUNT];
    size_t n = value_names(k, names, 60);
    if (k->kinds & K_OPS) n += op_choices(names + n, OP_COUNT);
    if (k->kinds & K_BOOL) names[n++] = "true", names[n++] = "false";
    if (k->kinds & (K_NONE | K_OFF)) names[n++] = "none";
    if (!n || k->support == LATER) return;
    begin_list(p, arena_printf(p->arena, "-s %s.%s", k->section, k->key));
    for (size_t i = 0; i < n; i++) put_word(p, names[i], meaning_of(k, names[i]));
    end_list(p);
}

/* ---- topics ---- */

static void put_topics(Printer *p, const HelpBook *b) {
    begin_list(p, "topics");
    put_word(p, "reference", "all of it as Markdown");
    for (uint32_t i = 0; i < b->chapters.n; i++) {
        const HelpChapter *c = &b->chapters.at[i];
        put_word(p, c->name, c->doc);
        for (uint32_t k = 0; k < c->pages.n; k++) {
            put_word(p, c->pages.at[k].name, c->pages.at[k].doc);
            if (c->pages.at[k].alias) put_word(p, c->pages.at[k].alias, c->pages.at[k].doc);
        }
    }
    end_list(p);
}

static void put_codes(Printer *p) {
    begin_list(p, "codes");
    for (int i = 0; i < DIAG_COUNT; i++) put_word(p, diag_info[i].code, diag_info[i].title);
    end_list(p);
}

static void put_words(Printer *p, const HelpBook *b) {
    buf_printf(&p->out, "_fsdpc_words() {\n    case $1 in\n");
    put_commands(p);
    for (int i = 0; i < COMMANDS; i++) put_options(p, &command_table[i]);
    for (int i = 0; i < OPTIONS; i++) put_option_words(p, &option_table[i]);
    put_run_options(p);
    for (int i = 0; i < n_run_options; i++) put_run_words(p, &run_option_table[i]);
    put_set_names(p);
    for (int i = 0; i < n_keys; i++) put_key_words(p, &key_table[i]);
    put_topics(p, b);
    put_codes(p);
    for (int i = 0; i < COMMANDS; i++) {
        const CommandInfo *c = &command_table[i];
        if (c->words == WORDS_CHOICES) {
            begin_list(p, arena_printf(p->arena, "choices of %s", c->name));
            for (const char *const *w = c->choices; *w; w++) put_word(p, *w, "");
            end_list(p);
        }
    }
    buf_printf(&p->out, "    esac\n}\n\n");
}

/* ---- kinds ---- */

static const char *kind_of_option(Printer *p, const OptionInfo *o) {
    OptionWord words[64];
    switch (o->id) {
    case OPTION_OUTPUT:
    case OPTION_ACCELERATE:
    case OPTION_DEEPSPEED:
    case OPTION_MACHINE:
    case OPTION_HF: return "files";
    case OPTION_SET: return "set";
    case OPTION_PRESET: return "preset";
    case OPTION_PASS: return "list";
    default: return driver_option_words(p->arena, o, words, ARRAY_LEN(words)) ? "words" : "text";
    }
}

static void put_kind(Printer *p, const char *program, const char *option, const char *list,
                     const char *kind) {
    buf_printf(&p->out, "    '%s %s') kind=%s", program, option, kind);
    if (strstr("words list", kind)) buf_printf(&p->out, " list='%s %s'", program, list);
    buf_printf(&p->out, " ;;\n");
}

static void put_kinds(Printer *p) {
    static const char *const argument_kinds[] = {[WORDS_MODELS] = "models",
                                                 [WORDS_FILES] = "files",
                                                 [WORDS_TOPICS] = "words list=topics",
                                                 [WORDS_CODES] = "words list=codes",
                                                 [WORDS_CHOICES] = "words"};
    buf_printf(&p->out, "_fsdpc_kind() {\n    kind= list=\n    case $1 in\n");
    for (int i = 0; i < OPTIONS; i++) {
        const OptionInfo *o = &option_table[i];
        if (!o->argument) continue;
        const char *word = arena_printf(p->arena, "--%s", o->name);
        put_kind(p, "fsdpc", word, word, kind_of_option(p, o));
        if (o->letter)
            put_kind(p, "fsdpc", arena_printf(p->arena, "-%c", o->letter), word,
                     kind_of_option(p, o));
    }
    for (int i = 0; i < n_run_options; i++) {
        const RunOption *o = &run_option_table[i];
        if (o->value)
            put_kind(p, "fsdp-run", o->name, o->name,
                     takes_words(o)  ? "words"
                     : takes_file(o) ? "files"
                                     : "text");
    }
    for (int i = 0; i < COMMANDS; i++) {
        const CommandInfo *c = &command_table[i];
        buf_printf(&p->out, "    'argument of %s') kind=%s", c->name, argument_kinds[c->words]);
        if (c->words == WORDS_CHOICES) buf_printf(&p->out, " list='choices of %s'", c->name);
        buf_printf(&p->out, " ;;\n");
    }
    buf_printf(&p->out, "    'argument of fsdp-run') kind=files ;;\n    esac\n}\n\n");
}

int driver_completion(Driver *d) {
    const char *shell = driver_choice(d);
    if (!shell) return EXIT_USER;
    bool zsh = !strcmp(shell, "zsh");
    Printer p = {.arena = d->arena};
    HelpBook book = {.arena = d->arena};
    driver_book(&book);
    buf_printf(&p.out,
               "%s# Completion of fsdpc and fsdp-run, printed by `fsdpc completion %s`.\n\n",
               zsh ? "#compdef fsdpc fsdp-run\n" : "", shell);
    put_kinds(&p);
    put_words(&p, &book);
    buf_printf(&p.out, "%s\n%s", core_text, zsh ? zsh_text : bash_text);
    driver_show(&p.out);
    return EXIT_DONE;
}
