/* Compares every kernel of the cpu device with its reference in f64 (cases.c), for mixtures of f32,
 * bf16 and f16 operands, on every instruction set of this machine, with 1 and 3 threads (mixtures
 * of dtypes with either), all f32 also with 2, and in place wherever ops.def allows it: column
 * ALIAS says which operands to try. In place, 1 and 3 threads are enough: the partition of rows is
 * tested separately. All but the matrix products and attention must give the same bits each time;
 * attention, the plain product, and oneDNN's product if a matrix is bf16, the same for every number
 * of threads. Nothing may be read or written outside the operands, and inputs that are not shared
 * must stay unchanged.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device_module.h"
#include "kernels/trial.h"
#include "test.h"
#include "util.h"

enum { GUARD = 64, GUARD_BYTE = 0xA5, THREADS = 3, MAX_SETUPS = 20, ISAS = 5 };

/* ---- the devices: instruction sets times threads times ways to multiply */

typedef struct Setup {
    char name[48];
    DeviceContext *context;
    bool onednn;
    int isa, threads;
} Setup;
static const Device *device;
static Setup setups[MAX_SETUPS];
static int n_setups;

static const char *const isa_names[ISAS] = {"plain", "avx2", "avx512", "avx512_bf16", "amx"};
/* The last two differ from avx512 in attention alone. */
static bool differs_in_attention(const Setup *s) { return s->isa > 2; }

static void open_setup(int isa_number, int threads, const char *product) {
    const char *isa = isa_names[isa_number];
    char error[ERROR_BYTES] = "";
    Setup *s = &setups[n_setups];
    DeviceOptions options = {.rank = {.threads = threads}, .plan_path = ""};
    setenv("FSDP_CPU_ISA", isa, 1);
    setenv("FSDP_CPU_MATMUL", product, 1);
    if (device->open(&options, &s->context, error)) {
        print_message("without %s %s: %s\n", isa, product, error);
        return;
    }
    snprintf(s->name, sizeof s->name, "%s, %d threads, %s", isa, threads, product);
    s->onednn = strcmp(product, "onednn") == 0;
    s->isa = isa_number;
    s->threads = threads;
    CHECK(++n_setups < MAX_SETUPS);
}

static int open_all(void **state) {
    (void)state;
    device = device_cpu();
    for (int i = 0; i < ISAS; i++)
        for (int t = 1; t <= THREADS; t++) open_setup(i, t, "plain");
    open_setup(0, THREADS, "onednn");
    for (int t = 1; t <= THREADS; t++) open_setup(2, t, "onednn"); /* packs operands of bf16 */
    return n_setups > 0 ? 0 : -1;
}

static int close_all(void **state) {
    (void)state;
    for (int i = 0; i < n_setups; i++) device->close(setups[i].context);
    return 0;
}

/* ---- what the runs of one case gave */

typedef struct CaseResults {
    void *first[MAX_CASE_OPERANDS];        /* by all but products and attention */
    void *of_isa[ISAS][MAX_CASE_OPERANDS]; /* these, by instruction set */
    void *library[MAX_CASE_OPERANDS];      /* products of oneDNN that are cut into tiles */
} CaseResults;

static void kept_free(CaseResults *k) {
    for (int i = 0; i < MAX_CASE_OPERANDS; i++) {
        free(k->first[i]);
        free(k->library[i]);
        for (int isa = 0; isa < ISAS; isa++) free(k->of_isa[isa][i]);
    }
}

/* ---- one run: output j takes the memory of input shared[j], or its own when that is -1 */

enum { PLACES = 2 * MAX_CASE_OPERANDS + 1, SCRATCH = PLACES - 1 };
typedef struct Run {
    char *in[MAX_CASE_OPERANDS], *out[MAX_CASE_OPERANDS];
    char *scratch;
} Run;

/* Less than MISFIT bytes behind an operand begins a page on which any access, also one by masked
 * vectors or tiles, which no sanitizer sees, ends the program. Each operand has a place, which the
 * next run uses again. */
