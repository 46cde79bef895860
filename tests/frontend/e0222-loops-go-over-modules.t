# RUN: %fsdpc dump --stage=model %s
# A loop over something else is an error.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  forward(ids: [B, T]) {
    for x in D { }
    return head(wte(ids))
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== err
error[E0222]: `for` loops over an array of modules or a list, not over an integer
 --> m.fsd:6:14
  |
6 |     for x in D { }
  |              ^

==== exit 1
