/* Reads arbitrary bytes as a trace of a measuring plan, and, where they do not begin like JSON, as
 * the instructions that such a trace has. What is fitted to a trace is a machine file. */
#include <stdio.h>
#include <string.h>

#include "fuzz.h"
#include "measure.h"

enum { RANKS = 2, EVENT_BYTES = 5, EVENTS = 16 /* a fit takes long */ };

static void ignore(void *context, const char *text, size_t n) {
    (void)context, (void)text, (void)n;
}

/* Plans are made once. */
static const Measured *measuring(void) {
    static Measured m;
    static DiagSet ds;
    if (m.arena) return &m;
    m = (Measured){.diags = &ds, .arena = arena_new(), .ranks = RANKS};
    diag_init(&ds, m.arena);
    CHECK(measure_open_plans(&m));
    return &m;
}

/* Instruction, rank and call, and seconds from five bytes. */
static void put_event(const Plan *p, const uint8_t *at, bool first, Buf *out) {
    uint32_t instr = (at[0] * 256u + at[1]) % (uint32_t)p->n_instrs;
    const PlanInstr *in = &p->instrs[instr];
    buf_printf(out,
               "%s{\"ph\": \"X\", \"name\": \"%s\", \"pid\": %d, \"dur\": %de%d, \"args\": {"
               "\"instruction\": %u, \"call\": %d, \"flops\": %llu, \"bytes\": %llu}}",
               first ? "" : ", ", op_info[in->op].name, at[2] % RANKS, at[3], at[4] % 32 - 16,
               instr, at[2] / RANKS, (unsigned long long)in->flops, (unsigned long long)in->bytes);
}

/* The first byte says of which plan. */
static void put_trace(const Measured *m, const uint8_t *bytes, size_t n, Buf *out) {
    buf_printf(out, "{\"traceEvents\": [");
    for (size_t i = 1; i + EVENT_BYTES <= MIN(n, 1 + EVENTS * EVENT_BYTES); i += EVENT_BYTES)
        put_event(&m->plan[bytes[0] % MEASURE_VARIANTS], bytes + i, i == 1, out);
    buf_printf(out, "]}");
}

static void fit(Measured *m) {
    Buf text = {0};
    measure_fit(m);
    measure_text(m, &text);
    CHECK(machine_read_text(m->diags, m->arena, "fitted", text.at, text.n));
    buf_free(&text);
}

static void read_trace(const char *text, size_t n) {
    Measured m = *measuring();
    DiagSet ds;
    m.arena = arena_new();
    m.diags = &ds;
    m.cores = 1;
    diag_init(&ds, m.arena);
    ds.write = ignore;
    bool read = measure_read_text(&m, "fuzz.json", text, n);
    CHECK(read == (ds.errors == 0));
    if (read && m.ranks == RANKS && measure_find_points(&m)) fit(&m);
    arena_free(m.arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    Buf text = {0};
    if (n && *bytes != '{') {
        put_trace(measuring(), bytes, n, &text);
        read_trace(text.at, text.n);
    } else
        read_trace((const char *)bytes, n);
    buf_free(&text);
    return 0;
}
