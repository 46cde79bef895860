# RUN: %fsdpc compile -q %s -o p && %fsdpc dump --raw p | grep -o "= linear.*flops [0-9]*" | sed 's/(.*flops//'
# A head whose three products are joined may take more operations than each: 6 * 1024 * 2^20 * 2^22, and 8 for each logit.
==== wide.fsd
config { D = 1048576; V = 4194304 }
module Net {
  emb  : Embedding(V, D)
  head : Linear(D, V)
  forward(ids) = head(emb(ids))
}
model = Net
data  { train = synthetic_tokens(vocab = V); length = 64 }
train { loss = cross_entropy(model(inputs), targets); batch = 16; steps = 1; optimizer = sgd(lr = 0.1); loss_chunks = 3 }
shard { mesh = (dp = 1) }
==== out
= linear_cross_entropy_both 27021632123961344
= linear_cross_entropy 9007233614479360
