/* The pipeline: which passes run, in which order, and what is printed after them. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "passes.h"
#include "test.h"

/* A linear layer; the argument is flags of its weight. */
static const char model_text[] =
    "graph model\n"
    "mesh dp = 1\n"
    "policy strategy = full, unit = root, reshard = true, reshard_root = false, "
    "accumulate_local = false, hold = false, all_reduce_last = false, prefetch_forward = 1, "
    "prefetch_backward = 1, prefetch_post = "
    "false, inflight = 2, reduce_buffers = 1, bucket = 0, bucket_bytes = 0, layout = flat, "
    "align = 16\n"
    "policy micro_batches = 1, batch = 4, compute_dtype = f32, reduce_dtype = f32, optimizer = "
    "sgd, beta1 = 0.9, beta2 = 0.999, eps = 1e-08, eps2 = 0, limit = 0, weight_decay = 0, momentum "
    "= 0, nesterov = "
    "false, clip = 0, clip_value = 0, on_nan = stop, loss_exponent = -2\n"
    "module 0 \"\" Linear\n"
    "param 0 \"weight\" module 0 f32[5, 3] ones key \"weight\" compute f32 reduce f32%s\n"
    "state 0 step \"step\" f64[16]\n"
    "state 1 staging \"staging\" u8[2, 1024]\n"
    "state 2 metric \"loss\" i64[24]\n"
    "state 3 metric \"eval.loss\" i64[24]\n"
    "field 0 \"x\" f32[4, 3] staging 0\n"
    "field 1 \"targets\" i32[4] staging 256\n"
    "program train\n"
    "  #0 %%0: f64[16] = state {index = 0} !forward -\n"
    "  #1 %%1: u8[2, 1024] = state {index = 1} !forward -\n"
    "  #2 %%2: f32[4, 3] = field(%%1, %%0) {index = 0} !forward -\n"
    "  #3 %%3: i32[4] = field(%%1, %%0) {index = 1} !forward -\n"
    "  #4 %%4: f32[5, 3] = param {index = 0} !forward -\n"
    "  #5 %%5: f32[4, 5] = linear(%%2, %%4) !forward -\n"
    "  #6 %%6: i64[24], %%7: f32[4] = cross_entropy(%%5, %%3) {ignore = -100} !forward -\n"
    "  #7 set_state(%%6) {index = 2} !forward -\n"
    "end\n"
    "program eval\n"
    "  #8 %%8: f64[16] = state {index = 0} !forward -\n"
    "  #9 %%9: u8[2, 1024] = state {index = 1} !forward -\n"
    "  #10 %%10: f32[4, 3] = field(%%9, %%8) {index = 0} !forward -\n"
    "  #11 %%11: i32[4] = field(%%9, %%8) {index = 1} !forward -\n"
    "  #12 %%12: f32[5, 3] = param {index = 0} !forward -\n"
    "  #13 %%13: f32[4, 5] = linear(%%10, %%12) !forward -\n"
    "  #14 %%14: i64[24], %%15: f32[4] = cross_entropy(%%13, %%11) {ignore = -100} !forward -\n"
    "  #15 set_state(%%14) {index = 3} !forward -\n"
    "end\n";

typedef struct Fixture {
    Arena *arena;
    DiagSet diags;
    Graph *graph;
    Buf printed, reported;
} Fixture;

static void keep_report(void *context, const char *text, size_t n) { buf_write(context, text, n); }

/* The pass and the level of the graph that is printed behind it. */
static void keep_print(void *context, const char *pass, const char *text, size_t n) {
    const char *end = memchr(text, '\n', n);
    assert_non_null(end);
    buf_printf(context, "%s: %.*s\n", pass, (int)(end - text), text);
}

static void start(Fixture *f, const char *flags) {
    *f = (Fixture){.arena = arena_new()};
    diag_init(&f->diags, f->arena);
    f->diags.write = keep_report;
    f->diags.write_context = &f->reported;
    char *text = arena_printf(f->arena, model_text, flags);
    f->graph = graph_parse(f->arena, &f->diags, "model", text, strlen(text));
    assert_non_null(f->graph);
    assert_int_equal(graph_verify(f->graph), 0);
}

