# RUN: %fsdpc compile %s -o x.bin 2>&1 | grep -E '^error|-->|help:'
# Of two models the first counts, and the second is one error.
==== m.fsd
config { D = 4; V = 8 }
module Block { forward(x: [B, T, D]) = x }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  forward(ids: [B, T]) = head(wte(ids))
}
model = Net
data { train = synthetic_tokens(vocab = V); length = 4 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 2 }
model = Block
==== out
error[E0304]: the `model` is given twice
  --> m.fsd:11:9
  --> m.fsd:8:9
==== exit 1
