/* The tables of the plans in cases: parameters, groups, formulas. Included only by cases.c. */
/* Groups over five parameters of 30, 1, 45, 7 and 100 elements, then three of matrices, wide and
 * tall: flat, whole on every rank, by rows; two ranks. The last two groups have parameters that are
 * cut along axis 1, beside others by rows. */
static const PlanParam params[] = {
    {.flags = 0, .type = {.dtype = DT_F32, .rank = 2, .dim = {5, 6}}},
    {.flags = PARAM_NO_DECAY, .type = {.dtype = DT_F32, .rank = 1, .dim = {1}}},
    {.flags = PARAM_GROUPED,
     .lr_factor = 0.3,
     .weight_decay = 0.7,
     .type = {.dtype = DT_F32, .rank = 3, .dim = {3, 3, 5}}},
    {.flags = PARAM_NO_DECAY | PARAM_GROUPED,
     .lr_factor = 2,
     .weight_decay = 0.7,
     .type = {.dtype = DT_F32, .rank = 1, .dim = {7}}},
    {.flags = 0, .type = {.dtype = DT_F32, .rank = 2, .dim = {4, 25}}},
    {.flags = PARAM_GROUPED,
     .lr_factor = 3,
     .weight_decay = 0.2,
     .type = {.dtype = DT_F32, .rank = 2, .dim = {7, 3}}},
    {.flags = 0, .type = {.dtype = DT_F32, .rank = 2, .dim = {6, 10}}},
    {.flags = 0, .type = {.dtype = DT_F32, .rank = 3, .dim = {3, 4, 5}}}};
static const PlanGroupParam group_params[] = {
    {0, 0, 0, 0},   {1, 0, 32, 0},  {2, 0, 36, 0},  {3, 0, 84, 0},  {4, 0, 92, 0}, {0, 0, 0, 0},
    {2, 0, 32, 0},  {0, 0, 0, 18},  {1, 0, 18, 1},  {2, 0, 19, 30}, {3, 0, 49, 4}, {4, 0, 53, 50},
    {0, 0, 0, 0},   {4, 0, 30, 0},  {5, 0, 132, 0}, {5, 0, 0, 0},   {0, 0, 24, 0}, {0, 0, 0, 18},
    {4, 0, 18, 50}, {5, 0, 68, 12}, {0, 0, 0, 3},   {7, 0, 15, 10}, {3, 0, 45, 4}, {4, 0, 49, 50},
    {0, 0, 0, 3},   {6, 0, 15, 5},  {4, 0, 45, 50}};
static const PlanGroup groups[] = {{.flags = GROUP_TRAINABLE,
                                    .split = 1,
                                    .wire_dtype = DT_F8E4M3,
                                    .n_param = 5,
                                    .unpadded = 192,
                                    .padded = 192,
                                    .shard = 96},
                                   {.flags = GROUP_TRAINABLE,
                                    .first_param = 5,
                                    .wire_dtype = DT_F8E4M3,
                                    .n_param = 2,
                                    .unpadded = 77,
                                    .padded = 77,
                                    .shard = 77},
                                   {.flags = GROUP_TRAINABLE, /* by rows */
                                    .split = 1,
                                    .first_param = 7,
                                    .wire_dtype = DT_F8E4M3,
                                    .n_param = 5,
                                    .unpadded = 206,
                                    .padded = 206,
                                    .shard = 103},
                                   {.flags = GROUP_TRAINABLE | GROUP_MATRICES,
                                    .split = 1,
                                    .first_param = 12,
                                    .n_param = 3,
                                    .unpadded = 153,
                                    .padded = 154,
                                    .shard = 77},
                                   {.flags = GROUP_TRAINABLE | GROUP_MATRICES,
                                    .first_param = 15,
                                    .n_param = 2,
                                    .unpadded = 54,
                                    .padded = 54,
                                    .shard = 54},
                                   {.flags = GROUP_TRAINABLE | GROUP_MATRICES, /* by rows */
                                    .split = 1,
                                    .first_param = 17,
                                    .n_param = 3,
                                    .unpadded = 160,
                                    .padded = 160,
                                    .shard = 80},
                                   {.flags = GROUP_TRAINABLE, /* by columns */
                                    .split = 1,
                                    .first_param = 20,
                                    .wire_dtype = DT_F8E4M3,
                                    .n_param = 4,
                                    .unpadded = 198,
                                    .padded = 198,
                                    .shard = 99},
                                   {.flags = GROUP_TRAINABLE | GROUP_MATRICES, /* by columns */
                                    .split = 1,
                                    .first_param = 24,
                                    .n_param = 3,
                                    .unpadded = 190,
                                    .padded = 190,
                                    .shard = 95}};
#define STEP_OF(function_of, made, n, ...)                                                         \
    { .function = function_of, .dtype = DT_F32, .arg = {__VA_ARGS__}, .result = made, .number = n }
#define MOVE_OF(function_of, made, along, from, n, all, ...)                                       \
    {                                                                                              \
        .function = function_of, .dtype = DT_F32, .arg = {__VA_ARGS__}, .result = made,            \
        .axis = along, .start = from, .count = n, .whole = all                                     \
    }
