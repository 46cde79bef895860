/* The plan reader, and the code behind it, on good plans that were tampered with.
 *
 * A small model is compiled in this process. Then every truncation and every flipped byte (one
 * in three) must give EXIT_CORRUPT if the checksum is not updated. If it is,
 * the reader may accept a changed plan; checker and dumps must then survive it. No edge may be
 * redundant.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "emit.h"
#include "passes.h"
#include "report.h"
#include "test.h"

enum { BYTES_APART = 3, CHANGES_APART = 7 }; /* not divisors of field sizes */

static const char model[] = "module Block {\n"
                            "  ln : LayerNorm(6)\n"
                            "  fc : Linear(6, 6, bias = true)\n"
                            "  forward(x) = x + gelu(fc(ln(x)))\n"
                            "}\n"
                            "module M {\n"
                            "  e : Embedding(256, 6)\n"
                            "  h : Block[3]\n"
                            "  out : Linear(6, 256)\n"
                            "  tie out.weight = e.weight\n"
                            "  forward(ids) {\n"
                            "    x = e(ids)\n"
                            "    for b in h { x = b(x) }\n"
                            "    return out(x)\n"
                            "  }\n"
                            "}\n"
                            "model = M\n"
                            "data { train = text(\"a.txt\"); length = 5 }\n"
                            "train { loss = cross_entropy(model(inputs), targets); batch = 24\n"
                            "        steps = 3; optimizer = adamw(lr = 0.01); clip = 1.0 }\n"
                            "shard { unit = Block }\n";

static void ignore(void *context, const char *text, size_t n) {
    (void)context, (void)text, (void)n;
}

/* The model for `ranks` ranks with further -s options. The bytes are malloc'ed. */
static char *compile(int64_t ranks, const char *const *set, int n_set, size_t *size) {
    DiagSet ds;
    diag_init(&ds, arena_new());
    ds.write = ignore;
    CompileOptions options = {.set = set, .n_set = n_set, .ranks = ranks, .to_plan = true};
    Frontend *f = frontend_open_text(&ds, "net.fsd", model, strlen(model), &options);
    assert_int_equal(f->exit_code, EXIT_DONE);
    assert_true(frontend_elaborate(f));
    assert_true(pipeline_run(f->graph, LEVEL_SCHED, NULL));
    Buf out = {0};
    plan_emit(f, "test", "gpt2.fsd -s L=1", &out);
    *size = out.n;
    return buf_take(&out);
}

static char *two_ranks(size_t *size) {
    static const char *const set[] = {"train.accumulate=3"};
    return compile(2, set, 1, size);
}

TEST(good_plans_pass) {
    static const char *const sets[][2] = {{"train.accumulate=1", "shard.strategy=full"},
                                          {"train.accumulate=2", "shard.strategy=full"},
                                          {"train.accumulate=3", "shard.strategy=grads"},
                                          {"train.accumulate=2", "shard.strategy=none"},
                                          {"shard.accumulate=local", "train.accumulate=3"}};
    for (int64_t ranks = 1; ranks <= 4; ranks++)
        for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
            if (24 / ranks % 6 && ranks != 4) continue;
            size_t size;
            char message[512] = "", *bytes = compile(ranks, sets[i], 2, &size);
            Plan plan;
            PlanFault fault = {0};
            assert_int_equal(plan_read(&plan, bytes, size, message, sizeof message), 0);
            if (plan_check(&plan, &fault)) fail_msg("%s: %s", fault.rule, fault.message);
            free(bytes);
        }
}

static int read_copy(const char *bytes, size_t size) {
    Plan plan;
    char message[512], *copy = malloc(size + 1);
    memcpy(copy, bytes, size);
    int status = plan_read(&plan, copy, size, message, sizeof message);
    if (status) assert_true(strlen(message) > 0);
    free(copy);
    return status;
}

TEST(every_truncation_is_noticed) {
    size_t size;
    char *bytes = two_ranks(&size);
    assert_int_equal(read_copy(bytes, size), 0);
    for (size_t n = 0; n < size; n += BYTES_APART)
        assert_int_equal(read_copy(bytes, n), EXIT_CORRUPT);
    free(bytes);
}

TEST(every_flipped_byte_is_noticed) {
    size_t size;
    Plan plan;
    char message[512], *bytes = two_ranks(&size);
    for (size_t i = 0; i < size; i += BYTES_APART) {
        char flip = (char)(1 << i / BYTES_APART % 8);
        bytes[i] ^= flip;
        assert_int_equal(plan_read(&plan, bytes, size, message, sizeof message), EXIT_CORRUPT);
        bytes[i] ^= flip;
    }
    free(bytes);
}

