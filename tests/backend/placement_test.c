/* Faults of plans in which ranks share out the work on a sample (mesh axes tp and cp), one at a
 * time: each is refused, and most of them by proof 10.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "ir.h"
#include "mutate.h"
#include "test.h"

typedef struct Faults {
    GoodPlan good;
    uint32_t tried, refused;
} Faults;

/* setting: "shard.rows=false" where only sums of whole values are wanted; or an optimizer. */
static Faults faults_with(const char *model, const char *mesh, const char *setting,
                          const char *layers) {
    Faults f = {
        .good = good_plan(model, 0,
                          SETTINGS(mesh, setting, layers, "D=16", "H=4", "vocab=38", "seq=8",
                                   "data.length=8", "train.batch=8", "train.steps=4",
                                   "train.schedule=constant(warmup = 0)")),
    };
    PlanFault fault;
    if (plan_check(&f.good.plan, &fault)) fail_msg("%s: %s", fault.rule, fault.message);
    return f;
}

static Faults faults_of(const char *model, const char *mesh) {
    return faults_with(model, mesh, "shard.rows=false", "L=2");
}

/* One layer: a plan that is refused is searched for other readings first, which takes long. */
static Faults faults_of_rows(const char *mesh) {
    return faults_with("gpt2", mesh, "shard.rows=true", "L=1");
}

static void faults_end(Faults *f) {
    assert_int_not_equal(f->tried, 0);
    assert_int_equal(f->refused, f->tried);
    good_end(&f->good);
}

/* Reads and checks the edited plan. alone: proof 10 or 4, which must refuse it by itself; 0: any,
 * or the reader. */
static void try_edit(Faults *f, Edit *e, int alone) {
    PlanFault fault;
    bool refused = edit_check(e, alone ? CHECK_RULE(alone) : CHECK_ALL_RULES, &fault) != 0;
    f->tried++;
    if (alone && !strcmp(fault.rule, "reader")) refused = false;
    if (!refused) print_error("fault %u is accepted\n", f->tried);
    f->refused += refused;
}

/* Reads and checks the edited plan: proof 10 must refuse it by itself, by that rule. */
static void try_rule(Faults *f, Edit *e, const char *rule) {
    PlanFault fault;
    edit_check(e, CHECK_RULE(10), &fault);
    f->tried++;
    if (strcmp(fault.rule, rule))
        print_error("fault %u: %s %s\n", f->tried, fault.rule, fault.message);
    f->refused += !strcmp(fault.rule, rule);
}

static bool sums_activations(const Faults *f, uint32_t i) {
    const PlanInstr *in = &f->good.plan.instrs[i];
    return in->op == OP_all_reduce && in->attr.tag == TAG_ACTIVATION;
}

static uint32_t operand(const Plan *p, uint32_t i, uint32_t k) {
    return p->operands[p->instrs[i].first_in + k];
}

/* Who reads a sum reads this rank's term instead. */
TEST(a_sum_is_left_out) {
    Faults f = faults_of("gpt2", "shard.mesh=(dp = 2, tp = 2)");
    const Plan *p = &f.good.plan;
    for (uint32_t i = 0; i < p->n_instrs; i++) {
        if (!sums_activations(&f, i)) continue;
        Edit *e = edit_new(f.good.arena, p);
        edit_replace_value(e, p->instrs[i].first_out, operand(p, i, 0));
        e->instr[i].in[0] = operand(p, i, 0);
        try_edit(&f, e, 10);
    }
    faults_end(&f);
}

/* Over the ranks that have other samples, or over all. */
TEST(a_sum_is_over_the_axis_that_cuts) {
    Faults f = faults_of("gpt2", "shard.mesh=(dp = 2, tp = 2)");
    const Plan *p = &f.good.plan;
    for (uint32_t i = 0; i < p->n_instrs; i++)
        for (int64_t axes = 1; sums_activations(&f, i) && axes <= 3; axes += 2) {
            Edit *e = edit_new(f.good.arena, p);
            e->instr[i].row.attr.axes = axes;
            try_edit(&f, e, 0);
        }
    faults_end(&f);
}