/* scale, sigmoid_grad; a chain with constants and two results, one of them rounded. */
static const FormulaStep steps[] = {
    STEP_OF(SCALAR_scale, 0, 0.3, 0),
    STEP_OF(SCALAR_sigmoid_grad, 1, 0, 2, 1),
    STEP_OF(SCALAR_constant, 0, 0.5, 0),
    STEP_OF(SCALAR_mul, 0, 0, 0, 1),
    STEP_OF(SCALAR_add, 1, 0, 4, 3),
    STEP_OF(SCALAR_silu, 0, 0, 5),
    STEP_OF(SCALAR_scale, 0, 3, 6),
    STEP_OF(SCALAR_scale, 0, -0.25, 7),
    STEP_OF(SCALAR_where, 2, 0, 2, 7, 8),
    STEP_OF(SCALAR_add, 1, 0, 0, 1),
    STEP_OF(SCALAR_mul, 2, 0, 2, 0),
    /* a norm: its rows' factors are a result */
    STEP_OF(SCALAR_mul, 0, 0, 0, 0),
    STEP_OF(SCALAR_mean, 0, 0, 2),
    STEP_OF(SCALAR_constant, 0, 0.1, 0),
    STEP_OF(SCALAR_add, 0, 0, 3, 4),
    STEP_OF(SCALAR_rsqrt, 1, 0, 5),
    STEP_OF(SCALAR_mul, 0, 0, 0, 6),
    STEP_OF(SCALAR_mul, 2, 0, 7, 1),
    /* softmax, and the slope of its greatest element */
    STEP_OF(SCALAR_max, 1, 0, 0),
    STEP_OF(SCALAR_sub, 0, 0, 0, 2),
    STEP_OF(SCALAR_exp, 0, 0, 3),
    STEP_OF(SCALAR_sum, 0, 0, 4),
    STEP_OF(SCALAR_div, 2, 0, 4, 5),
    STEP_OF(SCALAR_extreme_grad, 3, 0, 1, 0, 2),
    /* sums of values with one number a row, and least elements */
    STEP_OF(SCALAR_mean_grad, 0, 0, 1),
    STEP_OF(SCALAR_sum_to, 1, 0, 2),
    STEP_OF(SCALAR_expand, 2, 0, 1),
    STEP_OF(SCALAR_scale, 0, -1, 0),
    STEP_OF(SCALAR_sum_to, 0, 0, 5),
    STEP_OF(SCALAR_min, 0, 0, 0),
    STEP_OF(SCALAR_add, 3, 0, 6, 7),
    /* rotary in halves, and its gradient by parts that are added */
    MOVE_OF(SCALAR_slice, 0, 3, 5, 5, 0, 0),
    STEP_OF(SCALAR_scale, 0, -1, 3),
    MOVE_OF(SCALAR_slice, 0, 3, 0, 5, 0, 0),
    MOVE_OF(SCALAR_concat, 0, 3, 0, 0, 0, 4, 5),
    STEP_OF(SCALAR_mul, 0, 0, 0, 1),
    STEP_OF(SCALAR_mul, 0, 0, 6, 2),
    STEP_OF(SCALAR_add, 1, 0, 7, 8),
    STEP_OF(SCALAR_mul, 0, 0, 0, 2),
    MOVE_OF(SCALAR_slice, 0, 3, 0, 32, 0, 3),
    MOVE_OF(SCALAR_slice, 0, 3, 32, 32, 0, 3),
    STEP_OF(SCALAR_scale, 0, -1, 4),
    MOVE_OF(SCALAR_slice_grad, 0, 3, 32, 32, 64, 6),
    MOVE_OF(SCALAR_slice_grad, 0, 3, 0, 32, 64, 5),
    STEP_OF(SCALAR_mul, 0, 0, 0, 1),
    STEP_OF(SCALAR_add, 0, 0, 9, 7),
    STEP_OF(SCALAR_add, 1, 0, 10, 8),
    /* rotary of neighbours; one part is a result besides */
    MOVE_OF(SCALAR_split, 2, 4, 0, 2, 0, 0),
    MOVE_OF(SCALAR_split, 0, 4, 1, 2, 0, 0),
    STEP_OF(SCALAR_mul, 0, 0, 3, 1),
    STEP_OF(SCALAR_mul, 0, 0, 4, 2),
    STEP_OF(SCALAR_sub, 0, 0, 5, 6),
    STEP_OF(SCALAR_mul, 0, 0, 4, 1),
    STEP_OF(SCALAR_mul, 0, 0, 3, 2),
    STEP_OF(SCALAR_add, 0, 0, 8, 9),
    MOVE_OF(SCALAR_stack, 1, 4, 0, 0, 0, 7, 10),
    /* a gate and what it opens; three parts of different widths; parts under a new axis */
    MOVE_OF(SCALAR_slice, 0, 1, 0, 24, 0, 0),
    MOVE_OF(SCALAR_slice, 3, 1, 24, 24, 0, 0),
    STEP_OF(SCALAR_silu, 0, 0, 2),
    STEP_OF(SCALAR_mul, 0, 0, 4, 3),
    MOVE_OF(SCALAR_concat_3, 1, 1, 0, 0, 0, 5, 1, 2),
    MOVE_OF(SCALAR_stack_3, 2, 1, 0, 0, 0, 2, 5, 3),
    /* rotary in halves of whole vectors */
    MOVE_OF(SCALAR_slice, 0, 3, 32, 32, 0, 0),
    STEP_OF(SCALAR_scale, 0, -1, 3),
    MOVE_OF(SCALAR_slice, 0, 3, 0, 32, 0, 0),
    MOVE_OF(SCALAR_concat, 0, 3, 0, 0, 0, 4, 5),
    STEP_OF(SCALAR_mul, 0, 0, 0, 1),
    STEP_OF(SCALAR_mul, 0, 0, 6, 2),
    STEP_OF(SCALAR_add, 1, 0, 7, 8),
    /* negatives: of a product, of a factor, of both operands; one is read besides */
    STEP_OF(SCALAR_scale, 0, -1, 0),
    STEP_OF(SCALAR_mul, 0, 0, 2, 1),
    STEP_OF(SCALAR_add, 0, 0, 3, 0),
    STEP_OF(SCALAR_scale, 0, -1, 4),
    STEP_OF(SCALAR_sub, 0, 0, 1, 5),
    STEP_OF(SCALAR_add, 1, 0, 6, 2),
    STEP_OF(SCALAR_mul, 2, 0, 2, 7),
};
static const PlanFormula formulas[] = {{0, 2, 2, 1},  {2, 7, 3, 2},  {9, 2, 2, 2},  {11, 7, 2, 2},
                                       {18, 6, 2, 3}, {24, 7, 2, 3}, {31, 7, 3, 1}, {38, 9, 3, 1},
                                       {47, 9, 3, 2}, {56, 6, 2, 3}, {62, 7, 3, 1}, {69, 7, 2, 2}};
