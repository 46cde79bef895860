# RUN: for D in 31 32 8192 8193; do %fsdpc dump --stage=fuse_elementwise -s D=$D %s | sed '/^program eval/,$d' | grep -cE '= (mean|mean_grad|sum_to)[(]'; done; true
# Sums of rows with less than 32 or more than 8192 elements stay separate ops.
==== net.fsd
config { D = 0 }
module Net {
  emb  : Embedding(4, D)
  head : Linear(D, 4)
  forward(ids: [B, T]) {
    x = emb(ids)
    return head(x * mean(x * x, axis = -1))
  }
}
model = Net
data { train = synthetic_tokens(vocab = 4); length = 3 }
train { loss = cross_entropy(model(inputs), targets); batch = 1; steps = 1; optimizer = sgd(lr = 0.1) }
==== out
3
0
0
3
