/* A changed dtype is always detected: the dtype of each value, and of each step of a formula, is
 * replaced by both other floats, along with everything that must have the same dtype (a view, what
 * an op changes in place, the same result of all ops with the same formula). The reader or the
 * checker must reject every such plan; of those that reach the checker, proof 8 rejects most.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "mutate.h"
#include "signature.h"
#include "test.h"

typedef unsigned long long Llu;

/* A plan as bytes to change. */
typedef struct Copy {
    const GoodPlan *good;
    char *bytes;
    PlanValue *values;
    FormulaStep *steps;
    uint32_t *same; /* by value, after them by step: another one of the same dtype, or itself */
    uint32_t read, refused;
} Copy;

static void *at(const Copy *c, const void *section) {
    return c->bytes + ((const char *)section - (const char *)c->good->bytes);
}

static uint32_t root_of(const Copy *c, uint32_t v) {
    while (c->same[v] != v) v = c->same[v];
    return v;
}
static void join(Copy *c, uint32_t v, uint32_t w) { c->same[root_of(c, v)] = root_of(c, w); }

static void join_formula(Copy *c, const PlanInstr *in) {
    const Plan *p = &c->good->plan;
    const PlanFormula *f = &p->formulas[in->attr.index];
    for (uint32_t k = f->first_step; k < f->first_step + f->n_step; k++) {
        uint32_t own = (uint32_t)p->n_values + k;
        const FormulaStep *s = &p->steps[k];
        if (s->result) join(c, own, in->first_out + s->result - 1);
        if (s->function == SCALAR_split && s->start) join(c, own, own - 1);
    }
}

/* What the op's signature binds. */
static void join_instr(Copy *c, const PlanInstr *in) {
    const Plan *p = &c->good->plan;
    const uint32_t *v = &p->operands[in->first_in];
    const Signature *s = op_signature((OpKind)in->op);
    for (uint32_t j = 0; j < in->n_out; j++) {
        const Slot *slot = signature_result(s, j);
        uint32_t like = slot->same_as >= 0 && slot->many ? j : (uint32_t)slot->same_as;
        if (slot->same_as >= 0 && like < in->n_in) join(c, in->first_out + j, v[like]);
        if (slot->dtype == WANT_SAME && in->n_in) join(c, in->first_out + j, v[0]);
    }
    if (in->op == OP_fused) join_formula(c, in);
}

static void put_dtype(Copy *c, uint32_t root, uint8_t dtype) {
    const Plan *p = &c->good->plan;
    for (uint32_t v = 0; v < p->n_values + p->n_steps; v++) {
        if (root_of(c, v) != root) continue;
        if (v < p->n_values)
            c->values[v].type.dtype = dtype;
        else
            c->steps[v - p->n_values].dtype = dtype;
    }
}

static bool is_accepted(Copy *c) {
    char message[1024];
    Plan p;
    PlanFault fault;
    plan_seal(c->bytes, c->good->size);
    if (plan_read(&p, c->bytes, c->good->size, message, sizeof message)) return false;
    c->read++;
    c->refused += plan_check_rules(&p, CHECK_RULE(8), &fault) && !strcmp(fault.rule, "check-8e");
    return !plan_check(&p, &fault);
}

static void exchange(Copy *c, uint32_t root) {
    const Plan *p = &c->good->plan;
    static const uint8_t floats[] = {DT_F32, DT_BF16, DT_F16};
    bool value = root < p->n_values;
    uint8_t was = value ? p->values[root].type.dtype : p->steps[root - p->n_values].dtype;
    for (size_t k = 0; dtype_is_float(was) && k < ARRAY_LEN(floats); k++) {
        if (floats[k] == was) continue;
        put_dtype(c, root, floats[k]);
        if (is_accepted(c))
            fail_msg("%s: %s %llu may be %s", c->good->name, value ? "value" : "step",
                     (Llu)(value ? root : root - p->n_values), dtype_name(floats[k]));
        put_dtype(c, root, was);
    }
}

static void exchange_all(const GoodPlan *g) {
    const Plan *p = &g->plan;
    uint32_t n = (uint32_t)(p->n_values + p->n_steps);
    Copy c = {.good = g};
    c.bytes = aligned_alloc(16, align_up(g->size, 16));
    c.same = calloc(n, sizeof *c.same);
    memcpy(c.bytes, g->bytes, g->size);
    c.values = at(&c, p->values);
    c.steps = at(&c, p->steps);
    for (uint32_t v = 0; v < n; v++) c.same[v] = v;
    for (uint64_t i = 0; i < p->n_instrs; i++) join_instr(&c, &p->instrs[i]);
    for (uint32_t v = 0; v < n; v++)
        if (c.same[v] == v) exchange(&c, v);
    assert_true(c.refused > c.read / 2); /* proof 3 alone knows what dequantized weights are */
    free(c.bytes);
    free(c.same);
}

#define SMALL                                                                                      \
    "D=16", "H=2", "vocab=37", "data.length=8", "train.batch=8",                                   \
        "train.schedule=constant(warmup = 0)", "L=1"
TEST(no_value_has_another_dtype) {
    static const struct {
        const char *model, *set[16];
    } plans[] = {
        {"gpt2", {SMALL, "seq=8", "train.precision=f32"}},
        {"gpt2", {SMALL, "seq=8", "train.precision=bf16", "shard.cast=update"}},
        {"gpt2", {SMALL, "seq=8", "train.precision=bf16(reduce = bf16)", "train.accumulate=2"}},
        {"gpt2", {SMALL, "seq=8", "train.precision=f16(reduce = f16)", "shard.gather=f8e4m3"}},
        {"mixtral",
         {SMALL, "seq=8", "KV=1", "F=12", "E=3", "K=2", "balance=0.5", "train.precision=bf16"}},
        {"bert", {SMALL, "seq=8", "train.precision=bf16", "shard.strategy=states"}},
        {"t5", {SMALL, "dk=4", "F=24", "train.precision=f16"}},
        {"llama3", {SMALL, "seq=8", "KV=1", "F=24", "train.precision=bf16", "shard.gather=f32"}},
    };
    for (size_t k = 0; k < ARRAY_LEN(plans); k++) {
        GoodPlan g = good_plan(plans[k].model, 2, plans[k].set);
        exchange_all(&g);
        good_end(&g);
    }
}

/* Parameters that are kept in f32, frozen, tied and read twice. */
TEST(no_value_of_any_gradient_has_another_dtype) {
    GoodPlan g = good_plan("tests/backend/models/gradients", 2,
                           SETTINGS("train.precision=bf16", "train.accumulate=2", "drop=0.1"));
    exchange_all(&g);
    good_end(&g);
}

RUN_TESTS(NULL, NULL)
