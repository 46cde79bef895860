/* The matrix products of ops, b m n k, and the classes of ops. */
#include "ir.h"
#include "test.h"

static OpProducts products_of(OpKind op, const Attrs *a, int n_in, const Type *in,
                              const Type *out) {
    return op_products(op, a, n_in, in, 1, out);
}
static void assert_products(OpProducts p, int b, int m, int n, int k, int pairs) {
    assert_int_equal(p.b, b);
    assert_int_equal(p.m, m);
    assert_int_equal(p.n, n);
    assert_int_equal(p.k, k);
    assert_int_equal(p.pairs, pairs);
}

TEST(products_have_rows_columns_and_depth) {
    Attrs a = {.causal = 1};
    Type x = type_of(DT_F32, 3, (int64_t[]){2, 5, 3}), w = type_of(DT_F32, 2, (int64_t[]){7, 3});
    Type y = type_of(DT_F32, 3, (int64_t[]){2, 5, 7});
    assert_products(products_of(OP_linear, &a, 2, (Type[]){x, w}, &y), 1, 10, 7, 3, 70);
    assert_products(products_of(OP_linear_grad_input, &a, 2, (Type[]){y, w}, &x), 1, 10, 3, 7, 30);
    assert_products(products_of(OP_linear_grad_weight, &a, 2, (Type[]){y, x}, &w), 1, 7, 3, 10, 21);
    Type v = type_of(DT_F32, 3, (int64_t[]){2, 3, 7});
    assert_products(products_of(OP_matmul, &a, 2, (Type[]){x, v}, &y), 2, 5, 7, 3, 35);
    assert_products(products_of(OP_matmul_grad_b, &a, 2, (Type[]){x, y}, &v), 2, 3, 7, 5, 21);
    Type rows = type_of(DT_F32, 2, (int64_t[]){10, 3}),
         out = type_of(DT_F32, 2, (int64_t[]){10, 7});
    Type starts = type_of(DT_I32, 1, (int64_t[]){3});
    Type experts[] = {rows, starts, w, w}, grads[] = {w, w};
    assert_products(products_of(OP_experts_linear, &a, 4, experts, &out), 2, 5, 7, 3, 35);
    assert_products(
        op_products(OP_experts_linear_grad_weight, &a, 3, (Type[]){out, rows, starts}, 2, grads), 2,
        7, 3, 5, 21);
    Type q = type_of(DT_F32, 4, (int64_t[]){2, 5, 6, 4}),
         k = type_of(DT_F32, 4, (int64_t[]){2, 8, 3, 4});
    OpProducts p = products_of(OP_attention, &a, 3, (Type[]){q, k, k}, &q);
    assert_products(p, 12, 5, 8, 4, 15);
    op_take_part(&p, &a, false); /* the last 5 of 8 queries */
    assert_products(p, 12, 5, 8, 4, 4 + 5 + 6 + 7 + 8);
    op_take_part(&p, &a, true); /* 5 of 8 on average: 36 * 5 / 8 */
    assert_products(p, 12, 5, 8, 4, 22);
}

TEST(ops_with_products_have_their_class) {
    static const struct {
        OpKind op;
        bool products, launched;
    } rows[] = {
#define OP(id, ...) {.op = OP_##id, __VA_ARGS__},
#define PRODUCTS(rule) .products = true,
#define RUN_BY(who) .launched = LAUNCHED_##who
#define LAUNCHED_DEVICE true,
#define LAUNCHED_EXECUTOR false,
#include "ops.def"
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int class = op_info[rows[i].op].cost_class;
        assert_int_equal(class == CLASS_PRODUCT || class == CLASS_ATTENTION, rows[i].products);
        assert_true(rows[i].launched || class == CLASS_ELEMENTS);
    }
}

RUN_TESTS(NULL, NULL)
