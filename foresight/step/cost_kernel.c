/* Kernels: products, attention, what moves bytes, copies to and from host memory.
 *
 * Products on a GPU come in tiles, one to a multiprocessor at a time, so that their time is that of
 * whole waves; a library chooses tiles, and into how many parts k is split. A CPU has no waves, but
 * needs some rows, columns and depth to reach its rate.
 */
#include <math.h>
#include <string.h>

#include "step.h"

/* ---- which constants seconds come from ---- */

const char *const origin_words[ORIGINS] = {"measured",   "fitted",       "published",
                                           "data sheet", "extrapolated", "assumed"};

Origin origin_of(const char *from) {
    for (int o = 0; o < ORIGINS; o++)
        if (!strncmp(from, origin_words[o], strlen(origin_words[o]))) return (Origin)o;
    return FROM_ASSUMED;
}

void cost_add(Cost *c, double seconds, Origin origin) {
    c->seconds += seconds;
    c->from[origin] += seconds;
}

const MachineConstant *cost_find(Costs *c, const char *path) {
    return machine_find(c->machine, path);
}

double cost_need(Costs *c, const char *path, Origin *origin) {
    const MachineConstant *found = machine_find(c->machine, path);
    *origin = found ? origin_of(found->from) : FROM_ASSUMED;
    if (found) return found->value;
    if (c->complete) machine_need(c->machine, path);
    c->complete = false;
    return 1;
}

/* ---- launches ---- */

static double constant_or(Costs *c, const char *path, double missing) {
    const MachineConstant *found = cost_find(c, path);
    return found ? found->value : missing;
}

static Cost start_cost(Costs *c, Occupies occupies) {
    Origin origin;
    Cost cost = {.occupies = occupies};
    double launch = cost_need(c, "device.launch_s", &origin);
    cost_add(&cost, launch, origin);
    return cost;
}

/* ---- products */

static double parts(double n, double size) { return ceil(n / size); }

/* Seconds of the best choice of tiles and splits, without the start. rate: operations per second of
 * one multiprocessor. */
static double tiled_seconds(const OpProducts *p, double cores, double rate, double fill_k) {
    /* rows, columns, and how much of the rate the tile reaches */
    static const double tiles[][3] = {{128, 256, 1}, {256, 128, 1}, {128, 128, .85},
                                      {64, 128, .7}, {128, 64, .7}, {64, 64, .45}};
    enum { MOST_SPLITS = 8 };
    double best = INFINITY;
    for (size_t t = 0; t < ARRAY_LEN(tiles); t++) {
        double rows = tiles[t][0], columns = tiles[t][1];
        double n = (double)p->b * parts((double)p->m, rows) * parts((double)p->n, columns);
        for (int split = 1; split <= MOST_SPLITS; split++) {
            double waves = parts(n * split, cores), depth = (double)p->k / split + fill_k;
            best = fmin(best, waves * 2 * rows * columns * depth / (rate * tiles[t][2]));
        }
    }
    return best;
}

static double filled(int64_t n, double fill) { return ((double)n + fill) / (double)n; }

/* On a CPU an op has a rate of its own with each type. */
static double op_factor(Costs *c, OpKind op, const Type *factor) {
    const char *type = dtype_name(factor->dtype);
    if (c->machine->kind == DEVICE_CUDA) return 1;
    return constant_or(c, arena_printf(c->arena, "ops.%s.%s", op_info[op].name, type), 1);
}

Cost cost_product(Costs *c, OpKind op, const OpProducts *p, const Type *factor) {
    const char *type = dtype_name(factor->dtype);
    const char *group = arena_printf(c->arena, "products.%s", type);
    Origin rate_origin, start_origin, cores_origin;
    Cost cost = {.occupies = OCCUPIES_CORES};
    double rate = cost_need(c, arena_printf(c->arena, "%s.flops_s", group), &rate_origin) *
                  constant_or(c, arena_printf(c->arena, "%s.sustained", group), 1);
    double start = cost_need(c, arena_printf(c->arena, "%s.start_s", group), &start_origin);
    double fill_k = constant_or(c, arena_printf(c->arena, "%s.fill_k", group), 0), seconds;
    if (c->machine->kind == DEVICE_CUDA) {
        double cores = cost_need(c, "device.cores", &cores_origin);
        seconds = tiled_seconds(p, cores, rate / cores, fill_k);
    } else {
        double fill_m = constant_or(c, arena_printf(c->arena, "%s.fill_m", group), 0);
        double fill_n = constant_or(c, arena_printf(c->arena, "%s.fill_n", group), 0);
        rate *= op_factor(c, op, factor);
        seconds = 2 * (double)p->b * (double)p->m * (double)p->n * (double)p->k / rate *
                  filled(p->m, fill_m) * filled(p->n, fill_n) * filled(p->k, fill_k);
    }
    cost_add(&cost, start, start_origin);
    cost_add(&cost, seconds * (double)p->count, rate_origin);
    return cost;
}

/* ---- attention */

/* The rate of the narrowest row of the file that is as wide, else of the widest. */
static int64_t row_of_width(Costs *c, int64_t width) {
    int64_t below, above;
    machine_neighbours(c->machine, "attention", width, &below, &above);
    return above ? above : below;
}

