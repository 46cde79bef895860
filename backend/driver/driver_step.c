/* --machine of compile and dump: how long a step of the plan takes there. */
#include "driver.h"
#include "step.h"

bool driver_predict(Driver *d, const Plan *plan, Step *step) {
    if (!d->options.machine) return true;
    const Machine *m = machine_read(&d->diags, d->arena, d->options.machine);
    return m && step_predict(plan, m, d->arena, step);
}

void driver_step_text(Driver *d, const Step *step, Buf *out) {
    if (d->options.machine) step_text(step, d->arena, out);
}

struct json_t *driver_step_json(Driver *d, const Step *step) {
    return d->options.machine ? step_json(step) : NULL;
}
