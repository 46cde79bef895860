# RUN: for m in 1 "1, 1"; do sed "s/ONES/$m/" net.txt > net.fsd; %fsdpc compile net.fsd -o p 2>&1 | sed -n 2p; %fsdpc dump --stage=place net.fsd | sed -n '/^program train/,/^program eval/s/.*: \(.*\) = \(cross_entropy[a-z_]*\).*/\2: \1/p'; done
# What ranks know of their parts of logits has an axis more than these. Of logits of 6 axes, the most, the vocabulary is not cut.
==== net.txt
module Net {
  emb  : Embedding(36, 8)
  fc   : Linear(8, 8)
  head : Linear(8, 36)
  forward(ids: [B, T]) = head(fc(emb(ids)) as [B, T, 1, ONES, 8])
}
model = Net
data  { train = synthetic_tokens(vocab = 36); length = 6 }
train { loss = cross_entropy(model(inputs), targets as [4, 6, 1, ONES]); batch = 4; steps = 4 }
shard { mesh = (dp = 1, tp = 2) }
==== out
tp = 2: ranks share out 640 parameters, each holds 0 whole
cross_entropy_part: f32[4, 6, 1, 1, 1*tp, 3]
cross_entropy_merge: f32[4, 6, 1, 1]
cross_entropy_grad: f32[4, 6, 1, 1, 18*tp]
tp = 2: ranks share out 352 parameters, each holds 288 whole
cross_entropy: f32[4, 3*tp, 1, 1, 1]
cross_entropy_grad: f32[4, 3*tp, 1, 1, 1, 36]
