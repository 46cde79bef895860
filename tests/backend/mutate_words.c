/* Changes arbitrary numbers in a plan's file, in any table, and reports which changes are accepted.
 *
 *     mutate_words [-s SEED] [-n MUTANTS] [-r FSDP_RUN]
 *
 * Uses the good plans of mutate_plans.c. In each mutant, one or two 32-bit or 64-bit words are
 * changed: to another small number, to one more or one less, in one bit, to the same word of
 * another row, or to a number from anywhere in that table. The checksum is correct. Mutants that
 * the reader and the checker reject are counted by table. With -r FSDP_RUN, those that they accept
 * are run for two steps and compared with the good plan: losses, norms and saved weights must be
 * equal bit for bit, or the run must end with an error and save nothing. Every difference is
 * reported (table, row, byte of the row), and the exit code is 1. Without -r the last line has only
 * counts.
 *
 * Works in the current folder; the random numbers are the same in every run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mutate.h"

typedef unsigned long long Llu;

static const char *const section_names[] = {
#define SECTION(field, type, name) name,
    PLAN_SECTIONS(SECTION)
#undef SECTION
};
enum { SECTIONS = ARRAY_LEN(section_names) };

typedef struct Trial {
    Random random;
    const char *run;
    uint64_t mutants, unread, refused[16], accepted, same, ended, different;
    uint64_t by_section[SECTIONS][2]; /* accepted, different */
} Trial;

typedef struct Change {
    uint32_t section, word; /* bytes into the row */
    uint64_t row;
    bool wide;
} Change;

static const PlanSection *sections_of(const void *bytes) {
    return (const PlanSection *)((const char *)bytes + sizeof(PlanHeader));
}

static uint64_t get(const char *at, bool wide) {
    uint64_t x = 0;
    memcpy(&x, at, wide ? 8 : 4);
    return x;
}

static uint64_t another(Trial *w, const char *table, const PlanSection *s, const Change *c) {
    const char *at = table + c->row * s->element + c->word;
    uint64_t old = get(at, c->wide);
    switch (random_below(&w->random, 6)) {
    case 0: return random_below(&w->random, 8);
    case 1: return old + 1;
    case 2: return old - 1;
    case 3: return old ^ (uint64_t)1 << random_below(&w->random, c->wide ? 64 : 32);
    case 4:
        return get(table + random_below(&w->random, (uint32_t)s->count) * s->element + c->word,
                   c->wide);
    default:
        return get(table + random_below(&w->random, (uint32_t)(s->count * s->element / 8)) * 8,
                   c->wide);
    }
}

/* Changes one word; false where that leaves it as it was. */
static bool change(Trial *w, char *bytes, Change *c) {
    const PlanSection *all = sections_of(bytes);
    do c->section = 1 + random_below(&w->random, SECTIONS - 1); /* strings are names */
    while (!all[c->section].count || all[c->section].count * all[c->section].element < 8);
    const PlanSection *s = &all[c->section];
    c->row = random_below(&w->random, (uint32_t)s->count);
    c->wide = s->element % 8 == 0 && random_below(&w->random, 2);
    uint32_t size = c->wide ? 8 : 4;
    c->word = random_below(&w->random, s->element / size) * size;
    char *at = bytes + s->offset + c->row * s->element + c->word;
    uint64_t old = get(at, c->wide), x = another(w, bytes + s->offset, s, c);
    memcpy(at, &x, size);
    return get(at, c->wide) != old;
}

static void try_run(Trial *w, const GoodPlan *g, const char *bytes, const Change *c, int n) {
    put_file("changed.bin", bytes, g->size);
    if (run_plan(w->run, "changed")) {
        w->ended++;
        return;
    }
    if (run_trains_alike()) {
        w->same++;
        return;
    }
    w->different++;
    printf("HARMFUL: %s:", g->name);
    for (int k = 0; k < n; k++) {
        w->by_section[c[k].section][1]++;
        printf(" %s row %llu byte %u (%d bits)", section_names[c[k].section], (Llu)c[k].row,
               c[k].word, c[k].wide ? 64 : 32);
    }
    printf("\n");
    fflush(stdout);
}

static void mutant(Trial *w, const GoodPlan *g) {
    static char message[1024];
    char *bytes = aligned_alloc(16, align_up(g->size, 16));
    if (!bytes) fail_environment("no memory");
    memcpy(bytes, g->bytes, g->size);
    Change c[2];
    int n = 1 + (random_below(&w->random, 4) == 0), changed = 0;
    for (int k = 0; k < n; k++) changed += change(w, bytes, &c[k]);
    plan_seal(bytes, g->size);
    Plan p;
    PlanFault fault;
    w->mutants += changed > 0;
    if (!changed) {
        /* the good plan */
    } else if (plan_read(&p, bytes, g->size, message, sizeof message)) {
        w->unread++;
    } else if (plan_check(&p, &fault)) {
        w->refused[atoi(fault.rule + strlen("check-")) & 15]++;
    } else {
        w->accepted++;
        for (int k = 0; k < n; k++) w->by_section[c[k].section][0]++;
        if (w->run) try_run(w, g, bytes, c, n);
    }
    free(bytes);
}

static void report(const Trial *w) {
    printf("%llu mutants: %llu not read, refused by proof", (Llu)w->mutants, (Llu)w->unread);
    for (int k = 1; k < 16; k++)
        if (w->refused[k]) printf(" %d: %llu", k, (Llu)w->refused[k]);
    printf(", accepted %llu", (Llu)w->accepted);
    if (w->run)
        printf(" (same numbers %llu, ended with an error %llu, other numbers %llu)", (Llu)w->same,
               (Llu)w->ended, (Llu)w->different);
    printf("\naccepted by table:");
    for (int k = 0; k < (int)SECTIONS; k++)
        if (w->by_section[k][0]) printf(" %s %llu", section_names[k], (Llu)w->by_section[k][0]);
    printf("\n");
}

int main(int argc, char **argv) {
    Trial w = {.random = {.state = 1}};
    uint64_t wanted = 2000;
    for (int o; (o = getopt(argc, argv, "s:n:r:")) != -1;) {
        if (o == 's') w.random.state = strtoull(optarg, NULL, 0);
        if (o == 'n') wanted = strtoull(optarg, NULL, 0);
        if (o == 'r') w.run = optarg;
        if (o == '?') return EXIT_USER;
    }
    Arena *a = arena_new();
    GoodPlan *plans;
    uint32_t n = good_plans(a, &plans);
    if (w.run) run_data();
    for (uint32_t i = 0; i < n; i++) {
        if (w.run) {
            put_file("good.bin", plans[i].bytes, plans[i].size);
            if (run_plan(w.run, "good")) {
                printf("%s does not run here: see good.err\n", plans[i].name);
                continue;
            }
        }
        for (uint64_t until = w.mutants + wanted / n + 1; w.mutants < until;) mutant(&w, &plans[i]);
    }
    report(&w);
    arena_free(a);
    return w.different ? EXIT_USER : EXIT_DONE;
}
