/* Plants faults in good plans and counts which proof of the checker catches them.
 *
 * Every good plan must pass the reader, the checker and the oracle, also when cut into two roles.
 * Each of its edges must be needed by a proof, or hold back a gather without following from other
 * edges. Every mutant stays well-formed: it is renumbered, its checksum is correct, and the reader
 * accepts it (those that the reader rejects are counted separately). The checker runs as a whole,
 * which shows the proof that catches a mutant first, and then each proof runs alone. If the checker
 * accepts a mutant, it must be harmless: the oracle runs it in many legal orders and must find
 * nothing.
 *
 * Every third plan is tried, and failures are printed at the end; with AddressSanitizer, which
 * looks for errors in the checker's own memory, every ninth. The random numbers are the same in
 * every run. By hand, `mutate -v` names every mutant and `mutate -s SEED` plants others, both in
 * all plans; `mutate PLAN FAULT FILE` writes the first mutant of that kind, for tests of fsdpc's
 * messages.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "mutate.h"

enum {
    PROOFS = 9,
    MODEL = 8, /* the proof that compares with the model */
    ORDERS = 40,
    FEW_ORDERS = 8,
    LEAST_MUTANTS = 1000,
    LEAST_CAUGHT = 35,
    PLANS_APART = 5,
    POLICIES = 60
};

static const struct {
    const Fault *fault;
    const uint32_t *n;
    bool certain; /* must be rejected wherever it is planted, also where the oracle sees nothing */
} lists[] = {
    {order_faults, &n_order_faults, false}, {sum_faults, &n_sum_faults, false},
    {size_faults, &n_size_faults, true},    {certain_faults, &n_certain_faults, true},
    {copy_faults, &n_copy_faults, true},    {model_faults, &n_model_faults, true},
    {cast_faults, &n_cast_faults, true},    {save_faults, &n_save_faults, true},
};

typedef struct Count {
    uint32_t planted;  /* mutants aimed at this proof */
    uint32_t first;    /* mutants that it rejects first */
    uint32_t alone;    /* mutants that it rejects by itself */
    uint32_t harmful;  /* planted, rejected, and the oracle sees why in a few orders */
    uint32_t harmless; /* planted, accepted, and the oracle sees nothing */
} Count;

typedef struct Test {
    Count by_proof[PROOFS + 1];
    uint32_t mutants, unread, failures;
    uint32_t apart; /* of the plans that are tried */
    Buf said;       /* the failures */
    Random random;
    bool verbose;
} Test;

static void failed(Test *t, const char *plan, const char *what, const char *why) {
    buf_printf(&t->said, "FAILED: %s: %s: %s\n", plan, what, why);
    t->failures++;
}

/* The number in "check-2a". */
static int proof_of(const PlanFault *f) { return atoi(f->rule + strlen("check-")); }

static void test_good(Test *t, const GoodPlan *g, const Plan *p) {
    PlanFault fault;
    char why[1024];
    if (plan_check(p, &fault)) {
        snprintf(why, sizeof why, "%s at %llu: %s", fault.rule, (unsigned long long)fault.instr,
                 fault.message);
        failed(t, g->name, "the checker rejects it", why);
    }
    const char *wrong = oracle_run(p, ORDERS, &t->random);
    if (wrong) failed(t, g->name, "the oracle rejects it", wrong);
}

static bool is_certain(const Fault *f) {
    for (size_t k = 0; k < ARRAY_LEN(lists); k++)
        if (f >= lists[k].fault && f < lists[k].fault + *lists[k].n) return lists[k].certain;
    return false;
}

