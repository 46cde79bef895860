/* Good plans: models of the repository in small sizes, under many policies, compiled in this
 * process. No ranks run: the mesh states their number. Data files of which only the shape matters
 * are written next to the test. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emit.h"
#include "frontend.h"
#include "mutate.h"
#include "passes.h"

#define GPT2                                                                                       \
    "L=2", "D=16", "H=2", "vocab=37", "seq=8", "data.length=8", "train.batch=12", "train.steps=4", \
        "train.eval_every=2", "train.precision=f32", "train.schedule=constant(warmup = 0)"
#define SIX "train.batch=12"
#define SMALL                                                                                      \
    "L=1", "D=16", "H=2", "vocab=37", "data.length=8", "train.batch=12", "train.steps=4",          \
        "train.precision=f32", "train.schedule=constant(warmup = 0)"
#define GRADIENTS "tests/backend/models/gradients"

typedef struct Case {
    const char *name, *model;
    int64_t ranks;
    const char *set[20];
} Case;

static const Case cases[] = {
    {"gpt2 1 rank", "gpt2", 1, {GPT2}},
    {"gpt2 full", "gpt2", 2, {GPT2}},
    {"gpt2 full, 3 ranks, 3 micro-batches",
     "gpt2",
     3,
     {GPT2, "train.batch=18", "train.accumulate=3"}},
    {"gpt2 full, 2 micro-batches added unsharded",
     "gpt2",
     2,
     {GPT2, "train.accumulate=2", "shard.accumulate=local"}},
    {"gpt2 grads", "gpt2", 2, {GPT2, "shard.strategy=grads"}},
    {"gpt2 grads, checkpoints through a copy",
     "gpt2",
     3,
     {GPT2, "shard.strategy=grads", "checkpoint.snapshot=copy"}},
    {"gpt2 grads, 3 micro-batches added unsharded",
     "gpt2",
     2,
     {GPT2, "shard.strategy=grads", "train.accumulate=3", "shard.accumulate=local"}},
    {"gpt2 none, the last saves through a copy",
     "gpt2",
     2,
     {GPT2, "shard.strategy=none", "checkpoint.snapshot=20000B"}},
    {"gpt2 none, 2 micro-batches, bf16",
     "gpt2",
     2,
     {GPT2, "shard.strategy=none", "train.accumulate=2", "shard.accumulate=local",
      "train.precision=bf16"}},
    {"gpt2 full, bf16", "gpt2", 2, {GPT2, "train.precision=bf16", "shard.cast=gather"}},
    {"gpt2 full, bf16, all shards cast by the update",
     "gpt2",
     2,
     {GPT2, "train.precision=bf16", "shard.cast=update", "train.accumulate=2"}},
    {"gpt2 full, bf16, Adafactor, all shards cast by the update",
     "gpt2",
     2,
     {GPT2, "train.precision=bf16", "shard.cast=update", "train.optimizer=adafactor(lr = 0.1)"}},
    {"gpt2 full, bf16 reduced in bf16, 3 ranks",
     "gpt2",
     3,
     {GPT2, "train.precision=bf16(reduce = bf16)"}},
    {"gpt2 full, f16, reduced in f16", "gpt2", 2, {GPT2, "train.precision=f16(reduce = f16)"}},
    {"gpt2 full, gathered in bf16, gradients added",
     "gpt2",
     2,
     {GPT2, "shard.gather=bf16", "shard.scale=sum"}},
    {"gpt2 full, prefetch 0", "gpt2", 2, {GPT2, "L=3", "shard.prefetch=0"}},
    {"gpt2 full, prefetch 2",
     "gpt2",
     2,
     {GPT2, "L=4", "shard.prefetch=2", "shard.inflight=3", "shard.reshard_root=true"}},
    {"gpt2 full, prefetch post, one in flight more",
     "gpt2",
     2,
     {GPT2, "L=3", "shard.prefetch_at=post", "shard.inflight=3", "train.optimizer=sgd(lr = 0.1)"}},
    {"gpt2 root", "gpt2", 2, {GPT2, "shard.unit=root", "train.clip=none"}},
    {"gpt2 full, blocks recomputed", "gpt2", 2, {GPT2, "drop=0.1", "shard.recompute=Block"}},
    {"gpt2 full, ops recomputed",
     "gpt2",
     2,
     {GPT2, "drop=0.1", "shard.recompute=(MLP, ops = [layer_norm, dropout], keep = linear)"}},
    {"gpt2 full, a model recomputed over its units",
     "gpt2",
     2,
     {GPT2, "drop=0.1", "shard.recompute=GPT2", "shard.unit=Linear"}},
    {"six layers full", "six-layers", 2, {SIX}},
    {"six layers full, 3 ranks, 2 micro-batches",
     "six-layers",
     3,
     {SIX, "train.accumulate=2", "train.optimizer=sgd(lr = 0.1, momentum = 0.9)"}},
    {"six layers grads, prefetch 2",
     "six-layers",
     3,
     {SIX, "shard.strategy=grads", "shard.prefetch=2", "shard.inflight=3"}},
    {"six layers 1 rank, 3 micro-batches", "six-layers", 1, {SIX, "train.accumulate=3"}},
    {"six layers 1 rank, 4 micro-batches", "six-layers", 1, {SIX, "train.accumulate=4"}},
    {"mlp full", "mlp", 2, {"hidden=6", "pixels=16", "train.batch=12", "data.val=none"}},
    {"mlp none, adam",
     "mlp",
     3,
     {"hidden=6", "pixels=16", "train.batch=12", "shard.strategy=none",
      "train.optimizer=adam(lr = 0.1)"}},
    {"linear 1 rank", "linear", 1, {"features=16", "train.batch=12"}},
    {"linear full", "linear", 2, {"features=16", "train.batch=12", "train.accumulate=2"}},
    {"six layers none, 4 micro-batches, sharded",
     "six-layers",
     2,
     {SIX, "train.batch=16", "train.accumulate=4", "shard.strategy=none",
      "shard.accumulate=sharded"}},
    {"gradients full", GRADIENTS, 2, {"drop=0.1"}},
    {"gradients full, 4 micro-batches, f32 and bf16",
     GRADIENTS,
     2,
     {"train.accumulate=4", "train.batch=32", "train.precision=bf16"}},
    {"gradients grads, 5 micro-batches added unsharded",
     GRADIENTS,
     3,
     {"train.accumulate=5", "train.batch=60", "shard.strategy=grads", "shard.accumulate=local",
      "train.optimizer=sgd(lr = 0.1)"}},
    {"gpt2 none, buckets of 4000 elements, 2 micro-batches, bf16 reduced in bf16",
     "gpt2",
     2,
     {GPT2, "L=4", "shard.strategy=none", "shard.bucket=4000", "train.accumulate=2",
      "train.precision=bf16(reduce = bf16)"}},
    {"six layers on 2 replicas of 2 shards, buckets of 400 bytes, 3 micro-batches, summed last",
     "six-layers",
     0,
     {SIX, "shard.mesh=(rep = 2, dp = 2)", "shard.bucket=400B", "train.accumulate=3",
      "train.batch=36", "shard.all_reduce=last", "shard.replicate_below=20"}},
    {"gpt2 full, resharded in groups of 2 of 4 ranks",
     "gpt2",
     4,
     {GPT2, "shard.reshard=2", "shard.reshard_root=true", "train.clip=1", "train.clip_norm=inf"}},
    {"six layers full, resharded in groups of 3, 2 replicas, 3 micro-batches, units held, bf16",
     "six-layers",
     0,
     {SIX, "shard.mesh=(rep = 2, dp = 6)", "shard.reshard=3", "train.accumulate=3",
      "train.batch=36", "shard.hold=true", "train.precision=bf16"}},
    {"gpt2 on 2 replicas of 2 shards", "gpt2", 0, {GPT2, "shard.mesh=(rep = 2, dp = 2)"}},
    {"gpt2 grads on 2 replicas of 3 shards, 2 micro-batches added unsharded",
     "gpt2",
     0,
     {GPT2, "shard.mesh=(rep = 2, dp = 3)", "shard.strategy=grads", "train.accumulate=2",
      "shard.accumulate=local"}},
    {"gradients on 3 replicas of 2 shards, 4 micro-batches",
     GRADIENTS,
     0,
     {"shard.mesh=(dp = 2, rep = 3)", "train.accumulate=4", "train.batch=48"}},
    {"gpt2 on 2 replicas of 2 shards, 3 micro-batches, replicas summed last, 2 reduce buffers",
     "gpt2",
     0,
     {GPT2, "shard.mesh=(rep = 2, dp = 2)", "train.accumulate=3", "shard.all_reduce=last",
      "shard.reduce_buffers=2"}},
    {"gpt2 full, 3 micro-batches, units held",
     "gpt2",
     2,
     {GPT2, "train.accumulate=3", "shard.hold=true", "shard.reshard_root=true"}},
    {"gpt2 states, 3 micro-batches, adafactor",
     "gpt2",
     2,
     {GPT2, "train.accumulate=3", "shard.strategy=states", "train.optimizer=adafactor(lr = 0.1)"}},
    {"gpt2 on 2 replicas of 2 shards, 3 micro-batches, muon",
     "gpt2",
     0,
     {GPT2, "shard.mesh=(rep = 2, dp = 2)", "train.accumulate=3",
      "train.optimizer=muon(lr = 0.1)"}},
    {"gradients grads, units gathered for each of 4 micro-batches, 3 reduce buffers",
     GRADIENTS,
     2,
     {"train.accumulate=4", "train.batch=32", "shard.strategy=grads", "shard.accumulate=local",
      "shard.hold=false", "shard.reduce_buffers=3"}},
    {"gpt2 full, small parameters whole on every rank, 2 micro-batches, bf16",
     "gpt2",
     0,
     {GPT2, "shard.mesh=(rep = 2, dp = 2)", "train.accumulate=2", "train.batch=16",
      "shard.replicate_below=64", "train.precision=bf16", "shard.all_reduce=last"}},
    {"six layers grads, small parameters whole on every rank",
     "six-layers",
     3,
     {SIX, "shard.replicate_below=64", "shard.strategy=grads"}},
    {"mixtral full",
     "mixtral",
     2,
     {"L=2", "D=16", "H=2", "KV=1", "F=12", "E=3", "K=2", "vocab=37", "seq=8",
      "data.train=synthetic_tokens(vocab = 37)", "data.length=8", "train.batch=12", "train.steps=4",
      "train.precision=f32", "train.schedule=constant(warmup = 0)"}},
    {"gpt2 by rows, 3 ranks, 2 micro-batches",
     "gpt2",
     3,
     {GPT2, "train.accumulate=2", "shard.layout=param", "train.optimizer=adafactor(lr = 0.1)"}},
    {"gpt2 by rows, units held, added unsharded, bf16",
     "gpt2",
     2,
     {GPT2, "train.accumulate=3", "shard.layout=param", "shard.hold=true", "shard.accumulate=local",
      "train.precision=bf16"}},
    {"gradients by rows on 2 replicas of 3 shards",
     GRADIENTS,
     0,
     {"shard.mesh=(rep = 2, dp = 3)", "train.batch=48", "shard.layout=param"}},
    {"gpt2 full, all offloaded, 3 micro-batches",
     "gpt2",
     2,
     {GPT2, "train.accumulate=3", "shard.offload=(states = cpu, params = cpu, grads = cpu)"}},
    {"gpt2 on 2 replicas of 2 shards, bf16, muon, parameters and gradients in a file, 1 buffer",
     "gpt2",
     0,
     {GPT2, "shard.mesh=(rep = 2, dp = 2)", "train.precision=bf16",
      "train.optimizer=muon(lr = 0.1)",
      "shard.offload=(params = cpu, grads = cpu, path = \"/tmp\", buffers = 1)"}},
    {"six layers, 1 rank, states in host memory, 3 buffers",
     "six-layers",
     1,
     {SIX, "train.accumulate=2", "shard.offload=(states = cpu, buffers = 3)"}},
    {"gradients none, 4 micro-batches added sharded",
     GRADIENTS,
     2,
     {"train.accumulate=4", "train.batch=32", "shard.strategy=none", "shard.accumulate=sharded"}},
    {"gpt2 full, gathered in f8e4m3, 3 micro-batches",
     "gpt2",
     3,
     {GPT2, "train.batch=18", "train.accumulate=3", "shard.gather=f8e4m3"}},
    {"gpt2 by rows on 2 replicas of 4 shards, gathered in f8e4m3, offloaded, resharded by 2, bf16",
     "gpt2",
     0,
     {GPT2, "L=4", "shard.mesh=(rep = 2, dp = 4)", "train.batch=16", "shard.layout=param",
      "shard.reshard=2", "shard.gather=f8e4m3", "train.precision=bf16",
      "shard.offload=(states = cpu, params = cpu, grads = cpu)"}},
    {"mixtral grads, 3 micro-batches, gathered in f8e4m3",
     "mixtral",
     2,
     {SMALL, "seq=8", "KV=1", "F=12", "E=3", "K=2", "balance=0.5", "train.accumulate=3",
      "shard.strategy=grads", "shard.gather=f8e4m3"}},
    {"mixtral on 2 replicas of 2 shards, 2 micro-batches, blocks recomputed, in host memory",
     "mixtral",
     0,
     {SMALL, "seq=8", "KV=1", "F=12", "E=3", "K=2", "train.batch=16", "train.accumulate=2",
      "shard.mesh=(rep = 2, dp = 2)", "shard.recompute=Block",
      "shard.offload=(params = cpu, grads = cpu)"}},
    {"bert full, 2 micro-batches", "bert", 2, {SMALL, "seq=8", "L=2", "train.accumulate=2"}},
    {"bert states, layers recomputed, bf16",
     "bert",
     3,
     {SMALL, "seq=8", "L=2", "shard.strategy=states", "shard.recompute=Layer",
      "train.precision=bf16"}},
    {"t5 full, adafactor", "t5", 2, {SMALL, "dk=4", "F=24"}},
    {"gpt2 full, 2 micro-batches, adan",
     "gpt2",
     2,
     {GPT2, "train.accumulate=2", "train.optimizer=adan(lr = 0.1)"}},
    {"llama3 full, 2 micro-batches, units held, logits in chunks",
     "llama3",
     2,
     {SMALL, "seq=8", "L=2", "KV=1", "F=24", "train.accumulate=2", "shard.hold=true",
      "train.loss_chunks=3"}},
    {"gptj grads", "gptj", 2, {SMALL, "seq=8", "L=2", "rot=4", "shard.strategy=grads"}},
    {"gpt2 by rows on 2 ranks, gathered in i8, 2 micro-batches",
     "gpt2",
     2,
     {GPT2, "D=48", "train.batch=16", "train.accumulate=2", "shard.layout=param",
      "shard.gather=i8"}},
};

static void write_npy(const char *name, const char *descr, int rank, int rows, int width) {
    char header[118];
    memset(header, ' ', sizeof header);
    int n = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%d,",
                     descr, rows);
    if (rank > 1) n += snprintf(header + n, sizeof header - (size_t)n, "%d", width);
    n += snprintf(header + n, sizeof header - (size_t)n, "), }");
    header[n] = ' ';
    header[sizeof header - 1] = '\n';
    FILE *f = fopen(name, "wb");
    if (!f) fail_environment("cannot write %s", name);
    fwrite("\x93NUMPY\1\0\x76\0", 1, 10, f);
    fwrite(header, 1, sizeof header, f);
    for (int i = 0; i < rows * (rank > 1 ? width : 1); i++) fwrite("\0\0\0\0", 1, 4, f);
    if (fclose(f)) fail_environment("cannot write %s", name);
}

void good_data(void) {
    static const char *const xs[] = {"x.npy", "val_x.npy", "train_x.npy", "test_x.npy"};
    static const char *const ys[] = {"y.npy", "val_y.npy", "train_y.npy", "test_y.npy"};
    for (size_t i = 0; i < ARRAY_LEN(xs); i++) {
        write_npy(xs[i], "<f4", 2, 64, 16);
        write_npy(ys[i], "<i4", 1, 64, 0);
    }
}

/* Notes about these policies are not for whoever reads the test's output. */
static void say_nothing(void *context, const char *text, size_t n) {
    (void)context, (void)text, (void)n;
}

