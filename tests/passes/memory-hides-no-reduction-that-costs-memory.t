# RUN: %fsdpc dump --stage=edges %s | sed -n '/^program train/,/^end/p' | grep 'backward' | grep 'linear_grad\|reduce_scatter_part' | grep 'up"\|ln"' | sed 's/{.*!/!/; s/ @[0-9]*//g; s/!backward//'
# RUN: %fsdpc dump %s | grep '^program train'
# Behind its reduction the weight's gradient has both sides of the product's input beside it. In the last block, where
# forward has kept most, this would raise the peak: there the order stays. The peak is that of reductions that all stay.
==== net.fsd
module Block {
  ln   : LayerNorm(64)
  up   : Linear(64, 8, bias = true)
  down : Linear(8, 64, bias = true)
  forward(x) = x + down(relu(up(ln(x))))
}
module Net {
  block : Block[3]
  forward(x) {
    for b in block { x = b(x) }
    return x
  }
}
model = Net
data  { train = synthetic(x = [6, 64], y = [6, 64], samples = 64) }
train { loss = mse(model(x), y); batch = 32; steps = 1; optimizer = sgd(lr = 0.1) }
shard { mesh = (tp = 2); unit = Block }
==== out
  #62 wait(#61) %69: f32[4*tp, 64] = linear_grad_weight(%66, %68)  unit 2 "block.2.up" 1:5:30-5:39
  #64 %71: f32[32, 6, 64]+tp = linear_grad_input(%66, %70)  unit 2 "block.2.up" 1:5:30-5:39
  #65 [reduce] wait(#64) %72: f32[16*tp, 6, 64] = reduce_scatter_part(%71)  unit 2 "block.2.ln" 1:5:33-5:38
  #79 %88: f32[32, 6, 64]+tp = linear_grad_input(%85, %87)  unit 1 "block.1.up" 1:5:30-5:39
  #80 [reduce] wait(#79) %89: f32[16*tp, 6, 64] = reduce_scatter_part(%88)  unit 1 "block.1.ln" 1:5:33-5:38
  #82 wait(#77) %91: f32[4*tp, 64] = linear_grad_weight(%85, %86)  unit 1 "block.1.up" 1:5:30-5:39
  #95 %106: f32[32, 6, 64]+tp = linear_grad_input(%104, %105)  unit 0 "block.0.up" 1:5:30-5:39
  #96 [reduce] wait(#95) %107: f32[16*tp, 6, 64] = reduce_scatter_part(%106)  unit 0 "block.0.ln" 1:5:33-5:38
  #97 %108: f32[4*tp, 64], %109: f32[4*tp] = linear_grad_weight_bias(%104, %12)  unit 0 "block.0.up" 1:5:30-5:39
program train: once a step; 131 instructions, peak 508.4 KiB
