# RUN: %fsdpc dump --stage=model m.fsd > /dev/null; %fsdpc dump --stage=model m.fsd -s data.length=50 > /dev/null
# A recurrence that unrolls to more than 1,000 ops is told once, with the bytes of its results; a shorter one is not.
==== m.fsd
config { D = 4 }
module Net {
  emb  : Embedding(70, D)
  step : Linear(2 * D, D)
  forward(ids: [B, T]) {
    x = emb(ids)
    h = x[:, :1]
    for t in range(T) { h = tanh(step(concat(h, x[:, t:t + 1]))) }
    return linear(h + x, emb.weight)
  }
}
model = Net
data { train = tokens("t.bin"); length = 300 }
train { loss = cross_entropy(model(inputs), targets); batch = 2 }
==== err
warning[W0313]: this loop unrolls to 1201 ops, whose results take 48128 bytes for a micro-batch of one rank
 --> m.fsd:8:5
  |
8 |     for t in range(T) { h = tanh(step(concat(h, x[:, t:t + 1]))) }
  |     ^^^^^^^^^^^^^^^^^
  |
  = help: ops over whole axes instead of a loop make fewer and larger results