static void assert_text(Buf *b, const char *wanted) {
    buf_write(b, "", 1);
    assert_string_equal(b->at, wanted);
}

static void finish(Fixture *f) {
    buf_free(&f->printed);
    buf_free(&f->reported);
    arena_free(f->arena);
}

TEST(passes_run_in_the_order_of_the_table) {
    Fixture f;
    start(&f, "");
    PipelineOptions o = {.print_after_all = true, .print = keep_print, .print_context = &f.printed};
    assert_true(pipeline_run(f.graph, LEVEL_SCHED, &o));
    assert_int_equal(f.graph->level, LEVEL_SCHED);
    assert_text(&f.printed, "cut: graph model\n"
                            "fuse_packed_attention: graph model\n"
                            "fuse_gelu: graph model\n"
                            "grad: graph train\n"
                            "recompute: graph train\n"
                            "place: graph train\n"
                            "fuse_backward: graph train\n"
                            "precision: graph train\n"
                            "stage: graph train\n"
                            "pad: graph train\n"
                            "fuse_norm: graph train\n"
                            "fuse_loss: graph train\n"
                            "wrap: graph shard\n"
                            "reshard: graph shard\n"
                            "fuse_elementwise: graph shard\n"
                            "shard: graph shard\n"
                            "optimizer: graph shard\n"
                            "comm: graph comm\n"
                            "fuse_sums: graph comm\n"
                            "divide: graph comm\n"
                            "schedule: graph sched\n"
                            "memory: graph sched\n"
                            "edges: graph sched\n");
    finish(&f);
}

TEST(the_pipeline_stops_at_the_wanted_level) {
    Fixture f;
    start(&f, "");
    PipelineOptions o = {.print_after_all = true, .print = keep_print, .print_context = &f.printed};
    assert_true(pipeline_run(f.graph, LEVEL_MODEL, &o));
    assert_int_equal(f.graph->level, LEVEL_MODEL);
    assert_text(&f.printed, "cut: graph model\nfuse_packed_attention: graph model\n"
                            "fuse_gelu: graph model\n");
    finish(&f);
}

TEST(the_pipeline_starts_at_the_level_of_the_graph) {
    Fixture f;
    start(&f, "");
    assert_true(pipeline_run_pass(f.graph, pass_by_name("grad"), NULL));
    PipelineOptions o = {.print_after_all = true, .print = keep_print, .print_context = &f.printed};
    assert_true(pipeline_run(f.graph, LEVEL_TRAIN, &o));
    assert_text(&f.printed, "recompute: graph train\n"
                            "place: graph train\n"
                            "fuse_backward: graph train\n"
                            "precision: graph train\n"
                            "stage: graph train\n"
                            "pad: graph train\n"
                            "fuse_norm: graph train\n"
                            "fuse_loss: graph train\n");
    finish(&f);
}

/* Without program eval half of the ops are of no use. */
TEST(ops_in_use_no_more_leave_the_graph) {
    Fixture f;
    Buf before = {0};
    start(&f, "");
    Graph *g = f.graph;
    uint32_t all = g->ops.n, train = g->programs.at[0].ops.n;
    graph_settle(g);
    assert_int_equal(g->ops.n, all); /* nothing died */
    g->programs.n = 1;
    graph_print(g, &before);
    graph_settle(g);
    assert_int_equal(g->ops.n, train);
    graph_print(g, &f.printed);
    buf_write(&before, "", 1);
    assert_text(&f.printed, before.at);
    assert_int_equal(graph_verify(g), 0);
    buf_free(&before);
    finish(&f);
}

TEST(passes_leave_few_dead_ops) {
    Fixture f;
    start(&f, "");
    assert_true(pipeline_run(f.graph, LEVEL_SCHED, NULL));
    uint32_t live = 0;
    for (uint32_t i = 0; i < f.graph->programs.n; i++) live += f.graph->programs.at[i].ops.n;
    assert_true(2 * f.graph->ops.n <= 3 * live + 2);
    finish(&f);
}