TEST(a_sum_is_added_up_once) {
    Faults f = faults_of("gpt2", "shard.mesh=(dp = 1, tp = 2)");
    const Plan *p = &f.good.plan;
    for (uint32_t k = 0; k < p->n_programs; k++)
        for (uint32_t i = 0; i < p->programs[k].n_instr; i++) {
            uint32_t sum = p->programs[k].first_instr + i;
            if (!sums_activations(&f, sum)) continue;
            Edit *e = edit_new(f.good.arena, p);
            uint32_t again = edit_copy_instr(e, sum);
            edit_replace_value(e, p->instrs[sum].first_out, e->instr[again].out[0]);
            e->instr[again].in[0] = p->instrs[sum].first_out;
            edit_insert(e, k, i + 1, again);
            try_edit(&f, e, 0);
        }
    faults_end(&f);
}

/* A product whose sum is over ranks adds its bias on each of them. */
TEST(a_bias_counts_once) {
    Faults f = faults_of("gpt2", "shard.mesh=(dp = 1, tp = 2)");
    const Plan *p = &f.good.plan;
    for (uint32_t i = 0; i < p->n_instrs; i++) {
        if (p->instrs[i].op != OP_add && p->instrs[i].op != OP_fused) continue;
        uint32_t sum = p->values[operand(p, i, 0)].def, bias = operand(p, i, 1);
        if (!sums_activations(&f, sum) || p->values[bias].type.rank != 1) continue;
        uint32_t product = p->values[operand(p, sum, 0)].def;
        if (p->instrs[product].op != OP_linear || bias > p->instrs[product].first_out) continue;
        Edit *e = edit_new(f.good.arena, p);
        EditInstr *in = &e->instr[product];
        uint32_t *more = arena_array(f.good.arena, uint32_t, 3);
        memcpy(more, in->in, 2 * sizeof *more);
        more[2] = bias;
        in->in = more;
        in->n_in = 3;
        try_edit(&f, e, 0);
    }
    assert_int_equal(f.refused, f.tried);
    good_end(&f.good);
}

/* The norm of what ranks share out is that of all parts. */
TEST(the_norm_is_of_all_parts) {
    Faults f = faults_of("gpt2", "shard.mesh=(dp = 2, tp = 2)");
    const Plan *p = &f.good.plan;
    for (uint32_t i = 0; i < p->n_instrs; i++) {
        const PlanInstr *in = &p->instrs[i];
        if (in->op != OP_all_reduce || in->attr.tag != TAG_METRIC || in->attr.axes != 3) continue;
        for (int64_t axes = 1; axes <= 2; axes++) {
            Edit *e = edit_new(f.good.arena, p);
            e->instr[i].row.attr.axes = axes;
            try_edit(&f, e, 0);
        }
    }
    faults_end(&f);
}

/* Rows of 3 x heads x width: each of three runs is cut, not the whole. */
TEST(a_parameter_is_cut_as_it_is_read) {
    Faults f = faults_of("gpt2", "shard.mesh=(dp = 1, tp = 2)");
    const Plan *p = &f.good.plan;
    for (uint32_t k = 0; k < p->n_params; k++) {
        const TensorCut *cut = &p->params[k].cut;
        if (!cut->axes) continue;
        Edit *e = edit_new(f.good.arena, p);
        e->param[k].cut.outer = cut->outer == 3 ? 1 : 2;
        e->param[k].cut.size = 4;
        try_edit(&f, e, 0);
        if (p->params[k].type.rank < 2) continue;
        e = edit_new(f.good.arena, p);
        e->param[k].cut.dim = 1 - cut->dim;
        e->param[k].cut.outer = 1;
        e->param[k].cut.size = 4;
        try_edit(&f, e, 0);
    }
    faults_end(&f);
}

/* The value gets a placement of its own: a copy of the one that it has, or a new one. */
static Placement *own_placement(Edit *e, uint32_t v) {
    Placement *p = &e->placement[e->n_placement++];
    if (e->value[v].placed) *p = e->placement[e->value[v].placed - 1];
    e->value[v].placed = (uint16_t)e->n_placement;
    return p;
}

