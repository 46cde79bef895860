/* Plants faults in plans in which ranks share out samples, and trains what the checker accepts.
 *
 *     mutate_cut [-s SEED] [-n MUTANTS] [-v] FSDP_RUN
 *
 * The faults of mutate.c, whose oracle knows nothing of parts, and those of mutate_cuts.c. An
 * accepted plan is run for two steps: losses, norms and saved weights must be those of the good
 * plan, bit for bit, or the run must end with an error. Prints every plan that trains something
 * else; the last line, on standard error, has counts. Works in the current folder; the random
 * numbers are the same in every run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mutate.h"

#define GPT2                                                                                       \
    "L=2", "D=16", "H=4", "vocab=37", "seq=8", "data.length=8", "train.batch=8", "train.steps=4",  \
        "train.precision=f32", "train.schedule=constant(warmup = 0)"
#define LLAMA GPT2, "F=24"

static const struct {
    const char *name, *model;
    const char *set[20];
} cases[] = {
    {"gpt2 along tp, clipped", "gpt2", {GPT2, "shard.mesh=(dp = 2, tp = 2)", "train.clip=0.1"}},
    {"gpt2 along tp, rows whole, 2 micro-batches",
     "gpt2",
     {GPT2, "shard.mesh=(tp = 2, dp = 2)", "shard.rows=false", "train.accumulate=2"}},
    {"llama3 along tp with fewer KV heads", "llama3", {LLAMA, "KV=2", "shard.mesh=(tp = 4)"}},
    {"llama3 along cp and tp, 2 micro-batches",
     "llama3",
     {LLAMA, "KV=2", "shard.mesh=(dp = 2, cp = 2, tp = 2)", "train.accumulate=2"}},
    {"gpt2 along cp, bf16",
     "gpt2",
     {GPT2, "shard.mesh=(cp = 2, dp = 2)", "train.precision=bf16", "shard.layout=param"}},
    {"dropped along tp, blocks recomputed",
     "tests/backend/models/dropped",
     {GPT2, "data.train=synthetic_tokens(vocab = 37)", "shard.mesh=(rep = 2, tp = 2)",
      "shard.recompute=Block"}},
};

static const struct {
    const Fault *fault;
    const uint32_t *n;
} lists[] = {
    {cut_faults, &n_cut_faults},     {cut_faults, &n_cut_faults},
    {cut_faults, &n_cut_faults},     {order_faults, &n_order_faults},
    {sum_faults, &n_sum_faults},     {certain_faults, &n_certain_faults},
    {model_faults, &n_model_faults}, {cast_faults, &n_cast_faults},
};

typedef struct Trial {
    Random random;
    const char *run;
    bool verbose;
    uint64_t mutants, unread, refused[16], same, ended, different;
} Trial;

static const char *try_run(Trial *t, const void *bytes, size_t size) {
    put_file("changed.bin", bytes, size);
    if (run_plan(t->run, "changed")) {
        t->ended++;
        return "accepted, and ends with an error";
    }
    if (run_trains_alike()) {
        t->same++;
        return "accepted, and trains the same";
    }
    t->different++;
    return "HARMFUL";
}

static void judge(Trial *t, const GoodPlan *g, const Fault *f, const void *bytes, size_t size) {
    static char message[1024];
    Plan p;
    PlanFault fault;
    const char *result = message;
    t->mutants++;
    if (plan_read(&p, bytes, size, message, sizeof message)) {
        t->unread++;
    } else if (plan_check(&p, &fault)) {
        t->refused[atoi(fault.rule + strlen("check-")) & 15]++;
        snprintf(message, sizeof message, "%s %s", fault.rule, fault.message);
    } else {
        result = try_run(t, bytes, size);
    }
    if (t->verbose || !strcmp(result, "HARMFUL")) printf("%s: %s: %s\n", g->name, f->name, result);
}

static void mutant(Trial *t, const GoodPlan *g) {
    size_t k = random_below(&t->random, ARRAY_LEN(lists)), size;
    const Fault *f = &lists[k].fault[random_below(&t->random, *lists[k].n)];
    Arena *a = arena_new();
    Edit *e = edit_new(a, &g->plan);
    void *bytes = fault_plant(f, e, &t->random) ? edit_write(e, &size) : NULL;
    if (bytes) judge(t, g, f, bytes, size);
    free(bytes);
    arena_free(a);
}

static void report(const Trial *t) {
    fprintf(stderr, "%llu mutants: %llu not read, refused by proof", (unsigned long long)t->mutants,
            (unsigned long long)t->unread);
    for (int k = 1; k < 16; k++)
        if (t->refused[k]) fprintf(stderr, " %d: %llu", k, (unsigned long long)t->refused[k]);
    fprintf(stderr, ", accepted: same numbers %llu, ended with an error %llu, other numbers %llu\n",
            (unsigned long long)t->same, (unsigned long long)t->ended,
            (unsigned long long)t->different);
}

int main(int argc, char **argv) {
    Trial t = {.random = {.state = 1}};
    uint64_t wanted = 2000;
    for (int o; (o = getopt(argc, argv, "s:n:v")) != -1;) {
        if (o == 's') t.random.state = strtoull(optarg, NULL, 0);
        if (o == 'n') wanted = strtoull(optarg, NULL, 0);
        if (o == 'v') t.verbose = true;
        if (o == '?') return EXIT_USER;
    }
    if (optind + 1 != argc) fail_environment("mutate_cut needs fsdp-run");
    t.run = argv[optind];
    good_data();
    run_data();
    for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
        GoodPlan good = good_plan(cases[k].model, 0, cases[k].set);
        good.name = cases[k].name;
        put_file("good.bin", good.bytes, good.size);
        if (run_plan(t.run, "good")) fail_environment("%s does not run: see good.err", good.name);
        uint64_t until = wanted * (k + 1) / ARRAY_LEN(cases);
        while (t.mutants < until) mutant(&t, &good);
        good_end(&good);
    }
    report(&t);
    return t.different ? EXIT_USER : EXIT_DONE;
}
