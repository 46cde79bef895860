# RUN: %fsdpc dump --stage=model -n 2 %s | grep -E '^field|^mesh'
# -n gives the number of ranks.
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
train { loss = cross_entropy(model(inputs), targets) }
shard { mesh = (dp = 8) }
==== out
mesh dp = 2
field 0 "inputs" i32[1, 8] staging 0
field 1 "targets" i32[1, 8] staging 64
