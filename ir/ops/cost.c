/* The cost of one execution of an op: operations, bytes moved, scratch memory.
 *
 * Every rule depends only on types and attributes, so that compiler, checker and runtime always
 * agree. The columns FLOPS, PRODUCTS, BYTES and WORKSPACE of ops.def name the functions below by
 * their second half: FLOPS(norm) is flops_norm. Types already match the op's signature, and what
 * they hold fits in memory. Operations may be more than 64 bits can count: attention of 2^30
 * positions, and products whose result exists in chunks only. They are counted in f64, exactly up
 * to 2^53.
 */
#include <math.h>

#include "op.h"
#include "util.h"

typedef struct Work {
    const Attrs *a;
    int n_in, n_out;
    const Type *in, *out;
    OpKind op;
} Work;

typedef double FlopsRule(const Work *w);
typedef int64_t Rule(const Work *w);
typedef OpProducts ProductRule(const Work *w);

/* ---- operations ---- */

static double flops_zero(const Work *w) {
    (void)w;
    return 0;
}

/* The largest operand or result that holds numbers: one operation for each of its elements. */
static double flops_element(const Work *w) {
    int64_t most = 0;
    for (int i = 0; i < w->n_in; i++) most = MAX(most, type_elements(&w->in[i]));
    for (int i = 0; i < w->n_out; i++) most = MAX(most, type_elements(&w->out[i]));
    return (double)most;
}

/* exp, erf or tanh: about eight operations an element. */
static double flops_transcendental(const Work *w) { return 8 * flops_element(w); }

/* Two products and a sum for each element. */
static double flops_rotation(const Work *w) { return 3 * flops_element(w); }

/* Two passes over x for the statistics and one for the result, forward or backward. */
static double flops_norm(const Work *w) { return 8 * (double)type_elements(&w->in[0]); }

/* [.., m, k] by [.., k, n] with nothing left out, rows of leading axes together. */
static OpProducts product(int64_t b, int64_t rows, int64_t n, int64_t k) {
    return (OpProducts){
        .count = 1, .b = b, .m = rows, .n = n, .k = k, .pairs = (double)rows * (double)n};
}
static int64_t rows_of(const Type *t) { return type_elements(t) / MAX(last_dim(t), 1); }
/* Rows of one place of the leading axes of a matmul. */
static int64_t matrix_rows(const Type *t) { return t->rank > 1 ? t->dim[t->rank - 2] : 1; }

double products_flops(const OpProducts *p) {
    return 2 * (double)p->count * ((double)p->b * p->pairs) * (double)p->k;
}

/* What column PRODUCTS says. */
static double flops_products(const Work *w) {
    return op_product_flops(w->op, w->a, w->n_in, w->in, w->n_out, w->out);
}
/* And the sum with a third operand, a bias or an earlier gradient. */
static double flops_products_sum(const Work *w) {
    return flops_products(w) + (w->n_in > 2 ? (double)type_elements(&w->out[0]) : 0);
}
static double flops_linear_gelu(const Work *w) {
    return flops_products_sum(w) + 8 * (double)type_elements(&w->out[0]);
}
static double flops_linear_grad_input_gelu(const Work *w) {
    return flops_products(w) + 8 * (double)type_elements(&w->out[0]);
}
static double flops_linear_grad_weight_bias(const Work *w) {
    return flops_products_sum(w) + (double)type_elements(&w->in[0]);
}

