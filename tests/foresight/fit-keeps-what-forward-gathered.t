# RUN: for m in dp=2 tp=2; do %fsdpc fit net.fsd --mesh $m --memory 1MiB --device cpu -s train.batch=32 | grep -o 'shard.gather_again=[a-z]*' || echo $m: no; done; %fsdpc fit net.fsd --mesh tp=2 --memory 1MiB --device cpu -s train.batch=32 -s shard.gather_again=false | grep -o 'shard.gather_again=[a-z]*'
# Where ranks share out the work on a sample, fit also tries whether backward gathers activations again.
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
dp=2: no
shard.gather_again=false
shard.gather_again=true
