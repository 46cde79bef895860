# RUN: %fsdpc dump --stage=fuse_elementwise %s >%t/whole
# RUN: %fsdpc dump --stage=wrap %s | %fsdpc opt --pass=fuse_elementwise - >%t/apart
# RUN: grep -c fused %t/whole && cmp %t/whole %t/apart
# Read back from its text, a graph has the same formulas: whether ops are of one module is told by its name.
==== net.fsd
module M {
  forward(x: [B, T, D]) = x / (1 + mean(abs(x), axis = -1))
}
module Net {
  e : Embedding(7, 33)
  m : M
  forward(ids: [B, T]) = linear(m(e(ids)), e.weight)
}
model = Net
data  { train = synthetic_tokens(vocab = 7); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 2 }
shard { mesh = (dp = 2) }
==== out
3