/* a: the plan's own from now on. */
static GoodPlan make_plan(Arena *a, const char *name, const char *model, int64_t ranks,
                          const char *const *set, bool fuses) {
    GoodPlan g = {.name = name, .arena = a};
    const char *root = getenv("FSDP_ROOT");
    const char *file = arena_printf(a, "%s/%s%s.fsd", root ? root : ".",
                                    strchr(model, '/') ? "" : "models/", model);
    DiagSet diags;
    diag_init(&diags, a);
    diags.write = say_nothing;
    CompileOptions options = {.set = set, .ranks = ranks, .to_plan = true};
    while (set && set[options.n_set]) options.n_set++;
    Frontend *f = frontend_open(&diags, file, &options);
    bool done = !f->exit_code && frontend_elaborate(f);
    for (int k = 0; done && k < n_passes; k++)
        if (fuses || strncmp(pass_table[k].name, "fuse", 4))
            done = pipeline_run_pass(f->graph, &pass_table[k], NULL);
    if (!done) BUG("%s does not compile", name);
    Buf bytes = {0};
    plan_emit(f, "test", "", &bytes);
    g.size = bytes.n;
    g.bytes = buf_take(&bytes);
    char message[512];
    if (plan_read(&g.plan, g.bytes, g.size, message, sizeof message)) BUG("%s: %s", name, message);
    return g;
}

