# RUN: %fsdpc dump --stage=model %s | grep -E '^param'
# An attribute on a field holds for every parameter below it.
==== m.fsd
config { D = 6; V = 11 }
module Net {
  wte : Embedding(V, D)
  head : Linear(D, V)
  n : LayerNorm(D) @frozen @f32
  forward(ids: [B, T]) {
    return head(n(wte(ids)))
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== out
param 0 "wte.weight" module 1 2:8:3-8:9 f32[11, 6] normal(0.02) key "wte.weight" checkpoint "wte.weight" compute f32 reduce f32
param 1 "head.weight" module 2 2:3:3-3:9 f32[11, 6] normal(0.02) key "head.weight" checkpoint "head.weight" compute f32 reduce f32
param 2 "n.weight" module 3 2:12:3-12:9 f32[6] ones key "n.weight" checkpoint "n.weight" compute f32 reduce f32 no_decay frozen keep_f32
param 3 "n.bias" module 3 2:13:13-13:17 f32[6] zeros key "n.bias" checkpoint "n.bias" compute f32 reduce f32 no_decay frozen keep_f32
