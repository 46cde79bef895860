/* Proof 8 alone, for the tables: it rejects a plan in which one number of one row differs from the
 * model file. Each column below is changed in each of its rows, to one more, to the number of the
 * next row, and to 0. The reader may reject that as well, but for each column some changes must
 * reach the checker. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "mutate.h"
#include "test.h"

typedef struct Column {
    const char *table, *name;
    uint32_t section, offset, size;
} Column;

enum {
#define SECTION(field, type, name) S_##field,
    PLAN_SECTIONS(SECTION)
#undef SECTION
        S_COUNT
};

#define COLUMN(table, type, field)                                                                 \
    { #table, #field, S_##table, offsetof(type, field), sizeof(((type *)0)->field) }
#define SETTING(field) COLUMN(settings, PlanSettings, field)
#define PARAM(field) COLUMN(params, PlanParam, field)
#define SOURCE(field) COLUMN(sources, PlanSource, field)
static const Column columns[] = {

    SETTING(length),
    SETTING(order),
    SETTING(steps),
    SETTING(epochs),
    SETTING(eval_every),
    SETTING(eval_steps),
    SETTING(seed),
    SETTING(on_nan),
    SETTING(optimizer),
    SETTING(schedule),
    SETTING(lr),
    SETTING(beta1),
    SETTING(beta2),
    SETTING(warmup),
    SETTING(decay),
    SETTING(final),
    SETTING(loss_exponent),
    SETTING(beta2_decay),
    SETTING(hf_config),
    SETTING(hf_facts),
    SETTING(checkpoint),
    SETTING(checkpoint_every),
    SETTING(keep),
    SETTING(keep_every),
    SETTING(keep_best),
    SETTING(snapshot),
    SETTING(form),
    SETTING(loss_scale),
    SETTING(loss_growth),
    SETTING(loss_backoff),
    SETTING(loss_interval),
    SETTING(compute_dtype),
    SETTING(reduce_dtype),
    SETTING(gather_dtype),
    PARAM(name),
    PARAM(key),
    PARAM(checkpoint),
    PARAM(init),
    PARAM(flags),
    PARAM(init_mean),
    PARAM(init_std),
    PARAM(lr_factor),
    PARAM(weight_decay),
    PARAM(gather_dtype),
    COLUMN(aliases, PlanAlias, name),
    COLUMN(aliases, PlanAlias, checkpoint),
    COLUMN(names, PlanNames, label),
    COLUMN(names, PlanNames, n_skip),
    COLUMN(other_names, PlanOtherName, checkpoint),
    COLUMN(other_names, PlanOtherName, flags),
    {"skips", "pattern", S_skips, 0, sizeof(PlanString)},
    COLUMN(fields, PlanField, name),
    COLUMN(fields, PlanField, staging),
    SOURCE(name),
    SOURCE(kind),
    SOURCE(path),

    SOURCE(raw),
    SOURCE(noise),
    SOURCE(spans),
    SOURCE(mask),
    SOURCE(end),
    SOURCE(words),
    SOURCE(draw),
    SOURCE(from),
    SOURCE(to),
    SOURCE(samples),
    SOURCE(vocab),
    SOURCE(seed),
    COLUMN(source_fields, PlanSourceField, name),
    COLUMN(source_fields, PlanSourceField, path),
    COLUMN(source_fields, PlanSourceField, classes),
};
enum { PLANS = 7, CHANGES = 3 };
static uint32_t refused[ARRAY_LEN(columns)];

/* One change of a row; false where that changes nothing. */
static bool change(char *bytes, const PlanSection *s, const Column *c, uint64_t row, int how) {
    char *at = bytes + s->offset + row * s->element + c->offset;
    char *next = bytes + s->offset + (row + 1) % s->count * s->element + c->offset;
    uint64_t old = 0, new = 0;
    memcpy(&old, at, c->size);
    if (how == 0) new = old + 1;
    if (how == 1) memcpy(&new, next, c->size);
    memcpy(at, &new, c->size);
    return memcmp(at, &old, c->size) != 0;
}

/* Does the checker accept the plan? */
static bool is_accepted(char *bytes, size_t size, uint32_t *checked) {
    char message[1024];
    Plan p;
    PlanFault fault;
    plan_seal(bytes, size);
    if (plan_read(&p, bytes, size, message, sizeof message)) return false;
    ++*checked;
    return !plan_check_rules(&p, CHECK_RULE(8), &fault);
}

static void change_each_row(const GoodPlan *g, uint32_t column) {
    const Column *c = &columns[column];
    const PlanSection *s =
        (const PlanSection *)((const char *)g->bytes + sizeof(PlanHeader)) + c->section;
    char *bytes = aligned_alloc(16, align_up(g->size, 16));
    for (uint64_t row = 0; row < s->count; row++)
        for (int how = 0; how < CHANGES; how++) {
            memcpy(bytes, g->bytes, g->size);
            if (change(bytes, s, c, row, how) && is_accepted(bytes, g->size, &refused[column]))
                fail_msg("%s: %s.%s of row %llu may differ", g->name, c->table, c->name,
                         (unsigned long long)row);
        }
    free(bytes);
}

TEST(every_column_is_compared) {
    static const struct {
        const char *model, *set[8];
    } plans[PLANS] = {
        {"gpt2",
         {"L=2", "D=16", "H=2", "vocab=37", "seq=8", "checkpoint.path=\"ck\"",
          "checkpoint.every=2"}},
        {"gpt-text", {"train.optimizer=adafactor(lr = 1e-2)"}},
        {"bert", {"L=1", "D=16", "H=2", "vocab=307", "seq=16", "train.precision=f16"}},
        {"t5", {"L=1", "D=16", "H=2", "vocab=307"}},
        {"mlp", {"hidden=6", "pixels=16"}},
        {"tests/optimizers/groups", {0}},
        {"mlp", {"hidden=6", "pixels=16", "data.train=npy(x = \"x.npy\", y = \"y.npy\")"}},
    };
    good_data();
    for (int k = 0; k < PLANS; k++) {
        GoodPlan g = good_plan(plans[k].model, 2, plans[k].set);
        PlanFault fault;
        if (plan_check(&g.plan, &fault)) fail_msg("%s: %s: %s", g.name, fault.rule, fault.message);
        for (uint32_t c = 0; c < ARRAY_LEN(columns); c++) change_each_row(&g, c);
        good_end(&g);
    }
    for (uint32_t c = 0; c < ARRAY_LEN(columns); c++)
        if (!refused[c])
            fail_msg("%s.%s: no change reaches the checker", columns[c].table, columns[c].name);
}

RUN_TESTS(NULL, NULL)
