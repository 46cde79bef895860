/* Compares every kernel of a cuda device with the references in f64 (tests/kernels/cases.c), for
 * mixtures of f32 and bf16 operands, in separate memory and in place: kernels [MODULE.so [PART [few
 * | one | bf16 | halves | turns]]]. PART selects cases by their titles. `few` skips mixtures and
 * large attention; `bf16` runs all bf16, aligned, `halves` all bf16 and all f16; `one` runs each
 * case once, in f32 or bf16 in turn, without attention of many queries: for modules that watch
 * each access. With `turns`, each case runs in what `one` leaves out and in one further mixture, a
 * different one from case to case, so that each op meets each mixture if it has enough cases; the
 * first is aligned, in every second case not aligned too; the other is not aligned and not in
 * place; and large attention is all bf16: as much as an emulated GPU has time for. Without an
 * argument it is `turns` on the emulated device next to this program. A GPU tries all. The norm
 * must be exactly the sum of the cpu device.
 *
 * Operands lie in one arena, with guards of 256 bytes of 0xff (numbers that are nan) around each,
 * in every second run at addresses that are only aligned to their elements. Prints a line for each
 * op with the largest share of the tolerance that was used; exit code 1 if anything was wrong.
 */
#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device_module.h"
#include "kernels/trial.h"
#include "util.h"

enum { GUARD = 256, ARENA = 64 << 20, MIXTURES = 8 };
/* More elements of queries than these make attention large, and too much to watch each access. */
enum { MANY = 60000, MANY_WATCHED = 15000 };

static const Device *device, *cpu;
static DeviceContext *context, *cpu_context;
static char *arena, *image; /* on the device; what it held before a run, and after it */
static uint64_t used;
static int faults;
static double share[OP_COUNT];
static int trials[OP_COUNT];

static void complain(const char *what, const char *why) {
    if (faults++ < 40) printf("%s: %s\n", what, why);
}

/* ---- operands */

/* Mixtures: all f32; all bf16; inputs bf16 and results f32; and mixtures; all f16, and a mixture
 * with f16, unless inputs are too wide for it. Where bf16 may be:
 * operands that the case gives as bf16, and derived ones that follow the compute dtype. */
static void choose_mixture(Trial *t) {
    const Case *c = t->c;
    for (int i = 0; i < c->n_in + c->n_out; i++) {
        bool in = i < c->n_in;
        Type *type = &t->types[i];
        *type = in ? c->in[i].type : c->out[i - c->n_in];
        bool o = in && c->in[i].fill == FILL_DERIVED && type->rank == 4;
        if (type->dtype != DT_BF16 && !o) continue;
        int mixed = (i * 7 + t->pattern) % 3;
        bool f16 = t->pattern > 4 && t->pattern < MIXTURES - 1 && !has_fill(c, FILL_WIDE);
        bool half = t->pattern == 1 || t->pattern == 5 || (t->pattern == 2 && in) ||
                    (t->pattern > 2 && t->pattern < MIXTURES - 1 && mixed == 0);
        type->dtype = !half ? DT_F32 : f16 ? DT_F16 : DT_BF16;
    }
    follow_aliases(t);
}

static void *zeroed(int64_t n) {
    void *p = calloc((size_t)n + 1, 1);
    CHECK(p != NULL);
    return p;
}

/* ---- one run: output j takes the memory of input shared[j], or its own when that is -1 */

typedef struct Placing {
    uint64_t in[MAX_CASE_OPERANDS], out[MAX_CASE_OPERANDS], scratch, scratch_bytes;
} Placing;

static uint64_t place(uint64_t bytes, uint64_t shift) {
    uint64_t at = align_up(used, 256) + GUARD + shift;
    used = at + bytes + GUARD;
    CHECK(used <= ARENA);
    return at;
}

static void lay_out(const Trial *t, const int *shared, bool aligned, Placing *p) {
    const Case *c = t->c;
    used = 0;
    for (int i = 0; i < c->n_in; i++)
        p->in[i] =
            place((uint64_t)type_bytes(&t->types[i]), aligned ? 0 : dtype_bytes(t->types[i].dtype));
    for (int j = 0; j < c->n_out; j++)
        p->out[j] = shared[j] >= 0 ? p->in[shared[j]]
                                   : place((uint64_t)type_bytes(&t->types[c->n_in + j]),
                                           aligned ? 0 : dtype_bytes(t->types[c->n_in + j].dtype));
    p->scratch_bytes = (uint64_t)trial_scratch(t, DEVICE_CUDA);
    p->scratch = place(p->scratch_bytes, 0);
    memset(image, 0xff, used);
    for (int i = 0; i < c->n_in; i++)
        memcpy(image + p->in[i], t->input[i], (size_t)type_bytes(&t->types[i]));
}

