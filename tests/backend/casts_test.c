/* Rounding an operand is always detected: each operand of each instruction is read through a cast,
 * and through a cast to another dtype and back, in training and in evaluation. The reader or the
 * checker must reject every such plan; most of them because the value differs, not because of its
 * address. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "mutate.h"
#include "test.h"

#define GPT2                                                                                       \
    "L=1", "D=16", "H=2", "vocab=37", "seq=8", "data.length=8", "train.batch=8",                   \
        "train.schedule=constant(warmup = 0)", "train.eval_every=2"
enum { ONE_READER, ALL_READERS, EVERYWHERE };

typedef struct Counts {
    uint32_t read, by_meaning, evaluated;
} Counts;

/* Proofs 1, 2, 6 and 7 are about places and order. */
static bool is_about_meaning(const PlanFault *f) {
    return !strchr("1267", f->rule[strlen("check-")]);
}

static bool plant(Edit *e, uint32_t program, uint32_t i, uint32_t k, int how, bool pair) {
    uint32_t value = e->instr[i].in[k];
    if (how == ONE_READER) return edit_cast(e, program, i, k, pair);
    return how == ALL_READERS ? edit_cast_for_all(e, value, pair)
                              : edit_cast_everywhere(e, value, pair);
}

static void round_operand(const GoodPlan *g, uint32_t program, uint32_t i, uint32_t k, int how,
                          Counts *n) {
    static const char *const whom[] = {"a reader", "all readers", "all that stands for it"};
    for (int pair = 0; pair < 2; pair++) {
        Arena *a = arena_new();
        Edit *e = edit_new(a, &g->plan);
        PlanFault fault = {.rule = "reader"};
        char where[256];
        if (plant(e, program, i, k, how, pair)) edit_check(e, CHECK_ALL_RULES, &fault);
        if (strcmp(fault.rule, "reader")) {
            n->read++;
            n->evaluated += g->plan.programs[program].kind == PROGRAM_EVAL;
            plan_instr_text(&g->plan, i, where, sizeof where);
            if (!*fault.rule)
                fail_msg("%s: operand %u of %s may be rounded by %s for %s", g->name, k, where,
                         pair ? "a pair of casts" : "a cast", whom[how]);
            n->by_meaning += is_about_meaning(&fault);
        }
        arena_free(a);
    }
}

/* Is it the first reader of the value? */
static bool reads_first(const Plan *p, uint32_t i, uint32_t k) {
    uint32_t at = p->instrs[i].first_in + k, value = p->operands[at];
    while (at-- > 0)
        if (p->operands[at] == value) return false;
    return true;
}

static Counts round_all(const GoodPlan *g) {
    const Plan *p = &g->plan;
    Counts n = {0};
    for (uint32_t q = 0; q < p->n_programs; q++)
        for (uint32_t i = p->programs[q].first_instr;
             i < p->programs[q].first_instr + p->programs[q].n_instr; i++)
            for (uint32_t k = 0; k < p->instrs[i].n_in; k++) {
                round_operand(g, q, i, k, ONE_READER, &n);
                for (int how = ALL_READERS; how <= EVERYWHERE && reads_first(p, i, k); how++)
                    round_operand(g, q, i, k, how, &n);
            }
    return n;
}

TEST(nothing_is_rounded_on_the_way) {
    static const struct {
        const char *model;
        int64_t ranks;
        const char *set[13];
    } plans[] = {
        {"gpt2", 2, {GPT2, "train.precision=bf16", "shard.cast=update", "train.accumulate=2"}},
        {"mlp", 2, {"hidden=6", "pixels=16", "train.batch=12", "train.optimizer=lion(lr = 0.1)"}},
        {"mixtral",
         2,
         {"L=1", "D=16", "H=2", "KV=1", "F=12", "E=3", "K=2", "vocab=37", "seq=8", "data.length=8",
          "train.batch=8", "train.precision=f16"}},
    };
    good_data();
    uint32_t evaluated = 0;
    for (size_t k = 0; k < ARRAY_LEN(plans); k++) {
        GoodPlan g = good_plan(plans[k].model, plans[k].ranks, plans[k].set);
        Counts all = round_all(&g);
        evaluated += all.evaluated;
        assert_true(all.by_meaning > all.read / 2);
        good_end(&g);
    }
    assert_true(evaluated > 0);
}

RUN_TESTS(NULL, NULL)