static void test_mutant(Test *t, const GoodPlan *g, const Fault *f, const Plan *p) {
    PlanFault fault;
    char message[256];
    Count *own = &t->by_proof[f->proof];
    t->mutants++;
    own->planted++;
    for (int proof = 1; proof <= PROOFS; proof++)
        t->by_proof[proof].alone += plan_check_rules(p, CHECK_RULE(proof), &fault) != 0;
    if (is_certain(f) && !plan_check_rules(p, CHECK_RULE(f->proof), &fault)) {
        snprintf(message, sizeof message, "proof %d accepts `%s`", f->proof, f->name);
        failed(t, g->name, message, "it does harm wherever it is planted");
    }
    bool caught = plan_check(p, &fault) != 0;
    if (caught) t->by_proof[proof_of(&fault)].first++;
    if (t->verbose)
        printf("%s: %s: %s %s\n", g->name, f->name, caught ? fault.rule : "accepted",
               fault.message);
    const char *wrong = oracle_run(p, caught ? FEW_ORDERS : ORDERS, &t->random);
    own->harmful += caught && wrong;
    own->harmless += !caught && !wrong;
    if (t->verbose && caught && !wrong) printf("    which the oracle does not see\n");
    snprintf(message, sizeof message, "`%s` is accepted", f->name);
    if (!caught && wrong) failed(t, g->name, message, wrong);
}

static bool read_edit(Test *t, const Edit *e, const GoodPlan *g, void **bytes, Plan *p) {
    size_t size;
    char message[512];
    *bytes = edit_write(e, &size);
    if (!*bytes) return false;
    if (!plan_read(p, *bytes, size, message, sizeof message)) return true;
    if (t->verbose) printf("%s: not well-formed: %s\n", g->name, message);
    return false;
}

static void plant(Test *t, const GoodPlan *g, const Fault *f) {
    for (int k = 0; k < f->tries; k++) {
        Arena *a = arena_new();
        Edit *e = edit_new(a, &g->plan);
        Plan p;
        void *bytes = NULL;
        if (fault_plant(f, e, &t->random)) {
            if (read_edit(t, e, g, &bytes, &p))
                test_mutant(t, g, f, &p);
            else
                t->unread++;
        }
        free(bytes);
        arena_free(a);
    }
}

static void test_roles(Test *t, const GoodPlan *g) {
    Arena *a = arena_new();
    Edit *e = edit_new(a, &g->plan);
    Plan p;
    void *bytes = NULL;
    if (edit_split_roles(e)) {
        if (read_edit(t, e, g, &bytes, &p))
            test_good(t, g, &p);
        else
            failed(t, g->name, "two roles", "the reader rejects them");
    }
    free(bytes);
    arena_free(a);
}

/* An edge that no proof needs keeps a gather or a fetch from running ahead (prefetch); it must not
 * follow from the others. */
static bool holds_back(const Edit *e, uint32_t instr, uint32_t from) {
    uint8_t stream = e->instr[instr].row.stream;
    if (stream != STREAM_GATHER && stream != STREAM_FETCH) return false;
    for (uint32_t k = 0; k < e->n_program; k++) {
        uint32_t earlier = edit_place(e, k, from), later = edit_place(e, k, instr);
        if (later != UINT32_MAX) return !edit_depends(e, k, earlier, later);
    }
    return false;
}

static uint32_t test_edges(Test *t, const GoodPlan *g) {
    uint32_t edges = 0;
    for (uint32_t i = 0; i < g->plan.n_instrs; i++)
        for (uint32_t k = 0; k < g->plan.instrs[i].n_edge; k++) {
            Arena *a = arena_new();
            Edit *e = edit_new(a, &g->plan);
            PlanFault fault;
            Plan p;
            void *bytes = NULL;
            char where[256];
            uint32_t from = e->instr[i].edge[k];
            edit_drop_edge(e, i, k);
            plan_instr_text(&g->plan, i, where, sizeof where);
            if (!read_edit(t, e, g, &bytes, &p) ||
                (!plan_check(&p, &fault) && !holds_back(e, i, from)))
                failed(t, g->name, "an edge can go", where);
            edges++;
            free(bytes);
            arena_free(a);
        }
    return edges;
}

/* Plans under random policies, which no fault is planted into: enough that they are good. */
static uint32_t test_policies(Test *t) {
    uint32_t edges = 0;
    for (uint32_t k = 0; k < POLICIES / t->apart; k++) {
        GoodPlan g = random_plan(&t->random);
        test_good(t, &g, &g.plan);
        test_roles(t, &g);
        edges += test_edges(t, &g);
        good_end(&g);
    }
    return edges;
}

