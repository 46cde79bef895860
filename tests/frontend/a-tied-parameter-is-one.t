# RUN: %fsdpc dump --stage=model %s | grep -E '^param|^module'
# Tied parameters are one row, keyed by the right side, placed at the first name.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  tie wte.weight = head.weight
  forward(ids: [B, T]) {
    return head(wte(ids))
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== out
module 0 "" Net 1:10:9-10:12
module 1 "wte" Embedding parent 0 1:3:3-3:6
module 2 "head" Linear parent 0 1:4:3-4:7
param 0 "wte.weight" module 1 2:8:3-8:9 f32[11, 6] normal(0.02) alias "head.weight" module 2 2:3:3-3:9 key "head.weight" checkpoint "head.weight" compute f32 reduce f32
