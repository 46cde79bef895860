/* Constants with which foresight/step predicts the points best.
 *
 * Groups are fitted one by one: a search changes one constant after the other by a factor, as long
 * as the mean of |log(predicted / measured)| falls, by ever smaller factors. All is done twice: at
 * first without every fourth shape, and how well those are predicted is what a plan of other shapes
 * may expect. What the row of an op lacks, or an op that was not measured, is predicted by the row
 * of its class.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "plan_work.h"

/* ---- which constants the time of an instruction rests on ---- */

/* clang-format off */
static const MeasureStart
    link[] = {{"bytes_s", 5e9, 2e11, true}, {"start_s", 1e-5, 2e-5, true}, {0}},
    measure_attention[] = {{"forward_flops_s", 1e10, 2e14, true},
                           {"backward_flops_s", 1e10, 2e14, true},
                           {"fill_keys", 32, 300, false}, {0}},
    measure_product[] = {{"flops_s", 5e10, 5e14, true}, {"start_s", 1e-6, 5e-6, true},
                         {"fill_m", 4, 0, false}, {"fill_n", 8, 0, false},
                         {"fill_k", 16, 200, false}, {0}},
    measure_reduced[] = {{"all_reduce_bytes_s", 2e9, 1e11, true},
                         {"all_reduce_start_s", 2e-5, 4e-5, true}, {0}},
    measure_placed[] = {{"in_place_bytes_s", 5e10, 0, true},
                        {"in_place_start_s", 1e-5, 0, true}, {0}},
    measure_moved[] = {{"bytes_s", 5e9, 2e12, true}, {"cached_bytes_s", 1e10, 0, false},
                       {"flops_s", 5e9, 1e13, false}, {0}};
/* clang-format on */

/* The group of constants of a kernel, and in *start those of them that are fitted. */
static const char *kernel_group(Arena *a, const PlanInstr *in, const MeasureStart **start,
                                Type *type) {
    OpKind op = (OpKind)in->op;
    OpProducts of =
        op_products(op, &in->attr, (int)in->n_in, type, (int)in->n_out, type + in->n_in);
    switch ((OpClass)op_info[op].cost_class) {
    case CLASS_PRODUCT:
        *start = measure_product;
        return arena_printf(a, "products.%s", dtype_name(type->dtype));
    case CLASS_ATTENTION:
        *start = measure_attention;
        return arena_printf(a, "attention.%lld", (long long)of.k);
    case CLASS_COPY: *start = link; return op == OP_fetch ? "copies.fetch" : "copies.evict";
    case CLASS_ELEMENTS:
    case CLASS_ROWS:
    case CLASS_SCATTERED:
    case CLASS_UPDATE: *start = measure_moved; return arena_printf(a, "ops.%s", op_info[op].name);
    case OP_CLASSES: break;
    }
    BUG("%s has no class", op_info[op].name);
}

/* Sets group and start. types: space for the most of an instruction. */
static void measure_group(const Measured *m, MeasurePoint *point, Type *types) {
    const Plan *p = &m->plan[point->variant];
    const PlanInstr *in = &p->instrs[point->instr];
    plan_types(p, in, types);
    if (in->n_in) point->type = dtype_name(types->dtype);
    if (op_info[in->op].launched) point->group = kernel_group(m->arena, in, &point->start, types);
    if (op_info[in->op].effect != EFFECT_COMM || m->ranks < 2) return;
    bool placed = m->kind == DEVICE_CPU && cost_in_place(p, in);
    point->start = in->op == OP_all_reduce ? measure_reduced : placed ? measure_placed : link;
    point->group = arena_printf(m->arena, "links.%lld", (long long)m->ranks);
}

enum {
    MOST_CONSTANTS = 8,
    FEW = 4,
    HELD_BACK = 4 /* one in */,
    LAUNCH = 40 /* the quickest one in */
};

typedef struct Search {
    Measured *m;
    Costs costs[MEASURE_VARIANTS];
    VEC(MeasurePoint *) points;        /* of the group */
    uint32_t constant[MOST_CONSTANTS]; /* of the machine */
    double start[MOST_CONSTANTS];      /* of the search, */
    double other[MOST_CONSTANTS];      /* and of another one */
    bool optional[MOST_CONSTANTS];     /* predictions do without it */
    uint32_t n;
} Search;

/* ---- the machine */

static uint32_t set_constant(Measured *m, const char *path, double value, const char *from) {
    uint32_t i = 0;
    while (i < m->machine->constants.n && strcmp(m->machine->constants.at[i].path, path)) i++;
    MachineConstant c = {.path = path, .value = value, .from = from};
    if (i == m->machine->constants.n)
        vec_push(m->arena, &m->machine->constants, c);
    else
        m->machine->constants.at[i] = c;
    return i;
}

