# RUN: %fsdpc dump --stage=optimizer %s | grep -o '= sgd(.*group = [0-9]*'
# A shard of a million elements or more is updated before the shorter ones, the longest first; those keep their order.
==== net.fsd
module Net {
  fc  : Linear(8, 8)[2]
  out : Linear(8, 262145)
  emb : Embedding(262145, 16)
  low : Linear(16, 8)
  forward(x) {
    x = low(emb(x))
    for layer in fc { x = relu(layer(x)) }
    return out(x)
  }
}
model = Net
data { train = synthetic_tokens(vocab = 1000); length = 4 }
train { loss = cross_entropy(model(inputs), targets); batch = 2; steps = 1; optimizer = sgd(lr = 0.1) }
shard { mesh = (dp = 2); unit = Linear }
==== out
= sgd(%44, %33, %43, %0) {group = 4
= sgd(%46, %19, %43, %0) {group = 2
= sgd(%48, %27, %43, %0) {group = 0
= sgd(%50, %23, %43, %0) {group = 1
= sgd(%52, %30, %43, %0) {group = 3
