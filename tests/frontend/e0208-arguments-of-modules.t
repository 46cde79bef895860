# RUN: %fsdpc dump --stage=model %s 2>&1 | grep -E '^error|^warning|^note|-->|help:'
# A module says what it needs and what it does not take.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  a : Linear(4)
  b : Linear(4, 3, bais = true)
  c : Linear(1, 2, true, zeros, 5)
  d : RMSNorm(1, dim = 2)
  forward(ids: [B, T]) {
    return head(wte(ids))
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== out
error[E0208]: module Linear needs `out`
 --> m.fsd:5:7
note: module Linear is declared here
 --> std.fsd:2:8
error[E0208]: module Linear takes no argument `bais`
 --> m.fsd:6:20
  = help: did you mean `bias`?
note: module Linear is declared here
 --> std.fsd:2:8
error[E0208]: module Linear takes 4 arguments; this is one too many
 --> m.fsd:7:33
note: module Linear is declared here
 --> std.fsd:2:8
error[E0208]: `dim` is given twice
  --> m.fsd:8:18
note: module RMSNorm is declared here
  --> std.fsd:16:8
==== exit 1