static double *value_of(Search *s, uint32_t k) {
    return &s->m->machine->constants.at[s->constant[k]].value;
}

/* ---- the search */

static double seconds_of(Search *s, const MeasurePoint *p) {
    Costs *c = &s->costs[p->variant];
    return fmax(cost_anew(c, &c->plan->instrs[p->instr], 0).seconds, 1e-9);
}

/* Points count by the root of their seconds: large ones decide what a step takes, small ones are
 * many. */
static double mean_error(Search *s) {
    double error = 0, weights = 0;
    for (uint32_t i = 0; i < s->points.n; i++) {
        const MeasurePoint *p = s->points.at[i];
        if (p->held_back && !s->m->all) continue;
        double weight = sqrt(p->seconds);
        error += weight * fabs(log(seconds_of(s, p) / p->seconds));
        weights += weight;
    }
    return weights > 0 ? error / weights : 0;
}

/* Tries constant k times the factor, and keeps that if the error falls. */
static bool try_factor(Search *s, uint32_t k, double factor, double *best) {
    double before = *value_of(s, k);
    if (!machine_allows(s->m->machine->constants.at[s->constant[k]].path, before * factor))
        return false;
    *value_of(s, k) = before * factor;
    double error = mean_error(s);
    bool better = error < *best - 1e-5;
    if (better)
        *best = error;
    else
        *value_of(s, k) = before;
    return better;
}

/* The error of the constants that it found. */
static double search_constants(Search *s) {
    double best = mean_error(s);
    for (double step = 4; step > 1.01;) {
        bool better = false;
        for (uint32_t k = 0; k < s->n; k++)
            while (try_factor(s, k, step, &best) || try_factor(s, k, 1 / step, &best))
                better = true;
        if (!better) step = sqrt(step);
    }
    return best;
}

/* The same with the better of two starts: from that of a class whose ops have little in common a
 * search may not find back. */
static double search_from_both(Search *s) {
    double first = search_constants(s), kept[MOST_CONSTANTS];
    if (!memcmp(s->start, s->other, s->n * sizeof *s->start)) return first;
    for (uint32_t k = 0; k < s->n; k++) {
        kept[k] = *value_of(s, k);
        *value_of(s, k) = s->other[k];
    }
    double second = search_constants(s);
    if (second < first) return second;
    for (uint32_t k = 0; k < s->n; k++) *value_of(s, k) = kept[k];
    return first;
}

/* ---- groups */

/* Points, and the constants that are fitted to them. */
typedef struct Choice {
    const MeasurePoint *like; /* of the group of this one .. */
    int class;                /* .. or, if not -1, of all groups of this class of ops */
    bool same_op;             /* or all of its op and type, whatever their group */
    const char *path;         /* of the constants */
    const MeasureStart *start;
} Choice;

static OpKind op_of(const Measured *m, const MeasurePoint *p) {
    return (OpKind)m->plan[p->variant].instrs[p->instr].op;
}

static bool is_chosen(const Measured *m, const MeasurePoint *p, const Choice *c) {
    if (c->class >= 0)
        return p->start == measure_moved && op_info[op_of(m, p)].cost_class == c->class;
    if (p->start != c->like->start) return false;
    if (c->same_op) return op_of(m, p) == op_of(m, c->like) && !strcmp(p->type, c->like->type);
    return !strcmp(p->group, c->like->group);
}

static void choose_points(Search *s, const Choice *c) {
    s->points.n = 0;
    for (uint32_t i = 0; i < s->m->points.n; i++)
        if (is_chosen(s->m, &s->m->points.at[i], c))
            vec_push(s->m->arena, &s->points, &s->m->points.at[i]);
}

/* Is c->like the first point of the choice? At the others it has been fitted already. */
static bool is_first(const Measured *m, const Choice *c) {
    const MeasurePoint *p = m->points.at;
    while (!is_chosen(m, p, c)) p++;
    return p == c->like;
}

/* Where the search of a constant starts: ops at that of their class, attention at that of another
 * width. */
static MachineConstant start_of(const Measured *m, const MeasurePoint *p, const MeasureStart *start,
                                double assumed) {
    int class = op_info[m->plan[p->variant].instrs[p->instr].op].cost_class;
    const char *of_class =
        arena_printf(m->arena, "ops.%s.%s", word_of(&words_OpClass, class), start->key);
    const char *of_width =
        arena_printf(m->arena, "attention.%lld.%s",
                     (long long)machine_largest(m->machine, "attention"), start->key);
    const MachineConstant *c = p->start == measure_moved       ? machine_find(m->machine, of_class)
                               : p->start == measure_attention ? machine_find(m->machine, of_width)
                                                               : NULL;
    if (c) return *c;
    return (MachineConstant){.value = assumed, .from = "assumed"};
}

/* Puts the constants of the group into the machine, and chooses those to fit: what predictions
 * need, then others, one for each two points, since fewer points do not determine more constants.
 */
