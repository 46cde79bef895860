/* Ops that passes put in the place of several have their bits: each is run beside the ops that it
 * stands for, on the cpu device, in f32 and bf16, with widths and rows that end in the middle of
 * vectors and blocks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/launch.h"

static void same(Tensor a, Tensor b, const char *what) {
    if (memcmp(a.at, b.at, (size_t)type_bytes(&a.type)) != 0) fail_msg("%s: other bits", what);
}

/* ---- the ops */

static const int64_t shapes[][2] = {{1, 1}, {3, 5}, {70, 129}, {200, 300}, {129, 1040}};

static void a_norm_of_a_sum(int dtype, int64_t r, int64_t d, int bias) {
    Attrs eps = {.eps = 1e-5}, none = {0};
    Tensor a = tensor(dtype, r, d), b = tensor(dtype, r, d), w = tensor(dtype, 0, d);
    Tensor c = tensor(dtype, 0, d), sum[2], y[2], mean[2], rstd[2];
    for (int k = 0; k < 2; k++) {
        sum[k] = tensor(dtype, r, d);
        y[k] = tensor(dtype, r, d);
        mean[k] = tensor(DT_F32, r, 0);
        rstd[k] = tensor(DT_F32, r, 0);
    }
    run(OP_add, none, 2, LIST(a, b), 1, sum);
    run(OP_layer_norm, eps, 2 + bias, LIST(sum[0], w, c), 3, LIST(y[0], mean[0], rstd[0]));
    run(OP_add_layer_norm, eps, 3 + bias, LIST(a, b, w, c), 4,
        LIST(sum[1], y[1], mean[1], rstd[1]));
    same(sum[0], sum[1], "the sum");
    same(y[0], y[1], "the norm");
    same(mean[0], mean[1], "the mean");
    same(rstd[0], rstd[1], "rstd");
}

static void gradients_of_a_norm(int dtype, int reduce, int64_t r, int64_t d, int adds) {
    Attrs none = {0};
    Tensor dy = tensor(dtype, r, d), x = tensor(dtype, r, d), w = tensor(dtype, 0, d);
    Tensor mean = tensor(DT_F32, r, 0), rstd = tensor(DT_F32, r, 0);
    Tensor residual = tensor(dtype, r, d), dx[2], dw[2], db[2];
    for (int k = 0; k < 2; k++) {
        dx[k] = tensor(dtype, r, d);
        dw[k] = tensor(reduce, 0, d);
        db[k] = tensor(reduce, 0, d);
    }
    run(OP_sum_leading, none, 1, &dy, 1, db);
    run(OP_layer_norm_grad_weight, none, 4, LIST(dy, x, mean, rstd), 1, dw);
    run(OP_layer_norm_grad_input, none, 5, LIST(dy, x, w, mean, rstd), 1, dx);
    if (adds) run(OP_add, none, 2, LIST(residual, dx[0]), 1, dx);
    run(OP_layer_norm_grad, none, 5 + adds, LIST(dy, x, w, mean, rstd, residual), 3,
        LIST(dx[1], dw[1], db[1]));
    same(dx[0], dx[1], "dx");
    same(dw[0], dw[1], "dw");
    same(db[0], db[1], "db");
}

static void an_rms_norm_of_a_sum(int dtype, int64_t r, int64_t d) {
    Attrs eps = {.eps = 1e-5}, none = {0};
    Tensor a = tensor(dtype, r, d), b = tensor(dtype, r, d), w = tensor(dtype, 0, d);
    Tensor sum[2], y[2], rstd[2];
    for (int k = 0; k < 2; k++) {
        sum[k] = tensor(dtype, r, d);
        y[k] = tensor(dtype, r, d);
        rstd[k] = tensor(DT_F32, r, 0);
    }
    run(OP_add, none, 2, LIST(a, b), 1, sum);
    run(OP_rms_norm, eps, 2, LIST(sum[0], w), 2, LIST(y[0], rstd[0]));
    run(OP_add_rms_norm, eps, 3, LIST(a, b, w), 3, LIST(sum[1], y[1], rstd[1]));
    same(sum[0], sum[1], "the sum");
    same(y[0], y[1], "the rms_norm");
    same(rstd[0], rstd[1], "rstd");
}

static void gradients_of_an_rms_norm(int dtype, int reduce, int64_t r, int64_t d, int adds) {
    Attrs none = {0};
    Tensor dy = tensor(dtype, r, d), x = tensor(dtype, r, d), w = tensor(dtype, 0, d);
    Tensor rstd = tensor(DT_F32, r, 0), residual = tensor(dtype, r, d), dx[2], dw[2];
    for (int k = 0; k < 2; k++) {
        dx[k] = tensor(dtype, r, d);
        dw[k] = tensor(reduce, 0, d);
    }
    run(OP_rms_norm_grad_weight, none, 3, LIST(dy, x, rstd), 1, dw);
    run(OP_rms_norm_grad_input, none, 4, LIST(dy, x, w, rstd), 1, dx);
    if (adds) run(OP_add, none, 2, LIST(residual, dx[0]), 1, dx);
    run(OP_rms_norm_grad, none, 4 + adds, LIST(dy, x, w, rstd, residual), 2, LIST(dx[1], dw[1]));
    same(dx[0], dx[1], "dx of rms_norm");
    same(dw[0], dw[1], "dw of rms_norm");
}

static void norms_have_the_bits_of_their_parts(void **state) {
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(shapes); k++)
        for (int way = 0; way < 8; way++) {
            int dtype = way & 1 ? DT_BF16 : DT_F32, reduce = way & 2 ? DT_BF16 : DT_F32;
            a_norm_of_a_sum(dtype, shapes[k][0], shapes[k][1], way >> 2);
            gradients_of_a_norm(dtype, reduce, shapes[k][0], shapes[k][1], way >> 2);
            an_rms_norm_of_a_sum(dtype, shapes[k][0], shapes[k][1]);
            gradients_of_an_rms_norm(dtype, reduce, shapes[k][0], shapes[k][1], way >> 2);
        }
}

static void a_loss_has_the_bits_of_its_parts(void **state) {
    (void)state;
    for (size_t k = 1; k < ARRAY_LEN(shapes); k++)
        for (int way = 0; way < 2; way++) {
            int dtype = way ? DT_BF16 : DT_F32;
            int64_t r = shapes[k][0], v = shapes[k][1];
            Attrs a = {.ignore = 2, .exponent = -7};
            Tensor x = tensor(dtype, r, v), targets = tensor(DT_I32, r, 0);
            Tensor lse = tensor(DT_F32, r, 0), loss[2] = {words(), words()};
            Tensor slope[2] = {tensor(dtype, r, v), tensor(dtype, r, v)};
            run(OP_cross_entropy, a, 2, LIST(x, targets), 2, LIST(loss[0], lse));
            run(OP_cross_entropy_grad, a, 3, LIST(x, targets, lse), 1, slope);
            run(OP_cross_entropy_both, a, 2, LIST(x, targets), 2, LIST(slope[1], loss[1]));
            same(slope[0], slope[1], "the gradient");
            same(loss[0], loss[1], "the loss");
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(norms_have_the_bits_of_their_parts),
        cmocka_unit_test(a_loss_has_the_bits_of_its_parts),
    };
    if (!launch_open(NULL, NULL)) return EXIT_ENVIRONMENT;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    launch_close();
    return failed;
}