TEST(only_the_named_pass_is_printed) {
    Fixture f;
    start(&f, "");
    PipelineOptions o = {.print_after = "grad", .print = keep_print, .print_context = &f.printed};
    assert_true(pipeline_run(f.graph, LEVEL_TRAIN, &o));
    assert_text(&f.printed, "grad: graph train\n");
    finish(&f);
}

TEST(passes_that_change_nothing_are_not_printed) {
    Fixture f;
    start(&f, "");
    PipelineOptions o = {
        .print_after_change = true, .print = keep_print, .print_context = &f.printed};
    assert_true(pipeline_run(f.graph, LEVEL_TRAIN, &o));
    assert_text(&f.printed, "grad: graph train\nfuse_loss: graph train\n");
    finish(&f);
}

TEST(an_error_of_a_pass_ends_the_pipeline) {
    Fixture f;
    start(&f, " frozen");
    PipelineOptions o = {.print_after_all = true, .print = keep_print, .print_context = &f.printed};
    assert_false(pipeline_run(f.graph, LEVEL_SCHED, &o));
    assert_int_equal(f.diags.errors, 1);
    assert_text(&f.printed, "cut: graph model\nfuse_packed_attention: graph model\n"
                            "fuse_gelu: graph model\n");
    assert_text(&f.reported, "error[E0421]: nothing to train\n"
                             "  = help: every parameter is @frozen\n\n");
    finish(&f);
}

/* A pass that leaves an operand which is defined too late. */
static bool break_order(Graph *g) {
    OpId *ops = g->programs.at[0].ops.at, first = ops[0];
    ops[0] = ops[2];
    ops[2] = first;
    return true;
}

static bool change_nothing(Graph *g) {
    (void)g;
    return true;
}

/* How a child ends that runs this function as a pass. */
static int status_of_pass(PassFunction run) {
    Fixture f;
    start(&f, "");
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct rlimit no_core = {0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        if (!freopen("/dev/null", "w", stderr)) _exit(3);
        signal(SIGABRT, SIG_DFL);
        PassInfo pass = {"broken", "", LEVEL_MODEL, LEVEL_MODEL, run};
        _exit(pipeline_run_pass(f.graph, &pass, NULL) ? 0 : 4);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    finish(&f);
    return status;
}

TEST(a_pass_that_breaks_a_rule_is_our_bug) {
    int good = status_of_pass(change_nothing), broken = status_of_pass(break_order);
    assert_true(WIFEXITED(good) && WEXITSTATUS(good) == 0);
    assert_true(WIFSIGNALED(broken) && WTERMSIG(broken) == SIGABRT);
}

/* Of a graph that somebody wrote it is theirs: an error after those of the rules. */
TEST(a_pass_that_cannot_work_on_a_written_graph_says_so) {
    Fixture f;
    start(&f, "");
    PassInfo pass = {"broken", "", LEVEL_MODEL, LEVEL_MODEL, break_order};
    assert_false(pipeline_run_pass(f.graph, &pass, &(PipelineOptions){.from_text = true}));
    assert_text(
        &f.reported,
        "error[E0521]: graph-1: program train, #0 field: operand %1 is read before it is defined\n"
        "  = help: an operand is the result of an earlier op of the same program, and not "
        "scratch\n\n"
        "error[E0521]: graph-1: program train, #0 field: operand %2 is read before it is defined\n"
        "  = help: an operand is the result of an earlier op of the same program, and not "
        "scratch\n\n"
        "error[E0521]: pass `broken` cannot work on this graph: its result breaks the rules above\n"
        "  = help: the passes before `broken` never make such a graph; fsdpc dump --stage=model "
        "prints one that they make\n\n");
    finish(&f);
}

TEST(passes_are_found_by_name) {
    for (int i = 0; i < n_passes; i++)
        assert_ptr_equal(pass_by_name(pass_table[i].name), &pass_table[i]);
    assert_null(pass_by_name("warp"));
    assert_null(pass_by_name(""));
}

RUN_TESTS(NULL, NULL)