/* x [R, D], w [O, D], b [O]? */
static OpProducts products_linear(const Work *w) {
    return product(1, rows_of(&w->out[0]), last_dim(&w->out[0]), last_dim(&w->in[1]));
}
/* dy [R, O], w [O, D] */
static OpProducts products_linear_grad_input(const Work *w) {
    return product(1, rows_of(&w->out[0]), last_dim(&w->out[0]), last_dim(&w->in[0]));
}
/* dy [R, O], x [R, D], acc [O, D]? */
static OpProducts products_linear_grad_weight(const Work *w) {
    return product(1, rows_of(&w->out[0]), last_dim(&w->out[0]), rows_of(&w->in[1]));
}
/* a [.., M, K], b [.., K, N], or dy [.., M, N], b [.., K, N] */
static OpProducts products_matmul(const Work *w) {
    int64_t m = matrix_rows(&w->out[0]);
    return product(rows_of(&w->out[0]) / MAX(m, 1), m, last_dim(&w->out[0]), last_dim(&w->in[0]));
}
static OpProducts products_matmul_grad_b(const Work *w) {
    int64_t m = matrix_rows(&w->out[0]);
    return product(rows_of(&w->out[0]) / MAX(m, 1), m, last_dim(&w->out[0]),
                   matrix_rows(&w->in[0]));
}
/* x [R, D], w [O, D]: logits, and in training the gradients of both. */
static bool has_gradients(const Work *w) { return w->op == OP_linear_cross_entropy_both; }
static OpProducts products_chunks(const Work *w) {
    OpProducts p = product(1, rows_of(&w->in[0]), w->in[1].dim[0], last_dim(&w->in[0]));
    p.count = has_gradients(w) ? 3 : 1;
    return p;
}
/* And the loss of each logit, with its gradient as for cross_entropy_both. */
static double flops_chunks(const Work *w) {
    OpProducts p = products_chunks(w);
    return products_flops(&p) + 8 * p.pairs;
}
/* Every row once, with the weights of its expert; as many rows for one as for another. */
static OpProducts experts(int64_t rows, int64_t n, int64_t k, int64_t count) {
    count = rows % MAX(count, 1) ? 1 : MAX(count, 1);
    return product(count, rows / count, n, k);
}
static OpProducts products_experts(const Work *w) {
    return experts(rows_of(&w->out[0]), last_dim(&w->out[0]), last_dim(&w->in[0]), w->n_in - 2);
}
/* dw [O, D] of each expert, from its share of the rows. */
static OpProducts products_experts_weights(const Work *w) {
    OpProducts p = experts(rows_of(&w->in[0]), 1, 1, w->n_out);
    return product(p.b, last_dim(&w->in[0]), last_dim(&w->in[1]), p.m);
}
/* The sum of 0, 1, .., n - 1, each limited to `most`. */
static double ramp(int64_t n, int64_t most) {
    int64_t rising = MIN(n, most + 1);
    return (double)rising * (double)(rising - 1) / 2 + (double)(n - rising) * (double)most;
}
/* The number of pairs (i, j) with 0 <= i < t, 0 <= j < s and j < i + ahead. */
static double pairs_before(int64_t t, int64_t s, int64_t ahead) {
    if (ahead < 0) return ramp(MAX(t + ahead, (int64_t)0), s);
    ahead = MIN(ahead, s);
    return ramp(t + ahead, s) - ramp(ahead, s);
}
static double visible_pairs(const Attrs *a, int64_t t, int64_t s) {
    if (!a->causal && !a->window) return (double)t * (double)s;
    double before = pairs_before(t, s, a->causal ? 1 : a->window);
    return a->window ? before - pairs_before(t, s, 1 - a->window) : before;
}

/* The products of attention: of each head the visible pairs t, s by its width. q is [B, T, H, h]
 * with k [B, S, K, h], or packed [B, T, 3, H, h]. */
static OpProducts attention(const Work *w, const Type *q, const Type *k, int64_t count) {
    bool packed = q->rank == 5;
    int64_t t = q->dim[1], s = packed ? t : k->dim[1], heads = q->dim[packed ? 3 : 2];
    return (OpProducts){.count = count,
                        .b = q->dim[0] * heads,
                        .m = t,
                        .n = s,
                        .k = last_dim(q),
                        .pairs = visible_pairs(w->a, t, s)};
}

static OpProducts products_attention(const Work *w) {
    return attention(w, &w->in[0], &w->in[w->n_in > 1], 2);
}
static double flops_attention(const Work *w) {
    OpProducts p = products_attention(w);
    return products_flops(&p) + 8 * ((double)p.b * p.pairs);
}

/* Operand 0 is the gradient of o; recomputes scores, then dv, dp, dq, dk. */
static OpProducts products_attention_grad(const Work *w) {
    OpProducts p = attention(w, &w->in[1], &w->in[2], 4);
    p.again = 1;
    return p;
}
static double flops_attention_grad(const Work *w) {
    OpProducts p = products_attention_grad(w);
    double pairs = (double)p.b * p.pairs;
    p.count += p.again;
    return products_flops(&p) + 12 * pairs;
}

/* ---- bytes ---- */

static int64_t nothing(const Work *w) {
    (void)w;
    return 0;
}
#define bytes_zero nothing
#define ws_cpu_none nothing
#define ws_cuda_none nothing

static int64_t bytes_io(const Work *w) {
    int64_t sum = 0;
    for (int i = 0; i < w->n_in; i++) sum += type_bytes(&w->in[i]);
    for (int i = 0; i < w->n_out; i++) sum += type_bytes(&w->out[i]);
    return sum;
}

