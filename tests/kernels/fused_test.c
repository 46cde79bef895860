/* Ops that replace several others have the same bits: each op with parts (column PARTS of ops.def)
 * is compared with its parts, on the cpu device, in f32 and bf16, with widths and rows that end in
 * the middle of vectors and blocks.
 */
#include <string.h>

#include "kernels/launch.h"
#include "parts.h"
#include "signature.h"
#include "test.h"

/* What an op and its parts compute with: r rows, letters of d elements (the first: d + 3). */
typedef struct Bench {
    OpKind op;
    int dtype, reduce; /* of activations; of gradients of parameters */
    int64_t r, d;
    int n_in;
    Tensor in[8], out[8], inner[MOST_INNER], want[8];
} Bench;

static int dtype_of(const Bench *b, const Slot *slot) {
    if (slot->dtype < DT_COUNT) return slot->dtype;
    return slot->dtype == WANT_GRAD ? b->reduce : b->dtype;
}

/* Scratch is not compared; it has room for all rows. */
static bool is_scratch(const Bench *b, const Slot *slot) {
    const char *scratch = op_info[b->op].scratch;
    return scratch && !strcmp(scratch, slot->name);
}

/* A tensor for an operand or a result of the op's signature. */
static Tensor of_slot(const Bench *b, const Slot *slot) {
    int64_t size[2] = {0};
    if (slot->dtype == DT_I64) return words();
    if (is_scratch(b, slot)) return tensor(b->dtype, b->r, b->d);
    for (int k = 0; k < slot->n_axes; k++) {
        bool rows = slot->axis[k].kind == AXIS_SEQUENCE;
        size[k] = rows ? b->r : b->d + (slot->axis[k].which ? 0 : 3);
    }
    if (slot->n_axes == 2) return tensor(dtype_of(b, slot), size[0], size[1]);
    bool rows = slot->axis[0].kind == AXIS_SEQUENCE;
    return tensor(dtype_of(b, slot), rows ? size[0] : 0, rows ? 0 : size[0]);
}

static Tensor *named(Bench *b, uint32_t name) {
    if (name >= PART_INNER) return &b->inner[name - PART_INNER];
    return name >= PART_RESULT ? &b->want[name - PART_RESULT] : &b->in[name];
}

/* What exists between two parts has the type that the part's signature gives it, gradients of
 * parameters that of the bench. */
static void make_inner(Bench *b, const OpPart *p, int n, const Tensor *in, uint32_t j) {
    Type types[PART_OPERANDS];
    BoundSignature bound;
    for (int k = 0; k < n; k++) types[k] = in[k].type;
    if (!signature_bind(&bound, (OpKind)p->op, (uint32_t)n, types, 0, NULL))
        fail_msg("%s: %s", op_info[p->op].name, bound.fault);
    Type t = signature_infer(&bound, j);
    bool wide = t.rank == 2;
    bool grad = op_signature((OpKind)p->op)->out[j].dtype == WANT_GRAD;
    *named(b, p->out[j]) = tensor(grad ? b->reduce : t.dtype, t.dim[0], wide ? t.dim[1] : 0);
}

static void run_part(Bench *b, const OpPart *p, Attrs a) {
    Tensor in[PART_OPERANDS], out[PART_RESULTS];
    int n = 0;
    for (uint32_t k = 0; k < p->n_in; k++)
        if (p->in[k] >= PART_RESULT || p->in[k] < b->n_in) in[n++] = *named(b, p->in[k]);
    for (uint32_t j = 0; j < p->n_out; j++) {
        if (p->out[j] >= PART_INNER) make_inner(b, p, n, in, j);
        out[j] = *named(b, p->out[j]);
    }
    if (p->op == OP_add && n == 1) /* a sum of one term */
        memcpy(out[0].at, in[0].at, (size_t)type_bytes(&in[0].type));
    else
        run((OpKind)p->op, a, n, in, p->n_out, out);
}

static void compare(OpKind op, int dtype, int reduce, const int64_t shape[2], bool optional) {
    const Signature *s = op_signature(op);
    const OpParts *parts = op_parts(op);
    Bench b = {.op = op, .dtype = dtype, .reduce = reduce, .r = shape[0], .d = shape[1]};
    Attrs a = {.eps = 1e-5, .ignore = 2, .exponent = -7, .count = 1};
    b.n_in = optional ? s->in_max : s->in_min;
    if (signature_find(s, "step") >= 0) b.n_in = s->in_min; /* the loss scale is a factor */
    for (int k = 0; k < b.n_in; k++) b.in[k] = of_slot(&b, &s->in[k]);
    for (int j = 0; j < s->n_out; j++) {
        b.out[j] = of_slot(&b, &s->out[j]);
        b.want[j] = of_slot(&b, &s->out[j]);
    }
    for (uint32_t k = 0; k < parts->n; k++) run_part(&b, &parts->part[k], a);
    /* The sum of earlier micro-batches: the product is rounded before it is added. */
    a.earlier = optional && signature_find(s, "sum") >= 0;
    run(op, a, b.n_in, b.in, s->n_out, b.out);
    for (int j = 0; j < s->n_out; j++)
        if (!is_scratch(&b, &s->out[j]) &&
            memcmp(b.want[j].at, b.out[j].at, (size_t)type_bytes(&b.out[j].type)))
            fail_msg("%s of [%lld, %lld] in %s: %s has other bits than its parts", op_info[op].name,
                     (long long)b.r, (long long)b.d, dtype_name(dtype), s->out[j].name);
}

TEST(ops_have_the_bits_of_their_parts) {
    static const int64_t shapes[][2] = {{1, 5},     {3, 5},     {70, 129},
                                        {200, 300}, {33, 1040}, {2200, 20}};
    int tried = 0;
    for (int op = 0; op < OP_COUNT; op++) {
        tried += op_parts((OpKind)op)->n > 0;
        for (size_t k = 0; op_parts((OpKind)op)->n && k < ARRAY_LEN(shapes); k++)
            for (int way = 0; way < 8; way++)
                compare((OpKind)op, way & 1 ? DT_BF16 : DT_F32, way & 2 ? DT_BF16 : DT_F32,
                        shapes[k], way & 4);
    }
    assert_true(tried > 0);
}

int main(void) {
    if (!launch_open(NULL, NULL)) return EXIT_ENVIRONMENT;
    int failed = run_all(NULL, NULL);
    launch_close();
    return failed;
}