static void choose_constants(Search *s, const char *group, const MeasureStart *start) {
    Measured *m = s->m;
    uint32_t most = MAX(s->points.n / 2, 1);
    for (s->n = 0; start->key; start++) {
        double assumed = m->kind == DEVICE_CUDA ? start->cuda : start->cpu;
        MachineConstant c = start_of(m, s->points.at[0], start, assumed);
        const char *path = arena_printf(m->arena, "%s.%s", group, start->key);
        bool fitted = start->needed || s->n < most;
        if (!c.value || (!fitted && !c.path)) continue;
        uint32_t i = set_constant(m, path, c.value, c.from);
        if (!fitted) continue;
        s->start[s->n] = c.value;
        s->other[s->n] = assumed ? assumed : c.value;
        s->optional[s->n] = !start->needed && !c.path;
        s->constant[s->n++] = i;
    }
}

static void drop_constant(Machine *m, uint32_t i) {
    MachineConstant *at = m->constants.at;
    memmove(&at[i], &at[i + 1], (--m->constants.n - i) * sizeof *at);
}

static bool is_moved(Search *s) {
    for (uint32_t k = 0; k < s->n; k++)
        if (*value_of(s, k) != s->start[k]) return true;
    return false;
}

static bool makes_difference(Search *s, uint32_t k) {
    double *value = value_of(s, k), kept = *value, error = mean_error(s);
    *value = kept * 1.01;
    bool differs = mean_error(s) != error;
    *value = kept;
    return differs;
}

/* A constant that was left where it started and makes no difference keeps its origin, or goes if
 * predictions do without it. */
static void name_origins(Search *s, double error) {
    const char *from = arena_printf(s->m->arena, "measured, %u point%s, %.1f %%", s->points.n,
                                    s->points.n == 1 ? "" : "s", 100 * error);
    for (uint32_t k = s->n; k-- > 0;) {
        MachineConstant *c = &s->m->machine->constants.at[s->constant[k]];
        if (c->value != s->start[k] || makes_difference(s, k))
            c->from = from;
        else if (s->optional[k])
            drop_constant(s->m->machine, s->constant[k]);
    }
}

/* Memory is not faster than a cache: a larger constant makes no difference (cost_moved). */
static void cap_memory(Measured *m, const char *group) {
    const char *path = arena_printf(m->arena, "%s.bytes_s", group);
    const MachineConstant *memory = machine_find(m->machine, path);
    const MachineConstant *cache =
        machine_find(m->machine, arena_printf(m->arena, "%s.cached_bytes_s", group));
    if (memory && cache && memory->value > cache->value)
        set_constant(m, path, cache->value, cache->from);
}

/* The constants of all-reduces may be missing, and are where points are few: the all-reduces of
 * many plans are those of single numbers only. */
static uint32_t least_points(const MeasureStart *start) {
    return start == measure_reduced ? FEW : 1;
}

/* The error of the points, times their number. */
static double fit_choice(Measured *m, const Choice *choice) {
    Search s = {.m = m};
    choose_points(&s, choice);
    if (s.points.n < least_points(choice->start)) return 0;
    uint32_t before = m->machine->constants.n;
    choose_constants(&s, choice->path, choice->start);
    Arena *scratch = arena_new();
    for (int v = 0; v < MEASURE_VARIANTS; v++)
        if (m->seen[v]) s.costs[v] = costs_of(&m->plan[v], m->machine, scratch);
    double error = exp(search_from_both(&s)) - 1;
    if (choice->class < 0 && choice->start == measure_moved && !is_moved(&s))
        m->machine->constants.n = before; /* the row of the class says the same */
    else
        name_origins(&s, error);
    cap_memory(m, choice->path);
    arena_free(scratch);
    return error * s.points.n;
}

static double fit_classes(Measured *m) {
    double error = 0;
    for (uint32_t i = 0; i < m->points.n; i++) {
        const MeasurePoint *p = &m->points.at[i];
        if (p->start != measure_moved) continue;
        Choice c = {.like = p, .class = op_info[op_of(m, p)].cost_class, .start = measure_moved};
        c.path = arena_printf(m->arena, "ops.%s", word_of(&words_OpClass, c.class));
        if (is_first(m, &c)) error += fit_choice(m, &c);
    }
    return error;
}

static void fit_groups(Measured *m) {
    for (uint32_t i = 0; i < m->points.n; i++) {
        const MeasurePoint *p = &m->points.at[i];
        Choice c = {.like = p, .class = -1, .path = p->group, .start = p->start};
        if (is_first(m, &c)) fit_choice(m, &c);
    }
}

