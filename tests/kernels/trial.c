/* Prepares a case of cases.h: chooses dtypes, fills inputs, evaluates the reference. */
#include "kernels/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

uint64_t random_state;
uint32_t next_random(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 32);
}
static double uniform(double low, double high) {
    return low + (high - low) * next_random() / 4294967296.0;
}

static float bf16_value(uint16_t x) {
    uint32_t bits = (uint32_t)x << 16;
    float f;
    memcpy(&f, &bits, 4);
    return f;
}
static uint16_t bf16_of(float f) {
    uint32_t bits;
    memcpy(&bits, &f, 4);
    return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

static float f16_value(uint16_t x) {
    int exponent = x >> 10 & 31;
    double fraction = x & 1023, sign = x & 0x8000 ? -1 : 1;
    if (exponent == 31) return (float)(sign * (fraction != 0 ? (double)NAN : (double)INFINITY));
    return (float)(sign * ldexp(exponent ? 1024 + fraction : fraction, MAX(exponent, 1) - 25));
}
/* To nearest, ties to even. */
static uint16_t f16_of(double x) {
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    double size = fabs(x);
    if (isnan(x)) return 0x7e00;
    if (size >= 65520) return sign | 0x7c00;
    int exponent = size < 0x1p-14 ? -14 : ilogb(size);
    double fraction = nearbyint(ldexp(size, 10 - exponent));
    return (uint16_t)(sign + (exponent + 14) * 1024 + (int)fraction);
}

static double f8_value(uint8_t x) {
    int exponent = x >> 3 & 15;
    double fraction = x & 7, sign = x & 0x80 ? -1 : 1;
    if ((x & 0x7f) == 0x7f) return (double)NAN;
    return sign * ldexp(exponent ? 8 + fraction : fraction, MAX(exponent, 1) - 10);
}
/* The nearest one, found by trying all. */
static uint8_t f8_of(double x) {
    uint8_t best = signbit(x) ? 0x80 : 0;
    for (uint8_t k = 1, code; k < 0x7f; k++)
        if (fabs(f8_value(code = (uint8_t)(best & 0x80) + k) - x) < fabs(f8_value(best) - x))
            best = code;
    return best;
}

void put(void *to, int dtype, int64_t i, double x) {
    switch (dtype) {
    case DT_F32: ((float *)to)[i] = (float)x; break;
    case DT_BF16: ((uint16_t *)to)[i] = bf16_of((float)x); break;
    case DT_F16: ((uint16_t *)to)[i] = f16_of((float)x); break;
    case DT_F8E4M3: ((uint8_t *)to)[i] = f8_of(x); break;
    case DT_I8: ((int8_t *)to)[i] = (int8_t)(x > 127 ? x - 256 : x); break;
    case DT_F64: ((double *)to)[i] = x; break;
    case DT_I32: ((int32_t *)to)[i] = (int32_t)x; break;
    case DT_I64: ((int64_t *)to)[i] = (int64_t)x; break;
    default: ((uint8_t *)to)[i] = (uint8_t)x; break;
    }
}
double get(const void *from, int dtype, int64_t i) {
    switch (dtype) {
    case DT_F32: return ((const float *)from)[i];
    case DT_BF16: return bf16_value(((const uint16_t *)from)[i]);
    case DT_F16: return f16_value(((const uint16_t *)from)[i]);
    case DT_F8E4M3: return f8_value(((const uint8_t *)from)[i]);
    case DT_I8: return ((const int8_t *)from)[i];
    case DT_F64: return ((const double *)from)[i];
    case DT_I32: return ((const int32_t *)from)[i];
    case DT_I64: return (double)((const int64_t *)from)[i];
    default: return ((const uint8_t *)from)[i];
    }
}

enum { RUN_BY_EXECUTOR, RUN_BY_DEVICE };
const OpInfo infos[OP_COUNT] = {
#define OP(id, ...) [OP_##id] = {.name = #id, __VA_ARGS__},
#define ALIAS(kind, mask) .alias = ALIAS_##kind, .alias_mask = mask,
#define CLASS(class) .cost_class = CLASS_##class,
#define RUN_BY(who) .launched = RUN_BY_##who,
#define SIGNATURE(text) .signature = text,
#include "ops.def"
};

Type *out_type(Trial *t, int j) { return &t->types[t->c->n_in + j]; }

void choose_types(Trial *t) {
    static const uint32_t halves[PATTERNS] = {0, ~0u, 0x55555555u, 0xAAAAAAAAu, ~0u, 0};
    const Case *c = t->c;
    for (int i = 0; i < c->n_in + c->n_out; i++) {
        t->types[i] = i < c->n_in ? c->in[i].type : c->out[i - c->n_in];
        if (t->types[i].dtype != DT_BF16) continue;
        bool f16 = t->pattern > 2 && !has_fill(c, FILL_WIDE);
        t->types[i].dtype = !(halves[t->pattern] >> i & 1) ? DT_F32 : f16 ? DT_F16 : DT_BF16;
    }
    follow_aliases(t);
}

void follow_aliases(Trial *t) {
    const Case *c = t->c;
    const OpInfo *info = &infos[c->op];
    for (int j = 0; j < c->n_out; j++)
        if (info->alias == ALIAS_MUST && (info->alias_mask >> j & 1))
            t->types[j].dtype = out_type(t, j)->dtype;
    if (info->alias == ALIAS_ACC && (info->alias_mask >> (c->n_in - 1) & 1))
        t->types[c->n_in - 1].dtype = out_type(t, 0)->dtype;
}

void trial_call(const Trial *t, const void *const *in, void *const *out, void *scratch,
                int64_t scratch_bytes, int32_t threads, TrialCall *made) {
    const Case *c = t->c;
    for (int i = 0; i < c->n_in + c->n_out; i++) made->types[i] = &t->types[i];
    AxisRole axis = c->op == OP_part ? AXIS_tp : AXIS_dp; /* an axis that cuts values */
    made->rank = (RankInfo){.plan = c->plan,
                            .rank = c->rank,
                            .threads = threads,
                            .mesh = {1, {{axis, MAX(c->ranks, 1)}}}};
    made->call = (KernelCall){.rank = &made->rank,
                              .op = c->op,
                              .attr = &c->attr,
                              .n_in = (uint32_t)c->n_in,
                              .n_out = (uint32_t)c->n_out,
                              .in = in,
                              .out = out,
                              .in_type = made->types,
                              .out_type = made->types + c->n_in,
                              .workspace = scratch,
                              .workspace_bytes = (uint64_t)scratch_bytes};
}

int64_t trial_scratch(const Trial *t, DeviceKind kind) {
    const Case *c = t->c;
    return op_workspace(c->op, kind, &c->attr, c->n_in, t->types, c->n_out, t->types + c->n_in);
}

bool is_wanted(const char *op) {
    const char *only = getenv("FSDP_KERNELS");
    char list[1024], name[64];
    if (!only) return true;
    snprintf(list, sizeof list, ",%s,", only);
    snprintf(name, sizeof name, ",%s,", op);
    return strstr(list, name) != NULL;
}

static double state_slot(const Trial *t, Fill fill, int64_t i) {
    static const double step[STEP_SLOTS] = {[STEP_LR] = 0.01,
                                            [STEP_BIAS1] = 0.19,
                                            [STEP_BIAS3] = 0.1,
                                            [STEP_BIAS2] = 0.02,
                                            [STEP_SEED_LOW] = 4000000007.0,
                                            [STEP_SEED_HIGH] = 3,
                                            [STEP_FIRST_SAMPLE] = 12345678901,
                                            [STEP_SLOT] = 1,
                                            [STEP_FACTORED] = 0.3,
                                            [STEP_LOSS_SCALE] = 4};
    if (fill == FILL_STEP)
        return i == STEP_INDEX || i == STEP_UPDATES ? t->pattern % 2 * 3 : step[i];
    if (i == SCALE_GRADIENT) return 0.37;
    if (i == SCALE_NORM) return 40;
    if (i == SCALE_SQUARES) return 11;
    return i == SCALE_APPLY ? !t->skipped : 0.5;
}

/* Words of a sum that is positive and finite. */
static double word(int64_t i) {
    if (i == EXACT_COUNT) return 60 + next_random() % 9;
    if (i >= EXACT_BINS) return 0;
    return i == 10 || i == 9 ? (double)(next_random() % 1000000) : (double)(next_random() % 99) - 9;
}

static double number(const Trial *t, Fill fill, int64_t i) {
    int64_t limit = t->c->limit;
    switch (fill) {
    case FILL_NORMAL: return uniform(-1, 1) + uniform(-1, 1);
    case FILL_POSITIVE: return uniform(0.1, 2);
    case FILL_WIDE:
        if (next_random() % 16 == 0) return 0;
        return ldexp(uniform(-1, 1), (int)(next_random() % 200) - 140);
    case FILL_IDS: return (double)(next_random() % (uint32_t)limit);
    case FILL_TARGETS: return i % 4 == 2 ? -100 : (double)(next_random() % (uint32_t)limit);
    case FILL_RUNS: return (double)(i / 37 % limit);
    case FILL_SMALL: return (double)(next_random() % 17) - 8;
    case FILL_STEP:
    case FILL_SCALE: return state_slot(t, fill, i);
    case FILL_WORDS: return word(i);
    case FILL_BYTES: return (double)(next_random() % 256);
    case FILL_DERIVED: return 0;
    }
    return 0;
}

void *copy_of(const void *bytes, int64_t n) {
    void *p = malloc((size_t)n + 1);
    CHECK(p != NULL);
    return memcpy(p, bytes, (size_t)n);
}

int64_t place_of(const Type *t, int64_t i) {
    int64_t width = t->rank ? t->dim[t->rank - 1] : 1;
    return i / width * type_pitch(t) + i % width;
}

void fill_inputs(Trial *t) {
    const Case *c = t->c;
    random_state = 11;
    for (int i = 0; i < c->n_in; i++) {
        int64_t n = type_elements(&t->types[i]);
        t->in[i] = calloc((size_t)n, sizeof(double));
        t->input[i] = malloc((size_t)type_bytes(&t->types[i]));
        CHECK(t->in[i] && t->input[i]);
        /* what lies between rows is nan, and stays so */
        memset(t->input[i], 0xff, (size_t)type_bytes(&t->types[i]));
        for (int64_t k = 0; k < n; k++) {
            int64_t at = place_of(&t->types[i], k);
            put(t->input[i], t->types[i].dtype, at, number(t, c->in[i].fill, k));
            t->in[i][k] = get(t->input[i], t->types[i].dtype, at);
        }
    }
    if (c->derive) c->derive(c, t->in, NULL);
    for (int i = 0; i < c->n_in && c->derive; i++)
        for (int64_t k = 0; k < type_elements(&t->types[i]); k++) {
            int64_t at = place_of(&t->types[i], k);
            put(t->input[i], t->types[i].dtype, at, t->in[i][k]);
            t->in[i][k] = get(t->input[i], t->types[i].dtype, at);
        }
    for (int j = 0; j < c->n_out; j++)
        t->want[j] = calloc((size_t)type_elements(out_type(t, j)), sizeof(double));
    c->reference(c, t->in, t->want);
}

void trial_free(Trial *t) {
    for (int i = 0; i < MAX_CASE_OPERANDS; i++) {
        free(t->in[i]);
        free(t->want[i]);
        free(t->input[i]);
    }
}

/* ---- in place */

/* The axis along which a formula moves parts, or -1. */
static int cut_of(const Case *c) {
    if (c->op != OP_fused) return -1;
    const PlanFormula *f = &c->plan->formulas[c->attr.index];
    for (uint32_t k = f->first_step; k < f->first_step + f->n_step; k++)
        if (scalar_move(c->plan->steps[k].function)) return (int)c->plan->steps[k].axis;
    return -1;
}

static bool same_rows(const Type *x, const Type *y, int cut) {
    for (int k = 0; k < cut; k++)
        if (k >= x->rank || k >= y->rank || x->dim[k] != y->dim[k]) return false;
    return type_elements(x) == type_elements(y);
}

/* Element i of the output is computed of element i of the input, or of its row: the axes are the
 * same ones; where parts are moved, those before these. */
static bool fits(const Trial *t, int i, int j) {
    const Type *x = &t->types[i], *y = &t->types[t->c->n_in + j];
    int cut = cut_of(t->c);
    bool same = x->dtype == y->dtype && x->pitch == y->pitch;
    if (cut >= 0) return same && same_rows(x, y, cut);
    for (int k = 1; k <= MAX_RANK; k++)
        same = same &&
               (k > x->rank ? 1 : x->dim[x->rank - k]) == (k > y->rank ? 1 : y->dim[y->rank - k]);
    return same;
}

static bool is_shared(const int *shared, int n_out, int i) {
    bool is = false;
    for (int j = 0; j < n_out; j++) is |= shared[j] == i;
    return is;
}

/* Gives each output the first input that fits and is free; how many have one. */
static int share_all(const Trial *t, uint32_t mask, int n_out, int *shared) {
    int n = 0;
    for (int j = 0; j < n_out; j++)
        for (int i = 0; i < t->c->n_in && shared[j] < 0; i++)
            if ((mask >> i & 1) && fits(t, i, j) && !is_shared(shared, n_out, i)) {
                shared[j] = i;
                n++;
            }
    return n;
}

bool sharing(const Trial *t, int number, int *shared) {
    const Case *c = t->c;
    const OpInfo *info = &infos[c->op];
    for (int j = 0; j < MAX_CASE_OPERANDS; j++) shared[j] = -1;
    if (info->alias == ALIAS_MUST) {
        for (int j = 0; j < c->n_out; j++)
            if (info->alias_mask >> j & 1) shared[j] = j;
        return number == 0;
    }
    if (info->alias == ALIAS_ACC) {
        shared[0] = c->n_in - 1;
        return number == 0 && (info->alias_mask >> (c->n_in - 1) & 1);
    }
    if (info->alias != ALIAS_MAY && info->alias != ALIAS_EACH) return false;
    int n_out = info->alias == ALIAS_EACH ? c->n_out : 1, found = 0;
    for (int j = 0; j < n_out; j++)
        for (int i = 0; i < c->n_in; i++)
            if ((info->alias_mask >> i & 1) && fits(t, i, j) && found++ == number) {
                shared[j] = i;
                return true;
            }
    return number == found && share_all(t, info->alias_mask, n_out, shared) > 1;
}

enum { MOST_ELEMENT_CASES = 500 };
/* What the operands beside the one in place broadcast along, and how many ways there are. */
typedef enum Beside {
    BESIDE_SAME,
    BESIDE_ROW,
    BESIDE_COLUMN,
    BESIDE_MIDDLE,
    BESIDE_NUMBER,
    BESIDE_MORE_AXES,
    BESIDE_WAYS
} Beside;

static const Type beside[BESIDE_WAYS] = {
    [BESIDE_SAME] = {.dtype = DT_BF16, .rank = 3, .dim = {3, 61, 95}},
    [BESIDE_ROW] = {.dtype = DT_BF16, .rank = 1, .dim = {95}},
    [BESIDE_COLUMN] = {.dtype = DT_BF16, .rank = 2, .dim = {61, 1}},
    [BESIDE_MIDDLE] = {.dtype = DT_BF16, .rank = 3, .dim = {3, 1, 95}},
    [BESIDE_NUMBER] = {.dtype = DT_BF16, .rank = 1, .dim = {1}},
    [BESIDE_MORE_AXES] = {.dtype = DT_BF16, .rank = 4, .dim = {1, 1, 61, 1}},
};
static const Type more_axes = {.dtype = DT_BF16, .rank = 4, .dim = {1, 3, 61, 95}};

static void ref_nothing(const Case *c, double *const *in, double *const *out) {
    (void)c, (void)in, (void)out;
}

static Case element_case(OpKind op, int form, int n_in, int place, Beside way) {
    static char titles[MOST_ELEMENT_CASES][64];
    static int n_titles;
    Case c = {.op = op, .n_in = n_in, .n_out = 1, .reference = ref_nothing};
    c.attr = (Attrs){.alpha = 0.7, .approx = form};
    c.out[0] = way == BESIDE_MORE_AXES ? more_axes : beside[BESIDE_SAME];
    for (int i = 0, next = (int)way; i < n_in; i++) {
        c.in[i] = (CaseOperand){beside[i == place ? BESIDE_SAME : next], FILL_SMALL};
        if (i != place && way != BESIDE_SAME) next = next % BESIDE_NUMBER + 1;
    }
    snprintf(titles[n_titles], sizeof titles[0], "%s over operand %d, way %d", infos[op].name,
             place, (int)way);
    c.title = titles[n_titles++];
    return c;
}

const Case *element_cases(int *n) {
    static const struct {
        OpKind op;
        int form, n_in;
    } functions[] = {
#define SCALAR(op, arity, ...) {OP_##op, 0, arity},
#define SPECIAL(name, op, form, arity, ...) {OP_##op, form, arity},
#include "scalar.def"
    };
    static Case all[MOST_ELEMENT_CASES];
    static int count;
    for (size_t k = 0; k < ARRAY_LEN(functions) && (k || !count); k++) {
        const OpInfo *info = &infos[functions[k].op];
        bool broadcasts = functions[k].n_in > 1 && !strchr(info->signature, '[');
        for (int i = 0; info->alias == ALIAS_MAY && i < functions[k].n_in; i++)
            for (int way = i > 0; way < (broadcasts ? BESIDE_WAYS : 1); way++) {
                CHECK(count < MOST_ELEMENT_CASES);
                all[count++] = element_case(functions[k].op, functions[k].form, functions[k].n_in,
                                            i, (Beside)way);
            }
    }
    *n = count;
    return all;
}

bool has_fill(const Case *c, Fill fill) {
    for (int i = 0; i < c->n_in; i++)
        if (c->in[i].fill == fill) return true;
    return false;
}

static void carry(int64_t *words) {
    for (int k = 0; k + 1 < EXACT_BINS; k++) {
        int64_t up = (words[k] + ((int64_t)1 << (EXACT_BIN_BITS - 1))) >> EXACT_BIN_BITS;
        words[k] -= up * ((int64_t)1 << EXACT_BIN_BITS);
        words[k + 1] += up;
    }
}

/* Of each parameter of the group behind the sums of its rows and columns. */
static void carry_factored(const Case *c, int64_t *words) {
    const PlanGroup *g = &c->plan->groups[c->attr.group];
    for (uint32_t p = 0; p < g->n_param; p++) {
        uint32_t param = c->plan->group_params[g->first_param + p].param;
        words += factor_words(&c->plan->params[param].type);
        carry(words - EXACT_WORDS);
    }
}

void carry_sums(const Case *c, int64_t *words, int64_t n) {
    bool many = c->op == OP_factored_rms || c->op == OP_average;
    if (c->op == OP_factored_sums)
        carry_factored(c, words);
    else if (n == EXACT_WORDS || many)
        for (int64_t at = 0; at + EXACT_WORDS <= n; at += EXACT_WORDS) carry(words + at);
}
