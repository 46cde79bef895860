# RUN: %fsdpc compile %s -o %t/p
# Muon and Adafactor look at whole matrices, which a rank does not have.
==== net.fsd
module Net {
  up   : Linear(8, 12)
  down : Linear(12, 4)
  forward(x) = down(relu(up(x)))
}
model = Net
data  { train = synthetic(x = [8], y = 4, samples = 64) }
train { loss = cross_entropy(model(x), y); batch = 12; steps = 1; optimizer = adafactor(lr = 0.1) }
shard { mesh = (dp = 2, tp = 3) }
==== err
error[E0406]: optimizer = adafactor needs all of up.weight, which ranks along tp share out
 --> std.fsd:3:3
  |
3 |   weight : param[out, inp] = init
  |   ^^^^^^
  |
  = help: use an optimizer that updates weights one by one, or a mesh without tp

==== exit 1
