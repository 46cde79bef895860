# RUN: %fsdpc compile -q %s -o %t/plan && %fsdpc check %t/plan && %fsdpc dump --stage=cut %s | grep '^param' | sed 's/ module.* f32/ f32/; s/ normal.*reduce f32//'
# A loss merges what ranks make of one run of classes each. A slice of which only every other run is a rank's stays whole.
==== net.fsd
module Net {
  e : param[5, 7] = normal(0.5)
  h : param[8 + 2, 7] = normal(0.5)
  forward(ids: [B, T]) = linear(tanh(gather(e, ids)), h[2:])
}
model = Net
data  { train = synthetic_tokens(vocab = 5); length = 4 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 1; optimizer = sgd(lr = 0.1) }
shard { mesh = (tp = 2) }
==== out
param 0 "e" f32 cut (tp) dim 0 outer 1 size 5
param 1 "h" f32
