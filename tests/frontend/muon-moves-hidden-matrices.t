# RUN: %fsdpc dump --stage=model %s | sed -nE 's/^param [0-9]+ "([^"]*)".*( matrix).*/\1\2/p; s/^param [0-9]+ "([^"]*)".*/\1/p'
# Muon moves what only products read, but the head: no embedding, no gate that is added, nothing that a group keeps from it.
==== net.fsd
module Block {
  norm : LayerNorm(6)
  a : Linear(6, 10, bias = true)
  b : Linear(10, 6)
  scale : param[3, 6] = ones
  forward(x) = x + b(relu(a(norm(x)))) * scale
}
module Net {
  emb : Embedding(16, 6)
  pos : param[3, 6] = normal(0.02)
  h : Block
  x : Linear(6, 6)
  head : Linear(6, 16, bias = true)
  forward(ids) = tanh(head(x(h(emb(ids) + pos))))
}
model = Net
data { train = synthetic_tokens(vocab = 16); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 2; steps = 4; optimizer = muon()
        "x.*" = group(muon = false); "pos" = group(muon = true) }
==== out
pos matrix
emb.weight
h.scale
h.norm.weight
h.norm.bias
h.a.weight matrix
h.a.bias
h.b.weight matrix
x.weight
head.weight
head.bias
