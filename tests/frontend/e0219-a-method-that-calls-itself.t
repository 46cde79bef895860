# RUN: %fsdpc dump --stage=model %s 2>&1 | sed -n 1,6p
# A method that calls itself is an error.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  again(x) = again(x)
  forward(ids: [B, T]) {
    return head(again(wte(ids)))
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== out
error[E0219]: calls of `again` are nested too deeply
 --> m.fsd:5:14
  |
5 |   again(x) = again(x)
  |              ^^^^^^^^
  |
==== exit 1