/* Reads, checks and dumps; whatever the bytes are, nothing may crash. */
static void use_all(const char *bytes, size_t size, int *accepted, int *proven) {
    Plan plan;
    PlanFault fault;
    char message[512];
    int status = plan_read(&plan, bytes, size, message, sizeof message);
    if (status) {
        assert_int_equal(status, EXIT_CORRUPT);
        return;
    }
    ++*accepted;
    status = plan_check(&plan, &fault);
    assert_true(status == 0 || status == EXIT_CORRUPT);
    *proven += status == 0;
    Buf out = {0};
    dump_plan_text(&plan, &out);
    dump_plan_view(&plan, &(ViewOptions){.all = *accepted & 1}, &out);
    if (status == 0) dump_plan_json(&plan, 0, NULL, &out);
    buf_free(&out);
}

/* Of a header as it is. */
static void set_checksum(char *bytes, size_t size) {
    PlanHeader *h = (PlanHeader *)bytes;
    h->checksum = 0;
    h->checksum = hash_bytes(bytes, size, 0);
}

TEST(changed_plans_are_survived) {
    size_t size;
    int accepted = 0, proven = 0, tried = 0;
    char *bytes = two_ranks(&size), *copy = malloc(size);
    uint64_t random = 1;
    for (size_t i = sizeof(PlanHeader); i < size; i += 1 + random % (11 * CHANGES_APART), tried++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        memcpy(copy, bytes, size);
        copy[i] ^= (char)(1 << (random >> 40) % 8);
        if (random >> 50 & 1) copy[(random >> 8) % (size - 64) + 64] = (char)(random >> 32);
        plan_seal(copy, size);
        use_all(copy, size, &accepted, &proven);
    }
    /* harmless changes exist (a line number), but most are noticed */
    assert_true(accepted > 0 && proven < tried / 2);
    free(copy);
    free(bytes);
}

TEST(a_plan_of_other_rules_is_to_be_compiled_again) {
    size_t size;
    char message[512], *bytes = two_ranks(&size);
    Plan plan;
    ((PlanHeader *)bytes)->rules ^= 1;
    plan_seal(bytes, size);
    assert_int_equal(plan_read(&plan, bytes, size, message, sizeof message), EXIT_CORRUPT);
    assert_non_null(strstr(message, "a different version of fsdpc"));
    assert_non_null(strstr(message, "fsdpc compile gpt2.fsd -s L=1 -n 2"));
    PlanSection *strings = (PlanSection *)(bytes + sizeof(PlanHeader));
    strings->count = size;
    plan_seal(bytes, size);
    assert_int_equal(plan_read(&plan, bytes, size, message, sizeof message), EXIT_CORRUPT);
    assert_non_null(strstr(message, "compile the model again"));
    assert_null(strstr(message, "gpt2.fsd"));
    free(bytes);
}

/* Other contents have another fingerprint, and with the old one they are refused. */
TEST(a_fingerprint_is_of_the_contents) {
    size_t size;
    char message[512], *bytes = two_ranks(&size), *good = malloc(size);
    Plan plan;
    PlanHeader *h = (PlanHeader *)bytes;
    memcpy(good, bytes, size);
    assert_int_equal(plan_read(&plan, bytes, size, message, sizeof message), 0);
    ((PlanSettings *)plan.settings)->seed ^= 1;
    plan_seal(bytes, size);
    assert_int_equal(plan_read(&plan, bytes, size, message, sizeof message), 0);
    assert_true(h->fingerprint != ((PlanHeader *)good)->fingerprint);
    h->fingerprint = ((PlanHeader *)good)->fingerprint;
    set_checksum(bytes, size);
    assert_int_equal(plan_read(&plan, bytes, size, message, sizeof message), EXIT_CORRUPT);
    assert_non_null(strstr(message, "do not match fingerprint"));
    free(bytes);
    free(good);
}

/* The first state of role `from` becomes one of role `to`, of the same type. */
static void read_with_role(uint32_t from, uint32_t to, const char *wanted) {
    size_t size;
    char message[512], *bytes = two_ranks(&size);
    Plan plan;
    assert_int_equal(plan_read(&plan, bytes, size, message, sizeof message), 0);
    uint64_t i = 0;
    while (plan.states[i].role != from) i++;
    ((PlanState *)&plan.states[i])->role = to;
    plan_seal(bytes, size);
    assert_int_equal(plan_read(&plan, bytes, size, message, sizeof message), EXIT_CORRUPT);
    assert_non_null(strstr(message, wanted));
    free(bytes);
}

TEST(every_group_has_one_shard) {
    read_with_role(STATE_PARAM, STATE_MOMENT1, "has no shard");
    read_with_role(STATE_MOMENT1, STATE_PARAM, "second shard");
}

