# RUN: %fsdpc dump --stage=model %s
# The probability of dropout is below one.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  forward(ids: [B, T]) {
    return head(dropout(wte(ids), 1.5))
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== err
error[E0311]: `p` of `dropout` must be below 1, not 1.5
 --> m.fsd:6:35
  |
6 |     return head(dropout(wte(ids), 1.5))
  |                                   ^^^

==== exit 1
