# RUN: %fsdpc dump --stage=model %s | grep -c reshape
# A name whose axis stays where it is may be the size of another axis too: axes that D elements were in become one.
==== m.fsd
config { D = 16; V = 70 }
module Net {
  emb : Embedding(V, D)
  w : param[2, 4, 2, D] = normal(0.1)
  forward(ids: [B, T]) = linear(linear(emb(ids), w as [D, D]), emb.weight)
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 4 }
==== out
2
