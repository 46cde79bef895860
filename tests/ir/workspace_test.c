/* Workspaces, by what each kernel keeps there. Planner and checker both ask op_workspace, so a rule
 * that says too little is seen here, or where kernels run: one that has less than it needs refuses
 * its launch or writes behind its workspace (kernel_test, cuda_kernels). */
#include "ir.h"
#include "op.h"
#include "test.h"
#include "util.h"

TEST(workspaces_hold_what_kernels_keep) {
    Attrs a = {0};
    const int64_t width[] = {512, 4096, 5000}, parts[] = {528, 264, 132};
    for (int k = 0; k < 3; k++) { /* of dw and db, for each part of the rows */
        Type x = type_of(DT_F32, 2, (int64_t[]){9, width[k]}), w = type_of(DT_F32, 1, &width[k]);
        Type in[] = {x, x, w, w, w}, out[] = {x, w, w};
        assert_int_equal(op_workspace(OP_layer_norm_grad, DEVICE_CUDA, &a, 5, in, 3, out),
                         parts[k] * 2 * width[k] * 4);
        assert_int_equal(op_workspace(OP_rms_norm_grad, DEVICE_CUDA, &a, 4, in, 2, out),
                         MAX(parts[k], 256) * width[k] * 4);
        assert_int_equal(op_workspace(OP_layer_norm_grad, DEVICE_CPU, &a, 5, in, 3, out), 0);
    }
    Type dy = type_of(DT_BF16, 2, (int64_t[]){5, 8}), ids = type_of(DT_I32, 1, (int64_t[]){5});
    Type dw = type_of(DT_F32, 2, (int64_t[]){8, 8}), rows[] = {dy, ids};
    /* of each id two words of 8 bytes */
    assert_int_equal(op_workspace(OP_embedding_grad, DEVICE_CPU, &a, 2, rows, 1, &dw), 5 * 16);
    assert_int_equal(op_workspace(OP_embedding_grad, DEVICE_CUDA, &a, 2, rows, 1, &dw),
                     5 * 16 + (1 << 20));
    /* dy and dx in f32, and of the experts' weights one */
    Type w = type_of(DT_BF16, 2, (int64_t[]){8, 8}), experts[] = {dy, ids, w, w};
    for (int op = OP_experts_linear; op <= OP_experts_linear_grad_input; op++)
        assert_int_equal(op_workspace((OpKind)op, DEVICE_CPU, &a, 4, experts, 1, &dy),
                         192 + 192 + 256);
    /* dw is f32 already */
    Type by_weight[] = {dy, dy, ids}, grads[] = {dw, dw};
    assert_int_equal(
        op_workspace(OP_experts_linear_grad_weight, DEVICE_CPU, &a, 3, by_weight, 2, grads),
        192 + 192);
}

RUN_TESTS(NULL, NULL)
