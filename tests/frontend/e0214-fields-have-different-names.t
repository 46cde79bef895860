# RUN: %fsdpc dump --stage=model %s
# Two fields of one name are an error.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  a : param[2] = zeros
  a : Linear(D, D)
  forward(ids: [B, T]) {
    return head(wte(ids))
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== err
error[E0214]: module Net has two fields `a`
 --> m.fsd:6:3
  |
6 |   a : Linear(D, D)
  |   ^
note: the other is declared here
 --> m.fsd:5:3
  |
5 |   a : param[2] = zeros
  |   ^

==== exit 1
