# RUN: %fsdpc dump --stage=model %s
# A free name in the loss that the source does not declare lists those that it does.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  forward(ids: [B, T]) {
    return head(wte(ids))
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), labels) }
==== err
error[E0207]: the data source has no field `labels`
  --> m.fsd:11:45
   |
11 | train { loss = cross_entropy(model(inputs), labels) }
   |                                             ^^^^^^
   |
   = help: its fields are: inputs, targets

==== exit 1