/* Another size of the same parts, runs of another length, another dimension, all of it, a term. */
static void tell_otherwise(Faults *f, uint32_t v, int how) {
    Edit *e = edit_new(f->good.arena, &f->good.plan);
    const Type *t = &f->good.plan.values[v].type;
    if (how == 0) {
        e->value[v].placed = 0;
        try_rule(f, e, "check-10f");
        return;
    }
    Placement *p = own_placement(e, v);
    int dim = 0;
    while (!p->cut[dim]) dim++;
    if (how == 1 && p->outer[dim] > 1)
        p->outer[dim] = 1;
    else if (how == 1)
        p->size[dim]--;
    if (how == 2 && (t->dim[dim] % 2 || p->outer[dim] > 1)) return;
    if (how == 2) p->outer[dim] = 2;
    if (how == 3) {
        int other = dim ? dim - 1 : 1;
        if (other >= t->rank) return;
        p->cut[other] = p->cut[dim];
        p->outer[other] = 1;
        p->size[other] = 2 * t->dim[other];
        p->cut[dim] = 0;
        p->outer[dim] = p->size[dim] = 0;
    }
    if (how == 4) *p = (Placement){.partial = p->cut[dim]};
    try_rule(f, e, "check-10f");
}

/* Kernels that must know where their part begins, and whose operands or results are parts. */
static void tell_kernels_otherwise(const char *rows) {
    const char *mesh = "shard.mesh=(dp = 2, tp = 2)";
    Faults f = faults_with("tests/backend/models/dropped", mesh, rows, "L=1");
    const Plan *p = &f.good.plan;
    for (uint32_t i = 0; i < p->n_instrs; i++) {
        const PlanInstr *in = &p->instrs[i];
        if (!op_reads_placements((OpKind)in->op)) continue;
        for (uint32_t k = 0; k < in->n_in + in->n_out; k++) {
            uint32_t v = k < in->n_in ? operand(p, i, k) : in->first_out + (k - in->n_in);
            const Placement *told = plan_placement(p, &p->values[v]);
            for (int how = 0; told && !told->partial && how < 5; how++) tell_otherwise(&f, v, how);
        }
    }
    faults_end(&f);
}

TEST(a_kernel_is_told_its_part) {
    tell_kernels_otherwise("shard.rows=false");
    tell_kernels_otherwise("shard.rows=true");
}

/* All of a value is there, and the plan says that it is a part. */
TEST(a_kernel_is_told_of_no_part) {
    Faults f = faults_of("tests/backend/models/dropped", "shard.mesh=(dp = 2, tp = 2)");
    const Plan *p = &f.good.plan;
    for (uint32_t i = 0; i < p->n_instrs; i++) {
        uint32_t v = p->instrs[i].first_out;
        if (p->instrs[i].op != OP_dropout || p->values[v].placed) continue;
        Edit *e = edit_new(f.good.arena, p);
        Placement *told = own_placement(e, v);
        told->cut[1] = 2;
        told->outer[1] = 1;
        told->size[1] = 2 * p->values[v].type.dim[1];
        try_rule(&f, e, "check-10f");
    }
    faults_end(&f);
}

/* What the reader refuses: over an axis that cuts nothing, along a dimension that does not exist,
 * in parts of another length. */
TEST(a_placement_fits_its_value) {
    Faults f = faults_of("tests/backend/models/dropped", "shard.mesh=(dp = 2, tp = 2)");
    const Plan *p = &f.good.plan;
    for (uint32_t k = 0; k < p->n_placements; k++)
        for (int how = 0; how < 5; how++) {
            Edit *e = edit_new(f.good.arena, p);
            Placement *row = &e->placement[k];
            int dim = 0;
            while (dim < MAX_RANK && !row->cut[dim]) dim++;
            if (how == 0 && dim < MAX_RANK) row->cut[dim] = 1;
            if (how == 0 && dim == MAX_RANK) row->partial = 1;
            if (how == 1) row->cut[5] = 2, row->outer[5] = 1, row->size[5] = 2;
            if (how == 2 && dim < MAX_RANK) row->size[dim] += row->outer[dim] * 2;
            if (how == 3 && dim < MAX_RANK) row->outer[dim] = 0;
            if (how > 3 || dim == MAX_RANK) row->pad = 1;
            try_edit(&f, e, 0);
        }
    faults_end(&f);
}

