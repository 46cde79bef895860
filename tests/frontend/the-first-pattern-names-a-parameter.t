# RUN: %fsdpc dump --stage=model %s | grep -E '^param'
# Checkpoint names: the first pattern wins, * carries over, ^T transposes.
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
names hf { "head.*" = "lm_head.*^T"; "*" = "model.*" }
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== out
param 0 "wte.weight" module 1 2:8:3-8:9 f32[11, 6] normal(0.02) key "wte.weight" checkpoint "model.wte.weight" compute f32 reduce f32
param 1 "head.weight" module 2 2:3:3-3:9 f32[11, 6] normal(0.02) key "head.weight" checkpoint "lm_head.weight" transposed compute f32 reduce f32
