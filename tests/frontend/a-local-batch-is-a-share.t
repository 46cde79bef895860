# RUN: %fsdpc dump --stage=model %s | grep -E '^field|^mesh'
# B is batch over ranks and micro-batches.
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
train { loss = cross_entropy(model(inputs), targets); batch = 24; accumulate = 2 }
shard { mesh = (dp = 3) }
==== out
mesh dp = 3
field 0 "inputs" i32[4, 8] staging 0
field 1 "targets" i32[4, 8] staging 128
