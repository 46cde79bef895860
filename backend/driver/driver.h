/* What the files of the driver of fsdpc share; no other file includes this header.
 *
 * The driver lies above all other rooms of the compiler: it calls frontend, passes, emit, check,
 * report, checkpoint/ and tensors/, and none of them includes anything of the driver. In: the
 * command line. main reads it into a Driver and calls the command, which returns the exit code;
 * results go to stdout, everything else through diags to stderr.
 */
#ifndef FSDPC_DRIVER_H
#define FSDPC_DRIVER_H

#include "checkpoint.h"
#include "frontend.h"
#include "help.h"
#include "ir.h"
#include "passes.h"
#include "plan.h"
#include "tensors.h"

typedef enum OptionId {
#define OPTION(id, letter, name, argument, doc, example) OPTION_##id,
#include "driver_options.def"
#undef OPTION
    OPTIONS
} OptionId;

/* The row of a command has a set of those that it takes. */
#define BIT(id) (UINT64_C(1) << OPTION_##id)
#define OPTIONS_VIEW (BIT(ALL) | BIT(ONLY))
#define OPTIONS_MODEL                                                                              \
    (BIT(RANKS) | BIT(MESH) | BIT(PRESET) | BIT(SET) | BIT(ACCELERATE) | BIT(DEEPSPEED))
#define OPTIONS_PRINT                                                                              \
    (BIT(PRINT_AFTER) | BIT(PRINT_AFTER_ALL) | BIT(PRINT_AFTER_CHANGE) | BIT(PASS_TIMING))

typedef struct Options {
    uint64_t given; /* a set */
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
    OptionId id;
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

/* Blocks of 8 MiB that are kept because files are read in another order than they were written;
 * with everything else, less than 256 MiB. */
enum { RESHARD_BLOCKS = 20, CONVERT_BLOCKS = 10 };
enum { MOST_CURVES = 8 }; /* of `fsdpc plot` */

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
typedef struct CommandInfo {
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
static inline bool option_in(uint64_t set, const OptionInfo *o) { return set >> o->id & 1; }
/* The words that an option takes, at most `max`; returns 0 if it takes other values. */
size_t driver_option_words(Arena *a, const OptionInfo *o, OptionWord *words, size_t max);
void driver_option_help(uint64_t options, Buf *out);
/* A page for each option. */
void driver_option_pages(HelpBook *b, HelpChapter *c);

/* driver_compile.c */
/* NULL after reporting that there is no such pass; list: naming all if none has a like name. */
const PassInfo *driver_pass(Driver *d, const char *name, bool list);
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

/* driver_checkpoint.c */
extern volatile int driver_stop; /* set by a signal: stop without a result */
void driver_catch_signals(void);
/* Reports the error of a function of checkpoint.h or tensors.h and returns its exit code;
 * EXIT_ENVIRONMENT ends the program. */
int driver_fault(Driver *d, int code, DiagCode corrupt, char *error);
bool driver_is_folder(const char *path);
int driver_open_checkpoint(Driver *d, const char *path, Checkpoint **out);
/* Reads a plan, or compiles a model file (.fsd) with the options that `compile` takes. */
int driver_open_plan(Driver *d, const char *file, Plan *plan);
int driver_check_named(Driver *d, const char *output); /* refuses `-` */
int driver_check_target(Driver *d, const char *output);
void driver_say_written(Driver *d, const CkContents *c, const char *folder);
int driver_check_checkpoint(Driver *d, const char *path);
/* driver_hf.c */
/* The model file for a folder or its config.json; NULL after reported errors. */
const char *driver_hf_text(Driver *d, const char *path, const char **family);
/* Whether the folder has safetensors; a file of weights in another format, the first by name. */
bool driver_hf_weights(Driver *d, const char *folder, const char **other);
/* driver_dump.c */
/* The end of --help for a command with a model file: its config names and their meanings. */
int driver_print_config_names(Driver *d);
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

/* driver_commands.c: what each runs is driver_COMMAND in a file of its own, which returns the exit
 * code. In the order of the table. */
#define EACH_COMMAND(X)                                                                            \
    X(compile)                                                                                     \
    X(dump)                                                                                        \
    X(fit)                                                                                         \
    X(machine)                                                                                     \
    X(import)                                                                                      \
    X(opt)                                                                                         \
    X(check)                                                                                       \
    X(reshard)                                                                                     \
    X(convert)                                                                                     \
    X(explain)                                                                                     \
    X(help)                                                                                        \
    X(completion)                                                                                  \
    X(plot)
typedef enum CommandId {
#define COMMAND(name) COMMAND_##name,
    EACH_COMMAND(COMMAND)
#undef COMMAND
        COMMANDS
} CommandId;
#define COMMAND(name) int driver_##name(Driver *d);
EACH_COMMAND(COMMAND)
#undef COMMAND
extern const CommandInfo command_table[COMMANDS];
/* Reports a mistake on the command line and returns the exit code of its row. help may be NULL.
 */
int driver_mistake(Driver *d, DiagCode code, const char *help, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The argument of a command that takes one of `choices`; NULL after a reported error. */
const char *driver_choice(Driver *d);
/* The contents of a file, or of standard input if the name is `-`. Fails with exit code 2. */
char *driver_read(Driver *d, const char *name, size_t *size);
/* false after reporting that -o names a file that was read: by the options, or for the model of f
 * (NULL: there is no model file). */
bool driver_keeps_files(Driver *d, const Frontend *f);
bool driver_keeps_file(Driver *d, const char *file); /* the same of one more that was read */
/* Writes results to stdout; fails with exit code 2 if they cannot be written (for example, a full
 * disk). */
void driver_print(const void *text, size_t n);
void driver_show(Buf *text); /* prints and frees it */
/* Writes a file, or results to stdout if it is `-`; fails with exit code 2. */
void driver_write(const char *file, const void *bytes, size_t n);

#endif
