# RUN: %fsdpc dump --stage=wrap %s > %t/g; %fsdpc opt --pass=fuse_elementwise %t/g | sed '/^program eval/,$d' | grep -E '^formula|= fused|= (mul|sub|mean|mean_grad|sum_to|sum_leading|max)[(]' | sed 's/ !.*//'
# A norm and its gradient are an op each; backward computes what was normalised again; what is summed over rows is made early.
==== net.fsd
config { D = 32 }
module Net {
  emb  : Embedding(4, D)
  w    : param[D] = ones
  head : Linear(D, 4)
  forward(ids: [B, T]) {
    x = emb(ids)
    return head(x * rsqrt(mean(x * x, axis = -1) + 0.5) * w)
  }
}
model = Net
data { train = synthetic_tokens(vocab = 4); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 1; optimizer = sgd(lr = 0.1) }
==== out
formula 0 operands 2: f32 mul(x0, x0); f32 mean(t0); f32 constant(0.5); f32 add(t1, t2); f32 rsqrt(t3) -> y0; f32 mul(x0, t4); f32 mul(t5, x1) -> y1
formula 1 operands 4: f32 mul(x0, x1); f32 mul(x2, t0) -> y0; f32 mul(x2, x3); f32 mul(t2, x0); f32 sum_to(t3); f32 mul(t2, x1); f32 rsqrt_grad(t4, x1); f32 mean_grad(t6); f32 mul(t7, x0); f32 add(t5, t8); f32 add(t9, t8) -> y1
formula 2 operands 2: f32 mul(x0, x0); f32 mean(t0); f32 constant(0.5); f32 add(t1, t2); f32 rsqrt(t3); f32 mul(x0, t4); f32 mul(t5, x1) -> y0
  #7 %7: f32[4, 5, 1], %8: f32[4, 5, 32] = fused(%5, %6) {index = 0}
  #15 %15: f32[4, 5, 32], %16: f32[4, 5, 32] = fused(%5, %7, %14, %6) {index = 1}
  #16 %17: f32[32] = sum_leading(%15)
