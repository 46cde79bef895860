/* Reads arbitrary bytes as a machine file. What is accepted has finite constants, each with an
 * origin, and none twice. */
#include <math.h>
#include <string.h>

#include "machine_file.h"

static void ignore(void *context, const char *text, size_t n) {
    (void)context, (void)text, (void)n;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    Arena *a = arena_new();
    DiagSet ds;
    diag_init(&ds, a);
    ds.write = ignore;
    const Machine *m = machine_read_text(&ds, a, "fuzz.machine", (const char *)bytes, n);
    CHECK((m != NULL) == (ds.errors == 0));
    for (uint32_t i = 0; m && i < m->constants.n; i++) {
        const MachineConstant *c = &m->constants.at[i];
        CHECK(isfinite(c->value) && c->value >= 0 && *c->from);
        CHECK(machine_find(m, c->path) == c);
    }
    CHECK(!m || machine_largest(m, "links") >= 0);
    arena_free(a);
    return 0;
}
