/* Every example of the help pages about the language compiles within a model file, and every page
 * is complete. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend.h"
#include "help.h"
#include "scratch.h"
#include "test.h"

static char messages[1 << 16];
static size_t n_messages;

static void keep(void *context, const char *text, size_t n) {
    (void)context;
    n = MIN(n, sizeof messages - 1 - n_messages);
    memcpy(messages + n_messages, text, n);
    n_messages += n;
    messages[n_messages] = 0;
}

static void write_text(const char *name, const char *text, size_t n) {
    FILE *f = fopen(name, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* Eight samples of 4 integers, zeros. */
static void write_npy(const char *name) {
    char bytes[128 + 8 * 4 * 4] = "\x93NUMPY\x01";
    memset(bytes + 10, ' ', 118);
    bytes[8] = 118;
    const char header[] = "{'descr': '<i4', 'fortran_order': False, 'shape': (8, 4), }";
    memcpy(bytes + 10, header, sizeof header - 1);
    bytes[127] = '\n';
    write_text(name, bytes, sizeof bytes);
}

/* What an example may rely on, in a file that gives way to the one with the example. */
static const char base[] =
    "config { V = 16; D = 12; H = 2 }\n"
    "data { train = text(\"book.txt\"); length = 4 }\n"
    "shard { mesh = (dp = 2) }\n"
    "model = Net\n"
    "train { loss = cross_entropy(model(inputs), targets); batch = 64; steps = 20 }\n";

static void put(Buf *out, ExampleKind where, ExampleKind here, const char *text) {
    if (where == here) buf_printf(out, "%s\n", text);
}

static void model_around(ExampleKind where, const char *text, Buf *out) {
    buf_printf(out, "use \"base.fsd\"\n");
    put(out, where, EXAMPLE_TOP, text);
    buf_printf(out, "config { unused = V + D + H\n");
    put(out, where, EXAMPLE_CONFIG, text);
    buf_printf(out, "}\nmodule Head { e : param[V, D] = normal(0.02)\n"
                    "forward(x) = linear(x, e) }\n"
                    "module Net {\n  head : Head\n  inner : Linear(D, D)\n"
                    "  table : param[V, D] = normal(0.02)\n"
                    "  w : param[D, D] = normal(0.02)\n  scale : param[D] = ones\n"
                    "  near : param[8, H] = zeros\n");
    put(out, where, EXAMPLE_MEMBER, text);
    buf_printf(out, "  forward(ids: [B, T]) {\n"
                    "    x = inner(layer_norm(linear(gather(table, ids), w), scale))\n"
                    "    q = x as [B, T, H, D // H]\n    k = q\n    v = q\n"
                    "    scores = x\n    weights, choices = topk(softmax(scores), 2)\n");
    put(out, where, EXAMPLE_STATEMENT, text);
    buf_printf(out, "    return head(x)\n  }\n}\ndata {\n");
    bool regression = strstr(text, "model(x), y)") || strstr(text, "softmax(y)");
    put(out, where, EXAMPLE_TRAIN,
        regression ? "train = synthetic(x = [8], y = [4], samples = 64)"
                   : "val = text(\"book.txt\")");
    put(out, where, EXAMPLE_DATA, text);
    buf_printf(out, "}\ntrain {\n");
    /* Sources with fields of their own. */
    if (where == EXAMPLE_DATA && strstr(text, "span_corruption("))
        buf_printf(out, "loss = cross_entropy(model(source), source)\n");
    if (where == EXAMPLE_DATA && strstr(text, "mlm("))
        buf_printf(out, "loss = cross_entropy(model(inputs), labels)\n");
    if (where == EXAMPLE_SHARD && strstr(text, "hold = true")) /* between micro-batches */
        buf_printf(out, "accumulate = 4\n");
    put(out, where, EXAMPLE_TRAIN, text);
    buf_printf(out, "}\nshard {\n");
    put(out, where, EXAMPLE_SHARD, text);
    buf_printf(out, "}\ncheckpoint {\n");
    put(out, where, EXAMPLE_CHECKPOINT, text);
    buf_printf(out, "}\n");
    if (regression || strstr(text, "inputs = [8]")) /* fields that are no ids want another model */
        buf_printf(out, "module Flat {\n  fc : Linear(8, 4)\n  forward(x) = fc(x)\n}\n"
                        "model = Flat\n");
}

static bool compiles(const HelpPage *p) {
    Arena *a = arena_new();
    DiagSet ds;
    CompileOptions options = {0};
    Buf model = {0};
    diag_init(&ds, a);
    ds.write = keep;
    n_messages = 0;
    messages[0] = 0;
    model_around(p->where, p->example, &model);
    write_text("example.fsd", model.at, model.n);
    Frontend *f = frontend_open(&ds, "example.fsd", &options);
    /* Members that no method reads have no gradient, which is for later passes to say. */
    bool right = !f->exit_code && frontend_elaborate(f);
    if (!right) fprintf(stderr, "the example of %s:\n%s\n%s", p->name, model.at, messages);
    buf_free(&model);
    arena_free(a);
    return right;
}

static bool is_lacking(const HelpPage *p) { return strstr(p->doc, "(not in this version)"); }

TEST(every_example_compiles) {
    assert_int_equal(chdir(scratch), 0);
    write_text("base.fsd", base, sizeof base - 1);
    write_text("book.txt", base, sizeof base - 1);
    write_npy("x.npy");
    write_npy("y.npy");
    HelpBook book = {.arena = arena_new()};
    help_language(&book);
    int wrong = 0, n = 0;
    for (uint32_t i = 0; i < book.chapters.n; i++)
        for (uint32_t k = 0; k < book.chapters.at[i].pages.n; k++) {
            const HelpPage *p = &book.chapters.at[i].pages.at[k];
            if (!p->example) continue;
            wrong += !compiles(p);
            n++;
        }
    assert_int_equal(wrong, 0);
    assert_true(n > 90);
    assert_int_equal(chdir("/"), 0);
    arena_free(book.arena);
}

TEST(every_page_is_complete) {
    HelpBook book = {.arena = arena_new()};
    help_language(&book);
    for (uint32_t i = 0; i < book.chapters.n; i++) {
        const HelpChapter *c = &book.chapters.at[i];
        assert_true(*c->doc && c->pages.n);
        for (uint32_t k = 0; k < c->pages.n; k++) {
            const HelpPage *p = &c->pages.at[k];
            if (!*p->doc || (!p->example && !is_lacking(p)))
                fail_msg("the page of %s lacks its line or its example", p->name);
            for (uint32_t r = 0; r < p->rows.n; r++)
                if (!*p->rows.at[r].doc)
                    fail_msg("%s of %s has no line", p->rows.at[r].name, p->name);
        }
    }
    arena_free(book.arena);
}

RUN_TESTS(scratch_make, scratch_remove)
