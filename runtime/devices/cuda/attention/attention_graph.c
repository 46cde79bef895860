/* Attention forward and backward in the operations that cuDNN's fused engines recognise.
 *
 *   forward   x = alpha q k^T, -inf where key > query when causal
 *             m = max over keys x, e = exp(x - m), l = sum over keys e
 *             lse = m + ln l, o = (e / l) v
 *   backward  sums = (sum over i of do_i o_i) 1
 *             p = exp(alpha q k^T - lse, -inf where key > query), dv = p^T do
 *             ds = alpha p (do v^T - sums), dk = ds^T q, dq = ds k
 *
 * What the engines require, learned from NVIDIA's own front end: operands as [B, H, T, h] with
 * strides, the right factor of a product already transposed (k, and backward v, as [B, K, h, S]),
 * the left one of the product with v and of the weights' gradients in bf16, causality as a
 * comparison of generated row and column numbers, `sums` in memory. dq is the product itself: the
 * other way that they know collects it in f32 with atomic additions, whose order changes from run
 * to run. With K < H the gradients of k and v are f32 products for every query head, summed over
 * the heads that read one.
 */
#include "attention_cudnn.h"

#ifdef HAVE_CUDNN
#include <stdbool.h>
#include <string.h>

typedef cudnnBackendDescriptor_t Descriptor;
typedef struct Dims {
    int64_t at[4];
} Dims;

enum { ALIGNMENT = 16 };

/* ---- descriptors; the first failure stays */

static void check_status(AttentionGraph *g, cudnnStatus_t status, const char *what) {
    if (g->status != CUDNN_STATUS_SUCCESS || status == CUDNN_STATUS_SUCCESS) return;
    g->status = status;
    g->failed = what;
}

Descriptor graph_descriptor(AttentionGraph *g, cudnnBackendDescriptorType_t type,
                            const char *what) {
    Descriptor d = NULL;
    if (g->status != CUDNN_STATUS_SUCCESS) return NULL;
    if (g->n == MAX_DESCRIPTORS) {
        check_status(g, CUDNN_STATUS_INTERNAL_ERROR, "too many descriptors");
        return NULL;
    }
    check_status(g, g->cudnn->create_descriptor(type, &d), what);
    if (d) g->all[g->n++] = d;
    return d;
}

void graph_set(AttentionGraph *g, Descriptor d, cudnnBackendAttributeName_t name,
               cudnnBackendAttributeType_t type, int64_t n, const void *from) {
    if (g->status == CUDNN_STATUS_SUCCESS)
        check_status(g, g->cudnn->set(d, name, type, n, from), "an attribute");
}

void graph_finalize(AttentionGraph *g, Descriptor d, const char *what) {
    if (g->status == CUDNN_STATUS_SUCCESS) check_status(g, g->cudnn->finalize(d), what);
}

static void set_descriptor(AttentionGraph *g, Descriptor d, cudnnBackendAttributeName_t name,
                           Descriptor value) {
    graph_set(g, d, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value);
}

void graph_end(AttentionGraph *g) {
    while (g->n > 0) g->cudnn->destroy_descriptor(g->all[--g->n]);
}

/* ---- tensors */

typedef enum TensorPlace { IN_MEMORY, INSIDE, FROM_HOST } TensorPlace;

