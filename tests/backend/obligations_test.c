/* Proof 4 ties each gradient op to the forward op whose gradient it computes: if any of its
 * operands is replaced by another value of the same type, the plan is rejected, for every such op
 * of ops.def. A model with all of them is compiled with and without the passes that fuse. Values
 * are numbered, so one that is computed twice does not count as another value. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "mutate.h"
#include "signature.h"
#include "test.h"

enum { OPERANDS = 16 };

/* By op: in how many places it stands; by operand, how often another value took its place. */
typedef struct Row {
    uint32_t seen, operands, tried[OPERANDS];
} Row;

static uint64_t mix(uint64_t h, uint64_t x) {
    h = (h ^ x) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

/* Equal numbers for what is computed alike from equal numbers, whichever factor comes first. */
static uint64_t *number_values(const Plan *p) {
    uint64_t *number = calloc(p->n_values + 1, sizeof *number);
    assert_non_null(number);
    for (uint32_t i = 0; i < p->n_instrs; i++) {
        const PlanInstr *in = &p->instrs[i];
        uint64_t h = mix(7, in->op), all = 0;
        bool swaps = in->op == OP_add || in->op == OP_mul;
        for (size_t k = 0; k < sizeof in->attr; k++) h = mix(h, ((const uint8_t *)&in->attr)[k]);
        for (uint32_t k = 0; k < in->n_in; k++) {
            uint64_t operand = number[p->operands[in->first_in + k]];
            all += mix(3, operand);
            if (!swaps) h = mix(h, operand);
        }
        if (swaps) h = mix(h, all);
        if (in->op == OP_reshape && in->n_in) h = number[p->operands[in->first_in]];
        for (uint32_t j = 0; j < in->n_out; j++) number[in->first_out + j] = mix(h, j);
    }
    return number;
}

/* The latest value before instruction i with the type of v and another number, or v. */
static uint32_t another_value(const Plan *p, const uint64_t *number, uint32_t i, uint32_t v) {
    const PlanProgram *pr = p->programs;
    while (i >= pr->first_instr + pr->n_instr) pr++;
    for (uint32_t k = i; k-- > pr->first_instr;)
        for (uint32_t j = 0; j < p->instrs[k].n_out; j++) {
            uint32_t other = p->instrs[k].first_out + j;
            if (number[other] != number[v] &&
                type_equal(&p->values[other].type, &p->values[v].type))
                return other;
        }
    return v;
}

static void refuse(const GoodPlan *g, uint32_t i, uint32_t operand, uint32_t other) {
    Arena *a = arena_new();
    Edit *e = edit_new(a, &g->plan);
    PlanFault fault;
    char where[256];
    e->instr[i].in[operand] = other;
    plan_instr_text(&g->plan, i, where, sizeof where);
    if (!edit_check(e, CHECK_RULE(4), &fault))
        fail_msg("%s: %s is accepted with value %u as operand %u", g->name, where, other, operand);
    arena_free(a);
}

/* One that grad makes: not what sums or packs gradients later. */
static bool is_gradient_op(uint16_t op) {
    return op_info[op].role == ROLE_BACKWARD && op_info[op].levels >> LEVEL_TRAIN & 1;
}

static void exchange_operands(const GoodPlan *g, Row *row) {
    const Plan *p = &g->plan;
    uint64_t *number = number_values(p);
    for (uint32_t i = 0; i < p->n_instrs; i++) {
        const PlanInstr *in = &p->instrs[i];
        if (!is_gradient_op(in->op)) continue;
        Row *r = &row[in->op];
        r->seen++;
        r->operands = MAX(r->operands, in->n_in);
        for (uint32_t k = 0; k < in->n_in && k < OPERANDS; k++) {
            uint32_t v = p->operands[in->first_in + k], other = another_value(p, number, i, v);
            if (other == v) continue;
            refuse(g, i, k, other);
            r->tried[k]++;
        }
    }
    free(number);
}

/* Is the operand the state of the step, of which there is one? */
static bool is_step(uint16_t op, uint32_t k) {
    return k + 1 == op_signature((OpKind)op)->in_max && strstr(op_info[op].signature, "step:step");
}

TEST(every_operand_of_a_gradient_is_its_own) {
    static Row row[OP_COUNT];
    GoodPlan g[] = {
        good_plan("tests/backend/models/every-gradient", 1, NULL),
        unfused_plan("tests/backend/models/every-gradient", NULL),
        good_plan("tests/backend/models/chunks", 1, NULL),
        unfused_plan("linear", SETTINGS("train.loss=mse(model(x), z)", "data.val=none",
                                        "data.train=synthetic(x = [features], z = [classes])")),
    };
    for (size_t k = 0; k < ARRAY_LEN(g); k++) {
        exchange_operands(&g[k], row);
        good_end(&g[k]);
    }
    for (uint16_t op = 0; op < OP_COUNT; op++) {
        if (!is_gradient_op(op) || !op_info[op].launched) continue;
        if (!row[op].seen)
            fail_msg("%s stands in no model of this test: every-gradient.fsd needs its forward op",
                     op_info[op].name);
        for (uint32_t k = 0; k < row[op].operands && k < OPERANDS; k++)
            if (!row[op].tried[k] && !is_step(op, k))
                fail_msg("operand %u of %s has no other value of its type", k, op_info[op].name);
    }
}

RUN_TESTS(NULL, NULL)
