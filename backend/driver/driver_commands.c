/* The commands of fsdpc as a table: their input, their output and their help. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver.h"
#include "hf_config.h"
#include "measure.h"

static const char *const completion_shells[] = {"bash", "zsh", NULL};

const CommandInfo command_table[COMMANDS] = {
    {"compile", "compile model.fsd -o plan.bin [options]", "model file to plan",
     "Writes the plan that fsdp-run executes. The same file and options give the same bytes.\n"
     "With a model file, --help lists its config names. With --machine, the summary says how long\n"
     "a step takes on that machine.\n",
     "fsdpc compile model.fsd -o plan.bin -n 2",
     BIT(OUTPUT) | BIT(HF) | OPTIONS_MODEL | BIT(MACHINE) | BIT(WARN) | OPTIONS_PRINT |
         BIT(ERROR_FORMAT) | BIT(QUIET),
     1, 1, WORDS_MODELS, NULL},
    {"dump", "dump [--stage=STAGE] [options] FILE", "any stage of a model, or a plan, as text",
     "FILE is a model or a plan; for a plan, the only stage is `plan`, which is the default.\n"
     "\n"
     "The text of a plan is for people: what is sharded, what the peak consists of, what is\n"
     "sent; for each program its units, a picture of its memory and its instructions. Each stream\n"
     "has a column: `|` is a collective under way, `<- h.1` waits for the collective of h.1. The "
     "columns "
     "at\n"
     "the right are the bytes that an instruction writes, its line in the model file, and the\n"
     "bytes that are live while it runs. x' is the gradient of x, x:y a further result y of x,\n"
     ".weight a parameter of the same module. Layers that repeat are folded into one line.\n"
     "With --machine, the last line says how long a step takes there; in JSON, `predicted` does.\n",
     "fsdpc dump plan.bin",
     BIT(STAGE) | OPTIONS_VIEW | BIT(RAW) | BIT(FORMAT) | BIT(RANK) | BIT(HF) | OPTIONS_MODEL |
         BIT(MACHINE) | BIT(WARN) | BIT(ERROR_FORMAT),
     1, 1, WORDS_FILES, NULL},
    {"fit", "fit FILE --memory 80GiB [options]",
     "what fits a device: samples, length, ranks, settings",
     "FILE is a model or a plan. Compiles the model with many settings, without writing a\n"
     "plan, and prints whether it fits and how much memory is left, the most samples\n"
     "per rank in a micro-batch, the longest data.length and the fewest ranks that fit, and the\n"
     "peak with one setting changed. If FILE does not fit, it looks for settings that together\n"
     "make it fit. If nothing fits on these ranks with this length, it prints what takes\n"
     "memory at the lowest peak, with source lines, and the smallest mesh with tp, cp and pp\n"
     "inside nodes of 8 ranks (or those of --machine), and ends with exit code 1. Every number\n"
     "is what fsdpc compile predicts with the options next to it.\n",
     "fsdpc fit model.fsd --memory 80GiB",
     BIT(MEMORY) | BIT(OUTSIDE) | BIT(MACHINE) | BIT(DEVICE) | BIT(FORMAT) | BIT(HF) |
         OPTIONS_MODEL | BIT(WARN) | BIT(ERROR_FORMAT) | BIT(QUIET),
     1, 1, WORDS_FILES, NULL},
    {"machine", "machine -n RANKS -o FILE.machine [options]", "measure this machine, for --machine",
     "Runs plans of a model with all kinds of ops on RANKS ranks of this machine, with the\n"
     "fsdp-run next to fsdpc, and writes the constants that predict their instructions best. It\n"
     "takes two minutes, during which nothing else should run. In steps, for other launchers and "
     "GPUs:\n"
     "    fsdpc machine --plan -n 8 -o measure              writes plans into a folder\n"
     "    fsdp-run --profile f32.json measure/f32.bin       and the other plans there, as you run "
     "plans\n"
     "    fsdpc machine --fit *.json* --device cuda --machine base.machine -o new.machine\n"
     "--machine names a file whose constants are kept where nothing was measured.\n",
     "fsdpc machine --plan -n 2 -o measure",
     BIT(OUTPUT) | BIT(RANKS) | BIT(THREADS) | BIT(PLAN) | BIT(FIT) | BIT(DEVICE) | BIT(MACHINE) |
         BIT(ERROR_FORMAT) | BIT(QUIET),
     0, MEASURE_FILES, WORDS_FILES, NULL},
    {"import", "import DIR -o model.fsd", "a Hugging Face folder to a model file",
     "DIR is a folder of the hub, or its config.json alone. Writes a model file that computes "
     "what\n"
     "Transformers computes, with `config`, `names hf` and `config hf`; fill in its sections data\n"
     "and train. Every key of config.json is used, changes no numbers, or is refused by\n"
     "name. If the folder has weights, their names and shapes are compared with the model.\n",
     "fsdpc import hub/config.json -o imported.fsd",
     BIT(OUTPUT) | BIT(WARN) | BIT(ERROR_FORMAT) | BIT(QUIET), 1, 1, WORDS_FILES, NULL},
    {"opt", "opt --pass=NAME[,NAME]... [FILE]", "run passes on a graph in text form",
     "Reads a graph from FILE or standard input, verifies it, runs the passes in the given order,\n"
     "verifies after each and prints the result. Without names: reads, verifies and prints.\n",
     "fsdpc dump --stage=model model.fsd | fsdpc opt --pass=fuse_packed_attention,grad",
     BIT(PASS) | BIT(ERROR_FORMAT), 0, 1, WORDS_FILES, NULL},
    {"check", "check [-v] plan.bin | CK", "prove a plan correct, or a checkpoint intact",
     "Prints nothing when all ten proofs of a plan succeed (-v: a line for each); otherwise the\n"
     "rule, the instruction and the source line.\n"
     "\n"
     "CK is one checkpoint, or a folder of checkpoints, which stands for the newest. All its files "
     "are\n"
     "read and compared with their hashes and with the manifest (-v: what is in it). A fault "
     "names\n"
     "the file, the tensor and the newest intact checkpoint before it.\n",
     "fsdpc check plan.bin", BIT(VERBOSE) | BIT(ERROR_FORMAT), 1, 1, WORDS_FILES, NULL},
    {"reshard", "reshard CK (-n M | plan.bin) -o CK2", "a checkpoint rewritten for other ranks",
     "Writes the same state, all of it, into files of M ranks, or in exactly the layout of a "
     "plan,\n"
     "as a step of the same number in CK2. Every hash is checked on the way. It takes no more\n"
     "than 256 MiB of memory. (A run can resume from files of any number of ranks without this.)\n",
     "fsdpc reshard old -n 4 -o new", BIT(OUTPUT) | BIT(RANKS) | BIT(ERROR_FORMAT) | BIT(QUIET), 1,
     2, WORDS_FILES, NULL},
    {"convert", "convert CK [PLAN] | WEIGHTS PLAN -o OUTPUT",
     "a checkpoint to weights, or weights to a checkpoint",
     "From a checkpoint: writes its weights as `fsdp-run --save` would have done after that step,\n"
     "to a .safetensors file, or to a folder in Hugging Face's layout (an existing one, or a name\n"
     "that ends with a slash). From a .safetensors file, an index or a folder: makes a checkpoint "
     "of\n"
     "a plan at step 0, with moments of zero, from which --resume and --load can start.\n"
     "\n"
     "PLAN is a plan, or a model file with the options that compile takes. For a checkpoint, the\n"
     "names and `config hf` of PLAN replace those that it was made with.\n",
     "fsdpc convert old -o weights/",
     BIT(OUTPUT) | BIT(DTYPE) | BIT(MAX_FILE) | OPTIONS_MODEL | BIT(WARN) | BIT(ERROR_FORMAT) |
         BIT(QUIET),
     1, 2, WORDS_FILES, NULL},
    {"explain", "explain CODE", "the long form of a diagnostic",
     "Without a code: all codes with their titles.\n", "fsdpc explain E0204", 0, 0, 1, WORDS_CODES,
     NULL},
    {"help", "help [TOPIC]", "the reference of the model file and the commands",
     "Without a topic: the topics. `fsdpc help reference` prints all of it as Markdown, and\n"
     "--format=json the words of the language by kind and section: editors/update.py gives them "
     "to\n"
     "the syntax files.\n",
     "fsdpc help attention", BIT(FORMAT), 0, 1, WORDS_TOPICS, NULL},
    {"completion", "completion bash|zsh", "a script that completes command lines",
     "Completes commands, options, their words, keys and config names after -s, and topics of "
     "help.\n"
     "For every shell that starts, add to ~/.bashrc:\n"
     "    source <(fsdpc completion bash)\n"
     "or to ~/.zshrc, after compinit:\n"
     "    source <(fsdpc completion zsh)\n",
     "fsdpc completion bash | bash -n", 0, 1, 1, WORDS_CHOICES, completion_shells},
    {"plot", "plot LOG.. -o FILE.svg", "the loss over the steps as a picture",
     "Draws what `fsdp-run --log LOG` wrote, one curve per log: the loss of each step as a line,\n"
     "that of evaluations as circles. Beyond 1500 steps each point is the mean of several steps, "
     "as the\n"
     "legend says. A last line that is still being written is left out.\n",
     "fsdp-run -q --log run.jsonl plan.bin >/dev/null && fsdpc plot run.jsonl -o run.svg",
     BIT(OUTPUT) | BIT(RATE) | BIT(ERROR_FORMAT), 1, MOST_CURVES, WORDS_FILES, NULL},
};

int driver_mistake(Driver *d, DiagCode code, const char *help, const char *format, ...) {
    va_list args;
    va_start(args, format);
    Diag diag = diag_vat(&d->diags, code, (Span){0}, format, args);
    va_end(args);
    if (help) diag_help(&diag, "%s", help);
    diag_emit(&diag);
    return diag_info[code].exit_code;
}

const char *driver_choice(Driver *d) {
    const char *given = d->options.files.at[0], *const *choices = d->command->choices;
    Buf list = {0};
    size_t n = 0;
    for (; choices[n]; n++) {
        if (!strcmp(choices[n], given)) return choices[n];
        buf_printf(&list, "%s%s", n ? ", " : "it takes one of: ", choices[n]);
    }
    const char *help = buf_text(d->arena, &list);
    driver_mistake(d, E_option_value, help, "`fsdpc %s` does not know `%s`", d->command->name,
                   given);
    return NULL;
}

static bool same_file(const char *a, const char *b) {
    struct stat x, y;
    return a && !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* The file that was read and that the output would replace, or NULL. */
