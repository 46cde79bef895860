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

/* The instruction, which is nowhere else than in the good plan. */
static void assert_blamed(const Edit *e, uint16_t op, const char *wanted) {
    PlanFault fault;
    assert_int_not_equal(edit_check(e, CHECK_RULE(4), &fault), 0);
    without_numbers(fault.message);
    assert_string_equal(fault.message, wanted);
    assert_string_equal(op_info[e->instr[fault.instr].row.op].name, op_info[op].name);
}

static GoodPlan good;
static Edit *edit;

static int start(__attribute__((unused)) void **state) {
    good = unfused_plan("tests/backend/models/blame", NULL);
    edit = edit_new(good.arena, &good.plan);
    return 0;
}

static int finish(__attribute__((unused)) void **state) {
    good_end(&good);
    return 0;
}

/* What the model's first layer reads, in place of operand 1 of the instruction. */
static void read_the_input(uint32_t i) {
    const Plan *p = &good.plan;
    uint32_t linear = find(p, OP_linear, PHASE_FORWARD, 0);
    edit->instr[i].in[1] = p->operands[p->instrs[linear].first_in];
}

/* Zeros before the sum that is the gradient of `shift`. */
TEST_WITH(a_part_that_is_gone_is_named, start, finish) {
    EditInstr *in = &edit->instr[find(&good.plan, OP_relu_grad, PHASE_BACKWARD, 0)];
    in->row.op = OP_fill;
    in->row.attr = (Attrs){.alpha = 0};
    in->n_in = 0;
    assert_blamed(edit, OP_sum_leading,
                  "what it reads as the gradient of value N lacks the term that comes from its "
                  "reader, instruction N "
                  "(relu)");
}

/* The product whose sum over rows is the gradient of `slope`. */
TEST_WITH(a_factor_under_a_sum_is_named, start, finish) {
    const Plan *p = &good.plan;
    uint32_t sum = find(p, OP_sum_leading, PHASE_BACKWARD, 1);
    read_the_input((uint32_t)p->values[p->operands[p->instrs[sum].first_in]].def);
    assert_blamed(edit, OP_mul,
                  "reads value N as operand N, where instruction N (mul) has value N");
}

/* What both readers of a value contribute to its gradient is wrong by what comes after them. */
TEST_WITH(what_comes_after_both_readers_is_named, start, finish) {
    read_the_input(find(&good.plan, OP_silu_grad, PHASE_BACKWARD, 0));
    assert_blamed(edit, OP_silu_grad,
                  "reads value N as operand N, where instruction N (silu) has value N");
}

RUN_TESTS(NULL, NULL)
