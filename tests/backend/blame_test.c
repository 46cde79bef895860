/* Which instruction proof 4 names: one instruction in the backward of a small model is broken, far
 * from the parameter whose gradient becomes wrong, and the message must name it. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "mutate.h"
#include "test.h"

/* The nth instruction of that op and phase. */
static uint32_t find(const Plan *p, uint16_t op, int phase, int nth) {
    for (uint32_t i = 0; i < p->n_instrs; i++)
        if (p->instrs[i].op == op && p->instrs[i].phase == phase && nth-- == 0) return i;
    fail_msg("the plan has no such %s", op_info[op].name);
    return 0;
}

/* Every number becomes N. */
static void without_numbers(char *text) {
    char *to = text;
    for (const char *at = text; *at; at++) {
        bool digit = isdigit((unsigned char)*at);
        if (!digit || !isdigit((unsigned char)at[1])) *to++ = digit ? 'N' : *at;
    }
    *to = 0;
}

static void assert_blamed(const Edit *e, uint16_t op, const char *wanted) {
    Plan p;
    PlanFault fault;
    char message[256];
    size_t size;
    void *bytes = edit_write(e, &size);
    if (plan_read(&p, bytes, size, message, sizeof message)) fail_msg("%s", message);
    assert_int_not_equal(plan_check_rules(&p, CHECK_RULE(4), &fault), 0);
    without_numbers(fault.message);
    assert_string_equal(fault.message, wanted);
    assert_string_equal(op_info[p.instrs[fault.instr].op].name, op_info[op].name);
    free(bytes);
}

typedef struct Fixture {
    Arena *arena;
    GoodPlan good;
    Edit *edit;
} Fixture;

static void start(Fixture *f) {
    *f = (Fixture){.arena = arena_new(), .good = {.name = "blame"}};
    unfused_plan(f->arena, "tests/backend/models/blame", NULL, 0, &f->good);
    f->edit = edit_new(f->arena, &f->good.plan);
}

static void finish(Fixture *f) {
    free(f->good.bytes);
    arena_free(f->arena);
}

/* What the model's first layer reads, in place of operand 1 of the instruction. */
static void read_the_input(Fixture *f, uint32_t i) {
    const Plan *p = &f->good.plan;
    uint32_t linear = find(p, OP_linear, PHASE_FORWARD, 0);
    f->edit->instr[i].in[1] = p->operands[p->instrs[linear].first_in];
}

/* Zeros before the sum that is the gradient of `shift`. */
TEST(a_part_that_is_gone_is_named) {
    Fixture f;
    start(&f);
    EditInstr *in = &f.edit->instr[find(&f.good.plan, OP_relu_grad, PHASE_BACKWARD, 0)];
    in->row.op = OP_fill;
    in->row.attr = (Attrs){.alpha = 0};
    in->n_in = 0;
    assert_blamed(f.edit, OP_sum_leading,
                  "what it reads as the gradient of value N lacks the term that comes from its "
                  "reader, instruction N "
                  "(relu)");
    finish(&f);
}

/* The product whose sum over rows is the gradient of `slope`. */
TEST(a_factor_under_a_sum_is_named) {
    Fixture f;
    start(&f);
    const Plan *p = &f.good.plan;
    uint32_t sum = find(p, OP_sum_leading, PHASE_BACKWARD, 1);
    read_the_input(&f, (uint32_t)p->values[p->operands[p->instrs[sum].first_in]].def);
    assert_blamed(f.edit, OP_mul,
                  "reads value N as operand N, where instruction N (mul) has value N");
    finish(&f);
}

/* What both readers of a value contribute to its gradient is wrong by what comes after them. */
TEST(what_comes_after_both_readers_is_named) {
    Fixture f;
    start(&f);
    read_the_input(&f, find(&f.good.plan, OP_silu_grad, PHASE_BACKWARD, 0));
    assert_blamed(f.edit, OP_silu_grad,
                  "reads value N as operand N, where instruction N (silu) has value N");
    finish(&f);
}

RUN_TESTS(NULL, NULL)
