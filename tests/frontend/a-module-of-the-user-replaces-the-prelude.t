# RUN: %fsdpc dump --stage=model %s | grep -E '^param'
# A module of the same name as one of the prelude takes its place.
==== m.fsd
module Embedding(n, dim) {
  table : param[n, dim] = ones
  forward(ids) = gather(table, ids)
}
model = Embedding(4, 4)
data { train = text("t"); length = 2 }
train { loss = cross_entropy(model(inputs), targets) }
==== out
param 0 "table" module 0 1:2:3-2:8 f32[4, 4] ones key "table" checkpoint "table" compute f32 reduce f32
