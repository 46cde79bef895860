/* Faults of plans in which ranks share out the work on a sample (mesh axes tp and cp), one at a
 * time: each is refused, and most of them by proof 10.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "ir.h"
#include "mutate.h"
#include "test.h"

static GoodPlan good;
static const Plan *p = &good.plan;
static uint32_t tried, refused;

/* setting: "shard.rows=false" where only sums of whole values are wanted; or an optimizer. */
static void start(const char *model, const char *mesh, const char *setting, const char *layers) {
    PlanFault fault;
    good = good_plan(model, 0,
                     SETTINGS(mesh, setting, layers, "D=16", "H=4", "vocab=38", "seq=8",
                              "data.length=8", "train.batch=8", "train.steps=4",
                              "train.schedule=constant(warmup = 0)"));
    tried = refused = 0;
    if (plan_check(p, &fault)) fail_msg("%s: %s", fault.rule, fault.message);
}

static void start_with(const char *model, const char *mesh) {
    start(model, mesh, "shard.rows=false", "L=2");
}

/* One layer: a plan that is refused is searched for other readings first, which takes long. */
static void start_rows(const char *mesh) { start("gpt2", mesh, "shard.rows=true", "L=1"); }

static void finish(void) {
    assert_int_not_equal(tried, 0);
    assert_int_equal(refused, tried);
    good_end(&good);
}

static Edit *edit(void) { return edit_new(good.arena, p); }

static void count(bool is_refused, const PlanFault *fault) {
    tried++;
    refused += is_refused;
    if (!is_refused) print_error("fault %u: %s %s\n", tried, fault->rule, fault->message);
}

/* Reads and checks the edited plan. alone: proof 10 or 4, which must refuse it by itself; 0: any,
 * or the reader. */
static void try_edit(const Edit *e, int alone) {
    PlanFault fault;
    int code = edit_check(e, alone ? CHECK_RULE(alone) : CHECK_ALL_RULES, &fault);
    count(code && !(alone && !strcmp(fault.rule, "reader")), &fault);
}

/* Reads and checks the edited plan: proof 10 must refuse it by itself, of the kernel or of the op
 * that makes its operand. */
static void try_told(const Edit *e) {
    PlanFault fault;
    edit_check(e, CHECK_RULE(10), &fault);
    count(!strcmp(fault.rule, "check-10f") || !strcmp(fault.rule, "check-10a"), &fault);
}

static bool sums_activations(uint32_t i) {
    return p->instrs[i].op == OP_all_reduce && p->instrs[i].attr.tag == TAG_ACTIVATION;
}

static uint32_t operand(uint32_t i, uint32_t k) { return p->operands[p->instrs[i].first_in + k]; }

static void try_axes(uint32_t i, int64_t axes, int alone) {
    Edit *e = edit();
    e->instr[i].row.attr.axes = axes;
    try_edit(e, alone);
}

/* Readers of result j of an exchange between ranks read this rank's operand instead. */
static void try_without(uint32_t i, uint32_t j, int alone) {
    Edit *e = edit();
    edit_replace_value(e, p->instrs[i].first_out + j, operand(i, j));
    e->instr[i].in[j] = operand(i, j);
    try_edit(e, alone);
}

static uint32_t program_of(const Edit *e, uint32_t i) {
    uint32_t program = 0;
    while (edit_place(e, program, i) == UINT32_MAX) program++;
    return program;
}

/* What is exchanged is exchanged again, by an all_reduce. */
static void try_twice(uint32_t i, int alone) {
    const Attrs none = attrs_default(OP_all_reduce);
    Edit *e = edit();
    uint32_t again = edit_copy_instr(e, i), program = program_of(e, i);
    EditInstr *copy = &e->instr[again];
    copy->row.op = OP_all_reduce;
    copy->row.attr.axis = none.axis;
    copy->row.attr.count = none.count;
    for (uint32_t j = 0; j < p->instrs[i].n_out; j++) {
        edit_replace_value(e, p->instrs[i].first_out + j, copy->out[j]);
        copy->in[j] = p->instrs[i].first_out + j;
    }
    edit_insert(e, program, edit_place(e, program, i) + 1, again);
    try_edit(e, alone);
}

/* Who reads a sum reads this rank's term instead. */
TEST(a_sum_is_left_out) {
    start_with("gpt2", "shard.mesh=(dp = 2, tp = 2)");
    for (uint32_t i = 0; i < p->n_instrs; i++) {
        if (!sums_activations(i)) continue;
        try_without(i, 0, 10);
    }
    finish();
}

