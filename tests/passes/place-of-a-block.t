# RUN: %fsdpc dump --stage=place %s | sed -n '/^program train/,/^end/p' | grep -v 'param {\|state\|field' | sed 's/ !.*//'
# A product along whose width ranks share out another one: its results are parts, the next one's are
# terms of a sum, and the way back is the same.
==== net.fsd
module Net {
  up   : Linear(8, 12, bias = true)
  down : Linear(12, 4, bias = true)
  forward(x) = down(relu(up(x)))
}
model = Net
data  { train = synthetic(x = [8], y = 4, samples = 64) }
train { loss = cross_entropy(model(x), y); batch = 4; steps = 1; optimizer = sgd(lr = 0.1) }
shard { mesh = (dp = 2, tp = 3); rows = false }
==== out
program train
  #6 %6: f32[2, 4*tp] = linear(%2, %4, %5)
  #7 %7: f32[2, 4*tp] = relu(%6)
  #10 %10: f32[2, 4]+tp = linear(%7, %8)
  #11 %11: f32[2, 4] = all_reduce(%10) {unit = -1, axes = (tp), comm = reduce, tag = activation}
  #12 %12: f32[2, 4] = add(%11, %9)
  #13 %13: i64[24], %14: f32[2] = cross_entropy(%12, %3) {ignore = -100}
  #15 %15: f32[2, 4] = cross_entropy_grad(%12, %3, %14) {ignore = -100, exponent = -2}
  #16 %16: f32[4] = sum_leading(%15)
  #17 set_grad(%16) {index = 3}
  #18 %17: f32[4, 4*tp] = linear_grad_weight(%15, %7)
  #19 set_grad(%17) {index = 2}
  #20 %18: f32[2, 4*tp] = linear_grad_input(%15, %8)
  #21 %19: f32[2, 4*tp] = relu_grad(%18, %7)
  #22 %20: f32[4*tp] = sum_leading(%19)
  #23 set_grad(%20) {index = 1}
  #24 %21: f32[4*tp, 8] = linear_grad_weight(%19, %2)
  #25 set_grad(%21) {index = 0}
end