static const PlanField fields[] = {{.staging = 64}};
static const Plan plan = {.params = params,
                          .n_params = ARRAY_LEN(params),
                          .groups = groups,
                          .n_groups = ARRAY_LEN(groups),
                          .group_params = group_params,
                          .n_group_params = ARRAY_LEN(group_params),
                          .formulas = formulas,
                          .n_formulas = ARRAY_LEN(formulas),
                          .steps = steps,
                          .n_steps = ARRAY_LEN(steps),
                          .fields = fields,
                          .n_fields = ARRAY_LEN(fields)};
/* One group alone, by rows or columns: there a parameter is in one group. */
#define PLAN_OF(group)                                                                             \
    {                                                                                              \
        .params = params, .n_params = ARRAY_LEN(params), .groups = groups + (group),               \
        .n_groups = 1, .group_params = group_params, .n_group_params = ARRAY_LEN(group_params)     \
    }
static const Plan row_plan = PLAN_OF(2), column_plan = PLAN_OF(6);

/* Parameters of 9700, 300 and 9600 elements, so of 3, 1 and 3 blocks of i8: flat over two ranks,
 * whole, by rows, and those that have columns by columns. */
static const PlanParam block_params[] = {
    {.type = {.dtype = DT_F32, .rank = 2, .dim = {97, 100}}},
    {.type = {.dtype = DT_F32, .rank = 1, .dim = {300}}},
    {.type = {.dtype = DT_F32, .rank = 2, .dim = {64, 150}}},
};
static const PlanGroupParam block_places[] = {
    {0, 0, 0, 0},    {1, 0, 9712, 0},   {2, 0, 10016, 0},   {0, 0, 0, 0},  {1, 0, 9700, 0},
    {0, 0, 0, 4900}, {1, 0, 4900, 150}, {2, 0, 5050, 4800}, {0, 0, 0, 50}, {2, 0, 4850, 75},
};
#define BLOCK_GROUP(axes, row, n, all)                                                             \
    {                                                                                              \
        .wire_dtype = DT_I8, .split = axes, .first_param = row, .n_param = n, .unpadded = all,     \
        .padded = all, .shard = (all) / (1 + (axes))                                               \
    }
static const PlanGroup block_groups[] = {BLOCK_GROUP(1, 0, 3, 19616), BLOCK_GROUP(0, 3, 2, 10000),
                                         BLOCK_GROUP(1, 5, 3, 19700), BLOCK_GROUP(1, 8, 2, 19300)};
#define BLOCK_PLAN(group, number)                                                                  \
    {                                                                                              \
        .params = block_params, .n_params = ARRAY_LEN(block_params),                               \
        .groups = block_groups + (group), .n_groups = number, .group_params = block_places,        \
        .n_group_params = ARRAY_LEN(block_places)                                                  \
    }
static const Plan block_plan = BLOCK_PLAN(0, 4), block_row_plan = BLOCK_PLAN(2, 1),
                  block_column_plan = BLOCK_PLAN(3, 1);
