# RUN: %fsdpc dump --stage=recompute %s | grep -c recomputed || true
# Ops that the model lacks, or whose results backward does not read, are named in vain.
==== m.fsd
module Part { l, k : Linear(4, 4); forward(x) = x + k(tanh(l(x))) }
module Net {
  part : Part[3]
  e : Embedding(5, 4)
  forward(ids: [B, T]) { x = e(ids); for p in part { x = p(x) }; return x }
}
model = Net
data  { train = text("t"); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 1; optimizer = sgd(lr = 0.1) }
shard { recompute = (ops = [gelu, add, embedding], keep = linear) }
==== out
0
==== err
warning[W0302]: recompute: ops = gelu has no effect: the model has no such op
  --> m.fsd:10:21
   |
10 | shard { recompute = (ops = [gelu, add, embedding], keep = linear) }
   |                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

warning[W0302]: recompute: ops = add has no effect: backward does not read its results, or lacks the values to recompute them
  --> m.fsd:10:21
   |
10 | shard { recompute = (ops = [gelu, add, embedding], keep = linear) }
   |                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

warning[W0302]: recompute: ops = embedding has no effect: backward does not read its results, or lacks the values to recompute them
  --> m.fsd:10:21
   |
10 | shard { recompute = (ops = [gelu, add, embedding], keep = linear) }
   |                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

warning[W0302]: recompute: keep = linear has no effect: it applies to recomputed classes and paths, and none is named
  --> m.fsd:10:21
   |
10 | shard { recompute = (ops = [gelu, add, embedding], keep = linear) }
   |                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

