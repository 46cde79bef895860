# RUN: %fsdpc dump --stage=model %s 2>&1 | grep -E '^error|help:'
# A product whose operations could not be counted is an error at its place.
==== m.fsd
config { D = 1M }
module Net {
  emb : Embedding(11, D)
  fc : Linear(D, D)
  forward(ids: [B, T]) {
    return fc(emb(ids))
  }
}
model = Net
data { train = text("t.txt"); length = 1M }
train { loss = cross_entropy(model(inputs), targets); batch = 32 }
==== out
error[E0204]: `linear` cannot take [B, T, D] and [D, D]
  = help: f32[32, 1000000, 1000000] takes more than 1.8e+16 operations
==== exit 1