static void print_table(Test *t, uint32_t plans, uint32_t edges) {
    printf("%u good plans, %u edges that are all needed; %u mutants of %u of them, %u more not "
           "well-formed\n",
           plans + POLICIES / t->apart, edges, t->mutants, plans, t->unread);
    printf("proof  caught first  caught alone  planted  seen by oracle  harmless\n");
    for (int k = 1; k <= PROOFS; k++) {
        const Count *c = &t->by_proof[k];
        printf("%5d  %12u  %12u  %7u  %14u  %8u\n", k, c->first, c->alone, c->planted, c->harmful,
               c->harmless);
        if (c->alone < LEAST_CAUGHT || c->first < LEAST_CAUGHT || c->planted < LEAST_CAUGHT)
            failed(t, "all plans", "too few mutants for a proof", "see the table");
        /* The oracle knows no model. */
        if (c->harmful < LEAST_CAUGHT && k != MODEL)
            failed(t, "all plans", "the oracle sees too little", "see the table");
    }
    if (t->mutants < LEAST_MUTANTS) failed(t, "all plans", "too few mutants", "see the table");
}

static const Fault *find_fault(const char *name) {
    for (size_t k = 0; k < ARRAY_LEN(lists); k++)
        for (uint32_t f = 0; f < *lists[k].n; f++)
            if (!strcmp(lists[k].fault[f].name, name)) return &lists[k].fault[f];
    fail_environment("there is no fault `%s`", name);
}

static int write_mutant(const char *plan, const char *fault, const char *file) {
    GoodPlan good;
    const Fault *f = find_fault(fault);
    if (!good_plan_named(plan, &good)) fail_environment("there is no plan `%s`", plan);
    Random random = {.state = 1, .still = true};
    for (int tries = 0; tries < 100; tries++, random.still = false) {
        size_t size;
        Plan p;
        char message[512];
        Edit *e = edit_new(good.arena, &good.plan);
        void *bytes = fault_plant(f, e, &random) ? edit_write(e, &size) : NULL;
        if (!bytes || plan_read(&p, bytes, size, message, sizeof message)) continue;
        if (write_file_atomic(file, bytes, size)) fail_environment("cannot write %s", file);
        return 0;
    }
    fail_environment("`%s` has no place for `%s`", plan, fault);
}

/* Run by hand, in the top folder: the data files are written into build/, not beside the sources.
 */
static void leave_the_top_folder(void) {
    char root[PATH_MAX];
    if (getenv("FSDP_ROOT")) return;
    if (!getcwd(root, sizeof root) || setenv("FSDP_ROOT", root, 1) ||
        (mkdir("build/mutate-data", 0777) && errno != EEXIST) || chdir("build/mutate-data"))
        fail_environment("run this in the project's top folder, after ninja");
}

int main(int argc, char **argv) {
    if (argc < 4) leave_the_top_folder();
    if (argc == 4) return write_mutant(argv[1], argv[2], argv[3]);
    Test t = {.random = {.state = 20261121},
              .apart = argc > 1 ? 1 : PLANS_APART,
              .verbose = argc > 1 && !strcmp(argv[1], "-v")};
    if (argc == 3 && !strcmp(argv[1], "-s")) t.random.state = strtoull(argv[2], NULL, 0);
    Arena *a = arena_new();
    GoodPlan *good;
    uint32_t n = good_plans(a, &good), tried = 0, edges = 0;
    for (uint32_t k = 0; k < n; k += t.apart, tried++) {
        test_good(&t, &good[k], &good[k].plan);
        test_roles(&t, &good[k]);
        edges += test_edges(&t, &good[k]);
        for (size_t l = 0; l < ARRAY_LEN(lists); l++)
            for (uint32_t f = 0; f < *lists[l].n; f++) plant(&t, &good[k], &lists[l].fault[f]);
    }
    edges += test_policies(&t);
    print_table(&t, tried, edges);
    if (t.failures) printf("%s%u failures\n", t.said.at, t.failures);
    buf_free(&t.said);
    for (uint32_t k = 0; k < n; k++) good_end(&good[k]);
    arena_free(a);
    return t.failures ? 1 : 0;
}