/* Over the ranks that have other samples, or over all. */
TEST(a_sum_is_over_the_axis_that_cuts) {
    start_with("gpt2", "shard.mesh=(dp = 2, tp = 2)");
    for (uint32_t i = 0; i < p->n_instrs; i++)
        for (int64_t axes = 1; sums_activations(i) && axes <= 3; axes += 2) try_axes(i, axes, 0);
    finish();
}

TEST(a_sum_is_added_up_once) {
    start_with("gpt2", "shard.mesh=(dp = 1, tp = 2)");
    for (uint32_t i = 0; i < p->n_instrs; i++)
        if (sums_activations(i)) try_twice(i, 0);
    finish();
}

/* A product whose sum is over ranks adds its bias on each of them; it is made before. */
TEST(a_bias_counts_once) {
    start_with("gpt2", "shard.mesh=(dp = 1, tp = 2)");
    for (uint32_t i = 0; i < p->n_instrs; i++) {
        if (p->instrs[i].op != OP_add) continue;
        uint32_t sum = p->values[operand(i, 0)].def, bias = operand(i, 1);
        if (!sums_activations(sum) || p->values[bias].type.rank != 1) continue;
        uint32_t product = p->values[operand(sum, 0)].def, cast = p->values[bias].def;
        if (p->instrs[product].op != OP_linear) continue;
        Edit *e = edit();
        EditInstr *in = &e->instr[product];
        uint32_t *more = arena_array(good.arena, uint32_t, 3), k = program_of(e, product);
        edit_move(e, k, edit_place(e, k, cast), edit_place(e, k, product));
        edit_move(e, k, edit_place(e, k, p->values[operand(cast, 0)].def), edit_place(e, k, cast));
        memcpy(more, in->in, 2 * sizeof *more);
        more[2] = bias;
        in->in = more;
        in->n_in = 3;
        try_edit(e, 10);
    }
    finish();
}

/* The norm of gradients that ranks share out covers all parts. */
TEST(the_norm_is_of_all_parts) {
    start_with("gpt2", "shard.mesh=(dp = 2, tp = 2)");
    for (uint32_t i = 0; i < p->n_instrs; i++) {
        const PlanInstr *in = &p->instrs[i];
        if (in->op != OP_all_reduce || in->attr.tag != TAG_METRIC || in->attr.axes != 3) continue;
        for (int64_t axes = 1; axes <= 2; axes++) try_axes(i, axes, 0);
    }
    finish();
}

/* Rows of 3 x heads x width: each of three runs is cut, not the whole. */
TEST(a_parameter_is_cut_as_it_is_read) {
    start_with("gpt2", "shard.mesh=(dp = 1, tp = 2)");
    for (uint32_t k = 0; k < p->n_params; k++) {
        const TensorCut *cut = &p->params[k].cut;
        if (!cut->axes) continue;
        Edit *e = edit();
        e->param[k].cut.outer = cut->outer == 3 ? 1 : 2;
        e->param[k].cut.size = 4;
        try_edit(e, 0);
        if (p->params[k].type.rank < 2) continue;
        e = edit();
        e->param[k].cut.dim = 1 - cut->dim;
        e->param[k].cut.outer = 1;
        e->param[k].cut.size = 4;
        try_edit(e, 0);
    }
    finish();
}

/* The value gets a placement of its own: a copy of the one that it has, or a new one. */
static Placement *own_placement(Edit *e, uint32_t v) {
    Placement *row = &e->placement[e->n_placement++];
    if (e->value[v].placed) *row = e->placement[e->value[v].placed - 1];
    e->value[v].placed = (uint16_t)e->n_placement;
    return row;
}

/* Another size of the same parts, runs of another length, another dimension, all of it, a term. */
static void tell_otherwise(uint32_t v, int how) {
    Edit *e = edit();
    const Type *t = &p->values[v].type;
    if (how == 0) {
        e->value[v].placed = 0;
        try_told(e);
        return;
    }
    Placement *row = own_placement(e, v);
    int dim = 0;
    while (!row->cut[dim]) dim++;
    if (how == 1 && row->outer[dim] > 1)
        row->outer[dim] = 1;
    else if (how == 1)
        row->size[dim]--;
    if (how == 2 && (t->dim[dim] % 2 || row->outer[dim] > 1)) return;
    if (how == 2) row->outer[dim] = 2;
    if (how == 3) {
        int other = dim ? dim - 1 : 1;
        if (other >= t->rank) return;
        row->cut[other] = row->cut[dim];
        row->outer[other] = 1;
        row->size[other] = 2 * t->dim[other];
        row->cut[dim] = 0;
        row->outer[dim] = row->size[dim] = 0;
    }
    if (how == 4) *row = (Placement){.partial = row->cut[dim]};
    try_told(e);
}