Cost cost_attention(Costs *c, OpKind op, const OpProducts *p, const Type *factor) {
    Cost cost = start_cost(c, OCCUPIES_CORES);
    Origin origin;
    long long row = row_of_width(c, p->k);
    const char *group = arena_printf(c->arena, "attention.%lld", row ? row : (long long)p->k);
    const char *rate_path =
        arena_printf(c->arena, "%s.%s_flops_s", group, p->again ? "backward" : "forward");
    double rate = cost_need(c, rate_path, &origin) * op_factor(c, op, factor);
    double fill = constant_or(c, arena_printf(c->arena, "%s.fill_keys", group), 0);
    double pairs = (double)p->b * p->pairs;
    double keys = fmax(p->pairs / (double)p->m, 1); /* that a query sees */
    double flops = 2 * (double)(p->count + p->again) * pairs * (double)p->k;
    cost_add(&cost, flops / rate * (keys + fill) / keys, origin);
    return cost;
}

/* ---- what moves bytes */

/* The machine file's group for the op: its own one if that has bytes_s, else that of its class. */
static const char *machine_group_of(Costs *c, OpKind op) {
    const char *own = arena_printf(c->arena, "ops.%s", op_info[op].name);
    if (cost_find(c, arena_printf(c->arena, "%s.bytes_s", own))) return own;
    return arena_printf(c->arena, "ops.%s", word_of(&words_OpClass, op_info[op].cost_class));
}

Cost cost_moved(Costs *c, OpKind op, double bytes, double flops) {
    Cost cost = start_cost(c, OCCUPIES_MEMORY);
    Origin origin;
    const char *group = machine_group_of(c, op);
    const MachineConstant *rate = cost_find(c, arena_printf(c->arena, "%s.flops_s", group));
    const MachineConstant *cached =
        cost_find(c, arena_printf(c->arena, "%s.cached_bytes_s", group));
    double speed = cost_need(c, arena_printf(c->arena, "%s.bytes_s", group), &origin);
    if (cached) speed = fmin(speed, cached->value); /* memory is not faster than a cache */
    double near = cached ? fmin(bytes, constant_or(c, "device.cache_bytes", 0)) : 0;
    double moving = (bytes - near) / speed + (cached ? near / cached->value : 0);
    double computing = rate ? flops / rate->value : 0;
    if (cached && near == bytes) origin = origin_of(cached->from);
    if (computing > moving) origin = origin_of(rate->from);
    cost_add(&cost, fmax(moving, computing), origin);
    return cost;
}

static void add_cost(Cost *sum, const Cost *part, double times) {
    sum->seconds += part->seconds * times;
    for (int k = 0; k < ORIGINS; k++) sum->from[k] += part->from[k] * times;
}

/* Adds one product of every chunk, [m, k] by [k, n]. */
static void add_product(Costs *c, Cost *sum, OpKind op, double chunks, int64_t m, int64_t n,
                        int64_t k) {
    OpProducts p = {.count = 1, .b = 1, .m = m, .n = n, .k = k, .pairs = (double)m * (double)n};
    Cost part = cost_product(c, op, &p, c->types);
    add_cost(sum, &part, chunks);
}

Cost cost_chunks(Costs *c, const PlanInstr *in) {
    Cost sum = {.occupies = OCCUPIES_CORES};
    const Type *x = &c->types[0], *chunk = &c->types[in->n_in + in->n_out - 1];
    int64_t d = last_dim(x), o = last_dim(chunk), rows = type_elements(x) / d;
    int64_t most = chunk->dim[0], chunks = (rows + most - 1) / most, m = rows / chunks;
    double bytes = (double)m * (double)o * dtype_bytes(chunk->dtype);
    bool trains = in->op == OP_linear_cross_entropy_both;
    Cost loss = cost_moved(c, trains ? OP_cross_entropy_both : OP_cross_entropy,
                           trains ? 2 * bytes : bytes, 0);
    add_product(c, &sum, OP_linear, (double)chunks, m, o, d);
    add_cost(&sum, &loss, (double)chunks);
    if (!trains) return sum;
    add_product(c, &sum, OP_linear_grad_input, (double)chunks, m, d, o);
    add_product(c, &sum, OP_linear_grad_weight, (double)chunks, o, d, m);
    /* the gradient of the weight is read and written once more for each further chunk */
    Cost added = cost_moved(c, OP_accumulate, 2 * (double)type_bytes(&c->types[in->n_in + 1]), 0);
    add_cost(&sum, &added, (double)(chunks - 1));
    return sum;
}

/* A copy of the host's arena, or of the file that backs it. */
Cost cost_copy(Costs *c, const PlanInstr *in, double bytes) {
    bool fetch = in->op == OP_fetch, file = c->plan->settings->host_path != 0;
    const char *word = fetch ? "fetch" : "evict";
    Origin start_origin, origin;
    Cost cost = {.occupies = fetch ? OCCUPIES_FETCH : OCCUPIES_EVICT};
    double start = cost_need(c, arena_printf(c->arena, "copies.%s.start_s", word), &start_origin);
    double speed = cost_need(c, arena_printf(c->arena, "copies.%s.bytes_s", word), &origin);
    double ranks = constant_or(c, "sharing.copy_ranks", 1);
    cost_add(&cost, start, start_origin);
    double seconds = bytes / speed * ranks;
    if (file) {
        Origin of_disk;
        double disk = cost_need(c, fetch ? "disk.read_bytes_s" : "disk.write_bytes_s", &of_disk);
        if (bytes / disk > seconds) origin = of_disk;
        seconds = fmax(seconds, bytes / disk);
    }
    cost_add(&cost, seconds, origin);
    return cost;
}
