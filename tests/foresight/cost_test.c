/* Seconds of single instructions, worked out by hand from a machine with simple constants. */
#include <math.h>
#include <string.h>

#include "step.h"
#include "test.h"

/* JSON with ' for ", and !5 for a constant whose value is 5. */
static const char gpu_text[] =
    "{'format': 1, 'device': {'cores': !4, 'launch_s': !1, 'cache_bytes': !10},"
    " 'products': {'f32': {'flops_s': !524288, 'sustained': !0.5, 'start_s': !2, 'fill_k': !2}},"
    " 'attention': [{'width': 64, 'forward_flops_s': !100, 'backward_flops_s': !50,"
    "                'fill_keys': !4}, {'width': 128, 'forward_flops_s': !1000}],"
    " 'ops': {'rows': {'bytes_s': !10, 'cached_bytes_s': !20, 'flops_s': !100},"
    "         'rope': {'bytes_s': !25}, 'gelu': {'bytes_s': !50, 'cached_bytes_s': !20}},"
    " 'links': [{'ranks': 2, 'start_s': !1, 'bytes_s': !100},"
    "           {'ranks': 8, 'start_s': !4, 'bytes_s': !40,"
    "            'all_reduce_start_s': !5, 'all_reduce_bytes_s': !30}],"
    " 'fabric': [{'nodes': 2, 'start_s': !10, 'bytes_s': !20, 'short_start_s': !1,"
    "             'short_bytes_s': !5, 'ramp': ![[1,0.5],[100,1]]},"
    "            {'nodes': 4, 'start_s': !16, 'bytes_s': !20}],"
    " 'copies': {'fetch': {'start_s': !1, 'bytes_s': !10}}, 'sharing': {'copy_ranks': !2}}";

static const char cpu_text[] =
    "{'format': 1, 'kind': 'cpu', 'products': {'f32': {'flops_s': !1000, 'start_s': !1,"
    " 'fill_m': !5, 'fill_n': !10, 'fill_k': !20}},"
    " 'attention': [{'width': 64, 'forward_flops_s': !100, 'backward_flops_s': !50}],"
    " 'links': [{'ranks': 2, 'start_s': !1, 'bytes_s': !100, 'in_place_start_s': !2,"
    "            'in_place_bytes_s': !400}],"
    " 'device': {'launch_s': !1},"
    " 'ops': {'matmul': {'f32': !0.5}, 'attention': {'bf16': !2}}}";

static void expand_constants(const char *text, Buf *json) {
    while (*text) {
        if (*text != '!') {
            buf_printf(json, "%c", *text == '\'' ? '"' : *text);
            text++;
            continue;
        }
        size_t n = 1 + (text[1] == '[' ? strcspn(text + 1, "}") : strspn(text + 1, "0123456789."));
        buf_printf(json, "{\"value\": %.*s, \"from\": \"measured\"}", (int)n - 1, text + 1);
        text += n;
    }
}

typedef struct Room { /* what costs are asked of */
    Arena *arena;
    DiagSet diags;
    PlanSettings settings;
    PlanAxis axes[2];
    PlanRole roles[2];
    Plan plan;
    Costs costs;
    Type types[4];
} Room;

static void open_room(Room *r, const char *text, int64_t outer, int64_t inner) {
    Buf json = {0};
    memset(r, 0, sizeof *r);
    r->arena = arena_new();
    diag_init(&r->diags, r->arena);
    r->axes[0] = (PlanAxis){.role = AXIS_rep, .size = outer};
    r->axes[1] = (PlanAxis){.role = AXIS_dp, .size = inner};
    r->roles[1].first_rank = 8;
    r->plan = (Plan){
        .settings = &r->settings, .axes = r->axes, .n_axes = 2, .roles = r->roles, .n_roles = 2};
    expand_constants(text, &json);
    const Machine *m = machine_read_text(&r->diags, r->arena, "a.machine", json.at, json.n);
    buf_free(&json);
    assert_non_null(m);
    r->costs = costs_of(&r->plan, m, r->arena);
    r->costs.types = r->types;
}

static void close_room(Room *r) {
    assert_true(r->costs.complete);
    arena_free(r->arena);
}

static void assert_near(double is, double should) {
    if (fabs(is - should) > 1e-6 * fabs(should)) fail_msg("%.9g, not %.9g", is, should);
}