static int launch(const Trial *t, const Placing *p, char *error) {
    const void *in[MAX_CASE_OPERANDS];
    void *out[MAX_CASE_OPERANDS];
    TrialCall made;
    for (int i = 0; i < t->c->n_in; i++) in[i] = arena + p->in[i];
    for (int j = 0; j < t->c->n_out; j++) out[j] = arena + p->out[j];
    trial_call(t, in, out, arena + p->scratch, (int64_t)p->scratch_bytes, 1, &made);
    int code = device->copy_in(context, STREAM_COMPUTE, arena, image, used, error);
    if (!code) code = device->launch(context, STREAM_COMPUTE, &made.call, error);
    uint64_t end = p->scratch + p->scratch_bytes; /* nobody looks into the workspace */
    if (!code) code = device->copy_out(context, STREAM_COMPUTE, image, arena, p->scratch, error);
    if (!code)
        code =
            device->copy_out(context, STREAM_COMPUTE, image + end, arena + end, used - end, error);
    return code ? code : device->synchronize(context, error);
}

/* Everything outside of outputs and workspace is as it was. */
static void check_untouched(const Trial *t, const Placing *p, const int *shared, const char *what) {
    const Case *c = t->c;
    for (int i = 0; i < c->n_in; i++) {
        bool taken = false;
        for (int j = 0; j < c->n_out; j++) taken |= shared[j] == i;
        if (!taken && memcmp(image + p->in[i], t->input[i], (size_t)type_bytes(&t->types[i])) != 0)
            complain(what, "an input was changed");
    }
    for (int i = 0; i < c->n_in + c->n_out + 1; i++) {
        uint64_t at = i < c->n_in              ? p->in[i]
                      : i < c->n_in + c->n_out ? p->out[i - c->n_in]
                                               : p->scratch;
        uint64_t n = i < c->n_in + c->n_out ? (uint64_t)type_bytes(&t->types[i]) : p->scratch_bytes;
        for (int k = 0; k < GUARD; k++)
            if ((uint8_t)image[at - 1 - (uint64_t)k] != 0xff ||
                (uint8_t)image[at + n + (uint64_t)k] != 0xff) {
                complain(what, "wrote outside of its memory");
                return;
            }
    }
}

/* What lies between rows was 0xff, in every input and output. */
static void check_between(const Trial *t, const Placing *p, const char *what) {
    for (int j = 0; j < t->c->n_out; j++) {
        const Type *type = &t->types[t->c->n_in + j];
        int64_t width = type->rank ? type->dim[type->rank - 1] : 1, size = dtype_bytes(type->dtype);
        const char *at = image + p->out[j];
        for (int64_t row = 0; type->pitch && row < type_elements(type) / width; row++)
            for (int64_t i = width * size; i < type_pitch(type) * size; i++)
                if ((uint8_t)at[row * type_pitch(type) * size + i] != 0xff) {
                    complain(what, "wrote between rows");
                    return;
                }
    }
}

static void compare(const Trial *t, const Placing *p, const char *what) {
    const Case *c = t->c;
    bool halves = false; /* bf16 attention and chains of parts round what they use again */
    for (int i = 0; i < c->n_in && (is_attention((int)c->op) || c->chain); i++)
        halves |= dtype_is_half(t->types[i].dtype);
    for (int j = 0; j < c->n_out; j++) {
        const Type *type = &t->types[c->n_in + j];
        if (c->exact && type->dtype == DT_I64) continue;
        if (type->dtype == DT_I64)
            carry_sums(c, (int64_t *)(image + p->out[j]), type_elements(type));
        double largest = 0;
        for (int64_t i = 0; i < type_elements(type); i++)
            if (isfinite(t->want[j][i])) largest = fmax(largest, fabs(t->want[j][i]));
        for (int64_t i = 0; i < type_elements(type); i++) {
            double want = t->want[j][i];
            double got = get(image + p->out[j], type->dtype, place_of(type, i));
            double allowed = c->tolerance * largest + (halves ? ldexp(largest, -7) : 0);
            if (type->dtype == DT_BF16) allowed += ldexp(fabs(want), -8);
            if (type->dtype == DT_F16) allowed += ldexp(fabs(want), -11) + 0x1p-25;
            if (isnan(want) && type->dtype == DT_I64) continue; /* any word */
            double error = isnan(want) ? (isnan(got) ? 0 : INFINITY) : fabs(got - want);
            if (got == want) error = 0; /* infinite ones too */
            if (allowed > 0 && error <= allowed) share[c->op] = fmax(share[c->op], error / allowed);
            if (error == 0 || error <= allowed) continue;
            char why[160];
            snprintf(why, sizeof why, "output %d, element %lld is %.9g, not %.9g (+- %.2g)", j,
                     (long long)i, got, want, allowed);
            complain(what, why);
            break;
        }
    }
}

