/* fsdpc fit: whether a model or a plan fits a device, how much more would, and what would help. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "fit.h"
#include "machine_file.h"

enum { NODE_RANKS = 8 }; /* of most machines with GPUs */

static int read_plan(Driver *d, Fit *fit, const char *name, const char *bytes, size_t n) {
    Plan plan;
    char message[ERROR_BYTES];
    if (d->options.given & OPTIONS_MODEL) return driver_fixed_in_plan(d, name);
    if (plan_read(&plan, bytes, n, message, sizeof message))
        return driver_mistake(d, E_plan, NULL, "%s: %s", name, message);
    fit_plan(fit, &plan);
    fit->model = arena_strdup(d->arena, fit->model);
    plan_close(&plan);
    return EXIT_DONE;
}

static int read_model(Driver *d, Fit *fit, const char *name) {
    int status;
    Frontend *f = driver_load(d, name, &pass_table[n_passes - 1], true, &status);
    if (f) fit_model(fit, f);
    return status;
}

static int read_any(Driver *d, Fit *fit) {
    size_t n;
    const char *file = d->options.files.at[0];
    char *text = d->options.hf ? NULL : read_file(file, &n);
    if (!text && !d->options.hf) fail_environment("cannot read %s: %s", file, strerror(errno));
    int status = text && driver_is_plan(text, n) ? read_plan(d, fit, file, text, n)
                                                 : read_model(d, fit, file);
    free(text);
    return status;
}

/* What the machine file says and the command line does not. */
static bool read_machine(Driver *d, Fit *fit) {
    const Options *o = &d->options;
    const Machine *m = machine_read(&d->diags, d->arena, o->machine);
    if (!m) return false;
    const MachineConstant *outside = machine_find(m, "device.outside_bytes"), *memory = NULL;
    if (!(o->given & BIT(MEMORY)) && !(memory = machine_need(m, "device.memory_bytes")))
        return false;
    if (!(o->given & BIT(DEVICE))) fit->device = m->kind;
    if (memory) fit->memory = (uint64_t)memory->value;
    if (outside && !(o->given & BIT(OUTSIDE))) fit->outside = (uint64_t)outside->value;
    if (machine_largest(m, "links")) fit->node = machine_largest(m, "links");
    return true;
}

int driver_fit(Driver *d) {
    const Options *o = &d->options;
    Fit fit = {d->arena, o->device, o->memory, o->outside, .node = NODE_RANKS};
    Buf out = {0}, clean = {0};
    if (o->machine && !read_machine(d, &fit)) return diag_exit_code(&d->diags);
    if (!fit.memory)
        return driver_mistake(d, E_missing_argument, "for example --memory 80GiB",
                              "`fsdpc fit` needs --memory SIZE, the memory of a device, or "
                              "--machine FILE");
    if (fit.outside >= fit.memory)
        return driver_mistake(d, E_option_value, "it is the part of --memory that others hold",
                              "--outside leaves nothing of --memory for the plan");
    int status = read_any(d, &fit);
    if (status) return status;
    if (o->json)
        fit_json(&fit, &out);
    else
        fit_text(&fit, &out);
    diag_clean(&clean, out.at, out.n);
    driver_show(&clean);
    buf_free(&out);
    return fit_found(&fit) ? EXIT_DONE : EXIT_USER;
}
