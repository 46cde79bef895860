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
shard { mesh = (dp = 2, tp = 3) }
==== out