/* The same sum as the cpu device, or (a loss, whose rows are rounded) nearly the same. */
static void compare_words(const Trial *t, const Placing *p, const char *what) {
    const Case *c = t->c;
    if (!cpu || !c->exact) return;
    int64_t want[EXACT_WORDS], got[EXACT_WORDS], scratch_bytes = trial_scratch(t, DEVICE_CPU);
    void *scratch = zeroed(scratch_bytes), *out[MAX_CASE_OPERANDS];
    int words = 0; /* which output is the sum */
    while (c->out[words].dtype != DT_I64) words++;
    for (int j = 0; j < c->n_out; j++)
        out[j] = j == words ? want : zeroed(type_bytes(&t->types[c->n_in + j]));
    char error[ERROR_BYTES];
    TrialCall made;
    trial_call(t, (const void *const *)t->input, out, scratch, scratch_bytes, 1, &made);
    CHECK(cpu->launch(cpu_context, STREAM_COMPUTE, &made.call, error) == 0);
    memcpy(got, image + p->out[words], sizeof got);
    free(scratch);
    for (int j = 0; j < c->n_out; j++)
        if (j != words) free(out[j]);
    double a = 0, b = 0;
    for (int k = 0; k < EXACT_BINS; k++) {
        a += ldexp((double)want[k], EXACT_BIN_BITS * k + EXACT_LOWEST_EXPONENT);
        b += ldexp((double)got[k], EXACT_BIN_BITS * k + EXACT_LOWEST_EXPONENT);
    }
    carry_sums(c, want, EXACT_WORDS);
    carry_sums(c, got, EXACT_WORDS);
    bool same = c->op == OP_grad_norm ? memcmp(want, got, sizeof got) == 0
                                      : want[EXACT_COUNT] == got[EXACT_COUNT] &&
                                            want[EXACT_NONFINITE] == got[EXACT_NONFINITE] &&
                                            fabs(a - b) <= 1e-6 * fabs(a);
    if (!same) complain(what, "the exact sum differs from the cpu device's");
}

static void run(const Trial *t, const int *shared, bool aligned) {
    char what[160], error[ERROR_BYTES] = "";
    Placing p;
    snprintf(what, sizeof what, "%s, mixture %d, %s, in place of %d", t->c->title, t->pattern,
             aligned ? "aligned" : "not aligned", shared[0]);
    trials[t->c->op]++;
    lay_out(t, shared, aligned, &p);
    if (launch(t, &p, error)) {
        complain(what, error);
        return;
    }
    check_untouched(t, &p, shared, what);
    check_between(t, &p, what);
    compare(t, &p, what);
    compare_words(t, &p, what);
}

/* An elementwise op in place has the bits that it has apart; all f32, or all bf16. */
static void run_element(const Case *c, bool half) {
    static const int apart[MAX_CASE_OPERANDS] = {-1, -1, -1, -1, -1, -1, -1, -1};
    char error[ERROR_BYTES] = "", what[160];
    int shared[MAX_CASE_OPERANDS];
    Placing p;
    Trial t = {.c = c, .pattern = half};
    choose_mixture(&t);
    fill_inputs(&t);
    uint64_t bytes = (uint64_t)type_bytes(&t.types[c->n_in]);
    lay_out(&t, apart, true, &p);
    int code = launch(&t, &p, error);
    void *kept = zeroed((int64_t)bytes);
    memcpy(kept, image + p.out[0], bytes);
    for (int number = 0; sharing(&t, number, shared) && !code; number++) {
        snprintf(what, sizeof what, "%s, mixture %d, in place of %d", c->title, half, shared[0]);
        trials[c->op]++;
        lay_out(&t, shared, true, &p);
        code = launch(&t, &p, error);
        if (!code) check_untouched(&t, &p, shared, what);
        if (!code && memcmp(kept, image + p.out[0], bytes)) complain(what, "it has other bits");
    }
    if (code) complain(c->title, error);
    free(kept);
    trial_free(&t);
}

typedef enum Choice { ALL, IN_TURN, FEW, HALVES, ONE, BF16 } Choice; /* of mixtures */

