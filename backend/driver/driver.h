/* What the files of the driver of fsdpc share; no other file includes this header.
 *
 * The driver lies above all other rooms of the compiler: it calls frontend, passes, emit, check,
 * report, checkpoint/ and tensors/, and none of them includes anything of the driver. In: the
 * command line. main reads it into a Driver and calls the command, which returns the exit code;
 * results go to stdout, everything else through diags to stderr.
 */
#ifndef FSDPC_DRIVER_H
#define FSDPC_DRIVER_H

#include "frontend.h"
#include "help.h"
#include "ir.h"
#include "passes.h"
#include "plan.h"
#include "tensors.h"

/* One bit per option; the row of a command has a mask of those that it takes. */
#define OPTION_OUTPUT (UINT64_C(1) << 0)
#define OPTION_RANKS (UINT64_C(1) << 1)
#define OPTION_MESH (UINT64_C(1) << 2)
#define OPTION_PRESET (UINT64_C(1) << 3)
#define OPTION_SET (UINT64_C(1) << 4)
#define OPTION_STAGE (UINT64_C(1) << 5)
#define OPTION_FORMAT (UINT64_C(1) << 6)
#define OPTION_RANK (UINT64_C(1) << 7)
#define OPTION_PASS (UINT64_C(1) << 8)
#define OPTION_PRINT_AFTER (UINT64_C(1) << 9)
#define OPTION_PRINT_AFTER_ALL (UINT64_C(1) << 10)
#define OPTION_PRINT_AFTER_CHANGE (UINT64_C(1) << 11)
#define OPTION_PASS_TIMING (UINT64_C(1) << 12)
#define OPTION_ERROR_FORMAT (UINT64_C(1) << 13)
#define OPTION_QUIET (UINT64_C(1) << 14)
#define OPTION_HELP (UINT64_C(1) << 15)
#define OPTION_RAW (UINT64_C(1) << 17)
#define OPTION_ALL (UINT64_C(1) << 18)
#define OPTION_ONLY (UINT64_C(1) << 19)
#define OPTION_VERBOSE (UINT64_C(1) << 20)
#define OPTION_RATE (UINT64_C(1) << 21)
#define OPTION_WARN (UINT64_C(1) << 22)
#define OPTION_ACCELERATE (UINT64_C(1) << 23)
#define OPTION_DEEPSPEED (UINT64_C(1) << 24)
#define OPTION_DTYPE (UINT64_C(1) << 25)
#define OPTION_MAX_FILE (UINT64_C(1) << 26)
#define OPTION_HF (UINT64_C(1) << 27)
#define OPTION_MEMORY (UINT64_C(1) << 28)
#define OPTION_OUTSIDE (UINT64_C(1) << 29)
#define OPTION_DEVICE (UINT64_C(1) << 30)
#define OPTION_MACHINE (UINT64_C(1) << 31)
#define OPTION_PLAN (UINT64_C(1) << 32)
#define OPTION_FIT (UINT64_C(1) << 33)
#define OPTION_THREADS (UINT64_C(1) << 34)
#define OPTIONS_VIEW (OPTION_ALL | OPTION_ONLY)
#define OPTIONS_MODEL                                                                              \
    (OPTION_RANKS | OPTION_MESH | OPTION_PRESET | OPTION_SET | OPTION_ACCELERATE | OPTION_DEEPSPEED)
#define OPTIONS_PRINT                                                                              \
    (OPTION_PRINT_AFTER | OPTION_PRINT_AFTER_ALL | OPTION_PRINT_AFTER_CHANGE | OPTION_PASS_TIMING)

typedef struct Options {
    uint64_t given; /* OPTION_* bits */
    const char *output, *mesh, *preset, *passes, *print_after, *only;
    const char *machine;                /* --machine: a file */
    const char *hf;                     /* a folder or config.json in place of a model file */
    const char *import[IMPORT_FORMATS]; /* --accelerate, --deepspeed */
    int64_t ranks, rank, threads;
    const char *stage; /* config, plan, or a stage that pass_of_stage knows */
    bool json;         /* --format=json */
    FileType dtype;
    uint64_t max_file, memory, outside;
    DeviceKind device;
    VEC(const char *) sets;  /* -s, left to right */
    VEC(const char *) files; /* arguments that are not options, including `-` */
} Options;

typedef struct OptionInfo {
    uint64_t bit;
    char letter; /* 0 = none */
    const char *name, *argument, *doc, *example;
} OptionInfo;
typedef struct OptionWord {
    const char *word, *doc;
} OptionWord;

/* A row of runtime/options/options.def: an option of fsdp-run. */
typedef struct RunOption {
    const char *name, *form, *value, *doc, *example;
} RunOption;