/* ---- rows */

static bool moves_rows(const Faults *f, uint32_t i, uint16_t op) {
    return f->good.plan.instrs[i].op == op;
}

/* Two runs of rows are other rows than one run of them, and pieces that are dealt backwards than
 * four of half the length, or those of one run. */
TEST(rows_are_those_of_other_operands) {
    static const struct {
        const char *mesh;
        int64_t runs;
    } other[] = {{"shard.mesh=(dp = 1, tp = 2)", 2},
                 {"shard.mesh=(dp = 1, zigzag = 2)", 1},
                 {"shard.mesh=(dp = 1, zigzag = 2)", 4}};
    for (size_t k = 0; k < ARRAY_LEN(other); k++) {
        Faults f = faults_of_rows(other[k].mesh);
        for (uint32_t i = 0; i < f.good.plan.n_instrs; i++) {
            const PlanInstr *in = &f.good.plan.instrs[i];
            if (in->op != OP_all_gather_part && in->op != OP_reduce_scatter_part &&
                in->op != OP_part)
                continue;
            const Type *t = &f.good.plan.values[in->first_out].type;
            if (t->dim[in->attr.axis] % (2 * other[k].runs))
                continue; /* the reader refuses these */
            Edit *e = edit_new(f.good.arena, &f.good.plan);
            e->instr[i].row.attr.count = other[k].runs;
            try_edit(&f, e, 10);
        }
        faults_end(&f);
    }
}

/* Also where as many ranks have other samples. */
TEST(rows_are_exchanged_along_the_axis_that_cuts) {
    Faults f = faults_of_rows("shard.mesh=(dp = 2, tp = 2)");
    for (uint32_t i = 0; i < f.good.plan.n_instrs; i++) {
        if (!moves_rows(&f, i, OP_all_gather_part) && !moves_rows(&f, i, OP_reduce_scatter_part))
            continue;
        Edit *e = edit_new(f.good.arena, &f.good.plan);
        e->instr[i].row.attr.axes = f.tried % 2 ? 1 : 3;
        try_edit(&f, e, 0);
    }
    faults_end(&f);
}

/* Readers of a gathered value get the part, and readers of a rank's part of a sum the term. */
TEST(rows_are_exchanged) {
    Faults f = faults_of_rows("shard.mesh=(dp = 2, tp = 2)");
    const Plan *p = &f.good.plan;
    for (uint32_t i = 0; i < p->n_instrs; i++) {
        if (!moves_rows(&f, i, OP_all_gather_part) && !moves_rows(&f, i, OP_reduce_scatter_part))
            continue;
        Edit *e = edit_new(f.good.arena, p);
        edit_replace_value(e, p->instrs[i].first_out, operand(p, i, 0));
        e->instr[i].in[0] = operand(p, i, 0);
        try_edit(&f, e, 0);
    }
    faults_end(&f);
}

/* A rank takes its part of its own term; or adds up parts of the sum again. */
TEST(rows_are_of_the_sum) {
    Faults f = faults_of_rows("shard.mesh=(dp = 1, tp = 2)");
    const Plan *p = &f.good.plan;
    for (uint32_t k = 0; k < p->n_programs; k++)
        for (uint32_t i = 0; i < p->programs[k].n_instr; i++) {
            uint32_t sum = p->programs[k].first_instr + i;
            if (!moves_rows(&f, sum, OP_reduce_scatter_part)) continue;
            const Attrs none = attrs_default(OP_part), *a = &p->instrs[sum].attr;
            Edit *e = edit_new(f.good.arena, p);
            PlanInstr *row = &e->instr[sum].row;
            row->op = OP_part;
            row->stream = STREAM_COMPUTE;
            row->attr = none;
            row->attr.axis = a->axis, row->attr.count = a->count, row->attr.axes = a->axes;
            edit_repair_edges(e);
            try_edit(&f, e, 10);
            e = edit_new(f.good.arena, p);
            uint32_t again = edit_copy_instr(e, sum);
            e->instr[again].row.op = OP_all_reduce;
            e->instr[again].row.attr.axis = none.axis;
            e->instr[again].row.attr.count = none.count;
            edit_replace_value(e, p->instrs[sum].first_out, e->instr[again].out[0]);
            e->instr[again].in[0] = p->instrs[sum].first_out;
            edit_insert(e, k, i + 1, again);
            try_edit(&f, e, 0);
        }
    faults_end(&f);
}