/* Reads only as much of its large operand as it writes: rows of a table, one slot of two. */
static int64_t bytes_gather(const Work *w) { return 2 * type_bytes(&w->out[0]); }

/* Rows of dy are added to rows of the table. Rows that no id names are only touched where there is
 * no earlier gradient: they become 0. */
static int64_t bytes_embedding_grad(const Work *w) {
    int64_t rows = type_elements(&w->in[0]) * dtype_bytes(w->out[0].dtype);
    return type_bytes(&w->in[0]) + type_bytes(&w->in[1]) + 2 * rows +
           (w->n_in > 2 ? 0 : type_bytes(&w->out[0]));
}

/* a * b, at most 2^57, so that a few of them can be added without overflow. */
static int64_t times(int64_t a, int64_t b) {
    const int64_t most = (int64_t)1 << 57;
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) || product > most ? most : product;
}

/* Logits are written and read, x is read, and for each chunk all of w. In training logits are
 * replaced by their gradient and read twice, x and each chunk's w are read again, and the gradient
 * of w is written for each chunk, and read where there was one before. */
static int64_t bytes_chunks(const Work *w) {
    const Type *chunk = &w->out[w->n_out - 1];
    int64_t logits = times(rows_of(&w->in[0]), last_dim(chunk)) * dtype_bytes(chunk->dtype);
    int64_t count = w->a->count, x = type_bytes(&w->in[0]), of_w = type_bytes(&w->in[1]);
    if (!has_gradients(w)) return 2 * logits + x + times(count, of_w);
    int64_t dw = type_bytes(&w->out[1]);
    return 5 * logits + 2 * x + type_bytes(&w->out[0]) + times(2 * count, of_w + dw) - dw;
}

/* ---- scratch ---- */

enum { CUBLASLT_WORKSPACE = 32 << 20, SORT_SLACK = 1 << 20, WIDENED_SLACK = 256 };

/* f32 copies of everything that has 16 bits. */
static int64_t converted(const Work *w) {
    uint64_t sum = 0;
    for (int i = 0; i < w->n_in; i++)
        if (dtype_is_half(w->in[i].dtype))
            sum += align_up((uint64_t)type_elements(&w->in[i]) * 4, 64);
    for (int i = 0; i < w->n_out; i++)
        if (dtype_is_half(w->out[i].dtype))
            sum += align_up((uint64_t)type_elements(&w->out[i]) * 4, 64);
    return (int64_t)sum;
}

/* cuBLASLt multiplies operands of one dtype into a result of that dtype or of f32, with a bias or
 * accumulator of the result's dtype; anything else is widened to f32, next to its workspace. */
static int64_t ws_cuda_matmul(const Work *w) {
    int operand = w->in[0].dtype, result = w->out[0].dtype;
    bool direct = w->in[1].dtype == operand && (operand == result || result == DT_F32) &&
                  (w->n_in < 3 || w->in[2].dtype == result);
    if (direct) return CUBLASLT_WORKSPACE;
    return CUBLASLT_WORKSPACE + converted(w) + WIDENED_SLACK * (w->n_in + w->n_out);
}

/* cuDNN's scratch for attention of bf16 operands with a width that is a multiple of 8, at most 128.
 * Backward: bf16 scores, with T and S rounded up to its tiles, and f32 gradients of k and v for
 * every query head if several share one. Beyond the limit the work is done in parts. If a single
 * head needs more, from 11,521 positions on, cuDNN is not used, and the workspace is that of our
 * own backward in one pass: f32 gradients of q, at least of the query heads of one key head. */
enum { ATTENTION_LIMIT = 256 << 20, ATTENTION_SLACK = 1024, QUERY_TILE = 64, KEY_TILE = 128 };
enum { ONEPASS_LIMIT = 1 << 30 };

/* Of attention_onepass.cu, for heads of t queries: sums of whole tiles and a counter a warp. */
static int64_t onepass_scratch(int64_t t, int64_t h, int64_t heads, int64_t group) {
    enum { TILE_NUMBERS = 8192, TILE_BYTES = TILE_NUMBERS * 4 + 8 * 4 };
    int64_t head = (t * h + TILE_NUMBERS - 1) / TILE_NUMBERS * TILE_BYTES;
    if ((h != 64 && h != 128) || head > ONEPASS_LIMIT / group) return 0;
    return MAX(MIN(heads, ATTENTION_LIMIT / head), group) * head + ATTENTION_SLACK;
}

