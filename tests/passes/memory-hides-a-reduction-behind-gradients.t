# RUN: %fsdpc dump --stage=edges %s | sed -n '/^program train/,/^end/p' | grep backward | grep -v 'view(\|pack(' | sed -n '/"block.1.up"/,/"block.0.down"/p' | sed 's/ !.*//; s/unit = -1, //; s/, comm = reduce, tag = activation//; s/ @[0-9]*//g'
# RUN: %fsdpc dump %s | grep 'collectives overlap'
# The reduce-scatter of up's gradient is issued when the terms of its sum are there, before the gradients of up's weight
# and bias, which do not need it; the norm's gradient waits for it.
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