/* The last mixture is the update that must leave everything as it is. */
static bool is_tried(const Case *c, int pattern, Choice choice) {
    int number = (int)(c - cases);
    if (choice == BF16) return pattern == 1;
    int64_t queries = is_attention((int)c->op) ? type_elements(&c->in[0].type) : 0;
    bool large = queries > MANY, watched = queries <= MANY_WATCHED;
    if (choice == ONE && !watched) return false;
    if (large && choice != ALL) return choice == IN_TURN && pattern == 1;
    if (pattern == MIXTURES - 1) return has_fill(c, FILL_SCALE);
    if (choice == ONE) return pattern == number % 2;
    if (choice == HALVES) return pattern == 1 || pattern == 5;
    if (pattern < 2) return choice != IN_TURN || !watched || pattern != number % 2;
    return choice == ALL || (choice == IN_TURN && pattern == 2 + number % (MIXTURES - 3));
}

/* Forms of whole eights are for aligned operands of one dtype; what is not aligned or mixed goes
 * another way, which is the same for all dtypes. */
static void run_apart(const Trial *t, Choice choice) {
    static const int apart[MAX_CASE_OPERANDS] = {-1, -1, -1, -1, -1, -1, -1, -1};
    int pattern = t->pattern, number = (int)(t->c - cases);
    for (int k = 0; k < 2; k++) {
        bool aligned = pattern % 2 != k, of_one_dtype = pattern < 2 || t->skipped;
        bool in_turn = aligned ? of_one_dtype : !of_one_dtype || (pattern < 2 && number / 2 % 2);
        bool both = pattern < 3 && choice != ONE && choice != BF16;
        if (choice == IN_TURN ? in_turn : k == 0 || both) run(t, apart, aligned);
    }
}

static void run_case(const Case *c, Choice choice) {
    for (int pattern = 0; pattern < MIXTURES; pattern++) {
        if (!is_tried(c, pattern, choice)) continue;
        Trial t = {.c = c, .pattern = pattern, .skipped = pattern == MIXTURES - 1};
        int shared[MAX_CASE_OPERANDS];
        choose_mixture(&t);
        fill_inputs(&t);
        run_apart(&t, choice);
        bool in_place = choice != ONE && (choice != IN_TURN || pattern < 2 || t.skipped);
        for (int number = 0; in_place && sharing(&t, number, shared); number++)
            run(&t, shared, true);
        trial_free(&t);
    }
}

static const Device *load(const char *path, DeviceContext **out, bool needed) {
    char error[ERROR_BYTES] = "";
    const Device *d = needed ? device_needed(path) : device_load(path);
    if (!d) return NULL;
    DeviceOptions options = {.rank = {.threads = 1}, .plan_path = ""};
    if (d->probe(error) || d->open(&options, out, error)) fail_environment("%s", error);
    return d;
}

int main(int argc, char **argv) {
    char exe[PATH_MAX] = {0}, path[PATH_MAX + 64], error[ERROR_BYTES] = "";
    CHECK(readlink("/proc/self/exe", exe, sizeof exe - 1) > 0);
    char *folder = dirname(exe);
    snprintf(path, sizeof path, "%s/../device_cpu.so", folder);
    cpu = load(path, &cpu_context, false);
    snprintf(path, sizeof path, "%s/modules/device_cuda_emulated.so", folder);
    device = load(argc > 1 ? argv[1] : path, &context, true);
    void *memory;
    if (device->arena_alloc(context, ARENA, &memory, error)) fail_environment("%s", error);
    arena = memory;
    image = malloc(ARENA);
    CHECK(image != NULL);
    const char *only = argc > 2 ? argv[2] : "";
    const char *word = argc > 3 ? argv[3] : argc > 1 ? "all" : "turns";
    Choice choice = !strcmp(word, "few")      ? FEW
                    : !strcmp(word, "one")    ? ONE
                    : !strcmp(word, "bf16")   ? BF16
                    : !strcmp(word, "halves") ? HALVES
                    : !strcmp(word, "turns")  ? IN_TURN
                                              : ALL;
    for (int i = 0; i < n_cases; i++)
        if (strstr(cases[i].title, only)) run_case(&cases[i], choice);
    int n_elements;
    const Case *elements = element_cases(&n_elements);
    for (int i = 0; i < n_elements; i++)
        if (strstr(elements[i].title, only) && choice != ONE) run_element(&elements[i], i % 2);
    int missing = 0;
    for (int op = 0; op < OP_COUNT; op++) {
        if (!infos[op].launched) continue;
        if (trials[op] == 0) missing++;
        printf("%-24s %4d runs, %3.0f %% of the tolerance\n", infos[op].name, trials[op],
               100 * share[op]);
    }
    device->arena_free(context, arena);
    device->close(context);
    if (cpu) cpu->close(cpu_context);
    free(image);
    printf("%d wrong, %d ops without a run\n", faults, *only ? 0 : missing);
    return faults || (missing && !*only);
}
