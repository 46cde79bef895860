# RUN: warned() { %fsdpc compile net.fsd -o p "$@" 2>&1 | sed -n '/^warning/,/^$/p'; }; warned; warned -s 'train.loss=2 * cross_entropy(model(inputs)[0], targets) + mean(model(inputs)[1] ** 2)'
# RUN: %fsdpc dump --stage=fuse_loss net.fsd 2>p | sed -n '/^program train/,/^program eval/s/.* = \([a-z_]*cross_entropy[a-z_]*\).*/\1/p'
# loss_chunks is about the first cross_entropy without a factor. Of each other one a warning says that its logits stay whole.
==== net.fsd
module Net {
  emb  : Embedding(36, 8)
  a, b : Linear(8, 36)
  forward(ids) {
    x = emb(ids)
    return (a(x), b(x))
  }
}
model = Net
data  { train = synthetic_tokens(vocab = 36); length = 6 }
train { loss = cross_entropy(model(inputs)[0], targets) + 0.5 * cross_entropy(model(inputs)[1], inputs)
        batch = 4; steps = 4; loss_chunks = 5 }
shard { mesh = (dp = 1) }
==== out
warning[W0302]: loss_chunks = 5 has no effect on this loss: only one term cross_entropy(logits, targets), without a factor, is computed in chunks
  --> net.fsd:11:65
   |
11 | train { loss = cross_entropy(model(inputs)[0], targets) + 0.5 * cross_entropy(model(inputs)[1], inputs)
   |                                                                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

warning[W0302]: loss_chunks = 5 has no effect on this loss: only one term cross_entropy(logits, targets), without a factor, is computed in chunks
 --> -s:1:16
  |
1 | train.loss=2 * cross_entropy(model(inputs)[0], targets) + mean(model(inputs)[1] ** 2)
  |                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

cross_entropy_each
linear_cross_entropy_both
cross_entropy_each_grad
