/* Compares the kernels of two device modules.
 *
 *     kernel_compare [--smallest] [--op NAME]... REFERENCE.so OTHER.so
 *     kernel_compare --list | --terms
 *
 * REFERENCE is device_cpu.so, opened with its plain kernels; OTHER is opened as the environment
 * says. Every op with a kernel runs on both devices for each of its cases (tests/kernels/cases.c,
 * and larger ones of large.c) and each mixture of f32 and bf16, with the same inputs. In f32
 * elements may differ by 1e-5 times the sum of their absolute terms (terms.c). A bf16 result may
 * differ by one more rounding, and by one rounding of the terms if a kernel with bf16 operands may
 * round inside (attention's probabilities). Data that are only moved, counted or summed exactly
 * must be equal. Inputs must stay unchanged, and nothing may be written behind an operand. Also
 * compared, bit for bit: the sums over ranks, and two runs of OTHER.
 *
 * Each operand is an allocation of its own, so a memory checker sees every access outside it. With
 * --smallest each op runs once in f32 and once in bf16, in its smallest case, without guard bytes
 * around the operands: for compute-sanitizer.
 *
 * Prints a line for each op: the number of runs, the largest share of the allowed error, and the
 * difference and the allowed one of that element; for differences the types, the worst element and
 * their number. Exit code 1: a kernel differs; 2: a device cannot be opened or has failed, in the
 * case that the message names. --list prints the ops that have kernels, and sums_over_ranks.
 * --terms checks, without a device, that the terms of each result are as large as the result.
 */
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device_module.h"
#include "gpu/large.h"
#include "gpu/terms.h"
#include "interface.h"
#include "ir.h"
#include "util.h"

enum { GUARD = 256, GUARD_BYTE = 0xA5, MAX_THREADS = 8 };

typedef struct Side {
    const Device *device;
    DeviceContext *context;
    int threads;
} Side;

static Side reference, other;
static bool smallest;
static int faults;
/* Of an op: an element's largest share of the allowed error, its difference and what is allowed. */
static struct { double share, difference, allowed; } worst_of_op;
static char running[256]; /* the case under way */

