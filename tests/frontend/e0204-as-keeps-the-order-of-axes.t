# RUN: %fsdpc dump --stage=model %s
# `as` does not exchange axes.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  forward(ids: [B, T]) {
    x = wte(ids) as [T, B, D]
    return head(x)
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== err
error[E0208]: the batch axis must stay the first axis
 --> m.fsd:6:9
  |
6 |     x = wte(ids) as [T, B, D]
  |         ^^^^^^^^^^^^^^^^^^^^^
  |
  = help: keep the first axis where it is

==== exit 1