static bool sums_terms(const Faults *f, uint32_t i, AxisSet cuts) {
    const PlanInstr *in = &f->good.plan.instrs[i];
    return in->op == OP_all_reduce && in->attr.tag == TAG_GRADIENT &&
           (AxisSet)in->attr.axes == cuts;
}

/* Gradients of norms and late biases are sums over rows: over the axis that cuts, once. */
TEST(gradients_of_rows_are_summed_once) {
    Faults f = faults_of_rows("shard.mesh=(dp = 2, tp = 2)");
    const Plan *p = &f.good.plan;
    for (uint32_t k = 0; k < p->n_programs; k++)
        for (uint32_t i = 0; i < p->programs[k].n_instr; i++) {
            uint32_t sum = p->programs[k].first_instr + i;
            if (!sums_terms(&f, sum, 2)) continue;
            for (int64_t axes = 1; axes <= 3; axes += 2) {
                Edit *e = edit_new(f.good.arena, p);
                e->instr[sum].row.attr.axes = axes;
                try_edit(&f, e, 0);
            }
            for (uint32_t j = 0; j < p->instrs[sum].n_out; j++) {
                Edit *e = edit_new(f.good.arena, p);
                edit_replace_value(e, p->instrs[sum].first_out + j, operand(p, sum, j));
                e->instr[sum].in[j] = operand(p, sum, j);
                try_edit(&f, e, 0);
            }
            Edit *e = edit_new(f.good.arena, p);
            uint32_t again = edit_copy_instr(e, sum);
            for (uint32_t j = 0; j < p->instrs[sum].n_out; j++) {
                edit_replace_value(e, p->instrs[sum].first_out + j, e->instr[again].out[j]);
                e->instr[again].in[j] = p->instrs[sum].first_out + j;
            }
            edit_insert(e, k, i + 1, again);
            try_edit(&f, e, 0);
        }
    faults_end(&f);
}

/* Does it sum what an update looks at as a whole: Muon's momentum, Adafactor's squares? */
static bool sums_for_update(const Plan *p, uint32_t i) {
    const PlanInstr *in = &p->instrs[i];
    if (in->op != OP_all_reduce) return false;
    const OpInfo *maker = &op_info[p->instrs[p->values[operand(p, i, 0)].def].op];
    return maker->partial && maker->role == ROLE_STEP;
}

static void try_sum_for_update(Faults *f, uint32_t program, uint32_t at) {
    const Plan *p = &f->good.plan;
    uint32_t sum = p->programs[program].first_instr + at, n = p->instrs[sum].n_out;
    int64_t is = p->instrs[sum].attr.axes;
    for (int64_t axes = 1; axes <= 3; axes++) {
        Edit *e = edit_new(f->good.arena, p);
        e->instr[sum].row.attr.axes = axes;
        if (axes != is) try_edit(f, e, (axes ^ is) & 2 ? 10 : 0);
    }
    for (uint32_t j = 0; j < n; j++) {
        Edit *e = edit_new(f->good.arena, p);
        edit_replace_value(e, p->instrs[sum].first_out + j, operand(p, sum, j));
        e->instr[sum].in[j] = operand(p, sum, j);
        try_edit(f, e, is & 2 ? 10 : 0);
    }
    Edit *e = edit_new(f->good.arena, p);
    uint32_t again = edit_copy_instr(e, sum);
    for (uint32_t j = 0; j < n; j++) {
        edit_replace_value(e, p->instrs[sum].first_out + j, e->instr[again].out[j]);
        e->instr[again].in[j] = p->instrs[sum].first_out + j;
    }
    edit_insert(e, program, at + 1, again);
    try_edit(f, e, is & 2 ? 10 : 0);
}

/* Over the axes along which samples differ, and those that cut the matrices: once, no more, no
 * less. */
