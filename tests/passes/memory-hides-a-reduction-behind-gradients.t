# RUN: %fsdpc dump --stage=edges %s | sed -n '/^program train/,/^end/p' | grep backward | grep -v 'view(\|pack(' | sed -n '/"block.1.up"/,/"block.0.down"/p' | sed 's/ !.*//; s/unit = -1, //; s/, comm = reduce, tag = activation//; s/ @[0-9]*//g'
# RUN: %fsdpc dump %s | grep 'collectives overlap'
# RUN: %fsdpc dump --stage=edges %s -s D=64 -s L=3 -s train.batch=32 | sed -n '/^program train/,/^end/p' | grep 'backward' | grep 'linear_grad\|reduce_scatter_part' | grep 'up"\|ln"' | sed 's/{.*!/!/; s/ @[0-9]*//g; s/!backward//'
# RUN: %fsdpc dump %s -s D=64 -s L=3 -s train.batch=32 | grep '^program train'
# The reduce-scatter of up's gradient is issued when the terms of its sum are there, before the gradients of up's weight
# and bias, which do not need it; the norm's gradient waits for it.
# With wide rows the peak counts. Behind its reduction the weight's gradient has both sides of the product's input beside it.
# In the last block, where forward has kept most, this would raise the peak: there the order stays. The peak is that of
# reductions that all stay.
==== net.fsd
config { D = 4; L = 2 }
module Block {
  ln   : LayerNorm(D)
  up   : Linear(D, 8, bias = true)
  down : Linear(8, D, bias = true)
  forward(x) = x + down(relu(up(ln(x))))
}
module Net {
  block : Block[L]
  forward(x) {
    for b in block { x = b(x) }
    return x
  }
}
model = Net
data  { train = synthetic(x = [6, D], y = [6, D], samples = 64) }
train { loss = mse(model(x), y); batch = 3; steps = 1; optimizer = sgd(lr = 0.1) }
shard { mesh = (tp = 2); unit = Block }
==== out
  #44 [reduce] %48: f32[3, 6, 4] = all_gather_part(%26) {axis = 1, count = 1, axes = (tp)}
  #46 %50: f32[3, 6, 4]+tp = linear_grad_input(%47, %49)
  #47 [reduce] wait(#46) %51: f32[3, 3*tp, 4] = reduce_scatter_part(%50) {axis = 1, count = 1, axes = (tp)}
  #48 %52: f32[4*tp] = sum_leading(%47)
  #49 wait(#44) %53: f32[4*tp, 4] = linear_grad_weight(%47, %48)
  #51 wait(#47) %55: f32[3, 3*tp, 4], %56: f32[4]+tp, %57: f32[4]+tp = layer_norm_grad(%51, %25, %54, %27, %28, %42)
  #52 %58: f32[4]+tp = sum_leading(%42)
  #55 [reduce] wait(#53) %61: f32[12] = all_reduce(%59) {unit = 1, axes = (tp), comm = reduce, tag = gradient}
  #56 %62: f32[4]+tp = sum_leading(%55)
5 of 12 collectives overlap computation; these do not: #17 reduce_scatter_part metrics, #24 all_gather_part metrics,
0 of 4 collectives overlap computation; these do not: #108 reduce_scatter_part metrics, #115 all_gather_part metrics,
  #62 wait(#61) %69: f32[4*tp, 64] = linear_grad_weight(%66, %68)  unit 2 "block.2.up" 1:6:30-6:39
  #64 %71: f32[32, 6, 64]+tp = linear_grad_input(%66, %70)  unit 2 "block.2.up" 1:6:30-6:39
  #65 [reduce] wait(#64) %72: f32[16*tp, 6, 64] = reduce_scatter_part(%71)  unit 2 "block.2.ln" 1:6:33-6:38
  #79 %88: f32[32, 6, 64]+tp = linear_grad_input(%85, %87)  unit 1 "block.1.up" 1:6:30-6:39
  #80 [reduce] wait(#79) %89: f32[16*tp, 6, 64] = reduce_scatter_part(%88)  unit 1 "block.1.ln" 1:6:33-6:38
  #82 wait(#77) %91: f32[4*tp, 64] = linear_grad_weight(%85, %86)  unit 1 "block.1.up" 1:6:30-6:39
  #95 %106: f32[32, 6, 64]+tp = linear_grad_input(%104, %105)  unit 0 "block.0.up" 1:6:30-6:39
  #96 [reduce] wait(#95) %107: f32[16*tp, 6, 64] = reduce_scatter_part(%106)  unit 0 "block.0.ln" 1:6:33-6:38
  #97 %108: f32[4*tp, 64], %109: f32[4*tp] = linear_grad_weight_bias(%104, %12)  unit 0 "block.0.up" 1:6:30-6:39
program train: once a step; 131 instructions, peak 508.4 KiB
