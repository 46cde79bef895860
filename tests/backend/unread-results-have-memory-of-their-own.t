# RUN: %fsdpc compile -q %s -o %t/p && %fsdpc check %t/p | sed -n 1p
# Two results of a fused op, one of which only a view reads that nothing reads, do not take the same operand's memory.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  forward(ids: [B, T]) {
    x = wte(ids)
    y = x as [B, T, 6]
    _a = (tanh(y) * y) as [B, T, 2, 3]
    return tanh(y) + x
  }
}
model = Net
data { train = synthetic_tokens(vocab = 6); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 1 }
==== out