/* q [B,T,H,h] and k [B,S,K,h], or qkv [B,T,3,H,h], are operands `first` .. */
static int64_t attention_scratch(const Work *w, int first, bool backward) {
    const Type *q = &w->in[first], *k = q->rank == 5 ? q : &w->in[first + 1];
    int64_t h = last_dim(q), heads = q->dim[0] * q->dim[q->rank - 2];
    bool plain = w->n_in <= (backward ? 6 : 3) && !w->a->window && !w->a->cap; /* nor mask, bias */
    if (!plain || q->dtype != DT_BF16 || k->dtype != DT_BF16 || h % 8 != 0 || h > 128 ||
        MAX(q->dim[1], k->dim[1]) > ATTENTION_LIMIT)
        return 0;
    if (!backward) return ATTENTION_SLACK;
    bool shared = k->dim[k->rank - 2] != q->dim[q->rank - 2];
    uint64_t pairs =
        align_up((uint64_t)q->dim[1], QUERY_TILE) * align_up((uint64_t)k->dim[1], KEY_TILE);
    int64_t head = 2 * (int64_t)pairs + (shared ? 2 * 4 * k->dim[1] * h : 0);
    int64_t group = q->dim[q->rank - 2] / MAX(k->dim[k->rank - 2], 1);
    if (head + ATTENTION_SLACK > ATTENTION_LIMIT)
        return onepass_scratch(q->dim[1], h, heads, MAX(group, 1));
    return (heads > ATTENTION_LIMIT / head ? ATTENTION_LIMIT : heads * head) + ATTENTION_SLACK;
}

/* Tiles are on the stack (cpu) or in shared memory (cuda). */
static int64_t ws_cuda_attention(const Work *w) { return attention_scratch(w, 0, false); }

/* f32[B, H, T]: for each row the dot product of o and its gradient, operand 0. */
static int64_t row_products(const Work *w) {
    int64_t rows = type_elements(&w->in[0]) / MAX(last_dim(&w->in[0]), 1);
    return (int64_t)align_up((uint64_t)rows * 4, 64);
}
static int64_t ws_cuda_attention_grad(const Work *w) {
    return row_products(w) + attention_scratch(w, 1, true);
}

/* Sums of parts of the rows, in f32: of 16 rows, or of more where that would be over 256 parts
 * (runtime/devices/cuda/numbers/columns.h). */
static int64_t ws_cuda_reduction(const Work *w) {
    int64_t columns = type_elements(&w->out[0]);
    int64_t rows = type_elements(&w->in[0]) / MAX(columns, 1);
    return MIN((rows + 15) / 16, 256) * columns * 4;
}

/* The matrix product is that of h. */
static int64_t ws_cuda_matmul_gelu(const Work *w) {
    return ws_cuda_matmul(&(Work){w->a, w->n_in, 1, w->in, w->out + 1, w->op});
}

/* Both run one after the other in the same memory. */
static int64_t ws_cuda_matmul_sum(const Work *w) {
    int64_t product = ws_cuda_matmul(&(Work){w->a, w->n_in, 1, w->in, w->out, w->op});
    int64_t sum = ws_cuda_reduction(&(Work){w->a, 1, 1, w->in, w->out + 1, w->op});
    return MAX(product, sum);
}

/* Partial sums of dw (and db) for each part of the rows, or for one of them as in a reduction.
 * Parts: runtime/devices/cuda/norms/norm_grad.cu. */
static int64_t ws_cuda_norm_grad(const Work *w) {
    int64_t width = type_elements(&w->in[2]), parts = width <= 2048   ? 528
                                                      : width <= 4096 ? 264
                                                                      : 132;
    return MAX(parts * (w->n_out - 1), 256) * width * 4;
}

static int64_t ws_cuda_exact(const Work *w) {
    (void)w;
    return 64 * EXACT_WORDS * 8;
}