GoodPlan good_plan(const char *model, int64_t ranks, const char *const *settings) {
    return make_plan(arena_new(), model, model, ranks, settings, true);
}

GoodPlan unfused_plan(const char *model, const char *const *settings) {
    return make_plan(arena_new(), model, model, 1, settings, false);
}

void good_end(GoodPlan *g) {
    free(g->bytes);
    arena_free(g->arena);
}

static GoodPlan plan_of_case(const Case *k) {
    return make_plan(arena_new(), k->name, k->model, k->ranks, k->set, true);
}

uint32_t good_plans(Arena *a, GoodPlan **out) {
    good_data();
    *out = arena_array(a, GoodPlan, ARRAY_LEN(cases));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) (*out)[i] = plan_of_case(&cases[i]);
    return (uint32_t)ARRAY_LEN(cases);
}

bool good_plan_named(const char *name, GoodPlan *out) {
    size_t i = 0;
    while (i < ARRAY_LEN(cases) && strcmp(cases[i].name, name)) i++;
    if (i == ARRAY_LEN(cases)) return false;
    good_data();
    *out = plan_of_case(&cases[i]);
    return true;
}

/* One of the words, as a setting. */
static const char *one_of(Random *r, const char *const *words, uint32_t n) {
    return words[random_below(r, n)];
}
#define ONE_OF(r, ...)                                                                             \
    one_of(r, (const char *const[]){__VA_ARGS__},                                                  \
           sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

GoodPlan random_plan(Random *r) {
    static const char *const gpt2[] = {"L=3",
                                       "D=16",
                                       "H=2",
                                       "vocab=37",
                                       "seq=8",
                                       "data.length=8",
                                       "train.steps=4",
                                       "train.eval_every=2",
                                       "train.schedule=constant(warmup = 0)"};
    Arena *a = arena_new();
    const char *set[40] = {0};
    int n = 0;
    bool gpt = random_below(r, 4) > 0;
    bool replicas = random_below(r, 3) == 0;
    int64_t ranks = replicas ? 0 : 1 + random_below(r, 4);
    uint32_t forward = random_below(r, 4), backward = random_below(r, 4);
    for (size_t k = 0; gpt && k < ARRAY_LEN(gpt2); k++) set[n++] = gpt2[k];
    if (gpt)
        set[n++] = ONE_OF(r, "shard.unit=Block", "shard.unit=root", "shard.unit=[Block, MLP]",
                          "shard.unit=[Attention, MLP]", "shard.unit=size(500)");
    if (gpt)
        set[n++] = ONE_OF(r, "shard.recompute=none", "shard.recompute=Block",
                          "shard.recompute=[Attention, LayerNorm]", "shard.recompute=GPT2",
                          "shard.recompute=(ops = [gelu, layer_norm, linear])",
                          "shard.recompute=(Block, ops = dropout, keep = attention)");
    set[n++] = "train.batch=72";
    set[n++] = ONE_OF(r, "train.accumulate=1", "train.accumulate=2", "train.accumulate=3");
    set[n++] = ONE_OF(r, "shard.accumulate=local", "shard.accumulate=sharded");
    set[n++] = ONE_OF(r, "shard.strategy=full", "shard.strategy=full", "shard.strategy=grads",
                      "shard.strategy=states", "shard.strategy=none");
    bool gathers = strcmp(set[n - 1], "shard.strategy=none");
    if (!strcmp(set[n - 1], "shard.strategy=full")) {
        const char *groups = ranks == 4 ? "shard.reshard=2" : "shard.reshard=true";
        set[n++] = ONE_OF(r, "shard.reshard=true", "shard.reshard=false", groups, groups);
        set[n++] = ONE_OF(r, "shard.reshard_root=true", "shard.reshard_root=false");
    }
    set[n++] = arena_printf(a, "shard.prefetch=(forward = %u, backward = %u)", forward, backward);
    set[n++] =
        arena_printf(a, "shard.inflight=%u", MAX(forward, backward) + 1 + random_below(r, 3));
    set[n++] = ONE_OF(r, "shard.prefetch_at=pre", "shard.prefetch_at=post");
    set[n++] = ONE_OF(r, "shard.reduce_buffers=1", "shard.reduce_buffers=2");
    set[n++] = ONE_OF(r, "shard.layout=flat", "shard.layout=param");
    set[n++] = ONE_OF(r, "shard.cast=auto", "shard.cast=update", "shard.cast=gather");
    set[n++] = ONE_OF(r, "shard.bucket=unit", "shard.bucket=unit", "shard.bucket=1000",
                      "shard.bucket=9000B");
    set[n++] = ONE_OF(r, "shard.all_reduce=each", "shard.all_reduce=last");
    set[n++] = ONE_OF(r, "shard.replicate_below=0", "shard.replicate_below=0",
                      "shard.replicate_below=16", "shard.replicate_below=300");
    if (!strcmp(set[n - 1], "shard.replicate_below=0") && gathers)
        set[n++] = ONE_OF(r, "shard.gather=f8e4m3", "shard.gather=i8", "shard.gather=bf16",
                          "shard.cast=auto");
    if (replicas) set[n++] = "shard.mesh=(rep = 2, dp = 2)";
    set[n++] = ONE_OF(r, "train.precision=f32", "train.precision=bf16",
                      "train.precision=bf16(reduce = bf16)", "train.precision=f16(reduce = f16)");
    set[n++] = ONE_OF(r, "train.optimizer=sgd(lr = 0.1)", "train.optimizer=adamw(lr = 0.1)",
                      "train.optimizer=lion(lr = 0.1)", "train.optimizer=adafactor(lr = 0.1)",
                      "train.optimizer=muon(lr = 0.1)", "train.optimizer=adan(lr = 0.1)",
                      "train.optimizer=sgd(lr = 0.1, momentum = 0.9)");
    set[n++] = ONE_OF(r, "shard.offload=none", "shard.offload=none",
                      "shard.offload=(states = cpu, buffers = 3)", "shard.offload=(params = cpu)",
                      "shard.offload=(states = cpu, params = cpu, grads = cpu, buffers = 1)",
                      "shard.offload=(states = cpu, params = cpu, grads = cpu)");
    Buf name = {0};
    buf_printf(&name, "%s -n %lld", gpt ? "gpt2" : "six-layers", (long long)ranks);
    for (int k = 0; k < n; k++) buf_printf(&name, " -s '%s'", set[k]);
    const char *kept = arena_strndup(a, name.at, name.n);
    buf_free(&name);
    return make_plan(a, kept, gpt ? "gpt2" : "six-layers", ranks, set, true);
}