static Type f32(int64_t n) { return (Type){.dtype = DT_F32, .rank = 1, .dim = {n}}; }

/* A multiprocessor does 65536 operations a second, so a wave of tiles of 128 x 256 takes k + 2. */
TEST(products_take_waves_of_tiles) {
    Room r;
    Type f = f32(1);
    open_room(&r, gpu_text, 1, 1);
    OpProducts four = {.count = 1, .b = 1, .m = 256, .n = 512, .k = 30}; /* 4 tiles, 1 wave */
    assert_near(cost_product(&r.costs, OP_linear, &four, &f).seconds, 2 + 32);
    OpProducts batch = {.count = 1, .b = 4, .m = 128, .n = 256, .k = 30};
    assert_near(cost_product(&r.costs, OP_linear, &batch, &f).seconds, 2 + 32);
    /* a tile of 64 x 64, k in 4 parts: 64 * 64 * 2 * (8 + 2) / (65536 * 0.45) */
    OpProducts one = {.count = 1, .b = 1, .m = 64, .n = 64, .k = 32};
    assert_near(cost_product(&r.costs, OP_linear, &one, &f).seconds, 2 + 8192 * 10 / (65536 * .45));
    close_room(&r);
}

/* 2 * 10 * 20 * 5 / 1000 s, times 15/10, 30/20 and 25/5. */
TEST(products_of_a_cpu_have_to_be_large) {
    Room r;
    Type f = f32(1);
    OpProducts p = {.count = 1, .b = 1, .m = 10, .n = 20, .k = 5};
    open_room(&r, cpu_text, 1, 1);
    assert_near(cost_product(&r.costs, OP_linear, &p, &f).seconds, 1 + 2 * 1.5 * 1.5 * 5);
    assert_near(cost_product(&r.costs, OP_matmul, &p, &f).seconds, 1 + 2 * 1.5 * 1.5 * 5 * 2);
    close_room(&r);
}

/* Two products of 3 * 40 pairs by 10: 4800 operations. A query sees 4 keys: half of the rate. */
TEST(attention_depends_on_width_and_on_visible_keys) {
    Room r;
    Type f = f32(1), half = {.dtype = DT_BF16, .rank = 1, .dim = {1}};
    OpProducts p = {.count = 2, .b = 3, .m = 10, .n = 10, .k = 10, .pairs = 40};
    open_room(&r, gpu_text, 1, 1);
    assert_near(cost_attention(&r.costs, OP_attention, &p, &f).seconds, 1 + 4800.0 / 50);
    p.count = 4;
    p.again = 1;
    assert_near(cost_attention(&r.costs, OP_attention_grad, &p, &f).seconds, 1 + 12000.0 / 25);
    p = (OpProducts){.count = 2, .b = 1, .m = 10, .n = 10, .k = 100, .pairs = 100};
    assert_near(cost_attention(&r.costs, OP_attention, &p, &f).seconds, 1 + 40.0);
    close_room(&r);
    open_room(&r, cpu_text, 1, 1); /* twice the rate with bf16 */
    p = (OpProducts){.count = 2, .b = 1, .m = 10, .n = 10, .k = 10, .pairs = 100};
    assert_near(cost_attention(&r.costs, OP_attention, &p, &f).seconds, 1 + 40.0);
    assert_near(cost_attention(&r.costs, OP_attention, &p, &half).seconds, 1 + 20.0);
    close_room(&r);
}

TEST(other_kernels_take_as_long_as_bytes_or_operations) {
    Room r;
    open_room(&r, gpu_text, 1, 1);
    assert_near(cost_moved(&r.costs, OP_softmax, 110, 0).seconds, 1 + 0.5 + 10); /* 10 cached */
    assert_near(cost_moved(&r.costs, OP_softmax, 110, 2000).seconds, 1 + 20);
    assert_near(cost_moved(&r.costs, OP_softmax, 10, 0).seconds, 1 + 0.5); /* cached */
    assert_near(cost_moved(&r.costs, OP_rope, 100, 2000).seconds, 1 + 4);  /* by its own row */
    assert_near(cost_moved(&r.costs, OP_gelu, 110, 0).seconds, 1 + 5.5); /* no faster than cached */
    PlanInstr fetch = {.op = OP_fetch};
    assert_near(cost_copy(&r.costs, &fetch, 100).seconds, 1 + 20); /* two ranks share the link */
    close_room(&r);
}