static const char *replaced_file(const Driver *d, const Frontend *f) {
    const Options *o = &d->options;
    const char *config = NULL, *file;
    if (o->hf) hf_is_folder(d->arena, o->hf, &config);
    const char *others[] = {config, o->import[0], o->import[1], o->machine};
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (same_file(others[i], o->output)) return others[i];
    for (uint32_t i = 0; i < o->files.n; i++)
        if (same_file(o->files.at[i], o->output)) return o->files.at[i];
    for (uint32_t i = 0; f && (file = frontend_file(f, i)); i++)
        if (same_file(file, o->output)) return file;
    return NULL;
}

static bool keeps(Driver *d, const char *file) {
    if (file)
        driver_mistake(d, E_option_value, "name another file after -o",
                       "`-o %s` would replace %s, which was read", d->options.output, file);
    return !file;
}

bool driver_keeps_files(Driver *d, const Frontend *f) { return keeps(d, replaced_file(d, f)); }

bool driver_keeps_file(Driver *d, const char *file) {
    return keeps(d, same_file(file, d->options.output) ? file : NULL);
}

static char *read_standard_input(Driver *d, size_t *size) {
    Buf text = {0};
    char chunk[65536];
    ssize_t n;
    while ((n = read(STDIN_FILENO, chunk, sizeof chunk)) != 0) {
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) fail_environment("cannot read standard input: %s", strerror(errno));
        buf_write(&text, chunk, (size_t)n);
    }
    *size = text.n;
    return buf_text(d->arena, &text);
}

char *driver_read(Driver *d, const char *name, size_t *size) {
    if (!strcmp(name, "-")) return read_standard_input(d, size);
    char *text = read_file(name, size);
    if (!text) fail_environment("cannot read %s: %s", name, strerror(errno));
    return text;
}

void driver_print(const void *text, size_t n) {
    if (fwrite(text, 1, n, stdout) != n || fflush(stdout))
        fail_environment("cannot write to standard output: %s", strerror(errno));
}

void driver_show(Buf *text) {
    driver_print(text->at, text->n);
    buf_free(text);
}

void driver_write(const char *file, const void *bytes, size_t n) {
    if (!strcmp(file, "-"))
        driver_print(bytes, n);
    else if (write_file_atomic(file, bytes, n))
        fail_environment("cannot write %s: %s", file, strerror(errno));
}