/* The most that a product of a chunk, or its loss, needs; they run one after the other. */
static int64_t ws_cuda_matmul_chunks(const Work *w) {
    const Type *chunk = &w->out[w->n_out - 1];
    Type x = w->in[0], dx = x, dw = w->in[1];
    if (has_gradients(w)) dx = w->out[0], dw = w->out[1];
    x.rank = dx.rank = 2;
    x.dim[0] = dx.dim[0] = chunk->dim[0];
    x.dim[1] = dx.dim[1] = last_dim(&w->in[0]);
    const Work parts[] = {{w->a, 2, 1, (const Type[]){x, w->in[1]}, chunk, OP_linear},
                          {w->a, 2, 1, (const Type[]){*chunk, w->in[1]}, &dx, OP_linear_grad_input},
                          {w->a, 3, 1, (const Type[]){*chunk, x, dw}, &dw, OP_linear_grad_weight}};
    int64_t most = ws_cuda_exact(w), n = has_gradients(w) ? ARRAY_LEN(parts) : 1;
    for (int64_t k = 0; k < n; k++) most = MAX(most, ws_cuda_matmul(&parts[k]));
    return most;
}

/* The ids, stably sorted by row: 16 bytes per id. */
static int64_t ws_cpu_embedding_grad(const Work *w) { return 16 * type_elements(&w->in[1]); }
static int64_t ws_cuda_embedding_grad(const Work *w) {
    return 16 * type_elements(&w->in[1]) + SORT_SLACK;
}

/* The f32 copy that the largest of n types needs. */
static int64_t converted_one(int n, const Type *t) {
    int64_t most = 0;
    for (int i = 0; i < n; i++) most = MAX(most, converted(&(Work){.n_in = 1, .in = t + i}));
    return most;
}
/* f32 copies of the rows and of one expert's weights. */
static int64_t ws_cpu_experts(const Work *w) {
    return converted(&(Work){w->a, 1, 1, w->in, w->out, w->op}) +
           converted_one(w->n_in - 2, w->in + 2);
}
static int64_t ws_cpu_experts_weights(const Work *w) {
    return converted(&(Work){.n_in = 2, .in = w->in}) + converted_one(w->n_out, w->out);
}

/* A count for each expert in each chunk of 256 choices. */
static int64_t ws_cuda_route(const Work *w) {
    return (type_elements(&w->in[0]) + 255) / 256 * type_elements(&w->out[2]) * 4;
}

/* A matrix and its Gram matrix as two of bf16 each; the work has two of each in f32. */
static int64_t ws_cuda_muon(const Work *w) {
    return CUBLASLT_WORKSPACE + (int64_t)align_up((uint64_t)type_bytes(&w->out[1]) / 2, 1024);
}

/* ---- the columns ---- */

static const struct {
    OpKind op;
    FlopsRule *flops;
    Rule *bytes, *workspace[DEVICE_KINDS];
    ProductRule *products;
} rules[OP_COUNT] = {
#define OP(id, ...) [OP_##id] = {.op = OP_##id, __VA_ARGS__},
#define FLOPS(rule) .flops = flops_##rule,
#define PRODUCTS(rule) .products = products_##rule,
#define BYTES(rule) .bytes = bytes_##rule,
#define WORKSPACE(cpu, cuda) .workspace = {ws_cpu_##cpu, ws_cuda_##cuda},
#include "ops.def"
};

double op_flops(OpKind op, const Attrs *a, int n_in, const Type *in, int n_out, const Type *out) {
    return rules[op].flops(&(Work){a, n_in, n_out, in, out, op});
}

OpProducts op_products(OpKind op, const Attrs *a, int n_in, const Type *in, int n_out,
                       const Type *out) {
    ProductRule *rule = rules[op].products;
    return rule ? rule(&(Work){a, n_in, n_out, in, out, op}) : (OpProducts){.count = 0};
}

void op_take_part(OpProducts *p, const Attrs *a, bool mean) {
    double all = visible_pairs(a, p->n, p->n);
    p->pairs =
        mean ? floor(all * (double)p->m / (double)p->n) : all - visible_pairs(a, p->n - p->m, p->n);
}

double op_product_flops(OpKind op, const Attrs *a, int n_in, const Type *in, int n_out,
                        const Type *out) {
    OpProducts p = op_products(op, a, n_in, in, n_out, out);
    return products_flops(&p);
}

int64_t op_bytes(OpKind op, const Attrs *a, int n_in, const Type *in, int n_out, const Type *out) {
    Rule *rule = rules[op].bytes;
    if (!rule) rule = op_info[op].launched ? bytes_io : bytes_zero;
    return rule(&(Work){a, n_in, n_out, in, out, op});
}

int64_t op_workspace(OpKind op, DeviceKind device, const Attrs *a, int n_in, const Type *in,
                     int n_out, const Type *out) {
    Rule *rule = rules[op].workspace[device];
    return rule ? rule(&(Work){a, n_in, n_out, in, out, op}) : 0;
}
