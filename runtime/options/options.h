/* The command line of fsdp-run and the environment variables that it reads, as the other rooms find
 * them. In: argv and the environment. Out: RunOptions, TestModes and the time-out, or a message
 * with an exit code of util.h. Nothing is opened here: paths are checked by those who open them.
 *
 * May include: tensors.h, for how weights are saved.
 */
#ifndef FSDPC_OPTIONS_H
#define FSDPC_OPTIONS_H

#include "tensors.h"

/* Checkpoints as the run makes them. */
typedef struct CheckpointOptions {
    const char *folder; /* NULL: none are made */
    int64_t every;      /* steps, 0 = only at the end; -1 = not given */
    int64_t keep;       /* newest ones, 0 = all; -1 = not given */
    int64_t keep_every; /* ... and multiples of it, 0 = none; -1 = not given */
    bool keep_best;     /* ... and the one with the least evaluation loss */
    int32_t form;       /* CheckpointForm; -1 = not given */
    uint64_t max_file;  /* form full: bytes of tensors per file */
} CheckpointOptions;

typedef struct DataOption { /* --data NAME=PATH */
    const char *name, *path;
} DataOption;

/* ---- transports.def: what the launcher and the command line need to know of a transport */

typedef enum LaunchKind {
    LAUNCH_ALONE,   /* one rank */
    LAUNCH_THREADS, /* ranks that no launcher started */
    LAUNCH_HOSTS,   /* --hosts */
    LAUNCH_ADDRESS, /* processes of a launcher that says where rank 0 is met: torchrun, fsdp-run */
    LAUNCH_MPI      /* processes of another launcher */
} LaunchKind;
/* How fsdp-run starts the ranks of a run that no launcher started. */
typedef enum TransportStart { AS_THREADS, AS_PROCESSES, BY_MPIRUN } TransportStart;
typedef struct TransportTraits {
    const char *name;
    uint32_t devices, suits;
    TransportStart start;
    const char *remedy;
} TransportTraits;
enum {
    TRANSPORT_KINDS = 0
#define TRANSPORT(...) +1
#include "transports.def"
#undef TRANSPORT
};
extern const TransportTraits transports[TRANSPORT_KINDS];
const TransportTraits *transport_of_start(TransportStart start); /* the first in the table */

/* How a token is chosen among those that the model gives numbers. */
typedef struct TokenChoice {
    double temperature; /* 0 = the likeliest one */
    double top_p;       /* 1 = all */
    int64_t top_k;      /* 0 = all */
    uint64_t seed;
} TokenChoice;

enum { END_OF_FOLDER = -1, END_NONE = -2 };

typedef struct RunOptions {
    const char *plan, *device, *hosts; /* device: a word of DeviceKind, or auto */
    const TransportTraits *transport;  /* NULL = not given */
    int32_t ranks, threads;            /* 0 = not given */
    int64_t steps;                     /* -1 = all of the plan's */
    DataOption *data;
    uint32_t n_data;
    const char *load, *log, *tensorboard;
    const char *accept; /* --accept: keys of config.json, with commas between them; or NULL */
    CheckpointOptions checkpoint; /* as on the command line */
    const char *resume;           /* --resume or --resume-or-start, or NULL */
    bool or_start;
    int32_t restarts;  /* 0 = none */
    SaveForm save;     /* path NULL = nothing is saved; config comes from the plan */
    bool cuts_files;   /* --max-file was given */
    char *save_path;   /* ... without a slash at its end, where it had to be copied */
    int64_t dump_step; /* -1 = none */
    const char *dump_path;
    const char *profile; /* --profile, or NULL */
    const char *overlap; /* auto, on or off */
    bool quiet, version, self_test, help;
    const char *only; /* --only: rows of --self-test, with commas between them; or NULL */
    bool eval_only;   /* --eval-only, or --predict: */
    const char *predict;
    bool generates; /* --generate or --prompts, of which the other is NULL: */
    const char *generate, *prompts;
    const char *tokenizer;     /* what goes with them */
    int64_t tokens, end_token; /* end_token: an id, END_OF_FOLDER or END_NONE */
    TokenChoice sampling;
    const char *samples; /* the last option of sampling that was given, or NULL */
    double peak_flops;   /* per device; 0 = not given */
} RunOptions;

/* Test modes, from environment variables; options.def says what they mean. Of the first, which look
 * at instructions, a run has one. */
typedef enum TestMode { TEST_NONE, TEST_MEMORY, TEST_REPLICAS, TEST_STREAMS } TestMode;
extern const char *const test_mode_names[]; /* the variable, with its value unless that is a seed */
typedef struct TestModes {
    TestMode mode;
    uint64_t seed;     /* of FSDP_TEST_STREAMS */
    int64_t drop_edge; /* FSDP_TEST_DROP_EDGE=n: row of the edge table, -1 = none */
    int32_t hosts;     /* FSDP_TEST_HOSTS=n, 0 = as they are */
} TestModes;

/* Bytes of each of the two guards that FSDP_CHECK=memory adds to an arena. */
enum { GUARD_BYTES = 4096 };

/* options.c */
/* Returns -1 to go on, or the exit code to end with (0 after --help). */
int options_parse(int argc, char **argv, RunOptions *o);
void options_free(RunOptions *o);
/* The option that this argument names, or NULL; words: of the command line, with its value. */
const char *option_of(const char *argument, int *words);
/* Reads a whole number from low to high; false: the text is something else. */
bool whole_number(const char *text, int64_t low, int64_t high, int64_t *out);
int test_modes_read(TestModes *t, char *error);
int timeout_read(int32_t *seconds, char *error); /* FSDP_TIMEOUT */

#endif
