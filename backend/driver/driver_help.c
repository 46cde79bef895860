/* fsdpc explain and fsdpc help: print the tables of diagnostics, of the language and of the command
 * lines as text.
 *
 * Help is one book (frontend/help/help.h): the chapters of the language, then those of the
 * commands. */
#include <string.h>

#include "driver.h"

static int list_codes(void) {
    Buf out = {0};
    for (int i = 0; i < DIAG_COUNT; i++)
        buf_printf(&out, "%s  %s\n", diag_info[i].code, diag_info[i].title);
    driver_show(&out);
    return EXIT_DONE;
}

/* The long text of a diagnostic code; {passes} in it is replaced by the names of all passes in
 * order. */
static const char *long_text(Arena *a, const DiagInfo *info) {
    static const char mark[] = "    {passes}\n";
    const char *at = strstr(info->text, mark);
    if (!at) return info->text;
    Buf out = {0};
    buf_write(&out, info->text, (size_t)(at - info->text));
    size_t column = 0;
    for (int i = 0; i < n_passes; i++) {
        const char *name = pass_table[i].name;
        bool fits = i && column + strlen(name) < 88;
        if (!fits) buf_printf(&out, i ? "\n   " : "   "), column = 3;
        buf_printf(&out, " %s%s", name, i + 1 < n_passes ? "," : "\n");
        column += strlen(name) + 2;
    }
    buf_printf(&out, "%s", at + strlen(mark));
    return buf_text(a, &out);
}

int driver_explain(Driver *d) {
    if (!d->options.files.n) return list_codes();
    const char *code = d->options.files.at[0];
    const DiagInfo *info = diag_find(code);
    if (!info) {
        const char *codes[DIAG_COUNT];
        for (int i = 0; i < DIAG_COUNT; i++) codes[i] = diag_info[i].code;
        const char *help =
            nearest_help(d->arena, code, codes, DIAG_COUNT, "`fsdpc explain` lists them");
        return driver_mistake(d, E_unknown_topic, help, "there is no diagnostic `%s`", code);
    }
    Buf out = {0};
    buf_printf(&out, "%s: %s\n\n%s", code, info->title, long_text(d->arena, info));
    if (info->name) buf_printf(&out, "\n-W no-%s silences it.\n", info->name);
    driver_show(&out);
    return EXIT_DONE;
}

/* ---- the chapters of the commands ---- */

static void add_commands(HelpBook *b) {
    HelpChapter *c = help_chapter(b, "commands", "what fsdpc does");
    for (int i = 0; i < COMMANDS; i++) {
        const CommandInfo *info = &command_table[i];
        help_page(b, c,
                  (HelpPage){.name = info->name,
                             .kind = "command",
                             .form = arena_printf(b->arena, "fsdpc %s", info->usage),
                             .doc = info->doc,
                             .more = info->more,
                             .example = info->example,
                             .where = EXAMPLE_SHELL});
    }
}

const RunOption run_option_table[] = {
#define OPTION(id, name, form, value, doc, example) {name, form, value, doc, example},
#define VARIABLE(title, form, doc)
#include "run_options.def"
#undef OPTION
#undef VARIABLE
};
const int n_run_options = ARRAY_LEN(run_option_table);

static const struct {
    const char *title, *form, *doc;
} run_variables[] = {
#define OPTION(id, name, form, value, doc, example)
#define VARIABLE(title, form, doc) {title, form, doc},
#include "run_options.def"
#undef OPTION
#undef VARIABLE
};

static void add_run(HelpBook *b) {
    HelpChapter *c = help_chapter(b, "fsdp-run", "options of fsdp-run, which trains a plan");
    for (int i = 0; i < n_run_options; i++)
        help_page(b, c,
                  (HelpPage){.name = run_option_table[i].name,
                             .kind = "option of fsdp-run",
                             .form = run_option_table[i].form,
                             .doc = run_option_table[i].doc,
                             .example = run_option_table[i].example,
                             .where = EXAMPLE_SHELL});
    c = help_chapter(b, "environment", "environment variables of fsdp-run");
    for (size_t i = 0; i < ARRAY_LEN(run_variables); i++)
        help_page(b, c,
                  (HelpPage){.name = run_variables[i].form,
                             .alias = arena_strndup(b->arena, run_variables[i].form,
                                                    strcspn(run_variables[i].form, "=")),
                             .kind = run_variables[i].title,
                             .doc = run_variables[i].doc});
}

static void add_exit_codes(HelpBook *b) {
    HelpChapter *c = help_chapter(b, "exit-codes", "how fsdpc and fsdp-run end");
#define EXIT(constant, code, text)                                                                 \
    help_page(b, c, (HelpPage){.name = #code, .kind = "exit code", .doc = text});
#include "exit_codes.def"
#undef EXIT
}

static void add_warnings(HelpBook *b) {
    HelpChapter *c = help_chapter(b, "warnings", "warnings and notes by the names that -W takes");
    for (int i = 0; i < DIAG_COUNT; i++)
        if (diag_info[i].name)
            help_page(b, c,
                      (HelpPage){.name = diag_info[i].name,
                                 .kind = arena_printf(
                                     b->arena, "%s %s",
                                     diag_info[i].severity == DIAG_NOTE ? "note" : "warning",
                                     diag_info[i].code),
                                 .form = arena_printf(b->arena, "-W no-%s", diag_info[i].name),
                                 .doc = diag_info[i].title});
}

static void add_diagnostics(HelpBook *b) {
    static const char *const kinds[] = {"error", "warning", "note"};
    HelpChapter *c = help_chapter(b, "diagnostics", "what fsdpc can report");
    for (int i = 0; i < DIAG_COUNT; i++) {
        const DiagInfo *info = &diag_info[i];
        const char *kind = kinds[info->severity];
        if (info->severity == DIAG_ERROR)
            kind = arena_printf(b->arena, "error, exit code %d", info->exit_code);
        help_page(b, c,
                  (HelpPage){.name = info->code,
                             .kind = kind,
                             .doc = info->title,
                             .more = long_text(b->arena, info)});
    }
}

void driver_book(HelpBook *b) {
    help_language(b);
    add_commands(b);
    driver_option_pages(b, help_chapter(b, "options", "options of fsdpc"));
    add_run(b);
    add_exit_codes(b);
    add_warnings(b);
    add_diagnostics(b);
}

int driver_help(Driver *d) {
    const char *topic = d->options.files.n ? d->options.files.at[0] : NULL;
    HelpBook book = {.arena = d->arena};
    Buf out = {0};
    driver_book(&book);
    bool found = true;
    if (topic && d->options.json)
        return driver_mistake(d, E_unknown_topic, "leave out the topic, or --format=json",
                              "--format=json lists all words, not `%s`", topic);
    if (d->options.json)
        help_words(d->arena, &out);
    else if (!topic)
        help_contents(&book, &out);
    else if (!strcmp(topic, "reference"))
        help_markdown(&book, &out);
    else
        found = help_topic(&book, topic, &out) || op_help(topic, &out) ||
                help_topic(&book, arena_printf(d->arena, "--%s", topic), &out);
    if (found) driver_show(&out);
    if (found) return EXIT_DONE;
    return driver_mistake(d, E_unknown_topic, help_remedy(&book, topic),
                          "there is no help about `%s`", topic);
}