static double collective(Room *r, OpKind op, AxisSet axes, int64_t elements) {
    PlanInstr in = {.op = (uint16_t)op, .n_in = 1, .n_out = 1, .attr.axes = axes};
    r->types[0] = r->types[1] = f32(elements);
    return cost_collective(&r->costs, &in, 0).seconds;
}

/* Nodes have 8 ranks. Of 5 ranks: half-way between rows 2 and 8. */
TEST(collectives_in_a_node_use_its_links) {
    Room r;
    open_room(&r, gpu_text, 1, 8);
    assert_near(collective(&r, OP_unshard, 2, 100), 4 + 10);
    assert_near(collective(&r, OP_all_reduce, 2, 90), 5 + 12);
    close_room(&r);
    open_room(&r, gpu_text, 1, 5);
    assert_near(collective(&r, OP_unshard, 2, 175), 2.5 + 10);
    assert_near(collective(&r, OP_all_reduce, 2, 175), 2 * 12.5); /* row 2 has none of its own */
    assert_near(collective(&r, OP_unshard, 1, 175), 0);           /* of one rank */
    close_room(&r);
}

/* Of 400 bytes two ranks copy a half each into one array; with --overlap on, each copies all. */
TEST(ranks_on_a_cpu_gather_into_one_array) {
    Room r;
    PlanValue part = {.slots = 0};
    uint32_t operand = 0;
    open_room(&r, cpu_text, 1, 2);
    r.plan.values = &part;
    r.plan.operands = &operand;
    r.plan.n_values = 1;
    assert_near(collective(&r, OP_unshard, 2, 100), 1 + 4);
    part.slots = 2; /* where the result has it */
    assert_near(collective(&r, OP_unshard, 2, 100), 2 + 1);
    r.costs.overlaps = true;
    assert_near(collective(&r, OP_unshard, 2, 100), 1 + 4); /* the other's half */
    part.slots = 0;
    assert_near(collective(&r, OP_unshard, 2, 100), 1 + 8);
    close_room(&r);
}

/* 16 ranks in 2 nodes; 1,600 bytes a rank are beyond the ramp, and at full speed. */
TEST(collectives_over_nodes_take_the_faster_protocol) {
    Room r;
    open_room(&r, gpu_text, 1, 16);
    assert_near(collective(&r, OP_reduce_scatter, 2, 6400), 10 + 25600.0 / 20);
    assert_near(collective(&r, OP_reduce_scatter, 2, 4), 1 + 16 / 2.5); /* a byte a rank */
    assert_near(collective(&r, OP_all_reduce, 2, 4), 2 * (1 + 16 / 2.5));
    close_room(&r);
    /* one rank of each of 2 nodes: an eighth of the adapters */
    open_room(&r, gpu_text, 2, 8);
    assert_near(collective(&r, OP_reduce_scatter, 1, 6400), 10 + 25600.0 / 2.5);
    close_room(&r);
    /* 6 nodes: the start goes on growing by 3 a node, and that is said */
    open_room(&r, gpu_text, 1, 48);
    PlanInstr in = {.op = OP_unshard, .n_in = 1, .n_out = 1, .attr.axes = 2};
    r.types[1] = f32(5);
    Cost cost = cost_collective(&r.costs, &in, 0);
    assert_near(cost.seconds, 22 + 1);
    assert_near(cost.from[FROM_EXTRAPOLATED], 23);
    close_room(&r);
}

/* Ranks 0 and 8 are in different nodes. */
TEST(messages_cross_a_link_or_the_fabric) {
    Room r;
    open_room(&r, gpu_text, 1, 16);
    assert_near(cost_message(&r.costs, 100, 0, 0).seconds, 1 + 1);
    assert_near(cost_message(&r.costs, 20000, 0, 1).seconds, 10 + 8000);
    close_room(&r);
}

TEST(origins_are_known_by_their_first_words) {
    assert_int_equal(origin_of("measured, 32 points, 3.1 %"), FROM_MEASURED);
    assert_int_equal(origin_of("data sheet"), FROM_DATA_SHEET);
    assert_int_equal(origin_of("a guess"), FROM_ASSUMED);
}

RUN_TESTS(NULL, NULL)