/* Kernels that must know where their part begins, and whose operands or results are parts. */
static void tell_kernels_otherwise(const char *rows) {
    const char *mesh = "shard.mesh=(dp = 2, tp = 2)";
    start("tests/backend/models/dropped", mesh, rows, "L=1");
    for (uint32_t i = 0; i < p->n_instrs; i++) {
        const PlanInstr *in = &p->instrs[i];
        if (!op_reads_placements((OpKind)in->op)) continue;
        for (uint32_t k = 0; k < in->n_in + in->n_out; k++) {
            uint32_t v = k < in->n_in ? operand(i, k) : in->first_out + (k - in->n_in);
            const Placement *told = plan_placement(p, &p->values[v]);
            for (int how = 0; told && !told->partial && how < 5; how++) tell_otherwise(v, how);
        }
    }
    finish();
}

TEST(a_kernel_is_told_its_part) {
    tell_kernels_otherwise("shard.rows=false");
    tell_kernels_otherwise("shard.rows=true");
}

/* All of a value is there, and the plan says that it is a part. */
TEST(a_kernel_is_told_of_no_part) {
    start_with("tests/backend/models/dropped", "shard.mesh=(dp = 2, tp = 2)");
    for (uint32_t i = 0; i < p->n_instrs; i++) {
        uint32_t v = p->instrs[i].first_out;
        if (p->instrs[i].op != OP_dropout || p->values[v].placed) continue;
        Edit *e = edit();
        Placement *told = own_placement(e, v);
        told->cut[1] = 2;
        told->outer[1] = 1;
        told->size[1] = 2 * p->values[v].type.dim[1];
        try_told(e);
    }
    finish();
}

/* What the reader refuses: over an axis that cuts nothing, along a dimension that does not exist,
 * in parts of another length. */
TEST(a_placement_fits_its_value) {
    start_with("tests/backend/models/dropped", "shard.mesh=(dp = 2, tp = 2)");
    for (uint32_t k = 0; k < p->n_placements; k++)
        for (int how = 0; how < 5; how++) {
            Edit *e = edit();
            Placement *row = &e->placement[k];
            int dim = 0;
            while (dim < MAX_RANK && !row->cut[dim]) dim++;
            if (how == 0 && dim < MAX_RANK) row->cut[dim] = 1;
            if (how == 0 && dim == MAX_RANK) row->partial = 1;
            if (how == 1) row->cut[5] = 2, row->outer[5] = 1, row->size[5] = 2;
            if (how == 2 && dim < MAX_RANK) row->size[dim] += row->outer[dim] * 2;
            if (how == 3 && dim < MAX_RANK) row->outer[dim] = 0;
            if (how > 3 || dim == MAX_RANK) row->pad = 1;
            try_edit(e, 0);
        }
    finish();
}

/* ---- rows */

static bool exchanges_rows(uint32_t i) {
    return p->instrs[i].op == OP_all_gather_part || p->instrs[i].op == OP_reduce_scatter_part;
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
        start_rows(other[k].mesh);
        for (uint32_t i = 0; i < p->n_instrs; i++) {
            const PlanInstr *in = &p->instrs[i];
            if (!exchanges_rows(i) && in->op != OP_part) continue;
            const Type *t = &p->values[in->first_out].type;
            if (t->dim[in->attr.axis] % (2 * other[k].runs))
                continue; /* the reader refuses these */
            Edit *e = edit();
            e->instr[i].row.attr.count = other[k].runs;
            try_edit(e, 10);
        }
        finish();
    }
}

/* Also where as many ranks have other samples. */
TEST(rows_are_exchanged_along_the_axis_that_cuts) {
    start_rows("shard.mesh=(dp = 2, tp = 2)");
    for (uint32_t i = 0; i < p->n_instrs; i++) {
        if (!exchanges_rows(i)) continue;
        try_axes(i, tried % 2 ? 1 : 3, 0);
    }
    finish();
}

/* Readers of a gathered value get the part, and readers of a rank's part of a sum the term. */
TEST(rows_are_exchanged) {
    start_rows("shard.mesh=(dp = 2, tp = 2)");
    for (uint32_t i = 0; i < p->n_instrs; i++) {
        if (!exchanges_rows(i)) continue;
        try_without(i, 0, 0);
    }
    finish();
}

/* A rank takes its part of its own term; or adds up parts of the sum again. */
TEST(rows_are_of_the_sum) {
    start_rows("shard.mesh=(dp = 1, tp = 2)");
    for (uint32_t i = 0; i < p->n_instrs; i++) {
        if (p->instrs[i].op != OP_reduce_scatter_part) continue;
        const Attrs *a = &p->instrs[i].attr;
        Edit *e = edit();
        PlanInstr *row = &e->instr[i].row;
        row->op = OP_part;
        row->stream = STREAM_COMPUTE;
        row->attr = attrs_default(OP_part);
        row->attr.axis = a->axis, row->attr.count = a->count, row->attr.axes = a->axes;
        edit_repair_edges(e);
        try_edit(e, 10);
        try_twice(i, 0);
    }
    finish();
}

