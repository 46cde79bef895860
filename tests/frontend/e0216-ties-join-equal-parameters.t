# RUN: %fsdpc dump --stage=model %s 2>&1 | grep -E '^error|^warning|^note|-->|help:'
# A tie needs two parameters of one shape.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  a : Linear(D, V)
  b : Linear(V, D)
  tie a.weight = b.weight
  tie a = b
  tie a.weight = a.weight
  forward(ids: [B, T]) {
    return head(wte(ids))
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== out
error[E0216]: `a.weight` is [V, D], but `b.weight` is [D, V]
 --> m.fsd:7:3
  = help: tied parameters must have the same shape
error[E0216]: `a` is a module, not a parameter
 --> m.fsd:8:7
  = help: only parameters can be tied: tie a.weight = b.weight
error[E0216]: these are already the same parameter
 --> m.fsd:9:3
==== exit 1
