/* The plan reader: bytes in, a Plan of pointers into them out, or a message.
 *
 * A plan is untrusted input, checksum or not. Whatever plan_read accepts can be indexed without
 * further thought: sections lie inside the file, aligned and apart; strings end; every index is
 * inside its table; enums are in range; types have a size without overflow, and values lie inside
 * the arena; instructions have as many operands and results as their op, and operands of the types
 * and shapes that the op's kernels rely on. Whether the program means anything is plan_check's
 * question.
 *
 * The order: the file as a whole, the tables (plan_tables.c), then instructions (plan_types.c).
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "plan_reader.h"

static uint64_t checksum(const void *bytes, size_t size) {
    PlanHeader header;
    memcpy(&header, bytes, sizeof header);
    header.checksum = 0;
    XXH3_state_t *state = XXH3_createState();
    if (!state) fail_environment("no memory for a checksum");
    XXH3_64bits_reset(state);
    XXH3_64bits_update(state, &header, sizeof header);
    XXH3_64bits_update(state, (const char *)bytes + sizeof header, size - sizeof header);
    uint64_t sum = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    return sum;
}

static uint64_t fingerprint(const void *bytes, size_t size) {
    return hash_bytes((const char *)bytes + sizeof(PlanHeader), size - sizeof(PlanHeader), 0);
}

void plan_seal(void *bytes, size_t size) {
    PlanHeader *h = bytes;
    h->fingerprint = fingerprint(bytes, size);
    h->checksum = checksum(bytes, size);
}

/* A section of a plan of any version, if its rows are at least as long as those asked for. */
static const void *find_section(const char *bytes, size_t size, uint32_t kind, size_t element,
                                uint64_t *count) {
    const PlanHeader *h = (const PlanHeader *)bytes;
    const PlanSection *at = (const PlanSection *)(bytes + sizeof *h);
    uint64_t room = (size - sizeof *h) / sizeof *at;
    for (uint32_t i = 0; i < MIN(h->n_sections, room); i++) {
        if (at[i].kind != kind || at[i].offset % 16 || at[i].offset > size) continue;
        *count = at[i].count;
        return at[i].count && at[i].element >= element &&
                       at[i].count <= (size - at[i].offset) / at[i].element
                   ? bytes + at[i].offset
                   : NULL;
    }
    return NULL;
}

/* The settings begin with the same fields in all versions, so the command is there to be read. */
static void other_version(Reading *r, const char *bytes, size_t size) {
    uint64_t n_strings = 0, n_settings = 0;
    const char *strings = find_section(bytes, size, 0, 1, &n_strings);
    const PlanSettings *s =
        find_section(bytes, size, 1, offsetof(PlanSettings, batch), &n_settings);
    const char *because =
        "compiled by a different version of fsdpc, whose ops or workspace rules differ";
    if (!strings || !s || strings[n_strings - 1] || s->command >= n_strings)
        plan_fail(r, "%s: compile the model again", because);
    plan_fail(r, "%s: compile the model again: fsdpc compile %s -n %u (and --mesh, if it had one)",
              because, strings + s->command, s->ranks);
}

static void read_header(Reading *r, const void *bytes, size_t size) {
    const PlanHeader *h = bytes;
    if (size < sizeof *h) plan_fail(r, "the file has %zu bytes, too few for a plan", size);
    if (memcmp(h->magic, PLAN_MAGIC, sizeof h->magic))
        plan_fail(r, "this is not a plan: it does not start with " PLAN_MAGIC);
    if (h->oldest_reader > PLAN_VERSION)
        plan_fail(r, "the plan needs a reader of format %u or newer; this one knows %d",
                  h->oldest_reader, PLAN_VERSION);
    if (h->size != size)
        plan_fail(r, "the plan should have %llu bytes, but the file has %zu", (Llu)h->size, size);
    if (checksum(bytes, size) != h->checksum)
        plan_fail(r, "checksum mismatch: the file is damaged");
    if (h->version < h->oldest_reader || h->oldest_reader == 0)
        plan_fail(r, "format %u cannot require reader %u", h->version, h->oldest_reader);
    if (h->rules != plan_rules()) other_version(r, bytes, size);
    if (fingerprint(bytes, size) != h->fingerprint)
        plan_fail(r,
                  "the contents do not match fingerprint %016llx: the plan was changed "
                  "after it was compiled",
                  (Llu)h->fingerprint);
    if (h->n_sections > (size - sizeof *h) / sizeof(PlanSection))
        plan_fail(r, "the table of %u sections does not fit into the file", h->n_sections);
}