/* The model's last op, which sets its loss, leaves its operand to the op before it. */
TEST(an_op_of_the_model_has_its_operands) {
    size_t size;
    char message[512], *bytes = two_ranks(&size);
    Plan plan;
    assert_int_equal(plan_read(&plan, bytes, size, message, sizeof message), 0);
    const PlanModelProgram *last = &plan.model_programs[plan.n_model_programs - 1];
    PlanNode *end = (PlanNode *)&plan.nodes[plan.n_nodes - 1];
    assert_int_equal(end->op, OP_set_state);
    ((uint32_t *)plan.node_operands)[end->first_in] = plan.nodes[last->first_node].first_out;
    end->first_in++, end->n_in--;
    end[-1].n_in++;
    plan_seal(bytes, size);
    assert_int_equal(plan_read(&plan, bytes, size, message, sizeof message), EXIT_CORRUPT);
    assert_non_null(strstr(message, "operands"));
    free(bytes);
}

TEST(the_loss_scale_is_that_of_the_model) {
    static const char *const set[] = {"train.precision=f16"};
    size_t size;
    char message[512], *bytes = compile(2, set, 1, &size);
    Plan plan;
    PlanFault fault;
    assert_int_equal(plan_read(&plan, bytes, size, message, sizeof message), 0);
    assert_int_equal(plan_check(&plan, &fault), 0);
    ((PlanSettings *)plan.settings)->loss_scale *= 2;
    assert_int_equal(plan_check(&plan, &fault), EXIT_CORRUPT);
    assert_string_equal(fault.rule, "check-8c");
    free(bytes);
}

/* Does instruction a of the program happen before b, by streams and edges? */
static bool happens_before(const Plan *p, const PlanProgram *program, uint64_t a, uint64_t b) {
    bool *after = calloc(b + 1, sizeof *after); /* by instruction: happens after a, or is a */
    for (uint64_t i = a; i <= b; i++) {
        const PlanInstr *in = &p->instrs[i];
        after[i] = i == a;
        for (uint32_t k = 0; k < in->n_edge; k++) {
            uint64_t edge = p->edges[in->first_edge + k];
            if (edge >= a) after[i] |= after[edge];
        }
        for (uint64_t j = i; j-- > MAX(a, program->first_instr);)
            if (p->instrs[j].stream == in->stream) {
                after[i] |= after[j];
                break;
            }
    }
    bool result = after[b];
    free(after);
    return result;
}

static const PlanProgram *program_of(const Plan *p, uint64_t instr) {
    uint64_t k = 0;
    while (p->programs[k].first_instr + p->programs[k].n_instr <= instr) k++;
    return &p->programs[k];
}

/* Without an edge the checker objects; or, where the edge only keeps a gather from running further
 * ahead than it is issued, the gather may begin earlier. */
/* Two products on two streams, without an edge between them, would share a workspace. */
TEST(a_workspace_has_one_user_at_a_time) {
    size_t size;
    char message[512], *bytes = two_ranks(&size);
    Plan plan;
    PlanFault fault;
    assert_int_equal(plan_read(&plan, bytes, size, message, sizeof message), 0);
    uint32_t products = 0, moved = 0;
    for (uint64_t i = 0; i < plan.n_instrs; i++) {
        PlanInstr *in = (PlanInstr *)&plan.instrs[i], kept = *in;
        if (i == program_of(&plan, i)->first_instr) products = 0;
        bool product = in->op == OP_linear || in->op == OP_linear_gelu;
        if (!product || products++ == 0) continue;
        in->stream = STREAM_REDUCE;
        in->n_edge = 0;
        assert_int_equal(plan_check_rules(&plan, CHECK_RULE(2), &fault), EXIT_CORRUPT);
        assert_string_equal(fault.rule, "check-2f");
        assert_int_equal(fault.instr, i);
        *in = kept;
        moved++;
    }
    assert_true(moved > 0);
    assert_int_equal(plan_check(&plan, &fault), 0);
    free(bytes);
}

TEST(no_edge_is_redundant) {
    static const char *const set[] = {"train.accumulate=2"};
    size_t size;
    char message[512], *bytes = compile(2, set, 1, &size);
    Plan plan;
    assert_int_equal(plan_read(&plan, bytes, size, message, sizeof message), 0);
    uint64_t dropped = 0;
    for (uint64_t i = 0; i < plan.n_instrs; i++) {
        PlanInstr *in = (PlanInstr *)&plan.instrs[i], kept = *in;
        assert_true(kept.n_edge <= 2);
        for (uint32_t k = 0; k < kept.n_edge; k++, dropped++) {
            PlanFault fault;
            in->n_edge = kept.n_edge - 1;
            in->first_edge = kept.first_edge + (k == 0); /* without the first, or the last */
            uint64_t other = plan.edges[kept.first_edge + k];
            assert_false(happens_before(&plan, program_of(&plan, i), other, i));
            if (kept.stream != STREAM_GATHER)
                assert_int_equal(plan_check(&plan, &fault), EXIT_CORRUPT);
            *in = kept;
        }
    }
    assert_true(dropped > 20);
    free(bytes);
}

RUN_TESTS(NULL, NULL)