static void say_fault(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say_fault(const char *format, ...) {
    va_list args;
    va_start(args, format);
    if (faults++ < 100) {
        printf("  differs: ");
        vprintf(format, args);
        printf("\n");
        fflush(stdout); /* the next call may be the last */
    }
    va_end(args);
}

/* Whoever waited long enough is told in which case. */
static void on_end(int number) {
    static const char text[] = "compare: ended in ";
    ssize_t n = write(STDERR_FILENO, text, sizeof text - 1);
    n += write(STDERR_FILENO, running, strlen(running));
    n += write(STDERR_FILENO, "\n", 1);
    _exit(n > 0 ? 128 + number : 128);
}

/* ---- devices */

static Side open_side(const char *path, bool plain) {
    char error[ERROR_BYTES] = "";
    Side s = {.threads = (int)MIN(sysconf(_SC_NPROCESSORS_ONLN), (long)MAX_THREADS)};
    s.device = device_needed(path);
    if (s.device->abi != MODULE_INTERFACE) fail_environment("%s: of another build", path);
    char *isa = getenv("FSDP_CPU_ISA"), *product = getenv("FSDP_CPU_MATMUL");
    isa = isa ? strdup(isa) : NULL;
    product = product ? strdup(product) : NULL;
    if (plain) {
        setenv("FSDP_CPU_ISA", "plain", 1);
        setenv("FSDP_CPU_MATMUL", "plain", 1);
    }
    if (s.device->probe(error)) fail_environment("%s", error);
    DeviceOptions options = {.rank = {.threads = s.threads}, .plan_path = ""};
    if (s.device->open(&options, &s.context, error)) fail_environment("%s", error);
    if (isa) setenv("FSDP_CPU_ISA", isa, 1);
    if (!isa) unsetenv("FSDP_CPU_ISA");
    if (product) setenv("FSDP_CPU_MATMUL", product, 1);
    if (!product) unsetenv("FSDP_CPU_MATMUL");
    free(isa);
    free(product);
    return s;
}

static void must(int code, const char *error) {
    if (code) fail_environment("%s: %s", running, error);
}

/* ---- operands in a device's memory */

static int64_t guard(void) { return smallest ? 0 : GUARD; }

/* `bytes` of device memory holding `from`, or all ones, between guards. */
static void *place(const Side *s, const void *from, int64_t bytes) {
    char error[ERROR_BYTES] = "";
    int64_t all = MAX(bytes + 2 * guard(), (int64_t)1);
    char *host = malloc((size_t)all);
    CHECK(host != NULL);
    memset(host, GUARD_BYTE, (size_t)all);
    if (from)
        memcpy(host + guard(), from, (size_t)bytes);
    else
        memset(host + guard(), 0xff, (size_t)bytes);
    void *memory = NULL;
    must(s->device->arena_alloc(s->context, (uint64_t)all, &memory, error), error);
    must(s->device->copy_in(s->context, STREAM_COMPUTE, memory, host, (uint64_t)all, error), error);
    must(s->device->synchronize(s->context, error), error);
    free(host);
    return (char *)memory + guard();
}

/* The bytes of an operand, whose memory is given back; says when a guard was written. */
static void *take(const Side *s, void *at, int64_t bytes, const char *what, const char *operand) {
    char error[ERROR_BYTES] = "", *memory = (char *)at - guard();
    int64_t all = bytes + 2 * guard();
    char *host = malloc((size_t)all + 1);
    CHECK(host != NULL);
    must(s->device->copy_out(s->context, STREAM_COMPUTE, host, memory, (uint64_t)all, error),
         error);
    must(s->device->synchronize(s->context, error), error);
    s->device->arena_free(s->context, memory);
    for (int64_t i = 0; i < guard(); i++)
        if ((uint8_t)host[i] != GUARD_BYTE || (uint8_t)host[guard() + bytes + i] != GUARD_BYTE) {
            say_fault("%s: bytes around %s were written", what, operand);
            break;
        }
    memmove(host, host + guard(), (size_t)bytes);
    return host;
}

/* ---- one run of a kernel */

/* Results by output, to be freed; false when the kernel failed. */
static bool run(const Side *s, Trial *t, void **result, const char *what) {
    const Case *c = t->c;
    const Type *types = t->types;
    void *in[MAX_CASE_OPERANDS], *out[MAX_CASE_OPERANDS];
    char error[ERROR_BYTES] = "";
    int64_t scratch = trial_scratch(t, (DeviceKind)s->device->kind);
    TrialCall made;
    for (int i = 0; i < c->n_in; i++) in[i] = place(s, t->input[i], type_bytes(&types[i]));
    const OpInfo *info = &infos[c->op];
    for (int j = 0; j < c->n_out; j++) {
        bool own = info->alias != ALIAS_MUST || !(info->alias_mask >> j & 1);
        bool sum = j == 0 && info->alias == ALIAS_ACC && (info->alias_mask >> (c->n_in - 1) & 1);
        if (!own)
            out[j] = in[j];
        else if (sum && types[c->n_in - 1].dtype == types[c->n_in + j].dtype)
            out[j] = in[c->n_in - 1];
        else
            out[j] = place(s, NULL, type_bytes(&types[c->n_in + j]));
    }
    void *workspace = place(s, NULL, scratch);
    trial_call(t, (const void *const *)in, out, workspace, scratch, s->threads, &made);
    bool good = s->device->launch(s->context, STREAM_COMPUTE, &made.call, error) == 0 &&
                s->device->synchronize(s->context, error) == 0;
    if (!good) say_fault("%s: %s", what, error);
    free(take(s, workspace, scratch, what, "the workspace"));
    bool taken[MAX_CASE_OPERANDS] = {false};
    for (int j = 0; j < c->n_out; j++) {
        result[j] = take(s, out[j], type_bytes(&types[c->n_in + j]), what, "an output");
        for (int i = 0; i < c->n_in; i++) taken[i] |= out[j] == in[i];
    }
    for (int i = 0; i < c->n_in; i++) {
        if (taken[i]) continue;
        void *after = take(s, in[i], type_bytes(&types[i]), what, "an input");
        if (memcmp(after, t->input[i], (size_t)type_bytes(&types[i])) != 0)
            say_fault("%s: input %d was changed", what, i);
        free(after);
    }
    return good;
}

/* ---- comparison */

/* " bf16[2,3] f32[3] -> bf16[2,3]" */
static void print_types(const Trial *t, char *out, size_t size) {
    size_t n = 0;
    for (int i = 0; i < t->c->n_in + t->c->n_out; i++) {
        const Type *type = &t->types[i];
        Buf text = {0};
        type_print(type, &text);
        if (n < size)
            n += (size_t)snprintf(out + n, size - n, "%s %.*s", i == t->c->n_in ? " ->" : "",
                                  (int)text.n, text.at);
        buf_free(&text);
    }
}

static bool rounds_inside(const Trial *t) {
    if (!judgement_of(t->c->op)->rounds_inside && !t->c->chain) return false;
    for (int i = 0; i < t->c->n_in + t->c->n_out; i++)
        if (dtype_is_half(t->types[i].dtype)) return true;
    return false;
}

/* The share of the allowed error that a difference is. */
static double share_of(double difference, double allowed) {
    double share = difference == 0         ? 0
                   : difference <= allowed ? difference / allowed
                                           : difference / fmax(allowed, 1e-300);
    if (isnan(share)) share = INFINITY;
    if (share > worst_of_op.share) {
        worst_of_op.share = share;
        worst_of_op.difference = difference;
        worst_of_op.allowed = allowed;
    }
    return share;
}

/* Of the words of an exact sum. */
static double share_of_words(const Trial *t, const int64_t *a, const int64_t *b, double terms) {
    bool counts = a[EXACT_COUNT] == b[EXACT_COUNT] && a[EXACT_NONFINITE] == b[EXACT_NONFINITE];
    if (!counts) return share_of(INFINITY, 0);
    if (memcmp(a, b, EXACT_WORDS * sizeof *a) == 0) return 0;
    double difference = fabs(words_value(a) - words_value(b));
    return judgement_of(t->c->op)->rounded_words ? share_of(difference, 1e-5 * terms)
                                                 : share_of(INFINITY, 0);
}

static double share_of_element(const Trial *t, int dtype, double a, double b, double terms) {
    if (a == b || (isnan(a) && isnan(b))) return 0;
    if (judgement_of(t->c->op)->exact) return share_of(INFINITY, 0);
    double allowed = 0;
    if (dtype == DT_F32) allowed = 1e-5 * terms;
    if (dtype == DT_BF16) allowed = 1e-5 * terms + ldexp(fabs(a), -7);
    if (dtype == DT_F16) allowed = 1e-5 * terms + ldexp(fabs(a), -10) + 0x1p-24;
    if (dtype == DT_F64) allowed = 1e-12 * terms;
    if (dtype == DT_I64) allowed = 1e-5 * terms; /* below 1 for what is counted */
    if (dtype != DT_F64 && rounds_inside(t)) allowed += ldexp(terms, -8);
    return share_of(fabs(a - b), allowed);
}

static void compare(Trial *t, void **a, void **b, double *const *terms, const char *what) {
    for (int j = 0; j < t->c->n_out; j++) {
        const Type *type = out_type(t, j);
        bool words = type->dtype == DT_I64 && type_elements(type) == EXACT_WORDS;
        int64_t n = words ? 1 : type_elements(type), worst = 0, wrong = 0, first = 0;
        double share = 0;
        for (int64_t i = 0; i < n; i++) {
            double one =
                words ? share_of_words(t, a[j], b[j], terms[j][0])
                      : share_of_element(t, type->dtype, get(a[j], type->dtype, place_of(type, i)),
                                         get(b[j], type->dtype, place_of(type, i)), terms[j][i]);
            if (one > share) worst = i;
            if (one > 1 && wrong++ == 0) first = i;
            share = fmax(share, one);
        }
        if (share > 1) {
            char types[512] = "";
            print_types(t, types, sizeof types);
            say_fault("%s: output %d, element %lld is %.9g, not %.9g (%.3g times what is allowed); "
                      "%lld of %lld, the first %lld;%s",
                      what, j, (long long)worst, get(b[j], type->dtype, place_of(type, worst)),
                      get(a[j], type->dtype, place_of(type, worst)), share, (long long)wrong,
                      (long long)n, (long long)first, types);
        }
    }
}

static void form_terms(Trial *t, double **terms) {
    choose_types(t);
    fill_inputs(t);
    for (int j = 0; j < t->c->n_out; j++)
        terms[j] = calloc((size_t)type_elements(out_type(t, j)), sizeof(double));
    judgement_of(t->c->op)->terms(t, terms);
}

/* No result is larger than the sum of its absolute terms, which are a bound of its rounding. */
static void check_terms(const Case *c) {
    Trial t = {.c = c};
    double *terms[MAX_CASE_OPERANDS] = {0};
    form_terms(&t, terms);
    for (int j = 0; j < c->n_out; j++) {
        int64_t n = out_type(&t, j)->dtype == DT_I64 ? 0 : type_elements(out_type(&t, j)), i = 0;
        while (i < n && !(fabs(t.want[j][i]) > 1.001 * terms[j][i])) i++;
        if (i < n && isfinite(t.want[j][i]))
            say_fault("%s: output %d, element %lld is %.6g, and its terms %.6g", c->title, j,
                      (long long)i, t.want[j][i], terms[j][i]);
        free(terms[j]);
    }
    trial_free(&t);
}

static void try_case(const Case *c, int pattern) {
    Trial t = {.c = c, .pattern = pattern, .skipped = pattern == PATTERNS - 1};
    void *a[MAX_CASE_OPERANDS] = {0}, *b[MAX_CASE_OPERANDS] = {0}, *again[MAX_CASE_OPERANDS] = {0};
    double *terms[MAX_CASE_OPERANDS] = {0};
    const char *what = running;
    snprintf(running, sizeof running, "%s, mixture %d", c->title, pattern);
    form_terms(&t, terms);
    bool ran = run(&reference, &t, a, what) && run(&other, &t, b, what) &&
               (smallest || run(&other, &t, again, what));
    for (int j = 0; j < c->n_out && ran; j++) {
        const Type *type = out_type(&t, j);
        if (!smallest && memcmp(b[j], again[j], (size_t)type_bytes(type)) != 0)
            say_fault("%s: output %d has other bits in a second run", what, j);
        for (int k = 0; k < 2 && type->dtype == DT_I64; k++)
            carry_sums(c, k ? b[j] : a[j], type_elements(type));
    }
    if (ran) compare(&t, a, b, terms, what);
    for (int j = 0; j < c->n_out; j++) {
        free(a[j]);
        free(b[j]);
        free(again[j]);
        free(terms[j]);
    }
    trial_free(&t);
}

/* ---- the op table */

static int64_t size_of_case(const Case *c) {
    int64_t n = 0;
    for (int i = 0; i < c->n_in; i++) n += type_elements(&c->in[i].type);
    for (int j = 0; j < c->n_out; j++) n += type_elements(&c->out[j]);
    return n;
}

/* The n-th case of an op: those of the kernel test, then the large ones; NULL behind the last. */
static const Case *case_of(int op, int n) {
    for (int k = 0; k < n_cases; k++)
        if ((int)cases[k].op == op && n-- == 0) return &cases[k];
    for (int k = 0; k < n_large_cases; k++)
        if ((int)large_cases[k].op == op && n-- == 0) return &large_cases[k];
    return NULL;
}

static void try_op(int op) {
    const Case *c, *least = NULL;
    int runs = 0, before = faults;
    memset(&worst_of_op, 0, sizeof worst_of_op);
    for (int n = 0; (c = case_of(op, n)) != NULL; n++)
        if (!least || size_of_case(c) < size_of_case(least)) least = c;
    for (int n = 0; (c = case_of(op, n)) != NULL; n++)
        for (int pattern = 0; pattern < PATTERNS; pattern++) {
            if (pattern == PATTERNS - 1 && !has_fill(c, FILL_SCALE)) continue;
            if (smallest && (c != least || pattern > 1)) continue;
            try_case(c, pattern);
            runs++;
        }
    if (runs == 0) say_fault("%s has no case", infos[op].name);
    char worst[64] = "";
    if (worst_of_op.share > 0)
        snprintf(worst, sizeof worst, " (%.2g of %.2g)", worst_of_op.difference,
                 worst_of_op.allowed);
    printf("%-26s %4d runs  %8.4f of the allowed error%s%s\n", infos[op].name, runs,
           worst_of_op.share, worst, faults > before ? "  FAILED" : "");
    fflush(stdout);
}

/* ---- sums over ranks */

#define SUMS "sums_over_ranks"

static void try_reduce(int dtype, int n_from, int64_t n, bool in_place) {
    Type type = {.dtype = (uint8_t)dtype, .rank = 1, .dim = {n}};
    int64_t bytes = type_bytes(&type);
    char error[ERROR_BYTES] = "";
    const char *what = running;
    void *host[4], *result[2];
    snprintf(running, sizeof running, "sum of %d ranks, dtype %d, %lld elements", n_from, dtype,
             (long long)n);
    for (int k = 0; k < n_from; k++) {
        host[k] = calloc(1, (size_t)bytes);
        for (int64_t i = 0; i < n; i++) put(host[k], dtype, i, (double)(next_random() % 4001) / 7);
    }
    for (int side = 0; side < 2; side++) {
        const Side *s = side ? &other : &reference;
        void *from[4];
        for (int k = 0; k < n_from; k++) from[k] = place(s, host[k], bytes);
        void *to = in_place ? from[n_from - 1] : place(s, NULL, bytes);
        must(s->device->reduce(s->context, STREAM_COMPUTE, dtype, to, (const void *const *)from,
                               n_from, n, error),
             error);
        must(s->device->synchronize(s->context, error), error);
        result[side] = take(s, to, bytes, what, "the sum");
        for (int k = 0; k < n_from - (in_place ? 1 : 0); k++)
            free(take(s, from[k], bytes, what, "an operand"));
    }
    if (memcmp(result[0], result[1], (size_t)bytes) != 0) say_fault("%s: other bits", what);
    free(result[0]);
    free(result[1]);
    for (int k = 0; k < n_from; k++) free(host[k]);
}

static void try_reductions(void) {
    static const int dtypes[] = {DT_F32, DT_BF16, DT_F64, DT_I64, DT_I32};
    static const int64_t sizes[] = {1, 24, 1001, 70003};
    int before = faults, runs = 0;
    for (int d = 0; d < (int)ARRAY_LEN(dtypes); d++)
        for (int n_from = 1; n_from <= 4; n_from++)
            for (int s = 0; s < (smallest ? 1 : (int)ARRAY_LEN(sizes)); s++)
                for (int in_place = 0; in_place < 2; in_place++, runs++)
                    try_reduce(dtypes[d], n_from, sizes[s], in_place);
    printf("%-26s %4d runs  equal bits%s\n", SUMS, runs, faults > before ? "  FAILED" : "");
}

static bool has_kernel(int op) { return infos[op].launched; }

static bool is_chosen(const char *name, const char *const *names, int n) {
    bool wanted = n == 0;
    for (int i = 0; i < n; i++) wanted |= strcmp(names[i], name) == 0;
    return wanted;
}

static int check_all_terms(void) {
    for (int k = 0; k < n_cases; k++) check_terms(&cases[k]);
    printf("terms of %d cases: %d faults\n", n_cases, faults);
    return faults ? 1 : 0;
}

int main(int argc, char **argv) {
    if (argc == 2 && !strcmp(argv[1], "--terms")) return check_all_terms();
    const char *only[OP_COUNT + 1];
    int at = 1, n_only = 0;
    for (int op = 0; op < OP_COUNT && argc == 2 && !strcmp(argv[1], "--list"); op++)
        if (has_kernel(op)) printf("%s\n", infos[op].name);
    if (argc == 2 && !strcmp(argv[1], "--list")) printf(SUMS "\n");
    if (argc == 2 && !strcmp(argv[1], "--list")) return 0;
    for (; at + 2 < argc; at++) {
        if (strcmp(argv[at], "--smallest") == 0)
            smallest = true;
        else if (strcmp(argv[at], "--op") == 0 && n_only <= OP_COUNT)
            only[n_only++] = argv[++at];
        else
            break;
    }
    if (argc - at != 2)
        fail_environment("usage: kernel_compare [--smallest] [--op NAME]... REFERENCE.so OTHER.so");
    signal(SIGTERM, on_end);
    reference = open_side(argv[at], true);
    other = open_side(argv[at + 1], false);
    for (int op = 0; op < OP_COUNT; op++)
        if (has_kernel(op) && is_chosen(infos[op].name, only, n_only)) try_op(op);
    if (is_chosen(SUMS, only, n_only)) try_reductions();
    reference.device->close(reference.context);
    other.device->close(other.context);
    printf("%s against %s: %d fault%s\n", other.device->name, reference.device->name, faults,
           faults == 1 ? "" : "s");
    return faults ? 1 : 0;
}
