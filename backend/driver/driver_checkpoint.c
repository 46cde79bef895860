/* fsdpc check and fsdpc reshard for checkpoints. The argument is the folder of one step, or a
 * folder of several, which means the newest.
 *
 * Ctrl-C and SIGTERM stop a copy and remove what it has written.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver.h"
#include "emit.h"

volatile int driver_stop;

static void on_signal(int number) {
    (void)number;
    driver_stop = 1;
}

void driver_catch_signals(void) {
    struct sigaction a = {.sa_handler = on_signal};
    sigaction(SIGINT, &a, NULL);
    sigaction(SIGTERM, &a, NULL);
    sigaction(SIGHUP, &a, NULL);
    signal(SIGXFSZ, SIG_IGN); /* the write of a file that is too large fails instead */
}

int driver_fault(Driver *d, int code, DiagCode corrupt, char *error) {
    char *help = strstr(error, "\nhelp: ");
    if (code == EXIT_INTERRUPTED) {
        fprintf(stderr, "interrupted: nothing was written\n");
        return code;
    }
    if (code == EXIT_ENVIRONMENT) fail_environment("%s", error);
    if (help) *help = 0;
    diag_report(&d->diags, code == EXIT_USER ? E_option_value : corrupt, (Span){0},
                help ? help + strlen("\nhelp: ") : NULL, "%s", error);
    return code;
}

bool driver_is_folder(const char *path) {
    struct stat st;
    return !stat(path, &st) && S_ISDIR(st.st_mode);
}

int driver_open_checkpoint(Driver *d, const char *path, Checkpoint **out) {
    char folder[CK_PATH], error[ERROR_BYTES];
    int code = ck_resolve_step(path, folder, error);
    if (!code) code = checkpoint_open(out, folder, error);
    if (code == EXIT_CORRUPT) ck_advise_other_step(folder, error);
    return code ? driver_fault(d, code, E_checkpoint, error) : 0;
}

/* ---- check */

static void put_mesh(const Mesh *m, Buf *out) {
    for (int i = 0; i < m->n; i++)
        buf_printf(out, "%s%s = %lld", i ? ", " : "", axis_name(m->axis[i].role),
                   (long long)m->axis[i].size);
}

static void print_verified(const CkContents *c) {
    Buf out = {0};
    uint64_t bytes = 0, blocks = 0, weights = 0;
    for (uint32_t i = 0; i < c->n_file; i++) {
        bytes += c->file[i].size;
        blocks += ck_blocks(&c->file[i]);
    }
    for (uint32_t i = 0; i < c->n_tensor; i++)
        weights += c->vector[c->tensor[i].vector].role == STATE_PARAM;
    buf_printf(&out, "step %lld, after %lld samples, in the files of ranks (", (long long)c->step,
               (long long)c->samples);
    put_mesh(&c->mesh, &out);
    buf_printf(&out, ")\nmanifest: what was written, with %u settings\n", c->n_setting);
    buf_printf(&out,
               "files: %u, all there and no others; %llu bytes, %llu blocks have their hash\n",
               ck_count_files(c), (Llu)bytes, (Llu)blocks);
    buf_printf(&out,
               "tensors: %llu weights, %llu of the optimizer; names, shapes and places in the "
               "headers are the manifest's\n",
               (Llu)weights, (Llu)(c->n_tensor - weights));
    driver_show(&out);
}

int driver_check_checkpoint(Driver *d, const char *path) {
    char error[ERROR_BYTES];
    Checkpoint *k;
    int code = driver_open_checkpoint(d, path, &k);
    if (code) return code;
    code = ck_verify(k, error);
    if (code == EXIT_CORRUPT) ck_advise_other_step(checkpoint_folder(k), error);
    if (code)
        code = driver_fault(d, code, E_checkpoint, error);
    else if (d->options.given & BIT(VERBOSE))
        print_verified(checkpoint_contents(k));
    checkpoint_close(k);
    return code;
}

/* ---- reshard */

static bool is_model(const char *file) {
    const char *end = strrchr(file, '.');
    return end && !strcmp(end, ".fsd");
}

/* Compiles the plan in memory. */
static int make_plan(Driver *d, const char *file, Plan *plan) {
    Buf bytes = {0};
    int status;
    Frontend *f = driver_load(d, file, &pass_table[n_passes - 1], true, &status);
    if (!f) return status;
    driver_emit(d, f, &bytes);
    plan_take(plan, &bytes);
    return 0;
}