enum { ROOM = 64 << 20, MISFIT = 16 };
static char *end_of_place(int place) {
    static char *end[PLACES];
    if (!end[place]) {
        char *p = mmap(NULL, 2 * ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(p != MAP_FAILED && mprotect(p, ROOM, PROT_READ | PROT_WRITE) == 0);
        end[place] = p + ROOM;
    }
    return end[place];
}

static int64_t misfit(int64_t bytes) { return -bytes & (MISFIT - 1); }

/* The bytes before and behind are GUARD_BYTE. */
static char *guarded(int place, const void *from, int64_t bytes) {
    CHECK(bytes + GUARD + MISFIT <= ROOM);
    char *end = end_of_place(place), *p = end - misfit(bytes) - bytes;
    memset(p - GUARD, GUARD_BYTE, GUARD);
    memset(p + bytes, GUARD_BYTE, (size_t)misfit(bytes));
    if (from)
        memcpy(p, from, (size_t)bytes);
    else
        memset(p, 0xff, (size_t)bytes);
    return p;
}
static void check_guards(const char *what, const char *p, int64_t bytes) {
    for (int i = -GUARD; i < misfit(bytes); i++)
        if ((uint8_t)p[i < 0 ? i : bytes + i] != GUARD_BYTE)
            fail_msg("%s: wrote outside of its memory", what);
}

/* What lies between rows was 0xff. */
static void check_between(const char *what, const char *p, const Type *t) {
    int64_t width = t->rank ? t->dim[t->rank - 1] : 1, size = dtype_bytes(t->dtype);
    for (int64_t row = 0; t->pitch && row < type_elements(t) / width; row++)
        for (int64_t i = width * size; i < type_pitch(t) * size; i++)
            if ((uint8_t)p[row * type_pitch(t) * size + i] != 0xff)
                fail_msg("%s: wrote between rows", what);
}

static void run(const Setup *s, Trial *t, const int *shared, Run *r, const char *what) {
    const Case *c = t->c;
    const Type *types = t->types;
    int64_t scratch = trial_scratch(t, DEVICE_CPU);
    char error[ERROR_BYTES] = "";
    TrialCall made;
    for (int i = 0; i < c->n_in; i++) r->in[i] = guarded(i, t->input[i], type_bytes(&types[i]));
    for (int j = 0; j < c->n_out; j++)
        r->out[j] = shared[j] >= 0
                        ? r->in[shared[j]]
                        : guarded(MAX_CASE_OPERANDS + j, NULL, type_bytes(&types[c->n_in + j]));
    r->scratch = guarded(SCRATCH, NULL, scratch);
    trial_call(t, (const void *const *)r->in, (void *const *)r->out, r->scratch, scratch,
               s->threads, &made);
    if (device->launch(s->context, STREAM_COMPUTE, &made.call, error))
        fail_msg("%s: %s", what, error);
    check_guards(what, r->scratch, scratch);
    for (int i = 0; i < c->n_in; i++) {
        check_guards(what, r->in[i], type_bytes(&types[i]));
        bool taken = false;
        for (int j = 0; j < c->n_out; j++) taken |= shared[j] == i;
        if (!taken && memcmp(r->in[i], t->input[i], (size_t)type_bytes(&types[i])) != 0)
            fail_msg("%s: input %d was changed", what, i);
    }
    for (int j = 0; j < c->n_out; j++) {
        check_guards(what, r->out[j], type_bytes(&types[c->n_in + j]));
        check_between(what, r->out[j], &types[c->n_in + j]);
    }
}

/* ---- comparisons */

/* A part's result in bf16 is off by 2^-9 of itself before the next part reads it. */
static bool rounds_between(const Trial *t) {
    bool halves = false;
    for (int i = 0; i < t->c->n_in + t->c->n_out; i++) halves |= dtype_is_half(t->types[i].dtype);
    return t->c->chain && halves;
}

/* Attention multiplies bf16 where q, k, v and do are that: then exponentials and gradients of
 * scores are rounded to bf16, too, before they are added up. The largest error measured in these
 * cases, with AMX and with AVX512-BF16, is 1.01 2^-9 of the largest element. */
static bool rounds_within(const Trial *t, const Setup *s) {
    bool bf16 = true;
    for (int i = 0; i < t->c->n_in; i++)
        bf16 &= t->types[i].dtype == DT_BF16 || t->c->in[i].type.dtype != DT_BF16;
    return differs_in_attention(s) && bf16;
}

static void compare(Trial *t, const Run *r, const Setup *setup, const char *what) {
    for (int j = 0; j < t->c->n_out; j++) {
        const Type *type = out_type(t, j);
        if (t->c->exact && type->dtype == DT_I64) continue;
        double largest = 0;
        for (int64_t i = 0; i < type_elements(type); i++)
            if (isfinite(t->want[j][i])) largest = fmax(largest, fabs(t->want[j][i]));
        double of_all = t->c->tolerance * largest;
        if (rounds_between(t)) of_all += ldexp(largest, -8);
        if (rounds_within(t, setup)) of_all += ldexp(1.25 * largest, -9);
        for (int64_t i = 0; i < type_elements(type); i++) {
            double want = t->want[j][i], got = get(r->out[j], type->dtype, place_of(type, i));
            double allowed = of_all;
            if (type->dtype == DT_BF16) allowed += 0x1p-8 * fabs(want);
            if (type->dtype == DT_F16) allowed += 0x1p-11 * fabs(want) + 0x1p-25;
            if (isnan(want) && out_type(t, j)->dtype == DT_I64) continue; /* any word */
            if (isnan(want) ? !isnan(got) : got != want && !(fabs(got - want) <= allowed))
                fail_msg("%s: output %d, element %lld is %.9g, not %.9g (+- %.2g)", what, j,
                         (long long)i, got, want, allowed);
        }
    }
}

/* Equal to what is kept, or kept. */
static void same_bits(Trial *t, void **kept, const Run *r, const char *what) {
    for (int j = 0; j < t->c->n_out; j++) {
        int64_t bytes = type_bytes(out_type(t, j));
        if (!kept[j])
            kept[j] = copy_of(r->out[j], bytes);
        else if (memcmp(kept[j], r->out[j], (size_t)bytes) != 0)
            fail_msg("%s: output %d has other bits than before", what, j);
    }
}

/* What is kept was compared. */
static void judge(Trial *t, void **kept, const Run *r, const Setup *setup, const char *what) {
    if (!kept || !kept[0]) compare(t, r, setup, what);
    if (kept) same_bits(t, kept, r, what);
}

static bool is_one_of(int op, size_t n, const int *ops) {
    for (size_t i = 0; i < n; i++)
        if (ops[i] == op) return true;
    return false;
}

/* By whom the bits were kept that a run must have again; NULL: it may have others. Attention rounds
 * its products once where the instruction set has a fused multiply-add. Products of f32 by oneDNN
 * are cut for the threads, those with a bf16 matrix are not (runtime/devices/cpu/products/tiles.c).
 */
static void **kept_by(const Trial *t, const Setup *setup, CaseResults *all) {
    static const int tiled[] = {OP_linear, OP_linear_grad_input, OP_linear_grad_weight,
                                OP_matmul, OP_matmul_grad_a,     OP_matmul_grad_b};
    int op = (int)t->c->op;
    if (is_attention((int)t->c->op)) return all->of_isa[setup->isa];
    if (!t->c->product) return all->first;
    if (!setup->onednn) return all->of_isa[setup->isa];
    bool f32 = t->types[0].dtype == DT_F32 && t->types[1].dtype == DT_F32 &&
               t->types[t->c->n_in].dtype == DT_F32;
    return is_one_of(op, ARRAY_LEN(tiled), tiled) && !f32 ? all->library : NULL;
}

static bool works_in_place(const Setup *s) { return s->threads != 2; }

/* All f32 and all bf16 meet each number of threads, further mixtures one of them in turn: no kernel
 * deals out rows by their dtype. */
static bool is_tried(const Trial *t, const Setup *s) {
    if (t->pattern == 0) return true;
    if (t->pattern == 1) return s->threads != 2;
    return s->threads == ((t->c - cases + t->pattern) % 2 ? 1 : THREADS);
}

static void run_everywhere(Trial *t, CaseResults *all) {
    static const int apart[MAX_CASE_OPERANDS] = {-1, -1, -1, -1, -1, -1, -1, -1};
    for (int s = 0; s < n_setups; s++) {
        const Setup *setup = &setups[s];
        if (!is_tried(t, setup)) continue;
        if ((setup->onednn && !t->c->product) ||
            (differs_in_attention(setup) && !is_attention((int)t->c->op)))
            continue;
        void **kept = kept_by(t, setup, all);
        char what[1800];
        Run r;
        snprintf(what, sizeof what, "%s, mixture %d, %s", t->c->title, t->pattern, setup->name);
        run(setup, t, apart, &r, what);
        judge(t, kept, &r, setup, what);
        int shared[MAX_CASE_OPERANDS];
        for (int number = 0; works_in_place(setup) && sharing(t, number, shared); number++) {
            snprintf(what, sizeof what, "%s, mixture %d, %s, in place of input %d", t->c->title,
                     t->pattern, setup->name, shared[0]);
            run(setup, t, shared, &r, what);
            judge(t, kept, &r, setup, what);
        }
    }
}

TEST(kernels_agree_with_references) {
    for (int k = 0; k < n_cases; k++) {
        if (!is_wanted(infos[cases[k].op].name)) continue;
        for (int pattern = 0; pattern < PATTERNS; pattern++) {
            /* the last pattern is the update that must leave everything as it is */
            if (pattern == PATTERNS - 1 && !has_fill(&cases[k], FILL_SCALE)) continue;
            Trial t = {.c = &cases[k], .pattern = pattern, .skipped = pattern == PATTERNS - 1};
            choose_types(&t);
            fill_inputs(&t);
            CaseResults kept = {0};
            run_everywhere(&t, &kept);
            kept_free(&kept);
            trial_free(&t);
        }
    }
}

/* ---- in place */

/* Elements that the threads of the cpu device share (runtime/devices/cpu/kernel/kernel.h). */
enum { SHARED_BY_THREADS = 16384 };
/* By op and operand: the most elements that a result had which took the operand's memory; one more.
 */
static int64_t tried[OP_COUNT][MAX_CASE_OPERANDS];

static void note_sharing(const Trial *t, const int *shared) {
    for (int j = 0; j < t->c->n_out; j++) {
        int64_t n = type_elements(&t->types[t->c->n_in + j]) + 1;
        if (shared[j] >= 0) tried[t->c->op][shared[j]] = MAX(tried[t->c->op][shared[j]], n);
    }
}

static void note_case(const Case *c) {
    Trial t = {.c = c};
    int shared[MAX_CASE_OPERANDS];
    choose_types(&t);
    for (int number = 0; sharing(&t, number, shared); number++) note_sharing(&t, shared);
}

TEST(elementwise_ops_work_in_place) {
    static const int apart[MAX_CASE_OPERANDS] = {-1, -1, -1, -1, -1, -1, -1, -1};
    enum { MIXTURES = 3 };
    int n;
    const Case *all = element_cases(&n);
    for (int k = 0; k < n * MIXTURES; k++) {
        Trial t = {.c = &all[k / MIXTURES], .pattern = k % MIXTURES};
        if (!is_wanted(infos[t.c->op].name)) continue;
        choose_types(&t);
        fill_inputs(&t);
        for (int s = 0; s < n_setups; s++) {
            int shared[MAX_CASE_OPERANDS];
            CaseResults kept = {0};
            Run r;
            if (setups[s].onednn || differs_in_attention(&setups[s]) || !works_in_place(&setups[s]))
                continue;
            run(&setups[s], &t, apart, &r, t.c->title);
            same_bits(&t, kept.first, &r, t.c->title);
            for (int number = 0; sharing(&t, number, shared); number++) {
                char what[1800];
                snprintf(what, sizeof what, "%s, mixture %d, %s, in place of input %d", t.c->title,
                         t.pattern, setups[s].name, shared[0]);
                run(&setups[s], &t, shared, &r, what);
                same_bits(&t, kept.first, &r, what);
            }
            kept_free(&kept);
        }
        trial_free(&t);
    }
}

/* Every operand that ops.def lets a result take is taken by one of a case; where the op may also
 * leave it, of a size that threads share. */
TEST(every_alias_is_tried) {
    int n;
    const Case *all = element_cases(&n);
    for (int k = 0; k < n_cases; k++) note_case(&cases[k]);
    for (int k = 0; k < n; k++) note_case(&all[k]);
    for (int op = 0; op < OP_COUNT; op++) {
        const OpInfo *info = &infos[op];
        bool some = info->alias_mask == EVERY_OPERAND, found = false;
        if (!info->launched || info->alias == ALIAS_NONE || info->alias == ALIAS_PACK) continue;
        for (int i = 0; i < MAX_CASE_OPERANDS; i++) {
            bool may = info->alias == ALIAS_MAY || info->alias == ALIAS_EACH;
            bool enough = tried[op][i] > (may ? SHARED_BY_THREADS : 0);
            found |= enough;
            if ((info->alias_mask >> i & 1) && !some && !enough)
                fail_msg("no case has a result of %s in the memory of operand %d, or it is small",
                         info->name, i);
        }
        if (!found) fail_msg("no case has a result of %s in the memory of an operand", info->name);
    }
}

TEST(every_kernel_has_a_case) {
    for (int op = 0; op < OP_COUNT; op++) {
        bool found = !infos[op].launched;
        for (int k = 0; k < n_cases; k++) found |= (int)cases[k].op == op;
        if (!found) fail_msg("no case for %s", infos[op].name);
    }
}

/* ---- exact sums, against integers of any length */

enum { DIGITS = EXACT_BINS + 4 };
typedef struct Integer { /* sum of digit[k] 2^(28 k - 300) */
    int64_t digit[DIGITS];
} Integer;

static void carry(Integer *x) {
    for (int k = 0; k + 1 < DIGITS; k++) {
        int64_t up = x->digit[k] >> EXACT_BIN_BITS;
        x->digit[k] -= up * ((int64_t)1 << EXACT_BIN_BITS);
        x->digit[k + 1] += up;
    }
}

/* Adds an f64 number: a mantissa of 53 bits at the place of its lowest bit. */
static void add_term(Integer *sum, double x) {
    if (x == 0) return;
    int exponent;
    uint64_t mantissa = (uint64_t)ldexp(frexp(x, &exponent), 53);
    int low = exponent - 53 - EXACT_LOWEST_EXPONENT;
    /* small powers have fewer bits than 53: shift the others out */
    while (low < 0) {
        CHECK((mantissa & 1) == 0);
        mantissa >>= 1;
        low++;
    }
    int shift = low % EXACT_BIN_BITS, at = low / EXACT_BIN_BITS;
    for (; mantissa; shift = 0, at++) {
        uint64_t room = (uint64_t)1 << (EXACT_BIN_BITS - shift);
        sum->digit[at] += (int64_t)(mantissa % room << shift);
        mantissa /= room;
    }
    carry(sum);
}

/* |x|^power as the sum takes it. *lost: one more where it counts as not finite. */
static double term(double x, int power, int64_t *lost) {
    x = fabs(x);
    if (power == 3 && x < ldexp(1, CUBE_LOWEST)) return 0;
    bool large = power == 3 && x >= ldexp(1, CUBE_END);
    *lost += large;
    return large ? 0 : power == 1 ? x : power == 2 ? x * x : x * x * x;
}

static void sum_with(const Setup *s, int dtype, int power, const void *x, int64_t n,
                     int64_t *words) {
    Type type = {.dtype = (uint8_t)dtype, .rank = 1, .dim = {n}};
    Type out = {.dtype = DT_I64, .rank = 1, .dim = {EXACT_WORDS}};
    Attrs attr = {.group = -1, .clip_norm = power};
    RankInfo rank = {.threads = s->threads};
    int64_t scratch[64 * EXACT_WORDS];
    char error[ERROR_BYTES];
    KernelCall call = {.rank = &rank,
                       .op = OP_grad_norm,
                       .attr = &attr,
                       .n_in = 1,
                       .n_out = 1,
                       .in = (const void *const[]){x},
                       .out = (void *const[]){words},
                       .in_type = (const Type *const[]){&type},
                       .out_type = (const Type *const[]){&out},
                       .workspace = scratch,
                       .workspace_bytes = sizeof scratch};
    assert_int_equal(device->launch(s->context, STREAM_COMPUTE, &call, error), 0);
}

static void is_sum(const int64_t *words, const Integer *want, int64_t lost) {
    Integer got = {{0}};
    memcpy(got.digit, words, EXACT_BINS * sizeof *words);
    carry(&got);
    assert_memory_equal(&got, want, sizeof got);
    assert_int_equal(words[EXACT_NONFINITE], lost);
}

/* Random bits of a number, finite unless of cubes. */
static uint32_t random_number(int dtype, int scale) {
    uint32_t bits = next_random();
    if (scale == 0) bits &= 0x807fffffu;                       /* denormal */
    if (scale == 1) bits = (bits & 0x83ffffffu) | 0x3c000000u; /* similar sizes */
    if (scale == 2) bits |= 0x40000000u;                       /* up to the largest */
    if ((bits & 0x7f800000u) == 0x7f800000u) bits &= ~0x00800000u;
    return dtype == DT_BF16 ? bits & 0xffff0000u : bits;
}

static void put_bits(void *x, int dtype, int64_t at, uint32_t bits) {
    int64_t size = dtype_bytes(dtype);
    memcpy((char *)x + at * size, (char *)&bits + 4 - size, (size_t)size);
}

static void powers_are_summed_exactly(int dtype, int power) {
    enum { N = 40001 };
    int64_t size = dtype_bytes(dtype);
    char *x = malloc((size_t)(N * size));
    random_state = 5;
    for (int scale = 0; scale < 4; scale++) {
        Integer want = {{0}};
        int64_t lost = 0;
        for (int i = 0; i < N; i++) {
            uint32_t bits = random_number(dtype, scale);
            float value;
            memcpy(&value, &bits, 4);
            put_bits(x, dtype, i, bits);
            add_term(&want, term((double)value, power, &lost));
        }
        int64_t first[EXACT_WORDS];
        for (int s = 0; s < n_setups; s++) {
            int64_t words[EXACT_WORDS], parts[EXACT_WORDS] = {0};
            sum_with(&setups[s], dtype, power, x, N, words);
            if (s == 0) memcpy(first, words, sizeof first);
            assert_memory_equal(first, words, sizeof first);
            is_sum(words, &want, lost);
            for (int64_t at = 0, n; at < N; at += n) {
                n = 1 + next_random() % 9999;
                n = MIN(n, N - at);
                sum_with(&setups[s], dtype, power, x + at * size, n, words);
                for (int k = 0; k < EXACT_WORDS; k++) parts[k] += words[k];
            }
            is_sum(parts, &want, lost);
        }
    }
    put_bits(x, dtype, 7, 0x7f800000u);     /* inf */
    put_bits(x, dtype, N - 1, 0x7fc00000u); /* nan */
    memset(x + 8 * size, 0, (size_t)((N - 9) * size));
    int64_t words[EXACT_WORDS];
    sum_with(&setups[0], dtype, power, x + 7 * size, N - 7, words);
    assert_int_equal(words[EXACT_NONFINITE], 2);
    free(x);
}

TEST(norms_are_summed_exactly) {
    for (int power = 1; power <= MOST_NORM; power++) {
        powers_are_summed_exactly(DT_F32, power);
        powers_are_summed_exactly(DT_BF16, power);
    }
}

RUN_TESTS(open_all, close_all)