typedef unsigned long long Llu;
typedef struct Driver Driver;
struct Step;
/* The kind of a command's argument, for completion. */
typedef enum CommandWords {
    WORDS_MODELS,
    WORDS_FILES,
    WORDS_TOPICS,
    WORDS_CODES,
    WORDS_CHOICES /* one of `choices`, in lower case */
} CommandWords;
typedef enum CommandId {
    COMMAND_COMPILE,
    COMMAND_DUMP,
    COMMAND_FIT,
    COMMAND_MACHINE,
    COMMAND_IMPORT,
    COMMAND_OPT,
    COMMAND_CHECK,
    COMMAND_RESHARD,
    COMMAND_CONVERT,
    COMMAND_EXPLAIN,
    COMMAND_HELP,
    COMMAND_COMPLETION,
    COMMAND_PLOT
} CommandId;
typedef struct CommandInfo {
    CommandId id;
    const char *name, *usage, *doc, *more, *example;
    uint64_t options;
    int min_files, max_files;
    CommandWords words;
    const char *const *choices; /* up to NULL */
} CommandInfo;

struct Driver {
    Arena *arena;
    DiagSet diags;
    const CommandInfo *command; /* NULL until it is known */
    Options options;
};

/* driver_options.c */
/* Reads the arguments after the command's name. false after a reported error. */
bool driver_options(Driver *d, int argc, char **argv);
extern const OptionInfo option_table[];
extern const int n_options;
/* The words that an option takes, at most `max`; returns 0 if it takes other values. */
size_t driver_option_words(Arena *a, const OptionInfo *o, OptionWord *words, size_t max);
void driver_option_help(uint64_t options, Buf *out);
/* A page for each option. */
void driver_option_pages(HelpBook *b, HelpChapter *c);

/* driver_compile.c */
/* What the options say of a model; to_plan is not set. */
CompileOptions driver_model_options(const Options *o);
/* Opens FILE, a model file or what --hf names, with the options. NULL after errors about what --hf
 * names. */
Frontend *driver_open_model(Driver *d, const char *file, const CompileOptions *options);
/* Loads FILE with the options and runs the passes up to `last`. Returns NULL after reported errors,
 * with the exit code in *status. whole: everything that a plan needs must be present. */
Frontend *driver_load(Driver *d, const char *file, const PassInfo *last, bool whole, int *status);
/* Fills `out` with the plan file of a graph at level sched. */
void driver_emit(Driver *d, const Frontend *f, Buf *out);

/* driver_hf.c */
/* The model file for a folder or its config.json; NULL after reported errors. */
const char *driver_hf_text(Driver *d, const char *path, const char **family);
/* Whether the folder has safetensors; a file of weights in another format, the first by name. */
bool driver_hf_weights(Driver *d, const char *folder, const char **other);
/* driver_dump.c */
/* The end of --help for a command with a model file: its config names and their meanings. */
int driver_names_help(Driver *d);
/* Whether the contents of a file begin as a plan does. */
bool driver_is_plan(const char *text, size_t n);
/* Refuses options of a model that are given with a plan; returns the exit code. */
int driver_fixed_in_plan(Driver *d, const char *file);
/* driver_compile.c: for --machine; without it, the first does nothing and is true, the second
 * prints nothing, the third makes nothing. */
/* false after reported errors. */
bool driver_predict(Driver *d, const Plan *plan, struct Step *step);
void driver_step_text(Driver *d, const struct Step *step, Buf *out);
struct json_t *driver_step_json(Driver *d, const struct Step *step);
/* driver_help.c */
extern const RunOption run_option_table[];
extern const int n_run_options;
/* Fills the book with all its chapters. */
void driver_book(HelpBook *b);

/* Each runs its command; returns the exit code. */
typedef int CommandRun(Driver *d);
CommandRun driver_check, driver_compile, driver_completion, driver_convert, driver_dump,
    driver_explain, driver_fit, driver_help, driver_import, driver_machine, driver_opt, driver_plot,
    driver_reshard;

/* driver_commands.c */
extern const CommandInfo command_table[];
extern const int n_commands;
/* Reports a mistake on the command line and returns the exit code of its row. help may be NULL.
 */
int driver_mistake(Driver *d, DiagCode code, const char *help, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The argument of a command that takes one of `choices`; NULL after a reported error. */
const char *driver_choice(Driver *d);
/* The contents of a file, or of standard input if the name is `-`. Fails with exit code 2. */
char *driver_read(Driver *d, const char *name, size_t *size);
bool driver_same_file(const char *a, const char *b);
/* Writes results to stdout; fails with exit code 2 if they cannot be written (for example, a full
 * disk). */
void driver_print(const void *text, size_t n);
void driver_show(Buf *text); /* prints and frees it */
/* Writes a file, or results to stdout if it is `-`; fails with exit code 2. */
void driver_write(const char *file, const void *bytes, size_t n);

#endif