int driver_open_plan(Driver *d, const char *file, Plan *plan) {
    char message[1024];
    if (d->options.hf || is_model(file)) return make_plan(d, file, plan);
    if (d->options.given & OPTIONS_MODEL)
        return driver_mistake(d, E_option_value, "a plan has its own settings",
                              "settings of a model need a model file, and %s is not a model file",
                              file);
    int code = plan_open(plan, file, message, sizeof message);
    if (code == EXIT_ENVIRONMENT) fail_environment("%s", message);
    return code ? driver_mistake(d, E_plan, NULL, "%s: %s", file, message) : 0;
}

int driver_check_named(Driver *d, const char *output) {
    if (strcmp(output, "-") != 0) return 0;
    return driver_mistake(d, E_option_value, "`./-` names a file or folder of that name",
                          "-o -: checkpoints and weights cannot go to standard output");
}

int driver_check_target(Driver *d, const char *output) {
    char manifest[CK_PATH];
    int code = driver_check_named(d, output);
    if (code) return code;
    if (strlen(output) + 64 < sizeof manifest)
        snprintf(manifest, sizeof manifest, "%s/manifest.json", output);
    else
        return driver_mistake(d, E_option_value, NULL, "-o: the path is too long");
    if (!access(manifest, F_OK))
        return driver_mistake(d, E_option_value, NULL,
                              "-o takes a folder of checkpoints, but %s is a single checkpoint",
                              output);
    return 0;
}

void driver_say_written(Driver *d, const CkContents *c, const char *folder) {
    char name[32];
    uint64_t bytes = 0;
    if (d->options.given & BIT(QUIET)) return;
    ck_step_name(name, c->step);
    for (uint32_t i = 0; i < c->n_file; i++) bytes += c->file[i].size;
    size_t n = strlen(folder);
    while (n > 1 && folder[n - 1] == '/') n--;
    fprintf(stderr, "%.*s/%s: %u tensors, %llu bytes, in %u files of %lld ranks\n", (int)n, folder,
            name, c->n_tensor, (Llu)bytes, ck_count_files(c), (long long)mesh_ranks(&c->mesh));
}

static int reshard(Driver *d, Checkpoint *from, const Plan *plan) {
    const Options *o = &d->options;
    char error[ERROR_BYTES];
    CkContents to = *checkpoint_contents(from);
    if (plan) {
        to.n_vector = to.n_tensor = 0;
        ck_plan_states(&to, plan, d->arena, NULL);
    } else {
        ck_even_layout(&to, o->ranks, d->arena);
    }
    int code = ck_files(&to, d->arena, error);
    if (!code) code = ck_write_copy(from, &to, o->output, &driver_stop, error);
    if (code == EXIT_CORRUPT && !strstr(error, "\n"))
        ck_advise_other_step(checkpoint_folder(from), error);
    if (code) return driver_fault(d, code, E_checkpoint, error);
    driver_say_written(d, &to, o->output);
    return 0;
}

int driver_reshard(Driver *d) {
    const Options *o = &d->options;
    bool has_plan = o->files.n > 1, has_ranks = o->given & BIT(RANKS);
    Checkpoint *from;
    Plan plan;
    if (!o->output)
        return driver_mistake(d, E_missing_argument, NULL,
                              "`fsdpc reshard` needs -o FOLDER, where the new checkpoint goes");
    if (has_plan == has_ranks)
        return driver_mistake(
            d, E_missing_argument,
            "-n M divides the checkpoint evenly among M ranks; a plan gives its own layout",
            "`fsdpc reshard` needs %s", has_plan ? "-n or a plan, not both" : "-n M or a plan");
    int code = driver_check_target(d, o->output);
    if (!code && has_plan) code = driver_open_plan(d, o->files.at[1], &plan);
    if (code) return code;
    code = driver_open_checkpoint(d, o->files.at[0], &from);
    if (!code) {
        checkpoint_keep_blocks(from, RESHARD_BLOCKS);
        driver_catch_signals();
        code = reshard(d, from, has_plan ? &plan : NULL);
        checkpoint_close(from);
    }
    if (has_plan) plan_close(&plan);
    return code;
}