TEST(matrices_are_whole_for_the_update) {
    const char *optimizers[] = {"train.optimizer=muon(lr = 0.1)",
                                "train.optimizer=adafactor(lr = 0.1)"};
    for (size_t o = 0; o < ARRAY_LEN(optimizers); o++) {
        Faults f = faults_with("gpt2", "shard.mesh=(dp = 2, tp = 2)", optimizers[o], "L=1");
        const Plan *p = &f.good.plan;
        for (uint32_t k = 0; k < p->n_programs; k++)
            for (uint32_t i = 0; i < p->programs[k].n_instr; i++)
                if (sums_for_update(p, p->programs[k].first_instr + i))
                    try_sum_for_update(&f, k, i);
        faults_end(&f);
    }
}

/* A group says over which axes its gradient is a sum, no more and no less. */
TEST(groups_say_what_is_summed) {
    Faults f = faults_of_rows("shard.mesh=(dp = 2, tp = 2)");
    const Plan *p = &f.good.plan;
    for (uint32_t k = 0; k < p->n_groups; k++) {
        if (p->groups[k].cut) continue;
        Edit *e = edit_new(f.good.arena, p);
        e->group[k].partial ^= 2;
        try_edit(&f, e, 10);
    }
    faults_end(&f);
}

/* ---- positions */

/* Keys and values travel together, and neither becomes the other on the way. */
TEST(keys_stay_keys) {
    Faults f = faults_with("gpt2", "shard.mesh=(dp = 1, cp = 2)", "shard.rows=true", "L=1");
    const Plan *p = &f.good.plan;
    for (uint32_t i = 0; i < p->n_instrs; i++) {
        if (!moves_rows(&f, i, OP_all_gather_part) && !moves_rows(&f, i, OP_reduce_scatter_part))
            continue;
        assert_int_equal(p->instrs[i].n_in, 2);
        Edit *e = edit_new(f.good.arena, p);
        e->instr[i].in[0] = operand(p, i, 1);
        e->instr[i].in[1] = operand(p, i, 0);
        try_edit(&f, e, 0);
        e = edit_new(f.good.arena, p);
        e->instr[i].in[1] = operand(p, i, 0);
        try_edit(&f, e, 0);
    }
    faults_end(&f);
}

/* A gradient is split over dp, then over cp; the other way round a rank has another shard. */
static bool exchange_splits(Edit *e, const Plan *p, uint32_t retain) {
    uint32_t scatter = p->values[operand(p, retain, 0)].def;
    PlanInstr *a = &e->instr[scatter].row, *b = &e->instr[retain].row;
    if (a->op != OP_reduce_scatter || p->instrs[scatter].n_in != 1) return false;
    PlanInstr sum = *a;
    a->op = b->op, a->attr = b->attr, a->stream = b->stream;
    b->op = sum.op, b->attr = sum.attr, b->stream = sum.stream;
    edit_repair_edges(e);
    return true;
}

/* Experts see all positions: of their gradients, which ranks along cp have whole, each takes its
 * part. */
TEST(gradients_that_are_whole_are_retained) {
    static const char *const mesh[] = {"shard.mesh=(dp = 2, cp = 2)",
                                       "shard.mesh=(cp = 2, dp = 2)"};
    uint32_t exchanged = 0;
    for (int k = 0; k < 2; k++) {
        Faults f = faults_with("mixtral", mesh[k], "KV=4", "L=1");
        for (uint32_t i = 0; i < f.good.plan.n_instrs; i++) {
            if (!moves_rows(&f, i, OP_retain)) continue;
            const int64_t axes = f.good.plan.instrs[i].attr.axes;
            assert_int_equal(axes, k ? 1 : 2);
            Edit *e = edit_new(f.good.arena, &f.good.plan);
            e->instr[i].row.attr.axes = 3 - axes;
            try_edit(&f, e, 4);
            e = edit_new(f.good.arena, &f.good.plan);
            e->instr[i].row.attr.group ^= 1;
            try_edit(&f, e, 0); /* the reader */
            e = edit_new(f.good.arena, &f.good.plan);
            if (!exchange_splits(e, &f.good.plan, i)) continue;
            exchanged++;
            try_edit(&f, e, 4);
        }
        faults_end(&f);
    }
    assert_int_not_equal(exchanged, 0);
}

int main(void) {
    good_data();
    return run_all(NULL, NULL);
}