enum {
    SECTION_KINDS = 0
#define SECTION(field, type, name) +1
    PLAN_SECTIONS(SECTION)
#undef SECTION
};

static const struct {
    const char *name;
    size_t element;
} section_info[SECTION_KINDS] = {
#define SECTION(field, type, name) {name, sizeof(type)},
    PLAN_SECTIONS(SECTION)
#undef SECTION
};

/* Sections of known kind must be there once each; all must ascend and stay apart. */
static void read_sections(Reading *r, const char *bytes, size_t size) {
    const PlanHeader *h = (const PlanHeader *)bytes;
    const PlanSection *at = (const PlanSection *)(bytes + sizeof *h), *found[SECTION_KINDS] = {0};
    uint64_t free_from = sizeof *h + (uint64_t)h->n_sections * sizeof *at;
    for (uint32_t i = 0; i < h->n_sections; i++) {
        const PlanSection *s = &at[i];
        if (s->offset % 16 || s->offset < free_from || s->offset > size)
            plan_fail(r, "section %u starts at byte %llu, which is not a valid place", i,
                      (Llu)s->offset);
        if (!s->element || s->count > (size - s->offset) / s->element)
            plan_fail(r, "section %u does not fit into the file", i);
        free_from = s->offset + s->count * s->element;
        if (s->kind >= SECTION_KINDS) continue;
        if (found[s->kind])
            plan_fail(r, "there are two sections of %s", section_info[s->kind].name);
        if (s->element != section_info[s->kind].element)
            plan_fail(r, "section of %s: %u bytes per element instead of %zu",
                      section_info[s->kind].name, s->element, section_info[s->kind].element);
        if (s->count >= UINT32_MAX)
            plan_fail(r, "section of %s is too large", section_info[s->kind].name);
        found[s->kind] = s;
    }
    for (int k = 0; k < SECTION_KINDS; k++)
        if (!found[k]) plan_fail(r, "there is no section of %s", section_info[k].name);
    int kind = 0;
#define SECTION(field, type, name)                                                                 \
    r->p->field = (const type *)(bytes + found[kind]->offset);                                     \
    r->p->n_##field = found[kind++]->count;
    PLAN_SECTIONS(SECTION)
#undef SECTION
    const Plan *p = r->p;
    FAIL_IF(!p->n_strings || p->strings[0] || p->strings[p->n_strings - 1],
            "the string table does not begin and end with a zero byte");
}

/* false: plan_fail has ended it. */
static bool read_all(Reading *r, const void *bytes, size_t size) {
    if (setjmp(r->end)) return false;
    read_header(r, bytes, size);
    read_sections(r, bytes, size);
    plan_read_tables(r);
    plan_read_instrs(r);
    return true;
}

int plan_read(Plan *p, const void *bytes, size_t size, char *message, size_t message_size) {
    Reading r = {.p = p, .message = message, .message_size = message_size, .scratch = arena_new()};
    *p = (Plan){.header = bytes};
    if ((uintptr_t)bytes % 16) BUG("a plan's bytes must be aligned to 16");
    bool good = read_all(&r, bytes, size);
    if (!good) *p = (Plan){0};
    arena_free(r.scratch);
    return good ? 0 : EXIT_CORRUPT;
}

int plan_open(Plan *p, const char *path, char *message, size_t message_size) {
    size_t size;
    *p = (Plan){0};
    char *bytes = read_file(path, &size);
    if (!bytes) {
        snprintf(message, message_size, "cannot open %s: %s", path, strerror(errno));
        return EXIT_ENVIRONMENT;
    }
    int status = plan_read(p, bytes, size, message, message_size);
    if (status)
        free(bytes);
    else
        p->owned = bytes;
    return status;
}

void plan_close(Plan *p) {
    free(p->owned);
    *p = (Plan){0};
}
