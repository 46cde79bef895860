# RUN: %fsdpc compile -q %s -o %t/plan.bin 2>/dev/null && %fsdpc check %t/plan.bin
# RUN: %fsdpc dump --stage=schedule %s 2>/dev/null | sed -n '/^program micro/,/^program/s/.*= \(state\|unshard\|reshard\|add\)(*.* unit .* \("a"\).*/\1 \2/p'
# The second gather of a unit in forward fills a state for the next micro-batch: it waits until the first use is over, which reads that state.
==== net.fsd
module A { w : param[4] = ones @frozen; forward(x) = x + w }
module Net {
  e : Embedding(8, 4)
  a : A
  b : Linear(4, 4)[2]
  forward(ids: [B, T]) {
    x = relu(a(e(ids)))
    for layer in b { x = relu(layer(x)) }
    return a(x)
  }
}
model = Net
data  { train = synthetic_tokens(vocab = 4); length = 2 }
train { loss = cross_entropy(model(inputs), targets); batch = 6; steps = 2; accumulate = 3 }
shard { mesh = (dp = 2); unit = [A, Linear]; prefetch = 1; hold = true; "b.*" = replicate }
==== out
state "a"
state "a"
add "a"
reshard "a"
unshard "a"
add "a"