/* On a CPU each op of products and attention has a factor on the rate, for each type. */
static void fit_factors(Measured *m) {
    for (uint32_t i = 0; i < m->points.n && m->kind == DEVICE_CPU; i++) {
        const MeasurePoint *p = &m->points.at[i];
        if (p->start != measure_product && p->start != measure_attention) continue;
        Choice c = {.like = p, .class = -1, .same_op = true};
        c.path = arena_printf(m->arena, "ops.%s", op_info[op_of(m, p)].name);
        MeasureStart factor[] = {{p->type, 1, 0, false}, {0}};
        c.start = factor;
        if (is_first(m, &c)) fit_choice(m, &c);
    }
}

/* The mean error of all points, or of those that are held back. */
static double judge_points(Measured *m, bool held_back, uint32_t *n) {
    Search s = {.m = m};
    Arena *scratch = arena_new();
    double error = 0;
    *n = 0;
    for (int v = 0; v < MEASURE_VARIANTS; v++)
        if (m->seen[v]) s.costs[v] = costs_of(&m->plan[v], m->machine, scratch);
    for (uint32_t i = 0; i < m->points.n; i++) {
        const MeasurePoint *p = &m->points.at[i];
        if (held_back && !p->held_back) continue;
        error += fabs(seconds_of(&s, p) / p->seconds - 1);
        ++*n;
    }
    arena_free(scratch);
    return error / MAX(*n, 1);
}

/* ---- points */

static int by_key(const void *a, const void *b) {
    const MeasurePoint *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

static int by_seconds(const void *a, const void *b) {
    const MeasurePoint *x = a, *y = b;
    return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

/* Groups the points; of instructions that are alike, the median remains. */
static void merge_points(Measured *m) {
    Type *types = NULL;
    uint32_t n = 0, kept = 0;
    for (int v = 0; v < MEASURE_VARIANTS; v++) n = MAX(n, plan_most_types(&m->plan[v]));
    types = arena_array(m->arena, Type, n + 1);
    for (uint32_t i = 0; i < m->points.n; i++) {
        MeasurePoint p = m->points.at[i];
        Costs c = {.plan = &m->plan[p.variant], .types = types};
        p.key = cost_key(&c, &c.plan->instrs[p.instr], 0);
        measure_group(m, &p, types);
        p.held_back = p.key % HELD_BACK == 0;
        if (p.group && p.seconds > 0) m->points.at[kept++] = p;
    }
    qsort(m->points.at, kept, sizeof(MeasurePoint), by_key);
    m->points.n = 0;
    for (uint32_t i = 0, same; i < kept; i += same) {
        for (same = 1; i + same < kept && m->points.at[i + same].key == m->points.at[i].key;)
            same++;
        m->points.at[m->points.n++] = m->points.at[i + same / 2];
    }
}

/* What the quickest kernels take. */
static void set_launch(Measured *m) {
    MeasurePoint *moved = arena_array(m->arena, MeasurePoint, m->points.n + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->points.n; i++)
        if (m->points.at[i].start == measure_moved) moved[n++] = m->points.at[i];
    qsort(moved, n, sizeof *moved, by_seconds);
    if (!n) return;
    set_constant(m, "device.launch_s", moved[n / LAUNCH].seconds,
                 arena_printf(m->arena, "measured, %u point%s", n, n == 1 ? "" : "s"));
}

/* Of the sizes that caches have, the one with which kernels are predicted best. */
static void set_cache(Measured *m) {
    double best = INFINITY, size = 0;
    if (m->kind == DEVICE_CUDA) return;
    for (double bytes = 1 << 18; bytes <= 1 << 28; bytes *= 2) {
        set_constant(m, "device.cache_bytes", bytes, "fitted");
        double error = fit_classes(m);
        if (error < best) size = bytes;
        best = fmin(best, error);
    }
    set_constant(m, "device.cache_bytes", size, "fitted");
}

/* The new machine file: the constants of the one that was given, before anything is fitted. */
static void begin_machine(Measured *m) {
    m->machine = arena_new_of(m->arena, Machine);
    *m->machine = (Machine){.diags = m->diags, .file = "the new machine file", .kind = m->kind};
    for (uint32_t i = 0; m->base && i < m->base->constants.n; i++)
        vec_push(m->arena, &m->machine->constants, m->base->constants.at[i]);
    if (m->cores) set_constant(m, "device.cores", m->cores, "threads of a rank");
    if (m->memory)
        set_constant(m, "device.memory_bytes", m->memory, "memory of the host, a rank's part");
}

static void fit_machine(Measured *m) {
    begin_machine(m);
    set_launch(m);
    set_cache(m);
    fit_classes(m);
    fit_groups(m);
    fit_factors(m);
}

void measure_fit(Measured *m) {
    uint32_t n;
    merge_points(m);
    fit_machine(m);
    m->held_error = judge_points(m, true, &m->n_held);
    m->all = true;
    fit_machine(m);
    m->error = judge_points(m, false, &n);
}
