# RUN: %fsdpc compile -q %s -o %t/plan && %fsdpc check %t/plan && %fsdpc dump --stage=cut %s | grep '^param' | sed 's/ module.* f32/ f32/; s/ normal.*reduce f32//'
# Fewer KV heads than ranks along tp: a parameter of which tp cuts the heads is not cut along another dimension for the
# ranks that have the same heads.
==== net.fsd
module Net {
  e : Embedding(11, 7)
  q, o : param[16, 7] = normal(0.5)
  k, v : param[7, 8, 2] = normal(0.5)
  forward(ids: [B, T]) {
    x = tanh(e(ids))
    a = linear(x, q) as [B, T, 4, 4]
    b = linear(x, sum(transpose(k, [2, 1, 0]), axis = 0)[0]) as [B, T, 2, 4]
    c = linear(x, sum(transpose(v, [2, 1, 0]), axis = 0)[0]) as [B, T, 2, 4]
    y = tanh(linear(attention(a, b, c, causal = true) as [B, T, 16], transpose(o)))
    return linear(y, e.weight)
  }
}
model = Net
data  { train = synthetic_tokens(vocab = 11); length = 4 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 1; optimizer = sgd(lr = 0.1) }
shard { mesh = (tp = 4) }
==== out
param 0 "q" f32 cut (tp, twin) dim 0 outer 1 size 4
param 1 "o" f32 cut (tp, twin) dim 0 outer 1 size 4
param 2 "k" f32 cut (tp) dim 1 outer 1 size 2
param 3 "v" f32 cut (tp) dim 1 outer 1 size 2
param 4 "e.weight" f32 cut (tp) dim 0 outer 1 size 11
