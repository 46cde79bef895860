# RUN: for s in "-s shard.layout=flat" "-s shard.layout=param" "-s shard.layout=param -s shard.reshard=2" "-s shard.layout=param -s shard.reshard=false" "-s shard.layout=param -s train.accumulate=2 -s shard.hold=true"; do echo "$s:" $(%fsdpc dump --stage=comm -n 4 $s %s 2>&- | sed -n '/^program \(train\|last\)/,/^end/p' | sed -n 's/.* = \(unshard\|view\|copy_out\|retain\|reshard\|linear[a-z_]*\|relu\|mse[a-z_]*\)(.*/\1/p'); done
# By chunks nothing reads the gathered parameters when the last of them has been copied out: the
# unit is given back then, and the copies stay for as long as they are read. What is kept for the
# next micro-batch is not given back.
==== net.fsd
module Net {
  a : Linear(8, 12, bias = true)
  b : Linear(12, 4)
  forward(x) = b(relu(a(x)))
}
model = Net
data  { train = synthetic(x = [8], y = [4], samples = 64) }
train { loss = mse(model(x), y); batch = 8; steps = 1; optimizer = sgd(lr = 0.1) }
shard { reshard_root = true }
==== out
-s shard.layout=flat: unshard view view linear relu view linear reshard mse unshard mse_grad linear_grad_weight view linear_grad_input reshard linear_grad_weight_bias
-s shard.layout=param: unshard copy_out copy_out linear relu copy_out linear reshard mse unshard mse_grad linear_grad_weight copy_out linear_grad_input reshard linear_grad_weight_bias
-s shard.layout=param -s shard.reshard=2: unshard copy_out copy_out linear relu copy_out linear retain reshard mse unshard mse_grad linear_grad_weight copy_out linear_grad_input reshard linear_grad_weight_bias
-s shard.layout=param -s shard.reshard=false: unshard copy_out copy_out linear relu copy_out linear reshard mse unshard mse_grad linear_grad_weight copy_out linear_grad_input reshard linear_grad_weight_bias
-s shard.layout=param -s train.accumulate=2 -s shard.hold=true: copy_out copy_out linear relu copy_out linear reshard mse unshard mse_grad linear_grad_weight copy_out linear_grad_input reshard linear_grad_weight_bias