static Descriptor add_tensor(AttentionGraph *g, int64_t uid, cudnnDataType_t type, Dims dims,
                             Dims strides, TensorPlace place) {
    Descriptor d = graph_descriptor(g, CUDNN_BACKEND_TENSOR_DESCRIPTOR, "a tensor");
    int64_t alignment = ALIGNMENT;
    bool yes = true;
    graph_set(g, d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &uid);
    graph_set(g, d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
    graph_set(g, d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment);
    graph_set(g, d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, dims.at);
    graph_set(g, d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, strides.at);
    if (place == INSIDE) graph_set(g, d, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &yes);
    if (place == FROM_HOST)
        graph_set(g, d, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &yes);
    graph_finalize(g, d, "a tensor");
    return d;
}

/* An operand [B, heads, positions, h] in memory; turned: [B, heads, h, positions]. */
static Descriptor add_operand(AttentionGraph *g, int64_t uid, int64_t heads, int64_t positions,
                              Strides s, bool turned) {
    const AttentionForm *f = g->form;
    Dims dims = {{f->b, heads, positions, f->h}}, strides = {{s.batch, f->h, s.position, 1}};
    if (turned) {
        dims = (Dims){{f->b, heads, f->h, positions}};
        strides = (Dims){{s.batch, f->h, 1, s.position}};
    }
    return add_tensor(g, uid, CUDNN_DATA_BFLOAT16, dims, strides, IN_MEMORY);
}

static Descriptor add_scalar(AttentionGraph *g, int64_t uid) {
    Dims one = {{1, 1, 1, 1}};
    return add_tensor(g, uid, CUDNN_DATA_FLOAT, one, one, FROM_HOST);
}

/* f32[B, H, T, 1] in memory */
static Descriptor by_row(AttentionGraph *g, int64_t uid) {
    const AttentionForm *f = g->form;
    Dims dims = {{f->b, f->heads, f->t, 1}}, strides = {{f->heads * f->t, f->t, 1, 1}};
    return add_tensor(g, uid, CUDNN_DATA_FLOAT, dims, strides, IN_MEMORY);
}

/* [B, H, rows, columns], never in memory */
static Descriptor add_inside(AttentionGraph *g, cudnnDataType_t type, int64_t rows,
                             int64_t columns) {
    const AttentionForm *f = g->form;
    Dims dims = {{f->b, f->heads, rows, columns}};
    Dims strides = {{f->heads * rows * columns, rows * columns, columns, 1}};
    return add_tensor(g, g->uid++, type, dims, strides, INSIDE);
}
static Descriptor add_row(AttentionGraph *g) {
    return add_inside(g, CUDNN_DATA_FLOAT, g->form->t, 1);
}
static Descriptor scores_as(AttentionGraph *g, cudnnDataType_t type) {
    return add_inside(g, type, g->form->t, g->form->s);
}
static Descriptor add_scores(AttentionGraph *g) { return scores_as(g, CUDNN_DATA_FLOAT); }

/* ---- operations */

static void add_operation(AttentionGraph *g, Descriptor d, const char *what) {
    graph_finalize(g, d, what);
    if (g->status == CUDNN_STATUS_SUCCESS && g->n_operations == MAX_OPERATIONS)
        check_status(g, CUDNN_STATUS_INTERNAL_ERROR, "too many operations");
    if (g->status == CUDNN_STATUS_SUCCESS) g->operation[g->n_operations++] = d;
}

/* y = mode(x, b, t); b and t may be NULL; axis: of the index that is generated. Returns y. */
static Descriptor add_pointwise(AttentionGraph *g, cudnnPointwiseMode_t mode, int64_t axis,
                                Descriptor x, Descriptor b, Descriptor t, Descriptor y) {
    Descriptor m = graph_descriptor(g, CUDNN_BACKEND_POINTWISE_DESCRIPTOR, "a pointwise mode");
    const cudnnDataType_t precision =
        mode == CUDNN_POINTWISE_CMP_GE ? CUDNN_DATA_BOOLEAN : CUDNN_DATA_FLOAT;
    const float one = 1.0f;
    graph_set(g, m, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
    graph_set(g, m, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &precision);
    if (mode == CUDNN_POINTWISE_GEN_INDEX)
        graph_set(g, m, CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, 1, &axis);
    graph_finalize(g, m, "a pointwise mode");
    Descriptor d = graph_descriptor(g, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, "pointwise");
    set_descriptor(g, d, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, m);
    set_descriptor(g, d, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
    set_descriptor(g, d, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
    if (b) set_descriptor(g, d, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b);
    if (t) set_descriptor(g, d, CUDNN_ATTR_OPERATION_POINTWISE_TDESC, t);
    graph_set(g, d, CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, CUDNN_TYPE_FLOAT, 1, &one);
    graph_set(g, d, CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, CUDNN_TYPE_FLOAT, 1, &one);
    add_operation(g, d, "pointwise");
    return y;
}

/* y = mode(x, b); b may be NULL. */
static Descriptor add_function(AttentionGraph *g, cudnnPointwiseMode_t mode, Descriptor x,
                               Descriptor b, Descriptor y) {
    return add_pointwise(g, mode, 0, x, b, NULL, y);
}

static Descriptor add_product(AttentionGraph *g, Descriptor a, Descriptor b, Descriptor c) {
    Descriptor m = graph_descriptor(g, CUDNN_BACKEND_MATMUL_DESCRIPTOR, "a product");
    const cudnnDataType_t f32 = CUDNN_DATA_FLOAT;
    graph_set(g, m, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &f32);
    graph_finalize(g, m, "a product");
    Descriptor d = graph_descriptor(g, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, "a product");
    set_descriptor(g, d, CUDNN_ATTR_OPERATION_MATMUL_ADESC, a);
    set_descriptor(g, d, CUDNN_ATTR_OPERATION_MATMUL_BDESC, b);
    set_descriptor(g, d, CUDNN_ATTR_OPERATION_MATMUL_CDESC, c);
    set_descriptor(g, d, CUDNN_ATTR_OPERATION_MATMUL_DESC, m);
    add_operation(g, d, "a product");
    return c;
}

/* Over the axes in which y has length 1. */
static Descriptor add_reduction(AttentionGraph *g, cudnnReduceTensorOp_t how, Descriptor x,
                                Descriptor y) {
    Descriptor r = graph_descriptor(g, CUDNN_BACKEND_REDUCTION_DESCRIPTOR, "a reduction");
    const cudnnDataType_t f32 = CUDNN_DATA_FLOAT;
    graph_set(g, r, CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, &how);
    graph_set(g, r, CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &f32);
    graph_finalize(g, r, "a reduction");
    Descriptor d = graph_descriptor(g, CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR, "a reduction");
    set_descriptor(g, d, CUDNN_ATTR_OPERATION_REDUCTION_DESC, r);
    set_descriptor(g, d, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x);
    set_descriptor(g, d, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y);
    add_operation(g, d, "a reduction");
    return y;
}

static Descriptor add_reshape(AttentionGraph *g, Descriptor x, Descriptor y) {
    Descriptor d = graph_descriptor(g, CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR, "a turn");
    set_descriptor(g, d, CUDNN_ATTR_OPERATION_RESHAPE_XDESC, x);
    set_descriptor(g, d, CUDNN_ATTR_OPERATION_RESHAPE_YDESC, y);
    add_operation(g, d, "a turn");
    return y;
}

/* For each of the scores x its place along an axis. */
static Descriptor add_index(AttentionGraph *g, Descriptor x, int64_t axis) {
    Descriptor y = scores_as(g, CUDNN_DATA_INT32);
    return add_pointwise(g, CUDNN_POINTWISE_GEN_INDEX, axis, x, NULL, NULL, y);
}

/* x where the key is not after the query, else -inf. */
static Descriptor add_causal_mask(AttentionGraph *g, Descriptor x) {
    enum { QUERY_AXIS = 2, KEY_AXIS = 3 };
    Descriptor query = add_index(g, x, QUERY_AXIS), key = add_index(g, x, KEY_AXIS);
    Descriptor open = scores_as(g, CUDNN_DATA_BOOLEAN), masked = add_scalar(g, UID_MASKED);
    add_function(g, CUDNN_POINTWISE_CMP_GE, query, key, open);
    return add_pointwise(g, CUDNN_POINTWISE_BINARY_SELECT, 0, x, masked, open, add_scores(g));
}

/* ---- the two graphs */

static void build_forward(AttentionGraph *g) {
    const AttentionForm *f = g->form;
    Descriptor q = add_operand(g, UID_Q, f->heads, f->t, f->q, false);
    Descriptor k = add_operand(g, UID_K, f->key_heads, f->s, f->k, true);
    Descriptor v = add_operand(g, UID_V, f->key_heads, f->s, f->v, false);
    Descriptor o = add_operand(g, UID_O, f->heads, f->t, f->o, false);
    Descriptor x = add_product(g, q, k, add_scores(g));
    x = add_function(g, CUDNN_POINTWISE_MUL, x, add_scalar(g, UID_ALPHA), add_scores(g));
    if (f->causal) x = add_causal_mask(g, x);
    Descriptor m = add_reduction(g, CUDNN_REDUCE_TENSOR_MAX, x, add_row(g));
    Descriptor e = add_function(g, CUDNN_POINTWISE_SUB, x, m, add_scores(g));
    e = add_function(g, CUDNN_POINTWISE_EXP, e, NULL, add_scores(g));
    Descriptor l = add_reduction(g, CUDNN_REDUCE_TENSOR_ADD, e, add_row(g));
    Descriptor ln = add_function(g, CUDNN_POINTWISE_LOG, l, NULL, add_row(g));
    add_function(g, CUDNN_POINTWISE_ADD, m, ln, by_row(g, UID_LSE));
    Descriptor p = add_function(g, CUDNN_POINTWISE_DIV, e, l, scores_as(g, CUDNN_DATA_BFLOAT16));
    add_product(g, p, v, o);
}

/* Scores with queries and keys exchanged, in bf16, as left factor of a weight's gradient. */
static Descriptor add_turned_scores(AttentionGraph *g, Descriptor x) {
    const AttentionForm *f = g->form;
    Dims dims = {{f->b, f->heads, f->s, f->t}};
    Dims strides = {{f->heads * f->t * f->s, f->t * f->s, 1, f->s}};
    return add_reshape(g, x, add_tensor(g, g->uid++, CUDNN_DATA_BFLOAT16, dims, strides, INSIDE));
}

/* dk = a b or dv = a b, [B, K, S, h]; with fewer key heads than query heads by way of [B, H, S, h].
 */
static void key_gradient(AttentionGraph *g, Descriptor a, Descriptor b, int64_t uid,
                         Strides strides) {
    const AttentionForm *f = g->form;
    Descriptor out = add_operand(g, uid, f->key_heads, f->s, strides, false);
    if (f->heads == f->key_heads) {
        add_product(g, a, b, out);
        return;
    }
    Descriptor c = add_inside(g, CUDNN_DATA_FLOAT, f->s, f->h);
    add_reduction(g, CUDNN_REDUCE_TENSOR_ADD, add_product(g, a, b, c), out);
}

static void build_backward(AttentionGraph *g) {
    const AttentionForm *f = g->form;
    Descriptor q = add_operand(g, UID_Q, f->heads, f->t, f->q, false);
    Descriptor k = add_operand(g, UID_K, f->key_heads, f->s, f->k, true);
    Descriptor v = add_operand(g, UID_V, f->key_heads, f->s, f->v, true);
    Descriptor o = add_operand(g, UID_O, f->heads, f->t, f->o, false);
    Descriptor d_o = add_operand(g, UID_D_O, f->heads, f->t, f->d_o, false);
    Descriptor d_q = add_operand(g, UID_D_Q, f->heads, f->t, f->d_q, false);
    Descriptor lse = by_row(g, UID_LSE), alpha = add_scalar(g, UID_ALPHA);
    Descriptor each = add_inside(g, CUDNN_DATA_FLOAT, f->t, f->h);
    add_function(g, CUDNN_POINTWISE_MUL, d_o, o, each);
    Descriptor sums = add_reduction(g, CUDNN_REDUCE_TENSOR_ADD, each, add_row(g));
    Descriptor one = add_scalar(g, UID_ONE), in_memory = by_row(g, UID_SUMS);
    sums = add_function(g, CUDNN_POINTWISE_MUL, sums, one, in_memory);

    Descriptor x = add_product(g, q, k, add_scores(g));
    x = add_function(g, CUDNN_POINTWISE_MUL, x, alpha, add_scores(g));
    x = add_function(g, CUDNN_POINTWISE_SUB, x, lse, add_scores(g));
    if (f->causal) x = add_causal_mask(g, x);
    Descriptor p = add_function(g, CUDNN_POINTWISE_EXP, x, NULL, add_scores(g));
    key_gradient(g, add_turned_scores(g, p), d_o, UID_D_V, f->d_v);

    Descriptor ds = add_product(g, d_o, v, add_scores(g));
    ds = add_function(g, CUDNN_POINTWISE_SUB, ds, sums, add_scores(g));
    ds = add_function(g, CUDNN_POINTWISE_MUL, ds, p, add_scores(g));
    ds = add_function(g, CUDNN_POINTWISE_MUL, ds, alpha, add_scores(g));
    key_gradient(g, add_turned_scores(g, ds), q, UID_D_K, f->d_k);

    Dims key_dims = {{f->b, f->key_heads, f->s, f->h}};
    Dims key_strides = {{f->k.batch, f->h, f->k.position, 1}};
    Descriptor keys = add_tensor(g, g->uid++, CUDNN_DATA_FLOAT, key_dims, key_strides, INSIDE);
    add_product(g, ds, add_reshape(g, k, keys), d_q);
}

void attention_graph(AttentionGraph *g, const Cudnn *cudnn, cudnnHandle_t handle,
                     const AttentionForm *form) {
    memset(g, 0, sizeof *g);
    g->cudnn = cudnn;
    g->form = form;
    g->uid = UID_INSIDE;
    if (form->backward)
        build_backward(g);
    else
        build_forward(g);
    g->whole = graph_descriptor(g, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, "the graph");
    if (handle)
        graph_set(g, g->whole, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    graph_set(g, g->whole, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
              g->n_operations, g->operation);
    graph_finalize(g, g->whole, "the graph");
}
#else
typedef int attention_graph_is_absent;
#endif
