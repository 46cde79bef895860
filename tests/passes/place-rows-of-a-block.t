# RUN: %fsdpc dump --stage=place %s > %t/g; grep '^param' %t/g | sed 's/ module.* f32/ f32/; s/ [a-z]*\(([0-9.]*)\)* key.* reduce f32//'; sed -n '/^program train/,/^end/p' %t/g | grep -v 'param {\|state\|field' | sed 's/ !.*//; s/unit = -1, //; s/, comm = reduce, tag = activation//'
# Between products ranks share out rows: a sum becomes a part of it, of which norm, bias and residual are computed, and
# is gathered for the next product, again in backward for the gradient of its weight. What norm and bias get from rows
# is a term of a sum, which their parameters name.
==== net.fsd
module Block {
  ln   : LayerNorm(4)
  up   : Linear(4, 8, bias = true)
  down : Linear(8, 4, bias = true)
  forward(x) = x + down(relu(up(ln(x))))
}
module Net {
  block : Block[2]
  forward(x) {
    for b in block { x = b(x) }
    return x
  }
}
model = Net
data  { train = synthetic(x = [6, 4], y = [6, 4], samples = 64) }
train { loss = mse(model(x), y); batch = 3; steps = 1; optimizer = sgd(lr = 0.1) }
shard { mesh = (tp = 2) }
==== out
param 0 "block.0.ln.weight" f32 no_decay partial (tp)
param 1 "block.0.ln.bias" f32 no_decay partial (tp)
param 2 "block.0.up.weight" f32 cut (tp) dim 0 outer 1 size 8
param 3 "block.0.up.bias" f32 cut (tp) dim 0 outer 1 size 8
param 4 "block.0.down.weight" f32 cut (tp) dim 1 outer 1 size 8
param 5 "block.0.down.bias" f32 partial (tp)
param 6 "block.1.ln.weight" f32 no_decay partial (tp)
param 7 "block.1.ln.bias" f32 no_decay partial (tp)
param 8 "block.1.up.weight" f32 cut (tp) dim 0 outer 1 size 8
param 9 "block.1.up.bias" f32 cut (tp) dim 0 outer 1 size 8
param 10 "block.1.down.weight" f32 cut (tp) dim 1 outer 1 size 8
param 11 "block.1.down.bias" f32 partial (tp)
program train
  #6 %6: f32[3, 6, 4], %7: f32[3, 6], %8: f32[3, 6] = layer_norm(%2, %4, %5) {eps = 1e-05}
  #9 %11: f32[3, 6, 4*tp] = linear(%6, %9, %10)
  #10 %12: f32[3, 6, 4*tp] = relu(%11)
  #13 %15: f32[3, 6, 4]+tp = linear(%12, %13)
  #14 %16: f32[3, 3*tp, 4] = reduce_scatter_part(%15) {axis = 1, count = 1, axes = (tp)}
  #15 %17: f32[3, 3*tp, 4] = add(%16, %14)
  #16 %18: f32[3, 3*tp, 4] = part(%2) {axis = 1, count = 1, axes = (tp)}
  #17 %19: f32[3, 3*tp, 4] = add(%18, %17)
  #20 %22: f32[3, 3*tp, 4], %23: f32[3, 3*tp], %24: f32[3, 3*tp] = layer_norm(%19, %20, %21) {eps = 1e-05}
  #23 %27: f32[3, 6, 4] = all_gather_part(%22) {axis = 1, count = 1, axes = (tp)}
  #24 %28: f32[3, 6, 4*tp] = linear(%27, %25, %26)
  #25 %29: f32[3, 6, 4*tp] = relu(%28)
  #28 %32: f32[3, 6, 4]+tp = linear(%29, %30)
  #29 %33: f32[3, 3*tp, 4] = reduce_scatter_part(%32) {axis = 1, count = 1, axes = (tp)}
  #30 %34: f32[3, 3*tp, 4] = add(%33, %31)
  #31 %35: f32[3, 3*tp, 4] = add(%19, %34)
  #32 %36: f32[3, 3*tp, 4] = part(%3) {axis = 1, count = 1, axes = (tp)}
  #33 %37: i64[24]+tp = mse(%35, %36)
  #34 %38: i64[24] = all_reduce(%37) {axes = (tp)}
  #36 %39: f32[3, 3*tp, 4] = mse_grad(%35, %36) {exponent = -6}
  #37 %40: f32[4]+tp = sum_leading(%39)
  #38 set_grad(%40) {index = 11}
  #39 %41: f32[3, 6, 4] = all_gather_part(%39) {axis = 1, count = 1, axes = (tp)}
  #40 %42: f32[4, 4*tp] = linear_grad_weight(%41, %29)
  #41 set_grad(%42) {index = 10}
  #42 %43: f32[3, 6, 4*tp] = linear_grad_input(%41, %30)
  #43 %44: f32[3, 6, 4*tp] = relu_grad(%43, %29)
  #44 %45: f32[4*tp] = sum_leading(%44)
  #45 set_grad(%45) {index = 9}
  #46 %46: f32[3, 6, 4] = all_gather_part(%22) {axis = 1, count = 1, axes = (tp)}
  #47 %47: f32[4*tp, 4] = linear_grad_weight(%44, %46)
  #48 set_grad(%47) {index = 8}
  #49 %48: f32[3, 6, 4]+tp = linear_grad_input(%44, %25)
  #50 %49: f32[3, 3*tp, 4] = reduce_scatter_part(%48) {axis = 1, count = 1, axes = (tp)}
  #51 %50: f32[4]+tp = sum_leading(%49)
  #52 set_grad(%50) {index = 7}
  #53 %51: f32[4]+tp = layer_norm_grad_weight(%49, %19, %23, %24)
  #54 set_grad(%51) {index = 6}
  #55 %52: f32[3, 3*tp, 4] = layer_norm_grad_input(%49, %19, %20, %23, %24)
  #56 %53: f32[3, 3*tp, 4] = add(%39, %52)
  #57 %54: f32[4]+tp = sum_leading(%53)
  #58 set_grad(%54) {index = 5}
  #59 %55: f32[3, 6, 4] = all_gather_part(%53) {axis = 1, count = 1, axes = (tp)}
  #60 %56: f32[4, 4*tp] = linear_grad_weight(%55, %12)
  #61 set_grad(%56) {index = 4}
  #62 %57: f32[3, 6, 4*tp] = linear_grad_input(%55, %13)
  #63 %58: f32[3, 6, 4*tp] = relu_grad(%57, %12)
  #64 %59: f32[4*tp] = sum_leading(%58)
  #65 set_grad(%59) {index = 3}
  #66 %60: f32[4*tp, 4] = linear_grad_weight(%58, %6)
  #67 set_grad(%60) {index = 2}
  #68 %61: f32[3, 6, 4]+tp = linear_grad_input(%58, %9)
  #69 %62: f32[3, 3*tp, 4] = reduce_scatter_part(%61) {axis = 1, count = 1, axes = (tp)}
  #70 %63: f32[4]+tp = sum_leading(%62)
  #71 set_grad(%63) {index = 1}
  #72 %64: f32[3, 3*tp] = part(%7) {axis = 1, count = 1, axes = (tp)}
  #73 %65: f32[3, 3*tp] = part(%8) {axis = 1, count = 1, axes = (tp)}
  #74 %66: f32[4]+tp = layer_norm_grad_weight(%62, %18, %64, %65)
  #75 set_grad(%66) {index = 0}
end