static bool sums_terms(uint32_t i, AxisSet cuts) {
    const PlanInstr *in = &p->instrs[i];
    return in->op == OP_all_reduce && in->attr.tag == TAG_GRADIENT &&
           (AxisSet)in->attr.axes == cuts;
}

/* Gradients of norms and late biases are sums over rows: over the axis that cuts, once. */
TEST(gradients_of_rows_are_summed_once) {
    start_rows("shard.mesh=(dp = 2, tp = 2)");
    for (uint32_t i = 0; i < p->n_instrs; i++) {
        if (!sums_terms(i, 2)) continue;
        for (int64_t axes = 1; axes <= 3; axes += 2) try_axes(i, axes, 0);
        for (uint32_t j = 0; j < p->instrs[i].n_out; j++) try_without(i, j, 0);
        try_twice(i, 0);
    }
    finish();
}

/* Does it sum what an update looks at as a whole: Muon's momentum, Adafactor's squares? */
static bool sums_for_update(uint32_t i) {
    const PlanInstr *in = &p->instrs[i];
    if (in->op != OP_all_reduce) return false;
    const OpInfo *maker = &op_info[p->instrs[p->values[operand(i, 0)].def].op];
    return maker->partial && maker->role == ROLE_STEP;
}

static void try_sum_for_update(uint32_t sum) {
    int64_t is = p->instrs[sum].attr.axes;
    for (int64_t axes = 1; axes <= 3; axes++)
        if (axes != is) try_axes(sum, axes, (axes ^ is) & 2 ? 10 : 0);
    for (uint32_t j = 0; j < p->instrs[sum].n_out; j++) try_without(sum, j, is & 2 ? 10 : 0);
    try_twice(sum, is & 2 ? 10 : 0);
}

/* Over the axes along which samples differ, and those that cut the matrices: once, no more, no
 * less. */
TEST(matrices_are_whole_for_the_update) {
    const char *optimizers[] = {"train.optimizer=muon(lr = 0.1)",
                                "train.optimizer=adafactor(lr = 0.1)"};
    for (size_t o = 0; o < ARRAY_LEN(optimizers); o++) {
        start("gpt2", "shard.mesh=(dp = 2, tp = 2)", optimizers[o], "L=1");
        for (uint32_t i = 0; i < p->n_instrs; i++)
            if (sums_for_update(i)) try_sum_for_update(i);
        finish();
    }
}

/* A group says over which axes its gradient is a sum, no more and no less. */
TEST(groups_say_what_is_summed) {
    start_rows("shard.mesh=(dp = 2, tp = 2)");
    for (uint32_t k = 0; k < p->n_groups; k++) {
        if (p->groups[k].cut) continue;
        Edit *e = edit();
        e->group[k].partial ^= 2;
        try_edit(e, 10);
    }
    finish();
}

/* ---- positions */

/* Keys and values travel together, and neither becomes the other on the way. */
TEST(keys_stay_keys) {
    start("gpt2", "shard.mesh=(dp = 1, cp = 2)", "shard.rows=true", "L=1");
    for (uint32_t i = 0; i < p->n_instrs; i++) {
        if (!exchanges_rows(i)) continue;
        assert_int_equal(p->instrs[i].n_in, 2);
        Edit *e = edit();
        e->instr[i].in[0] = operand(i, 1);
        e->instr[i].in[1] = operand(i, 0);
        try_edit(e, 0);
        e = edit();
        e->instr[i].in[1] = operand(i, 0);
        try_edit(e, 0);
    }
    finish();
}

/* A gradient is split over dp, then over cp; the other way round a rank has another shard. */
static bool exchange_splits(Edit *e, uint32_t retain) {
    uint32_t scatter = p->values[operand(retain, 0)].def;
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
        start("mixtral", mesh[k], "KV=4", "L=1");
        for (uint32_t i = 0; i < p->n_instrs; i++) {
            if (p->instrs[i].op != OP_retain) continue;
            const int64_t axes = p->instrs[i].attr.axes;
            assert_int_equal(axes, k ? 1 : 2);
            try_axes(i, 3 - axes, 4);
            Edit *e = edit();
            e->instr[i].row.attr.group ^= 1;
            try_edit(e, 0); /* the reader */
            e = edit();
            if (!exchange_splits(e, i)) continue;
            exchanged++;
            try_edit(e, 4);
        }
        finish();
    }
    assert_int_not_equal(exchanged, 0);
}

int main(void) {
    good_data();
    return run_all(NULL, NULL);
}
